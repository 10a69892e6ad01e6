"""Classifiers in the style of scikit-learn."""

import pickle
import warnings

import numpy as np
import pytest

import saddle

pytest.importorskip("sklearn")
from sklearn.base import clone  # noqa: E402
from sklearn.exceptions import ConvergenceWarning, NotFittedError  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.metrics import roc_auc_score  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

from saddle.sklearn import (  # noqa: E402
    AUCClassifier,
    FairClassifier,
    RobustClassifier,
    RobustRegressor,
)

ALL = [AUCClassifier, FairClassifier, RobustClassifier]


# FairClassifier is checked without sensitive_features, about which it warns.
@pytest.mark.filterwarnings("ignore::UserWarning")
@parametrize_with_checks([kind(max_iter=2000) for kind in (*ALL, RobustRegressor)])
def test_estimator_checks(estimator, check):
    """Only checks of weights may fail that shuffle rows for which no model or more than one is the
    best: separable ones for a logistic loss or, since scikit-learn 1.6, 15 of 30 features."""
    try:
        check(estimator)
    except AssertionError:
        name = check.func.__name__
        old = name == "check_sample_weights_invariance" and hasattr(estimator, "predict_proba")
        if old or name.startswith("check_sample_weight_equivalence"):
            pytest.xfail("there is not exactly one best model")
        raise


@pytest.fixture(scope="module")
def people():
    """Rows, labels as texts, and an attribute that the last feature gives away."""
    generator = np.random.default_rng(0)
    sex = generator.integers(2, size=500)
    X = generator.normal(size=(500, 4))
    X[:, 3] += 2 * sex
    y = np.where(X.sum(axis=1) + 0.5 * generator.normal(size=500) > 1, "yes", "no")
    return X, y, np.where(sex == 1, "m", "f")


def fitted(kind, people, **parameters):
    X, y, sex = people
    model = kind(random_state=0, **parameters)
    return model.fit(X, y) if kind is AUCClassifier else model.fit(X, y, sensitive_features=sex)


@pytest.mark.parametrize("kind", ALL)
def test_use(kind, people):
    X, y, _ = people
    model = fitted(kind, people)
    assert list(model.classes_) == ["no", "yes"]
    decision = model.decision_function(X)
    assert np.array_equal(model.predict(X), np.where(decision > 0, "yes", "no"))
    assert np.mean(model.predict(X) == y) > 0.85
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copy.decision_function(X), decision)
    again = clone(model)
    assert not hasattr(again, "result_") and again.get_params() == model.get_params()
    assert model.n_iter_ == 1000 and list(model.result_.trace.iteration) == [0, 1000]
    network = fitted(kind, people, model="mlp:4", max_iter=300)
    assert network.result_.x.size > model.result_.x.size and np.mean(network.predict(X) == y) > 0.8


@pytest.mark.parametrize("kind", ALL)
def test_sparse_rows(kind, people):
    sparse = pytest.importorskip("scipy.sparse")
    X, y, sex = people
    X = np.where(np.abs(X) > 1, X, 0)
    dense, its = (fitted(kind, (form(X), y, sex)) for form in (np.asarray, sparse.csr_matrix))
    assert np.allclose(
        dense.decision_function(X), its.decision_function(sparse.csc_matrix(X)), atol=1e-9
    )


@pytest.mark.parametrize("kind", [FairClassifier, RobustClassifier])
def test_probabilities(kind, people):
    X = people[0]
    model = fitted(kind, people)
    decision, probability = model.decision_function(X), model.predict_proba(X)
    assert np.allclose(probability[:, 1], 1 / (1 + np.exp(-decision)))
    assert np.allclose(probability.sum(axis=1), 1)


def test_measuring_between_the_ends(people):
    X, y, _ = people
    for options, rows in [({"trace_every": 250}, 5), ({"tolerance": 1e-30}, 200)]:
        model = AUCClassifier(random_state=0, algorithm="precision", options=options).fit(X, y)
        assert len(model.result_.trace.iteration) >= rows, options


