"""Models as FMUs: valid, equal to `simulate` in both kinds of use, and refused by name where they are not smooth."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import zipfile
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
import sympy as sp
from click.testing import CliRunner
from scipy.integrate import solve_ivp

import zwang as zw
from c_backend import COMPILER, FLAGS, pointer
from night import by_day
from zwang.cli import main

try:
    import fmpy
    from fmpy.validation import validate_fmu
except ImportError:
    fmpy = None
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler 'cc'")
needs_importer = pytest.mark.skipif(COMPILER is None or fmpy is None, reason="no C compiler 'cc', or no fmpy")
KINDS = ("ModelExchange", "CoSimulation")
HOSTILE = ["*/ int pwned; /*", '"><Float64 name="x', "\\", "a&b", "time", "\u00e9\u00e0", "der(x)"]


def problems(path: Path) -> list[str]:
    """Return what a validator finds; without one the description must be XML with names that differ."""
    if fmpy is not None:
        return list(validate_fmu(str(path)))
    names = [item.get("name") for item in described(path).findall(".//Float64")]
    return [name for name in names if names.count(name) > 1]


def described(path: Path) -> ET.Element:
    with zipfile.ZipFile(path) as archive:
        return ET.fromstring(archive.read("modelDescription.xml"))


def pendulum(**more) -> zw.System:
    """A pendulum in Cartesian coordinates, pushed by an input."""
    (x, y), (vx, vy) = zw.coordinates("x y")
    m, g, length = zw.parameters("m g length")
    u = zw.inputs("u")
    return zw.System(
        name="driven pendulum",
        kinetic=m * (vx**2 + vy**2) / 2,
        potential=m * g * y,
        forces={x: u},
        constraints=[zw.Bilateral(x**2 + y**2 - length**2, name="rod")],
        **more,
    )


HANGING = {"x": 0.6, "y": -0.8, "v_x": 0.0, "v_y": 0.0}
NUMBERS = {"m": 2.0, "g": 9.81, "length": 1.0}
NAMES = ("x", "y", "v_x", "v_y")


def moved(path: Path, kind: str, until: float, **options):
    return fmpy.simulate_fmu(str(path), fmi_type=kind, stop_time=until, **{"output_interval": 0.05, **options})


class Loaded:
    """An FMU's binary, called as an importer does."""

    def __init__(self, path: Path, folder: Path) -> None:
        with zipfile.ZipFile(path) as archive:
            (name,) = [name for name in archive.namelist() if name.startswith("binaries/")]
            self.library = ctypes.CDLL(archive.extract(name, folder))
        root = described(path)
        self.token = root.get("instantiationToken").encode()
        self.at = {item.get("name"): int(item.get("valueReference")) for item in root.findall(".//Float64")}
        self.instance = None

    def instantiate(self, kind: str, token: bytes | None = None) -> bool:
        function = getattr(self.library, f"fmi3Instantiate{kind}")
        function.restype = ctypes.c_void_p
        null = ctypes.c_void_p(None)
        more = [False, False, null, ctypes.c_size_t(0)] if kind == "CoSimulation" else []
        last = [null] if kind == "CoSimulation" else []
        self.instance = function(b"one", token or self.token, None, False, False, *more, null, null, *last)
        return bool(self.instance)

    def call(self, name: str, *arguments) -> int:
        return getattr(self.library, f"fmi3{name}")(ctypes.c_void_p(self.instance), *arguments)

    def initialize(self) -> None:
        d = ctypes.c_double
        assert self.call("EnterInitializationMode", False, d(0), d(0.0), False, d(0)) == 0
        assert self.call("ExitInitializationMode") == 0

    def floats(self, action: str, names, values=None) -> tuple[int, np.ndarray]:
        references = (ctypes.c_uint32 * len(names))(*(self.at[name] for name in names))
        room = np.zeros(len(names)) if values is None else np.array(values, dtype=float)
        size = ctypes.c_size_t(len(names))
        return self.call(f"{action}Float64", references, size, pointer(room), size), room

    def step(self, start: float, size: float) -> tuple[int, bool, float]:
        flags, reached, d = [ctypes.c_bool() for _ in range(3)], ctypes.c_double(), ctypes.c_double
        status = self.call("DoStep", d(start), d(size), True, *map(ctypes.byref, flags), ctypes.byref(reached))
        return status, flags[1].value, reached.value


