"""Sweeps: every point as the verb answers it alone, in blocks, processes and executors; stores that survive."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sweep_functions
import zwang as zw
from zwang._results.study_columns import from_bytes, to_bytes
from zwang._results.study_store import copy_store
from zwang._sweep.running import left

ROD = zw.gallery.get("painleve_rod")
BALL = zw.gallery.get("bouncing_ball")
MU = np.linspace(0.0, 2.0, 9)
THETA = np.linspace(0.3, 1.4, 5)
KEEP_ALL = {"found": sweep_functions.whole}


def rod(verb: Any = "reactions", **options: Any) -> zw.results.Study:
    return zw.sweep(verb, ROD.system, ROD.state, ROD.params, **options)


def counted(verb: Any, **options: Any) -> zw.results.Study:
    """A sweep of a function of this test's own."""
    return zw.sweep(verb, ROD.system, None, ROD.params, keep=KEEP_ALL, **options)


# What is computed


@pytest.mark.parametrize("keep", [("status",), ("status", "accelerations")])
@pytest.mark.parametrize("workers", [None, 2])
def test_every_point_is_what_the_verb_says_there(keep: tuple[str, ...], workers: int | None) -> None:
    study = rod(over={"mu": MU, "theta": THETA}, project=True, keep=keep, workers=workers)
    assert study.status.name == "COMPLETE"
    assert study.dims == ("mu", "theta")
    for (i, j), point in study.points():
        state = {**ROD.state, "theta": point["theta"]}
        held = zw.hold(ROD.system, state, ROD.params, ["tip"], fixed=["theta"])
        found = zw.reactions(ROD.system, held, {**ROD.params, "mu": point["mu"]})
        assert study["status"][i, j] == found.status.name
        if "accelerations" in keep:
            count = len(found.accelerations)
            assert study["accelerations_count"][i, j] == count
            np.testing.assert_allclose(study["accelerations"][i, j, :count], found.accelerations, rtol=1e-12)
            assert np.isnan(study["accelerations"][i, j, count:]).all()


def test_a_batch_and_single_points_agree_in_status_and_counts() -> None:
    over = {"mu": MU, "theta": THETA}
    batch = rod(over=over, project=True, keep=("status", "counts"))
    single = rod(over=over, project=True, keep=("status", "counts"), block=1)
    assert (batch["status"] == single["status"]).all()
    assert (batch["counts"] == single["counts"]).all()
    assert {"UNIQUE", "NONE"} == set(batch["status"].ravel())


def test_an_ensemble_and_single_motions_have_the_same_ends() -> None:
    governor = zw.gallery.get("ellipse_pendulum_cartesian")
    over = {"g": np.linspace(0.5, 1.5, 4)}

    def swept(block: int | None) -> zw.results.Study:
        return zw.sweep(
            "simulate",
            governor.system,
            governor.state,
            governor.params,
            over=over,
            keep=("status", "end", "q[-1]", "t[-1]"),
            until=0.2,
            block=block,
        )

    batch, single = swept(None), swept(1)
    assert (batch["status"] == single["status"]).all()
    for name in single.values:
        if name != "status":
            np.testing.assert_allclose(batch[name], single[name], atol=1e-8)


def test_values_that_go_together_and_samples_have_one_axis() -> None:
    study = rod(paired={"mu": [0.1, 1.4], "g": [9.0, 9.81]}, over={"v_theta": [0.0, 2.0]}, project=True)
    assert study.dims == ("v_theta", "sample")
    assert study.along == {"v_theta": "v_theta", "mu": "sample", "g": "sample"}
    assert study.point((1, 0)) == {"v_theta": 2.0, "mu": 0.1, "g": 9.0}


