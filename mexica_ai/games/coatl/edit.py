"""Editing positions of Coatl: pieces by counters, cards by menus. What is left in the deck is counted."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import Any

from mexica_ai.game import edit
from mexica_ai.game.edit import Brush, Control, Editor, Group, bag, button, choice, flag, number, row
from mexica_ai.games.coatl import facts, invariants
from mexica_ai.games.coatl.draw import drawable
from mexica_ai.games.coatl.facts import COLORS, FACES, PAIRS, PARTS, PROPHECIES, TEMPLE_NAMES, TEMPLES, TOKENS
from mexica_ai.games.coatl.shape import HIDDEN, PENDING, PHASES, SHAPE
from mexica_ai.io.json_types import JsonObject

_COLORS = [(letter, facts.COLOR_NAMES[letter]) for letter in COLORS]
_PAIRS = [(pair, f"{facts.COLOR_NAMES[pair[0]]} and {facts.COLOR_NAMES[pair[1]]}") for pair in PAIRS]
_FACES = [(face, facts.describe(face)) for face in FACES]
_TEMPLES = [(temple, facts.describe(temple)) for temple in TEMPLE_NAMES]
_UNKNOWN = [(HIDDEN, "hidden")]
_CARDS = ("hand", "shown", "discarded", "temples", "shown_temples")  # of a seat
_MAX_PASSES = facts.MAX_PLAYERS - 1
_MAX_IN_PILE = len(TEMPLE_NAMES)


class CoatlEditor(Editor):
    """Controls only: pieces and cards are too many for brushes."""

    game = "coatl"
    shape = SHAPE

    def brushes(self, fields: JsonObject) -> list[Brush]:
        """Return none."""
        return []

    def groups(self, fields: JsonObject) -> list[Group]:
        """Return the turn, the table, and for each seat its pieces, its cards and its Coatls."""
        players = _players(fields)
        turn = [
            choice(fields, "players", "Players", range(facts.MIN_PLAYERS, facts.MAX_PLAYERS + 1)),
            choice(fields, "phase", "Phase", PHASES),
            choice(fields, "pending", "Random event that is due", [("", "none"), *PENDING[1:]]),
            number(fields, "round", "Round", 0, invariants.MAX_ROUND),
            choice(fields, "to_move", "To move", edit.seats(players)),
            number(fields, "actions_left", "Actions left", 1, 2),
            number(fields, "passes", "Passes in a row", 0, _MAX_PASSES),
            number(fields, "closing", "Coatl being closed", 0, facts.MAX_COATLS),
            choice(fields, "ending.cause", "End of the game", [(None, "not yet"), ("third", "a third Coatl"),
                   ("bodies", "no body pieces left")]),
        ]  # fmt: skip
        ending = fields["ending"] or {}
        if "seat" in ending:
            turn.append(choice(fields, "ending.seat", "Seat with the third Coatl", edit.seats(players)))
        if "last_round" in ending:
            turn.append(number(fields, "ending.last_round", "Last round", 2, invariants.MAX_ROUND))
        turn += [
            flag(fields, "options.sacrifice_tokens", "With sacrifice tokens"),
            flag(fields, "options.strict_ends", "With strict ends"),
        ]
        table = [
            bag(fields, "supply.heads", "Heads", _COLORS),
            bag(fields, "supply.tails", "Tails", _COLORS),
            row(fields, "supply.bodies", "Body pieces", _PAIRS),
            row(fields, "display", "Prophecies on display", _FACES),
            row(fields, "discarded", "Prophecies discarded by all", _FACES),
        ]
        for index in range(len(fields["piles"][: facts.NUM_PILES])):
            table += [
                choice(fields, f"piles[{index}].top", f"Temple on pile {index + 1}", [("", "none"), *_TEMPLES]),
                number(fields, f"piles[{index}].below", "Temples below", 0, _MAX_IN_PILE),
            ]
        found = [Group("Turn", turn), Group("Table", table)]
        for seat, own in enumerate(fields["seats"][:players]):
            found += [
                Group(f"Seat {seat + 1}", self._seat(fields, f"seats[{seat}]")),
                *(
                    Group(
                        f"Coatl {index + 1} of seat {seat + 1}", self._coatl(fields, f"seats[{seat}].coatls[{index}]")
                    )
                    for index in range(len(own["coatls"][: facts.MAX_COATLS]))
                ),
            ]
        return found

    @staticmethod
    def _seat(fields: JsonObject, where: str) -> list[Control]:
        faces, temples = _FACES, _TEMPLES
        if fields["viewer"] is not None:
            faces, temples = _FACES + _UNKNOWN, _TEMPLES + _UNKNOWN
        controls = [bag(fields, f"{where}.stored.{part}", f"Stored {part}", _COLORS) for part in PARTS]
        controls += [
            row(fields, f"{where}.hand", "Hand", faces),
            row(fields, f"{where}.shown", "Seen by all of these", _FACES),
            row(fields, f"{where}.discarded", "Discarded", faces),
            row(fields, f"{where}.temples", "Temples", temples),
            row(fields, f"{where}.shown_temples", "Seen by all of these temples", _TEMPLES),
            row(fields, f"{where}.tokens", "Sacrifice tokens", TOKENS),
        ]
        if len(edit.value_at(fields, f"{where}.coatls")) < facts.MAX_COATLS:
            controls.append(button(f"{where}.coatls.start", "Start a Coatl"))
        return controls

    @staticmethod
    def _coatl(fields: JsonObject, where: str) -> list[Control]:
        return [
            row(fields, f"{where}.pieces", "Pieces from head to tail", _COLORS, is_ordered=True),
            flag(fields, f"{where}.head", "The first piece is a head"),
            flag(fields, f"{where}.tail", "The last piece is a tail"),
            row(fields, f"{where}.prophecies", "Prophecies", _FACES),
            choice(fields, f"{where}.temple", "Temple", [("", "none"), *_TEMPLES]),
            flag(fields, f"{where}.closed", "Closed"),
            button(f"{where}.remove", "Remove this Coatl"),
        ]

    # --- what follows

    def press(self, fields: JsonObject, path: str) -> None:
        """Start a Coatl or remove one."""
        *where, verb = edit.steps_of(path)
        coatls = fields["seats"][where[1]]["coatls"]
        if verb == "start":
            new = {"pieces": COLORS[0], "head": False, "tail": False, "prophecies": [], "temple": "", "closed": False}
            coatls.append(new)
        else:
            del coatls[where[3]]

    def set(self, fields: JsonObject, path: str, value: Any) -> None:
        """Set a value; the cause of the end brings its own key."""
        if path != "ending.cause":
            super().set(fields, path, value)
            return
        own = {"third": {"seat": fields["to_move"]}, "bodies": {"last_round": max(2, fields["round"])}}
        fields["ending"] = {"cause": value} | own[value] if value else None

    def changed(self, fields: JsonObject, path: str) -> None:
        """Adapt the seats to their number, and the turn to the phase."""
        if path == "players":
            players = fields["players"]
            fields["seats"] = (fields["seats"] + [self._new_seat(fields) for _ in range(players)])[:players]
            fields["to_move"] = min(fields["to_move"], players - 1)
        elif path == "phase":
            fields["pending"] = ""
            if fields["phase"] == "keep":
                fields |= {"round": 0, "ending": None}
            else:
                fields["round"] = max(1, fields["round"])
            if fields["phase"] in ("keep", "over"):
                fields["actions_left"] = 1
            if fields["phase"] == "over":
                fields["to_move"] = 0
            if fields["phase"] != "turn":
                fields["passes"] = 0
            if fields["phase"] != "closing":
                fields["closing"] = 0
        elif path == "options.sacrifice_tokens":
            for own in fields["seats"]:
                own["tokens"] = list(TOKENS) if fields["options"]["sacrifice_tokens"] else []

    @staticmethod
    def _new_seat(fields: JsonObject) -> JsonObject:
        return {
            "stored": dict.fromkeys(PARTS, ""),
            **{key: [] for key in _CARDS},
            "tokens": list(TOKENS) if fields["options"]["sacrifice_tokens"] else [],
            "coatls": [],
        }

    def tidy(self, fields: JsonObject) -> None:
        """Write lists in order, forget what was seen in play, and count the deck."""
        fields.pop("memory", None)
        supply = fields["supply"]
        for part in ("heads", "tails"):
            supply[part] = _in_order(supply[part])
        supply["bodies"].sort(key=PAIRS.index)
        fields["display"].sort()
        fields["discarded"].sort()
        elsewhere = len(fields["display"]) + len(fields["discarded"])
        for own in fields["seats"]:
            for part in PARTS:
                own["stored"][part] = _in_order(own["stored"][part])
            for key in _CARDS:
                own[key].sort(key=lambda card: (card == HIDDEN, card))
            own["tokens"].sort(key=TOKENS.index)
            own["coatls"] = [coatl for coatl in own["coatls"] if coatl["pieces"]]
            for coatl in own["coatls"]:
                coatl["prophecies"].sort()
                elsewhere += len(coatl["prophecies"])
            elsewhere += len(own["hand"]) + len(own["discarded"])
        fields["deck"] = max(0, facts.NUM_PROPHECIES - elsewhere)

    def drawable(self, data: Any) -> JsonObject:
        """Return what the picture shows of a position."""
        return drawable(data)

    # --- faults

    def targets(self, data: Any, path: str) -> list[str]:
        """Return the pieces and cards of the picture that a fault concerns."""
        match edit.steps_of(path):
            case ["supply", *rest]:
                parts = rest[:1] or PARTS
                return [
                    f"supply:{facts.KIND_OF_PART[part]}:{piece}"
                    for part in parts
                    if part in facts.KIND_OF_PART
                    for piece in _entries(data, f"supply.{part}", COLORS if part != "bodies" else PAIRS)[
                        : facts.SUPPLY_SPACES[part]
                    ]
                ]
            case ["display", *rest]:
                return [f"display:{card}" for card in _entries(data, "display", PROPHECIES, rest)]
            case ["deck"]:
                return ["deck"]
            case ["piles", *rest]:
                tops = [edit.value_at(pile, "top") for pile in edit.entries_at(data, "piles", rest)]
                return [f"pile:{top}" for top in tops if top in TEMPLE_NAMES]
            case ["seats", seat, "stored", *rest]:
                return [
                    f"stored:{seat}:{facts.KIND_OF_PART[part]}:{letter}"
                    for part in (rest[:1] or PARTS)
                    if part in facts.KIND_OF_PART
                    for letter in _entries(data, f"seats[{seat}].stored.{part}", COLORS)
                ]
            case ["seats", seat, "hand" | "shown" | "temples" | "shown_temples" as key, *rest]:
                hand, table = ("hand", PROPHECIES) if key in ("hand", "shown") else ("temples", TEMPLES)
                held = _entries(data, f"seats[{seat}].{hand}", table)
                return [f"hand:{seat}:{card}" for card in _entries(data, f"seats[{seat}].{key}", held, rest)]
            case ["seats", seat, "tokens", *rest] if edit.value_at(data, "options.sacrifice_tokens") is True:
                return [f"token:{seat}:{name}" for name in _entries(data, f"seats[{seat}].tokens", TOKENS, rest)]
            case ["seats", seat, "coatls", int(index), "prophecies", place]:
                cards = _entries(data, f"seats[{seat}].coatls[{index}].prophecies", PROPHECIES, [place])
                return [f"coatl:{seat}:{index + 1}:{card}" for card in cards]
            case ["seats", seat, "coatls", int(index), *_]:
                return [f"coatl:{seat}:{index + 1}"]
            case ["seats", seat, "coatls"]:
                coatls = edit.value_at(data, f"seats[{seat}].coatls")
                number = len(coatls[: facts.MAX_COATLS + 1]) if isinstance(coatls, list) else 0
                return [f"coatl:{seat}:{index + 1}" for index in range(number)]
            case ["closing"]:
                seat, number = edit.value_at(data, "to_move"), edit.value_at(data, "closing")
                return [f"coatl:{seat}:{number}"] * (type(seat) is int and type(number) is int and number > 0)
        return []


def _players(fields: JsonObject) -> int:
    return max(facts.MIN_PLAYERS, min(len(fields["seats"]), facts.MAX_PLAYERS))


def _in_order(letters: Iterable[str]) -> str:
    return "".join(sorted(letters, key=COLORS.index))


def _entries(data: Any, path: str, known: Container[str], index: Sequence[str | int] = ()) -> list[str]:
    """Return the known entries of a list or a string, or the one at the index that `index` begins with."""
    return [entry for entry in edit.entries_at(data, path, index) if isinstance(entry, str) and entry in known]


EDITOR = CoatlEditor()
