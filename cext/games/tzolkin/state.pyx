"""The state of Tzolk'in: its hash, its invariants, and its exchange with Python. No rules.

The struct and the layout of actions are documented in ``state.pxd``. The text forms are read, validated and written
by ``mexica_ai.games.tzolkin.notation``; here gears, tiles, decisions and seats are numbers.
"""

from libc.string cimport memcpy, memset

from cext.core.contract.rng cimport mix_bits, mix_require, mix_word
from cext.core.contract.sets cimport set_size
from cext.core.contract.types cimport MAX_SEATS


# --- hash

cdef extern from *:
    """
    static inline unsigned long long tzolkin_fold(unsigned long long a, unsigned long long b) {
        unsigned __int128 product = (unsigned __int128)a * b;
        return (unsigned long long)(product >> 64) ^ (unsigned long long)product;
    }
    """
    uint64_t fold "tzolkin_fold"(uint64_t a, uint64_t b) noexcept nogil

cdef enum:
    NUM_WORDS = sizeof(TzolkinStateC) // 8
    COUNTERS = 30       # the word of `turns`

cdef uint64_t _KEYS[NUM_WORDS]


def _make_keys():
    for i in range(NUM_WORDS):
        _KEYS[i] = mix_bits(1 + i)


_make_keys()


cdef extern from *:
    """
    #include <stddef.h>
    #define TZOLKIN_LAYOUT(state, counters) mix_require(offsetof(__typeof__(*(state)), turns) == 8 * (counters))
    """
    void _require_layout "TZOLKIN_LAYOUT"(const TzolkinStateC* state, int counters) noexcept nogil


cdef uint64_t state_key(const TzolkinStateC* state) noexcept nogil:
    # Each pair of words with keys of its own, so that all products can be computed at once.
    cdef const uint8_t* words = <const uint8_t*>state
    cdef uint64_t total = 0, first
    cdef int i
    mix_require(sizeof(TzolkinStateC) == 8 * NUM_WORDS)
    mix_require(NUM_WORDS % 2 == 0)
    _require_layout(state, COUNTERS)
    for i in range(0, NUM_WORDS, 2):
        first = 0 if i == COUNTERS else mix_word(words + 8 * i)
        total += fold(first ^ _KEYS[i], mix_word(words + 8 * (i + 1)) ^ _KEYS[i + 1])
    return mix_bits(total)


cdef uint64_t state_hash(const TzolkinStateC* state, int viewer) noexcept nogil:
    cdef TzolkinStateC seen
    cdef int seat
    if viewer < 0 and state.viewer != NO_SEAT:
        # What is unknown is no part of the position, whatever stands in for it.
        return mix_bits(state_hash(state, state.viewer) + 1 + state.viewer)
    if viewer < 0 or state.phase != KEEPING:
        return state_key(state)
    memcpy(&seen, state, sizeof(TzolkinStateC))
    seen.viewer = NO_SEAT
    for seat in range(state.num_players):
        if seat != viewer:
            seen.seats[seat].dealt = seen.seats[seat].wealth = 0
    return state_key(&seen)


# --- invariants

if MAX_PENDING < MAX_PENDING_GIVEN + 3:
    raise ImportError("no room for the decisions that an answer leaves")

cdef enum:              # broken invariants; _CHECK_NAMES has their names in this order
    SEATS = 1
    CLOCK
    TURNS
    WORKERS_OUT
    IDLE_WORKERS_OUT
    SKULLS_HELD
    STEPS
    STOCKS
    TILES
    HARVEST_TILES
    WEALTH_TILES
    PENDING
    NUM_CHECKS

cdef const char* _CHECK_NAMES[NUM_CHECKS]
_CHECK_NAMES[:] = [b"", b"seats", b"clock", b"turn", b"workers", b"idle workers", b"skulls", b"temples", b"stocks",
                   b"tiles", b"fields", b"wealth", b"pending"]


