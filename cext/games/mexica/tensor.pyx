"""Observations of Mexica, and features of actions. All seats see the same: the tokens of the second period are hidden
from everybody.
"""

from libc.stdint cimport uint8_t, uint32_t
from libc.stdlib cimport abs
from libc.string cimport memcpy, memset

from cext.core.learning.tensor cimport (tensor_bytes, tensor_head, tensor_number, tensor_one_hot, tensor_seat,
                                        tensor_zeros)
from cext.core.contract.types cimport MAX_SEATS
from cext.games.mexica.board cimport LAND, NUM_COLUMNS, NUM_ROWS, STARTS
from cext.games.mexica.plans cimport PlanC, plans_find
from cext.games.mexica.rows cimport (rows_any, rows_count, rows_first, rows_flood, rows_has, rows_of, rows_remove,
                                     rows_t)
from cext.games.mexica.rules cimport rules_apply_action, rules_sails, rules_scoring
from cext.games.mexica.state cimport (BRIDGE, BRIDGE_SUPPLY, CANAL, FOUND, MAX_SIZE, MIN_SIZE, NEUTRAL, RELOCATE, SAIL,
                                      TELEPORT, TEMPLE, TOKEN, WALK, MexicaStateC, action_argument, action_first,
                                      action_second, action_verb, state_bridges, state_current_player, state_dry,
                                      state_ramps)

cdef enum:
    PLANE = NUM_ROWS * NUM_COLUMNS


cdef float* _plane(float* out, const rows_t* cells) noexcept nogil:
    """Write a set of spaces: row 1 first, columns A to U."""
    cdef const uint32_t* rows = <const uint32_t*>cells
    cdef int row, column
    for row in range(1, NUM_ROWS + 1):
        for column in range(NUM_COLUMNS):
            out[column] = <float>(rows[row] >> (column + 1) & 1)
        out += NUM_COLUMNS
    return out


cdef float* _temples(float* out, const MexicaStateC* state, int owner) noexcept nogil:
    """Write the levels of an owner's temples."""
    cdef const uint32_t* rows = <const uint32_t*>&state.temples[owner]
    cdef const uint32_t* low = <const uint32_t*>&state.level_low
    cdef const uint32_t* high = <const uint32_t*>&state.level_high
    cdef int row, column
    for row in range(1, NUM_ROWS + 1):
        for column in range(NUM_COLUMNS):
            out[column] = <float>((rows[row] >> (column + 1) & 1)
                                  * (1 + (low[row] >> (column + 1) & 1) + 2 * (high[row] >> (column + 1) & 1)))
        out += NUM_COLUMNS
    return out


cdef inline int _place(int cell) noexcept nogil:
    """Return where a cell is in a plane; -1 for cell 0."""
    return ((cell >> 5) - 1) * NUM_COLUMNS + (cell & 31) - 1 if cell > 0 else -1


