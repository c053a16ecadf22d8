"""Texts, bytes and numbers that are meant to do harm, from a generator of random numbers."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from zwang._selftest.canary import NAME

EXECUTE = (
    f'x"""; import builtins; builtins.{NAME} = 1; """',
    f"__import__('builtins').__setattr__('{NAME}', 1)",
    f"open('{NAME}', 'w')",
    f"().__class__.__base__.__subclasses__() or open('{NAME}', 'w')",
    f"'); import builtins; builtins.{NAME} = 1; ('",
    f"x\n    import builtins; builtins.{NAME} = 1",
    f"{{open('{NAME}', 'w')}}",
    "%(x)s{0.__class__}",
    "$(touch zwang_canary)",
    "</script><script>alert(1)</script>",
)
TEXTS = (
    *EXECUTE,
    "",
    " ",
    "x" * 5_000,
    "(" * 300 + "x" + ")" * 300,
    "-" * 500 + "x",
    "x**" * 60 + "2",
    "10**10**10",
    "x**1000000000",
    "(x + y + 1)**1000",
    "sin(" * 60 + "x" + ")" * 60,
    "tanh(" * 30 + "x" + ")" * 30,
    "1/0",
    "0/0",
    "nan",
    "inf",
    "oo",
    "zoo",
    "1e400",
    "1e-400",
    "I",
    "lambda: 1",
    "x.y",
    "x[0]",
    "x if y else z",
    "x == y",
    "x; y",
    "\u202ex",
    "x\x00y",
    "\x1b[31mx",
    "\ud800",
    "е" * 3,
    r"$\frac$",
    "C:\\users\\xi",
    "factorial(10**9)",
    "gamma(x)**gamma(x)",
    "Piecewise((x, x > 0), (nan, True))",
    "acosh(tanh(20))",
    "sqrt(-1)",
    "log(0)",
    "1" * 4_000,
    "0." + "1" * 4_000,
    "x" + " + x" * 2_000,
    "a.b." * 2_000,
)
NUMBERS: tuple[Any, ...] = (
    float("nan"),
    float("inf"),
    -float("inf"),
    0.0,
    -0.0,
    -1.0,
    1e-320,
    5e-324,
    1e-160,
    1e155,
    1e308,
    -1e308,
    10**400,
    -(10**400),
    2**63,
    True,
    None,
    "a",
    "",
    b"1",
    1j,
    [],
    [1.0, float("nan")],
    [[1.0], [1.0, 2.0]],
    {},
    Fraction(1, 3),
    Decimal("NaN"),
    Decimal("1e5000"),
    np.float32(1.5),
    np.int8(-3),
    np.array(["x"]),
    np.zeros((0,)),
    object,
    1e-9,
    1e9,
    0.5,
    2,
)
WORDS = "x y theta v_x t m g l mu sin cos sqrt exp log tanh atan2 Abs Max Min pi E 0 1 2 0.5 1e3 + - * / ** ( ) , ."


def pick(rng: np.random.Generator, items: Any) -> Any:
    """One of the items, as it is."""
    return items[int(rng.integers(len(items)))]


def expression(rng: np.random.Generator) -> str:
    """A text that may be an expression."""
    if rng.random() < 0.4:
        return str(pick(rng, TEXTS))
    words = [str(pick(rng, WORDS.split())) for _ in range(int(rng.integers(1, 25)))]
    if rng.random() < 0.2:
        words.insert(int(rng.integers(len(words) + 1)), str(pick(rng, TEXTS))[:200])
    return ("" if rng.random() < 0.3 else " ").join(words)


def damaged(rng: np.random.Generator, text: str) -> str:
    """A text with a few changes, some of them large."""
    for _ in range(int(rng.integers(1, 4))):
        a, b = sorted(int(i) for i in rng.integers(0, len(text) + 1, size=2))
        lines = text.split("\n")
        line = int(rng.integers(len(lines)))
        way = int(rng.integers(9))
        if way == 0:
            text = text[:a] + text[min(b, a + 40) :]
        elif way == 1:
            text = text[:b] + text[a : min(b, a + 60)] + text[b:]
        elif way == 2:
            text = text[:a] + str(pick(rng, TEXTS)) + text[a:]
        elif way == 3:
            lines[line] = lines[line].split("=")[0] + f'= "{expression(rng)}"'
            text = "\n".join(lines)
        elif way == 4:
            lines[line] = lines[line].split("=")[0] + f"= {pick(rng, NUMBERS)!r}"
            text = "\n".join(lines)
        elif way == 5:
            lines.insert(line, pick(rng, lines))
            text = "\n".join(lines)
        elif way == 6:
            del lines[line]
            text = "\n".join(lines)
        elif way == 7:
            text = text[:a]
        else:
            text = text.replace(pick(rng, lines).split(" ")[0] or "x", expression(rng)[:200], 1)
    return text


def damaged_bytes(rng: np.random.Generator, data: bytes) -> bytes:
    """Bytes of a file that was cut, overwritten or grown."""
    way = int(rng.integers(5))
    out = bytearray(data)
    if way == 0:
        return bytes(out[: int(rng.integers(len(out)))])
    if way == 1:
        for _ in range(int(rng.integers(1, 30))):
            out[int(rng.integers(len(out)))] = int(rng.integers(256))
    elif way == 2:
        a, b = sorted(int(i) for i in rng.integers(0, len(out), size=2))
        out[a : min(b, a + 400)] = b""
    elif way == 3:
        at = int(rng.integers(len(out)))
        out[at:at] = rng.bytes(int(rng.integers(1, 200)))
    else:
        at = int(rng.integers(len(out)))
        out[at : at + 8] = (2 ** int(rng.integers(1, 63))).to_bytes(8, "little")
    return bytes(out)
