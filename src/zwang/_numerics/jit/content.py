"""What the machine code of a kernel depends on, as text, and the digest that names its file on disk.

The content of a kernel is its signature and options, its bytecode and constants, the value of every global that it
reads, and the same of every kernel that it calls, to any depth; nothing else: not its docstring or comments, not the
file that it stands in, not the text of this package. A global that has no content (a plain function, an object, a
module other than math, numpy and numba), or a variable of an enclosing function, is a CompileError.
"""

from __future__ import annotations

import dis
import functools
import hashlib
import os
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from zwang._numerics.jit.named_tuples import fields_text, named_in
from zwang.errors import CompileError

FORM = 1
"""Of the machine code: to be raised when what is asked of Numba changes in a way that no kernel's content tells."""

_TRANSPARENT = frozenset({"math", "cmath", "numpy", "numba", "builtins"})


class Routine:
    """A function with what it is compiled for.

    `lowering` is the function that writes the calls of this one into its callers, where Numba doesn't.
    """

    def __init__(self, func: Callable[..., Any], signature: str | None, options: dict[str, Any]) -> None:
        self.separate = bool(options.pop("separate", False))
        self.py_func, self.signature, self.options = func, signature, options
        self.lowering: Callable[..., Any] | None = None

    @property
    def named(self) -> dict[str, Any]:
        """The NamedTuples in its signature."""
        return named_in(self.py_func, self.signature)

    @property
    def code(self) -> types.CodeType:
        """The bytecode of the function, which must read nothing of an enclosing one."""
        code: types.CodeType = self.py_func.__code__
        if code.co_freevars:
            raise CompileError(
                f"kernel {full_name(self)} uses {', '.join(map(repr, code.co_freevars))} of an enclosing function, "
                f"which the cache can't see. Make it an argument, or a global of its module."
            )
        return code

    @functools.cached_property
    def code_text(self) -> str:
        """The bytecode and its constants as text, without the docstring."""
        return _code_text(self.code, self.py_func.__doc__)

    @property
    def generated(self) -> Any:
        """What stands for the generated module that the function belongs to; None: it is of the package."""
        return self.py_func.__globals__.get("__zwang__")


def full_name(routine: Routine) -> str:
    """Return the name of a kernel for people."""
    return f"{routine.py_func.__module__}.{routine.py_func.__qualname__}"


def globals_read(routine: Routine) -> dict[str, Any]:
    """Return the globals that may be read, by name (attributes of the same name too, which does no harm)."""
    scope = routine.py_func.__globals__
    names: set[str] = set()
    stack = [routine.code]
    while stack:
        code = stack.pop()
        names.update(code.co_names)
        stack.extend(const for const in code.co_consts if isinstance(const, types.CodeType))
    return {name: scope[name] for name in sorted(names) if name in scope}


def digest_of(routine: Routine) -> str:
    """Return the name of the machine code of a kernel, of its content and of the platform."""
    return sha(*_content(routine), *_platform())[:32]


