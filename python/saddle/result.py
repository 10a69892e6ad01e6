"""Results of runs."""

from __future__ import annotations

import math
import os
import pickle
from typing import Any

import numpy as np

from ._checks import as_bytes
from ._library import Array, ffi, lib, text
from .errors import InputError, as_keywords, check
from .option_table import as_value
from .trace import Trace, trace_of

__all__ = ["Result", "load"]


def _array(address: Any, *shape: int) -> Array:
    size = 8 * int(np.prod(shape))
    return np.frombuffer(ffi.buffer(address, size), dtype=np.float64).reshape(shape).copy()


def _fields(model: Any) -> dict[str, Any]:
    """Returns the fields of a saddle_saved_model as numbers, arrays and bytes; NULL as None."""
    shapes: dict[str, tuple[int, ...]] = {
        "x_mean": (model.x_dim,),
        "y_mean": (model.y_dim,),
        "x": (model.agents, model.x_dim),
        "y": (model.agents, model.y_dim),
        "mean": (model.features,),
        "deviation": (model.features,),
    }
    out = {}
    for name, field in ffi.typeof("saddle_saved_model").fields:
        value = getattr(model, name)
        if name in shapes and value:
            value = _array(value, *shapes[name])
        elif field.type.kind == "pointer":
            value = ffi.string(value) if value else None
        out[name] = value
    return out


def _set_field(model: Any, name: str, value: Any) -> Any:
    """Sets a field from a value of _fields(); returns what must stay alive."""
    if isinstance(value, np.ndarray):
        value = ffi.from_buffer("double[]", value)
    elif isinstance(value, bytes):
        value = ffi.new("char[]", value)
    if value is not None:
        setattr(model, name, value)
    return value


def _texts(plan: Any) -> dict[str, str]:
    """Returns the settings of a plan that have a value, by keyword, as text."""
    out = {}
    plan = ffi.addressof(plan)
    buffer = ffi.new("char[]", lib.SADDLE_VALUE_SIZE)
    for k in range(lib.saddle_plan_option_count(plan)):
        option = lib.saddle_plan_option(plan, k)
        value = text(lib.saddle_plan_text(plan, option, buffer))
        if value:
            out[text(option.name).replace("-", "_")] = value
    return out


_ADVISED = ("stalled", "oscillates")  # why a run stopped, if it says what to change
STEPS = ("nu", "eta", "tau", "alpha", "eta_x", "eta_y", "q", "batch")


def _short(value: Any) -> str:
    if isinstance(value, list):
        return f"{min(value)} to {max(value)}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _fault(result: Any) -> str:
    """Returns what diverged; "" if nothing did."""
    if text(result.cause):
        return as_keywords(text(result.cause))
    fault = result.fault
    if fault.kind == lib.SADDLE_FAULT_NONE:
        return ""
    return (
        f"{text(fault.variable)}[{fault.index}] of agent {fault.agent} is {fault.value:g} "
        f"at iteration {fault.iteration}; {as_keywords(text(result.remedy))}"
    )


def _pickled(thing: Any) -> bytes | None:
    """Returns its bytes; None if it cannot be pickled, as a module of a class in a function."""
    try:
        return pickle.dumps(thing)
    except Exception:  # what pickle raises depends on the thing
        return None


