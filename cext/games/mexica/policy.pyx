"""Heuristics of Mexica: random players, playouts, priors; contracts in ``policy.pxd``."""

from libc.math cimport logf
from libc.stdint cimport uint64_t
from libc.stdlib cimport abs
from libc.string cimport memset

from cext.core.contract.game cimport State
from cext.core.learning.priors cimport priors_inputs
from cext.core.contract.rng cimport mix_bits, mix_step, mix_word, rng_below, rng_uniform
from cext.core.learning.scorer cimport SCORER_OWN, ScorerInputsC, scorer_apply, scorer_choose, scorer_find_t
from cext.games.mexica.board cimport STARTS
from cext.games.mexica.evaluation cimport WIDE_SIZE, evaluation_levels_needed, evaluation_takeable
from cext.games.mexica.plans cimport PlanC, plans_find
from cext.games.mexica.rows cimport rows_beside, rows_count, rows_first, rows_flood, rows_select
from cext.games.mexica.rules cimport *
from cext.games.mexica.state cimport *
from cext.games.mexica.weights cimport *


# --- the reference random player

cdef inline action_t _pick(rows_t cells, int verb, int argument, bitgen_t* rng) noexcept nogil:
    """Return a uniform action of a kind, over these cells."""
    return action_make(verb, argument, rows_select(&cells, rng_below(rng, rows_count(cells))), 0)


cdef action_t _random_canal(const MexicaStateC* state, bitgen_t* rng) noexcept nogil:
    """Return a uniform canal."""
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
    """Return a uniform bridge, given the sites by axis."""
    cdef int num_ns = rows_count(ns)
    cdef int k = rng_below(rng, num_ns + rows_count(ew))
    if k < num_ns:
        return action_make(BRIDGE, NS, rows_select(&ns, k), 0)
    return action_make(BRIDGE, EW, rows_select(&ew, k - num_ns), 0)


cdef action_t _random_relocation(const MexicaStateC* state, rows_t ns, rows_t ew, bitgen_t* rng) noexcept nogil:
    """Return a uniform relocation, given the sites by axis."""
    cdef rows_t free = state_bridges(state) & ~state.pillis
    cdef rows_t turnable = rules_turnable(state)
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
    """Return a uniform temple. Every level that can be paid fits on every site, so level and site are independent."""
    cdef int chosen[4]                  # levels
    cdef int i, n = 0
    for i in range(4):
        if levels >> i & 1:
            chosen[n] = i + 1
            n += 1
    return _pick(sites, TEMPLE, chosen[rng_below(rng, n)], rng)


cdef action_t _sample(const MexicaStateC* state, int verb, bitgen_t* rng) noexcept nogil:
    """Return a uniform action of a kind that has one, ignoring D4."""
    cdef int walks[4]                   # one for each neighbour
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
    """Write the kinds of action to choose from, ignoring D4; return their number."""
    cdef int budget = state_budget(state), n = 0
    cdef int walks[4]                   # one for each neighbour
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
        if rows_any(ns | ew | rules_turnable(state)):
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
    cdef NarrowC narrow[3]              # the other seats
    cdef int kinds[8]                   # each kind of `_list_kinds` once
    cdef int num_kinds, num_narrow, verb, _
    cdef action_t action
    if state.phase == PLACEMENT:
        return _pick(STARTS & ~state.pillis, PLACE, 0, rng)
    num_kinds = _list_kinds(state, kinds)
    verb = kinds[rng_below(rng, num_kinds)]
    num_narrow = rules_find_narrow(state, narrow)
    if num_narrow == 0:
        return _sample(state, verb, rng)
    # Rejection keeps the choice within the kind uniform.
    for _ in range(8):
        action = _sample(state, verb, rng)
        if not rules_traps(state, action, narrow, num_narrow):
            return action
    return _random_from_list(state, verb, rng)


cdef action_t _random_from_list(const MexicaStateC* state, int wanted, bitgen_t* rng) noexcept nogil:
    """Return a uniform legal action of the wanted kind; if D4 leaves none, of another kind, chosen uniformly."""
    cdef action_t actions[MAX_ACTIONS]
    cdef int first[16]
    cdef int count[16]                  # by verb
    cdef int kinds[16]                  # by verb, of which there are 12, as the two before
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
    """Return whether temples pay here: on leftover land and in founded districts.

    The small districts between are founded or divided first.
    """
    return (state.period == 2 and state.district_size > WIDE_SIZE) or rows_any(state.district & state.founded)


