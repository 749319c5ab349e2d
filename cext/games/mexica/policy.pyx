"""Knowledge of Mexica: random players, playouts, priors. Contracts in ``policy.pxd``."""

from libc.string cimport memset

from cext.core.rng cimport rng_below, rng_uniform
from cext.games.mexica.board cimport STARTS
from cext.games.mexica.evaluation cimport WIDE_SIZE
from cext.games.mexica.plans cimport PlanC, plans_find
from cext.games.mexica.rows cimport rows_beside, rows_count, rows_first, rows_flood, rows_select
from cext.games.mexica.rules cimport *
from cext.games.mexica.state cimport *


# --- the reference random player

cdef inline action_t _pick(rows_t cells, int verb, int argument, bitgen_t* rng) noexcept nogil:
    return action_make(verb, argument, rows_select(&cells, rng_below(rng, rows_count(cells))), 0)


cdef action_t _random_canal(const MexicaStateC* state, bitgen_t* rng) noexcept nogil:
    cdef rows_t free = rules_diggable(state)
    cdef rows_t east = rules_doubles_east(free), south = rules_doubles_south(free)
    cdef int num_singles = rows_count(free) if state.singles > 0 else 0
    cdef int num_east = 0, num_south = 0, k, cell
    if state.doubles > 0:
        num_east = rows_count(east)
        num_south = rows_count(south)
    k = rng_below(rng, num_singles + num_east + num_south)
    if k < num_singles:
        return action_make(CANAL, 0, rows_select(&free, k), 0)
    k -= num_singles
    if k < num_east:
        cell = rows_select(&east, k)
        return action_make(CANAL, 1, cell, cell + 1)
    cell = rows_select(&south, k - num_east)
    return action_make(CANAL, 1, cell, cell + 32)


cdef action_t _random_bridge(rows_t ns, rows_t ew, bitgen_t* rng) noexcept nogil:
    cdef int num_ns = rows_count(ns)
    cdef int k = rng_below(rng, num_ns + rows_count(ew))
    if k < num_ns:
        return action_make(BRIDGE, NS, rows_select(&ns, k), 0)
    return action_make(BRIDGE, EW, rows_select(&ew, k - num_ns), 0)


# Free bridges that stand on one axis and could be turned to the other, on their own space.
cdef rows_t _turnable(const MexicaStateC* state) noexcept nogil:
    cdef rows_t dry = state_dry(state)
    return ((state.bridges[NS] & rows_east(dry) & rows_west(dry))
            | (state.bridges[EW] & rows_north(dry) & rows_south(dry))) & ~state.pillis


cdef action_t _random_relocation(const MexicaStateC* state, rows_t ns, rows_t ew, bitgen_t* rng) noexcept nogil:
    cdef rows_t free = state_bridges(state) & ~state.pillis
    cdef rows_t turnable = _turnable(state)
    cdef int num_free = rows_count(free), num_ns = rows_count(ns), num_ew = rows_count(ew)
    cdef int k = rng_below(rng, num_free * (num_ns + num_ew) + rows_count(turnable))
    cdef int cell, site
    if k >= num_free * (num_ns + num_ew):
        cell = rows_select(&turnable, k - num_free * (num_ns + num_ew))
        return action_make(RELOCATE, NS if rows_has(&state.bridges[EW], cell) else EW, cell, cell)
    cell = rows_select(&free, k % num_free)
    site = k // num_free
    if site < num_ns:
        return action_make(RELOCATE, NS, cell, rows_select(&ns, site))
    return action_make(RELOCATE, EW, cell, rows_select(&ew, site - num_ns))


cdef action_t _random_temple(rows_t sites, int levels, bitgen_t* rng) noexcept nogil:
    # Every level that can be paid fits on every site, so level and site are independent.
    cdef int chosen[4]
    cdef int i, n = 0
    for i in range(4):
        if levels >> i & 1:
            chosen[n] = i + 1
            n += 1
    return _pick(sites, TEMPLE, chosen[rng_below(rng, n)], rng)


