"""An instant of a motion: a state, and which constraints are known to act there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from zwang._compile import Model
from zwang._compile.values import Inputs
from zwang._kernels import Terms, dense_terms
from zwang._numerics.contact.problem import ContactProblem, problem_of
from zwang._numerics.contact.table import ContactTable
from zwang._numerics.linear.projection import Conditions

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ground:
    """What stays the same through a motion: the model, its constraints, the parameters."""

    model: Model
    table: ContactTable
    params: Array

    @property
    def name(self) -> str:
        """The name of the system."""
        return self.model.system.name

    def terms(self, t: float, q: Array, v: Array) -> Terms:
        """Return the terms of the equations at one state."""
        kernels = self.model.kernels
        return dense_terms(kernels.terms(np.array([t]), q[:, None], v[:, None], self.params[:, None]))

    def at(self, moment: Moment) -> Terms:
        """Return the terms of the equations at a moment, beyond what switches there."""
        if moment.ahead is not None:
            return self.terms(*moment.ahead)
        return self.terms(moment.t, moment.q, moment.v)

    def conditions(
        self, t: float, held: Sequence[int], slips: Sequence[int] = ()
    ) -> Callable[[Array, Array], Conditions]:
        """Return what a state at an instant has to meet: the numbers of normals that hold and of slips that rest."""
        normals, resting = list(held), list(slips)
        level = np.array([self.table.normals[j].on_position for j in normals], dtype=bool)
        positions = [j for j, on in zip(normals, level, strict=True) if on]

        def at(q: Array, v: Array) -> Conditions:
            terms = self.terms(t, q, v)
            rows = np.concatenate([terms.rows[normals, :, 0], terms.slip_rows[resting, :, 0]])
            now = np.where(level, terms.rate[normals, 0], terms.value[normals, 0])
            rates = np.concatenate([now, terms.slip[resting, 0]])
            return Conditions(terms.mass[:, :, 0], terms.rows[positions, :, 0], terms.value[positions, 0], rows, rates)

        return at

    def inputs(self, t: float, q: Array, v: Array) -> Inputs:
        """Return one state as the other verbs take it."""
        return Inputs(np.array([t]), q[:, None].copy(), v[:, None].copy(), self.params[:, None], ())


@dataclass(frozen=True, eq=False)
class Moment:
    """A state with what is known of its constraints.

    Attributes
    ----------
    touching : frozenset of int
        One-sided constraints that can act: gap and rate are zero (position level), or the value is (velocity level).
    resting : frozenset of int
        Constraints with friction whose slip is zero.
    tied : frozenset of int
        Constraints whose force has just reached its bound: a reaction that vanished, friction that is used up.
    ahead : tuple or None
        On a switching surface: the state at a distance of rounding beyond it, where the equations are to be asked.
    """

    t: float
    q: Array
    v: Array
    touching: frozenset[int] = field(default_factory=frozenset)
    resting: frozenset[int] = field(default_factory=frozenset)
    tied: frozenset[int] = field(default_factory=frozenset)
    ahead: tuple[float, Array, Array] | None = None

    def but(self, **changes: object) -> Moment:
        """Return the moment with some of it changed."""
        return replace(self, **changes)  # type: ignore[arg-type]


def acts(ground: Ground, moment: Moment, number: int) -> bool:
    """Say whether a constraint can have a reaction at a moment."""
    return not ground.table.places[number].one_sided or number in moment.touching


def problem_at(ground: Ground, moment: Moment, terms: Terms) -> tuple[ContactProblem, tuple[int, ...]]:
    """Return the contact problem of a moment, and the numbers of the constraints that are its contacts."""
    table = ground.table
    numbers = [number for number in range(len(table.places)) if acts(ground, moment, number)]
    rest = np.zeros(len(table.places), dtype=bool)
    rest[list(moment.resting)] = True
    chosen = np.array(numbers, dtype=np.int64)
    return problem_of(table, terms, chosen, rest, declared=False), tuple(numbers)
