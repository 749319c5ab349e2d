"""Shut the Box: dice and nine tiles, an old pub game.

Each seat plays a whole box in its turn. It rolls two dice and shuts open tiles, 1 to 9, that add up to the roll; then
it rolls again. If no open tiles add up to the roll, it stops. Its points are the sum of its shut tiles, and the seat
with most points wins. With `one_die`, a seat that has shut 7, 8 and 9 rolls one die.

A turn shuts the tiles of one roll, in descending order, so that each choice of tiles has one spelling. The roll is a
random event between turns. ``game.pxd`` of mexica-ai explains what the functions of the table do.

Action layout: 0 stop, 1-9 shut this tile, 16 + n roll n (an event: 1 to 12).
"""

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint64_t
from libc.string cimport memset

from numpy.random cimport bitgen_t

from cext.core.contract.game cimport GameOps, State, game_create, state_wrap
from cext.core.contract.rng cimport mix_bits, rng_below
from cext.core.contract.types cimport CHANCE, MAX_SEATS, TERMINAL, action_t

cdef enum:
    STOP = 0
    ROLL = 16
    NUM_TILES = 9
    ALL_TILES = 0x3fe           # bits 1-9
    HIGH_TILES = 0x380          # 7, 8 and 9
    MAX_POINTS = 45             # the sum of all tiles
    ANY = NUM_TILES + 1         # below: at the beginning of a turn


ctypedef struct ShutboxStateC:
    uint16_t open               # bit t: tile t of the seat to move is open; 0 at the end of the game
    uint8_t points[MAX_SEATS]   # 0..45 of the seats before the one to move, 0 for the others
    uint8_t num_players         # 2..4
    uint8_t player              # the seat to move; num_players at the end of the game
    uint8_t rest                # what the tiles to shut in this turn still add up to, 0..12; 0: a roll is due
    uint8_t below               # the next tile is lower than this, 1..10
    uint8_t one_die             # 0, 1
    uint8_t unused
    int32_t turns               # turns ended so far; not part of the position
    uint8_t padding[48]         # 64 bytes in all


cdef inline bint _adds_up(int open, int below, int rest) noexcept nogil:
    """Return whether some open tiles lower than `below` add up to `rest`."""
    cdef uint64_t sums = 1      # bit n: some tiles add up to n
    cdef int tile
    for tile in range(1, below):
        if open >> tile & 1:
            sums |= sums << tile
    return sums >> rest & 1


cdef inline int _shut_points(int open) noexcept nogil:
    """Return the points of a box."""
    cdef int tile, points = MAX_POINTS
    for tile in range(1, NUM_TILES + 1):
        if open >> tile & 1:
            points -= tile
    return points


cdef int shutbox_check(const void* data) noexcept nogil:
    cdef const ShutboxStateC* state = <const ShutboxStateC*>data
    cdef int seat
    if not 2 <= state.num_players <= MAX_SEATS or state.player > state.num_players or state.one_die > 1:
        return 1
    for seat in range(MAX_SEATS):
        if state.points[seat] > (MAX_POINTS if seat < state.player else 0):
            return 2
    if state.open & ~ALL_TILES or (state.open == 0) != (state.player == state.num_players):
        return 3
    if state.rest > 12 or not 1 <= state.below <= ANY or (state.rest == 0 and state.below != ANY):
        return 4
    if state.below != ANY and (state.open >> state.below & 1 or not _adds_up(state.open, state.below, state.rest)):
        return 4
    if state.rest and state.open == 0:
        return 4
    return 0


cdef const char* shutbox_check_name(int code) noexcept nogil:
    return "seats" if code == 1 else "points" if code == 2 else "tiles" if code == 3 else "rest"


cdef int shutbox_num_players(const void* data) noexcept nogil:
    return (<const ShutboxStateC*>data).num_players


cdef int shutbox_current_player(const void* data) noexcept nogil:
    cdef const ShutboxStateC* state = <const ShutboxStateC*>data
    if state.player == state.num_players:
        return TERMINAL
    if state.rest == 0:
        return CHANCE
    return state.player


cdef int shutbox_legal_actions(const void* data, action_t* actions) noexcept nogil:
    cdef const ShutboxStateC* state = <const ShutboxStateC*>data
    cdef int tile, n = 0
    if state.rest == 0:
        return 0
    for tile in range(1, state.below):
        if state.open >> tile & 1 and tile <= state.rest and _adds_up(state.open, tile, state.rest - tile):
            actions[n] = tile
            n += 1
    if n == 0:
        actions[0] = STOP
        return 1
    return n


cdef void shutbox_apply_action(void* data, action_t action) noexcept nogil:
    cdef ShutboxStateC* state = <ShutboxStateC*>data
    if action > ROLL:
        state.rest = <uint8_t>(action - ROLL)
        return
    if action != STOP:
        state.open &= <uint16_t>~(1 << action)
        state.rest -= <uint8_t>action
        state.below = <uint8_t>action
        if state.rest:
            return
    state.rest = 0
    state.below = ANY
    state.turns += 1
    if action == STOP or state.open == 0:
        state.points[state.player] = <uint8_t>_shut_points(state.open)
        state.player += 1
        state.open = ALL_TILES if state.player < state.num_players else 0


