"""Limit studies that several claims of paper 003 look at, made once for each system."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from zwang import Stiffness, System, limit
from zwang.papers.workshop import Workshop
from zwang.results import LimitStudy

FLOOR, CIRCLE, PENDULUM = "kozlov_neishtadt", "circle_particle", "ellipse_pendulum_cartesian"
STRENGTHS = tuple(float(value) for value in 10.0 ** np.arange(2, 9))
RODS = tuple(float(value) for value in 10.0 ** np.arange(4, 9))
ORDER_TOLERANCE = 0.03
"""What a fitted exponent may be off."""


@lru_cache(maxsize=32)
def _study(system: System, names: tuple[str, ...], values: tuple[Any, ...], weight: Any, until: float) -> LimitStudy:
    state, params, strengths = values
    return limit(
        system,
        names,
        dict(state),
        dict(params),
        by=Stiffness(weight=weight),
        until=until,
        strengths=strengths,
        workers=1,
    )


def study(
    shop: Workshop,
    name: str,
    *,
    weight: Any = 1,
    until: float = 1.0,
    strengths: tuple[float, ...] = STRENGTHS,
    **changes: float,
) -> LimitStudy:
    """Return the study of a gallery system with all its constraints made by springs."""
    system = shop.system(name)
    state, params = shop.values(name, **changes)
    values = (tuple(state.items()), tuple(params.items()), strengths)
    return _study(system, tuple(system.constraints.names), values, weight, until)


def three(shop: Workshop) -> dict[str, LimitStudy]:
    """Return the studies on which the theorem is tried.

    One is plane, one curved with forces without potential, one has three constraints at once, on a stretch without
    singular points.
    """
    return {
        "the example": study(shop, FLOOR),
        "a particle on a circle, swirled and dragged": study(shop, CIRCLE),
        "the pendulum on an ellipse (three constraints)": study(shop, PENDULUM, weight=2, until=0.3, strengths=RODS),
    }
