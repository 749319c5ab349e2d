"""The rules of Mexica on `MexicaStateC`; contracts in ``rules.pxd``.

Source: English rulebook (Super Meeple / Iello 2015), chapters in comments; decisions D1-D8: docs/games/mexica.md.
"""

from libc.string cimport memset

from cext.games.mexica.board cimport STARTS, WATER
from cext.games.mexica.rows cimport (rows_add, rows_beside, rows_count, rows_first, rows_flood, rows_list, rows_remove,
                                     zobrist)
from cext.games.mexica.state cimport *


# --- moving on foot and by boat (4E)

cdef int rules_walks(const MexicaStateC* state, int seat, int* cells) noexcept nogil:
    cdef int here = state.pilli[seat], n = 0, i, cell, axis
    cdef int[4] steps = [-32, -1, 1, 32]
    cdef bint is_on_bridge
    if here == 0:
        return 0
    is_on_bridge = not _is_dry(state, here)
    for i in range(4):
        cell = here + steps[i]
        axis = EW if i == 1 or i == 2 else NS
        if is_on_bridge and not rows_has(&state.bridges[axis], here):
            continue
        if rows_has(&state.buildings, cell) or rows_has(&state.pillis, cell):
            continue
        if _is_dry(state, cell) or (not is_on_bridge and rows_has(&state.bridges[axis], cell)):
            cells[n] = cell
            n += 1
    return n


cdef inline bint _is_dry(const MexicaStateC* state, int cell) noexcept nogil:
    """Return whether a cell is land without a canal."""
    return rows_has(&LAND, cell) and not rows_has(&state.canals, cell)


cdef rows_t rules_sails(const MexicaStateC* state, int seat, int budget, uint8_t* costs) noexcept nogil:
    # Breadth-first over bridges: each step floods the open water from the bridges that it passes (D3: one action passes
    # only occupied bridges).
    cdef rows_t bridges = state_bridges(state)
    cdef rows_t open_water = (WATER | state.canals) & ~bridges
    cdef rows_t frontier, reached, here, targets = rows_none()
    cdef uint64_t cells[512]            # all bits of a rows_t
    cdef int cost, i, n
    if state.pilli[seat] == 0 or not rows_has(&bridges, state.pilli[seat]):
        return targets
    here = rows_of(state.pilli[seat])
    frontier = here
    bridges = bridges & ~here
    for cost in range(1, budget + 1):
        reached = rows_flood(rows_beside(frontier), open_water) | frontier
        reached = rows_beside(reached) & bridges
        if not rows_any(reached):
            break
        bridges = bridges & ~reached
        frontier = reached & state.pillis
        reached = reached & ~state.pillis
        targets = targets | reached
        if costs != NULL:
            n = rows_list(&reached, 0, 1, cells)
            for i in range(n):
                costs[cells[i]] = <uint8_t>cost
        if not rows_any(frontier):
            break
    return targets


# --- D4: in the first round no pilli may be trapped

cdef rows_t _exits(const MexicaStateC* state, int seat) noexcept nogil:
    """Return where a pilli could go by one walk or sail, with unlimited AP."""
    cdef int cells[4]                   # one for each neighbour
    cdef int i, n = rules_walks(state, seat, cells)
    cdef rows_t exits = rules_sails(state, seat, BRIDGE_SUPPLY, NULL)
    for i in range(n):
        rows_add(&exits, cells[i])
    return exits


cdef int rules_find_narrow(const MexicaStateC* state, NarrowC* narrow) noexcept nogil:
    # One action closes at most two exits (a double canal), so three or more are safe.
    cdef int seat, n = 0
    cdef rows_t exits
    if state.round != 1:
        return 0
    for seat in range(state.num_players):
        if seat != state.to_move:
            exits = _exits(state, seat)
            if rows_any(exits) and rows_count(exits) <= 2:
                narrow[n].seat = seat
                narrow[n].exits = exits
                n += 1
    return n


cdef inline rows_t _closed_by(action_t action) noexcept nogil:
    """Return a set that includes every space that the action closes to pillis."""
    cdef int verb = action_verb(action)
    if verb == CANAL and action_second(action) != 0:
        return rows_of(action_first(action)) | rows_of(action_second(action))
    if verb == BRIDGE or verb == TOKEN or verb == END:
        return rows_none()
    return rows_of(action_first(action))


