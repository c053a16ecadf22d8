"""`ReactionsMap`: status and number of solutions over a batch of states and parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.contact.modes import PULLS, Mode
from zwang._plot.style import titling
from zwang._results import storage
from zwang._results.base import Provenance
from zwang._results.columns import Quantities, Quantity, Tabular, about, mode_words, named
from zwang._results.reaction_ranges import Ranges
from zwang._results.reactions import ReactionsStatus
from zwang.errors import DeclarationError, nearest

EVENLY = 1e-6  # relative: steps of an axis that are one


@storage.storable(shapes={})
@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ReactionsMap(Tabular):
    """How many accelerations the laws allow at each state of a batch.

    Attributes
    ----------
    name : str
        Of the system.
    codes : int array of the shape of the batch
        Place of each state's status in `ReactionsStatus`.
    counts : int array of the shape of the batch
        The number of distinct accelerations; 0 where there is none or the state is inadmissible.
    residual : float
        The largest relative error of the equations of a counted solution.
    provenance : Provenance
    axes : tuple of tuples of str
        For each axis of the batch, the inputs that vary along it alone.
    values : mapping of str to 1-D array
        The values of these inputs along their axis.
    contacts, coordinates : tuples of str
        The names of constraints and coordinates, in the order of what follows; it is nan, -1 or False where a state has
        not one motion.
    accelerations : (n, ...) array
    normal, tangential : (k, ...) arrays
        The forces of the constraints; one set of them where they are not determined (see `ranges`).
    modes : (k, ...) int array
        As `zwang.results.Mode` numbers them; -1 for a constraint that takes no part.
    still : bool array
        Whether the acceleration vanishes.

    Examples
    --------
    >>> import numpy as np, zwang as zw
    >>> rod = zw.gallery.get("painleve_rod")
    >>> found = zw.reactions(rod.system, rod.state, {**rod.params, "mu": np.linspace(0, 2, 5)})
    >>> found.axes, found.counts.tolist()
    ((('mu',),), [1, 1, 1, 0, 0])
    """

    name: str
    codes: NDArray[np.int8]
    counts: NDArray[np.int64]
    residual: float
    provenance: Provenance
    axes: tuple[tuple[str, ...], ...] = ()
    values: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    reason: str = ""
    contacts: tuple[str, ...] = ()
    coordinates: tuple[str, ...] = ()
    accelerations: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0)))
    normal: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0)))
    tangential: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0)))
    modes: NDArray[np.int8] = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int8))
    still: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))

    @property
    def ranges(self) -> Ranges:
        """The least and greatest value of every force, computed when they are first asked for.

        ``ranges["floor"]["normal"]`` is a pair of arrays of the shape of the batch: equal where the force is
        determined, infinite where it has no bound, nan where a state has not one motion.

        Examples
        --------
        Two ladders that rest, between wall and floor that may press more or less, and one that slides.

        >>> import numpy as np, zwang as zw
        >>> ladder = zw.gallery.get("ladder")
        >>> lean = np.array([1.8, 2.0, 2.6])
        >>> state = {**ladder.state, "theta": lean, "x": -2 * ladder.params["l"] * np.cos(lean)}
        >>> found = zw.reactions(ladder.system, state, ladder.params)
        >>> low, high = found.ranges["wall"]["normal"]
        >>> low.round(3).tolist(), high.round(3).tolist()
        ([1.069, 1.974, 3.559], [1.23, 2.602, 3.559])
        """
        if "_ranges" not in self.__dict__:
            make = self.__dict__.get("_make_ranges")
            if make is None:
                raise DeclarationError(
                    f"{self.name}: a map that was saved or sent has its forces and not its system: ask reactions again "
                    "for the ranges."
                )
            self.__dict__["_ranges"] = make()
        found: Ranges = self.__dict__["_ranges"]
        return found

    def with_ranges(self, make: Callable[[], Ranges]) -> Self:
        """Return the map, with what computes its ranges when they are asked for."""
        self.__dict__["_make_ranges"] = make
        return self

    def with_axes(self, axes: tuple[tuple[str, ...], ...], values: Mapping[str, NDArray[np.float64]]) -> Self:
        """Return the map with the names of its axes, and the values along them."""
        found, make = replace(self, axes=axes, values=values), self.__dict__.get("_make_ranges")
        return found if make is None else found.with_ranges(make)

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle holds: all but what computes the ranges."""
        return {name: value for name, value in self.__dict__.items() if name != "_make_ranges"}

    def _check(self) -> str:
        if self.counts.shape != self.codes.shape or (self.axes and len(self.axes) != self.codes.ndim):
            return "counts and statuses have different shapes"
        if self.codes.size and not (self.codes.min() >= 0 and self.codes.max() < len(ReactionsStatus)):
            return "it has a status that isn't there"
        shape = self.codes.shape
        if self.contacts or self.coordinates:  # files of earlier versions hold neither
            lines, places = (len(self.contacts), *shape), (len(self.coordinates), *shape)
            if any(item.shape != lines for item in (self.normal, self.tangential, self.modes)):
                return "forces or modes have not the shape of the batch"
            if self.accelerations.shape != places or self.still.shape != shape:
                return "accelerations have not the shape of the batch"
        for names, size in zip(self.axes, self.codes.shape, strict=False):
            if any(name not in self.values or self.values[name].shape != (size,) for name in names):
                return "the values along an axis are not as many as its states"
        return ""

    @property
    def status(self) -> Any:
        """The status of each state, an array of `ReactionsStatus`."""
        return np.array(list(ReactionsStatus), dtype=object)[self.codes]

    @property
    def kinds(self) -> NDArray[np.str_]:
        """What happens at each state, in a word.

        ``holds``: it is at rest under its contacts, none of them slips or opens. ``slides``: a contact slips. ``tips``:
        a contact opens and another one stays; ``lifts``: all that touch open. ``moves``: any other single motion.
        ``none``, ``several``: so many accelerations. ``undecided``, ``singular``, ``inadmissible``: as the status says.
        """
        known = bool(self.contacts)  # files of earlier versions hold no modes
        modes = self.modes if known else np.full((1, *self.codes.shape), -1)
        still = self.still if known else np.zeros(self.codes.shape, dtype=bool)
        acting, opening, modes = modes >= 0, modes == Mode.OPEN, modes % PULLS
        slipping = acting & np.isin(modes, (Mode.SLIP, Mode.SLIP_PLUS, Mode.SLIP_MINUS))
        lifts, stays = opening.any(axis=0), (acting & ~opening).any(axis=0)
        word = np.where(still & stays, "holds", "moves").astype("<U12")
        word[slipping.any(axis=0)] = "slides"
        word[lifts & stays], word[lifts & ~stays] = "tips", "lifts"
        by_status = {name: name.lower() for name in ("NONE", "UNDECIDED", "SINGULAR", "INADMISSIBLE")}
        by_status |= {"MULTIPLE": "several", "FOUND": "undecided"}
        for name, said in by_status.items():
            word[self.codes == list(ReactionsStatus).index(ReactionsStatus[name])] = said
        return word

    def _columns(self) -> Quantities:
        """Return status, count and what happens over the axes of the batch; forces where a state has one motion."""
        shape = self.codes.shape
        axes = [self._called(axis) for axis in range(len(shape))]
        found = {
            name: Quantity((axes[axis],), self.values[name])
            for axis, names in enumerate(self.axes)
            for name in (axes[axis], *(name for name in names if name != axes[axis]))
            if name in self.values
        }
        statuses = {place: status.name for place, status in enumerate(ReactionsStatus)}
        over = tuple(axes)
        own = {"status": Quantity(over, self.codes, words={int(k): statuses[int(k)] for k in np.unique(self.codes)})}
        own |= {"count": Quantity(over, self.counts), "kind": Quantity(over, self.kinds)}
        for names, prefix, rows in (
            (self.coordinates, "acceleration_", self.accelerations),
            (self.contacts, "normal_", self.normal),
            (self.contacts, "tangential_", self.tangential),
            (self.contacts, "mode_", self.modes),
        ):
            for name, row in zip(named(names, prefix), rows, strict=True):
                own[name] = Quantity(over, row, words=mode_words(row) if prefix == "mode_" else {})
        return Quantities({**own, **found}, about(self))

    def _called(self, axis: int) -> str:
        """Return the name of an axis: of the first input that varies along it alone."""
        names = self.axes[axis] if self.axes else ()
        return names[0] if names else f"axis_{axis}"

    def shares(self) -> dict[str, int]:
        """Return the number of states of each status that occurs, by its name."""
        found = np.bincount(self.codes.ravel(), minlength=len(ReactionsStatus))
        return {status.name: int(n) for status, n in zip(ReactionsStatus, found, strict=True) if n}

    def save(self, path: str | Path) -> Path:
        """Write the map to ``.npz``, or to netCDF (``.nc``, extra ``io``)."""
        return storage.save(self, Path(path))

    @titling
    def plot(
        self,
        x: str | None = None,
        y: str | None = None,
        *,
        what: str = "counts",
        ax: Any = None,
        title: bool | str = True,
        legend: bool = True,
    ) -> Any:
        """Draw the map and return the Axes (extra ``plot``).

        Parameters
        ----------
        x, y : str, optional
            The inputs to draw it over. By default the last axis of the batch runs to the right, and an axis along which
            several inputs vary is named by the first of them that is evenly spaced.
        what : {'counts', 'kinds'}
            How many solutions there are, or what happens: it holds, slides, tips; none, several (see `kinds`).
        title : bool or str
            False leaves it out; a text stands in its place.
        ax : Axes, optional
        legend : bool
            Whether to say in words what the colours mean.
        """
        from zwang._plot.style import look, symbol
        from zwang._plot.style import title as put_title

        names = self.along(x, y)[2]
        made = self.draw(
            [self.values[name] for name in names], [symbol(name) for name in names], x, y, what, ax, legend
        )
        words = "what happens" if what == "kinds" else "number of accelerations"
        key = made.get_legend()
        above = 0.0 if key is None else 72.0 * float(key.get_window_extent().height / made.figure.dpi)
        with look():
            put_title(made, f"{self.name}: {words}", above=above)
        return made

    def draw(
        self,
        grids: Sequence[Any],
        labels: Sequence[str],
        x: str | None = None,
        y: str | None = None,
        what: str = "counts",
        ax: Any = None,
        legend: bool = True,
    ) -> Any:
        """Draw the map over values and labels of one's own, such as angles in degrees; see `plot`."""
        from zwang._plot.counts import draw_counts, draw_happenings

        if what == "kinds":
            return draw_happenings(self.along(x, y, self.kinds)[0], grids, labels, ax=ax, legend=legend)
        if what != "counts":
            raise DeclarationError(f"plot: what= must be 'counts' or 'kinds'; it was given {what!r:.40}.")
        counts, codes, _ = self.along(x, y)
        names = [status.name for status in ReactionsStatus]
        return draw_counts(counts, codes, names, grids, labels, ax=ax, legend=legend)

    def along(self, x: str | None = None, y: str | None = None, chosen: Any = None) -> tuple[Any, Any, list[str]]:
        """Return counts and codes with y along the rows and x along the columns, and the names of these axes.

        `chosen`: an array of the shape of the batch in place of the counts.
        """
        lengths = [axis for axis, size in enumerate(self.codes.shape) if size > 1]
        if len(lengths) not in (1, 2):
            raise DeclarationError(
                f"The map of '{self.name}' has shape {self.codes.shape}: a picture needs one or two axes along which "
                "something varies."
            )
        order = list(reversed(lengths))  # x first
        known = [name for axis in order for name in self.axes[axis]]
        for wanted in (x, y):
            if wanted is not None and wanted not in known:
                raise DeclarationError(f"The map of '{self.name}' has no axis '{wanted}'. {nearest(wanted, known)}")
        if (x is not None and x not in self.axes[order[0]]) or (y is not None and y in self.axes[order[0]]):
            order.reverse()
        wishes = [x, y][: len(order)]
        for axis, wish in zip(order, wishes, strict=True):
            if wish is not None and wish not in self.axes[axis]:
                raise DeclarationError(f"The map of '{self.name}': '{x}' and '{y}' vary along the same axis.")
        names = [self._axis_name(axis, wish) for axis, wish in zip(order, wishes, strict=True)]
        rows = tuple(reversed(order))
        place = tuple(sorted(rows))

        def turned(array: Any) -> Any:
            squeezed = array.reshape([array.shape[axis] for axis in place])
            return squeezed if rows == place else squeezed.T

        return turned(self.counts if chosen is None else chosen), turned(self.codes), list(reversed(names))

    def _axis_name(self, axis: int, wanted: str | None) -> str:
        if wanted is not None:
            return wanted
        monotone = []
        for name in self.axes[axis]:
            steps = np.diff(self.values[name])
            if np.all(steps > 0) or np.all(steps < 0):
                monotone.append(name)
                if np.ptp(steps) <= EVENLY * np.abs(steps).max():
                    return name
        if not monotone:
            raise DeclarationError(
                f"The map of '{self.name}': nothing rises or falls along axis {axis} alone. Give the inputs of the "
                "batch as arrays that vary along one axis each, such as mu[:, None] and theta."
            )
        return monotone[0]

    def __repr__(self) -> str:
        lines = [f"ReactionsMap of '{self.name}': {self.codes.size} states of shape {self.codes.shape}"]
        for place, status in enumerate(ReactionsStatus):
            share = int(np.count_nonzero(self.codes == place))
            if share:
                numbers = sorted({int(item) for item in np.unique(self.counts[self.codes == place])})
                lines.append(f"  {status.name:<13}  {share:>9} states, accelerations: {', '.join(map(str, numbers))}")
        return "\n".join([*lines, f"  residual {self.residual:.1e}"])
