"""The worth of things to a seat of Tzolk'in; contracts in ``plans.pxd``.

The constants are guesses of a player, in points. The network corrects them.
"""

from libc.string cimport memset

from cext.core.contract.sets cimport set_first
from cext.games.tzolkin.rules cimport rules_monument_points
from cext.games.tzolkin.state cimport *

cdef enum:
    ALL_TURNS = LAST_DAY
    NOT_NOW = -1000

# A material is worth what it brings at the end, and more the more turns are left, up to USEFUL_TURNS.
cdef float USEFUL_TURNS = 8
cdef float[NUM_MATERIALS] AT_END
cdef float[NUM_MATERIALS] IN_USE
AT_END[:] = [0.25, 0.5, 0.75, 1.0, 3.0]
IN_USE[:] = [0.5, 0.8, 1.1, 1.4, 2.5]
cdef float SHORTAGE = 0.5           # of a block that a seat has yet to get, on top of its price
cdef float NO_SKULL = 0.4           # share of an action that a seat without a skull expects of it later

# Levels of the tracks over a whole game, by level.
cdef float[NUM_TRACKS][TOP_LEVEL] LEVELS = [
    [4.5, 4, 4],        # agriculture
    [4.5, 3.5, 2.5],    # extraction
    [2.5, 5, 4],        # architecture
    [2.5, 3.5, 3],      # theology
]
cdef float WORKER_VALUE = 8         # a worker over a whole game, without its food
cdef float LIGHT = 1.5              # a double advance
cdef float LEADER = 0.8             # share of the leader's points that a leader, or who comes level, can expect
cdef float CHASER = 0.15            # share that a step brings to one further behind
# What a monument gains over a whole game, by kind of scoring.
cdef float[11] GROWTH
GROWTH[:] = [8, 12, 6, 5, 6, 8, 8, 5, 6, 5, 5]
cdef float SECOND = 0.6             # share of the first that the second of two equal steps, tiles, actions brings
cdef float WAIT = 0.6               # a day of a worker
cdef float TRADE_VALUE = 0.5
cdef float MONUMENT_TURNS = 4       # for a worker to come to where monuments are built
cdef float BLOCK_TURNS = 1.5        # to get a block
cdef float FURTHER = 2              # building once more, or using another action, where a tile lets one


cdef int _turns(const TzolkinStateC* state, int seat) noexcept nogil:
    cdef int n = state.num_players, rounds = LAST_DAY - state.day
    if state.phase == ADVANCING or state.phase == OVER:
        return rounds
    if state.phase == KEEPING:
        return rounds + 1
    return rounds + ((seat - state.start_player + n) % n >= (state.to_move - state.start_player + n) % n)


# --- steps, levels, workers

cdef inline float _lead(const TzolkinStateC* state, int seat, int temple, int step, int age) noexcept nogil:
    """The leader's points that a seat can expect if it stands on a step of a temple."""
    cdef int other, best = LOWEST
    for other in range(state.num_players):
        if other != seat:
            best = max(best, state.seats[other].temples[temple])
    if step > best:
        return LEADER * TEMPLES[temple].leader[age]
    return 0.5 * LEADER * TEMPLES[temple].leader[age] if step == best else CHASER * TEMPLES[temple].leader[age] * (
        step - LOWEST) / (best - LOWEST + 1)