cdef bint rules_traps(const MexicaStateC* state, action_t action, const NarrowC* narrow,
                      int num_narrow) noexcept nogil:
    cdef MexicaStateC after
    cdef rows_t open_cells = ~_closed_by(action)
    cdef int i
    for i in range(num_narrow):
        if not rows_any(narrow[i].exits & open_cells):
            # The known exits are closed; the action may have opened another one.
            after = state[0]
            _play(&after, action)
            if not rows_any(_exits(&after, narrow[i].seat)):
                return True
    return False


# --- legal actions

cdef inline int _list(rows_t cells, int verb, int argument, action_t* actions) noexcept nogil:
    """List an action for each cell; return their number."""
    return rows_list(&cells, action_make(verb, argument, 0, 0), 512, actions)


cdef int _list_canals(const MexicaStateC* state, action_t* actions) noexcept nogil:
    """List the canals; return their number."""
    cdef rows_t free = rules_diggable(state)
    cdef rows_t east, south
    cdef uint64_t cells[512]            # all bits of a rows_t
    cdef int i, n = 0, num_firsts, cell
    if state.singles > 0:
        n = _list(free, CANAL, 0, actions)
    if state.doubles > 0:
        east = rules_doubles_east(free)
        south = rules_doubles_south(free)
        free = east | south
        num_firsts = rows_list(&free, 0, 1, cells)
        for i in range(num_firsts):
            cell = <int>cells[i]
            if rows_has(&east, cell):
                actions[n] = action_make(CANAL, 1, cell, cell + 1)
                n += 1
            if rows_has(&south, cell):
                actions[n] = action_make(CANAL, 1, cell, cell + 32)
                n += 1
    return n


cdef int _list_relocations(const MexicaStateC* state, action_t* actions) noexcept nogil:
    """List the relocations of bridges; return their number."""
    # Removing a bridge frees only its own site: ramps only need dry land.
    cdef uint64_t bridges[BRIDGE_SUPPLY]    # those on the board; `check` counts them
    cdef rows_t movable, turnable = rules_turnable(state), own, sites
    cdef int i, n = 0, num_bridges, axis, cell
    movable = state_bridges(state) & ~state.pillis
    num_bridges = rows_list(&movable, 0, 1, bridges)
    for axis in range(2):
        sites = rules_bridge_sites(state, axis)
        for i in range(num_bridges):
            cell = <int>bridges[i]
            own = sites
            if not rows_has(&state.bridges[axis], cell) and rows_has(&turnable, cell):
                rows_add(&own, cell)
            n += rows_list(&own, action_make(RELOCATE, axis, cell, 0), 1, actions + n)
    return n


cdef int _list_actions(const MexicaStateC* state, action_t* actions) noexcept nogil:
    """List all actions in ascending order, those that D4 forbids included; return their number."""
    cdef int n = 0, budget = state_budget(state), i, num_walks, levels
    cdef rows_t sites
    cdef int walks[4]                   # one for each neighbour
    if state.phase == PLACEMENT:
        return _list(STARTS & ~state.pillis, PLACE, 0, actions)
    if budget >= 1:
        n = _list_canals(state, actions)
        if state.bridges_left > 0:
            n += _list(rules_bridge_sites(state, NS), BRIDGE, NS, actions + n)
            n += _list(rules_bridge_sites(state, EW), BRIDGE, EW, actions + n)
        else:
            n += _list_relocations(state, actions + n)
    sites = rules_building_sites(state)
    if rules_can_found(state):
        n += _list(sites, FOUND, state.district_size, actions + n)
    levels = rules_temple_levels(state, budget)
    for i in range(4):
        if levels >> i & 1:
            n += _list(sites, TEMPLE, i + 1, actions + n)
    if budget >= 1:
        num_walks = rules_walks(state, state.to_move, walks)
        for i in range(num_walks):
            actions[n] = action_make(WALK, 0, walks[i], 0)
            n += 1
        n += _list(rules_sails(state, state.to_move, budget, NULL), SAIL, 0, actions + n)
        if budget >= 5:
            n += _list(rules_teleport_targets(state), TELEPORT, 0, actions + n)
        if rules_can_take_token(state):
            actions[n] = action_make(TOKEN, 0, 0, 0)
            n += 1
    actions[n] = action_make(END, 0, 0, 0)
    return n + 1


