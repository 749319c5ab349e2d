"""The rules: legal actions and their effects, scoring. Decisions D1-D8 are in docs/games/mexica.md.

Legal actions, random actions and priors all use the sets of spaces of the inline functions.
"""

from libc.stdint cimport uint8_t, uint64_t

from cext.core.contract.types cimport action_t
from cext.games.mexica.board cimport BUILDABLE, LAND, PALACE
from cext.games.mexica.rows cimport (rows_any, rows_east, rows_has, rows_none, rows_north, rows_of, rows_south, rows_t,
                                     rows_west)
from cext.games.mexica.state cimport (MexicaStateC, state_bridges, state_dry, state_ramps)

cdef enum:
    # With k canal spaces (at most 84): single and double canals 3 (192 - k), temples 4 (192 - k), teleports 200,
    # relocations of 11 bridges 22 k, a few more; below 3000 for every k.
    MAX_ACTIONS = 3072
    # 41 tiles, 72 temples and 15 foundings: at most 128 rounds that are not idle, each followed by at most 3 idle ones
    # (D6). 4 seats, 6 AP and 2 action tokens a turn, and `end`; foundings and removals cost nothing.
    MAX_GAME_LENGTH = 20000


# A pilli with only one or two exits in the first round (D4).
ctypedef struct NarrowC:
    rows_t exits        # spaces and bridges it could walk or sail to, with unlimited AP
    int seat


# Spaces that a canal tile may cover (4A): empty dry land outside the palace and founded districts, not a ramp.
cdef inline rows_t rules_diggable(const MexicaStateC* state) noexcept nogil:
    return (BUILDABLE & ~state.canals & ~state.buildings & ~state.pillis & ~state.founded & ~state_ramps(state))

# First (left) spaces of the double canals that fit into `free`, going east.
cdef inline rows_t rules_doubles_east(rows_t free) noexcept nogil:
    return free & rows_west(free)

# First (upper) spaces of the double canals that fit into `free`, going south.
cdef inline rows_t rules_doubles_south(rows_t free) noexcept nogil:
    return free & rows_north(free)

# Canal spaces without a bridge whose two ramps on the axis are dry (4C).
cdef inline rows_t rules_bridge_sites(const MexicaStateC* state, int axis) noexcept nogil:
    cdef rows_t dry = state_dry(state)
    cdef rows_t ramps = (rows_north(dry) & rows_south(dry)) if axis == 0 else (rows_east(dry) & rows_west(dry))
    return state.canals & ~state_bridges(state) & ramps

# Free bridges that could be turned to the other axis on their own space: both ramps would be dry.
cdef inline rows_t rules_turnable(const MexicaStateC* state) noexcept nogil:
    cdef rows_t dry = state_dry(state)
    return ((state.bridges[0] & rows_east(dry) & rows_west(dry))
            | (state.bridges[1] & rows_north(dry) & rows_south(dry))) & ~state.pillis

# Empty land spaces of the district of the pilli to move: sites for temples and for a calpulli token.
cdef inline rows_t rules_building_sites(const MexicaStateC* state) noexcept nogil:
    return state.district & ~PALACE & ~state.buildings & ~state.pillis

# Whether the pilli to move is in an unfounded district whose size is on display and that has a space for the token.
cdef inline bint rules_can_found(const MexicaStateC* state) noexcept nogil:
    cdef int size = state.district_size
    return (3 <= size <= 13 and state.display[size] > 0 and not rows_any(state.district & state.founded)
            and rows_any(rules_building_sites(state)))

# Targets of a teleport: any free dry space or bridge.
cdef inline rows_t rules_teleport_targets(const MexicaStateC* state) noexcept nogil:
    return (state_dry(state) | state_bridges(state)) & ~state.buildings & ~state.pillis

# Bits of the temple levels (bit 0: level 1) that the seat to move has and can pay.
cdef inline int rules_temple_levels(const MexicaStateC* state, int budget) noexcept nogil:
    cdef const uint8_t* stock = state.stock[state.to_move]
    cdef int levels = 0
    if stock[0] > 0 and budget >= 1:
        levels |= 1
    if stock[1] > 0 and budget >= 2:
        levels |= 2
    if stock[2] > 0 and budget >= 3:
        levels |= 4
    if stock[3] > 0 and budget >= 4:
        levels |= 8
    return levels

# Sum of the temple levels that a seat can still build.
cdef inline int rules_stock_levels(const MexicaStateC* state, int seat) noexcept nogil:
    cdef const uint8_t* stock = state.stock[seat]
    return stock[0] + 2 * stock[1] + 3 * stock[2] + 4 * stock[3]

# Whether the seat to move can take an action token (D2).
cdef inline bint rules_can_take_token(const MexicaStateC* state) noexcept nogil:
    return (state.action_points > 0 and state.tokens_taken < 2 and state.action_tokens[0] + state.action_tokens[1]
            + state.action_tokens[2] + state.action_tokens[3] < 12)


# Writes the cells that the pilli of `seat` can reach by one step on foot, ascending. Returns their number, at most 4.
cdef int rules_walks(const MexicaStateC* state, int seat, int* cells) noexcept nogil

# Free bridges that the pilli of `seat` can sail to from its bridge, for at most `budget` AP. If `costs` is not NULL,
# writes costs[cell] for each of them. Empty if the pilli is not on a bridge.
cdef rows_t rules_sails(const MexicaStateC* state, int seat, int budget, uint8_t* costs) noexcept nogil

# D4. Writes the other pillis that one action could trap now. Returns their number, at most 3; 0 after round 1.
cdef int rules_find_narrow(const MexicaStateC* state, NarrowC* narrow) noexcept nogil

# D4. Whether the action takes the last exit of one of these pillis.
cdef bint rules_traps(const MexicaStateC* state, action_t action, const NarrowC* narrow,
                      int num_narrow) noexcept nogil

# GameOps.legal_actions.
cdef int rules_legal_actions(const MexicaStateC* state, action_t* actions) noexcept nogil

# GameOps.apply_action.
cdef void rules_apply_action(MexicaStateC* state, action_t action) noexcept nogil

# GameOps.accepts_action: the removal of a token on display, on which the players have agreed (D8).
cdef bint rules_accepts_action(const MexicaStateC* state, action_t action) noexcept nogil

# Deals the second period's tokens. Precondition: chance_due, upcoming_known.
cdef void rules_deal(MexicaStateC* state) noexcept nogil

# Writes the sum of temple levels of each owner on the spaces of a district.
cdef void rules_levels(const MexicaStateC* state, rows_t district, int* levels) noexcept nogil

# Adds to points[seat] what a district of this value pays for these sums of levels (chapter 5: tied seats all get the
# full value and take up one place each). The neutral temples rank but earn nothing.
cdef void rules_score_levels(const int* levels, int value, int* points) noexcept nogil

# Writes to points[seat], of four seats, what a scoring of the present period would bring now.
cdef void rules_scoring(const MexicaStateC* state, int* points) noexcept nogil

# GameOps.returns: most points win, then most action tokens; then the win is shared.
cdef void rules_returns(const MexicaStateC* state, double* shares) noexcept nogil
