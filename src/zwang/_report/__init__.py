"""Results as one HTML page that needs nothing else: no script, no font, no address to load from."""

from __future__ import annotations

from zwang._report.drawings import pose_of
from zwang._report.page import write_page
from zwang._report.visits import Visit, visit

__all__ = ["Visit", "pose_of", "visit", "write_page"]
