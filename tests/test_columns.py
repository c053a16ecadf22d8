"""Results as columns: tables, Datasets and netCDF files that other programs open."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import zwang as zw
from zwang._results.columns import Quantities, Quantity, identifier, named
from zwang.cli import main


@pytest.fixture(scope="module")
def belt() -> zw.Motion:
    entry = zw.gallery.get("belt_block")
    return zw.simulate(entry.system, entry.state, entry.params, until=3.0)


def read(path: Path) -> dict[str, list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        names, *rows = csv.reader(file)
    return dict(zip(names, zip(*rows, strict=True), strict=True))


def test_a_table_of_a_motion_has_every_row_with_its_modes(belt: zw.Motion, tmp_path: Path) -> None:
    table = read(belt.to_csv(tmp_path / "belt.csv"))
    assert next(iter(table)) == "time"
    assert [float(item) for item in table["time"]] == belt.t.tolist()
    assert [float(item) for item in table["v_x"]] == belt.v[:, 0].tolist()
    assert [float(item) for item in table["reaction_belt"]] == belt.reactions["belt"].tolist()
    for span in belt.modes:
        inside = [k for k, time in enumerate(belt.t) if span.start < time < span.end]
        assert {table["mode_belt"][k] for k in inside} <= {span.labels[0]}
    assert set(table["mode_belt"]) >= {"stick"}


def test_datasets_have_named_variables_over_time_and_events_apart(belt: zw.Motion) -> None:
    pytest.importorskip("xarray")
    data = belt.to_xarray()
    assert data["x"].dims == ("time",)
    assert data["event_time"].dims == ("event",)
    assert data["event_kind"].values.tolist() == [event.kind for event in belt.events]
    assert data.attrs["system"] == "belt_block"
    assert data["mode_belt"].attrs["flag_meanings"].split()[0] in {"stick", "slip-", "slip+", "open"}


@pytest.mark.parametrize("what", ["motion", "map", "space", "evaluation", "reactions", "ensemble"])
def test_netcdf_files_show_others_the_columns_and_come_back_whole(what: str, belt: zw.Motion, tmp_path: Path) -> None:
    xarray = pytest.importorskip("xarray")
    entry = zw.gallery.get("belt_block")
    four = zw.gallery.get("four_bar")
    made = {
        "motion": lambda: belt,
        "map": lambda: zw.reactions(entry.system, entry.state, {**entry.params, "mu": np.linspace(0.1, 1, 4)}),
        "space": lambda: zw.trace(four.system, four.params),
        "evaluation": lambda: zw.compile(entry.system).evaluate(entry.state, entry.params),
        "reactions": lambda: zw.reactions(entry.system, entry.state, entry.params),
        "ensemble": lambda: zw.simulate(
            entry.system, {**entry.state, "x": np.linspace(0, 0.1, 3)}, entry.params, until=0.1
        ),
    }[what]()
    path = made.save(tmp_path / "result.nc")
    with xarray.open_dataset(path, engine="h5netcdf") as data:
        shown = made.to_xarray()
        assert set(data.variables) == set(shown.variables)
        for name in shown.variables:
            assert data[name].values.tolist() == pytest.approx(shown[name].values.tolist(), nan_ok=True) or (
                shown[name].dtype.kind == "U" and data[name].values.tolist() == shown[name].values.tolist()
            )
    again = zw.load_result(path)
    assert repr(again) == repr(made)


def test_netcdf_files_have_a_group_for_each_run_and_each_branch(tmp_path: Path) -> None:
    xarray = pytest.importorskip("xarray")
    ball, four = zw.gallery.get("bouncing_ball"), zw.gallery.get("four_bar")
    runs = zw.simulate(ball.system, {**ball.state, "y": [1.0, 2.0]}, ball.params, until=0.2)
    path = runs.save(tmp_path / "runs.nc")
    with xarray.open_dataset(path, engine="h5netcdf", group="run_1") as one:
        assert one["y"].dims == ("time",)
        assert one["y"].values == pytest.approx(2 - 9.81 * one["time"].values ** 2 / 2)
    space = zw.trace(four.system, four.params)
    path = space.save(tmp_path / "space.nc")
    for k, arc in enumerate(space.branches):
        with xarray.open_dataset(path, engine="h5netcdf", group=f"branch_{k}") as one:
            at = one["length"].values
            assert at[-1] == pytest.approx(arc.length)
            assert np.stack([one["alpha"].values, one["gamma"].values], axis=1) == pytest.approx(arc.position(at))


def test_maps_put_the_axes_first_and_words_for_numbers(tmp_path: Path) -> None:
    entry = zw.gallery.get("ladder")
    given = {**entry.params, "mu": np.array([0.05, 1.0])[:, None], "mu_wall": np.array([0.0, 0.5, 1.0])}
    table = read(zw.reactions(entry.system, entry.state, given).to_csv(tmp_path / "map.csv"))
    assert list(table)[:2] == ["mu", "mu_wall"]
    assert list(table["mu"]) == ["0.05"] * 3 + ["1.0"] * 3
    assert list(table["mu_wall"]) == ["0.0", "0.5", "1.0"] * 2
    assert set(table["status"]) <= {"UNIQUE", "UNIQUE_MOTION"}
    assert table["kind"][0] == "slides"
    assert table["kind"][-1] == "holds"
    assert table["mode_floor"][-1] == "stick"


def test_data_frames_are_the_tables(belt: zw.Motion) -> None:
    pytest.importorskip("pandas")
    frame = belt.to_pandas()
    assert frame["time"].tolist() == belt.t.tolist()
    assert frame["mode_belt"].isin(["stick", "slip-", "slip+"]).all()


def test_names_become_those_of_programs_and_stay_apart() -> None:
    assert identifier("hinge (low)") == "hinge_low"
    assert named(["a b", "a-b", "c"]) == ["a_b", "a_b_2", "c"]


def test_columns_of_unequal_lengths_are_refused() -> None:
    with pytest.raises(zw.DeclarationError, match="'b' has 3 values along 'time', not 2"):
        Quantities({"a": Quantity(("time",), np.zeros(2)), "b": Quantity(("time",), np.zeros(3))})


def test_the_command_line_writes_tables(tmp_path: Path) -> None:
    path = tmp_path / "belt.csv"
    done = CliRunner().invoke(main, ["simulate", "belt_block", "--until", "0.2", "--csv", str(path)])
    assert done.exit_code == 0, done.output
    assert float(read(path)["time"][-1]) == 0.2
    done = CliRunner().invoke(main, ["simulate", "belt_block", "--until", "0.2", "--csv", str(tmp_path / "belt.txt")])
    assert done.exit_code == 2
    assert "tables are written as .csv" in done.output
