"""Estimators in the style of scikit-learn: classifiers and a regressor.

Each fits a built-in problem on a network of agents, between which the rows are split. Columns of
different scales are scaled (the parameter `scale`), and predictions take the data as given. A row
with sample_weight 2 counts like two rows, and is repeated.
"""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from typing import Any

import numpy as np

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.metrics import roc_auc_score
    from sklearn.utils import check_random_state, column_or_1d, validation
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import (
        _check_sample_weight,
        check_consistent_length,
        check_is_fitted,
    )
except ImportError as missing:
    raise ImportError(f"saddle.sklearn needs scikit-learn: {missing}") from missing

from ._checks import as_array
from ._library import Array
from .errors import NotSolvedWarning
from .instance import solve, warn_unless_solved
from .result import Result

__all__ = ["AUCClassifier", "FairClassifier", "RobustClassifier", "RobustRegressor"]

# The second is that of scikit-learn before 1.6.
_validate_data = getattr(validation, "validate_data", None) or BaseEstimator._validate_data
# Options with which a run is also measured between its start and its end.
_MEASURING = {"trace_every", "trace", "tolerance", "stop_when", "stop_after", "outcomes", "config"}


class NotConvergedWarning(NotSolvedWarning, ConvergenceWarning):  # type: ignore[misc]
    """The warning of a fit that has not converged, for filters of Saddle and of scikit-learn."""


MOST_COPIES = 100
"""The most copies of a row, on average, that sample_weight may ask for."""


def _as_labels(indices: Array, positive: int = 1) -> Array:
    return np.where(indices == positive, 1.0, -1.0)


def _copies(ratios: Array) -> list[int]:
    """Returns whole numbers with these ratios; [] if there are no small ones."""
    exact = []
    for ratio in map(float, ratios):
        exact.append(Fraction(ratio).limit_denominator(1000))
        if abs(exact[-1] - ratio) > 1e-12 * ratio:
            return []
    unit = math.lcm(*(value.denominator for value in exact))
    return [int(value * unit) for value in exact]


def _repeated(sample_weight: Any, X: Any, *columns: Any) -> list[Any]:
    """Returns rows, labels and attributes, each as often as the row's weight says: weights 0.5 and
    1.5 are one row and three. Then no problem needs weights, also not one that couples rows, such
    as auc. Entries that are None stay."""
    check_consistent_length(X, *columns)
    given = [X, *columns]
    if sample_weight is None:
        return given
    weight = _check_sample_weight(sample_weight, X)
    values, which = np.unique(weight, return_inverse=True)
    if not 0 <= values[0] <= values[-1] or values[-1] == 0:
        raise ValueError("sample_weight must not be negative, and one weight must be above 0")
    copies = _copies(values / values[values > 0][0])
    most = max(MOST_COPIES * len(weight), 10_000)
    if not copies or sum(c * k for c, k in zip(copies, map(int, np.bincount(which)))) > most:
        raise ValueError(
            "sample_weight: a row is repeated as often as its weight says, so weights must be "
            "small whole numbers, or such multiples of one number; round them, as by "
            "np.round(10 * w / w.mean())"
        )
    rows = np.repeat(np.arange(len(weight)), np.array(copies)[which])
    return [None if entry is None else entry[rows] for entry in given]


def _with_column(X: Any, column: Any) -> Any:
    """Returns rows with one more feature."""
    if hasattr(X, "tocsr"):
        from scipy import sparse

        return sparse.hstack([X, sparse.csr_matrix(np.reshape(column, (-1, 1)))], format="csr")
    return np.column_stack([X, column])


def _stacked(before: Any, rows: Any) -> Any:
    """Returns rows below others, or labels after others."""
    if hasattr(rows, "tocsr"):
        from scipy import sparse

        return sparse.vstack([before, rows], format="csr")
    return np.concatenate([before, rows])


def _size(data: Any) -> tuple[int, int]:
    """Returns the numbers of samples and of features."""
    parts = data if isinstance(data, list) else [data]
    return sum(len(y) for _, y in parts), parts[0][0].shape[1]