cdef action_t policy_playout_action(const MexicaStateC* state, bitgen_t* rng) noexcept nogil:
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
# Priors are weights, not probabilities: only their ratios matter. Each action has a category and a share of the
# category's weight; kinds with hundreds of actions get a fixed sum. The weights were fitted to the choices of the
# search in self-play, separately for each number of action points left.

cdef double PLAYOUT_RANDOMNESS = 0.1

cdef enum:                    # categories of temples, counted from the first one of a kind of district
    FIRST, FIRST_LARGE, SECOND, MORE, OTHER

cdef float SITE = 0.05        # share of a site for temples other than the preferred one
# Points that a place would pay more than now, divided by 1 + half the levels that it takes.
cdef double GOOD = 3.0
cdef double FAIR = 1.0

# Share of all priors for moves to a starting space, when being there will score 5 points.
cdef float HOME_SHARE = 0.15


# The facts of a position on which the categories of its actions depend.
cdef struct PriorsC:
    bint is_found
    rows_t dry
    rows_t touching                 # spaces next to water, corners included
    rows_t foundable                # unfounded districts of a size on display that have room
    rows_t good                     # other districts in which the seat could take a place that pays much more (GOOD)
    rows_t fair                     # districts of places that pay something more (FAIR)
    rows_t landings                 # targets of teleports that get a prior
    rows_t ramps                    # spaces from which the pilli can step on a bridge
    rows_t near                     # canal spaces that the pilli could step on if they had a bridge
    int preferred_site              # for temples and tokens
    bint is_settled                 # no canal can divide the district of the pilli any more
    int building                    # first category of temples in the district of the pilli
    int first_level                 # smallest temple that gives the seat the first place there alone; 0 if it has it
    int second_level                # smallest that gives it the second place; 0 if it has that or a better one
    rows_t dividing                 # first spaces of single canals that may divide a district
    rows_t dividing_east            # first spaces of double canals to the east that may
    rows_t dividing_south           # first spaces of double canals to the south that may
    float share_of_canals           # of each canal that divides nothing
    uint64_t canals_key             # hash of the facts on which the categories of dividing canals depend
    PlanC[3] plans
    int num_plans


