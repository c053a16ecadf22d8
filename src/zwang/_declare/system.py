"""`System`: a mechanical system as it is declared, immutable, equal and hashed by its content."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import sympy as sp

from zwang._declare import (
    change_of_coordinates,
    declaration_reader,
    event_list,
    lagrange_method,
    plain,
    system_text,
    validity,
)
from zwang._declare.body_tree import Tree
from zwang._declare.constraints import Constraint, Constraints
from zwang._declare.drawing import Drawing
from zwang._declare.frozen import Frozen
from zwang._declare.switches import Event, Reaction
from zwang._declare.symbols import Coordinate, Input, Time, Velocity
from zwang._declare.symbols import t as time
from zwang._declare.units import check_units
from zwang.errors import DeclarationError, nearest, printable


class System:
    """A mechanical system, declared once; every verb can be asked of it.

    Parameters
    ----------
    kinetic : expression
        Kinetic energy [J], a polynomial of at most second degree in the velocities.
    potential : expression, optional
        Potential energy [J], of coordinates and time.
    forces : mapping, optional
        Coordinate (symbol or name) -> generalized force, of coordinates, velocities and time. May be piecewise.
    mass, force : matrix and vector, optional
        Instead of the energies: the equations ``mass(q) a = force(q, v, t) + reactions`` with nothing added.
    tree : Tree, optional
        Instead of the kinetic energy: rigid bodies joined as a tree, as `Bodies` makes them. The equations come from a
        recursion over the bodies; `potential` is then energy beside that of their weight.
    constraints : sequence of Bilateral, Unilateral, Friction, optional
        The constraints, addressed by their names.
    coordinates : sequence of Coordinate, optional
        The order of q, v and a everywhere. By default that of the declaring call.
    name : str
        What the system is called in messages and files.
    events : sequence of Event, optional
        What is looked out for in every motion of the system, beside `simulate`'s own events=: latches that catch, bars
        that break.
    drawing : Drawing, optional
        What pictures and films show. It is no part of equality and digest.
    inputs : sequence of Input or of str, optional
        Inputs whose names occur in texts; symbols from `zwang.inputs` are known without it.
    units : mapping, optional
        Name -> unit as text, such as ``{"m": "kg", "g": "m/s**2"}``; shown on axes and in files. They are no part of
        equality and digest.

    Examples
    --------
    >>> import sympy as sp, zwang as zw
    >>> (x, y), (vx, vy) = zw.coordinates("x y")
    >>> m, g, l = zw.parameters("m g l")
    >>> zw.System(
    ...     name="pendulum", kinetic=m * (vx**2 + vy**2) / 2, potential=m * g * y,
    ...     constraints=[zw.Bilateral(sp.sqrt(x**2 + y**2) - l, name="rod")],
    ... )
    System 'pendulum'
      coordinates  x, y
      parameters   g, l, m
      kinetic      m*(v_x**2 + v_y**2)/2
      potential    g*m*y
      rod          -l + sqrt(x**2 + y**2) = 0
    """

    def __init__(
        self,
        *,
        kinetic: Any = None,
        potential: Any = None,
        forces: Mapping[Any, Any] | None = None,
        mass: Any = None,
        force: Any = None,
        tree: Tree | None = None,
        constraints: Iterable[Constraint] = (),
        coordinates: Sequence[Coordinate] | None = None,
        events: Iterable[Event] = (),
        name: str = "system",
        drawing: Drawing | None = None,
        inputs: Iterable[Any] = (),
        units: Mapping[Any, str] | None = None,
    ) -> None:
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise DeclarationError(f"System: name= must be a printable text; it was given {name!r}.")
        self._set("name", name)
        listed = declaration_reader.named_constraints(name, constraints)
        raw = declaration_reader.raw_expressions(name, kinetic, potential, forces, mass, force, tree)
        given = [*raw.values(), *(expr for item in listed for expr in item.expressions().values())]
        own = {} if tree is None else tree.expressions()
        q = declaration_reader.coordinate_order(name, coordinates, [*given, *own.values()], tree)
        known_symbols = [*given, *own.values(), *declaration_reader.declared_inputs(name, inputs, q)]
        reader = declaration_reader.Reader(name, q, known_symbols, {} if tree is None else tree.dependents)
        self._set("tree", tree)
        self._set("coordinates", q)
        self._set("velocities", tuple(item.velocity for item in q))
        known = {where: reader(expr, where) for where, expr in raw.items()}
        relations = [declaration_reader.read_constraint(item, reader) for item in listed]
        self._set("constraints", Constraints(relations))
        self._set("_kinetic", known.get("kinetic"))
        self._set("added_potential", known.get("potential", sp.Integer(0)) if mass is None else None)
        n = len(q)
        self._set("mass", None if mass is None else sp.ImmutableMatrix(n, n, lambda i, j: known[f"mass[{i}, {j}]"]))
        self._set("force", None if force is None else sp.ImmutableMatrix(n, 1, lambda i, _: known[f"force[{i}]"]))
        applied = {declaration_reader.find_coordinate(name, key, q): known[f"forces[{key}]"] for key in (forces or {})}
        self._set("forces", Frozen({item: applied[item] for item in q if item in applied}))
        self._set("events", event_list.read_events(self, events, reader, new=True))
        validity.check(self, {**known, **own}, relations)
        self._set("drawing", None if drawing is None else self._joined(drawing))
        self._set("units", declaration_reader.read_units(self, units))
        check_units(self)

    def _joined(self, drawing: Any) -> Drawing:
        if not isinstance(drawing, Drawing):
            raise DeclarationError(f"{self.name}: drawing= must be a zw.Drawing; it was given {drawing!r:.60}.")
        joined = drawing.joined(self.name, (*self._symbols(), *self.dependents.values()))
        return joined if self.tree is None else replace(joined, tree=self.tree)

    def _symbols(self) -> tuple[sp.Symbol, ...]:
        return (*self.coordinates, *self.velocities, *self.parameters, *self.inputs, time)

    def _set(self, attribute: str, value: Any) -> None:
        object.__setattr__(self, attribute, value)

    name: str
    coordinates: tuple[Coordinate, ...]
    velocities: tuple[Velocity, ...]
    constraints: Constraints
    tree: Tree | None
    added_potential: Any
    mass: Any
    force: Any
    forces: Mapping[Coordinate, Any]
    events: tuple[Event, ...]
    drawing: Drawing | None
    units: Mapping[str, str]
    whole: tuple[System, tuple[str, ...]] | None = None
    """Of a system in which some constraints are switched off: the system with all of them, and the names that act."""

    @property
    def kinetic(self) -> Any:
        """Kinetic energy [J]; that of a tree of bodies is written out when it is asked for, which takes its time."""
        return self._kinetic if self.tree is None else self.tree.kinetic  # type: ignore[attr-defined]

    @property
    def potential(self) -> Any:
        """Potential energy [J]; with the weight of a tree of bodies written out."""
        if self.tree is None:
            return self.added_potential
        return self.tree.weight + self.tree.expanded(self.added_potential)

    def expanded(self, expr: Any) -> Any:
        """Return an expression in coordinates and velocities alone, without symbols that stand for places of bodies."""
        return expr if self.tree is None else self.tree.expanded(expr)

    def __setattr__(self, attribute: str, value: Any) -> None:
        raise AttributeError(f"A System is immutable: '{attribute}' can't be set. Use system.replace({attribute}=...).")

    def __delattr__(self, attribute: str) -> None:
        raise AttributeError(f"A System is immutable: '{attribute}' can't be deleted.")

    def replace(self, **changes: Any) -> System:
        """Return the system declared again with some arguments changed.

        Examples
        --------
        >>> import zwang as zw
        >>> rod = zw.gallery.get("painleve_rod").system
        >>> rod.replace(name="frictionless", constraints=[]).constraints.names
        ()
        """
        arguments: dict[str, Any] = {
            "coordinates": self.coordinates,
            "constraints": tuple(self.constraints),
            "forces": dict(self.forces),
            "events": self.events,
            "name": self.name,
        }
        if self.mass is not None:
            arguments |= {"mass": self.mass, "force": self.force}
        elif self.tree is not None:
            arguments |= {"tree": self.tree, "potential": self.added_potential}
        else:
            arguments |= {"kinetic": self.kinetic, "potential": self.potential}
        more = {"kinetic", "potential", "mass", "force", "tree", "drawing", "inputs", "units"}
        unknown = sorted(set(changes) - {*arguments, *more})
        if unknown:
            raise DeclarationError(f"System.replace: unknown argument '{unknown[0]}'. {nearest(unknown[0], arguments)}")
        made = System(**(arguments | changes))
        if "drawing" not in changes and self.drawing is not None:
            # A picture of what is there no more is left out.
            known = {item.name for item in made._symbols()} | set(made.dependents)
            if all(symbol.name in known for symbol in self.drawing.symbols()):
                made._set("drawing", made._joined(self.drawing))
        if "units" not in changes and self.units:
            known = {item.name for item in made._symbols()}
            made._set("units", Frozen({name: unit for name, unit in self.units.items() if name in known}))
        return made

    def transformed(
        self, change: Mapping[Any, Any], *, coordinates: Sequence[Coordinate] | None = None, name: str | None = None
    ) -> System:
        """Return the system in other coordinates; multipliers stay the same.

        Parameters
        ----------
        change : mapping
            Old coordinate (symbol or name) -> expression of the new coordinates, time and parameters. Coordinates that
            are left out stay as they are.
        coordinates : sequence of Coordinate, optional
            The new ones in their order. By default that of the declaring call.
        name : str, optional

        Examples
        --------
        >>> import sympy as sp, zwang as zw
        >>> (x, y), (vx, vy) = zw.coordinates("x y")
        >>> (r, phi), _ = zw.coordinates("r phi", angles="phi")
        >>> plane = zw.System(kinetic=(vx**2 + vy**2) / 2, constraints=[zw.Bilateral(y - x**2, name="curve")])
        >>> plane.transformed({x: r * sp.cos(phi), y: r * sp.sin(phi)}).constraints["curve"].expr
        -r**2*cos(phi)**2 + r*sin(phi)
        """
        found: System = change_of_coordinates.transformed(self, change, coordinates, name)
        return found

    @cached_property
    def bookkeeping(self) -> frozenset[str]:
        """The constraints that keep quaternions at unit length: their multipliers are no forces, and are not shown."""
        joints = () if self.tree is None else self.tree.joints
        own = {f"unit_{j.second if j.kind == 'free' else j.name}" for j in joints if j.quaternion}
        return frozenset(own & set(self.constraints.names))

    @cached_property
    def quaternions(self) -> tuple[tuple[Coordinate, ...], ...]:
        """The coordinates that are unit quaternions, four each: e and -e are one turn."""
        joints = () if self.tree is None else self.tree.joints
        return tuple(joint.quaternion for joint in joints if joint.quaternion)

    @property
    def dependents(self) -> Mapping[str, Any]:
        """Name -> symbol of what follows from the coordinates: places of bodies and their rates."""
        return {} if self.tree is None else self.tree.dependents

    @cached_property
    def written_out(self) -> System:
        """The same system declared by its energies: one of bodies has them multiplied out; others are as they are."""
        found: System = change_of_coordinates.written_out(self)
        return found

    @cached_property
    def parameters(self) -> tuple[sp.Symbol, ...]:
        """Every free symbol that is no coordinate, velocity, input, time or reaction, by name."""
        roles = (Coordinate, Velocity, Time, Input, Reaction)
        return tuple(item for item in self._free if not isinstance(item, roles))

    @cached_property
    def inputs(self) -> tuple[Input, ...]:
        """The inputs that occur, or whose rates do, by name: what every verb needs a value for."""
        found = {item.base for item in self._free if isinstance(item, Input)}
        return tuple(sorted(found, key=lambda symbol: symbol.name))

    @cached_property
    def _free(self) -> tuple[sp.Symbol, ...]:
        found: set[sp.Symbol] = set()
        for expr in [
            *self.expressions().values(),
            *(one for event in self.events for one in event.expressions().values()),
        ]:
            found |= expr.free_symbols
        return tuple(sorted(found, key=lambda symbol: symbol.name))

    def expressions(self) -> dict[str, Any]:
        """Return every expression of the declaration, by where it stands."""
        found: dict[str, Any] = {}
        if self.mass is not None:
            n = len(self.coordinates)
            found |= {f"mass[{i}, {j}]": self.mass[i, j] for i in range(n) for j in range(n)}
            found |= {f"force[{i}]": self.force[i] for i in range(n)}
        elif self.tree is not None:
            found |= {**self.tree.expressions(), "potential": self.added_potential}
        else:
            found |= {"kinetic": self.kinetic, "potential": self.potential}
        found |= {f"forces[{key}]": value for key, value in self.forces.items()}
        for item in self.constraints:
            found |= {f"constraint '{item.name}' ({part})": expr for part, expr in item.expressions().items()}
        return found

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the declaration's content; the name of the system is not part of it."""
        if self.whole is not None:
            return hashlib.sha256("\n".join([self.whole[0].digest, *self.whole[1]]).encode()).hexdigest()
        # What a picture shows is not part of the system; without it the declaration is that of schema 1.
        left = ("name", "drawing", "parameters", "units")
        kept = {key: value for key, value in plain.to_dict(self).items() if key not in left} | {"schema": 1}
        return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()

    def to_sympy(self) -> Any:
        """Return the `LagrangesMethod` of `sympy.physics.mechanics`, of which `from_sympy` gives the system back.

        Energies, forces and bilateral constraints go over; one-sided constraints, friction, inputs and systems declared
        by mass= and force= are refused by name.

        Examples
        --------
        >>> import zwang as zw
        >>> pendulum = zw.gallery.get("ellipse_pendulum_cartesian").system
        >>> back = zw.from_sympy(pendulum.to_sympy(), name=pendulum.name)
        >>> back.kinetic == pendulum.kinetic, len(back.constraints) == len(pendulum.constraints)
        (True, True)
        """
        return lagrange_method.to_sympy(self)

    def save(
        self, path: Any, *, params: Mapping[Any, float] | None = None, state: Mapping[Any, float] | None = None
    ) -> None:
        """Write the declaration, and values that go with it, to a model file (TOML)."""
        plain.save(self, path, params=params, state=state)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, System) and self.digest == other.digest and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.digest)

    def __reduce__(self) -> Any:
        if self.whole is not None:
            from zwang._declare.switched import switched

            return switched, self.whole
        return plain.restored, (type(self), plain.to_dict(self), plain.law_modules(self))

    def __repr__(self) -> str:
        return printable(system_text.as_text(self))

    def _repr_latex_(self) -> str:
        return f"$$\n{system_text.as_latex(self)}\n$$"
