"""Instances: a problem on a network, shared by any number of runs."""

from __future__ import annotations

import warnings
from typing import Any, Sequence

import numpy as np

from ._callbacks import Callbacks, result_on_interrupt
from ._library import ffi, lib, text
from ._monitor import Callback, Monitor, logger
from ._plan import Plan
from ._waiting import interruptible
from .data import Columns
from .errors import NotSolvedWarning, check, error_of
from .option_table import unknown_keyword
from .problem import bind
from .result import Result

__all__ = ["Instance", "run"]

VALUE_SIZE = int(lib.SADDLE_VALUE_SIZE)
MOST_LISTED = 50
"""The most agents that a summary lists."""


def _settled(problem: Any, name: str, given: Any) -> Any:
    """Returns the set to use: the caller's, or that of a Python problem if it is not a text."""
    own = getattr(problem, name, None)
    return own if given is None and not isinstance(own, str) else given


def warn_unless_solved(
    result: Result, kind: type[Warning] = NotSolvedWarning, level: int = 3, **names: str
) -> None:
    """Warns, in the process of agent 0, if the run has not solved its problem.

    level
        of the caller to blame; 3: the caller of the caller
    names
        as for Result._shortfall()
    """
    shortfall = result._shortfall(**names)
    if shortfall and result._c.local > 0 and result._c.here[0] == 0:
        warnings.warn(shortfall, kind, stacklevel=level)


