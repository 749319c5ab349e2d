"""Proofs of outcomes; contracts in ``proof.pxd``.

Threads: a proof is stored under the node's lock, but for that of the end of the game, which is always the same; its
level is stored after its outcome, and it never gets worse. What is read of
other nodes meanwhile may be slightly out of date, which can only delay a proof.
"""

from libc.math cimport fabs
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from numpy.random cimport bitgen_t

from cext.core.search.atomics cimport (atomic_cas_u32, atomic_load_u8, atomic_load_u16, atomic_load_u32,
                                       atomic_store_u8, atomic_store_u16, atomic_store_u32, spin_lock, spin_unlock)
from cext.core.search.graph cimport NO_NODE, SEVERAL_NODES, EdgeC, NodeC, graph_edges, graph_num_edges
from cext.core.contract.rng cimport mix_bits, rng_splitmix
from cext.core.contract.turns cimport turn_may_begin
from cext.core.search.turn_search cimport RUNNING, SOLVED
from cext.core.search.worker cimport search_own_visits
from cext.core.contract.types cimport TERMINAL

cdef enum:
    MORE = 256                  # iterations for the points, besides as many as the proof of the shares took

cdef double EQUAL = 1e-9        # the mean of equal numbers may differ from them


cdef void proof_read(SearchC* search, const NodeC* node, OutcomeC* outcome) noexcept nogil:
    cdef NodeC* end = search.graph.nodes + atomic_load_u32(&node.outcome)
    cdef double finished
    cdef int seat
    spin_lock(&end.lock)
    finished = end.finished
    for seat in range(MAX_SEATS):
        outcome.values[seat] = end.value_sum[seat] / finished
        outcome.scores[seat] = end.score_sum[seat] / finished
        outcome.utilities[seat] = end.utility_sum[seat] / finished
    spin_unlock(&end.lock)


cdef bint _has_several_worlds(WorkerC* worker, const NodeC* node, void* state) noexcept nogil:
    """Return whether the searching seat considers other states than one, which may change, in a node."""
    # With random numbers of its own: the search draws the same worlds whether anything is proved or not.
    cdef uint64_t numbers = mix_bits(node.key)
    cdef bitgen_t rng
    rng_splitmix(&rng, &numbers)
    return worker.search.ops.determinize(state, worker.search.viewer, NULL, &rng)


cdef bint proof_end(WorkerC* worker, uint32_t index) noexcept nogil:
    cdef SearchC* search = worker.search
    cdef NodeC* node = search.graph.nodes + index
    if proof_has(search, index):
        return True
    if not search.solves or node.player != TERMINAL or atomic_load_u8(&node.worlds) == SEVERAL_WORLDS:
        return False
    if search.ops.determinize != NULL and _has_several_worlds(worker, node, worker.state):
        atomic_store_u8(&node.worlds, SEVERAL_WORLDS)
        return False
    atomic_store_u32(&node.outcome, index)
    atomic_store_u16(&node.proof, EXACT)
    return True


cdef void proof_look(WorkerC* worker, NodeC* node) noexcept nogil:
    cdef bint has_several
    memcpy(worker.spare, worker.state, worker.search.ops.state_size)
    has_several = _has_several_worlds(worker, node, worker.spare)
    atomic_store_u8(&node.worlds, SEVERAL_WORLDS if has_several else ONE_WORLD)


cdef bint proof_is_provable(SearchC* search, NodeC* node) noexcept nogil:
    cdef uint8_t worlds
    if node.player < 0:
        return False
    if search.ops.determinize == NULL:
        return True
    worlds = atomic_load_u8(&node.worlds)
    if worlds == NOT_LOOKED_AT:
        atomic_store_u8(&node.worlds, WANTED)
    return worlds == ONE_WORLD


cdef void proof_look_at_actions(WorkerC* worker, NodeC* node) noexcept nogil:
    cdef SearchC* search = worker.search
    cdef int num_edges = graph_num_edges(node), num_legal, i, n = 0
    if atomic_load_u8(&node.actions) != NOT_COUNTED or <uint32_t>num_edges != atomic_load_u32(&node.num_legal):
        return
    num_legal = search.ops.legal_actions(worker.state, worker.actions)
    for i in range(num_legal):
        if worker.path_length > 0 or turn_may_begin(search.first_actions, search.num_first, worker.actions[i]):
            n += 1
    atomic_store_u8(&node.actions, ALL_HAVE_EDGES if n == num_edges else SOME_HAVE_NONE)


cdef bint _is_complete(SearchC* search, const NodeC* node) noexcept nogil:
    """Return whether all legal actions of a node lead to proved nodes."""
    cdef int i, num_edges = graph_num_edges(node)
    cdef EdgeC* edges
    cdef uint32_t child
    if atomic_load_u8(&node.actions) != ALL_HAVE_EDGES:
        return False
    edges = graph_edges(&search.graph, node)
    # Backwards: those without visits are the last ones.
    for i in range(num_edges - 1, -1, -1):
        child = atomic_load_u32(&edges[i].child)
        if child == NO_NODE or child == SEVERAL_NODES or not proof_has(search, child):
            return False
    return True


