"""Configuration spaces of mixed dimension: curves and surfaces that meet, put together to one space."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from zwang._results.configuration import ArcEnd, ConfigurationSpace, SingularPoint, TraceStatus
from zwang._results.surface import SpacePiece
from zwang._trace.sampled import SampledSearch, sheets_of, traced, without_arcs
from zwang._trace.singular_search import SingularPoints
from zwang._trace.space_pieces import joined, with_pieces
from zwang._trace.strata import with_strata
from zwang._trace.surface_search import with_surface

SAME = 1e-5
"""Scaled: singular points of a curve and of a surface that are as near as this are one."""


def with_sheets(search: SampledSearch, curves: ConfigurationSpace, resolution: float | None) -> ConfigurationSpace:
    """Return a space of curves with the surfaces that the same search met."""
    e = search.equations
    rank = sheets_of(search)
    if rank is None:
        return with_pieces(curves)
    if rank < e.n - 2:
        note = f"Some configurations belong to pieces of dimension {e.n - rank}; these are not followed."
        return replace(with_pieces(curves), status=TraceStatus.UNFINISHED, notes=(*curves.notes, note))
    alone = copy(search)
    alone.points, alone.notes = SingularPoints(search.solver, search.region), []
    sheets = with_surface(alone, with_strata(alone, without_arcs(alone, rank)), resolution)
    # Where a surface meets a curve the sample of the curve may have missed the point: its arcs end there.
    number, known = _numbers(search, curves, sheets), len(curves.singular_points)
    missed = [_place(search, point) for point in sheets.singular_points if number[point.number] >= known]
    if missed and search.points.take(np.array(missed)):
        curves = _again(search, curves)
    return _together(search, with_pieces(curves), sheets)


def _again(search: SampledSearch, curves: ConfigurationSpace) -> ConfigurationSpace:
    """Return a space of curves that are followed anew, since more of their singular points are known."""
    search.notes = []
    new = traced(search)
    return replace(
        curves,
        status=new.status,
        residual=new.residual,
        branches=new.branches if search.factors is None else tuple(search.factors.of_arcs(new.branches)),
        paths=new.paths,
        components=new.components,
        singular_points=new.singular_points,
        points=new.points,
        notes=tuple(dict.fromkeys((*new.notes, *curves.notes))),
    )


def _together(search: SampledSearch, curves: ConfigurationSpace, sheets: ConfigurationSpace) -> ConfigurationSpace:
    """Return one space from the curves and the surfaces of another, with the points at which they meet counted once."""
    number = _numbers(search, curves, sheets)
    first = len(curves.singular_points)
    shared = {old for old, new in number.items() if new < first}
    joins = [
        (curves.singular_points[number[old]].component, curves.components + sheets.singular_points[old].component)
        for old in shared
    ]
    groups = joined(curves.components + sheets.components, joins)
    order = {group: k for k, group in enumerate(dict.fromkeys(groups))}
    component = [order[group] for group in groups]
    points = [replace(point, component=component[point.component]) for point in curves.singular_points]
    points += [
        replace(point, number=number[point.number], component=component[curves.components + point.component])
        for point in sheets.singular_points
        if point.number not in shared
    ]
    pieces = [_renumbered(piece, k, component, points, {}) for k, piece in enumerate(curves.pieces)]
    pieces += [
        _renumbered(piece, len(pieces) + k, component[curves.components :], points, number)
        for k, piece in enumerate(sheets.pieces)
        if piece.dimension > 0 or not {point.number for point in piece.points} & shared
    ]
    mesh = sheets.surface
    mesh = None if mesh is None else replace(mesh, piece=mesh.piece + len(curves.pieces))
    whole = curves.status is TraceStatus.TRACED and sheets.status is TraceStatus.TRACED
    return replace(
        curves,
        status=TraceStatus.TRACED if whole else TraceStatus.UNFINISHED,
        dimension=2,
        branches=tuple(replace(arc, component=component[arc.component]) for arc in curves.branches),
        components=max(component, default=-1) + 1,
        singular_points=tuple(points),
        singular_curves=tuple(
            replace(
                curve,
                component=component[curves.components + curve.component],
                ends=(_end(curve.ends[0], number), _end(curve.ends[1], number)),
            )
            for curve in sheets.singular_curves
        ),
        surface=mesh,
        pieces=tuple(pieces),
        strata=sheets.strata,
        declared=sheets.declared,
        notes=(*curves.notes, *sheets.notes),
        reason=" ".join(filter(None, (curves.reason, sheets.reason))),
        residual=max(curves.residual, sheets.residual),
    )


def _numbers(search: SampledSearch, curves: ConfigurationSpace, sheets: ConfigurationSpace) -> dict[int, int]:
    """Return the number that each singular point of the surfaces has in the whole space."""
    found: dict[int, int] = {}
    following = len(curves.singular_points)
    for point in sheets.singular_points:
        same = [
            other.number
            for other in curves.singular_points
            if search.points.distance(_place(search, point), _place(search, other)) <= SAME
        ]
        found[point.number] = same[0] if same else following
        following += not same
    return found


def _place(search: SampledSearch, point: SingularPoint) -> Any:
    """Return a singular point in x."""
    return np.array([point.state[name] for name in search.equations.names]) / search.place.scale


def _end(end: ArcEnd, number: dict[int, int]) -> ArcEnd:
    return end if end.place is None else replace(end, place=number[end.place])


def _renumbered(
    piece: SpacePiece, number: int, component: list[int], points: list[SingularPoint], known: dict[int, int]
) -> SpacePiece:
    """Return a piece with its number, component and points in the whole space."""
    own = tuple(points[known.get(point.number, point.number)] for point in piece.points)
    return replace(piece, number=number, component=component[piece.component], points=own)
