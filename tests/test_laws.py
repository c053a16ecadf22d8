"""Laws of friction: sections, rest with a law of its own, registration, files; against brute force and closed forms."""

from __future__ import annotations

import json
import math
import pickle
import subprocess
import sys
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from law_brute_force import Rubbing, solutions
from law_examples import REST, VX, VY, F, Ski, X, at, block, m, mu, mu_s, puck, vx, vy, x, y
from zwang._declare.laws import law_keys
from zwang._declare.model_files import from_dict
from zwang._declare.plain import to_dict

# Declaring


def test_a_coulomb_law_is_its_section():
    assert zw.Coulomb(mu, slip=vx).section() == zw.Interval(-mu, mu)
    assert zw.Coulomb(mu, slip=vx, scale=2).resting() == zw.Interval(-2 * mu, 2 * mu)
    assert zw.Coulomb(mu, slip=vx, static=mu_s).resting() == zw.Interval(-mu_s, mu_s)
    assert zw.Coulomb((mu, mu_s), slip=(VX, VY)).section() == zw.Ellipse(mu, mu_s)
    assert zw.Coulomb(mu, slip=(VX, VY), static=(mu, mu_s)).resting() == zw.Ellipse(mu, mu_s)


MISTAKES = {
    "Coulomb: mu is a pair and the slip is one velocity": lambda: zw.Coulomb((0.1, 0.2), slip=vx),
    "Coulomb: static is a pair and the slip is one velocity": lambda: zw.Coulomb(0.1, slip=vx, static=(0.2, 0.3)),
    "mu is -0.100000000000000, needed a number of at least 0": lambda: zw.Coulomb(-0.1, slip=vx),
    "at rest friction holds 0.200000000000000 and while slipping 0.3": lambda: zw.Coulomb(0.3, slip=vx, static=0.2),
    "mu needs one number, or a pair for a pair of slips; it has 3": lambda: zw.Coulomb((1, 2, 3), slip=(VX, VY)),
    "nothing while slipping; an ellipse needs both or neither": lambda: zw.Coulomb(
        (0.1, 0), slip=(VX, VY), static=(0.2, 0.1)
    ),
    "Interval: low is 0.100000000000000 and high is 0.2": lambda: zw.Interval(0.1, 0.2),
    "Interval: low is -0.200000000000000 and high is -0.1": lambda: zw.Interval(-0.2, -0.1),
    "Ellipse: the semi-axes are -1 and 1": lambda: zw.Ellipse(-1, 1),
    "Friction: section= must be an Interval for one slip": lambda: zw.Friction(1, slip=vx, section=zw.Ellipse(1, 1)),
    "Friction: section= must be an Ellipse for a pair of slips": lambda: zw.Friction(
        1, slip=(VX, VY), section=zw.Interval(-1, 1)
    ),
    "friction= must be a Coulomb law, or another one that zwang.law has registered": lambda: zw.Unilateral(
        y, friction=0.3
    ),
    "law: a key must be an identifier": lambda: zw.law("no key"),
    "must be a dataclass": lambda: zw.law("test_bad")(object),
    "must be frozen": lambda: zw.law("test_bad")(dataclass(type("Soft", (), {"__annotations__": {"slip": Any}}))),
    "law_examples.Ski already. Give _other_ski": lambda: zw.law("test_ski")(_other_ski()),
}


def _other_ski():
    @dataclass(frozen=True)
    class Other:
        slip: Any

        def section(self):
            return zw.Interval(-1, 1)

    return Other


@pytest.mark.parametrize("words", MISTAKES)
def test_a_wrong_law_is_told_what_is_needed(words):
    with pytest.raises(zw.DeclarationError) as error:
        MISTAKES[words]()
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("slip", "must have a field 'slip'"),
        ("section", "must have a method section()"),
        ("kind", "section() must be an Interval for one slip"),
    ],
)
def test_a_class_that_is_no_law_is_told_what_is_missing(method, words):
    names = {"mu": Any} if method == "slip" else {"mu": Any, "slip": Any}
    body: dict[str, Any] = {"__annotations__": names}
    if method != "section":
        body["section"] = lambda self: zw.Ellipse(1, 1)
    made = dataclass(frozen=True)(type("Made", (), body))
    with pytest.raises(zw.DeclarationError) as error:
        zw.law(f"test_{method}")(made)(0.3, vx)
    assert words in str(error.value)


