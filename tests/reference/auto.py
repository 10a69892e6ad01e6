"""Checks what docs/theory.md proves about PRECISION-auto, with constant steps, on random problems and networks.

    auto.py linear      exact gradients: the inequalities at every iteration, and the rate against that of the
                        iteration's matrix
    auto.py rates       the closed form of the rate against the matrix of these inequalities
    auto.py modes       when one mode of a quadratic converges
    auto.py descent     estimates with errors: the inequalities at every iteration, with nonconvex F
    auto.py gain        errors of estimates with Kalman's gain and with constant ones
    auto.py condition   measured batches in place of (8)
"""
import os
import sys

import numpy as np

import theory

SLACK = 1e-9  # of the larger side, for rounding
LONG = "SADDLE_TEST_LONG" in os.environ  # every case, as in the night


def mixing_matrix(rng, m):
    """The paper's rule on a random connected graph."""
    a = np.zeros((m, m))
    for i in range(m):
        for j in range(i):
            a[i, j] = a[j, i] = float(i == j + 1 or rng.random() < 0.3)
    laplacian = np.diag(a.sum(axis=1)) - a
    return np.eye(m) - 2 / 3 / np.linalg.eigvalsh(laplacian)[-1] * laplacian


def mixing_of_rounds(w):
    """P, the polynomial of the first K - 1 rounds, for the smallest K with c_K >= 1 / 0.3."""
    m = len(w)
    e = np.sort(np.linalg.eigvalsh(w))
    a, b = e[0], e[-2]
    if b - a < 1e-12:
        return np.eye(m)
    z = (2 - a - b) / (b - a)
    k = next(k for k in range(1, 101) if k == 100 or np.cosh(k * np.arccosh(z)) >= 1 / 0.3)
    values, vectors = np.linalg.eigh(w)
    rho = (2 * values - a - b) / (b - a)
    chebyshev = np.polynomial.chebyshev.Chebyshev.basis(k - 1)
    return vectors @ np.diag(chebyshev(rho) / chebyshev(z)) @ vectors.T


def network(rng, m):
    """W = M P, P, and the norms omega and pi of both on differences between agents."""
    if m == 1:
        return np.eye(1), np.eye(1), 0.0, 0.0
    w = mixing_matrix(rng, m)
    p = mixing_of_rounds(w)
    mean = np.full((m, m), 1 / m)
    assert np.allclose(p.sum(axis=1), 1)
    return w @ p, p, np.linalg.norm(w @ p - mean, 2), np.linalg.norm(p - mean, 2)


class Problem:
    """F_i(z) = z'H_i z / 2 + b_i'z + c (sum log cosh x - sum log cosh y) or + c sum cos x; z = (x, y)."""

    def __init__(self, rng, m, x_dim, y_dim, convex):
        n = x_dim + y_dim

        def definite(d, least):
            a = rng.standard_normal((d, d))
            return a @ a.T / d + least * np.eye(d)

        a = rng.standard_normal((x_dim, x_dim))
        a = definite(x_dim, rng.uniform(0.05, 1)) if convex else (a + a.T) / 2
        self.xx, self.yy = a, definite(y_dim, rng.uniform(0.05, 1))
        self.xy = rng.standard_normal((x_dim, y_dim)) * rng.uniform(0.1, 2)
        self.mean = np.block([[self.xx, self.xy], [self.xy.T, -self.yy]])
        h = rng.standard_normal((m, n, n)) * rng.uniform(0, 1.5)
        h = (h + h.transpose(0, 2, 1)) / 2
        self.h = h - h.mean(axis=0) + self.mean
        self.b = rng.standard_normal((m, n))
        if convex:
            self.b -= self.b.mean(axis=0)  # the solution is 0
        self.c = rng.uniform(0, 1) * rng.integers(0, 2)
        self.convex, self.x_dim, self.sign = convex, x_dim, np.array([1.0] * x_dim + [-1.0] * y_dim)

    def curve(self, z):
        if self.convex:
            return self.c * self.sign * np.tanh(z)
        return -self.c * np.where(self.sign > 0, np.sin(z), 0.0)

    def gradients(self, z):
        """Of every agent at its own point."""
        return np.einsum("ijk,ik->ij", self.h, z) + self.b + self.curve(z)

    def gradient(self, z):
        return self.mean @ z + self.b.mean(axis=0) + self.curve(z)

    def value(self, z):
        x, y = z[:self.x_dim], z[self.x_dim:]
        if self.convex:
            curve = np.log(np.cosh(x)).sum() - np.log(np.cosh(y)).sum()
        else:
            curve = np.cos(x).sum()
        return z @ self.mean @ z / 2 + self.b.mean(axis=0) @ z + self.c * curve

    def response(self, x):
        return np.linalg.solve(self.yy, self.xy.T @ x + self.b.mean(axis=0)[self.x_dim:])

    def best(self, x):
        return np.concatenate([x, self.response(x)])

    def lipschitz(self, root):
        """Of all agents' gradients, with z in units `root`."""
        scaled = max(np.linalg.norm(root[:, None] * h * root, 2) for h in self.h)
        return scaled + self.c * max(root[:self.x_dim if not self.convex else None]) ** 2

    def monotonicity(self, root):
        scaled = root[:, None] * (self.sign[:, None] * self.mean) * root
        return np.linalg.eigvalsh((scaled + scaled.T) / 2)[0]


