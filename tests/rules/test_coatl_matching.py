"""What cards of Coatl are worth: the automata against exhaustive search, on many random words.

Words are strings of colours from head to tail. Each is built for a card, as often as not with occurrences of
its pattern, so that every level of every card is reached and missed; how often is counted.
`MEXICA_AI_WALKS=20` takes twenty times as many; `MEXICA_AI_SEED` takes others.
"""

import os
import random
from collections import Counter

import pytest
from reference.coatl_matching import (
    CARDS,
    COMPLETE,
    PROPHECIES,
    TEMPLES,
    Ends,
    prophecy_times,
    temple_points,
)

from mexica_ai import Position, new_game
from mexica_ai.games.coatl import facts
from test_games.inside.parts import count_met, count_times, is_reached, points_of

SCALE = int(os.environ.get("MEXICA_AI_WALKS", "1"))
SEED = int(os.environ.get("MEXICA_AI_SEED", "49"))
COLOURS = CARDS["colours"]
FACES, TEMPLE_NAMES = list(PROPHECIES), list(TEMPLES)
WORDS = 50_000 * SCALE
MAX_LENGTH = 14
CARDS_A_WORD = 3  # its own, and others
LEAST = 30  # times that each face reaches and misses each level, complete and with open ends
# A word is complete, or open at the left, the right, both; the strict reading of an open end (D7).
ENDS = [COMPLETE, Ends(True, False, True), Ends(False, True, True), Ends(True, True, True)]
LENIENT = [COMPLETE, Ends(True, False), Ends(False, True), Ends(True, True)]


def as_pieces(word):
    return [COLOURS.index(colour) for colour in word]


def occurrence(rng, pattern):
    """Return a word in which a pattern stands once, or stood before one piece was changed."""
    if pattern.startswith("#"):
        return pattern[1]
    word = ""
    for element in pattern.split():
        if not element.startswith("<!"):
            number = rng.choice([1, 1, 1, 2, 3]) if element.endswith("+") else 1
            word += "".join(rng.choice(COLOURS) if element[0] == "*" else element[0] for _ in range(number))
    if rng.random() < 0.1:
        at = rng.randrange(len(word))
        word = word[:at] + rng.choice(COLOURS) + word[at + 1 :]
    return word


def random_word(rng, pattern, max_length=MAX_LENGTH):
    """Return occurrences of a pattern with other pieces, of few colours or of many, between them."""
    colours = rng.sample(COLOURS, rng.randint(1, len(COLOURS)))
    length = rng.randint(1, max_length)
    share = rng.choice([0, 0.3, 0.6, 0.9])
    word = ""
    while len(word) < length:
        word += occurrence(rng, pattern) if rng.random() < share else rng.choice(colours)
    return word[:length]


def level(face, times):
    """Return how many levels of a face are reached."""
    return sum(times >= needed for needed, _ in PROPHECIES[face]["levels"])


