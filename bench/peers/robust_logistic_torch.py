#!/usr/bin/env python3
"""PRECISION on robust logistic regression with PyTorch, in two forms.

`agents` is the algorithm as it is published, "at agent i": a loop over agents, each with its own
vectors and data, which reads its neighbours' vectors. `stacked` is what only a simulation can do:
all agents' vectors are rows of one tensor, and products are batched over agents.

PyTorch cannot select rows of a sparse CSR tensor, and with 123 features dense rows (32 MB at the
paper's size) are what its user would take. They are multiplied by -label in advance.
"""
import torch

import instance

LAMBDA2, C = 1e-3, 10.0


def regularizer_slope(x):
    return 2.0 * LAMBDA2 * C * x / (1.0 + C * x * x)**2


def softplus(z):
    return torch.nn.functional.softplus(z, threshold=1e9)


class PerAgent:
    def __init__(self, given):
        self.given, self.near = given, given.neighbours()
        rows = torch.from_numpy(given.rows.toarray()) * -torch.from_numpy(given.label)[:, None]
        self.rows = [rows[given.agent_rows(i)] for i in range(given.m)]
        x0, y0 = torch.from_numpy(given.x0), torch.from_numpy(given.y0)
        self.x = [x0.clone() for _ in range(given.m)]
        self.y = [y0.clone() for _ in range(given.m)]
        self.v, self.u = map(list, zip(*[self.gradient(i, x0, y0) for i in range(given.m)]))
        self.p, self.d = [v.clone() for v in self.v], [u.clone() for u in self.u]

    def gradient(self, i, x, y):
        n = self.given.n
        z = self.rows[i] @ x
        gx = ((y * torch.sigmoid(z)) @ self.rows[i]).div_(n).add_(regularizer_slope(x))
        gy = softplus(z).div_(n).sub_(y).add_(1.0 / n)  # lambda1 n^2 = 1
        return gx, gy

    def difference(self, i, x1, y1, x0, y0):
        b = self.given.batch
        batch = torch.from_numpy(self.given.draw_one())
        rows = self.rows[i][batch]
        z = rows @ torch.stack((x1, x0), dim=1)
        slope, loss = torch.sigmoid(z), softplus(z)
        along = y1[batch] * slope[:, 0] - y0[batch] * slope[:, 1]
        dx = (along @ rows).div_(b).add_(regularizer_slope(x1)).sub_(regularizer_slope(x0))
        dy = y0 - y1
        dy.index_add_(0, batch, (loss[:, 0] - loss[:, 1]).div_(b))
        return dx, dy

    def mix(self, i, vectors):
        (j, weight), *others = self.near[i]
        out = vectors[j] * weight
        for j, weight in others:
            out.add_(vectors[j], alpha=weight)
        return out

    def step_of(self, i, t):
        g, x, y = self.given, self.x[i], self.y[i]
        x_tilde = torch.sub(x, self.p[i], alpha=1.0 / g.tau).clamp_(0.0, 10.0)
        y_tilde = torch.add(y, self.d[i], alpha=g.alpha).clamp_(0.0, 10.0)
        x1 = self.mix(i, self.x).add_(x_tilde.sub_(x), alpha=g.nu)
        y1 = self.mix(i, self.y).add_(y_tilde.sub_(y), alpha=g.eta)
        if (t + 1) % g.q == 0:
            v, u = self.gradient(i, x1, y1)
            dx, dy = v - self.v[i], u - self.u[i]
            self.v[i], self.u[i] = v, u
        else:
            dx, dy = self.difference(i, x1, y1, x, y)
            self.v[i].add_(dx)
            self.u[i].add_(dy)
        return x1, y1, self.mix(i, self.p).add_(dx), self.mix(i, self.d).add_(dy)

    @torch.no_grad()
    def step(self, t):
        stepped = [self.step_of(i, t) for i in range(self.given.m)]
        self.x, self.y, self.p, self.d = map(list, zip(*stepped))


class Stacked:
    def __init__(self, given):
        self.given, m, n = given, given.m, given.n
        rows = torch.from_numpy(given.rows.toarray()) * -torch.from_numpy(given.label)[:, None]
        self.rows = rows.reshape(m, n, -1)
        self.mixing = torch.from_numpy(given.mixing)
        self.agent = torch.arange(m)[:, None]
        self.x = torch.from_numpy(given.x0).repeat(m, 1)
        self.y = torch.from_numpy(given.y0).repeat(m, 1)
        self.v, self.u = self.gradient(self.x, self.y)
        self.p, self.d = self.v.clone(), self.u.clone()

    def gradient(self, x, y):
        n = self.given.n
        z = torch.bmm(self.rows, x[:, :, None])[:, :, 0]
        along = y * torch.sigmoid(z)
        gx = torch.bmm(along[:, None, :], self.rows)[:, 0] / n + regularizer_slope(x)
        gy = softplus(z).div_(n).sub_(y).add_(1.0 / n)  # lambda1 n^2 = 1
        return gx, gy

    def difference(self, x1, y1, x0, y0):
        b = self.given.batch
        batch = torch.from_numpy(self.given.draw())
        rows = self.rows[self.agent, batch]
        z = torch.bmm(rows, torch.stack((x1, x0), dim=2))
        slope, loss = torch.sigmoid(z), softplus(z)
        along = y1.gather(1, batch) * slope[:, :, 0] - y0.gather(1, batch) * slope[:, :, 1]
        dx = torch.bmm(along[:, None, :], rows)[:, 0].div_(b)
        dx.add_(regularizer_slope(x1)).sub_(regularizer_slope(x0))
        dy = y0 - y1
        dy.scatter_add_(1, batch, (loss[:, :, 0] - loss[:, :, 1]).div_(b))
        return dx, dy

    @torch.no_grad()
    def step(self, t):
        g, x, y = self.given, self.x, self.y
        x_tilde = torch.sub(x, self.p, alpha=1.0 / g.tau).clamp_(0.0, 10.0)
        y_tilde = torch.add(y, self.d, alpha=g.alpha).clamp_(0.0, 10.0)
        x1 = torch.addmm(x_tilde.sub_(x), self.mixing, x, beta=g.nu)
        y1 = torch.addmm(y_tilde.sub_(y), self.mixing, y, beta=g.eta)
        if (t + 1) % g.q == 0:
            v, u = self.gradient(x1, y1)
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
    instance.main({"agents": PerAgent, "stacked": Stacked}, torch.set_num_threads)
