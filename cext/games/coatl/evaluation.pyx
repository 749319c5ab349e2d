"""The evaluation of Coatl; contracts in ``evaluation.pxd``.

A prophecy counts for its points as its Coatl stands, and for the points of its next levels, by the number of pieces
that are missing for them. At each open end of the Coatl the card's automaton gives the shortest path to one more
occurrence; pieces that the seat has stored are not missing. ``plans.pxd`` has what several prophecies bring together.

A network reads the features of the seat, of its rivals and of the position (``cext/core/learning/network.pxd``). Its
weights in ``weights.json`` were fitted on self-play. The *outlook* is a hand-made weighted sum of a seat's features. It
orders the actions of a turn, and a fit of the network begins with it.
"""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from cext.core.contract.game cimport State
from cext.core.contract.sets cimport set_first
from cext.core.learning.network cimport (NETWORK_OUTPUTS, network_answers, network_combine, network_features,
                                         network_find_t, network_forward)
from cext.core.contract.rng cimport MIX_STEP, mix_bits, mix_require, mix_step, mix_word
from cext.games.coatl.cards cimport (ABSENT, BACKWARDS, FACES, LENGTH, NUM_COLORS, NUM_PAIRS, PATHS, TEMPLES, FaceC,
                                     PathC, TempleC, card_points, card_scan)
from cext.games.coatl.plans cimport PLANS_MISSING, PlansC, PlansCacheC, plans_find
from cext.games.coatl.rules cimport MAX_DEALT, rules_hand
from cext.games.coatl.state cimport (BODIES, BODY, BUILDING, CAPACITY, CLOSING, COATLS, DRAWING, FORESEEING, HEAD,
                                     IN_HAND, MAX_PIECES, NUM_KINDS, ON_DISPLAY, PERFECT_PICK, PLAYED, PRIESTS_PROMISE,
                                     SEE_THE_FUTURE, TAIL, THIRD, CoatlC, coatl_require_layout)
from cext.games.coatl.weights cimport *

cdef enum:
    CASH_SCALE = 30     # points

# The features of a seat before it is compared: feature, divisor that brings it to about 1, weight in the outlook. The
# outlook is about in points. Most actions of a turn only prepare something, so preparation counts. It leaves out plans.
_FEATURES = (
    (OWN_CLOSED_POINTS, 30, 1),
    (OWN_CLOSED, 3, 3),
    (OWN_TWO_CLOSED, 1, 0),
    (OWN_PLAYED_POINTS, 15, 0.9),
    (OWN_PLAYABLE_POINTS, 15, 0.75),
    (OWN_PLAYED_GAIN_0, 5, 0.7),
    (OWN_PLAYED_GAIN_1, 5, 0.45),
    (OWN_PLAYED_GAIN_2, 5, 0.25),
    (OWN_PLAYED_GAIN_3, 5, 0.12),
    (OWN_PLAYED_GAIN_4, 5, 0.05),
    (OWN_HAND_GAIN_0, 10, 0.7),
    (OWN_HAND_GAIN_1, 10, 0.45),
    (OWN_HAND_GAIN_2, 10, 0.25),
    (OWN_HAND_GAIN_3, 10, 0.12),
    (OWN_HAND_GAIN_4, 10, 0.05),
    (OWN_UNFINISHED, 2, 1),
    (OWN_PIECES, 10, 0.1),
    (OWN_LONGEST, 10, 0),
    (OWN_HEADS, 1, 0.7),
    (OWN_TAILS, 1, 0.7),
    (OWN_STORED_BODIES, 5, 0.35),
    (OWN_STORED_HEADS, 2, 0.5),
    (OWN_STORED_TAILS, 2, 0.5),
    (OWN_CARDS, 5, 0.4),
    (OWN_TEMPLE_POINTS, 7, 0.3),
    (OWN_TEMPLE_CARDS, 1, 0),
    (OWN_CROWDED, 1, -0.5),
    (OWN_HEADS_MISSING, 3, -0.4),
    (OWN_TAILS_MISSING, 3, -0.4),
    (OWN_READY, 1, 1),
    (OWN_READY_POINTS, 15, 0),
    (OWN_CARDS_PLAYED, 4, 0.2),
    (OWN_FULL_CARDS, 1, 0.3),
    (OWN_PICK, 1, 0.5),
    (OWN_FUTURE, 1, 0.5),
    (OWN_PROMISE, 1, 0.5),
    (OWN_TO_MOVE, 1, 0.5),
    (OWN_PLAN_POINTS_0, 15, 0),
    (OWN_PLAN_POINTS_1, 5, 0),
    (OWN_PLAN_POINTS_2, 5, 0),
    (OWN_PLAN_POINTS_3, 5, 0),
    (OWN_PLAN_POINTS_4, 5, 0),
    (OWN_BEST_POINTS_0, 10, 0),
    (OWN_BEST_POINTS_1, 5, 0),
    (OWN_BEST_POINTS_2, 5, 0),
    (OWN_BEST_POINTS_3, 5, 0),
    (OWN_BEST_POINTS_4, 5, 0),
    (OWN_PLAN_MISSING, 5, 0),
    (OWN_PLAN_CHOSEN, 25, 0),
    (OWN_PLAN_CARDS, 5, 0),
    (OWN_PLAN_TEMPLES, 14, 0),
    (OWN_PLAN_DISPLAY, 10, 0),
    (OWN_PLAN_SUPPLY, 2, 0),
    (OWN_PLAN_READY, 15, 0),
    (OWN_PLAN_NEARLY, 15, 0),
    (OWN_PLAN_CLOSABLE, 1, 0),
)

