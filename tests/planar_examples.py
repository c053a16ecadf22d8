"""The examples of paper 001 (Ivanov 2013) as arrays, in its coordinates and units."""

from __future__ import annotations

import numpy as np

from zwang._numerics.contact.problem import Contact, ContactProblem


def string(m1, m2, gamma, g=1.0):
    """Example 1: two weights on a string of length l(t), gamma = l''; q is measured downwards."""
    return ContactProblem(np.diag([m1, m2]), [m1 * g, m2 * g], [Contact([-1, -1], bias=-gamma, name="string")])


def pyramid(force):
    """Example 2: three equal blocks on each other, in units of mu m g; q are relative displacements."""
    mass = np.array([[1.0, 1, 1], [1, 2, 2], [1, 2, 3]])
    loads = (1.0, 2.0, 3.0)
    contacts = [Contact(None, tangent=np.eye(3)[i], friction=1, normal_force=load) for i, load in enumerate(loads)]
    return ContactProblem(mass, force, contacts)


def rubbing_string(m1, m2, two_mu, velocity=0.0, g=1.0):
    """Example 4: the string rubs on its bar, |T| <= 2 mu N; velocity is that of the first weight."""
    bar = Contact([-1, -1], tangent=[1, -1], friction=two_mu, slip=2 * velocity, name="bar")
    return ContactProblem(np.diag([m1, m2]), [m1 * g, m2 * g], [bar])


def arm(l2, degrees):
    """The horizontal and vertical arms a, h of a rod of half length l at an angle, radius of inertia 1."""
    angle = np.deg2rad(degrees)
    return np.sqrt(l2) * np.cos(angle), np.sqrt(l2) * np.sin(angle)


def rod_mass(a, h):
    return np.array([[1.0, 0, -h], [0, 1, a], [-h, a, 1 + a**2 + h**2]])


def rod(a, h, mu, velocity=0.0, force=(0.0, -1.0, 0.0), *, bilateral=False, bias=0.0):
    """Example 5: a rod touches the floor with its end; coordinates of the end and the angle."""
    end = Contact([0, 1, 0], tangent=[1, 0, 0], friction=mu, slip=velocity, bilateral=bilateral, bias=bias, name="end")
    return ContactProblem(rod_mass(a, h), force, [end])


def ladder(degrees, mu, mu_wall, force=None, *, floor=0.0, l2=3.0, slips=(0.0, 0.0)):
    """Example 6: a ladder against a wall; by default under its weight; `floor` is the acceleration of the floor."""
    a, h = arm(l2, degrees)
    contacts = [
        Contact([0, 1, 0], tangent=[1, 0, 0], friction=mu, bias=floor, slip=slips[0], name="floor"),
        Contact([1, 0, -2 * h], tangent=[0, 1, 2 * a], friction=mu_wall, slip=slips[1], name="wall"),
    ]
    return ContactProblem(rod_mass(a, h), [0.0, -1.0, -a] if force is None else force, contacts)


def three_motions(velocity=-1.0):
    """The counterexample to Theorem 12 with unit mass: the first contact slides, the second is at rest."""
    root = np.sqrt(2.0)
    contacts = [
        Contact([1, 0, 0], tangent=[0, 1, 0], friction=2, slip=velocity),
        Contact([0, 0, 1], tangent=[1 / root, 1 / root, 0], friction=1),
    ]
    return ContactProblem(np.eye(3), np.array([1, -1, -10 * root]) / root, contacts)


def painleve(mu, degrees, spin=0.0, velocity=-1.0, g=9.81):
    """A uniform rod, m = l = 1 (half length), J = 1/3, in coordinates of its centre and its angle; the tip slides."""
    c, s = np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))
    tip = Contact(
        [0, 1, -c],
        tangent=[1, 0, s],
        friction=mu,
        bias=-s * spin**2,
        tangent_bias=-c * spin**2,
        slip=velocity,
        name="tip",
    )
    return ContactProblem(np.diag([1, 1, 1 / 3]), [0, -g, 0], [tip])


def sliding_block():
    """A block slides on three points in a row with different friction; the points are level, the centre is above."""
    height = 0.5
    contacts = [
        Contact([0, 1, x], tangent=[1, 0, height], friction=mu, slip=1.0) for x, mu in ((-1, 0.1), (0, 0.6), (1, 0.2))
    ]
    return ContactProblem(np.diag([1, 1, 0.5]), [0, -1, 0], contacts)
