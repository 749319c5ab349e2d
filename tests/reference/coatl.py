"""All rules of Coatl, written for reading: the yardstick of the compiled rules.

Works on plain Python data, JSON positions and action strings such as ``add 1 left G``. Rules are those of the
rulebook; D1-D15 are the project's decisions where it leaves a choice open. It imports nothing of the project
and prefers clarity to speed. Start at `State.legal_actions` and `State.apply`; what cards are worth is in
`coatl_matching`, what a seat knows at `State.consistent`.

Cards and pieces lie in lists that only count how often something is there; JSON sorts them.
"""

import copy
import functools
import itertools
import json
from collections import Counter
from dataclasses import dataclass, field

from reference.coatl_matching import (
    CARDS,
    PROPHECIES,
    TEMPLES,
    Ends,
    prophecy_points,
    temple_points,
)

COLOURS = CARDS["colours"]  # in canonical order
KINDS = ("head", "tail", "body")
PAIRS = [one + other for one, other in itertools.combinations_with_replacement(COLOURS, 2)]
ALL_PIECES = {kind: [colour for colour in COLOURS for _ in range(CARDS["pieces_per_colour"][kind])] for kind in KINDS}
ALL_PROPHECIES = [face for face, card in PROPHECIES.items() for _ in range(card["copies"])]
ALL_TEMPLES = list(TEMPLES)

STORED_MAX = 8
HEAD_SPACES, TAIL_SPACES, BODY_SPACES = 2, 2, 6
DISPLAY_SIZE, HAND_MAX = 6, 5
DEALT, KEPT_MAX = [3, 4, 5, 6], 3  # dealt by seat
TOKENS = ["perfect", "future", "promise"]
UNFINISHED_MAX, COATLS_MAX = 2, 3
PROPHECIES_MAX = 4  # on one Coatl
PIECES_MAX = 64  # of one Coatl (D10)
UNKNOWN = "?"
UNSEEN_BY_OTHERS = ("discard", "deal", "private")  # entries of the memory


@dataclass
class Coatl:
    """A Coatl, finished or not."""

    pieces: str = ""  # colours from left (head) to right (tail)
    head: bool = False
    tail: bool = False
    prophecies: list[str] = field(default_factory=list)
    temple: str = ""
    closed: bool = False

    @property
    def ends(self) -> tuple[bool, bool]:
        """Whether the left and the right end are open."""
        return not self.head, not self.tail

    def scores(self) -> int:
        """Return the points of a closed Coatl."""
        points = sum(prophecy_points(card, self.pieces) for card in self.prophecies)
        return points + (temple_points(self.temple, self.pieces) if self.temple else 0)

    def num_cards(self) -> int:
        return len(self.prophecies) + bool(self.temple)


@dataclass
class Seat:
    """The cards and pieces of a seat, on the table and in hand."""

    stored: dict[str, list[str]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    hand: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)  # of the hand: what everybody knows to be in it
    discarded: list[str] = field(default_factory=list)  # unseen by the others
    temples: list[str] = field(default_factory=list)
    shown_temples: list[str] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    coatls: list[Coatl] = field(default_factory=list)

    def room(self) -> int:
        return STORED_MAX - sum(len(pieces) for pieces in self.stored.values())

    def unfinished(self) -> list[tuple[int, Coatl]]:
        """Return the unfinished Coatls with their numbers."""
        return [(number, coatl) for number, coatl in enumerate(self.coatls, start=1) if not coatl.closed]


