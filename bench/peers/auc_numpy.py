#!/usr/bin/env python3
"""PRECISION on AUC maximization by a network with one hidden layer, with NumPy.

All agents are stacked; products over agents are batched (numpy.matmul). An agent's x is
W1 (inputs by hidden), b1, w2, b2, c1, c2; y is one number.
"""
import numpy as np

import instance

HIDDEN = 64


class Stacked:
    def __init__(self, given):
        self.given, m, n = given, given.m, given.n
        self.rows = given.rows.reshape(m, n, -1)
        self.positive = (given.label > 0).reshape(m, n)
        self.share = self.positive.mean(axis=1).mean()
        self.agent = np.arange(m)[:, None]
        self.x, self.y = np.tile(given.x0, (m, 1)), np.tile(given.y0, (m, 1))
        self.v, self.u = self.gradient(self.rows, self.positive, self.x, self.y)
        self.p, self.d = self.v.copy(), self.u.copy()

    def gradient(self, rows, positive, x, y):
        m, count, inputs = rows.shape
        r, cut = self.share, inputs * HIDDEN
        w1 = x[:, :cut].reshape(m, inputs, HIDDEN)
        w2 = x[:, cut + HIDDEN:cut + 2 * HIDDEN]
        hidden = rows @ w1
        hidden += x[:, None, cut:cut + HIDDEN]
        np.maximum(hidden, 0.0, out=hidden)
        h = (hidden @ w2[:, :, None])[:, :, 0] + x[:, -3:-2]
        side = np.where(positive, r - 1.0, r)
        pull = 2.0 * np.abs(side) * (h - np.where(positive, x[:, -2:-1], x[:, -1:]))
        slope = (pull + 2.0 * (1.0 + y) * side) / count
        gx = np.empty_like(x)
        back = (slope[:, :, None] * w2[:, None, :]) * (hidden > 0.0)
        np.matmul(rows.transpose(0, 2, 1), back, out=gx[:, :cut].reshape(m, inputs, HIDDEN))
        gx[:, cut:cut + HIDDEN] = back.sum(axis=1)
        gx[:, cut + HIDDEN:cut + 2 * HIDDEN] = (slope[:, None, :] @ hidden)[:, 0]
        gx[:, -3] = slope.sum(axis=1)
        gx[:, -2] = -np.where(positive, pull, 0.0).sum(axis=1) / count
        gx[:, -1] = -np.where(positive, 0.0, pull).sum(axis=1) / count
        gy = (2.0 * (side * h).sum(axis=1) / count)[:, None] - 2.0 * r * (1.0 - r) * y
        return gx, gy

    def difference(self, x1, y1, x0, y0):
        batch = self.given.draw()
        rows, positive = self.rows[self.agent, batch], self.positive[self.agent, batch]
        dx, dy = self.gradient(rows, positive, x1, y1)
        gx, gy = self.gradient(rows, positive, x0, y0)
        dx -= gx
        dy -= gy
        return dx, dy

    def step(self, t):
        g, x, y = self.given, self.x, self.y
        # X and Y are whole spaces: the steps towards x~ and y~ are -p / tau and alpha d.
        x1 = g.mixing @ x
        x1 -= (g.nu / g.tau) * self.p
        y1 = g.mixing @ y
        y1 += (g.eta * g.alpha) * self.d
        if (t + 1) % g.q == 0:
            v, u = self.gradient(self.rows, self.positive, x1, y1)
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
    instance.main({"stacked": Stacked})
