"""Sweeps: every point as the verb answers it alone, in blocks, processes and executors; stores that survive."""

from __future__ import annotations

import multiprocessing
import shutil
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sweep_functions
import zwang as zw

ROD = zw.gallery.get("painleve_rod")
BALL = zw.gallery.get("bouncing_ball")
# A fork of a process that has loaded JAX is warned of, and a warning is an error.
SPAWNED = multiprocessing.get_context("spawn")
MU = np.linspace(0.0, 2.0, 9)
THETA = np.linspace(0.3, 1.4, 5)
KEEP_ALL = {"found": sweep_functions.whole}


def rod(verb: Any = "reactions", **options: Any) -> zw.results.Study:
    return zw.sweep(verb, ROD.system, ROD.state, ROD.params, **options)


def counted(verb: Any, **options: Any) -> zw.results.Study:
    """A sweep of a function of this test's own."""
    return zw.sweep(verb, ROD.system, None, ROD.params, keep=KEEP_ALL, **options)


# What is computed


@pytest.mark.parametrize(
    ("workers", "keep"),
    [
        (None, ("status",)),
        (None, ("status", "accelerations")),
        (2, ("status",)),
        pytest.param(2, ("status", "accelerations"), marks=pytest.mark.nightly),
    ],
)
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
    whole = zw.asymptotics(pendulum.system, {**pendulum.params, "g": 2.0})
    assert grown["exponents.coefficient"][1].tolist() == [row.coefficient for row in whole.rows]
    assert grown.residual < 1e-20


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
    assert np.isnan(study.residual)
    assert "residual not asked for" in repr(study)


def test_complex_numbers_are_kept_whole_and_indices_of_arrays_as_in_numpy(tmp_path: Path) -> None:
    # x'' = -k x: the eigenvalues are +-i sqrt(k).
    (x,), (v,) = zw.coordinates("x")
    k = zw.parameters("k")
    spring = zw.System(name="spring", kinetic=v**2 / 2, potential=k * x**2 / 2)
    rest = {"x": 0.0, "v_x": 0.0}
    keep = {"all": "eigenvalues", "A": "A[1, 0]", "same": "A[1][0]"}
    store = tmp_path / "spring.db"
    study = zw.sweep("linearize", spring, None, {}, over={k: [1.0, 4.0]}, at=rest, keep=keep, store=store)
    assert study["A"].tolist() == study["same"].tolist() == [-1.0, -4.0]
    np.testing.assert_allclose(np.sort(study["all"].imag), [[-1, 1], [-2, 2]], rtol=1e-12)
    for path in (store, study.save(tmp_path / "spring.npz"), study.save(tmp_path / "spring.nc")):
        np.testing.assert_array_equal(zw.load_result(path)["all"], study["all"])  # type: ignore[index]
    one = zw.sweep("linearize", spring, None, {}, over={k: [1.0, 4.0]}, at=rest, keep={"one": "eigenvalues[0]"})
    with pytest.raises(zw.DeclarationError, match="complex numbers"):
        one.plot()


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
    assert study["status"][1] == "INADMISSIBLE"


@pytest.mark.nightly
def test_the_point_that_kills_its_process_is_found_and_the_others_are_computed() -> None:
    study = counted(sweep_functions.deadly, over={"mu": np.arange(12.0)}, workers=2, block=6)
    assert [failure.point["mu"] for failure in study.failures] == [7.0]
    assert "SIGKILL" in study.failures[0].message
    assert np.delete(study["found.mu"], 7).tolist() == [float(k) for k in range(12) if k != 7]


# Executors


@pytest.mark.parametrize("make", [lambda: ThreadPoolExecutor(2), lambda: ProcessPoolExecutor(1, mp_context=SPAWNED)])
def test_any_executor_computes_the_same(make: Any) -> None:
    here = counted(sweep_functions.slow, over={"mu": MU})
    with make() as executor:
        there = counted(sweep_functions.slow, over={"mu": MU}, workers=executor)
    assert (here["found.mu"] == there["found.mu"]).all()


