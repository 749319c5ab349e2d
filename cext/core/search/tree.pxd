"""The graph of a search as Python objects; used by `Search`."""

from cext.core.search.worker cimport SearchC

# All nodes with at least `least` visits, in order of discovery; see `Search.tree`.
cdef list tree_read(SearchC* search, long long least)

# The visits of each action at the node of a state, see `Search.visits_at`; None if the state has no node.
cdef dict tree_visits(SearchC* search, const void* state)