cdef enum:
    NUM_SCALED = OWN_PLAN_CLOSABLE + 1
    OUTLOOK_AT_START = 12

cdef float[NUM_SCALED] _DIVISORS
cdef float[NUM_COUNTS] _OUTLOOK


def _read_features():
    """Check the table, and copy it to where C reads it."""
    if [feature for feature, _, _ in _FEATURES] != list(range(NUM_SCALED)):
        raise ImportError("_FEATURES: expected all features up to OWN_PLAN_CLOSABLE, in the order of weights.pxd")
    for feature, divisor, weight in _FEATURES:
        _DIVISORS[feature] = divisor
        if feature < NUM_COUNTS:
            _OUTLOOK[feature] = weight


_read_features()


# The pieces that a seat has stored.
ctypedef struct StockC:
    uint8_t bodies[NUM_COLORS]
    uint8_t colors              # of these, as a set
    uint8_t heads
    uint8_t tails
    uint64_t key                # the bodies as a number


# --- one prophecy on one Coatl

cdef void _reach(const FaceC* card, int times, const PathC* path, const PathC* again, const StockC* stock,
                 uint8_t* reached) noexcept nogil:
    """Raise `reached`: the points possible with 0 to MAX_MISSING pieces that are not in stock.

    The next occurrence takes the pieces of `path`, each further one those of `again`.
    """
    cdef uint8_t left[NUM_COLORS]
    cdef int i, color, missing = 0, colors = stock.colors
    memcpy(left, stock.bodies, NUM_COLORS)
    while times < card.max_times:
        for i in range(path.length):
            if path.colors[i] & colors == 0:
                missing += 1
                continue
            color = set_first(path.colors[i] & colors)
            left[color] -= 1
            if left[color] == 0:
                colors &= ~(1 << color)
        times += 1
        path = again
        if missing > MAX_MISSING:
            break
        for i in range(missing, MAX_MISSING + 1):
            reached[i] = max(reached[i], <uint8_t>card.points[times])


cdef float[MAX_MISSING + 1] _GAIN_WEIGHTS
_GAIN_WEIGHTS[:] = [0.7, 0.45, 0.25, 0.12, 0.05]


