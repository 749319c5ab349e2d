"""What gears, temples, tracks and tiles bring, as tables; filled once from ``facts.json``, read-only from then on."""

from libc.stdint cimport int8_t, uint8_t, uint16_t, uint64_t

cdef enum:
    NUM_GEARS = 5
    CHICHEN = 4             # the last gear; the other four are alike in size
    START = 5               # the starting player space, after the gears
    NUM_TEMPLES = 3
    NUM_TRACKS = 4
    NUM_BLOCKS = 3          # wood, stone, gold
    NUM_BUILDINGS = 27      # different ones
    NUM_MONUMENTS = 13
    NUM_WEALTH = 21
    NUM_ACTIONS = 9         # of a gear at most
    NUM_FIELDS = 4          # Palenque 2 to 5
    NUM_FOOD_DAYS = 4
    MAX_CHOICES = 2         # decisions that one tile brings
    MAX_STEPS = 9           # of a temple

cdef enum:              # Gear
    PALENQUE = 0
    YAXCHILAN = 1
    TIKAL = 2
    UXMAL = 3

cdef enum:              # Track
    AGRICULTURE = 0
    EXTRACTION = 1
    ARCHITECTURE = 2
    THEOLOGY = 3
    NO_TRACK = 4

cdef enum:              # Material
    CORN = 0
    WOOD = 1
    STONE = 2
    GOLD = 3
    SKULL = 4
    NUM_MATERIALS = 5

# Numbers of the rules that the code is written with; `tables.pyx` checks that the facts say the same.
cdef enum:
    DISPLAY = 6
    SKULLS = 13
    MIN_WORKERS = 3
    MAX_WORKERS = 6
    NUM_DEALT = 4
    NUM_KEPT = 2
    BEG_AT_MOST = 2
    BEG_TO = 3
    LAST_DAY = 27
    CORN_PER_WORKER = 2
    UNFED_POINTS = -3
    SKULL_POINTS = 3        # at the end
    LOWEST = -1             # step of a temple
    TOP_LEVEL = 3
    AGE_2 = 2               # food days held before the second age
    USE_CORN = 1            # what Uxmal 5 costs
    BUILDING_CORN = 2       # for each block of a building that is paid with corn

cdef enum:              # Decision: what a turn still owes, see docs/formats.md
    NO_DECISION = 0
    HARVEST_2 = 1           # to HARVEST_2 + 3
    RESEARCH_ONE = 5
    RESEARCH_TWO = 6
    RESEARCH_MORE = 7
    FREE_ONE = 8
    FREE_TWO = 9
    BUILD_ONE = 10
    BUILD_TWO = 11
    BUILD_CORN = 12
    BUILD_SECOND = 13
    BUILD_SECOND_PLAIN = 14
    BUILD_MORE = 15
    CLIMB_ONE = 16
    CLIMB_TWO = 17
    CLIMB_MORE = 18
    TAKE_1 = 19
    TAKE_2 = 20
    TRADE = 21
    TRADE_MORE = 22
    USE_ONE = 23
    USE_MORE = 24
    NUM_DECISIONS = 25
    TRADING = 64            # + kinds sold (bits 0-2) and bought (bits 3-5), not 0: a visit to the market that goes on

cdef enum:              # Deed: what an action of a gear does
    NO_DEED = 0
    FISH = 1
    GAIN = 2
    WORKER = 3
    PLACE_SKULL = 4
    PAY_CORN = 5            # then the decision
    DECIDE = 6              # the decision

ctypedef struct ActionC:    # of a gear
    uint8_t deed
    uint8_t corn            # of FISH and PAY_CORN
    uint8_t gains[NUM_MATERIALS]
    uint8_t points          # of PLACE_SKULL
    uint8_t temple
    uint8_t take            # blocks of choice
    uint8_t decision

ctypedef struct GearC:
    uint8_t teeth
    uint8_t last            # highest action
    uint8_t free_from       # from here on every action below is free
    uint8_t unused

ctypedef struct FieldC:     # what a harvest brings
    uint8_t corn
    uint8_t wood

ctypedef struct TileC:      # a building, a monument (which has a cost alone), or starting wealth (no cost)
    uint8_t cost[NUM_MATERIALS]
    uint8_t price           # corn that pays for a building instead of blocks
    uint8_t copies
    uint8_t age
    uint8_t category
    # effects in the order in which they are done
    uint8_t gains[NUM_MATERIALS]
    uint8_t points
    uint8_t workers
    uint8_t steps[NUM_TEMPLES]
    uint8_t track           # of an advance; NO_TRACK
    uint8_t num_choices
    uint8_t choices[MAX_CHOICES]    # decisions
    # on food days
    uint8_t free_workers
    uint8_t discount

cdef enum:              # Scoring of a monument
    OF_CATEGORY = 0
    OF_ALL_TILES = 1
    OF_CORN_TILES = 2
    OF_WOOD_TILES = 3
    OF_ALL_MONUMENTS = 4
    OF_FULL_TRACKS = 5
    OF_LEVELS = 6
    OF_WORKERS = 7
    OF_TEMPLE_POINTS = 8
    OF_BEST_TEMPLE = 9
    OF_SKULLS_PLACED = 10

ctypedef struct ScoringC:
    uint8_t kind
    uint8_t points
    uint8_t category
    uint8_t by_number[8]    # OF_ALL_MONUMENTS: points each by seats; OF_FULL_TRACKS, OF_WORKERS: points by number

ctypedef struct TempleC:
    int8_t top
    int8_t points[MAX_STEPS]                        # by step - LOWEST
    uint8_t rewards[MAX_STEPS][NUM_MATERIALS]       # of this step and those below
    uint8_t leader[2]                               # points at the end of an age

ctypedef struct PaymentC:   # blocks of each kind
    uint8_t blocks[NUM_BLOCKS]
    uint8_t packed          # as in an action

cdef GearC GEARS[NUM_GEARS]
cdef ActionC ACTIONS[NUM_GEARS][NUM_ACTIONS + 1]    # from action 1 on
cdef FieldC FIELDS[NUM_FIELDS]
cdef TempleC TEMPLES[NUM_TEMPLES]
cdef TileC BUILDINGS[NUM_BUILDINGS]
cdef TileC MONUMENTS[NUM_MONUMENTS]
cdef TileC WEALTH[NUM_WEALTH]
cdef ScoringC SCORINGS[NUM_MONUMENTS]
cdef uint8_t PRICES[NUM_BLOCKS]                     # of a block at the market
cdef uint8_t SURCHARGE[MAX_WORKERS + 1]             # of all placements in a turn, by their number
cdef uint8_t FOOD_DAYS[NUM_FOOD_DAYS]
cdef bint IS_MID_AGE[NUM_FOOD_DAYS]
cdef uint8_t RESEARCH_COST[TOP_LEVEL + 1]           # blocks, by level
cdef uint8_t BONUS_POINTS
cdef uint8_t FIELD_TILES[5]                         # by seats: on each field
cdef uint8_t IDLE_WORKERS[5]
cdef uint8_t NUM_MONUMENTS_OPEN[5]
cdef uint64_t COPIES[3]                             # of the buildings of an age, two bits each
cdef PaymentC PAYMENTS[TOP_LEVEL + 1][10]           # by number of blocks: all choices, ascending as in actions
cdef uint8_t NUM_PAYMENTS[TOP_LEVEL + 1]
