"""The evaluation of Mexica; contracts in ``evaluation.pxd``.

A small network, the same for every seat, reads the features of the seat, the largest and the mean of its rivals'
features, and those of the position. Its outputs are a logit, whose softmax over the seats is each seat's expected share
of the win, and the expected final score. Both are a weighted sum of the features, where a fit begins, plus the output
of two hidden layers. The weights in ``weights.json`` were fitted on self-play. The last two own features are a
hand-made estimate of the final points.
"""

from libc.math cimport fabs
from libc.string cimport memset

from cext.core.contract.game cimport State
from cext.core.learning.network cimport (NETWORK_OUTPUTS, network_answers, network_combine, network_features,
                                         network_find_t, network_forward)
from cext.games.mexica.board cimport STARTS
from cext.games.mexica.rows cimport rows_count, rows_first, rows_flood
from cext.games.mexica.rules cimport *
from cext.games.mexica.state cimport *
from cext.games.mexica.weights cimport *

# The result of one pass over the districts, from which the features are computed.
cdef struct FactsC:
    double estimate[4]              # hand-made: final points
    double founded_now[4]
    double founded_expected[4]
    double founded_secure[4]
    double founded_second[4]
    double wide_now[4]
    double wide_expected[4]
    double foundable[4]
    double takeable[4]
    double takeable_here[4]
    int levels_founded[4]
    int levels_wide[4]
    int levels_narrow[4]
    int levels_here[4]
    int stocks[4]                   # levels left to build
    int temples[4]                  # number of these temples
    int widest_levels[NUM_OWNERS]
    bint in_widest[4]
    int widest
    int widest_room
    int second_widest
    int least_stock
    int least_temples


# --- the hand-made estimate
#
# The points scored, plus what each district would pay, softened by the room in it: others may still change the order.
# All in prestige points. The weights were guessed, then corrected by a linear regression of the final margin (250
# two-seat games of self-play) and by matches against `uct`.

cdef double TOKEN_VALUE = 0.2               # of an action token, for the first four
cdef double ARRIVES_FIRST = 0.75            # share of a temple level not yet built that will stand in leftover land
cdef double ARRIVES_SECOND = 0.9            # in period 2, of those that can still be built before the end
cdef double FOUNDED_FIRST = 1.8             # what founded districts would pay now, in period 1 (it counts twice)
cdef double FOUNDED_SECOND = 0.8
cdef double WIDE_FIRST = 0.8                # what unfounded wide districts would pay now, in period 1
cdef double WIDE_SECOND = 1.0
cdef double NARROW = 0.25                   # share of what small unfounded districts would pay
cdef double FOUNDABLE_VALUE = 0.35          # for standing in a district that could be founded: share of its blue number
cdef double SOFT_ROOM = 0.4                 # levels of uncertainty for each free space, up to WIDE of them
cdef double SOFT_STOCK = 0.05               # and, in leftover land, for each level that a seat is expected to add
cdef double STILL_FOUNDED = 0.75            # share of the tokens not yet placed that will be placed

cdef enum:
    WIDE = 6                        # free spaces above which a district has room for all temples to come


cdef inline double _overtakes(double lead, double softness) noexcept nogil:
    """Return how surely a rival with this lead (levels) ranks strictly above in the end, in [0, 1]."""
    if softness == 0.0:
        return 1.0 if lead > 0 else 0.0
    lead -= 0.5
    return 0.5 + 0.5 * lead / (lead + softness if lead > 0 else softness - lead)