@pytest.mark.parametrize("how", ["sobol", "latin", "random"])
def test_samples_follow_their_distributions_and_their_seed(how: str) -> None:
    from scipy import stats

    laws = {"mu": stats.norm(0.3, 0.02), "m": stats.uniform(1, 1)}
    points = zw.sampled(laws, 1000, how=how, seed=3, axis="maker")
    assert points.axis == "maker"
    assert points["mu"].mean() == pytest.approx(0.3, abs=0.003)
    assert points["mu"].std() == pytest.approx(0.02, rel=0.1)
    assert points["m"].min() >= 1.0
    assert points["m"].max() <= 2.0
    assert stats.kstest(points["m"], laws["m"].cdf).pvalue > 1e-4
    again = zw.sampled(laws, 1000, how=how, seed=3)
    other = zw.sampled(laws, 1000, how=how, seed=4)
    assert (points["mu"] == again["mu"]).all()
    assert not (points["mu"] == other["mu"]).all()


def test_every_verb_can_be_swept() -> None:
    bar, pendulum = zw.gallery.get("four_bar"), zw.gallery.get("ellipse_pendulum")
    first = next(iter(bar.params))
    near = [bar.params[first], 1.1 * bar.params[first]]
    traced = zw.sweep("trace", bar.system, None, bar.params, over={first: near}, keep=("status", "components"))
    assert traced["components"].shape == (2,)
    assert not traced.failures
    grown = zw.sweep(
        zw.asymptotics,
        pendulum.system,
        params=pendulum.params,
        over={"g": [1.0, 2.0]},
        keep={"exponents": "rows", "status": "status"},
    )
    assert not grown.failures
    assert grown["exponents_count"].shape == (2,) if "exponents_count" in grown.values else True


def test_lists_of_objects_are_taken_apart() -> None:
    study = zw.sweep(
        "simulate", BALL.system, BALL.state, BALL.params, over={"y": [0.2, 1.0, 30.0]}, until=0.6, keep=("events",)
    )
    motions = [zw.simulate(BALL.system, {**BALL.state, "y": y}, BALL.params, until=0.6) for y in (0.2, 1.0, 30.0)]
    assert study["events_count"].tolist() == [len(motion.events) for motion in motions]
    for row, motion in zip(study["events.time"], motions, strict=True):
        assert row[~np.isnan(row)].tolist() == [event.time for event in motion.events]
    assert set(study["events.kind"].ravel()) == {"", *(event.kind for motion in motions for event in motion.events)}


def test_paths_to_what_is_not_there_give_nan_and_functions_are_kept() -> None:
    keep = {"first": "events[0].time", "high": sweep_functions.last_height, "again": "sweep_functions:last_height"}
    study = zw.sweep(zw.simulate, BALL.system, BALL.state, BALL.params, over={"y": [1.0, 30.0]}, until=0.6, keep=keep)
    assert study["first"][0] == pytest.approx(np.sqrt(2 / BALL.params["g"]), rel=1e-9)
    assert np.isnan(study["first"][1])
    assert (study["high"] == study["again"]).all()


def test_a_function_gets_another_seed_at_each_point() -> None:
    study = counted(sweep_functions.drawn, over={"mu": [0.0, 1.0, 2.0]}, seed=10)
    assert study["found.seed"].tolist() == [10, 11, 12]


# What fails


@pytest.mark.parametrize("workers", [None, 2])
def test_a_failing_point_is_listed_and_the_others_go_on(workers: int | None) -> None:
    study = zw.sweep(
        sweep_functions.doubled,
        ROD.system,
        ROD.state,
        ROD.params,
        over={"mu": [1.0, -1.0, 3.0]},
        keep=KEEP_ALL,
        workers=workers,
    )
    assert study.status.name == "FAILURES"
    assert study["found.twice"][[0, 2]].tolist() == [2.0, 6.0]
    assert np.isnan(study["found.twice"][1])
    (failure,) = study.failures
    assert failure.place == (1,)
    assert failure.point == {"mu": -1.0}
    assert "mu is negative" in failure.message
    assert "failed at mu = -1" in repr(study)


def test_a_state_off_its_constraint_is_a_failure_of_its_point_in_a_batch_too() -> None:
    study = rod(over={"y": [ROD.state["y"], ROD.state["y"] - 1.0]}, keep=("status",))
    assert study["status"][0] == "UNIQUE"
    assert study["status"][1] == "INADMISSIBLE" or study.failures


