"""The rules of Tzolk'in. D1-D20 are the decisions of docs/games/tzolkin.md."""

from libc.stdint cimport int64_t
from libc.string cimport memset

from cext.core.contract.rng cimport rng_below
from cext.core.contract.sets cimport set_first, set_size
from cext.games.tzolkin.state cimport *

cdef enum:
    IMPOSSIBLE = 1 << 20        # more corn than anybody has
    BLOCKING = 6                # a seat's worker there forbids the double advance; in Chichen Itza 9
    BLOCKING_CHICHEN = 9

# The first four gears have 16 bits each in a word.
cdef uint64_t EACH_GEAR = 0x0001000100010001
cdef uint64_t SEAT_SPACES = 0x00ff00ff00ff00ff      # actions 0 to 7
cdef uint64_t TEETH = 0x03ff03ff03ff03ff            # 10 teeth
cdef int CHICHEN_SPACES = 0x7ff                     # actions 0 to 10
cdef int CHICHEN_TEETH = 0x1fff                     # 13 teeth


cdef inline SeatC* _mover(TzolkinStateC* state) noexcept nogil:
    return &state.seats[state.to_move]


cdef inline const SeatC* _to_move(const TzolkinStateC* state) noexcept nogil:
    return &state.seats[state.to_move]


# --- what follows from a position

cdef inline bint _can_climb(const TzolkinStateC* state, int seat, int temple) noexcept nogil:
    # Only one seat may stand on the top step.
    cdef int other, step = state.seats[seat].temples[temple] + 1, top = TEMPLES[temple].top
    if step < top:
        return True
    if step > top:
        return False
    for other in range(state.num_players):
        if state.seats[other].temples[temple] == top:
            return False
    return True


cdef inline bint _can_climb_any(const TzolkinStateC* state) noexcept nogil:
    cdef int temple
    for temple in range(NUM_TEMPLES):
        if _can_climb(state, state.to_move, temple):
            return True
    return False


cdef inline bint _can_step_down(const SeatC* seat) noexcept nogil:
    return seat.temples[0] > LOWEST or seat.temples[1] > LOWEST or seat.temples[2] > LOWEST


cdef inline int _num_blocks(const SeatC* seat) noexcept nogil:
    return seat.blocks[0] + seat.blocks[1] + seat.blocks[2]


cdef inline void _costs(const TzolkinStateC* state, int* costs) noexcept nogil:
    """Find what the next worker costs on each gear and on the start space without the surcharge."""
    cdef uint64_t taken = (state.workers[0] | state.workers[1] | state.workers[2] | state.workers[3]
                           | state.workers[IDLE])
    cdef int chichen = (state.chichen[0] | state.chichen[1] | state.chichen[2] | state.chichen[3]
                        | state.chichen[IDLE])
    cdef uint64_t free = ~taken & SEAT_SPACES
    cdef int gear, spaces
    for gear in range(CHICHEN):
        spaces = <int>(free >> 16 * gear & 0xff)
        costs[gear] = set_first(spaces) if spaces else IMPOSSIBLE
    spaces = ~chichen & CHICHEN_SPACES
    costs[CHICHEN] = set_first(spaces) if spaces else IMPOSSIBLE
    costs[START] = 0 if state.start_space == NO_SEAT else IMPOSSIBLE


cdef bint rules_can_double(const TzolkinStateC* state, int seat) noexcept nogil:
    cdef uint64_t seats = state.workers[0] | state.workers[1] | state.workers[2] | state.workers[3]
    cdef int chichen = state.chichen[0] | state.chichen[1] | state.chichen[2] | state.chichen[3]
    return (state.seats[seat].light and not seats & EACH_GEAR << BLOCKING
            and not chichen & 1 << BLOCKING_CHICHEN)


# --- what a seat needs for an action. D16: what brings nothing is not offered. Only corn depends on how the action is
# reached (D6), so all else is asked for once: the answer is the corn that is needed, or IMPOSSIBLE.

cdef inline bint _bonus_brings(const TzolkinStateC* state, int track) noexcept nogil:
    if track == AGRICULTURE:
        return _can_climb_any(state)
    return track != THEOLOGY or state_bank(state) > 0


cdef bint _can_research(const TzolkinStateC* state, bint free) noexcept nogil:
    cdef const SeatC* seat = _to_move(state)
    cdef int track, blocks = _num_blocks(seat)
    for track in range(NUM_TRACKS):
        if not free and blocks < RESEARCH_COST[seat.levels[track]]:
            continue
        if seat.levels[track] < TOP_LEVEL or _bonus_brings(state, track):
            return True
    return False


cdef inline int _short(const SeatC* seat, const TileC* tile) noexcept nogil:
    """How many blocks (and skulls) a seat lacks for a tile."""
    cdef int kind, short = max(0, tile.cost[SKULL] - seat.skulls)
    for kind in range(NUM_BLOCKS):
        short += max(0, tile.cost[1 + kind] - seat.blocks[kind])
    return short


cdef inline int _price(const SeatC* seat, const TileC* tile) noexcept nogil:
    """The corn that pays for a building."""
    return tile.price - (BUILDING_CORN if seat.levels[ARCHITECTURE] == TOP_LEVEL else 0)


cdef bint _can_build(const TzolkinStateC* state, int decision) noexcept nogil:
    cdef const SeatC* seat = _to_move(state)
    cdef uint64_t kinds = counts_kinds(state.display)
    cdef int short, monuments = state.monuments
    # Level 3 saves a block that the building costs.
    cdef int saved = seat.levels[ARCHITECTURE] == TOP_LEVEL and decision != BUILD_SECOND_PLAIN
    while kinds:
        short = _short(seat, &BUILDINGS[set_first(kinds) >> 1])
        kinds &= kinds - 1
        if short <= saved:
            return True
    if decision == BUILD_TWO:
        while monuments:
            if _short(seat, &MONUMENTS[set_first(monuments)]) == 0:
                return True
            monuments &= monuments - 1
    return False


