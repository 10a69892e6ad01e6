"""Your own algorithms, in Python."""

from __future__ import annotations

import copy
from numbers import Real
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Sequence

import numpy as np

from ._callbacks import Callbacks
from ._checks import as_integer, as_real
from ._library import Array, ffi, lib
from .agent import Agent, State
from .option_table import is_known
from ._sets import assign

__all__ = ["Algorithm"]

FIELDS = (name for name, _ in ffi.typeof("saddle_steps").fields)
STEPS = tuple(name for name in FIELDS if name not in ("rule", "sampling"))


class Algorithm:
    """Base class of your own algorithms: what one agent does in one communication round.

    A subclass declares what agents publish and keep, and defines start() and step(), which return
    the next published state, field by field. `saddle.Agent` describes what they can use. The
    library exchanges the states, counts gradient evaluations, rounds and bytes, and records the
    trace.

    fields
        what neighbours can read: names and lengths; "x" and "y" stand for the lengths of the
        problem's x and y
    kept
        what the agent keeps private, in the same form
    tracks
        fields whose sum over agents always equals that of a kept estimate, such as {"p": "v"};
        runs check this
    options
        options of the library that it reads, such as ("nu", "tau", "batch"). In start() and step()
        their values are attributes of the algorithm. A class attribute of that name is the default

    Your own parameters are also class attributes, and can be passed to the constructor. Those that
    are numbers are settings of a run, and can be given to it like other options.

    >>> import saddle
    >>> class Descent(saddle.Algorithm):
    ...     options = ("eta_x", "eta_y")
    ...     eta_x, eta_y = 0.01, 0.1
    ...     def step(self, agent):
    ...         gx, gy = agent.gradient(agent.now.x, agent.now.y)
    ...         x = agent.prox_x(agent.mix("x") - self.eta_x * gx, self.eta_x)
    ...         return x, agent.project_y(agent.mix("y") + self.eta_y * gy)
    >>> r = saddle.run("quadratic", algorithm=Descent(eta_x=0.02), iterations=2000)
    >>> r.name, r.settings["eta_x"], bool(r.trace.x_stationarity[-1] < 1e-9)
    ('descent-eta_x=0.02', 0.02, True)
    """

    name: str = ""
    """For traces and pictures; by default the name of the class in lower case."""
    fields: Mapping[str, Any] = {"x": "x", "y": "y"}
    kept: Mapping[str, Any] = {}
    tracks: Mapping[str, str] = {}
    options: Sequence[str] = ()
    rounds: int = 1
    """Communication rounds per iteration; step() is called in each of them."""
    passes: int = 2
    """The largest number of gradient evaluations per sample in an iteration."""
    traits: Mapping[str, bool] = {"x_set": True, "y_set": True, "regularizer": True}
    """What it supports (x_set, y_set, regularizer) and what it is: stochastic, feasible (every
    iterate is in X and Y)."""

    def __init__(self, **parameters: Any) -> None:
        name = self.name or type(self).__name__.lower()
        self._chosen = any(parameter != "name" for parameter in parameters)
        for parameter, value in parameters.items():
            if not hasattr(type(self), parameter):
                raise TypeError(f"{type(self).__name__}() has no parameter {parameter!r}")
            setattr(self, parameter, value)
            if parameter != "name":
                name += f"-{parameter}={value}"
        self.name = parameters.get("name", name)

    _chosen = False  # whether parameters were given

    if TYPE_CHECKING:  # the values of `options`

        def __getattr__(self, name: str) -> Any: ...


    def start(self, agent: Agent, x0: Array, y0: Array) -> tuple[Any, ...]:
        """Returns the published state at the starting point; sets agent.kept."""
        if tuple(self.fields) != ("x", "y"):
            raise NotImplementedError("an algorithm with fields other than x and y needs start()")
        return x0, y0

    def step(self, agent: Agent) -> tuple[Any, ...]:
        """Returns the published state after one communication round; may change agent.kept."""
        raise NotImplementedError("an algorithm needs step()")

    def _saddle_algorithm(self, keep: Callbacks) -> Any:
        """Returns a saddle_algorithm whose functions are those of this object."""
        return keep.keep(_Bound(self, keep)).c


def _lengths(fields: Mapping[str, Any], problem: Any) -> dict[str, int]:
    dims = {"x": problem.x_dim, "y": problem.y_dim}
    return {name: dims.get(length) or int(length) for name, length in fields.items()}


def _option(name: str) -> Any:
    try:
        return ffi.addressof(getattr(lib, f"saddle_option_{name.replace('-', '_')}"))
    except AttributeError:
        known = ", ".join(STEPS)
        raise ValueError(f"algorithms can read the options {known}, not {name!r}") from None


_DECLARED: dict[str, tuple[Any, Any]] = {}
"""The options of parameters of all classes, by attribute, with what they point to."""


