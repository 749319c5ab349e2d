"""Mexica's table of functions, and its states for Python.

``game.pxd`` explains what the functions of the table do. Rules: ``rules.pyx``; heuristics: ``policy.pyx``; the struct
and the layout of actions: ``state.pxd``.
"""

from libc.stdint cimport uint64_t
from libc.string cimport memset
from numpy.random cimport bitgen_t      # no-cython-lint: used in casts only

from cext.core.contract.game cimport GameOps, State, game_create, state_wrap
from cext.core.contract.types cimport MAX_SEATS, action_t
from cext.games.mexica.evaluation cimport evaluation_evaluate
from cext.games.mexica.hidden cimport hidden_chance, hidden_determinize
from cext.games.mexica.policy cimport (MexicaCacheC, policy_begin_search, policy_playout_action, policy_priors,
                                       policy_random_action)
from cext.games.mexica.rules cimport (MAX_ACTIONS, MAX_GAME_LENGTH, rules_apply_action, rules_accepts_action,
                                      rules_legal_actions, rules_returns, rules_scoring)
from cext.games.mexica.state cimport (MexicaStateC, state_check, state_check_name, state_current_player, state_describe,
                                      state_fill, state_hash)
from cext.games.mexica.tensor cimport ACTION_SIZE, OBSERVATION_SIZE, tensor_observe, tensor_observe_actions
from cext.games.mexica.weights cimport MexicaWeightsC


cdef int mexica_num_players(const void* data) noexcept nogil:
    return (<const MexicaStateC*>data).num_players


cdef void mexica_scores(const void* data, double* points) noexcept nogil:
    cdef const MexicaStateC* state = <const MexicaStateC*>data
    cdef int seat
    for seat in range(state.num_players):
        points[seat] = state.score[seat]


cdef int mexica_turn(const void* data) noexcept nogil:
    return (<const MexicaStateC*>data).turns


cdef int mexica_round(const void* data) noexcept nogil:
    return (<const MexicaStateC*>data).round


cdef GameOps _ops
memset(&_ops, 0, sizeof(GameOps))
_ops.name = "mexica"
_ops.rules_version = 1
_ops.state_size = sizeof(MexicaStateC)
_ops.max_players = MAX_SEATS
_ops.max_actions = MAX_ACTIONS
_ops.max_game_length = MAX_GAME_LENGTH
_ops.weights_size = sizeof(MexicaWeightsC)
_ops.cache_size = sizeof(MexicaCacheC)
_ops.check = <int (*)(const void*) noexcept nogil>state_check
_ops.check_name = state_check_name
_ops.num_players = mexica_num_players
_ops.current_player = <int (*)(const void*) noexcept nogil>state_current_player
_ops.legal_actions = <int (*)(const void*, action_t*) noexcept nogil>rules_legal_actions
_ops.apply_action = <void (*)(void*, action_t) noexcept nogil>rules_apply_action
_ops.returns = <void (*)(const void*, double*) noexcept nogil>rules_returns
_ops.scores = mexica_scores
_ops.hash = <uint64_t (*)(const void*, int) noexcept nogil>state_hash
_ops.turn = mexica_turn
_ops.round = mexica_round
_ops.determinize = <bint (*)(void*, int, const void*, bitgen_t*) noexcept nogil>hidden_determinize
_ops.chance = <void (*)(void*, bitgen_t*) noexcept nogil>hidden_chance
_ops.accepts_action = <bint (*)(const void*, action_t) noexcept nogil>rules_accepts_action
_ops.policy = <void (*)(const void*, void*, const void*, const action_t*, int, float*) noexcept nogil>policy_priors
_ops.begin_search = <void (*)(void*) noexcept nogil>policy_begin_search
_ops.random_action = <action_t (*)(const void*, bitgen_t*) noexcept nogil>policy_random_action
_ops.playout_action = <action_t (*)(const void*, bitgen_t*) noexcept nogil>policy_playout_action
_ops.evaluate = <void (*)(const void*, void*, const void*, double*, double*) noexcept nogil>evaluation_evaluate
_ops.observation_size = OBSERVATION_SIZE
_ops.observe = tensor_observe
_ops.action_size = ACTION_SIZE
_ops.observe_actions = tensor_observe_actions

GAME = game_create(&_ops)


def scoring_now(State owner not None):
    """Return the points that each seat would get if the period of a Mexica `State` were scored now.

    Raises TypeError for a state of another game.
    """
    if owner.game is not GAME:
        raise TypeError(f"expected a state of mexica, got one of {owner.game.name}")
    cdef const MexicaStateC* state = <const MexicaStateC*>owner.data
    cdef int points[4]
    rules_scoring(state, points)
    return [points[seat] for seat in range(state.num_players)]


def state_from_fields(dict fields not None):
    """Return the `State` of a validated position object.

    Parameters
    ----------
    fields : dict
        The JSON position without `game` and `version`, every space as its cell number (row * 32 + column; 0 for an
        unplaced pilli), `calpulli` with all of its keys, `upcoming` None while unknown.

    Raises
    ------
    PositionError
        If an invariant is broken; the validation of positions should have found it.
    """
    cdef MexicaStateC state
    state_fill(&state, fields)
    cdef State owner = state_wrap(GAME, &state)
    owner.check()
    return owner


def state_to_fields(State owner not None):
    """Return the position object of a Mexica `State`, in canonical order; the inverse of `state_from_fields`.

    Raises TypeError for a state of another game.
    """
    if owner.game is not GAME:
        raise TypeError(f"expected a state of mexica, got one of {owner.game.name}")
    return state_describe(<const MexicaStateC*>owner.data)
