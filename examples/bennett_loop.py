r"""
Four bars in space that should not move
=======================================

Claim: four bodies joined in a ring by four hinges have :math:`6 \cdot 3 - 5 \cdot 4 = -2` freedoms by counting, and are
stuck for almost all axes. Bennett (1903) found the exception: opposite links alike and
:math:`\sin\alpha / a = \sin\beta / b`. That loop has one freedom and three self-stresses, and the product
:math:`\tan(\theta_1/2)\,\tan(\theta_2/2)` of neighbouring angles stays the same while it turns.
"""

import matplotlib.pyplot as plt
import numpy as np

import zwang as zw

a, alpha, beta, start = 1.0, 0.6, 1.1, 1.0
b = a * np.sin(beta) / np.sin(alpha)
ratio = np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2)
other = 2 * np.arctan(ratio / np.tan(start / 2))

# %%
# The places and axes of the hinges in a configuration that closes, by Denavit and Hartenberg.
places, axes, frame = [], [], np.eye(4)
for length, twist, angle in ((a, alpha, start), (b, beta, other), (a, alpha, -start), (b, beta, -other)):
    places.append(frame[:3, 3])
    axes.append(frame[:3, 2])
    c, s, ct, st = np.cos(angle), np.sin(angle), np.cos(twist), np.sin(twist)
    rows = [[c, -s * ct, s * st, length * c], [s, c * ct, -c * st, length * s], [0, st, ct, 0], [0, 0, 0, 1]]
    frame = frame @ np.array(rows)

loop = zw.Bodies("bennett")
for i in range(3):
    loop.body(f"link{i}", mass=1, inertia=(0.1, 0.1, 0.1), at=(places[i] + places[i + 1]) / 2)
    loop.revolute(f"hinge{i}", "ground" if i == 0 else f"link{i - 1}", f"link{i}", at=places[i], axis=axes[i])
loop.close("revolute", "last", "link2", "ground", at=places[3], axis=axes[3])
system = loop.system()

# %%
# It moves: a push on the first hinge carries the others along.
rest = {item.name: 0.0 for item in (*system.coordinates, *system.velocities)}
found = zw.reactions(system, rest)
motion = zw.simulate(system, {**rest, "v_hinge0": 1.0}, until=2.0, start="project")
first, second = start + motion.q[:, 0], other + motion.q[:, 1]
product = np.tan(first / 2) * np.tan(second / 2)

# %%
# Neighbouring angles of the loop.
figure, axis = plt.subplots()
axis.plot(np.degrees(first), np.degrees(second))
axis.set(xlabel="first angle [deg]", ylabel="second angle [deg]", title="Bennett's loop")

assert len(found.redundancy.stress_normal) == 3
assert motion.status.name == "REACHED"
assert np.ptp(first) > 0.5
assert np.allclose(product, ratio, rtol=1e-7, atol=0)
