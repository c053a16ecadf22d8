"""Models' kernels called by their address: what a compiled loop takes for any model.

Numba can take functions as arguments, but looks each of them up anew at every call from Python, 60 microseconds for
each; an address is a number. `address(kernel)` gives it, `call_kernel` calls it inside compiled code. Keep the kernel
alive as long as its address is in use. Without Numba the "address" is the function itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from zwang._numerics.jit.kernel import Kernel, numba_in_use
from zwang._numerics.jit.named_tuples import EVAL_SIGNATURE
from zwang._numerics.jit.tiers import PLAIN, current
from zwang.errors import CompileError

EVAL_TYPE = f"FunctionType({EVAL_SIGNATURE})"
"""The same as an argument of a loop: @njit(f"int64({EVAL_TYPE}, float64, ...)"); pass it `model_eval.compiled`."""


class _Caller(Kernel[Any, Any]):
    """A kernel for other kernels alone, which is lowered to a call of an address."""

    @property
    def callee(self) -> Any:
        """What compiled code calls."""
        if self._callee is None:
            self._callee = _intrinsic()
        return self._callee


def _intrinsic() -> Any:
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    signature = eval_type().signature

    def lower(context: Any, builder: Any, _: Any, values: Any) -> Any:
        # The C wrapper of a kernel takes and returns values as Numba lays them out, arrays included.
        kinds = [context.get_value_type(kind) for kind in signature.args]
        function = ir.FunctionType(context.get_value_type(signature.return_type), kinds)
        return builder.call(builder.inttoptr(values[0], function.as_pointer()), values[1:])

    @intrinsic
    def call(_, place, t, q, v, params, table, work, out):  # type: ignore[no-untyped-def]
        return signature.return_type(types.int64, *signature.args), lower

    return call


def eval_type() -> Any:
    """Return the type of every model's kernel as a ``numba.types.FunctionType`` (needs Numba)."""
    numba = numba_in_use()
    if numba is None:
        raise CompileError("eval_type: Numba is not in use here. Install numba, and unset ZWANG_NO_JIT.")
    arguments, result = numba.core.sigutils.normalize_signature(EVAL_SIGNATURE)
    return numba.types.FunctionType(result(*arguments))


def _plain(place: Any, t: Any, q: Any, v: Any, params: Any, table: Any, work: Any, out: Any) -> Any:
    return place(t, q, v, params, table, work, out)


call_kernel = _Caller(_plain, None, {"signature": EVAL_SIGNATURE})
call_kernel.lowering = _intrinsic
"""call_kernel(address, t, q, v, params, int_table, workspace, out) -> status, inside compiled code."""


def address(kernel: Kernel[Any, Any]) -> Any:
    """Return the address of a model's kernel; in the plain tier the function itself."""
    run = current()
    if run.tier == PLAIN:
        if run.meet is not None:
            run.meet(kernel)
        return kernel.counted
    dispatcher: Any = kernel.compiled
    if kernel.place is None or kernel.place[0] is not dispatcher:
        kernel.place = (dispatcher, _place_of(dispatcher) if hasattr(dispatcher, "overloads") else kernel.counted)
    return kernel.place[1]


def _place_of(dispatcher: Any) -> int:
    (compiled,) = dispatcher.overloads.values()
    return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_cfunc_wrapper_name))


def with_functions(loop: Kernel[..., Any], *functions: Any) -> Callable[..., Any]:
    """Return a loop that is given functions of a model; it runs as plain Python where one of them is no kernel."""
    if all(isinstance(function, Kernel) for function in functions):
        return partial(loop, *(function.entry for function in functions))
    return partial(loop.plain, *functions)


def with_addresses(loop: Kernel[..., Any], *functions: Any, pack: Any = None) -> Callable[..., Any]:
    """Return a loop that is given functions of a model by address, packed into a NamedTuple; see `with_functions`."""
    coded = all(isinstance(function, Kernel) for function in functions)
    places = [address(function) for function in functions] if coded else functions
    return partial(loop if coded else loop.plain, *(places if pack is None else [pack(*places)]))
