"""`Equilibria`: where a system can rest, or turn uniformly, and what happens beside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._plot.style import titling
from zwang._results.base import Result
from zwang._results.storage import storable
from zwang._results.words import counted

Array = NDArray[np.float64]
MOST_LINES = 20
"""Of points, intervals and branches each, in a summary."""


@storable
class EquilibriaStatus(Enum):
    """What was found of a system's equilibria."""

    FOUND = "Equilibria were found."
    NONE = "There is no equilibrium in the box, proved."
    UNDECIDED = "No equilibrium was found, and none excluded; or some could not be decided."
    UNFINISHED = "The search did not come to its end; see the reason."


@storable
@dataclass(frozen=True, eq=False, kw_only=True)
class Equilibrium:
    """A state at which the acceleration zero is among what the laws allow.

    Attributes
    ----------
    state : mapping
        Coordinates, velocities and t.
    reactions : mapping
        Name of a constraint -> its multiplier there; nan where it is undetermined or the constraint is open.
    holds : {'must', 'may', 'undecided'}
        Whether rest is the only acceleration, proved; whether another one was exhibited.
    stability : str
        'stable (energy)', 'asymptotically stable (linear)', 'unstable (linear)' or 'undecided'.
    reason : str
        Why, in a sentence.
    eigenvalues : (2 f,) complex array or None
        Of small motions that keep the contacts; None where there is no linearization.
    residual : float
        What is left of the forces, relative to them.
    """

    state: Mapping[str, float]
    reactions: Mapping[str, float]
    holds: str
    stability: str
    reason: str
    eigenvalues: NDArray[np.complex128] | None = None
    residual: float = 0.0

    def __repr__(self) -> str:
        shown = {name: value for name, value in self.state.items() if name != "t" and not name.startswith("v_")}
        shown |= {name: value for name, value in self.state.items() if name.startswith("v_") and value}
        place = ", ".join(f"{name} = {value:.8g}" for name, value in shown.items())
        return f"{place}: {self.holds} hold, {self.stability}"


@storable
@dataclass(frozen=True, eq=False, kw_only=True)
class EquilibriumInterval:
    """Equilibria along an arc of the configuration space; iterates as its two end states.

    Attributes
    ----------
    ends : pair of mappings
        The states at both ends.
    holds : {'must', 'may', 'undecided'}
    closed : tuple of str
        The one-sided constraints that are closed along it.
    arc : int
        The number of the arc among those of the closed contacts.
    span : pair of float
        From which length of the arc to which.
    reasons : pair of str
        Why it ends there: 'the forces reach their bounds', 'must turns into may', 'a contact closes', or the end of the
        arc.
    """

    ends: tuple[Mapping[str, float], Mapping[str, float]]
    holds: str
    closed: tuple[str, ...] = ()
    arc: int = 0
    span: tuple[float, float] = (0.0, 0.0)
    reasons: tuple[str, str] = ("", "")

    def __iter__(self) -> Iterator[Mapping[str, float]]:
        return iter(self.ends)

    def __repr__(self) -> str:
        names = [name for name in self.ends[0] if name != "t" and not name.startswith("v_")]
        parts = [f"{name} from {self.ends[0][name]:.10g} to {self.ends[1][name]:.10g}" for name in names]
        return f"{', '.join(parts)}: {self.holds} hold"


@storable
@dataclass(frozen=True, eq=False, kw_only=True)
class EquilibriumSpecial:
    """A place on a branch of equilibria where something changes.

    Attributes
    ----------
    kind : {'fold', 'crossing', 'hopf'}
    value : float
        Of the parameter.
    state : mapping
    branches : tuple of int
        Numbers of the branches that meet there, or the one that it lies on.
    frequency : float
        At a Hopf point the imaginary part of the eigenvalues [1/s]; nan elsewhere.
    reason : str
        At a fold of ends of rest why rest ends there, as of its branch.
    """

    kind: str
    value: float
    state: Mapping[str, float]
    branches: tuple[int, ...] = ()
    frequency: float = float("nan")
    reason: str = ""

    def __repr__(self) -> str:
        return f"{self.kind} at {self.value:.10g}"


