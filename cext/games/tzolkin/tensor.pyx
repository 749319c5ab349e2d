"""Observations of Tzolk'in: everything, but for the wealth tiles that the other seats are dealt and keep in secret; and
features of actions.
"""

from libc.stdint cimport uint64_t
from libc.string cimport memcpy

from cext.core.contract.sets cimport set_first
from cext.core.learning.tensor cimport (tensor_bits, tensor_bytes, tensor_distance, tensor_head, tensor_number,
                                        tensor_one_hot, tensor_seat, tensor_zeros)
from cext.games.tzolkin.rules cimport rules_apply_action
from cext.games.tzolkin.state cimport (BEG, BUILD, BURN, CLIMB, IDLE, KEEP, KEEPING, NO_SEAT, NO_SPACE, OVER, PICK,
                                       PLACE, RESEARCH, USE, SeatC, TzolkinStateC, action_arch, action_blocks,
                                       action_gear, action_number, action_second_temple, action_second_tile,
                                       action_space, action_temple, action_tile, action_used, action_verb, counts_of,
                                       state_current_player, state_spaces, state_workers_out)
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


# --- actions

cdef float* _target(float* out, const TzolkinStateC* state, action_t action, const TzolkinStateC* after) noexcept nogil:
    """Write the verb of an action, and what it names. `after`: the state after it."""
    cdef int verb = action_verb(action), gear = action_gear(action), tile = action_tile(action), space = -1, kind
    cdef int temple = action_temple(action), second = action_second_temple(action), entered
    cdef bint has_gear = verb == PLACE or verb == PICK or verb == USE
    cdef bint has_temple = verb == BEG or verb == BURN or verb == CLIMB
    cdef uint64_t kept = 0
    if verb == PICK:
        space = action_space(action)
    elif verb == PLACE and gear < NUM_GEARS:
        entered = state_spaces(after, state.to_move, gear) & ~state_spaces(state, state.to_move, gear)
        if entered:
            space = set_first(entered)
    if verb == KEEP:
        kept = <uint64_t>1 << tile | <uint64_t>1 << action_second_tile(action)
    out = tensor_one_hot(out, verb - 1, ACTION_VERBS)
    out = tensor_one_hot(out, gear if has_gear else -1, NUM_GEARS + 1)
    out = tensor_one_hot(out, space, NUM_SPACES)
    out = tensor_one_hot(out, action_used(action) - 1 if verb == PICK or verb == USE else -1, NUM_ACTIONS)
    out = tensor_one_hot(out, tile if verb == BUILD and tile < NUM_BUILDINGS else -1, NUM_BUILDINGS)
    out = tensor_one_hot(out, tile - NUM_BUILDINGS if verb == BUILD else -1, NUM_MONUMENTS)
    out = tensor_bits(out, kept, NUM_WEALTH)
    out = tensor_one_hot(out, temple if has_temple else -1, NUM_TEMPLES)
    if verb == CLIMB and second >= 0:
        out[second - NUM_TEMPLES] = 1
    out = tensor_one_hot(out, temple if verb == RESEARCH else -1, NUM_TRACKS)
    for kind in range(NUM_BLOCKS):
        out = tensor_number(out, action_blocks(action, kind))
    out = tensor_number(out, action_number(action))
    return tensor_number(out, action_arch(action))


cdef float* _effects(float* out, const TzolkinStateC* state, const TzolkinStateC* after) noexcept nogil:
    """Write what the seat to move has more in the state after its action, and whether its turn has ended."""
    cdef int i, seat = state.to_move
    cdef const SeatC* now = &state.seats[seat]
    cdef const SeatC* then = &after.seats[seat]
    out = tensor_number(out, 0.25 * (then.score - now.score))
    out = tensor_number(out, <int>then.corn - <int>now.corn)
    out = tensor_number(out, <int>then.skulls - <int>now.skulls)
    out = tensor_number(out, <int>then.workers - <int>now.workers)
    out = tensor_number(out, state_workers_out(after, seat) - state_workers_out(state, seat))
    out = tensor_number(out, <int>then.light - <int>now.light)
    for i in range(NUM_BLOCKS):
        out = tensor_number(out, <int>then.blocks[i] - <int>now.blocks[i])
    for i in range(NUM_TEMPLES):
        out = tensor_number(out, then.temples[i] - now.temples[i])
    for i in range(NUM_TRACKS):
        out = tensor_number(out, <int>then.levels[i] - <int>now.levels[i])
    return tensor_number(out, after.turns != state.turns or after.phase == OVER)


cdef void tensor_observe_actions(void* cache, const void* data, const action_t* actions, int n,
                                 float* out) noexcept nogil:
    # The action is played on a copy. While tiles are kept it is not: the last choice would show those of the others.
    cdef const TzolkinStateC* state = <const TzolkinStateC*>data
    cdef TzolkinStateC after
    cdef int i
    for i in range(n):
        memcpy(&after, state, sizeof(TzolkinStateC))
        if state.phase != KEEPING:
            rules_apply_action(&after, actions[i])
        out = _target(out, state, actions[i], &after)
        out = _effects(out, state, &after)
