"""The tables of the cards, filled in from ``cards.json`` on import and constant afterwards."""

import json
from pathlib import Path

from cext.games.coatl.patterns import (COLORS, compile_requirement, required_neighbors, reverse_requirement,
                                       shortest_path)

_KINDS = {"absent": ABSENT, "length": LENGTH, "equal": EQUAL}


cdef int temple_met(int temple, const uint8_t* counts, int length) noexcept nogil:
    cdef const TempleC* card = &TEMPLES[temple]
    cdef int i, met = 0
    for i in range(2):
        if card.kind[i] == ABSENT:
            met += counts[card.a[i]] == 0
        elif card.kind[i] == LENGTH:
            met += length == card.a[i]
        else:
            met += counts[card.a[i]] > 0 and counts[card.a[i]] == counts[card.b[i]]
    return met


def _load():
    """Fill in all tables."""
    facts = json.loads((Path(__file__).parent / "cards.json").read_text(encoding="utf-8"))
    faces, temples = facts["prophecy_cards"], facts["temple_cards"]
    if len(faces) != NUM_FACES or len(temples) != NUM_TEMPLES or sum(f["copies"] for f in faces) != NUM_CARDS:
        raise ValueError("cards.json: expected 49 faces, 54 cards and 15 temples")
    _load_faces(faces)
    for number, temple in enumerate(temples):
        for i, requirement in enumerate(temple["requirements"]):
            TEMPLES[number].kind[i] = _KINDS[requirement["type"]]
            if requirement["type"] == "equal":
                TEMPLES[number].a[i], TEMPLES[number].b[i] = map(COLORS.index, requirement["colors"])
            elif requirement["type"] == "absent":
                TEMPLES[number].a[i] = COLORS.index(requirement["color"])
            else:
                TEMPLES[number].a[i] = requirement["length"]
        for i in range(3):
            TEMPLES[number].points[i] = temple["points_by_requirements_met"][i]
    cdef int a, b, pair = 0
    for a in range(NUM_COLORS):
        for b in range(a, NUM_COLORS):
            PAIR_A[pair] = a
            PAIR_B[pair] = b
            PAIR_OF[a][b] = PAIR_OF[b][a] = pair
            pair += 1


def _load_faces(faces):
    """Fill in the tables of the prophecies."""
    global SECOND_COPIES
    cdef int first = 0, card = 0, number, times, i
    for number, face in enumerate(faces):
        FACES[number].needed = face["levels"][0]["times"]
        FACES[number].max_times = max(level["times"] for level in face["levels"])
        for times in range(MAX_TIMES + 1):
            FACES[number].points[times] = max(
                (level["points"] for level in face["levels"] if level["times"] <= times), default=0)
        colors, pairs = required_neighbors(face["requirement"])
        for color in colors:
            FACES[number].neighbors |= neighbors_piece(color)
        for left, right in pairs:
            FACES[number].neighbors |= neighbors_pair(left, right)
        automaton = compile_requirement(face["requirement"])
        FACES[number].first = first
        FACES[number].start, FACES[number].strict_start = automaton.start, automaton.strict_start
        first = _put_states(automaton, first)
        automaton = compile_requirement(reverse_requirement(face["requirement"]))
        BACKWARDS[number].first = first
        BACKWARDS[number].start, BACKWARDS[number].strict_start = automaton.start, automaton.strict_start
        first = _put_states(automaton, first)
        FIRST_CARD[number] = card
        for i in range(face["copies"]):
            FACE_OF[card] = number
            SECOND_COPIES |= <uint64_t>(i > 0) << card
            card += 1
    FIRST_CARD[NUM_FACES] = card


cdef int _put_states(automaton, int first) except -1:
    """Write the states of an automaton to the tables, from `first` on; return the index after them."""
    cdef int state, i, end = first + len(automaton.steps)
    if end > MAX_STATES or len(automaton.steps) >= COUNTS:
        raise ValueError("cards.json: a pattern needs too many states")
    for state, (steps, at_end) in enumerate(zip(automaton.steps, automaton.at_end, strict=True)):
        for color, (following, count) in enumerate(steps):
            STEPS[8 * (first + state) + color] = following | COUNTS * count
        AT_END[first + state] = at_end
        path = shortest_path(automaton, state)
        if len(path) >= MAX_PATH:
            raise ValueError("cards.json: a pattern is too long")
        PATHS[first + state].length = len(path)
        for i in range(len(path)):
            PATHS[first + state].colors[i] = path[i]
    return end


_load()


cdef int _fill_word(uint8_t* word, int face, pieces) except -1:
    """Write a sequence of colours to an array. Raises ValueError if the face or the word is out of range."""
    if not 0 <= face < NUM_FACES or len(pieces) > 64 or not all(0 <= color < NUM_COLORS for color in pieces):
        raise ValueError(f"face {face!r}, pieces {pieces!r}: out of range")
    for i, color in enumerate(pieces):
        word[i] = color
    return 0


def count_times(int face, pieces, bint strict_left=False, bint strict_right=False):
    """Return the number of disjoint occurrences of a face's pattern in a word (for tests).

    Parameters
    ----------
    face : int
        0 to 48.
    pieces : sequence of int
        At most 64 colours, 0 to 4, from head to tail.
    strict_left, strict_right : bool
        Whether the end counts as a neighbour of every colour.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If the face or the pieces are out of range.
    """
    cdef uint8_t word[64]
    _fill_word(word, face, pieces)
    return card_times(face, word, len(pieces), strict_left, strict_right)


def is_reached(int face, pieces, bint strict_left=False, bint strict_right=False):
    """Return whether a word reaches a face's first level, as the rules compute it (for tests); see `count_times`."""
    cdef uint8_t word[64]
    _fill_word(word, face, pieces)
    return (not FACES[face].neighbors & ~neighbors_of(word, len(pieces))
            and card_reached(face, word, len(pieces), strict_left, strict_right))


def count_met(int temple, pieces):
    """Return how many requirements of temple 0 to 14 a complete Coatl of these colours meets (for tests)."""
    cdef uint8_t counts[NUM_COLORS]
    cdef int color
    if not 0 <= temple < NUM_TEMPLES or not all(0 <= color < NUM_COLORS for color in pieces):
        raise ValueError(f"temple {temple!r}, pieces {pieces!r}: out of range")
    for color in range(NUM_COLORS):
        counts[color] = 0
    for color in pieces:
        counts[color] += 1
    return temple_met(temple, counts, len(pieces))


def points_of(int face, int times):
    """Return the points of a face (0 to 48) for a number of occurrences (>= 0)."""
    if not 0 <= face < NUM_FACES or times < 0:
        raise ValueError(f"face {face!r}, times {times!r}: out of range")
    return card_points(face, times)
