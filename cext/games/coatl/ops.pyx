"""Coatl's table of functions, and its states for Python.

``game.pxd`` explains what the functions of the table do. Rules: ``rules.pyx``; heuristics: ``policy.pyx``; the struct
and the layout of actions: ``state.pxd``.
"""

from libc.stdint cimport uint64_t
from libc.string cimport memset
from numpy.random cimport bitgen_t

from cext.core.contract.game cimport GameOps, State, game_create, state_wrap
from cext.core.contract.rng cimport Stream
from cext.core.contract.types cimport CHANCE, MAX_SEATS, action_t
from cext.games.coatl.belief cimport CoatlBeliefC, belief_begin
from cext.games.coatl.evaluation cimport CoatlCacheC, evaluation_evaluate
from cext.games.coatl.hidden cimport hidden_determinize
from cext.games.coatl.policy cimport policy_playout_action, policy_priors, policy_random_action
from cext.games.coatl.rules cimport (MAX_ACTIONS, MAX_GAME_LENGTH, rules_accepts_action, rules_apply_action,
                                     rules_draw_outcome, rules_legal_actions, rules_returns, rules_score)
from cext.games.coatl.state cimport (NO_SEAT, CoatlStateC, state_check, state_check_name, state_current_player,
                                     state_describe, state_fill, state_hash)
from cext.games.coatl.tensor cimport ACTION_SIZE, OBSERVATION_SIZE, tensor_observe, tensor_observe_actions
from cext.games.coatl.weights cimport CoatlWeightsC


cdef int coatl_num_players(const void* data) noexcept nogil:
    return (<const CoatlStateC*>data).table.num_players


cdef void coatl_scores(const void* data, double* points) noexcept nogil:
    cdef const CoatlStateC* state = <const CoatlStateC*>data
    cdef int seat
    for seat in range(state.table.num_players):
        points[seat] = rules_score(state, seat)


cdef int coatl_turn(const void* data) noexcept nogil:
    return (<const CoatlStateC*>data).turns


cdef int coatl_round(const void* data) noexcept nogil:
    return (<const CoatlStateC*>data).table.round


cdef void coatl_chance(void* data, bitgen_t* rng) noexcept nogil:
    cdef CoatlStateC* state = <CoatlStateC*>data
    rules_apply_action(state, rules_draw_outcome(state, rng))


cdef bint coatl_believe(const void* weights, const void* state, int viewer, double strength,
                        void* belief) noexcept nogil:
    return belief_begin((<const CoatlWeightsC*>weights).belief, <const CoatlStateC*>state, viewer, strength,
                        <CoatlBeliefC*>belief)


cdef GameOps _ops
memset(&_ops, 0, sizeof(GameOps))
_ops.name = "coatl"
_ops.rules_version = 1
_ops.state_size = sizeof(CoatlStateC)
_ops.max_players = MAX_SEATS
_ops.max_actions = MAX_ACTIONS
_ops.max_game_length = MAX_GAME_LENGTH
_ops.weights_size = sizeof(CoatlWeightsC)
_ops.cache_size = (sizeof(CoatlCacheC) + 63) // 64 * 64
_ops.check = <int (*)(const void*) noexcept nogil>state_check
_ops.check_name = state_check_name
_ops.num_players = coatl_num_players
_ops.current_player = <int (*)(const void*) noexcept nogil>state_current_player
_ops.legal_actions = <int (*)(const void*, action_t*) noexcept nogil>rules_legal_actions
_ops.apply_action = <void (*)(void*, action_t) noexcept nogil>rules_apply_action
_ops.returns = <void (*)(const void*, double*) noexcept nogil>rules_returns
_ops.scores = coatl_scores
_ops.hash = <uint64_t (*)(const void*, int) noexcept nogil>state_hash
_ops.turn = coatl_turn
_ops.round = coatl_round
_ops.determinize = <bint (*)(void*, int, const void*, bitgen_t*) noexcept nogil>hidden_determinize
_ops.believe = coatl_believe
_ops.belief_size = sizeof(CoatlBeliefC)
_ops.chance = coatl_chance
_ops.accepts_action = <bint (*)(const void*, action_t) noexcept nogil>rules_accepts_action
_ops.random_action = <action_t (*)(const void*, bitgen_t*) noexcept nogil>policy_random_action
_ops.policy = <void (*)(const void*, void*, const void*, const action_t*, int, float*) noexcept nogil>policy_priors
_ops.playout_action = <action_t (*)(const void*, bitgen_t*) noexcept nogil>policy_playout_action
_ops.evaluate = <void (*)(const void*, void*, const void*, double*, double*) noexcept nogil>evaluation_evaluate
_ops.observation_size = OBSERVATION_SIZE
_ops.observe = tensor_observe
_ops.action_size = ACTION_SIZE
_ops.observe_actions = tensor_observe_actions

# A random event follows nearly every turn. That value was found by matches, the other by forecasts (docs/learnt.md).
GAME = game_create(&_ops, {"events_exponent": 0.25, "best_reply": 1.0})


def state_from_fields(dict fields not None):
    """Return the `State` of a validated position object.

    Parameters
    ----------
    fields : dict
        As `state_to_fields` returns it: the JSON position with every colour, card and seat as a number, -1 for unknown
        cards. The state has arbitrary cards in their place; searches draw them again.

    Raises
    ------
    ValueError
        If there are more pieces or cards than the game has.
    PositionError
        If an invariant is broken; the validation of positions should have found it.
    """
    cdef CoatlStateC state
    state_fill(&state, fields)
    cdef State owner = state_wrap(GAME, &state)
    owner.check()
    return owner


def state_to_fields(State owner not None):
    """Return the position object of a Coatl `State`, in canonical order; the inverse of `state_from_fields`.

    Raises TypeError for a state of another game.
    """
    return state_describe(_data(owner))


def without_viewer(State owner not None):
    """Return a copy of a view as a full `State`: what the viewer does not see is as it was dealt last."""
    cdef CoatlStateC state = _data(owner)[0]
    state.viewer = NO_SEAT
    return state_wrap(GAME, &state)


def draw_outcome(State owner not None, seed):
    """Draw an outcome of the pending random event, without changing the state.

    Parameters
    ----------
    owner : State
        Of Coatl, else TypeError.
    seed : int
        0 <= seed < 2**63.

    Returns
    -------
    int
        The outcome as an action.

    Raises
    ------
    ValueError
        If no random event is pending.
    SearchError
        If the seed is out of range.
    """
    cdef Stream stream = Stream(seed)
    if owner.game.ops.current_player(owner.data) != CHANCE:
        raise ValueError("no random event is due")
    return rules_draw_outcome(_data(owner), stream.bitgen)


cdef const CoatlStateC* _data(State owner) except NULL:
    """Return the struct of a state, which must be of Coatl."""
    if owner.game is not GAME:
        raise TypeError(f"expected a state of coatl, got one of {owner.game.name}")
    return <const CoatlStateC*>owner.data
