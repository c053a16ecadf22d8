"""Stand-in for the compiled stepping: SciPy's DOP853 on the plain equations of a mode."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._declare.symbols import t as time
from zwang._derive.modes import Mode
from zwang._simulate.constraint_table import ConstraintTable
from zwang._simulate.mode_equations import dense_terms, solve_mode

Array = NDArray[np.float64]


@dataclass
class PlainStretch:
    t: Array
    q: Array
    v: Array
    a: Array
    dense: Array
    status: str
    fired: tuple[int, ...]
    drift: float
    next_step: float


class PlainMoving:
    def __init__(self, model: Any, mode: Mode, extra: Any = ()) -> None:
        import sympy as sp

        self.model, self.mode = model, mode
        self.table = ConstraintTable.of(model.system)
        s = model.system
        args = [time, *s.coordinates, *s.velocities, *s.parameters]
        self.extra = [sp.lambdify(args, e) for e in extra]
        self.surfaces = [sp.lambdify(args, e) for e in surfaces_of(s)]
        names: list[tuple[str, int]] = []
        for p in self.table.places:
            if p.normal >= 0 and p.one_sided and p.normal not in mode.held:
                names.append(("gap" if p.level == "position" else "value", p.normal))
            if p.normal in mode.held and (p.one_sided or p.law >= 0):
                names.append(("normal", p.normal))
        sliding = dict(mode.sliding)
        for p in self.table.places:
            if p.law in sliding:
                names.append(("slip" if len(p.slips) == 1 else "speed", p.law))
            elif p.law >= 0 and set(p.slips) & set(mode.sticking):
                names.append(("reserve", p.law))
        names += [("surface", k) for k in range(len(self.surfaces))]
        names += [("extra", k) for k in range(len(self.extra))]
        self.watch_names = tuple(names)

    def terms(self, t: float, q: Array, v: Array, params: Array) -> Any:
        return dense_terms(self.model.kernels.terms(np.array([t]), q[:, None], v[:, None], params[:, None]))

    def evaluate(self, t: float, q: Array, v: Array, params: Array) -> Any:
        terms = self.terms(t, q, v, params)
        s = solve_mode(self.table, terms, self.mode)
        out = []
        for kind, k in self.watch_names:
            if kind in ("gap", "value"):
                out.append(terms.value[k, 0])
            elif kind == "normal":
                out.append(s.normal[k, 0])
            elif kind in ("slip", "speed", "reserve"):
                p = self.table.places[self.table.of_law(k)]
                slip = terms.slip[list(p.slips), 0]
                if kind == "slip":
                    out.append(slip[0])
                elif kind == "speed":
                    out.append(float(np.linalg.norm(slip)))
                else:
                    load = 1.0 if p.kind == "friction" else abs(s.normal[p.normal, 0])
                    out.append(terms.bounds[k, 0] * load - float(np.linalg.norm(s.tangential[list(p.slips), 0])))
            else:
                f = (self.surfaces if kind == "surface" else self.extra)[k]
                out.append(float(f(t, *q, *v, *params)))
        return s.acceleration[:, 0], s.normal[:, 0], s.tangential[:, 0], np.array(out), True

    def project(self, t: float, q: Array, v: Array, params: Array) -> tuple[Array, Array, float]:
        from zwang._numerics.rank_revealing import solve_kkt

        table, mode = self.table, self.mode
        positions = [j for j in mode.held if table.places[table.of_normal(j)].level == "position"]
        drift = 0.0
        for _ in range(3):
            terms = self.terms(t, q, v, params)
            if not positions:
                break
            miss = terms.value[positions, 0]
            drift = max(drift, float(np.abs(miss).max()))
            q = q + solve_kkt(terms.mass[:, :, 0], terms.rows[positions, :, 0], np.zeros(len(q)), -miss).accelerations
        terms = self.terms(t, q, v, params)
        miss = np.array(
            [
                terms.rate[j, 0] if table.places[table.of_normal(j)].level == "position" else terms.value[j, 0]
                for j in mode.held
            ]
            + [terms.slip[j, 0] for j in mode.sticking]
        )
        rows = np.concatenate([terms.rows[list(mode.held), :, 0], terms.slip_rows[list(mode.sticking), :, 0]])
        if len(miss):
            v = v + solve_kkt(terms.mass[:, :, 0], rows, np.zeros(len(q)), -miss).accelerations
        return q, v, drift

    def advance(
        self,
        t: float,
        q: Array,
        v: Array,
        params: Array,
        until: float,
        tol: float,
        sides: Array,
        max_steps: int = 10**9,
        first_step: float = 0.0,
    ) -> PlainStretch:
        from scipy.integrate import DOP853
        from scipy.optimize import brentq

        n = len(q)

        def rhs(s: float, y: Array) -> Array:
            return np.concatenate([y[n:], self.evaluate(s, y[:n], y[n:], params)[0]])

        ts, qs, vs, acc, dense = [t], [q], [v], [self.evaluate(t, q, v, params)[0]], []
        w0 = self.evaluate(t, q, v, params)[3]
        drift, status, fired, step = 0.0, "REACHED", (), first_step
        count = 0
        while ts[-1] < until:
            y0 = np.concatenate([qs[-1], vs[-1]])
            remaining = until - ts[-1]
            with np.errstate(all="ignore"):
                solver = DOP853(
                    rhs,
                    ts[-1],
                    y0,
                    until,
                    rtol=max(tol, 3e-14),
                    atol=tol,
                    first_step=min(step, remaining) if step > 0 else None,
                )
                message = solver.step()
            if solver.status == "failed" or not np.isfinite(solver.y).all():
                status = "STEP_TOO_SMALL"
                break
            out = solver.dense_output()
            step = solver.h_abs
            grid = np.linspace(ts[-1], solver.t, 9)[1:]
            hit = None
            low = ts[-1]
            base = np.where(sides == 2, np.sign(w0), sides)
            for g in grid:
                w = self.evaluate(g, out(g)[:n], out(g)[n:], params)[3]
                bad = [k for k in range(len(sides)) if sides[k] != 0 and base[k] * w[k] < 0]
                if bad:
                    times = []
                    for k in bad:
                        f = lambda s, k=k: base[k] * self.evaluate(s, out(s)[:n], out(s)[n:], params)[3][k]
                        times.append(brentq(f, low, g, xtol=1e-15, rtol=1e-15) if f(low) > 0 else low)
                    hit = (min(times), tuple(k for k, s in zip(bad, times) if s <= min(times) + 1e-12))
                    break
                w0 = np.where(w != 0, w, w0)
                base = np.where((sides == 2) & (base == 0), np.sign(w), base)
                low = g
            end = solver.t if hit is None else hit[0]
            h_full = solver.t - ts[-1]
            y = out(end)
            if hit is None:
                dense.append(out.F.copy())
            else:
                if end > ts[-1]:
                    dense.append(_shorten(out, ts[-1], end))
            q1, v1, d = self.project(end, y[:n], y[n:], params)
            drift = max(drift, d)
            if end > ts[-1]:
                ts.append(end), qs.append(q1), vs.append(v1), acc.append(self.evaluate(end, q1, v1, params)[0])
            if hit is not None:
                status, fired = "FIRED", hit[1]
                break
            count += 1
            if count >= max_steps:
                status = "PAUSED"
                break
            del h_full, message
        shape = (len(ts) - 1, 7, 2 * n)
        return PlainStretch(
            np.array(ts),
            np.array(qs),
            np.array(vs),
            np.array(acc),
            np.array(dense).reshape(shape)[:, ::-1] if False else np.array([d[::1] for d in dense]).reshape(shape),
            status,
            fired,
            drift,
            step,
        )


def _shorten(out: Any, start: float, end: float) -> Array:
    """Fit the interpolant of a shortened step in the same form."""
    x = 0.5 - 0.5 * np.cos(np.linspace(0, np.pi, 9))[1:]
    ys = np.array([out(start + s * (end - start)) - out(start) for s in x])
    basis = np.zeros((8, 7))
    for j in range(7):
        f = np.ones(8)
        for i in range(j + 1):
            f = f * (x if i % 2 == 0 else 1 - x)
        basis[:, j] = f
    return np.asarray(np.linalg.lstsq(basis, ys, rcond=None)[0])


def surfaces_of(system: Any) -> list[Any]:
    import sympy as sp

    found: list[Any] = []
    for expr in system.expressions().values():
        for node in expr.atoms(sp.Piecewise, sp.Heaviside, sp.sign, sp.Abs, sp.Max, sp.Min):
            if isinstance(node, sp.Piecewise):
                for pair in node.args:
                    for rel in pair.cond.atoms(sp.core.relational.Relational):
                        found.append(rel.lhs - rel.rhs)
            elif isinstance(node, (sp.Max, sp.Min)):
                found += [a - b for i, a in enumerate(node.args) for b in node.args[i + 1 :]]
            else:
                found.append(node.args[0])
    return list(dict.fromkeys(found))
