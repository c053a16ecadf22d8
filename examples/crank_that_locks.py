"""
A crank that locks itself
=========================

Claim: a slider-crank with rough pins can't be driven by its piston near the dead centre, proved for a range of angles.

The force in crank and rod goes along one line. With friction in the pins that line need not pass through their centres,
only within the friction circles, of radius r sin(arctan(mu)). So the crank stays, whatever the force, while the least
altitude of the triangle of the three pins is at most twice that radius.
"""

import math

import zwang as zw

crank = zw.Linkage("crank").ground("O", 0, 0).points("A").point("P", mass=1)
crank.bar("O", "A", 1, mass=1, friction="mu", radius="r").bar("A", "P", 3, mass=1, friction="mu", radius="r")
system = crank.slider("P", direction=(1, 0)).force("P", ("-F", 0)).system(coordinates="joint")

circle = 0.2 * math.sin(math.atan(0.3))
edge = math.asin(2 * circle)  # the altitude on the longest side, which lies along the slider
known = {"mu": 0.3, "r": 0.2, "F": 10.0, "x_O_OA": 0.0, "y_O_OA": 0.0, "y_P": 0.0}
loop = {"theta_P_AP": (-0.5, 0.5), "x_A": (-2, 2), "y_A": (-2, 2), "x_P": (0, 5)}
inside = zw.guarantee("can hold", system, {"theta_A_OA": (-0.99 * edge, 0.99 * edge), **loop}, known)
beyond = zw.guarantee("can hold", system, {"theta_A_OA": (-1.01 * edge, 1.01 * edge), **loop}, known)
print(inside, beyond, sep="\n")

assert inside.status.name == "PROVED" and abs(beyond.witness.state["theta_A_OA"]) > edge
