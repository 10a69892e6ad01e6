"""The objectives Q(x) = max over y of F(x, y) of the problems, and their minima, by NumPy and SciPy alone.

Nothing here uses Saddle, so that a mistake in one is not repeated by the other. Scores are linear, and every agent
has the weight 1/m. All minima are of convex functions, except those of robust-logistic and of fair with a fairness
above 0: for these, the minimum next to a given point is returned.

Convex problems without constraints are solved in coordinates in which the columns are orthonormal, so that L-BFGS
does not depend on their scales.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit

__all__ = ["Auc", "Fair", "GroupDro", "RobustLogistic", "RobustRegression", "objective"]


def _dense(X) -> np.ndarray:
    return X.toarray() if sparse.issparse(X) else np.asarray(X, float)


def _simplex_shift(u: np.ndarray) -> np.ndarray:
    """Returns y - 1/n for the projection y of 1/n + u onto the simplex, exact also where u is tiny."""
    n = len(u)
    descending = np.sort(u)[::-1]
    count = np.arange(1, n + 1)
    theta = (np.cumsum(descending) - (n - count) / n) / count
    active = np.nonzero(descending - theta > -1 / n)[0][-1]
    return np.maximum(u - theta[active], -1 / n)


def _lbfgs(function, start: np.ndarray, **more) -> tuple[np.ndarray, float]:
    """L-BFGS, restarted until it finds nothing more. SciPy's tolerances are for values of about 1 or more."""
    limits = {"maxiter": 20000, "maxfun": 40000, "maxcor": 30, "ftol": 1e-13, "gtol": 1e-13}
    x, best = np.asarray(start, float), np.inf
    unit = min(abs(function(x)[0]), 1.0) or 1.0

    def scaled(x):
        value, gradient = function(x)
        return value / unit, gradient / unit

    for _ in range(5):
        found = minimize(scaled, x, jac=True, method="L-BFGS-B", options=limits, **more)
        gained = best - found.fun
        if found.fun <= best:
            x, best = found.x, float(found.fun)
        if not gained > 1e-14 * (1 + abs(best)):
            break
    return x, best * unit


class _Objective:
    """Rows of all agents one after the other, with their agent and weight 1 / (m n_i)."""

    convex = True

    def __init__(self, parts) -> None:
        self.A = np.concatenate([_dense(X) for X, _ in parts])
        self.b = np.concatenate([b for _, b in parts])
        sizes = np.array([len(b) for _, b in parts])
        self.agents, self.slots = len(parts), int(sizes.max())
        self.agent = np.repeat(np.arange(self.agents), sizes)
        self.slot = np.concatenate([np.arange(n) for n in sizes])
        self.weight = 1.0 / (self.agents * sizes[self.agent])

    def scores(self, x: np.ndarray) -> np.ndarray:
        return self.A @ x[: self.A.shape[1]] + x[self.A.shape[1]]

    def of_scores(self, h: np.ndarray) -> tuple[float, np.ndarray]:
        """Returns Q as a function of the scores, and its gradient in them."""
        raise NotImplementedError

    def value(self, x: np.ndarray) -> float:
        return self.of_scores(self.scores(x))[0]

    def basis(self) -> np.ndarray:
        """Returns an orthonormal basis of the scores that a linear model with a bias can give, one row each."""
        centred = self.A - self.A.mean(axis=0)
        lengths = np.linalg.norm(centred, axis=0)
        kept = centred[:, lengths > 1e-13 * np.abs(self.A).max(axis=0) * np.sqrt(len(self.b))]
        U, s, _ = np.linalg.svd(kept / np.linalg.norm(kept, axis=0), full_matrices=False)
        U = U[:, s > 1e-11 * s[0]] * np.sqrt(len(self.b))
        return np.column_stack([U, np.ones(len(self.b))])

    def minimum(self, near: np.ndarray | None = None) -> float:
        """Returns the smallest Q; of functions that are not convex, that next to a point."""
        B = self.basis()

        def function(z):
            value, gradient = self.of_scores(B @ z)
            return value, B.T @ gradient

        return _lbfgs(function, np.zeros(B.shape[1]))[1]


