"""A device for many states: where texts are compiled and run, and the functions of a program over rows of states.

Arrays of a device are the launcher's own; they follow NumPy's rules, and NumPy's functions take them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from zwang._derive.program import Program
from zwang._graph.evaluate import evaluate
from zwang._kernels.many_states import LaneText
from zwang._kernels.outputs import Array, Outputs

AT_ONCE = 1 << 24
"""Numbers of one array that are sent at a time."""


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

    def filled(self, shape: tuple[int, ...], value: float, kind: str = "f8") -> Any:
        """Return an array there that holds one value."""

    def fetch(self, array: Any) -> Any:
        """Return an array of NumPy."""


@dataclass
class DeviceText:
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
        self._texts: dict[bool, DeviceText] = {}

    def text(self, *, shared: bool) -> DeviceText:
        """Return the text for states that share their parameters, or don't."""
        if shared not in self._texts:
            writer = LaneText.of(self.program, {"rows": self.outputs}, shared=shared)
            loaded = self.launcher.load(writer.head + writer.rows("rows", self.outputs))
            self._texts[shared] = DeviceText(self.program, writer, loaded)
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
