"""The odds of unseen cards in the hands of others, and deals in proportion to them; contracts in ``belief.pxd``.

The exchange is the algorithm of Metropolis et al., "Equation of state calculations by fast computing machines" (1953),
from a uniform deal.
"""

import numpy as np

from libc.math cimport exp
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memset

from cext.core.contract.game cimport State
from cext.core.contract.rng cimport rng_below, rng_uniform
from cext.core.contract.sets cimport set_first, set_size
from cext.games.coatl.cards cimport (FACE_OF, FACES, NUM_CARDS, NUM_COLORS, PATHS, TEMPLES, card_points, card_times,
                                     temple_met)
from cext.games.coatl.observations cimport AWAYS, HANDS, NUM_UNSEEN_PLACES
from cext.games.coatl.plans cimport PLANS_MISSING, plans_reach, plans_temple_met
from cext.games.coatl.state cimport COATLS, IN_HAND, KEEPING, NO_CARD, NUM_KINDS, PLAYED, CoatlC

cdef enum:
    TRIES = 8                   # exchanges tried for each card in a hand
    MOST_LOG_ODDS = 8           # a card is never impossible, and never certain


cdef void _look_at_seat(const CoatlStateC* state, int seat, int* pieces, int* total) noexcept nogil:
    """Count the pieces of each colour on a seat's board and on its unfinished Coatls."""
    cdef const CoatlC* coatl
    cdef int kind, color, number, i
    memset(pieces, 0, NUM_COLORS * sizeof(int))
    total[0] = 0
    for kind in range(NUM_KINDS):
        for color in range(NUM_COLORS):
            pieces[color] += state.table.stored[seat][kind][color]
            total[0] += state.table.stored[seat][kind][color]
    for number in range(COATLS):
        coatl = &state.coatls[seat][number]
        if not coatl.closed:
            for i in range(coatl.length):
                pieces[coatl.pieces[i]] += 1
            total[0] += coatl.length


cdef bint _has_room_for(const CoatlC* coatl, int face) noexcept nogil:
    cdef int i
    for i in range(coatl.num_cards):
        if coatl.cards[i] == face:
            return False
    return coatl.num_cards < PLAYED


cdef void _describe_card(const CoatlStateC* state, int seat, int face, const int* pieces, int total,
                         float* x) noexcept nogil:
    """Write the features of a prophecy for a seat."""
    cdef const CoatlC* coatl
    cdef int points[PLANS_MISSING + 1]
    cdef int number, i, color, now, missed = 0, colors = 0, own = 0
    plans_reach(state, seat, face, &now, points)
    for number in range(COATLS):
        coatl = &state.coatls[seat][number]
        if coatl.closed and _has_room_for(coatl, face):
            missed = max(missed, card_points(face, card_times(face, coatl.pieces, coatl.length, False, False)))
    # The pieces that a first occurrence needs; a set of several colours stands for any piece.
    for i in range(PATHS[FACES[face].first + FACES[face].start].length):
        color = PATHS[FACES[face].first + FACES[face].start].colors[i]
        if set_size(color) == 1:
            colors |= color
    for color in range(NUM_COLORS):
        if colors >> color & 1:
            own += pieces[color]
    x[BELIEF_NOW] = now / <float>5
    x[BELIEF_GAIN_0] = (points[0] - now) / <float>5
    for i in range(1, PLANS_MISSING + 1):
        x[BELIEF_GAIN_0 + i] = (points[i] - points[i - 1]) / <float>5
    x[BELIEF_PLAYABLE] = now > 0
    x[BELIEF_REACHABLE] = points[0] > 0
    x[BELIEF_MISSED] = missed / <float>5
    x[BELIEF_COLORS] = own / <float>total - set_size(colors) / <float>NUM_COLORS if total > 0 else 0


