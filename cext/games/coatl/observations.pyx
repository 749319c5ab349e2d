"""Dealing unseen prophecies of Coatl where more is known of them than that they are unseen.

A seat knows of some cards that they lay in a hand before something was discarded from it unseen, or in the deck
when it was renewed. Cards of which it knows the same are a *class*; class 0 are those of which it knows nothing. If
one of two cards with the same face becomes visible, and they were of different classes, nobody can tell which one it
was: from then on the face has a class of its own, and what was observed of either card before is of that class.

A world fits the observations if what happened can be taken back, one by one, so that every card is where it was known
to be. This depends only on how many cards of each class each place holds, and is decided by a depth-first search that
is complete, but for a limit of MAX_STEPS a deal, which games do not come near: beyond it no world is found.

Worlds are proposed class by class, within bounds that hold for each class alone, and those that do not fit are
rejected; so each that fits is as likely. If MAX_TRIES proposals are rejected, the first world of a complete search is
taken, which fits but is no uniform draw.
"""

from libc.stdint cimport uint8_t, uint16_t, uint64_t
from libc.string cimport memcpy, memset

from cext.core.contract.game cimport State
from cext.core.contract.rng cimport MIX_STEP, Stream, rng_below, rng_uniform
from cext.core.contract.sets cimport set_first, set_size
from cext.games.coatl.belief cimport CoatlBeliefC, belief_deal
from cext.games.coatl.cards cimport FACE_OF, NUM_CARDS, NUM_FACES
from cext.games.coatl.state cimport (ACROSS, AWAY, DEALT, IN_DECK, IN_HAND, MAX_OBSERVATIONS, ON_COATL,
                                     PLAYED_UNSEEN, PRIVATE, PUBLIC, PUT_AWAY, RENEWED, REVEALED, SPECTATOR, UNSURE)

cdef enum:
    MAX_CLASSES = 32            # a game has 9 renewals, 8 groups of UNSURE and 5 faces with two cards at most
    MAX_TRIES = 1000            # proposals
    MAX_STEPS = 1 << 22         # of the searches of one deal: some 0.1 s; the most in 60,000 views: 600,000
    NUM_DEAD_ENDS = 1024        # a power of two
    ACROSS_DECKS = NUM_UNSEEN_PLACES    # place: came up as the deck was renewed: from the old one or the new one
    NUM_PLACES = 10

ctypedef struct WorldC:
    uint8_t counts[MAX_CLASSES][NUM_PLACES]

ctypedef struct ObservationsC:
    const uint8_t* observed
    const uint8_t* faces
    int num_entries
    int viewer
    int num_epochs                      # classes that begin at an entry; the others are those of single faces
    int num_classes
    uint8_t class_of[MAX_OBSERVATIONS]  # of entries that the viewer sees
    uint8_t class_of_card[NUM_CARDS]    # unseen cards as they lie now
    uint8_t hidden_before[MAX_OBSERVATIONS]     # where a card goes out of sight: hidden cards of its face before
    uint8_t is_deck[MAX_CLASSES]        # known to have been in a new deck; else in the hand of `seat`
    uint8_t seat[MAX_CLASSES]
    int first[MAX_CLASSES]              # the entry with which it begins
    uint8_t chosen[MAX_OBSERVATIONS]    # classes, for the entries that the viewer does not see
    uint64_t dead_ends[NUM_DEAD_ENDS]   # hashes of what was found to be impossible
    uint64_t unseen
    int sizes[NUM_UNSEEN_PLACES]        # unseen cards in each place
    int steps                           # of this deal so far


# What is known of a renewal of the deck.
ctypedef struct RenewalC:
    int entry
    int num_private[4]                  # cards that each seat had put away, unseen by the viewer
    int first_private[4]                # their first entry
    uint8_t num_known[MAX_CLASSES]      # cards that the viewer knew to be in the new deck
    uint8_t most[MAX_CLASSES]           # of a face's class: hidden cards before


# --- reading the observations

cdef inline bint _enters(const ObservationsC* obs, int i) noexcept nogil:
    # Whether a card that the viewer saw goes out of its sight.
    cdef int what = obs.observed[i] >> 2, seat = obs.observed[i] & 3
    return ((what == UNSURE and seat != obs.viewer) or what == PUBLIC
            or (what == PRIVATE and seat == obs.viewer))


