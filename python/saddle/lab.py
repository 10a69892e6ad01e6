"""Tools around runs: gradient checks, the bounds of the theory, saved models."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable

import numpy as np

from ._callbacks import Callbacks
from ._checks import as_bytes, as_integer, is_frame
from ._library import Array, ffi, lib, text
from ._waiting import interruptible
from .data import Columns, dataset, pointer
from .errors import Error, check
from .instance import Instance
from .option_table import as_text
from .result import Result

__all__ = ["GradientCheck", "check_grad", "coefficients", "evaluate", "predict", "theory"]

ALLOWED = 1e-5
"""The largest relative error of central differences of a smooth function."""


@dataclass(frozen=True)
class GradientCheck:
    """Relative errors of a problem's gradients."""

    x_error: float
    """The gradient in x against central differences of the value."""
    y_error: float
    """The gradient in y against central differences of the value."""
    difference_error: float
    """The difference of two gradients on a batch against the two gradients."""
    variance_error: float
    """The variance of the samples' gradients against that of one-sample gradients."""
    batch_error: float
    """The mean of one-sample gradients against the full gradient."""
    kinks: bool
    """Whether the function seems to have kinks, where it has no gradient."""
    agent: int
    """The agent with the largest error."""

    @property
    def ok(self) -> bool:
        """Whether all errors are at most 1e-5."""
        errors = (self.x_error, self.y_error, self.difference_error, self.variance_error)
        return all(error <= ALLOWED for error in (*errors, self.batch_error))

    def __bool__(self) -> bool:
        return self.ok


def _instance(problem: Any, data: Any, options: dict[str, Any], function: str) -> Instance:
    if not isinstance(problem, Instance):
        return Instance(problem, data, _function=function, **options)
    if data is not None or options:
        raise TypeError(f"{function}() of an Instance takes no data and no options of an instance")
    return problem


def check_grad(
    problem: Any, data: Any = None, *, points: int = 3, **options: Any
) -> GradientCheck:
    """Compares gradients with finite differences of values, at random points of X and Y.

    problem
        as for `saddle.run()`, or an Instance. One of saddle.torch is checked with 64 bits

    >>> import saddle
    >>> saddle.check_grad("quadratic").ok
    True
    """
    if hasattr(problem, "_to_check"):
        problem = problem._to_check()
    instance = _instance(problem, data, options, "check_grad")
    c = instance._c
    out = ffi.new("saddle_gradient_check *")
    instance._call(
        lib.saddle_problem_check_gradient, c.problem, c.x_set, c.y_set,
        as_integer(points, "points"), c.seed, out,
    )  # fmt: skip
    names = [name for name, _ in ffi.typeof("saddle_gradient_check").fields]
    return GradientCheck(**{name: getattr(out, name) for name in names})


def _fields(c: Any) -> dict[str, Any]:
    """Returns the fields of a C struct, with nested structs as dicts."""
    out = {}
    for name, field in ffi.typeof(c).fields:
        value = getattr(c, name)
        out[name] = _fields(value) if field.type.kind == "struct" else value
    return out


def theory(problem: Any = None, data: Any = None, **options: Any) -> dict[str, Any]:
    """Returns what is proved about PRECISION and PRECISION+ on an instance: docs/theory.md.

    options
        as for `saddle.run()`. The steps that matter are tau, epsilon (default 0.1), c_epsilon and
        c_gamma

    >>> import saddle
    >>> bounds = saddle.theory("quadratic", topology="ring")
    >>> bounds["precision"]["holds"], bool(0 < bounds["nu"] < bounds["eta"])
    (True, True)
    """
    instance = _instance(problem, data, options, "theory")
    given = instance._plan.c.steps
    steps = ffi.new("saddle_steps *")
    out = ffi.new("saddle_theory *")
    check(lib.saddle_instance_steps, instance._c, instance._plan.c, steps)
    epsilon = 0.1 if np.isnan(given.epsilon) else given.epsilon
    constants = (steps.tau, epsilon, steps.c_epsilon, steps.c_gamma)
    instance._call(lib.saddle_theory_evaluate, instance._c, *constants, out)
    return _fields(out[0])


