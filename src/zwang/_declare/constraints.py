"""The vocabulary of constraints: {equality, inequality} x {position, velocity}, and friction.

`Bilateral` (expr = 0) and `Unilateral` (expr >= 0); the level is the velocity level where velocities occur in the
expression. A law of friction (`laws`) may go with either; `Friction` has a bound known in advance and no normal.

Signs: M(q) a = Q + sum_j lam_j w_j + sum_j (d slip_j/dv)^T T_j with w_j = d expr_j/dq (position) or d expr_j/dv
(velocity). The reaction of a `Unilateral` pushes towards larger expr: lam >= 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias, overload

from zwang._declare.domains import guard, guarded
from zwang._declare.given import Text, as_expression, as_slip
from zwang._declare.laws import Ellipse, FrictionLaw, Interval, Section, is_law, law_expressions, map_law
from zwang._declare.symbols import Velocity
from zwang.errors import DeclarationError, nearest


@dataclass(frozen=True)
class _Constraint:
    """What the entries of a system's list of constraints share: a name, expressions, a way to change them all."""

    name: str | None = field(default=None, kw_only=True)
    starts: str = field(default="on", kw_only=True)

    def expressions(self) -> dict[str, Any]:
        """Return the expressions of this constraint by what they are."""
        raise NotImplementedError

    def map(self, change: Callable[[Any], Any]) -> _Constraint:
        """Return this constraint with every expression changed."""
        raise NotImplementedError

    def named(self, name: str) -> _Constraint:
        """Return this constraint under another name."""
        return replace(self, name=name)


@dataclass(frozen=True)
class _Relation(_Constraint):
    """A constraint with an expression, and so with a normal: `Bilateral` or `Unilateral`."""

    expr: Any
    friction: FrictionLaw | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        kind = type(self).__name__
        object.__setattr__(self, "expr", as_expression(self.expr, kind))
        if self.friction is not None and not is_law(self.friction):
            raise DeclarationError(
                f"{kind}: friction= must be a Coulomb law, or another one that zwang.law has registered; it was given "
                f"{self.friction!r:.80}."
            )
        check_label(self.name, kind)
        check_start(self.starts, kind)

    @property
    def level(self) -> str:
        """'velocity' where velocities occur in the expression, else 'position'."""
        return "velocity" if self.expr.has(Velocity) else "position"

    @cached_property
    def slip(self) -> tuple[Any, ...]:
        """The slip velocities that the law rubs along, none without friction."""
        return () if self.friction is None else rubbed(self.friction.slip, self.friction.section())

    def expressions(self) -> dict[str, Any]:
        """Return the expressions of this constraint by what they are."""
        return {"expr": self.expr, **(law_expressions(self.friction) if self.friction is not None else {})}

    def map(self, change: Callable[[Any], Any]) -> _Relation:
        """Return this constraint with every expression changed."""
        law = map_law(self.friction, change) if self.friction is not None else None
        return replace(self, expr=change(self.expr), friction=law)


@dataclass(frozen=True)
class Bilateral(_Relation):
    """A constraint that holds both ways: expr = 0, multiplier of any sign.

    Parameters
    ----------
    expr : expression
        Of coordinates and time (position level), or affine in the velocities (velocity level).
    friction : Coulomb or another law, optional
        Friction at this constraint, bounded by abs(lam).
    name : str, optional
        How the constraint is addressed; by default 'constraint1', 'constraint2', ... by place.
    starts : {'on', 'off'}
        'off': it does not act until a `Switch` of an event turns it on, or the state says so by its ``"on"``.

    Examples
    --------
    >>> import zwang as zw
    >>> (x, y), (vx, vy) = zw.coordinates("x y")
    >>> zw.Bilateral(x**2 + y**2 - 1, name="circle").level
    'position'
    >>> zw.Bilateral(vx - y * vy).level
    'velocity'
    """


