"""What the commands share: the model that an argument names, and how results and mistakes are told."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import wraps
from pathlib import Path
from typing import Any, NoReturn

import click
import numpy as np
import sympy as sp
from rich.console import Console
from rich.table import Table

from zwang import gallery
from zwang._declare.files import load, load_values
from zwang._declare.system import System
from zwang.errors import DeclarationError, StateError, ZwangError

NO_ANSWER = 1
WRONG_USAGE = 2
PICTURES = (".png", ".svg", ".pdf")


@dataclass(frozen=True)
class NamedModel:
    """A system with the values that came along with it."""

    system: System
    params: dict[str, float]
    state: dict[str, float]


def find_model(name: str) -> NamedModel:
    """Return the model of a file (anything that ends in .toml or exists) or of the gallery."""
    path = Path(name)
    if name in gallery.names() and not path.is_file():
        entry = gallery.get(name)
        return NamedModel(entry.system, dict(entry.params), dict(entry.state))
    if path.suffix == ".toml" or path.is_file():
        params, state = load_values(path)
        return NamedModel(load(path), params, state)
    try:
        gallery.get(name)
    except DeclarationError as error:
        raise DeclarationError(
            f"'{name}' is neither a model file (.toml) nor a system of the gallery. {error}"
        ) from None
    raise AssertionError(name)  # names() has what get() knows


def as_json(value: Any) -> Any:
    """Return a value as JSON has it: arrays as lists, enums by name, formulas as text, what is not finite as None.

    Examples
    --------
    >>> as_json({"a": np.array([1.0, np.nan]), "b": sp.Symbol("x") + 1})
    {'a': [1.0, None], 'b': 'x + 1'}
    """
    if isinstance(value, np.ndarray):
        return as_json(value.tolist())
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, (np.floating, float)):
        return float(value) if np.isfinite(value) else None
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, sp.MatrixBase):
        return [[as_json(item) for item in row] for row in value.tolist()]
    if isinstance(value, sp.Basic):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(item) for item in value]
    return value


def print_json(value: Any, *, indent: int | None = 2) -> None:
    """Write a value to stdout as JSON."""
    click.echo(json.dumps(as_json(value), indent=indent, allow_nan=False))


def print_table(head: Iterable[str], rows: Iterable[Iterable[str]], *, right: Iterable[int] = ()) -> None:
    """Write a table to stdout; on a terminal it folds to the width, in a pipe every row is one line."""
    table = Table(box=None, pad_edge=False)
    for place, column in enumerate(head):
        table.add_column(column, justify="right" if place in set(right) else "left")
    for row in rows:
        table.add_row(*row)
    console = Console(markup=False, highlight=False)
    if not console.is_terminal:
        console.width = 10_000
    console.print(table)


def write_picture(figure: Any, path: Path) -> None:
    """Write a figure to a file whose ending says the format."""
    if path.suffix not in PICTURES:
        raise DeclarationError(f"'{path}': pictures are written as .png, .svg or .pdf.")
    figure.savefig(path)


def tell_mistakes(command: Callable[..., Any]) -> Callable[..., Any]:
    """Turn the exceptions of zwang, and files that can't be had, into a line on stderr and an exit code."""

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except StateError as error:
            fail(f"StateError: {error}", NO_ANSWER)
        except ZwangError as error:
            fail(f"{type(error).__name__}: {error}", WRONG_USAGE)
        except BrokenPipeError:
            raise  # the reader of the pipe went away; Python says so by itself
        except OSError as error:
            fail(f"{error.filename or 'file'}: {error.strerror or error}", WRONG_USAGE)

    return run


def fail(message: str, code: int) -> NoReturn:
    """Write a message to stderr and end with a code."""
    click.echo(message, err=True)
    sys.exit(code)
