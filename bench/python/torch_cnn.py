"""torch_cnn.py [--device cuda] [--quick]: a CNN of a million parameters on 20 agents, by PRECISION.

saddle.torch on the engine cuda (cpu: cuda-host) against the same loop written by hand in PyTorch: the agents' vectors
are the rows of one tensor, all agents and both points are one vmap, and, on a card, a round is one CUDA graph. That
both compute the same is checked first, with 64 bits and all samples. Prints milliseconds per round.
"""
import argparse
import statistics
import time

import numpy as np
import saddle
import torch

try:
    from torch.func import functional_call, grad, vmap
except ImportError:
    from functorch import grad, vmap
    from torch.nn.utils.stateless import functional_call

GROUPS, CLASSES, IMAGE = 4, 10, 28
NU, ETA, TAU, ALPHA = 0.1, 0.1, 2.0, 0.1


class Size:
    def __init__(self, quick):
        self.agents, self.samples, self.batch, self.q = (4, 16, 4, 8) if quick else (20, 256, 32, 16)
        self.hidden, self.rounds = (16, 40) if quick else (640, 320)


def network(size, dtype):
    torch.manual_seed(0)
    nn = torch.nn
    layers = [nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),
              nn.MaxPool2d(2), nn.Flatten(), nn.Linear(32 * (IMAGE // 4) ** 2, size.hidden), nn.ReLU(),
              nn.Linear(size.hidden, CLASSES)]  # fmt: skip
    return nn.Sequential(*layers).to(dtype)


def rows(size, dtype):
    generator = torch.Generator().manual_seed(1)
    count = size.agents * size.samples
    X = torch.randn(count, 1, IMAGE, IMAGE, generator=generator, dtype=dtype)
    label = torch.randint(CLASSES, (count,), generator=generator)
    return X, label, torch.randint(GROUPS, (count,), generator=generator)


def loss(net, y, batch):
    X, label, group = batch
    losses = torch.nn.functional.cross_entropy(net(X), label, reduction="none")
    return GROUPS * (y[group] * losses).mean() - y.dot(y) / 2


def project(v):
    """Returns the projection of each row onto the simplex."""
    down = v.sort(dim=1, descending=True).values
    excess = (down.cumsum(dim=1) - 1) / torch.arange(1, v.shape[1] + 1, dtype=v.dtype, device=v.device)
    last = (down > excess).sum(dim=1, keepdim=True) - 1
    return (v - excess.gather(1, last)).clamp_(min=0)


class ByHand:
    def __init__(self, size, dtype, device, batch, q):
        self.size, self.batch, self.q, self.t = size, batch, q, 0
        self.net = network(size, dtype).to(device)
        named = dict(self.net.named_parameters())
        self.names, self.shapes = list(named), [p.shape for p in named.values()]
        flat = torch.cat([p.detach().reshape(-1) for p in named.values()])
        m = size.agents
        self.data = [t.to(device).reshape(m, size.samples, *t.shape[1:]) for t in rows(size, dtype)]
        self.flat_data = [t.flatten(0, 1) for t in self.data]
        self.first = torch.arange(0, m * size.samples, size.samples, device=device)[:, None]
        self.index = torch.zeros(m, batch, dtype=torch.int64, device=device)
        self.mixing = torch.from_numpy(saddle.graph("ring", m).weights).to(device, dtype)
        self.x = flat.repeat(m, 1)
        self.y = torch.full((m, GROUPS), 1.0 / GROUPS, dtype=dtype, device=device)
        self.slope = vmap(grad(self.at, argnums=(0, 1)))
        self.v, self.u = self.slope(self.x, self.y, tuple(self.data))
        self.p, self.d = self.v.clone(), self.u.clone()
        self.graphs = {}

    def at(self, x, y, batch):
        pieces = x.split([shape.numel() for shape in self.shapes])
        given = {name: piece.view(shape) for name, piece, shape in zip(self.names, pieces, self.shapes)}
        return loss(lambda X: functional_call(self.net, given, (X,)), y, batch)

    def compute(self, refresh):
        x_tilde = self.x - self.p / TAU
        y_tilde = project(self.y + ALPHA * self.d)
        x = torch.addmm(x_tilde - self.x, self.mixing, self.x, beta=NU)
        y = torch.addmm(y_tilde - self.y, self.mixing, self.y, beta=ETA)
        if refresh:
            v, u = self.slope(x, y, tuple(self.data))
        else:
            chosen = (self.index + self.first).flatten()
            shape = (2 * len(x), self.batch)
            batch = tuple(t.index_select(0, chosen).repeat(2, *[1] * (t.dim() - 1)).reshape(*shape, *t.shape[1:])
                          for t in self.flat_data)  # fmt: skip
            gx, gy = self.slope(torch.cat([x, self.x]), torch.cat([y, self.y]), batch)
            v, u = self.v + gx[: len(x)] - gx[len(x) :], self.u + gy[: len(x)] - gy[len(x) :]
        p = torch.addmm(v - self.v, self.mixing, self.p)
        d = torch.addmm(u - self.u, self.mixing, self.d)
        for old, new in zip((self.x, self.y, self.v, self.u, self.p, self.d), (x, y, v, u, p, d)):
            old.copy_(new)

    def step(self, captured):
        self.t += 1
        refresh = self.t % self.q == 0
        if not refresh:
            keys = torch.rand(self.size.agents, self.size.samples, device=self.x.device)
            self.index.copy_(keys.topk(self.batch, dim=1).indices)
        if not captured:
            self.compute(refresh)
            return
        if refresh not in self.graphs:
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                self.compute(refresh)
            self.graphs[refresh] = graph
        self.graphs[refresh].replay()


class Stamped(saddle.torch.TorchProblem):
    """Notes when rounds ask for gradients."""

    def card_gradients(self, c):
        self.stamps.append(time.perf_counter())
        super().card_gradients(c)


def problem(size, dtype, device):
    y0 = torch.full((GROUPS,), 1.0 / GROUPS, dtype=dtype)
    made = saddle.torch.problem(loss, network(size, dtype), y0, rows(size, dtype), agents=size.agents, y_set="simplex",
                                device=device, lipschitz=1, strong_concavity=1)  # fmt: skip
    made.__class__, made.stamps = Stamped, []
    X, label, group = (t.to(device) for t in rows(size, dtype))

    def best_response(x):
        with torch.no_grad():
            losses = torch.nn.functional.cross_entropy(made.module(x)(X), label, reduction="none")
            means = torch.zeros(GROUPS, dtype=dtype, device=device).index_add_(0, group, losses) / len(X)
            return project(GROUPS * means[None].double())[0].cpu().numpy()

    made.best_response = best_response
    return made


def by_saddle(size, made, device, rounds, batch, q):
    engine = "cuda" if device == "cuda" else "cuda-host"
    return saddle.run(made, algorithm="precision", engine=engine, topology="ring", iterations=rounds, batch=batch, q=q,
                      trace_every=10**9, gap="never", nu=NU, eta=ETA, tau=TAU, alpha=ALPHA)  # fmt: skip


def agree(size, device):
    """Checks that both do the same."""
    rounds = 24
    hand = ByHand(size, torch.float64, device, size.samples, 3)
    for _ in range(rounds):
        hand.index.copy_(torch.arange(size.samples, device=device))
        hand.t += 1
        hand.compute(hand.t % 3 == 0)
    result = by_saddle(size, problem(size, torch.float64, device), device, rounds, size.samples, 3)
    error = np.abs(result.x_agents - hand.x.cpu().numpy()).max()
    error = max(error, np.abs(result.y_agents - hand.y.cpu().numpy()).max())
    if not error < 1e-10:
        raise SystemExit(f"the two differ by {error:.2g}")
    return error


def per_round(stamps, q):
    """Returns the median over spans of q rounds, of which one has a refresh, without the first half: milliseconds."""
    stamps = stamps[len(stamps) // 2 :]
    return 1e3 * statistics.median((b - a) / q for a, b in zip(stamps, stamps[q:]))


def rounds_by_hand(hand, rounds, captured, device):
    stamps = []
    for _ in range(rounds):
        if hand.t % hand.q == 0 and device == "cuda":
            torch.cuda.synchronize()
        stamps.append(time.perf_counter())
        hand.step(captured)
    return stamps


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    device, size = given.device, Size(given.quick)
    small = Size(True)
    print(f"torch {torch.__version__}, the two agree to {agree(small, device):.1g}", flush=True)
    count = sum(p.numel() for p in network(size, torch.float32).parameters())
    print(f"{count} parameters, {size.agents} agents, batch {size.batch} of {size.samples}, q {size.q}", flush=True)
    made = problem(size, torch.float32, device)
    by_saddle(size, made, device, size.rounds, size.batch, size.q)
    ours = per_round(made.stamps, size.q)
    print(f"saddle.torch {ours:.3f} ms per round", flush=True)
    for captured in (False, True)[: 2 if device == "cuda" else 1]:
        hand = ByHand(size, torch.float32, device, size.batch, size.q)
        if captured:  # on another stream first, as PyTorch asks
            rounds_by_hand(hand, 2 * size.q, False, device)
        theirs = per_round(rounds_by_hand(hand, size.rounds, captured, device), size.q)
        what = "by hand, CUDA graphs" if captured else "by hand"
        print(f"{what} {theirs:.3f} ms per round; saddle.torch takes {ours / theirs:.2f} times as long", flush=True)


if __name__ == "__main__":
    main()
