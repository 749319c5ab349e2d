"""Founding plans; contracts in ``plans.pxd``.

Each plan is a region that grows space by space from where the pilli is or could soon be. It takes the space of its
border that adds the fewest new spaces to the border; border spaces that cannot become canals must be taken. When the
size of the region is on display, its border is what is left to dig.
"""

from libc.stdint cimport int16_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport abs
from libc.string cimport memset

from cext.core.contract.game cimport State
from cext.games.mexica.board cimport PALACE
from cext.games.mexica.rows cimport rows_any, rows_beside, rows_has, rows_list, rows_t
from cext.games.mexica.rules cimport rules_bridge_sites, rules_diggable, rules_walks
from cext.games.mexica.state cimport *

cdef enum:
    GROWTHS = 8                     # regions to grow, from all starts together; at least one from each
    MAX_STARTS = 8
    MAX_BORDER = 40
    NONE = 0                        # marks of spaces
    REGION = 1
    BORDER = 2
    OUTSIDE = 3                     # covered by a double canal that reaches beyond the border
    FORCED = -100                   # what a score loses where no canal can be dug; more than any other part of it

cdef int[4] STEPS = [-32, -1, 1, 32]

cdef double AP_WORTH = 2.0          # prestige points that an AP is worth elsewhere
cdef double LATER = 6.0             # cost, in points, of a plan that takes more than this turn


# A space from which to grow, the AP to move there, and the bridge to build for it (0: none).
cdef struct StartC:
    int cell
    int walked
    action_t bridge


# A region, its border, and the mark of each cell.
cdef struct RegionC:
    uint8_t marks[544]                  # cells up to 511, and the row below
    int cells[16]                       # MAX_SIZE at most
    int size
    int border[MAX_BORDER]              # `_take` fails where it would be longer
    int num_border
    # Of the cells of the border: 8 for each space beside it that would be new to the border, and FORCED if it is.
    int16_t scores[544]


cdef inline uint32_t _next(uint64_t* random) noexcept nogil:
    """Return the next number of a linear congruential generator (Knuth's MMIX), to break ties."""
    random[0] = random[0] * 6364136223846793005u + 1442695040888963407u
    return <uint32_t>(random[0] >> 33)


cdef bint _take(RegionC* region, const rows_t* land, const rows_t* diggable, int cell) noexcept nogil:
    """Add a space to the region; return whether its border still fits."""
    cdef int i, j, other, near, score
    region.marks[cell] = REGION
    region.cells[region.size] = cell
    region.size += 1
    for i in range(4):
        other = cell + STEPS[i]
        if region.marks[other] == NONE and rows_has(land, other):
            if region.num_border == MAX_BORDER:
                return False
            region.marks[other] = BORDER
            region.border[region.num_border] = other
            region.num_border += 1
            score = 0 if rows_has(diggable, other) else FORCED
            for j in range(4):
                near = other + STEPS[j]
                region.scores[near] -= 8
                score += 8 * (region.marks[near] == NONE and rows_has(land, near))
            region.scores[other] = <int16_t>score
    return True


cdef int _choose(const RegionC* region, uint64_t* random, int* num_forced) noexcept nogil:
    """Return the index of the border space to take next; count those that cannot become canals."""
    cdef int i, score, shift = 0, best = -1, best_score = 1000
    cdef uint32_t noise = _next(random)
    num_forced[0] = 0
    for i in range(region.num_border):
        score = region.scores[region.border[i]]
        num_forced[0] += score < 0
        score += (noise >> shift) & 7
        shift = shift + 3 if shift < 27 else 0
        if score < best_score:
            best_score = score
            best = i
    return best