@needs_compiler
def test_the_binary_by_itself_in_co_simulation(tmp_path: Path) -> None:
    model = zw.compile(pendulum())
    fmu = Loaded(model.to_fmu(tmp_path / "x.fmu", state=HANGING, params=NUMBERS), tmp_path)
    assert not fmu.instantiate("CoSimulation", b"of another model")
    assert fmu.instantiate("CoSimulation")
    fmu.initialize()
    for times, push in (((0.0, 0.3), 5.0), ((0.3, 1.0), -3.0)):
        assert fmu.floats("Set", ["u"], [push])[0] == 0
        assert fmu.step(times[0], times[1] - times[0]) == (0, False, times[1])
    steps = zw.Table([0.0, 0.3, 1.0], [5.0, -3.0, -3.0], kind="previous")
    motion = zw.simulate(model, HANGING, NUMBERS, until=1.0, inputs={"u": steps})
    status, found = fmu.floats("Get", [*NAMES, "der(v_x)", "multiplier of rod"])
    last = dict(zip(NAMES, found, strict=False))
    exact = model.evaluate(last, NUMBERS, inputs={"u": -3.0})
    assert status == 0 and model.check(last, NUMBERS, inputs={"u": -3.0}) < 1e-13
    np.testing.assert_allclose(found[:4], [*motion.q[-1], *motion.v[-1]], rtol=0, atol=1e-7)
    np.testing.assert_allclose(found[4:], [exact.accelerations[0], exact.multipliers["rod"]], rtol=1e-12)
    assert fmu.floats("Set", ["m"], [3.0])[0] == 3 and fmu.floats("Set", ["u"], [np.nan])[0] == 3
    assert fmu.step(0.2, 0.1)[0] == 3  # it is elsewhere
    assert fmu.call("Reset") == 0 and fmu.floats("Get", ["x"])[1][0] == 0.6
    assert fmu.call("Terminate") == 0
    fmu.library.fmi3FreeInstance(ctypes.c_void_p(fmu.instance))


@needs_compiler
def test_the_binary_by_itself_in_model_exchange(tmp_path: Path) -> None:
    model = zw.compile(pendulum())
    fmu = Loaded(model.to_fmu(tmp_path / "x.fmu", state=HANGING, params=NUMBERS), tmp_path)
    assert fmu.instantiate("ModelExchange")
    fmu.initialize()
    assert fmu.call("EnterContinuousTimeMode") == 0
    n, drift, end = ctypes.c_size_t(4), ctypes.c_bool(), ctypes.c_bool()

    def slope(t: float, y: np.ndarray) -> np.ndarray:
        out, y = np.zeros(4), np.ascontiguousarray(y)
        assert fmu.floats("Set", ["u"], [3 * np.sin(4 * t)])[0] == 0
        assert fmu.call("SetTime", ctypes.c_double(t)) == 0 and fmu.call("SetContinuousStates", pointer(y), n) == 0
        assert fmu.call("GetContinuousStateDerivatives", pointer(out), n) == 0
        return out

    found = solve_ivp(slope, (0, 1), list(HANGING.values()), rtol=1e-11, atol=1e-12).y[:, -1]
    motion = zw.simulate(model, HANGING, NUMBERS, until=1.0, inputs={"u": 3 * sp.sin(4 * zw.t)})
    np.testing.assert_allclose(found, [*motion.q[-1], *motion.v[-1]], rtol=0, atol=1e-7)
    slope(1.0, found + 1e-4 * np.eye(4)[0])  # drifted: an event carries it back
    assert fmu.call("CompletedIntegratorStep", True, ctypes.byref(drift), ctypes.byref(end)) == 0
    assert drift.value and not end.value and fmu.call("EnterEventMode") == 0
    flags, following = [ctypes.c_bool() for _ in range(5)], ctypes.c_double()
    assert fmu.call("UpdateDiscreteStates", *map(ctypes.byref, flags), ctypes.byref(following)) == 0
    x, y = fmu.floats("Get", ["x", "y"])[1]
    assert flags[3].value and abs(np.hypot(x, y) - 1) < 1e-14
    fmu.library.fmi3FreeInstance(ctypes.c_void_p(fmu.instance))


