"""Masses: what is refused, what is accepted, and the model that a motion needs where masses are missing.

M may be positive semidefinite if it is definite on the kernel of the bilateral rows. Where that is lost at a state
alone (massless bars in line) the state is singular; where it is lost everywhere, or M is indefinite, the declaration
is at fault.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from zwang._compile.given_values import Inputs
from zwang._declare.constraints import Friction
from zwang._declare.contact_table import table_of
from zwang._declare.system import System
from zwang._derive.supported import Supported, support
from zwang._kernels import Service, SparseTerms, dense_terms
from zwang._numerics.linear.inertia import Lack, lack_of_inertia, least_inertia, needs_support
from zwang._numerics.linear.kkt import supported_against
from zwang._numerics.linear.metric import factor
from zwang._numerics.linear.metric import support as weights_for
from zwang._numerics.linear.rank import proved_independent
from zwang.errors import DeclarationError, StateError

Array = NDArray[np.float64]
Places = list[int] | NDArray[np.int64]
"""Numbers of normals."""

ELSEWHERE = (1e-2, 1e-4)
TRIALS = 3  # random places nearby: inertia that isn't lost everywhere is there at one of them
FADING = 1e-6
"""Part of the inertia left, in a supported mass matrix, below which steps that fail do so because it vanishes."""


class Computed(Protocol):
    """What is asked of a Model here."""

    system: System

    @property
    def kernels(self) -> Service:
        """Where its terms are asked."""

    def another(self, system: System) -> Self:
        """Return the Model of another system in the same backend."""


M = TypeVar("M", bound=Computed)


@dataclass(frozen=True, eq=False)
class Inertia(Generic[M]):
    """What the masses of a model are good for at a state.

    Attributes
    ----------
    model : Model
    weights : tuple of float
        Of the normals whose rows complete the mass matrix; empty where it stands by itself.
    lost : str
        The motion that has no inertia at this state, in words; empty where there is none.
    independent : bool
        Whether the bilateral rows were seen to be independent beyond any rounding.
    definite : bool
        Whether the mass matrix of the state was seen to be safely positive definite by itself.
    """

    model: M
    weights: tuple[float, ...] = ()
    lost: str = ""
    independent: bool = False
    definite: bool = False

    @property
    def moving(self) -> M:
        """The model to move with: the given one, or one whose rows complete its mass matrix."""
        if not self.weights:
            return self.model
        return self.model.another(support(self.model.system, self.weights))

    def lifted(self, terms: Any) -> Any:
        """Return the terms of one state with M + W^T D W and Q + W^T D gamma for M and Q where M has light parts.

        Where parts of M are missing a ContactProblem completes it by itself, and loses no digit of M.
        """
        if not self.weights:
            return terms
        terms = dense_terms(terms)
        if factor(terms.mass[..., 0]) is None:
            return terms
        weights = np.array(self.weights)[:, None]
        mass = terms.mass + np.einsum("jib,jkb->ikb", terms.rows, weights[:, :, None] * terms.rows)
        force = terms.force + np.einsum("jib,jb->ib", terms.rows, weights * terms.gamma)
        return replace(terms, mass=mass, force=force)

    @property
    def words(self) -> str:
        """What is wrong at the state."""
        return (
            f"the motion {self.lost} has no inertia here, although it has some nearby: the masses and the bilateral "
            "constraints don't determine the accelerations."
        )


def inertia_of(model: M, inputs: Inputs, terms: Any = None) -> Inertia[M]:
    """Return the model to compute with at a state; masses that can't be are a DeclarationError."""
    if isinstance(model.system, Supported):
        return _of_supported(model, inputs)
    terms = terms or model.kernels.terms(inputs.t, inputs.q, inputs.v, inputs.params)
    if isinstance(terms, SparseTerms) and float(terms.mass[0].diagonal().min()) > 0.0:
        return Inertia(model)  # large, and every coordinate has a mass of its own
    mass, every, force, gamma = terms.at(0)
    if not np.isfinite(mass).all() or not np.isfinite(every).all():
        return Inertia(model)  # said elsewhere, with the name of what is not finite
    places = table_of(model.system).held
    rows = every[places]
    if len(places) and proved_independent(rows, mass):
        return Inertia(model, independent=True, definite=True)
    if not needs_support(mass, rows):
        return Inertia(model, definite=True)
    lack = lack_of_inertia(mass, rows)
    if lack is None:
        return Inertia(model, _weights(model.system, mass, rows, (force, gamma[places]), places))
    names = [item.name for item in model.system.coordinates]
    if lack.indefinite:
        raise DeclarationError(indefinite(model.system.name, lack, names))
    if not _elsewhere(model, inputs, places):
        raise DeclarationError(nowhere(model.system.name, lack, names))
    return Inertia(model, lost=lack.named(names))


