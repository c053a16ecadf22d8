"""What a declaration must satisfy: degrees in the velocities, inertia, periodic angles, forces without jumps."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any

import sympy as sp
from sympy.functions.elementary.trigonometric import TrigonometricFunction

from zwang._declare.numeric_values import Evaluator
from zwang._declare.symbols import Coordinate, Input, Time, Velocity, symbol_table
from zwang.errors import DeclarationError

SWITCHES = (sp.sign, sp.Heaviside, sp.Abs, sp.Max, sp.Min, sp.Piecewise)
NOT_REAL = frozenset({sp.oo, -sp.oo, sp.zoo, sp.nan, sp.I})
PROBES = 8  # random states at which an expression is looked at
MOST_TERMS = 2000
"""Terms up to which an expression is multiplied out to see its degree in the velocities."""
JUMP = 1e-6  # relative; beyond rounding of differences over 1e-7, below any jump that is meant


def velocity_degree(expr: Any) -> float:
    """Return a bound of the degree of a polynomial in the velocities, infinite where none is seen."""
    if not expr.has(Velocity):
        return 0.0
    degrees: dict[Any, float] = {}
    for node in sp.postorder_traversal(expr):
        if node in degrees:
            continue
        if isinstance(node, Velocity):
            degrees[node] = 1.0
        elif not node.args:
            degrees[node] = 0.0
        elif node.is_Add:
            degrees[node] = max(degrees[item] for item in node.args)
        elif node.is_Mul:
            degrees[node] = sum(degrees[item] for item in node.args)
        elif node.is_Pow and node.exp.is_Integer and node.exp >= 0:
            degrees[node] = int(node.exp) * degrees[node.base]
        elif isinstance(node, sp.Piecewise):
            conditions = max(degrees[pair.cond] for pair in node.args)
            degrees[node] = math.inf if conditions > 0 else max(degrees[pair.expr] for pair in node.args)
        else:
            degrees[node] = 0.0 if all(degrees.get(item, 0.0) == 0 for item in node.args) else math.inf
    return degrees[expr]


def require_degree(expr: Any, largest: int, complaint: str) -> None:
    """Raise `complaint` unless `expr` is a polynomial in the velocities of at most that degree."""
    if velocity_degree(expr) <= largest:
        return
    velocities = sorted((s for s in expr.free_symbols if isinstance(s, Velocity)), key=lambda symbol: symbol.name)
    if _terms(expr) > MOST_TERMS:
        expr = _at_rest_as_symbols(expr)
    if _terms(expr) > MOST_TERMS:
        raise DeclarationError(
            f"{complaint} It may be one that cancels out, but has more than {MOST_TERMS} terms when it is multiplied "
            "out: write it with a lower degree."
        )
    try:
        degree = sp.Poly(sp.expand(expr), *velocities).total_degree()
    except sp.PolynomialError:
        degree = math.inf
    if degree > largest:
        raise DeclarationError(complaint)


def _terms(expr: Any) -> float:
    """Return a bound of the number of terms that `expr` has when it is multiplied out."""
    counts: dict[Any, float] = {}
    for node in sp.postorder_traversal(expr):
        if node in counts:
            continue
        parts = [counts[item] for item in node.args]
        if node.is_Add:
            counts[node] = sum(parts)
        elif node.is_Mul:
            counts[node] = math.prod(parts)
        elif node.is_Pow and node.exp.is_Integer and node.exp > 0 and parts[0] > 1:
            # n factors out of k terms: binomial(n + k - 1, n); its logarithm by lgamma, since k may be anything.
            n, k = int(node.exp), parts[0]
            size = math.lgamma(n + k) - math.lgamma(n + 1) - math.lgamma(k) if math.isfinite(k) else math.inf
            counts[node] = math.exp(min(size, 300.0))
        else:
            counts[node] = 1.0
    return counts[expr]


def _at_rest_as_symbols(expr: Any) -> Any:
    """Return `expr` with a symbol in the place of every largest part without velocities: they have no degree."""
    known: dict[Any, Any] = {}

    def collapsed(node: Any) -> Any:
        if not node.has(Velocity):
            return node if node.is_Number else known.setdefault(node, sp.Dummy(real=True))
        return node if isinstance(node, Velocity) else node.func(*(collapsed(item) for item in node.args))

    return collapsed(expr)


def require_periodic(expr: Any, where: str, system: str, *, driven: bool = False) -> None:
    """Refuse an angle that does not occur 2 pi-periodically; `driven`: whole multiples of it would do."""
    left = _bare_angles(expr)
    turns = windings(expr) if driven and left else {}
    whole = {angle for angle, turn in turns.items() if turn is not None and turn == int(turn)}
    for angle in sorted(left, key=lambda symbol: (symbol in whole, symbol.name)):
        if not _looks_periodic(expr, angle):
            cure = f"Declare '{angle}' without angles=, or write the constraint with sines and cosines of it."
            if driven:
                cure += (
                    " A Bilateral may hold angles linearly with whole numbers, theta - w*t or 2*a - 3*b: multiply a "
                    "ratio of whole numbers by its denominator."
                )
            raise DeclarationError(f"{system}: the angle '{angle}' does not occur 2 pi-periodically in {where}. {cure}")


def _bare_angles(expr: Any) -> set[Any]:
    """Return the angles that occur outside of sines, cosines and their like of whole multiples of them."""
    angles = {symbol for symbol in expr.free_symbols if isinstance(symbol, Coordinate) and symbol.angle}
    return _within_circular(expr, angles)[1] if angles else angles


def likely_angles(system: Any) -> tuple[str, ...]:
    """Return the coordinates, declared as no angles, that occur in sines and cosines of whole multiples alone.

    Constraints, slips and inertia are looked at; potentials and forces need not be periodic. Such a coordinate counts
    as a length where sizes are compared, and its turns are different places, until it is declared with ``angles=``.

    Examples
    --------
    >>> import sympy as sp, zwang as zw
    >>> (x, phi), (v, w) = zw.coordinates("x phi")
    >>> wheel = zw.Unilateral(x - sp.cos(phi), name="cam")
    >>> likely_angles(zw.System(kinetic=(v**2 + w**2) / 2, constraints=[wheel]))
    ('phi',)
    """
    if system.tree is not None:  # its builder knows
        return ()
    said = [e for item in system.constraints for e in (getattr(item, "expr", sp.S.Zero), *item.slip)]
    said += [system.kinetic] if system.mass is None else list(system.mass)
    plain = {item for item in system.coordinates if not item.angle}
    turning: set[Any] = set()
    bare: set[Any] = set()
    for expr in map(sp.sympify, said):
        inside, left = _within_circular(expr, plain)
        turning, bare = turning | inside, bare | left
    return tuple(item.name for item in system.coordinates if item in turning - bare)


def _within_circular(expr: Any, symbols: set[Any]) -> tuple[set[Any], set[Any]]:
    """Return which symbols occur inside sines, cosines and their like of whole multiples, and which outside of them."""
    harmless: dict[Any, Any] = {}
    inside: set[Any] = set()
    for node in expr.atoms(TrigonometricFunction):
        own = symbols & node.args[0].free_symbols
        if own and all(sp.diff(node.args[0], item).is_Integer for item in own):
            harmless[node] = sp.Dummy(real=True)
            inside |= own
    return inside, symbols & expr.xreplace(harmless).free_symbols


def windings(expr: Any) -> dict[Coordinate, float | None]:
    """Return by how many turns an expression grows as each of its angles makes one; None where that is no constant."""
    found: dict[Coordinate, float | None] = {}
    angles = {symbol for symbol in expr.free_symbols if isinstance(symbol, Coordinate) and symbol.angle}
    for angle in sorted(angles, key=lambda symbol: symbol.name):
        value, source = Evaluator(expr), random.Random(13)
        turns = []
        for _ in range(PROBES):
            values = {symbol: source.uniform(0.4, 1.6) for symbol in value.symbols}
            here, there = value(values), value({**values, angle: values[angle] + 2 * math.pi})
            if here is not None and there is not None:
                turns.append((there - here) / (2 * math.pi))
        same = bool(turns) and max(turns) - min(turns) <= 1e-9 * (1 + abs(turns[0]))
        near = round(turns[0]) if same else 0
        found[angle] = (float(near) if abs(turns[0] - near) <= 1e-9 else turns[0]) if same else None
    return found


def modulo_turns(expr: Any) -> Any:
    """Return 2 tan(expr/2) where an expression holds angles linearly with integers, else the expression itself.

    It is zero where the expression is a whole number of turns, grows with the same rate there, and is periodic.
    """
    found = windings(expr) if _bare_angles(expr) else {}
    if any(turns is None or turns != int(turns) for turns in found.values()) or not any(found.values()):
        return expr
    return 2 * sp.tan(expr / 2)


def before_turns(expr: Any) -> Any:
    """Return what `modulo_turns` was given, None where the expression is not of that form.

    Examples
    --------
    >>> import zwang as zw
    >>> (a, b), _ = zw.coordinates("a b", angles=True)
    >>> before_turns(modulo_turns(2 * a - 3 * b)), before_turns(a)
    (2*a - 3*b, None)
    """
    if not (expr.is_Mul and len(expr.args) == 2 and expr.args[0] == 2 and isinstance(expr.args[1], sp.tan)):
        return None
    inner = sp.expand_mul(2 * expr.args[1].args[0])
    return inner if any(windings(inner).values()) else None


def without_poles(expr: Any) -> Any:
    """Return 2 sin(x/2) for the 2 tan(x/2) of `modulo_turns`: the same zeros, for those who ask for nothing else."""
    inner = before_turns(expr)
    return expr if inner is None else 2 * sp.sin(inner / 2)


def _looks_periodic(expr: Any, angle: Coordinate) -> bool:
    shifted = expr.xreplace({angle: angle + 2 * sp.pi})
    if shifted == expr:
        return True
    value = Evaluator(expr)
    source = random.Random(7)
    compared = 0
    for _ in range(PROBES):
        values = {symbol: source.uniform(0.4, 1.6) for symbol in value.symbols}
        here, there = value(values), value({**values, angle: values[angle] + 2 * math.pi})
        if here is None or there is None:
            continue
        compared += 1
        if abs(here - there) > 1e-9 * (1 + abs(here)):
            return False
    return compared > 0


def look_equal(a: Any, b: Any) -> bool:
    """Say whether two expressions are equal: as trees, or at a few random points."""
    if a == b:
        return True
    value = Evaluator(a - b)
    size = Evaluator(sp.Abs(a) + sp.Abs(b))
    source = random.Random(5)
    for _ in range(PROBES):
        values = {symbol: source.uniform(0.4, 1.6) for symbol in {*value.symbols, *size.symbols}}
        difference, scale = value(values), size(values)
        if difference is not None and scale is not None and abs(difference) > 1e-9 * scale:
            return False
    return True


def require_no_jump_in_velocity(expr: Any, where: str, system: str) -> None:
    """Refuse a force that jumps where a function of the velocity changes its sign: that is friction."""
    if _jumps_in_velocity(expr):
        raise DeclarationError(
            f"{system}: {where} jumps with the velocity ({_short(expr)}). A force that jumps makes a motion "
            "chatter instead of stick: declare it as Friction(bound, slip=...) in constraints=, which sticks "
            "exactly."
        )


@lru_cache(maxsize=512)
def _jumps_in_velocity(expr: Any) -> bool:
    """Say whether a force jumps with the velocity; found once for each, where systems are made anew from one."""
    if math.isfinite(velocity_degree(expr)):
        return False
    value = Evaluator(expr)
    velocities = [symbol for symbol in value.symbols if isinstance(symbol, Velocity)]
    source = random.Random(11)
    surfaces = [Evaluator(surface) for surface in _switching_surfaces(expr)]
    for _ in range(PROBES):
        values = {symbol: source.uniform(0.5, 1.5) for symbol in value.symbols}
        direction = {symbol: source.uniform(-1.0, 1.0) for symbol in velocities}
        rest = {**values, **dict.fromkeys(velocities, 0.0)}
        sides = [_crossing(surface, values, direction) for surface in surfaces]
        sides.append((rest, 0.0))
        if any(side is not None and _jumps(value, side[0], side[1], direction) for side in sides):
            return True
    return False


def _switching_surfaces(expr: Any) -> Iterator[Any]:
    """Yield the functions of the velocity at whose zeros `expr` may have a kink or a jump."""
    for node in expr.atoms(*SWITCHES):
        inner: Iterable[Any]
        if isinstance(node, sp.Piecewise):
            relations = [relation for pair in node.args for relation in pair.cond.atoms(sp.core.relational.Relational)]
            inner = [relation.lhs - relation.rhs for relation in relations]
        elif isinstance(node, (sp.Max, sp.Min)):
            inner = [a - b for i, a in enumerate(node.args) for b in node.args[i + 1 :]]
        else:
            inner = [node.args[0]]
        yield from (item for item in inner if item.has(Velocity))


def _crossing(
    surface: Evaluator, values: Mapping[Any, float], direction: Mapping[Any, float]
) -> tuple[Mapping[Any, float], float] | None:
    """Return a start and the distance along `direction` at which `surface` changes its sign, if it does."""

    def along(s: float) -> float | None:
        return surface({**values, **{v: values[v] + s * d for v, d in direction.items()}})

    grid = [-8.0 + i for i in range(17)]
    at_high = along(grid[0])
    for start, end in pairwise(grid):
        low, high = start, end
        at_low, at_high = at_high, along(high)
        if at_low is None or at_high is None or at_low * at_high > 0:
            continue
        for _ in range(60):
            middle = (low + high) / 2
            if middle in (low, high):  # neighbours among the doubles
                break
            at_middle = along(middle)
            if at_middle is None:
                return None
            if at_low * at_middle <= 0:
                high = middle
            else:
                low, at_low = middle, at_middle
        return values, (low + high) / 2
    return None


def _jumps(value: Evaluator, values: Mapping[Any, float], place: float, direction: Mapping[Any, float]) -> bool:
    """Say whether `expr` differs on the two sides of a point by more than its slope explains."""
    sides = []
    for step in (1e-7, -1e-7):
        shifted = {v: values[v] + (place + step) * d for v, d in direction.items()}
        sides.append(value({**values, **shifted}))
    if sides[0] is None or sides[1] is None:
        return False
    size = 1 + abs(sides[0]) + abs(sides[1])
    apart = sides[0] - sides[1]
    if abs(apart) <= JUMP * size:
        return False
    # A steep but continuous force also differs, in proportion to the step: what stays when the step shrinks is a jump.
    closer = []
    for step in (1e-10, -1e-10):
        shifted = {v: values[v] + (place + step) * d for v, d in direction.items()}
        closer.append(value({**values, **shifted}))
    if closer[0] is None or closer[1] is None:
        return False
    slope = (apart - (closer[0] - closer[1])) / (1e-7 - 1e-10)
    return bool(abs(apart - slope * 1e-7) > JUMP * size)


def check_symbols(expressions: Mapping[str, Any], system: str, coordinates: Iterable[Coordinate] = ()) -> None:
    """Refuse two different symbols of one name, and numbers that are not finite and real.

    A symbol that only shares its name with a coordinate, a velocity or the time is told apart from it.
    """
    own: dict[str, Any] = symbol_table(coordinates)
    known: dict[str, Any] = {}
    for where, expr in expressions.items():
        if any(atom in NOT_REAL for atom in expr.atoms()):
            raise DeclarationError(f"{system}: {where} has a number that is not finite and real ({_short(expr)}).")
        for symbol in expr.free_symbols:
            if isinstance(symbol, sp.Dummy):
                raise DeclarationError(f"{system}: {where} has the dummy symbol '{symbol}'; give it a name.")
            if symbol.name in own and not (type(symbol) is type(own[symbol.name]) and symbol == own[symbol.name]):
                raise DeclarationError(
                    f"{system}: {where} has a symbol '{symbol.name}' that only shares its name with "
                    f"{_describe(own[symbol.name])}: it is {_describe(symbol)}. Use the symbol that zwang declared."
                )
            other = known.setdefault(symbol.name, symbol)
            if other != symbol:
                raise DeclarationError(
                    f"{system}: two different symbols are called '{symbol.name}': {_describe(other)} and "
                    f"{_describe(symbol)}. Declare the name once and use that symbol everywhere."
                )


def _describe(symbol: Any) -> str:
    if isinstance(symbol, Time):
        return "the time zwang.t"
    if isinstance(symbol, Input):
        return "an input"
    if isinstance(symbol, (Coordinate, Velocity)):
        kind = "coordinate" if isinstance(symbol, Coordinate) else "velocity"
        return f"a {kind} (number {symbol.place + 1} of its call, {'an angle' if symbol.angle else 'not an angle'})"
    facts = [name for name, held in symbol.assumptions0.items() if held and name in ("real", "positive", "integer")]
    return f"a parameter ({', '.join(facts) or 'no assumptions'})"


def _short(expr: Any) -> str:
    text = str(expr)
    return text if len(text) <= 80 else text[:77] + "..."