cdef inline float _worth(const ReachC* reach) noexcept nogil:
    """Return a value for points now and points possible."""
    cdef float total = reach.points
    cdef int i, before = reach.points
    for i in range(MAX_MISSING + 1):
        total += _GAIN_WEIGHTS[i] * (reach.reached[i] - before)
        before = reach.reached[i]
    return total


cdef void _find_reach_anew(const CoatlC* coatl, int face, const StockC* stock, ReachC* reach) noexcept nogil:
    """Find what a prophecy brings on a Coatl."""
    cdef const FaceC* card = &FACES[face]
    cdef int times = 0, backward_times = 0, state, i
    state = card_scan(card.first, card.start, coatl.pieces, coatl.length, False, &times)
    reach.points = <uint8_t>card_points(face, times)
    for i in range(MAX_MISSING + 1):
        reach.reached[i] = reach.points
    if times < card.max_times and not coatl.has_tail:
        _reach(card, times, &PATHS[state], &PATHS[card.first + card.start], stock, reach.reached)
    if times < card.max_times and not coatl.has_head:
        state = card_scan(BACKWARDS[face].first, BACKWARDS[face].start, coatl.pieces, coatl.length, True,
                          &backward_times)
        _reach(card, times, &PATHS[state], &PATHS[BACKWARDS[face].first + BACKWARDS[face].start], stock, reach.reached)
    reach.worth = _worth(reach)


cdef uint64_t _coatl_key(const CoatlC* coatl, const StockC* stock) noexcept nogil:
    """Return a hash of a Coatl's pieces and the bodies in stock."""
    cdef uint64_t h = mix_step(0, stock.key)
    cdef int i
    h = mix_step(h, <uint64_t>(coatl.length | coatl.has_head << 8 | coatl.has_tail << 9))
    for i in range(0, coatl.length, 8):
        h = mix_step(h, mix_word(coatl.pieces + i))
    return mix_bits(h)


cdef inline bint _is_of(ReachC* reach, uint64_t key) noexcept nogil:
    """Return whether a place of a cache has the key; give it the key if it has not."""
    if reach.key == <uint32_t>key and reach.more_of_key == <uint16_t>(key >> 32):
        return True
    reach.key = <uint32_t>key
    reach.more_of_key = <uint16_t>(key >> 32)
    return False


cdef inline uint64_t _with_face(uint64_t key, int face) noexcept nogil:
    """Return the key of a prophecy, not 0."""
    return (key + <uint64_t>(face + 1) * MIX_STEP) | 1


cdef const ReachC* _find_reach(const CoatlC* coatl, uint64_t coatl_key, int face, const StockC* stock,
                               CoatlCacheC* cache, ReachC* own) noexcept nogil:
    """Return what a prophecy brings on a Coatl, from the cache if it is there; else find it."""
    cdef ReachC* reach = own
    cdef uint64_t key
    if cache != NULL:
        key = _with_face(coatl_key, face)
        reach = &cache.reaches[key >> 48 & (REACHES_KEPT - 1)]
        if _is_of(reach, key):
            return reach
    _find_reach_anew(coatl, face, stock, reach)
    return reach


cdef inline void _add_gains(const ReachC* reach, float* gains) noexcept nogil:
    """Add what each number of missing pieces adds to the points."""
    cdef int i, before = reach.points
    for i in range(MAX_MISSING + 1):
        gains[i] += reach.reached[i] - before
        before = reach.reached[i]


