"""Prox-DSGDA of Liu, Zhang, Lu, Liu 2023, section 4, in NumPy.

The built-in version is `algorithm="prox-dsgda"`. Gradients, mixing and projections, whose sums can
be rounded in several ways, are computed by the library in both versions. NumPy does the rest entry
by entry, and IEEE arithmetic rounds +, -, * and / in one way only. Therefore the iterates agree in
all bits.
"""

import numpy as np

import saddle


class ProxDSGDA(saddle.Algorithm):
    """Mini-batch gradients of each agent's own samples, without tracking."""

    kept = {"v": "x", "u": "y"}
    options = ("nu", "eta", "tau", "alpha", "batch", "sampling")
    traits = {"stochastic": True}

    def start(self, agent, x0, y0):
        agent.kept.v, agent.kept.u = agent.gradient(x0, y0, agent.draw())
        return x0, y0

    def step(self, agent):
        x, y = agent.now.x, agent.now.y
        x_tilde = agent.prox_x(x - agent.kept.v / self.tau, 1 / self.tau)
        y_tilde = agent.project_y(y + self.alpha * agent.kept.u)
        x1 = agent.mix("x") + self.nu * (x_tilde - x)
        y1 = agent.mix("y") + self.eta * (y_tilde - y)
        agent.kept.v, agent.kept.u = agent.gradient(x1, y1, agent.draw())
        return x1, y1


def main():
    """Compares it with the built-in version."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(600, 10))
    labels = np.sign(X @ generator.normal(size=10) + 0.5 * generator.normal(size=600))
    options = {"agents": 6, "topology": "ring", "iterations": 500, "x_set": "l2-ball:3"}
    both = ["prox-dsgda", ProxDSGDA()]
    c = saddle.compare("robust-logistic", (X, labels), algorithms=both, **options)
    built_in, mine = (results[0] for results in c.values())
    for name in ("ifo", "rounds", "messages", "bytes"):
        assert np.array_equal(mine.trace[name], built_in.trace[name]), name
    assert np.array_equal(mine.x_agents, built_in.x_agents)
    assert np.array_equal(mine.y_agents, built_in.y_agents)
    print(c)


if __name__ == "__main__":
    main()
