"""Ivanov's variational inequality as an object: the operator on normal forces, Omega, the admissible set.

Paper 001, (3.5): N is admissible, and operator(N) (N' - N) >= 0 for every admissible N'. The operator is the normal
acceleration, less its bias, under the normal forces N and the friction that belongs to them by theorem 10.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from zwang._numerics.contact.certificates.planes import allowed_ratios, couplings, omega_at
from zwang._numerics.contact.delassus import friction_arrays
from zwang._numerics.contact.gauss_projection import gauss_projection
from zwang._numerics.contact.problem import ContactProblem
from zwang.errors import DeclarationError

Array = npt.NDArray[np.float64]
SETTLED = 1e-13  # relative to one: rounding of an eigenvalue
ROUNDS = 60  # of alternating minimization, which falls every time
MOST = 20_000  # corners of a product of polygons


@dataclass(frozen=True, eq=False, repr=False)
class Inequality:
    """The variational inequality for the normal forces of a contact problem with Coulomb's friction.

    Attributes
    ----------
    problem : ContactProblem
    contacts : tuple of str

    Examples
    --------
    >>> import numpy as np, zwang as zw
    >>> contact = zw.Contact([0, 1], tangent=[1, 0], friction=0.5, slip=1.0)
    >>> found = zw.reactions(zw.ContactProblem(np.eye(2), [0.0, -2.0], [contact]))
    >>> inequality = found.inequality
    >>> inequality.operator([0.0]), inequality.operator([2.0])  # gap acceleration without and with its reaction
    (array([-2.]), array([0.]))
    >>> inequality.project([-3.0]), inequality.omega, inequality.least_eigenvalue
    (array([0.]), array([[1.]]), 1.0)
    """

    problem: ContactProblem
    contacts: tuple[str, ...]

    def __post_init__(self) -> None:
        rows = self.problem.rows
        if not rows.has_normal.all() or not np.isnan(rows.normal_force).all() or any(rows.of or ()):
            raise DeclarationError(
                "inequality is for contacts each of which has its own unknown normal force; one here has a given force "
                "or goes with a resultant."
            )

    def project(self, N: Any) -> Array:
        """Return the nearest admissible normal forces: N >= 0 where a contact is one-sided."""
        given = self._forces(N)
        return np.where(self.problem.rows.bilateral, given, np.maximum(given, 0.0))

    def operator(self, N: Any) -> Array:
        """Return the normal accelerations less their bias, for normal forces N and the friction that goes with them."""
        rows = self.problem.rows
        acceleration = self._moved(self._forces(N))[0]
        return np.asarray(rows.normal @ acceleration - rows.bias, dtype=float)

    def friction(self, N: Any) -> Array:
        """Return the friction forces that belong to normal forces N by theorem 10: those of least (F + N + T)_1^2."""
        return self._moved(self._forces(N))[1]

    def residual(self, N: Any) -> float:
        """Return how far N is from solving the inequality: the size of N - project(N - operator(N))."""
        given = self._forces(N)
        return float(np.abs(given - self.project(given - self.operator(given))).max(initial=0.0))

    @cached_property
    def omega(self) -> Array:
        """The matrix (4.8), n A^-1 n^T with friction, where its least eigenvalue is least: over every allowed friction.

        A sliding contact has one direction; one at rest, or two-sided, all that its section holds.
        """
        return omega_at(*self._couplings, self._worst)

    @cached_property
    def least_eigenvalue(self) -> float:
        """The least eigenvalue of Omega over every friction that the laws allow; positive: a solution exists."""
        return float(np.linalg.eigvalsh(self.omega)[0])

    @cached_property
    def _couplings(self) -> tuple[Array, list[Array]]:
        return couplings(self.problem)

    @cached_property
    def _worst(self) -> list[Array]:
        """Ratios of friction to normal force with the least eigenvalue of all: corners, then improved on discs."""
        G, D = self._couplings
        corners = allowed_ratios(self.problem, outer=False)
        if np.prod([float(len(item)) for item in corners]) > MOST:
            corners = [item[:: max(1, len(item) // 4)] for item in corners]
        starts = list(product(*corners)) if np.prod([float(len(item)) for item in corners]) <= MOST else [
            [item[0] for item in corners], [item[-1] for item in corners]
        ]  # fmt: skip
        value = {k: float(np.linalg.eigvalsh(omega_at(G, D, list(tau)))[0]) for k, tau in enumerate(starts)}
        best = min(value, key=value.__getitem__)
        return self._improved(list(starts[best]))

    def _improved(self, tau: list[Array]) -> list[Array]:
        """Turn the friction of contacts that rest in a plane against the eigenvector until nothing falls any more."""
        G, D = self._couplings
        rows = self.problem.rows
        free = [j for j in range(rows.count) if len(tau[j]) == 2 and not self._slip(j).any()]
        least = np.inf
        for _ in range(ROUNDS if free else 0):
            values, vectors = np.linalg.eigh(omega_at(G, D, tau))
            if values[0] > least - SETTLED:
                break
            least, x = values[0], vectors[:, 0]
            for j in free:
                push = x[j] * (D[j] @ x)
                size = float(np.linalg.norm(push))
                tau[j] = -float(rows.friction[j]) * push / size if size > 0 else tau[j]
        return tau

    def _slip(self, j: int) -> Array:
        rows = self.problem.rows
        return np.asarray(rows.slip[rows.first[j] : rows.first[j + 1]])

    def _forces(self, N: Any) -> Array:
        given = np.atleast_1d(np.asarray(N, dtype=float))
        if given.shape != (self.problem.rows.count,) or not np.isfinite(given).all():
            raise DeclarationError(
                f"inequality: one finite normal force is needed for each of {', '.join(self.contacts)}; it was given "
                f"{N!r:.60}."
            )
        return given

    def _moved(self, N: Array) -> tuple[Array, Array]:
        """Return the acceleration and the friction forces under given normal forces."""
        problem = self.problem
        force = problem.force + problem.rows.normal.T @ N
        rough = [
            replace(item, normal=None, bilateral=False, bias=0.0, normal_force=abs(float(value)))
            for item, value in zip(problem.contacts, N, strict=True)
            if item.tangent is not None
        ]
        if not rough:
            return np.asarray(problem.inverse_times(force)), np.zeros(0)
        given = replace(problem, force=force, contacts=rough)
        found = gauss_projection(friction_arrays(given))
        return np.asarray(found.acceleration), np.asarray(found.tangential)

    def __repr__(self) -> str:
        told: Sequence[str] = self.contacts
        return f"Inequality for the normal forces of {', '.join(told)}: least eigenvalue {self.least_eigenvalue:.6g}"
