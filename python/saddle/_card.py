"""Gradients of PyTorch losses in the memory in which the engines cuda and cuda-host keep states."""

from __future__ import annotations

import contextlib
import itertools
import warnings
from typing import Any, Callable, ContextManager, Iterator, Sequence

import numpy as np
import torch

from ._library import ffi

try:
    from torch.func import functional_call, grad, vmap
except ImportError:  # before PyTorch 2.0
    from functorch import grad, vmap
    from torch.nn.utils.stateless import functional_call

__all__ = ["CardRequests", "Slopes"]

MOST_BLOCKS = 1000  # batches are in 64


class _Block:
    """Memory of the engine, as NumPy and PyTorch take it; `stride` numbers lie between rows."""

    def __init__(
        self, address: int, shape: tuple[int, int], stride: int, kind: str, card: bool
    ) -> None:
        size = int(kind[-1])
        layout = {"data": (address, False), "shape": shape, "strides": (stride * size, size),
                  "typestr": kind, "version": 3}  # fmt: skip
        setattr(self, "__cuda_array_interface__" if card else "__array_interface__", layout)


class CardRequests:
    """The gradients that all agents of a round request, as tensors over the engine's memory.

    Row i of each tensor is agent i's. The tensors are valid only during the call.

    count
        the number of samples of each agent
    samples
        the numbers of these samples; None: all samples of every agent
    x, y
        for each point the matrices of x and y, not to be changed
    gx, gy
        for each point the gradients, to be filled in
    """

    def __init__(self, c: Any, agents: int, x_dim: int, y_dim: int, made: dict[Any, Any]) -> None:
        both = x_dim + y_dim
        self._stream = int(ffi.cast("uintptr_t", c.stream))
        self._made = made
        self.count: list[int] = ffi.unpack(c.count, agents)
        self.samples = None
        if c.sample != ffi.NULL:
            self.samples = self._matrix(c.sample, (agents, max(self.count)), c.sample_stride, "<i4")
        points = [self._matrix(c.point[k], (agents, both), c.stride) for k in range(c.points)]
        slopes = [self._matrix(c.gradient[k], (agents, both), both) for k in range(c.points)]
        self.x, self.y = [p[:, :x_dim] for p in points], [p[:, x_dim:] for p in points]
        self.gx, self.gy = [g[:, :x_dim] for g in slopes], [g[:, x_dim:] for g in slopes]

    def _matrix(self, pointer: Any, shape: tuple[int, int], stride: int, kind: str = "<f8") -> Any:
        """Returns a tensor over memory. They are kept, because rounds use the same memory."""
        key = int(ffi.cast("uintptr_t", pointer)), shape, stride, kind, self._stream
        if key not in self._made:
            if len(self._made) > MOST_BLOCKS:
                self._made.clear()
            block: Any = _Block(key[0], shape, stride, kind, self._stream != 0)
            self._made[key] = (torch.as_tensor(block, device="cuda") if self._stream
                               else torch.from_numpy(np.asarray(block)))  # fmt: skip
        return self._made[key]

    @property
    def device(self) -> Any:
        """Where the memory is."""
        return self.x[0].device

    def in_order(self) -> ContextManager[Any]:
        """Makes PyTorch work in the order of the engine."""
        if not self._stream:
            return contextlib.nullcontext()
        if ("stream", self._stream) not in self._made:
            torch.cuda.synchronize()  # what the problem was made from is complete
            self._made["stream", self._stream] = torch.cuda.ExternalStream(self._stream)
        return torch.cuda.stream(self._made["stream", self._stream])


class _Loss(torch.nn.Module):  # type: ignore[misc]
    """A loss whose modules are its own, so that their parameters can be given to a call."""

    def __init__(self, loss: Callable[..., Any], x: Any, y: Any) -> None:
        super().__init__()
        self._loss = loss
        self._form = x, y
        for name, form in zip("xy", self._form):
            if isinstance(form, torch.nn.Module):
                self.add_module(name, form)

    def forward(self, x: Any, y: Any, batch: Any) -> Any:
        forms = self._form
        return self._loss(forms[0] if x is None else x, forms[1] if y is None else y, batch)

    def at(self, x: Sequence[Any], y: Sequence[Any], batch: Any) -> Any:
        """Returns the loss at other tensors."""
        parameters: dict[str, Any] = {}
        forms: list[Any] = []
        for name, form, leaves in zip("xy", self._form, (x, y)):
            if isinstance(form, torch.nn.Module):
                own = (key for key, p in form.named_parameters(name) if p.requires_grad)
                parameters.update(zip(own, leaves))
                forms.append(None)
            elif isinstance(form, dict):
                forms.append(dict(zip(form, leaves)))
            else:
                forms.append(type(form)(leaves) if isinstance(form, (list, tuple)) else leaves[0])
        return functional_call(self, parameters, (*forms, batch))


