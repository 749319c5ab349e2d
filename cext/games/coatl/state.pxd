"""The flat state of Coatl and the layout of its actions."""

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from cext.core.contract.types cimport CHANCE, TERMINAL, action_t
from cext.games.coatl.cards cimport NUM_CARDS, NUM_COLORS, NUM_PAIRS, NUM_TEMPLES

# --- actions
#
#   bits 36-40  Verb
#   KEEP, REVEAL: cards ascending, face number + 1 in 6 bits each, the first in bits 0-5; unused 0
#   REFILL: bits 0-5 two heads (colour + 1 in 3 bits each, ascending), 6-11 two tails, 12-35 six pairs of bodies
#           (number of the pair + 1 in 4 bits each, ascending); unused 0
#   others:
#   bits  0-5   card: face number + 1, temple number + 1; 0: the top of the deck (DRAW), or none
#   bits  6-8   colour; of a pair the first
#   bits  9-11  second colour of a pair, else 0
#   bits 12-13  Kind
#   bits 14-15  Coatl, from 0
#   bit  16     Side of a body piece that is added, else 0
#
# Ascending numbers are the canonical order.
cdef enum:              # Verb
    KEEP = 1
    TAKE = 2
    DRAW = 3
    START = 4
    ADD = 5
    PLAY = 6
    TEMPLE = 7
    CLOSE = 8
    PERFECT = 9
    FUTURE = 10
    DISCARD = 11
    PROMISE = 12
    END = 13
    PASS = 14
    DEAL = 15           # this and the next verbs are random events: only in records, never generated
    REVEAL = 16
    REFILL = 17
    UNCOVER = 18
    NUM_VERBS = 19

cdef enum:              # Kind
    HEAD = 0
    TAIL = 1
    BODY = 2
    NUM_KINDS = 3

cdef enum:              # Side
    LEFT = 0
    RIGHT = 1

# An action from its parts.
cdef inline action_t action_make(int verb, int card, int a, int b, int kind, int coatl, int side) noexcept nogil:
    return (<action_t>verb << 36) | <action_t>(card | a << 6 | b << 9 | kind << 12 | coatl << 14 | side << 16)

# Verb.
cdef inline int action_verb(action_t action) noexcept nogil:
    return <int>(action >> 36 & 31)

# The card at a place of the list (0 for actions with one card): face or temple number, -1 for none.
cdef inline int action_card(action_t action, int place) noexcept nogil:
    return <int>(action >> 6 * place & 63) - 1

# Colour; of a pair the first.
cdef inline int action_a(action_t action) noexcept nogil:
    return <int>(action >> 6 & 7)

# Second colour of a pair.
cdef inline int action_b(action_t action) noexcept nogil:
    return <int>(action >> 9 & 7)

# Kind.
cdef inline int action_kind(action_t action) noexcept nogil:
    return <int>(action >> 12 & 3)

# Number of the Coatl.
cdef inline int action_coatl(action_t action) noexcept nogil:
    return <int>(action >> 14 & 3)

# Side.
cdef inline int action_side(action_t action) noexcept nogil:
    return <int>(action >> 16 & 1)


# --- sizes
cdef enum:              # Phase
    KEEPING = 0
    TURN = 1            # a seat chooses what to do
    DRAWING = 2         # it has drawn a card
    FORESEEING = 3      # it has spent "see the future" and may still discard
    BUILDING = 4
    CLOSING = 5         # a Coatl is complete; cards may still be played on it
    OVER = 6

cdef enum:              # Event: a random event that is pending
    NONE = 0
    DEALING = 1         # the seat to move gets the top card of the deck
    REVEALING = 2       # the display is refilled
    REFILLING = 3       # the supply is refilled
    UNCOVERING = 4      # a temple pile shows its next card

cdef enum:              # Ending
    THIRD = 1           # a third Coatl was completed
    BODIES = 2          # no body pieces are left on the supply board and in the bag

cdef enum:              # Token, as bits
    PERFECT_PICK = 1
    SEE_THE_FUTURE = 2
    PRIESTS_PROMISE = 4

cdef enum:
    MAX_PIECES = 64             # of a Coatl (D10)
    COATLS = 3                  # of a seat
    MAX_UNFINISHED = 2
    PLAYED = 4                  # prophecies on a Coatl at most
    CAPACITY = 8                # stored pieces of a seat
    HAND = 5                    # prophecies in hand at most
    DISPLAY = 6
    HEAD_SPACES = 2             # and as many tail spaces
    BODY_SPACES = 6
    PILES = 2
    NO_CARD = 255
    SPECTATOR = 254             # a viewer that sees what every seat sees
    NO_SEAT = 255
    EVERYBODY = 15              # a set of seats
    MAX_OBSERVATIONS = 268      # a game can have at most 251

