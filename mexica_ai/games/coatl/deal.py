"""The deal of a new game of Coatl."""

import numpy as np

from mexica_ai.games.coatl import facts
from mexica_ai.games.coatl.facts import COLORS, FACES, PAIRS, PARTS, TEMPLE_NAMES, TOKENS
from mexica_ai.games.coatl.shape import PHASES
from mexica_ai.io.errors import PositionError
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.strict import Findings, check_shape


def deal(
    players: int, seed: int, *, sacrifice_tokens: bool | None = None, strict_ends: bool | None = None
) -> JsonObject:
    """Return the fields of a new game; see `mexica_ai.games.coatl.notation.new_state`."""
    sacrifice_tokens = True if sacrifice_tokens is None else sacrifice_tokens
    strict_ends = False if strict_ends is None else strict_ends
    check_shape(
        {"players": players, "sacrifice_tokens": sacrifice_tokens, "strict_ends": strict_ends},
        {"players": int, "sacrifice_tokens": bool, "strict_ends": bool},
        "options",
    )
    findings = Findings()
    findings.check_range("options.players", players, facts.MIN_PLAYERS, facts.MAX_PLAYERS)
    findings.raise_as(PositionError)

    rng = np.random.default_rng(seed)
    pieces = {
        part: rng.permutation(np.repeat(np.arange(len(COLORS)), number)).tolist()
        for part, number in facts.PIECES_A_COLOR.items()
    }
    bodies = pieces["bodies"]
    pairs = [
        PAIRS.index("".join(COLORS[color] for color in sorted(bodies[2 * space : 2 * space + 2])))
        for space in range(facts.SUPPLY_SPACES["bodies"])
    ]
    temples = rng.permutation(len(TEMPLE_NAMES)).tolist()
    piles = [temples[players + pile :: facts.NUM_PILES] for pile in range(facts.NUM_PILES)]
    cards = rng.permutation([number for number, face in enumerate(FACES) for _ in range(facts.COPIES[face])]).tolist()
    display, cards = cards[: facts.NUM_DISPLAYED], cards[facts.NUM_DISPLAYED :]
    seats = []
    for seat in range(players):
        hand, cards = cards[: facts.num_dealt(seat)], cards[facts.num_dealt(seat) :]
        seats.append(_new_seat(hand, temples[seat], sacrifice_tokens))
    return {
        "num_players": players,
        "sacrifice_tokens": int(sacrifice_tokens),
        "strict_ends": int(strict_ends),
        "viewer": -1,
        "phase": PHASES.index("keep"),
        "pending": 0,
        "round": 0,
        "to_move": 0,
        "actions_left": 1,
        "passes": 0,
        "ending": 0,
        "ending_seat": 0,
        "last_round": 0,
        "closing": 0,
        **{
            f"supply_{part}": _counts(pieces[part][: facts.SUPPLY_SPACES[part]], len(COLORS))
            for part in ("heads", "tails")
        },
        "supply_pairs": _counts(pairs, len(PAIRS)),
        "display": sorted(display),
        "discarded": [],
        "piles": [[pile[0], len(pile) - 1] for pile in piles],
        "deck": len(cards),
        "seats": seats,
        "memory": [],
    }


def _new_seat(hand: list[int], temple: int, sacrifice_tokens: bool) -> JsonObject:
    return {
        **{f"stored_{part}": [0] * len(COLORS) for part in PARTS},
        "hand": sorted(hand),
        "shown": [],
        "discarded": [],
        "temples": [temple],
        "shown_temples": [],
        "tokens": (1 << len(TOKENS)) - 1 if sacrifice_tokens else 0,
        "coatls": [],
    }


def _counts(numbers: list[int], size: int) -> list[int]:
    return [numbers.count(number) for number in range(size)]
