"""What a joint exerts on its second body at a state: found where every joint is made of constraints.

The state is carried over to Cartesian coordinates of all bodies. There the multipliers of contacts, limits and closed
loops are known forces, and those of the joints in the tree, and of what ties a joint's own coordinate to its bodies,
follow from M a = Q + W^T lam with W a = gamma. The generalized force of a joint's rows and of what drives it, on the
coordinates of its second body, is force and moment: power = f . r' + m . w with e' = (0, w) e / 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._bodies import rebuilt
from zwang._bodies.closures import JointSides
from zwang._bodies.placement import quaternion
from zwang._compile import Model, compile
from zwang._compile.given_inputs import Driven, driven
from zwang._compile.given_values import Inputs
from zwang._compile.measured import measured_in
from zwang._declare.body_tree import GROUND
from zwang._declare.constraints import Friction
from zwang._declare.system import System
from zwang._graph.evaluate import evaluate
from zwang._numerics.jit.tiers import Run, running
from zwang._numerics.linear.kkt import solve_kkt
from zwang._results.reactions import Reactions, Solution
from zwang.errors import DeclarationError, nearest

Array = NDArray[np.float64]
SAME = 1e-9
"""Part of the largest component by which wrenches of one solution set may differ and still be one."""


def with_wrenches(result: Reactions, model: Model, inputs: Inputs, driving: Driven | None) -> Reactions:
    """Let the solutions of a mechanism in space say what its joints exert, when they are asked."""
    system = model.system
    symbols, numbers = (*system.coordinates, *system.velocities), (*inputs.q[:, 0], *inputs.v[:, 0])
    state = {item.name: float(value) for item, value in zip(symbols, numbers, strict=True)}
    state["t"] = float(inputs.t[0])
    params = {item.name: float(value) for item, value in zip(system.parameters, inputs.params[:, 0], strict=True)}
    declared = system if driving is None else driving.declared
    free = _free_stresses(result)
    source = WrenchSource(declared, state, params, _input_values(driving, state | params), free, result.provenance.tier)
    return result.but(solutions=tuple(solution.but(source=source) for solution in result.solutions))


def _free_stresses(result: Reactions) -> tuple[tuple[Array, Array], ...] | None:
    """Return forces that can be added, where a solution has no list of vertices; None where they are not known."""
    if not any(solution.dimension and not len(solution.vertices) for solution in result.solutions):
        return ()
    free = result.redundancy
    return None if free is None else tuple(zip(free.stress_normal, free.stress_tangential, strict=True))


def _input_values(driving: Driven | None, values: Mapping[str, float]) -> dict[str, float]:
    """Return what the inputs are at a state."""
    found: dict[str, float] = {}
    if driving is None:
        return found
    for item in driving.declared.inputs:
        expr = driving.put(item)
        found[item.name] = float(expr.xreplace({symbol: values[symbol.name] for symbol in expr.free_symbols}))
    return found


@dataclass(frozen=True)
class WrenchSource:
    """Computes what joints exert at one state, for the forces of its solutions."""

    system: System
    state: Mapping[str, float]
    params: Mapping[str, float]
    inputs: Mapping[str, float]
    free: tuple[tuple[Array, Array], ...] | None
    tier: str

    def wrench(self, solution: Solution, joint: str) -> Array:
        """Return force and moment (6,), nan in components that differ between the points of a solution."""
        with running(Run(self.tier)):
            reader, driving = joint_reader(self.system, joint, self.inputs)
            values = {**self.params, **driving.values_at(self.state)}

            def at(normal: Array, tangential: Array) -> Array:
                forces = dict(zip(solution.names, normal.tolist(), strict=True))
                friction = {name: np.atleast_1d(item) for name, item in zip(solution.names, tangential, strict=True)}
                return reader.at(self.state, values, forces, friction)

            middle = at(solution.normal, solution.tangential)
            if not solution.dimension:
                return middle
            ways = [(way.normal, way.tangential) for way in (*solution.rays, *solution.lines)]
            if not len(solution.vertices):
                if self.free is None:
                    return np.full(6, np.nan)
                ways += self.free
            others = [at(point.normal, point.tangential) for point in solution.vertices]
            others += [at(solution.normal + normal, solution.tangential + tangential) for normal, tangential in ways]
        every = np.array([middle, *others])
        return np.where(np.abs(every - middle).max(axis=0) <= SAME * np.abs(every).max(), middle, np.nan)


def joint_reader(system: System, joint: str, inputs: Mapping[str, Any]) -> tuple[JointReader, Driven]:
    """Return what tells the wrench of a joint at states, and how its inputs are driven there."""
    if system.tree is None:
        raise DeclarationError(f"{system.name}: wrench is asked of systems that zw.Bodies made.")
    bodies = rebuilt(system)
    told = bodies._told.joints
    if joint not in told:
        raise DeclarationError(f"{system.name}: there is no joint '{joint}'. {nearest(joint, told)}")
    driving = driven(bodies.system(coordinates="cartesian"), inputs)
    return JointReader(bodies, driving.system, joint, bodies.slipping(system.tree.told["frame"])), driving


class JointReader:
    """One joint in Cartesian coordinates: its rows, its loads, its second body.

    `ways` are the directions along which contacts can slip in the coordinates that the forces are given in.
    """

    def __init__(self, bodies: Any, system: System, joint: str, ways: Mapping[str, tuple[int, ...]]) -> None:
        self.bodies, self.system = bodies, system
        self.params: Mapping[str, float] = {}
        self.part = bodies._told.joints[joint]
        self.model = compile(system)
        relations = [item for item in system.constraints if not isinstance(item, Friction)]
        self.names = [str(item.name) for item in relations]
        labels = (joint, *self.part.labels)
        own = tuple(f"{label} " for label in labels)
        limits = tuple(f"{label} {side}" for label in labels for side in ("low", "high"))
        self.own = [i for i, name in enumerate(self.names) if name.startswith(own) and name not in limits]
        tree = [part for part in bodies._told.joints.values() if not part.closes]
        heads = tuple(f"{label} " for part in tree for label in (part.name, *part.labels))
        ends = (" low", " high")
        self.held = [
            i
            for i, name in enumerate(self.names)
            if name in system.bookkeeping or (name.startswith(heads) and not name.endswith(ends))
        ]
        self.held += [
            i for i, name in enumerate(self.names) if name.endswith((" angle", " slide")) and i not in self.held
        ]
        slips = [(str(item.name), len(item.slip)) for item in system.constraints if item.slip]
        self.slips = [(name, k) for name, count in slips for k in range(count)]
        given = [(name, ways.get(name, (0, 1))) for name, _ in self.slips]
        self.pushed = [
            (name, way.index(k) if k in way else None) for (name, k), (_, way) in zip(self.slips, given, strict=True)
        ]
        assert system.tree is not None
        self.loads = [load for load in system.tree.loads if load.name.startswith(own)]

    def at(
        self,
        state: Mapping[str, float],
        params: Mapping[str, float],
        forces: Mapping[str, float],
        friction: Mapping[str, Array],
    ) -> Array:
        """Return the wrench at a state, where multipliers and friction forces have these values."""
        self.params = params
        placed = self._placed(state)
        terms: Any = self.model.terms(placed, self.params)
        mass, rows = terms.mass[:, :, 0], terms.rows[:, :, 0]
        lam = np.array([forces.get(name, 0.0) for name in self.names])
        push = np.array([0.0 if k is None or name not in friction else friction[name][k] for name, k in self.pushed])
        applied = terms.slip_rows[:, :, 0].T @ push if len(push) else np.zeros(len(mass))
        known = [i for i in range(len(lam)) if i not in self.held]
        force = terms.force[:, 0] + applied + rows[known].T @ lam[known]
        if self.held and np.isfinite(force).all():
            lam[self.held] = solve_kkt(mass, rows[self.held], force, terms.gamma[self.held, 0]).multipliers
        elif self.held:
            lam[self.held] = np.nan
        acting = rows[self.own].T @ lam[self.own] + self._pushes(placed)
        own = [k for k, (name, _) in enumerate(self.slips) if name.startswith(tuple(f"{x} " for x in self.part.labels))]
        if own:
            acting = acting + terms.slip_rows[own, :, 0].T @ push[own]
        return self._on_second(acting, placed)

    def _placed(self, state: Mapping[str, float]) -> dict[str, float]:
        """Return the state in Cartesian coordinates, those of joints kept where they are there too."""
        names = [item.name for item in (*self.system.coordinates, *self.system.velocities)]
        found = {name: float(state[name]) for name in names if name in state} | {"t": float(state.get("t", 0.0))}
        for body in self.bodies._told.bodies:
            pose = self.bodies.pose(body, state, self.params)
            e = quaternion(pose.rotation)
            w = pose.spin
            rates = 0.5 * np.array([-(e[1:] @ w), *(e[0] * w + np.cross(e[1:], w))])
            for axis, x, u in zip("xyz", pose.position, pose.velocity, strict=True):
                found |= {f"{axis}_{body}": float(x), f"v_{axis}_{body}": float(u)}
            found |= {f"e{k}_{body}": float(e[k]) for k in range(4)}
            found |= {f"v_e{k}_{body}": float(rates[k]) for k in range(4)}
        return found

    def _pushes(self, placed: Mapping[str, float]) -> Array:
        """Return the generalized force of motors and dampers of the joint."""
        total = np.zeros(len(self.system.coordinates))
        for load in self.loads:
            for force, along in load.pairs:
                measured = measured_in(self.system, (force, along))
                n = len(self.system.coordinates)
                g = measured.graph
                slopes = g.gradient(measured.values[1], measured.inputs[n + 1 : 2 * n + 1])
                symbols = [*self.system.coordinates, *self.system.velocities]
                numbers = [placed["t"], *(placed[item.name] for item in symbols)]
                numbers += [float(self.params[item.name]) for item in self.system.parameters]
                given = dict(zip(measured.inputs, numbers, strict=True))
                size, *slope = evaluate(g, [measured.values[0], *slopes], given, np)
                total += float(size) * np.array([float(item) for item in slope])
        return total

    def _on_second(self, acting: Array, placed: Mapping[str, float]) -> Array:
        """Return force and moment at the joint of a generalized force, on the second body."""
        part = self.part
        body, sign = (part.second, 1.0) if part.second != GROUND else (part.first, -1.0)
        places = {item.name: i for i, item in enumerate(self.system.coordinates)}
        force = acting[[places[f"{axis}_{body}"] for axis in "xyz"]]
        on_e = acting[[places[f"e{k}_{body}"] for k in range(4)]]
        e = np.array([placed[f"e{k}_{body}"] for k in range(4)])
        moment = 0.5 * np.array([on_e @ np.array([-e[1 + k], *_turned(k, e)]) for k in range(3)])
        arm = np.array([placed[f"{axis}_{body}"] for axis in "xyz"]) - self._point(placed)
        return sign * np.concatenate([force, moment + np.cross(arm, force)])

    def _point(self, placed: Mapping[str, float]) -> Array:
        """Return where the joint is: the place of it that its first body carries."""
        part, body = self.part, self.part.first
        if body == GROUND:
            exprs: Any = part.at[0]
        else:
            tree = self.system.tree
            assert tree is not None
            exprs = JointSides(tree, part).points[0]
        measured = measured_in(self.system, tuple(exprs))
        symbols = [*self.system.coordinates, *self.system.velocities]
        numbers = [placed["t"], *(placed[item.name] for item in symbols)]
        numbers += [float(self.params[item.name]) for item in self.system.parameters]
        given = dict(zip(measured.inputs, numbers, strict=True))
        return np.array([float(item) for item in evaluate(measured.graph, measured.values, given, np)])


def _turned(k: int, e: Array) -> Array:
    """Return the vector part of the product of a unit vector and a quaternion."""
    unit = np.zeros(3)
    unit[k] = 1.0
    found: Array = e[0] * unit + np.cross(unit, e[1:])
    return found