cdef void _add_expected(const MexicaStateC* state, const int* levels, int room, double value, double weight,
                        bint is_wide, bint is_last_round, const double* arriving, double* points) noexcept nogil:
    """Add what each seat can expect from a district of this value in one scoring, times the weight.

    `arriving`: temple levels that each seat is expected to add to leftover land (`is_wide`).
    """
    cdef double expected[NUM_OWNERS]
    cdef int seat, other
    cdef double rank, pay, softness
    # In the last round only the levels that are still to come can change the order.
    softness = 0.0 if is_last_round else SOFT_ROOM * (room if room < WIDE else WIDE)
    for other in range(NUM_OWNERS):
        expected[other] = levels[other]
        if is_wide and other < state.num_players:
            expected[other] += arriving[other]
            softness += SOFT_STOCK * arriving[other]
    for seat in range(state.num_players):
        if expected[seat] == 0:
            continue
        rank = 0.0
        for other in range(NUM_OWNERS):
            if other == seat or (expected[other] == 0 and (other >= state.num_players or room == 0)):
                continue
            # An owner without levels there is a smaller threat.
            rank += _overtakes(expected[other] - expected[seat], softness) * (1.0 if expected[other] > 0 else 0.6)
        # First, second and third place pay the value, a half and a quarter; interpolate between them.
        if rank < 1.0:
            pay = value * (1.0 - 0.5 * rank)
        elif rank < 2.0:
            pay = value * (0.75 - 0.25 * rank)
        elif rank < 3.0:
            pay = value * 0.25 * (3.0 - rank)
        else:
            pay = 0.0
        points[seat] += weight * pay


cdef inline bint _is_late(const MexicaStateC* state) noexcept nogil:
    """Return whether nothing can be founded or divided any more."""
    return state.period == 2 and state.num_display == 0 and state.singles == 0 and state.doubles == 0


cdef double _tokens_to_come(const MexicaStateC* state) noexcept nogil:
    """Return the points that the tokens not yet placed will bring to all seats: foundings, first and second places."""
    cdef int size, count
    cdef double total = 0.0
    for size in range(MIN_SIZE, MAX_SIZE + 1):
        count = state.display[size]
        total += count * (0.5 * size + (3.0 if state.period == 1 else 1.5) * size)
        total += state.upcoming[size] * 2.0 * size
    return STILL_FOUNDED * total


cdef void _find_arriving(const MexicaStateC* state, const FactsC* facts, bint is_last_round,
                         double* arriving) noexcept nogil:
    """Estimate the temple levels that each seat will still add to leftover land."""
    cdef int seat, budget
    for seat in range(state.num_players):
        # The period may end when a seat has built everything. Temples not built in period 1 can be built later.
        if state.period == 1:
            arriving[seat] = ARRIVES_FIRST * facts.stocks[seat]
        elif is_last_round:
            budget = 0
            if seat >= state.to_move:
                budget = state.action_tokens[seat] + (
                    state.action_points if seat == state.to_move else <int>TURN_AP)
            arriving[seat] = min(facts.stocks[seat], budget)
        else:
            arriving[seat] = ARRIVES_SECOND * min(
                facts.stocks[seat], facts.least_stock + TURN_AP + state.action_tokens[seat])


# --- facts

cdef void evaluation_levels_needed(const int* levels, int seat, int* first, int* second) noexcept nogil:
    cdef int other, most = 0, next_most = 0
    for other in range(NUM_OWNERS):
        if other != seat:
            if levels[other] > most:
                next_most = most
                most = levels[other]
            elif levels[other] > next_most:
                next_most = levels[other]
    first[0] = max(0, most + 1 - levels[seat])
    second[0] = max(0, next_most + 1 - levels[seat])


cdef double evaluation_takeable(const int* levels, int seat, int stock, int value, int pay) noexcept nogil:
    cdef int first, second
    cdef double found = 0.0
    evaluation_levels_needed(levels, seat, &first, &second)
    if 0 < first <= stock:
        found = (value - pay) / (1 + 0.5 * first)
    if 0 < second <= stock:
        found = max(found, (((value + 1) >> 1) - pay) / (1 + 0.5 * second))
    return found


cdef void _add_founded(const MexicaStateC* state, FactsC* facts, rows_t district, int value, double weight,
                       bint is_last_round, const double* arriving) noexcept nogil:
    """Add a founded district to the facts."""
    cdef int levels[NUM_OWNERS]
    cdef int pays[4]
    cdef double expected[4]
    cdef double takeable
    cdef int seat, room
    memset(pays, 0, sizeof(pays))
    memset(expected, 0, sizeof(expected))
    rules_levels(state, district, levels)
    rules_score_levels(levels, value, pays)
    room = rows_count(district & ~PALACE & ~state.buildings)
    _add_expected(state, levels, room, value, 1.0, False, is_last_round, arriving, expected)
    for seat in range(state.num_players):
        facts.estimate[seat] += weight * expected[seat]
        facts.founded_now[seat] += pays[seat]
        facts.founded_expected[seat] += expected[seat]
        facts.levels_founded[seat] += levels[seat]
        if room == 0:
            facts.founded_secure[seat] += pays[seat]
        elif pays[seat] == value:
            facts.founded_second[seat] += value
        takeable = 0.0
        if room > 0:
            if pays[seat] < value:
                takeable = evaluation_takeable(levels, seat, facts.stocks[seat], value, pays[seat])
                facts.takeable[seat] += takeable
        if rows_has(&district, state.pilli[seat]):
            facts.levels_here[seat] = levels[seat]
            facts.takeable_here[seat] = takeable


