"""Problems from PyTorch functions, with gradients by autograd."""

from __future__ import annotations

import copy
import threading
import warnings
from typing import Any, Callable, Sequence

import numpy as np

try:
    import torch
    import torch.utils.data
except ImportError as missing:
    raise ImportError(f"saddle.torch needs PyTorch: {missing}") from missing

from ._library import Array, lib
from .problem import Problem, Requests

__all__ = ["TorchProblem", "problem"]

ATTRIBUTES = ("name", "x_set", "y_set", "tau", "alpha", "lipschitz", "strong_concavity",
              "smaller_is_better")  # fmt: skip


class Packed:
    """The tensors of a module, a dict or a list, or a single tensor, stored in one vector.

    form
        the tensors in the form in which they were given; for a module, a copy
    """

    def __init__(self, given: Any, what: str, device: Any = None) -> None:
        self.form: Any
        leaves: list[Any]
        if isinstance(given, torch.nn.Module):
            self.form = copy.deepcopy(given).to(device)
            leaves = [p for p in self.form.parameters() if p.requires_grad]
        elif isinstance(given, dict):
            self.form = {name: self._leaf(tensor, device) for name, tensor in given.items()}
            leaves = list(self.form.values())
        elif isinstance(given, (list, tuple)):
            leaves = [self._leaf(tensor, device) for tensor in given]
            self.form = type(given)(leaves)
        else:
            self.form = self._leaf(given, device)
            leaves = [self.form]
        self._adopt(leaves, what)
        self.leaves = leaves

    def double(self) -> Any:
        """Returns a copy in the same form with 64 bits."""
        if isinstance(self.form, torch.nn.Module):
            return copy.deepcopy(self.form).double()
        if isinstance(self.form, dict):
            return {name: leaf.detach().double() for name, leaf in self.form.items()}
        if isinstance(self.form, (list, tuple)):
            return type(self.form)(leaf.detach().double() for leaf in self.form)
        return self.form.detach().double()

    @staticmethod
    def _leaf(tensor: Any, device: Any) -> Any:
        return torch.as_tensor(tensor, device=device).detach().clone().requires_grad_()

    def _adopt(self, leaves: list[Any], what: str) -> None:
        """Moves the tensors into one vector."""
        if len({(leaf.dtype, leaf.device) for leaf in leaves}) != 1:
            raise ValueError(
                f"{what} must have tensors to optimize, all of the same dtype and device"
            )
        self.flat = torch.cat([leaf.detach().reshape(-1) for leaf in leaves])
        sizes = [leaf.numel() for leaf in leaves]
        for leaf, value in zip(leaves, torch.split(self.flat, sizes)):
            leaf.data = value.view_as(leaf)

    def __len__(self) -> int:
        return int(self.flat.numel())

    def load(self, vector: Array) -> None:
        """Sets the tensors."""
        self.flat.copy_(torch.from_numpy(vector.copy()))  # PyTorch warns of read-only arrays

    def flatten(self, gradients: Sequence[Any]) -> Any:
        """Returns the gradients of the tensors as one vector; None counts as zeros."""
        pairs = zip(self.leaves, gradients)
        flat = [(torch.zeros_like(t) if g is None else g).reshape(-1) for t, g in pairs]
        return torch.cat(flat)

    def at(self, vector: Array) -> Any:
        """Returns new tensors, or a new module, in the given form."""
        out = Packed(self.form, "x")
        out.load(np.array(vector, dtype=np.float64))
        form = out.form
        if isinstance(form, torch.nn.Module):
            return form
        if isinstance(form, dict):
            return {name: leaf.detach() for name, leaf in form.items()}
        if isinstance(form, (list, tuple)):
            return type(form)(leaf.detach() for leaf in form)
        return form.detach()


Batch = Any


def _tensors(data: Any) -> Any:
    """Returns the tensors of a DataLoader or Dataset, whose samples are stacked; anything else as
    it is."""
    if isinstance(data, torch.utils.data.DataLoader):
        data = data.dataset
    if isinstance(data, torch.utils.data.IterableDataset):
        raise TypeError("an IterableDataset cannot be drawn from; give a Dataset with a length")
    if isinstance(data, torch.utils.data.TensorDataset):
        return data.tensors
    if not isinstance(data, torch.utils.data.Dataset):
        return data
    rows: Any = data
    samples = [rows[k] for k in range(len(rows))]
    stacked = torch.utils.data.default_collate(samples)
    return (stacked,) if isinstance(stacked, torch.Tensor) else tuple(stacked)


