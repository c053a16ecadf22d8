"""A surface over two quantities: where the projection onto them loses rank, as bordered systems.

At a point, V are orthonormal rows that span the gradients of the constraints and P the gradients of the quantities.
The projection is no local diffeomorphism where A = (V; P) is singular. With u A = 0 = A w the smallest singular value
g of A has the gradient u A' w, so that a fold is f = 0, g = 0; a cusp is where w, which the projection annihilates, is
tangent to the fold: g' w = 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from zwang import _expressions
from zwang._declare.given import components
from zwang._declare.model_files import from_dict
from zwang._declare.symbols import Coordinate
from zwang._numerics.identified import between, quaternions_in
from zwang._numerics.tolerances import by_name, real
from zwang._trace.formulas import ExactEquations, Formulas, exact_equations, numeric
from zwang._trace.sampling import even
from zwang.errors import DeclarationError, StateError, nearest

Array = NDArray[np.float64]
TURN = 2 * np.pi
NEWTON = 30  # steps; linear where a projection is folded
LOST = 1e-7
"""Singular values below this have lost their rank: at singular points they are rounding."""
KINKS = 200
"""Starts from which lengths that are zero are looked for."""


class ProjectionRank(NamedTuple):
    """Of many points: residuals of constraints, A, its singular values and null vectors, the gradient of the least."""

    f: Array
    A: Array
    sizes: Array
    u: Array
    w: Array
    slope: Array


class Projection:
    """A surface of a space, with the functions that its projection onto two quantities needs."""

    def __init__(self, space: Any, onto: Any) -> None:
        self.space = space
        self.system = from_dict(space.declared)
        self.names = space.coordinates
        self.n = len(self.names)
        exact = exact_equations(self.system, space.params, space.t)
        self.periods = identified_of(space, self.system, exact)
        q, self.m = exact.coordinates, len(exact.values)
        self.quantities = quantities_of(self.system, space, onto)
        self.onto = tuple(str(item) for item in self.quantities)
        put = values_of(self.system, space)
        phi = [self.system.expanded(item).xreplace(put) for item in self.quantities]
        powers = {part for item in phi for part in item.atoms(sp.Pow) if part.exp == sp.Rational(1, 2)}
        self.roots = [part.base for part in sorted(powers, key=str) if part.base.free_symbols]
        slopes = [sp.diff(item, symbol) for item in phi for symbol in q]
        first = [*exact.values, *exact.jacobian, *phi, *slopes]
        bent = [sp.diff(exact.jacobian[i, j], symbol) for i in range(self.m) for j in range(self.n) for symbol in q]
        second = [*bent, *(sp.diff(item, symbol) for item in slopes for symbol in q)]
        self._first = numeric(Formulas(first, q, self.system.name))
        self._second = numeric(Formulas(second, q, self.system.name))
        self._measure()
        # An angle as a quantity is met again after a full turn.
        self.turns = np.array(
            [TURN if isinstance(item, Coordinate) and item.angle else 0.0 for item in self.quantities]
        )

    def _measure(self) -> None:
        """Take the sizes from the mesh: of coordinates, of constraints, of the quantities; angles have size one."""
        q = self.space.surface.points
        lengths = np.ptp(q, axis=0)[self.periods <= 0]
        self.unit = max([0.25 * float(lengths.max(initial=0.0)), *(1.0 for period in self.periods if period > 0)])
        _, rows, phi, _ = self.first(q[:: max(1, len(q) // 200)])
        self.weights = np.maximum(np.median(np.linalg.norm(rows, axis=2), axis=0) * self.unit, 1e-300)
        self.reach = np.maximum(np.ptp(phi, axis=0), 1e-300)

    def newton(self, q: Array, step: Callable[[Array], Array], longest: float) -> Array:
        """Return points (b, n) after steps that are at most so long, in units of the mesh."""
        return newton(q, step, longest, self.unit)

    def first(self, q: Array) -> tuple[Array, Array, Array, Array]:
        """Return f (b, m), its rows (b, m, n), the quantities (b, 2) and their rows (b, 2, n) at q (b, n)."""
        m, n, out = self.m, self.n, self._first(np.asarray(q).T).T
        f, rows, phi, slopes = np.split(out, np.cumsum([m, m * n, 2]), axis=1)
        return f, rows.reshape(len(q), m, n), phi, slopes.reshape(len(q), 2, n)

    def second(self, q: Array) -> tuple[Array, Array]:
        """Return second derivatives of the constraints (b, m, n, n) and of the quantities (b, 2, n, n)."""
        m, n, out = self.m, self.n, self._second(np.asarray(q).T).T
        return out[:, : m * n * n].reshape(len(q), m, n, n), out[:, m * n * n :].reshape(len(q), 2, n, n)

    def values(self, q: Array) -> Array:
        """Return the quantities at q (b, n)."""
        return self.first(q)[2]

    def require_even(self) -> None:
        """Refuse quantities that change with the sign of a quaternion of which both signs are one turn."""
        q = self.space.surface.points[:1]
        for part in quaternions_in(self.periods):
            other = q.copy()
            other[:, part] *= -1
            once, again = self.values(q)[0], self.values(other)[0]
            for name, changed in zip(self.onto, np.abs(once - again) > 1e-9 * (1 + np.abs(once)), strict=True):
                if changed:
                    first = self.names[part.start]
                    raise DeclarationError(
                        f"{self.space.name}: {name} of onto= changes with the sign of the quaternion of '{first}', "
                        "and both signs are one turn. Give quantities of the pose, such as the place of a point, or "
                        f"say in trace which sign is meant, as in box={{'{first}': (0, 1)}}."
                    )

    def tangents(self, q: Array) -> tuple[Array, Array]:
        """Return bases of the tangent planes (b, 2, n) and the determinant of the projection in them (b,)."""
        _, rows, _, slopes = self.first(q)
        right = _svd(rows)[2]
        T = right[:, self.n - 2 :]
        D = np.einsum("bpj,baj->bpa", slopes, T)
        return T, D[:, 0, 0] * D[:, 1, 1] - D[:, 0, 1] * D[:, 1, 0]

    def singular(self, q: Array) -> NDArray[np.bool_]:
        """Say at which points (b, n) the constraints lose rank."""
        sizes = _svd(self.first(q)[1])[1]
        if self.n == 2:
            return np.zeros(len(q), dtype=bool)
        return np.asarray(sizes[:, self.n - 3] <= LOST * np.maximum(1.0, sizes[:, 0]))

    def rank(self, q: Array) -> ProjectionRank:
        """Return what is known of A at q (b, n)."""
        f, rows, _, slopes = self.first(q)
        bent, curved = self.second(q)
        left, sizes, right = _svd(rows)
        r = self.n - 2
        mix = np.swapaxes(left[:, :, :r], 1, 2) / np.maximum(sizes[:, :r, None], 1e-300)
        A = np.concatenate([right[:, :r], slopes], axis=1)
        U, S, W = _svd(A)
        u, w = U[:, :, -1], W[:, -1]
        slope = np.einsum("br,brm,bmjk,bj->bk", u[:, :r], mix, bent, w) + np.einsum(
            "bp,bpjk,bj->bk", u[:, r:], curved, w
        )
        return ProjectionRank(np.einsum("brm,bm->br", mix, f), A, S, u, w, slope)

    def onto_folds(self, q: Array) -> Array:
        """Return points of folds next to q (b, n), by Newton's method on the bordered system."""

        def step(q: Array) -> Array:
            here = self.rank(q)
            M = np.concatenate([here.A[:, : self.n - 2], here.slope[:, None]], axis=1)
            return _least(M, np.concatenate([here.f, here.sizes[:, -1:]], axis=1))

        return self.newton(q, step, 0.3)

    def turning(self, q: Array) -> tuple[Array, Array]:
        """Return g' w at points of folds, and the normals of their images (b, 2), whose signs belong together."""
        here = self.rank(q)
        return np.einsum("bk,bk->b", here.slope, here.w), here.u[:, self.n - 2 :]

    def onto_surface(self, q: Array) -> Array:
        """Return points of the surface next to q (b, n)."""

        def step(q: Array) -> Array:
            f, rows, _, _ = self.first(q)
            return _least(rows, f, 1e-9)

        return self.newton(q, step, 0.5) if self.m else q

    def over(self, q: Array, values: Array) -> tuple[Array, Array]:
        """Return configurations over values, from starts (b, n), and how far each misses them."""

        def step(q: Array) -> Array:
            f, rows, phi, slopes = self.first(q)
            miss = between(values, phi, self.turns)
            return _least(np.concatenate([rows, slopes], axis=1), np.concatenate([f, miss], axis=1), 1e-12)

        q = self.newton(q, step, 0.5)
        f, _, phi, _ = self.first(q)
        missed = np.abs(between(values, phi, self.turns) / self.reach).max(axis=1)
        return q, np.maximum(np.abs(f / self.weights).max(axis=1, initial=0.0), missed)

    def kinks(self, q: Array) -> Array:
        """Return the configurations next to starts (b, n) at which a length in the quantities is zero."""
        found = [q[:0]]
        for base in self.roots:
            evaluate = numeric(
                Formulas([base, *self._slopes(base), *self._bends(base)], self.system.coordinates, "onto")
            )

            def step(q: Array, evaluate: Any = evaluate) -> Array:
                out = evaluate(q.T).T
                f, rows, _, _ = self.first(q)
                T = _svd(rows)[2][:, self.n - 2 :]
                bent = np.einsum("baj,bjk->bak", T, out[:, 1 + self.n :].reshape(len(q), self.n, self.n))
                flat = np.einsum("baj,bj->ba", T, out[:, 1 : 1 + self.n])
                return _least(np.concatenate([rows, bent], axis=1), np.concatenate([f, flat], axis=1))

            values = evaluate(q.T)[0]
            some = self.newton(q[np.argsort(values)[:KINKS]], step, 0.5)
            size = float(np.abs(values).max(initial=1e-300))
            found.append(some[np.isfinite(some).all(axis=1) & (np.abs(evaluate(some.T)[0]) < 1e-14 * size)])
        return np.concatenate(found)

    def _slopes(self, expr: Any) -> list[Any]:
        return [sp.diff(expr, symbol) for symbol in self.system.coordinates]

    def _bends(self, expr: Any) -> list[Any]:
        return [sp.diff(item, symbol) for item in self._slopes(expr) for symbol in self.system.coordinates]

    def bends(self, q: Array) -> tuple[Array, Array, Array, Array]:
        """Return tangent planes T (b, 2, n), slopes P (b, 2, 2) and bends M (b, 2, 2, 2) in them, steps back (b, n).

        P and M are the derivatives of the quantities along the surface, the steps lead back onto it.
        """
        r = self.n - 2
        f, rows, _, slopes = self.first(q)
        bent, curved = self.second(q)
        left, sizes, right = _svd(rows)
        mix = np.swapaxes(left[:, :, :r], 1, 2) / np.maximum(sizes[:, :r, None], 1e-300)
        V, T = right[:, :r], right[:, r:]
        normal = np.einsum("brm,bmjk,baj,bck->brac", mix, bent, T, T)
        M = np.einsum("bpjk,baj,bck->bpac", curved, T, T) - np.einsum("bpj,brj,brac->bpac", slopes, V, normal)
        return T, np.einsum("bpj,baj->bpa", slopes, T), M, -np.einsum("brj,brm,bm->bj", V, mix, f)

    def flat(self, q: Array) -> Array:
        """Return points at which both quantities are stationary next to q, by least squares; those that arrive."""

        def step(q: Array) -> Array:
            T, P, M, back = self.bends(q)
            y = _least(M.reshape(len(q), 4, 2), P.reshape(len(q), 4))
            return np.asarray(np.einsum("ba,baj->bj", y, T) + back)

        q = self.newton(q, step, 0.3)
        P = np.einsum("bpj,baj->bpa", self.first(q)[3], self.tangents(q)[0]) * self.unit / self.reach[:, None]
        good = np.isfinite(q).all(axis=1) & (np.abs(P).max(axis=(1, 2)) < 1e-9)
        return np.asarray(q[good])

    def crossing(self, q: Array) -> Array:
        """Return the directions (2, n) in which folds pass a point at which both quantities are stationary.

        The determinant of the projection is a quadratic form of the tangent plane there; a definite one has no zeros.
        """
        T, _, M, _ = self.bends(q[None])
        (a, b), (c, d) = M[0]
        form = np.outer(a, d) - np.outer(b, c)
        sizes, axes = np.linalg.eigh(form + form.T)
        if not sizes[0] < 0 < sizes[1]:
            return np.zeros((0, self.n))
        ways = [np.sqrt(sizes[1]) * axes[:, 0] + sign * np.sqrt(-sizes[0]) * axes[:, 1] for sign in (1, -1)]
        return np.asarray(np.array([way / np.linalg.norm(way) for way in ways]) @ T[0])

    def place(self, state: Any, what: str) -> Array:
        """Return the coordinates of a state that satisfies the constraints."""
        if not isinstance(state, Mapping):
            raise DeclarationError(
                f"{self.space.name}: {what} must map coordinates to numbers, as `over` has states; it was given "
                f"{state!r:.60}."
            )
        given = by_name(state, what, where=self.space.name)
        missing = [name for name in self.names if name not in given]
        if missing:
            raise DeclarationError(f"{self.space.name}: {what} has no value for '{missing[0]}'.")
        q = np.array([real(given[name], f"{what}[{name!r}]", where=self.space.name) for name in self.names])
        f = self.first(q[None])[0]
        if np.abs(f / self.weights).max(initial=0.0) > 1e-8:
            raise StateError(
                f"{self.space.name}: {what} is off the constraints by {np.abs(f).max():.1e} (tol 1e-08 of their "
                "size). Use Model.project."
            )
        return q


