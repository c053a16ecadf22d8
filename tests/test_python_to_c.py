"""Kernels as C: what the translation computes is what Python computes, and what it can't say it refuses by name."""

from __future__ import annotations

import ctypes
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

import zwang as zw
from c_backend import COMPILER, library
from zwang._kernels.c_types import FLOAT, INT, ArrayKind, array_kind, record_kind
from zwang._kernels.many_states import HEAD
from zwang._kernels.python_to_c import Translation
from zwang._numerics.jit import njit

Floats = NDArray[np.float64]
Matrix = NDArray[np.float64]
SHIFT = -2
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler")


class Pair(NamedTuple):
    table: Matrix
    sums: Floats


@njit
def _split(x: float, n: int) -> tuple[int, float]:
    if x < 0.0:
        return SHIFT, -x
    return n, x if x < 0.5 else 0.5


@njit
def _rows(pair: Pair, n: int) -> int:
    for i in range(n):
        pair.sums[i] = 0.0
        for j in range(pair.table.shape[1] - 1, -1, -1):
            if pair.table[i, j] > 2.0:
                break
            if not 0.1 < abs(pair.table[i, j]) <= 2.0:
                continue
            pair.sums[i] += pair.table[i, j] ** 2 / 4
        else_way = pair.sums[i] if i else 7.0
        pair.sums[i] = max(else_way, 0.25, pair.sums[i])
    return i


@njit
def program(given: Matrix, out: Floats, size: int) -> int:
    many = 2 * size
    work, found = np.zeros((size, 3)), np.empty(many)
    pair = Pair(given, found)
    last = _rows(pair, size)
    count, a, b = 0, 1.0, 2.0
    while count < 5:
        a, b = b, a + b * 0.5
        count += 1
    for i in range(size):
        row = work[i]
        row[1] = found[i]
        kind, value = _split(given[i, 0], i)
        at, sign = (0, 1.0) if value == 0.5 else (1, -1.0)
        out[2 * i] = out[2 * i + 1] = 0.0
        out[2 * i + at] = sign * (kind + row[1]) + np.sqrt(value) + float(work[i, 0]) - min(i, last)
    out[0] += a - b / len(out) + int(2.9) + (np.inf > a and not bool(count == 4))
    return count + last


def translated(text: str, name: str) -> ctypes.CDLL:
    head = HEAD.format(block=128) + text
    call = f"""
long long call(double *given, double *out, long long size, long long width)
{{
    const doubles_2 table = {{given, {{size, width}}}};
    const doubles_1 row = {{out, {{2 * size}}}};
    return {name}(table, row, size);
}}
"""
    made = library(head + call, None, "-Wno-unused-function")
    made.call.restype = ctypes.c_longlong
    made.call.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_longlong, ctypes.c_longlong]
    return made


@needs_compiler
def test_a_program_in_c_computes_what_python_does() -> None:
    translation = Translation({"size": 6, "many": 12})
    name, kind = translation.function(program, [ArrayKind(FLOAT, 2), ArrayKind(FLOAT, 1), INT])
    assert kind == INT
    made = translated(translation.text, name)
    rng = np.random.default_rng(5)
    for _ in range(200):
        size, width = int(rng.integers(1, 7)), int(rng.integers(1, 5))
        given = rng.normal(0.5, 1.2, (size, width))
        expected, found = np.full(2 * size, 9.0), np.full(2 * size, 9.0)
        value = program.py_func(given, expected, size)
        assert made.call(given.ctypes.data, found.ctypes.data, size, width) == value
        assert found.tolist() == expected.tolist()


WEIGHTS = (0.5, -2.0, 3.25)


@njit
def _weighted(numbers: Floats, n: int) -> float:
    total = 0.0
    for i in range(-n, n):
        total += WEIGHTS[i % 3] * numbers[abs(i)]
    return total


@needs_compiler
def test_rows_of_numbers_and_remainders_are_those_of_python() -> None:
    translation = Translation({})
    name, kind = translation.function(_weighted, [ArrayKind(FLOAT, 1), INT])
    assert kind == FLOAT
    call = f"double call(double *at, long long n) {{ return {name}((doubles_1){{at, {{n + 1}}}}, n); }}\n"
    made = library(HEAD.format(block=1) + translation.text + "double call(double *at, long long n);\n" + call, None,
                   "-Wno-unused-function")  # fmt: skip
    made.call.restype = ctypes.c_double
    numbers = np.random.default_rng(1).normal(size=8)
    found = made.call(ctypes.c_void_p(numbers.ctypes.data), ctypes.c_longlong(7))
    assert found == _weighted.py_func(numbers, 7)


def test_types_have_their_names() -> None:
    assert array_kind("float64[:, :, ::1]") == ArrayKind(FLOAT, 3)
    assert record_kind(Pair).fields == (("table", ArrayKind(FLOAT, 2)), ("sums", ArrayKind(FLOAT, 1)))
    with pytest.raises(zw.CompileError, match=r"complex128, which has no form in C"):
        array_kind("complex128")


@njit
def _uses_a_list(x: float) -> float:
    parts = [x, x]
    return parts[0]


@njit
def _has_no_bound(n: int) -> float:
    return np.zeros(n)[0]


@njit
def _is_two_things(x: float, row: Floats) -> float:
    y = x
    if x > 0.0:
        y = row
    return y


@njit
def _asks_for_more(x: float) -> float:
    return x % 2.0 + unheard_of  # noqa: F821


@pytest.mark.parametrize(
    ("kernel", "kinds", "words"),
    [
        (_uses_a_list, [FLOAT], r"_uses_a_list, line 3 of it, holds List \('\[x, x\]'\)"),
        (_has_no_bound, [INT], r"a shape whose bound is not given \('n'\)"),
        (_is_two_things, [FLOAT, ArrayKind(FLOAT, 1)], r"a double that is also a doubles_1"),
        (_asks_for_more, [FLOAT], r"holds BinOp|a name that is not known here"),
    ],
)
def test_what_has_no_form_in_c_is_refused_with_its_place(kernel, kinds, words: str) -> None:
    with pytest.raises(zw.CompileError, match=words):
        Translation({}).function(kernel, kinds)
