"""The evaluation of Tzolk'in; contracts in ``evaluation.pxd``.

``plans.pyx`` finds what things are worth to a seat and what it can still do until the end. The features are those plans
and what the seat has. A network reads them (``cext/core/learning/network.pxd``). Its weights in ``weights.json`` were
fitted on self-play. The *outlook* is a hand-made sum in points, with which a fit of the network begins.
"""

from libc.math cimport log
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy, memset

from cext.core.contract.game cimport State
from cext.core.contract.sets cimport set_first, set_size
from cext.core.contract.rng cimport MIX_STEP, mix_bits
from cext.core.learning.network cimport (NETWORK_MAX_ROWS, NETWORK_OUTPUTS, network_answers, network_combine,
                                         network_features, network_begin, network_find_t, network_forward,
                                         network_go_on)
from cext.games.tzolkin.plans cimport LATER, NOW, TOGETHER, PlansC, plans_brings, plans_find
from cext.games.tzolkin.rules cimport rules_returns
from cext.games.tzolkin.state cimport *
from cext.games.tzolkin.weights cimport *

if 4 * AT_ONCE > NETWORK_MAX_ROWS:
    raise ImportError("the network has fewer rows than positions are looked at together")

cdef float TURN_BRINGS = 1.2        # points, for the estimate of the final score
cdef float FOOD = 1.0               # share of the corn for all food days to come that counts as spent
cdef double POINTS_OF_ODDS = 4      # that odds of the win e times as high are worth
cdef float LEVEL_AT_START = 0.12    # points a level and turn that is left


# What the outlook and the features have in common.
ctypedef struct LookC:
    PlansC plans
    float materials         # worth now
    float at_end            # worth at the end
    int days                # until the next food day, -1 if there is none
    int hunger              # corn for it
    float short             # corn that lacks for it
    float outlook


cdef float _temples(const TzolkinStateC* state, int seat, const PlansC* plans, int age, float* rewards) noexcept nogil:
    """The points of the temples at the end of an age as they stand, and what the middles of ages to come bring."""
    cdef int temple, other, kind, day, step, best, leaders
    cdef float total = 0
    rewards[0] = 0
    for temple in range(NUM_TEMPLES):
        step = state.seats[seat].temples[temple]
        best = step
        leaders = 1
        for other in range(state.num_players):
            if other != seat:
                best = max(best, state.seats[other].temples[temple])
                leaders += state.seats[other].temples[temple] == step
        total += TEMPLES[temple].points[step - LOWEST]
        if step == best:
            total += TEMPLES[temple].leader[age] * (1 if leaders == 1 else 0.5)
        for day in range(state.food_days, NUM_FOOD_DAYS):
            if IS_MID_AGE[day]:
                for kind in range(NUM_MATERIALS):
                    rewards[0] += plans.materials[kind] * TEMPLES[temple].rewards[step - LOWEST][kind]
    return total


cdef void _look(const TzolkinStateC* state, int seat, LookC* look) noexcept nogil:
    cdef const SeatC* own = &state.seats[seat]
    cdef PlansC* plans = &look.plans
    cdef float rewards
    cdef float total
    cdef int kind, track, levels = 0
    cdef uint32_t wealth = own.wealth
    plans_find(state, seat, plans)
    look.materials = own.corn * plans.materials[CORN] + own.skulls * plans.materials[SKULL]
    look.at_end = 0.25 * own.corn + SKULL_POINTS * own.skulls
    for kind in range(NUM_BLOCKS):
        look.materials += own.blocks[kind] * plans.materials[1 + kind]
        look.at_end += 0.25 * PRICES[kind] * own.blocks[kind]
    look.days = look.hunger = -1
    look.short = 0
    if state.food_days < NUM_FOOD_DAYS:
        look.days = max(0, FOOD_DAYS[state.food_days] - state.day)
        look.hunger = (max(0, own.workers - own.free_workers) * max(0, CORN_PER_WORKER - own.discount))
        look.short = max(0, look.hunger - own.corn)
    total = 0.25 * own.score + look.materials + plans.owned_monuments + plans.pending
    while state.phase == KEEPING and seat == state.to_move and wealth:      # the others keep theirs secret
        total += plans_brings(state, seat, plans, &WEALTH[set_first(wealth)])
        wealth &= wealth - 1
    total += plans.idle
    for kind in range(NUM_GEARS):
        total += plans.workers[kind]
    total -= FOOD * plans.hunger * plans.materials[CORN]
    if look.short > 0:
        total += UNFED_POINTS * look.short / CORN_PER_WORKER * max(<float>0, 1 - look.days / <float>10)
    if state.food_days < NUM_FOOD_DAYS:
        total += _temples(state, seat, plans, 1, &rewards) + rewards
    if state.food_days < AGE_2:
        total += _temples(state, seat, plans, 0, &rewards)
    for track in range(NUM_TRACKS):
        levels += own.levels[track]
    total += plans.turns * LEVEL_AT_START * levels
    if own.workers > MIN_WORKERS:
        total += (own.workers - MIN_WORKERS) * plans.turns * <float>0.2
    if own.light and state.food_days < NUM_FOOD_DAYS:
        total += <float>1.5
    look.outlook = total


