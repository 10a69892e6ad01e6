"""Classifiers in the style of scikit-learn, for two classes.

Each fits a built-in problem on a network of agents, between which the rows are split. Columns of
different scales are scaled (the parameter `scale`), and predictions take the data as given.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.metrics import roc_auc_score
    from sklearn.utils import check_random_state, column_or_1d
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_consistent_length, check_is_fitted
except ImportError as missing:
    raise ImportError(f"saddle.sklearn needs scikit-learn: {missing}") from missing

from ._checks import as_array
from ._library import Array
from .instance import run
from .result import Result

__all__ = ["AUCClassifier", "FairClassifier", "RobustClassifier"]

# Options with which a run is also measured between its start and its end.
_MEASURING = {"trace_every", "trace", "tolerance", "stop_when", "stop_after", "outcomes", "config"}


def _as_labels(indices: Array) -> Array:
    return np.where(indices == 1, 1.0, -1.0)


def _with_column(X: Any, column: Any) -> Any:
    """Returns rows with one more feature."""
    if hasattr(X, "tocsr"):
        from scipy import sparse

        return sparse.hstack([X, sparse.csr_matrix(np.reshape(column, (-1, 1)))], format="csr")
    return np.column_stack([X, column])


class _Classifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base class of the classifiers.

    classes_
        the two labels; decision_function() is positive for the second
    result_
        the `saddle.Result`, with trace and iterates
    n_iter_
        the iterations of the run
    coef_, intercept_
        of a linear model, for data as given: decision_function() is X @ coef_[0] + intercept_[0]
    """

    agents: int
    model: str
    scale: str
    max_iter: int
    random_state: Any
    options: dict[str, Any] | None
    result_: Result

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

    def _validated(self, X: Any, *y: Any, **how: Any) -> Any:
        """Returns what scikit-learn makes of the rows and labels. It also converts dates, text and
        masked entries, which are refused."""
        valid = self._validate_data(X, *y, accept_sparse="csr", dtype=np.float64, **how)
        if not hasattr(X, "tocsr"):
            as_array(X, "X")
        return valid

    def _run(self, problem: str, data: Any, **options: Any) -> None:
        seed = int(check_random_state(self.random_state).randint(1, 2**31))
        settings: dict[str, Any] = {"iterations": self.max_iter, "seed": seed, **options}
        settings.update(score=self.model, scale=self.scale)
        own = self.options or {}
        if not _MEASURING.intersection(own):
            settings["trace_every"] = 2**53  # only the start and the end
        self.result_ = run(problem, data, **{**settings, **own})
        self.n_iter_ = self.result_.iteration
        if self.result_.settings["score"] == "linear" and self.result_.stop != "diverged":
            w, v = self.result_.coefficients()
            self.coef_, self.intercept_ = w[None, : self.n_features_in_], np.array([v])
        if self.result_.stop == "diverged":
            message = f"the run diverged, and the model is useless: {self.result_.message}"
            warnings.warn(message, ConvergenceWarning, stacklevel=4)

    def _run_on_agents(self, problem: str, data: Any, **options: Any) -> None:
        """Runs with rows that are split between the agents."""
        agents = min(self.agents, data[0].shape[0])
        self._run(problem, data, agents=agents, topology="complete", **options)

    def _scores(self, X: Any) -> Array:
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        return self.result_.predict(self._as_trained(X))

    def _as_trained(self, X: Any) -> Any:
        """Returns rows with the features that the model was trained with."""
        return X

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
    score() returns the area under the curve.

    agents
        the number of agents between which the rows are split
    model
        "linear", or a network such as "mlp:32,16"
    algorithm, max_iter
        the algorithm and the number of iterations
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
        algorithm: Any = "precision",
        scale: str = "auto",
        max_iter: int = 1000,
        random_state: Any = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        self.agents = agents
        self.model = model
        self.algorithm = algorithm
        self.scale = scale
        self.max_iter = max_iter
        self.random_state = random_state
        self.options = options

    def fit(self, X: Any, y: Any) -> AUCClassifier:
        """Fits the model to dense or sparse rows with two distinct labels."""
        X, indices = self._checked(X, y)
        data = (X, _as_labels(indices))
        self._run_on_agents("auc", data, algorithm=self.algorithm)
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
    agents, model, algorithm, max_iter, random_state, scale, options
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
        algorithm: Any = "precision",
        scale: str = "auto",
        max_iter: int = 1000,
        random_state: Any = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        self.fairness = fairness
        self.agents = agents
        self.model = model
        self.algorithm = algorithm
        self.scale = scale
        self.max_iter = max_iter
        self.random_state = random_state
        self.options = options

    def fit(self, X: Any, y: Any, sensitive_features: Any = None) -> FairClassifier:
        """Fits the model.

        sensitive_features
            the attribute of each row, with two distinct values. Without it the model is plain
            logistic regression, with a warning unless fairness is 0
        """
        X, indices = self._checked(X, y)
        attribute, fairness = np.zeros(X.shape[0]), self.fairness
        if sensitive_features is not None:
            values, found = np.unique(column_or_1d(sensitive_features), return_inverse=True)
            check_consistent_length(X, found)
            if len(values) > 2:
                count = len(values)
                raise ValueError(f"sensitive_features must have two values; they have {count}")
            attribute = found.astype(np.float64)
        elif fairness != 0:
            message = "there are no sensitive_features: this is plain logistic regression"
            warnings.warn(message, stacklevel=2)
            fairness = 0.0
        data = (_with_column(X, attribute), _as_labels(indices))
        self._run_on_agents(
            "fair", data, algorithm=self.algorithm, fairness=fairness,
            sensitive=str(X.shape[1] + 1),
        )  # fmt: skip
        return self

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
    model, algorithm, max_iter, random_state, scale, options
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
        algorithm: Any = "precision",
        scale: str = "auto",
        max_iter: int = 1000,
        random_state: Any = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        self.ridge = ridge
        self.by_label = by_label
        self.model = model
        self.algorithm = algorithm
        self.scale = scale
        self.max_iter = max_iter
        self.random_state = random_state
        self.options = options

    def fit(self, X: Any, y: Any, sensitive_features: Any = None) -> RobustClassifier:
        """Fits the model.

        sensitive_features
            the group of each row, any values. Without it all rows are one group or, with by_label,
            one group for each label
        """
        X, indices = self._checked(X, y)
        group = np.zeros(X.shape[0], dtype=int)
        if sensitive_features is not None:
            group = np.unique(column_or_1d(sensitive_features), return_inverse=True)[1]
            check_consistent_length(X, group)
        if self.by_label:
            group = np.unique(2 * group + indices, return_inverse=True)[1]
        members = [np.flatnonzero(group == g) for g in range(group.max() + 1)]
        labels = _as_labels(indices)
        data = [(X[rows], labels[rows]) for rows in members]
        self._run(
            "group-dro", data, algorithm=self.algorithm, groups="agents",
            group_ridge=self.ridge, topology="complete",
        )  # fmt: skip
        return self