cdef int _temple_outlook(const CoatlC* coatl, uint64_t temples) noexcept nogil:
    """Return the points that the best of some temples could still bring on an unfinished Coatl."""
    cdef uint8_t counts[NUM_COLORS]
    cdef const TempleC* temple
    cdef int i, met, best = 0
    memset(counts, 0, sizeof(counts))
    for i in range(coatl.length):
        counts[coatl.pieces[i]] += 1
    while temples:
        temple = &TEMPLES[set_first(temples)]
        temples &= temples - 1
        met = 0
        for i in range(2):
            if temple.kind[i] == ABSENT:
                met += counts[temple.a[i]] == 0
            elif temple.kind[i] == LENGTH:
                met += coatl.length <= temple.a[i]
            else:
                met += (counts[temple.a[i]] > 0 and counts[temple.b[i]] > 0
                        and -1 <= counts[temple.a[i]] - counts[temple.b[i]] <= 1)
        best = max(best, temple.points[met])
    return best


# --- a seat

# The Coatls on which a seat could play prophecies; one may be yet to be started.
ctypedef struct CoatlsC:
    const CoatlC* coatls[COATLS]
    uint64_t keys[COATLS]
    uint64_t key                # of all of them, and the prophecies on them
    int n


cdef void _find_best(const CoatlsC* coatls, int face, const StockC* stock, CoatlCacheC* cache,
                     ReachC* best) noexcept nogil:
    """Find what a prophecy in hand brings on the Coatl where it brings most; its worth is -1 if none has room."""
    cdef ReachC own
    cdef const ReachC* reach
    cdef const CoatlC* coatl
    cdef int i, j
    best.worth = -1
    for i in range(coatls.n):
        coatl = coatls.coatls[i]
        for j in range(coatl.num_cards):
            if coatl.cards[j] == face:
                break
        else:
            reach = _find_reach(coatl, coatls.keys[i], face, stock, cache, &own)
            if reach.worth > best.worth:
                best.points = reach.points
                memcpy(best.reached, reach.reached, sizeof(best.reached))
                best.worth = reach.worth


cdef void _look_at_hand(const CoatlStateC* state, int seat, const StockC* stock, CoatlCacheC* cache,
                        float* features) noexcept nogil:
    """Add the prophecies in hand, each on the Coatl where it would bring most."""
    cdef CoatlC blank
    cdef CoatlsC coatls
    cdef const CoatlC* coatl
    cdef uint8_t hand[MAX_DEALT]        # a hand, see `rules_hand`
    cdef ReachC own
    cdef ReachC* best = &own
    cdef uint64_t key
    cdef int i, number
    cdef int n = rules_hand(state, seat, hand)
    coatls.n = 0
    coatls.key = 0
    for number in range(COATLS):
        coatl = &state.coatls[seat][number]
        if coatl.closed or coatl.num_cards == PLAYED:
            continue
        if coatl.length == 0:
            memset(&blank, 0, sizeof(blank))
            coatl = &blank
        coatls.coatls[coatls.n] = coatl
        if cache != NULL:
            coatls.keys[coatls.n] = _coatl_key(coatl, stock)
            coatls.key = mix_step(coatls.key, coatls.keys[coatls.n] + mix_word(&coatl.cards))
        coatls.n += 1
        if coatl.length == 0:
            break
    for i in range(n):
        if cache != NULL:
            key = _with_face(coatls.key, hand[i])
            best = &cache.bests[key >> 48 & (BESTS_KEPT - 1)]
        if cache == NULL or not _is_of(best, key):
            _find_best(&coatls, hand[i], stock, cache, best)
        if best.worth >= 0:
            features[OWN_PLAYABLE_POINTS] += best.points
            _add_gains(best, features + OWN_HAND_GAIN_0)


