"""The state of Coatl: its hash, its invariants, and its exchange with Python. No rules.

The struct and the layout of actions are documented in ``state.pxd``. The text forms are read, validated and written
by ``mexica_ai.games.coatl.notation``; here colours, cards and seats are numbers.
"""

from libc.string cimport memcpy, memset

from cext.core.contract.rng cimport mix_bits, mix_require
from cext.core.contract.sets cimport set_first, set_size
from cext.core.contract.types cimport MAX_SEATS
from cext.games.coatl.cards cimport (FACE_OF, FIRST_CARD, NUM_FACES, TEMPLES, card_points, card_times, neighbors_of,
                                     temple_met)


cdef uint64_t ALL_CARDS = (<uint64_t>1 << NUM_CARDS) - 1
cdef uint64_t ALL_TEMPLES = (<uint64_t>1 << NUM_TEMPLES) - 1


# --- hash

# Keys by card, place and whether all seats know it. Equal cards have equal keys. Keys are added, not xored: two equal
# cards in one place must not cancel out.
cdef uint64_t _CARD_KEYS[NUM_CARDS][NUM_PLACES][2]
cdef uint64_t _TEMPLE_KEYS[NUM_TEMPLES][NUM_PLACES][2]


def _make_keys():
    """Fill in the keys."""
    cdef int card, place, known
    for place in range(NUM_PLACES):
        for known in range(2):
            for card in range(NUM_CARDS):
                _CARD_KEYS[card][place][known] = mix_bits(1 + (FACE_OF[card] << 8 | place << 1 | known))
            for card in range(NUM_TEMPLES):
                _TEMPLE_KEYS[card][place][known] = mix_bits(1 + (1 << 16 | card << 8 | place << 1 | known))


_make_keys()


cdef inline uint64_t _word(const uint8_t* data) noexcept nogil:
    """Read 8 bytes."""
    cdef uint64_t word
    memcpy(&word, data, 8)
    return word


cdef inline uint64_t _half_word(const uint8_t* data) noexcept nogil:
    """Read 4 bytes."""
    cdef uint32_t word
    memcpy(&word, data, 4)
    return word


cdef uint64_t _hash_coatls(const CoatlStateC* state) noexcept nogil:
    """Hash the Coatls."""
    cdef const CoatlC* coatl
    cdef uint64_t total = 0, h
    cdef int seat, number, i
    # Words: the pieces, the fields from `length` to `unused`, the cards.
    mix_require(MAX_PIECES % 8 == 0)
    mix_require(PLAYED == 4)
    coatl_require_layout(coatl)
    for seat in range(state.table.num_players):
        for number in range(COATLS):
            coatl = state_coatl(state, seat, number)
            if coatl.length == 0:
                break
            h = mix_bits(<uint64_t>(1 + seat * COATLS + number))
            for i in range(0, (coatl.length + 7) & ~7, 8):
                h = mix_bits(h + _word(&coatl.pieces[i]))
            h = mix_bits(h + _word(&coatl.length))
            total += mix_bits(h + _half_word(coatl.cards))
    return total


cdef uint64_t _hash_cards(const CoatlStateC* state, int viewer) noexcept nogil:
    """Hash the cards that a viewer knows."""
    cdef uint64_t known, total = 0, to_all = state_seen_by_all(state)
    cdef uint64_t temples_to_all = (state.temples_seen[0] & state.temples_seen[1] & state.temples_seen[2]
                                    & state.temples_seen[3])
    cdef int card, place
    for place in range(NUM_PLACES):
        known = state.cards[place]
        if viewer >= 0:
            known &= to_all if viewer == SPECTATOR else state.seen[viewer]
        while known:
            card = set_first(known)
            known &= known - 1
            total += _CARD_KEYS[card][place][to_all >> card & 1]
        known = state.temples[place]
        if viewer >= 0:
            known &= temples_to_all if viewer == SPECTATOR else state.temples_seen[viewer]
        while known:
            card = set_first(known)
            known &= known - 1
            total += _TEMPLE_KEYS[card][place][temples_to_all >> card & 1]
    return total


