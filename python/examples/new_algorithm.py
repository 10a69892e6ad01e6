# %% [markdown]
# # A new method: from the idea to a tuned comparison with PRECISION
#
# PRECISION refreshes its gradient estimates from all samples every q iterations. Here is an idea
# without refreshes: keep a moving average that is corrected for the move of the iterate, as STORM
# does (Cutkosky, Orabona, NeurIPS 2019),
#
#     v+ = g(x+; S) + (1 - a) (v - g(x; S))
#
# and track it over the network as PRECISION does. An algorithm computes what one agent does in one
# round: its next state from its own and its neighbours' states. The library exchanges the states,
# counts gradient evaluations (IFO calls), rounds and bytes, records the trace, and checks that the
# sums of the trackers equal those of the estimates.

# %%
import sys

import numpy as np

import saddle


class Storm(saddle.Algorithm):
    """Recursive momentum with gradient tracking."""

    fields = {"x": "x", "y": "y", "p": "x", "d": "y"}  # what neighbours can read
    kept = {"v": "x", "u": "y"}  # what the agent keeps private
    tracks = {"p": "v", "d": "u"}  # the sum of p over agents always equals that of v
    options = ("nu", "eta", "tau", "alpha", "batch", "sampling")  # options of the library
    traits = {"stochastic": True}
    a = 0.05  # our own parameter

    def start(self, agent, x0, y0):
        v, u = agent.gradient(x0, y0)  # over all samples of the agent
        agent.kept.v, agent.kept.u = v, u
        return x0, y0, v, u

    def step(self, agent):
        now, v, u = agent.now, agent.kept.v.copy(), agent.kept.u.copy()
        x_tilde = agent.prox_x(now.x - now.p / self.tau, 1 / self.tau)
        y_tilde = agent.project_y(now.y + self.alpha * now.d)
        x = agent.mix("x") + self.nu * (x_tilde - now.x)
        y = agent.mix("y") + self.eta * (y_tilde - now.y)
        batch = agent.draw()
        new_x, new_y = agent.gradient(x, y, batch)
        old_x, old_y = agent.gradient(now.x, now.y, batch)
        agent.kept.v = new_x + (1 - self.a) * (v - old_x)
        agent.kept.u = new_y + (1 - self.a) * (u - old_y)
        return x, y, agent.mix("p") + agent.kept.v - v, agent.mix("d") + agent.kept.u - u


# %% [markdown]
# Does it work at all? On a problem with a known solution, the gap says so.

# %%
quick = saddle.run("quadratic", algorithm=Storm(), tolerance=1e-2, topology="ring")
print(quick.summary())
assert quick.stop == "tolerance"

# %% [markdown]
# A fair comparison tunes both methods, ours with its own parameter, with the same budget of
# gradient evaluations.

# %%
generator = np.random.default_rng(0)
X = generator.normal(size=(1000, 10))
labels = np.sign(X @ generator.normal(size=10) + generator.normal(size=1000))
shared = {"agents": 5, "topology": "ring", "data_name": "noisy half-space"}
contenders = {"prox-dsgda": {}, Storm(a=0.5): {}}
for algorithm, own in ((Storm(), {"a": [0.01, 0.05, 0.2]}), ("precision", None)):
    search = saddle.tune(
        "auc", (X, labels), algorithm=algorithm, budget=500_000, search=own, **shared
    )
    contenders[algorithm] = search.best
    print(search)

# %% [markdown]
# All algorithms get the same problem, network, start and samples, for each of several seeds.
# Parameters given to the constructor make variants, each with its own name.

# %%
comparison = saddle.compare(
    "auc", (X, labels), algorithms=contenders, repeats=3, iterations=1000, **shared
)
print(comparison)

# %% [markdown]
# The cost of reaching a level of the metric: gradient evaluations, rounds, bytes, seconds. A small
# `a` averages over more iterations and comes closer to PRECISION; both beat Prox-DSGDA, whose noise
# does not shrink.

# %%
for row in comparison.costs():
    cost = f"{row['ifo']:10.0f} {row['rounds']:8.0f}" if row["reached"] else f"{'never':>10}"
    print(f"{row['level']:8.1e}  {row['algorithm']:12} {cost}")

last = {
    name: np.mean([r.trace.metric[-20:].mean() for r in results])
    for name, results in comparison.items()
}
print(last)
assert last["precision"] < last["storm"] < last["storm-a=0.5"] < last["prox-dsgda"]
assert comparison["storm"][0].trace.rounds[-1] == comparison["precision"][0].trace.rounds[-1]

# %% [markdown]
# Curves with bands over the seeds, and a page with everything, into the directory that the first
# argument names.

# %%
if len(sys.argv) > 1:
    comparison.plot(x="samples").figure.savefig(f"{sys.argv[1]}/storm.png")
    comparison.report(f"{sys.argv[1]}/storm.html")
