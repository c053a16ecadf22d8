"""One block of a sweep: the verb asked at its points, and what is kept of the answers.

A `Question` is plain data (the model as its file holds it, numbers, names, and the options that were given), so that
any process that can import zwang can answer it.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._compile.model import Model, compile
from zwang._declare.constraints import Friction
from zwang._declare.plain import restored
from zwang._declare.system import System
from zwang._reactions import contact_problem, hold
from zwang._results.reactions import ReactionsStatus
from zwang._results.study_columns import COUNT
from zwang._sweep.kept import AttributePath, columns_of, imported, keepers, plain
from zwang.errors import DeclarationError, StateError, ZwangError, nearest

Array = NDArray[np.float64]
VERBS = {
    "asymptotics": ("zwang._asymptotics", "zwang._results.asymptotics", "Asymptotics"),
    "critical": ("zwang._trace", "zwang._results.critical", "CriticalValues"),
    "drive": ("zwang._drive", "zwang._results.drive", "Drive"),
    "equilibria": ("zwang._equilibria", "zwang._results.equilibria", "Equilibria"),
    "guarantee": ("zwang._guarantee", "zwang._results.guarantee", "Guarantee"),
    "limit": ("zwang._limit", "zwang._results.limit", "LimitStudy"),
    "linearize": ("zwang._linearize", "zwang._results.linearization", "Linearization"),
    "lyapunov": ("zwang._cycles", "zwang._results.lyapunov", "Lyapunov"),
    "periodic": ("zwang._cycles", "zwang._results.cycle", "Cycle"),
    "reactions": ("zwang._reactions", "zwang._results.reactions", "Reactions"),
    "recommend": ("zwang._limit", "zwang._results.limit", "Recommendation"),
    "sensitivity": ("zwang._sensitivity", "zwang._results.sensitivity", "Sensitivity"),
    "simulate": ("zwang._simulate", "zwang._results.motion", "Motion"),
    "trace": ("zwang._trace", "zwang._results.configuration", "ConfigurationSpace"),
}
"""Verb -> its module, and where the class of its result is."""
EVERY = "every"
"""What `simulate` is asked for where it returns a tree."""
COUNTS = "counts"
"""What `reactions` keeps under this name is the number of distinct accelerations, as its maps do."""
STATUSES = np.array([item.name for item in ReactionsStatus])
BLOCKS = {"reactions": 1 << 18, "simulate": 1 << 10}
"""Points of a block that a verb takes as one batch."""


@dataclass(frozen=True)
class Question:
    """What is asked at every point.

    Attributes
    ----------
    model : mapping
        The system as a model file holds it.
    laws : tuple of str
        Modules that register its laws of friction.
    verb : str
        A verb, or 'module:function'.
    state, params : mappings of str to float
        Values of everything that is not varied; an axis overrides them.
    options : mapping
        Further keyword arguments of the verb.
    keep : mapping of str to path or function
    project : bool
        Whether each state is carried onto the constraints that the given state satisfies.
    backend : str
    seed : int
    """

    model: Mapping[str, Any]
    digest: str
    laws: tuple[str, ...]
    verb: str
    state: Mapping[str, float] | None
    params: Mapping[str, float]
    options: Mapping[str, Any] = field(default_factory=dict)
    keep: Mapping[str, Any] = field(default_factory=dict)
    project: bool = False
    backend: str = "native"
    seed: int = 0


@dataclass(frozen=True)
class Answer:
    """What came of a block.

    Attributes
    ----------
    first, count : int
    columns : mapping of str to array
    failed : mapping of int to str
        Number of a point, counted from the first of all -> message.
    residual : float
        The largest one; nan where none was computed.
    """

    first: int
    count: int
    columns: Mapping[str, NDArray[Any]]
    failed: Mapping[int, str] = field(default_factory=dict)
    residual: float = np.nan


def ask_block(task: tuple[Question, int, Mapping[str, Array]]) -> Answer:
    """Answer a question at points that follow each other: the number of the first, and the values of what varies."""
    question, first, values = task
    count = len(next(iter(values.values())))
    if count > 1 and batched(question):
        try:
            return _as_batch(question, first, count, values)
        except ZwangError:
            pass  # some point is to blame: each is asked by itself, and that one is listed
    rows: list[dict[str, Any] | None] = []
    failed: dict[int, str] = {}
    residual = np.nan
    for place in range(count):
        point = {name: float(array[place]) for name, array in values.items()}
        try:
            result = _ask(question, point, first + place)
            rows.append(_kept(question, result))
            residual = np.fmax(residual, _residual(question, result))
        except Exception as error:  # noqa: BLE001  (whatever a point raises, the others go on)
            rows.append(None)
            failed[first + place] = f"{type(error).__name__}: {error}"
    return Answer(first, count, columns_of(rows), failed, float(residual))


def batched(question: Question) -> bool:
    """Return whether the verb takes arrays of states and gives everything that is kept of them at once."""
    wanted = [getattr(item, "text", item) for item in question.keep.values()]
    if EVERY in [value for value in question.options.values() if isinstance(value, str)]:
        return False  # a tree starts from one state
    return question.verb in BATCHES and all(isinstance(text, str) and BATCHES[question.verb](text) for text in wanted)


def verb_of(verb: Any) -> tuple[str, Callable[..., Any], type | None]:
    """Return the name of a verb, its function, and the class of its result where it is known."""
    for name, (home, results, cls) in VERBS.items():
        if verb == name or (callable(verb) and verb is getattr(importlib.import_module(home), name)):
            function = getattr(importlib.import_module(home), name)
            return name, function, getattr(importlib.import_module(results), cls)
    if isinstance(verb, str):
        if ":" in verb:
            return verb, imported(verb, "sweep:"), None
        raise DeclarationError(
            f"sweep: there is no verb '{verb[:60]}'. {nearest(verb, list(VERBS))} A function of your own is given as "
            "it is, or as 'module:function'."
        )
    if not callable(verb):
        raise DeclarationError(f"sweep needs a verb, its name, or a function; it was given {verb!r:.60}.")
    name = getattr(verb, "__qualname__", "")
    if not name or "<" in name:
        raise DeclarationError(
            "sweep: the function can't be imported by others (it is a lambda, or defined inside another function). "
            "Define it at the top of a module."
        )
    return f"{verb.__module__}:{name}", verb, None


_MODELS: dict[tuple[str, str], Model] = {}
MOST_MODELS = 8
"""A process keeps so many compiled systems of questions."""


def opened(question: Question) -> Model:
    """Return the compiled system of a question."""
    key = question.digest, question.backend
    if key not in _MODELS:
        while len(_MODELS) >= MOST_MODELS:
            del _MODELS[next(iter(_MODELS))]
        _MODELS[key] = compile(restored(System, question.model, question.laws), question.backend)
    return _MODELS[key]


@lru_cache(maxsize=8)
def _function(verb: str) -> tuple[Callable[..., Any], frozenset[str], bool]:
    """Return the function of a verb, the names of its parameters, and whether it takes any."""
    _, function, _ = verb_of(verb)
    known = inspect.signature(function).parameters
    return function, frozenset(known), any(item.kind is item.VAR_KEYWORD for item in known.values())


def parameters_of(verb: str) -> tuple[dict[str, bool], bool]:
    """Return the parameters of a verb, each with whether it must be given, and whether it takes any others."""
    function, _, anything = _function(verb)
    known = inspect.signature(function).parameters.values()
    plain = [item for item in known if item.kind not in (item.VAR_POSITIONAL, item.VAR_KEYWORD)]
    return {item.name: item.default is item.empty for item in plain}, anything


def takes(verb: str, name: str) -> bool:
    """Return whether a verb has a parameter of that name."""
    _, known, anything = _function(verb)
    return name in known or anything


def _inputs(
    question: Question, values: Mapping[str, Any], model: Model
) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """Return state and parameters with what varies put in, and carried onto the constraints where that is asked for."""
    names = {item.name for item in model.system.parameters}
    params = {**question.params, **{name: value for name, value in values.items() if name in names}}
    moved = {name: value for name, value in values.items() if name not in names}
    if question.state is None:
        return (moved or None), params
    state = {**question.state, **moved}
    if question.project:
        closed = _closed(question, model)
        state = hold(model, state, params, closed, fixed=[name for name in moved if name != "t"])
    return state, params


def _closed(question: Question, model: Model) -> list[str]:
    """Return the constraints that the given state satisfies: every one that acts there and has a normal."""
    loose = {item.name for item in model.system.constraints if isinstance(item, Friction)}
    acting = contact_problem(model, question.state or {}, question.params).contacts
    return [str(item.name) for item in acting if item.name not in loose]


def _ask(question: Question, values: Mapping[str, Any], number: int) -> Any:
    function, _, _ = _function(question.verb)
    model = opened(question)
    state, params = _inputs(question, values, model)
    given: dict[str, Any] = {"system": model if question.verb in VERBS else model.system}
    if takes(question.verb, "params"):
        given["params"] = params
    if takes(question.verb, "state") and state is not None:
        given["state"] = state
    if "seed" in _function(question.verb)[1]:
        given["seed"] = question.seed + number
    if question.verb in VERBS and takes(question.verb, "progress"):
        given["progress"] = False  # the sweep shows its own
    result = function(**{**given, **question.options})
    if getattr(getattr(result, "status", None), "name", "") == "INTERRUPTED":
        raise KeyboardInterrupt
    return result


def _kept(question: Question, result: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, what in _keepers(question).items():
        found |= plain(name, what(result))
    return found


def _keepers(question: Question) -> dict[str, AttributePath | Callable[[Any], Any]]:
    counted = question.verb == "reactions"
    return {name: counts if counted and what == COUNTS else _keeper(what) for name, what in question.keep.items()}


@lru_cache(maxsize=256)
def _keeper(what: Any) -> Any:
    return next(iter(keepers({"kept": what}, None, "").values()))


def counts(result: Any) -> int:
    """Return the number of distinct accelerations."""
    return len(result.accelerations)


def _residual(question: Question, result: Any) -> float:
    # That of a motion needs its rows, which cost more than a short motion: it is computed where it is kept.
    if question.verb == "simulate" or not hasattr(result, "residual"):
        return float("nan")
    return float(np.max(result.residual, initial=0.0))


def _as_batch(question: Question, first: int, count: int, values: Mapping[str, Array]) -> Answer:
    result = _ask(question, values, first)
    columns: dict[str, NDArray[Any]] = {}
    for name, what in question.keep.items():
        text = getattr(what, "text", what)
        for key, array in BATCHES[question.verb](text)(result).items():
            columns[name + key] = np.asarray(array)
    if any(len(array) != count for array in columns.values()):
        raise StateError("The batch ended early.")
    residual = float(np.max(result.residual)) if question.verb == "reactions" else float("nan")
    return Answer(first, count, columns, {}, residual)


def _reactions_batch(text: str) -> Any:
    known = {
        "status": lambda found: {"": STATUSES[found.codes.ravel()]},
        COUNTS: lambda found: {"": found.counts.ravel().astype(np.int64)},
    }
    return known.get(text)


def _simulate_batch(text: str) -> Any:
    def rows(names: str) -> Any:
        def taken(found: Any) -> dict[str, Any]:
            end = found.end
            listed = getattr(found.motions[0], names)
            stacked = np.stack([end[name].ravel() for name in listed], axis=1)
            return {"": stacked, COUNT: np.full(len(stacked), len(listed))}

        return taken

    known = {
        "status": lambda found: {"": found.statuses.ravel()},
        "end": lambda found: {f".{name}": array.ravel() for name, array in found.end.items()},
        "t[-1]": lambda found: {"": found.end["t"].ravel()},
        "q[-1]": rows("coordinates"),
        "v[-1]": rows("velocities"),
    }
    return known.get(text)


BATCHES: dict[str, Callable[[str], Any]] = {"reactions": _reactions_batch, "simulate": _simulate_batch}
"""Verb -> function of a path that returns what takes it out of a batch, None where that is impossible."""
