"""Every kernel of the package that has machine code of its own."""

from __future__ import annotations

import importlib
import pkgutil

import zwang._numerics
from zwang._numerics.jit.kernel import Kernel


def package_kernels() -> list[tuple[str, str]]:
    """Return module and name of each kernel with a signature: first those that others call, then the largest.

    Examples
    --------
    >>> ("zwang._numerics.tape", "run_tape") in package_kernels()
    True
    """
    found = []
    for module in pkgutil.walk_packages(zwang._numerics.__path__, "zwang._numerics."):
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, Kernel) and value.signature is not None and value.__module__ == module.name:
                found.append((not value.separate, -len(value.code.co_code), module.name, name))
    return [(module, name) for _, _, module, name in sorted(found)]