# What was observed of prophecies that are hidden now, in order of time. The list begins with the first card that was
# known to be in a hand and may have been discarded unseen, or with the first renewal of the deck. An entry has a seat
# and a face, unless stated otherwise. In a position's text form the list is called `memory`.
cdef enum:              # Observation
    UNSURE = 0                  # the seat is about to discard unseen: this card, shown until now, may be the one
    AWAY = 1                    # it discards this card; hidden from the others
    DEALT = 2                   # it is dealt this card; hidden from the others
    PLAYED_UNSEEN = 3           # it plays this card, which not all seats knew
    REVEALED = 4                # from the deck; no seat
    RENEWED = 5                 # no seat; instead of a face the cards of the old deck among those ACROSS
    PUBLIC = 6                  # in the new deck: discarded for all to see; no seat
    PRIVATE = 7                 # in the new deck: this seat had discarded it; hidden from the others
    ACROSS = 8                  # revealed at once from the old deck and the new one; no seat
    NUM_OBSERVATION_KINDS = 9

# Where a card is. Places of a seat: place + seat.
cdef enum:              # Place
    IN_DECK = 0                 # temples: below the top of a pile
    ON_DISPLAY = 1              # temples: the top of a pile
    DISCARDED = 2               # face up, seen by all
    IN_HAND = 4                 # + seat
    PUT_AWAY = 8                # + seat: discarded from its hand, unseen by the others
    ON_COATL = 12               # + seat
    NUM_PLACES = 16

ctypedef struct CoatlC:         # 80 bytes
    uint8_t pieces[MAX_PIECES]  # colours from head to tail; unused 0. One of MAX_PIECES cannot be added to
    uint8_t length
    uint8_t has_head
    uint8_t has_tail
    uint8_t closed
    uint8_t num_cards           # prophecies played on it
    uint8_t temple              # NO_CARD: none
    uint8_t points              # of its cards, once it is closed
    uint8_t unused
    uint8_t cards[PLAYED]       # their faces, ascending; unused NO_CARD
    uint32_t neighbors          # of its pieces, see `cards.pxd`; follows from them, so not hashed

cdef extern from *:
    """
    #include <stddef.h>
    #define COATL_GAP(coatl, a, b) (offsetof(__typeof__(*(coatl)), b) - offsetof(__typeof__(*(coatl)), a))
    #define COATL_LAYOUT(c) mix_require(COATL_GAP(c, length, cards) == 8 && COATL_GAP(c, cards, neighbors) == 4)
    """
    # Fails while C is compiled if the fields that hashes read together do not stand together.
    void coatl_require_layout "COATL_LAYOUT"(const CoatlC* coatl) noexcept nogil

# Everything on the table except Coatls and cards; hashed word by word.
ctypedef struct TableC:         # 128 bytes
    uint8_t supply[2][NUM_COLORS]       # heads and tails on the supply board
    uint8_t pairs[NUM_PAIRS]            # pairs of bodies on it
    uint8_t stored[4][NUM_KINDS][NUM_COLORS]    # pieces of each seat's board
    uint8_t tops[PILES]                 # the open temple of each pile; NO_CARD
    uint8_t below[PILES]                # cards below it
    uint8_t num_hand[4]                 # prophecies in hand
    uint8_t num_away[4]                 # prophecies discarded from the hand, unseen
    uint8_t num_temples[4]              # temples in hand
    uint8_t tokens[4]                   # tokens left, as Token bits
    uint8_t num_players                 # 2..4
    uint8_t strict_ends                 # 1: the other reading of D7
    uint8_t with_tokens
    uint8_t phase                       # after the pending random event, if there is one
    uint8_t pending                     # Event
    uint8_t to_move                     # seat; while an event is pending, the seat that moves after it
    uint8_t actions_left                # 2: neither of the two actions of a last turn has been played
    uint8_t passes                      # successive passes
    uint8_t ending                      # 0, or Ending
    uint8_t ending_seat                 # that completed the third Coatl
    uint8_t closing                     # Coatl being closed, from 1; 0
    int32_t round                       # from 1; 0 while keeping
    int32_t last_round                  # of Ending BODIES, else 0
    uint8_t unused[4]

