"""Decides whether a calpulli token on display can still be founded; players must agree to remove one (D8).

The engine agrees only if it has a proof. Canals can only remove dry land and temples can only remove room, so
founding N needs a connected *region* of N dry spaces of one unfounded district, with room for a token and a
pilli, whose border can be dug with the tiles that are left. The search grows regions space by space: each
space on the border is either added to the region or dug. If the search ends without a region, there is none,
wherever bridges and pillis move. If it finds one, the canals are the proof.

A set of spaces is an integer with one bit per cell, numbered as in the compiled core.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from cext.core.contract.game import State
from cext.games.mexica.ops import state_to_fields
from mexica_ai.game.contract import Opinion
from mexica_ai.game.text_forms import count
from mexica_ai.games.mexica import board
from mexica_ai.games.mexica.board import format_space
from mexica_ai.io.json_types import JsonObject

QUICK_STEPS = 80  # steps per start in the quick pass before the complete search
MAX_STEPS = 60_000  # steps of the complete search for one size before the engine gives up: at most a second


def offered(state: State) -> list[str]:
    """Return the actions that remove a token on display; see `mexica_ai.game.contract.Proposals`."""
    return [_removal(size) for size in sorted(state_to_fields(state)["calpulli"]["display"])]


def judge(state: State, actions: Sequence[str]) -> list[Opinion]:
    """Return whether each token can no longer be founded by any seat; see `mexica_ai.game.contract.Proposals`.

    The reasons are NO_LARGE_DISTRICT, NO_TILES, NO_ROOM, CANNOT_BE_DUG and ENOUGH_LEFT if the engine agrees, else
    DISTRICT_EXISTS, CAN_BE_DUG and NOT_PROVEN. The places are the spaces of a district that could be founded, the
    evidence the canals that dig it, and the districts for the other tokens of its size with it.
    """
    fields = state_to_fields(state)
    table = _Table(fields)
    left = Counter(fields["calpulli"]["display"])
    opinions = []
    for action in actions:
        size = int(action.split()[1])
        left[size] -= 1
        opinions.append(table.consider(size, left[size]))
    return opinions


def _removal(size: int) -> str:
    return f"remove {size}"


class Ground(NamedTuple):
    """The spaces that regions may use, as sets, and the canal tiles for their borders."""

    land: int  # dry spaces of unfounded districts
    free: int  # of these, the spaces that canals may cover
    sites: int  # of these, the spaces for a token
    stands: int  # of these, the spaces for a pilli
    singles: int
    doubles: int

    def has_room(self, region: int) -> bool:
        """Return whether a region has room for a token and a pilli; other pillis can move away."""
        return bool(region & self.sites) and (region & self.stands).bit_count() >= 2


class Region(NamedTuple):
    """Spaces that can become a district, and the tiles that dig it: tuples of one or two cells."""

    spaces: int
    tiles: list[tuple[int, ...]]


def find_region(ground: Ground, size: int, max_steps: int = MAX_STEPS) -> tuple[Region | None, bool]:
    """Find a region of this size, with room, that can be dug.

    Returns
    -------
    region : Region or None
        The region; None if none was found.
    is_proven : bool
        Whether the answer is certain. False if the search gave up.
    """
    districts = [district for district in components(ground.land) if district.bit_count() >= size]
    starts = [cell for district in districts for cell in cells_of(district & ground.sites)]
    for start in starts:
        region, _ = _Growth(ground, size, QUICK_STEPS).grow_from(start, banned=0)
        if region:
            return region, True
    growth = _Growth(ground, size, max_steps)
    banned = 0
    for start in starts:
        # All regions with an earlier start have been tried.
        region, is_complete = growth.grow_from(start, banned)
        if region or not is_complete:
            return region, region is not None
        banned |= 1 << start
    return None, True


class _OutOfSteps(Exception):  # noqa: N818
    pass


class _Growth:
    """Enumerates the regions of a size, in at most `max_steps` steps."""

    def __init__(self, ground: Ground, size: int, max_steps: int) -> None:
        self._ground, self._size, self._steps = ground, size, max_steps
        self._max_dug = ground.singles + 2 * ground.doubles

    def grow_from(self, start: int, banned: int) -> tuple[Region | None, bool]:
        """Return a region with `start` and without `banned`, and whether the search was complete."""
        self._banned = banned
        try:
            return self._grow(1 << start, 0), True
        except _OutOfSteps:
            return None, False

    def _grow(self, region: int, dug: int) -> Region | None:
        """Return a region that contains `region` and no space of `dug`, a part of its border."""
        self._steps -= 1
        if self._steps < 0:
            raise _OutOfSteps
        ground = self._ground
        while True:
            border = beside(region) & ground.land & ~(region | dug)
            forced = border & ~ground.free
            if not forced:
                break
            region |= forced  # spaces that cannot be dug must be in the region
        missing = self._size - region.bit_count()
        if missing < 0 or region & self._banned:
            return None
        dug |= border & self._banned
        if dug.bit_count() > self._max_dug:
            return None
        if missing == 0:
            return self._finish(region, dug | border)
        border &= ~dug
        if flood(region, ground.land & ~dug & ~self._banned).bit_count() < self._size:
            return None
        # Compact regions first: they have the shortest borders.
        outside = ground.land & ~(region | dug | border)
        chosen = min(cells_of(border), key=lambda cell: (beside(1 << cell) & outside).bit_count())
        return self._grow(region | 1 << chosen, dug) or self._grow(region, dug | 1 << chosen)

    def _finish(self, region: int, border: int) -> Region | None:
        ground = self._ground
        if border.bit_count() > self._max_dug or not ground.has_room(region):
            return None
        tiles = lay_tiles(border, ground.free & ~region, ground.singles, ground.doubles)
        return None if tiles is None else Region(region, tiles)


def lay_tiles(border: int, free: int, singles: int, doubles: int) -> list[tuple[int, ...]] | None:
    """Cover all cells of `border` with canal tiles that may extend into `free`; None if there are too few.

    Exact: the placement of at most `doubles` dominoes that covers most cells of the border is a matching that
    covers most vertices of the border. Augmenting paths find it: first those with both ends in the border,
    then the others.
    """
    partner: dict[int, int] = {}
    neighbours = {cell: [n for n in board.neighbours(cell) if free >> n & 1] for cell in cells_of(border)}

    def augment(cell: int, ends: int, seen: set[int]) -> bool:
        # Follow alternating edges from a cell without a domino to another one in `ends`.
        for other in neighbours[cell]:
            if other in seen:
                continue
            seen.add(other)
            next_cell = partner.get(other)
            if next_cell is None:
                is_found = bool(ends >> other & 1)
            else:
                is_found = next_cell in neighbours and augment(next_cell, ends, seen)
            if is_found:
                partner[cell], partner[other] = other, cell
                return True
        return False

    laid = 0
    for ends in (border, free & ~border):
        for cell in neighbours:
            if laid < doubles and cell not in partner:
                laid += augment(cell, ends, {cell})
    unmatched = [cell for cell in neighbours if cell not in partner]
    if len(unmatched) > singles:
        return None
    pairs = {(min(pair), max(pair)) for pair in partner.items()}
    return sorted([*pairs, *((cell,) for cell in unmatched)])


class _Table:
    """The facts of a position that matter for founding."""

    def __init__(self, fields: JsonObject) -> None:
        tokens = [token["at"] for token in fields["calpulli"]["placed"]]
        built = set_of(tokens) | set_of(temple["at"] for temple in fields["temples"])
        palace = set_of(board.PALACE)
        dry = set_of(board.LAND) & ~set_of(fields["canals"])
        unfounded = [district for district in components(dry) if not district & set_of(tokens)]
        land = sum(unfounded)
        sites = land & ~palace & ~built
        tiles = fields["canal_tiles"]
        ramps = set_of(cell for bridge in fields["bridges"] for cell in board.ramps(bridge["at"], bridge["axis"]))
        pillis = set_of(seat["pilli"] for seat in fields["seats"] if seat["pilli"])
        # Everything that can ever be dug: bridges can be relocated, pillis can walk away.
        self._widest = Ground(land, sites, sites, land & ~built, tiles["single"], tiles["double"])
        # Pillis can always walk away or teleport, but bridges may never be relocated.
        self._likely = self._widest._replace(free=sites & ~ramps)
        self._now = self._widest._replace(free=sites & ~ramps & ~pillis)
        self._districts = unfounded
        self._has_tiles = tiles["single"] + tiles["double"] > 0
        self._pillis = pillis

    def consider(self, size: int, left: int) -> Opinion:
        """Return the answer about a token if `left` others of its size stay on display.

        The token is needed only if more than `left` districts of its size can be founded.
        """
        needed = left + 1
        large = [district for district in self._districts if district.bit_count() >= size]
        exact = [district for district in large if district.bit_count() == size]
        ready = [district for district in exact if self._widest.has_room(district)]
        if len(ready) >= needed:
            spaces = _names(ready[left])
            return Opinion(
                _removal(size), False, "DISTRICT_EXISTS", f"the district of {spaces[0]} has {size} spaces", spaces, []
            )
        if not self._has_tiles:
            if ready:
                return self._enough(size, left, len(ready))
            if exact:
                return self._no_room(size)
            return _agree(size, "NO_TILES", f"no canal tile is left, and no unfounded district has {size} spaces")
        possible = sum(district.bit_count() // size for district in large)
        if possible == 0:
            return _agree(size, "NO_LARGE_DISTRICT", f"no unfounded district has {size} spaces or more")
        if len(exact) == len(large) and not ready:
            return self._no_room(size)
        if possible < needed:
            return self._enough(size, left, possible)
        return self._dig(size, needed)

    def _dig(self, size: int, needed: int) -> Opinion:
        for ground in (self._now, self._likely):
            regions = _regions(ground, size, needed, max_steps=0)
            if regions:
                return self._can_be_dug(size, regions)
        possible, is_proven = find_region(self._widest, size)
        if possible is None and is_proven:
            tiles = f"{count(self._widest.doubles, 'double')} and {count(self._widest.singles, 'single')}"
            return _agree(
                size,
                "CANNOT_BE_DUG",
                f"no {size} spaces with room can be cut off with the canal tiles left, {tiles}",
            )
        regions = _regions(self._likely, size, needed, MAX_STEPS)
        if regions:
            return self._can_be_dug(size, regions)
        return Opinion(
            _removal(size),
            False,
            "NOT_PROVEN",
            f"found no way to found {count(needed, 'district')} of {size} spaces, and no proof that there is none",
            [],
            [],
        )

    def _can_be_dug(self, size: int, regions: Sequence[Region]) -> Opinion:
        # The last district may share its border with those before, so it needs their canals, too.
        tiles = [tile for region in regions for tile in region.tiles]
        spaces = _names(next(region.spaces for region in reversed(regions) if region.tiles))
        canals = [f"canal {'-'.join(map(format_space, tile))}" for tile in sorted(tiles)]
        in_the_way = _names(self._pillis & set_of(cell for tile in tiles for cell in tile))
        moved = f", once the pilli on {' and '.join(in_the_way)} has moved away" if in_the_way else ""
        what = f"a district of {size} spaces around {spaces[0]} can be dug"
        if len(regions) > 1:
            what = f"{len(regions)} districts of {size} spaces, one of them around {spaces[0]}, can be founded"
        return Opinion(
            _removal(size),
            False,
            "CAN_BE_DUG",
            f"{what} with {count(len(canals), 'canal')}" + moved,
            spaces,
            canals,
        )

    def _no_room(self, size: int) -> Opinion:
        return _agree(size, "NO_ROOM", f"the districts of {size} spaces have no room for token and pilli")

    def _enough(self, size: int, left: int, possible: int) -> Opinion:
        return _agree(
            size,
            "ENOUGH_LEFT",
            f"at most {count(possible, 'district')} of {size} spaces can be founded, and {left} more of these "
            "tokens stay on display",
        )


def _regions(ground: Ground, size: int, number: int, max_steps: int) -> list[Region]:
    """Return `number` regions that can be dug one after another; none if fewer are found."""
    regions = []
    for _ in range(number):
        region, _ = find_region(ground, size, max_steps)
        if region is None:
            return []
        regions.append(region)
        dug = set_of(cell for tile in region.tiles for cell in tile)
        used = region.spaces | dug
        doubles = sum(len(tile) == 2 for tile in region.tiles)
        land, free, sites, stands = (spaces & ~used for spaces in ground[:4])
        singles = ground.singles - len(region.tiles) + doubles
        ground = Ground(land, free, sites, stands, singles, ground.doubles - doubles)
    return regions


def _agree(size: int, reason: str, explanation: str) -> Opinion:
    return Opinion(_removal(size), True, reason, explanation, [], [])


def _names(spaces: int) -> list[str]:
    return [format_space(cell) for cell in cells_of(spaces)]


# Sets of spaces


def set_of(cells: Iterable[int]) -> int:
    """Return the set of these cells."""
    spaces = 0
    for cell in cells:
        spaces |= 1 << cell
    return spaces


def cells_of(spaces: int) -> Iterator[int]:
    """Yield the cells of a set, in reading order."""
    while spaces:
        lowest = spaces & -spaces
        yield lowest.bit_length() - 1
        spaces ^= lowest


def beside(spaces: int) -> int:
    """Return the neighbours of a set's cells; they may be in the set themselves, or lake."""
    return spaces << 1 | spaces >> 1 | spaces << 32 | spaces >> 32


def flood(spaces: int, ground: int) -> int:
    """Return the cells of `ground` that are connected to `spaces`, a subset of it."""
    while True:
        grown = (spaces | beside(spaces)) & ground
        if grown == spaces:
            return spaces
        spaces = grown


def components(ground: int) -> list[int]:
    """Return the connected components of a set, ordered by their first cells."""
    parts = []
    while ground:
        parts.append(flood(ground & -ground, ground))
        ground &= ~parts[-1]
    return parts
