"""A tape: arithmetic given as a list of instructions, run by one compiled loop for any model.

Straight-line code is the fastest, but two thousand operations take Numba ten seconds to compile; a tape takes none. A
register is a row of `LANES` numbers, one for each of as many states, so that the cost of reading an instruction is
shared and the work inside it runs in vector registers. Few states take registers of one lane.

An instruction is five integers: operation, target, and up to three arguments (registers).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import EVAL_SIGNATURE, njit

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

LANES = 16  # states that one instruction computes for
WIDTH = 5  # numbers of an instruction: what, where to, and three from where
COPY, NEG, ADD, SUB, ADDMUL, MUL, DIV, POW, SQRT, ABS, SIGN, STEP = range(12)
SIN, COS, TAN, ASIN, ACOS, ATAN, SINH, COSH, TANH, ASINH, ACOSH, ATANH, EXP, LOG, ATAN2 = range(12, 27)
LT, LE, EQ, AND, OR, NOT, WHERE, MIN, MAX = range(27, 36)


@njit
def _arithmetic(op: int, r: Floats, d: int, a: int, b: int) -> None:
    for j in range(r.shape[1]):
        if op == COPY:
            r[d, j] = r[a, j]
        elif op == NEG:
            r[d, j] = -r[a, j]
        elif op == ADD:
            r[d, j] += r[a, j]
        elif op == SUB:
            r[d, j] -= r[a, j]
        elif op == ADDMUL:
            r[d, j] += r[a, j] * r[b, j]
        elif op == MUL:
            r[d, j] = r[a, j] * r[b, j]
        else:
            r[d, j] = r[a, j] / r[b, j]


@njit
def _function(op: int, r: Floats, d: int, a: int, b: int) -> None:
    for j in range(r.shape[1]):
        x = r[a, j]
        if op == SIN:
            r[d, j] = math.sin(x)
        elif op == COS:
            r[d, j] = math.cos(x)
        elif op == SQRT:
            r[d, j] = math.sqrt(x) if x >= 0.0 else np.nan
        elif op == POW:
            r[d, j] = x ** r[b, j]
        elif op == ABS:
            r[d, j] = abs(x)
        elif op == SIGN:
            r[d, j] = 1.0 if x > 0.0 else (-1.0 if x < 0.0 else 0.0)
        elif op == STEP:
            r[d, j] = 1.0 if x > 0.0 else (0.0 if x < 0.0 else 0.5)
        elif op == TAN:
            r[d, j] = math.tan(x)
        elif op == ASIN:
            r[d, j] = math.asin(x) if abs(x) <= 1.0 else np.nan
        elif op == ACOS:
            r[d, j] = math.acos(x) if abs(x) <= 1.0 else np.nan
        elif op == ATAN:
            r[d, j] = math.atan(x)
        elif op == SINH:
            r[d, j] = math.sinh(x)
        elif op == COSH:
            r[d, j] = math.cosh(x)
        elif op == TANH:
            r[d, j] = math.tanh(x)
        elif op == ASINH:
            r[d, j] = math.asinh(x)
        elif op == ACOSH:
            r[d, j] = math.acosh(x) if x >= 1.0 else np.nan
        elif op == ATANH:
            r[d, j] = math.atanh(x) if abs(x) < 1.0 else np.nan
        elif op == EXP:
            r[d, j] = math.exp(x)
        elif op == LOG:
            r[d, j] = math.log(x) if x > 0.0 else np.nan
        else:
            r[d, j] = math.atan2(x, r[b, j])


@njit
def _choice(op: int, r: Floats, d: int, a: int, b: int, c: int) -> None:
    for j in range(r.shape[1]):
        x, y = r[a, j], r[b, j]
        if op == LT:
            r[d, j] = 1.0 if x < y else 0.0
        elif op == LE:
            r[d, j] = 1.0 if x <= y else 0.0
        elif op == EQ:
            r[d, j] = 1.0 if x == y else 0.0
        elif op == AND:
            r[d, j] = x * y
        elif op == OR:
            r[d, j] = max(x, y)
        elif op == NOT:
            r[d, j] = 1.0 - x
        elif op == WHERE:
            r[d, j] = y if x != 0.0 else r[c, j]
        elif op == MIN:
            r[d, j] = x if x <= y else y
        else:
            r[d, j] = x if x >= y else y


@njit("void(int64[:, ::1], int64[::1], float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[:, ::1])")
def run_tape(code: Ints, results: Ints, q: Floats, params: Floats, registers: Floats, out: Floats) -> None:
    """Run a tape over states.

    Parameters
    ----------
    code : (k, 5) int array
        The instructions.
    results : (m,) int array
        The registers that are the outputs.
    q : (i, B) array
        The inputs that differ from state to state; they go into the first registers.
    params : (p, B) or (p, 1) array
        The inputs that may be shared; they go into the registers after those.
    registers : (r, lanes) array
        Room for all registers; constants stand in it already, behind the inputs.
    out : (m, B) array
        Receives the outputs.
    """
    states, own, extra = q.shape[1], q.shape[0], params.shape[0]
    shared, lanes = params.shape[1] == 1, registers.shape[1]
    for start in range(0, states, lanes):
        size = min(lanes, states - start)
        for j in range(lanes):
            at = start + min(j, size - 1)  # idle lanes repeat the last state
            for i in range(own):
                registers[i, j] = q[i, at]
            for i in range(extra):
                registers[own + i, j] = params[i, 0 if shared else at]
        for k in range(code.shape[0]):
            op, d, a, b, c = code[k, 0], code[k, 1], code[k, 2], code[k, 3], code[k, 4]
            if op <= DIV:
                _arithmetic(op, registers, d, a, b)
            elif op < LT:
                _function(op, registers, d, a, b)
            else:
                _choice(op, registers, d, a, b, c)
        for m in range(results.size):
            for j in range(size):
                out[m, start + j] = registers[results[m], j]


@njit
def _run_numbered(number: int, t: float, q: Floats, v: Floats, params: Floats, table: Ints, work: Floats,
                  out: Floats) -> int:  # fmt: skip
    """Run one of several tapes at one state."""
    head = table[number]
    instructions, outputs, first = table[head], table[head + 1], table[head + 2]
    work[first] = t
    for i in range(q.size):
        work[first + 1 + i] = q[i]
    for i in range(v.size):  # none where only positions count
        work[first + 1 + q.size + i] = v[i]
    for i in range(params.size):
        work[first + 1 + q.size + v.size + i] = params[i]
    registers = work[first : first + table[head + 3]].reshape((table[head + 3], 1))
    at = head + 4
    for _ in range(instructions):
        op, d, a, b, c = table[at], table[at + 1], table[at + 2], table[at + 3], table[at + 4]
        at += WIDTH
        if op <= DIV:
            _arithmetic(op, registers, d, a, b)
        elif op < LT:
            _function(op, registers, d, a, b)
        else:
            _choice(op, registers, d, a, b, c)
    for m in range(outputs):
        out[m] = registers[table[at + m], 0]
    return 0 if registers[table[at + outputs], 0] != 0.0 else 1


# Tapes in the form of every model's kernel. The table starts with the places of the tapes; each tape has a head
# (instructions, outputs, its first register in the workspace, number of registers), its instructions, and the registers
# of its outputs and of the truth that all is well. The workspace holds the registers, constants in place.


@njit(EVAL_SIGNATURE)
def tape_0(t: float, q: Floats, v: Floats, params: Floats, table: Ints, work: Floats, out: Floats) -> int:
    """Run tape 0 at one state."""
    return _run_numbered(0, t, q, v, params, table, work, out)


@njit(EVAL_SIGNATURE)
def tape_1(t: float, q: Floats, v: Floats, params: Floats, table: Ints, work: Floats, out: Floats) -> int:
    """Run tape 1 at one state."""
    return _run_numbered(1, t, q, v, params, table, work, out)


@njit(EVAL_SIGNATURE)
def tape_2(t: float, q: Floats, v: Floats, params: Floats, table: Ints, work: Floats, out: Floats) -> int:
    """Run tape 2 at one state."""
    return _run_numbered(2, t, q, v, params, table, work, out)


@njit(EVAL_SIGNATURE)
def tape_3(t: float, q: Floats, v: Floats, params: Floats, table: Ints, work: Floats, out: Floats) -> int:
    """Run tape 3 at one state."""
    return _run_numbered(3, t, q, v, params, table, work, out)


@njit(EVAL_SIGNATURE)
def tape_4(t: float, q: Floats, v: Floats, params: Floats, table: Ints, work: Floats, out: Floats) -> int:
    """Run tape 4 at one state."""
    return _run_numbered(4, t, q, v, params, table, work, out)


@njit(EVAL_SIGNATURE)
def tape_5(t: float, q: Floats, v: Floats, params: Floats, table: Ints, work: Floats, out: Floats) -> int:
    """Run tape 5 at one state."""
    return _run_numbered(5, t, q, v, params, table, work, out)


TAPES = (tape_0, tape_1, tape_2, tape_3, tape_4, tape_5)
