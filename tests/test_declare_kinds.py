"""Symbols that share a name: told apart from coordinates, part of equality, digest, files and pickles."""

from __future__ import annotations

import itertools
import pickle
import random
from typing import Any

import pytest
import sympy as sp

import zwang as zw
from zwang._declare.checks import likely_angles

(x, y), (vx, vy) = zw.coordinates("x y")
KINDS: list[dict[str, bool]] = [
    {"real": True},
    {},
    {"positive": True},
    {"integer": True},
    {"real": True, "zero": False},
]


@pytest.mark.parametrize("facts", KINDS, ids=str)
@pytest.mark.parametrize("name", ["x", "v_x", "t"])
def test_a_symbol_that_only_shares_a_name_is_refused_wherever_it_stands(name: str, facts: dict[str, bool]) -> None:
    foreign = sp.Symbol(name, **facts)
    good: dict[str, Any] = {"kinetic": (vx**2 + vy**2) / 2, "coordinates": (x, y)}
    wrong: list[dict[str, Any]] = [
        {**good, "potential": foreign * y},
        {**good, "forces": {y: foreign}},
        {**good, "kinetic": (vx**2 + vy**2) / 2 * (1 + foreign**2)},
        {**good, "constraints": [zw.Bilateral(y - foreign)]},
        {**good, "constraints": [zw.Unilateral(y, restitution=foreign)]},
        {**good, "constraints": [zw.Unilateral(y, friction=zw.Coulomb(foreign, slip=vy))]},
        {**good, "constraints": [zw.Friction(foreign, slip=vy)]},
        {"mass": [[1 + foreign**2, 0], [0, 1]], "force": [0, 0], "coordinates": (x, y)},
    ]
    for declared in wrong:
        with pytest.raises(zw.DeclarationError, match=f"has a symbol '{name}' that only shares its name with"):
            zw.System(**declared)


def test_a_cached_model_is_not_served_for_another_system() -> None:
    right = zw.System(kinetic=vx**2 / 2, potential=x**2, name="spring")
    start = {"x": 1.0, "v_x": 0.0}
    with pytest.raises(zw.DeclarationError, match="only shares its name"):
        zw.System(kinetic=vx**2 / 2, potential=sp.Symbol("x", real=True) ** 2, name="spring")
    assert zw.compile(right, "reference").accelerations(start).tolist() == [-2.0]


def test_kinds_of_symbols_are_part_of_equality_digest_files_and_pickles(tmp_path) -> None:
    (z,), (vz,) = zw.coordinates("z")
    systems = [
        zw.System(kinetic=m * vz**2 / 2, potential=m * z, name="weight")
        for m in (sp.Symbol("m", **facts) for facts in KINDS)
    ]
    for one, other in itertools.combinations(systems, 2):
        assert one != other and one.digest != other.digest and zw.compile(one) is not zw.compile(other)
    for number, system in enumerate(systems):
        path = tmp_path / f"{number}.toml"
        system.save(path)
        for again in (zw.load(path), pickle.loads(pickle.dumps(system))):
            assert again == system and again.parameters == system.parameters and again.kinetic == system.kinetic


def test_digests_differ_whenever_a_part_differs() -> None:
    source = random.Random(7)
    a, b, c = zw.parameters("a b c")
    positive = sp.Symbol("c", positive=True)
    leaves = [a, b, c, x, y, sp.Integer(2), sp.Float(2.0), sp.Rational(1, 3), sp.Float(0.5), sp.Float(0.1), sp.pi]

    def grown(depth: int) -> Any:
        if depth == 0:
            return source.choice(leaves)
        one, other = grown(depth - 1), grown(depth - 1)
        made = [one + other, one * other, one - other, sp.sin(one), one**2 + other, sp.sqrt(1 + one**2)]
        return source.choice(made)

    known: dict[str, str] = {}
    for _ in range(150):
        potential = grown(source.randint(0, 3))
        if c in potential.free_symbols and source.random() < 0.3:
            potential = potential.xreplace({c: positive})
        try:
            system = zw.System(kinetic=(vx**2 + vy**2) / 2, potential=potential, coordinates=(x, y))
        except zw.DeclarationError:
            continue
        text = sp.srepr(system.potential)
        assert known.setdefault(system.digest, text) == text
    assert len(known) > 80


