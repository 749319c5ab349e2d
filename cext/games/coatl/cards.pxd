"""The cards: their automata, points and requirements, read from ``cards.json`` when the module is imported."""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

cdef enum:
    NUM_COLORS = 5
    NUM_FACES = 49              # prophecies that differ
    NUM_CARDS = 54              # the first five faces come twice
    NUM_TEMPLES = 15
    MAX_TIMES = 6               # occurrences that any card counts at most
    MAX_STATES = 1024           # of all automata together
    NUM_PAIRS = 15              # unordered pairs of colours

cdef enum:
    COUNTS = 128                # flag in `steps`: an occurrence is complete

ctypedef struct FaceC:
    uint16_t first              # its states in `steps` begin here
    uint8_t start               # state before the first piece, counted from `first`
    uint8_t strict_start        # the same at a strict open end
    uint8_t needed              # occurrences of its first level
    uint8_t max_times           # and of its last one
    uint8_t points[MAX_TIMES + 1]   # by occurrences
    uint32_t neighbors              # what a word with an occurrence cannot lack, see `neighbors_of`


# The same for words read backwards, and how many pieces are missing for one more occurrence: knowledge, not rules.
ctypedef struct OutlookC:
    uint16_t first              # states of the pattern read backwards
    uint8_t start
    uint8_t strict_start

cdef enum:
    MAX_PATH = 8

ctypedef struct PathC:
    uint8_t length
    uint8_t colors[MAX_PATH - 1]    # sets of the colours that each piece may have

cdef enum:              # Requirement of a temple
    ABSENT = 0          # no piece of the colour a
    LENGTH = 1          # so many pieces
    EQUAL = 2           # as many of the colour a as of b, at least one of each

ctypedef struct TempleC:
    uint8_t kind[2]             # Requirement
    uint8_t a[2]                # colour, or the length
    uint8_t b[2]
    uint8_t points[3]           # by requirements met

cdef FaceC FACES[NUM_FACES]
cdef uint8_t STEPS[MAX_STATES * 8]      # at 8 * state + colour: next state, counted from the face's first; COUNTS
cdef uint8_t AT_END[MAX_STATES]
cdef OutlookC BACKWARDS[NUM_FACES]
cdef PathC PATHS[MAX_STATES]                    # from each state; nothing stands beyond the open end
cdef TempleC TEMPLES[NUM_TEMPLES]
cdef uint8_t FACE_OF[NUM_CARDS]                 # the face of each card
cdef uint8_t FIRST_CARD[NUM_FACES + 1]          # cards of a face: FIRST_CARD[face] to FIRST_CARD[face + 1] - 1
cdef uint64_t SECOND_COPIES                     # the cards that have the face of the card before
cdef uint8_t PAIR_A[NUM_PAIRS]                  # colours of a pair, a <= b
cdef uint8_t PAIR_B[NUM_PAIRS]
cdef uint8_t PAIR_OF[NUM_COLORS][NUM_COLORS]


cdef inline int card_times(int face, const uint8_t* pieces, int length, bint strict_left,
                           bint strict_right) noexcept nogil:
    """Disjoint occurrences of a face's pattern in a word. At a strict end anything may stand beyond it."""
    cdef const FaceC* card = &FACES[face]
    cdef const uint8_t* steps = STEPS + 8 * card.first
    cdef int i, step, times = 0, at = card.strict_start if strict_left else card.start
    for i in range(length):
        step = steps[8 * at + pieces[i]]
        times += step >> 7
        at = step & (COUNTS - 1)
    if not strict_right:
        times += AT_END[card.first + at]
    return times


cdef inline bint card_reached(int face, const uint8_t* pieces, int length, bint strict_left,
                              bint strict_right) noexcept nogil:
    """Whether a word has the occurrences of a face's first level: `card_times`, only as far as need be."""
    cdef const FaceC* card = &FACES[face]
    cdef const uint8_t* steps = STEPS + 8 * card.first
    cdef int i, step, missing = card.needed, at = card.strict_start if strict_left else card.start
    for i in range(length):
        step = steps[8 * at + pieces[i]]
        missing -= step >> 7
        if missing == 0:
            return True
        at = step & (COUNTS - 1)
    return not strict_right and missing <= AT_END[card.first + at]


# Which colours a word has, and which stand beside each other, as sets of these: most words lack something that a
# pattern cannot do without, which is found sooner than by reading the word.

cdef inline uint32_t neighbors_piece(int color) noexcept nogil:
    return <uint32_t>1 << (NUM_COLORS * NUM_COLORS + color)

cdef inline uint32_t neighbors_pair(int left, int right) noexcept nogil:
    return <uint32_t>1 << (NUM_COLORS * left + right)

cdef inline uint32_t neighbors_of(const uint8_t* pieces, int length) noexcept nogil:
    cdef uint32_t neighbors = 0
    cdef int i
    for i in range(length):
        neighbors |= neighbors_piece(pieces[i])
        if i > 0:
            neighbors |= neighbors_pair(pieces[i - 1], pieces[i])
    return neighbors


cdef inline int card_scan(int first, int start, const uint8_t* pieces, int length, bint backwards,
                          int* times) noexcept nogil:
    """The state in which an automaton, from `first` on, leaves a word, as a place in PATHS, and the occurrences."""
    cdef const uint8_t* steps = STEPS + 8 * first
    cdef int i, step, at = start, count = 0
    for i in range(length):
        step = steps[8 * at + (pieces[length - 1 - i] if backwards else pieces[i])]
        count += step >> 7
        at = step & (COUNTS - 1)
    times[0] = count + AT_END[first + at]
    return first + at


cdef inline int card_points(int face, int times) noexcept nogil:
    return FACES[face].points[times if times < FACES[face].max_times else FACES[face].max_times]


cdef int temple_met(int temple, const uint8_t* counts, int length) noexcept nogil
