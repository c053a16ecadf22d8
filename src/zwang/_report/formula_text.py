"""Formulas written as plain text, between backticks in a sentence, as MathML; the order of terms is kept.

``w1 = min{((m1 - m2) g + m2 gamma)/(m1 + m2), g}`` reads well where there is no MathML, and becomes a fraction with
indices and Greek letters where there is.
"""

from __future__ import annotations

import re
from html import escape

from zwang._report import mathml

__all__ = ["rich", "text_formula"]

TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?(?:e-?\d+)?%?)"
    r"|(?P<word>[^\W\d_]+\d*(?:_(?:\{[^}]*\}|\w+))?'*)"
    r"|(?P<sign><=|>=|!=|->|\.\.\.|[-+*/^=<>≤≥≠→±∓,;:|()\[\]{}°·!~∈‖⟂∞]))"
)
POWER = re.compile(r"(?<![\w.])(-?\d+(?:\.\d+)?)e([-+]?\d+)\b")
MINUS = re.compile(r"(?<![\w)-])-(?=[\d(|]|[A-Za-z](?![\w-]))")
INDEX = re.compile(r"(?<![\w.&#-])([A-Za-z])_?(\d|(?<=_)[A-Za-z])(?![\w.-]|-\w)")
LETTERS = {**mathml.GREEK, "mubar": "μ̄", "gamma_t": "γ<sub>t</sub>"}
NAME = re.compile(r"(?<![\w&])(" + "|".join(sorted(LETTERS, key=len, reverse=True)) + r")(\d?)(?!\w)")
RELATIONS = {"<=": "≤", ">=": "≥", "!=": "≠", "->": "→", "~": "∼"}
SIGNS = set("=<>≤≥≠→≈∼∈,;:") | set(RELATIONS)
OPENING = {"(": ")", "[": "]", "{": "}"}
FUNCTIONS = {"sin", "cos", "tan", "arctan", "arcsin", "arccos", "tanh", "max", "min", "sgn", "sign", "exp", "ln", "log"}
FUNCTIONS |= {"det", "diag", "grad", "rank", "lim", "sup"}
BESIDE = '<mspace width="0.17em"/>'


def rich(text: str) -> str:
    """Return a text as HTML, formulas between backticks as MathML, what can't be read as a formula as code.

    Examples
    --------
    >>> rich("so `m1 < 2`.")
    'so <math alttext="m1 &lt; 2"><mrow><msub><mi>m</mi><mn>1</mn></msub><mo>&lt;</mo><mn>2</mn></mrow></math>.'
    """
    parts = text.split("`")
    shown = []
    for place, part in enumerate(parts):
        if place % 2 == 0:
            shown.append(_words(part))
            continue
        try:
            shown.append(mathml.math(text_formula(part), alt=part))
        except ValueError:
            shown.append(f"<code>{escape(part)}</code>")
    return "".join(shown)


def _words(text: str) -> str:
    """Return a plain part of a sentence as HTML: Greek names as letters, indices low, real minus signs."""
    text = POWER.sub(_power, escape(text, quote=False))
    text = MINUS.sub("−", text)
    text = INDEX.sub(r"<i>\1</i><sub>\2</sub>", text)
    return NAME.sub(lambda match: LETTERS[match[1]] + (f"<sub>{match[2]}</sub>" if match[2] else ""), text)


def _power(match: re.Match[str]) -> str:
    """Return a number with a power of ten as people write it."""
    above = str(int(match[2])).replace("-", "−")
    mantissa = "" if match[1] == "1" else f"{match[1].replace('-', '−')}·"
    return f"{mantissa}10<sup>{above}</sup>"


def text_formula(text: str) -> str:
    """Return a formula as MathML, without the element around it; a ValueError if it can't be read.

    Examples
    --------
    >>> text_formula("a/(b + 1)")
    '<mfrac><mi>a</mi><mrow><mi>b</mi><mo>+</mo><mn>1</mn></mrow></mfrac>'
    >>> text_formula("mu^2")
    '<msup><mi>μ</mi><mn>2</mn></msup>'
    """
    reader = _FormulaReader(_tokens(text))
    told = reader.listed()
    if reader.kind():
        raise ValueError(f"'{text}': can't read from '{reader.text()}' on")
    return told


def _tokens(text: str) -> list[tuple[str, str, bool]]:
    found, at = [], 0
    text = text.rstrip()
    while at < len(text):
        match = TOKEN.match(text, at)
        if not match:
            raise ValueError(f"'{text}': can't read from '{text[at:]}' on")
        kind = str(match.lastgroup)
        found.append((kind, match[kind], match.start(kind) > at))
        at = match.end()
    return found


