#!/usr/bin/env python3
"""scale.py SADDLE [AGENTS [LEAVE...]]: how a simulated network of many agents learns that some have left.

For each number LEAVE, that many of AGENTS on a random regular graph of degree 10 leave in the same round; LEAVE "1%":
that share leaves during 100 rounds, one after another, and each returns 50 rounds later. Prints a JSON object for each:
the rounds until all maps are equal again after the last change, how many maps an agent received, the bytes of them as
whole maps, which the simulation counts, and as lists of changed entries (8 bytes each), which peers send; and the
memory of the simulation per agent.
"""
import csv
import json
import os
import random
import subprocess
import sys
import tempfile

SADDLE, AGENTS, DEGREE, LEFT, LENGTH, CHURN = os.path.abspath(sys.argv[1]), int((sys.argv + [10000])[2]), 10, 5, 25, 100
OPTIONS = ["--problem", "quadratic", "--samples", "2", "--x-dim", "2", "--y-dim", "2", "--algorithm", "precision",
           "--links", "lossy:0", "--trace-every", "1", "--gap", "never", "--quiet", "--churn", "churn.txt",
           "--trace", "trace.csv", "--topology", f"regular:{DEGREE}"]


def measure(leave):
    churns = leave.endswith("%")
    count = int(AGENTS * float(leave[:-1]) / 100) if churns else int(leave)
    left = random.Random(5).sample(range(AGENTS), count)
    events = [(LEFT + CHURN * k // count * churns, "leave", agent) for k, agent in enumerate(left)]
    events += [(when + CHURN // 2, "return", agent) for when, _, agent in events if churns]
    last = max(events)[0]
    with open("churn.txt", "w", encoding="utf-8") as churn:
        churn.writelines(f"{when} {what} {agent}\n" for when, what, agent in sorted(events))
    process = subprocess.Popen([SADDLE, "run", *OPTIONS, "--agents", str(AGENTS),
                                "--iterations", str(last + LENGTH)])
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0
    with open("trace.csv", encoding="utf-8") as trace:
        rows = list(csv.DictReader(line for line in trace if line[0] != "#"))
    sent = [int(b["bytes"]) - int(a["bytes"]) for a, b in zip(rows, rows[1:])]
    more = [bytes - sent[-1] for bytes in sent[LEFT:]]
    entries = AGENTS + AGENTS * DEGREE // 2
    maps = sum(more) / entries / AGENTS
    print(json.dumps({"agents": AGENTS, "leave": leave, "changes": len(events), "last_change": last - LEFT,
                      "rounds": max(k + 1 for k, m in enumerate(more) if m > 0) - (last - LEFT),
                      "maps_per_agent": maps, "map_bytes_per_agent": maps * entries,
                      "change_bytes_per_agent_at_most": maps * 8 * count,
                      "memory_per_agent": usage.ru_maxrss * 1024 / AGENTS,
                      "processor_seconds": usage.ru_utime + usage.ru_stime}), flush=True)


with tempfile.TemporaryDirectory() as directory:
    os.chdir(directory)
    for number in sys.argv[3:] or ["1", "10", "100", "1%"]:
        measure(number)
