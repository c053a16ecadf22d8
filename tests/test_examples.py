"""Every example states a claim in its first lines and asserts it in its last; here they run as scripts do."""

from __future__ import annotations

import ast
import hashlib
import runpy
import sysconfig
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_states_a_claim_and_asserts_it(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree), "the first lines state the claim"
    assert isinstance(tree.body[-1], ast.Assert), "the last lines assert it"


@cache
def last_change() -> float:
    """Return when the package or the environment changed last."""
    files = [*(ROOT / "src").rglob("*.py"), Path(sysconfig.get_path("purelib"))]
    return max(path.stat().st_mtime for path in files)


def ran_for_the_pages(path: Path) -> bool:
    """Say whether the documentation, which `make test` builds first, has run an example since all that it depends on.

    The gallery writes down the digest of an example that ran to its end, and ends with an error where one fails.
    """
    stamp = ROOT / "docs" / "examples" / f"{path.name}.md5"
    if not stamp.exists() or stamp.stat().st_mtime <= max(last_change(), path.stat().st_mtime):
        return False
    return stamp.read_text(encoding="utf-8").strip() == hashlib.md5(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_and_its_claim_holds(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if ran_for_the_pages(path):
        return
    monkeypatch.setenv("MPLBACKEND", "agg")
    try:
        runpy.run_path(str(path), run_name="__main__")
    finally:
        close_figures()


def close_figures() -> None:
    import matplotlib.pyplot as plt

    plt.close("all")
