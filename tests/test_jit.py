"""Compiled kernels are lazy, cached by content, never another's, and give the same numbers without Numba."""

from __future__ import annotations

import contextlib
import importlib
import os
import pkgutil
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import zwang as zw
import zwang._numerics
from kernel_examples import finish, model, python, run_model, start
from zwang._derive.motion_modes import ActiveSet
from zwang._numerics import jit
from zwang._numerics.curves.rows import load
from zwang._numerics.jit import cache as cache_folder
from zwang._numerics.jit.content import digest_of, value_text
from zwang._numerics.linear.sparse_ldl import ldl_factor
from zwang.errors import CompileError
from zwang.gallery.chain_of_four_bars import n_four_bar

numba = pytest.importorskip("numba")
Floats = np.ndarray


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("ZWANG_CACHE_DIR", str(folder))
    return folder


@pytest.fixture
def unwarned() -> Iterator[None]:
    """Let a test see the warning that a process gives once."""
    before = cache_folder._WARNED.is_set()
    cache_folder._WARNED.clear()
    yield
    (cache_folder._WARNED.set if before else cache_folder._WARNED.clear)()


def test_importing_the_module_does_not_import_numba(tmp_path: Path) -> None:
    script = "import sys, zwang._numerics.jit; print('numba' in sys.modules, 'llvmlite' in sys.modules)"
    assert python(script, tmp_path) == ["False", "False"]


def test_kernel_is_compiled_at_its_first_call_and_refuses_other_types(cache: Path) -> None:
    @jit.njit("float64(float64)")
    def double(x: float) -> float:
        return 2.0 * x

    assert double._compiled is None
    assert double(1.5) == 3.0
    assert isinstance(double.compiled, numba.core.dispatcher.Dispatcher)
    assert oct(cache.stat().st_mode & 0o777) == "0o700"
    with pytest.raises(TypeError):
        double("text")  # type: ignore[arg-type]


def test_division_by_zero_in_a_kernel_gives_inf_and_no_exception(cache: Path) -> None:
    @jit.njit("float64(float64[::1])")
    def ratio(x: np.ndarray) -> float:
        return x[0] / x[1]

    assert ratio(np.array([1.0, 0.0])) == np.inf
    assert ratio.plain(np.array([1.0, 0.0])) == np.inf


def test_kernel_without_signature_serves_other_kernels_and_python(cache: Path) -> None:
    module = jit.load_generated(
        "from zwang._numerics.jit import njit\n"
        "@njit\n"
        "def square(x):\n    return x * x\n"
        "@njit('int64(int64)')\n"
        "def factorial(n):\n    return 1 if n < 2 else n * factorial(n - 1)\n"
        "@njit('float64(float64, int64)', fastmath=True)\n"
        "def both(x, n):\n    return square(x) + square(n) + factorial(n)\n",
        "blocks",
    )
    assert module.both(0.5, 3) == 15.25
    assert module.square(3) == 9
    assert "blocks" in repr(module.square)
    assert not list(cache.glob("square_*"))  # no signature, no file: it is compiled into its callers


def test_separate_kernel_is_called_through_a_symbol_and_found_again_from_the_cache(tmp_path: Path) -> None:
    (tmp_path / "parts.py").write_text(
        "from zwang._numerics.jit import njit\n"
        "@njit('float64(float64[::1], int64)', separate=True)\n"
        "def entry(x, i):\n    x[0] += 1.0\n    return FACTOR * x[i]\n"
        "@njit('void(float64[::1])', separate=True)\n"
        "def negate(x):\n    for i in range(x.size):\n        x[i] = -x[i]\n"
        "@njit\n"
        "def block(x):\n    negate(x)\n    return entry(x, 0) + entry(x, 1)\n"
        "@njit('float64(float64[::1])')\n"
        "def caller(x):\n    return block(x) + 0.5\n"
        "FACTOR = 2.0\n"
    )
    script = """
        import numpy as np
        from parts import caller, entry
        x = np.array([1.0, 2.0])
        print(caller(x), *x, *(int(kernel.restored) for kernel in (caller, entry)))
    """
    # negated: -1, -2; then 2 * (-1 + 1) + 2 * (-2) + 0.5
    assert python(script, tmp_path) == ["-3.5", "1.0", "-2.0", "0", "0"]
    assert python(script, tmp_path) == ["-3.5", "1.0", "-2.0", "1", "1"]
    text = (tmp_path / "parts.py").read_text()
    (tmp_path / "parts.py").write_text(text.replace("FACTOR = 2.0", "FACTOR = 3.0"))
    assert python(script, tmp_path) == ["-5.5", "1.0", "-2.0", "0", "0"]


