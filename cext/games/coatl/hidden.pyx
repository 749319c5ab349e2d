"""Dealing the unseen cards of Coatl anew."""

from libc.stdint cimport uint8_t, uint16_t, uint64_t
from libc.string cimport memset

from cext.core.contract.game cimport State
from cext.core.contract.rng cimport Stream, rng_below
from cext.core.contract.sets cimport set_first, set_member, set_size
from cext.core.contract.types cimport action_t
from cext.games.coatl.belief cimport CoatlBeliefC, belief_deal, belief_deal_temples
from cext.games.coatl.cards cimport FACE_OF, FIRST_CARD, NUM_CARDS, NUM_FACES, NUM_TEMPLES
from cext.games.coatl.observations cimport (AWAYS, DECK, EVERYWHERE, HANDS, NUM_UNSEEN_PLACES, observations_deal,
                                            observations_deal_within, observations_lay)
from cext.games.coatl.rules cimport MAX_ACTIONS, rules_accepts_action, rules_legal_actions, rules_matches
from cext.games.coatl.state cimport (CLOSING, DEAL, DISCARDED, DISPLAY, IN_DECK, IN_HAND, KEEP, NONE, ON_COATL,
                                     PUT_AWAY, REVEAL, TEMPLE, UNCOVER, CoatlC, action_card, action_verb,
                                     state_move_temple)

cdef enum:
    MAX_TRIES = 1000            # deals, until one has what a seat must have in hand
    EVERY_AWAY = 15 << AWAYS    # sets of places
    NOT_THE_DECK = EVERYWHERE & ~(1 << DECK)


cdef inline uint64_t _take(uint64_t* rest, int k) noexcept nogil:
    """Take the k-th member out of a set, and return it as a set."""
    cdef uint64_t left = rest[0], bit
    while k > 0:
        left &= left - 1
        k -= 1
    bit = left & (~left + 1)
    rest[0] &= ~bit
    return bit


cdef bint _hand_is_possible(const CoatlStateC* state) noexcept nogil:
    # A Coatl needs a prophecy. If a seat has completed one that has none yet, the seat has one that fits in hand, and
    # all seats know that.
    cdef int seat = state.table.to_move
    cdef const CoatlC* coatl
    cdef uint64_t hand = state.cards[IN_HAND + seat]
    if state.table.phase != CLOSING:
        return True
    coatl = &state.coatls[seat][state.table.closing - 1]
    if coatl.num_cards > 0:
        return True
    while hand:
        if rules_matches(state, coatl, FACE_OF[set_first(hand)]):
            return True
        hand &= hand - 1
    return False


cdef void _deal_evenly(uint64_t rest, int n, uint64_t* places, bitgen_t* rng) noexcept nogil:
    """Replace the sets of cards in each place by as many of the n cards of a set."""
    cdef int place, held, _
    for place in range(DECK):
        held = set_size(places[place])
        places[place] = 0
        for _ in range(held):
            places[place] |= _take(&rest, rng_below(rng, n))
            n -= 1
    places[DECK] = rest


cdef bint _deal_cards(CoatlStateC* state, int viewer, const CoatlBeliefC* belief, bitgen_t* rng) noexcept nogil:
    # Only how many unseen cards each place holds counts, not which: nothing hidden decides what is drawn.
    cdef uint64_t places[NUM_UNSEEN_PLACES]
    cdef uint64_t rest = ((<uint64_t>1 << NUM_CARDS) - 1) & ~state.seen[viewer]
    cdef int place, n = set_size(rest)
    cdef bint differs = False
    for place in range(DECK):
        places[place] = state.cards[IN_HAND + place] & rest
        differs = differs or 0 < set_size(places[place]) < n
    if not differs:
        return False
    _deal_evenly(rest, n, places, rng)
    if belief != NULL:
        belief_deal(belief, places, NULL, rng)
    observations_lay(state, rest, places)
    return True


cdef bint _deal_prophecies(CoatlStateC* state, int viewer, const CoatlBeliefC* belief, bitgen_t* rng) noexcept nogil:
    if state.num_observations > 0:
        if observations_deal(state, viewer, belief, rng):
            return True
        state.num_observations = 0      # none was found: no game leads to such a list
    return _deal_cards(state, viewer, belief, rng)


cdef bint _deal_temples(CoatlStateC* state, int viewer, const CoatlBeliefC* belief, bitgen_t* rng) noexcept nogil:
    cdef uint64_t places[NUM_UNSEEN_PLACES]
    cdef uint64_t rest = ((<uint64_t>1 << NUM_TEMPLES) - 1) & ~state.temples_seen[viewer]
    cdef int place, seat, n = set_size(rest)
    cdef bint differs = False
    for place in range(DECK):
        places[place] = state.temples[IN_HAND + place] & rest
        differs = differs or 0 < set_size(places[place]) < n
    if not differs:
        return False
    _deal_evenly(rest, n, places, rng)
    if belief != NULL:
        belief_deal_temples(belief, places, rng)
    for place in range(IN_DECK, ON_COATL):
        state.temples[place] &= <uint16_t>~rest
    for seat in range(4):
        state.temples_seen[seat] &= <uint16_t>~rest
    for place in range(DECK):
        state.temples[IN_HAND + place] |= <uint16_t>places[place]
        state.temples_seen[place & 3] |= <uint16_t>places[place]
    state.temples[IN_DECK] |= <uint16_t>places[DECK]
    return True


