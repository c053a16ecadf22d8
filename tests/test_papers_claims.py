"""The claims of the papers: every quick one is computed, and its verdict is the recorded one."""

from __future__ import annotations

import json
import pickle
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import zwang as zw
from night import by_day
from statement_opposites import other_expectations
from zwang import papers
from zwang.cli import main
from zwang.errors import DeclarationError
from zwang.papers import Claim, Finding, Verdict, as_added, as_corrected, as_printed, sound

QUICK = [item for item in papers.claims() if item.profile == "quick"]
AT_NIGHT = {
    "000-any-order", "002-elbow", "002-kinetic", "003-proof-general", "003-thm-velocity", "003-transversal-start",
    "004-figure-3", "004-figure-5", "004-small-k",
    "000-corollary-1", "000-eq14-branches", "000-eq9-branches", "000-independent-bounded",
    "000-pendulum-tangency", "000-theorem-3", "000-theorem-3-dimensions", "000-theorem-3-multipliers",
    "000-thm1-other-side", "000-thm1-random", "000-thm1-rate", "000-thm2-1", "000-thm2-random", "001-bifurcation",
    "001-coercive", "001-ex2-cyclic", "001-ex2-symbol-algorithm", "001-ex3-one-equation", "001-ex3-rest",
    "001-ex3-turning", "001-ex6-equilibrium", "001-strongly-monotone", "001-thm11", "001-thm13-fixed",
    "001-thm13-no-self-stress", "001-viscous-friction", "002-change-of-branch", "002-elbow-angle",
    "002-finite-limits", "002-foci", "002-frame", "002-general-case", "002-joint-crossing", "002-joint-string",
    "002-joint-string-tangency", "002-joint-tangency", "002-rank", "002-ray", "002-solvability",
    "002-string-crossing", "002-string-length", "002-touching-forces", "002-unit-curvature", "003-independence",
    "003-joint-energy", "003-thm-position", "004-figure-2", "004-shockless", "004-table-1", "004-whole-sequence",
}  # fmt: skip
"""Claims of a third of a second and more; `zwang reproduce` and the report of every night compute all of them."""


@pytest.mark.parametrize(
    "item", by_day(QUICK, [item for item in QUICK if item.id not in AT_NIGHT]), ids=lambda item: item.id
)
def test_the_verdict_of_every_quick_claim_is_the_recorded_one(item: Claim) -> None:
    record = item.run()
    assert not record.failure, record.failure
    assert record.verdict is item.recorded, record
    assert record.computed or record.verdict is Verdict.NOT_CHECKABLE
    # a correction, a counterexample or a reason
    assert record.remark or record.verdict in (Verdict.CONFIRMED, Verdict.ADDED)
    for what, other in other_expectations(record.finding):
        assert other.verdict is not record.verdict, f"'{what}' and its opposite get one verdict"
    assert record.residual <= 1e-6
    assert set(record.asked) == set(item.systems)  # so that a reader, and a mutation, finds the claims of a system


@pytest.mark.parametrize("item", papers.claims(), ids=lambda item: item.id)
def test_every_claim_says_what_it_is_about(item: Claim) -> None:
    assert re.fullmatch(r"00[0-4](-[a-z0-9]+)+", item.id)
    assert item.place and item.printed
    assert (item.statement.rstrip("`").endswith(".") and item.statement[0].isupper()) or item.statement[0] == "`"
    assert set(item.systems) <= set(zw.gallery.names())
    assert all(re.fullmatch(r"(ivanov|burian2017|burian2024|kozlov|salnikova)-\w+", row) for row in item.errata)
    for text in (item.statement, item.printed, item.new):
        assert text.count("`") % 2 == 0


# Rows of an independent check of each paper that are more than misprints: mathematically wrong statements and wrong
# formulas or numbers. Each is reproduced by a claim that does not confirm the print.
SUBSTANTIVE = {
    "ivanov": (1, 4, 5, 6, 7, 9, 10, 11, 12, 14, 18, 19, 20, 21, 22, 23, 24, 27, 31, 33, 34, 35, 36),
    "burian2017": tuple(range(1, 18)),
    "burian2024": tuple(range(1, 14)),
    "kozlov": (1, 2, 3),
    "salnikova": (1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18),
}


