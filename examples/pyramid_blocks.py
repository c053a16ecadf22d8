r"""
A pile of blocks, pushed
========================

Claim: three equal blocks at rest, pushed sideways, have the friction forces :math:`T = (-1, 1, -2)` under the first set
of pushes of Ivanov's example 2, and :math:`T = (-1, 2, -2)` under the second, in units of :math:`\mu m g`. The paper
prints 0 for the last of them, which contradicts the equations of motion.

Every normal force is a known weight, so that each contact has a bound known in advance: ``Friction``. Then Gauss's
principle holds: the acceleration minimizes a convex function, and it exists and is unique whatever the pushes.
"""

import matplotlib.pyplot as plt
import numpy as np

import zwang as zw

entry = zw.gallery.get("pyramid")
print(entry.system)
unit = entry.params["mu1"] * entry.params["m1"] * entry.params["g"]

# %%
# F is the push on all blocks above a contact; the pushes on single blocks are its differences.
cases = {"first": (2.0, 0.0, 3.0), "second": (2.0, -3.0, 1.0)}
found = {}
for name, total in cases.items():
    pushes = np.diff(total, prepend=0.0) * unit
    params = {**entry.params, **dict(zip(("P1", "P2", "P3"), pushes, strict=True))}
    found[name] = zw.reactions(entry.system, entry.state, params)
print(found["second"])

# %%
# Each contact below a block, with its friction force and the bound that it may not pass.
figure, axes = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
for axis, (name, result) in zip(axes, found.items(), strict=True):
    friction = result.solutions[0].tangential / unit
    modes = result.solutions[0].modes
    heights = np.array([2, 1, 0])
    axis.barh(heights, 2 * np.array([1, 2, 3]), left=-np.array([1, 2, 3]), color="0.9", label="bound")
    axis.barh(heights, friction, height=0.4, label="friction")
    axis.set_yticks(heights, [f"contact {i + 1}\n{mode}" for i, mode in enumerate(modes)])
    axis.axvline(0, color="black", linewidth=0.8)
    axis.set(title=f"{name} pushes, F = {tuple(int(part) for part in cases[name])}", xlabel=r"friction [$\mu m g$]")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
plt.show()

# %%
# The printed T3 = 0 of the second set leaves an unbalanced force on the lowest block, whose contact does not slide.
first, second = (found[name].solutions[0] for name in cases)
print("friction, first pushes: ", first.tangential / unit)
print("friction, second pushes:", second.tangential / unit)
print(found["first"].certificate.sentence)

assert (
    np.allclose(first.tangential / unit, (-1, 1, -2))
    and np.allclose(second.tangential / unit, (-1, 2, -2))
    and all(result.status.name == "UNIQUE" for result in found.values())
)
