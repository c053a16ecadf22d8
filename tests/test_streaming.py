"""Long motions that go to their file while they are computed."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

import zwang as zw
from zwang._simulate import driver, recording


def peak(until: float, path: Path) -> tuple[int, zw.Motion]:
    (x,), (vx,) = zw.coordinates("x")
    spring = zw.System(name="spring", kinetic=vx**2 / 2, potential=x**2 / 2)
    tracemalloc.start()
    motion = zw.simulate(spring, {"x": 1, "v_x": 0}, {}, until=until, out=path)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found, motion


def test_memory_does_not_grow_with_the_motion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "KEPT", 1000)
    monkeypatch.setattr(driver, "CHUNK", 500)
    peak(3000.0, tmp_path / "first.npz")  # modules are loaded and kernels made
    short, _ = peak(6000.0, tmp_path / "short.npz")
    long, motion = peak(12000.0, tmp_path / "long.npz")
    # What stays of a piece that was written is the table of contents of the file.
    assert long < 1.3 * short
    assert long < 3e6  # the whole with its dense output takes 8 MB
    assert len(motion.t) < 2000
    whole = zw.load_result(tmp_path / "long.npz")
    assert len(whole.t) > 15_000
    assert whole.t[-1] == 12000.0
    # T + V = 1/2 all the way; the note gives its range with 15 digits.
    words = motion.reason.split("T + V was between ")[1].split()
    assert float(words[0]) == pytest.approx(0.5, abs=1e-7)
    assert float(words[2]) == pytest.approx(0.5, abs=1e-7)
    assert int(words[4]) > 10