cdef inline bint _leaves(const ObservationsC* obs, int i) noexcept nogil:
    # Whether a card that was out of its sight becomes visible.
    cdef int what = obs.observed[i] >> 2, seat = obs.observed[i] & 3
    return ((what == PLAYED_UNSEEN and seat != obs.viewer) or what == REVEALED or what == ACROSS
            or (what == DEALT and seat == obs.viewer))


cdef bint _name_epochs(ObservationsC* obs) noexcept nogil:
    cdef int i, what, previous = -1
    obs.num_epochs = 1
    for i in range(obs.num_entries):
        what = obs.observed[i] >> 2
        if what == RENEWED or (what == UNSURE and previous != UNSURE):
            if obs.num_epochs == MAX_CLASSES:
                return False
            obs.first[obs.num_epochs] = i
            obs.is_deck[obs.num_epochs] = what == RENEWED
            obs.seat[obs.num_epochs] = obs.observed[i] & 3
            obs.num_epochs += 1
        previous = what
    obs.num_classes = obs.num_epochs
    return True


cdef int _class_of_face(ObservationsC* obs, int face, int n) noexcept nogil:
    """Put what the first n entries say of a face in a class of its own; return the class, -1 if there are too many."""
    cdef int i, number = 0
    for i in range(n):
        if obs.faces[i] == face and (_enters(obs, i) or _leaves(obs, i)) and obs.class_of[i] >= obs.num_epochs:
            number = obs.class_of[i]
    if number == 0:
        if obs.num_classes == MAX_CLASSES:
            return -1
        number = obs.num_classes
        obs.first[number] = -1
        obs.is_deck[number] = False
        obs.num_classes += 1
    for i in range(n):
        if obs.faces[i] == face and (_enters(obs, i) or _leaves(obs, i)):
            obs.class_of[i] = <uint8_t>number
    return number


cdef bint _read(ObservationsC* obs) noexcept nogil:
    """Find the classes of all cards; False if the observations contradict each other."""
    cdef uint8_t classes[NUM_FACES][2]
    cdef uint8_t hidden[NUM_FACES]
    cdef int i, card, face, number, current = 0
    cdef int balance[NUM_FACES]
    cdef uint64_t left = obs.unseen
    memset(classes, 0, sizeof(classes))
    memset(balance, 0, sizeof(balance))
    while left:
        balance[FACE_OF[set_first(left)]] += 1
        left &= left - 1
    for i in range(obs.num_entries):
        if (_enters(obs, i) or _leaves(obs, i)) and obs.faces[i] >= NUM_FACES:
            return False                # the view of another seat, which did not see this card
        if _enters(obs, i):
            balance[obs.faces[i]] -= 1
        elif _leaves(obs, i):
            balance[obs.faces[i]] += 1
    for face in range(NUM_FACES):
        if not 0 <= balance[face] <= 2:
            return False
        hidden[face] = <uint8_t>balance[face]
    for i in range(obs.num_entries):
        if current + 1 < obs.num_epochs and obs.first[current + 1] == i:
            current += 1
        face = obs.faces[i]
        if _enters(obs, i):
            if hidden[face] == 2:
                return False
            obs.hidden_before[i] = hidden[face]
            classes[face][hidden[face]] = <uint8_t>current
            obs.class_of[i] = <uint8_t>current
            hidden[face] += 1
        elif _leaves(obs, i):
            if hidden[face] == 0:
                return False
            if hidden[face] == 2 and classes[face][0] != classes[face][1]:
                number = _class_of_face(obs, face, i)
                if number < 0:
                    return False
                classes[face][0] = classes[face][1] = <uint8_t>number
            obs.class_of[i] = classes[face][0]
            hidden[face] -= 1
            classes[face][hidden[face]] = 0
    # Cards of one face lie beside each other.
    memset(hidden, 0, sizeof(hidden))
    left = obs.unseen
    while left:
        card = set_first(left)
        left &= left - 1
        obs.class_of_card[card] = classes[FACE_OF[card]][hidden[FACE_OF[card]]]
        hidden[FACE_OF[card]] += 1
    return True


# --- taking back what happened

cdef inline bint _goes_on(ObservationsC* obs) noexcept nogil:
    """Count a step of a search; return False when the deal has used all of its steps, which ends every search of it."""
    obs.steps += 1
    return obs.steps <= MAX_STEPS


cdef inline int _total(const WorldC* world, int number) noexcept nogil:
    cdef int place, total = 0
    for place in range(NUM_PLACES):
        total += world.counts[number][place]
    return total