cdef void _look_at_coatl(const CoatlStateC* state, int seat, const CoatlC* coatl, const StockC* stock,
                         CoatlCacheC* cache, float* features) noexcept nogil:
    """Add an unfinished Coatl."""
    cdef ReachC own
    cdef const ReachC* reach
    cdef uint64_t key = 0
    cdef int i, all_points = 0
    if cache != NULL and coatl.num_cards > 0:
        key = _coatl_key(coatl, stock)
    for i in range(coatl.num_cards):
        reach = _find_reach(coatl, key, coatl.cards[i], stock, cache, &own)
        all_points += reach.points
        _add_gains(reach, features + OWN_PLAYED_GAIN_0)
    features[OWN_PLAYED_POINTS] += all_points
    features[OWN_UNFINISHED] += 1
    features[OWN_PIECES] += coatl.length
    features[OWN_LONGEST] = max(features[OWN_LONGEST], <float>coatl.length)
    features[OWN_HEADS] += coatl.has_head
    features[OWN_TAILS] += coatl.has_tail
    features[OWN_CARDS_PLAYED] += coatl.num_cards
    features[OWN_FULL_CARDS] += coatl.num_cards == PLAYED
    if coatl.num_cards > 0 and coatl.has_head + stock.heads > 0 and coatl.has_tail + stock.tails > 0:
        features[OWN_READY] += 1
        features[OWN_READY_POINTS] += all_points
    features[OWN_TEMPLE_POINTS] += _temple_outlook(coatl, state.temples[ON_DISPLAY] | state.temples[IN_HAND + seat])


cdef void _count_anew(const CoatlStateC* state, int seat, CoatlCacheC* cache, float* features) noexcept nogil:
    """Find the features of a seat up to NUM_COUNTS, before scaling."""
    cdef StockC stock
    cdef const CoatlC* coatl
    cdef int number, color, heads = 0, tails = 0, colors = 0, bodies = 0, tokens = state.table.tokens[seat]
    memset(features, 0, NUM_COUNTS * sizeof(float))
    memset(&stock, 0, sizeof(stock))
    for color in range(NUM_COLORS):
        stock.bodies[color] = state.table.stored[seat][BODY][color]
        heads += state.table.stored[seat][HEAD][color]
        tails += state.table.stored[seat][TAIL][color]
        colors |= (stock.bodies[color] > 0) << color
        stock.key = stock.key << 8 | stock.bodies[color]
        bodies += stock.bodies[color]
    stock.heads = <uint8_t>heads
    stock.tails = <uint8_t>tails
    stock.colors = <uint8_t>colors
    features[OWN_STORED_BODIES] = bodies
    for number in range(COATLS):
        coatl = &state.coatls[seat][number]
        features[OWN_CLOSED] += coatl.closed
        features[OWN_CLOSED_POINTS] += coatl.points
        if coatl.length > 0 and not coatl.closed:
            _look_at_coatl(state, seat, coatl, &stock, cache, features)
    _look_at_hand(state, seat, &stock, cache, features)
    features[OWN_TWO_CLOSED] = features[OWN_CLOSED] >= 2
    features[OWN_STORED_HEADS] = stock.heads
    features[OWN_STORED_TAILS] = stock.tails
    features[OWN_CARDS] = state.table.num_hand[seat]
    features[OWN_TEMPLE_CARDS] = state.table.num_temples[seat]
    features[OWN_CROWDED] = features[OWN_STORED_BODIES] + stock.heads + stock.tails > CAPACITY - 2
    features[OWN_HEADS_MISSING] = max(0, COATLS - features[OWN_CLOSED] - features[OWN_HEADS] - stock.heads)
    features[OWN_TAILS_MISSING] = max(0, COATLS - features[OWN_CLOSED] - features[OWN_TAILS] - stock.tails)
    features[OWN_PICK] = tokens & PERFECT_PICK != 0
    features[OWN_FUTURE] = tokens & SEE_THE_FUTURE != 0
    features[OWN_PROMISE] = tokens & PRIESTS_PROMISE != 0
    features[OWN_TO_MOVE] = state.table.to_move == seat


