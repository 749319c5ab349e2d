"""The odds of unseen cards in the hands of others, and deals in proportion to them; contracts in ``belief.pxd``.

A hand is drawn by the method of Chen, Dempster and Liu, "Weighted finite population sampling to maximize entropy"
(1994).
"""

import numpy as np

from libc.math cimport exp
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcpy, memset

from cext.core.contract.game cimport State
from cext.core.contract.rng cimport rng_below, rng_uniform
from cext.core.contract.sets cimport set_first, set_size
from cext.games.coatl.cards cimport (FACE_OF, FACES, NUM_CARDS, NUM_COLORS, PATHS, TEMPLES, card_points, card_times,
                                     temple_met)
from cext.games.coatl.observations cimport HANDS, NUM_UNSEEN_PLACES
from cext.games.coatl.plans cimport PLANS_MISSING, plans_reach, plans_temple_met
from cext.games.coatl.state cimport COATLS, IN_HAND, KEEPING, NO_CARD, NUM_KINDS, PLAYED, CoatlC

cdef enum:
    MAX_HAND = 8                # hidden cards of a seat
    MAX_TRIES = 64              # of a deal; more than one may be needed with two hands or more
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

# The odds of the cards of one kind, by seat, and how to find those of a card.
ctypedef struct OddsC:
    const float* of_seats[4]
    const uint8_t* faces        # by card; NULL: a card is its own face

# Sums of the odds of all hands of k of the cards from the j-th on (elementary symmetric polynomials), at [j][k].
ctypedef struct SumsC:
    double of_rest[NUM_CARDS + 1][MAX_HAND + 1]


cdef double _sum_hands(const OddsC* odds, int seat, const uint8_t* cards, int n, int size,
                       SumsC* sums) noexcept nogil:
    """Sum up the odds of all hands of up to `size` of n cards; return that of `size`."""
    cdef double odd
    cdef int j, k
    for k in range(size + 1):
        sums.of_rest[n][k] = k == 0
    for j in range(n - 1, -1, -1):
        odd = odds.of_seats[seat][odds.faces[cards[j]] if odds.faces != NULL else cards[j]]
        sums.of_rest[j][0] = 1
        for k in range(1, size + 1):
            sums.of_rest[j][k] = sums.of_rest[j + 1][k] + odd * sums.of_rest[j + 1][k - 1]
    return sums.of_rest[0][size]


cdef int _draw_hand(uint8_t* cards, int n, int size, const SumsC* sums, uint64_t* hand,
                    bitgen_t* rng) noexcept nogil:
    """Draw a hand in proportion to its odds from n cards, after `_sum_hands`. Return how many cards are left."""
    cdef double rest
    cdef int j = 0, k, left = 0
    hand[0] = 0
    for k in range(size, 0, -1):
        # The first card of those that are left: the sums say how much all hands with it weigh.
        rest = rng_uniform(rng) * sums.of_rest[j][k]
        while j < n - k and rest < sums.of_rest[j + 1][k]:
            cards[left] = cards[j]
            left += 1
            j += 1
        hand[0] |= <uint64_t>1 << cards[j]
        j += 1
    while j < n:
        cards[left] = cards[j]
        left += 1
        j += 1
    return left


cdef bint _try_hands(const OddsC* odds, const int* sizes, uint8_t* cards, int* n, uint64_t* hands,
                     bitgen_t* rng) noexcept nogil:
    """Draw the hands of all seats from n cards; return whether they are accepted.

    Hands drawn one after the other are not yet as likely as the product of their odds: each is drawn from what those
    before it have left. So they are accepted in proportion to what that leaves for the later ones.
    """
    cdef SumsC sums
    cdef double whole, share = 1
    cdef uint8_t all_cards[NUM_CARDS]
    cdef int seat, num_all = n[0]
    memcpy(all_cards, cards, num_all)
    for seat in range(4):
        hands[seat] = 0
        if sizes[seat] == 0:
            continue
        if n[0] < num_all:
            whole = _sum_hands(odds, seat, all_cards, num_all, sizes[seat], &sums)
            share *= _sum_hands(odds, seat, cards, n[0], sizes[seat], &sums) / whole
        else:
            _sum_hands(odds, seat, cards, n[0], sizes[seat], &sums)
        n[0] = _draw_hand(cards, n[0], sizes[seat], &sums, &hands[seat], rng)
    return share >= 1 or rng_uniform(rng) < share


cdef void _deal_again(const OddsC* odds, uint64_t* places, uint64_t among, bitgen_t* rng) noexcept nogil:
    """Deal those cards of the places that are `among` these anew, as many to each place."""
    cdef uint8_t cards[NUM_CARDS]
    cdef uint64_t hands[4]
    cdef int sizes[4]
    cdef uint64_t left
    cdef int place, number, n, i, _, held = 0
    for place in range(HANDS, HANDS + 4):
        sizes[place - HANDS] = set_size(places[place] & among)
        held += sizes[place - HANDS]
        if sizes[place - HANDS] > MAX_HAND:
            return              # no game leads there
    if held == 0 or set_size(among) == held == max(sizes[0], sizes[1], sizes[2], sizes[3]):
        return
    for _ in range(MAX_TRIES):
        left = among
        n = 0
        while left:
            cards[n] = <uint8_t>set_first(left)
            left &= left - 1
            n += 1
        if _try_hands(odds, sizes, cards, &n, hands, rng):
            break
    for place in range(NUM_UNSEEN_PLACES):
        number = set_size(places[place] & among)
        places[place] &= ~among
        if place < HANDS + 4:
            places[place] |= hands[place - HANDS]
            continue
        while number > 0:
            i = rng_below(rng, n)
            places[place] |= <uint64_t>1 << cards[i]
            n -= 1
            cards[i] = cards[n]
            number -= 1


cdef uint64_t _all_of(const uint64_t* places) noexcept nogil:
    cdef uint64_t cards = 0
    cdef int place
    for place in range(NUM_UNSEEN_PLACES):
        cards |= places[place]
    return cards


cdef void belief_deal(const CoatlBeliefC* belief, uint64_t* places, const uint8_t* classes,
                      bitgen_t* rng) noexcept nogil:
    cdef OddsC odds
    cdef uint64_t left = _all_of(places), among, card
    cdef int seat
    for seat in range(4):
        odds.of_seats[seat] = belief.cards[seat]
    odds.faces = FACE_OF
    if classes == NULL:
        _deal_again(&odds, places, left, rng)
        return
    while left:
        among = 0
        card = left
        while card:
            if classes[set_first(card)] == classes[set_first(left)]:
                among |= card & -card
            card &= card - 1
        _deal_again(&odds, places, among, rng)
        left &= ~among


cdef void belief_deal_temples(const CoatlBeliefC* belief, uint64_t* places, bitgen_t* rng) noexcept nogil:
    cdef OddsC odds
    cdef int seat
    for seat in range(4):
        odds.of_seats[seat] = belief.temples[seat]
    odds.faces = NULL
    _deal_again(&odds, places, _all_of(places), rng)


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
    ValueError
        If there are no such seats.
    """
    cdef const CoatlStateC* state
    cdef int pieces[NUM_COLORS]
    cdef int total, card
    cdef uint64_t unseen
    cdef float[:, ::1] x
    if owner.game.name != "coatl":
        raise TypeError(f"expected a state of coatl, got one of {owner.game.name}")
    if not (0 <= viewer < owner.num_players and 0 <= seat < owner.num_players and viewer != seat):
        raise ValueError(f"seats {viewer}, {seat}: expected two different ones from 0 to {owner.num_players - 1}")
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
