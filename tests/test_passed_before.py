"""A test is passed over only where it passed and nothing has changed since; otherwise it runs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

import passed_before

pytestmark = pytest.mark.skipif(subprocess.call(["git", "--version"], stdout=subprocess.DEVNULL) != 0, reason="no git")

CONFTEST = """
import passed_before

def pytest_configure(config):
    passed_before.register(config)
"""
TESTS = """
import pytest
from thing import VALUE

def test_good(): assert VALUE
def test_also_good(): pass
@pytest.mark.skip
def test_skipped(): pass
@pytest.mark.xfail
def test_known(): assert False
@pytest.fixture
def late():
    yield
    assert VALUE == 1
def test_bad_at_its_end(late): pass
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    files = {
        "conftest.py": CONFTEST,
        "test_it.py": TESTS,
        "thing.py": "VALUE = 2\n",
        ".gitignore": "__pycache__\n.make\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    return tmp_path


def run(project: Path, *options: str, **settings: str) -> str:
    """Return the closing line of a run, without its time."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "ZWANG_", "CI"))}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # half of the time of so small a run
    environment |= {"PYTHONPATH": str(Path(passed_before.__file__).parent), passed_before.RECORD: ".make/passed.json"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir=.", *options]
    done = subprocess.run(command, cwd=project, env=environment | settings, capture_output=True, text=True, check=False)
    return re.sub(r" in [\d.]+s.*", "", done.stdout.strip().splitlines()[-1])


ALL = "3 passed, 1 skipped, 1 xfailed, 1 error"
SHARED = """
import pytest

@pytest.fixture(scope="module", autouse=True)
def shared():
    yield
    if {last}: raise ValueError("too late")
def test_bad(): assert False
def test_good(): pass
"""


@pytest.mark.parametrize(
    "options",
    [(), pytest.param(("-p", "xdist", "-n", "1"), marks=pytest.mark.nightly)],
    ids=["one process", "workers"],
)
def test_what_passed_is_passed_over_and_what_did_not_runs_again(project: Path, options: tuple[str, ...]) -> None:
    assert run(project, *options) == ALL
    again = run(project, *options)
    assert again == "1 passed, 1 skipped, 1 xfailed, 1 error, 2 unchanged since they passed"


def test_fixtures_of_a_file_end_with_it_where_its_last_test_is_passed_over(project: Path) -> None:
    (project / "test_it.py").unlink()
    for name, last in (("a", False), ("b", False), ("c", True)):
        (project / f"test_{name}.py").write_text(SHARED.format(last=last), encoding="utf-8")
    assert run(project) == "3 failed, 3 passed, 1 error"
    assert run(project) == "3 failed, 1 passed, 1 error, 2 unchanged since they passed"
    assert run(project, "test_a.py", "test_b.py") == "2 failed, 2 unchanged since they passed"


def test_everything_runs_after_any_edit_and_where_nobody_asked_for_less(project: Path) -> None:
    assert run(project) == ALL
    assert "unchanged" in run(project)
    assert run(project, CI="true") == ALL
    assert run(project, ZWANG_PASSED="") == ALL
    assert run(project, NUMBA_DISABLE_JIT="1") == ALL  # this run has a record of its own now
    assert run(project) == ALL
    (project / "new.txt").write_text("a file that nobody has told git of", encoding="utf-8")
    assert run(project) == ALL
    (project / "thing.py").write_text("VALUE = 1\n", encoding="utf-8")
    assert run(project) == "3 passed, 1 skipped, 1 xfailed"


def test_the_key_is_of_every_file_by_name_and_content_and_none_without_git(project: Path, tmp_path: Path) -> None:
    def key() -> str | None:
        return passed_before.contents(project)

    first = key()
    assert first is not None and key() == first
    (project / ".make").mkdir()
    (project / ".make" / "passed.json").write_text("{}", encoding="utf-8")
    assert key() == first  # ignored by git
    seen = {first}
    for change in (
        lambda: (project / "thing.py").rename(project / "other.py"),
        lambda: (project / "other.py").write_text("VALUE = 2 \n", encoding="utf-8"),
        lambda: (project / "link").symlink_to("other.py"),
        (project / "other.py").unlink,
    ):
        change()
        assert key() not in seen
        seen.add(key())
    outside = tmp_path.parent / "outside"
    outside.mkdir(exist_ok=True)
    assert passed_before.contents(outside) is None


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"key": 1, "passed": []}', '{"key": "x", "passed": {"a": 1}}'], ids=str
)
def test_a_record_that_is_none_or_of_another_key_tells_nothing(project: Path, text: str) -> None:
    record = project / "record.json"
    record.write_text(text, encoding="utf-8")
    assert passed_before.PassedBefore(project, record).known == {}


def test_a_record_is_good_for_a_day(project: Path) -> None:
    record, now = project / ".make" / "record.json", time.time()
    record.parent.mkdir()
    times = {"today": now - 100, "long ago": now - passed_before.DAY - 1, "to come": now + 100}
    record.write_text(json.dumps({"key": passed_before.key_of(project), "passed": times}), encoding="utf-8")
    assert set(passed_before.PassedBefore(project, record).known) == {"today"}


@pytest.mark.parametrize(
    ("name", "value"), [("ZWANG_TIER", "plain"), ("NUMBA_OPT", "1"), ("PATH", "/nowhere"), ("LANG", "tlh_QO")]
)
def test_settings_are_part_of_the_key_and_the_record_is_not(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    before = passed_before.surroundings()
    monkeypatch.setenv(passed_before.RECORD, "another place")
    assert passed_before.surroundings() == before
    monkeypatch.setenv(name, value)
    assert passed_before.surroundings() != before