cdef action_t _sample(const MexicaStateC* state, int verb, bitgen_t* rng) noexcept nogil:
    # A uniform action of a kind that has one, D4 aside.
    cdef int walks[4]
    cdef int num_walks
    if verb == WALK:
        num_walks = rules_walks(state, state.to_move, walks)
        return action_make(WALK, 0, walks[rng_below(rng, num_walks)], 0)
    if verb == CANAL:
        return _random_canal(state, rng)
    if verb == TEMPLE:
        return _random_temple(rules_building_sites(state), rules_temple_levels(state, state_budget(state)), rng)
    if verb == BRIDGE:
        return _random_bridge(rules_bridge_sites(state, NS), rules_bridge_sites(state, EW), rng)
    if verb == RELOCATE:
        return _random_relocation(state, rules_bridge_sites(state, NS), rules_bridge_sites(state, EW), rng)
    if verb == SAIL:
        return _pick(rules_sails(state, state.to_move, state_budget(state), NULL), SAIL, 0, rng)
    if verb == FOUND:
        return _pick(rules_building_sites(state), FOUND, state.district_size, rng)
    if verb == TELEPORT:
        return _pick(rules_teleport_targets(state), TELEPORT, 0, rng)
    return action_make(verb, 0, 0, 0)


cdef int _list_kinds(const MexicaStateC* state, int* kinds) noexcept nogil:
    # The kinds of action to choose from, D4 aside; returns how many.
    cdef int budget = state_budget(state), n = 0
    cdef int walks[4]
    cdef rows_t free, ns, ew
    if rules_can_found(state):
        kinds[0] = FOUND
        return 1
    kinds[0] = END
    if budget == 0:
        return 1
    if state.singles > 0 or state.doubles > 0:
        free = rules_diggable(state)
        if state.singles == 0:
            free = rules_doubles_east(free) | rules_doubles_south(free)
        if rows_any(free):
            kinds[n] = CANAL
            n += 1
    if state.bridges_left > 0:
        if rows_any(rules_bridge_sites(state, NS) | rules_bridge_sites(state, EW)):
            kinds[n] = BRIDGE
            n += 1
    elif rows_any(state_bridges(state) & ~state.pillis):
        ns = rules_bridge_sites(state, NS)
        ew = rules_bridge_sites(state, EW)
        if rows_any(ns | ew | _turnable(state)):
            kinds[n] = RELOCATE
            n += 1
    if rules_temple_levels(state, budget) != 0 and rows_any(rules_building_sites(state)):
        kinds[n] = TEMPLE
        n += 1
    if rules_walks(state, state.to_move, walks) > 0:
        kinds[n] = WALK
        n += 1
    if rows_any(rules_sails(state, state.to_move, budget, NULL)):
        kinds[n] = SAIL
        n += 1
    if rules_can_take_token(state):
        kinds[n] = TOKEN
        n += 1
    if n > 0:
        return n
    if budget >= 5 and rows_any(rules_teleport_targets(state)):
        kinds[1] = TELEPORT
        return 2
    return 1


cdef action_t policy_random_action(const MexicaStateC* state, bitgen_t* rng) noexcept nogil:
    cdef NarrowC narrow[3]
    cdef int kinds[8]
    cdef int num_kinds, num_narrow, verb, attempt
    cdef action_t action
    if state.phase == PLACEMENT:
        return _pick(STARTS & ~state.pillis, PLACE, 0, rng)
    num_kinds = _list_kinds(state, kinds)
    verb = kinds[rng_below(rng, num_kinds)]
    num_narrow = rules_find_narrow(state, narrow)
    if num_narrow == 0:
        return _sample(state, verb, rng)
    # Rejecting what D4 forbids keeps the choice within the kind uniform.
    for attempt in range(8):
        action = _sample(state, verb, rng)
        if not rules_traps(state, action, narrow, num_narrow):
            return action
    return _random_from_list(state, verb, rng)


