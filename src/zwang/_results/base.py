"""What every result has: a status that is a sentence, a residual, a provenance, a way to a file and back."""

from __future__ import annotations

import importlib
import importlib.metadata
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import Enum
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, Self, cast

from zwang._numerics.jit import tier
from zwang._numerics.tolerances import THRESHOLDS
from zwang._results import storage
from zwang._results.columns import Tabular
from zwang._results.finite import require_finite
from zwang._results.later import Later, WithLater
from zwang.errors import DeclarationError


@storage.storable
@dataclass(frozen=True)
class Provenance(WithLater):
    """Where a result comes from.

    Attributes
    ----------
    digest : str
        Content hash of the system or problem.
    versions : mapping
        Versions of zwang, Python and the libraries that computed it.
    tolerances : mapping
        The tolerances that were used, by name, with those of `zwang._numerics.tolerances.THRESHOLDS`; `reasons` says
        why they have their size.
    seed : int or None
        The seed of random choices, None where none were made.
    backend, tier : str
        Which backend evaluated the equations, and whether its kernels were 'compiled' or ran as 'plain' Python. The
        same call gives the same bits on one machine, backend and tier.

    Examples
    --------
    >>> provenance = Provenance.now("abc", tolerances={"rank": 1e-11})
    >>> provenance.digest, "numpy" in provenance.versions, provenance.seed, provenance.backend
    ('abc', True, None, 'native')
    """

    digest: str
    versions: Mapping[str, str] = field(default_factory=dict)
    tolerances: Mapping[str, float] = field(default_factory=dict)
    seed: int | None = None
    backend: str = "native"
    tier: str = "compiled"

    @classmethod
    def now(
        cls,
        digest: str | Later,
        *,
        tolerances: Mapping[str, float] | None = None,
        seed: int | None = None,
        backend: str = "native",
    ) -> Provenance:
        """Return the provenance of something computed with the installed versions."""
        used = {**THRESHOLDS.values, **(tolerances or {})}
        return cls(cast(str, digest), dict(_versions()), used, seed, backend, tier())

    @property
    def reasons(self) -> dict[str, str]:
        """Name of a tolerance -> why it has its size, of those that are no option of the verb."""
        return {name: why for name, why in THRESHOLDS.reasons.items() if name in self.tolerances}


@cache
def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in ("zwang", "numpy", "scipy", "sympy", "numba"):
        if version := getattr(sys.modules.get(package), "__version__", None):  # sooner than by reading its metadata
            found[package] = str(version)
            continue
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


@dataclass(frozen=True, kw_only=True)
class Result(Tabular):
    """Base of all results; subclasses are frozen dataclasses marked `storable`.

    Attributes
    ----------
    status : Enum
        The outcome; its value is a sentence.
    residual : float or array
        How far the result misses its equations, recomputed from them.
    provenance : Provenance
    """

    status: Enum
    residual: Any
    provenance: Provenance

    def __post_init__(self) -> None:
        numbers = self._numbers()
        if numbers:
            require_finite(f"{type(self).__name__} of '{getattr(self, 'name', '')}'", numbers)

    def _numbers(self) -> Mapping[str, Any]:
        """Return the numbers without which this is no answer, by name: each must be finite."""
        return {}

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle holds: the data, and not what was made of it when that was asked for."""
        kept = {item.name for item in fields(self)}
        return {name: value for name, value in self.__dict__.items() if name in kept}

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the summary."""
        return f"<pre>{escape(repr(self))}</pre>"

    def as_stored(self) -> Self:
        """Return the result as files hold it, alone or in another one: with what else is made when it is asked for."""
        return self

    def save(self, path: str | Path) -> Path:
        """Write the result to ``.npz``, or to netCDF (``.nc``, extra ``io``); `load_result` reads it back.

        Parameters
        ----------
        path : path
            Where to; the ending says the format.
        """
        return storage.save(self, Path(path))


def drawing_of(result: Any, given: Any = None) -> Any:
    """Return what pictures of a result show: the drawing given, else that of its system, else None.

    A result keeps the drawing of its system as plain texts, which are read where declarations are.
    """
    if given is not None:
        if not hasattr(given, "scene"):
            raise DeclarationError(
                f"{result.name}: drawing= must be a zw.Drawing; Linkage.drawing makes one, and entries of the gallery "
                f"have one. It was given {given!r:.60}."
            )
        return given
    if not result.drawing:
        return None
    return importlib.import_module("zwang._declare.drawing").Drawing.from_dict(result.drawing)
