"""The flat state of Tzolk'in and the layout of its actions."""

from libc.stdint cimport int8_t, int32_t, uint8_t, uint16_t, uint32_t, uint64_t

from cext.core.contract.sets cimport set_size
from cext.core.contract.types cimport CHANCE, TERMINAL, action_t
from cext.games.tzolkin.tables cimport *

# --- actions
#
#   bits 56-60  Verb
#   REVEAL: bits 0-29 the buildings ascending, number + 1 in 5 bits each, the first in bits 0-4; unused 0
#   others:
#   bits 46-51  tile + 1 (KEEP: the first); monuments come after the buildings
#   bits 40-45  second tile + 1 (KEEP)
#   bit  39     architecture applies (BUILD)
#   bits 36-38  gear, START after the gears (PLACE, PICK, USE)
#   bits 32-35  space (PICK)
#   bits 28-31  action of the gear, 0 for none (PICK, USE)
#   bits 25-27  temple + 1 or track + 1
#   bits 22-24  second temple + 1 (CLIMB)
#   bits 16-21  blocks paid or taken, two bits each: wood, stone, gold; of a trade one of the kind
#   bits  0-15  number of blocks of a trade; days (ADVANCE); 0 corn, 1 wood (HARVEST)
#
# Ascending numbers are the canonical order.
cdef enum:              # Verb
    KEEP = 1
    BEG = 2
    PLACE = 3
    PICK = 4
    HARVEST = 5
    BURN = 6
    RESEARCH = 7
    BUILD = 8
    CLIMB = 9
    TAKE = 10
    SELL = 11
    BUY = 12
    USE = 13
    DONE = 14
    END = 15
    ADVANCE = 16
    REVEAL = 17         # a random event: in records only, never generated
    NUM_VERBS = 18

cdef inline action_t action_of(int verb) noexcept nogil:
    return <action_t>verb << 56

cdef inline action_t action_of_tiles(int verb, int tile, int second) noexcept nogil:
    return <action_t>verb << 56 | <action_t>(tile + 1) << 46 | <action_t>(second + 1) << 40

cdef inline action_t action_of_gear(int verb, int gear, int space, int action) noexcept nogil:
    return <action_t>verb << 56 | <action_t>gear << 36 | <action_t>space << 32 | <action_t>action << 28

cdef inline action_t action_of_temple(int verb, int temple, int second, int blocks) noexcept nogil:
    return <action_t>verb << 56 | <action_t>(temple + 1) << 25 | <action_t>(second + 1) << 22 | <action_t>blocks << 16

cdef inline action_t action_of_number(int verb, int kind, int number) noexcept nogil:
    """A trade of blocks of a kind, or with kind -1 anything else that has a number alone."""
    return <action_t>verb << 56 | <action_t>(0 if kind < 0 else 1 << 2 * kind) << 16 | <action_t>number

cdef inline action_t action_of_building(int tile, bint arch, int blocks) noexcept nogil:
    return <action_t>BUILD << 56 | <action_t>(tile + 1) << 46 | <action_t>arch << 39 | <action_t>blocks << 16

cdef inline int action_verb(action_t action) noexcept nogil:
    return <int>(action >> 56 & 31)

cdef inline int action_tile(action_t action) noexcept nogil:
    return <int>(action >> 46 & 63) - 1

cdef inline int action_second_tile(action_t action) noexcept nogil:
    return <int>(action >> 40 & 63) - 1

cdef inline bint action_arch(action_t action) noexcept nogil:
    return action >> 39 & 1

cdef inline int action_gear(action_t action) noexcept nogil:
    return <int>(action >> 36 & 7)

cdef inline int action_space(action_t action) noexcept nogil:
    return <int>(action >> 32 & 15)

cdef inline int action_used(action_t action) noexcept nogil:
    """The action of a gear that is used, 0 for none."""
    return <int>(action >> 28 & 15)

cdef inline int action_temple(action_t action) noexcept nogil:
    """The temple or the track."""
    return <int>(action >> 25 & 7) - 1

cdef inline int action_second_temple(action_t action) noexcept nogil:
    return <int>(action >> 22 & 7) - 1

cdef inline int action_blocks(action_t action, int kind) noexcept nogil:
    return <int>(action >> (16 + 2 * kind) & 3)

cdef inline int action_number(action_t action) noexcept nogil:
    return <int>(action & 0xffff)

cdef inline int action_revealed(action_t action, int place) noexcept nogil:
    """The building at a place of a REVEAL, -1 for none."""
    return <int>(action >> 5 * place & 31) - 1


# --- the state
cdef enum:              # Phase
    KEEPING = 0
    TURN = 1            # nothing done yet, but perhaps begged
    PLACING = 2
    PICKING = 3
    ADVANCING = 4
    OVER = 5

cdef enum:
    IDLE = 4            # owner of the idle workers, after the seats
    SPECTATOR = 254     # a viewer that sees what every seat sees
    NO_SEAT = 255
    NO_SPACE = 255
    MAX_DRAWN = 12      # wealth tiles that place the idle workers
    # Decisions that wait. One that is answered leaves three more than there were at most: in play four wait at most
    # (Tikal 4 builds a2_tomb_action, which uses Tikal 4, which builds a2_shrine_two_techs, and a bonus comes first).
    MAX_PENDING = 16
    MAX_PENDING_GIVEN = 12  # in a position that is read
    # With what a position may give, 999 of each material, a seat never owns more than 15,000 corn and its worth.