cdef int _corn_for_building(const TzolkinStateC* state) noexcept nogil:
    cdef uint64_t kinds = counts_kinds(state.display)
    cdef int corn = IMPOSSIBLE
    while kinds:
        corn = min(corn, _price(_to_move(state), &BUILDINGS[set_first(kinds) >> 1]))
        kinds &= kinds - 1
    return corn


cdef int _corn_for_use(const TzolkinStateC* state) noexcept nogil:
    cdef int gear, action, corn = IMPOSSIBLE
    for gear in range(CHICHEN):
        for action in range(1, GEARS[gear].free_from):
            if ACTIONS[gear][action].decision != USE_ONE:       # D19
                corn = min(corn, _corn_for_action(state, gear, action))
                if corn == 0:
                    return USE_CORN
    return USE_CORN + corn


cdef bint _can_trade_on(const TzolkinStateC* state, int decision) noexcept nogil:
    """Whether a visit to the market that goes on can sell or buy anything (D12)."""
    cdef const SeatC* seat = _to_move(state)
    cdef int kind, sold = decision & 7, bought = decision >> 3 & 7
    for kind in range(NUM_BLOCKS):
        if bought == 0 and sold >> kind == 0 and seat.blocks[kind] > 0:
            return True
        if not sold >> kind & 1 and bought >> kind == 0 and seat.corn >= PRICES[kind]:
            return True
    return False


cdef int _corn_for_decision(const TzolkinStateC* state, int decision) noexcept nogil:
    """The corn that a decision needs to have an answer other than `done`; 0 unless it is corn that pays."""
    cdef const SeatC* seat = _to_move(state)
    cdef int field
    cdef bint possible
    if decision & TRADING:
        possible = _can_trade_on(state, decision)
    elif decision < RESEARCH_ONE:
        field = decision - HARVEST_2
        possible = (state.corn_fields[field] > state.wood_fields[field] or state.wood_fields[field] > 0
                    or seat.levels[AGRICULTURE] >= 2)
    elif decision <= RESEARCH_MORE:
        possible = _can_research(state, False)
    elif decision <= FREE_TWO:
        possible = _can_research(state, True)
    elif decision == BUILD_CORN:
        return _corn_for_building(state)
    elif decision <= BUILD_MORE:
        possible = _can_build(state, decision)
    elif decision == CLIMB_ONE:
        possible = _can_climb_any(state)
    elif decision <= CLIMB_MORE:
        possible = _num_blocks(seat) > 0 and _can_climb_any(state)
    elif decision <= TAKE_2:
        possible = True
    elif decision <= TRADE_MORE:
        return 0 if _num_blocks(seat) > 0 else PRICES[0]
    else:
        return _corn_for_use(state)
    return 0 if possible else IMPOSSIBLE


cdef bint rules_has_answer(const TzolkinStateC* state, int decision) noexcept nogil:
    return _corn_for_decision(state, decision) <= _to_move(state).corn


cdef int _corn_for_action(const TzolkinStateC* state, int gear, int action) noexcept nogil:
    cdef const ActionC* row = &ACTIONS[gear][action]
    cdef const SeatC* seat = _to_move(state)
    cdef bint possible = True
    if row.deed == GAIN:
        possible = row.gains[SKULL] == 0 or state_bank(state) > 0
    elif row.deed == WORKER:
        possible = seat.workers < MAX_WORKERS
    elif row.deed == PLACE_SKULL:
        possible = seat.skulls > 0 and not state.skulls_placed >> action & 1
    elif row.deed == PAY_CORN:
        return row.corn + _corn_for_decision(state, row.decision)
    elif row.deed == DECIDE:
        return _corn_for_decision(state, row.decision)
    return 0 if possible else IMPOSSIBLE


# --- legal actions

cdef int _keeps(const TzolkinStateC* state, action_t* actions) noexcept nogil:
    cdef uint32_t rest, dealt = _to_move(state).dealt
    cdef int n = 0
    while dealt:
        rest = dealt & (dealt - 1)
        while rest:
            actions[n] = action_of_tiles(KEEP, set_first(dealt), set_first(rest))
            n += 1
            rest &= rest - 1
        dealt &= dealt - 1
    return n


cdef int _steps_down(const TzolkinStateC* state, int verb, action_t* actions) noexcept nogil:
    cdef int temple, n = 0
    for temple in range(NUM_TEMPLES):
        if _to_move(state).temples[temple] > LOWEST:
            actions[n] = action_of_temple(verb, temple, -1, 0)
            n += 1
    return n


cdef int _places(const TzolkinStateC* state) noexcept nogil:
    """Where the seat may put its next worker, as a set: gears in board order from the last one on (D15)."""
    cdef int costs[START + 1]           # by gear
    cdef const SeatC* seat = _to_move(state)
    cdef int gear, cheapest = IMPOSSIBLE, corn, places = 0
    cdef int out = state_workers_out(state, state.to_move)
    if out == seat.workers:
        return 0
    _costs(state, costs)
    corn = seat.corn - SURCHARGE[state.placed + 1] + SURCHARGE[state.placed]
    for gear in range(START + 1):
        places |= (costs[gear] <= corn) << gear
        cheapest = min(cheapest, costs[gear])
    if state.last != NO_SPACE:
        return places & ~((1 << (state.last >> 4)) - 1)
    if places == 0 and out == 0 and state.phase == TURN and not _can_step_down(seat):
        for gear in range(START + 1):       # D5: the gods have mercy
            places |= (costs[gear] == cheapest) << gear
    return places