@dataclass(frozen=True)
class Unilateral(_Relation):
    """A one-sided constraint: expr >= 0, with a multiplier >= 0 that pushes towards larger expr.

    Parameters
    ----------
    expr : expression
        Of coordinates and time (position level), or affine in the velocities (velocity level).
    friction : Coulomb or another law, optional
        Friction at this constraint, bounded by its multiplier.
    restitution : expression, optional
        Coefficient of restitution of impacts at it (position level); no default.
    where : relation, optional
        Of the coordinates: the constraint exists only where it holds (a table with an end, a vertex over a face). Its
        `expr` becomes ``Piecewise((expr, where), (1 + expr**2, True))``, which is open elsewhere.
    name : str, optional
        How the constraint is addressed; by default 'constraint1', 'constraint2', ... by place.
    starts : {'on', 'off'}
        'off': it does not act until a `Switch` of an event turns it on, or the state says so by its ``"on"``.

    Examples
    --------
    >>> import zwang as zw
    >>> (x, y), (vx, vy) = zw.coordinates("x y")
    >>> floor = zw.Unilateral(y, friction=zw.Coulomb(0.3, slip=vx), restitution=0, name="floor")
    >>> floor.level, floor.restitution
    ('position', 0)
    >>> zw.Unilateral(y, where=x < 1, name="table").where
    x < 1
    """

    restitution: Any = field(default=None, kw_only=True)
    where: Any = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        expr = self.expr
        if self.where is not None and guarded(expr) is None:
            expr = guard(expr, self.where, f"Unilateral '{self.name}'" if self.name else "Unilateral")
            object.__setattr__(self, "expr", expr)
        known = guarded(expr)
        object.__setattr__(self, "where", known[1] if known else self.where if isinstance(expr, Text) else None)
        if self.restitution is not None:
            object.__setattr__(self, "restitution", as_expression(self.restitution, "Unilateral: restitution"))
            if self.restitution.is_number and not (self.restitution.is_real and 0 <= self.restitution <= 1):
                given = f"{float(self.restitution):g}" if self.restitution.is_real else self.restitution
                raise DeclarationError(
                    f"Unilateral{f' {self.name!r}' if self.name else ''}: restitution= is {given}, needed a number "
                    "between 0 (plastic) and 1 (elastic), or an expression."
                )

    def expressions(self) -> dict[str, Any]:
        """Return the expressions of this constraint by what they are."""
        found = super().expressions()
        return found if self.restitution is None else {**found, "restitution": self.restitution}

    def map(self, change: Callable[[Any], Any]) -> Unilateral:
        """Return this constraint with every expression changed."""
        law = map_law(self.friction, change) if self.friction is not None else None
        restitution = None if self.restitution is None else change(self.restitution)
        return replace(self, expr=change(self.expr), friction=law, restitution=restitution)


@dataclass(frozen=True)
class Friction(_Constraint):
    """Friction without a normal of its own: abs(T) <= bound, opposite to the slip.

    The bound is known in advance (Tresca), or it goes with forces of other constraints: with `of` it is multiplied by
    the resultant of their multipliers, sqrt(sum lam_j**2).

    Parameters
    ----------
    bound : expression
        Largest friction force [N]; of coordinates, velocities and time. With `of`: friction force per unit of the
        resultant [1].
    slip : expression or a pair of them
        Slip velocity [m/s]; affine in the velocities. Of a pin: its radius times the relative turning.
    section : Interval or Ellipse, optional
        T lies in bound times this section: an `Interval` for one slip, an `Ellipse` for a pair. By default
        [-1, 1], or the unit disc.
    of : str or tuple of str, optional
        Names of the constraints whose forces load this friction: one, for another law on the same normal force
        (rolling resistance and pivoting beside sliding), or several with orthonormal rows (the two of a pin).
    name : str, optional
        How it is addressed; by default 'constraint1', 'constraint2', ... by place.
    starts : {'on', 'off'}
        'off': it does not act until a `Switch` of an event turns it on, or the state says so by its ``"on"``.

    Examples
    --------
    >>> import zwang as zw
    >>> (x,), (vx,) = zw.coordinates("x")
    >>> zw.Friction(2, slip=vx, name="brake").slip
    (v_x,)
    >>> zw.Friction(2, slip=vx, section=zw.Interval(-0.1, 1), name="ratchet").section
    Interval(low=-0.1, high=1)
    >>> zw.Friction(0.2, slip=0.01 * vx, of=("pin x", "pin y")).of
    ('pin x', 'pin y')
    """

    bound: Any
    slip: Any = field(kw_only=True)
    section: Section | None = field(default=None, kw_only=True)
    of: Any = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "of", loading(self.of))
        object.__setattr__(self, "bound", as_expression(self.bound, "Friction: bound"))
        object.__setattr__(self, "slip", as_slip(self.slip, "Friction"))
        kind, words = (Interval, "one slip") if len(self.slip) == 1 else (Ellipse, "a pair of slips")
        if self.section is not None and not isinstance(self.section, kind):
            raise DeclarationError(
                f"Friction: section= must be an {kind.__name__} for {words}; it was given {self.section!r:.80}."
            )
        if self.section is not None:
            object.__setattr__(self, "slip", rubbed(self.slip, self.section))
            if len(self.slip) == 1 and isinstance(self.section, Ellipse):
                axis = next(item for item in self.section.sides if item != 0)
                object.__setattr__(self, "section", Interval(-axis, axis))
        check_label(self.name, "Friction")
        check_start(self.starts, "Friction")

    def expressions(self) -> dict[str, Any]:
        """Return the expressions of this friction by what they are."""
        sides = self._sides()
        section = {} if sides is None else {f"section {i + 1}": item for i, item in enumerate(sides)}
        return {"bound": self.bound, **section, **{f"slip {i + 1}": item for i, item in enumerate(self.slip)}}

    def map(self, change: Callable[[Any], Any]) -> Friction:
        """Return this friction with every expression changed."""
        sides = self._sides()
        section = None if sides is None or self.section is None else type(self.section)(*map(change, sides))
        slip = tuple(change(item) for item in self.slip)
        return replace(self, bound=change(self.bound), slip=slip, section=section, of=self.of or None)

    def _sides(self) -> tuple[Any, Any] | None:
        """Return the two expressions of the section as they were given."""
        if isinstance(self.section, Interval):
            return self.section.low, self.section.high
        return None if self.section is None else self.section.sides


