"""Machine code that can be written down, read back and freed.

Numba has one execution engine for all functions, and what was once put into it stays there for the life of the process;
so do the passes that LLVM runs for each compilation, a megabyte a kernel, which llvmlite never frees. Here a kernel is
compiled in an engine of its own, written down (object code, as for a cache on disk), and read back into the engine of
the module it belongs to. The engine of the compilation goes at once, that of a module with the module. What belongs to
the package stays in Numba's own engine. Nothing runs where it is compiled: the kernels that another one takes in are
never turned into machine code of their own, which would take an eighth of the time, nor is their code optimized by
itself: the optimizer of the kernel goes through them before it takes them in, and once is enough.

An engine is given up to be freed at the next compilation, with signals held back: were LLVM called from a garbage
collection, a Ctrl-C in it would be lost.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import io
import pickle
import sys
from collections.abc import Iterator
from typing import Any

_GIVEN_UP: list[Any] = []


def _freed_passes() -> dict[type, type]:
    """Return class -> subclass that is freed, for the passes of llvmlite that are not: a base class hides the way."""
    from llvmlite.binding import ffi, newpassmanagers

    kinds = (newpassmanagers.ModulePassManager, newpassmanagers.FunctionPassManager)
    way = {"_dispose": newpassmanagers.NewPassManager._dispose}
    return {kind: type(kind.__name__, (kind,), way) for kind in kinds if kind._dispose is ffi.ObjectRef._dispose}


@functools.cache
def _engine_class() -> Any:
    """Return Numba's code generator, with passes that are freed after use."""
    from numba.core.codegen import JITCPUCodegen

    freed = _freed_passes()

    class Engine(JITCPUCodegen):
        def __del__(self) -> None:
            if not sys.is_finalizing():
                _GIVEN_UP.append(self.__dict__.get("_engine"))

        def _module_pass_manager(self, *args: Any, **options: Any) -> Any:
            return marked(super()._module_pass_manager(*args, **options))

        def _function_pass_manager(self, *args: Any, **options: Any) -> Any:
            return marked(super()._function_pass_manager(*args, **options))

    def marked(made: Any) -> Any:
        passes = made[0] if isinstance(made, tuple) else made
        passes.__class__ = freed.get(type(passes), type(passes))
        return made

    return Engine


@functools.cache
def _draft_class() -> Any:
    """Return a code generator in which nothing runs: machine code is made only of what is written down."""
    from numba.core.codegen import JITCodeLibrary

    class Library(JITCodeLibrary):
        def _optimize_final_module(self) -> None:
            if self.name == self._codegen.main:  # with all that it takes in
                super()._optimize_final_module()

        def get_pointer_to_function(self, name: str) -> int:
            self._ensure_finalized()
            if "cpython" not in name:  # the door for Python, which nobody goes through here
                raise RuntimeError(f"{name}: its address was asked for where it is compiled; it has none there.")
            return 0

        def _finalize_specific(self) -> None:
            pass

        def _get_compiled_object(self) -> Any:
            return self._codegen._tm.emit_object(self._final_module)

    class Draft(_engine_class()):  # type: ignore[misc]
        _library_class = Library
        main = ""

        def _add_module(self, module: Any) -> None:
            pass

        def set_env(self, env_name: str, env: Any) -> None:
            pass

    return Draft


def _context() -> Any:
    """Return Numba's context of this processor, ready for use."""
    from numba.core.registry import cpu_target
    from numba.core.runtime import rtsys

    context = cpu_target.target_context
    context.refresh()
    rtsys.initialize(context)  # now, since what it compiles must stay in Numba's own engine
    return context


def new_engine() -> Any:
    """Return an engine, alive as long as somebody has it, or code in it."""
    return _engine_class()("zwang")


def new_draft(main: str) -> Any:
    """Return an engine to compile in what is then written down, the function of this full name."""
    draft = _draft_class()("zwang")
    draft.main = main
    return draft


def free_engines() -> None:
    """Free the engines that nobody has any more, and all code in them."""
    _GIVEN_UP.clear()


@contextlib.contextmanager
def compiling_into(engine: Any) -> Iterator[None]:
    """Let what Numba compiles or loads in the block go into an engine; None: Numba's own."""
    from numba.core.compiler_lock import global_compiler_lock

    with global_compiler_lock:  # so that no other thread compiles meanwhile
        context = _context()
        before = context._internal_codegen
        context._internal_codegen = before if engine is None else engine
        try:
            yield
        finally:
            context._internal_codegen = before


@contextlib.contextmanager
def typed_once() -> Iterator[None]:
    """Let Numba find out once what an operation gives for operands of these types, not anew wherever it stands.

    It asks some twenty rules each time, in typing and again in lowering: a third of all compilation of generated code.
    What it finds depends on the types and on the flags of the function alone, which are an object of each compilation.
    """
    from numba.core import types
    from numba.core.targetconfig import ConfigStack
    from numba.core.types.functions import BaseFunction

    kinds = (types.Number, types.Boolean, types.Array)
    find = BaseFunction.get_call_type
    found: dict[Any, Any] = {}

    def look(function: Any, context: Any, args: Any, keywords: Any) -> Any:
        flags = ConfigStack.top_or_none()
        if keywords or flags is None or not all(isinstance(item, kinds) for item in args):
            return find(function, context, args, keywords)
        key = (function, context, tuple(args), id(flags))
        if key not in found:
            found[key] = find(function, context, args, keywords), flags  # held, so that its id stays its own
        return found[key][0]

    functions: Any = BaseFunction
    functions.get_call_type = look
    try:
        yield
    finally:
        functions.get_call_type = find


@contextlib.contextmanager
def without_collection() -> Iterator[None]:
    """Let no garbage be looked for in the block: Numba makes millions of objects that stay, a tenth of its time."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def written_down(dispatcher: Any) -> bytes | None:
    """Return the machine code of a dispatcher with one signature; None where it holds what can't be written."""
    from numba.core.serialize import dumps

    (compiled,) = dispatcher.overloads.values()
    if compiled.lifted or compiled.library.has_dynamic_globals:
        return None
    return bytes(dumps(compiled._reduce()))


class _Reader(pickle.Unpickler):
    """Reads environments without the modules they came from: what Numba remembers of a function must not hold them."""

    def find_class(self, module: str, name: str) -> Any:
        return _environment if name == "_rebuild_env" else super().find_class(module, name)


def _environment(module: str, constants: list[Any], name: str) -> Any:
    from numba.core.environment import Environment

    found = Environment({"__name__": module})
    found.consts[:] = constants
    found.env_name = name
    Environment._memo[name] = found  # where Numba looks for it when it compiles a caller
    return found


def read_back(dispatcher: Any, data: bytes, engine: Any) -> None:
    """Give a dispatcher the machine code that was written down, in an engine (None: Numba's own).

    The data are trusted: they were made in this process, or verified by `cache`.
    """
    from numba.core.compiler import CompileResult

    with compiling_into(engine):
        context = _context()
        compiled = CompileResult._rebuild(context, *_Reader(io.BytesIO(data)).load())
        context.insert_user_function(compiled.entry_point, compiled.fndesc, [compiled.library])
        dispatcher.add_overload(compiled)