cdef int _cover(const MexicaStateC* state, RegionC* region, const rows_t* diggable, action_t* tiles, int* outside,
                int* num_outside) noexcept nogil:
    """Do what `_lay_tiles` does, and list the spaces that become OUTSIDE, one a tile at most."""
    cdef uint8_t covered[MAX_BORDER]    # as the region's border
    cdef uint8_t places[544]            # of its cells in the list
    cdef int doubles = state.doubles, singles = state.singles
    cdef int i, j, k, n = 0, cell, other, partner
    memset(covered, 0, sizeof(covered))
    for i in range(region.num_border):
        places[region.border[i]] = <uint8_t>i
    for i in range(region.num_border):
        if covered[i]:
            continue
        cell = region.border[i]
        partner = -1
        if doubles > 0:
            for k in range(4):
                if region.marks[cell + STEPS[k]] == BORDER:
                    j = places[cell + STEPS[k]]
                    if j > i and not covered[j] and (partner < 0 or j < partner):
                        partner = j
        if n == MAX_TILES:
            return -1
        if partner >= 0:
            covered[partner] = 1
            other = region.border[partner]
            doubles -= 1
        else:
            # No partner: a double canal may reach outwards, to save the few single tiles.
            other = 0
            if doubles > 0 and singles < 3:
                for k in range(4):
                    if region.marks[cell + STEPS[k]] == NONE and rows_has(diggable, cell + STEPS[k]):
                        other = cell + STEPS[k]
                        region.marks[other] = OUTSIDE
                        outside[num_outside[0]] = other
                        num_outside[0] += 1
                        break
            if other != 0:
                doubles -= 1
            elif singles > 0:
                singles -= 1
            else:
                return -1
        if other == 0:
            tiles[n] = action_make(CANAL, 0, cell, 0)
        else:
            tiles[n] = action_make(CANAL, 1, min(cell, other), max(cell, other))
        n += 1
    return n


cdef int _lay_tiles(const MexicaStateC* state, RegionC* region, const rows_t* diggable, action_t* tiles) noexcept nogil:
    """Cover the border with canal tiles; return their number, or -1 if there are too few. The region stays as it is."""
    cdef int outside[MAX_TILES]         # `_cover` lays no more tiles
    cdef int i, num_outside = 0
    cdef int n = _cover(state, region, diggable, tiles, outside, &num_outside)
    for i in range(num_outside):
        region.marks[outside[i]] = NONE
    return n


cdef inline bint _has_room(const MexicaStateC* state, const RegionC* region) noexcept nogil:
    """Return whether a region has a space without a pilli for the token, and another one for a temple."""
    cdef int i, room = 0, empty = 0
    for i in range(region.size):
        if not rows_has(&PALACE, region.cells[i]) and not rows_has(&state.buildings, region.cells[i]):
            room += 1
            empty += not rows_has(&state.pillis, region.cells[i])
    return room >= 2 and empty >= 1


cdef void _grow(const MexicaStateC* state, const StartC* start, const rows_t* land, const rows_t* diggable,
                uint64_t* random, PlanC* best) noexcept nogil:
    """Grow one region, and keep its plans that are better than the best ones of their size."""
    cdef RegionC region
    cdef PlanC plan
    cdef int num_forced, chosen, i
    memset(region.marks, 0, sizeof(region.marks))
    memset(region.scores, 0, sizeof(region.scores))
    region.size = 0
    region.num_border = 0
    if not _take(&region, land, diggable, start.cell):
        return
    while True:
        chosen = _choose(&region, random, &num_forced)
        if num_forced == 0 and region.size >= MIN_SIZE and state.display[region.size] > 0 and (
                _has_room(state, &region)):
            plan.num_tiles = _lay_tiles(state, &region, diggable, plan.tiles)
            if plan.num_tiles > 0:
                plan.size = region.size
                plan.worth = ((region.size + 1) >> 1) + region.size * (1.6 if state.period == 1 else 0.8)
                plan.cost = plan.num_tiles + start.walked
                plan.bridge = start.bridge
                plan.worth -= AP_WORTH * plan.cost
                if plan.cost > state_budget(state):
                    plan.worth -= LATER
                if plan.worth > best[plan.size].worth:
                    best[plan.size] = plan
        if chosen < 0 or region.size == MAX_SIZE:
            return
        i = region.border[chosen]
        region.num_border -= 1
        region.border[chosen] = region.border[region.num_border]
        if not _take(&region, land, diggable, i):
            return