CONTACTS = {
    "static_friction is 0.1, below 0.3": {"friction": 0.3, "static_friction": 0.1},
    "section is (0.1, 0.2), needed low <= 0 <= high": {"section": (0.1, 0.2)},
    "section and friction = 0.3 are both given": {"section": (-0.1, 0.2), "friction": 0.3},
    "section has 1 component": {"section": [0.2]},
    "friction is a pair and there is one tangent": {"friction": (0.1, 0.2)},
    "static_friction has 3 numbers": {"section": (-0.1, 0.2), "static_friction": (1, 2, 3)},
}


@pytest.mark.parametrize("words", CONTACTS)
def test_a_contact_with_a_wrong_section_is_told_what_is_needed(words):
    with pytest.raises(zw.DeclarationError) as error:
        zw.Contact([0, 1], tangent=[1, 0], **CONTACTS[words])
    assert words in str(error.value)


def test_a_section_belongs_to_one_tangent_and_an_ellipse_to_two():
    with pytest.raises(zw.DeclarationError, match="an interval for one tangent; there are 2"):
        zw.Contact([0, 0, 1], tangent=np.eye(3)[:2], section=(-1, 1))
    with pytest.raises(zw.DeclarationError, match="rest holds and slip meets nothing"):
        zw.Contact([0, 0, 1], tangent=np.eye(3)[:2], friction=(0.1, 0), static_friction=0.3)


def test_a_static_coefficient_below_the_kinetic_one_is_a_state_error():
    system = block(zw.Coulomb(mu, slip=vx, static=mu_s))
    with pytest.raises(zw.StateError, match=r"static coefficient of friction of 'floor' is 0.05 .* below 0.1"):
        zw.reactions(system, REST, {"m": 1, "g": 10, "mu": 0.1, "mu_s": 0.05})
    with pytest.raises(zw.StateError, match="against a slip < 0 is -0.2"):
        zw.reactions(block(Ski(0.1, mu, slip=vx)), REST, {"m": 1, "g": 10, "mu": -0.2})


EXAMPLES = {
    "static": lambda: block(zw.Coulomb(mu, slip=vx, static=2 * mu)),
    "ski": lambda: block(Ski("mu/2", mu, slip=vx)),
    "ellipse": lambda: puck(zw.Coulomb((mu, mu_s), slip=(VX, VY), static=(1, 2))),
    "brake": lambda: zw.System(
        kinetic=m * vx**2 / 2, constraints=[zw.Friction(mu, slip=vx, section=zw.Interval(-1, 2))], coordinates=(x,)
    ),
    "sheet": lambda: zw.System(
        kinetic=m * (vx**2 + vy**2) / 2, constraints=[zw.Friction(mu, slip=(vx, vy), section=zw.Ellipse(1, 2))]
    ),
}


@pytest.mark.parametrize("which", EXAMPLES)
def test_laws_go_to_files_pickles_and_back(which, tmp_path):
    system = EXAMPLES[which]()
    system.save(tmp_path / "model.toml")
    again = zw.load(tmp_path / "model.toml")
    assert again == system and again.digest == system.digest
    assert from_dict(json.loads(json.dumps(to_dict(system)))) == system
    assert pickle.loads(pickle.dumps(system)) == system
    assert "friction" in repr(system) and system._repr_latex_()


def test_the_digest_of_a_plain_coulomb_law_is_that_of_schema_1():
    plain = to_dict(block(zw.Coulomb(mu, slip=vx)))["constraint"][0]["friction"]
    assert plain == {"coefficient": "mu", "slip": ["v_x"]}
    digests = {EXAMPLES[which]().digest for which in EXAMPLES}
    digests |= {block(zw.Coulomb(mu, slip=vx)).digest, block(zw.Coulomb(mu, slip=vx, static=mu)).digest}
    assert len(digests) == len(EXAMPLES) + 2


FILE = """
schema = {schema}
name = "block"
coordinates = ["x", "y"]
kinetic = "v_x**2/2 + v_y**2/2"

[[constraint]]
kind = "unilateral"
name = "floor"
expr = "y"

[constraint.friction]
{law}
"""


@pytest.mark.parametrize(
    ("law", "words"),
    [
        ('law = "no_such"\nslip = "v_x"', "no law of friction is registered as 'no_such'"),
        ('law = "test_ski"\nslip = "v_x"\nforward = 0.1', "friction lacks the key 'backward' of its law"),
        ('law = "test_ski"\nslip = "v_x"\nforwards = 0.1', "friction has the unknown key 'forwards'"),
        ('coefficient = 0.1\nslip = "v_x"\nstatik = 0.2', "has the unknown key 'statik'"),
        ('coefficient = 0.3\nslip = "v_x"\nstatic = 0.2', "needed at least as much at rest"),
        ('coefficient = [0.3, 0.2]\nslip = "v_x"', "mu is a pair and the slip is one velocity"),
    ],
)
def test_a_wrong_law_in_a_file_is_told_what_is_needed(law, words, tmp_path):
    path = tmp_path / "model.toml"
    path.write_text(FILE.format(schema=2, law=law))
    with pytest.raises(zw.DeclarationError) as error:
        zw.load(path)
    assert words in str(error.value)


