"""Random planar contact problems by family, each from a seed."""

from __future__ import annotations

import numpy as np

from zwang._numerics.contact.problem import Contact, ContactProblem


def spd(rng, n):
    root = rng.normal(size=(n, n))
    return root @ root.T / n + 0.5 * np.eye(n)


def generic(rng, *, rest, bilateral=0.0, biased=0.3, most=3):
    """Independent rows; `rest` and `bilateral` are the probabilities of a contact to be so."""
    k = int(rng.integers(1, most + 1))
    n = 2 * k + int(rng.integers(0, 2))
    contacts = []
    for _ in range(k):
        bias = rng.random() < biased
        contacts.append(
            Contact(
                rng.normal(size=n),
                tangent=rng.normal(size=n),
                friction=float(rng.choice([0.0, 0.3, 1.0, 2.0], p=[0.1, 0.3, 0.3, 0.3])),
                bias=rng.normal() if bias else 0.0,
                tangent_bias=rng.normal() if bias else 0.0,
                bilateral=bool(rng.random() < bilateral),
                slip=0.0 if rng.random() < rest else rng.choice([-1.0, 1.0]),
            )
        )
    return ContactProblem(spd(rng, n), 2 * rng.normal(size=n), contacts)


def body(rng, *, rest=1.0, bilateral=0.0, most=3):
    """One rigid body in the plane: three coordinates, so that two sticking contacts are redundant already."""
    k = int(rng.integers(1, most + 1))
    contacts = []
    for _ in range(k):
        angle, (x, y) = rng.choice([0.0, 0.0, np.pi / 2, rng.uniform(0, 6.28)]), rng.normal(size=2)
        c, s = np.cos(angle), np.sin(angle)
        contacts.append(
            Contact(
                [-s, c, x * c + y * s],
                tangent=[c, s, x * s - y * c],
                friction=float(rng.choice([0.2, 0.5, 1.5])),
                bilateral=bool(rng.random() < bilateral),
                slip=0.0 if rng.random() < rest else rng.choice([-1.0, 1.0]),
                bias=rng.normal() if rng.random() < 0.2 else 0.0,
            )
        )
    mass, force = np.diag([1.0, 1.0, rng.uniform(0.2, 1.0)]), [0.5 * rng.normal(), -1.0, rng.normal()]
    return ContactProblem(mass, force, contacts)


def dependent(rng, *, rest=0.5, bilateral=0.0):
    """Normals and tangents from a small pool: equal, opposite, dependent rows (multiples of 2**-20: sums are exact)."""
    n, k = 3, int(rng.integers(2, 4))
    pool = np.round(rng.normal(size=(2, n)) * 2.0**20) / 2.0**20
    contacts = []
    for _ in range(k):
        tangent = pool[rng.integers(2)] if rng.random() < 0.3 else rng.normal(size=n)
        contacts.append(
            Contact(
                rng.choice([1.0, 1.0, -1.0]) * pool[0] + (rng.random() < 0.3) * pool[1],
                tangent=tangent,
                friction=float(rng.choice([0.3, 1.0])),
                bilateral=bool(rng.random() < bilateral),
                slip=0.0 if rng.random() < rest else rng.choice([-1.0, 1.0]),
            )
        )
    return ContactProblem(spd(rng, n), rng.normal(size=n), contacts)


def integers(rng, *, rest=0.6, bilateral=0.2):
    """Small integers: exact ties, zero forces, boundaries between modes."""
    n, k = int(rng.integers(2, 4)), int(rng.integers(1, 4))
    contacts = []
    for _ in range(k):
        normal = rng.integers(-1, 2, size=n)
        if not normal.any():
            normal[0] = 1
        contacts.append(
            Contact(
                normal,
                tangent=rng.integers(-1, 2, size=n),
                friction=float(rng.choice([0.0, 0.5, 1.0])),
                bias=float(rng.choice([0, 0, 0, 1, -1])),
                tangent_bias=float(rng.choice([0, 0, 0, 1])),
                bilateral=bool(rng.random() < bilateral),
                slip=0.0 if rng.random() < rest else rng.choice([-1.0, 1.0]),
            )
        )
    return ContactProblem(np.eye(n), rng.integers(-2, 3, size=n), contacts)


def tresca(rng):
    """Given normal forces beside unknown ones."""
    k = int(rng.integers(1, 4))
    n = int(rng.integers(2, 2 * k + 2))
    contacts = []
    for _ in range(k):
        given = rng.random() < 0.6
        contacts.append(
            Contact(
                None if given and rng.random() < 0.3 else rng.normal(size=n),
                tangent=rng.normal(size=n),
                friction=float(rng.choice([0.3, 1.0])),
                normal_force=abs(rng.normal()) if given else None,
                slip=0.0 if rng.random() < 0.7 else rng.choice([-1.0, 1.0]),
            )
        )
    return ContactProblem(spd(rng, n), 2 * rng.normal(size=n), contacts)


FAMILIES = {
    "sliding": lambda rng: generic(rng, rest=0.0, most=4),
    "sliding bilateral": lambda rng: generic(rng, rest=0.0, bilateral=0.7, most=4),
    "at rest": lambda rng: generic(rng, rest=1.0),
    "mixed": lambda rng: generic(rng, rest=0.5),
    "bilateral at rest": lambda rng: generic(rng, rest=1.0, bilateral=0.7, most=2),
    "bilateral mixed": lambda rng: generic(rng, rest=0.5, bilateral=0.5),
    "body at rest": body,
    "body mixed": lambda rng: body(rng, rest=0.5),
    "body bilateral": lambda rng: body(rng, rest=0.6, bilateral=0.5, most=2),
    "dependent normals": dependent,
    "dependent sliding": lambda rng: dependent(rng, rest=0.0),
    "dependent bilateral": lambda rng: dependent(rng, rest=0.5, bilateral=0.5),
    "small integers": integers,
    "small integers unilateral": lambda rng: integers(rng, bilateral=0.0),
    "given normal forces": tresca,
}