cdef const char* state_check_name(int code) noexcept nogil:
    return _CHECK_NAMES[code]


cdef int _check_workers(const TzolkinStateC* state) noexcept nogil:
    cdef int owner, gear, spaces, everybody, idle = 0
    for gear in range(NUM_GEARS):
        everybody = 0
        for owner in range(IDLE + 1):
            spaces = state_spaces(state, owner, gear)
            if spaces & everybody or spaces >> GEARS[gear].teeth != 0:
                return WORKERS_OUT
            if owner < IDLE and (spaces >> (GEARS[gear].last + 1) != 0 or (spaces and owner >= state.num_players)):
                return WORKERS_OUT
            everybody |= spaces
        idle += set_size(state_spaces(state, IDLE, gear))
    if idle != IDLE_WORKERS[state.num_players]:
        return IDLE_WORKERS_OUT
    for owner in range(state.num_players):
        if (not MIN_WORKERS <= state.seats[owner].workers <= MAX_WORKERS
                or state_workers_out(state, owner) > state.seats[owner].workers):
            return WORKERS_OUT
    return 0


cdef int _check_tiles(const TzolkinStateC* state) noexcept nogil:
    cdef int kind, seat, total, monuments = 0, free_workers, discount, number
    cdef int all_monuments = state.monuments
    for kind in range(NUM_BUILDINGS):
        total = counts_of(state.display, kind)
        for seat in range(MAX_SEATS):
            total += counts_of(state.seats[seat].built, kind)
        if total > BUILDINGS[kind].copies or (counts_of(state.display, kind)
                                              and BUILDINGS[kind].age != state_age(state)):
            return TILES
    monuments = set_size(state.monuments)
    for seat in range(MAX_SEATS):
        all_monuments |= state.seats[seat].monuments
        monuments += set_size(state.seats[seat].monuments)
        free_workers = discount = 0
        for kind in range(NUM_BUILDINGS):
            number = counts_of(state.seats[seat].built, kind)
            free_workers += number * BUILDINGS[kind].free_workers
            discount += number * BUILDINGS[kind].discount
        if state.phase != KEEPING:
            for kind in range(NUM_WEALTH):
                if state.seats[seat].wealth >> kind & 1:
                    free_workers += WEALTH[kind].free_workers
                    discount += WEALTH[kind].discount
        if free_workers != state.seats[seat].free_workers or discount != state.seats[seat].discount:
            return TILES
    if (monuments != NUM_MONUMENTS_OPEN[state.num_players] or set_size(all_monuments) != monuments
            or all_monuments >> NUM_MONUMENTS != 0 or counts_total(state.display) + state.reveal > DISPLAY):
        return TILES
    return 0


cdef int _check_wealth(const TzolkinStateC* state) noexcept nogil:
    cdef uint64_t everything = 0
    cdef int i, seat, total = state.num_drawn
    cdef const SeatC* holder
    if state.num_drawn > MAX_DRAWN or (state.phase != KEEPING and state.num_drawn > 0):
        return WEALTH_TILES
    for i in range(state.num_drawn):
        everything |= <uint64_t>1 << state.drawn[i]
    for seat in range(state.num_players):
        holder = &state.seats[seat]
        if state.phase == KEEPING:
            if (set_size(holder.dealt) != NUM_DEALT or holder.wealth & ~holder.dealt
                    or set_size(holder.wealth) != (NUM_KEPT if seat < state.to_move else 0)):
                return WEALTH_TILES
            everything |= holder.dealt
            total += NUM_DEALT
        else:
            if holder.dealt or set_size(holder.wealth) != NUM_KEPT:
                return WEALTH_TILES
            everything |= holder.wealth
            total += NUM_KEPT
    if set_size(everything) != total or everything >> NUM_WEALTH != 0:
        return WEALTH_TILES
    return 0