cdef inline int _last_space(const TzolkinStateC* state, int gear) noexcept nogil:
    # Workers taken without an action come last, in board order (D15): the highest space that is too early.
    if state.last == NO_SPACE or gear > state.last >> 4:
        return -1
    return 15 if gear < state.last >> 4 else state.last & 15


cdef bint _can_pick(const TzolkinStateC* state) noexcept nogil:
    cdef int gear
    if state.last == NO_SPACE:
        return state.workers[state.to_move] != 0 or state.chichen[state.to_move] != 0
    for gear in range(state.last >> 4, NUM_GEARS):
        if state_spaces(state, state.to_move, gear) >> (_last_space(state, gear) + 1) != 0:
            return True
    return False


cdef int _add_picks(const TzolkinStateC* state, int gear, int space, const int* needed,
                    action_t* actions) noexcept nogil:
    cdef int action, cost, n = 0, free_from = GEARS[gear].free_from, last = space
    cdef int corn = _to_move(state).corn
    cdef bint ahead = gear == CHICHEN and _to_move(state).levels[THEOLOGY] >= 1
    cdef bint is_free = space >= free_from or (ahead and space + 1 == free_from)
    if is_free:
        last = free_from - 1
    elif ahead:
        last = space + 1
    for action in range(1, last + 1):
        cost = 0 if is_free else max(0, space - action)
        if cost + needed[action] <= corn:
            actions[n] = action_of_gear(PICK, gear, space, action)
            n += 1
    return n


cdef int _picks(const TzolkinStateC* state, action_t* actions) noexcept nogil:
    cdef int needed[NUM_ACTIONS + 1]    # by action of a gear, from 1 on
    cdef int gear, action, space, spaces, n = 0
    for gear in range(NUM_GEARS):
        spaces = state_spaces(state, state.to_move, gear)
        spaces &= ~((1 << (_last_space(state, gear) + 1)) - 1)
        if spaces and state.last == NO_SPACE:
            for action in range(1, GEARS[gear].free_from):
                needed[action] = _corn_for_action(state, gear, action)
        while spaces:
            space = set_first(spaces)
            spaces &= spaces - 1
            actions[n] = action_of_gear(PICK, gear, space, 0)
            n += 1
            if state.last == NO_SPACE:
                n += _add_picks(state, gear, space, needed, actions + n)
    return n


cdef int _harvests(const TzolkinStateC* state, int decision, action_t* actions) noexcept nogil:
    cdef int field = decision - HARVEST_2, n = 0
    if (state.corn_fields[field] > state.wood_fields[field]
            or _to_move(state).levels[AGRICULTURE] >= 2):     # D9
        actions[n] = action_of_number(HARVEST, -1, 0)
        n += 1
    if state.wood_fields[field] > 0:
        actions[n] = action_of_number(HARVEST, -1, 1)
        n += 1
    return n


cdef inline bint _can_pay(const SeatC* seat, const PaymentC* payment) noexcept nogil:
    return (payment.blocks[0] <= seat.blocks[0] and payment.blocks[1] <= seat.blocks[1]
            and payment.blocks[2] <= seat.blocks[2])


cdef int _researches(const TzolkinStateC* state, int decision, action_t* actions) noexcept nogil:
    cdef const SeatC* seat = _to_move(state)
    cdef int track, i, cost, n = 0
    for track in range(NUM_TRACKS):
        if seat.levels[track] == TOP_LEVEL and not _bonus_brings(state, track):
            continue
        if decision >= FREE_ONE:
            actions[n] = action_of_temple(RESEARCH, track, -1, 0)
            n += 1
            continue
        cost = RESEARCH_COST[seat.levels[track]]
        for i in range(NUM_PAYMENTS[cost]):
            if _can_pay(seat, &PAYMENTS[cost][i]):
                actions[n] = action_of_temple(RESEARCH, track, -1, PAYMENTS[cost][i].packed)
                n += 1
    return n


cdef int _builds(const TzolkinStateC* state, int decision, action_t* actions) noexcept nogil:
    cdef const SeatC* seat = _to_move(state)
    cdef uint64_t kinds = counts_kinds(state.display)
    cdef int tile, kind, short, n = 0, level = seat.levels[ARCHITECTURE], monuments
    # Tikal 4: one of its buildings uses architecture (D10).
    cdef bint plain = level == 0 or decision == BUILD_TWO or decision == BUILD_SECOND_PLAIN
    cdef bint arch = level > 0 and decision != BUILD_SECOND_PLAIN
    while kinds:
        tile = set_first(kinds) >> 1
        kinds &= kinds - 1
        if decision == BUILD_CORN:
            if seat.corn >= _price(seat, &BUILDINGS[tile]):
                actions[n] = action_of_building(tile, level > 0, 0)
                n += 1
            continue
        short = _short(seat, &BUILDINGS[tile])
        if plain and short == 0:
            actions[n] = action_of_building(tile, False, 0)
            n += 1
        if not arch:
            continue
        if level < TOP_LEVEL:
            if short == 0:
                actions[n] = action_of_building(tile, True, 0)
                n += 1
            continue
        for kind in range(NUM_BLOCKS):
            if (BUILDINGS[tile].cost[1 + kind] > 0
                    and short - (BUILDINGS[tile].cost[1 + kind] > seat.blocks[kind]) == 0):
                actions[n] = action_of_building(tile, True, 1 << 2 * kind)
                n += 1
    if decision == BUILD_TWO:
        monuments = state.monuments
        while monuments:
            tile = set_first(monuments)
            monuments &= monuments - 1
            if _short(seat, &MONUMENTS[tile]) == 0:
                actions[n] = action_of_building(NUM_BUILDINGS + tile, False, 0)
                n += 1
    return n


