"""What is kept on disk is verified before it is used: owner, mode, checksum, and that it is for this very kernel."""

from __future__ import annotations

import gc
import json
import os
import pickle
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from zwang._numerics import jit
from zwang._numerics.jit import cache as cache_folder
from zwang.cli import main
from zwang.errors import CompileError

pytest.importorskip("numba")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of this test's own, and a process that has not warned yet."""
    monkeypatch.setenv("ZWANG_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("ZWANG_CACHE_SIZE", raising=False)
    before = cache_folder._WARNED.is_set()
    cache_folder._WARNED.clear()
    yield tmp_path / "cache"
    (cache_folder._WARNED.set if before else cache_folder._WARNED.clear)()


def ask(factor: float) -> tuple[float, bool]:
    """Return factor * 1 from a kernel made for this call, and whether its machine code came from the disk."""
    source = (
        f"from zwang._numerics.jit import njit\n@njit('float64(float64)')\ndef force(x):\n    return {factor} * x\n"
    )
    module = jit.load_generated(source, "spring")
    value, restored = module.force(1.0), module.force.restored
    del module
    gc.collect()
    return value, restored


def test_a_kernel_is_kept_in_one_file_of_the_user_alone(folder: Path) -> None:
    assert ask(2.0) == (2.0, False)
    assert ask(2.0) == (2.0, True)
    (path,) = folder.iterdir()
    assert path.name.startswith("force_") and path.suffix == ".kernel"
    assert oct(path.stat().st_mode & 0o777) == "0o600"
    assert oct(folder.stat().st_mode & 0o777) == "0o700"


def flip(data: bytes, place: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


DAMAGES: dict[str, Any] = {
    "empty": lambda data: b"",
    "half": lambda data: data[: len(data) // 2],
    "longer": lambda data: data + b"\0",
    "text": lambda data: b"not a kernel",
    "magic": lambda data: flip(data, 3),
    "digest": lambda data: flip(data, len(cache_folder.MAGIC) + 5),
    "checksum": lambda data: flip(data, len(cache_folder.MAGIC) + 40),
    "first byte": lambda data: flip(data, len(cache_folder.MAGIC) + 33 + 65),
    "machine code": lambda data: flip(data, len(data) // 3),
    "last byte": lambda data: flip(data, len(data) - 1),
}


def test_damaged_files_are_compiled_again_without_a_word(folder: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ask(3.0) == (3.0, False)
        (path,) = folder.iterdir()
        for name, damage in DAMAGES.items():
            path.write_bytes(damage(path.read_bytes()))
            assert ask(3.0) == (3.0, False), name
        assert ask(3.0) == (3.0, True)


def test_swapped_files_are_told_apart(folder: Path) -> None:
    assert ask(2.0)[0] == 2.0
    (first,) = folder.iterdir()
    assert ask(5.0)[0] == 5.0
    (second,) = set(folder.iterdir()) - {first}
    one, other = first.read_bytes(), second.read_bytes()
    first.write_bytes(other)
    second.write_bytes(one)
    assert (ask(2.0), ask(5.0)) == ((2.0, False), (5.0, False))


class Trap:
    """A pickle that leaves a trace when it is read."""

    def __reduce__(self) -> Any:
        return exec, ("import sys; sys.modules['trapped'] = sys",)


def planted(path: Path) -> None:
    """Put a trap in the place of a kernel, with the right checksum."""
    digest = path.stem.split("_")[-1]
    payload = pickle.dumps(Trap())
    checksum = cache_folder._checksum(digest, payload)
    path.write_bytes(cache_folder.MAGIC + digest.encode() + b"\n" + checksum + b"\n" + payload)


@pytest.fixture
def trapped() -> Iterator[Any]:
    sys.modules.pop("trapped", None)
    yield lambda: "trapped" in sys.modules
    sys.modules.pop("trapped", None)


def test_the_trap_works_where_nothing_forbids_it(folder: Path, trapped: Any) -> None:
    """A file of the same user is trusted: what is tested below is who may write it."""
    ask(7.0)
    planted(next(folder.iterdir()))
    assert ask(7.0) == (7.0, False)  # it is no kernel, so it is compiled again
    assert trapped()


@pytest.mark.parametrize("way", ["group", "others", "owner", "link", "pipe"])
def test_a_file_that_others_may_have_written_is_not_read(
    folder: Path, trapped: Any, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    ask(7.0)
    (path,) = folder.iterdir()
    planted(path)
    if way in ("group", "others"):
        path.chmod(0o620 if way == "group" else 0o602)
    elif way == "link":
        path.rename(folder / "elsewhere")
        path.symlink_to(folder / "elsewhere")
    elif way == "pipe":
        path.unlink()
        os.mkfifo(path, 0o600)
    else:
        real = os.fstat
        monkeypatch.setattr(os, "fstat", lambda handle: foreign(real(handle)))
    assert ask(7.0) == (7.0, False)
    assert not trapped()


def foreign(status: os.stat_result) -> os.stat_result:
    """Return the status of a file of another user."""
    return os.stat_result((*status[:4], status.st_uid + 1, *status[5:10]))


def test_nothing_is_read_from_folders_inside(folder: Path, trapped: Any) -> None:
    """Earlier versions read pickles from `__pycache__`, whatever its owner."""
    ask(7.0)
    (path,) = folder.iterdir()
    inside = folder / "__pycache__"
    inside.mkdir()
    for ending in (".nbi", ".1.nbc"):
        (inside / f"{path.stem}.force-3.py311{ending}").write_bytes(pickle.dumps(Trap()))
    path.unlink()
    assert ask(7.0) == (7.0, False)
    assert not trapped()


def test_a_folder_that_can_only_be_read_is_of_use(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ask(2.0)
    (path,) = folder.iterdir()
    os.utime(path, (0, 0))
    real = os.open

    def refuse(path: Any, flags: int, *args: Any, **kwargs: Any) -> int:
        if flags & os.O_CREAT:
            raise OSError(30, "Read-only file system")
        return real(path, flags, *args, **kwargs)

    def no_time(*args: Any) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, "open", refuse)
    monkeypatch.setattr(os, "utime", no_time)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ask(2.0) == (2.0, True)
    with pytest.warns(jit.KernelWarning, match=r"keeps no compiled code on disk.*Read-only file system.*Set ZWANG_CAC"):
        assert ask(4.0) == (4.0, False)


# --- the size of the folder ------------------------------------------------------------------------------------------


def filled(folder: Path, count: int, size: int = 1000) -> list[Path]:
    """Return files of kernels, the one that was used longest ago first, beside one that is not ours."""
    folder.mkdir(mode=0o700)
    (folder / "notes.txt").write_bytes(bytes(10 * size))
    paths = [folder / f"force_{k:032x}.kernel" for k in range(count)]
    for k, path in enumerate(paths):
        path.write_bytes(bytes(size))
        os.utime(path, (1e9 + k, 1e9 + k))
    return paths


def test_kernels_that_were_used_longest_ago_go_first(folder: Path) -> None:
    paths = filled(folder, 10)
    cache_folder.trim_cache(folder, 10_000)
    assert all(path.exists() for path in paths)
    cache_folder.trim_cache(folder, 5_000)
    assert [path.exists() for path in paths] == [False] * 6 + [True] * 4  # 0.8 of the limit
    assert (folder / "notes.txt").exists()


def test_the_folder_is_kept_below_its_limit_as_kernels_are_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = filled(folder, 10, 100_000)
    monkeypatch.setenv("ZWANG_CACHE_SIZE", "500K")
    monkeypatch.setattr(cache_folder, "_WRITTEN", 0)
    assert ask(2.0) == (2.0, False)
    assert cache_folder.cache_summary().size <= 500 * 2**10
    assert not paths[0].exists() and paths[-1].exists()


def test_a_kernel_that_is_used_is_not_the_oldest_any_more(folder: Path) -> None:
    ask(2.0)
    (path,) = folder.iterdir()
    os.utime(path, (1e9, 1e9))
    assert ask(2.0) == (2.0, True)
    assert path.stat().st_mtime > 1.7e9


@pytest.mark.parametrize(
    ("text", "size"), [("", 2**30), ("0", 0), ("12345", 12345), ("2k", 2048), ("500 M", 0), ("3GB", 3 * 2**30)]
)
def test_the_limit_is_read_with_its_unit(monkeypatch: pytest.MonkeyPatch, text: str, size: int) -> None:
    monkeypatch.setenv("ZWANG_CACHE_SIZE", text)
    if " " in text:
        with pytest.raises(CompileError, match=r"ZWANG_CACHE_SIZE: '500 M' is no size.*such as '500M'"):
            cache_folder.cache_limit()
    else:
        assert cache_folder.cache_limit() == size


def test_the_command_shows_the_folder_and_clears_it(folder: Path) -> None:
    filled(folder, 3)
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "one_1234.one-3.py311.nbi").touch()
    old = folder / f"terms_{0:016x}.py"
    old.touch()
    shown = CliRunner().invoke(main, ["cache"])
    assert shown.exit_code == 0
    assert f"{folder}: 3 kernels, 0.0 MB" in shown.output and "at most 1024.0 MB" in shown.output
    report = json.loads(CliRunner().invoke(main, ["cache", "--json"]).output)
    assert report == {"folder": str(folder), "kernels": 3, "size": 3000, "limit": 2**30}
    cleared = CliRunner().invoke(main, ["cache", "--clear"])
    assert "5 files removed" in cleared.output and "0 kernels" in cleared.output
    assert not old.exists() and (folder / "notes.txt").exists()
    assert json.loads(CliRunner().invoke(main, ["cache", "--clear", "--json"]).output)["removed"] == 0


def test_the_command_says_that_a_limit_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZWANG_CACHE_SIZE", "large")
    shown = CliRunner().invoke(main, ["cache"])
    assert shown.exit_code == 2 and "'large' is no size" in shown.output


def test_the_first_kernel_of_all_is_compiled_by_one_process_alone(folder: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    assert not folder.exists()
    with cache_folder.alone("first"), (folder / "first.lock").open("w") as other, pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert oct(folder.stat().st_mode & 0o777) == "0o700"
