"""Features and categories of Mexica, and the layout of its weights in memory."""

from cext.core.learning.scorer cimport SCORER_OWN
from cext.games.mexica.state cimport TURN_AP

# Features of a seat and of the position, in the order of the network's inputs. Files have the names in lower case. The
# divisors bring each to about 1.
cpdef enum:
    OWN_SCORE                   # / 50
    OWN_ACTION_TOKENS           # / 3
    OWN_STOCK_LEVELS            # temple levels that can still be built / 20
    OWN_STOCK_TEMPLES           # number of these temples / 9
    OWN_STOCK_ONES              # of level 1 / 3
    OWN_STOCK_FOURS             # of level 4 / 2
    OWN_FOUNDED_NOW             # what the founded districts would pay now / 20
    OWN_FOUNDED_EXPECTED        # the same, softened by the room left in them / 20
    OWN_FOUNDED_SECURE          # what those without room pay / 20
    OWN_FOUNDED_SECOND          # what those with room pay in which the seat has the first place / 20
    OWN_WIDE_NOW                # what unfounded land would pay at the end of the game / 50
    OWN_WIDE_EXPECTED           # the same with the levels still to come, softened / 50
    OWN_LEVELS_FOUNDED          # own levels in founded districts / 10
    OWN_LEVELS_WIDE             # in wide unfounded ones / 10
    OWN_LEVELS_NARROW           # in the other unfounded ones / 5
    OWN_LEAD                    # levels more than the best rival's (neutral too) in the widest district / 8, in [-2, 2]
    OWN_LEAD_SIGN               # x / (2 + |x|) of these levels
    OWN_REACH                   # the same with what each has left to build / 8
    OWN_REACH_SIGN
    OWN_IN_WIDEST               # 1: the pilli stands in the widest district
    OWN_AT_HOME                 # 1: on a starting space
    OWN_ON_BRIDGE
    OWN_FOUNDABLE               # founder's points of the district where the pilli could found now / 7
    OWN_ACTION_POINTS           # of the seat to move / 6
    OWN_IS_TO_MOVE
    OWN_WAITS                   # turns of other seats before its next one / 3
    OWN_MOVES_LATER             # 1: it moves now or later in this round
    OWN_LEVELS_HERE             # own levels in the district where the pilli stands / 10
    OWN_TAKEABLE                # sum of `evaluation_takeable` over the founded districts with room / 20
    OWN_TAKEABLE_HERE           # the same for the district where the pilli stands
    OWN_ESTIMATE_LOGIT          # hand-made estimate of the final points, less the seats' mean / temperature, in [-4, 4]
    OWN_ESTIMATE                # the same / 50

cpdef enum:
    SHARED_PERIOD_2
    SHARED_DISPLAY              # tokens to be founded now / 8
    SHARED_DISPLAY_SIZES        # sum of their sizes / 50
    SHARED_LEAST_STOCK          # fewest levels that a seat has left to build / 20
    SHARED_STOCKS               # levels of all seats / 20 / seats
    SHARED_DOUBLES              # canal tiles left / 35
    SHARED_SINGLES              # / 6
    SHARED_BRIDGES              # in the supply / 11
    SHARED_WIDEST               # spaces of the widest unfounded district / 100
    SHARED_WIDEST_ROOM          # its free spaces / 20, at most 2
    SHARED_SECOND_WIDEST        # spaces of the next one / 30
    SHARED_NEUTRAL_IN_WIDEST    # neutral levels there / 10
    SHARED_IDLE_ROUNDS          # / 2
    SHARED_BUILT_THIS_ROUND
    SHARED_IS_DUE               # 1: the period ends with this round
    SHARED_WAITING              # seats that still move in this round, the one to move counted / seats
    SHARED_PLACED               # tokens on the board / 15
    SHARED_THREE_SEATS
    SHARED_FOUR_SEATS
    SHARED_DISPLAY_IS_EMPTY
    SHARED_LEAST_TEMPLES        # fewest temples that a seat has left / 9
    SHARED_ROUND                # / 20

