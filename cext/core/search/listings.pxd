"""Listings that a thread keeps: the actions of positions with their priors, as `policy` gave them.

A position is listed more than once: when its node is widened, and where worlds differ in their legal actions, at each
visit. Listings lie one after the other in a ring; new ones overwrite the oldest.
"""

from libc.stdint cimport uint32_t, uint64_t

from cext.core.contract.types cimport action_t

cdef enum:
    LISTINGS_MOST = 128         # actions of a listing; longer ones are not kept
    LISTINGS_PLACES = 8192      # listings that can be found, a power of 2
    LISTINGS_WORDS = 524288     # of the ring: 4 MiB

ctypedef struct ListingsC:
    uint32_t places[LISTINGS_PLACES]    # where a listing begins, by its key
    uint32_t end                        # of the newest listing
    uint64_t words[LISTINGS_WORDS]      # of each listing its key, the number of actions, the actions, the priors

# Empties the listings. The ring needs no zeros: a place leads to what was written, or to the first word.
cdef void listings_init(ListingsC* listings) noexcept nogil

# Writes the kept actions and priors of a position. `key`: of what the seat to move knows. Returns their number; 0 if
# they are not kept.
cdef int listings_find(const ListingsC* listings, uint64_t key, action_t* actions, float* priors) noexcept nogil

# Keeps n actions and priors of a position.
cdef void listings_keep(ListingsC* listings, uint64_t key, const action_t* actions, const float* priors,
                        int n) noexcept nogil
