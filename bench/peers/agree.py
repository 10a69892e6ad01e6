#!/usr/bin/env python3
"""agree.py OURS.npz THEIRS.npz: the largest difference of all agents' x and y, relative to the
largest entry; inf when shapes differ or something is not finite."""
import sys

import numpy as np


def worst(ours, theirs):
    if ours.shape != theirs.shape or not (np.isfinite(ours).all() and np.isfinite(theirs).all()):
        return float("inf")
    return float(np.abs(ours - theirs).max() / np.abs(ours).max())


with np.load(sys.argv[1]) as a, np.load(sys.argv[2]) as b:
    print(max(worst(a[name], b[name]) for name in "xy"))
