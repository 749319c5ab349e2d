"""Observations of Coatl: everything open, and the cards whose place the viewer knows; and features of actions."""

from libc.stdint cimport uint8_t, uint16_t, uint64_t
from libc.string cimport memcpy

from cext.core.contract.sets cimport set_first
from cext.core.learning.tensor cimport (tensor_bits, tensor_bytes, tensor_distance, tensor_head, tensor_number,
                                        tensor_one_hot, tensor_seat, tensor_zeros)
from cext.games.coatl.cards cimport FACE_OF, PAIR_A, PAIR_B
from cext.games.coatl.evaluation cimport CoatlCacheC, evaluation_outlook
from cext.games.coatl.rules cimport MAX_ACTIONS, rules_apply_action, rules_score
from cext.games.coatl.state cimport (ADD, BODIES, BODY, CLOSE, DISCARD, DISCARDED, DRAW, IN_DECK, IN_HAND, KEEP,
                                     NO_CARD, ON_DISPLAY, PERFECT, PLAY, PROMISE, PUT_AWAY, START, TAKE, TEMPLE, THIRD,
                                     CoatlC, CoatlStateC, TableC, action_a, action_b, action_card, action_coatl,
                                     action_kind, action_side, action_verb, coatl_points, state_coatl,
                                     state_current_player, state_num_stored, state_seen_by_all)

cdef enum:
    MAX_KEPT = 3                # prophecies that a seat keeps


cdef float* _faces(float* out, uint64_t cards) noexcept nogil:
    """Write how many cards of each face are in a set."""
    cdef float* end = tensor_zeros(out, NUM_FACES)
    while cards:
        out[FACE_OF[set_first(cards)]] += 1
        cards &= cards - 1
    return end


cdef float* _pieces(float* out, const CoatlC* coatl) noexcept nogil:
    """Write a plane for each colour: the places, from the head on, where the Coatl has it."""
    cdef float* end = tensor_zeros(out, NUM_COLORS * MAX_PIECES)
    cdef int i
    for i in range(coatl.length):
        out[coatl.pieces[i] * MAX_PIECES + i] = 1.0
    return end


cdef float* _played(float* out, const CoatlC* coatl) noexcept nogil:
    """Write how many cards of each face are played on a Coatl."""
    cdef float* end = tensor_zeros(out, NUM_FACES)
    cdef int i
    for i in range(coatl.num_cards):
        out[coatl.cards[i]] += 1
    return end


