"""Text -> a checked syntax tree: what a hostile text meets before anything is built from it.

The text is scanned, given to Python's parser, and the tree is held against a list of allowed nodes. Nothing is ever
evaluated.
"""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Collection, Iterator

from zwang.errors import DeclarationError, nearest

from .scanning import Scan, ScannedText
from .vocabulary import CONSTANTS, FUNCTION_NAMES, OPERATORS, function_list

_OPERATORS = frozenset(
    {ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.UAdd, ast.USub, ast.Not, ast.And, ast.Or}
    | {ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq}
)
_LITERALS = frozenset({int, float, bool})


class Source:
    """A text that passed the checks, with its syntax tree, and the maker of messages about it."""

    def __init__(self, text: str, where: str) -> None:
        self._text = ScannedText(text, where)
        self._ends: list[int] = []
        self._offsets: list[int] = []
        self.tree = self._parse(self._grouped(Scan(self._text).insertions))
        for _ in self.nodes():
            pass

    def error(self, node: ast.expr, problem: str, cure: str) -> DeclarationError:
        """Return the exception about a node of the tree."""
        return self._text.error(self._position(node.col_offset), problem, cure)

    def nodes(self) -> Iterator[ast.expr]:
        """Yield the nodes of the tree, parents first, without recursion; raise at the first that is not allowed."""
        stack = [self.tree]
        while stack:
            node = stack.pop()
            yield node
            kind = type(node)
            if kind is ast.Name:
                continue
            if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
                stack += (node.right, node.left)
            elif isinstance(node, ast.UnaryOp) and type(node.op) in _OPERATORS:
                stack.append(node.operand)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
                stack += reversed(node.args)
            elif isinstance(node, ast.Compare) and all(type(operator) in _OPERATORS for operator in node.ops):
                stack += (*reversed(node.comparators), node.left)
            elif isinstance(node, ast.BoolOp):
                stack += reversed(node.values)
            elif isinstance(node, ast.Tuple):
                stack += reversed(node.elts)
            elif not (isinstance(node, ast.Constant) and type(node.value) in _LITERALS):
                raise self.error(node, f"a construct of Python ({kind.__name__})", f"Write {OPERATORS}.")

    def deep(self) -> DeclarationError:
        """Return the exception about the whole, where a stack overflowed."""
        return self._text.error(0, "an expression that is nested too deeply", "Split it by definitions.")

    def _parse(self, text: str) -> ast.expr:
        try:
            return ast.parse(text, mode="eval").body
        except SyntaxError as error:
            at = self._position((error.offset or 1) - 1)
            cure = f"Write names, numbers, {OPERATORS}."
            raise self._text.error(at, "something that cannot be read", cure) from None
        except (RecursionError, MemoryError, ValueError):
            raise self.deep() from None

    def _grouped(self, insertions: list[tuple[int, str]]) -> str:
        """Return the text in brackets, with the grouping brackets put in, and remember where they stand."""
        text = self._text.text
        pieces, last, place = ["("], 0, 1
        # The sort is stable: at one position a product closes before the sum around it goes on.
        for at, inserted in sorted(insertions, key=lambda item: item[0]):
            pieces += [text[last:at], inserted]
            place += at - last + len(inserted)
            last = at
            self._ends.append(place)
            self._offsets.append(place - at)
        pieces += [text[last:], ")"]
        return "".join(pieces).replace("\n", " ").replace("\r", " ")

    def _position(self, column: int) -> int:
        """Return the position in the text of a column of what Python's parser was given."""
        index = bisect_right(self._ends, column) - 1
        at = column - (self._offsets[index] if index >= 0 else 1)
        return min(max(at, 0), len(self._text.text) - 1)


def names(text: str, *, where: str = "") -> set[str]:
    """Return the names of quantities in a text, after the same checks as for reading it.

    Parameters
    ----------
    text : str
        An expression.
    where : str
        The place, for messages.

    Returns
    -------
    set of str
        The names, without constants and without the functions that are called, whether or not these exist.

    Examples
    --------
    >>> sorted(names("m*g*y + sin(2*pi*t)"))
    ['g', 'm', 't', 'y']
    """
    nodes = Source(text, where).nodes()
    return {node.id for node in nodes if isinstance(node, ast.Name)} - CONSTANTS.keys()


def called_name(source: Source, node: ast.Call, functions: Collection[str]) -> str:
    """Return the name that `node` calls, or raise if there is no such function."""
    assert isinstance(node.func, ast.Name)
    name = node.func.id
    if name not in functions and name not in FUNCTION_NAMES:
        known = nearest(name, sorted({*functions, *FUNCTION_NAMES}))
        cure = known if known.startswith("Did") else f"Known: {', '.join([*sorted(functions), function_list()])}."
        raise source.error(node, f"the unknown function '{name}'", f"{cure} For a product write {name}*(...).")
    return name