cdef uint64_t _hash_observations(const CoatlStateC* state, int viewer) noexcept nogil:
    """Hash the observations that a viewer knows."""
    cdef uint64_t h = 0
    cdef int i, face
    for i in range(state.num_observations):
        face = NO_CARD if viewer >= 0 and state_is_hidden(state.observed[i], viewer) else state.observed_faces[i]
        h = mix_bits(h + 1 + (<uint64_t>state.observed[i] << 8 | face))
    return h


cdef uint64_t state_hash(const CoatlStateC* state, int viewer) noexcept nogil:
    cdef uint64_t total = _hash_coatls(state), h = 0
    cdef const uint8_t* table = <const uint8_t*>&state.table
    cdef int i
    if viewer < 0 and state.viewer != NO_SEAT:
        # The arbitrary cards in place of unknown ones are not part of the position.
        return mix_bits(state_hash(state, state.viewer) + 1 + state.viewer)
    mix_require(sizeof(TableC) % 8 == 0)
    for i in range(0, <int>sizeof(TableC), 8):
        h = mix_bits(h + _word(table + i))
    return mix_bits(h + total + _hash_cards(state, viewer) + _hash_observations(state, viewer))


cdef int coatl_points(const CoatlStateC* state, const CoatlC* coatl) noexcept nogil:
    cdef uint8_t counts[NUM_COLORS]
    cdef bint strict = state.table.strict_ends
    cdef int i, total = 0
    for i in range(coatl.num_cards):
        total += card_points(coatl.cards[i], card_times(coatl.cards[i], coatl.pieces, coatl.length,
                                                        strict and not coatl.has_head,
                                                        strict and not coatl.has_tail))
    if coatl.temple != NO_CARD:
        memset(counts, 0, sizeof(counts))
        for i in range(coatl.length):
            counts[coatl.pieces[i]] += 1
        total += TEMPLES[coatl.temple].points[temple_met(coatl.temple, counts, coatl.length)]
    return total


# --- invariants

cdef enum:
    SEATS = 1
    CLOCK
    SUPPLY
    STORED
    BAGS
    COATL
    CARDS
    HANDS
    TEMPLE_CARDS
    SEEN_CARDS
    OBSERVATIONS


# By number.
cdef const char* _CHECK_NAMES[OBSERVATIONS + 1]
_CHECK_NAMES[:] = ["none", "seats", "clock", "supply", "stored pieces", "bags", "coatls", "prophecies", "hands",
                   "temples", "seen cards", "observations"]


cdef const char* state_check_name(int code) noexcept nogil:
    return _CHECK_NAMES[code]


cdef int _check_pieces(const CoatlStateC* state) noexcept nogil:
    """Check the pieces: each is on the supply board, on a seat's board, on a Coatl or in a bag."""
    cdef const CoatlC* coatl
    cdef int totals[NUM_KINDS][NUM_COLORS]
    cdef int kind, color, pair, a, b, seat, number, i, heads = 0, tails = 0, pairs = 0
    for kind in range(NUM_KINDS):
        for color in range(NUM_COLORS):
            totals[kind][color] = state.bag[kind][color]
            for seat in range(MAX_SEATS):
                totals[kind][color] += state.table.stored[seat][kind][color]
    pair = 0
    for a in range(NUM_COLORS):
        heads += state.table.supply[HEAD][a]
        tails += state.table.supply[TAIL][a]
        totals[HEAD][a] += state.table.supply[HEAD][a]
        totals[TAIL][a] += state.table.supply[TAIL][a]
        for b in range(a, NUM_COLORS):
            pairs += state.table.pairs[pair]
            totals[BODY][a] += state.table.pairs[pair]
            totals[BODY][b] += state.table.pairs[pair]
            pair += 1
    if heads > HEAD_SPACES or tails > HEAD_SPACES or pairs > BODY_SPACES:
        return SUPPLY
    for seat in range(MAX_SEATS):
        if state_num_stored(state, seat) > CAPACITY:
            return STORED
        for number in range(COATLS):
            coatl = state_coatl(state, seat, number)
            for i in range(coatl.length):
                kind = BODY
                if i == 0 and coatl.has_head:
                    kind = HEAD
                elif i == coatl.length - 1 and coatl.has_tail:
                    kind = TAIL
                totals[kind][coatl.pieces[i]] += 1
    for color in range(NUM_COLORS):
        if totals[HEAD][color] != 3 or totals[TAIL][color] != 3 or totals[BODY][color] != 24:
            return BAGS
    return 0


