"""Decides whether a calpulli token on display can still be founded (Mexica); players must agree to remove one.

The engine agrees only if it has a proof. Canals can only remove dry land and temples can only remove room, so
founding N needs a connected *region* of N dry spaces of one unfounded district, with room for a token and a
pilli, whose border can be dug with the tiles that are left. The search grows regions space by space: each
space on the border is either added to the region or dug. If the search ends without a region, there is none,
wherever bridges and pillis move. If it finds one, the canals are the proof.

A set of spaces is an integer with one bit per cell, numbered as in the compiled core.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from cext.games.mexica.ops import state_to_fields
from mexica_ai.game.position import Position
from mexica_ai.games.mexica import board
from mexica_ai.games.mexica.board import format_space
from mexica_ai.io.errors import NotationError, PositionError
from mexica_ai.io.strict import quote

QUICK_STEPS = 80  # steps per start in the quick pass before the complete search
MAX_STEPS = 60_000  # steps of the complete search for one size before the engine gives up: at most a second


@dataclass(frozen=True)
class TokenRemoval:
    """The engine's answer about one token.

    Parameters
    ----------
    size : int
        Its size.
    agrees : bool
        Whether the engine agrees that it can no longer be founded.
    reason : str
        If it agrees: NO_LARGE_DISTRICT, NO_TILES, NO_ROOM, CANNOT_BE_DUG or ENOUGH_LEFT. If not:
        DISTRICT_EXISTS, CAN_BE_DUG or NOT_PROVEN.
    explanation : str
        The reason as a sentence.
    spaces : list of str
        The spaces of a district that could be founded; empty if none was found.
    canals : list of str
        The actions that dig this district, in any order; empty if it exists already.
    """

    size: int
    agrees: bool
    reason: str
    explanation: str
    spaces: list[str]
    canals: list[str]


@dataclass(frozen=True)
class Removal:
    """The engine's answer about several tokens.

    Parameters
    ----------
    agrees : bool
        Whether the engine agrees to remove all of them.
    tokens : list of TokenRemoval
        The answer about each, in the order of the question.
    """

    agrees: bool
    tokens: list[TokenRemoval]

    def to_json(self) -> dict[str, Any]:
        """Return the answer as a JSON object whose keys are the attributes' names."""
        return asdict(self)


def consider_removal(position: Position, sizes: Sequence[int]) -> Removal:
    """Decide whether tokens on display can no longer be founded by any seat.

    If the engine agrees to all of them, the seat to move may play `remove N` for each (D8).

    Parameters
    ----------
    position : Position
        A position of Mexica. Not changed.
    sizes : sequence of int
        Sizes of tokens on display, one entry per token. With several tokens of the same size, the first is
        considered as if the others stayed, the second as if the first were gone, and so on.

    Returns
    -------
    Removal

    Raises
    ------
    NotationError
        If `sizes` is empty or not a list of integers.
    PositionError
        If the game has no calpulli tokens (reason GAME_MISMATCH), or the display has no such token
        (NOT_ON_DISPLAY).
    """
    if position.game != "mexica":
        raise PositionError(
            f"position: given one of {position.game}; expected one of mexica, since only it has calpulli "
            "tokens",
            reason="GAME_MISMATCH",
            path="position",
        )
    fields = state_to_fields(position.state)
    _check_sizes(sizes, fields["calpulli"]["display"])
    table = _Table(fields)
    left = Counter(fields["calpulli"]["display"])
    tokens = []
    for size in sizes:
        left[size] -= 1
        tokens.append(table.consider(size, left[size]))
    return Removal(all(token.agrees for token in tokens), tokens)


def askable(position: Position) -> dict[int, str]:
    """Return the sizes of tokens on display, and the action that removes one of each."""
    sizes = state_to_fields(position.state)["calpulli"]["display"]
    return {size: f"remove {size}" for size in sizes}


