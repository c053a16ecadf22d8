"""Kernels as C: what Numba compiles for a processor, written as C for GPUs, from the same Python.

A kernel is translated for the types of its arguments, and so are those that it calls: numbers, C-ordered arrays, and
NamedTuples of them. Local arrays get room for the largest shape that is asked for. The language is the part of Python
in which kernels are written here; anything else is refused by name and line.
"""

from __future__ import annotations

import ast
import inspect
import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zwang._kernels.c_types import (
    FLOAT,
    INT,
    ITEMS,
    ORDER,
    TRUTH,
    ArrayKind,
    Kind,
    RecordKind,
    Value,
    c_name,
    number,
    record_kind,
)
from zwang._numerics.jit.kernel import Kernel
from zwang.errors import CompileError

FUNCTIONS = {"sqrt", "sin", "cos", "tan", "exp", "log", "floor", "ceil", "hypot", "atan2"}
COMPARED = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}

HEAD = """#ifdef __CUDACC__
#define MADE(kind, ...) kind{__VA_ARGS__}
#else
#define MADE(kind, ...) ((kind){__VA_ARGS__})
#endif
INLINE double larger(double a, double b) { return b > a ? b : a; }
INLINE double smaller(double a, double b) { return b < a ? b : a; }
INLINE long long larger_whole(long long a, long long b) { return b > a ? b : a; }
INLINE long long smaller_whole(long long a, long long b) { return b < a ? b : a; }
INLINE long long whole_size(long long a) { return a < 0 ? -a : a; }
INLINE long long remainder_of(long long a, long long b) { return (a % b + b) % b; }
"""