ctypedef struct SeatC:      # 48 bytes
    uint64_t built          # buildings, how many of each kind in two bits
    int32_t score           # in quarters of a point
    uint32_t wealth         # tiles kept, as a set
    uint32_t dealt          # in phase KEEPING, as a set
    uint16_t corn
    uint16_t blocks[NUM_BLOCKS]
    uint16_t monuments      # built, as a set
    uint8_t skulls
    uint8_t workers         # in play
    uint8_t light           # a double advance is left
    uint8_t corn_tiles
    uint8_t wood_tiles
    int8_t temples[NUM_TEMPLES]
    uint8_t levels[NUM_TRACKS]
    uint8_t free_workers    # on food days; follows from the tiles, as the discount
    uint8_t discount        # corn a worker
    uint8_t unused[4]

# 320 bytes, no pointers, no padding that is not zero.
ctypedef struct TzolkinStateC:
    SeatC seats[4]
    # Workers of each seat, then the idle ones: 16 bits for each of the first four gears, a bit for each space.
    uint64_t workers[5]
    uint64_t display            # buildings, two bits each
    int32_t turns               # ended since the state was made; not part of the position
    int32_t unused_counter      # always 0; fills the word, since `NUM_WORDS` counts whole words
    uint16_t chichen[5]         # the same for Chichen Itza
    uint16_t skulls_placed      # by action
    uint16_t monuments          # on display, as a set
    uint8_t pending[MAX_PENDING]    # Decision; the one due now is the last; unused 0
    uint8_t num_pending
    # Wealth tiles in phase KEEPING; unused 0. Each places an idle worker at least, and IDLE_WORKERS are 12 at most.
    uint8_t drawn[MAX_DRAWN]
    uint8_t num_drawn
    uint8_t corn_fields[NUM_FIELDS]     # corn tiles left; the wood tiles lie on as many of them
    uint8_t wood_fields[NUM_FIELDS]
    uint8_t num_players
    uint8_t whole_points
    uint8_t phase
    uint8_t day
    uint8_t food_days           # held
    uint8_t start_player
    uint8_t to_move
    uint8_t placed
    uint8_t last                # PLACING: gear << 4; PICKING: gear << 4 | space; else NO_SPACE
    uint8_t reveal              # buildings that come on display before anything else
    uint8_t start_space         # seat or NO_SEAT
    uint8_t teeth_corn
    # The seat whose view the position is, SPECTATOR, or NO_SEAT. It stays when all is shown: what was dealt was drawn
    # then.
    uint8_t viewer
    uint8_t unused[7]

cdef extern from *:
    """
    #define TZOLKIN_LOW 0x5555555555555555ull
    """
    const uint64_t LOW_BITS "TZOLKIN_LOW"

# GameOps.current_player.
cdef inline int state_current_player(const TzolkinStateC* state) noexcept nogil:
    if state.phase == OVER:
        return TERMINAL
    if state.reveal > 0:
        return CHANCE
    return state.to_move

cdef inline uint64_t counts_kinds(uint64_t counts) noexcept nogil:
    """The kinds that there are, as a set with every second bit: kind k is bit 2k."""
    return (counts | counts >> 1) & LOW_BITS

cdef inline int counts_total(uint64_t counts) noexcept nogil:
    return set_size(counts & LOW_BITS) + 2 * set_size(counts >> 1 & LOW_BITS)

cdef inline int counts_of(uint64_t counts, int kind) noexcept nogil:
    return <int>(counts >> 2 * kind & 3)

cdef inline int state_age(const TzolkinStateC* state) noexcept nogil:
    return 1 if state.food_days < AGE_2 else 2

# Spaces of a gear where an owner has workers, as a set.
cdef inline int state_spaces(const TzolkinStateC* state, int owner, int gear) noexcept nogil:
    if gear == CHICHEN:
        return state.chichen[owner]
    return <int>(state.workers[owner] >> 16 * gear & 0xffff)

cdef inline int state_workers_on_gears(const TzolkinStateC* state, int seat) noexcept nogil:
    return set_size(state.workers[seat]) + set_size(state.chichen[seat])

cdef inline int state_workers_out(const TzolkinStateC* state, int seat) noexcept nogil:
    return state_workers_on_gears(state, seat) + (state.start_space == seat)

cdef inline int state_bank(const TzolkinStateC* state) noexcept nogil:
    """Skulls in the bank."""
    return (SKULLS - set_size(state.skulls_placed) - state.seats[0].skulls - state.seats[1].skulls
            - state.seats[2].skulls - state.seats[3].skulls)

# Buildings of the age that are neither on display nor built.
cdef inline uint64_t state_deck(const TzolkinStateC* state) noexcept nogil:
    cdef uint64_t all_ = COPIES[state_age(state)]
    cdef uint64_t kinds = counts_kinds(all_) * 3
    return (all_ - (state.display & kinds) - (state.seats[0].built & kinds) - (state.seats[1].built & kinds)
            - (state.seats[2].built & kinds) - (state.seats[3].built & kinds))

# 64-bit hash of what `viewer` may know, or of everything (ALL_SEEING).
cdef uint64_t state_hash(const TzolkinStateC* state, int viewer) noexcept nogil

# 64-bit hash of every field but `turns`, for caches.
cdef uint64_t state_key(const TzolkinStateC* state) noexcept nogil

cdef int state_check(const TzolkinStateC* state) noexcept nogil
cdef const char* state_check_name(int code) noexcept nogil

# Exchange with Python.
cdef int state_fill(TzolkinStateC* state, dict fields) except -1
cdef dict state_describe(const TzolkinStateC* state)