cdef void tensor_observe(const void* data, int viewer, float* out) noexcept nogil:
    cdef const MexicaStateC* state = <const MexicaStateC*>data
    cdef int n = state.num_players, k, i, size, unseen
    cdef int seats[MAX_SEATS]
    cdef float* tokens
    for k in range(MAX_SEATS):
        seats[k] = tensor_seat(viewer, k, n)
    out = tensor_head(out, viewer, state_current_player(state), n)

    # planes
    out = _plane(out, &LAND)
    out = _plane(out, &state.canals)
    out = _plane(out, &state.bridges[0])
    out = _plane(out, &state.bridges[1])
    for k in range(MAX_SEATS):
        out = _temples(out, state, seats[k]) if seats[k] >= 0 else tensor_zeros(out, PLANE)
    out = _temples(out, state, NEUTRAL)
    tokens = out
    out = tensor_zeros(out, PLANE)
    for i in range(state.num_placed):
        tokens[_place(state.placed_at[i])] = state.placed_size[i]
    out = _plane(out, &state.founded)
    for k in range(MAX_SEATS):
        out = tensor_one_hot(out, _place(state.pilli[seats[k]]) if seats[k] >= 0 else -1, PLANE)

    # calpulli tokens by size
    out = tensor_bytes(out, state.pool + MIN_SIZE, NUM_SIZES)
    out = tensor_bytes(out, state.display + MIN_SIZE, NUM_SIZES)
    out = tensor_bytes(out, state.removed + MIN_SIZE, NUM_SIZES)
    for size in range(MIN_SIZE, MAX_SIZE + 1):
        unseen = state.pool[size] - state.display[size] - state.removed[size]
        for i in range(state.num_placed):
            unseen -= state.placed_size[i] == size
        out = tensor_number(out, unseen)

    # seats
    for k in range(MAX_SEATS):
        out = tensor_number(out, state.score[seats[k]] if seats[k] >= 0 else 0)
    for k in range(MAX_SEATS):
        out = tensor_number(out, state.action_tokens[seats[k]] if seats[k] >= 0 else 0)
    for k in range(MAX_SEATS):
        out = tensor_bytes(out, state.stock[seats[k]], 4) if seats[k] >= 0 else tensor_zeros(out, 4)

    # the clock and the supply
    out = tensor_one_hot(out, state.phase, 3)
    out = tensor_number(out, state.period)
    out = tensor_number(out, state.round)
    out = tensor_number(out, state.action_points)
    out = tensor_number(out, state.tokens_taken)
    out = tensor_number(out, state.idle_rounds)
    out = tensor_number(out, state.built_this_round)
    out = tensor_number(out, state.singles)
    out = tensor_number(out, state.doubles)
    out = tensor_number(out, state.bridges_left)
    tensor_number(out, state.chance_due)


# --- actions

cdef enum:
    NUM_CELLS = 512
    MAX_PLANS = 3
    MAX_LEVEL = 4


# What is the same for several actions of a state.
cdef struct SharedC:
    rows_t water                    # spaces under water
    rows_t ramps
    uint8_t district[NUM_CELLS]     # spaces of the district of a dry space, else 0
    uint8_t costs[NUM_CELLS]        # action points to sail there
    bint is_known[MAX_LEVEL + 1]    # whether the effects of a temple of this level are, below; at 0 of founding
    int points[MAX_LEVEL + 1][3]    # own points at once, then in a scoring of the period, then both of the rivals
    PlanC plans[MAX_PLANS]
    int num_plans


cdef void _share(const MexicaStateC* state, const action_t* actions, int n, SharedC* shared) noexcept nogil:
    """Find what several actions need."""
    cdef rows_t rest = state_dry(state), district
    cdef bint has_sails = False, has_tiles = False
    cdef int i, cell, size
    shared.water = state.canals & ~state_bridges(state)
    shared.ramps = state_ramps(state)
    memset(shared.district, 0, sizeof(shared.district))
    memset(shared.is_known, 0, sizeof(shared.is_known))
    while rows_any(rest):
        district = rows_flood(rows_of(rows_first(&rest)), rest)
        rest = rest & ~district
        size = min(rows_count(district), 255)
        while rows_any(district):
            cell = rows_first(&district)
            rows_remove(&district, cell)
            shared.district[cell] = <uint8_t>size
    for i in range(n):
        has_sails |= action_verb(actions[i]) == SAIL
        has_tiles |= action_verb(actions[i]) == CANAL or action_verb(actions[i]) == BRIDGE
    if has_sails:
        rules_sails(state, state.to_move, BRIDGE_SUPPLY, shared.costs)
    shared.num_plans = plans_find(state, shared.plans, MAX_PLANS) if has_tiles else 0


cdef const int* _points(const MexicaStateC* state, action_t action, SharedC* shared) noexcept nogil:
    """Return what founding, or a temple of a level, brings; it is the same on all sites."""
    cdef int level = action_argument(action) if action_verb(action) == TEMPLE else 0
    cdef int* found = shared.points[level]
    cdef int now[MAX_SEATS]
    cdef int then[MAX_SEATS]
    cdef MexicaStateC after
    cdef int seat, own = state.to_move
    if shared.is_known[level]:
        return found
    shared.is_known[level] = True
    memcpy(&after, state, sizeof(MexicaStateC))
    rules_apply_action(&after, action)
    rules_scoring(state, now)
    rules_scoring(&after, then)
    found[0] = <int>after.score[own] - <int>state.score[own]
    found[1] = then[own] - now[own]
    found[2] = 0
    for seat in range(state.num_players):
        if seat != own:
            found[2] += <int>after.score[seat] - <int>state.score[seat] + then[seat] - now[seat]
    return found


