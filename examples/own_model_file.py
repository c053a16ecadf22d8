r"""
A model file of one's own
=========================

Claim: a system written as a text file, one declared in Python, and one saved and read again are equal, and have the
same content hash. The file can say names for its subexpressions; what it says is read, never executed.
"""

import tempfile
from pathlib import Path

import sympy as sp

import zwang as zw

written = """
schema = 1
name = "bead on a hoop"
coordinates = ["x", "y"]
kinetic = "m*(v_x**2 + v_y**2)/2"
potential = "m*g*y"

[define]
distance = "sqrt(x**2 + y**2)"
along = "(y*v_x - x*v_y)/distance"

[[constraint]]
kind = "bilateral"
name = "hoop"
expr = "distance - r"
friction = { coefficient = "mu", slip = ["along"] }

[params]
m = 0.1
g = 9.81
r = 0.5
mu = 0.2

[state]
x = 0.5
y = 0.0
v_x = 0.0
v_y = 0.0
"""
folder = Path(tempfile.mkdtemp())
(folder / "bead.toml").write_text(written, encoding="utf-8")
from_file = zw.load(folder / "bead.toml")
print(from_file)

# %%
# The same in Python.
(x, y), (vx, vy) = zw.coordinates("x y")
m, g, r, mu = zw.parameters("m g r mu")
distance = sp.sqrt(x**2 + y**2)
declared = zw.System(
    name="bead on a hoop",
    kinetic=m * (vx**2 + vy**2) / 2,
    potential=m * g * y,
    constraints=[zw.Bilateral(distance - r, friction=zw.Coulomb(mu, slip=(y * vx - x * vy) / distance), name="hoop")],
)
print(declared.digest)

# %%
# Saved, with the values that go with it: what the file holds is plain text again.
values = {"m": 0.1, "g": 9.81, "r": 0.5, "mu": 0.2}
declared.save(folder / "again.toml", params=values)
print((folder / "again.toml").read_text(encoding="utf-8"))
again = zw.load(folder / "again.toml")

# %%
# A text that is no formula is refused with a reason.
try:
    declared.replace(potential="__import__('os').getcwd()")
except zw.DeclarationError as error:
    refused = str(error)
    print(refused)

assert from_file == declared == again and from_file.digest == again.digest and "__import__" in refused
