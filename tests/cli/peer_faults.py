#!/usr/bin/env python3
"""Disturbs runs of `saddle peer` by seeded scenarios, and compares what they leave with an undisturbed run.

    peer_faults.py SADDLE [SEED...]

Four agents on a ring have their checkpoints; their connections go through proxies of this process, which hold every
piece back for a random time. A scenario has some of these faults, at iterations that its seed chooses:

    kill    processes end by SIGKILL, one or several at once, and are followed by others, at once or later
    stop    a process is stopped and continued
    break   all connections of an agent are closed, with what was on its way
    hold    nothing passes between an agent and the others for a while
    leave   a process is killed and not followed in time: the others end, and all are started again

Everything must end within the patience, with exit code 0, models and losses of the undisturbed run, and no file that is
not whole. SADDLE_SCENARIOS is the number of seeds, from 1.
"""
import collections
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import numpy
from peer_processes import RESULTS, SADDLE, Network, Proxies, check

LONG = os.environ.get("SADDLE_TEST_LONG", "") not in ("", "0")
COUNT = int(os.environ.get("SADDLE_SCENARIOS", 200 if LONG else 12))
SEEDS = [int(seed) for seed in sys.argv[2:]] or range(1, COUNT + 1)
AGENTS, ITERATIONS, EVERY = 4, 200, 15
# Seconds: of the scenarios in which all come back, and of those in which one does not.
PATIENCE, SHORT = 60, 6
OPTIONS = ["problem: quadratic", "algorithm: precision", "topology: ring", f"iterations: {ITERATIONS}", "seed: 3"]
FAULTS = collections.Counter()  # that have happened


# ---- scenarios ----------------------------------------------------------------------------------


def compare(name, network, whole, losses):
    """Checks what a run has left."""
    for k in range(AGENTS):
        rows = network.rows(k)
        check(f"{name}: the trace of agent {k} is whole", [int(row[0]) for row in rows] == list(range(ITERATIONS + 1)))
        check(f"{name}: losses of agent {k}", losses is None or [row[2] for row in rows] == losses[k])
        try:
            own = numpy.load(network.directory / f"{k}.npz")
        except OSError as error:
            check(f"{name}: model of agent {k}", False, error)
            continue
        for variable in ("x", "y"):
            check(f"{name}: bits of {variable} of agent {k}",
                  own[variable][0].tobytes() == whole[variable][k].tobytes())
    left = [path.name for path in network.directory.rglob("*.tmp")]
    check(f"{name}: no unfinished file", not left, left)


def leave(name, network, draw):
    """One agent does not come back; then all do."""
    FAULTS["leave"] += 1
    who = draw.randrange(AGENTS)
    network.kill([who])
    codes = network.codes(20 * SHORT)
    check(f"{name}: the others end", all(codes[k] == 1 for k in range(AGENTS) if k != who), codes)
    said = [network.errors(k) for k in range(AGENTS)]
    named = f"nothing from agent {who} for {SHORT} seconds"
    check(f"{name}: agent {who} is named", any(named in text for text in said), said)
    for k in range(AGENTS):
        failures = re.findall(r"^saddle: (?!warning).*", said[k], re.M)
        check(f"{name}: one line of agent {k}", len(failures) == (k != who), failures)
        for path in (network.directory / f"{k}.csv", network.directory / f"{k}.npz"):
            check(f"{name}: {path.name} is whole", not path.exists() or path.suffix == ".csv" or numpy.load(path))
    for k in range(AGENTS):
        network.start(k)


def disturb(network, proxies, draw, kind):
    """One fault, which is over when this returns."""
    FAULTS[kind] += 1
    who = draw.sample(range(AGENTS), draw.choice([1, 1, 2, AGENTS]) if kind == "kill" else 1)
    while_gone = draw.choice([0.0, draw.uniform(0, 0.5)])
    if kind == "kill":
        network.kill(who)
        time.sleep(while_gone)
        for k in who:
            network.start(k)
    elif kind == "stop":
        network.process[who[0]].send_signal(signal.SIGSTOP)
        time.sleep(while_gone)
        network.process[who[0]].send_signal(signal.SIGCONT)
    elif kind == "break":
        proxies.call(proxies.cut(who[0]))
    else:
        proxies.held.add(who[0])
        time.sleep(while_gone)
        proxies.held.discard(who[0])


def run(name, seed, proxies, whole, losses):
    """A run; without a seed it is not disturbed. Returns its network."""
    draw = random.Random(seed)
    leaves = seed is not None and seed % 6 == 0
    network = Network(name, proxies, AGENTS, [*OPTIONS, f"checkpoint-every: {EVERY}"], SHORT if leaves else PATIENCE)
    proxies.draw, proxies.latest = random.Random(seed), draw.choice([0.0, 0.001, 0.004]) if seed is not None else 0.0
    kinds = [] if seed is None else ["leave"] if leaves else draw.choices(
        ["kill", "kill", "stop", "break", "hold"], k=draw.randint(2, 5))
    # The last fault leaves time to come back before a neighbour has ended; the first may be during set-up.
    moments = sorted(draw.randrange(ITERATIONS - 60) for _ in kinds)
    if draw.random() < 0.3 and not leaves and seed is not None:
        moments[0] = -1
    for k in range(AGENTS):
        network.start(k)
    for kind, moment in zip(kinds, moments):
        end = time.monotonic() + PATIENCE
        while network.iteration() < moment and time.monotonic() < end and network.runs():
            time.sleep(0.01)
        if moment < 0:
            time.sleep(draw.uniform(0, 0.4))
        if kind == "leave":
            leave(name, network, draw)
        elif all(p.poll() is None for p in network.process):
            disturb(network, proxies, draw, kind)
    codes = network.codes(2 * PATIENCE)
    if not check(f"{name}: all agents end ({' '.join(kinds)} at {moments})", codes == [0] * AGENTS, codes):
        print(*(network.errors(k) for k in range(AGENTS)))
        network.kill([k for k in range(AGENTS) if network.process[k].poll() is None])
    compare(name, network, whole, losses)
    proxies.call(proxies.shut())
    return network


def main():
    with tempfile.TemporaryDirectory(prefix="saddle-") as directory:
        os.chdir(directory)
        options = [f"--{option.replace(': ', '=')}" for option in OPTIONS]
        subprocess.run([SADDLE, "run", *options, "--agents", str(AGENTS), "--gap", "never", "--model", "whole.npz",
                        "--quiet"], check=True)
        whole = numpy.load("whole.npz")
        proxies = Proxies()
        calm = run("undisturbed", None, proxies, whole, None)
        losses = [[row[2] for row in calm.rows(k)] for k in range(AGENTS)]
        for seed in SEEDS:
            run(f"scenario-{seed}", seed, proxies, whole, losses)
            shutil.rmtree(f"scenario-{seed}")
        os.chdir("/")
    print(*(f"{kind}: {count}" for kind, count in sorted(FAULTS.items())))
    check("every kind of fault has happened", len(FAULTS) == 5 or len(SEEDS) < 12, FAULTS)
    print(f"checks: {sum(RESULTS)} passed, {len(RESULTS) - sum(RESULTS)} failed")
    sys.exit(0 if all(RESULTS) else 1)


main()