# --- features

cdef void _fill_own(const TzolkinStateC* state, int seat, float* out) noexcept nogil:
    """Write the features of a seat."""
    cdef const SeatC* own = &state.seats[seat]
    cdef LookC look
    cdef const PlansC* plans = &look.plans
    cdef float rewards, plan = 0
    cdef int i, temple, gear, spaces, n = state.num_players
    _look(state, seat, &look)
    memset(out, 0, NUM_OWN * sizeof(float))
    out[OWN_SCORE] = own.score / <float>200
    out[OWN_CORN] = own.corn / <float>10
    out[OWN_FIRST_CORN] = min(6, own.corn) / <float>6
    for i in range(NUM_BLOCKS):
        out[OWN_WOOD + i] = own.blocks[i] / <float>5
    out[OWN_SKULLS] = own.skulls / <float>3
    out[OWN_MATERIALS] = look.materials / 20
    out[OWN_MATERIALS_AT_END] = look.at_end / 10
    out[OWN_WORKERS] = (own.workers - MIN_WORKERS) / <float>3
    out[OWN_WORKERS_LEFT] = (own.workers - MIN_WORKERS) * plans.turns / <float>81
    out[OWN_WORKERS_HOME] = (own.workers - state_workers_out(state, seat)) / <float>6
    out[OWN_LIGHT] = own.light
    out[OWN_CORN_TILES] = own.corn_tiles / <float>4
    out[OWN_WOOD_TILES] = own.wood_tiles / <float>4
    for i in range(NUM_BUILDINGS):
        out[OWN_FARMS + BUILDINGS[i].category] += counts_of(own.built, i) / <float>4
    out[OWN_MONUMENTS] = set_size(own.monuments) / <float>2
    out[OWN_MONUMENT_POINTS] = plans.owned_monuments / 20
    for temple in range(NUM_TEMPLES):
        out[OWN_CHAAC + temple] = own.temples[temple] / <float>6
        out[OWN_LEADS_CHAAC + temple] = _leads(state, seat, temple)
    if state.food_days < AGE_2:
        out[OWN_TEMPLES_FIRST_AGE] = _temples(state, seat, plans, 0, &rewards) / 20
    if state.food_days < NUM_FOOD_DAYS:
        out[OWN_TEMPLES] = _temples(state, seat, plans, 1, &rewards) / 20
        out[OWN_TEMPLE_REWARDS] = rewards / 10
    for i in range(NUM_TRACKS):
        for gear in range(TOP_LEVEL):
            out[OWN_AGRICULTURE_1 + i * TOP_LEVEL + gear] = own.levels[i] > gear
        out[OWN_AGRICULTURE_LEFT + i] = own.levels[i] * plans.turns / <float>81
    out[OWN_HUNGER] = max(0, look.hunger) / <float>12
    out[OWN_HUNGER_TO_COME] = plans.hunger / 40
    out[OWN_SHORT] = look.short / 6
    out[OWN_SHORT_SOON] = look.short / 6 / (1 + look.days) if look.days >= 0 else 0
    out[OWN_CLIMB] = max(plans.climbs[0], max(plans.climbs[1], plans.climbs[2])) / 5
    for i in range(NUM_TRACKS):
        out[OWN_ADVANCE] = max(out[OWN_ADVANCE], plans.advances[i] / 5)
    out[OWN_BUILDING] = plans.tiles[NOW] / 6
    out[OWN_BUILDING_LATER] = plans.tiles[LATER] / 6
    out[OWN_MONUMENT] = plans.monument[NOW] / 15
    out[OWN_MONUMENT_LATER] = plans.monument[LATER] / 15
    out[OWN_SECOND_MONUMENT] = plans.second_monument / 15
    for i in range(1, GEARS[CHICHEN].free_from):
        out[OWN_SKULL_SPACE] = max(out[OWN_SKULL_SPACE], plans.actions[LATER][CHICHEN][i] / 15)
    out[OWN_SKULL_PLAN] = plans.skulls / 15
    for gear in range(NUM_GEARS):
        out[OWN_PLAN_PALENQUE + gear] = plans.workers[gear] / 8
        plan += plans.workers[gear]
    out[OWN_PLAN] = plan / 20
    out[OWN_NOW] = plans.now / 8
    out[OWN_ALL_NOW] = plans.all_now / 15
    out[OWN_WAITING] = plans.waiting / 10
    out[OWN_IDLE] = plans.idle / 15
    out[OWN_PENDING] = plans.pending / 8
    for gear in range(NUM_GEARS):
        out[OWN_SOON_PALENQUE + gear] = plans.soon[gear] / 8
    out[OWN_SOON_IDLE] = plans.soon_idle / 8
    for i in range(TOGETHER):
        out[OWN_IN_1 + i] = plans.together[i] / 15
    out[OWN_SOON_CORN] = plans.soon_corn / 10
    out[OWN_SOON_SHORT] = max(<float>0, look.short - plans.soon_corn) / 6
    out[OWN_SPARE] = max(0, own.corn - look.hunger) / <float>10
    out[OWN_SOON_BUILDERS] = plans.soon_builders / <float>3
    out[OWN_SOON_SKULLS] = plans.soon_skulls / <float>2
    out[OWN_FOOD_TURNS] = plans.food_turns / <float>8
    for gear in range(NUM_GEARS):
        spaces = state_spaces(state, seat, gear)
        while spaces:
            # Four gears with spaces 0 to 7, then the one with 0 to 10.
            out[OWN_PALENQUE_AT_0 + 8 * gear + set_first(spaces)] = 1
            spaces &= spaces - 1
    out[OWN_TURNS] = plans.turns / <float>27
    out[OWN_WAITS] = ((seat - state.to_move + n) % n) / <float>3
    out[OWN_IS_TO_MOVE] = state.to_move == seat
    out[OWN_IS_FIRST] = state.start_player == seat
    out[OWN_ON_START] = state.start_space == seat
    out[OWN_ESTIMATE_LOGIT] = look.outlook / 7
    out[OWN_ESTIMATE] = (look.outlook + TURN_BRINGS * plans.turns) / 50


