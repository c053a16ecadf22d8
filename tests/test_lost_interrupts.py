"""Ctrl-C waits where it must, and is not lost where something swallows it."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable

import numpy as np
import pytest

import zwang as zw
from zwang._interrupts import noticed, noticing, raise_lost, taken, uninterrupted
from zwang._numerics.budget import UNBOUNDED, spend, spending

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


def swallowed(number: int = signal.SIGINT) -> None:
    """Ctrl-C, as in a callback that lets no exception through."""
    try:
        signal.raise_signal(number)
    except KeyboardInterrupt:
        return


def test_a_signal_waits_for_the_end_of_a_block_and_handlers_are_put_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    done: list[str] = []
    with pytest.raises(KeyboardInterrupt), uninterrupted(), uninterrupted():  # noqa: PT012
        signal.raise_signal(signal.SIGINT)
        done.append("all of it")
    assert done == ["all of it"] and signal.getsignal(signal.SIGINT) is before


def test_a_lost_signal_is_raised_where_a_loop_pays() -> None:
    before = signal.getsignal(signal.SIGINT)
    paid = 0
    with pytest.raises(KeyboardInterrupt), spending(UNBOUNDED):  # noqa: PT012
        for _ in range(5):
            swallowed()
            spend()
            paid += 1
    assert paid == 0 and signal.getsignal(signal.SIGINT) is before
    with spending(UNBOUNDED):
        spend()  # the one before is forgotten


def test_one_that_was_taken_is_not_raised_again() -> None:
    with spending(UNBOUNDED):
        with spending(UNBOUNDED):
            swallowed()
            taken()
        spend()
    with spending(UNBOUNDED):  # an inner block does not hide it from an outer one
        with spending(UNBOUNDED):
            swallowed()
        with pytest.raises(KeyboardInterrupt):
            spend()


def test_other_threads_neither_set_handlers_nor_raise() -> None:
    found: list[object] = []

    def work() -> None:
        with noticed(), uninterrupted(), spending(UNBOUNDED):
            found.append(noticing())
            raise_lost()

    with noticed():
        swallowed()
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        taken()
    assert found == [True]


def spring() -> zw.System:
    (x,), (vx,) = zw.coordinates("x")
    return zw.System(name="spring", kinetic=vx**2 / 2, potential=x**2 / 2, constraints=[])


@pytest.mark.parametrize("method", ["events", "timestepping"])
def test_a_motion_ends_by_a_ctrl_c_that_its_caller_swallowed(method: str) -> None:
    calls: list[float] = []

    def progress(time: float) -> None:
        calls.append(time)
        swallowed()

    options = {"step": 0.01} if method == "timestepping" else {}
    motion = zw.simulate(
        spring(), {"x": 1, "v_x": 0}, {}, until=1e5, method=method, progress=progress, **options,
    )  # fmt: skip
    assert motion.status.name == "INTERRUPTED" and 0 < motion.t[-1] < 1e5
    assert len(calls) <= 2
    assert np.isfinite(motion.q).all()


def test_a_limit_ends_by_one_ctrl_c_even_where_it_is_swallowed() -> None:
    entry = zw.gallery.get("circle_particle")
    calls: list[float] = []

    def progress(share: float) -> None:
        calls.append(share)
        swallowed()

    strengths = [1e2, 1e3, 1e4]
    with pytest.raises(KeyboardInterrupt):
        zw.limit(
            entry.system, "circle", entry.state, entry.params, by=zw.Stiffness, until=0.2, strengths=strengths,
            progress=progress,
        )  # fmt: skip
    assert len(calls) == 1


@pytest.mark.parametrize("verb", ["reactions", "trace"])
def test_verbs_put_the_handlers_back(verb: str) -> None:
    before = signal.getsignal(signal.SIGINT)
    entry = zw.gallery.get("four_bar")
    ask: dict[str, Callable[[], object]] = {
        "reactions": lambda: zw.reactions(entry.system, entry.state, entry.params),
        "trace": lambda: zw.trace(entry.system, entry.params),
    }
    ask[verb]()
    assert signal.getsignal(signal.SIGINT) is before
