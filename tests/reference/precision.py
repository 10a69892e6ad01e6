#!/usr/bin/env python3
"""PRECISION with q = 1 on robust-logistic, slow and obvious, directly from the published rules.

With q = 1 every estimate is the exact local gradient, so that nothing is random. Agents hold
consecutive rows of a LIBSVM file, start at a constant, and mix with I - 2/(3 lambda_max) L over a
given edge list. Written with NumPy alone and without a look at the C code's structure: dense
matrices, stacked agents, one matrix product for the mixing.

Prints a trace with the columns of `saddle run --trace`; seconds are 0.
"""
import argparse

import numpy as np

COLUMNS = ("iteration ifo rounds messages bytes seconds loss primal metric x_stationarity "
           "x_consensus y_consensus y_gap stationarity potential").split()


def read_libsvm(path, rows):
    """Returns the first `rows` rows of the file, with all features of the complete file."""
    entries, labels, features = [], [], 0
    with open(path, encoding="ascii") as file:
        for number, line in enumerate(file):
            words = line.split()
            pairs = [word.split(":") for word in words[1:]]
            features = max([features] + [int(index) for index, _ in pairs])
            if number < rows:
                labels.append(float(words[0]))
                entries.append([(int(index) - 1, float(value)) for index, value in pairs])
    if len(labels) < rows:
        raise SystemExit(f"{path} has {len(labels)} rows; {rows} are needed")
    matrix = np.zeros((rows, features))
    for row, pairs in enumerate(entries):
        for column, value in pairs:
            matrix[row, column] = value
    return matrix, np.where(np.array(labels) > 0, 1.0, -1.0)


def laplacian_mixing(path, agents):
    laplacian = np.zeros((agents, agents))
    edges = 0
    with open(path, encoding="ascii") as file:
        for line in file:
            i, j = map(int, line.split())
            laplacian[i, j] = laplacian[j, i] = -1.0
            edges += 1
    np.fill_diagonal(laplacian, -laplacian.sum(axis=1))
    largest = np.linalg.eigvalsh(laplacian)[-1]
    return np.eye(agents) - 2.0 / (3.0 * largest) * laplacian, edges


class RobustLogistic:
    """f_ij = y_j log(1 + exp(-b a'x)) - (lambda1/2) |n y - 1|^2 + g(x), X = [0,10]^d, Y = [0,10]^n."""

    def __init__(self, matrix, labels, agents, samples):
        self.n = samples
        self.lambda1, self.lambda2, self.c = 1.0 / samples**2, 1e-3, 10.0
        self.parts = [(matrix[i * samples:(i + 1) * samples], labels[i * samples:(i + 1) * samples])
                      for i in range(agents)]
        self.row_norm = max(np.sqrt((a * a).sum(axis=1)).max() for a, _ in self.parts)

    def losses(self, i, x):
        a, b = self.parts[i]
        return np.logaddexp(0.0, -b * (a @ x))

    def g(self, x):
        return self.lambda2 * np.sum(self.c * x**2 / (1.0 + self.c * x**2))

    def value(self, i, x, y):
        penalty = self.lambda1 / 2.0 * np.sum((self.n * y - 1.0)**2)
        return np.mean(y * self.losses(i, x)) - penalty + self.g(x)

    def gradient(self, i, x, y):
        a, b = self.parts[i]
        z = -b * (a @ x)
        slope = np.exp(-np.logaddexp(0.0, -z))  # 1 / (1 + exp(-z))
        gx = a.T @ (-b * y * slope) / self.n
        gx += self.lambda2 * 2.0 * self.c * x / (1.0 + self.c * x**2)**2
        gy = self.losses(i, x) / self.n - self.lambda1 * self.n * (self.n * y - 1.0)
        return gx, gy

    def best_response(self, x):
        mean = sum(self.losses(i, x) for i in range(len(self.parts))) / len(self.parts)
        return np.clip(1.0 / self.n + mean / (self.lambda1 * self.n**3), 0.0, 10.0)

    def constants(self):
        """mu = lambda1 n^2; L bounds the Hessian by the 2x2 matrix of its blocks' bounds."""
        mu = self.lambda1 * self.n**2
        xx = 10.0 * self.row_norm**2 / 4.0 + 2.0 * self.lambda2 * self.c
        blocks = np.array([[xx, self.row_norm], [self.row_norm, mu]])
        return np.linalg.eigvalsh(blocks)[-1], mu


