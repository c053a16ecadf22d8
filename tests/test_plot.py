"""Pictures: what they show is what the results say; every message; nothing is loaded before it is needed."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import zwang as zw
from zwang._numerics.contact.problem import Contact, ContactProblem
from zwang._plot import draw_counts, draw_mechanism, new_figure
from zwang._plot.contact_graph import crossings, gap_over_normal
from zwang._plot.counts import CATEGORIES, categories
from zwang._plot.scene import Scene, outlines_of
from zwang._results import Provenance
from zwang._results.reactions import ReactionsStatus
from zwang._results.reactions_map import ReactionsMap

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")

STATUSES = tuple(status.name for status in ReactionsStatus)


def share_of_ink(figure) -> float:
    """The share of the picture that is not white."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=60)
    buffer.seek(0)
    pixels = matplotlib.image.imread(buffer)[..., :3]
    return float(np.mean(np.any(pixels < 0.99, axis=-1)))


def rod_at(mu: object, spin: float = 0.0, slip: float = -1.0, theta: object = np.pi / 3) -> object:
    """Reactions of the uniform rod whose tip slides with `slip` while it turns with `spin`."""
    rod = zw.gallery.get("painleve_rod")
    s, c = np.sin(theta), np.cos(theta)
    state = {"x": 0.0, "y": s, "theta": theta, "v_x": slip - s * spin, "v_y": c * spin, "v_theta": spin}
    return zw.reactions(rod.system, state, {**rod.params, "mu": mu})


# --- maps ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "count", "words"),
    [
        ("NONE", 0, "no solution"),
        ("UNIQUE", 1, "one solution"),
        ("UNIQUE_MOTION", 1, "one acceleration, several reactions"),
        ("MULTIPLE", 2, "two solutions"),
        ("MULTIPLE", 3, "three or more solutions"),
        ("MULTIPLE", 7, "three or more solutions"),
        ("FOUND", 1, "at least one solution"),
        ("UNDECIDED", 0, "undecided"),
        ("SINGULAR", 1, "singular point"),
        ("INADMISSIBLE", 0, "the state violates a constraint"),
    ],
)
def test_every_status_has_its_words_in_the_legend(status: str, count: int, words: str) -> None:
    place = categories([count], [STATUSES.index(status)], STATUSES)[0]
    assert CATEGORIES[place][0] == words


def test_categories_that_look_alike_differ_in_hatching() -> None:
    looks = [(colour, hatch) for _, colour, hatch in CATEGORIES]
    assert len(set(looks)) == len(looks)


def test_a_map_of_the_rod_names_its_axes_and_shows_none_one_and_two() -> None:
    theta = np.radians(np.linspace(5, 85, 40))
    found = rod_at(np.linspace(0, 3, 30)[:, None], spin=3.3, theta=theta)
    # y = sin(theta) varies along the same axis but is not evenly spaced, so the angle names it
    assert found.axes[0] == ("mu",)
    assert {"y", "theta"} <= set(found.axes[1])
    figure, ax = new_figure()
    assert found.plot(ax=ax) is ax
    assert (ax.get_xlabel(), ax.get_ylabel()) == (r"$\theta$", r"$\mu$")
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words == ["no solution", "one solution", "two solutions"]
    low, high = ax.get_xlim()
    assert low <= theta[0] < theta[-1] <= high
    assert share_of_ink(figure) > 0.5


def test_axes_of_a_map_can_be_chosen_and_turned() -> None:
    found = rod_at(np.linspace(0, 2, 5)[:, None], theta=np.linspace(0.5, 1.0, 7))
    _, ax = new_figure()
    found.plot(x="mu", y="y", ax=ax, legend=False)
    assert (ax.get_xlabel(), ax.get_ylabel()) == (r"$\mu$", "$y$")
    assert ax.get_legend() is None
    counts, _, names = found.along(x="mu")
    assert names[1] == "mu"
    np.testing.assert_array_equal(counts, found.counts.T)


def test_a_map_along_one_axis_is_drawn_as_steps() -> None:
    found = rod_at(np.linspace(1.2, 1.5, 31))
    _, ax = new_figure()
    found.plot(ax=ax)
    assert ax.get_ylabel() == "number of solutions"
    assert [int(tick) for tick in ax.get_yticks()] == [0, 1]


