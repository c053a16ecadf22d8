"""What every entry of the gallery must be: values for all symbols, a valid state, facts with sources, a model file."""

from __future__ import annotations

import dataclasses
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from gallery_states import numbers
from zwang._declare.model_files import from_dict
from zwang._declare.plain import to_dict

NAMES = zw.gallery.names()
ON_CONSTRAINT = 1e-12


@pytest.fixture(params=NAMES)
def entry(request: pytest.FixtureRequest) -> zw.gallery.Entry:
    return zw.gallery.get(request.param)


def test_the_gallery_has_the_systems_of_the_papers_and_the_mechanisms_of_the_field() -> None:
    wanted = (
        "andrews atwood circle_particle crossing ellipse_pendulum ellipse_pendulum_cartesian four_bar kozlov_neishtadt "
        "ladder n_four_bar painleve_rod pyramid sleigh sleigh_ahead slider_crank tangency two_particles"
    )
    assert set(wanted.split()) <= set(NAMES)
    assert list(NAMES) == sorted(NAMES)


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(zw.DeclarationError, match=r"The gallery has no 'painlevé rod'\. Did you mean 'painleve_rod'\?"):
        zw.gallery.get("painlevé rod")


def test_an_entry_is_found_under_its_name_and_can_not_be_changed(entry: zw.gallery.Entry) -> None:
    assert zw.gallery.get(entry.name) is entry
    assert repr(entry) == f"Entry '{entry.name}': {entry.title}"
    with pytest.raises(dataclasses.FrozenInstanceError):
        entry.title = "other"  # type: ignore[misc]
    for mapping in (entry.params, entry.state, entry.facts):
        with pytest.raises(TypeError):
            mapping["x"] = 1.0  # type: ignore[index]


def test_there_is_a_value_for_every_parameter_and_every_coordinate_and_no_other(entry: zw.gallery.Entry) -> None:
    system = entry.system
    assert set(entry.params) == {symbol.name for symbol in system.parameters}
    assert set(entry.state) == {symbol.name for symbol in (*system.coordinates, *system.velocities)}
    assert all(
        isinstance(value, float) and math.isfinite(value) for value in (*entry.params.values(), *entry.state.values())
    )
    assert system.name == entry.name


def test_the_state_satisfies_the_constraints_and_their_rates(entry: zw.gallery.Entry) -> None:
    found = numbers(entry)
    relations = [item for item in entry.system.constraints if not isinstance(item, zw.Friction)]
    for item, value, rate in zip(relations, found.value, found.rate, strict=True):
        if isinstance(item, zw.Bilateral):
            assert abs(value) < ON_CONSTRAINT
        else:
            assert value > -ON_CONSTRAINT
        if item.level == "position" and abs(value) < ON_CONSTRAINT:
            assert abs(rate) < ON_CONSTRAINT if isinstance(item, zw.Bilateral) else rate > -ON_CONSTRAINT


def test_the_mass_matrix_is_symmetric_and_positive_definite_at_the_state(entry: zw.gallery.Entry) -> None:
    found, mass = numbers(entry), numbers(entry).mass
    assert mass == pytest.approx(mass.T, rel=1e-14, abs=1e-15 * np.abs(mass).max())
    # That of quaternions is definite along the velocities that keep their length.
    relations = [item.name for item in entry.system.constraints if not isinstance(item, zw.Friction)]
    units = found.rows[[name in entry.system.bookkeeping for name in relations]]
    free = np.linalg.svd(units)[2][len(units) :].T if len(units) else np.eye(len(mass))
    assert np.linalg.eigvalsh(free.T @ mass @ free).min() > 0


def leaves(value: Any) -> list[Any]:
    return [leaf for item in value for leaf in leaves(item)] if isinstance(value, tuple) else [value]


def test_facts_are_finite_numbers_with_a_sentence_and_a_source(entry: zw.gallery.Entry) -> None:
    assert entry.facts
    assert entry.source
    for name, fact in entry.facts.items():
        assert name.isidentifier()
        assert (
            fact.statement[0].isupper() or fact.statement[0] in "(x" or fact.statement.startswith(("eps", "lam", "cos"))
        )
        assert fact.statement.endswith(".")
        assert fact.source
        assert all(isinstance(leaf, float) and math.isfinite(leaf) for leaf in leaves(fact.value))
        if fact.formula is not None:
            values = {**entry.params, **entry.state}
            there = fact.formula.subs({symbol: values[symbol.name] for symbol in fact.formula.free_symbols})
            assert leaves(fact.value) == pytest.approx([float(item) for item in there], rel=1e-15)


