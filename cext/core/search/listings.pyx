"""Listings that a thread keeps; contracts in ``listings.pxd``."""

from libc.string cimport memcpy, memset


cdef void listings_init(ListingsC* listings) noexcept nogil:
    memset(listings.places, 0, sizeof(listings.places))
    listings.end = 0
    listings.words[0] = listings.words[1] = 0


cdef int listings_find(const ListingsC* listings, uint64_t key, action_t* actions, float* priors) noexcept nogil:
    # A listing is overwritten from its key on, so it is whole while its key is there.
    cdef const uint64_t* found = listings.words + listings.places[key >> 32 & (LISTINGS_PLACES - 1)]
    cdef int n
    if found[0] != key:
        return 0
    n = <int>found[1]
    memcpy(actions, found + 2, n * sizeof(action_t))
    memcpy(priors, found + 2 + n, n * sizeof(float))
    return n


cdef void listings_keep(ListingsC* listings, uint64_t key, const action_t* actions, const float* priors,
                        int n) noexcept nogil:
    cdef uint32_t size = 2 + n + (n + 1) // 2
    cdef uint64_t* place
    if n > LISTINGS_MOST:
        return
    if listings.end + size > LISTINGS_WORDS:
        listings.end = 0
    place = listings.words + listings.end
    listings.places[key >> 32 & (LISTINGS_PLACES - 1)] = listings.end
    listings.end += size
    place[0] = key
    place[1] = <uint64_t>n
    memcpy(place + 2, actions, n * sizeof(action_t))
    memcpy(place + 2 + n, priors, n * sizeof(float))
