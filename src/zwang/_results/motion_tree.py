"""`MotionTree`: every continuation of a motion where the laws leave several, or none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from zwang._plot.style import titling
from zwang._progress import Progress
from zwang._results.base import Result
from zwang._results.motion import Motion
from zwang._results.storage import storable
from zwang.errors import DeclarationError

MOST_SHOWN = 20
"""Motions that a summary lists."""


@storable
class MotionTreeStatus(Enum):
    """How far a tree was followed."""

    REACHED = "Every listed continuation was followed to its own end."
    UNFINISHED = "Some continuation was not followed."
    INTERRUPTED = "The computation was interrupted; what was computed until then is kept."


@storable
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class MotionTree(Result):
    """Every continuation of a motion; each piece between two places where it branches is a Motion.

    Attributes
    ----------
    name : str
        Of the system.
    motions : tuple of Motion
        The first is the trunk. Each has its `parent`, the number of the motion from whose end it starts (None for the
        trunk), `taken`, the way that it took there, in words, and `could_leave`, the intervals (start, end) in which
        another way was open still.
    reason : str
        What was not followed; empty where all was.
    """

    status: MotionTreeStatus
    name: str
    motions: tuple[Motion, ...]
    reason: str = ""

    def _check(self) -> str:
        if not self.motions or self.motions[0].parent is not None:
            return "it has no trunk"
        for place, motion in enumerate(self.motions[1:], 1):
            if motion.parent is None or not 0 <= motion.parent < place:
                return f"motion {place} does not start from one before it"
        return ""

    @property
    def leaves(self) -> tuple[Motion, ...]:
        """The motions from whose ends no other starts."""
        parents = {motion.parent for motion in self.motions}
        return tuple(motion for place, motion in enumerate(self.motions) if place not in parents)

    @property
    def count(self) -> int:
        """The number of leaves."""
        return len(self.leaves)

    def __len__(self) -> int:
        return len(self.motions)

    def __iter__(self) -> Iterator[Motion]:
        return iter(self.motions)

    def __getitem__(self, place: int) -> Motion:
        return self.motions[place]

    def path(self, motion: Motion | int) -> tuple[Motion, ...]:
        """Return the motions from the trunk to one of them, which follow each other in time."""
        place: int | None = self._place(motion)
        found: list[Motion] = []
        while place is not None:
            found.insert(0, self.motions[place])
            place = self.motions[place].parent
        return tuple(found)

    def parted(self, a: Motion | int, b: Motion | int) -> float:
        """Return the instant at which two motions part: the end of the last one that leads to both.

        Parameters
        ----------
        a, b : Motion or int
            Of this tree, or their numbers.
        """
        if self._place(a) == self._place(b):
            raise DeclarationError(f"{self.name}: parted needs two motions; it was given one of them twice.")
        shared = [one for one, other in zip(self.path(a), self.path(b), strict=False) if one is other]
        return float(shared[-1].t[-1])

    def _place(self, motion: Motion | int) -> int:
        if isinstance(motion, int) and -len(self.motions) <= motion < len(self.motions):
            return motion % len(self.motions)
        for place, one in enumerate(self.motions):
            if one is motion:
                return place
        raise DeclarationError(
            f"{self.name}: a motion of this tree or its number, 0 to {len(self.motions) - 1}, is needed; it was given "
            f"{motion!r:.60}."
        )

    @titling
    def plot(self, *what: str, ax: Any = None, title: bool | str = True) -> Any:
        """Draw the tree over time, or quantities of all its motions over each other; return the Axes (extra ``plot``).

        Parameters
        ----------
        *what : str
            As in `Motion.plot`; by default none, and the tree itself is drawn.
        title : bool or str
            False leaves it out; a text stands in its place.
        ax : Axes, optional
        """
        from zwang._plot.motion_tree import draw_motions, draw_tree
        from zwang._results.motion_pictures import quantity, refined

        heading = f"{self.name}: {', '.join(what) or 'every continuation'}, {len(self.leaves)} leaves"
        spans = [(float(one.t[0]), float(one.t[-1]), one.parent, one.taken, one.status.name) for one in self.motions]
        if not what:
            return draw_tree(spans, heading=heading, ax=ax)
        fine = [refined(one) for one in self]
        series = [(one.t, {key: rows for name in what for key, rows in quantity(one, name).items()}) for one in fine]
        return draw_motions(series, [one.taken for one in self.motions], heading=heading, ax=ax)

    def animate(
        self,
        path: str | Path | None = None,
        *,
        drawing: Any = None,
        frames: int | None = None,
        fps: int = 30,
        progress: Progress = None,
    ) -> Any:
        """Write a film of all leaves over each other, one picture until they part, or return it for a notebook.

        Parameters
        ----------
        path, drawing, frames, fps, progress
            As in `Motion.animate`. Of more than eight leaves the first eight are shown.
        """
        from zwang._plot.film import shown
        from zwang._results.motion_pictures import film_of_tree

        def film(instants: int | None) -> Any:
            return film_of_tree(self, drawing, frames=instants)

        return shown(film, path, frames=frames, fps=fps, progress=progress)

    def __repr__(self) -> str:
        ends = ", ".join(f"{count} {name}" for name, count in Counter(one.status.name for one in self.leaves).items())
        lines = [f"MotionTree of '{self.name}': {self.status.name}. {self.status.value}"]
        lines += [f"  {self.reason}"] if self.reason else []
        lines.append(f"  {len(self.motions)} motions, {len(self.leaves)} leaves: {ends}")
        for place, one in enumerate(self.motions[:MOST_SHOWN]):
            whose = "" if one.parent is None else f" from {one.parent}, {one.taken}"
            lines.append(f"  {place}{whose}: t = {one.t[0]:.6g} to {one.t[-1]:.6g}, {one.status.name}")
        if len(self.motions) > MOST_SHOWN:
            lines.append(f"  ... and {len(self.motions) - MOST_SHOWN} more")
        return "\n".join(lines)