@needs_importer
@pytest.mark.parametrize("kind", KINDS)
def test_the_ellipse_pendulum_moves_as_here_and_keeps_its_constraints(kind: str, tmp_path: Path) -> None:
    entry = zw.gallery.get("ellipse_pendulum_cartesian")
    model = zw.compile(entry.system)
    path = model.to_fmu(tmp_path / "x.fmu", state=entry.state, params=entry.params)
    assert path == tmp_path / "x.fmu" and problems(path) == []
    found = moved(path, kind, 0.5, relative_tolerance=1e-9)
    motion = zw.simulate(model, entry.state, entry.params, until=0.5)
    last = {item.name: found[item.name][-1] for item in (*entry.system.coordinates, *entry.system.velocities)}
    assert found["time"][-1] == pytest.approx(0.5)
    np.testing.assert_allclose(list(last.values()), [*motion.q[-1], *motion.v[-1]], rtol=0, atol=2e-7)
    assert model.check(last, entry.params, tol=2e-7) <= (2e-7 if kind == "ModelExchange" else 1e-13)


@needs_importer
def test_a_stiff_mechanism_is_right_in_co_simulation_and_as_good_as_the_importer_in_model_exchange(tmp_path) -> None:
    entry = zw.gallery.get("andrews")
    path = zw.compile(entry.system).to_fmu(tmp_path / "x.fmu", state=entry.state, params=entry.params)
    motion = zw.simulate(entry.system, entry.state, entry.params, until=0.03)
    names = [item.name for item in entry.system.coordinates]

    def off(kind: str, tolerance: float) -> float:
        found = moved(path, kind, 0.03, relative_tolerance=tolerance, output_interval=1e-3)
        return float(np.abs(np.array([found[name][-1] for name in names]) - motion.q[-1]).max())

    assert off("CoSimulation", 1e-5) < 1e-7
    # down to what a drift of 1e-7, up to which states are not carried back, makes
    loose, tight = (off("ModelExchange", tolerance) for tolerance in (1e-6, 1e-10))
    assert tight < 1e-6 < loose


@needs_importer
@pytest.mark.parametrize("kind", KINDS)
def test_coarse_steps_of_an_importer_keep_the_constraints(kind: str, tmp_path: Path) -> None:
    system = pendulum()
    path = zw.compile(system).to_fmu(tmp_path / "x.fmu", state=HANGING, params=NUMBERS)
    found = moved(path, kind, 5.0, relative_tolerance=1e-4)
    treated = np.append(np.diff(found["time"]) > 0, True)  # at an instant with two rows the second one is after it
    assert np.abs(np.hypot(found["x"], found["y"]) - 1.0)[treated].max() < 2e-7


@needs_importer
@pytest.mark.parametrize("kind", KINDS)
def test_an_input_drives_both_kinds_of_use(kind: str, tmp_path: Path) -> None:
    model = zw.compile(pendulum())
    path = model.to_fmu(tmp_path / "x.fmu", state=HANGING, params=NUMBERS)
    assert problems(path) == []
    rows = [(0.0, 5.0), (0.5, 5.0), (0.5, -3.0), (1.0, -3.0)]
    found = moved(path, kind, 1.0, input=np.array(rows, dtype=[("time", float), ("u", float)]), relative_tolerance=1e-9)
    steps = zw.Table([0.0, 0.5, 1.0], [5.0, -3.0, -3.0], kind="previous")
    motion = zw.simulate(model, HANGING, NUMBERS, until=1.0, inputs={"u": steps})
    np.testing.assert_allclose([found[n][-1] for n in NAMES], [*motion.q[-1], *motion.v[-1]], rtol=0, atol=1e-6)