cdef void tensor_observe(const void* data, int viewer, float* out) noexcept nogil:
    cdef const CoatlStateC* state = <const CoatlStateC*>data
    cdef const CoatlC* coatl
    cdef uint64_t seen = state.seen[viewer], to_all = state_seen_by_all(state)
    cdef uint16_t temples_seen = state.temples_seen[viewer]
    cdef int n = state.table.num_players, k, i, pile
    cdef int seats[MAX_SEATS]
    for k in range(MAX_SEATS):
        seats[k] = tensor_seat(viewer, k, n)
    out = tensor_head(out, viewer, state_current_player(state), n)

    # Coatls
    for k in range(NUM_COATLS):
        if seats[k // COATLS] >= 0:
            out = _pieces(out, &state.coatls[seats[k // COATLS]][k % COATLS])
        else:
            out = tensor_zeros(out, NUM_COLORS * MAX_PIECES)
    for k in range(NUM_COATLS):
        if seats[k // COATLS] < 0:
            out = tensor_zeros(out, COATL_SCALARS)
            continue
        coatl = &state.coatls[seats[k // COATLS]][k % COATLS]
        out = tensor_number(out, coatl.length)
        out = tensor_number(out, coatl.has_head)
        out = tensor_number(out, coatl.has_tail)
        out = tensor_number(out, coatl.closed)
        out = tensor_number(out, coatl.points)
    for k in range(NUM_COATLS):
        if seats[k // COATLS] >= 0:
            out = _played(out, &state.coatls[seats[k // COATLS]][k % COATLS])
        else:
            out = tensor_zeros(out, NUM_FACES)
    for k in range(NUM_COATLS):
        i = NO_CARD
        if seats[k // COATLS] >= 0 and state.coatls[seats[k // COATLS]][k % COATLS].length > 0:
            i = state.coatls[seats[k // COATLS]][k % COATLS].temple
        out = tensor_one_hot(out, i, NUM_TEMPLES)

    # pieces
    out = tensor_bytes(out, &state.table.supply[0][0], 2 * NUM_COLORS)
    out = tensor_bytes(out, state.table.pairs, NUM_PAIRS)
    out = tensor_bytes(out, &state.bag[0][0], NUM_KINDS * NUM_COLORS)
    for k in range(MAX_SEATS):
        if seats[k] >= 0:
            out = tensor_bytes(out, &state.table.stored[seats[k]][0][0], NUM_KINDS * NUM_COLORS)
        else:
            out = tensor_zeros(out, NUM_KINDS * NUM_COLORS)

    # prophecies whose place the viewer knows, by face
    out = _faces(out, state.cards[ON_DISPLAY] & seen)
    out = _faces(out, state.cards[DISCARDED] & seen)
    out = _faces(out, state.cards[IN_DECK] & seen)
    for k in range(MAX_SEATS):
        out = _faces(out, state.cards[IN_HAND + seats[k]] & seen if seats[k] >= 0 else 0)
    for k in range(MAX_SEATS):
        out = _faces(out, state.cards[IN_HAND + seats[k]] & to_all if seats[k] >= 0 else 0)
    for k in range(MAX_SEATS):
        out = _faces(out, state.cards[PUT_AWAY + seats[k]] & seen if seats[k] >= 0 else 0)

    # temples
    for pile in range(PILES):
        out = tensor_one_hot(out, state.table.tops[pile], NUM_TEMPLES)
    out = tensor_bytes(out, state.table.below, PILES)
    for k in range(MAX_SEATS):
        out = tensor_bits(out, state.temples[IN_HAND + seats[k]] & temples_seen if seats[k] >= 0 else 0, NUM_TEMPLES)

    # seats
    for k in range(MAX_SEATS):
        out = tensor_number(out, rules_score(state, seats[k]) if seats[k] >= 0 else 0)
    for k in range(MAX_SEATS):
        out = tensor_number(out, state.table.num_hand[seats[k]] if seats[k] >= 0 else 0)
    for k in range(MAX_SEATS):
        out = tensor_number(out, state.table.num_away[seats[k]] if seats[k] >= 0 else 0)
    for k in range(MAX_SEATS):
        out = tensor_number(out, state.table.num_temples[seats[k]] if seats[k] >= 0 else 0)
    for k in range(MAX_SEATS):
        out = tensor_bits(out, state.table.tokens[seats[k]] if seats[k] >= 0 else 0, NUM_TOKENS)

    # the clock
    out = tensor_one_hot(out, state.table.phase, NUM_PHASES)
    out = tensor_one_hot(out, state.table.pending, NUM_EVENTS)
    out = tensor_number(out, state.num_deck)
    out = tensor_number(out, state.num_discarded)
    out = tensor_number(out, state.table.strict_ends)
    out = tensor_number(out, state.table.with_tokens)
    out = tensor_number(out, state.table.actions_left)
    out = tensor_number(out, state.table.passes)
    out = tensor_number(out, state.table.ending == THIRD)
    out = tensor_number(out, state.table.ending == BODIES)
    out = tensor_number(out, state.table.closing)
    out = tensor_number(out, state.table.round)
    out = tensor_number(out, state.table.last_round)
    tensor_one_hot(out, tensor_distance(viewer, state.table.ending_seat, n) if state.table.ending == THIRD else -1,
                   MAX_SEATS)


# --- actions

cdef inline bint _is_about_a_coatl(int verb) noexcept nogil:
    return verb == ADD or verb == PLAY or verb == TEMPLE or verb == CLOSE


cdef float* _target(float* out, action_t action) noexcept nogil:
    """Write the verb of an action, and the pieces, cards and places that it names."""
    cdef int i, verb = action_verb(action), kind = action_kind(action), card = action_card(action, 0)
    cdef bint has_piece = verb == TAKE or verb == START or verb == ADD or verb == PERFECT
    cdef float* colors
    cdef float* faces
    out = tensor_one_hot(out, verb - 1, ACTION_VERBS)
    out = tensor_one_hot(out, kind if has_piece else -1, NUM_KINDS)
    colors = out
    out = tensor_zeros(out, NUM_COLORS)
    if has_piece:
        colors[action_a(action)] += 1
        if kind == BODY and (verb == TAKE or verb == PERFECT):
            colors[action_b(action)] += 1
    faces = out
    out = tensor_zeros(out, NUM_FACES)
    if verb == KEEP:
        for i in range(MAX_KEPT):
            if action_card(action, i) >= 0:
                faces[action_card(action, i)] += 1
    elif (verb == DRAW or verb == PLAY or verb == DISCARD) and card >= 0:
        faces[card] = 1
    out = tensor_one_hot(out, card if verb == TEMPLE or verb == PROMISE else -1, NUM_TEMPLES)
    out = tensor_one_hot(out, action_coatl(action) if _is_about_a_coatl(verb) else -1, COATLS)
    return tensor_one_hot(out, action_side(action) if verb == ADD and kind == BODY else -1, 2)


cdef float* _stock(float* out, const CoatlStateC* state, action_t action) noexcept nogil:
    """Write what the seat to move has stored, and what is on the supply board, of the pieces of an action."""
    cdef const TableC* table = &state.table
    cdef const uint8_t* own = table.stored[table.to_move][action_kind(action)]
    cdef int pair, verb = action_verb(action), kind = action_kind(action), a = action_a(action), b = action_b(action)
    cdef int stored = 0, supplied = 0
    if verb == TAKE or verb == PERFECT or verb == START or verb == ADD:
        stored = own[a]
        if kind == BODY and (verb == TAKE or verb == PERFECT) and a != b:
            stored += own[b]
        if kind != BODY:
            supplied = table.supply[kind][a]
        else:
            for pair in range(NUM_PAIRS):
                supplied += table.pairs[pair] * ((PAIR_A[pair] == a) + (PAIR_B[pair] == a))
                if (verb == TAKE or verb == PERFECT) and a != b:
                    supplied += table.pairs[pair] * ((PAIR_A[pair] == b) + (PAIR_B[pair] == b))
    out = tensor_number(out, stored)
    return tensor_number(out, supplied)


cdef void tensor_observe_actions(void* cache, const void* data, const action_t* actions, int n,
                                 float* out) noexcept nogil:
    # The action is played on a copy. What it would uncover is a random event, which is not resolved.
    cdef const CoatlStateC* state = <const CoatlStateC*>data
    cdef const CoatlC* coatl
    cdef CoatlStateC after
    cdef float outlooks[MAX_ACTIONS]
    cdef int points[COATLS]             # of the own Coatls, now
    cdef int i, number, verb, seat = state.table.to_move
    cdef float now = evaluation_outlook(state, seat, <CoatlCacheC*>cache), best = -1e9
    for number in range(COATLS):
        coatl = state_coatl(state, seat, number)
        points[number] = coatl_points(state, coatl) if coatl.length > 0 else 0
    for i in range(n):
        verb, number = action_verb(actions[i]), action_coatl(actions[i])
        memcpy(&after, state, sizeof(CoatlStateC))
        rules_apply_action(&after, actions[i])
        outlooks[i] = evaluation_outlook(&after, seat, <CoatlCacheC*>cache)
        best = max(best, outlooks[i])
        out = _target(out, actions[i])
        out = _stock(out, state, actions[i])
        if _is_about_a_coatl(verb):
            coatl = state_coatl(state, seat, number)
            out = tensor_number(out, coatl.length)
            out = tensor_number(out, coatl.has_head)
            out = tensor_number(out, coatl.has_tail)
            out = tensor_number(out, coatl.num_cards)
        else:
            out = tensor_zeros(out, 4)
        out = tensor_number(out, state_num_stored(&after, seat))
        out = tensor_number(out, after.table.num_hand[seat])
        out = tensor_number(out, coatl_points(&after, state_coatl(&after, seat, number)) - points[number]
                            if _is_about_a_coatl(verb) else 0)
        out = tensor_number(out, outlooks[i] - now)
        out += 1                        # what it lacks to the best action, below
    for i in range(n):
        out -= ACTION_SIZE
        out[ACTION_SIZE - 1] = best - outlooks[n - 1 - i]
