"""Reading the graph of a search; contracts in ``tree.pxd``. Like ``reading.pyx`` it may run during the search."""

from libc.stdint cimport uint32_t

from cext.core.search.atomics cimport atomic_load_u32
from cext.core.search.ends cimport EndC, ends_read_node
from cext.core.search.graph cimport (NO_NODE, SEVERAL_NODES, EdgeC, GraphC, NodeC, graph_edges, graph_find,
                                     graph_num_edges)
from cext.core.search.worker cimport search_key
from cext.core.contract.types cimport CHANCE


cdef list _edges(SearchC* search, uint32_t index):
    """Return (action, visits, prior, child) of the edges of a node, by visits."""
    cdef NodeC* node = &search.graph.nodes[index]
    cdef int i, num_edges = graph_num_edges(node)
    cdef EdgeC* edges = graph_edges(&search.graph, node)    # after their number, see graph.pxd
    found = []
    for i in range(num_edges):
        found.append((edges[i].action, atomic_load_u32(&edges[i].visits), edges[i].prior,
                      atomic_load_u32(&edges[i].child)))
    return sorted(found, key=_by_visits)


def _by_visits(edge):
    return -edge[1], edge[0]


cdef dict tree_visits(SearchC* search, const void* state):
    cdef uint32_t index = graph_find(&search.graph, search_key(search.ops, state, search.viewer))
    if index == NO_NODE:
        return None
    return {action: visits for action, visits, _, _ in _edges(search, index)}


cdef list tree_read(SearchC* search, long long least):
    cdef GraphC* graph = &search.graph
    cdef NodeC* node
    cdef uint32_t index, used = min(atomic_load_u32(&graph.nodes_used), graph.node_capacity)
    cdef EndC sums
    cdef int seat
    found = {}
    for index in range(1, used):
        node = &graph.nodes[index]
        if atomic_load_u32(&node.finished) < max(1, least):
            continue
        ends_read_node(search, index, &sums)    # visits and sums of one moment
        found[index] = {
            "seat": node.player if node.player >= 0 else None,
            "turn": node.turn - search.root_turn,
            "visits": int(sums.visits),
            "value": [sums.value_sum[seat] / sums.visits for seat in range(search.num_players)],
            "expected_scores": [sums.score_sum[seat] / sums.visits for seat in range(search.num_players)],
            "edges": [],
        }
    numbers = {index: number for number, index in enumerate(found)}
    for index, entry in found.items():
        node = &graph.nodes[index]
        for action, visits, prior, child in _edges(search, index):
            if visits >= least and visits > 0:
                entry["edges"].append({"action": action, "visits": visits, "prior": prior,
                                       "node": None if child == SEVERAL_NODES else numbers.get(child)})
        # A random event is no edge of the graph: its outcomes name the node as their parent.
        if node.parent in found and graph.nodes[node.parent].player == CHANCE:
            found[node.parent]["edges"].append({"action": None, "visits": entry["visits"], "prior": None,
                                                "node": numbers[index]})
    return list(found.values())
