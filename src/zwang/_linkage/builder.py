"""`Linkage`: planar mechanisms, declared part by part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sympy as sp

from zwang._declare.drawing import Drawing
from zwang._declare.given import components as components_of
from zwang._declare.system import System
from zwang._linkage import assembly, layout
from zwang._linkage.inventory import Inventory
from zwang._linkage.parts import Bar, BarSlider, Force, GroundPart, Guide, Pin, PointPart, SpringPart, String, Torque
from zwang._linkage.rough import with_rough_ends
from zwang._linkage.values import check_name, curve, pair, rubbing, split, value
from zwang.errors import DeclarationError, nearest, printable

LAYOUTS = {"cartesian": layout.cartesian, "joint": layout.joint}
DISTANCES = ("length", "half square")


class Linkage:
    """A planar mechanism of points, bars, pins, sliders and guides, which yields a `System`.

    Every method adds a part and returns the linkage. Lengths, masses and places are numbers, symbols, expressions of
    parameters, or texts of such [m, kg]; those of the ground may depend on time.

    Parameters
    ----------
    name : str
        What the mechanism is called.
    gravity : two expressions
        Acceleration of gravity [m/s^2], such as ``(0, -9.81)``.
    distances : {'length', 'half square'}
        How a bar of length l is written: ``(|AB|^2 - l^2)/(2 l)``, whose multiplier is the force in the bar [N],
        positive in compression; or ``(|AB|^2 - l^2)/2``, whose multiplier is that force over l.

    Examples
    --------
    The pendulum of Burian (2017): two bars that fold, the end of the second on an ellipse; x points down.

    >>> import zwang as zw
    >>> pendulum = zw.Linkage("pendulum", gravity=("g", 0))
    >>> pendulum = pendulum.ground("A", 0, 0)
    >>> pendulum = pendulum.points("B C", mass="m")
    >>> pendulum = pendulum.chain("A B C", lengths=(2, 1))
    >>> pendulum = pendulum.guide("C", "(x - a)**2/r1**2 + y**2/r2**2 - 1", name="ellipse", normalized=False)
    >>> pendulum.system(coordinates="joint")
    System 'pendulum'
      coordinates  theta_B (angle), theta_C (angle)
      ...
    >>> [item.name for item in pendulum.system().coordinates]
    ['x_B', 'y_B', 'x_C', 'y_C']
    """

    def __init__(self, name: str, *, gravity: Sequence[Any] = (0, 0), distances: str = "length") -> None:
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise DeclarationError(f"Linkage: the name must be a printable text; it was given {name!r}.")
        if not isinstance(distances, str) or distances not in DISTANCES:
            known = nearest(str(distances), DISTANCES)
            raise DeclarationError(f"Linkage '{name}': unknown distances='{distances}'. {known}")
        self.name = name
        self.gravity = pair(gravity, f"Linkage '{name}': gravity")
        self.distances = distances
        self._parts = Inventory(name)

    # --- points ------------------------------------------------------------------------------------------------------

    def ground(self, name: str, x: Any, y: Any) -> Linkage:
        """Add a point of the ground at (x, y); expressions of time make it move [m]."""
        self._parts.new_point(name)
        where = f"{self._parts.where}: ground '{name}'"
        self._parts.ground[name] = GroundPart(name, value(x, where, time=True), value(y, where, time=True))
        return self

    def point(
        self, name: str, *, mass: Any = 0, on: Sequence[str] | None = None, fraction: Any = None, offset: Any = None
    ) -> Linkage:
        """Add a point, free or carried by a rigid bar.

        Parameters
        ----------
        name : str
            Its name; its Cartesian coordinates are called ``x_<name>`` and ``y_<name>``.
        mass : expression
            Mass at the point [kg].
        on : two names, optional
            The ends of the bar that carries it.
        fraction, offset : expression
            Where on that bar: at this fraction of its length from the first end, and this far to the left of it [m].
        """
        self._parts.new_point(name)
        where = f"{self._parts.where}: point '{name}'"
        weight = value(mass, f"{where}: mass", least=0)
        if on is None:
            if fraction is not None or offset is not None:
                raise DeclarationError(f"{where}: fraction= and offset= need the bar that carries it: on=('A', 'B').")
            self._parts.points[name] = PointPart(name, weight)
            return self
        bar = self._parts.bar(on, where)
        along = value(0 if fraction is None else fraction, f"{where}: fraction")
        aside = value(0 if offset is None else offset, f"{where}: offset")
        if tuple(on) != bar.ends:  # the caller counts from the end that they name first
            along, aside = 1 - along, -aside
        self._parts.points[name] = PointPart(name, weight, bar.ends, along, aside)
        return self

    def points(self, names: str | Sequence[str], *, mass: Any = 0) -> Linkage:
        """Add several free points of equal mass [kg]; names separated by blanks."""
        for name in split(names, f"{self._parts.where}: points"):
            self.point(name, mass=mass)
        return self

    # --- bars --------------------------------------------------------------------------------------------------------

    def bar(
        self,
        first: str,
        second: str,
        length: Any,
        *,
        mass: Any = 0,
        inertia: Any = None,
        fraction: Any = None,
        offset: Any = 0,
        angle: str | None = None,
        friction: Any = None,
        radius: Any = None,
        name: str | None = None,
    ) -> Linkage:
        """Add a rigid bar between two points.

        Parameters
        ----------
        first, second : str
            The points that it joins.
        length : expression
            Its length [m].
        mass : expression
            Its mass [kg], spread uniformly unless `inertia` is given; 0 for a massless bar.
        inertia : expression, optional
            Moment of inertia about the centre of mass [kg m^2], for a body that is not a uniform bar.
        fraction, offset : expression, optional
            Where the centre of mass is: fraction of the length (1/2 by default), and to the left of the bar [m].
        angle : str, optional
            The name of its absolute angle in joint coordinates, from the x axis to the direction first -> second; by
            default ``theta_<point>`` after the point it leads to.
        friction, radius : expression, optional
            Coefficient of dry friction in the pins at its ends, and their radius [m]: as of `pin`, against the other
            bar that ends there, a slider, or the ground. The pins are called ``<name> at <point>``.
        name : str, optional
            The name of its constraint; by default ``first-second``.
        """
        label = name or f"{first}-{second}"
        where = f"{self._parts.where}: bar '{label}'"
        self._parts.two_points(first, second, where)
        if first in self._parts.ground and second in self._parts.ground:
            raise DeclarationError(f"{where}: both ends belong to the ground, so it holds nothing.")
        if (first, second) in self._parts.bars or (second, first) in self._parts.bars:
            raise DeclarationError(f"{where}: there is a bar between '{first}' and '{second}' already.")
        if inertia is None and (fraction is not None or offset != 0):
            raise DeclarationError(f"{where}: a bar whose centre of mass is given is not uniform: give inertia= too.")
        if angle is not None:
            check_name(angle, f"{where}: angle")
        bar = Bar(
            first,
            second,
            value(length, f"{where}: length", above=0),
            value(mass, f"{where}: mass", least=0),
            None if inertia is None else value(inertia, f"{where}: inertia", least=0),
            sp.Rational(1, 2) if fraction is None else value(fraction, f"{where}: fraction"),
            value(offset, f"{where}: offset"),
            angle,
            label,
            *rubbing(friction, radius, where),
        )
        self._parts.relate(bar)
        return self

    def chain(self, names: str | Sequence[str], *, lengths: Any, mass: Any = 0) -> Linkage:
        """Add bars between successive points; one length for all, or one for each [m]; `mass` of each bar [kg]."""
        listed = split(names, f"{self._parts.where}: chain")
        told = components_of(lengths)
        each = [lengths] * (len(listed) - 1) if told is None else told
        if len(listed) < 2 or len(each) != len(listed) - 1:
            need = f"{len(listed)} points need {max(len(listed) - 1, 1)} lengths; {len(each)} given"
            raise DeclarationError(f"{self._parts.where}: chain: {need}.")
        for first, second, length in zip(listed, listed[1:], each, strict=False):
            self.bar(first, second, length, mass=mass)
        return self

    def string(
        self, first: str, second: str, length: Any, *, restitution: Any = None, name: str | None = None
    ) -> Linkage:
        """Add an inextensible string: a one-sided constraint whose multiplier is the tension (see `distances`)."""
        label = name or f"{first}-{second} string"
        where = f"{self._parts.where}: string '{label}'"
        self._parts.two_points(first, second, where)
        back = None if restitution is None else value(restitution, f"{where}: restitution", least=0)
        self._parts.relate(String(first, second, value(length, f"{where}: length", above=0), back, label))
        return self

    def pin(
        self,
        first: str,
        second: str,
        *,
        friction: Any = None,
        radius: Any = None,
        between: Sequence[str] | None = None,
        name: str | None = None,
    ) -> Linkage:
        """Join two points: they stay together, by two constraints with the suffixes ' x' and ' y'.

        Parameters
        ----------
        first, second : str
            The points.
        friction : expression or callable, optional
            Coefficient mu of dry friction in the pin: a `Friction` with the bound sin(arctan(mu)) of the resultant of
            both constraints, under the pin's own name. Or a function of the slip that returns a law, whose section
            then is that of the whole bearing force.
        radius : expression
            Of the pin, where it rubs [m]; the slip is this radius times the relative turning.
        between : two names, optional
            The bars (or 'ground') that turn on each other, where more than one meets in a point.
        name : str, optional
            By default ``first-second``.
        """
        label = name or f"{first}-{second}"
        where = f"{self._parts.where}: pin '{label}'"
        self._parts.two_points(first, second, where)
        if between is not None and (friction is None or isinstance(between, str) or len(tuple(between)) != 2):
            need = "goes with friction=" if friction is None else f"must be two names; it was given {between!r:.60}"
            raise DeclarationError(f"{where}: between= {need}.")
        pair_of = None if between is None else (str(between[0]), str(between[1]))
        self._parts.relate(Pin(first, second, label, *rubbing(friction, radius, where), pair_of))
        return self

    # --- guides ------------------------------------------------------------------------------------------------------

    def guide(
        self,
        point: str,
        implicit: Callable[..., Any] | str,
        *,
        normalized: bool = True,
        unilateral: bool = False,
        friction: Any = None,
        restitution: Any = None,
        name: str | None = None,
    ) -> Linkage:
        """Keep a point on a curve given by an implicit equation.

        Parameters
        ----------
        point : str
            The point.
        implicit : function of (x, y), or text in x and y
            F, with F = 0 on the curve.
        normalized : bool
            The constraint is ``F/|grad F|``, whose multiplier is a force [N]; otherwise F as it stands.
        unilateral : bool
            Keep the point where F >= 0 instead.
        friction : expression or callable, optional
            Coefficient of Coulomb friction, or a function of the slip that returns a law; the slip is the velocity
            along ``(F_y, -F_x)/|grad F|``.
        restitution : expression, optional
            Of impacts at a unilateral guide.
        name : str, optional
            The name of the constraint; by default ``<point> guide``.
        """
        label = name or f"{point} guide"
        where = f"{self._parts.where}: guide '{label}'"
        self._parts.known_point(point, where)
        if restitution is not None and not unilateral:
            raise DeclarationError(f"{where}: restitution= goes with unilateral=True; other guides have no impacts.")
        law = friction if friction is None or callable(friction) else value(friction, f"{where}: friction", least=0)
        back = None if restitution is None else value(restitution, f"{where}: restitution", least=0)
        expression, variables = curve(implicit, where)
        self._parts.relate(Guide(point, expression, variables, normalized, unilateral, law, back, label))
        return self

    def slider(
        self,
        point: str,
        *,
        through: Sequence[Any] = (0, 0),
        direction: Sequence[Any] | None = None,
        along: Sequence[str] | None = None,
        friction: Any = None,
        length: Any = None,
        name: str | None = None,
    ) -> Linkage:
        """Keep a point on a straight line: through a place of the ground in a `direction`, or `along` a bar.

        The constraint is the distance from the line, positive to its left; the slip is the velocity along it. With a
        `length` [m] the point is the middle of a guide. Where a bar carries that point (``point(..., on=)``), the guide
        is fixed to the bar and carries its moment: two constraints, with the suffixes ' 1' and ' 2', at half the length
        before and behind the point along the bar, each with friction by its own force; together they rub with
        mu max(abs(N), 2 abs(M)/length). Else it presses evenly, and the length makes no difference.
        """
        label = name or f"{point} slider"
        where = f"{self._parts.where}: slider '{label}'"
        self._parts.known_point(point, where)
        if (direction is None) == (along is None):
            raise DeclarationError(f"{where}: give the line by direction=(dx, dy) or by along=('A', 'B').")
        law = friction if friction is None or callable(friction) else value(friction, f"{where}: friction", least=0)
        size = None if length is None else value(length, f"{where}: length", above=0)
        if along is not None and size is not None:
            raise DeclarationError(
                f"{where}: length= goes with a line of the ground, direction=(dx, dy), not with along=."
            )
        if along is not None:
            self._parts.relate(BarSlider(point, self._parts.bar(along, where).ends, law, label))
            return self
        (px, py), (dx, dy) = pair(through, f"{where}: through"), pair(direction, f"{where}: direction")
        if dx == 0 and dy == 0:
            raise DeclarationError(f"{where}: direction= is zero, so it gives no line.")
        line, variables = curve(lambda x, y: dx * (y - py) - dy * (x - px), where)
        self._parts.relate(Guide(point, line, variables, True, False, law, None, label, size))
        return self

    # --- forces ------------------------------------------------------------------------------------------------------

    def spring(self, first: str, second: str, *, stiffness: Any, length: Any, damping: Any = 0) -> Linkage:
        """Add a spring [N/m] of a rest length [m], with a damper [N s/m], between two points."""
        where = f"{self._parts.where}: spring '{first}-{second}'"
        self._parts.two_points(first, second, where)
        values = (value(item, where, least=0) for item in (stiffness, length, damping))
        self._parts.springs.append(SpringPart(first, second, *values))
        return self

    def damper(self, first: str, second: str, damping: Any) -> Linkage:
        """Add a viscous damper [N s/m] between two points."""
        return self.spring(first, second, stiffness=0, length=0, damping=damping)

    def force(self, point: str, components: Sequence[Any] | Callable[..., Any]) -> Linkage:
        """Apply a force [N] at a point: two expressions of parameters and time, or a function of (x, y, vx, vy)."""
        where = f"{self._parts.where}: force at '{point}'"
        self._parts.known_point(point, where)
        given = components if callable(components) else pair(components, where, time=True)
        self._parts.forces.append(Force(point, given))
        return self

    def torque(self, on: Sequence[str], moment: Any) -> Linkage:
        """Apply a torque [N m], counted from x to y, to a bar given by its ends."""
        where = f"{self._parts.where}: torque"
        self._parts.torques.append(Torque(self._parts.bar(on, where).ends, value(moment, where, time=True)))
        return self

    # --- what comes out ----------------------------------------------------------------------------------------------

    def system(self, *, coordinates: str = "cartesian") -> System:
        """Return the mechanism as a System.

        Parameters
        ----------
        coordinates : {'cartesian', 'joint'}
            Cartesian coordinates of the points (sparse constraints, constant masses: what scales), or the absolute
            angles of the bars of a spanning tree from the ground, with loops and guides left as constraints.
        """
        parts = with_rough_ends(self._parts)
        placed = self._layout(coordinates, parts)
        light = assembly.without_inertia(parts) if coordinates == "cartesian" else None
        if light is not None:
            raise DeclarationError(
                f"{parts.where}: the point '{light}' has no inertia in Cartesian coordinates, and fewer than two "
                "constraints to place it. Give it mass=, give a bar that ends there mass=, or use coordinates='joint'."
            )
        return System(
            name=self.name,
            kinetic=assembly.kinetic_energy(parts, placed),
            potential=assembly.potential_energy(parts, self.gravity, placed),
            forces=assembly.applied_forces(parts, placed),
            constraints=list(assembly.constraints(parts, self.distances, placed)),
            coordinates=placed.coordinates,
            drawing=self._drawing(placed, parts),
        )

    def drawing(self, *, coordinates: str = "cartesian") -> Drawing:
        """Return points, bars, springs and guides as expressions of the same coordinates as in `system`."""
        parts = with_rough_ends(self._parts)
        return self._drawing(self._layout(coordinates, parts), parts)

    def _drawing(self, placed: layout.JointLayout, parts: Inventory) -> Drawing:
        relations = parts.relations.values()
        segments = [bar.ends for bar in parts.bars.values()]
        for item in parts.points.values():
            if item.bar is not None and item.offset != 0:
                segments += [(item.bar[0], item.name), (item.name, item.bar[1])]
        segments += [(item.first, item.second) for item in relations if isinstance(item, String)]
        curves = {item.name: (item.implicit, item.variables) for item in relations if isinstance(item, Guide)}
        positions = {name: vector.position for name, vector in placed.vectors.items()}
        springs = [(item.first, item.second) for item in parts.springs]
        return Drawing(positions, bars=segments, springs=springs, ground=tuple(parts.ground), curves=curves)

    def _layout(self, coordinates: str, parts: Inventory) -> layout.JointLayout:
        if coordinates not in LAYOUTS:
            known = nearest(str(coordinates), LAYOUTS)
            raise DeclarationError(f"{self._parts.where}: unknown coordinates='{coordinates}'. {known}")
        return LAYOUTS[coordinates](parts)

    def __repr__(self) -> str:
        parts = self._parts
        counts = f"{len(parts.points)} points, {len(parts.bars)} bars, {len(parts.ground)} on the ground"
        return f"Linkage '{printable(self.name)}': {counts}"
