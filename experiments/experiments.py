"""The experiments of Liu, Zhang, Lu, Liu, "PRECISION" (MobiHoc 2023), section 4 and appendix B, and some of ours.

An experiment is a few series of runs that differ in one thing: the algorithm, a step size, the network, the number of
samples. Settings are keywords of `saddle.run()`. To change an experiment or to add one, edit the table EXPERIMENTS;
claims.py says what the runs show.

The paper gives nu (called gamma in its experiments) and eta, both 0.1, |S| = q = ceil(sqrt(n)) in appendices B.2 to
B.4, and a start "from the normal distribution". Its experiments are repeated as literally as possible: tau = alpha = 1,
so that PRECISION's step with nu = 0.1 is the baselines' -gamma g with gamma = 0.1, and a standard normal start
(LITERAL). It does not give the lengths of runs or the values of the step-size study.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["Experiment", "Series", "EXPERIMENTS", "TITLES"]

Settings = dict[str, Any]

TITLES = {
    "precision": "PRECISION",
    "precision+": "PRECISION+",
    "gt-gda": "GT-GDA",
    "prox-gt-sgda": "Prox-GT-SGDA",
    "prox-dsgda": "Prox-DSGDA",
}


@dataclass(frozen=True)
class Series:
    """One curve of a figure: runs that differ only in their seed."""

    name: str
    """Of its files, and in claims."""
    label: str
    """In legends and statements; "A, B" is A with the value, or over the links, B."""
    algorithm: str
    settings: Settings = field(default_factory=dict)
    """In addition to the experiment's."""
    value: float = 0.0
    """The value that is varied, if it is a number."""
    tuned: bool = False
    """Whether tau, alpha and the batch are searched."""
    churn: str = ""
    """Contents of a churn file; "": all agents stay."""


@dataclass(frozen=True)
class Experiment:
    name: str
    title: str
    source: str
    """Where it is in the paper, or its purpose; without sizes."""
    data: str
    """"a9a", "mnist", or "" if the problem generates its own."""
    settings: Settings
    """Of all series."""
    quick: Settings
    """What --quick changes."""
    panels: str
    """Of the figure: "x:y x:y", columns of the trace or of runs.add_columns(). "x:y@A" has only the series of A;
    "value:y" is y at the end of the runs against the series' values, one curve for each A."""
    series: list[Series]
    tuning: int = 0
    """IFO calls of each search for tau, alpha and the batch; 0: none. If not 0, claims about a series are about its
    algorithm, whose best series counts."""
    quick_tuning: int = 0
    batches: str = ""
    """The batches that a search tries."""
    varied: str = ""
    """Name of the values, for an axis."""
    drawn: int = 0
    """Number of series that are drawn, the first ones; 0: all."""

    def find(self, name: str) -> Series:
        """Returns the series of this name."""
        return next(series for series in self.series if series.name == name)


# ---- series -------------------------------------------------------------------------------------


def over(name: str, values: list[float], label: str, algorithm: str, settings: Any) -> list[Series]:
    """Returns a series for each value: settings(value) are its settings."""
    return [Series(f"{name}-{v:g}", f"{label} = {v:g}", algorithm, settings(v), v) for v in values]


# The paper's comparison. The distance of trace points in IFO calls is about the same for all.
COMPARED = [
    Series(name, TITLES[name], name, {"trace_every": every})
    for name, every in [("precision", 5), ("precision+", 5), ("prox-gt-sgda", 10), ("prox-dsgda", 10)]
]


def at_best() -> list[Series]:
    """Returns every algorithm with searched settings, and with its default steps.

    Tuning for the length of the run may slow a method down on the way, so each also runs with its default steps, with
    several batches, of which the series with a fixed batch are not drawn. Claims use the best series at every level.
    Trace points are about 1000 IFO calls apart for all.
    """
    four = [(series.algorithm, series.label) for series in COMPARED]
    every = {"precision": 2, "precision+": 8, "prox-gt-sgda": 3, "prox-dsgda": 3}
    batches = {
        "precision": {2: 2, 6: 2, 60: 1},
        "precision+": {2: 20, 6: 12, 40: 3},
        "prox-gt-sgda": {2: 100, 6: 33, 20: 10},
        "prox-dsgda": {2: 100, 6: 33, 20: 10},
    }
    return [
        *[Series(name, title, name, tuned=True) for name, title in four],
        *[Series(f"{name}-default", f"{title}, default", name, {"trace_every": every[name]}) for name, title in four],
        *[Series(f"{name}-batch-{size}", f"{title}, |S| = {size}", name, {"batch": size, "trace_every": distance})
          for name, title in four for size, distance in batches[name].items()],
    ]  # fmt: skip


