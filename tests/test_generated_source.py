"""No text of a user's enters generated source: hostile names do nothing, and all source is the emitter's own."""

from __future__ import annotations

import ast
import contextlib
import importlib
import importlib.util
import re
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp
from click.testing import CliRunner

import zwang as zw
from night import by_day
from zwang._declare.symbols import Coordinate
from zwang._derive.motion_modes import ActiveSet
from zwang._kernels.mode_motion import moving
from zwang._numerics import jit
from zwang.cli import main

ROOT = Path(zw.__file__).parent
HARM = "sys.modules['pwned'] = open"
HOSTILE = (
    f'"""; import sys; {HARM}; """',
    f"'''; import sys; {HARM}; '''",
    f'"\\n\\nimport sys; {HARM}  # ',
    "\\xi \\N \\u12 \\",
    "C:\\users\\new",
    "{title} {0} {} %s %(x)d {{",
    "ζ≤∮ 变 \u00ad",
    '"""\n\nimport sys\n' + HARM + '\n"""',
    "\0 \r \x1b[31m \x85 \u2028",
)


def printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)


def renamed(system: zw.System, text: str) -> tuple[zw.System, dict[str, str]]:
    """Return the system with `text` in every name that it carries, and old name -> new name.

    Symbols take letters, digits and underscores alone (see the test of those that don't); labels of constraints take
    what can be printed; the name of the system is set past its check.
    """
    letters = "_" + re.sub(r"[^A-Za-z0-9_]+", "_", text)
    new: dict[Any, Any] = {}
    for old in system.coordinates:
        new[old] = Coordinate(old.name + letters, old.angle, old.place, old.call)
        new[old.velocity] = new[old].velocity
    new |= {old: sp.Symbol(old.name + letters, real=True) for old in system.parameters}

    def change(expr: Any) -> Any:
        return expr.xreplace(new)

    names = {old.name: symbol.name for old, symbol in new.items()}
    constraints = []
    for item in system.constraints:
        label = f"{item.name}{printable(text)[:60]}"
        names[str(item.name)] = label
        constraints.append(item.map(change).named(label))
    near, far = (f"{name}{printable(text)[:40]}" for name in "AB")
    drawing = zw.Drawing(points={near: (0, 0), far: (new[system.coordinates[0]], 0)}, bars=[(near, far)])
    made = system.replace(
        drawing=drawing,
        coordinates=[new[item] for item in system.coordinates],
        constraints=constraints,
        forces={new[key]: change(value) for key, value in system.forces.items()},
        name=f"{system.name}{printable(text)}",
        **(
            {"mass": change(system.mass), "force": change(system.force)}
            if system.mass is not None
            else {"kinetic": change(system.kinetic), "potential": change(system.potential)}
        ),
    )
    object.__setattr__(made, "name", f"{system.name}{text}")
    return made, names


class Case:
    """Systems of the gallery with a text in all their names."""

    def __init__(self, text: str) -> None:
        self.text = text

    def of(self, system: zw.System, *values: Mapping[str, Any]) -> tuple[Any, ...]:
        made, names = renamed(system, self.text)
        return (made, names, *({names.get(key, key): value for key, value in part.items()} for part in values))

    def entry(self, name: str) -> tuple[Any, ...]:
        entry = zw.gallery.get(name)
        return self.of(entry.system, entry.state, entry.params)

    def label(self, name: str) -> str:
        return name + self.text


def evaluates(case: Case) -> Any:
    system, _, state, params = case.entry("ellipse_pendulum_cartesian")
    model = zw.compile(system)
    many = {key: np.full(40, value) for key, value in state.items()}
    return model.evaluate(state, params).accelerations, model.evaluate(many, params).accelerations


def answers_with_friction(case: Case) -> Any:
    system, _, state, params = case.entry("painleve_rod")
    return [item.acceleration for item in zw.reactions(system, state, params).solutions]


def moves(case: Case) -> Any:
    system, _, state, params = case.entry("bouncing_ball")
    half = zw.Event(system.coordinates[0] - 0.5, name=case.label("half"))
    motion = zw.simulate(system, state, params, until=0.5, events=[half])
    return motion.t, motion.q, [item.time for item in motion.events]


def moves_by_steps(case: Case) -> Any:
    system, _, state, params = case.entry("bouncing_ball")
    return zw.simulate(system, state, params, until=0.01, method="timestepping", step=1e-3).q


def moves_side_by_side(case: Case) -> Any:
    system, _, state, params = case.entry("ellipse_pendulum_cartesian")
    found = zw.simulate(system, {key: np.full(8, value) for key, value in state.items()}, params, until=0.05)
    mode = ActiveSet((0, 1, 2))
    assert zw.compile(system).kernels.lanes(mode) is not None and moving(zw.compile(system), mode) is not None
    return [part.q[-1] for part in found]


