#!/usr/bin/env python3
"""Run the benchmarks and their peers, print a table, write JSON. scripts/bench builds and calls this.

Everything that is compared is measured in the same run: saddle, the triad at the case's working-set
size, and the peers. Times are medians of repeats; beside them stands the best repeat, which is what
to look at when the machine was busy. Ratios and shares compare medians with medians, and in JSON the
best with the best as well. Peers are first checked to compute the same thing; their figures are left out
when they do not. Uses Python's standard library alone; the peers need their own packages.
"""
import argparse
import json
import os
import platform
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
AGREE = 1e-10  # largest relative difference between a peer's iterates and saddle's

# The paper's size: 5 agents with 6512 rows of a9a each.
AGENTS, SAMPLES, BATCH, Q = 5, 6512, 81, 81
CYCLES = 10 * Q  # iterations of a run: the first touch of memory is 0.7 ms, once
STEPS = {"nu": "0.1", "eta": "0.1"}
# MNIST's 10,000-image part: 5 agents with 2000 images each.
IMAGES, IMAGE_BATCH, HIDDEN = 2000, 45, 64


def command(words, **more):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()[-500:]}")
    return done.stdout


class Bench:
    """The programs, the files they share, and the results so far."""

    def __init__(self, options, directory):
        self.options, self.directory = options, directory
        self.program = os.path.join(options.build, "bench", "saddle_bench")
        self.saddle = os.path.join(options.build, "saddle")
        self.cases, self.notes, self.triads = [], [], {}
        self.peers = {} if options.no_peers else self.find_peers()

    def find_peers(self):
        found = {}
        for peer, package in (("numpy", "scipy"), ("torch", "torch")):
            try:
                words = [sys.executable, "-c", f"import numpy, sklearn, {package};"
                         f"print({package}.__version__)"]
                found[peer] = command(words).strip()
            except RuntimeError:
                self.note(f"peer {peer}: its Python packages are not there; left out")
        return found

    def note(self, text):
        self.notes.append(text)
        print("note: " + text, flush=True)

    def path(self, name):
        return os.path.join(self.directory, name)

    def measure(self, part, *words):
        # OpenBLAS, which only spectra need, starts threads that spin for some 40 ms.
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "SADDLE_MODULES": self.options.build}
        return json.loads(command([self.program, part, *map(str, words)], env=environment))

    def iterate(self, repeats, iterations, settings):
        """Times runs of this many iterations; a tenth of them, and found["iterations"] says so, for a smoke test."""
        if self.options.quick:
            repeats, iterations = min(repeats, 2), max(3, iterations // 10)
        return self.measure("iterate", repeats, iterations,
                            *[f"{name}={value}" for name, value in settings.items()])

    def triad(self, size, threads):
        """Bytes per second of the triad at a working-set size: the median, the best."""
        key = (int(size), threads)
        if key not in self.triads:
            repeats = 2 if self.options.quick else 30 if size < 1e8 else 5
            found = self.measure("triad", key[0], threads, repeats)
            self.triads[key] = found["bytes_per_second"], found["best_bytes_per_second"]
        return self.triads[key]

    def add(self, name, seconds, best, threads=1, size=0, moved=0, peers=None, **more):
        """Record a case: `moved` bytes must move per unit, within a working set of `size`. `peers`
        gives (median, best) seconds by name."""
        case = {"name": name, "threads": threads, "seconds": seconds, "best_seconds": best, **more}
        if moved:
            triad, best_triad = self.triad(size, threads)
            case.update(bytes=moved, working_set=size, triad_bytes_per_second=triad,
                        best_triad_bytes_per_second=best_triad, bytes_per_second=moved / seconds,
                        share_of_triad=moved / seconds / triad,
                        best_share_of_triad=moved / best / best_triad)
        if peers:
            case["peers"] = {peer: {"seconds": median, "best_seconds": least,
                                    "ratio": median / seconds, "best_ratio": least / best}
                             for peer, (median, least) in peers.items()}
        self.cases.append(case)
        print(line(case), flush=True)
        return case

    def repeats(self):
        return 5 if self.options.quick else 100


def times(found):
    return found["seconds_per_iteration"], found["best_seconds_per_iteration"]


# ---- how a case is shown -----------------------------------------------------------------------

def duration(seconds):
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


HEAD = (f"{'case':<34} {'threads':>7} {'time':>9} {'best':>9} {'bytes':>9} {'GB/s':>6} {'of triad':>8}"
        "  ratio to peers")


def line(case):
    text = f"{case['name']:<34} {case['threads']:>7} {duration(case['seconds']):>9}"
    text += f" {duration(case['best_seconds']):>9}"
    if "bytes" in case:
        text += (f" {case['bytes'] / 1e6:>6.3g} MB {case['bytes_per_second'] / 1e9:>6.1f}"
                 f" {100 * case['share_of_triad']:>7.0f}%")
    else:
        text += " " * 26
    for peer, found in case.get("peers", {}).items():
        text += f"  {peer} {found['ratio']:.1f}x ({duration(found['seconds'])})"
    return (text + ("  " + case["remark"] if "remark" in case else "")).rstrip()


# ---- what an iteration must move ---------------------------------------------------------------

def precision_bytes(sizes, tracking=True, recursive=True):
    """Every agent reads its own published span and its neighbours', writes the next one, and reads
    and writes its estimates: v, and u where it is not continued in the batch's entries alone.
    Returns bytes moved and the working set."""
    both = sizes["x_dim"] + sizes["y_dim"]
    agents, edges = sizes["agents"], sizes["edges"]
    span = 2 * both if tracking else both
    estimates = sizes["x_dim"] if recursive else both
    moved = agents * (2 * span + 2 * estimates) + 2 * edges * span
    return 8 * moved, 8 * agents * (2 * span + estimates)


# ---- data --------------------------------------------------------------------------------------

def find_data(bench, names):
    """Paths of files in $SADDLE_DATA or the data directory, or None."""
    home = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    places = [os.environ.get("SADDLE_DATA"), os.path.join(home, "saddle")]
    for place in filter(None, places):
        for ending in ("", ".gz"):
            paths = [os.path.join(place, name + ending) for name in names]
            if all(map(os.path.exists, paths)):
                return paths
    return None


def rows_file(bench):
    """a9a, or a generated file of its shape."""
    found = find_data(bench, ["a9a"])
    if found:
        return found[0]
    bench.note("a9a IS NOT HERE (SADDLE_DATA is where it is looked for): GENERATED DATA of its shape "
               "take its place")
    path = bench.path("a9a-like")
    command([bench.saddle, "data", "generate", path, "--rows", "32561"])
    return path


def images_file(bench):
    """MNIST's 10,000-image part, or bytes of its shape: images and labels."""
    found = find_data(bench, ["t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"])
    if found:
        return found
    bench.note("MNIST's t10k part IS NOT HERE: GENERATED IMAGES of its shape take its place")
    draw = random.Random(1)
    labels = bytes(draw.randrange(10) for _ in range(AGENTS * IMAGES))
    # A fifth of the pixels is ink, more of it on the left in images of 5 to 9.
    ink = [bytes(sorted(draw.randbytes(784), reverse=digit >= 5)) for digit in range(10)]
    paths = bench.path("images-idx3-ubyte"), bench.path("labels-idx1-ubyte")
    with open(paths[0], "wb") as file:
        file.write(struct.pack(">BBBBIII", 0, 0, 8, 3, len(labels), 28, 28))
        for digit in labels:
            noise = draw.randbytes(784)
            file.write(bytes(n if n < 51 else (i if n > 204 else 0)
                             for n, i in zip(noise, ink[digit])))
    with open(paths[1], "wb") as file:
        file.write(struct.pack(">BBBBI", 0, 0, 8, 1, len(labels)) + labels)
    return paths


# ---- peers -------------------------------------------------------------------------------------

class Setting:
    """An instance that saddle and the peers both run."""

    def __init__(self, bench, peer_files, forms, data, labels, settings, samples, batch):
        self.bench, self.files, self.forms = bench, peer_files, forms
        self.samples, self.batch = samples, batch
        self.data, self.labels = data, labels
        edges = bench.path("edges")
        command([bench.saddle, "graph", "er:0.6", "--agents", str(AGENTS), "--save", edges])
        self.edges, self.start = edges, bench.path(peer_files + "-start.npz")
        self.settings = {**settings, **STEPS, "data": data, "agents": str(AGENTS),
                         "samples": str(samples), "partition": "contiguous",
                         "batch": str(batch), "q": str(batch), "topology": "file:" + edges}
        # One iteration leaves a point in the inside of the sets, equal for all.
        self.run({"iterations": "1", "model": self.start})
        self.checked = {}

    def run(self, more):
        words = {**self.settings, **more}
        command([self.bench.saddle, "run", "--quiet", "--gap", "never",
                 *[word for name, value in words.items() for word in ("--" + name, value)]])

    def peer(self, peer, form, threads, q, batch, iterations, *more):
        words = [sys.executable, os.path.join(HERE, "peers", f"{self.files}_{peer}.py"),
                 "--form", form, "--data", self.data, "--edges", self.edges, "--start", self.start,
                 "--agents", str(AGENTS), "--samples", str(self.samples), "--threads", str(threads),
                 "--q", str(q), "--batch", str(batch), "--iterations", str(iterations), *more]
        for name in ("nu", "eta", "tau", "alpha"):
            words += ["--" + name, self.settings[name]]
        if self.labels:
            words += ["--labels", self.labels]
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads),
                       "OPENBLAS_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}
        return json.loads(command(words, env=environment))

    def check(self, peer, form):
        """Whether a peer follows saddle: with full gradients always, and with recursive differences
        over all samples; nothing is random then."""
        if (peer, form) not in self.checked:
            worst = 0.0
            for q, batch in ((1, self.batch), (4, self.samples)):
                ours, theirs = self.bench.path("ours.npz"), self.bench.path("theirs.npz")
                self.run({"q": str(q), "batch": str(batch), "iterations": "10",
                          "init": "file:" + self.start, "model": ours})
                self.peer(peer, form, 1, q, batch, 10, "--model", theirs)
                words = [sys.executable, os.path.join(HERE, "peers", "agree.py"), ours, theirs]
                worst = max(worst, float(command(words)))
            agree = worst <= AGREE
            print(f"check: {self.files}, {peer} {form}: "
                  f"{'agrees' if agree else 'DOES NOT AGREE'} with saddle, {worst:.1e} relative",
                  flush=True)
            if not agree:
                self.bench.note(f"{self.files}, {peer} {form} does not compute the same: left out")
            self.checked[peer, form] = {"agrees": agree, "worst": worst}
        return self.checked[peer, form]["agrees"]

    def check_all(self):
        return all([self.check(peer, form) for peer in self.bench.peers for form in self.forms])

    def peer_times(self, threads, iterations):
        """Seconds per iteration, median and best, of every peer in every form."""
        repeats = "2" if self.bench.options.quick else "15"
        return {peer + " " + form: times(self.peer(peer, form, threads, self.batch, self.batch,
                                                   iterations, "--repeats", repeats))
                for peer in self.bench.peers for form in self.forms if self.check(peer, form)}


