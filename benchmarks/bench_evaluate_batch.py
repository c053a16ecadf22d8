"""The batch backend (JAX) on whatever device JAX finds: accelerations and multipliers of many states at once.

Needs NumPy, SciPy, SymPy and JAX alone. Prints the device, the time per state without transfers (minimum over
repeats), and the residual of the equations recomputed on the host for a part of the states.
Run: PYTHONPATH=src python benchmarks/bench_evaluate_batch.py [number of states]
"""

from __future__ import annotations

import sys
import time

import numpy as np

import zwang as zw
from zwang._compile.given_values import resolve
from zwang._kernels.terms import Solved


def measure(name: str, states: int) -> None:
    """Measure one gallery system."""
    import jax

    entry = zw.gallery.get(name)
    kernels = zw.compile(entry.system, "batch").kernels
    source = np.random.default_rng(0)
    spread = {key: value + 1e-3 * source.normal(size=states) for key, value in entry.state.items()}
    inputs = resolve(entry.system, spread, entry.params)
    active = [place for place, item in enumerate(entry.system.constraints) if isinstance(item, zw.Bilateral)]
    with jax.enable_x64(True):
        function = jax.jit(kernels.traceable(active))
        arrays = [jax.device_put(array) for array in (inputs.t, inputs.q, inputs.v, inputs.params)]
        start = time.perf_counter()
        out = function(*arrays).block_until_ready()
        compiled = time.perf_counter() - start
        times = []
        for _ in range(20):
            start = time.perf_counter()
            function(*arrays).block_until_ready()
            times.append(time.perf_counter() - start)
        found = np.asarray(out[:, :1000])
    n, k = len(entry.system.coordinates), len(active)
    part = [inputs.t[:1000], inputs.q[:, :1000], inputs.v[:, :1000], inputs.params]
    terms = kernels.terms(*part)
    residual = terms.residual(Solved(found[:n], found[n : n + k], found[n + k] > 0.5), active).max()
    print(
        f"{name:<28}{jax.devices()[0].device_kind:<24}{states:>10} states{1e9 * min(times) / states:>10.3f} ns a state"
        f"{compiled:>8.2f} s to compile   residual {residual:.1e}"
    )


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    for system in ("ellipse_pendulum_cartesian", "ellipse_pendulum", "four_bar", "andrews", "n_four_bar"):
        measure(system, count)