def _check_sizes(sizes, display):
    if not isinstance(sizes, (list, tuple)) or not sizes:
        raise NotationError(
            f"sizes: given {quote(sizes)}; expected a list of one size or more",
            reason="WRONG_TYPE",
            path="sizes",
        )
    left = Counter(display)
    for index, size in enumerate(sizes):
        if type(size) is not int:
            raise NotationError(
                f"sizes[{index}]: given {quote(size)}; expected an integer",
                reason="WRONG_TYPE",
                path=f"sizes[{index}]",
            )
        left[size] -= 1
        if left[size] < 0:
            shown = " ".join(map(str, sorted(display))) or "none"
            raise PositionError(
                f"sizes[{index}]: given {quote(size)}; expected tokens on display, each once: {shown}",
                reason="NOT_ON_DISPLAY",
                path=f"sizes[{index}]",
            )


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

    def augment(cell, ends, seen):
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

    def __init__(self, fields: dict[str, Any]) -> None:
        tokens = [token["at"] for token in fields["calpulli"]["placed"]]
        built = set_of(tokens) | set_of(temple["at"] for temple in fields["temples"])
        palace = set_of(board.PALACE)
        dry = set_of(board.LAND) & ~set_of(fields["canals"])
        unfounded = [district for district in components(dry) if not district & set_of(tokens)]
        land = sum(unfounded)
        sites = land & ~palace & ~built
        tiles = fields["canal_tiles"]
        ramps = set_of(
            cell for bridge in fields["bridges"] for cell in board.ramps(bridge["at"], bridge["axis"])
        )
        pillis = set_of(seat["pilli"] for seat in fields["seats"] if seat["pilli"])
        # Everything that can ever be dug: bridges can be relocated, pillis can walk away.
        self._widest = Ground(land, sites, sites, land & ~built, tiles["single"], tiles["double"])
        # Pillis can always walk away or teleport, but bridges may never be relocated.
        self._likely = self._widest._replace(free=sites & ~ramps)
        self._now = self._widest._replace(free=sites & ~ramps & ~pillis)
        self._districts = unfounded
        self._has_tiles = tiles["single"] + tiles["double"] > 0
        self._pillis = pillis

    def consider(self, size: int, left: int) -> TokenRemoval:
        """Return the answer about a token if `left` others of its size stay on display.

        The token is needed only if more than `left` districts of its size can be founded.
        """
        needed = left + 1
        large = [district for district in self._districts if district.bit_count() >= size]
        exact = [district for district in large if district.bit_count() == size]
        ready = [district for district in exact if self._widest.has_room(district)]
        if len(ready) >= needed:
            spaces = _names(ready[left])
            return TokenRemoval(
                size, False, "DISTRICT_EXISTS", f"the district of {spaces[0]} has {size} spaces", spaces, []
            )
        if not self._has_tiles:
            if ready:
                return self._enough(size, left, len(ready))
            if exact:
                return self._no_room(size)
            return _agree(
                size, "NO_TILES", f"no canal tile is left, and no unfounded district has {size} spaces"
            )
        most = sum(district.bit_count() // size for district in large)
        if most == 0:
            return _agree(size, "NO_LARGE_DISTRICT", f"no unfounded district has {size} spaces or more")
        if len(exact) == len(large) and not ready:
            return self._no_room(size)
        if most < needed:
            return self._enough(size, left, most)
        return self._dig(size, needed)

    def _dig(self, size, needed):
        for ground in (self._now, self._likely):
            region = _last_region(ground, size, needed, max_steps=0)
            if region:
                return self._can_be_dug(size, region)
        possible, is_proven = find_region(self._widest, size)
        if possible is None and is_proven:
            tiles = f"{_count(self._widest.doubles, 'double')} and {_count(self._widest.singles, 'single')}"
            return _agree(
                size,
                "CANNOT_BE_DUG",
                f"no {size} spaces with room can be cut off with the canal tiles left, {tiles}",
            )
        region = _last_region(self._likely, size, needed, MAX_STEPS)
        if region:
            return self._can_be_dug(size, region)
        return TokenRemoval(
            size,
            False,
            "NOT_PROVEN",
            f"found no way to found {_count(needed, 'district')} of {size} spaces, and no proof that there is "
            "none",
            [],
            [],
        )

    def _can_be_dug(self, size, region):
        spaces = _names(region.spaces)
        canals = [f"canal {'-'.join(map(format_space, tile))}" for tile in region.tiles]
        in_the_way = _names(self._pillis & set_of(cell for tile in region.tiles for cell in tile))
        moved = f", once the pilli on {' and '.join(in_the_way)} has moved away" if in_the_way else ""
        return TokenRemoval(
            size,
            False,
            "CAN_BE_DUG",
            f"a district of {size} spaces around {spaces[0]} can be dug with {_count(len(canals), 'canal')}"
            + moved,
            spaces,
            canals,
        )

    def _no_room(self, size):
        return _agree(size, "NO_ROOM", f"the districts of {size} spaces have no room for token and pilli")

    def _enough(self, size, left, most):
        return _agree(
            size,
            "ENOUGH_LEFT",
            f"at most {_count(most, 'district')} of {size} spaces can be founded, and {left} more of these "
            "tokens stay on display",
        )


def _last_region(ground: Ground, size: int, number: int, max_steps: int) -> Region | None:
    """Return the last of `number` regions that can be dug one after another; None if fewer are found."""
    for _ in range(number):
        region, _ = find_region(ground, size, max_steps)
        if region is None:
            return None
        dug = set_of(cell for tile in region.tiles for cell in tile)
        used = region.spaces | dug
        doubles = sum(len(tile) == 2 for tile in region.tiles)
        ground = Ground(
            *(spaces & ~used for spaces in ground[:4]),
            ground.singles - len(region.tiles) + doubles,
            ground.doubles - doubles,
        )
    return region


def _agree(size, reason, explanation):
    return TokenRemoval(size, True, reason, explanation, [], [])


def _names(spaces):
    return [format_space(cell) for cell in cells_of(spaces)]


def _count(number, noun):
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


# Sets of spaces


def set_of(cells) -> int:
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
    found = []
    while ground:
        found.append(flood(ground & -ground, ground))
        ground &= ~found[-1]
    return found
