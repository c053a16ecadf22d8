"""`search="exhaustive"`: whether what was traced is everything that there is in the box.

The sampled trace gives arcs and singular points. Here the box is subdivided until every part of it outside small balls
round the singular points is proved, with interval arithmetic, to be empty or to hold one stretch of a smooth curve; the
stretches are joined to chains, and chains and arcs must match one to one. Inside the balls the type of the singular
point is decided in exact rational arithmetic where its coordinates are recognized, and the number of half-branches that
it predicts must be the number of chains that end at the ball.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from zwang._declare.system import System
from zwang._results.configuration import ConfigurationSpace
from zwang._trace.exhaustive_balls import Enclosure
from zwang._trace.exhaustive_boxes import Prover
from zwang._trace.exhaustive_local import ExactType, exact_type
from zwang._trace.exhaustive_matching import Match, contacts, position
from zwang._trace.exhaustive_search import TURN, Ball, BoxSearch, Domain, link, subdivide
from zwang._trace.formulas import ExactEquations, Formulas, exact_equations, numeric
from zwang.errors import DeclarationError

Array = NDArray[np.float64]
MOST_BOXES = 200_000  # some minutes
SMALL, LARGE = 0.01, 0.1
ROUNDS = 4  # of looking for points that proofs left over
HEAP = 1e-4  # scaled: boxes this close are one heap around one point
WHOLE = 1.0617
"""Components of unit quaternions are looked for up to here: no face of the box touches the set."""
OVERLAP = 0.1234
"""Of the halves of a quaternion's sphere: away from half turns, which symmetric poses have."""


@dataclass(frozen=True)
class SpaceCertificate:
    """What the exhaustive search says about a traced space.

    Attributes
    ----------
    complete : bool
    notes : tuple of str
        How completeness was proved, or what stands in its way.
    missing : list of arrays
        Positions on proved stretches of the curve that no arc covers: start following there.
    suspects : list of arrays
        Positions where nothing could be proved: look for singular points there.
    boxes : int
        How many boxes were examined.
    """

    complete: bool
    notes: tuple[str, ...]
    missing: list[Array]
    suspects: list[Array]
    boxes: int


def certify(
    space: Any,
    system: System,
    params: Mapping[str, Any],
    *,
    t: float = 0.0,
    either: tuple[tuple[int, ...], ...] = (),
    most: int = MOST_BOXES,
) -> SpaceCertificate:
    """Return whether a traced space is all there is in its box, with what is missing if not.

    Parameters
    ----------
    space : ConfigurationSpace
        Of `trace` with sampled search: its branches, singular points, isolated configurations and box.
    system, params : System, mapping
        Floats among the parameters are read as the decimals that they are printed as.
    t : float
        The instant, for constraints with explicit time.
    either : tuple of tuple of int
        The places of each quaternion that means the same with either sign.
    most : int
        The number of boxes after which the search gives up.
    """
    equations = _reduced_powers(exact_equations(system, params, t))
    n = len(equations.coordinates)
    enclosure = Enclosure(equations)
    special = _special(space, equations)
    unit = {item.name for one in system.quaternions for item in one}
    domain = replace(_domain(equations, space.box, [item.place for item in special], unit), either=either)
    domain.low[[places[0] for places in either]] = -OVERLAP
    rows, redundant = _rows(space, equations)
    if n - len(rows) > 1:
        note = f"Exhaustive search covers curves and points; here {len(rows)} constraints hold {n} coordinates."
        return SpaceCertificate(False, (note,), [], [], 0)
    prover = Prover(enclosure, rows)
    widths = np.where(np.array(equations.angles, dtype=bool), 1.0, (domain.high - domain.low) / TURN)
    with prover.balls.working():
        for factor in (1.0, 0.2, 0.04):
            balls = _balls(special, domain, equations, factor * widths)
            search = subdivide(prover, domain, balls, most)
            link(prover, search)
            match = Match(space, equations, prover, search)
            if not match.swallowed:
                break
        if equations.gaps and search.proved:
            match.cuts = len(contacts(prover, search))
        known = bool(special) and all(item.exact is not None for item in special)
        filled = known and all(_alone(prover, equations, ball) for ball in balls)
        return _verdict(equations, search, match, special, redundant, filled)


