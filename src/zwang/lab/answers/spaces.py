"""The configuration space under the state: its arcs and singular points, and where parameters make it singular."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

import zwang as zw
from zwang.lab.answers.request_state import settled
from zwang.lab.models import Opened, open_model
from zwang.lab.protocol import MOST_ROWS

Answers = Iterator[tuple[dict[str, Any], list[Any]]]
SECONDS = 8.0  # beyond it a person has gone on
AROUND = 3.0  # of surfaces without lengths: how far they are shown
ALONG = 400
"""Places on an arc."""
TRIANGLES = 30_000  # of a surface: what a page turns without delay
SAMPLES = 2000  # points of a sampled set


def answer_space(request: dict[str, Any]) -> Answers:
    """Trace the configuration space; each frame is an arc."""
    opened = open_model(request)
    params, state = opened.values(request)
    mechanism = opened.mechanism
    if not (mechanism.on_positions & mechanism.two_sided & mechanism.on()).any():
        words = "No constraint ties the positions together: every configuration is possible here."
        yield {"dimension": len(opened.state) // 2, "sentence": words, "singular": [], "points": [], "arcs": []}, []
        return
    box = _around(opened, params, state)
    found: Any = zw.trace(opened.model, params, box=box, t=state["t"], budget={"seconds": SECONDS})
    arcs = [_places(arc) for arc in found.branches]
    mesh = [] if found.surface is None else _mesh(found, opened, state)
    clouds = [] if mesh else [_sampled(stratum, opened) for stratum in found.strata]
    clouds = [cloud for cloud in clouds if len(cloud)]
    lines = [_line(curve) for curve in found.singular_curves] if mesh else []
    yield (
        {
            "dimension": found.dimension,
            "sentence": _sentence(found),
            "complete": bool(found.complete),
            "coordinates": list(found.coordinates),
            "angles": [bool(item) for item in found.angles],
            "arcs": [
                {"length": arc.length, "component": arc.component, "closed": arc.closed} for arc in found.branches
            ],
            "clouds": len(clouds),
            "surface": bool(mesh),
            "lines": [{"kind": curve.kind, "closed": curve.closed} for curve in found.singular_curves] if mesh else [],
            "pieces": [_piece(item) for item in found.pieces] if mesh else [],
            "points": [dict(point) for point in found.points],
            "singular": [_point(item) for item in found.singular_points],
            "notes": list(found.notes),
            "residual": float(found.residual),
        },
        [*arcs, *clouds, *mesh, *lines],
    )


def _around(opened: Opened, params: Mapping[str, float], state: Mapping[str, float]) -> dict[str, Any] | None:
    """Return how far a surface is shown that may run away: farther than the shown state and the lengths reach."""
    mechanism = opened.mechanism
    rows = int((mechanism.on_positions & mechanism.two_sided & mechanism.on()).sum())
    if len(mechanism.names) - rows != 2:
        return None
    reach = max([AROUND, 1.5 * sum(map(abs, params.values())), *(3 * abs(state[name]) for name in mechanism.names)])
    return {item.name: (-reach, reach) for item in opened.system.coordinates if not item.angle}


def _places(arc: Any) -> Any:
    """Return places along an arc, evenly on each of its pieces: by length they would have to be searched."""
    pieces = np.asarray(arc.pieces)
    along = np.linspace(-1.0, 1.0, max(5, ALONG // len(pieces)))
    found = np.polynomial.chebyshev.chebval(along, np.moveaxis(pieces, 1, 0))  # (pieces, n, along)
    return np.moveaxis(found, 2, 1).reshape(-1, pieces.shape[2])[:MOST_ROWS]


def _line(curve: Any) -> Any:
    """Return places along a curve on which a surface is singular, back to the first where it closes."""
    places = np.asarray(curve.points)
    return np.concatenate([places, places[:1]])[:MOST_ROWS] if curve.closed else places[:MOST_ROWS]


def _mesh(found: Any, opened: Opened, state: Any) -> list[Any]:
    """Return the points and the triangles of a surface; of one that runs far, what is nearest to the shown state."""
    points, triangles = np.asarray(found.surface.points), np.asarray(found.surface.triangles)
    if len(triangles) > TRIANGLES:
        here = np.array([state[name] for name in opened.mechanism.names])
        away = np.where(found.angles, 0.0, np.abs(points - here)).max(axis=1)
        near = np.argpartition(away[triangles].max(axis=1), TRIANGLES)[:TRIANGLES]
        used, places = np.unique(triangles[near], return_inverse=True)
        points, triangles = points[used], places.reshape(-1, 3)
    return [points, triangles.astype(float)]


def _piece(item: Any) -> dict[str, Any]:
    return {"sentence": repr(item).strip("<>"), "dimension": item.dimension, "euler": item.euler, "genus": item.genus}


def _sampled(stratum: Any, opened: Opened) -> Any:
    points = next(
        (value for value in vars(stratum).values() if isinstance(value, np.ndarray) and value.ndim == 2), None
    )
    if points is None or points.shape[1] != len(opened.state) // 2:
        return np.zeros((0, 1))
    return points[:SAMPLES]


def _sentence(found: Any) -> str:
    if found.status.name in ("EMPTY", "SURFACE", "POINTS", "UNFINISHED"):
        head = f"{found.status.value} {found.reason}".strip()
    elif found.surface is not None:
        shapes = "; ".join(repr(piece).strip("<>") for piece in found.pieces[:4])
        head = f"A surface, {_counted(found.components, 'component')}: {shapes}."
        if found.singular_curves:
            kinds = ", ".join(sorted({curve.kind for curve in found.singular_curves}))
            head += f" Singular along {_counted(len(found.singular_curves), 'curve')} ({kinds})."
    else:
        head = (
            f"{_counted(len(found.branches), 'arc')} in {_counted(len(found.paths), 'smooth curve')}, "
            f"{_counted(found.components, 'component')}, {_counted(len(found.singular_points), 'singular point')}."
        )
    return f"{head} {'Searched exhaustively.' if found.complete else 'Found by sampling, not proved complete.'}"


def _counted(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _point(item: Any) -> dict[str, Any]:
    return {
        "kind": item.kind,
        "state": {name: float(value) for name, value in item.state.items()},
        "tangents": np.asarray(item.tangents),
        "curves": item.curves,
        "ways": len(item.branches),
        "rank": item.rank,
        "generic_rank": item.generic_rank,
        "note": item.note,
    }


def answer_singular(request: dict[str, Any]) -> Answers:
    """Tell what the reactions do near a singular point, by `asymptotics`."""
    opened = open_model(request)
    params, state = opened.values(request)
    at = {**dict.fromkeys(opened.state, 0.0), "t": state["t"], **request["at"]}
    for name in request["at"]:
        if name not in opened.state and name != "t":
            raise zw.DeclarationError(f"{opened.system.name}: at has {name!r:.60}, which it doesn't know.")
    found: Any = zw.asymptotics(opened.model, params, at=at, budget={"seconds": SECONDS})
    yield (
        {
            "sentence": found.status.value,
            "rows": [_row(item) for item in found.rows[:60]],
            "threshold": None if found.threshold is None else str(found.threshold),
            "text": repr(found),
        },
        [],
    )


def _row(item: Any) -> dict[str, Any]:
    names = ("approach", "quantity", "exponent", "predicted", "coefficient", "friction", "solutions", "direction")
    found = {name: getattr(item, name, None) for name in names}
    if isinstance(found["solutions"], Mapping):
        found["solutions"] = ", ".join(f"{count} ({way})" for way, count in found["solutions"].items())
    return {name: value if isinstance(value, int | float | str | None) else str(value) for name, value in found.items()}


def answer_critical(request: dict[str, Any]) -> Answers:
    """Find the values of a parameter at which the configuration space becomes singular."""
    opened, params, state, _ = settled(request)
    name = request["vary"]
    if name not in params or name in opened.tables:
        raise zw.DeclarationError(f"{opened.system.name} has no parameter {name!r:.60} to vary.")
    symbol = next(item for item in opened.system.parameters if item.name == name)
    mechanism = opened.mechanism
    tied = [
        item.expr
        for item, both, place in zip(mechanism.held, mechanism.two_sided, mechanism.on_positions, strict=True)
        if both and place
    ]
    if not any(symbol in expr.free_symbols for expr in tied):
        words = f"The configuration space doesn't depend on {name}."
        yield {"vary": name, "values": [], "sentence": words}, []
        return
    within = (float(request["low"]), float(request["high"]))
    found: Any = zw.critical(opened.model, params, vary=name, within=within, t=state["t"], budget={"seconds": SECONDS})
    values = [
        {"value": float(item.value), "kinds": list(item.kinds), "sentence": item.change or item.status.value}
        for item in found
    ]
    yield {"vary": name, "values": values, "sentence": _counted(len(values), "critical value") + f" of {name}."}, []
