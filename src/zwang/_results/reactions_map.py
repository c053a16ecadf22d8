"""`ReactionsMap`: status and number of solutions over a batch of states and parameters."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._results import storage
from zwang._results.base import Provenance
from zwang._results.reactions import ReactionsStatus


@storage.storable
@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ReactionsMap:
    """How many accelerations the laws allow at each state of a batch.

    Attributes
    ----------
    name : str
        Of the system.
    codes : int array of the shape of the batch
        Place of each state's status in `ReactionsStatus`.
    counts : int array of the shape of the batch
        The number of distinct accelerations; 0 where there is none or the state is inadmissible.
    residual : float
        The largest relative error of the equations of a counted solution.
    provenance : Provenance
    """

    name: str
    codes: NDArray[np.int8]
    counts: NDArray[np.int64]
    residual: float
    provenance: Provenance

    @property
    def status(self) -> Any:
        """The status of each state, an array of `ReactionsStatus`."""
        return np.array(list(ReactionsStatus), dtype=object)[self.codes]

    def save(self, path: str | Path) -> Path:
        """Write the map to ``.npz``, or to netCDF (``.nc``, extra ``io``)."""
        return storage.save(self, Path(path))

    def __repr__(self) -> str:
        lines = [f"ReactionsMap of '{self.name}': {self.codes.size} states of shape {self.codes.shape}"]
        for place, status in enumerate(ReactionsStatus):
            share = int(np.count_nonzero(self.codes == place))
            if share:
                numbers = sorted({int(item) for item in np.unique(self.counts[self.codes == place])})
                lines.append(f"  {status.name:<13}  {share:>9} states, accelerations: {', '.join(map(str, numbers))}")
        return "\n".join([*lines, f"  residual {self.residual:.1e}"])
