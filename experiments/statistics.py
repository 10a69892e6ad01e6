"""Means, slopes and their confidence intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["CONFIDENCE", "Mean", "slope", "student", "summarize"]

CONFIDENCE = 0.95
BISECTIONS = 200


@dataclass(frozen=True)
class Mean:
    """A quantity that was measured several times."""

    count: int
    mean: float
    least: float
    most: float
    low: float
    """Two-sided confidence interval; infinite for fewer than two values."""
    high: float


def _within(theta: float, freedom: int) -> float:
    """Returns P(|T| <= sqrt(freedom) tan theta) (Abramowitz, Stegun 26.7.3-4)."""
    odd = freedom % 2 == 1
    cosine = math.cos(theta)
    term = cosine if odd else 1.0
    total = 0.0 if freedom == 1 else term
    for power in range(3 if odd else 2, freedom - 1, 2):
        term *= (power - 1) / power * cosine**2
        total += term
    tail = math.sin(theta) * total
    return 2 / math.pi * (theta + tail) if odd else tail


def student(confidence: float, freedom: int) -> float:
    """Returns the t with P(|T| <= t) = confidence for this many degrees of freedom; NaN if there is none."""
    if not 0 < confidence < 1 or freedom < 1:
        return math.nan
    low, high = 0.0, math.pi / 2
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, freedom) < confidence else (low, middle)
    return math.sqrt(freedom) * math.tan((low + high) / 2)


def summarize(values: Any) -> Mean:
    """Returns mean, range and 95% interval of values; all NaN if there are none."""
    values = np.asarray(values, float)
    count = len(values)
    if count == 0:
        return Mean(0, *[math.nan] * 5)
    mean = float(values.mean())
    half = math.inf
    if count > 1:
        half = student(CONFIDENCE, count - 1) * float(values.std(ddof=1)) / math.sqrt(count)
    return Mean(count, mean, float(values.min()), float(values.max()), mean - half, mean + half)


def slope(x: Any, y: Any) -> float:
    """Returns the slope of the least-squares line through points; NaN if x does not vary or a number is not finite."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    if len(x) < 2 or not (np.isfinite(x).all() and np.isfinite(y).all()):
        return math.nan
    x = x - x.mean()
    squares = float(x @ x)
    found = float(x @ (y - y.mean())) / squares if squares > 0 else math.nan
    return found if math.isfinite(found) else math.nan
