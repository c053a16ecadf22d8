"""A contact problem in the space of its reactions: unit rows, unit load.

z holds the unknown forces (N of each contact, T where there is friction along a line). Their conjugate accelerations
are u = G z + b with G = J A^-1 J^T, J the rows of normals and tangents, b = J A^-1 F - bias. Everything is scaled:
rows to unit length in the metric of A^-1 (so that G has a unit diagonal), forces and accelerations by `load`, the
largest of what the contacts feel of the given force, the biases and the bounds. So neither units nor coordinates
matter, and tolerances are compared with numbers of size 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from zwang._numerics.contact.mode_tables import Law, ModeTable, table
from zwang._numerics.contact.problem import SMALL, ContactProblem, dense, is_sparse
from zwang._numerics.linear.metric import ForceResponse, response_by_arb
from zwang._numerics.sizes import LEAST

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
ROUNDING = 1e-14
"""Tangents below this part of their normal are rounding."""
BY_ARB = 48
"""Coordinates up to which a completed mass matrix is inverted in longer numbers: some ten milliseconds."""


@dataclass(frozen=True, eq=False)
class Reduced:
    """The scaled problem.

    Attributes
    ----------
    gram : (m, m) array
        G of the module's text.
    free : (m,) array
        b of the module's text.
    bias : (m,) array
        The part of -b that the biases make.
    normal, tangent : (k,) int arrays
        Place of N_j and of T_j in z, -1 where there is none.
    laws : tuple of Law
    tables : tuple of ModeTable
        The modes of each contact, with friction coefficients and bounds scaled.
    friction : (k,) array
        Scaled friction coefficients of the contacts that have T_j, 0 elsewhere; the larger one of two sides.
    special : tuple of int
        Contacts at rest whose interval has two sizes, or whose rest has a law of its own.
    static : tuple of int
        Those whose rest has a law of its own: slip from rest yields to sticking.
    master : (k,) int array
        Whose normal force loads the friction of each contact: itself, or another one; -1 where none does.
    direction : (k, 2) array
        T of a contact is its part of z times this.
    known_normal, known_tangential : (k,), (k, 2) arrays
        Forces known in advance.
    unit : (m,) array
        Physical force per unit of z.
    acceleration_unit : (m,) array
        Physical acceleration per unit of u.
    load : float
        The scale of forces, in the metric of A^-1.
    response : (m, n) array
        Change of the acceleration w per unit of z.
    drift : (n,) array
        Acceleration w without the unknown forces.
    condition : float
        Condition number of the mass matrix with its diagonal scaled to 1: rounding is amplified by it.
    """

    gram: Array
    free: Array
    bias: Array
    normal: Ints
    tangent: Ints
    laws: tuple[Law, ...]
    tables: tuple[ModeTable, ...]
    friction: Array
    direction: Array
    known_normal: Array
    known_tangential: Array
    unit: Array
    acceleration_unit: Array
    load: float
    response: Array
    drift: Array
    condition: float
    master: Ints
    special: tuple[int, ...] = ()
    static: tuple[int, ...] = ()

    @cached_property
    def kept(self) -> dict[tuple[int, ...], Any]:
        """Modes -> their conditions, solved; filled by `pieces`."""
        return {}

    @property
    def count(self) -> int:
        """The number of contacts."""
        return len(self.laws)

    @cached_property
    def followers(self) -> tuple[int, ...]:
        """The contacts whose friction another one's normal force loads."""
        return tuple(c for c, law in enumerate(self.laws) if law in FOLLOWING)

    @property
    def size(self) -> int:
        """The number of unknown forces."""
        return len(self.free)

    def forces(self, z: Array) -> tuple[Array, Array]:
        """Physical normal (..., k) and tangential (..., k, 2) forces of scaled ones (..., m)."""
        physical = np.concatenate([z * self.unit, np.zeros((*z.shape[:-1], 1))], axis=-1)
        normal = physical[..., self.normal] + self.known_normal
        tangential = physical[..., self.tangent, None] * self.direction + self.known_tangential
        return normal, tangential

    def scaled(self, normal: Array, tangential: Array) -> Array:
        """Scaled forces of physical ones (k,), (k, 2): the inverse of `forces`."""
        z = np.zeros(self.size)
        loaded, rubbed = self.normal >= 0, self.tangent >= 0
        z[self.normal[loaded]] = normal[loaded]
        z[self.tangent[rubbed]] = np.einsum("ki,ki->k", tangential, self.direction)[rubbed]
        return z / self.unit

    def force_directions(self, z: Array) -> tuple[Array, Array]:
        """The same for differences of forces: known forces drop out."""
        normal, tangential = self.forces(z)
        return normal - self.known_normal, tangential - self.known_tangential

    def acceleration(self, z: Array) -> Array:
        """Acceleration w (..., n) under scaled forces (..., m)."""
        result: Array = self.drift + z @ self.response
        return result


