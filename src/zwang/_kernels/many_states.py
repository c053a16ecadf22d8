"""Kernels for many states at once in C: one text for a GPU, which is CUDA C, and for a processor.

A lane is a state, or a motion. Quantities are rows over the lanes (structure of arrays), so that neighbouring lanes
read and write side by side. What depends on the parameters alone is prepared before: once for all lanes where they
share their parameters (`UNIFORM`, constant memory on a GPU), else by each lane for itself. As everywhere, no word of a
user stands in the text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from zwang._derive.program import Program
from zwang._graph.emit import C99, Emitter
from zwang._graph.graph import Node
from zwang._kernels.in_parts import in_parts
from zwang._kernels.outputs import Outputs
from zwang._kernels.straight import body, input_names, prepared_nodes

BLOCK = 128
"""Lanes of a block of threads.

A kernel is CROWDED where lanes hold so much that few of them would be at work at a time: with half the registers, and
some numbers in memory, the loop of motions is 1.5 times as fast."""
SHORT = 600
"""Lines up to which a function is taken in wherever it is called; a longer one is written in parts."""

HEAD = """#ifdef __CUDACC__
#define KERNEL extern "C" __global__ void __launch_bounds__({block})
#define CROWDED extern "C" __global__ void __launch_bounds__({block}, 4)
#define INLINE __device__ __forceinline__
#define CALLED __device__ __noinline__
#define UNIFORM __constant__
#define ROLLED _Pragma("unroll 4")
#define EACH_LANE(i, n) \\
    for (long long i = blockIdx.x * {block}LL + threadIdx.x; i < (n); i += gridDim.x * {block}LL)
