"""States of bodies: entries of a state from places and velocities, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._bodies.values import Values
from zwang._declare.body_tree import RigidBody, Tree
from zwang._declare.vectors import Arrays
from zwang.errors import DeclarationError

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BodyPose:
    """Where a body is and how it moves.

    Attributes
    ----------
    position : (3,) or (3, ...)
        Its centre of mass in the ground's frame [m].
    rotation : (3, 3) or (3, 3, ...)
        Its columns are the body's axes in those of the ground.
    velocity : (3,)
        Of the centre of mass, in the ground's axes [m/s]; zero where the state has no velocities.
    spin : (3,)
        Angular velocity in the body's own axes [rad/s].
    """

    position: Array
    rotation: Array
    velocity: Array
    spin: Array


def entries(
    body: RigidBody,
    at: Any,
    turned: Any,
    velocity: Any,
    spin: Any,
    params: Mapping[Any, Any],
    values: Values,
    whose: str,
) -> dict[str, float]:
    """Return the entries of a state for a body with coordinates of its own."""
    where = f"{whose}: place '{body.name}'"
    given = {str(key): value for key, value in params.items()}

    def number(expr: Any) -> float:
        missing = sorted(s.name for s in expr.free_symbols if s.name not in given)
        if missing:
            raise DeclarationError(
                f"{where}: the value of '{missing[0]}' isn't known. Give params={{'{missing[0]}': ...}}."
            )
        return float(Arrays(given).lift(expr))

    place = body.at if at is None else values.vector(at, f"{where}: at")
    turn = body.turned if turned is None else values.turn(turned, f"{where}: turned")
    e = quaternion(np.array([[number(item) for item in row] for row in turn]))
    w = np.array([number(item) for item in values.vector(spin, f"{where}: spin")])
    rates = 0.5 * _times(e, np.concatenate([[0.0], w]))
    found = dict(zip("xyz", (number(item) for item in place), strict=True))
    found |= {f"e{i}": float(item) for i, item in enumerate(e)}
    moving = [number(item) for item in values.vector(velocity, f"{where}: velocity")]
    state = {f"{key}_{body.name}": value for key, value in found.items()}
    state |= {f"v_{key}_{body.name}": value for key, value in zip("xyz", moving, strict=True)}
    return state | {f"v_e{i}_{body.name}": float(item) for i, item in enumerate(rates)}


def pose(tree: Tree, body: str, state: Mapping[Any, Any], params: Mapping[Any, Any]) -> BodyPose:
    """Return where a body of a tree is; rates by exact differentiation along the motion."""
    values = {str(key): np.asarray(value, dtype=float) for key, value in {**params, **state}.items()}
    velocities = {q.name: values.get(f"v_{q.name}", np.zeros(())) for q in tree.coordinates}
    a = Duals(values, velocities)
    poses, _ = tree.walk(a)
    axes = tree.axes(body, a, poses)
    position, rotation = np.array([x for x, _ in poses[body].position]), np.array([[x for x, _ in row] for row in axes])
    velocity, turning = np.array([d for _, d in poses[body].position]), np.array([[d for _, d in row] for row in axes])
    skew = np.einsum("ki...,kj...->ij...", rotation, turning)
    spin = 0.5 * np.array([skew[2, 1] - skew[1, 2], skew[0, 2] - skew[2, 0], skew[1, 0] - skew[0, 1]])
    return BodyPose(position, rotation, velocity, spin)


class Duals(Arrays):
    """Arrays with their rates: pairs (value, rate)."""

    def __init__(self, values: Mapping[str, Any], rates: Mapping[str, Any]) -> None:
        super().__init__(values)
        self.rates = rates

    def lift(self, expr: Any) -> Any:
        """Return the value of an expression; coordinates have rates, parameters don't."""
        if getattr(expr, "is_Symbol", False) and expr.name in self.rates:
            return self.values[expr.name], self.rates[expr.name]
        missing = [s.name for s in getattr(expr, "free_symbols", ()) if s.name not in self.values]
        if missing:
            raise DeclarationError(f"pose: the value of '{missing[0]}' isn't known. Give it in params.")
        value = super().lift(expr)
        return value, np.zeros(np.shape(value))

    def linear(self, terms: Any) -> Any:
        """Return the sum of coefficient times pair."""
        return sum(c * item[0] for c, item in terms), sum(c * item[1] for c, item in terms)

    def mul(self, a: Any, b: Any) -> Any:
        """Return a product."""
        return a[0] * b[0], a[0] * b[1] + a[1] * b[0]

    def sin(self, a: Any) -> Any:
        """Return a sine."""
        return np.sin(a[0]), np.cos(a[0]) * a[1]

    def cos(self, a: Any) -> Any:
        """Return a cosine."""
        return np.cos(a[0]), -np.sin(a[0]) * a[1]


def quaternion(turn: Array) -> Array:
    """Return the unit quaternion, scalar first and not negative, of a matrix; stable for every angle (Shepperd)."""
    sizes = np.array([np.trace(turn), *np.diag(turn)])
    k = int(np.argmax(sizes))
    if k == 0:
        skew = [turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]
        e = np.array([1.0 + sizes[0], *skew])
    else:
        i, j, l = k - 1, k % 3, (k + 1) % 3
        e = np.empty(4)
        e[0] = turn[l, j] - turn[j, l]
        e[1 + i] = 1.0 + turn[i, i] - turn[j, j] - turn[l, l]
        e[1 + j] = turn[j, i] + turn[i, j]
        e[1 + l] = turn[l, i] + turn[i, l]
    e /= np.linalg.norm(e)
    return -e if e[0] < 0 else e


def _times(p: Array, q: Array) -> Array:
    """Return the product of two quaternions."""
    vector = p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:])
    return np.array([p[0] * q[0] - p[1:] @ q[1:], *vector])
