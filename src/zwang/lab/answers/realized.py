"""A constraint made of a spring or of friction: its motion beside the ideal one, and how the difference falls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import zwang as zw
from zwang.lab.answers.motions import RATE, _between
from zwang.lab.answers.request_state import settled

Answers = Iterator[tuple[dict[str, Any], list[Any]]]
SECONDS = 4.0  # beyond it a person has gone on
MOST = 4000  # rows of a fast motion
WAYS = {"stiffness": "Stiffness", "viscosity": "Viscosity"}


def answer_realize(request: dict[str, Any]) -> Answers:
    """Tell the motion with a force in place of a constraint, beside the ideal motion; then the orders of the limit."""
    opened, params, state, carried = settled(request)
    constraint, way = request["constraint"], getattr(zw, WAYS[request["by"]])
    strength, until = 10.0 ** float(request["strength"]), min(float(request.get("until", 1.0)), opened.end)
    if not until > state["t"]:
        raise zw.DeclarationError(f"A motion ends after it starts: until = {until:g}, but t = {state['t']:g}.")
    if opened.tables and request.get("orders"):
        name = next(iter(opened.tables))
        raise zw.DeclarationError(f"'{name}' follows a table: the orders of a limit are measured with held inputs.")
    soft = zw.realize(opened.declared if opened.tables else opened.system, constraint, by=way(strength))
    allowed = {"seconds": SECONDS, "memory": 200_000_000}
    ideal: Any = opened.simulate(state, params, until=until, budget=allowed)
    real: Any = opened.simulate(state, params, system=soft, until=until, budget=allowed)
    end = min(float(ideal.t[-1]), float(real.t[-1]))
    start = float(ideal.t[0])
    times = np.linspace(start, end, int(np.clip(RATE * (end - start) * 4, 400, MOST)))
    names = list(ideal.coordinates)
    table = [times - start, *(ideal.at(times)[name] for name in names), *(real.at(times)[name] for name in names)]
    limit_force = ideal.reactions.get(constraint)
    has_force = limit_force is not None and limit_force.ndim == 1
    if has_force:
        table.append(_between(times, ideal.t, limit_force))
        table.append(_force(opened, real, params, constraint, strength, request["by"], times))
    gap = max((float(np.abs(table[1 + k] - table[1 + len(names) + k]).max()) for k in range(len(names))), default=0.0)
    told = {
        "constraint": constraint,
        "by": request["by"],
        "strength": strength,
        "columns": ["t", *names, *(f"{name} realized" for name in names)]
        + (["limit of the force", "force realized"] if has_force else []),
        "t0": start,
        "length": end - start,
        "sentence": f"With {'N' if request['by'] == 'stiffness' else 'rho'} = {strength:.3g} the coordinates differ by "
        f"at most {gap:.3g} until t = {end:.4g}.",
        "notes": [
            f"{words}: {motion.status.value} {motion.reason}".strip()
            for words, motion in (("ideal", ideal), ("realized", real))
            if motion.status.name != "REACHED"
        ],
        "difference": gap,
        "carried": carried,
        "orders": [],
    }
    table_ = np.stack(table, axis=1)
    if not request.get("orders"):
        yield told, [table_]
        return
    yield told | {"status": "part"}, [table_]
    study: Any = zw.limit(
        opened.model, constraint, state, params, by=way, until=until, workers=1, budget={"seconds": SECONDS}
    )
    rows = [
        {"quantity": name, "order": float(order.value), "uncertainty": float(order.uncertainty)}
        for name, order in study.orders.items()
    ]
    errors = np.stack(
        [np.asarray(study.strengths), *(np.asarray(study.errors[row["quantity"]]) for row in rows)], axis=1
    )
    yield (
        told
        | {"orders": rows, "verdict": str(study.verdict), "order_columns": ["N", *(row["quantity"] for row in rows)]},
        [table_, np.log10(np.maximum(errors, 1e-300))],
    )


def _force(opened: Any, real: Any, params: Any, constraint: str, strength: float, by: str, times: Any) -> Any:
    """Return the force that stands in for the multiplier: -N f of a spring, -rho f' of friction."""
    mechanism = opened.mechanism
    place = [str(item.name) for item in mechanism.held].index(constraint)
    found = real.at(times)
    q = np.stack([found[name] for name in mechanism.names], axis=1)
    v = np.stack([found[name] for name in mechanism.speeds], axis=1)
    value, rate = mechanism.gaps(q, v, {**params, **opened.tabled({"t": times})}, times)
    level = mechanism.on_positions[place]
    used = (value if by == "stiffness" or not level else rate)[:, place]
    return -strength * used
