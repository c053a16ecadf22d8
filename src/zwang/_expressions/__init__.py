"""The safe parser of expressions in text, and the printer whose texts it reads back."""

from __future__ import annotations

from .building import parse
from .literals import in_doubles, number
from .printing import to_text
from .reading import names
from .vocabulary import FUNCTION_NAMES, RESERVED, check_name

__all__ = ["FUNCTION_NAMES", "RESERVED", "check_name", "in_doubles", "names", "number", "parse", "to_text"]
