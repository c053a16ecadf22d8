"""`Drawing`: what a picture of a system shows, as expressions of its coordinates, parameters and time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from zwang import _expressions
from zwang._declare.constraints import Unilateral
from zwang._declare.frozen import Frozen
from zwang._declare.given import Text, as_expression, components
from zwang._declare.numeric_values import numbers_of
from zwang._declare.shapes import FORMS, Form
from zwang._declare.symbols import Coordinate, Dependent, Time, Velocity, parameter, symbol_table
from zwang._numerics.tolerances import name_of
from zwang._plot.scene import Scene, Solid, outlines_of
from zwang.errors import DeclarationError, nearest

Array = NDArray[np.float64]
Ends = tuple[str, str]
GRID = 321  # points a side: a pixel or two of an ordinary picture
ALONG = 241
"""Places on a curve that is given by a parameter."""
VIEW = np.array([[0.88, -0.26], [0.48, 0.42], [0.0, 0.87]])
"""Rows: where the three axes of space point in the plane of the picture, seen from above the front."""


@dataclass(frozen=True)
class Curve:
    """A curve that stands behind the mechanism: F(x, y) = 0, or the places of a parameter that runs.

    Attributes
    ----------
    expressions : tuple
        One: the implicit equation. Two or three: the components of a place.
    symbols : tuple
        x and y of the implicit equation, or the parameter.
    span : tuple
        From where to where the parameter runs; empty for an implicit equation.
    """

    expressions: tuple[Any, ...]
    symbols: tuple[Any, ...]
    span: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Placed:
    """A form at a place, turned by an angle."""

    form: Form
    place: tuple[Any, ...]
    angle: Any


@dataclass(frozen=True)
class Drawing:
    """The picture of a system as data.

    Expressions are those of SymPy, numbers, or texts; places have two components or three [m].

    Parameters
    ----------
    points : mapping of str to place
        Where the points are.
    bars, springs : pairs of names
        Points that are joined by a straight bar, or by a spring.
    curves : mapping of str to (implicit, (x, y)) or (place, parameter, (low, high))
        Guides: an expression that is zero on the curve with the two symbols that stand for a place in the plane, or
        a place that depends on a symbol which runs from low to high.
    bodies : mapping of str to names, or to (form, place, angle)
        Filled polygons through points, or one of `zwang.shapes` at a place, turned by an angle [rad].
    traces : names, optional
        Points whose paths a film draws; by default all that move.
    ground : names
        The points that belong to the ground.
    scale : expression, optional
        The least length that the picture shows [m].

    Examples
    --------
    >>> import zwang as zw
    >>> wheel = zw.Drawing(
    ...     {"hub": ("x", "r"), "rim": ("x + r*sin(theta)", "r + r*cos(theta)")},
    ...     bars=[("hub", "rim")], bodies={"wheel": (zw.shapes.Sphere("r"), ("x", "r"), "-theta")},
    ... )
    >>> wheel.places({"x": 1.0, "r": 0.5, "theta": [0.0, 3.14159265]}).round(6).tolist()
    [[[1.0, 0.5], [1.0, 1.0]], [[1.0, 0.5], [1.0, 0.0]]]
    """

    points: Mapping[str, Any]
    bars: Sequence[Ends] = field(default=(), kw_only=True)
    curves: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    bodies: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    springs: Sequence[Ends] = field(default=(), kw_only=True)
    traces: Sequence[str] | None = field(default=None, kw_only=True)
    ground: Sequence[str] = field(default=(), kw_only=True)
    scale: Any = field(default=None, kw_only=True)
    tree: Any = field(default=None, kw_only=True, repr=False, compare=False)
    """The bodies of its system: what places of theirs are, where symbols stand for them."""

    def __post_init__(self) -> None:
        put = object.__setattr__
        points = {_label(name): _place(place, f"point '{name}'") for name, place in _mapping(self.points, "points")}
        put(self, "points", Frozen(points))
        for what in ("bars", "springs"):
            put(self, what, tuple(self._ends(item, what) for item in _listed(getattr(self, what), what)))
        put(self, "ground", self._named(self.ground, "ground"))
        put(self, "traces", None if self.traces is None else self._named(self.traces, "traces"))
        curves = {_label(name): _curve(item, f"curve '{name}'") for name, item in _mapping(self.curves, "curves")}
        put(self, "curves", Frozen(curves))
        bodies = {_label(name): self._body(name, item) for name, item in _mapping(self.bodies, "bodies")}
        put(self, "bodies", Frozen(bodies))
        put(self, "scale", None if self.scale is None else _read(self.scale, "scale"))
        sizes = {len(place) for place in points.values()} | {len(b.place) for b in bodies.values() if _placed(b)}
        if len(sizes) > 1:
            raise DeclarationError("Drawing: some places have two components and some three. Give all of them three.")

    def _named(self, names: Any, what: str) -> tuple[str, ...]:
        found = tuple(_listed(names, what))
        for name in found:
            if not isinstance(name, str) or name not in self.points:
                raise DeclarationError(
                    f"Drawing: {what}= names {name!r:.60}, which is no point. {nearest(str(name), self.points)}"
                )
        return found

    def _ends(self, pair: Any, what: str) -> Ends:
        ends = self._named(pair, what)
        if len(ends) != 2:
            raise DeclarationError(f"Drawing: {what}= holds pairs of points; it was given {pair!r:.60}.")
        return ends[0], ends[1]

    def _body(self, name: str, given: Any) -> Any:
        if isinstance(given, Placed):
            return given
        parts = tuple(_listed(given, f"body '{name}'"))
        if parts and isinstance(parts[0], Form):
            if len(parts) != 3:
                raise DeclarationError(f"Drawing: body '{name}' needs (form, place, angle); it has {len(parts)} parts.")
            form = parts[0].map(lambda item, where: _read(item, f"body '{name}': {where}"))
            return Placed(form, _place(parts[1], f"body '{name}'"), _read(parts[2], f"body '{name}': angle"))
        corners = self._named(parts, f"body '{name}'")
        if len(corners) < 3:
            raise DeclarationError(
                f"Drawing: body '{name}' needs three points or more, or (form, place, angle) with a form of zw.shapes."
            )
        return corners

    @property
    def dimension(self) -> int:
        """The number of components of a place."""
        places = [*self.points.values(), *(item.place for item in self.bodies.values() if _placed(item))]
        return len(places[0]) if places else 2

    def expressions(self) -> list[Any]:
        """Return every expression that a picture needs a number for."""
        found = [item for place in self.points.values() for item in place]
        for body in self.bodies.values():
            if _placed(body):
                found += [*body.form.expressions(), *body.place, body.angle]
        for curve in self.curves.values():
            found += [*curve.expressions, *curve.span]
        return [*found, *([] if self.scale is None else [self.scale])]

    def symbols(self) -> set[Any]:
        """Return the symbols that need values: coordinates, parameters and time."""
        own = {symbol for curve in self.curves.values() for symbol in curve.symbols}
        return {symbol for item in self.expressions() for symbol in item.free_symbols} - own

    def map(self, change: Callable[[Any], Any]) -> Drawing:
        """Return the drawing with every expression changed."""
        return Drawing(
            {name: tuple(change(item) for item in place) for name, place in self.points.items()},
            bars=self.bars,
            springs=self.springs,
            ground=self.ground,
            traces=self.traces,
            curves={
                name: Curve(
                    tuple(change(item) for item in curve.expressions),
                    curve.symbols,
                    tuple(change(item) for item in curve.span),
                )
                for name, curve in self.curves.items()
            },
            bodies={
                name: Placed(
                    body.form.map(lambda item, _: change(item)),
                    tuple(change(item) for item in body.place),
                    change(body.angle),
                )
                if _placed(body)
                else body
                for name, body in self.bodies.items()
            },
            scale=None if self.scale is None else change(self.scale),
            tree=self.tree,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the drawing as plain texts and lists: what a model file holds under ``[drawing]``."""
        text = _expressions.to_text
        plain: dict[str, Any] = {"points": {name: [text(item) for item in at] for name, at in self.points.items()}}
        plain |= {key: [list(pair) for pair in getattr(self, key)] for key in ("bars", "springs")}
        plain |= {"ground": list(self.ground)} | ({} if self.traces is None else {"traces": list(self.traces)})
        plain["curves"] = {name: _curve_dict(curve, text) for name, curve in self.curves.items()}
        plain["bodies"] = {name: _body_dict(body, text) for name, body in self.bodies.items()}
        plain |= {} if self.scale is None else {"scale": text(self.scale)}
        return {key: value for key, value in plain.items() if value not in ([], {}) or key in ("points", "traces")}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Drawing:
        """Return the drawing of a plain dictionary; its texts are read by the parser that executes nothing."""
        given = dict(_mapping(plain, "[drawing]"))
        known = ("points", "bars", "springs", "ground", "traces", "curves", "bodies", "scale")
        for key in given:
            if key not in known:
                raise DeclarationError(f"Drawing: there is no '{key}'. {nearest(str(key), known)}")
        curves = {name: _curve_of(item, name) for name, item in _mapping(given.pop("curves", {}), "curves")}
        bodies = {name: _body_of(item, name) for name, item in _mapping(given.pop("bodies", {}), "bodies")}
        return cls(given.pop("points", {}), curves=curves, bodies=bodies, **given)

    def joined(self, system: str, known: Collection[Any]) -> Drawing:
        """Return the drawing with the symbols of a system in place of those of their names."""
        by_name = {symbol.name: symbol for symbol in known}
        change: dict[Any, Any] = {}
        for symbol in self.symbols():
            if symbol.name not in by_name:
                raise DeclarationError(
                    f"{system}: its drawing uses '{symbol.name}', which the system doesn't know. "
                    f"{nearest(symbol.name, by_name)}"
                )
            change[symbol] = by_name[symbol.name]
        return self.map(lambda item: item.xreplace(change))

    def places(self, values: Mapping[Any, Any]) -> Array:
        """Return where the points are, (states, points, components), at one state or at arrays of states [m].

        Parameters
        ----------
        values : mapping
            Symbol or name -> number or array, for coordinates, parameters and time.

        Examples
        --------
        >>> import zwang as zw
        >>> linkage = zw.Linkage("pendulum").ground("A", 0, 0).point("B", mass=1).bar("A", "B", 2)
        >>> linkage.drawing(coordinates="joint").places({"theta_B": [0.0, np.pi / 2]})[:, 1].round(12).tolist()
        [[2.0, 0.0], [0.0, 2.0]]
        """
        rows = self._rows([item for place in self.points.values() for item in place], values)
        return rows.reshape(len(rows), len(self.points), self.dimension)

    def _rows(self, expressions: list[Any], values: Mapping[Any, Any]) -> Array:
        """Return numbers, (states, expressions)."""
        known = values if "t" in values else {"t": 0.0, **values}
        if self.tree is not None and any(item.has(Dependent) for item in expressions):
            known = {**known, **self.tree.numbers(known)}
        given = {name_of(key) for key in known}
        for item in expressions:
            for symbol in item.free_symbols:
                if symbol.name not in given:
                    raise DeclarationError(
                        f"The drawing needs a value for '{symbol.name}'. {nearest(symbol.name, given)}"
                    )
        flat = numbers_of(expressions, known)
        count = max((np.size(item) for item in flat), default=1)
        rows = [np.broadcast_to(np.asarray(item, dtype=float).ravel(), (count,)) for item in flat]
        return np.stack(rows, axis=1) if rows else np.zeros((1, 0))

    def scene(self, values: Mapping[Any, Any], *, relations: Iterable[Any] = ()) -> Scene:
        """Return the picture with numbers in it, at one state or at arrays of states.

        Places in space are seen from above the front. `relations` are constraints of the system: one-sided ones on the
        height or the abscissa of a point are drawn as floors and walls.

        Examples
        --------
        >>> import zwang as zw
        >>> rod = zw.gallery.get("painleve_rod")
        >>> scene = rod.drawing.scene({**rod.state, **rod.params}, relations=rod.system.constraints)
        >>> scene.places[0, 2].round(6).tolist(), scene.surfaces
        ([1.0, 1.732051], [((0.0, 0.0), (0.0, 1.0))])
        """
        names = list(self.points)
        places = _seen(self.places(values))
        placed = {name: self._solid(name, body, values, names) for name, body in self.bodies.items()}
        frames = max([len(places), *(len(solid.at) for solid in placed.values())])
        bodies = list(placed.values())
        first = {key: np.ravel(value)[0] if np.size(value) else value for key, value in values.items()}
        number = {key: value for key, value in first.items() if not isinstance(value, str)}
        size = 0.0 if self.scale is None else float(self._rows([self.scale], number)[0, 0])
        scene = Scene(
            names,
            places,
            bars=[(names.index(a), names.index(b)) for a, b in self.bars],
            springs=[(names.index(a), names.index(b)) for a, b in self.springs],
            ground=[names.index(name) for name in self.ground],
            traces=None if self.traces is None else [names.index(name) for name in self.traces],
            bodies=bodies,
            surfaces=self._surfaces(relations, number) if self.dimension == 2 else [],
            scale=size,
        ).repeated(frames)
        lines = self._outlines(number, *scene.corners())
        # A closed curve is shown whole, and so is one with ends of its own; others run off the picture.
        whole = [line for line, ends in lines if ends or np.array_equal(line[0], line[-1])]
        endless = [line for line, ends in lines if not ends and not np.array_equal(line[0], line[-1])]
        return replace(scene, outlines=whole, endless=endless)

    def _solid(self, name: str, body: Any, values: Mapping[Any, Any], names: list[str]) -> Solid:
        if not _placed(body):
            return Solid(name, tuple(names.index(item) for item in body))
        first = {key: np.ravel(value)[0] for key, value in values.items() if np.size(value)}
        outline = body.form.outline(lambda item: float(self._rows([item], first)[0, 0]))
        rows = self._rows([*body.place, body.angle], values)
        at = np.concatenate([_seen(rows[:, None, :-1])[:, 0], rows[:, -1:]], axis=1)
        return Solid(name, outline=outline, at=at)

    def _outlines(self, values: Mapping[Any, Any], low: Array, high: Array) -> list[tuple[Array, bool]]:
        """Return the lines of the curves, each with whether it has ends of its own."""
        found: list[tuple[Array, bool]] = []
        grown = np.full(2, float((high - low).max()))  # a guide may reach farther than what moves on it
        axes = (np.linspace(a, b, GRID) for a, b in zip(low - grown, high + grown, strict=True))
        X, Y = np.meshgrid(*axes)
        for curve in self.curves.values():
            if curve.span:
                start, end = self._rows(list(curve.span), values)[0]
                along = np.linspace(start, end, ALONG)
                rows = self._rows(list(curve.expressions), {**values, curve.symbols[0]: along})
                found.append((_seen(np.broadcast_to(rows, (ALONG, rows.shape[1]))[:, None])[:, 0], True))
            else:
                x, y = curve.symbols
                (F,) = numbers_of(curve.expressions, {"t": 0.0, **values, x: X, y: Y})
                found += [(line, False) for line in outlines_of([(X, Y, np.broadcast_to(F, X.shape))])]
        return found

    def _surfaces(self, relations: Iterable[Any], values: Mapping[Any, Any]) -> list[Any]:
        """Return floors and walls: one-sided constraints that differ from a coordinate of a point by a number."""
        found: list[Any] = []
        for item in relations:
            if not isinstance(item, Unilateral) or item.level != "position":
                continue
            for place in self.points.values():
                for axis in (0, 1):
                    offset = (item.expr - place[axis]).expand()
                    if not offset.has(Coordinate, Velocity):
                        level = float(self._rows([offset], values)[0, 0])
                        at = (-level + 0.0, 0.0) if axis == 0 else (0.0, -level + 0.0)
                        surface = (at, (1.0 - axis, float(axis)))
                        if surface not in found:
                            found.append(surface)
        return found


