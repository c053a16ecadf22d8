"""`Model`: a system with kernels behind it, and `compile`, which makes one."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from zwang._compile.evaluator import evaluated
from zwang._compile.given_inputs import inputs_as_parameters, with_inputs
from zwang._compile.given_values import Inputs, resolve
from zwang._compile.latex_and_jax import as_jax, as_latex
from zwang._compile.recent import Kept
from zwang._compile.states import TOL, ProjectedState, largest_violation, project, without_normal
from zwang._declare.constraints import Bilateral, Friction
from zwang._declare.switched import switched, taken_apart
from zwang._declare.switches import Event
from zwang._declare.system import System
from zwang._kernels import Service, SparseTerms, Terms, get_backend
from zwang._numerics import jit
from zwang._numerics.tolerances import real, require_kinds
from zwang._results.evaluation import Evaluation
from zwang._results.finite import within_doubles
from zwang.errors import CompileError, DeclarationError, StateError, nearest, printable

T = TypeVar("T")
Array = NDArray[np.float64]
_MODELS: Kept[Model] = Kept(64)
ELSEWHERE = ("batch", "cuda")  # backends that run on what a machine may lack
FEW, SMALL = 8, 40
"""States and coordinates up to which plain Python is quicker than to load a compiler."""
LOG = logging.getLogger("zwang.compile")


def compile(system: System | Model, backend: str | None = None, *, tier: str | None = None) -> Model:
    """Return the Model of a system: its equations as kernels of a backend.

    Parameters
    ----------
    system : System or Model
        A Model of the same backend is returned as it is.
    backend : {'native', 'reference', 'cuda', 'batch'}
        Compiled code on the CPU; plain NumPy, the oracle; CUDA on a GPU, for many states and motions; JAX, for many
        states. By default 'native', and for a Model its own.
    tier : {'compiled', 'plain'}, optional
        Pins how kernels run, as machine code or as plain Python: the same call gives the same bits in one tier. By
        default each call chooses: compiled where its machine code is on disk, plain for single states and while machine
        code is being made. Every result names its tier in its provenance. A CompileError where the process has no
        compiler (``ZWANG_NO_JIT=1``, or no Numba).

    Examples
    --------
    >>> import zwang as zw
    >>> entry = zw.gallery.get("kozlov_neishtadt")
    >>> model = zw.compile(entry.system)
    >>> model.multipliers({"x": 0, "y": 0, "v_x": 0, "v_y": 0}, entry.params)["floor"]
    array(-1.)
    """
    require_kinds({"system": system, "backend": backend, "tier": tier})
    _require_tier(tier)
    if isinstance(system, Model):
        backend = backend or system.backend
        if system.backend == backend and tier in (None, system.tier):
            return system
        tier = tier or system.tier
        system = system.system
    if not isinstance(system, System):
        raise DeclarationError(f"compile needs a System; it was given {system!r:.80}.")
    declared, name = system, backend or "native"
    LOG.info("compile '%s' for the backend %s", declared.name, name)
    model = _kept(declared, name, tier)
    if name in ELSEWHERE:
        model.kernels  # noqa: B018 - a machine that lacks what the backend runs on says so at once
    return model


def _kept(system: System, backend: str, tier: str | None) -> Model:
    key = (system.digest, system.name, tuple(system.units.items()), backend, tier)
    return _MODELS.get(key, lambda: Model(system, backend, tier))


def _require_tier(tier: str | None) -> None:
    """Refuse a tier that this process can't have."""
    if tier is not None and tier not in jit.TIERS:
        raise DeclarationError(f"compile: tier= must be 'compiled' or 'plain'; it was given {tier!r:.40}.")
    if tier == "compiled" and jit.only_tier() == "plain":
        raise CompileError(
            "compile: tier='compiled' was asked, but kernels are plain in this process. Install numba, and unset "
            "ZWANG_NO_JIT, ZWANG_TIER and NUMBA_DISABLE_JIT."
        )