@dataclass(frozen=True, eq=False)
class _Special:
    """A point at which the constraints are dependent: what the trace says of it, and exact arithmetic if it can."""

    place: Array
    kind: str
    half_branches: int
    exact: ExactType | None

    @property
    def simple(self) -> bool:
        """Whether different branches part at once."""
        return self.exact.simple if self.exact is not None else self.kind == "crossing"


def _special(space: Any, equations: ExactEquations) -> list[_Special]:
    """Return the singular points of a space, and the isolated configurations that count twice."""
    one = len(equations.values) == len(equations.coordinates) - 1
    found = []
    for point in space.singular_points:
        place = position(point.state, equations)
        exact = exact_type(equations, place.tolist()) if one else None
        found.append(_Special(place, point.kind, len(point.branches), exact))
    doubles = [position(state, equations) for state in space.points]
    return found + [_Special(place, "isolated", 0, None) for place in doubles if _dependent(equations, place)]


def _alone(prover: Prover, equations: ExactEquations, ball: Ball) -> bool:
    """Whether a ball in the plane holds nothing but the branches of its crossing or isolated point.

    Where the second derivatives of the one equation are regular all over the ball, its gradient vanishes once. A closed
    curve in the ball would have an extremum inside, a second zero of the gradient; so every branch leaves the ball, and
    the stretches that end at it, which are counted, are all that is in it.
    """
    if len(equations.coordinates) != 2 or len(equations.values) != 1:
        return False
    (x, y), (f,) = equations.coordinates, equations.values
    formulas = Formulas([sp.diff(f, x, x), sp.diff(f, x, y), sp.diff(f, y, y)], (x, y), equations.name)
    box = prover.balls.box((ball.centre - ball.radius).tolist(), (ball.centre + ball.radius).tolist())
    a, b, c = formulas(box, prover.balls)
    return not (a * c - b * b).contains(0)


def _dependent(equations: ExactEquations, place: Array) -> bool:
    n, m = len(equations.coordinates), len(equations.values)
    slope = numeric(Formulas(list(equations.jacobian), equations.coordinates))
    sizes = np.linalg.svd(slope(place[:, None]).reshape(m, n), compute_uv=False)
    return bool(m < n or sizes[n - 1] <= 1e-6 * max(float(sizes[0]), 1e-300))


def _reduced_powers(equations: ExactEquations) -> ExactEquations:
    """Return the same set without repeated factors: (y - x^2)^2 = 0 has no gradient, y - x^2 = 0 has one."""
    values = tuple(radical(item, equations.coordinates) for item in equations.values)
    if values == equations.values:
        return equations
    jacobian = sp.Matrix([[sp.diff(item, q) for q in equations.coordinates] for item in values])
    return replace(equations, values=values, jacobian=jacobian)


def radical(expr: Any, variables: Sequence[Any]) -> Any:
    """Return an expression with the same zeros and every factor once.

    Examples
    --------
    >>> import sympy as sp
    >>> x, y = sp.symbols("x y", real=True)
    >>> radical((y - x**2)**2 * sp.cos(x)**3, (x, y))
    (-x**2 + y)*cos(x)
    """
    if expr.is_polynomial(*variables):
        content, factors = sp.factor_list(expr, *variables)
        if all(power == 1 for _, power in factors):
            return expr
        return content * sp.Mul(*(factor for factor, _ in factors))
    parts = []
    for factor in sp.Mul.make_args(expr):
        base, power = factor.as_base_exp()
        parts.append(base if power.is_Integer and power > 1 else factor)
    return sp.Mul(*parts)


