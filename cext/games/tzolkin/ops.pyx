"""Tzolk'in's table of functions, and its states for Python.

Rules: ``rules.pyx``; what tiles and gears bring: ``tables.pyx``; the struct and the layout of actions: ``state.pxd``.
"""

from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memset
from numpy.random cimport bitgen_t

from cext.core.contract.game cimport GameOps, State, game_create, state_wrap
from cext.core.contract.rng cimport Stream
from cext.core.contract.types cimport CHANCE, MAX_SEATS, action_t
from cext.games.tzolkin.evaluation cimport TzolkinCacheC, evaluation_evaluate
from cext.games.tzolkin.hidden cimport hidden_deal_for, hidden_determinize
from cext.games.tzolkin.policy cimport policy_priors, policy_random_action
from cext.games.tzolkin.rules cimport (MAX_ACTIONS, MAX_GAME_LENGTH, rules_accepts_action, rules_apply_action,
                                       rules_draw_outcome, rules_has_answer, rules_legal_actions, rules_returns)
from cext.games.tzolkin.state cimport (KEEP, KEEPING, NO_SEAT, TzolkinStateC, action_second_tile, action_tile,
                                       action_verb, state_check, state_check_name, state_current_player,
                                       state_describe, state_fill, state_hash)
from cext.games.tzolkin.tables cimport NUM_WEALTH
from cext.games.tzolkin.tensor cimport ACTION_SIZE, OBSERVATION_SIZE, tensor_observe, tensor_observe_actions
from cext.games.tzolkin.weights cimport TzolkinWeightsC


cdef int tzolkin_num_players(const void* data) noexcept nogil:
    return (<const TzolkinStateC*>data).num_players


cdef void tzolkin_scores(const void* data, double* points) noexcept nogil:
    cdef const TzolkinStateC* state = <const TzolkinStateC*>data
    cdef int seat
    for seat in range(state.num_players):
        points[seat] = 0.25 * state.seats[seat].score


cdef int tzolkin_turn(const void* data) noexcept nogil:
    return (<const TzolkinStateC*>data).turns


cdef int tzolkin_round(const void* data) noexcept nogil:
    # The days that have passed: a round takes one, or two, and unlike the rounds a position tells them. Published
    # shares depend on them; their map was fitted with 0 for the first round.
    return (<const TzolkinStateC*>data).day - 1


cdef void tzolkin_chance(void* data, bitgen_t* rng) noexcept nogil:
    cdef TzolkinStateC* state = <TzolkinStateC*>data
    rules_apply_action(state, rules_draw_outcome(state, rng))


cdef GameOps _ops
memset(&_ops, 0, sizeof(GameOps))
_ops.name = "tzolkin"
_ops.rules_version = 1
_ops.state_size = sizeof(TzolkinStateC)
_ops.max_players = MAX_SEATS
_ops.max_actions = MAX_ACTIONS
_ops.max_game_length = MAX_GAME_LENGTH
_ops.weights_size = sizeof(TzolkinWeightsC)
_ops.cache_size = sizeof(TzolkinCacheC)
_ops.check = <int (*)(const void*) noexcept nogil>state_check
_ops.check_name = state_check_name
_ops.num_players = tzolkin_num_players
_ops.current_player = <int (*)(const void*) noexcept nogil>state_current_player
_ops.legal_actions = <int (*)(const void*, action_t*) noexcept nogil>rules_legal_actions
_ops.apply_action = <void (*)(void*, action_t) noexcept nogil>rules_apply_action
_ops.returns = <void (*)(const void*, double*) noexcept nogil>rules_returns
_ops.scores = tzolkin_scores
_ops.hash = <uint64_t (*)(const void*, int) noexcept nogil>state_hash
_ops.turn = tzolkin_turn
_ops.round = tzolkin_round
_ops.determinize = <bint (*)(void*, int, const void*, bitgen_t*) noexcept nogil>hidden_determinize
_ops.chance = tzolkin_chance
_ops.accepts_action = <bint (*)(const void*, action_t) noexcept nogil>rules_accepts_action
_ops.random_action = <action_t (*)(const void*, bitgen_t*) noexcept nogil>policy_random_action
_ops.policy = <void (*)(const void*, void*, const void*, const action_t*, int, float*) noexcept nogil>policy_priors
_ops.evaluate = <void (*)(const void*, void*, const void*, double*, double*) noexcept nogil>evaluation_evaluate
_ops.observation_size = OBSERVATION_SIZE
_ops.observe = tensor_observe
_ops.action_size = ACTION_SIZE
_ops.observe_actions = tensor_observe_actions

# Random turns to the end of the round cost time and tell little here: most of what a seat gains comes from few good
# turns. Found by a match (docs/learnt.md).
GAME = game_create(&_ops, {"playout_weight": 0})


def state_from_fields(dict fields not None):
    """Return the `State` of a validated position object.

    Parameters
    ----------
    fields : dict
        As `state_to_fields` returns it: the JSON position with every gear, tile, decision and seat as a number, scores
        in quarters of a point, and -1 for tiles that are unknown. Any tiles will do in their place; searches draw
        them anew.

    Raises
    ------
    ValueError
        If something is no part of the game, or there is no room for it.
    PositionError
        If an internal invariant is broken all the same; the validation of positions should have named it.
    """
    cdef TzolkinStateC state
    state_fill(&state, fields)
    cdef State owner = state_wrap(GAME, &state)
    owner.check()
    return owner


def state_to_fields(State owner not None):
    """Return the position object of a `State`, in canonical order; the inverse of `state_from_fields`."""
    return state_describe(_data(owner))


def without_viewer(State owner not None):
    """Return a copy of a view as a full `State`: what the viewer does not see is as it was dealt last."""
    cdef TzolkinStateC state = _data(owner)[0]
    state.viewer = NO_SEAT
    return state_wrap(GAME, &state)


def is_answerable(State owner not None):
    """Return whether the decision that is due, if one is, has an answer other than `done`."""
    cdef const TzolkinStateC* state = _data(owner)
    return state.num_pending == 0 or bool(rules_has_answer(state, state.pending[state.num_pending - 1]))


def draw_outcome(State owner not None, seed):
    """Return an outcome, as an action, of the random event that is due, drawn with that seed. Changes nothing."""
    cdef Stream stream = Stream(seed)
    if owner.game.ops.current_player(owner.data) != CHANCE:
        raise ValueError("no random event is due")
    return rules_draw_outcome(_data(owner), stream.bitgen)


def deal_for(State owner not None, int viewer, action_t action):
    """Deal what a seat does not see so that an action of another seat is legal.

    Parameters
    ----------
    owner : State
        Changed in place.
    viewer : int
        The seat, from 0.
    action : int
        Of another seat, or an outcome of the random event that is due.

    Returns
    -------
    bool
        False if the action is illegal in every world that fits what the viewer has seen.
    """
    cdef TzolkinStateC* state = <TzolkinStateC*>_data(owner)
    cdef Stream stream = Stream(0)
    cdef int first = action_tile(action), second = action_second_tile(action)
    owner._require_seat(viewer)
    if state.phase == KEEPING and action_verb(action) == KEEP:
        if not (0 <= first < NUM_WEALTH and 0 <= second < NUM_WEALTH):
            return False
        if not hidden_deal_for(state, viewer, (<uint32_t>1 << first) | (<uint32_t>1 << second), stream.bitgen):
            return False
    return owner.is_legal(action)


cdef const TzolkinStateC* _data(State owner) except NULL:
    if owner.game is not GAME:
        raise TypeError(f"expected a state of tzolkin, got one of {owner.game.name}")
    return <const TzolkinStateC*>owner.data