class Model:
    """A system with kernels behind it; made by `compile`. Every verb takes it in place of its system.

    Attributes
    ----------
    system : System
    backend : str
    tier : str or None
        The tier that it is pinned to.
    kernels : Service
        What the backend built, for the tier of the call that asks: everything that is computed is asked there.

    Examples
    --------
    >>> import zwang as zw
    >>> rod = zw.gallery.get("painleve_rod")
    >>> model = zw.compile(rod.system)
    >>> model
    Model of 'painleve_rod': 3 coordinates, 1 constraints, backend native
    >>> zw.reactions(model, rod.state, rod.params).status.name
    'UNIQUE'
    """

    def __init__(self, system: System, backend: str, tier: str | None = None) -> None:
        self.system, self.backend, self.tier = system, backend, tier
        self._backend = get_backend(backend)
        self._made: dict[str, Service] = {}
        self._normals = [item for item in system.constraints if not isinstance(item, Friction)]

    def __reduce__(self) -> Any:
        # By the system: kernels are compiled code, which stays in its process; the cache on disk has it for the others.
        return _kept, (self.system, self.backend, self.tier)

    @property
    def kernels(self) -> Service:
        """What the backend built, for the tier of the call that asks: a compiled loop holds addresses of its own."""
        tier = jit.tier()
        if tier not in self._made:
            self._made[tier] = self._backend.build(self.system)
        return self._made[tier]

    def another(self, system: System) -> Model:
        """Return the Model of another system in the same backend and tier."""
        return compile(system, self.backend, tier=self.tier)

    def switched(self, on: Iterable[str] | None = None) -> Model:
        """Return the Model of what acts: of the constraints that are on, by default those that start so."""
        system = switched(self.system, on)
        return self if system is self.system else self.another(system)

    def acting(self, state: Any) -> tuple[Model, Any]:
        """Return the Model of what acts at a state, and the state without its 'on'."""
        rest, on = taken_apart(self.system, state)
        return self.switched(on), rest

    def __repr__(self) -> str:
        n, m = len(self.system.coordinates), len(self.system.constraints)
        name = printable(self.system.name)
        return f"Model of '{name}': {n} coordinates, {m} constraints, backend {self.backend}"

    def terms(
        self,
        state: Mapping[Any, Any],
        params: Mapping[Any, Any] | None = None,
        *,
        inputs: Mapping[Any, Any] | None = None,
    ) -> Terms | SparseTerms:
        """Return the terms of the equations; the last axis of each array runs over the states of a batch."""
        model, params, _ = with_inputs(self, state, params, inputs)
        model, state = model.acting(state)
        if model is not self:
            return model.terms(state, params)
        given = resolve(self.system, state, params)
        return self._ask(given, lambda: self.kernels.terms(given.t, given.q, given.v, given.params))

    @within_doubles()
    def evaluate(
        self,
        state: Mapping[Any, Any],
        params: Mapping[Any, Any] | None = None,
        *,
        active: Iterable[str] | None = None,
        inputs: Mapping[Any, Any] | None = None,
    ) -> Evaluation:
        """Return accelerations, multipliers, gaps, slips and energies at a state or a batch of states.

        Parameters
        ----------
        state, params : mapping
            Symbol or name -> number or array; arrays broadcast to a batch.
        inputs : mapping, optional
            Input -> number, expression of t, `Table` or `Held`.
        active : names, optional
            The constraints that hold as equalities, without friction; by default all bilateral ones. Which one-sided
            constraints are active, and what friction does, is the question of `reactions`.

        Returns
        -------
        Evaluation
        """
        model, params, _ = with_inputs(self, state, params, inputs)
        model, state = model.acting(state)
        if model is not self:
            return model.evaluate(state, params, active=active)
        given = resolve(self.system, state, params)
        chosen = self._places(active)
        return self._ask(given, lambda: evaluated(model, given, chosen))

    def _ask(self, inputs: Inputs, ask: Callable[[], T]) -> T:
        """Return what is asked, in one tier."""
        few = inputs.q.shape[1] <= FEW and len(self.system.coordinates) <= SMALL
        return jit.answer(ask, "evaluate", pinned=self.tier, small=few, main="shared", seconds=5)

    def accelerations(self, state: Mapping[Any, Any], params: Mapping[Any, Any] | None = None, **options: Any) -> Array:
        """Return the accelerations (n, ...) with the bilateral constraints active; see `evaluate`."""
        return self.evaluate(state, params, **options).accelerations

    def right_side(
        self,
        params: Mapping[Any, Any] | None = None,
        *,
        active: Iterable[str] | None = None,
        inputs: Mapping[Any, Any] | None = None,
    ) -> Callable[[float, Array], Array]:
        """Return f(t, y) of y' = f(t, y), y = (q, v), for an integrator of one's own, such as SciPy's.

        Parameters
        ----------
        params : mapping
            Symbol or name -> number.
        active : names, optional
            The constraints that hold as equalities, without friction; by default all bilateral ones. Nothing carries y
            back onto them: that is the integrator's task, or that of `project`.
        inputs : mapping, optional
            Input -> number or expression: what changes at instants is `simulate`'s task.

        Examples
        --------
        >>> import numpy as np, zwang as zw
        >>> from scipy.integrate import solve_ivp
        >>> pendulum = zw.gallery.get("ellipse_pendulum_cartesian")
        >>> model = zw.compile(pendulum.system)
        >>> names = [item.name for item in (*pendulum.system.coordinates, *pendulum.system.velocities)]
        >>> start = [pendulum.state[name] for name in names]
        >>> found = solve_ivp(model.right_side(pendulum.params), (0, 0.1), start, rtol=1e-10, atol=1e-12)
        >>> motion = zw.simulate(model, pendulum.state, pendulum.params, until=0.1)
        >>> bool(np.abs(found.y[:4, -1] - motion.q[-1]).max() < 1e-8)
        True
        """
        if (model := self.switched()) is not self:
            return model.right_side(params, active=active)
        n, chosen = len(self.system.coordinates), self._places(active)
        nowhere = {item.name: 0.0 for item in (*self.system.coordinates, *self.system.velocities)}
        model, params, found = with_inputs(self, nowhere, params, inputs)
        if found is not None:
            if found.changing:
                raise DeclarationError(
                    f"{self.system.name}: right_side takes inputs that are numbers or expressions; tables and held "
                    "functions change at instants, which an integrator must be told of. Use simulate."
                )
            return model.right_side(params, active=active)
        values = resolve(self.system, nowhere, params).params
        if values.shape[1] != 1:
            raise DeclarationError(f"{self.system.name}: right_side takes one value of each parameter, not arrays.")

        def slow(t: float, y: Array) -> Array:
            inputs = Inputs(np.array([t]), y[:n, None].copy(), y[n:, None].copy(), values, ())
            return np.concatenate([y[n:], np.ravel(evaluated(self, inputs, chosen).accelerations)])

        if self.kernels.sparse:
            return slow
        solver, numbers = self.kernels.solver(chosen), np.ascontiguousarray(values[:, 0])
        call, table, space = solver.calls[0], solver.table, solver.workspace(numbers)
        size = 2 * n + len(chosen)

        def quick(t: float, y: Array) -> Array:
            y = np.ascontiguousarray(y, dtype=float)
            v, found = y[n:], np.empty(size)
            found[:n] = v
            status = call(float(t), y[:n], v, numbers, table, space, found[n:])
            # A pivot that is not sound asks for the way that looks for the rank.
            return found[: 2 * n] if status == 0 else slow(t, y)

        return quick

    def multipliers(self, state: Mapping[Any, Any], params: Mapping[Any, Any] | None = None, **options: Any) -> Any:
        """Return name -> multiplier of the active constraints; see `evaluate`."""
        return self.evaluate(state, params, **options).multipliers

    def gaps(self, state: Mapping[Any, Any], params: Mapping[Any, Any] | None = None, **options: Any) -> Any:
        """Return name -> value of the declared expression; see `evaluate`."""
        return self.evaluate(state, params, **options).gaps

    def gap_rates(self, state: Mapping[Any, Any], params: Mapping[Any, Any] | None = None, **options: Any) -> Any:
        """Return name -> rate of the declared expression; see `evaluate`."""
        return self.evaluate(state, params, **options).gap_rates

    def slips(self, state: Mapping[Any, Any], params: Mapping[Any, Any] | None = None, **options: Any) -> Any:
        """Return name -> slip velocities; see `evaluate`."""
        return self.evaluate(state, params, **options).slips

    def energies(self, state: Mapping[Any, Any], params: Mapping[Any, Any] | None = None, **options: Any) -> Any:
        """Return the kinetic, potential and total energy; see `evaluate`."""
        return self.evaluate(state, params, **options).energies

    def check(
        self,
        state: Mapping[Any, Any],
        params: Mapping[Any, Any] | None = None,
        *,
        tol: float = 1e-9,
        inputs: Mapping[Any, Any] | None = None,
    ) -> float:
        """Return the largest violation of the constraints, in its units; a StateError above `tol` of its terms."""
        tol = real(tol, "tol", least=0, where=self.system.name)
        model, params, _ = with_inputs(self, state, params, inputs)
        model, state = model.acting(state)
        if model is not self:
            return model.check(state, params, tol=tol)
        given = resolve(self.system, state, params)
        terms = self._ask(given, lambda: self.kernels.terms(given.t, given.q, given.v, given.params))
        self.require_finite(terms)
        found = self._ask(given, lambda: largest_violation(self.system, self.kernels, given, terms, tol))
        if found.share > tol:
            raise StateError(f"{self.system.name}: {found.told(tol)}")
        return found.size

    def project(
        self,
        state: Mapping[Any, Any],
        params: Mapping[Any, Any] | None = None,
        *,
        tol: float = TOL,
        inputs: Mapping[Any, Any] | None = None,
    ) -> ProjectedState:
        """Return the nearest state that satisfies the constraints, least in the kinetic metric.

        Positions first: onto the bilateral constraints and out of the one-sided ones that are violated, with the least
        dq^T M(q_0) dq. Then velocities, onto the rates of the bilateral constraints and out of violated one-sided
        constraints on velocities: a closed contact keeps the speed of its approach, an impact is due there.

        Parameters
        ----------
        state, params : mapping
            Symbol or name -> number.
        tol : float
            Newton's method ends where its steps are below this part of the coordinates.
        inputs : mapping, optional
            Input -> number, expression of t, `Table` or `Held`.

        Returns
        -------
        ProjectedState
            The state by names; `distance` and `energy_removed` say how far it went. A state from which no admissible
            one is reached is a StateError with what is left of the violation.

        Examples
        --------
        >>> import zwang as zw
        >>> ball = zw.gallery.get("bouncing_ball")
        >>> inside = {**ball.state, "y": -0.01}
        >>> found = zw.compile(ball.system).project(inside, ball.params)
        >>> abs(found["y"]) < 1e-15, found.distance, round(found.energy_removed, 9)
        (True, 0.01, -0.0981)
        """
        model, params, _ = with_inputs(self, state, params, inputs)
        model, state = model.acting(state)
        if model is not self:
            return model.project(state, params, tol=tol)
        given = resolve(self.system, state, params)
        tol = real(tol, "tol", above=0, where=self.system.name)
        return self._ask(given, lambda: project(model.system, model.kernels, given, tol))

    def to_latex(self) -> str:
        r"""Return the equations of motion and the constraints as an aligned block of LaTeX, without dollar signs.

        Examples
        --------
        >>> import zwang as zw
        >>> print(zw.compile(zw.gallery.get("bouncing_ball").system).to_latex().splitlines()[0])
        \begin{aligned}
        """
        return as_latex(self.system)

    def jax(self, *, active: Iterable[str] | None = None) -> Callable[[Any, Any, Any, Any], tuple[Any, Any]]:
        """Return (t, q, v, params) -> (accelerations, multipliers) as a pure function for JAX (extra ``jax``).

        It can be jitted, mapped and differentiated; parameters are in the order of `system.parameters`, constraints
        hold as equalities as in `evaluate`. Double precision is JAX's own setting, ``jax_enable_x64``.
        """
        return as_jax(self.system, self._places(self._holding(active)))

    def to_c(
        self,
        folder: str | Path,
        *,
        name: str | None = None,
        active: Iterable[str] | None = None,
        events: Iterable[Any] = (),
    ) -> tuple[Path, Path]:
        """Write the model as C of 1999, ``<name>.h`` and ``<name>.c``, and return their paths.

        ``int <name>_accelerations(double t, const double q[], const double v[], const double params[], double a[],
        double lam[])`` returns 0 where all pivots are sound, with the parameters in the order of `system.parameters`
        (inputs take their places among them by name, as the header says; of constraints that say the same twice one
        holds); ``<name>_terms`` writes the terms of the equations and ``<name>_events`` what changes its sign at an
        event: the values of one-sided constraints, the multipliers of those that are held, slips, switching surfaces of
        forces, and what was given. The header has the orders and sizes.

        Parameters
        ----------
        folder : path
        name : str, optional
            By default made from the system's.
        active : names, optional
            The constraints that hold as equalities, without friction; by default the bilateral ones that are not off
            at first.
        events : expressions or Events, optional
            Watched beside the system's own.

        Examples
        --------
        >>> import tempfile, zwang as zw
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     header, source = zw.compile(zw.gallery.get("kozlov_neishtadt").system).to_c(folder)
        ...     print([line for line in header.read_text().splitlines() if "accelerations" in line][0][:48])
        int kozlov_neishtadt_accelerations(double t, con
        """
        from zwang._compile.c_export import write_c

        made = inputs_as_parameters(self.system, "to_c") if self.system.inputs else None
        model, places = self if made is None else self.another(made.system), self._places(self._holding(active))
        watched = [
            item if made is None or isinstance(item, str) else item.map(made.put) if isinstance(item, Event) else
            made.put(item) for item in events
        ]  # fmt: skip
        return write_c(model.system, model.kernels.program.copy(), places, folder, name, tuple(watched))

    def to_fmu(
        self,
        path: str | Path,
        *,
        state: Mapping[Any, Any] | None = None,
        params: Mapping[Any, Any] | None = None,
        name: str | None = None,
    ) -> Path:
        """Write a smooth model as an FMU of FMI 3.0, for model exchange and co-simulation, and return its path.

        Coordinates and velocities are states and outputs, the inputs are inputs, events and switching surfaces of
        forces are event indicators. States are carried back onto the constraints. A binary goes in where a C compiler
        ``cc`` is found, else a RuntimeWarning says so. Friction, one-sided and dependent constraints are refused.

        Parameters
        ----------
        path : path
        state : mapping, optional
            Start values; by default zeros.
        params : mapping, optional
            Without them each parameter must be set before a simulation, which ends with an error else.
        name : str, optional
            The model identifier.

        Examples
        --------
        >>> import tempfile, zwang as zw
        >>> one = zw.gallery.get("ellipse_pendulum_cartesian")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     zw.compile(one.system).to_fmu(f"{folder}/x.fmu", state=one.state, params=one.params).name
        'x.fmu'
        """
        from zwang._compile.fmu import write_fmu

        return write_fmu(self, path, state, params, name)

    def _holding(self, active: Iterable[str] | None) -> Iterable[str]:
        """Return the constraints that an export holds: as given, else the bilateral ones that are not off at first."""
        if active is not None:
            return active
        return [str(item.name) for item in self._normals if isinstance(item, Bilateral) and item.starts == "on"]

    def _places(self, active: Iterable[str] | None) -> list[int]:
        names = [str(item.name) for item in self._normals]
        if active is None:
            return [place for place, item in enumerate(self._normals) if isinstance(item, Bilateral)]
        places = []
        for name in [active] if isinstance(active, str) else active:
            if name not in names:
                raise DeclarationError(
                    f"{self.system.name}: active= names '{name}', which is no constraint with a normal. "
                    f"{nearest(name, names)}"
                )
            places.append(names.index(name))
        return places

    def require_finite(self, terms: Terms | SparseTerms) -> None:
        """Raise a StateError that names the constraint if the equations are not finite at a state."""
        if terms.finite():
            return
        for place, item in enumerate(self._normals):
            if not terms.finite_rows(place):
                raise StateError(without_normal(self.system, str(item.name)))
        raise StateError(f"{self.system.name}: the equations are not finite at this state (a division by zero?).")
