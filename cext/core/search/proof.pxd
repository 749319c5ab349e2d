"""Proofs: nodes whose outcome with best play is known (MCTS-Solver, for vectors of several seats).

A proved node names the end of the game to which best play leads from it, its *outcome*. Its statistics are those of
the outcome: its sums are set to it, and each later descent to or through it is backed up as the outcome.

The end of the game is proved. A node where a seat is to move is proved
* if an action leads to a proved node in which the seat has the whole win: no other seat has a share then, whichever
  such action it takes;
* if all its actions, also those out of view, lead to proved nodes, and what the seat takes of them is certain. It takes
  the largest share, then the best utility. Actions that are alike to it must be so to all seats.

Only the shares may be proved (`SHARES`: the points are those of the best line found), or the utilities, too (`EXACT`).

A node can be proved only if a single state belongs to it and its mover knows that state, so that nobody acts on what
it cannot know; and no random event is proved. Where a policy leaves actions out (prior 0), only a whole win is proved:
a game also leaves out what is equivalent to a turn that began otherwise, or what no good player would do.

Sources: Winands, Bjornsson and Saito, "Monte-Carlo Tree Search Solver" (2008); several seats: Nijssen and Winands,
"Enhancements for multi-player Monte-Carlo tree search" (2010).
"""

from libc.stdint cimport uint16_t, uint32_t

from cext.core.search.atomics cimport atomic_load_u16
from cext.core.search.graph cimport NodeC
from cext.core.search.worker cimport SearchC, WorkerC
from cext.core.contract.types cimport MAX_SEATS

# `NodeC.proof`.
cdef enum:
    UNPROVED = 0
    SHARES = 1
    EXACT = 2

# `NodeC.worlds`: whether a single state belongs to a node. It is found out where it matters, at the next descent.
cdef enum:
    NOT_LOOKED_AT = 0
    WANTED = 1
    ONE_WORLD = 2
    SEVERAL_WORLDS = 3


# `NodeC.actions`: whether each legal action has an edge. It is counted where it matters, and does not change then.
cdef enum:
    NOT_COUNTED = 0
    ALL_HAVE_EDGES = 1
    SOME_HAVE_NONE = 2


# What an end of the game is worth to each seat.
ctypedef struct OutcomeC:
    double values[MAX_SEATS]
    double scores[MAX_SEATS]
    double utilities[MAX_SEATS]


# Whether a node is proved.
cdef inline bint proof_has(SearchC* search, uint32_t index) noexcept nogil:
    return atomic_load_u16(&search.graph.nodes[index].proof) != UNPROVED

# Whether a descent ends at a node because nothing is left to find out below it. Below a node with proved shares that is
# the points, which matter once the root's shares are proved, too. Within the turn that is searched none ends: its ends
# are compared by their visits.
cdef inline bint proof_ends_descent(SearchC* search, uint32_t index) noexcept nogil:
    cdef uint16_t proof = atomic_load_u16(&search.graph.nodes[index].proof)
    return (proof != UNPROVED and search.graph.nodes[index].turn != search.root_turn
            and (proof == EXACT or not proof_has(search, search.root)))

# Reads the outcome of a proved node. The caller holds no lock of an end of the game.
cdef void proof_read(SearchC* search, const NodeC* node, OutcomeC* outcome) noexcept nogil

# Proves the node at the end of a descent that has just been backed up, if the game is over there; worker.state is its
# state, which may change. Returns whether the node is proved.
cdef bint proof_end(WorkerC* worker, uint32_t index) noexcept nogil

# Proves a node, if it can be proved by its children, of which `child` is proved. Returns whether that is news. The
# caller holds no lock.
cdef bint proof_try(SearchC* search, uint32_t index, uint32_t child) noexcept nogil

# Whether a seat is to move in a node, and a single state belongs to it. If nobody knows, the next descent finds out.
cdef bint proof_is_provable(SearchC* search, NodeC* node) noexcept nogil

# Finds out whether worker.state is the only one of a node where its mover knows what the searching seat knows.
cdef void proof_look(WorkerC* worker, NodeC* node) noexcept nogil

# Counts the legal actions of a node, whose state is worker.state, once all that have a prior have edges. It writes to
# worker.actions.
cdef void proof_look_at_actions(WorkerC* worker, NodeC* node) noexcept nogil

# Whether descents from a node to one of its children, which is proved, are a waste.
cdef bint proof_is_closed(SearchC* search, const NodeC* node, uint32_t child) noexcept nogil

# The child of a proved node on its way to the outcome; NO_NODE if it has none.
cdef uint32_t proof_next(SearchC* search, uint32_t index) noexcept nogil

# Whether a node is proved, and the searching seat has no share of the win in its outcome.
cdef bint proof_is_lost(SearchC* search, uint32_t index) noexcept nogil

# Ends a search whose root is proved. If only the shares are, it goes on for as many iterations again, and some more,
# to look for points.
cdef void proof_end_search(SearchC* search) noexcept nogil