#define TAKE(counter) ((long long)atomicAdd(counter, 1ULL))
#ifndef NAN
#define NAN __longlong_as_double(0x7ff8000000000000LL)
#endif
#ifndef INFINITY
#define INFINITY __longlong_as_double(0x7ff0000000000000LL)
#endif
#else
#include <math.h>
#define KERNEL void
#define CROWDED void
#define INLINE static inline
#define CALLED static
#define UNIFORM
#define ROLLED
#define EACH_LANE(i, n) for (long long i = 0; i < (n); ++i)
#define TAKE(counter) ((long long)(*(counter))++)
#endif
"""


@dataclass(frozen=True)
class LaneText:
    """Writes the parts of a text for the lanes of one program.

    Attributes
    ----------
    program : Program
    prepared : sequence of Node
        What is read from the workspace U: the parameters, and what depends on them alone.
    shared : bool
        Whether all lanes have the same parameters, and U is that of all.
    """

    program: Program
    prepared: Sequence[Node]
    shared: bool

    @classmethod
    def of(cls, program: Program, outputs: Mapping[str, Outputs], *, shared: bool) -> LaneText:
        """Return the writer of texts that compute these outputs."""
        nodes = {node for item in outputs.values() for node in prepared_nodes(program, item)}
        reached = {node for item in outputs.values() for node in program.graph.reachable(item.wanted)}
        return cls(program, sorted(nodes | (reached & set(program.params))), shared)

    @property
    def size(self) -> int:
        """Numbers in the workspace."""
        return max(len(self.prepared), 1)

    @property
    def head(self) -> str:
        """What stands before everything: the words of the dialect and the workspace, or what prepares it."""
        text = HEAD.format(block=BLOCK)
        if self.shared:
            return text + f"UNIFORM double U[{self.size}];\n"
        read, computed, name = body(self.program, input_names(self.program), self.prepared, C99)
        lines = [f"const double {item} = p[{item[1:]}];" for item in read] + computed
        lines += [f"U[{k}] = {name[node]};" for k, node in enumerate(self.prepared)]
        return text + _function("INLINE void prepare(const double *p, double *U)", ["(void)p; (void)U;", *lines])

    @property
    def own(self) -> list[str]:
        """The lines with which a lane i of n gets its workspace."""
        if self.shared:
            return []
        lines = [f"double U[{self.size}], p[{max(len(self.program.params), 1)}];"]
        lines += [f"p[{k}] = params[{k} * n + i];" for k in range(len(self.program.params))]
        return [*lines, "prepare(p, U);"]

    @property
    def passed(self) -> str:
        """The workspace as an argument."""
        return "" if self.shared else ", U"

    def function(self, title: str, outputs: Outputs) -> str:
        """Return `int title(t, q, v, out)` of one lane: 0 where all is well."""
        read, computed, text = body(self.program, self._names(), outputs.wanted, C99)
        head = f"int {title}({self._given}, double *out)"
        if len(computed) > SHORT:
            lines = [f"return {title}_along(t, q, v{self.passed}, out, 1);"]
            return self._along(title, outputs, read, computed, text) + _function(f"INLINE {head}", lines)
        places = {"q": "q[{}]", "v": "v[{}]", "w": "U[{}]"}
        lines = ["(void)t; (void)q; (void)v;", *_read(read, places), *computed]
        lines += [f"out[{k}] = {text[node]};" for k, node in enumerate(outputs.nodes)]
        lines.append("return 0;" if outputs.sound is None else f"return {text[outputs.sound]} ? 0 : 1;")
        return _function(f"INLINE {head}", lines)

    def rows(self, title: str, outputs: Outputs) -> str:
        """Return `void title(t, every, q, v, params, out, sound, n)` of n lanes: rows in, rows out.

        `every` is 1 where each lane has a time of its own, and 0 where they share it.
        """
        read, computed, text = body(self.program, self._names(), outputs.wanted, C99)
        before, lines = "", [*self.own, *(["const double t = times[every * i];"] if "t" in read else [])]
        if len(computed) > SHORT:
            before = self._along(title, outputs, read, computed, text)
            time = "t" if "t" in read else "0.0"
            lines.append(f"sound[i] = {title}_along({time}, q + i, v + i{self.passed}, out + i, n) == 0;")
        else:
            lines += _read(read, {"q": "q[{} * n + i]", "v": "v[{} * n + i]", "w": "U[{}]"}) + computed
            lines += [f"out[{k} * n + i] = {text[node]};" for k, node in enumerate(outputs.nodes)]
            lines.append(f"sound[i] = {'1' if outputs.sound is None else text[outputs.sound] + ' ? 1 : 0'};")
        rows = ", ".join(f"const double *__restrict {name}" for name in ("times", "q", "v", "params"))
        head = f"KERNEL {title}({rows}, double *__restrict out, unsigned char *__restrict sound, long long every, "
        unused = "(void)times; (void)q; (void)v; (void)params; (void)every;"
        inner = "".join(f"        {line}\n" for line in lines)
        return f"{before}{head}long long n)\n{{\n    {unused}\n    EACH_LANE(i, n) {{\n{inner}    }}\n}}\n\n"

    @property
    def _given(self) -> str:
        """What every function of a lane takes."""
        return f"double t, const double *q, const double *v{'' if self.shared else ', const double *U'}"

    def _along(self, title: str, outputs: Outputs, read: Sequence[str], computed: Sequence[str], text: Emitter) -> str:
        """Return `int title_along(t, q, v, out, n)`, which is long, in parts: neighbours in rows are n apart."""
        sound = "1" if outputs.sound is None else text[outputs.sound]
        cut = in_parts(read, computed, [*(text[node] for node in outputs.nodes), sound])
        places = {"q": "q[{} * n]", "v": "v[{} * n]", "w": "U[{}]"}
        ends = [*(f"out[{k} * n] = {text[node]};" for k, node in enumerate(outputs.nodes))]
        ends.append(f"M[{cut.memory}] = {sound} ? 0.0 : 1.0;")
        found, calls = "", []
        for k, part in enumerate(cut.parts):
            taken = [
                f"const int {name} = M[{at}] != 0.0;" if name in cut.truths else f"const double {name} = M[{at}];"
                for name, at in part.taken.items()
            ]
            left = [f"M[{at}] = {name};" for name, at in part.left.items()]
            lines = [*_read(part.inputs, places), *taken, *part.lines, *left, *(ends[j] for j in part.written)]
            unused = "(void)t; (void)q; (void)v; (void)M; (void)out; (void)n;"
            head = f"CALLED void {title}_{k}({self._given}, double *M, double *out, long long n)"
            found += _function(head, [unused, *lines])
            calls.append(f"{title}_{k}(t, q, v{self.passed}, M, out, n);")
        calls = [f"double M[{cut.memory + 1}];", *calls, f"return M[{cut.memory}] != 0.0;"]
        return found + _function(f"CALLED int {title}_along({self._given}, double *out, long long n)", calls)

    def _names(self) -> dict[Node, str]:
        return input_names(self.program) | {node: f"w{k}" for k, node in enumerate(self.prepared)}


def _read(names: Sequence[str], places: Mapping[str, str]) -> list[str]:
    """Return the lines that read inputs but for the time, which is at hand."""
    return [f"const double {item} = {places[item[0]].format(item[1:])};" for item in names if item != "t"]


def _function(head: str, lines: Sequence[str]) -> str:
    return f"{head}\n{{\n" + "".join(f"    {line}\n" for line in lines) + "}\n\n"
