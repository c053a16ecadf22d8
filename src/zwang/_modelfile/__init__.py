"""Model files: TOML text <-> plain dictionaries of texts, lists and numbers.

The file says what `zwang.System` is told, under the same names (schema 2; files of schema 1 lack `parameters`,
`assumptions` and `drawing`)::

    schema = 2
    name = "rod"
    coordinates = ["x", "y", "theta"]
    angles = ["theta"]
    parameters = ["J", "c", "l", "m", "mu"]                # optional: with it every other name is a mistake
    kinetic = "m*(v_x**2 + v_y**2)/2 + J*v_theta**2/2"     # and potential; or mass = [["..."]] and force = ["..."]

    [define]                                               # names for parts of expressions
    height = "y - l*sin(theta)"

    [forces]
    theta = "-c*v_theta"

    [[constraint]]
    kind = "unilateral"                                    # or bilateral, friction
    name = "tip"
    expr = "height"
    restitution = 0

    [constraint.friction]                                  # law = "coulomb", or another that zwang.law has registered
    coefficient = "mu"                                     # a list of two for a pair of slips
    slip = ["rate(x - l*cos(theta))"]
    static = "mu_s"                                        # optional: at rest

    [params]
    m = 1.0

    [assumptions]                                          # of SymPy, for parameters that are not just real
    m = ["positive"]

Everything is checked here but the expressions themselves, which stay texts; a number in the place of a text becomes
one.
"""

from __future__ import annotations

from .definitions import definition_order
from .schema import checked
from .toml_text import dumps, loads, read, write

__all__ = ["checked", "definition_order", "dumps", "loads", "read", "write"]