def robust_logistic(bench):
    return Setting(bench, "robust_logistic", ("agents", "stacked"), rows_file(bench), None,
                   {"problem": "robust-logistic", "tau": "0.1", "alpha": "1"}, SAMPLES, BATCH)


def auc_network(bench):
    images, labels = images_file(bench)
    return Setting(bench, "auc", ("stacked",), images, labels,
                   {"problem": "auc", "score": f"mlp:{HIDDEN}", "labels": labels, "tau": "2",
                    "alpha": "1"}, IMAGES, IMAGE_BATCH)


# ---- the cases ---------------------------------------------------------------------------------

def case_robust_logistic(bench):
    """PRECISION on the paper's problem at its size, its relatives, and its dense part alone."""
    setting = robust_logistic(bench)
    single = None
    for threads in (1, 2):
        found = bench.iterate(bench.repeats(), CYCLES, {**setting.settings, "threads": threads})
        moved, size = precision_bytes(found)
        median, best = times(found)
        single = single or median
        more = {"remark": f"{single / median:.2f}x one thread"} if threads > 1 else {}
        bench.add("robust-logistic precision", median, best, threads, size, moved,
                  setting.peer_times(threads, CYCLES), **more)
    for threads in (1, 2):
        # Mini-batches of one sample and no refresh leave the dense part.
        settings = {**setting.settings, "threads": threads, "batch": 1, "q": 1000000000}
        found = bench.iterate(bench.repeats(), CYCLES, settings)
        moved, size = precision_bytes(found)
        bench.add("  dense part (batch 1, no refresh)", *times(found), threads, size, moved)
    for algorithm in ("precision+", "prox-gt-sgda", "prox-dsgda"):
        settings = {**setting.settings, "algorithm": algorithm, "threads": 1}
        found = bench.iterate(bench.repeats(), CYCLES, settings)
        moved, size = precision_bytes(found, algorithm != "prox-dsgda", "sgda" not in algorithm)
        bench.add("robust-logistic " + algorithm, *times(found), 1, size, moved)
    for algorithm, iterations in (("gt-gda", 5), ("dposg", CYCLES)):
        settings = {name: value for name, value in setting.settings.items() if name not in STEPS}
        settings.update(algorithm=algorithm, threads=1)
        found = bench.iterate(bench.repeats(), iterations, settings)
        bench.add("robust-logistic " + algorithm, *times(found))


