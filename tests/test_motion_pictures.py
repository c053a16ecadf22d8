"""What a motion looks like: curves from dense output, films, datasets, and the command simulate."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import zwang as zw
from zwang._plot import new_figure
from zwang._results.motion_pictures import film_of
from zwang.cli import main


@pytest.fixture(scope="module")
def sleigh():
    entry = zw.gallery.get("sleigh_ahead")
    return zw.simulate(entry.system, entry.state, entry.params, until=3.0)


def test_curves_are_drawn_from_dense_output_not_from_long_steps(sleigh):
    ax = sleigh.plot("velocities", ax=new_figure()[1])
    drawn = ax.lines[0].get_xdata()
    assert len(drawn) > 4 * len(sleigh.t)
    at = sleigh.at(float(drawn[5]))
    assert ax.lines[0].get_ydata()[5] == pytest.approx(at["v_x"], abs=1e-12)


def test_events_are_named_in_the_picture(sleigh):
    ax = sleigh.plot(ax=new_figure()[1])
    assert [text.get_text() for text in ax.texts] == ["release blade"]


@pytest.mark.parametrize(
    "what", ["positions", "velocities", "accelerations", "energy", "work", "reactions", "blade", "phi"]
)
def test_every_quantity_has_a_picture(sleigh, what):
    assert sleigh.plot(what, ax=new_figure()[1]).lines


def test_path_in_the_plane(sleigh):
    ax = sleigh.plot("y", against="x", ax=new_figure()[1])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("$x$", "$y$")


def test_unknown_quantity_names_the_nearest(sleigh):
    with pytest.raises(zw.DeclarationError, match=r"has no 'energi'.*energy"):
        sleigh.plot("energi", ax=new_figure()[1])


def test_film_shows_the_drawing_at_states_of_the_motion(sleigh):
    entry = zw.gallery.get("sleigh_ahead")
    film = film_of(sleigh, entry.drawing, frames=7)
    at = sleigh.at(film.times[3])
    assert film.scene.places[3, film.scene.names.index("centre")] == pytest.approx([at["x"], at["y"]], abs=1e-12)
    assert film.marks == [(sleigh.events[0].time, "release blade")]


def test_film_without_a_drawing_runs_the_coordinates(sleigh):
    film = film_of(replace(sleigh, drawing={}), frames=5)
    assert film.scene.names == ("x", "y", "phi")
    assert np.isfinite(film.scene.places).all()


def test_film_shows_the_drawing_of_the_system_unless_another_is_given(sleigh):
    assert film_of(sleigh, frames=5).scene.names == ["centre", "heel", "toe"]
    other = zw.Drawing({"P": ("x", "y")})
    assert film_of(sleigh, other, frames=5).scene.names == ["P"]


def test_a_motion_keeps_its_drawing_in_its_file(sleigh, tmp_path):
    sleigh.save(tmp_path / "motion.npz")
    again = zw.load_result(tmp_path / "motion.npz")
    film, before = film_of(again, frames=5), film_of(sleigh, frames=5)
    assert film.scene.names == before.scene.names
    assert np.array_equal(film.scene.places, before.scene.places)


def test_frames_are_counted_and_told(sleigh, tmp_path):
    from PIL import Image

    told = []
    path = sleigh.animate(tmp_path / "motion.gif", frames=4, progress=told.append)
    with Image.open(path) as picture:
        assert picture.n_frames == 4
    assert told == [0.25, 0.5, 0.75, 1.0]
    with pytest.raises(zw.DeclarationError, match="frames= must be a whole number from 1 on; it was given 0"):
        sleigh.animate(frames=0)
    with pytest.raises(zw.DeclarationError, match="fps= must be a whole number from 1 on; it was given 'a'"):
        sleigh.animate(fps="a")


def test_notebooks_get_html(sleigh):
    shown = sleigh.animate(frames=5)
    assert "<canvas" in shown._repr_html_()
    assert "give animate a path" in repr(shown)


def test_dataset_has_time_coordinates_and_the_parameters(sleigh):
    pytest.importorskip("xarray")
    data = sleigh.to_xarray()
    assert data["phi"].dims == ("time",)
    assert data["phi"].values == pytest.approx(sleigh.q[:, 2])
    assert data.attrs["parameter_c"] == 0.2
    assert data["energy_total"].values == pytest.approx(sleigh.energy["total"])


def test_command_prints_events_and_writes_all_it_is_asked_for(tmp_path: Path):
    paths = [tmp_path / name for name in ("motion.npz", "motion.png", "motion.html")]
    arguments = ["simulate", "sleigh_ahead", "--until", "3", "--out", str(paths[0]), "--plot", str(paths[1])]
    found = CliRunner().invoke(main, [*arguments, "--film", str(paths[2]), "--show", "energy"])
    assert found.exit_code == 0, found.output
    assert "release of 'blade' at t = 1.6362043665" in found.output
    assert all(path.stat().st_size > 0 for path in paths)
    assert zw.load_result(paths[0]).events[0].kind == "release"


def test_command_gives_json_and_stops_at_events():
    arguments = ["simulate", "bouncing_ball", "--until", "1", "--stop-at", "low=y-0.5", "--json"]
    found = CliRunner().invoke(main, arguments)
    assert found.exit_code == 0, found.output
    plain = json.loads(found.stdout)
    # Free fall from the height of the entry: y0 - g t^2/2 = 0.5.
    entry = zw.gallery.get("bouncing_ball")
    expected = np.sqrt(2 * (entry.state["y"] - 0.5) / entry.params["g"])
    assert plain["end"]["t"] == pytest.approx(expected, abs=1e-12)
    assert plain["events"][-1]["name"] == "low"


def test_command_ends_with_one_where_the_motion_stops_early():
    found = CliRunner().invoke(main, ["simulate", "ellipse_pendulum", "--until", "3"])
    assert found.exit_code == 1
    assert "half-branch" in found.output


def test_command_says_what_an_event_looks_like():
    found = CliRunner().invoke(main, ["simulate", "bouncing_ball", "--until", "1", "--event", "y"])
    assert found.exit_code == 2
    assert "--event top=v_y" in found.output
