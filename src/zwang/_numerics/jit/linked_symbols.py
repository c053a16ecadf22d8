"""Call one compiled kernel from another through a symbol, instead of taking its code in.

Numba links the code of a callee into each caller and optimizes the whole anew. That is right for a building block, and
costs seconds for a large kernel that every model calls. Here the caller gets a call of an external symbol, and the
symbol is bound to the address of the callee, compiled (or loaded from the cache) once. The machine code of the caller
holds the name and not the address, so it can be cached; the name holds the digest of the callee's content.
"""

from __future__ import annotations

import inspect
from typing import Any


def linked(dispatcher: Any, symbol: str) -> Any:
    """Return what a caller compiles in place of `dispatcher`, whose one signature is bound to `symbol` from now on."""
    from llvmlite import binding, ir
    from numba.extending import intrinsic

    (compiled,) = dispatcher.overloads.values()
    signature = compiled.signature
    binding.add_symbol(symbol, compiled.library.get_pointer_to_function(compiled.fndesc.llvm_cfunc_wrapper_name))

    def lower(context: Any, builder: Any, _: Any, values: Any) -> Any:
        # The C wrapper of a kernel takes and returns values as Numba lays them out, arrays included.
        types = [context.get_value_type(kind) for kind in signature.args]
        kind = ir.FunctionType(context.get_value_type(signature.return_type), types)
        return builder.call(builder.module.globals.get(symbol) or ir.Function(builder.module, kind, symbol), values)

    def call(_: Any, *arguments: Any) -> Any:
        return signature, lower

    # With one parameter for each argument Numba converts arguments as it does for any other function.
    names = [f"argument{i}" for i in range(len(signature.args) + 1)]
    parameters = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in names]
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return intrinsic(call)