def case_auc(bench):
    """PRECISION on AUC maximization by a network on MNIST's shape."""
    setting = auc_network(bench)
    # Forward and backward products with W1 at two points, all agents.
    flops = AGENTS * 2 * 2 * 2 * IMAGE_BATCH * 784 * HIDDEN
    single = None
    for threads in (1, 2):
        settings = {**setting.settings, "threads": threads}
        found = bench.iterate(3 if bench.options.quick else 15, IMAGE_BATCH, settings)
        median, best = times(found)
        single = single or median
        remark = f"{flops / median / 1e9:.1f} GFLOP/s"
        remark += f", {single / median:.2f}x one thread" if threads > 1 else ""
        bench.add("auc network precision", median, best, threads,
                  peers=setting.peer_times(threads, IMAGE_BATCH), flops=flops, remark=remark)


def case_trace(bench):
    """What measuring at every iteration costs: the whole run's wall time, traced and not."""
    data = rows_file(bench)
    for threads in (1, 2):
        settings = {"data": data, "agents": AGENTS, "samples": SAMPLES, "threads": threads,
                    "trace": bench.path("trace.csv"), **STEPS}
        repeats = bench.repeats() // 5
        plain = bench.iterate(repeats, CYCLES, settings)
        traced = bench.iterate(repeats, CYCLES, {**settings, "trace-every": 1})
        ratio = traced["run_seconds"] / plain["run_seconds"]
        best_ratio = traced["best_run_seconds"] / plain["best_run_seconds"]
        bench.add("trace-every 1, per iteration", traced["run_seconds"] / traced["iterations"],
                  traced["best_run_seconds"] / traced["iterations"], threads,
                  untraced_seconds=plain["run_seconds"] / plain["iterations"], ratio_to_untraced=ratio,
                  best_ratio_to_untraced=best_ratio,
                  remark=f"{ratio:.2f}x untraced ({duration(plain['run_seconds'] / plain['iterations'])}); "
                         f"best {best_ratio:.2f}x")


