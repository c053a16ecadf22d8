"""Claims shared out to processes: each module in one of them, as long as there are enough."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future
from typing import Any

import pytest

from zwang import papers
from zwang._report.reproducing import _shared_out, _together


class Pool:
    """Takes what it is given and answers with it at once, as a process that costs nothing."""

    def __init__(self) -> None:
        self.taken: list[str] = []

    def submit(self, task: Any, id: str, *options: bool) -> Future[str]:
        self.taken.append(id)
        done: Future[str] = Future()
        done.set_result(id)
        return done


def test_claims_of_a_module_stay_together() -> None:
    claims = papers.claims("003")
    groups = _together(claims)
    assert sorted(id for group in groups for id in group) == sorted(item.id for item in claims)
    modules = [{papers.get(id).compute.__module__ for id in group} for group in groups]
    assert all(len(names) == 1 for names in modules) and len(modules) == len(set.union(*modules))


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_every_claim_is_computed_once(jobs: int) -> None:
    groups = [deque("abc"), deque("d"), deque("efghij")]
    pools = [Pool() for _ in range(jobs)]
    found = list(_shared_out(pools, groups, False, False))  # type: ignore[arg-type]
    assert sorted(found) == list("abcdefghij")  # type: ignore[type-var]
    assert sorted(id for pool in pools for id in pool.taken) == list("abcdefghij")
    assert all(pool.taken for pool in pools)


def test_a_process_without_a_module_helps_another() -> None:
    pools = [Pool(), Pool()]
    list(_shared_out(pools, [deque("abcdef")], False, False))  # type: ignore[arg-type]
    assert pools[0].taken[0] == "a" and pools[1].taken[0] == "f"
