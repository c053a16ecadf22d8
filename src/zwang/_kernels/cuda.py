"""The backend `cuda`: generated CUDA C for many states, compiled by NVRTC through CuPy, in double precision.

Terms, accelerations and multipliers of many states and the ends of many smooth motions are computed on the GPU; what is
asked at single states runs on the processor. Texts are those of `many_states` and `many_motions`; where they run is a
`Launcher`'s business: tests compile the same texts for the processor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from zwang._declare.system import System
from zwang._derive.modes import ActiveSet
from zwang._derive.program import Program
from zwang._derive.solution import solve
from zwang._graph.evaluate import evaluate
from zwang._interrupts import taken
from zwang._kernels.lanes import LaneEnds, LaneOutputs, suited
from zwang._kernels.many_motions import motions_source
from zwang._kernels.many_states import BLOCK, LaneText
from zwang._kernels.numba import NumbaDialect
from zwang._kernels.outputs import Array, Outputs
from zwang._kernels.service import Service
from zwang._kernels.terms import Solved, Terms
from zwang._numerics.budget import ENDLESS, Spent, spend
from zwang.errors import CompileError

LARGEST = 48
"""Unknowns up to which equations are written out."""
AT_ONCE = 1 << 24
"""Numbers of one array that are sent at a time."""
MOTIONS = 1 << 18
"""Motions of one call: between calls Ctrl-C, progress and budgets are looked at."""
STEPS = 100_000
"""Attempts after which a motion is left to the loop of a single one."""
MULTIPROCESSORS = 16
"""Blocks for each multiprocessor of the GPU where lanes take motions one after the other."""


class Loaded(Protocol):
    """A compiled text."""

    def uniform(self, values: Array) -> None:
        """Set the workspace U of all lanes."""

    def launch(self, name: str, lanes: int, *arguments: Any, taking: bool = False) -> None:
        """Run a kernel over so many lanes; arrays are the launcher's, numbers are float or int.

        `taking`: lanes take their work one after the other, so that no more are begun than the device has room for.
        """


class Launcher(Protocol):
    """Where texts are compiled and run."""

    def load(self, source: str) -> Loaded:
        """Compile a text, or find it compiled."""

    def put(self, array: Any) -> Any:
        """Return an array there with these values."""

    def empty(self, shape: tuple[int, ...], kind: str) -> Any:
        """Return an array there; what it holds is nobody's."""

    def missing(self, shape: tuple[int, ...]) -> Any:
        """Return an array there that holds nan."""

    def fetch(self, array: Any) -> Any:
        """Return an array of NumPy."""


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

    def missing(self, shape: tuple[int, ...]) -> Any:
        """Return an array on the GPU that holds nan."""
        return self.cupy.full(shape, np.nan)

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


@dataclass
class _Text:
    """A text for lanes, compiled, with what it takes from the parameters."""

    program: Program
    writer: LaneText
    loaded: Loaded

    def prepare(self, params: Array) -> None:
        """Set the workspace of all lanes, where they share their parameters (p, 1)."""
        if not self.writer.shared:
            return
        given = dict(zip(self.program.params, params[:, 0], strict=True))
        with np.errstate(all="ignore"):
            found = evaluate(self.program.graph, list(self.writer.prepared), given, np)
        self.loaded.uniform(np.array([*map(float, found)] or [0.0]))