cdef enum:                          # lengths
    NUM_OWN = OWN_ESTIMATE + 1
    NUM_SHARED = SHARED_ROUND + 1
    NUM_INPUTS = 3 * NUM_OWN + NUM_SHARED
    NUM_WEIGHTS = 4606              # of the network over them

# Categories of actions, for the priors. The order is that of the weights; files have the names in lower case.
cpdef enum:
    CATEGORY_PLACE
    CATEGORY_FOUND              # on the preferred site
    CATEGORY_FOUND_ELSEWHERE
    # A temple of the smallest level that gives its owner the first place alone; of a larger level; of the smallest
    # level that gives the second place; one where the owner is already first; any other. For founded districts,
    # leftover land in period 2, leftover land in period 1, small unfounded districts. Sites other than the preferred
    # one get a share.
    CATEGORY_FOUNDED_FIRST, CATEGORY_FOUNDED_FIRST_LARGE, CATEGORY_FOUNDED_SECOND, CATEGORY_FOUNDED_MORE
    CATEGORY_FOUNDED_OTHER
    CATEGORY_WIDE_FIRST, CATEGORY_WIDE_FIRST_LARGE, CATEGORY_WIDE_SECOND, CATEGORY_WIDE_MORE, CATEGORY_WIDE_OTHER
    CATEGORY_EARLY_FIRST, CATEGORY_EARLY_FIRST_LARGE, CATEGORY_EARLY_SECOND, CATEGORY_EARLY_MORE, CATEGORY_EARLY_OTHER
    CATEGORY_SMALL_FIRST, CATEGORY_SMALL_FIRST_LARGE, CATEGORY_SMALL_SECOND, CATEGORY_SMALL_MORE, CATEGORY_SMALL_OTHER
    # A canal that leaves the pilli in a district of a size on display; that makes such a district elsewhere; that
    # divides a district otherwise; that touches water; any other. The weights of the last two are about sums.
    CATEGORY_CLOSES_OWN, CATEGORY_CLOSES, CATEGORY_DIVIDES, CATEGORY_TOUCHES, CATEGORY_APART
    # The first canal of the best, second and third founding plan that can be completed in this turn; its other canals.
    CATEGORY_PLAN_1, CATEGORY_PLAN_1_REST, CATEGORY_PLAN_2, CATEGORY_PLAN_2_REST, CATEGORY_PLAN_3, CATEGORY_PLAN_3_REST
    # The same for plans that take longer.
    CATEGORY_LATER_1, CATEGORY_LATER_1_REST, CATEGORY_LATER_2, CATEGORY_LATER_2_REST, CATEGORY_LATER_3
    CATEGORY_LATER_3_REST
    CATEGORY_BRIDGE             # about a sum; bridges that the pilli could step on count eightfold
    CATEGORY_BRIDGE_PLAN        # a bridge that a plan needs
    CATEGORY_RELOCATE           # as CATEGORY_BRIDGE
    # A step onto a bridge, or off it: to a space in or next to another district with a place to take that pays much
    # more (GOOD), or something more (FAIR); any other.
    CATEGORY_CROSS_GOOD, CATEGORY_CROSS_FAIR, CATEGORY_CROSS
    CATEGORY_WALK_TO_BRIDGE     # onto a space next to a bridge
    CATEGORY_WALK
    CATEGORY_SAIL_GOOD, CATEGORY_SAIL_FAIR, CATEGORY_SAIL
    CATEGORY_TELEPORT_GOOD, CATEGORY_TELEPORT_FAIR, CATEGORY_TELEPORT       # about sums
    CATEGORY_TELEPORT_TO_FOUND  # to a district that could be founded at once
    CATEGORY_TOKEN              # for one of the last two action points, or a second one
    CATEGORY_END                # a first token with more points left, which begins the end of the turn
    CATEGORY_END_IDLE           # points left, but no token to take for them
    CATEGORY_END_SPENT          # nothing left to spend

cdef enum:
    NUM_CATEGORIES = CATEGORY_END_SPENT + 1
    NUM_GROUPS = TURN_AP + 1    # rows of the weights: by the action points left

