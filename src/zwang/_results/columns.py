"""A result as columns with names, axes and units: what other programs open.

One form for tables (``to_csv``, ``to_pandas``), Datasets (``to_xarray``) and netCDF files, which hold it at their root
beside what `load_result` reads, and the columns of runs and branches in groups. Each result says what its columns are;
those that don't show their arrays.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.contact.modes import Mode
from zwang._outputs import check_output, write_text
from zwang.errors import DeclarationError

Values = NDArray[Any]
MOST_GROUPS = 500
"""Runs or branches that have a group each in a netCDF file: each takes some ten variables, a millisecond apiece."""


@dataclass(frozen=True)
class Quantity:
    """Values along named axes.

    Attributes
    ----------
    axes : tuple of str
    values : array
        Numbers, truths or texts.
    unit : str
        Empty where it isn't known.
    words : mapping of int to str
        What numbers mean, where they stand for words.
    """

    axes: tuple[str, ...]
    values: Values
    unit: str = ""
    words: Mapping[int, str] = field(default_factory=dict)

    @property
    def attributes(self) -> dict[str, Any]:
        """What netCDF says of it."""
        found: dict[str, Any] = {"units": self.unit} if self.unit else {}
        if self.words:
            found["flag_values"] = np.array(list(self.words), dtype=self.values.dtype)
            found["flag_meanings"] = " ".join(word.replace(" ", "_") for word in self.words.values())
        return found


@dataclass(frozen=True)
class Quantities:
    """Quantities by their names; a column named as its only axis has the values along that axis."""

    columns: Mapping[str, Quantity]
    about: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        sizes: dict[str, int] = {}
        for name, column in self.columns.items():
            for axis, size in zip(column.axes, column.values.shape, strict=True):
                if sizes.setdefault(axis, size) != size:
                    raise DeclarationError(f"The column '{name}' has {size} values along '{axis}', not {sizes[axis]}.")

    @property
    def sizes(self) -> dict[str, int]:
        """The length of each axis."""
        pairs = ((column.axes, column.values.shape) for column in self.columns.values())
        return {axis: size for axes, shape in pairs for axis, size in zip(axes, shape, strict=True)}

    def to_xarray(self) -> Any:
        """Return an xarray Dataset."""
        try:
            import xarray
        except ImportError:
            raise DeclarationError("A Dataset needs xarray: pip install 'zwang[io]'; `to_csv` needs nothing.") from None
        parts: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
        for name, column in self.columns.items():
            along = column.axes == (name,)
            parts[along][name] = (list(column.axes), column.values, column.attributes)
        return xarray.Dataset(parts[0], parts[1], dict(self.about))

    def table(self) -> dict[str, Values]:
        """Return columns of one length: those that run along the axes that most have, and the values along these axes.

        Values along axes come first. Columns with axes more than that become several, numbered; numbers that stand for
        words become words.
        """
        axes = Counter(column.axes for column in self.columns.values()).most_common(1)[0][0] if self.columns else ()
        shape = tuple(self.sizes[axis] for axis in axes)
        found: dict[str, Values] = {}
        for name, column in sorted(self.columns.items(), key=lambda item: item[1].axes != (item[0],)):
            values = column.values
            if column.words:
                values = np.array([column.words.get(int(k), "") for k in values.ravel()]).reshape(values.shape)
            if column.axes == axes:
                found[name] = values.ravel()
            elif len(column.axes) == 1 and column.axes[0] in axes:
                wide = [-1 if axis == column.axes[0] else 1 for axis in axes]
                found[name] = np.broadcast_to(values.reshape(wide), shape).ravel()
            elif axes and column.axes[: len(axes)] == axes:
                rest = values.reshape(math.prod(shape), -1)
                found |= {f"{name}_{k + 1}": rest[:, k] for k in range(rest.shape[1])}
        return found

    def written(self, path: str | Path) -> Path:
        """Write the table: a line of names, then the numbers, exactly."""
        check_output(path)
        table = self.table()
        made = io.StringIO()
        writer = csv.writer(made, lineterminator="\n")
        writer.writerow(table)
        writer.writerows(zip(*(column.tolist() for column in table.values()), strict=True))
        return write_text(path, made.getvalue())

    def to_pandas(self) -> Any:
        """Return the table as a DataFrame."""
        try:
            import pandas
        except ImportError:
            raise DeclarationError("A DataFrame needs pandas: pip install pandas; `to_csv` needs nothing.") from None
        return pandas.DataFrame(self.table())


class Tabular:
    """What has columns; mixed into results."""

    def _columns(self) -> Quantities:
        """Return the columns; by default the numbers and arrays among the fields, each with axes of its own."""
        found: dict[str, Quantity] = {}
        for item in fields(self):  # type: ignore[arg-type]
            value = getattr(self, item.name)
            if isinstance(value, (bool, int, float, np.generic, np.ndarray)):
                array = np.asarray(value)
                if array.dtype.kind in "biufU":
                    axes = tuple(f"{item.name}_axis{axis}" for axis in range(array.ndim))
                    found[item.name] = Quantity(axes, array)
        return Quantities(found, about(self))

    def _groups(self) -> Mapping[str, Quantities]:
        """Return the columns of its runs or branches, by the names that their groups have in a netCDF file."""
        found: dict[str, Quantities] = {}
        for name, word in (("motions", "run"), ("branches", "branch")):
            for k, part in enumerate(getattr(self, name, ())[:MOST_GROUPS]):
                if isinstance(part, Tabular):
                    found[f"{word}_{k}"] = part._columns()
                elif is_dataclass(part):
                    found[f"{word}_{k}"] = Tabular._columns(part)  # type: ignore[arg-type]
        return found

    def to_xarray(self) -> Any:
        """Return an xarray Dataset with named axes (extra ``io``)."""
        return self._columns().to_xarray()

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame, as `to_csv` writes it."""
        return self._columns().to_pandas()

    def to_csv(self, path: str | Path) -> Path:
        """Write a table as text: a line of names, then a line for each row."""
        return self._columns().written(path)