cdef int _climbs(const TzolkinStateC* state, int decision, action_t* actions) noexcept nogil:
    cdef const SeatC* seat = _to_move(state)
    cdef int temple, second, kind, n = 0, climbable = 0
    for temple in range(NUM_TEMPLES):
        climbable |= _can_climb(state, state.to_move, temple) << temple
    for temple in range(NUM_TEMPLES):
        # -1 stands for one step alone.
        for second in range(-1, NUM_TEMPLES):
            if not climbable >> temple & 1 or (0 <= second <= temple) or (second > temple
                                                                          and not climbable >> second & 1):
                continue
            if (second >= 0) != (decision == CLIMB_TWO and set_size(climbable) > 1):
                continue
            if decision == CLIMB_ONE:
                actions[n] = action_of_temple(CLIMB, temple, -1, 0)
                n += 1
                continue
            for kind in range(NUM_BLOCKS):
                if seat.blocks[kind] > 0:
                    actions[n] = action_of_temple(CLIMB, temple, second, 1 << 2 * kind)
                    n += 1
    return n


cdef int _takes(int number, action_t* actions) noexcept nogil:
    cdef int i
    for i in range(NUM_PAYMENTS[number]):
        actions[i] = action_of(TAKE) | <action_t>PAYMENTS[number][i].packed << 16
    return NUM_PAYMENTS[number]


cdef int _trades(const TzolkinStateC* state, int decision, int verb, action_t* actions) noexcept nogil:
    """Sells, then buys, each in the order of the blocks, each kind once (D12)."""
    cdef const SeatC* seat = _to_move(state)
    cdef int sold = 0, bought = 0, kind, number, most, n = 0
    if decision & TRADING:
        sold, bought = decision & 7, decision >> 3 & 7
    for kind in range(NUM_BLOCKS):
        if verb == SELL:
            most = seat.blocks[kind] if bought == 0 and sold >> kind == 0 else 0
        else:
            most = seat.corn // PRICES[kind] if not sold >> kind & 1 and bought >> kind == 0 else 0
        for number in range(1, most + 1):
            actions[n] = action_of_number(verb, kind, number)
            n += 1
    return n


cdef int _uses(const TzolkinStateC* state, action_t* actions) noexcept nogil:
    cdef int gear, action, n = 0, corn = _to_move(state).corn - USE_CORN
    for gear in range(CHICHEN):
        for action in range(1, GEARS[gear].free_from):
            if ACTIONS[gear][action].decision != USE_ONE and _corn_for_action(state, gear, action) <= corn:
                actions[n] = action_of_gear(USE, gear, 0, action)
                n += 1
    return n


cdef int _verbs_of_decision(const TzolkinStateC* state, int decision) noexcept nogil:
    # The decision that is due has an answer.
    cdef const SeatC* seat = _to_move(state)
    cdef int field, kind, sold, bought, verbs
    if decision & TRADING or decision == TRADE or decision == TRADE_MORE:
        sold = bought = 0
        verbs = 0 if decision == TRADE else 1 << DONE
        if decision & TRADING:
            sold, bought = decision & 7, decision >> 3 & 7
        for kind in range(NUM_BLOCKS):
            if bought == 0 and sold >> kind == 0 and seat.blocks[kind] > 0:
                verbs |= 1 << SELL
            if not sold >> kind & 1 and bought >> kind == 0 and seat.corn >= PRICES[kind]:
                verbs |= 1 << BUY
        return verbs
    if decision < RESEARCH_ONE:
        field = decision - HARVEST_2
        verbs = 1 << HARVEST
        if state.wood_fields[field] > 0 and _can_step_down(seat):
            verbs |= 1 << BURN
        return verbs
    if decision <= FREE_TWO:
        return 1 << RESEARCH | (decision == RESEARCH_MORE) << DONE
    if decision <= BUILD_MORE:
        return 1 << BUILD | (decision >= BUILD_SECOND) << DONE
    if decision <= CLIMB_MORE:
        return 1 << CLIMB | (decision == CLIMB_MORE) << DONE
    if decision <= TAKE_2:
        return 1 << TAKE
    return 1 << USE | (decision == USE_MORE) << DONE


cdef int rules_verbs(const TzolkinStateC* state) noexcept nogil:
    cdef int verbs = 0
    if state.reveal > 0 or state.phase == OVER:
        return 0
    if state.phase == KEEPING:
        return 1 << KEEP
    if state.phase == ADVANCING:
        return 1 << ADVANCE
    if state.num_pending > 0:
        return _verbs_of_decision(state, state.pending[state.num_pending - 1])
    if state.phase == TURN:
        if _to_move(state).corn <= BEG_AT_MOST and _can_step_down(_to_move(state)):
            verbs |= 1 << BEG
    else:
        verbs |= 1 << END
    if state.phase != PICKING and _places(state) != 0:
        verbs |= 1 << PLACE
    if state.phase != PLACING and _can_pick(state):
        verbs |= 1 << PICK
    return verbs


