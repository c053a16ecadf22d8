"""The command line: exit codes, data on stdout, progress and mistakes on stderr, JSON that can be read."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
import sympy as sp
from click.testing import CliRunner, Result

import zwang as zw
from zwang.cli import main
from zwang.cli.option_values import number

SOURCE = str(Path(zw.__file__).parents[1])


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def done(*arguments: str) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def refused(*arguments: str) -> str:
    result = run(*arguments)
    assert result.exit_code == 2, (result.exit_code, result.stderr)
    assert result.stdout == ""
    return result.stderr


def read(*arguments: str) -> Any:
    return json.loads(done(*arguments))


@pytest.fixture
def rod_file(tmp_path: Path) -> Path:
    entry = zw.gallery.get("painleve_rod")
    path = tmp_path / "rod.toml"
    entry.system.save(path, params=entry.params, state=entry.state)
    return path


# --- the command itself ----------------------------------------------------------------------------------------------


def test_the_command_runs_as_a_process_with_codes_and_streams_apart() -> None:
    def process(*arguments: str) -> subprocess.CompletedProcess[str]:
        code = "from zwang.cli import main; main(prog_name='zwang')"
        environment = {**os.environ, "PYTHONPATH": SOURCE}
        command = [sys.executable, "-c", code, *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    good = process("show", "four_bar", "--json")
    assert good.returncode == 0 and json.loads(good.stdout)["name"] == "four_bar" and good.stderr == ""
    none = process("reactions", "painleve_rod", "--param", "mu=1.4")
    assert none.returncode == 1 and "NONE" in none.stdout and none.stderr == ""
    wrong = process("check", "nosuch.toml")
    assert wrong.returncode == 2 and wrong.stdout == "" and "Traceback" not in wrong.stderr


@pytest.mark.parametrize("command", ["check", "show", "gallery", "reactions"])
def test_every_command_explains_itself(command: str) -> None:
    assert command in done("--help")
    text = done(command, "-h")
    assert text.startswith(f"Usage: main {command}")
    assert "--json" in text


def test_version() -> None:
    assert done("--version").strip() == f"zwang, version {zw.__version__}"


def test_an_unknown_option_is_wrong_usage() -> None:
    assert run("check", "four_bar", "--nonsense").exit_code == 2


# --- check -----------------------------------------------------------------------------------------------------------


def test_check_tells_the_equations_at_the_state() -> None:
    text = done("check", "four_bar")
    assert text.startswith("four_bar: 2 coordinates, 8 parameters, 1 constraint, content ")
    assert "the state satisfies its constraints to" in text
    assert "acceleration  alpha      -5.886" in text  # closed form in the gallery: -6 g cos(60°)/5


def test_check_as_json_has_numbers_and_the_digest() -> None:
    found = read("check", "andrews", "--json", "--backend", "reference")
    assert found["status"] == "DETERMINED"
    assert found["digest"] == zw.gallery.get("andrews").system.digest
    # published: 14222.4439199541138705911625887
    assert found["accelerations"]["beta"] == pytest.approx(14222.4439199541138705911625887, rel=1e-9)
    assert found["residual"] < 1e-12 and found["violation"] < 1e-9


def test_check_of_a_file_without_a_state_checks_the_declaration_alone(tmp_path: Path) -> None:
    zw.gallery.get("four_bar").system.save(tmp_path / "bars.toml")
    text = done("check", str(tmp_path / "bars.toml"))
    assert "declared well; no state was given" in text
    found = read("check", str(tmp_path / "bars.toml"), "--json")
    assert "status" not in found and found["coordinates"] == ["alpha", "gamma"]


def test_check_of_a_state_off_its_constraints_has_no_answer_and_says_by_how_much() -> None:
    result = run("check", "four_bar", "--state", "alpha=1")
    assert result.exit_code == 1
    assert "the state is off constraint 'coupler' by 3.9e-02" in result.stderr
    assert result.stdout == ""


def test_values_on_the_command_line_override_and_may_be_expressions(rod_file: Path) -> None:
    found = read("check", str(rod_file), "--state", "theta=pi/6", "y=sin(pi/6)", "--param", "m=2", "J=2/3", "--json")
    alone = zw.gallery.get("painleve_rod")
    given = {**alone.state, "theta": np.pi / 6, "y": 0.5}
    expected = zw.reactions(alone.system, given, {**alone.params, "m": 2, "J": 2 / 3})
    assert found["status"] == expected.status.name == "UNIQUE"
    assert found["accelerations"]["y"] == pytest.approx(expected.solutions[0].acceleration[1])


def test_check_says_what_acts_on_a_block_at_rest() -> None:
    found = read("check", "incline_block", "--json")
    assert found["status"] == "UNIQUE"
    assert found["modes"] == {"slope": "stick"}
    assert found["accelerations"]["y"] == pytest.approx(0.0, abs=1e-12)
    assert "stick" in done("check", "incline_block")


def test_check_with_constraints_that_contradict_each_other_has_no_answer(tmp_path: Path) -> None:
    (x, _), (vx, vy) = zw.coordinates("x y")
    system = zw.System(
        name="torn",
        kinetic=(vx**2 + vy**2) / 2,
        constraints=[zw.Bilateral(x, name="wall"), zw.Bilateral(x - zw.t**2, name="moving wall")],
    )
    system.save(tmp_path / "torn.toml", state={"x": 0, "y": 0, "v_x": 0, "v_y": 0})
    result = run("check", str(tmp_path / "torn.toml"), "--backend", "reference")
    assert result.exit_code == 1
    assert "INCONSISTENT" in result.stdout


# --- mistakes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("check", "four_bars"),
            r"'four_bars' is neither a model file \(\.toml\) nor a system of the gallery.*'four_bar'",
        ),
        (("check", "nosuch.toml"), "nosuch.toml"),
        (
            ("check", "four_bar", "--state", "alpha"),
            "--state needs name=number, such as --state mu=0.3; it was given 'alpha'",
        ),
        (("check", "four_bar", "--state", "=1"), "--state needs name=number"),
        (("check", "four_bar", "--state", "alpha="), "--state alpha: a number is missing after the equals sign"),
        (("check", "four_bar", "--state", "alpha=1", "alpha=2"), "--state has 'alpha' twice"),
        (("check", "four_bar", "--state", "alpha=beta"), "--state alpha: .*'beta'"),
        (("check", "four_bar", "--state", "alpha=__import__('os')"), "--state alpha"),
        (("check", "four_bar", "--state", "alpha=log(0)"), "--state alpha"),
        (
            ("check", "four_bar", "--state", "alpha=acos(2)"),
            "--state alpha: a constant that is not a finite real number",
        ),
        (("check", "four_bar", "--state", "alfa=1"), "state has 'alfa'.*Did you mean 'alpha'"),
        (("check", "four_bar", "--param", "l9=1"), "params has 'l9'"),
        (("check", "four_bar", "--backend", "natve"), "Did you mean 'native'"),
        (("gallery", "--save", "x.toml"), "--save needs the name of a system"),
        (("gallery", "sleigth"), "The gallery has no 'sleigth'. Did you mean 'sleigh'"),
        (
            ("reactions", "painleve_rod", "--state", "thet=1"),
            "--state: 'painleve_rod' has no 'thet'. Did you mean 'theta'",
        ),
        (("reactions", "painleve_rod", "--param", "mu1=1"), "--param: 'painleve_rod' has no 'mu1'. Did you mean 'mu'"),
        (("reactions", "painleve_rod", "--map", "mu1=0:1:5"), "--map: 'painleve_rod' has no 'mu1'. Did you mean 'mu'"),
        (("reactions", "painleve_rod", "--map", "mu=0:1"), "--map mu needs low:high:count with a count of at least 2"),
        (("reactions", "painleve_rod", "--map", "mu=0:1:1"), "it was given '0:1:1'"),
        (("reactions", "painleve_rod", "--map", "mu=0:1:x"), "--map mu needs low:high:count"),
        (("reactions", "painleve_rod", "--map", "mu=1:1:5"), "--map mu: the two ends are the same, 1"),
        (
            ("reactions", "painleve_rod", "--map", "mu=0:1:5000", "theta=0:1:5000"),
            "asks for 25,000,000 states; at most",
        ),
        (("reactions", "painleve_rod", "--slip", "tip=1"), "--follow and --slip go with --hold"),
        (("reactions", "painleve_rod", "--hold", "tpi"), "'tpi' can't be held.*Did you mean 'tip'"),
        (("reactions", "painleve_rod", "--hold", "tip", "--follow", "z"), "'z' can't follow: it is no coordinate"),
        (
            ("reactions", "ladder", "--hold", "wall", "--slip", "floor=1"),
            "a slip is given for 'floor', which is not held",
        ),
        (("reactions", "painleve_rod", "--plot", "rod.gif"), "pictures are written as .png, .svg or .pdf"),
        (("reactions", "painleve_rod", "--out", "rod.pickle"), "results are saved as .npz"),
        (("reactions", "painleve_rod", "--out", "no/such/folder/rod.npz"), "rod.npz: cannot be written: there is no"),
    ],
)
def test_mistakes_are_told_in_one_line_with_code_2(arguments: tuple[str, ...], message: str) -> None:
    text = refused(*arguments)
    assert "Traceback" not in text
    assert len(text.strip().splitlines()) == 1
    assert re.search(message, text), text


def test_a_folder_is_no_model(tmp_path: Path) -> None:
    assert "neither a model file" in refused("check", str(tmp_path))


def test_numbers_are_read_without_executing_anything() -> None:
    assert number("-2*pi/3", "x") == pytest.approx(-2 * np.pi / 3)
    assert number(" 1e-3 ", "x") == 1e-3
    for value in np.random.default_rng(0).normal(size=200):
        assert number(repr(float(value)), "x") == value
    with pytest.raises(zw.DeclarationError):
        number("().__class__", "x")


# --- show ------------------------------------------------------------------------------------------------------------


def test_show_prints_the_declaration_and_its_equations() -> None:
    assert done("show", "kozlov_neishtadt") == repr(zw.gallery.get("kozlov_neishtadt").system) + "\n"
    text = done("show", "circle_particle", "--equations")
    for part in ("mass:", "force:", "rows:", "gamma:"):
        assert part in text


def test_show_as_latex() -> None:
    text = done("show", "painleve_rod", "--latex")
    assert text.startswith(r"\begin{aligned}") and r"\dot{\theta}" in text
    assert r"\ddot q" in done("show", "painleve_rod", "--latex", "--equations")


def test_show_as_json_is_what_a_model_file_holds(rod_file: Path) -> None:
    from zwang._declare.model_files import from_dict

    found = read("show", str(rod_file), "--json", "--equations")
    equations = found.pop("equations")
    assert equations["mass"][0] == ["m", "0", "0"]
    digest = found.pop("digest")
    assert from_dict(found).digest == digest


def test_equations_of_a_large_system_are_left_to_json() -> None:
    assert "shown with --json only" in done("show", "stack", "--equations")


# --- gallery ---------------------------------------------------------------------------------------------------------


def test_gallery_lists_every_system_on_one_line_in_a_pipe() -> None:
    lines = done("gallery").splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(zw.gallery.names())
    assert {entry["name"] for entry in read("gallery", "--json")} == set(zw.gallery.names())


@pytest.mark.parametrize("name", ["ladder", "four_bar"])  # with matrices and with nested tuples among the facts
def test_gallery_shows_one_system_with_its_facts(name: str) -> None:
    entry = zw.gallery.get(name)
    text = done("gallery", name)
    assert entry.title in text and entry.source in text
    assert all(key in text for key in entry.facts)
    found = read("gallery", name, "--json")
    assert set(found["facts"]) == set(entry.facts) and found["params"] == dict(entry.params)


def test_gallery_saves_a_model_file_that_check_accepts(tmp_path: Path) -> None:
    target = tmp_path / "sleigh.toml"
    result = run("gallery", "sleigh", "--save", str(target))
    assert result.exit_code == 0 and result.stdout == "" and f"wrote {target}" in result.stderr
    assert zw.load(target) == zw.gallery.get("sleigh").system
    done("check", str(target), "--backend", "reference")


def test_gallery_draws_a_system(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    target = tmp_path / "bars.png"
    result = run("gallery", "four_bar", "--plot", str(target))
    assert result.exit_code == 0 and result.stdout == "" and f"wrote {target}" in result.stderr
    assert target.read_bytes().startswith(b"\x89PNG")


def test_a_model_in_a_file_comes_before_one_of_the_gallery(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    zw.gallery.get("sleigh").system.save(tmp_path / "four_bar")
    monkeypatch.chdir(tmp_path)
    assert read("show", "four_bar", "--json")["name"] == "sleigh"


# --- the group -------------------------------------------------------------------------------------------------------


def test_help_and_version_load_neither_symbols_nor_a_compiler() -> None:
    for arguments in (["--version"], ["--help"]):
        code = (
            "import sys\nfrom zwang.cli import main\n"
            f"try:\n    main({arguments!r}, prog_name='zwang')\nexcept SystemExit:\n    pass\n"
            "print(sorted({'sympy', 'numba', 'scipy', 'numpy', 'matplotlib'} & set(sys.modules)))"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.splitlines()[-1] == "[]"


def test_every_command_of_the_list_is_there_under_its_name() -> None:
    context = click.Context(main)
    for name in main.list_commands(context):
        found = main.get_command(context, name)
        assert found is not None and found.name == name and found.help
        assert f"  {name} " in main.get_help(context)


def test_an_unknown_command_is_answered_with_the_nearest() -> None:
    result = CliRunner().invoke(main, ["simulat"])
    assert result.exit_code == 2 and "There is no command 'simulat'. Did you mean 'simulate'?" in result.output


def test_commands_are_completed_from_their_first_letters() -> None:
    found = main.shell_complete(click.Context(main), "si")
    assert [item.value for item in found] == ["simulate"]


def test_ctrl_c_while_a_command_is_imported_ends_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(name: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("zwang.cli.group.importlib.import_module", interrupted)
    result = CliRunner().invoke(main, ["simulate", "bouncing_ball"])
    assert result.exit_code == 130 and "Aborted" not in result.output


def test_warm_compiles_the_kernels_of_the_package_and_says_how_many(tmp_path, monkeypatch):
    from zwang._numerics.jit import all_kernels

    listed = all_kernels.package_kernels()
    assert len(set(listed)) == len(listed) > 30
    small = [item for item in listed if item[1] in {"_row_counts", "fill_table"}]
    monkeypatch.setattr(all_kernels, "package_kernels", lambda: small)
    monkeypatch.setenv("ZWANG_CACHE_DIR", str(tmp_path))
    for new in (len(small), 0):
        done = CliRunner().invoke(main, ["warm", "--jobs", "2"])
        assert done.exit_code == 0, done.output
        assert f"{len(small)} kernels are ready, {new} of them new, in {tmp_path}" in done.output
    assert not list(tmp_path.glob("*.lock"))


def test_warm_without_a_compiler_says_what_to_do(monkeypatch):
    monkeypatch.setattr("zwang._numerics.jit.only_tier", lambda: "plain")
    done = CliRunner().invoke(main, ["warm"])
    assert done.exit_code == 2
    assert "there is no compiler here. Install numba, and unset ZWANG_NO_JIT" in done.output


def test_linearize_tells_frequencies_and_modes(tmp_path):
    # A block that slides on a belt while its spring holds it: x = mu m g/k, frequency sqrt(k/m).
    picture, kept = tmp_path / "values.png", tmp_path / "found.npz"
    at = ["--state", "x=0.4*9.81/20", "v_x=0"]
    found = run("linearize", "belt_block", *at, "--output", "x", "--plot", str(picture), "--out", str(kept))
    assert found.exit_code == 0, found.output
    assert "eigenvalue +4.47214 i" in found.output and "Eigenmode of 0+4.47214j: x 1" in found.output
    assert picture.stat().st_size > 1000 and zw.load_result(kept).outputs == ("x",)
    told = json.loads(run("linearize", "belt_block", *at, "--json").stdout)
    assert told["K"] == [[pytest.approx(20.0)]] and len(told["eigenvalues"]) == 2
    assert run("linearize", "belt_block", "--state", "x=0").exit_code == 1


def test_sensitivity_and_fit_on_the_command_line(tmp_path):
    kept = tmp_path / "found.npz"
    asked = ["sensitivity", "bouncing_ball", "--until", "0.8", "--wrt", "e", "--of", "end", "--of", "events"]
    found = run(*asked, "--out", str(kept))
    assert found.exit_code == 0 and "d end / d e = [1.543558 4.429447]" in found.output
    assert zw.load_result(kept).wrt == ("e",)
    told = json.loads(run(*asked, "--json").stdout)
    assert told["derivatives"]["events"]["e"] == [0.0]
    assert run("sensitivity", "belt_block", "--until", "2", "--wrt", "mu").exit_code == 1
    ball = zw.gallery.get("bouncing_ball")
    times = [0.1 * k for k in range(1, 13)]
    heights = zw.simulate(ball.system, ball.state, ball.params, until=1.3).at(times)["y"]
    data = tmp_path / "heights.csv"
    data.write_text("t,y\n" + "".join(f"{t},{y}\n" for t, y in zip(times, heights.tolist(), strict=True)))
    fitted = run("fit", "bouncing_ball", "--data", str(data), "--free", "e", "--param", "e=0.9")
    assert fitted.exit_code == 0 and f"e = {ball.params['e']:.8g}" in fitted.output
    data.write_text("t,y\n1,a\n")
    assert "needed a table of numbers" in run("fit", "bouncing_ball", "--data", str(data), "--free", "e").output


def test_periodic_on_the_command_line(tmp_path):
    # The slider-crank turns freely without gravity: every turn closes, in a family.
    kept, picture = tmp_path / "cycle.npz", tmp_path / "cycle.png"
    asked = ["periodic", "slider_crank", "--param", "g=0"]
    found = run(*asked, "--out", str(kept), "--plot", str(picture))
    assert found.exit_code == 0 and "CLOSED" in found.output and "one of a family" in found.output
    assert zw.load_result(kept).period > 0 and picture.stat().st_size > 1000
    told = json.loads(run(*asked, "--json").stdout)
    assert told["status"] == "CLOSED" and len(told["multipliers"]) == 2
    assert run("periodic", "bouncing_ball", "--impact", "newton", "--param", "e=0.5").exit_code == 1


@pytest.mark.nightly
def test_cycles_on_the_command_line(tmp_path):
    kept, picture = tmp_path / "cycles.npz", tmp_path / "cycles.png"
    asked = ["cycles", "slider_crank", "--param", "g=0", "--vary", "r"]
    found = run(*asked, "--within", "0.48:0.52", "--out", str(kept), "--plot", str(picture), "--show", "period")
    assert found.exit_code == 0 and "branch 0" in found.output, found.output
    assert len(zw.load_result(kept).branches) == 1 and picture.stat().st_size > 1000
    told = json.loads(run(*asked, "--within", "0.48:0.52", "--no-switch", "--json").stdout)
    assert told["status"] == "FOUND" and told["branches"][0]["values"][0] == 0.48 and told["flips"] == []
    assert "within= needs (low, high)" in run(*asked, "--within", "0.48").output
    assert run("cycles", "bouncing_ball", "--vary", "e", "--within", "0:1", "--impact", "newton").exit_code == 1


def test_recommend_on_the_command_line() -> None:
    asked = ["circle_particle", "--constraint", "circle", "--until", "0.1"]
    told = json.loads(run("recommend", *asked, "--error", "1e-3", "--json").stdout)
    assert told["status"] == "VERIFIED" and told["achieved"] <= told["error"] == 1e-3
    assert told == json.loads(run("limit", *asked, "--recommend", "1e-3", "--json").stdout)
    assert run("recommend", *asked, "--error", "1e-3", "--budget", "steps=1").exit_code == 1
    assert "--error" in run("recommend", *asked).output


def test_lyapunov_on_the_command_line(tmp_path):
    picture = tmp_path / "history.png"
    asked = ["lyapunov", "belt_block", "--until", "1.5"]
    found = run(*asked, "--plot", str(picture))
    assert found.exit_code == 0 and "-inf" in found.output and picture.stat().st_size > 1000  # it sticks
    assert json.loads(run(*asked, "--json").stdout)["status"] == "COMPUTED"
    assert run("lyapunov", "belt_block", "--until", "2").exit_code == 1  # it grazes


def test_drive_on_the_command_line(tmp_path):
    (phi,), (w,) = zw.coordinates("phi", angles="phi")
    u, m = zw.inputs("u"), zw.parameters("m")
    arm = zw.System(name="arm", kinetic=m * w**2 / 2, potential=-9.81 * sp.cos(phi), forces={phi: u})
    arm.save(tmp_path / "arm.toml", params={m: 2.0})
    base = ("drive", str(tmp_path / "arm.toml"), "--motion", "phi=t**2")
    table = tmp_path / "torque.csv"
    found = run(*base, "--times", "0:1:3", "--csv", str(table), "--json")
    assert found.exit_code == 0, found.output
    data = json.loads(found.stdout)
    # m phi'' + 9.81 sin phi
    assert data["inputs"]["u"] == pytest.approx([4.0, 4 + 9.81 * math.sin(0.25), 4 + 9.81 * math.sin(1)])
    assert table.read_text().startswith("time,phi,v_phi,acceleration_phi,input_u,input_u_low")
    assert "UNIQUE" in run(*base, "--times", "0,1").stdout
    for arguments, words in (
        ((*base, "--times", "0:1"), "low:high:count"),
        ((*base, "--times", "0", "--start", "x=1"), "--start: 'arm' has no 'x'"),
        ((*base,), "Give times="),
        (("drive", base[1], "--motion", "phi=none.csv:cubic"), "--motion phi: 'none.csv' is no table"),
    ):
        refused = run(*arguments)
        assert refused.exit_code == 2 and words in refused.stderr, refused.output


def test_critical_on_the_command_line():
    base = ("critical", "ellipse_pendulum", "--vary", "a", "--within", "-0.8:-0.2")
    data = json.loads(run(*base, "--json").stdout)
    (value,) = data["values"]
    # the vertex of the ellipse is where the folded rods reach: a + r1 = l1 - l2
    assert value["value"] == pytest.approx(-0.5, abs=1e-9) and value["kinds"] == ["crossing"]
    assert (value["before"]["components"], value["after"]["components"]) == (1, 2)
    assert "a = -0.5: crossing" in run(*base).stdout
    assert "no critical value" in run("critical", "ellipse_pendulum", "--vary", "a", "--within", "-0.3:-0.2").stdout


def test_realize_writes_a_model_that_other_commands_take(tmp_path):
    soft = tmp_path / "soft.toml"
    assert (
        run("realize", "kozlov_neishtadt", "--constraint", "floor", "--strength", "1e4", "--out", str(soft)).exit_code
        == 0
    )
    assert zw.load(soft) == zw.realize(zw.gallery.get("kozlov_neishtadt").system, "floor", by=zw.Stiffness(1e4))
    assert "REACHED" in run("simulate", str(soft), "--until", "0.1").stdout
    assert "N*y**2/2" in run("realize", "kozlov_neishtadt", "--constraint", "floor", "--strength", "N").stdout
    wrong = run("realize", "kozlov_neishtadt", "--constraint", "floor", "--strength", "1", "--by", "Stifness")
    assert wrong.exit_code == 2 and "Did you mean 'Stiffness'" in wrong.stderr