cdef uint64_t _key(const CoatlStateC* state, int seat) noexcept nogil:
    """Return a hash of what the counts of a seat depend on, not 0."""
    cdef const CoatlC* coatl
    cdef const uint8_t* stored = &state.table.stored[seat][0][0]
    cdef uint64_t h = mix_step(0, state.cards[IN_HAND + seat])
    cdef int number, i
    # Words: the pieces, the fields from `length` to `unused`, the cards and what follows from the pieces.
    mix_require(MAX_PIECES % 8 == 0)
    mix_require(NUM_KINDS * NUM_COLORS >= 8)
    mix_require(NUM_KINDS * NUM_COLORS <= 16)
    coatl_require_layout(coatl)
    h = mix_step(h, (state.temples[ON_DISPLAY] | state.temples[IN_HAND + seat])
                 | <uint64_t>state.table.tokens[seat] << 16 | <uint64_t>state.table.num_hand[seat] << 24
                 | <uint64_t>state.table.num_temples[seat] << 32 | <uint64_t>(state.table.to_move == seat) << 40)
    h = mix_step(h, mix_word(stored))
    h = mix_step(h, mix_word(stored + NUM_KINDS * NUM_COLORS - 8))
    for number in range(COATLS):
        coatl = &state.coatls[seat][number]
        h = mix_step(h, mix_word(&coatl.length))
        if not coatl.closed:
            for i in range(0, coatl.length, 8):
                h = mix_step(h, mix_word(coatl.pieces + i))
            h = mix_step(h, mix_word(&coatl.cards))
    return mix_bits(h) | 1


cdef inline float _outlook(const float* counts) noexcept nogil:
    """Return the outlook."""
    cdef float total = OUTLOOK_AT_START
    cdef int i
    for i in range(NUM_COUNTS):
        total += _OUTLOOK[i] * counts[i]
    return total


cdef const float* _count(const CoatlStateC* state, int seat, CoatlCacheC* cache, float* own) noexcept nogil:
    """Return the features of a seat up to NUM_COUNTS, from the cache if they are there; else find them."""
    cdef CountsC* kept
    cdef uint64_t key
    if cache == NULL:
        _count_anew(state, seat, NULL, own)
        return own
    key = _key(state, seat)
    kept = &cache.seats[key >> 32 & (COUNTS_KEPT - 1)]
    if kept.key != key:
        kept.key = key
        _count_anew(state, seat, cache, kept.counts)
    return kept.counts


cdef float evaluation_outlook(const CoatlStateC* state, int seat, CoatlCacheC* cache) noexcept nogil:
    cdef float counts[NUM_COUNTS]
    cdef OutlookC own
    cdef OutlookC* kept = &own
    cdef uint64_t key
    if cache != NULL:
        key = _key(state, seat)
        kept = &cache.outlooks[key >> 32 & (OUTLOOKS_KEPT - 1)]
        if kept.key == key:
            return kept.outlook
        kept.key = key
    _count_anew(state, seat, cache, counts)
    kept.outlook = _outlook(counts)
    return kept.outlook


cdef int _last_actions(const CoatlStateC* state, int seat) noexcept nogil:
    """Return how many actions a seat has left once the end has been triggered (rulebook: seats after the one that
    triggered it have two actions, seats before it one).
    """
    cdef int waits = (seat - state.table.to_move + state.table.num_players) % state.table.num_players
    if state.table.ending == 0:
        return 0
    if state.table.ending == BODIES:
        return (seat >= state.table.to_move) + (state.table.round < state.table.last_round)
    if waits == 0:
        return state.table.actions_left
    if seat == state.table.ending_seat or (
            waits > (state.table.ending_seat - state.table.to_move + state.table.num_players)
            % state.table.num_players and state.table.to_move != state.table.ending_seat):
        return 0
    return 2 if seat > state.table.ending_seat else 1