cdef int _check_coatls(const CoatlStateC* state) noexcept nogil:
    """Check the Coatls."""
    cdef const CoatlC* coatl
    cdef int seat, number, i, unfinished
    cdef bint is_complete, is_closing, is_empty
    for seat in range(MAX_SEATS):
        unfinished = 0
        is_empty = False
        for number in range(COATLS):
            coatl = state_coatl(state, seat, number)
            if coatl.length == 0:
                is_empty = True
                continue
            is_complete = coatl.has_head != 0 and coatl.has_tail != 0
            is_closing = (state.table.phase == CLOSING and state.table.to_move == seat
                          and state.table.closing == number + 1)
            unfinished += not coatl.closed
            if (is_empty or seat >= state.table.num_players or coatl.length > MAX_PIECES
                    or coatl.num_cards > PLAYED or is_complete != (coatl.closed != 0 or is_closing)
                    or coatl.has_head + coatl.has_tail + is_complete > coatl.length
                    or coatl.neighbors != neighbors_of(coatl.pieces, coatl.length)
                    or (coatl.closed and coatl.num_cards == 0) or (coatl.temple != NO_CARD and not coatl.closed)):
                return COATL
            for i in range(coatl.num_cards):
                if coatl.cards[i] >= NUM_FACES or (i > 0 and coatl.cards[i] <= coatl.cards[i - 1]):
                    return COATL
        if unfinished > MAX_UNFINISHED:
            return COATL
    return 0


cdef int _check_cards(const CoatlStateC* state) noexcept nogil:
    """Check the prophecies."""
    cdef int on_coatls[NUM_FACES]
    cdef const CoatlC* coatl
    cdef uint64_t everything = 0, left, to_all = state_seen_by_all(state)
    cdef int i, seat, number, face, place, total = 0
    memset(on_coatls, 0, sizeof(on_coatls))
    for place in range(NUM_PLACES):
        everything |= state.cards[place]
        total += set_size(state.cards[place])
        if place >= ON_COATL:
            left = state.cards[place]
            while left:
                on_coatls[FACE_OF[set_first(left)]] += 1
                left &= left - 1
    if total != NUM_CARDS or everything != ALL_CARDS or state.cards[3] != 0:
        return CARDS
    if (state.cards[ON_DISPLAY] | state.cards[DISCARDED]) & ~to_all:
        return SEEN_CARDS
    if (set_size(state.cards[IN_DECK]) != state.num_deck or set_size(state.cards[ON_DISPLAY]) != state.num_display
            or set_size(state.cards[DISCARDED]) != state.num_discarded or state.num_display > DISPLAY):
        return CARDS
    for seat in range(MAX_SEATS):
        if (set_size(state.cards[IN_HAND + seat]) != state.table.num_hand[seat]
                or set_size(state.cards[PUT_AWAY + seat]) != state.table.num_away[seat]
                or (seat >= state.table.num_players and state.table.num_hand[seat] > 0)
                or (state.table.phase != KEEPING and state.table.num_hand[seat] > HAND)):
            return HANDS
        if (state.cards[IN_HAND + seat] | state.cards[PUT_AWAY + seat]) & ~state.seen[seat]:
            return SEEN_CARDS
        for number in range(COATLS):
            coatl = state_coatl(state, seat, number)
            for i in range(coatl.num_cards):
                on_coatls[coatl.cards[i]] -= 1
    for face in range(NUM_FACES):
        if on_coatls[face] != 0:
            return CARDS
    return 0