class _FormulaReader:
    """Reads sums of products of powers, in relations and lists."""

    def __init__(self, tokens: list[tuple[str, str, bool]]) -> None:
        self.tokens = tokens
        self.at = 0

    def kind(self) -> str:
        return self.tokens[self.at][0] if self.at < len(self.tokens) else ""

    def text(self) -> str:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        text = self.text()
        self.at += 1
        return text

    def listed(self, end: str = "") -> str:
        parts: list[str] = []
        while self.kind() and self.text() != end:
            if self.text() in SIGNS:
                sign = self.take()
                parts.append(f"<mo>{escape(RELATIONS.get(sign, sign))}</mo>")
            else:
                parts.append(self.sum())
        return parts[0] if len(parts) == 1 else mathml.row(*parts)

    def sum(self) -> str:
        parts: list[str] = []
        if self.text() in ("-", "+", "±", "∓"):
            parts.append(f"<mo>{self.take().replace('-', '−')}</mo>")
        parts.append(self.product())
        while self.text() in ("+", "-", "±", "∓"):
            parts.append(f"<mo>{self.take().replace('-', '−')}</mo>")
            parts.append(self.product())
        return parts[0] if len(parts) == 1 else mathml.row(*parts)

    def product(self) -> str:
        parts = [self.power()]
        while True:
            if self.text() == "/":
                self.take()
                above = parts[0] if len(parts) == 1 else mathml.row(*parts)
                parts = [f"<mfrac>{_bare(above)}{_bare(self.power())}</mfrac>"]
            elif self.text() in ("*", "·"):
                self.take()
                parts += ["<mo>·</mo>", self.power()]
            elif self.kind() in ("number", "word") or self.text() in OPENING or self.text() in ("...", "∞"):
                parts += [BESIDE, self.power()]
            else:
                return parts[0] if len(parts) == 1 else mathml.row(*parts)

    def power(self) -> str:
        base = self.atom()
        while self.text() in ("^", "!", "°"):
            sign = self.take()
            if sign == "^":
                minus = "<mo>−</mo>" if self.text() == "-" and self.take() else ""
                above = _bare(self.atom())
                base = f"<msup>{base}{mathml.row(minus, above) if minus else above}</msup>"
            else:
                base = mathml.row(base, f"<mo>{sign}</mo>")
        return base

    def atom(self) -> str:
        kind, text = self.kind(), self.take()
        if kind == "number":
            return _number(text)
        if kind == "word":
            return self.named(text)
        if text in OPENING:
            inner = self.listed(OPENING[text])
            self.close(OPENING[text])
            return mathml.fenced(inner, text, OPENING[text])
        if text in ("|", "‖"):
            inner = self.sum()
            self.close(text)
            return mathml.fenced(inner, text, text)
        if text in ("...", "∞"):
            return f"<mi>{'…' if text == '...' else text}</mi>"
        if text in ("-", "+"):
            return mathml.row(f"<mo>{text.replace('-', '−')}</mo>", self.power())
        raise ValueError(f"can't read '{text}' here")

    def named(self, text: str) -> str:
        stem = text.rstrip("'")
        if stem == "sqrt" and self.text() == "(":
            self.take()
            inner = self.listed(")")
            self.close(")")
            return f"<msqrt>{inner}</msqrt>"
        primes = len(text) - len(stem)
        told = f"<mi>{stem}</mi>" if stem in FUNCTIONS else _name(stem.replace("{", "").replace("}", ""))
        if primes:
            told = mathml.row(told, f'<mo lspace="0" rspace="0">{"′" * primes}</mo>')
        if stem in FUNCTIONS and self.kind():
            return mathml.row(told, "<mo>&#x2061;</mo>", self.power())
        return told

    def close(self, wanted: str) -> None:
        if self.take() != wanted:
            raise ValueError(f"'{wanted}' is missing")


def _name(text: str) -> str:
    """Return the name of a quantity; a final 'bar' is a line above its letter."""
    stem, _, index = text.partition("_")
    if not stem.endswith("bar") or stem == "bar":
        return mathml.name(text)
    over = f'<mover accent="true">{mathml.name(stem.removesuffix("bar"))}<mo>¯</mo></mover>'
    return f"<msub>{over}{mathml.name(index)}</msub>" if index else over


def _number(text: str) -> str:
    mantissa, e, power = text.partition("e")
    if not e:
        return f"<mn>{text}</mn>"
    above = power.replace("-", "−")
    return mathml.row(f"<mn>{mantissa}</mn><mo>·</mo>", f"<msup><mn>10</mn><mn>{above}</mn></msup>")


def _bare(told: str) -> str:
    """Return a formula without round brackets around all of it: a fraction or an exponent needs none."""
    for content in ("\0", "<mfrac\0"):  # brackets that grow are written differently
        start, end = mathml.fenced(content).split(content)
        if told.startswith(start) and told.endswith(end):
            inner = told[len(start) : -len(end)]
            if "<mo>,</mo>" in inner:
                return told  # a scalar product or a vector
            # Brackets that close before the end belong to parts of it.
            depth = 0
            for match in re.finditer(r'<mo form="(prefix|postfix)"', inner):
                depth += 1 if match[1] == "prefix" else -1
                if depth < 0:
                    return told
            return inner
    return told
