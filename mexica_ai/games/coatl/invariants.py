"""The invariants of Coatl positions; each violation has a name and a JSON path.

`check_position` is the main function. It works on the JSON object, its shape already checked. It reports all
violations in one pass and repairs nothing. Those of the memory, the Coatls and the temples are in modules of their
own, `invariants_memory`, `invariants_coatls` and `invariants_temples`, whose functions take the `CoatlChecker`.

Not invariants, because they would need the game's history: how the temples were divided into two piles, and
which prophecies were discarded before the deck was last renewed, if the position does not remember it.
Whether any deal of the cards hidden in a view fits what it remembers is asked once it has become a state.
"""

from collections import Counter

from mexica_ai.game.checker import Checker
from mexica_ai.game.text_forms import SPECTATOR, viewer_name
from mexica_ai.games.coatl import facts
from mexica_ai.games.coatl.facts import COLORS, PARTS
from mexica_ai.games.coatl.invariants_coatls import check_coatls
from mexica_ai.games.coatl.invariants_memory import check_memory
from mexica_ai.games.coatl.invariants_temples import check_temples
from mexica_ai.games.coatl.shape import HIDDEN
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.strict import Findings, quote

MAX_ROUND = 10_000  # far beyond any game, well inside the compiled core's counter

# The random events that may be due, by the phase after them.
EVENTS_BY_PHASE = {
    "keep": (),
    "turn": ("reveal", "refill", "uncover"),
    "drawing": ("deal",),
    "future": ("reveal",),
    "building": ("uncover",),
    "closing": (),
    "over": (),
}


def check_position(data: JsonObject, path: str, findings: Findings) -> None:
    """Check a position of the right shape; see `mexica_ai.game.checker.Checker`."""
    CoatlChecker(data, path, findings).check()


