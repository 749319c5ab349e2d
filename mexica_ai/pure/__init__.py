"""A game in Python: plain methods over a record, and everything else follows from the record.

    class Nim(PureGame):
        name = "nim"
        record = {"piles": Numbers(8, high=63)}
        actions = [("take", count, pile) for pile in range(1, 9) for count in range(1, 64)]

        def start(self, state, rng): ...
        def legal_actions(self, state): ...
        def apply_action(self, state, action): ...
        def scores(self, state): ...

    GAME = pure.game(Nim())

``docs/pure_games.md`` is the manual. The core calls the methods with the GIL (``cext/core/contract/pyops.pyx``); the
JSON form, strict reading, views, draws of hidden cards, hashes and observations need no code.
"""

from mexica_ai.pure.build import game
from mexica_ai.pure.fields import ALL, NOBODY, OWNER, SEATS, Cards, Flag, Numbers
from mexica_ai.pure.rules import CHANCE, TERMINAL, PureGame

__all__ = ["ALL", "CHANCE", "NOBODY", "OWNER", "SEATS", "TERMINAL", "Cards", "Flag", "Numbers", "PureGame", "game"]