cdef int _check_seats(const TzolkinStateC* state) noexcept nogil:
    cdef const SeatC* seat
    cdef int number, temple, other, corn = 0, wood = 0, corn_taken = 0, wood_taken = 0
    for number in range(MAX_SEATS):
        seat = &state.seats[number]
        corn_taken += seat.corn_tiles
        wood_taken += seat.wood_tiles
        for temple in range(NUM_TEMPLES):
            if not LOWEST <= seat.temples[temple] <= TEMPLES[temple].top:
                return STEPS
            for other in range(number):
                if seat.temples[temple] == TEMPLES[temple].top == state.seats[other].temples[temple]:
                    return STEPS
        for other in range(NUM_TRACKS):
            if seat.levels[other] > TOP_LEVEL:
                return STOCKS
        # An amount below 0 would be a large one here.
        if seat.corn > 32000 or seat.blocks[0] > 32000 or seat.blocks[1] > 32000 or seat.blocks[2] > 32000:
            return STOCKS
    for number in range(NUM_FIELDS):
        if (state.corn_fields[number] > state.num_players
                or state.wood_fields[number] > (state.corn_fields[number] if number > 0 else 0)):
            return HARVEST_TILES
        corn += FIELD_TILES[state.num_players] - state.corn_fields[number]
        wood += (FIELD_TILES[state.num_players] if number > 0 else 0) - state.wood_fields[number]
    if corn_taken != corn or wood_taken > wood:
        return HARVEST_TILES
    return 0


cdef int state_check(const TzolkinStateC* state) noexcept nogil:
    cdef int i, code
    if not 2 <= state.num_players <= MAX_SEATS or state.to_move >= state.num_players:
        return SEATS
    if (state.start_player >= state.num_players
            or (state.start_space != NO_SEAT and state.start_space >= state.num_players)
            or (state.viewer < SPECTATOR and state.viewer >= state.num_players)):
        return SEATS
    if not 1 <= state.day <= LAST_DAY or state.food_days > NUM_FOOD_DAYS or state.teeth_corn > state.day:
        return CLOCK
    if (state.phase > OVER or (state.placed > 0) != (state.phase == PLACING)
            or (state.reveal > 0 and state.phase != TURN and state.phase != ADVANCING)
            or (state.last != NO_SPACE and (state.phase != PLACING and state.phase != PICKING))):
        return TURNS
    if state.num_pending > MAX_PENDING or (state.num_pending > 0 and state.phase != PICKING):
        return PENDING
    for i in range(MAX_PENDING):
        if (state.pending[i] == 0) != (i >= state.num_pending):
            return PENDING
    if state.skulls_placed & 1 or state.skulls_placed >> (NUM_ACTIONS + 1) != 0 or state_bank(state) < 0:
        return SKULLS_HELD
    code = _check_workers(state)
    if code == 0:
        code = _check_seats(state)
    if code == 0:
        code = _check_tiles(state)
    if code == 0:
        code = _check_wealth(state)
    return code


# --- exchange with Python

cdef uint64_t _counts(kinds) except? 0:
    """Counts of two bits of a list of kinds of buildings."""
    cdef uint64_t counts = 0
    cdef int kind
    for kind in kinds:
        if not 0 <= kind < NUM_BUILDINGS or counts_of(counts, kind) == 3:
            raise ValueError("no such buildings, or more than there are")
        counts += <uint64_t>1 << 2 * kind
    return counts


cdef uint32_t _set(members, int limit) except? 0:
    cdef uint32_t found = 0
    cdef int member
    for member in members:
        if not 0 <= member < limit:
            raise ValueError(f"{member} is not below {limit}")
        found |= <uint32_t>1 << member
    return found


cdef list _kinds(uint64_t counts):
    """The kinds of buildings, ascending, each as often as it is there."""
    return [kind for kind in range(NUM_BUILDINGS) for _ in range(counts_of(counts, kind))]


