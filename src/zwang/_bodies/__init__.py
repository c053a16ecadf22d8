"""The builder of mechanisms in space: bodies, joints, shapes and contacts become a `System`."""

from __future__ import annotations

from zwang._bodies.builder import Bodies, built, rebuilt
from zwang._bodies.placement import BodyPose
from zwang._bodies.robots import Robot, load_robot

__all__ = ["Bodies", "BodyPose", "Robot", "built", "load_robot", "rebuilt"]
