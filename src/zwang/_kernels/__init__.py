"""Backends: from a system to kernels, behind one contract. A backend is a class with `name` and `build(system)`."""

from __future__ import annotations

import importlib

from zwang._kernels.terms import Backend, Kernels, Solved, SparseTerms, Terms, dense_terms
from zwang.errors import CompileError, nearest

_PLACES = {
    "reference": ("zwang._kernels.interpreted", "ReferenceBackend"),
    "native": ("zwang._kernels.native", "NativeBackend"),
    "batch": ("zwang._kernels.jax", "BatchBackend"),
}


def get_backend(name: str) -> Backend:
    """Return the backend of that name; it is imported now."""
    if name not in _PLACES:
        raise CompileError(f"There is no backend '{name}'. {nearest(str(name), _PLACES)}")
    module, kind = _PLACES[name]
    backend: Backend = getattr(importlib.import_module(module), kind)()
    return backend


__all__ = ["Backend", "Kernels", "Solved", "SparseTerms", "Terms", "dense_terms", "get_backend"]
