"""The rules of Coatl: legal actions and their effects; contracts in ``rules.pxd``.

Sources: the rulebook (Synapses Games, 2020) and the decisions D1-D15 of ``docs/games/coatl.md``.
"""

from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memmove, memset

from cext.core.contract.rng cimport rng_below
from cext.core.contract.sets cimport set_first, set_member, set_size
from cext.games.coatl.cards cimport (FACE_OF, FACES, FIRST_CARD, NUM_CARDS, NUM_COLORS, NUM_FACES, NUM_PAIRS,
                                     NUM_TEMPLES, PAIR_A, PAIR_B, PAIR_OF, SECOND_COPIES, card_reached, neighbors_pair,
                                     neighbors_piece, temple_met)
from cext.games.coatl.state cimport (ACROSS, ADD, AWAY, BODIES, BODY, BODY_SPACES, BUILDING, CAPACITY, CLOSE, CLOSING,
                                     COATLS, DEAL, DEALING, DEALT, DISCARD, DISCARDED, DISPLAY, DRAW, DRAWING, END,
                                     EVERYBODY, FORESEEING, FUTURE, HEAD, HEAD_SPACES, IN_DECK, IN_HAND, KEEP, KEEPING,
                                     LEFT, MAX_PIECES, MAX_UNFINISHED, NONE, NO_CARD, NUM_KINDS, ON_COATL, ON_DISPLAY,
                                     OVER, PASS, PERFECT, PERFECT_PICK, PLAY, PLAYED, PLAYED_UNSEEN, PRIESTS_PROMISE,
                                     PRIVATE, PROMISE, PUBLIC, PUT_AWAY, REFILL, REFILLING, RENEWED, REVEAL, REVEALED,
                                     REVEALING, SEE_THE_FUTURE, START, TAIL, TAKE, TEMPLE, THIRD, TURN, UNCOVER,
                                     UNCOVERING, UNSURE, TableC, action_a, action_b, action_card, action_coatl,
                                     action_kind, action_make, action_side, action_verb, coatl_points, state_move_card,
                                     state_move_temple, state_num_stored, state_observe, state_seen_by_all)


# --- helpers

cdef int rules_hand(const CoatlStateC* state, int seat, uint8_t* faces) noexcept nogil:
    cdef uint64_t left = state.cards[IN_HAND + seat]
    cdef int n = 0
    while left:
        faces[n] = FACE_OF[set_first(left)]
        left &= left - 1
        n += 1
    return n


cdef inline int _num_drawable(const CoatlStateC* state) noexcept nogil:
    """Return the number of cards in the deck and in the discards that renew it (D11)."""
    cdef int seat, total = state.num_deck + state.num_discarded
    for seat in range(state.table.num_players):
        total += state.table.num_away[seat]
    return total


cdef inline int _num_to_reveal(const CoatlStateC* state) noexcept nogil:
    """Return how many cards would refill the display now."""
    return min(DISPLAY - state.num_display, _num_drawable(state))


cdef inline bint _has_face(const CoatlC* coatl, int face) noexcept nogil:
    """Return whether a prophecy is on a Coatl."""
    cdef int i
    for i in range(coatl.num_cards):
        if coatl.cards[i] == face:
            return True
    return False


cdef bint rules_matches(const CoatlStateC* state, const CoatlC* coatl, int face) noexcept nogil:
    cdef bint strict = state.table.strict_ends
    return (FACES[face].neighbors & ~coatl.neighbors == 0 and coatl.num_cards < PLAYED
            and not _has_face(coatl, face)
            and card_reached(face, coatl.pieces, coatl.length, strict and not coatl.has_head,
                             strict and not coatl.has_tail))


cdef uint8_t _NOTHING[NUM_PAIRS]


cdef inline bint _is_empty(const uint8_t* counts, int n) noexcept nogil:
    """Return whether all counts are 0."""
    return memcmp(counts, _NOTHING, n) == 0


cdef inline int _num_supplied(const uint8_t* counts, int n) noexcept nogil:
    """Return the sum of counts."""
    cdef int i, total = 0
    for i in range(n):
        total += counts[i]
    return total


