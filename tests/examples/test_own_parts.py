#!/usr/bin/env python3
"""test_own_parts.py BUILD: the examples of an own algorithm, set and regularizer, from C and as plug-ins.

The example problem, shrunk mean, is solved here by hand: agent i of m holds the points (i, j mod 4), j < 20, and

    F_i(x, y) = mean over j of 1/2 |x - a_ij|^2 + x'y - (rho / 2) |y|^2.

The algorithm is simulated from the formula in its comment; the answers with the set and the
regularizer follow from their projection and prox.
"""
import csv
import pathlib
import re
import subprocess
import sys
import tempfile
from fractions import Fraction

BUILD = pathlib.Path(sys.argv[1]).resolve()
SADDLE = BUILD / "saddle"
EXAMPLES = BUILD / "examples"
PROBLEM = EXAMPLES / "plugin" / "libshrunk_mean.so"
ALGORITHM = EXAMPLES / "libown_algorithm.so"
HYBRID = EXAMPLES / "libhybrid_momentum.so"
SET = EXAMPLES / "libown_set.so"
REGULARIZER = EXAMPLES / "libown_regularizer.so"
RESULTS = []


def check(name, holds, shown=""):
    RESULTS.append(holds)
    if not holds:
        print(f"FAIL {name}: {shown}")


def trace(*options):
    """Returns the rows of a run's trace, one per iteration."""
    with tempfile.TemporaryDirectory() as work:
        path = pathlib.Path(work) / "trace.csv"
        command = [SADDLE, "run", *options, "--trace-every", "1", "--trace", path, "--quiet"]
        subprocess.run([str(word) for word in command], check=True)
        lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    return [{name: float(cell) for name, cell in row.items() if cell} for row in csv.DictReader(lines)]


def value(i, x, y, rho):
    """F_i(x, y)."""
    spread = (x[0] - i) ** 2 + sum((x[1] - j) ** 2 for j in range(4)) / 4
    return spread / 2 + x[0] * y[0] + x[1] * y[1] - rho / 2 * (y[0] ** 2 + y[1] ** 2)


def gradient(i, x, y, rho):
    return ([x[0] - i + y[0], x[1] - Fraction(3, 2) + y[1]], [x[0] - rho * y[0], x[1] - rho * y[1]])


def project(v, bound):
    """Projects onto v_0 + v_1 <= bound; None: no constraint."""
    excess = (sum(v) - bound) / 2 if bound is not None else 0
    return [entry - max(excess, 0) for entry in v]


def simulate(agents, steps, eta_x, eta_y, rho, bound):
    """Returns (loss, consensus in x) after each iteration on a ring with weights 1/3, in exact arithmetic."""
    x = [[Fraction(0)] * 2 for _ in range(agents)]
    y = [[Fraction(0)] * 2 for _ in range(agents)]
    rows = []
    for _ in range(steps + 1):
        mean = [[sum(v[k] for v in w) / agents for k in range(2)] for w in (x, y)]
        loss = sum(value(i, mean[0], mean[1], rho) for i in range(agents)) / agents
        rows.append((loss, sum((v[k] - mean[0][k]) ** 2 for v in x for k in range(2))))
        mixed = [[[sum(w[(i + d) % agents][k] for d in (-1, 0, 1)) / 3 for k in range(2)]
                  for i in range(agents)] for w in (x, y)]
        slopes = [gradient(i, x[i], y[i], rho) for i in range(agents)]
        x = [project([mixed[0][i][k] - eta_x * slopes[i][0][k] for k in range(2)], bound)
             for i in range(agents)]
        y = [[mixed[1][i][k] + eta_y * slopes[i][1][k] for k in range(2)] for i in range(agents)]
    return rows


