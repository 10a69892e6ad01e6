"""The agent that an algorithm in Python works on."""

from __future__ import annotations

from typing import Any, Mapping

import numpy as np

from ._checks import as_array, as_integer, as_real
from ._library import Array, ffi, lib
from ._sets import assign, vector

__all__ = ["Agent", "State"]

Lengths = Mapping[str, int]


def _doubles(array: Array) -> Any:
    """Returns the address of a contiguous array; faster than data.pointer()."""
    return ffi.from_buffer("double[]", array)


class State:
    """Named vectors of an agent, such as `state.x`. Assignment copies into the library's memory."""

    def __init__(self, address: Any, lengths: Lengths, writable: bool) -> None:
        flat = vector(address, sum(lengths.values()))
        flat.flags.writeable = writable
        self.__dict__["_flat"] = flat
        first = 0
        for name, length in lengths.items():
            self.__dict__[name] = flat[first : first + length]
            first += length

    def __getattr__(self, name: str) -> Array:
        names = ", ".join(own for own in self.__dict__ if own != "_flat")
        raise AttributeError(f"the state has no {name!r}; it has {names or 'nothing'}")

    def __setattr__(self, name: str, value: Any) -> None:
        assign(getattr(self, name), value, name)


class Agent:
    """One agent in a run: its state, its neighbours' states, and the gradients of its own samples.

    id, agents
        its number, from 0, and the number of agents
    samples
        its number of samples
    now, kept
        its fields as published in the last round, and its private state, to which you can assign

    An agent and its states are valid only during the call of start() or step(); copy what you keep.
    """

    id: int
    agents: int
    samples: int
    now: State
    kept: State

    def __init__(self, c: Any, published: Lengths, kept: Lengths) -> None:
        self._published, self._kept = published, kept
        self._states: dict[int, State] = {}
        self._offsets = dict(zip(published, np.cumsum([0, *published.values()]).tolist()))
        problem = c.problem
        self.id, self.agents, self.samples = c.id, c.agents, problem.samples[c.id]
        self._x_dim, self._y_dim = problem.x_dim, problem.y_dim
        self._all = np.arange(self.samples, dtype=np.uint32)
        self._all.flags.writeable = False
        self._request = ffi.new("saddle_request *")

    def _enter(self, c: Any, steps: Any, starting: bool) -> None:
        """Begins one call of start() or step()."""
        self._entered, self._steps = c, steps
        self._moment = 0 if starting else c.iteration + 1
        self._distinct: Array | None = None  # the last batch drawn, if it has no sample twice
        self._rng: np.random.Generator | None = None
        self.kept = self._state(c.kept, self._kept, True)
        if not starting:
            self.now = self._state(c.now, self._published, False)

    def _leave(self) -> None:
        """Ends the call; afterwards the library may free the memory of the states."""
        self._entered = None
        self.__dict__.pop("now", None)
        del self.kept

    @property
    def _c(self) -> Any:
        if self._entered is None:
            raise RuntimeError("an agent can be used only during start() and step()")
        return self._entered

    def _state(self, address: Any, lengths: Lengths, writable: bool) -> State:
        """Returns the state at an address; a run has only a few of them."""
        key = int(ffi.cast("uintptr_t", address))
        state = self._states.get(key)
        if state is None:
            state = self._states[key] = State(address, lengths, writable)
        return state

    @property
    def iteration(self) -> int:
        """t, from 0: `now` holds the state of iteration t."""
        return int(self._c.iteration)

    @property
    def round(self) -> int:
        """The communication round of the iteration, from 0."""
        return int(self._c.round)

    @property
    def self_weight(self) -> float:
        """M_ii, the weight of its own state."""
        return float(self._c.self_weight)

    @property
    def neighbours(self) -> list[tuple[float, State]]:
        """The weight M_ij and the published state of every neighbour, ordered by agent number."""
        c = self._c
        return [
            (c.weight[j], self._state(c.neighbour[j], self._published, False))
            for j in range(c.degree)
        ]

    @property
    def rng(self) -> np.random.Generator:
        """A generator that depends only on seed, agent, iteration and round."""
        if self._rng is None:
            self._rng = np.random.default_rng([self._c.seed, self.id, self._moment, self.round])
        return self._rng

    def mix(self, name: str) -> Array:
        """Returns the mean of a field over the agent and its neighbours, with weights M_ij."""
        if name not in self._published:
            raise ValueError(f"{name!r} is not a field; fields are: {', '.join(self._published)}")
        out = np.empty(self._published[name])
        lib.saddle_agent_mix(self._c, self._offsets[name], len(out), _doubles(out))
        return out

    # ---- samples and gradients -----------------------------------------------------------------

    def draw(self, count: int | None = None) -> Array:
        """Returns the mini-batch that built-in algorithms draw for this iteration.

        Its size is the option batch unless `count` is given. Further calls in the same step return
        the same samples; use `rng` if they should differ.
        """
        replacement = self._steps.sampling == lib.SADDLE_WITH_REPLACEMENT
        size = self._steps.batch if count is None else as_integer(count, "count", 1)
        batch = lib.saddle_agent_draw(self._c, self._moment, size, replacement)
        if batch.index == ffi.NULL:
            return self._all
        rows = np.frombuffer(ffi.buffer(batch.index, 4 * batch.count), dtype=np.uint32).copy()
        rows.flags.writeable = False  # gradient() does not check these again
        self._distinct = None if replacement else rows
        return rows

    def _evaluate(self, kind: int, rows: Any, points: tuple[Any, ...]) -> tuple[Array, Array]:
        request = self._request
        request.kind = kind
        batch = request.batch
        if rows is None or rows is self._all:
            batch.index, batch.first, batch.count = ffi.NULL, 0, self.samples
            batch.repeats = False
        else:
            index = self._checked(rows)
            batch.index, batch.count = ffi.from_buffer("uint32_t[]", index), len(index)
            batch.repeats = rows is not self._distinct
        held = []
        for name, given, dim in zip(("x", "y", "x0", "y0"), points, 2 * (self._x_dim, self._y_dim)):
            point = np.ascontiguousarray(as_array(given, name))
            if point.shape != (dim,):
                raise ValueError(f"{name} has the shape {point.shape}; it must be ({dim},)")
            held.append(point)
            setattr(request, name, _doubles(point))
        gx, gy = np.empty(self._x_dim), np.empty(self._y_dim)
        request.gx, request.gy = _doubles(gx), _doubles(gy)
        lib.saddle_agent_evaluate_now(self._c, request, self._c.scratch)
        return gx, gy

    def _checked(self, rows: Any) -> Array:
        """Returns sample numbers as the uint32 array that the library takes."""
        if rows is self._distinct:
            return rows
        given = np.asarray(rows)
        if given.ndim != 1 or len(given) == 0 or given.dtype.kind not in "iu":
            raise ValueError("rows must be a vector of sample numbers, at least one")
        if given.min() < 0 or given.max() >= self.samples:
            raise IndexError(f"agent {self.id} has the samples 0 to {self.samples - 1}")
        return np.ascontiguousarray(given, dtype=np.uint32)

    def gradient(self, x: Any, y: Any, rows: Any = None) -> tuple[Array, Array]:
        """Returns the gradients in x and y, averaged over these samples; None: over all.

        Every sample counts as one gradient evaluation (IFO call).
        """
        return self._evaluate(lib.SADDLE_REQUEST_GRADIENT, rows, (x, y))

    def difference(self, x: Any, y: Any, x0: Any, y0: Any, rows: Any = None) -> tuple[Array, Array]:
        """Returns the gradients at (x, y) minus those at (x0, y0), averaged over the same samples.

        Every sample counts as two gradient evaluations.
        """
        return self._evaluate(lib.SADDLE_REQUEST_DIFFERENCE, rows, (x, y, x0, y0))

    # ---- constraints ---------------------------------------------------------------------------

    def _vector(self, v: Any, dim: int) -> Array:
        out = np.array(as_array(v, "the vector"))
        if out.shape != (dim,):
            raise ValueError(f"the vector has the shape {out.shape}; it must be ({dim},)")
        return out

    def prox_x(self, x: Any, step: float) -> Array:
        """Returns the proximal point argmin over u in X of |u - x|^2 / 2 + step h(u)."""
        out = self._vector(x, self._x_dim)
        lib.saddle_prox_apply(self._c.x_prox, as_real(step, "step"), _doubles(out), self._c.scratch)
        return out

    def project_x(self, x: Any) -> Array:
        """Returns the projection onto X."""
        out = self._vector(x, self._x_dim)
        constraint = lib.saddle_prox_set(self._c.x_prox)
        lib.saddle_set_project(constraint, _doubles(out), self._c.scratch)
        return out

    def project_y(self, y: Any) -> Array:
        """Returns the projection onto Y."""
        out = self._vector(y, self._y_dim)
        lib.saddle_set_project(self._c.y_set, _doubles(out), self._c.scratch)
        return out