cdef bint _prove(SearchC* search, NodeC* node, uint16_t level, uint32_t outcome) noexcept nogil:
    """Store a proof unless the node has a better one; return whether it is stored."""
    cdef OutcomeC known, found
    cdef uint32_t before = atomic_load_u32(&node.outcome)
    cdef uint16_t proof = atomic_load_u16(&node.proof)
    cdef bint is_better = level > proof
    if level == proof and before != outcome:
        proof_read(search, node, &known)
        proof_read(search, search.graph.nodes + outcome, &found)
        is_better = found.utilities[node.player] > known.utilities[node.player] + EQUAL
    if not is_better:
        return False
    spin_lock(&node.lock)
    is_better = node.proof == proof and node.outcome == before      # unless another thread was faster
    if is_better:
        atomic_store_u32(&node.outcome, outcome)
        atomic_store_u16(&node.proof, level)
    spin_unlock(&node.lock)
    return is_better


cdef inline bint _are_equal(SearchC* search, const double* some, const double* others) noexcept nogil:
    cdef int seat
    for seat in range(search.num_players):
        if fabs(some[seat] - others[seat]) > EQUAL:
            return False
    return True


# What the seat to move takes of the actions of a node, all of which lead to proved nodes.
ctypedef struct ChoiceC:
    OutcomeC outcome
    uint32_t child              # NO_NODE before the first one
    bint is_exact               # whether that is so of all with the same share


cdef void _choose(SearchC* search, const NodeC* node, ChoiceC* choice) noexcept nogil:
    """Find the best of the proved children: by share, then by utility."""
    cdef int i, player = node.player, num_edges = graph_num_edges(node)
    cdef EdgeC* edges = graph_edges(&search.graph, node)    # after their number, see graph.pxd
    cdef OutcomeC found
    cdef double more
    cdef uint32_t child
    cdef bint is_exact
    choice.child = NO_NODE
    choice.is_exact = True
    for i in range(num_edges):
        child = atomic_load_u32(&edges[i].child)
        if child == NO_NODE or child == SEVERAL_NODES or not proof_has(search, child):
            continue
        is_exact = atomic_load_u16(&search.graph.nodes[child].proof) == EXACT
        proof_read(search, search.graph.nodes + child, &found)
        more = 0
        if choice.child != NO_NODE:
            more = found.values[player] - choice.outcome.values[player]
        if choice.child == NO_NODE or more > EQUAL:
            choice.is_exact = is_exact
        elif more < -EQUAL:
            continue
        else:
            choice.is_exact = choice.is_exact and is_exact
            if found.utilities[player] <= choice.outcome.utilities[player] + EQUAL:
                continue
        choice.child = child
        choice.outcome = found


cdef uint16_t _level(SearchC* search, const NodeC* node, const ChoiceC* choice) noexcept nogil:
    """Return what is proved by a choice: whether what is alike to the seat to move is so to all."""
    cdef int i, player = node.player, num_edges = graph_num_edges(node)
    cdef EdgeC* edges = graph_edges(&search.graph, node)
    cdef OutcomeC found
    cdef uint16_t level = EXACT if choice.is_exact else SHARES
    for i in range(num_edges):
        proof_read(search, search.graph.nodes + atomic_load_u32(&edges[i].child), &found)
        if found.values[player] < choice.outcome.values[player] - EQUAL:
            continue
        if choice.is_exact and found.utilities[player] < choice.outcome.utilities[player] - EQUAL:
            continue
        if not _are_equal(search, found.values, choice.outcome.values):
            return UNPROVED
        if not _are_equal(search, found.utilities, choice.outcome.utilities):
            level = SHARES
    return level


cdef bint proof_try(SearchC* search, uint32_t index, uint32_t child) noexcept nogil:
    cdef NodeC* node = search.graph.nodes + index
    cdef NodeC* below = search.graph.nodes + child
    cdef OutcomeC found
    cdef ChoiceC choice
    cdef uint16_t level
    if atomic_load_u16(&node.proof) == EXACT or not proof_is_provable(search, node):
        return False
    if not _is_complete(search, node):
        proof_read(search, below, &found)
        return found.values[node.player] > 1 - EQUAL and _prove(search, node, SHARES, atomic_load_u32(&below.outcome))
    _choose(search, node, &choice)
    level = _level(search, node, &choice)
    return level != UNPROVED and _prove(search, node, level,
                                        atomic_load_u32(&search.graph.nodes[choice.child].outcome))


cdef bint proof_is_closed(SearchC* search, const NodeC* node, uint32_t child) noexcept nogil:
    cdef OutcomeC known, found
    proof_read(search, search.graph.nodes + child, &found)
    if atomic_load_u16(&node.proof) == UNPROVED:
        return found.values[node.player] <= 0       # a shared win may be the best that there is
    proof_read(search, node, &known)
    return (atomic_load_u16(&search.graph.nodes[child].proof) == EXACT
            or found.values[node.player] < known.values[node.player] - EQUAL)


cdef uint32_t proof_next(SearchC* search, uint32_t index) noexcept nogil:
    cdef ChoiceC choice
    _choose(search, search.graph.nodes + index, &choice)
    return choice.child


cdef bint proof_is_lost(SearchC* search, uint32_t index) noexcept nogil:
    cdef OutcomeC found
    if not proof_has(search, index):
        return False
    proof_read(search, search.graph.nodes + index, &found)
    return found.values[search.viewer] <= 0


cdef void proof_end_search(SearchC* search) noexcept nogil:
    cdef NodeC* root = search.graph.nodes + search.root
    cdef uint32_t finished = search_own_visits(search, search.root)
    atomic_cas_u32(&search.proved_at, 0, finished)
    if (atomic_load_u16(&root.proof) == EXACT or search.options.margin_weight == 0
            or finished >= <uint64_t>2 * atomic_load_u32(&search.proved_at) + MORE):
        atomic_cas_u32(&search.limits.stop, RUNNING, SOLVED)
