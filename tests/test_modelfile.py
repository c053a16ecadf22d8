"""Model files: what they may say, what comes back, and the message for every mistake."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from zwang import _expressions, _modelfile
from zwang.errors import DeclarationError

FREE = 'schema = 1\nname = "free"\ncoordinates = ["x", "y"]\nkinetic = "m*(v_x**2 + v_y**2)/2"\n'

FULL: dict[str, Any] = {
    "schema": 1,
    "name": 'a "rod"\\ of Painlevé',
    "coordinates": ["x", "y", "theta"],
    "angles": ["theta"],
    "kinetic": "m*(v_x**2 + v_y**2)/2 + J*v_theta**2/2",
    "potential": "m*g*y",
    "define": {"height": "y - l*sin(theta)", "foot": "x - l*cos(theta)"},
    "forces": {"theta": "-c*v_theta"},
    "constraint": [
        {
            "kind": "unilateral",
            "name": "tip",
            "expr": "height",
            "restitution": "0",
            "friction": {"coefficient": "mu", "slip": ["rate(foot)"], "scale": "2"},
        },
        {"kind": "bilateral", "name": "string", "expr": "x**2 + y**2 - 1"},
        {"kind": "friction", "name": "brake", "bound": "10", "slip": ["v_x", "v_y"]},
    ],
    "params": {"m": 1.0, "J": 1e-05, "g": 9.81, "l": 2, "mu": 1e22, "c": -0.5},
    "state": {"x": 0.1, "v_theta": -3, "t": 0.0},
}

EQUATIONS: dict[str, Any] = {
    "schema": 1,
    "name": "kane",
    "coordinates": ["x", "y"],
    "mass": [["m", "0"], ["0", "m"]],
    "force": ["0", "-m*g"],
}


def message(text: str, where: str = "model.toml") -> str:
    with pytest.raises(DeclarationError) as caught:
        _modelfile.loads(text, where)
    return str(caught.value)


def test_a_dictionary_comes_back_from_its_text() -> None:
    for plain in (FULL, EQUATIONS):
        assert _modelfile.loads(_modelfile.dumps(plain), "model.toml") == plain


def test_the_text_of_a_file_is_a_fixed_point() -> None:
    for plain in (FULL, EQUATIONS):
        text = _modelfile.dumps(plain)
        assert _modelfile.dumps(_modelfile.loads(text, "model.toml")) == text


def test_the_text_does_not_depend_on_the_order_of_the_keys() -> None:
    shuffled = dict(random.Random(3).sample(sorted(FULL.items()), len(FULL)))
    shuffled["constraint"] = [dict(reversed(entry.items())) for entry in FULL["constraint"]]
    assert _modelfile.dumps(shuffled) == _modelfile.dumps(FULL)


def test_a_file_reads_as_a_person_would_write_it() -> None:
    assert _modelfile.dumps(EQUATIONS) == (
        "schema = 1\n"
        'name = "kane"\n'
        'coordinates = ["x", "y"]\n'
        'mass = [\n    ["m", "0"],\n    ["0", "m"],\n]\n'
        'force = ["0", "-m*g"]\n'
    )
    assert '[[constraint]]\nkind = "unilateral"\nname = "tip"\nexpr = "height"\n' in _modelfile.dumps(FULL)
    assert '\n[constraint.friction]\ncoefficient = "mu"\nslip = ["rate(foot)"]\nscale = "2"\n' in _modelfile.dumps(FULL)


def test_numbers_may_stand_for_texts_and_one_slip_without_its_list() -> None:
    text = FREE + 'potential = 0\n[forces]\nx = -1.5\n[[constraint]]\nkind = "friction"\nbound = 10\nslip = "v_x"\n'
    plain = _modelfile.loads(text)
    assert (plain["potential"], plain["forces"]["x"]) == ("0", "-1.5")
    assert plain["constraint"] == [{"kind": "friction", "bound": "10", "slip": ["v_x"]}]


def test_empty_tables_and_lists_are_left_out() -> None:
    plain = _modelfile.loads(FREE + "angles = []\n[define]\n[forces]\n[params]\n[state]\n")
    assert sorted(plain) == ["coordinates", "kinetic", "name", "schema"]


def test_long_expressions_may_be_folded_in_the_file() -> None:
    text = FREE.replace('"m*(v_x**2 + v_y**2)/2"', '"""\n  m*v_x**2/2 + \\\n  m*v_y**2/2"""')
    assert _modelfile.loads(text)["kinetic"].split() == ["m*v_x**2/2", "+", "m*v_y**2/2"]


def test_every_character_of_a_text_survives() -> None:
    odd = "".join(map(chr, range(1, 0x250))) + '\u2028"\\'
    plain = {**EQUATIONS, "force": [odd, "0"]}
    assert _modelfile.loads(_modelfile.dumps(plain)) == plain


# --- files -----------------------------------------------------------------------------------------------------------


def test_a_file_is_written_and_read(tmp_path: Path) -> None:
    path = tmp_path / "model.toml"
    _modelfile.write(path, FULL)
    _modelfile.write(path, FULL)
    assert _modelfile.read(path) == FULL
    assert [item.name for item in tmp_path.iterdir()] == ["model.toml"]


def test_a_file_keeps_its_mode_and_a_link_its_target(tmp_path: Path) -> None:
    path, link = tmp_path / "model.toml", tmp_path / "link.toml"
    _modelfile.write(path, FULL)
    path.chmod(0o640)
    link.symlink_to(path)
    _modelfile.write(link, EQUATIONS)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert _modelfile.read(path) == EQUATIONS


def test_a_failed_writing_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.toml"
    _modelfile.write(path, FULL)

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(DeclarationError, match=r"cannot be written: No space left on device\. Free some space"):
        _modelfile.write(path, EQUATIONS)
    assert _modelfile.read(path) == FULL
    assert [item.name for item in tmp_path.iterdir()] == ["model.toml"]


def test_a_folder_that_is_none_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DeclarationError, match="cannot be written: there is no folder"):
        _modelfile.write(tmp_path / "file" / "model.toml", FULL)


def test_a_missing_file_names_the_nearest_one(tmp_path: Path) -> None:
    with pytest.raises(DeclarationError, match=r"rod\.toml: no such file\. There is no model file in that folder\."):
        _modelfile.read(tmp_path / "rod.toml")
    _modelfile.write(tmp_path / "rod.toml", FULL)
    with pytest.raises(DeclarationError, match=r"rodd\.toml: no such file\. Did you mean 'rod\.toml'\?"):
        _modelfile.read(tmp_path / "rodd.toml")


def test_a_folder_in_the_place_of_a_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DeclarationError, match=r"cannot be read: Is a directory\. Give the path of a readable file"):
        _modelfile.read(tmp_path)


def test_a_file_in_another_encoding_is_named(tmp_path: Path) -> None:
    path = tmp_path / "model.toml"
    path.write_bytes(FREE.replace("free", "frei\u00e4").encode("latin-1"))
    with pytest.raises(DeclarationError, match=r"not a text in UTF-8 \(byte 23\)\. Save it as UTF-8"):
        _modelfile.read(path)


@pytest.mark.parametrize("start", [b"PK\x03\x04", b"\x89HDF\r\n\x1a\n", b"CDF\x01", b"SQLite format 3\x00"])
def test_the_file_of_a_result_is_told_from_a_model(start: bytes, tmp_path: Path) -> None:
    path = tmp_path / "motion.nc"
    path.write_bytes(start + bytes(64))
    with pytest.raises(DeclarationError, match=r"not a model\. Read a result with zwang\.load_result"):
        _modelfile.read(path)


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "model.toml"
    path.write_text(FREE, encoding="utf-8-sig")
    assert _modelfile.read(path)["name"] == "free"


# --- mistakes --------------------------------------------------------------------------------------------------------

MISTAKES = {
    # Not TOML: the line and the column.
    "schema = 1\nname = rod": "model.toml: not TOML: Invalid value (at line 2, column 8). Correct it there.",
    FREE + 'potential = "': "Unterminated string (at line 5, column 14). Correct it there.",
    FREE + "kinetic = 1": "not TOML: Cannot overwrite a value (at line 5, column 12)",
    "x = " + "[" * 5000: "model.toml: not TOML: it is nested too deeply. Correct it there.",
    # The schema.
    "": "model.toml: no schema; this zwang reads schema = 1 and 2. Begin with schema = 2.",
    "schema = 3": "model.toml: schema = 3; this zwang reads schema = 1 and 2.",
    "schema = true": "model.toml: schema = True; this zwang reads schema = 1 and 2.",
    # Keys.
    FREE + 'potental = "0"': "model.toml: the top level has the unknown key 'potental'. Did you mean 'potential'?",
    FREE + "[parameters]": "model.toml: 'parameters' belongs to schema 2, and the file has 1. Write schema = 2.",
    FREE + "[forces]\nz = 0": "model.toml: [forces] has 'z', which is no coordinate. Known: 'x', 'y'.",
    FREE + "[state]\nv_z = 0": "[state] has 'v_z', which is no coordinate, velocity or t. Did you mean 'v_",
    FREE + 'angles = ["z"]': "model.toml: angles has 'z', which is no coordinate. Known: 'x', 'y'.",
    FREE.replace('name = "free"', ""): "model.toml: the top level lacks the key 'name'. Add name = ...",
    FREE.replace("kinetic", "potential"): "needs either kinetic (and potential), or mass and force; it has potential.",
    FREE.replace(
        "kinetic", "name2 = 0 #"
    ): "model.toml: the top level has the unknown key 'name2'. Did you mean 'name'?",
    FREE + "force = [0, 0]": "or mass and force; it has kinetic, force.",
    "schema = 1\nname = 'a'\ncoordinates = ['x']": "or mass and force; it has none of them.",
    # Types.
    FREE.replace('"free"', "3"): "the top level: 'name' must be a printable text; it is 3.",
    FREE.replace('"free"', '"a\\nb"'): "the top level: 'name' must be a printable text; it is 'a\\nb'.",
    FREE.replace('["x", "y"]', '"x"'): "the top level: 'coordinates' must be a list of texts; it is 'x'.",
    FREE.replace('["x", "y"]', "[]"): "the top level: 'coordinates' must be at least one name; it is [].",
    FREE + "potential = true": "the top level: 'potential' must be a text or a finite number; it is True.",
    FREE + "potential = nan": "the top level: 'potential' must be a text or a finite number; it is nan.",
    FREE + "potential = 1979-05-27": "'potential' must be a text or a finite number; it is datetime.date(1979, 5, 27).",
    FREE + "params = 3": "model.toml: [params] must be a table; it is 3.",
    FREE + '[params]\nm = "1"': "model.toml: [params]: 'm' must be a finite number; it is '1'.",
    FREE + "[params]\nm = inf": "model.toml: [params]: 'm' must be a finite number; it is inf.",
    FREE + f"[params]\nm = 1{'0' * 400}": "[params]: 'm' must be a finite number; it is 100000",
    FREE + f"[params]\nm = 0x{'f' * 5000}": "[params]: 'm' must be a finite number; it is an enormous number.",
    FREE + '[params]\npotential = "0"': "it is '0'. Move 'potential' above the first table.",
    FREE + "constraint = 3": "model.toml: 'constraint' must be a list of tables [[constraint]]; it is 3.",
    FREE + "constraint = [3]": "model.toml: constraint 1 must be a table; it is 3.",
    FREE.replace(
        "kinetic", "force = [0, 0]\nmass"
    ): "'mass' must be a list of 2 rows, one for each coordinate; it is 'm*",
    'schema = 1\nname = "a"\ncoordinates = ["x"]\nmass = [[1, 2]]\nforce = [0]': (
        "the top level: 'mass' must be a list of 1 entries, one for each coordinate; it is [1, 2]."
    ),
    'schema = 1\nname = "a"\ncoordinates = ["x"]\nmass = [[1]]\nforce = [0, 1]': (
        "the top level: 'force' must be a list of 1 entries, one for each coordinate; it is [0, 1]."
    ),
    # Names.
    FREE.replace('"y"', '"x"'): "model.toml: the coordinate 'x' has the name of another coordinate. Choose another.",
    FREE.replace('"y"', '"v_x"'): "model.toml: the coordinate 'v_x' has the name of a velocity. Choose another.",
    FREE.replace('"y"', '"t"'): "model.toml: the coordinate 't' has the name of the time. Choose another.",
    FREE.replace('"y"', '"sin"'): "the coordinate 'sin' has the name of a function. Choose another, such as 'sin_'.",
    FREE.replace('"y"', '"lambda"'): "the coordinate 'lambda' has the name of a keyword of Python. Choose another",
    FREE.replace('"y"', '"y 1"'): "model.toml: the coordinate 'y 1' cannot be written in an expression. Choose a name",
    FREE + "[params]\nx = 1": "the parameter 'x' has the name of a coordinate. Move its value to [state].",
    FREE
    + "[params]\nE = 2e11": "model.toml: the parameter 'E' has the name of a constant. Choose another, such as 'E_'.",
    FREE + '[params]\na = 1\n[define]\na = "x"': "the parameter 'a' has the name of a definition. Choose another.",
    # Definitions.
    FREE + '[define]\nx = "y"': "model.toml: the definition 'x' has the name of a coordinate. Choose another.",
    FREE + '[define]\nv_x = "y"': "model.toml: the definition 'v_x' has the name of a velocity. Choose another.",
    FREE + '[define]\nt = "y"': "model.toml: the definition 't' has the name of the time. Choose another.",
    FREE + '[define]\npi = "y"': "the definition 'pi' has the name of a constant. Choose another, such as 'pi_'.",
    FREE + '[define]\ncos = "y"': "the definition 'cos' has the name of a function. Choose another, such as 'cos_'.",
    FREE + '[define]\nrate = "y"': "model.toml: the definition 'rate' has the name of a function. Choose another.",
    FREE + '[define]\na = "b"\nb = "2*a"': "model.toml: definitions go in a circle: a -> b -> a. Write one of them",
    FREE + '[define]\na = "1"\nb = "b"': "model.toml: definitions go in a circle: b -> b.",
    FREE + '[define]\na = "x.real"': "model.toml: definition 'a': '.' at column 2 of 'x.real'.",
}

CONSTRAINTS = {
    'expr = "x"': "model.toml: constraint 1 lacks the key 'kind'. Add kind = ...",
    'kind = "bilatral"': "model.toml: constraint 1 has the unknown kind 'bilatral'. Did you mean 'bilateral'?",
    "kind = 1": "model.toml: constraint 1 has the unknown kind 1. Known: 'bilateral', 'unilateral', 'friction'.",
    'kind = "bilateral"\nexp = "x"': "model.toml: constraint 1 has the unknown key 'exp'. Did you mean 'expr'?",
    'kind = "bilateral"\nname = "rod"': "model.toml: constraint 'rod' lacks the key 'expr'. Add expr = ...",
    'kind = "bilateral"\nname = ""\nexpr = "x"': "constraint 1: 'name' must be a printable text; it is ''.",
    'kind = "bilateral"\nexpr = ["x"]': "constraint 1: 'expr' must be a text or a finite number; it is ['x'].",
    'kind = "bilateral"\nname = "rod"\nexpr = "x"\nrestitution = 0': (
        "constraint 'rod' is bilateral, and 'restitution' belongs to kind unilateral. Remove one of the two."
    ),
    'kind = "friction"\nbound = 1\nslip = ["v_x"]\nexpr = "x"': (
        "constraint 1 is friction, and 'expr' belongs to kind bilateral or unilateral."
    ),
    'kind = "friction"\nslip = ["v_x"]': "constraint 1 lacks the key 'bound'. Add bound = ...",
    'kind = "friction"\nbound = 1\nslip = []': "constraint 1: 'slip' must be one or two texts; it is [].",
    'kind = "unilateral"\nexpr = "x"\nfriction = 0.3': "model.toml: constraint 1, friction must be a table; it is 0.3.",
    'kind = "unilateral"\nexpr = "x"\n[constraint.friction]\nslip = "v_y"': (
        "constraint 1, friction lacks the key 'coefficient'. Add coefficient = ..."
    ),
    'kind = "unilateral"\nexpr = "x"\n[constraint.friction]\ncoeficient = 1\nslip = "v_y"': (
        "constraint 1, friction has the unknown key 'coeficient'. Did you mean 'coefficient'?"
    ),
    'kind = "unilateral"\nname = "a"\nexpr = "x"\n[[constraint]]\nkind = "bilateral"\nname = "a"\nexpr = "y"': (
        "model.toml: two constraints are called 'a'. Give each its own name."
    ),
}


@pytest.mark.parametrize("text", MISTAKES, ids=lambda text: text[-30:])
def test_a_mistake_in_a_file_is_named_with_its_cure(text: str) -> None:
    assert MISTAKES[text] in message(text)


@pytest.mark.parametrize("text", CONSTRAINTS)
def test_a_mistake_in_a_constraint_is_named_with_its_cure(text: str) -> None:
    assert CONSTRAINTS[text] in message(f"{FREE}[[constraint]]\n{text}\n")


def test_what_cannot_be_read_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(DeclarationError, match="rod: the top level has the unknown key 'kinetik'"):
        _modelfile.write(tmp_path / "model.toml", {**EQUATIONS, "name": "rod", "kinetik": "0"})
    with pytest.raises(DeclarationError, match="'force' must be a text or a finite number"):
        _modelfile.write(tmp_path / "model.toml", {**EQUATIONS, "force": ["\ud800", "0"]})
    assert not list(tmp_path.iterdir())


# --- definitions -----------------------------------------------------------------------------------------------------


def test_definitions_come_after_those_they_use() -> None:
    define = {"d": "b + c", "b": "2*a", "c": "a + x", "a": "sin(x)", "e": "1"}
    order = _modelfile.definition_order(define, _expressions.names)
    assert sorted(order) == sorted(define)
    for name, text in define.items():
        assert all(order.index(used) < order.index(name) for used in _expressions.names(text) & define.keys())


def test_the_order_of_the_file_stays_where_it_can() -> None:
    assert _modelfile.definition_order({"b": "1", "c": "x", "a": "b"}, _expressions.names) == ["b", "c", "a"]


def test_chains_of_thousands_of_definitions_are_ordered_without_recursion() -> None:
    define = {f"a{i}": f"a{i + 1} + 1" for i in range(5000)} | {"a5000": "x"}
    assert _modelfile.definition_order(define, lambda text: {text.split()[0]})[0] == "a5000"


def test_a_circle_is_named_without_the_way_to_it() -> None:
    define = {"a": "b", "b": "c", "c": "d", "d": "b"}
    with pytest.raises(DeclarationError, match=r"^definitions go in a circle: b -> c -> d -> b\. Write one of them"):
        _modelfile.definition_order(define, _expressions.names)
