"""The backend `cuda`: generated CUDA C for many states, compiled by NVRTC through CuPy, in double precision.

Terms, accelerations and multipliers of many states, the number of their solutions, and the ends of many smooth motions
are computed on the GPU; what is asked at single states runs on the processor. Texts are those of `many_states`,
`many_reactions` and `many_motions`; where they run is a `Launcher`'s business: tests compile them for the processor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from zwang._declare.system import System
from zwang._derive.motion_modes import ActiveSet
from zwang._derive.program import Program
from zwang._derive.solution import solve
from zwang._interrupts import taken
from zwang._kernels import device
from zwang._kernels.device import DeviceFunctions, DeviceText, Launcher, Loaded
from zwang._kernels.lane_kernels import LaneEnds, LaneOutputs, lane_outputs, lane_sizes
from zwang._kernels.many_motions import motions_source
from zwang._kernels.many_reactions import DeviceCount
from zwang._kernels.many_states import BLOCK
from zwang._kernels.numba import NumbaDialect
from zwang._kernels.outputs import Array, Outputs
from zwang._kernels.service import Service
from zwang._kernels.terms import Solved, Terms
from zwang._numerics.budget import ENDLESS, Spent, spend
from zwang.errors import CompileError

LONGEST = 100_000
"""Lines of code up to which equations are written out: a compiler takes some minutes for so many."""
MOTIONS = 1 << 18
"""Motions of one call: between calls Ctrl-C, progress and budgets are looked at."""
STEPS = 100_000
"""Attempts after which a motion is left to the loop of a single one."""
MULTIPROCESSORS = 16
"""Blocks for each multiprocessor of the GPU where lanes take motions one after the other."""


class CudaLauncher:
    """The GPU, through CuPy."""

    def __init__(self) -> None:
        try:
            import cupy
        except ImportError:
            raise CompileError(
                "The backend 'cuda' needs CuPy, which brings the compiler NVRTC with it: pip install 'zwang[cuda]'. "
                "backend='native' computes the same on the processor."
            ) from None
        self.cupy = cupy
        try:
            found = cupy.cuda.runtime.getDeviceCount()
        except cupy.cuda.runtime.CUDARuntimeError as cause:
            raise CompileError(_no_gpu(str(cause))) from None
        if not found:
            raise CompileError(_no_gpu("no device"))

    def load(self, source: str) -> Loaded:
        """Compile a text; CuPy keeps the result on disk by its content."""
        return _CudaText(self.cupy, source)

    def put(self, array: Any) -> Any:
        """Return an array on the GPU; one that is there already is taken as it is."""
        return self.cupy.ascontiguousarray(self.cupy.asarray(array))

    def empty(self, shape: tuple[int, ...], kind: str) -> Any:
        """Return an array on the GPU."""
        return self.cupy.empty(shape, dtype=kind)

    def filled(self, shape: tuple[int, ...], value: float, kind: str = "f8") -> Any:
        """Return an array on the GPU that holds one value."""
        return self.cupy.full(shape, value, dtype=kind)

    def fetch(self, array: Any) -> Any:
        """Return an array in ordinary memory."""
        return self.cupy.asnumpy(array)


def _no_gpu(why: str) -> str:
    return (
        f"The backend 'cuda' needs an NVIDIA GPU with its driver, and CuPy finds none here ({why[:80]}). Use "
        "backend='native', which computes the same on the processor."
    )


class _CudaText:
    def __init__(self, cupy: Any, source: str) -> None:
        self.cupy = cupy
        self.module = cupy.RawModule(code=source, options=("-std=c++17",))
        self._kernels: dict[str, Any] = {}

    def uniform(self, values: Array) -> None:
        place = self.module.get_global("U")
        self.cupy.ndarray(values.shape, dtype="f8", memptr=place)[...] = self.cupy.asarray(values)

    def launch(self, name: str, lanes: int, *arguments: Any, taking: bool = False) -> None:
        if name not in self._kernels:
            self._kernels[name] = self.module.get_function(name)
        blocks = -(-lanes // BLOCK)
        if taking:
            most = self.cupy.cuda.Device().attributes["MultiProcessorCount"] * MULTIPROCESSORS
            blocks = min(blocks, most)
        self._kernels[name]((max(blocks, 1),), (BLOCK,), arguments)


@dataclass(frozen=True)
class DeviceLanes:
    """A mode ready to move many states on a device; see `lanes.SideBySide`."""

    launcher: Launcher
    outputs: LaneOutputs
    texts: dict[bool, DeviceText]
    width: int = 0

    def run(
        self,
        t: Array,
        q: Array,
        v: Array,
        params: Array,
        until: Array,
        tol: float,
        between: Callable[[int], None] | None = None,
        *,
        most: int = ENDLESS,
        sizes: Array | None = None,
    ) -> LaneEnds:
        """Move states t (B,), q and v (n, B) until their times (B,); see `Lanes.run`."""
        given = (t, q, v, params, np.broadcast_to(until, t.shape), lane_sizes(sizes, t.size))
        return self._moved(given, tol, np.zeros(0), between, most)[0]

    def sampled(
        self, t: Array, q: Array, v: Array, params: Array, instants: Array, tol: float, *, most: int = ENDLESS,
        sizes: Array | None = None,
    ) -> Array:  # fmt: skip
        """Return the states at ascending instants (S, 2n, B), nan where a motion has none."""
        last = np.maximum(t, instants[-1]) if instants.size else t
        given = (t, q, v, params, last, lane_sizes(sizes, t.size))
        return self._moved(given, tol, np.array(instants, dtype=float), None, most)[1]

    def _moved(
        self,
        given: tuple[Array, ...],
        tol: float,
        instants: Array,
        between: Callable[[int], None] | None,
        most: int,
    ) -> tuple[LaneEnds, Array]:
        """Return where states t, q, v with parameters are at their ends, and at the instants."""
        t, q, v, params, ends, sizes = given
        n, count = q.shape
        found = _room(n, count)
        samples = np.full((instants.size, 2 * n, count), np.nan)
        begun = count
        portion = max(1, min(MOTIONS, device.AT_ONCE // max(1, instants.size * n)))
        try:
            for start in range(0, count, portion):
                if most <= 0:
                    begun = start
                    break
                part = slice(start, min(start + portion, count))
                begun = start
                own = params if params.shape[1] == 1 else params[:, part]
                here = (t[part], q[:, part], v[:, part], own, ends[part], sizes[:, part])
                samples[:, :, part] = self._portion(here, tol, instants, most, found, part)
                most -= int(found.attempts[part].sum())
                begun = part.stop if most > 0 or found.reached[part].all() else start
                spend()
                if between is not None:
                    between(begun)
        except (KeyboardInterrupt, Spent) as cause:
            if isinstance(cause, KeyboardInterrupt):
                taken()
            return _cut(found, begun), samples
        return (found if begun == count else _cut(found, begun)), samples

    def _portion(
        self, given: Sequence[Array], tol: float, instants: Array, most: int, found: LaneEnds, part: slice
    ) -> Array:
        launcher, (t, q, v, params, ends, sizes) = self.launcher, given
        n, count = q.shape
        text = self._text(shared=params.shape[1] == 1)
        text.prepare(params)
        times, places, speeds = (launcher.put(np.array(array, order="C")) for array in (t, q, v))
        samples = launcher.filled((instants.size, 2 * n, count), np.nan)
        reached, drift = launcher.empty((count,), "u1"), launcher.empty((count,), "f8")
        steps, attempts = launcher.empty((count,), "i8"), launcher.empty((count,), "i8")
        put = (params, np.array(ends), np.array(sizes, order="C"), instants)
        rows = (times, places, speeds, *map(launcher.put, put))
        counter = launcher.put(np.zeros(1, dtype=np.uint64))
        limits = (int(instants.size), samples, float(tol), min(STEPS, most))
        text.loaded.launch("move", count, *rows, *limits, reached, steps, attempts, drift, counter, count, taking=True)
        fetch = launcher.fetch
        found.t[part], found.q[:, part], found.v[:, part] = fetch(times), fetch(places), fetch(speeds)
        found.reached[part], found.drift[part] = fetch(reached) != 0, fetch(drift)
        found.steps[part], found.attempts[part] = fetch(steps), fetch(attempts)
        values: Array = fetch(samples)
        return values

    def _text(self, *, shared: bool) -> DeviceText:
        if shared not in self.texts:
            source, writer = motions_source(self.outputs, shared=shared)
            self.texts[shared] = DeviceText(self.outputs.program, writer, self.launcher.load(source))
        return self.texts[shared]


def _room(n: int, count: int) -> LaneEnds:
    numbers = (np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64), np.zeros(count))
    places = (np.full(count, np.nan), np.full((n, count), np.nan), np.full((n, count), np.nan))
    return LaneEnds(*places, np.zeros(count, dtype=bool), *numbers)


def _cut(found: LaneEnds, begun: int) -> LaneEnds:
    return replace(found, interrupted=begun)


class CudaKernels(Service):
    """Terms, solutions and motions of many states on a device; what is asked at single states is native."""

    lanes_from = 0

    def __init__(self, system: System, launcher: Launcher) -> None:
        super().__init__(system, NumbaDialect())
        self.launcher = launcher

    def _writable(self, program: Program, outputs: Iterable[Outputs]) -> None:
        """Refuse what would be too long to be written out, before it is."""
        lines = sum(len(program.graph.reachable(item.wanted)) for item in outputs)
        if lines > LONGEST:
            raise CompileError(
                f"{self.system.name}: its equations are {lines} lines long when they are written out, more than the "
                f"backend 'cuda' lets be compiled ({LONGEST}). Use backend='native', which loops over like parts."
            )

    def device_terms(self) -> DeviceFunctions:
        """Return the function of all terms on the device."""
        outputs = Outputs(tuple(self.layout.nodes))
        return self.kept("device terms", lambda: self._functions(self.program, outputs))

    def device_solver(self, active: Sequence[int]) -> DeviceFunctions:
        """Return the function of accelerations and multipliers on the device, these normals held as equalities."""
        return self.kept(("device solver", tuple(active)), lambda: self._device_solver(tuple(active)))

    def _device_solver(self, active: tuple[int, ...]) -> DeviceFunctions:
        program = self.program.copy()
        found = solve(program, active)
        outputs = Outputs((*found.accelerations, *found.multipliers), found.regular)
        return self._functions(program, outputs)

    def _functions(self, program: Program, outputs: Outputs) -> DeviceFunctions:
        self._writable(program, [outputs])
        return DeviceFunctions(self.launcher, program, outputs)

    def terms(self, t: Array, q: Array, v: Array, params: Array) -> Terms:
        """Return the terms of the equations at the states."""
        return self.layout.terms(self.device_terms().many(t, q, v, params)[0])

    def solve(self, t: Array, q: Array, v: Array, params: Array, active: Sequence[int]) -> Solved:
        """Return accelerations and multipliers with these normals held as equalities."""
        out, regular = self.device_solver(active).many(t, q, v, params)
        return Solved(out[: q.shape[0]], out[q.shape[0] :], regular)

    def counter(self, table: Any) -> DeviceCount:
        """Return what counts the solutions of many states on the device."""
        functions = self.device_terms()
        return self.kept("counter", lambda: DeviceCount(self.launcher, functions, self.layout, table))

    def lanes(self, mode: ActiveSet, stops: Sequence[tuple[Any, int]] = ()) -> DeviceLanes | None:
        """Return what moves many states of a mode on the device; None where it doesn't suit."""
        return self.kept(("lanes", mode, tuple(stops)), lambda: self._lanes(mode, tuple(stops)))

    def _lanes(self, mode: ActiveSet, stops: Sequence[tuple[Any, int]]) -> DeviceLanes | None:
        outputs = lane_outputs(self.system, self.frozen, self.structure, mode, stops)
        if outputs is None:
            return None
        self._writable(outputs.program, outputs.kernels.values())
        return DeviceLanes(self.launcher, outputs, {})


class CudaBackend:
    """`cuda`: the GPU."""

    name = "cuda"

    def build(self, system: System) -> Service:
        """Return the kernels of a system."""
        return CudaKernels(system, CudaLauncher())
