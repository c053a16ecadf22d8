"""`Bodies`: mechanisms in space, declared part by part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sympy as sp

from zwang import _expressions
from zwang._bodies import written
from zwang._bodies.assembly import LAYOUTS, Assembled, assemble
from zwang._bodies.joints import joint_part
from zwang._bodies.parts import KINDS, BodyPoint, ContactPart, MotorPart, PointForce, PointSpring, ShapePart, Told
from zwang._bodies.picture import known_part, picture
from zwang._bodies.placement import BodyPose, entries, pose
from zwang._bodies.values import Values
from zwang._declare.body_tree import GROUND, RigidBody
from zwang._declare.drawing import Drawing
from zwang._declare.given import components as components_of
from zwang._declare.shapes import Form, Implicit
from zwang._declare.system import System
from zwang._linkage.values import check_name
from zwang.errors import DeclarationError, nearest, printable


class Bodies:
    """A mechanism of rigid bodies in space, which yields a `System`.

    Every method adds a part and returns the builder. Numbers, symbols, expressions of parameters, or texts of such are
    taken [m, kg]. Everything is placed once, in the reference configuration, where all joint coordinates are zero:
    bodies and joints with the axes and the origin of the ground; points, shapes and forces in the frame of their body,
    whose origin is its centre of mass.

    Parameters
    ----------
    name : str
        What the mechanism is called.
    gravity : three expressions
        Acceleration of gravity [m/s^2], such as ``(0, 0, -9.81)``.

    Examples
    --------
    >>> import zwang as zw
    >>> arm = zw.Bodies("arm", gravity=(0, 0, "-g"))
    >>> arm = arm.body("link", mass="m", inertia=("J", "J", 0), at=(0, 0, "-l/2"))
    >>> arm = arm.revolute("hinge", "ground", "link", at=(0, 0, 0), axis=(0, 1, 0), damping="c")
    >>> system = arm.system()
    >>> [item.name for item in system.coordinates], [item.name for item in system.parameters]
    (['hinge'], ['J', 'c', 'g', 'l', 'm'])
    >>> values = {"m": 3.0, "l": 1.0, "J": 0.25, "g": 10.0, "c": 0.0}
    >>> zw.compile(system).accelerations({"hinge": 1.5707963267948966, "v_hinge": 0.0}, values)
    array([-15.])
    """

    def __init__(self, name: str, *, gravity: Sequence[Any] = (0, 0, 0)) -> None:
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise DeclarationError(f"Bodies: the name must be a printable text; it was given {name!r}.")
        self.name = name
        self._where = f"Bodies '{name}'"
        self._values = Values()
        self._told = Told()
        self._made: dict[str, Assembled] = {}
        self.gravity = self._values.vector(gravity, f"{self._where}: gravity")

    # --- bodies and joints -------------------------------------------------------------------------------------------

    def body(self, name: str, *, mass: Any, inertia: Any, at: Any = (0, 0, 0), turned: Any = None) -> Bodies:
        """Add a body.

        Parameters
        ----------
        name : str
        mass : expression
            [kg]
        inertia : 3, 6 or 3 x 3 expressions
            About the centre of mass in the body's axes [kg m^2]: principal moments; Ixx, Iyy, Izz, Ixy, Ixz, Iyz
            (entries of the matrix: Ixy = -sum m x y); or the matrix.
        at : three expressions
            The centre of mass in the reference configuration [m].
        turned : quaternion, matrix or (axis, angle), optional
            The body's axes there: a unit quaternion (scalar first), a 3 x 3 matrix with the axes as its columns, or an
            axis and an angle [rad].
        """
        self._new(name, "body")
        where = f"{self._where}: body '{name}'"
        self._told.bodies[name] = RigidBody(
            name,
            self._values(mass, f"{where}: mass", least=0),
            self._values.inertia(inertia, f"{where}: inertia"),
            self._values.vector(at, f"{where}: at"),
            self._values.turn(turned, f"{where}: turned"),
        )
        return self._changed()

    def revolute(self, name: str, first: str, second: str, **given: Any) -> Bodies:
        """Let the second body turn about an axis of the first, by the coordinate ``name`` [rad].

        Parameters
        ----------
        name : str
        first, second : str
            Bodies, or "ground".
        at, axis : three expressions
            Where it stands and along what, in the reference configuration.
        limits : pair of expressions, optional
            Least and largest value of the coordinate (None: no limit), as Unilaterals ``<name> low``, ``<name> high``.
        restitution : expression, optional
            Of impacts on the limits.
        stiffness, rest : expression
            A spring along the coordinate and where it is relaxed.
        damping : expression
            Force against the rate, per unit of the rate.
        friction : expression
            The bound of a dry friction, ``<name> friction`` [N m]. With `radius` a coefficient mu.
        radius, length : expression, optional
            Of a rough journal [m]: its friction goes with the bearing force, bounded by sin(arctan(mu)) times it, at
            this radius; with a length there are two journals so far apart along the axis, ``<name> friction front`` and
            ``<name> friction back``, which carry the moments. A prismatic joint takes a length alone: two guides, each
            with mu and its own force. The joint is made by constraints then, in joint coordinates too, so that the
            second body is free and has coordinates of its own.
        armature : expression
            An inertia of the coordinate itself (a rotor behind a gear).
        """
        return self._joint("revolute", name, first, second, given)

    def prismatic(self, name: str, first: str, second: str, **given: Any) -> Bodies:
        """Let the second body slide along an axis of the first, by the coordinate ``name`` [m]; see `revolute`."""
        return self._joint("prismatic", name, first, second, given)

    def cylindrical(self, name: str, first: str, second: str, **given: Any) -> Bodies:
        """Let it turn (``<name>_1``) and slide (``<name>_2``) along one axis; options are pairs. See `revolute`."""
        return self._joint("cylindrical", name, first, second, given)

    def screw(self, name: str, first: str, second: str, **given: Any) -> Bodies:
        """Let it turn by ``name`` and slide along by ``pitch`` times that [m/rad]; see `revolute`."""
        return self._joint("screw", name, first, second, given)

    def universal(self, name: str, first: str, second: str, **given: Any) -> Bodies:
        """Let it turn about the first of ``axes``, on the first body, then the second, on the second one."""
        return self._joint("universal", name, first, second, given)

    def planar(self, name: str, first: str, second: str, **given: Any) -> Bodies:
        """Let it slide across ``normal`` by ``<name>_1``, ``<name>_2`` and turn about it by ``<name>_3``.

        For the normals z, x, y the slides go along (x, y), (y, z), (z, x) of the first body.
        """
        return self._joint("planar", name, first, second, given)

    def spherical(self, name: str, first: str, second: str, **given: Any) -> Bodies:
        """Let it turn in every way about a point: a unit quaternion ``e0_<name>`` ... ``e3_<name>``."""
        return self._joint("spherical", name, first, second, given)

    def fixed(self, name: str, first: str, second: str, **given: Any) -> Bodies:
        """Fix the second body to the first."""
        return self._joint("fixed", name, first, second, given)

    def free(self, name: str, first: str = GROUND, second: str | None = None) -> Bodies:
        """Leave a body free, as bodies without joints are: ``x_<body>`` ..., and a quaternion ``e0_<body>`` ..."""
        second = name if second is None else second
        if first != GROUND:
            raise DeclarationError(
                f"{self._where}: free '{name}': a body is free against the ground, not against '{first}'."
            )
        self._require_body(second, f"free '{name}'", ground=False)
        return self._changed()

    def close(self, kind: str, name: str, first: str, second: str, **given: Any) -> Bodies:
        """Close a loop by a joint: its kind, then its own arguments.

        Where the reference configuration doesn't close the loop, ``at=`` and ``axis=`` are pairs, in the frames of the
        two bodies.
        """
        if kind not in KINDS or kind == "free":
            known = [item for item in KINDS if item != "free"]
            raise DeclarationError(f"{self._where}: close: unknown kind of joint '{kind}'. {nearest(str(kind), known)}")
        return self._joint(kind, name, first, second, given, closes=True)

    def _joint(
        self, kind: str, name: str, first: str, second: str, given: dict[str, Any], *, closes: bool = False
    ) -> Bodies:
        self._new(name, "joint")
        where = f"{kind} '{name}'"
        for body in (first, second):
            self._require_body(body, where)
        if first == second:
            raise DeclarationError(
                f"{self._where}: {where} joins '{first}' with itself. Name two different bodies, or 'ground'."
            )
        part = joint_part(kind, name, (first, second), given, closes, self._values, self._where)
        self._told.joints[name] = part
        return self._changed()

    # --- points, shapes, forces --------------------------------------------------------------------------------------

    def point(self, name: str, *, on: str, at: Any) -> Bodies:
        """Add a point of a body (or of the ground), in the body's frame [m]."""
        self._new(name, "point")
        self._require_body(on, f"point '{name}'")
        place = self._values.vector(at, f"{self._where}: point '{name}': at")
        self._told.points[name] = BodyPoint(name, on, place)
        return self._changed()

    def shape(self, name: str, *, on: str, form: Form, at: Any = (0, 0, 0), turned: Any = None) -> Bodies:
        """Add a form of `zwang.shapes` to a body (or the ground), at a place of its frame, turned there."""
        self._new(name, "shape")
        where = f"{self._where}: shape '{name}'"
        self._require_body(on, f"shape '{name}'")
        if not isinstance(form, Form):
            raise DeclarationError(f"{where}: form= must be one of zw.shapes; it was given {form!r:.60}.")
        known = dict(self._values.table)
        form = form.map(lambda item, label: self._values(item, f"{where}: {label}"))
        if isinstance(form, Implicit):  # its x, y, z are no parameters
            for letter in set("xyz") - set(known):
                self._values.table.pop(letter, None)
        place, turn = self._values.vector(at, f"{where}: at"), self._values.turn(turned, f"{where}: turned")
        self._told.shapes[name] = ShapePart(name, on, form, place, turn)
        return self._changed()

    def contact(
        self, first: str, second: str, *, friction: Any = None, restitution: Any = None, name: str | None = None
    ) -> Bodies:
        """Let two shapes touch without overlapping: a Unilateral for each pair of features that can meet.

        Parameters
        ----------
        first, second : str
            Shapes; one of them may be a point.
        friction : expression, a pair, or a function of the slip, optional
            Coefficient of Coulomb's law, or a function that returns a law. The slip is a pair, or one expression where
            joints let the bodies slip in one direction only.
        restitution : expression, optional
        name : str, optional
            Of the constraints: ``<name>``, or ``<name> 1``, ``<name> 2``, ... where there are several.
        """
        label = f"{first} on {second}" if name is None else name
        for shape in (first, second):
            if shape not in self._told.shapes and shape not in self._told.points:
                known = nearest(str(shape), [*self._told.shapes, *self._told.points])
                raise DeclarationError(
                    f"{self._where}: contact '{label}': there is no shape '{shape}'. {known} Shapes are made with "
                    "shape(name, on=, form=), points with point(name, on=, at=)."
                )
        if label in self._told.contacts:
            raise DeclarationError(f"{self._where}: two contacts are called '{label}'. Give each its own name=.")
        where = f"{self._where}: contact '{label}'"
        if friction is not None and not callable(friction):
            both = components_of(friction)
            mu = [self._values(item, f"{where}: friction", least=0) for item in (both or [friction])]
            friction = mu[0] if both is None else tuple(mu)
        if restitution is not None:
            restitution = self._values(restitution, f"{where}: restitution", least=0)
        self._told.contacts[label] = ContactPart(first, second, friction, restitution, label)
        return self._changed()

    def spring(
        self,
        first: str,
        second: str,
        *,
        stiffness: Any = 0,
        length: Any = 0,
        damping: Any = 0,
        name: str | None = None,
    ) -> Bodies:
        """Put a spring and a damper between two points (or centres of mass) [N/m, m, N s/m]."""
        label = name or f"{first} to {second}"
        where = f"{self._where}: spring '{label}'"
        if first == second:
            raise DeclarationError(f"{where} joins '{first}' with itself. Name two different points.")
        for point in (first, second):
            self._require_point(point, f"spring '{label}'")
        self._told.springs.append(
            PointSpring(
                first,
                second,
                self._values(stiffness, f"{where}: stiffness"),
                self._values(length, f"{where}: length"),
                self._values(damping, f"{where}: damping"),
                label,
            )
        )
        return self._changed()

    def relation(self, name: str, expr: str) -> Bodies:
        """Tie coordinates of joints by an equation ``expr = 0``, a text, as gears and mimic joints do."""
        if not isinstance(expr, str) or any(name == other for other, _ in self._told.relations):
            told = "is there already" if isinstance(expr, str) else f"needs a text; it was given {expr!r:.60}"
            raise DeclarationError(f"{self._where}: the relation '{name}' {told}.")
        self._told.relations.append((name, expr))
        return self._changed()

    def motor(self, joint: str, value: Any) -> Bodies:
        """Let a force or torque act along a coordinate of a joint, on its second body [N, N m].

        ``joint`` is the name of the coordinate (of the joint, where it has one); the value an expression of
        coordinates, velocities, time and parameters, or its text.
        """
        known = [label for part in self._told.joints.values() for label in part.labels]
        if joint not in known:
            raise DeclarationError(
                f"{self._where}: motor: no joint has a coordinate '{joint}'. {nearest(str(joint), known)}"
            )
        self._told.motors.append(MotorPart(joint, self._expression(value, f"motor '{joint}'")))
        return self._changed()

    def force(self, point: str, components: Any, *, axes: str = "ground", name: str | None = None) -> Bodies:
        """Let a force act at a point (or centre of mass): three components in the axes of the ground or the body [N].

        Expressions of coordinates, velocities, time and parameters, or their texts.
        """
        label = name or f"force at {point}"
        self._require_point(point, f"force '{label}'")
        if axes not in ("ground", "body"):
            raise DeclarationError(f"{self._where}: force '{label}': axes= is 'ground' or 'body', not {axes!r:.40}.")
        items = components_of(components)
        if items is None or len(items) != 3:
            raise DeclarationError(
                f"{self._where}: force '{label}' must have three components; it was given {components!r:.60}."
            )
        x, y, z = (self._expression(item, f"force '{label}'") for item in items)
        self._told.forces.append(PointForce(point, (x, y, z), axes, label))
        return self._changed()

    def _expression(self, given: Any, where: str) -> Any:
        """Return an expression, or a text that waits for the coordinates."""
        if isinstance(given, str):
            return given
        found = _expressions.in_doubles(given) if isinstance(given, sp.Expr) else _expressions.number(given)
        if found is None:
            raise DeclarationError(
                f"{self._where}: {where}: an expression, a number or a text is needed; it was given {given!r:.80}."
            )
        if found.has(sp.nan, sp.oo, -sp.oo, sp.zoo):
            raise DeclarationError(f"{self._where}: {where}: a finite real number is needed; it was given {found}.")
        return found

    # --- what comes of it --------------------------------------------------------------------------------------------

    def system(self, *, coordinates: str = "joint") -> System:
        """Return the system.

        Parameters
        ----------
        coordinates : {'joint', 'cartesian'}
            Coordinates of the joints, with constraints where loops close; or for each body its centre of mass and a
            unit quaternion, with constraints for every joint.
        """
        made = self._assembled(coordinates)
        drawing = self.drawing(coordinates=coordinates)
        return System(
            tree=made.tree,
            constraints=made.constraints,
            forces=made.forces,
            potential=made.potential,
            name=self.name,
            drawing=None if drawing is None else known_part(drawing, made.symbols()),
        )

    def _assembled(self, coordinates: str) -> Assembled:
        if coordinates not in LAYOUTS:
            known = nearest(str(coordinates), list(LAYOUTS))
            raise DeclarationError(f"{self._where}: unknown coordinates='{coordinates}'. {known}")
        if coordinates not in self._made:
            plain = written.to_plain(self._told, self.gravity, coordinates)
            self._made[coordinates] = assemble(self._told, self.gravity, self.name, coordinates, plain, self._known())
        return self._made[coordinates]

    def slipping(self, coordinates: str) -> dict[str, tuple[int, ...]]:
        """Return along which of the two directions across the normal each contact can slip, by its constraint."""
        return self._assembled(coordinates).ways

    def _known(self) -> dict[str, Any]:
        """Return the parameters that have occurred, and inputs of a file, by name."""
        told = self._told
        parts: list[Any] = [self.gravity]
        parts += [(body.mass, body.inertia, body.at, body.turned) for body in told.bodies.values()]
        parts += [
            (part.at, part.axes, part.pitch, *(tuple(o.values()) for o in part.options))
            for part in told.joints.values()
        ]
        found = dict(self._values.table)
        while parts:
            item = parts.pop()
            if isinstance(item, (tuple, list)):
                parts += list(item)
            elif isinstance(item, sp.Expr):
                found |= {symbol.name: symbol for symbol in item.free_symbols}
        return found

    def drawing(self, *, coordinates: str = "joint") -> Drawing | None:
        """Return the picture: bodies as bars from joint to joint, points, springs, shapes."""
        return picture(self._told, self._assembled(coordinates).tree)

    def place(
        self,
        body: str,
        *,
        at: Any = None,
        turned: Any = None,
        velocity: Any = (0, 0, 0),
        spin: Any = (0, 0, 0),
        params: Mapping[Any, Any] | None = None,
    ) -> dict[str, float]:
        """Return the entries of a state that say where a free body is, and how it moves.

        Parameters
        ----------
        body : str
            One with coordinates of its own: a free one, in Cartesian coordinates any.
        at, turned : optional
            Centre of mass and axes, in the ground's frame; by default those of the reference configuration.
        velocity : three numbers
            Of the centre of mass, in the ground's axes [m/s].
        spin : three numbers
            Angular velocity in the body's own axes [rad/s].
        params : mapping, optional
            Values of the parameters that stand in any of these.
        """
        self._require_body(body, "place", ground=False)
        return entries(self._told.bodies[body], at, turned, velocity, spin, params or {}, self._values, self._where)

    def pose(self, body: str, state: Mapping[Any, Any], params: Mapping[Any, Any] | None = None) -> BodyPose:
        """Return where a body is in a state, and how it moves: `position`, `rotation`, `velocity`, `spin`."""
        self._require_body(body, "pose", ground=False)
        names = {str(key) for key in state}
        for kind in ("joint", "cartesian"):
            tree = self._assembled(kind).tree
            if all(q.name in names for q in tree.coordinates):
                return pose(tree, body, state, params or {})
        missing = [q.name for q in self._assembled("joint").tree.coordinates if q.name not in names]
        raise DeclarationError(f"{self._where}: pose: the state lacks a value of '{missing[0]}'.")

    def __repr__(self) -> str:
        told = self._told
        parts = f"{len(told.bodies)} bodies, {len(told.joints)} joints, {len(told.shapes)} shapes"
        return f"Bodies '{printable(self.name)}': {parts}"

    # --- checks ------------------------------------------------------------------------------------------------------

    def _changed(self) -> Bodies:
        self._made.clear()
        return self

    def _new(self, name: str, what: str) -> None:
        check_name(name, f"{self._where}: the name of a {what}")
        told = self._told
        for other, taken in (
            ("body", told.bodies),
            ("joint", told.joints),
            ("point", told.points),
            ("shape", told.shapes),
        ):
            if name in taken or name == GROUND:
                owner = "the ground" if name == GROUND else f"a {other}"
                raise DeclarationError(
                    f"{self._where}: '{name}' is the name of {owner} already. Give the {what} a name of its own."
                )

    def _require_body(self, name: str, where: str, *, ground: bool = True) -> None:
        known = [*self._told.bodies, *([GROUND] if ground else [])]
        if name not in known:
            raise DeclarationError(
                f"{self._where}: {where}: there is no body '{name}'. {nearest(str(name), known)} Bodies are made with "
                "body(name, mass=, inertia=)."
            )

    def _require_point(self, name: str, where: str) -> None:
        known = [*self._told.points, *self._told.bodies]
        if name not in known:
            raise DeclarationError(
                f"{self._where}: {where}: there is no point '{name}'. {nearest(str(name), known)} Points are made with "
                "point(name, on=, at=)."
            )


def rebuilt(system: System) -> Bodies:
    """Return the builder of a system of bodies, told again."""
    assert system.tree is not None
    made = Bodies(system.tree.name)
    made._values = Values({item.name: item for item in (*system.parameters, *system.inputs)})
    made.gravity = system.tree.gravity
    written.tell(made, system.tree.told)
    return made


def built(plain: Mapping[str, Any], symbols: Mapping[str, Any]) -> System:
    """Return the system that the tables of a model file tell of; `symbols` are parameters by their names."""
    made = Bodies(plain["name"])
    made._values = Values(symbols)
    made.gravity = made._values.vector(plain.get("gravity", (0, 0, 0)), f"{plain['name']}: gravity")
    written.tell(made, plain)
    return made.system(coordinates=plain.get("frame", "joint"))
