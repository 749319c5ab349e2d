"""Searching with an evaluator of the caller: leaves are gathered by all threads and evaluated in batches.

A slot is a `WorkerC` with a descent that waits for the value of its leaf. Its path counts as visited meanwhile (virtual
loss), which keeps the descents of a batch apart. There are two batches: native threads gather one while the calling
thread has the other one evaluated. What is backed up is backed up between, while no thread descends.
"""

from libc.stdint cimport uint64_t

from cext.core.search.worker cimport SearchC, WorkerC

cdef enum LeafOutcome:
    NO_LEAF = 0             # the slot has no descent
    NO_MEMORY = 1
    ENDED = 2               # the game is over at its leaf
    WAITING = 3             # for the value of its leaf

# The leaf of a slot's descent. All zero: none yet.
ctypedef struct LeafC:
    int outcome             # LeafOutcome
    int viewer              # the seat to move, whose observation it is
    # With an evaluator that gives priors (`SearchC.policies`) only:
    int num_legal           # legal actions, in `actions` of the slot
    uint64_t key            # of what the seat to move knows
    float* features         # of these actions, where the evaluator asks for them; freed with `evaluator_free_leaf`
    size_t room             # for features

# Goes down to a leaf. At one that waits it writes the observation, ops.observation_size floats (with NULL none), and
# what the evaluator needs of its actions. Returns the outcome.
cdef int evaluator_descend(WorkerC* slot, LeafC* leaf, float* observation) noexcept nogil

# Backs up a descent at whose leaf the game is over.
cdef void evaluator_back_up_end(WorkerC* slot, LeafC* leaf) noexcept nogil

# Takes the logits of a waiting leaf: of all ids, or of its legal actions in canonical order, as `SearchC.policies`
# asks. Returns False if one that counts is not finite. Must be called before `evaluator_back_up`.
cdef bint evaluator_take_logits(WorkerC* slot, const LeafC* leaf, const float* logits) noexcept nogil

# Backs up a waiting descent, with values and scores of the seats from the leaf's seat on, and keeps the priors of the
# logits taken. `scores`: NULL for the points on the table. Returns 0, or -1 if there is no memory for the priors.
cdef int evaluator_back_up(WorkerC* slot, LeafC* leaf, const double* values, const double* scores) noexcept nogil

# Undoes a waiting descent.
cdef void evaluator_cancel(WorkerC* slot, LeafC* leaf) noexcept nogil

cdef void evaluator_free_leaf(LeafC* leaf) noexcept nogil

# How an evaluator answers for actions: 0 (not at all), POLICY_IDS or POLICY_FEATURES. Raises SearchError if it wants
# what the game does not have.
cdef int evaluator_form(object evaluator, object game) except -1

# The shape of numbers that were given, as a message tells it.
cdef str evaluator_shape_text(object given)

# Calls an evaluator with observations, and, if it asks for features of actions, with those and the offsets of each leaf
# [N + 1]. Returns its checked answer: values and scores (None: none given) as float64 [N, seats], logits as float32
# [N, ids] or [M] (None without a policy). Raises what the evaluator raises, and SearchError (reason BAD_EVALUATION) for
# output of a wrong form. The first answer decides whether the margin counts in the search.
cdef tuple evaluator_ask(SearchC* search, object evaluator, object rows, object features, object offsets)

# Searches until a limit is reached, `limits.stop` is set, or it is `until_s`, at most `most` iterations; slot 0 counts
# all of them, and the next call goes on from there. There are 2 * `batch_size` slots; slot s of a batch belongs to
# thread s % threads. `overlaps`: threads gather a batch while another one is evaluated. Raises what `evaluator_ask`
# raises; no descent is left unfinished then.
cdef int evaluator_search(SearchC* search, WorkerC* slots, int batch_size, int threads, bint overlaps, object evaluator,
                          unsigned long long most, double until_s) except -1
