"""Moreau and Jean's scheme on arrays: impulses over steps in place of forces at instants.

`block_layout` lays a system out once (bodies as blocks of the mass matrix, rows by contact, the pattern of W),
`kernels` are the parts of a step, `march` takes many steps in compiled code, `walker` binds it all and
calls the solvers of `contact` where sweeps don't do.
"""

from zwang._numerics.motion.moreau.block_layout import StepLayout, StepRow, step_layout
from zwang._numerics.motion.moreau.march import NOT_FINITE, STILL, UNDECLARED, UNSOLVED, WENT
from zwang._numerics.motion.moreau.walker import StepTerms, Walker

__all__ = [
    "NOT_FINITE",
    "STILL",
    "UNDECLARED",
    "UNSOLVED",
    "WENT",
    "StepLayout",
    "StepRow",
    "StepTerms",
    "Walker",
    "step_layout",
]