def test_points_that_an_executor_loses_are_failures() -> None:
    with ProcessPoolExecutor(1, mp_context=SPAWNED) as executor:
        study = counted(sweep_functions.deadly, over={"mu": [1.0, 7.0]}, workers=executor)
    assert 7.0 in [failure.point["mu"] for failure in study.failures]
    assert all("executor lost it" in failure.message for failure in study.failures)


def test_an_executor_that_cannot_import_the_package_is_refused_before_anything_is_computed() -> None:
    class Elsewhere:
        def submit(self, function: Any, *arguments: Any) -> Any:
            raise ModuleNotFoundError("No module named 'zwang'")

    with pytest.raises(zw.DeclarationError, match="can't import zwang"):
        rod(over={"mu": MU}, workers=Elsewhere())


@pytest.mark.nightly
def test_a_dask_cluster_computes_the_same() -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        there = rod(over={"mu": MU}, keep=("status", "accelerations"), workers=client.get_executor())
    here = rod(over={"mu": MU}, keep=("status", "accelerations"))
    assert (here["status"] == there["status"]).all()


BY_MPI = """
import numpy as np, zwang as zw
from mpi4py.futures import MPIPoolExecutor
if __name__ == "__main__":
    rod = zw.gallery.get("painleve_rod")
    with MPIPoolExecutor() as executor:
        study = zw.sweep("reactions", rod.system, rod.state, rod.params, over={"mu": np.linspace(0, 2, 9)},
                         keep=("status", "accelerations"), workers=executor)
    print(*study.values["status"], study.status.name)
"""


def test_mpi_computes_the_same(tmp_path: Path) -> None:
    pytest.importorskip("mpi4py")
    mpiexec = shutil.which("mpiexec")
    if mpiexec is None:
        pytest.skip("no mpiexec")
    script = tmp_path / "by_mpi.py"
    script.write_text(BY_MPI)
    asked = [mpiexec, "-n", "3", sys.executable, "-m", "mpi4py.futures", str(script)]
    found = subprocess.run(asked, capture_output=True, text=True, timeout=300, check=False)
    assert found.returncode == 0, found.stderr
    assert found.stdout.split() == [*rod(over={"mu": MU})["status"], "COMPLETE"]


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
        ({"over": {"mu": [1.0]}, "keep": ("status.__class__",)}, "no path of attributes"),
        ({"over": {"mu": [1.0]}, "keep": {"a": "nowhere:f"}}, "can't be imported"),
        ({"over": {"mu": [1.0]}, "workers": 0}, "at least 1"),
        ({"over": {"mu": [1.0]}, "workers": "two"}, "or an executor"),
        ({"over": {"mu": [1.0]}, "workers": 2, "keep": {"a": lambda found: 1.0}}, "can't be sent"),
        ({"over": {"mu": [1.0]}, "block": 0}, "at least 1"),
        ({"over": {"mu": [1.0]}, "seed": -1}, "at least 0"),
        ({"over": {"mu": [1.0]}, "project": "yes"}, "True or False"),
        ({"over": {"mu": [1.0]}, "budget": {"hours": 1}}, "seconds, steps and memory"),
        ({"over": {"mu": [1.0]}, "progress": 3}, "must be a function"),
        ({"over": {"mu": [1.0]}, "certfy": True}, "has no option 'certfy'. Did you mean 'certify'"),
        ({"over": {"mu": [1.0]}, "workers": 10**400}, "at most 10000"),
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


def test_a_verb_that_needs_more_says_so_before_anything_is_computed() -> None:
    with pytest.raises(zw.DeclarationError, match="simulate needs until="):
        zw.sweep("simulate", ROD.system, ROD.state, ROD.params, over={"mu": [0.5]})


def test_a_plain_script_needs_no_guard_for_workers(tmp_path: Path) -> None:
    """Processes that start must not run the script again, which would sweep again, and delete what it deletes."""
    script = tmp_path / "plain.py"
    script.write_text(
        "import zwang as zw\n"
        "print('once')\n"
        "rod = zw.gallery.get('painleve_rod')\n"
        "study = zw.sweep('reactions', rod.system, rod.state, rod.params, over={'mu': [0, 0.5]}, workers=2, block=1)\n"
        "print(study.status.name)\n",
        encoding="utf-8",
    )
    found = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=300, check=True)
    assert found.stdout.split() == ["once", "COMPLETE"], found.stderr
