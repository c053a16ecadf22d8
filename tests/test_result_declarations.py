"""The declaration inside a result's file is read as a model file is: by the whitelist, and nothing is executed."""

from __future__ import annotations

import json
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import zwang as zw
from zwang._declare.model_files import from_dict
from zwang._declare.plain import to_dict
from zwang._results.field_types import fits


@pytest.fixture(scope="module")
def stored(tmp_path_factory) -> Path:
    entry = zw.gallery.get("bouncing_ball")
    motion = zw.simulate(entry.system, entry.state, entry.params, until=0.2)
    return motion.save(tmp_path_factory.mktemp("motions") / "motion.npz")


def edited(stored: Path, target: Path, change: Any) -> Path:
    """Write a copy of a stored motion whose declaration was changed by hand."""
    with np.load(stored) as file:
        arrays = {name: file[name] for name in file.files}
    meta = json.loads(str(arrays.pop("meta")))
    pairs = meta["value"]["fields"]["rows"]["fields"]["declaration"]["map"]
    change(pairs)
    np.savez(target, **arrays, meta=np.array(json.dumps(meta)))
    return target


def put(key: str, value: Any) -> Any:
    def change(pairs: list[Any]) -> None:
        pairs[:] = [pair for pair in pairs if pair[0] != key] + [[key, value]]

    return change


HOSTILE = "__import__('os').system('touch pwned')"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("kinetic", HOSTILE),
        ("potential", HOSTILE),
        ("potential", "().__class__"),
        ("coordinates", {"list": ["y\nimport os", "v"]}),
        ("coordinates", {"list": [HOSTILE]}),
        ("coordinates", {"list": ["lambda"]}),
        ("coordinates", 3),
        ("angles", {"list": ["y;"]}),
        ("name", 'x\n"""\nimport os'),
        ("name", {"list": []}),
        ("forces", {"map": [["y", HOSTILE]]}),
        ("forces", {"map": [[HOSTILE, "0"]]}),
        ("constraint", {"list": [{"map": [["kind", "bilateral"], ["expr", HOSTILE]]}]}),
        ("constraint", {"list": [{"map": [["kind", "exec"], ["expr", "y"]]}]}),
        ("constraint", 7),
        ("schema", 99),
        ("extra", "import os"),
    ],
)
def test_a_hostile_declaration_in_a_result_is_refused(stored, key: str, value: Any, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    motion = zw.load_result(edited(stored, tmp_path / "edited.npz", put(key, value)))
    with pytest.raises(zw.DeclarationError):
        zw.simulate(motion, until=0.3)
    assert not (tmp_path / "pwned").exists()


def test_an_honest_motion_goes_on_from_its_file(stored) -> None:
    motion = zw.simulate(zw.load_result(stored), until=0.3)
    assert motion.end["t"] == 0.3


def test_a_dictionary_is_checked_wherever_it_comes_from() -> None:
    plain = to_dict(zw.gallery.get("four_bar").system)
    assert from_dict(plain) == zw.gallery.get("four_bar").system
    with pytest.raises(zw.DeclarationError, match="must be a mapping"):
        from_dict([1])  # type: ignore[arg-type]
    with pytest.raises(zw.DeclarationError, match="unknown key"):
        from_dict({**plain, "hook": "x"})


def test_an_annotation_by_a_type_statement_is_looked_through() -> None:
    """`type X = ...` of Python 3.12, by which NumPy 2.5 annotates arrays; older ones get something of its shape."""
    alias = types.SimpleNamespace(__value__=NDArray[np.float64])
    assert fits(np.array([1.0]), alias) and not fits(np.array(["a"]), alias) and not fits(1.0, alias)
