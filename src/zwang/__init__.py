"""zwang: constrained mechanical systems at the places where Lagrange's equations stop giving an answer.

A system is declared once, in SymPy, with a builder of linkages or in a model file, and every question can be asked of
it. Names are loaded when they are first used: ``import zwang as zw`` is quick and loads no compiler.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_PLACES = {
    "Bilateral": "zwang._declare",
    "Bodies": "zwang._bodies",
    "CompileError": "zwang.errors",
    "Contact": "zwang._numerics.contact.problem",
    "ContactProblem": "zwang._numerics.contact.problem",
    "Coulomb": "zwang._declare",
    "DeclarationError": "zwang.errors",
    "Drawing": "zwang._declare",
    "Ellipse": "zwang._declare",
    "Event": "zwang._declare",
    "Friction": "zwang._declare",
    "Held": "zwang._results.signals",
    "Interval": "zwang._declare",
    "Linkage": "zwang._linkage",
    "Model": "zwang._compile",
    "Reset": "zwang._declare",
    "StateError": "zwang.errors",
    "Stiffness": "zwang._realize",
    "Switch": "zwang._declare",
    "System": "zwang._declare",
    "Table": "zwang._results.signals",
    "Unilateral": "zwang._declare",
    "Viscosity": "zwang._realize",
    "ZwangError": "zwang.errors",
    "asymptotics": "zwang._asymptotics",
    "compile": "zwang._compile",
    "contact_problem": "zwang._reactions",
    "coordinates": "zwang._declare",
    "critical": "zwang._trace",
    "cycles": "zwang._cycles",
    "derive": "zwang._derive",
    "drive": "zwang._drive",
    "eps": "zwang._declare",
    "equilibria": "zwang._equilibria",
    "fit": "zwang._sensitivity",
    "from_sympy": "zwang._from_sympy",
    "guarantee": "zwang._guarantee",
    "hold": "zwang._reactions",
    "inputs": "zwang._declare",
    "law": "zwang._declare",
    "limit": "zwang._limit",
    "linearize": "zwang._linearize",
    "load": "zwang._declare",
    "load_result": "zwang._results.loading",
    "load_robot": "zwang._bodies",
    "lyapunov": "zwang._cycles",
    "on_curve": "zwang._declare",
    "on_surface": "zwang._declare",
    "parameters": "zwang._declare",
    "periodic": "zwang._cycles",
    "rate": "zwang._declare",
    "reaction": "zwang._declare",
    "reactions": "zwang._reactions",
    "realize": "zwang._realize",
    "recommend": "zwang._limit",
    "sampled": "zwang._sweep",
    "sensitivity": "zwang._sensitivity",
    "simulate": "zwang._simulate",
    "sweep": "zwang._sweep",
    "t": "zwang._declare",
    "trace": "zwang._trace",
    "view": "zwang.lab.notebook",
}
_MODULES = {
    "errors": "zwang.errors",
    "gallery": "zwang.gallery",
    "papers": "zwang.papers",
    "pictures": "zwang.pictures",
    "results": "zwang.results",
    "shapes": "zwang._declare.shapes",
}

__all__ = [
    "Bilateral",
    "Bodies",
    "CompileError",
    "Contact",
    "ContactProblem",
    "Coulomb",
    "DeclarationError",
    "Drawing",
    "Ellipse",
    "Event",
    "Friction",
    "Held",
    "Interval",
    "Linkage",
    "Model",
    "Reset",
    "StateError",
    "Stiffness",
    "Switch",
    "System",
    "Table",
    "Unilateral",
    "Viscosity",
    "ZwangError",
    "asymptotics",
    "compile",
    "contact_problem",
    "coordinates",
    "critical",
    "cycles",
    "derive",
    "drive",
    "eps",
    "equilibria",
    "errors",
    "fit",
    "from_sympy",
    "gallery",
    "guarantee",
    "hold",
    "inputs",
    "law",
    "limit",
    "linearize",
    "load",
    "load_result",
    "load_robot",
    "lyapunov",
    "on_curve",
    "on_surface",
    "papers",
    "parameters",
    "periodic",
    "pictures",
    "rate",
    "reaction",
    "reactions",
    "realize",
    "recommend",
    "results",
    "sampled",
    "sensitivity",
    "shapes",
    "simulate",
    "sweep",
    "t",
    "trace",
    "view",
]

if TYPE_CHECKING:
    from zwang import errors, gallery, papers, pictures, results
    from zwang._asymptotics import asymptotics
    from zwang._bodies import Bodies, load_robot
    from zwang._compile import Model, compile
    from zwang._cycles import cycles, lyapunov, periodic
    from zwang._declare import (
        Bilateral,
        Coulomb,
        Drawing,
        Ellipse,
        Event,
        Friction,
        Interval,
        Reset,
        Switch,
        System,
        Unilateral,
        coordinates,
        eps,
        inputs,
        law,
        load,
        on_curve,
        on_surface,
        parameters,
        rate,
        reaction,
        t,
    )
    from zwang._declare import shapes as shapes
    from zwang._derive import derive
    from zwang._drive import drive
    from zwang._equilibria import equilibria
    from zwang._from_sympy import from_sympy
    from zwang._guarantee import guarantee
    from zwang._limit import limit, recommend
    from zwang._linearize import linearize
    from zwang._linkage import Linkage
    from zwang._numerics.contact.problem import Contact, ContactProblem
    from zwang._reactions import contact_problem, hold, reactions
    from zwang._realize import Stiffness, Viscosity, realize
    from zwang._results.loading import load_result
    from zwang._results.signals import Held, Table
    from zwang._sensitivity import fit, sensitivity
    from zwang._simulate import simulate
    from zwang._sweep import sampled, sweep
    from zwang._trace import critical, trace
    from zwang.errors import CompileError, DeclarationError, StateError, ZwangError

    def view(shown: Any, state: Any = None, params: Any = None, **options: Any) -> Any:
        """Return what a notebook shows; it lives above the papers, which import this module."""


if os.environ.get("ZWANG_LOG"):
    importlib.import_module("zwang._logs").show_log_as_asked()


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        value = getattr(importlib.import_module(_PLACES[name]), name)
    elif name in _MODULES:
        value = importlib.import_module(_MODULES[name])
    else:
        raise AttributeError(f"module 'zwang' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
