"""The verb `sweep`: checks first, then block after block, kept in memory or in a store."""

from __future__ import annotations

import hashlib
import math
import pickle
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from zwang import _interrupts
from zwang._compile.model import Model, compile
from zwang._declare.plain import law_modules, to_dict
from zwang._declare.switched import ON
from zwang._declare.system import System
from zwang._numerics.budget import ENDLESS, Allowed, Budget
from zwang._numerics.tolerances import require_kinds, whole
from zwang._progress import Progress, check_progress, progress_bar
from zwang._results.base import Provenance
from zwang._results.motion_tree import MotionTree
from zwang._results.study import Study
from zwang._results.study_columns import Columns, from_bytes
from zwang._results.study_store import StoreWriter, study_of
from zwang._sweep.axes import SweepAxes, axes_of
from zwang._sweep.block import BLOCKS, COUNTS, EVERY, Question, batched, parameters_of, takes, verb_of
from zwang._sweep.execution import answers, check_workers, left
from zwang._sweep.kept import keepers
from zwang.errors import DeclarationError, nearest

UNLIMITED = Budget(steps=ENDLESS, memory=ENDLESS, seconds=1e9)
"""A sweep may be as long as somebody lets it; each point has the budget of its verb."""
GIVEN = ("system", "state", "params", "seed", "progress")  # what a sweep hands over by itself


def sweep(
    verb: str | Callable[..., Any],
    system: System | Model,
    state: Mapping[Any, Any] | None = None,
    params: Mapping[Any, Any] | None = None,
    *,
    over: Mapping[Any, Any] | None = None,
    paired: Mapping[Any, Any] | None = None,
    keep: Any = ("status",),
    workers: Any = None,
    store: str | Path | None = None,
    block: int | None = None,
    seed: int = 0,
    project: bool = False,
    backend: str = "native",
    progress: Progress = None,
    budget: Allowed = None,
    **options: Any,
) -> Study:
    """Ask a verb over a grid or a sample of states and parameters.

    Parameters
    ----------
    verb : str or callable
        A verb, its name, or a function that can be imported; it gets system, state, params and options by keyword, and
        a function with a parameter `seed` gets another one at each point.
    system : System or Model
    state, params : mappings
        Values of what is not varied; an axis overrides them.
    over : mapping of symbol or name to values
        The axes of a grid.
    paired : mapping of symbol or name to values
        Values that go together, all of one length; `sampled` makes them from distributions. They have one axis, after
        those of `over`.
    keep : names, or mapping of names to paths or functions
        What is kept of each result: attributes, paths such as ``t[-1]`` or ``events[0].time`` (nan where there is no
        such entry), or functions of the result that can be imported. Of `reactions`, ``counts`` is the number of
        distinct accelerations.
    workers : None, int or executor
        This process, so many processes, or anything with the interface of `concurrent.futures.Executor`.
    store : path, optional
        A file in which finished blocks are safe at once: the same call goes on where it was stopped or killed, and
        `load_result` reads it, also while it grows.
    block : int, optional
        Points that are handed over together; by default one, and many where a verb takes arrays.
    seed : int
    project : bool
        Whether to carry each state onto the constraints that the given state satisfies (contacts that are closed there
        stay closed), what is varied held.
    backend : str
    progress : None, bool or callable
        A bar on a terminal after two seconds, always, never, or a function of the number of points done.
    budget : seconds, or mapping of 'seconds' and 'steps' (points), optional
        After which the sweep ends with the status INTERRUPTED and what it has.
    **options
        Handed to the verb.

    Returns
    -------
    Study
        A point that raises never ends the sweep: it is listed in `failures`. After Ctrl-C the status is INTERRUPTED.

    Examples
    --------
    >>> import numpy as np, zwang as zw
    >>> rod = zw.gallery.get("painleve_rod")
    >>> study = zw.sweep("reactions", rod.system, rod.state, rod.params, project=True,
    ...                  over={"mu": np.linspace(0, 2, 41), "theta": np.linspace(0.4, 1.4, 21)})
    >>> study
    Study of 'painleve_rod': reactions at 41 mu x 21 theta, COMPLETE. Every point was computed.
      status               718 UNIQUE, 143 NONE
      residual ...
    >>> ball = zw.gallery.get("bouncing_ball")
    >>> heights = zw.sweep(zw.simulate, ball.system, ball.state, ball.params, over={"y": [0.5, 1.0]}, until=0.6,
    ...                    keep={"impacts": "events[0].time"})
    >>> heights.values["impacts"].round(6).tolist()
    [0.319275, 0.451524]
    """
    declared = system.system if isinstance(system, Model) else system
    if not isinstance(declared, System):
        raise DeclarationError(f"sweep needs a System or a Model; it was given {system!r:.60}.")
    require_kinds({"verb": verb, "system": declared, "state": state, "params": params, "backend": backend})
    name, _, result = verb_of(verb)
    axes = axes_of(declared, over, paired)
    _check_state(declared, name, state, axes)
    if name == "simulate" and EVERY in [value for value in options.values() if isinstance(value, str)]:
        result = MotionTree
    _check_options(name, options)
    kept = keepers(keep, result, name, beside=(COUNTS,) if name == "reactions" else ())
    question = Question(
        model=to_dict(declared),
        digest=declared.digest,
        laws=law_modules(declared),
        verb=name,
        state=None if state is None else _numbers("state", state),
        params=_numbers("params", params or {}),
        options=options,
        keep={label: getattr(what, "text", what) for label, what in kept.items()},
        project=_flag("project", project),
        backend=system.backend if isinstance(system, Model) else backend,
        seed=whole(seed, "seed", least=0, where="sweep"),
    )
    staff = check_workers(workers)
    if staff is None or isinstance(staff, int):  # another machine's workers find what theirs has
        compile(declared, question.backend)
    if staff is not None:
        _check_sendable(question)
    check_progress(progress, "sweep")
    size = _block(question, block)
    return _swept(question, axes, declared, staff, store, size, UNLIMITED.but("sweep", budget), progress)


