"""Dealing unseen prophecies of Coatl where more is known of them than that they are unseen.

A seat knows of some cards that they lay in a hand before something was discarded from it unseen, or in the deck
when it was renewed. Cards of which it knows the same are a *class*; class 0 are those of which it knows nothing. A
world fits the observations if what happened can be taken back, one by one, so that every card is where it was known
to be.
This depends only on how many cards of each class each place holds.

Worlds are proposed class by class, within bounds that hold for each class alone, and those that do not fit are
rejected; so each that fits is as likely. If chance finds none, the first one of a search through all is taken.
"""

from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcpy, memset

from cext.core.game cimport State
from cext.core.rng cimport Stream, rng_below, rng_uniform
from cext.games.coatl.cards cimport FACE_OF, NUM_CARDS, NUM_FACES
from cext.games.coatl.state cimport (ACROSS, AWAY, DEALT, IN_DECK, IN_HAND, MAX_OBSERVATIONS, NO_SEAT, ON_COATL,
                                     PLAYED_UNSEEN, PRIVATE, PUBLIC, PUT_AWAY, RENEWED, REVEALED, UNSURE, set_first,
                                     set_size)

cdef enum:
    MAX_CLASSES = 32
    MAX_AMBIGUOUS = 5           # departures of a card whose twin is of another class; of more, the first is taken
    MAX_TRIES = 1000            # as many proposals
    MAX_NODES = 20000           # of a search for a course of events
    NUM_DEAD_ENDS = 1024        # a power of two
    HANDS = 0                   # places: + seat
    AWAYS = 4                   # + seat
    DECK = 8
    ACROSS_DECKS = 9            # came up as the deck was renewed: from the old one or the new one
    NUM_PLACES = 10
    NUM_UNSEEN_PLACES = 9

ctypedef struct WorldC:
    uint8_t counts[MAX_CLASSES][NUM_PLACES]

# A reading of the observations: the class of each card that became visible.
ctypedef struct ReadingC:
    uint8_t class_of[MAX_OBSERVATIONS]  # of entries that the viewer sees
    uint8_t class_of_card[NUM_CARDS]    # unseen cards as they lie now

ctypedef struct ObservationsC:
    const uint8_t* observed
    const uint8_t* faces
    int num_entries
    int viewer
    int num_classes
    int num_readings
    ReadingC readings[1 << MAX_AMBIGUOUS]
    int reading                         # that is tried
    uint8_t is_deck[MAX_CLASSES]        # known to have been in a new deck; else in the hand of `seat`
    uint8_t seat[MAX_CLASSES]
    int first[MAX_CLASSES]              # the entry with which it begins
    uint8_t chosen[MAX_OBSERVATIONS]    # classes, for the entries that the viewer does not see
    int nodes
    uint64_t dead_ends[NUM_DEAD_ENDS]   # hashes of what was found to be impossible
    uint64_t unseen
    int sizes[NUM_UNSEEN_PLACES]        # unseen cards in each place


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


cdef bint _name_classes(ObservationsC* obs) noexcept nogil:
    cdef int i, what, previous = -1
    obs.num_classes = 1
    for i in range(obs.num_entries):
        what = obs.observed[i] >> 2
        if what == RENEWED or (what == UNSURE and previous != UNSURE):
            if obs.num_classes == MAX_CLASSES:
                return False
            obs.first[obs.num_classes] = i
            obs.is_deck[obs.num_classes] = what == RENEWED
            obs.seat[obs.num_classes] = obs.observed[i] & 3
            obs.num_classes += 1
        previous = what
    return True