cdef void _find_climbs(const TzolkinStateC* state, int seat, PlansC* plans) noexcept nogil:
    cdef int temple, step, top, age, day, kind, other
    cdef float value
    cdef bint is_taken
    for temple in range(NUM_TEMPLES):
        step = state.seats[seat].temples[temple]
        top = TEMPLES[temple].top
        is_taken = False
        for other in range(state.num_players):
            is_taken = is_taken or state.seats[other].temples[temple] == top
        plans.climbs[temple] = 0
        if step == top or (step + 1 == top and is_taken):
            continue
        value = LIGHT if step + 1 == top else 0
        for day in range(state.food_days, NUM_FOOD_DAYS):
            if IS_MID_AGE[day]:
                for kind in range(NUM_MATERIALS):
                    value += plans.materials[kind] * (TEMPLES[temple].rewards[step + 1 - LOWEST][kind]
                                                      - TEMPLES[temple].rewards[step - LOWEST][kind])
                continue
            age = day // AGE_2
            value += TEMPLES[temple].points[step + 1 - LOWEST] - TEMPLES[temple].points[step - LOWEST]
            value += _lead(state, seat, temple, step + 1, age) - _lead(state, seat, temple, step, age)
        plans.climbs[temple] = value


cdef inline float _best_climb(const PlansC* plans) noexcept nogil:
    return max(plans.climbs[0], max(plans.climbs[1], plans.climbs[2]))


cdef inline float _two_climbs(const PlansC* plans) noexcept nogil:
    """The best steps on two different temples."""
    return (plans.climbs[0] + plans.climbs[1] + plans.climbs[2]
            - min(plans.climbs[0], min(plans.climbs[1], plans.climbs[2])))


cdef void _find_advances(const TzolkinStateC* state, int seat, PlansC* plans) noexcept nogil:
    cdef const SeatC* own = &state.seats[seat]
    cdef float game = <float>plans.turns / ALL_TURNS, each = 0
    cdef int track, monument, full = 0
    cdef const ScoringC* of_full = NULL
    for monument in range(NUM_MONUMENTS):
        if own.monuments >> monument & 1:
            if SCORINGS[monument].kind == OF_LEVELS:
                each += SCORINGS[monument].points
            elif SCORINGS[monument].kind == OF_FULL_TRACKS:
                of_full = &SCORINGS[monument]
    for track in range(NUM_TRACKS):
        full += own.levels[track] == TOP_LEVEL
    for track in range(NUM_TRACKS):
        if own.levels[track] < TOP_LEVEL:
            plans.advances[track] = each + game * LEVELS[track][own.levels[track]]
            if of_full != NULL and own.levels[track] == TOP_LEVEL - 1:
                plans.advances[track] += of_full.by_number[full + 1] - of_full.by_number[full]
        elif track == AGRICULTURE:
            plans.advances[track] = _best_climb(plans)
        elif track == EXTRACTION:
            plans.advances[track] = 2 * plans.materials[GOLD]
        elif track == ARCHITECTURE:
            plans.advances[track] = BONUS_POINTS
        else:
            plans.advances[track] = plans.materials[SKULL] if state_bank(state) > 0 else 0


cdef inline int _hungry(const SeatC* own, int free_workers, int discount) noexcept nogil:
    """Return the corn that a food day costs with additional free workers and an additional discount."""
    return (max(0, own.workers - own.free_workers - free_workers)
            * max(0, CORN_PER_WORKER - own.discount - discount))


# --- tiles

cdef inline float _monuments_of(const SeatC* own, int category) noexcept nogil:
    """Return what a tile of a category adds to the monuments that a seat has built."""
    cdef int monument, monuments = own.monuments
    cdef float total = 0
    while monuments:
        monument = set_first(monuments)
        monuments &= monuments - 1
        if SCORINGS[monument].kind == OF_ALL_TILES or (SCORINGS[monument].kind == OF_CATEGORY
                                                       and SCORINGS[monument].category == category):
            total += SCORINGS[monument].points
    return total


