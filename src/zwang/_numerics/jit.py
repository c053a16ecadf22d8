"""The one door to Numba: compile on the first call, cache on disk by content, run as plain Python without Numba.

Three habits of Numba's own cache give wrong results without a word: a caller is not compiled again when a function
that it calls in another module has changed; a function that closes over a compiled one never finds its cache again;
and one whose globals were rebound comes back from the cache with the old ones, which may be another model's. So no
function of zwang is given to Numba as it stands. What Numba gets instead is made when it is first needed:

1. The *content* of a kernel is everything its machine code depends on: its signature and options, its bytecode and
   constants, the value of every global that it reads, and the same of every kernel that it calls, to any depth. A
   global that has no content (a plain function, an object, a module other than math, numpy and numba), or a variable
   of an enclosing function, is a CompileError. The sha256 of all this, of the versions of Python, NumPy, Numba and
   llvmlite, of the processor and of the settings of Numba names a file in the cache folder.
2. Numba compiles a copy of the function whose globals are a snapshot taken then. The machine code is kept in the file
   of that name (`cache_folder`), so a changed helper, constant or processor means another file: an old result can't be
   hit, and two processes that race for one file write the same.
3. Only kernels with a signature are cached, one signature per file. Give a signature to what is called from Python; a
   kernel without one is a building block, compiled into its callers for the types they use.

Generated modules and their machine code live as long as somebody has the module or a kernel of it, and no longer: they
are not in `sys.modules`, and each has an engine of its own (`machine_code`). Ctrl-C is held back while a kernel is
compiled, since LLVM's callbacks would lose it, and answered right after.

`ZWANG_NO_JIT=1` (or Numba's own NUMBA_DISABLE_JIT) runs everything as plain Python, `ZWANG_CACHE_DIR` names another
folder. Plain Python has the arithmetic of compiled code in generated source and in all functions of `math` (`total`);
in kernels written by hand a division of two Python floats by zero raises where compiled code gives inf: they test their
divisors.
"""

from __future__ import annotations

import contextlib
import dis
import functools
import hashlib
import importlib.util
import linecache
import math
import os
import re
import sys
import threading
import types
import warnings
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar, overload

import numpy as np

from zwang._interrupts import uninterrupted
from zwang._numerics import linking, machine_code
from zwang._numerics.cache_folder import KernelWarning, read_kernel, write_kernel
from zwang._numerics.total import TOTAL_NAMES, total_math, total_source
from zwang.errors import CompileError

P = ParamSpec("P")
R = TypeVar("R")

EVAL_SIGNATURE = "int64(float64, float64[::1], float64[::1], float64[::1], int64[::1], float64[::1], float64[::1])"
"""The type of every model's kernel: eval(t, q, v, params, int_table, workspace, out) -> status."""

EVAL_TYPE = f"FunctionType({EVAL_SIGNATURE})"
"""The same as an argument of a loop: @njit(f"int64({EVAL_TYPE}, float64, ...)"); pass it `model_eval.compiled`."""

_LOCK = threading.RLock()
_GENERATED: weakref.WeakValueDictionary[str, types.ModuleType] = weakref.WeakValueDictionary()
_TRANSPARENT = frozenset({"math", "cmath", "numpy", "numba", "builtins"})
_DEFAULTS: dict[str, Any] = {"error_model": "numpy", "nogil": True}