def test_states_that_violate_a_constraint_are_hatched_and_the_picture_shows_it() -> None:
    rod = zw.gallery.get("painleve_rod")
    found = zw.reactions(
        rod.system,
        {**rod.state, "theta": np.linspace(0.2, 1.4, 9)},
        {**rod.params, "mu": np.linspace(0, 1, 6)[:, None]},
    )
    _, ax = new_figure()
    found.plot(ax=ax)
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words[-1] == "the state violates a constraint"
    assert found.shares() == {"UNIQUE": 6 * 6, "INADMISSIBLE": 6 * 3}  # angles above that of the state, pi/3


def map_of(shape: tuple[int, ...], axes: tuple[tuple[str, ...], ...], **values: object) -> ReactionsMap:
    grids = {name: np.asarray(value, dtype=float) for name, value in values.items()}
    zeros = np.zeros(shape, dtype=np.int64)
    return ReactionsMap(
        name="m",
        codes=zeros.astype(np.int8),
        counts=zeros,
        residual=0.0,
        provenance=Provenance("x"),
        axes=axes,
        values=grids,
    )


def test_maps_that_are_no_picture_say_why() -> None:
    with pytest.raises(zw.DeclarationError, match=r"'m' has shape \(2, 2, 2\): a picture needs one or two axes"):
        map_of((2, 2, 2), ((), (), ())).plot()
    with pytest.raises(zw.DeclarationError, match=r"nothing rises or falls along axis 1 alone.*mu\[:, None\]"):
        map_of((2, 3), (("a",), ("b",)), a=[0, 1], b=[0, 1, 0]).plot()
    with pytest.raises(zw.DeclarationError, match=r"has no axis 'aa'\. Did you mean 'a'\?"):
        map_of((2,), (("a",),), a=[0, 1]).plot(x="aa")
    with pytest.raises(zw.DeclarationError, match="'a' and 'b' vary along the same axis"):
        map_of((2, 3), (("a", "b"), ("c",)), a=[0, 1], b=[1, 2], c=[1, 2, 3]).plot(x="a", y="b")
    with pytest.raises(zw.DeclarationError, match="must rise or fall throughout"):
        draw_counts([1, 1, 1], [0, 0, 0], STATUSES, [[0, 2, 1]], ["a"], ax=new_figure()[1])
    with pytest.raises(zw.DeclarationError, match="a picture has one or two axes"):
        draw_counts([1, 1], [0, 0], STATUSES, [], [], ax=new_figure()[1])


def test_an_axis_of_length_one_is_left_out_of_the_picture() -> None:
    _, ax = new_figure()
    map_of((1, 4), ((), ("a",)), a=[0, 1, 2, 3]).plot(ax=ax)
    assert ax.get_xlabel() == "$a$"


def test_a_map_comes_back_from_its_file_with_its_axes(tmp_path: Path) -> None:

    found = rod_at(np.linspace(1.2, 1.5, 4))
    again = zw.load_result(found.save(tmp_path / "map.npz"))
    assert again.axes == (("mu",),)
    np.testing.assert_array_equal(again.values["mu"], found.values["mu"])
    np.testing.assert_array_equal(again.counts, found.counts)


# --- the graph of one contact ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("bilateral", [False, True])
@pytest.mark.parametrize("sliding", [False, True])
def test_the_graph_of_one_contact_meets_its_law_where_the_solutions_are(bilateral: bool, sliding: bool) -> None:
    """Independent of the search: the graph is evaluated point by point, and its zeros are compared."""
    rng = np.random.default_rng(4)
    several = 0
    for _ in range(150):
        root = rng.normal(size=(3, 3))
        slip = float(rng.normal()) if sliding else 0.0
        contact = Contact(
            rng.normal(size=3),
            tangent=rng.normal(size=3),
            friction=float(rng.choice([0.0, 0.7, 3.0])),
            bias=float(rng.normal()),
            tangent_bias=[float(rng.normal())],
            bilateral=bilateral,
            slip=[slip],
        )
        problem = ContactProblem(root @ root.T + 0.1 * np.eye(3), 3 * rng.normal(size=3), [contact])
        found = zw.reactions(problem, certify=False)
        graph = found.graph
        zeros = crossings(graph, -1e4 if bilateral else 0.0, 1e4)
        expected = sorted([*zeros, *([0.0] if not bilateral and graph.gap[0] > 0 else [])])
        assert sorted(float(item.normal[0]) for item in found.solutions) == pytest.approx(expected, rel=1e-7, abs=1e-9)
        for item in found.solutions:
            gap, friction, _ = gap_over_normal(graph, [item.normal[0]])
            assert gap[0] == pytest.approx(item.gap_acceleration[0], abs=1e-7)
            assert friction[0] == pytest.approx(item.tangential[0], abs=1e-7)
        several += len(found.solutions) > 1
    assert several >= (3 if bilateral or not sliding else 1)


