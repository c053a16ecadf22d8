"""Hostile inputs: model files, expressions, numbers and options, command lines, result files.

What must hold: nothing is raised but `ZwangError`, nothing hangs, nothing is executed or written outside, a result that
calls itself an answer has numbers in it, a file that was there before is whole or as it was.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from zwang import gallery
from zwang._compile import Model, compile
from zwang._declare import load
from zwang._linkage import Linkage
from zwang._reactions import reactions
from zwang._results.loading import load_result
from zwang._selftest.answer_numbers import not_finite
from zwang._selftest.canary import watching
from zwang._selftest.complaint import Complaint, generator
from zwang._selftest.hostile import NUMBERS, TEXTS, damaged, damaged_bytes, expression, pick
from zwang._simulate import simulate
from zwang.errors import ZwangError

MODELS = (
    "painleve_rod",
    "ellipse_pendulum",
    "incline_block",
    "sleigh_ahead",
    "bouncing_ball",
    "atwood",
)
OLD = b"what was here before"
CODES = (0, 1, 2)


@cache
def _holder() -> tempfile.TemporaryDirectory[str]:
    """A folder of this process, removed when it ends."""
    return tempfile.TemporaryDirectory(prefix="zwang-fuzz-")


def _folder() -> Path:
    return Path(_holder().name)


def tried(call: Callable[[], Any], program: str) -> tuple[Any, Complaint | None]:
    """Return what a call gives (None where it raises a ZwangError), and what is wrong about it."""
    result, words = None, ""
    with watching() as seen:
        try:
            result = call()
        except (ZwangError, SystemExit):
            pass
        except MemoryError:
            words = "takes more memory than a problem may"
        except Exception as error:  # noqa: BLE001 - the whole point is to find these
            words = f"raises {type(error).__name__}: {str(error)[:200]}"
    if seen:
        words = f"does what it must not: {seen[0]}"
    words = words or not_finite(result)
    return result, Complaint(words, program) if words else None


@cache
def _text(name: str) -> str:
    entry = gallery.get(name)
    path = _folder() / "saved.toml"
    entry.system.save(path, params=entry.params, state=entry.state)
    return path.read_text(encoding="utf-8")


def check_file(seed: int, index: int) -> Complaint | None:
    """A model file: read or refused; what is read can be written and read again, and answers or refuses."""
    rng = generator("file", seed, index)
    text = damaged(rng, _text(pick(rng, MODELS)))
    path, again = _folder() / "model.toml", _folder() / "again.toml"
    path.write_bytes(text.encode("utf-8", errors="surrogatepass"))
    program = f"# a model file:\n{text}"
    system, wrong = tried(lambda: load(path), program)
    if wrong or system is None:
        return wrong

    def round_trip() -> Any:
        system.save(again)
        return load(again)

    other, wrong = tried(round_trip, program)
    if wrong:
        return wrong
    if other is not None and other.digest != system.digest:
        return Complaint("is another system after it was saved and read again", program)
    if rng.random() < 0.03 and len(system.coordinates) < 6:
        state = {name: 0.1 for item in system.coordinates for name in (item.name, item.velocity.name)}
        values = {item.name: 1.5 for item in system.parameters}
        _, wrong = tried(lambda: compile(system, "reference").evaluate(state, values), program)
    return wrong


def check_expression(seed: int, index: int) -> Complaint | None:
    """An expression in a model file, in a builder or on the command line: read or refused."""
    rng = generator("expression", seed, index)
    text = expression(rng)
    way = int(rng.integers(3))
    if way == 0:
        head = 'schema = 1\nname = "s"\ncoordinates = ["x", "y"]\nkinetic = "v_x**2/2 + v_y**2/2"\n'
        path = _folder() / "expression.toml"
        written = head + f"potential = {json.dumps(text)}\n"
        path.write_bytes(written.encode("utf-8", errors="surrogatepass"))
        return tried(lambda: load(path), f"# a model file:\n{written}")[1]
    if way == 1:
        program = f"zw.Linkage('l').ground('A', 0, 0).point('B', mass=1).guide('B', {text!r}).system()"

        def build() -> Any:
            return Linkage("l").ground("A", 0, 0).point("B", mass=1).guide("B", text).system()

        return tried(build, program)[1]
    return _command(["check", "incline_block", "--param", f"g={text}"])


@cache
def _compiled(name: str) -> Model:
    return compile(gallery.get(name).system)


def check_number(seed: int, index: int) -> Complaint | None:
    """A verb with numbers and options that make no sense: an answer with numbers in it, or a refusal."""
    rng = generator("number", seed, index)
    name = pick(rng, MODELS)
    entry = gallery.get(name)
    options: dict[str, Any] = {}
    state, params = dict(entry.state), dict(entry.params)
    for _ in range(int(rng.integers(1, 3))):
        target = pick(rng, (state, params, params, state, options))
        if target is options:
            options[pick(rng, ("tol", "gap_tol", "slip_tol", "rate_tol", "until", "step", "budget"))] = pick(
                rng, NUMBERS
            )
        else:
            target[pick(rng, sorted(target))] = pick(rng, NUMBERS)
    verb = pick(rng, ("evaluate", "reactions", "simulate"))
    known = {"reactions": ("tol", "gap_tol", "slip_tol", "rate_tol", "budget"), "simulate": ("tol", "until", "step")}
    chosen = {key: value for key, value in options.items() if key in known.get(verb, ())}
    if verb == "simulate":
        chosen = {"until": 0.02} | chosen
        until = chosen["until"]
        if isinstance(until, (int, float)) and 1.0 < until < 1e300:
            chosen["until"] = 0.05  # a long motion is no mistake
        if "step" in chosen:
            chosen["method"] = "timestepping"
    told = ", ".join(f"{key}={value!r}" for key, value in chosen.items())
    program = (
        f"entry = zw.gallery.get({name!r})\nstate, params = {state!r}, {params!r}\n"
        f"zw.{verb}(entry.system, state, params, {told})"
    )

    def ask() -> Any:
        model = _compiled(name)
        with np.errstate(all="ignore"):
            if verb == "evaluate":
                return model.evaluate(state, params)
            return (reactions if verb == "reactions" else simulate)(model, state, params, **chosen)

    result, wrong = tried(ask, program)
    if wrong is None and result is not None:
        _, wrong = tried(lambda: repr(result), program)
    return wrong


def _command(arguments: list[str]) -> Complaint | None:
    """Run a command line in this process: exit codes, no traceback, no nan under success, old files whole."""
    from zwang._selftest.command_line import command_group

    out, err = io.StringIO(), io.StringIO()
    program = "zwang " + " ".join(json.dumps(word) for word in arguments)
    code: Any = 0

    def call() -> None:
        nonlocal code
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                command_group()(args=arguments, prog_name="zwang", standalone_mode=True)
        except SystemExit as stop:
            code = stop.code

    limit = sys.getrecursionlimit()
    _, wrong = tried(call, program)
    sys.setrecursionlimit(limit)
    if wrong:
        return wrong
    if code not in CODES and code is not None:
        return Complaint(f"ends with the exit code {code!r}", program)
    if "Traceback" in err.getvalue() + out.getvalue():
        return Complaint("prints a traceback", program)
    if not code and re.search(r"\b(nan|NaN)\b", out.getvalue()) and "nan" not in program.lower():
        return Complaint("prints nan and says that all is well", program)
    if "\x1b" in out.getvalue():
        return Complaint("prints an escape character", program)
    return None


def check_option(seed: int, index: int) -> Complaint | None:
    """A command line: exit codes, no traceback; a file that was there is as it was, or whole."""
    rng = generator("option", seed, index)
    old = _folder() / pick(rng, ("old.npz", "old.json", "old.txt", "old.toml"))
    old.write_bytes(OLD)
    name = pick(rng, MODELS)
    values = gallery.get(name)
    numbers = ["nan", "inf", "-1", "0", "1e400", "1e155", "1e-320", "a", "", "1/0", "pi/3", "0.5", "--", "1e9"]
    words = [
        lambda: ["--param", f"{pick(rng, sorted(values.params))}={pick(rng, numbers)}"],
        lambda: ["--state", f"{pick(rng, sorted(values.state))}={pick(rng, numbers)}"],
        lambda: ["--param", str(pick(rng, TEXTS))[:300]],
        lambda: [pick(rng, ("--json", "--degrees", "--help", "--version", "--frobnicate"))],
        lambda: ["--out", str(old)],
        lambda: [pick(rng, ("--tol", "--step", "--until", "--method", "--at-singular", "--hold")), pick(rng, numbers)],
    ]
    verb = pick(rng, ("check", "reactions", "simulate", "show", "gallery", "trace", str(pick(rng, TEXTS))[:50]))
    model = name if rng.random() < 0.8 else str(pick(rng, TEXTS))[:100]
    arguments = [verb, model] + [word for _ in range(int(rng.integers(0, 4))) for word in pick(rng, words)()]
    if verb == "simulate" and "--until" not in arguments:
        arguments += ["--until", "0.01"]
    if verb == "simulate" and any(word in {"1e9", "1e155"} for word in arguments):
        arguments[1] = "nothing"  # a long motion is no mistake
    if verb == "trace":
        arguments = [*arguments[:2], "--help", *arguments[2:]]
    wrong = _command(arguments)
    if wrong is None and old.exists() and old.read_bytes() != OLD and "--out" in arguments:
        _, wrong = tried(lambda: load_result(old), "zwang " + " ".join(arguments))
    if wrong is None and not old.exists():
        wrong = Complaint("removes a file that was there", "zwang " + " ".join(arguments))
    return wrong


@cache
def _saved() -> tuple[bytes, ...]:
    """Result files of some verbs."""
    rod, ball = gallery.get("painleve_rod"), gallery.get("bouncing_ball")
    path, found = _folder() / "saved.npz", []
    for result in (
        reactions(rod.system, rod.state, rod.params),
        simulate(rod.system, rod.state, rod.params, until=0.01),
        simulate(ball.system, ball.state, ball.params, until=0.5),
        compile(rod.system).evaluate(rod.state, rod.params),
    ):
        result.save(path)
        found.append(path.read_bytes())
    return tuple(found)


def check_result(seed: int, index: int) -> Complaint | None:
    """A damaged result file: read or refused, and what is read can be printed."""
    rng = generator("result", seed, index)
    data = damaged_bytes(rng, pick(rng, _saved()))
    path = _folder() / "damaged.npz"
    path.write_bytes(data)
    program = f"# a result file, in hexadecimal, shortened:\n# {data[:60].hex()}..."
    result, wrong = tried(lambda: load_result(path), program)
    if wrong is None and result is not None:
        _, wrong = tried(lambda: repr(result), program)
    return wrong
