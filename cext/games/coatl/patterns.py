"""Card patterns compiled to automata.

A card counts the largest number of disjoint occurrences of its pattern in the word of a Coatl, read from head to tail.
Occurrences are intervals, so it is optimal to take the one that ends first, again and again. An automaton that restarts
after each occurrence does so in one pass. The patterns come from ``cards.json``; this module has no card of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple

COLORS = ("yellow", "red", "black", "green", "blue")
ANY = -1

# What comes before the first piece: nothing, or (strict ends) something that breaks every "not next to".
_NOTHING = -1
_ANYTHING = -2


class Automaton(NamedTuple):
    """A deterministic automaton that counts occurrences.

    Attributes
    ----------
    steps : list of list of (int, int)
        For each state and colour the next state, and 1 if the piece completes an occurrence, else 0.
    at_end : list of int
        For each state 1 if the end of the word completes an occurrence, when nothing comes after it.
    start, strict_start : int
        The state before the first piece: if nothing comes before it, and if what may still come before it counts as a
        neighbour of every colour.
    """

    steps: list[list[tuple[int, int]]]
    at_end: list[int]
    start: int
    strict_start: int


def reverse_requirement(requirement: dict[str, Any]) -> dict[str, Any]:
    """Return the requirement that a word meets when the word read backwards meets this one."""
    if requirement["type"] != "sequence":
        return requirement
    sides = {"before": "after", "after": "before"}
    return {
        **requirement,
        "sequence": [
            {**element, "side": sides[element["side"]]} if "side" in element else element
            for element in reversed(requirement["sequence"])
        ],
    }


def required_neighbors(requirement: dict[str, Any]) -> tuple[set[int], set[tuple[int, int]]]:
    """Return what every word with an occurrence has.

    Returns
    -------
    tuple of (set of int, set of (int, int))
        Colours of pieces, and pairs of colours of neighbours, the left one first.
    """
    colors = [color for color, _ in _read(requirement).items]
    pairs = {pair for pair in pairwise(colors) if ANY not in pair}
    return set(colors) - {ANY}, pairs


def shortest_path(automaton: Automaton, start: int) -> list[int]:
    """Return a shortest sequence of pieces that completes one more occurrence.

    Parameters
    ----------
    automaton : Automaton
    start : int
        The state at the end of a word, when nothing comes after it.

    Returns
    -------
    list of int
        For each piece the set of colours that it may have, as bits, if the pieces before it have the lowest colour of
        their sets.
    """
    # States by the number of occurrences beyond those of the word as it ends now.
    first = (start, -automaton.at_end[start])
    layers, seen = [[first]], {first}
    while not any(found + automaton.at_end[state] > 0 for state, found in layers[-1]):
        layers.append([])
        for state, found in layers[-2]:
            for step, count in automaton.steps[state]:
                if (step, found + count) not in seen:
                    seen.add((step, found + count))
                    layers[-1].append((step, found + count))
    ends = {(state, found) for state, found in layers.pop() if found + automaton.at_end[state] > 0}
    path: list[dict[tuple[int, int], int]] = []
    for layer in reversed(layers):
        masks = {
            node: sum(
                1 << color
                for color, (step, count) in enumerate(automaton.steps[node[0]])
                if (step, node[1] + count) in ends
            )
            for node in layer
        }
        ends = {node for node, mask in masks.items() if mask}
        path.append(masks)
    return _walk(automaton, first, list(reversed(path)))


def _walk(automaton: Automaton, node: tuple[int, int], layers: list[dict[tuple[int, int], int]]) -> list[int]:
    """Follow the lowest colour from layer to layer; return the sets of colours."""
    masks = []
    for i, layer in enumerate(layers):
        mask = layer[node]
        masks.append(mask)
        for color in range(len(COLORS)):
            step, count = automaton.steps[node[0]][color]
            following = (step, node[1] + count)
            if mask >> color & 1 and (i + 1 == len(layers) or layers[i + 1].get(following)):
                node = following
                break
    return masks


class _Pattern(NamedTuple):
    items: list[tuple[int, bool]]  # colour or ANY, and whether it is a run
    not_before: int | None
    not_after: int | None


def compile_requirement(requirement: dict[str, Any]) -> Automaton:
    """Compile a card's requirement, of the types `count` and `sequence`.

    Raises
    ------
    ValueError
        If the requirement has another type or form.
    """
    pattern = _read(requirement)
    states: dict[tuple[int, frozenset[int]], int] = {}
    todo: list[tuple[int, frozenset[int]]] = []

    def number(previous: int, reached: Iterable[int]) -> int:
        # What came before matters only to patterns that look at it.
        key = (previous if pattern.not_before is not None else _NOTHING, frozenset(reached))
        if key not in states:
            states[key] = len(states)
            todo.append(key)
        return states[key]

    start, strict_start = number(_NOTHING, ()), number(_ANYTHING, ())
    steps: list[list[tuple[int, int]]] = []
    at_end: list[int] = []
    while todo:
        previous, reached = todo.pop(0)
        steps.append([])
        for color in range(len(COLORS)):
            following, count = _step(pattern, previous, reached, color)
            steps[-1].append((number(color, following), count))
        at_end.append(int(len(pattern.items) in reached))
    return Automaton(steps, at_end, start, strict_start)


def _step(pattern: _Pattern, previous: int, reached: frozenset[int], color: int) -> tuple[set[int], int]:
    """Return the items reached after a piece, and whether it completes an occurrence.

    `reached`: for each occurrence under way, the number of items that it has.
    """
    count, end = 0, len(pattern.items)
    if end in reached and color != pattern.not_after:
        count, reached = 1, frozenset()  # complete before this piece, which may begin the next one
    begins = pattern.not_before is None or previous not in (pattern.not_before, _ANYTHING)
    following: set[int] = set()
    for i in (*reached, *([0] if begins else [])):
        if i < end and pattern.items[i][0] in (color, ANY):
            following.add(i + 1)
        if i > 0 and pattern.items[i - 1] in ((color, True), (ANY, True)):
            following.add(i)
    if end in following and pattern.not_after is None:
        count, following = count + 1, set()
    return following, count


def _read(requirement: dict[str, Any]) -> _Pattern:
    """Return a card's requirement as a pattern."""
    if requirement["type"] == "count":
        return _Pattern([(COLORS.index(requirement["color"]), False)], None, None)
    if requirement["type"] != "sequence":
        raise ValueError(f"requirement {requirement['type']!r}: expected count or sequence")
    items: list[tuple[int, bool]] = []
    not_before = not_after = None
    elements = requirement["sequence"]
    for i, element in enumerate(elements):
        color = ANY if element["color"] == "any" else COLORS.index(element["color"])
        if element["el"] in ("piece", "run"):
            items.append((color, element["el"] == "run"))
        elif element["el"] == "not_adjacent" and element["side"] == "before" and i == 0:
            not_before = color
        elif element["el"] == "not_adjacent" and element["side"] == "after" and i == len(elements) - 1:
            not_after = color
        else:
            raise ValueError(f"element {i}: {element!r}; expected a piece, a run, or a mark at an end")
    return _Pattern(items, not_before, not_after)