def _placed(body: Any) -> bool:
    return isinstance(body, Placed)


def _seen(places: Array) -> Array:
    """Return places (..., 2 or 3) as they are seen in the plane of the picture."""
    return places if places.shape[-1] == 2 else places @ VIEW


def _mapping(given: Any, what: str) -> Iterable[tuple[Any, Any]]:
    if not isinstance(given, Mapping):
        raise DeclarationError(f"Drawing: {what}= must be a mapping from names; it was given {given!r:.60}.")
    return given.items()


def _listed(given: Any, what: str) -> list[Any]:
    found = components(given)
    if found is None:
        raise DeclarationError(f"Drawing: {what}= must be a list of names or of pairs; it was given {given!r:.60}.")
    return found


def _label(name: Any) -> str:
    if not isinstance(name, str) or not name.strip() or not name.isprintable() or len(name) > 80:
        raise DeclarationError(f"Drawing: a name must be a printable text of at most 80 characters; it was {name!r}.")
    return name


def _read(given: Any, where: str) -> Any:
    """Return an expression; the names in a text become symbols that `joined` puts those of a system in place of."""
    expr = as_expression(given, f"Drawing: {where}")
    if not isinstance(expr, Text):
        return expr
    return _expressions.parse(expr.name, dict(symbol_table(())), where=f"Drawing: {where}", parameters=parameter)