def test_auc(people):
    X, y, _ = people
    model = fitted(AUCClassifier, people)
    assert model.score(X, y) == pytest.approx(
        roc_auc_score(y == "yes", model.decision_function(X)), abs=1e-15
    )
    assert model.score(X, y) == pytest.approx(model.result_.outcomes["train_auc"], abs=1e-12)
    for other in (y == "yes", np.where(y == "yes", "Yes", "no")):
        with pytest.raises(ValueError, match="those of fit\\(\\) are 'no' and 'yes'"):
            model.score(X, other)
    decision = model.decision_function(X)
    assert decision[y == "no"].mean() < 0 < decision[y == "yes"].mean()
    middle = 0.5 * sum(model.result_.x[-2:])
    assert np.allclose(decision, X @ model.result_.x[: X.shape[1]] + model.result_.x[-3] - middle)


@pytest.mark.parametrize("kind", ALL)
def test_units_do_not_matter(kind, people):
    X, y, sex = people
    raw = X * [1e-3, 300, 1, 20] + [0, 1000, 50, -7]
    plain = {"algorithm": "precision"}  # its batches do not depend on the last digits
    model = fitted(kind, (raw, y, sex), **plain)
    standard = fitted(kind, people, scale="standard", **plain)
    assert model.result_.settings["scale"] == "standard"
    assert np.allclose(model.result_.mean[:4], raw.mean(axis=0), rtol=1e-13)
    assert np.allclose(model.result_.deviation[:4], raw.std(axis=0), rtol=1e-13)
    decision = model.decision_function(raw)
    assert np.allclose(decision, standard.decision_function(X), atol=1e-8)
    assert np.allclose(decision, raw @ model.coef_[0] + model.intercept_[0], atol=1e-12)
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copy.decision_function(raw), decision)
    assert fitted(kind, people).result_.mean is None  # these columns are in order


def gap(model, people):
    X, _, sex = people
    yes = model.predict(X) == "yes"
    return abs(yes[sex == "m"].mean() - yes[sex == "f"].mean())


def test_fair(people):
    X, y, sex = people
    plain, fair = (fitted(FairClassifier, people, fairness=weight) for weight in (0, 50))
    assert gap(fair, people) < gap(plain, people) / 2
    assert gap(fair, people) == pytest.approx(
        fair.result_.outcomes["train_demographic_parity_gap"], abs=1e-12
    )
    ordinary = LogisticRegression(C=1e6).fit(X, y)
    assert np.mean(plain.predict(X) == ordinary.predict(X)) > 0.97
    with pytest.warns(UserWarning, match="no sensitive_features"):
        FairClassifier(max_iter=2).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", saddle.NotSolvedWarning)
        FairClassifier(max_iter=2, fairness=0).fit(X, y)
    with pytest.raises(ValueError, match="must have two values; they have 3"):
        FairClassifier().fit(X, y, sensitive_features=np.arange(len(y)) % 3)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        FairClassifier().fit(X, y, sensitive_features=sex[1:])


def test_robust():
    generator = np.random.default_rng(1)
    X = generator.normal(size=(600, 3))
    group = np.where(np.arange(600) < 60, "small", "large")
    y = np.where(group == "small", X[:, 0] - X[:, 1], X[:, 0] + X[:, 1]) > 0

    def worst(model):
        return min(model.score(X[group == g], y[group == g]) for g in ("small", "large"))

    robust = RobustClassifier(by_label=False, random_state=0).fit(X, y, sensitive_features=group)
    assert len(robust.result_.x_agents) == 2
    assert worst(robust) > worst(LogisticRegression().fit(X, y)) + 0.1
    four = RobustClassifier(random_state=0, max_iter=10).fit(X, y, sensitive_features=group)
    assert len(four.result_.x_agents) == 4
    assert len(RobustClassifier(max_iter=10).fit(X, y).result_.x_agents) == 2