class _Estimator(BaseEstimator):  # type: ignore[misc]
    """Base class of the estimators.

    result_
        the `saddle.Result`, with trace and iterates; with more than two classes a list, one of each
    n_iter_
        the iterations of the run
    coef_, intercept_
        of a linear model, for data as given: decision_function() is X @ coef_.T + intercept_
    """

    agents: int
    algorithm: Any
    warm_start: bool
    model: str
    scale: str
    max_iter: int
    random_state: Any
    options: dict[str, Any] | None
    result_: Any  # a Result, or a list of them
    coef_: Array
    intercept_: Any

    def _validated(self, X: Any, *y: Any, **how: Any) -> Any:
        """Returns what scikit-learn makes of the rows and labels. It also converts dates, text and
        masked entries, which are refused."""
        valid = _validate_data(self, X, *y, accept_sparse="csr", dtype=np.float64, **how)
        if not hasattr(X, "tocsr"):
            as_array(X, "X")
        return valid

    def _run(self, problem: str, *data: Any, continues: bool = False, **options: Any) -> None:
        """Runs on the rows of each model: (X, y), to be split between the agents, or a list with
        those of each agent. fit() must call it, because a warning blames the caller's caller."""
        seed = int(check_random_state(self.random_state).randint(1, 2**31))
        settings: dict[str, Any] = {"iterations": self.max_iter, "topology": "complete", **options}
        settings.update(seed=seed, scale=self.scale, algorithm=self.algorithm)
        if hasattr(self, "model"):
            settings["score"] = self.model
        if isinstance(data[0], tuple):
            self._sites = {}
            settings["agents"] = min(self.agents, _size(data[0])[0])
        own = self.options or {}
        if not _MEASURING.intersection(own):
            settings["trace_every"] = 2**53  # only the start and the end
        before = self._results if (self.warm_start or continues) and hasattr(self, "_size") else []
        if len(before) != len(data) or self._size[1] != _size(data[0])[1]:
            before = [None] * len(data)  # there are other classes or features
        self._results = [
            solve(problem, rows, **{**settings, **self._solution(last, rows), **own})
            for last, rows in zip(before, data)
        ]
        self.result_ = self._results[0] if len(data) == 1 else self._results
        self._size = _size(data[0])
        self.n_iter_ = max(result.iteration for result in self._results)
        linear = self._results[0].settings.get("score", "linear") == "linear"
        if linear and not any(result.stop == "diverged" for result in self._results):
            both = [result.coefficients() for result in self._results]
            w = np.array([w[: self.n_features_in_] for w, _ in both])
            self._take_coefficients(w, np.array([v for _, v in both]))
        unsolved = [result for result in self._results if result._shortfall()]
        for result in unsolved[:1]:
            warn_unless_solved(result, NotConvergedWarning, 4, iterations="max_iter")

    def _take_coefficients(self, w: Array, v: Array) -> None:
        self.coef_, self.intercept_ = w, v

    def _solution(self, last: Result | None, data: Any) -> dict[str, Array]:
        """Returns where a run on these rows begins: at the last solution, if there is one. y begins
        anew if it has an entry per sample and their number has changed."""
        if last is None or last.stop == "diverged":
            return {}
        start = {"init_x": last.x}
        if self._size[0] == _size(data)[0] or self._size[0] != len(last.y):
            start["init_y"] = last.y
        return start

    _results: list[Any]  # one for each model
    _size: tuple[int, int]  # samples and features of the last fit
    _sites: dict[Any, tuple[Any, Array]]

    def _add_parts(self, parts: dict[Any, tuple[Any, Array]]) -> list[tuple[Any, Array]]:
        """Adds rows to those of sites; returns those of all sites."""
        sites = dict(getattr(self, "_sites", {}))
        for site, (X, y) in parts.items():
            if site in sites:
                X, y = _stacked(sites[site][0], X), _stacked(sites[site][1], y)
            sites[site] = (X, y)
        self._sites = sites
        return list(sites.values())

    def __sklearn_tags__(self) -> Any:
        tags: Any = getattr(super(), "__sklearn_tags__")()  # since scikit-learn 1.6
        tags.input_tags.sparse = True
        return tags

    def _scores(self, X: Any) -> Array:
        check_is_fitted(self, "result_")
        X = self._validated(X, reset=False)
        scores = [result.predict(self._as_trained(X)) for result in self._results]
        return scores[0] if len(scores) == 1 else np.column_stack(scores)

    def _as_trained(self, X: Any) -> Any:
        """Returns rows with the features that the model was trained with."""
        return X