cdef int rules_actions_of(const TzolkinStateC* state, int verb, action_t* actions) noexcept nogil:
    cdef int decision = state.pending[state.num_pending - 1] if state.num_pending > 0 else 0
    cdef int places, n
    if verb == KEEP:
        return _keeps(state, actions)
    if verb == BEG or verb == BURN:
        return _steps_down(state, verb, actions)
    if verb == PLACE:
        places = _places(state)
        n = 0
        while places:
            actions[n] = action_of_gear(PLACE, set_first(places), 0, 0)
            n += 1
            places &= places - 1
        return n
    if verb == PICK:
        return _picks(state, actions)
    if verb == HARVEST:
        return _harvests(state, decision, actions)
    if verb == RESEARCH:
        return _researches(state, decision, actions)
    if verb == BUILD:
        return _builds(state, decision, actions)
    if verb == CLIMB:
        return _climbs(state, decision, actions)
    if verb == TAKE:
        return _takes(decision - TAKE_1 + 1, actions)
    if verb == SELL or verb == BUY:
        return _trades(state, decision, verb, actions)
    if verb == USE:
        return _uses(state, actions)
    if verb == ADVANCE:
        actions[0] = action_of_number(ADVANCE, -1, 1)
        actions[1] = action_of_number(ADVANCE, -1, 2)
        return 2
    actions[0] = action_of(verb)        # DONE, END
    return 1


cdef int rules_legal_actions(const TzolkinStateC* state, action_t* actions) noexcept nogil:
    cdef int verbs = rules_verbs(state), n = 0
    while verbs:
        n += rules_actions_of(state, set_first(verbs), actions + n)
        verbs &= verbs - 1
    return n


# --- what actions do

cdef inline void _push(TzolkinStateC* state, int decision) noexcept nogil:
    state.pending[state.num_pending] = <uint8_t>decision
    state.num_pending += 1


cdef inline int _pop(TzolkinStateC* state) noexcept nogil:
    cdef int decision
    state.num_pending -= 1
    decision = state.pending[state.num_pending]
    state.pending[state.num_pending] = 0
    return decision


cdef inline void _climb(TzolkinStateC* state, int temple) noexcept nogil:
    # Wasted where it is not possible (D11).
    cdef SeatC* seat = _mover(state)
    if _can_climb(state, state.to_move, temple):
        seat.temples[temple] += 1
        if seat.temples[temple] == TEMPLES[temple].top:
            seat.light = 1


cdef inline void _gain_skulls(TzolkinStateC* state, int number) noexcept nogil:
    _mover(state).skulls += <uint8_t>min(number, state_bank(state))


cdef inline void _gain(TzolkinStateC* state, const uint8_t* gains) noexcept nogil:
    cdef SeatC* seat = _mover(state)
    cdef int kind
    seat.corn += gains[CORN]
    for kind in range(NUM_BLOCKS):
        seat.blocks[kind] += gains[1 + kind]
    if gains[SKULL] > 0:
        _gain_skulls(state, gains[SKULL])


cdef void _advance_track(TzolkinStateC* state, int track) noexcept nogil:
    cdef SeatC* seat = _mover(state)
    if seat.levels[track] < TOP_LEVEL:
        seat.levels[track] += 1
    elif track == AGRICULTURE:
        _push(state, CLIMB_ONE)
    elif track == EXTRACTION:
        _push(state, TAKE_2)
    elif track == ARCHITECTURE:
        seat.score += 4 * BONUS_POINTS
    else:
        _gain_skulls(state, 1)


cdef void _apply_tile(TzolkinStateC* state, const TileC* tile) noexcept nogil:
    """Give the seat to move what a tile brings, its decisions in printed order (D11)."""
    cdef SeatC* seat = _mover(state)
    cdef int temple, i
    _gain(state, tile.gains)
    seat.score += 4 * tile.points
    seat.workers = <uint8_t>min(seat.workers + tile.workers, MAX_WORKERS)
    for temple in range(NUM_TEMPLES):
        for _ in range(tile.steps[temple]):
            _climb(state, temple)
    if tile.track != NO_TRACK:
        _advance_track(state, tile.track)
    for i in range(tile.num_choices - 1, -1, -1):
        _push(state, tile.choices[i])
    seat.free_workers += tile.free_workers
    seat.discount += tile.discount


cdef void _keep(TzolkinStateC* state, action_t action) noexcept nogil:
    cdef int seat
    cdef uint64_t kept
    _mover(state).wealth = (<uint32_t>1 << action_tile(action)) | (<uint32_t>1 << action_second_tile(action))
    state.turns += 1
    state.to_move += 1
    if state.to_move < state.num_players:
        return
    for seat in range(state.num_players):
        state.to_move = <uint8_t>seat
        state.seats[seat].dealt = 0
        kept = state.seats[seat].wealth
        while kept:
            _apply_tile(state, &WEALTH[set_first(kept)])
            kept &= kept - 1
        # No choice inside these tiles (D14), not even by the bonus of a full track.
        memset(state.pending, 0, sizeof(state.pending))
        state.num_pending = 0
    memset(state.drawn, 0, sizeof(state.drawn))
    state.num_drawn = 0
    state.phase = TURN
    state.to_move = state.start_player


cdef void _place(TzolkinStateC* state, int gear) noexcept nogil:
    cdef int costs[START + 1]           # by gear
    cdef SeatC* seat = _mover(state)
    cdef int cost
    _costs(state, costs)
    cost = costs[gear] + SURCHARGE[state.placed + 1] - SURCHARGE[state.placed]
    seat.corn -= <uint16_t>min(cost, seat.corn)     # less by mercy alone, which takes all corn
    if gear == START:
        state.start_space = state.to_move
    elif gear == CHICHEN:
        state.chichen[state.to_move] |= <uint16_t>(1 << costs[gear])
    else:
        state.workers[state.to_move] |= <uint64_t>1 << (16 * gear + costs[gear])
    state.phase = PLACING
    state.placed += 1
    state.last = <uint8_t>(gear << 4)


