"""Features and categories of Coatl, and the layout of its weights in memory."""

from cext.core.learning.scorer cimport SCORER_OWN
from cext.games.coatl.belief cimport NUM_BELIEF
from cext.games.coatl.state cimport OVER

# Features of a seat and of the position, in the order of the network's inputs. Files have the names in lower case. The
# divisors bring each to about 1; those of the features up to OWN_PLAN_CLOSABLE are in ``evaluation.pyx``.
cpdef enum:
    OWN_CLOSED_POINTS
    OWN_CLOSED
    OWN_TWO_CLOSED
    OWN_PLAYED_POINTS               # of prophecies on unfinished Coatls, as they stand
    OWN_PLAYABLE_POINTS             # of prophecies in hand, on the Coatls where they bring most
    OWN_PLAYED_GAIN_0               # what the next levels of those played would add with no piece missing
    OWN_PLAYED_GAIN_1, OWN_PLAYED_GAIN_2, OWN_PLAYED_GAIN_3, OWN_PLAYED_GAIN_4     # with one piece, and so on
    OWN_HAND_GAIN_0, OWN_HAND_GAIN_1, OWN_HAND_GAIN_2, OWN_HAND_GAIN_3, OWN_HAND_GAIN_4     # the same for those in hand
    OWN_UNFINISHED
    OWN_PIECES                      # on unfinished Coatls
    OWN_LONGEST                     # most pieces of an unfinished Coatl
    OWN_HEADS                       # unfinished Coatls with a head
    OWN_TAILS
    OWN_STORED_BODIES, OWN_STORED_HEADS, OWN_STORED_TAILS
    OWN_CARDS                       # in hand
    OWN_TEMPLE_POINTS               # of temples that could be met
    OWN_TEMPLE_CARDS                # in hand
    OWN_CROWDED                     # no room for two pieces
    OWN_HEADS_MISSING, OWN_TAILS_MISSING    # of the three Coatls
    OWN_READY                       # unfinished Coatls that the seat could complete now
    OWN_READY_POINTS                # of their prophecies
    OWN_CARDS_PLAYED                # on unfinished Coatls
    OWN_FULL_CARDS                  # unfinished Coatls with four prophecies
    OWN_PICK, OWN_FUTURE, OWN_PROMISE    # tokens
    OWN_TO_MOVE
    OWN_PLAN_POINTS_0               # see `PlansC`: with no piece missing
    OWN_PLAN_POINTS_1, OWN_PLAN_POINTS_2, OWN_PLAN_POINTS_3, OWN_PLAN_POINTS_4     # what one more adds, and so on
    OWN_BEST_POINTS_0, OWN_BEST_POINTS_1, OWN_BEST_POINTS_2, OWN_BEST_POINTS_3, OWN_BEST_POINTS_4     # the same
    OWN_PLAN_MISSING
    OWN_PLAN_CHOSEN
    OWN_PLAN_CARDS
    OWN_PLAN_TEMPLES
    OWN_PLAN_DISPLAY
    OWN_PLAN_SUPPLY
    OWN_PLAN_READY
    OWN_PLAN_NEARLY
    OWN_PLAN_CLOSABLE
    OWN_SEAT                        # its number / 3: later seats have more actions at the end
    OWN_WAITS                       # seats that move before it / 3
    OWN_LAST_ACTIONS                # that it has left, once the end has been triggered / 2
    OWN_CASH                        # closed points, and those it could close in one turn or in its last actions / 30
    OWN_LEAD                        # cash less the best rival's, once the end has been triggered; from -4 to 4 points
    OWN_ENDS_NOW                    # points by which it would win if it closed a third Coatl now, and could; 0 to 4
    OWN_ENDS_NEXT                   # the same for a seat that is not to move
    OWN_ESTIMATE_LOGIT              # outlook / 8
    OWN_ESTIMATE_SCORE              # outlook / 50

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
    NUM_OWN = OWN_ESTIMATE_SCORE + 1
    NUM_SHARED = SHARED_SUPPLY_TAILS + 1
    NUM_INPUTS = 3 * NUM_OWN + NUM_SHARED
    NUM_WEIGHTS = 7802              # of the network over them

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
    float[NUM_BELIEF] belief                    # of the features, prophecies and temples, see belief.pxd
    float[NUM_POLICY] policy                    # layer after layer, see cext/core/learning/scorer.pxd
    float has_policy                            # 0: none