cdef float plans_brings(const TzolkinStateC* state, int seat, const PlansC* plans, const TileC* tile) noexcept nogil:
    cdef const SeatC* own = &state.seats[seat]
    cdef int kind, temple, i
    cdef float total = tile.points + _monuments_of(own, tile.category)
    for kind in range(NUM_MATERIALS):
        total += tile.gains[kind] * plans.materials[kind]
    if tile.workers > 0:
        total += plans.worker
    for temple in range(NUM_TEMPLES):
        total += tile.steps[temple] * plans.climbs[temple]
    if tile.track != NO_TRACK:
        total += plans.advances[tile.track]
    for i in range(tile.num_choices):
        total += plans.decisions[LATER][tile.choices[i]]
    if tile.free_workers > 0 or tile.discount > 0:
        total += (plans.materials[CORN] * (NUM_FOOD_DAYS - state.food_days)
                  * (_hungry(own, 0, 0) - _hungry(own, tile.free_workers, tile.discount)))
    if own.levels[ARCHITECTURE] >= 1:
        total += plans.materials[CORN]
    if own.levels[ARCHITECTURE] >= 2:
        total += 2
    return total


cdef float _costs(const SeatC* own, const PlansC* plans, const TileC* tile, bint saves, int* lacking) noexcept nogil:
    """Return what a tile costs. `lacking`: the blocks and skulls that the seat does not have."""
    cdef int kind, dearest = -1
    cdef float total = 0
    lacking[0] = 0
    for kind in range(1, NUM_MATERIALS):
        if tile.cost[kind] == 0:
            continue
        total += tile.cost[kind] * plans.materials[kind]
        lacking[0] += max(0, tile.cost[kind] - (own.skulls if kind == SKULL else own.blocks[kind - 1]))
        if kind < SKULL and (dearest < 0 or tile.cost[kind] > own.blocks[kind - 1]):
            dearest = kind
    if saves and dearest > 0:
        total -= plans.materials[dearest]
        lacking[0] -= tile.cost[dearest] > own.blocks[dearest - 1]
    return total


cdef float _monument_brings(const TzolkinStateC* state, int seat, const PlansC* plans, int monument,
                            bint is_built) noexcept nogil:
    """The points of a monument at the end, with what it is expected to gain until then."""
    cdef const ScoringC* scoring = &SCORINGS[monument]
    cdef float total = rules_monument_points(state, seat, monument)
    total += GROWTH[scoring.kind] * plans.turns / ALL_TURNS
    if not is_built:
        if scoring.kind == OF_ALL_MONUMENTS:
            total += scoring.by_number[state.num_players]
        elif scoring.kind == OF_ALL_TILES or (scoring.kind == OF_CATEGORY
                                              and scoring.category == MONUMENTS[monument].category):
            total += scoring.points
    return total


cdef inline float _is_possible(int turns, int lacking) noexcept nogil:
    """Return how likely a seat can still build a monument for which it lacks this number of blocks, in [0, 1]."""
    return min(<float>1, max(<float>0, (turns - 1) / (MONUMENT_TURNS + lacking * BLOCK_TURNS)))