def thread_counts():
    """One thread and those of SADDLE_BENCH_THREADS, such as "2,16"; without it, two."""
    words = os.environ.get("SADDLE_BENCH_THREADS", "2").replace(",", " ").split()
    try:
        counts = [int(word) for word in words]
    except ValueError:
        counts = [0]
    if min(counts, default=0) < 1:
        raise RuntimeError(f"SADDLE_BENCH_THREADS is '{' '.join(words)}'; give whole numbers, such as 2,16")
    return [1] + [count for count in counts if count > 1]


def case_threads(bench):
    """How much faster several threads are than one: few agents, many rows, many agents, centralized methods, a network,
    trace points. By the wall clock for the last, else by the time of iterating."""
    quick = bench.options.quick
    rows = {"data": rows_file(bench), "agents": AGENTS, "samples": SAMPLES, "topology": "er:0.6"}
    long_rows, short_rows = (8000, 200) if quick else (200000, 2000)
    network = auc_network(bench).settings
    cases = [
        ("a9a, 5 agents", CYCLES, {**rows, **STEPS, "batch": BATCH, "q": Q}),
        ("a9a, 5 agents, default batch and q", CYCLES, {**rows, **STEPS}),
        (f"5 agents x {long_rows} rows", 162, {**rows, **STEPS, "data": f"synthetic:{AGENTS * long_rows}",
                                               "samples": long_rows, "batch": BATCH, "q": Q}),
        (f"100 agents x {short_rows} rows", 162, {**rows, **STEPS, "data": f"synthetic:{100 * short_rows}",
                                                  "agents": 100, "samples": short_rows, "topology": "regular:10",
                                                  "batch": BATCH, "q": Q}),
        ("gda, pooled a9a", 60, {**rows, "algorithm": "gda"}),
        ("sreda, pooled a9a", 60, {**rows, "algorithm": "sreda", "x-set": "none"}),
        ("minimax-ppa, pooled a9a", 3, {**rows, "algorithm": "minimax-ppa"}),
        ("auc, network", 2 * IMAGE_BATCH, network),
        ("a trace point", CYCLES, {**rows, **STEPS, "batch": BATCH, "q": Q, "trace-every": 1}),
    ]
    for name, iterations, settings in cases:
        single = None
        for threads in thread_counts():
            found = bench.iterate(3 if quick else 15, iterations, {**settings, "threads": threads})
            median, best = times(found)
            if "trace-every" in settings:
                median, best = (found[key] / found["iterations"] for key in ("run_seconds", "best_run_seconds"))
            single = single or (median, best)
            more = {}
            if threads > 1:
                more["speedup"], more["best_speedup"] = single[0] / median, single[1] / best
                more["remark"] = f"{single[0] / median:.2f}x one thread; best {single[1] / best:.2f}x"
            bench.add(name, median, best, threads, **more)