cdef inline bint _move(WorldC* world, int number, int source, int target) noexcept nogil:
    if world.counts[number][source] == 0:
        return False
    world.counts[number][source] -= 1
    world.counts[number][target] += 1
    return True


cdef int _classes_to_take_up(const ObservationsC* obs, const WorldC* world, int seat, int i,
                             int* order) noexcept nogil:
    """List the classes of the cards that a seat can have discarded."""
    cdef int number, group = 0, n = 0
    for number in range(obs.num_epochs, obs.num_classes):
        if world.counts[number][AWAYS + seat] > 0:
            order[n] = number
            n += 1
    for number in range(1, obs.num_epochs):
        if not obs.is_deck[number] and obs.seat[number] == seat and obs.first[number] < i:
            group = number
    # Of the other classes only the latest: going back, its cards are the first that must be in the hand again.
    for number in range(obs.num_epochs - 1, -1, -1):
        if world.counts[number][AWAYS + seat] > 0:
            order[n] = number
            n += 1
            break
    # While cards of class 0 stand in for others, they may be of the seat's last group, which must be there earlier.
    if 0 < number < group and world.counts[0][AWAYS + seat] > 0:
        order[n] = 0
        n += 1
    return n


cdef int _classes_to_put_back(const ObservationsC* obs, const WorldC* world, int seat, int i,
                              int* order) noexcept nogil:
    """List the classes of which a seat can have been dealt a card; a single one if that is as good as any."""
    cdef int number, renewal = 0, n = 0
    for number in range(1, obs.num_epochs):
        if obs.is_deck[number] and obs.first[number] < i:
            renewal = number
    if renewal > 0 and world.counts[renewal][HANDS + seat] > 0:
        order[0] = renewal
        return 1
    # Cards last known in another hand must go through the deck, and those that are not known anywhere may.
    for number in range(1, renewal):
        if not obs.is_deck[number] and obs.seat[number] != seat and world.counts[number][HANDS + seat] > 0:
            order[n] = number
            n += 1
    if world.counts[0][HANDS + seat] > 0:
        order[n] = 0
        n += 1
    for number in range(obs.num_epochs, obs.num_classes):
        if world.counts[number][HANDS + seat] > 0:
            order[n] = number
            n += 1
    for number in range(renewal - 1, 0, -1):
        if (obs.is_deck[number] or obs.seat[number] == seat) and world.counts[number][HANDS + seat] > 0:
            order[n] = number
            n += 1
    return n


cdef uint64_t _hash(const ObservationsC* obs, int i, const WorldC* world) noexcept nogil:
    cdef const uint8_t* counts = &world.counts[0][0]
    cdef uint64_t word, h = <uint64_t>i
    cdef int k
    for k in range(0, obs.num_classes * NUM_PLACES, 8):
        memcpy(&word, counts + k, 8)
        h = (h ^ word) * MIX_STEP
        h ^= h >> 29
    return h | 1


cdef bint _move_any(ObservationsC* obs, int i, const WorldC* world, int source, int target, const int* order,
                    int n) noexcept nogil:
    """Take back that a card of one of n classes was moved from the target to the source, and all before."""
    cdef WorldC before
    cdef uint64_t key = _hash(obs, i, world)
    cdef int k
    if obs.dead_ends[key >> 1 & (NUM_DEAD_ENDS - 1)] == key:
        return False
    for k in range(n):
        if not _goes_on(obs):
            return False
        before = world[0]
        _move(&before, order[k], source, target)
        obs.chosen[i] = <uint8_t>order[k]
        if _take_back(obs, i, &before):
            return True
    if obs.steps > MAX_STEPS:
        return False            # that is not known to be impossible
    obs.dead_ends[key >> 1 & (NUM_DEAD_ENDS - 1)] = key
    return False


