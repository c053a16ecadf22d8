"""The model that an argument of a command names."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from zwang import gallery
from zwang._bodies import load_robot
from zwang._declare.model_files import load, load_values
from zwang._declare.system import System
from zwang.errors import DeclarationError

ROBOTS = (".urdf", ".xml")
"""How files of robots end."""


@dataclass(frozen=True)
class NamedModel:
    """A system with the values that came along with it."""

    system: System
    params: dict[str, float]
    state: dict[str, float]


def find_model(name: str) -> NamedModel:
    """Return the model of a file (anything that ends in .toml or exists), of a robot, or of the gallery."""
    path = Path(name)
    if name in gallery.names() and not path.is_file():
        entry = gallery.get(name)
        return NamedModel(entry.system, dict(entry.params), dict(entry.state))
    if path.suffix.lower() in ROBOTS:
        robot = load_robot(path)
        return NamedModel(robot.system, dict(robot.params), dict(robot.state))
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
