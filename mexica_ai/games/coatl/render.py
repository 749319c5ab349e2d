"""Coatl as text: the table, then the seats. No colours, 80 columns.

`render_position` is the main function. A card is shown with its pattern and its points, in the form of
`mexica_ai.games.coatl.facts.describe`.
"""

from collections.abc import Iterable, Sequence

from cext.core.contract.game import State
from cext.games.coatl.ops import state_to_fields
from mexica_ai.game.text_forms import count, viewer_name, wrap_entries
from mexica_ai.games.coatl import facts
from mexica_ai.games.coatl.facts import PARTS
from mexica_ai.games.coatl.notation import format_fields
from mexica_ai.games.coatl.shape import HIDDEN
from mexica_ai.io.json_types import JsonObject

HEAD, TAIL, OPEN = "<", ">", ".."  # at the ends of a Coatl
SHOWN = "*"  # after a card that all players know to be in that hand

LEGEND = (
    "  Y yellow  R red  K black  G green  B blue    <RKG> a Coatl, .. an open end\n"
    "  #Y pieces anywhere  K+ one or more  *+ of any colour  <!Y> not next to Y\n"
    "  no Y, =7 pieces, R=Y as many    2/6 points for once/twice  * known to all"
)

_DOES = {
    "turn": "to move",
    "drawing": "is drawing prophecies",
    "future": "has seen the future, and may discard and draw",
    "building": "is building",
    "closing": "closes its Coatl {closing}",
}
_EVENTS = {
    "deal": "after the card on top of the deck is dealt",
    "reveal": "after the display is refilled",
    "refill": "after the supply is refilled",
    "uncover": "after the next temple is uncovered",
}


def render(state: State) -> str:
    """Return a state as text that a person can read quickly."""
    return render_position(format_fields(state_to_fields(state)))


def render_position(data: JsonObject) -> str:
    """Return a valid position, given as its JSON object, as text; see `render`."""
    blocks = [_heading(data), _table(data)]
    blocks += [_seat(data, index, seat) for index, seat in enumerate(data["seats"])]
    return "\n\n".join([*blocks, LEGEND])


def _heading(data: JsonObject) -> str:
    phase = data["phase"]
    game = f"Coatl, {data['players']} players"
    if data["options"]["strict_ends"]:
        game += ", strict ends"
    if data["viewer"] is not None:
        game += f", as {viewer_name(data['viewer'])} sees it"
    if phase == "over":
        return f"{game}: over"
    mover = f"seat {data['to_move']}"
    if phase == "keep":
        return f"{game}: {mover} chooses the prophecies that it keeps"
    turn = f"{mover} {_DOES[phase].format(closing=data['closing'])}"
    if data["actions_left"] > 1:
        turn += f", {data['actions_left']} actions left"
    if data["passes"]:
        turn += f", after {count(data['passes'], 'pass', 'passes')}"
    lines = [f"{game}, round {data['round']}", turn]
    if data["pending"]:
        lines.append(_EVENTS[data["pending"]])
    if data["ending"]:
        lines.append(_ending(data["ending"]))
    return "\n".join(lines)


def _ending(ending: JsonObject) -> str:
    if ending["cause"] == "third":
        return f"the game ends: seat {ending['seat']} has completed its third Coatl"
    return f"the game ends with round {ending['last_round']}: no body pieces are left"


def _table(data: JsonObject) -> str:
    piles = [
        f"{facts.describe(pile['top']) if pile['top'] else 'none'}, {pile['below']} below" for pile in data["piles"]
    ]
    rows = {
        "supply": _pieces(data["supply"]),
        "display": map(facts.describe, data["display"]),
        "deck": [count(data["deck"], "card")],
        "discarded": data["discarded"] or None,
        "temples": piles,
    }
    return "\n".join(_row(name, entries) for name, entries in rows.items() if entries is not None)


def _seat(data: JsonObject, index: int, seat: JsonObject) -> str:
    is_moving = index == data["to_move"] and data["phase"] != "over"
    points = sum(sum(facts.coatl_points(coatl, strict_ends=False)) for coatl in seat["coatls"] if coatl["closed"])
    lines = [f"{'>' if is_moving else ' '} seat {index}: {count(points, 'point')}"]
    number = sum(len(seat["stored"][part]) for part in PARTS)
    rows = {
        f"stored {number}": _pieces(seat["stored"]) if number else [],
        f"hand {len(seat['hand'])}": _hand(seat["hand"], seat["shown"]),
        f"temples {len(seat['temples'])}": _hand(seat["temples"], seat["shown_temples"]),
        "tokens": seat["tokens"] if data["options"]["sacrifice_tokens"] else None,
        "discarded": _names(seat["discarded"]) or None,
    }
    lines += [_row(name, entries) for name, entries in rows.items() if entries is not None]
    for number, coatl in enumerate(seat["coatls"], start=1):
        lines += _coatl(data, number, coatl)
    return "\n".join(lines)


def _coatl(data: JsonObject, number: int, coatl: JsonObject) -> list[str]:
    pieces = coatl["pieces"]
    left, right = HEAD if coatl["head"] else OPEN, TAIL if coatl["tail"] else OPEN
    points = facts.coatl_points(coatl, strict_ends=data["options"]["strict_ends"])
    status = "closed" if coatl["closed"] else "unfinished"
    cards = [*coatl["prophecies"], *([coatl["temple"]] if coatl["temple"] else [])]
    # For an unfinished Coatl these are the points that it would give now.
    summary = f"{count(len(pieces), 'piece')}, {status}, {count(sum(points), 'point')}"
    entries = [f"{gained} of {facts.describe(card)}" for gained, card in zip(points, cards, strict=False)]
    lines = [_row(f"Coatl {number}", [left + pieces + right, summary])]
    return [*lines, _row("", entries)] if entries else lines


def _pieces(parts: JsonObject) -> list[str]:
    """Return the entries of heads, tails and bodies, `bodies` being a string or a list of pairs."""
    return [f"{part} {' '.join(parts[part]) or '-'}" for part in PARTS]


def _hand(cards: Sequence[str], shown: Iterable[str]) -> list[str]:
    """Return the known cards, each with its facts, and the number of hidden ones."""
    shown = list(shown)
    entries = []
    for card in cards:
        if card != HIDDEN:
            entries.append(facts.describe(card) + (SHOWN if card in shown else ""))
        if card in shown:
            shown.remove(card)
    return [*entries, *_names([card for card in cards if card == HIDDEN])]


def _names(cards: Sequence[str]) -> list[str]:
    """Return the names of the known cards, and the number of hidden ones."""
    hidden = cards.count(HIDDEN)
    return [*(card for card in cards if card != HIDDEN), *([f"{hidden} hidden"] if hidden else [])]


def _row(name: str, entries: Iterable[str]) -> str:
    """Return a name and its entries on as many lines as needed, without breaking an entry."""
    return "\n".join(wrap_entries(f"    {name:11}", entries))
