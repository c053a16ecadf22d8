"""Systems that ship with the package: the papers' examples and mechanisms that tools are measured by.

Each has its equations, parameter values, a valid state, facts known in closed form and its source, and is the single
source of that system for tests, documentation and benchmarks.

>>> import zwang as zw
>>> zw.gallery.names()[:3]
('andrews', 'atwood', 'atwood_changing_length')
>>> sleigh = zw.gallery.get("sleigh")
>>> sleigh.system.constraints.names
('blade',)
"""

from __future__ import annotations

import importlib
import json
from functools import cache
from importlib import resources
from typing import Any

from zwang._declare.system import System
from zwang.errors import DeclarationError, nearest
from zwang.gallery.entry import Entry, Fact

__all__ = ["Entry", "Fact", "get", "n_four_bar", "names", "normal_form", "pyramid", "stack", "touching_curves"]

# Name of the entry -> module of this package that has a function of that name; as data, so that the completion of a
# shell knows the names without loading what declares them.
_HOMES: dict[str, str] = json.loads(resources.files(__name__).joinpath("homes.json").read_text(encoding="utf-8"))


def names() -> tuple[str, ...]:
    """Return the names of all entries, in alphabetical order.

    Examples
    --------
    >>> import zwang as zw
    >>> "ellipse_pendulum" in zw.gallery.names()
    True
    """
    return tuple(sorted(_HOMES))


def get(name: str) -> Entry:
    """Return the entry of a name.

    Examples
    --------
    >>> import zwang as zw
    >>> entry = zw.gallery.get("kozlov_neishtadt")
    >>> entry.system.constraints["floor"].expr, dict(entry.params)
    (y, {})
    >>> zw.gallery.get("slegh")
    Traceback (most recent call last):
        ...
    zwang.errors.DeclarationError: The gallery has no 'slegh'. Did you mean 'sleigh'?
    """
    if name not in _HOMES:
        raise DeclarationError(f"The gallery has no '{name}'. {nearest(str(name), names())}")
    return _entry(name)


@cache
def _entry(name: str, *arguments: Any) -> Entry:
    entry = getattr(importlib.import_module(f"zwang.gallery.{_HOMES[name]}"), name)(*arguments)
    assert isinstance(entry, Entry)
    return entry


def pyramid(n: int) -> Entry:
    """Return the pyramid of n blocks (Ivanov 2013, example 2); `get("pyramid")` is that of three.

    Examples
    --------
    >>> import zwang as zw
    >>> len(zw.gallery.pyramid(10).system.constraints)
    10
    """
    return _entry("pyramid", _count(n, "pyramid"))


def n_four_bar(n: int) -> Entry:
    """Return the chain of n four-bar loops; `get("n_four_bar")` is that of two.

    Examples
    --------
    >>> import zwang as zw
    >>> len(zw.gallery.n_four_bar(5).system.coordinates)
    12
    """
    return _entry("n_four_bar", _count(n, "n_four_bar"))


def stack(n: int) -> Entry:
    """Return a tower of n blocks, each on two corners; `get("stack")` is that of three.

    Examples
    --------
    >>> import zwang as zw
    >>> zw.gallery.stack(2).system.constraints.names
    ('block1 left', 'block1 right', 'block2 left', 'block2 right')
    """
    return _entry("stack", _count(n, "stack"))


def touching_curves(k: int) -> Entry:
    """Return the curves y = +-x^k as y^2 = x^(2 k); `get("touching_curves")` is k = 2.

    Examples
    --------
    >>> import zwang as zw
    >>> zw.gallery.touching_curves(3).system.constraints["curve"].expr
    -x**6 + y**2
    """
    return _entry("touching_curves", _count(k, "touching_curves"))


def normal_form(kind: str, *, A: Any = None, B: Any = None, W: Any = None) -> System:
    """Return a normal form of Burian (2024), ``A q'' + B = lam grad f + |lam| W``, with expressions of one's own.

    Parameters
    ----------
    kind : {'crossing', 'tangency'}
        f = y^2 - x^2 or f = y^2 - x^4, set equal to the parameter eps.
    A : 2 x 2 matrix, optional
        Of the coordinates x and y, as ``zw.coordinates("x y")`` gives them; by default of parameters A11, A12, A22.
    B : two expressions, optional
        Of coordinates and velocities; by default parameters B1, B2.
    W : two expressions or False, optional
        Of coordinates: W = -mu (W1, W2) sign(W1 x' + W2 y'), which is odd in the velocity and takes energy out; by
        default parameters. False leaves friction out.

    Examples
    --------
    >>> import zwang as zw
    >>> (x, y), (vx, vy) = zw.coordinates("x y")
    >>> zw.gallery.normal_form("tangency", A=[[1, 0], [0, 1 + x**2]], B=(0, vx / 2), W=False)
    System 'tangency'
      coordinates  x, y
      parameters   eps
      mass         [[1, 0], [0, x**2 + 1]]
      force        [0, -v_x/2]
      curve        -eps - x**4 + y**2 = 0
    """
    from zwang.gallery.normal_forms import declare

    return declare(kind, A, B, W)


def _count(n: Any, name: str) -> int:
    if isinstance(n, bool) or not hasattr(n, "__index__") or int(n) < 1:
        raise DeclarationError(f"gallery.{name} needs a number of at least 1; it was given {n!r}.")
    return int(n)
