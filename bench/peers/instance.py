"""What the peers share: the instance, read from files that saddle can read too, the command line,
the timing, and the model written at the end.

A peer is a class made from an instance, with the state x, y (agents by entries) and `step(t)`,
which takes all agents from iteration t to t + 1 by PRECISION:

    x~ = projection onto X of x - p / tau              y~ = projection onto Y of y + alpha d
    x+ = M x + nu (x~ - x)                             y+ = M y + eta (y~ - y)
    (v, u)+ = full gradients when q divides t + 1, else (v, u) + mean over S of
              grad f(x+, y+) - grad f(x, y)
    p+ = M p + v+ - v                                  d+ = M d + u+ - u
"""
import argparse
import gzip
import json
import time

import numpy as np


def read_idx(path):
    opened = gzip.open(path) if path.endswith(".gz") else open(path, "rb")
    with opened as file:
        raw = file.read()
    rank = raw[3]
    shape = np.frombuffer(raw, ">u4", rank, 4)
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * rank).reshape(shape)


class Instance:
    """Consecutive rows of the data at every agent, the paper's mixing matrix, a starting point."""

    def __init__(self, options):
        self.m, self.n = options.agents, options.samples
        rows = self.m * self.n
        if options.labels:
            images = read_idx(options.data)[:rows]
            self.rows = images.reshape(rows, -1) / 255.0
            self.label = np.where(read_idx(options.labels)[:rows] >= 5, 1.0, -1.0)
        else:
            from sklearn.datasets import load_svmlight_file
            matrix, label = load_svmlight_file(options.data)
            self.rows, self.label = matrix[:rows], np.where(label[:rows] > 0, 1.0, -1.0)
        laplacian = np.zeros((self.m, self.m))
        for i, j in np.loadtxt(options.edges, dtype=int, ndmin=2):
            laplacian[i, j] = laplacian[j, i] = -1.0
        np.fill_diagonal(laplacian, -laplacian.sum(axis=1))
        largest = np.linalg.eigvalsh(laplacian)[-1]
        self.mixing = np.eye(self.m) - 2.0 / (3.0 * largest) * laplacian
        with np.load(options.start) as start:
            self.x0, self.y0 = start["xbar"].copy(), start["ybar"].copy()
        for name in ("nu", "eta", "tau", "alpha", "q", "batch", "seed"):
            setattr(self, name, getattr(options, name))
        self.random = np.random.default_rng(self.seed)

    def draw_one(self):
        """A batch of one agent, without replacement."""
        if self.batch == self.n:
            return np.arange(self.n)
        return self.random.choice(self.n, self.batch, replace=False, shuffle=False)

    def draw(self):
        """Batches of all agents: agents by batch."""
        return np.stack([self.draw_one() for _ in range(self.m)])

    def agent_rows(self, i):
        return slice(i * self.n, (i + 1) * self.n)

    def neighbours(self):
        """For every agent the pairs (j, M_ij) of itself and its neighbours."""
        return [[(j, self.mixing[i, j]) for j in np.flatnonzero(self.mixing[i])]
                for i in range(self.m)]


def main(forms, set_threads=lambda threads: None):
    """Run a peer: forms[name](instance) gives the object described above."""
    parser = argparse.ArgumentParser()
    for name in ("data", "edges", "start"):
        parser.add_argument("--" + name, required=True)
    for name in ("agents", "samples", "q", "batch", "iterations"):
        parser.add_argument("--" + name, type=int, required=True)
    for name in ("nu", "eta", "tau", "alpha"):
        parser.add_argument("--" + name, type=float, required=True)
    parser.add_argument("--labels", help="IDX labels; the data are IDX images then")
    parser.add_argument("--form", choices=sorted(forms), required=True)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--model", help="where to write x and y of all agents after one repeat")
    options = parser.parse_args()
    set_threads(options.threads)
    instance = Instance(options)
    times = []
    for _ in range(options.repeats):
        peer = forms[options.form](instance)
        begin = time.perf_counter()
        for t in range(options.iterations):
            peer.step(t)
        times.append((time.perf_counter() - begin) / options.iterations)
    if options.model:
        np.savez(options.model, x=np.stack([*peer.x]), y=np.stack([*peer.y]))
    print(json.dumps({"seconds_per_iteration": float(np.median(times)),
                      "best_seconds_per_iteration": min(times),
                      "seconds_per_iteration_of_repeats": times}))
