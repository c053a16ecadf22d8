"""Regular, redundant, singular: one decision, whatever the units, the masses and the superfluous constraints."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from night import by_day
from zwang._numerics.linear.rank import proved_independent, rank_of


def _beside(name: str) -> Any:
    """Return a module that stands beside the tests."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


mechanisms = _beside("redundant_mechanisms")

CRANK, FIRST, SECOND = 0.4, 1.0, 1.7  # a locomotive's crank, and its second and third wheel


def locomotive(kind: str, size: float, tilt: float) -> zw.System:
    """Return three parallel cranks on one coupler, in joint or Cartesian coordinates, along a line that is tilted."""
    wheels = [(size * d * np.cos(tilt), size * d * np.sin(tilt)) for d in (0.0, FIRST, SECOND)]
    r = size * CRANK
    if kind == "joint":
        (a, p, b, c), (va, vp, vb, vc) = zw.coordinates("a p b c", angles="a p b c")
        pins = [
            sp.Matrix([x + r * sp.cos(turn), y + r * sp.sin(turn)])
            for (x, y), turn in zip(wheels, (a, b, c), strict=True)
        ]
        along = sp.Matrix([sp.cos(p), sp.sin(p)])
        middle = zw.rate(pins[0] + size * SECOND / 2 * along)
        kinetic = r**2 * (va**2 + vb**2 + vc**2) / 6 + middle.dot(middle) + 0.3 * (size * SECOND * vp) ** 2 / 2
        closures = [*(pins[0] + size * FIRST * along - pins[1]), *(pins[0] + size * SECOND * along - pins[2])]
        return zw.System(
            name="locomotive",
            kinetic=kinetic,
            constraints=[zw.Bilateral(expr, name=f"closure {k}") for k, expr in enumerate(closures)],
        )
    q, v = zw.coordinates("xA yA xB yB xC yC")
    pins = [(q[0], q[1]), (q[2], q[3]), (q[4], q[5])]
    bars = [(pins[k], wheels[k], r) for k in range(3)]
    bars += [(pins[0], pins[1], size * FIRST), (pins[0], pins[2], size * SECOND)]
    bars += [(pins[1], pins[2], size * (SECOND - FIRST))]
    lengths = [((p[0] - o[0]) ** 2 + (p[1] - o[1]) ** 2 - length**2) / size for p, o, length in bars]
    return zw.System(
        name="locomotive",
        kinetic=sum(speed**2 for speed in v) / 2,
        constraints=[zw.Bilateral(expr, name=f"bar {k}") for k, expr in enumerate(lengths)],
    )


def running(kind: str, turn: float, w: float, size: float, tilt: float) -> dict[str, float]:
    """Return the state in which all cranks are parallel."""
    if kind == "joint":
        return {"a": turn, "p": tilt, "b": turn, "c": turn, "v_a": w, "v_p": 0.0, "v_b": w, "v_c": w}
    state = {}
    for name, d in zip("ABC", (0.0, FIRST, SECOND), strict=True):
        state[f"x{name}"] = size * (d * np.cos(tilt) + CRANK * np.cos(turn))
        state[f"y{name}"] = size * (d * np.sin(tilt) + CRANK * np.sin(turn))
        state[f"v_x{name}"] = -size * CRANK * w * np.sin(turn)
        state[f"v_y{name}"] = size * CRANK * w * np.cos(turn)
    return state


@pytest.mark.parametrize("size", by_day([1.0, 1e-6, 1e6], [1e6]))
@pytest.mark.parametrize("tilt", [0.0, 0.3])
@pytest.mark.parametrize("kind", ["joint", "cartesian"])
def test_a_locomotive_has_one_motion_at_every_regular_state(kind: str, tilt: float, size: float) -> None:
    system = locomotive(kind, size, tilt)
    w = 0.4
    for turn in (np.pi / 2, 2.8114, *np.linspace(0.07, 6.2, 9)):
        state = running(kind, float(turn), w, size, tilt)
        found = zw.reactions(system, state, backend="reference")
        assert found.status.name == "UNIQUE_MOTION" and found.complete
        assert found.rank == (3 if kind == "joint" else 5)
        # The coupler only translates, so the inertia is constant and nothing drives it: the cranks turn uniformly.
        scale = size * CRANK * w**2
        expected = np.zeros(4) if kind == "joint" else -scale * np.tile([np.cos(turn), np.sin(turn)], 3)
        assert found.accelerations[0] == pytest.approx(expected, abs=1e-9 * (1.0 if kind == "joint" else scale))