cdef bint _split(ObservationsC* obs, const RenewalC* renewal, const WorldC* world, int seat, int number,
                 int needed) noexcept nogil:
    """Give the seats back, class by class, what they had put away before a renewal, in all ways."""
    cdef WorldC after
    cdef int k, from_deck
    if not _goes_on(obs):
        return False
    if needed == 0:
        seat += 1
        while seat < 4 and renewal.num_private[seat] == 0:
            seat += 1
        if seat < 4:
            return _split(obs, renewal, world, seat, 0, renewal.num_private[seat])
        after = world[0]
        for k in range(obs.num_classes):
            if after.counts[k][DECK] > 0:
                return False            # it was not in the old deck, which is empty
            after.counts[k][DECK] = after.counts[k][ACROSS_DECKS]
            after.counts[k][ACROSS_DECKS] = 0
        return _take_back(obs, renewal.entry, &after)
    if number == obs.num_classes:
        return False
    for k in range(min(needed, world.counts[number][DECK] + world.counts[number][ACROSS_DECKS]), -1, -1):
        after = world[0]
        from_deck = min(k, after.counts[number][DECK])
        after.counts[number][DECK] -= <uint8_t>from_deck
        after.counts[number][ACROSS_DECKS] -= <uint8_t>(k - from_deck)
        after.counts[number][AWAYS + seat] += <uint8_t>k
        memset(&obs.chosen[renewal.first_private[seat] + renewal.num_private[seat] - needed], number, k)
        if _split(obs, renewal, &after, seat, number + 1, needed - k):
            return True
    return False


cdef bint _take_out(ObservationsC* obs, const RenewalC* renewal, const WorldC* world, int number,
                    int missing) noexcept nogil:
    """Take the cards that the viewer knew out of the new deck, from a class on; of classes before, some are missing."""
    cdef WorldC after
    cdef int k, place, here, from_deck, total = 0
    if not _goes_on(obs):
        return False
    while number < obs.num_epochs and obs.first[number] != renewal.entry:
        number += 1
    after = world[0]
    if number < obs.num_classes:
        here = world.counts[number][DECK] + world.counts[number][ACROSS_DECKS]
        if number < obs.num_epochs and (here != _total(world, number) or here > renewal.num_known[number]):
            return False
        here = min(here, renewal.num_known[number])
        for k in range(here, (here if number < obs.num_epochs else 0) - 1, -1):
            from_deck = min(k, world.counts[number][DECK])
            after.counts[number][DECK] = <uint8_t>(world.counts[number][DECK] - from_deck)
            after.counts[number][ACROSS_DECKS] = <uint8_t>(world.counts[number][ACROSS_DECKS] - (k - from_deck))
            if renewal.num_known[number] > 0 and number >= obs.num_epochs:
                if _total(&after, number) > renewal.most[number]:
                    return False
            if _take_out(obs, renewal, &after, number + 1, missing + renewal.num_known[number] - k):
                return True
        return False
    # While bounds are looked for, cards of class 0 stand in for all others.
    here = min(missing, after.counts[0][DECK])
    after.counts[0][DECK] -= <uint8_t>here
    missing -= here
    if missing > after.counts[0][ACROSS_DECKS]:
        return False
    after.counts[0][ACROSS_DECKS] -= <uint8_t>missing
    for number in range(obs.num_classes):
        total += after.counts[number][DECK] + after.counts[number][ACROSS_DECKS]
        for place in range(AWAYS, DECK):
            if after.counts[number][place] > 0:
                return False
    for place in range(4):
        total -= renewal.num_private[place]
    if total != obs.faces[renewal.entry]:
        return False
    return _split(obs, renewal, &after, -1, 0, 0)


cdef bint _take_back(ObservationsC* obs, int i, WorldC* world) noexcept nogil:
    """Tell whether the first i entries can have led to a world. The world is changed."""
    cdef int order[MAX_CLASSES]         # each class once
    cdef RenewalC renewal
    cdef int what, seat, number, n, source, target
    memset(&renewal, 0, sizeof(renewal))
    while i > 0:
        i -= 1
        what = obs.observed[i] >> 2
        seat = obs.observed[i] & 3
        number = obs.class_of[i]
        if what == PRIVATE and seat != obs.viewer:
            renewal.num_private[seat] += 1
            renewal.first_private[seat] = i
        elif what == PUBLIC or what == PRIVATE:
            renewal.num_known[number] += 1
            renewal.most[number] = obs.hidden_before[i]
        elif what == RENEWED:
            renewal.entry = i
            return _take_out(obs, &renewal, world, 1, 0)
        elif what == REVEALED or (what == DEALT and seat == obs.viewer):
            world.counts[number][DECK] += 1
        elif what == ACROSS:
            world.counts[number][ACROSS_DECKS] += 1
        elif seat == obs.viewer:
            pass
        elif what == PLAYED_UNSEEN:
            world.counts[number][HANDS + seat] += 1
        elif what == UNSURE:
            if world.counts[number][HANDS + seat] > 0:
                world.counts[number][HANDS + seat] -= 1
            elif world.counts[0][HANDS + seat] > 0:
                world.counts[0][HANDS + seat] -= 1
            else:
                return False
            if number >= obs.num_epochs and _total(world, number) > obs.hidden_before[i]:
                return False
            for number in range(1, obs.num_epochs):
                if obs.first[number] == i and _total(world, number) > 0:
                    return False
        else:
            if what == AWAY:
                source, target = AWAYS + seat, HANDS + seat
                n = _classes_to_take_up(obs, world, seat, i, order)
            else:
                source, target = HANDS + seat, DECK
                n = _classes_to_put_back(obs, world, seat, i, order)
            if n > 1:
                return _move_any(obs, i, world, source, target, order, n)
            if n == 0:
                return False
            _move(world, order[0], source, target)
            obs.chosen[i] = <uint8_t>order[0]
    return True


