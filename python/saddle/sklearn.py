"""Estimators in the style of scikit-learn: classifiers for two classes, and a regressor.

Each fits a built-in problem on a network of agents, between which the rows are split. Columns of
different scales are scaled (the parameter `scale`), and predictions take the data as given.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.metrics import roc_auc_score
    from sklearn.utils import check_random_state, column_or_1d
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_consistent_length, check_is_fitted
except ImportError as missing:
    raise ImportError(f"saddle.sklearn needs scikit-learn: {missing}") from missing

from ._checks import as_array
from ._library import Array
from .errors import NotSolvedWarning
from .instance import solve, warn_unless_solved
from .result import Result

__all__ = ["AUCClassifier", "FairClassifier", "RobustClassifier", "RobustRegressor"]

# Options with which a run is also measured between its start and its end.
_MEASURING = {"trace_every", "trace", "tolerance", "stop_when", "stop_after", "outcomes", "config"}


class NotConvergedWarning(NotSolvedWarning, ConvergenceWarning):  # type: ignore[misc]
    """The warning of a fit that has not converged, for filters of Saddle and of scikit-learn."""


def _as_labels(indices: Array) -> Array:
    return np.where(indices == 1, 1.0, -1.0)


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
        the `saddle.Result`, with trace and iterates
    n_iter_
        the iterations of the run
    coef_, intercept_
        of a linear model, for data as given: decision_function() is X @ coef_[0] + intercept_[0]
    """

    agents: int
    algorithm: Any
    warm_start: bool
    model: str
    scale: str
    max_iter: int
    random_state: Any
    options: dict[str, Any] | None
    result_: Result
    coef_: Array
    intercept_: Any

    def _validated(self, X: Any, *y: Any, **how: Any) -> Any:
        """Returns what scikit-learn makes of the rows and labels. It also converts dates, text and
        masked entries, which are refused."""
        valid = self._validate_data(X, *y, accept_sparse="csr", dtype=np.float64, **how)
        if not hasattr(X, "tocsr"):
            as_array(X, "X")
        return valid

    def _run(self, problem: str, data: Any, level: int = 4, **options: Any) -> None:
        """Runs; a warning blames the caller of fit(), which is at this level."""
        seed = int(check_random_state(self.random_state).randint(1, 2**31))
        settings: dict[str, Any] = {"iterations": self.max_iter, "seed": seed, **options}
        settings.update(scale=self.scale, algorithm=self.algorithm)
        if hasattr(self, "model"):
            settings["score"] = self.model
        if (self.warm_start or self._continues) and hasattr(self, "result_"):
            settings.update(self._solution(data))
        own = self.options or {}
        if not _MEASURING.intersection(own):
            settings["trace_every"] = 2**53  # only the start and the end
        self.result_ = solve(problem, data, **{**settings, **own})
        self._size = _size(data)
        self.n_iter_ = self.result_.iteration
        linear = self.result_.settings.get("score", "linear") == "linear"
        if linear and self.result_.stop != "diverged":
            w, v = self.result_.coefficients()
            self._take_coefficients(w[: self.n_features_in_], v)
        warn_unless_solved(self.result_, NotConvergedWarning, level, iterations="max_iter")

    def _take_coefficients(self, w: Array, v: float) -> None:
        self.coef_, self.intercept_ = w[None, :], np.array([v])

    def _solution(self, data: Any) -> dict[str, Array]:
        """Returns where a run on these rows begins: at the last solution, unless the data have
        other features. y begins anew if it has an entry per sample and their number has changed."""
        samples, features = self._size
        if features != _size(data)[1] or self.result_.stop == "diverged":
            return {}
        start = {"init_x": self.result_.x}
        if samples == _size(data)[0] or samples != len(self.result_.y):
            start["init_y"] = self.result_.y
        return start

    _continues = False  # whether partial_fit() runs
    _sites: dict[Any, tuple[Any, Array]]

    def _fit_parts(self, problem: str, parts: dict[Any, tuple[Any, Array]], **options: Any) -> None:
        """Adds rows to those of sites, and runs on those of all sites from the last solution."""
        sites = dict(getattr(self, "_sites", {}))
        for site, (X, y) in parts.items():
            if site in sites:
                X, y = _stacked(sites[site][0], X), _stacked(sites[site][1], y)
            sites[site] = (X, y)
        self._sites = sites
        self._continues = True
        try:
            self._run(problem, list(sites.values()), 5, topology="complete", **options)
        finally:
            self._continues = False

    def _run_on_agents(self, problem: str, data: Any, **options: Any) -> None:
        """Runs with rows that are split between the agents."""
        self._sites = {}
        agents = min(self.agents, data[0].shape[0])
        self._run(problem, data, 5, agents=agents, topology="complete", **options)

    def _scores(self, X: Any) -> Array:
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        return self.result_.predict(self._as_trained(X))

    def _as_trained(self, X: Any) -> Any:
        """Returns rows with the features that the model was trained with."""
        return X