def test_pipelines_and_searches(people):
    X, y, sex = people
    pipeline = make_pipeline(
        StandardScaler(), FairClassifier(max_iter=300, fairness=50, random_state=0)
    )
    pipeline.fit(X * [1, 1, 1, 1000], y, fairclassifier__sensitive_features=sex)
    assert gap(pipeline, (X * [1, 1, 1, 1000], y, sex)) < 0.2
    search = GridSearchCV(AUCClassifier(random_state=0), {"max_iter": [0, 50]}, cv=3)
    assert search.fit(X, y).best_params_ == {"max_iter": 50}
    assert cross_val_score(RobustClassifier(max_iter=100), X, y, cv=3).mean() > 0.85


def test_mistakes(people):
    X, y, _ = people
    with pytest.raises(ValueError, match="Only binary classification"):
        AUCClassifier().fit(X, np.arange(len(y)) % 3)
    with pytest.raises(ValueError, match="two classes"):
        AUCClassifier().fit(X, np.zeros(len(y)))
    with pytest.raises(TypeError, match="did you mean 'tau'"):
        AUCClassifier(options={"taau": 1}).fit(X, y)
    with pytest.raises(ValueError, match="algorithm: .*precisiom"):
        AUCClassifier(algorithm="precisiom").fit(X, y)


def test_algorithms_in_python(people):
    class Descent(saddle.Algorithm):
        def step(self, agent):
            gx, gy = agent.gradient(agent.now.x, agent.now.y)
            return agent.mix("x") - self.rate * gx, agent.mix("y") + self.rate * gy

        rate = 0.03

    X, y, _ = people
    with pytest.warns(ConvergenceWarning, match="diverged.* agent"):
        AUCClassifier(algorithm=Descent(rate=3.0)).fit(X, y)
    advice = "; raise max_iter from 9, or try precision$"
    with pytest.warns(saddle.NotSolvedWarning, match=advice) as warned:
        AUCClassifier(max_iter=9).fit(X, y)
    assert len(warned) == 1 and issubclass(warned[0].category, ConvergenceWarning)
    assert warned[0].filename == __file__
    model = AUCClassifier(algorithm=Descent(), max_iter=200).fit(X, y)
    assert model.score(X, y) > 0.9 and model.result_.name == "descent"


NOT_NUMBERS = [
    ("str", TypeError, "text"),
    ("S", TypeError, "text"),
    ("M8[s]", TypeError, "a date"),
    ("m8[s]", TypeError, "a time"),
]


@pytest.mark.parametrize("kind, error, message", NOT_NUMBERS)
def test_what_is_not_a_number_is_refused(kind, error, message):
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = saddle.sklearn.AUCClassifier(max_iter=2, random_state=0).fit(X, X[:, 0] > 0)
    wrong = X.astype(kind)
    for call in (lambda: model.fit(wrong, X[:, 0] > 0), lambda: model.predict(wrong)):
        with pytest.raises(error, match=f"^X must be .* {message}"):
            call()
    with pytest.raises(ValueError, match="^X has masked entries"):
        model.predict(np.ma.array(X, mask=X > 1))


def test_regressor():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(300, 3)) * [1, 100, 0.01] + [0, 500, 0]
    y = X @ [1.0, 0.02, 300.0] + 5 + 0.1 * generator.normal(size=300)
    in_order = {"partition": "contiguous"}  # so that y has the order of the rows
    model = RobustRegressor(random_state=0, max_iter=3000, options=in_order).fit(X, y)
    assert model.result_.gap <= 1e-4 and model.score(X, y) > 0.99
    assert np.allclose(model.predict(X), X @ model.coef_ + model.intercept_, rtol=1e-9)
    # The solution of the same problem by the weights that maximize the mean loss with its penalty:
    # the gradient in the coefficients vanishes at the worst weights.
    residual = model.predict(X) - y
    loss, weight = residual**2 / 2, model.result_.y
    inner = np.column_stack([(X - X.mean(axis=0)) / X.std(axis=0), np.ones(300)])
    share = weight / weight.sum()
    assert np.abs(inner.T @ (share * residual)).max() < 1e-3 * np.abs(y).max()
    assert np.corrcoef(loss, weight)[0, 1] > 0.99  # larger losses count more