cdef int _check_temples(const CoatlStateC* state) noexcept nogil:
    """Check the temples."""
    cdef int i, seat, place, total = 0
    cdef uint64_t everything = 0, tops = 0
    for place in range(NUM_PLACES):
        everything |= state.temples[place]
        total += set_size(state.temples[place])
    for i in range(PILES):
        if state.table.tops[i] != NO_CARD:
            tops |= <uint64_t>1 << state.table.tops[i]
    if (total != NUM_TEMPLES or everything != ALL_TEMPLES or tops != state.temples[ON_DISPLAY]
            or set_size(state.temples[IN_DECK]) != state.table.below[0] + state.table.below[1]):
        return TEMPLE_CARDS
    for seat in range(MAX_SEATS):
        if (set_size(state.temples[IN_HAND + seat]) != state.table.num_temples[seat]
                or state.temples[PUT_AWAY + seat] != 0 or state.temples[IN_HAND + seat] & ~state.temples_seen[seat]):
            return TEMPLE_CARDS
    return 0


cdef int _check_observations(const CoatlStateC* state) noexcept nogil:
    """Check the observations."""
    cdef int i, kind, limit
    if state.num_observations > MAX_OBSERVATIONS:
        return OBSERVATIONS
    for i in range(state.num_observations):
        kind = state.observed[i] >> 2
        limit = NUM_CARDS if kind == RENEWED else NUM_FACES
        if (kind >= NUM_OBSERVATION_KINDS or (state.observed[i] & 3) >= state.table.num_players
                or (i == 0 and kind != UNSURE and kind != RENEWED)
                or (state.observed_faces[i] >= limit
                    and (state.viewer == NO_SEAT or not state_is_hidden(state.observed[i], state.viewer)))):
            return OBSERVATIONS
    return 0


cdef int state_check(const CoatlStateC* state) noexcept nogil:
    cdef int code
    if not 2 <= state.table.num_players <= MAX_SEATS or state.table.to_move >= state.table.num_players:
        return SEATS
    if (state.table.phase > OVER or state.table.pending > UNCOVERING or state.table.ending > BODIES
            or state.table.round < 0 or (state.table.round == 0) != (state.table.phase == KEEPING)
            or not 1 <= state.table.actions_left <= 2
            or (state.table.phase == CLOSING) != (1 <= state.table.closing <= COATLS)
            or (state.table.phase == OVER and state.table.pending != NONE)):
        return CLOCK
    code = _check_pieces(state)
    if code == 0:
        code = _check_coatls(state)
    if code == 0:
        code = _check_cards(state)
    if code == 0:
        code = _check_temples(state)
    if code == 0:
        code = _check_observations(state)
    return code


# --- exchange with Python

cdef int _put_card(CoatlStateC* state, int face, int place, int seats) except -1:
    """Move a card of a face from the deck to a place."""
    cdef int card
    for card in range(FIRST_CARD[face], FIRST_CARD[face + 1]):
        if state.cards[IN_DECK] >> card & 1:
            state_move_card(state, card, IN_DECK, place, seats)
            state.num_deck -= 1
            return 0
    raise ValueError(f"prophecy {face}: more often than the game has it")


cdef int _put_unknown(CoatlStateC* state, int seat, int place, int count) except -1:
    """Move arbitrary cards from the deck to a place, in place of unknown ones."""
    while count > 0:
        if state.cards[IN_DECK] == 0:
            raise ValueError("more unknown prophecies than the game has")
        state_move_card(state, set_first(state.cards[IN_DECK]), IN_DECK, place + seat, 1 << seat)
        state.num_deck -= 1
        count -= 1


