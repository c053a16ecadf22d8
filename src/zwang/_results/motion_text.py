"""How a `Motion` reads: its status, where it went, its events."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zwang._results.motion import Motion

MOST_EVENTS = 20


def motion_text(motion: Motion) -> str:
    """Return the summary a person wants."""
    start, end = float(motion.t[0]), float(motion.t[-1])
    lines = [f"Motion of '{motion.name}': {motion.status.name}. {motion.status.value}"]
    if motion.reason:
        lines.append(f"  {motion.reason}")
    steps = sum(len(piece.t) - 1 for piece in motion.pieces)
    lines.append(f"  from t = {start:.6g} to {end:.10g} in {steps} steps, {len(motion.modes)} spans of one mode")
    shown = motion.events[:MOST_EVENTS]
    lines += [f"  {event!r}" for event in shown]
    if len(motion.events) > len(shown):
        lines.append(f"  ... and {len(motion.events) - len(shown)} more events")
    if motion.continuations:
        lines.append("  it could go on:")
        lines += [f"    {item.sentence}" for item in motion.continuations]
    return "\n".join(lines)
