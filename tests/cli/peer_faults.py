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
import asyncio
import collections
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import numpy

SADDLE = os.path.abspath(sys.argv[1])
LONG = os.environ.get("SADDLE_TEST_LONG", "") not in ("", "0")
COUNT = int(os.environ.get("SADDLE_SCENARIOS", 200 if LONG else 12))
SEEDS = [int(seed) for seed in sys.argv[2:]] or range(1, COUNT + 1)
AGENTS, ITERATIONS, EVERY = 4, 200, 15
# Seconds: of the scenarios in which all come back, and of those in which one does not.
PATIENCE, SHORT = 60, 6
OPTIONS = ["problem: quadratic", "algorithm: precision", "topology: ring", f"iterations: {ITERATIONS}", "seed: 3"]
RESULTS = []
FAULTS = collections.Counter()  # that have happened


def check(name, holds, shown=""):
    RESULTS.append(bool(holds))
    if not holds:
        print(f"FAILED: {name} {shown}", flush=True)
    return holds


# ---- proxies ------------------------------------------------------------------------------------


class Proxies:
    """One proxy before each agent, in a thread."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()
        self.servers, self.open, self.held = [], {}, set()
        self.draw, self.latest = random.Random(0), 0.0

    def call(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result()

    async def pump(self, agent, reader, writer):
        try:
            while piece := await reader.read(1 << 16):
                await asyncio.sleep(self.draw.uniform(0, self.latest))
                while agent in self.held:
                    await asyncio.sleep(0.01)
                writer.write(piece)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()

    async def take(self, agent, port, reader, writer):
        try:
            there, to = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            writer.close()
            return
        pair = (writer, to)
        self.open.setdefault(agent, set()).add(pair)
        await asyncio.gather(self.pump(agent, reader, to), self.pump(agent, there, writer))
        self.open[agent].discard(pair)

    async def listen(self, agent, port):
        server = await asyncio.start_server(lambda r, w: self.take(agent, port, r, w), "127.0.0.1", 0)
        self.servers.append(server)
        return server.sockets[0].getsockname()[1]

    def before(self, agent, port):
        """Returns the port of a proxy before the agent that listens at another."""
        return self.call(self.listen(agent, port))

    async def cut(self, agent):
        for pair in list(self.open.get(agent, ())):
            for writer in pair:
                writer.transport.abort()

    async def shut(self):
        for server in self.servers:
            server.close()
        self.servers.clear()
        for agent in list(self.open):
            await self.cut(agent)


# ---- agents -------------------------------------------------------------------------------------


class Network:
    """The files and processes of all agents, in a directory of their own."""

    def __init__(self, directory, proxies, patience):
        self.directory, self.process = pathlib.Path(directory), [None] * AGENTS
        self.directory.mkdir()
        held = [socket.socket() for _ in range(AGENTS)]
        for s in held:
            s.bind(("127.0.0.1", 0))
        ports = [s.getsockname()[1] for s in held]
        for s in held:
            s.close()
        lines = [*OPTIONS, f"checkpoint-every: {EVERY}"]
        for k, port in enumerate(ports):
            made = subprocess.run([SADDLE, "peer", "keygen", self.directory / f"{k}.key"], capture_output=True,
                                  text=True, check=True)
            lines.append(f"agent-{k}: tcp://127.0.0.1:{proxies.before(k, port)} {made.stdout.split()[-1]}")
            (self.directory / f"{k}.yml").write_text(
                f"network: network.yml\nagent: {k}\nkey: {k}.key\nmodel: {k}.npz\ntrace: {k}.csv\n"
                f"threads: 1\nevery: 1\npatience: {patience}\ncheckpoint: saved-{k}\nlisten: tcp://127.0.0.1:{port}\n")
        (self.directory / "network.yml").write_text("\n".join(lines) + "\n")

    def start(self, k):
        with open(self.directory / f"{k}.err", "ab") as errors:
            self.process[k] = subprocess.Popen(
                [SADDLE, "peer", "run", self.directory / f"{k}.yml", "--resume", "auto", "--quiet"], stderr=errors,
                stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)

    def kill(self, agents):
        for k in agents:
            self.process[k].kill()
        for k in agents:
            self.process[k].wait()

    def runs(self):
        return any(p.poll() is None for p in self.process)

    def codes(self, seconds):
        """Returns the exit codes; None of a process that has not ended by then."""
        end = time.monotonic() + seconds
        codes = []
        for p in self.process:
            try:
                codes.append(p.wait(max(0.1, end - time.monotonic())))
            except subprocess.TimeoutExpired:
                codes.append(None)
        return codes

    def rows(self, k):
        """Returns the whole rows of an agent's trace."""
        try:
            lines = (self.directory / f"{k}.csv").read_text().split("\n")[:-1]
        except OSError:
            return []
        return [line.split(",") for line in lines if line[:1].isdigit()]

    def errors(self, k):
        return (self.directory / f"{k}.err").read_text()

    def iteration(self):
        return max((len(self.rows(k)) for k in range(AGENTS)), default=0)


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
    network = Network(name, proxies, SHORT if leaves else PATIENCE)
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
