"""Features and categories of Coatl, and the layout of its weights in memory."""

from cext.core.learning.scorer cimport SCORER_OWN
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

# What a learnt policy sees of a decision; "own" is the seat to move, and "first" and "second" are its longest
# unfinished Coatls. The divisors bring each to about 1.
cpdef enum:
    SUMMARY_KEEPING, SUMMARY_TURN, SUMMARY_DRAWING, SUMMARY_FORESEEING, SUMMARY_BUILDING, SUMMARY_CLOSING
    SUMMARY_THREE_SEATS, SUMMARY_FOUR_SEATS
    SUMMARY_ROUND                   # / 20
    SUMMARY_ENDING, SUMMARY_TWO_ACTIONS
    SUMMARY_DECK                    # / 40
    SUMMARY_BODIES                  # in the bag / 60
    SUMMARY_SUPPLY_HEADS            # on the supply board / 2
    SUMMARY_SUPPLY_TAILS
    SUMMARY_SUPPLY_PAIRS            # / 6
    SUMMARY_HAND                    # prophecies / 5
    SUMMARY_TEMPLES                 # in hand / 2
    SUMMARY_STORED_HEADS, SUMMARY_STORED_TAILS      # / 2
    SUMMARY_STORED_BODIES           # / 8
    SUMMARY_PERFECT_PICK, SUMMARY_SEE_THE_FUTURE, SUMMARY_PRIESTS_PROMISE   # tokens left
    SUMMARY_CLOSED                  # own closed Coatls / 3
    SUMMARY_UNFINISHED              # / 2
    SUMMARY_FIRST_LENGTH            # / 8
    SUMMARY_FIRST_HEAD, SUMMARY_FIRST_TAIL
    SUMMARY_FIRST_CARDS             # / 4
    SUMMARY_FIRST_TEMPLE
    SUMMARY_SECOND_LENGTH, SUMMARY_SECOND_HEAD, SUMMARY_SECOND_TAIL, SUMMARY_SECOND_CARDS, SUMMARY_SECOND_TEMPLE
    SUMMARY_RIVALS_CLOSED           # the most closed Coatls of a rival / 3
    SUMMARY_RIVALS_LENGTH           # its longest unfinished Coatl / 8
    SUMMARY_RIVALS_STORED           # the most stored pieces of a rival / 8
    SUMMARY_OUTLOOK                 # own, now / 20
    SUMMARY_GAIN                    # by which the best action raises it / 4
    SUMMARY_ACTIONS                 # logarithm of the number of actions / 4

# What it sees of an action, besides `SCORER_SHARE` and `SCORER_BEHIND`.
cpdef enum:
    ACTION_GAIN                     # by which it raises the outlook / 4
    ACTION_LOSS                     # by which the best action raises it more / 4
    ACTION_STORED                   # stored bodies of its colours / 4
    ACTION_SUPPLIED                 # bodies of its colours on the supply board / 4
    ACTION_LENGTH                   # of the Coatl that it is about / 8
    ACTION_HEAD, ACTION_TAIL        # of that Coatl
    ACTION_CARDS                    # on that Coatl / 4
    ACTION_STORED_AFTER             # stored pieces after it / 8
    ACTION_HAND_AFTER               # prophecies after it / 5

cdef enum:
    NUM_SUMMARY = SUMMARY_ACTIONS + 1
    NUM_FEATURES = SCORER_OWN + ACTION_HAND_AFTER + 1
    NUM_POLICY = 4992               # weights of a learnt policy


# What GameOps.policy and GameOps.evaluate read.
ctypedef struct CoatlWeightsC:
    float[NUM_WEIGHTS] network                  # layer after layer, see cext/core/learning/network.pxd
    float[NUM_GROUPS][NUM_CATEGORIES] priors    # weights of the categories
    float[NUM_POLICY] policy                    # layer after layer, see cext/core/learning/scorer.pxd
    float has_policy                            # 0: none