cdef int _find_starts(const MexicaStateC* state, const rows_t* land, StartC* starts) noexcept nogil:
    """Find the spaces from which to grow; return their number."""
    cdef int pilli = state.pilli[state.to_move], n = 0, i, k, ramp, far, axis, num_sites
    cdef int walks[4]                   # one for each neighbour
    cdef rows_t ramps, sites
    cdef uint64_t cells[512]            # all bits of a rows_t
    if pilli == 0:
        return 0
    if rows_has(land, pilli):
        starts[0].cell = pilli
        starts[0].walked = 0
        starts[0].bridge = 0
        return 1
    if not rows_any(state.district):
        # On a bridge: it steps onto a ramp.
        num_sites = rules_walks(state, state.to_move, walks)
        for i in range(num_sites):
            if rows_has(land, walks[i]):
                starts[n].cell = walks[i]
                starts[n].walked = 1
                starts[n].bridge = 0
                n += 1
        return n
    # In a founded district: over a bridge to the other side of its canals.
    ramps = rows_beside(state.district)
    for axis in range(2):
        sites = state.bridges[axis] & ~state.pillis & ramps
        if state.bridges_left > 0:
            sites = sites | (rules_bridge_sites(state, axis) & ramps)
        num_sites = rows_list(&sites, 0, 1, cells)
        for i in range(num_sites):
            for k in range(2):
                ramp = <int>cells[i] + (STEPS[0] if axis == NS else STEPS[1]) * (1 - 2 * k)
                far = 2 * <int>cells[i] - ramp
                if (not rows_has(&state.district, ramp) or not rows_has(land, far)
                        or rows_has(&state.buildings, ramp) or rows_has(&state.buildings, far)):
                    continue
                if n == MAX_STARTS:
                    return n
                starts[n].cell = far
                starts[n].walked = abs((ramp >> 5) - (pilli >> 5)) + abs((ramp & 31) - (pilli & 31)) + 2
                starts[n].bridge = 0
                if not rows_has(&state.bridges[axis], <int>cells[i]):
                    starts[n].bridge = action_make(BRIDGE, axis, <int>cells[i], 0)
                    starts[n].walked += 1
                n += 1
    return n


cdef int plans_find(const MexicaStateC* state, PlanC* plans, int max_plans) noexcept nogil:
    cdef PlanC best[MAX_SIZE + 1]       # by size
    cdef StartC starts[MAX_STARTS]      # `_find_starts` ends there
    cdef rows_t land = state_dry(state) & ~state.founded
    cdef rows_t diggable
    cdef uint64_t random = state.board_hash
    cdef int num_starts, i, n, size, chosen
    if state.num_display == 0 or (state.singles == 0 and state.doubles == 0):
        return 0
    num_starts = _find_starts(state, &land, starts)
    if num_starts == 0:
        return 0
    diggable = rules_diggable(state)
    for size in range(MAX_SIZE + 1):
        best[size].worth = -1e9
    for i in range(max(<int>GROWTHS, num_starts)):
        _grow(state, &starts[i % num_starts], &land, &diggable, &random, best)
    n = 0
    while n < max_plans:
        chosen = 0
        for size in range(MIN_SIZE, MAX_SIZE + 1):
            if best[size].worth > -1e8 and (chosen == 0 or best[size].worth > best[chosen].worth):
                chosen = size
        if chosen == 0:
            break
        plans[n] = best[chosen]
        best[chosen].worth = -1e9
        n += 1
    return n


def find(State owner not None, int max_plans=3):
    """Return the founding plans of a position of Mexica, best first.

    Parameters
    ----------
    owner : State
        Of Mexica, else TypeError.
    max_plans : int
        Maximum number of plans.

    Returns
    -------
    list of dict
        ``size``, ``cost`` (AP), ``worth`` (prestige points), ``tiles`` (canal actions), ``bridge`` (an action, or 0).
    """
    cdef PlanC plans[MAX_SIZE + 1]
    cdef int n, i, j
    if owner.game.name != "mexica":
        raise TypeError(f"expected a state of mexica, got one of {owner.game.name}")
    n = plans_find(<const MexicaStateC*>owner.data, plans, min(max_plans, MAX_SIZE + 1))
    return [{"size": plans[i].size, "cost": plans[i].cost, "worth": plans[i].worth, "bridge": plans[i].bridge,
             "tiles": [plans[i].tiles[j] for j in range(plans[i].num_tiles)]} for i in range(n)]