cdef inline int _cost(action_t action, const SharedC* shared) noexcept nogil:
    """Return the points that an action takes, action points or tokens."""
    cdef int verb = action_verb(action)
    if verb == TEMPLE:
        return action_argument(action)
    if verb == SAIL:
        return shared.costs[action_first(action)]
    if verb == TELEPORT:
        return 5
    return verb == CANAL or verb == BRIDGE or verb == RELOCATE or verb == WALK or verb == TOKEN


cdef inline int _num_beside(const rows_t* set, int cell) noexcept nogil:
    """Return the number of the four spaces next to a space that are in a set."""
    return rows_has(set, cell - 32) + rows_has(set, cell + 32) + rows_has(set, cell - 1) + rows_has(set, cell + 1)


cdef float* _cell(float* out, int cell) noexcept nogil:
    """Write the row and the column of a space; zeros for none."""
    out = tensor_one_hot(out, (cell >> 5) - 1, NUM_ROWS)
    return tensor_one_hot(out, (cell & 31) - 1, NUM_COLUMNS)


cdef float* _surroundings(float* out, const MexicaStateC* state, int cell, const SharedC* shared) noexcept nogil:
    """Write what is where an action takes place."""
    cdef int pilli = state.pilli[state.to_move], size = shared.district[cell]
    if cell == 0:
        return tensor_zeros(out, 9)
    out = tensor_number(out, abs((cell >> 5) - (pilli >> 5)) + abs((cell & 31) - (pilli & 31)) if pilli != 0 else 0)
    out = tensor_number(out, rows_has(&state.district, cell))
    out = tensor_number(out, rows_has(&state.founded, cell))
    out = tensor_number(out, _num_beside(&shared.water, cell))
    out = tensor_number(out, _num_beside(&state.buildings, cell))
    out = tensor_number(out, rows_has(&STARTS, cell))
    out = tensor_number(out, rows_has(&shared.ramps, cell))
    out = tensor_number(out, size)
    return tensor_number(out, state.display[size] if MIN_SIZE <= size <= MAX_SIZE else 0)


cdef float* _plan(float* out, action_t action, const SharedC* shared) noexcept nogil:
    """Write the worth and the cost of the best founding plan that an action belongs to."""
    cdef const PlanC* plan
    cdef int i, tile
    for i in range(shared.num_plans):
        plan = &shared.plans[i]
        tile = 0
        while tile < plan.num_tiles and plan.tiles[tile] != action:
            tile += 1
        if tile < plan.num_tiles or plan.bridge == action:
            out = tensor_number(out, plan.worth)
            return tensor_number(out, plan.cost)
    return tensor_zeros(out, 2)


cdef void tensor_observe_actions(void* cache, const void* data, const action_t* actions, int n,
                                 float* out) noexcept nogil:
    cdef const MexicaStateC* state = <const MexicaStateC*>data
    cdef const int* points
    cdef SharedC shared
    cdef int i, verb, argument
    _share(state, actions, n, &shared)
    for i in range(n):
        verb, argument = action_verb(actions[i]), action_argument(actions[i])
        out = tensor_one_hot(out, verb - 1, ACTION_VERBS)
        out = _cell(out, action_first(actions[i]))
        out = _cell(out, action_second(actions[i]))
        out = tensor_one_hot(out, argument if verb == BRIDGE or verb == RELOCATE else -1, 2)
        out = tensor_number(out, argument if verb == TEMPLE else 0)
        out = tensor_number(out, verb == CANAL and argument == 1)
        out = tensor_number(out, _cost(actions[i], &shared))
        out = _surroundings(out, state, action_first(actions[i]), &shared)
        if verb == TEMPLE or verb == FOUND:
            points = _points(state, actions[i], &shared)
            out = tensor_number(out, points[0])
            out = tensor_number(out, points[1])
            out = tensor_number(out, points[2])
        else:
            out = tensor_zeros(out, 3)
        out = _plan(out, actions[i], &shared)
