"""Declaring a system: its coordinates, energies, forces and constraints, in SymPy."""

from __future__ import annotations

from zwang._declare.constraints import Bilateral, Friction, Unilateral
from zwang._declare.drawing import Drawing
from zwang._declare.guides import on_curve, on_surface
from zwang._declare.laws import Coulomb, Ellipse, Interval, law
from zwang._declare.model_files import load
from zwang._declare.switches import Event, Reset, Switch, reaction
from zwang._declare.symbols import coordinates, eps, inputs, parameters, rate, t
from zwang._declare.system import System

__all__ = [
    "Bilateral",
    "Coulomb",
    "Drawing",
    "Ellipse",
    "Event",
    "Friction",
    "Interval",
    "Reset",
    "Switch",
    "System",
    "Unilateral",
    "coordinates",
    "eps",
    "inputs",
    "law",
    "load",
    "on_curve",
    "on_surface",
    "parameters",
    "rate",
    "reaction",
    "t",
]