def case_kernels(bench):
    """The pieces of an iteration at the paper's size, all five agents, one thread."""
    found = bench.measure("kernels", 5 if bench.options.quick else 100, "data=" + rows_file(bench),
                          f"agents={AGENTS}", f"samples={SAMPLES}")
    for kernel in found["kernels"]:
        bench.add("kernel " + kernel["name"], kernel["seconds"], kernel["best_seconds"], 1,
                  found["working_set"], kernel["bytes"])


def case_libsvm(bench):
    """Reading LIBSVM text made by the generator, beside scikit-learn's reader."""
    rows = 30000 if bench.options.quick else 7150000
    path = bench.path("big.libsvm")
    command([bench.saddle, "data", "generate", path, "--rows", str(rows)])
    size = os.path.getsize(path)
    peer = None
    if not bench.options.no_peers:
        try:
            words = [sys.executable, os.path.join(HERE, "peers", "load_sklearn.py"), path]
            peer = json.loads(command(words))
        except RuntimeError as error:
            bench.note(f"peer scikit-learn: left out ({error})")
    for threads in (1, 2):
        found = bench.measure("load", path, threads, 5)
        peers = None
        if peer and (peer["rows"], peer["nonzeros"]) == (found["rows"], found["nonzeros"]):
            peers = {"scikit-learn": (peer["seconds"], peer["seconds"])}
        bench.add(f"libsvm {size / 1e6:.0f} MB", found["seconds"], found["best_seconds"], threads,
                  peers=peers,
                  file_bytes=size, remark=f"{size / found['seconds'] / 1e6:.0f} MB/s")
    os.remove(path)


