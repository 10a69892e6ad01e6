"""Processes of `saddle peer` behind proxies, for the tests that disturb them (peer_faults.py, peer_losses.py)."""
import asyncio
import os
import pathlib
import random
import subprocess
import sys
import threading
import time

from free_ports import free_ports

SADDLE = os.path.abspath(sys.argv[1])
RESULTS = []


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

    def __init__(self, directory, proxies, agents, options, patience, every=1):
        """`options` are lines of the network file; if it has checkpoints, all agents have them."""
        self.directory, self.process = pathlib.Path(directory), [None] * agents
        self.environment = None  # of the processes; None: that of this one
        self.directory.mkdir()
        self.saves = any(line.startswith("checkpoint-every") for line in options)
        logs = any(line.startswith("deadline") for line in options)
        lines = [*options]
        for k, port in enumerate(free_ports(agents)):
            made = subprocess.run([SADDLE, "peer", "keygen", self.directory / f"{k}.key"], capture_output=True,
                                  text=True, check=True)
            lines.append(f"agent-{k}: tcp://127.0.0.1:{proxies.before(k, port)} {made.stdout.split()[-1]}")
            (self.directory / f"{k}.yml").write_text(
                f"network: network.yml\nagent: {k}\nkey: {k}.key\nmodel: {k}.npz\ntrace: {k}.csv\n"
                f"threads: 1\nevery: {every}\npatience: {patience}\nlisten: tcp://127.0.0.1:{port}\n" +
                (f"checkpoint: saved-{k}\n" if self.saves else "") + (f"log: {k}.log\n" if logs else ""))
        (self.directory / "network.yml").write_text("\n".join(lines) + "\n")

    def start(self, k):
        with open(self.directory / f"{k}.err", "ab") as errors:
            self.process[k] = subprocess.Popen(
                [SADDLE, "peer", "run", self.directory / f"{k}.yml", "--quiet"] + ["--resume", "auto"] * self.saves,
                stderr=errors, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, env=self.environment)

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

    def log(self):
        """Returns the path of the logs of all agents, in one file."""
        path = self.directory / "all.log"
        path.write_text("".join((self.directory / f"{k}.log").read_text() for k in range(len(self.process))))
        return path

    def iteration(self):
        """Returns the iterations that the first agent has made."""
        return max((int(rows[-1][0]) for k in range(len(self.process)) if (rows := self.rows(k))), default=-1)
