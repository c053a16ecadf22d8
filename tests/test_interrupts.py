"""One Ctrl-C ends every verb: its loops, threads and all, keeping a motion that can say so."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

# Each case would take minutes. A thread sends one signal while it runs; what is printed is how the call ended. A case
# that loses the signal, or waits for its threads, is found by the limit on the whole process.
CHILD = """
import os, signal, sys, threading, time
import numpy as np, zwang as zw

plenty = {"steps": 10**12, "memory": 10**9}
get = zw.gallery.get
p, r, h, f = (get(n) for n in ("circle_particle", "painleve_rod", "kozlov_neishtadt", "four_bar"))
rng = np.random.default_rng(0)


def tower(count):
    contacts = [
        zw.Contact(rng.normal(size=12), tangent=rng.normal(size=12), friction=0.8, name=f"c{k}") for k in range(count)
    ]
    return zw.ContactProblem(np.eye(12), rng.normal(size=12), contacts)


def many(count):
    speeds = np.linspace(0.5, 2.0, count)
    return {**p.state, "v_x": speeds * p.state["v_x"], "v_y": speeds * p.state["v_y"]}


CASES = {
    "motion": lambda: zw.simulate(p.system, p.state, p.params, until=1e300, budget=plenty),
    "steps": lambda: zw.simulate(
        p.system, p.state, p.params, until=1e4, step=1e-3, method="timestepping", budget={"memory": 10**10}
    ),
    "ensemble": lambda: zw.simulate(p.system, many(40), p.params, until=1e7, budget=plenty),
    "springs": lambda: zw.limit(
        h.system, "floor", h.state, by=zw.Stiffness, until=1.0, strengths=[1e14, 1e15, 1e16], budget=plenty
    ),
    "springs in threads": lambda: zw.limit(
        h.system, "floor", h.state, by=zw.Stiffness, until=1.0, strengths=[1e4, 1e15, 1e16], budget=plenty
    ),
    "contacts in threads": lambda: zw.limit(
        r.system, "tip", r.state, r.params, by=zw.Stiffness, until=0.02, strengths=[1e6, 1e13, 1e14],
        budget={"memory": 10**12},
    ),
    "recommend": lambda: zw.recommend(h.system, "floor", h.state, error=1e-13, until=100.0, budget=plenty),
    "map": lambda: zw.reactions(r.system, r.state, {**r.params, "mu": np.linspace(0, 2, 3_000_000)}),
    "search": lambda: zw.reactions(tower(40), every=True, budget=plenty),
    "exhaustive": lambda: zw.trace(
        get("andrews").system, get("andrews").params, search="exhaustive", budget=plenty
    ),
    "critical": lambda: zw.critical(f.system, f.params, vary=list(f.params)[0], within=(0.5, 2.5), starts=200_000),
}


def interrupted(call, wait):
    sent = []

    def send():
        sent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(wait, send)
    timer.start()
    try:
        result = call().status.name
    except KeyboardInterrupt:
        result = "KeyboardInterrupt"
    timer.cancel()
    late = time.process_time() - sent[0] if sent else -1.0
    return result, bool(sent), late, threading.active_count() - 1


for method in ("events", "timestepping"):  # a Ctrl-C before anything moves has no motion to keep
    zw.simulate(p.system, p.state, p.params, until=0.1, method=method)
# Nor is one taken while a kernel is compiled: what takes long to compile is there before.
zw.limit(h.system, "floor", h.state, by=zw.Stiffness, until=0.1, strengths=[1e4, 1e5, 1e6])
zw.reactions(r.system, r.state, {**r.params, "mu": np.linspace(0, 2, 100)})
zw.trace(f.system, f.params)
for name in sys.argv[2:]:
    result, sent, late, threads = interrupted(CASES[name], float(sys.argv[1]))
    print(f"{name}|{result}|{sent}|{late:.2f}|{threads}", flush=True)
"""

ENDS = {
    "motion": "INTERRUPTED",
    "steps": "INTERRUPTED",
    "ensemble": "MIXED",
    "springs": "KeyboardInterrupt",
    "springs in threads": "KeyboardInterrupt",
    "contacts in threads": "KeyboardInterrupt",
    "recommend": "KeyboardInterrupt",
    "map": "KeyboardInterrupt",
    "search": "KeyboardInterrupt",
    "exhaustive": "KeyboardInterrupt",
    "critical": "KeyboardInterrupt",
}


BY_DAY = ("motion", "springs in threads")
"""A loop of steps, and threads: the others end by the same means."""


@pytest.mark.parametrize(
    "names",
    [BY_DAY, pytest.param([name for name in ENDS if name not in BY_DAY], marks=pytest.mark.nightly)],
    ids=["some", "others"],
)
def test_one_interrupt_ends_every_verb_and_its_threads(names):
    command = [sys.executable, "-c", CHILD, "1.5", *names]
    run = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    found = [line.split("|") for line in run.stdout.splitlines()]
    assert {line[0]: line[1] for line in found} == {name: ENDS[name] for name in names}
    for name, _, sent, late, threads in found:
        assert sent == "True", f"{name} ended before it could be interrupted"
        assert float(late) < 20.0, f"{name} went on for {late} s of the processor"  # one, by itself
        assert threads == "0", f"{name} left threads behind"
