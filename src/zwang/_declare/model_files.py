"""Model files: a system, and values that go with it, from a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zwang import _modelfile
from zwang._declare.plain import declared, made_of
from zwang._declare.system import System
from zwang._outputs import as_path


def load(path: str | Path) -> System:
    """Read a system from a model file.

    Parameters
    ----------
    path : path
        A TOML file with ``schema = 1`` or ``2``; its expressions are texts that go through a parser which executes
        nothing.

    Examples
    --------
    >>> import tempfile, pathlib, zwang as zw
    >>> rod = zw.gallery.get("painleve_rod").system
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "rod.toml"
    ...     rod.save(path)
    ...     zw.load(path) == rod
    True
    """
    found: System = declared(_modelfile.read(as_path(path)), System)
    return found


def load_values(path: str | Path) -> tuple[dict[str, float], dict[str, float]]:
    """Read the values that a model file brings along: params and state, by name; empty where it has none."""
    plain = _modelfile.read(Path(path))
    return dict(plain.get("params", {})), dict(plain.get("state", {}))


def from_dict(plain: Mapping[str, Any]) -> System:
    """Return the system that a plain dictionary, as a model file holds it, declares."""
    found: System = made_of(plain, System)
    return found