def has_resultants(problem: ContactProblem) -> bool:
    """Whether the friction of some contact goes with the resultant of several forces."""
    return any(len(others) > 1 for others in problem.rows.of)


def is_planar(problem: ContactProblem, *, slip_tol: float = 0.0) -> bool:
    """Whether every contact has a friction force along a known line (or none)."""
    rows = problem.rows
    if rows.flat:
        return True
    for j in np.flatnonzero(rows.components == 2):
        slip = rows.slip[rows.first[j] : rows.first[j + 1]]
        if rows.friction[j] > 0 and np.linalg.norm(slip) <= slip_tol and rows.normal_force[j] != 0:
            return False
    return True


def law_of(problem: ContactProblem, j: int, sliding: bool) -> Law:
    """Return the law of contact j."""
    rows = problem.rows
    rubs = rows.friction[j] > 0 or (not sliding and rows.sides is not None and rows.sides[j].max() > 0)
    if rows.of and rows.of[j] and np.isnan(rows.given_load(j)):
        if not rubs:
            return Law.KNOWN
        if len(rows.of[j]) > 1:
            return Law.RESULTANT_SLIDING if sliding else Law.RESULTANT_REST
        return Law.FOLLOWS_SLIDING if sliding else Law.FOLLOWS_REST
    if rows.of and rows.bilateral[j] and not rubs and any((j,) == others for others in rows.of):
        return Law.BILATERAL_SIGNED if np.isnan(rows.normal_force[j]) else Law.KNOWN
    if not np.isnan(given := rows.given_load(j)):
        return Law.TRESCA_REST if rubs and not sliding and given != 0 else Law.KNOWN
    if rows.bilateral[j]:
        if not rubs:
            return Law.BILATERAL
        return Law.BILATERAL_SLIDING if sliding else Law.BILATERAL_REST
    return Law.UNILATERAL_REST if rubs and not sliding else Law.UNILATERAL