def test_the_point_that_kills_its_process_is_found_and_the_others_are_computed() -> None:
    study = counted(sweep_functions.deadly, over={"mu": np.arange(12.0)}, workers=2, block=6)
    assert [failure.point["mu"] for failure in study.failures] == [7.0]
    assert "SIGKILL" in study.failures[0].message
    assert np.delete(study["found.mu"], 7).tolist() == [float(k) for k in range(12) if k != 7]


# Executors


@pytest.mark.parametrize("make", [lambda: ThreadPoolExecutor(2), lambda: ProcessPoolExecutor(1)])
def test_any_executor_computes_the_same(make: Any) -> None:
    here = counted(sweep_functions.slow, over={"mu": MU})
    with make() as executor:
        there = counted(sweep_functions.slow, over={"mu": MU}, workers=executor)
    assert (here["found.mu"] == there["found.mu"]).all()


def test_points_that_an_executor_loses_are_failures() -> None:
    with ProcessPoolExecutor(1) as executor:
        study = counted(sweep_functions.deadly, over={"mu": [1.0, 7.0]}, workers=executor)
    assert 7.0 in [failure.point["mu"] for failure in study.failures]
    assert all("executor lost it" in failure.message for failure in study.failures)


def test_an_executor_that_cannot_import_the_package_is_refused_before_anything_is_computed() -> None:
    class Elsewhere:
        def submit(self, function: Any, *arguments: Any) -> Any:
            raise ModuleNotFoundError("No module named 'zwang'")

    with pytest.raises(zw.DeclarationError, match="can't import zwang"):
        rod(over={"mu": MU}, workers=Elsewhere())


def test_a_dask_cluster_computes_the_same() -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        there = rod(over={"mu": MU}, keep=("status", "accelerations"), workers=client.get_executor())
    here = rod(over={"mu": MU}, keep=("status", "accelerations"))
    assert (here["status"] == there["status"]).all()


# Stores


def test_a_store_goes_on_where_it_was_stopped_and_is_read_meanwhile(tmp_path: Path) -> None:
    store = tmp_path / "rod.db"
    options: dict[str, Any] = {"over": {"mu": MU}, "keep": ("status", "accelerations"), "store": store}
    part = rod(**options, budget={"steps": 4})
    assert part.status.name == "INTERRUPTED"
    assert "goes on" in part.reason
    assert int(part.done.sum()) == 4
    read = zw.load_result(store)
    assert isinstance(read, zw.results.Study)
    assert (read.done == part.done).all()
    asked: list[int] = []
    whole = rod(**options, progress=lambda done, total: asked.append(done))
    assert asked[0] == 5
    assert whole.status.name == "COMPLETE"
    alone = rod(over={"mu": MU}, keep=("status", "accelerations"))
    for name in alone.values:
        np.testing.assert_array_equal(whole[name], alone[name])
    copied = zw.load_result(copy_store(store, tmp_path / "copy.db"))
    np.testing.assert_array_equal(copied["accelerations"], whole["accelerations"])  # type: ignore[index]


def test_failures_are_kept_in_a_store_too(tmp_path: Path) -> None:
    options: dict[str, Any] = {"over": {"mu": [1.0, -1.0]}, "keep": KEEP_ALL, "store": tmp_path / "a.db"}
    first = zw.sweep(sweep_functions.doubled, ROD.system, ROD.state, ROD.params, **options)
    second = zw.sweep(sweep_functions.doubled, ROD.system, ROD.state, ROD.params, **options)
    assert first.failures == second.failures
    assert len(second.failures) == 1