def loading(of: Any) -> tuple[str, ...]:
    """Return the names of the constraints that load a friction, none where its bound is given."""
    if of is None or (isinstance(of, tuple) and not of):
        return ()
    names = (of,) if isinstance(of, str) else tuple(of) if isinstance(of, (tuple, list)) else ()
    if not names or not all(isinstance(name, str) for name in names):
        raise DeclarationError(
            f"Friction: of= must be the name of a constraint, or a tuple of names; it was given {of!r:.60}. Leave it "
            "out where the bound is known in advance."
        )
    for name in names:
        if names.count(name) > 1:
            raise DeclarationError(f"Friction: of= names '{name}' twice. Name each constraint once.")
    return names


def rubbed(slip: tuple[Any, ...], section: Section) -> tuple[Any, ...]:
    """Return the slips along which a section is not a point: an axis that is zero has no friction."""
    if isinstance(section, Interval):
        return slip
    kept = tuple(item for item, axis in zip(slip, section.sides, strict=True) if axis != 0)
    return kept or slip


Constraint: TypeAlias = Bilateral | Unilateral | Friction


class Constraints(Sequence[Constraint]):
    """The constraints of a system, by place or by name.

    Examples
    --------
    >>> import zwang as zw
    >>> (x, y), (vx, vy) = zw.coordinates("x y")
    >>> system = zw.System(kinetic=(vx**2 + vy**2) / 2, constraints=[zw.Bilateral(y, name="rail")])
    >>> system.constraints["rail"].expr
    y
    """

    def __init__(self, items: Sequence[Constraint]) -> None:
        self._items = tuple(items)
        self._places = {item.name: place for place, item in enumerate(self._items)}

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in the order of declaration."""
        return tuple(str(item.name) for item in self._items)

    def place(self, name: str) -> int:
        """Return the place of the constraint of that name."""
        if name not in self._places:
            raise DeclarationError(f"There is no constraint '{name}'. {nearest(str(name), self.names)}")
        return self._places[name]

    @overload
    def __getitem__(self, key: int | str) -> Constraint: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Constraint, ...]: ...
    def __getitem__(self, key: int | str | slice) -> Constraint | tuple[Constraint, ...]:
        return self._items[self.place(key)] if isinstance(key, str) else self._items[key]

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Constraint]:
        return iter(self._items)

    def __repr__(self) -> str:
        return f"Constraints({list(self._items)!r})"


def check_label(name: Any, kind: str) -> None:
    """Refuse names of constraints that could not be printed or looked up."""
    if name is not None and (not isinstance(name, str) or not name.strip() or not name.isprintable() or len(name) > 80):
        raise DeclarationError(f"{kind}: name= must be a printable text of at most 80 characters; it was {name!r:.90}.")


def check_start(starts: Any, kind: str) -> None:
    """Refuse anything but 'on' and 'off'."""
    if not isinstance(starts, str) or starts not in ("on", "off"):
        raise DeclarationError(f"{kind}: starts= must be 'on' or 'off'; it was given {starts!r:.40}.")
