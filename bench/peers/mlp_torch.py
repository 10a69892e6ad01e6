#!/usr/bin/env python3
"""PRECISION on a PyTorch network: saddle.torch against the same loop written by hand.

    PYTHONPATH=build/python python3 bench/peers/mlp_torch.py [--rounds N] [--repeats N] [--width N]

The problem is robust classification by groups: min over the network, max over weights y of groups in the simplex, of
sum_g y_g (loss of group g) - |y|^2 / 2. The loop by hand has the agents' vectors as rows of one tensor, mixes them by
one product, and has the network's parameters and gradients in one vector each. That both do the same is checked first,
with batches of all samples and 64 bits. Times are processor seconds per 1000 rounds, without trace points, of runs in
turns: the least of all rows of Q rounds, so that a busy machine matters little.
"""
import argparse
import time

import numpy as np
import torch

import saddle

AGENTS, SAMPLES, FEATURES, CLASSES, GROUPS = 5, 400, 64, 10, 4
Q = 20  # rounds between two refreshes
STEPS = {"nu": 0.1, "eta": 0.1, "tau": 2.0, "alpha": 0.5}


def network(width, dtype):
    torch.manual_seed(0)
    layers = [torch.nn.Linear(FEATURES, width), torch.nn.ReLU(), torch.nn.Linear(width, CLASSES)]
    return torch.nn.Sequential(*layers).to(dtype)


def rows(dtype):
    generator = torch.Generator().manual_seed(1)
    X = torch.randn(AGENTS * SAMPLES, FEATURES, generator=generator, dtype=dtype)
    label = torch.randint(CLASSES, (len(X),), generator=generator)
    group = torch.randint(GROUPS, (len(X),), generator=generator)
    return X, label, group


def loss(net, y, batch):
    X, label, group = batch
    losses = torch.nn.functional.cross_entropy(net(X), label, reduction="none")
    return GROUPS * (y[group] * losses).mean() - y.dot(y) / 2


def project(v):
    """Returns the projection of each row onto the simplex."""
    down = v.sort(dim=1, descending=True).values
    excess = (down.cumsum(dim=1) - 1) / torch.arange(1, v.shape[1] + 1, dtype=v.dtype)
    last = (down > excess).sum(dim=1, keepdim=True) - 1
    return (v - excess.gather(1, last)).clamp_(min=0)


class ByHand:
    def __init__(self, width, dtype, batch, q):
        self.net, self.batch, self.q, self.t = network(width, dtype), batch, q, 0
        parameters = list(self.net.parameters())
        self.flat = torch.nn.utils.parameters_to_vector(parameters).detach()
        self.slope = torch.zeros_like(self.flat)
        sizes = [p.numel() for p in parameters]
        for p, value, grad in zip(parameters, self.flat.split(sizes), self.slope.split(sizes)):
            p.data, p.grad = value.view_as(p), grad.view_as(p)
        data = rows(dtype)
        self.data = [tuple(t[i * SAMPLES : (i + 1) * SAMPLES] for t in data) for i in range(AGENTS)]
        self.mixing = torch.from_numpy(saddle.graph("ring", AGENTS).weights).to(dtype)
        self.x = self.flat.repeat(AGENTS, 1)
        self.y = torch.full((AGENTS, GROUPS), 1.0 / GROUPS, dtype=dtype)
        self.v, self.u = self.estimate(self.x, self.y, self.data)
        self.p, self.d = self.v.clone(), self.u.clone()

    def estimate(self, x, y, batches):
        gx, gy = torch.empty_like(x), torch.empty_like(y)
        for i, batch in enumerate(batches):
            self.flat.copy_(x[i])
            self.slope.zero_()
            own = y[i].clone().requires_grad_()
            loss(self.net, own, batch).backward()
            gx[i], gy[i] = self.slope, own.grad
        return gx, gy

    def draw(self):
        for data in self.data:
            index = torch.randperm(SAMPLES)[: self.batch]
            yield tuple(t[index] for t in data)

    def step(self):
        x_tilde = self.x - self.p / STEPS["tau"]
        y_tilde = project(self.y + STEPS["alpha"] * self.d)
        x = self.mixing @ self.x + STEPS["nu"] * (x_tilde - self.x)
        y = self.mixing @ self.y + STEPS["eta"] * (y_tilde - self.y)
        self.t += 1
        if self.t % self.q == 0:
            v, u = self.estimate(x, y, self.data)
        else:
            batches = list(self.draw())
            new, old = self.estimate(x, y, batches), self.estimate(self.x, self.y, batches)
            v, u = self.v + new[0] - old[0], self.u + new[1] - old[1]
        self.p = self.mixing @ self.p + v - self.v
        self.d = self.mixing @ self.d + u - self.u
        self.x, self.y, self.v, self.u = x, y, v, u


def problem(width, dtype):
    y0 = torch.full((GROUPS,), 1.0 / GROUPS, dtype=dtype)
    return saddle.torch.problem(loss, network(width, dtype), y0, rows(dtype), agents=AGENTS, y_set="simplex")


def by_saddle(given, rounds, batch, q):
    return given.run("precision", iterations=rounds, batch=batch, q=q, trace_every=10**9, threads=1, **STEPS)


def agree(width):
    """Checks that both do the same."""
    hand = ByHand(width, torch.float64, SAMPLES, 3)
    for _ in range(20):
        hand.step()
    result = by_saddle(saddle.Instance(problem(width, torch.float64), topology="ring"), 20, SAMPLES, 3)
    error = np.abs(result.x_agents - hand.x.numpy()).max() + np.abs(result.y_agents - hand.y.numpy()).max()
    if not error < 1e-12:
        raise SystemExit(f"the two differ by {error:.2g}")
    return error


class Stamped(saddle.torch.TorchProblem):
    """Notes when the gradients of a round are asked for; trace points ask for one agent at a time."""

    def gradients(self, requests):
        if len(requests.agent) > 1:
            self.stamps.append(time.process_time())
        super().gradients(requests)


def rounds_by_hand(hand, rounds):
    stamps = []
    for _ in range(rounds):
        stamps.append(time.process_time())
        hand.step()
    return stamps


def rounds_by_saddle(given, made, rounds, batch):
    made.stamps = []
    by_saddle(given, rounds, batch, Q)
    return made.stamps


def least(stamps):
    """Returns the least seconds of Q rounds in a row, one of them with a refresh, for 1000 rounds."""
    return min(end - begin for begin, end in zip(stamps, stamps[Q:])) * 1000 / Q


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--batch", type=int, default=64)
    given = parser.parse_args()
    torch.set_num_threads(1)
    print(f"the two agree to {agree(given.width):.1g}")
    hand = ByHand(given.width, torch.float32, given.batch, Q)
    made = problem(given.width, torch.float32)
    made.__class__ = Stamped
    its = saddle.Instance(made, topology="ring")
    theirs, ours = [], []
    for _ in range(given.repeats):
        theirs.append(least(rounds_by_hand(hand, given.rounds)))
        ours.append(least(rounds_by_saddle(its, made, given.rounds, given.batch)))
    print(f"by hand {min(theirs):.3f} s, saddle.torch {min(ours):.3f} s, ratio {min(ours) / min(theirs):.2f}")


if __name__ == "__main__":
    main()
