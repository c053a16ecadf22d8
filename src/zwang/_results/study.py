"""`Study`: what a sweep kept of many results, as arrays over named axes."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._outputs import check_output, write_text
from zwang._plot.style import titling
from zwang._results.base import Result
from zwang._results.storage import storable
from zwang.errors import DeclarationError, nearest, printable

SHOWN = 3
"""Failures that the summary tells; `failures` has all of them."""


@storable
class StudyStatus(Enum):
    """How a sweep ended."""

    COMPLETE = "Every point was computed."
    FAILURES = "Every point was tried; some raised, and are listed with their messages."
    INTERRUPTED = "The sweep ended before all points were tried; a store goes on where it ended."


@storable
@dataclass(frozen=True)
class Failure:
    """A point of a sweep that gave no result.

    Attributes
    ----------
    place : tuple of int
        Its indices along the axes.
    point : mapping of str to float
        The values of what is varied.
    message : str
    """

    place: tuple[int, ...]
    point: Mapping[str, float]
    message: str


@storable
@dataclass(frozen=True)
class TextColumn:
    """An array of texts as files hold it: each text once, and its place for every point.

    Examples
    --------
    >>> TextColumn.of(np.array(["UNIQUE", "NONE", "UNIQUE"])).array().tolist()
    ['UNIQUE', 'NONE', 'UNIQUE']
    """

    texts: tuple[str, ...]
    places: NDArray[np.int64]

    @classmethod
    def of(cls, array: NDArray[Any]) -> TextColumn:
        """Return an array of texts in this form."""
        texts, places = np.unique(array, return_inverse=True)
        return cls(tuple(str(text) for text in texts), places.reshape(array.shape).astype(np.int64))

    def array(self) -> NDArray[Any]:
        """Return the array again."""
        if self.places.size and not (self.places.min() >= 0 and self.places.max() < len(self.texts)):
            raise DeclarationError("a column of texts names one that isn't there")
        return np.array(self.texts, dtype=str)[self.places] if self.texts else np.full(self.places.shape, "")


@storable
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Study(Result):
    """What was kept of a verb's results over a grid or a sample of states and parameters.

    Attributes
    ----------
    residual : float
        The largest of the results; nan where none was computed: that of a motion costs more than a short motion, and is
        computed where ``keep`` names it.
    name : str
        Of the system.
    verb : str
    dims : tuple of str
        The axes, in order: names of what is varied, or of a sample.
    coords : mapping of str to 1-D array
        The values of everything that is varied, by name.
    along : mapping of str to str
        The axis along which each of them varies.
    values : mapping of str to array
        What was kept. The first axes are `dims`; what has several entries at a point has further ones, padded with nan
        (or an empty text), and where their number differs from point to point, ``<name>_count`` says it.
    done : bool array over the axes
        Whether a point has been computed.
    failures : tuple of Failure
    units : mapping of str to str
    reason : str
        Why a sweep ended early.

    Examples
    --------
    >>> import numpy as np, zwang as zw
    >>> rod = zw.gallery.get("painleve_rod")
    >>> study = zw.sweep("reactions", rod.system, rod.state, rod.params, over={"mu": np.linspace(0, 2, 5)},
    ...                  keep=("status", "accelerations"))
    >>> study.values["status"].tolist()
    ['UNIQUE', 'UNIQUE', 'UNIQUE', 'NONE', 'NONE']
    >>> study.values["accelerations"].shape, study.values["accelerations_count"].tolist()
    ((5, 1, 3), [1, 1, 1, 0, 0])
    """

    status: StudyStatus
    name: str
    verb: str
    dims: tuple[str, ...]
    coords: Mapping[str, NDArray[np.float64]]
    along: Mapping[str, str]
    values: Mapping[str, Any]
    done: NDArray[np.bool_]
    failures: tuple[Failure, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""

    def __post_init__(self) -> None:
        read = {name: kept.array() if isinstance(kept, TextColumn) else kept for name, kept in self.values.items()}
        object.__setattr__(self, "values", read)
        super().__post_init__()

    def _check(self) -> str:
        if self.done.ndim != len(self.dims):
            return f"{self.done.ndim} axes have {len(self.dims)} names"
        sizes = dict(zip(self.dims, self.done.shape, strict=True))
        for name, values in self.coords.items():
            if self.along.get(name) not in sizes or values.shape != (sizes[self.along[name]],):
                return f"the values of '{name}' don't fit its axis"
        for name, kept in self.values.items():
            if not isinstance(kept, np.ndarray) or kept.shape[: self.done.ndim] != self.done.shape:
                return f"'{name}' doesn't have the shape of the axes"
        return ""

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""
        return self.done.shape

    def __getitem__(self, name: str) -> Any:
        if name in self.values:
            return self.values[name]
        if name in self.coords:
            return self.coords[name]
        known = [*self.values, *self.coords]
        raise DeclarationError(f"The study of '{self.name}' kept no '{name}'. {nearest(str(name), known)}")

    @property
    def dataset(self) -> Any:
        """All of it as an xarray Dataset with named axes (extra ``io``)."""
        return self.to_xarray()

    def to_xarray(self) -> Any:
        """Return an xarray Dataset: what was kept over named axes, with units where they are known."""
        try:
            import xarray
        except ImportError:
            raise DeclarationError(
                "A Dataset needs xarray: pip install 'zwang[io]'; `values` has plain arrays."
            ) from None
        coords = {name: (self.along[name], values, self._unit(name)) for name, values in self.coords.items()}
        kept = {}
        for name, values in self.values.items():
            inner = [f"{name}_axis{axis}" for axis in range(values.ndim - self.done.ndim)]
            kept[name] = ([*self.dims, *inner], values, self._unit(name))
        about = {"system": self.name, "verb": self.verb, "status": self.status.name, "digest": self.provenance.digest}
        return xarray.Dataset({**kept, "done": (list(self.dims), self.done)}, coords=coords, attrs=about)

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame with one row for each point, as `to_csv` writes it."""
        try:
            import pandas
        except ImportError:
            raise DeclarationError("A DataFrame needs pandas: pip install pandas; `to_csv` needs nothing.") from None
        names, columns = self._table()
        return pandas.DataFrame(dict(zip(names, columns, strict=True)))

    def to_csv(self, path: str | Path) -> Path:
        """Write one line for each point: the values of what is varied, then everything that was kept."""
        names, columns = self._table()
        made = io.StringIO()
        writer = csv.writer(made, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(zip(*(column.tolist() for column in columns), strict=True))
        return write_text(path, made.getvalue())

    def save(self, path: str | Path) -> Path:
        """Write the study: ``.npz``, ``.nc`` (extra ``io``), which `load_result` reads back, or a table as ``.csv``."""
        if Path(path).suffix == ".csv":
            check_output(path)
            return self.to_csv(path)
        texts = {name: TextColumn.of(kept) for name, kept in self.values.items() if kept.dtype.kind == "U"}
        plain = copy(self)
        object.__setattr__(plain, "values", {**self.values, **texts})
        return Result.save(plain, path)

    @titling
    def plot(
        self,
        what: str | None = None,
        *,
        x: str | None = None,
        y: str | None = None,
        ax: Any = None,
        title: bool | str = True,
    ) -> Any:
        """Draw something that was kept over one or two axes and return the Axes (extra ``plot``).

        Parameters
        ----------
        what : str, optional
            Name of what was kept, by default the status or the first; a text makes a map of kinds.
        x, y : str, optional
            What runs to the right and upwards, by default the first two axes; along further axes small multiples are
            drawn, and an array of Axes is returned.
        title : bool or str
            False leaves it out; a text stands in its place.
        ax : Axes, optional
        """
        from zwang._plot.study import draw_study

        return draw_study(self, what, x=x, y=y, ax=ax)

    def points(self) -> Iterator[tuple[tuple[int, ...], dict[str, float]]]:
        """Yield every point: its indices, and the values of what is varied."""
        for place in np.ndindex(*self.shape):
            yield place, self.point(place)

    def point(self, place: tuple[int, ...]) -> dict[str, float]:
        """Return the values of what is varied at some indices."""
        where = dict(zip(self.dims, place, strict=True))
        return {name: float(values[where[self.along[name]]]) for name, values in self.coords.items()}

    def _unit(self, name: str) -> dict[str, str]:
        return {"units": self.units[name]} if name in self.units else {}

    def _table(self) -> tuple[list[str], list[Any]]:
        """Return the names and the columns of a table with one row for each point."""
        names, columns = [], []
        for name, values in self.coords.items():
            axis = self.dims.index(self.along[name])
            spread = values.reshape([-1 if place == axis else 1 for place in range(len(self.dims))])
            names.append(name)
            columns.append(np.broadcast_to(spread, self.shape).ravel())
        for name, kept in self.values.items():
            flat = kept.reshape(self.done.size, -1)
            inner = kept.shape[self.done.ndim :]
            for place, index in enumerate(np.ndindex(*inner)):
                names.append(name + "".join(f"[{i}]" for i in index))
                columns.append(flat[:, place])
        names.append("done")
        return names, [*columns, self.done.ravel()]

    def __repr__(self) -> str:
        sizes = " x ".join(f"{size} {name}" for name, size in zip(self.dims, self.shape, strict=True))
        lines = [
            f"Study of '{self.name}': {self.verb} at {sizes or 'one point'}, {self.status.name}. {self.status.value}"
        ]
        for name, kept in self.values.items():
            lines.append(f"  {name:<20} {_summary(kept, self.done)}")
        tried = int(np.count_nonzero(self.done)) + len(self.failures)
        if tried < self.done.size:
            lines.append(f"  {self.done.size - tried} of {self.done.size} points are left. {self.reason}".rstrip())
        for failure in self.failures[:SHOWN]:
            where = ", ".join(f"{name} = {value:.6g}" for name, value in failure.point.items())
            lines.append(f"  failed at {where}: {printable(failure.message)[:200]}")
        if len(self.failures) > SHOWN:
            lines.append(f"  and {len(self.failures) - SHOWN} more failures")
        known = np.isfinite(self.residual)
        return "\n".join([*lines, f"  residual {self.residual:.1e}" if known else "  residual not asked for"])


def _summary(kept: Any, done: Any) -> str:
    """Return a line about the values of one kept thing."""
    shown = kept[done]
    if kept.dtype.kind == "U":
        counted = Counter(shown.ravel().tolist())
        return ", ".join(f"{count} {text}" for text, count in counted.most_common(6) if text)
    finite = shown[np.isfinite(shown)] if shown.dtype.kind == "f" else shown
    inner = f"  (each of shape {kept.shape[done.ndim :]})" if kept.ndim > done.ndim else ""
    return f"{finite.min():.6g} to {finite.max():.6g}{inner}" if finite.size else f"no number{inner}"
