"""Files of results that are damaged, forged or old: a clear error or a valid result, and never more memory than meant.

`stored_0_1` holds a small file of every kind of result, written by zwang 0.1; they are read for good.
"""

from __future__ import annotations

import collections
import io
import json
import random
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zwang as zw
from zwang._results import archives, array_shapes, field_types, storage

STORED = Path(__file__).parent / "stored_0_1"
FILES = {path.name: path.read_bytes() for path in sorted(STORED.iterdir())}
ZIPS = [name for name in FILES if name.endswith(".npz")]
LEAVE = {
    "normal_form",
    "inequality",
    "ranges",
    "save",
    "plot",
    "animate",
    "to_xarray",
    "to_pandas",
    "to_csv",
    "complete",
    "plot_pose",
}
WRONG: list[Any] = [
    *(None, True, 0, -1, 10**30, 1.5, "x", "", [], {}, float("nan")),
    *({"float": "nan"}, {"float": "inf"}, {"float": "zz"}, {"float": 3}),
    *({"array": "value.t"}, {"array": "nope"}, {"array": 3}, {"tuple": []}, {"tuple": [1, 2]}, {"tuple": 3}),
    *({"map": []}, {"map": [[1, 2]]}, {"map": [[{"list": []}, 1]]}, {"map": 3}, {"list": [{"tuple": []}]}),
    *({"enum": "MotionStatus", "name": "REACHED"}, {"enum": "Motion", "name": "x"}, {"enum": []}),
    *({"data": "Motion", "fields": {}}, {"data": "MotionStatus", "fields": {}}, {"data": "Popen", "fields": {}}),
]


def parts(blob: bytes) -> tuple[dict[str, Any], Any]:
    """Return the arrays and the text of a file."""
    with np.load(io.BytesIO(blob)) as file:
        arrays = {name: file[name] for name in file.files}
    return arrays, json.loads(str(arrays.pop("meta")))


def joined(arrays: dict[str, Any], text: Any) -> bytes:
    made = io.BytesIO()
    np.savez(made, **arrays, meta=np.array(text if isinstance(text, str) else json.dumps(text)))
    return made.getvalue()


def places(plain: Any) -> list[tuple[Any, Any]]:
    """Return every (container, key) in a text."""
    found = []
    for key, item in plain.items() if isinstance(plain, dict) else enumerate(plain):
        found.append((plain, key))
        if isinstance(item, (dict, list)):
            found += places(item)
    return found


def edited(source: random.Random, blob: bytes) -> bytes:
    """Change, remove or exchange values in the text of a file."""
    arrays, plain = parts(blob)
    for _ in range(source.randint(1, 3)):
        if not places(plain):  # everything was removed
            break
        container, key = source.choice(places(plain))
        if source.random() < 0.2:
            del container[key]
        else:
            other = source.choice(places(plain))
            value = source.choice([*WRONG, other[0][other[1]]]) if other[0] is not container else None
            container[key] = json.loads(json.dumps(value))
    return joined(arrays, plain)


def reshaped(source: random.Random, blob: bytes) -> bytes:
    """Give an array of a file another shape, type or length."""
    arrays, plain = parts(blob)
    if arrays:
        name = source.choice(sorted(arrays))
        old = arrays[name]
        arrays[name] = source.choice(
            [old.astype(complex), old.reshape(-1), old[None], np.zeros(3), np.array(["a"]), np.zeros(old.shape, bool)]
        )
    return joined(arrays, plain)


def damaged(source: random.Random, name: str) -> bytes:
    """Return the file of a result, damaged in a random way."""
    blob = bytearray(FILES[name])
    ways = ["flip", "cut", "swap", "splice"] + ["edit", "edit", "edit", "reshape"] * name.endswith(".npz")
    way = source.choice(ways)
    at = source.randrange(len(blob))
    if way == "edit":
        return edited(source, bytes(blob))
    if way == "reshape":
        return reshaped(source, bytes(blob))
    if way == "flip":
        for _ in range(source.randint(1, 8)):
            blob[source.randrange(len(blob))] ^= 1 << source.randrange(8)
    elif way == "cut":
        blob = blob[:at] if source.random() < 0.5 else blob[at:]
    elif way == "swap":
        to, size = source.randrange(len(blob)), source.randint(1, 64)
        blob[at : at + size], blob[to : to + size] = blob[to : to + size], blob[at : at + size]
    else:
        other = FILES[source.choice(sorted(FILES))]
        start = source.randrange(len(other))
        blob[at : at + source.randint(0, 200)] = other[start : start + source.randint(1, 200)]
    return bytes(blob)