cdef void _add_plans(const CoatlStateC* state, int seat, PlansCacheC* cache, float* features) noexcept nogil:
    """Add the features of the plans."""
    cdef PlansC plans
    cdef int i
    plans_find(state, seat, cache, &plans)
    for i in range(PLANS_MISSING + 1):
        features[OWN_PLAN_POINTS_0 + i] = plans.points[i] - (plans.points[i - 1] if i > 0 else 0)
        features[OWN_BEST_POINTS_0 + i] = plans.best[i] - (plans.best[i - 1] if i > 0 else 0)
    features[OWN_PLAN_MISSING] = plans.missing
    features[OWN_PLAN_CHOSEN] = plans.chosen_points
    features[OWN_PLAN_CARDS] = plans.cards
    features[OWN_PLAN_TEMPLES] = plans.temples
    features[OWN_PLAN_DISPLAY] = plans.on_display
    features[OWN_PLAN_SUPPLY] = plans.on_supply
    features[OWN_PLAN_READY] = plans.ready
    features[OWN_PLAN_NEARLY] = plans.nearly
    features[OWN_PLAN_CLOSABLE] = plans.num_ready


cdef inline float _cash(const CoatlStateC* state, int seat, const float* counts) noexcept nogil:
    """Return an estimate of the points that a seat can have at the end. A Coatl that is not complete then is worth
    nothing.
    """
    cdef int actions = _last_actions(state, seat) if state.table.ending != 0 else 1
    return (counts[OWN_CLOSED_POINTS] + (counts[OWN_PLAN_READY] if actions > 0 else 0)
            + (counts[OWN_PLAN_NEARLY] if actions > 1 else 0))


cdef void _fill_own(const CoatlStateC* state, int seat, CoatlCacheC* cache, float* out) noexcept nogil:
    """Write the features of a seat; `_compare` adds the rest."""
    cdef float counts[NUM_SCALED]
    cdef const float* found = _count(state, seat, cache, counts)
    cdef float outlook
    cdef int i
    if found != counts:
        memcpy(counts, found, NUM_COUNTS * sizeof(float))
    _add_plans(state, seat, NULL if cache == NULL else &cache.plans, counts)
    outlook = _outlook(counts)
    for i in range(NUM_SCALED):
        out[i] = counts[i] / _DIVISORS[i]
    out[OWN_SEAT] = seat / 3.0
    out[OWN_WAITS] = ((seat - state.table.to_move + state.table.num_players) % state.table.num_players) / 3.0
    out[OWN_LAST_ACTIONS] = _last_actions(state, seat) / 2.0
    out[OWN_CASH] = _cash(state, seat, counts) / CASH_SCALE
    for i in range(OWN_LEAD, OWN_ENDS_NEXT + 1):
        out[i] = 0                  # see _compare
    out[OWN_ESTIMATE_LOGIT] = outlook / 8
    out[OWN_ESTIMATE_SCORE] = outlook / 50


cdef void _fill_shared(const CoatlStateC* state, float* out) noexcept nogil:
    """Write the features of the position."""
    cdef int seat, number, i, closed, most = 0, pairs = 0, bodies = 0, heads = 0, tails = 0
    for seat in range(state.table.num_players):
        closed = 0
        for number in range(COATLS):
            closed += state.coatls[seat][number].closed
        most = max(most, closed)
    for i in range(NUM_PAIRS):
        pairs += state.table.pairs[i]
    for i in range(NUM_COLORS):
        bodies += state.bag[BODY][i]
    out[SHARED_THREE_SEATS] = state.table.num_players == 3
    out[SHARED_FOUR_SEATS] = state.table.num_players == 4
    out[SHARED_WITH_TOKENS] = state.table.with_tokens
    out[SHARED_STRICT_ENDS] = state.table.strict_ends
    out[SHARED_ROUND] = state.table.round / 20.0
    out[SHARED_ENDING_THIRD] = state.table.ending == THIRD
    out[SHARED_ENDING_BODIES] = state.table.ending == BODIES
    out[SHARED_BUILDING] = state.table.phase == BUILDING
    out[SHARED_CLOSING] = state.table.phase == CLOSING
    out[SHARED_DRAWING] = state.table.phase == DRAWING or state.table.phase == FORESEEING
    out[SHARED_TWO_ACTIONS] = state.table.actions_left == 2
    out[SHARED_DECK] = state.num_deck / 40.0
    out[SHARED_BODIES] = bodies / 60.0
    out[SHARED_PAIRS] = pairs / 6.0
    out[SHARED_LEADER_CLOSED] = most / 3.0
    for i in range(NUM_COLORS):
        heads += state.table.supply[HEAD][i]
        tails += state.table.supply[TAIL][i]
    out[SHARED_SUPPLY_HEADS] = heads / 2.0
    out[SHARED_SUPPLY_TAILS] = tails / 2.0


