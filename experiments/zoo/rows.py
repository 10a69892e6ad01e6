"""The data of the instances: rows, how they are scaled, and which agent has which."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
from scipy import sparse

from .instances import Instance

__all__ = ["Missing", "agents_rows"]

MNIST_ROWS = 2000
A9A_SENSITIVE = 73  # counted from 1
HERE = Path(__file__).resolve().parents[2]


class Missing(Exception):
    """A data set is not on this machine."""


def _file(name: str) -> Path:
    for directory in (os.environ.get("SADDLE_DATA"), HERE.parent / "shared" / "data"):
        if directory and (Path(directory) / name).exists():
            return Path(directory) / name
    raise Missing(f"there is no {name}; set SADDLE_DATA to its directory")


def _bundled(name: str):
    """A data set that comes with scikit-learn."""
    from sklearn import datasets

    found = getattr(datasets, f"load_{name.split('_class')[0]}")()
    X, b = found.data.astype(float), found.target.astype(float)
    if name == "wine_class":
        return X, np.where(b == 0, 1.0, -1.0)
    if name == "iris":
        return X, np.where(b == 1, 1.0, -1.0)
    if name == "digits":
        return X, np.where(b >= 5, 1.0, -1.0)
    if name == "breast_cancer":
        return X, 2 * b - 1
    return X, b[:, 0] if b.ndim > 1 else b


def _a9a(rows: int | None):
    from sklearn.datasets import load_svmlight_file

    X, b = load_svmlight_file(str(_file("a9a")), n_features=123)
    return X[:rows].astype(float), b[:rows]


def _mnist():
    def read(name: str, head: int) -> np.ndarray:
        with gzip.open(_file(name)) as stream:
            return np.frombuffer(stream.read(), np.uint8)[head:]

    X = read("t10k-images-idx3-ubyte.gz", 16).reshape(-1, 784)[:MNIST_ROWS] / 255.0
    digits = read("t10k-labels-idx1-ubyte.gz", 8)[:MNIST_ROWS]
    return X, np.where(digits >= 5, 1.0, -1.0)


def _generated(kind: str, rows: int, features: int, seed: int, real: bool):
    """Rows with labels from a linear score and noise, whose columns are then made difficult."""
    rng = np.random.RandomState(seed)  # its numbers never change, unlike those of default_rng
    X = rng.standard_t(2, (rows, features)) if kind == "heavy" else rng.normal(size=(rows, features))
    if kind == "correlated":
        X += 10 * rng.normal(size=(rows, 1))
    score = X @ rng.normal(size=features)
    score = (score - np.median(score)) / np.percentile(np.abs(score), 70)
    noise = rng.normal(size=rows)
    if kind == "outliers":
        noise[rng.permutation(rows)[: rows // 20]] *= 20
    b = score + noise
    if not real:
        b = np.where(b > (np.percentile(b, 95) if kind == "rare" else 0), 1.0, -1.0)
    if kind == "duplicates":
        chosen = rng.randint(0, max(2, rows // 10), rows)
        X, b = X[chosen], b[chosen]
        X[:, -1] = X[:, 0]
    factor = {"tiny": 1e-6, "huge": 1e6}.get(kind, 1.0)
    X = X * factor
    if kind == "mixed":
        X = (X + rng.normal(size=features)) * 10.0 ** rng.uniform(-4, 4, features)
    return X, b


def _load(instance: Instance):
    name, *sizes = instance.data.split(":")
    if name in ("a9a", "a9a_part"):
        return _a9a(4000 if name == "a9a_part" else None)
    if name == "mnist":
        return _mnist()
    if sizes:
        return _generated(name, int(sizes[0]), int(sizes[1]), instance.seed, instance.problem == "robust-regression")
    return _bundled(name)


def _standardized(X):
    if sparse.issparse(X):
        return X  # columns of 0 and 1
    deviation = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)


def _parts(b: np.ndarray, instance: Instance) -> list[np.ndarray]:
    """Returns the rows of each agent, by number."""
    order = np.random.RandomState(instance.seed + 1000).permutation(len(b))
    if instance.partition == "label":
        order = order[np.argsort(b[order], kind="stable")]
    if instance.partition != "size":
        return np.array_split(order, instance.agents)
    share = 1.5 ** -np.arange(instance.agents)
    spare = len(b) - 2 * instance.agents
    ends = np.floor(np.cumsum(share / share.sum()) * spare + 1e-9).astype(int) + 2 * np.arange(1, instance.agents + 1)
    ends[-1] = len(b)
    return np.split(order, ends[:-1])


def agents_rows(instance: Instance):
    """Returns (X, b) of each agent, and options that depend on the data."""
    X, b = _load(instance)
    if instance.columns == "standard":
        X = _standardized(X)
    options = dict(instance.options)
    if instance.problem == "group-dro":
        options.setdefault("groups", "agents")
    if instance.problem == "fair" and "sensitive" not in options:
        if sparse.issparse(X):
            options["sensitive"] = A9A_SENSITIVE
        else:  # a column that agrees with the label in two rows of three
            agrees = np.random.RandomState(instance.seed + 2000).uniform(size=len(b)) < 2 / 3
            X = np.column_stack([X, np.where(agrees, b > 0, b < 0).astype(float)])
            options["sensitive"] = X.shape[1]
    parts = _parts(b, instance)
    return [(X[rows] if sparse.issparse(X) else np.ascontiguousarray(X[rows]), b[rows]) for rows in parts], options
