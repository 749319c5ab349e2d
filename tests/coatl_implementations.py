"""The rules of Coatl behind one face, so that a test of the rules runs on every implementation of them."""

import json
import random
from types import SimpleNamespace
from unittest import mock

from reference.coatl import PROPHECIES, TEMPLES, State

from cext.core.contract.game import CHANCE, TERMINAL
from cext.games.coatl.ops import state_from_fields
from mexica_ai.games.coatl import notation
from mexica_ai.games.coatl.game import GAME
from mexica_ai.io.errors import NotationError


class Reference(State):
    """The slow plain rules."""

    def outcomes(self):
        """Return the outcomes of a `deal` or an `uncover`."""
        return set(self.event_probabilities())


class Compiled:
    """The compiled rules behind the game's text, with the names of the slow reference.

    The fields of the JSON position are attributes, too: ``compiled.seats[0].hand``.

    Attributes
    ----------
    state : cext.core.contract.game.State
    """

    def __init__(self, state):
        self.state = state

    @classmethod
    def from_json(cls, position):
        """Return the state of a position, also one in which pieces lie where no game puts them."""
        with mock.patch.object(notation, "check_position"):
            return cls(state_from_fields(notation.parse_fields(position)))

    @classmethod
    def new_game(cls, players, rng, **options):
        return cls(notation.new_state(players, rng.getrandbits(60), **options))

    def __getattr__(self, name):
        text = json.dumps(self.to_json())
        return getattr(json.loads(text, object_hook=lambda fields: SimpleNamespace(**fields)), name)

    def to_json(self):
        return notation.format_position(self.state)

    def view(self, seat):
        with mock.patch.object(notation, "check_position"):
            return notation.view(self.to_json(), seat)

    def copy(self):
        return Compiled(self.state.copy())

    @property
    def ending(self):
        return self.to_json()["ending"]

    @property
    def is_over(self):
        return self.state.current_player == TERMINAL

    def legal_actions(self):
        """Return the actions of the seat to move as text, sorted; none while a random event is due."""
        if self.state.current_player == CHANCE:
            return []
        return sorted(map(notation.format_action, self.state.legal_actions()))

    def apply(self, text):
        """Play an action, or let the random event that is due happen; ValueError if that cannot be."""
        try:
            action = notation.parse_action(text)
            is_legal = self.state.is_legal(action)
        except NotationError:
            is_legal = False
        if not is_legal:
            raise ValueError(f"{self.pending} is due" if self.pending else "not legal here")
        if not self.pending:
            assert text in self.legal_actions()
        self.state.apply(action)

    def random_event(self, rng):
        return notation.format_action(GAME.events.draw_outcome(self.state, rng.getrandbits(60)))

    def outcomes(self):
        """Return the outcomes of a `deal` or an `uncover`."""
        assert self.pending in ("deal", "uncover")
        texts = [f"{self.pending} {card}" for card in (PROPHECIES if self.pending == "deal" else TEMPLES)]
        return {text for text in texts if self.state.is_legal(notation.parse_action(text))}

    def scores(self):
        return self.state.scores()

    def winners(self):
        return [seat for seat, share in enumerate(self.state.returns()) if share > 0] if self.is_over else []


IMPLEMENTATIONS = {"reference": Reference, "compiled": Compiled}


def play(state, *actions):
    for action in actions:
        state.apply(action)
    return state


def legal(state, verb):
    """Return the legal actions of a kind, without the verb."""
    actions = [action for action in state.legal_actions() if action.split()[0] == verb]
    return [action.removeprefix(verb).strip() for action in actions]


def happen(state):
    """Let the event that is due happen, whatever comes."""
    state.apply(state.random_event(random.Random(1)))
    return state
