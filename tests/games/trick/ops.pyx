"""Trick: a game with hidden hands, to test the search. It is not registered, and has no text form.

Cards 0 to 15, all different; a seat sees its own hand and what has been played. Each seat in turn plays one card, and
the highest one wins. So a lead wins with the probability that no other seat holds a higher card.

Action layout: bits 0-3 card; all others 0.
"""

from libc.stdint cimport uint8_t, uint16_t, uint64_t
from libc.string cimport memset

from numpy.random cimport bitgen_t

from cext.core.contract.game cimport CEXT_ABI, GameOps, State, game_create, game_create_compiled, state_wrap
from cext.core.contract.rng cimport mix_bits, rng_below
from cext.core.contract.types cimport ALL_SEEING, MAX_SEATS, TERMINAL, action_t

cdef enum:
    NUM_CARDS = 16


ctypedef struct TrickStateC:
    uint16_t hands[MAX_SEATS]   # a bit for each card
    uint16_t deck               # cards in a hand or out of play: those dealt from, less those played
    uint8_t played[MAX_SEATS]   # card + 1 of the seats before the one to move, 0 for the others
    uint8_t num_players         # 2..4
    uint8_t player              # the seat to move; num_players at the end
    uint8_t odd                 # of `ODD_GAME`: which numbers its policy and evaluation give; not part of the position
    uint8_t unused[47]          # 64 bytes in all


cdef int trick_check(const void* data) noexcept nogil:
    cdef const TrickStateC* state = <const TrickStateC*>data
    cdef uint16_t seen = 0
    cdef int seat
    if not 2 <= state.num_players <= MAX_SEATS or state.player > state.num_players:
        return 1
    for seat in range(state.num_players):
        if state.hands[seat] & (seen | ~state.deck) or (state.hands[seat] == 0 and state.player <= seat):
            return 2
        seen |= state.hands[seat]
    return 0


cdef const char* trick_check_name(int code) noexcept nogil:
    return "seats" if code == 1 else "hands"


cdef int trick_num_players(const void* data) noexcept nogil:
    return (<const TrickStateC*>data).num_players


cdef int trick_current_player(const void* data) noexcept nogil:
    cdef const TrickStateC* state = <const TrickStateC*>data
    if state.player >= state.num_players:
        return TERMINAL
    return state.player


cdef int trick_legal_actions(const void* data, action_t* actions) noexcept nogil:
    cdef const TrickStateC* state = <const TrickStateC*>data
    cdef int card, n = 0
    if state.player == state.num_players:
        return 0
    for card in range(NUM_CARDS):
        if state.hands[state.player] >> card & 1:
            actions[n] = card
            n += 1
    return n


cdef void trick_apply_action(void* data, action_t action) noexcept nogil:
    cdef TrickStateC* state = <TrickStateC*>data
    cdef uint16_t card = <uint16_t>(1 << action)
    state.hands[state.player] &= ~card
    state.deck &= ~card
    state.played[state.player] = <uint8_t>(action + 1)
    state.player += 1


cdef void trick_returns(const void* data, double* shares) noexcept nogil:
    cdef const TrickStateC* state = <const TrickStateC*>data
    cdef int seat, best = 0
    for seat in range(state.num_players):
        shares[seat] = 0.0
        if state.played[seat] > state.played[best]:
            best = seat
    shares[best] = 1.0


cdef void trick_scores(const void* data, double* points) noexcept nogil:
    cdef const TrickStateC* state = <const TrickStateC*>data
    if state.player == state.num_players:
        trick_returns(data, points)
    else:
        memset(points, 0, state.num_players * sizeof(double))


cdef uint64_t trick_hash(const void* data, int viewer) noexcept nogil:
    cdef const TrickStateC* state = <const TrickStateC*>data
    cdef uint64_t h = mix_bits((<uint64_t>viewer << 32) | (state.deck << 8) | (state.num_players << 4) | state.player)
    cdef int seat
    for seat in range(state.num_players):
        h = mix_bits(h + state.played[seat] + 1)
        if viewer == ALL_SEEING or viewer == seat:
            h = mix_bits(h + state.hands[seat] + 1)
    return h


cdef int trick_turn(const void* data) noexcept nogil:
    return (<const TrickStateC*>data).player


cdef int trick_round(const void* data) noexcept nogil:
    cdef const TrickStateC* state = <const TrickStateC*>data
    return state.player // state.num_players


cdef bint trick_determinize(void* data, int viewer, const void* belief, bitgen_t* rng) noexcept nogil:
    # Deals the other hands anew, card by card, from all that the viewer does not see.
    cdef TrickStateC* state = <TrickStateC*>data
    cdef uint8_t unseen[NUM_CARDS]
    cdef int sizes[MAX_SEATS]
    cdef int card, seat, _, k, total = 0, needed = 0, num_holders = 0
    for card in range(NUM_CARDS):
        if (state.deck & ~state.hands[viewer]) >> card & 1:
            unseen[total] = card
            total += 1
    for seat in range(state.num_players):
        sizes[seat] = 0
        for card in range(NUM_CARDS):
            sizes[seat] += state.hands[seat] >> card & 1
        if seat != viewer:
            needed += sizes[seat]
            num_holders += sizes[seat] > 0
    if num_holders == 0 or (num_holders == 1 and needed == total):
        return False                # nobody holds a card, or one seat has them all
    for seat in range(state.num_players):
        if seat == viewer:
            continue
        state.hands[seat] = 0
        for _ in range(sizes[seat]):
            k = rng_below(rng, total)
            state.hands[seat] |= <uint16_t>(1 << unseen[k])
            total -= 1
            unseen[k] = unseen[total]
    return True


