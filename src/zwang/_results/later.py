"""Parts of a result that are computed when they are first asked for: explanations that many callers never read."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import fields
from typing import Any, TypeVar

from zwang._numerics.jit.tiers import asked, running
from zwang._results.finite import within_doubles

T = TypeVar("T", bound="WithLater")


class Later:
    """Stands in place of a field's value until it is asked for."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self._function, self._run = function, asked()

    def value(self) -> Any:
        """Compute the value, as it would have been in the call that made the result."""
        with within_doubles(), nullcontext() if self._run is None else running(self._run):
            return self._function()


class WithLater:
    """A frozen dataclass some of whose fields may be given as `Later`; they must have no default on the class.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Answer(WithLater):
    ...     number: int
    ...     words: str
    >>> answer = Answer(42, Later(lambda: print("computed") or "why"))
    >>> answer.but(number=43).words, answer.words, answer.words
    computed
    computed
    ('why', 'why', 'why')
    """

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        if type(value) is Later:
            value = value.value()
            object.__setattr__(self, name, value)
        return value

    def but(self: T, **changes: Any) -> T:
        """Return the result with some of it changed, and nothing computed for that."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__ | changes)
        return made

    def whole(self: T) -> T:
        """Compute all that is left."""
        for item in fields(self):  # type: ignore[arg-type]
            getattr(self, item.name)
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle holds: all of the data, computed, and not what was made of it."""
        return {item.name: getattr(self, item.name) for item in fields(self)}  # type: ignore[arg-type]