def _domain(
    equations: ExactEquations, box: Mapping[str, tuple[float, float]], places: Sequence[Array], unit: Collection[str]
) -> Domain:
    """Return the box to search; `unit` has the components of unit quaternions, which need none."""
    low, high, circles = [], [], []
    for j, symbol in enumerate(equations.coordinates):
        given = box.get(symbol.name)
        if symbol.name in unit and (given is None or (given[0] <= -1 and given[1] >= 1)):
            given = (-WHOLE, WHOLE)
        if given is None and not symbol.angle:
            raise DeclarationError(
                f"{equations.name}: search=\"exhaustive\" needs a box for '{symbol.name}', which is not an angle: "
                f"box={{'{symbol.name}': (low, high)}}."
            )
        circle = symbol.angle and (given is None or given[1] - given[0] >= TURN * (1 - 1e-12))
        if circle:
            seam = _seam(np.array([place[j] for place in places]))
            given = (seam, seam + TURN + 1e-14)  # a hair more than a turn: no float is one
        assert given is not None
        circles.append(circle)
        low.append(float(given[0]))
        high.append(float(given[1]))
    return Domain(np.array(low), np.array(high), np.array(circles, dtype=bool))


def _seam(angles: Array) -> float:
    """Return an angle away from the given ones, at which a circle is cut open."""
    if not len(angles):
        return -np.pi + 0.1234
    around = np.sort(np.mod(angles, TURN))
    gaps = np.diff(np.append(around, around[0] + TURN))
    widest = int(np.argmax(gaps))
    # Not the middle, where symmetric mechanisms have their dead centres.
    return float(around[widest] + 0.43 * gaps[widest] - TURN)


def _rows(space: Any, equations: ExactEquations) -> tuple[list[int], bool]:
    """Return the equations that determine the set, and whether others repeat them on it."""
    n, m = len(equations.coordinates), len(equations.values)
    wanted = n - max(int(space.dimension), 0) if space.dimension >= 0 else min(m, n)
    if m <= wanted:
        return list(range(m)), False
    slope = numeric(Formulas(list(equations.jacobian), equations.coordinates))
    places = [arc.position(share * arc.length) for arc in space.branches for share in (0.21, 0.57, 0.83)]
    places += [position(state, equations) for state in space.points]
    if not places:
        return list(range(min(m, n))), m > n
    jacobians = slope(np.array(places).T).reshape(m, n, -1)
    rows: list[int] = []
    for _ in range(wanted):
        # The row that keeps the worst of the places best conditioned.
        scores = [
            -1.0
            if i in rows
            else min(np.linalg.svd(jacobians[[*rows, i], :, k])[1][-1] for k in range(jacobians.shape[2]))
            for i in range(m)
        ]
        rows.append(int(np.argmax(scores)))
    return sorted(rows), True


def _balls(special: Sequence[_Special], domain: Domain, equations: ExactEquations, unit: Array) -> list[Ball]:
    """Return balls round the singular points: small ones where branches part at once, larger where they touch."""
    balls = []
    for number, item in enumerate(special):
        radius = unit * (SMALL if item.simple else LARGE)
        for other in (one.place for k, one in enumerate(special) if k != number):
            gap = np.abs(domain.apart(item.place, other)) / unit
            radius = np.minimum(radius, 0.3 * float(gap.max()) * unit)
        balls += [Ball(copy, radius, number) for copy in domain.copies(item.place, equations.angles, radius)]
    return balls


def _verdict(
    equations: ExactEquations,
    search: BoxSearch,
    match: Match,
    special: Sequence[_Special],
    redundant: bool,
    filled: bool,
) -> SpaceCertificate:
    """Return the certificate: every condition that fails is said in a note."""
    against = []
    suspects = [0.5 * (low + high) for low, high in search.unresolved]
    if search.exhausted and not suspects:
        against.append(f"The search gave up after {search.boxes} boxes.")
    if suspects:
        against.append(f"Nothing could be proved near {len(suspects)} places, the first at {_told(suspects[0])}.")
    missing = match.missing() if search.proved else []
    if missing:
        against.append(f"{len(missing)} proved stretches of the curve have no arc, the first at {_told(missing[0])}.")
    if match.lost or match.swallowed:
        against.append(f"{len(match.lost) or 'Some'} arcs were not found again by the search.")
    if any(len(numbers) > 1 for numbers in match.arcs.values()) and not equations.gaps:
        against.append("Some arcs are parts of one proved stretch.")
    if any(end[0] == "open" for chain in search.chains for end in chain.ends) and not equations.gaps:
        against.append("Some proved stretches could not be joined.")
    against += _counted(search, special)
    if match.cuts != match.contact_ends:
        against.append(f"Contacts cut the curve at {match.cuts} places, but {match.contact_ends} arcs end there.")
    if redundant:
        against.append("Some constraints repeat others on the set; that they do is known to tolerance only.")
    if against:
        return SpaceCertificate(False, tuple(against), missing, suspects, search.boxes)
    return SpaceCertificate(True, (_proof(search, special, bool(equations.gaps), filled),), [], [], search.boxes)