def test_algorithm(bound):
    options = ["--problem", f"{PROBLEM}:rho=2", "--algorithm", ALGORITHM, "--agents", 6, "--topology",
               "ring", "--mixing", "metropolis", "--init", "zeros", "--iterations", 12, "--eta-x",
               0.125, "--eta-y", 0.25]
    if bound is not None:
        options += ["--x-set", f"{SET}:b={bound}"]
    rows = trace(*options)
    wanted = simulate(6, 12, Fraction(1, 8), Fraction(1, 4), 2, bound)
    check("iterations", len(rows) == len(wanted), len(rows))
    for t, (row, (loss, consensus)) in enumerate(zip(rows, wanted)):
        # Weights of 1/3 have 40 bits.
        check(f"loss {t}, b = {bound}", abs(row["loss"] - loss) <= 1e-9, (row["loss"], float(loss)))
        check(f"consensus {t}, b = {bound}", abs(row["x_consensus"] - consensus) <= 1e-9,
              (row["x_consensus"], float(consensus)))
    check("the simulation moves", abs(wanted[12][0] - wanted[0][0]) > 0.1)


def simulate_tracking(agents, steps, eta_x, eta_y, rho):
    """Returns the losses of gradient tracking with full gradients, as simulate()."""
    w = [[[Fraction(0)] * 2 for _ in range(agents)] for _ in range(2)]
    slopes = [gradient(i, w[0][i], w[1][i], rho) for i in range(agents)]
    trackers = [[slopes[i][s] for i in range(agents)] for s in range(2)]

    def mixed(v, i, k):
        return sum(v[(i + d) % agents][k] for d in (-1, 0, 1)) / 3

    losses = []
    for _ in range(steps + 1):
        mean = [[sum(v[k] for v in side) / agents for k in range(2)] for side in w]
        losses.append(sum(value(i, mean[0], mean[1], rho) for i in range(agents)) / agents)
        w = [[[mixed(w[s], i, k) + step * trackers[s][i][k] for k in range(2)] for i in range(agents)]
             for s, step in ((0, -eta_x), (1, eta_y))]
        new = [gradient(i, w[0][i], w[1][i], rho) for i in range(agents)]
        trackers = [[[mixed(trackers[s], i, k) + new[i][s][k] - slopes[i][s][k] for k in range(2)]
                     for i in range(agents)] for s in range(2)]
        slopes = new
    return losses


def test_hybrid():
    """With batches of all samples, hybrid momentum is gradient tracking, whatever beta is; otherwise beta matters."""
    options = ["--problem", f"{PROBLEM}:rho=2", "--agents", 6, "--topology", "ring", "--mixing", "metropolis",
               "--init", "zeros", "--iterations", 12, "--eta-x", 0.125, "--eta-y", 0.25]
    wanted = simulate_tracking(6, 12, Fraction(1, 8), Fraction(1, 4), 2)
    for beta in (0.25, 1):
        rows = trace(*options, "--algorithm", f"{HYBRID}:beta={beta}", "--batch", 20)
        for t, (row, loss) in enumerate(zip(rows, wanted)):
            check(f"hybrid loss {t}, beta {beta}", abs(row["loss"] - loss) <= 1e-9, (row["loss"], float(loss)))
    losses = {trace(*options, "--algorithm", f"{HYBRID}:beta={beta}", "--batch", 3)[-1]["loss"] for beta in (0.25, 1)}
    check("beta matters", len(losses) == 2, losses)
    lines = pathlib.Path(__file__).parents[2].joinpath("examples/hybrid_momentum.c").read_text()
    code = [line for line in re.sub(r"/\*.*?\*/", "", lines, flags=re.S).splitlines() if line.strip()]
    check("a published method in fewer than 100 lines", len(code) < 100, len(code))


def test_from_c():
    """The program and the plug-in give the same bits."""
    shown = subprocess.run([EXAMPLES / "example_own_algorithm"], check=True, capture_output=True,
                           text=True).stdout
    row = trace("--problem", "quadratic", "--topology", "ring", "--algorithm", ALGORITHM,
                "--iterations", 2000)[-1]
    consensus = float(re.search(r"consensus ([-+.e\d]+)", shown)[1])
    check("from C", consensus == row["x_consensus"] + row["y_consensus"], (shown, row))