class _Classifier(ClassifierMixin, _Estimator):  # type: ignore[misc]
    """Base class of the classifiers.

    classes_
        the two labels; decision_function() is positive for the second
    """

    classes_: Array
    _several = False  # whether there can be more than two classes

    def _more_tags(self) -> dict[str, Any]:  # before scikit-learn 1.6
        return {"binary_only": not self._several}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._several
        return tags

    def _checked(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        attribute: Any = None,
        *,
        part: bool = False,
        classes: Any = None,
    ) -> list[Any]:
        """Returns the validated rows, the index of each row's class, and the attribute. A part of
        the rows may have one class; all classes are those of earlier parts, or given."""
        first = not (part and hasattr(self, "classes_"))
        least = 1 if part else 2
        X, y = self._validated(X, y, ensure_min_samples=least, y_numeric=False, reset=first)
        check_classification_targets(y)
        attribute = None if attribute is None else column_or_1d(attribute)
        X, y, attribute = _repeated(sample_weight, X, column_or_1d(y, warn=True), attribute)
        known = np.unique(y if classes is None else classes) if first else self.classes_
        if len(known) > 2 and not self._several:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass, "
                f"with {len(known)} classes; RobustClassifier can have them."
            )
        if len(known) < 2:
            hint = "; give classes=" if part else ""
            raise ValueError(f"There is only one class; a classifier needs two classes{hint}.")
        self.classes_ = known
        strange = np.setdiff1d(y, known).tolist()
        if strange:
            raise ValueError(f"The label {strange[0]!r} is not one of {known.tolist()}.")
        return [X, np.searchsorted(known, y), attribute]

    def _has_all_classes(self) -> bool:
        """Returns whether the rows of all sites have all classes."""
        labels = np.concatenate([labels for _, labels in self._sites.values()])
        return len(np.unique(labels)) == len(self.classes_)

    def decision_function(self, X: Any) -> Array:
        """Returns a score for each row, positive for the second class; with more than two classes
        one for each class, positive for that class."""
        return self._scores(X)

    def predict(self, X: Any) -> Array:
        """Returns the label of each row."""
        score = self.decision_function(X)
        best = score.argmax(axis=1) if score.ndim == 2 else (score > 0).astype(int)
        return np.asarray(self.classes_[best])


class _LogisticClassifier(_Classifier):
    """A classifier trained by a logistic loss."""

    def predict_proba(self, X: Any) -> Array:
        """Returns the probabilities of the classes for each row. With more than two they are those
        of each class against the rest, divided by their sum."""
        score = self.decision_function(X)
        if score.ndim == 2:
            log = -np.logaddexp(0.0, -score)
            share = np.exp(log - log.max(axis=1, keepdims=True))
            return np.asarray(share / share.sum(axis=1, keepdims=True))
        positive = 0.5 * (1.0 + np.tanh(0.5 * score))
        return np.column_stack([1.0 - positive, positive])


