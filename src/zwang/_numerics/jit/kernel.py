"""`njit`: a function that Numba compiles at its first call, or that runs as plain Python.

Three habits of Numba's own cache give wrong results without a word: a caller is not compiled again when a function
that it calls in another module has changed; a function that closes over a compiled one never finds its cache again;
and one whose globals were rebound comes back from the cache with the old ones, which may be another model's. So no
function of zwang is given to Numba as it stands. What Numba gets instead is made when it is first needed:

1. The content of a kernel and the platform (`content`) have a digest, which names a file in the cache folder.
2. Numba compiles a copy of the function whose globals are a snapshot taken then. The machine code is kept in the file
   of that name (`cache`), so a changed helper, constant or processor means another file: an old result can't be hit,
   and two processes that race for one file write the same.
3. Only kernels with a signature are cached, one signature per file. Give a signature to what is called from Python; a
   kernel without one is a building block, compiled into its callers for the types they use.

Ctrl-C is held back while a kernel is compiled, since LLVM's callbacks would lose it, and answered right after.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import threading
import types
import warnings
import weakref
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar, overload

import numpy as np

from zwang._interrupts import uninterrupted
from zwang._numerics.jit import machine_code
from zwang._numerics.jit.cache import KernelWarning, alone, read_kernel, write_kernel
from zwang._numerics.jit.content import Routine, digest_of, full_name, globals_read
from zwang._numerics.jit.linked_symbols import linked
from zwang._numerics.jit.named_tuples import typed
from zwang._numerics.jit.notices import compiling
from zwang._numerics.jit.tiers import PLAIN, NotReady, TooLong, current, only_tier
from zwang._numerics.total import total_math
from zwang.errors import CompileError

P = ParamSpec("P")
R = TypeVar("R")

LOCK = threading.RLock()
"""Held while kernels and generated modules are made."""

_MADE: weakref.WeakValueDictionary[str, Kernel[Any, Any]] = weakref.WeakValueDictionary()
OFF = ("ZWANG_NO_JIT", "NUMBA_DISABLE_JIT")
_DEFAULTS: dict[str, Any] = {"error_model": "numpy", "nogil": True}
_HOME = "zwang._numerics.jit"
"""The module that Numba is told for every kernel: its code is the same wherever the function stands."""


class Kernel(Routine, Generic[P, R]):
    """A function that runs as machine code or as plain Python, as the tier of the call says; made by `njit`.

    `py_func` is the function as written; `restored` says whether its machine code was found on disk.
    """

    def __init__(self, func: Callable[P, R], signature: str | None, options: dict[str, Any]) -> None:
        functools.update_wrapper(self, func)
        super().__init__(func, signature, options)
        if self.separate:
            self.lowering = linked
        self._compiled: Callable[P, R] | None = None
        self._plain: Callable[P, R] | None = None
        self._counted: Callable[P, R] | None = None
        self._callee: Any = None
        self._made_of = ""
        self.place: tuple[Any, Any] | None = None  # of which machine code, and where: see `addresses`
        self.restored = False

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.entry(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<kernel {full_name(self)}>"

    @property
    def entry(self) -> Callable[P, R]:
        """What runs in the tier of this call: pass this where a kernel is an argument."""
        run = current()
        if run.tier == PLAIN:
            if run.meet is not None:
                run.meet(self)
            return self._plain or self.plain
        return self._compiled or self.compiled

    @property
    def plain(self) -> Callable[P, R]:
        """Plain Python with the arithmetic of compiled code, to be called by Python: see `total`."""
        if self._plain is None:
            self._plain = _silent(self.counted)
        return self._plain

    @property
    def counted(self) -> Callable[P, R]:
        """The same to be called by other plain kernels."""
        if self._counted is None:
            with LOCK:
                if self._counted is None:
                    _count(self)
        assert self._counted is not None
        return self._counted

    @property
    def compiled(self) -> Callable[P, R]:
        """Numba's dispatcher; plain Python where Numba can't be imported."""
        if self._compiled is None:
            with LOCK:
                if numba_in_use() is None:
                    self._compiled = self.plain
                elif self._compiled is None:
                    self._remember(digest_of(self))
                    twin = self._twin()
                    self._compiled = _build(self, self._made_of) if twin is self else twin.compiled
        return self._compiled

    @property
    def callee(self) -> Any:
        """What a kernel that calls this one is compiled with (where there is Numba)."""
        with LOCK:
            if (digest := digest_of(self)) != self._made_of:  # a global was rebound: the caller's name tells of the new
                self._remember(digest)
            if self._callee is None and (twin := self._twin()) is not self:
                self._callee = twin.callee
            elif self._callee is None and self.separate:
                compiled = self.compiled
                with uninterrupted():
                    self._callee = linked(compiled, f"zwang_{self.py_func.__name__}_{digest}")
            elif self._callee is None and self.signature is None:  # for callers alone, not to be called by Python
                self._callee = _dispatcher(self, digest, no_cpython_wrapper=True, no_cfunc_wrapper=True)
            return self._callee or self.compiled

    def _remember(self, digest: str) -> None:
        self._made_of, self._compiled, self._callee = digest, None, None
        if self.generated is None:
            _MADE.setdefault(digest, self)

    def _twin(self) -> Kernel[P, R]:
        """Return the kernel of the package whose code this one takes: of two with one content the first, else itself.

        Machine code knows functions by their content, and no two of one name may be in one engine.
        """
        found = _MADE.get(self._made_of, self) if self.generated is None else self
        return found if found._made_of == self._made_of else self


@overload
def njit(signature: Callable[P, R], /) -> Kernel[P, R]: ...


@overload
def njit(signature: str | None = None, /, **options: Any) -> Callable[[Callable[P, R]], Kernel[P, R]]: ...


def njit(signature: Any = None, /, **options: Any) -> Any:
    """Decorate a function so that Numba compiles it when it is first called (by Python, or by another kernel).

    Parameters
    ----------
    signature : str, optional
        Types of the result and arguments in Numba's words, or the names of NamedTuples (see `named_tuples`). With a
        signature the kernel is cached on disk and refuses other types; without one it is a building block of others.
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