def _swept(
    question: Question,
    axes: SweepAxes,
    system: System,
    staff: Any,
    store: str | Path | None,
    size: int,
    allowed: Budget,
    progress: Any,
) -> Study:
    """Work through all blocks and return the study."""
    provenance = Provenance.now(question.digest, seed=question.seed, backend=question.backend)
    about = _about(question, axes, system, provenance)
    journal = StoreWriter(store, about) if store is not None else None
    columns, failures, residual = _resumed(journal, axes)
    reason = ""
    deadline, most = monotonic() + allowed.seconds, allowed.steps
    done = 0
    try:
        with _interrupts.noticed(), progress_bar(progress, f"sweep {system.name}", end=axes.total) as show:
            done = int(np.count_nonzero(columns.done)) + len(failures)
            before = done
            tried = columns.done.copy()
            tried[list(failures)] = True
            for answer in answers(question, axes, left(tried, size), staff):
                with _interrupts.uninterrupted():
                    missing = tuple(point - answer.first for point in answer.failed)
                    columns.put(answer.first, answer.count, answer.columns, missing)
                    failures |= answer.failed
                    residual = np.fmax(residual, answer.residual)
                    if journal is not None:
                        worst = None if math.isnan(answer.residual) else answer.residual
                        journal.write(answer.first, answer.count, worst, answer.columns, answer.failed)
                done += answer.count
                if show is not None:
                    show(done)
                if done < axes.total and (monotonic() > deadline or done - before >= most):
                    reason = "The budget is spent."
                    break
    except KeyboardInterrupt:
        _interrupts.taken()
        reason = "It was interrupted."
        print(f"sweep: interrupted after {done} of {axes.total} points.{_cure(store)}", file=sys.stderr)
    finally:
        if journal is not None:
            with _interrupts.uninterrupted():
                journal.close()
    return study_of(about, axes.coords, columns, failures, float(residual), provenance, f"{reason}{_cure(store)}")


def _resumed(journal: StoreWriter | None, axes: SweepAxes) -> tuple[Columns, dict[int, str], float]:
    """Return what a store has already."""
    columns, residual = Columns(axes.total), math.nan
    if journal is None:
        return columns, {}, residual
    failures = journal.failures()
    for first, count, worst, data in journal.blocks():
        missing = tuple(point - first for point in failures if first <= point < first + count)
        columns.put(first, count, from_bytes(data), missing)
        residual = np.fmax(residual, math.nan if worst is None else worst)
    return columns, failures, residual


