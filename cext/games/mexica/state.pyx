"""The state of Mexica: its hash, its invariants, and its exchange with Python. No rules.

The struct and the layout of actions are documented in ``state.pxd``. The text forms are read, validated and written
by ``mexica_ai.games.mexica.notation``; here a space is a cell number.
"""

from libc.string cimport memset

from cext.core.contract.types cimport MAX_SEATS
from cext.games.mexica.board cimport PRINTED_CANALS
from cext.games.mexica.rows cimport (rows_add, rows_any, rows_count, rows_flood, rows_has, rows_list, rows_none,
                                     rows_of, zobrist)


cdef uint64_t _pack_sizes(const uint8_t* counts) noexcept nogil:
    """Pack counts of tokens by size, four bits each: display, removed and upcoming have at most 15 tokens."""
    cdef uint64_t packed = 0
    cdef int size
    for size in range(MIN_SIZE, MAX_SIZE + 1):
        packed = (packed << 4) | counts[size]
    return packed


cdef uint64_t state_hash(const MexicaStateC* state, int viewer) noexcept nogil:
    cdef uint64_t turn, scores = 0, seats = 0
    cdef int seat
    turn = (<uint64_t>state.round | (<uint64_t>state.num_players << 24) | (<uint64_t>state.phase << 27)
            | (<uint64_t>state.period << 29) | (<uint64_t>state.to_move << 31)
            | (<uint64_t>state.action_points << 33) | (<uint64_t>state.tokens_taken << 36)
            | (<uint64_t>state.idle_rounds << 38) | (<uint64_t>state.built_this_round << 41)
            | (<uint64_t>state.singles << 42) | (<uint64_t>state.doubles << 45)
            | (<uint64_t>state.chance_due << 51))
    for seat in range(MAX_SEATS):
        scores = (scores << 14) | state.score[seat]
        seats = (seats << 13) | (<uint64_t>state.pilli[seat] << 4) | state.action_tokens[seat]
    turn = (state.board_hash ^ zobrist(FACT_TURN, turn) ^ zobrist(FACT_SCORES, scores) ^ zobrist(FACT_SEATS, seats)
            ^ zobrist(FACT_DISPLAY, _pack_sizes(state.display)) ^ zobrist(FACT_REMOVED, _pack_sizes(state.removed)))
    # No player knows the tokens of the second period, unless they follow from what all have seen.
    if viewer < 0 and state.upcoming_known:
        turn ^= zobrist(FACT_UPCOMING, _pack_sizes(state.upcoming) + 1)
    return turn


cdef int _level_at(const MexicaStateC* state, int cell) noexcept nogil:
    """Return the level of the temple on a cell."""
    return 1 + rows_has(&state.level_low, cell) + 2 * rows_has(&state.level_high, cell)


cdef uint64_t state_board_hash(const MexicaStateC* state) noexcept nogil:
    cdef uint64_t total = 0
    cdef uint64_t cells[512]            # all bits of a rows_t
    cdef int i, n, axis, owner, cell
    for i in range(MIN_SIZE, MAX_SIZE + 1):
        total ^= zobrist(FACT_POOL, (<uint64_t>i << 8) | state.pool[i])
    n = rows_list(&state.canals, 0, 1, cells)
    for i in range(n):
        total ^= zobrist(FACT_CANAL, cells[i])
    for axis in range(2):
        n = rows_list(&state.bridges[axis], 0, 1, cells)
        for i in range(n):
            total ^= zobrist(FACT_BRIDGE, (cells[i] << 1) | <uint64_t>axis)
    for owner in range(NUM_OWNERS):
        n = rows_list(&state.temples[owner], 0, 1, cells)
        for i in range(n):
            cell = <int>cells[i]
            total ^= zobrist(FACT_TEMPLE, (cells[i] << 6) | <uint64_t>((owner << 3) | _level_at(state, cell)))
    for i in range(state.num_placed):
        total ^= zobrist(FACT_PLACED, (<uint64_t>state.placed_at[i] << 4) | state.placed_size[i])
    return total


cdef void state_find_district(MexicaStateC* state) noexcept nogil:
    cdef int cell = state.pilli[state.to_move]
    state.district = rows_flood(rows_of(cell), state_dry(state)) if cell != 0 else rows_none()
    state.district_size = <uint8_t>rows_count(state.district)


# --- invariants

cdef enum:
    SEATS = 1
    CLOCK
    ACTION_POINTS
    ACTION_TOKENS
    CANALS
    BRIDGES
    TEMPLES
    BUILDINGS
    CALPULLI
    FOUNDED_DISTRICTS
    PILLIS
    DISTRICT
    HASH


# By number.
cdef const char* _CHECK_NAMES[HASH + 1]
_CHECK_NAMES[:] = ["none", "seats", "clock", "action points", "action tokens", "canals",
                   "bridges", "temples", "buildings", "calpulli", "founded districts", "pillis",
                   "district of the pilli to move", "hash"]