def rms(v):
    return np.sqrt((v * v).sum() / len(v))


def check(name, left, right, tightest):
    if not left <= right + SLACK * (1 + abs(right)):
        sys.exit(f"inequality ({name}) fails: {left!r} > {right!r}")
    if right > 1e-6:
        tightest[name] = max(tightest.get(name, 0.0), left / right)


def show(tightest, names):
    print("largest part of an inequality's right side that its left side reached:")
    for name in names:
        print(f"  ({name}) {tightest[name]:.3g}")
        if not tightest[name] > 0.01:
            sys.exit(f"inequality ({name}) was not tested")


def rate_matrix(ell, sigma, omega, pi):
    """The matrix R of docs/theory.md, or None without a rate."""
    k = 2 * sigma - ell ** 3 / 2
    if not (k > 0 and ell < 1):
        return None
    g = 1 / ((1 + ell) * np.sqrt(1 + ell / 2))
    f = 1 / ((1 - ell) * np.sqrt(1 - ell / 2))
    e = 2 + ell + ell ** 2
    root = np.sqrt(1 - k * g * g)
    c = max((k * g + e * f / 2) / root, np.sqrt(1 + ell / 2 + e / (1 - ell)))
    moves = np.array([ell * f, ell / (1 - ell), 1 + omega + ell / (1 - ell), 2 * pi, pi])
    return np.array([[root, c * ell ** 2, c * ell, 0, 0], moves, [0, 0, omega, 2 * pi, pi],
                     ell * moves + np.array([0, 0, 0, omega, 0]), [0, 0, 0, 1, 0]])


def radius(matrix):
    return max(abs(np.linalg.eigvals(matrix)))


def iteration_radius(p, root, w, q):
    """The spectral radius of the iteration of a quadratic, on what its invariant mean T = mean B(Z) allows."""
    m, n = p.b.shape
    b = np.zeros((m * n, m * n))
    for i in range(m):
        b[i * n:(i + 1) * n, i * n:(i + 1) * n] = root[:, None] * (p.sign[:, None] * p.h[i]) * root
    one, none = np.eye(m * n), np.zeros((m * n, m * n))
    of_y = np.kron(np.eye(m), np.diag(p.sign < 0).astype(float))
    wide, narrow = np.kron(w, np.eye(n)), np.kron(q, np.eye(n))
    z = np.hstack([wide, -(one + of_y) @ narrow, of_y])
    t = np.hstack([none, wide, none]) + b @ (z - np.hstack([one, none, none]))
    full = np.vstack([z, t, np.hstack([none, narrow, none])])
    mean = np.kron(np.full((1, m), 1 / m), np.eye(n))
    invariant = np.hstack([-mean @ b, mean, 0 * mean])
    assert np.allclose(invariant @ full, invariant, atol=1e-9)
    basis = np.linalg.svd(invariant)[2][n:].T
    return radius(basis.T @ full @ basis)