@pytest.mark.parametrize("kind", [AUCClassifier, RobustRegressor])
def test_warm_start(kind, people):
    X, y, _ = people
    y = (y == "yes").astype(float)
    options = {"max_iter": 50, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        cold = kind(**options).fit(X, y)
        warm = kind(warm_start=True, **options).fit(X, y)
        assert np.array_equal(warm.coef_, cold.coef_)
        before = warm.result_.trace.metric
        warm.fit(X, y)
    # It begins where it ended: x, y and the data are the same.
    assert warm.result_.trace.loss[0] == pytest.approx(cold.result_.trace.loss[-1], rel=1e-3)
    assert warm.result_.trace.metric[-1] < before[-1]
    warm.fit(X[:, :2], y)  # other features: from the start
    assert warm.coef_.shape[-1] == 2
    warm.fit(X[:300, :2], y[:300])


def test_partial_fit(people):
    X, y, _ = people
    model = AUCClassifier(random_state=0, max_iter=500)
    for site, rows in (("A", slice(0, 200)), ("B", slice(200, 350)), ("A", slice(350, 500))):
        model.partial_fit(X[rows], y[rows], site=site)
    assert model.result_.settings["samples"] == [350, 150]
    both = [(np.concatenate([X[:200], X[350:]]), np.concatenate([y[:200], y[350:]])),
            (X[200:350], y[200:350])]  # fmt: skip
    r = saddle.run("auc", both, topology="complete", iterations=3000)
    w, v = r.coefficients()
    assert model.result_.gap < 1e-4 and r.gap < 1e-4
    assert np.allclose(model.decision_function(X), X @ w + v, atol=1e-3 * np.abs(X @ w + v).max())
    one = AUCClassifier().partial_fit(X[:9], y[:9], classes=["yes", "no"])
    with pytest.raises(ValueError, match=r"The label 'maybe' is not one of \['no', 'yes'\]"):
        one.partial_fit(X[:1], ["maybe"])
    with pytest.raises(ValueError, match=r"needs two classes; give classes="):
        AUCClassifier().partial_fit(X[:3], ["yes"] * 3)


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_partial_fit_waits_for_all_classes(kind, people):
    X, y, _ = people
    model = kind(random_state=0, max_iter=50)
    model.partial_fit(X[y == "no"], y[y == "no"], classes=["no", "yes"])
    with pytest.raises(NotFittedError):
        model.predict(X)
    assert model.partial_fit(X[y == "yes"], y[y == "yes"]).score(X, y) > 0.8


@pytest.mark.parametrize("kind", [FairClassifier, RobustClassifier, RobustRegressor])
def test_partial_fit_solves_the_problem_of_all_rows(kind, people):
    """What rows bit by bit lead to is what they lead to at once."""
    X, y, sex = people
    options = {"random_state": 0, "algorithm": "precision-auto", "max_iter": 3000}
    options["options"] = {"tolerance": 1e-7}
    if kind is FairClassifier:
        options.update(fairness=0.5, max_iter=30000)
    if kind is RobustRegressor:
        y = X @ [1.0, 2.0, 3.0, 4.0] + np.random.default_rng(1).normal(size=len(X))
    once, bits = kind(**options), kind(**options)
    cuts = [slice(0, 200), slice(200, 350), slice(350, 500)]
    for site, rows in zip("ABA", cuts):
        if kind is RobustRegressor:
            bits.partial_fit(X[rows], y[rows], site=site)
        elif kind is FairClassifier:
            bits.partial_fit(X[rows], y[rows], sex[rows], site=site)
        else:
            bits.partial_fit(X[rows], y[rows], sex[rows])
    if kind is RobustClassifier:  # the agents are the groups, whoever has their rows
        once.fit(X, y, sex)
    else:
        together = [np.r_[0:200, 350:500], np.r_[200:350]]
        for site, rows in zip("AB", together):
            once.partial_fit(X[rows], y[rows], *([sex[rows]] if kind is FairClassifier else []),
                             site=site)  # fmt: skip
    assert once.result_.gap <= 1e-7 and bits.result_.gap <= 1e-7
    assert np.allclose(bits.coef_, once.coef_, atol=1e-3 * np.abs(once.coef_).max())


@pytest.mark.parametrize("kind", [*ALL, RobustRegressor])
@pytest.mark.parametrize("unit", [1, 0.1, 7])
def test_sample_weight(kind, unit, people):
    """A row counts as often as its weight says, whatever the unit."""
    X, y, sex = people
    y = X @ [1.0, 2.0, 3.0, 4.0] + np.abs(X[:, 0]) if kind is RobustRegressor else y
    copies = np.random.default_rng(2).integers(4, size=len(y))
    own = (sex,) if kind in (FairClassifier, RobustClassifier) else ()
    options = {"random_state": 0, "max_iter": 300, "options": {"gap": "never"}}
    repeated = [np.repeat(entry, copies, axis=0) for entry in (X, y, *own)]
    weighted = kind(**options).fit(X, y, *own, sample_weight=copies * unit)
    assert np.array_equal(weighted.coef_, kind(**options).fit(*repeated).coef_)
    part = kind(**options).partial_fit(X, y, *own, sample_weight=copies * unit)
    assert np.array_equal(part.coef_, kind(**options).partial_fit(*repeated).coef_)
    assert not np.allclose(weighted.coef_, kind(**options).fit(X, y, *own).coef_, rtol=1e-3)


def best_ranking(X, y, weight):
    """The w that minimizes the weighted mean of (1 - w'd)^2 over pairs of a positive and a negative
    row, whose difference is d."""
    yes, no = y == "yes", y == "no"
    d = (X[yes][:, None] - X[no]).reshape(-1, X.shape[1])
    pair = np.outer(weight[yes], weight[no]).ravel()
    return np.linalg.solve((d.T * pair) @ d, d.T @ pair)


def test_sample_weight_against_others(people):
    sparse = pytest.importorskip("scipy.sparse")
    X, y, _ = people
    weight = np.random.default_rng(2).integers(4, size=len(y))
    tight = {"random_state": 0, "max_iter": 5000, "options": {"tolerance": 1e-9}}
    plain = FairClassifier(fairness=0, **tight).fit(sparse.csr_matrix(X), y, sample_weight=weight)
    other = LogisticRegression(C=1e9, tol=1e-9).fit(X, y, sample_weight=weight)
    assert np.allclose(plain.coef_, other.coef_, rtol=1e-3)
    for rows in (500, 23):  # 23 rows cannot be split evenly between five agents
        few = slice(0, rows)
        auc = AUCClassifier(**tight).fit(X[few], y[few], sample_weight=weight[few])
        expected = best_ranking(X[few], y[few], weight[few])
        assert np.allclose(auc.coef_[0], expected, rtol=1e-3)
    auc = AUCClassifier(**tight).fit(X[few], y[few])
    assert np.allclose(auc.coef_[0], best_ranking(X[few], y[few], np.ones(rows)), rtol=1e-3)


def test_sample_weight_mistakes(people):
    X, y, _ = people
    for weight, message in [
        (np.linspace(1, 2, len(y)), "small whole numbers.*; round them, as by np.round"),
        (np.random.default_rng(0).random(len(y)), "small whole numbers"),
        (1 / np.arange(1, len(y) + 1), "small whole numbers"),
        (np.where(y == "yes", 1, 1e6), "small whole numbers"),
        (np.full(len(y), -1.0), "must not be negative"),
        (np.zeros(len(y)), "one weight must be above 0|at least one non-zero"),
        (np.full(len(y), np.nan), "contains NaN"),
        ((y == "yes").astype(float), "only one class"),
        (np.ones(3), "sample_weight.shape"),
    ]:
        with pytest.raises(ValueError, match=message):
            AUCClassifier(max_iter=2).fit(X, y, sample_weight=weight)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_several_classes():
    from sklearn.datasets import load_iris
    from sklearn.multiclass import OneVsRestClassifier

    X, number = load_iris(return_X_y=True)
    y = np.array(["setosa", "versicolor", "virginica"])[number]
    model = RobustClassifier(random_state=0).fit(X, y)
    assert list(model.classes_) == ["setosa", "versicolor", "virginica"]
    assert len(model.result_) == 3 and model.coef_.shape == (3, 4)
    decision = model.decision_function(X)
    assert np.allclose(decision, X @ model.coef_.T + model.intercept_, atol=1e-9)
    assert np.array_equal(model.predict(X), model.classes_[decision.argmax(axis=1)])
    share = 1 / (1 + np.exp(-decision))
    assert np.allclose(model.predict_proba(X), share / share.sum(axis=1, keepdims=True), atol=1e-12)
    regularized = LogisticRegression(max_iter=1000).fit(X, y)
    assert np.mean(model.predict(X) == regularized.predict(X)) > 0.95 < model.score(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.decision_function(X), decision)
    bits = RobustClassifier(random_state=0).partial_fit(X[:60], y[:60], classes=model.classes_)
    assert np.array_equal(bits.partial_fit(X[60:], y[60:]).classes_, model.classes_)
    assert bits.score(X, y) > 0.95
    # With one group, the model of a class is logistic regression against the rest.
    noisy = X[:, :2]
    tight = {"by_label": False, "random_state": 0, "max_iter": 5000, "options": {"tolerance": 1e-9}}
    plain = RobustClassifier(**tight).fit(noisy[50:], (number[50:] + noisy[50:, 0].astype(int)) % 3)
    other = OneVsRestClassifier(LogisticRegression(C=1e9, tol=1e-9, max_iter=1000))
    other.fit(noisy[50:], (number[50:] + noisy[50:, 0].astype(int)) % 3)
    theirs = np.concatenate([one.coef_ for one in other.estimators_])
    assert np.allclose(plain.coef_, theirs, rtol=1e-3, atol=1e-3)


def test_the_worst_class_gains():
    """Groups are classes: the accuracy of the worst class is higher than by the mean loss."""
    generator = np.random.default_rng(0)
    sizes, centers = [400, 400, 40], np.array([[0, 0], [4, 0], [2, 1.5]])
    y = np.repeat([0, 1, 2], sizes)
    X = centers[y] + generator.normal(size=(len(y), 2))
    options = {"random_state": 0, "max_iter": 3000}
    robust, mean = (RobustClassifier(by_label=by, **options).fit(X, y) for by in (True, False))

    def worst(model):
        return min(model.score(X[y == k], y[y == k]) for k in range(3))

    assert worst(robust) > worst(mean) + 0.1


def test_partial_fit_needs_both_values_at_first(people):
    X, y, sex = people
    men = sex == "m"
    with pytest.raises(ValueError, match=r"the first rows must have both sensitive_features"):
        FairClassifier(fairness=1).partial_fit(X[men], y[men], sex[men]).partial_fit(X, y, sex)
    with pytest.raises(ValueError, match="no sensitive_features, but earlier rows have them"):
        FairClassifier(fairness=1).partial_fit(X, y, sex).partial_fit(X, y)


def test_calibration(people):
    from sklearn.calibration import CalibratedClassifierCV

    X, y, _ = people
    model = CalibratedClassifierCV(AUCClassifier(random_state=0), cv=3).fit(X, y)
    probability = model.predict_proba(X)[:, 1]
    assert abs(probability.mean() - (y == "yes").mean()) < 0.05


def test_names_of_features(people):
    pandas = pytest.importorskip("pandas")
    X, y, _ = people
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    model = AUCClassifier(random_state=0).fit(frame, y)
    assert list(model.feature_names_in_) == ["a", "b", "c", "d"] and model.n_features_in_ == 4
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["b", "a", "c", "d"]])