def _own_option(attribute: str) -> Any:
    """Returns the option of an own parameter. Its default is "auto": the algorithm's attribute."""
    if attribute not in _DECLARED:
        words = {"name": attribute.replace("_", "-"), "group": "Algorithm", "fallback": "auto",
                 "metavar": "X", "help": "A parameter of an algorithm in Python."}  # fmt: skip
        texts = {field: ffi.new("char[]", word.encode()) for field, word in words.items()}
        offset = ffi.sizeof("void *") + ffi.sizeof("double") * len(_DECLARED)
        numbers = {"minimum": -np.inf, "maximum": np.inf, "offset": offset}
        kinds = {"kind": lib.SADDLE_OPTION_REAL, "home": lib.SADDLE_HOME_OWN}
        _DECLARED[attribute] = ffi.new("saddle_option *", {**texts, **numbers, **kinds}), texts
    return _DECLARED[attribute][0]


def _parameters(algorithm: Algorithm) -> list[str]:
    """Returns the own parameters of an algorithm that are numbers."""
    classes = type(algorithm).__mro__
    names = {name for c in classes[: classes.index(Algorithm)] for name in vars(c)}
    return sorted(
        name
        for name in names
        if not (name.startswith("_") or hasattr(Algorithm, name) or is_known(name))
        and isinstance(getattr(algorithm, name), Real)
        and not isinstance(getattr(algorithm, name), bool)
    )


class _Run:
    """An algorithm in one run, with the values of its options and its agents."""

    def __init__(self, algorithm: Algorithm, configuration: Any, parameters: Any) -> None:
        self.algorithm = copy.copy(algorithm)
        for name in _parameters(algorithm):
            field = ffi.cast("double *", ffi.cast("char *", parameters) + _own_option(name).offset)
            own = getattr(algorithm, name)
            if np.isnan(field[0]):
                field[0] = own
            elif field[0] != own:
                setattr(self.algorithm, name, type(own)(field[0]))
        given, steps = configuration.given, configuration.steps
        for name in algorithm.options:
            field = name.replace("-", "_")
            if field not in STEPS:
                continue
            own = getattr(algorithm, field, None)
            is_given = getattr(given, field) > 0  # NaN or 0: automatic
            if own is not None and not is_given:
                is_count = field in ("q", "batch")
                value = as_integer(own, field) if is_count else as_real(own, field)
                setattr(steps, field, value)
            setattr(self.algorithm, field, getattr(steps, field))
        self.steps = ffi.new("saddle_steps *", steps)
        problem = configuration.instance.problem
        self.published = _lengths(algorithm.fields, problem)
        self.kept = _lengths(algorithm.kept, problem)
        self.agents: dict[int, Agent] = {}
        self.next: dict[int, State] = {}

    def agent(self, c: Any, starting: bool) -> Agent:
        agent = self.agents.get(c.id)
        if agent is None:
            agent = self.agents[c.id] = Agent(c, self.published, self.kept)
        agent._enter(c, self.steps, starting)
        return agent

    def publish(self, c: Any, fields: Any) -> None:
        """Copies what start() or step() returned, and records a value that is not finite."""
        key = int(ffi.cast("uintptr_t", c.next))
        state = self.next.get(key)
        if state is None:
            state = self.next[key] = State(c.next, self.published, True)
        if not isinstance(fields, (tuple, list)) or len(fields) != len(self.published):
            names = ", ".join(self.published)
            count = len(self.published)
            raise TypeError(
                f"start() and step() must return the fields {names}, as a tuple of {count}"
            )
        for name, value in zip(self.published, fields):
            assign(getattr(state, name), value, name)
        flat = state._flat
        if not np.isfinite(flat.dot(flat)):
            self.find_fault(c, state)

    def find_fault(self, c: Any, state: State) -> None:
        for name in self.published:
            broken = np.flatnonzero(~np.isfinite(getattr(state, name)))
            if len(broken) and c.fault.kind == lib.SADDLE_FAULT_NONE:
                c.fault.kind, c.fault.agent = lib.SADDLE_FAULT_NONFINITE, c.id
                c.fault.variable = name.encode()[:23]
                c.fault.index, c.fault.iteration = broken[0], c.iteration + 1
                c.fault.value = getattr(state, name)[broken[0]]


