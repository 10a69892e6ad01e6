#!/usr/bin/env python3
"""Disturbs runs of `saddle peer` with a deadline by seeded scenarios, and checks that they reach the optimum.

    peer_losses.py SADDLE [SEED...]

Four agents on a ring, with proxies between them that hold every piece back for a random time. A scenario has some of
these faults, at iterations that its seed chooses:

    stop    a process is stopped and continued
    hold    nothing passes between an agent and the others for a while
    break   all connections of an agent are closed, with what was on its way
    slow    what an agent sends and receives is late for a while

While it lasts, the others continue. Then all must end with exit code 0, at the optimum of one process with all data: the
squared distance from it is at most 1e-8 of that of the start. Every process checks the invariant of its own sums at each
row of its trace. A run of one process that replays the logs of all agents must have the same bits. SADDLE_SCENARIOS is the number of seeds, from 1.
"""
import collections
import os
import random
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
AGENTS, PATIENCE = 4, 60
# Iterations: of a scenario at first, in which its faults begin, and after them, which are enough for the optimum.
ITERATIONS, FAULTS_BEGIN, AFTER, EVERY = 16000, 1200, 3000, 20
PROBLEM = ["problem: quadratic", "curvature: convex", "lipschitz: 3", "algorithm: precision", "topology: ring", "seed: 3"]
FAULTS = collections.Counter()  # that have happened


def solve(iterations, *more):
    """Returns x and y of all agents after a run of one process."""
    options = [f"--{option.replace(': ', '=')}" for option in PROBLEM]
    subprocess.run([SADDLE, "run", *options, "--agents", str(AGENTS), f"--iterations={iterations}", "--gap", "never",
                    "--model", "one.npz", "--quiet", *more], check=True)
    one = numpy.load("one.npz")
    return numpy.hstack([one["x"], one["y"]])


def models(network, agents):
    out = []
    for k in agents:
        own = numpy.load(network.directory / f"{k}.npz")
        out.append(numpy.hstack([own["x"][0], own["y"][0]]))
    return out


def disturb(network, proxies, draw, kind):
    """One fault, which is over when this returns."""
    FAULTS[kind] += 1
    who = draw.randrange(AGENTS)
    seconds = draw.uniform(0.05, 0.4)
    if kind == "stop":
        network.process[who].send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        network.process[who].send_signal(signal.SIGCONT)
    elif kind == "hold":
        proxies.held.add(who)
        time.sleep(seconds)
        proxies.held.discard(who)
    elif kind == "break":
        proxies.call(proxies.cut(who))
    else:
        before, proxies.latest = proxies.latest, 0.05
        time.sleep(seconds)
        proxies.latest = before


def attempt(name, seed, proxies, iterations, optimum):
    """A run; returns whether enough iterations were left after the last fault."""
    draw = random.Random(seed)
    network = Network(name, proxies, AGENTS, [*PROBLEM, f"iterations: {iterations}", "deadline: 0.05"], PATIENCE, EVERY)
    proxies.draw, proxies.latest = random.Random(seed), draw.choice([0.0, 0.001, 0.004])
    kinds = draw.choices(["stop", "hold", "break", "slow"], k=draw.randint(2, 4))
    moments = sorted(draw.randrange(FAULTS_BEGIN) for _ in kinds)
    for k in range(AGENTS):
        network.start(k)
    for kind, moment in zip(kinds, moments):
        end = time.monotonic() + PATIENCE
        while network.iteration() < moment and time.monotonic() < end and network.runs():
            time.sleep(0.01)
        if all(p.poll() is None for p in network.process):
            disturb(network, proxies, draw, kind)
    enough = network.iteration() <= iterations - AFTER
    proxies.latest = 0.0
    codes = network.codes(2 * PATIENCE)
    if not check(f"{name}: all agents end ({' '.join(kinds)} at {moments})", codes == [0] * AGENTS, codes):
        print(*(network.errors(k) for k in range(AGENTS)))
        network.kill([k for k in range(AGENTS) if network.process[k].poll() is None])
    elif enough:
        far = [numpy.sum((z - optimum) ** 2) / numpy.sum(optimum**2) for z in models(network, range(AGENTS))]
        check(f"{name}: the optimum ({' '.join(kinds)} at {moments})", all(f <= 1e-8 for f in far), far)
        rows = [network.rows(k) for k in range(AGENTS)]
        repeated = solve(iterations, "--links", f"replay:{network.log()}")
        own = numpy.array(models(network, range(AGENTS)))
        check(f"{name}: replayed, the same bits", own.tobytes() == repeated.tobytes(), abs(own - repeated).max())
        ordered = all(numpy.all(numpy.diff([int(row[0]) for row in own]) > 0) for own in rows)
        check(f"{name}: traces are whole", ordered and all(own[-1][0] == str(iterations) for own in rows))
    left = [path.name for path in network.directory.rglob("*.tmp")]
    check(f"{name}: no unfinished file", not left, left)
    proxies.call(proxies.shut())
    shutil.rmtree(name)
    return enough


def undisturbed(proxies):
    """Without faults, a run has the bits of one process whose links lose nothing; they are near those of others."""
    network = Network("undisturbed", proxies, AGENTS, [*PROBLEM, "iterations: 300", "deadline: 30"], PATIENCE, EVERY)
    for k in range(AGENTS):
        network.start(k)
    codes = network.codes(2 * PATIENCE)
    check("undisturbed: all agents end", codes == [0] * AGENTS, [network.errors(k) for k in range(AGENTS)])
    own = numpy.array(models(network, range(AGENTS)))
    check("undisturbed: the bits of lossy links", own.tobytes() == solve(300, "--links", "lossy:0").tobytes())
    check("undisturbed: the numbers of reliable links", numpy.max(abs(own - solve(300))) < 1e-12)
    proxies.call(proxies.shut())


def main():
    with tempfile.TemporaryDirectory(prefix="saddle-") as directory:
        os.chdir(directory)
        proxies = Proxies()
        undisturbed(proxies)
        optimum = solve(20000).mean(axis=0)
        for seed in SEEDS:
            iterations = ITERATIONS
            # A fast machine may make all iterations while an agent is away.
            while not attempt(f"scenario-{seed}", seed, proxies, iterations, optimum):
                iterations *= 2
        os.chdir("/")
    print(*(f"{kind}: {count}" for kind, count in sorted(FAULTS.items())))
    check("every kind of fault has happened", len(FAULTS) == 4 or len(SEEDS) < 12, FAULTS)
    print(f"checks: {sum(RESULTS)} passed, {len(RESULTS) - sum(RESULTS)} failed")
    sys.exit(0 if all(RESULTS) else 1)


main()