cdef int rules_legal_actions(const MexicaStateC* state, action_t* actions) noexcept nogil:
    cdef NarrowC narrow[3]              # the other seats
    cdef int n, i, num_narrow, kept = 0
    if state.phase == OVER or state.chance_due:
        return 0
    n = _list_actions(state, actions)
    num_narrow = rules_find_narrow(state, narrow)
    if num_narrow == 0:
        return n
    for i in range(n):
        if not rules_traps(state, actions[i], narrow, num_narrow):
            actions[kept] = actions[i]
            kept += 1
    return kept


cdef bint rules_accepts_action(const MexicaStateC* state, action_t action) noexcept nogil:
    cdef int size = action_argument(action)
    return (state.phase == PLAY and not state.chance_due and MIN_SIZE <= size <= MAX_SIZE
            and action == action_make(REMOVE, size, 0, 0) and state.display[size] > 0)


# --- applying an action

cdef inline void _pay(MexicaStateC* state, int cost) noexcept nogil:
    """Pay with the AP of the turn, then with action tokens (D2)."""
    if cost <= state.action_points:
        state.action_points -= <uint8_t>cost
    else:
        state.action_tokens[state.to_move] -= <uint8_t>(cost - state.action_points)
        state.action_points = 0


cdef inline void _dig(MexicaStateC* state, int cell) noexcept nogil:
    """Put a canal on a cell."""
    rows_add(&state.canals, cell)
    state.board_hash ^= zobrist(FACT_CANAL, cell)


cdef inline void _set_bridge(MexicaStateC* state, int cell, int axis) noexcept nogil:
    """Put a bridge on a cell."""
    rows_add(&state.bridges[axis], cell)
    state.board_hash ^= zobrist(FACT_BRIDGE, <uint64_t>(cell << 1 | axis))


cdef inline void _remove_bridge(MexicaStateC* state, int cell) noexcept nogil:
    """Remove the bridge on a cell."""
    cdef int axis = EW if rows_has(&state.bridges[EW], cell) else NS
    rows_remove(&state.bridges[axis], cell)
    state.board_hash ^= zobrist(FACT_BRIDGE, <uint64_t>(cell << 1 | axis))


cdef inline void _move_pilli(MexicaStateC* state, int cell) noexcept nogil:
    """Move or place the pilli of the seat to move."""
    cdef int seat = state.to_move
    if state.pilli[seat] != 0:
        rows_remove(&state.pillis, state.pilli[seat])
    rows_add(&state.pillis, cell)
    state.pilli[seat] = <uint16_t>cell
    if rows_has(&state.district, cell):
        return
    state_find_district(state)


cdef void _found(MexicaStateC* state, int size, int cell) noexcept nogil:
    """Found the district of the seat to move (5A).

    The founder earns the blue number. The owners of other pillis in the district earn the white number.
    """
    cdef int seat, blue = (size + 1) >> 1
    for seat in range(state.num_players):
        if seat == state.to_move:
            state.score[seat] += <uint16_t>blue
        elif rows_has(&state.district, state.pilli[seat]):
            state.score[seat] += <uint16_t>((blue + 1) >> 1)
    state.display[size] -= 1
    state.num_display -= 1
    state.placed_at[state.num_placed] = <uint16_t>cell
    state.placed_size[state.num_placed] = <uint8_t>size
    state.num_placed += 1
    state.founded = state.founded | state.district
    rows_add(&state.buildings, cell)
    state.board_hash ^= zobrist(FACT_PLACED, <uint64_t>(cell << 4 | size))


cdef void _build_temple(MexicaStateC* state, int level, int cell) noexcept nogil:
    """Build a temple of the seat to move."""
    cdef int seat = state.to_move
    rows_add(&state.temples[seat], cell)
    rows_add(&state.buildings, cell)
    if (level - 1) & 1:
        rows_add(&state.level_low, cell)
    if (level - 1) & 2:
        rows_add(&state.level_high, cell)
    state.stock[seat][level - 1] -= 1
    state.board_hash ^= zobrist(FACT_TEMPLE, <uint64_t>(cell << 6 | seat << 3 | level))