@functools.cache
def numba_in_use() -> Any:
    """Numba, imported now, or None where kernels run as plain Python."""
    if only_tier() == PLAIN and any(os.environ.get(name, "0") not in {"", "0"} for name in OFF):
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


def _count(kernel: Kernel[Any, Any]) -> None:
    """Give a kernel its plain function, which counts its calls and calls plain functions alone."""
    func = kernel.py_func if kernel.generated is None else kernel.generated.plain_function(kernel.py_func)
    scope = dict(func.__globals__)
    if scope.get("math") is math:
        scope["math"] = total_math
    copy = types.FunctionType(func.__code__, scope, func.__name__, func.__defaults__, func.__closure__)
    weight = len(func.__code__.co_code) // 2

    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        run = current()
        run.left -= weight
        if run.left < 0:
            raise TooLong
        return copy(*args, **kwargs)

    kernel._counted = call  # before those it calls, of which it may be one
    for name in func.__code__.co_names:
        if isinstance(value := scope.get(name), Kernel):
            scope[name] = value.counted


def _silent(func: Callable[P, R]) -> Callable[P, R]:
    """Let a plain function run without NumPy's warnings, as compiled code does."""

    @functools.wraps(func)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        run = current()
        if run.inside:
            return func(*args, **kwargs)
        run.inside = True
        try:
            with np.errstate(all="ignore"):
                return func(*args, **kwargs)
        finally:
            run.inside = False

    return call


def _build(kernel: Kernel[P, R], digest: str) -> Callable[P, R]:
    """Return a dispatcher with its code: from the disk, or compiled, written down and read back."""
    if kernel.signature is None:
        return _dispatcher(kernel, digest)
    name = f"{kernel.py_func.__name__}_{digest}"
    dispatcher: Any = _dispatcher(kernel, digest)  # its callees are compiled by now, each interruptible after the other
    dispatcher.py_func.__zwang__ = kernel  # whoever has the code has all that it calls
    engine = None if kernel.generated is None else kernel.generated.engine
    with uninterrupted():
        machine_code.free_engines()
        if not _restored(kernel, dispatcher, engine, name, digest):
            if kernel.generated is None and not current().patient:
                raise NotReady(full_name(kernel))
            with alone(name):
                if not _restored(kernel, dispatcher, engine, name, digest):  # by another process, meanwhile
                    dispatcher = _compiled(kernel, dispatcher, engine, name, digest)
        dispatcher.disable_compile()
    return dispatcher  # type: ignore[no-any-return]


def _restored(kernel: Kernel[Any, Any], dispatcher: Any, engine: Any, name: str, digest: str) -> bool:
    """Give a dispatcher its code from the disk, if it is there."""
    kept = read_kernel(name, digest)
    if kept is not None:
        with contextlib.suppress(Exception):  # of another make of Numba, say: it is compiled again
            machine_code.read_back(dispatcher, kept, engine)
            kernel.restored = True
    return bool(dispatcher.overloads)


def _compiled(kernel: Kernel[Any, Any], fresh: Any, engine: Any, name: str, digest: str) -> Any:
    """Return a dispatcher with code that was compiled now and kept on disk."""
    draft = machine_code.new_draft(f"{kernel.py_func.__qualname__}_{digest}")
    data = machine_code.written_down(_compiled_in(draft, kernel, digest))
    if data is not None:
        write_kernel(name, digest, data)
        with contextlib.suppress(Exception):
            machine_code.read_back(fresh, data, engine)
            return fresh
    return _compiled_in(machine_code.new_engine(), kernel, digest)


def _compiled_in(engine: Any, kernel: Kernel[Any, Any], digest: str) -> Any:
    """Return a dispatcher that was compiled now, in an engine."""
    dispatcher: Any = _dispatcher(kernel, digest)
    into = machine_code.compiling_into(engine)
    told = compiling(current().words, own=kernel.generated is not None)
    with told, into, machine_code.typed_once(), machine_code.without_collection():
        dispatcher.compile(typed(str(kernel.signature), kernel.named) if kernel.named else kernel.signature)
    return dispatcher


def _dispatcher(kernel: Kernel[P, R], digest: str, **options: bool) -> Callable[P, R]:
    """Return Numba's dispatcher of a copy of the function, without code yet."""
    func = kernel.py_func
    used = globals_read(kernel)
    scope = {k: v.callee if isinstance(v, Kernel) and v is not kernel else v for k, v in used.items()}
    scope["__name__"] = _HOME
    copy = types.FunctionType(kernel.code, scope, func.__name__, func.__defaults__)
    # Numba keeps what belongs to a function by its full name, in this process and in what is written down.
    copy.__qualname__, copy.__module__ = f"{func.__qualname__}_{digest}", _HOME
    dispatcher = numba_in_use().njit(**kernel.options, **options)(copy)
    scope.update({name: dispatcher for name, value in used.items() if value is kernel})
    return dispatcher  # type: ignore[no-any-return]
