"""Reading a result from the graph, during the search or afterwards."""

from libc.stdint cimport uint64_t

from cext.core.search cimport SearchC

# The candidates of a result, best first, at least one and at most `count`: dicts as in `TurnSearch.result`.
cdef list reading_candidates(SearchC* search, int count)

# Raises SearchError unless the visits add up, see `Search.check_visits`. `iterations`: of all threads together.
cdef int reading_check_visits(SearchC* search, int threads, uint64_t iterations) except -1
