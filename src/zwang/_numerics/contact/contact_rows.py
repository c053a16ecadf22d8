"""Contacts one by one, as people give them, and stacked, as solvers take them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from zwang._numerics.contact.numbers import ContactLaw, law_of_numbers
from zwang._numerics.contact.problem_values import Array, Matrix, is_sparse, number, row, short, tangent_rows
from zwang.errors import DeclarationError

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


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
    of : int or tuple of int, optional
        Without a normal: numbers of the contacts whose normal forces load this friction, abs(N) being their resultant,
        sqrt(sum N_j**2).
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
    of: Any = field(default=None, kw_only=True)
    name: str | None = field(default=None, kw_only=True)
    law: ContactLaw = field(init=False, repr=False)

    def __post_init__(self) -> None:
        put = self.__dict__.__setitem__  # frozen for others; a problem may have thousands
        if self.name is not None and not isinstance(self.name, str):
            raise DeclarationError(f"Contact: name is {self.name!r:.60}, needed a text.")
        if self.normal is not None:
            put("normal", row(self._label("normal"), self.normal))
        tangent = tangent_rows(self._label("tangent"), self.tangent, self.normal)
        put("tangent", tangent)
        p = tangent.shape[0]
        if type(self.bias) is not float or not math.isfinite(self.bias):
            put("bias", number(self._label("bias"), self.bias))
        put("tangent_bias", np.zeros(p) if self.tangent_bias is None else self._per_tangent("tangent_bias", p))
        put("slip", np.zeros(p) if self.slip is None else self._per_tangent("slip", p))
        if not isinstance(self.bilateral, (bool, int, np.bool_)):
            raise DeclarationError(f"{self._label('bilateral')} is {self.bilateral!r:.60}, needed True or False.")
        put("bilateral", bool(self.bilateral))
        if self.normal_force is not None:
            put("normal_force", number(self._label("normal_force"), self.normal_force))
        law = law_of_numbers(self._label, self.friction, self.static_friction, self.section, p)
        put("law", law)
        put("friction", law.friction)
        put("of", self._loads())
        self._check(p)

    def _per_tangent(self, what: str, p: int) -> Array:
        """Return one number for each tangent."""
        return short(self._label(what), getattr(self, what), p)

    def _loads(self) -> tuple[int, ...]:
        """Return the numbers of the contacts that load this friction, none where it has a load of its own."""
        if self.of is None or (isinstance(self.of, tuple) and not self.of):
            return ()
        given = (self.of,) if isinstance(self.of, (int, np.integer)) else self.of
        listed = tuple(given) if isinstance(given, (tuple, list, np.ndarray)) else (None,)
        if not all(isinstance(item, (int, np.integer)) and not isinstance(item, bool) for item in listed):
            raise DeclarationError(
                f"{self._label('of')} is {self.of!r:.60}, needed the number of a contact of the problem, or several."
            )
        if len(set(listed)) < len(listed):
            raise DeclarationError(f"{self._label('of')} names a contact twice: {listed}.")
        if self.normal is not None or self.normal_force is not None:
            other = "a normal" if self.normal is not None else "a normal_force"
            raise DeclarationError(
                f"{self._label('of')} goes with the forces of other contacts, and {other} is given too. Give "
                "normal=None and no normal_force; several laws on one normal are a contact for each."
            )
        if self.static_friction is not None:
            raise DeclarationError(
                f"{self._label('of')} and static_friction are both given: friction that goes with the forces of other "
                "contacts has one coefficient. Leave static_friction out."
            )
        return tuple(int(item) for item in listed)

    def _label(self, what: str) -> str:
        return f"Contact '{self.name}': {what}" if self.name else f"Contact: {what}"

    def _check(self, p: int) -> None:
        if self.normal is None and self.normal_force is None and not self.of:
            raise DeclarationError(
                f"{self._label('normal')} is None, so the friction has no load. "
                f"Give normal_force=bound with friction=1 (Tresca), the normal, or of= the contacts that load it."
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
    of : tuple of tuples of int
        For each contact the numbers of those whose normal forces load its friction, where it has no load of its own;
        empty where none is loaded so.
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
    of: tuple[tuple[int, ...], ...] = ()

    @property
    def plain(self) -> bool:
        """Whether every section is a disc or a symmetric interval, the same at rest."""
        return self.sides is None and self.resting is None

    @property
    def count(self) -> int:
        """The number of contacts."""
        return len(self.friction)

    @cached_property
    def components(self) -> npt.NDArray[np.int64]:
        """The number p of tangential components of each contact."""
        return self.first[1:] - self.first[:-1]

    @cached_property
    def mask(self) -> Bools:
        """Which entries of a (k, 2) array over contacts exist, in the order of the rows of `tangent`."""
        return np.arange(2) < self.components[:, None]

    @cached_property
    def flat(self) -> bool:
        """Whether friction forces have one component at most."""
        return len(self.slip) <= 1 or bool((self.components <= 1).all())

    @cached_property
    def known(self) -> Bools:
        """Where the normal force is given."""
        return ~np.isnan(self.normal_force)

    @cached_property
    def load(self) -> Array:
        """The given normal forces, zero where they are unknown."""
        return np.where(self.known, self.normal_force, 0.0)

    def given_load(self, j: int) -> float:
        """Return the normal force that loads the friction of contact j, where it is given; else nan."""
        if not self.of or not self.of[j]:
            return float(self.normal_force[j])
        return float(np.sqrt((self.normal_force[list(self.of[j])] ** 2).sum()))

    def pressed(self, normal: Array) -> Array:
        """Return what presses each contact together (k,): the size of its normal force, or of a resultant."""
        pressed = np.abs(normal)
        for j, others in enumerate(self.of):
            if others:
                pressed[j] = np.sqrt((normal[list(others)] ** 2).sum())
        return pressed


class StackedContacts(Sequence[Contact]):
    """The contacts of a problem whose rows came stacked, each made when it is asked for."""

    def __init__(self, rows: ContactRows, names: tuple[str, ...]) -> None:
        self.rows, self.names = rows, names

    def __len__(self) -> int:
        return self.rows.count

    def __getitem__(self, j: Any) -> Any:
        if isinstance(j, slice):
            return tuple(self[i] for i in range(*j.indices(len(self))))
        rows, j = self.rows, range(len(self))[j]
        own = slice(rows.first[j], rows.first[j + 1])
        axes = np.ones(own.stop - own.start) if rows.axes is None else rows.axes[j, : own.stop - own.start]
        back = np.divide(1.0, axes, out=np.zeros_like(axes), where=axes > 0)
        return Contact(
            None if not rows.has_normal[j] else rows.normal[[j]] if is_sparse(rows.normal) else rows.normal[j],
            tangent=_times(back, rows.tangent[own]) if len(axes) else None,
            bias=rows.bias[j],
            tangent_bias=back * rows.tangent_bias[own],
            bilateral=rows.bilateral[j],
            slip=back * rows.slip[own],
            normal_force=None if np.isnan(rows.normal_force[j]) else rows.normal_force[j],
            of=rows.of[j] if rows.of else None,
            name=self.names[j],
            **self._law(j, axes),
        )

    def _law(self, j: int, axes: Array) -> dict[str, Any]:
        """Return a law as a Contact takes it."""
        rows = self.rows
        first, second = (rows.friction[j], rows.friction[j]) if rows.sides is None else rows.sides[j]
        rest = None if rows.resting is None or np.isnan(rows.resting[j, 0]) else rows.resting[j]
        if len(axes) == 2 and (axes != 1).any():
            return {"friction": tuple(axes * first), "static_friction": None if rest is None else tuple(axes * rest)}
        if first == second and (rest is None or rest[0] == rest[1]):
            return {"friction": first, "static_friction": None if rest is None else rest[0]}
        if len(axes) == 2 and rest is not None:
            return {"friction": first, "static_friction": tuple(rest)}
        return {"section": (-first, second), "static_friction": None if rest is None else (-rest[0], rest[1])}


def stack(contacts: Iterable[Contact], n: int) -> ContactRows:
    """Stack contacts over n coordinates; a DeclarationError names one that doesn't fit."""
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
        of=_loads(contacts),
    )
    laws = [contact.law for contact in contacts]
    if all(law.plain for law in laws):
        return stacked
    return with_sections(_along_axes(stacked, laws), laws, np.zeros(len(laws), dtype=bool))