def newton(q: Array, step: Callable[[Array], Array], longest: float, unit: float) -> Array:
    """Return points (b, n) after steps that are at most so many units long; those at rest are not asked again."""
    q, left = np.array(q, dtype=float), np.arange(len(q))
    for turn in range(NEWTON):
        if not len(left):
            break
        d = step(q[left])
        d = np.where(np.isfinite(d), d, 0.0)
        length = np.linalg.norm(d, axis=1)
        q[left] += d * np.minimum(1.0, longest * unit / np.maximum(length, 1e-300))[:, None]
        # After a dozen steps what is not close to a root is on no way to one.
        still = length <= 1e-14 * np.maximum(unit, np.abs(q[left]).max(axis=1))
        left = left[~still & ((turn < 12) | (length < 1e-2 * unit))]
    return q


def _least(M: Array, residual: Array, cut: float = 1e-10) -> Array:
    """Return the shortest steps that solve M step = -residual in the sense of least squares."""
    inverse = np.linalg.pinv(np.where(np.isfinite(M), M, 0.0), rcond=cut)
    return np.asarray(-np.einsum("bij,bj->bi", inverse, residual))


def identified_of(space: Any, system: Any, exact: ExactEquations | None = None) -> Array:
    """Return what coordinates of a space are one configuration, as `identified` has it."""
    found = np.where(np.array(space.angles), TURN, 0.0)
    if not system.quaternions:
        return found
    equations = exact_equations(system, space.params, space.t) if exact is None else exact
    rows, q = [*equations.values, *equations.gaps], equations.coordinates
    cut = {name for name, (low, high) in space.box.items() if low > -1 or high < 1}
    turns = tuple(
        tuple(q.index(item) for item in one) for one in system.quaternions if not any(item.name in cut for item in one)
    )

    def values(place: Array) -> Array:
        put = dict(zip(q, place.tolist(), strict=True))
        return np.array([float(row.xreplace(put)) for row in rows])

    for number, places in enumerate(even(values, len(q), len(equations.values), turns), start=1):
        found[list(places)] = -number
    return found


