#!/usr/bin/env python3
"""PRECISION on robust logistic regression with NumPy and SciPy, in two forms.

`agents` is the algorithm as it is published, "at agent i": a loop over agents, each with its own
vectors and its own CSR matrix, which reads its neighbours' vectors.

`stacked` is what only a simulation can do: all agents' vectors are rows of one array, and their data
one block-diagonal CSR matrix, so that one sparse product serves all agents, one selection of rows
makes all mini-batches, and mixing is a product with M.

Rows are multiplied by -label in advance.
"""
import numpy as np
import scipy.sparse
from scipy.special import expit

import instance

LAMBDA2, C = 1e-3, 10.0


def regularizer_slope(x):
    return 2.0 * LAMBDA2 * C * x / (1.0 + C * x * x)**2


class PerAgent:
    def __init__(self, given):
        self.given, self.near = given, given.neighbours()
        rows = scipy.sparse.diags(-given.label) @ given.rows.tocsr()
        self.rows = [rows[given.agent_rows(i)] for i in range(given.m)]
        self.x = [given.x0.copy() for _ in range(given.m)]
        self.y = [given.y0.copy() for _ in range(given.m)]
        self.v, self.u = zip(*[self.gradient(i, given.x0, given.y0) for i in range(given.m)])
        self.v, self.u = list(self.v), list(self.u)
        self.p, self.d = [v.copy() for v in self.v], [u.copy() for u in self.u]

    def gradient(self, i, x, y):
        n = self.given.n
        z = self.rows[i] @ x
        gx = self.rows[i].T @ (y * expit(z)) / n + regularizer_slope(x)
        gy = np.logaddexp(0.0, z) / n
        gy -= y - 1.0 / n  # lambda1 n^2 = 1
        return gx, gy

    def difference(self, i, x1, y1, x0, y0):
        batch = self.given.draw_one()
        rows = self.rows[i][batch]
        z1, z0 = rows @ x1, rows @ x0
        along = y1[batch] * expit(z1) - y0[batch] * expit(z0)
        dx = rows.T @ along / self.given.batch + regularizer_slope(x1) - regularizer_slope(x0)
        dy = y0 - y1
        dy[batch] += (np.logaddexp(0.0, z1) - np.logaddexp(0.0, z0)) / self.given.batch
        return dx, dy

    def mix(self, i, vectors):
        return sum(weight * vectors[j] for j, weight in self.near[i])

    def step_of(self, i, t):
        g, x, y = self.given, self.x[i], self.y[i]
        x1 = self.mix(i, self.x)
        x1 += g.nu * (np.clip(x - self.p[i] / g.tau, 0.0, 10.0) - x)
        y1 = self.mix(i, self.y)
        y1 += g.eta * (np.clip(y + g.alpha * self.d[i], 0.0, 10.0) - y)
        if (t + 1) % g.q == 0:
            v, u = self.gradient(i, x1, y1)
            dx, dy = v - self.v[i], u - self.u[i]
            self.v[i], self.u[i] = v, u
        else:
            dx, dy = self.difference(i, x1, y1, x, y)
            self.v[i] += dx
            self.u[i] += dy
        p1 = self.mix(i, self.p)
        p1 += dx
        d1 = self.mix(i, self.d)
        d1 += dy
        return x1, y1, p1, d1

    def step(self, t):
        stepped = [self.step_of(i, t) for i in range(self.given.m)]
        self.x, self.y, self.p, self.d = map(list, zip(*stepped))


class Stacked:
    def __init__(self, given):
        self.given, m, n = given, given.m, given.n
        rows = scipy.sparse.diags(-given.label) @ given.rows.tocsr()
        self.rows = scipy.sparse.block_diag([rows[given.agent_rows(i)] for i in range(m)], "csr")
        self.first = np.arange(m)[:, None] * n
        self.x, self.y = np.tile(given.x0, (m, 1)), np.tile(given.y0, (m, 1))
        self.v, self.u = self.gradient(self.x, self.y)
        self.p, self.d = self.v.copy(), self.u.copy()

    def gradient(self, x, y):
        n = self.given.n
        z = self.rows @ x.ravel()
        gx = (self.rows.T @ (y.ravel() * expit(z))).reshape(x.shape) / n
        gx += regularizer_slope(x)
        gy = np.logaddexp(0.0, z).reshape(y.shape) / n
        gy -= y - 1.0 / n  # lambda1 n^2 = 1
        return gx, gy

    def difference(self, x1, y1, x0, y0):
        batch = (self.given.draw() + self.first).ravel()
        rows = self.rows[batch]
        z = rows @ np.stack((x1.ravel(), x0.ravel()), axis=1)
        slope, loss = expit(z), np.logaddexp(0.0, z)
        along = y1.ravel()[batch] * slope[:, 0] - y0.ravel()[batch] * slope[:, 1]
        dx = (rows.T @ along).reshape(x1.shape) / self.given.batch
        dx += regularizer_slope(x1) - regularizer_slope(x0)
        dy = y0 - y1
        dy.ravel()[batch] += (loss[:, 0] - loss[:, 1]) / self.given.batch
        return dx, dy

    def step(self, t):
        g, x, y = self.given, self.x, self.y
        x1 = g.mixing @ x
        x1 += g.nu * (np.clip(x - self.p / g.tau, 0.0, 10.0) - x)
        y1 = g.alpha * self.d
        y1 += y
        np.clip(y1, 0.0, 10.0, out=y1)
        y1 -= y
        y1 *= g.eta
        y1 += g.mixing @ y
        if (t + 1) % g.q == 0:
            v, u = self.gradient(x1, y1)
            dx, dy = v - self.v, u - self.u
            self.v, self.u = v, u
        else:
            dx, dy = self.difference(x1, y1, x, y)
            self.v += dx
            self.u += dy
        self.p = g.mixing @ self.p
        self.p += dx
        self.d = g.mixing @ self.d
        self.d += dy
        self.x, self.y = x1, y1


if __name__ == "__main__":
    instance.main({"agents": PerAgent, "stacked": Stacked})
