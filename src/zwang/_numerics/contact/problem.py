"""Contact problems as plain arrays: mass, force and contacts, checked once and stacked.

The unknowns are the acceleration w (n), a normal force N_j and a friction force T_j (p_j components) per contact:

    mass @ w = force + sum_j (N_j normal_j + tangent_j.T @ T_j).

A unilateral contact has normal_j @ w >= bias_j, N_j >= 0 and one of the two an equality; a bilateral one has
normal_j @ w = bias_j and N_j of any sign. Coulomb: |T_j| <= mu_j |N_j|, and T_j = -mu_j |N_j| d with d the direction
of the slip, or at rest of the slip acceleration tangent_j @ w - tangent_bias_j, where that is not zero. A given
normal force (Tresca) drops the conditions on the normal and keeps those on the friction force.

Other sections than discs: along one tangent T_j may lie in |N_j| [low, high]; a pair of coefficients is a disc on
tangents that are multiplied by them, and this is how it is stacked. A static coefficient holds at rest: slip from rest
is then a solution only where the same modes with that contact sticking have none.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from zwang._numerics.contact.numbers import ContactLaw, law_of_numbers
from zwang._numerics.contact.values import (
    Array,
    Matrix,
    completed,
    definite,
    dense,
    is_sparse,
    number,
    row,
    short,
    square,
    tangent_rows,
    vector,
)
from zwang.errors import DeclarationError

__all__ = ["Array", "Contact", "ContactProblem", "ContactRows", "Matrix", "dense", "is_sparse"]


@dataclass(frozen=True, eq=False)
class Contact:
    """One contact, or one constraint, in the coordinates of its `ContactProblem`.

    Parameters
    ----------
    normal : (n,) array, sparse row or None
        Gradient of the gap; neither unit length nor independence of the others is needed. None: friction without a
        normal row, whose bound is ``friction * normal_force``.
    tangent : (p, n) array, optional
        Rows that give the slip velocity, p = 0, 1 or 2; one row may be given as (n,).
    friction : float or a pair of them
        Coulomb's coefficient; a pair belongs to two tangents: an elliptic cone.
    bias : float
        The least (bilateral: the only) value of ``normal @ w`` that the contact allows.
    tangent_bias : (p,) array, optional
        Value of ``tangent @ w`` at which the contact sticks; zero if left out.
    bilateral : bool
        Whether the contact also pulls.
    slip : (p,) array, optional
        Slip velocity [m/s if tangent is of unit length]; zero, that is rest, if left out.
    normal_force : float, optional
        A normal force known in advance (Tresca's law).
    static_friction : float or a pair of them, optional
        Coefficient at rest, at least `friction`; beside `section` a pair is (low, high).
    section : pair of floats, optional
        Along one tangent, in place of `friction`: the friction force lies in abs(N) [low, high], low <= 0 <= high.
    name : str, optional
        What results call the contact.

    Examples
    --------
    >>> Contact([0, 1], tangent=[1, 0], friction=0.3, slip=-1.0).tangent
    array([[1., 0.]])
    """

    normal: Any
    tangent: Any = field(default=None, kw_only=True)
    friction: Any = field(default=0.0, kw_only=True)
    bias: float = field(default=0.0, kw_only=True)
    tangent_bias: Any = field(default=None, kw_only=True)
    bilateral: bool = field(default=False, kw_only=True)
    slip: Any = field(default=None, kw_only=True)
    normal_force: float | None = field(default=None, kw_only=True)
    static_friction: Any = field(default=None, kw_only=True)
    section: Any = field(default=None, kw_only=True)
    name: str | None = field(default=None, kw_only=True)
    law: ContactLaw = field(init=False, repr=False)

    def __post_init__(self) -> None:
        put = object.__setattr__
        if self.normal is not None:
            put(self, "normal", row(self._label("normal"), self.normal))
        tangent = tangent_rows(self._label("tangent"), self.tangent, self.normal)
        put(self, "tangent", tangent)
        p = tangent.shape[0]
        put(self, "bias", number(self._label("bias"), self.bias))
        put(self, "tangent_bias", short(self._label("tangent_bias"), self.tangent_bias, p))
        put(self, "slip", short(self._label("slip"), self.slip, p))
        put(self, "bilateral", bool(self.bilateral))
        if self.normal_force is not None:
            put(self, "normal_force", number(self._label("normal_force"), self.normal_force))
        law = law_of_numbers(self._label, self.friction, self.static_friction, self.section, p)
        put(self, "law", law)
        put(self, "friction", law.friction)
        self._check(p)

    def _label(self, what: str) -> str:
        return f"Contact '{self.name}': {what}" if self.name else f"Contact: {what}"

    def _check(self, p: int) -> None:
        if self.normal is None and self.normal_force is None:
            raise DeclarationError(
                f"{self._label('normal')} is None, so the friction has no load. "
                f"Give normal_force=bound with friction=1 (Tresca), or the normal."
            )
        if self.normal is None and self.normal_force is not None and self.normal_force < 0:
            raise DeclarationError(
                f"{self._label('normal_force')} is {self.normal_force:g} and bounds a friction force, "
                f"needed a number >= 0."
            )


@dataclass(frozen=True, eq=False)
class ContactRows:
    """The contacts of a problem, stacked.

    Attributes
    ----------
    normal : (k, n) dense or csr
        Normals; a zero row where there is none.
    tangent : (m, n) dense or csr
        Tangents of all contacts; those of contact j are rows ``first[j]:first[j + 1]``.
    first : (k + 1,) int array
    friction, bias : (k,) arrays
        The coefficient: of an interval with two sizes, that against the slip, or the larger one at rest.
    normal_force : (k,) array
        The given normal force, nan where it is unknown.
    tangent_bias, slip : (m,) arrays
    bilateral, has_normal : (k,) bool arrays
    sides : (k, 2) array or None
        Coefficients against a slip > 0 and against a slip < 0; None where all are alike.
    resting : (k, 2) array or None
        The same at rest, for two tangents the semi-axes; nan where rest has no law of its own, None where none has.
    axes : (k, 2) array or None
        Factors by which tangents, biases and slips of elliptic cones are multiplied here; friction forces are to be
        multiplied by them. None where all are 1.
    """

    normal: Matrix
    tangent: Matrix
    first: npt.NDArray[np.int64]
    friction: Array
    bias: Array
    tangent_bias: Array
    bilateral: npt.NDArray[np.bool_]
    slip: Array
    normal_force: Array
    has_normal: npt.NDArray[np.bool_]
    sides: Array | None = None
    resting: Array | None = None
    axes: Array | None = None

    @property
    def plain(self) -> bool:
        """Whether every section is a disc or a symmetric interval, the same at rest."""
        return self.sides is None and self.resting is None

    @property
    def count(self) -> int:
        """The number of contacts."""
        return len(self.friction)

    @property
    def components(self) -> npt.NDArray[np.int64]:
        """The number p of tangential components of each contact."""
        return np.diff(self.first)


@dataclass(frozen=True, eq=False)
class Given:
    """What a problem was before bilateral rows made up for missing inertia: mass, force, and W, D and bias of these."""

    mass: Matrix
    force: Array
    rows: Matrix
    weights: Array
    bias: Array


@dataclass(frozen=True, eq=False, repr=False)
class ContactProblem:
    """Given forces and contacts; the accelerations and reactions are asked.

    Parameters
    ----------
    mass : (n, n) array or sparse matrix
        Symmetric, positive definite; or semidefinite, and definite on the motions that the bilateral contacts allow:
        then their rows are added to it, and to the force, in a way that changes no acceleration and no reaction.
        Leave it out when `inverse_mass` is given.
    force : (n,) array
        Every force that depends neither on the acceleration nor on the reactions.
    contacts : sequence of Contact
    inverse_mass : (n, n) array or sparse matrix, optional
        The inverse of the mass matrix in place of it.

    Examples
    --------
    A block of unit mass pushed along a floor, less than friction can hold.

    >>> floor = Contact([0, 1], tangent=[[1, 0]], friction=0.5)
    >>> ContactProblem(np.eye(2), [0.4, -1.0], contacts=[floor])
    ContactProblem: 2 coordinates, 1 contact (1 at rest)
    """

    mass: Matrix = None
    force: Any = None
    contacts: Sequence[Contact] = ()
    inverse_mass: Matrix = field(default=None, kw_only=True)
    rows: ContactRows = field(init=False)
    given: Given | None = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        put = object.__setattr__
        if self.force is None:
            raise DeclarationError("ContactProblem: force is missing. Give force=(n,), zeros if there is none.")
        force = vector("ContactProblem: force", self.force)
        put(self, "force", force)
        if (self.mass is None) == (self.inverse_mass is None):
            what = "neither mass nor inverse_mass" if self.mass is None else "both mass and inverse_mass"
            raise DeclarationError(f"ContactProblem: {what} given, needed exactly one of them.")
        which = "mass" if self.inverse_mass is None else "inverse_mass"
        matrix = square(f"ContactProblem: {which}", getattr(self, which), len(force))
        put(self, which, matrix)
        put(self, "contacts", tuple(self.contacts))
        put(self, "rows", _stack(self.contacts, len(force)))
        self._complete(which)

    def _complete(self, which: str) -> None:
        """Let the bilateral rows W make up for inertia that is missing: M + W^T D W, with W^T D bias as a force.

        On W w = bias what is added cancels, so that accelerations and reactions are those of the given matrix.
        """
        put = object.__setattr__
        held = np.flatnonzero(self.rows.bilateral & self.rows.has_normal & np.isnan(self.rows.normal_force))
        if which == "inverse_mass":
            held = held[:0]
        rows = self.rows.normal[held]
        weights = definite(f"ContactProblem: {which}", getattr(self, which), rows)
        if weights is not None:
            put(self, "given", Given(self.mass, self.force, rows, weights, self.rows.bias[held]))
            put(self, "mass", completed(self.mass, rows, weights))
            put(self, "force", self.force + rows.T @ (weights * self.rows.bias[held]))

    def __repr__(self) -> str:
        k = self.rows.count
        sliding = sum(bool(np.any(contact.slip != 0)) for contact in self.contacts) if k < 10_000 else 0
        kinds = f" ({k - sliding} at rest{f', {sliding} sliding' if sliding else ''})" if 0 < k < 10_000 else ""
        return f"ContactProblem: {len(self.force)} coordinates, {k} contact{'s' if k != 1 else ''}{kinds}"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the contacts; 'contact 1', 'contact 2', ... where none was given."""
        names = tuple(contact.name or f"contact {j + 1}" for j, contact in enumerate(self.contacts))
        if len(set(names)) != len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise DeclarationError(f"ContactProblem: two contacts are called '{twice}'. Give each its own name.")
        return names


def _stack(contacts: Iterable[Contact], n: int) -> ContactRows:
    contacts = tuple(contacts)
    for j, contact in enumerate(contacts):
        _agrees(contact, j, n)
    p = np.array([contact.tangent.shape[0] for contact in contacts], dtype=np.int64)
    given = [math.nan if c.normal_force is None else c.normal_force for c in contacts]
    none: list[Array] = [np.zeros(0)]
    sparse = any(is_sparse(c.normal) or is_sparse(c.tangent) for c in contacts)
    stacked = ContactRows(
        normal=_rows([c.normal for c in contacts], n, sparse),
        tangent=_rows([c.tangent for c in contacts if c.tangent.shape[0]], n, sparse),
        first=np.concatenate([[0], np.cumsum(p)]).astype(np.int64),
        friction=np.array([c.law.radius for c in contacts], dtype=float),
        bias=np.array([c.bias for c in contacts], dtype=float),
        tangent_bias=np.concatenate(none + [c.tangent_bias for c in contacts]),
        bilateral=np.array([c.bilateral for c in contacts], dtype=bool),
        slip=np.concatenate(none + [c.slip for c in contacts]),
        normal_force=np.array(given, dtype=float),
        has_normal=np.array([c.normal is not None for c in contacts], dtype=bool),
    )
    return stacked if all(c.law.plain for c in contacts) else _with_sections(stacked, contacts)


def _with_sections(rows: ContactRows, contacts: Sequence[Contact]) -> ContactRows:
    """Return stacked rows with what sections other than discs, and rest, need."""
    laws = [contact.law for contact in contacts]
    changes: dict[str, Any] = {}
    if any(law.axes is not None for law in laws):
        axes = np.array([(1.0, 1.0) if law.axes is None else law.axes for law in laws])
        factor = axes[np.arange(2) < rows.components[:, None]]
        scaled = rows.tangent.multiply(factor[:, None]).tocsr() if is_sparse(rows.tangent) else None
        changes = {
            "axes": axes,
            "tangent": factor[:, None] * rows.tangent if scaled is None else scaled,
            "tangent_bias": factor * rows.tangent_bias,
            "slip": factor * rows.slip,
        }
    if any(law.sides[0] != law.sides[1] for law in laws):
        sides = np.array([law.sides for law in laws])
        slip = np.zeros(rows.count)
        slip[rows.components > 0] = rows.slip[rows.first[:-1][rows.components > 0]]
        against = np.where(slip > 0, sides[:, 0], np.where(slip < 0, sides[:, 1], sides.max(axis=1)))
        changes |= {"sides": sides, "friction": np.where(sides[:, 0] == sides[:, 1], rows.friction, against)}
    if any(law.resting is not None for law in laws):
        changes["resting"] = np.array([(math.nan, math.nan) if law.resting is None else law.resting for law in laws])
    return replace(rows, **changes)


def _agrees(contact: object, j: int, n: int) -> None:
    if not isinstance(contact, Contact):
        raise DeclarationError(f"ContactProblem: contacts[{j}] is a {type(contact).__name__}, needed a Contact.")
    row, what = (contact.normal, "normal") if contact.normal is not None else (contact.tangent, "tangent")
    if row.shape[-1] != n:
        raise DeclarationError(
            f"ContactProblem: the {what} of contacts[{j}] has length {row.shape[-1]} but force has length {n}. "
            f"Rows and force count the same coordinates."
        )


def _rows(blocks: Sequence[Matrix], n: int, sparse: bool) -> Matrix:
    """Stack rows; None is a row of zeros."""
    if not sparse:
        dense_blocks = [np.zeros((1, n)) if block is None else np.reshape(block, (-1, n)) for block in blocks]
        return np.concatenate([np.zeros((0, n)), *dense_blocks])
    from scipy.sparse import csr_matrix

    # By hand: scipy's vstack of a hundred thousand rows takes seconds.
    counts, indices, data = [np.zeros(1, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0)]
    for block in blocks:
        if block is None:
            counts.append(np.zeros(1, np.int64))
            continue
        csr = block.tocsr() if is_sparse(block) else csr_matrix(np.reshape(block, (-1, n)))
        counts.append(np.diff(csr.indptr))
        indices.append(csr.indices)
        data.append(csr.data)
    pointer = np.cumsum(np.concatenate(counts))
    return csr_matrix((np.concatenate(data), np.concatenate(indices), pointer), shape=(len(pointer) - 1, n))