cdef int _put_temple(CoatlStateC* state, int temple, int place, int seats) except -1:
    """Move a temple from the piles to a place."""
    if not state.temples[IN_DECK] >> temple & 1:
        raise ValueError(f"temple {temple}: more than once")
    state_move_temple(state, temple, IN_DECK, place, seats)


cdef int _fill_coatl(CoatlStateC* state, int seat, int number, dict fields) except -1:
    """Fill in a Coatl."""
    cdef CoatlC* coatl = &state.coatls[seat][number]
    cdef int i, kind
    pieces = fields["pieces"]
    if not 1 <= len(pieces) <= MAX_PIECES or len(fields["prophecies"]) > PLAYED:
        raise ValueError("a Coatl with no piece, too many pieces or too many cards")
    coatl.length = len(pieces)
    coatl.has_head, coatl.has_tail, coatl.closed = fields["head"], fields["tail"], fields["closed"]
    for i in range(coatl.length):
        coatl.pieces[i] = pieces[i]
        kind = BODY
        if i == 0 and coatl.has_head:
            kind = HEAD
        elif i == coatl.length - 1 and coatl.has_tail:
            kind = TAIL
        _take_from_bag(state, kind, coatl.pieces[i], 1)
    coatl.neighbors = neighbors_of(coatl.pieces, coatl.length)
    for i, face in enumerate(sorted(fields["prophecies"])):
        coatl.cards[i] = face
        _put_card(state, face, ON_COATL + seat, EVERYBODY)
        coatl.num_cards += 1
    if fields["temple"] >= 0:
        coatl.temple = fields["temple"]
        _put_temple(state, coatl.temple, ON_COATL + seat, EVERYBODY)
    if coatl.closed:
        coatl.points = <uint8_t>coatl_points(state, coatl)


cdef int _take_from_bag(CoatlStateC* state, int kind, int color, int count) except -1:
    """Take pieces from a bag."""
    if count > state.bag[kind][color]:
        raise ValueError("more pieces than the game has")
    state.bag[kind][color] -= count


cdef int _fill_seat(CoatlStateC* state, int seat, dict fields) except -1:
    """Fill in what a seat owns."""
    cdef int kind, color, own = 1 << seat
    if len(fields["coatls"]) > COATLS:
        raise ValueError("more than three Coatls")
    for kind, key in enumerate(("stored_heads", "stored_tails", "stored_bodies")):
        for color in range(NUM_COLORS):
            _take_from_bag(state, kind, color, fields[key][color])
            state.table.stored[seat][kind][color] = fields[key][color]
    shown = list(fields["shown"])
    for face in fields["hand"]:
        if face in shown:
            shown.remove(face)
            _put_card(state, face, IN_HAND + seat, EVERYBODY)
        elif face >= 0:
            _put_card(state, face, IN_HAND + seat, own)
    for face in fields["discarded"]:
        if face >= 0:
            _put_card(state, face, PUT_AWAY + seat, own)
    for temple in fields["temples"]:
        if temple >= 0:
            _put_temple(state, temple, IN_HAND + seat, EVERYBODY if temple in fields["shown_temples"] else own)
    state.table.num_hand[seat] = len(fields["hand"])
    state.table.num_away[seat] = len(fields["discarded"])
    state.table.num_temples[seat] = len(fields["temples"])
    state.table.tokens[seat] = fields["tokens"]
    for number, coatl in enumerate(fields["coatls"]):
        _fill_coatl(state, seat, number, coatl)


cdef int _fill_unknown(CoatlStateC* state, list seats) except -1:
    """Put arbitrary cards in the places of those that the viewer does not know."""
    cdef int seat, _
    for seat, fields in enumerate(seats):
        _put_unknown(state, seat, IN_HAND, fields["hand"].count(-1))
        _put_unknown(state, seat, PUT_AWAY, fields["discarded"].count(-1))
        for _ in range(fields["temples"].count(-1)):
            if state.temples[IN_DECK] == 0:
                raise ValueError("more unknown temples than the game has")
            state_move_temple(state, set_first(state.temples[IN_DECK]), IN_DECK, IN_HAND + seat, 1 << seat)


