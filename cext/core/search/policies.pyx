"""Priors that an evaluator has given; contracts in ``policies.pxd``."""

from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy

cdef enum:
    FIRST_PLACES = 256          # a power of 2
    FIRST_ROOM = 4096           # priors


cdef PoliciesC* policies_new(int form) noexcept nogil:
    cdef PoliciesC* policies = <PoliciesC*>calloc(1, sizeof(PoliciesC))
    if policies == NULL:
        return NULL
    policies.form = form
    policies.mask = FIRST_PLACES - 1
    policies.room = FIRST_ROOM
    policies.places = <PolicyPlaceC*>calloc(FIRST_PLACES, sizeof(PolicyPlaceC))
    policies.priors = <float*>malloc(FIRST_ROOM * sizeof(float))
    if policies.places == NULL or policies.priors == NULL:
        policies_free(policies)
        return NULL
    return policies


cdef void policies_free(PoliciesC* policies) noexcept nogil:
    if policies != NULL:
        free(policies.places)
        free(policies.priors)
        free(policies)


cdef inline PolicyPlaceC* _place(PolicyPlaceC* places, uint32_t mask, uint64_t key) noexcept nogil:
    """Return the place of a key, or the free one where it belongs."""
    cdef uint32_t at = <uint32_t>(key ^ (key >> 32)) & mask
    while places[at].num_legal != 0 and places[at].key != key:
        at = (at + 1) & mask
    return &places[at]


cdef const float* policies_find(const PoliciesC* policies, uint64_t key, int n) noexcept nogil:
    cdef const PolicyPlaceC* place = _place(policies.places, policies.mask, key)
    return policies.priors + place.begin if n > 0 and place.num_legal == <uint32_t>n else NULL


cdef int _grow_places(PoliciesC* policies, uint64_t most) noexcept nogil:
    """Double the places. Return 0, or -1 if there is no memory."""
    cdef uint64_t num_places = 2 * (<uint64_t>policies.mask + 1)
    cdef PolicyPlaceC* places
    cdef uint32_t i
    if policies_memory(policies) + num_places // 2 * sizeof(PolicyPlaceC) > most or num_places > <uint64_t>1 << 31:
        return -1
    places = <PolicyPlaceC*>calloc(num_places, sizeof(PolicyPlaceC))
    if places == NULL:
        return -1
    for i in range(policies.mask + 1):
        if policies.places[i].num_legal != 0:
            _place(places, <uint32_t>(num_places - 1), policies.places[i].key)[0] = policies.places[i]
    free(policies.places)
    policies.places = places
    policies.mask = <uint32_t>(num_places - 1)
    return 0


cdef int _grow_priors(PoliciesC* policies, int n, uint64_t most) noexcept nogil:
    """Double the room for priors until n more fit. Return 0, or -1 if there is no memory."""
    cdef uint64_t room = policies.room
    cdef float* priors
    while room < <uint64_t>policies.end + n:
        room *= 2
    if policies_memory(policies) + (room - policies.room) * sizeof(float) > most or room >= <uint64_t>1 << 32:
        return -1
    priors = <float*>realloc(policies.priors, room * sizeof(float))
    if priors == NULL:
        return -1
    policies.priors = priors
    policies.room = <uint32_t>room
    return 0


cdef int policies_keep(PoliciesC* policies, uint64_t key, const float* priors, int n, uint64_t most) noexcept nogil:
    cdef PolicyPlaceC* place
    if 2 * policies.used > policies.mask and _grow_places(policies, most) < 0:
        return -1
    if policies.end + <uint64_t>n > policies.room and _grow_priors(policies, n, most) < 0:
        return -1
    place = _place(policies.places, policies.mask, key)
    if place.num_legal != 0:
        return 0
    place[0] = PolicyPlaceC(key, policies.end, <uint32_t>n)
    memcpy(policies.priors + policies.end, priors, n * sizeof(float))
    policies.end += <uint32_t>n
    policies.used += 1
    return 0


cdef uint64_t policies_memory(const PoliciesC* policies) noexcept nogil:
    return (<uint64_t>policies.mask + 1) * sizeof(PolicyPlaceC) + <uint64_t>policies.room * sizeof(float)