def test_the_graph_marks_two_solutions_of_the_rod_with_their_numbers() -> None:
    figure, ax = new_figure()
    rod_at(1.4, spin=4.0).plot(ax=ax)
    words = " ".join(text.get_text() for text in ax.texts)
    # issue numbers: N = 58.9396814800 and gap acceleration 4.0464064606
    assert "slip-: N = 58.94" in words
    assert "open: 4.046 m/s²" in words
    assert share_of_ink(figure) > 0.01


def test_the_graph_says_why_the_paradox_has_no_solution() -> None:
    _, ax = new_figure()
    rod_at(1.4).plot(ax=ax)
    words = [text.get_text() for text in ax.texts]
    assert words == ["pulls: N = −142.9", "penetrates: −9.81 m/s²"]


def test_three_solutions_are_numbered_and_told_in_the_legend() -> None:
    # Delassus numbers found by a seeded search among contacts at rest that push and pull
    result = SimpleNamespace(
        name="foot",
        status=ReactionsStatus.MULTIPLE,
        contacts=("foot",),
        graph=SimpleNamespace(gap=(-0.6, 6.0, -5.6), sliding=(8.8, -5.6, 15.5), friction=2.5, slip=0.0, bilateral=True),
        solutions=[],
    )
    places = crossings(result.graph, -10, 10)
    assert len(places) == 3
    for place in places:
        result.solutions.append(
            SimpleNamespace(normal=[place], gap_acceleration=[0.0], modes=("slip",), dimension=0, vertices=())
        )
    from zwang._plot import draw_contact_graph

    _, ax = new_figure()
    draw_contact_graph(result, ax=ax)
    assert [text.get_text() for text in ax.texts] == ["1", "2", "3"]
    assert sum("slip: N" in text.get_text() for text in ax.get_legend().get_texts()) == 3


# --- axes of somebody's figure ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(5.0, 4.0), (9.0, 4.5)])
def test_titles_and_legends_stay_within_a_figure_that_makes_no_room(size: tuple[float, float]) -> None:
    from matplotlib import pyplot

    entry = zw.gallery.get("four_bar")
    space = zw.trace(entry.system, entry.params)
    figure, panels = pyplot.subplots(1, 2 if size[0] > 6 else 1, figsize=size, squeeze=False)
    for ax, draw in zip(panels.flat, (space.plot, rod_at(1.4).plot), strict=False):
        draw(ax=ax)
    figure.canvas.draw()
    for ax in panels.flat:
        for part in (ax.get_legend(), ax._left_title):
            box = part.get_window_extent()
            assert box.x0 >= 0 and box.x1 <= figure.bbox.x1 and box.y0 >= 0 and box.y1 <= figure.bbox.y1, part
    pyplot.close(figure)


def test_the_title_of_a_space_has_symbols_and_a_name_as_it_was_given() -> None:
    entry = zw.gallery.get("four_bar")
    space = replace(zw.trace(entry.system, entry.params), name="alpha $1")
    _, ax = new_figure((9, 4))
    space.plot(ax=ax)
    assert ax.get_title("left").startswith(r"alpha \$1: configuration space over $\alpha$, $\gamma$; 6")


# --- forces ----------------------------------------------------------------------------------------------------------


def test_forces_that_are_not_unique_are_drawn_as_segments_with_their_ends() -> None:
    ladder = zw.gallery.get("ladder")
    found = zw.reactions(ladder.system, ladder.state, ladder.params)
    figure, ax = new_figure()
    found.plot(ax=ax)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["floor  N", "floor  T", "wall  N", "wall  T"]
    spans = [line.get_xdata() for line in ax.lines if len(line.get_xdata()) == 2 and line.get_linewidth() == 5]
    assert spans[0] == pytest.approx(ladder.facts["floor_force_range"].value)
    assert share_of_ink(figure) > 0.01


