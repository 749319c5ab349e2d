"""The ends of the root's turn; contracts in ``ends.pxd``."""

from libc.stdlib cimport free, realloc
from libc.string cimport memset

from cext.core.contract.turns cimport turn_scratch_free, turn_scratch_init
from cext.core.search.atomics cimport atomic_load_u32, spin_lock, spin_unlock
from cext.core.search.graph cimport NO_NODE, GraphC, NodeC, graph_shared_edge
from cext.core.search.proof cimport proof_is_lost
from cext.core.search.worker cimport search_own_visits


cdef class _Ends:
    """The ends of the root's turn in one reading."""

    def __dealloc__(self):
        turn_scratch_free(&self.scratch)
        free(self.shared)

    cdef int find(self) except -1:
        cdef int status
        if not atomic_load_u32(&self.search.graph.ends_differ):
            self.num_single = <int>atomic_load_u32(&self.search.graph.num_ends)
            return 0
        with nogil:
            status = self.walk()
        if status < 0:
            raise MemoryError
        return 0

    cdef int walk(self) noexcept nogil:
        """Add up the ends of several nodes; return -1 if there is no memory."""
        cdef GraphC* graph = &self.search.graph
        cdef uint32_t index = atomic_load_u32(&graph.first_end)
        cdef int i
        while index != NO_NODE:
            if graph_shared_edge(graph, index) == NULL:
                self.num_single += 1
            else:
                i = self.place_by(graph.nodes[index].parent, graph.nodes[index].from_action)
                if i < 0:
                    i = self.add(index)
                    if i < 0:
                        return -1
                if atomic_load_u32(&graph.nodes[index].finished) > 0:
                    _add_node(self.search, index, &self.shared[i].end)
            index = atomic_load_u32(&graph.nodes[index].next_end)
        return 0

    cdef int add(self, uint32_t index) noexcept nogil:
        """Add the end to which a node belongs, without visits; return its place, or -1 if there is no memory."""
        cdef NodeC* node = &self.search.graph.nodes[index]
        cdef int i = self.num_shared, room = 2 * i + 8
        cdef SharedC* shared = self.shared
        if i == self.room:
            shared = <SharedC*>realloc(shared, room * sizeof(SharedC))
            if shared == NULL:
                return -1
            self.shared = shared
            self.room = room
        memset(&shared[i], 0, sizeof(SharedC))
        shared[i].parent = node.parent
        shared[i].action = node.from_action
        shared[i].end.index = index
        self.num_shared += 1
        return i

    cdef int place_by(self, uint32_t parent, action_t action) noexcept nogil:
        cdef int i
        for i in range(self.num_shared):
            if self.shared[i].parent == parent and self.shared[i].action == action:
                return i
        return -1

    cdef int place(self, uint32_t index) noexcept nogil:
        cdef NodeC* node = &self.search.graph.nodes[index]
        return self.place_by(node.parent, node.from_action)

    cdef bint read(self, uint32_t index, EndC* end) except -1:
        cdef int i = self.place(index)
        if i >= 0:
            end[0] = self.shared[i].end
        else:
            ends_read_node(self.search, index, end)
        return i >= 0

    cdef list ranked(self):
        cdef EndC* end
        cdef int i
        found = []
        for i in range(self.num_shared):
            end = &self.shared[i].end
            if end.visits > 0:
                is_lost = self.search.solves and not end.may_win
                found.append((0.0 if is_lost else -end.visits, -end.utility_sum / end.visits, end.index))
        return found

    cdef int num_turns(self) noexcept nogil:
        return self.num_single + self.num_shared


cdef _Ends ends_of(SearchC* search):
    cdef _Ends ends = _Ends.__new__(_Ends)
    ends.search = search
    if turn_scratch_init(&ends.scratch, search.ops) < 0:
        raise MemoryError
    ends.scratch.first = search.first_actions
    ends.scratch.num_first = search.num_first
    return ends


cdef void _join(EndC* end, const EndC* other) noexcept nogil:
    """Add descents to those of an end.

    Sums of squared deviations are joined as by Chan, Golub and LeVeque (1983).
    """
    cdef double weight = 0.0, difference
    cdef int seat
    if end.visits > 0 and other.own_visits > 0:
        weight = end.own_visits * other.own_visits / (end.own_visits + other.own_visits)
    for seat in range(MAX_SEATS):
        end.value_spread[seat] += other.value_spread[seat]
        end.score_spread[seat] += other.score_spread[seat]
        if weight > 0:
            difference = other.value_sum[seat] / other.visits - end.value_sum[seat] / end.visits
            end.value_spread[seat] += weight * difference * difference
            difference = other.score_sum[seat] / other.visits - end.score_sum[seat] / end.visits
            end.score_spread[seat] += weight * difference * difference
        end.value_sum[seat] += other.value_sum[seat]
        end.score_sum[seat] += other.score_sum[seat]
    if other.most > end.most or (other.most == end.most and other.index < end.index):
        end.index = other.index
        end.most = other.most
    end.visits += other.visits
    end.own_visits += other.own_visits
    end.utility_sum += other.utility_sum
    end.is_kept = end.is_kept or other.is_kept
    end.may_win = end.may_win or other.may_win


cdef void _add_node(SearchC* search, uint32_t index, EndC* end) noexcept nogil:
    """Add the descents through a node to those of an end."""
    cdef NodeC* node = &search.graph.nodes[index]
    cdef EndC found
    cdef int seat
    spin_lock(&node.lock)
    found.visits = found.most = node.finished
    found.own_visits = search_own_visits(search, index)
    found.utility_sum = node.utility_sum[search.viewer]
    for seat in range(MAX_SEATS):
        found.value_sum[seat] = node.value_sum[seat]
        found.score_sum[seat] = node.score_sum[seat]
        found.value_spread[seat] = node.value_spread[seat]
        found.score_spread[seat] = node.score_spread[seat]
    spin_unlock(&node.lock)
    found.index = index
    found.is_kept = index <= search.num_kept
    found.may_win = not proof_is_lost(search, index)
    _join(end, &found)


cdef void ends_read_node(SearchC* search, uint32_t index, EndC* end) except *:
    memset(end, 0, sizeof(EndC))
    # Without the GIL: the holder of the lock may wait for a processor, and other threads may need the GIL.
    with nogil:
        _add_node(search, index, end)


cdef list ends_path(SearchC* search, uint32_t index):
    cdef NodeC* nodes = search.graph.nodes
    actions = []
    while nodes[index].parent != NO_NODE:
        actions.append(nodes[index].from_action)
        index = nodes[index].parent
    return actions[::-1]