class AUCClassifier(_Classifier):
    """Maximizes the area under the ROC curve in its min-max form: docs/problems/auc.md.

    It ranks rows; decision_function() is 0 halfway between the mean scores of the two classes.
    score() returns the area under the curve. Its scores are not probabilities:
    sklearn.calibration.CalibratedClassifierCV(AUCClassifier()) has predict_proba().

    agents
        the number of agents between which the rows are split
    model
        "linear", or a network such as "mlp:32,16"
    algorithm, max_iter
        the algorithm, by default the one that `saddle.run()` chooses, and the number of iterations
    warm_start
        whether fit() begins at the solution of the last fit()
    random_state
        determines the seed of the run
    scale
        "auto": scale columns whose scales differ; "standard": all but those of -1, 0 and 1; "none"
    options
        a dict of further options of `saddle.run()`, such as {"tau": 2, "topology": "ring"}

    >>> import numpy as np, saddle
    >>> X = np.random.default_rng(0).normal(size=(300, 4))
    >>> y = np.where(X[:, 0] + X[:, 1] > 1.5, "rare", "common")
    >>> bool(saddle.sklearn.AUCClassifier(random_state=0).fit(X, y).score(X, y) > 0.95)
    True
    """

    def __init__(
        self,
        *,
        agents: int = 5,
        model: str = "linear",
        algorithm: Any = "auto",
        scale: str = "auto",
        max_iter: int = 1000,
        warm_start: bool = False,
        random_state: Any = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        self.agents = agents
        self.model = model
        self.algorithm = algorithm
        self.scale = scale
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.random_state = random_state
        self.options = options

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> AUCClassifier:
        """Fits the model to dense or sparse rows with two distinct labels.

        sample_weight
            how often each row counts: whole numbers, or multiples of another number. Rows are
            repeated accordingly; only the ratios of weights matter
        """
        X, indices, _ = self._checked(X, y, sample_weight)
        self._run("auc", (X, _as_labels(indices)), agent_weights="by-size")
        return self

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, *, site: Any = 0
    ) -> AUCClassifier:
        """Adds new rows of one site, and continues from the last solution on the rows of all sites.

        Every site is an agent, and counts the same. The rows of all calls since fit() are kept, so
        that no site forgets.

        classes
            the two labels, if the rows of the first call do not have both. The model is fitted as
            soon as there are rows of both
        sample_weight
            as for fit(); ratios matter among the rows of this call
        site
            any name or number; a new one joins the network
        """
        X, indices, _ = self._checked(X, y, sample_weight, part=True, classes=classes)
        parts = self._add_parts({site: (X, _as_labels(indices))})
        if self._has_all_classes():
            self._run("auc", parts, continues=True)
        return self

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Returns the area under the ROC curve."""
        labels = np.asarray(y, dtype=object)
        unknown = labels[~np.isin(labels, self.classes_.astype(object))]
        if len(unknown) > 0:
            known = " and ".join(map(repr, self.classes_.tolist()))
            raise ValueError(f"y has the label {unknown[0]!r}; those of fit() are {known}")
        positive = labels == self.classes_[1]
        scores = self.decision_function(X)
        return float(roc_auc_score(positive, scores, sample_weight=sample_weight))


class FairClassifier(_LogisticClassifier):
    """Logistic regression that depends little on a sensitive attribute: docs/problems/fair.md.

    The attribute, such as sex, is given to fit() and is not needed to predict. The model does not
    use features that equal the attribute or its opposite; remove other features that reveal it.

    fairness
        the weight of the dependence between decision and attribute; 0: plain logistic regression
    agents, model, algorithm, max_iter, warm_start, random_state, scale, options
        as for AUCClassifier

    >>> import numpy as np, saddle
    >>> generator = np.random.default_rng(0)
    >>> sex = generator.integers(2, size=400)
    >>> X = generator.normal(size=(400, 3))
    >>> X[:, 2] += 2 * sex
    >>> y = X.sum(axis=1) > 1
    >>> def gap(model):
    ...     decisions = model.predict(X)
    ...     return abs(decisions[sex == 1].mean() - decisions[sex == 0].mean())
    >>> fair, plain = (saddle.sklearn.FairClassifier(fairness=w, random_state=0) for w in (50, 0))
    >>> both = [gap(model.fit(X, y, sensitive_features=sex)) for model in (fair, plain)]
    >>> bool(both[0] < both[1] / 2)
    True
    """

    def __init__(
        self,
        *,
        fairness: float = 8.0,
        agents: int = 5,
        model: str = "linear",
        algorithm: Any = "auto",
        scale: str = "auto",
        max_iter: int = 1000,
        warm_start: bool = False,
        random_state: Any = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        self.fairness = fairness
        self.agents = agents
        self.model = model
        self.algorithm = algorithm
        self.scale = scale
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.random_state = random_state
        self.options = options

    def fit(
        self, X: Any, y: Any, sensitive_features: Any = None, sample_weight: Any = None
    ) -> FairClassifier:
        """Fits the model.

        sensitive_features
            the attribute of each row, with two distinct values. Without it the model is plain
            logistic regression, with a warning unless fairness is 0
        sample_weight
            as for AUCClassifier
        """
        X, indices, attribute = self._checked(X, y, sample_weight, sensitive_features)
        self._attributes: Array | None = None
        rows, options = self._with_attribute(X, attribute)
        self._run("fair", (rows, _as_labels(indices)), agent_weights="by-size", **options)
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any,
        sensitive_features: Any = None,
        classes: Any = None,
        sample_weight: Any = None,
        *,
        site: Any = 0,
    ) -> FairClassifier:
        """Adds new rows of one site, as AUCClassifier.partial_fit() does. The first rows must have
        both values of sensitive_features."""
        given = (X, y, sample_weight, sensitive_features)
        X, indices, attribute = self._checked(*given, part=True, classes=classes)
        rows, options = self._with_attribute(X, attribute)
        parts = self._add_parts({site: (rows, _as_labels(indices))})
        if self._has_all_classes():
            self._run("fair", parts, continues=True, **options)
        return self

    def _with_attribute(self, X: Any, sensitive_features: Any) -> tuple[Any, dict[str, Any]]:
        """Returns rows with the attribute as the last column, and the options of the run."""
        attribute, fairness = np.zeros(X.shape[0]), self.fairness
        if sensitive_features is not None:
            attribute = self._attribute(sensitive_features)
        elif getattr(self, "_attributes", None) is not None:
            raise ValueError("there are no sensitive_features, but earlier rows have them")
        elif fairness != 0:
            message = "there are no sensitive_features: this is plain logistic regression"
            warnings.warn(message, stacklevel=3)
            fairness = 0.0
        options = {"fairness": fairness, "sensitive": str(X.shape[1] + 1)}
        return _with_column(X, attribute), options

    def _attribute(self, given: Array) -> Array:
        """Returns 0 or 1 for each row; the first rows decide which value is which."""
        known = getattr(self, "_attributes", None)
        values = self._attributes = np.union1d(given if known is None else known, given)
        if len(values) > 2:
            raise ValueError(f"sensitive_features must have two values; they have {len(values)}")
        if known is not None and len(known) < len(values):
            raise ValueError(f"the first rows must have both sensitive_features {values.tolist()}")
        return np.searchsorted(values, given).astype(np.float64)

    def _as_trained(self, X: Any) -> Any:
        return _with_column(X, np.zeros(X.shape[0]))  # the attribute's weight is not used


class RobustClassifier(_LogisticClassifier):
    """Minimizes the logistic loss of the worst group of rows: docs/problems/group-dro.md.

    Groups are given to fit() and are not needed to predict. Each group is an agent: groups
    exchange model parameters, never rows. With more than two classes there is a model for each
    class against the rest. Probabilities are those of data in which the groups occur as often as
    the worst case weighs them, not as often as in the rows.

    ridge
        pulls the groups' weights together; the smaller, the closer to the worst group's loss
    by_label
        whether rows of a group with different labels are separate groups
    model, algorithm, max_iter, warm_start, random_state, scale, options
        as for AUCClassifier

    >>> import numpy as np, saddle
    >>> X = np.random.default_rng(0).normal(size=(300, 4))
    >>> y = X[:, 0] + X[:, 1] > 1.5
    >>> robust = saddle.sklearn.RobustClassifier(random_state=0).fit(X, y)
    >>> bool(min(robust.score(X[y], y[y]), robust.score(X[~y], y[~y])) > 0.9)
    True
    """

    def __init__(
        self,
        *,
        ridge: float = 0.1,
        by_label: bool = True,
        model: str = "linear",
        algorithm: Any = "auto",
        scale: str = "auto",
        max_iter: int = 1000,
        warm_start: bool = False,
        random_state: Any = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        self.ridge = ridge
        self.by_label = by_label
        self.model = model
        self.algorithm = algorithm
        self.scale = scale
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.random_state = random_state
        self.options = options

    _several = True

    def fit(
        self, X: Any, y: Any, sensitive_features: Any = None, sample_weight: Any = None
    ) -> RobustClassifier:
        """Fits the model.

        sensitive_features
            the group of each row, any values. Without it all rows are one group or, with by_label,
            one group for each label
        sample_weight
            as for AUCClassifier; ratios matter among the rows of a group
        """
        self._sites = {}
        data = self._data(*self._checked(X, y, sample_weight, sensitive_features))
        self._run("group-dro", *data, groups="agents", group_ridge=self.ridge)
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any,
        sensitive_features: Any = None,
        classes: Any = None,
        sample_weight: Any = None,
    ) -> RobustClassifier:
        """Adds new rows to their groups, and continues from the last solution on the rows of all
        groups, those of fit() included. A new group joins the network.

        classes
            all labels, if the rows of the first call do not have them. The model is fitted as soon
            as there are rows of each
        """
        given = (X, y, sample_weight, sensitive_features)
        data = self._data(*self._checked(*given, part=True, classes=classes))
        options = {"groups": "agents", "group_ridge": self.ridge}
        if self._has_all_classes():
            self._run("group-dro", *data, continues=True, **options)
        return self

    def _data(self, X: Any, indices: Array, attribute: Any) -> list[list[tuple[Any, Array]]]:
        """Adds rows to their groups; returns the rows of all groups, with the labels of each
        model: of the second class, or of each of several classes, against the rest."""
        parts = self._add_parts(self._groups(X, indices, attribute))
        count = len(self.classes_)
        return [
            [(rows, _as_labels(own, positive)) for rows, own in parts]
            for positive in (range(count) if count > 2 else [1])
        ]

    def _groups(self, X: Any, indices: Array, attribute: Any) -> dict[Any, tuple[Any, Array]]:
        """Returns rows and indices of classes by group."""
        values = np.zeros(X.shape[0], dtype=int) if attribute is None else attribute
        of_row = [
            (value, index if self.by_label else None)
            for value, index in zip(values.tolist(), indices.tolist())
        ]
        groups = sorted(set(of_row), key=lambda group: (str(type(group[0])), group))
        members = {group: [k for k, own in enumerate(of_row) if own == group] for group in groups}
        return {group: (X[rows], indices[rows]) for group, rows in members.items()}


class RobustRegressor(RegressorMixin, _Estimator):  # type: ignore[misc]
    """Linear regression that is good for the rows with the largest errors:
    docs/problems/robust-regression.md.

    loss
        "square", or "huber", which limits the influence of outliers
    divergence
        the weight of the penalty on unequal sample weights; the smaller, the more the rows with the
        largest errors count. None: the variance of y
    agents, algorithm, max_iter, warm_start, random_state, scale, options
        as for AUCClassifier

    coef_, intercept_
        for data as given: predict(X) is X @ coef_ + intercept_

    >>> import numpy as np, saddle
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> model = saddle.sklearn.RobustRegressor(random_state=0).fit(X, X @ [1.0, 2.0] + 3)
    >>> model.coef_.round(2).tolist(), round(model.intercept_, 2)
    ([1.0, 2.0], 3.0)
    """

    def __init__(
        self,
        *,
        loss: str = "square",
        divergence: float | None = None,
        agents: int = 5,
        algorithm: Any = "auto",
        scale: str = "auto",
        max_iter: int = 1000,
        warm_start: bool = False,
        random_state: Any = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        self.loss = loss
        self.divergence = divergence
        self.agents = agents
        self.algorithm = algorithm
        self.scale = scale
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.random_state = random_state
        self.options = options

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RobustRegressor:
        """Fits the model to dense or sparse rows and numbers y; sample_weight as for
        AUCClassifier."""
        X, y = _repeated(sample_weight, *self._validated(X, y, y_numeric=True))
        data = (X, np.asarray(y, dtype=np.float64))
        self._run("robust-regression", data, loss=self.loss, divergence=self.divergence)
        return self

    def partial_fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, site: Any = 0
    ) -> RobustRegressor:
        """Adds new rows of one site, as AUCClassifier.partial_fit() does. Every row of all sites
        counts the same."""
        first = not hasattr(self, "n_features_in_")
        X, y = _repeated(sample_weight, *self._validated(X, y, y_numeric=True, reset=first))
        parts = self._add_parts({site: (X, np.asarray(y, dtype=np.float64))})
        options = {"loss": self.loss, "divergence": self.divergence}
        self._run("robust-regression", parts, continues=True, **options)
        return self

    def _take_coefficients(self, w: Array, v: Array) -> None:
        self.coef_, self.intercept_ = w[0], float(v[0])

    def predict(self, X: Any) -> Array:
        """Returns the predicted number of each row."""
        return self._scores(X)