def _cure(store: Any) -> str:
    if store is None:
        return " What was computed is in the study; with store= a sweep can be gone on with."
    return f" What was computed is in '{store}': the same call goes on there."


def _about(question: Question, axes: SweepAxes, system: System, provenance: Provenance) -> dict[str, Any]:
    """Return plain data that says which sweep it is."""
    return {
        "name": system.name,
        "digest": question.digest,
        "system": question.digest,
        "verb": question.verb,
        "state": None if question.state is None else dict(question.state),
        "params": dict(question.params),
        "options": {key: _told(value) for key, value in sorted(question.options.items())},
        "keep": {label: what if isinstance(what, str) else _told(what) for label, what in question.keep.items()},
        "project": question.project,
        "backend": question.backend,
        "seed": question.seed,
        "versions": dict(provenance.versions),
        "dims": list(axes.dims),
        "shape": list(axes.shape),
        "along": dict(axes.along),
        "coords": {name: values.tolist() for name, values in axes.coords.items()},
        "units": dict(getattr(system, "units", None) or {}),
    }


def _told(value: Any) -> Any:
    """Return what tells an option from another one, as plain data."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.ndarray):
        return ["array", list(value.shape), hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()]
    if isinstance(value, Mapping):
        return {str(key): _told(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_told(item) for item in value]
    if callable(value) and hasattr(value, "__qualname__"):
        return f"{value.__module__}:{value.__qualname__}"
    text = repr(value)
    if " at 0x" in text:
        raise DeclarationError(
            f"sweep: {type(value).__name__} has no text that tells it from another one, which a store needs. Give "
            "plain numbers and texts, or leave store= out."
        )
    return text


def _check_state(system: System, verb: str, state: Any, axes: SweepAxes) -> None:
    params = {item.name for item in system.parameters}
    moved = [name for name in axes.coords if name not in params]
    if takes(verb, "state"):
        return
    if state is not None:
        raise DeclarationError(f"sweep: {verb} takes no state. Leave it out.")
    if moved:
        raise DeclarationError(f"sweep: {verb} takes no state, so '{moved[0]}' can't be varied. Vary parameters.")


def _check_options(verb: str, options: Mapping[str, Any]) -> None:
    """Refuse before anything is computed options that a verb doesn't have, and ask for those that it needs."""
    known, anything = parameters_of(verb)
    for option in options:
        if option not in known and not anything:
            raise DeclarationError(f"sweep: {verb} has no option '{option}'. {nearest(option, list(known))}")
    for option, needed in known.items():
        if needed and option not in options and option not in GIVEN:
            raise DeclarationError(f"sweep: {verb} needs {option}=. Give it after the others, as in {option}=...")


def _numbers(what: str, given: Mapping[Any, Any]) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise DeclarationError(
            f"sweep: {what} must be a mapping from symbols or names to numbers; it was given {given!r:.60}."
        )
    found: dict[str, Any] = {}
    for key, value in given.items():
        if what == "state" and key == ON:
            found[ON] = value
            continue
        try:
            found[str(key)] = float(value)
        except (TypeError, ValueError):
            raise DeclarationError(
                f"sweep: {what}: '{key}' must be one number; it was given {value!r:.60}. What varies belongs into "
                "over= or paired=."
            ) from None
    return found


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise DeclarationError(f"sweep: {name}= must be True or False; it was given {value!r:.40}.")
    return bool(value)


def _block(question: Question, block: Any) -> int:
    if block is None:
        return BLOCKS[question.verb] if batched(question) else 1
    return whole(block, "block", least=1, where="sweep")


def _check_sendable(question: Question) -> None:
    """Refuse before anything is computed what another process can't be sent."""
    for what, value in (("options", question.options), ("keep", question.keep)):
        try:
            pickle.dumps(value)
        except Exception as error:  # noqa: BLE001  (objects fail in their own ways)
            raise DeclarationError(
                f"sweep: {what} can't be sent to other processes ({type(error).__name__}: {error}). Functions must be "
                "defined at the top of a module; or leave workers= out."
            ) from None
