"""An iteration of the search, and its parts for searches that evaluate leaves in batches."""

from cext.core.search.worker cimport WorkerC

# Runs one iteration. Returns 0, or -1 if the memory is used up; it is not counted then.
cdef int iteration_run(WorkerC* worker) noexcept nogil

# Goes down to a leaf, to be evaluated and backed up. Its path counts as visited meanwhile (virtual loss). Returns 0, or
# -1 if the memory is used up, or what the root's counter of visits can hold.
cdef int iteration_descend(WorkerC* worker) noexcept nogil

# Whether the leaf of a descent is proved; writes what it is worth then.
cdef bint iteration_read_proof(WorkerC* worker, double* values, double* scores) noexcept nogil

# Adds the outcome of a descent to all nodes and edges of its path; values and scores change on the way (`best_reply`).
cdef void iteration_back_up(WorkerC* worker, double* values, double* scores, bint is_over) noexcept nogil

# Undoes the counts of a descent that cannot be backed up.
cdef void iteration_cancel(WorkerC* worker) noexcept nogil