@pytest.mark.slow
def test_all_faces_on_many_random_coatls():
    rng = random.Random(SEED)
    reached = Counter()
    taken = [each for ends in ENDS[1:] for each in (COMPLETE, ends)]  # as many complete ones as open ones
    for number in range(WORDS):
        own = FACES[number % len(FACES)]
        word = random_word(rng, PROPHECIES[own]["pattern"])
        pieces = as_pieces(word)
        ends = taken[number // len(FACES) % len(taken)]
        for face in [own, *rng.sample(FACES, CARDS_A_WORD - 1)]:
            index = FACES.index(face)
            times = prophecy_times(face, word, ends)
            found = count_times(index, pieces, ends.left_open, ends.right_open)
            assert found == times, f"{face} on {word}, {ends}"
            can_play = is_reached(index, pieces, ends.left_open, ends.right_open)
            assert can_play == (level(face, times) > 0), f"{face} on {word}, {ends}"
            reached[face, ends != COMPLETE, level(face, times)] += 1
    for face in FACES:
        assert sum(number for (other, *_), number in reached.items() if other == face) > WORDS // 20
        for has_open_ends in (False, True):
            for number in range(len(PROPHECIES[face]["levels"]) + 1):
                assert reached[face, has_open_ends, number] >= LEAST, (face, has_open_ends, number)


def test_an_open_end_is_no_neighbour_unless_the_ends_are_strict():
    rng = random.Random(SEED + 1)
    differ = 0
    guarded = [face for face in FACES if "<!" in PROPHECIES[face]["pattern"]]
    for _ in range(2000 * SCALE):
        face = rng.choice(guarded)
        word = random_word(rng, PROPHECIES[face]["pattern"])
        found = count_times(FACES.index(face), as_pieces(word))
        for lenient, strict in zip(LENIENT, ENDS, strict=True):
            assert prophecy_times(face, word, lenient) == found
            differ += prophecy_times(face, word, strict) < found
    assert differ > 500


def test_points_of_every_level():
    for index, face in enumerate(FACES):
        levels = dict(PROPHECIES[face]["levels"])
        for times in range(65):
            points = max((points for needed, points in levels.items() if times >= needed), default=0)
            assert points_of(index, times) == points, (face, times)


def test_long_coatls():
    # Too long for exhaustive search: against the count of the validation, by regular expressions.
    rng = random.Random(SEED + 2)
    for number in range(10_000 * SCALE):
        face = FACES[number % len(FACES)]
        word = random_word(rng, PROPHECIES[face]["pattern"], max_length=64)
        left, right = rng.random() < 0.5, rng.random() < 0.5
        found = count_times(FACES.index(face), as_pieces(word), left, right)
        assert found == facts.count_times(face, word, open_left=left, open_right=right), f"{face} on {word}"
        assert is_reached(FACES.index(face), as_pieces(word), left, right) == (level(face, found) > 0), word


def test_all_temples():
    rng = random.Random(SEED + 3)
    met_by = Counter()
    for number in range(30_000 * SCALE):
        word = "".join(rng.choices(rng.sample(COLOURS, rng.randint(1, 5)), k=rng.randint(1, MAX_LENGTH)))
        pieces = as_pieces(word)
        for index in {number % len(TEMPLE_NAMES), rng.randrange(len(TEMPLE_NAMES))}:
            temple = TEMPLE_NAMES[index]
            met = count_met(index, pieces)
            assert TEMPLES[temple]["points"][met] == temple_points(temple, word), f"{temple} on {word}"
            met_by[temple, met] += 1
    assert min(met_by[temple, met] for temple in TEMPLE_NAMES for met in range(3)) > 20


@pytest.mark.slow
def test_the_words_of_one_colour_and_the_shortest():
    # Every word of up to 4 pieces, all cards.
    words = [""]
    for _ in range(4):
        words = [word + colour for word in words for colour in ["", *COLOURS]]
    for word in sorted(set(words) - {""}):
        for index, face in enumerate(FACES):
            for ends in ENDS:
                times = prophecy_times(face, word, ends)
                assert count_times(index, as_pieces(word), ends.left_open, ends.right_open) == times
        for index, temple in enumerate(TEMPLE_NAMES):
            assert TEMPLES[temple]["points"][count_met(index, as_pieces(word))] == temple_points(temple, word)


# --- the rulebook's example: 4 + 5 + 5 + 3 points

EXAMPLE = CARDS["checks"]["scoring_example"]


def example_words():
    """Return the words that fit the picture: three pieces of it are neither blue nor green."""
    words = [""]
    for letter in EXAMPLE["word"]:
        words = [word + colour for word in words for colour in ("YRK" if letter == "." else letter)]
    return words


@pytest.mark.parametrize("word", example_words())
def test_the_rulebook_example_card_by_card(word):
    pieces = as_pieces(word)
    found = [
        points_of(FACES.index(card), count_times(FACES.index(card), pieces))
        if card in PROPHECIES
        else TEMPLES[card]["points"][count_met(TEMPLE_NAMES.index(card), pieces)]
        for card in EXAMPLE["cards"]
    ]
    assert found == EXAMPLE["points"] == [4, 5, 5, 3]
    assert sum(found) == EXAMPLE["total"] == 17


def example_position(word, *, closing=False):
    """Return a position in which seat 0 has completed the example; all but its temple, if `closing`."""
    data = new_game("coatl", seed=1).to_json()
    cards = sorted(card for card in EXAMPLE["cards"] if card in PROPHECIES)
    temple = next(card for card in EXAMPLE["cards"] if card in TEMPLES)
    # Body pieces come in pairs: the one that the Coatl leaves over is stored.
    data["seats"][0]["stored"]["bodies"] = "Y"
    coatl = {
        "pieces": word,
        "head": True,
        "tail": True,
        "prophecies": cards,
        "temple": temple,
        "closed": True,
    }
    others = [face for face in FACES if face not in cards]
    data |= {"phase": "turn", "round": 7, "display": others[:6], "deck": 54 - 6 - len(cards) - 4}
    data["supply"] = {"heads": "YR", "tails": "YR", "bodies": ["GG"] * 6}
    data["piles"] = [{"top": "T00", "below": 5}, {"top": "T01", "below": 5}]
    for number, seat in enumerate(data["seats"]):
        seat |= {"hand": [], "discarded": others[6 + 2 * number : 8 + 2 * number], "temples": [f"T1{number}"]}
    data["seats"][0]["coatls"] = [coatl]
    if closing:
        data |= {"phase": "closing", "closing": 1}
        data["seats"][0]["temples"] = [temple]
        data["piles"][1]["below"] = 6
        coatl |= {"temple": "", "closed": False}
    return Position.from_json(data)


@pytest.mark.parametrize("word", example_words())
def test_the_rulebook_example_on_the_table(word):
    assert example_position(word).scores == [17, 0]


def test_the_rulebook_example_is_closed_with_its_temple():
    position = example_position(example_words()[0], closing=True)
    assert position.scores == [0, 0]
    position.push("temple 1 T02; end")
    assert position.scores == [17, 0]
