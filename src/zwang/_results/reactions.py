"""`Reactions`: every acceleration and reaction that the laws allow at a state, and what is proved about the list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from zwang._plot.style import titling
from zwang._results.base import Result
from zwang._results.columns import Quantities, Quantity, about, named
from zwang._results.contact_graph import ContactGraph
from zwang._results.later import WithLater
from zwang._results.reaction_boxes import Modes, SolutionEnclosure, UndecidedBox
from zwang._results.reaction_ranges import Ranges
from zwang._results.reactions_text import reactions_text, solution_lines
from zwang._results.storage import storable
from zwang.errors import DeclarationError

Array = NDArray[np.float64]


@storable
class ReactionsStatus(Enum):
    """What the laws of contact and friction allow at a state."""

    UNIQUE = "One acceleration and one set of reactions satisfy the laws, and no other."
    UNIQUE_MOTION = "One acceleration satisfies the laws; the reactions are not unique."
    MULTIPLE = "Several accelerations satisfy the laws."
    NONE = "No reaction satisfies the laws at this state."
    FOUND = "A solution was found and verified; a second one is not excluded."
    UNDECIDED = "No solution was found, and none is excluded."
    SINGULAR = "The state is a singular point of the configuration space: these accelerations don't carry a motion on."
    INADMISSIBLE = "The state violates a constraint."


@storable(shapes={"acceleration": "n", "normal": "k", "tangential": "k ..."})
@dataclass(frozen=True, eq=False)
class Point:
    """One point of the solution set, or the direction of a ray or line.

    Attributes
    ----------
    acceleration : (n,) array
    normal : (k,) array
    tangential : (k,) array, (k, 2) if friction acts in planes
    """

    acceleration: Array
    normal: Array
    tangential: Array


@storable(shapes={"acceleration": "p n", "normal": "p k", "tangential": "p k ..."})
@dataclass(frozen=True, eq=False)
class Points(Sequence[Point]):
    """A sequence of `Point`, kept as arrays with one more axis in front."""

    acceleration: Array
    normal: Array
    tangential: Array

    def __len__(self) -> int:
        return len(self.normal)

    @overload
    def __getitem__(self, index: int) -> Point: ...

    @overload
    def __getitem__(self, index: slice) -> Points: ...

    def __getitem__(self, index: int | slice) -> Point | Points:
        kind = Points if isinstance(index, slice) else Point
        return kind(self.acceleration[index], self.normal[index], self.tangential[index])

    def __repr__(self) -> str:
        return f"<{len(self)} points>"


@storable(
    shapes={
        "names": "k",
        "modes": "k",
        "acceleration": "n",
        "normal": "k",
        "tangential": "k ...",
        "gap_acceleration": "k",
        "slip_acceleration": "k ...",
    }
)
@dataclass(frozen=True, eq=False, kw_only=True)
class Solution(WithLater):
    """A maximal convex piece of the solution set; a single point has dimension 0.

    Attributes
    ----------
    names : tuple of str
        Of the contacts.
    modes : Modes
        In the relative interior: open, closed, stick, slip+, slip-, slip; '(N<0)' marks a bilateral one that pulls.
    acceleration : (n,) array
    acceleration_unique : bool
        Whether all of the piece has this acceleration.
    normal : (k,) array
    tangential : (k,) array, (k, 2) if friction acts in planes
        Forces at a point of the relative interior (the point itself, if the dimension is 0).
    gap_acceleration : (k,) array
        normal @ w less its bias there.
    slip_acceleration : array as `tangential`
        tangent @ w less its bias there.
    dimension : int
    component : int
        Pieces that touch have one number.
    vertices, rays, lines : Points
        The piece is the convex hull of the vertices plus the cone of the rays plus the span of the lines. Where there
        are lines there is no vertex, and the points of least norm of the faces take their place.
    ranges : Ranges
    residual : float
        The largest relative distance of its points from the laws.
    directions : (k,) array or None
        Angle of the slip, or at rest of the slip acceleration, of contacts whose friction acts in a plane [rad]; nan
        where there is none.
    enclosure : SolutionEnclosure or None
        Where it is proved to lie, if friction acts in planes and every mode was searched.
    source : object or None
        What computes wrenches, of mechanisms that `Bodies` made. Files don't hold it.
    """

    names: tuple[str, ...]
    modes: Modes
    acceleration: Array
    acceleration_unique: bool
    normal: Array
    tangential: Array
    gap_acceleration: Array
    slip_acceleration: Array
    dimension: int
    component: int
    vertices: Points
    rays: Points
    lines: Points
    ranges: Ranges
    residual: float
    directions: Array | None = None
    enclosure: SolutionEnclosure | None = None
    source: Any = field(default=None, metadata={"stored": None})

    def __post_init__(self) -> None:
        if getattr(self.modes, "names", None) != self.names:
            object.__setattr__(self, "modes", Modes(self.modes, self.names))

    def wrench(self, joint: str) -> Array:
        """Return force and moment that a joint exerts on its second body, (6,) [N, N m]; see `Motion.wrench`.

        Components that are not the same on all of the piece are nan.

        Examples
        --------
        >>> import zwang as zw
        >>> lamp = zw.Bodies("lamp", gravity=(0, 0, -10)).body("lamp", mass=2, inertia=(1, 1, 1), at=(0, 0, -1))
        >>> lamp = lamp.revolute("hook", "ground", "lamp", axis=(0, 1, 0))
        >>> zw.reactions(lamp.system(), {"hook": 0, "v_hook": 0}).solutions[0].wrench("hook").round(9) + 0.0
        array([ 0.,  0., 20.,  0.,  0.,  0.])
        """
        if self.source is None:
            raise DeclarationError(
                "wrench is asked of solutions of reactions(system, state) where zw.Bodies made the system; this one "
                "comes from a file or belongs to another problem."
            )
        made: Array = self.source.wrench(self, joint)
        return made

    def __repr__(self) -> str:
        return "\n".join(solution_lines(self, "Solution"))


@storable
@dataclass(frozen=True)
class Certificate:
    """What is proved, by which criterion, and the number it rests on.

    Attributes
    ----------
    kind : str
    number : float
    scope : str
        'this state', or 'every force' (at these positions, velocities and biases).
    sentence : str
    exists, unique_motion, unique : bool
        What it proves: that a solution exists; at most one acceleration; at most one solution.
    fails : bool
        An exact criterion that doesn't hold: some force has none or several solutions.
    """

    kind: str
    number: float
    scope: str
    sentence: str
    exists: bool = False
    unique_motion: bool = False
    unique: bool = False
    fails: bool = False


@storable
@dataclass(frozen=True)
class Rejection:
    """Why a mode has no solution.

    Attributes
    ----------
    reason : str
    value : float
        The offending force or acceleration; for a mode that leaves contacts open ('*'), the most it can be.
    contact : str
        Whose it is.
    """

    reason: str
    value: float
    contact: str


@storable(
    shapes={"names": "k", "modes": "r k", "reason": "r", "contact": "r", "value": "r", "normal": "r k", "gap": "r k"}
)
@dataclass(frozen=True, eq=False, repr=False)
class Rejections(Mapping[tuple[str, ...], Rejection]):
    """Modes without a solution -> why. '*' stands for every mode of a contact: one entry then rejects many at once.

    Attributes
    ----------
    names, labels, reasons : tuples of str
    modes : (r, k) int array
        Place in `labels`, -1 for '*'.
    reason, contact : (r,) int arrays
    value : (r,) array
    normal, gap : (r, k) arrays
        Forces and gap accelerations that the equations of the mode give, nan where they don't.
    total : int
        The number of rejections; the first of them are kept.
    """

    names: tuple[str, ...]
    labels: tuple[str, ...]
    reasons: tuple[str, ...]
    modes: NDArray[np.int64]
    reason: NDArray[np.int64]
    contact: NDArray[np.int64]
    value: Array
    normal: Array
    gap: Array
    total: int

    def _check(self) -> str:
        for places, least, most in (
            (self.modes, -1, len(self.labels)),
            (self.reason, 0, len(self.reasons)),
            (self.contact, 0, max(len(self.names), 1)),
        ):
            if places.size and not (places.min() >= least and places.max() < most):
                return "it points to a mode, a reason or a contact that isn't there"
        return ""

    def key(self, row: int) -> tuple[str, ...]:
        """The modes of one entry."""
        return tuple("*" if m < 0 else self.labels[m] for m in self.modes[row])

    def at(self, row: int) -> Rejection:
        """The reason of one entry."""
        contact = self.names[self.contact[row]] if self.names else ""
        return Rejection(self.reasons[self.reason[row]], float(self.value[row]), contact)

    def __len__(self) -> int:
        return len(self.modes)

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        return (self.key(row) for row in range(len(self)))

    def __getitem__(self, key: tuple[str, ...]) -> Rejection:
        for row in range(len(self)):
            if self.key(row) == tuple(key):
                return self.at(row)
        raise KeyError(key)

    def __repr__(self) -> str:
        return f"<{self.total} rejections>"


@storable(shapes={"dependencies": "d k", "stress_normal": "s k", "stress_tangential": "s k ..."})
@dataclass(frozen=True, eq=False)
class Redundancy:
    """Which constraints depend on each other, and what that leaves undetermined.

    Attributes
    ----------
    sentences : tuple of str
    dependencies : (d, k) array
        Rows of coefficients c with sum_j c_j normal_j = 0.
    stress_normal, stress_tangential : (s, k), (s, k) or (s, k, 2) arrays
        Self-stresses that are free at this state: forces that can be added without changing the motion.
    determined : tuple of str
        Contacts whose forces are the same in every solution.
    """

    sentences: tuple[str, ...]
    dependencies: Array
    stress_normal: Array
    stress_tangential: Array
    determined: tuple[str, ...]


@storable(shapes={"contacts": "k", "accelerations": "m n"})
@dataclass(frozen=True, kw_only=True, repr=False)
class Reactions(WithLater, Result):
    """Every acceleration and reaction that the laws allow.

    Attributes
    ----------
    name : str
        Of the system or problem.
    contacts : tuple of str
        Names of the contacts, in the order of all arrays over contacts.
    coordinates : tuple of str
        Names of the coordinates, empty for plain arrays.
    solutions : tuple of Solution
    accelerations : (m, n) array
        The distinct ones; for a continuum those of the vertices.
    accelerations_continuum : bool
    rejected : Rejections
    complete : bool
        Whether every mode was decided.
    marginal : tuple of str
        Decisions that rest on less than the tolerance.
    certificate : Certificate or None
        What proves the status, or the strongest one there is.
    certificates : tuple of Certificate
    redundancy : Redundancy or None
        None where all reactions are determined and the constraints independent.
    modes_total : float
        The number of combinations of modes.
    nodes : int
        How many of them, or of their parts, were looked at.
    note : str
        What was not done, and what it would cost; which constraints are open.
    rank : int or None
        Rank of the bilateral rows on positions at the state of a system.
    in_tangent_cone : bool or None
        Whether the velocity satisfies the constraints to second order (always, where the rank is full).
    graph : ContactGraph or None
        Accelerations as functions of the forces, where there is one contact with friction along a line.
    undecided : tuple of UndecidedBox
        Boxes of modes and directions that were neither proved to hold a solution nor excluded.
    """

    status: ReactionsStatus
    name: str
    contacts: tuple[str, ...]
    coordinates: tuple[str, ...] = ()
    solutions: tuple[Solution, ...]
    accelerations: Array
    accelerations_continuum: bool
    rejected: Rejections
    complete: bool
    marginal: tuple[str, ...] = ()
    certificate: Certificate | None = None
    certificates: tuple[Certificate, ...] = ()
    redundancy: Redundancy | None = None
    modes_total: float = 1.0
    nodes: int = 0
    note: str = ""
    rank: int | None = None
    in_tangent_cone: bool | None = None
    graph: ContactGraph | None = None
    undecided: tuple[UndecidedBox, ...] = ()

    def _numbers(self) -> Mapping[str, Any]:
        parts = {"normal forces": "normal", "friction forces": "tangential", "accelerations": "acceleration"}
        found = {words: [getattr(item, name) for item in self.solutions] for words, name in parts.items()}
        return {"distinct accelerations": self.accelerations, **found}

    def _check(self) -> str:
        k, n = len(self.contacts), self.accelerations.shape[1]
        if self.coordinates and len(self.coordinates) != n:
            return "accelerations and coordinates don't go together"
        for item in self.solutions:
            if item.normal.shape != (k,) or item.acceleration.shape != (n,):
                return "a solution has other contacts or coordinates"
        return ""

    @property
    def inequality(self) -> Any:
        """The variational inequality for the normal forces (`Inequality`): operator, Omega, least eigenvalue, project.

        It is Ivanov's (paper 001, (3.5)), of the contacts that take part at this state.
        """
        make = self.__dict__.get("_make_inequality")
        if make is None:
            raise DeclarationError(
                f"{self.name}: a result that was saved or sent has its solutions and not its problem: ask reactions "
                "again for the inequality."
            )
        if "_inequality" not in self.__dict__:
            self.__dict__["_inequality"] = make()
        return self.__dict__["_inequality"]

    @property
    def reason(self) -> str:
        """What was not done and why, a budget that is spent among it; the same as `note`."""
        return self.note

    def _columns(self) -> Quantities:
        """Return one row for each solution: its acceleration, and the modes and forces of the contacts."""
        rows, over = list(self.solutions), ("solution",)
        size = len(rows[0].acceleration) if rows else len(self.coordinates)
        called = self.coordinates or [str(k + 1) for k in range(size)]  # a problem of arrays has no names
        motions = np.array([item.acceleration for item in rows], dtype=float).reshape(len(rows), size)
        found = {name: Quantity(over, motions[:, k]) for k, name in enumerate(named(called, "acceleration_"))}
        for place, name in enumerate(named(self.contacts)):
            found[f"mode_{name}"] = Quantity(over, np.array([str(item.modes[place]) for item in rows], dtype=np.str_))
            found[f"normal_{name}"] = Quantity(over, np.array([item.normal[place] for item in rows], dtype=float))
            forces = np.array([np.ravel(item.tangential[place]) for item in rows], dtype=float)
            if forces.ndim == 2:
                for k in range(forces.shape[1]):
                    label = f"tangential_{name}" if forces.shape[1] == 1 else f"tangential_{name}_{k + 1}"
                    found[label] = Quantity(over, forces[:, k])
        found["dimension"] = Quantity(over, np.array([item.dimension for item in rows], dtype=np.int64))
        return Quantities(found, about(self))

    @titling
    def plot(self, kind: str | None = None, *, ax: Any = None, title: bool | str = True) -> Any:
        """Draw the solutions and return the Axes (extra ``plot``).

        Parameters
        ----------
        kind : {'graph', 'forces'}, optional
            The gap acceleration over the normal force, for a single contact; or the forces at all contacts. By default
            the graph where there is one.
        title : bool or str
            False leaves it out; a text stands in its place.
        ax : Axes, optional
        """
        from zwang._plot.reactions import draw_reactions

        return draw_reactions(self, kind, ax=ax)

    def __repr__(self) -> str:
        return reactions_text(self)
