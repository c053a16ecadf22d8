"""Claims: for each the numbers that must be positive, and how a place where one is not becomes a witness."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product as combinations
from typing import Any

import numpy as np
import sympy as sp

from zwang._compile import Model
from zwang._declare.constraints import Bilateral, Friction, Unilateral
from zwang._declare.contact_table import table_of
from zwang._equilibria.reserve import asked, reserve
from zwang._guarantee.boxes import Bounds, BoxedSystem, Quantity
from zwang._guarantee.contact_margins import ContactMatrices
from zwang._guarantee.force_margins import BoundedForces, ForceBound
from zwang._guarantee.mode_margins import OtherModes
from zwang._guarantee.pin_margins import OnePinSolution, OtherPinModes
from zwang._guarantee.rank_drop import RankDrop
from zwang._guarantee.rest_balance import HoldingForces
from zwang._guarantee.slopes import Matrix, Singular, Sloped, determinant, product, transposed
from zwang._reactions.holding import hold
from zwang._reactions.verb import reactions
from zwang._results.guarantee import Witness
from zwang._results.reactions import ReactionsStatus
from zwang.errors import DeclarationError, StateError, ZwangError

SURE = 1e-9
"""Part of the terms by which a witness must violate a claim."""
INSIDE = 1e-9  # relative to the larger end; a state on the border belongs to the region
UNIQUE = (ReactionsStatus.UNIQUE, ReactionsStatus.UNIQUE_MOTION)


@dataclass(frozen=True, eq=False)
class BoxQuestion:
    """What a claim is about.

    Attributes
    ----------
    model : Model
    boxed : BoxedSystem
    closed : tuple of str
    box : mapping
        Variable -> (low, high).
    known : mapping
        Parameters and coordinates with one value.
    """

    model: Model
    boxed: BoxedSystem
    closed: tuple[str, ...]
    box: Mapping[str, tuple[float, float]]
    known: Mapping[str, float]

    def split(self, at: Bounds) -> tuple[dict[str, float], dict[str, float]]:
        """Return state and parameters at a place of the box."""
        values = {**self.known, **dict(zip(self.boxed.variables, map(float, at), strict=True))}
        system = self.model.system
        state = {item.name: float(values.get(item.name, 0.0)) for item in (*system.coordinates, *system.velocities)}
        return state | {"t": 0.0}, {item.name: float(values[item.name]) for item in system.parameters}

    def placed(
        self, at: Bounds, slips: Mapping[str, float] | None = None
    ) -> tuple[dict[str, float], dict[str, float]] | None:
        """Return the state near a place that satisfies the constraints, and parameters; None where it is outside."""
        state, params = self.split(at)
        held = [
            str(item.name)
            for item in self.model.system.constraints
            if not isinstance(item, Friction) and (isinstance(item, Bilateral) or item.name in self.closed)
        ]
        if held:
            free = [item.name for item in self.model.system.coordinates if not self._pinned(item.name)]
            tries = [free, [item.name for item in self.model.system.coordinates]]
            for follow in tries:
                try:
                    found = hold(self.model, state, params, held, follow=follow)
                    if slips:  # all velocities may take part, those of coordinates that stay too
                        placed = {name: float(value) for name, value in found.items()}
                        found = hold(self.model, placed, params, held, slips=dict(slips))
                    self.model.check({k: float(v) for k, v in found.items()}, params, tol=1e-8)
                except ZwangError:
                    continue
                made = {name: float(value) for name, value in found.items()}
                if self._inside(made):
                    return made, params
            return None
        return state, params

    def _pinned(self, name: str) -> bool:
        """Whether a coordinate of the box had better stay: an angle, which claims depend on."""
        return any(item.name == name and item.angle for item in self.model.system.coordinates) and name in self.box

    def _inside(self, state: Mapping[str, float]) -> bool:
        for name, (low, high) in self.box.items():
            border = INSIDE * max(abs(low), abs(high))
            if name in state and not low - border <= state[name] <= high + border:
                return False
        return True


@dataclass(frozen=True, eq=False)
class BoxClaim:
    """A claim that can be looked at: the numbers, the witness, what else has to be true, and where to look first."""

    words: str
    positive: Quantity
    confirm: Callable[[Bounds, int], Witness | None]
    also: Callable[[], bool] = lambda: True
    first: Callable[[], Witness | None] = lambda: None


def contact_claim(words: str, asked_of: BoxQuestion) -> BoxClaim:
    """Return the claim of a unique, or of some, acceleration."""
    matrices = ContactMatrices(asked_of.boxed, asked_of.closed)
    _require_bound(asked_of, matrices.nodes[: -len(asked_of.model.system.coordinates)])
    matrices.require_apart(words)
    if matrices.pins:
        return _pin_claim(words, asked_of, matrices)
    modes = matrices.modes()

    def confirm(at: Bounds, which: int) -> Witness | None:
        slips = {
            contact.place.name: 1.0 if mode == "slip+" else -1.0
            for contact, mode in zip(matrices.contacts, modes[which], strict=True)
            if mode.startswith("slip")
        }
        for given in (slips, {}):
            placed = asked_of.placed(at, given)
            witness = None if placed is None else _several(words, asked_of, *placed)
            if witness is not None:
                return witness
        return None

    def also() -> bool:
        """One force at one state with one solution: then every force at every state has one."""
        if len(matrices.contacts) < 2 or not any(c.place.slips for c in matrices.contacts):
            return True
        middle = tuple(0.5 * (low + high) for low, high in asked_of.box.values())
        placed = asked_of.placed(middle)
        if placed is None:
            return False
        rest = {name: 0.0 if name.startswith("v_") else value for name, value in placed[0].items()}
        found: Any = reactions(asked_of.model, rest, placed[1])
        return found.status in UNIQUE

    return BoxClaim(words, matrices.determinants, confirm, also)


def _pin_claim(words: str, asked_of: BoxQuestion, matrices: ContactMatrices) -> BoxClaim:
    """Return the same where friction goes with resultants."""
    names = [matrices.contacts[k].place.name for k in matrices.pins]

    def confirm(at: Bounds, which: int) -> Witness | None:
        turning = [{name: sign} for name in names for sign in (1.0, -1.0)]  # the others follow, or rest
        together = combinations((1.0, -1.0), repeat=len(names)) if 1 < len(names) < 4 else ()
        for slips in [*turning, *(dict(zip(names, signs, strict=True)) for signs in together)]:
            placed = asked_of.placed(at, slips)
            witness = None if placed is None else _several(words, asked_of, *placed)
            if witness is not None:
                return witness
        return None

    return BoxClaim(words, OnePinSolution(matrices), confirm)


def _several(words: str, asked_of: BoxQuestion, state: dict[str, float], params: dict[str, float]) -> Witness | None:
    try:
        found: Any = reactions(asked_of.model, state, params)
    except StateError:
        return None
    bad = (ReactionsStatus.NONE,) if words == "some acceleration" else (ReactionsStatus.NONE, ReactionsStatus.MULTIPLE)
    if found.status in bad and found.complete:
        return Witness(state=state, params=params, reason=f"{found.status.name}: {found.status.value}")
    return None


def holding_claim(words: str, asked_of: BoxQuestion) -> BoxClaim:
    """Return the claim that rest can hold, or must."""
    matrices = ContactMatrices(asked_of.boxed, asked_of.closed)
    if words == "must hold":
        matrices.require_apart(words)
    forces, others = HoldingForces(matrices), OtherPinModes(matrices) if matrices.pins else OtherModes(matrices)
    _require_bound(asked_of, matrices.nodes, resting=True)

    class Both:
        def prepare(self, middle: Bounds) -> None:
            forces.prepare(middle)
            if words == "must hold" and forces.depth >= 0:
                others.prepare(middle)

        def __call__(self, low: Bounds, high: Bounds) -> list[Sloped]:
            room = forces(low, high)
            return [*room, *others(low, high)] if words == "must hold" and forces.depth >= 0 else room

    def confirm(at: Bounds, which: int) -> Witness | None:
        placed = asked_of.placed(at)
        if placed is None:
            return None
        state = {name: 0.0 if name.startswith("v_") else value for name, value in placed[0].items()}
        if not all(abs(float(v)) <= 1e-9 for v in asked_of.model.gap_rates(state, placed[1]).values()):
            return None
        depth = reserve(asked_of.model, state, placed[1])
        if depth < -SURE:
            short = f"forces lack {-depth:.3g} of what a rest needs" if np.isfinite(depth) else "nothing balances it"
            return Witness(state=state, params=placed[1], reason=short)
        if words == "must hold":
            found, told = asked(asked_of.model, state, placed[1])
            if found == "may" and told is not None and told.complete:
                return Witness(state=state, params=placed[1], reason="another acceleration satisfies the laws too")
        return None

    return BoxClaim(words, Both(), confirm)


def regular_claim(asked_of: BoxQuestion) -> BoxClaim:
    """Return the claim that the bilateral constraints on positions are independent everywhere."""
    system, program = asked_of.model.system, asked_of.boxed.program
    relations = [item for item in system.constraints if not isinstance(item, Friction)]
    rows = [
        row
        for item, row in zip(relations, program.normals, strict=True)
        if isinstance(item, Bilateral) and item.level == "position"
    ]
    if not rows:
        raise DeclarationError(f"{system.name}: 'regular' speaks of bilateral constraints on positions; it has none.")
    n, zero = len(system.coordinates), program.graph.zero
    nodes = [row.entries.get(i, zero) for row in rows for i in range(n)]

    def positive(low: Bounds, high: Bounds) -> list[Sloped]:
        values = asked_of.boxed.at(nodes, low, high)
        W: Matrix = [values[k * n : (k + 1) * n] for k in range(len(rows))]
        return [_gram(W)]

    low, high = (tuple(pair[side] for pair in asked_of.box.values()) for side in (0, 1))
    drop = RankDrop(asked_of.boxed, low, high)
    return BoxClaim("regular", positive, lambda at, which: None, first=drop.witness)


def _gram(W: Matrix) -> Sloped:
    """Return det(W W^T), by elimination where there are many rows."""
    gram = product(W, transposed(W))
    if len(gram) <= 4:
        return determinant(gram)
    total: Sloped | None = None
    rows = [list(row) for row in gram]
    for k in range(len(rows)):
        pivot = rows[k][k]
        if not float(pivot.value.lower()) > 0:
            raise Singular
        total = pivot if total is None else total * pivot
        for i in range(k + 1, len(rows)):
            factor = rows[i][k] / pivot
            rows[i] = [x - factor * y for x, y in zip(rows[i], rows[k], strict=True)]
    assert total is not None
    return total


def relation_claim(relation: Any, asked_of: BoxQuestion) -> BoxClaim:
    """Return the claim of inequalities between coordinates, velocities and parameters."""
    parts = list(relation.args) if isinstance(relation, sp.And) else [relation]
    differences = []
    for part in parts:
        if isinstance(part, (sp.StrictGreaterThan, sp.GreaterThan)):
            differences.append(part.lhs - part.rhs)
        elif isinstance(part, (sp.StrictLessThan, sp.LessThan)):
            differences.append(part.rhs - part.lhs)
        else:
            raise DeclarationError(f"guarantee: a relation is an inequality such as x < a; it was given {part}.")
    nodes = [asked_of.boxed.convert(expr) for expr in differences]
    _require_bound(asked_of, nodes)

    def confirm(at: Bounds, which: int) -> Witness | None:
        placed = asked_of.placed(at)
        if placed is None:
            return None
        numbers = {**placed[0], **placed[1]}
        expr = differences[which]
        values = {symbol: sp.Float(numbers[symbol.name]) for symbol in expr.free_symbols}
        miss = float(expr.xreplace(values))
        size = sum(abs(float(term.xreplace(values))) for term in sp.Add.make_args(expr))
        if miss < -SURE * size:
            return Witness(state=placed[0], params=placed[1], reason=f"{parts[which]} fails by {-miss:.3g}")
        return None

    return BoxClaim(str(relation), lambda low, high: asked_of.boxed.at(nodes, low, high), confirm)


def force_claim(bounds: Mapping[str, Any], asked_of: BoxQuestion) -> BoxClaim:
    """Return the claim that forces stay within bounds in every solution: multipliers, and friction of its own."""
    system = asked_of.model.system
    matrices = ContactMatrices(asked_of.boxed, asked_of.closed)
    if matrices.pins:
        pin = matrices.contacts[next(iter(matrices.pins))].place.name
        raise DeclarationError(
            f"{system.name}: bounds of forces are decided for contacts and bilateral constraints; '{pin}' rubs with a "
            "resultant. Ask reactions(...) at single states."
        )
    wanted = [_force_bound(str(name), pair, matrices) for name, pair in bounds.items()]
    positive = BoundedForces(matrices, wanted, [*asked_of.box, *asked_of.known])
    _require_bound(asked_of, positive.nodes)
    absent = [name for name in one_sided(asked_of.model) if name not in asked_of.closed]

    def confirm(at: Bounds, which: int) -> Witness | None:
        for slips in ({}, *positive.slips(which)):
            placed = asked_of.placed(at, slips)
            witness = None if placed is None else _beyond(asked_of, wanted, absent, *placed)
            if witness is not None:
                return witness
        return None

    return BoxClaim(f"multipliers within {dict(bounds)}", positive, confirm)


def _force_bound(name: str, pair: Any, matrices: ContactMatrices) -> ForceBound:
    """Return a force that is bounded, by its row."""
    system = matrices.boxed.system
    system.constraints.place(name)
    if name in system.bookkeeping:
        raise DeclarationError(
            f"{system.name}: '{name}' keeps a quaternion at unit length, and its multiplier is no force. Bound those "
            "of joints."
        )
    try:
        low, high = (float(value) for value in pair)
    except (TypeError, ValueError):
        raise DeclarationError(f"{system.name}: bounds are (low, high); those of '{name}' were {pair!r:.60}.") from None
    if not low <= high:
        raise DeclarationError(
            f"{system.name}: the bounds of '{name}' need low <= high; they were ({low:g}, {high:g})."
        )
    for k, contact in enumerate(matrices.contacts):
        if contact.place.name == name:
            row = matrices.places.get((k, "normal"), matrices.places.get((k, "tangent")))
            assert row is not None
            return ForceBound(name, row, low, high, k, contact.sided)
    for j, place in enumerate(table_of(system).places[table_of(system).of_normal(k)] for k in matrices.bilateral):
        if place.name == name:
            return ForceBound(name, matrices.shape[2] + j, low, high)
    raise DeclarationError(
        f"{system.name}: '{name}' is not closed, and has no force to be bounded. Name it in closed=, if it is a "
        "one-sided constraint on positions."
    )


def _beyond(
    asked_of: BoxQuestion,
    wanted: Sequence[ForceBound],
    absent: Sequence[str],
    state: dict[str, float],
    params: dict[str, float],
) -> Witness | None:
    """Return a witness if a solution at a state has a force outside its bounds."""
    try:
        found: Any = reactions(asked_of.model, state, params)
    except StateError:
        return None
    if not set(asked_of.closed) <= set(found.contacts):  # no velocity slips like that, and they separate
        return None
    for solution in found.solutions:
        if any(solution.modes[k] != "open" for k, name in enumerate(solution.names) if name in absent):
            continue
        for bound in wanted:
            kind = "normal" if _has_normal(asked_of, bound.name) else "tangential"
            ends = [float(value) for value in solution.ranges[bound.name][kind]]
            size = max(1.0, *(abs(value) for value in ends if np.isfinite(value)), 0.0)
            for value in ends:
                if value < bound.low - SURE * size or value > bound.high + SURE * size:
                    return Witness(
                        state=state, params=params, reason=f"the multiplier of '{bound.name}' is {value:.8g}"
                    )
    return None


def _has_normal(asked_of: BoxQuestion, name: str) -> bool:
    return not any(isinstance(item, Friction) and item.name == name for item in asked_of.model.system.constraints)


def _require_bound(asked_of: BoxQuestion, nodes: Sequence[Any], *, resting: bool = False) -> None:
    if resting:
        return
    loose = asked_of.boxed.unbound(list(nodes), [*asked_of.box, *asked_of.known])
    if loose:
        raise DeclarationError(
            f"{asked_of.model.system.name}: the claim depends on '{loose[0]}', which is not in the box and may be any "
            f"number. Give box={{'{loose[0]}': (low, high)}}."
        )


def one_sided(model: Model) -> tuple[str, ...]:
    """Return the one-sided constraints on positions."""
    return tuple(
        str(item.name) for item in model.system.constraints if isinstance(item, Unilateral) and item.level == "position"
    )