def about(result: Any) -> dict[str, Any]:
    """Return what files say of a result as a whole: texts and numbers alone."""
    found: dict[str, Any] = {"result": type(result).__name__}
    for name in ("name", "status", "reason"):
        value = getattr(result, name, "")
        if isinstance(value, Enum):
            found[name] = value.name
        elif isinstance(value, str) and value:
            found["system" if name == "name" else name] = value
    provenance = getattr(result, "provenance", None)
    if provenance is not None:
        found["digest"] = provenance.digest
        found["zwang"] = provenance.versions.get("zwang", "")
    for name, value in getattr(result, "params", {}).items():
        found[f"parameter_{identifier(name)}"] = float(value)
    return found


def identifier(name: str) -> str:
    """Return a name that programs take for one: letters, digits and underscores.

    Examples
    --------
    >>> identifier("foot 1"), identifier("hinge (low)")
    ('foot_1', 'hinge_low')
    """
    return re.sub(r"\W+", "_", name).strip("_") or "unnamed"


def named(names: Sequence[str], prefix: str = "") -> list[str]:
    """Return identifiers for names, numbered where two would be one."""
    found: list[str] = []
    for name in names:
        plain = f"{prefix}{identifier(name)}"
        number, taken = 2, plain
        while taken in found:
            taken, number = f"{plain}_{number}", number + 1
        found.append(taken)
    return found


def mode_words(codes: Values) -> dict[int, str]:
    """Return what the numbers of modes among these mean."""
    known = {int(mode): mode.word for mode in Mode}
    return {int(code): known[int(code)] for code in np.unique(codes) if int(code) in known}


def netcdf(
    columns: Quantities, groups: Mapping[str, Quantities], arrays: Mapping[str, Values], meta: str
) -> memoryview:
    """Return a netCDF file as bytes: columns at its root and in groups, and what `load_result` reads in ``zwang``.

    As bytes, because HDF5 itself takes the process with it where a disk is full.
    """
    import h5netcdf

    made = io.BytesIO()
    with h5netcdf.File(made, "w") as file:
        for place, held in (("", columns), *groups.items()):
            group = file.create_group(place) if place else file
            group.attrs.update(held.about)
            group.dimensions = {axis: max(size, 0) for axis, size in held.sizes.items()}
            for name, column in held.columns.items():
                _variable(group, name, column.axes, column.values).attrs.update(column.attributes)
        own = file.create_group("zwang")
        own.attrs["meta"] = meta
        for name, array in arrays.items():
            axes = tuple(f"{name}_axis{axis}" for axis in range(array.ndim))
            own.dimensions.update(dict(zip(axes, array.shape, strict=True)))
            _variable(own, name, axes, array)
    return made.getbuffer()


def _variable(group: Any, name: str, axes: tuple[str, ...], values: Values) -> Any:
    """Write a variable; truths are small integers in netCDF, and texts have a type of their own."""
    if values.dtype.kind == "U":
        import h5py

        made = group.create_variable(name, axes, dtype=h5py.string_dtype())
        if values.size:
            made[...] = values.astype(object)
        return made
    truth = values.dtype == bool
    made = group.create_variable(name, axes, data=values.astype(np.int8) if truth else values)
    if truth:
        made.attrs["dtype"] = "bool"
    return made