cdef action_t _random_from_list(const MexicaStateC* state, int wanted, bitgen_t* rng) noexcept nogil:
    # A uniform legal action of the wanted kind; if D4 leaves none, of another kind, chosen uniformly.
    cdef action_t actions[MAX_ACTIONS]
    cdef int first[16]
    cdef int count[16]
    cdef int kinds[16]
    cdef int n = rules_legal_actions(state, actions), i, verb, num_kinds = 0
    memset(count, 0, sizeof(count))
    for i in range(n):
        verb = action_verb(actions[i])
        if count[verb] == 0:
            first[verb] = i
        count[verb] += 1
    if count[wanted] == 0:
        for verb in range(16):
            if count[verb] > 0 and verb != END and verb != TELEPORT:
                kinds[num_kinds] = verb
                num_kinds += 1
        if num_kinds == 0:
            kinds[0] = END
            num_kinds = 1
            if count[TELEPORT] > 0:
                kinds[1] = TELEPORT
                num_kinds = 2
        wanted = kinds[rng_below(rng, num_kinds)]
    return actions[first[wanted] + rng_below(rng, count[wanted])]



# --- playouts of the search

cdef inline bint _is_worth_building(const MexicaStateC* state) noexcept nogil:
    # Leftover land and founded districts pay; the small ones between are founded or dug away first.
    return state.district_size > WIDE_SIZE or rows_any(state.district & state.founded)


cdef action_t policy_playout_action(const MexicaStateC* state, bitgen_t* rng) noexcept nogil:
    # A sensible but varied player: founds, builds the largest temple it can pay where it stands, else plays at random.
    cdef int levels, level
    cdef rows_t sites
    if state.phase != PLAY or state.round == 1 or rng_uniform(rng) < PLAYOUT_RANDOMNESS:
        return policy_random_action(state, rng)
    if rules_can_found(state):
        return _sample(state, FOUND, rng)
    levels = rules_temple_levels(state, state_budget(state))
    sites = rules_building_sites(state)
    if levels != 0 and _is_worth_building(state) and rows_any(sites):
        level = 4
        while not levels >> (level - 1) & 1:
            level -= 1
        return _pick(sites, TEMPLE, level, rng)
    return policy_random_action(state, rng)


# --- priors
#
# Weights, not probabilities: only their ratios matter. Hand-made from what tournament players say:
# found at once, build where it pays, dig where a district closes. Kinds with hundreds of actions get a fixed sum.

cdef double PLAYOUT_RANDOMNESS = 0.1

cdef float W_FOUND = 60
cdef float W_TEMPLE = 12            # on the preferred site; others get a tenth
cdef float W_TEMPLE_WASTE = 3       # the same in a small district that nobody has founded
cdef float W_CLOSES_OWN = 40        # a canal that leaves the pilli in a district of a size on display
cdef float W_CLOSES = 8             # one that makes such a district elsewhere
cdef float W_DIVIDES = 2            # one that divides a district otherwise
cdef float W_CANALS = 24            # sum over the canals that touch water, and a tenth of it over the others
cdef float W_PLAN = 60               # the next canal of the best founding plan; the second and third get less
cdef float W_PLAN_LATER = 20        # the same if this turn cannot close the district
cdef float W_PLAN_BRIDGE = 20       # the bridge that the best plan needs
cdef float W_BRIDGES = 8            # sum; those that the pilli could step on count eight times
cdef float W_RELOCATIONS = 4        # sum
cdef float W_WALK = 3
cdef float W_SAIL = 3
cdef float W_TELEPORTS = 3          # sum over all targets
cdef float W_TELEPORT_TO_FOUND = 15     # to a district that could be founded at once
cdef float W_TOKEN = 4
cdef float W_END = 1
cdef float W_END_SPENT = 60         # nothing left to spend


