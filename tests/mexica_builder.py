"""Hand-made Mexica positions for tests: `build` fills in everything that a test does not care about."""

from collections import Counter

from reference.mexica import COLUMNS, LAND, PALACE, READING_ORDER, STANDARD_POOL

PRINTED = ["O6-O7", "O8-O9"]
FIRST_TEMPLES, BOTH_TEMPLES = [3, 3, 2, 1], [6, 5, 4, 3]
DEFAULT_PILLIS = ["K6", "L6", "M6", "N6"]
# Where `built_all` puts temples: row 3, then row 4.
TEMPLE_GROUND = [space for row in "34" for space in LAND if space[1:] == row]


def spaces(run: str) -> list[str]:
    """Return the spaces of a straight run: ``C9-F9`` is C9, D9, E9, F9; ``C9`` is itself."""
    first, _, last = run.partition("-")
    last = last or first
    columns = COLUMNS[COLUMNS.index(first[0]) : COLUMNS.index(last[0]) + 1]
    return [f"{column}{row}" for row in range(int(first[1:]), int(last[1:]) + 1) for column in columns]


def strip(size: int) -> dict:
    """Return a district of `size` spaces (3-13), B10 eastwards: its `spaces`, and the `canals` around it."""
    inside = spaces("B10-Q10")[: size + 1]
    end = inside.pop()
    last = inside[-1][0]
    return {"spaces": inside, "canals": [f"C9-{last}9", f"B11-{last}11", end]}


def all_temples(seat: int, ground: list[str], stock: list[int]) -> dict:
    """Return a stock of temples, one on each space of the ground."""
    levels = [level for level, number in enumerate(stock, start=1) for _ in range(number)]
    return {space: (seat, level) for space, level in zip(ground, levels, strict=False)}


def build(
    players: int = 3,
    *,
    pillis=(),
    canals=(),
    bridges=(),
    temples=None,
    tokens=None,
    display=None,
    upcoming=None,
    pool=STANDARD_POOL,
    phase="play",
    period=1,
    round_=5,
    to_move=0,
    points=6,
    taken=0,
    idle=0,
    built=True,
    scores=(),
    action_tokens=(),
    built_all=(),
    no_tiles=False,
) -> dict:
    """Return a JSON position that obeys all invariants.

    Parameters
    ----------
    pillis
        Spaces by seat; the rest stand on K6, L6, M6, N6.
    canals
        Straight runs such as ``C9-F9``, each laid with double tiles and, if odd, one single; the printed ones
        come on top.
    bridges
        Such as ``O7 ew``.
    temples
        Space -> (seat, level).
    tokens
        Space -> size of the calpulli tokens placed.
    display
        Sizes; by default the smallest ones left.
    built_all
        Seats whose temples stand on the board to the last one (in rows 3 and 4).
    no_tiles
        Lay all the other canal tiles over the south of the island, from its southern coast upwards.
    """
    temples, tokens = dict(temples or {}), dict(tokens or {})
    cells, left = [space for run in PRINTED for space in spaces(run)], {"single": 6, "double": 35}
    for run in canals:
        run_spaces = spaces(run)
        cells += run_spaces
        left["double"] -= len(run_spaces) // 2
        left["single"] -= len(run_spaces) % 2
    if no_tiles:
        _lay_all(cells, left, keep={*temples, *tokens, *pillis})

    stocks = []
    for seat in range(players):
        stock = list(FIRST_TEMPLES if period == 1 else BOTH_TEMPLES)
        for owner, level in temples.values():
            if owner == seat:
                stock[level - 1] -= 1
        if seat in built_all:
            ground = [space for space in TEMPLE_GROUND if space not in {*temples, *tokens, *cells, *pillis}]
            temples |= all_temples(seat, ground, stock)
            stock = [0, 0, 0, 0]
        stocks.append(stock)

    # Tokens that the test does not mention are out of play as far as the count asks for it, or to come.
    rest = Counter(pool) - Counter(tokens.values()) - Counter(upcoming or [])
    shown = 8 if period == 1 else 15
    if display is None:
        display = sorted(rest.elements())[: shown - len(tokens)]
    rest = sorted((rest - Counter(display)).elements())
    removed = rest[: shown - len(tokens) - len(display)]
    if period == 2:
        upcoming = []
    elif upcoming is None and len(pool) == 15:
        upcoming = rest[len(removed) :]

    where = [*pillis, *DEFAULT_PILLIS[len(pillis) :]]
    order = READING_ORDER.get
    return {
        "game": "mexica",
        "version": 1,
        "players": players,
        "phase": phase,
        "period": period,
        "round": round_,
        "to_move": to_move,
        "action_points": points,
        "tokens_taken": taken,
        "idle_rounds": idle,
        "built_this_round": built,
        "seats": [
            {
                "score": [*scores, 0, 0, 0, 0][seat],
                "action_tokens": [*action_tokens, 0, 0, 0, 0][seat],
                "pilli": where[seat],
                "temples": stocks[seat],
            }
            for seat in range(players)
        ],
        "canals": sorted(cells, key=order),
        "canal_tiles": left,
        "bridges": [
            dict(zip(("at", "axis"), bridge.split(), strict=True))
            for bridge in sorted(bridges, key=lambda bridge: order(bridge.split()[0]))
        ],
        "temples": [{"at": at, "seat": temples[at][0], "level": temples[at][1]} for at in sorted(temples, key=order)],
        "calpulli": {
            "pool": sorted(pool),
            "display": sorted(display),
            "placed": [{"at": at, "size": tokens[at]} for at in sorted(tokens, key=order)],
            "removed": removed,
            "upcoming": upcoming,
        },
    }


def _lay_all(cells: list[str], left: dict, keep: set[str]) -> None:
    """Lay the tiles left row by row from the south; what a row has over when singles are short stays dry."""
    for row in range(14, 8, -1):
        free = [
            space
            for space in LAND
            if space[1:] == str(row) and space not in cells and space not in keep and space not in PALACE
        ]
        while free and (left["single"] or left["double"]):
            if left["double"] and free[1:] and COLUMNS.index(free[1][0]) - COLUMNS.index(free[0][0]) == 1:
                cells += free[:2]
                del free[:2]
                left["double"] -= 1
            elif left["single"]:
                cells.append(free.pop(0))
                left["single"] -= 1
            else:
                free.pop(0)
    assert left == {"single": 0, "double": 0}, "the south is too small for all tiles"
