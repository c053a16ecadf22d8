"""What has been computed of the claims, kept while the rest is being computed: a run that is cut short can go on.

The journal stands beside the output, ``ledger.json.part``, and has a block for each claim. A record is taken from it
only where the same source of zwang, with the same versions of what it builds on, asks the same.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import zwang
from zwang import papers
from zwang._outputs import not_written
from zwang._results.base import Provenance
from zwang._results.stream_draft import Draft, blocks_in, in_use
from zwang.errors import DeclarationError
from zwang.papers import Comparison, Finding, Picture, Record

PART = ".part"


class Journal:
    """Records of claims in a file that grows.

    Parameters
    ----------
    beside : Path
        The output that the records are for.
    full, pictures : bool
        How they are computed.
    fresh : bool
        Whether to leave what is there.
    """

    def __init__(self, beside: Path, *, full: bool, pictures: bool, fresh: bool = False) -> None:
        self.path = beside.with_name(beside.name + PART)
        self._asked = f"{_digest()} full={full} pictures={pictures}"
        if in_use(self.path):
            raise DeclarationError(f"'{beside}' is being written by another run. Give another path.")
        self.known = {} if fresh else self._read()
        self.trouble = ""  # why it can't be written; claims are computed all the same
        self._draft: Draft | None = None
        try:
            self._draft = Draft(self.path, goes_on=bool(self.known))
        except OSError as error:
            self._give_up(error)

    def add(self, record: Record) -> None:
        """Write a record down; one that failed is computed again next time, so it is not."""
        if record.failure or self._draft is None or self.trouble:
            return
        try:
            self._draft.add({"asked": self._asked, **_plain(record)})
        except OSError as error:
            self._give_up(error)
        except DeclarationError:
            return  # it holds something that no file can; it is computed again

    def close(self, *, keep: bool) -> None:
        """Close the journal; where all is written that was asked for, it goes."""
        if self._draft is None:
            return
        if keep and self._draft.size:
            self._draft.close()
        else:
            self._draft.remove()

    def _give_up(self, error: OSError) -> None:
        self.trouble = str(not_written(self.path, error, kept="What follows is not kept if the run is cut short."))

    def _read(self) -> dict[str, Record]:
        if not self.path.is_file():
            return {}
        try:
            found = [block for block in blocks_in(self.path) if isinstance(block, dict)]
            return {block["id"]: _record(block) for block in found if block["asked"] == self._asked}
        except (DeclarationError, KeyError, TypeError, OSError):
            return {}  # not a journal, or one of another version


@cache
def _digest() -> str:
    """Return what a record depends on: the source of zwang and the versions of what it builds on."""
    found = hashlib.sha256()
    folder = Path(zwang.__file__).parent
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".py", ".js", ".css", ".toml"):
            found.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes())
    versions = dict(Provenance.now("").versions)
    for name in ("matplotlib", "clarabel", "python-flint"):
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    found.update(repr(sorted(versions.items())).encode())
    return found.hexdigest()


def _plain(record: Record) -> dict[str, Any]:
    finding = record.finding
    names = [item.name for item in fields(Finding) if item.name not in ("comparisons", "pictures")]
    return {
        "id": record.claim.id,
        "seconds": record.seconds,
        "asked_systems": record.asked,
        "finding": {name: getattr(finding, name) for name in names},
        "comparisons": [_fields(item) for item in finding.comparisons],
        "pictures": [{**_fields(item), "make": str(item.make())} for item in finding.pictures],
    }


def _fields(item: Any) -> dict[str, Any]:
    return {field.name: getattr(item, field.name) for field in fields(item)}


def _record(plain: Mapping[str, Any]) -> Record:
    from zwang._report.computation import Markup

    finding = Finding(
        **plain["finding"],
        comparisons=tuple(Comparison(**item) for item in plain["comparisons"]),
        pictures=tuple(Picture(**{**item, "make": Markup(item["make"])}) for item in plain["pictures"]),
    )
    return Record(papers.get(plain["id"]), finding, plain["seconds"], "", tuple(plain["asked_systems"]))
