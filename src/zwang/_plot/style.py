"""The look of all pictures: a palette that colour-blind readers can tell apart, readable sizes, no ornament."""

from __future__ import annotations

import re
import textwrap
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from zwang.errors import DeclarationError, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK = "#24292f"
QUIET = "#6b7680"
PALE = "#e6ebef"
# Okabe and Ito's colours, in the order in which series take them.
SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f6a00", "#5b4a9e")
ALARM = "#d55e00"

RC: dict[str, Any] = {
    "axes.edgecolor": QUIET,
    "axes.grid": False,
    "axes.labelcolor": INK,
    "axes.labelsize": 11,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "figure.dpi": 110,
    "font.size": 10,
    "legend.fontsize": 10,
    "legend.frameon": False,
    "legend.handlelength": 1.4,
    "savefig.dpi": 150,
    "svg.fonttype": "path",
    "svg.hashsalt": "zwang",  # equal pictures give equal files
    "text.color": INK,
    "text.usetex": False,  # names are no TeX
    "xtick.color": QUIET,
    "xtick.labelcolor": INK,
    "ytick.color": QUIET,
    "ytick.labelcolor": INK,
}

LETTERS = """
alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi omega
Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega
"""
GREEK = frozenset(LETTERS.split())
MOST_LETTERS = 60
"""Of a name in a picture."""
MOST_LINES = 4
"""Of a title."""


def matplotlib() -> Any:
    """Return the module matplotlib; its absence is a DeclarationError that names the extra."""
    try:
        import matplotlib as found
    except ImportError:
        raise DeclarationError("Pictures need matplotlib: pip install 'zwang[plot]'.") from None
    return found


def look() -> AbstractContextManager[None]:
    """Return a context in which new artists have the look of this module; nothing outside it changes."""
    found: AbstractContextManager[None] = matplotlib().rc_context(RC)
    return found


def axes(ax: Axes | None, *, size: tuple[float, float] = (6.4, 4.2)) -> Axes:
    """Return `ax`, or the axes of a new figure of that size [inches] that pyplot knows and shows."""
    matplotlib()
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    _, made = plt.subplots(figsize=size, layout="constrained")
    return made


def new_figure(size: tuple[float, float] = (6.4, 4.2)) -> tuple[Figure, Axes]:
    """Return a figure and its axes that pyplot does not know: for files, with no window and nothing to close.

    Examples
    --------
    >>> figure, ax = new_figure((3, 2))
    >>> [float(inches) for inches in figure.get_size_inches()]
    [3.0, 2.0]
    """
    with look():
        matplotlib()
        from matplotlib.figure import Figure

        figure = Figure(figsize=size, layout="constrained")
        return figure, figure.add_subplot()


def words(text: str, *, most: int = MOST_LETTERS) -> str:
    r"""Return a text that somebody gave as matplotlib shows it: letter by letter, nothing of it typeset.

    Examples
    --------
    >>> print(words(r"$\frac$"), words("tip"), words("a" * 100, most=5))
    \$\frac\$ tip aaaa…
    """
    shown = printable(text)
    if len(shown) > most:
        shown = f"{shown[: most - 1]}…"
    # What begins with an underscore would be left out of legends.
    return shown.replace("$", r"\$") if not shown.startswith("_") else " " + shown.replace("$", r"\$")


def symbol(name: str) -> str:
    r"""Return the name of a quantity as mathtext: Greek letters, dots for velocities, digits as indices.

    Examples
    --------
    >>> print(symbol("theta"), symbol("v_x"), symbol("m1"), symbol("tip length"))
    $\theta$ $\dot{x}$ $m_{1}$ tip length
    """
    if name.startswith("v_") and len(name) > 2:
        inner = symbol(name[2:])
        return rf"$\dot{{{inner.strip('$')}}}$" if inner.startswith("$") else words(name)
    match = re.fullmatch(r"([A-Za-z]+?)_?(\d*)", name)
    if not match or (len(match[1]) > 1 and match[1] not in GREEK) or len(name) > MOST_LETTERS:
        return words(name)
    letter = f"\\{match[1]}" if match[1] in GREEK else match[1]
    return f"${letter}_{{{match[2]}}}$" if match[2] else f"${letter}$"


def title(ax: Axes, text: str) -> None:
    """Write a title at the left, in lines that fit the width of the axes."""
    inches = float(ax.get_window_extent().width / ax.figure.dpi)
    lines = textwrap.wrap(printable(text), max(24, int(14 * inches)))
    lines = lines if len(lines) <= MOST_LINES else [*lines[: MOST_LINES - 1], "…"]
    ax.set_title("\n".join(words(line, most=len(line)) for line in lines), fontsize=10)


def number(value: float) -> str:
    """Return a number as a label shows it.

    Examples
    --------
    >>> number(51.3198048696), number(-0.0), number(1.25e-7)
    ('51.32', '0', '1.25e-07')
    """
    text = f"{value:.4g}"
    return "0" if float(text) == 0 else text.replace("-", "−") if "e" not in text else text