cdef void _describe_temple(const CoatlStateC* state, int seat, int temple, float* x) noexcept nogil:
    """Write the features of a temple for a seat."""
    cdef uint8_t counts[NUM_COLORS]
    cdef const CoatlC* coatl
    cdef int number, i, missed = 0
    for number in range(COATLS):
        coatl = &state.coatls[seat][number]
        if coatl.closed and coatl.temple == NO_CARD:
            memset(counts, 0, sizeof(counts))
            for i in range(coatl.length):
                counts[coatl.pieces[i]] += 1
            missed = max(missed, TEMPLES[temple].points[temple_met(temple, counts, coatl.length)])
    x[BELIEF_TEMPLE_MET - NUM_CARD_FEATURES] = plans_temple_met(state, seat, temple) / <float>2
    x[BELIEF_TEMPLE_MISSED - NUM_CARD_FEATURES] = missed / <float>5


cdef inline float _odds(const float* weights, const float* x, int n, float own, double strength) noexcept nogil:
    cdef double sum = own
    cdef int i
    for i in range(n):
        sum += weights[i] * x[i]
    return <float>exp(min(<double>MOST_LOG_ODDS, max(<double>-MOST_LOG_ODDS, strength * sum)))


cdef bint belief_begin(const float* weights, const CoatlStateC* state, int viewer, double strength,
                       CoatlBeliefC* belief) noexcept nogil:
    cdef const float* of_card = weights + NUM_CARD_FEATURES + NUM_TEMPLE_FEATURES
    cdef const float* of_temple = of_card + NUM_FACES
    cdef float x[NUM_CARD_FEATURES + NUM_TEMPLE_FEATURES]
    cdef int pieces[NUM_COLORS]
    cdef int seat, face, temple, total, i
    cdef uint64_t unseen = ((<uint64_t>1 << NUM_CARDS) - 1) & ~state.seen[viewer], left
    cdef bint is_uniform = True
    for i in range(NUM_BELIEF):
        is_uniform = is_uniform and weights[i] == 0
    # A seat that has not kept any cards yet has what it was dealt.
    if is_uniform or strength == 0 or state.table.phase == KEEPING:
        return False
    for seat in range(4):
        for face in range(NUM_FACES):
            belief.cards[seat][face] = 1
        for temple in range(NUM_TEMPLES):
            belief.temples[seat][temple] = 1
    for seat in range(state.table.num_players):
        if seat == viewer:
            continue
        _look_at_seat(state, seat, pieces, &total)
        left = unseen
        while left:
            face = FACE_OF[set_first(left)]
            left &= left - 1
            _describe_card(state, seat, face, pieces, total, x)
            belief.cards[seat][face] = _odds(weights, x, NUM_CARD_FEATURES, of_card[face], strength)
        for temple in range(NUM_TEMPLES):
            if not state.temples_seen[viewer] >> temple & 1:
                _describe_temple(state, seat, temple, x)
                belief.temples[seat][temple] = _odds(weights + NUM_CARD_FEATURES, x, NUM_TEMPLE_FEATURES,
                                                     of_temple[temple], strength)
    return True


# --- deals

ctypedef struct OddsC:
    const float* of_hands[4]
    const uint8_t* faces        # by card; NULL: a card is its own face


cdef inline float _of(const OddsC* odds, int place, int card) noexcept nogil:
    """Return the odds of a card in a place."""
    if place >= AWAYS:
        return 1
    return odds.of_hands[place - HANDS][odds.faces[card] if odds.faces != NULL else card]