STEPS_X = over("nu", [0.1, 0.03, 0.01], "nu", "precision", lambda nu: {"nu": nu, "eta": 0.1})
STEPS_Y = over("eta", [0.1, 0.03, 0.01], "eta", "precision", lambda eta: {"nu": 0.1, "eta": eta})
NETWORKS = over("er", [0.9, 0.6, 0.3], "p_c", "precision", lambda p: {"topology": f"er:{p}"})
# The metric with the exact direction of the network's gradient, and with the algorithm's own noisy one.
DIRECTIONS = [
    Series("precision", "PRECISION, exact direction", "precision", {"trace_every": 10}),
    Series("precision-own", "PRECISION, own direction", "precision", {"trace_every": 10, "metric_direction": "own"}),
    Series("prox-gt-sgda", "Prox-GT-SGDA, exact direction", "prox-gt-sgda", {"trace_every": 20}),
    Series("prox-gt-sgda-own", "Prox-GT-SGDA, own direction", "prox-gt-sgda",
           {"trace_every": 20, "metric_direction": "own"}),
]  # fmt: skip
# Batches and refreshes of PRECISION and PRECISION+ at n = 2025: the paper's, ours, and values near them.
RULES = [
    Series("plus-paper", "PRECISION+, |S| = q = sqrt(n)", "precision+", {"batch": 45, "q": 45}),
    Series("plus-default", "PRECISION+, |S| = sqrt(n)/8, q = 2 sqrt(R)", "precision+"),
    Series("plus-fixed", "PRECISION+, |S| = sqrt(n)/8, q = sqrt(n)", "precision+", {"batch": 6, "q": 45}),
    Series("plus-long", "PRECISION+, |S| = sqrt(n)/8, q = 4 sqrt(n)", "precision+", {"batch": 6, "q": 180}),
    Series("plus-tiny", "PRECISION+, |S| = 2, q = 2 sqrt(R)", "precision+", {"batch": 2}),
    Series("plus-large", "PRECISION+, |S| = sqrt(n)/2, q = 2 sqrt(R)", "precision+", {"batch": 23}),
    Series("precision-paper", "PRECISION, |S| = q = sqrt(n)", "precision", {"batch": 45, "q": 45}),
    Series("precision-default", "PRECISION, |S| = sqrt(n)/4, q = sqrt(n)", "precision"),
]
REFRESHES = over("c-gamma", [100, 10, 1, 0.1], "c_gamma", "precision+", lambda c: {"c_gamma": c})
# With |S| = q = sqrt(n), which the corollary assumes.
SIZES = over("n", [100, 400, 1600, 6400], "n", "precision",
             lambda n: {"samples": n, "batch": round(n**0.5), "q": round(n**0.5)})  # fmt: skip
# Theorem 2 assumes that gamma and a bound on the variance are known; the largest measured variance is 12.7.
THEOREMS = [
    Series("precision", "PRECISION", "precision"),
    Series("precision+", "PRECISION+", "precision+",
           {"c_gamma": 100, "c_epsilon": "1e4", "epsilon": 0.1, "gamma": "exact", "sigma2": 15}),
]  # fmt: skip


def losses() -> list[Series]:
    """Returns the rules for lost messages, by the fraction that is lost.

    The series that lose a fifth are drawn over rounds, in an order in which the dashes of coinciding curves differ.
    """
    rules: list[tuple[str, str, str, Settings]] = [
        ("agreed", "agreed: both ends know", "agreed", {}),
        ("own", "inexact: own state", "lossy", {"inexact": "own"}),
        ("lossy", "lossy: running sums", "lossy", {}),
        ("stale", "inexact: last copy", "lossy", {"inexact": "stale"}),
    ]
    return [Series("reliable", "reliable", "precision", {"links": "reliable"})] + [
        Series(f"{rule}-{p}", f"{title}, {100 * p:.0f}% lost", "precision", {"links": f"{links}:{p}", **given}, p)
        for p in [0.2, 0.02, 0.1, 0.3, 0.5]
        for rule, title, links, given in rules
    ]


FOUR_EXACT = ["precision", "precision+", "gt-gda", "prox-gt-sgda"]
LINKS = {"reliable": "reliable", "lossy-0.2": "lossy:0.2", "lossy-0.5": "lossy:0.5", "burst": "burst:0.2:20",
         "delay": "delay:5"}  # fmt: skip