cdef list _members(uint64_t members):
    return [member for member in range(32) if members >> member & 1]


cdef int _fill_gears(TzolkinStateC* state, list gears) except -1:
    cdef int gear, space, owner
    for gear, owners in enumerate(gears):
        if gear >= NUM_GEARS or len(owners) != GEARS[gear].teeth:
            raise ValueError("gears of another size")
        for space, owner in enumerate(owners):
            if owner > IDLE:
                raise ValueError("a worker of nobody")
            if owner >= 0 and gear == CHICHEN:
                state.chichen[owner] |= <uint16_t>(1 << space)
            elif owner >= 0:
                state.workers[owner] |= <uint64_t>1 << (16 * gear + space)
    return 0


cdef int _fill_seat(TzolkinStateC* state, int number, dict fields) except -1:
    cdef SeatC* seat = &state.seats[number]
    cdef int i, kind
    seat.score, seat.corn, seat.skulls = fields["score"], fields["corn"], fields["skulls"]
    seat.workers, seat.light = fields["workers"], fields["light"]
    seat.corn_tiles, seat.wood_tiles = fields["corn_tiles"], fields["wood_tiles"]
    for i in range(NUM_BLOCKS):
        seat.blocks[i] = fields["blocks"][i]
    for i in range(NUM_TEMPLES):
        seat.temples[i] = fields["temples"][i]
    for i in range(NUM_TRACKS):
        seat.levels[i] = fields["levels"][i]
    seat.built = _counts(fields["buildings"])
    seat.monuments = <uint16_t>_set(fields["monuments"], NUM_MONUMENTS)
    seat.wealth = _set([tile for tile in fields["wealth"] if tile >= 0], NUM_WEALTH)
    seat.dealt = _set([tile for tile in fields["dealt"] if tile >= 0], NUM_WEALTH)
    for kind in fields["buildings"]:
        seat.free_workers += BUILDINGS[kind].free_workers
        seat.discount += BUILDINGS[kind].discount
    if state.phase != KEEPING:
        for kind in fields["wealth"]:
            seat.free_workers += WEALTH[kind].free_workers
            seat.discount += WEALTH[kind].discount
    return 0


cdef int _fill_unknown(TzolkinStateC* state, list seats) except -1:
    # Any tiles will do for those that the viewer does not know.
    cdef uint32_t seen = 0
    cdef int number, i
    for i in range(state.num_drawn):
        seen |= <uint32_t>1 << state.drawn[i]
    for number in range(state.num_players):
        seen |= state.seats[number].dealt
    unseen = [tile for tile in range(NUM_WEALTH) if not seen >> tile & 1]
    for number, fields in enumerate(seats):
        if -1 not in fields["dealt"]:
            continue
        dealt, unseen = unseen[: len(fields["dealt"])], unseen[len(fields["dealt"]):]
        state.seats[number].dealt = _set(dealt, NUM_WEALTH)
        state.seats[number].wealth = _set(dealt[: len(fields["wealth"])], NUM_WEALTH)
    return 0