def test_a_file_that_lists_its_parameters_knows_no_other_names(tmp_path) -> None:
    path = tmp_path / "m.toml"
    text = 'schema = 2\nname = "m"\ncoordinates = ["x"]\nparameters = ["mass", "g"]\nkinetic = "{}*v_x**2/2"\n'
    path.write_text(text.format("mass"))
    assert [item.name for item in zw.load(path).parameters] == ["mass"]
    path.write_text(text.format("mas"))
    with pytest.raises(zw.DeclarationError, match="the unknown name 'mas' .*Did you mean 'mass'"):
        zw.load(path)
    path.write_text(text.format("mass") + "[params]\nmas = 1.0\n")
    with pytest.raises(zw.DeclarationError, match=r"'mas', which is not in parameters = \[...\]. Did you mean 'mass'"):
        zw.load(path)
    path.write_text(text.format("mass") + '[assumptions]\nmass = ["positve"]\n')
    with pytest.raises(zw.DeclarationError, match="unknown assumption 'positve'"):
        zw.load(path)
    path.write_text(text.format("mass") + '[assumptions]\nmass = ["positive", "negative"]\n')
    with pytest.raises(zw.DeclarationError, match="contradict each other"):
        zw.load(path)
    path.write_text(text.format("mass").replace('["mass", "g"]', '["mass", "mass"]'))
    with pytest.raises(zw.DeclarationError, match="the parameter 'mass' is listed twice"):
        zw.load(path)
    path.write_text(text.format("mass").replace('["mass", "g"]', '["mass", "x"]'))
    with pytest.raises(zw.DeclarationError, match="the parameter 'x' has the name of a coordinate"):
        zw.load(path)


def test_files_of_the_first_schema_are_read_and_make_parameters_of_other_names(tmp_path) -> None:
    path = tmp_path / "m.toml"
    path.write_text('schema = 1\nname = "m"\ncoordinates = ["x"]\nkinetic = "m*v_x**2/2"\n')
    assert [item.name for item in zw.load(path).parameters] == ["m"]
    path.write_text('schema = 1\nname = "m"\ncoordinates = ["x"]\nparameters = ["m"]\nkinetic = "m*v_x**2/2"\n')
    with pytest.raises(zw.DeclarationError, match="'parameters' belongs to schema 2"):
        zw.load(path)


def test_a_saved_file_lists_its_parameters(tmp_path) -> None:
    for name in zw.gallery.names():
        system = zw.gallery.get(name).system
        system.save(tmp_path / "m.toml")
        text = (tmp_path / "m.toml").read_text()
        assert text.startswith("schema = 2\n") and "\nparameters = [" in text
        assert zw.load(tmp_path / "m.toml") == system


def test_a_constraint_that_is_not_affine_in_the_velocities_hears_what_would_be() -> None:
    for expr in (vx**2 + vy**2 - 1, vx * vy, sp.sqrt(vx**2 + vy**2) - 1):
        with pytest.raises(zw.DeclarationError, match=r"not affine in the velocities .*Affine would be v_x\*sin"):
            zw.System(kinetic=(vx**2 + vy**2) / 2, constraints=[zw.Bilateral(expr, name="speed")])


def test_coordinates_that_turn_but_are_no_angles_are_named():
    (x, a, b, c), (v, w_a, w_b, w_c) = zw.coordinates("x a b c")
    kinetic = (v**2 + w_a**2 + w_b**2 * sp.cos(b) ** 2 + w_c**2) / 2
    cam = zw.Bilateral(x - sp.cos(2 * a) - sp.sin(b), name="cam")
    stop = zw.Unilateral(b + sp.cos(c / 3), name="stop")  # b bare, c no whole multiple
    system = zw.System(kinetic=kinetic, potential=a**2, constraints=[cam, stop])
    assert likely_angles(system) == ("a",)
    (q,), (w,) = zw.coordinates("q", angles="q")
    assert likely_angles(zw.System(kinetic=w**2 * (2 + sp.cos(q)))) == ()
    assert likely_angles(zw.System(kinetic=v**2)) == ()
