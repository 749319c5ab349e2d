"""The cards: their automata, points and requirements, read from ``cards.json`` when the module is imported."""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

cdef enum:
    NUM_COLORS = 5
    NUM_FACES = 49              # different prophecies
    NUM_CARDS = 54              # two copies of the first five faces
    NUM_TEMPLES = 15
    MAX_TIMES = 6               # most occurrences that a card counts
    MAX_STATES = 1024           # of all automata together
    NUM_PAIRS = 15              # unordered pairs of colours

cdef enum:
    COUNTS = 128                # flag in `steps`: an occurrence is complete

# A prophecy: the automaton of its pattern, and its levels.
ctypedef struct FaceC:
    uint16_t first              # its states in `steps` begin here
    uint8_t start               # state before the first piece, counted from `first`
    uint8_t strict_start        # the same at a strict open end
    uint8_t needed              # occurrences of its first level
    uint8_t max_times           # occurrences of its last level
    uint8_t points[MAX_TIMES + 1]   # by occurrences
    uint32_t neighbors              # what every word with an occurrence has, see `neighbors_of`


# The automaton for words read backwards. Used by the heuristics, not by the rules.
ctypedef struct OutlookC:
    uint16_t first              # states of the pattern read backwards
    uint8_t start
    uint8_t strict_start

cdef enum:
    MAX_PATH = 8

# The pieces that are missing for one more occurrence. Used by the heuristics.
ctypedef struct PathC:
    uint8_t length
    uint8_t colors[MAX_PATH - 1]    # the colours that each piece may have, as sets

cdef enum:              # Requirement of a temple
    ABSENT = 0          # no piece of the colour a
    LENGTH = 1          # a number of pieces
    EQUAL = 2           # as many pieces of the colour a as of b, at least one of each

ctypedef struct TempleC:
    uint8_t kind[2]             # Requirement
    uint8_t a[2]                # colour, or the length
    uint8_t b[2]
    uint8_t points[3]           # by requirements met

cdef FaceC FACES[NUM_FACES]
cdef uint8_t STEPS[MAX_STATES * 8]      # at 8 * state + colour: next state, counted from the face's first, and COUNTS
cdef uint8_t AT_END[MAX_STATES]         # 1: the end of the word completes an occurrence
cdef OutlookC BACKWARDS[NUM_FACES]
cdef PathC PATHS[MAX_STATES]                    # from each state, if nothing comes after the open end
cdef TempleC TEMPLES[NUM_TEMPLES]
cdef uint8_t FACE_OF[NUM_CARDS]                 # the face of each card
cdef uint8_t FIRST_CARD[NUM_FACES + 1]          # cards of a face: FIRST_CARD[face] to FIRST_CARD[face + 1] - 1
cdef uint64_t SECOND_COPIES                     # cards with the same face as the card before
cdef uint8_t PAIR_A[NUM_PAIRS]                  # colours of a pair, a <= b
cdef uint8_t PAIR_B[NUM_PAIRS]
cdef uint8_t PAIR_OF[NUM_COLORS][NUM_COLORS]


# Number of disjoint occurrences of a face's pattern in a word. At a strict end any piece may still be added.
cdef inline int card_times(int face, const uint8_t* pieces, int length, bint strict_left,
                           bint strict_right) noexcept nogil:
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


# Whether a word has the occurrences of a face's first level. Like `card_times`, but stops early.
cdef inline bint card_reached(int face, const uint8_t* pieces, int length, bint strict_left,
                              bint strict_right) noexcept nogil:
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


# The colours of a word and its pairs of neighbours, as one set. Most words lack something that a pattern needs; the
# sets show that faster than reading the word.

# The set with a colour.
cdef inline uint32_t neighbors_piece(int color) noexcept nogil:
    return <uint32_t>1 << (NUM_COLORS * NUM_COLORS + color)

# The set with a pair of neighbours.
cdef inline uint32_t neighbors_pair(int left, int right) noexcept nogil:
    return <uint32_t>1 << (NUM_COLORS * left + right)

# The set of a word.
cdef inline uint32_t neighbors_of(const uint8_t* pieces, int length) noexcept nogil:
    cdef uint32_t neighbors = 0
    cdef int i
    for i in range(length):
        neighbors |= neighbors_piece(pieces[i])
        if i > 0:
            neighbors |= neighbors_pair(pieces[i - 1], pieces[i])
    return neighbors


# Reads a word with the automaton that begins at `first`, from its state `at` (counted from there) on: the pieces after
# the first `read`, or backwards those before the last `read`. Returns its state then, and adds to the number of
# occurrences those that are complete without the end.
cdef inline int card_scan_on(int first, int at, const uint8_t* pieces, int length, int read, bint backwards,
                             int* count) noexcept nogil:
    cdef const uint8_t* steps = STEPS + 8 * first
    cdef int i, step
    for i in range(read, length):
        step = steps[8 * at + (pieces[length - 1 - i] if backwards else pieces[i])]
        count[0] += step >> 7
        at = step & (COUNTS - 1)
    return at


# Reads a whole word. Returns the state at the end, as an index of PATHS, and writes the number of occurrences.
cdef inline int card_scan(int first, int start, const uint8_t* pieces, int length, bint backwards,
                          int* times) noexcept nogil:
    cdef int count = 0, at = card_scan_on(first, start, pieces, length, 0, backwards, &count)
    times[0] = count + AT_END[first + at]
    return first + at


# Points of a face for a number of occurrences.
cdef inline int card_points(int face, int times) noexcept nogil:
    return FACES[face].points[times if times < FACES[face].max_times else FACES[face].max_times]


# How many of a temple's two requirements a complete Coatl meets. `counts`: its pieces by colour.
cdef int temple_met(int temple, const uint8_t* counts, int length) noexcept nogil
