"""Values for a system: mappings from symbols or names to numbers or arrays, checked and broadcast."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._declare.system import System
from zwang._numerics.tolerances import by_name
from zwang.errors import DeclarationError

Array = NDArray[np.float64]
AT_ONCE = 1 << 27
"""Numbers of the matrices of a portion: one GB, so that a batch needs no more memory than its answer and that."""


@dataclass(frozen=True)
class Inputs:
    """State and parameters as arrays: t (B,), q and v (n, B), params (p, B) or (p, 1); `shape` is the batch's."""

    t: Array
    q: Array
    v: Array
    params: Array
    shape: tuple[int, ...]

    def single(self, k: int) -> Inputs:
        """Return one state of the batch."""
        params = self.params if self.params.shape[1] == 1 else self.params[:, [k]]
        return Inputs(self.t[[k]], self.q[:, [k]], self.v[:, [k]], params, ())

    def portions(self, numbers: int) -> Iterator[Inputs]:
        """Yield the batch in portions, so that arrays of so many numbers a state stay below `AT_ONCE`."""
        width, states = max(1, AT_ONCE // max(numbers, 1)), self.t.size
        for start in range(0, states, width):
            part = slice(start, min(start + width, states))
            own = self.params if self.params.shape[1] == 1 else self.params[:, part]
            q, v, params = (np.ascontiguousarray(array) for array in (self.q[:, part], self.v[:, part], own))
            yield Inputs(self.t[part], q, v, params, (part.stop - start,))

    def restore(self, array: Any) -> Any:
        """Give the last axis of an array the shape of the batch again; a single state has none."""
        return array.reshape((*array.shape[:-1], *self.shape))


def resolve(system: System, state: Mapping[Any, Any], params: Mapping[Any, Any] | None) -> Inputs:
    """Return checked arrays for a system from mappings symbol or name -> number or array."""
    positions = [item.name for item in system.coordinates]
    velocities = [item.name for item in system.velocities]
    symbols = [item.name for item in system.parameters]
    given = _by_name(system, "state", state, [*positions, *velocities, "t"], optional=("t",))
    values = _by_name(system, "params", {} if params is None else params, symbols)
    given.setdefault("t", 0.0)
    each = [array.shape for array in (*given.values(), *values.values()) if type(array) is not float]
    if not any(each):
        return Inputs(
            t=np.array([float(given["t"])]),
            q=_column(given, positions),
            v=_column(given, velocities),
            params=_column(values, symbols),
            shape=(),
        )
    given, values = ({name: np.asarray(value) for name, value in part.items()} for part in (given, values))
    try:
        shape = np.broadcast_shapes(*each)
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in {**given, **values}.items() if array.shape)
        raise DeclarationError(f"{system.name}: the shapes of the values don't broadcast together: {shapes}.") from None
    size = int(np.prod(shape, dtype=int))
    if size == 0:
        raise DeclarationError(f"{system.name}: the values have shape {shape}, which holds no state.")

    def stack(names: list[str], table: Mapping[str, Array], width: int) -> Array:
        out = np.empty((len(names), width))
        for row, name in zip(out, names, strict=True):
            place = row if width == 1 else row.reshape(shape)
            place[...] = table[name]
        return out

    shared = all(array.size == 1 for array in values.values())
    return Inputs(
        t=stack(["t"], given, size)[0],
        q=stack(positions, given, size),
        v=stack(velocities, given, size),
        params=stack(symbols, values, 1 if shared else size),
        shape=shape,
    )


def _column(values: Mapping[str, Array | float], names: list[str]) -> Array:
    """Return single numbers as a column."""
    return np.array([float(values[name]) for name in names]).reshape(len(names), 1)


def _by_name(
    system: System, what: str, mapping: Any, names: Iterable[str], *, optional: tuple[str, ...] = ()
) -> dict[str, Any]:
    known = list(names)
    given = by_name(mapping, what, known, where=system.name)
    found = {name: _number(system, what, name, value) for name, value in given.items()}
    missing = [name for name in known if name not in found and name not in optional]
    if missing:
        listed = ", ".join(f"'{name}'" for name in missing[:8]) + (", ..." if len(missing) > 8 else "")
        raise DeclarationError(f"{system.name}: {what} has no value for {listed}. Physics has no defaults: give one.")
    return found


def _number(system: System, what: str, name: str, value: Any) -> Array | float:
    if type(value) is float and math.isfinite(value):  # as most are
        return value
    try:
        given = np.asarray(value)
        if given.dtype.kind not in "biufO" or any(isinstance(item, (str, complex)) for item in _objects(given)):
            raise TypeError
        array = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        comma = " Decimals have a point: 0.5, not 0,5." if isinstance(value, (str, tuple)) and "," in str(value) else ""
        raise DeclarationError(
            f"{system.name}: {what}: '{name}' must be a real number or an array; it is {value!r:.60}.{comma}"
        ) from None
    except OverflowError:
        raise DeclarationError(f"{system.name}: {what}: '{name}' has a value beyond the range of a double.") from None
    if not np.all(np.isfinite(array)):
        raise DeclarationError(f"{system.name}: {what}: '{name}' has a value that is not finite.")
    return array


def _objects(array: Any) -> Any:
    """Return the entries of an array of objects, which NumPy would convert to floats whatever they are."""
    return array.flat if array.dtype.kind == "O" else ()
