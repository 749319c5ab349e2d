"""The record of a short game of nim with two mistakes, for tests of reviews."""

# As `mexica_ai.new_game("nim", piles=[2, 3])` deals it.
START = {
    "game": "nim",
    "version": 1,
    "players": 2,
    "piles": [2, 3],
    "to_move": 0,
    "plies_left": 1,
    "plies_per_turn": 1,
}
# Seat 0 could win with `take 1 2`, and gives the game away; seat 1 gives it back, and seat 0 wins.
RECORD = {
    "game": "nim",
    "version": 1,
    "start": START,
    "turns": [["take 2 2"], ["take 1 2"], ["take 2 1"]],
    "scores": [1, 0],
    "winners": [0],
}