def test_a_state_a_millionth_off_touching_constraints_is_still_redundant() -> None:
    """The dependent closure is of second order in the distance: 1e-6 off the set the residual is only 1e-12."""
    system = locomotive("joint", 1.0, 0.0)
    state = running("joint", 1.1, 0.0, 1.0, 0.0)
    off = {**state, "p": 1e-10, "a": 1.1 + 2e-10}
    assert zw.reactions(system, off).status.name == "UNIQUE_MOTION"


@pytest.mark.parametrize("kind", ["joint", "cartesian"])
def test_a_locomotive_is_singular_where_its_cranks_lie_along_the_coupler(kind: str) -> None:
    system = locomotive(kind, 1.0, 0.7)
    for turn in (0.7, 0.7 + np.pi):
        assert zw.reactions(system, running(kind, turn, 0.4, 1.0, 0.7)).status.name == "SINGULAR"
    motion = zw.simulate(system, running(kind, 1.0, 0.4, 1.0, 0.7), until=10.0)
    # The cranks turn uniformly from 1.0 to 0.7 + pi.
    assert motion.status.name == "SINGULAR"
    assert motion.t[-1] == pytest.approx((np.pi - 0.3) / 0.4, rel=1e-9)


def compare(seed: int) -> None:
    source = np.random.default_rng(seed)
    size, light = (1.0, 1e-6, 1e6)[seed % 3], (1.0, 0.0, 1e-15)[seed // 3 % 3]
    plain = mechanisms.random_mechanism(source, size=size, light=light)
    more = mechanisms.with_superfluous(plain, source)
    first = zw.reactions(plain.system, plain.state, backend="reference")
    second = zw.reactions(more.system, more.state, backend="reference")
    words = f"seed {seed}: {more.system.constraints.names}"
    assert first.status.name == "UNIQUE" and second.status.name == "UNIQUE_MOTION", words
    assert second.complete and second.rank == first.rank, words
    scale = np.abs(first.accelerations).max()
    assert second.accelerations[0] == pytest.approx(first.accelerations[0], abs=1e-8 * scale), words
    # What is added takes part in a self-stress, so its force has no bounds.
    assert np.isinf(second.solutions[0].ranges.normal[len(plain.system.constraints) :]).all(), words


@pytest.mark.parametrize("seed", by_day(range(9), range(4)))
def test_superfluous_constraints_change_nothing_but_single_multipliers(seed: int) -> None:
    compare(seed)


@pytest.mark.nightly
def test_superfluous_constraints_change_nothing_in_500_mechanisms() -> None:
    for seed in range(9, 509):
        compare(seed)


@pytest.mark.nightly
@pytest.mark.parametrize("power", [2, 3])
def test_rounding_in_rows_of_points_without_mass_says_nothing_of_their_scale(power: int) -> None:
    """The derivative of f^2 vanishes with f: what is left of it, 1e-15 and less, is no unit of a massless point."""
    for seed in range(4):
        plain = mechanisms.random_mechanism(np.random.default_rng(seed), light=0.0)
        own = list(plain.system.constraints)
        powers = [zw.Bilateral(item.expr**power + own[0].expr, name=f"with {item.name}") for item in own[-2:]]
        first = zw.reactions(plain.system, plain.state, backend="reference")
        second = zw.reactions(plain.system.replace(constraints=[*own, *powers]), plain.state, backend="reference")
        assert (second.status.name, second.rank) == ("UNIQUE_MOTION", first.rank)
        scale = np.abs(first.accelerations).max()
        assert second.accelerations[0] == pytest.approx(first.accelerations[0], abs=1e-9 * scale)


def test_constraints_whose_rows_miss_what_they_hold_are_singular_everywhere() -> None:
    """Along a circle that counts twice the rank is as low everywhere, and the rows alone would let the point go."""
    (x, y, z), (vx, vy, vz) = zw.coordinates("x y z")
    circle, weight = x**2 + y**2 - 1, 9.81 * z
    state = {"x": 0.6, "y": 0.8, "z": 0.0, "v_x": 0.8, "v_y": -0.6, "v_z": 0.0}
    for rows in ((circle, circle + z**2), (circle**2, z), (circle, z**3)):
        constraints = [zw.Bilateral(row, name=f"row {k}") for k, row in enumerate(rows)]
        system = zw.System(kinetic=(vx**2 + vy**2 + vz**2) / 2, potential=weight, constraints=constraints)
        found = zw.reactions(system, state, backend="reference")
        assert found.status.name == "SINGULAR" and "fewer motions" in found.note
    # Beside the rows that hold it a square is superfluous and nothing else.
    constraints = [zw.Bilateral(row, name=f"row {k}") for k, row in enumerate((circle, z, z**2))]
    found = zw.reactions(system.replace(constraints=constraints), state, backend="reference")
    assert (found.status.name, found.rank) == ("UNIQUE_MOTION", 2)
    assert found.accelerations[0] == pytest.approx([-0.6, -0.8, 0.0], abs=1e-12)  # v^2/r towards the middle


def test_a_motion_with_superfluous_constraints_is_the_motion_without() -> None:
    (x, y), (vx, vy) = zw.coordinates("x y")
    rod = zw.Bilateral(x**2 + y**2 - 1, name="rod")
    plain = zw.System(name="pendulum", kinetic=(vx**2 + vy**2) / 2, potential=9.81 * y, constraints=[rod])
    more = plain.replace(
        constraints=[
            rod,
            zw.Bilateral(1e-6 * rod.expr, name="scaled"),
            zw.Bilateral(rod.expr * (2 + sp.sin(x)), name="multiplied"),
        ]
    )
    state = {"x": 0.6, "y": -0.8, "v_x": 0.8, "v_y": 0.6}
    first, second = (zw.simulate(system, state, until=2.0) for system in (plain, more))
    assert second.status.name == "REACHED" and not second.events
    assert second.q[-1] == pytest.approx(first.q[-1], abs=1e-9)


def test_a_contradiction_between_dependent_constraints_has_no_solution() -> None:
    """At t = 0 both say x = 0, but one of them accelerates: y'' = x'' - 2 can't be met."""
    (x, y), (vx, vy) = zw.coordinates("x y")
    system = zw.System(
        kinetic=(vx**2 + vy**2) / 2, constraints=[zw.Bilateral(x, name="held"), zw.Bilateral(x - zw.t**2, name="led")]
    )
    assert zw.reactions(system, {x: 0, y: 0, vx: 0, vy: 1}).status.name == "NONE"


@pytest.mark.parametrize(
    "name",
    ["crossing", "curve_cusp", "curve_isolated_point", "curve_node", "curve_three_lines", "four_bar", "tangency"],
)
def test_singular_points_of_the_gallery_stay_singular(name: str) -> None:
    entry = zw.gallery.get(name)
    for point in zw.trace(entry.system, entry.params).singular_points:
        state = {**{item.name: 0.0 for item in entry.system.velocities}, **point.state}
        assert zw.reactions(entry.system, state, entry.params).status.name == "SINGULAR"


def test_rank_does_not_depend_on_units_or_on_light_masses() -> None:
    source = np.random.default_rng(3)
    rows = source.normal(size=(3, 5))
    dependent = np.vstack([rows, rows[0] - 2 * rows[1]])
    for _ in range(20):
        units, lengths = 10.0 ** source.uniform(-6, 6, 5), 10.0 ** source.uniform(-6, 6, 4)
        light = np.where(source.random(5) < 0.4, 10.0 ** source.uniform(-15, 0, 5), 1.0)
        mass = np.diag(light * units**2)
        assert rank_of(lengths[:3, None] * rows * units, mass).full
        assert rank_of(lengths[:, None] * dependent * units, mass).rank == 3
    assert proved_independent(rows, np.eye(5)) and not proved_independent(dependent, np.eye(5))


@pytest.mark.parametrize("kind", ["joint", "cartesian"])
def test_projecting_onto_redundant_constraints_stays_near(kind: str) -> None:
    """A thousandth off the set its four or six rows are independent; steps that meet each of them run away along it."""
    system, source = locomotive(kind, 1.0, 0.2), np.random.default_rng(0)
    model = zw.compile(system)
    for turn in source.uniform(0.6, 2.9, size=5):
        exact = running(kind, float(turn), 0.4, 1.0, 0.2)
        off = {name: value + 1e-3 * source.normal() * (not name.startswith("v_")) for name, value in exact.items()}
        found = model.project(off)
        assert max(abs(found[name] - off[name]) for name in exact if not name.startswith("v_")) < 0.02
        assert zw.reactions(model, found).status.name == "UNIQUE_MOTION"