cdef int state_fill(CoatlStateC* state, dict fields) except -1:
    cdef int seat, number, color, pair, i
    memset(state, 0, sizeof(CoatlStateC))
    cdef TableC* table = &state.table
    for color in range(NUM_COLORS):
        state.bag[HEAD][color] = state.bag[TAIL][color] = 3
        state.bag[BODY][color] = 24
    for seat in range(MAX_SEATS):
        for number in range(COATLS):
            state.coatls[seat][number].temple = NO_CARD
            memset(state.coatls[seat][number].cards, NO_CARD, PLAYED)
    state.num_deck = NUM_CARDS
    state.cards[IN_DECK] = ALL_CARDS
    state.temples[IN_DECK] = ALL_TEMPLES
    state.viewer = NO_SEAT if fields["viewer"] < 0 else fields["viewer"]
    table.num_players = fields["num_players"]
    table.strict_ends, table.with_tokens = fields["strict_ends"], fields["sacrifice_tokens"]
    table.phase, table.pending, table.to_move = fields["phase"], fields["pending"], fields["to_move"]
    table.round, table.actions_left, table.passes = fields["round"], fields["actions_left"], fields["passes"]
    table.ending, table.ending_seat = fields["ending"], fields["ending_seat"]
    table.last_round, table.closing = fields["last_round"], fields["closing"]
    if len(fields["seats"]) != table.num_players or table.num_players > MAX_SEATS:
        raise ValueError("expected an entry of `seats` for each player")
    for color in range(NUM_COLORS):
        for i, key in enumerate(("supply_heads", "supply_tails")):
            _take_from_bag(state, i, color, fields[key][color])
            table.supply[i][color] = fields[key][color]
    pair = 0
    for color in range(NUM_COLORS):
        for i in range(color, NUM_COLORS):
            _take_from_bag(state, BODY, color, fields["supply_pairs"][pair])
            _take_from_bag(state, BODY, i, fields["supply_pairs"][pair])
            table.pairs[pair] = fields["supply_pairs"][pair]
            pair += 1
    for face in fields["display"]:
        _put_card(state, face, ON_DISPLAY, EVERYBODY)
        state.num_display += 1
    for face in fields["discarded"]:
        _put_card(state, face, DISCARDED, EVERYBODY)
        state.num_discarded += 1
    for i in range(PILES):
        top, below = fields["piles"][i]
        table.tops[i] = NO_CARD if top < 0 else top
        table.below[i] = below
        if top >= 0:
            _put_temple(state, top, ON_DISPLAY, EVERYBODY)
    for seat in range(table.num_players):
        _fill_seat(state, seat, fields["seats"][seat])
    _fill_unknown(state, fields["seats"])
    if len(fields["memory"]) > MAX_OBSERVATIONS:
        raise ValueError(f"more than {MAX_OBSERVATIONS} entries of `memory`")
    for kind, seat, face in fields["memory"]:
        state_observe(state, kind, seat, NO_CARD if face < 0 else face)


cdef list _counts(const uint8_t* counts, int n):
    """Return counts as a list."""
    return [counts[i] for i in range(n)]


cdef dict _describe_coatl(const CoatlC* coatl):
    """Return the fields of a Coatl."""
    return {
        "pieces": [coatl.pieces[i] for i in range(coatl.length)],
        "head": coatl.has_head,
        "tail": coatl.has_tail,
        "prophecies": [coatl.cards[i] for i in range(coatl.num_cards)],
        "temple": -1 if coatl.temple == NO_CARD else coatl.temple,
        "closed": coatl.closed,
    }