def linear():
    tightest, shares = {}, []
    for seed in range(200 if LONG else 40):
        rng = np.random.default_rng(seed)
        m, x_dim, y_dim = int(rng.integers(1, 8)), int(rng.integers(1, 5)), int(rng.integers(1, 5))
        p = Problem(rng, m, x_dim, y_dim, True)
        w, q, omega, pi = network(rng, m)
        shape = np.where(p.sign > 0, 1.0, 10 ** rng.uniform(-0.5, 0.5))

        def rates(s):
            return rate_matrix(p.lipschitz(shape * s ** 0.5), p.monotonicity(shape * s ** 0.5), omega, pi)

        steps = [s for s in 10 ** np.arange(-6, 0, 0.1) if rates(s) is not None]
        best = min(steps, key=lambda s: radius(rates(s)))
        matrix = rates(best)
        if not radius(matrix) < 1:
            sys.exit(f"no steps have a rate with seed {seed}")
        root = shape * best ** 0.5
        z = np.tile(rng.standard_normal(x_dim + y_dim) / root, (m, 1))
        b = p.sign * root * p.gradients(z * root)
        t, t_last, z_last, before = b.copy(), b.copy(), z, None
        last_t = b.copy()  # what is subtracted in the extrapolation
        of_y = p.sign < 0
        for k in range(40):
            zbar = z.mean(axis=0)
            assert np.allclose(t.mean(axis=0), b.mean(axis=0))
            point = zbar + of_y * last_t.mean(axis=0)
            energy = point @ point + p.value(point * root) - p.value(0 * point)
            now = np.array([np.sqrt(energy), rms(z - z_last), rms(z - zbar), rms(t - t.mean(axis=0)),
                            rms(t_last - t_last.mean(axis=0))])
            if k > 1:
                for name, left, right in zip(["N", "M", "c", "k"], now, matrix @ before):
                    check(name, left, right, tightest)
            before = now
            move = q @ t + of_y * (q @ t - last_t)
            z_last, t_last, last_t = z, t, q @ t
            z = w @ z - move
            b_next = p.sign * root * p.gradients(z * root)
            t, b = w @ t + b_next - b, b_next
        if p.c == 0:
            true = iteration_radius(p, root, w, q)
            check("rate", 1 - radius(matrix), 1 - true, tightest)
            shares.append((1 - radius(matrix)) / (1 - true))
    show(tightest, ["N", "M", "c", "k", "rate"])
    print(f"the rate is {min(shares):.2f} to {max(shares):.2f} of that of the iteration, {np.median(shares):.2f} in "
          f"the median of {len(shares)} quadratics")


def rates():
    """With l <= g^2/40 and 40 l^3 <= sigma g^2, g = 1 - omega, R v <= (1 - sigma/2) v."""
    closest = -np.inf
    for gap in np.linspace(0.02, 1, 50):
        for ell in gap ** 2 / 40 * np.array([1, 0.7, 0.3, 0.1, 0.03]):
            for sigma in np.linspace(40 * ell ** 3 / gap ** 2, ell, 9):
                matrix = rate_matrix(ell, sigma, 1 - gap, 1.0)
                v = np.array([1, 1.5 * ell, 5 * (ell / gap) ** 2, 1.6 * ell ** 2 / gap, 1.65 * ell ** 2 / gap])
                closest = max(closest, ((matrix @ v / v - 1) / sigma).max())
    print(f"R v <= (1 - {-closest:.3f} sigma) v")
    if not closest <= -0.5:
        sys.exit("docs/theory.md says sigma / 2")
    # omega <= b / c_(K-1) for the eigenvalues from 1/3 to b of the paper's rule.
    worst = 0.0
    for b in 1 / 3 + 2 / 3 * (1 - 10 ** -np.linspace(0.001, 3.5, 2000)):
        z = (5 / 3 - b) / (b - 1 / 3)
        k = np.ceil(np.arccosh(1 / 0.3) / np.arccosh(z))
        worst = max(worst, b / np.cosh((k - 1) * np.arccosh(z)))
    print(f"omega is at most {worst:.2f}")
    if not worst <= 0.65:
        sys.exit("docs/theory.md says 0.65")


def modes():
    """Of x+ = x - h x - r y, y+ = y + 2 (r x - m y) - (r x_ - m y_)."""
    rng = np.random.default_rng(1)
    stable = 0
    trials = 20000 if LONG else 4000
    for _ in range(trials):
        h, m = 10 ** rng.uniform(-4, -0.5, 2)
        r = rng.uniform(0, 0.7)
        # The third variable is r x - m y of the last iteration.
        step = np.array([[1 - h, -r, 0], [2 * r, 1 - 2 * m, -1], [r, -m, 0]])
        converges = radius(step) < 1
        left = r ** 4 + h * r * r + 2 * m * h * r * r + m * h * h + m * m * h * h
        right = h + m + h * m + m * m
        if abs(left / right - 1) > 1e-6:
            assert converges == (left < right), (h, m, r)
        stable += converges
    print(f"{stable} of {trials} modes converge")
    assert 0.1 * trials < stable < 0.9 * trials