cdef bint _fits(ObservationsC* obs, const WorldC* world) noexcept nogil:
    cdef WorldC copy = world[0]
    return _goes_on(obs) and _take_back(obs, obs.num_entries, &copy)


# --- proposing worlds

# Cards of one class, as far as they may lie in the same places.
ctypedef struct GroupC:
    uint8_t number                      # of the class
    uint16_t allowed                    # places
    int num_cards
    uint64_t cards
    uint8_t most[NUM_UNSEEN_PLACES]     # cards of the class in a place
    double ways                         # to place them if no others were there

ctypedef struct ProposalC:
    int num_groups
    int num_bounded                     # of them: classes that begin at an entry, those with most cards first
    GroupC groups[NUM_CARDS]            # an unseen card in each at least
    uint64_t free                       # cards of class 0 that may lie anywhere

ctypedef struct WaysC:
    double ways[NUM_UNSEEN_PLACES + 1][NUM_CARDS + 1]   # to place n cards in the first p places


cdef bint _may_hold(ObservationsC* obs, int number, int place, int n) noexcept nogil:
    """Tell whether n cards of a class may be in a place, whatever the others are."""
    cdef WorldC world
    cdef int i
    memset(&world, 0, sizeof(world))
    for i in range(NUM_UNSEEN_PLACES):
        world.counts[0][i] = <uint8_t>obs.sizes[i]
    world.counts[0][place] -= <uint8_t>n
    world.counts[number][place] = <uint8_t>n
    return _fits(obs, &world)


cdef void _bound(ObservationsC* obs, GroupC* group) noexcept nogil:
    cdef int place, low, high, middle
    for place in range(NUM_UNSEEN_PLACES):
        low = 0
        high = min(group.num_cards, obs.sizes[place])
        if high > 0 and _may_hold(obs, group.number, place, high):
            low = high
        while high - low > 1:
            middle = (low + high) // 2
            if _may_hold(obs, group.number, place, middle):
                low = middle
            else:
                high = middle
        group.most[place] = <uint8_t>low


cdef inline double _choose(int n, int k) noexcept nogil:
    cdef double ways = 1.0
    cdef int i
    for i in range(k):
        ways = ways * (n - i) / (i + 1)
    return ways


cdef double _count_ways(const GroupC* group, const int* sizes, WaysC* table) noexcept nogil:
    """Count the ways to place a class in places of these sizes."""
    cdef int place, n, here, total = group.num_cards
    for n in range(total + 1):
        table.ways[0][n] = n == 0
    for place in range(NUM_UNSEEN_PLACES):
        for n in range(total + 1):
            table.ways[place + 1][n] = 0.0
            for here in range(min(n, min(sizes[place], <int>group.most[place])) + 1):
                table.ways[place + 1][n] += table.ways[place][n - here] * _choose(sizes[place], here)
    return table.ways[NUM_UNSEEN_PLACES][total]


cdef inline int _rank(const ObservationsC* obs, const GroupC* group) noexcept nogil:
    # Groups are placed in this order: what is bound to few places, then the classes with bounds, the largest first.
    cdef int rank = NUM_CARDS
    if group.allowed != EVERYWHERE:
        rank = set_size(group.allowed) - NUM_CARDS
    elif group.number < obs.num_epochs:
        rank -= group.num_cards
    return rank * MAX_CLASSES + group.number


