"""What a sweep costs beside the verb itself: batches, single points, a store of a million points, two processes.

The peer is the verb's own batch, or a loop over the verb, in the same run; equal answers are the residual. The store's
lines stand beside the bytes on the disk.
Run: OMP_NUM_THREADS=1 python benchmarks/bench_sweep.py
"""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import zwang as zw

ROD = zw.gallery.get("painleve_rod")
MU, THETA = np.linspace(0.0, 2.0, 500), np.linspace(0.3, 1.4, 400)
POINTS = 1_000_000
REPEATS = 3


def least(ask: Callable[[], Any]) -> tuple[float, Any]:
    """Return the least time of some calls, and the last answer."""
    best, found = np.inf, None
    for _ in range(REPEATS):
        start = time.perf_counter()
        found = ask()
        best = min(best, time.perf_counter() - start)
    return best, found


def nothing(system: Any, params: Mapping[str, float]) -> dict[str, float]:
    """Answer at once."""
    return {"mu": params["mu"]}


def ten_milliseconds(system: Any, params: Mapping[str, float]) -> dict[str, float]:
    """Work for ten milliseconds."""
    end = time.process_time() + 0.01
    total = 0.0
    while time.process_time() < end:
        total += params["mu"]
    return {"mu": params["mu"]}


def whole(result: Any) -> Any:
    """Keep all of it."""
    return result


def batches() -> None:
    """A map, as a batch of the verb and as a sweep."""
    model = zw.compile(ROD.system)
    grid = {"mu": MU[:, None], "v_theta": np.zeros(len(THETA))}
    params = {**ROD.params, "mu": grid["mu"]}
    state = {**ROD.state, "v_theta": grid["v_theta"]}
    own, answer = least(lambda: zw.reactions(model, state, params))
    over = {"mu": MU, "v_theta": np.zeros(len(THETA))}
    swept, study = least(lambda: zw.sweep("reactions", model, ROD.state, ROD.params, over=over))
    names = np.array([item.name for item in type(answer.status.flat[0])])[answer.codes]
    wrong = int((names != study.values["status"]).sum())
    print(f"map of {names.size:,} states: own {own:.3f} s, sweep {swept:.3f} s", end="")
    print(f", ratio {swept / own:.2f}, {wrong} differ")


def single() -> None:
    """Single points, as a loop and as a sweep."""
    model, values = zw.compile(ROD.system), np.linspace(0.0, 2.0, 300)
    own, found = least(lambda: [zw.reactions(model, ROD.state, {**ROD.params, "mu": mu}) for mu in values])
    keep = ("status", "accelerations")
    swept, study = least(lambda: zw.sweep("reactions", model, ROD.state, ROD.params, over={"mu": values}, keep=keep))
    wrong = sum(a.status.name != b for a, b in zip(found, study.values["status"], strict=True))
    extra = (swept - own) / len(values)
    print(f"{len(values)} single points: loop {own:.3f} s, sweep {swept:.3f} s", end="")
    print(f", {extra * 1e6:.0f} us more a point, {wrong} differ")


def store() -> None:
    """A million points, with a store and without."""
    options: dict[str, Any] = {"over": {"mu": np.linspace(0, 1, POINTS)}, "keep": {"found": whole}}
    start = time.perf_counter()
    zw.sweep(nothing, ROD.system, None, ROD.params, **options)
    bare = time.perf_counter() - start
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.db"
        start = time.perf_counter()
        study = zw.sweep(nothing, ROD.system, None, ROD.params, store=path, **options)
        kept = time.perf_counter() - start
        size = sum(item.stat().st_size for item in Path(folder).iterdir())
        start = time.perf_counter()
        again = zw.load_result(path)
        read = time.perf_counter() - start
        same = bool((again.values["found.mu"] == study.values["found.mu"]).all())  # type: ignore[attr-defined]
    more = (kept - bare) / POINTS * 1e6
    print(f"store of {POINTS:,} points: {bare:.1f} s bare, {more:.1f} us more a point, {size / 1e6:.0f} MB", end="")
    print(f", read in {read:.1f} s, equal {same}")


def processes() -> None:
    """Points of ten milliseconds in one process and in two."""
    options: dict[str, Any] = {"over": {"mu": np.linspace(0, 1, 600)}, "keep": {"found": whole}}
    times = {}
    for workers in (1, 2):
        zw.sweep(
            ten_milliseconds, ROD.system, None, ROD.params, workers=workers, **{**options, "over": {"mu": [0.0, 1.0]}}
        )
        start = time.perf_counter()
        zw.sweep(ten_milliseconds, ROD.system, None, ROD.params, workers=workers, **options)
        times[workers] = time.perf_counter() - start
    print(f"600 points of 10 ms: one process {times[1]:.2f} s, two {times[2]:.2f} s, ratio {times[1] / times[2]:.2f}")


def main() -> None:
    """Print one line for each comparison."""
    with contextlib.suppress(KeyboardInterrupt):
        for part in (batches, single, processes, store):
            part()


if __name__ == "__main__":
    main()
