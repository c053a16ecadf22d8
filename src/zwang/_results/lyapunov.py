"""`Lyapunov`: how fast nearby motions part, on average."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._plot.style import titling
from zwang._results.base import Result
from zwang._results.motion import Motion
from zwang._results.storage import storable

Array = NDArray[np.float64]


@storable
class LyapunovStatus(Enum):
    """What came of Lyapunov exponents."""

    COMPUTED = "The exponents were averaged over the whole motion."
    NOT_DIFFERENTIABLE = "The motion has no derivative from some instant on; the exponents are averages until then."
    UNFINISHED = "The motion did not come to its end; the exponents are averages until then."


@storable(shapes={"exponents": "k", "uncertainty": "k", "times": "m", "history": "m k"})
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Lyapunov(Result):
    """Lyapunov exponents of a motion, the largest first.

    `residual` is by how much their sum misses the mean divergence plus the mean of ln|det| of the jumps, per unit of
    time; nan where constraints hold, or not all of them were asked for.

    Attributes
    ----------
    name : str
        Of the system.
    exponents : (k,) array
        [1/s]; -inf for directions that sticking or plastic impacts destroy.
    uncertainty : (k,) array
        Standard errors, from the means over twenty parts of the motion.
    times : (m,) array
    history : (m, k) array
        The averages until these times.
    motion : Motion
    instant : float
        From when on there is no derivative; nan where there is one all the way.
    reason : str
    """

    status: LyapunovStatus
    name: str
    exponents: Array
    uncertainty: Array
    times: Array
    history: Array
    motion: Motion
    instant: float = float("nan")
    reason: str = ""

    @titling
    def plot(self, *, ax: Any = None, title: bool | str = True) -> Any:
        """Draw how the averages settle; return the Axes (extra ``plot``)."""
        from zwang._plot.sensitivity import draw_history

        return draw_history(self, ax=ax)

    def __repr__(self) -> str:
        lines = [f"Lyapunov exponents of '{self.name}': {self.status.name}. {self.status.value}"]
        if self.reason:
            lines.append(f"  {self.reason}")
        pairs = zip(self.exponents, self.uncertainty, strict=True)
        lines += [f"  {value:.6g}" + (f" +- {error:.1g}" if np.isfinite(value) else "") for value, error in pairs]
        return "\n".join(lines)