def _loads(contacts: Sequence[Contact]) -> tuple[tuple[int, ...], ...]:
    """Return for each contact those that load its friction; a DeclarationError names one that presses nothing."""
    if not any(contact.of for contact in contacts):
        return ()
    for j, contact in enumerate(contacts):
        for other in contact.of:
            if not 0 <= other < len(contacts):
                raise DeclarationError(
                    f"ContactProblem: contacts[{j}] has of={contact.of}, and there are {len(contacts)} contacts, "
                    f"0 to {len(contacts) - 1}."
                )
            if contacts[other].normal is None:
                raise DeclarationError(
                    f"ContactProblem: contacts[{j}] has of={contact.of}, and contacts[{other}] has no normal and "
                    "presses nothing together. Name contacts with a normal."
                )
    return tuple(contact.of for contact in contacts)


def _along_axes(rows: ContactRows, laws: Sequence[ContactLaw]) -> ContactRows:
    """Return stacked rows with the tangents of elliptic cones multiplied by their coefficients."""
    axes = np.array([law.axes or (1.0, 1.0) for law in laws])
    factor = axes[np.arange(2) < rows.components[:, None]]
    tangent = _times(factor, rows.tangent)
    return replace(rows, tangent=tangent, tangent_bias=factor * rows.tangent_bias, slip=factor * rows.slip)


