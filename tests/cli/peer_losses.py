#!/usr/bin/env python3
"""Disturbs runs of `saddle peer` with a deadline by seeded scenarios, and checks that they reach the optimum.

    peer_losses.py SADDLE [SEED...]

Five agents on a ring, with proxies between them that hold every piece back for a random time. A scenario has some of
these faults, at iterations that its seed chooses:

    stop    a process is stopped and continued
    hold    nothing passes between an agent and the others for a while
    break   all connections of an agent are closed, with what was on its way
    slow    what an agent sends and receives is late for a while
    kill    processes end by SIGKILL, one or several at once, and are followed by others, at once or later

In every third scenario one of these comes last, and lasts until the agents have called each other gone:

    cut     nothing passes over an edge
    part    nothing passes between two agents and the three others
    away    a process ends by SIGKILL, and is followed by another
    leave   a process ends by SIGKILL, and is followed by none

In every fourth scenario, the wall clocks of all processes jump by hours at every reading (SADDLE_CLOCK, a library that is
preloaded). While a fault lasts, the others continue. Then all must end with exit code 0, at the optimum of one process
with the data of all who are present: the squared distance from it is at most 1e-8 of that of the start. Every process
checks the invariant of its own sums at each row of its trace. A run of one process that replays the logs of all agents
must have the same bits, unless a process has followed another. SADDLE_SCENARIOS is the number of seeds, from 1.
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
COUNT = int(os.environ.get("SADDLE_SCENARIOS", 200 if LONG else 9))
SEEDS = [int(seed) for seed in sys.argv[2:]] or range(1, COUNT + 1)
AGENTS, PATIENCE, SHORT = 5, 60, 8
# Iterations: of a scenario at first, and of one with a fault that lasts; in which its faults begin; and after them, which
# are enough for the optimum, to which 1,000 come without faults.
ITERATIONS, LASTING, FAULTS_BEGIN, AFTER, EVERY = 4000, 7500, 1200, 1500, 20
PROBLEM = ["problem: quadratic", "curvature: convex", "lipschitz: 3", "algorithm: precision", "topology: ring", "seed: 3"]
FAULTS = collections.Counter()  # that have happened
OPTIMA = {}


def solve(iterations, *more):
    """Returns x and y of all agents after a run of one process."""
    options = [f"--{option.replace(': ', '=')}" for option in PROBLEM]
    subprocess.run([SADDLE, "run", *options, "--agents", str(AGENTS), f"--iterations={iterations}", "--gap", "never",
                    "--model", "one.npz", "--quiet", *more], check=True)
    one = numpy.load("one.npz")
    return numpy.hstack([one["x"], one["y"]])


def optimum_of(present):
    """Returns x and y that all who are present agree on."""
    if present not in OPTIMA:
        with open("churn", "w", encoding="ascii") as churn:
            churn.writelines(f"0 leave {k}\n" for k in range(AGENTS) if k not in present)
        OPTIMA[present] = solve(20000, *["--churn", "churn"] * (len(present) < AGENTS))[list(present)].mean(axis=0)
    return OPTIMA[present]


def models(network, agents):
    out = []
    for k in agents:
        own = numpy.load(network.directory / f"{k}.npz")
        out.append(numpy.hstack([own["x"][0], own["y"][0]]))
    return out


def wait_for_all(network, agents, whom, what):
    """Waits until these agents have said this of some of those."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and network.runs() and not all(
            any(f"agent {j} {what}" in network.errors(k) for j in whom) for k in agents):
        time.sleep(0.05)


def start_again(network, agents):
    """Starts agents, and waits until they take part."""
    end = time.monotonic() + PATIENCE
    before = network.iteration()
    for k in agents:
        network.start(k)
    while time.monotonic() < end and network.runs() and not all(
            (rows := network.rows(k)) and int(rows[-1][0]) > before for k in agents):
        time.sleep(0.02)