cdef int _read(ObservationsC* obs, int number) noexcept nogil:
    """Read the observations in one of their ways; return how often cards were ambiguous, -1 if it makes no sense."""
    cdef ReadingC* reading = &obs.readings[number]
    cdef uint8_t classes[NUM_FACES][2]
    cdef uint8_t hidden[NUM_FACES]
    cdef int i, card, face, taken, current = 0, ambiguous = 0
    cdef int balance[NUM_FACES]
    cdef uint64_t left = obs.unseen
    memset(classes, 0, sizeof(classes))
    memset(balance, 0, sizeof(balance))
    while left:
        balance[FACE_OF[set_first(left)]] += 1
        left &= left - 1
    for i in range(obs.num_entries):
        if _enters(obs, i):
            balance[obs.faces[i]] -= 1
        elif _leaves(obs, i):
            balance[obs.faces[i]] += 1
    for face in range(NUM_FACES):
        if not 0 <= balance[face] <= 2:
            return -1
        hidden[face] = <uint8_t>balance[face]
    for i in range(obs.num_entries):
        if current + 1 < obs.num_classes and obs.first[current + 1] == i:
            current += 1
        face = obs.faces[i]
        if _enters(obs, i):
            if hidden[face] == 2:
                return -1
            classes[face][hidden[face]] = <uint8_t>current
            reading.class_of[i] = <uint8_t>current
            hidden[face] += 1
        elif _leaves(obs, i):
            if hidden[face] == 0:
                return -1
            taken = hidden[face] - 1
            if taken == 1 and classes[face][0] != classes[face][1]:
                if ambiguous < MAX_AMBIGUOUS and number >> ambiguous & 1:
                    taken = 0
                ambiguous += 1
            reading.class_of[i] = classes[face][taken]
            classes[face][0] = classes[face][1 - taken]
            hidden[face] -= 1
            if hidden[face] == 0:
                classes[face][0] = 0
            classes[face][1] = 0
    # Cards of one face lie beside each other.
    memset(hidden, 0, sizeof(hidden))
    left = obs.unseen
    while left:
        card = set_first(left)
        left &= left - 1
        reading.class_of_card[card] = classes[FACE_OF[card]][hidden[FACE_OF[card]]]
        hidden[FACE_OF[card]] += 1
    return ambiguous


cdef bint _read_all(ObservationsC* obs) noexcept nogil:
    cdef int number = 0, ambiguous
    obs.num_readings = 1
    while number < obs.num_readings:
        ambiguous = _read(obs, number)
        if ambiguous < 0:
            return False
        # Readings may differ in how much is ambiguous; those that are the same twice do no harm.
        obs.num_readings = max(obs.num_readings, 1 << min(ambiguous, MAX_AMBIGUOUS))
        number += 1
    return True


# --- taking back what happened

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


cdef int _class_to_take_up(const ObservationsC* obs, const WorldC* world, int seat) noexcept nogil:
    # Of what a seat discarded, what it must have had in hand comes first.
    cdef int number
    for number in range(obs.num_classes - 1, -1, -1):
        if world.counts[number][AWAYS + seat] > 0:
            return number
    return -1


cdef int _classes_to_put_back(const ObservationsC* obs, const WorldC* world, int seat, int i,
                              int* order) noexcept nogil:
    """List the classes of which a seat can have been dealt a card; a single one if that is as good as any."""
    cdef int number, renewal = 0, n = 0
    for number in range(1, obs.num_classes):
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
    for number in range(renewal - 1, 0, -1):
        if (obs.is_deck[number] or obs.seat[number] == seat) and world.counts[number][HANDS + seat] > 0:
            order[n] = number
            n += 1
    return n


cdef uint64_t _hash(const ObservationsC* obs, int i, const WorldC* world) noexcept nogil:
    cdef const uint8_t* counts = &world.counts[0][0]
    cdef uint64_t word, h = <uint64_t>(obs.reading << 16 | i)
    cdef int k
    for k in range(0, obs.num_classes * NUM_PLACES, 8):
        memcpy(&word, counts + k, 8)
        h = (h ^ word) * <uint64_t>0x9e3779b97f4a7c15
        h ^= h >> 29
    return h | 1


cdef bint _put_back(ObservationsC* obs, int i, WorldC* world, int seat, const int* order, int n) noexcept nogil:
    """Take back that a seat was dealt a card of one of n classes, and all before."""
    cdef WorldC before
    cdef uint64_t key = _hash(obs, i, world)
    cdef int k
    if obs.dead_ends[key >> 1 & (NUM_DEAD_ENDS - 1)] == key:
        return False
    for k in range(n):
        before = world[0]
        _move(&before, order[k], HANDS + seat, DECK)
        obs.chosen[i] = <uint8_t>order[k]
        if _take_back(obs, i, &before):
            return True
        if obs.nodes > MAX_NODES:
            return False
    obs.dead_ends[key >> 1 & (NUM_DEAD_ENDS - 1)] = key
    return False


