"""Files that are written: whole or not at all, and what was there before stays."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import zwang
from zwang import _outputs
from zwang._outputs import check_output, replacing, write_bytes, write_text
from zwang.errors import DeclarationError

SOURCE = Path(zwang.__file__).parent
POSIX = pytest.mark.skipif(os.name != "posix", reason="files of POSIX")


def names(folder: Path) -> list[str]:
    return sorted(item.name for item in folder.iterdir())


def test_a_file_is_written_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    assert write_text(path, "α") == path and path.read_text(encoding="utf-8") == "α"
    write_bytes(path, b"new")
    assert path.read_bytes() == b"new" and names(tmp_path) == ["text.txt"]


class Odd(Exception):
    pass


@pytest.mark.parametrize("raised", [Odd(), KeyboardInterrupt(), SystemExit(3), MemoryError()])
def test_whatever_is_raised_the_old_file_stays_and_no_draft_is_left(raised: BaseException, tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("old")
    with pytest.raises(type(raised)), replacing(path) as draft:  # noqa: PT012
        draft.write_text("new")
        raise raised
    assert path.read_text() == "old" and names(tmp_path) == ["text.txt"]


@pytest.mark.parametrize("place", ["fsync", "replace", "write"])
def test_a_full_disk_is_told_with_its_cure_wherever_it_shows(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "text.txt"
    path.write_text("old")
    owner = {"fsync": os, "replace": Path, "write": Path}[place]
    monkeypatch.setattr(owner, {"write": "write_bytes"}.get(place, place), full)
    with pytest.raises(DeclarationError) as told:
        write_text(path, "new")
    assert str(told.value) == (
        f"{path}: cannot be written: No space left on device. Free some space, or choose another place. What was there "
        "before is as it was."
    )
    monkeypatch.undo()
    assert path.read_text() == "old" and names(tmp_path) == ["text.txt"]


@POSIX
def test_a_device_is_written_to_and_stays_a_device(tmp_path: Path) -> None:
    write_text("/dev/null", "gone")
    assert Path("/dev/null").is_char_device()
    with pytest.raises(DeclarationError, match="/dev/full: cannot be written: No space left on device"):
        write_text("/dev/full", "much")


@POSIX
def test_a_link_stays_and_its_file_is_replaced_with_its_mode(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    path, link = tmp_path / "text.txt", tmp_path / "here" / "link"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    write_text(link, "new")
    assert link.is_symlink() and path.read_text() == "new" and path.stat().st_mode & 0o777 == 0o640
    link.unlink()
    link.symlink_to(link)
    with pytest.raises(DeclarationError, match="cannot be written"):
        write_text(link, "loop")


@POSIX
def test_the_longest_name_can_be_written_and_a_longer_one_has_its_cure(tmp_path: Path) -> None:
    write_text(tmp_path / ("x" * 255), "long")
    write_text(tmp_path / ("x." + "y" * 253), "long")
    with pytest.raises(DeclarationError, match=r"cannot be written: File name too long\. Choose a shorter name"):
        write_text(tmp_path / ("x" * 256), "longer")


def test_what_can_be_told_before_is_told_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    cases = {
        tmp_path: "it is a folder. Give the path of a file in it.",
        tmp_path / "none" / "x.png": f"there is no folder '{tmp_path / 'none'}'. Make it, or choose another.",
        tmp_path / "file" / "x.png": f"there is no folder '{tmp_path / 'file'}'. Make it, or choose another.",
        Path("a\0b.png"): "Choose another path.",
    }
    for path, words in cases.items():
        with pytest.raises(DeclarationError) as told:
            check_output(path)
        assert "cannot be written: " in str(told.value) and str(told.value).endswith(words)
    with pytest.raises(DeclarationError, match=r"'x\.doc': pictures are written as \.png\."):
        check_output("x.doc", endings=(".png",), written="pictures are written as .png")
    # Who runs the tests may be allowed everything, so the answer of the system is played here.
    monkeypatch.setattr(_outputs.os, "access", lambda path, mode: False)
    with pytest.raises(DeclarationError, match="it is write-protected. Choose another name."):
        check_output(tmp_path / "file")
    with pytest.raises(DeclarationError, match="is write-protected. Choose a folder you may write."):
        check_output(tmp_path / "new")


# --- nothing else writes ---------------------------------------------------------------------------------------------

WRITERS = {
    *("write_text", "write_bytes", "tofile", "savefig", "save", "savez", "savez_compressed", "savetxt"),
    *("to_netcdf", "to_csv", "to_hdf", "dump"),
}
OPENERS = {"open", "ZipFile", "fdopen", "File"}
# Results and systems, whose methods go through the door themselves; `file` is an archive that a draft holds.
SAVED = {"self", "plain", "system", "run.last", "entry.system", "storage", "Result", "file"}
# The one door; the draft that grows while a motion is computed; the cache, which nobody asked for by a path; and a
# script that answers its parent by a temporary file.
# The store of a sweep is a database; the lab writes models into temporary folders of its own.
OWN_WAY = {
    "_outputs.py",
    "lab/models.py",
    "_results/stream_draft.py",
    "_numerics/jit/cache.py",
    "_results/netcdf_reader.py",
    "_plot/style.py",  # figures that keep their look when they are written, wherever that is
}
THE_DOOR = {"write_text", "write_bytes", "replacing"}


def writes(path: Path) -> list[str]:
    """The calls of a module that write files, outside of blocks that give them a draft, or memory, to write to."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    ours = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "zwang._outputs"
        for alias in node.names
    }
    inside: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.With) and any("replacing(" in ast.unparse(item.context_expr) for item in node.items):
            inside |= {id(one) for part in (*node.body, *node.items) for one in ast.walk(part)}
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or id(node) in inside:
            continue
        called = node.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        owner = ast.unparse(called.value) if isinstance(called, ast.Attribute) else ""
        if owner in {"_outputs", *SAVED} or (not owner and name in {"save", *(ours & THE_DOOR)}):
            continue
        to_memory = any(isinstance(arg, ast.Name) and arg.id in ("buffer", "made") for arg in node.args[:1])
        modes = [*node.args, *(item.value for item in node.keywords if item.arg == "mode")]
        texts = [str(one.value) for one in modes if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        opens = name in OPENERS and any(set(one) & set("wax+") and len(one) <= 4 for one in texts)
        if (name in WRITERS or opens) and not to_memory:
            found.append(f"{path.name}:{node.lineno} {ast.unparse(node)[:60]}")
    return found


def test_every_file_is_written_through_the_one_door() -> None:
    own = {SOURCE / name for name in OWN_WAY}
    own |= set((SOURCE / "_selftest").rglob("*.py"))  # hostile inputs, in temporary folders of its own
    likely = re.compile("|".join(rf"\b{name}\(" for name in (*WRITERS, *OPENERS)))
    found = []
    for path in sorted(set(SOURCE.rglob("*.py")) - own):
        if likely.search(path.read_text(encoding="utf-8")):
            found += writes(path)
    assert found == []


def test_the_search_for_writers_finds_them(tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    lines = [
        'p.write_text("x")',
        'open("f", "w")',
        'ZipFile(p, mode="w")',
        "fig.savefig(p)",
        'p.open("xb+")',
        "np.save(p)",
    ]
    path.write_text("\n".join([*lines, 'open("f")', 'p.open("rb")']))
    assert len(writes(path)) == len(lines)
    path.write_text('with replacing(p) as draft:\n    draft.write_text("x")\nfig.savefig(buffer, format="svg")\n')
    assert writes(path) == []


# --- a full disk, truly: a limit on the size of files, over everything that is written ------------------------------

FULL_DISK = """
import json, resource, sys
from pathlib import Path
from click.testing import CliRunner
import zwang as zw
from zwang._report.page import write_page
from zwang.cli import main

folder = Path(sys.argv[1])
entry = zw.gallery.get("four_bar")
found = zw.compile(entry.system).evaluate(entry.state, entry.params)
motion = zw.simulate(entry.system, entry.state, entry.params, until=0.5)
motion = motion.as_stored()
calls = {
    "r.npz": lambda p: motion.save(p), "r.nc": lambda p: motion.save(p), "m.toml": lambda p: entry.system.save(p),
    "f.html": lambda p: motion.animate(p, drawing=entry.drawing), "f.gif": lambda p: motion.animate(p, frames=3),
    "page.html": lambda p: write_page(p, "t", "x" * 10000),
}
commands = {
    "o.npz": ["simulate", "four_bar", "--until", "0.5", "--out"],
    "o.nc": ["simulate", "four_bar", "--until", "0.5", "--out"],
    "p.png": ["simulate", "four_bar", "--until", "0.5", "--plot"],
    "p.svg": ["simulate", "four_bar", "--until", "0.5", "--plot"],
    "p.pdf": ["simulate", "four_bar", "--until", "0.5", "--plot"],
    "q.html": ["simulate", "four_bar", "--until", "0.5", "--film"],
    "g.toml": ["gallery", "four_bar", "--save"],
    "g.png": ["gallery", "four_bar", "--plot"],
    "l.json": ["reproduce", "--claim", "001-ex1-slack", "--jobs", "1", "--json"],
}
for name in (*calls, *commands):
    (folder / name).write_text("old")
told = {}
for name, command in commands.items():  # warm: all is compiled and imported
    CliRunner().invoke(main, [*command, str(folder / ("warm-" + name))])
    (folder / ("warm-" + name)).unlink()
resource.setrlimit(resource.RLIMIT_FSIZE, (200, resource.RLIM_INFINITY))
for name, call in calls.items():
    try:
        told[name] = repr(call(folder / name))
    except zw.DeclarationError as error:
        told[name] = [2, str(error)]
for name, command in commands.items():
    done = CliRunner().invoke(main, [*command, str(folder / name)])
    told[name] = [done.exit_code, done.stderr, len(done.stdout)]
print(json.dumps(told))
"""


@pytest.mark.nightly
@POSIX
def test_on_a_full_disk_every_old_file_stays_and_every_command_says_so(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FULL_DISK, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=400, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert len(told) == 15
    for name, (code, words, *length) in told.items():
        assert code == 2, (name, code, words)
        assert "cannot be written: File too large. Free some space, or choose another place." in words, name
        assert (tmp_path / name).read_text() == "old", name
        if length and not name.startswith("g."):
            assert length[0] > 50, "what was computed is printed all the same"
    assert names(tmp_path) == sorted(told)
