"""What a configuration space prints, and its main facts as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from zwang._results.surface import curve_line, piece_line
from zwang._results.words import counted, number

MOST_LINES = 12
"""Of points, arcs and strata each, in a summary."""


def text_of(space: Any) -> str:
    """Return the summary: one line for the whole, one for each singular point."""
    head = f"ConfigurationSpace of '{space.name}': "
    if space.status.name == "EMPTY":
        return "\n".join([f"{head}EMPTY. {space.status.value}", *(f"  {note}" for note in space.notes)])
    parts = [f"dimension {space.dimension}"]
    if space.branches:
        parts.append(f"{counted(len(space.branches), 'arc')} in {counted(len(space.paths), 'smooth curve')}")
    if space.points:
        parts.append(counted(len(space.points), "isolated configuration"))
    parts.append(counted(space.components, "component"))
    parts.append(counted(len(space.singular_points), "singular point"))
    if space.singular_curves:
        parts.append(counted(len(space.singular_curves), "singular curve"))
    lines = [head + ", ".join(parts)]
    lines += [f"  {piece_line(piece)}" for piece in space.pieces[:MOST_LINES] if piece.dimension == 2]
    lines += [f"  {point_line(point, space.coordinates)}" for point in space.singular_points[:MOST_LINES]]
    if len(space.singular_points) > MOST_LINES:
        lines.append(f"  ... and {len(space.singular_points) - MOST_LINES} more singular points")
    lines += [f"  {curve_line(curve)}" for curve in space.singular_curves[:MOST_LINES]]
    for item in space.local_types[:MOST_LINES]:
        values = ", ".join(number(float(item.state[name])) for name in space.coordinates[:6])
        lines.append(f"  at ({values}{', ...' if len(space.coordinates) > 6 else ''}) {item.kind}: {item.sentence}")
    doubled = [arc for arc in space.branches if arc.multiplicity > 1]
    lines += [f"  arc {arc.number} has multiplicity {arc.multiplicity}" for arc in doubled[:MOST_LINES]]
    if space.status.name in ("UNFINISHED", "SURFACE"):
        lines.append(f"  {space.status.value}")
    lines += [f"  {note}" for note in (*space.notes, space.reason) if note]
    lines.append(f"  residual {float(space.residual):.1e}, {'complete' if space.complete else 'sampled, not complete'}")
    return "\n".join(lines)


def point_line(point: Any, coordinates: Sequence[str]) -> str:
    """Return one singular point in words."""
    names = ", ".join(coordinates[:6]) + (", ..." if len(coordinates) > 6 else "")
    values = [number(float(point.state[name])) for name in coordinates[:6]]
    at = f"{names} = ({', '.join(values)}{', ...' if len(coordinates) > 6 else ''})"
    return f"{_kind(point)} at {at}{_slopes(point, coordinates)}"


def _kind(point: Any) -> str:
    if point.kind == "crossing":
        return f"crossing of {point.curves} branches"
    if point.kind == "tangency":
        if np.ndim(point.order) == 0:
            return f"tangency of order {point.order}"
        top = np.asarray(point.order)
        return f"tangency of {point.curves} branches, order up to {number(float(top[np.isfinite(top)].max()))}"
    if point.kind == "isolated":
        return "isolated point"
    if point.kind == "cone":
        return f"cone of signature {point.signature}"
    if point.kind == "higher" and not point.branches:
        return "higher singular point"
    if point.kind == "higher":
        return f"higher singular point with {len(point.branches)} half-branches"
    return str(point.kind)


def _slopes(point: Any, coordinates: Sequence[str]) -> str:
    """Return the slopes of the branches in two coordinates, as a person writes them."""
    if len(coordinates) != 2 or not len(point.tangents) or len(point.tangents) > 4:
        return ""
    found = [number(float(y / x)) if abs(x) > 1e-12 else "infinite" for x, y in np.asarray(point.tangents)]
    if point.kind == "tangency" or len(set(found)) == 1:
        found = found[:1]
    return f", slope{'s' if len(found) > 1 else ''} {', '.join(found)}"


def summary(space: Any) -> dict[str, Any]:
    """Return the main facts of a space as plain data, for JSON."""
    return {
        "name": space.name,
        "status": space.status.name,
        "dimension": space.dimension,
        "arcs": len(space.branches),
        "curves": len(space.paths),
        "components": space.components,
        "complete": space.complete,
        "residual": float(space.residual),
        "singular_points": [
            {
                "kind": point.kind,
                "order": point.order,
                "at": {name: float(point.state[name]) for name in space.coordinates},
                "tangents": point.tangents,
                "half_branches": len(point.branches),
            }
            for point in space.singular_points
        ],
        "singular_curves": [
            {
                "kind": curve.kind,
                "closed": curve.closed,
                "length": curve.length,
                "component": curve.component,
                "ends": [end.kind for end in curve.ends],
            }
            for curve in space.singular_curves
        ],
        "branches": [
            {
                "length": arc.length,
                "closed": arc.closed,
                "multiplicity": arc.multiplicity,
                "component": arc.component,
                "ends": [end.kind for end in arc.ends],
            }
            for arc in space.branches
        ],
        "pieces": [
            {
                "dimension": piece.dimension,
                "multiplicity": piece.multiplicity,
                "component": piece.component,
                "euler": piece.euler,
                "smooth_euler": piece.smooth_euler,
                "orientable": piece.orientable,
                "genus": piece.genus,
                "boundaries": len(piece.boundaries),
                "area": piece.area,
                "singular": len(piece.singular),
            }
            for piece in space.pieces
        ],
        "triangles": 0 if space.surface is None else len(space.surface.triangles),
        "reason": space.reason,
        "notes": list(space.notes),
    }
