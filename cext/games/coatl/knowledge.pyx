"""Dealing the unseen cards of Coatl anew."""

from libc.stdint cimport uint8_t

from cext.core.rng cimport rng_below
from cext.games.coatl.cards cimport NUM_CARDS, NUM_TEMPLES


cdef bint _shuffle(uint8_t* places, uint8_t* seen, int n, int viewer, bitgen_t* rng) noexcept nogil:
    # Permutes the places of those that the viewer has not seen, and with each place who knows what lies there.
    cdef int hidden[NUM_CARDS]
    cdef int i, j, a, b, count = 0
    cdef uint8_t place, knows
    cdef bint differs = False
    for i in range(n):
        if not seen[i] >> viewer & 1:
            hidden[count] = i
            differs = differs or places[i] != places[hidden[0]]
            count += 1
    if not differs:
        return False
    # The start must not depend on what is hidden: sorted by place, as counting alone gives it.
    for i in range(1, count):
        a = hidden[i]
        place, knows = places[a], seen[a]
        j = i
        while j > 0 and (places[hidden[j - 1]] > place
                         or (places[hidden[j - 1]] == place and seen[hidden[j - 1]] > knows)):
            places[hidden[j]] = places[hidden[j - 1]]
            seen[hidden[j]] = seen[hidden[j - 1]]
            j -= 1
        places[hidden[j]] = place
        seen[hidden[j]] = knows
    for i in range(count - 1, 0, -1):
        j = rng_below(rng, i + 1)
        a, b = hidden[i], hidden[j]
        place, knows = places[a], seen[a]
        places[a], seen[a] = places[b], seen[b]
        places[b], seen[b] = place, knows
    return True


cdef bint knowledge_determinize(CoatlStateC* state, int viewer, bitgen_t* rng) noexcept nogil:
    cdef bint several = _shuffle(state.places, state.seen, NUM_CARDS, viewer, rng)
    return _shuffle(state.temples, state.temples_seen, NUM_TEMPLES, viewer, rng) or several
