"""The paper's experiments, repeated: `python3 -m saddle.reproduce`; see docs/reproduction.md.

    experiments.py  the settings of all experiments: a table to read and change
    claims.py       the sentences of the paper, ours, and the rules that decide them
    runs.py         makes the runs, or finds those that were made before
    side_by_side.py makes independent runs in several processes, a line of a file each
    theorem.py      compares the bounds of the theory with runs
    statistics.py   means, slopes, confidence intervals
    pages.py        claims.md, tables and report.html
    figures.py      the figures, with matplotlib

In the sources these files are in experiments/; the build links them into the package.
"""