def values_of(system: Any, space: Any) -> dict[Any, Any]:
    """Return the parameters of a system as exact numbers."""
    return {symbol: sp.Rational(float(space.params[symbol.name])) for symbol in system.parameters}


def quantities_of(system: Any, space: Any, onto: Any) -> list[Any]:
    """Return the two quantities as expressions."""
    where = f"{space.name}: onto="
    items = components(onto)
    if items is None or len(items) != 2:
        count = 1 if items is None else len(items)
        raise DeclarationError(
            f"{where} takes two quantities, coordinates or expressions of them, as in onto=('x', 'y'); it was given "
            f"{count}: {onto!r:.60}."
        )
    return expressions_of(system, items, where)


def expressions_of(system: Any, items: Sequence[Any], where: str) -> list[Any]:
    """Return names, texts and expressions of the coordinates as expressions of the system's own symbols."""
    known = {symbol.name: symbol for symbol in (*system.coordinates, *system.parameters)}
    found = []
    for item in items:
        if not isinstance(item, (str, sp.Expr)):
            raise DeclarationError(f"{where} takes names and expressions; it was given {item!r:.60}.")
        expr = _expressions.parse(item, known, where=where) if isinstance(item, str) else item
        for symbol in sorted(expr.free_symbols, key=str):
            if known.get(getattr(symbol, "name", "")) is None:
                raise DeclarationError(
                    f"{where} '{symbol}' is none of the system's. {nearest(str(symbol), list(known))}"
                )
        found.append(expr.xreplace({symbol: known[symbol.name] for symbol in expr.free_symbols}))
    return found


def _svd(rows: Array) -> tuple[Array, Array, Array]:
    """Return the singular value decompositions, all right vectors included; what is no number counts as zero."""
    if not rows.shape[1]:  # nothing is held
        b, _, n = rows.shape
        return np.zeros((b, 0, 0)), np.zeros((b, 0)), np.broadcast_to(np.eye(n), (b, n, n))
    left, sizes, right = np.linalg.svd(np.where(np.isfinite(rows), rows, 0.0))
    return np.asarray(left), np.asarray(sizes), np.asarray(right)