@pytest.mark.parametrize(("list_", "rows"), SUBSTANTIVE.items())
def test_every_substantive_erratum_is_reproduced(list_: str, rows: tuple[int, ...]) -> None:
    found = {row for item in papers.claims() for row in item.errata if item.recorded is not Verdict.CONFIRMED}
    assert {f"{list_}-{row}" for row in rows} <= found


def test_ids_are_unique() -> None:
    ids = [item.id for item in papers.claims()]
    assert len(ids) == len(set(ids))


# --- the verdict follows from comparisons ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("comparisons", "corrected", "verdict"),
    [
        ((as_printed("x", 1.0, 1.0),), "", "confirmed"),
        ((as_printed("x", 1.0, 2.0), as_corrected("x", 1.0, 1.0)), "x = 1", "corrected"),
        ((as_printed("x", 1.0, 2.0), as_corrected("x", 1.0, 1.5)), "x = 1.5", "refuted"),
        ((as_printed("x", 1.0, 2.0), as_corrected("x", 1.0, 1.0)), "", "refuted"),
        ((as_printed("x", 1.0, 2.0),), "", "refuted"),
        ((as_printed("x", 1.0, 1.0), sound("y", False)), "", "not checkable"),
        ((sound("y", True),), "", "not checkable"),
        ((as_added("x", 1.0, 1.0),), "", "added"),
        ((as_added("x", 1.0, 2.0),), "", "refuted"),
        ((as_printed("x", 1.0, 1.0), as_added("y", 1.0, 2.0)), "", "refuted"),
        ((as_added("x", 1.0, 1.0), sound("y", False)), "", "not checkable"),
        ((as_printed("x", float("nan"), 1.0),), "", "refuted"),
        ((as_printed("x", [1.0, 2.0], [1.0]),), "", "refuted"),
        ((as_printed("word", "none", "one"),), "", "refuted"),
    ],
)
def test_the_verdict_is_a_function_of_the_comparisons(comparisons: tuple, corrected: str, verdict: str) -> None:
    assert Finding(computed="", comparisons=comparisons, corrected=corrected).verdict.value == verdict


def test_a_comparison_that_fails_says_so_where_nobody_gave_a_counterexample() -> None:
    finding = Finding(computed="", comparisons=(as_printed("x", 1.0, 2.0),))
    assert finding.remark == "x: computed 1.0, expected 2.0"


def failing() -> Claim:
    def compute(shop: papers.Workshop) -> Finding:
        raise ZeroDivisionError("by zero")

    return Claim("001-fails", "nowhere", "It fails.", "-", Verdict.NOT_CHECKABLE, compute)


def test_a_computation_that_raises_is_not_checkable_and_never_agrees() -> None:
    record = failing().run()
    assert record.verdict is Verdict.NOT_CHECKABLE and not record.agrees
    assert "ZeroDivisionError: by zero" in record.failure and "ZeroDivisionError" in record.remark


# --- the list --------------------------------------------------------------------------------------------------------


def test_unknown_papers_claims_and_systems_are_named_with_the_nearest() -> None:
    with pytest.raises(DeclarationError, match="There is no paper '007': they are 000, 001"):
        papers.claims("007")
    with pytest.raises(DeclarationError, match="no claim '001-ex1-slck'. Did you mean '001-ex1-slack'"):
        papers.get("001-ex1-slck")
    with pytest.raises(DeclarationError, match="The gallery has no 'atwod'. Did you mean 'atwood'"):
        papers.get("001-ex1-slack").run(systems={"atwod": zw.gallery.get("atwood").system})
    with pytest.raises(DeclarationError, match="'ladder' of the gallery has no value 'muu'"):
        papers.Workshop().ask("ladder", muu=1)
    with pytest.raises(DeclarationError, match="an id begins with one of 000"):
        Claim("007-x", "", "", "", Verdict.CONFIRMED, lambda shop: Finding(computed=""))


