"""Small kernels as generated source, and child processes that run them with a cache of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import types
from pathlib import Path

import numpy as np

from zwang._numerics import jit

SOURCE = Path(jit.__file__).parents[3]

LOOP = f"""
import numpy as np
from zwang._numerics.jit import EVAL_SIGNATURE, EVAL_TYPE, njit

@njit("float64(float64)")
def force(x):
    return -FACTOR * x

@njit(EVAL_SIGNATURE)
def evaluate(t, q, v, params, int_table, workspace, out):
    for i in range(q.size):
        out[i] = force(q[i])
    return 0

@njit("float64({jit.EVAL_TYPE}, float64[::1], int64)")
def total(evaluate, q, count):
    table = np.zeros(1, dtype=np.int64)
    out = np.zeros(q.size)
    result = 0.0
    for k in range(count):
        evaluate(0.0, q, q, q, table, out, out)
        result += out.sum()
    return result
"""


def start(script: str, folder: Path, **settings: str) -> subprocess.Popen[str]:
    path = os.pathsep.join([str(folder), str(SOURCE)])
    environment = os.environ | {"PYTHONPATH": path, "ZWANG_CACHE_DIR": str(folder / "cache")} | settings
    command = [sys.executable, "-c", textwrap.dedent(script)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> list[str]:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out.split()


def python(script: str, folder: Path, **settings: str) -> list[str]:
    return finish(start(script, folder, **settings))


def model(factor: float) -> str:
    return f"FACTOR = {factor!r}\n{LOOP}"


def run_model(module: types.ModuleType) -> float:
    return float(module.total(module.evaluate.compiled, np.array([1.0, 2.0]), 3))
