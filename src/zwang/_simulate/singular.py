"""Singular points of the configuration space on the way of a motion: one function, called where a stretch ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zwang._results.motion import MotionStatus
from zwang._simulate.deciding import Decision
from zwang._simulate.moment import Moment
from zwang._simulate.stopping import Stop, stopped_at

if TYPE_CHECKING:
    from zwang._simulate.driver import Driver


def pass_singular(driver: Driver, moment: Moment, decision: Decision) -> Stop | tuple[Moment, Decision]:
    """Return how a motion goes on from a place where its rows become dependent, or why it stops there.

    Parameters
    ----------
    driver : Driver
        The motion so far: its ground, request and record.
    moment : Moment
        The last state that the steps reached.
    decision : Decision
        The mode until there.
    """
    reason = (
        f"At t = {moment.t:.12g} the constraints that hold become dependent on each other: the rank of their rows "
        "drops, and the equations don't say how the motion goes on."
    )
    return stopped_at(driver.record, MotionStatus.SINGULAR, moment.t, reason)
