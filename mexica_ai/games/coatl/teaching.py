"""Learning Coatl: words for pieces, cards and Coatls, where the points came from, and the projected points."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mexica_ai.game.contract import Fields, Teaching
from mexica_ai.game.phrases import Phrase, phrase, seat_phrase
from mexica_ai.game.score_rows import Move, ScoreRow
from mexica_ai.games.coatl import facts
from mexica_ai.games.coatl.facts import COLOR_NAMES, PROPHECIES, TEMPLES
from mexica_ai.games.coatl.shape import HIDDEN
from mexica_ai.io.json_types import JsonObject

_LEGEND = (
    "piece", "head", "tail", "pair", "prophecy", "scattered", "row", "run", "white", "struck", "levels", "reached",
    "temple", "equal", "long", "temple_points", "back", "seen", "sacrifice", "stored", "plus", "points",
)  # fmt: skip


# --- cards in words


def _piece(letter: str) -> Phrase:
    return phrase(f"color.{COLOR_NAMES[letter]}")


def _element(element: JsonObject) -> Phrase:
    """Return a part of a pattern."""
    if element["el"] == "not_adjacent":
        return phrase(f"element.not_{element['side']}", color=phrase(f"color.{element['color']}"))
    if element["el"] == "run":
        return phrase("element.run_any" if element["color"] == "any" else "element.run", color=_named(element["color"]))
    return _named(element["color"])


def _named(color: str) -> Phrase:
    return phrase(f"color.{color}")


def pattern(card: str) -> Phrase:
    """Return what a prophecy wants."""
    requirement = PROPHECIES[card]["requirement"]
    if requirement["type"] == "count":
        return phrase("pattern.count", color=_named(requirement["color"]))
    return phrase("pattern.sequence", pieces=[_element(element) for element in requirement["sequence"]])


def _requirement(requirement: JsonObject) -> Phrase:
    if requirement["type"] == "absent":
        return phrase("requirement.absent", color=_named(requirement["color"]))
    if requirement["type"] == "length":
        return phrase("requirement.length", number=requirement["length"])
    one, other = map(_named, requirement["colors"])
    return phrase("requirement.equal", one=one, other=other)


def describe(card: str) -> Phrase:
    """Return a card with its points."""
    if card in TEMPLES:
        _, one, both = TEMPLES[card]["points_by_requirements_met"]
        wanted = [_requirement(requirement) for requirement in TEMPLES[card]["requirements"]]
        return phrase("card.temple", card=card, wanted=wanted, one=one, both=both)
    levels = [phrase("level", times=level["times"], points=level["points"]) for level in PROPHECIES[card]["levels"]]
    return phrase("card.prophecy", card=card, pattern=pattern(card), levels=levels)


# --- hints


def hints(fields: Fields) -> dict[str, Phrase]:
    """Return words for the table and the seats; see `Teaching.hints`."""
    found = {
        "deck": phrase("hint.deck", number=fields["deck"]),
        "discarded": phrase("hint.discarded", number=len(fields["discarded"])),
    }
    for part, kind in facts.KIND_OF_PART.items():
        for letters in {*fields["supply"][part], ""}:
            pieces = [_piece(letter) for letter in letters]
            key = f"hint.supply.{kind}" if letters else "hint.empty"
            found[f"supply:{kind}:{letters}"] = phrase(key, pieces=pieces)
    found |= {f"display:{card}": phrase("hint.display", card=describe(card)) for card in fields["display"]}
    for index, pile in enumerate(fields["piles"]):
        if pile["top"]:
            found[f"pile:{pile['top']}"] = phrase("hint.pile", card=describe(pile["top"]))
        found[f"below:{index}"] = phrase("hint.below", number=pile["below"])
    for seat, own in enumerate(fields["seats"]):
        found |= _seat(seat, own, fields)
    return found


def _seat(seat: int, own: JsonObject, fields: Fields) -> dict[str, Phrase]:
    whose = seat_phrase(seat)
    stored = sum(map(len, own["stored"].values()))
    found = {
        f"points:{seat}": phrase("hint.points", seat=whose, points=points(own, closed_only=True, strict_ends=False)),
        f"stored:{seat}": phrase("hint.stored", seat=whose, number=stored, most=facts.CAPACITY),
        f"hand:{seat}": phrase("hint.hand", seat=whose, number=len(own["hand"]), most=facts.HAND_LIMIT),
    }
    for part, kind in facts.KIND_OF_PART.items():
        for letter in own["stored"][part]:
            found[f"stored:{seat}:{kind}:{letter}"] = phrase(f"hint.{kind}", color=_piece(letter), seat=whose)
    for card in (*own["hand"], *own["temples"]):
        if card != HIDDEN:
            found[f"hand:{seat}:{card}"] = phrase("hint.held", card=describe(card), seat=whose)
    if fields["options"]["sacrifice_tokens"]:
        for token in facts.TOKENS:
            has = token in own["tokens"]
            key = f"{'token' if has else 'used'}:{seat}:{token}"
            found[key] = phrase(f"token.{token}" if has else "token.used", seat=whose)
    strict = fields["options"]["strict_ends"]
    for number, coatl in enumerate(own["coatls"], 1):
        name, gained = f"coatl:{seat}:{number}", facts.coatl_points(coatl, strict_ends=strict)
        state = "hint.complete" if coatl["closed"] else "hint.unfinished"
        found[name] = phrase(state, number=number, seat=whose, length=len(coatl["pieces"]), points=sum(gained))
        if not coatl["head"]:
            found[f"{name}:left"] = phrase("hint.left", number=number)
        if not coatl["tail"]:
            found[f"{name}:right"] = phrase("hint.right", number=number)
        for card, brought in zip((*coatl["prophecies"], coatl["temple"]), gained, strict=True):
            if card:
                found[f"{name}:{card}"] = phrase("hint.played", card=describe(card), points=brought)
    return found


# --- points


def points(own: JsonObject, *, closed_only: bool, strict_ends: bool) -> float:
    """Return the points of the cards on a seat's Coatls as they stand."""
    coatls = [coatl for coatl in own["coatls"] if coatl["closed"] or not closed_only]
    return float(sum(sum(facts.coatl_points(coatl, strict_ends=strict_ends)) for coatl in coatls))


