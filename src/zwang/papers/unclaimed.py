"""Why an item of a paper has no claim of its own."""

from __future__ import annotations

STEP = "a step of a derivation: what it leads to has a claim"
DEFINITION = "a definition: it states nothing that could fail"
EQUATIONS = "the equations of motion themselves, which every claim solves"
DRAWING = "a drawing without numbers; the gallery draws the system"

REASONS: dict[str, dict[str, str]] = {
    "000": {
        "remark 3": "says what is not studied: other perturbations are `perturb=` with `zw.eps`",
        "figure 1": DRAWING,
    },
    "001": {
        "figure 1": DRAWING, "figure 2": DRAWING, "(2.14)": STEP, "(2.15)": STEP, "(2.19)": STEP,
        "(3.8)": STEP, "(4.7)": DEFINITION, "(4.8)": DEFINITION,
    },
    "002": {"figure 1": DRAWING, "figure 2": DRAWING, "figure 3": DRAWING},
    "003": {
        "(1.1)": EQUATIONS, "(1.2)": EQUATIONS, "condition 1": DEFINITION, "(3.1)": EQUATIONS, "(3.2)": DEFINITION,
        "(3.3)": DEFINITION, "(3.4)": EQUATIONS,
    },
    "004": {
        "(1)": DEFINITION, "(5)": STEP, "(6)": STEP, "(7)": STEP, "(10)": EQUATIONS, "(11)": EQUATIONS,
    },
}  # fmt: skip
"""Paper -> item -> reason."""
