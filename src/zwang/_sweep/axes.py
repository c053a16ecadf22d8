"""What a sweep varies: axes of a grid, values that go together, samples of distributions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._declare.system import System
from zwang.errors import DeclarationError, nearest

Array = NDArray[np.float64]
SAMPLE = "sample"
HOW = ("sobol", "latin", "random")


class Sampled(Mapping[str, Array]):
    """Values that go together, one row for each sample: what `sampled` returns and ``sweep(paired=)`` takes.

    Parameters
    ----------
    values : mapping of str to 1-D array
    axis : str
        The name of their axis.
    seed : int or None
    """

    def __init__(self, values: Mapping[str, Array], axis: str, seed: int | None) -> None:
        self._values, self.axis, self.seed = dict(values), axis, seed

    def __getitem__(self, name: str) -> Array:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        count = len(next(iter(self._values.values()), ()))
        return f"{count} samples of {', '.join(self._values)} along '{self.axis}'"


def sampled(
    distributions: Mapping[Any, Any], count: int, *, how: str = "sobol", seed: int = 0, axis: str = SAMPLE
) -> Sampled:
    """Return points of independent distributions, for studies of tolerance and uncertainty.

    Parameters
    ----------
    distributions : mapping
        Symbol or name -> frozen distribution of `scipy.stats`, or anything else with ``ppf``.
    count : int
        How many points; Sobol's are balanced best where it is a power of two.
    how : {'sobol', 'latin', 'random'}
        Scrambled Sobol points, a Latin hypercube (both `scipy.stats.qmc`), or independent random numbers.
    seed : int
    axis : str
        What the axis is called in the study.

    Examples
    --------
    >>> import zwang as zw
    >>> from scipy import stats
    >>> mu, m = zw.parameters("mu m")
    >>> points = zw.sampled({mu: stats.norm(0.3, 0.02), m: stats.uniform(1, 1)}, 64)
    >>> points
    64 samples of mu, m along 'sample'
    >>> round(float(points["mu"].mean()), 3), round(float(points["m"].mean()), 2)
    (0.3, 1.5)
    """
    if not isinstance(distributions, Mapping) or not distributions:
        raise DeclarationError(
            f"sampled needs a mapping from symbols to distributions; it was given {distributions!r:.60}."
        )
    if isinstance(count, bool) or not hasattr(count, "__index__") or int(count) < 1:
        raise DeclarationError(f"sampled: the number of samples must be at least 1; it was given {count!r}.")
    if how not in HOW:
        raise DeclarationError(f"sampled: how= must be 'sobol', 'latin' or 'random'; it was given {how!r:.40}.")
    if not isinstance(axis, str) or not axis:
        raise DeclarationError(f"sampled: axis= must be a name; it was given {axis!r:.40}.")
    for key, law in distributions.items():
        if not callable(getattr(law, "ppf", None)):
            raise DeclarationError(
                f"sampled: '{key}' needs a distribution such as scipy.stats.norm(0.3, 0.02); it was given {law!r:.60}."
            )
    unit = _unit_points(len(distributions), int(count), how, seed)
    values = {}
    for column, (key, law) in enumerate(distributions.items()):
        values[str(key)] = np.asarray(law.ppf(unit[:, column]), dtype=float)
        if not np.isfinite(values[str(key)]).all():
            raise DeclarationError(f"sampled: the distribution of '{key}' gave values that are not finite.")
    return Sampled(values, axis, seed)


def _unit_points(dimension: int, count: int, how: str, seed: int) -> Array:
    """Return points of the open unit cube."""
    from scipy.stats import qmc

    if how == "random":
        found = np.random.default_rng(seed).random((count, dimension))
    elif how == "latin":
        found = qmc.LatinHypercube(dimension, rng=np.random.default_rng(seed)).random(count)
    else:
        # Balanced sets have a power of two of points; the first ones of the next such set are taken otherwise.
        engine = qmc.Sobol(dimension, scramble=True, rng=np.random.default_rng(seed))
        found = engine.random_base2(max(0, math.ceil(math.log2(count))))[:count]
    # The ends of the interval have no quantile where a distribution has tails.
    inside: Array = np.clip(np.asarray(found, dtype=float), 2.0**-53, 1 - 2.0**-53)
    return inside


@dataclass(frozen=True)
class SweepAxes:
    """The points of a sweep, numbered in the order of the flattened axes.

    Attributes
    ----------
    dims : tuple of str
    shape : tuple of int
    coords : mapping of str to 1-D array
    along : mapping of str to str
        The axis along which each of them varies.
    """

    dims: tuple[str, ...]
    shape: tuple[int, ...]
    coords: Mapping[str, Array]
    along: Mapping[str, str]

    @property
    def total(self) -> int:
        """The number of points."""
        return math.prod(self.shape)

    def values(self, first: int, count: int) -> dict[str, Array]:
        """Return the values of what is varied at some points that follow each other."""
        places = np.unravel_index(np.arange(first, first + count), self.shape) if self.shape else ()
        where = dict(zip(self.dims, places, strict=True))
        return {name: self.coords[name][where[self.along[name]]] for name in self.coords}


def axes_of(system: System, over: Mapping[Any, Any] | None, paired: Mapping[Any, Any] | None) -> SweepAxes:
    """Return the points that ``over=`` and ``paired=`` ask for; what is no symbol of the system is a mistake."""
    for name, given in (("over", over), ("paired", paired)):
        if given is not None and not isinstance(given, Mapping):
            raise DeclarationError(
                f"sweep: {name}= must be a mapping from symbols or names to values; it was given {given!r:.60}."
            )
    if not over and not paired:
        raise DeclarationError(
            "sweep: nothing is varied. Give over= (a grid), paired= (values that go together), or both."
        )
    known = ["t", *(s.name for s in (*system.coordinates, *system.velocities, *system.parameters))]
    dims: list[str] = []
    shape: list[int] = []
    coords: dict[str, Array] = {}
    along: dict[str, str] = {}
    for key, values in (over or {}).items():
        name = _known(system, key, known, coords)
        coords[name], along[name] = _numbers(name, values), name
        dims.append(name)
        shape.append(len(coords[name]))
    if paired:
        axis = getattr(paired, "axis", SAMPLE)
        if axis in dims:
            raise DeclarationError(f"sweep: there are two axes '{axis}'. Name that of the samples otherwise (axis=).")
        lengths = {}
        for key, values in paired.items():
            name = _known(system, key, known, coords)
            coords[name], along[name] = _numbers(name, values), axis
            lengths[name] = len(coords[name])
        if len(set(lengths.values())) > 1:
            told = ", ".join(f"{name} {length}" for name, length in lengths.items())
            raise DeclarationError(f"sweep: what is paired must have one length; it has {told}.")
        dims.append(axis)
        shape.append(next(iter(lengths.values())))
    return SweepAxes(tuple(dims), tuple(shape), coords, along)


def _known(system: System, key: Any, known: list[str], coords: Mapping[str, Any]) -> str:
    name = str(key)
    if name not in known:
        raise DeclarationError(f"sweep: '{system.name}' has no '{name}' to vary. {nearest(name, known)}")
    if name in coords:
        raise DeclarationError(f"sweep: '{name}' is varied twice.")
    return name


def _numbers(name: str, values: Any) -> Array:
    try:
        found = np.array(values, dtype=float)
    except (TypeError, ValueError):
        raise DeclarationError(f"sweep: the values of '{name}' must be numbers; it was given {values!r:.60}.") from None
    if found.ndim != 1 or not found.size:
        raise DeclarationError(
            f"sweep: the values of '{name}' must be a list of numbers, at least one; they have the shape {found.shape}."
        )
    if not np.isfinite(found).all():
        raise DeclarationError(f"sweep: the values of '{name}' must be finite.")
    return found