def test_every_system_survives_the_way_to_plain_texts_and_back(entry: zw.gallery.Entry) -> None:
    plain = to_dict(entry.system)
    again = from_dict(plain)
    assert again == entry.system
    assert to_dict(again) == plain


def test_every_system_survives_the_way_to_a_model_file_and_back(entry: zw.gallery.Entry, tmp_path: Path) -> None:
    path = tmp_path / "model.toml"
    entry.system.save(path, params=entry.params, state=entry.state)
    assert zw.load(path) == entry.system


def test_drawings_are_expressions_of_the_systems_own_symbols(entry: zw.gallery.Entry) -> None:
    symbols = {symbol.name: symbol for symbol in (*entry.system.coordinates, *entry.system.parameters)}
    values = {symbol: {**entry.state, **entry.params}[name] for name, symbol in symbols.items()}
    assert entry.drawing.symbols() <= {*symbols.values(), zw.t}
    for place in entry.drawing.points.values():
        assert all(math.isfinite(float(sp.Add(item).subs(values))) for item in place)


def test_every_system_has_a_picture_that_moves_with_it(entry: zw.gallery.Entry) -> None:
    here = {**entry.state, **entry.params}
    scene = entry.drawing.scene(here, relations=entry.system.constraints)
    assert np.isfinite(scene.places).all() and all(np.isfinite(line).all() for line in scene.outlines)
    low, high = scene.corners()
    assert (high > low).all()
    # Coordinates move something, but for those that a loop may determine from the others.
    still = []
    for name in (item.name for item in entry.system.coordinates):
        there = entry.drawing.scene({**here, name: here[name] + 0.1})
        moved = np.abs(there.places - scene.places).max(initial=0.0)
        solids = zip(there.bodies, scene.bodies, strict=True)
        turned = max((np.abs(a.at - b.at).max() for a, b in solids if len(a.at)), default=0.0)
        still += [name] if max(moved, turned) < 1e-6 else []
    assert len(still) <= sum(isinstance(item, zw.Bilateral) for item in entry.system.constraints), still


def test_entries_are_imported_when_they_are_asked_for() -> None:
    code = (
        "import sys, zwang; zwang.gallery.names(); "
        "print(sum(name.startswith('zwang.gallery.') for name in sys.modules)); "
        "zwang.gallery.get('bouncing_ball'); "
        "print(*(f'zwang.gallery.{name}' in sys.modules for name in ('ball', 'skate')))"
    )
    source = str(Path(zw.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["1", "True", "False"]  # only the module of Entry and Fact


def test_a_system_is_built_once_and_when_it_is_asked_for() -> None:
    built = []

    def build() -> zw.System:
        built.append(1)
        (_,), (v,) = zw.coordinates("x")
        return zw.System(kinetic=v**2 / 2)

    entry = zw.gallery.Entry("e", "title", build, {}, {"x": 0.0, "v_x": 0.0}, {}, "source")
    assert not built
    assert entry.system is entry.system
    assert len(built) == 1
    with pytest.raises(AssertionError):
        _ = entry.drawing


@pytest.mark.parametrize("name", ["pyramid", "n_four_bar", "stack"])
def test_families_are_functions_of_their_size(name: str) -> None:
    family = getattr(zw.gallery, name)
    small, large = family(2).system, family(4).system
    assert len(small.coordinates) < len(large.coordinates)
    assert len(small.constraints) < len(large.constraints)
    for wrong in (0, -1, 2.5, True, "3"):
        with pytest.raises(zw.DeclarationError, match=rf"gallery.{name} needs a number of at least 1"):
            family(wrong)
    for n in (1, 4):
        entry = family(n)
        assert set(entry.params) == {symbol.name for symbol in entry.system.parameters}
        found = numbers(entry)
        assert np.abs(found.value).max(initial=0.0) < ON_CONSTRAINT


def test_a_normal_form_takes_expressions_of_ones_own() -> None:
    (x, y), (vx, _) = zw.coordinates("x y")
    own = zw.gallery.normal_form("tangency", A=[[1 + y**2, x], [x, 2]], B=(0, vx / 2), W=(1, sp.cos(x)))
    assert own.mass[0, 0] == 1 + y**2
    assert own.force[1] == -vx / 2
    assert [symbol.name for symbol in own.parameters] == ["eps", "mu"]
    assert zw.gallery.normal_form("crossing", W=False).constraints["curve"].friction is None
    assert zw.gallery.normal_form("crossing") == zw.gallery.get("crossing").system
    with pytest.raises(zw.DeclarationError, match=r"There is no normal form 'cross'\. Did you mean 'crossing'\?"):
        zw.gallery.normal_form("cross")