def test_separate_kernel_needs_a_signature() -> None:
    with pytest.raises(CompileError, match=r"separate=True needs a signature.*Give one"):
        jit.njit(separate=True)


def test_editing_a_helper_changes_the_result_of_a_cached_caller(tmp_path: Path) -> None:
    package = tmp_path / "pkg"
    package.mkdir()
    (package / "__init__.py").touch()
    helper = "from zwang._numerics.jit import njit\n@njit('float64(float64)')\ndef helper(x):\n    return {} * x\n"
    (package / "helper.py").write_text(helper.format("2.0"))
    (package / "constants.py").write_text("SHIFT = 1.0\n")
    (package / "caller.py").write_text(
        "from zwang._numerics.jit import njit\nfrom pkg.helper import helper\nfrom pkg.constants import SHIFT\n"
        "@njit('float64(float64)')\ndef caller(x):\n    return helper(x) + SHIFT\n"
    )
    script = """
        from pkg.caller import caller
        print(caller(1.0), int(caller.restored))
    """
    assert python(script, tmp_path) == ["3.0", "0"]
    assert python(script, tmp_path) == ["3.0", "1"]
    (package / "helper.py").write_text(helper.format("5.0"))
    assert python(script, tmp_path) == ["6.0", "0"]
    (package / "constants.py").write_text("SHIFT = 2.0\n")
    assert python(script, tmp_path) == ["7.0", "0"]
    assert python(script, tmp_path) == ["7.0", "1"]


def test_a_kernel_keeps_its_machine_code_when_its_file_moves_or_its_words_change_and_twins_share_it(
    tmp_path: Path,
) -> None:
    text = (
        "from zwang._numerics.jit import njit\n"
        '@njit\ndef block(x):\n    """{0}"""\n    return x + 1.0\n'
        "@njit('float64(float64)', separate=True)\ndef part(x):\n    # {0}\n    return 3.0 * block(x)\n"
        "@njit('float64(float64)')\ndef whole(x):\n    return part(x) + block(x)\n"
    )
    (tmp_path / "here.py").write_text(text.format("Says this."))
    (tmp_path / "there.py").write_text(text.format("Says that, at length."))
    both = """
        from NAME import whole
        print(whole(1.0), int(whole.restored))
    """
    assert python(both.replace("NAME", "here"), tmp_path) == ["8.0", "0"]
    assert python(both.replace("NAME", "there"), tmp_path) == ["8.0", "1"]
    (tmp_path / "pair.py").write_text(
        "from zwang._numerics.jit import njit\nimport here, there\nfirst, second = here.part, there.part\n"
        "one, other = here.block, there.block\n"
        "@njit('float64(float64)')\ndef pair(x):\n    return first(x) + second(x) + one(x) + other(x)\n"
    )
    script = """
        import here, there
        from pair import pair
        print(pair(1.0), here.whole(1.0), there.whole(1.0), int(here.whole.compiled is there.whole.compiled))
    """
    assert python(script, tmp_path) == ["16.0", "8.0", "8.0", "1"]


def test_two_models_of_one_name_never_share_a_kernel(cache: Path) -> None:
    soft, stiff = jit.load_generated(model(2.0), "spring"), jit.load_generated(model(5.0), "spring")
    assert soft is not stiff
    assert soft.__name__ != stiff.__name__
    # sum of q is 3, three times: -factor * 9
    assert (run_model(soft), run_model(stiff), run_model(soft)) == (-18.0, -45.0, -18.0)
    assert jit.load_generated(model(2.0), "spring") is soft
    assert {path.suffix for path in cache.iterdir()} == {".kernel"}


def test_kernel_compiled_after_a_global_was_rebound_uses_the_new_value_and_not_the_cached_one(cache: Path) -> None:
    module = jit.load_generated(model(2.0), "rebound")
    assert run_model(module) == -18.0
    module.FACTOR = 7.0
    caller = jit.Kernel(module.evaluate.py_func, module.evaluate.signature, module.evaluate.options)
    # sum of q is 3, three times: -factor * 9
    assert module.total(caller.compiled, np.array([1.0, 2.0]), 3) == -63.0
    assert module.force(1.0) == -7.0
    assert run_model(module) == -18.0  # what was compiled before stays what it was


