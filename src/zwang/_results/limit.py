"""`LimitStudy`: an ideal motion beside realized ones of growing strength. `Recommendation`: the strength to take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._plot.style import titling
from zwang._results.base import Result
from zwang._results.motion import Motion
from zwang._results.storage import storable
from zwang.errors import DeclarationError, nearest

Array = NDArray[np.float64]


@storable
class LimitStatus(Enum):
    """What the realized motions do as the strength grows."""

    CONVERGES = "The realized motions tend to the ideal one."
    CONVERGES_ELSEWHERE = "The realized motions tend to a common limit that is not the ideal motion."
    DOES_NOT_CONVERGE = "The realized motions tend to no limit."
    UNDECIDED = "The strengths that were tried don't decide whether there is a limit."


@storable
@dataclass(frozen=True)
class Order:
    """A power of the strength, fitted.

    Attributes
    ----------
    value : float
        The exponent p of error ~ strength^p; nan where too few points are above the floor of rounding.
    uncertainty : float
        Two standard errors of the fit, or more where the slope drifts.
    coefficient : float
        The factor C of error = C strength^p.
    used : tuple of int
        Numbers of the strengths that the fit used.
    """

    value: float
    uncertainty: float
    coefficient: float = float("nan")
    used: tuple[int, ...] = ()

    def __float__(self) -> float:
        return self.value

    def __iter__(self) -> Any:
        return iter((self.value, self.uncertainty))

    def __getitem__(self, place: int) -> float:
        return (self.value, self.uncertainty)[place]

    def __repr__(self) -> str:
        return f"{self.value:.3f} +- {self.uncertainty:.3f}"


class _Readable(dict[str, Order]):
    """Quantity -> order; printed in one line."""

    def __repr__(self) -> str:
        # Adding zero makes -0.00 plain 0.00.
        return ", ".join(f"{name} {round(order.value, 2) + 0.0:.2f}" for name, order in self.items())


@storable(shapes={"t": "k+1", "q": "k+1 n", "v": "k+1 n", "extra_force": "k+1 n", "actions": "k+1 m", "distances": "s"})
@dataclass(frozen=True, eq=False)
class CommonLimit:
    """What realized motions tend to where that is not the ideal motion.

    Attributes
    ----------
    sentence : str
        What it is.
    t : (k + 1,)
    q, v : (k + 1, n)
        The motion itself; the velocity without the fast oscillation.
    extra_force : (k + 1, n)
        Generalized force that the ideal equations lack; nan where it is not known.
    actions : (k + 1, m)
        Energy over frequency of each fast oscillation, in units of strength^(1/2); empty where there is none.
    distances : (s,)
        Largest distance of each realized motion to it, in position.
    order : Order
        Of these.
    """

    sentence: str
    t: Array
    q: Array
    v: Array
    extra_force: Array
    actions: Array
    distances: Array
    order: Order


@storable(name="Verdict")
@dataclass(frozen=True, eq=False)
class LimitVerdict:
    """What a limit study found, as a sentence with the data it rests on.

    Attributes
    ----------
    status : LimitStatus
    sentence : str
    order : Order or None
        Of the position, towards the limit that is named.
    limit : CommonLimit or None
        What the realized motions tend to, where it is not the ideal motion.
    """

    status: LimitStatus
    sentence: str
    order: Order | None = None
    limit: CommonLimit | None = None

    def __str__(self) -> str:
        return self.sentence

    def __repr__(self) -> str:
        return f"{self.status.name}: {self.sentence}"


@storable(
    shapes={
        "coordinates": "n",
        "strengths": "s",
        "errors": "s",
        "t": "k+1",
        "q": "s k+1 n",
        "v": "s k+1 n",
        "averages": "s k",
        "lowest": "s k",
        "highest": "s k",
        "mean_force": "k+1",
        "ideal_force": "k+1",
        "energy": "s",
        "energy_over_time": "s k",
        "windows": "w 2",
        "costs": "s",
        "floor": "s",
        "bound": "b",
        "violation": "b",
    }
)
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class LimitStudy(Result):
    """An ideal motion beside realized ones over growing strengths; made by `limit`.

    Attributes
    ----------
    name : str
        Of the system.
    coordinates : tuple of str
    realized : tuple of str
        Names of the constraints that were realized, and by what, in words.
    strengths : (s,)
        Rising.
    errors : mapping
        Quantity -> (s,): the largest distance over time between realized and ideal motion. Quantities: position,
        velocity, tangential velocity, normal velocity, integral (of the realized force minus the ideal reaction) and
        force; Euclidean in the declared coordinates.
    orders : mapping
        Quantity -> `Order`, the fitted power of the strength.
    t : (k + 1,)
        Edges of the cells of time at which motions are kept.
    q, v : (s, k + 1, n)
        The realized motions.
    averages, lowest, highest : mapping
        Constraint -> (s, k): mean, least and greatest realized force in each cell.
    mean_force : mapping
        Constraint -> (k + 1,): the weak limit of the force, from moving averages at the largest strength above the
        floor of rounding.
    ideal_force : mapping
        Constraint -> (k + 1,): the ideal reaction.
    energy : (s,)
        Mean energy of the fast oscillation: twice the kinetic energy across the constraints [J].
    energy_over_time : (s, k)
        The same in each cell of time.
    energy_removed : float
        Kinetic energy that projecting the start of the ideal motion took away [J].
    ideal : Motion or None
        Its provenance names a tier of its own.
    verdict : LimitVerdict
    windows : (w, 2)
        Times round impacts of the ideal motion between which only positions were compared.
    costs : mapping
        'steps', 'evaluations', 'seconds' -> (s,).
    floor : (s,)
        Estimated error of integration and rounding in the positions.
    notes : tuple of str
        What else should be known: an ideal motion that stopped, strengths that failed.
    conditions : mapping
        Condition of the theorem on springs (Kozlov and Neishtadt 1990), in words -> whether it holds along the ideal
        motion; empty where the theorem doesn't speak of the realization.
    bound : (s,)
        For `Viscosity`: the largest violation b/rho that is possible a priori, where it is known, else nan. b is the
        largest rate at which the other forces drive the constraints, along the ideal motion.
    violation : (s,)
        The largest violation of a realized constraint on velocities that was measured; nan for those on positions.
    """

    status: LimitStatus
    name: str
    coordinates: tuple[str, ...]
    realized: tuple[str, ...]
    way: str
    strengths: Array
    errors: Mapping[str, Array]
    orders: Mapping[str, Order]
    t: Array
    q: Array
    v: Array
    averages: Mapping[str, Array]
    lowest: Mapping[str, Array]
    highest: Mapping[str, Array]
    mean_force: Mapping[str, Array]
    ideal_force: Mapping[str, Array]
    energy: Array
    energy_over_time: Array
    energy_removed: float
    ideal: Motion | None
    verdict: LimitVerdict
    windows: Array
    costs: Mapping[str, Array]
    floor: Array
    notes: tuple[str, ...] = field(default=())
    conditions: Mapping[str, bool] = field(default_factory=dict)
    bound: Array = field(default_factory=lambda: np.zeros(0))
    violation: Array = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        object.__setattr__(self, "orders", _Readable(self.orders))
        super().__post_init__()

    def _numbers(self) -> Mapping[str, Any]:
        return {"strengths": self.strengths, "times": self.t}

    def _check(self) -> str:
        names = [set(item) for item in (self.averages, self.lowest, self.highest, self.mean_force, self.ideal_force)]
        empty = not len(self.strengths) and self.status is not LimitStatus.UNDECIDED
        if any(item != names[0] for item in names) or not self.realized or empty:
            return "its forces are not those of the same constraints, or it has none"
        if len(self.bound) not in (0, len(self.strengths)):  # files of the first version have none
            return "its bounds are not as many as its strengths"
        return "" if set(self.orders) <= set(self.errors) else "it has orders of quantities without errors"

    @property
    def force(self) -> Mapping[str, Array]:
        """Constraint -> (s, k, 2): the range of the realized force in each cell of time, its envelope."""
        return {name: np.stack([low, self.highest[name]], axis=-1) for name, low in self.lowest.items()}

    @property
    def reason(self) -> str:
        """Why nothing was decided, where nothing was: a budget that is spent, for example."""
        return self.verdict.sentence if self.status is LimitStatus.UNDECIDED else ""

    @property
    def limit(self) -> CommonLimit | None:
        """What the realized motions tend to, where it is not the ideal motion."""
        return self.verdict.limit

    @property
    def extra_force(self) -> Array | None:
        """Generalized force (k + 1, n) that the limit has and the ideal motion lacks; None where there is none."""
        return None if self.verdict.limit is None else self.verdict.limit.extra_force

    @property
    def deflection(self) -> Array:
        """Distance of each realized motion from the ideal one at the edges of the cells (s, k + 1)."""
        ideal = self.ideal_positions
        return np.asarray(np.linalg.norm(self.q - ideal[None], axis=-1))

    @property
    def ideal_positions(self) -> Array:
        """Positions of the ideal motion at the edges of the cells (k + 1, n); nan where it is not known."""
        if self.ideal is None:
            return np.full(self.q.shape[1:], np.nan)
        state = self.ideal.at(np.clip(self.t, self.ideal.t[0], self.ideal.t[-1]))
        return np.stack([np.asarray(state[name]) for name in self.coordinates], axis=-1)

    @titling
    def plot(
        self,
        what: str = "errors",
        *,
        constraint: str | None = None,
        strength: int = -1,
        ax: Any = None,
        title: bool | str = True,
    ) -> Any:
        """Draw the study and return the Axes (extra ``plot``).

        Parameters
        ----------
        what : {'errors', 'force', 'motions'}
            Errors over the strength with their slopes; the oscillating force with its mean and envelope beside the
            ideal reaction; distances to the ideal motion over time, fanning in.
        constraint : str, optional
            Whose force; by default the first.
        strength : int
            Number of the strength whose force is drawn.
        title : bool or str
            False leaves it out; a text stands in its place.
        ax : Axes, optional
        """
        from zwang._plot import limits

        if not len(self.strengths):
            raise DeclarationError(
                f"{self.name}: no realized motion reached the end, so there is nothing to draw. {self.reason}"
            )
        if what == "errors":
            return limits.draw_errors(
                self.strengths, self.errors, self.orders, heading=f"{self.name}: errors over strength", ax=ax
            )
        if what == "force":
            name = self.realized[0] if constraint is None else constraint
            if name not in self.averages:
                raise DeclarationError(f"{self.name}: '{name}' was not realized. {nearest(name, list(self.averages))}")
            ranges = (self.lowest[name][strength], self.highest[name][strength])
            strong = float(self.strengths[strength])
            lines = (self.averages[name][strength], self.mean_force[name], self.ideal_force[name])
            return limits.draw_force(
                self.t, ranges, *lines, name=name, strength=strong, heading=f"{self.name}: force of {name}", ax=ax
            )
        if what == "motions":
            return limits.draw_fan(
                self.t, self.deflection, self.strengths, heading=f"{self.name}: realized motions", ax=ax
            )
        raise DeclarationError(f"{self.name}: a study has no picture '{what}'. Ask for 'errors', 'force' or 'motions'.")

    def __repr__(self) -> str:
        return study_text(self)


@storable
class RecommendationStatus(Enum):
    """Whether a strength was found."""

    VERIFIED = "A run at this strength meets the error."
    NOT_FOUND = "No strength that was tried meets the error."


@storable
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Recommendation(Result):
    """The strength that meets an error, what it costs, and how it was verified; made by `recommend`.

    Attributes
    ----------
    name : str
        Of the system.
    strength : float
        The smallest strength found that meets the error, rounded up to two digits.
    error : float
        The error asked for, in the positions.
    achieved : float
        The error of the run that verified it.
    velocity_error, reaction_error : float
        What else that run missed the ideal motion by: in the velocity, and in the force, relative to the largest ideal
        reaction. Without damping the force oscillates and this stays of order 1 for every strength.
    mean_reaction_error : float
        The same for the moving average of the force.
    step : float
        The step that an explicit method can take at that strength [s].
    steps : int
        How many the run took.
    seconds : float
        How long it took.
    frequency : float
        The fastest rate at that strength [rad/s].
    reason : str
        Where no strength meets the error: why.
    bound, violation : float
        For `Viscosity`: the largest violation b/rho that is possible a priori at that strength, and the one that the
        run had; nan for springs, and where the motion starts with a violation.
    """

    status: RecommendationStatus
    name: str
    way: str
    strength: float
    error: float
    achieved: float
    velocity_error: float
    reaction_error: float
    mean_reaction_error: float
    step: float
    steps: int
    seconds: float
    frequency: float
    reason: str = ""
    bound: float = float("nan")
    violation: float = float("nan")

    def _numbers(self) -> Mapping[str, Any]:
        verified = self.status is RecommendationStatus.VERIFIED
        return {"strength": self.strength, "achieved error": self.achieved} if verified else {}

    def __repr__(self) -> str:
        return recommendation_text(self)


def study_text(study: LimitStudy) -> str:
    """Return the summary a person wants."""
    if not len(study.strengths):
        first = f"LimitStudy of '{study.name}': {study.status.name}. {study.verdict.sentence}"
        return "\n".join([first, *(f"  {note}" for note in study.notes)])
    low, high = float(study.strengths[0]), float(study.strengths[-1])
    lines = [
        f"LimitStudy of '{study.name}': {study.status.name}. {study.verdict.sentence}",
        f"  {study.way}, {len(study.strengths)} strengths from {low:.3g} to {high:.3g}, "
        f"t = {study.t[0]:.6g} to {study.t[-1]:.6g}",
    ]
    for name, order in study.orders.items():
        errors = study.errors[name]
        known = np.isfinite(errors)
        last = f"{errors[known][-1]:.2e}" if known.any() else "unknown"
        fitted = "no order" if np.isnan(order.value) else f"order {order.value:+.3f} +- {order.uncertainty:.3f}"
        lines.append(f"  {name:<20}{fitted:<26}{last} at the last strength")
    if study.energy_removed > 0:
        lines.append(f"  energy removed from the start of the ideal motion {study.energy_removed:.6g} J")
    lines.append(f"  energy of the fast oscillation {study.energy[0]:.3g} to {study.energy[-1]:.3g} J")
    if len(study.bound) and np.isfinite(study.bound[-1]):
        lines.append(
            f"  violation {study.violation[0]:.3g} to {study.violation[-1]:.3g}, at most b/rho = {study.bound[0]:.3g} "
            f"to {study.bound[-1]:.3g}"
        )
    lines += [f"  {note}" for note in study.notes]
    return "\n".join(lines)


def recommendation_text(found: Recommendation) -> str:
    """Return the summary a person wants."""
    lines = [f"Recommendation for '{found.name}': {found.status.name}. {found.status.value}"]
    if found.reason:
        lines.append(f"  {found.reason}")
    lines += [
        f"  {found.way}, strength {found.strength:.3g} for a position error of {found.error:.3g}: "
        f"the run that verified it missed by {found.achieved:.3g}",
        f"  velocity error {found.velocity_error:.3g}; reaction error {found.reaction_error:.1%}, "
        f"of its moving average {found.mean_reaction_error:.1%}",
        f"  cost: steps of {found.step:.3g} s (rate {found.frequency:.3g} rad/s), {found.steps} of them",
    ]
    if np.isfinite(found.bound):
        lines.append(f"  violation {found.violation:.3g}, at most b/rho = {found.bound:.3g}")
    return "\n".join(lines)
