"""What a limit study refuses, and what it says then; the command line."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner

import zwang as zw
from zwang.cli import main

ENTRY = zw.gallery.get("kozlov_neishtadt")


def study(**changes):
    given = {"constraint": "floor", "state": ENTRY.state, "by": zw.Stiffness, "until": 1.0} | changes
    constraint, state = given.pop("constraint"), given.pop("state")
    return zw.limit(given.pop("system", ENTRY.system), constraint, state, given.pop("params", {}), **given)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"constraint": "flor"}, "there is no constraint 'flor'"),
        ({"by": zw.Viscosity}, "'floor' is a constraint on positions, and Viscosity makes constraints on velocities"),
        ({"by": zw.Stiffness(1e3)}, "was given the strength 1000; a limit study tries several"),
        ({"by": 7}, "by= must be Stiffness, Viscosity"),
        ({"strengths": [1e3, 1e4]}, "a limit needs at least 3 different strengths to fit an order; 2 given"),
        ({"strengths": [1e3, 1e3, 1e3]}, "1 given"),
        ({"strengths": [-1.0, 1e3, 1e4]}, "strengths= must be a finite number greater than 0; it was given -1.0"),
        ({"strengths": [0.0, 1e3, 1e4]}, "strengths= must be a finite number greater than 0; it was given 0.0"),
        ({"strengths": "many"}, "strengths= must be a sequence of numbers"),
        ({"cells": 2}, "cells= must be a whole number at least 8"),
        ({"until": -1.0}, "until"),
        ({"state": {**ENTRY.state, "x": [0.0, 1.0]}}, "limit takes one state"),
        ({"system": 3}, "limit needs a System"),
    ],
)
def test_mistakes_are_named_with_what_was_needed(changes: dict, words: str):
    with pytest.raises(zw.DeclarationError, match=re.escape(words)):
        study(**changes)


def test_a_velocity_constraint_is_not_made_by_a_spring():
    sleigh = zw.gallery.get("sleigh")
    with pytest.raises(zw.DeclarationError, match=r"'blade' is a constraint on velocities"):
        zw.limit(sleigh.system, "blade", sleigh.state, sleigh.params, by=zw.Stiffness, until=1.0)


def test_a_start_off_the_constraint_is_a_state_error_with_its_cure():
    with pytest.raises(zw.StateError, match=r"off constraint 'floor' by 1\.0e-01"):
        study(state={**ENTRY.state, "y": 0.1})


def test_a_class_that_needs_more_than_a_strength_is_named():
    class Odd:
        def __init__(self, strength, other):
            """Need two arguments."""

    with pytest.raises(zw.DeclarationError, match=r"by=Odd can't be given a strength alone"):
        study(by=Odd)


@pytest.mark.parametrize(("error", "words"), [(0.0, "greater than 0"), ("small", "greater than 0")])
def test_recommend_needs_an_error_above_zero(error, words: str):
    with pytest.raises(zw.DeclarationError, match=words):
        zw.recommend(ENTRY.system, "floor", ENTRY.state, error=error, until=1.0)


def test_recommend_refuses_batches_and_what_is_no_system():
    with pytest.raises(zw.DeclarationError, match="recommend takes one state"):
        zw.recommend(ENTRY.system, "floor", {**ENTRY.state, "x": [0.0, 1.0]}, until=1.0)
    with pytest.raises(zw.DeclarationError, match="recommend needs a System"):
        zw.recommend(3, "floor", ENTRY.state, until=1.0)


def test_command_prints_orders_as_text_and_as_json():
    words = ["limit", "kozlov_neishtadt", "--constraint", "floor", "--until", "1", "--strengths", "1e4,1e5,1e6"]
    shown = CliRunner().invoke(main, words)
    assert shown.exit_code == 0, shown.output
    assert "order -1.000" in shown.output
    plain = json.loads(CliRunner().invoke(main, [*words, "--json"]).stdout)
    assert plain["orders"]["velocity"]["value"] == pytest.approx(-0.5, abs=0.01)


def test_command_recommends_and_refuses_unknown_ways():
    words = ["limit", "kozlov_neishtadt", "--constraint", "floor", "--until", "1"]
    found = json.loads(CliRunner().invoke(main, [*words, "--recommend", "1e-3", "--json"]).stdout)
    assert found["status"] == "VERIFIED"
    wrong = CliRunner().invoke(main, [*words, "--by", "Glue"])
    assert wrong.exit_code == 2
    assert "no realization 'Glue'" in wrong.output
    wrong = CliRunner().invoke(main, [*words, "--other-side", "1"])
    assert "Stiffness doesn't take" in wrong.output
    drawn = CliRunner().invoke(main, [*words, "--recommend", "1e-3", "--plot", "no.png"])
    assert "--plot draws a study" in drawn.output
