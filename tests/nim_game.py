"""A small position of Nim and the record of a game from it."""

NIM = {"game": "nim", "version": 1, "players": 2, "piles": [1, 1], "to_move": 0, "plies_left": 1, "plies_per_turn": 1}
RECORD = {
    "game": "nim",
    "version": 1,
    "start": NIM,
    "turns": [["take 1 1"], ["take 1 2"]],
    "scores": [0, 1],
    "winners": [1],
}