class CoatlChecker(Checker):
    def __init__(self, data: JsonObject, path: str, findings: Findings) -> None:
        super().__init__(data, path, findings)
        self.phase, self.pending = data["phase"], data["pending"]
        self.with_tokens = data["options"]["sacrifice_tokens"]
        # None where `to_move` is no seat; every check that needs a mover is skipped then.
        to_move = data["to_move"]
        self.mover = self.seats[to_move] if 0 <= to_move < len(self.seats) else None

    def check(self) -> None:
        self._check_counters()
        self._check_phase()
        self._check_viewer()
        self._check_supply()
        self._check_pieces()
        for index, seat in enumerate(self.seats):
            self._check_stored(index, seat)
            self._check_hand(index, seat)
            self._check_tokens(index, seat)
            check_coatls(self, index, seat)
        self._check_prophecies()
        self._check_display()
        self._check_discarded()
        check_temples(self)
        self._check_closing()
        self._check_mover()
        self._check_ending()
        check_memory(self)

    def spent(self, seat: JsonObject, token: str) -> bool:
        """Return whether a seat has used a token; False if the game has no tokens."""
        return self.with_tokens and token not in seat["tokens"]

    def is_hidden_from_viewer(self, index: int | None) -> bool:
        return self.data["viewer"] is not None and index != self.data["viewer"]

    # --- counters and phases

    def _check_counters(self) -> None:
        data = self.data
        if self.check_range("players", data["players"], facts.MIN_PLAYERS, facts.MAX_PLAYERS):
            self.check_num_seats()
            self.check_range("to_move", data["to_move"], 0, data["players"] - 1)
            self.check_range("passes", data["passes"], 0, data["players"] - 1)
            if data["viewer"] is not None:
                self.check_range("viewer", data["viewer"], SPECTATOR, data["players"] - 1)
        self.check_range("round", data["round"], 0, MAX_ROUND)
        self.check_range("actions_left", data["actions_left"], 1, 2)
        self.check_range("closing", data["closing"], 0, facts.MAX_COATLS)

    def _check_phase(self) -> None:
        phase = self.phase
        if phase == "keep":
            fixed = {"round": 0, "actions_left": 1, "passes": 0, "ending": None}
        elif phase == "over":
            fixed = {"to_move": 0, "actions_left": 1, "passes": 0}
        elif phase != "turn" or self.pending:
            fixed = {"passes": 0}  # something was done
        else:
            fixed = {}
        if phase != "closing":
            fixed["closing"] = 0
        for key, value in fixed.items():
            if self.data[key] != value:
                self.add(
                    key,
                    "PHASE_MISMATCH",
                    f"given {quote(self.data[key])}; expected {quote(value)} in phase {phase}",
                )
        for key in ("round", "closing") if phase == "closing" else ("round",):
            if phase != "keep" and self.data[key] == 0:
                self.add(key, "PHASE_MISMATCH", f"given 0; expected 1 or more in phase {phase}")
        if self.pending and self.pending not in EVENTS_BY_PHASE[phase]:
            allowed = "".join(f"{quote(event)} or " for event in EVENTS_BY_PHASE[phase])
            self.add(
                "pending",
                "PENDING_MISMATCH",
                f'given {quote(self.pending)}; expected {allowed}"" in phase {phase}',
            )

    def _check_viewer(self) -> None:
        """Without a viewer all is known; a viewer knows its own cards, and those that the others showed."""
        viewer = self.data["viewer"]
        for index, seat in enumerate(self.seats):
            hidden_from = self.is_hidden_from_viewer(index)
            for key, shown_key in (("hand", "shown"), ("discarded", None), ("temples", "shown_temples")):
                where = f"seats[{index}].{key}"
                known = Counter(card for card in seat[key] if card != HIDDEN)
                if not hidden_from and HIDDEN in seat[key]:
                    who = "without a viewer" if viewer is None else "of the viewer's own"
                    self.add(where, "VIEWER_MISMATCH", f"has hidden cards; expected every card to be known {who}")
                if shown_key is None:
                    if hidden_from and known:
                        self.add(
                            where,
                            "VIEWER_MISMATCH",
                            f'has {_list(known)}; expected only "?", since {viewer_name(viewer)} has not seen them',
                        )
                    continue
                shown = Counter(seat[shown_key])
                if not shown <= known:
                    self.add(
                        f"seats[{index}].{shown_key}",
                        "SHOWN_NOT_HELD",
                        f"has {_list(shown - known)}, which {key} has not; expected a part of it",
                    )
                if hidden_from and not known <= shown:
                    self.add(
                        where,
                        "VIEWER_MISMATCH",
                        f'has {_list(known - shown)}; expected "?" for what {viewer_name(viewer)} has not seen',
                    )

    # --- pieces

    def _check_supply(self) -> None:
        for part, spaces in facts.SUPPLY_SPACES.items():
            number = len(self.data["supply"][part])
            if number > spaces:
                what = "pairs" if part == "bodies" else part
                self.add(f"supply.{part}", "SUPPLY_SPACES", f"has {number} {what}; expected {spaces} at most")

    def _check_pieces(self) -> None:
        """Check the pieces of each kind and colour, the pairs, and whether a refill is due."""
        used = {part: Counter("".join(self.data["supply"][part])) for part in PARTS}
        for index, seat in enumerate(self.seats):
            held = {part: Counter(seat["stored"][part]) for part in PARTS}
            for coatl in seat["coatls"]:
                for part, pieces in facts.pieces_of(coatl).items():
                    held[part].update(pieces)
            # Bodies come in pairs, and never leave a seat.
            if held["bodies"].total() % 2:
                self.add(
                    f"seats[{index}]",
                    "BODY_PAIRS",
                    f"has {held['bodies'].total()} body pieces with its Coatls'; expected an even number",
                )
            for part in PARTS:
                used[part].update(held[part])
        left = {}
        for part, number in facts.PIECES_A_COLOR.items():
            for color in COLORS:
                if used[part][color] > number:
                    self.add(
                        "supply",
                        "PIECES_COUNT",
                        f"shows {used[part][color]} {part} of colour {color} with those of the seats; "
                        f"expected {number} at most",
                    )
            left[part] = number * len(COLORS) - used[part].total()
        self._check_refill(left)
        self.bodies_are_exhausted = left["bodies"] <= 0 and not self.data["supply"]["bodies"]

    def _check_refill(self, left: dict[str, int]) -> None:
        """The supply is refilled when its bodies, or its heads and tails, run out, as far as the bags go."""
        supply = self.data["supply"]
        can_fill = [
            part
            for part, spaces in facts.SUPPLY_SPACES.items()
            if len(supply[part]) < spaces and left[part] >= (2 if part == "bodies" else 1)
        ]
        empty = not supply["bodies"] or not (supply["heads"] or supply["tails"])
        if self.phase == "keep":
            if can_fill:
                self.add("supply", "SUPPLY_NOT_FULL", f"lacks {' and '.join(can_fill)}; expected it full")
        elif self.pending == "refill":
            if not can_fill:
                self.add(
                    "pending",
                    "PENDING_MISMATCH",
                    'given "refill"; expected a space to fill and a piece for it',
                )
            elif not empty and not any(self.spent(seat, "perfect") for seat in self.seats):
                self.add(
                    "pending",
                    "PENDING_MISMATCH",
                    'given "refill"; expected the bodies, or the heads and tails, to have run out, or a '
                    "token perfect to be spent",
                )
        elif self.phase != "over" and empty and can_fill:
            self.add(
                "supply",
                "SUPPLY_NOT_FULL",
                f'has run out, and the bags still have {" and ".join(can_fill)}; expected pending "refill"',
            )

    def _check_stored(self, index: int, seat: JsonObject) -> None:
        number = sum(len(seat["stored"][part]) for part in PARTS)
        if number > facts.CAPACITY:
            self.add(
                f"seats[{index}].stored",
                "CAPACITY",
                f"has {number} pieces; expected {facts.CAPACITY} at most",
            )
        if number and self.phase == "keep":
            self.add(f"seats[{index}].stored", "PHASE_MISMATCH", "has pieces; expected none in phase keep")

    # --- hands and tokens

    def _check_hand(self, index: int, seat: JsonObject) -> None:
        number = len(seat["hand"])
        if self.phase == "keep":
            self._check_kept(index, seat)
            return
        limit = facts.HAND_LIMIT
        if self.pending == "deal" and seat is self.mover:
            limit -= 1  # the card that it has drawn is not in its hand yet
        if number > limit:
            self.add(f"seats[{index}].hand", "HAND_LIMIT", f"has {number} prophecies; expected {limit} at most")
        most = facts.num_dealt(index) + facts.HAND_LIMIT * self.spent(seat, "future")
        if len(seat["discarded"]) > most:
            self.add(
                f"seats[{index}].discarded",
                "DISCARDED_COUNT",
                f"has {len(seat['discarded'])} cards; expected {most} at most, at the setup and by a token",
            )

    def _check_kept(self, index: int, seat: JsonObject) -> None:
        dealt, held, away = facts.num_dealt(index), len(seat["hand"]), len(seat["discarded"])
        has_kept = index < self.data["to_move"]
        if held + away != dealt or (held > facts.MAX_KEPT if has_kept else away):
            kept = f", of which {facts.MAX_KEPT} at most are kept" if has_kept else " and none discarded yet"
            self.add(
                f"seats[{index}].hand",
                "KEPT_COUNT",
                f"has {held} prophecies, and {away} discarded; expected {dealt} dealt to this seat{kept}",
            )
        for key in ("shown", "shown_temples", "coatls"):
            if seat[key]:
                self.add(
                    f"seats[{index}].{key}",
                    "PHASE_MISMATCH",
                    f"has {len(seat[key])} entries; expected none in phase keep",
                )

    def _check_tokens(self, index: int, seat: JsonObject) -> None:
        where, tokens = f"seats[{index}].tokens", seat["tokens"]
        if not self.with_tokens:
            if tokens:
                self.add(
                    where,
                    "TOKENS",
                    f"has {' '.join(tokens)}; expected none without the option sacrifice_tokens",
                )
        elif len(set(tokens)) < len(tokens):
            self.add(where, "TOKENS", f"has {' '.join(tokens)}; expected each token once at most")
        elif self.phase == "keep" and len(tokens) < len(facts.TOKENS):
            self.add(where, "PHASE_MISMATCH", f"has {len(tokens)} tokens; expected all three in phase keep")
        if self.phase == "future" and seat is self.mover and not self.spent(seat, "future"):
            self.add(where, "TOKENS", "has future, or there are no tokens; expected it spent in phase future")

    # --- cards

    def _check_prophecies(self) -> None:
        """Check the copies of each face over everything visible, and the size of the deck."""
        data = self.data
        cards = Counter(data["display"] + data["discarded"])
        for seat in self.seats:
            cards.update(seat["hand"] + seat["discarded"])
            for coatl in seat["coatls"]:
                cards.update(coatl["prophecies"])
        elsewhere = cards.total()
        del cards[HIDDEN]
        for face, copies in sorted(cards.items()):
            if copies > facts.COPIES[face]:
                self.add(
                    "display",
                    "CARD_COPIES",
                    f"{face} is there {copies} times, over display, hands, discards and Coatls; "
                    f"expected {facts.COPIES[face]} at most",
                )
        expected = facts.NUM_PROPHECIES - elsewhere
        if data["deck"] != expected or expected < 0:
            self.add(
                "deck",
                "DECK_COUNT",
                f"given {quote(data['deck'])}; expected {max(expected, 0)}, since {elsewhere} of the "
                f"{facts.NUM_PROPHECIES} prophecies are elsewhere",
            )

    def _check_display(self) -> None:
        """The display has six cards unless some were drawn in this turn, or none are left to refill it."""
        data, number = self.data, len(self.data["display"])
        missing = facts.NUM_DISPLAYED - number
        away = len(data["discarded"]) + sum(len(seat["discarded"]) for seat in self.seats)
        can_refill = data["deck"] + away > 0
        if missing < 0:
            self.add("display", "DISPLAY_COUNT", f"has {number} cards; expected {facts.NUM_DISPLAYED} at most")
        elif self.pending == "reveal":
            if not missing or not can_refill:
                self.add(
                    "pending",
                    "PENDING_MISMATCH",
                    'given "reveal"; expected a card to be missing and one for it',
                )
            elif self.phase == "future" and number:
                self.add("display", "DISPLAY_COUNT", f"has {number} cards; expected none before future's reveal")
        elif missing and self.phase in ("keep", "turn", "building", "closing"):
            if can_refill:
                self.add("display", "DISPLAY_COUNT", f"has {number} cards; expected {facts.NUM_DISPLAYED}")
        elif missing and self.phase == "future" and data["deck"]:
            self.add(
                "display",
                "DISPLAY_COUNT",
                f"has {number} cards; expected {facts.NUM_DISPLAYED} unless the deck is empty",
            )
        elif (
            # Without `future` in this turn the deck only shrinks, and what is missing was drawn.
            self.phase == "drawing"
            and self.mover
            and not self.spent(self.mover, "future")
            and can_refill
            and missing > len(self.mover["shown"])
        ):
            self.add(
                "display",
                "DISPLAY_COUNT",
                f"has {number} cards; expected the {missing} missing ones in the hand that drew them",
            )
        if self.pending == "deal" and not can_refill:
            self.add("pending", "PENDING_MISMATCH", 'given "deal"; expected a card to be left')

    def _check_discarded(self) -> None:
        """Only `future` discards cards for all to see: the display's, six at most."""
        number = len(self.data["discarded"])
        most = facts.NUM_DISPLAYED * sum(self.spent(seat, "future") for seat in self.seats)
        if number > most:
            self.add(
                "discarded",
                "DISCARDED_COUNT",
                f"has {number} cards; expected {most} at most, {facts.NUM_DISPLAYED} a token future spent",
            )

    # --- the turn and the end

    def _check_closing(self) -> None:
        if self.phase != "closing" or self.mover is None:
            return
        number = self.data["closing"]
        if not 1 <= number <= len(self.mover["coatls"]):
            if number > 0:
                self.add("closing", "CLOSING_MISMATCH", f"given {number}; expected a Coatl of the seat to move")
            return
        coatl = self.mover["coatls"][number - 1]
        if coatl["closed"] or not (coatl["head"] and coatl["tail"]):
            self.add(
                "closing",
                "CLOSING_MISMATCH",
                f"given {number}; expected a Coatl with head and tail that is not closed",
            )
        elif (
            # The piece that completes a Coatl is legal only if a prophecy is there or can be played.
            not coatl["prophecies"]
            and len(coatl["pieces"]) <= facts.MAX_PIECES  # else it is refused for that, and matching would take long
            and not any(facts.prophecy_points(face, coatl["pieces"]) for face in self._possible(self.mover["hand"]))
        ):
            self.add(
                "closing",
                "CLOSING_MISMATCH",
                f"given {number}, without a prophecy; expected one in hand that can be played on it",
            )

    def _possible(self, hand: list[str]) -> set[str]:
        """Return the prophecies that a hand may hold."""
        if HIDDEN not in hand:
            return set(hand)
        visible = Counter(self.data["display"] + self.data["discarded"])
        for seat in self.seats:
            visible.update(seat["hand"] + seat["discarded"])
            for coatl in seat["coatls"]:
                visible.update(coatl["prophecies"])
        return {*hand, *(Counter(facts.COPIES) - visible)} - {HIDDEN}

    def _check_mover(self) -> None:
        """Check what the seat to move must have done to reach this phase."""
        if self.mover is None:
            return
        where = f"seats[{self.data['to_move']}]"
        if self.phase == "drawing" and not self.pending and not self.mover["hand"]:
            self.add(f"{where}.hand", "PHASE_MISMATCH", "is empty; expected a card in phase drawing")
        if self.phase == "building" and not self.mover["coatls"]:
            self.add(f"{where}.coatls", "PHASE_MISMATCH", "is empty; expected a Coatl in phase building")
        if self.pending == "uncover":
            if self.phase == "building" and not any(coatl["temple"] for coatl in self.mover["coatls"]):
                self.add(
                    "pending",
                    "PENDING_MISMATCH",
                    'given "uncover"; expected a temple on a Coatl of the seat to move in phase building',
                )
            if self.phase == "turn" and not any(self.spent(seat, "promise") for seat in self.seats):
                self.add("pending", "PENDING_MISMATCH", 'given "uncover"; expected a token promise to be spent')

    def _check_ending(self) -> None:
        ending = self.data["ending"]
        thirds = [index for index, seat in enumerate(self.seats) if _num_closed(seat) >= facts.MAX_COATLS]
        if ending is None:
            if thirds:
                self._add_ending(f"given null; expected it begun, since seat {thirds[0]} has three Coatls")
            # The end is declared after the refill.
            elif self.bodies_are_exhausted and self.pending != "refill" and self.phase != "keep":
                self._add_ending("given null; expected it begun, since no body pieces are left")
        elif ending["cause"] == "third":
            self._check_third(ending["seat"], thirds)
        else:
            self._check_bodies(ending["last_round"])
        if ending is not None and self.phase == "turn" and self.data["passes"]:
            self.add(
                "passes",
                "ENDING_MISMATCH",
                f"given {quote(self.data['passes'])}; expected 0 once the end has begun",
            )
        if self.data["actions_left"] == 2 and self.phase != "over":
            is_later = ending is not None and ending["cause"] == "third" and self.data["to_move"] > ending["seat"]
            if not is_later:
                self.add(
                    "actions_left",
                    "ENDING_MISMATCH",
                    "given 2; expected 1 unless a seat before the one to move has completed its third Coatl",
                )

    def _check_third(self, seat: int, thirds: list[int]) -> None:
        if not self.check_range("ending.seat", seat, 0, len(self.seats) - 1):
            return
        if seat not in thirds:
            self._add_ending(f"given seat {seat}; expected one with three closed Coatls", ".seat")
        if self.phase not in ("over", "building") and self.data["to_move"] == seat:
            self.add(
                "to_move",
                "ENDING_MISMATCH",
                f"given {seat}, which has completed its third Coatl; expected it to have no more turns",
            )

    def _check_bodies(self, last_round: int) -> None:
        if not self.bodies_are_exhausted:
            self._add_ending("given cause bodies; expected no body pieces on the supply board and in the bag")
        if not self.check_range("ending.last_round", last_round, 2, MAX_ROUND):
            return
        # A seat declares it by ending its turn: those after it, so not seat 0, may be in the round before the last one.
        # Once it is over the counter may stand one further.
        lowest, highest = last_round - (self.data["to_move"] > 0), last_round + (self.phase == "over")
        if not lowest <= self.data["round"] <= highest:
            expected = highest if lowest == highest else f"{lowest} to {highest}"
            self.add(
                "round",
                "ENDING_MISMATCH",
                f"given {quote(self.data['round'])}; expected {expected}, since the last round is {last_round}",
            )

    def _add_ending(self, message: str, key: str = "") -> None:
        self.add(f"ending{key}", "ENDING_MISMATCH", message)


def _num_closed(seat: JsonObject) -> int:
    return sum(coatl["closed"] for coatl in seat["coatls"])


def _list(counter: Counter[str]) -> str:
    return " ".join(sorted(counter.elements())) or "none"
