"""Knowledge of Mexica: random players, playouts, priors, evaluation. Contracts in ``policy.pxd``."""

from libc.math cimport exp
from libc.string cimport memset

from cext.core.rng cimport rng_below, rng_uniform
from cext.games.mexica.board cimport STARTS
from cext.games.mexica.rows cimport rows_count, rows_first, rows_flood, rows_list, rows_select
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

cdef action_t policy_playout_action(const MexicaStateC* state, bitgen_t* rng) noexcept nogil:
    return policy_random_action(state, rng)


# --- priors

cdef void policy_priors(const MexicaStateC* state, const action_t* actions, int n, float* priors) noexcept nogil:
    cdef int i
    for i in range(n):
        priors[i] = 1.0


# --- evaluation

cdef void policy_evaluate(const MexicaStateC* state, double* values, double* points) noexcept nogil:
    cdef int seat
    for seat in range(state.num_players):
        points[seat] = state.score[seat]
        values[seat] = 1.0 / state.num_players