class Instance:
    """A problem, its data, a network and a starting point, on which algorithms can be run.

    >>> import saddle
    >>> instance = saddle.Instance("quadratic", topology="ring", agents=6)
    >>> instance
    <saddle.Instance of quadratic: 6 agents (ring) with 100 samples each; x has 20 entries, y 10>
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
        self._algorithm = algorithm
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
        keep, plan = self._keep, self._plan  # must outlive the instance

        def create() -> Any:
            out = ffi.new("saddle_instance **")
            try:
                keep.call(check, lib.saddle_instance_create, out, plan.c)
            except BaseException as why:
                lib.saddle_instance_free(out[0])  # made although a function raised an exception
                plan.hide_files(why)
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

    @property
    def samples(self) -> list[int]:
        """The number of samples of each agent."""
        return [int(count) for count in ffi.unpack(self._c.problem.samples, self.agents)]

    @property
    def features(self) -> int:
        """The number of features of the data; 0 without data."""
        return int(self._c.features)

    @property
    def label_counts(self) -> list[dict[Any, int]]:
        """How many rows with each label the agents of this process have; [] without classes. Labels
        are texts, or 1 and -1, or the numbers of classes from 0, as the problem has them."""
        kind = self._c.kind
        if not kind or kind.labels == lib.SADDLE_LABELS_REAL:
            return []
        out = []
        names = self._names_of_labels()
        for agent in range(self.agents):
            rows = lib.saddle_instance_rows(self._c, agent)
            if rows:
                given = np.frombuffer(ffi.buffer(rows.label, 8 * rows.rows))
                found, counts = np.unique(given, return_counts=True)
                labels = [names.get(label, label) for label in map(int, found)]
                out.append(dict(zip(labels, map(int, counts))))
        return out

    def _names_of_labels(self) -> dict[int, str]:
        """Returns the texts of the labels 1 and -1; {} if there are none."""
        columns = Columns.of_model(self._c.columns)
        texts = columns.label.texts if columns is not None else None
        positive = self._setting("positive")
        if texts is None or len(texts) != 2 or positive not in ("0", "1"):
            return {}
        return {1: texts[int(positive)], -1: texts[1 - int(positive)]}

    def _setting(self, name: str) -> str:
        """Returns an option's value as text, with what the instance decides filled in."""
        option = self._plan.option(name)
        return text(lib.saddle_plan_text(self._c.plan, option, ffi.new("char[]", VALUE_SIZE)))

    def summary(self) -> str:
        """Returns what it is made of, and the samples and labels of each agent."""
        counts = self.label_counts
        lines = [
            f"problem   {text(self._c.problem.name)}: x has {self.x_dim} entries, y {self.y_dim}",
            f"network   {self.agents} agents, {text(self._c.graph.text)}, spectral gap "
            f"{self._c.spectrum.gap:.4g}",
            f"data      {sum(self.samples)} samples"
            + (f" of {self.features} features, {self._setting('partition')}" if counts else ""),
        ]
        for agent, samples in enumerate(self.samples):
            own = counts[agent] if len(counts) == self.agents else {}
            labels = ", ".join(f"{count} with label {label}" for label, count in own.items())
            lines.append(f"agent {agent:<3} {samples} samples" + (f": {labels}" if labels else ""))
        if self.agents > MOST_LISTED:
            lines[3 + MOST_LISTED :] = [f"... and {self.agents - MOST_LISTED} more agents"]
        return "\n".join(lines)

    def __repr__(self) -> str:
        low, high = min(self.samples), max(self.samples)
        each = f"{low}" if low == high else f"{low} to {high}"
        labels = {label for counts in self.label_counts for label in counts}
        spread = [
            f"{min(all_of)} to {max(all_of)} with label {label}"
            for label in sorted(labels, key=str)
            for all_of in [[counts.get(label, 0) for counts in self.label_counts]]
        ]
        words = f"{self.agents} agents ({text(self._c.graph.text)}) with {each} samples each"
        if spread:
            words += f" ({self._setting('partition')}; {', '.join(spread)})"
            words += f", {self.features} features"
        dims = f"x has {self.x_dim} entries, y {self.y_dim}"
        return f"<saddle.Instance of {text(self._c.problem.name)}: {words}; {dims}>"

    def run(
        self,
        algorithm: Any = None,
        *,
        progress: bool = False,
        callback: Callback | None = None,
        **options: Any,
    ) -> Result:
        """Runs an algorithm; options are those of algorithms, limits, threads and outputs.

        progress, callback
            as for `saddle.run()`

        A file that cannot be written does not end the run; the error is raised after it, and its
        attribute `result` has the result.
        """
        result = self._run(algorithm, progress, callback, options)
        warn_unless_solved(result)
        return result

    def _result(self, c: Any) -> Result:
        """Returns the Result of a saddle_result, which it takes."""
        result = Result._from_c(c, self._c)
        result._unpack = self._unpack
        return result

    def _run(
        self, algorithm: Any, progress: bool, callback: Callback | None, options: dict[str, Any]
    ) -> Result:
        """Runs as run() does, without its warning."""
        keep = Callbacks(self._keep)
        plan = self._plan_of(keep, algorithm, options)
        out = ffi.new("saddle_result **")
        with result_on_interrupt(
            lambda: self._result(out[0]) if out[0] else None
        ), Monitor(self._keep, plan, progress, callback) as monitor:
            try:
                self._keep.call(
                    check, lib.saddle_run, self._c, plan.c, monitor.hooks, out, run=True
                )
            except KeyboardInterrupt:
                raise
            except BaseException as why:
                lib.saddle_result_free(out[0])  # of the run up to the exception, or NULL
                plan.hide_files(why)
                raise
        result = self._result(out[0])
        if getattr(algorithm or self._algorithm, "_chosen", False):
            result._untuned = False  # its parameters were given to its constructor
        if monitor.by_callback and result.stop == "interrupted":
            result.stop, result.message = "callback", "ended by the callback"
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
    callback: Callback | None = None,
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
        a name such as "precision" (`saddle algorithms` lists them), or your own algorithm; None or
        "auto": "precision-auto", which needs no tuning, or "precision" if you give one of its
        options that "precision-auto" does not have, or compress
    progress
        whether to show a progress bar, with tqdm if it is installed
    callback
        a function f(row), called at every trace point with a dict of what was measured, such as
        row["iteration"], row["metric"] and row["train_auc"] (NaN if it was not). If it returns
        True, the run ends there. trace_every=10 calls it every 10 iterations
    options
        every option of `saddle run`, with _ for -: `saddle.options()` lists them. In addition,
        test_data takes a pair (X, y); x_set and y_set take (lower, upper) or a projection;
        regularizer takes functions (value, prox); init_x and init_y take arrays; mixing takes a
        matrix. Columns have names, those of a DataFrame or of feature_names, or numbers from 1:
        sensitive=3 is X[:, 2], and so is feature_index=2

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
    options.update(agents=agents, topology=topology, algorithm=algorithm, iterations=iterations)
    result = solve(problem, data, progress=progress, callback=callback, **options)
    warn_unless_solved(result)
    return result


def solve(
    problem: Any,
    data: Any,
    *,
    progress: bool = False,
    callback: Callback | None = None,
    **options: Any,
) -> Result:
    """Runs as run() does, without its warning."""
    with result_on_interrupt():
        instance = Instance(problem, data, _function="run", **options)
    return instance._run(None, progress, callback, {})
