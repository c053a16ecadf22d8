"""Pins that rest with forces that the equations don't determine: whether such forces exist, and how far they range.

The forces are affine in x, and |T_p| <= c |F_p| with F_p the bearing force is no convex condition. In a simplicial cone
of directions it nearly is: with F = sum_i alpha_i v_i, alpha >= 0 and unit vectors v_i, the length of F lies between
kappa s and s, where s = sum_i alpha_i is linear in x and kappa is the distance of the origin from the simplex of the
v_i. So within a choice of cones, one for each pin, linear programs tell that no forces exist (s for the length) or that
some do (kappa s); what lies between is divided, the cones of one pin bisected, until it is decided or a budget spent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from zwang._numerics.linear.polyhedra import affine_solution, from_conditions
from zwang._numerics.linear.programs import deepest

Array = npt.NDArray[np.float64]

MOST = 4_000
"""Choices of cones that are looked at before the question stays undecided."""
COVER = 48
"""Choices of cones that ranges are computed over."""
BALANCED = 1e-12
"""Part of the forces to which equations of balance hold, and signs of depths are decided."""
THIN = 1e-14
"""Part by which lengths within a cone may differ from one, where it is not cut any more."""
CLIMB, FINE = 60, 1e-15
"""Linear programs of one climb to deeper forces, and what is gained by the last of them."""


@dataclass(frozen=True, eq=False)
class BearingForm:
    """A pin in affine coordinates x: its bearing force and its friction, rows over (x, 1).

    Attributes
    ----------
    load : (j, d + 1) array
    friction : (d + 1,) array
    sides : (float, float)
        T lies in |F| [-sides[0], sides[1]].
    slips : int
        0 at rest; else the sign of the slip, and T is at that end.
    """

    load: Array
    friction: Array
    sides: tuple[float, float]
    slips: int = 0


@dataclass(frozen=True, eq=False)
class RestingSet:
    """A point of the set (None: there is none), whether that is decided, and corners and rays that enclose it all."""

    point: Array | None
    decided: bool
    corners: Array | None = None
    rays: Array | None = None


Cones = tuple[Array | None, ...]
"""Unit vectors (j, j) for each pin, None where its direction is still open."""


def orthants(j: int) -> list[Array]:
    """Return the cones that share all directions of j components."""
    return [np.diag(signs) for signs in product((1.0, -1.0), repeat=j)]


def halves(cone: Array) -> tuple[Array, Array]:
    """Return both halves of a cone, cut at the middle of its widest angle."""
    angles = cone @ cone.T + 2.0 * np.eye(len(cone))
    i, j = np.unravel_index(int(angles.argmin()), angles.shape)
    middle = cone[i] + cone[j]
    one, other = cone.copy(), cone.copy()
    one[i] = other[j] = middle / np.linalg.norm(middle)
    return one, other


def flatness(cone: Array) -> float:
    """Return kappa: the least length of a convex combination of the unit vectors, or something below it."""
    gram = cone @ cone.T
    weights = np.linalg.solve(gram, np.ones(len(cone)))
    if (weights >= 0).all():
        return float(1.0 / np.sqrt(weights.sum()))
    return float(np.sqrt(max(np.linalg.eigvalsh(gram)[0], 0.0) / len(cone)))


def resting_set(linear: Array, pins: Sequence[BearingForm], tol: float, *, ranges: bool) -> RestingSet:
    """Return whether forces exist, one choice of them, and how far they range.

    Parameters
    ----------
    linear : (g, d + 1) array
        Inequalities, rows over (x, 1) that are not negative.
    pins : sequence of BearingForm
    tol : float
        What counts as zero in units of the forces.
    ranges : bool
        Whether to enclose the set.
    """
    stack: list[Cones] = [(None,) * len(pins)]
    undecided, looked = False, 0
    point: Array | None = None
    while stack and point is None:
        cones, looked = stack.pop(), looked + 1
        outer = _program(linear, pins, cones, inner=False)
        if outer is None or outer[1] < -tol:
            continue
        if looked > MOST:
            undecided = True
            break
        for x in _candidates(linear, pins, cones, outer[0]):
            if _allowed(linear, pins, x, tol):
                point = x
                break
        else:
            stack += _divided(pins, cones, outer[0])
    if point is None:
        return RestingSet(None, not undecided)
    if not ranges:
        return RestingSet(point, True)
    return RestingSet(point, True, *_enclosure(linear, pins, tol))


def deepest_balance(
    equations: Array, bounds: Array, pins: Sequence[tuple[Sequence[int], int, tuple[float, float]]]
) -> tuple[Array, float] | None:
    """Return forces that satisfy equations, deepest inside linear bounds and those of pins; None if there are none.

    Parameters
    ----------
    equations, bounds : (., m + 1) arrays
        Rows of coefficients, the constant last.
    pins : sequence of (forces, friction, sides)
        Numbers of the forces whose resultant bounds a friction, its own number, and both coefficients.
    """
    if not pins:
        return deepest(equations, bounds)
    point, basis, residual, _ = affine_solution(equations)
    if residual > BALANCED * max(1.0, float(np.abs(point).max(initial=0.0))):
        return None

    def over(rows: Array) -> Array:
        return np.column_stack([rows[:, :-1] @ basis, rows[:, :-1] @ point + rows[:, -1]])

    unit = np.eye(len(point), len(point) + 1)
    forms = [BearingForm(over(unit[list(load)]), over(unit[[own]])[0], sides) for load, own, sides in pins]
    x, depth = deepest_rest(over(bounds), forms, BALANCED)
    return point + basis @ x, depth


def deepest_rest(linear: Array, pins: Sequence[BearingForm], tol: float) -> tuple[Array, float]:
    """Return forces and how deep inside all bounds they are: not negative where some obey them, else no forces do.

    With a direction in place of each length, which is never less, the deepest forces are those of a linear program;
    their own directions make it no worse. What has one sign is told with that sign to `tol`: where the climb ends
    below zero, cones of directions tell that no forces exist, or where to climb from again.

    Parameters
    ----------
    linear, pins : as of `resting_set`
    tol : float
        In units of the forces.
    """
    stack: list[Cones] = [(None,) * len(pins)]
    best, depth, looked = np.zeros(linear.shape[1] - 1), -np.inf, 0
    if not len(best):
        return best, _depth(linear, pins, best)
    while stack and depth < 0 and looked < MOST:
        cones, looked = stack.pop(), looked + 1
        outer = _program(linear, pins, cones, inner=False)
        if outer is None or outer[1] < -tol:
            if outer is not None and not np.isfinite(depth):
                best, depth = _climbed(linear, pins, outer[0])
            continue
        x, here = _climbed(linear, pins, outer[0])
        if here > depth:
            best, depth = x, here
        stack += _divided(pins, cones, outer[0])
    return best, depth


def _climbed(linear: Array, pins: Sequence[BearingForm], x: Array) -> tuple[Array, float]:
    """Return the deepest forces that are reached by linear programs from given ones."""
    depth = _depth(linear, pins, x)
    for _ in range(CLIMB):
        aims = [_at(pin.load, x) for pin in pins]
        if not all(np.linalg.norm(aim) > 0 for aim in aims):
            break
        held = [_round(pin, aim) for pin, aim in zip(pins, aims, strict=True)]
        found = deepest(np.zeros((0, linear.shape[1])), np.concatenate([linear, *held]))
        now = -np.inf if found is None else _depth(linear, pins, found[0])
        if found is None or not now > depth:
            break
        x, gained, depth = found[0], now - depth, now
        if gained <= FINE * max(1.0, abs(depth)):
            break
    return x, depth


def _depth(linear: Array, pins: Sequence[BearingForm], x: Array) -> float:
    """Return by how much forces are inside the bound that is nearest."""
    rooms = _at(linear, x).tolist()
    for pin in pins:
        load, force = float(np.linalg.norm(_at(pin.load, x))), float(_at(pin.friction, x))
        rooms += [force + pin.sides[0] * load, pin.sides[1] * load - force]
    return float(min(rooms, default=np.inf))


def _candidates(linear: Array, pins: Sequence[BearingForm], cones: Cones, first: Array) -> Iterator[Array]:
    yield first
    inner = _program(linear, pins, cones, inner=True)
    if inner is not None and inner[1] >= 0:
        yield inner[0]
    # The cones shrunk to the directions of the forces there are: a quick way to most points.
    aims = [_at(pin.load, first) for pin in pins]
    if all(np.linalg.norm(aim) > 0 for aim in aims):
        held = [_round(pin, aim) for pin, aim in zip(pins, aims, strict=True)]
        found = deepest(np.zeros((0, linear.shape[1])), np.concatenate([linear, *held]), _weights(linear, held))
        if found is not None and found[1] >= 0:
            yield found[0]


def _weights(linear: Array, held: Sequence[Array]) -> Array:
    return np.concatenate([np.zeros(len(linear)), np.ones(sum(len(one) for one in held))])


def _at(rows: Array, x: Array) -> Array:
    return np.asarray(rows[..., :-1] @ x + rows[..., -1])


def _round(pin: BearingForm, aim: Array) -> Array:
    """Return the conditions with the force along a direction in place of its length, which is never less."""
    along = aim / np.linalg.norm(aim) @ pin.load
    return np.array([pin.sides[0] * along + pin.friction, pin.sides[1] * along - pin.friction])


def _allowed(linear: Array, pins: Sequence[BearingForm], x: Array, tol: float) -> bool:
    """Say whether forces obey all laws."""
    size = max(1.0, float(np.abs(x).max(initial=0.0)))
    if len(linear) and _at(linear, x).min() < -tol * size:
        return False
    for pin in pins:
        load, force = float(np.linalg.norm(_at(pin.load, x))), float(_at(pin.friction, x))
        low, high = -pin.sides[0] * load, pin.sides[1] * load
        if not low - tol * size <= force <= high + tol * size:
            return False
        if pin.slips and abs(force - (low if pin.slips > 0 else high)) > tol * size:
            return False
    return True


def _program(linear: Array, pins: Sequence[BearingForm], cones: Cones, *, inner: bool) -> tuple[Array, float] | None:
    """Return the point that has most to spare, with lengths told from above, or from below (`inner`)."""
    rows, weights = [linear], [np.zeros(len(linear))]
    for pin, cone in zip(pins, cones, strict=True):
        if cone is None:
            continue
        alpha: Array = np.asarray(np.linalg.solve(cone.T, pin.load), dtype=float)
        kappa, total = flatness(cone), alpha.sum(axis=0)
        length = kappa * total if inner else total
        plus, minus = pin.sides[0] * length + pin.friction, pin.sides[1] * length - pin.friction
        rows += [alpha, np.array([plus, minus])]
        weights += [np.zeros(len(alpha)), np.ones(2)]
        if pin.slips:
            side, sign = pin.sides[0 if pin.slips > 0 else 1], 1.0 if pin.slips > 0 else -1.0
            rows.append((-side * kappa * total - sign * pin.friction)[None])
            weights.append(np.ones(1))
    every = np.concatenate(rows)
    return deepest(np.zeros((0, every.shape[1])), every, np.concatenate(weights))


def _divided(pins: Sequence[BearingForm], cones: Cones, x: Array) -> list[Cones]:
    """Return the choices that share this one: of the pin that violates its law most at a point; none if thin."""
    scores = []
    for pin, cone in zip(pins, cones, strict=True):
        load, force = float(np.linalg.norm(_at(pin.load, x))), float(_at(pin.friction, x))
        over = max(force - pin.sides[1] * load, -pin.sides[0] * load - force)
        if pin.slips:
            over = max(over, abs(force - (-pin.sides[0] if pin.slips > 0 else pin.sides[1]) * load))
        wide = 1.0 if cone is None else 1.0 - flatness(cone)
        scores.append(max(over, 1e-12) * wide if wide > THIN else 0.0)
    worst = int(np.argmax(scores))
    if scores[worst] == 0:
        return []
    cone = cones[worst]
    parts = orthants(len(pins[worst].load)) if cone is None else halves(cone)
    return [(*cones[:worst], part, *cones[worst + 1 :]) for part in parts]


def _enclosure(linear: Array, pins: Sequence[BearingForm], tol: float) -> tuple[Array, Array]:
    """Return the corners and rays of polyhedra that cover the set."""
    cover: list[Cones] = [(None,) * len(pins)]
    for p in range(len(pins)):
        parts = orthants(len(pins[p].load))
        if len(cover) * len(parts) * 2 <= COVER:
            parts = [half for part in parts for half in halves(part)]
        cover = [
            cones
            for old in cover
            for part in parts
            if (found := _program(linear, pins, cones := (*old[:p], part, *old[p + 1 :]), inner=False)) is not None
            and found[1] >= -tol
        ]
    corners, rays = [], []
    for cones in cover:
        body = from_conditions(np.zeros((0, linear.shape[1])), _relaxed(linear, pins, cones), tol)
        if body is not None:
            corners.append(body.vertices)
            rays += [body.rays, body.lines, -body.lines]
    every = np.concatenate(corners) if corners else np.zeros((0, linear.shape[1] - 1))
    return every, np.concatenate(rays) if rays else np.zeros((0, linear.shape[1] - 1))


def _relaxed(linear: Array, pins: Sequence[BearingForm], cones: Cones) -> Array:
    rows = [linear]
    for pin, cone in zip(pins, cones, strict=True):
        if cone is not None:
            alpha: Array = np.asarray(np.linalg.solve(cone.T, pin.load), dtype=float)
            total = alpha.sum(axis=0)
            rows += [alpha, np.array([pin.sides[0] * total + pin.friction, pin.sides[1] * total - pin.friction])]
    return np.concatenate(rows)