cdef struct PriorsC:
    rows_t dry
    rows_t touching                 # spaces next to water, corners included
    rows_t foundable                # unfounded districts of a size on display that have room
    rows_t near                     # canal spaces that the pilli could step on if there were a bridge
    int preferred_site              # for temples and tokens


cdef inline rows_t _beyond(rows_t set, int down, int right) noexcept nogil:
    # The spaces from which the space so far down and to the right (both -1 to 2) is in the set.
    if down < 0:
        set = rows_south(set)
    if down > 0:
        set = rows_north(set)
    if down > 1:
        set = rows_north(set)
    if right < 0:
        return rows_east(set)
    return set >> right


cdef rows_t _dividing(rows_t dry, int width, int height) noexcept nogil:
    """The upper (left) spaces of tiles of this size that may cut a district (corner contact closes one too).

    Around such a tile, clockwise, dry spaces begin more than once.
    """
    cdef rows_t here, before, starts, once = rows_none(), again = rows_none()
    cdef int i
    before = _beyond(dry, 0, -1)
    for i in range(-1, width + 1):
        here = _beyond(dry, -1, i)
        starts = here & ~before
        again = again | (once & starts)
        once = once | starts
        before = here
    for i in range(height):
        here = _beyond(dry, i, width)
        starts = here & ~before
        again = again | (once & starts)
        once = once | starts
        before = here
    for i in range(width, -2, -1):
        here = _beyond(dry, height, i)
        starts = here & ~before
        again = again | (once & starts)
        once = once | starts
        before = here
    for i in range(height - 1, -1, -1):
        here = _beyond(dry, i, -1)
        starts = here & ~before
        again = again | (once & starts)
        once = once | starts
        before = here
    return again


cdef float _canal_weight(const MexicaStateC* state, const PriorsC* facts, int cell, int width, int height,
                         float plain) noexcept nogil:
    """Weight of a canal on width x height spaces from `cell` on that may divide a district; `plain` if it does not."""
    cdef int size
    cdef int last = cell + (width - 1) + 32 * (height - 1)
    cdef rows_t left, part, around
    cdef float weight
    cdef bint divides = False
    left = facts.dry & ~(rows_of(cell) | rows_of(last))
    around = rows_beside(rows_of(cell) | rows_of(last)) & left
    weight = W_DIVIDES
    part = rows_flood(rows_of(rows_first(&around)), left)
    around = around & ~part
    divides = rows_any(around)
    while divides:
        size = rows_count(part)
        if MIN_SIZE <= size <= MAX_SIZE and state.display[size] > 0:
            weight = max(weight, W_CLOSES_OWN if rows_has(&part, state.pilli[state.to_move]) else W_CLOSES)
        if not rows_any(around):
            break
        part = rows_flood(rows_of(rows_first(&around)), left)
        around = around & ~part
    return weight if divides else plain


cdef void _find_foundable(const MexicaStateC* state, PriorsC* facts) noexcept nogil:
    cdef rows_t rest = facts.dry & ~state.founded, district
    cdef int size
    facts.foundable = rows_none()
    while rows_any(rest):
        district = rows_flood(rows_of(rows_first(&rest)), rest)
        rest = rest & ~district
        size = rows_count(district)
        if MIN_SIZE <= size <= MAX_SIZE and state.display[size] > 0 and rows_any(
                district & ~PALACE & ~state.buildings):
            facts.foundable = facts.foundable | district


cdef int _preferred_site(const MexicaStateC* state) noexcept nogil:
    # A building should not stand in the way: off the ramps, and away from the pilli if possible.
    cdef rows_t sites = rules_building_sites(state)
    cdef rows_t better = sites & ~state_ramps(state)
    if rows_any(better):
        sites = better
    better = sites & ~rows_beside(state.pillis)
    if rows_any(better):
        sites = better
    return rows_first(&sites)


