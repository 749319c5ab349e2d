"""The flat state of Mexica and the layout of its actions."""

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint64_t

from cext.core.contract.types cimport CHANCE, TERMINAL, action_t
from cext.games.mexica.board cimport BUILDABLE, LAND
from cext.games.mexica.rows cimport rows_t, rows_west, rows_east, rows_north, rows_south

# --- actions
#
#   bits  0-8   second cell: a double canal's second space, relocate's new space; else 0
#   bits  9-17  first cell; 0 for token, end, remove
#   bits 18-21  argument: temple level 1-4; calpulli size 3-13 (found, remove); Axis (bridge, relocate);
#               canal: 0 single, 1 double; else 0
#   bits 22-25  Verb
#
# A cell is row * 32 + column, rows 1-14, columns 1-21. Ascending numbers are the canonical order.
cdef enum:              # Verb
    PLACE = 1
    CANAL = 2
    BRIDGE = 3
    RELOCATE = 4
    FOUND = 5
    TEMPLE = 6
    WALK = 7
    SAIL = 8
    TELEPORT = 9
    TOKEN = 10
    END = 11
    REMOVE = 12     # agreed on by the players (D8): only in records, never generated

cdef enum:              # Axis
    NS = 0
    EW = 1

# An action from its parts.
cdef inline action_t action_make(int verb, int argument, int first, int second) noexcept nogil:
    return (<action_t>verb << 22) | (<action_t>argument << 18) | (<action_t>first << 9) | <action_t>second

# Verb.
cdef inline int action_verb(action_t action) noexcept nogil:
    return <int>((action >> 22) & 15)

# Argument: see the layout above.
cdef inline int action_argument(action_t action) noexcept nogil:
    return <int>((action >> 18) & 15)

# First cell.
cdef inline int action_first(action_t action) noexcept nogil:
    return <int>((action >> 9) & 511)

# Second cell.
cdef inline int action_second(action_t action) noexcept nogil:
    return <int>(action & 511)


# --- sizes
cdef enum:              # Phase
    PLACEMENT = 0
    PLAY = 1
    OVER = 2

cdef enum:
    NEUTRAL = 4             # index of the neutral temples, after the seats 0-3
    NUM_OWNERS = 5
    MIN_SIZE = 3            # calpulli sizes
    MAX_SIZE = 13
    TURN_AP = 6
    TOKEN_SUPPLY = 12       # number of action tokens
    BRIDGE_SUPPLY = 11
    TOKENS_PER_TURN = 2
    FIRST_DEAL = 8          # calpulli tokens displayed in period 1, and in period 2
    SECOND_DEAL = 7
    MAX_PLACED = 15