def reduce(problem: ContactProblem, *, slip_tol: float = 0.0) -> Reduced:
    """Scale a planar problem and express it in its reactions."""
    rows, k = problem.rows, problem.rows.count
    normals, tangents = dense(rows.normal), dense(rows.tangent)
    force = (problem.given.force if problem.given is not None and _by_arb(problem) else problem.force).copy()
    laws: list[Law] = []
    picks: list[Array] = []
    biases: list[float] = []
    bounds = np.zeros((k, 4))
    sizes = sides_of(problem)
    normal, tangent, master = np.full(k, -1), np.full(k, -1), np.arange(k)
    direction, known_normal, known_tangential = np.zeros((k, 2)), np.zeros(k), np.zeros((k, 2))
    for j in range(k):
        part = slice(rows.first[j], rows.first[j + 1])
        slip, p = rows.slip[part], int(rows.components[j])
        speed = float(np.linalg.norm(slip)) if p > 1 else abs(float(slip[0])) if p else 0.0
        sliding = speed > slip_tol
        law = law_of(problem, j, sliding)
        laws.append(law)
        given = rows.given_load(j)
        if p:
            direction[j, :p] = slip / speed if sliding else (1.0, 0.0)[:p]
        if law in FOLLOWING:
            master[j] = rows.of[j][0]
        elif law in RESULTANTS:
            pass
        elif law in {Law.TRESCA_REST, Law.KNOWN}:
            given = given if np.isfinite(given) else 0.0
            known_normal[j] = 0.0 if rows.of and rows.of[j] else given
            force = force + given * normals[j]
            bounds[j] = sizes[j] * abs(given)
            if law is Law.KNOWN:
                known_tangential[j] = -rows.friction[j] * abs(given) * direction[j] if sliding else 0.0
                force = force + known_tangential[j, :p] @ tangents[part]
                continue
        else:
            normal[j] = len(picks)
            picks.append(normals[j])
            biases.append(rows.bias[j])
        if rows.friction[j] > 0 or law in AT_REST:
            tangent[j] = len(picks)
            picks.append(direction[j, :p] @ tangents[part])
            biases.append(float(direction[j, :p] @ rows.tangent_bias[part]))
    jacobian = np.array(picks).reshape(len(picks), len(force))
    special: tuple[int, ...] = ()
    if not rows.plain:
        still = np.array([law in AT_REST for law in laws], dtype=bool)
        sizes[~still] = rows.friction[~still, None]  # what slides has one coefficient, against its slip
        special = tuple(
            int(j) for j in np.flatnonzero(still) if len(set(sizes[j].tolist())) > 1 or has_rest(problem, int(j))
        )
    parts = (laws, sizes, bounds, normal, tangent)
    forces = (direction, known_normal, known_tangential)
    static = tuple(j for j in special if has_rest(problem, j))
    if rows.of:
        special += tuple(j for j, law in enumerate(laws) if law in FOLLOWING | RESULTANTS and j not in special)
    return _scale(problem, force, jacobian, np.array(biases), parts, forces, special, static, master)


AT_REST = frozenset({Law.UNILATERAL_REST, Law.BILATERAL_REST, Law.TRESCA_REST, Law.FOLLOWS_REST, Law.RESULTANT_REST})
RESULTANTS = frozenset({Law.RESULTANT_REST, Law.RESULTANT_SLIDING})
FOLLOWING = frozenset({Law.FOLLOWS_REST, Law.FOLLOWS_SLIDING})


def has_rest(problem: ContactProblem, j: int) -> bool:
    """Whether rest has a law of its own at contact j."""
    return problem.rows.resting is not None and bool(np.isfinite(problem.rows.resting[j, 0]))


def sides_of(problem: ContactProblem) -> Array:
    """Return (k, 4) the coefficients against a slip > 0 and a slip < 0, and the same two at rest."""
    rows = problem.rows
    if rows.plain:
        return np.repeat(rows.friction[:, None], 4, axis=1)
    sides = np.repeat(rows.friction[:, None], 2, axis=1) if rows.sides is None else rows.sides
    resting = sides if rows.resting is None else np.where(np.isnan(rows.resting), sides, rows.resting)
    return np.concatenate([sides, resting], axis=1)


def _condition(problem: ContactProblem) -> float:
    matrix = problem.mass if problem.mass is not None else problem.inverse_mass
    if _by_arb(problem):
        return 1.0
    if matrix.shape[0] == 0 or (is_sparse(matrix) and matrix.shape[0] > SMALL):
        return 1.0
    full = dense(matrix)
    if np.count_nonzero(full) == len(full):
        return 1.0  # a diagonal
    scale = 1.0 / np.sqrt(full.diagonal())
    sizes = np.linalg.eigvalsh(scale[:, None] * full * scale)
    return float(sizes[-1] / max(sizes[0], 1e-300))


def _felt(gram: Array, free: Array, square: float) -> float:
    """Length (metric of A^-1) of the part of the given force that the contacts feel; never below 1e-6 of the whole."""
    if not len(free):
        return float(np.sqrt(max(square, 0.0)))
    sizes, vectors = np.linalg.eigh(gram)
    kept = sizes > 1e-12 * sizes[-1]
    parts = (vectors[:, kept].T @ free) ** 2 / sizes[kept]
    return float(np.sqrt(max(parts.sum(), 1e-12 * square, 0.0)))


