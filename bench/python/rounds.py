"""rounds.py REPEATS: what Python adds to a round. Prints a JSON list of cases.

Problems whose functions do next to nothing at five agents, so that what is left is the engine and the
way into Python; and a built-in problem, run from Python, whose iterations the program's should equal.
"""
import json
import statistics
import sys
import time

import saddle

ITERATIONS = 5000


class Batched(saddle.Problem):
    x_dim, y_dim, samples = 20, 10, [200] * 5

    def gradients(self, requests):
        requests.gx.fill(0)
        requests.gy.fill(0)

    def value(self, agent, x, y):
        return 0.0


class PerAgent(Batched):
    gradients = None

    def gradient(self, agent, rows, x, y):
        return x, y


def measure(repeats, run):
    """Median and least seconds per iteration."""
    found = []
    for _ in range(repeats):
        begin = time.perf_counter()
        result = run()
        found.append((time.perf_counter() - begin) / result.iteration)
    return statistics.median(found), min(found)


def main():
    repeats = int(sys.argv[1])
    cases = []
    for name, problem in (("all agents at once", Batched()), ("one call per agent", PerAgent())):
        instance = saddle.Instance(problem, topology="ring", algorithm="prox-dsgda", tau=1, alpha=1,
                                   iterations=ITERATIONS, trace_every=ITERATIONS, gap="never",
                                   init="zeros")  # fmt: skip
        median, best = measure(repeats, instance.run)
        cases.append({"name": f"python round, {name}", "seconds": median, "best_seconds": best})
    instance = saddle.Instance(data="synthetic", iterations=1000, trace_every=1000, gap="never", threads=1)
    times = sorted(float(instance.run().trace.seconds[-1]) / 1000 for _ in range(repeats))
    cases.append({"name": "python, built-in problem", "seconds": statistics.median(times),
                  "best_seconds": times[0]})  # fmt: skip
    print(json.dumps(cases))


main()
