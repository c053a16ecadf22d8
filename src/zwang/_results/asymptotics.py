"""`Asymptotics`: how multipliers and reactions grow on the ways into a singular point, and how many there are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._plot.style import titling
from zwang._results.base import Result
from zwang._results.storage import storable
from zwang.errors import DeclarationError

BINDS_FRICTION = "|b| = a"
"""Beyond the threshold friction no longer outweighs: one solution both ways."""
BINDS_LOAD = "c = 0"
"""Beyond the threshold the load of the guide has changed its sign: solutions come or go in pairs."""


class ThresholdValue(float):
    """A number that says which condition ends there, in `binds`.

    Examples
    --------
    >>> value = ThresholdValue(0.0049, BINDS_FRICTION)
    >>> value < 0.005, value.binds
    (True, '|b| = a')
    """

    binds: str

    def __new__(cls, value: float, binds: str = "") -> ThresholdValue:
        """Return the number with its condition."""
        made = super().__new__(cls, value)
        made.binds = binds
        return made

    def __getnewargs__(self) -> tuple[float, str]:  # type: ignore[override]
        """Return what a copy in another process is made of."""
        return float(self), self.binds


@storable
class AsymptoticsStatus(Enum):
    """How prediction and measurement go together."""

    CONFIRMED = "Every measured exponent is the predicted one."
    CONTRADICTED = "A measured exponent differs from the predicted one."
    PREDICTED = "The exponents are predicted; nothing could be measured."
    MEASURED = "The exponents are measured; they could not all be predicted."
    ISOLATED = "No branch leads into the point."
    UNRESOLVED = "The branches at the point could not be told apart."
    UNFINISHED = "A budget was spent before everything was measured; see the reason."
    PERSISTENT = (
        "The perturbed curves stay singular next to the point: this constraint takes no part in the dependence."
    )


@storable(shapes={"x": "p", "values": "p"})
@dataclass(frozen=True, kw_only=True)
class Growth:
    """One quantity on one way into the point: quantity ~ coefficient * x^exponent.

    x is the distance to the singular point along a branch, or abs(eps) through the perturbed family.

    Attributes
    ----------
    approach : str
        'branch 0', ... or 'eps > 0', 'eps < 0'.
    sign : int
        Of eps; 0 along a branch.
    branch : int
        Number of the half-branch, or of the point s_eps among those of this sign.
    quantity : str
        Name of a constraint (its multiplier), 'friction at NAME' or 'normal force at NAME'.
    exponent : float
        Measured with eighty digits; infinite where the quantity is zero all along, nan where nothing was measured.
    predicted : float
        From the series of the local data; nan where it could not be had.
    generic : float
        What the local type gives for a mass matrix, forces and friction in general position.
    coefficient : float
        Measured leading coefficient, with sign.
    predicted_coefficient : float
    error : float
        Of the measured exponent: the last change of its extrapolation.
    friction : str
        'without', or the signs assumed for the multipliers with friction: '+', '-', ...
    direction : str
        Of the motion: '+', '-', or 'both' where it makes no difference. Along a branch '+' leads away from the point;
        through the family it is the direction of `velocity`.
    side : str
        'before' or 'after' the point, where the slip vanishes at it; else empty.
    consistent : bool
        Whether the multipliers have the assumed signs, so that this is a solution.
    solutions : mapping str -> int
        Number of solutions with friction for each direction of motion (on this side).
    persists : bool or None
        Whether exponent and number of solutions are the same at neighbouring points of the perturbed curve; None along
        a branch.
    threshold : float
        The smallest abs(eps) on this way at which the number of solutions changes; nan where there is none.
    velocity : mapping
        The direction '+' in the limit, by coordinate; of length one.
    x, values : arrays
        Where it was measured, and what.
    """

    approach: str
    sign: int
    branch: int
    quantity: str
    exponent: float
    predicted: float
    generic: float
    coefficient: float
    predicted_coefficient: float
    error: float
    friction: str
    direction: str
    side: str
    consistent: bool
    solutions: Mapping[str, int]
    persists: bool | None
    threshold: float
    velocity: Mapping[str, float]
    x: NDArray[np.float64]
    values: NDArray[np.float64]

    def __repr__(self) -> str:
        return f"Growth({self.approach}, {self.quantity}, friction {self.friction}: exponent {self.exponent:.6g})"


@storable
@dataclass(frozen=True, kw_only=True)
class Threshold:
    """Where the number of solutions changes: the value of eps, the point, and the way on which it lies.

    Attributes
    ----------
    eps : float
    approach : str
    branch : int
    point : mapping
    binds : str
        Which condition ends there: ``|b| = a``, beyond which there is one solution both ways, or 'c = 0', beyond which
        the load of the guide has the other sign for a direction of motion, whose two solutions come or go. The letters
        are those of a lam + b abs(lam) = c.
    """

    eps: float
    approach: str
    branch: int
    point: Mapping[str, float]
    binds: str = BINDS_FRICTION

    def __repr__(self) -> str:
        where = ", ".join(f"{name} = {value:.6g}" for name, value in self.point.items())
        return f"Threshold(eps = {self.eps:.8g} at {where}, {self.binds})"


@storable
@dataclass(frozen=True, kw_only=True, repr=False)
class Asymptotics(Result):
    """What multipliers, reactions and the number of solutions do on every way into a singular point.

    Attributes
    ----------
    name : str
        Of the system.
    point : mapping
        The singular point, by coordinate.
    kind : str
        Its local type in words.
    perturbed : str or None
        The constraint that was perturbed.
    section : str
        What picks the point on each perturbed curve.
    rows : tuple of Growth
    thresholds : tuple of Threshold
    speed : float
        Of the motion, in the sense of `speed_of`.
    speed_of : str
    notes : tuple of str
    reason : str
        The budget that was spent, in words; empty where none was.
    perturbation : str
        What stands in the place of the perturbed constraint, in words.
    residual : float
        Largest error of a measured exponent.
    """

    status: AsymptoticsStatus
    name: str
    point: Mapping[str, float]
    kind: str
    perturbed: str | None
    section: str
    rows: tuple[Growth, ...]
    thresholds: tuple[Threshold, ...]
    speed: float
    speed_of: str
    notes: tuple[str, ...] = ()
    reason: str = ""
    perturbation: str = ""

    def _numbers(self) -> Mapping[str, Any]:
        return {"coordinates of the point": self.point, "speed": self.speed}

    @property
    def threshold(self) -> ThresholdValue:
        """The smallest abs(eps) at which the number of solutions changes, on any way; nan where there is none.

        A float with ``threshold.binds``, the condition that ends there: ``|b| = a`` or 'c = 0'; empty where it is nan.
        """
        first = min(self.thresholds, key=lambda item: abs(item.eps), default=None)
        return ThresholdValue(float("nan")) if first is None else ThresholdValue(abs(first.eps), first.binds)

    @property
    def normal_form(self) -> Any:
        """The system next to the point in the coordinates of a normal form, y^2 - x^2 or y^2 - x^4 (`NormalForm`).

        It has the `change`, `g1`, `g2`, `g3` and a `system`, and is found when it is first asked for. It is for two
        coordinates and one constraint, at a crossing of two branches or a tangency of order one.
        """
        kept = self.__dict__
        if "_find_normal_form" not in kept:
            raise DeclarationError(
                f"{self.name}: a result that was saved or sent has its rows and not its system: ask asymptotics again "
                "for the normal form."
            )
        if "_normal_form" not in kept:
            kept["_normal_form"] = kept["_find_normal_form"]()
        return kept["_normal_form"]

    def select(self, **wanted: Any) -> tuple[Growth, ...]:
        """Return the rows with these attributes.

        Examples
        --------
        ``found.select(sign=1, friction="without")``
        """
        return tuple(row for row in self.rows if all(getattr(row, key) == value for key, value in wanted.items()))

    @titling
    def plot(self, *, ax: Any = None, title: bool | str = True) -> Any:
        """Draw the growth of every quantity on logarithmic axes; return the Axes (extra ``plot``)."""
        from zwang._plot.asymptotics import draw_growth

        return draw_growth(self, ax=ax)

    def __repr__(self) -> str:
        from zwang._results.asymptotics_text import as_text

        return as_text(self)
