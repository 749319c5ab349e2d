"""The ends of the root's turn, as a reading of the graph finds them.

An end is one node, or several: an action that ends the turn and shows what was hidden leads to another node in each
world. These are one turn. There may be as many nodes as iterations, so the ends of several are added up in one walk.
"""

from libc.stdint cimport uint32_t

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


# An end of several nodes: those that were first reached by an action of a node. So the same actions in another order
# are another turn, unless the policy of the game drops them.
ctypedef struct SharedC:
    uint32_t parent
    action_t action
    EndC end


cdef class _Ends:
    cdef SearchC* search
    cdef TurnScratchC scratch
    cdef SharedC* shared
    cdef int num_shared
    cdef int room               # for `shared`
    cdef int num_single         # ends of one node

    # Finds the ends of several nodes; before that, each node is an end.
    cdef int find(self) except -1
    cdef int walk(self) noexcept nogil
    cdef int add(self, uint32_t index) noexcept nogil

    # The place of an end of several nodes in `shared`, -1 if there is none: that to which an action of a node leads, or
    # to which a node belongs.
    cdef int place_by(self, uint32_t parent, action_t action) noexcept nogil
    cdef int place(self, uint32_t index) noexcept nogil

    # Writes the descents through the end to which a node belongs; returns whether it has several nodes.
    cdef bint read(self, uint32_t index, EndC* end) except -1

    # The ends of several nodes, as `reading_candidates` sorts them.
    cdef list ranked(self)

    # The number of different turns.
    cdef int num_turns(self) noexcept nogil

# The ends of a search, none found yet.
cdef _Ends ends_of(SearchC* search)

# Writes the descents through a node.
cdef void ends_read_node(SearchC* search, uint32_t index, EndC* end) except *

# The actions by which a node was first reached from the root.
cdef list ends_path(SearchC* search, uint32_t index)
