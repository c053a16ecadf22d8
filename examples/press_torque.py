r"""
The torque that a press needs
=============================

Claim: a crank that turns evenly and drives a ram through a rod needs the torque whose power is that of the inertia and
of the ram's friction; a turn costs two strokes of friction. Prescribed the other way round, by the stroke of the ram,
the crank is undetermined at its dead centres, and `drive` says so instead of giving a huge number.
"""

import matplotlib.pyplot as plt
import numpy as np
import sympy as sp

import zwang as zw

(a, p, x), (va, vp, vx) = zw.coordinates("a p x", angles="a p")
u = zw.inputs("u")
crank, rod, friction, speed = 0.1, 0.25, 8.0, 20.0

press = zw.System(
    name="press",
    kinetic=0.02 * va**2 / 2 + 0.004 * vp**2 / 2 + 5 * vx**2 / 2,
    forces={a: u},
    constraints=[
        zw.Bilateral(crank * sp.cos(a) + rod * sp.cos(p) - x, name="along"),
        zw.Bilateral(crank * sp.sin(a) + rod * sp.sin(p), name="across"),
        zw.Friction(friction, slip=vx, name="guide"),
    ],
)

# %%
# One turn at constant speed. Friction opposes the ram and reverses at the dead centres, where it has no lever.
times = np.linspace(0.0, 2 * np.pi / speed, 241)
turn = zw.drive(press, {a: speed * zw.t}, times=times, start={"x": 0.35, "p": 0.0})
print(turn)

# %%
# The same stroke, prescribed at the ram: near its ends everything is as before, at the ends nothing is determined.
stroke = crank * sp.cos(speed * zw.t) + sp.sqrt(rod**2 - (crank * sp.sin(speed * zw.t)) ** 2)
told = zw.drive(press, {x: stroke}, times=times[1:60], start={"a": 0.03, "p": -0.01})
dead = zw.drive(press, {x: stroke}, times=[0.0])
print(dead)

fig, ax = plt.subplots(layout="constrained")
turn.plot(ax=ax)
ax.set_ylabel("torque [N m]")

# %%
# What was claimed: power of the torque is that of the inertia and of friction.
torque, v = turn.inputs["u"], turn.v
gained = 0.004 * v[:, 1] * turn.a[:, 1] + 5 * v[:, 2] * turn.a[:, 2]
assert turn.status.name == "UNIQUE"
assert np.allclose(torque * speed, gained + friction * np.abs(v[:, 2]), atol=1e-8)
assert abs(np.trapezoid(torque, times * speed) - 4 * crank * friction) < 1e-2  # a turn costs two strokes of friction
assert np.allclose(told.inputs["u"], torque[1:60], atol=1e-6)
assert dead.status.name == "SINGULAR" and np.isnan(dead.inputs["u"]).all()