class _Classifier(ClassifierMixin, _Estimator):  # type: ignore[misc]
    """Base class of the classifiers.

    classes_
        the two labels; decision_function() is positive for the second
    """

    def _more_tags(self) -> dict[str, bool]:
        return {"binary_only": True}

    def _checked(self, X: Any, y: Any) -> tuple[Any, Array]:
        """Returns the validated rows, and 1 for each row of the second class, otherwise 0."""
        X, y = self._validated(X, y, ensure_min_samples=2, y_numeric=False)
        check_classification_targets(y)
        self.classes_, indices = np.unique(column_or_1d(y, warn=True), return_inverse=True)
        if len(self.classes_) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass, "
                f"with {len(self.classes_)} classes."
            )
        if len(self.classes_) < 2:
            raise ValueError("The rows have only one class; a classifier needs two classes.")
        return X, indices

    def _checked_part(self, X: Any, y: Any, classes: Any) -> tuple[Any, Array]:
        """Returns what _checked() does, for some of the rows, which may have one class."""
        first = not hasattr(self, "classes_")
        X, y = self._validated(X, y, y_numeric=False, reset=first)
        y = column_or_1d(y, warn=True)
        known = np.unique(y if classes is None else classes) if first else self.classes_
        if len(known) != 2:
            raise ValueError(f"There must be two classes; give classes=[...], not {list(known)}.")
        self.classes_ = known
        strange = np.setdiff1d(y, known)
        if len(strange) > 0:
            raise ValueError(f"The label {strange[0]!r} is not one of the classes {list(known)}.")
        return X, np.searchsorted(known, y)

    def decision_function(self, X: Any) -> Array:
        """Returns a score for each row, positive for the second class."""
        return self._scores(X)

    def predict(self, X: Any) -> Array:
        """Returns the label of each row."""
        positive = self.decision_function(X) > 0
        return np.asarray(self.classes_[positive.astype(int)])