cdef void _prepare(ObservationsC* obs, const uint16_t* allowed, ProposalC* proposal) noexcept nogil:
    """Sort the unseen cards into groups; `allowed` has the places where each card may lie, NULL: everywhere."""
    cdef WaysC table
    cdef GroupC group
    cdef uint64_t left = obs.unseen
    cdef int card, k, place
    cdef uint16_t places
    proposal.num_groups = proposal.num_bounded = 0
    proposal.free = 0
    while left:
        card = set_first(left)
        left &= left - 1
        places = allowed[card] if allowed != NULL else EVERYWHERE
        if obs.class_of_card[card] == 0 and places == EVERYWHERE:
            proposal.free |= <uint64_t>1 << card
            continue
        k = 0
        while k < proposal.num_groups and (proposal.groups[k].number != obs.class_of_card[card]
                                           or proposal.groups[k].allowed != places):
            k += 1
        if k == proposal.num_groups:
            memset(&proposal.groups[k], 0, sizeof(GroupC))
            proposal.groups[k].number = obs.class_of_card[card]
            proposal.groups[k].allowed = places
            proposal.num_groups += 1
        proposal.groups[k].cards |= <uint64_t>1 << card
        proposal.groups[k].num_cards += 1
    for card in range(1, proposal.num_groups):
        group = proposal.groups[card]
        k = card
        while k > 0 and _rank(obs, &proposal.groups[k - 1]) > _rank(obs, &group):
            proposal.groups[k] = proposal.groups[k - 1]
            k -= 1
        proposal.groups[k] = group
    for k in range(proposal.num_groups):
        if allowed == NULL and proposal.groups[k].number < obs.num_epochs:
            _bound(obs, &proposal.groups[k])
            proposal.groups[k].ways = _count_ways(&proposal.groups[k], obs.sizes, &table)
            proposal.num_bounded += 1
        else:
            for place in range(NUM_UNSEEN_PLACES):
                proposal.groups[k].most[place] = NUM_CARDS if proposal.groups[k].allowed >> place & 1 else 0


cdef void _put_any(uint64_t* cards, int n, uint64_t* place, bitgen_t* rng) noexcept nogil:
    """Move n members of a set, each as likely, into a place."""
    cdef uint64_t left
    cdef int _
    for _ in range(n):
        left = cards[0]
        for _ in range(rng_below(rng, set_size(left))):
            left &= left - 1
        left &= ~left + 1
        cards[0] &= ~left
        place[0] |= left


cdef bint _propose(const ObservationsC* obs, const ProposalC* proposal, uint64_t* places,
                   bitgen_t* rng) noexcept nogil:
    """Draw a world within the bounds of each class; False if it is rejected, which makes all equally likely."""
    cdef WaysC table
    cdef int sizes[NUM_UNSEEN_PLACES]
    cdef uint64_t cards, free = proposal.free
    cdef double ways, mark
    cdef int k, n, here, place
    for place in range(NUM_UNSEEN_PLACES):
        sizes[place] = obs.sizes[place]
        places[place] = 0
    for k in range(proposal.num_bounded):
        ways = _count_ways(&proposal.groups[k], sizes, &table)
        if rng_uniform(rng) * proposal.groups[k].ways >= ways:
            return False
        cards = proposal.groups[k].cards
        n = proposal.groups[k].num_cards
        for place in range(NUM_UNSEEN_PLACES - 1, -1, -1):
            mark = rng_uniform(rng) * table.ways[place + 1][n]
            here = min(n, min(sizes[place], <int>proposal.groups[k].most[place]))
            while here > 0:
                mark -= table.ways[place][n - here] * _choose(sizes[place], here)
                if mark < 0:
                    break
                here -= 1
            _put_any(&cards, here, &places[place], rng)
            sizes[place] -= here
            n -= here
        if n > 0:
            return False                # rounding
    for k in range(proposal.num_bounded, proposal.num_groups):
        free |= proposal.groups[k].cards
    for place in range(NUM_UNSEEN_PLACES):
        _put_any(&free, sizes[place], &places[place], rng)
    return True


cdef bint _is_possible(ObservationsC* obs, const uint64_t* places) noexcept nogil:
    cdef WorldC world
    cdef uint64_t left
    cdef int place
    memset(&world, 0, sizeof(world))
    for place in range(NUM_UNSEEN_PLACES):
        left = places[place]
        while left:
            world.counts[obs.class_of_card[set_first(left)]][place] += 1
            left &= left - 1
    return _fits(obs, &world)


