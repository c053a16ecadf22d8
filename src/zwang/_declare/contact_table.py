"""From the declared constraints to the table of contact: the one walk that numbers normals, slips and laws."""

from __future__ import annotations

from functools import lru_cache

import sympy as sp

from zwang._declare.constraints import Bilateral, Friction
from zwang._declare.friction_forms import law_rows
from zwang._declare.symbols import t as time
from zwang._declare.system import System
from zwang._numerics.contact.modes import Level, Side
from zwang._numerics.contact.table import NO_LAW, ContactPlace, ContactTable

CHOICES = (sp.Piecewise, sp.Max, sp.Min, sp.Abs, sp.sign, sp.Heaviside)


@lru_cache(maxsize=256)
def table_of(system: System) -> ContactTable:
    """Return the table of a system, made once.

    Examples
    --------
    >>> import zwang as zw
    >>> line = table_of(zw.gallery.get("painleve_rod").system).places[0]
    >>> line.name, line.side.name, line.level.name, line.normal, line.slips, line.law, line.of
    ('tip', 'UNILATERAL', 'POSITION', 0, (0,), 0, (0,))
    """
    laws = law_rows(system)
    normals = [str(item.name) for item in system.constraints if not isinstance(item, Friction)]
    places, normal, slip, law = [], 0, 0, 0
    for item in system.constraints:
        slips = tuple(range(slip, slip + len(item.slip)))
        own = law if item.slip else -1
        if isinstance(item, Friction):
            side, level, at, given = Side.BOUND, Level.VELOCITY, -1, [*item.slip]
        else:
            side = Side.BILATERAL if isinstance(item, Bilateral) else Side.UNILATERAL
            level = Level.POSITION if item.level == "position" else Level.VELOCITY
            at, given = normal, [item.expr, *item.slip]
            normal += 1
        timeless = not any(expr.has(time) for expr in given)
        of: tuple[int, ...] = (at,) if at >= 0 and own >= 0 else ()
        if isinstance(item, Friction):
            of = tuple(normals.index(name) for name in item.of)
        rows = laws[own] if own >= 0 else NO_LAW
        choices = getattr(item, "where", None) is not None, not isinstance(item, Friction) and item.expr.has(*CHOICES)
        places.append(ContactPlace(str(item.name), side, level, at, slips, own, of, rows, timeless, *choices))
        slip += len(item.slip)
        law += bool(item.slip)
    # Components of unit quaternions are no lengths either: as angles, they have size 1.
    turning = {item for quaternion in system.quaternions for item in quaternion}
    return ContactTable(tuple(places), tuple(item.angle or item in turning for item in system.coordinates))
