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


# --- pictures as pictures --------------------------------------------------------------------------------------------


def touching(texts):
    boxes = [text.get_window_extent() for text in texts]
    return [(a, b) for k, a in enumerate(boxes) for b in boxes[:k] if a.overlaps(b)]


@pytest.mark.parametrize("seed", range(6))
def test_names_of_events_never_overprint_and_none_is_lost(seed):
    from zwang._plot.motion import draw_series

    rng = np.random.default_rng(seed)
    times = np.sort(rng.uniform(0, 1, rng.integers(1, 12))) ** rng.integers(1, 6)  # crowded towards the start
    events = [(float(time), f"impact floor {k}") for k, time in enumerate(np.append(times, times[-1]))]
    figure, ax = new_figure()
    draw_series(np.linspace(0, 1, 9), {"x": np.zeros(9)}, events=events, heading="a title", ax=ax)
    figure.canvas.draw()
    assert not touching([*ax.texts, ax._left_title])
    told = " ".join(text.get_text() for text in ax.texts)
    assert all(text in told for _, text in events) or "events" in told


def test_simultaneous_events_share_a_name():
    from zwang._plot.motion import draw_series

    _, ax = new_figure()
    events = [(0.5, "stick a"), (0.5, "stick b"), (0.5, "stick b")]
    draw_series(np.linspace(0, 1, 9), {"x": np.zeros(9)}, events=events, ax=ax)
    assert [text.get_text() for text in ax.texts] == ["stick a, 2 × stick b"]


def test_many_events_are_ticks_that_the_legend_counts():
    from zwang._plot.motion import draw_series

    _, ax = new_figure()
    events = [(k / 40, "slip belt" if k % 2 else "stick belt") for k in range(40)]
    draw_series(np.linspace(0, 1, 9), {"x": np.zeros(9)}, events=events, ax=ax)
    assert not ax.texts
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["$x$", "20 × stick belt", "20 × slip belt"]


def test_event_lines_have_a_colour_that_no_series_has(sleigh):
    from zwang._plot.style import EVENT, SERIES

    ax = sleigh.plot("velocities", ax=new_figure()[1])
    lines = [line for line in ax.lines if line.get_color() == EVENT]
    assert [line.get_xdata()[0] for line in lines] == [sleigh.events[0].time]
    assert EVENT not in SERIES


@pytest.mark.parametrize("what", ["positions", "velocities", "energy", "work", "reactions"])
def test_legends_cover_no_curve(sleigh, what):
    figure, ax = new_figure()
    sleigh.plot(what, ax=ax)
    figure.canvas.draw()
    legend = ax.get_legend()
    if legend is None:
        assert len(ax.lines) - len(sleigh.events) == 1  # its name is at the axis
        return
    box = legend.get_window_extent()
    for side in figure.axes:
        for line in side.lines:
            if len(line.get_xdata()) > 2:
                places = side.transData.transform(np.column_stack(line.get_data()))
                inside = (places[:, 0] > box.x0) & (places[:, 0] < box.x1) & (places[:, 1] > box.y0)
                assert not (inside & (places[:, 1] < box.y1)).any()


def test_reactions_energies_and_phase_portraits_are_drawn_from_dense_output():
    entry = zw.gallery.get("slider_crank")
    motion = zw.simulate(entry.system, entry.state, entry.params, until=2.0, tol=1e-6)
    ax = motion.plot("slider", ax=new_figure()[1])
    t, shown = ax.lines[0].get_data()
    assert len(t) > 5 * len(motion.t)
    k = len(t) // 3 + 1
    exact = zw.compile(entry.system).multipliers(motion.at(float(t[k])), entry.params)["slider"]
    # Rows inside steps come from the equations at states of the dense output, so they are as good as those.
    assert shown[k] == pytest.approx(float(exact), rel=1e-6)
    phase = motion.plot("v_alpha", against="alpha", ax=new_figure()[1])
    assert len(phase.lines[0].get_xdata()) == len(t)
    total = motion.plot("energy", ax=new_figure()[1]).lines[2].get_ydata()
    assert total == pytest.approx(total[0], abs=1e-4)


def test_works_of_refined_rows_are_those_of_the_motion():
    from zwang._results.motion_pictures import refined

    entry = zw.gallery.get("belt_block")
    motion = zw.simulate(entry.system, entry.state, entry.params, until=2.0)
    fine = refined(motion)
    for name, rows in motion.work.items():
        assert np.interp(motion.t[-1], fine.t, fine.work[name]) == pytest.approx(rows[-1], abs=1e-9)
    inside = motion.at(fine.t[7])
    assert fine.q[7] == pytest.approx([inside[name] for name in motion.coordinates], abs=1e-14)
    assert fine.a[7] == pytest.approx(
        zw.reactions(entry.system, inside, entry.params).solutions[0].acceleration, abs=1e-5
    )


def test_undetermined_reactions_are_bands_and_impacts_arrows():
    ladder = zw.gallery.get("ladder")
    rest = zw.simulate(ladder.system, ladder.state, ladder.params, until=0.5)
    ax = rest.plot("reactions", ax=new_figure()[1])
    low, high = rest.reaction_range["floor"][0]
    corners = ax.collections[0].get_paths()[0].vertices
    assert (corners[:, 1].min(), corners[:, 1].max()) == pytest.approx((low, high))
    assert "floor: undetermined" in [text.get_text() for text in ax.get_legend().get_texts()]
    ball = zw.gallery.get("bouncing_ball")
    falls = zw.simulate(ball.system, ball.state, ball.params, until=2.0)
    figure, ax = new_figure()
    falls.plot("reactions", ax=ax)
    right = next(other for other in figure.axes if other is not ax)
    arrows = [text.xy for text in right.texts]
    impulses = [(event.time, event.details["impulses"]["floor"]) for event in falls.events if event.kind == "impact"]
    assert np.array(arrows) == pytest.approx(np.array(impulses))
    assert right.get_ylabel() == "impulse [N s]"
    zeros = [side.transData.transform((0.0, 0.0))[1] for side in (ax, right)]
    assert zeros[0] == pytest.approx(zeros[1])


