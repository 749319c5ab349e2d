"""Features and categories of Tzolk'in, and the layout of its weights in memory."""

from cext.core.learning.scorer cimport SCORER_OWN

# Features of a seat and of the position, in the order of the network's inputs. Files have the names in lower case. The
# divisors bring each to about 1. Values in points are those of the plans, see ``plans.pxd``.
cpdef enum:
    OWN_SCORE                   # / 50
    OWN_CORN                    # / 10
    OWN_FIRST_CORN              # up to 6 of it / 6
    OWN_WOOD                    # / 5
    OWN_STONE                   # / 5
    OWN_GOLD                    # / 5
    OWN_SKULLS                  # / 3
    OWN_MATERIALS               # what all of it is worth in points / 20
    OWN_MATERIALS_AT_END        # what it brings at the end / 10
    OWN_WORKERS                 # more than 3 / 3
    OWN_WORKERS_LEFT            # these times the turns left / 81
    OWN_WORKERS_HOME            # not on a gear or the start space / 6
    OWN_LIGHT                   # 1: a double advance is left
    OWN_CORN_TILES              # / 4
    OWN_WOOD_TILES              # / 4
    OWN_FARMS                   # buildings by category / 4
    OWN_TOMBS
    OWN_CIVIC
    OWN_SHRINES
    OWN_MONUMENTS               # / 2
    OWN_MONUMENT_POINTS         # what those built bring at the end, with what they are expected to gain / 20
    OWN_CHAAC                   # steps / 6
    OWN_QUETZALCOATL
    OWN_KUKULCAN
    OWN_LEADS_CHAAC             # 1: highest alone; 0.5: with others
    OWN_LEADS_QUETZALCOATL
    OWN_LEADS_KUKULCAN
    OWN_TEMPLES_FIRST_AGE       # what the temples would pay now at the end of the first age, if it is to come / 20
    OWN_TEMPLES                 # the same for the second age / 20
    OWN_TEMPLE_REWARDS          # what the middles of the ages to come would bring now, in points / 10
    OWN_AGRICULTURE_1, OWN_AGRICULTURE_2, OWN_AGRICULTURE_3     # 1: this level or a higher one
    OWN_EXTRACTION_1, OWN_EXTRACTION_2, OWN_EXTRACTION_3
    OWN_ARCHITECTURE_1, OWN_ARCHITECTURE_2, OWN_ARCHITECTURE_3
    OWN_THEOLOGY_1, OWN_THEOLOGY_2, OWN_THEOLOGY_3
    OWN_AGRICULTURE_LEFT        # levels times the turns left / 81
    OWN_EXTRACTION_LEFT
    OWN_ARCHITECTURE_LEFT
    OWN_THEOLOGY_LEFT
    OWN_HUNGER                  # corn for the next food day / 12
    OWN_HUNGER_TO_COME          # for all of them / 40
    OWN_SHORT                   # corn that lacks for the next one / 6
    OWN_SHORT_SOON              # the same / (1 + days until then)
    OWN_CLIMB                   # the best step / 5
    OWN_ADVANCE                 # the best level / 5
    OWN_BUILDING                # the best building less its costs, with what the seat has / 6
    OWN_BUILDING_LATER          # the best one less what it takes to build it / 6
    OWN_MONUMENT                # the same for a monument / 15
    OWN_MONUMENT_LATER
    OWN_SECOND_MONUMENT
    OWN_SKULL_SPACE             # the best free space of Chichen Itza, without what a skull is worth / 15
    OWN_SKULL_PLAN              # what the skulls can still bring there / 15
    OWN_PLAN_PALENQUE           # what the workers there will bring / 8
    OWN_PLAN_YAXCHILAN
    OWN_PLAN_TIKAL
    OWN_PLAN_UXMAL
    OWN_PLAN_CHICHEN
    OWN_PLAN                    # the workers on all gears / 20
    OWN_NOW                     # the best that picking one worker up at once would bring / 8
    OWN_ALL_NOW                 # picking all up / 15
    OWN_WAITING                 # days that they will wait / 10
    OWN_IDLE                    # what the other workers will bring / 15
    OWN_PENDING                 # the decisions that wait / 8
    OWN_SOON_PALENQUE           # what the workers there can bring by the next food day / 8
    OWN_SOON_YAXCHILAN
    OWN_SOON_TIKAL
    OWN_SOON_UXMAL
    OWN_SOON_CHICHEN
    OWN_SOON_IDLE               # what a worker that is placed now can bring by then / 8
    OWN_IN_1                    # picking all workers up in this number of days / 15
    OWN_IN_2
    OWN_IN_3
    OWN_IN_4
    OWN_SOON_CORN               # the most corn that the workers can bring by the next food day / 10
    OWN_SOON_SHORT              # corn that lacks for it even then / 6
    OWN_SPARE                   # corn that is left after it / 10
    OWN_SOON_BUILDERS           # workers that can build by then / 3
    OWN_SOON_SKULLS             # that can take a skull / 2
    OWN_FOOD_TURNS              # until then, the present one included / 8
    # 1: a worker on this space.
    OWN_PALENQUE_AT_0, OWN_PALENQUE_AT_1, OWN_PALENQUE_AT_2, OWN_PALENQUE_AT_3, OWN_PALENQUE_AT_4
    OWN_PALENQUE_AT_5, OWN_PALENQUE_AT_6, OWN_PALENQUE_AT_7
    OWN_YAXCHILAN_AT_0, OWN_YAXCHILAN_AT_1, OWN_YAXCHILAN_AT_2, OWN_YAXCHILAN_AT_3, OWN_YAXCHILAN_AT_4
    OWN_YAXCHILAN_AT_5, OWN_YAXCHILAN_AT_6, OWN_YAXCHILAN_AT_7
    OWN_TIKAL_AT_0, OWN_TIKAL_AT_1, OWN_TIKAL_AT_2, OWN_TIKAL_AT_3, OWN_TIKAL_AT_4
    OWN_TIKAL_AT_5, OWN_TIKAL_AT_6, OWN_TIKAL_AT_7
    OWN_UXMAL_AT_0, OWN_UXMAL_AT_1, OWN_UXMAL_AT_2, OWN_UXMAL_AT_3, OWN_UXMAL_AT_4
    OWN_UXMAL_AT_5, OWN_UXMAL_AT_6, OWN_UXMAL_AT_7
    OWN_CHICHEN_AT_0, OWN_CHICHEN_AT_1, OWN_CHICHEN_AT_2, OWN_CHICHEN_AT_3, OWN_CHICHEN_AT_4, OWN_CHICHEN_AT_5
    OWN_CHICHEN_AT_6, OWN_CHICHEN_AT_7, OWN_CHICHEN_AT_8, OWN_CHICHEN_AT_9, OWN_CHICHEN_AT_10
    OWN_TURNS                   # left, the present one included / 27
    OWN_WAITS                   # seats that move before it / 3
    OWN_IS_TO_MOVE
    OWN_IS_FIRST                # 1: has the marker of the starting player
    OWN_ON_START                # 1: on the start space
    OWN_ESTIMATE_LOGIT          # the outlook / 7
    OWN_ESTIMATE                # the outlook and what the turns left bring / 50

