"""The order in which the definitions of a model file can be read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from zwang.errors import DeclarationError


def definition_order(
    define: Mapping[str, str], names_in: Callable[[str], Collection[str]], *, where: str = ""
) -> list[str]:
    """Return the names of definitions, each after those that it uses.

    Parameters
    ----------
    define : mapping of str to str
        Name -> expression.
    names_in : callable
        Gives the names that occur in an expression.
    where : str
        The place, for messages.

    Examples
    --------
    >>> from zwang._expressions import names
    >>> definition_order({"a": "b + 1", "b": "2*x"}, names)
    ['b', 'a']
    >>> definition_order({"a": "b", "b": "a"}, names)
    Traceback (most recent call last):
        ...
    zwang.errors.DeclarationError: definitions go in a circle: a -> b -> a. Write one of them without the others.
    """
    order: dict[str, None] = {}
    for start in define:
        path: dict[str, list[str]] = {start: _uses(define, start, names_in)} if start not in order else {}
        while path:
            current, uses = next(reversed(path.items()))
            if not uses:
                order[current] = None
                del path[current]
                continue
            used = uses.pop(0)
            if used in path:
                circle = [*path][[*path].index(used) :]
                shown = " -> ".join([*circle, used])
                begin = f"{where}: " if where else ""
                raise DeclarationError(
                    f"{begin}definitions go in a circle: {shown}. Write one of them without the others."
                )
            if used not in order:
                path[used] = _uses(define, used, names_in)
    return list(order)


def _uses(define: Mapping[str, str], name: str, names_in: Callable[[str], Collection[str]]) -> list[str]:
    return sorted(used for used in names_in(define[name]) if used in define)