def use(result: Any) -> None:
    """Ask a result for everything that it can be asked."""
    repr(result)
    for name in dir(result):
        if not name.startswith("_") and name not in LEAVE:
            getattr(result, name)
    if isinstance(getattr(result, "pieces", None), tuple) and hasattr(result, "at"):
        result.at(result.t)


def hammer(seed: int, names: list[str], count: int, folder: Path) -> collections.Counter[str]:
    """Load damaged files; anything but a ZwangError or a result that can be used is an error of this test."""
    source = random.Random(seed)
    outcomes: collections.Counter[str] = collections.Counter()
    for number in range(count):
        name = source.choice(names)
        path = folder / f"damaged{Path(name).suffix}"
        path.write_bytes(damaged(source, name))
        try:
            use(zw.load_result(path))
            outcomes["read"] += 1
        except zw.ZwangError:
            outcomes["refused"] += 1
        except BaseException as error:
            raise AssertionError(f"seed {seed}, file {number} ({name}): {error!r}") from error
    return outcomes


@pytest.mark.parametrize("name", sorted(FILES))
def test_files_of_the_first_version_are_read(name: str) -> None:
    if name.endswith(".nc"):
        pytest.importorskip("h5py")
    result = zw.load_result(STORED / name)
    assert type(result).__name__.lower() in name.replace("_", "") or name == "motion_stream.npz"
    assert result.provenance.versions["zwang"].startswith("0.1")
    if name != "motion_stream.npz":  # that one has its states alone
        use(result)


def test_random_damage_is_refused_or_harmless(tmp_path) -> None:
    outcomes = hammer(11, ZIPS, 400, tmp_path)
    assert outcomes["refused"] > 200 and outcomes["read"] > 0  # else the damage is not what it should be


def test_random_damage_to_netcdf_is_refused_or_harmless(tmp_path) -> None:
    pytest.importorskip("h5py")
    assert sum(hammer(12, ["evaluation.nc"], 8, tmp_path).values()) == 8


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(4))
def test_much_random_damage_is_refused_or_harmless(seed: int, tmp_path) -> None:
    hammer(100 + seed, ZIPS, 5000, tmp_path)
    pytest.importorskip("h5py")
    hammer(200 + seed, ["evaluation.nc"], 100, tmp_path)


def test_a_member_that_nobody_named_is_never_opened(tmp_path) -> None:
    path = tmp_path / "more.npz"
    path.write_bytes(FILES["motion.npz"])
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as file:
        file.writestr("secret.npy", b"\0" * 10**6)
    blob = bytearray(path.read_bytes())
    at = blob.index(b"secret.npy") + len(b"secret.npy")
    blob[at + 4 : at + 40] = b"?" * 36  # whoever opens it fails
    path.write_bytes(blob)
    assert zw.load_result(path).status is zw.load_result(STORED / "motion.npz").status