cpdef enum:
    SHARED_THREE_SEATS
    SHARED_FOUR_SEATS
    SHARED_DAYS                 # left / 27
    SHARED_LATE                 # 1 / (1 + days left)
    SHARED_FOOD                 # days until the next food day / 7
    SHARED_FOOD_HELD_1          # 1: this number of food days were held
    SHARED_FOOD_HELD_2
    SHARED_FOOD_HELD_3
    SHARED_FOOD_HELD_4
    SHARED_TEETH                # corn for the start space / 5
    SHARED_START_TAKEN
    SHARED_BANK                 # skulls / 13
    SHARED_PLACING              # phases
    SHARED_PICKING
    SHARED_ADVANCING
    SHARED_PLACED               # workers in this turn / 6
    SHARED_CORN_FIELDS          # corn tiles left / those of the start
    SHARED_WOOD_FIELDS
    SHARED_SKULL_SPACES         # filled / 9
    SHARED_MONUMENTS            # on display / 6
    SHARED_ENTRY_PALENQUE       # the lowest free space / 7
    SHARED_ENTRY_YAXCHILAN
    SHARED_ENTRY_TIKAL
    SHARED_ENTRY_UXMAL
    SHARED_ENTRY_CHICHEN

cdef enum:                          # lengths
    NUM_OWN = OWN_ESTIMATE + 1
    NUM_SHARED = SHARED_ENTRY_CHICHEN + 1
    NUM_INPUTS = 3 * NUM_OWN + NUM_SHARED
    NUM_WEIGHTS = 15316            # of the network over them

