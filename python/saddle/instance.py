"""Instances: a problem on a network, shared by any number of runs."""

from __future__ import annotations

from typing import Any, Sequence

from ._callbacks import Callbacks, result_on_interrupt
from ._library import LAUNCHED, ffi, lib
from ._monitor import Monitor, logger
from ._plan import Plan
from ._waiting import interruptible
from .errors import InputError, check, error_of
from .option_table import unknown_keyword
from .problem import bind
from .result import Result

__all__ = ["Instance", "run"]


def _settled(problem: Any, name: str, given: Any) -> Any:
    """Returns the set to use: the caller's, or that of a Python problem if it is not a text."""
    own = getattr(problem, name, None)
    return own if given is None and not isinstance(own, str) else given


class Instance:
    """A problem, its data, a network and a starting point, on which algorithms can be run.

    >>> import saddle
    >>> instance = saddle.Instance("quadratic", topology="ring", agents=6)
    >>> instance.run("precision", iterations=20).stop
    'iterations'
    """

    def __init__(
        self,
        problem: Any = None,
        data: Any = None,
        *,
        agents: int | None = None,
        topology: Any = None,
        mixing: Any = None,
        algorithm: Any = None,
        _function: str = "Instance",
        _algorithms: Sequence[Any] = (),  # several; each gets its own ones of the options
        **options: Any,
    ) -> None:
        if isinstance(problem, Instance):
            raise TypeError("problem is an Instance; call its method run(): instance.run(...)")
        if options.get("engine") == "mpi" and not LAUNCHED:
            raise InputError("engine: 'mpi' needs mpirun: mpirun -n 4 python3 FILE")
        self._made_by = _function
        self._keep = Callbacks()
        self._plan = plan = Plan(self._keep)
        self._own = not (problem is None or isinstance(problem, str))
        self._unpack = getattr(problem, "_unpack", None)
        if self._own:
            plan.c.problem.own = bind(problem, self._keep)
            for name in ("x_set", "y_set"):
                options[name] = _settled(problem, name, options.get(name))
            agents = agents or plan.c.problem.own.agents
        elif problem is not None:
            plan.set("problem", problem)
        self._set_algorithm(plan, algorithm, self._keep)
        others = plan.set_known({"agents": agents, "data": data, **options})
        self._options_of = [self._known_to(algorithm, others) for algorithm in _algorithms]
        for keyword in others:
            if not any(keyword in own for own in self._options_of):
                raise unknown_keyword(keyword, _function, plan.c)
        plan.set_network(topology, mixing)
        self._in_python = self._own or any(
            callable(value) or isinstance(value, tuple) and any(map(callable, value))
            for value in plan.with_dimensions.values()
        )
        if self._in_python and options.get("threads") is None:
            plan.set("threads", 1)
        if options.get("resume"):
            plan.resume()
        self._make_sets()
        self._c = self._create()
        if self._c.deviation:
            scaled = sum(d != 1 for d in ffi.unpack(self._c.deviation, self._c.features))
            logger.info("scaled %d columns; scale='none' leaves them", scaled)

    @staticmethod
    def _set_algorithm(plan: Plan, algorithm: Any, keep: Callbacks) -> None:
        """Sets the algorithm, given by name or as an object that makes a saddle_algorithm."""
        if algorithm is None:
            return
        if isinstance(algorithm, type):
            raise TypeError(f"algorithm takes an object: {algorithm.__name__}()")
        if hasattr(algorithm, "_saddle_algorithm"):
            plan.c.algorithm.own = algorithm._saddle_algorithm(keep)
            if plan.c.engine.threads == 0:
                plan.set("threads", 1)
        elif isinstance(algorithm, str):
            plan.c.algorithm.own = ffi.NULL
            plan.set("algorithm", algorithm)
        else:
            raise TypeError(
                f"algorithm is {algorithm!r}; it must be a name such as 'precision' or your own "
                "algorithm"
            )

    def _known_to(self, algorithm: Any, options: dict[str, Any]) -> dict[str, Any]:
        """Returns those of the options that an algorithm has."""
        if not options:
            return {}
        plan = self._plan.copy(Callbacks(self._keep))
        self._set_algorithm(plan, algorithm, plan.keep)
        others = plan.set_known(options)
        return {name: value for name, value in options.items() if name not in others}

    def _make_sets(self) -> None:
        """Makes the sets that are not texts, which needs the lengths of x and y."""
        if not self._plan.with_dimensions:
            return
        problem = self._plan.c.problem.own
        trial = None
        if not problem:
            trial = self._create()
            problem = trial.problem
        self._plan.set_dimensions(problem.x_dim, problem.y_dim)
        del trial

    def _create(self) -> Any:
        keep, plan = self._keep, self._plan.c  # must outlive the instance

        def create() -> Any:
            out = ffi.new("saddle_instance **")
            try:
                keep.call(check, lib.saddle_instance_create, out, plan)
            except BaseException:
                lib.saddle_instance_free(out[0])  # made although a function raised an exception
                raise
            return ffi.gc(out[0], lambda c: lib.saddle_instance_free(c) if keep else None)

        return create() if self._in_python else interruptible(create)

    def _call(self, function: Any, *arguments: Any) -> None:
        """Calls a function of the library, except runs and searches, that uses the instance."""

        def call() -> None:
            self._keep.call(check, function, *arguments)

        call() if self._in_python else interruptible(call)

    def _plan_of(self, keep: Callbacks, algorithm: Any, options: dict[str, Any]) -> Plan:
        """Returns the instance's plan with the options of a run."""
        plan = self._plan.copy(keep)
        self._set_algorithm(plan, algorithm, keep)
        plan.set_keywords("run", options)
        for keyword in options:
            if plan.option(keyword).stage == lib.SADDLE_STAGE_INSTANCE:
                raise TypeError(
                    f"{keyword} belongs to the instance, for all runs; give it to {self._made_by}()"
                )
        plan.c.outputs.compared = self._made_by == "compare"
        if options.get("resume"):
            plan.resume()
        return plan

    @property
    def x_dim(self) -> int:
        """Length of x."""
        return int(self._c.problem.x_dim)

    @property
    def y_dim(self) -> int:
        """Length of y."""
        return int(self._c.problem.y_dim)

    @property
    def agents(self) -> int:
        """Number of agents."""
        return int(self._c.problem.agents)

    def run(self, algorithm: Any = None, *, progress: bool = False, **options: Any) -> Result:
        """Runs an algorithm; options are those of algorithms, limits, threads and outputs.

        A file that cannot be written does not end the run; the error is raised after it, and its
        attribute `result` has the result.
        """
        keep = Callbacks(self._keep)
        plan = self._plan_of(keep, algorithm, options)
        out = ffi.new("saddle_result **")
        with result_on_interrupt(
            lambda: Result._from_c(out[0], self._unpack) if out[0] else None
        ), Monitor(self._keep, plan, progress) as monitor:
            try:
                self._keep.call(
                    check, lib.saddle_run, self._c, plan.c, monitor.hooks, out, run=True
                )
            except KeyboardInterrupt:
                raise
            except BaseException:
                lib.saddle_result_free(out[0])  # of the run up to the exception, or NULL
                raise
        result = Result._from_c(out[0], self._unpack)
        monitor.end(result)
        if out[0].output_error.status != lib.SADDLE_OK:
            failure = error_of(out[0].output_error)
            failure.result = result  # type: ignore[attr-defined]
            raise failure
        return result


