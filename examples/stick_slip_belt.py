r"""
Stick and slip on a belt
========================

Claim: a block on a belt, held by a spring, whose static friction :math:`\mu_s` exceeds the kinetic one :math:`\mu`,
comes to a cycle of stick and slip. With :math:`d = (\mu_s - \mu) m g/k` and :math:`\omega^2 = k/m` its period is
:math:`2d/v + 2(\pi - \arctan(d\omega/v))/\omega`.

While it sticks it rides with the belt, until the spring exceeds the static friction; while it slips it swings about
:math:`\mu m g/k`. Both parts are elementary, so the period is known.
"""

import math

import matplotlib.pyplot as plt
import numpy as np

import zwang as zw

(x, y), (vx, vy) = zw.coordinates("x y")
m, g, k, v, mu, mus = zw.parameters("m g k v mu mu_s")
rub = zw.Coulomb(mu, slip=vx - v, static=mus)  # the slip of the block on the belt
block = zw.System(
    name="block on a belt",
    kinetic=m * (vx**2 + vy**2) / 2,
    potential=m * g * y + k * x**2 / 2,
    constraints=[zw.Unilateral(y, friction=rub, name="belt")],
    units={x: "m", y: "m", m: "kg", g: "m/s**2", k: "N/m", v: "m/s"},
)
values = {m: 2.0, g: 9.81, k: 80.0, v: 0.3, mu: 0.3, mus: 0.5}

# %%
# It starts at rest beside the belt's speed; after the first stick the motion repeats.
motion = zw.simulate(block, {x: 0, y: 0, vx: 0, vy: 0}, values, until=6.0)
print(motion)

# %%
# Each event has its own line; the friction jumps from the static to the kinetic value where slip begins.
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
motion.plot("x", ax=left)
motion.plot("v_x", against="x", ax=right, title="stick is the straight side of the cycle")
plt.show()

# %%
# The period, from the events and from the formula.
sticks = [event.time for event in motion.events if event.kind == "stick"]
d, omega = (0.5 - 0.3) * 2.0 * 9.81 / 80.0, math.sqrt(80.0 / 2.0)
period = 2 * d / 0.3 + 2 * (math.pi - math.atan(d * omega / 0.3)) / omega
print(f"period {np.diff(sticks)[-1]:.12f} s, by the formula {period:.12f} s")
assert len(sticks) >= 4 and np.abs(np.diff(sticks)[1:] - period).max() < 1e-8
