"""What the commands share: the model that an argument names, and how results and mistakes are told."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, NoReturn

import click
import numpy as np

from zwang import gallery
from zwang._declare.files import load, load_values
from zwang._declare.system import System
from zwang.errors import DeclarationError, StateError, ZwangError

NO_ANSWER = 1
WRONG_USAGE = 2


@dataclass(frozen=True)
class NamedModel:
    """A system with the values that came along with it."""

    system: System
    params: dict[str, float]
    state: dict[str, float]


def find_model(name: str) -> NamedModel:
    """Return the model of a file (anything that ends in .toml or exists) or of the gallery."""
    path = Path(name)
    if path.suffix == ".toml" or path.exists():
        params, state = load_values(path)
        return NamedModel(load(path), params, state)
    if name in gallery.names():
        entry = gallery.get(name)
        return NamedModel(entry.system, dict(entry.params), dict(entry.state))
    try:
        gallery.get(name)
    except DeclarationError as error:
        raise DeclarationError(f"'{name}' is neither a model file (.toml) nor a system of the gallery. {error}") from None
    raise DeclarationError(f"'{name}' is not a model.")


def values_from(texts: tuple[str, ...], option: str) -> dict[str, float]:
    """Return name -> number from texts such as 'x=0.3'."""
    found = {}
    for text in texts:
        name, equals, number = text.partition("=")
        try:
            found[name.strip()] = float(number)
        except ValueError:
            equals = ""
        if not equals or not name.strip():
            raise DeclarationError(f"{option} needs name=number, such as {option} mu=0.3; it was given '{text}'.")
    return found


def as_json(value: Any) -> Any:
    """Return a value as JSON has it: arrays as lists, enums by name, numbers that are not finite as None."""
    if isinstance(value, np.ndarray):
        return as_json(value.tolist())
    if isinstance(value, (np.floating, float)):
        return float(value) if np.isfinite(value) else None
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(item) for item in value]
    return value


def print_json(value: Any) -> None:
    """Write a value to stdout as JSON."""
    click.echo(json.dumps(as_json(value), indent=2))


def tell_mistakes(command: Callable[..., Any]) -> Callable[..., Any]:
    """Turn the exceptions of zwang into a line on stderr and an exit code."""

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except StateError as error:
            _fail(error, NO_ANSWER)
        except ZwangError as error:
            _fail(error, WRONG_USAGE)

    return run


def _fail(error: Exception, code: int) -> NoReturn:
    click.echo(f"{type(error).__name__}: {error}", err=True)
    sys.exit(code)