cdef void _use(TzolkinStateC* state, int gear, int action) noexcept nogil:
    """Do an action of a gear, or leave the decision that it brings pending."""
    cdef const ActionC* row = &ACTIONS[gear][action]
    cdef SeatC* seat = _mover(state)
    cdef int kind
    if row.deed == FISH:
        seat.corn += row.corn + (seat.levels[AGRICULTURE] >= 2)
    elif row.deed == GAIN:
        seat.corn += row.gains[CORN]
        for kind in range(NUM_BLOCKS):
            if row.gains[1 + kind] > 0:     # extraction: one more of wood, stone, gold from levels 1, 2, 3 on
                seat.blocks[kind] += row.gains[1 + kind] + (seat.levels[EXTRACTION] > kind)
        if row.gains[SKULL] > 0:
            _gain_skulls(state, row.gains[SKULL] + (seat.levels[THEOLOGY] == TOP_LEVEL))
    elif row.deed == WORKER:
        seat.workers += 1
    elif row.deed == PLACE_SKULL:
        seat.skulls -= 1
        state.skulls_placed |= <uint16_t>(1 << action)
        seat.score += 4 * row.points
        _climb(state, row.temple)
        if seat.levels[THEOLOGY] >= 2:
            _push(state, CLIMB_MORE)
        if row.take > 0:
            _push(state, TAKE_1)
    else:
        if row.deed == PAY_CORN:
            seat.corn -= row.corn
        _push(state, row.decision)


cdef void _pick(TzolkinStateC* state, int gear, int space, int action) noexcept nogil:
    cdef SeatC* seat = _mover(state)
    cdef bint ahead = gear == CHICHEN and seat.levels[THEOLOGY] >= 1
    state.phase = PICKING
    if gear == CHICHEN:
        state.chichen[state.to_move] &= <uint16_t>~(1 << space)
    else:
        state.workers[state.to_move] &= ~(<uint64_t>1 << (16 * gear + space))
    if action == 0:
        state.last = <uint8_t>(gear << 4 | space)
        return
    if space + ahead < GEARS[gear].free_from:
        seat.corn -= <uint16_t>max(0, space - action)
    _use(state, gear, action)


cdef void _harvest(TzolkinStateC* state, int field, bint wood) noexcept nogil:
    cdef SeatC* seat = _mover(state)
    cdef int level = seat.levels[AGRICULTURE]
    if wood:
        state.wood_fields[field] -= 1
        seat.wood_tiles += 1
        seat.blocks[0] += FIELDS[field].wood + (seat.levels[EXTRACTION] >= 1)
        return
    if state.corn_fields[field] > state.wood_fields[field]:     # else by agriculture, without a tile (D9)
        state.corn_fields[field] -= 1
        seat.corn_tiles += 1
    seat.corn += FIELDS[field].corn + (level >= 1) + 2 * (level == TOP_LEVEL)


cdef void _build(TzolkinStateC* state, int decision, action_t action) noexcept nogil:
    cdef SeatC* seat = _mover(state)
    cdef int kind, number = action_tile(action)
    cdef int level = seat.levels[ARCHITECTURE] if action_arch(action) else 0
    cdef const TileC* tile
    if number >= NUM_BUILDINGS:
        number -= NUM_BUILDINGS
        tile = &MONUMENTS[number]
        state.monuments &= <uint16_t>~(1 << number)
        seat.monuments |= <uint16_t>(1 << number)
        seat.skulls -= tile.cost[SKULL]
    else:
        tile = &BUILDINGS[number]
        state.display -= <uint64_t>1 << 2 * number
        seat.built += <uint64_t>1 << 2 * number
    if decision == BUILD_CORN:
        seat.corn -= <uint16_t>_price(seat, tile)
    else:
        for kind in range(NUM_BLOCKS):
            seat.blocks[kind] -= <uint16_t>(tile.cost[1 + kind] - action_blocks(action, kind))
    if action_tile(action) >= NUM_BUILDINGS:
        return
    seat.corn += level >= 1
    seat.score += 8 * (level >= 2)
    if decision == BUILD_TWO:
        _push(state, BUILD_SECOND_PLAIN if action_arch(action) else BUILD_SECOND)
    _apply_tile(state, tile)


cdef void _pay(SeatC* seat, action_t action, int sign) noexcept nogil:
    cdef int kind
    for kind in range(NUM_BLOCKS):
        seat.blocks[kind] += <uint16_t>(sign * action_blocks(action, kind))


cdef void _trade(TzolkinStateC* state, int decision, action_t action) noexcept nogil:
    cdef SeatC* seat = _mover(state)
    cdef int verb = action_verb(action), number = action_number(action), kind = 0
    while action_blocks(action, kind) == 0:
        kind += 1
    if not decision & TRADING:
        decision = TRADING
    if verb == SELL:
        seat.blocks[kind] -= <uint16_t>number
        seat.corn += <uint16_t>(number * PRICES[kind])
        _push(state, decision | 1 << kind)
    else:
        seat.blocks[kind] += <uint16_t>number
        seat.corn -= <uint16_t>(number * PRICES[kind])
        _push(state, decision | 8 << kind)


cdef void _answer(TzolkinStateC* state, action_t action) noexcept nogil:
    cdef int verb = action_verb(action), decision = _pop(state)
    cdef SeatC* seat = _mover(state)
    if verb == HARVEST:
        _harvest(state, decision - HARVEST_2, action_number(action) == 1)
    elif verb == BURN:
        state.wood_fields[decision - HARVEST_2] -= 1
        _harvest(state, decision - HARVEST_2, False)
        seat.temples[action_temple(action)] -= 1
    elif verb == RESEARCH:
        _pay(seat, action, -1)
        if decision == RESEARCH_TWO:
            _push(state, RESEARCH_MORE)
        elif decision == FREE_TWO:
            _push(state, FREE_ONE)
        _advance_track(state, action_temple(action))
    elif verb == BUILD:
        _build(state, decision, action)
    elif verb == CLIMB:
        _pay(seat, action, -1)
        _climb(state, action_temple(action))
        if action_second_temple(action) >= 0:
            _climb(state, action_second_temple(action))
    elif verb == TAKE:
        _pay(seat, action, 1)
    elif verb == SELL or verb == BUY:
        _trade(state, decision, action)
    elif verb == USE:
        seat.corn -= USE_CORN
        _use(state, action_gear(action), action_used(action))


