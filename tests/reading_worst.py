"""The texts that are hardest to read, and a script that reads them: each must be read or refused, in bounded work.

Run as ``python reading_worst.py SIZE SECONDS MEGABYTES``; the last line it prints is ``done``.
"""

from __future__ import annotations

import random
import resource
import sys
from collections.abc import Callable, Iterator

import zwang as zw
from zwang import _modelfile
from zwang._declare.model_files import from_dict

HEAD = 'schema = 1\nname = "m"\ncoordinates = ["x", "y"]\n'


def many(one: Callable[[int], str], size: int, join: str = "+") -> str:
    """Return as many parts as fit into a size."""
    parts, length = [], 0
    while length < size:
        parts.append(one(len(parts)))
        length += len(parts[-1]) + len(join)
    return join.join(parts[:-1])


def nested(functions: list[str], inner: str = "x") -> str:
    return "(".join(functions) + f"({inner}" + ")" * len(functions)


def expressions(size: int) -> Iterator[tuple[str, str]]:
    """Yield key of the model file and expression."""
    source = random.Random(1)
    yield "kinetic", "v_x**3 + v_x*(a+b+c+d+e+f+1)**1000"
    yield "kinetic", "(v_x + v_y + a*v_x + b*v_y + c)**900"
    yield "kinetic", "v_x**3*" + "*".join(f"(1+a{i})" for i in range(200))
    yield "kinetic", "v_x**2 + v_y**2 + (v_x*(1+a)**50 + v_y)**40 - (v_x*(1+a)**50 + v_y)**40"
    for name in ("tanh", "cosh", "sqrt", "exp", "sin", "abs"):
        yield "potential", nested([name] * 60)
    yield "potential", nested([source.choice(["sin", "cosh", "tanh", "exp", "sqrt"]) for _ in range(80)])
    yield "potential", "".join(source.choice(["cosh(", "tanh(", "sqrt(1+", "abs("]) for _ in range(80)) + "x" + ")" * 80
    yield "potential", "x**" * 10 + "y"
    yield "potential", "(" * 30 + "x" + "**y)" * 30
    yield "potential", "x**" * 1000 + "y"
    yield "potential", "(" * (size // 2) + ")" * (size // 2)
    yield "potential", "-" * size + "x"
    yield "potential", "9" * size
    yield "potential", "x" * size
    yield "potential", many(lambda i: f"a{i}*x**{i % 7}", size)
    yield "potential", many(lambda i: "x", size)
    yield "potential", many(lambda i: "x", size, "*")
    yield "potential", many(lambda i: f"sin({i}*x)", size)
    yield "potential", many(lambda i: f"x/{i + 2}", size)
    yield "potential", many(lambda i: f"(x+a{i})", size, "*")
    yield "potential", f"max({many(lambda i: f'x*{i}', size, ',')})"
    yield "potential", f"Piecewise({many(lambda i: f'({i},x<{i})', size, ',')},(0,True))"


def models(size: int) -> Iterator[str]:
    """Yield model files."""
    for key, text in expressions(size):
        yield HEAD + ("" if key == "kinetic" else 'kinetic = "v_x**2 + v_y**2"\n') + f'{key} = "{text}"\n'
    yield "a." * (size // 2) + "b = 1\n"
    yield "[" + "a." * (size // 2) + "b]\n"
    yield "[" * size
    yield "x = " + "[" * (size // 2) + "]" * (size // 2)
    yield "x = " + "{a=" * (size // 3) + "1" + "}" * (size // 3)
    yield HEAD + "".join(f'z{i} = "x"\n' for i in range(size // 12))


def main(size: int, seconds: int, megabytes: int) -> None:
    """Read all of them within bounds on the work of this process."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_AS, (megabytes * 2**20, megabytes * 2**20))
    for number, text in enumerate(models(size)):
        try:
            from_dict(_modelfile.loads(text))
        except zw.DeclarationError:
            print(number, "refused", flush=True)
        else:
            print(number, "read", flush=True)
    print("done")


if __name__ == "__main__":
    main(*(int(item) for item in sys.argv[1:]))