cdef inline float _leads(const TzolkinStateC* state, int seat, int temple) noexcept nogil:
    """1 if a seat stands highest in a temple, 0.5 if others stand there too, else 0."""
    cdef int other, step = state.seats[seat].temples[temple]
    cdef float lead = 1
    for other in range(state.num_players):
        if other == seat:
            continue
        if state.seats[other].temples[temple] > step:
            return 0
        if state.seats[other].temples[temple] == step:
            lead = <float>0.5
    return lead


cdef void _fill_shared(const TzolkinStateC* state, float* out) noexcept nogil:
    """Write the features of the position."""
    cdef int i, owner, taken, fields = NUM_FIELDS * FIELD_TILES[state.num_players], days = LAST_DAY - state.day
    memset(out, 0, NUM_SHARED * sizeof(float))
    out[SHARED_THREE_SEATS] = state.num_players == 3
    out[SHARED_FOUR_SEATS] = state.num_players == 4
    out[SHARED_DAYS] = days / <float>27
    out[SHARED_LATE] = 1 / <float>(1 + days)
    if state.food_days < NUM_FOOD_DAYS:
        out[SHARED_FOOD] = max(0, FOOD_DAYS[state.food_days] - state.day) / <float>7
    for i in range(state.food_days):
        out[SHARED_FOOD_HELD_1 + i] = 1
    out[SHARED_TEETH] = state.teeth_corn / <float>5
    out[SHARED_START_TAKEN] = state.start_space != NO_SEAT
    out[SHARED_BANK] = state_bank(state) / <float>13
    out[SHARED_PLACING] = state.phase == PLACING
    out[SHARED_PICKING] = state.phase == PICKING
    out[SHARED_ADVANCING] = state.phase == ADVANCING
    out[SHARED_PLACED] = state.placed / <float>6
    for i in range(NUM_FIELDS):
        out[SHARED_CORN_FIELDS] += state.corn_fields[i] / <float>fields
        out[SHARED_WOOD_FIELDS] += state.wood_fields[i] / <float>fields
    out[SHARED_SKULL_SPACES] = set_size(state.skulls_placed) / <float>9
    out[SHARED_MONUMENTS] = set_size(state.monuments) / <float>6
    for i in range(NUM_GEARS):
        taken = 0
        for owner in range(IDLE + 1):
            taken |= state_spaces(state, owner, i)
        out[SHARED_ENTRY_PALENQUE + i] = set_first(<uint64_t>(~taken & 0xffff)) / <float>7


