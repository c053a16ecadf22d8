"""The constructors of expressions: SymPy's, with limits before them and a fixed point after them.

SymPy's automatic simplifications are not always idempotent: ``Abs(x**2/y)`` gives ``x**2*Abs(1/y)``, whose last factor,
built again, is ``1/Abs(y)``. A tree that changes when it is built again has no text that gives it back. So what SymPy
made anew, beyond the operands it was given, is built again from its parts until it stays.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

import sympy as sp

from .bounds import DEEP, Bounds, LimitError
from .vocabulary import FUNCTIONS, PRINTED

_SLOW = 200
"""Nodes of an argument above which a function is left as it stands: SymPy would search the argument for its sign, its
parity and multiples of pi, which takes a second for some thousand terms."""
_CALLS = 1000
"""Functions in one text after which the same holds: a millisecond each is too long for thousands."""
_ROUNDS = 8
"""How often a tree is built again; two rounds are the most that was ever seen to matter."""

RELATIONS: dict[str, tuple[type, Callable[[float, float], bool]]] = {
    "<": (sp.StrictLessThan, operator.lt),
    "<=": (sp.LessThan, operator.le),
    ">": (sp.StrictGreaterThan, operator.gt),
    ">=": (sp.GreaterThan, operator.ge),
    "==": (sp.Equality, operator.eq),
    "!=": (sp.Unequality, operator.ne),
}


class Maker:
    """Makes the nodes of one expression from settled operands; raises LimitError where a limit is passed."""

    def __init__(self) -> None:
        self.bounds = Bounds()
        self._settled: set[sp.Basic] = set()
        self._calls = 0

    def given(self, expr: sp.Expr) -> sp.Expr:
        """Take an operand that stands for itself: a number, a symbol, an expression made earlier."""
        self.bounds.facts(expr)
        self._settled.add(expr)
        self._settled.update(expr.args)
        return expr

    def add(self, terms: Sequence[sp.Expr]) -> sp.Expr:
        """Return the sum of the terms."""
        if len(terms) == 1:
            return terms[0]
        return self._settle(self._add(terms))

    def mul(self, factors: Sequence[sp.Expr]) -> sp.Expr:
        """Return the product of the factors."""
        return self._made(self._mul(factors), factors)

    def inverse(self, factor: sp.Expr) -> sp.Expr:
        """Return one over the factor."""
        if factor.is_Integer and factor.p:
            return sp.Rational(1, factor.p)
        return self.power(factor, sp.S.NegativeOne)

    def power(self, base: sp.Expr, exponent: sp.Expr) -> sp.Expr:
        """Return base**exponent."""
        return self._made(self._power(base, exponent), (base, exponent))

    def call(self, name: str, arguments: Sequence[sp.Expr]) -> sp.Expr:
        """Return the function of the vocabulary called `name` of the arguments."""
        return self._made(self._call(name, arguments), arguments)

    def settle(self, expr: sp.Expr) -> sp.Expr:
        """Return what came from elsewhere as its text would give it back."""
        return self._settle(expr)

    def relation(self, sign: str, left: sp.Expr, right: sp.Expr) -> sp.Basic:
        """Return the comparison, decided if both sides are constant."""
        kind, compare = RELATIONS[sign]
        if self.bounds.value(left) is None or self.bounds.value(right) is None:
            # Evaluated, SymPy would try to prove it.
            return kind(left, right, evaluate=False)
        return sp.true if compare(self._order(left, right), 0.0) else sp.false

    def _order(self, left: sp.Expr, right: sp.Expr) -> float:
        """Return the sign of the difference of two constants: exactly where both are rational, else as doubles."""
        if left.is_Rational and right.is_Rational:
            difference = left.p * right.q - right.p * left.q
            return float((difference > 0) - (difference < 0))
        return (self.bounds.value(left) or 0.0) - (self.bounds.value(right) or 0.0)

    def _add(self, terms: Sequence[sp.Expr]) -> sp.Expr:
        self.bounds.check_sum(terms)
        return _sympy(sp.Add, *terms)

    def _mul(self, factors: Sequence[sp.Expr]) -> sp.Expr:
        self.bounds.check_product(factors)
        return _sympy(sp.Mul, *factors)

    def _power(self, base: sp.Expr, exponent: sp.Expr) -> sp.Expr:
        self.bounds.check_power(base, exponent)
        if self._deep(base) and not exponent.is_Integer:
            return sp.Pow(base, exponent, evaluate=False)
        return _sympy(sp.Pow, base, exponent)

    def _deep(self, expr: sp.Expr) -> bool:
        return self.bounds.facts(expr).calls > DEEP

    def _call(self, name: str, arguments: Sequence[sp.Expr]) -> sp.Expr:
        if name == "sqrt":
            return self._power(arguments[0], sp.S.Half)
        if name == "log" and len(arguments) == 2:
            return self.mul([self.call("log", arguments[:1]), self.inverse(self.call("log", arguments[1:]))])
        self.bounds.check_call(name, arguments)
        if name in ("max", "min"):
            return self._extremum(name, arguments)
        make = FUNCTIONS[name].sympy
        if name == "Heaviside" and len(arguments) == 1:
            arguments = [*arguments, sp.S.Half]
        self._calls += 1
        if self._calls > _CALLS or self._slow(*arguments):
            return make(*arguments, evaluate=False)
        return _sympy(make, *arguments)

    def _slow(self, *arguments: sp.Expr) -> bool:
        """Say whether SymPy would take long over the properties of these: they are many, or nested deeply."""
        facts = [self.bounds.facts(argument) for argument in arguments]
        return sum(item.nodes for item in facts) > _SLOW or max(item.calls for item in facts) > DEEP

    def _extremum(self, name: str, arguments: Sequence[sp.Expr]) -> sp.Expr:
        """Build Max or Min from symbols as they stand: SymPy would compare all pairs, at any cost."""
        make, sign = FUNCTIONS[name].sympy, 1 if name == "max" else -1
        best: sp.Expr | None = None
        kept: list[sp.Expr] = []
        for argument in arguments:
            for part in argument.args if PRINTED.get(type(argument)) == name else (argument,):
                if self.bounds.value(part) is None:
                    kept.append(part)
                elif best is None or sign * self._order(part, best) > 0:
                    best = part
        return make(*kept, *([] if best is None else [best]), evaluate=False)

    def _made(self, expr: sp.Expr, operands: Sequence[sp.Expr]) -> sp.Expr:
        """Settle what a constructor gave; where it only arranged its operands there is nothing to do."""
        if expr.is_Mul:
            # Numbers are always gathered into one.
            arranged = _others(expr.args) == _others(operands)
        else:
            arranged = bool(expr.args) and set(expr.args) == set(operands)
        if arranged:
            self.bounds.facts(expr)
            self._settled.add(expr)
        return self._settle(expr)

    def _settle(self, expr: sp.Basic) -> sp.Basic:
        for _ in range(_ROUNDS):
            if expr.is_Float and not expr:
                return sp.S.Zero  # SymPy tells 1.0 - 1.0 from 0, a text does not
            self.bounds.facts(expr)
            if not expr.args or expr in self._settled:
                return expr
            parts = [self._settle(part) for part in expr.args]
            again = self._again(expr, parts)
            if again == expr:
                break
            expr = again
        self._settled.add(expr)
        return expr

    def _again(self, expr: sp.Basic, parts: list[sp.Basic]) -> sp.Basic:
        if expr.is_Add:
            return expr if all(part is old for part, old in zip(parts, expr.args, strict=True)) else self._add(parts)
        if expr.is_Mul:
            return self._mul(parts)
        if expr.is_Pow:
            return self._power(*parts)
        name = PRINTED.get(type(expr))
        if name is not None:
            return self._call(name, parts)
        if isinstance(expr, sp.core.relational.Relational) or expr.is_Piecewise:
            return expr.func(*parts, evaluate=False)
        return expr.func(*parts)


def _others(factors: Sequence[sp.Expr]) -> set[sp.Expr]:
    return {factor for factor in factors if not factor.is_Number}


def _sympy(make: Callable[..., sp.Expr], *operands: sp.Expr) -> sp.Expr:
    """Call a constructor of SymPy, whose numerical evaluation of odd constants has bugs of its own."""
    try:
        return make(*operands)
    except RecursionError:
        raise
    except Exception as error:
        problem = f"an expression on which SymPy fails with {type(error).__name__}"
        raise LimitError(problem, "Replace its constants by parameters.") from error