cdef float _plan_weight(const MexicaStateC* state, const PlanC* plan, action_t canal) noexcept nogil:
    # The first of its canals most: the order in which they are dug does not matter.
    cdef int i
    cdef float weight = W_PLAN if plan.cost <= state_budget(state) else W_PLAN_LATER
    for i in range(plan.num_tiles):
        if plan.tiles[i] == canal:
            return weight if i == 0 else weight / 8
    return 0


cdef void policy_priors(const MexicaStateC* state, const action_t* actions, int n, float* priors) noexcept nogil:
    cdef PriorsC facts
    cdef PlanC plans[3]
    cdef int count[16]
    cdef int i, j, verb, cell, second, num_touching = 0, num_plans = 0
    cdef float weight, touching_share, other_share
    cdef rows_t water, single = rows_none(), eastward = rows_none(), southward = rows_none()
    memset(count, 0, sizeof(count))
    for i in range(n):
        count[action_verb(actions[i])] += 1
    if count[PLACE] > 0:
        for i in range(n):
            priors[i] = 1
        return
    facts.dry = state_dry(state)
    water = ~facts.dry
    facts.touching = rows_beside(water)
    facts.touching = (facts.touching | rows_east(rows_north(water)) | rows_west(rows_north(water))
                      | rows_east(rows_south(water)) | rows_west(rows_south(water))) & facts.dry
    facts.preferred_site = _preferred_site(state)
    facts.near = rows_beside(rows_of(state.pilli[state.to_move])) & state.canals
    if count[TELEPORT] > 0:
        _find_foundable(state, &facts)
    if count[CANAL] > 0:
        single = _dividing(facts.dry, 1, 1)
        eastward = _dividing(facts.dry, 2, 1)
        southward = _dividing(facts.dry, 1, 2)
    if count[CANAL] + count[BRIDGE] > 0:
        num_plans = plans_find(state, plans, 3)
    touching_share = W_CANALS / (1 + count[CANAL] // 4)
    other_share = touching_share / 10
    for i in range(n):
        verb = action_verb(actions[i])
        cell = action_first(actions[i])
        if verb == CANAL:
            second = action_second(actions[i])
            weight = touching_share if (rows_has(&facts.touching, cell)
                                        or (second != 0 and rows_has(&facts.touching, second))) else other_share
            if second == 0:
                if rows_has(&single, cell):
                    weight = _canal_weight(state, &facts, cell, 1, 1, weight)
            elif second == cell + 1:
                if rows_has(&eastward, cell):
                    weight = _canal_weight(state, &facts, cell, 2, 1, weight)
            elif rows_has(&southward, cell):
                weight = _canal_weight(state, &facts, cell, 1, 2, weight)
            for j in range(num_plans):
                weight = max(weight, _plan_weight(state, &plans[j], actions[i]) / (1 << j))
        elif verb == BRIDGE:
            weight = W_BRIDGES / count[BRIDGE]
            if rows_has(&facts.near, cell):
                weight *= 8
            for j in range(num_plans):
                if plans[j].bridge == actions[i]:
                    weight = max(weight, W_PLAN_BRIDGE / (1 << j))
        elif verb == RELOCATE:
            weight = W_RELOCATIONS / count[RELOCATE]
            if rows_has(&facts.near, action_second(actions[i])):
                weight *= 8
        elif verb == FOUND:
            weight = W_FOUND if cell == facts.preferred_site else W_FOUND / 20
        elif verb == TEMPLE:
            weight = W_TEMPLE if _is_worth_building(state) else W_TEMPLE_WASTE
            if cell != facts.preferred_site:
                weight /= 10
        elif verb == WALK:
            weight = W_WALK
        elif verb == SAIL:
            weight = W_SAIL
        elif verb == TELEPORT:
            weight = W_TELEPORTS / count[TELEPORT]
            if rows_has(&facts.foundable, cell):
                weight += W_TELEPORT_TO_FOUND / 8
        elif verb == TOKEN:
            weight = W_TOKEN
        else:
            weight = W_END_SPENT if state_budget(state) == 0 else W_END
        priors[i] = weight