# The summary of a decision for a learnt policy; "own" is the seat to move. The divisors bring each to about 1.
cpdef enum:
    SUMMARY_POINTS_0, SUMMARY_POINTS_1, SUMMARY_POINTS_2, SUMMARY_POINTS_3, SUMMARY_POINTS_4, SUMMARY_POINTS_5
    SUMMARY_POINTS_6            # action points left
    SUMMARY_THREE_SEATS, SUMMARY_FOUR_SEATS
    SUMMARY_PERIOD_2
    SUMMARY_ROUND               # / 10
    SUMMARY_IS_DUE              # the period ends with this round
    SUMMARY_AT_HOME             # on a starting space
    SUMMARY_ON_BRIDGE
    SUMMARY_TOKENS              # own action tokens / 3
    SUMMARY_TOKENS_TAKEN        # / 2
    SUMMARY_STOCK_1, SUMMARY_STOCK_2, SUMMARY_STOCK_3, SUMMARY_STOCK_4      # own temples left, by level / 3
    SUMMARY_DISPLAY             # tokens on display / 8
    SUMMARY_BRIDGES             # in the supply / 11
    SUMMARY_DOUBLES             # canal tiles left / 35
    SUMMARY_SINGLES             # / 6
    SUMMARY_DISTRICT            # spaces of the district of the pilli / 30
    SUMMARY_IN_FOUNDED
    SUMMARY_SETTLED             # no canal can divide that district any more
    SUMMARY_FIRST_LEVEL         # level of the smallest temple that takes its first place / 4
    SUMMARY_SECOND_LEVEL        # second place / 4
    SUMMARY_PLANS               # founding plans / 3
    SUMMARY_PLAN_SIZE           # of the best one: spaces / 13
    SUMMARY_PLAN_COST           # action points / 6
    SUMMARY_PLAN_WORTH          # / 10
    SUMMARY_PLAN_2_COST, SUMMARY_PLAN_2_WORTH
    SUMMARY_GOOD                # other districts where a place can be taken that pays much more: spaces / 20
    SUMMARY_FAIR                # something more
    SUMMARY_FOUNDABLE           # that could be founded
    SUMMARY_CANALS              # logarithm of 1 + the number of legal actions of a verb / 4
    SUMMARY_FOUNDINGS, SUMMARY_TEMPLES, SUMMARY_WALKS, SUMMARY_SAILS, SUMMARY_TELEPORTS
    SUMMARY_BEHIND              # points behind the best rival / 20

# The features of an action for it, after `SCORER_SHARE` and `SCORER_BEHIND`.
cpdef enum:
    ACTION_LEVEL                # temple / 4
    ACTION_SIZE                 # founding / 13
    ACTION_DISTANCE             # of its first space from the pilli, in rows and columns / 8
    ACTION_IN_DISTRICT          # in the district of the pilli
    ACTION_IN_FOUNDED
    ACTION_WATER                # spaces next to it under water / 4
    ACTION_BUILDINGS            # next to it / 4
    ACTION_HOME                 # a starting space
    ACTION_RAMP                 # next to a bridge
    ACTION_DOUBLE               # canal
    ACTION_PLAN_WORTH           # of the best founding plan with this canal or bridge / 10
    ACTION_PLAN_COST            # / 6

cdef enum:
    NUM_SUMMARY = SUMMARY_BEHIND + 1
    NUM_FEATURES = SCORER_OWN + ACTION_PLAN_COST + 1
    NUM_POLICY = 4864           # weights of a learnt policy


# The weights that GameOps.policy and GameOps.evaluate read.
ctypedef struct MexicaWeightsC:
    float[NUM_WEIGHTS] network                  # layer after layer, see cext/core/learning/network.pxd
    float[NUM_GROUPS][NUM_CATEGORIES] priors    # weights of the categories
    float[NUM_POLICY] policy                    # layer after layer, see cext/core/learning/scorer.pxd
    float has_policy                            # 0: none