class RobustRegression(_Objective):
    """sum_j y_j L_j - (W n / 2) |y - 1/n|^2 over the simplex, L_j the mean loss of slot j."""

    def __init__(self, parts, settings) -> None:
        super().__init__(parts)
        if settings["weights_per"] == "sample":  # every row is a slot of its own
            self.slots = len(self.b)
            self.slot = np.arange(self.slots)
            self.weight = np.full(self.slots, 1 / self.slots)
        self.divergence = float(settings["divergence"])
        self.delta = float(settings["huber_delta"]) if settings.get("loss") == "huber" else np.inf

    def of_scores(self, h):
        r = h - self.b
        inside = np.abs(r) <= self.delta
        loss = np.where(inside, r * r / 2, self.delta * np.abs(r) - self.delta**2 / 2 if self.delta < np.inf else 0.0)
        slope = np.clip(r, -self.delta, self.delta)
        n, weight = self.slots, self.weight * self.slots
        slots = np.bincount(self.slot, weight * loss, n)
        shift = _simplex_shift((slots - slots.mean()) / (self.divergence * n))
        value = slots.mean() + shift @ slots - self.divergence * n / 2 * (shift @ shift)
        return value, (1 / n + shift)[self.slot] * weight * slope


class GroupDro(_Objective):
    """sum_g y_g l_g - (MU / 2) |y - 1/G|^2 over the simplex, l_g the mean loss of the rows of group g."""

    def __init__(self, parts, settings) -> None:
        super().__init__(parts)
        self.ridge = float(settings["group_ridge"])
        if settings.get("groups", "agents") == "agents":
            self.group = self.agent
        else:
            names = settings["groups"].split(",")
            columns = [self.b if name == "label" else self.A[:, int(name) - 1] for name in names]
            self.group = np.unique(np.column_stack(columns), axis=0, return_inverse=True)[1].ravel()
        self.rows = np.bincount(self.group)

    def of_scores(self, h):
        margin = self.b * h
        weight = 1.0 / self.rows[self.group]
        losses = np.bincount(self.group, weight * np.logaddexp(0, -margin))
        shift = _simplex_shift((losses - losses.mean()) / self.ridge)
        value = losses.mean() + shift @ losses - self.ridge / 2 * (shift @ shift)
        return value, (1 / len(losses) + shift)[self.group] * weight * -self.b * expit(-margin)


class Auc(_Objective):
    """The square surrogate of the AUC; x = (w, v, c1, c2), and r the share of positives."""

    def __init__(self, parts, settings) -> None:
        super().__init__(parts)
        self.positive = self.b > 0
        self.share = float(self.weight[self.positive].sum())

    def value(self, x):
        r, h, c1, c2 = self.share, self.scores(x), x[-2], x[-1]
        of_positive, of_negative = self.weight * self.positive, self.weight * ~self.positive
        coupling = r * (of_negative @ h) - (1 - r) * (of_positive @ h)
        squares = (1 - r) * (of_positive @ (h - c1) ** 2) + r * (of_negative @ (h - c2) ** 2)
        return float(squares + 2 * coupling + coupling**2 / (r * (1 - r)))

    def minimum(self, near=None):
        """In closed form: the best scores solve a linear system of the two classes' means and covariances."""
        B, r = self.basis()[:, :-1], self.share
        total, second = [], []
        for rows in (self.positive, ~self.positive):
            weight = self.weight[rows] / self.weight[rows].sum()
            mean = weight @ B[rows]
            spread = B[rows] - mean
            total.append(mean)
            second.append((spread * weight[:, None]).T @ spread)
        difference = total[0] - total[1]
        system = second[0] + second[1] + np.outer(difference, difference)
        return float(-r * (1 - r) * (difference @ np.linalg.lstsq(system, difference, rcond=1e-13)[0]))


