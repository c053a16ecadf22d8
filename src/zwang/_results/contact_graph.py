"""`ContactGraph`: one contact in the plane as the numbers behind its piecewise-linear graph."""

from __future__ import annotations

from dataclasses import dataclass

from zwang._results.storage import storable


@storable
@dataclass(frozen=True)
class ContactGraph:
    """How the accelerations at the only contact of a problem depend on its forces N and T.

    Attributes
    ----------
    gap : (float, float, float)
        Gap acceleration = gap[0] + gap[1] N + gap[2] T, the bias taken off [m/s^2].
    sliding : (float, float, float)
        Slip acceleration = sliding[0] + sliding[1] N + sliding[2] T, the bias taken off [m/s^2].
    friction : float
        Coulomb's coefficient, 0 without friction.
    slip : float
        Slip velocity, 0 at rest; friction in a plane counts along the slip [m/s].
    bilateral : bool
        Whether the contact also pulls.

    Examples
    --------
    >>> import zwang as zw
    >>> rod = zw.gallery.get("painleve_rod")
    >>> graph = zw.reactions(rod.system, rod.state, rod.params).graph
    >>> round(-graph.gap[0] / (graph.gap[1] + graph.friction * graph.gap[2]), 10)  # T = mu N against the slip
    51.3198048696
    """

    gap: tuple[float, float, float]
    sliding: tuple[float, float, float]
    friction: float
    slip: float
    bilateral: bool
