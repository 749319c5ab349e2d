"""Reading a result from the graph, during the search or afterwards."""

from libc.stdint cimport uint32_t, uint64_t

from cext.core.search.worker cimport SearchC

# The candidates of a result, best first, at least one and at most `count`: dicts as in `TurnSearch.result`.
cdef list reading_candidates(SearchC* search, int count)

# The first actions that were considered: dicts as in `TurnSearch.result`.
cdef list reading_first_actions(SearchC* search)

# The number of different turns that were found to their ends.
cdef int reading_num_turns(SearchC* search) except -1

# The visits and utilities of the decisions of its turn, see `Search.decisions`.
cdef list reading_decisions(SearchC* search, uint32_t least_visits)

# Raises SearchError unless the visits add up, see `Search.check_visits`. `iterations`: of all threads together.
cdef int reading_check_visits(SearchC* search, int threads, uint64_t iterations) except -1
