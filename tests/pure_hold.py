"""A game of one choice: a certain draw, or a small chance to win."""

from mexica_ai import pure


class HoldOrRisk(pure.PureGame):
    """Seat 0 holds, for a draw, or risks what it wins one time in ten; each turn of it is two actions."""

    name = "hold_or_risk"
    max_players = 2
    record = {"step": pure.Numbers(high=4), "risks": pure.Flag(), "score": pure.Numbers(pure.SEATS)}
    actions = ["hold", "risk", "end", "ok"]
    events = ["won", "lost"]
    max_game_length = 5

    def start(self, state, rng):
        pass

    def current_player(self, state):
        return {3: pure.CHANCE, 4: pure.TERMINAL}.get(state.step, state.to_move)

    def legal_actions(self, state):
        return [["hold", "risk"], ["end"], ["ok"]][state.step]

    def apply_action(self, state, action):
        state.risks = state.risks or action == "risk"
        state.to_move = 1 if action in ("end", "ok") else state.to_move
        is_over = state.step == 2 and not state.risks
        state.step = 4 if is_over else state.step + 1
        if state.step == 4:
            state.score[:] = {"won": [1, 0], "lost": [0, 1]}.get(action, [1, 1])

    def outcomes(self, state):
        return {"won": 1, "lost": 9}

    def scores(self, state):
        return list(state.score)


GAME = pure.game(HoldOrRisk())