cdef void _add_unfounded(const MexicaStateC* state, FactsC* facts, rows_t district, double weight, bint is_last_round,
                         const double* arriving) noexcept nogil:
    """Add an unfounded district to the facts."""
    cdef int levels[NUM_OWNERS]
    cdef int pays[4]
    cdef double expected[4]
    cdef int seat, room, size = rows_count(district)
    cdef bint is_wide = size > WIDE_SIZE
    cdef bint can_found = MIN_SIZE <= size <= MAX_SIZE and state.display[size] > 0
    memset(pays, 0, sizeof(pays))
    memset(expected, 0, sizeof(expected))
    rules_levels(state, district, levels)
    rules_score_levels(levels, size, pays)
    room = rows_count(district & ~PALACE & ~state.buildings)
    _add_expected(state, levels, room, size, 1.0, is_wide, is_last_round, arriving, expected)
    for seat in range(state.num_players):
        facts.estimate[seat] += expected[seat] * (
            weight if is_wide or is_last_round or _is_late(state) else NARROW)
        facts.wide_now[seat] += pays[seat]
        facts.wide_expected[seat] += expected[seat]
        if is_wide:
            facts.levels_wide[seat] += levels[seat]
        else:
            facts.levels_narrow[seat] += levels[seat]
        if rows_has(&district, state.pilli[seat]):
            facts.levels_here[seat] = levels[seat]
            if can_found:
                facts.foundable[seat] = (size + 1) >> 1
                facts.estimate[seat] += FOUNDABLE_VALUE * ((size + 1) >> 1)
    if size > facts.widest:
        facts.second_widest = facts.widest
        facts.widest = size
        facts.widest_room = room
        for seat in range(NUM_OWNERS):
            facts.widest_levels[seat] = levels[seat]
            if seat < 4:
                facts.in_widest[seat] = rows_has(&district, state.pilli[seat])
    elif size > facts.second_widest:
        facts.second_widest = size


cdef void _find_facts(const MexicaStateC* state, FactsC* facts) noexcept nogil:
    """Find the facts of a position."""
    cdef rows_t dry = state_dry(state), rest, district
    cdef double arriving[NUM_OWNERS]
    cdef double to_come = _tokens_to_come(state) / state.num_players, weight
    cdef bint is_last_round
    cdef int seat, i
    memset(facts, 0, sizeof(FactsC))
    memset(arriving, 0, sizeof(arriving))
    facts.least_stock = facts.least_temples = 1000
    for seat in range(state.num_players):
        facts.stocks[seat] = rules_stock_levels(state, seat)
        facts.temples[seat] = (state.stock[seat][0] + state.stock[seat][1] + state.stock[seat][2]
                               + state.stock[seat][3])
        facts.least_stock = min(facts.least_stock, facts.stocks[seat])
        facts.least_temples = min(facts.least_temples, facts.temples[seat])
    is_last_round = state.period == 2 and state.num_display == 0 and facts.least_stock == 0
    _find_arriving(state, facts, is_last_round, arriving)
    for seat in range(state.num_players):
        facts.estimate[seat] = state.score[seat] + to_come + TOKEN_VALUE * min(state.action_tokens[seat], 4)

    # Founded districts pay in this period's scoring; those of period 1 pay twice.
    weight = FOUNDED_FIRST if state.period == 1 else FOUNDED_SECOND
    for i in range(state.num_placed):
        district = rows_flood(rows_of(state.placed_at[i]), dry)
        _add_founded(state, facts, district, state.placed_size[i], weight, is_last_round, arriving)

    # The others pay by size after period 2, unless they are founded or divided before.
    weight = WIDE_FIRST if state.period == 1 else WIDE_SECOND
    rest = dry & ~state.founded
    while rows_any(rest):
        district = rows_flood(rows_of(rows_first(&rest)), rest)
        rest = rest & ~district
        _add_unfounded(state, facts, district, weight, is_last_round, arriving)

    # A pilli at home when the period is about to end.
    if state.num_display == 0 and facts.least_stock <= 8:
        for seat in range(state.num_players):
            if rows_has(&STARTS, state.pilli[seat]):
                facts.estimate[seat] += 5.0 * (0.7 if facts.least_stock <= 2 else 0.3)


