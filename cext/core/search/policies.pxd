"""Priors that an evaluator has given, by position; all threads of a search find them, and its later iterations.

A listing is the priors of all legal actions of a position, in canonical order, under the key of what the seat to move
knows. Listings are kept while no thread descends, so reading them takes no lock.
"""

from libc.stdint cimport uint32_t, uint64_t

# How an evaluator answers for actions (its attribute `policy`).
cdef enum:
    POLICY_IDS = 1              # a logit for each of the game's action ids
    POLICY_FEATURES = 2         # a logit for each legal action, from their features

# 16 bytes.
ctypedef struct PolicyPlaceC:
    uint64_t key
    uint32_t begin              # of the listing, in `priors`
    uint32_t num_legal          # its length; 0: no listing

ctypedef struct PoliciesC:
    int form                    # POLICY_IDS or POLICY_FEATURES
    uint32_t mask               # number of places - 1
    uint32_t used               # places with a listing
    uint32_t end                # of the last listing
    uint32_t room               # for priors
    PolicyPlaceC* places        # open addressing, linear probing
    float* priors

# Makes room for a few listings. Returns NULL if there is no memory.
cdef PoliciesC* policies_new(int form) noexcept nogil

cdef void policies_free(PoliciesC* policies) noexcept nogil

# Finds the priors of a position with n legal actions; NULL if they have not been given.
cdef const float* policies_find(const PoliciesC* policies, uint64_t key, int n) noexcept nogil

# Keeps the priors of a position, unless it has some. The room grows, to at most `most` bytes. Returns 0, or -1 if there
# is no memory.
cdef int policies_keep(PoliciesC* policies, uint64_t key, const float* priors, int n, uint64_t most) noexcept nogil

# Bytes in use.
cdef uint64_t policies_memory(const PoliciesC* policies) noexcept nogil