class Fair(_Objective):
    """Cross entropy and W sum_c (y_c G_c - y_c^2 P_c) - (R / 2) |y|^2 over |y_c| <= 1/2; x = (w-, v-, w+, v+)."""

    radius = 10.0

    def __init__(self, parts, settings) -> None:
        super().__init__(parts)
        self.fairness = float(settings["fairness"])
        self.ridge = float(settings["fairness_ridge"])
        self.convex = self.fairness == 0
        attribute = self.A[:, int(settings["sensitive"]) - 1].copy()
        self.sign = 2 * attribute - 1
        self.width = self.A.shape[1]
        self.used = ~(self.A == 1 - attribute[:, None]).all(axis=0)
        self.used[int(settings["sensitive"]) - 1] = False
        self.A = self.A[:, self.used]

    def difference(self, x: np.ndarray) -> np.ndarray:
        """Returns the weights and the bias of the score t."""
        both = x.reshape(2, self.width + 1)
        d = both[1] - both[0]
        return np.append(d[:-1][self.used], d[-1])

    def value(self, x):
        return self.of_scores(self.scores(self.difference(x)))[0]

    def of_scores(self, h):
        margin, W, R = self.b * h, self.fairness, self.ridge
        p = np.stack([expit(-h), expit(h)])
        P, G = p @ self.weight, p @ (self.weight * self.sign)
        with np.errstate(invalid="ignore", divide="ignore"):
            y = np.clip(np.nan_to_num(W * G / (2 * W * P + R)), -0.5, 0.5)
        value = self.weight @ np.logaddexp(0, -margin) + W * (y @ G - y**2 @ P) - R / 2 * (y @ y)
        slope = W * (self.sign * (y[1] - y[0]) - (y[1] ** 2 - y[0] ** 2)) * p[0] * p[1]
        return float(value), self.weight * (-self.b * expit(-margin) + slope)

    def minimum(self, near=None):
        """The ball allows |d| <= 10 sqrt(2) for d = w+ - w-: on its boundary, a multiplier is found by bisection."""
        X = np.column_stack([self.A, np.ones(len(self.b))])
        size = np.sqrt(self.weight @ X**2)
        size[size == 0] = 1.0  # a column of zeros
        if np.mean(X != 0) < 0.25:
            X = sparse.csr_matrix(X)
        limit = np.sqrt(2) * self.radius
        start = np.zeros(X.shape[1]) if near is None or self.convex else self.difference(near)

        def solve(multiplier, start):
            def function(z):
                d = z / size
                value, gradient = self.of_scores(X @ d)
                return value + multiplier / 2 * (d @ d), (X.T @ gradient + multiplier * d) / size

            return _lbfgs(function, start * size)[0] / size

        low, high = 1e-8, 1.0
        d = solve(low, start)
        while np.linalg.norm(d) > limit * (1 + 1e-6) and high / low > 1 + 1e-6:
            middle = np.sqrt(low * high)
            inner = solve(middle, d)
            if np.linalg.norm(inner) > limit:
                low, d = middle, inner
            else:
                high = middle
                if np.linalg.norm(inner) > limit * (1 - 1e-6):
                    d = inner
        return self.of_scores(X @ (d * min(1.0, limit / np.linalg.norm(d))))[0]


class RobustLogistic(_Objective):
    """sum_j y_j L_j - (lambda1 / 2) |n y - 1|^2 + a nonconvex regularizer, x and y in [0, 10]; no bias."""

    convex = False

    def __init__(self, parts, settings) -> None:
        super().__init__(parts)
        self.lambda1, self.lambda2 = float(settings["lambda1"]), float(settings["lambda2"])
        self.curvature = float(settings["g_curvature"])

    def value(self, x):
        return self._both(x)[0]

    def _both(self, x):
        margin, n, c = self.b * (self.A @ x), self.slots, self.curvature
        losses = np.bincount(self.slot, self.weight * np.logaddexp(0, -margin), n)
        y = np.clip(1 / n + losses / (self.lambda1 * n**2), 0, 10)
        shrunk = 1 + c * x**2
        value = y @ losses - self.lambda1 / 2 * ((n * y - 1) @ (n * y - 1)) + self.lambda2 * np.sum(c * x**2 / shrunk)
        slope = y[self.slot] * self.weight * -self.b * expit(-margin)
        return float(value), self.A.T @ slope + self.lambda2 * 2 * c * x / shrunk**2

    def minimum(self, near=None):
        start = np.zeros(self.A.shape[1]) if near is None else near
        return _lbfgs(self._both, start, bounds=[(0, 10)] * len(start))[1]


OBJECTIVES = {
    "robust-regression": RobustRegression, "group-dro": GroupDro, "auc": Auc, "fair": Fair,
    "robust-logistic": RobustLogistic,
}


def objective(problem: str, parts, settings, mean=None, deviation=None) -> _Objective:
    """Returns the objective for the columns as a run scaled them, with the run's settings."""
    if deviation is not None:
        parts = [((_dense(X) - (0 if mean is None else mean)) / deviation, b) for X, b in parts]
    return OBJECTIVES[problem](parts, settings)
