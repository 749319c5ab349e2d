"""The evaluation of Coatl: features of each seat, and weights for them.

A prophecy counts for what it brings as its Coatl stands, and for what its next level would bring, by how many pieces
are missing for it: at either open end of the Coatl the card's automaton knows the shortest way to one more
occurrence, and pieces that the seat has stored are not missing.
"""

import json
from pathlib import Path

from libc.math cimport exp
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memset

from cext.games.coatl.cards cimport (ABSENT, AT_END, BACKWARDS, COUNTS, FACES, LENGTH, NUM_COLORS,
                                     NUM_TEMPLES, PATHS, STEPS, TEMPLES, FaceC, PathC, card_points)
from cext.games.coatl.rules cimport MAX_DEALT, rules_hand
from cext.games.coatl.state cimport (BODY, CAPACITY, COATLS, HEAD, IN_HAND, ON_DISPLAY, PLAYED, TAIL, CoatlC,
                                     set_first)

cdef enum:
    MAX_MISSING = 4
    NUM_STAGES = 3              # the most Coatls that a seat has closed, 2 or more together

cdef enum:              # features
    CLOSED_POINTS = 0
    CLOSED = 1
    PLAYED_POINTS = 2           # prophecies on unfinished Coatls, as they stand
    PLAYABLE_POINTS = 3         # prophecies in hand, where they would count now
    GAINS = 4                   # next levels, by the pieces that are missing: 0 to MAX_MISSING and more
    UNFINISHED = 9
    PIECES = 10                 # on unfinished Coatls
    HEADS = 11                  # unfinished Coatls with a head
    TAILS = 12
    STORED_BODIES = 13
    STORED_HEADS = 14
    STORED_TAILS = 15
    CARDS = 16                  # in hand
    TEMPLE_POINTS = 17          # of temples that could be met
    TOKENS = 18
    CROWDED = 19                # no room for two pieces
    HEADS_MISSING = 20          # of the three Coatls
    TAILS_MISSING = 21
    READY = 22                  # unfinished Coatls that the seat could complete now
    CARDS_PLAYED = 23           # on unfinished Coatls
    TO_MOVE = 24
    FULL_CARDS = 25             # unfinished Coatls with four prophecies
    LAST_TURNS = 26             # the end has been triggered
    BIAS = 27


ctypedef struct StockC:
    uint8_t bodies[NUM_COLORS]
    uint8_t heads
    uint8_t tails


# --- one prophecy on one Coatl

cdef inline int _scan(int first, int start, const uint8_t* pieces, int length, bint backwards,
                      int* times) noexcept nogil:
    """The state at the end of a word, and the occurrences before it."""
    cdef const uint8_t* steps = STEPS + 8 * first
    cdef int i, step, at = start, count = 0
    for i in range(length):
        step = steps[8 * at + (pieces[length - 1 - i] if backwards else pieces[i])]
        count += step >> 7
        at = step & (COUNTS - 1)
    times[0] = count + AT_END[first + at]
    return first + at


cdef int _missing(const PathC* path, const PathC* again, int repeats, const StockC* stock) noexcept nogil:
    """Pieces not in stock on the way to one more occurrence, and then to `repeats` further ones."""
    cdef uint8_t left[NUM_COLORS]
    cdef int i, color, round, missing = 0
    for color in range(NUM_COLORS):
        left[color] = stock.bodies[color]
    for round in range(repeats + 1):
        if round > 0:
            path = again
        for i in range(path.length):
            for color in range(NUM_COLORS):
                if path.colors[i] >> color & 1 and left[color] > 0:
                    left[color] -= 1
                    break
            else:
                missing += 1
    return missing


cdef void _look(const CoatlC* coatl, int face, const StockC* stock, int* points, int* gain,
                int* missing) noexcept nogil:
    """What a prophecy brings on a Coatl now, what its next level adds, and the pieces missing for that."""
    cdef const FaceC* card = &FACES[face]
    cdef int times = 0, backward_times = 0, forward, backward, level, repeats, m
    forward = _scan(card.first, card.start, coatl.pieces, coatl.length, False, &times)
    points[0] = card_points(face, times)
    gain[0] = 0
    missing[0] = MAX_MISSING
    if times >= card.max_times or (coatl.has_head and coatl.has_tail):
        return
    level = times + 1 if times >= card.needed else card.needed
    while card.points[level] == points[0]:
        level += 1
    gain[0] = card.points[level] - points[0]
    repeats = level - times - 1
    if not coatl.has_tail:
        missing[0] = _missing(&PATHS[forward], &PATHS[card.first + card.start], repeats, stock)
    if not coatl.has_head:
        backward = _scan(BACKWARDS[face].first, BACKWARDS[face].start, coatl.pieces, coatl.length, True,
                         &backward_times)
        m = _missing(&PATHS[backward], &PATHS[BACKWARDS[face].first + BACKWARDS[face].start], repeats, stock)
        if coatl.has_tail or m < missing[0]:
            missing[0] = m
    if missing[0] > MAX_MISSING:
        missing[0] = MAX_MISSING


