"""The equilibrium that is linearized: what holds there, strictly, and which small displacements it leaves free.

One-sided constraints with a positive reaction and contacts that stick strictly inside their cone count as bilateral;
contacts that slide (on a belt) keep their direction. On the edge of any of these the equations of small motions change
from one side to the other, and there is no linearization.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from zwang._compile.given_values import Inputs
from zwang._kernels.mode_motion import moving
from zwang._kernels.variations import Jets, ModeVariations, variations
from zwang._numerics.contact.modes import Mode
from zwang._numerics.linear.metric import factor, supported
from zwang._numerics.linear.rank import DEPENDENT, decided
from zwang._results.reactions import Reactions, Solution
from zwang._results.words import vector
from zwang._simulate.active_set import admit
from zwang._simulate.decide import decide
from zwang._simulate.ground import Ground, autonomous
from zwang._simulate.mode_labels import friction_of, full_mode, hold
from zwang._simulate.moment import Decision, Labels, Moment
from zwang._simulate.watch import kinds_of
from zwang.errors import StateError

Array = NDArray[np.float64]
STILL = 1e-8
"""Velocities and accelerations below this, relative to the terms they come from, are zero."""
EDGE = 1e-9
"""Part of the forces by which a reaction must be inside its bounds."""
LEAF = 1e-7
"""Up to which a constraint on velocities counts as holonomic, relative to its terms."""
NEARBY = 1e-3
"""How far the places are at which that is looked at, in parts of the coordinates."""


@dataclass(frozen=True, eq=False)
class EquilibriumPoint:
    """An equilibrium with the mode that it keeps.

    Attributes
    ----------
    moment : Moment
    decision : Decision
    jets : Jets
        Everything there, with derivatives.
    variations : ModeVariations
    params : (p + surfaces,) array
        With the sides of switching surfaces.
    mass : (n, n) array
    positions, rows : (k, n) arrays
        Of the constraints that restrict displacements, and of all that restrict velocities.
    sizes : (n,) array
        Of accelerations that would count.
    """

    ground: Ground
    moment: Moment
    decision: Decision
    variations: ModeVariations
    params: Array
    jets: Jets
    mass: Array
    positions: Array
    rows: Array
    sizes: Array

    @property
    def residual(self) -> float:
        """The acceleration that is left, relative to what the forces would make."""
        size = float(self.sizes.max(initial=0.0))
        left = float(np.abs(self.jets.value[self.variations.accelerations, 0]).max(initial=0.0))
        return left / size if size > 0 else 0.0


def equilibrium_at(ground: Ground, inputs: Inputs, steady: frozenset[int], chosen: tuple[int, ...]) -> EquilibriumPoint:
    """Return the equilibrium at a state, or say in a StateError why it is none, or none that has a linearization."""
    moment = admit(ground, inputs)
    if not autonomous(ground):
        raise StateError(
            f"{ground.name}: its equations depend on time, so it has no equilibrium to linearize about. Ask "
            "periodic(...) for a periodic motion and its multipliers."
        )
    _require_rest(ground, moment, steady)
    decision = decide(ground, moment, None, _resting, 1e-3)
    if decision.held is None:
        found = decision.reactions
        what = "no reaction satisfies the laws" if found is None else found.status.value.rstrip(".")
        raise StateError(f"{ground.name}: the state is no equilibrium: {what[0].lower()}{what[1:]}.")
    terms = ground.terms(moment.t, moment.q, moment.v)
    decision = replace(decision, held=hold(ground.table, decision.labels, terms))  # rows that depend on none
    mode = decision.mode.mode
    made = variations(ground.model, mode, chosen)
    steps = moving(ground.model, mode, compiled=False)
    sides = steps.branches(moment.t, moment.q, moment.v, ground.params, ground.changing)
    _require_smooth(ground, moment, decision)
    params = np.concatenate([ground.params, sides])
    jets = made.jets(np.array([moment.t]), moment.q[:, None], moment.v[:, None], params)
    mass = terms.mass[:, :, 0]
    sizes = acceleration_sizes(ground, moment.q, jets, made, mass, terms.force[:, 0])
    _require_still(ground, jets.value[made.accelerations, 0], sizes)
    level = [ground.table.normals[j].on_position for j in mode.held]
    rows = np.concatenate([terms.rows[list(mode.held), :, 0], terms.slip_rows[list(mode.sticking), :, 0]])
    on = np.array([*level, *([False] * len(mode.sticking))], dtype=bool)
    order = np.concatenate([np.flatnonzero(on), np.flatnonzero(~on)]).astype(int)
    point = EquilibriumPoint(
        ground, moment, decision, made, params, jets, mass, rows[on].reshape(-1, len(mass)), rows[order], sizes
    )
    _require_inside(point)
    return point


def _resting(found: Reactions, before: Labels | None, numbers: tuple[int, ...]) -> int | None:
    """Choose the solution with the least acceleration: the equilibrium, where there is one."""
    sizes = [float(np.abs(one.acceleration).max(initial=0.0)) for one in found.solutions]
    return int(np.argmin(sizes)) if sizes else None


def _require_rest(ground: Ground, moment: Moment, steady: frozenset[int]) -> None:
    names = [item.name for item in ground.model.system.velocities]
    size = float(np.abs(moment.v).max(initial=0.0))
    moves = [i for i, value in enumerate(moment.v) if abs(value) > STILL * size and i not in steady]
    if moves:
        i = moves[0]
        coordinate = ground.model.system.coordinates[i].name
        raise StateError(
            f"{ground.name}: the state is no equilibrium: {names[i]} = {moment.v[i]:.6g}. Name coordinates that turn "
            f"uniformly in steady=, as in steady=('{coordinate}',), or give a state at rest."
        )


def acceleration_sizes(ground: Ground, q: Array, jets: Jets, made: ModeVariations, mass: Array, force: Array) -> Array:
    """Return the accelerations (n,) that the forces would make, and displacements of the size of the coordinates."""
    own = np.where(np.diag(mass) > 0, np.diag(mass), np.inf)
    turns = np.array([bool(item.angle) for item in ground.model.system.coordinates])
    reach = np.maximum(np.abs(q), turns)
    by_q = np.abs(jets[made.accelerations].by_state[:, : len(q), 0])
    return np.asarray(np.abs(force) / own + by_q @ reach)


def _require_still(ground: Ground, a: Array, sizes: Array) -> None:
    """Raise where there is an acceleration beyond rounding of the forces."""
    if np.any(np.abs(a) > STILL * sizes.max(initial=0.0)):
        names = [item.name for item in ground.model.system.coordinates]
        raise StateError(
            f"{ground.name}: the state is no equilibrium: the accelerations of ({', '.join(names)}) are {vector(a)}. "
            "equilibria(system, params) finds the equilibria."
        )


def _require_smooth(ground: Ground, moment: Moment, decision: Decision) -> None:
    """Raise on a switching surface of a force: its equations differ from side to side."""
    steps = moving(ground.model, decision.mode.mode, compiled=False)
    count = sum(kind == "surface" for kind, _ in steps.watch_names)
    if not count:
        return
    sides = steps.branches(moment.t, moment.q, moment.v, ground.params, ground.changing)
    values = steps.evaluate(moment.t, moment.q, moment.v, ground.params, sides)[3][-count:]
    bands = steps.bands(moment.t, moment.q, moment.v, ground.params, sides, kinds_of(ground))[-count:]
    if np.any(np.abs(values) <= 10 * bands):
        raise StateError(
            f"{ground.name}: at this state a force switches (Abs, Max, Piecewise): small motions have no linear "
            "equations there. Ask at a state on one side of it."
        )


def _require_inside(point: EquilibriumPoint) -> None:
    """Raise where a one-sided constraint holds without a force, or friction has nothing left."""
    ground, table = point.ground, point.ground.table
    decision, made, jets = point.decision, point.variations, point.jets
    scale = _forces(point)
    loose = set(decision.mode.undetermined)
    for number, (place, label) in enumerate(zip(table.places, decision.labels, strict=True)):
        if label is Mode.OPEN:
            if number in point.moment.touching:
                _edge(ground, place.name, "touches without a force")
            continue
        if {place.name, friction_of(place.name)} & loose:
            _require_inside_undetermined(point, number)
            continue
        if place.one_sided and place.normal in made.mode.held:
            lam = float(jets.value[made.multipliers, 0][made.mode.held.index(place.normal)])
            if lam <= EDGE * scale:
                _edge(ground, place.name, "holds without a force")
        if label.plain is Mode.STICK:
            reserve = made.watches.index(("reserve", place.law))
            if float(jets.value[made.watched, 0][reserve]) <= EDGE * scale:
                _edge(ground, place.name, "sticks at the edge of its friction cone")
        elif label.plain is not Mode.CLOSED and number in point.moment.resting:
            _edge(ground, place.name, "slips from rest")


def _require_inside_undetermined(point: EquilibriumPoint, number: int) -> None:
    """Raise where no distribution of undetermined forces is strictly inside the bounds of a contact."""
    found = point.decision.reactions
    if found is None or not found.solutions:
        return
    solution: Solution = found.solutions[_resting(found, None, ()) or 0]
    name = point.ground.table.places[number].name
    if name not in found.contacts:
        return
    mode = str(solution.modes[found.contacts.index(name)])
    if mode == "open":
        _edge(point.ground, name, "touches without a force")
    if mode.startswith("slip"):
        _edge(point.ground, name, "sticks at the edge of its friction cone")


def _edge(ground: Ground, name: str, what: str) -> None:
    raise StateError(
        f"{ground.name}: contact '{name}' {what} at this equilibrium: what nearby motions do changes there, and there "
        "is no linearization. Ask simulate(...) for a motion from a nearby state."
    )


def _forces(point: EquilibriumPoint) -> float:
    """Return the size of the forces at a state."""
    jets, made = point.jets, point.variations
    terms = point.ground.terms(point.moment.t, point.moment.q, point.moment.v)
    found = [np.abs(jets.value[made.multipliers, 0]), np.abs(jets.value[made.friction, 0]), np.abs(terms.force[:, 0])]
    return max(float(part.max(initial=0.0)) for part in found)


# Which displacements are free.
def tangent(rows: Array, mass: Array) -> Array:
    """Return a basis (n, f) of what rows leave free, orthonormal in the kinetic metric.

    Examples
    --------
    >>> tangent(np.array([[1.0, 0.0]]), np.diag([1.0, 4.0]))
    array([[0. ],
           [0.5]])
    """
    root = factor(mass)
    root = factor(supported(mass, rows)) if root is None else root
    assert root is not None  # a state without inertia was refused
    free = np.linalg.solve(root.T, np.eye(len(mass)))
    if len(rows):
        found = decided(rows, root, DEPENDENT)
        free = np.linalg.solve(root.T, found.right[found.rank :].T)
    inner = np.linalg.cholesky(free.T @ mass @ free) if free.shape[1] else np.zeros((0, 0))
    basis = np.linalg.solve(inner, free.T).T if free.shape[1] else free
    signs = np.sign(basis[np.abs(basis).argmax(axis=0), np.arange(basis.shape[1])])
    return np.asarray(basis * np.where(signs == 0, 1.0, signs) + 0.0)


def holonomic(point: EquilibriumPoint) -> bool:
    """Say whether the constraints on velocities confine the positions to surfaces (Frobenius).

    The directions that all rows leave free are closed under brackets where for each row w the curl of it
    (dw_i/dq_j - dw_j/dq_i) vanishes on them; that must be so in a neighbourhood, so it is looked at in a few places of
    it as well.
    """
    count = len(point.rows) - len(point.positions)
    if not count:
        return True
    n, rng = len(point.mass), np.random.default_rng(0)
    size = NEARBY * (1.0 + np.abs(point.moment.q))
    places = [point.moment.q, *(point.moment.q + size * rng.uniform(-1, 1, n) for _ in range(3))]
    return all(_closed(point, q) for q in places)


def _closed(point: EquilibriumPoint, q: Array) -> bool:
    made, n = point.variations, len(q)
    units = np.eye(n)
    t = np.full(n + 1, point.moment.t)
    # A rate is affine in the velocities: its derivative by q at unit velocities, less that at rest, is d w/d q.
    jets = made.jets(t, np.repeat(q[:, None], n + 1, axis=1), np.hstack([np.zeros((n, 1)), units]), point.params)
    rates = jets[made.rates]
    rows = rates.by_state[:, n:, 0]
    basis = tangent(rows, point.mass)
    change = rates.by_state[:, :n, 1:] - rates.by_state[:, :n, :1]  # (row, q_j, v_i): dw_i/dq_j
    for row, slope in zip(rows, change, strict=True):
        curl = basis.T @ (slope.T - slope) @ basis
        scale = np.abs(basis).T @ np.abs(slope) @ np.abs(basis)
        if float(np.abs(curl).max(initial=0.0)) > LEAF * (
            float(scale.max(initial=0.0)) + LEAF * float(np.abs(row).max())
        ):
            return False
    return True


def undetermined_curvature(point: EquilibriumPoint, basis: Array) -> tuple[str, ...]:
    """Return the constraints whose undetermined multipliers enter the stiffness; none where they don't.

    Dependent rows carry forces that balance each other, in any amount: sigma with W^T sigma = 0. Times the curvature of
    the constraints they are a stiffness of their own.
    """
    ground, decision = point.ground, point.decision
    if not decision.mode.undetermined or not basis.shape[1]:
        return ()
    full = full_mode(ground.table, decision.labels)
    made, n = variations(ground.model, full), len(point.mass)
    count = basis.shape[1]
    t = np.full(count + 1, point.moment.t)
    q = np.repeat(point.moment.q[:, None], count + 1, axis=1)
    rates = made.jets(t, q, np.hstack([np.zeros((n, 1)), basis]), point.params)[made.rates]
    rows = rates.by_state[:, n:, 0]
    root = factor(supported(point.mass, rows))
    assert root is not None
    stress = decided(rows, root, DEPENDENT).stress
    change = rates.by_state[:, :n, 1:] - rates.by_state[:, :n, :1]  # (row, q, basis vector)
    stiffness = np.einsum("rs,rqb,qc->sbc", stress, change, basis)
    scale = np.einsum("rs,rqb,qc->sbc", np.abs(stress), np.abs(change), np.abs(basis))
    bad = np.abs(stiffness).max(axis=(1, 2)) > LEAF * (scale.max(axis=(1, 2)) + 1e-300)
    if not bad.any():
        return ()
    share = np.abs(stress[:, bad]).max(axis=1)
    names = [ground.table.places[ground.table.of_normal(j)].name for j in full.held]
    names += [next(place.name for place in ground.table.places if slip in place.slips) for slip in full.sticking]
    listed = dict.fromkeys(name for name, part in zip(names, share, strict=True) if part > LEAF * share.max())
    return tuple(listed)