cdef int _num_to_refill(const CoatlStateC* state, int* missing) noexcept nogil:
    """Count the heads, tails and pairs of bodies that would refill the supply now; return the number of pieces."""
    cdef int kind
    for kind in range(2):
        missing[kind] = min(HEAD_SPACES - _num_supplied(state.table.supply[kind], NUM_COLORS),
                            _num_supplied(state.bag[kind], NUM_COLORS))
    missing[BODY] = min(BODY_SPACES - _num_supplied(state.table.pairs, NUM_PAIRS),
                        _num_supplied(state.bag[BODY], NUM_COLORS) // 2)
    return missing[HEAD] + missing[TAIL] + 2 * missing[BODY]


# --- legal actions

cdef int _list_keep(const CoatlStateC* state, action_t* actions) noexcept nogil:
    """List the sets of at most three of the dealt cards; return their number. Of two equal cards the first is kept
    first.
    """
    cdef uint8_t faces[MAX_DEALT]       # as dealt: 3 to 6 by seat
    cdef int n = rules_hand(state, state.table.to_move, faces)
    cdef int chosen, i, kept, count = 0
    cdef action_t action
    for chosen in range(1 << n):
        action = <action_t>KEEP << 36
        kept = 0
        for i in range(n):
            if chosen >> i & 1:
                if kept == 3 or (i > 0 and faces[i] == faces[i - 1] and not chosen >> (i - 1) & 1):
                    kept = -1
                    break
                action |= <action_t>(faces[i] + 1) << 6 * kept
                kept += 1
        if kept >= 0:
            i = count
            while i > 0 and actions[i - 1] > action:
                actions[i] = actions[i - 1]
                i -= 1
            actions[i] = action
            count += 1
    return count


# The takes of pairs of bodies in canonical order, which is not that of the pairs' numbers.
cdef action_t _PAIR_TAKES[NUM_PAIRS]
cdef uint8_t _PAIRS_TAKEN[NUM_PAIRS]


def _make_takes():
    """Fill in the takes of pairs."""
    for i, (b, a) in enumerate((b, a) for b in range(NUM_COLORS) for a in range(b + 1)):
        _PAIR_TAKES[i] = action_make(TAKE, 0, a, b, BODY, 0, 0)
        _PAIRS_TAKEN[i] = PAIR_OF[a][b]


_make_takes()


cdef inline int _list_colors(action_t first, const uint8_t* counts, action_t* actions) noexcept nogil:
    """List an action with each colour whose count is not 0; return their number. It writes up to NUM_COLORS entries."""
    cdef int color, n = 0
    for color in range(NUM_COLORS):
        actions[n] = first + (<action_t>color << 6)
        n += counts[color] > 0
    return n


cdef int _list_take(const CoatlStateC* state, action_t* actions) noexcept nogil:
    """List the takes; return their number."""
    cdef int room = CAPACITY - state_num_stored(state, state.table.to_move)
    cdef int i, n = 0
    if room >= 1:
        n = _list_colors(action_make(TAKE, 0, 0, 0, HEAD, 0, 0), state.table.supply[HEAD], actions)
        n += _list_colors(action_make(TAKE, 0, 0, 0, TAIL, 0, 0), state.table.supply[TAIL], actions + n)
    if room >= 2:
        for i in range(NUM_PAIRS):
            actions[n] = _PAIR_TAKES[i]
            n += state.table.pairs[_PAIRS_TAKEN[i]] > 0
    return n


cdef inline uint64_t _one_of_each(uint64_t cards) noexcept nogil:
    """Return the cards without the second one of two equal cards."""
    return cards & ~(cards << 1 & SECOND_COPIES)


cdef int _list_cards(int verb, uint64_t cards, action_t* actions) noexcept nogil:
    """List an action for each different card; return their number."""
    cdef int n = 0
    cards = _one_of_each(cards)
    while cards:
        actions[n] = action_make(verb, FACE_OF[set_first(cards)] + 1, 0, 0, 0, 0, 0)
        cards &= cards - 1
        n += 1
    return n


cdef int _list_draw(const CoatlStateC* state, action_t* actions) noexcept nogil:
    """List the draws; return their number."""
    cdef int n = 0
    if _num_drawable(state) > 0:
        actions[0] = action_make(DRAW, 0, 0, 0, 0, 0, 0)
        n = 1
    return n + _list_cards(DRAW, state.cards[ON_DISPLAY], actions + n)


cdef int _list_start(const CoatlStateC* state, action_t* actions) noexcept nogil:
    """List the starts of a Coatl; return their number."""
    cdef int kind, n = 0
    for kind in range(NUM_KINDS):
        n += _list_colors(action_make(START, 0, 0, 0, kind, 0, 0), state.table.stored[state.table.to_move][kind],
                          actions + n)
    return n


cdef int _list_ends(const CoatlStateC* state, int number, action_t* actions) noexcept nogil:
    """List the heads and tails that can be added to a Coatl; return their number."""
    cdef const CoatlC* coatl = &state.coatls[state.table.to_move][number]
    cdef int n = 0
    if not coatl.has_head and not (coatl.has_tail and coatl.length == 1):
        n = _list_colors(action_make(ADD, 0, 0, 0, HEAD, number, 0),
                         state.table.stored[state.table.to_move][HEAD], actions)
    if not coatl.has_tail and not (coatl.has_head and coatl.length == 1):
        n += _list_colors(action_make(ADD, 0, 0, 0, TAIL, number, 0),
                          state.table.stored[state.table.to_move][TAIL], actions + n)
    return n


cdef int _list_add(const CoatlStateC* state, action_t* actions) noexcept nogil:
    """List the candidates for adding a piece; return their number. Heads and tails come first, with the side 0."""
    cdef int side, number, n = 0
    cdef const CoatlC* coatl
    for side in range(2):
        for number in range(COATLS):
            coatl = &state.coatls[state.table.to_move][number]
            if coatl.length == 0 or coatl.closed or coatl.length == MAX_PIECES:
                continue
            if side == LEFT:
                n += _list_ends(state, number, actions + n)
            if not (coatl.has_head if side == LEFT else coatl.has_tail):
                n += _list_colors(action_make(ADD, 0, 0, 0, BODY, number, side),
                                  state.table.stored[state.table.to_move][BODY], actions + n)
    return n


cdef int _list_play(const CoatlStateC* state, action_t* actions) noexcept nogil:
    """List the candidates for playing a prophecy; return their number."""
    cdef int face, number, seat = state.table.to_move, n = 0
    cdef uint64_t left, hand = _one_of_each(state.cards[IN_HAND + seat])
    cdef const CoatlC* coatl
    for number in range(COATLS):
        coatl = &state.coatls[seat][number]
        if (coatl.length == 0 or coatl.closed or coatl.num_cards == PLAYED
                or (state.table.phase == CLOSING and number != state.table.closing - 1)):
            continue
        left = hand
        while left:
            face = FACE_OF[set_first(left)]
            left &= left - 1
            actions[n] = action_make(PLAY, face + 1, 0, 0, 0, number, 0)
            n += FACES[face].neighbors & ~coatl.neighbors == 0
    return n


cdef int _list_temples(int verb, uint64_t temples, int number, action_t* actions) noexcept nogil:
    """List an action for each temple; return their number."""
    cdef int n = 0
    while temples:
        actions[n] = action_make(verb, set_first(temples) + 1, 0, 0, 0, number, 0)
        temples &= temples - 1
        n += 1
    return n


cdef int _list_perfect(const CoatlStateC* state, action_t* actions) noexcept nogil:
    """List the perfect picks; return their number."""
    cdef int room = CAPACITY - state_num_stored(state, state.table.to_move)
    cdef int kind, a, b, n = 0
    for kind in range(2):
        for a in range(NUM_COLORS):
            if room >= 1 and state.bag[kind][a] > 0:
                actions[n] = action_make(PERFECT, 0, a, 0, kind, 0, 0)
                n += 1
    for b in range(NUM_COLORS):
        for a in range(b + 1):
            if room >= 2 and state.bag[BODY][a] > (a == b) and state.bag[BODY][b] > 0:
                actions[n] = action_make(PERFECT, 0, a, b, BODY, 0, 0)
                n += 1
    return n


cdef int rules_candidates(const CoatlStateC* state, int verb, action_t* actions) noexcept nogil:
    cdef int seat = state.table.to_move
    if verb == TAKE:
        return _list_take(state, actions)
    if verb == DRAW:
        return _list_draw(state, actions)
    if verb == START:
        return _list_start(state, actions)
    if verb == ADD:
        return _list_add(state, actions)
    if verb == PLAY:
        return _list_play(state, actions)
    if verb == KEEP:
        return _list_keep(state, actions)
    if verb == TEMPLE:
        return _list_temples(TEMPLE, state.temples[ON_DISPLAY] | state.temples[IN_HAND + seat],
                             state.table.closing - 1, actions)
    if verb == PERFECT:
        return _list_perfect(state, actions)
    if verb == PROMISE:
        return _list_temples(PROMISE, state.temples[ON_DISPLAY], 0, actions)
    if verb == DISCARD:
        return _list_cards(DISCARD, state.cards[IN_HAND + seat], actions)
    actions[0] = action_make(verb, 0, 0, 0, 0, state.table.closing - 1 if verb == CLOSE else 0, 0)
    return 1


cdef bint _would_match(const CoatlC* coatl, int kind, int color, int face) noexcept nogil:
    """Return whether a prophecy could be played on a Coatl with this closing piece."""
    cdef uint8_t pieces[MAX_PIECES]     # the Coatl is shorter: `_list_add` leaves those of MAX_PIECES out
    cdef uint32_t neighbors = neighbors_piece(color) | (
        neighbors_pair(color, coatl.pieces[0]) if kind == HEAD else
        neighbors_pair(coatl.pieces[coatl.length - 1], color))
    if FACES[face].neighbors & ~(coatl.neighbors | neighbors) != 0:
        return False
    if kind == HEAD:
        pieces[0] = <uint8_t>color
        memcpy(pieces + 1, coatl.pieces, MAX_PIECES - 1)
    else:
        memcpy(pieces, coatl.pieces, MAX_PIECES)
        pieces[coatl.length] = <uint8_t>color
    return card_reached(face, pieces, coatl.length + 1, False, False)


cdef bint _may_close(const CoatlStateC* state, const CoatlC* coatl, int kind, int color) noexcept nogil:
    """Return whether a closing piece is legal: a prophecy is on the Coatl or can be played at once."""
    cdef uint64_t left = state.cards[IN_HAND + state.table.to_move]
    if coatl.num_cards > 0:
        return True
    while left:
        if _would_match(coatl, kind, color, FACE_OF[set_first(left)]):
            return True
        left &= left - 1
    return False


cdef bint _temple_counts(const CoatlC* coatl, int temple) noexcept nogil:
    """Return whether a Coatl meets at least one requirement of a temple."""
    cdef uint8_t counts[NUM_COLORS]
    cdef int i
    memset(counts, 0, sizeof(counts))
    for i in range(coatl.length):
        counts[coatl.pieces[i]] += 1
    return temple_met(temple, counts, coatl.length) > 0


cdef bint rules_confirm(const CoatlStateC* state, action_t action) noexcept nogil:
    cdef const CoatlC* coatl = &state.coatls[state.table.to_move][action_coatl(action)]
    cdef int verb = action_verb(action), kind = action_kind(action)
    if verb == PLAY:
        return rules_matches(state, coatl, action_card(action, 0))
    if verb == TEMPLE:
        return _temple_counts(coatl, action_card(action, 0))
    return not (coatl.has_tail if kind == HEAD else coatl.has_head) or (
        _may_close(state, coatl, kind, action_a(action)))


cdef inline int _may_draw(const CoatlStateC* state) noexcept nogil:
    """Return the verb DRAW as a set, if it is legal."""
    return (state.table.num_hand[state.table.to_move] < HAND
            and (state.num_display > 0 or _num_drawable(state) > 0)) << DRAW


cdef int _building_verbs(const CoatlStateC* state, int num_stored) noexcept nogil:
    """Return the verbs for building."""
    cdef const CoatlC* coatl
    cdef int seat = state.table.to_move, number, started = 0, unfinished = 0, verbs = 0
    for number in range(COATLS):
        coatl = &state.coatls[seat][number]
        started += coatl.length > 0
        unfinished += coatl.length > 0 and not coatl.closed
    if num_stored > 0:
        verbs = (started < COATLS and unfinished < MAX_UNFINISHED) << START | (unfinished > 0) << ADD
    if unfinished > 0 and state.table.num_hand[seat] > 0:
        verbs |= 1 << PLAY
    return verbs


cdef bint _has_action(const CoatlStateC* state, int verb) noexcept nogil:
    """Return whether a verb has a legal action."""
    cdef action_t candidates[MAX_ACTIONS]    # of one verb
    cdef int i
    for i in range(rules_candidates(state, verb, candidates)):
        if rules_is_legal(state, candidates[i]):
            return True
    return False


cdef int _turn_verbs(const CoatlStateC* state) noexcept nogil:
    """Return the verbs at the start of a turn."""
    cdef const TableC* table = &state.table
    cdef int num_stored = state_num_stored(state, table.to_move), room = CAPACITY - num_stored
    cdef int verbs = _may_draw(state) | _building_verbs(state, num_stored)
    if ((room >= 2 and not _is_empty(table.pairs, NUM_PAIRS))
            or (room >= 1 and not _is_empty(&table.supply[0][0], 2 * NUM_COLORS))):
        verbs |= 1 << TAKE
    if not verbs & (1 << TAKE | 1 << DRAW | 1 << START) and not (
            _has_action(state, ADD) or _has_action(state, PLAY)):
        verbs = 0
    # D6, D9: no action is possible, or the first of two actions of a last turn is done.
    if verbs == 0 or (table.ending == THIRD and table.to_move > table.ending_seat and table.actions_left == 1):
        verbs |= 1 << PASS
    if table.tokens[table.to_move] & PERFECT_PICK:
        verbs |= 1 << PERFECT
    if table.tokens[table.to_move] & SEE_THE_FUTURE:
        verbs |= 1 << FUTURE
    if table.tokens[table.to_move] & PRIESTS_PROMISE:
        verbs |= 1 << PROMISE
    return verbs


cdef int rules_verbs(const CoatlStateC* state) noexcept nogil:
    cdef int phase = state.table.phase
    if state.table.pending != NONE or phase == OVER:
        return 0
    if phase == TURN:
        return _turn_verbs(state)
    if phase == BUILDING:
        return 1 << END | _building_verbs(state, state_num_stored(state, state.table.to_move))
    if phase == DRAWING:
        return 1 << END | _may_draw(state)
    if phase == FORESEEING:
        return 1 << END | 1 << DISCARD | _may_draw(state)
    if phase == KEEPING:
        return 1 << KEEP
    if state.coatls[state.table.to_move][state.table.closing - 1].num_cards > 0:
        return 1 << PLAY | 1 << TEMPLE | 1 << CLOSE
    return 1 << PLAY


cdef int rules_legal_actions(const CoatlStateC* state, action_t* actions) noexcept nogil:
    # The canonical order is by verb first.
    cdef int i, count, verb, n = 0, verbs = rules_verbs(state)
    while verbs:
        verb = set_first(verbs)
        verbs &= verbs - 1
        count = n + rules_candidates(state, verb, actions + n)
        if not DOUBTFUL >> verb & 1:
            n = count
            continue
        for i in range(n, count):
            actions[n] = actions[i]
            n += rules_is_legal(state, actions[i])
    return n


# --- what actions do

cdef inline uint64_t _of_face(int face) noexcept nogil:
    """Return the cards of a face: one, or two with successive numbers."""
    return (<uint64_t>1 << FIRST_CARD[face + 1]) - (<uint64_t>1 << FIRST_CARD[face])


cdef inline uint64_t _discards(const CoatlStateC* state) noexcept nogil:
    """Return all discards, including those that not every seat has seen."""
    cdef uint64_t cards = state.cards[DISCARDED]
    cdef int seat
    for seat in range(4):
        cards |= state.cards[PUT_AWAY + seat]
    return cards


cdef void _observe_renewal(CoatlStateC* state, int num_across) noexcept nogil:
    """Add the renewal of the deck to the observations."""
    cdef uint64_t left = state.cards[DISCARDED]
    cdef int seat
    state_observe(state, RENEWED, 0, num_across)
    while left:
        state_observe(state, PUBLIC, 0, FACE_OF[set_first(left)])
        left &= left - 1
    for seat in range(4):
        left = state.cards[PUT_AWAY + seat]
        while left:
            state_observe(state, PRIVATE, seat, FACE_OF[set_first(left)])
            left &= left - 1


cdef void _renew_deck(CoatlStateC* state, int num_across) noexcept nogil:
    """Put the discards into the deck. `num_across`: the cards of the old deck that are revealed together with new ones.
    """
    cdef uint64_t cards = _discards(state)
    cdef int seat
    _observe_renewal(state, num_across)
    state.cards[DISCARDED] = 0
    for seat in range(4):
        state.cards[PUT_AWAY + seat] = 0
        state.seen[seat] &= ~cards
        state.table.num_away[seat] = 0
    state.cards[IN_DECK] |= cards
    state.num_deck = <uint8_t>set_size(state.cards[IN_DECK])
    state.num_discarded = 0


cdef void _finish_game(CoatlStateC* state) noexcept nogil:
    """End the game."""
    state.table.phase = OVER
    state.table.pending = NONE
    state.table.to_move = 0
    state.table.actions_left = 1
    state.table.passes = 0


cdef void _look_for_bodies(CoatlStateC* state, int round) noexcept nogil:
    """End the game after one more round if the bodies are used up. `round` is the round that is complete."""
    # Bodies leave the bag in pairs, and no seat gives one back: below 2 are none at all.
    if (state.table.ending == 0 and _is_empty(state.table.pairs, NUM_PAIRS)
            and _num_supplied(state.bag[BODY], NUM_COLORS) < 2):
        state.table.ending = BODIES
        state.table.last_round = round + 1


cdef void _hand_over(CoatlStateC* state) noexcept nogil:
    """End an action. Next come the second action of a last turn, the next seat, or the end of the game."""
    cdef TableC* table = &state.table
    cdef int following
    state.turns += 1
    table.phase = TURN
    if table.actions_left > 1:
        table.actions_left -= 1
        return
    if table.pending != REFILLING:
        _look_for_bodies(state, table.round)
    if table.ending != 0:
        table.passes = 0
    following = table.to_move + 1 if table.to_move + 1 < table.num_players else 0
    if ((table.ending == THIRD and following == table.ending_seat)
            or (table.ending == BODIES and following == 0 and table.round == table.last_round)
            or table.passes == table.num_players):
        _finish_game(state)
        return
    table.round += following == 0
    table.to_move = <uint8_t>following
    if table.ending == THIRD and following > table.ending_seat:
        table.actions_left = 2


cdef void _end_turn(CoatlStateC* state, int event) noexcept nogil:
    """End a turn. The random event comes first (D12); it is resolved after the next seat is known."""
    state.table.pending = <uint8_t>event
    _hand_over(state)
    if state.table.phase == OVER:
        state.table.pending = NONE


cdef void _take(CoatlStateC* state, action_t action, bint is_perfect) noexcept nogil:
    """Take pieces from the supply board, or from the bag (perfect pick)."""
    cdef int kind = action_kind(action), a = action_a(action), b = action_b(action), seat = state.table.to_move
    cdef int missing[NUM_KINDS]
    cdef bint is_due
    state.table.stored[seat][kind][a] += 1
    if kind == BODY:
        state.table.stored[seat][kind][b] += 1
    if is_perfect:
        state.table.tokens[seat] &= ~PERFECT_PICK
        state.bag[kind][a] -= 1
        if kind == BODY:
            state.bag[kind][b] -= 1
    elif kind == BODY:
        state.table.pairs[PAIR_OF[a][b]] -= 1
    else:
        state.table.supply[kind][a] -= 1
    # Once the heads and tails are used up, a refill follows every take.
    is_due = (is_perfect or _is_empty(state.table.pairs, NUM_PAIRS)
              or _is_empty(&state.table.supply[0][0], 2 * NUM_COLORS))
    _end_turn(state, REFILLING if is_due and _num_to_refill(state, missing) > 0 else NONE)


cdef void _draw(CoatlStateC* state, action_t action) noexcept nogil:
    """Draw a prophecy from the display, or have one dealt from the deck."""
    cdef int face = action_card(action, 0), seat = state.table.to_move
    state.table.phase = DRAWING
    if face < 0:
        state.table.pending = DEALING
        state.turns += 1
        return
    state_move_card(state, set_first(state.cards[ON_DISPLAY] & _of_face(face)), ON_DISPLAY, IN_HAND + seat,
                    EVERYBODY)
    state.num_display -= 1
    state.table.num_hand[seat] += 1


cdef void _start(CoatlStateC* state, action_t action) noexcept nogil:
    """Start a Coatl."""
    cdef int kind = action_kind(action), number = 0, seat = state.table.to_move
    cdef CoatlC* coatl
    while state.coatls[seat][number].length > 0:
        number += 1
    coatl = &state.coatls[seat][number]
    coatl.length = 1
    coatl.pieces[0] = <uint8_t>action_a(action)
    coatl.neighbors = neighbors_piece(action_a(action))
    coatl.has_head = kind == HEAD
    coatl.has_tail = kind == TAIL
    state.table.stored[seat][kind][action_a(action)] -= 1
    state.table.phase = BUILDING


cdef void _add(CoatlStateC* state, action_t action) noexcept nogil:
    """Add a piece to a Coatl."""
    cdef int kind = action_kind(action), seat = state.table.to_move, number = action_coatl(action)
    cdef int color = action_a(action)
    cdef CoatlC* coatl = &state.coatls[seat][number]
    if kind == HEAD or (kind == BODY and action_side(action) == LEFT):
        coatl.neighbors |= neighbors_piece(color) | neighbors_pair(color, coatl.pieces[0])
        memmove(coatl.pieces + 1, coatl.pieces, MAX_PIECES - 1)
        coatl.pieces[0] = <uint8_t>color
    else:
        coatl.neighbors |= neighbors_piece(color) | neighbors_pair(coatl.pieces[coatl.length - 1], color)
        coatl.pieces[coatl.length] = <uint8_t>color
    coatl.length += 1
    if kind == HEAD:
        coatl.has_head = 1
    elif kind == TAIL:
        coatl.has_tail = 1
    state.table.stored[seat][kind][color] -= 1
    state.table.phase = BUILDING
    if coatl.has_head and coatl.has_tail:
        state.table.phase = CLOSING
        state.table.closing = <uint8_t>(number + 1)


cdef void _play(CoatlStateC* state, action_t action) noexcept nogil:
    """Play a prophecy on a Coatl."""
    cdef int seat = state.table.to_move, face = action_card(action, 0), i
    cdef CoatlC* coatl = &state.coatls[seat][action_coatl(action)]
    cdef uint64_t cards = state.cards[IN_HAND + seat] & _of_face(face)
    if cards & state_seen_by_all(state):
        cards &= state_seen_by_all(state)       # of two equal cards, the one that all know of
    elif state.num_observations > 0:
        state_observe(state, PLAYED_UNSEEN, seat, face)
    state_move_card(state, set_first(cards), IN_HAND + seat, ON_COATL + seat, EVERYBODY)
    state.table.num_hand[seat] -= 1
    i = coatl.num_cards
    while i > 0 and coatl.cards[i - 1] > face:
        coatl.cards[i] = coatl.cards[i - 1]
        i -= 1
    coatl.cards[i] = <uint8_t>face
    coatl.num_cards += 1
    if state.table.phase != CLOSING:
        state.table.phase = BUILDING


cdef int _take_public_temple(CoatlStateC* state, int temple) noexcept nogil:
    """Take the top of a temple pile; return the event that is then pending."""
    cdef int pile = 0 if state.table.tops[0] == temple else 1
    state.table.tops[pile] = NO_CARD
    return UNCOVERING if state.table.below[pile] > 0 else NONE


cdef void _close(CoatlStateC* state, action_t action) noexcept nogil:
    """Close a Coatl, with or without a temple."""
    cdef int seat = state.table.to_move, temple = action_card(action, 0), number, closed = 0
    cdef CoatlC* coatl = &state.coatls[seat][action_coatl(action)]
    state.table.phase = BUILDING
    state.table.closing = 0
    if temple >= 0:
        if state.temples[ON_DISPLAY] >> temple & 1:
            state.table.pending = <uint8_t>_take_public_temple(state, temple)
            state.turns += state.table.pending != NONE
            state_move_temple(state, temple, ON_DISPLAY, ON_COATL + seat, EVERYBODY)
        else:
            state.table.num_temples[seat] -= 1
            state_move_temple(state, temple, IN_HAND + seat, ON_COATL + seat, EVERYBODY)
        coatl.temple = <uint8_t>temple
    coatl.closed = 1
    coatl.points = <uint8_t>coatl_points(state, coatl)
    for number in range(COATLS):
        closed += state.coatls[seat][number].closed
    if closed == COATLS and state.table.ending == 0:
        state.table.ending = THIRD
        state.table.ending_seat = <uint8_t>seat


cdef void _see_the_future(CoatlStateC* state) noexcept nogil:
    """Discard the display and refill it."""
    state.table.tokens[state.table.to_move] &= ~SEE_THE_FUTURE
    state.cards[DISCARDED] |= state.cards[ON_DISPLAY]
    state.cards[ON_DISPLAY] = 0
    state.num_discarded += state.num_display
    state.num_display = 0
    state.table.phase = FORESEEING
    if _num_drawable(state) > 0:
        state.table.pending = REVEALING
        state.turns += 1


cdef void _discard(CoatlStateC* state, action_t action) noexcept nogil:
    """Discard a prophecy unseen. The others no longer know where the shown cards of each face are: one may be gone."""
    cdef int seat = state.table.to_move, card, other, face = -1
    cdef uint64_t shown = state.cards[IN_HAND + seat] & state_seen_by_all(state)
    while shown:
        card = set_first(shown)
        shown &= shown - 1
        if FACE_OF[card] != face:
            for other in range(4):
                if other != seat:
                    state.seen[other] &= ~(<uint64_t>1 << card)
            face = FACE_OF[card]
            state_observe(state, UNSURE, seat, face)
    if state.num_observations > 0:
        state_observe(state, AWAY, seat, action_card(action, 0))
    card = set_first(state.cards[IN_HAND + seat] & _of_face(action_card(action, 0)))
    state_move_card(state, card, IN_HAND + seat, PUT_AWAY + seat, 1 << seat)
    state.table.num_hand[seat] -= 1
    state.table.num_away[seat] += 1


cdef void _promise(CoatlStateC* state, action_t action) noexcept nogil:
    """Take a temple for the priest's promise."""
    cdef int seat = state.table.to_move, temple = action_card(action, 0)
    state.table.tokens[seat] &= ~PRIESTS_PROMISE
    state_move_temple(state, temple, ON_DISPLAY, IN_HAND + seat, EVERYBODY)
    state.table.num_temples[seat] += 1
    _end_turn(state, _take_public_temple(state, temple))


cdef void _keep(CoatlStateC* state, action_t action) noexcept nogil:
    """Keep some of the dealt prophecies and discard the others."""
    cdef TableC* table = &state.table
    cdef int seat = table.to_move, kept = 0, card
    cdef uint64_t dealt = state.cards[IN_HAND + seat]
    while dealt:
        card = set_first(dealt)
        dealt &= dealt - 1
        if kept < 3 and action_card(action, kept) == FACE_OF[card]:
            kept += 1
        else:
            state_move_card(state, card, IN_HAND + seat, PUT_AWAY + seat, 1 << seat)
            table.num_hand[seat] -= 1
            table.num_away[seat] += 1
    state.turns += 1
    table.to_move += 1
    if table.to_move == table.num_players:
        table.to_move = 0
        table.round = 1
        table.phase = TURN


cdef void _end(CoatlStateC* state) noexcept nogil:
    """End a turn of drawing or building."""
    cdef bint has_drawn = state.table.phase == DRAWING or state.table.phase == FORESEEING
    _end_turn(state, REVEALING if has_drawn and _num_to_reveal(state) > 0 else NONE)


cdef void _pass(CoatlStateC* state) noexcept nogil:
    """Pass."""
    state.table.passes += state.table.ending == 0
    _hand_over(state)


# --- random events

cdef void _deal(CoatlStateC* state, int face) noexcept nogil:
    """Deal a prophecy to the seat to move."""
    cdef int seat = state.table.to_move
    if state.num_deck == 0:
        _renew_deck(state, 0)
    if state.num_observations > 0:
        state_observe(state, DEALT, seat, face)
    state_move_card(state, set_first(state.cards[IN_DECK] & _of_face(face)), IN_DECK, IN_HAND + seat, 1 << seat)
    state.num_deck -= 1
    state.table.num_hand[seat] += 1


cdef int _num_listed(action_t action) noexcept nogil:
    """Return the number of cards in a list."""
    cdef int n = 0
    while n < DISPLAY and action_card(action, n) >= 0:
        n += 1
    return n


cdef void _reveal(CoatlStateC* state, action_t action) noexcept nogil:
    """Refill the display. If the deck is too small, all of it comes first, the rest from the renewed deck."""
    cdef int i, card, face, n = _num_listed(action)
    cdef int kind = ACROSS if 0 < state.num_deck < n else REVEALED
    cdef uint64_t old = state.cards[IN_DECK] if n > state.num_deck else 0
    if old:
        state.cards[IN_DECK] = 0
        for i in range(4):
            state.seen[i] |= old
        state.cards[ON_DISPLAY] |= old
    if n > state.num_deck:
        _renew_deck(state, state.num_deck)
    for i in range(n):
        face = action_card(action, i)
        if state.num_observations > 0:
            state_observe(state, kind, 0, face)
        if old & _of_face(face):
            old &= ~(<uint64_t>1 << set_first(old & _of_face(face)))
        else:
            card = set_first(state.cards[IN_DECK] & _of_face(face))
            state_move_card(state, card, IN_DECK, ON_DISPLAY, EVERYBODY)
    state.num_display = <uint8_t>set_size(state.cards[ON_DISPLAY])
    state.num_deck = <uint8_t>set_size(state.cards[IN_DECK])


cdef void _refill(CoatlStateC* state, action_t action) noexcept nogil:
    """Refill the supply board."""
    cdef int i, kind, color, pair
    for kind in range(2):
        for i in range(HEAD_SPACES):
            color = <int>(action >> (6 * kind + 3 * i) & 7) - 1
            if color >= 0:
                state.table.supply[kind][color] += 1
                state.bag[kind][color] -= 1
    for i in range(BODY_SPACES):
        pair = <int>(action >> (12 + 4 * i) & 15) - 1
        if pair >= 0:
            state.table.pairs[pair] += 1
            state.bag[BODY][PAIR_A[pair]] -= 1
            state.bag[BODY][PAIR_B[pair]] -= 1
    # The refill belongs to the turn before (D12), which is in the round before if the first seat moves now.
    _look_for_bodies(state, state.table.round - (state.table.to_move == 0))


cdef void _uncover(CoatlStateC* state, int temple) noexcept nogil:
    """Turn over the next card of a temple pile."""
    cdef int pile = 0 if state.table.tops[0] == NO_CARD and state.table.below[0] > 0 else 1
    state.table.tops[pile] = <uint8_t>temple
    state.table.below[pile] -= 1
    state_move_temple(state, temple, IN_DECK, ON_DISPLAY, EVERYBODY)


cdef void _apply_outcome(CoatlStateC* state, action_t action, int verb) noexcept nogil:
    """Apply the outcome of a random event."""
    state.table.pending = NONE
    if verb == DEAL:
        _deal(state, action_card(action, 0))
    elif verb == REVEAL:
        _reveal(state, action)
    elif verb == REFILL:
        _refill(state, action)
    else:
        _uncover(state, action_card(action, 0))


cdef int _pick(const uint8_t* counts, int n, int total, bitgen_t* rng) noexcept nogil:
    """Draw an index, with probabilities in proportion to the counts."""
    cdef int i = 0, k = rng_below(rng, total)
    while k >= counts[i]:
        k -= counts[i]
        i += 1
    return i


cdef int _draw_cards(const CoatlStateC* state, int n, uint8_t* faces, bitgen_t* rng) noexcept nogil:
    """Draw n cards from the deck, and from the discards once it is empty; write their faces in ascending order."""
    cdef uint64_t left, pool = state.cards[IN_DECK]
    cdef int i, card, face, drawn = 0, size = set_size(pool)
    while drawn < n:
        if size == 0:
            pool = _discards(state)
            size = set_size(pool)
        # Draw from all cards until one is in the pool: the same random numbers then mostly draw the same cards from
        # similar decks. Cards of one face are equivalent, so the first ones stand for those in the pool.
        card = rng_below(rng, NUM_CARDS)
        face = FACE_OF[card]
        left = pool & _of_face(face)
        if card - FIRST_CARD[face] >= set_size(left):
            continue
        pool ^= left & (~left + 1)      # the first of them
        size -= 1
        i = drawn
        while i > 0 and faces[i - 1] > face:
            faces[i] = faces[i - 1]
            i -= 1
        faces[i] = <uint8_t>face
        drawn += 1
    return drawn


cdef action_t _draw_refill(const CoatlStateC* state, bitgen_t* rng) noexcept nogil:
    """Draw the pieces that refill the supply board, as an action."""
    cdef action_t action = <action_t>REFILL << 36
    cdef uint8_t bag[NUM_COLORS]
    cdef int missing[NUM_KINDS]
    cdef int drawn[BODY_SPACES]         # the empty spaces of a kind at most
    cdef int kind, i, j, a, b, total
    _num_to_refill(state, missing)
    for kind in range(NUM_KINDS):
        memcpy(bag, state.bag[kind], NUM_COLORS)
        total = _num_supplied(bag, NUM_COLORS)
        for i in range(missing[kind]):
            a = _pick(bag, NUM_COLORS, total, rng)
            bag[a] -= 1
            total -= 1
            if kind == BODY:
                b = _pick(bag, NUM_COLORS, total, rng)
                bag[b] -= 1
                total -= 1
                a = PAIR_OF[a][b]
            j = i
            while j > 0 and drawn[j - 1] > a:
                drawn[j] = drawn[j - 1]
                j -= 1
            drawn[j] = a
        for i in range(missing[kind]):
            action |= <action_t>(drawn[i] + 1) << (12 + 4 * i if kind == BODY else 6 * kind + 3 * i)
    return action


cdef action_t rules_draw_outcome(const CoatlStateC* state, bitgen_t* rng) noexcept nogil:
    cdef uint8_t faces[DISPLAY]         # one, or the empty spaces of the display
    cdef action_t action
    cdef uint64_t left
    cdef int i, n, event = state.table.pending
    if event == DEALING:
        _draw_cards(state, 1, faces, rng)
        return action_make(DEAL, faces[0] + 1, 0, 0, 0, 0, 0)
    if event == REVEALING:
        n = _draw_cards(state, _num_to_reveal(state), faces, rng)
        action = <action_t>REVEAL << 36
        for i in range(n):
            action |= <action_t>(faces[i] + 1) << 6 * i
        return action
    if event == REFILLING:
        return _draw_refill(state, rng)
    left = state.temples[IN_DECK]
    return action_make(UNCOVER, set_member(left, rng_below(rng, set_size(left))) + 1, 0, 0, 0, 0, 0)


cdef bint _is_reveal(const CoatlStateC* state, action_t action) noexcept nogil:
    """Return whether the action is a possible outcome of REVEALING.

    It has as many cards as are available. If the deck is too small, it has all of the deck, and others from the
    discards.
    """
    cdef int i, face, n = _num_listed(action)
    cdef uint64_t old = state.cards[IN_DECK], rest = old
    if n != _num_to_reveal(state) or action >> 6 * n & ((<action_t>1 << 36 - 6 * n) - 1):
        return False
    if n > state.num_deck:
        rest |= _discards(state)
    for i in range(n):
        face = action_card(action, i)
        if face >= NUM_FACES or (i > 0 and face < action_card(action, i - 1)) or not rest & _of_face(face):
            return False
        # All cards of the old deck must be in the list.
        if old & _of_face(face):
            rest &= ~(<uint64_t>1 << set_first(old & _of_face(face)))
            old &= rest
        else:
            rest &= ~(<uint64_t>1 << set_first(rest & _of_face(face)))
    return n <= state.num_deck or old == 0


cdef bint _is_refill(const CoatlStateC* state, action_t action) noexcept nogil:
    """Return whether the action is a possible outcome of REFILLING."""
    cdef uint8_t bag[NUM_KINDS][NUM_COLORS]
    cdef int missing[NUM_KINDS]
    cdef int kind, i, number, previous, width, first, limit
    _num_to_refill(state, missing)
    memcpy(bag, state.bag, sizeof(bag))
    for kind in range(NUM_KINDS):
        width = 4 if kind == BODY else 3
        first = 12 if kind == BODY else 6 * kind
        limit = NUM_PAIRS if kind == BODY else NUM_COLORS
        previous = 0
        for i in range(BODY_SPACES if kind == BODY else HEAD_SPACES):
            number = <int>(action >> (first + width * i)) & ((1 << width) - 1)
            if (number != 0) != (i < missing[kind]) or number > limit or (number != 0 and number < previous):
                return False
            if number == 0:
                continue
            previous = number
            if kind == BODY:
                if bag[BODY][PAIR_A[number - 1]] == 0:
                    return False
                bag[BODY][PAIR_A[number - 1]] -= 1
                number = PAIR_B[number - 1] + 1
            if bag[kind][number - 1] == 0:
                return False
            bag[kind][number - 1] -= 1
    return True


cdef bint rules_accepts_action(const CoatlStateC* state, action_t action) noexcept nogil:
    cdef int verb = action_verb(action), card = action_card(action, 0), event = state.table.pending
    if action >> 41:
        return False
    if event == REVEALING:
        return verb == REVEAL and _is_reveal(state, action)
    if event == REFILLING:
        return verb == REFILL and _is_refill(state, action)
    if card < 0 or (action & ((<action_t>1 << 36) - 1)) >> 6:
        return False
    if event == UNCOVERING:
        return verb == UNCOVER and card < NUM_TEMPLES and state.temples[IN_DECK] >> card & 1
    if event != DEALING or verb != DEAL or card >= NUM_FACES:
        return False
    return ((state.cards[IN_DECK] if state.num_deck > 0 else _discards(state)) & _of_face(card)) != 0


# --- applying an action

cdef void rules_apply_action(CoatlStateC* state, action_t action) noexcept nogil:
    cdef int verb = action_verb(action)
    if verb < PASS:
        state.table.passes = 0
    if verb == TAKE or verb == PERFECT:
        _take(state, action, verb == PERFECT)
    elif verb == DRAW:
        _draw(state, action)
    elif verb == START:
        _start(state, action)
    elif verb == ADD:
        _add(state, action)
    elif verb == PLAY:
        _play(state, action)
    elif verb == TEMPLE or verb == CLOSE:
        _close(state, action)
    elif verb == END:
        _end(state)
    elif verb == PASS:
        _pass(state)
    elif verb == KEEP:
        _keep(state, action)
    elif verb == FUTURE:
        _see_the_future(state)
    elif verb == DISCARD:
        _discard(state, action)
    elif verb == PROMISE:
        _promise(state, action)
    else:
        _apply_outcome(state, action, verb)


# --- scoring

cdef int rules_score(const CoatlStateC* state, int seat) noexcept nogil:
    cdef int number, total = 0
    for number in range(COATLS):
        total += state.coatls[seat][number].points
    return total


cdef void rules_returns(const CoatlStateC* state, double* shares) noexcept nogil:
    cdef const CoatlC* coatl
    cdef int ranks[4]                   # by seat
    cdef int seat, number, cards, highest, best = -1, winners = 0
    for seat in range(state.table.num_players):
        cards = highest = 0
        for number in range(COATLS):
            coatl = &state.coatls[seat][number]
            if coatl.closed:
                cards += coatl.num_cards + (coatl.temple != NO_CARD)
                highest = max(highest, coatl.points)
        ranks[seat] = rules_score(state, seat) << 16 | cards << 8 | highest
        best = max(best, ranks[seat])
    for seat in range(state.table.num_players):
        winners += ranks[seat] == best
    for seat in range(state.table.num_players):
        shares[seat] = 1.0 / winners if ranks[seat] == best else 0.0