# --- features

cdef inline float _clip(float x, float limit) noexcept nogil:
    """Limit x to [-limit, limit]."""
    return -limit if x < -limit else (limit if x > limit else x)


cdef void _fill_own(const MexicaStateC* state, const FactsC* facts, int seat, float* out) noexcept nogil:
    """Write the features of a seat."""
    cdef int other, rival = 0, rival_reach = 0, waits, stocks = 0
    cdef double mean = 0.0, temperature
    cdef float lead, reach
    for other in range(NUM_OWNERS):
        if other != seat:
            rival = max(rival, facts.widest_levels[other])
            rival_reach = max(rival_reach, facts.widest_levels[other] + (
                facts.stocks[other] if other < state.num_players else 0))
    for other in range(state.num_players):
        mean += facts.estimate[other] / state.num_players
        stocks += facts.stocks[other]
    # The order is less likely to change towards the end of the game.
    temperature = 4.0 + 0.3 * stocks / state.num_players + (8.0 if state.period == 1 else 0.0)
    lead = facts.widest_levels[seat] - rival
    reach = facts.widest_levels[seat] + facts.stocks[seat] - rival_reach
    waits = (seat - state.to_move + state.num_players) % state.num_players
    out[OWN_SCORE] = state.score[seat] / 50.0
    out[OWN_ACTION_TOKENS] = state.action_tokens[seat] / 3.0
    out[OWN_STOCK_LEVELS] = facts.stocks[seat] / 20.0
    out[OWN_STOCK_TEMPLES] = facts.temples[seat] / 9.0
    out[OWN_STOCK_ONES] = state.stock[seat][0] / 3.0
    out[OWN_STOCK_FOURS] = state.stock[seat][3] / 2.0
    out[OWN_FOUNDED_NOW] = facts.founded_now[seat] / 20.0
    out[OWN_FOUNDED_EXPECTED] = facts.founded_expected[seat] / 20.0
    out[OWN_FOUNDED_SECURE] = facts.founded_secure[seat] / 20.0
    out[OWN_FOUNDED_SECOND] = facts.founded_second[seat] / 20.0
    out[OWN_WIDE_NOW] = facts.wide_now[seat] / 50.0
    out[OWN_WIDE_EXPECTED] = facts.wide_expected[seat] / 50.0
    out[OWN_LEVELS_FOUNDED] = facts.levels_founded[seat] / 10.0
    out[OWN_LEVELS_WIDE] = facts.levels_wide[seat] / 10.0
    out[OWN_LEVELS_NARROW] = facts.levels_narrow[seat] / 5.0
    out[OWN_LEAD] = _clip(lead / 8, 2)
    out[OWN_LEAD_SIGN] = lead / (2 + <float>fabs(lead))
    out[OWN_REACH] = _clip(reach / 8, 2)
    out[OWN_REACH_SIGN] = reach / (2 + <float>fabs(reach))
    out[OWN_IN_WIDEST] = facts.in_widest[seat]
    out[OWN_AT_HOME] = rows_has(&STARTS, state.pilli[seat])
    out[OWN_ON_BRIDGE] = rows_has(&state.canals, state.pilli[seat])
    out[OWN_FOUNDABLE] = facts.foundable[seat] / 7.0
    out[OWN_ACTION_POINTS] = state.action_points / 6.0 if seat == state.to_move else 0.0
    out[OWN_IS_TO_MOVE] = seat == state.to_move
    out[OWN_WAITS] = waits / 3.0
    out[OWN_MOVES_LATER] = seat >= state.to_move
    out[OWN_LEVELS_HERE] = facts.levels_here[seat] / 10.0
    out[OWN_TAKEABLE] = facts.takeable[seat] / 20.0
    out[OWN_TAKEABLE_HERE] = facts.takeable_here[seat] / 20.0
    out[OWN_ESTIMATE_LOGIT] = _clip((facts.estimate[seat] - mean) / temperature, 4)
    out[OWN_ESTIMATE] = facts.estimate[seat] / 50.0