cdef bint shutbox_accepts_action(const void* data, action_t action) noexcept nogil:
    cdef const ShutboxStateC* state = <const ShutboxStateC*>data
    cdef bint has_one = _has_one_die(state)
    if shutbox_current_player(data) != CHANCE:
        return False
    return ROLL + (1 if has_one else 2) <= action <= ROLL + (6 if has_one else 12)


cdef inline bint _has_one_die(const ShutboxStateC* state) noexcept nogil:
    """Return whether the seat to move rolls one die."""
    return state.one_die and state.open & HIGH_TILES == 0


cdef void shutbox_chance(void* data, bitgen_t* rng) noexcept nogil:
    cdef ShutboxStateC* state = <ShutboxStateC*>data
    cdef int roll = 1 + rng_below(rng, 6)
    if not _has_one_die(state):
        roll += 1 + rng_below(rng, 6)
    state.rest = <uint8_t>roll


cdef void shutbox_scores(const void* data, double* points) noexcept nogil:
    cdef const ShutboxStateC* state = <const ShutboxStateC*>data
    cdef int seat
    for seat in range(state.num_players):
        points[seat] = _shut_points(state.open) if seat == state.player else state.points[seat]


cdef void shutbox_returns(const void* data, double* shares) noexcept nogil:
    cdef const ShutboxStateC* state = <const ShutboxStateC*>data
    cdef int seat, best = 0, winners = 0
    for seat in range(state.num_players):
        best = max(best, state.points[seat])
    for seat in range(state.num_players):
        winners += state.points[seat] == best
    for seat in range(state.num_players):
        shares[seat] = 1.0 / winners if state.points[seat] == best else 0.0


cdef uint64_t shutbox_hash(const void* data, int viewer) noexcept nogil:
    cdef const ShutboxStateC* state = <const ShutboxStateC*>data
    cdef uint64_t points = 0
    cdef int seat
    for seat in range(MAX_SEATS):
        points = points << 8 | state.points[seat]
    cdef uint64_t rest = (state.open | <uint64_t>state.num_players << 16 | <uint64_t>state.player << 24
                          | <uint64_t>state.rest << 32 | <uint64_t>state.below << 40 | <uint64_t>state.one_die << 48)
    return mix_bits(mix_bits(points + 1) ^ rest)


cdef int shutbox_turn(const void* data) noexcept nogil:
    return (<const ShutboxStateC*>data).turns


cdef int shutbox_round(const void* data) noexcept nogil:
    cdef const ShutboxStateC* state = <const ShutboxStateC*>data
    return state.player // state.num_players


cdef GameOps _ops
memset(&_ops, 0, sizeof(GameOps))
_ops.name = "shutbox"
_ops.rules_version = 1
_ops.state_size = sizeof(ShutboxStateC)
_ops.max_players = MAX_SEATS
_ops.max_actions = NUM_TILES
_ops.max_game_length = MAX_SEATS * 2 * (NUM_TILES + 1)      # each seat shuts nine tiles and stops, and rolls as often
_ops.check = shutbox_check
_ops.check_name = shutbox_check_name
_ops.num_players = shutbox_num_players
_ops.current_player = shutbox_current_player
_ops.legal_actions = shutbox_legal_actions
_ops.apply_action = shutbox_apply_action
_ops.returns = shutbox_returns
_ops.scores = shutbox_scores
_ops.hash = shutbox_hash
_ops.turn = shutbox_turn
_ops.round = shutbox_round
_ops.chance = shutbox_chance
_ops.accepts_action = shutbox_accepts_action

GAME = game_create(&_ops)


def state_from_fields(dict fields not None):
    """Return the `State` of a validated position object.

    Parameters
    ----------
    fields : dict
        The JSON position.

    Raises
    ------
    PositionError
        If an invariant is broken.
    """
    cdef ShutboxStateC state
    memset(&state, 0, sizeof(state))
    for tile in fields["open"]:
        state.open |= <uint16_t>(1 << <int>tile)
    for seat, points in enumerate(fields["points"]):
        state.points[<int>seat] = points
    state.num_players = fields["players"]
    state.player = len(fields["points"])
    state.rest = fields["rest"]
    state.below = fields["below"]
    state.one_die = fields["one_die"]
    cdef State owner = state_wrap(GAME, &state)
    owner.check()
    return owner


def state_to_fields(State owner not None):
    """Return the fields of a `State`, the inverse of `state_from_fields`. Raises TypeError for other games."""
    cdef const ShutboxStateC* state
    if owner.game is not GAME:
        raise TypeError(f"expected a state of shutbox, got one of {owner.game.name}")
    state = <const ShutboxStateC*>owner.data
    return {
        "players": state.num_players,
        "to_move": min(state.player, state.num_players - 1),
        "open": [tile for tile in range(1, NUM_TILES + 1) if state.open >> tile & 1],
        "rest": state.rest,
        "below": state.below,
        "points": [state.points[seat] for seat in range(state.player)],
        "one_die": bool(state.one_die),
    }
