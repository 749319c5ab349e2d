"""A game of one turn that may show a hidden card within it."""

from mexica_ai import pure

CARDS = [f"c{number}" for number in range(100)]


class Shown(pure.PureGame):
    """Seat 0 folds, for a draw, or looks at the card and takes it, to win."""

    name = "shown"
    max_players = 2
    cards = dict.fromkeys(CARDS, 1)
    record = {
        "hidden": pure.Cards(1, seen_by=pure.NOBODY),
        "stock": pure.Cards(len(CARDS) - 1, seen_by=pure.NOBODY),
        "table": pure.Cards(1),
        "won": pure.Flag(),
        "over": pure.Flag(),
    }
    actions = ["look", "take", "fold"]
    max_game_length = 2

    def start(self, state, rng):
        deck = rng.sample(CARDS, len(CARDS))
        state.hidden, state.stock = deck[:1], deck[1:]

    def current_player(self, state):
        return pure.TERMINAL if state.over else state.to_move

    def legal_actions(self, state):
        return ["take"] if state.table else ["look", "fold"]

    def apply_action(self, state, action):
        if action == "look":
            state.table, state.hidden = state.hidden, []
        state.won = action == "take"
        state.over = action != "look"

    def scores(self, state):
        return [int(state.won), 0]


GAME = pure.game(Shown())