@needs_importer
@pytest.mark.parametrize("kind", KINDS)
def test_an_importer_gives_parameters_and_states_that_were_left_open(kind: str, tmp_path: Path) -> None:
    model = zw.compile(pendulum())
    path = model.to_fmu(tmp_path / "open.fmu", name="open_one")
    assert problems(path) == []
    with pytest.raises(Exception, match="fmi3ExitInitializationMode failed"):
        moved(path, kind, 0.1, start_values={**HANGING, "m": 2.0, "g": 9.81})
    with pytest.raises(Exception, match="fmi3ExitInitializationMode failed"):  # no direction leads from the centre
        moved(path, kind, 0.1, start_values=NUMBERS)
    found = moved(path, kind, 1.0, start_values={**HANGING, **NUMBERS, "u": 1.0}, relative_tolerance=1e-9)
    motion = zw.simulate(model, HANGING, NUMBERS, until=1.0, inputs={"u": 1.0})
    np.testing.assert_allclose([found[n][-1] for n in NAMES], [*motion.q[-1], *motion.v[-1]], rtol=0, atol=1e-6)


@needs_importer
@pytest.mark.parametrize("kind", KINDS)
def test_events_that_stop_end_a_simulation(kind: str, tmp_path: Path) -> None:
    (x, y), (vx, vy) = zw.coordinates("x y")
    g = zw.parameters("g")
    events = [zw.Event(y - 0.5, direction=-1, stop=True, name="half way"), zw.Event(x - 0.1, name="seen")]
    system = zw.System(name="throw", kinetic=(vx**2 + vy**2) / 2, potential=g * y, events=events)
    state, params = {"x": 0, "y": 0, "v_x": 1, "v_y": 4}, {"g": 10.0}
    path = zw.compile(system).to_fmu(tmp_path / "throw.fmu", state=state, params=params)
    assert problems(path) == [] and len(described(path).findall(".//EventIndicator")) == 2
    early = {"early_return_allowed": True} if kind == "CoSimulation" else {}
    found = moved(path, kind, 2.0, relative_tolerance=1e-9, **early)
    exact = (4 + 6**0.5) / 10
    slack = 1e-10 if kind == "CoSimulation" else 0.05
    assert found["time"][-1] == pytest.approx(exact, abs=slack)


@needs_importer
def test_random_smooth_systems_have_the_same_motions(tmp_path: Path) -> None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        q, v = zw.coordinates("a b c")
        weights = rng.uniform(0.5, 2, 3)
        kinetic = sum(w * s**2 for w, s in zip(weights, v, strict=True)) / 2 + sp.cos(q[0] - q[1]) * v[0] * v[1] / 4
        held = q[0] ** 2 + 2 * q[1] ** 2 + q[2] ** 2 + sp.sin(zw.t) / 5 - float(rng.uniform(1, 2))
        system = zw.System(
            name=f"random {seed}",
            kinetic=kinetic,
            potential=sum(w * sp.cos(s) for w, s in zip(weights, q, strict=True)),
            forces={q[2]: -sp.Max(0, q[2] - 0.2) - v[2] / 5},
            constraints=[zw.Bilateral(held, name="held"), zw.Bilateral(v[0] - q[2] * v[1], name="rolls")],
        )
        model = zw.compile(system)
        guess = dict(zip(("a", "b", "c", "v_a", "v_b", "v_c"), rng.normal(size=6), strict=True))
        state = dict(model.project(guess, {}))
        motion = zw.simulate(model, state, {}, until=0.5)
        assert motion.status.name == "REACHED"
        path = model.to_fmu(tmp_path / f"{seed}.fmu", state=state, params={})
        assert problems(path) == []
        for kind in KINDS:
            found = moved(path, kind, 0.5, relative_tolerance=1e-9)
            got = [found[name][-1] for name in guess]
            np.testing.assert_allclose(got, [*motion.q[-1], *motion.v[-1]], rtol=0, atol=2e-6, err_msg=f"{seed} {kind}")


