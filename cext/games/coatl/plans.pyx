"""Plans; contracts in ``plans.pxd``.

A narrow beam search. A step adds the pieces at one end of a Coatl that reach the next level of one prophecy, by the
shortest path of the prophecy's automaton.
"""

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memmove, memset

from cext.core.contract.rng cimport mix_bits, mix_require, mix_step, mix_word
from cext.core.contract.sets cimport set_first, set_size
from cext.games.coatl.cards cimport (ABSENT, AT_END, BACKWARDS, FACE_OF, FACES, LENGTH, NUM_COLORS, NUM_PAIRS, PAIR_A,
                                     PAIR_B, PATHS, TEMPLES, FaceC, OutlookC, PathC, TempleC, card_points,
                                     card_scan_on, card_times, neighbors_of)
from cext.games.coatl.rules cimport MAX_DEALT, rules_hand
from cext.games.coatl.state cimport (BODY, COATLS, DISPLAY, HEAD, IN_HAND, MAX_UNFINISHED, NUM_KINDS, ON_DISPLAY,
                                     PLAYED, TAIL, CoatlC)

cdef enum:
    DEPTH = 4                   # steps of the beam search; 3, with one occurrence each, played equally well
    BEAM = 2                    # plans kept after each step
    PROMISING = 2               # missing pieces at which the plans of several Coatls are compared
    MAX_CARDS = PLAYED + MAX_DEALT

# Cost of a missing piece, in points, when plans are compared; a guess.
cdef float MISSING_COST = 1.2

# The prophecies that matter for a Coatl.
ctypedef struct CardsC:
    uint8_t faces[MAX_CARDS]            # those played on it, then those in hand that may be played; unused 0
    int num_played
    int n


cdef inline float _worth(const PlanC* plan) noexcept nogil:
    """Return the value by which plans are compared."""
    return plan.points - MISSING_COST * plan.missing


cdef void _value_cards(const CardsC* cards, PlanC* plan) noexcept nogil:
    """Count the points of the played prophecies, and of the best ones in hand for which there is room."""
    cdef int points[MAX_CARDS]          # by place in `cards`: PLAYED and MAX_DEALT together
    cdef uint32_t neighbors = neighbors_of(plan.pieces, plan.length)
    cdef int i, best, _
    plan.points = 0
    plan.used = 0
    for i in range(cards.n):
        points[i] = 0
        if FACES[cards.faces[i]].neighbors & ~neighbors == 0:
            points[i] = card_points(cards.faces[i], card_times(cards.faces[i], plan.pieces, plan.length, False, False))
        if i < cards.num_played:
            plan.points += points[i]
    for _ in range(PLAYED - cards.num_played):
        best = -1
        for i in range(cards.num_played, cards.n):
            if points[i] > 0 and (best < 0 or points[i] > points[best]):
                best = i
        if best < 0:
            break
        plan.points += points[best]
        points[best] = 0
        plan.used |= 1 << best


cdef inline int _take(uint8_t* stored, int colors) noexcept nogil:
    """Take a stored piece of one of the colours and return its colour; -1 if there is none."""
    cdef int color
    for color in range(NUM_COLORS):
        if colors >> color & 1 and stored[color] > 0:
            stored[color] -= 1
            return color
    return -1


cdef bint _grow(PlanC* plan, const PathC* path, bint is_right, bint is_last) noexcept nogil:
    """Add the pieces of a path at one end, the last one perhaps a head or a tail; return whether that is possible."""
    cdef uint8_t* has_end = &plan.has_tail if is_right else &plan.has_head
    cdef int i, j, color
    for i in range(path.length):
        if has_end[0] or plan.length == PLANS_LONGEST + PLANS_GROWTH:
            return False
        color = _take(plan.stored[BODY], path.colors[i])
        # A head or a tail ends the Coatl, so it can only come last. A head and a tail alone are no Coatl.
        if color < 0 and is_last and i == path.length - 1 and plan.length > plan.has_head + plan.has_tail:
            color = _take(plan.stored[TAIL if is_right else HEAD], path.colors[i])
            has_end[0] = color >= 0
        if color < 0:
            color = set_first(path.colors[i])
            plan.missing += 1
            plan.wanted[color] += 1
        if is_right:
            plan.pieces[plan.length] = <uint8_t>color
        else:
            for j in range(plan.length, 0, -1):
                plan.pieces[j] = plan.pieces[j - 1]
            plan.pieces[0] = <uint8_t>color
        plan.length += 1
    return True