class Result:
    """The result of a run.

    x, y
        the means of all agents' iterates
    x_agents, y_agents
        the iterates, one row for each agent (of this process)
    trace
        the measurements, column by column; None for a result loaded from a file
    outcomes
        the problem's outcomes at (x, y), such as {"train_auc": 0.91}
    settings
        every setting that the run used, by keyword, as numbers, bools and texts: automatic values
        are filled in, and None is a number that the run chose anew in every iteration or did not
        need. `samples` and `batch` are lists if they differ between agents
    gap_scale
        what can be gained from x = 0, in the units of the objective: `gap` is relative to it; NaN
        if it was not measured
    mean, deviation
        how the columns of the data were scaled: a value a became (a - mean) / deviation; None if
        they were not. x is for scaled columns; coefficients() are for the data as given
    stop
        why the run ended: "iterations", "tolerance", "ifo", "rounds", "seconds", "network_seconds",
        "condition", "no_gain", "stalled", "oscillates", "callback", "interrupted" or "diverged"; ""
        for a result loaded from a file
    message
        the same in words; if the run diverged, stalled or oscillates, with what to change
    """

    x: Array
    y: Array
    x_agents: Array
    y_agents: Array
    trace: Trace  # None in a result loaded from a file, which has none
    outcomes: dict[str, float]
    settings: dict[str, Any]
    gap_scale: float = float("nan")
    mean: Array | None
    deviation: Array | None
    stop: str
    message: str
    iteration: int

    _c: Any = None  # the saddle_result
    _unpack: Any = None  # converts a vector to the form of x0 of a problem of saddle.torch
    _pickled: bytes | None = None  # that of an unpickled result, which may not have PyTorch
    _model: Any = None  # the saddle_saved_model, if there is no saddle_result or it was needed
    _alive: Any = None  # what the saddle_saved_model of an unpickled result points to
    _texts: dict[str, str]  # the settings as the library writes them
    # What the head and the end of a trace have in addition to settings, rows and message.
    _title = ""
    _untuned = False
    _disagreement: Array | None = None

    @classmethod
    def _from_c(cls, c: Any, instance: Any) -> Result:
        """Takes ownership of a saddle_result. Objects that its plan points to are not used.

        instance
            the saddle_instance of the run
        """
        self = cls()
        self._c = ffi.gc(c, lib.saddle_result_free)
        self.x, self.y = _array(c.x_mean, c.x_dim), _array(c.y_mean, c.y_dim)
        self.x_agents = _array(c.x, c.local, c.x_dim)
        self.y_agents = _array(c.y, c.local, c.y_dim)
        self.trace = trace_of(c)
        names = [text(c.outcome[k].name) for k in range(c.outcome_count)]
        self.outcomes = {name: float(self.trace[name][c.solution_row]) for name in names}
        self._texts = _texts(c.plan)
        self.settings = {name: as_value(name, value) for name, value in self._texts.items()}
        self._fill_in_sizes(instance)
        self.gap_scale = float(c.gap.scale) or float("nan")
        self._take_scaling(c)
        self.stop = ffi.typeof("saddle_stop").elements[c.stop][len("SADDLE_STOP_") :].lower()
        self.message = text(lib.saddle_stop_text(c.stop))
        if fault := _fault(c):
            self.message += f": {fault}"
        if self.stop in _ADVISED:
            self.message += f"; {as_keywords(text(c.remedy))}"
        self.iteration = int(c.rows[c.solution_row].iteration)
        self._title, self._untuned = text(c.title), bool(c.untuned)
        self._disagreement = _array(c.disagreement, c.agents)
        return self

    def _fill_in_sizes(self, instance: Any) -> None:
        """Fills in what is a list because agents have different numbers of samples."""
        counts = ffi.unpack(instance.problem.samples, instance.problem.agents)
        if self._texts.get("samples") == "auto":
            self.settings["samples"] = counts
        if self._texts.get("batch") == "auto" and len(set(counts)) > 1:
            self.settings["batch"] = [math.ceil(math.sqrt(count)) for count in counts]

    def _read_model(self, model: Any) -> None:
        """Takes what a model file contains from a saddle_saved_model, and keeps that."""
        self._model = model
        self.x, self.y = _array(model.x_mean, model.x_dim), _array(model.y_mean, model.y_dim)
        self.x_agents = _array(model.x, model.agents, model.x_dim)
        self.y_agents = _array(model.y, model.agents, model.y_dim)
        self.iteration = int(model.iteration)
        self._take_scaling(model)

    def _take_scaling(self, c: Any) -> None:
        """Takes mean and deviation from a saddle_result or saddle_saved_model."""
        both = (c.mean, c.deviation)
        self.mean, self.deviation = (_array(v, c.features) if v else None for v in both)

    @property
    def gap(self) -> float:
        """What is missing to a solution at the end, relative to what can be gained from x = 0.

        1e-4 or less is solved. NaN if it was not measured, and for a result loaded from a file.
        """
        return float(self.trace["gap"][-1]) if self.trace is not None else float("nan")

    def _shortfall(self, iterations: str = "iterations") -> str:
        """Returns why the run has not solved its problem, and what to try; "" if it has, if the gap
        was not measured, and if a rule of the caller ended the run.

        iterations
            how the caller spells that limit
        """
        goal = lib.saddle_result_goal(self._c)
        if self.stop == "diverged":
            return f"the run {self.message}"
        if self.stop in _ADVISED:
            return f"not solved: the run {self.message}"
        by_rule = self.stop in ("tolerance", "condition", "no_gain", "callback", "interrupted")
        if not self.gap > goal or by_rule:
            return ""
        option = self.stop if self.stop == "iterations" else f"max_{self.stop}"
        limit = iterations if self.stop == "iterations" else option
        gap = next(t for n in range(2, 18) if float(t := f"{self.gap:.{n}g}") > goal)
        words = f"not solved: the gap {gap} is above {goal:g}"
        words += f"; raise {limit} from {self.settings[option]}"
        other = "precision" if self.name == "precision-auto" else "precision-auto"
        return f"{words}, or try {other}"

    def summary(self) -> str:
        """Returns what a user wants to know of the run, in a few lines: whether it has solved its
        problem, what it cost, and its outcomes."""
        lines = {"run": f"{self.name} on {self.settings.get('problem', 'a problem')}"}
        if self.trace is not None:
            last = {name: column[-1] for name, column in self.trace.items()}
            lines["ended"] = self.message
            lines["gap"] = self._gap_text() + self._verdict()
            lines["metric"] = f"{last['metric']:.3g}; loss {last['loss']:.6g}"
            lines["cost"] = (
                f"{self.iteration:,} iterations, {last['ifo']:,} gradient evaluations, "
                f"{last['rounds']:,} rounds, {last['bytes'] / 1e6:.3g} MB sent, "
                f"{last['seconds']:.3g} s"
            )
        if self.outcomes:
            lines["outcomes"] = ", ".join(f"{n} {v:.4g}" for n, v in self.outcomes.items())
        steps = [name for name in STEPS if self.settings.get(name) is not None]
        lines["steps"] = ", ".join(f"{name} {_short(self.settings[name])}" for name in steps)
        lines["network"] = (
            f"{self.settings.get('agents', len(self.x_agents))} agents, "
            f"{self.settings.get('topology', 'no network')}"
        )
        return "\n".join(f"{name:<9} {words}" for name, words in lines.items() if words)

    def _gap_text(self) -> str:
        return "not measured" if self.gap != self.gap else f"{self.gap:.3g}"

    def _verdict(self) -> str:
        if self._c is None or self.gap != self.gap:
            return ""
        goal = lib.saddle_result_goal(self._c)
        solved = self.gap <= goal
        return f", solved (at most {goal:g})" if solved else f", not solved: above {goal:g}"

    # ---- files ---------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model as `saddle run --model` does, a .npz file."""
        self._keep_inputs(path)
        check(lib.saddle_saved_model_save, self._as_model(), as_bytes(path, "path"))

    def _keep_inputs(self, path: str | os.PathLike[str]) -> None:
        """Refuses an output that would replace a file that the run has read. The model that it
        started from may be replaced."""
        if not os.path.exists(path):
            return
        for keyword, value in self._texts.items():
            if keyword in ("trace", "model", "checkpoint", "init", "init_x", "init_y"):
                continue
            files = [value, value.partition(":")[0], value.partition(":")[2]]
            if "%d" in value:
                files += [value.replace("%d", str(k)) for k in range(len(self.x_agents) + 1)]
            for file in files:
                if os.path.isfile(file) and os.path.samefile(file, path):
                    raise InputError(
                        f"path: {os.fspath(path)!r} is also the file of {keyword} and would be "
                        "overwritten; give another path"
                    )

    def _as_model(self) -> Any:
        """Returns the saddle_saved_model. That of a run borrows vectors of its saddle_result."""
        if self._model is None:
            out = ffi.new("saddle_saved_model **")
            check(lib.saddle_result_model, self._c, out)
            self._model = ffi.gc(out[0], lib.saddle_saved_model_free)
        return self._model

    def __getstate__(self) -> dict[str, Any]:
        kept = ["trace", "outcomes", "settings", "gap_scale", "stop", "message"]
        kept += ["_texts", "_title", "_untuned", "_disagreement"]
        model = _fields(self._as_model())
        pickled = self._pickled if self._unpack is None else _pickled(self._unpack)
        state = {name: getattr(self, name) for name in kept}
        return {"model": model, "_pickled": pickled, **state}

    def __setstate__(self, state: dict[str, Any]) -> None:
        c = ffi.new("saddle_saved_model *")
        self._alive = [_set_field(c, *field) for field in state.pop("model").items()]
        self._read_model(c)
        self.__dict__.update(state)

    # ---- use -----------------------------------------------------------------------------------

    def predict(self, X: Any) -> Array:
        """Returns the score of every row, as `saddle.predict()` does."""
        from .lab import predict

        return predict(self, X)

    def coefficients(self) -> tuple[Array, float]:
        """Returns w and v of a linear model, for data as given: scores are X @ w + v."""
        from .lab import coefficients

        return coefficients(self)

    @property
    def feature_names(self) -> list[str]:
        """The names of the model's features, in the order of coefficients(): columns,
        COLUMN=CATEGORY for text, or numbers from 1."""
        from .lab import feature_names

        return feature_names(self)

    def module(self, agent: int | None = None) -> Any:
        """Returns x in the form of x0 of a problem of `saddle.torch`: a module, or tensors.

        agent
            the agent whose iterate is returned; None: the mean
        """
        if self._unpack is None and self._pickled is not None:
            self._unpack = pickle.loads(self._pickled)
        if self._unpack is None:
            raise TypeError(
                "module() is for results of runs on problems of saddle.torch, also pickled ones if "
                "their module can be; otherwise use the problem's own: problem.module(r.x)"
            )
        return self._unpack(self.x if agent is None else self.x_agents[agent])

    # ---- pictures ------------------------------------------------------------------------------

    def plot(self, y: str = "metric", x: str = "ifo", ax: Any = None) -> Any:
        """Plots one column of the trace against another with matplotlib; returns the axes.
        `saddle.plot()` draws several results."""
        from .report_page import plot

        return plot(self, y, x, ax)

    @property
    def name(self) -> str:
        """The name of the algorithm."""
        return str(self.settings.get("algorithm", "run"))

    def _trace(self) -> Trace:
        if self.trace is None:
            raise ValueError("a result from a model file has no trace; pickle results to keep it")
        return self.trace

    def __repr__(self) -> str:
        where = self.settings.get("problem", "problem")
        words = f"<saddle.Result of {self.name} on {where}: iteration {self.iteration}"
        if self.trace is not None:
            words += f", gap {self._gap_text()}, metric {self.trace['metric'][-1]:.3g}"
            words += f", {self.message}"
        return words + ">"

    def _repr_html_(self) -> str | None:
        from .report_page import notebook

        return notebook(repr(self)[1:-1], self) if self.trace is not None else None


def load(path: str | os.PathLike[str]) -> Result:
    """Returns the result in a file that `Result.save()` or `saddle run --model` wrote.

    It has x, y, x_agents, y_agents, settings, mean, deviation and iteration, and can predict. It
    has no trace, outcomes, stop or message, which a model file does not contain; pickle a result to
    keep them.
    """
    out = ffi.new("saddle_saved_model **")
    check(lib.saddle_saved_model_load, out, as_bytes(path, "path"))
    self = Result()
    self._read_model(ffi.gc(out[0], lib.saddle_saved_model_free))
    lines = (line.partition(": ") for line in text(out[0].settings).split("\n") if line)
    self._texts = {name.replace("-", "_"): value for name, _, value in lines}
    self.settings = {name: as_value(name, value) for name, value in self._texts.items()}
    self.trace = None  # type: ignore[assignment]
    self.outcomes, self.stop, self.message = {}, "", ""
    return self
