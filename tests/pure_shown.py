"""A game of one turn that may show a hidden card: at its end, after two actions in any order, or within it."""

from mexica_ai import pure

CARDS = [f"c{number}" for number in range(100)]


class Shown(pure.PureGame):
    """Seat 0 plays `left` and `right`, then the card is shown, or folds, for a draw; or it looks and takes, to win."""

    name = "shown"
    max_players = 2
    cards = dict.fromkeys(CARDS, 1)
    record = {
        "hidden": pure.Cards(1, seen_by=pure.NOBODY),
        "stock": pure.Cards(len(CARDS) - 1, seen_by=pure.NOBODY),
        "table": pure.Cards(1),
        "left": pure.Flag(),
        "right": pure.Flag(),
        "won": pure.Flag(),
        "over": pure.Flag(),
    }
    actions = ["left", "right", "look", "take", "fold"]
    max_game_length = 2

    def start(self, state, rng):
        deck = rng.sample(CARDS, len(CARDS))
        state.hidden, state.stock = deck[:1], deck[1:]

    def current_player(self, state):
        return pure.TERMINAL if state.over else state.to_move

    def legal_actions(self, state):
        if state.table:
            return ["take"]
        if state.left or state.right:
            return ["right" if state.left else "left"]
        return ["left", "right", "look", "fold"]

    def apply_action(self, state, action):
        if action in ("left", "right"):
            setattr(state, action, True)
        are_both_played = state.left and state.right
        if are_both_played or action == "look":
            state.table, state.hidden = state.hidden, []
        state.won = action == "take"
        state.over = are_both_played or action in ("take", "fold")

    def scores(self, state):
        return [int(state.won), 0]


GAME = pure.game(Shown())