cdef void _fill_shared(const MexicaStateC* state, const FactsC* facts, float* out) noexcept nogil:
    """Write the features of the position."""
    cdef int size, sizes = 0, seat, stocks = 0
    for size in range(MIN_SIZE, MAX_SIZE + 1):
        sizes += size * state.display[size]
    for seat in range(state.num_players):
        stocks += facts.stocks[seat]
    out[SHARED_PERIOD_2] = state.period == 2
    out[SHARED_DISPLAY] = state.num_display / 8.0
    out[SHARED_DISPLAY_SIZES] = sizes / 50.0
    out[SHARED_LEAST_STOCK] = facts.least_stock / 20.0
    out[SHARED_STOCKS] = stocks / 20.0 / state.num_players
    out[SHARED_DOUBLES] = state.doubles / 35.0
    out[SHARED_SINGLES] = state.singles / 6.0
    out[SHARED_BRIDGES] = state.bridges_left / 11.0
    out[SHARED_WIDEST] = facts.widest / 100.0
    out[SHARED_WIDEST_ROOM] = _clip(facts.widest_room / 20.0, 2)
    out[SHARED_SECOND_WIDEST] = facts.second_widest / 30.0
    out[SHARED_NEUTRAL_IN_WIDEST] = facts.widest_levels[NEUTRAL] / 10.0
    out[SHARED_IDLE_ROUNDS] = state.idle_rounds / 2.0
    out[SHARED_BUILT_THIS_ROUND] = state.built_this_round
    out[SHARED_IS_DUE] = state.num_display == 0 and facts.least_temples == 0
    out[SHARED_WAITING] = (state.num_players - state.to_move) / <float>state.num_players
    out[SHARED_PLACED] = state.num_placed / 15.0
    out[SHARED_THREE_SEATS] = state.num_players == 3
    out[SHARED_FOUR_SEATS] = state.num_players == 4
    out[SHARED_DISPLAY_IS_EMPTY] = state.num_display == 0
    out[SHARED_LEAST_TEMPLES] = facts.least_temples / 9.0
    out[SHARED_ROUND] = state.round / 20.0


cdef void _find_features(const MexicaStateC* state, float* inputs) noexcept nogil:
    """Write the network's inputs, NUM_INPUTS numbers for each seat."""
    cdef FactsC facts
    cdef float own[4][NUM_OWN]
    cdef float shared[NUM_SHARED]
    cdef int seat
    _find_facts(state, &facts)
    _fill_shared(state, &facts, shared)
    for seat in range(state.num_players):
        _fill_own(state, &facts, seat, own[seat])
    network_combine(&own[0][0], NUM_OWN, shared, NUM_SHARED, state.num_players, inputs,
                    NUM_INPUTS)


def features(State owner not None):
    """Return the inputs of the network for a position.

    Parameters
    ----------
    owner : State
        Of Mexica, else TypeError.

    Returns
    -------
    numpy.ndarray
        float32, shape (seats, NUM_INPUTS): the seat's own features, the largest and the mean of its rivals',
        and those of the position.
    """
    return network_features(owner, "mexica", NUM_INPUTS, <network_find_t>_find_features)


# --- the network

cdef void evaluation_evaluate(const void* weights, void* cache, const MexicaStateC* state, double* values,
                              double* points) noexcept nogil:
    cdef const float* network = (<const MexicaWeightsC*>weights).network
    cdef float inputs[4 * NUM_INPUTS]
    cdef float outputs[4 * NETWORK_OUTPUTS]
    _find_features(state, inputs)
    network_forward(network, NUM_INPUTS, inputs, state.num_players, outputs)
    network_answers(outputs, state.num_players, values, points)