cdef void _find_tiles(const TzolkinStateC* state, int seat, PlansC* plans) noexcept nogil:
    """Find the best building and monuments, and the values of the decisions that build."""
    cdef const SeatC* own = &state.seats[seat]
    cdef uint64_t kinds = counts_kinds(state.display)
    cdef int monuments = state.monuments, tile, lacking
    cdef bint saves = own.levels[ARCHITECTURE] == TOP_LEVEL
    cdef float value, cost
    cdef float second[2]
    cdef float corn[2]
    memset(second, 0, sizeof(second))
    memset(corn, 0, sizeof(corn))
    while kinds:
        tile = set_first(kinds) >> 1
        kinds &= kinds - 1
        value = plans_brings(state, seat, plans, &BUILDINGS[tile])
        cost = plans.materials[CORN] * (BUILDINGS[tile].price - (BUILDING_CORN if saves else 0))
        corn[LATER] = max(corn[LATER], value - cost)
        if own.corn >= BUILDINGS[tile].price - (BUILDING_CORN if saves else 0):
            corn[NOW] = max(corn[NOW], value - cost)
        value -= _costs(own, plans, &BUILDINGS[tile], saves, &lacking)
        if lacking == 0:
            if value > plans.tiles[NOW]:
                second[NOW] = plans.tiles[NOW]
                plans.tiles[NOW] = value
            else:
                second[NOW] = max(second[NOW], value)
        value -= SHORTAGE * lacking
        if value > plans.tiles[LATER]:
            second[LATER] = plans.tiles[LATER]
            plans.tiles[LATER] = value
        else:
            second[LATER] = max(second[LATER], value)
    while monuments:
        tile = set_first(monuments)
        monuments &= monuments - 1
        value = (_monument_brings(state, seat, plans, tile, False) + _monuments_of(own, MONUMENTS[tile].category)
                 - _costs(own, plans, &MONUMENTS[tile], False, &lacking))
        if lacking == 0:
            plans.monument[NOW] = max(plans.monument[NOW], value)
        value = (value - 2 * SHORTAGE * lacking) * _is_possible(plans.turns, lacking)
        if value > plans.monument[LATER]:
            plans.second_monument = plans.monument[LATER]
            plans.monument[LATER] = value
        else:
            plans.second_monument = max(plans.second_monument, value)
    for tile in range(2):
        plans.decisions[tile][BUILD_ONE] = plans.decisions[tile][BUILD_MORE] = plans.tiles[tile]
        plans.decisions[tile][BUILD_TWO] = max(plans.monument[tile], plans.tiles[tile] + SECOND * second[tile])
        plans.decisions[tile][BUILD_SECOND] = SECOND * plans.tiles[tile]
        plans.decisions[tile][BUILD_SECOND_PLAIN] = SECOND * plans.tiles[tile]
        plans.decisions[tile][BUILD_CORN] = corn[tile]


# --- decisions and actions

cdef void _find_payments(const SeatC* own, const PlansC* plans, float* costs, float* costs_now) noexcept nogil:
    """Return what it costs to pay 0 to TOP_LEVEL blocks of any kinds, the cheapest first."""
    cdef int number, kind = 0, left = own.blocks[0]
    costs[0] = costs_now[0] = 0
    for number in range(TOP_LEVEL):
        while left == 0 and kind < NUM_BLOCKS - 1:
            kind += 1
            left = own.blocks[kind]
        if left > 0:
            left -= 1
            costs[number + 1] = costs[number] + plans.materials[1 + kind]
            costs_now[number + 1] = costs_now[number] + plans.materials[1 + kind]
        else:
            costs[number + 1] = costs[number] + plans.materials[WOOD] + SHORTAGE
            costs_now[number + 1] = -NOT_NOW


cdef void _find_decisions(const TzolkinStateC* state, int seat, PlansC* plans) noexcept nogil:
    """Find the values of the decisions, but for those that build or use another action."""
    cdef const SeatC* own = &state.seats[seat]
    cdef float costs[2][TOP_LEVEL + 1]
    cdef float* values
    cdef float best, free, value
    cdef int field, track, level = own.levels[AGRICULTURE], when
    _find_payments(own, plans, costs[LATER], costs[NOW])
    for when in range(2):
        values = plans.decisions[when]
        for field in range(NUM_FIELDS):
            value = 0
            if state.wood_fields[field] > 0:
                value = (FIELDS[field].wood + (own.levels[EXTRACTION] >= 1)) * plans.materials[WOOD]
            if state.corn_fields[field] > state.wood_fields[field] or level >= 2 or state.wood_fields[field] > 0:
                best = (FIELDS[field].corn + (level >= 1) + 2 * (level == TOP_LEVEL)) * plans.materials[CORN]
                if state.corn_fields[field] == state.wood_fields[field] and level < 2:
                    best -= 1.5         # for the anger of the gods
                value = max(value, best)
            values[HARVEST_2 + field] = value
        best = free = 0
        for track in range(NUM_TRACKS):
            free = max(free, plans.advances[track])
            best = max(best, plans.advances[track] - costs[when][RESEARCH_COST[own.levels[track]]])
        values[RESEARCH_ONE] = values[RESEARCH_MORE] = best
        values[RESEARCH_TWO] = (1 + SECOND) * best
        values[FREE_ONE] = free
        values[FREE_TWO] = (1 + SECOND) * free
        best = _best_climb(plans)
        values[CLIMB_ONE] = best
        values[CLIMB_MORE] = max(0, best - costs[when][1])
        values[CLIMB_TWO] = max(0, _two_climbs(plans) - costs[when][1])
        values[TAKE_1] = plans.materials[GOLD]
        values[TAKE_2] = 2 * plans.materials[GOLD]
        values[TRADE] = values[TRADE_MORE] = TRADE_VALUE
        values[BUILD_MORE] = values[USE_ONE] = values[USE_MORE] = FURTHER