def test_schema_1_knows_one_coefficient(tmp_path):
    path = tmp_path / "model.toml"
    path.write_text(FILE.format(schema=1, law='coefficient = 0.3\nstatic = 0.5\nslip = "v_x"'))
    with pytest.raises(zw.DeclarationError, match="'static' of friction belongs to schema 2"):
        zw.load(path)
    path.write_text(FILE.format(schema=2, law='coefficient = 0.3\nstatic = 0.5\nslip = "v_x"\nlaw = "coulomb"'))
    assert zw.load(path).constraints["floor"].friction.static == 0.5


LAW_MODULE = """
from dataclasses import dataclass, field, replace
from typing import Any
import zwang as zw

@zw.law("far_brush")
@dataclass(frozen=True)
class Brush:
    along: Any
    slip: Any = field(kw_only=True)
    def section(self):
        return zw.Interval(-self.along, 3 * self.along)
"""


def test_a_law_of_another_module_travels_to_another_process(tmp_path, monkeypatch):
    (tmp_path / "far_laws.py").write_text(LAW_MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    import far_laws

    system = block(far_laws.Brush(0.1, slip=vx))
    (tmp_path / "system.pickle").write_bytes(pickle.dumps(system))
    code = (
        f"import sys, pickle; sys.path.insert(0, {str(tmp_path)!r})\n"
        f"system = pickle.load(open({str(tmp_path / 'system.pickle')!r}, 'rb'))\n"
        "print(system.constraints['floor'].friction.section())"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert "Interval(low=-0.1, high=0.3" in found.stdout
    lost = code.replace(str(tmp_path) + "')", "/nowhere')", 1)
    gone = subprocess.run([sys.executable, "-c", lost], capture_output=True, text=True, timeout=120, check=False)
    assert "DeclarationError" in gone.stderr and "far_laws" in gone.stderr


def test_an_installed_package_names_its_law_by_an_entry_point(tmp_path, monkeypatch):
    (tmp_path / "ep_laws.py").write_text(LAW_MODULE.replace("far_brush", "ep_brush"))
    info = tmp_path / "ep_laws-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ep-laws\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[zwang.laws]\nep_brush = ep_laws:Brush\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert "ep_brush" in law_keys()
    (tmp_path / "model.toml").write_text(FILE.format(schema=2, law='law = "ep_brush"\nalong = 0.2\nslip = "v_x"'))
    law = zw.load(tmp_path / "model.toml").constraints["floor"].friction
    assert law.section() == zw.Interval(-0.2, sp.Float(0.2) * 3)


# Reactions


def draw(source):
    """Return masses, forces and one to three contacts with random sections, at rest or sliding."""
    count = int(source.integers(1, 4))
    n = 2 * count + int(source.integers(0, 2))
    root = source.normal(size=(n, n))
    contacts = []
    for _ in range(count):
        kind = source.integers(3)
        low, high = -source.uniform(0, 1.5), source.uniform(0, 1.5)
        low, high = [(0.0, high), (low, 0.0), (-high, high), (low, high)][source.integers(4)]
        rest = None
        if source.random() < 0.6:
            rest = (low - source.uniform(0, 1), high + source.uniform(0, 1)) if source.random() < 0.8 else (low, high)
        given = float(source.uniform(0.1, 2) * source.choice([1, -1])) if kind == 2 else None
        slip = float(source.choice([0, 0, 0, 1, -1]))
        rows = source.normal(size=(2, n))
        contacts.append(Rubbing(*rows, low, high, rest, bilateral=bool(kind == 1), slip=slip, given=given))
    return root @ root.T + 0.3 * np.eye(n), 2 * source.normal(size=n), contacts


def as_contact(one):
    law = {"section": (one.low, one.high)}
    if one.rest is not None:
        law["static_friction"] = one.rest
    return zw.Contact(
        one.normal, tangent=one.tangent, bilateral=one.bilateral, slip=one.slip, normal_force=one.given, **law
    )


def compare(seed, count):
    source, seen = np.random.default_rng(seed), set()
    for _ in range(count):
        mass, force, contacts = draw(source)
        expected = solutions(mass, force, contacts)
        if expected is None:
            continue
        found = zw.reactions(zw.ContactProblem(mass, force, [as_contact(one) for one in contacts]))
        wanted = []
        for w in expected.values():
            if not any(np.abs(w - other).max() < 1e-6 * (1 + np.abs(other).max()) for other in wanted):
                wanted.append(w)
        assert found.complete and len(found.accelerations) == len(wanted), (contacts, found)
        for w in wanted:
            assert min(np.abs(w - other).max() for other in found.accelerations) < 1e-6 * (1 + np.abs(w).max())
        assert not wanted or found.residual < 1e-9
        seen.add(found.status.name)
    return seen


def test_sections_and_rest_agree_with_brute_force():
    assert compare(11, 400) >= {"UNIQUE", "MULTIPLE", "NONE"}


@pytest.mark.nightly
def test_many_sections_agree_with_brute_force():
    compare(12, 20_000)


def test_a_solution_exists_with_a_static_coefficient_whenever_one_does_without():
    source, some = np.random.default_rng(3), 0
    for _ in range(150):
        mass, force, contacts = draw(source)
        plain = [zw.Contact(c.normal, tangent=c.tangent, friction=c.high, bilateral=c.bilateral) for c in contacts]
        static = [replace(one, static_friction=one.friction + 0.4) for one in plain]
        without = zw.reactions(zw.ContactProblem(mass, force, plain))
        if without.solutions:
            assert zw.reactions(zw.ContactProblem(mass, force, static)).solutions
            some += 1
    assert some > 100


def test_where_stick_and_slip_are_both_possible_a_static_coefficient_decides():
    # Strong coupling of slip and gap: open, stick and slip+ all satisfy Coulomb's law.
    inverse, force = [[2.6, 2.2], [2.2, 2.3]], [1.4, -1.3]

    def ask(**law):
        floor = zw.Contact([0, 1], tangent=[1, 0], name="floor", **law)
        return zw.reactions(zw.ContactProblem(force=force, contacts=[floor], inverse_mass=inverse))

    plain, ruled = ask(friction=1.5), ask(friction=1.5, static_friction=1.5)
    assert [str(s.modes[0]) for s in plain.solutions] == ["open", "stick", "slip+"]
    assert [str(s.modes[0]) for s in ruled.solutions] == ["open", "stick"] and ruled.complete
    assert "floor slip+   rejected: slips though it could stick" in str(ruled)
    assert plain.certificates and not any(item.scope == "every force" for item in ruled.certificates)


def test_an_elliptic_cone_is_friction_1_on_scaled_tangents():
    source = np.random.default_rng(5)
    for slides in (False, True):
        for _ in range(8):
            root = source.normal(size=(6, 6))
            mass, force = root @ root.T + np.eye(6), 3 * source.normal(size=6)
            normal, tangent = source.normal(size=6), source.normal(size=(2, 6))
            pair = source.uniform(0.05, 1.0, size=2)
            slip = source.normal(size=2) if slides else np.zeros(2)
            one = zw.Contact(normal, tangent=tangent, friction=tuple(pair), slip=slip)
            two = zw.Contact(normal, tangent=pair[:, None] * tangent, friction=1.0, slip=pair * slip)
            a, b = (zw.reactions(zw.ContactProblem(mass, force, [contact])) for contact in (one, two))
            assert a.status == b.status
            for first, second in zip(a.solutions, b.solutions, strict=True):
                assert np.allclose(first.acceleration, second.acceleration, atol=1e-12, rtol=1e-10)
                assert np.allclose(first.tangential, second.tangential * pair, atol=1e-12, rtol=1e-10)
                if slides and first.normal[0] > 0:  # the law as it is written down
                    size = math.hypot(*(pair * slip))
                    assert np.allclose(first.tangential[0], -first.normal[0] * pair**2 * slip / size, rtol=1e-10)


@pytest.mark.parametrize("static", [None, (0.0, 0.7)])
@pytest.mark.parametrize("speed", [0.0, 1.5])
def test_along_an_axis_of_no_length_there_is_no_friction_and_nothing_undetermined(static, speed):
    for push, pull in ((3.0, -3.0), (20.0, -0.6 * 10)):
        law = {"friction": (0, 0.6), "static_friction": static}
        contact = zw.Contact([0, 0, 1], tangent=np.eye(3)[:2], slip=[speed, 0], **law)
        found = zw.reactions(zw.ContactProblem(np.eye(3), [2.0, push, -10.0], [contact]))
        assert found.status.name == "UNIQUE" and found.redundancy is None
        assert np.allclose(found.solutions[0].tangential, [[0.0, pull]], atol=1e-12)
        assert np.allclose(found.accelerations, [[2.0, push + pull, 0.0]], atol=1e-9)


def test_sticking_in_a_plane_by_an_ellipse_at_rest_ends_where_the_ellipse_does():
    law = {"friction": (0.1, 0.4), "static_friction": (0.3, 0.5)}
    for angle in np.linspace(0, 2 * math.pi, 9):
        for size, word in ((0.99, "stick"), (1.01, "slip")):
            force = [30 * 0.1 * size * math.cos(angle), 50 * 0.1 * size * math.sin(angle), -10.0]
            contact = zw.Contact([0, 0, 1], tangent=np.eye(3)[:2], **law)
            found = zw.reactions(zw.ContactProblem(np.eye(3), force, [contact]))
            assert found.complete and [str(s.modes[0]) for s in found.solutions] == [word]


def test_maps_ask_other_sections_state_by_state():
    system = block(Ski(0.05, mu, slip=vx), forces={x: F})
    pushes = np.array([-5.0, -3.0, 0.4, 0.6])
    values = {"m": 1, "g": 10, "mu": 0.4, "F": pushes}
    found = zw.reactions(system, REST, values)
    assert (found.counts == 1).all()
    moves = [zw.reactions(system, REST, {**values, "F": push}).accelerations[0, 0] for push in pushes]
    assert np.allclose(moves, [-1.0, 0.0, 0.0, 0.1], atol=1e-12)  # F + 0.4 N, held, held, F - 0.05 N


def test_an_axis_of_no_length_is_a_law_of_the_other_slip_alone():
    literal = puck(zw.Coulomb((mu, 0), slip=(VX, VY)), forces={X: F})
    given = puck(zw.Coulomb((mu, mu_s), slip=(VX, VY)), forces={X: F})
    values = {"m": 1, "g": 10, "mu": 0.1, "F": 3}
    one = zw.reactions(literal, at(literal), values)
    two = zw.reactions(given, at(given), {**values, "mu_s": 0})
    assert np.allclose(one.accelerations, [[2, 0, 0]]) and np.allclose(two.accelerations, [[2, 0, 0]])


def test_builders_take_a_function_of_the_slip_that_returns_a_law():
    def slider(friction, **more):
        frame = zw.Linkage("slider", gravity=(0, "-g"))
        frame.point("B", mass=1)
        frame.guide("B", lambda x, y: 2 * y, name="rail", friction=friction, **more)
        return frame

    static = slider(lambda slip: zw.Coulomb(0.2, slip=slip, static=0.3)).system()
    assert static.constraints["rail"].friction.static == sp.Float(0.3)
    assert slider(0.2).system().constraints["rail"].friction.static is None
    with pytest.raises(zw.DeclarationError, match="guide 'rail': friction= is a function and returned 3"):
        slider(lambda slip: 3).system()
    with pytest.raises(zw.DeclarationError, match="needs a multiplier that is a force"):
        slider(lambda slip: zw.Coulomb(0.2, slip=slip), normalized=False).system()


def test_a_picture_of_another_law_is_not_that_of_a_cone_it_has_not():
    def ask(**law):
        return zw.reactions(zw.ContactProblem(np.eye(2), [3, -10], [zw.Contact([0, 1], tangent=[1, 0], **law)]))

    assert ask(friction=0.5).graph is not None
    assert ask(section=(-0.1, 0.5)).graph is None and ask(friction=0.5, static_friction=0.6).graph is None


def test_velocity_dependent_ellipses_are_refused_by_the_tables_of_large_systems():
    from zwang._derive.kinds import sort_into_kinds

    law = zw.Coulomb((0.1 + 0.1 * sp.exp(-(VX**2)), 0.3), slip=(VX, VY))
    with pytest.raises(zw.CompileError, match="two coefficients of an elliptic cone depend on velocities"):
        sort_into_kinds(puck(law), ())
    state = at(puck(law), v_X=1.0, v_Y=0.5)
    force = zw.reactions(puck(law), state, {"m": 1, "g": 10}).solutions[0].tangential[0]
    pair, slip = np.array([0.1 + 0.1 * math.exp(-1), 0.3]), np.array([1.0, 0.5])
    assert np.allclose(force, -10 * pair**2 * slip / math.hypot(*(pair * slip)), rtol=1e-12)
