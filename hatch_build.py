"""The description that package indices show: README.md, with absolute links where the project has an address."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\]\([^)]*\))*)\]\((?!https?:|#|mailto:)([^)\s]+)\)")


class ReadmeHook(MetadataHookInterface):
    """Fills in `readme`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the description."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        home = metadata.get("urls", {}).get("Repository", "")
        metadata["readme"] = {"content-type": "text/markdown", "text": absolute(text, home) if home else text}


def absolute(text: str, home: str) -> str:
    """Return a text whose relative links lead to the repository, and whose pictures come from it."""

    def changed(found: re.Match[str]) -> str:
        kind = "raw" if found[1] else "blob"
        inner = absolute(found[2], home)
        return f"{found[1]}[{inner}]({home}/{kind}/main/{found[3]})"

    return LINK.sub(changed, text)
