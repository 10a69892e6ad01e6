#!/usr/bin/env python3
"""load_sklearn.py FILE: the time scikit-learn takes to read LIBSVM text, once it is in the page
cache."""
import json
import sys
import time

from sklearn.datasets import load_svmlight_file

with open(sys.argv[1], "rb") as file:
    while file.read(1 << 24):
        pass
begin = time.perf_counter()
matrix, label = load_svmlight_file(sys.argv[1])
print(json.dumps({"seconds": time.perf_counter() - begin, "rows": len(label),
                  "nonzeros": int((matrix.data != 0.0).sum())}))