cdef const char* state_check_name(int code) noexcept nogil:
    return _CHECK_NAMES[code]


cdef int state_check(const MexicaStateC* state) noexcept nogil:
    cdef rows_t everything = rows_none(), founded = rows_none(), pillis = rows_none(), district
    cdef int seat, owner, i, total, shown, cell
    cdef int on_board[5]
    if not 2 <= state.num_players <= MAX_SEATS or state.to_move >= state.num_players:
        return SEATS
    if (state.phase > OVER or not 1 <= state.period <= 2 or state.round < 0 or state.idle_rounds > 4
            or (state.round == 0) != (state.phase == PLACEMENT)):
        return CLOCK
    if state.action_points > TURN_AP or state.tokens_taken > TOKENS_PER_TURN:
        return ACTION_POINTS
    total = 0
    for seat in range(MAX_SEATS):
        total += state.action_tokens[seat]
    if total > TOKEN_SUPPLY:
        return ACTION_TOKENS
    if (rows_any(state.canals & ~BUILDABLE) or rows_any(PRINTED_CANALS & ~state.canals) or state.singles > 6
            or state.doubles > 35
            or rows_count(state.canals) != 4 + (6 - state.singles) + 2 * (35 - state.doubles)):
        return CANALS
    if (rows_any(state.bridges[0] & state.bridges[1]) or rows_any(state_bridges(state) & ~state.canals)
            or rows_any(state_ramps(state) & ~state_dry(state))
            or rows_count(state_bridges(state)) + state.bridges_left != BRIDGE_SUPPLY):
        return BRIDGES
    for owner in range(NUM_OWNERS):
        if rows_any(everything & state.temples[owner]):
            return TEMPLES
        everything = everything | state.temples[owner]
        if owner < NEUTRAL:
            _count_levels(state, owner, on_board)
            for i in range(4):
                total = on_board[i + 1] + state.stock[owner][i]
                if total != (_start_stock(i, state.period) if owner < state.num_players else 0):
                    return TEMPLES
    if rows_any((state.level_low | state.level_high) & ~everything):
        return TEMPLES
    shown = 0
    for i in range(state.num_placed):
        cell = state.placed_at[i]
        if not rows_any(rows_of(cell) & BUILDABLE) or rows_has(&everything, cell):
            return BUILDINGS
        rows_add(&everything, cell)
        district = rows_flood(rows_of(cell), state_dry(state))
        if rows_count(district) != state.placed_size[i] or rows_any(founded & district):
            return FOUNDED_DISTRICTS
        founded = founded | district
    if rows_any(everything ^ state.buildings) or rows_any(everything & ~(BUILDABLE & ~state.canals)):
        return BUILDINGS
    if rows_any(founded ^ state.founded):
        return FOUNDED_DISTRICTS
    total = 0
    for i in range(14):
        total += state.display[i]
        shown += state.display[i] + state.removed[i]
    if total != state.num_display or shown + state.num_placed != (
            FIRST_DEAL if state.period == 1 else FIRST_DEAL + SECOND_DEAL):
        return CALPULLI
    for seat in range(MAX_SEATS):
        cell = state.pilli[seat]
        if cell == 0:
            if seat < state.num_players and state.phase != PLACEMENT:
                return PILLIS
            continue
        if seat >= state.num_players or rows_has(&pillis, cell) or rows_has(&everything, cell):
            return PILLIS
        if not rows_any(rows_of(cell) & (state_dry(state) | state_bridges(state))):
            return PILLIS
        rows_add(&pillis, cell)
    if rows_any(pillis ^ state.pillis):
        return PILLIS
    cell = state.pilli[state.to_move]
    district = rows_flood(rows_of(cell), state_dry(state)) if cell != 0 else rows_none()
    if rows_any(district ^ state.district) or state.district_size != rows_count(district):
        return DISTRICT
    if state_board_hash(state) != state.board_hash:
        return HASH
    return 0


cdef void _count_levels(const MexicaStateC* state, int owner, int* on_board) noexcept nogil:
    """Count the temples of an owner by level, in on_board[1] to on_board[4]."""
    cdef rows_t own = state.temples[owner], low = state.level_low, high = state.level_high
    on_board[1] = rows_count(own & ~low & ~high)
    on_board[2] = rows_count(own & low & ~high)
    on_board[3] = rows_count(own & ~low & high)
    on_board[4] = rows_count(own & low & high)


cdef int _start_stock(int level_index, int period) noexcept nogil:
    """Return the number of temples that a seat has received: 3, 3, 2, 1 by level, and 3, 2, 2, 2 more in period 2."""
    cdef int first = 3 if level_index < 2 else 4 - level_index
    cdef int second = 3 if level_index == 0 else 2
    return first if period == 1 else first + second


# --- exchange with Python

cdef _fill_sizes(uint8_t* counts, sizes):
    """Add a list of sizes to counts by size."""
    for size in sizes:
        counts[size] += 1


