"""Syntax tree -> SymPy expression.

Chains of + and - become one `Add` and chains of * and / one `Mul`, both for speed and because the tree depends on it:
SymPy distributes a number over a sum in a product of two factors, but not of three.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

import sympy as sp

from zwang.errors import nearest

from .bounds import LimitError
from .literals import number
from .making import Maker
from .reading import Source, called_name
from .vocabulary import ALIASES, CONSTANTS, FUNCTION_NAMES, FUNCTIONS, MAX_CONDITIONS, PIECEWISE

_SIGNS: dict[type, str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}


def parse(
    text: str,
    symbols: Mapping[str, sp.Basic],
    *,
    where: str = "",
    parameters: Callable[[str], sp.Symbol] | None = None,
    functions: Mapping[str, Callable[..., sp.Expr]] | None = None,
) -> sp.Expr:
    """Read an expression from a text, without ever evaluating the text as code.

    Parameters
    ----------
    text : str
        Names, decimal numbers, + - * / ** and brackets, the functions of the vocabulary, and
        ``Piecewise((expr, condition), ..., (expr, True))`` with comparisons, and, or, not.
    symbols : mapping of str to sympy.Basic
        What the names mean: symbols, or expressions that stand for them.
    where : str
        The place of the text, for messages: "kinetic", "constraint 'tip'".
    parameters : callable, optional
        Makes a symbol of every other name; without it such a name is an error.
    functions : mapping of str to callable, optional
        Functions of expressions that may be called beside those of the vocabulary.

    Returns
    -------
    sympy.Expr

    Raises
    ------
    DeclarationError
        With the column and a cure, for everything else.

    Examples
    --------
    >>> x, y = sp.symbols("x y", real=True)
    >>> parse("2*(x + y)*sin(x)", {"x": x, "y": y})
    2*(x + y)*sin(x)
    >>> parse("x.real", {"x": x}, where="kinetic")
    Traceback (most recent call last):
        ...
    zwang.errors.DeclarationError: kinetic: '.' at column 2 of 'x.real'. Write a number with digits; there are no \
