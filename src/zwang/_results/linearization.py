"""`Linearization`: the equations of small motions about an equilibrium."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.tolerances import name_of
from zwang._plot.style import titling
from zwang._results.base import Result
from zwang._results.named import missing
from zwang._results.storage import storable
from zwang._results.words import counted
from zwang.errors import DeclarationError, nearest

Array = NDArray[np.float64]
MOST_SHOWN = 12
"""Eigenvalues that a summary lists."""
ROUNDING = 1e-12
"""Parts of eigenvalues and modes up to this, relative to the largest, are not shown."""


@storable
class LinearizationStatus(Enum):
    """Which forms the equations of small motions have."""

    SECOND_ORDER = "Small motions obey M x'' + damping x' + K x = forces on the constraints."
    FIRST_ORDER = "A constraint on velocities is not holonomic: small motions have a form of first order alone."


class Eigenmode(Mapping[str, float]):
    """A direction in which small motions go, as a state: name of a coordinate or velocity -> its part.

    Parts are those at the phase at which the largest coordinate of the mode is largest, where it is one.

    Attributes
    ----------
    eigenvalue : complex
    vector : (2 n,) complex array
        Positions, then velocities: small motions go like the real part of vector exp(eigenvalue t).
    """

    def __init__(self, eigenvalue: complex, vector: NDArray[np.complex128], names: tuple[str, ...]) -> None:
        self.eigenvalue, self.vector, self._names = complex(eigenvalue), vector, names

    def __getitem__(self, name: Any) -> float:
        key = name_of(name)
        if key not in self._names:
            raise KeyError(missing(key, self._names, "A mode has"))
        return float(self.vector[self._names.index(key)].real)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    @property
    def frequency(self) -> float:
        """Oscillations per second [Hz]."""
        return abs(self.eigenvalue.imag) / (2 * np.pi)

    @property
    def damping_ratio(self) -> float:
        """Share of critical damping; negative where the mode grows, nan where it stays."""
        size = abs(self.eigenvalue)
        return -self.eigenvalue.real / size if size > 0 else float("nan")

    def __repr__(self) -> str:
        parts = ", ".join(f"{name} {value:.4g}" for name, value in self.items())
        return f"Eigenmode of {self.eigenvalue:.6g}: {parts}"


@storable
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Linearization(Result):
    """The equations of small motions about an equilibrium, on its constraints.

    x are the coordinates of a displacement along the columns of `basis`. In second order
    M x'' + damping x' + K x = basis^T Q_u u, in first order z' = A z + B u, y = C z + D u with z = (x, x').

    Attributes
    ----------
    name : str
        Of the system.
    coordinates, velocities : tuples of str
    state : mapping of str to float
        The equilibrium.
    params : mapping of str to float
    basis : (n, f) array
        Columns are displacements of the coordinates that the constraints allow, orthonormal in the kinetic metric
        unless others were given.
    velocity_basis : (n, g) array
        The same for velocities: fewer than displacements where a constraint on velocities is not holonomic.
    M, damping, K : (f, f) arrays or None
        Masses; damping with the gyroscopic terms; stiffness with the curvature of the constraints times their
        multipliers. None where a constraint on velocities is not holonomic.
    A, B, C, D : arrays
        The form of first order.
    inputs, outputs : tuples of str
    multipliers : mapping of str to float
        Of the constraints that hold.
    drawing : mapping
        What films show.
    """

    status: LinearizationStatus
    name: str
    coordinates: tuple[str, ...]
    velocities: tuple[str, ...]
    state: Mapping[str, float]
    params: Mapping[str, float]
    basis: Array
    velocity_basis: Array
    M: Array | None
    damping: Array | None
    K: Array | None
    A: Array
    B: Array
    C: Array
    D: Array
    drift: Array
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    multipliers: Mapping[str, float] = field(default_factory=dict)
    drawing: Mapping[str, Any] = field(default_factory=dict)

    def _numbers(self) -> Mapping[str, Any]:
        return {name: getattr(self, name) for name in ("A", "B", "C", "D", "basis")}

    def _check(self) -> str:
        size = self.basis.shape[1] + self.velocity_basis.shape[1]
        shapes = (self.A.shape, self.B.shape, self.C.shape, self.D.shape)
        u, y = len(self.inputs), len(self.outputs)
        fits = shapes == ((size, size), (size, u), (y, size), (y, u))
        return "" if fits else "its matrices don't go together"

    @property
    def eigenvalues(self) -> NDArray[np.complex128]:
        """Of A: slow oscillations first, and of each pair the one with the positive imaginary part."""
        return self._modes()[0]

    @property
    def eigenmodes(self) -> tuple[Eigenmode, ...]:
        """One for each eigenvalue, as states."""
        values, vectors = self._modes()
        names = (*self.coordinates, *self.velocities)
        f = self.basis.shape[1]
        found = []
        for value, z in zip(values, vectors.T, strict=True):
            q = self.basis @ z[:f]
            v = self.velocity_basis @ z[f:] + self.drift @ z[:f]
            found.append(Eigenmode(value, _turned(np.concatenate([q, v]), len(q)), names))
        return tuple(found)

    def _modes(self) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
        values, vectors = np.linalg.eig(self.A)
        values, vectors = values.astype(complex), vectors.astype(complex)
        unit = 1e-9 * float(np.abs(values).max(initial=0.0)) or 1.0
        rounded = [(round(abs(x.imag) / unit), -round(x.real / unit), -x.imag) for x in values]
        order = sorted(range(len(values)), key=lambda k: rounded[k])
        return values[order], vectors[:, order]

    def transfer(self, input: Any, output: Any) -> Any:
        """Return how an output follows an input: a `scipy.signal.StateSpace`.

        Parameters
        ----------
        input, output : name, symbol or expression
            One of `inputs`, one of `outputs`.
        """
        from scipy.signal import StateSpace

        i, j = _place(self.name, "input", input, self.inputs), _place(self.name, "output", output, self.outputs)
        return StateSpace(self.A, self.B[:, [i]], self.C[[j]], self.D[[j]][:, [i]])

    @titling
    def plot(self, *, ax: Any = None, title: bool | str = True) -> Any:
        """Draw the eigenvalues in the complex plane; return the Axes (extra ``plot``)."""
        from zwang._plot.spectrum import draw_eigenvalues

        return draw_eigenvalues(self.eigenvalues, self.name, ax=ax)

    def __repr__(self) -> str:
        freedom = counted(self.velocity_basis.shape[1], "free direction")
        lines = [f"Linearization of '{self.name}': {freedom}. {self.status.value}"]
        shown, size = self.eigenvalues[:MOST_SHOWN], float(np.abs(self.eigenvalues).max(initial=0.0))
        lines += [f"  eigenvalue {_complex(value, size)}" for value in shown]
        if len(self.eigenvalues) > len(shown):
            lines.append(f"  ... and {len(self.eigenvalues) - len(shown)} more")
        if self.inputs or self.outputs:
            lines.append(f"  from {', '.join(self.inputs) or 'no input'} to {', '.join(self.outputs) or 'no output'}")
        return "\n".join(lines)


def _turned(vector: NDArray[np.complex128], n: int) -> NDArray[np.complex128]:
    """Return an eigenvector with unit length whose largest position, else velocity, is real and positive."""
    part = vector[:n] if np.abs(vector[:n]).max(initial=0.0) > 0 else vector
    largest = part[int(np.argmax(np.abs(part)))]
    vector = vector * (np.conj(largest) / abs(largest)) / np.abs(part).max()
    least = ROUNDING * float(np.abs(vector).max())
    real, imag = (np.where(np.abs(part) > least, part, 0.0) for part in (vector.real, vector.imag))
    return np.asarray(real + 1j * imag)


def _complex(value: complex, size: float) -> str:
    """Return a complex number as text; parts that are rounding of the largest number are left out."""
    real, imag = (0.0 if abs(part) <= ROUNDING * size else part for part in (value.real, value.imag))
    if imag == 0.0:
        return f"{real:.6g}"
    return f"{imag:+.6g} i" if real == 0.0 else f"{real:.6g} {'-' if imag < 0 else '+'} {abs(imag):.6g} i"


def _place(name: str, what: str, given: Any, known: tuple[str, ...]) -> int:
    word = name_of(given)
    if word not in known:
        listed = nearest(word, known) if known else f"There is none: give linearize {what}s."
        raise DeclarationError(f"{name}: transfer: '{word}' is no {what} of this linearization. {listed}")
    return known.index(word)