def _counted(search: BoxSearch, special: Sequence[_Special]) -> list[str]:
    """Compare the half-branches of each singular point with the chains that end at its ball."""
    against = []
    for number, item in enumerate(special):
        ends = sum(end == ("singular", number) for chain in search.chains for end in chain.ends)
        local = item.half_branches if item.exact is None else item.exact.half_branches
        if item.exact is not None and item.exact.kind != item.kind:
            against.append(
                f"Singular point {number} is of kind {item.exact.kind} in exact arithmetic, not {item.kind}."
            )
        if ends != local:
            against.append(f"Singular point {number} has {local} half-branches, but {ends} proved stretches end there.")
    return against


def _proof(search: BoxSearch, special: Sequence[_Special], cut: bool, filled: bool) -> str:
    if not search.chains and not special:
        return f"Proved empty in the box, by {search.boxes} boxes of interval arithmetic."
    text = f"Complete in the box, by {search.boxes} boxes of interval arithmetic"
    if special:
        radius = max((float(ball.radius.max()) for ball in search.balls), default=0.0)
        exactly = sum(item.exact is not None for item in special)
        decided = "in exact rationals" if exactly == len(special) else "to tolerance"
        if 0 < exactly < len(special):
            decided = f"in exact rationals for {exactly} and to tolerance for {len(special) - exactly}"
        text += (
            f" outside balls of radius up to {radius:.3g} round the singular points; their types are decided {decided}"
        )
        text += ", and nothing else is in the balls" if filled else ""
    if search.domain.either:
        text += "; quaternions of either sign are one turn, and were counted once"
    return text + (", and the ends at contacts to tolerance." if cut else ".")


def _told(q: Array) -> str:
    return "(" + ", ".join(f"{value:.6g}" for value in q) + ")"


def exhausted(
    system: System,
    params: Mapping[Any, Any],
    found: ConfigurationSpace,
    again: Callable[[Array], ConfigurationSpace],
    *,
    either: tuple[tuple[int, ...], ...] = (),
    most: int = MOST_BOXES,
) -> ConfigurationSpace:
    """Return a traced space with the proof that it is complete, or with what stands in the way of one.

    Parameters
    ----------
    system : System
    params : mapping
        By symbol or name.
    found : ConfigurationSpace
        From the sampled search.
    again : callable
        The sampled search once more, with these positions (k, n) among its starts.
    either : tuple of tuple of int
        The places of each quaternion that means the same with either sign.
    most : int
        The number of boxes after which the search gives up.
    """
    by_name = {key if isinstance(key, str) else key.name: value for key, value in params.items()}
    extra: list[Array] = []
    for _ in range(ROUNDS):
        certificate = certify(found, system, by_name, t=found.t, either=either, most=most)
        new = [*certificate.missing, *certificate.suspects]
        if not new:
            break
        # Boxes that resist lie in heaps: one start for each heap.
        for q in new:
            if all(np.abs(q - other).max() > HEAP for other in extra):
                extra.append(q)
        before = (len(found.branches), len(found.singular_points), len(found.points))
        found = again(np.array(extra))
        if (len(found.branches), len(found.singular_points), len(found.points)) == before:
            break
    # What the sampled search says about its own limits is settled by a proof.
    notes = [note for note in found.notes if not (certificate.complete and "no proof" in note)]
    return replace(
        found,
        search="exhaustive",
        complete=certificate.complete,
        notes=(*notes, *certificate.notes),
    )