def _place(given: Any, where: str) -> tuple[Any, ...]:
    parts = _listed(given, where)
    if len(parts) not in (2, 3):
        raise DeclarationError(f"Drawing: {where} needs two or three components; it has {len(parts)}.")
    return tuple(_read(item, where) for item in parts)


def _curve(given: Any, where: str) -> Curve:
    if isinstance(given, Curve):
        return given
    parts = _listed(given, where)
    if len(parts) == 2:
        x, y = (_symbol(item, where) for item in _two(parts[1], where))
        return Curve((_read(parts[0], where),), (x, y))
    if len(parts) == 3:
        low, high = (_read(item, where) for item in _two(parts[2], where))
        return Curve(_place(parts[0], where), (_symbol(parts[1], where),), (low, high))
    raise DeclarationError(
        f"Drawing: {where} needs (implicit, (x, y)) or (place, parameter, (low, high)); it was given {given!r:.60}."
    )


def _two(given: Any, where: str) -> list[Any]:
    parts = _listed(given, where)
    if len(parts) != 2:
        raise DeclarationError(f"Drawing: {where} needs a pair here; it was given {given!r:.60}.")
    return parts


def _symbol(given: Any, where: str) -> Any:
    found = _read(given, where)
    if not isinstance(found, sp.Symbol) or isinstance(found, (Coordinate, Velocity, Time)):
        raise DeclarationError(
            f"Drawing: {where} needs a symbol of its own here, no coordinate or time; it was {given!r}."
        )
    return found