class _Rows:
    """The rows of one agent: tensors whose first dimension is the sample."""

    tensors: tuple[Any, ...]
    samples: int
    _all: Array
    _last: tuple[Array, Batch]

    def __init__(self, tensors: Any, device: Any = None) -> None:
        given = _tensors(tensors)
        if isinstance(given, (torch.Tensor, np.ndarray)):
            raise TypeError(
                "data takes a tuple of tensors, a Dataset or a DataLoader, or a list of them, one "
                "per agent: (X,) for X alone"
            )
        self.tensors = tuple(torch.as_tensor(t, device=device).detach() for t in given)
        lengths = {len(tensor) for tensor in self.tensors}
        if len(lengths) != 1:
            raise ValueError(f"the tensors of data have different lengths: {sorted(lengths)}")
        self.samples = lengths.pop()
        self._all = np.arange(self.samples)
        self._last = (self._all, self.tensors)

    def batch(self, rows: Array) -> Batch:
        """Returns these samples of each tensor; keeps them, because differences need them twice."""
        if len(rows) == self.samples and np.array_equal(rows, self._all):
            return self.tensors
        last, batch = self._last
        if not np.array_equal(rows, last):
            index = torch.from_numpy(rows.copy())
            batch = tuple(tensor[index.to(tensor.device)] for tensor in self.tensors)
            self._last = (rows.copy(), batch)
        return batch


def _parts(data: Any, agents: int | None, device: Any) -> list[_Rows]:
    """Returns the rows of each agent."""
    if isinstance(data, list):
        if agents not in (None, len(data)):
            raise ValueError(f"data has the rows of {len(data)} agents, but agents is {agents}")
        return [_Rows(own, device) for own in data]
    rows = _Rows(data, device)
    count = agents or int(lib.SADDLE_DEFAULT_AGENTS)
    if count > rows.samples:
        raise ValueError(f"there are {rows.samples} rows for {count} agents")
    index = np.array_split(np.arange(rows.samples), count)
    return [_Rows(tensor[own[0] : own[-1] + 1] for tensor in rows.tensors) for own in index]


