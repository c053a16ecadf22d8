"""What passed before is not run again as long as nothing has changed: `make test` twice in a row, say.

A test is passed over if it passed in this clone within a day, and everything it could depend on is the same: every file
of the repository that git doesn't ignore, Python and its packages, processor and system, compilers, and the settings in
the environment. All files have one key together, so an edit of any of them lets every test run. Such tests are counted
apart, as "unchanged since they passed". Those that failed or were skipped always run.

It takes a record (ZWANG_PASSED names it; only the Makefile does) and git, and stands back under CI.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

RECORD = "ZWANG_PASSED"
DAY = 86_400.0  # seconds; what no key knows of, such as the libraries of the system, seldom changes sooner
ALWAYS = ("tests/test_architecture.py", "tests/test_docs_static.py", "tests/test_passed_before.py")
"""Run in any case: what reads pages that git ignores, this file's own tests, and so many that a reader sees some."""
WORD = "unchanged since they passed"
SETTINGS = ("ZWANG_", "NUMBA_", "OMP_", "OPENBLAS_", "MKL_", "JAX_", "XLA_", "CUDA", "MPL", "PYTHON", "PYTEST", "LC_")
SINGLE = ("LANG", "TZ", "PATH", "HOME", "XDG_CACHE_HOME")
TOOLS = ("cc", "gcc", "clang", "git", "node", "dot")


def contents(root: Path) -> str | None:
    """Return the key of all files under `root` that git doesn't ignore; None where git doesn't tell them."""
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    digest = hashlib.sha256()
    for name in sorted(set(listed.split(b"\0")) - {b""}):
        path = root / os.fsdecode(name)
        data = b"link " + os.fsencode(path.readlink()) if path.is_symlink() else b"gone"
        if path.is_file():
            data += path.read_bytes()
        digest.update(b"%d:%s%d:" % (len(name), name, len(data)) + data)
    return digest.hexdigest()


def surroundings() -> list[str]:
    """Return all else that a test could depend on."""
    told = [sys.version, sys.prefix, platform.platform(), _processor()]
    told += sorted(f"{item.name} {item.version}" for item in importlib.metadata.distributions())
    told += [f"{name}={value}" for name, value in sorted(os.environ.items()) if _matters(name)]
    for tool in TOOLS:
        if found := shutil.which(tool):
            status = Path(found).stat()
            told.append(f"{found} {status.st_size} {status.st_mtime_ns}")
    return told


def _processor() -> str:
    from llvmlite import binding

    return f"{binding.get_host_cpu_name()} {binding.get_host_cpu_features().flatten()}"


def _matters(name: str) -> bool:
    own = name.startswith(("PYTEST_CURRENT", "PYTEST_XDIST", RECORD))  # of the run itself
    return name in SINGLE or (name.startswith(SETTINGS) and not own)


def key_of(root: Path) -> str | None:
    """Return what a record is for; None where there can't be one."""
    files = contents(root)
    return files and hashlib.sha256("\0".join([files, *surroundings()]).encode()).hexdigest()


class PassedBefore:
    """Passes over what the record has, and writes down what passed."""

    def __init__(self, root: Path, record: Path) -> None:
        self.root, self.record = root, record
        self.key = key_of(root)
        self.known = self._read()
        self.passed: set[str] = set()
        self.other: set[str] = set()

    def _read(self) -> dict[str, float]:
        try:
            found = json.loads(self.record.read_text(encoding="utf-8"))
            known = {str(name): float(when) for name, when in found["passed"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}
        now = time.time()
        mine = self.key is not None and found["key"] == self.key
        return {name: when for name, when in known.items() if mine and 0 <= now - when < DAY}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        if item.nodeid not in self.known or item.nodeid.startswith(ALWAYS):
            return None
        # What ran before this left what both share, such as fixtures of the module; what runs next may not share it.
        done = pytest.CallInfo.from_call(lambda: item.session._setupstate.teardown_exact(nextitem), "teardown")
        report = pytest.TestReport(
            item.nodeid, item.location, {}, "passed", None, "call", user_properties=[(WORD, True)]
        )
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        item.ihook.pytest_runtest_logreport(report=report)
        if done.excinfo is not None:
            failed = item.ihook.pytest_runtest_makereport(item=item, call=done)
            item.ihook.pytest_runtest_logreport(report=failed)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: Any) -> tuple[str, str, str] | None:
        return (WORD, "=", "UNCHANGED") if _passed_over(report) else None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.outcome != "passed" or hasattr(report, "wasxfail"):
            self.other.add(report.nodeid)
        elif report.when == "call" and not _passed_over(report):
            self.passed.add(report.nodeid)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        worker = hasattr(session.config, "workerinput")
        if worker or self.key is None or key_of(self.root) != self.key:  # edited meanwhile
            return
        now = time.time()
        passed = {name: when for name, when in self.known.items() if name not in self.other}
        passed |= dict.fromkeys(sorted(self.passed - self.other), now)
        self.record.parent.mkdir(parents=True, exist_ok=True)
        draft = self.record.with_suffix(f".{os.getpid()}")
        draft.write_text(json.dumps({"key": self.key, "passed": passed}), encoding="utf-8")
        draft.replace(self.record)


def _passed_over(report: Any) -> bool:
    return any(name == WORD for name, _ in getattr(report, "user_properties", ()))


def register(config: pytest.Config) -> None:
    """Take part in a run that names a record, unless it is one of continuous integration."""
    named = os.environ.get(RECORD, "")
    if named and os.environ.get("CI", "").lower() in {"", "0", "false"}:
        config.pluginmanager.register(PassedBefore(config.rootpath, config.rootpath / named), "passed_before")