KILLED = """
import sys
sys.path.insert(0, {tests!r})
import numpy as np, sweep_functions, zwang as zw
if __name__ == "__main__":
    rod = zw.gallery.get("painleve_rod")
    zw.sweep(sweep_functions.slow, rod.system, None, rod.params, over={{"mu": np.arange(200.0)}},
             keep={{"found": sweep_functions.whole}}, workers=2, store={store!r},
             progress=lambda done, total: print(done, flush=True))
"""


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z" if sys.platform == "linux" else True


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_sweep_that_is_ended_keeps_what_is_done_and_leaves_no_process(how: int, tmp_path: Path) -> None:
    store = tmp_path / "slow.db"
    script = tmp_path / "script.py"
    script.write_text(KILLED.format(tests=str(Path(__file__).parent), store=str(store)))
    child = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None
    told = 0
    for line in child.stdout:
        told = int(line)
        if told >= 30:
            break
    time.sleep(0.7)  # what is finished is on the disk within half a second
    children = (
        [int(item) for item in Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text().split()]
        if sys.platform == "linux"
        else []
    )
    child.send_signal(how)
    _, said = child.communicate(timeout=60)
    if how == signal.SIGINT:
        assert "the same call goes on there" in said
        assert child.returncode == 0
    limit = time.monotonic() + 20
    while any(alive(pid) for pid in children) and time.monotonic() < limit:
        time.sleep(0.05)
    assert not any(alive(pid) for pid in children)
    kept = zw.load_result(store)
    assert isinstance(kept, zw.results.Study)
    assert told <= kept.done.sum() < 200
    assert (kept["found.mu"][kept.done] == np.arange(200.0)[kept.done]).all()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"over": {"mu": MU[:-1]}}, "values along the axes|other lengths"),
        ({"keep": ("status", "residual")}, "other things to keep"),
        ({"project": True}, "another 'project'"),
        ({"exhaustive": True}, "other options"),
    ],
)
def test_a_store_of_another_sweep_is_refused_by_name(change: dict[str, Any], words: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"over": {"mu": MU}, "store": tmp_path / "rod.db"}
    rod(**options)
    with pytest.raises(zw.DeclarationError, match=words):
        rod(**{**options, **change})


def test_a_store_of_another_system_or_state_is_refused(tmp_path: Path) -> None:
    store = tmp_path / "rod.db"
    rod(over={"mu": MU}, store=store)
    with pytest.raises(zw.DeclarationError, match="another state"):
        zw.sweep("reactions", ROD.system, {**ROD.state, "v_theta": 0.5}, ROD.params, over={"mu": MU}, store=store)
    other = zw.gallery.get("painleve_rod_tip")
    with pytest.raises(zw.DeclarationError, match="sweep with another"):
        zw.sweep("reactions", other.system, other.state, other.params, over={"mu": MU}, store=store)


