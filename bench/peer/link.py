#!/usr/bin/env python3
"""link.py SADDLE: rounds of two agents over a slow link, against what the link allows.

A proxy on 127.0.0.1 passes what goes either way at 10 Mbit/s (SADDLE_LINK_MBIT) and 20 ms late (SADDLE_LINK_MS).
Messages of B bytes then allow 1 / (latency + 8 B / rate) rounds per second, B being what the proxy counts, encryption,
headers and set-up included. Prints a JSON object for each run: PRECISION on robust-logistic, so that a message has
2 (dim x + samples) numbers.
"""
import asyncio
import json
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests" / "cli"))
from peer_processes import Network, Proxies  # noqa: E402

LATENCY = 1e-3 * float(os.environ.get("SADDLE_LINK_MS", 20))
RATE = 1e6 / 8 * float(os.environ.get("SADDLE_LINK_MBIT", 10))  # bytes per second
# Samples of an agent, and iterations that are counted, for each compression.
RUNS = ((6512, {"none": 150, "quantize:4": 600}), (75000, {"none": 15, "quantize:4": 160}))
WARM = 5


class Links(Proxies):
    """Proxies that pass bytes at a rate, and late."""

    passed = 0

    async def pump(self, agent, reader, writer):
        loop, queue, free = asyncio.get_running_loop(), asyncio.Queue(), 0.0

        async def deliver():
            while True:
                due, piece = await queue.get()
                await asyncio.sleep(max(0.0, due - loop.time()))
                writer.write(piece)
                await writer.drain()

        task = asyncio.create_task(deliver())
        try:
            while piece := await reader.read(4096):
                free = max(free, loop.time()) + len(piece) / RATE
                self.passed += len(piece)
                queue.put_nowait((free + LATENCY, piece))
        except OSError:
            pass
        finally:
            task.cancel()
            writer.close()


def seconds_at(network, iteration):
    return next(float(row[1]) for row in network.rows(0) if int(row[0]) == iteration)


def measure(directory, samples, compress, count):
    links = Links()
    options = ["problem: robust-logistic", f"data: synthetic:{2 * samples}", "algorithm: precision", "topology: path",
               f"iterations: {WARM + count}", f"compress: {compress}"]
    network = Network(directory, links, 2, options, patience=60, every=WARM)
    for k in range(2):
        network.start(k)
    codes = network.codes(300)
    assert codes == [0, 0], (codes, (network.directory / "0.err").read_text())
    rate = count / (seconds_at(network, WARM + count) - seconds_at(network, WARM))
    # Of each direction; set-up is a small part of it.
    allowed = 1.0 / (LATENCY + links.passed / 2 / (WARM + count) / RATE)
    links.call(links.shut())
    return {"samples": samples, "compress": compress, "rounds_per_second": rate, "allowed": allowed,
            "share": rate / allowed, "bytes": links.passed / 2 / (WARM + count)}


def main():
    with tempfile.TemporaryDirectory() as directory:
        for samples, runs in RUNS:
            for compress, count in runs.items():
                name = os.path.join(directory, f"{samples}-{compress.replace(':', '-')}")
                print(json.dumps(measure(name, samples, compress, count)), flush=True)


main()