def descent():
    tightest = {}
    for seed in range(200 if LONG else 40):
        rng = np.random.default_rng(seed)
        m, x_dim, y_dim = int(rng.integers(1, 8)), int(rng.integers(1, 5)), int(rng.integers(1, 5))
        p = Problem(rng, m, x_dim, y_dim, False)
        w, q, omega, pi = network(rng, m)
        gap = 1 - omega
        auto = seed % 2  # PRECISION+ has one round and does not extrapolate
        if not auto and m > 1:
            w = mixing_matrix(rng, m)
            q, pi = np.eye(m), 1.0
            gap = 1 - np.linalg.norm(w - 1 / m, 2)
        mu, yy = np.linalg.eigvalsh(p.yy)[[0, -1]]
        xx, xy = np.linalg.norm(p.xx, 2) + p.c, np.linalg.norm(p.xy, 2)
        a = rng.uniform(0.05, 0.9) / yy
        s = rng.uniform(0.1, 1) * min(0.01 / xx, a * mu ** 2 / (50 * xy ** 2))
        root = np.where(p.sign > 0, s ** 0.5, a ** 0.5)
        shorter = min(1.0, gap ** 2 / 12 / p.lipschitz(root))
        s, a, root = s * shorter, a * shorter, root * shorter ** 0.5
        s = min(s, a * mu ** 2 / (50 * xy ** 2))
        root = np.where(p.sign > 0, s ** 0.5, a ** 0.5)
        ell = p.lipschitz(root)
        xx, yy, mu, xy2 = s * xx, a * yy, a * mu, s * a * xy ** 2
        b = max(0.1, mu / 2)
        of_x, of_y = 0.5 - 1.5 * xx - xy2 / mu - xy2 / mu ** 2, 0.5 - yy / 2
        of_gap, of_error = mu / 2 - (1 + 1 / b) * xy2 / mu, (1 + b) / 2
        assert min(of_x, of_y, of_gap) > 0
        noise = rng.choice([0.0, 0.3])
        z = np.tile(rng.standard_normal(x_dim + y_dim) / root, (m, 1))
        error = np.zeros_like(z)
        v = p.sign * root * p.gradients(z * root)
        t, last_t, last_error = v.copy(), v.copy(), error
        k0 = rms(t - t.mean(axis=0))
        sums = dict.fromkeys(["moved", "off", "noise", "e", "c", "slopes"], 0.0)

        def potential(zbar):
            return 2 * p.value(p.best((zbar * root)[:x_dim])) - p.value(zbar * root)

        start = potential(z.mean(axis=0))
        of_ys = auto * (p.sign < 0)
        for k in range(120):
            zbar = z.mean(axis=0)
            best = p.best((zbar * root)[:x_dim])
            z_next = w @ z - (q @ t + of_ys * (q @ t - last_t))
            moved = z_next.mean(axis=0) - zbar
            off = -moved - p.sign * root * p.gradient(zbar * root)
            slope2 = s * (p.gradient(best)[:x_dim] ** 2).sum()
            falls = (slope2 / 2 + of_x * (moved[:x_dim] ** 2).sum() + of_y * (moved[x_dim:] ** 2).sum()
                     + of_gap * (p.value(best) - p.value(zbar * root)))
            check("one iteration", falls, potential(zbar) - potential(z_next.mean(axis=0)) + of_error * (off @ off),
                  tightest)
            mean_error = error.mean(axis=0)
            added = mean_error + of_ys * (mean_error - last_error.mean(axis=0))
            for name, number in [("moved", moved @ moved), ("off", off @ off), ("noise", added @ added),
                                 ("e", rms(error) ** 2), ("c", rms(z - zbar) ** 2), ("slopes", slope2)]:
                sums[name] += number
            roots = {name: np.sqrt(number) for name, number in sums.items()}
            check("agents", roots["c"], 8 / gap ** 2 * k0 + 6 * ell / gap ** 2 * roots["moved"]
                  + 12 / gap ** 2 * roots["e"], tightest)
            check("errors", roots["off"], roots["noise"] + 36 * ell / gap ** 2 * roots["e"]
                  + 2.5 * ell * roots["moved"] + 24 * ell / gap ** 2 * k0, tightest)
            last_error = error
            error = error + noise * rng.standard_normal(z.shape) * np.linalg.norm(moved) if k % 5 else 0 * error
            v_next = p.sign * root * p.gradients(z_next * root) + error
            last_t, t, v, z = q @ t, w @ t + v_next - v, v_next, z_next
        check("all iterations", sums["slopes"] / 2 + min(of_x, of_y) * sums["moved"],
              start - potential(z.mean(axis=0)) + of_error * sums["off"], tightest)
    show(tightest, ["one iteration", "agents", "errors", "all iterations"])