cdef float _GAIN_WEIGHTS[MAX_MISSING + 1]
_GAIN_WEIGHTS[:] = [0.7, 0.45, 0.25, 0.12, 0.05]


cdef int _temple_outlook(const CoatlC* coatl, int temple) noexcept nogil:
    """Points that a temple could still bring on an unfinished Coatl, if it grows as it should."""
    cdef uint8_t counts[NUM_COLORS]
    cdef int i, met = 0
    memset(counts, 0, sizeof(counts))
    for i in range(coatl.length):
        counts[coatl.pieces[i]] += 1
    for i in range(2):
        if TEMPLES[temple].kind[i] == ABSENT:
            met += counts[TEMPLES[temple].a[i]] == 0
        elif TEMPLES[temple].kind[i] == LENGTH:
            met += coatl.length <= TEMPLES[temple].a[i]
        else:
            met += (counts[TEMPLES[temple].a[i]] > 0 and counts[TEMPLES[temple].b[i]] > 0
                    and -1 <= counts[TEMPLES[temple].a[i]] - counts[TEMPLES[temple].b[i]] <= 1)
    return TEMPLES[temple].points[met]


# --- a seat

cdef void _look_at_hand(const CoatlStateC* state, int seat, const StockC* stock, float* features) noexcept nogil:
    # Each prophecy on the Coatl where it would bring most; a Coatl yet to be started is one of them.
    cdef CoatlC blank
    cdef const CoatlC* coatl
    cdef uint8_t hand[MAX_DEALT]
    cdef int i, j, number, points, gain, missing, best_points, best_gain, best_missing
    cdef int n = rules_hand(state, seat, hand)
    cdef float outlook, best
    memset(&blank, 0, sizeof(blank))
    for i in range(n):
        best = -1
        best_points = best_gain = best_missing = 0
        for number in range(COATLS):
            coatl = &state.coatls[seat][number]
            if coatl.closed or coatl.num_cards == PLAYED:
                continue
            for j in range(coatl.num_cards):
                if coatl.cards[j] == hand[i]:
                    break
            else:
                if coatl.length == 0:
                    coatl = &blank
                _look(coatl, hand[i], stock, &points, &gain, &missing)
                outlook = points + _GAIN_WEIGHTS[missing] * gain
                if outlook > best:
                    best = outlook
                    best_points = points
                    best_gain = gain
                    best_missing = missing
            if state.coatls[seat][number].length == 0:
                break
        features[PLAYABLE_POINTS] += best_points
        features[GAINS + best_missing] += best_gain


cdef void _look_at_coatl(const CoatlStateC* state, int seat, const CoatlC* coatl, const StockC* stock,
                         float* features) noexcept nogil:
    cdef uint64_t temples
    cdef int i, points, gain, missing, best = 0
    for i in range(coatl.num_cards):
        _look(coatl, coatl.cards[i], stock, &points, &gain, &missing)
        features[PLAYED_POINTS] += points
        features[GAINS + missing] += gain
    features[UNFINISHED] += 1
    features[PIECES] += coatl.length
    features[HEADS] += coatl.has_head
    features[TAILS] += coatl.has_tail
    features[CARDS_PLAYED] += coatl.num_cards
    features[FULL_CARDS] += coatl.num_cards == PLAYED
    if coatl.num_cards > 0 and coatl.has_head + stock.heads > 0 and coatl.has_tail + stock.tails > 0:
        features[READY] += 1
    temples = state.temples[ON_DISPLAY] | state.temples[IN_HAND + seat]
    while temples:
        best = max(best, _temple_outlook(coatl, set_first(temples)))
        temples &= temples - 1
    features[TEMPLE_POINTS] += best