def test_forces_of_several_solutions_are_told_apart_in_a_legend() -> None:
    _, ax = new_figure()
    rod_at(1.4, spin=4.0).plot("forces", ax=ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["1: open", "2: slip-"]


def test_unbounded_forces_end_in_an_arrow_at_the_edge() -> None:
    # Two equal contacts without friction that also pull: only the sum of their forces is determined.
    contacts = [Contact([1.0, 0.0], bilateral=True, name=name) for name in ("a", "b")]
    found = zw.reactions(ContactProblem(np.eye(2), [1.0, 0.0], contacts))
    _, ax = new_figure()
    found.plot(ax=ax)
    assert {"<", ">"} <= {line.get_marker() for line in ax.lines}


def test_no_solution_and_no_contact_are_said_in_words() -> None:
    _, ax = new_figure()
    rod_at(1.4).plot("forces", ax=ax)
    assert [text.get_text() for text in ax.texts] == ["no solution"]
    ball = zw.gallery.get("bouncing_ball")
    _, ax = new_figure()
    zw.reactions(ball.system, ball.state, ball.params).plot(ax=ax)
    assert [text.get_text() for text in ax.texts] == ["no contact acts"]


def test_an_unknown_kind_and_a_graph_of_several_contacts_are_refused() -> None:
    with pytest.raises(zw.DeclarationError, match=r"there is no kind 'grph'\. Did you mean 'graph'\?"):
        rod_at(1.2).plot("grph")
    ladder = zw.gallery.get("ladder")
    with pytest.raises(zw.DeclarationError, match="'ladder' has 2 contacts that act, and the graph needs one"):
        zw.reactions(ladder.system, ladder.state, ladder.params).plot("graph")


# --- evaluations -----------------------------------------------------------------------------------------------------


def test_multipliers_are_bars_and_rounding_is_not_shown() -> None:
    entry = zw.gallery.get("andrews")
    found = zw.compile(entry.system, "reference").evaluate(entry.state, entry.params)
    figure, ax = new_figure()
    assert found.plot(ax=ax) is ax
    # published, with the other sign: 98.5668703962, -6.1226883443, the rest 0
    assert [text.get_text() for text in ax.texts] == ["−98.57", "6.123", "0", "0", "0", "0"]
    assert share_of_ink(figure) > 0.01


def test_a_batch_is_drawn_as_curves_over_what_is_given() -> None:
    entry = zw.gallery.get("circle_particle")
    angle = np.linspace(0, 1, 5)
    state = {"x": np.cos(angle), "y": np.sin(angle), "v_x": -np.sin(angle), "v_y": np.cos(angle)}
    found = zw.compile(entry.system, "reference").evaluate(state, entry.params)
    _, ax = new_figure()
    found.plot("accelerations", x=angle, xlabel="angle", ax=ax)
    assert ax.get_xlabel() == "angle"
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), angle)
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), found.accelerations[1])
    with pytest.raises(zw.DeclarationError, match=r"x= has shape \(2,\), and the batch has 5 states"):
        found.plot(x=[0, 1], ax=ax)
    with pytest.raises(zw.DeclarationError, match=r"no quantity 'multiplier'\. Did you mean 'multipliers'\?"):
        found.plot("multiplier")
    with pytest.raises(zw.DeclarationError, match="'circle_particle' has no slips to draw"):
        found.plot("slips")
    wide = zw.compile(entry.system, "reference").evaluate({**state, "y": np.zeros((2, 1)) + state["y"]}, entry.params)
    with pytest.raises(zw.DeclarationError, match=r"one state or a batch with one axis; this batch has shape \(2, 5\)"):
        wide.plot()


# --- mechanisms ------------------------------------------------------------------------------------------------------


def scene_of(*places: tuple[float, float]) -> Scene:
    return Scene("ABCDE"[: len(places)], np.array([places], dtype=float))


def test_a_frame_has_room_around_its_points_even_if_they_lie_on_a_line() -> None:
    low, high = scene_of((0, 0), (4, 0), (4, 1)).corners()
    assert np.all(low < [0, 0]) and np.all(high > [4, 1])
    low, high = scene_of((1, 1)).corners()
    assert np.all(high - low > 0)