def gain():
    """Mean squared errors over draws along random paths: f_j(w) = w'H_j w / 2 + b_j'w."""
    draws, iterations, n, batch, d = (20000 if LONG else 4000), 40, 40, 5, 3
    for seed in range(4):
        rng = np.random.default_rng(seed)
        h = rng.standard_normal((n, d, d)) * 0.5 + np.eye(d)
        b = rng.standard_normal((n, d)) * 10 ** rng.uniform(-0.5, 0.5)
        path = np.cumsum(rng.standard_normal((iterations + 1, d)) * 10 ** rng.uniform(-1.5, -0.5), axis=0)
        gradient = np.einsum("jkl,tl->tjk", h, path) + b
        constants = np.append(np.linspace(0, 1, 21), np.nan)  # NaN: the gain
        for same in (False, True):
            v = np.tile(gradient[0].mean(axis=0), (len(constants), draws, 1))
            kept, error, worst = 0.0, np.zeros(len(constants)), 0.0
            rest = (1 / batch - 1 / n) * n / (n - 1)
            for t in range(iterations):
                change = gradient[t + 1] - gradient[t]
                of_change, of_gradient = change - change.mean(axis=0), gradient[t + 1] - gradient[t + 1].mean(axis=0)
                before = kept + rest * (of_change ** 2).sum() / n
                of_batch = rest * (of_gradient ** 2).sum() / n
                both = rest * (of_change * of_gradient).sum() / n if same else 0.0
                k = before / (before + of_batch)
                kept = (1 - k) * before + 2 * k * (1 - k) * both
                # The scalar optimum, against a fine grid and with the batch of the differences.
                grid = np.linspace(0, 1, 100001)
                after = (1 - grid) ** 2 * before + 2 * grid * (1 - grid) * both + grid ** 2 * of_batch
                best = (before - both) / (before + of_batch - 2 * both)
                excess = (both * (of_batch - before) / (before + of_batch)) ** 2 / (before + of_batch - 2 * both)
                assert abs(grid[after.argmin()] - np.clip(best, 0, 1)) < 2e-5
                if 0 <= best <= 1:
                    assert abs(kept - excess - after.min()) < 1e-9 * (before + of_batch)
                rows = np.argsort(rng.random((draws, n)), axis=1)
                first, second = rows[:, :batch], rows[:, :batch]
                if not same:
                    second = np.argsort(rng.random((draws, n)), axis=1)[:, :batch]
                sum_of = v + change[first].mean(axis=1)
                mean_of = gradient[t + 1][second].mean(axis=1)
                weight = np.where(np.isnan(constants), k, constants)[:, None, None]
                v = sum_of + weight * (mean_of - sum_of)
                error = ((v - gradient[t + 1].mean(axis=0)) ** 2).sum(axis=2)
                spread = error.std(axis=1) / np.sqrt(draws)
                error = error.mean(axis=1)
                if not abs(error[-1] - kept) < 6 * spread[-1]:
                    sys.exit(f"the errors are {error[-1]}, not {kept}")
                for j, constant in enumerate(constants[:-1]):
                    if not same and not error[-1] < error[j] + 6 * (spread[j] + spread[-1]):
                        sys.exit(f"a gain of {constant} is better in iteration {t}")
                worst = max(worst, error[-1] / error[:-1].min())
            print(f"seed {seed}, {'one batch' if same else 'two batches'}: gain {k:.2f} at the end, error "
                  f"{error[-1]:.3g}; best constant {constants[error[:-1].argmin()]:.2f}, {error[:-1].min():.3g}; at "
                  f"most {worst:.2f} times that of the best")


def condition():
    """The bound of errors by movement in place of (8): no steps satisfy the theorem's condition with theta = 1/2."""
    least = np.inf
    for mu in (1.0, 0.3):
        for nu in 10 ** np.arange(-12, 0, 1.0):
            for eta in 10 ** np.arange(-8, 0, 1.0):
                for tau in 10 ** np.arange(-1, 8, 1.0):
                    made = theory.system(1.0, mu, 1 / 3, 4, tau, 1.0, nu, eta, 20, 20, np.inf, 0.5 / (1 / 4 + 2 / 20))
                    if made is not None:
                        least = min(least, radius(made[0]))
    print(f"the spectral radius is at least {least:.3g}")
    if not least >= (36 * 0.5 / 1.4) ** 0.25:
        sys.exit("docs/theory.md says that a cycle has this gain")


if __name__ == "__main__":
    parts = {f.__name__: f for f in (linear, rates, modes, descent, gain, condition)}
    if len(sys.argv) != 2 or sys.argv[1] not in parts:
        sys.exit(__doc__)
    parts[sys.argv[1]]()
