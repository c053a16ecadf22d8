"""The backend `cuda` on the GPU of this machine: accelerations, ensembles, maps of reactions, verbs, long chains.

The pendulum on an ellipse in Cartesian coordinates (4 coordinates, 3 constraints). Beside accelerations the backend
`batch` (JAX) on the same states, beside ensembles the lanes of the processor, and a copy in the GPU's memory for scale.
Times are minima over repeats with the device idle before and after; residuals and differences are computed on the host
for a part of the states.
Run: PYTHONPATH=src python benchmarks/bench_gpu.py [states] [motions]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import zwang as zw
from zwang._compile.given_values import resolve
from zwang._derive.motion_modes import ActiveSet
from zwang._kernels.terms import Solved
from zwang._numerics.tolerances import Tolerances
from zwang._reactions.maps import admission_of, count_table
from zwang.gallery.pendulum_on_ellipse import place

ENTRY = zw.gallery.get("ellipse_pendulum_cartesian")
PARAMS = {**ENTRY.params, "a": -0.4, "g": 1.0}
CHECKED, UNTIL = 1000, 10.0


def starts(count: int) -> dict[str, np.ndarray]:
    """Return states on the constraints: a thousand different ones, repeated."""
    rng = np.random.default_rng(3)
    angles, rates = rng.uniform(-0.5, -0.1, 4096), rng.uniform(-0.5, 0.5, 4096)
    found = [place(PARAMS, float(a), float(b)) for a, b in zip(angles, rates, strict=True)]
    return {name: np.resize([item[name] for item in found], count) for name in ENTRY.state}


def best(function: Callable[[], object], finish: Callable[[], object], repeats: int = 10) -> float:
    """Return the smallest time of several runs in seconds."""
    function()
    finish()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        function()
        finish()
        times.append(time.perf_counter() - begin)
    return min(times)


def accelerations(cupy: Any, states: int) -> None:
    """Measure accelerations, without and with multipliers, beside a copy and beside JAX."""
    synchronize = cupy.cuda.Device().synchronize
    source, target = cupy.zeros(states), cupy.empty(states)
    seconds = best(lambda: cupy.copyto(target, source), synchronize)
    print(f"a copy in memory: {16e-12 * states / seconds:.2f} TB/s")
    inputs = resolve(ENTRY.system, starts(states), PARAMS)
    kernels: Any = zw.compile(ENTRY.system, "cuda").kernels
    t, q, v = (cupy.asarray(array) for array in (inputs.t[:1], inputs.q, inputs.v))
    function = kernels.device_solver((0, 1, 2))
    out, _ = function.there(t, q, v, inputs.params)
    found = cupy.asnumpy(out[:, :CHECKED])
    part = (inputs.t[:CHECKED], inputs.q[:, :CHECKED], inputs.v[:, :CHECKED], inputs.params)
    terms = zw.compile(ENTRY.system).kernels.terms(*part)
    residual = terms.residual(Solved(found[:4], found[4:], np.ones(CHECKED, dtype=bool)), [0, 1, 2]).max()
    del out
    seconds = best(lambda: function.there(t, q, v, inputs.params), synchronize)
    print(
        f"accelerations and multipliers of {states} states: {1e9 * seconds / states:.4f} ns a state, "
        f"{1e-12 * states * (8 * 15 + 1) / seconds:.2f} TB/s, residual {residual:.1e}"
    )
    with_jax(states, inputs)


def with_jax(states: int, inputs: Any) -> None:
    """Measure the same by JAX."""
    try:
        import jax
    except ImportError:
        print("  JAX is not here")
        return
    kernels: Any = zw.compile(ENTRY.system, "batch").kernels
    with jax.enable_x64(True):
        function = jax.jit(kernels.traceable((0, 1, 2)))
        arrays = [jax.device_put(array) for array in (inputs.t, inputs.q, inputs.v, inputs.params)]
        seconds = best(lambda: function(*arrays).block_until_ready(), lambda: None)
    print(f"  JAX on {jax.devices()[0].device_kind}: {1e9 * seconds / states:.4f} ns a state")


def ensembles(cupy: Any, motions: int) -> None:
    """Measure motions over ten seconds, to their ends and with a hundred samples, beside lanes of the processor."""
    synchronize = cupy.cuda.Device().synchronize
    inputs = resolve(ENTRY.system, starts(motions), PARAMS)
    mode = ActiveSet((0, 1, 2))
    lanes: Any = zw.compile(ENTRY.system, "cuda").kernels.lanes(mode)
    given = (inputs.t, inputs.q, inputs.v, inputs.params)
    ends = np.full(motions, UNTIL)
    sharp = lanes.run(inputs.t[:4096], inputs.q[:, :4096], inputs.v[:, :4096], inputs.params, ends[:4096], 1e-14)
    for tol in (1e-9, 1e-10, 2e-11):
        found = lanes.run(*given, ends, tol)
        seconds = best(lambda tol=tol: lanes.run(*given, ends, tol), synchronize, 3)
        error = np.abs(found.q[:, :4096] - sharp.q).max()
        evaluations = 13.0 * float(found.attempts.sum())
        print(
            f"{motions} motions, steps to {tol:.0e}: {1e3 * seconds:.1f} ms with transfers, error {error:.1e}, "
            f"{found.steps.mean():.0f} steps, {evaluations / seconds:.2e} evaluations/s, drift {found.drift.max():.0e}"
        )
    instants = np.linspace(0, UNTIL, 101)
    few = min(motions, 1 << 18)
    part = (inputs.t[:few], inputs.q[:, :few], inputs.v[:, :few], inputs.params)
    seconds = best(lambda: lanes.sampled(*part, instants, 1e-10), synchronize, 2)
    print(f"{few} motions with 101 samples: {1e3 * seconds:.1f} ms with transfers")
    few = min(motions, 10_000)
    part = (inputs.t[:few], inputs.q[:, :few], inputs.v[:, :few], inputs.params, ends[:few])
    native: Any = zw.compile(ENTRY.system).kernels.lanes(mode)
    seconds = best(lambda: native.run(*part, 1e-10), lambda: None, 2)
    print(f"  the processor's lanes, one core: {1e6 * seconds / few:.1f} us a motion at steps to 1e-10")


def stops(motions: int) -> None:
    """Measure motions that end at an event, and compare some of their instants with sharper single motions."""
    model, state = zw.compile(ENTRY.system, "cuda"), starts(motions)
    events = [zw.Event(ENTRY.system.coordinates[3] + 0.05, direction=-1, stop=True)]
    seconds = best(lambda: zw.simulate(model, state, PARAMS, until=UNTIL, events=events), lambda: None, 2)
    found = zw.simulate(model, state, PARAMS, until=UNTIL, events=events).end["t"]
    worst = 0.0
    for k in range(0, min(motions, 4096), 151):
        one = {name: row[k] for name, row in state.items()}
        worst = max(worst, abs(zw.simulate(model, one, PARAMS, until=UNTIL, events=events, tol=1e-13).t[-1] - found[k]))
    stopped = int((found < UNTIL).sum())
    print(f"simulate of {motions} motions, {stopped} to an event: {seconds:.2f} s, instants differ by {worst:.1e}")


def maps(cupy: Any) -> None:
    """Measure maps of reactions, from states on the GPU to what is found there, and compare them with the processor."""
    rng = np.random.default_rng(7)
    rod, ladder = (zw.gallery.get(name) for name in ("painleve_rod", "ladder"))
    theta, lean = rng.uniform(0.2, 2.9, 1 << 20), rng.uniform(1.7, 2.9, 1 << 20)
    places = {"theta": theta, "x": np.cos(theta), "y": np.sin(theta), "v_x": rng.normal(size=1 << 20)}
    leaning = {"theta": lean, "x": -2 * ladder.params["l"] * np.cos(lean)}
    turning = {"v_theta": rng.normal(size=1 << 20)}
    for name, entry, state in (
        ("rod", rod, {**rod.state, **places, **turning, "v_y": turning["v_theta"] * np.cos(theta)}),
        ("ladder at rest", ladder, {**ladder.state, **leaning}),
    ):
        params = {**entry.params, "mu": rng.uniform(0.1, 2.0, 1 << 20)}
        model = zw.compile(entry.system, "cuda")
        begin = time.perf_counter()
        zw.reactions(model, state, params)
        first = time.perf_counter() - begin
        seconds = best(lambda m=model, s=state, p=params: zw.reactions(m, s, p), lambda: None, 2)
        found, expected = zw.reactions(model, state, params), zw.reactions(entry.system, state, params)
        apart = int((found.codes != expected.codes).sum())
        print(f"{name}, 2^20 states through the verb: {seconds:.2f} s (the first time {first:.1f} s)")
        print(f"  states whose status is not the processor's: {apart}; shares {expected.shares()}")
        inputs = resolve(entry.system, state, params)
        kernels: Any = model.kernels
        table = count_table(entry.system)
        counter, admitted = kernels.counter(table), admission_of(entry.system, Tolerances())
        arrays = [cupy.asarray(np.tile(array, 4)) for array in (inputs.t, inputs.q, inputs.v, inputs.params)]
        synchronize = cupy.cuda.Device().synchronize
        seconds = best(lambda c=counter, a=arrays, f=admitted: c.there(*a, f, 1e-9), synchronize, 5)
        print(f"  on the GPU: {1e9 * seconds / (1 << 22):.2f} ns a state, {1e8 * seconds / (1 << 22):.2f} s for 1e8")


def chains(links: int, motions: int) -> None:
    """Measure chains of many links, whose equations are written in parts, beside single motions on the processor."""
    linkage = zw.Linkage("chain", gravity=(0, -9.81)).ground("O", 0, 0)
    linkage.points([f"P{k}" for k in range(links)], mass=1)
    system = linkage.chain(["O", *(f"P{k}" for k in range(links))], lengths=[1] * links).system()
    angles = np.random.default_rng(5).uniform(-0.5, 0.5, (links, motions))
    x, y = np.cumsum(np.cos(angles), axis=0), np.cumsum(np.sin(angles), axis=0)
    state = {f"x_P{k}": x[k] for k in range(links)} | {f"y_P{k}": y[k] for k in range(links)}
    state |= {f"v_{letter}_P{k}": np.zeros(motions) for letter in "xy" for k in range(links)}
    begin = time.perf_counter()
    lanes: Any = zw.compile(system, "cuda").kernels.lanes(ActiveSet(tuple(range(links))))
    given = resolve(system, state, {})
    lanes.run(given.t[:64], given.q[:, :64], given.v[:, :64], given.params, np.full(64, 0.01), 1e-10)
    first = time.perf_counter() - begin
    ends = np.full(motions, 0.3)
    found = lanes.run(given.t, given.q, given.v, given.params, ends, 1e-10)
    seconds = best(lambda: lanes.run(given.t, given.q, given.v, given.params, ends, 1e-10), lambda: None, 2)
    begin, few = time.perf_counter(), 4
    alone = [zw.simulate(system, {key: float(row[k]) for key, row in state.items()}, until=0.3) for k in range(few)]
    single = (time.perf_counter() - begin) / few
    names = [item.name for item in system.coordinates]
    apart = max(abs(found.q[i, k] - alone[k].end[name]) for k in range(few) for i, name in enumerate(names))
    print(
        f"{motions} chains of {links} links over 0.3 s: {seconds:.2f} s (ready after {first:.1f} s), "
        f"{12.0 * float(found.attempts.sum()) / seconds:.1e} evaluations/s; one on the processor {single:.2f} s, "
        f"they differ by {apart:.0e} m"
    )


def realizations(motions: int) -> None:
    """Measure which branch springs take at a singular point, over strengths and phases; checked by the energy."""
    entry = zw.gallery.get("ellipse_pendulum_cartesian")
    soft = zw.compile(zw.realize(entry.system, "ellipse", by=zw.Stiffness("N")), "cuda")
    rng = np.random.default_rng(11)
    state = {name: np.full(motions, value) for name, value in entry.state.items()}
    # The spring swings at first: C has a velocity of its own along its circle about B, so that BC keeps its length.
    push = rng.uniform(-1.0, 1.0, motions)
    state["v_x_C"] -= push * (state["y_C"] - state["y_B"])
    state["v_y_C"] += push * (state["x_C"] - state["x_B"])
    params = {**entry.params, "N": 10.0 ** rng.uniform(5.0, 6.0, motions)}
    begin = time.perf_counter()
    found = zw.simulate(soft, state, params, until=2.0)
    seconds = time.perf_counter() - begin
    few = {name: found.end[name][:CHECKED] for name in state}
    part = {**params, "N": params["N"][:CHECKED]}
    before = soft.evaluate({name: row[:CHECKED] for name, row in state.items()}, part).energies["total"]
    drift = np.abs(soft.evaluate(few, part).energies["total"] - before).max()
    bend = found.end["x_B"] * (found.end["y_C"] - found.end["y_B"]) - found.end["y_B"] * (
        found.end["x_C"] - found.end["x_B"]
    )
    print(
        f"{motions} motions through a singular point with a spring of 1e5 to 1e6: {seconds:.1f} s, "
        f"{(bend > 0).mean():.1%} bend to the left, energy to {drift:.0e} J"
    )


def verbs(motions: int) -> None:
    """Measure the public calls, from NumPy's arrays to NumPy's arrays."""
    model, state = zw.compile(ENTRY.system, "cuda"), starts(motions)
    seconds = best(lambda: model.evaluate(state, PARAMS), lambda: None, 2)
    print(f"evaluate of {motions} states: {seconds:.2f} s")
    seconds = best(lambda: zw.simulate(model, state, PARAMS, until=UNTIL).end, lambda: None, 2)
    print(f"simulate of {motions} motions, default tolerance: {seconds:.2f} s")


def main() -> None:
    """Measure and print."""
    try:
        import cupy
    except ImportError:
        print("bench_gpu: no CuPy here (pip install 'zwang[cuda]'); nothing to measure")
        return
    states = int(sys.argv[1]) if len(sys.argv) > 1 else 1 << 24
    motions = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    print(cupy.cuda.runtime.getDeviceProperties(0)["name"].decode())
    accelerations(cupy, states)
    ensembles(cupy, motions)
    verbs(motions)
    stops(motions)
    maps(cupy)
    realizations(motions)
    for links in (20, 40, 100):
        chains(links, 1 << 17)


if __name__ == "__main__":
    main()
