"""What cards of Coatl are worth on a word of colours, by exhaustive search.

A word is a string over the colours, read from head to tail. An occurrence of a pattern is the set of
positions that it uses up; a card counts the largest number of disjoint occurrences, and they are found by
trying all sets of occurrences. The notation of patterns is in `tests/data/coatl_cards.json`. Start at
`prophecy_times`.
"""

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

CARDS = json.loads((Path(__file__).parent.parent / "data" / "coatl_cards.json").read_text(encoding="utf-8"))
PROPHECIES = {card["id"]: card for card in CARDS["prophecies"]}
TEMPLES = {card["id"]: card for card in CARDS["temples"]}


class Ends(NamedTuple):
    """Whether a piece may still be added at an end, and whether that speaks against "not next to" (D7)."""

    left_open: bool = False
    right_open: bool = False
    strict: bool = False


COMPLETE = Ends()


def prophecy_times(card: str, word: str, ends: Ends = COMPLETE) -> int:
    """Return how many times a word meets the requirement of a prophecy."""
    pattern = PROPHECIES[card]["pattern"]
    if pattern.startswith("#"):
        return word.count(pattern[1])
    return most_disjoint(occurrences(pattern, word, ends))


@cache
def prophecy_points(card: str, word: str, ends: Ends = COMPLETE) -> int:
    """Return the points of the highest level reached, 0 below the first one."""
    times = prophecy_times(card, word, ends)
    return max((points for needed, points in PROPHECIES[card]["levels"] if times >= needed), default=0)


@cache
def temple_points(card: str, word: str) -> int:
    """Return the points of a temple on a complete Coatl."""
    met = sum(_is_met(kind, operand, word) for kind, operand in TEMPLES[card]["requirements"])
    return TEMPLES[card]["points"][met]


def _is_met(kind: str, operand, word: str) -> bool:
    if kind == "absent":
        return operand not in word
    if kind == "length":
        return len(word) == operand
    one, other = operand
    return word.count(one) == word.count(other) >= 1


def occurrences(pattern: str, word: str, ends: Ends = COMPLETE) -> list[frozenset[int]]:
    """Return the sets of positions at which a sequence stands, each once."""
    elements = pattern.split()
    found = set()
    for start in range(len(word)):
        for stop in _stops(elements, word, start, ends):
            found.add(frozenset(range(start, stop)))
    return sorted(found, key=sorted)


def _stops(elements: list[str], word: str, at: int, ends: Ends):
    """Yield where the elements may end if the first one begins at a position."""
    if not elements:
        yield at
        return
    element, *rest = elements
    if element.startswith("<!"):
        # Before the first piece it speaks of the neighbour to the left, after the last one to the right.
        neighbour = at if not rest else at - 1
        if _is_not_next_to(element[2], word, neighbour, ends):
            yield from _stops(rest, word, at, ends)
    elif element.endswith("+"):
        stop = at
        while stop < len(word) and element[0] in ("*", word[stop]):
            stop += 1
            yield from _stops(rest, word, stop, ends)
    elif at < len(word) and word[at] == element:
        yield from _stops(rest, word, at + 1, ends)


def _is_not_next_to(colour: str, word: str, neighbour: int, ends: Ends) -> bool:
    """Return whether no piece of the colour lies there; if none may lie there yet, D7 or `strict` decides."""
    if 0 <= neighbour < len(word):
        return word[neighbour] != colour
    is_open = ends.left_open if neighbour < 0 else ends.right_open
    return not (is_open and ends.strict)


def most_disjoint(sets: list[frozenset[int]]) -> int:
    """Return the size of the largest family of pairwise disjoint sets, having tried all families."""
    known: dict[tuple[frozenset[int], ...], int] = {(): 0}

    def largest(left: tuple[frozenset[int], ...]) -> int:
        if left not in known:
            first, others = left[0], left[1:]
            with_first = 1 + largest(tuple(other for other in others if not other & first))
            known[left] = max(with_first, largest(others))
        return known[left]

    return largest(tuple(sets))
