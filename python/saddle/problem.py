"""Your own problems, in Python."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

import numpy as np

from ._callbacks import Callbacks
from ._checks import as_integer, as_pair, as_real
from ._library import Array, ffi, lib
from ._sets import assign, vector

__all__ = ["Problem", "Requests"]


class Requests:
    """The gradients that the agents of a round request, as arrays in the library's memory.

    The arrays are valid only during the call; copy what you keep.

    agent
        the agent of each point
    start, rows
        rows[start[k]:start[k + 1]] are the samples of point k
    x, y
        the points, one per row; read-only
    gx, gy
        to be filled in: row k receives the gradient at point k, averaged over its samples. They
        are NaN on entry; assignment copies: requests.gx = ...
    """

    __slots__ = ("agent", "start", "rows", "x", "y", "gx", "gy")

    agent: Array
    start: Array
    rows: Array
    x: Array
    y: Array
    gx: Array
    gy: Array

    def __setattr__(self, name: str, value: Any) -> None:
        assign(getattr(self, name), value, f"requests.{name}")


class Problem:
    """Base class of your own problems: min over x, max over y of the agents' mean of F_i(x, y).

    A subclass sets x_dim, y_dim and samples, the number of samples of each agent, and defines
    value() and either gradient() or gradients(). The other attributes and methods are optional.
    """

    x_dim: int
    y_dim: int
    samples: Sequence[int]

    name = "python"
    x_set: Any = None
    """The default X: a text, a pair (lower, upper) or a projection."""
    y_set: Any = None
    """The default Y, in the same form."""
    tau: float = 0.0
    """The default proximal weight; 0: L + L^2 / mu, both given or estimated, or 1."""
    alpha: float = 0.0
    """The default ascent step; 0: 1 / L, given or estimated, or 1."""
    lipschitz: float = 0.0
    """L of all gradients; 0: unknown."""
    strong_concavity: float = 0.0
    """mu of every F_i in y; 0: unknown."""

    def gradient(
        self, agent: int, rows: Array, x: Array, y: Array
    ) -> tuple[Any, Any]:
        """Returns the gradients in x and in y, averaged over these samples of an agent.

        x and y are copies, which the problem may keep and change.
        """
        raise NotImplementedError("a problem needs gradient() or gradients()")

    def value(self, agent: int, x: Array, y: Array) -> float:
        """Returns F_i(x, y) over all samples of an agent."""
        raise NotImplementedError("a problem needs value()")

    # gradients(self, requests: Requests) fills in requests.gx and requests.gy for all agents of a
    # round in one call. It replaces gradient().
    gradients: Any = None
    # best_response(self, x) returns the y in Y that maximizes the agents' mean of F_i(x, y). Only
    # trace points use it; without it they search for y.
    best_response: Any = None
    # start(self, seed: int) returns x0 and y0.
    start: Any = None
    # outcomes(self, x, y) returns {name: value}, measures of a solution; larger is better, unless
    # the name is in self.smaller_is_better.
    outcomes: Any = None
    smaller_is_better: Sequence[str] = ()


class _Bound:
    """The C functions of a problem."""

    def __init__(self, problem: Any, keep: Callbacks) -> None:
        self.problem = problem
        self.x_dim = as_integer(problem.x_dim, "x_dim", 1)
        self.y_dim = as_integer(problem.y_dim, "y_dim", 1)
        self.ranges: dict[tuple[int, int], Array] = {}
        c = self.c = keep.keep(ffi.new("saddle_problem *"))
        if isinstance(problem.samples, str) or not hasattr(problem.samples, "__iter__"):
            raise TypeError(f"samples is {problem.samples!r}; it must be a list, one per agent")
        samples = [as_integer(count, "an entry of samples", 1) for count in problem.samples]
        if not samples:
            raise ValueError("samples is empty; it must have a number for each agent")
        c.name = keep.keep(ffi.new("char[]", str(getattr(problem, "name", "python")).encode()))
        c.x_dim, c.y_dim, c.agents = self.x_dim, self.y_dim, len(samples)
        c.samples = keep.keep(ffi.new("size_t[]", samples))
        c.tau = as_real(getattr(problem, "tau", 0.0), "tau")
        c.alpha = as_real(getattr(problem, "alpha", 0.0), "alpha")
        self.lipschitz = as_real(getattr(problem, "lipschitz", 0.0), "lipschitz")
        self.strong_concavity = as_real(
            getattr(problem, "strong_concavity", 0.0), "strong_concavity"
        )
        for name in ("x_set", "y_set"):
            if isinstance(getattr(problem, name, None), str):
                setattr(c, name, keep.keep(ffi.new("char[]", getattr(problem, name).encode())))
        batched = getattr(problem, "gradients", None) is not None
        keep.set(c, "gradient", self.gradient_of_one if batched else self.gradient)
        if batched:
            self.seen: dict[tuple[bytes, int], Requests] = {}
            keep.set(c, "gradients", self.gradients)
        if getattr(problem, "card_gradients", None) is not None:
            keep.set(c, "card_gradients", self.card_gradients)
        keep.set(c, "value", self.value, float("nan"))
        if getattr(problem, "best_response", None) is not None:
            keep.set(c, "response_solve", self.best_response, False)
        if getattr(problem, "start", None) is not None:
            keep.set(c, "start", self.start)
        if getattr(problem, "outcomes", None) is not None:
            self.names: dict[str, Any] = {}
            keep.set(c, "outcomes", self.outcomes, lib.SADDLE_BAD_INPUT)
        if self.lipschitz or self.strong_concavity:
            keep.set(c, "constants", self.constants, lib.SADDLE_BAD_INPUT)

    def rows(self, batch: Any) -> Array:
        """Returns the sample numbers of a batch."""
        if batch.index:
            index = np.frombuffer(ffi.buffer(batch.index, 4 * batch.count), dtype=np.uint32)
            return index.astype(np.intp)
        key = (batch.first, batch.count)
        if key not in self.ranges:
            self.ranges[key] = np.arange(batch.first, batch.first + batch.count, dtype=np.intp)
            self.ranges[key].flags.writeable = False
        return self.ranges[key]

    def point(self, x: Any, y: Any) -> tuple[Array, Array]:
        """Returns copies, which the problem may keep and change."""
        return vector(x, self.x_dim).copy(), vector(y, self.y_dim).copy()

    def gradient(
        self, _c: Any, agent: int, batch: Any, x: Any, y: Any, gx: Any, gy: Any, _scratch: Any
    ) -> None:
        found = self.problem.gradient(agent, self.rows(batch), *self.point(x, y))
        in_x, in_y = as_pair(found, "gradient() must return the gradients in x and in y")
        assign(vector(gx, self.x_dim), in_x, "the gradient in x")
        assign(vector(gy, self.y_dim), in_y, "the gradient in y")

    def requests(
        self, agent: Array, start: Array, rows: Array, points: tuple[Array, ...]
    ) -> Requests:
        """Returns requests with these points and gradients: flat arrays x, y, gx, gy."""
        points[0].flags.writeable = points[1].flags.writeable = False
        out = Requests()
        for array in (agent, start, rows):
            array.flags.writeable = False
        dims = (self.x_dim, self.y_dim) * 2
        matrices = (p.reshape(-1, dim) for p, dim in zip(points, dims))
        for name, array in zip(Requests.__slots__, (agent, start, rows, *matrices)):
            object.__setattr__(out, name, array)
        return out

    def gradients(self, _c: Any, c: Any) -> None:
        count = c.count
        total = c.start[count]
        # The library uses the same memory in all rounds of a run, so arrays are made once.
        key = (bytes(ffi.buffer(c, ffi.sizeof("saddle_gradient_requests"))), total)
        requests = self.seen.get(key)
        if requests is None:
            sizes = ((c.agent, count), (c.start, count + 1), (c.sample, total))
            agent, start, rows = (
                np.frombuffer(ffi.buffer(at, 8 * size), dtype=np.intp) for at, size in sizes
            )
            dims = ((c.x, self.x_dim), (c.y, self.y_dim), (c.gx, self.x_dim), (c.gy, self.y_dim))
            points = tuple(vector(at, count * dim) for at, dim in dims)
            requests = self.seen[key] = self.requests(agent, start, rows, points)
        self.evaluate(requests)

    def card_gradients(self, _c: Any, c: Any) -> None:
        self.problem.card_gradients(c)

    def evaluate(self, requests: Requests) -> None:
        """Calls gradients(), which fills in the gradients or returns them. Entries that it leaves
        out stay NaN, which ends the run."""
        requests.gx.fill(np.nan)
        requests.gy.fill(np.nan)
        returned = self.problem.gradients(requests)
        if returned is not None:
            what = "gradients() must return nothing, or the gradients in x and in y"
            in_x, in_y = as_pair(returned, what)
            assign(requests.gx, in_x, "the gradients in x")
            assign(requests.gy, in_y, "the gradients in y")

    def gradient_of_one(
        self, _c: Any, agent: int, batch: Any, x: Any, y: Any, gx: Any, gy: Any, _scratch: Any
    ) -> None:
        rows = self.rows(batch)
        who, start = np.array([agent], dtype=np.intp), np.array([0, len(rows)], dtype=np.intp)
        slopes = vector(gx, self.x_dim), vector(gy, self.y_dim)
        self.evaluate(self.requests(who, start, rows, (*self.point(x, y), *slopes)))

    def value(self, _c: Any, agent: int, x: Any, y: Any, _scratch: Any) -> float:
        return as_real(self.problem.value(agent, *self.point(x, y)), "what value() returned")

    def best_response(self, _c: Any, x: Any, _statistic: Any, _set: Any, y: Any, _s: Any) -> bool:
        found = self.problem.best_response(vector(x, self.x_dim).copy())
        assign(vector(y, self.y_dim), found, "the best response")
        return True

    def start(self, _c: Any, seed: int, x: Any, y: Any) -> None:
        x0, y0 = as_pair(self.problem.start(seed), "start() must return x0 and y0")
        assign(vector(x, self.x_dim), x0, "x0")
        assign(vector(y, self.y_dim), y0, "y0")

    def constants(self, _c: Any, _x_set: Any, _y_set: Any, out: Any, _error: Any) -> int:
        out.lipschitz, out.strong_concavity = self.lipschitz, self.strong_concavity
        return lib.SADDLE_OK

    def outcomes(
        self, _c: Any, _rows: Any, x: Any, y: Any, out: Any, count: Any, _error: Any
    ) -> int:
        found = self.problem.outcomes(*self.point(x, y))
        if not isinstance(found, Mapping) or not all(isinstance(name, str) for name in found):
            raise TypeError(f"outcomes() must return a dict of names and numbers, not {found!r}")
        if len(found) > lib.SADDLE_MOST_OUTCOMES:
            raise ValueError(f"a problem can have at most {lib.SADDLE_MOST_OUTCOMES} outcomes")
        smaller = getattr(self.problem, "smaller_is_better", ())
        for k, (name, value) in enumerate(found.items()):
            if name not in self.names:
                self.names[name] = ffi.new("char[]", name.encode())
            out[k].name, out[k].value = self.names[name], as_real(value, f"the outcome {name!r}")
            out[k].better = lib.SADDLE_SMALLER if name in smaller else lib.SADDLE_LARGER
        count[0] = len(found)
        return lib.SADDLE_OK


def bind(problem: Any, keep: Callbacks) -> Any:
    """Returns a saddle_problem whose functions are those of a Python object."""
    if isinstance(problem, type):
        raise TypeError(f"problem takes an object: {problem.__name__}(...)")
    needed = ("x_dim", "y_dim", "samples", "value")
    missing = [name for name in needed if not hasattr(problem, name)]
    if missing:
        raise TypeError(
            "problem takes a name or an object with x_dim, y_dim, samples, gradient() and "
            f"value(); this {type(problem).__name__} has no {missing[0]}"
        )
    return keep.keep(_Bound(problem, keep)).c