cdef bint _split(ObservationsC* obs, int i, WorldC* world, const int* num_private, const int* first_private, int seat,
                 int number, int needed) noexcept nogil:
    """Give the seats back, class by class, what they had put away before a renewal, in all ways."""
    cdef WorldC after
    cdef int k, most, from_deck
    obs.nodes += 1
    if needed == 0:
        seat += 1
        while seat < 4 and num_private[seat] == 0:
            seat += 1
        if seat < 4:
            return _split(obs, i, world, num_private, first_private, seat, 0, num_private[seat])
        after = world[0]
        for k in range(obs.num_classes):
            if after.counts[k][DECK] > 0:
                return False            # it was not in the old deck, which is empty
            after.counts[k][DECK] = after.counts[k][ACROSS_DECKS]
            after.counts[k][ACROSS_DECKS] = 0
        return _take_back(obs, i, &after)
    if number == obs.num_classes:
        return False
    most = min(needed, world.counts[number][DECK] + world.counts[number][ACROSS_DECKS])
    for k in range(most, -1, -1):
        after = world[0]
        from_deck = min(k, after.counts[number][DECK])
        after.counts[number][DECK] -= <uint8_t>from_deck
        after.counts[number][ACROSS_DECKS] -= <uint8_t>(k - from_deck)
        after.counts[number][AWAYS + seat] += <uint8_t>k
        memset(&obs.chosen[first_private[seat] + num_private[seat] - needed], number, k)
        if _split(obs, i, &after, num_private, first_private, seat, number + 1, needed - k):
            return True
        if obs.nodes > MAX_NODES:
            return False
    return False


cdef bint _take_back_renewal(ObservationsC* obs, int i, WorldC* world, int num_known, const int* num_private,
                             const int* first_private) noexcept nogil:
    cdef int number, place, total = 0, missing, here, renewal = 0
    for number in range(1, obs.num_classes):
        if obs.first[number] == i:
            renewal = number
    here = world.counts[renewal][DECK] + world.counts[renewal][ACROSS_DECKS]
    missing = num_known - here
    if here != _total(world, renewal) or missing < 0:
        return False
    world.counts[renewal][DECK] = world.counts[renewal][ACROSS_DECKS] = 0
    # While bounds are looked for, cards of class 0 stand in for all others.
    here = min(missing, world.counts[0][DECK])
    world.counts[0][DECK] -= <uint8_t>here
    missing -= here
    if missing > world.counts[0][ACROSS_DECKS]:
        return False
    world.counts[0][ACROSS_DECKS] -= <uint8_t>missing
    for number in range(obs.num_classes):
        total += world.counts[number][DECK] + world.counts[number][ACROSS_DECKS]
        for place in range(AWAYS, DECK):
            if world.counts[number][place] > 0:
                return False
    for place in range(4):
        total -= num_private[place]
    if total != obs.faces[i]:
        return False
    return _split(obs, i, world, num_private, first_private, -1, 0, 0)


cdef bint _take_back(ObservationsC* obs, int i, WorldC* world) noexcept nogil:
    """Tell whether the first i entries can have led to a world. The world is changed."""
    cdef int order[MAX_CLASSES]
    cdef int num_private[4]
    cdef int first_private[4]
    cdef int what, seat, number, n, num_known = 0
    memset(num_private, 0, sizeof(num_private))
    obs.nodes += 1
    if obs.nodes > MAX_NODES:
        return False
    while i > 0:
        i -= 1
        what = obs.observed[i] >> 2
        seat = obs.observed[i] & 3
        number = obs.readings[obs.reading].class_of[i]
        if what == PRIVATE and seat != obs.viewer:
            num_private[seat] += 1
            first_private[seat] = i
        elif what == PUBLIC or what == PRIVATE:
            num_known += 1
        elif what == RENEWED:
            return _take_back_renewal(obs, i, world, num_known, num_private, first_private)
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
            if obs.first[number] == i and _total(world, number) > 0:
                return False
        elif what == AWAY:
            number = _class_to_take_up(obs, world, seat)
            if number < 0:
                return False
            _move(world, number, AWAYS + seat, HANDS + seat)
            obs.chosen[i] = <uint8_t>number
        else:
            n = _classes_to_put_back(obs, world, seat, i, order)
            if n > 1:
                return _put_back(obs, i, world, seat, order, n)
            if n == 0:
                return False
            _move(world, order[0], HANDS + seat, DECK)
            obs.chosen[i] = <uint8_t>order[0]
    return True


