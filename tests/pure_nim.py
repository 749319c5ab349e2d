"""Nim in plain Python: the reference of the compiled nim, and what its speed is measured with."""

from mexica_ai.game.contract import Option
from mexica_ai.games.nim import notation
from mexica_ai.pure import TERMINAL, Numbers, PureGame, game


class Nim(PureGame):
    """As ``cext/games/nim/ops.pyx``, but piles that there are not are written as 0."""

    name = "nim"
    record = {
        "piles": Numbers(8, high=63),
        "plies_left": Numbers(low=1, high=3),
        "plies_per_turn": Numbers(low=1, high=3),
    }
    actions = [("take", count, pile + 1) for pile in range(8) for count in range(1, 64)]
    max_game_length = 8 * 63
    options = (
        Option("piles", list, "sizes of the piles", default=notation.PILES),
        Option("plies_per_turn", int, "actions per turn", choices=range(1, 4), default=1),
    )

    def start(self, state, rng, *, piles, plies_per_turn):
        if not (1 <= len(piles) <= 8 and any(piles)):
            raise ValueError("expected 1 to 8 piles")
        state.piles[: len(piles)] = piles
        state.plies_left = state.plies_per_turn = plies_per_turn

    def current_player(self, state):
        return state.to_move if any(state.piles) else TERMINAL

    def legal_actions(self, state):
        return [("take", count, pile) for pile, left in enumerate(state.piles, 1) for count in range(1, left + 1)]

    def apply_action(self, state, action):
        _, count, pile = action
        state.piles[pile - 1] -= count
        state.plies_left -= 1
        if not any(state.piles):
            state.plies_left = 1
        elif state.plies_left == 0:
            state.plies_left = state.plies_per_turn
            state.to_move = (state.to_move + 1) % state.players

    def scores(self, state):
        is_over = not any(state.piles)
        return [1.0 if is_over and seat == state.to_move else 0.0 for seat in range(state.players)]


NIM = game(Nim())