def with_units(name="cart"):
    (x, th), _ = zw.coordinates("x theta_A", angles="theta_A")
    return zw.System(
        name=name,
        kinetic="m*v_x**2/2 + J*v_theta_A**2/2",
        potential="m*g*x",
        coordinates=(x, th),
        constraints=[zw.Unilateral(x, name="floor", restitution=0.5)],
        units={"x": "m", "m": "kg", "g": "m/s**2", "J": "kg*m**2"},
    )


def test_axes_have_symbols_and_units_two_units_two_axes(tmp_path):
    state = {"x": 1.0, "theta_A": 0.0, "v_x": 0.0, "v_theta_A": 1.0}
    motion = zw.simulate(with_units(), state, {"m": 1, "J": 1, "g": 9.81}, until=0.3)
    figure, ax = new_figure()
    motion.plot(ax=ax)
    assert ax.get_ylabel() == "$x$ [m]"
    assert [other.get_ylabel() for other in figure.axes[1:]] == [r"$\theta_{A}$ [rad]"]
    assert motion.plot("v_x", ax=new_figure()[1]).get_ylabel() == r"$\dot{x}$ [m/s]"
    assert motion.plot("floor", ax=new_figure()[1]).get_ylabel() == "floor [N]"
    phase = motion.plot("v_x", against="x", ax=new_figure()[1])
    assert (phase.get_xlabel(), phase.get_ylabel()) == ("$x$ [m]", r"$\dot{x}$ [m/s]")
    motion.save(tmp_path / "m.npz")
    assert zw.load_result(tmp_path / "m.npz").plot("v_x", ax=new_figure()[1]).get_ylabel() == r"$\dot{x}$ [m/s]"
    space = zw.trace(zw.gallery.get("four_bar").system, zw.gallery.get("four_bar").params)
    assert space.plot(ax=new_figure()[1]).get_xlabel() == r"$\alpha$ [rad]"


def test_titles_say_what_is_shown_can_be_left_out_and_replaced(sleigh):
    assert sleigh.plot("energy", ax=new_figure()[1]).get_title(loc="left") == "sleigh_ahead: energy"
    assert sleigh.plot("energy", title=False, ax=new_figure()[1]).get_title(loc="left") == ""
    assert sleigh.plot("energy", title="mine", ax=new_figure()[1]).get_title(loc="left") == "mine"
    with pytest.raises(zw.DeclarationError, match="title= must be True, False or a text; it was given 3"):
        sleigh.plot(title=3)


def test_ensembles_have_a_picture():
    ball = zw.gallery.get("bouncing_ball")
    few = zw.simulate(ball.system, {**ball.state, "y": np.linspace(0.5, 1, 3)}, ball.params, until=0.5)
    ax = few.plot(ax=new_figure()[1])
    assert len(ax.lines) == 3
    assert ax.lines[1].get_ydata()[100] == pytest.approx(few[1].at(float(ax.lines[1].get_xdata()[100]))["y"])
    many = zw.simulate(ball.system, {**ball.state, "y": np.linspace(0.5, 1, 41)}, ball.params, until=0.1)
    ax = many.plot("v_y", ax=new_figure()[1])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["nine tenths", "half of the motions", "median"]
    with pytest.raises(zw.DeclarationError, match=r"an ensemble has no 'v_z'.*v_y"):
        many.plot("v_z")


def test_arcs_that_run_over_each_other_are_all_seen():
    entry = zw.gallery.get("ellipse_pendulum_cartesian")
    space = zw.trace(entry.system, entry.params)
    ax = space.plot(ax=new_figure()[1])
    widths = [line.get_linewidth() for line in ax.lines if len(line.get_xdata()) > 2]
    assert widths[0] > widths[1] + 2
    assert {"arc 0", "arc 1"} <= {text.get_text() for text in ax.get_legend().get_texts()}
    assert space.plot(each=True).shape == (1, 2)
    with pytest.raises(zw.DeclarationError, match="each=True makes a figure of its own; leave ax= out"):
        space.plot(each=True, ax=ax)


@pytest.mark.parametrize("ending", ["svg", "pdf"])
def test_text_stays_text_in_files(sleigh, tmp_path, ending):
    import matplotlib.pyplot as plt

    ax = sleigh.plot("energy")
    ax.figure.savefig(tmp_path / f"energy.{ending}")
    plt.close(ax.figure)
    data = (tmp_path / f"energy.{ending}").read_bytes()
    assert b"sleigh_ahead" in data if ending == "svg" else b"/TrueType" in data or b"/CIDFontType2" in data


def test_few_pictures_have_smooth_paths_behind_them_and_pages_as_many_as_asked(sleigh, tmp_path, monkeypatch):
    import json as plain
    import re

    from zwang._plot.film import formats

    seen = []
    monkeypatch.setattr(formats, "write_film", lambda film, path, **options: seen.append((len(film.times), options)))
    sleigh.animate(tmp_path / "a.gif", frames=4)
    assert seen[0][0] == 720
    assert seen[0][1]["pictures"] == 4
    html = sleigh.animate(frames=1100)._repr_html_()
    data = plain.loads(re.search(r'application/json">(.*?)</script>', html, re.DOTALL)[1])
    assert len(data["times"]) == -(-1100 * 4 // 3) * 4
