"""Kernels: from a system to functions that compute, all of them asked of one `Service`.

A backend is an object with a `name` and a method `build(system)`, which returns the service of a system: as a rule
`Service(system, dialect)`, where the dialect makes functions out of the graph (`outputs.Dialect`).
"""

from __future__ import annotations

import importlib
from typing import Protocol

from zwang._declare.system import System
from zwang._kernels.service import Service
from zwang._kernels.terms import Solved, SparseTerms, Terms, dense_terms
from zwang.errors import CompileError, DeclarationError, nearest

_PLACES = {
    "reference": ("zwang._kernels.interpreted", "ReferenceBackend"),
    "native": ("zwang._kernels.native", "NativeBackend"),
    "batch": ("zwang._kernels.jax", "BatchBackend"),
    "cuda": ("zwang._kernels.cuda", "CudaBackend"),
}


class Backend(Protocol):
    """One method: from a system to its kernels."""

    name: str

    def build(self, system: System) -> Service:
        """Return the kernels of a system."""


_REGISTERED: dict[str, Backend] = {}


def get_backend(name: str) -> Backend:
    """Return the backend of that name; it is imported now."""
    if name in _REGISTERED:
        return _REGISTERED[name]
    if name not in _PLACES:
        raise CompileError(f"There is no backend '{name}'. {nearest(str(name), {**_PLACES, **_REGISTERED})}")
    module, kind = _PLACES[name]
    backend: Backend = getattr(importlib.import_module(module), kind)()
    return backend


def register(backend: Backend) -> None:
    """Let every verb find a backend under its name."""
    name = getattr(backend, "name", None)
    if not isinstance(name, str) or not callable(getattr(backend, "build", None)):
        raise DeclarationError(
            f"register needs a backend, an object with a name and a method build(system); it was given {backend!r:.80}."
        )
    if name in _PLACES:
        raise DeclarationError(f"register: '{name}' is a backend of the package. Choose another name.")
    _REGISTERED[name] = backend


__all__ = ["Backend", "Service", "Solved", "SparseTerms", "Terms", "dense_terms", "get_backend", "register"]