class Kernel(Generic[P, R]):
    """A function that Numba compiles at its first call, made by `njit`; `py_func` is the function as written.

    `restored` says whether its machine code was found on disk.
    """

    def __init__(self, func: Callable[P, R], signature: str | None, options: dict[str, Any]) -> None:
        functools.update_wrapper(self, func)
        self.separate = bool(options.pop("separate", False))
        self.py_func, self.signature, self.options = func, signature, options
        self._compiled: Callable[P, R] | None = None
        self._callee: Any = None
        self._made_of = ""
        self.restored = False

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return (self._compiled or self.compiled)(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<kernel {_name_of(self)}>"

    @property
    def compiled(self) -> Callable[P, R]:
        """Numba's dispatcher (or, without Numba, plain Python): pass this where a kernel is an argument."""
        if self._compiled is None:
            with _LOCK:
                if _numba() is None:
                    self._compiled = _plain(self.py_func)
                elif self._compiled is None:
                    self._made_of = _digest(self)
                    self._compiled = _build(self, self._made_of)
        return self._compiled

    @property
    def callee(self) -> Any:
        """What a kernel that calls this one is compiled with (where there is Numba)."""
        with _LOCK:
            if (digest := _digest(self)) != self._made_of:  # a global was rebound: the caller's name tells of the new
                self._made_of, self._compiled, self._callee = digest, None, None
            if self._callee is None and self.separate:
                compiled = self.compiled
                with uninterrupted():
                    self._callee = linking.linked(compiled, f"zwang_{self.py_func.__name__}_{digest}")
            elif self._callee is None and self.signature is None:  # for callers alone, not to be called by Python
                self._callee = _dispatcher(self, digest, no_cpython_wrapper=True, no_cfunc_wrapper=True)
            return self._callee or self.compiled


@overload
def njit(signature: Callable[P, R], /) -> Kernel[P, R]: ...


@overload
def njit(signature: str | None = None, /, **options: Any) -> Callable[[Callable[P, R]], Kernel[P, R]]: ...


def njit(signature: Any = None, /, **options: Any) -> Any:
    """Decorate a function so that Numba compiles it when it is first called (by Python, or by another kernel).

    Parameters
    ----------
    signature : str, optional
        Types of the result and arguments in Numba's words. With a signature the kernel is cached on disk and refuses
        other types; without one it is a building block of other kernels.
    **options
        Options of ``numba.njit`` beside ``cache``; by default ``error_model="numpy", nogil=True``. With
        ``separate=True`` kernels call this one, which must have a signature, through a symbol instead of taking its
        code in: for large kernels, which would take seconds to optimize anew in each caller.

    Examples
    --------
    >>> @njit("float64(float64[::1])")
    ... def total(values):
    ...     result = 0.0
    ...     for value in values:
    ...         result += value
    ...     return result
    >>> total(np.array([1.0, 2.0]))
    3.0
    """
    if callable(signature):
        return Kernel(signature, None, dict(_DEFAULTS))
    if "cache" in options:
        raise CompileError("njit: cache=... was given; zwang caches every kernel that has a signature. Leave it out.")
    if options.get("separate") and signature is None:
        raise CompileError("njit: separate=True needs a signature, by which callers know the types. Give one.")
    return lambda func: Kernel(func, signature, _DEFAULTS | options)


def eval_type() -> Any:
    """Return the type of every model's kernel as a ``numba.types.FunctionType`` (needs Numba)."""
    numba = _numba()
    if numba is None:
        raise CompileError("eval_type: Numba is not in use here. Install numba, and unset ZWANG_NO_JIT.")
    arguments, result = numba.core.sigutils.normalize_signature(EVAL_SIGNATURE)
    return numba.types.FunctionType(result(*arguments))


def load_generated(source: str, name: str) -> types.ModuleType:
    """Return the module that `source` makes; the same one for the same source, as long as somebody has it.

    Its kernels are cached by their content, like all others: an edited kernel of zwang is compiled again with what
    calls it, and nothing else is. The text is at hand for tracebacks and debuggers (`linecache`).

    Parameters
    ----------
    source : str
        Python source; it imports what it needs, `njit` included. No word of it is a user's.
    name : str
        What the name of the module starts with, one word for each kind of generated code.

    Examples
    --------
    >>> load_generated("answer = 42", "example").answer
    42
    """
    stem = f"{re.sub(r'[^A-Za-z0-9_]+', '_', name)}_{_sha(source, *_platform())[:16]}"
    module_name = f"zwang_generated_{stem}"
    with _LOCK:
        known = _GENERATED.get(module_name)
        if known is not None:
            return known
        module = types.ModuleType(module_name, f"Generated by zwang: {name}.")
        module.__file__ = f"<zwang {stem}>"
        _remember_text(module, source)
        text = source if _numba() is not None else total_source(source)
        scope = module.__dict__
        scope.update(TOTAL_NAMES if _numba() is None else {})
        scope["__zwang__"] = _Home(module)
        with _importable(module):  # another generated module may be imported
            exec(compile(text, module.__file__, "exec"), scope)
        _GENERATED[module_name] = module
    return module


class _Home:
    """Stands in the globals of a generated module: whoever has one of its kernels has it all, machine code included."""

    def __init__(self, module: types.ModuleType) -> None:
        self.module = module

    @functools.cached_property
    def engine(self) -> Any:
        return machine_code.new_engine()


def _remember_text(module: types.ModuleType, source: str) -> None:
    """Let tracebacks find the text of a generated module as long as it lives."""
    file = str(module.__file__)
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    weakref.finalize(module, linecache.cache.pop, file, None).atexit = False


@contextlib.contextmanager
def _importable(*modules: types.ModuleType) -> Iterator[None]:
    """Let generated modules be found by their names, as imports and Numba do, inside the block."""
    known = {module.__name__: module for module in (*_GENERATED.values(), *modules)}
    known = {name: module for name, module in known.items() if name not in sys.modules}
    sys.modules.update(known)
    try:
        yield
    finally:
        for name in known:
            sys.modules.pop(name, None)


# What a kernel is made of


def _name_of(kernel: Kernel[Any, Any]) -> str:
    return f"{kernel.py_func.__module__}.{kernel.py_func.__qualname__}"


def _code(kernel: Kernel[Any, Any]) -> types.CodeType:
    code: types.CodeType = kernel.py_func.__code__
    if code.co_freevars:
        raise CompileError(
            f"kernel {_name_of(kernel)} uses {', '.join(map(repr, code.co_freevars))} of an enclosing function, which "
            f"the cache can't see. Make it an argument, or a global of its module."
        )
    return code


def _globals_read(kernel: Kernel[Any, Any]) -> dict[str, Any]:
    """Return the globals that may be read, by name (attributes of the same name too, which does no harm)."""
    scope = kernel.py_func.__globals__
    names: set[str] = set()
    stack = [_code(kernel)]
    while stack:
        code = stack.pop()
        names.update(code.co_names)
        stack.extend(const for const in code.co_consts if isinstance(const, types.CodeType))
    return {name: scope[name] for name in sorted(names) if name in scope}


def _code_text(code: types.CodeType) -> str:
    consts = (_code_text(c) if isinstance(c, types.CodeType) else _value_text(c) for c in code.co_consts)
    parts = (code.co_code, code.co_names, code.co_varnames, code.co_cellvars, code.co_argcount, code.co_flags)
    return repr((*parts, code.co_kwonlyargcount, code.co_exceptiontable, *consts))


def _value_text(value: Any) -> str | None:
    """The content of a constant as text, None if it has none."""
    if value is None or value is ... or isinstance(value, bool | int | float | complex | str | bytes | np.generic):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, tuple | set | frozenset):
        texts = [_value_text(item) for item in value]
        ordered = texts if isinstance(value, tuple) else sorted(map(str, texts))
        return None if None in texts else f"{type(value).__name__} {ordered}"
    if isinstance(value, np.ndarray) and value.dtype != object:
        return f"array {value.dtype.str} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, types.ModuleType):
        return value.__name__ if value.__name__ in _TRANSPARENT else None
    home = getattr(value, "__module__", None) or type(value).__module__
    if callable(value) and str(home).partition(".")[0] in _TRANSPARENT:
        return f"{home} {getattr(value, '__qualname__', None) or getattr(value, '__name__', '')}"
    return None