cdef inline uint64_t _key(const TzolkinStateC* state, const TzolkinCacheC* cache) noexcept nogil:
    """Return what a cache knows a position by; 0 without a cache."""
    return state_key(state) if cache != NULL else 0


cdef void _find_own(const TzolkinStateC* state, uint64_t key, int seat, TzolkinCacheC* cache,
                    float* out) noexcept nogil:
    """Write the features of a seat, from the cache if they are there."""
    cdef OwnC* kept
    if cache == NULL:
        _fill_own(state, seat, out)
        return
    key = mix_bits(key + <uint64_t>seat * MIX_STEP) | 1
    kept = &cache.seats[key >> 32 & (OWN_KEPT - 1)]
    if kept.key != key:
        kept.key = key
        _fill_own(state, seat, kept.own)
    memcpy(out, kept.own, sizeof(kept.own))


cdef void _find_features(const TzolkinStateC* state, uint64_t key, TzolkinCacheC* cache, float* inputs) noexcept nogil:
    """Write the network's inputs, NUM_INPUTS numbers for each seat."""
    cdef float own[4][NUM_OWN]
    cdef float shared[NUM_SHARED]
    cdef int seat
    for seat in range(state.num_players):
        _find_own(state, key, seat, cache, own[seat])
    _fill_shared(state, shared)
    network_combine(&own[0][0], NUM_OWN, shared, NUM_SHARED, state.num_players, inputs, NUM_INPUTS)


cdef void _find_features_anew(const TzolkinStateC* state, float* inputs) noexcept nogil:
    """Do the same without a cache."""
    _find_features(state, 0, NULL, inputs)


def features(State owner not None):
    """Return the inputs of the network for a position.

    Parameters
    ----------
    owner : State
        Of Tzolk'in, else TypeError.

    Returns
    -------
    numpy.ndarray
        float32, shape (seats, NUM_INPUTS): the seat's own features, the largest and the mean of its rivals',
        and those of the position; names in ``weights.pxd``.
    """
    return network_features(owner, "tzolkin", NUM_INPUTS, <network_find_t>_find_features_anew)


# --- the network

cdef inline const float* _network(const void* weights) noexcept nogil:
    return &(<const TzolkinWeightsC*>weights).network[0]


cdef void evaluation_evaluate(const void* weights, TzolkinCacheC* cache, const TzolkinStateC* state, double* values,
                              double* points) noexcept nogil:
    cdef float inputs[4 * NUM_INPUTS]
    cdef float outputs[4 * NETWORK_OUTPUTS]
    cdef uint64_t position = _key(state, cache), key
    cdef AnswerC* kept = NULL
    if cache != NULL:
        key = mix_bits(position ^ <uint64_t>weights) | 1
        kept = &cache.answers[key >> 32 & (ANSWERS_KEPT - 1)]
        if kept.key == key:
            memcpy(values, kept.values, state.num_players * sizeof(double))
            memcpy(points, kept.points, state.num_players * sizeof(double))
            return
        kept.key = key
    _find_features(state, position, cache, inputs)
    network_forward(_network(weights), NUM_INPUTS, inputs, state.num_players, outputs)
    network_answers(outputs, state.num_players, values, points)
    if kept != NULL:
        memcpy(kept.values, values, state.num_players * sizeof(double))
        memcpy(kept.points, points, state.num_players * sizeof(double))