class DeviceFunctions:
    """One of the functions of a program over rows of states, on a device."""

    def __init__(self, launcher: Launcher, program: Program, outputs: Outputs) -> None:
        self.launcher, self.program, self.outputs = launcher, program, outputs
        self._texts: dict[bool, _Text] = {}

    def text(self, *, shared: bool) -> _Text:
        """Return the text for states that share their parameters, or don't."""
        if shared not in self._texts:
            writer = LaneText.of(self.program, {"rows": self.outputs}, shared=shared)
            loaded = self.launcher.load(writer.head + writer.rows("rows", self.outputs))
            self._texts[shared] = _Text(self.program, writer, loaded)
        return self._texts[shared]

    def there(self, t: Any, q: Any, v: Any, params: Any) -> tuple[Any, Any]:
        """Return rows of outputs (size, B) and where all is well (B,), as arrays of the device.

        So are the states; parameters that all share (p, 1) are NumPy's.
        """
        lanes, shared = q.shape[1], params.shape[1] == 1
        text = self.text(shared=shared)
        text.prepare(params)
        out = self.launcher.empty((len(self.outputs.nodes), lanes), "f8")
        sound = self.launcher.empty((lanes,), "u1")
        every = int(t.shape[0] > 1)
        given = out if shared else params  # not read where all share them
        text.loaded.launch("rows", lanes, t, q, v, given, out, sound, every, lanes)
        return out, sound

    def many(self, t: Array, q: Array, v: Array, params: Array) -> tuple[Array, Any]:
        """Return rows of outputs (size, B) and where all is well (B,), sent and fetched in portions."""
        states, size = q.shape[1], len(self.outputs.nodes)
        portion = max(1, AT_ONCE // max(size, 1))
        out, sound = np.empty((size, states)), np.empty(states, dtype=bool)
        shared, put = params.shape[1] == 1, self.launcher.put
        for start in range(0, states, portion):
            part = slice(start, min(start + portion, states))
            given = params if shared else put(params[:, part])
            rows, well = self.there(put(t[part]), put(q[:, part]), put(v[:, part]), given)
            out[:, part], sound[part] = self.launcher.fetch(rows), self.launcher.fetch(well) != 0
        return out, sound


@dataclass(frozen=True)
class DeviceLanes:
    """A mode ready to move many states on a device; see `lanes.SideBySide`."""

    launcher: Launcher
    outputs: LaneOutputs
    texts: dict[bool, _Text]
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
    ) -> LaneEnds:
        """Move states t (B,), q and v (n, B) until their times (B,); see `Lanes.run`."""
        return self._moved((t, q, v, params, np.broadcast_to(until, t.shape)), tol, np.zeros(0), between, most)[0]

    def sampled(
        self, t: Array, q: Array, v: Array, params: Array, instants: Array, tol: float, *, most: int = ENDLESS
    ) -> Array:
        """Return the states at ascending instants (S, 2n, B), nan where a motion has none."""
        last = np.maximum(t, instants[-1]) if instants.size else t
        return self._moved((t, q, v, params, last), tol, np.array(instants, dtype=float), None, most)[1]

    def _moved(
        self,
        given: tuple[Array, Array, Array, Array, Array],
        tol: float,
        instants: Array,
        between: Callable[[int], None] | None,
        most: int,
    ) -> tuple[LaneEnds, Array]:
        """Return where states t, q, v with parameters are at their ends, and at the instants."""
        t, q, v, params, ends = given
        n, count = q.shape
        found = _room(n, count)
        samples = np.full((instants.size, 2 * n, count), np.nan)
        begun = count
        portion = max(1, min(MOTIONS, AT_ONCE // max(1, instants.size * n)))
        try:
            for start in range(0, count, portion):
                if most <= 0:
                    begun = start
                    break
                part = slice(start, min(start + portion, count))
                begun = start
                own = params if params.shape[1] == 1 else params[:, part]
                here = (t[part], q[:, part], v[:, part], own, ends[part])
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
        launcher, (t, q, v, params, ends) = self.launcher, given
        n, count = q.shape
        text = self._text(shared=params.shape[1] == 1)
        text.prepare(params)
        times, places, speeds = (launcher.put(np.array(array, order="C")) for array in (t, q, v))
        samples = launcher.missing((instants.size, 2 * n, count))
        reached, drift = launcher.empty((count,), "u1"), launcher.empty((count,), "f8")
        steps, attempts = launcher.empty((count,), "i8"), launcher.empty((count,), "i8")
        rows = (times, places, speeds, launcher.put(params), launcher.put(np.array(ends)), launcher.put(instants))
        counter = launcher.put(np.zeros(1, dtype=np.uint64))
        limits = (int(instants.size), samples, float(tol), min(STEPS, most))
        text.loaded.launch("move", count, *rows, *limits, reached, steps, attempts, drift, counter, count, taking=True)
        fetch = launcher.fetch
        found.t[part], found.q[:, part], found.v[:, part] = fetch(times), fetch(places), fetch(speeds)
        found.reached[part], found.drift[part] = fetch(reached) != 0, fetch(drift)
        found.steps[part], found.attempts[part] = fetch(steps), fetch(attempts)
        values: Array = fetch(samples)
        return values

    def _text(self, *, shared: bool) -> _Text:
        if shared not in self.texts:
            source, writer = motions_source(self.outputs, shared=shared)
            self.texts[shared] = _Text(self.outputs.program, writer, self.launcher.load(source))
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
        unknowns = len(system.coordinates) + len(system.constraints)
        if unknowns > LARGEST:
            raise CompileError(
                f"{system.name}: {unknowns} coordinates and constraints are too many for the backend 'cuda' (at most "
                f"{LARGEST}), which writes every term out. Use backend='native', which loops over like parts."
            )

    def device_terms(self) -> DeviceFunctions:
        """Return the function of all terms on the device."""
        outputs = Outputs(tuple(self.layout.nodes))
        return self.kept("device terms", lambda: DeviceFunctions(self.launcher, self.program, outputs))

    def device_solver(self, active: Sequence[int]) -> DeviceFunctions:
        """Return the function of accelerations and multipliers on the device, these normals held as equalities."""
        return self.kept(("device solver", tuple(active)), lambda: self._device_solver(tuple(active)))

    def _device_solver(self, active: tuple[int, ...]) -> DeviceFunctions:
        program = self.program.copy()
        found = solve(program, active)
        outputs = Outputs((*found.accelerations, *found.multipliers), found.regular)
        return DeviceFunctions(self.launcher, program, outputs)

    def terms(self, t: Array, q: Array, v: Array, params: Array) -> Terms:
        """Return the terms of the equations at the states."""
        return self.layout.terms(self.device_terms().many(t, q, v, params)[0])

    def solve(self, t: Array, q: Array, v: Array, params: Array, active: Sequence[int]) -> Solved:
        """Return accelerations and multipliers with these normals held as equalities."""
        out, regular = self.device_solver(active).many(t, q, v, params)
        return Solved(out[: q.shape[0]], out[q.shape[0] :], regular)

    def lanes(self, mode: ActiveSet) -> DeviceLanes | None:
        """Return what moves many states of a mode on the device; None where it doesn't suit."""
        if not suited(self.frozen, self.structure):
            return None
        return self.kept(("lanes", mode), lambda: self._lanes(mode))

    def _lanes(self, mode: ActiveSet) -> DeviceLanes:
        return DeviceLanes(self.launcher, LaneOutputs.of(self.frozen.copy().program, self.structure, mode), {})


class CudaBackend:
    """`cuda`: the GPU."""

    name = "cuda"

    def build(self, system: System) -> Service:
        """Return the kernels of a system."""
        return CudaKernels(system, CudaLauncher())