def score_sheet(start: Fields, moves: Sequence[Move]) -> list[ScoreRow]:
    """Return the points by Coatl and card, of the Coatls completed since the start; see `Teaching.score_sheet`."""
    end = moves[-1].after if moves else start
    rows = []
    for seat, own in enumerate(end["seats"]):
        before = start["seats"][seat]["coatls"]
        for number, coatl in enumerate(own["coatls"], 1):
            if not coatl["closed"] or (number <= len(before) and before[number - 1]["closed"]):
                continue
            section = phrase("sheet.coatl", number=number, seat=seat_phrase(seat))
            gained = facts.coatl_points(coatl, strict_ends=False)
            for card, brought in zip((*coatl["prophecies"], coatl["temple"]), gained, strict=True):
                if card:
                    column = [0.0] * end["players"]
                    column[seat] = float(brought)
                    rows.append(ScoreRow(section, _row_label(card), column))
    return rows


def _row_label(card: str) -> Phrase:
    if card in TEMPLES:
        wanted = [_requirement(requirement) for requirement in TEMPLES[card]["requirements"]]
        return phrase("sheet.temple", card=card, wanted=wanted)
    return phrase("sheet.prophecy", card=card, pattern=pattern(card))


def projected(fields: Fields) -> list[float]:
    """Return the points if unfinished Coatls counted, too, with the cards on them as they stand.

    Cards in hand and temples for Coatls that will be completed are not in it. After the end only complete Coatls count.
    """
    is_over, strict = fields["phase"] == "over", fields["options"]["strict_ends"]
    return [points(own, closed_only=is_over, strict_ends=strict) for own in fields["seats"]]


TEACHING = Teaching(Path(__file__).with_name("texts"), _LEGEND, hints, score_sheet, projected)
