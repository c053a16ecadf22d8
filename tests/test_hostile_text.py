"""Text of others in messages, tables and pictures: nothing of it steers a terminal, is markup, or is typeset."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp
from click.testing import CliRunner

import zwang as zw
from night import by_day
from zwang.cli import main, progress
from zwang.cli.output import print_table
from zwang.errors import printable

RED, BELL, TURN = "\x1b[31m", "\x07", "\u202e"
TERMINAL = f"a{RED}b{BELL}{TURN}[bold red]c[/]\x9b2J\r\u2028"
NAMES = [r"$\frac$ <b>", "_hidden $", "a$b \\ {0} %s ^_{", "x$\\sqrt$", "long " * 900 + "w" * 3000]


def unseen(text: str) -> list[str]:
    return sorted({char for char in text if printable(char) != char})


def test_every_character_that_is_no_text_is_shown_as_an_escape() -> None:
    assert printable(TERMINAL) == r"a\x1b[31mb\x07\u202e[bold red]c[/]\x9b2J\r\u2028"
    assert printable("Größe θ, 1 µm\n\tnext") == "Größe θ, 1 µm\n\tnext"
    assert printable("\ud800\x00\u200b\ue0001") == "\\ud800\\x00\\u200b\ue0001"
    every = "".join(map(chr, range(0x20000)))
    assert all(char.isprintable() or char in "\n\t" or char.isspace() or ord(char) > 127 for char in printable(every))
    assert not unseen(printable(every))


def test_messages_of_errors_can_be_printed_anywhere() -> None:
    for kind in (zw.ZwangError, zw.DeclarationError, zw.CompileError, zw.StateError):
        assert str(kind(TERMINAL)) == printable(TERMINAL)
    with pytest.raises(zw.DeclarationError) as told:
        zw.gallery.get(TERMINAL)
    assert "\\x1b[31m" in str(told.value) and not unseen(str(told.value))


def text_of(name: str) -> str:
    escaped = "".join(char if " " <= char < "\x7f" and char not in '"\\' else f"\\U{ord(char):08x}" for char in name)
    return f'"{escaped}"'


def model(name: str) -> str:
    return f"""
schema = 1
name = {text_of(name)}
coordinates = ["x", "y"]
kinetic = "m*(v_x**2 + v_y**2)/2"
potential = "m*g*y"
[[constraint]]
kind = "unilateral"
name = {text_of(name)}
expr = "y"
restitution = "1/2"
[params]
m = 1.0
g = 9.81
[state]
x = 0.0
y = 0.0
v_x = 1.0
v_y = 0.0
"""


@pytest.mark.parametrize(
    "command",
    [
        ["check"], ["check", "--json"], ["show"], ["show", "--equations"], ["show", "--latex"], ["reactions"],
        ["reactions", "--map", "m=1:2:3"], ["simulate", "--until", "0.1"], ["limit", "--constraint", "nothing"],
        ["reactions", "--hold", "nothing"], ["check", "--state", "y=-1"], ["trace"],
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", [TERMINAL, "[bold red]c[/] [/"], ids=["steers", "brackets"])
def test_no_command_prints_what_a_terminal_would_obey(name: str, command: list[str], tmp_path: Path) -> None:
    path = tmp_path / "model.toml"
    path.write_text(model(name), encoding="utf-8")
    done = CliRunner().invoke(main, [command[0], str(path), *command[1:]])
    assert done.exception is None or isinstance(done.exception, SystemExit)
    told = done.stdout + done.stderr
    assert unseen(told) == [] and len(told) > 20
    if command[0] != "trace" and "--latex" not in command and "--map" not in command:
        assert "[bold red]c[/]" in told.replace("\n", "")


@pytest.mark.parametrize("key", ["name{}", "constraint.{}", "params.{}"])
def test_keys_of_a_model_file_reach_no_terminal(key: str, tmp_path: Path) -> None:
    path = tmp_path / "model.toml"
    table, _, last = key.rpartition(".")
    line = f"{text_of(last.format(TERMINAL))} = 1.0"
    text = model("rod")
    text = text.replace("[[constraint]]", f"[[constraint]]\n{line}") if table == "constraint" else text
    text = text.replace("[params]", f"[params]\n{line}") if table == "params" else text
    path.write_text(f"{line}\n{text}" if not table else text, encoding="utf-8")
    done = CliRunner().invoke(main, ["check", str(path)])
    assert unseen(done.stdout + done.stderr) == []
    if table != "params":
        assert done.exit_code == 2 and "\\x1b[31m" in done.stderr


def test_tables_and_progress_take_brackets_as_they_are(capfd: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    print_table(("head",), [(f"[/no] [red]{RED}",)])
    assert "[/no] [red]\\x1b[31m" in capfd.readouterr().out
    monkeypatch.setattr(progress, "SECONDS", 0.0)
    with progress.progress(f"[/no] {RED}", 3) as show:
        show(1, f"[/] {BELL}")
    assert capfd.readouterr().err == "[/no] \\x1b[31m: 1 of 3, [/] \\x07\n"


# --- pictures --------------------------------------------------------------------------------------------------------


def declarable(name: str) -> str:
    """As much of a name as a constraint may have."""
    return "".join(char for char in name if char.isprintable())[:80].strip()


def systems(name: str) -> tuple[zw.System, zw.System]:
    (x, y), (vx, vy) = zw.coordinates("x y")
    own = declarable(name)
    floor = zw.Unilateral(y, friction=zw.Coulomb(sp.Rational(3, 10), slip=vx), restitution=0, name=own)
    block = zw.System(name=name, kinetic=(vx**2 + vy**2) / 2, potential=10 * y, constraints=[floor])
    cross = zw.System(name=name, kinetic=(vx**2 + vy**2) / 2, constraints=[zw.Bilateral(x * y, name=own)])
    return block, cross


def pictures(name: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Every picture that a result makes, of a system whose names are all this one."""
    block, cross = systems(name)
    state, event = {"x": 0, "y": 0, "v_x": 1, "v_y": 0}, zw.Event("x - 1/100", name=f"{RED}{name}")
    found = zw.reactions(block, state, {})
    yield "graph", lambda: found.plot("graph")
    yield "forces", lambda: found.plot("forces")
    at_rest = zw.compile(cross, backend="reference").evaluate({"x": 1, "y": 0, "v_x": 1, "v_y": 0}, {})
    for quantity in ("accelerations", "multipliers"):
        yield quantity, lambda quantity=quantity: at_rest.plot(quantity)
    motion = zw.simulate(block, state, {}, until=0.2, events=[event])
    for what in ("positions", "reactions", "work", "energy"):
        yield what, lambda what=what: motion.plot(what)
    yield "against", lambda: motion.plot("v_x", against="x")
    space = zw.trace(cross, {}, box={"x": (-1, 1), "y": (-1, 1)})
    yield "trace", space.plot
    yield "asymptotics", zw.asymptotics(cross, {}, at={"x": 0, "y": 0}, perturb=declarable(name)).plot


