"""How commands tell results and mistakes: data on stdout, all else on stderr, every character of it to be seen."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from enum import Enum
from functools import wraps
from typing import Any, NoReturn

import click
import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from zwang.cli.exit_signals import exit_code, stoppable
from zwang.errors import StateError, ZwangError, printable

NO_ANSWER = 1  # exit status
WRONG_USAGE = 2  # exit status


def tell(text: str, *, err: bool = False) -> None:
    """Write a text to stdout, or to stderr."""
    click.echo(printable(text), err=err)


def as_json(value: Any) -> Any:
    """Return a value as JSON has it: arrays as lists, enums by name, formulas as text, what is not finite as None.

    Examples
    --------
    >>> import sympy as sp
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
    sp = sys.modules.get("sympy")  # who has a formula has loaded it; the lab's server does without
    if sp is not None and isinstance(value, sp.MatrixBase):
        return [[as_json(item) for item in row] for row in value.tolist()]
    if sp is not None and isinstance(value, sp.Basic):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(item) for item in value]
    return value


def print_json(value: Any, *, indent: int | None = 2) -> None:
    """Write a value to stdout as JSON."""
    click.echo(json.dumps(as_json(value), indent=indent, allow_nan=False))


class PipeConsole(Console):
    """A console that leaves it to the group of commands how to end where its reader went away."""

    def on_broken_pipe(self) -> None:
        """Raise what rich has caught."""
        raise BrokenPipeError


def print_table(head: Iterable[str], rows: Iterable[Iterable[str]], *, right: Iterable[int] = ()) -> None:
    """Write a table to stdout; on a terminal it folds to the width, in a pipe every row is one line."""
    table = Table(box=None, pad_edge=False)
    for place, column in enumerate(head):
        table.add_column(column, justify="right" if place in set(right) else "left")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    console = PipeConsole(markup=False, highlight=False)
    if not console.is_terminal:
        console.width = 10_000
    console.print(table)


def tell_mistakes(command: Callable[..., Any]) -> Callable[..., Any]:
    """Turn the exceptions of zwang, signals, and files that can't be had, into a line on stderr and an exit code."""

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> Any:
        for stream in (sys.stdout, sys.stderr):
            with suppress(AttributeError, ValueError):  # a stand-in without an encoding of its own
                stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
        try:
            with stoppable():
                try:
                    return command(*args, **kwargs)
                finally:
                    sys.stdout.flush()  # a full disk behind it is told here, not when Python ends
        except ZwangError as error:  # after a signal it may be an answer to what was left then
            code = NO_ANSWER if isinstance(error, StateError) else WRONG_USAGE
            fail(f"{type(error).__name__}: {error}", exit_code() or code)
        except BrokenPipeError:
            raise  # the reader of the pipe went away: the group of commands ends with its own code
        except KeyboardInterrupt:
            fail("Interrupted.", exit_code() or 130)
        except OSError as error:
            fail(f"{error.filename or 'standard output'}: {error.strerror or error}", WRONG_USAGE)

    return run


def fail(message: str, code: int) -> NoReturn:
    """Write a message to stderr and end with a code."""
    tell(message, err=True)
    sys.exit(code)