def case_growth(bench):
    """Time and memory of PRECISION as the network grows, n = 100 rows like a9a's at every agent; one
    thread, so that no waiting at barriers hides the work."""
    sizes = [5, 100, 1000] if bench.options.quick else [5, 30, 100, 1000, 10000, 30000, 100000]
    sizes = [size for size in sizes if size <= bench.options.most_agents]
    for topology in ("ring", "regular:10"):
        curve = []
        for agents in sizes:
            if topology == "regular:10" and agents == 5:
                agents = 12
            settings = {"data": f"synthetic:{100 * agents}", "agents": agents, "samples": 100,
                        "topology": topology, "threads": 1}
            repeats, iterations = (2, 10) if agents >= 30000 else (10, max(10, 10000 // agents))
            found = bench.iterate(repeats, iterations, settings)
            moved, size = precision_bytes(found)
            median, best = times(found)
            edge_entries = found["edges"] * (found["x_dim"] + found["y_dim"])
            curve.append((agents, best / agents))
            bench.add(f"growth {topology} {agents}", median, best, 1, size, moved,
                      agents=agents, edges=found["edges"], setup_seconds=found["setup_seconds"],
                      best_seconds_per_agent=best / agents,
                      best_seconds_per_edge_and_entry=best / edge_entries,
                      peak_bytes=found["peak_bytes"],
                      peak_bytes_per_agent=found["peak_bytes"] / agents,
                      remark=f"best {duration(best / agents)} per agent, "
                             f"{duration(best / edge_entries)} per edge and entry; "
                             f"{found['peak_bytes'] / agents / 1e3:.0f} kB per agent "
                             f"({found['peak_bytes'] / 1e9:.2f} GB); "
                             f"set up in {duration(found['setup_seconds'])}")
        draw_curve(topology, curve)


def case_mpi(bench):
    """A round of the engine mpi beside a bare exchange of the same bytes, and an iteration as the
    agents per process grow; two processes."""
    program = os.path.join(bench.options.build, "bench", "mpi", "bench_mpi_round")
    if not os.path.exists(program) or not shutil.which("mpirun"):
        bench.note("mpi: there is no MPI here; left out")
        return
    environment = {**os.environ, "SADDLE_MODULES": bench.options.build, "OMPI_ALLOW_RUN_AS_ROOT": "1",
                   "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
                   "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
    turns = ["1"] if bench.options.quick else []
    for row in command(["mpirun", "-n", "2", program, *turns], env=environment).splitlines():
        word = row.split()
        if len(word) == 6 and word[1].isdigit():
            ours, bare = 1e-6 * float(word[3]), 1e-6 * float(word[4])
            bench.add(f"mpi round, {word[1]} bytes", ours, ours, 1, message_bytes=int(word[1]),
                      bare_seconds=bare, ratio_to_bare=ours / bare,
                      remark=f"{ours / bare:.2f}x a bare exchange ({duration(bare)})")
        elif len(word) == 4 and word[0].isdigit():
            seconds = 1e-6 * float(word[1])
            bench.add(f"mpi precision, {word[0]} agents each", seconds, seconds, 1,
                      state_bytes_per_agent=1e3 * float(word[3]),
                      remark=f"{duration(seconds / int(word[0]))} per agent")


def case_peer(bench):
    """A round of peers on a ring over 127.0.0.1 beside a bare exchange of the same bytes by ZeroMQ, encrypted and in
    the clear; the span of PRECISION on a9a."""
    program = os.path.join(bench.options.build, "bench", "peer", "bench_peer_round")
    if not os.path.exists(program):
        bench.note("peer: there is no ZeroMQ here; left out")
        return
    environment = {**os.environ, "SADDLE_MODULES": bench.options.build}
    turns = "1" if bench.options.quick else "15"
    for agents, rounds in ((5, 40), (20, 10)):
        row = json.loads(command([program, str(agents), str(2 * (123 + 6512)), str(rounds), turns], env=environment))
        seconds = {name: sorted(1.0 / rate for rate in row[name]) for name in row if isinstance(row[name], list)}
        middle = {name: each[len(each) // 2] for name, each in seconds.items()}
        wall, cpu = (middle["session" + what] / middle["encrypted" + what] for what in ("", "_cpu"))
        bench.add(f"peer round, {agents} agents", middle["session"], seconds["session"][0], 1, medians=middle,
                  ratio_to_bare=wall, processor_ratio_to_bare=cpu,
                  remark=f"{wall:.2f}x a bare exchange, {cpu:.2f}x in processor time; encryption makes that "
                         f"{middle['encrypted_cpu'] / middle['clear_cpu']:.1f}x")


def run_python(bench, script, repeats):
    """The cases that a script of bench/python prints; none, with a note, where something is missing."""
    environment = {**os.environ, "PYTHONPATH": os.path.join(bench.options.build, "python"), "OPENBLAS_NUM_THREADS": "1"}
    try:
        path = os.path.join(HERE, "python", script)
        return json.loads(command([sys.executable, path, str(repeats)], env=environment))
    except RuntimeError as error:
        bench.note(f"python: {script} is left out ({error})")
        return []


def case_python(bench):
    """A round of a problem in Python that does nothing, a built-in problem run from Python beside the program, and a
    network trained through saddle.torch beside the same loop by hand."""
    quick = bench.options.quick
    own = bench.iterate(bench.repeats(), 1000, {"data": "synthetic", "threads": 1})
    for case in run_python(bench, "rounds.py", 3 if quick else 20):
        built_in = case["name"].endswith("built-in problem")
        more = {"remark": f"{case['best_seconds'] / times(own)[1]:.2f}x the program's"} if built_in else {}
        bench.add(case["name"], case["seconds"], case["best_seconds"], 1, **more)
    trained = [] if bench.options.no_peers else run_python(bench, "torch_mlp.py", 2 if quick else 10)
    for case in trained:
        ratio = case["best_seconds"] / trained[1]["best_seconds"]
        more = {"remark": f"{ratio:.2f}x the loop by hand"} if case is trained[0] else {}
        bench.add(case["name"], case["seconds"], case["best_seconds"], 1, **more)


def case_many(bench):
    """Sixteen seeds of a9a at once, on one thread each, and on a card where there is one; the bits are those of runs
    one after another."""
    for engine, iterations in (("threads", 2000), ("cuda", 10000)):
        words = ["many", 16, iterations // (200 if bench.options.quick else 1), "algorithm=precision", "threads=1",
                 "data=synthetic:32560", "topology=regular:4", "engine=" + engine]
        try:
            found = bench.measure(*words)
        except RuntimeError as error:
            if "--engine: cuda" not in str(error):
                raise
            bench.note("many: no card (saddle run --engine cuda says why)")
            continue
        alone, together = found["alone_seconds_per_iteration"], found["seconds_per_iteration"]
        bench.add(f"16 seeds at once, {engine}", together, together, 1, remark=f"{alone / together:.2f}x one by one")


def draw_curve(topology, curve):
    """Bars of the time per agent: level where growth is linear."""
    print(f"  {topology}: best time per iteration and agent")
    most = max(value for _, value in curve)
    for agents, value in curve:
        print(f"  {agents:>7} {'#' * max(1, round(50 * value / most)):<50} {duration(value)}")


CASES = {"robust-logistic": case_robust_logistic, "auc": case_auc, "trace": case_trace, "threads": case_threads,
         "kernels": case_kernels, "libsvm": case_libsvm, "growth": case_growth, "mpi": case_mpi,
         "peer": case_peer, "python": case_python, "many": case_many}


# ---- all of it ---------------------------------------------------------------------------------

def machine():
    model = platform.processor()
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            model = next((text.split(":", 1)[1].strip() for text in file
                          if text.startswith("model name")), model)
    except OSError:
        pass
    return {"processor": model, "cores": os.cpu_count(), "system": platform.platform(),
            "busy": busy_cores()}


def busy_cores(seconds=1.0):
    """Cores that others keep busy just now; the load average would remember the build before this."""
    def times():
        with open("/proc/stat", encoding="ascii") as file:
            user, nice, system, idle, wait, *rest = map(int, file.readline().split()[1:])
        return user + nice + system + sum(rest[:3]), idle + wait
    try:
        before = times()
        time.sleep(seconds)
        worked, idle = (now - then for now, then in zip(times(), before))
    except (OSError, ValueError):
        return os.getloadavg()[0]
    return os.cpu_count() * worked / max(worked + idle, 1)


def parse():
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--output", metavar="FILE", help="the JSON (default: bench.json in the build)")
    parser.add_argument("--only", metavar="NAME", action="append", choices=sorted(CASES),
                        help="only this case, one of " + ", ".join(CASES) + "; may be repeated")
    parser.add_argument("--quick", action="store_true", help="small sizes, few repeats: a smoke test")
    parser.add_argument("--no-peers", action="store_true", help="saddle alone")
    parser.add_argument("--check", action="store_true",
                        help="only check that the peers compute what saddle computes")
    parser.add_argument("--most-agents", type=int, default=100000, metavar="M",
                        help="largest network of the growth case (default: 100000, 4 GB)")
    return parser.parse_args()


def check_peers(bench):
    if not bench.peers:
        print("skip: no peer's Python packages are installed")
        return 77
    return 0 if all([robust_logistic(bench).check_all(), auc_network(bench).check_all()]) else 1


def main():
    options = parse()
    directory = tempfile.mkdtemp(prefix="saddle-bench-")
    try:
        bench = Bench(options, directory)
        if options.check:
            return check_peers(bench)
        about = machine()
        if about["busy"] > 0.1 * about["cores"]:
            bench.note(f"the machine is BUSY ({about['busy']:.1f} of {about['cores']} cores): "
                       "times are longer than they would be, with two threads most")
        print(f"{about['processor']}, {about['cores']} cores, {about['busy']:.2f} of them busy"
              + "".join(f", {peer} {version}" for peer, version in bench.peers.items()))
        print(HEAD, flush=True)
        for name, body in CASES.items():
            if not options.only or name in options.only:
                body(bench)
        output = options.output or os.path.join(options.build, "bench.json")
        with open(output, "w", encoding="utf-8") as file:
            json.dump({"machine": about, "quick": options.quick, "peers": bench.peers,
                       "notes": bench.notes, "cases": bench.cases}, file, indent=1)
        for text in bench.notes:
            print("note: " + text)
        print("JSON: " + output)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RuntimeError as error:
        sys.exit(f"bench: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