cdef void _allow_everything(uint16_t* allowed) noexcept nogil:
    cdef int card
    for card in range(NUM_CARDS):
        allowed[card] = EVERYWHERE


cdef bint _deal_one_of(CoatlStateC* state, int viewer, uint64_t cards, int place, bitgen_t* rng) noexcept nogil:
    """Deal the prophecies so that one of a set of unseen ones is in a place."""
    cdef uint16_t allowed[NUM_CARDS]
    while cards:
        _allow_everything(allowed)
        allowed[set_first(cards)] = <uint16_t>(1 << place)
        if observations_deal_within(state, viewer, allowed, rng):
            return True
        cards &= cards - 1
    return False


cdef bint _deal_a_fitting_card(CoatlStateC* state, int viewer, bitgen_t* rng) noexcept nogil:
    cdef uint64_t fitting = 0
    cdef int card, seat = state.table.to_move
    cdef const CoatlC* coatl = &state.coatls[seat][state.table.closing - 1]
    for card in range(NUM_CARDS):
        if not state.seen[viewer] >> card & 1 and rules_matches(state, coatl, FACE_OF[card]):
            fitting |= <uint64_t>1 << card
    return _deal_one_of(state, viewer, fitting, HANDS + seat, rng)


cdef bint hidden_determinize(CoatlStateC* state, int viewer, const CoatlBeliefC* belief, bitgen_t* rng) noexcept nogil:
    cdef bint several = _deal_prophecies(state, viewer, belief, rng)
    cdef int tries = 1
    while several and tries < MAX_TRIES and not _hand_is_possible(state):
        _deal_prophecies(state, viewer, belief, rng)
        tries += 1
    if tries == MAX_TRIES and not _hand_is_possible(state):
        _deal_a_fitting_card(state, viewer, rng)
    return _deal_temples(state, viewer, belief, rng) or several


# --- dealing so that an action is legal

# Where the unseen cards must be.
ctypedef struct DemandC:
    uint16_t allowed[NUM_CARDS]         # sets of places
    int num_choices                     # faces of which either of two cards may be the one that is demanded
    uint8_t choices[NUM_FACES]          # each once at most


cdef bint _is_legal(const CoatlStateC* state, action_t action) noexcept nogil:
    cdef action_t actions[MAX_ACTIONS]
    cdef int i, n
    if state.table.pending != NONE:
        return rules_accepts_action(state, action)
    n = rules_legal_actions(state, actions)
    for i in range(n):
        if actions[i] == action:
            return True
    return False


cdef bint _demand(DemandC* demand, uint64_t unseen, int face, int needed, uint16_t places,
                  uint16_t others) noexcept nogil:
    """Demand that a number of unseen cards of a face are in some places, the others elsewhere; False if too few."""
    cdef int card, n = 0
    for card in range(FIRST_CARD[face], FIRST_CARD[face + 1]):
        if unseen >> card & 1:
            demand.allowed[card] = places if n < needed else others
            n += 1
    if needed == 1 and n == 2:
        demand.choices[demand.num_choices] = <uint8_t>face
        demand.num_choices += 1
    return n >= needed


cdef bint _deal_demanded(CoatlStateC* state, int viewer, DemandC* demand, bitgen_t* rng) noexcept nogil:
    cdef uint16_t allowed[NUM_CARDS]
    cdef int number, i, card
    for number in range(1 << demand.num_choices):
        for card in range(NUM_CARDS):
            allowed[card] = demand.allowed[card]
        for i in range(demand.num_choices):
            card = FIRST_CARD[demand.choices[i]]
            if number >> i & 1:
                allowed[card] = demand.allowed[card + 1]
                allowed[card + 1] = demand.allowed[card]
        if observations_deal_within(state, viewer, allowed, rng):
            return True
    return False


cdef bint _deal_for_cards(CoatlStateC* state, int viewer, action_t action, bitgen_t* rng) noexcept nogil:
    """Deal the prophecies so that those which the action names are where it takes them from."""
    cdef DemandC demand
    cdef uint64_t unseen = ((<uint64_t>1 << NUM_CARDS) - 1) & ~state.seen[viewer], visible = 0
    cdef uint16_t places = 1 << DECK, others = EVERYWHERE
    cdef int verb = action_verb(action), seat = state.table.to_move, face, i, n = 0, at_hand
    cdef int named[NUM_FACES]
    memset(&demand, 0, sizeof(demand))
    _allow_everything(demand.allowed)
    memset(named, 0, sizeof(named))
    for i in range(1 if verb == DEAL else DISPLAY):
        face = action_card(action, i)
        if face >= NUM_FACES:
            return False
        if face >= 0:
            named[face] += 1
            n += 1
    if verb == KEEP:
        places = <uint16_t>(1 << (HANDS + seat))
        visible = state.cards[IN_HAND + seat] & state.seen[viewer]
    elif n > state.num_deck:
        # All cards of the deck are named; the other ones that are come from the discards.
        places |= EVERY_AWAY
        visible = state.cards[DISCARDED]
        for i in range(4):
            visible |= state.cards[PUT_AWAY + i]
        visible &= state.seen[viewer]
    for face in range(NUM_FACES):
        at_hand = 0
        for i in range(FIRST_CARD[face], FIRST_CARD[face + 1]):
            at_hand += visible >> i & 1
        if verb != KEEP and n > state.num_deck:
            # Where one that is named need not be unseen, an unseen one may be in the deck or not.
            others = EVERYWHERE if min(at_hand, named[face]) > 0 else NOT_THE_DECK
        if not _demand(&demand, unseen, face, max(0, named[face] - at_hand), places, others):
            return False
    return _deal_demanded(state, viewer, &demand, rng)