def observe(problem, steps, t, edges, x, y):
    m, x_dim, y_dim = len(x), x.shape[1], y.shape[1]
    xbar, ybar = x.mean(axis=0), y.mean(axis=0)
    best = problem.best_response(xbar)
    x_consensus = np.sum((x - xbar)**2)
    y_consensus = np.sum((y - ybar)**2)
    y_gap = np.sum((best - ybar)**2)
    slope = np.mean([problem.gradient(i, xbar, ybar)[0] for i in range(m)], axis=0)
    x_tilde = np.clip(xbar - slope / steps.tau, 0.0, 10.0)
    x_stationarity = m * np.sum((x_tilde - xbar)**2)
    loss = np.mean([problem.value(i, xbar, ybar) for i in range(m)])
    primal = np.mean([problem.value(i, xbar, best) for i in range(m)])
    lipschitz, mu = problem.constants()
    beta = min(steps.tau / 12.0, 1.0 / 3.0)
    consensus = (x_consensus + y_consensus) / m
    potential = (primal + 4.0 * steps.nu * lipschitz**2 / (beta * mu * steps.eta**2) * y_gap
                 + consensus)
    return [t, (t + 1) * m * problem.n, t, t * 2 * edges, t * 2 * edges * 8 * 2 * (x_dim + y_dim),
            0, loss, primal, x_stationarity + x_consensus + y_consensus + y_gap, x_stationarity,
            x_consensus, y_consensus, y_gap, consensus + y_gap + np.sum(slope**2), potential]


def run(steps):
    matrix, labels = read_libsvm(steps.data, steps.agents * steps.samples)
    mixing, edges = laplacian_mixing(steps.edges, steps.agents)
    problem = RobustLogistic(matrix, labels, steps.agents, steps.samples)
    agents = range(steps.agents)

    def estimates(x, y):
        pairs = [problem.gradient(i, x[i], y[i]) for i in agents]
        return np.array([gx for gx, _ in pairs]), np.array([gy for _, gy in pairs])

    x = np.full((steps.agents, matrix.shape[1]), np.clip(steps.start, 0.0, 10.0))
    y = np.full((steps.agents, steps.samples), np.clip(steps.start, 0.0, 10.0))
    v, u = estimates(x, y)
    p, d = v.copy(), u.copy()
    print(",".join(COLUMNS))
    for t in range(steps.iterations + 1):
        if t % steps.trace_every == 0 or t == steps.iterations:
            row = observe(problem, steps, t, edges, x, y)
            print(",".join(str(cell) if isinstance(cell, int) else f"{cell:.17g}" for cell in row))
        x_tilde = np.clip(x - p / steps.tau, 0.0, 10.0)
        y_tilde = np.clip(y + steps.alpha * d, 0.0, 10.0)
        x, y = mixing @ x + steps.nu * (x_tilde - x), mixing @ y + steps.eta * (y_tilde - y)
        v_next, u_next = estimates(x, y)
        p, d = mixing @ p + v_next - v, mixing @ d + u_next - u
        v, u = v_next, u_next


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="LIBSVM file")
    parser.add_argument("--edges", required=True, help="edge list, agents numbered from 0")
    parser.add_argument("--agents", type=int, required=True)
    parser.add_argument("--samples", type=int, required=True, help="rows of each agent")
    parser.add_argument("--iterations", type=int, required=True)
    parser.add_argument("--trace-every", type=int, default=1)
    parser.add_argument("--start", type=float, required=True, help="every entry of x and y")
    for name in ("nu", "eta", "tau", "alpha"):
        parser.add_argument("--" + name, type=float, required=True)
    run(parser.parse_args())


if __name__ == "__main__":
    main()
