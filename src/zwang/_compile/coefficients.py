"""Whether the coefficients of the laws make sense at a state: one check for every verb and every method.

A coefficient of friction, and a bound of friction, must not be negative, and rest must hold at least what slip does; a
restitution lies between 0 and 1.
Restitutions that depend on the state are looked at where an impact happens.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zwang._declare.constraints import Friction, Unilateral
from zwang._declare.friction_forms import friction_bounds, law_rows
from zwang._declare.numeric_values import Evaluator
from zwang._declare.symbols import Coordinate, Time, Velocity
from zwang._declare.system import System
from zwang.errors import StateError

Array = NDArray[np.float64]
ROUNDING = 1e-12
"""Up to here a coefficient that depends on the state, such as max(0, ...) written otherwise, may be below zero."""


class _Laws(NamedTuple):
    """What is asked of the numbers of the laws.

    Words for each, how far below zero it may be, which must not be below which others (name, greater, less, factor),
    and the restitutions that depend on parameters alone.
    """

    words: tuple[str, ...]
    slack: Array
    above: tuple[tuple[str, int, int, int], ...]
    restitutions: tuple[tuple[str, Evaluator], ...]


@lru_cache(maxsize=256)
def _laws(system: System) -> _Laws:
    bounds, restitutions, above = friction_bounds(system), [], []
    words = [""] * len(bounds)
    rough = [item for item in system.constraints if item.slip]
    for number, (item, rows) in enumerate(zip(rough, law_rows(system), strict=True)):
        kind = "bound of friction" if isinstance(item, Friction) else "coefficient of friction"
        words[number] = f"the {kind} of '{item.name}'"
        if rows.sides[1] != number:
            words[number] = f"the {kind} of '{item.name}' against a slip > 0"
            words[rows.sides[1]] = f"the {kind} of '{item.name}' against a slip < 0"
        for component, row in enumerate(rows.axes):
            words[row] = f"the {kind} of '{item.name}' along slip {component + 1}"
        for side, row in enumerate(rows.resting or ()):
            words[row] = f"the static coefficient of friction of '{item.name}'"
            above.append((str(item.name), row, rows.sides[side], rows.axes[side] if rows.axes else -1))
    for item in system.constraints:
        if isinstance(item, Unilateral) and item.restitution is not None and not _moves(item.restitution):
            restitutions.append((str(item.name), Evaluator(item.restitution)))
    slack = np.array([ROUNDING if _moves(bound) else 0.0 for bound in bounds])
    return _Laws(tuple(words), slack, tuple(above), tuple(restitutions))


def _moves(expr: Any) -> bool:
    return any(isinstance(symbol, (Coordinate, Velocity, Time)) for symbol in expr.free_symbols)


def fixed_restitution(system: System, name: str) -> bool:
    """Say whether a constraint has a restitution, and one that depends on parameters alone."""
    return any(name == one for one, _ in _laws(system).restitutions)


def laws_vary(system: System) -> bool:
    """Say whether a coefficient or a bound of friction depends on the state."""
    return bool(_laws(system).slack.any())


def varying_laws(system: System) -> NDArray[np.bool_]:
    """Return which numbers of the laws depend on the state."""
    return np.asarray(_laws(system).slack > 0)


def sound_laws(system: System, bounds: Array) -> NDArray[np.bool_]:
    """Say for each state of a batch whether its coefficients (numbers of the laws, states) are sound."""
    found = _laws(system)
    sound: Any = (bounds >= np.asarray(-found.slack[:, None], like=bounds)).all(axis=0)
    for _, greater, less, _ in found.above:
        sound &= bounds[greater] >= bounds[less] * (1.0 - ROUNDING)
    held: NDArray[np.bool_] = sound
    return held


def require_laws(system: System, bounds: Array, params: Array) -> None:
    """Raise a StateError that names the law, unless all coefficients (numbers of the laws, 1) are sound at a state.

    `params` (p,) are the values of the parameters, for restitutions.
    """
    found = _laws(system)
    for words, value, slack in zip(found.words, bounds[:, 0], found.slack, strict=True):
        if not value >= -slack:
            raise StateError(
                f"{system.name}: {words} is {value:.6g} at this state, needed a number of at least 0. The sign of the "
                "friction force follows from the slip; turn the slip round instead."
            )
    for name, greater, less, factor in found.above:
        rest, slip = (bounds[row, 0] * (bounds[factor, 0] if factor >= 0 else 1.0) for row in (greater, less))
        if not bounds[greater, 0] >= bounds[less, 0] * (1.0 - ROUNDING):
            raise StateError(
                f"{system.name}: the static coefficient of friction of '{name}' is {rest:.6g} at this state, below "
                f"{slip:.6g} while it slips; needed at least as much. Without static= the coefficient is the same."
            )
    if not found.restitutions:
        return
    values = dict(zip(system.parameters, params.tolist(), strict=True))
    for name, restitution in found.restitutions:
        e = restitution(values)
        require_restitution(system.name, name, math.nan if e is None else e)


def require_restitution(system: str, name: str, e: float) -> float:
    """Return a coefficient of restitution, or raise a StateError."""
    if not 0.0 <= e <= 1.0:
        raise StateError(
            f"{system}: the restitution of '{name}' is {e:.6g}, needed a number between 0 (plastic) and 1 (elastic)."
        )
    return e