attributes.
    """
    source = Source(text, where)
    try:
        return _Builder(source, symbols, parameters, functions or {}).expression(source.tree)
    except RecursionError:
        raise source.deep() from None


class _Builder:
    def __init__(
        self,
        source: Source,
        symbols: Mapping[str, sp.Basic],
        parameters: Callable[[str], sp.Symbol] | None,
        functions: Mapping[str, Callable[..., sp.Expr]],
    ) -> None:
        self._source = source
        self._symbols = symbols
        self._parameters = parameters
        self._functions = functions
        self._make = Maker()

    def expression(self, node: ast.expr) -> sp.Expr:
        """Build what `node` and everything below it says."""
        try:
            return self._expression(node)
        except LimitError as error:
            raise self._source.error(node, error.problem, error.cure) from None

    def _expression(self, node: ast.expr) -> sp.Expr:
        if isinstance(node, ast.Name):
            return self._name(node)
        if isinstance(node, ast.Constant) and not isinstance(node.value, bool):
            return self._make.given(number(node.value))
        if isinstance(node, ast.BinOp):
            if isinstance(node.op, ast.Pow):
                return self._make.power(self.expression(node.left), self.expression(node.right))
            return self._product(node) if isinstance(node.op, (ast.Mult, ast.Div)) else self._sum(node)
        if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not):
            return self._sum(node)
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Tuple) and any(isinstance(item, ast.Constant) for item in node.elts[:-1]):
            raise self._source.error(node, "a comma between numbers", "Decimals have a point: 0.5, not 0,5.")
        what = "a list in brackets" if isinstance(node, ast.Tuple) else "a condition"
        raise self._source.error(node, what, "It can only stand in Piecewise((expr, condition), ..., (expr, True)).")

    def _name(self, node: ast.Name) -> sp.Expr:
        name = node.id
        known = self._symbols.get(name)
        if name in CONSTANTS:
            if known is not None and known != CONSTANTS[name]:
                problem = f"'{name}', which is declared and is also a constant,"
                raise self._source.error(node, problem, f"Call the declared one '{name}_'.")
            return self._make.given(CONSTANTS[name])
        if name in FUNCTION_NAMES or name in self._functions:
            raise self._source.error(node, f"the function '{name}' without arguments", f"Write {name}(...).")
        if known is None and self._parameters is not None:
            known = self._parameters(name)
        if known is None:
            cure = nearest(name, [*self._symbols, *CONSTANTS])
            raise self._source.error(node, f"the unknown name '{name}'", cure)
        if not isinstance(known, sp.Expr):
            raise self._source.error(node, f"'{name}', which is no scalar expression,", "Write out its components.")
        return self._make.given(known)

    def _sum(self, node: ast.expr) -> sp.Expr:
        terms: list[sp.Expr] = []
        stack: list[tuple[ast.expr, bool]] = [(node, False)]
        while stack:
            item, minus = stack.pop()
            if isinstance(item, ast.BinOp) and isinstance(item.op, (ast.Add, ast.Sub)):
                stack.append((item.right, minus != isinstance(item.op, ast.Sub)))
                stack.append((item.left, minus))
            elif isinstance(item, ast.UnaryOp) and not isinstance(item.op, ast.Not):
                stack.append((item.operand, minus != isinstance(item.op, ast.USub)))
            else:
                terms.append(self._term(item, minus))
        return self._make.add(terms)

    def _term(self, node: ast.expr, minus: bool) -> sp.Expr:
        if minus and isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
            try:
                return self._product(node, minus=True)
            except LimitError as error:
                raise self._source.error(node, error.problem, error.cure) from None
        expr = self.expression(node)
        return self._make.mul([sp.S.NegativeOne, expr]) if minus else expr

    def _product(self, node: ast.expr, *, minus: bool = False) -> sp.Expr:
        factors: list[sp.Expr] = []
        stack: list[tuple[ast.expr, bool]] = [(node, False)]
        while stack:
            item, inverse = stack.pop()
            if isinstance(item, ast.BinOp) and isinstance(item.op, (ast.Mult, ast.Div)):
                stack.append((item.right, inverse != isinstance(item.op, ast.Div)))
                stack.append((item.left, inverse))
            elif isinstance(item, ast.UnaryOp) and not isinstance(item.op, ast.Not):
                minus = minus != isinstance(item.op, ast.USub)
                stack.append((item.operand, inverse))
            else:
                factor = self.expression(item)
                factors.append(self._make.inverse(factor) if inverse else factor)
        if minus:
            factors.insert(0, sp.S.NegativeOne)
        return self._make.mul(factors)

    def _call(self, node: ast.Call) -> sp.Expr:
        name = called_name(self._source, node, self._functions)
        if name in self._functions:
            return self._foreign(name, node)
        if name == PIECEWISE:
            return self._piecewise(node)
        name = ALIASES.get(name, name)
        entry, count = FUNCTIONS[name], len(node.args)
        if not entry.least <= count <= entry.most:
            needed = f"{entry.least}" if entry.least == entry.most else f"{entry.least} or more"
            raise self._source.error(node, f"{name} with {count} arguments", f"It takes {needed}.")
        arguments = [self.expression(argument) for argument in node.args]
        return self._make.call(name, arguments)

    def _foreign(self, name: str, node: ast.Call) -> sp.Expr:
        arguments = [self.expression(argument) for argument in node.args]
        try:
            expr = self._functions[name](*arguments)
        except TypeError as error:
            raise self._source.error(node, f"{name} with {len(arguments)} arguments", f"It says: {error}.") from None
        if not isinstance(expr, sp.Expr):
            raise self._source.error(node, f"{name}, which gave no scalar expression,", "Write out its components.")
        return self._make.settle(expr)

    def _piecewise(self, node: ast.Call) -> sp.Expr:
        pairs: list[tuple[sp.Expr, sp.Basic]] = []
        for pair in node.args:
            if not isinstance(pair, ast.Tuple) or len(pair.elts) != 2:
                raise self._source.error(pair, "a branch that is no pair", "Write (expr, condition).")
            pairs.append((self.expression(pair.elts[0]), self._condition(pair.elts[1])))
        cases = [condition for _, condition in pairs]
        if sp.true not in cases and (len(cases) > MAX_CONDITIONS or sp.Or(*cases) is not sp.true):
            raise self._source.error(node, "a Piecewise that leaves cases open", "End it with (expr, True).")
        # Evaluated, Piecewise would solve its conditions for their symbol.
        return self._make.settle(sp.Piecewise(*pairs, evaluate=False))

    def _condition(self, node: ast.expr) -> sp.Basic:
        if isinstance(node, ast.Constant) and isinstance(node.value, bool):
            return sp.true if node.value else sp.false
        if isinstance(node, ast.BoolOp):
            if len(node.values) > MAX_CONDITIONS:
                raise self._source.error(node, f"more than {MAX_CONDITIONS} conditions", "Split them into branches.")
            return (sp.And if isinstance(node.op, ast.And) else sp.Or)(*map(self._condition, node.values))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return sp.Not(self._condition(node.operand))
        if not isinstance(node, ast.Compare):
            raise self._source.error(node, "a condition that compares nothing", "Write a comparison such as x < 0.")
        sides = [self.expression(side) for side in (node.left, *node.comparators)]
        if any(side.has(sp.Piecewise) for side in sides):
            raise self._source.error(node, "a Piecewise inside a condition", "Make it a branch of its own.")
        signs = [_SIGNS[type(operator)] for operator in node.ops]
        return sp.And(*map(self._make.relation, signs, sides, sides[1:]))