cdef GameOps _ops
memset(&_ops, 0, sizeof(GameOps))
_ops.name = "trick"
_ops.rules_version = 1
_ops.state_size = sizeof(TrickStateC)
_ops.max_players = MAX_SEATS
_ops.max_actions = NUM_CARDS
_ops.max_game_length = MAX_SEATS
_ops.check = trick_check
_ops.check_name = trick_check_name
_ops.num_players = trick_num_players
_ops.current_player = trick_current_player
_ops.legal_actions = trick_legal_actions
_ops.apply_action = trick_apply_action
_ops.returns = trick_returns
_ops.scores = trick_scores
_ops.hash = trick_hash
_ops.turn = trick_turn
_ops.round = trick_round
_ops.determinize = trick_determinize

GAME = game_create(&_ops)


# The same game with a policy and an evaluation that give no usable numbers.

cdef enum:
    NUM_ODD = 7

cdef double[NUM_ODD] _ODD
_ODD[:] = [0.0, float("nan"), float("inf"), float("-inf"), -1.0, 1e-45, 3e38]


cdef inline double _odd(const void* data, int i) noexcept nogil:
    """Return the number for an action or a seat: the same for all, or after that kind one of each in turn."""
    cdef int kind = (<const TrickStateC*>data).odd
    return _ODD[kind if kind < NUM_ODD else (kind + i) % NUM_ODD]


cdef void odd_policy(const void* weights, void* cache, const void* data, const action_t* actions, int n,
                     float* priors) noexcept nogil:
    cdef int i
    for i in range(n):
        priors[i] = <float>_odd(data, i)


cdef void odd_evaluate(const void* weights, void* cache, const void* data, double* values,
                       double* points) noexcept nogil:
    cdef int seat
    for seat in range((<const TrickStateC*>data).num_players):
        values[seat] = _odd(data, seat)
        points[seat] = 1e308 * _odd(data, seat + 1)


cdef GameOps _odd_ops = _ops
_odd_ops.policy = odd_policy
_odd_ops.evaluate = odd_evaluate

ODD_GAME = game_create(&_odd_ops)
ODD_KINDS = range(2 * NUM_ODD)


def deal(hands, out_of_play=(), odd=None):
    """Return the `State` at the start: the seats' hands (sequences of cards), and cards dealt to nobody.

    `odd`: one of `ODD_KINDS`, for a state of `ODD_GAME`.
    """
    cdef TrickStateC state
    cdef int card, seat
    if not 2 <= len(hands) <= MAX_SEATS or not all(0 <= card < 16 for cards in (*hands, out_of_play) for card in cards):
        raise ValueError(f"expected 2 to {MAX_SEATS} hands of cards 0 to 15, got {hands!r} and {out_of_play!r}")
    memset(&state, 0, sizeof(state))
    state.num_players = len(hands)
    for seat in range(state.num_players):
        for card in hands[seat]:
            state.hands[seat] |= <uint16_t>(1 << card)
        state.deck |= state.hands[seat]
    for card in out_of_play:
        state.deck |= <uint16_t>(1 << card)
    state.odd = odd or 0
    cdef State owner = state_wrap(GAME if odd is None else ODD_GAME, &state)
    owner.check()
    return owner


def create_without_functions():
    """Offer the core a table that lacks `hash` and `round`."""
    cdef GameOps incomplete = _ops
    incomplete.hash = NULL
    incomplete.round = NULL
    return game_create(&incomplete)


def create_with(int state_size=64, int max_actions=NUM_CARDS, int max_players=MAX_SEATS):
    """Offer the core a table with other sizes."""
    cdef GameOps other = _ops
    other.state_size = state_size
    other.max_actions = max_actions
    other.max_players = max_players
    return game_create(&other)


# The same game, whose seat to move is what CHANCE becomes as a byte.
cdef int lost_current_player(const void* data) noexcept nogil:
    return 255


cdef GameOps _lost_ops = _ops
_lost_ops.current_player = lost_current_player

LOST_GAME = game_create(&_lost_ops)


def lose_seat(State owner not None):
    """Return the state as one of `LOST_GAME`."""
    return state_wrap(LOST_GAME, owner.data)


def create_for_another_interface(int abi, int more_bytes):
    """Offer the core a table, at no readable address, whose interface or size differs from the core's by so much."""
    return game_create_compiled(<const GameOps*>1, None, CEXT_ABI + abi, sizeof(GameOps) + more_bytes)