cdef _list_sizes(const uint8_t* counts):
    """Return counts by size as a list of sizes, ascending."""
    return [size for size in range(MIN_SIZE, MAX_SIZE + 1) for _ in range(counts[size])]


cdef _list_cells(const rows_t* cells):
    """Return a set of cells as a list, in reading order."""
    cdef uint64_t buffer[512]           # all bits of a rows_t
    cdef int i, n = rows_list(cells, 0, 1, buffer)
    return [buffer[i] for i in range(n)]


cdef void state_fill(MexicaStateC* state, dict fields) except *:
    cdef int cell, owner, level, i
    calpulli = fields["calpulli"]
    memset(state, 0, sizeof(MexicaStateC))
    state.num_players = fields["players"]
    state.phase = ("placement", "play", "over").index(fields["phase"])
    state.period = fields["period"]
    state.round = fields["round"]
    state.to_move = fields["to_move"]
    state.action_points = fields["action_points"]
    state.tokens_taken = fields["tokens_taken"]
    state.idle_rounds = fields["idle_rounds"]
    state.built_this_round = fields["built_this_round"]
    for cell in fields["canals"]:
        rows_add(&state.canals, cell)
    state.singles = fields["canal_tiles"]["single"]
    state.doubles = fields["canal_tiles"]["double"]
    state.bridges_left = BRIDGE_SUPPLY
    for bridge in fields["bridges"]:
        rows_add(&state.bridges[EW if bridge["axis"] == "ew" else NS], bridge["at"])
        state.bridges_left -= 1
    for temple in fields["temples"]:
        cell = temple["at"]
        level = temple["level"] - 1
        owner = temple["seat"] if temple["seat"] >= 0 else NEUTRAL
        rows_add(&state.temples[owner], cell)
        rows_add(&state.buildings, cell)
        if level & 1:
            rows_add(&state.level_low, cell)
        if level & 2:
            rows_add(&state.level_high, cell)
    for placed in calpulli["placed"]:
        cell = placed["at"]
        state.placed_at[state.num_placed] = cell
        state.placed_size[state.num_placed] = placed["size"]
        state.num_placed += 1
        rows_add(&state.buildings, cell)
        state.founded = state.founded | rows_flood(rows_of(cell), state_dry(state))
    for i, seat in enumerate(fields["seats"]):
        state.score[i] = seat["score"]
        state.action_tokens[i] = seat["action_tokens"]
        state.pilli[i] = seat["pilli"]
        if state.pilli[i] != 0:
            rows_add(&state.pillis, state.pilli[i])
        for level in range(4):
            state.stock[i][level] = seat["temples"][level]
    _fill_sizes(state.pool, calpulli["pool"])
    state.is_hidden = len(calpulli["pool"]) > FIRST_DEAL + SECOND_DEAL
    _fill_sizes(state.display, calpulli["display"])
    _fill_sizes(state.removed, calpulli["removed"])
    state.num_display = <uint8_t>len(calpulli["display"])
    if calpulli["upcoming"] is not None:
        _fill_sizes(state.upcoming, calpulli["upcoming"])
        state.upcoming_known = 1
    # D5 may remove tokens of this display after the next action.
    state.display_due = 1
    state_find_district(state)
    state.board_hash = state_board_hash(state)


cdef dict state_describe(const MexicaStateC* state):
    cdef int i, axis, cell, owner
    temples = []
    for owner in range(NUM_OWNERS):
        for cell in _list_cells(&state.temples[owner]):
            temples.append({"at": cell, "seat": owner if owner != NEUTRAL else -1, "level": _level_at(state, cell)})
    bridges = [{"at": cell, "axis": ("ns", "ew")[axis]} for axis in range(2)
               for cell in _list_cells(&state.bridges[axis])]
    placed = [{"at": state.placed_at[i], "size": state.placed_size[i]} for i in range(state.num_placed)]
    return {
        "players": state.num_players,
        "phase": ("placement", "play", "over")[state.phase],
        "period": state.period,
        "round": state.round,
        "to_move": state.to_move,
        "action_points": state.action_points,
        "tokens_taken": state.tokens_taken,
        "idle_rounds": state.idle_rounds,
        "built_this_round": bool(state.built_this_round),
        "seats": [{"score": state.score[i], "action_tokens": state.action_tokens[i], "pilli": state.pilli[i],
                   "temples": [state.stock[i][level] for level in range(4)]} for i in range(state.num_players)],
        "canals": _list_cells(&state.canals),
        "canal_tiles": {"single": state.singles, "double": state.doubles},
        "bridges": sorted(bridges, key=lambda bridge: bridge["at"]),
        "temples": sorted(temples, key=lambda temple: temple["at"]),
        "calpulli": {
            "pool": _list_sizes(state.pool),
            "display": _list_sizes(state.display),
            "placed": sorted(placed, key=lambda token: token["at"]),
            "removed": _list_sizes(state.removed),
            "upcoming": _list_sizes(state.upcoming) if state.upcoming_known else None,
        },
    }
