"""The look of all pictures: a palette that colour-blind readers can tell apart, readable sizes, no ornament."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from zwang.errors import DeclarationError, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

P = ParamSpec("P")
R = TypeVar("R")
INK = "#24292f"
QUIET = "#6b7680"
PALE = "#e6ebef"
# Okabe and Ito's colours, in the order in which series take them.
SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f6a00", "#5b4a9e")
ALARM = "#d55e00"
EVENT = "#8b949e"
"""Lines and names of events: the colour of no series."""

RC: dict[str, Any] = {
    "axes.edgecolor": QUIET,
    "axes.grid": False,
    "axes.labelcolor": INK,
    "axes.labelsize": 11,
    "axes.linewidth": 0.8,
    "axes.prop_cycle": f"cycler('color', {list(SERIES)})",
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
    "pdf.fonttype": 42,  # letters stay letters: they can be searched, edited, read aloud
    "svg.fonttype": "none",
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
SHOWN = dict(zip(LETTERS.split(), "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ", strict=True)) | {"eps": "ε", "log10": "log₁₀"}
"""Names as running text shows them."""
MOST_LETTERS = 60
"""Of a name in a picture."""
MOST_LINES = 4
"""Of a title."""
MOST_COLUMNS = 6
"""Of a legend."""
TITLE_SIZES = (10, 9, 8, 7)
"""Points; the smaller ones where a figure that makes no room would cut off the first line."""


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

    figure = plt.figure(FigureClass=_figure_class(), figsize=size, layout="constrained")
    return figure.add_subplot()


@cache
def _figure_class() -> type[Figure]:
    """Return the class of our figures: what they are saved with is the look too, whatever is set elsewhere by then."""
    from matplotlib.figure import Figure

    class LookedFigure(Figure):
        """A figure that keeps the look of this module when it is written."""

        def savefig(self, *args: Any, **options: Any) -> None:
            """Write the figure; text stays text in SVG and PDF."""
            with look():
                super().savefig(*args, **options)

    return LookedFigure


def new_figure(size: tuple[float, float] = (6.4, 4.2), *, solid: bool = False) -> tuple[Figure, Axes]:
    """Return a figure and its axes that pyplot does not know: for files, with no window and nothing to close.

    Axes of three dimensions where it is `solid`.

    Examples
    --------
    >>> figure, ax = new_figure((3, 2))
    >>> [float(inches) for inches in figure.get_size_inches()]
    [3.0, 2.0]
    """
    with look():
        matplotlib()
        figure = _figure_class()(figsize=size, layout="constrained")
        return figure, figure.add_subplot(projection="3d" if solid else None)


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
    r"""Return the name of a quantity as mathtext: Greek letters, dots for velocities, what follows as indices.

    Examples
    --------
    >>> print(symbol("theta"), symbol("v_x"), symbol("m1"), symbol("theta_A"), symbol("tip length"))
    $\theta$ $\dot{x}$ $m_{1}$ $\theta_{A}$ tip length
    >>> print(symbol("v_e0_top"), symbol("hinge"), symbol("v_hinge"))
    $\dot{e}_{0,\mathrm{top}}$ hinge $\dot{\mathrm{hinge}}$
    """
    form = re.compile(r"([A-Za-z]+?)_?(\d*)(?:_([A-Za-z0-9]+))?", re.ASCII)
    moving = name.startswith("v_") and form.fullmatch(name[2:]) is not None
    match = form.fullmatch(name[2:] if moving else name)
    if not match or len(name) > MOST_LETTERS:
        return words(name)
    head, *indices = match[1], match[2], match[3]
    lone = len(head) == 1 or head in GREEK
    if not lone and not moving:
        return words(name)
    letter = f"\\{head}" if head in GREEK else head if lone else rf"\mathrm{{{head}}}"
    below = ",".join(part if len(part) == 1 or part.isdigit() else _upright(part) for part in indices if part)
    dotted = rf"\dot{{{letter}}}" if moving else letter
    return f"${dotted}_{{{below}}}$" if below else f"${dotted}$"


def _upright(part: str) -> str:
    return f"\\{part}" if part in GREEK else rf"\mathrm{{{part}}}"


def unit_text(unit: str) -> str:
    """Return a unit as print has it.

    Examples
    --------
    >>> unit_text("m/s**2"), unit_text("N*m")
    ('m/s²', 'N·m')
    """
    powers = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    raised = re.sub(r"\*\*\(?(-?\d+)\)?", lambda found: found[1].translate(powers), unit)
    return words(raised.replace("*", "·"))


def axis_label(names: str, unit: str = "") -> str:
    """Return what stands at an axis: symbols and, where it is known, their unit.

    Examples
    --------
    >>> axis_label(symbol("x"), "m"), axis_label("energy")
    ('$x$ [m]', 'energy')
    """
    return f"{names} [{unit_text(unit)}]" if unit else names


_TITLE: ContextVar[bool | str] = ContextVar("_TITLE", default=True)


@contextmanager
def titled(given: bool | str) -> Iterator[None]:
    """Have the pictures of the block titled as they say themselves (True), not at all (False), or by a text."""
    if not isinstance(given, (bool, str)):
        raise DeclarationError(f"plot: title= must be True, False or a text; it was given {given!r:.40}.")
    token = _TITLE.set(given)
    try:
        yield
    finally:
        _TITLE.reset(token)


def titling(method: Callable[P, R]) -> Callable[P, R]:
    """Let a method that draws take ``title=``: True, False, or a text in place of its own title."""

    @wraps(method)
    def draw(*args: P.args, **options: P.kwargs) -> R:
        given: Any = options.get("title", True)
        with titled(given):
            return method(*args, **options)

    return draw


def title(ax: Axes, text: str, *, over: Sequence[str] = (), then: str = "", above: float = 0.0) -> None:
    """Write a title at the left, in lines that fit the width of the axes, so many points above them.

    A picture is titled by what it shows; `titled` puts another text there, or none. The names of `over` follow the
    text as symbols, and `then` after them.
    """
    box, dpi = ax.get_window_extent(), ax.figure.dpi
    free = (ax.figure.bbox.y1 - box.y1) * 72 / dpi if ax.figure.get_layout_engine() is None else float("inf")
    for size in TITLE_SIZES:
        lines = _title_lines(text, over, then, max(24, int(140 / size * box.width / dpi)))
        if 6.0 + above + 1.2 * size * len(lines) <= free:
            break
    lines = lines if len(lines) <= MOST_LINES else [*lines[: MOST_LINES - 1], "…"]
    if lines:
        ax.set_title("\n".join(lines), fontsize=size, pad=6.0 + above)


def _title_lines(text: str, over: Sequence[str], then: str, width: int) -> list[str]:
    """Return the lines of a title as mathtext; a symbol counts as one letter. None where no title is asked for."""
    asked = _TITLE.get()
    if asked is False:
        return []
    plain, shown = printable(asked if isinstance(asked, str) else text), {"$": r"\$"}
    if over and not isinstance(asked, str):
        # Letters of the private area stand for the symbols: `printable` leaves none of them in a text.
        places = [chr(0xE000 + k) for k in range(len(over))]
        shown |= dict(zip(places, map(symbol, over), strict=True))
        plain += f" over {', '.join(places)}{then}"
    return ["".join(shown.get(letter, letter) for letter in line) for line in textwrap.wrap(plain, width)]


def panels(count: int, size: tuple[float, float], *, wide: int = 4) -> tuple[Figure, Any]:
    """Return a new figure of small multiples that pyplot knows, and its axes in rows of up to `wide`."""
    matplotlib()
    import matplotlib.pyplot as plt

    across = min(wide, count)
    down = -(-count // across)
    figure = plt.figure(
        FigureClass=_figure_class(), figsize=(size[0] * across, size[1] * down + 0.3), layout="constrained"
    )
    return figure, figure.subplots(down, across, squeeze=False)


def figure_title(figure: Figure, text: str, *, over: Sequence[str] = (), then: str = "") -> None:
    """Write a title over all panels of a figure, as `title` does over one."""
    if lines := _title_lines(text, over, then, 140):
        figure.suptitle(lines[0] if len(lines) == 1 else f"{lines[0]}…", fontsize=11, x=0.01, ha="left")


def put_key_beside(ax: Axes, marks: Mapping[str, Any] | None = None, **options: Any) -> Any:
    """Write a legend to the right of the axes where the figure makes room for it, else as `put_key` does.

    A figure without a layout of its own, as pyplot makes them, would cut it off.
    """
    if ax.figure.get_layout_engine() is None:
        return put_key(ax, marks, **options)
    labels, handles = (marks.keys(), marks.values()) if marks else reversed(ax.get_legend_handles_labels())
    return ax.legend(handles, labels, loc="upper left", bbox_to_anchor=(1.0, 1.0), **options) if handles else None


def put_key(ax: Axes, marks: Mapping[str, Any] | None = None, **options: Any) -> Any:
    """Write a legend that covers no curve: in one row or a few, in room that is made for it above the curves.

    It has the `marks` by their labels, else what was drawn with one.

    Returns
    -------
    Legend or None
        None where nothing has a label.
    """
    place = ax.get_position(True).bounds
    twins = [other for other in ax.figure.axes if other is not ax and other.get_position(True).bounds == place]
    ax.apply_aspect()
    found = dict(marks or {})  # what is called the same is named once
    for one in (ax, *twins) if marks is None else ():
        for handle, label in zip(*one.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    handles, labels = list(found.values()), list(found)
    if not handles:
        return None
    width = float(ax.get_window_extent().width)
    made: Any = None
    for columns in range(min(len(handles), MOST_COLUMNS), 0, -1):
        made = ax.legend(
            handles, labels, loc="upper left", ncols=columns, borderaxespad=0.2, frameon=True, framealpha=1.0,
            edgecolor="none", facecolor="white", **options,
        )  # fmt: skip
        if made.get_window_extent().width <= width:
            break
    share = min(float(made.get_window_extent().height / ax.get_window_extent().height) * 1.2 + 0.02, 0.6)
    for one in (ax, *twins):
        _make_room(one, share)
    return made


def _make_room(ax: Axes, share: float) -> None:
    """Move the upper bound of the axes so that this share of its height holds nothing."""
    low, high = ax.get_ylim()
    if ax.get_yscale() == "log":
        ax.set_ylim(low, low * (high / low) ** (1.0 / (1.0 - share)))
    else:
        ax.set_ylim(low, low + (high - low) / (1.0 - share))


def number(value: float) -> str:
    """Return a number as a label shows it.

    Examples
    --------
    >>> number(51.3198048696), number(-0.0), number(1.25e-7)
    ('51.32', '0', '1.25e-07')
    """
    text = f"{value:.4g}"
    return "0" if float(text) == 0 else text.replace("-", "−") if "e" not in text else text


def typeset(text: str) -> str:
    r"""Return a label as print shows it: Greek letters, indices, powers of ten, minus signs; mathtext stays.

    Examples
    --------
    >>> print(typeset("phi [rad]"), typeset("eps = -0.004"), typeset("y_C"), typeset("N = 1e+04"), typeset("$x$, mu"))
    φ [rad] ε = −0.004 $y_{C}$ N = $10^{4}$ $x$, μ
    """
    if r"\$" in text:  # a name of somebody's, letter by letter
        return text
    parts = text.split("$")
    parts[::2] = [_typeset(part) for part in parts[::2]]
    return "$".join(parts)


def _typeset(text: str) -> str:
    text = re.sub(rf"(?<![A-Za-z_])(?:{'|'.join(SHOWN)})(?![A-Za-z])", lambda found: SHOWN[found[0]], text)
    text = re.sub(r"(?<![\w)])-(?=[\d.])|(?<=slip)-", "−", text)
    text = re.sub(r"(?<![\w+−])−(0(?:\.0+)?)(?![\d.+−])", r"\1", text)
    text = re.sub(r"\b([^\W\d_])_([A-Za-z\d]+)\b", r"$\1_{\2}$", text)
    return re.sub(r"(?<![\w.])(\d(?:\.\d+)?)e([+-]\d+)\b", _power_of_ten, text)


def _power_of_ten(found: re.Match[str]) -> str:
    digits = "" if float(found[1]) == 1 else rf"{found[1]}\cdot "
    return f"${digits}10^{{{int(found[2])}}}$"