cdef inline float _raw(const float* own, int feature) noexcept nogil:
    """Return one of the first NUM_SCALED features, before scaling."""
    return own[feature] * _DIVISORS[feature]


cdef void _compare(const CoatlStateC* state, int seat, float own[4][NUM_OWN]) noexcept nogil:
    """Compare a seat with its rivals at the end of the game, if the end was triggered or the seat could trigger it."""
    cdef float rivals, most = 0
    cdef int rival
    cdef bint has_ended = state.table.ending != 0
    if not has_ended and _raw(own[seat], OWN_CLOSED) + _raw(own[seat], OWN_PLAN_CLOSABLE) < COATLS - 0.5:
        return
    for rival in range(state.table.num_players):
        if rival != seat:
            rivals = own[rival][OWN_CASH] * CASH_SCALE
            if not has_ended and rival > seat:      # it would have two actions
                rivals += _raw(own[rival], OWN_PLAN_NEARLY)
            most = max(most, rivals)
    if has_ended:
        own[seat][OWN_LEAD] = min(4, max(-4, own[seat][OWN_CASH] * CASH_SCALE - most))
    else:
        own[seat][OWN_ENDS_NOW if state.table.to_move == seat else OWN_ENDS_NEXT] = min(
            4, max(0, own[seat][OWN_CASH] * CASH_SCALE - most))


cdef void _find_features(const CoatlStateC* state, CoatlCacheC* cache, float* inputs) noexcept nogil:
    """Write the network's inputs, NUM_INPUTS numbers for each seat."""
    cdef float own[4][NUM_OWN]
    cdef float shared[NUM_SHARED]
    cdef int seat
    for seat in range(state.table.num_players):
        _fill_own(state, seat, cache, own[seat])
    for seat in range(state.table.num_players):
        _compare(state, seat, own)
    _fill_shared(state, shared)
    network_combine(&own[0][0], NUM_OWN, shared, NUM_SHARED, state.table.num_players, inputs,
                    NUM_INPUTS)


cdef void _find_features_anew(const CoatlStateC* state, float* inputs) noexcept nogil:
    """Do the same without a cache."""
    _find_features(state, NULL, inputs)


def features(State owner not None):
    """Return the inputs of the network for a position.

    Parameters
    ----------
    owner : State
        Of Coatl, else TypeError.

    Returns
    -------
    numpy.ndarray
        float32, shape (seats, NUM_INPUTS): the seat's own features, the largest and the mean of its rivals',
        and those of the position; names in `OWN_...` and `SHARED_...` of ``weights.pxd``.
    """
    return network_features(owner, "coatl", NUM_INPUTS, <network_find_t>_find_features_anew)


# --- the network

cdef void evaluation_evaluate(const void* weights, CoatlCacheC* cache, const CoatlStateC* state, double* values,
                              double* points) noexcept nogil:
    cdef const float* network = (<const CoatlWeightsC*>weights).network
    cdef float inputs[4 * NUM_INPUTS]
    cdef float outputs[4 * NETWORK_OUTPUTS]
    _find_features(state, cache, inputs)
    network_forward(network, NUM_INPUTS, inputs, state.table.num_players, outputs)
    network_answers(outputs, state.table.num_players, values, points)
