"""The tables of the cards, filled in from ``cards.json`` on import and constant afterwards."""

import json
from importlib.resources import files

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
    facts = json.loads((files("cext.games.coatl") / "cards.json").read_text(encoding="utf-8"))
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
