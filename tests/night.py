"""Which cases of a test wait for the night: `make test` takes a few that go through the same code."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def by_day(values: Iterable[Any], day: Collection[Any]) -> list[Any]:
    """Return the values of a parameter, all but those of `day` marked for `make nightly`."""
    night = pytest.mark.nightly
    return [
        value if value in day else pytest.param(*value if type(value) is tuple else (value,), marks=night)
        for value in values
    ]
