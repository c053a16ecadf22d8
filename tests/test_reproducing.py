"""Claims shared out to processes, and the journal that keeps what was computed of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from zwang import papers
from zwang._report import journal
from zwang._report.computation import compute, together
from zwang._report.journal import Journal
from zwang._results.stream_draft import Draft
from zwang.errors import DeclarationError


def test_claims_of_a_module_stay_together() -> None:
    claims = papers.claims("003")
    groups = together(claims)
    assert sorted(item.id for group in groups for item in group) == sorted(item.id for item in claims)
    modules = [{item.compute.__module__ for item in group} for group in groups]
    assert all(len(names) == 1 for names in modules) and len(modules) == len(set.union(*modules))


IDS = ("001-ex1-slack", "001-ex1-beta", "001-ex2-mass")


def test_records_come_back_from_the_journal_as_they_were(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    records = compute([papers.get(id) for id in IDS], pictures=True)
    written = Journal(tmp_path / "ledger.json", full=False, pictures=True)
    for record in records:
        written.add(record)
    written.close(keep=True)
    again = Journal(tmp_path / "ledger.json", full=False, pictures=True)
    assert set(again.known) == set(IDS)
    kept = compute([papers.get(id) for id in IDS], known=again.known, run=None)  # type: ignore[arg-type]
    assert papers.ledger(kept) == papers.ledger(records)
    for one, other in zip(kept, records, strict=True):
        assert [item.make() for item in one.pictures] == [item.make() for item in other.pictures]
        assert (one.agrees, one.asked, one.remark) == (other.agrees, other.asked, other.remark)
    again.close(keep=False)
    assert list(tmp_path.iterdir()) == []


def test_a_journal_is_taken_only_for_the_same_question_and_the_same_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = compute([papers.get(IDS[0])])[0]

    def known(**options: bool) -> set[str]:
        first = Journal(tmp_path / "ledger.json", full=False, pictures=False)
        first.add(record)
        first.close(keep=True)
        second = Journal(tmp_path / "ledger.json", **{"full": False, "pictures": False, **options})
        second.close(keep=True)
        return set(second.known)

    assert known() == {IDS[0]}
    assert known(full=True) == known(pictures=True) == known(fresh=True) == set()
    digest = journal._digest()
    changed = iter([digest, "another"])
    monkeypatch.setattr(journal, "_digest", lambda: next(changed))
    assert known() == set()


def test_records_that_failed_or_hold_what_no_file_can_are_computed_again(tmp_path: Path) -> None:
    record = compute([papers.get(IDS[0])])[0]
    strange = replace(record.finding, data={"z": np.array([1j])})
    kept = Journal(tmp_path / "ledger.json", full=False, pictures=False)
    kept.add(replace(record, failure="ZeroDivisionError"))
    kept.add(replace(record, finding=strange))
    kept.add(replace(record, finding=replace(record.finding, data={"z": object()})))
    kept.close(keep=True)
    assert list(tmp_path.iterdir()) == []  # nothing was kept


def test_a_journal_that_was_cut_goes_on_after_its_last_whole_record(tmp_path: Path) -> None:
    records = compute([papers.get(id) for id in IDS])
    first = Journal(tmp_path / "ledger.json", full=False, pictures=False)
    for record in records[:2]:
        first.add(record)
    first.close(keep=True)
    data = first.path.read_bytes()
    first.path.write_bytes(data[:-5])
    second = Journal(tmp_path / "ledger.json", full=False, pictures=False)
    assert set(second.known) == set(IDS[:1])
    second.add(records[2])
    second.close(keep=True)
    third = Journal(tmp_path / "ledger.json", full=False, pictures=False)
    assert set(third.known) == {IDS[0], IDS[2]}
    with pytest.raises(DeclarationError, match="is being written by another run. Give another path."):
        Journal(tmp_path / "ledger.json", full=False, pictures=False)
    third.close(keep=False)


def test_what_is_no_draft_of_ours_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "ledger.json.part").write_text("my own notes")
    with pytest.raises(DeclarationError, match="is in the way: it is no draft of zwang's. Move it"):
        Journal(tmp_path / "ledger.json", full=False, pictures=False)
    assert (tmp_path / "ledger.json.part").read_text() == "my own notes"
    (tmp_path / "begun.part").write_bytes(b"zwang str")  # killed while its first line was written
    Draft(tmp_path / "begun.part").remove()
