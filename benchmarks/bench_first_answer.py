"""How long a first answer takes: each verb in a fresh process, without machine code on disk, with it, in each tier.

Cold: an empty cache folder, nothing pinned: the call begins as plain Python. Warm: the same again after `zwang warm`
into that folder. Pinned: `compile(tier=)`, plain without a cache, compiled with a warm one. A row has the time from
the call to its result, the time of the whole process, the tier that answered, and what the answer says, which must be
the same in every row of a verb. Beside them the import times of the dependencies.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HEAD = """
import json, sys, time
import numpy as np
import zwang as zw
def pinned(system):
    return zw.compile(system, tier=TIER) if TIER else system
def of(name):
    entry = zw.gallery.get(name)
    return pinned(entry.system), entry
system, entry = of(NAME)
begin = time.perf_counter()
found = ASK
took = time.perf_counter() - begin
says = SAYS
tier = getattr(getattr(found, "provenance", None), "tier", "")
print(json.dumps({"call": took, "tier": tier, "says": says, "numba": "numba" in sys.modules}))
"""
VERBS = {
    "reactions": ("painleve_rod", "zw.reactions(system, entry.state, entry.params)", "found.status.name"),
    "map 100 x 100": (
        "painleve_rod",
        "zw.reactions(system, entry.state, {**entry.params, 'mu': np.linspace(0, 2, 100)[:, None], "
        "'m': np.linspace(1, 2, 100)})",
        "int(found.counts.sum())",
    ),
    "trace": ("four_bar", "zw.trace(system, entry.params)", "len(found.branches)"),
    "critical": (
        "four_bar",
        "zw.critical(system, entry.params, vary=next(iter(entry.params)), within=(0.5, 1.5))",
        "len(found)",
    ),
    "asymptotics": ("ellipse_pendulum", "zw.asymptotics(system, entry.params)", "found.status.name"),
    "simulate": (
        "belt_block",
        "zw.simulate(system, entry.state, entry.params, until=20.0)",
        "[event.kind for event in found.events][:8]",
    ),
    "time stepping": (
        "bouncing_ball",
        "zw.simulate(system, entry.state, entry.params, until=0.5, method='timestepping', step=1e-3)",
        "found.status.name",
    ),
    "limit": (
        "kozlov_neishtadt",
        "zw.limit(system, 'floor', entry.state, by=zw.Stiffness, until=0.1)",
        "found.status.name",
    ),
}
PACKAGES = ("numpy", "sympy", "scipy.linalg", "numba", "click", "rich", "zwang")


def run(verb: str, folder: Path, tier: str | None) -> tuple[dict[str, object], float]:
    """Return what a fresh process says of one question, and how long the process took."""
    name, ask, says = VERBS[verb]
    text = HEAD.replace("TIER", repr(tier)).replace("NAME", repr(name)).replace("ASK", ask).replace("SAYS", says)
    settings = {**os.environ, "ZWANG_CACHE_DIR": str(folder)}
    for unwanted in ("ZWANG_WAIT", "ZWANG_TIER", "ZWANG_NO_JIT", "PYTHONDONTWRITEBYTECODE"):
        settings.pop(unwanted, None)
    begin = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", text], env=settings, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1]), time.perf_counter() - begin


def import_time(package: str) -> float:
    """Return the smallest of three import times in fresh processes, without the start of Python."""
    text = f"import time; t = time.perf_counter(); import {package}; print(time.perf_counter() - t)"
    return min(float(subprocess.check_output([sys.executable, "-c", text])) for _ in range(3))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--verbs", nargs="*", default=list(VERBS), choices=list(VERBS))
    parser.add_argument("--cold-only", action="store_true", help="Leave out what needs a warm cache.")
    given = parser.parse_args()
    print("imports: " + ", ".join(f"{name} {import_time(name):.2f} s" for name in PACKAGES))
    print(f"{'verb':16s}{'how':18s}{'call':>8s}{'process':>9s}  tier      Numba  says")
    with tempfile.TemporaryDirectory() as scratch:
        warm = Path(scratch, "warm")
        cases: list[tuple[str, Path | None, str | None]] = [("cold", None, None), ("pinned, cold", None, "plain")]
        if not given.cold_only:
            begin = time.perf_counter()
            settings = {**os.environ, "ZWANG_CACHE_DIR": str(warm)}
            subprocess.run([sys.executable, "-m", "zwang", "warm"], env=settings, check=True, capture_output=True)
            print(f"zwang warm: {time.perf_counter() - begin:.0f} s on {os.cpu_count()} cores")
            cases += [("warm, first", warm, None), ("warm, second", warm, None), ("pinned, warm", warm, "compiled")]
        for verb in given.verbs:
            answers = set()
            for place, (how, folder, tier) in enumerate(cases):
                if tier == "plain" and verb == "limit":
                    continue  # minutes
                row, whole = run(verb, folder or Path(scratch, f"{verb}{place}"), tier)
                answers.add(json.dumps(row["says"]))
                line = f"{verb:16s}{how:18s}{row['call']:7.2f}s{whole:8.2f}s  {row['tier'] or '':10s}"
                print(f"{line}{'yes' if row['numba'] else 'no':7s}{row['says']}", flush=True)
            if len(answers) != 1:
                raise SystemExit(f"{verb}: the answers differ: {answers}")


if __name__ == "__main__":
    main()