cdef void _play(MexicaStateC* state, action_t action) noexcept nogil:
    """Apply an action, without D5 and without the hand-over of `end`."""
    cdef int verb = action_verb(action), argument = action_argument(action)
    cdef int first = action_first(action), second = action_second(action)
    cdef uint8_t costs[512]             # by cell
    if verb == WALK:
        _pay(state, 1)
        _move_pilli(state, first)
    elif verb == CANAL:
        _pay(state, 1)
        state.built_this_round = 1
        state.display_due = 1
        _dig(state, first)
        if argument == 1:
            state.doubles -= 1
            _dig(state, second)
        else:
            state.singles -= 1
        if rows_has(&state.district, first) or (second != 0 and rows_has(&state.district, second)):
            state_find_district(state)
    elif verb == TEMPLE:
        _pay(state, argument)
        state.built_this_round = 1
        state.display_due |= state.singles == 0 and state.doubles == 0
        _build_temple(state, argument, first)
    elif verb == BRIDGE:
        _pay(state, 1)
        state.bridges_left -= 1
        _set_bridge(state, first, argument)
    elif verb == RELOCATE:
        _pay(state, 1)
        _remove_bridge(state, first)
        _set_bridge(state, second, argument)
    elif verb == FOUND:
        state.built_this_round = 1
        state.display_due = 1
        _found(state, argument, first)
    elif verb == SAIL:
        rules_sails(state, state.to_move, BRIDGE_SUPPLY, costs)
        _pay(state, costs[first])
        _move_pilli(state, first)
    elif verb == TELEPORT:
        _pay(state, 5)
        _move_pilli(state, first)
    elif verb == TOKEN:
        state.action_points -= 1
        state.action_tokens[state.to_move] += 1
        state.tokens_taken += 1
    elif verb == REMOVE:
        _remove_from_display(state, argument)
    elif verb == PLACE:
        _move_pilli(state, first)


cdef void rules_apply_action(MexicaStateC* state, action_t action) noexcept nogil:
    cdef int verb = action_verb(action)
    _play(state, action)
    if verb == END:
        _end_turn(state)
    elif verb == PLACE:
        _hand_over(state)
        if state.to_move == 0:
            state.phase = PLAY
            state.round = 1
    if state.display_due:
        _remove_impossible(state)


# --- tokens out of play (D5, D6, D8)

cdef inline void _remove_from_display(MexicaStateC* state, int size) noexcept nogil:
    """Put a token on display out of play."""
    state.display[size] -= 1
    state.num_display -= 1
    state.removed[size] += 1


cdef bint _has_room(const MexicaStateC* state, rows_t district) noexcept nogil:
    """Return whether a district has a space for the token, and another one or a palace space for the pilli. Pillis are
    no obstacles.
    """
    cdef int empty = rows_count(district & ~PALACE & ~state.buildings)
    return empty >= 2 or (empty == 1 and rows_any(district & PALACE))


cdef void _remove_impossible(MexicaStateC* state) noexcept nogil:
    """Remove tokens that provably can no longer be founded (D5)."""
    cdef rows_t rest, district
    cdef int size, largest = MAX_SIZE, count, biggest = 0
    cdef bint tiles_left = state.singles > 0 or state.doubles > 0
    cdef int foundable[14]              # by size
    state.display_due = 0
    if state.num_display == 0:
        return
    while state.display[largest] == 0:
        largest -= 1
    memset(foundable, 0, sizeof(foundable))
    rest = state_dry(state) & ~state.founded
    while rows_any(rest):
        district = rows_flood(rows_of(rows_first(&rest)), rest)
        rest = rest & ~district
        count = rows_count(district)
        biggest = max(biggest, count)
        if tiles_left:
            if biggest >= largest:
                return
        elif count <= MAX_SIZE and _has_room(state, district):
            foundable[count] += 1
    for size in range(MIN_SIZE, MAX_SIZE + 1):
        if tiles_left:
            count = state.display[size] if size <= biggest else 0
        else:
            count = foundable[size]
        while state.display[size] > count:
            _remove_from_display(state, size)


# --- the end of a turn, a round, a period (chapters 3, 5, 6; D6, D7)

cdef void _hand_over(MexicaStateC* state) noexcept nogil:
    """Begin the turn of the next seat."""
    state.to_move = <uint8_t>((state.to_move + 1) % state.num_players)
    state.action_points = TURN_AP
    state.tokens_taken = 0
    state.tokens_before = 0
    state.turns += 1
    state_find_district(state)