def test_a_closed_guide_is_shown_whole_and_a_straight_one_does_not_stretch_the_picture() -> None:
    X, Y = np.meshgrid(np.linspace(-5, 5, 101), np.linspace(-5, 5, 101))
    _, ax = new_figure()
    draw_mechanism(replace(scene_of((0, 0)), outlines=outlines_of([(X, Y, X**2 + Y**2 - 4)])), ax=ax)
    assert ax.get_xlim()[0] < -2 and ax.get_xlim()[1] > 2
    _, ax = new_figure()
    draw_mechanism(replace(scene_of((0, 0), (1, 0)), endless=outlines_of([(X, Y, Y)])), ax=ax)
    assert ax.get_xlim()[1] < 3


def test_points_that_lie_on_each_other_have_no_names() -> None:
    _, ax = new_figure()
    draw_mechanism(replace(scene_of((0, 0), (1, 0), (1, 0)), bars=[(0, 1)]), ax=ax)
    assert not ax.texts


# --- matplotlib ------------------------------------------------------------------------------------------------------


def test_without_axes_a_figure_of_pyplot_is_made() -> None:
    import matplotlib.pyplot as plt

    try:
        ax = rod_at(1.2).plot()
        assert plt.gca() is ax
    finally:
        plt.close("all")


def test_a_picture_changes_no_settings_of_the_user() -> None:
    before = dict(matplotlib.rcParams)
    rod_at(1.2).plot(ax=new_figure()[1])
    assert dict(matplotlib.rcParams) == before


def test_a_missing_matplotlib_is_said_with_its_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    found = rod_at(1.2)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(zw.DeclarationError, match=r"Pictures need matplotlib: pip install 'zwang\[plot\]'"):
        found.plot()
    with pytest.raises(zw.DeclarationError, match=r"pip install 'zwang\[plot\]'"):
        new_figure()


def test_importing_the_drawing_code_does_not_load_matplotlib() -> None:
    code = "import sys, zwang._plot; print('matplotlib' in sys.modules)"
    source = str(Path(zw.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "False"


def test_no_sample_of_a_map_lies_on_the_wrong_side_of_an_edge() -> None:
    from matplotlib.path import Path

    from zwang._plot.regions import outlines

    rng = np.random.default_rng(7)
    column, row = np.meshgrid(np.arange(1, 31), np.arange(1, 26))
    samples = np.stack([column.ravel(), row.ravel()], axis=1)
    for _ in range(12):
        a, b, c, d, e = rng.normal(size=5)
        inside = a * (column - 15) + b * (row - 12) + 0.1 * c * (column - 15) ** 2 + 0.1 * d * (row - 12) ** 2 > 3 * e
        inside[rng.integers(25), rng.integers(30)] ^= True  # a single sample is no noise
        inside[:, rng.integers(30)] = True  # nor is a line
        found = np.zeros(len(samples), dtype=bool)
        for outer, *holes in outlines(inside):
            within = Path(outer).contains_points(samples)
            for hole in holes:
                within &= ~Path(hole).contains_points(samples)
            found |= within
        assert np.array_equal(found.reshape(inside.shape), inside)


def test_edges_of_a_map_are_no_staircase() -> None:
    from zwang._plot.regions import outlines

    column, row = np.meshgrid(np.arange(1, 201), np.arange(1, 201))
    ((ring,),) = outlines(np.hypot(column, row) < 150.3)  # a quarter of a disc
    inner = ring[(ring > 1).all(axis=1)]
    assert np.abs(np.hypot(*inner.T) - 150.3).max() < 0.5
    ways = np.unwrap(np.arctan2(*np.diff(inner, axis=0).T))
    assert np.abs(np.diff(ways)).max() < 0.35  # corners of cells turn by pi/4


def test_a_map_of_noise_is_drawn_as_cells() -> None:
    from matplotlib.collections import QuadMesh

    from zwang._plot.regions import draw_regions

    noise = np.random.default_rng(0).integers(0, 2, size=(40, 40))
    _, ax = new_figure()
    draw_regions(ax, np.arange(40), np.arange(40), noise, ["#ffffff", "#000000"])
    assert any(isinstance(item, QuadMesh) for item in ax.collections) and not ax.patches
