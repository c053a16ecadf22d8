"""Compiling: from a declared system to a Model whose kernels answer for numbers."""

from __future__ import annotations

from zwang._compile.model import Model, compile

__all__ = ["Model", "compile"]
