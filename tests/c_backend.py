"""A backend whose functions are written in C, compiled by the system's compiler and called through ctypes."""

from __future__ import annotations

import ctypes
import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

import zwang as zw
from zwang import _kernels
from zwang._derive.program import Program
from zwang._graph.emit import C99
from zwang._kernels import Service
from zwang._kernels.c import PLACES, function_text
from zwang._kernels.cuda import CudaKernels
from zwang._kernels.outputs import NO_TABLE, Functions, Outputs
from zwang._kernels.straight import body, input_names

COMPILER = shutil.which("cc")
FLAGS = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-O1", "-ffp-contract=off", "-fPIC", "-shared"]
NUMBERS = ctypes.POINTER(ctypes.c_double)
_FOLDER = tempfile.TemporaryDirectory()


def library(source: str, folder: str | None = None, *flags: str) -> ctypes.CDLL:
    """Compile C to a library and load it."""
    stem = Path(folder or _FOLDER.name) / f"c_{hashlib.sha256(source.encode()).hexdigest()[:24]}"
    if not stem.with_suffix(".so").exists():
        stem.with_suffix(".c").write_text(source)
        command = [str(COMPILER), *FLAGS, *flags, "-o", f"{stem}.so", f"{stem}.c", "-lm"]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    return ctypes.CDLL(f"{stem}.so")


def pointer(array: np.ndarray) -> ctypes._Pointer:
    return array.ctypes.data_as(NUMBERS)


def function_source(program: Program, outputs: Outputs, name: str) -> str:
    """Return a function with the one ABI: name(t, q, v, params, int_table, workspace, out) -> status."""
    names = input_names(program) | {node: f"s{k}" for k, node in enumerate(outputs.held)}
    read, computed, text = body(program, names, outputs.wanted, C99)
    lines = [f"const double {one} = {PLACES[one[0]].format(one[1:])};" for one in read if one[0] in PLACES]
    lines += [f"const int {one} = int_table[{one[1:]}] != 0;" for one in read if one[0] == "s"]
    lines += [*computed, *(f"out[{k}] = {text[node]};" for k, node in enumerate(outputs.nodes))]
    lines.append("return 0;" if outputs.sound is None else f"return {text[outputs.sound]} ? 0 : 1;")
    arguments = ("t", "q", "v", "params", "int_table", "workspace", "out")
    return function_text(f"int {name}{_DECLARED}", arguments, lines)


class CDialect:
    def build(self, program: Program, outputs: Mapping[str, Outputs], name: str, *, quick: bool = False) -> Functions:
        text = "#include <math.h>\n\n" + "\n".join(
            f"int {key}();\n".replace("()", _DECLARED) + function_source(program, item, key)
            for key, item in outputs.items()
        )
        made = library(text)
        calls = tuple(caller(getattr(made, key)) for key in outputs)
        return Functions(calls, tuple(len(item.nodes) for item in outputs.values()), NO_TABLE, lambda _: np.zeros(1))


_DECLARED = (
    "(double t, const double q[], const double v[], const double params[], const long long int_table[], "
    "double workspace[], double out[])"
)


def caller(function):
    function.argtypes = [ctypes.c_double] + [ctypes.c_void_p] * 6
    function.restype = ctypes.c_int

    def call(t, q, v, params, int_table, workspace, out) -> int:
        arrays = [np.ascontiguousarray(array) for array in (q, v, params, int_table, workspace)]
        assert out.flags.c_contiguous and arrays[3].dtype == np.int64
        return int(function(float(t), *(array.ctypes.data for array in arrays), out.ctypes.data))

    return call


class CText:
    """A text for lanes as a library: kernels run over their lanes one after the other."""

    def __init__(self, source: str) -> None:
        self.library = library(source, None, "-Wno-unused-function", "-Wno-unused-variable", "-Wno-unused-parameter")

    def uniform(self, values: np.ndarray) -> None:
        (ctypes.c_double * values.size).in_dll(self.library, "U")[:] = values.tolist()

    def launch(self, name: str, lanes: int, *arguments, taking: bool = False) -> None:
        kinds = {float: ctypes.c_double, int: ctypes.c_longlong}
        given = [
            ctypes.c_void_p(item.ctypes.data) if isinstance(item, np.ndarray) else kinds[type(item)](item)
            for item in arguments
        ]
        function = getattr(self.library, name)
        function.restype = None
        function(*given)


class CLauncher:
    """Runs the texts of the backend `cuda` on the processor."""

    def load(self, source: str) -> CText:
        return CText(source)

    def put(self, array) -> np.ndarray:
        return np.array(array, order="C")

    def empty(self, shape: tuple[int, ...], kind: str) -> np.ndarray:
        return np.full(shape, 77, dtype=kind)  # what is not written shows

    def filled(self, shape: tuple[int, ...], value: float, kind: str = "f8") -> np.ndarray:
        return np.full(shape, value, dtype=kind)

    def fetch(self, array: np.ndarray) -> np.ndarray:
        return array


def on_a_device(name: str) -> str:
    """Return the name of a backend for many states, `cuda` or `lanes in c`, registered; skip where it can't run."""
    if name == "cuda":
        pytest.importorskip("cupy")
    elif COMPILER is None:
        pytest.skip("no C compiler")
    else:
        _kernels.register(LanesInCBackend())
    return name


class LanesInCBackend:
    """The backend `cuda` with its texts compiled for the processor."""

    name = "lanes in c"

    def build(self, system: zw.System) -> Service:
        return CudaKernels(system, CLauncher())


class CBackend:
    name = "c"

    def build(self, system: zw.System) -> Service:
        return Service(system, CDialect())