cdef float _action(const TzolkinStateC* state, int seat, const PlansC* plans, int gear, int action,
                   int when) noexcept nogil:
    """Return what an action of a gear brings less its costs, at least 0."""
    cdef const ActionC* row = &ACTIONS[gear][action]
    cdef const SeatC* own = &state.seats[seat]
    cdef float total = 0
    cdef int kind
    if row.deed == FISH:
        return plans.materials[CORN] * (row.corn + (own.levels[AGRICULTURE] >= 2))
    if row.deed == GAIN:
        total = plans.materials[CORN] * row.gains[CORN]
        for kind in range(NUM_BLOCKS):
            if row.gains[1 + kind] > 0:
                total += plans.materials[1 + kind] * (row.gains[1 + kind] + (own.levels[EXTRACTION] > kind))
        if row.gains[SKULL] > 0 and state_bank(state) > 0:
            total += plans.materials[SKULL] * (row.gains[SKULL] + (own.levels[THEOLOGY] == TOP_LEVEL))
        return total
    if row.deed == WORKER:
        return max(0, plans.worker)
    if row.deed == PLACE_SKULL:
        if state.skulls_placed >> action & 1 or (when == NOW and own.skulls == 0):
            return 0
        total = row.points + plans.climbs[row.temple] - plans.materials[SKULL]
        if row.take > 0:
            total += plans.decisions[when][TAKE_1]
        if own.levels[THEOLOGY] >= 2:
            total += plans.decisions[when][CLIMB_MORE]
        return max(0, total if own.skulls > 0 else NO_SKULL * total)
    total = plans.decisions[when][row.decision]
    if row.deed == PAY_CORN:
        if when == NOW and own.corn < row.corn:
            return 0
        total -= plans.materials[CORN] * row.corn
    return max(0, total)


cdef void _find_actions(const TzolkinStateC* state, int seat, PlansC* plans) noexcept nogil:
    cdef int when, gear, action
    cdef float best
    for when in range(2):
        best = 0
        for gear in range(NUM_GEARS):
            plans.actions[when][gear][0] = 0
            for action in range(1, GEARS[gear].free_from):
                plans.actions[when][gear][action] = _action(state, seat, plans, gear, action, when)
                if gear < CHICHEN and ACTIONS[gear][action].decision != USE_ONE:
                    best = max(best, plans.actions[when][gear][action])
        best = max(0, best - USE_CORN * plans.materials[CORN])
        plans.decisions[when][USE_ONE] = plans.decisions[when][USE_MORE] = best
        for action in range(1, GEARS[UXMAL].free_from):
            if ACTIONS[UXMAL][action].decision == USE_ONE:
                plans.actions[when][UXMAL][action] = best


# --- workers

