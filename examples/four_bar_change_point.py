r"""
A parallelogram linkage through its change point
================================================

Claim: the configuration space of a parallelogram of bars is two closed curves that cross at two change points, where
the bars lie in one line; a motion that comes there can go on as a parallelogram or as a crossed one. The force in the
coupler of the crossed one grows like the inverse of the distance to the point.

`trace` finds the curves and how they cross, `asymptotics` the growth, and `simulate` stops at the point unless it is
told which way to take.
"""

import matplotlib.pyplot as plt

import zwang as zw

entry = zw.gallery.get("four_bar_parallelogram")
bars, values = entry.system, entry.params
space = zw.trace(bars, values)
print(space)

# %%
# The two curves on the torus of both angles; then the mechanism near a change point.
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
space.plot(ax=left, colour="curve")
space.plot_pose(arc=0, at=space.branches[0].length * 0.93, ax=right)
plt.show()

# %%
# A motion along an arc ends at the change point and lists the ways on; "straight" takes the one without a corner.
arc = space.branches[0]
start = arc.state(at=arc.length / 2, speed=2.0)
stopped = zw.simulate(bars, start, values, until=10.0)
passed = zw.simulate(bars, start, values, until=1.2 * stopped.t[-1], at_singular="straight")
print(stopped)

# %%
# What the reactions do on the way to the point.
growth = zw.asymptotics(bars, values, at=space.singular_points[0])
print(growth)

assert [point.kind for point in space.singular_points] == ["crossing", "crossing"]
assert len(space.branches) == 4 and len(space.curves) == 2
assert stopped.status.name == "SINGULAR" and len(stopped.continuations) >= 2
assert passed.status.name == "REACHED"
assert {round(row.exponent, 6) for row in growth.rows} == {-1.0, float("inf")}
