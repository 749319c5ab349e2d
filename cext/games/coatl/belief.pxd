"""What the others may hold: how likely each unseen card is in a seat's hand, from what all see of the seat.

A world, one place for each unseen card, has a weight: the product, over the cards in other seats' hands, of the odds of
that card in that hand. Worlds that fit what the viewer has seen are dealt in proportion to it, see `belief_deal`. The
odds of a card are exp(strength * w . x) with the features x below; the weights w are fitted by maximum likelihood to
games, whose hands are known (`mexica_ai.train.belief`). With weights 0, all worlds are equally likely.
"""

from libc.stdint cimport uint8_t, uint64_t
from numpy.random cimport bitgen_t

from cext.games.coatl.cards cimport NUM_FACES, NUM_TEMPLES
from cext.games.coatl.state cimport CoatlStateC

# Features of a prophecy for a seat: points are those it would score on the best of the seat's Coatls / 5. Each prophecy
# has besides a feature of its own, and so has each temple.
cpdef enum:
    BELIEF_NOW                      # as the unfinished Coatls stand
    BELIEF_GAIN_0                   # what stored pieces would add
    BELIEF_GAIN_1, BELIEF_GAIN_2, BELIEF_GAIN_3, BELIEF_GAIN_4      # what one more missing piece would add, and so on
    BELIEF_PLAYABLE                 # 1: it could be played as the unfinished Coatls stand
    BELIEF_REACHABLE                # 1: with stored pieces
    BELIEF_MISSED                   # on closed Coatls that had room for it
    BELIEF_COLORS                   # share of the seat's pieces that its pattern names, less what is usual
    # Features of a temple
    BELIEF_TEMPLE_MET               # requirements that the unfinished Coatls meet / 2
    BELIEF_TEMPLE_MISSED            # points on closed Coatls without a temple / 5

cdef enum:
    NUM_CARD_FEATURES = BELIEF_COLORS + 1
    NUM_TEMPLE_FEATURES = BELIEF_TEMPLE_MISSED + 1 - NUM_CARD_FEATURES
    NUM_BELIEF = NUM_CARD_FEATURES + NUM_TEMPLE_FEATURES + NUM_FACES + NUM_TEMPLES

# GameOps.believe fills it: the odds, by seat.
ctypedef struct CoatlBeliefC:
    float cards[4][NUM_FACES]
    float temples[4][NUM_TEMPLES]

# GameOps.believe. `weights`: NUM_BELIEF numbers, in the order of the features, the prophecies and the temples.
cdef bint belief_begin(const float* weights, const CoatlStateC* state, int viewer, double strength,
                       CoatlBeliefC* belief) noexcept nogil

# Deals unseen prophecies, which lie in `places` (sets by the places of ``observations.pxd``), anew, in proportion to
# the worlds' weights; but cards change places only within a class: of these the viewer knows the same. How many of each
# class lie in each place stays as it was dealt. `classes`: by card; NULL if there is one class. Two hands or more that
# are refused 64 times are taken as they are.
cdef void belief_deal(const CoatlBeliefC* belief, uint64_t* places, const uint8_t* classes,
                      bitgen_t* rng) noexcept nogil

# The same for temples.
cdef void belief_deal_temples(const CoatlBeliefC* belief, uint64_t* places, bitgen_t* rng) noexcept nogil