def run(
    problem: Any = None,
    data: Any = None,
    *,
    agents: int | None = None,
    topology: Any = None,
    algorithm: Any = None,
    iterations: int | None = None,
    progress: bool = False,
    **options: Any,
) -> Result:
    """Solves a problem with one algorithm on a network of agents.

    problem
        a name such as "robust-logistic" (`saddle problems` lists them), a plug-in, or your own
        object: see `saddle.Problem`
    data
        a file or the name of a data set; (X, y) with dense or CSR rows, which are split between
        the agents; or a list of such pairs, one for each agent
    topology
        a string such as "torus:4x5", edges [(0, 1), ...], a networkx graph, or a symmetric matrix:
        the weights if its diagonal is positive, otherwise the adjacency matrix
    algorithm
        a name such as "precision" (`saddle algorithms` lists them), or your own algorithm
    progress
        whether to show a progress bar, with tqdm if it is installed
    options
        every option of `saddle run`, with _ for -: `saddle.options()` lists them. In addition,
        test_data takes a pair (X, y); x_set and y_set take (lower, upper) or a projection;
        regularizer takes functions (value, prox); init_x and init_y take arrays; mixing takes a
        matrix

    resume="DIRECTORY" continues, bit for bit, a run that wrote checkpoints: checkpoint="DIRECTORY".
    Options that are not given are those of that run. Objects in memory, such as data, are not in
    checkpoints: give the same ones again. A changed option is refused, unless it is a limit, an
    output or threads. resume="auto" begins at the start if there is no checkpoint yet.

    On Ctrl-C the attribute `result` of the KeyboardInterrupt has the result so far; it is None
    before the first iteration.

    >>> import saddle
    >>> r = saddle.run("quadratic", topology="ring", agents=8, iterations=500, tau=20, alpha=0.2)
    >>> r.stop, r.x_agents.shape[0], bool(r.trace.metric[-1] < r.trace.metric[0])
    ('iterations', 8, True)
    """
    with result_on_interrupt():
        instance = Instance(
            problem,
            data,
            agents=agents,
            topology=topology,
            algorithm=algorithm,
            iterations=iterations,
            _function="run",
            **options,
        )
    return instance.run(progress=progress)