@pytest.mark.nightly
def test_racing_processes_agree_and_a_later_one_finds_everything_in_the_cache(tmp_path: Path) -> None:
    script = f"""
        import numpy as np
        from zwang._numerics.jit import load_generated
        module = load_generated({model(3.0)!r}, "racing")
        print(module.total(module.evaluate.compiled, np.array([1.0, 2.0]), 3))
        kernels = (module.total, module.evaluate)
        print(*(int(kernel.restored) for kernel in kernels))
    """
    racing = [start(script, tmp_path) for _ in range(2)]
    assert [finish(process)[0] for process in racing] == ["-27.0", "-27.0"]
    assert python(script, tmp_path) == ["-27.0", "1", "1"]


def test_cache_that_cannot_be_written_is_said_once_and_results_stay_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unwarned: None
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("ZWANG_CACHE_DIR", str(tmp_path / "file" / "cache"))
    with pytest.warns(jit.KernelWarning, match=r"keeps no compiled code on disk.*Set ZWANG_CACHE_DIR") as caught:
        assert run_model(jit.load_generated(model(4.0), "memory")) == -36.0
    assert len(caught) == 1


def test_folder_that_others_can_write_is_refused(cache: Path, unwarned: None) -> None:
    cache.mkdir()
    cache.chmod(0o770)
    with pytest.warns(jit.KernelWarning, match="other users may write to it: chmod go-w"):
        assert run_model(jit.load_generated(model(6.0), "shared")) == -54.0
    assert not list(cache.iterdir())


def test_folder_of_another_user_is_refused(cache: Path, monkeypatch: pytest.MonkeyPatch, unwarned: None) -> None:
    owner = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: owner + 1)
    with pytest.warns(jit.KernelWarning, match="it belongs to another user"):
        assert run_model(jit.load_generated(model(8.0), "owned")) == -72.0


def test_without_numba_plain_python_gives_the_same_numbers_and_says_so(tmp_path: Path, cache: Path) -> None:
    script = f"""
        import sys, warnings
        sys.modules["numba"] = None  # what blocks an import
        import numpy as np
        from zwang._numerics.jit import KernelWarning, eval_type, load_generated
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            module = load_generated({model(0.1)!r}, "plain")
            print(repr(module.total(module.evaluate.compiled, np.array([1.0, 2.0]), 3)))
        print(*(w.category is KernelWarning and "Install numba" in str(w.message) for w in caught))
        try:
            eval_type()
        except Exception as error:
            print(type(error).__name__)
    """
    number, *rest = python(script, tmp_path)
    assert eval(number, {"np": np}) == run_model(jit.load_generated(model(0.1), "plain"))
    assert rest == ["True", "CompileError"]


def test_zwang_no_jit_runs_plain_python_without_a_warning(tmp_path: Path) -> None:
    script = f"""
        import sys, warnings
        warnings.simplefilter("error")
        from zwang._numerics.jit import load_generated
        print(load_generated({model(2.0)!r}, "plain").force(1.0), "numba" in sys.modules)
    """
    assert python(script, tmp_path, ZWANG_NO_JIT="1") == ["-2.0", "False"]


def test_eval_type_is_the_function_type_of_the_signature() -> None:
    f8, i8 = numba.types.float64, numba.types.int64
    expected = numba.types.FunctionType(i8(f8, f8[::1], f8[::1], f8[::1], i8[::1], f8[::1], f8[::1]))
    assert jit.eval_type() == expected


def test_closure_is_refused_with_the_cure(cache: Path) -> None:
    factor = 2.0

    @jit.njit("float64(float64)")
    def scaled(x: float) -> float:
        return factor * x

    with pytest.raises(CompileError, match=r"'factor' of an enclosing function.*Make it an argument, or a global"):
        scaled(1.0)


def test_global_without_content_is_refused_with_the_cure(cache: Path) -> None:
    source = "from zwang._numerics.jit import njit\nitems = []\n@njit\ndef count():\n    return len(items)\n"
    with pytest.raises(CompileError, match=r"uses the global 'items' \(list\).*Make it a number"):
        jit.load_generated(source, "listed").count()


def test_kernels_that_call_each_other_are_refused(cache: Path) -> None:
    source = (
        "from zwang._numerics.jit import njit\n"
        "@njit\ndef even(n):\n    return True if n == 0 else odd(n - 1)\n"
        "@njit\ndef odd(n):\n    return False if n == 0 else even(n - 1)\n"
    )
    with pytest.raises(CompileError, match=r"call each other\. Make one of them a loop"):
        jit.load_generated(source, "circle").even(3)


def test_cache_option_is_refused() -> None:
    with pytest.raises(CompileError, match=r"caches every kernel that has a signature\. Leave it out"):
        jit.njit("int64()", cache=True)


