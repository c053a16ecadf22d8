"""An impact as plain arrays, and what a law of impact makes of it.

At an instant the velocity jumps from v to v + w while positions stand still:

    mass @ w = sum_j (P_j normal_j + tangent_j.T @ F_j),

with normal impulses P_j and friction impulses F_j. The rate of contact j is normal_j @ v + rate0_j: rate0 is the part
that explicit time makes (a moving wall, a driven joint), and likewise for the slip.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang.errors import DeclarationError

Array = NDArray[np.float64]

CONTACT = "contact"
"""A one-sided constraint on positions whose gap is closed: it separates after the impact as its restitution says."""
ONE_SIDED = "one-sided"
"""A one-sided constraint on velocities: its expression is >= 0 after the impact, and its impulse keeps it so."""
HELD = "held"
"""A constraint that holds both ways, on positions or velocities."""
LOADED = "loaded"
"""Friction without a normal of its own: the impulses of others load it."""

CLOSING = 1e-12
"""Rates above minus this, relative to their terms, do not close."""


@dataclass(frozen=True, eq=False)
class ImpactContact:
    """One constraint that may carry an impulse.

    Parameters
    ----------
    normal : (n,) array
        Gradient of the expression by q (position level) or by v (velocity level).
    kind : {'contact', 'one-sided', 'held', 'loaded'}
        A closed gap; a one-sided constraint on velocities (active or not: an impact may make it active); a
        constraint that holds both ways; friction whose normal is zero, loaded by the contacts in `of`.
    rate0 : float
        The part of the rate that does not depend on the velocities.
    restitution : float, optional
        Of a 'contact': in [0, 1]. None is an impact whose outcome nobody declared.
    friction : float
        Coulomb's coefficient, times the scale of the expression; the larger one of two sides.
    sides : (float, float), optional
        In place of `friction`: coefficients against a slip > 0 and against a slip < 0. Rest has no law of its own:
        impulses know the coefficients of slip alone.
    tangent : (p, n) array, optional
        Rows of the slip, p = 0, 1 or 2.
    slip_rate0 : (p,) array, optional
        The part of the slip that does not depend on the velocities (a belt).
    of : tuple of int
        Of a 'loaded' one: the numbers of the contacts whose impulses load it.
    name : str, optional

    Examples
    --------
    >>> ImpactContact([0, 1], restitution=0.5, friction=0.3, tangent=[1, 0]).tangent
    array([[1., 0.]])
    """

    normal: Any
    kind: str = field(default=CONTACT, kw_only=True)
    rate0: float = field(default=0.0, kw_only=True)
    restitution: float | None = field(default=None, kw_only=True)
    friction: float = field(default=0.0, kw_only=True)
    sides: tuple[float, float] | None = field(default=None, kw_only=True)
    tangent: Any = field(default=None, kw_only=True)
    slip_rate0: Any = field(default=None, kw_only=True)
    of: tuple[int, ...] = field(default=(), kw_only=True)
    name: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "normal", np.asarray(self.normal, dtype=float))
        tangent = [] if self.tangent is None else self.tangent
        put(self, "tangent", np.asarray(tangent, dtype=float).reshape(-1, len(self.normal)))
        p = len(self.tangent)
        put(self, "slip_rate0", np.zeros(p) if self.slip_rate0 is None else np.reshape(self.slip_rate0, p) + 0.0)
        sides = (float(self.friction),) * 2 if self.sides is None else tuple(float(side) for side in self.sides)
        put(self, "sides", sides)
        put(self, "friction", max(sides))
        if self.kind not in (CONTACT, ONE_SIDED, HELD, LOADED):
            raise DeclarationError(
                f"ImpactContact: kind is {self.kind!r}, needed '{CONTACT}', '{ONE_SIDED}', '{HELD}' or '{LOADED}'."
            )
        e = self.restitution
        if e is not None and not 0 <= e <= 1:
            raise DeclarationError(
                f"{f'contact {self.name!r}' if self.name else 'a contact'}: restitution is {e:g}, needed a number "
                "between 0 (plastic) and 1 (elastic)."
            )

    @property
    def law(self) -> dict[str, Any]:
        """The law of friction as a `Contact` takes it."""
        plus, minus = self.sides or (0.0, 0.0)
        return {"friction": plus} if plus == minus else {"section": (-plus, minus)}

    @property
    def rubs(self) -> bool:
        """Whether there is friction."""
        return self.friction > 0 and len(self.tangent) > 0


@dataclass(frozen=True, eq=False)
class ImpactProblem:
    """A velocity, and everything that may carry an impulse at this instant.

    Parameters
    ----------
    mass : (n, n) array
        Symmetric positive definite.
    velocity : (n,) array
        Before the impact.
    contacts : sequence of ImpactContact
        The closed contacts (also those that rest), every one-sided constraint on velocities, every held one.
    without_collision : bool
        The impact starts though nothing closes: friction presses a sliding contact so hard that no finite reaction
        exists (Painleve). The outcome in which nothing happens is then left out.

    Examples
    --------
    >>> floor = ImpactContact([0, 1], restitution=0.5, name="floor")
    >>> ImpactProblem(np.eye(2), [1.0, -2.0], [floor]).rates
    array([-2.])
    """

    mass: Any
    velocity: Any
    contacts: Sequence[ImpactContact]
    without_collision: bool = False

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "mass", np.asarray(self.mass, dtype=float))
        put(self, "velocity", np.asarray(self.velocity, dtype=float))
        put(self, "contacts", tuple(self.contacts))
        n = len(self.velocity)
        for j, contact in enumerate(self.contacts):
            if len(contact.normal) != n:
                raise DeclarationError(
                    f"ImpactProblem: the normal of contacts[{j}] has length {len(contact.normal)} but velocity has "
                    f"length {n}. Rows and velocity count the same coordinates."
                )

    @cached_property
    def normals(self) -> Array:
        """(k, n) the rows of the rates."""
        return np.array([contact.normal for contact in self.contacts]).reshape(-1, len(self.velocity))

    @cached_property
    def rates(self) -> Array:
        """(k,) rates before the impact."""
        return self.rates_of(self.velocity)

    @cached_property
    def closing(self) -> NDArray[np.bool_]:
        """(k,) which constraints would be violated if the velocity did not jump."""
        size = np.abs(self.normals) @ np.abs(self.velocity) + np.array([abs(c.rate0) for c in self.contacts])
        held = np.array([contact.kind == HELD for contact in self.contacts], dtype=bool)
        return np.asarray(np.where(held, np.abs(self.rates), -self.rates) > CLOSING * size, dtype=bool)

    @cached_property
    def response(self) -> Array:
        """(n, n) the inverse of the mass matrix."""
        return np.linalg.inv(self.mass)

    def rates_of(self, velocity: Array) -> Array:
        """Return the rates (k,) at a velocity."""
        return np.asarray(self.normals @ velocity + np.array([contact.rate0 for contact in self.contacts]))

    def slip_of(self, j: int, velocity: Array) -> Array:
        """Return the slip (p,) of contact j at a velocity."""
        contact = self.contacts[j]
        return np.asarray(contact.tangent @ velocity + contact.slip_rate0)

    def kinetic(self, velocity: Array) -> float:
        """Return v^T mass v / 2."""
        return 0.5 * float(velocity @ self.mass @ velocity)

    def name_of(self, j: int) -> str:
        """Return what messages call contact j."""
        return self.contacts[j].name or f"contact {j + 1}"


@dataclass(frozen=True, eq=False)
class ImpactOutcome:
    """What a law of impact gives.

    Attributes
    ----------
    velocity : (n,) array
        After the impact; the velocity before it where `choice` is not None.
    normal : (k,) array
        Normal impulses, in the order of the contacts [N s].
    tangential : (k, 2) array
        Friction impulses; the first p components of each row count.
    energy_change : float
        Of the kinetic energy; moving walls do work too.
    contact_work : float
        Work of the impulses on the relative velocities of the contacts: what the impact itself gives (> 0) or takes.
        The same as energy_change where nothing depends on time.
    carrying : tuple of int
        The contacts that carry an impulse, held rows included.
    law : str
        'newton', 'poisson', 'energetic', or 'any' where they agree.
    choice : str or None
        Why the outcome is not determined, in words; None if it is.
    alternatives : tuple of ImpactOutcome
        With a choice: the outcomes to choose from, as far as they are known.
    residual : float
        Largest relative error of the law's conditions, recomputed from the impulses.
    """

    velocity: Array
    normal: Array
    tangential: Array
    energy_change: float = 0.0
    contact_work: float = 0.0
    carrying: tuple[int, ...] = ()
    law: str = "any"
    choice: str | None = None
    alternatives: tuple[ImpactOutcome, ...] = ()
    residual: float = 0.0


def outcome_of(
    problem: ImpactProblem,
    velocity: Array,
    normal: Array,
    tangential: Array,
    law: str,
    residual: float = 0.0,
) -> ImpactOutcome:
    """Return the outcome of impulses and the velocity that they make, with its energies."""
    work = scale = 0.0
    before, after = problem.rates, problem.rates_of(velocity)
    sizes = np.zeros(len(problem.contacts))
    for j, contact in enumerate(problem.contacts):
        work += 0.5 * normal[j] * float(before[j] + after[j])
        sizes[j] = abs(normal[j]) * math.sqrt(max(float(contact.normal @ problem.response @ contact.normal), 0.0))
        p = len(contact.tangent)
        if p:
            mean = 0.5 * (problem.slip_of(j, problem.velocity) + problem.slip_of(j, velocity))
            work += float(tangential[j, :p] @ mean)
        scale = max(scale, sizes[j])
    return ImpactOutcome(
        velocity=velocity,
        normal=normal,
        tangential=tangential,
        energy_change=problem.kinetic(velocity) - problem.kinetic(problem.velocity),
        contact_work=work,
        carrying=tuple(int(j) for j in np.flatnonzero(sizes > CARRIED * scale)),
        law=law,
        residual=residual,
    )


CARRIED = 1e-12
"""Impulses above this, relative to the largest, count as carried."""


def undecided(
    problem: ImpactProblem, reason: str, law: str, alternatives: Sequence[ImpactOutcome] = ()
) -> ImpactOutcome:
    """Return the outcome that says why there is none."""
    k = len(problem.contacts)
    return ImpactOutcome(
        velocity=problem.velocity.copy(),
        normal=np.zeros(k),
        tangential=np.zeros((k, 2)),
        law=law,
        choice=reason,
        alternatives=tuple(alternatives),
    )


def unchanged(problem: ImpactProblem) -> ImpactOutcome:
    """Return the outcome in which nothing happens."""
    k = len(problem.contacts)
    return ImpactOutcome(velocity=problem.velocity.copy(), normal=np.zeros(k), tangential=np.zeros((k, 2)))