def test_units_go_along(tmp_path: Path) -> None:
    units = {"x": "mm", "y": "mm", "m": "kg", "g": "mm/s**2", "length": "mm", "u": "kg*mm/s**2"}
    path = zw.compile(pendulum(units=units)).to_fmu(tmp_path / "x.fmu")
    assert problems(path) == []
    root = described(path)
    by_name = {item.get("name"): item.get("unit") for item in root.findall(".//Float64")}
    assert by_name["x"] == "mm" and by_name["v_x"] == "mm/s" and by_name["u"] == "kg*mm/s**2" and by_name["m"] == "kg"
    bases = {item.get("name"): item.find("BaseUnit").attrib for item in root.findall(".//Unit")}
    assert bases["mm/s"] == {"m": "1", "s": "-1", "factor": "0.001"} and bases["kg"] == {"kg": "1"}


@needs_compiler
@pytest.mark.parametrize("text", by_day(HOSTILE, HOSTILE[:3]))
def test_names_reach_the_description_alone(text: str, tmp_path: Path) -> None:
    (x,), (v,) = zw.coordinates("x")
    k = zw.parameters("time")
    held = zw.Bilateral(x - sp.sin(zw.t), name=text)
    system = zw.System(name=text, kinetic=v**2 / 2, potential=k * x, constraints=[held])
    path = zw.compile(system).to_fmu(tmp_path / "x.fmu")
    assert problems(path) == []
    with zipfile.ZipFile(path) as archive:
        source = archive.read("sources/fmu.c").decode("ascii")
        build = ET.fromstring(archive.read("sources/buildDescription.xml"))
    assert "pwned" not in source and build.find("BuildConfiguration").get("modelIdentifier").isidentifier()
    file = tmp_path / "fmu.c"
    file.write_text(source)
    command = [str(COMPILER), *FLAGS, "-o", str(tmp_path / "x.so"), str(file), "-lm"]
    assert subprocess.run(command, check=False, capture_output=True, text=True).stderr == ""


def test_the_same_model_gives_the_same_file(tmp_path: Path) -> None:
    model = zw.compile(pendulum())
    first, second = (model.to_fmu(tmp_path / f"{k}.fmu", state=HANGING, params=NUMBERS) for k in range(2))
    other = model.to_fmu(tmp_path / "other.fmu", state=HANGING, params={**NUMBERS, "m": 3.0})
    assert described(first).get("instantiationToken") == described(second).get("instantiationToken")
    assert described(first).get("instantiationToken") != described(other).get("instantiationToken")


def test_without_a_compiler_there_are_sources_and_a_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.warns(RuntimeWarning, match="x.fmu has sources only: there is no C compiler 'cc' here"):
        path = zw.compile(pendulum()).to_fmu(tmp_path / "x.fmu")
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == ["modelDescription.xml", "sources/fmu.c", "sources/buildDescription.xml"]
    assert problems(path) == []


@pytest.mark.parametrize("given", by_day(["state params", "params", "state", ""], ["state params"]))
def test_dependent_loops_are_refused_by_name_and_their_cure_works(given: str, tmp_path: Path) -> None:
    # A lift on three equal and parallel bars, and a string of which nothing else depends.
    (x, y, p, z), (vx, vy, vp, vz) = zw.coordinates("x y p z")
    l, a, b, m, J = zw.parameters("l a b m J")
    feet = {"left": 0, "right": a, "middle": b}
    bars = [
        zw.Bilateral((x + s * sp.cos(p) - s) ** 2 + (y + s * sp.sin(p)) ** 2 - l**2, name=k) for k, s in feet.items()
    ]
    string = zw.Bilateral(z - y, name="string")
    kinetic = m * (vx**2 + vy**2 + vz**2) / 2 + J * vp**2 / 2
    lift = zw.System(name="lift", kinetic=kinetic, potential=9.81 * y, constraints=[*bars, string])
    known = {
        "state": {"x": 0.6, "y": 0.8, "p": 0.0, "z": 0.8, "v_x": 0.0, "v_y": 0.0, "v_p": 0.0, "v_z": 0.0},
        "params": {"l": 1.0, "a": 2.0, "b": 0.7, "m": 1.0, "J": 0.4},
    }
    if len(given.split()) == 2:
        message = "the constraints 'left', 'right', 'middle' are dependent at this state.*others: 'middle'"
        with pytest.raises(zw.StateError, match=message):
            zw.compile(lift).to_fmu(tmp_path / "x.fmu", **known)
    known["params"].pop("b")
    twice = lift.replace(constraints=[*bars[:2], string, zw.Bilateral(2 * y - 2 * z, name="again")])
    with pytest.raises(zw.StateError, match="the constraints 'string', 'again' are dependent .*others: 'again'"):
        zw.compile(twice).to_fmu(tmp_path / "x.fmu", **{key: known[key] for key in given.split()})
    assert list(tmp_path.iterdir()) == []
    cured = lift.replace(constraints=[*bars[:2], string])
    assert zw.compile(cured).to_fmu(tmp_path / "x.fmu", **{key: known[key] for key in given.split()}).exists()