def large(case: Case) -> Any:
    linkage = zw.Linkage("chain", gravity=(0, -9.81)).ground("O", 0, 0)
    linkage.points([f"P{i}" for i in range(10)], mass=1)
    linkage.chain(["O", *(f"P{i}" for i in range(10))], lengths=[1] * 10)
    plain = linkage.system()
    start = {item.name: 0.0 for item in (*plain.coordinates, *plain.velocities)}
    system, _, state = case.of(plain, start | {f"x_P{i}": 1.0 + i for i in range(10)})
    below = zw.Event(system.coordinates[-1] + 1, name=case.label("below"))
    motion = zw.simulate(system, state, until=0.01, events=[below])
    return zw.compile(system).evaluate(state).accelerations, motion.q[-1]


def traces(case: Case) -> Any:
    system, _, _, params = case.entry("four_bar")
    space = zw.trace(system, params)
    return [list(item.state.values()) for item in space.singular_points], len(space.branches)


def nears_a_singular_point(case: Case) -> Any:
    system, _, _, params = case.entry("tangency")
    point = zw.trace(system, params).singular_points[0]
    return [row.exponent for row in zw.asymptotics(system, params, at=point).rows]


def studies_a_limit(case: Case) -> Any:
    system, names, state, params = case.entry("kozlov_neishtadt")
    system = system.replace(name=printable(system.name))  # softening declares the system again
    strengths = [1e3, 1e4, 1e5]
    study = zw.limit(system, names["floor"], state, params, by=zw.Stiffness, until=0.1, strengths=strengths)
    return [list(values) for values in study.errors.values()]


CASES: dict[str, Callable[[Case], Any]] = {
    item.__name__: item
    for item in (
        evaluates,
        answers_with_friction,
        moves,
        moves_by_steps,
        moves_side_by_side,
        large,
        traces,
        nears_a_singular_point,
        studies_a_limit,
    )
}


# --- who calls the loader --------------------------------------------------------------------------------------------


@cache
def call_sites() -> dict[str, list[tuple[str, int, int]]]:
    """Return module -> calls of `load_generated` in it: the function around the call, its first line and its last."""
    found: dict[str, list[tuple[str, int, int]]] = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = ["zwang", *path.relative_to(ROOT).with_suffix("").parts]
        name = ".".join(parts).removesuffix(".__init__")
        if name == jit.__name__ or name.startswith(f"{jit.__name__}."):
            continue
        for node, around in _calls(ast.parse(path.read_text(encoding="utf-8")), "<module>"):
            found.setdefault(name, []).append((around, node.lineno, node.end_lineno or node.lineno))
    return found


def _calls(node: ast.AST, around: str) -> Iterator[tuple[ast.Call, str]]:
    for child in ast.iter_child_nodes(node):
        inside = child.name if isinstance(child, ast.FunctionDef) else around
        if isinstance(child, ast.Call) and "load_generated" in ast.unparse(child.func):
            yield child, around
        yield from _calls(child, inside)


class Recorder:
    """What the loader was given: the sources of each call site (module and line)."""

    def __init__(self) -> None:
        self.sources: dict[tuple[str, int], list[str]] = {}
        self.real = jit.load_generated

    def __call__(self, source: str, name: str) -> Any:
        frame = sys._getframe(1)
        self.sources.setdefault((frame.f_globals["__name__"], frame.f_lineno), []).append(source)
        return self.real(source, name)

    def listed(self) -> list[str]:
        return [source for site in sorted(self.sources) for source in self.sources[site]]


@contextlib.contextmanager
def recorder() -> Iterator[Recorder]:
    """Stand between every caller and the loader."""
    found = Recorder()
    modules = {name: importlib.import_module(name) for name in call_sites()}  # before anything is recorded
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jit, "load_generated", found)
        for name, sites in call_sites().items():
            patch.setattr(modules[name], "load_generated", found)
            if any(around == "<module>" for around, *_ in sites):  # called at import: the module is run once more
                spec = importlib.util.find_spec(name)
                assert spec is not None and spec.loader is not None
                spec.loader.exec_module(importlib.util.module_from_spec(spec))
        yield found


@cache
def harmless() -> tuple[dict[str, Any], Recorder]:
    """Return the answers under harmless names, and what was generated on the way."""
    with recorder() as found:
        return {name: ask(Case("")) for name, ask in CASES.items()}, found


@pytest.mark.parametrize("text", by_day(HOSTILE, HOSTILE[7:8]), ids=range(len(HOSTILE)))
def test_hostile_names_execute_nothing_and_change_nothing(text: str) -> None:
    expected, sources = harmless()
    with recorder() as found:
        answers = {name: ask(Case(text)) for name, ask in CASES.items()}
    assert "pwned" not in sys.modules
    assert found.listed() == sources.listed()  # so models that differ in names alone share their code
    for name in CASES:
        assert_same(answers[name], expected[name])