def _curve_dict(curve: Curve, text: Callable[[Any], str]) -> dict[str, Any]:
    if not curve.span:
        return {"implicit": text(curve.expressions[0]), "variables": [item.name for item in curve.symbols]}
    return {
        "place": [text(item) for item in curve.expressions],
        "parameter": curve.symbols[0].name,
        "span": [text(item) for item in curve.span],
    }


def _curve_of(plain: Any, name: str) -> Any:
    keys = set(dict(_mapping(plain, f"curve '{name}'")))
    if keys == {"implicit", "variables"}:
        return plain["implicit"], plain["variables"]
    if keys == {"place", "parameter", "span"}:
        return plain["place"], plain["parameter"], plain["span"]
    raise DeclarationError(
        f"Drawing: curve '{name}' needs implicit and variables, or place, parameter and span; it has "
        f"{', '.join(sorted(map(str, keys))) or 'nothing'}."
    )


def _body_dict(body: Any, text: Callable[[Any], str]) -> dict[str, Any]:
    if not _placed(body):
        return {"points": list(body)}
    kind = next(key for key, form in FORMS.items() if type(body.form) is form)
    lengths = body.form.map(lambda item, _: text(item)).lengths()
    plain = {key: [list(at) for at in value] if kind == "hull" else value for key, value in lengths.items()}
    return {"form": kind, **plain, "place": [text(item) for item in body.place], "angle": text(body.angle)}


def _body_of(plain: Any, name: str) -> Any:
    given = dict(_mapping(plain, f"body '{name}'"))
    if "form" not in given:
        if set(given) != {"points"}:
            raise DeclarationError(f"Drawing: body '{name}' needs points = [...], or form, place and angle.")
        return given["points"]
    kind = given.pop("form")
    if not isinstance(kind, str) or kind not in FORMS:
        raise DeclarationError(f"Drawing: body '{name}' has no known form {kind!r:.60}. {nearest(str(kind), FORMS)}")
    place, angle = given.pop("place", None), given.pop("angle", 0)
    try:
        form = FORMS[kind](**given)
    except TypeError:
        needed = ", ".join(item.name for item in fields(FORMS[kind]))
        raise DeclarationError(f"Drawing: body '{name}': {kind} needs {needed}; it has {', '.join(given)}.") from None
    if place is None:
        raise DeclarationError(f"Drawing: body '{name}' needs a place = [...].")
    return form, place, angle