cdef bint _deal_for_hand(CoatlStateC* state, int viewer, action_t action, bitgen_t* rng) noexcept nogil:
    """Deal the prophecies so that the seat to move has the hand for an action.

    Each card in hand matters on its own: either any one of a set makes the action legal, or each of a set makes it
    illegal.
    """
    cdef CoatlStateC probe = state[0]
    cdef uint16_t allowed[NUM_CARDS]
    cdef uint64_t known, unseen = ((<uint64_t>1 << NUM_CARDS) - 1) & ~state.seen[viewer], legal_with = 0
    cdef int card, hand = IN_HAND + state.table.to_move
    known = state.cards[hand] & ~unseen
    for card in range(NUM_CARDS):
        if unseen >> card & 1:
            probe.cards[hand] = known | <uint64_t>1 << card
            if _is_legal(&probe, action):
                legal_with |= <uint64_t>1 << card
    probe.cards[hand] = known
    if not _is_legal(&probe, action):
        return _deal_one_of(state, viewer, legal_with, HANDS + state.table.to_move, rng)
    _allow_everything(allowed)
    for card in range(NUM_CARDS):
        if (unseen & ~legal_with) >> card & 1:
            allowed[card] = <uint16_t>(EVERYWHERE & ~(1 << (HANDS + state.table.to_move)))
    return observations_deal_within(state, viewer, allowed, rng)


cdef bint _exchange_temple(CoatlStateC* state, int viewer, int temple, int target, bitgen_t* rng) noexcept nogil:
    """Put an unseen temple in a place, for another unseen one that lies there; False if none does."""
    cdef uint64_t others = state.temples[target] & ~state.temples_seen[viewer]
    cdef int place, other
    if state.temples[target] >> temple & 1:
        return True
    if state.temples_seen[viewer] >> temple & 1 or others == 0:
        return False
    other = set_member(others, rng_below(rng, set_size(others)))
    for place in range(IN_DECK, ON_COATL):
        if state.temples[place] >> temple & 1:
            state_move_temple(state, temple, place, target, 1 << (target & 3) if target >= IN_HAND else 0)
            state_move_temple(state, other, target, place, 1 << (place & 3) if place >= IN_HAND else 0)
            break
    return True


cdef bint hidden_deal_for(CoatlStateC* state, int viewer, action_t action, bitgen_t* rng) noexcept nogil:
    cdef int verb = action_verb(action), temple = action_card(action, 0)
    cdef int hand = IN_HAND + state.table.to_move
    if verb == TEMPLE and state.table.pending == NONE:
        _deal_prophecies(state, viewer, NULL, rng)
        _deal_temples(state, viewer, NULL, rng)
        return _is_legal(state, action) or (
            _exchange_temple(state, viewer, temple, hand, rng) and _is_legal(state, action))
    if verb == UNCOVER:
        _deal_prophecies(state, viewer, NULL, rng)
        _deal_temples(state, viewer, NULL, rng)
        return _exchange_temple(state, viewer, temple, IN_DECK, rng) and _is_legal(state, action)
    if verb == KEEP or ((verb == DEAL or verb == REVEAL) and state.table.pending != NONE):
        if not _deal_for_cards(state, viewer, action, rng):
            return False
    elif state.table.pending != NONE:
        _deal_prophecies(state, viewer, NULL, rng)
    elif not _deal_for_hand(state, viewer, action, rng):
        return False
    _deal_temples(state, viewer, NULL, rng)
    return _is_legal(state, action)


def deal_for(State owner not None, int viewer, action_t action):
    """Deal what a seat of Coatl does not see so that an action is legal, or an event can happen.

    Parameters
    ----------
    owner : State
        Changed in place.
    viewer : int
        The seat, from 0; not the one that chooses the action.
    action : int
        Of another seat, or an outcome of the random event that is due.

    Returns
    -------
    bool
        False if it is illegal in every world that fits what the viewer has seen; some world is dealt then.
    """
    cdef Stream stream = Stream(0)
    if owner.game.name != "coatl":
        raise TypeError(f"expected a state of coatl, got one of {owner.game.name}")
    owner._require_seat(viewer)
    return hidden_deal_for(<CoatlStateC*>owner.data, viewer, action, stream.bitgen)
