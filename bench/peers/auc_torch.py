#!/usr/bin/env python3
"""PRECISION on AUC maximization by a network with one hidden layer, with PyTorch.

All agents are stacked; products over agents are batched. Gradients are written out, which is faster
here than autograd. An agent's x is W1 (inputs by hidden), b1, w2, b2, c1, c2; y is one number.
"""
import torch

import instance

HIDDEN = 64
torch.set_default_dtype(torch.float64)


class Stacked:
    def __init__(self, given):
        self.given, m, n = given, given.m, given.n
        self.rows = torch.from_numpy(given.rows).reshape(m, n, -1)
        self.positive = torch.from_numpy(given.label > 0).reshape(m, n)
        self.share = float(self.positive.double().mean(dim=1).mean())
        self.mixing = torch.from_numpy(given.mixing)
        self.agent = torch.arange(m)[:, None]
        self.x = torch.from_numpy(given.x0).repeat(m, 1)
        self.y = torch.from_numpy(given.y0).repeat(m, 1)
        self.v, self.u = self.gradient(self.rows, self.positive, self.x, self.y)
        self.p, self.d = self.v.clone(), self.u.clone()

    def gradient(self, rows, positive, x, y):
        m, count, inputs = rows.shape
        r, cut = self.share, inputs * HIDDEN
        w1 = x[:, :cut].view(m, inputs, HIDDEN)
        w2 = x[:, cut + HIDDEN:cut + 2 * HIDDEN]
        hidden = torch.baddbmm(x[:, None, cut:cut + HIDDEN], rows, w1).relu_()
        h = torch.baddbmm(x[:, -3:-2, None], hidden, w2[:, :, None])[:, :, 0]
        side = torch.where(positive, r - 1.0, r)
        pull = (h - torch.where(positive, x[:, -2:-1], x[:, -1:])).mul_(side.abs()).mul_(2.0)
        slope = torch.addcmul(pull, side, 1.0 + y, value=2.0).div_(count)
        gx = torch.empty_like(x)
        back = torch.mul(slope[:, :, None], w2[:, None, :]).mul_(hidden > 0.0)
        torch.bmm(rows.transpose(1, 2), back, out=gx[:, :cut].view(m, inputs, HIDDEN))
        gx[:, cut:cut + HIDDEN] = back.sum(dim=1)
        gx[:, cut + HIDDEN:cut + 2 * HIDDEN] = torch.bmm(slope[:, None, :], hidden)[:, 0]
        gx[:, -3] = slope.sum(dim=1)
        on_positive = (pull * positive).sum(dim=1)
        gx[:, -2] = -on_positive / count
        gx[:, -1] = -(pull.sum(dim=1) - on_positive) / count
        gy = (side * h).sum(dim=1, keepdim=True).mul_(2.0 / count)
        return gx, gy.sub_(y, alpha=2.0 * r * (1.0 - r))

    def difference(self, x1, y1, x0, y0):
        batch = torch.from_numpy(self.given.draw())
        rows, positive = self.rows[self.agent, batch], self.positive.gather(1, batch)
        dx, dy = self.gradient(rows, positive, x1, y1)
        gx, gy = self.gradient(rows, positive, x0, y0)
        return dx.sub_(gx), dy.sub_(gy)

    @torch.no_grad()
    def step(self, t):
        g, x, y = self.given, self.x, self.y
        # X and Y are whole spaces: the steps towards x~ and y~ are -p / tau and alpha d.
        x1 = torch.addmm(self.p, self.mixing, x, beta=-g.nu / g.tau)
        y1 = torch.addmm(self.d, self.mixing, y, beta=g.eta * g.alpha)
        if (t + 1) % g.q == 0:
            v, u = self.gradient(self.rows, self.positive, x1, y1)
            dx, dy = v - self.v, u - self.u
            self.v, self.u = v, u
        else:
            dx, dy = self.difference(x1, y1, x, y)
            self.v.add_(dx)
            self.u.add_(dy)
        self.p = torch.addmm(dx, self.mixing, self.p)
        self.d = torch.addmm(dy, self.mixing, self.d)
        self.x, self.y = x1, y1


if __name__ == "__main__":
    instance.main({"stacked": Stacked}, torch.set_num_threads)
