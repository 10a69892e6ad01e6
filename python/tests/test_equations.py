"""Published methods from the equations of their papers, with NumPy, against the built-in ones.

Full gradients make them deterministic. Vectors of all agents are the rows of a matrix, and
eigenvalues of M are numbers that a float holds exactly.
"""

import numpy as np
import pytest

import saddle

pytestmark = pytest.mark.filterwarnings("ignore:.*not solved")

AGENTS, X, Y, SAMPLES = 4, 5, 3, 2
RING = np.array([[2, 1, 0, 1], [1, 2, 1, 0], [0, 1, 2, 1], [1, 0, 1, 2]]) / 4.0
L, MU = 4.0, 1.0
LENGTHS = [1, 2, 3, 7, 60]


class Quadratic(saddle.Problem):
    """x'A_i x / 2 + x'B_i y - |y|^2 / 2 + a_ij'x + b_ij'y, strongly convex in x."""

    x_dim, y_dim, samples = X, Y, [SAMPLES] * AGENTS
    tau, alpha, lipschitz, strong_concavity = 4.0, 0.5, L, MU
    y_set: object = "l2-ball:0.25"

    def __init__(self):
        rng = np.random.default_rng(7)
        root = rng.normal(size=(AGENTS, X, X)) / 4
        self.A = root @ root.transpose(0, 2, 1) + np.eye(X)
        self.B = rng.normal(size=(AGENTS, X, Y)) / 4
        self.a = rng.normal(size=(AGENTS, SAMPLES, X))
        self.b = rng.normal(size=(AGENTS, SAMPLES, Y))

    def value(self, agent, x, y):
        linear = self.a[agent].mean(axis=0) @ x + self.b[agent].mean(axis=0) @ y
        return x @ self.A[agent] @ x / 2 + x @ self.B[agent] @ y - y @ y / 2 + linear

    def gradient(self, agent, rows, x, y):
        gx = self.A[agent] @ x + self.B[agent] @ y + self.a[agent][rows].mean(axis=0)
        gy = self.B[agent].T @ x - y + self.b[agent][rows].mean(axis=0)
        return gx, gy

    def gradients_of(self, x, y):
        """Returns the full gradients (v, u) of all agents."""
        both = [self.gradient(i, slice(None), x[i], y[i]) for i in range(AGENTS)]
        return np.array([g[0] for g in both]), np.array([g[1] for g in both])


class Free(Quadratic):
    """Without a constraint."""

    y_set = "none"


def ball(y):
    """Returns the projections onto Y."""
    size = np.linalg.norm(y, axis=1, keepdims=True)
    return np.where(size > 0.25, 0.25 * y / np.maximum(size, 1e-300), y)


def start():
    rng = np.random.default_rng(8)
    x, y = rng.normal(size=X), rng.normal(size=Y)
    return x, 0.2 * y / np.linalg.norm(y)


def check(problem, algorithm, trajectory, **options):
    """Compares a method with `trajectory`, which generates (x, y) iteration by iteration."""
    x0, y0 = start()
    expected = []
    for _ in range(max(LENGTHS)):
        expected.append(next(trajectory))
    for length in LENGTHS:
        r = saddle.run(
            problem, None, mixing=RING, algorithm=algorithm, init_x=x0, init_y=y0,
            iterations=length, gap="never", **options,
        )  # fmt: skip
        x, y = expected[length - 1]
        scale = max(np.abs(x).max(), np.abs(y).max())
        assert np.abs(r.x_agents - x).max() <= 1e-12 * scale, length
        assert np.abs(r.y_agents - y).max() <= 1e-12 * scale, length
    assert np.abs(expected[0][0] - expected[0][0].mean(axis=0)).max() > 1e-4  # agents differ
    assert np.abs(expected[-1][0] - x0).max() > 1e-2  # and move


def rows(v):
    return np.tile(v, (AGENTS, 1))


def square_root(matrix):
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T


I = np.eye(AGENTS)
FORMS = {  # A, B, C of  w+ = A (C w - eta g) - B e,  e+ = e + B w+
    "exact-diffusion": (RING, square_root(I - RING), I),
    "extra": (I, square_root(I - RING), RING),
    "tracking": (RING, I - RING, RING),
}


