"""The base class of games in Python: what its author writes."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

from cext.core.contract.game import CHANCE as CHANCE
from cext.core.contract.game import TERMINAL as TERMINAL
from mexica_ai.game.contract import Option
from mexica_ai.pure.fields import AnyField

Action = Any  # a word, or a tuple of a word and its operands


class PureGame:
    """A game in Python. `mexica_ai.pure.game` makes a `mexica_ai.game.contract.Game` of an instance.

    Methods get a `state`, a copy: an object with the fields of `record` as integers, bools and lists, and

    * ``state.players``: the number of seats;
    * ``state.to_move``: the seat to move, which `apply_action` changes;
    * ``state.turn``: turns that have ended. It goes up by itself when another seat, or none, is to move;
      `apply_action` adds 1 where the same seat begins another turn.

    Only `start` and `apply_action` may change it. Methods may be called by many threads, and must depend on nothing
    but their arguments.

    Attributes
    ----------
    name : str
        One word in lower case.
    record : dict of str to Numbers, Flag or Cards
        The fields of a state.
    actions : sequence
        All actions that seats may play in any state, in the canonical order: a word such as ``"pass"``, or a tuple such
        as ``("take", 2, 1)``, whose text is ``take 2 1``. An action's integer, and its id for learning, is its index.
    events : sequence
        The same of outcomes of random events.
    cards : dict
        How many cards there are of each kind, by name; or such a dict for each of several decks.
    secret : tuple of str
        First words of actions and events whose operands only their seat knows.
    max_players : int
        2 to 4.
    max_game_length : int
        Most actions of a game, random events included; one that goes on is stopped with an error.
    options : tuple of mexica_ai.game.contract.Option
        Of a new game: arguments of `start`. Each needs a default.
    title : str
        The name in headings.
    rules_version, version : int
        Of the behaviour, and of the JSON form.
    max_legal : int
        Most legal actions of a state. 0: as many as there are actions.
    search_options : dict
        The game's defaults of the search's options.
    policy : (state, actions) -> list of float, optional
        Prior weights of the legal actions, at least 0, by what the seat to move knows. None: all are equal.
    evaluate : (state) -> (list of float, list of float), optional
        Expected share of the win, and final score, of each seat. None: the search plays to the end of the game.
    """

    name: ClassVar[str] = ""
    record: ClassVar[Mapping[str, AnyField]] = {}
    actions: ClassVar[Sequence[Action]] = ()
    events: ClassVar[Sequence[Action]] = ()
    cards: ClassVar[Mapping[str, Any]] = {}
    secret: ClassVar[Collection[str]] = ()
    max_players: ClassVar[int] = 4
    max_game_length: ClassVar[int] = 1000
    options: ClassVar[tuple[Option, ...]] = ()
    title: ClassVar[str] = ""
    rules_version: ClassVar[int] = 1
    version: ClassVar[int] = 1
    max_legal: ClassVar[int] = 0
    search_options: ClassVar[Mapping[str, float]] = {}
    policy: Any = None
    evaluate: Any = None

    def start(self, state: Any, rng: random.Random, **options: Any) -> None:
        """Deal a new game: numbers are 0 or their `low`, rows of cards are empty, seat 0 is to move.

        A ValueError refuses the options; its text says what was expected. A random event that is due is drawn.
        """
        raise NotImplementedError

    def current_player(self, state: Any) -> int:
        """Return the seat to move, `CHANCE` if a random event is due, or `TERMINAL`; by what all seats see."""
        seat: int = state.to_move
        return seat

    def legal_actions(self, state: Any) -> Sequence[Action]:
        """Return the legal actions, in any order, by what the seat to move knows; at least one if a seat is to move."""
        raise NotImplementedError

    def apply_action(self, state: Any, action: Action) -> None:
        """Play a legal action, or an outcome of a random event."""
        raise NotImplementedError

    def outcomes(self, state: Any) -> Sequence[Action] | Mapping[Action, float]:
        """Return the possible outcomes of the random event that is due; a mapping says how likely each is."""
        raise NotImplementedError

    def scores(self, state: Any) -> Sequence[float]:
        """Return the points of each seat, as they stand."""
        raise NotImplementedError

    def returns(self, state: Any) -> Sequence[float]:
        """Return each seat's share of the win, adding up to 1, after the end. Default: that of the highest scores."""
        scores = list(self.scores(state))
        best = max(scores)
        return [(score == best) / scores.count(best) for score in scores]

    def check(self, state: Any) -> str:
        """Return what is wrong with a state of the right shape, such as one read from JSON; "" if nothing is."""
        return ""

    def board(self, state: Any) -> str:
        """Return the state as text for people; cards that a viewer does not see are ``?``. Default: all fields."""
        return "\n".join([f"{name}: {_shown(getattr(state, name))}" for name in self.record])


def _shown(value: Any) -> str:
    if not isinstance(value, list):
        return str(value)
    if any(isinstance(each, list) for each in value):
        return " | ".join(map(_shown, value))
    return " ".join(map(str, value)) or "-"
