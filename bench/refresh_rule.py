#!/usr/bin/env python3
"""refresh_rule.py SADDLE: what PRECISION+ by the paper's rule, with smaller batches and later refreshes, saves against
|S| = q = ceil(sqrt(n)).

For each problem: how many times fewer IFO calls, and how many times as many rounds, until the metric is at 1e-2, 1e-3
and 1e-4 of the start's, medians of three seeds. docs/decisions.md quotes the figures. a9a, a9a.t and MNIST's test
images must be where `saddle data` finds them, such as in SADDLE_DATA.
"""
import csv
import math
import os
import statistics
import subprocess
import sys
import tempfile

LEVELS = (1e-2, 1e-3, 1e-4)
SEEDS = (1, 2, 3)
FAIR = ["fair", "--sensitive", "72"]
# Problem, data, agents, samples, topology: those that the rule was chosen on, and others.
CHOSEN_ON = [(["robust-logistic"], "a9a", 5, 6512, "er:0.6"), (["robust-logistic"], "a9a", 5, 500, "er:0.6"),
             (["auc"], "a9a", 5, 6512, "er:0.6"), (["auc"], "a9a", 5, 500, "er:0.6"),
             (FAIR, "a9a", 5, 3000, "er:0.6"), (FAIR, "a9a", 5, 500, "er:0.6")]  # fmt: skip
OTHERS = [(["auc"], "mnist.t", 5, 2000, "ring"), (["robust-logistic"], "mnist.t", 10, 1000, "er:0.5"),
          (["robust-logistic"], "a9a.t", 16, 1000, "torus:4x4"), (FAIR, "a9a.t", 10, 1500, "ring"),
          (["auc"], "a9a.t", 20, 800, "er:0.5"), (["robust-logistic"], "synthetic", 5, 4000, "er:0.6"),
          (["quadratic"], None, 5, 2000, "er:0.6"), (["quadratic"], None, 10, 500, "ring")]  # fmt: skip


def costs(saddle, case, more, seed):
    """Returns (IFO calls, rounds) at each level; infinite where it is not reached."""
    problem, data, agents, samples, topology = case
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace.csv")
        words = [saddle, "run", "--problem", *problem, *(["--data", data] if data else []), "--agents", str(agents),
                 "--samples", str(samples), "--topology", topology, "--algorithm", "precision+",
                 "--c-gamma", "10", *more, "--seed", str(seed), "--max-ifo", str(1500000 if samples > 1000 else 400000),
                 "--iterations", "100000", "--trace-every", "5", "--trace", trace,
                 "--outcomes", "ends", "--quiet"]  # fmt: skip
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        with open(trace, encoding="utf-8") as lines:
            rows = list(csv.DictReader(line for line in lines if line[0] != "#"))
    start = float(rows[0]["metric"])
    found = []
    for level in LEVELS:
        there = [row for row in rows if float(row["metric"]) <= level * start]
        found.append((float(there[0]["ifo"]), float(there[0]["rounds"])) if there else (math.inf, math.inf))
    return found


def medians(saddle, case, more):
    runs = [costs(saddle, case, more, seed) for seed in SEEDS]
    return [tuple(statistics.median(run[k][what] for run in runs) for what in (0, 1)) for k in range(len(LEVELS))]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    saddle = os.path.abspath(sys.argv[1])
    print(f"{'fewer IFO calls / rounds times':44}" + "".join(f"{level:>14.0e}" for level in LEVELS))
    for title, cases in (("chosen on", CHOSEN_ON), ("others", OTHERS)):
        ratios = []
        for case in cases:
            root = str(math.ceil(math.sqrt(case[3])))
            paper = medians(saddle, case, ["--batch", root, "--q", root])
            default = medians(saddle, case, [])
            pairs = [(p[0] / d[0], d[1] / p[1]) if math.isfinite(p[0]) and math.isfinite(d[0]) else None
                     for p, d in zip(paper, default)]  # fmt: skip
            ratios += [pair for pair in pairs if pair]
            name = f"{case[0][0]}, {case[1] or 'own'}, {case[2]} agents, n = {case[3]}"
            print(f"{name:44}" + "".join(f"{f'{p[0]:.1f} / {p[1]:.2f}' if p else '-':>14}" for p in pairs), flush=True)
        print(f"{title}: calls {statistics.median(r[0] for r in ratios):.1f} times fewer in the median, "
              f"{min(r[0] for r in ratios):.1f} at least; rounds {statistics.median(r[1] for r in ratios):.2f} times, "
              f"{max(r[1] for r in ratios):.2f} at worst\n", flush=True)  # fmt: skip


main()