def _noise(size: Array, normal: Ints, tangent: Ints) -> Array:
    """Return the lengths below which rows are no rows: a tangent is compared with the normal of its contact.

    Normals have units of their own, whatever others have: that one is rounding is known to whoever made it.
    """
    found = np.full(len(size), LEAST)
    if size.min(initial=1.0) > ROUNDING * size.max(initial=0.0):
        return found  # no tangent is that much shorter than any normal
    both = (normal >= 0) & (tangent >= 0)
    found[tangent[both]] = np.maximum(ROUNDING * size[normal[both]], LEAST)
    return found


def _by_arb(problem: ContactProblem) -> bool:
    """Whether rows make up for missing inertia: what they add may drown masses and forces, in doubles."""
    return problem.given is not None and len(problem.force) <= BY_ARB


def _response(problem: ContactProblem, force: Array, jacobian: Array, biases: Array) -> ForceResponse:
    given = problem.given if jacobian.size and _by_arb(problem) else None
    if given is not None:
        support = dense(given.rows), given.weights, given.bias
        return response_by_arb(dense(given.mass), force, support, jacobian, biases)
    solve = problem.inverse_times
    moves = solve(jacobian.T).T if jacobian.size else np.zeros_like(jacobian)
    drift, gram = solve(force), jacobian @ moves.T
    return ForceResponse(moves, drift, 0.5 * (gram + gram.T), jacobian @ drift - biases)


def _scale(
    problem: ContactProblem,
    force: Array,
    jacobian: Array,
    biases: Array,
    parts: tuple[list[Law], Array, Array, Ints, Ints],
    forces: tuple[Array, Array, Array],
    special: tuple[int, ...],
    static: tuple[int, ...],
    master: Ints,
) -> Reduced:
    laws, friction, bounds, normal, tangent = parts
    response, drift, gram, free = _response(problem, force, jacobian, biases)
    size = np.sqrt(np.maximum(gram.diagonal(), 0.0))
    size = np.where(size > _noise(size, normal, tangent), size, 1.0)
    stretch = np.where(tangent >= 0, size[tangent], 1.0) if len(size) else np.ones(len(laws))
    unit_gram = gram / (size[:, None] * size)
    load = max(
        _felt(unit_gram, (free + biases) / size, float(force @ drift)),
        float((np.abs(biases) / size).max(initial=0.0)),
        float((bounds * stretch[:, None]).max(initial=0.0)),
    )
    load = load or 1.0
    pushed = normal[master] if len(master) else normal
    per = stretch / np.where(pushed >= 0, size[pushed], 1.0) if len(size) else stretch
    mu = np.where(((pushed >= 0) & (tangent >= 0))[:, None], friction * per[:, None], 0.0)
    whole = bounds * (stretch / load)[:, None]
    tables = tuple(
        table_of(law, (whole if law is Law.TRESCA_REST else mu)[j], j in static) for j, law in enumerate(laws)
    )
    return Reduced(
        gram=unit_gram,
        free=free / (size * load),
        bias=biases / (size * load),
        normal=normal,
        tangent=tangent,
        laws=tuple(laws),
        tables=tables,
        friction=mu[:, :2].max(axis=1, initial=0.0),
        direction=forces[0],
        known_normal=forces[1],
        known_tangential=forces[2],
        unit=load / size,
        acceleration_unit=load * size,
        load=load,
        response=response * (load / size)[:, None],
        drift=drift,
        condition=_condition(problem),
        special=special,
        static=static,
        master=master,
    )


def table_of(law: Law, sizes: Array, static: bool) -> ModeTable:
    """Return the table of a law with scaled sizes (4,): two sides, two at rest."""
    plus, minus, rest_plus, rest_minus = (float(size) for size in sizes)
    return table(law, (plus, minus), (rest_plus, rest_minus) if static else None)