def dama(problem, strategy, eta_x, eta_y):
    """Cai, Alghunaim, Sayed, arXiv 2512.13920, in the form with matrices."""
    A, B, C = FORMS[strategy]
    x, y = map(rows, start())
    ex, ey = np.zeros_like(x), np.zeros_like(y)
    while True:
        v, u = problem.gradients_of(x, y)
        x, y = A @ (C @ x - eta_x * v) - B @ ex, A @ (C @ y + eta_y * u) - B @ ey
        ex, ey = ex + B @ x, ey + B @ y
        yield x, y


@pytest.mark.parametrize("strategy", FORMS)
def test_dama(strategy):
    problem = Free()
    steps = {"eta_x": 0.05, "eta_y": 0.08}
    expected = dama(problem, strategy, **steps)
    check(problem, "dama", expected, strategy=strategy, batch=SAMPLES, **steps)


def oadsvi(problem):
    """Kovalev et al., NeurIPS 2022, Algorithm 1 with its theorem's parameters; |I - M| = 1."""
    chi = 2.0  # of the ring: 1 / (1 - 1/2)
    beta = MU / L**2
    eta = 1.0 / (3.0 * L * np.sqrt(chi))
    theta = min(1.0 / (2.0 * beta), L * np.sqrt(chi) / 3.0)
    a = 1.0 - min(1.0 / (1.0 + 3.0 * L * np.sqrt(chi) / MU), 1.0 / (2.0 * chi))

    def operator(z):
        v, u = problem.gradients_of(z[:, :X], z[:, X:])
        return np.hstack([v, -u])

    x, y = start()
    z = rows(np.concatenate([x, y]))
    last = z
    e = e_last = np.zeros_like(z)
    while True:
        F = operator(z)
        delta = F + a * (F - operator(last)) - (e + a * (e - e_last))
        last, z = z, z - eta * delta
        z[:, X:] = ball(z[:, X:])
        e_last, e = e, e - theta * (I - RING) @ (z - beta * (operator(z) - e))
        yield z[:, :X], z[:, X:]


def test_oadsvi():
    problem = Quadratic()
    check(problem, "oadsvi", oadsvi(problem), steps="theory")


def vrlm(problem, eta_x, eta_y, rho):
    """Mancino-Ball, Xu, arXiv 2307.07113, with multipliers Lam of (M - I) y = 0.

    l1 = 1 and l2 = rho / eta_y; y steps from the mixed y, as in the authors' program.
    """
    x, y = map(rows, start())
    p, v_last, Lam = np.zeros_like(x), np.zeros_like(x), np.zeros_like(y)
    while True:
        v, u = problem.gradients_of(x, y)
        p, v_last = RING @ (p + v - v_last), v
        x = RING @ x - eta_x * p
        ascent = RING @ y + eta_y * (u - (RING - I) @ Lam)
        Lam = Lam + rho / eta_y * (RING - I) @ y
        y = ball(ascent)
        yield x, y


def test_vrlm():
    problem = Quadratic()
    expected = vrlm(problem, 0.05, 0.1, 0.3)
    check(problem, "vrlm", expected, eta_x=0.05, eta_y=0.1, multiplier_step=0.3, batch=SAMPLES)


def d_adast(problem, eta_x, eta_y):
    """Huang, Li, Shen, He, Xu, NeurIPS 2024, with the powers 0.6 and 0.4."""
    x, y = map(rows, start())
    a, b = np.zeros((AGENTS, 1)), np.zeros((AGENTS, 1))
    while True:
        v, u = problem.gradients_of(x, y)
        a, b = a + (v**2).sum(axis=1, keepdims=True), b + (u**2).sum(axis=1, keepdims=True)
        x = RING @ (x - eta_x * np.maximum(a, b) ** -0.6 * v)
        y = ball(RING @ (y + eta_y * b**-0.4 * u))
        a, b = RING @ a, RING @ b
        yield x, y


def test_d_adast():
    problem = Quadratic()
    expected = d_adast(problem, 0.3, 0.4)
    check(problem, "d-adast", expected, eta_x=0.3, eta_y=0.4, batch=SAMPLES)
