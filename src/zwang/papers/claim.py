"""`Claim`: a statement of a paper as data, and the function that computes what is true of it."""

from __future__ import annotations

import importlib
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from zwang import System
from zwang.errors import DeclarationError
from zwang.papers.findings import Comparison, Finding, Picture, Verdict
from zwang.papers.workshop import Workshop

__all__ = ["Claim", "Record", "claim"]

PROFILES = ("quick", "full")
PAPERS = ("000", "001", "002", "003", "004")

Compute = Callable[[Workshop], Finding]


@dataclass(frozen=True, eq=False, repr=False)
class Claim:
    """A statement, number, table or figure of one of the papers.

    Attributes
    ----------
    id : str
        The number of the paper and a few words: '001-ex1-slack'.
    place : str
        Where it stands in the paper.
    statement : str
        What it says, in one sentence of our own words.
    printed : str
        What is printed there: the formula or the number.
    recorded : Verdict
        The verdict that the last person who looked at it agreed with.
    compute : callable
        Gets a `Workshop` and returns a `Finding`.
    systems : tuple of str
        Gallery systems that it asks.
    errata : tuple of str
        Rows of the lists of errata that it reproduces: 'ivanov-18'.
    new : str
        For what no such list has: what makes it sure.
    profile : {'quick', 'full'}
        'full' claims are left out of the quick profile.

    Examples
    --------
    >>> import zwang as zw
    >>> item = zw.papers.get("001-ex1-slack")
    >>> record = item.run()
    >>> record.verdict.value, record.agrees
    ('corrected', True)
    """

    id: str
    place: str
    statement: str
    printed: str
    recorded: Verdict
    compute: Compute = field(repr=False)
    systems: tuple[str, ...] = ()
    errata: tuple[str, ...] = ()
    new: str = ""
    profile: str = "quick"

    def __post_init__(self) -> None:
        if self.paper not in PAPERS or self.profile not in PROFILES:
            raise DeclarationError(
                f"Claim '{self.id}': an id begins with one of {', '.join(PAPERS)}, a profile is one of "
                f"{', '.join(PROFILES)}."
            )

    @property
    def paper(self) -> str:
        """The number of the paper, '000' to '004'."""
        return self.id[:3]

    def run(self, systems: Mapping[str, System] | None = None, *, full: bool = False) -> Record:
        """Compute the claim.

        Parameters
        ----------
        systems : mapping of str to System, optional
            Gallery name -> system to take in its place.
        full : bool
            Whether to make long searches.

        Returns
        -------
        Record
            What a computation raises is in it as well: a claim that can't be computed is not checkable.
        """
        workshop = Workshop(systems, full=full)
        start = time.process_time()
        failure = ""
        try:
            finding = self.compute(workshop)
        except Exception as error:  # the ledger goes on, says what happened, and the command ends with 1
            failure = traceback.format_exc()
            finding = Finding(computed="", reason=f"The computation ended with {type(error).__name__}: {error}")
        return Record(self, finding, time.process_time() - start, failure, tuple(sorted(workshop.asked)))

    def __reduce__(self) -> tuple[Callable[[str], Claim], tuple[str]]:
        """Send a claim to another process by its id: a function that a decorator replaced can't be sent itself."""
        return _claim_of, (self.id,)

    def __repr__(self) -> str:
        return f"Claim '{self.id}', {self.place}: {self.statement}"


@dataclass(frozen=True, eq=False, repr=False)
class Record:
    """A claim that was computed.

    Attributes
    ----------
    claim : Claim
    finding : Finding
    seconds : float
        Of one processor, without its pictures.
    failure : str
        The traceback, where the computation raised.
    asked : tuple of str
        The gallery systems that it asked.
    """

    claim: Claim
    finding: Finding
    seconds: float
    failure: str = ""
    asked: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The verdict of the computation."""
        return self.finding.verdict

    @property
    def computed(self) -> str:
        """What was computed, in a sentence."""
        return self.finding.computed

    @property
    def data(self) -> Mapping[str, Any]:
        """The numbers behind it."""
        return self.finding.data

    @property
    def residual(self) -> float:
        """The largest residual."""
        return self.finding.largest_residual

    @property
    def remark(self) -> str:
        """The corrected statement, the counterexample, or the reason why it can't be checked."""
        return self.finding.remark

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """What the verdict follows from."""
        return self.finding.comparisons

    @property
    def pictures(self) -> tuple[Picture, ...]:
        """Figures, made when they are asked for."""
        return self.finding.pictures

    @property
    def agrees(self) -> bool:
        """Whether the verdict is the recorded one and nothing was raised."""
        return self.verdict is self.claim.recorded and not self.failure

    def __repr__(self) -> str:
        remark = f"\n  {self.remark}" if self.remark else ""
        return f"{self.claim!r}\n  {self.verdict.value}: {self.computed}{remark}"


def claim(
    id: str,
    *,
    place: str,
    statement: str,
    printed: str,
    recorded: str,
    systems: Sequence[str] = (),
    errata: Sequence[str] = (),
    new: str = "",
    profile: str = "quick",
) -> Callable[[Compute], Claim]:
    """Make a claim of the function that computes it: ``@claim("001-ex1-slack", place=..., ...)``."""

    def make(compute: Compute) -> Claim:
        return Claim(
            id, place, statement, printed, Verdict(recorded), compute, tuple(systems), tuple(errata), new, profile
        )

    return make


def _claim_of(id: str) -> Claim:
    """Return a claim in another process, where the list of all may not be loaded yet."""
    found: Claim = importlib.import_module("zwang.papers").get(id)
    return found