class _Predictor:
    """A model, ready to score rows."""

    def __init__(self, model: Any, plugin: Any) -> None:
        self.keep = Callbacks()
        self.temporary = ""  # a file that the user does not know; messages must not name it
        if isinstance(model, Result):
            with tempfile.TemporaryDirectory() as directory:
                path = Path(directory) / "model.npz"
                model.save(path)
                self.temporary = str(path)
                self.load(path, plugin)
        else:
            self.load(model, plugin)

    def load(self, path: Any, plugin: Any) -> None:
        name = as_bytes(path, "model")
        code = ffi.NULL if plugin is None else as_bytes(plugin, "plugin")

        def load() -> Any:
            out = ffi.new("saddle_predictor **")
            check(lib.saddle_predictor_load, out, name, code)
            return ffi.gc(out[0], lib.saddle_predictor_free)

        self.c = self.call(load)

    def call(self, work: Callable[[], Any]) -> Any:
        """Returns work(); removes the name of a temporary file from the library's messages."""
        try:
            return interruptible(work)
        except Error as why:
            if self.temporary:
                message = str(why).replace(f"the model '{self.temporary}'", "the model")
                why.args = (message.replace(f"'{self.temporary}'", "the result"),)
            raise

    def rows(self, X: Any, y: Any = None, label_column: Any = None) -> Any:
        """Returns a saddle_dataset from arrays or from a file."""
        if not isinstance(X, (str, os.PathLike)):
            if label_column is not None:
                raise TypeError("label_column is for files; arrays of rows have no label column")
            columns = Columns.of_model(lib.saddle_predictor_columns(self.c))
            return dataset(X, y, self.keep, columns)
        how = ffi.new("saddle_data_options *", {"abi": lib.SADDLE_ABI})
        if label_column is not None:
            label = ffi.new("char[]", as_text("label_column", label_column).encode())
            how.label_column = self.keep.keep(label)

        def load() -> Any:
            out = ffi.new("saddle_dataset **")
            check(lib.saddle_predictor_data, self.c, out, os.fsencode(X), how)
            return ffi.gc(out[0], lib.saddle_dataset_free)

        return self.call(load)


def predict(
    model: Any, X: Any, *, label_column: Any = None, plugin: str | None = None
) -> Array:
    """Returns the score of every row.

    A score above 0 predicts the positive class; the larger its absolute value, the more confident
    the prediction. For a problem with real labels, the score is the predicted label.

    model
        a Result or the path of a model file
    X
        dense or CSR rows, or the path of a data file, whose labels are ignored
    label_column
        the label column of a file, by name or number from 1, or "none". By default that of the
        model, which a CSV file with column names need not have
    plugin
        the path of the shared object that defines the model's problem, if it is not built in
    """
    predictor = _Predictor(model, plugin)
    rows = predictor.rows(X, label_column=label_column)

    def compute() -> Array:
        scores = np.empty(rows.rows)
        check(lib.saddle_predictor_scores, predictor.c, rows, pointer(scores, "double *"))
        return scores

    return np.asarray(predictor.call(compute))


def coefficients(model: Any, *, plugin: str | None = None) -> tuple[Array, float]:
    """Returns the coefficients w, one per feature, and the intercept v of a linear model.

    They are in the units of the data, also if the run scaled its columns: the scores of
    `saddle.predict()` are X @ w + v, but for rounding errors.

    model
        a Result or the path of a model file
    """
    predictor = _Predictor(model, plugin)
    out = np.empty(lib.saddle_predictor_features(predictor.c) + 1)
    call = (lib.saddle_predictor_coefficients, predictor.c, pointer(out, "double *"))
    predictor.call(lambda: check(*call))
    return out[:-1], float(out[-1])


def feature_names(model: Any, *, plugin: str | None = None) -> list[str]:
    """Returns the names of a model's features: columns, COLUMN=CATEGORY, or numbers from 1."""
    predictor = _Predictor(model, plugin)
    columns = lib.saddle_predictor_columns(predictor.c)
    if not columns:
        return [str(k + 1) for k in range(lib.saddle_predictor_features(predictor.c))]
    first, count, texts = ffi.new("size_t *"), ffi.new("size_t *"), ffi.new("size_t *")
    out: list[str] = []
    for k in range(lib.saddle_columns_count(columns)):
        lib.saddle_columns_features(columns, k, first, count)
        found = lib.saddle_columns_texts(columns, k, texts)
        name = text(lib.saddle_columns_name(columns, k))
        hot = bool(found) and count[0] == texts[0]
        out += [f"{name}={text(found[j])}" for j in range(count[0])] if hot else [name]
    return out


def evaluate(
    model: Any, X: Any, y: Any = None, *, positive: Any = None, plugin: str | None = None
) -> dict[str, float]:
    """Returns accuracy, auc, loss and the problem's own outcomes of a model on labelled rows.

    X, y
        rows and labels, or only the path of a data file; y can be the name of a column of a
        DataFrame X
    positive
        the labels that count as positive if there are more than two, such as "5-9" or [2, 4]
    """
    if isinstance(y, str):
        if not is_frame(X) or y not in X.columns:
            raise TypeError(f"y is {y!r}; give labels, or the name of a column of a DataFrame X")
        y = X[y]
    if y is None and not isinstance(X, (str, os.PathLike)):
        raise TypeError("evaluate() needs labels: evaluate(model, X, y)")
    predictor = _Predictor(model, plugin)
    rows = predictor.rows(X, y)
    out = ffi.new("saddle_outcome[]", lib.SADDLE_MOST_OUTCOMES + 4)
    count = ffi.new("size_t *")
    which = ffi.NULL if positive is None else as_text("positive", positive).encode()
    predictor.call(
        lambda: check(lib.saddle_predictor_evaluate, predictor.c, rows, which, out, count)
    )
    return {text(out[k].name): out[k].value for k in range(count[0])}