def sha(*parts: str) -> str:
    """Return one hexadecimal number of several texts."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(b"%d:" % len(data) + data)
    return digest.hexdigest()


def value_text(value: Any) -> str | None:
    """Return the content of a constant as text, None if it has none."""
    if value is None or value is ... or isinstance(value, bool | int | float | complex | str | bytes | np.generic):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, tuple | set | frozenset):
        texts = [value_text(item) for item in value]
        ordered = texts if isinstance(value, tuple) else sorted(map(str, texts))
        return None if None in texts else f"{_kind(value)} {ordered}"
    if isinstance(value, np.ndarray) and value.dtype != object:
        return f"array {value.dtype.str} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, types.ModuleType):
        return value.__name__ if value.__name__ in _TRANSPARENT else None
    if isinstance(value, type) and issubclass(value, tuple) and (fields := getattr(value, "_fields", None)) is not None:
        return f"NamedTuple {value.__name__} {fields}"
    home = getattr(value, "__module__", None) or type(value).__module__
    if callable(value) and str(home).partition(".")[0] in _TRANSPARENT:
        return f"{home} {getattr(value, '__qualname__', None) or getattr(value, '__name__', '')}"
    return None


def _kind(value: Any) -> str:
    """Return the name of a tuple's or set's class, with the names of its fields where it has some."""
    fields = getattr(type(value), "_fields", None)
    return type(value).__name__ if fields is None else f"{type(value).__name__} {fields}"


def _label(routine: Routine) -> str:
    """Return what tells a kernel from others of the same content: the name of a generated module, which has its text.

    Kernels of the package need nothing: those of one content are one, wherever they stand.
    """
    func = routine.py_func
    return func.__qualname__ if routine.generated is None else f"{func.__module__}.{func.__qualname__}"


def _code_text(code: types.CodeType, documentation: str | None = None) -> str:
    consts = list(code.co_consts)
    if documentation is not None and consts and consts[0] == documentation and not _loads_first(code):
        consts[0] = None
    texts = (_code_text(c) if isinstance(c, types.CodeType) else value_text(c) for c in consts)
    parts = (code.co_code, code.co_names, code.co_varnames, code.co_cellvars, code.co_argcount, code.co_flags)
    return repr((*parts, code.co_kwonlyargcount, code.co_exceptiontable, *texts))


def _loads_first(code: types.CodeType) -> bool:
    """Whether the first constant, where a docstring stands, is used."""
    ops, args = code.co_code[::2], code.co_code[1::2]
    longer = dis.EXTENDED_ARG  # before an instruction: its argument is larger than a byte
    return any(
        arg == 0 and op in dis.hasconst and not (k and ops[k - 1] == longer)
        for k, (op, arg) in enumerate(zip(ops, args, strict=True))
    )


def _content(routine: Routine, seen: dict[int, bool] | None = None) -> Iterator[str]:
    """Yield all that the machine code of a kernel depends on; `seen` are the kernels met, True while being listed."""
    name, code = full_name(routine), routine.code
    seen = {} if seen is None else seen
    seen[id(routine)] = True
    func = routine.py_func
    options = sorted((key, value_text(value) or repr(value)) for key, value in routine.options.items())
    yield from (fields_text(kind) for kind in routine.named.values())
    head = f"{_label(routine)} {routine.signature} {routine.separate} {options} {func.__defaults__!r}"
    yield f"{head} {routine.code_text}"
    if routine.lowering is not None:
        yield _code_text(routine.lowering.__code__)
    for key, value in globals_read(routine).items():
        if isinstance(value, Routine):
            yield f"{key} {_label(value)}"
            if value is not routine and seen.get(id(value)):
                raise CompileError(f"kernels {name} and {full_name(value)} call each other. Make one of them a loop.")
            if id(value) not in seen:
                yield from _content(value, seen)
        elif (text_of_value := value_text(value)) is not None:
            yield f"{key} {text_of_value}"
        elif _reads(code, key):
            raise CompileError(
                f"kernel {name} uses the global '{key}' ({type(value).__name__}), whose content can't name a cache "
                f"file. Make it a number, a tuple, an array or an @njit kernel, or take it as an argument."
            )
    seen[id(routine)] = False


def _reads(code: types.CodeType, name: str) -> bool:
    """Whether `name` is read as a global, not only as an attribute of that name."""
    if any(op.argval == name and op.opname in {"LOAD_GLOBAL", "LOAD_NAME"} for op in dis.get_instructions(code)):
        return True
    return any(_reads(const, name) for const in code.co_consts if isinstance(const, types.CodeType))


@functools.cache
def _platform() -> tuple[str, ...]:
    """Versions, processor, Numba's settings: code made under one set is never used under another."""
    import llvmlite
    import numba
    from llvmlite import binding

    versions = [f"numpy {np.__version__}", f"numba {numba.__version__}", f"llvmlite {llvmlite.__version__}"]
    settings = [f"{k}={v}" for k, v in sorted(os.environ.items()) if k.startswith("NUMBA_") and "CACHE" not in k]
    processor = (binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten())
    return (f"form {FORM}", sys.version, sys.platform, *versions, *processor, *settings)