def test_a_model_file_with_a_hostile_name_is_read_and_executes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    zw.gallery.get("bouncing_ball").system.save(tmp_path / "ball.toml", state=None)
    text = (tmp_path / "ball.toml").read_text(encoding="utf-8")
    assert 'name = "bouncing_ball"' in text
    hostile = """name = 'x\"\"\"; open("pwned", "w"); \"\"\"'"""
    (tmp_path / "ball.toml").write_text(text.replace('name = "bouncing_ball"', hostile), encoding="utf-8")
    values = ["--param", "m=1", "g=1", "e=0.5", "--state", "y=1", "v_y=0"]
    for command in (["check", "ball.toml", *values], ["reactions", "ball.toml", *values]):
        done = CliRunner().invoke(main, command)
        assert done.exit_code == 0, done.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ball.toml"]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_symbols_with_hostile_names_are_refused_before_source_is_generated(text: str) -> None:
    (x,), (v,) = zw.coordinates("x")
    bad = sp.Symbol(text, real=True)
    place = Coordinate(text)
    with recorder() as found:
        before = len(found.listed())
        for kinetic, potential in ((bad * v**2, 0), (v**2, bad * x), (place.velocity**2, place)):
            system = zw.System(kinetic=kinetic, potential=potential)
            with pytest.raises(zw.DeclarationError):
                zw.compile(system).evaluate({str(item): 1.0 for item in (x, v, bad, place, place.velocity)})
        assert len(found.listed()) == before
    assert "pwned" not in sys.modules


def assert_same(found: Any, expected: Any) -> None:
    if isinstance(expected, list | tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    else:
        np.testing.assert_array_equal(found, expected)


def test_the_questions_reach_every_caller_of_the_loader() -> None:
    """A new caller of the loader fails here until a question above reaches it with hostile names."""
    _, found = harmless()
    for name, sites in call_sites().items():
        for around, first, last in sites:
            reached = any(module == name and first <= line <= last for module, line in found.sources)
            assert reached, f"no question reaches load_generated in {name}.{around}, line {first}"


# --- what generated source is made of --------------------------------------------------------------------------------

PLAIN = (
    ast.Module, ast.Import, ast.ImportFrom, ast.alias, ast.FunctionDef, ast.arguments, ast.arg, ast.keyword,
    ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.For, ast.While, ast.If, ast.IfExp, ast.Break,
    ast.Continue, ast.Pass, ast.Expr, ast.Call, ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.Tuple, ast.Set,
    ast.Constant, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.operator, ast.unaryop, ast.boolop, ast.cmpop,
    ast.expr_context, ast.List, ast.ListComp, ast.comprehension,
)  # fmt: skip
MODULES = {"__future__", "math", "typing", "numpy", "numpy.typing"}
SIGNATURE = re.compile(r"(?:void|u?int64|float64|boolean|FunctionType|UniTuple|[\[\]():,0-9 ])+")
NUMBERED = re.compile(r"(?:[xqvpwcao]|r_[qvp])[0-9]+|r_t")


@cache
def words_of_the_package() -> tuple[frozenset[str], str]:
    """Return every identifier in the package's own text, and all of that text."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(ROOT.rglob("*.py")))
    return frozenset(re.findall(r"[A-Za-z_][A-Za-z0-9_]*", text)), text


def foreign(source: str) -> list[str]:
    """Return what is not the emitter's own: kinds of statements, names, texts, modules, objects called."""
    words, text = words_of_the_package()
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, PLAIN):
            found.append(type(node).__name__)
        if isinstance(node, ast.Import):
            found += [item.name for item in node.names if item.name not in MODULES]
        if isinstance(node, ast.ImportFrom):
            module = str(node.module)
            ours = re.fullmatch(r"zwang\._numerics\.[a-z_.]+|zwang_generated_[a-z_]+_[0-9a-f]{16}", module)
            found += [] if ours or module in MODULES else [module]
        for name in (getattr(node, key, None) for key in ("id", "attr", "arg", "name", "asname")):
            if isinstance(name, str) and not NUMBERED.fullmatch(name) and name.split(".")[-1] not in words:
                found.append(name)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            known = SIGNATURE.fullmatch(node.value) or node.value in text
            found += [] if known else [node.value]
        if isinstance(node, ast.Constant) and not isinstance(node.value, str | int | float | None | types.EllipsisType):
            found.append(repr(node.value))
    return found


def test_generated_source_is_numbers_and_the_emitters_own_names() -> None:
    for source in harmless()[1].listed():
        assert foreign(source) == []


def test_no_name_of_a_users_stands_in_generated_source() -> None:
    with recorder() as found:
        for ask in CASES.values():
            ask(Case("qzwqx"))
    assert found.listed()
    assert not [source for source in found.listed() if "qzwqx" in source]


@pytest.mark.parametrize(
    "source",
    [
        "import os",
        "from os import system",
        "x1 = 'text of a user'",
        "lambda x1: x1",
        "x1 = open_sesame(x2)",
        "with x1: pass",
        "del x1",
        "x1 = f'{x2}'",
        "x1 = 3j",
        "try:\n    pass\nfinally:\n    pass",
    ],
)
def test_the_search_for_foreign_source_finds(source: str) -> None:
    assert foreign(source)
