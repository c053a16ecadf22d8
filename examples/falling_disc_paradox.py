r"""
A disc that slides on its rim
=============================

Claim: a thin disc that slides downhill on its rim has no reaction, or two, where friction exceeds a bound.

The disc leans at an angle :math:`\theta` to the floor and its lowest point slides downhill, away from where it leans.
With the inertia :math:`m R^2/4` about diameters the gap accelerates by :math:`A N + b`,

.. math::

    m A = 1 + 4 \cos^2\theta - 4 \mu \sin\theta \cos\theta, \qquad
    b = -g + R \, \omega^2 \sin\theta \cos^2\theta,

where :math:`\omega` is its rate about the vertical, without any own rotation. Where :math:`A < 0` there is no reaction
if :math:`b < 0`, and if :math:`b > 0` there are two: it leaves the floor, or friction holds it down.
"""

import matplotlib.pyplot as plt
import numpy as np
import sympy as sp

import zwang as zw

(_, _, z, psi, theta, _), (vx, vy, vz, vpsi, vtheta, vphi) = zw.coordinates(
    "x y z psi theta phi", angles="psi theta phi"
)
m, R, g, mu = zw.parameters("m R g mu")
along = sp.Matrix([sp.cos(psi), sp.sin(psi), 0])
uphill = sp.Matrix([-sp.sin(psi) * sp.cos(theta), sp.cos(psi) * sp.cos(theta), sp.sin(theta)])
turning = (vtheta, vpsi * sp.sin(theta), vphi + vpsi * sp.cos(theta))
spin = turning[0] * along + turning[1] * uphill + turning[2] * along.cross(uphill)
rim = sp.Matrix([vx, vy, vz]) - spin.cross(R * uphill)
disc = zw.System(
    name="disc",
    kinetic=m * (vx**2 + vy**2 + vz**2) / 2 + m * R**2 * (turning[0] ** 2 + turning[1] ** 2 + 2 * turning[2] ** 2) / 8,
    potential=m * g * z,
    constraints=[
        zw.Unilateral(z - R * sp.sin(theta), friction=zw.Coulomb(mu, slip=(rim[0], rim[1])), restitution=0, name="rim")
    ],
)

lean, radius = 1.0, 0.5
friction = np.linspace(0.0, 4.0, 201)
rate = np.linspace(0.0, 14.0, 201)[:, None]
state = dict.fromkeys(("x", "y", "psi", "phi", "v_z", "v_theta", "v_phi"), 0.0)
state |= {"theta": lean, "z": radius * np.sin(lean), "v_psi": rate}
state |= {"v_x": -radius * rate * np.cos(lean), "v_y": -1.0}  # so that the rim slides downhill, whatever the rate
found = zw.reactions(disc, state, {"m": 1.0, "R": radius, "g": 9.81, "mu": friction})
print(found)

# %%
# Three regions: none, one, two.
found.plot()
plt.show()

# %%
A = 1 + 4 * np.cos(lean) ** 2 - 4 * friction * np.sin(lean) * np.cos(lean)
b = -9.81 + radius * rate**2 * np.sin(lean) * np.cos(lean) ** 2
assert (found.counts == np.where(A < 0, np.where(b > 0, 2, 0), 1)).all()
assert set(np.unique(found.counts)) == {0, 1, 2}
