"""`Ranges`: how far forces can go that are not determined."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._results.named import missing
from zwang._results.storage import storable

Array = NDArray[np.float64]


@storable(shapes={"names": "k", "normal": "k 2", "tangential": "k 2 ..."})
@dataclass(frozen=True, eq=False)
class Ranges:
    """The least and greatest value of every force on a piece (infinite where there is no bound).

    ``ranges["tip"]`` is the mapping of 'normal' and 'tangential' to (low, high) for one contact.

    Attributes
    ----------
    names : tuple of str
    normal : (k, 2) array
    tangential : (k, 2) array, (k, 2, 2) if friction acts in planes (the last axis is low, high)

    In a map of many states both are (k, 2, ...), and the mapping has arrays.
    """

    names: tuple[str, ...]
    normal: Array
    tangential: Array

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def keys(self) -> tuple[str, ...]:
        """The names of the contacts."""
        return self.names

    def values(self) -> list[dict[str, Any]]:
        """The ranges of the contacts, in the order of their names."""
        return [self[name] for name in self.names]

    def items(self) -> list[tuple[str, dict[str, Any]]]:
        """Each name with its ranges."""
        return [(name, self[name]) for name in self.names]

    def __getitem__(self, name: str) -> dict[str, Any]:
        if name not in self.names:
            raise KeyError(missing(str(name), self.names, "The ranges have"))
        at = self.names.index(name)
        if self.normal.ndim > 2:  # of many states
            return {"normal": tuple(self.normal[at]), "tangential": tuple(self.tangential[at])}
        normal = (float(self.normal[at, 0]), float(self.normal[at, 1]))
        tangential = self.tangential[at]
        pair = (float(tangential[0]), float(tangential[1])) if tangential.ndim == 1 else tangential
        return {"normal": normal, "tangential": pair}