def test_what_is_not_smooth_is_refused_by_name(tmp_path: Path) -> None:
    (x, y), (u, v) = zw.coordinates("x y")
    w = zw.inputs("w")
    path = tmp_path / "x.fmu"

    def refused(match: str, error: type[Exception] = zw.DeclarationError, *, given=None, **more) -> None:
        system = zw.System(name="one", kinetic=(u**2 + v**2) / 2, potential=y, **more)
        with pytest.raises(error, match=match):
            zw.compile(system).to_fmu(path, **(given or {}))

    refused("'floor' is one-sided.*Make it a Bilateral", constraints=[zw.Unilateral(y, name="floor")])
    rough = zw.Bilateral(y, friction=zw.Coulomb(0.3, slip=u), name="guide")
    refused("'guide' has friction.*put a smooth force", constraints=[rough])
    refused("'dry' has friction", constraints=[zw.Friction(1, slip=u, name="dry")])
    reset = zw.Event(y, then=zw.Reset({v: -v}), name="bounce")
    refused("the event 'bounce' switches or resets.*Leave this one out", events=[reset])
    refused("the rate of the input 'w' is needed.*expression of t", constraints=[zw.Bilateral(y - w, name="lift")])
    refused("params has 'w', which is an input", forces={x: w}, given={"params": {"w": 1}})
    refused("params must be a mapping", given={"params": 3})
    refused("not arrays", given={"state": {"x": [0, 1], "y": 0, "v_x": 0, "v_y": 0}})
    refused("to_fmu: name= must be a name in C", given={"name": "a b"})
    still = {"x": 0, "y": 0, "v_x": 0, "v_y": 0}
    twice = [zw.Bilateral(y, name="one"), zw.Bilateral(2 * y, name="two")]
    refused("'one', 'two' are dependent at this state.*: 'two'", zw.StateError, constraints=twice,
            given={"state": still, "params": {}})  # fmt: skip
    off = {"state": {**still, "y": 1}, "params": {}}
    refused("violates|'one'", zw.StateError, constraints=[zw.Bilateral(y, name="one")], given=off)
    with pytest.raises(zw.DeclarationError, match="an FMU is written as .fmu"):
        zw.compile(pendulum()).to_fmu(tmp_path / "x.zip")
    names = " ".join(f"x{k}" for k in range(41))
    many = zw.System(name="many", kinetic=sum(s**2 for s in zw.coordinates(names)[1]) / 2)
    with pytest.raises(zw.CompileError, match="41 coordinates and constraints are too many for an FMU"):
        zw.compile(many).to_fmu(path)
    assert list(tmp_path.iterdir()) == []


def test_the_command_writes_an_fmu(tmp_path: Path) -> None:
    arguments = ["export", "ellipse_pendulum_cartesian", "--to", "fmu", "--folder", str(tmp_path)]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    path = tmp_path / "ellipse_pendulum_cartesian.fmu"
    starts = {item.get("name"): item.get("start") for item in described(path).findall(".//Float64")}
    assert problems(path) == [] and starts["l1"] == "2.0"
    refused = CliRunner().invoke(main, [*arguments, "--active", "AB"])
    assert refused.exit_code != 0 and "--active and --event go with --to c" in refused.output