cdef bint _fits(ObservationsC* obs, const WorldC* world) noexcept nogil:
    cdef WorldC copy = world[0]
    obs.nodes = 0
    return _take_back(obs, obs.num_entries, &copy)


cdef bint _fits_a_reading(ObservationsC* obs, const WorldC* world) noexcept nogil:
    cdef int i
    for i in range(obs.num_readings):
        obs.reading = i
        if _fits(obs, world):
            return True
    return False


# --- proposing worlds

ctypedef struct ProposalC:
    int num_classes                     # that have cards of this class in every reading
    uint8_t classes[MAX_CLASSES]        # those with most cards first; class 0 is none of them
    int num_cards[MAX_CLASSES]
    uint64_t cards[MAX_CLASSES]
    uint64_t free                       # all other cards
    uint8_t most[MAX_CLASSES][NUM_UNSEEN_PLACES]        # cards of the class in a place
    double ways[MAX_CLASSES]            # to place the class if no other one was there

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
    return _fits_a_reading(obs, &world)


cdef void _bound(ObservationsC* obs, ProposalC* proposal, int k) noexcept nogil:
    cdef int place, low, high, middle, number = proposal.classes[k]
    for place in range(NUM_UNSEEN_PLACES):
        low = 0
        high = min(proposal.num_cards[k], obs.sizes[place])
        if high > 0 and _may_hold(obs, number, place, high):
            low = high
        while high - low > 1:
            middle = (low + high) // 2
            if _may_hold(obs, number, place, middle):
                low = middle
            else:
                high = middle
        proposal.most[k][place] = <uint8_t>low


cdef inline double _choose(int n, int k) noexcept nogil:
    cdef double ways = 1.0
    cdef int i
    for i in range(k):
        ways = ways * (n - i) / (i + 1)
    return ways


cdef double _count_ways(const ProposalC* proposal, int k, const int* sizes,
                        WaysC* table) noexcept nogil:
    """Count the ways to place a class in places of these sizes."""
    cdef int place, n, here, total = proposal.num_cards[k]
    for n in range(total + 1):
        table.ways[0][n] = n == 0
    for place in range(NUM_UNSEEN_PLACES):
        for n in range(total + 1):
            table.ways[place + 1][n] = 0.0
            for here in range(min(n, min(sizes[place], <int>proposal.most[k][place])) + 1):
                table.ways[place + 1][n] += table.ways[place][n - here] * _choose(sizes[place], here)
    return table.ways[NUM_UNSEEN_PLACES][total]


cdef void _prepare(ObservationsC* obs, ProposalC* proposal) noexcept nogil:
    cdef WaysC table
    cdef uint64_t cards[MAX_CLASSES]
    cdef uint64_t left = obs.unseen
    cdef int number, card, i, k, n
    memset(cards, 0, sizeof(cards))
    while left:
        card = set_first(left)
        left &= left - 1
        number = obs.readings[0].class_of_card[card]
        for i in range(1, obs.num_readings):
            if obs.readings[i].class_of_card[card] != number:
                number = 0
        cards[number] |= <uint64_t>1 << card
    proposal.free = cards[0]
    proposal.num_classes = 0
    for number in range(1, obs.num_classes):
        n = set_size(cards[number])
        if n == 0:
            continue
        k = proposal.num_classes
        while k > 0 and proposal.num_cards[k - 1] < n:
            proposal.classes[k] = proposal.classes[k - 1]
            proposal.num_cards[k] = proposal.num_cards[k - 1]
            proposal.cards[k] = proposal.cards[k - 1]
            k -= 1
        proposal.classes[k] = <uint8_t>number
        proposal.num_cards[k] = n
        proposal.cards[k] = cards[number]
        proposal.num_classes += 1
    for k in range(proposal.num_classes):
        _bound(obs, proposal, k)
        proposal.ways[k] = _count_ways(proposal, k, obs.sizes, &table)