def test_two_sweeps_never_write_one_store(tmp_path: Path) -> None:
    store = tmp_path / "rod.db"
    rod(over={"mu": MU}, store=store)
    holder = sqlite3.connect(store, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(zw.DeclarationError, match="locked"):
        rod(over={"mu": MU}, store=store)
    holder.close()


def test_a_file_that_is_no_store_is_left_alone(tmp_path: Path) -> None:
    store = tmp_path / "notes.txt"
    store.write_text("mine")
    with pytest.raises(zw.DeclarationError, match="no store"):
        rod(over={"mu": MU}, store=store)
    assert store.read_text() == "mine"
    with pytest.raises(zw.DeclarationError, match="there is no folder"):
        rod(over={"mu": MU}, store=tmp_path / "nowhere" / "a.db")


def test_damaged_stores_are_told(tmp_path: Path) -> None:
    store = tmp_path / "rod.db"
    rod(over={"mu": MU}, store=store)
    with sqlite3.connect(store) as db:
        db.execute("UPDATE blocks SET data = ?", (b"[]\nrubbish",))
    db.close()
    with pytest.raises(zw.DeclarationError, match="damaged"):
        zw.load_result(store)
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE numbers (x)")
    db.close()
    with pytest.raises(zw.DeclarationError, match="can't be read as the store"):
        zw.load_result(other)


def test_blocks_as_bytes_come_back() -> None:
    rng = np.random.default_rng(5)
    columns = {
        "x": rng.normal(size=(3, 2)),
        "n": rng.integers(0, 9, size=3),
        "b": rng.random(3) > 0.5,
        "s": np.array(["a", "", "ünï"]),
        "e": np.zeros((3, 0)),
    }
    again = from_bytes(to_bytes(columns))
    for name, values in columns.items():
        assert again[name].tolist() == values.tolist()


def test_what_is_left_covers_every_point_that_is_not_done_once() -> None:
    rng = np.random.default_rng(2)
    for _ in range(50):
        done = rng.random(int(rng.integers(1, 40))) < 0.5
        block = int(rng.integers(1, 7))
        covered = np.zeros(len(done), dtype=int)
        for first, count in left(done, block):
            assert 1 <= count <= block
            covered[first : first + count] += 1
        assert (covered == ~done).all()


# Tables and files


def test_a_study_is_a_dataset_a_table_and_a_file(tmp_path: Path) -> None:
    study = rod(over={"mu": MU, "theta": THETA}, project=True, keep=("status", "accelerations"))
    data = study.dataset
    assert dict(data.sizes)["mu"] == 9
    assert data["status"].dims == ("mu", "theta")
    assert str(data["status"].sel(mu=0.0, theta=THETA[0]).item()) == study["status"][0, 0]
    frame = study.to_pandas()
    assert len(frame) == 45
    assert list(frame.columns[:3]) == ["mu", "theta", "status"]
    lines = study.save(tmp_path / "rod.csv").read_text().splitlines()
    assert len(lines) == 46
    assert lines[0].startswith("mu,theta,status,accelerations[0][0]")
    for name in ("rod.npz", "rod.nc"):
        again = zw.load_result(study.save(tmp_path / name))
        assert repr(again) == repr(study)
        np.testing.assert_array_equal(again["accelerations"], study["accelerations"])  # type: ignore[index]


def test_pictures_of_one_two_and_three_axes() -> None:
    line = rod(over={"mu": MU}, keep=("status", "counts"))
    assert [text.get_text() for text in line.plot().get_yticklabels()] == ["UNIQUE", "NONE"]
    assert line.plot("counts").get_xlabel() == r"$\mu$"
    area = rod(over={"mu": MU, "theta": THETA}, project=True, keep=("status", "counts"))
    ax = area.plot(x="mu", y="theta")
    assert (ax.get_xlabel(), ax.get_ylabel()) == (r"$\mu$", r"$\theta$")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["UNIQUE", "NONE"]
    space = rod(over={"mu": MU, "theta": THETA, "v_theta": [0.0, 1.0]}, project=True)
    assert space.plot().shape == (1, 2)
    with pytest.raises(zw.DeclarationError, match="Did you mean 'status'"):
        line.plot("statu")
    with pytest.raises(zw.DeclarationError, match="doesn't vary 'nu'"):
        line.plot(x="nu")


# Mistakes


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "nothing is varied"),
        ({"over": {"thetta": [1.0]}}, "Did you mean 'theta'"),
        ({"over": {"mu": []}}, "at least one"),
        ({"over": {"mu": [np.nan]}}, "finite"),
        ({"over": {"mu": "abc"}}, "must be numbers"),
        ({"over": [1, 2]}, "must be a mapping"),
        ({"paired": {"mu": [1.0, 2.0], "g": [9.81]}}, "one length; it has mu 2, g 1"),
        ({"over": {"mu": [1.0]}, "paired": {"mu": [1.0]}}, "varied twice"),
        ({"over": {"mu": [1.0]}, "keep": ("stats",)}, "Did you mean 'status'"),
        ({"over": {"mu": [1.0]}, "keep": ()}, "keep= is empty"),
        ({"over": {"mu": [1.0]}, "keep": ("t[-1",)}, "no path of attributes"),
        ({"over": {"mu": [1.0]}, "keep": {"a": "nowhere:f"}}, "can't be imported"),
        ({"over": {"mu": [1.0]}, "workers": 0}, "at least 1"),
        ({"over": {"mu": [1.0]}, "workers": "two"}, "or an executor"),
        ({"over": {"mu": [1.0]}, "workers": 2, "keep": {"a": lambda found: 1.0}}, "can't be sent"),
        ({"over": {"mu": [1.0]}, "block": 0}, "at least 1"),
        ({"over": {"mu": [1.0]}, "seed": -1}, "not negative"),
        ({"over": {"mu": [1.0]}, "project": "yes"}, "True or False"),
        ({"over": {"mu": [1.0]}, "budget": {"hours": 1}}, "seconds, steps and memory"),
        ({"over": {"mu": [1.0]}, "progress": 3}, "or a function"),
    ],
)
def test_mistakes_are_told_before_anything_is_computed(options: dict[str, Any], words: str) -> None:
    with pytest.raises(zw.DeclarationError, match=words):
        rod(**options)