def test_tuned():
    """Step sizes of the plan that the plug-in lists are searched, and count as its options."""
    with tempfile.TemporaryDirectory() as work:
        command = [SADDLE, "tune", "--problem", "quadratic", "--algorithms", ALGORITHM, "--candidates",
                   "4", "--budget", "300000", "--output", work]
        shown = subprocess.run(command, check=True, capture_output=True, text=True)
        check("tuned", "dgda: 4 candidates for --eta-x, --eta-y" in shown.stdout, shown.stdout)
        check("how to use it", f"dgda.yaml --algorithm {ALGORITHM}` runs with these settings" in shown.stdout,
              shown.stdout)
        command = [SADDLE, "run", "--config", f"{work}/dgda.yaml", "--algorithm", ALGORITHM,
                   "--iterations", "3"]
        shown = subprocess.run(command, check=True, capture_output=True, text=True)
        check("used without a warning", shown.stderr == "", shown.stderr)
        shown = subprocess.run([*command, "--nu", "0.1"], check=True, capture_output=True, text=True)
        check("what it does not read is said", "--nu: not used by" in shown.stderr, shown.stderr)


def test_set():
    """The solution on the half space is the projection of rho / (rho + 1) times the mean of all points."""
    rho, bound, agents = Fraction(3), Fraction(2), 5
    free = [rho / (rho + 1) * c for c in (Fraction(agents - 1, 2), Fraction(3, 2))]
    x = project(free, bound)
    loss = sum(value(i, x, [c / rho for c in x], rho) for i in range(agents)) / agents
    last = trace("--problem", f"{PROBLEM}:rho=3", "--x-set", f"{SET}:b=2", "--tolerance", "1e-20")[-1]
    check("the set binds", sum(free) > bound)
    check("solution on the set", abs(last["loss"] - loss) <= 1e-9, (last["loss"], float(loss)))
    shown = subprocess.run([EXAMPLES / "example_own_set"], check=True, capture_output=True,
                           text=True).stdout
    check("set from C", abs(float(re.search(r"sum (-[.\d]+)", shown)[1]) + 2) <= 1e-9, shown)


def test_regularizer():
    """With h(x) = w sum max(x_k, 0) and y = x / rho the solution is rho / (rho + 1) times the mean of all points
    minus w, but at least 0; over a box it is that, clipped."""
    rho, price, agents = Fraction(3), Fraction(7, 4), 5
    free = [rho / (rho + 1) * max(c - price, 0) for c in (Fraction(agents - 1, 2), Fraction(3, 2))]
    check("one entry is shrunk, one is 0", free[0] > 0 and free[1] == 0)
    for x_set, x in (("none", free), ("box:-1:0.125", [Fraction(1, 8), Fraction(0)])):
        check("the box binds", x_set == "none" or free[0] > x[0])
        loss = sum(value(i, x, [c / rho for c in x], rho) for i in range(agents)) / agents
        loss += price * sum(max(c, 0) for c in x)
        last = trace("--problem", f"{PROBLEM}:rho=3", "--x-set", x_set, "--regularizer",
                     f"{REGULARIZER}:w=1.75", "--tolerance", "1e-20")[-1]
        check(f"solution on {x_set}", abs(last["loss"] - loss) <= 1e-9, (last["loss"], float(loss)))
    refused = subprocess.run([SADDLE, "run", "--problem", "quadratic", "--x-set", "simplex", "--regularizer",
                              REGULARIZER], capture_output=True, text=True)
    check("no rule, no pair", refused.returncode == 2 and "no exact joint prox" in refused.stderr,
          refused.stderr)
    shown = subprocess.run([EXAMPLES / "example_own_regularizer"], check=True, capture_output=True,
                           text=True).stdout
    check("regularizer from C", float(re.search(r"entry ([-+.e\d]+)", shown)[1]) <= 1e-6, shown)


def main():
    test_algorithm(None)
    test_algorithm(1)
    test_hybrid()
    test_from_c()
    test_tuned()
    test_set()
    test_regularizer()
    print(f"checks: {sum(RESULTS)} passed, {len(RESULTS) - sum(RESULTS)} failed")
    return 0 if all(RESULTS) else 1


if __name__ == "__main__":
    sys.exit(main())