cdef void _put_any(uint64_t* cards, int n, uint64_t* place, bitgen_t* rng) noexcept nogil:
    """Move n members of a set, each as likely, into a place."""
    cdef uint64_t left
    cdef int i, k
    for i in range(n):
        left = cards[0]
        for k in range(rng_below(rng, set_size(left))):
            left &= left - 1
        left &= ~left + 1
        cards[0] &= ~left
        place[0] |= left


cdef bint _propose(const ObservationsC* obs, const ProposalC* proposal, uint64_t* places,
                   bitgen_t* rng) noexcept nogil:
    """Draw a world within the bounds of each class; False if it is rejected, which makes all equally likely."""
    cdef WaysC table
    cdef int sizes[NUM_UNSEEN_PLACES]
    cdef uint64_t cards
    cdef double ways, mark
    cdef int k, n, here, place
    for place in range(NUM_UNSEEN_PLACES):
        sizes[place] = obs.sizes[place]
        places[place] = 0
    for k in range(proposal.num_classes):
        ways = _count_ways(proposal, k, sizes, &table)
        if rng_uniform(rng) * proposal.ways[k] >= ways:
            return False
        cards = proposal.cards[k]
        n = proposal.num_cards[k]
        for place in range(NUM_UNSEEN_PLACES - 1, -1, -1):
            mark = rng_uniform(rng) * table.ways[place + 1][n]
            here = min(n, min(sizes[place], <int>proposal.most[k][place]))
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
    cards = proposal.free
    for place in range(NUM_UNSEEN_PLACES):
        _put_any(&cards, sizes[place], &places[place], rng)
    return True


cdef bint _is_possible(ObservationsC* obs, const uint64_t* places) noexcept nogil:
    """Tell whether a world fits; the reading in which it does is kept."""
    cdef WorldC world
    cdef uint64_t left
    cdef int i, place
    for i in range(obs.num_readings):
        obs.reading = i
        memset(&world, 0, sizeof(world))
        for place in range(NUM_UNSEEN_PLACES):
            left = places[place]
            while left:
                world.counts[obs.readings[i].class_of_card[set_first(left)]][place] += 1
                left &= left - 1
        if _fits(obs, &world):
            return True
    return False


cdef bint _search(ObservationsC* obs, const ProposalC* proposal, WorldC* world, int k, int place, int needed,
                  uint64_t cards, uint64_t* places, bitgen_t* rng) noexcept nogil:
    """Look through all worlds for one that fits, class by class and place by place."""
    cdef WorldC rest
    cdef int n, number
    if k == proposal.num_classes:
        cards = proposal.free
        for place in range(NUM_UNSEEN_PLACES):
            _put_any(&cards, world.counts[0][place], &places[place], rng)
        if _is_possible(obs, places):
            return True
        for place in range(NUM_UNSEEN_PLACES):
            places[place] &= ~proposal.free
        return False
    if needed == 0:
        if not _fits_a_reading(obs, world):
            return False
        k += 1
        n = proposal.num_cards[k] if k < proposal.num_classes else 0
        return _search(obs, proposal, world, k, 0, n, proposal.cards[k] if n else 0, places, rng)
    if place == NUM_UNSEEN_PLACES:
        return False
    number = proposal.classes[k]
    for n in range(min(needed, min(<int>world.counts[0][place], <int>proposal.most[k][place])), -1, -1):
        rest = world[0]
        rest.counts[0][place] -= <uint8_t>n
        rest.counts[number][place] += <uint8_t>n
        _put_any(&cards, n, &places[place], rng)
        if _search(obs, proposal, &rest, k, place + 1, needed - n, cards, places, rng):
            return True
        cards |= places[place] & proposal.cards[k]
        places[place] &= ~proposal.cards[k]
    return False


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
    cdef const ReadingC* reading = &obs.readings[obs.reading]
    cdef uint8_t faces[NUM_CARDS + MAX_OBSERVATIONS]
    cdef uint8_t classes[NUM_CARDS + MAX_OBSERVATIONS]
    cdef uint8_t where[NUM_CARDS + MAX_OBSERVATIONS]
    cdef uint64_t left
    cdef int i, k, what, seat, place, n = 0
    for place in range(NUM_UNSEEN_PLACES):
        left = places[place]
        while left:
            faces[n] = FACE_OF[set_first(left)]
            classes[n] = reading.class_of_card[set_first(left)]
            where[n] = <uint8_t>place
            left &= left - 1
            n += 1
    for i in range(obs.num_entries - 1, -1, -1):
        what = obs.observed[i] >> 2
        seat = obs.observed[i] & 3
        if _leaves(obs, i):
            faces[n] = obs.faces[i]
            classes[n] = reading.class_of[i]
            place = HANDS + seat if what == PLAYED_UNSEEN else (ACROSS_DECKS if what == ACROSS else DECK)
            where[n] = <uint8_t>place
            n += 1
        elif _enters(obs, i):
            place = HANDS + seat if what == UNSURE else DECK
            k = _find(faces, classes, where, n, obs.faces[i], reading.class_of[i], place)
            if k < 0 and place == DECK:
                k = _find(faces, classes, where, n, obs.faces[i], reading.class_of[i], ACROSS_DECKS)
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


