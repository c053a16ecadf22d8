"""Every acceleration and reaction that the laws allow at a state."""

from __future__ import annotations

from zwang._reactions.admissible import contact_problem
from zwang._reactions.enumerate import Subject, reactions_of_problem
from zwang._reactions.holding import hold
from zwang._reactions.verb import reactions

__all__ = ["Subject", "contact_problem", "hold", "reactions", "reactions_of_problem"]