cdef void evaluation_features(const CoatlStateC* state, int seat, float* features) noexcept nogil:
    cdef StockC stock
    cdef const CoatlC* coatl
    cdef int number, color, tokens = state.table.tokens[seat]
    memset(features, 0, NUM_FEATURES * sizeof(float))
    memset(&stock, 0, sizeof(stock))
    for color in range(NUM_COLORS):
        stock.bodies[color] = state.table.stored[seat][BODY][color]
        stock.heads += state.table.stored[seat][HEAD][color]
        stock.tails += state.table.stored[seat][TAIL][color]
        features[STORED_BODIES] += stock.bodies[color]
    for number in range(COATLS):
        coatl = &state.coatls[seat][number]
        features[CLOSED] += coatl.closed
        features[CLOSED_POINTS] += coatl.points
        if coatl.length > 0 and not coatl.closed:
            _look_at_coatl(state, seat, coatl, &stock, features)
    _look_at_hand(state, seat, &stock, features)
    features[STORED_HEADS] = stock.heads
    features[STORED_TAILS] = stock.tails
    features[CARDS] = state.table.num_hand[seat]
    features[TOKENS] = (tokens & 1) + (tokens >> 1 & 1) + (tokens >> 2 & 1)
    features[CROWDED] = features[STORED_BODIES] + stock.heads + stock.tails > CAPACITY - 2
    features[HEADS_MISSING] = max(0, COATLS - features[CLOSED] - features[HEADS] - stock.heads)
    features[TAILS_MISSING] = max(0, COATLS - features[CLOSED] - features[TAILS] - stock.tails)
    features[TO_MOVE] = state.table.to_move == seat
    features[LAST_TURNS] = state.table.ending != 0
    features[BIAS] = 1


# --- the weights

# Of a seat's own features, by hand: about what the position is worth to it. They order the actions of a turn, most of
# which only prepare something, so they reward preparation; they say nothing of the time that is left.
cdef float _OUTLOOK[NUM_FEATURES]

# Fitted, by stage of the game: of the seat's own features, and of those of its best rival.
cdef float _SCORE[NUM_STAGES][2 * NUM_FEATURES]
cdef float _LOGIT[NUM_STAGES][2 * NUM_FEATURES]


def set_weights(outlook, score, logit):
    """Put weights in place for the whole process. No search may be running.

    Parameters
    ----------
    outlook : sequence of NUM_FEATURES float
        What the features of a seat are worth to it.
    score, logit : sequence of NUM_STAGES sequences of 2 * NUM_FEATURES float
        For the expected final score, and for the share of the win: its logarithm up to a constant.

    Raises
    ------
    ValueError
        If they are not so many; the weights stay as they were.
    """
    if len(outlook) != NUM_FEATURES:
        raise ValueError(f"expected {NUM_FEATURES} weights of the outlook")
    for rows in (score, logit):
        if len(rows) != NUM_STAGES or any(len(row) != 2 * NUM_FEATURES for row in rows):
            raise ValueError(f"expected {NUM_STAGES} rows of {2 * NUM_FEATURES} weights")
    for i in range(NUM_FEATURES):
        _OUTLOOK[i] = outlook[i]
    for stage in range(NUM_STAGES):
        for i in range(2 * NUM_FEATURES):
            _SCORE[stage][i] = score[stage][i]
            _LOGIT[stage][i] = logit[stage][i]


def _load():
    weights = json.loads((Path(__file__).parent / "weights.json").read_text(encoding="utf-8"))
    set_weights(weights["outlook"], weights["score"], weights["logit"])


_load()


cdef float evaluation_outlook(const CoatlStateC* state, int seat) noexcept nogil:
    cdef float features[NUM_FEATURES]
    cdef float total = 0
    cdef int i
    evaluation_features(state, seat, features)
    for i in range(NUM_FEATURES):
        total += _OUTLOOK[i] * features[i]
    return total


cdef inline float _standing(const float* features) noexcept nogil:
    return features[CLOSED_POINTS] + features[PLAYED_POINTS] + features[PLAYABLE_POINTS]


cdef void evaluation_evaluate(const CoatlStateC* state, double* values, double* points) noexcept nogil:
    cdef float features[4][NUM_FEATURES]
    cdef float logit, score
    cdef int seat, other, rival, i, stage = 0, num_players = state.table.num_players
    cdef double best = -1e9, total = 0
    for seat in range(num_players):
        evaluation_features(state, seat, features[seat])
        stage = max(stage, <int>features[seat][CLOSED])
    stage = min(stage, NUM_STAGES - 1)
    for seat in range(num_players):
        rival = -1
        for other in range(num_players):
            if other != seat and (rival < 0 or _standing(features[other]) > _standing(features[rival])):
                rival = other
        logit = score = 0
        for i in range(NUM_FEATURES):
            score += _SCORE[stage][i] * features[seat][i] + _SCORE[stage][NUM_FEATURES + i] * features[rival][i]
            logit += _LOGIT[stage][i] * features[seat][i] + _LOGIT[stage][NUM_FEATURES + i] * features[rival][i]
        points[seat] = max(score, features[seat][CLOSED_POINTS])
        values[seat] = logit
        best = max(best, values[seat])
    for seat in range(num_players):
        values[seat] = exp(values[seat] - best)
        total += values[seat]
    for seat in range(num_players):
        values[seat] /= total