cdef void _lay(CoatlStateC* state, uint64_t unseen, const uint64_t* places) noexcept nogil:
    cdef int place, seat
    for place in range(IN_DECK, ON_COATL):
        state.cards[place] &= ~unseen
    for seat in range(4):
        state.seen[seat] = state.seen[seat] & ~unseen | places[HANDS + seat] | places[AWAYS + seat]
        state.cards[IN_HAND + seat] |= places[HANDS + seat]
        state.cards[PUT_AWAY + seat] |= places[AWAYS + seat]
    state.cards[IN_DECK] |= places[DECK]


cdef bint observations_deal(CoatlStateC* state, int viewer, bitgen_t* rng) noexcept nogil:
    cdef ObservationsC obs
    cdef ProposalC proposal
    cdef WorldC world
    cdef uint64_t places[NUM_UNSEEN_PLACES]
    cdef int i, n, seat, tries = 0
    obs.observed = state.observed
    obs.faces = state.observed_faces
    obs.num_entries = state.num_observations
    obs.viewer = viewer
    memset(obs.dead_ends, 0, sizeof(obs.dead_ends))
    obs.unseen = (((<uint64_t>1 << NUM_CARDS) - 1) & ~state.seen[viewer])
    for seat in range(4):
        obs.sizes[HANDS + seat] = set_size(state.cards[IN_HAND + seat] & obs.unseen)
        obs.sizes[AWAYS + seat] = set_size(state.cards[PUT_AWAY + seat] & obs.unseen)
    obs.sizes[DECK] = set_size(state.cards[IN_DECK] & obs.unseen)
    if not _name_classes(&obs) or not _read_all(&obs):
        return False
    _prepare(&obs, &proposal)
    while not (_propose(&obs, &proposal, places, rng) and _is_possible(&obs, places)):
        tries += 1
        if tries == MAX_TRIES:
            memset(&world, 0, sizeof(world))
            memset(places, 0, sizeof(places))
            for i in range(NUM_UNSEEN_PLACES):
                world.counts[0][i] = <uint8_t>obs.sizes[i]
            n = proposal.num_cards[0] if proposal.num_classes > 0 else 0
            if not _search(&obs, &proposal, &world, 0, 0, n, proposal.cards[0] if n > 0 else 0, places, rng):
                return False
            break
    _lay(state, obs.unseen, places)
    _complete(&obs, places, state)
    return True


def has_world(State owner not None):
    """Return whether a deal of the cards that the viewer of a `State` does not see, if any, fits its observations."""
    cdef Stream stream = Stream(0)
    cdef CoatlStateC state
    if owner.game.name != "coatl":
        raise TypeError(f"expected a state of coatl, got one of {owner.game.name}")
    state = (<const CoatlStateC*>owner.data)[0]
    return (state.viewer == NO_SEAT or state.num_observations == 0
            or observations_deal(&state, state.viewer, stream.bitgen))
