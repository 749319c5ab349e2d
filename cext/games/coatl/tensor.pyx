"""Observations of Coatl: everything open, and the cards whose place the viewer knows."""

from libc.stdint cimport uint16_t, uint64_t

from cext.core.contract.sets cimport set_first
from cext.core.learning.tensor cimport (tensor_bits, tensor_bytes, tensor_distance, tensor_head, tensor_number,
                                        tensor_one_hot, tensor_seat, tensor_zeros)
from cext.games.coatl.cards cimport FACE_OF
from cext.games.coatl.rules cimport rules_score
from cext.games.coatl.state cimport (BODIES, DISCARDED, IN_DECK, IN_HAND, NO_CARD, ON_DISPLAY, PUT_AWAY, THIRD, CoatlC,
                                     CoatlStateC, state_current_player, state_seen_by_all)


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
