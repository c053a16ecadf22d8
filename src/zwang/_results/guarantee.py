"""`Guarantee`: a statement about every state and parameter of a box: proved, refuted, or left open where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._plot.style import titling
from zwang._results.base import Result
from zwang._results.storage import storable

Array = NDArray[np.float64]


@storable
class GuaranteeStatus(Enum):
    """What is known of a claim."""

    PROVED = "The claim holds at every state and parameter of the box that satisfies the constraints."
    REFUTED = "The claim fails at the witness, which lies in the box and satisfies the constraints."
    UNDECIDED = "The claim was neither proved nor refuted; the boxes that are left are listed."


@storable
@dataclass(frozen=True, eq=False, kw_only=True)
class Witness:
    """Where a claim fails.

    Attributes
    ----------
    state, params : mappings
    reason : str
        What is the case there, with the margin by which the claim fails.
    """

    state: Mapping[str, float]
    params: Mapping[str, float]
    reason: str

    def __repr__(self) -> str:
        shown = ", ".join(f"{name} = {value:.8g}" for name, value in {**self.state, **self.params}.items())
        return f"{shown}: {self.reason}"


@storable(shapes={"boxes": "k d 2"})
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Guarantee(Result):
    """A claim about a box, proved by outward-rounded arithmetic on parts that cover it, or refuted by a witness.

    Attributes
    ----------
    claim : str
    name : str
        Of the system.
    witness : Witness or None
    variables : tuple of str
        What spans the box.
    box : mapping
    boxes : (k, d, 2) array
        The parts that are left, low and high of each variable.
    share : float
        Their part of the whole volume.
    parts : int
        Parts that were looked at.
    closed : tuple of str
        The contacts that are closed.
    reason : str
    """

    status: GuaranteeStatus
    claim: str
    name: str
    witness: Witness | None = None
    variables: tuple[str, ...] = ()
    box: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    boxes: Array = field(default_factory=lambda: np.zeros((0, 0, 2)))
    share: float = 0.0
    parts: int = 0
    closed: tuple[str, ...] = ()
    reason: str = ""

    @titling
    def plot(self, x: str | None = None, y: str | None = None, *, ax: Any = None, title: bool | str = True) -> Any:
        """Draw the boxes that are left, and the witness, over two variables; return the Axes (extra ``plot``).

        Parameters
        ----------
        x, y : str, optional
            By default the first two variables.
        title : bool or str
            False leaves it out; a text stands in its place.
        ax : Axes, optional
        """
        from zwang._plot.guarantee import draw_guarantee

        return draw_guarantee(self, x, y, ax)

    def __repr__(self) -> str:
        lines = [f"Guarantee of '{self.name}', {self.claim}: {self.status.name}. {self.status.value}"]
        if self.witness is not None:
            lines.append(f"  {self.witness!r}")
        if len(self.boxes):
            lines.append(f"  {len(self.boxes)} boxes are left, {self.share:.2g} of the volume")
        if self.reason:
            lines.append(f"  {self.reason}")
        lines.append(f"  {self.parts} parts by interval arithmetic")
        return "\n".join(lines)