class TorchProblem(Problem):
    """A problem from a PyTorch function; `saddle.torch.problem()` makes it."""

    def __init__(self, loss: Callable[..., Any], x0: Any, y0: Any, parts: list[_Rows],
                 device: Any = None) -> None:  # fmt: skip
        self._loss, self._parts = loss, parts
        self._x, self._y = Packed(x0, "x0", device), Packed(y0, "y0", device)
        self._start = tuple(part.flat.double().cpu().numpy().copy() for part in (self._x, self._y))
        self._unpack = self._x.at  # results keep this, not the data
        self.x_dim, self.y_dim = len(self._x), len(self._y)
        self.samples: Sequence[int] = [part.samples for part in parts]
        self._lock = threading.RLock()  # several runs share the tensors
        buffers = self._x.form.buffers() if isinstance(x0, torch.nn.Module) else ()
        self._buffers = [(buffer, buffer._version) for buffer in buffers]
        self._slopes: Any = None
        self._made: dict[Any, Any] = {}

    def _to_check(self) -> TorchProblem:
        """Returns the same problem with 64 bits, because differences of values of 32 bits have no
        correct digits. The loss must not make tensors of 32 bits itself."""
        if self._x.flat.dtype == self._y.flat.dtype == torch.float64:
            return self
        parts = [
            _Rows(tuple(t.double() if t.is_floating_point() else t for t in part.tensors))
            for part in self._parts
        ]
        out = TorchProblem(self._loss, self._x.double(), self._y.double(), parts)
        for name in ATTRIBUTES:
            setattr(out, name, getattr(self, name))
        return out

    def start(self, _seed: int) -> tuple[Array, ...]:
        """Returns x0 and y0 as vectors."""
        return self._start

    def _evaluate(self, agent: int, rows: Array | None, x: Array, y: Array) -> Any:
        part = self._parts[agent]
        self._x.load(x)
        self._y.load(y)
        batch = part.tensors if rows is None else part.batch(rows)
        return self._checked(self._loss(self._x.form, self._y.form, batch))

    def _checked(self, value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or value.numel() != 1:
            raise ValueError("the loss must be one number, the mean over the samples of the batch")
        if any(buffer._version != version for buffer, version in self._buffers):
            raise ValueError(
                "the module changes its buffers, as batch normalization does in training; "
                "all agents would share them: use another normalization, or module.eval()"
            )
        return value

    def gradients(self, requests: Requests) -> None:
        """Fills in the gradients of all agents of a round."""
        start: Any = requests.start.tolist()
        with self._lock:
            x, y = self._x, self._y
            for k, agent in enumerate(map(int, requests.agent)):
                rows = requests.rows[start[k] : start[k + 1]]
                value = self._evaluate(agent, rows, requests.x[k], requests.y[k])
                found = torch.autograd.grad(value, [*x.leaves, *y.leaves], allow_unused=True)
                torch.from_numpy(requests.gx[k]).copy_(x.flatten(found[: len(x.leaves)]))
                torch.from_numpy(requests.gy[k]).copy_(y.flatten(found[len(x.leaves) :]))

    def card_gradients(self, c: Any) -> None:
        """Fills in the gradients of all agents of a round in the memory of the engine cuda."""
        from . import _card

        agents = len(self._parts)
        requests = _card.CardRequests(c, agents, self.x_dim, self.y_dim, self._made)
        with self._lock:
            if self._slopes is None:
                given = self._loss, self._checked, self._x, self._y, self._parts
                self._slopes = _card.Slopes(*given)
            if self._slopes.device != requests.device or not self._slopes.alike:
                raise ValueError(
                    f"the engine computes on {requests.device}, where tensors of this problem are "
                    f"not; give saddle.torch.problem() device='{requests.device.type}'"
                )
            with requests.in_order():
                self._slopes.answer(requests)

    def value(self, agent: int, x: Array, y: Array) -> float:
        """Returns the loss over all samples of an agent."""
        with self._lock, torch.no_grad():
            return float(self._evaluate(agent, None, x, y))

    def module(self, x: Array) -> Any:
        """Returns a vector x in the form of x0: a module, or tensors."""
        return self._unpack(x)

    def duals(self, y: Array) -> Any:
        """Returns a vector y in the form of y0."""
        return self._y.at(y)


def _warn_of_training(given: Any) -> None:
    """Warns of layers that do something else in training than afterwards."""
    if not isinstance(given, torch.nn.Module):
        return
    for layer in given.modules():
        kind = type(layer).__name__
        if layer.training and ("Dropout" in kind or "BatchNorm" in kind):
            warnings.warn(
                f"{kind} is in training mode, so the loss is not a function of its arguments alone "
                "and variance reduction fails; call module.eval() first",
                stacklevel=3,
            )
            return


def problem(
    loss: Callable[..., Any],
    x0: Any,
    y0: Any,
    data: Any,
    *,
    agents: int | None = None,
    device: Any = None,
    outcomes: Callable[..., dict[str, float]] | None = None,
    **attributes: Any,
) -> TorchProblem:
    """Returns a problem for `saddle.run()` from a PyTorch function.

    loss
        loss(x, y, batch) returns the mean over the samples of a batch, to be minimized in x and
        maximized in y; x and y have the form of x0 and y0, batch is a tuple of tensors
    x0, y0
        the starting point: a tensor, a dict or a list of tensors, or a module, whose parameters
        that require gradients are optimized. The module itself does not change; the loss gets a
        copy
    data
        a tuple of tensors whose first dimension is the sample, which are split between the agents
        in order; a Dataset, or a DataLoader, of which only the Dataset is used; or a list of them,
        one for each agent. For a loss that needs the numbers
        of its samples, add them as another tensor
    device
        moves everything there, such as to "cuda", which the engine cuda needs; None: not
    outcomes
        outcomes(x, y) returns a dict of measures such as an accuracy
    attributes
        those of `saddle.Problem`: name, x_set, y_set, tau, alpha, lipschitz, strong_concavity,
        smaller_is_better

    `r.module()` returns the solution of a run in the form of x0. Gradients have the precision of
    the tensors; the library computes with 64 bits.

    >>> import saddle, torch
    >>> def loss(x, y, batch):
    ...     return ((batch[0] @ x - y) ** 2).mean() - (y**2).sum()
    >>> rows = torch.randn(40, 3, dtype=torch.float64)
    >>> x0, y0 = torch.zeros(3).double(), torch.ones(1).double()
    >>> p = saddle.torch.problem(loss, x0, y0, (rows,), agents=4)
    >>> saddle.check_grad(p).ok
    True
    """
    for given in (x0, y0):
        _warn_of_training(given)
    if device is not None and torch.device(device).type == "cuda" and not torch.cuda.is_available():
        raise ValueError(f"device={device!r}: PyTorch {torch.__version__} finds no graphics card")
    made = TorchProblem(loss, x0, y0, _parts(data, agents, device), device)
    for name, value in attributes.items():
        if name not in ATTRIBUTES:
            raise TypeError(f"problem() got an unexpected keyword argument {name!r}")
        setattr(made, name, value)
    if outcomes is not None:
        measure = outcomes
        made.outcomes = lambda x, y: measure(made.module(x), made.duals(y))
    return made