# 1856 bytes, no pointers, padding is zero.
ctypedef struct CoatlStateC:
    TableC table
    CoatlC coatls[4][COATLS]            # in the order in which they were started; length 0: not started
    uint8_t bag[NUM_KINDS][NUM_COLORS]  # pieces in the bags
    uint8_t unused
    uint64_t cards[NUM_PLACES]          # prophecies in each Place, as sets of cards (a bit for each)
    uint64_t seen[4]                    # prophecies whose place a seat knows; unused seats know what all know
    uint16_t temples[NUM_PLACES]        # the same for temples
    uint16_t temples_seen[4]
    uint8_t num_deck                    # prophecies in the deck
    uint8_t num_discarded               # face up
    uint8_t num_display
    uint8_t viewer                      # the seat whose view this is, or SPECTATOR; NO_SEAT: everything is known
    int32_t turns                       # turns ended since the state was made; not part of the position
    uint16_t num_observations           # nearly always 0
    uint8_t unused2[6]
    uint8_t observed[MAX_OBSERVATIONS]  # Observation << 2 | seat
    uint8_t observed_faces[MAX_OBSERVATIONS]    # NO_CARD if the viewer does not know it


# GameOps.current_player.
cdef inline int state_current_player(const CoatlStateC* state) noexcept nogil:
    if state.table.phase == OVER:
        return TERMINAL
    if state.table.pending != NONE:
        return CHANCE
    return state.table.to_move

# Prophecies whose place all seats know.
cdef inline uint64_t state_seen_by_all(const CoatlStateC* state) noexcept nogil:
    return state.seen[0] & state.seen[1] & state.seen[2] & state.seen[3]

# Moves a prophecy. Afterwards the seats of the set know where it is, and no other.
cdef inline void state_move_card(CoatlStateC* state, int card, int source, int target, int seats) noexcept nogil:
    cdef uint64_t bit = <uint64_t>1 << card
    cdef int seat
    state.cards[source] &= ~bit
    state.cards[target] |= bit
    for seat in range(4):
        if seats >> seat & 1:
            state.seen[seat] |= bit
        else:
            state.seen[seat] &= ~bit

# The same for a temple.
cdef inline void state_move_temple(CoatlStateC* state, int temple, int source, int target, int seats) noexcept nogil:
    cdef uint16_t bit = <uint16_t>(1 << temple)
    cdef int seat
    state.temples[source] &= ~bit
    state.temples[target] |= bit
    for seat in range(4):
        if seats >> seat & 1:
            state.temples_seen[seat] |= bit
        else:
            state.temples_seen[seat] &= ~bit

# Adds an observation. If the list is full (no game gets there), it starts again from empty.
cdef inline void state_observe(CoatlStateC* state, int kind, int seat, int face) noexcept nogil:
    if state.num_observations == MAX_OBSERVATIONS:
        state.num_observations = 0
        return
    if state.num_observations == 0 and kind != UNSURE and kind != RENEWED:
        return
    state.observed[state.num_observations] = <uint8_t>(kind << 2 | seat)
    state.observed_faces[state.num_observations] = <uint8_t>face
    state.num_observations += 1

# Whether a seat does not know the card of an observation.
cdef inline bint state_is_hidden(int observed, int viewer) noexcept nogil:
    cdef int kind = observed >> 2
    return (kind == AWAY or kind == DEALT or kind == PRIVATE) and (observed & 3) != viewer

# A Coatl of a seat.
cdef inline const CoatlC* state_coatl(const CoatlStateC* state, int seat, int number) noexcept nogil:
    return &state.coatls[seat][number]

# The number of stored pieces of a seat.
cdef inline int state_num_stored(const CoatlStateC* state, int seat) noexcept nogil:
    # Fifteen counts in two words. The product adds them up in the highest byte; there are fewer than 256 pieces.
    cdef const uint8_t* stored = &state.table.stored[seat][0][0]
    cdef uint64_t first, last
    memcpy(&first, stored, 8)
    memcpy(&last, stored + NUM_KINDS * NUM_COLORS - 8, 8)
    return <int>((first + (last >> 8)) * <uint64_t>0x0101010101010101 >> 56)

# GameOps.hash.
cdef uint64_t state_hash(const CoatlStateC* state, int viewer) noexcept nogil

# GameOps.check.
cdef int state_check(const CoatlStateC* state) noexcept nogil

# GameOps.check_name.
cdef const char* state_check_name(int code) noexcept nogil

# Fills in a state from the fields of a JSON position. Raises ValueError if there are more pieces or cards than the game
# has.
cdef int state_fill(CoatlStateC* state, dict fields) except -1

# Returns the fields of a state, in canonical order; the inverse of state_fill.
cdef dict state_describe(const CoatlStateC* state)

# Points of a Coatl's cards now; open ends count as `strict_ends` says.
cdef int coatl_points(const CoatlStateC* state, const CoatlC* coatl) noexcept nogil