@storable(shapes={"values": "k", "positions": "k n"})
@dataclass(frozen=True, eq=False, kw_only=True)
class EquilibriumBranch:
    """A curve of equilibria over a parameter; with friction, of ends of the intervals in which a system rests.

    Attributes
    ----------
    number : int
    values : (k,) array
        Of the parameter along it.
    positions : (k, n) array
        Of the coordinates, and of the rates of `steady` ones.
    names : tuple of str
        What the columns of `positions` are.
    stability : tuple of str
        At each of them; with friction, beside each of them where the system rests.
    holds : tuple of str
        'must', 'may' or 'undecided' beside each of them where the system rests; empty without friction.
    reason : str
        Why rest ends there: 'the forces reach their bounds' or 'must turns into may'; empty where the branch itself is
        what rests.
    """

    number: int
    values: Array
    positions: Array
    names: tuple[str, ...]
    stability: tuple[str, ...] = ()
    holds: tuple[str, ...] = ()
    reason: str = ""

    def __repr__(self) -> str:
        words = (
            f"branch {self.number}: from {self.values.min():.6g} to {self.values.max():.6g}, {len(self.values)} places"
        )
        return f"{words}, {self.reason}" if self.reason else words


@storable
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Equilibria(Result):
    """Every equilibrium that was found, as points, intervals or branches.

    Attributes
    ----------
    name : str
        Of the system.
    points : tuple of Equilibrium
    intervals : tuple of EquilibriumInterval or None
        With friction and one freedom; None where friction leaves more than two freedoms.
    boundary : tuple of (k, n) arrays or None
        With friction and two freedoms: curves round the regions of rest, as positions.
    branches : tuple of EquilibriumBranch
        Over the parameter `vary`.
    folds, crossings, hopfs : tuples of EquilibriumSpecial
    vary : str
        The parameter, or empty.
    complete : bool
        Whether a box was searched with proof.
    notes : tuple of str
    reason : str
        What was spent before the end, or why it is undecided whether something rests.
    params : mapping
    drawing : mapping
    """

    status: EquilibriaStatus
    name: str
    coordinates: tuple[str, ...]
    points: tuple[Equilibrium, ...] = ()
    intervals: tuple[EquilibriumInterval, ...] | None = ()
    boundary: tuple[Array, ...] | None = ()
    branches: tuple[EquilibriumBranch, ...] = ()
    folds: tuple[EquilibriumSpecial, ...] = ()
    crossings: tuple[EquilibriumSpecial, ...] = ()
    hopfs: tuple[EquilibriumSpecial, ...] = ()
    vary: str = ""
    complete: bool = False
    notes: tuple[str, ...] = ()
    reason: str = ""
    params: Mapping[str, float] = field(default_factory=dict)
    drawing: Mapping[str, Any] = field(default_factory=dict)

    @titling
    def plot(self, what: str | None = None, *, ax: Any = None, title: bool | str = True) -> Any:
        """Draw branches over their parameter, or points and intervals; return the Axes (extra ``plot``).

        Parameters
        ----------
        what : str, optional
            The coordinate upwards; by default the first one.
        title : bool or str
            False leaves it out; a text stands in its place.
        ax : Axes, optional
        """
        from zwang._plot.equilibria import draw_equilibria

        return draw_equilibria(self, what, ax)

    def __repr__(self) -> str:
        lines = [f"Equilibria of '{self.name}': {self.status.name}. {self.status.value}"]
        if self.reason:
            lines.append(f"  {self.reason}")
        for items in (self.points, self.intervals or (), self.branches, self.folds, self.crossings, self.hopfs):
            lines += [f"  {item!r}" for item in items[:MOST_LINES]]
            if len(items) > MOST_LINES:
                lines.append(f"  ... and {counted(len(items) - MOST_LINES, 'more')}")
        if self.boundary:
            lines.append(f"  {counted(len(self.boundary), 'curve')} bound the regions of rest")
        lines += [f"  {note}" for note in self.notes if note not in self.reason]
        lines.append(f"  residual {self.residual:.1e}, {'complete' if self.complete else 'sampled, not complete'}")
        return "\n".join(lines)