# 1088 bytes, no pointers, padding is zero. Lists of sizes are counts indexed by size (0-13).
ctypedef struct MexicaStateC:
    rows_t canals               # spaces under canal tiles
    rows_t bridges[2]           # canal spaces with a bridge, by Axis
    rows_t temples[NUM_OWNERS]  # spaces of temples, by owner
    rows_t level_low            # bit 0 of (level - 1) of the temple there
    rows_t level_high           # bit 1 of (level - 1)
    rows_t buildings            # temples and calpulli tokens
    rows_t founded              # dry spaces of districts with a token
    rows_t pillis               # spaces where a pilli stands
    rows_t district             # dry spaces of the district of the pilli to move; empty on a bridge or if unplaced
    uint64_t board_hash         # incremental Zobrist hash of canals, bridges, temples, placed tokens and the pool
    int32_t round               # from 1, not reset in period 2; 0 during placement
    int32_t turns               # turns ended since the state was made; not part of the position
    uint16_t score[4]           # prestige points
    uint16_t pilli[4]           # cell of the pilli, 0 unplaced
    # Cells of the placed calpulli tokens: no more than the two deals, FIRST_DEAL and SECOND_DEAL.
    uint16_t placed_at[MAX_PLACED]
    uint8_t placed_size[MAX_PLACED]    # its size
    uint8_t num_placed          # 0..15
    uint8_t pool[14]            # all calpulli tokens of this game
    uint8_t display[14]         # to be founded now
    uint8_t removed[14]         # out of play
    uint8_t upcoming[14]        # of the second period; all 0 while unknown
    uint8_t stock[4][4]         # temples that a seat can still build, by level - 1
    uint8_t action_tokens[4]
    uint8_t upcoming_known      # 0: `upcoming` is not filled in (period 1 only)
    uint8_t is_hidden           # 1: the pool has more than 15 tokens, so no player knows `upcoming`
    uint8_t num_display         # sum of display
    uint8_t num_players         # 2..4
    uint8_t phase               # Phase
    uint8_t period              # 1, 2
    uint8_t to_move             # seat
    uint8_t action_points       # 0..6
    uint8_t tokens_taken        # 0..2 in this turn
    uint8_t tokens_before       # of these, before the search (policy_begin_search); not part of the position
    uint8_t idle_rounds         # 0..4
    uint8_t built_this_round    # 0, 1
    uint8_t singles             # single canal tiles left, 0..6
    uint8_t doubles             # double canal tiles left, 0..35
    uint8_t bridges_left        # in the supply, 0..11
    uint8_t district_size       # rows_count(district)
    uint8_t display_due         # 1: check the display for D5 after the next action
    uint8_t chance_due          # 1: the deal of the second period is pending


# Kinds of facts with Zobrist keys.
cdef enum:
    FACT_CANAL = 1
    FACT_BRIDGE = 2
    FACT_TEMPLE = 3
    FACT_PLACED = 4
    FACT_POOL = 5
    FACT_TURN = 6
    FACT_SCORES = 7
    FACT_SEATS = 8
    FACT_DISPLAY = 9
    FACT_REMOVED = 10
    FACT_UPCOMING = 11


# GameOps.current_player.
cdef inline int state_current_player(const MexicaStateC* state) noexcept nogil:
    if state.phase == OVER:
        return TERMINAL
    if state.chance_due:
        return CHANCE
    return state.to_move

# Land without a canal tile, including the palace.
cdef inline rows_t state_dry(const MexicaStateC* state) noexcept nogil:
    return LAND & ~state.canals

# All spaces with a bridge.
cdef inline rows_t state_bridges(const MexicaStateC* state) noexcept nogil:
    return state.bridges[0] | state.bridges[1]

# The spaces that support a bridge: two for each, along its axis.
cdef inline rows_t state_ramps(const MexicaStateC* state) noexcept nogil:
    return (rows_north(state.bridges[0]) | rows_south(state.bridges[0])
            | rows_west(state.bridges[1]) | rows_east(state.bridges[1]))

# Points that the seat to move can still spend: AP and action tokens (D2).
cdef inline int state_budget(const MexicaStateC* state) noexcept nogil:
    return state.action_points + state.action_tokens[state.to_move]


# GameOps.hash: the incremental board hash, and the other fields, which are mixed in at each call.
cdef uint64_t state_hash(const MexicaStateC* state, int viewer) noexcept nogil

# Computes board_hash from scratch.
cdef uint64_t state_board_hash(const MexicaStateC* state) noexcept nogil

# Computes `district` and `district_size` for the seat to move.
cdef void state_find_district(MexicaStateC* state) noexcept nogil

# GameOps.check: returns 0 or the number of the first broken invariant.
cdef int state_check(const MexicaStateC* state) noexcept nogil

# GameOps.check_name.
cdef const char* state_check_name(int code) noexcept nogil

# Fills in a state, with all derived fields, from a validated position object (spaces as cells).
cdef void state_fill(MexicaStateC* state, dict fields) except *

# Returns the position object of a state, in canonical order; the inverse of state_fill.
cdef dict state_describe(const MexicaStateC* state)
