"""Results: frozen, honest in their repr, saved and loaded without pickle."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import zwang as zw
from zwang._numerics.tolerances import THRESHOLDS
from zwang._results import Provenance
from zwang._results.loading import load_result


@pytest.fixture
def found():
    entry = zw.gallery.get("four_bar")
    return zw.compile(entry.system, "reference").evaluate(entry.state, entry.params)


@pytest.mark.parametrize("ending", ["npz", "nc"])
def test_a_result_comes_back_from_its_file_as_it_was(found, ending: str, tmp_path) -> None:
    if ending == "nc":
        pytest.importorskip("h5netcdf")
    again = load_result(found.save(tmp_path / f"result.{ending}"))
    assert type(again) is type(found) and again.status is found.status and again.provenance == found.provenance
    np.testing.assert_array_equal(again.accelerations, found.accelerations)
    assert again.regular.dtype == bool
    for quantity in ("multipliers", "gaps", "gap_rates", "energies"):
        for name, value in getattr(found, quantity).items():
            np.testing.assert_array_equal(getattr(again, quantity)[name], value)


@pytest.mark.parametrize("ending", ["npz", "nc"])
def test_the_motion_in_another_result_comes_back_with_its_forces_and_works(ending: str, tmp_path) -> None:
    entry = zw.gallery.get("circle_particle")
    given = entry.system, entry.state, entry.params
    strengths = [1e2, 1e3, 1e4]
    results = {
        "ideal": zw.limit(given[0], "circle", *given[1:], by=zw.Stiffness, until=0.05, strengths=strengths),
        "motion": zw.sensitivity(*given, until=0.05, wrt="m"),
    }
    for name, result in results.items():
        motion, again = getattr(result, name), getattr(load_result(result.save(tmp_path / f"{name}.{ending}")), name)
        assert again.residual == motion.residual
        assert np.array_equal(again.reactions["circle"], motion.reactions["circle"])
        assert {key: list(work) for key, work in again.work.items()} == {k: list(w) for k, w in motion.work.items()}
        # What was read can be saved again, and is the same.
        assert np.array_equal(
            load_result(again.save(tmp_path / f"again.{ending}")).energy["total"], motion.energy["total"]
        )


def test_a_result_is_frozen(found) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.accelerations = None


def test_the_provenance_names_system_versions_and_tolerances(found) -> None:
    assert found.provenance.digest == zw.gallery.get("four_bar").system.digest
    assert {"python", "numpy", "sympy"} <= set(found.provenance.versions)
    assert found.provenance.tolerances["rank"] == 1e-11
    assert Provenance.now("x", seed=3).seed == 3


def test_the_provenance_tells_what_decides_whether_rows_depend_on_each_other_and_why(found) -> None:
    decided = {name: found.provenance.tolerances[name] for name in found.provenance.reasons}
    assert decided == THRESHOLDS.values and decided["dependent"] == 1e-7
    assert all(found.provenance.reasons.values())
    rod = zw.gallery.get("painleve_rod")
    told = zw.reactions(rod.system, rod.state, rod.params).provenance
    assert {"gap", "rate", "slip", "dependent"} <= set(told.reasons) <= set(told.tolerances)


def test_the_repr_has_the_status_as_a_sentence_and_the_residual(found) -> None:
    text = repr(found)
    assert "DETERMINED. The constraints are independent" in text and "residual" in text and "multiplier" in text


def test_a_batch_is_summed_up(found) -> None:
    entry = zw.gallery.get("four_bar")
    name = next(iter(entry.state))
    batch = zw.compile(entry.system, "reference").evaluate(
        {**entry.state, name: entry.state[name] + np.zeros((2, 3))}, entry.params
    )
    assert "a batch of states of shape (2, 3)" in repr(batch)


def test_bad_files_are_refused(found, tmp_path) -> None:
    with pytest.raises(zw.DeclarationError, match="saved as .npz"):
        found.save(tmp_path / "result.pickle")
    with pytest.raises(zw.DeclarationError, match="There is no file"):
        load_result(tmp_path / "missing.npz")
    (tmp_path / "text.npz").write_text("no archive")
    with pytest.raises(zw.DeclarationError, match=r"There is no file '.*test\.npz'\. Did you mean 'text\.npz'\?"):
        load_result(tmp_path / "test.npz")
    (tmp_path / "rod.toml").write_text("schema = 1")
    with pytest.raises(zw.DeclarationError, match=r"A model file is read with zwang\.load\."):
        load_result(tmp_path / "rod.toml")
    with pytest.raises(zw.DeclarationError, match="is not a result that zwang saved"):
        load_result(tmp_path / "text.npz")
    np.savez(tmp_path / "other.npz", a=np.ones(2))
    with pytest.raises(zw.DeclarationError, match="is not a result that zwang saved"):
        load_result(tmp_path / "other.npz")
    np.savez(tmp_path / "evil.npz", meta=np.array('{"zwang": 1, "value": {"data": "Popen", "fields": {}}}'))
    with pytest.raises(zw.DeclarationError, match="'Popen', which this version of zwang doesn't know"):
        load_result(tmp_path / "evil.npz")


def test_an_object_array_is_never_unpickled(tmp_path) -> None:
    np.savez(tmp_path / "object.npz", meta=np.array([object()], dtype=object))
    with pytest.raises(zw.DeclarationError, match="is not a result that zwang saved"):
        load_result(tmp_path / "object.npz")
