"""Formulas in plain text become MathML: the order is kept, fractions are fractions, what can't be read is code."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from zwang._report.formula_text import rich, text_formula


@pytest.mark.parametrize(
    "text",
    [
        "w1 = min{((m1 - m2) g + m2 gamma)/(m1 + m2), g}",
        "(A w - F, w - A^-1 F)/2 -> min",
        "3^10 = 59049",
        "|T_j| <= mu_j |N_j|",
        "sqrt(4/7) = 0.75593",
        "u' = -q1'' + 1e-9 x",
        "1 + a^2 > mu |a| h",
        "max{a, -g} + sin(theta) - tanh(mu pi/2)",
        "[0.92, 1.04]",
        "N_1 + ... + N_k",
        "30°",
    ],
)
def test_formulas_are_well_formed_mathml(text: str) -> None:
    ElementTree.fromstring(f"<math>{text_formula(text)}</math>".replace("&#x2061;", ""))


def test_a_fraction_takes_the_product_before_it_and_drops_its_brackets() -> None:
    told = text_formula("2 m/(m + 1)")
    assert told.startswith("<mfrac>") and "(" not in told


def test_a_scalar_product_keeps_its_brackets_over_a_fraction_bar() -> None:
    assert "(" in text_formula("(u, v)/2")


def test_brackets_that_close_early_are_kept() -> None:
    assert text_formula("((a + b) + (c + d))/2").count("stretchy") == 4


@pytest.mark.parametrize("text", ["a +", "(a", "zw.papers.claims()[0]", "a ? b", "|a"])
def test_what_is_no_formula_is_shown_as_code(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        text_formula(text)
    assert rich(f"see `{text}`").startswith("see <code>")


def test_powers_of_ten_in_sentences_are_written_as_people_do() -> None:
    assert rich("to 7e-16, in 12e3, no1e5") == "to 7·10<sup>−16</sup>, in 12·10<sup>3</sup>, no1e5"


def test_sentences_have_greek_letters_low_indices_and_real_minus_signs() -> None:
    assert rich("mu m g, T3 = -2 and N_j") == "μ m g, <i>T</i><sub>3</sub> = −2 and <i>N</i><sub>j</sub>"
    assert rich("mu; mu2 or -T") == "μ; μ<sub>2</sub> or −T"
    assert rich("much, mused, ex-1, 3-4, e1.5") == "much, mused, ex-1, 3-4, e1.5"


def test_sentences_are_escaped() -> None:
    assert rich("a < b") == "a &lt; b"