cdef inline float _reach(const SeatC* own, const PlansC* plans, int gear, int space, int when,
                         int* chosen) noexcept nogil:
    """Return what a worker on a space of a gear can do at best, less the corn for a lower action."""
    cdef bint ahead = gear == CHICHEN and own.levels[THEOLOGY] >= 1
    cdef bint is_free = space + ahead >= GEARS[gear].free_from
    cdef int action, last = GEARS[gear].free_from - 1 if is_free else space + ahead
    cdef int cost
    cdef float value, best = 0
    chosen[0] = 0
    for action in range(1, last + 1):
        cost = 0 if is_free else max(0, space - action)
        if when == NOW and cost > own.corn:
            continue
        value = plans.actions[when][gear][action] - cost * plans.materials[CORN]
        if value > best:
            best = value
            chosen[0] = action
    return best


cdef void _find_skulls(const TzolkinStateC* state, int seat, PlansC* plans) noexcept nogil:
    """Find what the skulls of a seat can still bring in Chichen Itza: each the best space that is left."""
    cdef int action, left = state.seats[seat].skulls
    for action in range(GEARS[CHICHEN].free_from - 1, 0, -1):
        if left > 0 and action < plans.turns and plans.actions[LATER][CHICHEN][action] > 0:
            plans.skulls += plans.actions[LATER][CHICHEN][action]
            left -= 1


cdef inline int _entry(const TzolkinStateC* state, int gear) noexcept nogil:
    """The lowest free space of a gear, its last action if none is free."""
    cdef int owner, taken = 0
    for owner in range(IDLE + 1):
        taken |= state_spaces(state, owner, gear)
    return min(GEARS[gear].last, set_first(<uint64_t>(~taken & 0xffff)))


cdef void _find_corn(const TzolkinStateC* state, const SeatC* own, float corn[2][8]) noexcept nogil:
    """Find the most corn that a worker brings by its space of Palenque and Yaxchilan, that for a lower action off."""
    cdef int gear, space, field, level = own.levels[AGRICULTURE]
    cdef float best, most
    for gear in range(2):
        best = most = corn[gear][0] = 0
        for space in range(1, GEARS[gear].last + 1):
            best -= 1
            if space < GEARS[gear].free_from:
                field = space - 2
                if gear == YAXCHILAN:
                    most = max(most, ACTIONS[gear][space].gains[CORN])
                    best = max(best, ACTIONS[gear][space].gains[CORN])
                elif field < 0:
                    best = most = ACTIONS[gear][space].corn + (level >= 2)
                elif state.corn_fields[field] > 0 or level >= 2:
                    best = max(best, FIELDS[field].corn + (level >= 1) + 2 * (level == TOP_LEVEL))
                    most = max(most, best)
            else:
                best = most
            corn[gear][space] = best


