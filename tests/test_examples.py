"""Every example states a claim in its first lines and asserts it in its last; here they run as scripts do."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_states_a_claim_and_asserts_it(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree), "the first lines state the claim"
    assert isinstance(tree.body[-1], ast.Assert), "the last lines assert it"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_and_its_claim_holds(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "agg")
    try:
        runpy.run_path(str(path), run_name="__main__")
    finally:
        close_figures()


def close_figures() -> None:
    import matplotlib.pyplot as plt

    plt.close("all")
