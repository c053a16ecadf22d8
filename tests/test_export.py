"""Models written as C compile without a warning and give the numbers of the native backend."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from click.testing import CliRunner

import zwang as zw
from c_backend import COMPILER, FLAGS, library, pointer
from contracts.random_systems import random_system
from night import by_day
from zwang._compile.given_values import resolve
from zwang.cli import main

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler 'cc'")


def exported(model: zw.Model, folder: Path, **options) -> tuple[ctypes.CDLL, str]:
    header, source = model.to_c(folder, **options)
    made = library(source.read_text(), str(folder), f"-I{folder}")
    return made, header.stem


def call(function, inputs, *sizes: int) -> tuple[int, list[np.ndarray]]:
    given = [np.ascontiguousarray(part[:, 0]) for part in (inputs.q, inputs.v, inputs.params)]
    outs = [np.full(size, np.nan) for size in sizes]
    function.restype = ctypes.c_int
    status = function(ctypes.c_double(inputs.t[0]), *map(pointer, (*given, *outs)))
    return status, outs


def compare(system: zw.System, state, params, folder: Path, tol: float = 1e-11) -> None:
    model = zw.compile(system)
    made, stem = exported(model, folder)
    inputs = resolve(system, state, params)
    n = len(system.coordinates)
    evaluation = model.evaluate(state, params)
    lam = [evaluation.multipliers[name] for name in evaluation.multipliers]
    status, (a, found) = call(getattr(made, f"{stem}_accelerations"), inputs, n, len(lam))
    if evaluation.regular:
        assert status == 0
        np.testing.assert_allclose(a, evaluation.accelerations, rtol=tol, atol=tol)
        np.testing.assert_allclose(found, lam, rtol=tol, atol=tol)
    terms = zw.compile(system, "reference").kernels.terms(inputs.t, inputs.q, inputs.v, inputs.params)
    names = ("mass", "force", "value", "rate", "gamma", "rows", "slip", "slip_bias", "slip_rows", "bounds", "energies")
    expected = [getattr(terms, name)[..., 0] for name in names]
    status, outs = call(getattr(made, f"{stem}_terms"), inputs, *(item.size for item in expected))
    assert status == 0
    for name, got, want in zip(names, outs, expected, strict=True):
        np.testing.assert_allclose(got, want.ravel(), rtol=tol, atol=tol, err_msg=name)


@needs_compiler
@pytest.mark.parametrize(
    "name", ["ellipse_pendulum_cartesian", "painleve_rod", "sleigh", "flyball_governor_springs", "two_particles"]
)
def test_systems_of_the_gallery_have_the_same_numbers_in_c(name: str, tmp_path: Path) -> None:
    entry = zw.gallery.get(name)
    compare(entry.system, entry.state, entry.params, tmp_path)


@needs_compiler
@pytest.mark.parametrize("seeds", by_day([range(4), range(4, 12)], [range(4)]))
def test_random_systems_have_the_same_numbers_in_c(seeds: range, tmp_path: Path) -> None:
    for seed in seeds:
        system, params, state = random_system(seed)
        compare(system, state, params, tmp_path, 1e-8)


@needs_compiler
def test_every_function_and_choice_is_written_in_c(tmp_path: Path) -> None:
    (x, y), (u, v) = zw.coordinates("x y")
    p = zw.parameters("p")
    functions = (sp.sin, sp.cos, sp.tan, sp.atan, sp.sinh, sp.cosh, sp.tanh, sp.asinh, sp.exp, sp.Abs, sp.sign)
    first = sum(f(x / 3) for f in functions) + sp.asin(x / 3) + sp.acos(x / 3) + sp.acosh(2 + x) + sp.atanh(x / 3)
    second = (
        sp.Max(x, y) - 2 * sp.Min(x, p) + sp.Heaviside(y) + sp.Piecewise((x, x < y), (p**y, sp.Eq(x, 7)), (y, True))
    )
    second += (
        sp.atan2(y, x) + sp.log(p) + sp.sqrt(p) + p**x + sp.cot(p) + sp.Piecewise((1, (x < 2) & ~(y < -3)), (2, True))
    )
    system = zw.System(name="all of it", kinetic=(u**2 + v**2) / 2, forces={x: first, y: second})
    for state in ({"x": 0.4, "y": -0.7}, {"x": -0.3, "y": 0.2}):
        compare(system, {**state, "v_x": 0.1, "v_y": 0.2}, {"p": 1.3}, tmp_path)


@needs_compiler
def test_events_are_gaps_multipliers_slips_surfaces_and_what_was_given(tmp_path: Path) -> None:
    (x, y), (vx, vy) = zw.coordinates("x y")
    g, mu = zw.parameters("g mu")
    floor = zw.Unilateral(y, friction=zw.Coulomb(mu, slip=vx), name="floor")
    system = zw.System(
        name="block", kinetic=(vx**2 + vy**2) / 2, potential=g * y, forces={x: -sp.Max(0, x - 1)}, constraints=[floor]
    )
    state, params = {"x": 0.25, "y": 0.5, "v_x": 2.0, "v_y": -1.0}, {"g": 9.81, "mu": 0.3}
    inputs, model = resolve(system, state, params), zw.compile(system)
    watched = [zw.Event(x - 3 * zw.t, name="meets"), "y - x"]
    open_, _ = exported(model, tmp_path, events=watched, name="open_block")
    status, (values,) = call(open_.open_block_events, inputs, 5)
    assert status == 0
    assert values == pytest.approx([0.5, 2.0, 0.75, 0.25, 0.25])
    held, _ = exported(model, tmp_path, active=["floor"], name="resting")
    status, (values,) = call(held.resting_events, inputs, 3)
    assert values == pytest.approx([9.81, 2.0, 0.75])
    header = (tmp_path / "open_block.h").read_text()
    assert "#define OPEN_BLOCK_EVENTS 5" in header
    assert "values of events: value of floor, slip of floor, switching surface 0, event 0, event 1" in header


@needs_compiler
def test_dependent_constraints_are_told_by_the_status(tmp_path: Path) -> None:
    (x, y), (u, v) = zw.coordinates("x y")
    same = [zw.Bilateral(x + y, name="one"), zw.Bilateral(2 * x + 2 * y, name="two")]
    system = zw.System(name="twice", kinetic=(u**2 + v**2) / 2, potential=x, constraints=same)
    made, _ = exported(zw.compile(system), tmp_path)
    inputs = resolve(system, {"x": 0, "y": 0, "v_x": 0, "v_y": 0}, {})
    assert call(made.twice_accelerations, inputs, 2, 2)[0] == 1


def latch() -> zw.System:
    (x,), (v,) = zw.coordinates("x")
    held = zw.Bilateral(x, name="latch", starts="off")
    return zw.System(name="latch", coordinates=[x], kinetic=v**2 / 2, potential=4 * x, constraints=[held])


def light_pendulum() -> tuple[zw.System, dict[str, float], dict[str, float]]:
    """A point on a circle with a mass along one axis alone, and a state on it."""
    (x, y), (vx, _) = zw.coordinates("x y")
    m, g, r = zw.parameters("m g r")
    rod = zw.Bilateral(x**2 + y**2 - r**2, name="rod")
    system = zw.System(name="light", kinetic=m * vx**2 / 2, potential=m * g * y, constraints=[rod])
    params = {"m": 2.0, "g": 9.81, "r": 1.3}
    return system, dict(zw.compile(system).project({"x": 0.5, "y": -1.0, "v_x": 0.3, "v_y": 0.0}, params)), params


@needs_compiler
def test_masses_that_are_missing_are_made_up_for_by_rows_in_c(tmp_path: Path) -> None:
    compare(*light_pendulum(), tmp_path)


def test_masses_that_are_missing_are_made_up_for_by_rows_in_jax() -> None:
    jax = pytest.importorskip("jax")
    system, state, params = light_pendulum()
    model = zw.compile(system)
    given = [[state[item.name] for item in part] for part in (system.coordinates, system.velocities)]
    with jax.enable_x64(True):
        a, lam = model.jax()(0.0, *given, [params[item.name] for item in system.parameters])
    found = model.evaluate(state, params)
    np.testing.assert_allclose(a, found.accelerations, rtol=1e-12)
    np.testing.assert_allclose(lam, [found.multipliers["rod"]], rtol=1e-12)


def test_latex_tells_signs_laws_switches_and_places() -> None:
    (x, y, z), (vx, vy, vz) = zw.coordinates("x y z")
    mu, rest, c = zw.parameters("mu nu c")
    floor = zw.Coulomb((mu, rest), slip=(vx, vy))
    system = zw.System(
        name="all",
        kinetic=(vx**2 + vy**2 + vz**2) / 2,
        constraints=[
            zw.Unilateral(z, friction=floor, restitution=0, name="floor"),
            zw.Bilateral(x - y, name="tie_1", starts="off"),
            zw.Unilateral(x, where=y < c, friction=zw.Coulomb(mu, static=rest, slip=vy), restitution=0, name="wall"),
            zw.Friction(c, slip=vz, of="tie_1", name="felt"),
        ],
    )
    first, *lines = zw.compile(system).to_latex().splitlines()[1:-1]
    # No factor of a law in the rows of slips: T are the forces themselves.
    assert r"\left[\begin{matrix}1 & 0 & 0 & 0\\0 & 1 & 1 & 0\\0 & 0 & 0 & 1\end{matrix}\right]" in first
    assert lines[0].startswith(r"z &\ge 0, \quad \lambda_{1} \ge 0, \quad \left|\left(T_{1}/(\mu),\, T_{2}/(\nu)")
    assert r"&& \text{tie\_1}\text{ (starts off)}" in lines[1]
    assert r"x &\ge 0 \text{ where } c > y, \quad \lambda_{3} \ge 0, \quad |T_{3}| \le \mu\,|\lambda_{3}|" in lines[2]
    assert r"(\text{at rest } \nu)" in lines[2]
    assert lines[3].startswith(r"|T_{4}| &\le c\,|\lambda_{2}|")


@needs_compiler
def test_what_is_off_at_first_is_not_held_unless_asked_for(tmp_path: Path) -> None:
    model = zw.compile(latch())
    inputs = resolve(model.system, {"x": 0.0, "v_x": 0.0}, {})
    for active, expected in ((None, -4.0), (["latch"], 0.0)):
        made, stem = exported(model, tmp_path, name="held" if active else "free", active=active)
        assert call(getattr(made, f"{stem}_accelerations"), inputs, 1, 1)[1][0][0] == expected


def test_what_is_off_at_first_is_not_held_in_jax() -> None:
    pytest.importorskip("jax")
    model, given = zw.compile(latch()), (0.0, np.zeros(1), np.zeros(1), np.zeros(0))
    assert model.jax()(*given)[0] == -4.0
    assert model.jax(active=["latch"])(*given)[1] == 4.0


@needs_compiler
@pytest.mark.parametrize(
    "text", ["*/ int pwned; /*", "\\", "??/", "int", "math", "3 bodies", "\u00e9\u00e0", '"x" // y']
)
def test_no_name_becomes_code(text: str, tmp_path: Path) -> None:
    (x,), (v,) = zw.coordinates("x")
    system = zw.System(name=text, kinetic=v**2 / 2, potential=x, constraints=[zw.Unilateral(x, name=text)])
    header, source = zw.compile(system).to_c(tmp_path)
    assert header.name not in ("int.h", "math.h")
    command = [str(COMPILER), *FLAGS, f"-I{tmp_path}", "-o", str(tmp_path / "x.so"), str(source), "-lm"]
    assert subprocess.run(command, check=False, capture_output=True, text=True).stderr == ""
    assert not hasattr(ctypes.CDLL(str(tmp_path / "x.so")), "pwned")


def test_mistakes_of_exports_name_their_cure(tmp_path: Path) -> None:
    model = zw.compile(zw.gallery.get("painleve_rod").system)
    with pytest.raises(zw.DeclarationError, match="there is no folder '.*nowhere'. Make it, or choose another"):
        model.to_c(tmp_path / "nowhere")
    for name in ("9lives", "a b", "while", "math", ""):
        with pytest.raises(zw.DeclarationError, match="name= must be a name in C that is not taken"):
            model.to_c(tmp_path, name=name)
    with pytest.raises(zw.DeclarationError, match="events= has 'w', which the system doesn't know"):
        model.to_c(tmp_path, events=["w - 1"])
    with pytest.raises(zw.DeclarationError, match="active= names 'floor', which is no constraint with a normal"):
        model.to_c(tmp_path, active=["floor"])
    names = " ".join(f"x{k}" for k in range(41))
    many = zw.System(name="many", kinetic=sum(v**2 for v in zw.coordinates(names)[1]) / 2)
    with pytest.raises(zw.CompileError, match="41 coordinates and held constraints are too many for C"):
        zw.compile(many).to_c(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_command_writes_both_files(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["export", "painleve_rod", "--folder", str(tmp_path), "--event", "y - 1"])
    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["painleve_rod.c", "painleve_rod.h"]
    assert "PAINLEVE_ROD_EVENTS 3" in (tmp_path / "painleve_rod.h").read_text()
    refused = CliRunner().invoke(main, ["export", "painleve_rod", "--folder", str(tmp_path / "no")])
    assert refused.exit_code != 0 and "there is no folder" in refused.output


@needs_compiler
def test_inputs_are_parameters_of_the_c_and_own_events_are_watched(tmp_path: Path) -> None:
    (x, y), (vx, vy) = zw.coordinates("x y")
    m, push = zw.parameters("m"), zw.inputs("b")
    rod = zw.Bilateral((x**2 + y**2 - 1) / 2, name="rod")
    events = [zw.Event(x - push, name="meets"), zw.Event(zw.reaction("rod") + 3, name="breaks"),
              zw.Event("impact", of="rod", name="never")]  # fmt: skip
    system = zw.System(
        name="driven", kinetic=m * (vx**2 + vy**2) / 2, forces={x: push, y: -m}, constraints=[rod], events=events
    )
    library, _ = exported(zw.compile(system), tmp_path, events=[zw.Event(y - push, name="given"), "y + b"])
    header = (tmp_path / "driven.h").read_text()
    assert "params: b, m" in header and "events: event meets, event breaks, event 0, event 1" in header
    state = {"x": 0.6, "y": -0.8, "v_x": 0.4, "v_y": 0.3}
    plain = zw.System(name="plain", kinetic=m * (vx**2 + vy**2) / 2, forces={x: zw.parameters("b"), y: -m})
    numbers = resolve(plain, state, {"b": 2.0, "m": 1.5})
    status, (values,) = call(library.driven_events, numbers, 4)
    # x a_x + y a_y + v^2 = 0 on the circle, and m a = F + lam (x, y)
    lam = -(0.6 * 2 + 0.8 * 1.5) - 1.5 * 0.25
    assert status == 0 and values == pytest.approx([-1.4, lam + 3, -2.8, 1.2], abs=1e-12)


def test_inputs_whose_rates_are_needed_are_refused_in_c(tmp_path: Path) -> None:
    (x,), (v,) = zw.coordinates("x")
    moved = zw.System(name="moved", kinetic=v**2 / 2, constraints=[zw.Bilateral(x - zw.inputs("u"), name="hand")])
    with pytest.raises(zw.DeclarationError, match="to_c: the rate of the input 'u' is needed"):
        zw.compile(moved).to_c(tmp_path)