cdef void _find_workers(const TzolkinStateC* state, int seat, PlansC* plans) noexcept nogil:
    """Find what each worker will do; `_turns` of the seat are left."""
    cdef const SeatC* own = &state.seats[seat]
    cdef float reach[NUM_GEARS][11]     # by the spaces of a gear, 11 at most, as the next one
    cdef int chosen[NUM_GEARS][11]
    cdef int used[NUM_GEARS]
    cdef int last_day = LAST_DAY - state.day, gear, space, spaces, t, k, _, entry, number
    cdef int first = last_day + 1 - plans.turns     # gears turn so often before the seat can pick a worker up
    cdef int action, best_action, best_t, days = -1
    cdef float corn[2][8]
    cdef float value, best, soon, harvest, wait = WAIT * min(<float>1, plans.turns / USEFUL_TURNS)
    if state.food_days < NUM_FOOD_DAYS:
        days = max(0, FOOD_DAYS[state.food_days] - state.day)
        plans.food_turns = days + 1 - first
    _find_corn(state, own, corn)
    if state.to_move == seat and state.phase == PLACING:
        first = 1
    for gear in range(NUM_GEARS):
        for space in range(GEARS[gear].last + 1):
            reach[gear][space] = _reach(own, plans, gear, space, LATER, &chosen[gear][space])
    memset(used, 0, sizeof(used))
    for gear in range(NUM_GEARS):
        spaces = state_spaces(state, seat, gear)
        # The highest first: it is the first that has to go.
        for space in range(GEARS[gear].last if spaces else -1, -1, -1):
            if not spaces >> space & 1:
                continue
            best = best_t = best_action = soon = harvest = 0
            if first == 0:
                best = soon = _reach(own, plans, gear, space, NOW, &best_action)
                plans.now = max(plans.now, best)
                plans.all_now += best
                if gear < 2 and days >= 0:
                    harvest = corn[gear][space]
            for t in range(max(1, first), min(last_day, GEARS[gear].last - space) + 1):
                if t <= days:
                    soon = max(soon, reach[gear][space + t])
                    if gear < 2:
                        harvest = max(harvest, corn[gear][space + t])
                if t <= TOGETHER:
                    plans.together[t - 1] += reach[gear][space + t]
                value = reach[gear][space + t] - wait * t
                action = chosen[gear][space + t]
                if used[gear] >> action & 1:
                    value = SECOND * value if gear < CHICHEN else 0
                if value > best:
                    best = value
                    best_t = t
                    best_action = action
            used[gear] |= 1 << best_action
            plans.workers[gear] += best
            plans.waiting += best_t
            plans.soon[gear] += soon
            plans.soon_corn += harvest
            if days >= first:
                k = min(space + days, GEARS[gear].last)
                plans.soon_builders += gear == TIKAL and k >= 2 or gear == UXMAL and k >= 4
                plans.soon_skulls += gear == YAXCHILAN and k >= 4
    best = 0
    for gear in range(NUM_GEARS):
        entry = _entry(state, gear)
        for k in range(entry + 1, min(GEARS[gear].last, entry + plans.turns - 1) + 1):
            value = reach[gear][k] - wait * (k - entry + 1) - plans.materials[CORN] * entry
            best = max(best, value)
            if k <= entry + plans.food_turns - 1:
                plans.soon_idle = max(plans.soon_idle, reach[gear][k] - plans.materials[CORN] * entry)
    number = own.workers - state_workers_out(state, seat)
    value = best
    for _ in range(number):
        plans.idle += value
        value *= 0.85


cdef void plans_find(const TzolkinStateC* state, int seat, PlansC* plans) noexcept nogil:
    cdef const SeatC* own = &state.seats[seat]
    cdef int kind, i, monuments = own.monuments
    cdef float use
    memset(plans, 0, sizeof(PlansC))
    plans.turns = _turns(state, seat)
    use = min(<float>1, plans.turns / USEFUL_TURNS)
    for kind in range(NUM_MATERIALS):
        plans.materials[kind] = AT_END[kind] + use * IN_USE[kind]
    _find_climbs(state, seat, plans)
    _find_advances(state, seat, plans)
    plans.hunger = (NUM_FOOD_DAYS - state.food_days) * _hungry(own, 0, 0)
    if own.workers < MAX_WORKERS:
        plans.worker = (WORKER_VALUE * plans.turns / ALL_TURNS
                        - plans.materials[CORN] * (NUM_FOOD_DAYS - state.food_days)
                        * max(0, CORN_PER_WORKER - own.discount) * (own.workers >= own.free_workers))
        for i in range(NUM_MONUMENTS):
            if own.monuments >> i & 1 and SCORINGS[i].kind == OF_WORKERS:
                plans.worker += SCORINGS[i].by_number[own.workers + 1] - SCORINGS[i].by_number[own.workers]
    _find_decisions(state, seat, plans)
    _find_tiles(state, seat, plans)
    _find_actions(state, seat, plans)
    _find_skulls(state, seat, plans)
    _find_workers(state, seat, plans)
    while monuments:
        plans.owned_monuments += _monument_brings(state, seat, plans, set_first(monuments), True)
        monuments &= monuments - 1
    if state.to_move == seat:
        for i in range(state.num_pending):
            plans.pending += plans.decisions[NOW][state.pending[i]] if state.pending[i] < NUM_DECISIONS else 0