def _times(factors: Array, rows: Matrix) -> Matrix:
    return rows.multiply(factors[:, None]).tocsr() if is_sparse(rows) else factors[:, None] * rows


def with_sections(rows: ContactRows, laws: Sequence[ContactLaw], free: Bools) -> ContactRows:
    """Return stacked rows with what sections other than discs, and rest, need; `free` have a bound and no normal."""
    sides = np.array([law.sides for law in laws]).reshape(-1, 2)
    alike = sides[:, 0] == sides[:, 1]
    # A bound of its own that one number tells is the load of a unit coefficient, any other one a coefficient of load 1.
    loads = free & alike & np.array([law.resting is None for law in laws], dtype=bool)
    sides = np.where(loads[:, None], 1.0, sides)
    slip = np.zeros(rows.count)
    slip[rows.components > 0] = rows.slip[rows.first[:-1][rows.components > 0]]
    against = np.where(slip > 0, sides[:, 0], np.where(slip < 0, sides[:, 1], sides.max(axis=1, initial=0.0)))
    changes: dict[str, Any] = {
        "friction": np.where(alike, sides[:, 0], against),
        "normal_force": np.where(free & ~loads, 1.0, rows.normal_force),
    }
    if not alike.all():
        changes["sides"] = sides
    if any(law.axes is not None for law in laws):
        changes["axes"] = np.array([law.axes or (1.0, 1.0) for law in laws])
    if any(law.resting is not None for law in laws):
        changes["resting"] = np.array([law.resting or (math.nan, math.nan) for law in laws])
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
        flat = [np.zeros(n) if block is None else block.ravel() for block in blocks]
        return np.concatenate(flat).reshape(-1, n) if flat else np.zeros((0, n))
    from scipy.sparse import csr_matrix

    # By hand: scipy's vstack of a hundred thousand rows takes seconds.
    pointers, indices, data = [np.zeros(1, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0)]
    for block in blocks:
        if block is None:
            pointers.append(np.zeros(2, np.int64))
            continue
        csr = block.tocsr() if is_sparse(block) else csr_matrix(np.reshape(block, (-1, n)))
        pointers.append(csr.indptr)
        indices.append(csr.indices)
        data.append(csr.data)
    steps = np.diff(np.concatenate(pointers))  # also those from the end of one block to the start of the next
    first = np.cumsum([len(pointer) for pointer in pointers[:-1]])
    counts = np.delete(steps, first - 1)
    pointer = np.append(0, np.cumsum(counts))
    return csr_matrix((np.concatenate(data), np.concatenate(indices), pointer), shape=(len(pointer) - 1, n))
