"""torch_mlp.py REPEATS: an MLP trained through saddle.torch, and by the same loop written by hand in PyTorch.

Prox-DSGDA with full local batches on five agents, so that both compute the same iterates, which is
checked. Prints a JSON list of cases.
"""
import json
import statistics
import sys
import time

import numpy as np
import saddle
import saddle.torch
import torch

AGENTS, SAMPLES, FEATURES, HIDDEN, GROUPS = 5, 64, 50, 64, 4
ITERATIONS = 300
NU, ETA, TAU, ALPHA = 0.1, 0.1, 2.0, 0.5


def loss(net, y, batch):
    """The worst mix of groups: y are their weights."""
    features, label, group = batch
    each = torch.nn.functional.softplus(-label * net(features).squeeze(1))
    return (each * (1 + y[group])).mean() - y @ y


def make_data():
    generator = torch.Generator().manual_seed(1)
    features = torch.randn(AGENTS * SAMPLES, FEATURES, generator=generator, dtype=torch.float64)
    label = torch.sign(features[:, 0] * features[:, 1] + features[:, 2])
    return features, label, torch.arange(AGENTS * SAMPLES) % GROUPS


def make_network():
    torch.manual_seed(2)
    layers = [torch.nn.Linear(FEATURES, HIDDEN), torch.nn.Tanh(), torch.nn.Linear(HIDDEN, 1)]
    return torch.nn.Sequential(*layers).double()


def by_hand(net, y0, data, weights, iterations):
    """Prox-DSGDA: mix, and take a step towards the descent and ascent points."""
    parts = list(zip(*(torch.split(tensor, SAMPLES) for tensor in data)))
    parameters = list(net.parameters())
    sizes = [p.numel() for p in parameters]
    x = torch.nn.utils.parameters_to_vector(parameters).detach().repeat(AGENTS, 1)
    y = y0.repeat(AGENTS, 1)

    def gradients():
        gx, gy = torch.empty_like(x), torch.empty_like(y)
        for i, batch in enumerate(parts):
            for parameter, value in zip(parameters, torch.split(x[i], sizes)):
                parameter.data = value.view_as(parameter)
            own = y[i].clone().requires_grad_()
            found = torch.autograd.grad(loss(net, own, batch), [*parameters, own])
            gx[i] = torch.cat([g.reshape(-1) for g in found[:-1]])
            gy[i] = found[-1]
        return gx, gy

    for _ in range(iterations):
        gx, gy = gradients()
        x = weights @ x - NU * gx / TAU
        y = weights @ y + ETA * ALPHA * gy
    return x


def median_and_least(times):
    return {"seconds": statistics.median(times), "best_seconds": min(times)}


def main():
    repeats = int(sys.argv[1])
    torch.set_num_threads(1)
    data, y0 = make_data(), torch.zeros(GROUPS, dtype=torch.float64)
    problem = saddle.torch.problem(loss, make_network(), y0, data, agents=AGENTS)
    instance = saddle.Instance(problem, topology="ring", algorithm="prox-dsgda", nu=NU, eta=ETA,
                               tau=TAU, alpha=ALPHA, batch=SAMPLES, iterations=ITERATIONS,
                               trace_every=ITERATIONS, threads=1)  # fmt: skip
    weights = torch.from_numpy(saddle.graph("ring", agents=AGENTS).weights)
    times = {"saddle": [], "by hand": []}
    for _ in range(repeats):
        result = instance.run()
        times["saddle"].append(float(result.trace.seconds[-1]) / ITERATIONS)
        begin = time.perf_counter()
        x = by_hand(make_network(), y0, data, weights, ITERATIONS)
        times["by hand"].append((time.perf_counter() - begin) / ITERATIONS)
        if not np.allclose(result.x_agents, x.numpy(), rtol=0, atol=1e-10):
            sys.exit("torch_mlp.py: the two loops compute different iterates")
    print(json.dumps([{"name": f"torch MLP, {who}", **median_and_least(found)}
                      for who, found in times.items()]))  # fmt: skip


main()