cdef int state_fill(TzolkinStateC* state, dict fields) except -1:
    cdef int i, number
    memset(state, 0, sizeof(TzolkinStateC))
    state.num_players = fields["num_players"]
    if not 2 <= state.num_players <= MAX_SEATS or len(fields["seats"]) != state.num_players:
        raise ValueError("expected two to four seats, and an entry of `seats` for each")
    if len(fields["pending"]) > MAX_PENDING_GIVEN or len(fields["drawn"]) > MAX_DRAWN:
        raise ValueError("more decisions or drawn tiles than there is room for")
    state.whole_points = fields["whole_points"]
    state.viewer = NO_SEAT if fields["viewer"] < 0 else fields["viewer"]
    state.phase, state.day, state.food_days = fields["phase"], fields["day"], fields["food_days"]
    state.start_player, state.to_move, state.placed = fields["start_player"], fields["to_move"], fields["placed"]
    state.last = NO_SPACE if fields["last"] < 0 else fields["last"]
    state.reveal, state.teeth_corn = fields["reveal"], fields["teeth_corn"]
    state.start_space = NO_SEAT if fields["start_space"] < 0 else fields["start_space"]
    state.num_pending = len(fields["pending"])
    for i, number in enumerate(reversed(fields["pending"])):
        state.pending[i] = number
    state.num_drawn = len(fields["drawn"])
    _set(fields["drawn"], NUM_WEALTH)
    for i, number in enumerate(fields["drawn"]):
        state.drawn[i] = number
    state.skulls_placed = <uint16_t>_set(fields["skulls_placed"], NUM_ACTIONS + 1)
    for i in range(NUM_FIELDS):
        state.corn_fields[i], state.wood_fields[i] = fields["corn_fields"][i], fields["wood_fields"][i]
    state.display = _counts(fields["display"])
    state.monuments = <uint16_t>_set(fields["monuments"], NUM_MONUMENTS)
    _fill_gears(state, fields["gears"])
    for i in range(state.num_players):
        _fill_seat(state, i, fields["seats"][i])
    _fill_unknown(state, fields["seats"])
    return 0


cdef dict _describe_seat(const TzolkinStateC* state, int number):
    cdef const SeatC* seat = &state.seats[number]
    cdef int i
    cdef bint hidden = state.viewer != NO_SEAT and state.viewer != number
    wealth, dealt = _members(seat.wealth), _members(seat.dealt)
    return {
        "score": seat.score,
        "corn": seat.corn,
        "blocks": [seat.blocks[i] for i in range(NUM_BLOCKS)],
        "skulls": seat.skulls,
        "workers": seat.workers,
        "light": seat.light,
        "corn_tiles": seat.corn_tiles,
        "wood_tiles": seat.wood_tiles,
        "temples": [seat.temples[i] for i in range(NUM_TEMPLES)],
        "levels": [seat.levels[i] for i in range(NUM_TRACKS)],
        "buildings": _kinds(seat.built),
        "monuments": _members(seat.monuments),
        "wealth": [-1] * len(wealth) if hidden else wealth,
        "dealt": [-1] * len(dealt) if hidden else dealt,
    }


cdef list _describe_gear(const TzolkinStateC* state, int gear):
    cdef int owner, space
    owners = [-1] * GEARS[gear].teeth
    for owner in range(IDLE + 1):
        for space in range(GEARS[gear].teeth):
            if state_spaces(state, owner, gear) >> space & 1:
                owners[space] = owner
    return owners


cdef dict state_describe(const TzolkinStateC* state):
    cdef int i
    return {
        "num_players": state.num_players,
        "whole_points": state.whole_points,
        "viewer": -1 if state.viewer == NO_SEAT else state.viewer,
        "phase": state.phase,
        "day": state.day,
        "food_days": state.food_days,
        "start_player": state.start_player,
        "to_move": state.to_move,
        "placed": state.placed,
        "last": -1 if state.last == NO_SPACE else state.last,
        "pending": [state.pending[i] for i in range(state.num_pending - 1, -1, -1)],
        "reveal": state.reveal,
        "start_space": -1 if state.start_space == NO_SEAT else state.start_space,
        "teeth_corn": state.teeth_corn,
        "gears": [_describe_gear(state, i) for i in range(NUM_GEARS)],
        "skulls_placed": _members(state.skulls_placed),
        "corn_fields": [state.corn_fields[i] for i in range(NUM_FIELDS)],
        "wood_fields": [state.wood_fields[i] for i in range(NUM_FIELDS)],
        "display": _kinds(state.display),
        "monuments": _members(state.monuments),
        "drawn": [state.drawn[i] for i in range(state.num_drawn)],
        "seats": [_describe_seat(state, i) for i in range(state.num_players)],
    }