# --- after an action

cdef void evaluation_look(const void* weights, TzolkinCacheC* cache, const TzolkinStateC* state,
                          BeforeC* before) noexcept nogil:
    cdef uint64_t key = _key(state, cache)
    cdef int seat
    for seat in range(state.num_players):
        _find_own(state, key, seat, cache, before.own[seat])
        if seat != state.to_move:
            network_begin(_network(weights), NUM_INPUTS, before.own[seat], NUM_OWN, before.sums[seat])


cdef inline float _advantage(int num_players, int seat, const double* values, const double* points) noexcept nogil:
    cdef double best = -1e30
    cdef int other
    for other in range(num_players):
        if other != seat:
            best = max(best, points[other])
    return <float>(points[seat] - best + POINTS_OF_ODDS * log((0.001 + values[seat]) / (1.001 - values[seat])))


cdef void _find_features_after(const TzolkinStateC* after, int seat, TzolkinCacheC* cache, const BeforeC* before,
                               float* inputs, int apart) noexcept nogil:
    """Write the network's inputs for a position after an action of a seat whose turn goes on."""
    cdef float own[4][NUM_OWN]
    cdef float shared[NUM_SHARED]
    memcpy(own, before.own, after.num_players * sizeof(own[0]))
    _find_own(after, _key(after, cache), seat, cache, own[seat])
    _fill_shared(after, shared)
    network_combine(&own[0][0], NUM_OWN, shared, NUM_SHARED, after.num_players, inputs, apart)


cdef void _evaluate_after(const void* weights, TzolkinCacheC* cache, const TzolkinStateC* after, const int* going_on,
                          int count, int seat, const BeforeC* before, float* advantages) noexcept nogil:
    """Find the advantages after `count` actions after which the turn of the seat goes on; `going_on` are their places.
    """
    cdef float inputs[4 * AT_ONCE * NUM_INPUTS]     # the rows of a seat one after another
    cdef float outputs[4 * AT_ONCE * NETWORK_OUTPUTS]
    cdef float answer[4 * NETWORK_OUTPUTS]
    cdef double values[4]
    cdef double points[4]
    cdef const float* network = _network(weights)
    cdef float* rows
    cdef int i, other, place, players = after.num_players
    for i in range(count):
        _find_features_after(&after[going_on[i]], seat, cache, before, inputs + i * NUM_INPUTS, count * NUM_INPUTS)
    for other in range(players):
        rows = inputs + other * count * NUM_INPUTS
        if other == seat:
            network_forward(network, NUM_INPUTS, rows, count, outputs + other * count * NETWORK_OUTPUTS)
        else:
            network_go_on(network, NUM_INPUTS, before.sums[other], NUM_OWN, rows, count,
                          outputs + other * count * NETWORK_OUTPUTS)
    for i in range(count):
        for other in range(players):
            for place in range(NETWORK_OUTPUTS):
                answer[other * NETWORK_OUTPUTS + place] = outputs[(other * count + i) * NETWORK_OUTPUTS + place]
        network_answers(answer, players, values, points)
        advantages[going_on[i]] = _advantage(players, seat, values, points)


cdef void evaluation_after(const void* weights, TzolkinCacheC* cache, const TzolkinStateC* after, int count, int seat,
                           const BeforeC* before, float* advantages) noexcept nogil:
    cdef double values[4]
    cdef double points[4]
    cdef int going_on[AT_ONCE]
    cdef int i, other, num_going_on = 0, players = after.num_players
    for i in range(count):
        if after[i].phase != OVER and after[i].to_move == seat and after[i].phase != TURN:
            going_on[num_going_on] = i
            num_going_on += 1
            continue
        if after[i].phase == OVER:
            rules_returns(&after[i], values)
            for other in range(players):
                points[other] = 0.25 * after[i].seats[other].score
        else:
            evaluation_evaluate(weights, cache, &after[i], values, points)
        advantages[i] = _advantage(players, seat, values, points)
    if num_going_on > 0:
        _evaluate_after(weights, cache, after, going_on, num_going_on, seat, before, advantages)