def _content(kernel: Kernel[Any, Any], seen: dict[int, bool] | None = None) -> Iterator[str]:
    """Yield all that the machine code of a kernel depends on; `seen` are the kernels met, True while being listed."""
    name, code = _name_of(kernel), _code(kernel)
    seen = {} if seen is None else seen
    seen[id(kernel)] = True
    defaults = kernel.py_func.__defaults__
    options = sorted((key, _value_text(value) or repr(value)) for key, value in kernel.options.items())
    yield f"{name} {kernel.signature} {kernel.separate} {options} {defaults!r} {_code_text(code)}"
    for key, value in _globals_read(kernel).items():
        if isinstance(value, Kernel):
            yield f"{key} {_name_of(value)}"
            if value is not kernel and seen.get(id(value)):
                raise CompileError(f"kernels {name} and {_name_of(value)} call each other. Make one of them a loop.")
            if id(value) not in seen:
                yield from _content(value, seen)
        elif (text := _value_text(value)) is not None:
            yield f"{key} {text}"
        elif _reads(code, key):
            raise CompileError(
                f"kernel {name} uses the global '{key}' ({type(value).__name__}), whose content can't name a cache "
                f"file. Make it a number, a tuple, an array or an @njit kernel, or take it as an argument."
            )
    seen[id(kernel)] = False


def _digest(kernel: Kernel[Any, Any]) -> str:
    return _sha(*_content(kernel), *_platform())[:32]


def _reads(code: types.CodeType, name: str) -> bool:
    """Whether `name` is read as a global, not only as an attribute of that name."""
    if any(op.argval == name and op.opname in {"LOAD_GLOBAL", "LOAD_NAME"} for op in dis.get_instructions(code)):
        return True
    return any(_reads(const, name) for const in code.co_consts if isinstance(const, types.CodeType))


def _sha(*parts: str) -> str:
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(b"%d:" % len(data) + data)
    return digest.hexdigest()


