"""Nim: a solved toy game, to test the search and as the smallest complete example of the contract.

1 to 8 piles of 0 to 63 objects. An action takes one or more objects from one pile; a turn is up to `plies_per_turn`
such actions by one seat (fewer when the objects run out). The seat that takes the last object wins. ``game.pxd``
explains what the functions of the table do.

Action layout: bits 0-7 count (1..63), bits 8-15 pile (0..7); all others 0.
"""

from libc.string cimport memset

from cext.core.contract.game cimport GameOps, State, game_create, state_wrap
from cext.core.contract.rng cimport mix_bits
from cext.core.learning.tensor cimport tensor_bytes, tensor_head, tensor_number, tensor_one_hot
from cext.core.contract.types cimport MAX_SEATS, TERMINAL, action_t, int32_t, uint8_t, uint64_t

cdef enum:
    MAX_PILES = 8
    MAX_PILE = 63
    OBSERVATION_SIZE = 1 + MAX_SEATS + MAX_PILES + 2
    ACTION_SIZE = MAX_PILES + 4


ctypedef struct NimStateC:
    uint8_t piles[MAX_PILES]    # objects left, 0..63; unused piles are 0
    uint8_t num_piles           # 1..8
    uint8_t num_players         # 2..4
    uint8_t player              # the seat to move; when no object is left, the seat that took the last one
    uint8_t plies_left          # actions left to that seat in this turn, 1..plies_per_turn
    uint8_t plies_per_turn      # 1..3
    uint8_t unused[3]
    int32_t turns               # turns ended so far; not part of the position
    uint8_t padding[44]


cdef inline bint _is_over(const NimStateC* state) noexcept nogil:
    """Return whether no object is left."""
    return (<const uint64_t*>state.piles)[0] == 0


cdef int nim_check(const void* data) noexcept nogil:
    cdef const NimStateC* state = <const NimStateC*>data
    cdef int i
    if not 2 <= state.num_players <= MAX_SEATS or state.player >= state.num_players:
        return 1
    if not 1 <= state.plies_per_turn <= 3 or not 1 <= state.plies_left <= state.plies_per_turn:
        return 2
    for i in range(MAX_PILES):
        if state.piles[i] > (MAX_PILE if i < state.num_piles else 0):
            return 3
    return 0


cdef const char* nim_check_name(int code) noexcept nogil:
    return "seats" if code == 1 else "plies" if code == 2 else "piles"


cdef int nim_num_players(const void* data) noexcept nogil:
    return (<const NimStateC*>data).num_players


cdef int nim_current_player(const void* data) noexcept nogil:
    cdef const NimStateC* state = <const NimStateC*>data
    if _is_over(state):
        return TERMINAL
    return state.player


cdef int nim_legal_actions(const void* data, action_t* actions) noexcept nogil:
    cdef const NimStateC* state = <const NimStateC*>data
    cdef int pile, count, n = 0
    for pile in range(state.num_piles):
        for count in range(1, state.piles[pile] + 1):
            actions[n] = <action_t>((pile << 8) | count)
            n += 1
    return n


cdef void nim_apply_action(void* data, action_t action) noexcept nogil:
    cdef NimStateC* state = <NimStateC*>data
    state.piles[action >> 8] -= <uint8_t>(action & 0xff)
    if _is_over(state):
        state.plies_left = 1
        state.turns += 1
        return
    state.plies_left -= 1
    if state.plies_left == 0:
        state.plies_left = state.plies_per_turn
        state.player = <uint8_t>((state.player + 1) % state.num_players)
        state.turns += 1


cdef void nim_returns(const void* data, double* shares) noexcept nogil:
    cdef const NimStateC* state = <const NimStateC*>data
    cdef int seat
    for seat in range(state.num_players):
        shares[seat] = 1.0 if seat == state.player else 0.0


cdef void nim_scores(const void* data, double* points) noexcept nogil:
    # One point for the last object; nim has no other points.
    cdef const NimStateC* state = <const NimStateC*>data
    cdef int seat
    for seat in range(state.num_players):
        points[seat] = 1.0 if _is_over(state) and seat == state.player else 0.0