cdef bint _search(ObservationsC* obs, const ProposalC* proposal, const WorldC* world, int k, int place, int needed,
                  uint64_t cards, uint64_t* places, bitgen_t* rng) noexcept nogil:
    """Look through all worlds for one that fits, group by group and place by place."""
    cdef const GroupC* group
    cdef WorldC rest
    cdef int n, room
    if not _goes_on(obs):
        return False
    if needed == 0:
        if not _fits(obs, world):
            return False
        k += 1
        if k < proposal.num_groups:
            group = &proposal.groups[k]
            return _search(obs, proposal, world, k, 0, group.num_cards, group.cards, places, rng)
        cards = proposal.free
        for place in range(NUM_UNSEEN_PLACES):
            _put_any(&cards, obs.sizes[place] - set_size(places[place]), &places[place], rng)
        return True
    if place == NUM_UNSEEN_PLACES:
        return False
    group = &proposal.groups[k]
    room = obs.sizes[place] - set_size(places[place])
    for n in range(min(needed, min(room, <int>group.most[place])), -1, -1):
        rest = world[0]
        rest.counts[0][place] -= <uint8_t>n
        rest.counts[group.number][place] += <uint8_t>n
        _put_any(&cards, n, &places[place], rng)
        if _search(obs, proposal, &rest, k, place + 1, needed - n, cards, places, rng):
            return True
        cards |= places[place] & group.cards
        places[place] &= ~group.cards
    return False


cdef bint _find_world(ObservationsC* obs, const ProposalC* proposal, uint64_t* places, bitgen_t* rng) noexcept nogil:
    """Find a world that fits, if there is one."""
    cdef WorldC world
    cdef int place
    memset(&world, 0, sizeof(world))
    memset(places, 0, NUM_UNSEEN_PLACES * sizeof(places[0]))
    for place in range(NUM_UNSEEN_PLACES):
        world.counts[0][place] = <uint8_t>obs.sizes[place]
    return _search(obs, proposal, &world, -1, 0, 0, 0, places, rng)


# --- the world that was found

cdef int _find(const uint8_t* faces, const uint8_t* classes, const uint8_t* where, int n, int face, int number,
               int place) noexcept nogil:
    # The card of that face (-1: any), class (-1: any) and place; -1 for none.
    cdef int i
    for i in range(n):
        if where[i] == place and (face < 0 or faces[i] == face) and (number < 0 or classes[i] == number):
            return i
    return -1


cdef void _sort(uint8_t* faces, int n) noexcept nogil:
    cdef int i, j
    cdef uint8_t face
    for i in range(1, n):
        face = faces[i]
        j = i
        while j > 0 and faces[j - 1] > face:
            faces[j] = faces[j - 1]
            j -= 1
        faces[j] = face


cdef void _complete(const ObservationsC* obs, const uint64_t* places, CoatlStateC* state) noexcept nogil:
    """Write the cards that the observations hide from the viewer, of the course of events that was found."""
    cdef uint8_t faces[NUM_CARDS + MAX_OBSERVATIONS]    # unseen cards, and one an entry
    cdef uint8_t classes[NUM_CARDS + MAX_OBSERVATIONS]
    cdef uint8_t where[NUM_CARDS + MAX_OBSERVATIONS]
    cdef uint64_t left
    cdef int i, k, what, seat, place, n = 0
    for place in range(NUM_UNSEEN_PLACES):
        left = places[place]
        while left:
            faces[n] = FACE_OF[set_first(left)]
            classes[n] = obs.class_of_card[set_first(left)]
            where[n] = <uint8_t>place
            left &= left - 1
            n += 1
    for i in range(obs.num_entries - 1, -1, -1):
        what = obs.observed[i] >> 2
        seat = obs.observed[i] & 3
        if _leaves(obs, i):
            faces[n] = obs.faces[i]
            classes[n] = obs.class_of[i]
            place = HANDS + seat if what == PLAYED_UNSEEN else (ACROSS_DECKS if what == ACROSS else DECK)
            where[n] = <uint8_t>place
            n += 1
        elif _enters(obs, i):
            place = HANDS + seat if what == UNSURE else DECK
            k = _find(faces, classes, where, n, obs.faces[i], obs.class_of[i], place)
            if k < 0 and place == DECK:
                k = _find(faces, classes, where, n, obs.faces[i], obs.class_of[i], ACROSS_DECKS)
            if k >= 0:
                where[k] = NUM_PLACES           # in sight
        elif what == RENEWED:
            for k in range(n):
                if where[k] == ACROSS_DECKS:
                    where[k] = DECK
        elif seat != obs.viewer and what != UNSURE and what != PLAYED_UNSEEN:
            place = HANDS + seat if what == DEALT else (AWAYS + seat if what == AWAY else DECK)
            k = _find(faces, classes, where, n, -1, obs.chosen[i], place)
            if k < 0 and what == PRIVATE:
                k = _find(faces, classes, where, n, -1, obs.chosen[i], ACROSS_DECKS)
            if k >= 0:
                state.observed_faces[i] = faces[k]
                where[k] = <uint8_t>(DECK if what == DEALT else (HANDS + seat if what == AWAY else AWAYS + seat))
    i = 0
    while i < obs.num_entries:
        k = i
        while k < obs.num_entries and obs.observed[k] == obs.observed[i]:
            k += 1
        if obs.observed[i] >> 2 == PRIVATE:
            _sort(&state.observed_faces[i], k - i)
        i = k


