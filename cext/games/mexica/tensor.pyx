"""Observations of Mexica. All seats see the same: the tokens of the second period are hidden from everybody."""

from libc.stdint cimport uint32_t

from cext.core.learning.tensor cimport (tensor_bytes, tensor_head, tensor_number, tensor_one_hot, tensor_seat,
                                        tensor_zeros)
from cext.core.contract.types cimport MAX_SEATS
from cext.games.mexica.board cimport LAND, NUM_COLUMNS, NUM_ROWS
from cext.games.mexica.rows cimport rows_t
from cext.games.mexica.state cimport MAX_SIZE, MIN_SIZE, NEUTRAL, MexicaStateC, state_current_player

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
