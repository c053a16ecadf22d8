"""Impact problems that several tests use."""

from __future__ import annotations

import math

import numpy as np

from zwang._numerics.impacts import ImpactContact, ImpactProblem

ANGLE = math.pi / 3


def leaning_rod(e, mu=1.4, velocity=(-1.0, 0.0, 0.0), without_collision=True):
    """Uniform rod, m = l = 1, l half the length; J = 1/3; tip = (x - cos, y - sin)."""
    c, s = math.cos(ANGLE), math.sin(ANGLE)
    tip = ImpactContact([0, 1, -c], restitution=e, friction=mu, tangent=[1, 0, s], name="tip")
    return ImpactProblem(np.diag([1, 1, 1 / 3]), velocity, [tip], without_collision=without_collision)


def kanes_pendulum(e, mu):
    """Two uniform rods of 1 m and 1 kg at 20 and 30 degrees to the vertical, whose end meets a rough floor."""
    a, b = math.radians(20), math.radians(30)
    mass = [[4 / 3, 0.5 * math.cos(a - b)], [0.5 * math.cos(a - b), 1 / 3]]
    tip = ImpactContact(
        [math.sin(a), math.sin(b)], restitution=e, friction=mu, tangent=[math.cos(a), math.cos(b)], name="tip"
    )
    return ImpactProblem(mass, [-0.1, -0.2], [tip])


def random_mass(rng, n):
    a = rng.normal(size=(n, n))
    return a @ a.T + 0.3 * np.eye(n)


def random_problem(rng, *, contacts, components, e=None, n=5, mu=1.0):
    mass = random_mass(rng, n)
    items = [
        ImpactContact(
            rng.normal(size=n),
            restitution=rng.uniform(0, 1) if e is None else e,
            friction=mu * rng.uniform(0.05, 1.5),
            tangent=rng.normal(size=(components, n)),
        )
        for _ in range(contacts)
    ]
    rows = np.array([item.normal for item in items])
    velocity = rng.normal(size=n)
    velocity -= np.linalg.pinv(rows) @ (rows @ velocity + rng.uniform(0.2, 2.0, contacts))  # all of them close
    return ImpactProblem(mass, velocity, items)
