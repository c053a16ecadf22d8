"""Reactions at a state, states under a handle, and maps of how many motions the laws allow."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

import zwang as zw
from zwang.lab.answers.motions import instant
from zwang.lab.answers.request_state import settled
from zwang.lab.models import Opened, scene_of

Answers = Iterator[tuple[dict[str, Any], list[Any]]]
SHOWN = 40
"""Solutions and rejections that are listed."""
SECONDS = 8.0  # beyond it a person has gone on
COUNTED = {"UNIQUE": "1", "UNIQUE_MOTION": "1", "FOUND": "1", "NONE": "0", "INADMISSIBLE": "0", "UNDECIDED": "0"}
WORDS = ("No motion is possible here", "One motion is possible here", "Two motions are possible here")
FINER = 5.0
"""Seconds that a map may take in all, as far as they can be foreseen."""
ONCE = 0.05
"""Seconds of a coarse map beyond which something was loaded on the way."""
STEPS = (24, 64, 256, 1000)
"""Points on a side of a map, coarse to fine."""
OFF = -1.0
"""What a map says where no state is near."""
COUNTS = ("0", "1", "2", "many")
HAPPENS = ("holds", "slides", "tips", "lifts", "moves", "none", "several")
"""What a map can show: how many motions there are, or what happens, in the words of `ReactionsMap.kinds`."""


def answer_reactions(request: dict[str, Any]) -> Answers:
    """Tell every acceleration and reaction that the laws allow at a state."""
    if "time" in request:
        opened, params, state, carried = instant(request)
    else:
        opened, params, state, carried = settled(request)
    yield told(opened, params, state) | {"carried": carried}, []


def answer_drag(request: dict[str, Any]) -> Answers:
    """Move a handle as near to a place as the constraints let it, and tell the reactions there."""
    opened, params, state, carried = settled(request)
    handle = request["handle"]
    if handle not in opened.mechanism.handles():
        known = ", ".join(opened.mechanism.handles()) or "none"
        raise zw.DeclarationError(f"{opened.system.name} has no handle {handle!r:.60}; it has {known}.")
    moved = opened.mechanism.drag(state, params, handle, (float(request["x"]), float(request["y"])), **_seen(request))
    yield told(opened, params, moved) | {"carried": carried, "handle": handle}, []


def _seen(request: Mapping[str, Any]) -> dict[str, Any]:
    return {"view": request["view"]} if "view" in request else {}


def told(opened: Opened, params: Mapping[str, float], state: Mapping[str, float]) -> dict[str, Any]:
    """Return the reactions at a state, as plain data with sentences."""
    system, mechanism = opened.system, opened.mechanism
    found: Any = zw.reactions(opened.model, state, params, budget={"seconds": SECONDS})
    count = count_of(found)
    contacts = list(found.contacts)
    q, v = mechanism.split(state)
    gaps, rates = mechanism.gaps(q[None], v[None], params, float(state.get("t", 0.0)))
    closed = mechanism.closed(state, params)
    return {
        "count": count,
        "code": found.status.name,
        "sentence": _sentence(found, count),
        "solutions": [_solution(item, contacts, system) for item in list(found.solutions)[:SHOWN]],
        "rejected": [_rejected(found.rejected, row) for row in range(min(len(found.rejected), SHOWN))],
        "rejected_total": int(found.rejected.total),
        "certificate": _certificate(found),
        "redundancy": list(found.redundancy.sentences) if found.redundancy is not None else [],
        "residual": float(found.residual),
        "params": dict(params),
        "state": dict(state),
        "arrows": opened.acting.at(state, params),
        "scene": scene_of(opened, state, params),
        "gaps": [
            {"name": str(item.name), "value": float(f), "rate": float(r), "closed": bool(on)}
            for item, f, r, on in zip(mechanism.held, gaps[0], rates[0], closed, strict=True)
            if str(item.name) not in mechanism.hidden
        ],
    }


def count_of(found: Any) -> str:
    """Return how many accelerations there are: 0, 1, 2 or many."""
    if found.status.name in COUNTED:
        return COUNTED[found.status.name]
    if found.accelerations_continuum:
        return "many"
    count = len(found.accelerations)
    return str(count) if count <= 2 else "many"


def _sentence(found: Any, count: str) -> str:
    name = found.status.name
    if name == "INADMISSIBLE":
        return "This state violates a constraint."
    if name == "UNDECIDED":
        return "No solution was found, and none is excluded."
    if name == "SINGULAR":
        return "This is a singular point of the configuration space: the accelerations don't carry a motion on."
    if count == "many":
        many = "A continuum of" if found.accelerations_continuum else str(len(found.accelerations))
        return f"{many} motions are possible here."
    tail = {
        "FOUND": "; a second one is not excluded",
        "UNIQUE_MOTION": "; the forces are not unique",
        "UNIQUE": "",
    }.get(name, "")
    return f"{WORDS[int(count)]}{tail}."


def _solution(item: Any, contacts: list[str], system: Any) -> dict[str, Any]:
    names = [symbol.name for symbol in system.coordinates]
    tangential = np.asarray(item.tangential)
    ranges = {}
    if item.dimension:
        for place, name in enumerate(contacts):
            ranges[name] = {"normal": item.ranges.normal[place], "tangential": item.ranges.tangential[place]}
    return {
        "modes": {name: str(mode) for name, mode in zip(contacts, item.modes, strict=True)},
        "normal": dict(zip(contacts, item.normal.tolist(), strict=True)),
        "tangential": dict(zip(contacts, tangential.tolist(), strict=True)),
        "acceleration": dict(zip(names, item.acceleration.tolist(), strict=True)),
        "gap_acceleration": dict(zip(contacts, item.gap_acceleration.tolist(), strict=True)),
        "unique": bool(item.acceleration_unique),
        "dimension": int(item.dimension),
        "ranges": ranges,
    }


REASONS = {
    "penetrates": "the bodies would penetrate ({value:.4g} m/s²)",
    "pulls": "the contact would pull ({value:.4g} N)",
}


def _rejected(rejected: Any, row: int) -> dict[str, Any]:
    why = rejected.at(row)
    modes = dict(zip(rejected.names, rejected.key(row), strict=True))
    words = REASONS.get(why.reason, why.reason + " ({value:.4g})" if np.isfinite(why.value) else why.reason)
    whose = f" at '{why.contact}'" if why.contact and len(rejected.names) > 1 else ""
    return {
        "modes": modes,
        "reason": why.reason,
        "contact": why.contact,
        "value": why.value,
        "sentence": f"Tried and rejected: {words.format(value=why.value)}{whose}.",
    }


def _certificate(found: Any) -> dict[str, Any]:
    best = found.certificate
    if best is None:
        return {"sentence": "", "scope": "", "kind": ""}
    scope = "Guaranteed for every force." if best.scope == "every force" and best.unique else ""
    scope = scope or {"every force": "For every force.", "this state": "At this state."}.get(best.scope, best.scope)
    return {"sentence": best.sentence, "scope": scope, "kind": best.kind, "number": best.number, "fails": best.fails}


def answer_map(request: dict[str, Any]) -> Answers:
    """Count the motions over two quantities, coarse first; states are carried onto their constraints."""
    opened, params, state, _ = settled(request)
    axes = [request["x"], request["y"]]
    for name, _low, _high in axes:
        if name not in params and name not in opened.state:
            raise zw.DeclarationError(f"{opened.system.name} has no {name!r:.60} to vary.")
        if name in opened.tables:
            raise zw.DeclarationError(f"'{name}' follows a table. Vary another quantity, or hold it at a value.")
    if axes[0][0] == axes[1][0]:
        raise zw.DeclarationError(f"A map needs two quantities; '{axes[0][0]}' was given twice.")
    most, what = int(request.get("n", 256)), request.get("what", "counts")
    sizes = [size for size in STEPS if size < most] + [most]
    words = COUNTS if what == "counts" else HAPPENS
    table, begun, took = np.zeros(0), time.monotonic(), 0.0
    for number, size in enumerate(sizes):
        coarser = sizes[number - 1]
        # Finer only where that ends in time: an answer that is cut off would be none.
        if number and (time.monotonic() - begun) + took * (size / coarser) ** 2 > FINER:
            yield _told(table, words, axes, what) | {"status": "done"}, [table]
            return
        table, took = _timed(opened, params, state, axes, size, what)
        yield _told(table, words, axes, what) | {"status": "part" if size < most else "done"}, [table]
        if not number and size < most and took > ONCE:  # what is loaded once says nothing of how long a map takes
            took = _timed(opened, params, state, axes, size, what)[1]


def _timed(opened: Opened, params: Any, state: Any, axes: Any, size: int, what: str) -> tuple[Any, float]:
    before = time.monotonic()
    found, good = _over(opened, params, state, axes, size=size)
    table = _counted(found, good) if what == "counts" else _happening(found, good)
    return table.reshape(size, size), time.monotonic() - before


def _told(table: Any, words: tuple[str, ...], axes: Any, what: str) -> dict[str, Any]:
    shares = {word: float((table == place).mean()) for place, word in enumerate(words)}
    shares["off"] = float((table == OFF).mean())
    return {"x": axes[0], "y": axes[1], "n": len(table), "what": what, "classes": list(words), "shares": shares}


def _over(opened: Opened, params: Any, state: Any, axes: Any, *, size: int) -> tuple[Any, Any]:
    """Return the reactions over a grid (rows along y, columns along x), and where a state is near."""
    mechanism = opened.mechanism
    grid = [np.linspace(low, high, size) for _, low, high in axes]
    X, Y = (item.ravel() for item in np.meshgrid(*grid))
    varied = {axes[0][0]: X, axes[1][0]: Y}
    values = {**params, **state, **varied}
    total = size * size
    q, v = (
        np.stack([np.broadcast_to(values[name], (total,)) for name in names], axis=1)
        for names in (mechanism.names, mechanism.speeds)
    )
    chosen = {name: values[name] for name in params}
    good = np.ones(total, dtype=bool)
    if mechanism.held:
        found = mechanism.carry(q, v, chosen, mechanism.closed(state, params), fixed=tuple(varied), t=state["t"])
        q, v, good = found.q, found.v, found.good
    batch = {name: q[:, k] for k, name in enumerate(mechanism.names)}
    batch |= {name: v[:, k] for k, name in enumerate(mechanism.speeds)}
    answer = zw.reactions(opened.model, {**batch, "t": state["t"]}, chosen, budget={"seconds": SECONDS})
    return answer, good


def _counted(answer: Any, good: Any) -> Any:
    """Return how many motions there are: 0, 1, 2, 3 for more, and `OFF`."""
    names = np.array([status.name for status in type(answer.status.flat[0])])[answer.codes]
    counts = np.minimum(answer.counts, 3).astype(float)
    counts[names == "MULTIPLE"] = np.maximum(counts[names == "MULTIPLE"], 2)
    return np.where(~good | np.isin(names, ("INADMISSIBLE", "UNDECIDED")), OFF, counts)


def _happening(answer: Any, good: Any) -> Any:
    """Return what happens, as a place in `HAPPENS`, and `OFF`."""
    kinds = answer.kinds
    places = np.select([kinds == word for word in HAPPENS], np.arange(len(HAPPENS), dtype=float), OFF)
    return np.where(good, places, OFF)