cdef void _exchange(const OddsC* odds, uint64_t* places, const uint8_t* classes, bitgen_t* rng) noexcept nogil:
    cdef uint8_t cards[NUM_CARDS]
    cdef uint8_t lies[NUM_CARDS]        # the place of each
    cdef uint64_t left
    cdef int place, i, j, card, _, n = 0, held = 0
    cdef float now, then
    for place in range(NUM_UNSEEN_PLACES):      # hands come first
        left = places[place]
        while left:
            cards[n] = <uint8_t>set_first(left)
            lies[n] = <uint8_t>place
            left &= left - 1
            n += 1
        if place < AWAYS:
            held = n
    for _ in range(TRIES * held):
        i = rng_below(rng, held)
        j = rng_below(rng, n)
        if lies[i] == lies[j] or (classes != NULL and classes[cards[i]] != classes[cards[j]]):
            continue
        now = _of(odds, lies[i], cards[i]) * _of(odds, lies[j], cards[j])
        then = _of(odds, lies[i], cards[j]) * _of(odds, lies[j], cards[i])
        if then >= now or rng_uniform(rng) * now < then:
            card = cards[i]
            cards[i] = cards[j]
            cards[j] = <uint8_t>card
    for place in range(NUM_UNSEEN_PLACES):
        places[place] = 0
    for i in range(n):
        places[lies[i]] |= <uint64_t>1 << cards[i]


cdef void belief_exchange(const CoatlBeliefC* belief, uint64_t* places, const uint8_t* classes,
                          bitgen_t* rng) noexcept nogil:
    cdef OddsC odds
    cdef int seat
    for seat in range(4):
        odds.of_hands[seat] = belief.cards[seat]
    odds.faces = FACE_OF
    _exchange(&odds, places, classes, rng)


cdef void belief_exchange_temples(const CoatlBeliefC* belief, uint64_t* places, bitgen_t* rng) noexcept nogil:
    cdef OddsC odds
    cdef int seat
    for seat in range(4):
        odds.of_hands[seat] = belief.temples[seat]
    odds.faces = NULL
    _exchange(&odds, places, NULL, rng)


# --- for fits

FACES_OF_BELIEF, TEMPLES_OF_BELIEF = NUM_FACES, NUM_TEMPLES     # numbers of single prophecies and temples


def belief_inputs(State owner not None, int viewer, int seat):
    """Return what a belief reads of the cards that a seat may hold unseen, and which of them it holds.

    Parameters
    ----------
    owner : State
        Of Coatl, with everything known.
    viewer : int
        The seat that does not see the cards.
    seat : int
        The seat that may hold them, another one.

    Returns
    -------
    list of (numpy.ndarray, numpy.ndarray)
        Of the prophecies, then of the temples: what the weights of a belief are multiplied by, float32 [cards, belief],
        and whether the seat holds the card, bool [cards].

    Raises
    ------
    TypeError
        If the state is of another game.
    """
    cdef const CoatlStateC* state
    cdef int pieces[NUM_COLORS]
    cdef int total, card
    cdef uint64_t unseen
    cdef float[:, ::1] x
    if owner.game.name != "coatl":
        raise TypeError(f"expected a state of coatl, got one of {owner.game.name}")
    state = <const CoatlStateC*>owner.data
    _look_at_seat(state, seat, pieces, &total)
    unseen = ((<uint64_t>1 << NUM_CARDS) - 1) & ~state.seen[viewer]
    numbers = [card for card in range(NUM_CARDS) if unseen >> card & 1]
    cards = np.zeros((len(numbers), NUM_BELIEF), np.float32)
    x = cards
    for k, card in enumerate(numbers):
        _describe_card(state, seat, FACE_OF[card], pieces, total, &x[k, 0])
        cards[k, NUM_CARD_FEATURES + NUM_TEMPLE_FEATURES + FACE_OF[card]] = 1
    held = np.array([state.cards[IN_HAND + seat] >> <int>card & 1 for card in numbers], bool)
    found = [(cards, held)]
    numbers = [card for card in range(NUM_TEMPLES) if not state.temples_seen[viewer] >> card & 1]
    temples = np.zeros((len(numbers), NUM_BELIEF), np.float32)
    x = temples
    for k, card in enumerate(numbers):
        _describe_temple(state, seat, card, &x[k, NUM_CARD_FEATURES])
        temples[k, NUM_CARD_FEATURES + NUM_TEMPLE_FEATURES + NUM_FACES + card] = 1
    held = np.array([state.temples[IN_HAND + seat] >> <int>card & 1 for card in numbers], bool)
    return found + [(temples, held)]
