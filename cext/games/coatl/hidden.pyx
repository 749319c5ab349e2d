"""Dealing the unseen cards of Coatl anew."""

from libc.stdint cimport uint16_t, uint64_t

from cext.core.rng cimport rng_below
from cext.games.coatl.cards cimport FACE_OF, NUM_CARDS, NUM_TEMPLES
from cext.games.coatl.observations cimport observations_deal
from cext.games.coatl.rules cimport rules_matches
from cext.games.coatl.state cimport CLOSING, IN_DECK, IN_HAND, ON_COATL, CoatlC, set_first, set_size

cdef enum:
    MAX_TRIES = 1000


cdef inline uint64_t _take(uint64_t* rest, int k) noexcept nogil:
    """Take the k-th member out of a set, and return it as a set."""
    cdef uint64_t left = rest[0], bit
    while k > 0:
        left &= left - 1
        k -= 1
    bit = left & (~left + 1)
    rest[0] &= ~bit
    return bit


cdef bint _owes_nothing(const CoatlStateC* state) noexcept nogil:
    # Who has completed a Coatl without a prophecy on it has one in hand that fits: that much is known of the hand.
    cdef int seat = state.table.to_move
    cdef const CoatlC* coatl
    cdef uint64_t hand = state.cards[IN_HAND + seat]
    if state.table.phase != CLOSING:
        return True
    coatl = &state.coatls[seat][state.table.closing - 1]
    if coatl.num_cards > 0:
        return True
    while hand:
        if rules_matches(state, coatl, FACE_OF[set_first(hand)]):
            return True
        hand &= hand - 1
    return False


cdef bint _deal_cards(CoatlStateC* state, int viewer, bitgen_t* rng) noexcept nogil:
    # Only how many unseen cards each place holds counts, not which: nothing hidden decides what is drawn.
    cdef uint64_t bit, rest = ((<uint64_t>1 << NUM_CARDS) - 1) & ~state.seen[viewer]
    cdef int place, seat, i, n = set_size(rest)
    cdef int held[ON_COATL]
    cdef bint differs = False
    for place in range(IN_HAND, ON_COATL):
        held[place] = set_size(state.cards[place] & rest)
        differs = differs or 0 < held[place] < n
    if not differs:
        return False
    for place in range(IN_DECK, ON_COATL):
        state.cards[place] &= ~rest
    for seat in range(4):
        state.seen[seat] &= ~rest
    for place in range(IN_HAND, ON_COATL):
        for i in range(held[place]):
            bit = _take(&rest, rng_below(rng, n))
            n -= 1
            state.cards[place] |= bit
            state.seen[place & 3] |= bit
    state.cards[IN_DECK] |= rest
    return True


cdef bint _deal_prophecies(CoatlStateC* state, int viewer, bitgen_t* rng) noexcept nogil:
    if state.num_observations > 0:
        if observations_deal(state, viewer, rng):
            return True
        state.num_observations = 0        # no world fits, or none was found in the time that a search may take
    return _deal_cards(state, viewer, rng)


cdef bint _deal_temples(CoatlStateC* state, int viewer, bitgen_t* rng) noexcept nogil:
    cdef uint64_t bit, rest = ((<uint64_t>1 << NUM_TEMPLES) - 1) & ~state.temples_seen[viewer]
    cdef int place, seat, i, n = set_size(rest)
    cdef int held[ON_COATL]
    cdef bint differs = False
    for place in range(IN_HAND, ON_COATL):
        held[place] = set_size(state.temples[place] & rest)
        differs = differs or 0 < held[place] < n
    if not differs:
        return False
    for place in range(IN_DECK, ON_COATL):
        state.temples[place] &= <uint16_t>~rest
    for seat in range(4):
        state.temples_seen[seat] &= <uint16_t>~rest
    for place in range(IN_HAND, ON_COATL):
        for i in range(held[place]):
            bit = _take(&rest, rng_below(rng, n))
            n -= 1
            state.temples[place] |= <uint16_t>bit
            state.temples_seen[place & 3] |= <uint16_t>bit
    state.temples[IN_DECK] |= <uint16_t>rest
    return True


cdef bint hidden_determinize(CoatlStateC* state, int viewer, bitgen_t* rng) noexcept nogil:
    cdef bint several = _deal_prophecies(state, viewer, rng)
    cdef int tries = 1
    while several and tries < MAX_TRIES and not _owes_nothing(state):
        _deal_prophecies(state, viewer, rng)
        tries += 1
    return _deal_temples(state, viewer, rng) or several
