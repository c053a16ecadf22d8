"""From scaled polyhedra to solutions in the units of the problem, each checked against the laws."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from zwang._numerics.contact.modes import Mode
from zwang._numerics.contact.pieces import Piece
from zwang._numerics.contact.problem import ContactProblem
from zwang._numerics.contact.residual import Scales, residual_of, scales_of
from zwang._numerics.contact.scaled import Reduced
from zwang._numerics.linear.polyhedra import coordinate_ranges
from zwang._numerics.sizes import rounding_of_accelerations
from zwang._reactions.labels import piece_modes
from zwang._results.later import Later
from zwang._results.reaction_boxes import EnclosureEnd, Modes, SolutionEnclosure
from zwang._results.reaction_ranges import Ranges
from zwang._results.reactions import Points, Reactions, Solution

Array = npt.NDArray[np.float64]

MOST_RANGES = 100
"""Forces beyond which the ranges of a piece without a list of vertices are not computed (nan)."""


def is_flat(problem: ContactProblem) -> bool:
    """Whether friction forces have one component at most, so that arrays of them are (k,) and not (k, 2)."""
    return problem.rows.flat


def shaped(problem: ContactProblem, tangential: Array) -> Array:
    """Return friction forces (..., k, 2) in the shape that results have."""
    return tangential[..., 0] if is_flat(problem) else tangential


def in_given_units(problem: ContactProblem, result: Reactions) -> Reactions:
    """Return a result with friction forces and slip accelerations along the tangents as they were given.

    Elliptic cones are solved as round ones on tangents multiplied by their coefficients (`ContactRows.axes`).
    """
    axes = problem.rows.axes
    if axes is None:
        return result
    inverse = np.divide(1.0, axes, out=np.zeros_like(axes), where=axes > 0)

    def points(found: Points) -> Points:
        return replace(found, tangential=found.tangential * axes)

    def ends(found: EnclosureEnd) -> EnclosureEnd:
        return replace(found, tangential=found.tangential * axes, directions=_turned(found.directions, axes))

    solutions = tuple(
        replace(
            solution,
            tangential=solution.tangential * axes,
            slip_acceleration=solution.slip_acceleration * inverse,
            vertices=points(solution.vertices),
            rays=points(solution.rays),
            lines=points(solution.lines),
            ranges=replace(solution.ranges, tangential=_scaled_ranges(solution.ranges.tangential, axes)),
            directions=None if solution.directions is None else _turned(solution.directions, axes),
            enclosure=None
            if solution.enclosure is None
            else SolutionEnclosure(*(ends(end) for end in solution.enclosure)),
        )
        for solution in result.solutions
    )
    boxes = tuple(replace(box, low=_turned(box.low, axes), high=_turned(box.high, axes)) for box in result.undecided)
    return result.but(solutions=solutions, undecided=boxes)


def _turned(angles: Array, axes: Array) -> Array:
    """Return directions of slip along the given tangents, where those along scaled ones are known; whole turns stay."""
    across = np.arctan2(axes[:, 0] * np.sin(angles), axes[:, 1] * np.cos(angles))
    turned: Array = across + 2 * np.pi * np.round((angles - across) / (2 * np.pi))
    return turned


def _scaled_ranges(ranges: Array, axes: Array) -> Array:
    with np.errstate(invalid="ignore"):  # what is unbounded along an axis of no length is zero
        return np.where(axes[..., None] > 0, ranges * axes[..., None], 0.0)


def _clean(values: Array, problem: ContactProblem, reduced: Reduced) -> Array:
    """Put accelerations that are rounding to zero: the laws' own zeros (open contacts) stay exact."""
    given = problem.mass if problem.mass is not None else problem.inverse_mass
    inertia = np.asarray(given.diagonal()) if problem.mass is not None else 1.0 / np.asarray(given.diagonal())
    return np.where(np.abs(values) <= rounding_of_accelerations(reduced.drift, inertia), 0.0, values)


def _points(problem: ContactProblem, reduced: Reduced, z: Array, *, directions: bool) -> Points:
    normal, tangential = reduced.force_directions(z) if directions else reduced.forces(z)
    w = z @ reduced.response if directions else reduced.acceleration(z)
    return Points(w, normal, shaped(problem, tangential))


def _without_lines(piece: Piece, reduced: Reduced) -> tuple[Array, Array, Array]:
    """Vertices and rays of a piece, orthogonal to its lines in the units of the problem."""
    body = piece.polyhedron
    if not len(body.lines):
        return body.vertices, body.rays, body.lines
    lines = np.linalg.qr((body.lines * reduced.unit).T)[0]

    def across(z: Array) -> Array:
        physical = z * reduced.unit
        moved: Array = (physical - physical @ lines @ lines.T) / reduced.unit
        return moved

    return across(body.vertices), across(body.rays), lines.T / reduced.unit


def _ranges(problem: ContactProblem, reduced: Reduced, piece: Piece, names: tuple[str, ...]) -> Ranges:
    body = piece.polyhedron
    if body.whole:
        low, high = body.vertices.min(axis=0), body.vertices.max(axis=0)
        zero = 0.0 if piece.sharp else 1e-9  # a force on a row that is hardly there is small in scaled units
        for directions in (body.rays, body.lines, -body.lines):
            low = np.where((directions < -zero).any(axis=0), -np.inf, low)
            high = np.where((directions > zero).any(axis=0), np.inf, high)
    elif reduced.size <= MOST_RANGES:
        low, high = coordinate_ranges(body)
    else:
        low, high = np.full((2, reduced.size), np.nan)
    with np.errstate(invalid="ignore"):  # infinity times a zero component of a direction
        normal_low, first = reduced.forces(low)
        normal_high, second = reduced.forces(high)
    first, second = (
        np.nan_to_num(first, nan=0.0, posinf=np.inf, neginf=-np.inf),
        np.nan_to_num(second, nan=0.0, posinf=np.inf, neginf=-np.inf),
    )
    tangential = np.stack([np.minimum(first, second), np.maximum(first, second)], axis=-1)
    tangential = tangential[..., 0, :] if is_flat(problem) else tangential
    return Ranges(names, np.stack([normal_low, normal_high], axis=-1), tangential)


