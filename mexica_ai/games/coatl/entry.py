"""Entering actions of Coatl on its picture."""

from __future__ import annotations

from mexica_ai.game.entry import Entry, Kind, Target, Tool, choice
from mexica_ai.game.messages import say
from mexica_ai.games.coatl import facts
from mexica_ai.games.coatl.shape import HIDDEN
from mexica_ai.io.json_types import JsonObject

TOOLS = (
    Tool("keep", "k", "Keep", any_order=True),
    Tool("take", "t", "Take pieces"),
    Tool("draw", "d", "Draw a prophecy"),
    Tool("start", "s", "Start a Coatl"),
    Tool("add", "a", "Add a piece", any_order=True),
    Tool("play", "p", "Play a card", any_order=True),
    Tool("close", "c", "Complete a Coatl"),
    Tool("discard", "x", "Discard"),
    Tool("future", "f", "Token: new display"),
    Tool("perfect", "r", "Token: any piece"),
    Tool("promise", "m", "Token: a temple"),
    Tool("pass", "n", "Pass"),
    Tool("end", "e", "End the turn"),
)


def entry(action: str, fields: JsonObject) -> Entry:
    """Return how an action is entered; see `Picture.entry`."""
    seat = fields["to_move"]
    verb, *words = action.split()
    match verb, words:
        case "keep", _:
            held = len(fields["seats"][seat]["hand"])
            confirm = choice(
                say("Keep {number} of {held}", number=len(words), held=held) if words else say("Keep none")
            )
            return Entry("keep", (*_kept(seat, words), confirm))
        case "take", [kind, letters]:
            return Entry("take", (Target(f"supply:{kind}:{letters}", Kind.PIECE, f"{kind} {letters}"),))
        case "draw", ["deck"]:
            return Entry("draw", (Target("deck", Kind.DECK, "deck"),))
        case "draw", [card]:
            return Entry("draw", (Target(f"display:{card}", Kind.CARD, card),))
        case "perfect", [kind, letters]:
            return Entry("perfect", (choice(f"{say(kind)} {letters}", f"{kind} {letters}", Kind.PIECE),))
        case "promise", [card]:
            return Entry("promise", (Target(f"pile:{card}", Kind.CARD, card),))
        case "start", [kind, letter]:
            return Entry("start", (_stored(seat, kind, letter),))
        case "add", [number, end, letter]:
            kind = end if end in ("head", "tail") else "body"
            side = {"head": "left", "tail": "right"}.get(end, end)
            where = Target(f"coatl:{seat}:{number}:{side}", Kind.FIGURE_END, f"{number} {end}", seat)
            return Entry("add", (_stored(seat, kind, letter), where))
        case "play", [number, card]:
            return Entry("play", (_held(seat, card), _coatl(seat, number)))
        case "temple", [number, card]:  # one of the hand, or an open one
            is_held = card in fields["seats"][seat]["temples"]
            source = _held(seat, card) if is_held else Target(f"pile:{card}", Kind.CARD, card)
            return Entry("play", (source, _coatl(seat, number)))
        case "close", [number]:
            return Entry("close", (_coatl(seat, number),))
        case "discard", [card]:
            return Entry("discard", (_held(seat, card),))
    return Entry(verb)


def _stored(seat: int, kind: str, letter: str) -> Target:
    return Target(f"stored:{seat}:{kind}:{letter}", Kind.PIECE, f"{kind} {letter}", seat)


def _held(seat: int, card: str) -> Target:
    return Target(f"hand:{seat}:{card}", Kind.CARD, card, seat)


def _kept(seat: int, cards: list[str]) -> list[Target]:
    """Return the targets of cards to keep; while those are chosen, each copy of a card is one of its own."""
    return [
        Target(target_of(seat, card, cards[:index].count(card)), Kind.CARD, card, seat)
        for index, card in enumerate(cards)
    ]


def target_of(seat: int, card: str, earlier: int) -> str:
    """Return the target of a card of a hand, of which there are `earlier` copies before it."""
    return f"hand:{seat}:{card}" + (f":{earlier + 1}" if earlier else "")


def _coatl(seat: int, number: str) -> Target:
    return Target(f"coatl:{seat}:{number}", Kind.FIGURE, number, seat)


def describe(fields: JsonObject) -> dict[str, str]:
    """Return what lies on the targets of the picture, in words; see `Picture.describe_targets`."""
    found = {"deck": say("deck of {n:prophecy|prophecies}", n=fields["deck"])}
    for part, kind in facts.KIND_OF_PART.items():
        for letters in fields["supply"][part]:
            found[f"supply:{kind}:{letters}"] = say("supply, {piece}", piece=f"{say(kind)} {_colors(letters)}")
    found |= {f"display:{card}": say("display, {card}", card=facts.describe(card)) for card in fields["display"]}
    for pile in fields["piles"]:
        if pile["top"]:
            found[f"pile:{pile['top']}"] = say("open temple, {card}", card=facts.describe(pile["top"]))
    for seat, own in enumerate(fields["seats"]):
        whose = f"seat {seat}"
        for part, kind in facts.KIND_OF_PART.items():
            for letter in own["stored"][part]:
                number = own["stored"][part].count(letter)
                found[f"stored:{seat}:{kind}:{letter}"] = say(
                    "{whose}, stored {piece}, {number}",
                    whose=whose,
                    piece=f"{say(kind)} {_colors(letter)}",
                    number=number,
                )
        cards = [card for card in (*own["hand"], *own["temples"]) if card != HIDDEN]
        for index, card in enumerate(cards):
            earlier = cards[:index].count(card) if fields["phase"] == "keep" else 0
            found[target_of(seat, card, earlier)] = say("{whose}, hand, {card}", whose=whose, card=facts.describe(card))
        if fields["options"]["sacrifice_tokens"]:
            found |= {
                f"token:{seat}:{token}": say("{whose}, token {token}", whose=whose, token=token)
                for token in own["tokens"]
            }
        for number, coatl in enumerate(own["coatls"], 1):
            target, words = f"coatl:{seat}:{number}", f"{whose}, Coatl {number}"
            state = say("complete") if coatl["closed"] else say("unfinished")
            found[target] = f"{words}, {_colors(coatl['pieces'])}, {state}"
            for end, is_closed in (("left", coatl["head"]), ("right", coatl["tail"])):
                if not is_closed:
                    found[f"{target}:{end}"] = f"{words}, " + say(
                        "open end to the left" if end == "left" else "open end to the right"
                    )
            for card in (*coatl["prophecies"], *filter(None, [coatl["temple"]])):
                found[f"{target}:{card}"] = f"{words}, {facts.describe(card)}"
    return found


def _colors(letters: str) -> str:
    return " ".join(say(facts.COLOR_NAMES[letter]) for letter in letters)
