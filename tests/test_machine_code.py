"""Machine code goes with its module, memory stays bounded, and no Ctrl-C is lost while kernels are compiled."""

from __future__ import annotations

import gc
import linecache
import random
import signal
import sys
import threading
import time
import weakref
from pathlib import Path

import pytest

import zwang as zw
from kernel_examples import model, run_model, start
from zwang._compile import model as compiling
from zwang._numerics import jit
from zwang._numerics.jit import machine_code
from zwang._numerics.jit.generated import _GENERATED

pytest.importorskip("numba")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("ZWANG_CACHE_DIR", str(folder))
    return folder


def test_a_generated_module_goes_with_all_its_machine_code_when_nobody_has_it(cache: Path) -> None:
    module = jit.load_generated(model(11.0), "passing")
    assert run_model(module) == -99.0
    assert jit.load_generated(model(11.0), "passing") is module
    name, file = module.__name__, str(module.__file__)
    assert name not in sys.modules
    assert "FACTOR" in linecache.getlines(file)[0]
    gone = [weakref.ref(item) for item in (module, module.total.compiled, module.__zwang__.engine)]
    kernel = module.force  # who has a kernel has its module
    del module
    gc.collect()
    assert gone[0]() is not None and kernel(1.0) == -11.0
    del kernel
    gc.collect()
    assert [item() for item in gone] == [None, None, None]
    assert name not in _GENERATED and file not in linecache.cache
    machine_code.free_engines()
    assert not machine_code._GIVEN_UP
    assert run_model(jit.load_generated(model(11.0), "passing")) == -99.0  # and it can be made again


def test_a_generated_module_that_imports_another_keeps_it_alive(cache: Path) -> None:
    inner = jit.load_generated(model(12.0), "inner")
    outer = jit.load_generated(
        f"from {inner.__name__} import force\nfrom zwang._numerics.jit import njit\n"
        "@njit('float64(float64)')\ndef twice(x):\n    return 2.0 * force(x)\n",
        "outer",
    )
    alive = weakref.ref(inner)
    del inner
    gc.collect()
    assert alive() is not None
    assert outer.twice(1.0) == -24.0
    assert not [name for name in sys.modules if name.startswith("zwang_generated")]


BLOCKS = """
from zwang._numerics.jit import njit

@njit
def square(x):
    return x * x

@njit
def quartic(x):
    return square(square(x))

@njit("float64(float64, int64)")
def total(x, k):
    y, n = 0.5, k + k + k
    y += quartic(x) + x + x + x
    y += x + x + n
    return y
"""


