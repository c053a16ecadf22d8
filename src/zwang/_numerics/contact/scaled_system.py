"""The dense system in units of its own: W with a unit diagonal, the largest entry of b one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.contact.delassus import FrictionArrays

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ScaledSystem:
    """W^T, b and the laws for forces divided by `unit`; accelerations are divided by scale * cause.

    Attributes
    ----------
    wt : (m, m) array
        The transpose of W, so that what one force does to all accelerations stands in one row.
    b : (m,) array
    law : (k, 2) array
    unit : (m,) array
        Forces of the arrays = unit * forces here.
    """

    wt: Floats
    b: Floats
    law: Floats
    unit: Floats


def scaled_system(arrays: FrictionArrays) -> ScaledSystem:
    """Return the scaled system of the arrays (dense)."""
    scale = arrays.row_scale
    wt = np.ascontiguousarray((arrays.delassus / scale[:, None] / scale).T)
    return ScaledSystem(wt, arrays.scaled_b, arrays.scaled_law, arrays.unit)
