"""The zoo: how far the default settings go on instances that nobody tuned them for; see docs/defaults.md.

    instances.py   the named instances, and those that a generator draws from a seed
    rows.py        their data, and how the rows are distributed to the agents
    reference.py   the objectives of the problems and their minima, by NumPy and SciPy alone
    runs.py        the runs, one line of results.jsonl each, continued where they ended
    page.py        docs/defaults.md

`./scripts/zoo` builds the package and runs `python3 -m experiments.zoo`.
"""
