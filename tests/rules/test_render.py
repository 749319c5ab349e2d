"""The text board: everything of a position is on it, where one looks for it, in 80 columns."""

import gzip
import json
from pathlib import Path

import pytest
import tzolkin_builder
from mexica_builder import build

from mexica_ai import Position, new_game
from mexica_ai.games.mexica.board import COLUMNS

VECTORS = Path(__file__).parents[1] / "data" / "vectors" / "mexica_positions.jsonl.gz"


def midgame(**changes):
    setting = {
        "players": 2,
        "canals": ["C9-E9", "B11-E11", "F10"],
        "tokens": {"C10": 4},
        "pillis": ["H6", "C9"],
        "bridges": ["O7 ew", "C9 ns", "C11 ns"],
        "temples": {"B10": (0, 2), "K4": (1, 1), "L10": (-1, 4)},
        "points": 3,
        "taken": 1,
        "scores": [4, 17],
        "action_tokens": [2, 1],
    }
    return str(Position.from_json(build(**(setting | changes))))


def cell(text, space):
    """Return the three characters of a space on the board."""
    row = next(line for line in text.splitlines() if line.startswith(f"{int(space[1:]):2} "))
    start = 3 + 3 * COLUMNS.index(space[0])
    return row[start : start + 3]


@pytest.mark.parametrize(
    ("space", "picture"),
    [
        ("A1", "   "),  # lake
        ("O6", "≈≈≈"),  # canal
        ("O7", "═══"),  # bridge from west to east
        ("C11", "║ ║"),  # bridge from north to south
        ("C9", "║●║"),  # a pilli on a bridge
        ("H6", "(▲)"),  # a pilli on land, here on a starting space
        ("G7", " + "),  # palace
        ("H7", " * "),  # its centre
        ("B10", " ▲2"),  # temples with owner and level
        ("K4", " ●1"),
        ("L10", " △4"),  # a neutral one
        ("C10", " #4"),  # token with its size
        ("D10", " a "),  # free space of a district with a letter
        ("D4", " · "),  # free space of the widest open district
    ],
)
def test_what_stands_on_a_space(space, picture):
    assert cell(midgame(), space) == picture


def test_large_tokens_and_bridges_with_pillis():
    text = midgame(canals=["C10-K10"], tokens={}, bridges=["O7 ew", "C10 ns"], pillis=["O7", "C10"])
    assert cell(text, "O7") == "═▲═"
    assert cell(text, "C10") == "║●║"


def test_what_stands_below_the_board():
    text = midgame()
    assert text.startswith(
        "Mexica, 2 players, period 1, round 5\n▲ seat 0 to move, 3 AP left, 1 action token taken this turn\n"
    )
    lines = text.splitlines()
    assert "> ▲ 0        4              2     H6                   3  2  2  1" in lines
    assert "  ● 1       17              1     C9                   2  3  2  1" in lines
    assert "  display   3 3 4 5 5 6 6" in lines
    assert "  founded   4" in lines
    assert "  removed   -" in lines
    assert "  period 2  7 8 9 10 11 12 13" in lines
    assert "  supply    32 double canals, 4 single canals, 8 bridges, 9 action tokens" in lines
    assert "  founded   a 4 ▲2" in lines
    assert "  open      · 180 △4 ●1" in lines


def test_unknown_tokens():
    text = midgame(pool=[3, 3, 4, 4, 5, 5, 6, 6, 7, 8, 9, 10, 11, 12, 13, 13], upcoming=None)
    assert "  period 2  unknown" in text


def test_the_phases():
    assert str(new_game("mexica", players=4, seed=1)).startswith("Mexica, 4 players: ▲ seat 0 places its pilli\n")
    data = build(2, period=2, display=[], points=6, built=False, round_=9)
    text = str(Position.from_json(data | {"phase": "over"}))
    assert text.startswith("Mexica, 2 players: over after 8 rounds\n")
    assert ">" not in text
    assert "period 2" not in text
    assert midgame(idle=2).startswith("Mexica, 2 players, period 1, round 5, after 2 idle rounds\n")


def test_every_board_fits_into_80_columns():
    with gzip.open(VECTORS, "rt") as file:
        for line in file:
            text = str(Position.from_json(json.loads(line)["position"]))
            assert max(map(len, text.splitlines())) <= 80
            assert not any(line.endswith(" ") for line in text.splitlines())


def test_nim():
    text = str(new_game("nim", piles=[3, 0, 12], plies_per_turn=2))
    assert text.splitlines() == [
        "Nim, 2 players: seat 0 to move, 2 actions left",
        "",
        "  pile 1   3  ooo",
        "  pile 2   0",
        "  pile 3  12  oooooooooooo",
    ]


@pytest.mark.parametrize(
    ("theology", "space", "words"),
    [
        (0, 2, "5C now, 7K in 2"),
        (0, 3, "full now, 7K in 1"),
        (1, 0, "4C now, 4C/5C in 1"),
        (1, 3, "7K now, 7K/8K in 1"),
        (1, 8, "11Q+/13Q+ now, any in 1"),
        (1, 9, "any now"),
        (1, 10, "any now"),
    ],
)
def test_theology_reaches_the_action_ahead_in_chichen_itza(theology, space, words):
    seats = {0: {"skulls": 1, "technologies": {"theology": theology}}}
    gears = {"chichen_itza": "." * space + "0"}
    position = Position.from_json(tzolkin_builder.build(2, gears=gears, seats=seats, skulls_placed=[3]))
    assert f"chichen_itza {space}: {words}, " in str(position)
    now = words.partition(" now")[0]
    reached = {action.split()[3] for action in position.legal_actions() if len(action.split()) == 4}
    assert len(reached) >= 1 or now == "full"
    assert (reached == set("12456789")) == (now == "any")
