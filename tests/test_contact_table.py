"""Modes and the table of contact: one numbering, words for people, one line per law."""

import pytest

import zwang as zw
from night import by_day
from zwang._declare.contact_table import table_of
from zwang._numerics.contact.modes import MODES, PULLS, WORDS, Level, Mode, Side, slip_mode


@pytest.mark.parametrize("mode", Mode)
def test_a_mode_and_its_sign_of_the_normal_force_come_apart_and_together_again(mode):
    assert mode.plain.pulling(mode.pulls) is mode
    assert mode.plain + PULLS * mode.pulls == mode
    assert not mode.plain.pulls
    assert MODES[mode.word] is mode


def test_words_of_modes_are_those_of_the_contract():
    assert [Mode(k).word for k in range(6)] == ["open", "closed", "stick", "slip", "slip+", "slip-"]
    assert {WORDS[mode] for mode in Mode if mode.pulls} == {
        f"{word} (N<0)" for word in ("closed", "stick", "slip", "slip+", "slip-")
    }


def test_only_slips_along_a_line_have_a_sign():
    assert [mode.sign for mode in Mode if mode.sign] == [1, -1, 1, -1]
    assert [mode for mode in Mode if mode.slips and not mode.sign] == [Mode.SLIP, Mode.SLIP_PULLS]
    assert [slip_mode(1, x) for x in (2.0, -2.0)] == [Mode.SLIP_PLUS, Mode.SLIP_MINUS]


@pytest.mark.parametrize("name", by_day(zw.gallery.names(), zw.gallery.names()[::9]))
def test_table_numbers_normals_slips_and_laws_as_the_terms_have_them(name):
    entry = zw.gallery.get(name)
    table = table_of(entry.system)
    lines, items = table.arrays, entry.system.constraints
    assert table.names == tuple(str(item.name) for item in items)
    terms = zw.compile(entry.system, "reference").terms(entry.state, entry.params)
    assert sum(lines.normal >= 0) == len(terms.value)
    assert lines.components.sum() == len(terms.slip)
    assert sum(lines.law >= 0) == len(terms.bounds)
    for number, (line, item) in enumerate(zip(table.places, items, strict=True)):
        assert (line.side is Side.BOUND) == isinstance(item, zw.Friction)
        assert (line.side is Side.BILATERAL) == isinstance(item, zw.Bilateral)
        assert line.side is Side.BOUND or (line.level is Level.POSITION) == (item.level == "position")
        assert len(line.slips) == len(item.slip) and (line.law >= 0) == bool(item.slip)
        assert line.of == ((line.normal,) if line.normal >= 0 and item.slip else ())
        assert line.normal < 0 or table.of_normal(line.normal) == number
        assert line.law < 0 or table.of_law(line.law) == number
        assert all(table.of_slip[slip] == number for slip in line.slips)
        parts = lines.side, lines.level, lines.normal, lines.law
        assert [int(part[number]) for part in parts] == [line.side, line.level, line.normal, line.law]
    assert [int((row >= 0).sum()) for row in lines.of] == [len(line.of) for line in table.places]