OVER_LINKS = [
    Series(f"{algorithm}-{name}", f"{TITLES[algorithm]}, {links}", algorithm, {"links": links})
    for algorithm in FOUR_EXACT
    for name, links in LINKS.items()
]
# Compressed messages, on the link whose time is simulated.
COMPRESSIONS = [
    Series(name, label, "precision", {"compress": rule})
    for name, label, rule in [
        ("doubles", "doubles", "none"),
        ("bits-8", "8 bits", "quantize:8"),
        ("bits-4", "4 bits", "quantize:4"),
        ("bits-2", "2 bits", "quantize:2"),
        ("top", "the largest 10%", "top:0.1"),
        ("random", "a random 10%", "random:0.1"),
    ]
]
FOREVER = 2**53
# Agents 3 and 7 leave, and 3 returns, against a run without 7 from the start.
CHURN = {
    "fresh": ("nine from the start", f"{FOREVER - 1} join 7\n"),
    "churn": ("two leave, one returns", "500 leave 3\n500 leave 7\n1000 return 3\n"),
}
WITH_CHURN = [
    Series(f"{algorithm}-{name}{suffix}", f"{TITLES[algorithm]}, {label}{over_links}", algorithm, {"links": links},
           churn=events)
    for algorithm in FOUR_EXACT
    for suffix, over_links, links in [("", "", "reliable"), ("-lossy", ", lossy:0.2", "lossy:0.2")]
    for name, (label, events) in CHURN.items()
]  # fmt: skip
# A ring that is cut into two halves.
CUT_AND_HEAL = "500 cut 0 9\n500 cut 4 5\n1000 heal 0 9\n1000 heal 4 5\n"
PARTITIONS = [
    Series(f"{name}{suffix}", f"{label}{over_links}", "precision", {"links": links}, churn=events)
    for suffix, over_links, links in [("", "", "reliable"), ("-lossy", ", lossy:0.2", "lossy:0.2")]
    for name, label, events in [("never", "never cut", ""), ("healed", "cut in two and healed", CUT_AND_HEAL)]
]

# ---- experiments ---------------------------------------------------------------------------------

# The paper's settings, taken literally; those of our own comparisons; problems; networks; figures.
LITERAL: Settings = {"steps": "paper", "init": "normal:1"}
STEPS: Settings = {"nu": 0.1, "eta": 0.1}
REGRESSION: Settings = {"problem": "robust-logistic"}
AUC: Settings = {"problem": "auc"}
FIVE: Settings = {"agents": 5, "topology": "er:0.6"}
TEN: Settings = {"agents": 10, "topology": "er:0.6"}
TWENTY: Settings = {"agents": 20, "topology": "er:0.5"}
FOUR_PANELS = "ifo:loss_gap ifo:metric rounds:loss_gap rounds:metric"
TWO_PANELS = "ifo:metric rounds:metric"
AUC_PANELS = "ifo:metric rounds:metric ifo:train_auc rounds:train_auc"
ALGORITHM_PANELS = " ".join(f"rounds:metric@{TITLES[name]}" for name in FOUR_EXACT)


def ifo(count: int) -> Settings:
    """Returns the settings of runs that end after this many IFO calls."""
    return {"iterations": FOREVER, "max_ifo": count}


def rounds(count: int) -> Settings:
    return {"iterations": FOREVER, "max_rounds": count}


