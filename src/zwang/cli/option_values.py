"""Values on the command line: numbers as expressions, ranges, and options that take several of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from zwang._declare.system import System
from zwang._expressions import parse
from zwang._results.signals import Table
from zwang.errors import DeclarationError, nearest

Array = NDArray[np.float64]
MOST_STATES = 4_000_000  # a gigabyte of answers


class Assignments(click.Command):
    """A command whose options of the form NAME=VALUE take several: ``--state x=1 y=2``.

    What follows such an option and has an equals sign belongs to it too, up to the next option.
    """

    several = ("--state", "--param", "--map", "--slip", "--box", "--budget", "--over", "--input", "--motion", "--start")

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Write the option again before each of its values, as click wants it."""
        written: list[str] = []
        option, value_due = None, False
        for text in args:
            if value_due:
                value_due = False
            elif text.split("=")[0] in self.several:
                option, value_due = text.split("=")[0], "=" not in text
            elif text.startswith("-"):
                option = None
            elif option is not None and "=" in text:
                written.append(option)
            else:
                option = None
            written.append(text)
        return super().parse_args(ctx, written)


class Words(click.Choice[str]):
    """Words that an option knows, for help and completion; another one is answered by the verb, with the nearest."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the word as it is written."""
        known = {word.lower(): word for word in map(str, self.choices)}
        return known.get(str(value).lower(), str(value))


def budget_option(command: Any) -> Any:
    """Give a command the option --budget: seconds, or seconds=, steps= and memory= (bytes)."""
    words = "Seconds, or any of seconds= steps= memory= (bytes), after which to end with what there is."
    return click.option("--budget", multiple=True, metavar="SECONDS | NAME=NUMBER ...", help=words)(command)


def budget_from(texts: Iterable[str]) -> float | dict[str, float] | None:
    """Return what --budget says, as the verbs take it.

    Examples
    --------
    >>> budget_from(["60"]), budget_from(["steps=1e4", "memory=2e9"]), budget_from([])
    (60.0, {'steps': 10000.0, 'memory': 2000000000.0}, None)
    """
    found: dict[str, float] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        key = name.strip() if equals else "seconds"
        found[key] = number(value if equals else text, f"--budget {key}")
    return found["seconds"] if list(found) == ["seconds"] else found or None


def input_option(command: Any) -> Any:
    """Give a command the option --input: NAME=number, expression of t, or a table in a .csv file."""
    words = "Inputs: a number, an expression of t, or a table FILE.csv (linear) or FILE.csv:cubic, FILE.csv:previous."
    return click.option("--input", "driving", multiple=True, metavar="NAME=VALUE ...", help=words)(command)


def inputs_from(texts: Iterable[str], option: str = "--input") -> dict[str, Any] | None:
    """Return what --input says, as the verbs take it.

    Examples
    --------
    >>> inputs_from(["u=sin(3*t)", "w=2"])
    {'u': 'sin(3*t)', 'w': '2'}
    """
    found: dict[str, Any] = {}
    for name, text in assigned(texts, option).items():
        path, _, kind = text.partition(":")
        where = f"{option} {name}"
        found[name] = _table(path.strip(), kind.strip() or "linear", where) if path.endswith(".csv") else text.strip()
    return found or None


def _table(path: str, kind: str, where: str) -> Table:
    """Return the table of a file with two columns, time and value; lines that start with letters are left out."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
        rows = [line.replace(";", ",").split(",") for line in lines if line.strip() and not line.strip()[0].isalpha()]
        times, values = zip(*((float(row[0]), float(row[1])) for row in rows), strict=True)
    except (OSError, UnicodeDecodeError, ValueError, IndexError) as error:
        raise DeclarationError(
            f"{where}: '{path}' is no table: {getattr(error, 'strerror', None) or error}. Give a file with "
            "a time and a value in each line, separated by a comma."
        ) from None
    return Table(np.array(times), np.array(values), kind=kind)


def number(text: str, where: str) -> float:
    """Return a number from a text: digits, or an expression such as ``pi/3`` or ``sqrt(2)``.

    Examples
    --------
    >>> number("-pi/4", "--state theta"), number("1e-3", "--param mu")
    (-0.7853981633974483, 0.001)
    """
    if not text.strip():
        raise DeclarationError(f"{where}: a number is missing after the equals sign.")
    # The parser lets no other constant through than a finite real number; more digits, so that the last one is right.
    try:
        return float(parse(text, {}, where=where).evalf(25))
    except (TypeError, ValueError, OverflowError):
        # tanh(20) is 1 as a double and less than 1 in truth, where acosh is not real.
        raise DeclarationError(f"{where}: '{text[:60]}' is not a finite real number. Write its value.") from None


def assigned(texts: Iterable[str], option: str) -> dict[str, str]:
    """Return name -> text from texts such as 'x=0.3'; a name that comes twice is a mistake."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        name = name.strip()
        if not equals or not name:
            raise DeclarationError(f"{option} needs name=number, such as {option} mu=0.3; it was given '{text}'.")
        if name in found:
            raise DeclarationError(f"{option} has '{name}' twice.")
        found[name] = value
    return found


def values_from(texts: Iterable[str], option: str) -> dict[str, float]:
    """Return name -> number from texts such as 'x=0.3' or 'theta=pi/3'."""
    return {name: number(text, f"{option} {name}") for name, text in assigned(texts, option).items()}


def ranges_from(texts: Iterable[str], option: str) -> dict[str, Array]:
    """Return name -> evenly spaced values, ends included, from texts such as 'mu=0:3:500'.

    Examples
    --------
    >>> ranges_from(["mu=0:1:3"], "--map")["mu"].tolist()
    [0.0, 0.5, 1.0]
    """
    found = {}
    for name, text in assigned(texts, option).items():
        parts = text.split(":")
        if len(parts) != 3 or not parts[2].strip().isdecimal() or int(parts[2]) < 2:
            raise DeclarationError(
                f"{option} {name} needs low:high:count with a count of at least 2, such as {option} mu=0:3:500; it was "
                f"given '{text}'."
            )
        low, high = (number(part, f"{option} {name}") for part in parts[:2])
        if low == high:
            raise DeclarationError(f"{option} {name}: the two ends are the same, {low:g}.")
        found[name] = low, high, int(parts[2])
    size = int(np.prod([count for _, _, count in found.values()], dtype=float))
    if size > MOST_STATES:
        raise DeclarationError(
            f"{option} asks for {size:,} states; at most {MOST_STATES:,} go at once. Take fewer points."
        )
    return {name: np.linspace(low, high, count) for name, (low, high, count) in found.items()}


def in_radians(system: System, values: dict[str, Any]) -> dict[str, Any]:
    """Return values with those of angular coordinates taken from degrees to radians."""
    angles = angle_names(system)
    return {name: np.radians(value) if name in angles else value for name, value in values.items()}


def angle_names(system: System) -> set[str]:
    """Return the names of the coordinates that are angles."""
    return {item.name for item in system.coordinates if item.angle}


def require_known(system: System, names: Iterable[str], known: Collection[str], option: str) -> None:
    """Raise if a name is none of the known ones, and say the nearest."""
    for name in names:
        if name not in known:
            raise DeclarationError(f"{option}: '{system.name}' has no '{name}'. {nearest(name, sorted(known))}")
