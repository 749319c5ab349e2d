"""Going on from an earlier search: a new search begins with what that one has found below its root.

The part of the graph that can be reached from the new root is copied, so all else is forgotten and its memory is free.
Statistics stay as they are: what they were found with, such as an older belief about hidden cards, is not corrected,
and new descents outweigh it. Positions have no count of turns, so the new root is looked for at each turn from the old
root on, and keys and turns are moved by the difference.
"""

from cext.core.search.worker cimport SearchC

# Whether a search may go on from another one: the same game, seats, seat that searches, weights and options but those
# of its end, and neither noise nor sequential halving nor an evaluator nor a choice of first actions.
cdef bint reuse_is_possible(const SearchC* search, const SearchC* before) noexcept nogil

# Copies what an ended search has found below the root of another one, whose graph is empty and has a table for as many
# nodes as are expected besides; sets `root`, `num_kept`, `kept` and what history and random events are counted from,
# and takes over the history. Without the root in the graph, or if that takes more than half of the memory, only the
# history is taken over, if the position can be of the same game; `root` stays NO_NODE. Returns 0, or -1 if there is no
# memory.
cdef int reuse_take(SearchC* search, SearchC* before, double num_nodes) noexcept nogil
