"""The source of a loop that moves many states of one mode side by side, a few lanes at a time.

Every quantity is a row of one array with a place for each lane, so that the processor does the lanes at once. Each lane
has its own time, step and error; one that has come to its end takes the next motion. A lane that can't go on, or comes
near a singular point, is given back with a status for the loop of a single motion. Motions end where a quantity
crosses zero: see `stops`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from zwang._numerics.motion.stops import CLEAR, DOUBTFUL, GOING_ON, HUNT, SAMPLED, SAMPLES, STOPPED, WHICH, block
from zwang._numerics.motion.tableau import E3, E5, STAGES, B, C
from zwang._numerics.motion.unrolled import matrix, weights

REACHED, UNFINISHED = 0, 1
"""How a motion of the ensemble ended: at its time, or not in this loop."""
NEAR = 1e3
"""How often the least value of 1/det(J M^-1 J^T) in a motion may go into its greatest one; else it is near a singular
point."""
STEEP = 12.0
"""How often it may grow inside one step; else a singular point may lie between two stages."""


@dataclass(frozen=True)
class LaneLayout:
    """Where each quantity stands: coordinates, parameters, prepared values, held rows on positions, held rows.

    `turns`: which coordinates are angles; `directions`: of the quantities at whose crossing of zero a motion ends.
    """

    n: int
    params: int
    prepared: int
    positions: int
    rows: int
    lanes: int
    turns: tuple[bool, ...]
    directions: tuple[int, ...] = ()

    @cached_property
    def places(self) -> dict[str, int]:
        """Name of a quantity -> its first row."""
        n = self.n
        single = (
            "T END H STEP NEXT ERR GOOD HELD ACTIVE DRIFT PEAK LEAST FLOOR SOUND SEEN EARLY STUCK FRESH TAKEN D0 D1 "
            "WORST "
        )
        sizes = dict.fromkeys((single + "FAR OFF ZT").split(), 1)
        sizes |= {"P": self.params, "W": self.prepared, "F": 2 * n, "OUT": 2 * n + self.rows + self.positions}
        sizes |= {"LOOK": block(len(self.directions)), "SHOWN": 1} if self.directions else {}
        sizes |= {
            "ZQ": n,
            "ZV": n,
            "YQ": n,
            "YV": n,
            "UQ": n,
            "UV": n,
            "UA": n,
            "HS": n,
            "SQ": n,
            "SV": n,
            "K": STAGES * n,
        }
        found, at = {}, 0
        for name, size in sizes.items():
            found[name] = at
            at += size
        return {**found, "ALL": at}

    @property
    def size(self) -> int:
        """Numbers in the array."""
        return self.lanes * self.places["ALL"]

    def row(self, name: str, k: int = 0) -> str:
        """Return the text of one lane of a row."""
        return f"room[{self.lanes * (self.places[name] + k)} + j]"

    def entry(self, name: str, k: int = 0) -> str:
        """Return the text of entry m, coordinates and lanes counted together, from row k of a quantity on."""
        return f"room[{self.lanes * (self.places[name] + k)} + m]"

    @property
    def turning(self) -> int:
        """A bit for each coordinate: whether it is an angle."""
        return sum(1 << k for k, turns in enumerate(self.turns) if turns)

    @property
    def look(self) -> str:
        """The text of the numbers of one lane for `stops`: their array, the first one, and how far apart they are."""
        return f"room, {self.lanes * self.places['LOOK']} + j, {self.lanes}"

    @property
    def hunt(self) -> int:
        """Numbers of the block before those of a crossing that is shut in."""
        return (SAMPLES + 2) * len(self.directions)


def _sum(layout: LaneLayout, row: list[float]) -> str:
    """Return the weighted sum of the accelerations of the stages, in one coordinate of one lane."""
    terms = [f"{w!r} * {layout.entry('K', i * layout.n)}" for i, w in enumerate(row) if w != 0.0]
    halves = [" + ".join(terms[::2]), " + ".join(terms[1::2])]
    return f"({halves[0]}" + (f" + ({halves[1]})" if halves[1] else "") + ")" if terms else "0.0"


def _lanes(layout: LaneLayout, lines: list[str]) -> str:
    """Return a loop over the lanes."""
    return f"    for j in range({layout.lanes}):\n" + "".join(f"        {line}\n" for line in lines)


def _entries(layout: LaneLayout, lines: list[str], rows: int | None = None) -> str:
    """Return a loop over coordinates and lanes; m counts both."""
    head = f"    for k in range({layout.n if rows is None else rows}):\n        for j in range({layout.lanes}):\n"
    return head + "".join(f"            {line}\n" for line in [f"m = {layout.lanes} * k + j", *lines])


def _flat(layout: LaneLayout, lines: list[str]) -> str:
    """Return a loop over coordinates and lanes together, m."""
    return f"    for m in range({layout.n * layout.lanes}):\n" + "".join(f"        {line}\n" for line in lines)


def _function(name: str, body: str, more: str = "") -> str:
    """Return a function of the room; others call it through a symbol, so that it is compiled once."""
    kinds = {"": "", ", tol": ", float64", ", first": ", boolean"}[more]
    head = f'\n\n@njit("void(float64[::1]{kinds})", separate=True, _nrt=False, fastmath={{"contract"}})\n'
    return f"{head}def {name}(room{more}):\n{body}"


def _stages(layout: LaneLayout) -> str:
    """Return the source of `stages`: all accelerations of a step, and how near a singular point they were."""
    at, of, n = layout.row, layout.entry, layout.n
    a = matrix()
    square = a @ a
    text = _lanes(layout, [f"{at('GOOD')} = 1.0", f"{at('PEAK')} = 0.0", f"{at('LEAST')} = {at('FLOOR')}"])
    text += _entries(layout, [f"{of('HS')} = {at('STEP')}"])
    for i in range(1, STAGES):
        text += _lanes(layout, [f"{at('ZT')} = {at('T')} + {C[i]!r} * {at('STEP')}"])
        lines = [f"h = {of('HS')}", f"y = {of('YV')}", f"{of('ZV')} = y + h * {_sum(layout, a[i].tolist())}"]
        lines.append(f"{of('ZQ')} = {of('YQ')} + h * ({C[i]!r} * y + h * {_sum(layout, square[i].tolist())})")
        text += _flat(layout, lines) + "    motion(room)\n"
        text += _flat(layout, [f"{of('K', i * n)} = {of('OUT')}"]) + "    look(room)\n"
        text += _lanes(layout, [f"{at('EARLY')} = {at('SEEN')}"]) if i == 1 else ""
        if layout.directions and i in SAMPLED:
            text += "    watch(room)\n" + _sampled(layout, 1 + SAMPLED.index(i))
    lines = [f"{at('GOOD')} = {at('GOOD')} * {at('SOUND')}", f"seen = {at('SEEN')}"]
    lines += [f"peak = {at('PEAK')}", f"{at('PEAK')} = seen if seen > peak else peak"]
    lines += [f"least = {at('LEAST')}", f"{at('LEAST')} = seen if seen < least else least"]
    return _function("look", _lanes(layout, lines)) + _function("stages", text)


def _sampled(layout: LaneLayout, s: int, when: str = "True") -> str:
    """Return the loop that keeps what was just watched as sample s."""
    count = len(layout.directions)
    taken = [(layout.row("LOOK", s * count + e), layout.row("LOOK", (SAMPLES - 1) * count + e)) for e in range(count)]
    return _lanes(layout, [f"{to} = {value} if {when} else {to}" for to, value in taken])


def _stops(layout: LaneLayout) -> str:
    """Return the source of `stop`: what a step shows of the quantities at whose crossing a motion ends."""
    at, of, count = layout.row, layout.entry, len(layout.directions)
    text = _flat(layout, [f"{of('ZV')} = {of('UV')}"]) + "    watch(room)\n"
    lines = [f"active = {at('ACTIVE')} != 0.0", f"hunting = {at('LOOK', layout.hunt + WHICH)} >= 0.0"]
    lines += [f"good = ({at('ERR')} <= 1.0) & ({at('D0')} < 1e300) & ({at('GOOD')} != 0.0)", f"shown = {CLEAR}"]
    lines += ["if active & good & hunting:", f"    shown = narrow({layout.look}, {count}, {at('NEXT')})"]
    lines += ["elif active & good:", f"    shown = met({layout.look}, {count}, {at('T')}, {at('STEP')})"]
    lines += ["elif active & hunting:", f"    shown = {DOUBTFUL}", f"{at('SHOWN')} = shown"]
    lines += [f"{at('END')} = {at('NEXT')} if shown == {STOPPED} else {at('END')}"]
    return _function("stop", text + _lanes(layout, lines))


def _fresh_look(layout: LaneLayout) -> str:
    """Return the loops that begin to watch in fresh lanes."""
    at, of, count = layout.row, layout.entry, len(layout.directions)
    values = dict.fromkeys(range(SAMPLES * count, layout.hunt + HUNT), 0.0)
    values |= {(SAMPLES + 1) * count + e: float(direction) for e, direction in enumerate(layout.directions)}
    values[layout.hunt + WHICH] = -1.0
    lines = [f"{at('ZT')} = {at('T')}", f"fresh = {at('FRESH')} != 0.0"]
    lines += [f"{at('LOOK', k)} = {value!r} if fresh else {at('LOOK', k)}" for k, value in values.items()]
    text = _lanes(layout, lines) + _flat(layout, [f"{of('ZQ')} = {of('YQ')}", f"{of('ZV')} = {of('YV')}"])
    return text + "    watch(room)\n" + _sampled(layout, 0, f"{at('FRESH')} != 0.0")


def _result(layout: LaneLayout) -> str:
    """Return the source of `result`: the end of a step, and its error relative to the tolerance."""
    at, of, a = layout.row, layout.entry, matrix()
    rows = [weights(row) for row in (B, E5, E3)]
    direct, twice = [_sum(layout, row.tolist()) for row in rows], [_sum(layout, (row @ a).tolist()) for row in rows]
    lines = [f"h = {of('HS')}", f"y = {of('YV')}", f"x = {of('YQ')}", f"u = y + h * {direct[0]}"]
    lines += [f"w = x + h * (y + h * {twice[0]})", f"{of('UV')} = u", f"{of('UQ')} = w"]
    lines += ["large = abs(y) if abs(y) > abs(u) else abs(u)", f"fast = h / (tol * ({of('SV')} + large))"]
    lines += ["large = abs(x) if abs(x) > abs(w) else abs(w)", f"place = h * h / (tol * ({of('SQ')} + large))"]
    lines += [f"e = fast * {direct[1]}", f"d = place * {twice[1]}", f"{of('F')} = e * e + d * d"]
    lines += [f"e = fast * {direct[2]}", f"d = place * {twice[2]}", f"{of('F', layout.n)} = e * e + d * d"]
    text = _flat(layout, lines) + _lanes(layout, [f"{at('D0')} = 0.0", f"{at('D1')} = 0.0"])
    text += _entries(layout, [f"{at('D0')} += {of('F')}", f"{at('D1')} += {of('F', layout.n)}"])
    lines = [f"five = {at('D0')}", f"size = five + 0.01 * {at('D1')}"]
    lines.append(f"{at('ERR')} = five / math.sqrt({2.0 * layout.n!r} * size + 1e-300)")
    return _function("result", text + _lanes(layout, lines), ", tol")


def _projection(layout: LaneLayout) -> str:
    """Return the source of `settle`: states in ZT, ZQ, ZV, lanes in TAKEN; the way back, and accelerations there."""
    at, of, n = layout.row, layout.entry, layout.n
    sound = _lanes(layout, [f"{at('GOOD')} = {at('GOOD')} * {at('SOUND')}"])
    if not layout.rows:
        moves = [f"{of('UQ')} = {of('ZQ')}", f"{of('UV')} = {of('ZV')}", f"{of('UA')} = {of('OUT')}"]
        return _function("settle", "    motion(room)\n" + sound + _flat(layout, moves))
    change = _lanes(layout, [f"{at(name)} = 0.0" for name in ("D0", "D1", "OFF")])
    lines = [f"d = {of('OUT')}", f"x = {of('ZQ')} + d", f"{of('ZQ')} = x", "d, x = abs(d), abs(x)"]
    lines += [f"{at('D0')} = max({at('D0')}, d)", f"{at('D1')} = max({at('D1')}, x)"]
    change += _entries(layout, lines)
    change += _entries(layout, [f"{at('OFF')} = max({at('OFF')}, abs({of('OUT', n)}))"], layout.positions)
    lines = [f"off = {at('OFF')}", f"far = ({at('D0')} > 1e-9 * {at('D1')}) & (off != 0.0)"]
    lines += [f"{at('FAR')} = {at('TAKEN')} if far else 0.0", f"{at('GOOD')} = {at('GOOD')} * {at('SOUND')}"]
    lines.append(f"{at('DRIFT')} = max({at('DRIFT')}, off * {at('TAKEN')} if first else 0.0)")
    text = _function("shifted", change + _lanes(layout, lines), ", first")
    body = ""
    if layout.positions:
        body = "    for attempt in range(6):\n        shift(room)\n        shifted(room, attempt == 0)\n"
        body += "        more = 0.0\n"
        body += f"        for j in range({layout.lanes}):\n            more += {at('FAR')}\n"
        body += "        if more == 0.0:\n            break\n"
        body += _lanes(layout, [f"{at('GOOD')} = 0.0 if {at('FAR')} != 0.0 else {at('GOOD')}"])
    body += "    land(room)\n" + sound
    moves = [f"{of('UQ')} = {of('ZQ')}", f"{of('UV')} = {of('OUT')}", f"{of('UA')} = {of('OUT', n)}"]
    return text + _function("settle", body + _flat(layout, moves))


def _kept(layout: LaneLayout) -> str:
    """Return the loop that takes the end of a step for the next start where TAKEN says so."""
    lines = [f"good = {layout.row('TAKEN')} != 0.0"]
    for to, source in (("YQ", "UQ"), ("YV", "UV"), ("K", "UA")):
        lines += [f"a = {layout.entry(source)}", f"b = {layout.entry(to)}", f"{layout.entry(to)} = a if good else b"]
    for size, to in (("SQ", "YQ"), ("SV", "YV")):
        lines += [
            f"a = abs({layout.entry(to)})",
            f"b = {layout.entry(size)}",
            f"{layout.entry(size)} = a if a > b else b",
        ]
    return _entries(layout, lines)


def _total(layout: LaneLayout) -> str:
    """Return the loops for the sum of all sizes at the end of a step, which is finite if all are; in D0."""
    at, of = layout.row, layout.entry
    sizes = " + ".join(f"abs({of(name)})" for name in ("UQ", "UV", "UA"))
    return _lanes(layout, [f"{at('D0')} = 0.0"]) + _entries(layout, [f"{at('D0')} += {sizes}"])


def _decision(layout: LaneLayout) -> str:
    """Return the source of `length`, the step to try, and `decide`: whether it is taken, and the next one."""
    at, of = layout.row, layout.entry
    lines = [f"left = {at('END')} - {at('T')}", f"h = {at('H')}", "last = 1.01 * h >= left"]
    lines += [f"{at('STEP')} = left if last else h", f"{at('NEXT')} = {at('END')} if last else {at('T')} + h"]
    if layout.directions:
        lines += [f"if {at('LOOK', layout.hunt + WHICH)} >= 0.0:"]
        first = layout.lanes * (layout.places["LOOK"] + layout.hunt)
        lines += [f"    {at('NEXT')} = aim(room, {first} + j, {layout.lanes})"]
        lines += [f"    {at('STEP')} = {at('NEXT')} - {at('T')}"]
    text = _function("length", _lanes(layout, lines))
    lines = [f"{at('TAKEN')} = {at('ACTIVE')} * {at('GOOD')} * (1.0 if {at('ERR')} <= 1.0 else 0.0)"]
    lines.append(f"{at('ZT')} = {at('NEXT')}")
    body = _lanes(layout, lines) + _flat(layout, [f"{of('ZQ')} = {of('UQ')}", f"{of('ZV')} = {of('UV')}"])
    text += _function("land_at_end", body + "    settle(room)\n")
    lines = [f"e = {at('ERR')}", f"step = {at('STEP')}", f"h = {at('H')}", f"active = {at('ACTIVE')} != 0.0"]
    lines += ["root = math.sqrt(math.sqrt(math.sqrt(e)))", "finite = e < 1e300", f"held = {at('HELD')} != 0.0"]
    lines += [f"good = active & (e <= 1.0) & ({at('D0')} < 1e300) & ({at('GOOD')} != 0.0)"]
    if layout.directions:
        lines += [f"shown = {at('SHOWN')}", f"good = good & ((shown == {CLEAR}) | (shown == {STOPPED}))"]
        lines += [f"active = active & (shown != {GOING_ON})"]
    lines += ["grow = 0.9 / (root + 1e-30)", "most = grow if grow < 6.0 else 6.0"]
    lines += ["most = 1.0 if held & (most > 1.0) else most", "longer = step * most"]
    # A last step that was cut short says nothing against the longer one.
    lines += ["longer = h if (step < h) & (longer < h) else longer"]
    lines += ["less = grow if grow > 0.2 else 0.2", "less = less if finite & (e > 1.0) else 0.25"]
    lines += ["h = longer if good else less * step", f"{at('H')} = h if active else {at('H')}"]
    lines += [f"t = {at('T')}", f"t = {at('NEXT')} if good else t", f"{at('T')} = t"]
    lines += [f"{at('HELD')} = 0.0 if good else 1.0", f"{at('TAKEN')} = 1.0 if good else 0.0"]
    lines += [f"low = {at('LEAST')}", f"floor = {at('FLOOR')}", "floor = low if good else floor"]
    lines += [f"{at('FLOOR')} = floor", f"peak = {at('PEAK')}", f"worst = {at('WORST')}"]
    lines += ["peak = peak if good & (peak > worst) else worst", f"{at('WORST')} = peak"]
    # Stages may lie on both sides of a singular point, none of them next to it: then they differ much in one step.
    lines += [f"early = {at('EARLY')}", f"late = {at('SEEN')}", "least = early if early < late else late"]
    lines.append(f"steep = {at('PEAK')} > {STEEP!r} * least")
    lines.append(f"near = good & ((peak > {NEAR!r} * floor) | steep)")
    lines += ["small = (not good) & ((h <= 4e-16 * abs(t)) | (h <= 1e-290))"]
    lines += [f"near = near | (shown == {DOUBTFUL})"] if layout.directions else []
    lines.append(f"{at('STUCK')} = 1.0 if active & (near | small) else {at('STUCK')}")
    stop = "    stop(room)\n" if layout.directions else ""
    return text + _function("decide", _total(layout) + stop + _lanes(layout, lines) + _kept(layout))


def _entry(layout: LaneLayout) -> str:
    """Return the source of `enter`: fresh lanes are put on their constraints and given a first step (Hairer's rule)."""
    at, of, n = layout.row, layout.entry, layout.n
    text = "    prepare(room)\n" + _lanes(
        layout, [f"{at('ZT')} = {at('T')}", f"{at('TAKEN')} = {at('FRESH')}", f"{at('GOOD')} = 1.0"]
    )
    text += _flat(layout, [f"{of('ZQ')} = {of('YQ')}", f"{of('ZV')} = {of('YV')}"]) + "    settle(room)\n"
    lines = [f"bad = (not ({at('D0')} < 1e300)) | ({at('GOOD')} == 0.0)", f"fresh = {at('FRESH')}"]
    lines += [f"{at('STUCK')} = fresh if bad else 0.0", f"{at('TAKEN')} = fresh"]
    lines += [f"{at('D0')} = 0.0", f"{at('D1')} = 0.0", f"{at('FAR')} = 0.0"]
    text += _total(layout) + _lanes(layout, lines) + _kept(layout)
    text += _fresh_look(layout) if layout.directions else ""
    lines = [f"x = {of('YQ')}", f"y = {of('YV')}", f"a = {of('K')}", f"s = tol * ({of('SQ')} + abs(x))"]
    lines += [f"r = tol * ({of('SV')} + abs(y))"]
    lines += [f"{at('D0')} += (x / s) * (x / s) + (y / r) * (y / r)"]
    lines += [f"{at('D1')} += (y / s) * (y / s) + (a / r) * (a / r)"]
    text += _entries(layout, lines)
    lines = [f"d0 = math.sqrt({1 / (2 * n)!r} * {at('D0')})", f"d1 = math.sqrt({1 / (2 * n)!r} * {at('D1')})"]
    lines += ["h = 1e-6 if (d0 < 1e-5) | (d1 < 1e-5) else 0.01 * d0 / d1", f"left = {at('END')} - {at('T')}"]
    lines += ["h = h if h < left else left", f"{at('D0')} = h", f"{at('D1')} = d1", f"{at('ZT')} = {at('T')} + h"]
    text += _lanes(layout, lines)
    lines = [f"h = {at('D0')}", f"{of('ZQ')} = {of('YQ')} + h * {of('YV')}", f"{of('ZV')} = {of('YV')} + h * {of('K')}"]
    text += _entries(layout, lines) + "    motion(room)\n"
    lines = [f"e = ({of('ZV')} - {of('YV')}) / (tol * ({of('SQ')} + abs({of('YQ')})))"]
    lines += [f"d = ({of('OUT')} - {of('K')}) / (tol * ({of('SV')} + abs({of('YV')})))"]
    lines += [f"{at('FAR')} += e * e + d * d"]
    text += _entries(layout, lines)
    lines = [f"h = {at('D0')}", f"d1 = {at('D1')}", f"left = {at('END')} - {at('T')}", f"d2 = {at('FAR')}"]
    lines += [f"d2 = math.sqrt({1 / (2 * n)!r} * d2) / (h + 1e-300)", "d = d1 if d1 > d2 else d2"]
    lines += ["root = math.sqrt(math.sqrt(math.sqrt(0.01 / (d + 1e-300))))", "tiny = 1e-3 * h"]
    lines += ["tiny = tiny if tiny > 1e-6 else 1e-6", "g = tiny if d <= 1e-15 else root"]
    lines += ["g = g if g < 100.0 * h else 100.0 * h", "g = g if g < 0.1 * left else 0.1 * left"]
    lines += [f"sound = ({at('SOUND')} != 0.0) & (d2 < 1e300)", "g = g if sound else 1e-3 * h"]
    lines += [f"fresh = {at('FRESH')} != 0.0", f"{at('H')} = g if fresh else {at('H')}"]
    lines += [f"{at(name)} = {at('SEEN')} if fresh else {at(name)}" for name in ("FLOOR", "WORST")]
    lines += [f"{at('HELD')} = 0.0 if fresh else {at('HELD')}", f"{at('FRESH')} = 0.0"]
    return _function("enter", text + _lanes(layout, lines), ", tol")


DRIVER = '''

@njit(_nrt=False)
def leave(room, j, k, t, q, v, status, drift):
    """Give a motion back."""
    t[k] = room[{L} * {T} + j]
    for i in range({N}):
        q[i, k] = room[{L} * ({YQ} + i) + j]
        v[i, k] = room[{L} * ({YV} + i) + j]
    status[k] = 1 if room[{L} * {STUCK} + j] != 0.0 else 0
    drift[k] = room[{L} * {DRIFT} + j]


@njit(_nrt=False)
def load(room, j, k, t, q, v, params, until, sizes):
    """Take a motion into a lane."""
    room[{L} * {T} + j], room[{L} * {END} + j] = t[k], until[k]
    for i in range({N}):
        room[{L} * ({YQ} + i) + j] = q[i, k]
        room[{L} * ({YV} + i) + j] = v[i, k]
        room[{L} * ({SQ} + i) + j] = 1.0 if {TURNS} >> i & 1 else sizes[0, k]
        room[{L} * ({SV} + i) + j] = sizes[2, k] if {TURNS} >> i & 1 else sizes[1, k]
    own = k if params.shape[1] > 1 else 0
    for i in range({P_SIZE}):
        room[{L} * ({P} + i) + j] = params[i, own]
    room[{L} * {FRESH} + j] = 1.0
    room[{L} * {STUCK} + j] = room[{L} * {DRIFT} + j] = 0.0


@njit("int64(float64[::1], int64[::1], int64, float64, float64[::1], float64[:, ::1], float64[:, ::1], "
      "float64[:, ::1], float64[::1], float64[:, ::1], int64[::1], int64[::1], int64[::1], float64[::1])")
def advance(room, who, rounds, tol, t, q, v, params, until, sizes, status, steps, attempts, drift):
    """Move the states t, q, v to their ends, in place; return how many are at work or wait, 0 when all are done.

    `who` holds the motion in each lane, -1 for none, then the number of the next motion; it and `room` go from call to
    call.
    """
    for _ in range(rounds):
        busy, fresh = 0, False
        for j in range({L}):
            k = who[j]
            if k >= 0 and (room[{L} * {T} + j] >= room[{L} * {END} + j] or room[{L} * {STUCK} + j] != 0.0):
                leave(room, j, k, t, q, v, status, drift)
                who[j] = k = -1
            if k < 0 and who[{L}] < t.size:
                who[j] = k = who[{L}]
                who[{L}] += 1
                load(room, j, k, t, q, v, params, until, sizes)
                fresh = True
            if k >= 0:
                busy += 1
        if busy == 0:
            return 0
        if fresh:
            enter(room, tol)
        for j in range({L}):
            at_work = who[j] >= 0 and room[{L} * {T} + j] < room[{L} * {END} + j] and room[{L} * {STUCK} + j] == 0.0
            room[{L} * {ACTIVE} + j] = 1.0 if at_work else 0.0
        length(room)
        stages(room)
        result(room, tol)
        land_at_end(room)
        decide(room)
        for j in range({L}):
            k = who[j]
            if k >= 0 and room[{L} * {ACTIVE} + j] != 0.0:
                attempts[k] += 1
                if room[{L} * {TAKEN} + j] != 0.0:
                    steps[k] += 1
    return busy
'''


def lane_source(layout: LaneLayout) -> str:
    """Return the source of the loop; `prepare`, `motion`, `shift` and `land` of the room stand before it."""
    places = {name: str(place) for name, place in layout.places.items()}
    numbers = {"L": str(layout.lanes), "N": str(layout.n), "P_SIZE": str(layout.params)}
    numbers["TURNS"] = str(layout.turning)
    text = _stages(layout) + _result(layout) + _projection(layout) + (_stops(layout) if layout.directions else "")
    text += _decision(layout) + _entry(layout)
    driver = DRIVER
    for name, value in {**places, **numbers}.items():
        driver = driver.replace(f"{{{name}}}", value)
    return text + driver
