"""The ledger can fail, statement by statement: what is printed, turned into its opposite, gets another verdict.

Two kinds of opposites. What a comparison expects is flipped: not so, the other sign, something where nothing is
expected. And the inequalities inside a comparison are turned round in its source, one by one, so that a statement on
all of nothing is found out.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import Any

import pytest

from statement_opposites import other_expectations
from zwang import papers
from zwang.papers import Claim, Comparison, Finding, Workshop

OPPOSITE = {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
SIDES = {"as_printed", "as_corrected", "as_added"}
# Claims that cost little and state something by inequalities, from every paper.
SAMPLE = (
    "000-thm1-frictionless",
    "000-thm1-friction",
    "001-thm12-one-contact",
    "001-thm13-no-self-stress",
    "002-string-crossing",
    "002-string-stays",
    "003-limits-do-not-commute",
    "004-figure-1",
    "004-figure-2",
    "004-figure-5",
    "004-rate",
    "004-sign-by-sign",
    "004-extra-condition",
)


class Turning(ast.NodeTransformer):
    """Puts the opposites of a comparison's inequalities beside it."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if not (isinstance(node.func, ast.Name) and node.func.id in SIDES):
            return node
        places = [k for k, one in enumerate(ast.walk(node.args[1])) if isinstance(one, ast.Compare)]
        turned = [lazy(turned_at(node, k)) for k in places]
        return ast.Call(ast.Name("_with_opposites", ast.Load()), [node, *turned], [])


def turned_at(node: ast.Call, place: int) -> ast.Call:
    made = ast.parse(ast.unparse(node), mode="eval").body
    assert isinstance(made, ast.Call)
    compare = list(ast.walk(made.args[1]))[place]
    assert isinstance(compare, ast.Compare)
    compare.ops = [OPPOSITE.get(type(op), type(op))() for op in compare.ops]
    return made


def lazy(node: ast.expr) -> ast.expr:
    empty = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.Lambda(empty, node)


def opposites(item: Claim, *, full: bool) -> tuple[Finding, list[tuple[Comparison, Comparison]]]:
    """Return the finding of a claim, and each of its comparisons with one of its inequalities turned round."""
    found: list[tuple[Comparison, Comparison]] = []

    def with_opposites(comparison: Comparison, *others: Any) -> Comparison:
        found.extend((comparison, other()) for other in others)
        return comparison

    tree = ast.parse(textwrap.dedent(inspect.getsource(item.compute)))
    (function,) = tree.body
    assert isinstance(function, ast.FunctionDef)
    function.decorator_list = []
    code = compile(ast.fix_missing_locations(Turning().visit(tree)), item.id, "exec")
    room: dict[str, Any] = {**vars(inspect.getmodule(item.compute)), "_with_opposites": with_opposites}
    exec(code, room)
    return room[function.name](Workshop(full=full)), found


def check(item: Claim, *, full: bool) -> int:
    finding, pairs = opposites(item, full=full)
    assert finding.verdict is item.recorded
    for what, other in other_expectations(finding):
        assert other.verdict is not finding.verdict, f"{item.id}: '{what}' and its opposite get one verdict"
    for comparison, other in pairs:
        assert not (comparison.holds and other.holds), f"{item.id}: '{comparison.what}' holds turned round too"
    return len(pairs)


def test_the_opposite_of_a_printed_statement_gets_another_verdict() -> None:
    turned = sum(check(papers.get(id), full=False) for id in SAMPLE)
    assert turned >= len(SAMPLE)


def test_a_statement_on_all_of_nothing_is_found_out() -> None:
    empty = papers.as_printed("of no cases", [], [])
    finding = Finding(computed="", comparisons=(empty,))
    assert [other.verdict for _, other in other_expectations(finding)] == [finding.verdict]


@pytest.mark.nightly
@pytest.mark.parametrize("item", papers.claims(), ids=lambda item: item.id)
def test_the_opposite_of_every_printed_statement_gets_another_verdict(item: Claim) -> None:
    check(item, full=False)
