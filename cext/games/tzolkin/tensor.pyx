"""Observations of Tzolk'in: everything, but for the wealth tiles that the other seats are dealt and keep in secret."""

from libc.stdint cimport uint64_t

from cext.core.learning.tensor cimport (tensor_bits, tensor_bytes, tensor_distance, tensor_head, tensor_number,
                                        tensor_one_hot, tensor_seat, tensor_zeros)
from cext.games.tzolkin.state cimport (IDLE, KEEPING, NO_SEAT, NO_SPACE, SeatC, TzolkinStateC, counts_of,
                                       state_current_player, state_spaces)
from cext.games.tzolkin.tables cimport TRADING


cdef float* _counts(float* out, uint64_t counts) noexcept nogil:
    """Write how many buildings of each kind there are."""
    cdef int kind
    for kind in range(NUM_BUILDINGS):
        out[kind] = counts_of(counts, kind)
    return out + NUM_BUILDINGS


cdef float* _seat(float* out, const SeatC* seat) noexcept nogil:
    """Write the numbers of a seat."""
    cdef int i
    out = tensor_number(out, 0.25 * seat.score)
    out = tensor_number(out, seat.corn)
    out = tensor_number(out, seat.skulls)
    out = tensor_number(out, seat.workers)
    out = tensor_number(out, seat.light)
    out = tensor_number(out, seat.corn_tiles)
    out = tensor_number(out, seat.wood_tiles)
    out = tensor_number(out, seat.free_workers)
    out = tensor_number(out, seat.discount)
    for i in range(NUM_BLOCKS):
        out = tensor_number(out, seat.blocks[i])
    for i in range(NUM_TEMPLES):
        out = tensor_number(out, seat.temples[i])
    return tensor_bytes(out, seat.levels, NUM_TRACKS)


cdef float* _decision(float* out, int decision) noexcept nogil:
    """Write a decision that waits: its number, or what a visit to the market has sold and bought; zeros for none."""
    out = tensor_one_hot(out, decision - 1, NUM_DECISIONS - 1)
    return tensor_bits(out, decision - TRADING if decision >= TRADING else 0, 2 * NUM_BLOCKS)


cdef void tensor_observe(const void* data, int viewer, float* out) noexcept nogil:
    cdef const TzolkinStateC* state = <const TzolkinStateC*>data
    cdef int n = state.num_players, k, i, gear
    cdef int seats[MAX_SEATS]
    cdef uint64_t drawn = 0
    for k in range(MAX_SEATS):
        seats[k] = tensor_seat(viewer, k, n)
    out = tensor_head(out, viewer, state_current_player(state), n)

    # workers on the gears; the last owner are the idle ones
    for k in range(MAX_SEATS + 1):
        i = IDLE if k == MAX_SEATS else seats[k]
        for gear in range(NUM_GEARS):
            out = tensor_bits(out, state_spaces(state, i, gear) if i >= 0 else 0, NUM_SPACES)

    # seats
    for k in range(MAX_SEATS):
        if seats[k] >= 0:
            out = _seat(out, &state.seats[seats[k]])
        else:
            out = tensor_zeros(out, SEAT_SCALARS + NUM_BLOCKS + NUM_TEMPLES + NUM_TRACKS)
    for k in range(MAX_SEATS):
        out = _counts(out, state.seats[seats[k]].built if seats[k] >= 0 else 0)
    for k in range(MAX_SEATS):
        out = tensor_bits(out, state.seats[seats[k]].monuments if seats[k] >= 0 else 0, NUM_MONUMENTS)
    for k in range(MAX_SEATS):
        i = seats[k] >= 0 and (state.phase != KEEPING or k == 0)
        out = tensor_bits(out, state.seats[seats[k]].wealth if i else 0, NUM_WEALTH)
    for k in range(MAX_SEATS):
        i = seats[k] >= 0 and k == 0 and state.phase == KEEPING
        out = tensor_bits(out, state.seats[seats[k]].dealt if i else 0, NUM_WEALTH)

    # the table
    out = _counts(out, state.display)
    out = tensor_bits(out, state.monuments, NUM_MONUMENTS)
    out = tensor_bits(out, state.skulls_placed, NUM_ACTIONS + 1)
    out = tensor_bytes(out, state.corn_fields, NUM_FIELDS)
    out = tensor_bytes(out, state.wood_fields, NUM_FIELDS)
    for i in range(state.num_drawn):
        drawn |= <uint64_t>1 << state.drawn[i]
    out = tensor_bits(out, drawn, NUM_WEALTH)

    # the clock
    out = tensor_one_hot(out, state.phase, NUM_PHASES)
    out = tensor_one_hot(out, tensor_distance(viewer, state.start_player, n), MAX_SEATS)
    out = tensor_one_hot(out, -1 if state.start_space == NO_SEAT else tensor_distance(viewer, state.start_space, n),
                         MAX_SEATS)
    out = tensor_one_hot(out, -1 if state.last == NO_SPACE else state.last >> 4, NUM_GEARS + 1)
    out = tensor_one_hot(out, -1 if state.last == NO_SPACE else state.last & 15, NUM_SPACES)
    for i in range(MAX_PENDING):
        out = _decision(out, state.pending[state.num_pending - 1 - i] if i < state.num_pending else 0)
    out = tensor_number(out, state.day)
    out = tensor_number(out, state.food_days)
    out = tensor_number(out, state.placed)
    out = tensor_number(out, state.reveal)
    out = tensor_number(out, state.teeth_corn)
    tensor_number(out, state.whole_points)