@dataclass
class State:
    """A game at one moment, with all that is hidden, and a log of how cards moved."""

    players: int
    sacrifice_tokens: bool
    strict_ends: bool
    phase: str
    pending: str
    round: int
    to_move: int
    actions_left: int
    passes: int
    ending: dict | None
    closing: int
    heads: list[str]  # of the supply board
    tails: list[str]
    bodies: list[str]  # pairs
    bags: dict[str, list[str]]
    display: list[str]
    deck: list[str]
    discarded: list[str]  # publicly
    piles: list[list]  # [temple on top or "", number of cards below]
    lower_temples: list[str]  # those below the tops
    seats: list[Seat]
    memory: list[tuple] = field(default_factory=list)  # of the position: entries (word, seat or None, card)
    start: dict = field(default_factory=dict)  # the position with which the log begins
    log: list[tuple] = field(default_factory=list)

    # Setup, copies, JSON.

    @classmethod
    def new_game(cls, players: int, rng, sacrifice_tokens: bool = True, strict_ends: bool = False) -> "State":
        """Return a game at its start; the random generator is a `random.Random`."""
        bags = {kind: list(pieces) for kind, pieces in ALL_PIECES.items()}
        deck, temples = list(ALL_PROPHECIES), list(ALL_TEMPLES)
        for pieces in (*bags.values(), deck, temples):
            rng.shuffle(pieces)
        display = _deal(deck, DISPLAY_SIZE)
        seats = [
            Seat(
                hand=_deal(deck, DEALT[seat]),
                temples=_deal(temples, 1),
                tokens=list(TOKENS) if sacrifice_tokens else [],
            )
            for seat in range(players)
        ]
        tops = _deal(temples, 2)
        smaller = len(temples) // 2
        state = cls(
            players=players,
            sacrifice_tokens=sacrifice_tokens,
            strict_ends=strict_ends,
            phase="keep",
            pending="",
            round=0,
            to_move=0,
            actions_left=1,
            passes=0,
            ending=None,
            closing=0,
            heads=_deal(bags["head"], HEAD_SPACES),
            tails=_deal(bags["tail"], TAIL_SPACES),
            bodies=[_pair(*_deal(bags["body"], 2)) for _ in range(BODY_SPACES)],
            bags=bags,
            display=display,
            deck=deck,
            discarded=[],
            piles=[[tops[0], smaller], [tops[1], len(temples) - smaller]],
            lower_temples=temples,
            seats=seats,
        )
        state.start = state.to_json()
        return state

    @classmethod
    def from_json(cls, position: dict) -> "State":
        """Return the state of a full position; pieces and cards that are nowhere else count as hidden."""
        seats = [
            Seat(
                stored={kind: list(seat["stored"][_plural(kind)]) for kind in KINDS},
                hand=list(seat["hand"]),
                shown=list(seat["shown"]),
                discarded=list(seat["discarded"]),
                temples=list(seat["temples"]),
                shown_temples=list(seat["shown_temples"]),
                tokens=list(seat["tokens"]),
                coatls=[Coatl(**{**coatl, "prophecies": list(coatl["prophecies"])}) for coatl in seat["coatls"]],
            )
            for seat in position["seats"]
        ]
        supply, coatls = position["supply"], [coatl for seat in seats for coatl in seat.coatls]
        state = cls(
            players=position["players"],
            **position["options"],
            phase=position["phase"],
            pending=position["pending"],
            round=position["round"],
            to_move=position["to_move"],
            actions_left=position["actions_left"],
            passes=position["passes"],
            closing=position["closing"],
            ending=copy.deepcopy(position["ending"]),
            heads=list(supply["heads"]),
            tails=list(supply["tails"]),
            bodies=list(supply["bodies"]),
            bags={},
            display=list(position["display"]),
            deck=[],
            discarded=list(position["discarded"]),
            piles=[[pile["top"], pile["below"]] for pile in position["piles"]],
            lower_temples=[],
            seats=seats,
            memory=[_entry_of(text) for text in position.get("memory", [])],
        )
        placed = _placed_pieces(coatls)
        for kind in KINDS:
            outside = [state.heads, state.tails, "".join(state.bodies)][KINDS.index(kind)]
            state.bags[kind] = _without(ALL_PIECES[kind], placed[kind], outside, *(seat.stored[kind] for seat in seats))
        state.deck = _without(
            ALL_PROPHECIES,
            state.display,
            state.discarded,
            *(seat.hand for seat in seats),
            *(seat.discarded for seat in seats),
            *(coatl.prophecies for coatl in coatls),
        )
        state.lower_temples = _without(
            ALL_TEMPLES,
            [pile[0] for pile in state.piles if pile[0]],
            *(seat.temples for seat in seats),
            [coatl.temple for coatl in coatls if coatl.temple],
        )
        if len(state.deck) != position["deck"]:
            raise ValueError(f"{position['deck']} cards in the deck, but {len(state.deck)} are nowhere else")
        if len(state.lower_temples) != sum(below for _, below in state.piles):
            raise ValueError(f"{len(state.lower_temples)} temples must lie below the open ones")
        for seat in seats:
            if not _contains(seat.hand, seat.shown) or not _contains(seat.temples, seat.shown_temples):
                raise ValueError("a card was shown that is not in hand")
        state.start = state.to_json()
        return state

    def to_json(self, viewer: int | None = None) -> dict:
        """Return the position; a viewer sees "?" for what is hidden from that seat."""

        def seen(seat, cards, known):
            if viewer is None or viewer == seat:
                return sorted(cards)
            return sorted(known) + [UNKNOWN] * (len(cards) - len(known))

        remembered = [
            (word, seat, UNKNOWN if word in UNSEEN_BY_OTHERS and viewer not in (None, seat) else card)
            for word, seat, card in self.memory
        ]
        memory = [" ".join(str(part) for part in entry if part is not None) for entry in remembered]
        return {
            "game": "coatl",
            "version": 1,
            "players": self.players,
            "viewer": viewer,
            "options": {"sacrifice_tokens": self.sacrifice_tokens, "strict_ends": self.strict_ends},
            "phase": self.phase,
            "pending": self.pending,
            "round": self.round,
            "to_move": self.to_move,
            "actions_left": self.actions_left,
            "passes": self.passes,
            "ending": copy.deepcopy(self.ending),
            "closing": self.closing,
            "supply": {
                "heads": _word(self.heads),
                "tails": _word(self.tails),
                "bodies": sorted(self.bodies, key=PAIRS.index),
            },
            "display": sorted(self.display),
            "deck": len(self.deck),
            "discarded": sorted(self.discarded),
            "piles": [{"top": top, "below": below} for top, below in self.piles],
            "seats": [
                {
                    "stored": {_plural(kind): _word(seat.stored[kind]) for kind in KINDS},
                    "hand": seen(number, seat.hand, seat.shown),
                    "shown": sorted(seat.shown),
                    "discarded": seen(number, seat.discarded, []),
                    "temples": seen(number, seat.temples, seat.shown_temples),
                    "shown_temples": sorted(seat.shown_temples),
                    "tokens": sorted(seat.tokens, key=TOKENS.index),
                    "coatls": [
                        {
                            "pieces": coatl.pieces,
                            "head": coatl.head,
                            "tail": coatl.tail,
                            "prophecies": sorted(coatl.prophecies),
                            "temple": coatl.temple,
                            "closed": coatl.closed,
                        }
                        for coatl in seat.coatls
                    ],
                }
                for number, seat in enumerate(self.seats)
            ],
            **({"memory": memory} if memory else {}),
        }

    def view(self, seat: int) -> dict:
        """Return the position as a seat may see it."""
        return self.to_json(viewer=seat)

    def copy(self) -> "State":
        return copy.deepcopy(self)

    # Results.

    @property
    def is_over(self) -> bool:
        return self.phase == "over"

    def scores(self) -> list[int]:
        """Return the points of the complete Coatls of each seat."""
        return [sum(coatl.scores() for coatl in _closed(seat)) for seat in self.seats]

    def winners(self) -> list[int]:
        """Return who wins: most points, then most cards, then the best Coatl, then shared; none before."""
        if not self.is_over:
            return []
        results = [
            (
                sum(coatl.scores() for coatl in _closed(seat)),
                sum(coatl.num_cards() for coatl in _closed(seat)),
                max((coatl.scores() for coatl in _closed(seat)), default=0),
            )
            for seat in self.seats
        ]
        return [seat for seat, result in enumerate(results) if result == max(results)]

    # What the seat to move may do.

    def legal_actions(self) -> list[str]:
        """Return the actions of the seat to move, sorted; none while a random event is due or at the end."""
        if self.pending or self.is_over:
            return []
        return sorted(getattr(self, f"_{self.phase}_actions")())

    def _keep_actions(self) -> set[str]:
        """D1: any number up to three."""
        hand = sorted(self.seats[self.to_move].hand)
        return {
            " ".join(["keep", *cards])
            for number in range(KEPT_MAX + 1)
            for cards in itertools.combinations(hand, number)
        }

    def _turn_actions(self) -> set[str]:
        actions = self._takes() | self._draws() | self._steps()
        second_of_two = self._has_two_actions(self.to_move) and self.actions_left == 1
        if not actions or second_of_two:
            actions |= {"pass"}  # D9
        return actions | self._token_actions()

    def _drawing_actions(self) -> set[str]:
        return self._draws() | {"end"}

    def _future_actions(self) -> set[str]:
        return self._draws() | {f"discard {card}" for card in self.seats[self.to_move].hand} | {"end"}

    def _building_actions(self) -> set[str]:
        return self._steps() | {"end"}

    def _closing_actions(self) -> set[str]:
        """Prophecies, then at most one temple; the first prophecy is owed."""
        seat, number = self.seats[self.to_move], self.closing
        coatl = seat.coatls[number - 1]
        actions = self._plays(number, coatl)
        if coatl.prophecies:
            actions |= {
                f"temple {number} {temple}"
                for temple in [*seat.temples, *self._open_temples()]
                if temple_points(temple, coatl.pieces)
            }
            actions |= {f"close {number}"}
        return actions

    def _takes(self) -> set[str]:
        """Action 1: the content of one space, if there is room for all of it."""
        room = self.seats[self.to_move].room()
        actions = set()
        if room >= 1:
            actions |= {f"take head {colour}" for colour in self.heads}
            actions |= {f"take tail {colour}" for colour in self.tails}
        if room >= 2:
            actions |= {f"take body {pair}" for pair in self.bodies}
        return actions

    def _draws(self) -> set[str]:
        """Action 2, card by card (D2)."""
        if len(self.seats[self.to_move].hand) >= HAND_MAX:
            return set()
        blind = {"draw deck"} if self._num_drawable() else set()
        return blind | {f"draw {card}" for card in self.display}

    def _steps(self) -> set[str]:
        """Action 3: one step of building."""
        seat = self.seats[self.to_move]
        actions = set()
        if len(seat.unfinished()) < UNFINISHED_MAX and len(seat.coatls) < COATLS_MAX:  # D4
            actions |= {f"start {kind} {colour}" for kind in KINDS for colour in seat.stored[kind]}
        for number, coatl in seat.unfinished():
            if len(coatl.pieces) < PIECES_MAX:
                if self._may_add_end(coatl.head, coatl.tail, coatl):
                    actions |= {
                        f"add {number} head {colour}"
                        for colour in seat.stored["head"]
                        if self._may_close(coatl, colour + coatl.pieces, closes=coatl.tail)
                    }
                if self._may_add_end(coatl.tail, coatl.head, coatl):
                    actions |= {
                        f"add {number} tail {colour}"
                        for colour in seat.stored["tail"]
                        if self._may_close(coatl, coatl.pieces + colour, closes=coatl.head)
                    }
                for side, is_open in zip(("left", "right"), coatl.ends, strict=True):
                    if is_open:
                        actions |= {f"add {number} {side} {colour}" for colour in seat.stored["body"]}
            actions |= self._plays(number, coatl)
        return actions

    def _may_add_end(self, has_this: bool, has_other: bool, coatl: Coatl) -> bool:
        """Return whether a head (tail) may be added: one of each, never directly on a tail (head)."""
        is_lone_other = has_other and len(coatl.pieces) == 1
        return not has_this and not is_lone_other

    def _may_close(self, coatl: Coatl, word: str, *, closes: bool) -> bool:
        """Return whether a card is on the Coatl, or can be played at once on it as it will be."""
        return (
            not closes
            or bool(coatl.prophecies)
            or any(prophecy_points(card, word) for card in self.seats[self.to_move].hand)
        )

    def _plays(self, number: int, coatl: Coatl) -> set[str]:
        """Return the ways to play a prophecy on a Coatl: at most four, all different, the first level met."""
        if len(coatl.prophecies) >= PROPHECIES_MAX:
            return set()
        ends = Ends(*coatl.ends, self.strict_ends)
        return {
            f"play {number} {card}"
            for card in self.seats[self.to_move].hand
            if card not in coatl.prophecies and prophecy_points(card, coatl.pieces, ends)
        }

    def _token_actions(self) -> set[str]:
        """Sacrifice tokens; they replace a normal action (D13)."""
        seat = self.seats[self.to_move]
        actions = set()
        if "perfect" in seat.tokens:
            if seat.room() >= 1:
                actions |= {f"perfect head {colour}" for colour in self.bags["head"]}
                actions |= {f"perfect tail {colour}" for colour in self.bags["tail"]}
            if seat.room() >= 2:
                actions |= {f"perfect body {pair}" for pair in PAIRS if _contains(self.bags["body"], pair)}
        if "future" in seat.tokens:
            actions |= {"future"}
        if "promise" in seat.tokens:
            actions |= {f"promise {temple}" for temple in self._open_temples()}
        return actions

    def _open_temples(self) -> list[str]:
        return [top for top, _ in self.piles if top]

    def _num_drawable(self) -> int:
        """Return how many prophecies can be drawn, those that a renewal brings back included (D11)."""
        return len(self.deck) + len(self.discarded) + sum(len(seat.discarded) for seat in self.seats)

    def _has_two_actions(self, seat: int) -> bool:
        """Return whether the last turn of a seat has two actions: those after the one with three Coatls."""
        return self.ending is not None and self.ending["cause"] == "third" and seat > self.ending["seat"]

    # What an action does.

    def apply(self, text: str) -> None:
        """Play an action of the seat to move, or let the random event that is due happen.

        Raises
        ------
        ValueError
            The action is not legal here, or the event cannot happen so.
        """
        if self.pending:
            if not self.is_possible_event(text):
                raise ValueError(f"{self.pending} is due, and cannot be {text!r}")
        elif text not in self.legal_actions():
            raise ValueError(f"not legal here: {text!r}")
        verb, *operands = text.split()
        if not self.pending and verb != "pass":
            self.passes = 0
        getattr(self, f"_apply_{verb}")(*operands)

    def _apply_keep(self, *kept) -> None:
        seat = self.seats[self.to_move]
        seat.discarded = _without(seat.hand, kept)
        seat.hand = list(kept)
        self._note(seat.discarded, f"hand {self.to_move}", f"discards {self.to_move}", [self.to_move])
        self.to_move += 1
        if self.to_move == self.players:
            self.to_move, self.phase, self.round = 0, "turn", 1

    def _apply_take(self, kind, colours) -> None:
        {"head": self.heads, "tail": self.tails, "body": self.bodies}[kind].remove(colours)
        self.seats[self.to_move].stored[kind] += colours
        runs_out = not self.bodies or not (self.heads or self.tails)
        self._end_action("refill" if runs_out and self._refillable() else "")
        self._check_bodies()

    def _apply_perfect(self, kind, colours) -> None:
        seat = self.seats[self.to_move]
        seat.tokens.remove("perfect")
        self.bags[kind] = _without(self.bags[kind], colours)
        seat.stored[kind] += colours
        self._end_action("refill" if self._refillable() else "")
        self._check_bodies()

    def _apply_draw(self, card) -> None:
        self.phase = "drawing"
        if card == "deck":
            self.pending = "deal"
            return
        self.display.remove(card)
        self.seats[self.to_move].hand.append(card)
        self.seats[self.to_move].shown.append(card)
        self._note([card], "display", f"hand {self.to_move}", self._everybody())

    def _apply_future(self) -> None:
        self.seats[self.to_move].tokens.remove("future")
        self._note(self.display, "display", "public", self._everybody())
        self.discarded += self.display
        self.display = []
        self.phase, self.pending = "future", "reveal" if self._num_drawable() else ""

    def _apply_discard(self, card) -> None:
        seat = self.seats[self.to_move]
        seat.hand.remove(card)
        seat.discarded.append(card)
        # The others do not see which card goes: of each face one copy may be gone.
        for shown in sorted(set(seat.shown)):
            self.memory.append(("unsure", self.to_move, shown))
        self._remember("discard", self.to_move, card)
        seat.shown = list((Counter(seat.shown) - Counter(set(seat.shown))).elements())
        self._note([card], f"hand {self.to_move}", f"discards {self.to_move}", [self.to_move])

    def _apply_promise(self, temple) -> None:
        seat = self.seats[self.to_move]
        seat.tokens.remove("promise")
        seat.temples.append(temple)
        seat.shown_temples.append(temple)
        self._end_action(self._take_off_pile(temple))

    def _take_off_pile(self, temple: str) -> str:
        """Take an open temple away; return the event that follows."""
        pile = next(pile for pile in self.piles if pile[0] == temple)
        pile[0] = ""
        return "uncover" if pile[1] else ""

    def _apply_start(self, kind, colour) -> None:
        seat = self.seats[self.to_move]
        seat.stored[kind].remove(colour)
        seat.coatls.append(Coatl(pieces=colour, head=kind == "head", tail=kind == "tail"))
        self.phase = "building"

    def _apply_add(self, number, where, colour) -> None:
        seat = self.seats[self.to_move]
        coatl = seat.coatls[int(number) - 1]
        seat.stored[where if where in ("head", "tail") else "body"].remove(colour)
        coatl.pieces = colour + coatl.pieces if where in ("head", "left") else coatl.pieces + colour
        coatl.head = coatl.head or where == "head"
        coatl.tail = coatl.tail or where == "tail"
        self.phase = "building"
        if coatl.head and coatl.tail:
            self.phase, self.closing = "closing", int(number)

    def _apply_play(self, number, card) -> None:
        seat = self.seats[self.to_move]
        seat.hand.remove(card)
        if card in seat.shown:
            seat.shown.remove(card)
        else:
            self._remember("play", self.to_move, card)
        seat.coatls[int(number) - 1].prophecies.append(card)
        self._note([card], f"hand {self.to_move}", "table", self._everybody())
        if self.phase != "closing":
            self.phase = "building"

    def _apply_temple(self, number, temple) -> None:
        seat = self.seats[self.to_move]
        seat.coatls[int(number) - 1].temple = temple
        if temple in seat.temples:
            seat.temples.remove(temple)
            if temple in seat.shown_temples:
                seat.shown_temples.remove(temple)
        else:
            self.pending = self._take_off_pile(temple)
        self._apply_close(number)

    def _apply_close(self, number) -> None:
        seat = self.seats[self.to_move]
        seat.coatls[int(number) - 1].closed = True
        self.phase, self.closing = "building", 0
        if len(_closed(seat)) == COATLS_MAX and self.ending is None:  # the first ending rules
            self.ending = {"cause": "third", "seat": self.to_move}

    def _apply_end(self) -> None:
        was_drawing = self.phase in ("drawing", "future")
        is_short = len(self.display) < DISPLAY_SIZE and self._num_drawable() > 0
        self._end_action("reveal" if was_drawing and is_short else "")

    def _apply_pass(self) -> None:
        if self.ending is None:
            self.passes += 1
            if self.passes == self.players:
                self._end_game()
                return
        self._end_action("")

    # The end of actions, turns, rounds and of the game.

    def _end_action(self, event: str) -> None:
        """Hand over; a random event comes before what the next seat does (D12), none after the last turn."""
        self.phase = "turn"
        if self.actions_left == 2:
            self.actions_left = 1
        else:
            self._hand_over()
        self.pending = "" if self.is_over else event

    def _hand_over(self) -> None:
        after = (self.to_move + 1) % self.players
        if self._is_end(after):
            self._end_game()
            return
        self.to_move = after
        self.round += after == 0
        self.actions_left = 2 if self._has_two_actions(after) else 1

    def _is_end(self, after: int) -> bool:
        if self.ending is None:
            return False
        if self.ending["cause"] == "third":
            return after == self.ending["seat"]
        return after == 0 and self.round == self.ending["last_round"]

    def _end_game(self) -> None:
        self.phase, self.pending, self.to_move, self.actions_left, self.passes = "over", "", 0, 1, 0

    def _check_bodies(self) -> None:
        """Start the ending by bodies, after the refill: the round is completed and one more follows."""
        if self.ending is None and not self.pending and not self.bodies and not self.bags["body"]:
            round_of_the_turn = self.round - 1 if self.to_move == 0 else self.round
            self.ending = {"cause": "bodies", "last_round": round_of_the_turn + 1}

    # Random events.

    def _refillable(self) -> dict[str, int]:
        """Return how many heads, tails and pairs a refill brings; empty if none at all."""
        numbers = {
            "heads": min(HEAD_SPACES - len(self.heads), len(self.bags["head"])),
            "tails": min(TAIL_SPACES - len(self.tails), len(self.bags["tail"])),
            "bodies": min(BODY_SPACES - len(self.bodies), len(self.bags["body"]) // 2),
        }
        return {part: number for part, number in numbers.items() if number}

    def _num_revealed(self) -> int:
        return min(DISPLAY_SIZE - len(self.display), self._num_drawable())

    def _all_discards(self) -> list[str]:
        return [*self.discarded, *(card for seat in self.seats for card in seat.discarded)]

    def random_event(self, rng) -> str:
        """Return an outcome of the event that is due, as likely as at the table: without replacement."""
        if self.pending == "uncover":
            return f"uncover {rng.choice(self.lower_temples)}"
        if self.pending == "deal":
            return f"deal {rng.choice(self.deck or self._all_discards())}"
        if self.pending == "reveal":
            number = self._num_revealed()
            cards = rng.sample(self.deck, min(number, len(self.deck)))
            cards += rng.sample(self._all_discards(), number - len(cards))  # of the renewed deck (D11)
            return " ".join(["reveal", *sorted(cards)])
        if self.pending == "refill":
            numbers = self._refillable()
            heads = rng.sample(self.bags["head"], numbers.get("heads", 0))
            tails = rng.sample(self.bags["tail"], numbers.get("tails", 0))
            bodies = rng.sample(self.bags["body"], 2 * numbers.get("bodies", 0))
            return _refill_text(heads, tails, list(map(_pair, bodies[::2], bodies[1::2])))
        raise ValueError("no random event is due")

    def event_probabilities(self) -> dict[str, float]:
        """Return the outcomes of a `deal` or an `uncover` with their probabilities."""
        if self.pending not in ("deal", "uncover"):
            raise ValueError(f"outcomes of {self.pending!r} are not listed")
        cards = self.lower_temples if self.pending == "uncover" else self.deck or self._all_discards()
        return {f"{self.pending} {card}": number / len(cards) for card, number in sorted(Counter(cards).items())}

    def is_possible_event(self, text: str) -> bool:
        """Return whether the event that is due may have this outcome, spelled in canonical order."""
        verb, *operands = text.split(" ")
        if verb != self.pending:
            return False
        if verb in ("deal", "uncover"):
            return text in self.event_probabilities()
        if verb == "reveal":
            from_deck, from_discards = self._split_revealed(operands)
            return (
                operands == sorted(operands)
                and len(operands) == self._num_revealed()
                and Counter(from_deck + from_discards) == Counter(operands)
                and _contains(self.deck, from_deck)
                and _contains(self._all_discards(), from_discards)
            )
        parts = _refill_parts(operands)
        spelled = _refill_text(parts["heads"], parts["tails"], parts["bodies"])
        return (
            text == spelled
            and {part: len(pieces) for part, pieces in parts.items() if pieces} == self._refillable()
            and _contains(self.bags["head"], parts["heads"])
            and _contains(self.bags["tail"], parts["tails"])
            and _contains(self.bags["body"], "".join(parts["bodies"]))
            and all(pair in PAIRS for pair in parts["bodies"])
        )

    def _split_revealed(self, cards: list[str]) -> tuple[list[str], list[str]]:
        """Split revealed cards into those of the deck and those of the discards that renew it (D11)."""
        if len(cards) <= len(self.deck):
            return cards, []
        return list(self.deck), list((Counter(cards) - Counter(self.deck)).elements())

    def _renew_deck(self, num_across: int = 0) -> None:
        """D11: all discards, public and hidden, become the deck."""
        self.memory.append(("renew", None, num_across))
        for card in sorted(self.discarded):
            self._remember("public", None, card)
        for by, seat in enumerate(self.seats):
            for card in sorted(seat.discarded):
                self._remember("private", by, card)
        for by, seat in enumerate(self.seats):
            self._note(seat.discarded, f"discards {by}", "deck", [by])
        self._note(self.discarded, "public", "deck", self._everybody())
        self.deck = self._all_discards()
        self.discarded = []
        for seat in self.seats:
            seat.discarded = []

    def _apply_deal(self, card) -> None:
        if not self.deck:
            self._renew_deck()
        self._remember("deal", self.to_move, card)
        self.deck.remove(card)
        self.seats[self.to_move].hand.append(card)
        self._note([card], "deck", f"hand {self.to_move}", [self.to_move])
        self.pending = ""

    def _apply_reveal(self, *cards) -> None:
        from_deck, from_discards = self._split_revealed(list(cards))
        # The action does not show which cards came before a renewal, so no seat is assumed to know it.
        self._note(from_deck, "deck", "turned up", [])
        self.deck = _without(self.deck, from_deck)
        if from_discards:
            self._renew_deck(len(from_deck))
            self._note(from_discards, "deck", "turned up", [])
            self.deck = _without(self.deck, from_discards)
        for card in cards:
            self._remember("across" if from_deck and from_discards else "reveal", None, card)
        self._note(cards, "turned up", "display", self._everybody())
        self.display += cards
        self.pending = ""

    def _apply_uncover(self, temple) -> None:
        self.lower_temples.remove(temple)
        pile = next(pile for pile in self.piles if not pile[0] and pile[1])
        pile[0], pile[1] = temple, pile[1] - 1
        self.pending = ""

    def _apply_refill(self, *operands) -> None:
        parts = _refill_parts(operands)
        self.heads += parts["heads"]
        self.tails += parts["tails"]
        self.bodies += parts["bodies"]
        for kind, pieces in zip(KINDS, parts.values(), strict=True):
            self.bags[kind] = _without(self.bags[kind], "".join(pieces))
        self.pending = ""
        self._check_bodies()

    # What a seat knows.

    def _note(self, cards: list[str], origin: str, target: str, seen_by) -> None:
        """Note in the log that cards moved between two places, and which seats saw them."""
        self.log.append((list(cards), origin, target, list(seen_by)))

    def _remember(self, word: str, seat: int | None, card: str) -> None:
        """Add to the memory of the position, which begins with a card made unsure, or with a renewal."""
        if self.memory:
            self.memory.append((word, seat, card))

    def _everybody(self) -> range:
        return range(self.players)

    def seen(self, seat: int) -> list[tuple]:
        """Return how prophecies moved since the log began: the cards, or how many if unseen by the seat.

        Places are "deck", "display", "public" (the discards that all saw), "hand 0", "discards 0" and so on,
        "table" (on Coatls), and "turned up" on the way from a deck that runs out to the display.
        """
        return [
            (cards if seat in seen_by else len(cards), origin, target) for cards, origin, target, seen_by in self.log
        ]

    def world(self) -> tuple:
        """Return where each prophecy is: sorted pairs of place and card."""
        coatls = [coatl for seat in self.seats for coatl in seat.coatls]
        places = {
            "deck": self.deck,
            "display": self.display,
            "public": self.discarded,
            "table": [card for coatl in coatls for card in coatl.prophecies],
        }
        for by, seat in enumerate(self.seats):
            places |= {f"hand {by}": seat.hand, f"discards {by}": seat.discarded}
        return tuple(sorted((place, card) for place, cards in places.items() for card in cards))

    def consistent(self, seat: int, assignment: dict) -> bool:
        """Return whether a position in which everything is known may be the true one, for all a seat has seen.

        All that it has seen since `new_game` or `from_json` counts, but not what could be concluded from the
        choices of others (who passes can play no card). Exact: the log is taken back move by move, in all
        ways in which it can have happened.
        """
        try:
            assigned = State.from_json({**assignment, "viewer": None})
        except ValueError:
            return False
        if assigned.view(seat) != self.view(seat):
            return False
        start, moves, faces_seen, ways = _past(json.dumps([self.start, self.seen(seat), seat]))
        shown = [(f"hand {by}", card) for by, other in enumerate(start.seats) for card in other.shown]
        todo = [(len(moves), _unmark(assigned.world(), seat, faces_seen[-1]))]
        reached = set(todo)
        while todo:
            step, world = todo.pop()
            if step == 0 and _contains(world, shown):
                return True
            if step == 0 or not _is_way(world, ways[step]):
                continue
            for before in _taken_back(world, *moves[step - 1]):
                earlier = (step - 1, _unmark(before, seat, faces_seen[step - 1]))
                if earlier not in reached:
                    reached.add(earlier)
                    todo.append(earlier)
        return False


@functools.lru_cache(maxsize=8)
def _past(log: str) -> tuple:
    """Return what `consistent` needs of a log, which is the same for all positions that it is asked about."""
    position, moves, seat = json.loads(log)
    start = State.from_json(position)
    return start, moves, _faces_seen(start, moves, seat), _ways_of_faces(start, moves, seat)


def _visible_cards(state: State, seat: int) -> list[tuple[str, str]]:
    """Return the prophecies that a seat sees at the start of the log, with their places."""
    own = (f"hand {seat}", f"discards {seat}")
    visible = [entry for entry in state.world() if entry[0] in ("display", "public", "table", *own)]
    return visible + [
        (f"hand {by}", card) for by, other in enumerate(state.seats) if by != seat for card in other.shown
    ]


def _faces_seen(start: State, moves: list[tuple], seat: int) -> list[set[str]]:
    """Return the faces that a seat has seen before each move, and after the last."""
    faces_seen = [{card for _, card in _visible_cards(start, seat)}]
    for cards, _, _ in moves:
        faces_seen.append(faces_seen[-1] | (set() if isinstance(cards, int) else set(cards)))
    return faces_seen


def _ways_of_faces(start: State, moves: list[tuple], seat: int) -> list[dict[str, frozenset[tuple]]]:
    """Return, for each face on its own, where its copies may be, before each move and at the end.

    This only keeps the search short: a world with a face elsewhere cannot be taken back to the start.
    """
    sizes = Counter(place for place, _ in start.world())
    hidden = ["deck", *(f"{place} {by}" for place in ("hand", "discards") for by in range(start.players) if by != seat)]
    visible: dict[str, list[str]] = {face: [] for face in PROPHECIES}
    for place, card in _visible_cards(start, seat):
        visible[card].append(place)
    ways = {
        face: frozenset(
            tuple(sorted([*visible[face], *places]))
            for places in itertools.combinations_with_replacement(hidden, card["copies"] - len(visible[face]))
        )
        for face, card in PROPHECIES.items()
    }
    steps = [ways]
    for cards, origin, target in moves:
        number = cards if isinstance(cards, int) else len(cards)
        sizes[origin] -= number
        sizes[target] += number
        after, known = {}, {}  # many faces have been where others have
        for face, before in ways.items():
            may_move = range(number + 1) if isinstance(cards, int) else range(cards.count(face), cards.count(face) + 1)
            if (before, may_move) not in known:
                known[before, may_move] = frozenset(
                    tuple(sorted([*_without(places, [origin] * moved), *[target] * moved])) if moved else places
                    for places in before
                    for moved in may_move
                    if moved <= places.count(origin) <= moved + sizes[origin]
                )
            after[face] = known[before, may_move]
        ways = after
        steps.append(ways)
    return steps


def _is_way(world: tuple, ways: dict[str, frozenset[tuple]]) -> bool:
    """Return whether each face of a world, but for those unmarked, is where it may be."""
    places: dict[str, list[str]] = {}
    for place, card in world:
        places.setdefault(card, []).append(place)
    return all(card == UNKNOWN or tuple(held) in ways[card] for card, held in places.items())


def _unmark(world: tuple, seat: int, faces_seen: set[str]) -> tuple:
    """Return the world with "?" for the hidden cards that the seat has never seen: these are equivalent."""
    in_sight = ("display", "public", "table", f"hand {seat}", f"discards {seat}")
    return tuple(sorted((place, card if place in in_sight or card in faces_seen else UNKNOWN) for place, card in world))


def _taken_back(world: tuple, cards: list[str] | int, origin: str, target: str):
    """Yield the worlds from which a move can have led to this one; `cards` is a number if the viewer saw none."""
    at_target = sorted(card for place, card in world if place == target)
    choices = set(itertools.combinations(at_target, cards)) if isinstance(cards, int) else {tuple(cards)}
    for moved in choices:
        if _contains(at_target, moved):
            left = _without(world, [(target, card) for card in moved])
            yield tuple(sorted([*left, *((origin, card) for card in moved)]))


def _entry_of(text: str) -> tuple:
    """Return an entry of the memory from its text."""
    word, *seat, card = text.split()
    return word, int(seat[0]) if seat else None, card


def _deal(cards: list, number: int) -> list:
    """Take cards from the end of a shuffled list."""
    return [cards.pop() for _ in range(number)]


def _without(items, *taken) -> list:
    """Return the items that remain; all taken items must be among the given ones."""
    left = Counter(items)
    for item in itertools.chain(*taken):
        if not left[item]:
            raise ValueError(f"{item!r} is not there so often")
        left[item] -= 1
    return list(left.elements())


def _contains(items, wanted) -> bool:
    """Return whether the items contain the wanted ones, with repetitions."""
    return not Counter(wanted) - Counter(items)


def _word(colours) -> str:
    """Return colours in canonical order."""
    return "".join(sorted(colours, key=COLOURS.index))


def _pair(one: str, other: str) -> str:
    return _word([one, other])


def _plural(kind: str) -> str:
    return {"head": "heads", "tail": "tails", "body": "bodies"}[kind]


def _closed(seat: Seat) -> list[Coatl]:
    return [coatl for coatl in seat.coatls if coatl.closed]


def _placed_pieces(coatls: list[Coatl]) -> dict[str, list[str]]:
    """Return the pieces of Coatls by kind: the head is the leftmost piece, the tail the rightmost."""
    placed = {kind: [] for kind in KINDS}
    for coatl in coatls:
        pieces = list(coatl.pieces)
        if coatl.head:
            placed["head"].append(pieces.pop(0))
        if coatl.tail:
            placed["tail"].append(pieces.pop())
        placed["body"] += pieces
    return placed


def _refill_text(heads, tails, bodies) -> str:
    parts = ["refill"]
    if heads:
        parts += ["heads", _word(heads)]
    if tails:
        parts += ["tails", _word(tails)]
    if bodies:
        parts += ["bodies", *sorted(bodies, key=lambda pair: [COLOURS.index(colour) for colour in pair])]
    return " ".join(parts)


def _refill_parts(operands) -> dict[str, list[str]]:
    """Return the heads, tails and pairs of a `refill`."""
    parts = {"heads": [], "tails": [], "bodies": []}
    part = ""
    for operand in operands:
        if operand in parts:
            part = operand
        elif part == "bodies":
            parts[part].append(operand)
        elif part:
            parts[part] += operand
    return parts