@functools.cache
def _platform() -> tuple[str, ...]:
    """Versions, processor, Numba's settings, this module: code made under one set is never used under another."""
    numba = _numba()
    machinery = [Path(file).read_text(encoding="utf-8") for file in (__file__, linking.__file__, machine_code.__file__)]
    versions = [f"numpy {np.__version__}"]
    settings = [f"{k}={v}" for k, v in sorted(os.environ.items()) if k.startswith("NUMBA_") and "CACHE" not in k]
    if numba is not None:
        import llvmlite
        from llvmlite import binding

        versions += [f"numba {numba.__version__}", f"llvmlite {llvmlite.__version__}"]
        versions += [binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()]
    return (sys.version, sys.platform, *versions, *settings, *machinery)


# Compiling


@functools.cache
def _numba() -> Any:
    """Numba, imported now, or None where kernels run as plain Python."""
    if os.environ.get("ZWANG_NO_JIT", "0") not in {"", "0"}:
        return None
    try:
        import numba
    except ImportError as error:
        warnings.warn(
            f"Numba can't be imported ({error}): kernels run as plain Python, which is right but slow. Install numba.",
            KernelWarning,
            stacklevel=2,
        )
        return None
    return None if numba.config.DISABLE_JIT else numba


@functools.cache
def tier() -> str:
    """Return how kernels run in this process, 'compiled' or 'plain', without importing Numba for it."""
    off = any(os.environ.get(name, "0") not in {"", "0"} for name in ("ZWANG_NO_JIT", "NUMBA_DISABLE_JIT"))
    return "plain" if off or importlib.util.find_spec("numba") is None else "compiled"


def _plain(func: Callable[P, R]) -> Callable[P, R]:
    """Plain Python with the arithmetic of compiled code: see `total`."""
    if isinstance(func, types.FunctionType) and func.__globals__.get("math") is math:
        scope = {**func.__globals__, "math": total_math}
        func = functools.wraps(func)(types.FunctionType(func.__code__, scope, func.__name__, func.__defaults__))

    @functools.wraps(func)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        with np.errstate(all="ignore"):
            return func(*args, **kwargs)

    return call


def _build(kernel: Kernel[P, R], digest: str) -> Callable[P, R]:
    """Return a dispatcher with its code: from the disk, or compiled, written down and read back."""
    if kernel.signature is None:
        return _dispatcher(kernel, digest)
    name = f"{kernel.py_func.__name__}_{digest}"
    dispatcher: Any = _dispatcher(kernel, digest)  # its callees are compiled by now, each interruptible after the other
    dispatcher.py_func.__zwang__ = kernel  # whoever has the code has all that it calls
    home = kernel.py_func.__globals__.get("__zwang__")
    engine = None if home is None else home.engine
    with uninterrupted(), _importable():
        machine_code.free_engines()
        kept = read_kernel(name, digest)
        if kept is not None:
            with contextlib.suppress(Exception):  # of another make of Numba, say: it is compiled again
                machine_code.read_back(dispatcher, kept, engine)
                kernel.restored = True
        if not dispatcher.overloads:
            dispatcher = _compiled(kernel, dispatcher, engine, name, digest)
        dispatcher.disable_compile()
    return dispatcher  # type: ignore[no-any-return]


def _compiled(kernel: Kernel[Any, Any], fresh: Any, engine: Any, name: str, digest: str) -> Any:
    """Return a dispatcher with code that was compiled now and kept on disk."""
    dispatcher: Any = _dispatcher(kernel, digest)
    with machine_code.compiling_into(machine_code.new_engine()):
        dispatcher.compile(kernel.signature)
    data = machine_code.written_down(dispatcher)
    if data is None:
        return dispatcher
    write_kernel(name, digest, data)
    with contextlib.suppress(Exception):
        machine_code.read_back(fresh, data, engine)
        return fresh
    return dispatcher


def _dispatcher(kernel: Kernel[P, R], digest: str, **options: bool) -> Callable[P, R]:
    """Return Numba's dispatcher of a copy of the function, without code yet."""
    func = kernel.py_func
    used = _globals_read(kernel)
    scope = {k: v.callee if isinstance(v, Kernel) and v is not kernel else v for k, v in used.items()}
    scope["__name__"] = func.__module__
    copy = types.FunctionType(_code(kernel), scope, func.__name__, func.__defaults__)
    # Numba keeps what belongs to a function by its full name, in this process and in what is written down.
    copy.__qualname__, copy.__module__ = f"{func.__qualname__}_{digest}", func.__module__
    dispatcher = _numba().njit(**kernel.options, **options)(copy)
    scope.update({name: dispatcher for name, value in used.items() if value is kernel})
    return dispatcher  # type: ignore[no-any-return]
