"""The scan over the tokens of a text, before Python's parser sees it.

It is linear, and what passes it holds only ASCII names, decimal numbers, the operators of arithmetic and comparison,
and balanced brackets of bounded depth, so that the parser is never given anything expensive.

Python's parser nests a sum of n terms n levels deep and refuses some thousands. The scan therefore proposes brackets
that group long sums and products and change no value: ``a - b + c`` becomes ``a +(- b + c)``, and ``a / b * c`` becomes
``a *(1/ b * c)``.
"""

from __future__ import annotations

import keyword
import math
import re

from zwang.errors import DeclarationError

from .vocabulary import BOOLEANS, MAX_BRACKETS, MAX_LITERAL, MAX_NAME, MAX_RUN, MAX_TEXT, OPERATORS

_FOREIGN = re.compile(r"[^A-Za-z0-9_+\-*/(),.<>=! \t\r\n]")
_TOKEN = re.compile(
    r"""[ \t\r\n]*(?:
     (?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<power>\*\*)
    |(?P<compare><=|>=|==|!=|<(?![<>])|>(?!>))
    |(?P<sign>[+-])
    |(?P<times>\*|/(?!/))
    |(?P<open>\()
    |(?P<close>\))
    |(?P<comma>,)
    |(?P<other>[^ \t\r\n]))""",
    re.VERBOSE,
)
_CURES = {
    "^": "Write ** for a power.",
    "[": "Write names and numbers; there is no indexing.",
    "{": "Write round brackets.",
    "'": "Write names without quotes.",
    '"': "Write names without quotes.",
    "#": "There are no comments inside an expression.",
    "=": "Write == in a condition; an expression assigns nothing.",
    ".": "Write a number with digits; there are no attributes.",
    "/": "Write / for a quotient.",
}
_OPERANDS = frozenset({"name", "number", "close"})
_LONG = 256
"""Operators in one chain above which it is grouped: far below the depth at which Python's parser gives up."""


class ScannedText:
    """A text with its place, and the maker of messages about it."""

    def __init__(self, text: str, where: str) -> None:
        self.where = where or "expression"
        if not isinstance(text, str):
            shown = type(text).__name__
            raise DeclarationError(f"{self.where}: expected an expression in quotes, not {shown}. Write it as text.")
        self.text = text

    def error(self, at: int, problem: str, cure: str) -> DeclarationError:
        """Return the exception about the position `at`."""
        start, stop = (max(0, at - 30), at + 30) if len(self.text) > 60 else (0, 60)
        shown = self.text[start:stop].encode("unicode_escape").decode("ascii")
        shown = ("..." if start else "") + shown + ("..." if stop < len(self.text) else "")
        return DeclarationError(f"{self.where}: {problem} at column {at + 1} of '{shown}'. {cure}")