cdef uint64_t nim_hash(const void* data, int viewer) noexcept nogil:
    cdef const NimStateC* state = <const NimStateC*>data
    cdef uint64_t rest = (state.num_piles | (state.num_players << 8) | (state.player << 16)
                          | (state.plies_left << 20) | (state.plies_per_turn << 24))
    return mix_bits((<const uint64_t*>state.piles)[0] ^ mix_bits(rest + 1))


cdef int nim_turn(const void* data) noexcept nogil:
    return (<const NimStateC*>data).turns


cdef int nim_round(const void* data) noexcept nogil:
    cdef const NimStateC* state = <const NimStateC*>data
    return state.turns // state.num_players


cdef void nim_observe(const void* data, int viewer, float* out) noexcept nogil:
    cdef const NimStateC* state = <const NimStateC*>data
    out = tensor_head(out, viewer, nim_current_player(data), state.num_players)
    out = tensor_bytes(out, state.piles, MAX_PILES)
    out = tensor_number(out, state.plies_left)
    tensor_number(out, state.plies_per_turn)


cdef int nim_action_id(const void* data, action_t action) noexcept nogil:
    return <int>(action >> 8) * MAX_PILE + <int>(action & 0xff) - 1


cdef void nim_observe_actions(void* cache, const void* data, const action_t* actions, int n,
                              float* out) noexcept nogil:
    cdef const NimStateC* state = <const NimStateC*>data
    cdef int i, pile, count, objects = 0
    for pile in range(MAX_PILES):
        objects += state.piles[pile]
    for i in range(n):
        pile, count = <int>(actions[i] >> 8), <int>(actions[i] & 0xff)
        out = tensor_one_hot(out, pile, MAX_PILES)
        out = tensor_number(out, count)
        out = tensor_number(out, state.piles[pile] - count)
        out = tensor_number(out, state.plies_left == 1 or objects == count)
        out = tensor_number(out, objects == count)


cdef GameOps _ops
memset(&_ops, 0, sizeof(GameOps))
_ops.name = "nim"
_ops.rules_version = 1
_ops.state_size = sizeof(NimStateC)
_ops.max_players = MAX_SEATS
_ops.max_actions = MAX_PILES * MAX_PILE
_ops.max_game_length = MAX_PILES * MAX_PILE
_ops.check = nim_check
_ops.check_name = nim_check_name
_ops.num_players = nim_num_players
_ops.current_player = nim_current_player
_ops.legal_actions = nim_legal_actions
_ops.apply_action = nim_apply_action
_ops.returns = nim_returns
_ops.scores = nim_scores
_ops.hash = nim_hash
_ops.turn = nim_turn
_ops.round = nim_round
_ops.observation_size = OBSERVATION_SIZE
_ops.observe = nim_observe
_ops.num_action_ids = MAX_PILES * MAX_PILE
_ops.action_id = nim_action_id
_ops.action_size = ACTION_SIZE
_ops.observe_actions = nim_observe_actions

GAME = game_create(&_ops)


def state_from_fields(dict fields not None):
    """Return the `State` of a validated position object.

    Parameters
    ----------
    fields : dict
        The JSON position without `game` and `version`.

    Raises
    ------
    PositionError
        If an invariant is broken; the validation of positions should have found it.
    """
    cdef NimStateC state
    cdef int i
    memset(&state, 0, sizeof(state))
    piles = fields["piles"]
    state.num_piles = <uint8_t>len(piles)
    for i in range(state.num_piles):
        state.piles[i] = piles[i]
    state.num_players = fields["players"]
    state.player = fields["to_move"]
    state.plies_left = fields["plies_left"]
    state.plies_per_turn = fields["plies_per_turn"]
    cdef State owner = state_wrap(GAME, &state)
    owner.check()
    return owner


def state_to_fields(State owner not None):
    """Return the position object of a nim `State`, the inverse of `state_from_fields`. Raises TypeError for other
    games.
    """
    cdef const NimStateC* state
    if owner.game is not GAME:
        raise TypeError(f"expected a state of nim, got one of {owner.game.name}")
    state = <const NimStateC*>owner.data
    return {"players": state.num_players, "piles": [state.piles[i] for i in range(state.num_piles)],
            "to_move": state.player, "plies_left": state.plies_left, "plies_per_turn": state.plies_per_turn}
