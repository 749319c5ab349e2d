"""Listings that a thread keeps; contracts in ``listings.pxd``."""

from libc.stdlib cimport free, malloc
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


cdef class Listings:
    """Kept listings for Python, as a thread of a search has them."""
    cdef ListingsC* _listings

    def __cinit__(self):
        self._listings = <ListingsC*>malloc(sizeof(ListingsC))
        if self._listings == NULL:
            raise MemoryError
        listings_init(self._listings)

    def __dealloc__(self):
        free(self._listings)

    def __reduce__(self):
        raise TypeError("Listings cannot be copied or pickled: they are what one search remembers; make new ones")

    def find(self, uint64_t key):
        """Return the actions and priors that are kept under a key.

        Parameters
        ----------
        key : int
            0 <= key < 2**64.

        Returns
        -------
        tuple of (list of int, list of float) or None
            None if nothing is kept there (any more).
        """
        cdef action_t actions[LISTINGS_MOST]
        cdef float priors[LISTINGS_MOST]
        cdef int i, n = listings_find(self._listings, key, actions, priors)
        return ([actions[i] for i in range(n)], [priors[i] for i in range(n)]) if n > 0 else None

    def keep(self, uint64_t key, list actions not None, list priors not None):
        """Keep actions and their priors under a key; nothing happens if they are more than `LISTINGS_MOST`.

        Parameters
        ----------
        key : int
            0 <= key < 2**64.
        actions : list of int
        priors : list of float
            As many as actions.
        """
        cdef action_t kept_actions[LISTINGS_MOST + 1]
        cdef float kept_priors[LISTINGS_MOST + 1]
        cdef int i, n = min(<int>len(actions), LISTINGS_MOST + 1)
        for i in range(n):
            kept_actions[i] = actions[i]
            kept_priors[i] = priors[i]
        listings_keep(self._listings, key, kept_actions, kept_priors, n)