cdef inline rows_t _beyond(rows_t set, int down, int right) noexcept nogil:
    """Return the spaces from which the space so far down and to the right (both -1 to 2) is in the set."""
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
    """Return the first spaces of tiles of this size that may divide a district (corner contact is enough).

    Clockwise around such a tile, more than one run of dry spaces begins.
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


cdef int _canal_category_anew(const MexicaStateC* state, const PriorsC* facts, int cell, int width, int height,
                              int plain) noexcept nogil:
    """Return the category of a canal (width x height, from `cell`) that may divide; `plain` if it does not."""
    cdef int size, category = CATEGORY_DIVIDES
    cdef int last = cell + (width - 1) + 32 * (height - 1)
    cdef rows_t left, part, around
    cdef bint divides
    left = facts.dry & ~(rows_of(cell) | rows_of(last))
    around = rows_beside(rows_of(cell) | rows_of(last)) & left
    part = rows_flood(rows_of(rows_first(&around)), left)
    around = around & ~part
    divides = rows_any(around)
    while divides:
        size = rows_count(part)
        if MIN_SIZE <= size <= MAX_SIZE and state.display[size] > 0:
            if rows_has(&part, state.pilli[state.to_move]):
                return CATEGORY_CLOSES_OWN
            category = CATEGORY_CLOSES
        if not rows_any(around):
            break
        part = rows_flood(rows_of(rows_first(&around)), left)
        around = around & ~part
    return category if divides else plain


cdef int _canal_category(const MexicaStateC* state, const PriorsC* facts, int cell, int width, int height, int plain,
                         MexicaCacheC* cache) noexcept nogil:
    """Return the same category, from the cache if it is there."""
    cdef uint64_t key
    cdef uint64_t* kept
    if cache == NULL:
        return _canal_category_anew(state, facts, cell, width, height, plain)
    key = mix_bits(facts.canals_key ^ <uint64_t>(cell << 4 | width << 2 | height)) & ~<uint64_t>0xff
    kept = &cache.canals[key >> 32 & (CANALS_KEPT - 1)]
    if kept[0] & ~<uint64_t>0xff != key:
        kept[0] = key | <uint64_t>_canal_category_anew(state, facts, cell, width, height, plain)
    return <int>(kept[0] & 0xff)


cdef void _find_ranks(const MexicaStateC* state, PriorsC* facts) noexcept nogil:
    """Find the temple levels that matter in the district of the pilli, and its first category of temples."""
    cdef int levels[NUM_OWNERS]
    rules_levels(state, state.district, levels)
    evaluation_levels_needed(levels, state.to_move, &facts.first_level, &facts.second_level)
    if rows_any(state.district & state.founded):
        facts.building = CATEGORY_FOUNDED_FIRST
    elif state.district_size > WIDE_SIZE:
        facts.building = CATEGORY_WIDE_FIRST if state.period == 2 else CATEGORY_EARLY_FIRST
    else:
        facts.building = CATEGORY_SMALL_FIRST


cdef inline int _temple_category(const PriorsC* facts, int level) noexcept nogil:
    """Return the category of a temple."""
    if facts.first_level == 0:
        return facts.building + MORE
    if level >= facts.first_level:
        return facts.building + (FIRST if level == facts.first_level else FIRST_LARGE)
    return facts.building + (SECOND if 0 < facts.second_level <= level else OTHER)


cdef double _at_stake(const MexicaStateC* state, const int* levels, int stock, int value, int pay) noexcept nogil:
    """Return what first place pays more than second if a rival could still take it, as `evaluation_takeable`."""
    cdef int seat, missing
    cdef double found = 0.0
    if pay < value or levels[state.to_move] == 0:
        return 0.0
    for seat in range(state.num_players):
        # Levels that would put the place out of this rival's reach.
        missing = levels[seat] + rules_stock_levels(state, seat) - levels[state.to_move] + 1
        if seat != state.to_move and 1 < missing and rules_stock_levels(state, seat) > 0 and stock > 0:
            found = max(found, (value - ((value + 1) >> 1)) / (1 + 0.5 * min(missing, stock)))
    return found


cdef inline rows_t _landing(const PriorsC* facts, rows_t district, rows_t targets) noexcept nogil:
    """Return one target of teleports in a district that cannot change: all its spaces are equivalent.

    A ramp if possible, from which the pilli can leave the district.
    """
    cdef rows_t spaces = district & targets, ramps = district & targets & facts.ramps
    if rows_any(ramps):
        return rows_of(rows_first(&ramps))
    return rows_of(rows_first(&spaces)) if rows_any(spaces) else spaces


cdef void _find_target(const MexicaStateC* state, PriorsC* facts, rows_t district, int value, int stock) noexcept nogil:
    """Add a district to `good` or `fair` if a place in it would pay more."""
    cdef int levels[NUM_OWNERS]
    cdef int pays[4]
    cdef double gain
    if rows_has(&district, state.pilli[state.to_move]) or not rows_any(district & ~PALACE & ~state.buildings):
        return
    memset(pays, 0, sizeof(pays))
    rules_levels(state, district, levels)
    rules_score_levels(levels, value, pays)
    gain = max(evaluation_takeable(levels, state.to_move, stock, value, pays[state.to_move]),
               _at_stake(state, levels, stock, value, pays[state.to_move]))
    if gain >= GOOD:
        facts.good = facts.good | district
    elif gain >= FAIR:
        facts.fair = facts.fair | district


cdef void _find_targets(const MexicaStateC* state, PriorsC* facts) noexcept nogil:
    """Find `good`, `fair`, `foundable` and `landings`."""
    cdef rows_t rest = facts.dry & ~state.founded, targets = rules_teleport_targets(state), district
    cdef int stock = rules_stock_levels(state, state.to_move)
    cdef int i, size
    cdef bint is_late = state.singles == 0 and state.doubles == 0
    facts.foundable = facts.good = facts.fair = rows_none()
    facts.landings = targets & (state.canals | STARTS)
    for i in range(state.num_placed):
        district = rows_flood(rows_of(state.placed_at[i]), facts.dry)
        _find_target(state, facts, district, state.placed_size[i], stock)
        facts.landings = facts.landings | _landing(facts, district, targets)
    while rows_any(rest):
        district = rows_flood(rows_of(rows_first(&rest)), rest)
        rest = rest & ~district
        size = rows_count(district)
        if size > WIDE_SIZE:
            if state.period == 2:
                _find_target(state, facts, district, size, stock)
        elif size >= MIN_SIZE and size <= MAX_SIZE and state.display[size] > 0 and rows_any(
                district & ~PALACE & ~state.buildings):
            facts.foundable = facts.foundable | district
        facts.landings = facts.landings | (_landing(facts, district, targets) if is_late else district & targets)


cdef inline int _quality(const PriorsC* facts, int cell) noexcept nogil:
    """Return 0 if a good district is at or next to a cell, 1 if a fair one is, else 2: the order of the three
    categories.
    """
    cdef rows_t near = rows_of(cell) | rows_beside(rows_of(cell))
    if rows_any(near & facts.good):
        return 0
    return 1 if rows_any(near & facts.fair) else 2


cdef int _preferred_site(const MexicaStateC* state) noexcept nogil:
    """Return the site where a building is least in the way: not on a ramp, and away from pillis if possible."""
    cdef rows_t sites = rules_building_sites(state)
    cdef rows_t better = sites & ~state_ramps(state)
    if rows_any(better):
        sites = better
    better = sites & ~rows_beside(state.pillis)
    if rows_any(better):
        sites = better
    return rows_first(&sites)


cdef inline int _find(const action_t* actions, int n, action_t wanted) noexcept nogil:
    """Return the index of an action among the legal ones, which ascend; -1 if it is not there."""
    cdef int low = 0, high = n, middle
    while low < high:
        middle = (low + high) // 2
        if actions[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < n and actions[low] == wanted else -1


cdef void _categorize_plan(const MexicaStateC* state, const PlanC* plan, int rank, const float* weights,
                           const action_t* actions, int n, int* categories, float* shares) noexcept nogil:
    """Raise the canals of a plan of this rank to its category.

    The plan's first canal has its own category with a higher weight: the order in which they are dug does not matter.
    """
    cdef int tile, i, first = (CATEGORY_PLAN_1 if plan.cost <= state_budget(state) else CATEGORY_LATER_1) + 2 * rank
    cdef int category
    for tile in range(plan.num_tiles):
        i = _find(actions, n, plan.tiles[tile])
        category = first if tile == 0 else first + 1
        if i >= 0 and weights[category] > weights[categories[i]] * shares[i]:
            categories[i] = category
            shares[i] = 1


cdef int _categorize_canal(const MexicaStateC* state, const PriorsC* facts, action_t action, MexicaCacheC* cache,
                           float* share) noexcept nogil:
    """Return the category of a canal that is in no plan, and lower its share if it divides nothing."""
    cdef int cell = action_first(action), second = action_second(action), category
    category = CATEGORY_TOUCHES if (rows_has(&facts.touching, cell)
                                    or (second != 0 and rows_has(&facts.touching, second))) else CATEGORY_APART
    if second == 0:
        if rows_has(&facts.dividing, cell):
            category = _canal_category(state, facts, cell, 1, 1, category, cache)
    elif second == cell + 1:
        if rows_has(&facts.dividing_east, cell):
            category = _canal_category(state, facts, cell, 2, 1, category, cache)
    elif rows_has(&facts.dividing_south, cell):
        category = _canal_category(state, facts, cell, 1, 2, category, cache)
    if category == CATEGORY_TOUCHES or category == CATEGORY_APART:
        share[0] = facts.share_of_canals
    return category


cdef inline int _categorize_bridge(const PriorsC* facts, action_t action, int num_bridges, float* share) noexcept nogil:
    """Return the category of a bridge, and set its share."""
    cdef int j
    for j in range(facts.num_plans):
        if facts.plans[j].bridge == action:
            share[0] = <float>1.0 / (1 << j)
            return CATEGORY_BRIDGE_PLAN
    share[0] = (8 if rows_has(&facts.near, action_first(action)) else 1) / <float>num_bridges
    return CATEGORY_BRIDGE


cdef inline int _categorize_relocation(const PriorsC* facts, action_t action, int num_relocations,
                                       float* share) noexcept nogil:
    """Return the category of a relocation, and set its share."""
    share[0] = (8 if rows_has(&facts.near, action_second(action)) else 1) / <float>num_relocations
    return CATEGORY_RELOCATE


cdef inline int _categorize_founding(const PriorsC* facts, action_t action, float* share) noexcept nogil:
    """Return the category of a founding, and set its share."""
    cdef int cell = action_first(action)
    if cell == facts.preferred_site:
        return CATEGORY_FOUND
    if not rows_has(&facts.ramps, cell):
        share[0] = 0
    return CATEGORY_FOUND_ELSEWHERE


cdef inline int _categorize_temple(const PriorsC* facts, action_t action, float* share) noexcept nogil:
    """Return the category of a temple, and set its share."""
    cdef int cell = action_first(action)
    if cell != facts.preferred_site:
        share[0] = 0 if facts.is_settled and not rows_has(&facts.ramps, cell) else SITE
    return _temple_category(facts, action_argument(action))


cdef inline int _categorize_walk(const MexicaStateC* state, const PriorsC* facts, action_t action) noexcept nogil:
    """Return the category of a walk."""
    cdef int cell = action_first(action)
    if rows_has(&state.canals, cell) or rows_has(&state.canals, state.pilli[state.to_move]):
        return CATEGORY_CROSS_GOOD + _quality(facts, cell)
    return CATEGORY_WALK_TO_BRIDGE if rows_has(&facts.ramps, cell) else CATEGORY_WALK


cdef inline int _categorize_teleport(const PriorsC* facts, action_t action, float* share) noexcept nogil:
    """Return the category of a teleport, and set its share."""
    cdef int cell = action_first(action)
    if not rows_has(&facts.landings, cell):
        share[0] = 0
        return CATEGORY_TELEPORT
    if rows_has(&facts.foundable, cell):
        return CATEGORY_TELEPORT_TO_FOUND
    if rows_has(&facts.good, cell):
        share[0] = <float>1.0 / rows_count(facts.good & facts.landings)
        return CATEGORY_TELEPORT_GOOD
    if rows_has(&facts.fair, cell):
        share[0] = <float>1.0 / rows_count(facts.fair & facts.landings)
        return CATEGORY_TELEPORT_FAIR
    share[0] = <float>1.0 / rows_count(facts.landings)
    return CATEGORY_TELEPORT


cdef inline int _categorize_ending(const MexicaStateC* state, action_t action, int num_tokens, bint has_begun,
                                   float* share) noexcept nogil:
    """Return the category of a token or of the end of the turn; `has_begun`: tokens were taken in this turn.

    Tokens come last. Ending the turn while an action point could buy a token is a loss. A token taken before other
    actions can be taken after them just as well, because the point that it costs pays for them too.
    """
    share[0] = action_verb(action) == TOKEN or num_tokens == 0
    if action_verb(action) == TOKEN:
        return CATEGORY_TOKEN if has_begun or state.action_points <= TOKENS_PER_TURN else CATEGORY_END
    return CATEGORY_END_SPENT if state_budget(state) == 0 else CATEGORY_END_IDLE


cdef uint64_t _canals_key(const MexicaStateC* state, const PriorsC* facts) noexcept nogil:
    """Return a hash of the facts on which the categories of dividing canals depend."""
    cdef const char* rows = <const char*>&facts.dry
    cdef uint64_t h = state.pilli[state.to_move]
    cdef int i, sizes = 0
    for i in range(MIN_SIZE, MAX_SIZE + 1):
        sizes |= (state.display[i] > 0) << i
    h = mix_step(h, <uint64_t>sizes)
    for i in range(<int>(sizeof(rows_t) // 8)):
        h = mix_step(h, mix_word(rows + 8 * i))
    return h


cdef void _find_facts(const MexicaStateC* state, const int* count, MexicaCacheC* cache, PriorsC* facts) noexcept nogil:
    """Find the facts. `count`: number of legal actions by verb."""
    cdef rows_t water
    facts.is_found = True
    facts.dry = state_dry(state)
    facts.ramps = state_ramps(state)
    water = ~facts.dry
    facts.touching = rows_beside(water)
    facts.touching = (facts.touching | rows_east(rows_north(water)) | rows_west(rows_north(water))
                      | rows_east(rows_south(water)) | rows_west(rows_south(water))) & facts.dry
    facts.preferred_site = _preferred_site(state)
    facts.is_settled = state.round > 1 and ((state.singles == 0 and state.doubles == 0)
                                            or rows_any(state.district & state.founded))
    facts.near = rows_beside(rows_of(state.pilli[state.to_move])) & state.canals
    if count[TEMPLE] > 0:
        _find_ranks(state, facts)
    _find_targets(state, facts)
    if count[CANAL] > 0:
        facts.dividing = _dividing(facts.dry, 1, 1)
        facts.dividing_east = _dividing(facts.dry, 2, 1)
        facts.dividing_south = _dividing(facts.dry, 1, 2)
        if cache != NULL:
            facts.canals_key = _canals_key(state, facts)
    facts.share_of_canals = <float>1.0 / (1 + count[CANAL] // 4)
    facts.num_plans = plans_find(state, facts.plans, 3) if count[CANAL] + count[BRIDGE] > 0 else 0


cdef int _categorize(const void* data, MexicaCacheC* cache, const MexicaStateC* state, const action_t* actions, int n,
                     int* categories, float* shares, int* count, PriorsC* facts) noexcept nogil:
    """Find the category of each legal action and its share of the category's weight; return the row of the weights.

    `count` (16 of them): number of legal actions by verb. `facts`: only `is_found` is set if no category depends on
    them.
    """
    cdef int i, verb, category, first = 0
    cdef int group = min(<int>state.action_points, <int>TURN_AP)
    cdef const float* weights = (<const MexicaWeightsC*>data).priors[group]
    memset(count, 0, 16 * sizeof(int))
    facts.is_found = False
    for i in range(n):
        shares[i] = 1
    while first < n:            # they ascend, by verb first
        verb = action_verb(actions[first])
        i = first
        while first < n and action_verb(actions[first]) == verb:
            first += 1
        count[verb] = first - i
    if state.tokens_taken > state.tokens_before:
        for i in range(n):
            categories[i] = _categorize_ending(state, actions[i], count[TOKEN], True, &shares[i])
            if action_verb(actions[i]) != TOKEN and action_verb(actions[i]) != END:
                shares[i] = 0
        return group
    if count[PLACE] > 0:
        for i in range(n):
            categories[i] = CATEGORY_PLACE
        return group
    _find_facts(state, count, cache, facts)
    for i in range(n):
        verb = action_verb(actions[i])
        if verb == CANAL:
            category = _categorize_canal(state, facts, actions[i], cache, &shares[i])
        elif verb == BRIDGE:
            category = _categorize_bridge(facts, actions[i], count[BRIDGE], &shares[i])
        elif verb == RELOCATE:
            category = _categorize_relocation(facts, actions[i], count[RELOCATE], &shares[i])
        elif verb == FOUND:
            category = _categorize_founding(facts, actions[i], &shares[i])
        elif verb == TEMPLE:
            category = _categorize_temple(facts, actions[i], &shares[i])
        elif verb == WALK:
            category = _categorize_walk(state, facts, actions[i])
        elif verb == SAIL:
            category = CATEGORY_SAIL_GOOD + _quality(facts, action_first(actions[i]))
        elif verb == TELEPORT:
            category = _categorize_teleport(facts, actions[i], &shares[i])
        else:
            category = _categorize_ending(state, actions[i], count[TOKEN], False, &shares[i])
        categories[i] = category
    for i in range(facts.num_plans):
        _categorize_plan(state, &facts.plans[i], i, weights, actions, n, categories, shares)
    return group


cdef bint _is_due(const MexicaStateC* state) noexcept nogil:
    """Return whether the period ends with this round."""
    cdef int seat
    if state.num_display > 0:
        return False
    for seat in range(state.num_players):
        if (state.stock[seat][0] | state.stock[seat][1] | state.stock[seat][2] | state.stock[seat][3]) == 0:
            return True
    return False


cdef inline bint _leads_home(action_t action) noexcept nogil:
    """Return whether an action moves the pilli to a starting space."""
    cdef int verb = action_verb(action)
    return (verb == WALK or verb == SAIL or verb == TELEPORT) and rows_has(&STARTS, action_first(action))


cdef void _raise_homecoming(const action_t* actions, int n, float* priors) noexcept nogil:
    """Raise the priors of moves to a starting space. They were rare in the games that the weights were fitted to."""
    cdef float total = 0
    cdef int i, num_homes = 0
    for i in range(n):
        total += priors[i]
        num_homes += _leads_home(actions[i])
    for i in range(n):
        if _leads_home(actions[i]):
            priors[i] = max(priors[i], HOME_SHARE * total / num_homes)


cdef void policy_begin_search(MexicaStateC* state) noexcept nogil:
    state.tokens_before = state.tokens_taken


cdef void _look(const void* weights, MexicaCacheC* cache, const MexicaStateC* state, const action_t* actions, int n,
                float* priors, ScorerInputsC* inputs) noexcept nogil:
    """Find the priors without a learnt policy, and its inputs unless `inputs` is NULL."""
    cdef PriorsC facts
    cdef int count[16]                  # by verb
    cdef int categories[MAX_ACTIONS]    # of a list of legal actions
    cdef int i, group = _categorize(weights, cache, state, actions, n, categories, priors, count, &facts)
    cdef const float* row = (<const MexicaWeightsC*>weights).priors[group]
    for i in range(n):
        priors[i] *= row[categories[i]]
    if (_is_due(state) and state.tokens_taken == state.tokens_before
            and not rows_has(&STARTS, state.pilli[state.to_move])):
        _raise_homecoming(actions, n, priors)
    if inputs != NULL:
        scorer_choose(categories, priors, n, NUM_FEATURES, inputs)
        _describe(state, actions, count, &facts, inputs)


cdef void policy_priors(const void* weights, MexicaCacheC* cache, const MexicaStateC* state, const action_t* actions,
                        int n, float* priors) noexcept nogil:
    cdef ScorerInputsC inputs
    cdef bint is_learnt = (<const MexicaWeightsC*>weights).has_policy != 0
    _look(weights, cache, state, actions, n, priors, &inputs if is_learnt else NULL)
    if is_learnt:
        scorer_apply((<const MexicaWeightsC*>weights).policy, NUM_SUMMARY, NUM_CATEGORIES, NUM_FEATURES, &inputs,
                     priors)


# --- inputs of a learnt policy

cdef void _describe_position(const MexicaStateC* state, const int* count, float* summary) noexcept nogil:
    """Write the part of the summary that does not depend on the facts."""
    cdef int i, seat = state.to_move, best = -1
    memset(summary, 0, NUM_SUMMARY * sizeof(float))
    summary[SUMMARY_POINTS_0 + min(<int>state.action_points, <int>TURN_AP)] = 1
    summary[SUMMARY_THREE_SEATS] = state.num_players == 3
    summary[SUMMARY_FOUR_SEATS] = state.num_players == 4
    summary[SUMMARY_PERIOD_2] = state.period == 2
    summary[SUMMARY_ROUND] = state.round / <float>10
    summary[SUMMARY_IS_DUE] = _is_due(state)
    summary[SUMMARY_AT_HOME] = rows_has(&STARTS, state.pilli[seat])
    summary[SUMMARY_ON_BRIDGE] = state.district_size == 0
    summary[SUMMARY_TOKENS] = state.action_tokens[seat] / <float>3
    summary[SUMMARY_TOKENS_TAKEN] = state.tokens_taken / <float>2
    for i in range(4):
        summary[SUMMARY_STOCK_1 + i] = state.stock[seat][i] / <float>3
    summary[SUMMARY_DISPLAY] = state.num_display / <float>8
    summary[SUMMARY_BRIDGES] = state.bridges_left / <float>11
    summary[SUMMARY_DOUBLES] = state.doubles / <float>35
    summary[SUMMARY_SINGLES] = state.singles / <float>6
    summary[SUMMARY_DISTRICT] = state.district_size / <float>30
    summary[SUMMARY_IN_FOUNDED] = rows_any(state.district & state.founded)
    summary[SUMMARY_CANALS] = logf(1 + count[CANAL]) / 4
    summary[SUMMARY_FOUNDINGS] = logf(1 + count[FOUND]) / 4
    summary[SUMMARY_TEMPLES] = logf(1 + count[TEMPLE]) / 4
    summary[SUMMARY_WALKS] = logf(1 + count[WALK]) / 4
    summary[SUMMARY_SAILS] = logf(1 + count[SAIL]) / 4
    summary[SUMMARY_TELEPORTS] = logf(1 + count[TELEPORT]) / 4
    for i in range(state.num_players):
        if i != seat:
            best = max(best, <int>state.score[i])
    summary[SUMMARY_BEHIND] = (best - <int>state.score[seat]) / <float>20


cdef void _describe(const MexicaStateC* state, const action_t* actions, const int* count, const PriorsC* facts,
                    ScorerInputsC* inputs) noexcept nogil:
    """Describe the decision and the chosen actions."""
    cdef rows_t water = state.canals & ~state_bridges(state)
    cdef float* summary = inputs.summary
    cdef int i
    _describe_position(state, count, summary)
    if facts.is_found:
        summary[SUMMARY_SETTLED] = facts.is_settled
        if count[TEMPLE] > 0:
            summary[SUMMARY_FIRST_LEVEL] = facts.first_level / <float>4
            summary[SUMMARY_SECOND_LEVEL] = facts.second_level / <float>4
        summary[SUMMARY_PLANS] = facts.num_plans / <float>3
        if facts.num_plans > 0:
            summary[SUMMARY_PLAN_SIZE] = facts.plans[0].size / <float>13
            summary[SUMMARY_PLAN_COST] = facts.plans[0].cost / <float>6
            summary[SUMMARY_PLAN_WORTH] = <float>facts.plans[0].worth / 10
        if facts.num_plans > 1:
            summary[SUMMARY_PLAN_2_COST] = facts.plans[1].cost / <float>6
            summary[SUMMARY_PLAN_2_WORTH] = <float>facts.plans[1].worth / 10
        summary[SUMMARY_GOOD] = rows_count(facts.good) / <float>20
        summary[SUMMARY_FAIR] = rows_count(facts.fair) / <float>20
        summary[SUMMARY_FOUNDABLE] = rows_count(facts.foundable) / <float>20
    for i in range(inputs.count):
        _describe_action(state, actions[inputs.chosen[i]], facts, &water,
                         inputs.features + i * NUM_FEATURES + SCORER_OWN)


cdef inline int _num_beside(const rows_t* set, int cell) noexcept nogil:
    """Return the number of the four spaces next to a space that are in a set."""
    return (rows_has(set, cell - 32) + rows_has(set, cell + 32) + rows_has(set, cell - 1) + rows_has(set, cell + 1))


cdef void _describe_action(const MexicaStateC* state, action_t action, const PriorsC* facts, const rows_t* water,
                           float* out) noexcept nogil:
    """Write the features of an action."""
    cdef int i, tile, verb = action_verb(action), cell = action_first(action), pilli = state.pilli[state.to_move]
    cdef const PlanC* plan
    memset(out, 0, (NUM_FEATURES - SCORER_OWN) * sizeof(float))
    if cell == 0:
        return
    if verb == TEMPLE:
        out[ACTION_LEVEL] = action_argument(action) / <float>4
    elif verb == FOUND:
        out[ACTION_SIZE] = action_argument(action) / <float>13
    if pilli != 0:
        out[ACTION_DISTANCE] = (abs((cell >> 5) - (pilli >> 5)) + abs((cell & 31) - (pilli & 31))) / <float>8
    out[ACTION_IN_DISTRICT] = rows_has(&state.district, cell)
    out[ACTION_IN_FOUNDED] = rows_has(&state.founded, cell)
    out[ACTION_WATER] = _num_beside(water, cell) / <float>4
    out[ACTION_BUILDINGS] = _num_beside(&state.buildings, cell) / <float>4
    out[ACTION_HOME] = rows_has(&STARTS, cell)
    if not facts.is_found:
        return
    out[ACTION_RAMP] = rows_has(&facts.ramps, cell)
    if verb != CANAL and verb != BRIDGE:
        return
    out[ACTION_DOUBLE] = verb == CANAL and action_argument(action) == 1
    for i in range(facts.num_plans):
        plan = &facts.plans[i]
        tile = 0
        while tile < plan.num_tiles and plan.tiles[tile] != action:
            tile += 1
        if tile < plan.num_tiles or plan.bridge == action:
            out[ACTION_PLAN_WORTH] = <float>plan.worth / 10
            out[ACTION_PLAN_COST] = plan.cost / <float>6
            return


NUM_ROWS = NUM_GROUPS       # of the weights of the categories


def policy_inputs(State owner not None, weights not None):
    """Return what a learnt policy reads of a decision of Mexica; see `priors_inputs` of ``priors.pxd``."""
    return priors_inputs(owner, weights, "mexica", NUM_SUMMARY, NUM_FEATURES, <scorer_find_t>_look)