cdef bint _grow_for(PlanC* plan, int face, bint is_right) noexcept nogil:
    """Grow at one end until a prophecy reaches its next level; return whether that is possible."""
    cdef const FaceC* card = &FACES[face]
    cdef const OutlookC* back = &BACKWARDS[face]
    cdef int first = card.first if is_right else back.first, at = card.start if is_right else back.start
    cdef int times, before = -1, count = 0, read = 0
    if plan.length == 0 and not is_right:
        return False            # the same as on the right
    while True:
        # The automaton reads on where it was: the new pieces are the last ones, or the first ones backwards.
        at = card_scan_on(first, at, plan.pieces, plan.length, read, not is_right, &count)
        read = plan.length
        times = count + AT_END[first + at]
        if before < 0:
            before = card_points(face, times)
        elif card_points(face, times) > before:
            return True
        if (times >= card.max_times
                or not _grow(plan, &PATHS[first + at], is_right, card_points(face, times + 1) > before)
                or plan.missing > PLANS_MISSING):
            return False


cdef inline int _keep(PlanC* beam, int n, const PlanC* plan) noexcept nogil:
    """Put a plan among the n best, in place of the worst one if they are full; return the new n."""
    cdef int i, worst = 0
    for i in range(n):          # keep only the first plan with these pieces, even if its ends differ
        if plan.length == beam[i].length and memcmp(plan.pieces, beam[i].pieces, plan.length) == 0:
            return n
    if n < BEAM:
        beam[n] = plan[0]
        return n + 1
    for i in range(1, BEAM):
        if _worth(&beam[i]) < _worth(&beam[worst]):
            worst = i
    if _worth(plan) > _worth(&beam[worst]):
        beam[worst] = plan[0]
    return n


cdef void _update_best(const PlanC* plan, FoundC* found) noexcept nogil:
    """Update what was found by a plan."""
    cdef int missing
    if plan.missing == 0 and plan.points > found.sure.points:
        found.sure = plan[0]
    for missing in range(plan.missing, PLANS_MISSING + 1):
        found.points[missing] = max(found.points[missing], plan.points)
    if _worth(plan) > _worth(&found.chosen):
        found.chosen = plan[0]


cdef void _search(const CardsC* cards, PlanC* start, FoundC* found) noexcept nogil:
    """Find the plans for a Coatl."""
    cdef PlanC beams[2][BEAM]           # `_keep` keeps no more
    cdef PlanC plan
    cdef int step, i, j, is_right, num_kept, n = 1
    _value_cards(cards, start)
    found.chosen = start[0]
    found.sure = start[0]
    memset(found.points, 0, sizeof(found.points))
    _update_best(start, found)
    beams[0][0] = start[0]
    for step in range(DEPTH):
        num_kept = 0
        for i in range(n):
            for j in range(cards.n):
                for is_right in range(2):
                    plan = beams[step & 1][i]
                    if _grow_for(&plan, cards.faces[j], is_right):
                        _value_cards(cards, &plan)
                        _update_best(&plan, found)
                        num_kept = _keep(beams[1 - (step & 1)], num_kept, &plan)
        n = num_kept


cdef extern from *:
    """
    #include <stddef.h>
    #define PLAN_LAYOUT(plan) mix_require(offsetof(__typeof__(*(plan)), points) <= sizeof(*(plan)) / 8 * 8)
    """
    void _require_layout "PLAN_LAYOUT"(const PlanC* plan) noexcept nogil