def solution_of(
    problem: ContactProblem,
    reduced: Reduced,
    piece: Piece,
    component: int,
    names: tuple[str, ...],
    *,
    slip_tol: float = 0.0,
    checked_vertices: int = 64,
) -> Solution:
    """Return a piece as a solution."""
    body = piece.polyhedron
    normal, tangential = reduced.forces(body.point)
    w = _clean(reduced.acceleration(body.point), problem, reduced)
    modes = piece_modes(problem, reduced, piece)
    told = one_point(problem, (w, normal, tangential), modes, names, slip_tol, component=component)
    if not body.dimension:
        return told
    vertices, rays, lines = _without_lines(piece, reduced)

    def largest() -> float:
        scales = scales_of(problem)
        points = ((reduced.acceleration(z), *reduced.forces(z)) for z in vertices[:checked_vertices])
        checked = (residual_of(problem, *point, scales, slip_tol=slip_tol).largest for point in points)
        return max([told.residual, *checked])

    return told.but(
        acceleration_unique=piece.unique,
        dimension=body.dimension,
        vertices=_points(problem, reduced, vertices, directions=False),
        rays=_points(problem, reduced, rays, directions=True),
        lines=_points(problem, reduced, lines, directions=True),
        ranges=_ranges(problem, reduced, piece, names),
        residual=Later(largest),
    )


def one_point(
    problem: ContactProblem,
    found: tuple[Array, Array, Array],
    modes: Iterable[Mode],
    names: tuple[str, ...],
    slip_tol: float,
    *,
    component: int = 0,
    measure: Callable[[ContactProblem], Scales] = scales_of,
) -> Solution:
    """Return accelerations and forces (w, N, T) as a solution of dimension 0.

    Its distance to the laws, in the scales that `measure` finds, is computed when it is asked for.
    """
    w, normal, tangential = found
    modes = tuple(modes)
    flat = shaped(problem, tangential)
    none = Later(lambda: Points(w[None][:0], normal[None][:0], flat[None][:0]))
    later: dict[str, Any] = {
        "gap_acceleration": Later(lambda: relative(problem, w)[0]),
        "slip_acceleration": Later(lambda: shaped(problem, relative(problem, w)[1])),
        "vertices": Later(lambda: Points(w[None], normal[None], flat[None])),
        "rays": none,
        "lines": none,
        "ranges": Later(lambda: Ranges(names, np.stack([normal, normal], axis=-1), np.stack([flat, flat], axis=-1))),
        "residual": Later(
            lambda: residual_of(problem, w, normal, tangential, measure(problem), slip_tol=slip_tol).largest
        ),
    }
    return Solution(
        names=names,
        modes=Modes.of(modes, names),
        acceleration=w,
        acceleration_unique=True,
        normal=normal,
        tangential=flat,
        dimension=0,
        component=component,
        **later,
        directions=None if is_flat(problem) else directions_of(problem, modes, relative(problem, w)[1], slip_tol),
    )


def directions_of(problem: ContactProblem, modes: Iterable[Mode], slip_acceleration: Array, slip_tol: float) -> Array:
    """Return angles (k,) of the slip, at rest of the slip acceleration, in planes; nan elsewhere."""
    rows = problem.rows
    velocity = np.zeros((rows.count, 2))
    velocity[rows.mask] = rows.slip
    slides = np.linalg.norm(velocity, axis=1) > slip_tol
    along = np.where(slides[:, None], velocity, slip_acceleration)
    slips = np.array([mode.slips for mode in modes], dtype=bool) & (rows.components == 2)
    return np.where(slips, np.arctan2(along[:, 1], along[:, 0]), np.nan)


def relative(problem: ContactProblem, w: Array) -> tuple[Array, Array]:
    """Return the accelerations of gaps (k,) and slips (k, 2), less their biases."""
    rows = problem.rows
    slip = np.zeros((rows.count, 2))
    slip[rows.mask] = rows.tangent @ w - rows.tangent_bias
    return np.asarray(rows.normal @ w - np.where(rows.has_normal, rows.bias, 0.0)), slip


def distinct_accelerations(
    problem: ContactProblem, reduced: Reduced, pieces: list[Piece], tol: float
) -> tuple[Array, bool]:
    """Return the distinct accelerations (those of the vertices, for a continuum), and whether there is a continuum."""
    found: list[tuple[Array, Array]] = []
    continuum = False
    for piece in pieces:
        body = piece.polyhedron
        continuum |= not piece.unique
        points = body.point[None, :] if piece.unique or not len(body.vertices) else body.vertices
        for z in points:
            u = reduced.gram @ z + reduced.free
            size = max(1.0, float(np.abs(z).max(initial=0.0)))
            if not any(np.abs(u - other).max(initial=0.0) <= tol * size for other, _ in found):
                found.append((u, reduced.acceleration(z)))
    listed = np.reshape(np.array([w for _, w in found]), (-1, len(reduced.drift)))
    return _clean(listed, problem, reduced), continuum
