#!/usr/bin/env python3
"""test_own_problem.py PROGRAM: the example's line against ridge regression on all points.

The points and the weight RHO are those that the example's comments state; the answer is computed
here from the normal equations, the adversary's from y = x / RHO.
"""
import re
import subprocess
import sys
from fractions import Fraction

AGENTS, SAMPLES, RHO = 4, 25, Fraction(10)


def pooled_line():
    """(mean of a a' + I / RHO) x = mean of a b with a = (1, t), in exact arithmetic."""
    a00, a01, a11, b0, b1 = 1 + 1 / RHO, 0, 1 / RHO, 0, 0
    for k in range(AGENTS * SAMPLES):
        agent, j = divmod(k, SAMPLES)
        t = (agent + Fraction(j, SAMPLES)) / AGENTS
        b = 1 + 2 * t + Fraction(j % 3 - 1, 10)
        share = Fraction(1, AGENTS * SAMPLES)
        a01, a11 = a01 + share * t, a11 + share * t * t
        b0, b1 = b0 + share * b, b1 + share * b * t
    determinant = a00 * a11 - a01 * a01
    return [(b0 * a11 - b1 * a01) / determinant, (b1 * a00 - b0 * a01) / determinant]


def main():
    output = subprocess.run([sys.argv[1]], check=True, capture_output=True, text=True).stdout
    numbers = [float(n) for n in re.findall(r"-?\d+\.\d{9}", output)]
    line = pooled_line()
    passed = failed = 0
    adversary = [entry / RHO for entry in line]
    for name, shown, wanted in (("line", numbers[:2], line), ("adversary", numbers[2:], adversary)):
        if len(shown) == 2 and all(abs(s - w) <= 1e-9 for s, w in zip(shown, wanted)):
            passed += 1
        else:
            failed += 1
            print(f"FAIL {name}: {shown}, expected {[float(w) for w in wanted]}")
    print(f"checks: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
