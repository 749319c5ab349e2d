"""Faults put into positions, for those who must bear any: pictures and the editor."""

import copy

MARKUP = "\"'><script>alert(1)</script>&amp;<svg onload=x>\x00"
JUNK = (
    None, True, False, 0, -1, 3, 7, 99, 10**6, -(10**6), 10**400, 0.5, 1e308, float("inf"), float("nan"), "", "?", "0",
    "A1", "H6", "U14", "P00", "T00", "i", ".", "9" * 50, "x" * 70_000, MARKUP, [], [MARKUP], [None] * 300, ["0"] * 999,
    list(range(400)), {}, {MARKUP: MARKUP}, {"at": MARKUP, "seat": 10**30, "level": -3},
)  # fmt: skip


def places(value, path=()):
    """Yield the path of every value inside an object or a list."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        yield (*path, key)
        yield from places(entry, (*path, key))


def spoil(data, rng):
    """Change one place of a position: something else there, gone, twice, or from elsewhere in the position."""
    spots = list(places(data))
    *way, key = rng.choice(spots)
    parent = data
    for step in way:
        parent = parent[step]
    match rng.randrange(5):
        case 0 | 1:
            parent[key] = copy.deepcopy(rng.choice(JUNK))
        case 2:
            del parent[key]
        case 3:
            other = data
            for step in rng.choice(spots):
                other = other[step] if isinstance(other, (dict, list)) else other
            parent[key] = copy.deepcopy(other)
        case 4 if isinstance(parent, list):
            parent += copy.deepcopy(parent) * rng.choice((1, 30))
        case _:
            parent[MARKUP if isinstance(parent, dict) else key] = MARKUP