class _Bound:
    """The C functions of an algorithm."""

    def __init__(self, algorithm: Algorithm, keep: Callbacks) -> None:
        self.algorithm = algorithm
        self.runs: dict[int, Any] = {}  # handles of runs in progress, by their parameters' address
        self.names = {name: ffi.new("char[]", name.encode()) for name in algorithm.fields}
        self.check()
        c = self.c = keep.keep(ffi.new("saddle_algorithm *"))
        c.name = keep.keep(ffi.new("char[]", algorithm.name.encode()))
        summary = (type(algorithm).__doc__ or "in Python").strip().splitlines()[0]
        c.summary = keep.keep(ffi.new("char[]", summary.encode()))
        options = [_option(name) for name in algorithm.options]
        options += [_own_option(name) for name in _parameters(algorithm)]
        c.options = keep.keep(ffi.new("saddle_option *[]", [*options, ffi.NULL]))
        c.size = ffi.sizeof("void *") + ffi.sizeof("double") * len(_DECLARED)
        for name, value in {**Algorithm.traits, **algorithm.traits}.items():
            setattr(c.traits, name, bool(value))
        keep.set(c, "init", self.init, lib.SADDLE_BAD_INPUT)
        keep.set(c, "release", self.release, always=True)
        keep.set(c, "layout", self.layout, always=True)
        keep.set(c, "most_ifo", self.most_ifo, 0)
        keep.set(c, "start", self.start)
        keep.set(c, "view", self.view, always=True)
        phases = c.phases = keep.keep(ffi.new("saddle_phase[2]"))
        phases[0].name = keep.keep(ffi.new("char[]", b"step"))
        keep.set(ffi.addressof(phases, 0), "before", self.step)

    def check(self) -> None:
        """Refuses mistakes that the library could not describe in terms of the class."""
        a = self.algorithm
        as_integer(a.rounds, "rounds", 1)
        as_integer(a.passes, "passes")
        known = [name for name, _ in ffi.typeof("saddle_traits").fields]
        for name in a.traits:
            if name not in known:
                raise ValueError(f"there is no trait {name!r}; traits are: {', '.join(known)}")
        for name, length in {**a.fields, **a.kept}.items():
            if length not in ("x", "y") and not (isinstance(length, int) and length > 0):
                raise ValueError(
                    f"the length of {name} is {length!r}; it must be 'x', 'y' or a number"
                )
        both = set(a.fields) & set(a.kept)
        if both:
            raise ValueError(f"{both.pop()} is both in fields and in kept")
        for name in ("x", "y"):
            if {**a.fields, **a.kept}.get(name) != name:
                raise ValueError(
                    f"fields or kept must have {name!r}: {name!r}, which the run measures"
                )
        for name, estimate in a.tracks.items():
            if name not in a.fields or a.kept.get(estimate) != a.fields[name]:
                raise ValueError(
                    f"tracks: {name} must be a field, and {estimate} kept with the same length"
                )

    def run_of(self, parameters: Any) -> _Run:
        handle: _Run = ffi.from_handle(ffi.cast("void **", parameters)[0])
        return handle

    def init(self, parameters: Any, configuration: Any, _error: Any) -> int:
        handle = ffi.new_handle(_Run(self.algorithm, configuration, parameters))
        self.runs[int(ffi.cast("uintptr_t", parameters))] = handle
        ffi.cast("void **", parameters)[0] = handle
        return int(lib.SADDLE_OK)

    def release(self, parameters: Any) -> None:
        self.runs.pop(int(ffi.cast("uintptr_t", parameters)), None)

    def layout(self, _parameters: Any, problem: Any, out: Any) -> None:
        a = self.algorithm
        kept = _lengths(a.kept, problem)
        offsets = dict(zip(kept, np.cumsum([0, *kept.values()]).tolist()))
        out.rounds, out.kept = a.rounds, sum(kept.values())
        for name, length in _lengths(a.fields, problem).items():
            tracked = name in a.tracks
            kind = lib.SADDLE_FIELD_SUM if tracked else lib.SADDLE_FIELD_ITERATE
            estimate = offsets[a.tracks[name]] if tracked else ffi.cast("size_t", -1)
            lib.saddle_layout_add(out, self.names[name], length, kind, estimate)

    def most_ifo(self, _parameters: Any, problem: Any) -> int:
        return self.algorithm.passes * sum(problem.samples[i] for i in range(problem.agents))

    def start(self, c: Any, x0: Any, y0: Any) -> None:
        run = self.run_of(c.parameters)
        agent = run.agent(c, True)
        point = State(x0, {"x": agent._x_dim}, False).x, State(y0, {"y": agent._y_dim}, False).y
        try:
            run.publish(c, run.algorithm.start(agent, *point))
        finally:
            agent._leave()

    def step(self, c: Any) -> None:
        run = self.run_of(c.parameters)
        agent = run.agent(c, False)
        before, ifo = agent.kept._flat.copy(), c.ifo
        try:
            run.publish(c, run.algorithm.step(agent))
        except KeyboardInterrupt:  # the step will be repeated, so that the result is valid
            agent.kept._flat[...] = before
            c.ifo = ifo
            raise
        finally:
            agent._leave()

    def variables(self, c: Any) -> Iterator[tuple[str, Any]]:
        """Yields the name and address of every vector of a state."""
        for fields, base in ((self.algorithm.fields, c.now), (self.algorithm.kept, c.kept)):
            for name, length in _lengths(fields, c.problem).items():
                yield name, base
                base = base + length

    def view(self, c: Any, out: Any) -> None:
        lengths = {"x": "x", "y": "y", "v": "x", "u": "y"}
        own = {**self.algorithm.fields, **self.algorithm.kept}
        for name, address in self.variables(c):
            if own[name] == lengths.get(name):
                setattr(out, name, address)