cdef uint64_t _key(const CardsC* cards, const PlanC* start) noexcept nogil:
    """Return a hash of what a search begins with, not 0."""
    cdef uint64_t h = 0
    cdef size_t i
    # `_begin` has zeroed the plan, gaps between its fields, too; `points` and what follows are still 0.
    _require_layout(start)
    mix_require(MAX_CARDS >= 8)
    mix_require(MAX_CARDS <= 16)
    for i in range(sizeof(PlanC) // 8):
        h = mix_step(h, mix_word(<const uint8_t*>start + 8 * i))
    h = mix_step(h, mix_word(cards.faces))
    h = mix_step(h, mix_word(cards.faces + MAX_CARDS - 8))
    h = mix_step(h, <uint64_t>(cards.num_played << 8 | cards.n))
    return mix_bits(h) | 1


cdef const FoundC* _find(const CardsC* cards, PlanC* start, PlansCacheC* cache, FoundC* own) noexcept nogil:
    """Return the plans for a Coatl, from the cache if they are there; else search them."""
    cdef FoundC* found = own
    cdef uint64_t key = 0
    if cache != NULL:
        key = _key(cards, start)
        found = &cache.found[key >> 32 & (PLANS_KEPT - 1)]
        if found.key == key:
            return found
        found.key = key
    _search(cards, start, found)
    return found


cdef void _begin(const CoatlC* coatl, const uint8_t* hand, int num_hand, PlanC* start, CardsC* cards) noexcept nogil:
    """Make the plan that adds nothing to a Coatl, and its prophecies. NULL: a Coatl yet to be started."""
    cdef int i, j
    memset(start, 0, sizeof(PlanC))
    memset(cards, 0, sizeof(CardsC))
    if coatl != NULL:
        memcpy(start.pieces, coatl.pieces, coatl.length)
        start.length = coatl.length
        start.has_head = coatl.has_head
        start.has_tail = coatl.has_tail
        for i in range(coatl.num_cards):
            cards.faces[i] = coatl.cards[i]
        cards.n = coatl.num_cards
    cards.num_played = cards.n
    if cards.num_played == PLAYED:
        return
    for i in range(num_hand):
        for j in range(cards.n):
            if cards.faces[j] == hand[i]:
                break
        else:
            cards.faces[cards.n] = hand[i]
            cards.n += 1


cdef int _without(uint8_t* hand, int num_hand, const CardsC* cards, int used) noexcept nogil:
    """Remove the prophecies that a plan uses from the hand; return how many are left."""
    cdef int i, j, left = 0
    for i in range(num_hand):
        for j in range(cards.num_played, cards.n):
            if used >> j & 1 and cards.faces[j] == hand[i]:
                used &= ~(1 << j)       # a second copy stays
                break
        else:
            hand[left] = hand[i]
            left += 1
    return left


cdef void _look_at_display(const CoatlStateC* state, const CardsC* cards, const PlanC* plan,
                           int* points) noexcept nogil:
    """Raise `points`, what each prophecy on display would bring, if a plan has room for it."""
    cdef uint64_t left = state.cards[ON_DISPLAY]
    cdef int face, i, place = 0
    if cards.num_played + set_size(plan.used) >= PLAYED:
        return
    while left:
        face = FACE_OF[set_first(left)]
        left &= left - 1
        for i in range(cards.n):
            if cards.faces[i] == face and (i < cards.num_played or plan.used >> i & 1):
                break
        else:
            points[place] = max(points[place], card_points(face, card_times(face, plan.pieces, plan.length,
                                                                            False, False)))
        place += 1


cdef int _on_supply(const CoatlStateC* state, const uint8_t* wanted) noexcept nogil:
    """Return the most wanted pieces that one pair on the supply board provides."""
    cdef int pair, a, b, most = 0
    for pair in range(NUM_PAIRS):
        if state.table.pairs[pair] > 0:
            a, b = PAIR_A[pair], PAIR_B[pair]
            most = max(most, (wanted[a] > 0) + (wanted[b] > (a == b)))
    return most


cdef inline bint _is_met(const PlanC* plan, const uint8_t* counts, int kind, int a, int b) noexcept nogil:
    """Return whether a plan with both ends meets a requirement, with any colours for the missing ends."""
    cdef int ends = 2 - plan.has_head - plan.has_tail
    if kind == ABSENT:
        return counts[a] == 0
    if kind == LENGTH:
        return plan.length + ends == a
    return (counts[a] + counts[b] > 0 or ends == 2) and -ends <= counts[a] - counts[b] <= ends


cdef int _temple(const CoatlStateC* state, int seat, const PlanC* plan) noexcept nogil:
    """Return the points of the best temple for a plan, of those in hand and on display."""
    cdef uint8_t counts[NUM_COLORS]
    cdef const TempleC* temple
    cdef int i, met, best = 0
    cdef uint64_t temples = state.temples[ON_DISPLAY] | state.temples[IN_HAND + seat]
    memset(counts, 0, sizeof(counts))
    for i in range(plan.length):
        counts[plan.pieces[i]] += 1
    while temples:
        temple = &TEMPLES[set_first(temples)]
        temples &= temples - 1
        met = 0
        for i in range(2):
            met += _is_met(plan, counts, temple.kind[i], temple.a[i], temple.b[i])
        best = max(best, temple.points[met])
    return best


cdef int _closed_points(const CoatlStateC* state, int seat, const CardsC* cards, const PlanC* plan) noexcept nogil:
    """Return the points of a plan with the best stored head and tail, and a temple; 0 if no prophecy counts then."""
    cdef PlanC closed
    cdef int head, tail, best = 0
    for head in range(-1 if plan.has_head else 0, 0 if plan.has_head else NUM_COLORS):
        if head >= 0 and plan.stored[HEAD][head] == 0:
            continue
        for tail in range(-1 if plan.has_tail else 0, 0 if plan.has_tail else NUM_COLORS):
            if tail >= 0 and plan.stored[TAIL][tail] == 0:
                continue
            closed = plan[0]
            if tail >= 0:
                closed.pieces[closed.length] = <uint8_t>tail
                closed.length += 1
            if head >= 0:
                memmove(closed.pieces + 1, closed.pieces, closed.length)
                closed.pieces[0] = <uint8_t>head
                closed.length += 1
            closed.has_head = closed.has_tail = True
            _value_cards(cards, &closed)
            if closed.points > 0:
                best = max(best, closed.points + _temple(state, seat, &closed))
    return best


cdef inline int _num_pieces(const uint8_t* pieces) noexcept nogil:
    """Return the number of pieces."""
    cdef int color, num = 0
    for color in range(NUM_COLORS):
        num += pieces[color]
    return num


cdef void plans_find(const CoatlStateC* state, int seat, PlansCacheC* cache, PlansC* plans) noexcept nogil:
    cdef uint8_t hand[MAX_DEALT]        # a hand, see `rules_hand`
    cdef uint8_t stored[NUM_KINDS][NUM_COLORS]
    cdef uint8_t wanted[NUM_COLORS]
    cdef int display[DISPLAY]           # cards on display
    cdef const CoatlC* coatls[COATLS]   # the started ones, and NULL for the others
    cdef CardsC cards
    cdef PlanC start
    cdef FoundC own
    cdef const FoundC* found
    cdef const CoatlC* coatl
    cdef int i, number, _, missing, lacks, closed, n = 0, num_started = 0
    cdef int heads = 0, tails = 0           # that Coatls which could be closed use
    cdef int num_hand = rules_hand(state, seat, hand)
    memset(plans, 0, sizeof(PlansC))
    memset(wanted, 0, sizeof(wanted))
    memset(display, 0, sizeof(display))
    memcpy(stored, state.table.stored[seat], sizeof(stored))
    for number in range(COATLS):
        coatl = &state.coatls[seat][number]
        num_started += coatl.length > 0
        if coatl.length > 0 and not coatl.closed and coatl.length <= PLANS_LONGEST:
            coatls[n] = coatl
            n += 1
    for _ in range(num_started, COATLS):
        coatls[n] = NULL
        n += 1
    for number in range(n):
        coatl = coatls[number]
        if coatl == NULL and num_hand == 0:
            break
        _begin(coatl, hand, num_hand, &start, &cards)
        memcpy(start.stored, stored, sizeof(stored))
        found = _find(&cards, &start, cache, &own)
        for missing in range(PLANS_MISSING + 1):
            plans.points[missing] += found.points[missing]
        if number == 0 or found.points[PROMISING] > plans.best[PROMISING]:
            memcpy(plans.best, found.points, sizeof(plans.best))
        plans.missing += found.chosen.missing
        plans.chosen_points += found.chosen.points
        plans.cards += set_size(found.chosen.used)
        if found.sure.points > 0:
            lacks = (not found.sure.has_head and _num_pieces(found.sure.stored[HEAD]) <= heads) + (
                not found.sure.has_tail and _num_pieces(found.sure.stored[TAIL]) <= tails)
            if lacks == 0:
                closed = max(_closed_points(state, seat, &cards, &found.sure),
                             _closed_points(state, seat, &cards, &start))
                plans.ready += closed
                plans.num_ready += closed > 0
                heads += not found.sure.has_head
                tails += not found.sure.has_tail
            elif lacks == 1:
                plans.nearly += found.sure.points + _temple(state, seat, &found.sure)
        if found.chosen.length == 0:
            break               # nothing to start a Coatl with
        plans.temples += _temple(state, seat, &found.chosen)
        _look_at_display(state, &cards, &found.chosen, display)
        for i in range(NUM_COLORS):
            wanted[i] += found.chosen.wanted[i]
        memcpy(stored, found.chosen.stored, sizeof(stored))
        num_hand = _without(hand, num_hand, &cards, found.chosen.used)
    for i in range(DISPLAY):
        plans.on_display += display[i]
    plans.on_supply = _on_supply(state, wanted)


# --- single cards

cdef void plans_reach(const CoatlStateC* state, int seat, int face, int* now, int* points) noexcept nogil:
    cdef CardsC cards
    cdef PlanC start, plan
    cdef const CoatlC* coatl
    cdef int number, i, found, missing, num_started = 0, num_unfinished = 0
    cdef bint is_right
    now[0] = 0
    memset(points, 0, (PLANS_MISSING + 1) * sizeof(int))
    for number in range(COATLS + 1):
        coatl = NULL
        if number < COATLS:
            coatl = &state.coatls[seat][number]
            if coatl.length == 0:
                continue
            num_started += 1
            num_unfinished += not coatl.closed
            if coatl.closed or coatl.length > PLANS_LONGEST or coatl.num_cards == PLAYED:
                continue
            found = False
            for i in range(coatl.num_cards):
                found = found or coatl.cards[i] == face
            if found:
                continue
        elif num_started == COATLS or num_unfinished == MAX_UNFINISHED:
            continue
        _begin(coatl, NULL, 0, &start, &cards)
        memcpy(start.stored, state.table.stored[seat], sizeof(start.stored))
        found = card_points(face, card_times(face, start.pieces, start.length, False, False))
        now[0] = max(now[0], found)
        points[0] = max(points[0], found)
        for is_right in range(2):
            plan = start
            while _grow_for(&plan, face, is_right):
                found = card_points(face, card_times(face, plan.pieces, plan.length, False, False))
                for missing in range(plan.missing, PLANS_MISSING + 1):
                    points[missing] = max(points[missing], found)
    for missing in range(1, PLANS_MISSING + 1):
        points[missing] = max(points[missing], points[missing - 1])


cdef int plans_temple_met(const CoatlStateC* state, int seat, int temple) noexcept nogil:
    cdef uint8_t counts[NUM_COLORS]
    cdef CardsC cards
    cdef PlanC plan
    cdef const TempleC* card = &TEMPLES[temple]
    cdef int number, i, met, best = 0
    for number in range(COATLS):
        if state.coatls[seat][number].length == 0 or state.coatls[seat][number].closed:
            continue
        if state.coatls[seat][number].length > PLANS_LONGEST:
            continue
        _begin(&state.coatls[seat][number], NULL, 0, &plan, &cards)
        memset(counts, 0, sizeof(counts))
        for i in range(plan.length):
            counts[plan.pieces[i]] += 1
        met = 0
        for i in range(2):
            met += _is_met(&plan, counts, card.kind[i], card.a[i], card.b[i])
        best = max(best, met)
    return best
