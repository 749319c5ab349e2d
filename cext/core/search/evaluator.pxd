"""Searching with an evaluator of the caller: leaves are gathered by all threads and evaluated in batches.

A slot is a `WorkerC` with a descent that waits for the value of its leaf. Its path counts as visited meanwhile (virtual
loss), which keeps the descents of a batch apart.
"""

from cext.core.search.worker cimport SearchC, WorkerC

# Searches until a limit is reached, `limits.stop` is set, or it is `until_s`, at most `most` iterations; slot 0 counts
# all of them, and the next call goes on from there. Slot s belongs to thread s % threads. Raises what the evaluator
# raises, and SearchError (reason BAD_EVALUATION) for output of a wrong form; no descent is left unfinished then.
cdef int evaluator_search(SearchC* search, WorkerC* slots, int num_slots, int threads, object evaluator,
                          unsigned long long most, double until_s) except -1
