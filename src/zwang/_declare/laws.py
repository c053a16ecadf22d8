"""Laws of friction: each is its section, the friction forces that a unit of normal force allows.

The friction force lies in abs(N) times a convex section and does the most negative work on the slip; at rest, on the
slip acceleration. There are two sections, an `Interval` for one slip and an `Ellipse` for a pair; solvers know these
and no law. A law of one's own is a frozen dataclass with a `slip` and a method `section`, registered by `law`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass
from functools import wraps
from importlib.metadata import entry_points
from typing import Any, Protocol, TypeAlias, TypeVar

from zwang._declare.given import as_expression, as_slip, components
from zwang.errors import DeclarationError, nearest

GROUP = "zwang.laws"
"""The entry points under which installed packages name their laws."""
L = TypeVar("L")
_LAWS: dict[str, type[Any]] = {}


@dataclass(frozen=True)
class Interval:
    """The section of a law with one slip: T in abs(N) [low, high], with low <= 0 <= high.

    A slip > 0 has T = abs(N) low, a slip < 0 has T = abs(N) high; the two need not be of one size (scales, brushes,
    skis).

    Parameters
    ----------
    low, high : expression
        Friction forces per unit of normal force [1].

    Examples
    --------
    >>> import zwang as zw
    >>> zw.Interval(-0.05, 0.4)
    Interval(low=-0.05, high=0.4)
    """

    low: Any
    high: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", as_expression(self.low, "Interval: low"))
        object.__setattr__(self, "high", as_expression(self.high, "Interval: high"))
        if self.low.is_positive or self.high.is_negative:
            raise DeclarationError(
                f"Interval: low is {self.low} and high is {self.high}, needed low <= 0 <= high: friction acts against "
                "the slip, and none is always allowed. Put a force that acts by itself into forces=."
            )

    def __repr__(self) -> str:
        return f"Interval(low={_shown(self.low)}, high={_shown(self.high)})"

    @property
    def sides(self) -> tuple[Any, Any]:
        """The sizes of the force against a slip > 0 and against a slip < 0."""
        return (self.high, self.high) if self.low == -self.high else (-self.low, self.high)


@dataclass(frozen=True)
class Ellipse:
    """The section of a law with a pair of slips: (T_1/a)^2 + (T_2/b)^2 <= N^2.

    A slip s has T_i = -abs(N) a_i^2 s_i / sqrt(a^2 s_1^2 + b^2 s_2^2). A zero axis makes it a law of the other slip
    alone.

    Parameters
    ----------
    a, b : expression
        Semi-axes: friction forces per unit of normal force [1].

    Examples
    --------
    >>> import zwang as zw
    >>> zw.Ellipse(0.1, 0.4)
    Ellipse(a=0.1, b=0.4)
    """

    a: Any
    b: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "a", as_expression(self.a, "Ellipse: a"))
        object.__setattr__(self, "b", as_expression(self.b, "Ellipse: b"))
        if self.a.is_negative or self.b.is_negative:
            raise DeclarationError(
                f"Ellipse: the semi-axes are {self.a} and {self.b}, needed numbers of at least 0. The sign of the "
                "friction force follows from the slip; turn the slip round instead."
            )

    def __repr__(self) -> str:
        return f"Ellipse(a={_shown(self.a)}, b={_shown(self.b)})"

    @property
    def sides(self) -> tuple[Any, Any]:
        """The semi-axes."""
        return self.a, self.b


def _shown(expr: Any) -> str:
    return repr(float(expr)) if expr.is_Float else str(expr)


Section: TypeAlias = Interval | Ellipse


class FrictionLaw(Protocol):
    """What every law of friction has, and all that the package asks of one."""

    @property
    def slip(self) -> tuple[Any, ...]:
        """One slip velocity, or an orthonormal pair."""

    def section(self) -> Section:
        """Return the friction forces per unit of normal force while the contact slips."""

    def resting(self) -> Section:
        """Return the same at rest; it contains the section."""


def law(key: str) -> Callable[[type[L]], type[L]]:
    """Register a class as a law of friction.

    Parameters
    ----------
    key : str
        What model files call it: ``[constraint.friction]`` with ``law = "key"`` and the fields of the class as keys.

    Returns
    -------
    callable
        The decorator of a frozen dataclass with a field `slip`, a method `section` that returns an `Interval` (one
        slip) or an `Ellipse` (a pair), and, where rest holds more than slip, `resting`. Its other fields become
        expressions (or pairs of them, or None); nothing else is asked of it. The module that registers a law is
        imported by name where a system travels to another process; an installed package names it as an entry point of
        the group ``zwang.laws``, under the same key.

    Examples
    --------
    A law that scales of a snake's belly might obey: forward is easy, backward is not.

    >>> from dataclasses import dataclass, field
    >>> from typing import Any
    >>> import zwang as zw
    >>> @zw.law("scales")
    ... @dataclass(frozen=True)
    ... class Scales:
    ...     forward: Any
    ...     backward: Any
    ...     slip: Any = field(kw_only=True)
    ...     def section(self):
    ...         return zw.Interval(-self.forward, self.backward)
    >>> (x, y), (vx, vy) = zw.coordinates("x y")
    >>> belly = zw.Unilateral(y, friction=Scales(0.1, 0.5, slip=vx), name="belly")
    >>> belly.friction.section()
    Interval(low=-0.1, high=0.5)
    """
    if not isinstance(key, str) or not key.isidentifier():
        raise DeclarationError(f"law: a key must be an identifier, such as 'scales'; it was given {key!r:.60}.")

    def register(cls: type[L]) -> type[L]:
        _check_class(cls, key)
        known = _LAWS.get(key)
        if known is not None and not _same_class(known, cls):
            raise DeclarationError(
                f"law: '{key}' is {known.__module__}.{known.__qualname__} already. Give {cls.__qualname__} another key."
            )
        cls.__init__ = _reading(cls.__init__, cls.__name__)  # type: ignore[method-assign]
        if not hasattr(cls, "resting"):
            cls.resting = cls.section  # type: ignore[attr-defined]
        cls.law_key = key  # type: ignore[attr-defined]
        _LAWS[key] = cls
        return cls

    return register


def _same_class(known: Any, cls: Any) -> bool:
    """Return whether a class is defined again: its cell run once more, its file imported under another name."""
    if (known.__module__, known.__qualname__) == (cls.__module__, cls.__qualname__):
        return True
    files = {item.section.__code__.co_filename for item in (known, cls)}
    return known.__qualname__ == cls.__qualname__ and len(files) == 1 and not files.pop().startswith("<")


def _check_class(cls: Any, key: str) -> None:
    needed = (
        (
            isinstance(cls, type) and is_dataclass(cls),
            "be a dataclass: put @dataclass(frozen=True) below the decorator",
        ),
        (getattr(getattr(cls, "__dataclass_params__", None), "frozen", False), "be frozen: @dataclass(frozen=True)"),
        (any(item.name == "slip" for item in fields(cls)) if is_dataclass(cls) else False, "have a field 'slip'"),
        (callable(getattr(cls, "section", None)), "have a method section() that returns an Interval or an Ellipse"),
    )
    for holds, what in needed:
        if not holds:
            raise DeclarationError(f"law '{key}': {getattr(cls, '__name__', cls)!r:.60} must {what}.")


def _reading(made: Callable[..., None], name: str) -> Callable[..., None]:
    """Return an ``__init__`` that turns what it is given into expressions first, and checks the sections last."""
    signature = inspect.signature(made)

    @wraps(made)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        for what, value in list(bound.arguments.items())[1:]:
            if value is None and signature.parameters[what].default is not None:
                as_expression(value, f"{name}: {what}")  # says what is needed
            bound.arguments[what] = as_slip(value, name) if what == "slip" else _field(value, f"{name}: {what}")
        made(*bound.args, **bound.kwargs)
        check_sections(self, name)

    return init


def _field(value: Any, where: str) -> Any:
    """Return a field of a law: None, an expression, or a pair of them."""
    if value is None:
        return None
    items = components(value)
    if items is not None:
        if len(items) != 2:
            raise DeclarationError(f"{where} needs one number, or a pair for a pair of slips; it has {len(items)}.")
        return tuple(as_expression(item, where) for item in items)
    return as_expression(value, where)


def check_sections(made: Any, name: str) -> None:
    """Refuse sections that are not of the kind of the slip, and rest that holds less than slip."""
    kind, other = (Interval, "one slip") if len(made.slip) == 1 else (Ellipse, "a pair of slips")
    for what in ("section", "resting"):
        found = getattr(made, what)()
        if not isinstance(found, kind):
            raise DeclarationError(
                f"{name}: {what}() must be an {kind.__name__} for {other}; it returned {found!r:.80}."
            )
    for rest, moving in zip(made.resting().sides, made.section().sides, strict=True):
        if (rest - moving).is_negative:
            raise DeclarationError(
                f"{name}: at rest friction holds {rest} and while slipping {moving}, needed at least as much at rest. "
                "Is the order of the two right?"
            )
        if moving == 0 and rest != 0 and kind is Ellipse:
            raise DeclarationError(
                f"{name}: along one slip friction holds {rest} at rest and nothing while slipping; an ellipse needs "
                "both or neither. Give both coefficients, or a law of the other slip alone."
            )


def law_class(key: str, where: str) -> type[Any]:
    """Return the class that is registered under a key; installed packages are asked for theirs."""
    if key not in _LAWS:
        for entry in entry_points(group=GROUP):
            if entry.name == key:
                entry.load()
    if key not in _LAWS:
        raise DeclarationError(
            f"{where}: no law of friction is registered as {key!r:.60}. {nearest(key, law_keys())} A law of another "
            "package is known once its module is imported."
        )
    return _LAWS[key]


def law_keys() -> tuple[str, ...]:
    """Return the keys of all laws, those of installed packages included.

    Examples
    --------
    >>> "coulomb" in law_keys()
    True
    """
    return tuple(sorted({*_LAWS, *(entry.name for entry in entry_points(group=GROUP))}))


def is_law(value: Any) -> bool:
    """Say whether something is an instance of a registered law."""
    return isinstance(getattr(type(value), "law_key", None), str)


def law_fields(law: Any) -> dict[str, Any]:
    """Return the fields of a law by name, the slip among them; each is None, an expression or a tuple of them."""
    return {item.name: getattr(law, item.name) for item in fields(law) if item.init}


def law_expressions(law: Any) -> dict[str, Any]:
    """Return the expressions of a law by what they are."""
    found: dict[str, Any] = {}
    for name, value in law_fields(law).items():
        if isinstance(value, tuple):
            found |= {f"{name} {i + 1}": item for i, item in enumerate(value)}
        elif value is not None:
            found[name] = value
    # The slips last: what is named first is complained of first, and coefficients are what is mistyped.
    return {key: found[key] for key in sorted(found, key=lambda key: key.startswith("slip "))}


def map_law(law: Any, change: Callable[[Any], Any]) -> Any:
    """Return a law with every expression changed."""

    def changed(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(change(item) for item in value)
        return None if value is None else change(value)

    return type(law)(**{name: changed(value) for name, value in law_fields(law).items()})


@law("coulomb")
@dataclass(frozen=True)
class Coulomb:
    """Coulomb's law: abs(T) <= mu * scale * abs(lam), opposite to the slip.

    Parameters
    ----------
    mu : expression or a pair of them
        Coefficient of friction [1]; a pair belongs to a pair of slips and makes an elliptic cone, with
        ``T_i = -abs(lam) mu_i**2 s_i / sqrt(mu_1**2 s_1**2 + mu_2**2 s_2**2)``.
    slip : expression or a pair of them
        Slip velocity in one direction, or in two orthonormal ones [m/s]; affine in the velocities.
    static : expression or a pair of them, optional
        Coefficient at rest, at least mu [1]: a resting contact sticks as long as it suffices. Without it mu holds at
        rest too, and where both stick and slip are possible both are listed.
    scale : expression
        Length of the physical gradient of the constraint's expression, where that is not a length [1].

    Examples
    --------
    >>> import zwang as zw
    >>> (x, y), (vx, vy) = zw.coordinates("x y")
    >>> zw.Coulomb(0.3, slip=vx).slip
    (v_x,)
    >>> zw.Coulomb((0.1, 0.4), slip=(vx, vy)).section()
    Ellipse(a=0.1, b=0.4)
    >>> zw.Coulomb(0.3, slip=vx, static=0.5).resting()
    Interval(low=-0.5, high=0.5)
    """

    mu: Any
    slip: Any = field(kw_only=True)
    static: Any = field(default=None, kw_only=True)
    scale: Any = field(default=1, kw_only=True)

    def __post_init__(self) -> None:
        if isinstance(self.scale, tuple):
            raise DeclarationError(f"Coulomb: scale= is one expression for both slips; it was given {self.scale}.")
        for what, value in (("mu", self.mu), ("static", self.static)):
            if isinstance(value, tuple) and len(self.slip) == 1:
                raise DeclarationError(
                    f"Coulomb: {what} is a pair and the slip is one velocity. Give slip= a pair, or one {what}."
                )
        for what, value in (("mu", self.mu), ("static", self.static)):
            for item in value if isinstance(value, tuple) else (value,):
                if item is not None and item.is_negative:
                    raise DeclarationError(
                        f"Coulomb: {what} is {item}, needed a number of at least 0. The sign of the friction force "
                        "follows from the slip; turn the slip round instead."
                    )

    def section(self) -> Section:
        """Return the friction forces per unit of the multiplier while the contact slips."""
        return self._section(self.mu)

    def resting(self) -> Section:
        """Return the same at rest."""
        return self._section(self.mu if self.static is None else self.static)

    def _section(self, mu: Any) -> Section:
        if len(self.slip) == 1:
            return Interval(-(mu * self.scale), mu * self.scale)
        first, second = mu if isinstance(mu, tuple) else (mu, mu)
        return Ellipse(first * self.scale, second * self.scale)