def test_a_claim_goes_to_another_process_by_its_id() -> None:
    item = papers.get("001-ex1-slack")
    assert pickle.loads(pickle.dumps(item)) is item


# --- the ledger and the command --------------------------------------------------------------------------------------

KEYS = {"id", "paper", "place", "statement", "printed", "computed", "verdict", "residual", "seconds"}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, str]:
    pytest.importorskip("matplotlib")
    folder = tmp_path_factory.mktemp("reproduce")
    out, ledger = folder / "report.html", folder / "ledger.json"
    chosen = ["001-ex1-slack", "001-ex2-second-data"]
    options = [part for id in chosen for part in ("--claim", id)]
    done = CliRunner().invoke(
        main, ["reproduce", "--jobs", "1", *options, "--out", str(out), "--json", str(ledger)], catch_exceptions=False
    )
    assert done.exit_code == 0, done.output
    return out, ledger, done.output


def test_the_ledger_has_the_promised_form(written: tuple[Path, Path, str]) -> None:
    ledger = json.loads(written[1].read_text(encoding="utf-8"))
    assert [set(row) for row in ledger["claims"]] == [KEYS, KEYS]
    row = ledger["claims"][0]
    assert row["paper"] == "001" and row["verdict"] == "corrected" and "`" not in row["printed"]
    assert isinstance(row["residual"], float) and isinstance(row["seconds"], float)
    assert ledger["details"]["001-ex1-slack"]["errata"] == ["ivanov-1"]
    assert ledger["verdicts"] == {"corrected": 2}


def test_the_command_prints_a_table_with_costs_and_a_sum(written: tuple[Path, Path, str]) -> None:
    assert re.search(r"001-ex1-slack +example 1, after \(1\.12\) +corrected +\d\S+ +\d+\.\d\d", written[2])
    assert "2 claims: 2 corrected" in written[2]


def test_the_report_shows_question_answer_claims_and_ledger(written: tuple[Path, Path, str]) -> None:
    text = written[0].read_text(encoding="utf-8")
    assert text.count("<article") == 2 and 'class="question"' in text and 'class="answer"' in text
    assert 'id="ledger"' in text and "<math" in text and "<svg" in text
    assert set(re.findall(r'href="#([^"]+)"', text)) <= set(re.findall(r'id="([^"]+)"', text))
    assert not re.search(r"<(script|link|iframe)|@import|url\((?!#)", text)


def test_a_verdict_that_differs_from_the_recorded_one_ends_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    from zwang._report.computation import compute
    from zwang.cli import reproduce

    wrong = failing()
    monkeypatch.setattr(papers, "get", lambda id: wrong)
    monkeypatch.setattr(reproduce, "compute", lambda claims, **options: compute(claims, **{**options, "jobs": 0}))
    done = CliRunner().invoke(main, ["reproduce", "--jobs", "1", "--claim", "001-fails"])
    assert done.exit_code == 1
    assert "001-fails: not checkable" in done.output and "ZeroDivisionError" in done.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--paper", "007"], "no paper '007'"),
        (["--claim", "001-nothing"], "no claim '001-nothing'"),
        (["--jobs", "0"], "--jobs"),
    ],
)
def test_wrong_usage_ends_with_2(arguments: list[str], message: str) -> None:
    done = CliRunner().invoke(main, ["reproduce", *arguments])
    assert done.exit_code == 2 and message in done.output


def test_the_list_computes_nothing() -> None:
    done = CliRunner().invoke(main, ["reproduce", "--paper", "001", "--list"])
    assert done.exit_code == 0 and "001-ex1-slack" in done.output


@pytest.mark.nightly
def test_two_processes_give_what_one_gives() -> None:
    from zwang._report.computation import compute

    chosen = [papers.get("001-ex1-beta"), papers.get("001-ex2-mass")]
    one, two = compute(chosen), compute(chosen, jobs=2)
    assert [record.computed for record in one] == [record.computed for record in two]
    assert [record.claim for record in two] == chosen