def test_only_the_whole_kernel_is_optimized_and_not_first_each_one_that_it_takes_in(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from numba.core.codegen import CPUCodeLibrary

    optimized: list[str] = []
    optimize = CPUCodeLibrary._optimize_final_module

    def noted(library) -> None:
        optimized.append(library.name)
        optimize(library)

    monkeypatch.setattr(CPUCodeLibrary, "_optimize_final_module", noted)
    module = jit.load_generated(BLOCKS, "blocks")
    assert module.total(3.0, 2) == 0.5 + 81.0 + 15.0 + 6.0
    drafts = [name for name in optimized if name.startswith(("total", "quartic", "square"))]
    assert len(drafts) == 1 and drafts[0].startswith("total_")


def test_types_of_operations_are_found_once_for_each_kind_of_operands_and_kept_for_no_other_compilation(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import operator

    from numba.core import types
    from numba.core.types.functions import BaseFunction

    asked: list[tuple] = []
    find = BaseFunction.get_call_type

    def noted(function, context, args, keywords):
        if function.typing_key in (operator.add, operator.iadd):
            asked.append((function.typing_key, *args))
        return find(function, context, args, keywords)

    monkeypatch.setattr(BaseFunction, "get_call_type", noted)
    first = jit.load_generated(BLOCKS, "first")
    assert first.total(3.0, 2) == 0.5 + 81.0 + 15.0 + 6.0
    real, whole = types.float64, types.int64
    assert set(asked) >= {(operator.add, real, real), (operator.add, whole, whole), (operator.add, real, whole)}
    assert len(asked) == len(set(asked))  # of nine additions
    count = len(asked)
    other = jit.load_generated(BLOCKS.replace("k + k + k", "x + k + x"), "other")  # other types under the same names
    assert other.total(0.5, 1) == 0.5 + 0.0625 + 2.5 + 2.0
    assert len(asked) > count
    with pytest.raises(Exception, match="No implementation of function"):
        jit.load_generated(BLOCKS.replace("k + k + k", "k + 'a'"), "wrong").total(0.5, 1)
    assert BaseFunction.get_call_type is noted


def test_models_that_are_dropped_free_their_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """The modules of 2 kept models are alive, whatever the number that were made."""
    from zwang._compile.recent import Kept

    (x,), (v,) = zw.coordinates("x")
    monkeypatch.setattr(compiling, "_MODELS", Kept(2))
    gc.collect()
    before = len(_GENERATED)
    gone = []
    for k in range(5):
        made = zw.compile(zw.System(kinetic=v**2 / 2, potential=(k + 2) * x**2 / 2))
        assert made.accelerations({"x": 1.0, "v_x": 0.0})[0] == -(k + 2)
        gone.append(weakref.ref(made.kernels))
        del made
        gc.collect()
        assert len(_GENERATED) - before <= 2 * 2  # terms and accelerations of each
    assert [item() is None for item in gone] == [True, True, True, False, False]


INTERRUPTED = """
import sys
from zwang._numerics.jit import load_generated
number = 0
load_generated(TEXT.replace("FACTOR", "0.5"), "warm").one(1.0)
while True:
    print("ready", flush=True)
    try:
        while True:
            number += 1
            load_generated(TEXT.replace("FACTOR", f"{number}.0"), "busy").one(1.0)
    except KeyboardInterrupt:
        print("caught", number, flush=True)
"""
BUSY = (
    "import math\\nfrom zwang._numerics.jit import njit\\n@njit('float64(float64)')\\ndef one(x):\\n"
    "    return math.sin(FACTOR * x) * math.cos(x) + x ** 3\\n"
)


@pytest.mark.nightly
def test_an_interrupt_while_kernels_are_compiled_is_never_lost(tmp_path: Path) -> None:
    """Callbacks of LLVM swallow exceptions: a Ctrl-C in one of them would be gone."""
    script = f"TEXT = '''{BUSY}'''\n{INTERRUPTED}"
    process = start(script, tmp_path)
    assert process.stdout is not None and process.stderr is not None
    source = random.Random(3)
    try:
        watch = threading.Timer(120.0, process.kill)  # a lost interrupt would wait for ever
        watch.start()
        for _ in range(12):
            assert process.stdout.readline().split() == ["ready"]
            time.sleep(source.uniform(0.0, 0.5))
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline().split()[:1] == ["caught"]
    finally:
        watch.cancel()
        process.kill()
        process.communicate()


@pytest.mark.nightly
def test_memory_stays_bounded_over_many_different_systems(tmp_path: Path) -> None:
    """Before engines were freed, each of these systems left 2.5 MB behind; llvmlite still leaves 0.1 MB."""
    script = """
        import gc, random
        import zwang as zw
        from zwang._compile import model
        model._KEPT = 8
        (x, y), (vx, vy) = zw.coordinates("x y")
        def resident():
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * 4096
        def ask(k):
            a = 1 + k / 1000
            system = zw.System(
                kinetic=a * vx**2 / 2 + vy**2 / 2 + a * x**2 * vy**2, potential=a * x * y + y,
                constraints=[zw.Bilateral(y - a * x**2, name="c")],
            )
            zw.compile(system).evaluate({"x": 0.1, "y": a * 0.01, "v_x": 0.0, "v_y": 0.0})
        for k in range(40):
            ask(k)
        gc.collect()
        before = resident()
        for k in range(40, 120):
            ask(k)
        gc.collect()
        print((resident() - before) / 80)
    """
    process = start(script, tmp_path)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    assert float(out) < 0.4e6