def _of_supported(model: M, inputs: Inputs) -> Inertia[M]:
    """Return what is left of the inertia of a model whose rows complete its masses."""
    mass, rows, _, _ = model.kernels.terms(inputs.t, inputs.q, inputs.v, inputs.params).at(0)
    places = table_of(model.system).held
    lack = lack_of_inertia(mass, rows[places]) if np.isfinite(mass).all() and np.isfinite(rows).all() else None
    if lack is None or not _elsewhere(model, inputs, places):
        return Inertia(model)
    return Inertia(model, lost=lack.named([item.name for item in model.system.coordinates]))


def fading_inertia(model: Computed, inputs: Inputs) -> str:
    """Return the motion whose inertia vanishes next to a state of a model with supported masses, in words, else ''."""
    if not isinstance(model.system, Supported):
        return ""
    mass, rows, _, _ = model.kernels.terms(inputs.t, inputs.q, inputs.v, inputs.params).at(0)
    if not (np.isfinite(mass).all() and np.isfinite(rows).all()):
        return ""
    lack = least_inertia(mass, rows[table_of(model.system).held])
    return lack.named([item.name for item in model.system.coordinates]) if lack.energy < FADING else ""


def require_inertia(model: Computed, inputs: Inputs, places: Places) -> None:
    """Refuse a mass matrix that is not definite on the kernel of the rows that hold, those of the normals `places`."""
    mass, every, _, _ = model.kernels.terms(inputs.t, inputs.q, inputs.v, inputs.params).at(0)
    rows = every[places]
    lack = lack_of_inertia(mass, rows) if np.isfinite(mass).all() and np.isfinite(rows).all() else None
    if lack is None:
        return
    system, names = model.system, [item.name for item in model.system.coordinates]
    if not lack.indefinite and _elsewhere(model, inputs, places):
        raise StateError(f"{system.name}: {Inertia(model, lost=lack.named(names)).words} Choose another state.")
    raise DeclarationError((indefinite if lack.indefinite else nowhere)(system.name, lack, names))


def indefinite(name: str, lack: Lack, names: list[str]) -> str:
    """Return what is said of an indefinite mass matrix."""
    return (
        f"{name}: the mass matrix is not positive definite: the motion {lack.named(names)} has negative kinetic energy "
        f"({lack.energy:.2g} of that without coupling). Check the signs of masses and moments of inertia."
    )


def nowhere(name: str, lack: Lack, names: list[str]) -> str:
    """Return what is said of a motion that has no inertia anywhere."""
    return (
        f"{name}: the mass matrix is not positive definite: the motion {lack.named(names)} has no inertia, and no "
        "bilateral constraint ties it to a mass. Give it a mass, or a constraint that determines it."
    )


def _elsewhere(model: Computed, inputs: Inputs, places: Places) -> bool:
    """Whether inertia suffices at some configuration next to a state."""
    source = np.random.default_rng(0)
    size = np.maximum(np.abs(inputs.q), np.abs(inputs.q).max(initial=0.0))
    for step in ELSEWHERE:
        for unit in (np.where(size > 0, size, 1.0), np.ones_like(size)):
            for _ in range(TRIALS):
                q = inputs.q + step * unit * source.normal(size=size.shape)
                mass, rows, _, _ = model.kernels.terms(inputs.t, q, inputs.v, inputs.params).at(0)
                finite = np.isfinite(mass).all() and np.isfinite(rows).all()
                if finite and lack_of_inertia(mass, rows[places]) is None:
                    return True
    return False


def _weights(system: System, mass: Array, rows: Array, load: tuple[Array, Array], places: Places) -> tuple[float, ...]:
    """Return the weights of the normals: powers of 16, so that they round nothing and few models are made."""
    weights = [0.0] * sum(not isinstance(item, Friction) for item in system.constraints)
    found = weights_for(mass, rows)
    if all(np.isfinite(item).all() for item in load):
        found = supported_against(mass, rows, *load, found)
    for place, weight in zip(places, found, strict=True):
        weights[place] = 16.0 ** round(math.log(weight, 16.0)) if weight > 0 else 0.0
    return tuple(weights)
