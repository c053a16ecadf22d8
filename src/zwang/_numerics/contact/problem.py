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

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from zwang._numerics.contact.contact_rows import (
    Bools,
    Contact,
    ContactRows,
    Ints,
    StackedContacts,
    stack,
    with_sections,
)
from zwang._numerics.contact.inverse_mass import InverseMass, inverse_of
from zwang._numerics.contact.numbers import ContactLaw
from zwang._numerics.contact.problem_values import (
    Array,
    Matrix,
    completed,
    definite,
    dense,
    is_sparse,
    square,
    thin,
    vector,
)
from zwang._numerics.contact.table import ContactPlace, ContactTable
from zwang._numerics.linear.blocks import WORTH
from zwang._numerics.linear.kkt import supported_against
from zwang._numerics.linear.rank import proved_by_gram
from zwang.errors import DeclarationError

__all__ = ["Array", "Contact", "ContactProblem", "ContactRows", "Matrix", "dense", "is_sparse"]


FEW = 16
"""Coordinates up to which NumPy factors a mass matrix."""
FEW_ROWS = 90
"""Rows of normals and tangents up to which sparse ones cost more than dense ones, over few coordinates."""
SMALL = 600
"""Sparse matrices up to this size are treated as dense ones."""


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
        if not len(force):
            raise DeclarationError("ContactProblem: force is empty, needed one number for each coordinate.")
        put(self, "force", force)
        if (self.mass is None) == (self.inverse_mass is None):
            what = "neither mass nor inverse_mass" if self.mass is None else "both mass and inverse_mass"
            raise DeclarationError(f"ContactProblem: {what} given, needed exactly one of them.")
        which = "mass" if self.inverse_mass is None else "inverse_mass"
        matrix = square(f"ContactProblem: {which}", getattr(self, which), len(force))
        put(self, which, matrix)
        if not isinstance(self.contacts, Iterable):
            raise DeclarationError(f"ContactProblem: contacts is {self.contacts!r:.60}, needed a list of Contact(...).")
        put(self, "contacts", tuple(self.contacts))
        put(self, "rows", stack(self.contacts, len(force)))
        self._complete(which)

    @classmethod
    def stacked(
        cls, mass: Matrix, force: Array, rows: ContactRows, names: Sequence[str], *, definite: bool = False
    ) -> ContactProblem:
        """Return the problem of rows that are stacked already and known to be sound; `definite`: its masses too."""
        made = object.__new__(cls)
        put = object.__setattr__
        put(made, "mass", mass.tocsc() if is_sparse(mass) else mass)
        put(made, "inverse_mass", None)
        put(made, "force", force)
        put(made, "rows", rows)
        put(made, "given", None)
        put(made, "contacts", StackedContacts(rows, tuple(names)))
        if not definite:
            made._complete("mass")
        return made

    def with_rows(self, rows: ContactRows) -> ContactProblem:
        """Return the problem with other rows, as sound as those it has."""
        made = object.__new__(type(self))
        for name in ("mass", "inverse_mass", "force", "given", "contacts"):
            object.__setattr__(made, name, getattr(self, name))
        object.__setattr__(made, "rows", rows)
        return made

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
            if not is_sparse(self.mass):
                weights = supported_against(self.mass, dense(rows), self.force, self.rows.bias[held], weights)
            put(self, "given", Given(self.mass, self.force, rows, weights, self.rows.bias[held]))
            put(self, "mass", completed(self.mass, rows, weights))
            put(self, "force", self.force + rows.T @ (weights * self.rows.bias[held]))

    def __getstate__(self) -> dict[str, Any]:
        made = ("inverse", "inverse_form", "inverse_times", "kept", "thin_rows", "_few")
        return {name: value for name, value in self.__dict__.items() if name not in made}

    @cached_property
    def kept(self) -> dict[str, Any]:
        """What was computed of the problem and is asked for again; no part of it."""
        return {}

    @cached_property
    def inverse(self) -> Array:
        """The inverse of a small dense mass matrix."""
        root = np.linalg.inv(np.linalg.cholesky(dense(self.mass)))
        found: Array = root.T @ root
        return found

    @cached_property
    def inverse_form(self) -> InverseMass:
        """A^-1 in the form that suits the mass matrix."""
        given = (self.mass, self.inverse_mass)
        return inverse_of(*(dense(part) if is_sparse(part) and self._few else part for part in given))

    @cached_property
    def _few(self) -> bool:
        """Whether dense arrays are the quicker ones whatever was given."""
        rows = self.rows.normal.shape[0] + self.rows.tangent.shape[0]
        return len(self.force) <= WORTH and rows <= FEW_ROWS

    @cached_property
    def thin_rows(self) -> ContactRows:
        """The rows, sparse where masses are small blocks and rows are nearly all zeros, dense where all is small."""
        rows, sparse = self.rows, is_sparse(self.rows.normal)
        if self._few:
            return replace(rows, normal=dense(rows.normal), tangent=dense(rows.tangent)) if sparse else rows
        if sparse or not is_sparse(self.inverse_form.matrix):
            return rows
        return replace(rows, normal=thin(rows.normal), tangent=thin(rows.tangent))

    @cached_property
    def inverse_times(self) -> Callable[[Array], Array]:
        """What multiplies (n,) or (n, m) arrays by the inverse of the mass matrix."""
        if self.inverse_mass is not None:
            inverse = self.inverse_mass
            return lambda x: np.asarray(inverse @ x)
        mass = self.mass
        if mass.shape[0] > WORTH and is_sparse(self.inverse_form.matrix):
            blocks: Any = self.inverse_form.matrix

            def by_blocks(x: Array) -> Array:
                y = blocks @ x
                return np.asarray(y + blocks @ (x - mass @ y))

            return by_blocks
        if is_sparse(mass) and mass.shape[0] > SMALL:
            from scipy.sparse.linalg import splu

            return splu(mass, permc_spec="MMD_AT_PLUS_A").solve  # type: ignore[no-any-return]
        if mass.shape[0] <= FEW:  # SciPy takes longer to load than all the rest of one small problem
            full = dense(mass)
            own = full.diagonal()
            if np.count_nonzero(full) == len(full):  # no coordinates are coupled, as often in the plane
                return lambda x: np.asarray(x / (own if x.ndim == 1 else own[:, None]))
            inverse = self.inverse

            def refined(x: Array) -> Array:
                y = inverse @ x
                return np.asarray(y + inverse @ (x - full @ y))

            return refined
        from scipy.linalg.lapack import dpotrf, dpotrs

        factor, failed = dpotrf(dense(mass), lower=1, clean=0)
        if failed:
            raise np.linalg.LinAlgError("the mass matrix is not positive definite")
        return lambda x: np.asarray(dpotrs(factor, x, lower=1)[0]) if x.size else np.zeros_like(x)

    def proves_independent(self, rows: Array) -> bool:
        """Whether rows (m, n) are independent beyond any rounding, told by the factors that are there already."""
        return len(rows) <= rows.shape[1] and proved_by_gram(rows @ self.inverse_times(rows.T))

    def __repr__(self) -> str:
        k = self.rows.count
        moving = np.append(0, np.cumsum(self.rows.slip != 0))[self.rows.first]
        sliding = int((np.diff(moving) > 0).sum())
        kinds = f" ({k - sliding} at rest{f', {sliding} sliding' if sliding else ''})" if 0 < k < 10_000 else ""
        return f"ContactProblem: {len(self.force)} coordinates, {k} contact{'s' if k != 1 else ''}{kinds}"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the contacts; 'contact 1', 'contact 2', ... where none was given."""
        if isinstance(self.contacts, StackedContacts):
            return self.contacts.names
        names = tuple(contact.name or f"contact {j + 1}" for j, contact in enumerate(self.contacts))
        if len(set(names)) != len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise DeclarationError(f"ContactProblem: two contacts are called '{twice}'. Give each its own name.")
        return names


def problem_of(
    table: ContactTable,
    terms: Any,
    chosen: Ints,
    rest: Bools,
    known: Mapping[str, float] | None = None,
    *,
    declared: bool = True,
    definite: bool = False,
) -> ContactProblem:
    """Return the contact problem of one state, straight from the terms of its equations.

    Parameters
    ----------
    table : ContactTable
    terms : Terms or SparseTerms
        Of one state.
    chosen : (c,) int array
        The lines that act, in their order.
    rest : (k,) bool array
        Which lines have no slip.
    known : mapping of str to float, optional
        Normal forces that are given, by name.
    declared : bool
        Whether friction forces are told along the declared slips, not along those on which sections are round.
    definite : bool
        Whether the mass matrix is known to be positive definite.
    """
    lines, places = table.chosen(chosen), chosen.tolist()
    dense_terms = isinstance(terms.rows, np.ndarray)
    mass, rows, slip_rows = (
        part[..., 0] if dense_terms else part[0] for part in (terms.mass, terms.rows, terms.slip_rows)
    )
    bounds = np.zeros(len(terms.bounds) + 1)  # the last is for lines without a law
    np.maximum(terms.bounds[:, 0], 0.0, out=bounds[:-1])
    has, free, friction = lines.has, lines.free, bounds[lines.law]
    given = np.where(free, friction, np.nan)
    given[lines.unloaded] = 0.0
    if has.all():
        normal, bias = rows[lines.normal], terms.gamma[lines.normal, 0]
    else:
        normal = _picked(rows, lines.normal, has)
        bias = np.zeros(len(has))
        bias[has] = terms.gamma[lines.normal[has], 0]
    stacked = ContactRows(
        normal=normal,
        tangent=slip_rows[lines.slips],
        first=lines.first,
        friction=np.where(free, 1.0, friction),
        bias=bias,
        tangent_bias=terms.slip_bias[lines.slips, 0],
        bilateral=lines.bilateral,
        slip=np.where(rest[lines.owner], 0.0, terms.slip[lines.slips, 0]),
        normal_force=given,
        has_normal=has,
        of=lines.of,
    )
    if not table.round:
        stacked = with_sections(stacked, [_law(table.places[j], bounds, declared=declared) for j in places], free)
    if known:
        forces = [known.get(name, old) for name, old in zip(lines.names, stacked.normal_force, strict=True)]
        stacked = replace(stacked, normal_force=np.array(forces))
    return ContactProblem.stacked(mass, terms.force[:, 0], stacked, lines.names, definite=definite)


def _law(place: ContactPlace, bounds: Array, *, declared: bool) -> ContactLaw:
    """Return the numbers of a line's law at a state, with a bound in place of a normal force as a coefficient."""
    sides = (float(bounds[place.rows.sides[0]]), float(bounds[place.rows.sides[1]]))
    rest = place.rows.resting
    axes = tuple(float(bounds[row]) for row in place.rows.axes)
    return ContactLaw(
        max(sides),
        sides,
        None if rest is None else (float(bounds[rest[0]]), float(bounds[rest[1]])),
        (axes[0], axes[1]) if axes and declared else None,
    )


def _picked(rows: Matrix, places: Ints, has: Bools) -> Matrix:
    """Return these rows, zeros where there is none."""
    if not is_sparse(rows):
        found = np.zeros((len(places), rows.shape[1]))
        found[has] = rows[places[has]]
        return found
    from scipy.sparse import csr_array

    pick = csr_array((np.ones(int(has.sum())), (np.flatnonzero(has), places[has])), shape=(len(has), rows.shape[0]))
    return (pick @ rows).tocsr()
