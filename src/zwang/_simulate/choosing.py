"""Rules for going on where several accelerations satisfy the laws: `at_choice`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from zwang._numerics.contact.modes import Mode
from zwang._results.reactions import Reactions
from zwang._simulate.deciding import Chooser
from zwang._simulate.recording import Record
from zwang._simulate.request import Request
from zwang.errors import DeclarationError


def stop(found: Reactions, before: tuple[Mode, ...] | None, numbers: tuple[int, ...]) -> None:
    """Choose nothing."""


def keep_mode(found: Reactions, before: tuple[Mode, ...] | None, numbers: tuple[int, ...]) -> int | None:
    """Choose the solution in the mode that the motion has been in, if exactly one is."""
    if before is None:
        return None
    wanted = [before[number].plain for number in numbers]
    same = [
        index
        for index, solution in enumerate(found.solutions)
        if solution.acceleration_unique and [mode.plain for mode in solution.modes.codes] == wanted
    ]
    return same[0] if len(same) == 1 else None


RULES: dict[str, Callable[..., int | None]] = {"stop": stop, "keep mode": keep_mode, "realize": stop}
"""Name of a rule -> from the reactions, the labels so far and the numbers of the contacts to a solution or None.

'realize' stops here too: a stiff spring is asked afterwards, with all that is known of the moment."""


def chooser(request: Request, record: Record) -> Chooser:
    """Return the rule that was asked for."""
    rule = request.at_choice
    if callable(rule):
        return lambda found, before, numbers: _checked(rule(found), found)
    if rule not in RULES:
        raise DeclarationError(f"at_choice='{rule}' is not there yet; known rules: {', '.join(RULES)}, or a callable.")
    return RULES[rule]


def _checked(answer: Any, found: Reactions) -> int | None:
    """Return the index that a user's rule gave."""
    if answer is None:
        return None
    try:
        index = int(answer)
    except (TypeError, ValueError):
        index = -1
    if not 0 <= index < len(found.solutions):
        raise DeclarationError(
            f"{found.name}: at_choice= returned {answer!r:.40}; needed the index of one of {len(found.solutions)} "
            "solutions, or None to stop."
        )
    return index
