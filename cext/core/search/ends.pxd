"""The ends of the root's turn, as a reading of the graph finds them.

An end is one node, or several: an action that ends the turn and shows what was hidden leads to another node in each
world. These are one turn. There may be as many nodes as iterations, so the ends of several are added up in one walk.
"""

from libc.stdint cimport uint32_t, uint64_t

from cext.core.contract.turns cimport TurnScratchC
from cext.core.contract.types cimport MAX_SEATS, action_t
from cext.core.search.worker cimport SearchC


# The descents through an end, or through another node.
ctypedef struct EndC:
    uint32_t index              # the most visited node
    double most                 # its visits
    double visits
    double own_visits           # of this search
    bint is_kept                # whether an earlier search has made others
    bint may_win                # whether a node is not proved to be lost
    double utility_sum          # of the searching seat
    double value_sum[MAX_SEATS]
    double score_sum[MAX_SEATS]
    double value_spread[MAX_SEATS]
    double score_spread[MAX_SEATS]


# An end of several nodes: those that were first reached by an action of a node.
ctypedef struct SharedC:
    uint32_t parent
    action_t action
    int same                    # the first of those that are the same turn, with its actions in another order
    EndC end                    # all of that turn, if it is the first one


# The methods take any node of an end.
cdef class _Ends:
    cdef SearchC* search
    cdef TurnScratchC scratch
    cdef SharedC* shared
    cdef int num_shared
    cdef int room               # for `shared`
    cdef int num_single         # ends of one node
    cdef bint are_deep          # whether an end of several nodes is more than one action away
    cdef dict turns             # lists of places in `shared` by the actions of the turn; empty unless `are_deep`

    # Finds the ends of several nodes; before that, each node is an end.
    cdef int find(self) except -1
    cdef int walk(self) noexcept nogil
    cdef int add(self, uint32_t index) noexcept nogil

    # The place of an end of several nodes in `shared`, -1 if there is none: that to which an action of a node leads, or
    # to which a node belongs.
    cdef int place_by(self, uint32_t parent, action_t action) noexcept nogil
    cdef int place(self, uint32_t index) except -2

    # The place of such an end that is the same turn as the path to a node, with its actions in any order, or -1.
    cdef int other_order(self, uint32_t index) except -2
    cdef uint64_t hash_after(self, uint32_t index)

    # Whether a node with visits belongs to an end of several, which has its visits from now on.
    cdef bint take(self, uint32_t index) except -1

    # Writes the descents through an end; returns whether it has several nodes.
    cdef bint read(self, uint32_t index, EndC* end) except -1

    # The ends of several nodes, as `reading_candidates` sorts them.
    cdef list ranked(self)

    # The number of different turns.
    cdef int num_turns(self)

# The ends of a search, none found yet.
cdef _Ends ends_of(SearchC* search)

# Writes the descents through a node.
cdef void ends_read_node(SearchC* search, uint32_t index, EndC* end) except *

# The actions by which a node was first reached from the root.
cdef list ends_path(SearchC* search, uint32_t index)
