"""Networks from edges, matrices and networkx graphs, and their properties."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._callbacks import Callbacks
from ._checks import as_array, as_bytes, as_integer
from ._library import Array, ffi, lib, text
from ._waiting import interruptible
from .data import pointer
from .errors import check

__all__ = ["Graph", "graph"]


def _edges_of_matrix(matrix: Array) -> Array:
    if not np.array_equal(matrix, matrix.T):
        raise ValueError("the matrix of a network must be symmetric")
    return np.argwhere(np.triu(matrix, 1) != 0)


def _is_matrix(topology: Any) -> bool:
    """Returns whether it is a square matrix, not a list of edges.

    Two rows are a matrix only if they are an array of numbers of at most 1.
    """
    if len(topology) != 2:
        return all(np.shape(row) == (len(topology),) for row in topology) and len(topology) > 0
    is_array = isinstance(topology, np.ndarray) and topology.shape == (2, 2)
    return is_array and (topology.dtype.kind not in "biuf" or topology.max() <= 1)


def _pairs(edges: Any) -> Array:
    """Returns edges as rows of two numbers of agents."""
    try:
        given = np.array(edges)
    except ValueError:
        raise ValueError(f"edges are {edges!r:.80}; give pairs [(0, 1), (1, 2), ...]") from None
    if given.size == 0:
        return np.empty((0, 2), dtype=np.uintp)
    if given.ndim != 2 or given.shape[1] != 2:
        raise ValueError(f"edges have the shape {given.shape}; give pairs [(0, 1), (1, 2), ...]")
    if not np.issubdtype(given.dtype, np.integer) or given.min() < 0:
        raise ValueError("edges must be pairs of agents, which are integers from 0")
    return given.astype(np.uintp)


def _edges(topology: Any, agents: int | None) -> tuple[int, Array, Array | None]:
    """Returns the number of agents, the edges, and the matrix of weights if `topology` is one."""
    if isinstance(topology, Graph):
        return topology.agents, topology.edges, topology.weights
    if hasattr(topology, "nodes") and hasattr(topology, "edges"):  # networkx
        nodes = list(topology.nodes)
        if set(nodes) == set(range(len(nodes))):
            nodes = list(range(len(nodes)))  # agent k is node k, in whatever order they were added
        number = {node: k for k, node in enumerate(nodes)}
        if topology.is_directed():
            for a, b, *_ in topology.edges:
                if not topology.has_edge(b, a):
                    raise ValueError(
                        f"the graph is directed: it has an edge from {a!r} to {b!r}, but none "
                        "back; give graph.to_undirected()"
                    )
        linked = {tuple(sorted((number[a], number[b]))) for a, b, *_ in topology.edges}
        return len(number), _pairs(sorted(linked)), None
    if hasattr(topology, "toarray"):
        topology = topology.toarray()
    if not hasattr(topology, "__iter__"):
        raise TypeError(
            "topology takes a text, edges [(0, 1), ...], a networkx graph, a saddle.Graph or a "
            f"symmetric matrix, not {type(topology).__name__}"
        )
    topology = topology if isinstance(topology, np.ndarray) else list(topology)
    if _is_matrix(topology):
        matrix = as_array(topology, "the matrix of a network")
        weights = matrix if np.all(np.diag(matrix) > 0) else None
        return len(matrix), _edges_of_matrix(matrix), weights
    pairs = _pairs(topology)
    return agents or int(pairs.max(initial=0)) + 1, pairs, None


def _matrix(mixing: Any) -> Array:
    dense = mixing.toarray() if hasattr(mixing, "toarray") else mixing
    weights = as_array(dense, "mixing")
    if weights.ndim != 2 or weights.shape[0] != weights.shape[1]:
        raise ValueError(
            f"mixing has the shape {weights.shape}; it must be a rule such as 'metropolis' or a "
            "square matrix"
        )
    return weights


class Network:
    """A graph in memory and, if a matrix of weights is given, its weights.

    Without a topology the matrix `mixing` determines the neighbours.
    """

    def __init__(self, topology: Any, agents: int | None, mixing: Any, keep: Callbacks) -> None:
        given = None if mixing is None else _matrix(mixing)
        self.agents, edges, weights = _edges(given if topology is None else topology, agents)
        edges = np.ascontiguousarray(edges, dtype=np.uintp)
        out = ffi.new("saddle_graph **")
        pairs = pointer(edges, "size_t *")
        check(lib.saddle_graph_from_edges, out, self.agents, len(edges), pairs)
        self.graph = keep.keep(ffi.gc(out[0], lib.saddle_graph_free))
        self.weights = ffi.NULL
        if given is not None:
            weights = given
        if weights is not None:
            self.weights = self._mixing(weights, keep)

    def _mixing(self, weights: Array, keep: Callbacks) -> Any:
        if weights.shape != (self.agents, self.agents):
            raise ValueError(
                f"mixing has the shape {weights.shape}; the network has {self.agents} agents"
            )
        out = ffi.new("saddle_mixing **")
        matrix = np.ascontiguousarray(weights)
        check(lib.saddle_mixing_from_matrix, out, self.graph, pointer(matrix, "double *"))
        return keep.keep(ffi.gc(out[0], lib.saddle_mixing_free))


class Graph:
    """The properties of a network, such as `saddle.graph("torus:4x5")`."""

    def __init__(self, c_graph: Any, c_mixing: Any) -> None:
        spectrum = ffi.new("saddle_spectrum *")
        diameter = ffi.new("size_t *")

        def measure() -> None:
            check(lib.saddle_mixing_spectrum, c_mixing, spectrum)
            check(lib.saddle_graph_diameter, c_graph, diameter)

        interruptible(measure)
        self.topology = text(c_graph.text)
        self.mixing = text(c_mixing.text)
        self.agents = int(c_graph.agents)
        start = np.array(ffi.unpack(c_graph.start, self.agents + 1), dtype=np.intp)
        ends = ffi.unpack(c_graph.neighbour, start[-1]) if start[-1] else []
        end = np.array(ends, dtype=np.intp)
        begin = np.repeat(np.arange(self.agents), np.diff(start))
        self.edges = np.stack([begin, end], axis=1)[begin < end]
        self.degrees = np.diff(start)
        self.diameter = int(diameter[0])
        self.lambda2 = spectrum.lambda2
        self.lambda_m = spectrum.lambda_m
        self.spectral_gap = spectrum.gap
        self.weights = np.diag(ffi.unpack(c_mixing.self_weight, self.agents))
        if len(end):
            self.weights[begin, end] = ffi.unpack(c_mixing.weight, len(end))

    def to_networkx(self) -> Any:
        """Returns the network as a networkx graph with the mixing weights on its edges."""
        import networkx

        out = networkx.Graph()
        out.add_nodes_from(range(self.agents))
        edges: Any = self.edges.tolist()
        out.add_weighted_edges_from((i, j, float(self.weights[i, j])) for i, j in edges)
        return out

    def __repr__(self) -> str:
        return (
            f"<saddle.Graph {self.topology}: {self.agents} agents, {len(self.edges)} edges, "
            f"diameter {self.diameter}, spectral gap {self.spectral_gap:.4g}>"
        )


def graph(
    topology: Any = "er:0.6", agents: int | None = None, mixing: Any = "laplacian", seed: int = 1
) -> Graph:
    """Returns edges, degrees, diameter, mixing weights and spectrum of a network.

    >>> import saddle
    >>> ring = saddle.graph("ring", agents=6)
    >>> ring.diameter, ring.degrees.tolist()
    (3, [2, 2, 2, 2, 2, 2])
    """
    keep = Callbacks()
    agents = None if agents is None else as_integer(agents, "agents", 1)
    if isinstance(topology, str):
        name = as_bytes(topology, "topology")
        decides = lib.saddle_topology_sets_agents(name)
        count = agents or (0 if decides else lib.SADDLE_DEFAULT_AGENTS)
        out = ffi.new("saddle_graph **")
        check(lib.saddle_graph_create, out, name, count, as_integer(seed, "seed"))
        c_graph = keep.keep(ffi.gc(out[0], lib.saddle_graph_free))
        weights = ffi.NULL
        if not isinstance(mixing, str):
            raise TypeError(
                f"mixing is {mixing!r:.80}; if topology is a text, it must be a rule such as "
                "'metropolis'"
            )
    else:
        network = Network(topology, agents, None if isinstance(mixing, str) else mixing, keep)
        c_graph, weights = network.graph, network.weights
    if not weights:
        out = ffi.new("saddle_mixing **")
        check(lib.saddle_mixing_create, out, c_graph, as_bytes(mixing, "mixing"))
        weights = keep.keep(ffi.gc(out[0], lib.saddle_mixing_free))
    return Graph(c_graph, weights)
