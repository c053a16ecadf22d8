"""How the lab feels: its first view, from a slider to the new picture, frames while Python computes; in Chromium.

A row has the median and the worst time from the slider's event to the frame in which the answer is painted, and beside
it the processor time of the computation alone (the same request, answered in this process), which says little of a busy
machine and much of the code. Limits are those of a quiet machine with two cores and kernels on disk (`zwang warm`).

    python benchmarks/bench_lab.py --trials 15
"""

from __future__ import annotations

import argparse
import os
import select
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

ASKED = {
    "reactions": [("painleve_rod", "mu"), ("ladder", "mu"), ("four_bar_kite", "m1")],
    "space": [("ellipse_pendulum", "r1"), ("four_bar", "l1"), ("four_bar_crank_rocker", "l1")],
    "motion": [("painleve_rod", "mu"), ("belt_block", "mu"), ("bouncing_ball", "g"), ("ladder", "mu")],
}
"""Part of the page -> systems, and whose slider is moved."""
LIMITS = {"reactions": 50, "space": 150, "motion": 200}
FIRST_VIEW, GAP = 1500, 50
"""Milliseconds from the command to the first view, and the longest between two frames."""

MOVE = """([part, name, share]) => new Promise((done) => {
  const section = document.querySelector(`section[data-part=${part}]`), before = Number(section.dataset.shown);
  const range = document.querySelector(`section[data-part=parameters] input[type=range][name='${name}']`);
  const own = Number(range.dataset.own ?? range.value);
  range.dataset.own = String(own);
  const begin = performance.now();
  const look = () => {
    if (Number(section.dataset.shown) <= before || section.dataset.status === "busy") return;
    watch.disconnect();
    requestAnimationFrame(() => done([performance.now() - begin, section.dataset.status]));
  };
  const watch = new MutationObserver(look);
  watch.observe(section, { attributes: true });
  range.value = String(own * share);
  range.dispatchEvent(new Event("input"));
})"""


@contextmanager
def lab() -> Iterator[tuple[str, float]]:
    """The address of a lab that runs, and when it was started."""
    begin = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "zwang", "lab", "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert select.select([process.stdout], [], [], 60)[0], "the lab printed no address"
        yield process.stdout.readline().strip(), begin
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)


def computing(kind: str, system: str, name: str, trials: int) -> float:
    """Return the median processor time [ms] of the answer alone."""
    import zwang as zw
    from zwang.lab.answers import answer

    own = zw.gallery.get(system).params[name]
    found = []
    for k in range(trials + 3):
        request = {"seq": k, "kind": kind, "system": system, "params": {name: own * (1 + 1e-4 * (k + 1))}}
        begin = time.process_time()
        list(answer({**request, **({"until": 10.0} if kind == "motion" else {})}))
        found.append(1e3 * (time.process_time() - begin))
    return statistics.median(found[3:])


def settled(page: Any) -> None:
    page.wait_for_function("() => zwang.stats().pending === 0", timeout=120_000)


def moving(page: Any, part: str, name: str, trials: int) -> tuple[list[float], int]:
    """Return the times of moves of a slider, and how many ended with an error."""
    found, errors = [], 0
    for k in range(trials + 3):
        settled(page)
        took, status = page.evaluate(MOVE, [part, name, 1 + 1e-3 * (k % 7 + 1)])
        errors += status == "error"
        found.append(took)
    return found[3:], errors


def frames(page: Any) -> dict[str, float]:
    """Return what the page says of its frames while a motion plays and Python computes for two seconds."""
    settled(page)
    page.select_option("select[name=speed]", "0.1")
    page.click("[data-action=play]")
    page.wait_for_timeout(300)
    page.evaluate("() => zwang.stats()")
    page.click("[data-action=orders]")
    page.wait_for_timeout(2000)
    return dict(page.evaluate("() => zwang.stats()"))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--trials", type=int, default=11)
    trials = options.parse_args().trials
    browser_path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        browser_path = None
    if browser_path is None:
        print("bench_lab: Chromium and Playwright are needed; nothing was measured.")
        return
    print(f"load of the machine before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; medians of {trials}\n")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        first = []
        for _ in range(3):
            with lab() as (address, begin):
                told = 1e3 * (time.perf_counter() - begin)
                page = browser.new_context().new_page()
                page.goto(address)
                page.wait_for_selector("body[data-ready=true]")
                first.append((1e3 * (time.perf_counter() - begin), told))
                page.context.close()
        whole, told = sorted(first)[1]
        print(f"first view {whole:.0f} ms after the command (address after {told:.0f}); limit {FIRST_VIEW}\n")
        print(f"{'part':10} {'system':24} {'slider':6} {'median':>8} {'worst':>8} {'limit':>6} {'computing, CPU':>15}")
        with lab() as (address, _):
            page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
            page.goto(address)
            for part, systems in ASKED.items():
                for system, name in systems:
                    page.wait_for_selector("body[data-ready=true]")
                    page.click(f"[data-system={system}]")
                    times, errors = moving(page, part, name, trials)
                    middle, own = statistics.median(times), computing(part, system, name, trials)
                    note = f"  {errors} errors" if errors else ""
                    row = f"{part:10} {system:24} {name:6} {middle:8.0f} {max(times):8.0f} {LIMITS[part]:6} {own:15.1f}"
                    print(row + note, flush=True)
            page.click("[data-system=kozlov_neishtadt]")
            found = frames(page)
            gap = found["longest_gap_ms"]
            print(f"\nframes in 2 s of computing: {found['frames']}, longest gap {gap:.0f} ms; limit {GAP}")
        browser.close()
    print(f"load of the machine after: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
