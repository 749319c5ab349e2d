"""Features and categories of Coatl, and the layout of its weights in memory."""

from cext.games.coatl.state cimport OVER

# Features of the position, in the order of the network's inputs; those of a seat are OWN_FEATURES of evaluation.pyx.
# Files have the names in lower case. The divisors bring each to about 1.
cpdef enum:
    SHARED_THREE_SEATS
    SHARED_FOUR_SEATS
    SHARED_WITH_TOKENS
    SHARED_STRICT_ENDS
    SHARED_ROUND                    # / 20
    SHARED_ENDING_THIRD
    SHARED_ENDING_BODIES
    SHARED_BUILDING
    SHARED_CLOSING
    SHARED_DRAWING
    SHARED_TWO_ACTIONS
    SHARED_DECK                     # prophecies / 40
    SHARED_BODIES                   # in the bag / 60
    SHARED_PAIRS                    # on the supply board / 6
    SHARED_LEADER_CLOSED            # the most Coatls closed by a seat / 3
    SHARED_SUPPLY_HEADS             # on the supply board / 2
    SHARED_SUPPLY_TAILS

cdef enum:                          # lengths
    NUM_OWN = 64                    # see OWN_FEATURES
    NUM_SHARED = SHARED_SUPPLY_TAILS + 1
    NUM_INPUTS = 3 * NUM_OWN + NUM_SHARED
    NUM_WEIGHTS = 7700              # of the network over them

# A category of actions, for the priors, is a kind and a gap; its index is kind * NUM_GAPS + gap. The order is that of
# the weights. Files have the names in lower case: "keep_best" and so on.
cpdef enum:
    KIND_KEEP
    KIND_TAKE_BODIES, KIND_TAKE_HEAD, KIND_TAKE_TAIL
    KIND_DRAW, KIND_DRAW_UNSEEN
    # From here on in the order of the verbs.
    KIND_START, KIND_ADD, KIND_PLAY, KIND_TEMPLE, KIND_CLOSE, KIND_PERFECT, KIND_FUTURE, KIND_DISCARD, KIND_PROMISE
    KIND_END, KIND_PASS

# The gap to the best outlook: none, less than CLOSE_BEHIND, less than FAR_BEHIND, more.
cpdef enum:
    GAP_BEST, GAP_NEAR, GAP_BEHIND, GAP_FAR

cdef enum:
    NUM_GAPS = GAP_FAR + 1
    NUM_CATEGORIES = (KIND_PASS + 1) * NUM_GAPS
    NUM_GROUPS = OVER           # rows of the weights: the phases in which a seat is to move


# What GameOps.policy and GameOps.evaluate read.
ctypedef struct CoatlWeightsC:
    float[NUM_WEIGHTS] network                  # layer after layer, see cext/core/network.pxd
    float[NUM_GROUPS][NUM_CATEGORIES] priors    # weights of the categories