def test_a_verb_that_is_none_is_told() -> None:
    with pytest.raises(zw.DeclarationError, match="Did you mean 'reactions'"):
        rod("reaction", over={"mu": MU})
    with pytest.raises(zw.DeclarationError, match="lambda"):
        rod(lambda system: None, over={"mu": MU})
    with pytest.raises(zw.DeclarationError, match="takes no state"):
        rod("trace", over={"mu": MU})
    with pytest.raises(zw.DeclarationError, match="can't be varied"):
        zw.sweep("trace", ROD.system, None, ROD.params, over={"theta": THETA})
    with pytest.raises(zw.DeclarationError, match="must be one number"):
        zw.sweep("reactions", ROD.system, {**ROD.state, "theta": THETA}, ROD.params, over={"mu": MU})
    with pytest.raises(zw.DeclarationError, match="needs a System"):
        zw.sweep("reactions", "rod", over={"mu": MU})  # type: ignore[arg-type]
    with pytest.raises(zw.DeclarationError, match="needs a distribution"):
        zw.sampled({"mu": 0.3}, 8)
    with pytest.raises(zw.DeclarationError, match="'sobol', 'latin' or 'random'"):
        zw.sampled({"mu": MU}, 8, how="grid")


# The command


def command(*arguments: str) -> Any:
    from click.testing import CliRunner

    from zwang.cli import main

    return CliRunner().invoke(main, ["sweep", *arguments])


def test_a_study_file_and_options_ask_the_same(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text(
        """
verb = "reactions"
model = "painleve_rod"
keep = ["status", "counts"]
project = true
seed = 3

[over]
mu = "0:2:9"
theta = [0.4, 0.9, 1.2]
"""
    )
    told = command(str(file), "--out", str(tmp_path / "a.npz"))
    assert told.exit_code == 0, told.output
    over = ("--over", "mu=0:2:9", "--keep", "status", "--keep", "counts", "--project")
    asked = command("reactions", "painleve_rod", *over, "--store", str(tmp_path / "a.db"))
    assert asked.exit_code == 0, asked.output
    filed, optioned = zw.load_result(tmp_path / "a.npz"), zw.load_result(tmp_path / "a.db")
    assert isinstance(filed, zw.results.Study)
    assert isinstance(optioned, zw.results.Study)
    assert filed.shape == (9, 3)
    assert optioned.shape == (9,)
    refused = command("reactions", "painleve_rod", *over, "--store", str(tmp_path / "a.db"))
    assert refused.exit_code == 2
    assert "--resume" in refused.output
    again = command("reactions", "painleve_rod", *over, "--store", str(tmp_path / "a.db"), "--resume", "--json")
    assert again.exit_code == 0
    assert '"left": 0' in again.output
    state = command(str(tmp_path / "a.db"), "--status")
    assert "9 mu, COMPLETE" in state.output


def test_samples_in_a_study_file(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    head = 'verb = "reactions"\nmodel = "painleve_rod"\n'
    file.write_text(head + '[sampled]\ncount = 16\nmu = ["normal", 0.3, 0.02]\nm = ["uniform", 1, 2]\n')
    told = command(str(file))
    assert told.exit_code == 0, told.output
    assert "16 sample" in told.output
    file.write_text(head + '[sampled]\ncount = 16\nmu = ["gauss", 0.3]\n')
    wrong = command(str(file))
    assert wrong.exit_code == 2
    assert "mean, deviation" in wrong.output


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('verb = "reactions"', "needs model"),
        ('verb = "reactions"\nmodel = "painleve_rod"\nkep = 1', "Did you mean 'keep'"),
        ("verb = ", "can't be read"),
    ],
)
def test_study_files_with_mistakes(text: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text(text)
    found = command(str(file))
    assert found.exit_code == 2
    assert words in found.output


def test_points_that_fail_end_the_command_with_one() -> None:
    found = command("sweep_functions:doubled", "painleve_rod", "--over", "mu=-1:1:3", "--keep", "twice")
    assert found.exit_code == 1
    assert "mu is negative" in found.output
