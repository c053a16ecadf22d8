"""Formulas as MathML, which browsers draw by themselves: a small printer for what systems are declared with."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

import sympy as sp
from sympy.printing.precedence import PRECEDENCE, precedence_traditional
from sympy.printing.printer import Printer

from zwang._declare.constraints import Bilateral, Constraint, Friction
from zwang._declare.laws import Interval, Section
from zwang._declare.system import System

GREEK = dict(
    zip(
        [
            *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu"),
            *("nu", "xi", "omicron", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega"),
        ],
        "αβγδεζηθικλμνξοπρστυφχψω",
        strict=True,
    )
)
GREEK |= {name.capitalize(): letter.upper() for name, letter in GREEK.items()}
TIMES, APPLY, MINUS = "<mo>&#x2062;</mo>", "<mo>&#x2061;</mo>", "<mo>−</mo>"
THIN = '<mspace width="0.17em"/>'
HIGH = ("<mfrac", "<mtable", "<msqrt")
NAMES = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "sign": "sgn", "log": "ln", "Min": "min", "Max": "max"}
DIGITS = 6  # as many as people read


def formula(expr: Any) -> str:
    """Return an expression as MathML, without the element around it.

    Examples
    --------
    >>> x, y = sp.symbols("x y1")
    >>> formula(x**2 / 2)
    '<mfrac><msup><mi>x</mi><mn>2</mn></msup><mn>2</mn></mfrac>'
    >>> formula(-y)
    '<mrow><mo>−</mo><msub><mi>y</mi><mn>1</mn></msub></mrow>'
    """
    return str(_MathML().doprint(expr))


def math(content: str, *, block: bool = False, alt: str = "") -> str:
    """Return the element around a formula; `alt` is what a reader of text gets.

    Examples
    --------
    >>> math("<mi>x</mi>", alt="x")
    '<math alttext="x"><mi>x</mi></math>'
    """
    display = ' display="block"' if block else ""
    words = f' alttext="{escape(alt)}"' if alt else ""
    return f"<math{display}{words}>{content}</math>"


def row(*parts: str) -> str:
    """Return parts side by side."""
    return f"<mrow>{''.join(parts)}</mrow>"


def fenced(content: str, left: str = "(", right: str = ")") -> str:
    """Return a formula in brackets, which grow only where it is more than one line high.

    Examples
    --------
    >>> fenced("<mi>x</mi>", "|", "|").count('stretchy="false"')
    2
    """
    grows = "" if any(element in content for element in HIGH) else ' stretchy="false"'
    tight = 'lspace="0" rspace="0"'
    return row(
        f'<mo form="prefix" {tight}{grows}>{left}</mo>', content, f'<mo form="postfix" {tight}{grows}>{right}</mo>'
    )


def name(text: str) -> str:
    """Return the name of a quantity: Greek letters, digits and what follows an underscore as an index.

    Examples
    --------
    >>> name("theta"), name("x_B"), name("m1")
    ('<mi>θ</mi>', '<msub><mi>x</mi><mi>B</mi></msub>', '<msub><mi>m</mi><mn>1</mn></msub>')
    """
    stem, underscore, index = text.partition("_")
    if not underscore:
        stem = text.rstrip("0123456789") or text
        index = text[len(stem) :]
    letter = f"<mi>{escape(GREEK.get(stem, stem))}</mi>"
    if not index:
        return letter
    mark = "mn" if index.isdigit() else "mi"
    return f"<msub>{letter}<{mark}>{escape(GREEK.get(index, index.replace('_', ' ')))}</{mark}></msub>"


def accented(text: str, mark: str) -> str:
    """Return the name of a quantity with a mark over its letter, not over its index.

    Examples
    --------
    >>> accented("x_B", "˙")
    '<msub><mover accent="true"><mi>x</mi><mo>˙</mo></mover><mi>B</mi></msub>'
    """
    inner = name(text)
    over = f'<mover accent="true">{{}}<mo>{mark}</mo></mover>'
    if not inner.startswith("<msub>"):
        return over.format(inner)
    letter, index = inner.removeprefix("<msub>").removesuffix("</msub>").split("</mi>", 1)
    return f"<msub>{over.format(letter + '</mi>')}{index}</msub>"


def relation(item: Constraint) -> str:
    """Return what a constraint demands, with its friction."""
    if isinstance(item, Friction):
        section = Interval(-1, 1) if item.section is None else item.section
        return _law(section, None, formula(item.bound), item.slip)
    sign = "=" if isinstance(item, Bilateral) else "≥"
    told = row(formula(item.expr), f"<mo>{sign}</mo><mn>0</mn>")
    if item.friction is None:
        return told
    law = item.friction
    said = _law(law.section(), law.resting(), fenced("<mi>λ</mi>", "|", "|"), law.slip)
    return row(told, '<mo separator="true">,</mo><mspace width="1em"/>', said)


def _law(section: Section, resting: Section | None, size: str, slip: tuple[Any, ...]) -> str:
    """Return what a section, and that at rest, say of the friction force."""
    told = _friction(_bound(section, size), slip)
    if resting is None or resting == section:
        return told
    return row(told, '<mo separator="true">,</mo><mspace width="1em"/><mtext>at rest </mtext>', _bound(resting, size))


def _bound(section: Section, size: str) -> str:
    """Return the largest friction force: one, or the two of an interval, or the semi-axes of an ellipse."""
    parts = [row(formula(side), TIMES, size) if side != 1 else size for side in dict.fromkeys(section.sides)]
    return parts[0] if len(parts) == 1 else fenced(row(parts[0], '<mo separator="true">,</mo>', parts[1]), "(", ")")


def declaration(system: System) -> list[tuple[str, str, str]]:
    """Return the declaration of a system as rows (what, MathML, text)."""
    rows: list[tuple[str, str, str]] = []
    if system.mass is not None:
        left = row(formula(system.mass), TIMES, '<mover accent="true"><mi>q</mi><mo>¨</mo></mover>')
        told = row(left, "<mo>=</mo>", formula(system.force), "<mo>+</mo><mtext>reactions</mtext>")
        rows.append(("equations of motion", told, f"{system.mass} a = {system.force} + reactions"))
    elif system.tree is not None:
        bodies = ", ".join(system.tree.bodies)
        rows.append(("bodies", f"<mtext>{bodies}</mtext>", bodies))
    else:
        rows.append(("kinetic energy", row("<mi>T</mi><mo>=</mo>", formula(system.kinetic)), f"T = {system.kinetic}"))
        if system.potential != 0:
            told = row("<mi>V</mi><mo>=</mo>", formula(system.potential))
            rows.append(("potential energy", told, f"V = {system.potential}"))
    for key, value in system.forces.items():
        told = row(f"<msub><mi>Q</mi>{name(key.name)}</msub><mo>=</mo>", formula(value))
        rows.append((f"force on {key.name}", told, f"Q_{key.name} = {value}"))
    for item in system.constraints:
        text = (
            "friction"
            if isinstance(item, Friction)
            else f"{item.expr} {'=' if isinstance(item, Bilateral) else '>='} 0"
        )
        rows.append((str(item.name), relation(item), text))
    return rows


def _friction(bound: str, slip: Iterable[Any]) -> str:
    slips = [formula(part) for part in slip]
    opposed = slips[0] if len(slips) == 1 else fenced('<mo separator="true">,</mo>'.join(slips))
    size = row(fenced("<mi>T</mi>", "|", "|"), "<mo>≤</mo>", bound)
    return row(size, '<mo separator="true">,</mo><mspace width="0.6em"/>', "<mi>T</mi><mo>⇅</mo>", opposed)


def _is_word(factor: Any) -> bool:
    """Say whether a factor is set as a word, which needs a space on both sides."""
    base = factor.base if factor.is_Pow else factor
    if isinstance(base, sp.Symbol):
        stem = base.name.removeprefix("v_").partition("_")[0].rstrip("0123456789")
        return len(stem) > 1 and stem not in GREEK
    return isinstance(base, sp.Function) and not isinstance(base, (sp.Abs, sp.exp))


class _MathML(Printer):
    """From a SymPy tree to presentation MathML that uses elements of MathML Core only."""

    _default_settings = {"order": None}
    printmethod = "_zwang_mathml"  # no class has it: SymPy's own hooks speak other dialects
    emptyPrinter = staticmethod(lambda expr: f"<mtext>{escape(str(expr))}</mtext>")

    def _in(self, expr: Any, level: int, *, strict: bool = False) -> str:
        """Print a part, in brackets where its own binding is looser than `level`."""
        told = self._print(expr)
        own = precedence_traditional(expr)
        return fenced(told) if own < level or (strict and own == level) else told

    def _print_Symbol(self, expr: Any) -> str:
        return name(expr.name)

    def _print_Velocity(self, expr: Any) -> str:
        return accented(expr.coordinate.name, "˙")

    def _print_Integer(self, expr: Any) -> str:
        return f"<mn>{expr}</mn>" if expr >= 0 else row(MINUS, f"<mn>{-expr}</mn>")

    def _print_Rational(self, expr: Any) -> str:
        told = f"<mfrac><mn>{abs(expr.p)}</mn><mn>{expr.q}</mn></mfrac>"
        return told if expr >= 0 else row(MINUS, told)

    def _print_Float(self, expr: Any) -> str:
        text = f"{abs(float(expr)):.{DIGITS}g}"
        digits, e, power = text.partition("e")
        told = f"<mn>{digits}</mn>"
        if e:
            told = row(told, "<mo>·</mo>", f"<msup><mn>10</mn><mn>{int(power)}</mn></msup>".replace("<mn>-", "<mn>−"))
        return told if expr >= 0 else row(MINUS, told)

    def _print_Pi(self, expr: Any) -> str:
        return "<mi>π</mi>"

    def _print_Exp1(self, expr: Any) -> str:
        return "<mi>e</mi>"

    def _print_Add(self, expr: Any) -> str:
        parts: list[str] = []
        for term in self._as_ordered_terms(expr):
            negative = term.could_extract_minus_sign()
            if negative or parts:
                parts.append(MINUS if negative else "<mo>+</mo>")
            parts.append(self._in(-term if negative else term, PRECEDENCE["Add"], strict=negative))
        return row(*parts)

    def _print_Mul(self, expr: Any) -> str:
        if expr.could_extract_minus_sign():
            return row(MINUS, self._in(-expr, PRECEDENCE["Mul"]))
        above, below = sp.fraction(expr, exact=True)
        if below != 1:
            return f"<mfrac>{self._product(above)}{self._product(below)}</mfrac>"
        return self._product(expr)

    def _product(self, expr: Any) -> str:
        if not expr.is_Mul:
            return str(self._print(expr))
        parts: list[str] = []
        before = None
        for factor in expr.as_ordered_factors():
            if before is not None:
                dot = factor.is_Number or (factor.is_Pow and factor.base.is_Number)
                parts.append("<mo>·</mo>" if dot else TIMES)
                parts.append(THIN if _is_word(before) or _is_word(factor) else "")
            parts.append(self._in(factor, PRECEDENCE["Mul"], strict=factor.is_Rational and not factor.is_Integer))
            before = factor
        return row(*parts)

    def _print_Pow(self, expr: Any) -> str:
        base, power = expr.base, expr.exp
        if base is sp.S.Exp1:
            return f"<msup><mi>e</mi>{self._print(power)}</msup>"
        if power.is_Rational and power < 0:
            return f"<mfrac><mn>1</mn>{self._print(base ** (-power))}</mfrac>"
        if power == sp.Rational(1, 2):
            return f"<msqrt>{self._print(base)}</msqrt>"
        if isinstance(base, sp.Function) and power.is_Integer and not isinstance(base, (sp.Abs, sp.exp)):
            return self._call(base, power)
        return f"<msup>{self._in(base, PRECEDENCE['Pow'], strict=True)}{self._print(power)}</msup>"

    def _print_exp(self, expr: Any) -> str:
        return f"<msup><mi>e</mi>{self._print(expr.args[0])}</msup>"

    def _print_Abs(self, expr: Any) -> str:
        return fenced(self._print(expr.args[0]), "|", "|")

    def _print_Function(self, expr: Any) -> str:
        return self._call(expr, None)

    _print_Min = _print_Max = _print_Heaviside = _print_Function

    def _call(self, expr: Any, power: Any) -> str:
        label = type(expr).__name__
        called = f"<mi>{escape(NAMES.get(label, label))}</mi>"
        if power is not None:
            called = f"<msup>{called}{self._print(power)}</msup>"
        arguments = expr.args[:1] if isinstance(expr, sp.Heaviside) else expr.args
        inside = '<mo separator="true">,</mo>'.join(self._print(item) for item in arguments)
        return row(called, APPLY, fenced(inside))

    def _print_Piecewise(self, expr: Any) -> str:
        rows = []
        for value, condition in expr.args:
            when = "<mtext>otherwise</mtext>" if condition == True else self._print(condition)  # noqa: E712
            rows.append(f"<mtr><mtd>{self._print(value)}</mtd><mtd>{when}</mtd></mtr>")
        return row("<mo form='prefix'>{</mo>", f"<mtable>{''.join(rows)}</mtable>")

    def _print_Relational(self, expr: Any) -> str:
        sign = {"<": "&lt;", ">": "&gt;", "<=": "≤", ">=": "≥", "==": "=", "!=": "≠"}[expr.rel_op]
        return row(self._print(expr.lhs), f"<mo>{sign}</mo>", self._print(expr.rhs))

    def _print_And(self, expr: Any) -> str:
        return row("<mtext> and </mtext>".join(self._print(item) for item in expr.args))

    def _print_Or(self, expr: Any) -> str:
        return row("<mtext> or </mtext>".join(self._print(item) for item in expr.args))

    def _print_MatrixBase(self, expr: Any) -> str:
        rows = (f"<mtr>{''.join(f'<mtd>{self._print(item)}</mtd>' for item in line)}</mtr>" for line in expr.tolist())
        return fenced(f"<mtable>{''.join(rows)}</mtable>")