cdef void _end_turn(MexicaStateC* state) noexcept nogil:
    """End a turn; and the round and the period, if they are over."""
    cdef int size
    cdef bint period_ends
    _hand_over(state)
    if state.to_move != 0:
        return
    # The last `end` of a round, in the order of D7.
    state.idle_rounds = 0 if state.built_this_round else state.idle_rounds + 1
    state.built_this_round = 0
    if state.idle_rounds >= 2:
        for size in range(MIN_SIZE, MAX_SIZE + 1):
            while state.display[size] > 0:
                _remove_from_display(state, size)
    period_ends = (state.num_display == 0 and _any_seat_without_temples(state)) or state.idle_rounds >= 4
    state.round += 1
    if not period_ends:
        return
    _score_period(state)
    if state.period == 2:
        state.phase = OVER
        return
    state.idle_rounds = 0
    state.chance_due = 1
    if not state.is_hidden:
        rules_deal(state)


cdef bint _any_seat_without_temples(const MexicaStateC* state) noexcept nogil:
    """Return whether a seat has no temple left to build."""
    cdef const uint8_t* stock
    cdef int seat
    for seat in range(state.num_players):
        stock = state.stock[seat]
        if stock[0] + stock[1] + stock[2] + stock[3] == 0:
            return True
    return False


cdef void rules_deal(MexicaStateC* state) noexcept nogil:
    # Chapter 5, "After the first period": display the other tokens, give each seat its second nine temples.
    cdef int seat, size
    state.chance_due = 0
    state.period = 2
    for size in range(MIN_SIZE, MAX_SIZE + 1):
        state.display[size] += state.upcoming[size]
        state.num_display += state.upcoming[size]
        state.upcoming[size] = 0
    for seat in range(state.num_players):
        state.stock[seat][0] += 3
        state.stock[seat][1] += 2
        state.stock[seat][2] += 2
        state.stock[seat][3] += 2
    _remove_impossible(state)


# --- scoring (chapters 5 and 7)

cdef void rules_levels(const MexicaStateC* state, rows_t district, int* levels) noexcept nogil:
    cdef rows_t own
    cdef rows_t low = state.level_low & district, high = state.level_high & district
    cdef int owner
    for owner in range(NUM_OWNERS):
        own = state.temples[owner] & district
        levels[owner] = 0
        if rows_any(own):
            levels[owner] = rows_count(own) + rows_count(own & low) + 2 * rows_count(own & high)


cdef void rules_score_levels(const int* levels, int value, int* points) noexcept nogil:
    cdef int owner, other, rank
    cdef int pays[3]                    # by rank
    pays[0] = value
    pays[1] = (value + 1) >> 1
    pays[2] = (pays[1] + 1) >> 1
    for owner in range(NUM_OWNERS - 1):
        if levels[owner] == 0:
            continue
        rank = 0
        for other in range(NUM_OWNERS):
            rank += levels[other] > levels[owner]
        if rank < 3:
            points[owner] += pays[rank]


cdef void rules_scoring(const MexicaStateC* state, int* points) noexcept nogil:
    cdef rows_t dry = state_dry(state), rest, district
    cdef int levels[NUM_OWNERS]
    cdef int i, seat
    memset(points, 0, 4 * sizeof(int))
    for i in range(state.num_placed):
        district = rows_flood(rows_of(state.placed_at[i]), dry)
        rules_levels(state, district, levels)
        rules_score_levels(levels, state.placed_size[i], points)
    if state.period == 2:
        # Unfounded districts pay by their size, in the second scoring only.
        rest = dry & ~state.founded
        while rows_any(rest):
            district = rows_flood(rows_of(rows_first(&rest)), rest)
            rest = rest & ~district
            rules_levels(state, district, levels)
            rules_score_levels(levels, rows_count(district), points)
    for seat in range(state.num_players):
        if rows_has(&STARTS, state.pilli[seat]):
            points[seat] += 5


cdef void _score_period(MexicaStateC* state) noexcept nogil:
    """Score the period that ends."""
    cdef int points[4]                  # by seat
    cdef int seat
    rules_scoring(state, points)
    for seat in range(state.num_players):
        state.score[seat] += <uint16_t>points[seat]


cdef void rules_returns(const MexicaStateC* state, double* shares) noexcept nogil:
    cdef int seat, best = -1, rank, winners = 0
    for seat in range(state.num_players):
        rank = state.score[seat] * 16 + state.action_tokens[seat]
        best = max(best, rank)
    for seat in range(state.num_players):
        shares[seat] = 1.0 if state.score[seat] * 16 + state.action_tokens[seat] == best else 0.0
        winners += shares[seat] > 0
    for seat in range(state.num_players):
        shares[seat] /= winners
