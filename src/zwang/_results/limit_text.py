"""How a `LimitStudy` and a `Recommendation` read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from zwang._results.limit import LimitStudy, Recommendation


def study_text(study: LimitStudy) -> str:
    """Return the summary a person wants."""
    if not len(study.strengths):
        first = f"LimitStudy of '{study.name}': {study.status.name}. {study.verdict.sentence}"
        return "\n".join([first, *(f"  {note}" for note in study.notes)])
    low, high = float(study.strengths[0]), float(study.strengths[-1])
    lines = [
        f"LimitStudy of '{study.name}': {study.status.name}. {study.verdict.sentence}",
        f"  {study.way}, {len(study.strengths)} strengths from {low:.3g} to {high:.3g}, "
        f"t = {study.t[0]:.6g} to {study.t[-1]:.6g}",
    ]
    for name, order in study.orders.items():
        errors = study.errors[name]
        known = np.isfinite(errors)
        last = f"{errors[known][-1]:.2e}" if known.any() else "unknown"
        fitted = "no order" if np.isnan(order.value) else f"order {order.value:+.3f} +- {order.uncertainty:.3f}"
        lines.append(f"  {name:<20}{fitted:<26}{last} at the last strength")
    if study.energy_removed > 0:
        lines.append(f"  energy removed from the start of the ideal motion {study.energy_removed:.6g} J")
    lines.append(f"  energy of the fast oscillation {study.energy[0]:.3g} to {study.energy[-1]:.3g} J")
    lines += [f"  {note}" for note in study.notes]
    return "\n".join(lines)


def recommendation_text(found: Recommendation) -> str:
    """Return the summary a person wants."""
    lines = [f"Recommendation for '{found.name}': {found.status.name}. {found.status.value}"]
    if found.reason:
        lines.append(f"  {found.reason}")
    lines += [
        f"  {found.way}, strength {found.strength:.3g} for a position error of {found.error:.3g}: "
        f"the run that verified it missed by {found.achieved:.3g}",
        f"  velocity error {found.velocity_error:.3g}; reaction error {found.reaction_error:.1%}, "
        f"of its moving average {found.mean_reaction_error:.1%}",
        f"  cost: steps of {found.step:.3g} s (rate {found.frequency:.3g} rad/s), {found.steps} of them",
    ]
    return "\n".join(lines)