class Slopes:
    """Computes the gradients of a problem's agents, all at once where PyTorch can."""

    def __init__(
        self, loss: Callable[..., Any], check: Callable[..., Any], x: Any, y: Any, parts: Any
    ) -> None:
        """check(value) returns the value of the loss, or refuses it."""
        self._loss, self._check, self._packed = _Loss(loss, x.form, y.form), check, (x, y)
        self._rows = tuple(torch.cat(each) for each in zip(*(part.tensors for part in parts)))
        self._first = [0, *itertools.accumulate(part.samples for part in parts)]
        self._offset = torch.tensor(self._first[:-1], device=x.flat.device)[:, None]
        self._slope = grad(self._value, argnums=(0, 1))
        self.together = True
        self.device = x.flat.device
        self.alike = all(t.device == self.device for t in (y.flat, *self._rows))

    def _value(self, x: Any, y: Any, batch: Any) -> Any:
        return self._check(self._loss.at(x, y, batch)).reshape(())

    def answer(self, requests: CardRequests) -> None:
        """Fills in the gradients."""
        for _, group in itertools.groupby(range(len(requests.count)), requests.count.__getitem__):
            agents = list(group)
            self._answer(requests, slice(agents[0], agents[-1] + 1))

    def _answer(self, requests: CardRequests, own: slice) -> None:
        """Fills in the gradients of agents with the same number of samples."""
        given = (requests.x, requests.y), (requests.gx, requests.gy)
        x, y = (list(self._leaves(packed, [p[own] for p in points]))
                for packed, points in zip(self._packed, given[0]))  # fmt: skip
        batch = tuple(self._batch(requests, own, rows) for rows in self._rows)
        for found, slopes in zip(self._slopes(x, y, batch), given[1]):
            flat = torch.cat([each.reshape(len(each), -1) for each in found], dim=1)
            for slope, value in zip(slopes, flat.chunk(len(slopes))):
                slope[own].copy_(value)

    def _leaves(self, packed: Any, points: list[Any]) -> Iterator[Any]:
        """Yields the tensors of a form, each for all points and agents. Points of their dtype are
        not copied, unless there are two of each agent."""
        kind, count = packed.flat.dtype, len(points)
        if count == 1:
            stacked = points[0].to(kind)
        else:
            stacked = points[0].new_empty((count * len(points[0]), len(packed)), dtype=kind)
            for part, point in zip(stacked.chunk(count), points):
                part.copy_(point)
        sizes = [leaf.numel() for leaf in packed.leaves]
        for leaf, values in zip(packed.leaves, stacked.split(sizes, dim=1)):
            yield values.reshape(len(values), *leaf.shape)

    def _batch(self, requests: CardRequests, own: slice, rows: Any) -> Any:
        """Returns the samples of all points and agents."""
        count = requests.count[own.start]
        if requests.samples is None:
            chosen = rows[self._first[own.start] : self._first[own.stop]]
        else:
            index = requests.samples[own, :count].long() + self._offset[own]
            chosen = rows.index_select(0, index.flatten().repeat(len(requests.x)))
        return chosen.reshape(-1, count, *rows.shape[1:])

    def _slopes(self, x: list[Any], y: list[Any], batch: Any) -> Any:
        """Returns the gradients in x and in y."""
        reason: Exception | None = None
        if self.together:
            try:
                return vmap(self._slope)(x, y, batch)
            except (RuntimeError, NotImplementedError) as why:
                reason = why
        each = [self._slope([t[k] for t in x], [t[k] for t in y], tuple(t[k] for t in batch))
                for k in range(len(x[0]))]  # fmt: skip
        if reason is not None:
            self.together = False
            warnings.warn(
                "agents are computed one after the other, because vmap refuses the loss: "
                f"{reason}",
                stacklevel=2,
            )
        return [[torch.stack(same) for same in zip(*side)] for side in zip(*each)]
