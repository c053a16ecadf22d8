"""Functions that run as machine code or as plain Python: the one door to Numba.

`njit` makes a kernel (`kernel`), `load_generated` a module of kernels from text (`generated`). Machine code is kept on
disk (`cache`) under a name that its content gives (`content`), in engines that can be freed (`machine_code`); kernels
call each other through symbols (`linked_symbols`) and compiled loops call models by address (`addresses`).

`ZWANG_NO_JIT=1` (or Numba's own NUMBA_DISABLE_JIT) runs everything as plain Python, `ZWANG_CACHE_DIR` names another
folder. Plain Python has the arithmetic of compiled code in generated source and in all functions of `math` (`total`);
in kernels written by hand a division of two Python floats by zero raises where compiled code gives inf: they test their
divisors.
"""

from zwang._numerics.jit.addresses import EVAL_TYPE, address, call_kernel, eval_type, with_addresses, with_functions
from zwang._numerics.jit.answers import answer, at_hand, meanwhile, tiered
from zwang._numerics.jit.cache import KernelWarning
from zwang._numerics.jit.generated import load_generated
from zwang._numerics.jit.kernel import Kernel, njit
from zwang._numerics.jit.named_tuples import EVAL_SIGNATURE
from zwang._numerics.jit.tiers import TIERS, Run, carried, long_from_here, only_tier, running, tier

__all__ = [
    "EVAL_SIGNATURE",
    "EVAL_TYPE",
    "TIERS",
    "Kernel",
    "KernelWarning",
    "Run",
    "address",
    "answer",
    "at_hand",
    "call_kernel",
    "carried",
    "eval_type",
    "load_generated",
    "long_from_here",
    "meanwhile",
    "njit",
    "only_tier",
    "running",
    "tier",
    "tiered",
    "with_addresses",
    "with_functions",
]