# --- ends of turns and rounds

cdef void _feed(SeatC* seat) noexcept nogil:
    # As many as the corn allows, all workers alike (D20).
    cdef int cost = max(0, CORN_PER_WORKER - seat.discount)
    cdef int hungry = max(0, seat.workers - seat.free_workers)
    cdef int fed = min(hungry, seat.corn // cost) if cost > 0 else hungry
    seat.corn -= <uint16_t>(cost * fed)
    seat.score += 4 * UNFED_POINTS * (hungry - fed)


cdef void _mid_age_rewards(TzolkinStateC* state) noexcept nogil:
    cdef const uint8_t* rewards
    cdef int seat, temple, kind, due = 0
    cdef bint enough
    for seat in range(state.num_players):
        for temple in range(NUM_TEMPLES):
            due += TEMPLES[temple].rewards[state.seats[seat].temples[temple] - LOWEST][SKULL]
    enough = state_bank(state) >= due       # D8
    for seat in range(state.num_players):
        for temple in range(NUM_TEMPLES):
            rewards = TEMPLES[temple].rewards[state.seats[seat].temples[temple] - LOWEST]
            state.seats[seat].corn += rewards[CORN]
            for kind in range(NUM_BLOCKS):
                state.seats[seat].blocks[kind] += rewards[1 + kind]
            if enough:
                state.seats[seat].skulls += rewards[SKULL]


cdef void rules_temple_points(const TzolkinStateC* state, int age, int* points) noexcept nogil:
    cdef int seat, temple, best, leaders, step
    for seat in range(state.num_players):
        points[seat] = 0
    for temple in range(NUM_TEMPLES):
        best = LOWEST
        leaders = 0
        for seat in range(state.num_players):
            step = state.seats[seat].temples[temple]
            if step > best:
                best = step
                leaders = 0
            leaders += step == best
        for seat in range(state.num_players):
            step = state.seats[seat].temples[temple]
            points[seat] += TEMPLES[temple].points[step - LOWEST]
            if step == best:
                points[seat] += TEMPLES[temple].leader[age] // (1 if leaders == 1 else 2)


cdef void _food_day(TzolkinStateC* state) noexcept nogil:
    cdef int points[4]                  # by seat
    cdef int seat, number = state.food_days
    for seat in range(state.num_players):
        _feed(&state.seats[seat])
    state.food_days += 1
    if state.food_days == AGE_2:
        state.display = 0
    if IS_MID_AGE[number]:
        _mid_age_rewards(state)
        return
    rules_temple_points(state, number // AGE_2, points)
    for seat in range(state.num_players):
        state.seats[seat].score += 4 * points[seat]


cdef int rules_monument_points(const TzolkinStateC* state, int number, int monument) noexcept nogil:
    cdef const SeatC* seat = &state.seats[number]
    cdef const ScoringC* scoring = &SCORINGS[monument]
    cdef int i, total = 0, kind = scoring.kind
    if kind == OF_CATEGORY or kind == OF_ALL_TILES:
        for i in range(NUM_BUILDINGS):
            if kind == OF_ALL_TILES or BUILDINGS[i].category == scoring.category:
                total += counts_of(seat.built, i)
        for i in range(NUM_MONUMENTS):
            if kind == OF_ALL_TILES or MONUMENTS[i].category == scoring.category:
                total += seat.monuments >> i & 1
    elif kind == OF_CORN_TILES:
        total = seat.corn_tiles
    elif kind == OF_WOOD_TILES:
        total = seat.wood_tiles
    elif kind == OF_ALL_MONUMENTS:
        for i in range(state.num_players):
            total += set_size(state.seats[i].monuments)
        return scoring.by_number[state.num_players] * total
    elif kind == OF_FULL_TRACKS:
        for i in range(NUM_TRACKS):
            total += seat.levels[i] == TOP_LEVEL
        return scoring.by_number[total]
    elif kind == OF_LEVELS:
        for i in range(NUM_TRACKS):
            total += seat.levels[i]
    elif kind == OF_WORKERS:
        return scoring.by_number[seat.workers]
    elif kind == OF_TEMPLE_POINTS:
        for i in range(NUM_TEMPLES):
            total += TEMPLES[i].points[seat.temples[i] - LOWEST]
        return total
    elif kind == OF_BEST_TEMPLE:
        for i in range(NUM_TEMPLES):
            total = max(total, seat.temples[i])
    else:
        total = set_size(state.skulls_placed)
    return scoring.points * total


cdef void _final_points(TzolkinStateC* state) noexcept nogil:
    cdef SeatC* seat
    cdef int number, kind, monument, quarters
    for number in range(state.num_players):
        seat = &state.seats[number]
        quarters = seat.corn
        for kind in range(NUM_BLOCKS):
            quarters += seat.blocks[kind] * PRICES[kind]
        if state.whole_points:      # D13
            quarters &= ~3
        seat.score += quarters + 4 * SKULL_POINTS * seat.skulls
        for monument in range(NUM_MONUMENTS):
            if seat.monuments >> monument & 1:
                seat.score += 4 * rules_monument_points(state, number, monument)


cdef void _rotate(TzolkinStateC* state) noexcept nogil:
    """Turn the gears by a tooth: seats' workers after the last action go home, idle workers go round."""
    cdef int seat
    cdef uint64_t idle = state.workers[IDLE]
    for seat in range(state.num_players):
        state.workers[seat] = state.workers[seat] << 1 & SEAT_SPACES
        state.chichen[seat] = <uint16_t>(state.chichen[seat] << 1 & CHICHEN_SPACES)
    state.workers[IDLE] = (idle << 1 & TEETH) | (idle >> 9 & EACH_GEAR)
    state.chichen[IDLE] = <uint16_t>((state.chichen[IDLE] << 1 & CHICHEN_TEETH) | state.chichen[IDLE] >> 12)


cdef void _advance(TzolkinStateC* state, int days) noexcept nogil:
    cdef int user = state.start_space
    if user == NO_SEAT:
        state.teeth_corn += 1
    else:
        state.start_space = NO_SEAT
        # D4: who holds the marker already gives it to the left.
        state.start_player = <uint8_t>((user + 1) % state.num_players if state.start_player == user else user)
        if days == 2:
            state.seats[user].light = 0
    for _ in range(days):
        _rotate(state)
    state.day = <uint8_t>min(state.day + days, LAST_DAY)
    if state.food_days == NUM_FOOD_DAYS:
        state.phase = OVER
        state.to_move = 0
        _final_points(state)
    else:
        state.phase = TURN
        state.to_move = state.start_player


cdef void _end_turn(TzolkinStateC* state) noexcept nogil:
    cdef int user = state.start_space
    if user == state.to_move:
        _mover(state).corn += state.teeth_corn      # D3
        state.teeth_corn = 0
    state.turns += 1
    state.phase = TURN
    state.placed = 0
    state.last = NO_SPACE
    state.to_move = <uint8_t>((state.to_move + 1) % state.num_players)
    if state.to_move == state.start_player:
        if state.food_days < NUM_FOOD_DAYS and FOOD_DAYS[state.food_days] <= state.day:     # D1
            _food_day(state)
        if state.day < LAST_DAY and user != NO_SEAT and rules_can_double(state, user):
            state.phase = ADVANCING
            state.to_move = <uint8_t>user
        else:
            _advance(state, 1)
    if state.phase != OVER:     # D17: the next age's display is filled in its place
        state.reveal = <uint8_t>min(DISPLAY - counts_total(state.display), counts_total(state_deck(state)))


cdef void rules_apply_action(TzolkinStateC* state, action_t action) noexcept nogil:
    cdef int verb = action_verb(action), place
    if verb == PLACE:
        _place(state, action_gear(action))
    elif verb == END:
        _end_turn(state)
    elif verb == KEEP:
        _keep(state, action)
    elif verb == BEG:
        _mover(state).corn = BEG_TO
        _mover(state).temples[action_temple(action)] -= 1
    elif verb == ADVANCE:
        state.turns += 1
        _advance(state, action_number(action))
    elif verb == REVEAL:
        for place in range(state.reveal):
            state.display += <uint64_t>1 << 2 * action_revealed(action, place)
        state.reveal = 0
    else:
        if verb == PICK:
            _pick(state, action_gear(action), action_space(action), action_used(action))
        else:
            _answer(state, action)
        while state.num_pending > 0 and not rules_has_answer(state, state.pending[state.num_pending - 1]):
            _pop(state)     # D16


# --- random events

cdef bint rules_accepts_action(const TzolkinStateC* state, action_t action) noexcept nogil:
    cdef uint64_t deck
    cdef int place, kind, before = 0
    if state.reveal == 0 or action_verb(action) != REVEAL:
        return False
    if action & ~(action_of(REVEAL) | ((<action_t>1 << 5 * state.reveal) - 1)) != 0:
        return False
    deck = state_deck(state)
    for place in range(state.reveal):
        kind = action_revealed(action, place)
        if kind < before or kind >= NUM_BUILDINGS or counts_of(deck, kind) == 0:
            return False
        deck -= <uint64_t>1 << 2 * kind
        before = kind
    return True


cdef action_t rules_draw_outcome(const TzolkinStateC* state, bitgen_t* rng) noexcept nogil:
    cdef uint64_t deck = state_deck(state), rest, drawn = 0
    cdef int place = 0, k, left = counts_total(deck), kind
    cdef action_t action = action_of(REVEAL)
    for _ in range(state.reveal):
        k = rng_below(rng, left)
        left -= 1
        rest = counts_kinds(deck)
        while True:
            kind = set_first(rest) >> 1
            k -= counts_of(deck, kind)
            if k < 0:
                break
            rest &= rest - 1
        deck -= <uint64_t>1 << 2 * kind
        drawn += <uint64_t>1 << 2 * kind
    while drawn:
        kind = set_first(drawn) >> 1
        drawn -= <uint64_t>1 << 2 * kind
        action |= <action_t>(kind + 1) << 5 * place
        place += 1
    return action


# --- the result

cdef void rules_returns(const TzolkinStateC* state, double* shares) noexcept nogil:
    # D13: points, then workers on gears, then shared.
    cdef int64_t keys[4]                # by seat
    cdef int64_t best = 0
    cdef int seat, winners = 0
    for seat in range(state.num_players):
        keys[seat] = <int64_t>state.seats[seat].score * 8 + state_workers_on_gears(state, seat)
        if seat == 0 or keys[seat] > best:
            best = keys[seat]
    for seat in range(state.num_players):
        winners += keys[seat] == best
    for seat in range(state.num_players):
        shares[seat] = 1.0 / winners if keys[seat] == best else 0.0
