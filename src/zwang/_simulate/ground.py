"""What stays the same through a motion: the model, its constraints, the parameters; and expressions of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._compile import Model
from zwang._compile.coefficients import require_laws, sound_laws
from zwang._compile.given_inputs import Driven
from zwang._compile.given_values import Inputs
from zwang._compile.input_course import InputCourse
from zwang._declare.contact_table import table_of
from zwang._declare.symbols import t as time
from zwang._declare.system import System
from zwang._kernels import Terms, dense_terms
from zwang._numerics.contact.admission import Sizes, sizes_near
from zwang._numerics.contact.table import ContactTable
from zwang._numerics.linear.projection import Conditions
from zwang._numerics.sizes import LEAST, CharacteristicSizes, CoordinateSizes, brief_sizes, known
from zwang.errors import StateError

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ground:
    """What stays the same through a motion: the model, its constraints, the parameters.

    Inputs that change at instants make parameters change there: `params` are those of now, `course` has all. The
    `start` (t, q, v) gives the sizes that tolerances are relative to, but for `scales` that were given.
    """

    model: Model
    table: ContactTable
    params: Array
    course: InputCourse | None = None
    start: tuple[float, Array, Array] | None = None
    scales: CoordinateSizes | None = None

    @property
    def declared(self) -> System | None:
        """The system with its inputs, where it has some."""
        return None if self.course is None else self.course.driven.declared

    @classmethod
    def of(
        cls, model: Model, inputs: Inputs, driven: Driven | None = None, scales: CoordinateSizes | None = None
    ) -> Ground:
        """Return the ground of a motion from the first state of inputs."""
        params = inputs.params[:, 0].copy()
        course = None if driven is None else InputCourse(driven, params, float(inputs.t[0]))
        start = float(inputs.t[0]), inputs.q[:, 0].copy(), inputs.v[:, 0].copy()
        return cls(model, table_of(model.system), params, course, start, scales)

    @cached_property
    def _measured(self) -> tuple[CharacteristicSizes, Sizes]:
        """The characteristic sizes at the start, and the largest sizes of gaps, rates and slips near it."""
        assert self.start is not None  # of a ground that moves
        given = np.array([self.start[0]]), self.start[1][:, None], self.start[2][:, None], self.params[:, None]
        evaluate = self.model.kernels.terms
        return sizes_near(evaluate, evaluate(*given), *given, self.table.arrays.turns, self.scales)

    @property
    def told_sizes(self) -> dict[str, float]:
        """The characteristic sizes by their names; 0 where nothing has one, and comparisons are exact at first."""
        return {f"size of {name}s": float(part[0]) for name, part in self._measured[0]._asdict().items()}

    @cached_property
    def sizes(self) -> CoordinateSizes:
        """The characteristic sizes (n,) of coordinates and velocities: those of the start, or as they were given."""
        own = self._measured[0].of_coordinates(self.table.arrays.turns)
        if self.scales is None:
            return own
        return CoordinateSizes(
            *(np.where(np.isnan(given), part, given) for given, part in zip(self.scales, own, strict=True))
        )

    @cached_property
    def changing(self) -> float:
        """A time on which the motion changes: of its sizes, or 1 where it has none."""
        moves = (self.sizes.length > LEAST) & (self.sizes.speed > LEAST)
        with np.errstate(over="ignore"):
            times = self.sizes.length[moves] / self.sizes.speed[moves]
        return float(times.min(initial=np.inf)) if np.isfinite(times).any() else 1.0

    @property
    def floors(self) -> Sizes:
        """The least sizes of gaps, rates and slips along the motion."""
        return self._measured[1]

    def gap_size(self, normal: int, row: Array, q: Array) -> float:
        """Return what the value of a normal on positions is compared with: its number, its row, positions."""
        own = np.where(self.table.arrays.turns, 0.0, np.abs(q))
        return float(self.floors.gap[normal, 0] + np.abs(row) @ own)

    def rate_size(self, normal: int, row: Array, v: Array) -> float:
        """Return what the rate of a normal is compared with, or its value where it is one on velocities."""
        return float(self.floors.rate[normal, 0] + np.abs(row) @ np.abs(v))

    def slip_size(self, slip: int, row: Array, v: Array) -> float:
        """Return what a component of slip is compared with."""
        return float(self.floors.slip[slip, 0] + np.abs(row) @ np.abs(v))

    @property
    def name(self) -> str:
        """The name of the system."""
        return self.model.system.name

    def values(self, t: Any) -> Array:
        """Return the parameters (p, 1), or (p, times) where they change, at times of the motion so far."""
        return self.params[:, None] if self.course is None else self.course.at(t)

    def terms(self, t: float, q: Array, v: Array) -> Terms:
        """Return the terms of the equations at one state."""
        kernels = self.model.kernels
        return dense_terms(kernels.terms(np.array([t]), q[:, None], v[:, None], self.params[:, None]))

    def many(self, t: Array, q: Array, v: Array) -> Terms:
        """Return the terms at many states (rows first)."""
        places, speeds = np.ascontiguousarray(q.T), np.ascontiguousarray(v.T)
        return dense_terms(self.model.kernels.terms(np.ascontiguousarray(t), places, speeds, self.values(t)))

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

    def state(self, t: float, q: Array, v: Array) -> dict[str, float]:
        """Return one state by names."""
        system = self.model.system
        named = zip((*system.coordinates, *system.velocities), (*q, *v), strict=True)
        return {**{item.name: float(value) for item, value in named}, "t": t}


LATER = (0.0, 1e-3, 0.1, 0.5, 1.0)
"""Parts of the time asked for at which forces are looked at where there are none at the start."""


def sizes_within(ground: Ground, until: float) -> CoordinateSizes:
    """Return the sizes (n,) of a motion, none of them zero: for errors of steps, no decision.

    At rest at the origin the forces give them, or forces to come; where nothing moves at all they are 1.
    """
    found = ground.sizes
    if known(found):
        return found
    assert ground.start is not None
    (t, q, v), turns = ground.start, ground.table.arrays.turns
    for part in LATER:
        terms = ground.terms(t + part * (until - t), q, v)
        with np.errstate(all="ignore"):
            a = terms.force[:, 0] / np.diagonal(terms.mass[:, :, 0])
        a = np.where(np.isfinite(a), a, 0.0)
        found = brief_sizes(ground.sizes, turns, a, until - t)
        if known(found):
            return found
    return CoordinateSizes(*(np.where(part > LEAST, part, part.max() if part.max() > LEAST else 1.0) for part in found))


def autonomous(ground: Ground) -> bool:
    """Whether nothing depends on the time."""
    return all(time not in expr.free_symbols for expr in ground.model.system.expressions().values())


def first_unsound(ground: Ground, t: Any, q: Any, v: Any) -> tuple[int, str]:
    """Return the first row of states with a coefficient that makes no sense, and what is wrong with it in words."""
    system, params = ground.model.system, ground.values(t)
    q, v = np.ascontiguousarray(q.T), np.ascontiguousarray(v.T)
    bounds = ground.model.kernels.terms(np.ascontiguousarray(t), q, v, params).bounds
    wrong = np.flatnonzero(~sound_laws(system, bounds))
    if not len(wrong):
        return len(t), ""
    row = int(wrong[0])
    try:
        require_laws(system, bounds[:, [row]], params[:, row if params.shape[1] > 1 else 0])
    except StateError as error:
        return row, f"The motion ends before t = {float(t[row]):.12g}: {error}"
    return len(t), ""