cdef void observations_lay(CoatlStateC* state, uint64_t unseen, const uint64_t* places) noexcept nogil:
    cdef int place, seat
    for place in range(IN_DECK, ON_COATL):
        state.cards[place] &= ~unseen
    for seat in range(4):
        state.seen[seat] = state.seen[seat] & ~unseen | places[HANDS + seat] | places[AWAYS + seat]
        state.cards[IN_HAND + seat] |= places[HANDS + seat]
        state.cards[PUT_AWAY + seat] |= places[AWAYS + seat]
    state.cards[IN_DECK] |= places[DECK]


cdef bint _begin(ObservationsC* obs, const CoatlStateC* state, int viewer) noexcept nogil:
    cdef int seat
    obs.observed = state.observed
    obs.faces = state.observed_faces
    obs.num_entries = state.num_observations
    obs.viewer = viewer
    obs.steps = 0
    memset(obs.dead_ends, 0, sizeof(obs.dead_ends))
    obs.unseen = ((<uint64_t>1 << NUM_CARDS) - 1) & ~state.seen[viewer]
    for seat in range(4):
        obs.sizes[HANDS + seat] = set_size(state.cards[IN_HAND + seat] & obs.unseen)
        obs.sizes[AWAYS + seat] = set_size(state.cards[PUT_AWAY + seat] & obs.unseen)
    obs.sizes[DECK] = set_size(state.cards[IN_DECK] & obs.unseen)
    return _name_epochs(obs) and _read(obs)


cdef bint observations_deal(CoatlStateC* state, int viewer, const CoatlBeliefC* belief,
                            bitgen_t* rng) noexcept nogil:
    cdef ObservationsC obs
    cdef ProposalC proposal
    cdef uint64_t places[NUM_UNSEEN_PLACES]
    cdef int tries = 0
    if not _begin(&obs, state, viewer):
        return False
    _prepare(&obs, NULL, &proposal)
    while not (_propose(&obs, &proposal, places, rng) and _is_possible(&obs, places)):
        tries += 1
        if tries == MAX_TRIES or obs.steps > MAX_STEPS:
            if not _find_world(&obs, &proposal, places, rng):
                return False
            break
    if belief != NULL:
        belief_deal(belief, places, obs.class_of_card, rng)
    observations_lay(state, obs.unseen, places)
    _complete(&obs, places, state)
    return True


cdef bint observations_deal_within(CoatlStateC* state, int viewer, const uint16_t* allowed,
                                   bitgen_t* rng) noexcept nogil:
    cdef ObservationsC obs
    cdef ProposalC proposal
    cdef uint64_t places[NUM_UNSEEN_PLACES]
    if not _begin(&obs, state, viewer):
        return False
    _prepare(&obs, allowed, &proposal)
    if not _find_world(&obs, &proposal, places, rng):
        return False
    observations_lay(state, obs.unseen, places)
    _complete(&obs, places, state)
    return True


def has_world(State owner not None):
    """Return whether a deal of the cards that the viewer of a `State` does not see, if any, fits its observations.

    True for a spectator, for whom nothing is dealt.
    """
    cdef Stream stream = Stream(0)
    cdef CoatlStateC state
    cdef bint found
    if owner.game.name != "coatl":
        raise TypeError(f"expected a state of coatl, got one of {owner.game.name}")
    state = (<const CoatlStateC*>owner.data)[0]
    if state.viewer >= SPECTATOR or state.num_observations == 0:
        return True
    with nogil:
        found = observations_deal_within(&state, state.viewer, NULL, stream.bitgen)
    return found