class Scan:
    """The checks of one text, and the brackets to insert into it, by position."""

    def __init__(self, text: ScannedText) -> None:
        self._text = text
        self.insertions: list[tuple[int, str]] = []
        self._chains: list[tuple[list[int], list[int]]] = [([], [])]
        self._run = 0
        self._last = ""
        self._check_characters()
        for token in _TOKEN.finditer(text.text):
            kind = token.lastgroup
            if kind is not None:
                self._token(kind, token.group(kind), token.start(kind))
        end = len(text.text)
        if len(self._chains) > 1:
            raise text.error(end - 1, f"{len(self._chains) - 1} brackets still open", "Close each bracket.")
        if self._last not in _OPERANDS:
            raise text.error(end - 1, "nothing after the last operator", "Complete or remove it.")
        self._end_chains(end)

    def _check_characters(self) -> None:
        text = self._text.text
        if len(text) > MAX_TEXT:
            cure = f"At most {MAX_TEXT} fit; split it by definitions."
            raise self._text.error(0, f"a text of {len(text)} characters", cure)
        found = _FOREIGN.search(text)
        if found:
            char = found.group()
            cure = _CURES.get(char, f"Write ASCII names, numbers, {OPERATORS}.")
            raise self._text.error(found.start(), f"the character {char!a}", cure)
        if not text.strip():
            raise self._text.error(0, "nothing", "Write an expression, 0 at least.")

    def _token(self, kind: str, text: str, at: int) -> None:
        if kind == "name":
            kind = self._name(text, at)
        elif kind == "number":
            self._number(text, at)
        elif kind == "other":
            raise self._text.error(at, f"'{text}'", _CURES.get(text, f"Write {OPERATORS}."))
        self._check_order(kind, text, at)
        self._check_run(kind, at)
        operand = self._last in _OPERANDS
        if kind == "open":
            if len(self._chains) > MAX_BRACKETS:
                raise self._text.error(at, "too many nested brackets", f"At most {MAX_BRACKETS}; use definitions.")
            self._chains.append(([], []))
        elif kind == "close":
            self._end_chains(at)
            self._chains.pop()
            if not self._chains:
                raise self._text.error(at, "a bracket that was never opened", "Remove it.")
        elif kind == "times":
            self._chains[-1][1].append(at)
        elif kind == "sign" and operand:
            terms, factors = self._chains[-1]
            self._group(factors, at, "*(1")
            terms.append(at)
        elif kind not in ("name", "number", "power", "sign"):
            self._end_chains(at)
        self._last = kind

    def _name(self, name: str, at: int) -> str:
        if name in ("and", "or", "not"):
            return "not" if name == "not" else "logic"
        if name[0] == "_":
            raise self._text.error(at, "a name that starts with an underscore", "Start names with a letter.")
        if len(name) > MAX_NAME:
            raise self._text.error(at, f"a name of {len(name)} characters", f"At most {MAX_NAME}.")
        if keyword.iskeyword(name) and name not in BOOLEANS:
            raise self._text.error(at, f"the keyword '{name}'", f"Choose another name, such as '{name}_'.")
        return "name"

    def _number(self, number: str, at: int) -> None:
        follows = self._text.text[at + len(number) : at + len(number) + 1]
        if follows and (follows.isalnum() or follows in "_."):
            cure = "Write * between a number and a name, and numbers in decimal digits."
            raise self._text.error(at, f"the number '{number[:20]}' runs into what follows", cure)
        if len(number) > MAX_LITERAL or not math.isfinite(float(number)):
            raise self._text.error(at, "a number that is too large", "Numbers end at 1.8e308.")
        if float(number) == 0.0 and re.search("[1-9]", re.split("[eE]", number)[0]):
            raise self._text.error(at, "a number that is too small", "Write 0, or at least 5e-324.")

    def _check_order(self, kind: str, text: str, at: int) -> None:
        """Say what is missing in words of arithmetic, where Python's parser would speak of Python."""
        if self._last in _OPERANDS:
            if kind in ("name", "number", "not") or (kind == "open" and self._last != "name"):
                cure = "Write * between the factors of a product."
                raise self._text.error(at, "two quantities without an operator", cure)
        elif kind in ("power", "compare", "times", "logic", "close", "comma") and not (
            kind == "close" and self._last in ("open", "comma")
        ):
            raise self._text.error(at, f"nothing before '{text}'", "Complete or remove it.")

    def _check_run(self, kind: str, at: int) -> None:
        """Bound what Python's parser nests without brackets: -----x, not not not x, 2**2**2**x."""
        if kind in ("power", "not") or (kind == "sign" and self._last not in _OPERANDS):
            self._run += 1
        elif kind not in _OPERANDS:
            self._run = 0
        if self._run > MAX_RUN:
            raise self._text.error(at, "too many signs or powers in a row", f"At most {MAX_RUN}; use definitions.")

    def _end_chains(self, at: int) -> None:
        terms, factors = self._chains[-1]
        self._group(factors, at, "*(1")
        self._group(terms, at, "+(")

    def _group(self, chain: list[int], end: int, opening: str) -> None:
        """Group a chain of n operators in two levels, so that no level nests deeper than the cube root of n."""
        if len(chain) > _LONG:
            inner = math.ceil(len(chain) ** (1 / 3))
            outer = inner * inner
            for index, at in enumerate(chain):
                if index % outer == 0:
                    self.insertions.append((at, ("))" if index else "") + opening + opening))
                elif index % inner == 0:
                    self.insertions.append((at, ")" + opening))
            self.insertions.append((end, "))"))
        chain.clear()