def drawn(ax: Any) -> str:
    """Draw a picture to the last letter, as it would be in a file; return all that is written in it."""
    import matplotlib.pyplot as plt
    from matplotlib.text import Text

    figure = ax.figure
    for kind in ("svg", "png"):
        figure.savefig(io.BytesIO(), format=kind)
    plt.close(figure)
    return "\n".join(item.get_text() for item in figure.findobj(Text))


@pytest.mark.parametrize("name", by_day(NAMES, NAMES[:1]), ids=[f"name {k}" for k in range(len(NAMES))])
def test_no_name_breaks_a_picture_or_is_typeset(name: str) -> None:
    pytest.importorskip("matplotlib")
    named = set()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for what, make in pictures(name):
            text = drawn(make())
            assert not unseen(text), what
            assert len(text) < 3000
            if declarable(name)[:20].replace("$", r"\$") in text.replace("\n", " "):
                named.add(what)
    assert {"graph", "forces", "positions", "multipliers"} <= named


def test_what_is_shown_is_the_name_letter_by_letter() -> None:
    pytest.importorskip("matplotlib")
    from matplotlib.cbook import is_math_text

    from zwang._plot.style import new_figure, symbol, title, words

    for name in (*NAMES, r"\$", "$$", r"\\$x$", "v_$x$", "v__"):
        for shown in (words(name), symbol(name)):
            assert not is_math_text(shown) and len(shown) < 150
        _, ax = new_figure()
        title(ax, f"{name}: {name}")
        assert not is_math_text(ax.get_title(loc="left")) and ax.get_title(loc="left").count("\n") < 4
    assert symbol("theta") == r"$\theta$" and symbol("v_x") == r"$\dot{x}$"


@pytest.mark.parametrize("name", NAMES[:4])
def test_drawings_and_films_take_any_name(name: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    (x,), (vx,) = zw.coordinates("x")
    drawing = zw.Drawing(points={name: (x, 0), "B": (0, 1)}, bars=[(name, "B")])
    cart = zw.System(name=name, kinetic=vx**2 / 2, drawing=drawing)
    motion = zw.simulate(cart, {"x": 0, "v_x": 1}, {}, until=0.1)
    page = motion.animate(tmp_path / "film.html", frames=4).read_text(encoding="utf-8")
    assert "<b>" not in page
    assert motion.animate(tmp_path / "film.gif", frames=4).read_bytes().startswith(b"GIF89a")
    assert np.isfinite(motion.q).all()


def test_results_print_what_can_be_seen_whatever_a_file_said() -> None:
    from zwang._results.motion_parts import Continuation, ModeSpan, MotionEvent

    for item in (
        MotionEvent(0.0, "user", None, TERMINAL),
        MotionEvent(0.0, "impact", TERMINAL),
        ModeSpan(0.0, 1.0, (TERMINAL,), ("open",)),
        Continuation(TERMINAL),
    ):
        assert "\\x1b[31m" in repr(item) and not unseen(repr(item))