def steps(name: str, title: str, figure: str, problem: Settings, length: int, every: int,
          series: list[Series]) -> Experiment:  # fmt: skip
    """Returns an experiment of appendix B.2."""
    return Experiment(
        name, title, f"appendix B.2, figure {figure}", "a9a",
        LITERAL | problem | FIVE | {"samples": 2000} | ifo(length) | {"trace_every": every},
        {"samples": 400, "max_ifo": length // 10}, TWO_PANELS, series,
    )  # fmt: skip


def tuned(name: str, title: str, data: str, settings: Settings, quick: Settings, panels: str, tuning: int,
          quick_tuning: int, batches: str) -> Experiment:  # fmt: skip
    """Returns an experiment with tau, alpha and the batch of each method searched for."""
    return Experiment(
        name, title,
        "ours: tau, alpha and the batch searched for each algorithm; and default steps with four batches",
        data, FIVE | STEPS | settings, quick, panels, at_best(), tuning, quick_tuning, batches, drawn=8,
    )  # fmt: skip


def rule(name: str, title: str, problem: Settings) -> Experiment:
    return Experiment(
        name, title, "ours: how large mini-batches and how frequent refreshes should be", "a9a",
        problem | FIVE | {"samples": 2025} | ifo(600000) | {"trace_every": 2}, {"max_ifo": 60000}, TWO_PANELS, RULES,
    )  # fmt: skip


EXPERIMENTS = [
    Experiment(
        "regression", "Regression on a9a", "section 4, figure 1", "a9a",
        LITERAL | REGRESSION | FIVE | {"samples": 6512} | ifo(800000), {"samples": 400, "max_ifo": 100000},
        FOUR_PANELS, COMPARED,
    ),
    Experiment(
        "auc-a9a", "AUC on a9a", "appendix B.1, figure 3(a), with a linear score", "a9a",
        LITERAL | AUC | FIVE | {"samples": 6512} | ifo(1500000), {"samples": 400, "max_ifo": 150000},
        AUC_PANELS, COMPARED,
    ),
    # With the literal settings all four algorithms diverge on pixels.
    Experiment(
        "auc-mnist", "AUC on MNIST",
        "appendix B.1, figure 3(b), with a linear score, digits 5-9 against 0-4; tau and alpha are those of the "
        "problem, since with tau = 1 all four diverge", "mnist",
        AUC | FIVE | STEPS | {"init": "normal:1", "samples": 2000, "batch": 45, "q": 45} | ifo(1000000),
        {"samples": 200, "batch": 15, "q": 15, "max_ifo": 60000}, AUC_PANELS, COMPARED,
    ),
    steps("steps-x-regression", "Steps in x, regression", "4(a)", REGRESSION, 1000000, 2, STEPS_X),
    steps("steps-y-regression", "Steps in y, regression", "4(a)", REGRESSION, 1000000, 2, STEPS_Y),
    steps("steps-x-auc", "Steps in x, AUC", "4(b)", AUC, 2000000, 5, STEPS_X),
    steps("steps-y-auc", "Steps in y, AUC", "4(b)", AUC, 2000000, 5, STEPS_Y),
    Experiment(
        "topology-regression", "Networks, regression", "appendix B.3, figure 6(a)", "a9a",
        LITERAL | REGRESSION | {"agents": 5, "samples": 100} | ifo(100000) | {"trace_every": 1}, {"max_ifo": 40000},
        TWO_PANELS, NETWORKS,
    ),
    Experiment(
        "topology-auc", "Networks, AUC", "appendix B.3, figure 6(b)", "a9a",
        LITERAL | AUC | {"agents": 5, "samples": 100} | ifo(400000) | {"trace_every": 1}, {"max_ifo": 60000},
        TWO_PANELS, NETWORKS,
    ),
    Experiment(
        "agents-regression", "20 agents, regression", "appendix B.4, figure 6(c)", "a9a",
        LITERAL | REGRESSION | TWENTY | {"samples": 1628} | ifo(800000), {"samples": 100, "max_ifo": 100000},
        FOUR_PANELS, COMPARED,
    ),
    # Appendix B.4 compares with section 4, which is about regression.
    Experiment(
        "agents-auc", "20 agents, AUC", "ours: appendix B.4 on AUC", "a9a",
        LITERAL | AUC | TWENTY | {"samples": 1628} | ifo(1500000), {"samples": 100, "max_ifo": 150000},
        AUC_PANELS, COMPARED,
    ),
    tuned("tuned-regression", "Searched tau, alpha and batch, regression", "a9a",
          REGRESSION | {"samples": 6512} | ifo(1000000), {"samples": 400, "max_ifo": 50000}, FOUR_PANELS,
          42000000, 800000, "5,20,81"),
    tuned("tuned-auc-a9a", "Searched tau, alpha and batch, AUC on a9a", "a9a",
          AUC | {"samples": 6512} | ifo(1500000), {"samples": 400, "max_ifo": 50000}, AUC_PANELS,
          42000000, 800000, "5,20,81"),
    tuned("tuned-auc-mnist", "Searched tau, alpha and batch, AUC on MNIST", "mnist",
          AUC | {"samples": 2000} | ifo(1000000), {"samples": 200, "max_ifo": 30000}, AUC_PANELS,
          14000000, 400000, "3,11,45"),
    Experiment(
        "direction-auc", "Two directions of the metric, AUC on a9a", "ours: what the metric makes of a noisy direction",
        "a9a", AUC | FIVE | LITERAL | {"samples": 6512} | ifo(600000), {"samples": 400, "max_ifo": 60000},
        TWO_PANELS, DIRECTIONS,
    ),
    rule("rule-regression", "Batches and refreshes, regression", REGRESSION),
    rule("rule-auc", "Batches and refreshes, AUC", AUC),
    rule("rule-fair", "Batches and refreshes, fairness", {"problem": "fair", "sensitive": 72}),
    Experiment(
        "refresh-regression", "c_gamma of PRECISION+, regression", "ours: the paper gives no c_gamma", "a9a",
        REGRESSION | FIVE | STEPS | {"samples": 6512} | ifo(300000) | {"trace_every": 2},
        {"samples": 400, "max_ifo": 30000}, TWO_PANELS, REFRESHES,
    ),
    Experiment(
        "refresh-auc", "c_gamma of PRECISION+, AUC", "ours: the paper gives no c_gamma", "a9a",
        AUC | FIVE | STEPS | {"samples": 6512} | ifo(500000) | {"trace_every": 5},
        {"samples": 400, "max_ifo": 50000}, TWO_PANELS, REFRESHES,
    ),
    Experiment(
        "complexity-quadratic", "Complexity, quadratic", "corollary 1, with mu = 1 and L = 10", "",
        {"problem": "quadratic"} | FIVE | STEPS | {"iterations": 20000, "stop_when": "metric<=1e-8", "trace_every": 1},
        {"stop_when": "metric<=1e-4", "trace_every": 2}, TWO_PANELS, SIZES,
    ),
    Experiment(
        "complexity-regression", "Complexity, regression", "corollary 1, on a9a", "a9a",
        REGRESSION | FIVE | STEPS | {"iterations": 3000, "stop_when": "metric<=1e-8", "trace_every": 1},
        {"stop_when": "metric<=1e-4", "trace_every": 2}, TWO_PANELS, SIZES,
    ),
    Experiment(
        "theorem", "Theorems 1 and 2, quadratic",
        "ours: theorems 1 and 2, corrected, with mu = 1.05, L = 3.16 and the theory's steps", "",
        {"problem": "quadratic", "agents": 20, "topology": "complete", "samples": 10000, "x_dim": 6, "y_dim": 4,
         "mu": 1.05, "lipschitz": 3.16, "tau": 20, "steps": "theory", "iterations": 60000, "trace_every": 30,
         "metric_direction": "own"},
        {"iterations": 1000, "samples": 1000, "trace_every": 5}, "iteration:mean_metric iteration:metric", THEOREMS,
    ),
    Experiment(
        "networks-loss", "Lost messages, PRECISION on a9a", "ours: what is done about lost messages", "a9a",
        REGRESSION | TEN | {"samples": 200, "batch": 15, "q": 15} | rounds(1000) | {"trace_every": 5},
        {"samples": 50, "batch": 8, "q": 8, "max_rounds": 150},
        "rounds:y_gap value:y_gap rounds:metric value:metric", losses(),
        varied="share of the messages that are lost", drawn=5,
    ),
    Experiment(
        "networks-algorithms", "Losses, bursts and delays on a9a",
        "ours: the algorithms that stay exact when messages are lost", "a9a",
        REGRESSION | TEN | {"samples": 200} | rounds(2000) | {"trace_every": 5}, {"samples": 50, "max_rounds": 150},
        ALGORITHM_PANELS, OVER_LINKS,
    ),
    Experiment(
        "networks-compression", "Compressed messages, PRECISION on a9a",
        "ours: links of 1 Mbit/s and 20 ms, a microsecond for each IFO call", "a9a",
        REGRESSION | TEN | {"samples": 200, "batch": 15, "q": 15, "iterations": FOREVER,
                            "link_model": "latency:0.02,bandwidth:125000,compute:1e-6", "max_network_seconds": 30,
                            "trace_every": 1},
        {"samples": 50, "batch": 8, "q": 8, "max_network_seconds": 3}, "bytes:metric network_seconds:metric",
        COMPRESSIONS,
    ),
    Experiment(
        "networks-churn", "Agents leave and return, a9a",
        "ours: after 500 rounds two agents leave, after 1000 one of them returns", "a9a",
        REGRESSION | TEN | {"samples": 200} | rounds(3000) | {"trace_every": 5}, {"samples": 50, "max_rounds": 1200},
        ALGORITHM_PANELS, WITH_CHURN,
    ),
    Experiment(
        "networks-partition", "A network that falls in two, PRECISION on a9a",
        "ours: a ring is cut in two after 500 rounds and healed after 1000", "a9a",
        REGRESSION | {"agents": 10, "topology": "ring", "samples": 200} | rounds(3000) | {"trace_every": 5},
        {"samples": 50, "max_rounds": 1200}, "rounds:metric rounds:x_consensus", PARTITIONS,
    ),
]  # fmt: skip