@dataclass
class Translation:
    """C for kernels, and for all that they call.

    Parameters
    ----------
    most : mapping
        Bounds of the numbers that stand in the shapes of local arrays, by their name in the kernels.
    """

    most: Mapping[str, int]
    _types: dict[str, str] = field(default_factory=dict)
    _functions: dict[tuple[Any, ...], tuple[str, Kind | None]] = field(default_factory=dict)
    _texts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All types and functions so far."""
        return HEAD + "".join(self._types.values()) + "\n" + "\n".join(self._texts)

    def function(self, kernel: Any, kinds: Sequence[Kind]) -> tuple[str, Kind | None]:
        """Translate a kernel for arguments of these types; return its name in C and the type of its result."""
        key = (kernel.py_func, tuple(kinds))
        if key not in self._functions:
            name = f"{kernel.py_func.__name__.lstrip('_')}_{len(self._functions)}"
            self._functions[key] = (name, None)  # keeps its number while those that it calls are translated
            writer = _Function(self, kernel.py_func, [self.declared(kind) for kind in kinds])
            self._functions[key] = (name, writer.returned)
            self._texts.append(writer.source(name, "CALLED" if kernel.separate else "INLINE"))
        return self._functions[key]

    def declared(self, kind: Kind) -> Kind:
        """Write a type down, and return it."""
        if isinstance(kind, ArrayKind) and kind.name not in self._types:
            self._types[kind.name] = f"typedef struct {{ {kind.item} *at; long long n[{kind.rank}]; }} {kind.name};\n"
        if isinstance(kind, RecordKind) and kind.name not in self._types:
            for _, part in kind.fields:
                self.declared(part)
            inner = " ".join(f"{c_name(part)} {name};" for name, part in kind.fields)
            self._types[kind.name] = f"typedef struct {{ {inner} }} {kind.name};\n"
        return kind

    def tuple_of(self, kinds: Sequence[Kind]) -> RecordKind:
        """Return the type of a plain tuple."""
        name = "tuple_of_" + "_".join(c_name(kind).replace(" ", "_") for kind in kinds)
        kind = RecordKind(name, tuple((f"item{k}", part) for k, part in enumerate(kinds)))
        self.declared(kind)
        return kind


class _Function:
    """One kernel for one set of types. It is written until the types of its variables no longer change."""

    def __init__(self, whole: Translation, function: Callable[..., Any], kinds: Sequence[Kind]) -> None:
        self.whole, self.scope, self.where = whole, function.__globals__, function
        tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
        assert isinstance(tree, ast.FunctionDef)
        self.arguments = list(zip([item.arg for item in tree.args.args], kinds, strict=True))
        self.local: dict[str, Kind] = {}
        self.returned: Kind | None = None
        self.lines: list[str] = []
        self.rooms: list[str] = []
        self.names, self.depth = 0, 1
        before: Any = None
        while before != (before := (dict(self.local), self.returned)):
            self.lines, self.rooms, self.names = [], [], 0
            self._block(tree.body, 1)

    def source(self, name: str, how: str) -> str:
        """Return the text of the function."""
        given = ", ".join(f"{c_name(kind)} {item}" for item, kind in self.arguments)
        own = dict(self.arguments)
        declared = [
            f"    {c_name(kind)} {item} = {'0' if isinstance(kind, str) else '{0}'};\n"
            for item, kind in self.local.items()
            if item not in own
        ]
        head = f"{how} {'void' if self.returned is None else c_name(self.returned)} {name}({given})"
        return f"{head}\n{{\n{''.join(declared)}{''.join(self.rooms)}{''.join(self.lines)}}}\n"

    # Statements

    def _block(self, body: Sequence[ast.stmt], depth: int) -> None:
        for statement in body:
            self.depth = depth
            write = getattr(self, f"_{type(statement).__name__}", None)
            if write is None:
                raise self._refused(statement)
            write(statement, depth)

    def _put(self, text: str, depth: int) -> None:
        self.lines.append("    " * depth + text + "\n")

    def _Expr(self, statement: ast.Expr, depth: int) -> None:
        if not isinstance(statement.value, ast.Constant):  # a docstring
            self._put(self.value(statement.value).text + ";", depth)

    def _Return(self, statement: ast.Return, depth: int) -> None:
        if statement.value is None:
            return self._put("return;", depth)
        found = self.value(statement.value)
        self.returned = self._join(self.returned, found.kind, statement)
        text = found.text
        if isinstance(self.returned, RecordKind) and isinstance(statement.value, ast.Tuple):
            text = self._made(self.returned, [self.value(item) for item in statement.value.elts])
        return self._put(f"return {text};", depth)

    def _Continue(self, statement: ast.Continue, depth: int) -> None:
        self._put("continue;", depth)

    def _Break(self, statement: ast.Break, depth: int) -> None:
        self._put("break;", depth)

    def _If(self, statement: ast.If, depth: int) -> None:
        self._put(f"if ({self.value(statement.test).text}) {{", depth)
        self._block(statement.body, depth + 1)
        if statement.orelse:
            self._put("} else {", depth)
            self._block(statement.orelse, depth + 1)
        self._put("}", depth)

    def _While(self, statement: ast.While, depth: int) -> None:
        self._put(f"while ({self.value(statement.test).text}) {{", depth)
        self._block(statement.body, depth + 1)
        self._put("}", depth)

    def _For(self, statement: ast.For, depth: int) -> None:
        call = statement.iter
        named = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"
        if not named or not isinstance(statement.target, ast.Name) or statement.orelse:
            raise self._refused(statement)
        assert isinstance(call, ast.Call)
        bounds = [self.value(item).text for item in call.args]
        start, end = ("0", bounds[0]) if len(bounds) == 1 else (bounds[0], bounds[1])
        step = bounds[2] if len(bounds) == 3 else "1"
        down = len(bounds) == 3 and isinstance(call.args[2], ast.UnaryOp)
        self.names += 1
        # A counter of its own: as in Python, the variable keeps its last value, and may be changed inside.
        at, last = f"at_{self.names}", f"end_{self.names}"
        self._put(f"const long long {last} = {end};", depth)
        self._put(f"for (long long {at} = {start}; {at} {'>' if down else '<'} {last}; {at} += {step}) {{", depth)
        if statement.target.id != "_":
            self._assign(statement.target, Value(at, INT), depth + 1)
        self._block(statement.body, depth + 1)
        self._put("}", depth)

    def _AugAssign(self, statement: ast.AugAssign, depth: int) -> None:
        right = ast.copy_location(ast.BinOp(_read(statement.target), statement.op, statement.value), statement)
        self._assign(statement.target, self.value(right), depth)

    def _Assign(self, statement: ast.Assign, depth: int) -> None:
        for target in statement.targets:
            self._to(target, statement.value, depth)

    def _to(self, target: ast.expr, value: ast.expr, depth: int) -> None:
        """Write one assignment, taken apart where tuples are given."""
        if not isinstance(target, ast.Tuple):
            return self._assign(target, self.value(value), depth)
        if isinstance(value, ast.IfExp):
            self._put(f"if ({self.value(value.test).text}) {{", depth)
            self._to(target, value.body, depth + 1)
            self._put("} else {", depth)
            self._to(target, value.orelse, depth + 1)
            return self._put("}", depth)
        if not isinstance(value, ast.Tuple):
            return self._unpack(target, self.value(value), depth)
        written = {node.id for item in target.elts for node in ast.walk(item) if isinstance(node, ast.Name)}
        if not written & {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}:
            for item, part in zip(target.elts, value.elts, strict=True):
                self._to(item, part, depth)
            return None
        held = [self._held(self.value(part), depth) for part in value.elts]
        for item, found in zip(target.elts, held, strict=True):
            self._assign(item, found, depth)
        return None

    def _unpack(self, target: ast.Tuple, value: Value, depth: int) -> None:
        held = self._held(value, depth)
        for k, item in enumerate(target.elts):
            if isinstance(held.kind, RecordKind):
                name, kind = held.kind.fields[k]
                self._assign(item, Value(f"{held.text}.{name}", kind), depth)
            elif isinstance(held.kind, ArrayKind) and held.kind.rank == 1:
                self._assign(item, Value(f"{held.text}.at[{k}]", number(held.kind.item)), depth)
            else:
                raise self._refused(target)

    def _held(self, value: Value, depth: int) -> Value:
        self.names += 1
        self._put(f"const {c_name(value.kind)} held_{self.names} = {value.text};", depth)
        return Value(f"held_{self.names}", value.kind)

    def _assign(self, target: ast.expr, value: Value, depth: int) -> None:
        if isinstance(target, ast.Name):
            self.local[target.id] = self._join(self.local.get(target.id), value.kind, target)
            return self._put(f"{target.id} = {value.text};", depth)
        if isinstance(target, ast.Subscript):
            return self._put(f"{self.value(_read(target)).text} = {value.text};", depth)
        raise self._refused(target)

    def _room(self, call: ast.Call, made: str) -> Value:
        """Return a new array of NumPy: its numbers stand in room of a fixed size."""
        axes = call.args[0].elts if isinstance(call.args[0], ast.Tuple) else [call.args[0]]
        item = FLOAT
        if len(call.args) > 1:
            item = INT if ast.unparse(call.args[1]).endswith("int64") else ITEMS["boolean"]
        kind = ArrayKind(item, len(axes))
        self.whole.declared(kind)
        self.names += 1
        size, shape = math.prod(map(self._bound, axes)), [self.value(axis).text for axis in axes]
        self.rooms.append(f"    {item} room_{self.names}[{size}];\n")
        if made == "zeros":
            self._put(f"for (long long k = 0; k < {' * '.join(shape)}; ++k) room_{self.names}[k] = 0;", self.depth)
        return Value(f"MADE({kind.name}, room_{self.names}, {{{', '.join(shape)}}})", kind)

    def _bound(self, node: ast.expr) -> int:
        """Return the largest value of a number in a shape."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Mult)):
            left, right = self._bound(node.left), self._bound(node.right)
            return left + right if isinstance(node.op, ast.Add) else left * right
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return node.value
        if isinstance(node, ast.Name) and node.id in self.whole.most:
            return self.whole.most[node.id]
        if isinstance(node, ast.Name) and isinstance(self.scope.get(node.id), int):
            return int(self.scope[node.id])
        raise self._refused(node, "a shape whose bound is not given")

    # Expressions

    def value(self, node: ast.expr) -> Value:
        """Return an expression in C."""
        read = getattr(self, f"_value_of_{type(node).__name__}", None)
        if read is None:
            raise self._refused(node)
        found: Value = read(node)
        return found

    def _value_of_Constant(self, node: ast.Constant) -> Value:
        return self._constant(node.value, node)

    def _constant(self, value: Any, node: ast.expr) -> Value:
        if isinstance(value, (bool, np.bool_)):
            return Value("1" if value else "0", TRUTH)
        if isinstance(value, int):
            return Value(f"({int(value)})" if value < 0 else str(int(value)), INT)
        if isinstance(value, float):
            text = ("-INFINITY" if value < 0 else "INFINITY") if math.isinf(value) else repr(float(value))
            return Value(f"({text})", FLOAT)
        raise self._refused(node)

    def _value_of_Name(self, node: ast.Name) -> Value:
        given = dict(self.arguments)
        if node.id in self.local:
            return Value(node.id, self.local[node.id])
        if node.id in given:
            return Value(node.id, given[node.id])
        if node.id in self.scope:
            return self._constant(self.scope[node.id], node)
        raise self._refused(node, "a name that is not known here")

    def _value_of_Attribute(self, node: ast.Attribute) -> Value:
        if isinstance(node.value, ast.Name) and self.scope.get(node.value.id) in (np, math):
            return self._constant(getattr(np, node.attr), node)
        of = self.value(node.value)
        if isinstance(of.kind, RecordKind):
            return Value(f"{of.text}.{node.attr}", dict(of.kind.fields)[node.attr])
        if isinstance(of.kind, ArrayKind) and node.attr == "size":
            return Value("(" + " * ".join(f"{of.text}.n[{k}]" for k in range(of.kind.rank)) + ")", INT)
        raise self._refused(node)

    def _value_of_Subscript(self, node: ast.Subscript) -> Value:
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            of, axis = self.value(node.value.value), node.slice
            assert isinstance(axis, ast.Constant)
            return Value(f"{of.text}.n[{axis.value!r}]", INT)
        if isinstance(node.value, ast.Name) and isinstance(self.scope.get(node.value.id), tuple):
            return Value(f"{self._row(node.value)}[{self.value(node.slice).text}]", FLOAT)
        of = self.value(node.value)
        if not isinstance(of.kind, ArrayKind):
            raise self._refused(node)
        places = [self.value(item) for item in (node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice])]
        at = places[0].text
        for k in range(1, of.kind.rank):
            step = f"{of.text}.n[{k}]"
            at = f"(({at}) * {step}" + (f" + {places[k].text})" if k < len(places) else ")")
        if len(places) == of.kind.rank:
            return Value(f"{of.text}.at[{at}]", number(of.kind.item))
        part = ArrayKind(of.kind.item, of.kind.rank - len(places))
        self.whole.declared(part)
        shape = ", ".join(f"{of.text}.n[{k}]" for k in range(len(places), of.kind.rank))
        return Value(f"MADE({part.name}, {of.text}.at + {at}, {{{shape}}})", part)

    def _row(self, node: ast.Name) -> str:
        """Return the name of a tuple of numbers that stands outside of the kernel."""
        numbers = ", ".join(repr(float(item)) for item in self.scope[node.id])
        if (line := f"    const double {node.id}[] = {{{numbers}}};\n") not in self.rooms:
            self.rooms.append(line)
        return node.id

    def _value_of_BinOp(self, node: ast.BinOp) -> Value:
        left, right = self.value(node.left), self.value(node.right)
        if isinstance(node.op, ast.Mod) and (left.kind, right.kind) == (INT, INT):
            return Value(f"remainder_of({left.text}, {right.text})", INT)
        if isinstance(node.op, ast.Div):
            return Value(f"((double)({left.text}) / {right.text})", FLOAT)
        if isinstance(node.op, ast.Pow) and isinstance(node.right, ast.Constant) and node.right.value == 2:
            return Value(f"(({left.text}) * ({left.text}))", left.kind)
        if type(node.op) not in OPERATORS:
            raise self._refused(node)
        kind = self._join(self._join(left.kind, right.kind, node), INT, node)
        return Value(f"({left.text} {OPERATORS[type(node.op)]} {right.text})", kind)

    def _value_of_UnaryOp(self, node: ast.UnaryOp) -> Value:
        of = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            return Value(f"(!{of.text})", TRUTH)
        if isinstance(node.op, ast.USub):
            return Value(f"(-{of.text})", of.kind)
        raise self._refused(node)

    def _value_of_BoolOp(self, node: ast.BoolOp) -> Value:
        word = " && " if isinstance(node.op, ast.And) else " || "
        return Value("(" + word.join(self.value(item).text for item in node.values) + ")", TRUTH)

    def _value_of_Compare(self, node: ast.Compare) -> Value:
        texts = [self.value(item).text for item in (node.left, *node.comparators)]
        if any(type(op) not in COMPARED for op in node.ops):
            raise self._refused(node)
        parts = [f"{a} {COMPARED[type(op)]} {b}" for a, op, b in zip(texts, node.ops, texts[1:], strict=False)]
        return Value("(" + " && ".join(parts) + ")", TRUTH)

    def _value_of_IfExp(self, node: ast.IfExp) -> Value:
        one, other = self.value(node.body), self.value(node.orelse)
        kind = self._join(one.kind, other.kind, node)
        return Value(f"({self.value(node.test).text} ? {one.text} : {other.text})", kind)

    def _value_of_Tuple(self, node: ast.Tuple) -> Value:
        parts = [self.value(item) for item in node.elts]
        kind = self.whole.tuple_of([part.kind for part in parts])
        return Value(self._made(kind, parts), kind)

    def _made(self, kind: RecordKind, parts: Sequence[Value]) -> str:
        return f"MADE({kind.name}, {', '.join(part.text for part in parts)})"

    def _value_of_Call(self, node: ast.Call) -> Value:
        if (name := self._numpy(node)) in ("empty", "zeros"):
            return self._room(node, name)
        parts = [self.value(item) for item in node.args]
        if name in FUNCTIONS:
            return Value(f"{name}({', '.join(part.text for part in parts)})", FLOAT)
        if not isinstance(node.func, ast.Name) or node.keywords:
            raise self._refused(node)
        found = self.scope.get(node.func.id)
        if isinstance(found, Kernel):
            name, kind = self.whole.function(found, [part.kind for part in parts])
            return Value(f"{name}({', '.join(part.text for part in parts)})", kind or "void")
        if hasattr(found, "_fields"):
            kind = record_kind(found)
            self.whole.declared(kind)
            return Value(self._made(kind, parts), kind)
        return self._builtin(node.func.id, parts, node)

    def _builtin(self, name: str, parts: list[Value], node: ast.Call) -> Value:
        """Return a call of one of Python's own functions."""
        first = parts[0]
        if name in ("max", "min"):
            kind: Kind = INT
            for part in parts:
                kind = self._join(kind, part.kind, node)
            word = ("larger" if name == "max" else "smaller") + ("" if kind == FLOAT else "_whole")
            text = first.text
            for part in parts[1:]:
                text = f"{word}({text}, {part.text})"
            return Value(text, kind)
        if name == "abs":
            return Value(f"{'fabs' if first.kind == FLOAT else 'whole_size'}({first.text})", first.kind)
        if name == "len" and isinstance(first.kind, ArrayKind):
            return Value(f"{first.text}.n[0]", INT)
        if name in ("int", "float"):
            kind = INT if name == "int" else FLOAT
            return Value(f"(({kind})({first.text}))", kind)
        if name == "bool":
            return Value(f"({first.text} != 0)", TRUTH)
        raise self._refused(node)

    def _numpy(self, node: ast.expr) -> str:
        """Return the name of NumPy's or math's function that is called, "" where none is."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return ""
        home = node.func.value
        return node.func.attr if isinstance(home, ast.Name) and self.scope.get(home.id) in (np, math) else ""

    def _join(self, one: Kind | None, other: Kind, node: ast.AST) -> Kind:
        """Return the type that holds both."""
        if one is None or one == other:
            return other
        if isinstance(one, str) and isinstance(other, str):
            return max(one, other, key=ORDER.index)
        if isinstance(one, RecordKind) and isinstance(other, RecordKind) and len(one.fields) == len(other.fields):
            pairs = zip(one.fields, other.fields, strict=True)
            return self.whole.tuple_of([self._join(a, b, node) for (_, a), (_, b) in pairs])
        raise self._refused(node, f"a {c_name(one)} that is also a {c_name(other)}")

    def _refused(self, node: ast.AST, what: str = "") -> CompileError:
        place = f"{self.where.__module__}.{self.where.__name__}, line {getattr(node, 'lineno', '?')} of it"
        return CompileError(
            f"kernels in C: {place}, holds {what or type(node).__name__} ('{ast.unparse(node)[:60]}'), which has no "
            "form in C here. Write it as loops over numbers, or teach `python_to_c` the word."
        )


def _read(target: ast.expr) -> ast.expr:
    """Return a place that is written as one that is read."""
    made: ast.expr = ast.parse(ast.unparse(target), mode="eval").body
    return ast.copy_location(made, target)