# A category of actions, for the priors, is a kind and a gap; its index is kind * NUM_GAPS + gap. The order is that of
# the weights. Files have the names in lower case: "place_palenque_best" and so on.
cpdef enum:
    KIND_PLACE_PALENQUE, KIND_PLACE_YAXCHILAN, KIND_PLACE_TIKAL, KIND_PLACE_UXMAL, KIND_PLACE_CHICHEN, KIND_PLACE_START
    # With one of the actions of that gear.
    KIND_PICK_PALENQUE, KIND_PICK_YAXCHILAN, KIND_PICK_TIKAL, KIND_PICK_UXMAL, KIND_PICK_CHICHEN
    KIND_PICK_NOTHING
    # From here on in the order of the verbs.
    KIND_KEEP, KIND_BEG
    KIND_HARVEST, KIND_BURN, KIND_RESEARCH, KIND_BUILD, KIND_CLIMB, KIND_TAKE, KIND_SELL, KIND_BUY, KIND_USE, KIND_DONE
    KIND_END, KIND_ADVANCE

# The gap to the best action: none, less than NEAR_BEHIND, less than FAR_BEHIND, more.
cpdef enum:
    GAP_BEST, GAP_NEAR, GAP_BEHIND, GAP_FAR

cdef enum:
    NUM_GAPS = GAP_FAR + 1
    NUM_CATEGORIES = (KIND_ADVANCE + 1) * NUM_GAPS
    NUM_GROUPS = 4              # rows of the weights: by food days held

# What a learnt policy sees of a decision; "own" is the seat to move. The divisors bring each to about 1.
cpdef enum:
    SUMMARY_KEEPING, SUMMARY_TURN, SUMMARY_PLACING, SUMMARY_PICKING, SUMMARY_ADVANCING
    SUMMARY_THREE_SEATS, SUMMARY_FOUR_SEATS
    SUMMARY_DAYS                    # left / 27
    SUMMARY_TO_FOOD                 # days to the next food day / 7
    SUMMARY_FOOD_DAYS               # held / 4
    SUMMARY_CORN                    # own / 10
    SUMMARY_WOOD, SUMMARY_STONE, SUMMARY_GOLD       # / 4
    SUMMARY_SKULLS                  # / 2
    SUMMARY_WORKERS                 # in play / 6
    SUMMARY_WORKERS_OUT             # on the board / 6
    SUMMARY_ON_PALENQUE, SUMMARY_ON_YAXCHILAN, SUMMARY_ON_TIKAL, SUMMARY_ON_UXMAL, SUMMARY_ON_CHICHEN   # / 3
    SUMMARY_BEST_PALENQUE, SUMMARY_BEST_YAXCHILAN, SUMMARY_BEST_TIKAL, SUMMARY_BEST_UXMAL   # its furthest tooth / 8
    SUMMARY_BEST_CHICHEN
    SUMMARY_AGRICULTURE, SUMMARY_EXTRACTION, SUMMARY_ARCHITECTURE, SUMMARY_THEOLOGY         # levels / 3
    SUMMARY_TEMPLE_1, SUMMARY_TEMPLE_2, SUMMARY_TEMPLE_3    # steps / 5
    SUMMARY_LIGHT                   # a double advance is left
    SUMMARY_PLACED                  # workers in this turn / 6
    SUMMARY_PENDING                 # decisions that wait / 4
    SUMMARY_START_TAKEN
    SUMMARY_TEETH                   # corn for the start space / 5
    SUMMARY_SPREAD                  # advantage of the best action over that of the worst / 10
    SUMMARY_ACTIONS                 # logarithm of the number of actions / 4

# What it sees of an action, besides `SCORER_SHARE` and `SCORER_BEHIND`.
cpdef enum:
    ACTION_LOSS                     # what it lacks to the best action, in the advantage / 4
    ACTION_SPACE                    # PICK, PLACE: the space / 8
    ACTION_USED                     # action of a gear / 6
    ACTION_TEMPLE_1, ACTION_TEMPLE_2, ACTION_TEMPLE_3       # it is about this temple, or the track of this number
    ACTION_TRACK_4
    ACTION_BLOCKS                   # / 3
    ACTION_GOLD                     # of them / 2
    ACTION_NUMBER                   # of a trade; days / 4
    ACTION_MONUMENT                 # builds one
    ACTION_TILE                     # number of the tile / 32

cdef enum:
    NUM_SUMMARY = SUMMARY_ACTIONS + 1
    NUM_FEATURES = SCORER_OWN + ACTION_TILE + 1
    NUM_POLICY = 6176               # weights of a learnt policy


# What GameOps.policy and GameOps.evaluate read.
ctypedef struct TzolkinWeightsC:
    float[NUM_WEIGHTS] network                  # layer after layer, see cext/core/learning/network.pxd
    float[NUM_GROUPS][NUM_CATEGORIES] priors    # weights of the categories
    float[NUM_POLICY] policy                    # layer after layer, see cext/core/learning/scorer.pxd
    float has_policy                            # 0: none
