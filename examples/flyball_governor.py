r"""
A governor with stiff springs for couplers
==========================================

Claim: the flyball governor of the IFToMM benchmarks has couplers made of springs of 8e5 N/m with dampers. Rigid ones
are the limit: over ten seconds the spin differs by less than a thousandth of a radian at that stiffness, and ten times
stiffer springs come ten times nearer.
"""

import matplotlib.pyplot as plt
import numpy as np

import zwang as zw

governor = zw.gallery.get("flyball_governor")
stiffness, damping = 8e5, 4e4

# %%
# The rigid couplers are the ideal constraints; springs and dampers of growing stiffness stand for them.
study = zw.limit(
    governor.system,
    ["coupler1", "coupler2"],
    governor.state,
    governor.params,
    by=zw.Stiffness(damping=damping),
    until=10.0,
    strengths=[stiffness, 10 * stiffness, 100 * stiffness],
)
print(study)

# %%
# The slider rises and falls with the spin; the springs of the benchmark follow it.
place = {name: k for k, name in enumerate(study.coordinates)}
fig, (top, bottom) = plt.subplots(2, sharex=True, layout="constrained")
top.plot(study.t, study.ideal_positions[:, place["s"]], color="k", lw=3, alpha=0.3, label="rigid couplers")
top.plot(study.t, study.q[0, :, place["s"]], label="8e5 N/m")
top.set_ylabel("height of the slider [m]")
top.legend()
study.plot("motions", ax=bottom)
bottom.set_xlabel("time [s]")

# %%
# What was claimed:
spin = np.abs(study.q[0, :, place["phi"]] - study.ideal_positions[:, place["phi"]])
assert study.status.name == "CONVERGES"
assert 1e-4 < spin.max() < 1e-3
assert abs(study.orders["position"].value + 1) < 0.05