class _LogisticClassifier(_Classifier):
    """A classifier trained by a logistic loss."""

    def predict_proba(self, X: Any) -> Array:
        """Returns the probabilities of the two classes for each row."""
        positive = 0.5 * (1.0 + np.tanh(0.5 * self.decision_function(X)))
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

    def fit(self, X: Any, y: Any) -> AUCClassifier:
        """Fits the model to dense or sparse rows with two distinct labels."""
        X, indices = self._checked(X, y)
        data = (X, _as_labels(indices))
        self._run_on_agents("auc", data)
        return self

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, *, site: Any = 0
    ) -> AUCClassifier:
        """Adds new rows of one site, and continues from the last solution on the rows of all sites.

        Every site is an agent. The rows of all calls since fit() are kept, so that no site forgets.

        classes
            the two labels, if the rows of the first call do not have both
        site
            any name or number; a new one joins the network
        """
        X, indices = self._checked_part(X, y, classes)
        self._fit_parts("auc", {site: (X, _as_labels(indices))})
        return self

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Returns the area under the ROC curve."""
        positive = np.asarray(y) == self.classes_[1]
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

    def fit(self, X: Any, y: Any, sensitive_features: Any = None) -> FairClassifier:
        """Fits the model.

        sensitive_features
            the attribute of each row, with two distinct values. Without it the model is plain
            logistic regression, with a warning unless fairness is 0
        """
        X, indices = self._checked(X, y)
        self._attributes: Array | None = None
        rows, options = self._with_attribute(X, sensitive_features)
        self._run_on_agents("fair", (rows, _as_labels(indices)), **options)
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any,
        sensitive_features: Any = None,
        classes: Any = None,
        *,
        site: Any = 0,
    ) -> FairClassifier:
        """Adds new rows of one site, as AUCClassifier.partial_fit() does. The first rows must have
        both values of sensitive_features."""
        X, indices = self._checked_part(X, y, classes)
        rows, options = self._with_attribute(X, sensitive_features)
        self._fit_parts("fair", {site: (rows, _as_labels(indices))}, **options)
        return self

    def _with_attribute(self, X: Any, sensitive_features: Any) -> tuple[Any, dict[str, Any]]:
        """Returns rows with the attribute as the last column, and the options of the run."""
        attribute, fairness = np.zeros(X.shape[0]), self.fairness
        if sensitive_features is not None:
            attribute = self._attribute(X, sensitive_features)
        elif getattr(self, "_attributes", None) is not None:
            raise ValueError("there are no sensitive_features, but earlier rows have them")
        elif fairness != 0:
            message = "there are no sensitive_features: this is plain logistic regression"
            warnings.warn(message, stacklevel=3)
            fairness = 0.0
        options = {"fairness": fairness, "sensitive": str(X.shape[1] + 1)}
        return _with_column(X, attribute), options

    def _attribute(self, X: Any, sensitive_features: Any) -> Array:
        """Returns 0 or 1 for each row; the first rows decide which value is which."""
        given = column_or_1d(sensitive_features)
        check_consistent_length(X, given)
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
    exchange model parameters, never rows.

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

    def fit(self, X: Any, y: Any, sensitive_features: Any = None) -> RobustClassifier:
        """Fits the model.

        sensitive_features
            the group of each row, any values. Without it all rows are one group or, with by_label,
            one group for each label
        """
        X, indices = self._checked(X, y)
        self._sites = self._groups(X, indices, sensitive_features)
        data = list(self._sites.values())
        options: dict[str, Any] = {"groups": "agents", "group_ridge": self.ridge}
        self._run("group-dro", data, topology="complete", **options)
        return self

    def partial_fit(
        self, X: Any, y: Any, sensitive_features: Any = None, classes: Any = None
    ) -> RobustClassifier:
        """Adds new rows to their groups, and continues from the last solution on the rows of all
        groups, those of fit() included. A new group joins the network.

        classes
            the two labels, if the rows of the first call do not have both
        """
        X, indices = self._checked_part(X, y, classes)
        parts = self._groups(X, indices, sensitive_features)
        self._fit_parts("group-dro", parts, groups="agents", group_ridge=self.ridge)
        return self

    def _groups(self, X: Any, indices: Array, attribute: Any) -> dict[Any, tuple[Any, Array]]:
        """Returns rows and labels by group."""
        values = np.zeros(X.shape[0], dtype=int) if attribute is None else column_or_1d(attribute)
        check_consistent_length(X, values)
        labels = _as_labels(indices)
        of_row = [
            (value, index if self.by_label else None)
            for value, index in zip(values.tolist(), indices.tolist())
        ]
        groups = sorted(set(of_row), key=lambda group: (str(type(group[0])), group))
        members = {group: [k for k, own in enumerate(of_row) if own == group] for group in groups}
        return {group: (X[rows], labels[rows]) for group, rows in members.items()}


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

    def fit(self, X: Any, y: Any) -> RobustRegressor:
        """Fits the model to dense or sparse rows and numbers y."""
        X, y = self._validated(X, y, y_numeric=True)
        data = (X, np.asarray(y, dtype=np.float64))
        self._run_on_agents("robust-regression", data, loss=self.loss, divergence=self.divergence)
        return self

    def partial_fit(self, X: Any, y: Any, *, site: Any = 0) -> RobustRegressor:
        """Adds new rows of one site, as AUCClassifier.partial_fit() does."""
        X, y = self._validated(X, y, y_numeric=True, reset=not hasattr(self, "n_features_in_"))
        parts = {site: (X, np.asarray(y, dtype=np.float64))}
        options = {"loss": self.loss, "divergence": self.divergence}
        self._fit_parts("robust-regression", parts, **options)
        return self

    def _take_coefficients(self, w: Array, v: float) -> None:
        self.coef_, self.intercept_ = w, v

    def predict(self, X: Any) -> Array:
        """Returns the predicted number of each row."""
        return self._scores(X)