def disturb(network, proxies, draw, kind):
    """One fault, which is over when this returns. Returns the agents whose processes were followed by others, or left."""
    FAULTS[kind] += 1
    who = draw.randrange(AGENTS)
    seconds = draw.uniform(0.05, 0.4)
    sides = [(who - 1) % AGENTS, (who + 1) % AGENTS]
    if kind == "kill":
        agents = draw.sample(range(AGENTS), draw.choice([1, 1, 2, AGENTS]))
        network.kill(agents)
        time.sleep(draw.choice([0.0, seconds]))
        start_again(network, agents)
        return agents
    if kind in ("away", "leave"):
        network.kill([who])
        wait_for_all(network, sides, [who], "is gone")
        if kind == "away":
            start_again(network, [who])
        return [who]
    if kind in ("cut", "part"):
        # The proxy before agent k has the edge to k + 1, and that before agent 0 two edges.
        edges = [1, 3] if kind == "part" else [draw.choice([1, 2, 3])]
        proxies.held.update(edges)
        for k in edges:
            wait_for_all(network, [k], [k + 1], "is gone")
            wait_for_all(network, [k + 1], [k], "is gone")
        proxies.held.clear()
        for k in edges:
            wait_for_all(network, [k], [k + 1], "is heard again")
            wait_for_all(network, [k + 1], [k], "is heard again")
        return []
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
    return []


def attempt(name, seed, proxies, iterations):
    """A run; returns whether enough iterations were left after the last fault."""
    draw = random.Random(seed)
    last = draw.choice(["cut", "part", "away", "leave"]) if seed % 3 == 0 else None
    network = Network(name, proxies, AGENTS, [*PROBLEM, f"iterations: {iterations}", "deadline: 0.05",
                                              "checkpoint-every: 200"], SHORT if last else PATIENCE, EVERY)
    if seed % 4 == 0 and "SADDLE_CLOCK" in os.environ:
        FAULTS["clock"] += 1
        network.environment = {**os.environ, "LD_PRELOAD": os.environ["SADDLE_CLOCK"]}
    proxies.draw, proxies.latest = random.Random(seed), draw.choice([0.0, 0.001, 0.004])
    kinds = draw.choices(["stop", "hold", "break", "slow", "kill"], k=draw.randint(1, 2) if last else draw.randint(2, 4))
    kinds += [last] * (last is not None)
    moments = sorted(draw.randrange(FAULTS_BEGIN) for _ in kinds)
    followed = []
    for k in range(AGENTS):
        network.start(k)
    for kind, moment in zip(kinds, moments):
        end = time.monotonic() + PATIENCE
        while network.iteration() < moment and time.monotonic() < end and network.runs():
            time.sleep(0.01)
        if all(p.poll() is None for p in network.process):
            followed += disturb(network, proxies, draw, kind)
    present = tuple(k for k in range(AGENTS) if last != "leave" or k not in followed[-1:])
    enough = network.iteration() <= iterations - AFTER
    proxies.latest = 0.0
    codes = network.codes(2 * PATIENCE)
    if not check(f"{name}: all agents end ({' '.join(kinds)} at {moments})", all(codes[k] == 0 for k in present), codes):
        print(*(network.errors(k) for k in range(AGENTS)))
        network.kill([k for k in range(AGENTS) if network.process[k].poll() is None])
    elif enough:
        optimum = optimum_of(present)
        far = [numpy.sum((z - optimum) ** 2) / numpy.sum(optimum**2) for z in models(network, present)]
        check(f"{name}: the optimum ({' '.join(kinds)} at {moments})", all(f <= 1e-8 for f in far), far)
        rows = [network.rows(k) for k in present]
        if not followed or followed == [k for k in range(AGENTS) if k not in present]:
            repeated = solve(iterations, "--links", f"replay:{network.log()}")[list(present)]
            own = numpy.array(models(network, present))
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
        for seed in SEEDS:
            iterations = LASTING if seed % 3 == 0 else ITERATIONS
            # A fast machine may make all iterations while an agent is away.
            while not attempt(f"scenario-{seed}", seed, proxies, iterations):
                iterations *= 2
        os.chdir("/")
    print(*(f"{kind}: {count}" for kind, count in sorted(FAULTS.items())))
    check("every kind of fault has happened", len(FAULTS) >= 9 or len(SEEDS) < 30, FAULTS)
    print(f"checks: {sum(RESULTS)} passed, {len(RESULTS) - sum(RESULTS)} failed")
    sys.exit(0 if all(RESULTS) else 1)


main()
