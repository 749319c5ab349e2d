"""The invariants of what a Coatl position remembers: the order of its entries, and that they can be taken back."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from mexica_ai.games.coatl import facts
from mexica_ai.games.coatl.shape import HIDDEN
from mexica_ai.io.strict import quote

if TYPE_CHECKING:
    from mexica_ai.games.coatl.invariants import CoatlChecker

MAX_MEMORY = 268  # entries: the room of the compiled core


class _Entry:
    """An entry of the memory: its word, its seat or None, its card."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.word, *seat, self.card = text.split()
        self.seat = int(seat[0]) if seat else None


_NEW_DECK = ("public", "private")
_COMES_AFTER = {
    "public": ("renew", "public"),
    "private": ("renew", "public", "private"),
    "across": ("public", "private", "across"),
}


def _run(words: list[str], of: tuple[str, ...]) -> int:
    """Return how many of the first words are among some."""
    return next((n for n, word in enumerate(words) if word not in of), len(words))


def _rank(entry: _Entry) -> tuple[bool, str]:
    return entry.card == HIDDEN, entry.card


def _ways_back(entry: _Entry) -> tuple[str, ...]:
    """Return where a card was before what happened, then the places where it may have been after it."""
    hand, away = f"hand {entry.seat}", f"discards {entry.seat}"
    return {
        "unsure": ("visible", hand),
        "discard": (hand, away),
        "deal": ("deck", hand),
        "play": (hand, "visible"),
        "reveal": ("deck", "visible"),
        "across": ("across", "visible"),
        "public": ("visible", "deck", "across"),
        "private": (away, "deck", "across"),
    }[entry.word]


def check_memory(checker: CoatlChecker) -> None:
    """Check the order of the entries, who sees which, and that what happened can be taken back."""
    texts = checker.data.get("memory", [])
    if texts and checker.phase == "keep":
        checker.add("memory", "PHASE_MISMATCH", f"has {len(texts)} entries; expected none in phase keep")
    if len(texts) > MAX_MEMORY:
        checker.add("memory", "OUT_OF_RANGE", f"has {len(texts)} entries; expected {MAX_MEMORY} at most")
        return
    number = len(checker.findings.violations)
    entries = [_Entry(text) for text in texts]
    around = [None, *entries, None]
    for index, entry in enumerate(entries):
        if entry.seat is not None and entry.seat >= len(checker.seats):
            _add_entry(checker, index, entry, f"a seat below {len(checker.seats)}")
        elif expected := _expected_entry(checker, around[index], entry, around[index + 2]):
            _add_entry(checker, index, entry, expected)
    _check_renewals(checker, entries)
    is_sound = checker.seats and len(checker.findings.violations) == number
    if texts and is_sound and checker.data["viewer"] is None:
        _take_back(checker, entries)


def _add_entry(checker: CoatlChecker, index: int, entry: _Entry, expected: str) -> None:
    checker.add(f"memory[{index}]", "MEMORY_MISMATCH", f"given {quote(entry.text)}; expected {expected}")


def _expected_entry(checker: CoatlChecker, before: _Entry | None, entry: _Entry, after: _Entry | None) -> str | None:
    """Return what was expected in place of an entry, or None."""
    word, last = entry.word, before.word if before else ""
    if before is None and word not in ("unsure", "renew"):
        return "the memory to begin with unsure or renew"
    may_be_hidden = word in ("discard", "deal", "private") and checker.is_hidden_from_viewer(entry.seat)
    if (entry.card == HIDDEN) != may_be_hidden:
        return '"?" exactly for what the viewer has not seen'
    is_followed = after and after.seat == entry.seat and after.word in ("unsure", "discard")
    if word == "unsure" and not is_followed:
        return f"discard {entry.seat} to follow, or more that is unsure"
    if before and last == "unsure" and (word not in ("unsure", "discard") or before.seat != entry.seat):
        return f"discard {before.seat}, or more that is unsure"
    if word == "discard" and not checker.spent(checker.seats[entry.seat], "future"):
        return "a seat that has spent its token future"
    if word in ("public", "private", "across") and last not in _COMES_AFTER[word]:
        return f"it after {' or '.join(_COMES_AFTER[word])}"
    if before and word == last and word in ("unsure", "public", "private", "across"):
        is_ascending = (before.seat or 0, _rank(before)) <= (entry.seat or 0, _rank(entry))
        if not is_ascending or (word == "unsure" and before.card == entry.card):
            return "seats and cards ascending"
    return None


def _check_renewals(checker: CoatlChecker, entries: list[_Entry]) -> None:
    """After a renewal come the cards of the new deck, then what was drawn at once."""
    for index, entry in enumerate(entries):
        if entry.word != "renew":
            continue
        rest = [other.word for other in entries[index + 1 :]]
        num_new = _run(rest, _NEW_DECK)
        num_across = _run(rest[num_new:], ("across",))
        old, is_drawn = int(entry.card), rest[num_new : num_new + 1] in (["deal"], ["reveal"])
        if not num_new:
            _add_entry(checker, index, entry, "the cards of the new deck to follow, public or private")
        elif old and not old < num_across <= facts.NUM_DISPLAYED:
            _add_entry(checker, index, entry, f"{old + 1} to {facts.NUM_DISPLAYED} entries across, not {num_across}")
        elif not old and not is_drawn:
            _add_entry(checker, index, entry, "a deal or a reveal after the cards of the new deck")


def _take_back(checker: CoatlChecker, entries: list[_Entry]) -> None:
    """Take back what happened, entry by entry: every card must be where it was."""
    hidden = {"deck": Counter(facts.COPIES), "across": Counter()}
    for index, seat in enumerate(checker.seats):
        hidden[f"hand {index}"] = Counter(seat["hand"]) - Counter(seat["shown"])
        hidden[f"discards {index}"] = Counter(seat["discarded"])
        hidden["deck"] -= Counter(seat["hand"]) + Counter(seat["discarded"])
        for coatl in seat["coatls"]:
            hidden["deck"] -= Counter(coatl["prophecies"])
    hidden["deck"] -= Counter(checker.data["display"]) + Counter(checker.data["discarded"])
    visible = Counter(facts.COPIES)
    for cards in hidden.values():
        visible -= cards
    hidden["visible"] = visible
    for index in range(len(entries) - 1, -1, -1):
        entry = entries[index]
        if entry.word == "renew":
            if hidden["deck"] or hidden["across"].total() != int(entry.card):
                _add_entry(checker, index, entry, "every other card of the new deck among those that follow")
                return
            hidden["deck"], hidden["across"] = hidden["across"], Counter()
            continue
        if entry.word in _NEW_DECK and entries[index + 1].word not in _NEW_DECK:
            kept = [seat for seat in range(len(checker.seats)) if hidden[f"discards {seat}"]]
            if kept:
                _add_entry(checker, index, entry, f"all that seat {kept[0]} had discarded in the new deck")
                return
        target, *sources = _ways_back(entry)
        source = next((place for place in sources if hidden[place][entry.card]), "nowhere")
        if source == "nowhere":
            _add_entry(checker, index, entry, "a card that was there, for where it is now")
            return
        hidden[source] -= Counter([entry.card])
        hidden[target] += Counter([entry.card])