def test_source_that_fails_leaves_no_module_behind(cache: Path) -> None:
    before = set(sys.modules)
    with pytest.raises(ZeroDivisionError):
        jit.load_generated("1 / 0", "failing")
    assert not [name for name in set(sys.modules) - before if "failing" in name]


@pytest.mark.parametrize(
    ("one", "other"),
    [(1, 1.0), (0.0, -0.0), ((1, 2), (1, 2.0)), (np.zeros(2), np.zeros(3)), (np.float32(1), np.float64(1)), (None, ())],
)
def test_different_constants_have_different_contents(one: object, other: object) -> None:
    assert value_text(one) != value_text(other)
    assert None not in {value_text(one), value_text(other)}


def test_numpy_and_math_are_content_by_name_and_other_objects_are_not() -> None:
    import math

    for value in (np, math, np.sqrt, math.sqrt, np.float64, np.sum, len):
        assert value_text(value)
    for value in ([], os, subprocess.run, object()):
        assert value_text(value) is None


class Spring(NamedTuple):
    stiffness: float
    ends: Floats


class Odd(NamedTuple):
    ends: list


@jit.njit("float64(Spring, int64)")
def stored_energy(spring, i):
    return 0.5 * spring.stiffness * spring.ends[i] ** 2


@jit.njit("float64(float64, float64[::1])")
def made_inside(stiffness, ends):
    return stored_energy(Spring(stiffness, ends), 1)


def test_named_tuples_stand_in_signatures_by_their_fields() -> None:
    ends = np.array([1.0, 3.0])
    assert stored_energy(Spring(2.0, ends), 1) == made_inside(2.0, ends) == 9.0


def test_a_field_that_no_signature_knows_is_named() -> None:
    with pytest.raises(CompileError, match="field 'ends' of Odd is annotated list"):
        jit.njit("void(Odd)")(lambda odd: Odd).compiled


# --- an edit of one kernel -----------------------------------------------------------------------------------------


def every_kernel() -> dict[int, Any]:
    """Return the kernels of the package, building blocks too, by their identity."""
    found = {}
    for module in pkgutil.walk_packages(zwang._numerics.__path__, "zwang._numerics."):
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, jit.Kernel):
                found[id(value)] = value
    return found


def read_by(code: types.CodeType) -> set[str]:
    """Return the names that a function reads, those inside it included."""
    inside = [const for const in code.co_consts if isinstance(const, types.CodeType)]
    return set(code.co_names).union(*map(read_by, inside)) if inside else set(code.co_names)


def reach(kernel: Any, known: dict[int, set[int]]) -> set[int]:
    """Return what a kernel calls, to any depth, itself included."""
    if id(kernel) not in known:
        scope = kernel.py_func.__globals__
        called = [scope[name] for name in read_by(kernel.py_func.__code__) if isinstance(scope.get(name), jit.Kernel)]
        known[id(kernel)] = {id(kernel)}.union(*(reach(item, known) for item in called if item is not kernel))
    return known[id(kernel)]


@contextlib.contextmanager
def edited(kernel: Any) -> Iterator[None]:
    """Let a kernel have another constant in the block."""
    before = kernel.py_func.__code__
    kernel.py_func.__code__ = before.replace(co_consts=(*before.co_consts, "another"))
    vars(kernel).pop("code_text", None)
    try:
        yield
    finally:
        kernel.py_func.__code__ = before
        vars(kernel).pop("code_text", None)


def test_an_edited_kernel_gives_its_callers_another_name_in_generated_modules_too_and_nothing_else_one() -> None:
    bar, chain = zw.compile(zw.gallery.get("ladder").system).kernels, n_four_bar(5).system
    large = zw.compile(chain).kernels
    mode = large.mode(ActiveSet(large.bilateral))
    generated = [bar.term_functions.module.one, large.model(()).module.one, *mode.functions.calls]
    every = [*(item for item in every_kernel().values() if item.signature is not None), *generated]
    known: dict[int, set[int]] = {}
    calls = {id(item): reach(item, known) for item in every}
    blocks = {
        number: item for number, item in every_kernel().items() if any(number in found for found in calls.values())
    }
    chosen = [ldl_factor, load, *list(blocks.values())[:: len(blocks) // 12]]
    before = [digest_of(item) for item in every]
    for kernel in chosen:
        with edited(kernel):
            after = [digest_of(item) for item in every]
        changed = [one != other for one, other in zip(before, after, strict=True)]
        assert changed == [id(kernel) in calls[id(item)] for item in every], kernel
        assert any(changed) and not all(changed)
    assert [digest_of(item) for item in every] == before
    assert id(ldl_factor) in calls[id(generated[1])] and id(ldl_factor) not in calls[id(generated[0])]