cdef list _cards(uint64_t cards, uint64_t known):
    """Return the faces of a set of prophecies, ascending, -1 for those that are not known."""
    return _unknown_last([FACE_OF[card] if known >> card & 1 else -1 for card in range(NUM_CARDS)
                          if cards >> card & 1])


cdef list _temples(uint64_t temples, uint64_t known):
    """Return a set of temples as numbers, ascending, -1 for those that are not known."""
    return _unknown_last([temple if known >> temple & 1 else -1 for temple in range(NUM_TEMPLES)
                          if temples >> temple & 1])


cdef dict _describe_seat(const CoatlStateC* state, int seat):
    """Return the fields of a seat."""
    cdef uint64_t known = ALL_CARDS, known_temples = ALL_TEMPLES
    cdef uint64_t temples_to_all = (state.temples_seen[0] & state.temples_seen[1] & state.temples_seen[2]
                                    & state.temples_seen[3])
    if state.viewer == SPECTATOR:
        known, known_temples = state_seen_by_all(state), temples_to_all
    elif state.viewer != NO_SEAT:
        known = state.seen[state.viewer]
        known_temples = state.temples_seen[state.viewer]
    return {
        "stored_heads": _counts(state.table.stored[seat][HEAD], NUM_COLORS),
        "stored_tails": _counts(state.table.stored[seat][TAIL], NUM_COLORS),
        "stored_bodies": _counts(state.table.stored[seat][BODY], NUM_COLORS),
        "hand": _cards(state.cards[IN_HAND + seat], known),
        "shown": _cards(state.cards[IN_HAND + seat] & state_seen_by_all(state), known),
        "discarded": _cards(state.cards[PUT_AWAY + seat], known),
        "temples": _temples(state.temples[IN_HAND + seat], known_temples),
        "shown_temples": _temples(state.temples[IN_HAND + seat] & temples_to_all, known_temples),
        "tokens": state.table.tokens[seat],
        "coatls": [_describe_coatl(&state.coatls[seat][number]) for number in range(COATLS)
                   if state.coatls[seat][number].length > 0],
    }


cdef list _describe_observations(const CoatlStateC* state):
    """Return the observations as (kind, seat, face), -1 for a face that the viewer does not know."""
    cdef int i
    return [(state.observed[i] >> 2, state.observed[i] & 3,
             -1 if state.viewer != NO_SEAT and state_is_hidden(state.observed[i], state.viewer)
             else state.observed_faces[i])
            for i in range(state.num_observations)]


def _unknown_last(cards):
    """Sort cards, -1 (unknown) last."""
    return sorted(cards, key=lambda card: (card < 0, card))


cdef dict state_describe(const CoatlStateC* state):
    cdef const TableC* table = &state.table
    return {
        "num_players": table.num_players,
        "sacrifice_tokens": table.with_tokens,
        "strict_ends": table.strict_ends,
        "viewer": -1 if state.viewer == NO_SEAT else state.viewer,
        "phase": table.phase,
        "pending": table.pending,
        "round": table.round,
        "to_move": table.to_move,
        "actions_left": table.actions_left,
        "passes": table.passes,
        "ending": table.ending,
        "ending_seat": table.ending_seat,
        "last_round": table.last_round,
        "closing": table.closing,
        "supply_heads": _counts(table.supply[HEAD], NUM_COLORS),
        "supply_tails": _counts(table.supply[TAIL], NUM_COLORS),
        "supply_pairs": _counts(table.pairs, NUM_PAIRS),
        "display": _cards(state.cards[ON_DISPLAY], ALL_CARDS),
        "discarded": _cards(state.cards[DISCARDED], ALL_CARDS),
        "piles": [[-1 if table.tops[i] == NO_CARD else table.tops[i], table.below[i]] for i in range(PILES)],
        "deck": state.num_deck,
        "seats": [_describe_seat(state, seat) for seat in range(table.num_players)],
        "memory": _describe_observations(state),
    }
