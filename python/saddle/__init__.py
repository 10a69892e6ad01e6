"""Saddle: decentralized constrained min-max learning.

    import saddle
    r = saddle.run("auc", data=(X, y), agents=20, topology="torus:4x5", iterations=2000)
    r.x, r.outcomes, r.trace.metric

Everything is computed by libsaddle; see docs/python.md.
"""

from importlib import import_module as _import_module
from typing import Any as _Any

from . import peer
from ._library import VERSION as _VERSION
from .agent import Agent
from .algorithm import Algorithm
from .comparison import Comparison, compare
from .errors import Error, FileError, InputError, NotSolvedWarning, OutOfMemory
from .graphs import Graph, graph
from .instance import Instance, run
from .lab import GradientCheck, check_grad, coefficients, evaluate, predict, theory
from .lists import Table, algorithms, mixings, problems, regularizers, sets, topologies
from .option_table import Option, options
from .problem import Problem, Requests
from .report_page import plot, report
from .result import Result, load
from .trace import Trace
from .tuning import Tuning, tune


def __getattr__(name: str) -> _Any:
    """Imports saddle.torch and saddle.sklearn, which need more packages, at their first use."""
    if name in ("torch", "sklearn"):
        return _import_module(f"saddle.{name}")
    raise AttributeError(f"module 'saddle' has no attribute {name!r}")


__version__ = _VERSION

__all__ = [
    "Agent",
    "Algorithm",
    "Comparison",
    "Error",
    "FileError",
    "GradientCheck",
    "Graph",
    "InputError",
    "Instance",
    "NotSolvedWarning",
    "Option",
    "OutOfMemory",
    "Problem",
    "Requests",
    "Result",
    "Table",
    "Trace",
    "Tuning",
    "algorithms",
    "check_grad",
    "coefficients",
    "compare",
    "evaluate",
    "graph",
    "load",
    "mixings",
    "options",
    "peer",
    "plot",
    "predict",
    "problems",
    "regularizers",
    "report",
    "run",
    "sets",
    "theory",
    "topologies",
    "tune",
]
