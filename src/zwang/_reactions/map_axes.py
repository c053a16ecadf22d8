"""Which inputs of a batch vary along which of its axes: what a map of it can be labelled with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def map_axes(
    shape: tuple[int, ...], *mappings: Mapping[Any, Any] | None
) -> tuple[tuple[tuple[str, ...], ...], dict[str, Array]]:
    """Return, for each axis of a batch, the names of the inputs that vary along it alone; and their values on it.

    Parameters
    ----------
    shape : tuple of int
        Of the batch.
    mappings : mappings symbol or name -> number or array
        The inputs, which broadcast to that shape.

    Examples
    --------
    >>> axes, values = map_axes((2, 3), {"theta": [[0.1], [0.2]], "y": [[1.0], [2.0]]}, {"mu": [0.5, 1, 1.5], "m": 1})
    >>> axes, values["theta"].tolist()
    ((('theta', 'y'), ('mu',)), [0.1, 0.2])
    """
    axes: list[list[str]] = [[] for _ in shape]
    values: dict[str, Array] = {}
    for mapping in mappings:
        for key, given in (mapping or {}).items():
            array = np.asarray(given, dtype=float)
            if array.size == 1:
                continue
            array = array.reshape((1,) * (len(shape) - array.ndim) + array.shape)
            along = [axis for axis in range(len(shape)) if _varies(array, axis)]
            if len(along) == 1:
                name = key if isinstance(key, str) else getattr(key, "name", str(key))
                axes[along[0]].append(name)
                values[name] = np.array(np.moveaxis(array, along[0], -1).reshape(-1, array.shape[along[0]])[0])
    return tuple(tuple(names) for names in axes), values


def _varies(array: Array, axis: int) -> bool:
    return array.shape[axis] > 1 and not bool(np.all(array == array.take([0], axis=axis)))