def test_an_array_out_of_proportion_is_refused_before_it_is_read(tmp_path, monkeypatch) -> None:
    arrays, plain = parts(FILES["motion.npz"])
    name = next(key for key in arrays if key.endswith(".t"))
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, **{**arrays, name: np.zeros(archives.ROOM // 8 + 1)}, meta=np.array(json.dumps(plain)))
    assert path.stat().st_size < 200_000
    with pytest.raises(zw.DeclarationError, match="out of all proportion to a file of"):
        zw.load_result(path)
    monkeypatch.setattr(archives, "TEXT_ROOM", 100)
    monkeypatch.setattr(archives, "RATIO", 0)
    with pytest.raises(zw.DeclarationError, match=r"its text of \d+ bytes is out of all proportion"):
        zw.load_result(STORED / "motion.npz")


def test_a_header_that_lies_is_refused(tmp_path) -> None:
    arrays, plain = parts(FILES["motion.npz"])
    name = next(key for key in arrays if key.endswith(".t"))
    path = tmp_path / "lies.npz"
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)})
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for key, array in {**arrays, "meta": np.array(json.dumps(plain))}.items():
            with file.open(f"{key}.npy", "w") as entry:
                if key == name:
                    entry.write(header.getvalue() + b"\0" * 64)
                else:
                    np.lib.format.write_array(entry, array, allow_pickle=False)
    with pytest.raises(zw.DeclarationError, match=f"the header of '{name}' doesn't fit its"):
        zw.load_result(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000, "is damaged"),
        ('{"zwang": 1}', "has not the form of a result"),
        ('{"zwang": 2, "value": 1}', "it has format 2; this version of zwang reads 1"),
        ('{"zwang": 1, "value": [1]}', "in the place of a value"),
        ('{"zwang": 1, "value": {"tuple": 3}}', "in the place of a list"),
        ('{"zwang": 1, "value": {"array": "missing"}}', "it has no member 'missing'"),
        ('{"zwang": 1, "value": {"enum": "MotionStatus", "name": "LOST"}}', "there is no MotionStatus.'LOST'"),
        (
            '{"zwang": 1, "value": {"data": "Order", "fields": {"value": "a"}}}',
            "'value' should be float; it holds a str",
        ),
        ('{"zwang": 1, "value": {"data": "Order", "fields": {"hook": 1}}}', "the field 'hook', which this version"),
        ('{"zwang": 1, "value": {"data": "MotionStatus", "fields": {}}}', "'MotionStatus' has no fields"),
        ('{"zwang": 1, "value": {"data": [], "fields": {}}}', "something called"),
        ('{"zwang": 1, "value": 3}', "holds a int, not a result of zwang"),
    ],
)
def test_what_is_wrong_with_a_text_is_said(text: str, message: str, tmp_path) -> None:
    path = tmp_path / "wrong.npz"
    path.write_bytes(joined({}, text))
    with pytest.raises(zw.DeclarationError, match=message):
        zw.load_result(path)


def test_a_folder_is_no_result(tmp_path) -> None:
    (tmp_path / "folder.npz").mkdir()
    with pytest.raises(zw.DeclarationError, match="is no file"):
        zw.load_result(tmp_path / "folder.npz")


def test_shapes_of_one_object_go_together(tmp_path) -> None:
    arrays, plain = parts(FILES["motion.npz"])
    name = next(key for key in arrays if key.endswith("pieces.0.q"))
    path = tmp_path / "shapes.npz"
    path.write_bytes(joined({**arrays, name: arrays[name][:-1]}, plain))
    with pytest.raises(zw.DeclarationError, match=r"MotionPiece: 'q' has the shape .* in the place of \(k\+1 n\)"):
        zw.load_result(path)


def test_every_stored_class_has_annotations_that_can_be_read_and_shapes_of_its_own_fields() -> None:
    with pytest.raises(zw.DeclarationError):
        storage.known_class("nothing that exists")  # all modules are loaded now
    for kind, words in storage.SHAPES.items():
        if hasattr(kind, "__dataclass_fields__"):
            assert set(kind.__dataclass_fields__) <= set(field_types.hints(kind))
            assert set(words) <= set(kind.__dataclass_fields__)
            assert all(
                array_shapes._TERM.match(term) or term == "..." for text in words.values() for term in text.split()
            )


def test_the_shape_of_a_row_of_axes_is_unified() -> None:
    class Pair:
        a = np.zeros((3, 4))
        b: Any = {"x": np.zeros((2, 4, 7)), "y": None}
        names = ("p", "q")

    assert array_shapes.mismatch(Pair, {"a": "k+1 2n", "b": "k 4 ...", "names": "n"}) == ""
    assert "with k = 2, n = 2" in array_shapes.mismatch(Pair, {"a": "k+1 2n", "names": "n+1"})
    assert "'a' has the shape (3, 4)" in array_shapes.mismatch(Pair, {"a": "k"})
    assert "'a' has the shape (3, 4)" in array_shapes.mismatch(Pair, {"a": "2k n"})
