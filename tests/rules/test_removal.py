"""The engine agrees to remove a token only if no seat can found it; the canals it shows can be played."""

import gzip
import itertools
import json
import random
from collections import Counter
from pathlib import Path

import pytest
from mexica_builder import build, spaces, strip
from mexica_walks import scramble
from reference.mexica import PRINTED_CANALS, Board

import mexica_ai as ai
from mexica_ai.game import proposals
from mexica_ai.games.mexica.removal import (
    Ground,
    beside,
    cells_of,
    components,
    find_region,
    lay_tiles,
    set_of,
)

DATA = Path(__file__).parents[1] / "data" / "vectors"
# Kinds of action, and how much the random players below like them: much founding and digging.
LIKED = {
    "found": 60,
    "canal": 12,
    "teleport": 6,
    "walk": 3,
    "end": 0.5,
    "temple": 1,
    "bridge": 2,
    "relocate": 2,
}
PALACE = {"H6", "G7", "H7", "I7", "H8"}
AGREEING = {"NO_LARGE_DISTRICT", "NO_TILES", "NO_ROOM", "CANNOT_BE_DUG", "ENOUGH_LEFT"}


def ask(position, sizes):
    return ai.consider_proposal(position, [f"remove {size}" for size in sizes])


def consider(position, *sizes):
    return ask(ai.Position.from_json(position), sizes)


def opinion(position, *sizes):
    """Return the reason given for the last of the sizes."""
    token = consider(position, *sizes).opinions[-1]
    assert token.agrees == (token.reason in AGREEING)
    return token


# Grounds of a few spaces, where everything can be tried


def small_ground(rng, rows=4, columns=4):
    cells = [32 * row + column for row in range(1, rows + 1) for column in range(1, columns + 1)]
    land = set_of(cell for cell in cells if rng.random() < 0.9)
    stands = set_of(cell for cell in cells_of(land) if rng.random() < 0.85)
    sites = set_of(cell for cell in cells_of(stands) if rng.random() < 0.85)
    free = set_of(cell for cell in cells_of(sites) if rng.random() < 0.95)
    doubles = rng.randint(0, 2)
    return Ground(land, free, sites, stands, rng.randint(0, 2 - doubles), doubles)


def ways_to_dig(ground):
    """Yield every set of spaces that the tiles of a ground can dig, some of them left over."""
    free = list(cells_of(ground.free))
    dominoes = [1 << a | 1 << b for a in free for b in (a + 1, a + 32) if b in free]
    for number in range(ground.doubles + 1):
        for chosen in itertools.combinations(dominoes, number):
            dug = sum(chosen)
            if dug.bit_count() == 2 * number:
                rest = [cell for cell in free if not dug >> cell & 1]
                for alone in range(ground.singles + 1):
                    for cells in itertools.combinations(rest, alone):
                        yield dug | set_of(cells)


def assert_digs(ground, size, region):
    """Assert that the tiles make these spaces a district with room."""
    dug = set_of(cell for tile in region.tiles for cell in tile)
    assert sum(map(len, region.tiles)) == dug.bit_count()
    assert not dug & ~ground.free
    assert all(len(tile) == 1 or tile[1] - tile[0] in (1, 32) for tile in region.tiles)
    assert sum(len(tile) == 1 for tile in region.tiles) <= ground.singles
    assert sum(len(tile) == 2 for tile in region.tiles) <= ground.doubles
    assert region.spaces in components(ground.land & ~dug)
    assert region.spaces.bit_count() == size
    assert ground.has_room(region.spaces)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_region_is_found_exactly_if_there_is_one(seed):
    rng = random.Random(seed)
    seen = Counter()
    for _ in range(60):
        ground = small_ground(rng)
        sizes = set()
        for dug in ways_to_dig(ground):
            for district in components(ground.land & ~dug):
                if ground.has_room(district):
                    sizes.add(district.bit_count())
        for size in range(2, 9):
            region, is_proven = find_region(ground, size)
            assert is_proven
            assert (region is not None) == (size in sizes)
            seen[region is not None] += 1
            if region:
                assert_digs(ground, size, region)
    assert min(seen.values()) > 50


def test_tiles_are_laid_exactly_if_they_suffice():
    rng = random.Random(1)
    seen = Counter()
    for _ in range(2000):
        ground = small_ground(rng, columns=5)._replace(singles=rng.randint(0, 3), doubles=rng.randint(0, 4))
        border = set_of(cell for cell in cells_of(ground.free) if rng.random() < 0.5)
        tiles = lay_tiles(border, ground.free, ground.singles, ground.doubles)
        assert (tiles is not None) == can_cover(border, ground.free, ground.singles, ground.doubles)
        seen[tiles is not None] += 1
        if tiles is not None:
            cells = [cell for tile in tiles for cell in tile]
            assert len(cells) == len(set(cells))
            assert border & ~set_of(cells) == 0
            assert set_of(cells) & ~ground.free == 0
            assert Counter(map(len, tiles))[1] <= ground.singles
            assert Counter(map(len, tiles))[2] <= ground.doubles
    assert min(seen.values()) > 200


def can_cover(border, free, singles, doubles):
    if not border:
        return True
    first = next(cells_of(border))
    rest, free = border & ~(1 << first), free & ~(1 << first)
    if singles and can_cover(rest, free, singles - 1, doubles):
        return True
    return bool(doubles) and any(
        can_cover(rest & ~(1 << other), free & ~(1 << other), singles, doubles - 1)
        for other in cells_of(beside(1 << first) & free)
    )


# Whole positions


def test_at_first_everything_can_be_dug():
    position = ai.new_game(players=4, seed=3)
    display = position.to_json()["calpulli"]["display"]
    assert sorted(display) == [int(action.removeprefix("remove ")) for action in proposals.offered(position)]
    verdict = ask(position, display)
    assert not verdict.agrees
    assert [token.action for token in verdict.opinions] == [f"remove {size}" for size in display]
    assert {token.reason for token in verdict.opinions} == {"CAN_BE_DUG"}
    assert verdict.to_json()["opinions"][0]["evidence"] == verdict.opinions[0].evidence


def test_a_district_that_exists():
    ready = strip(6)
    found = opinion(build(canals=ready["canals"], display=[6, 13]), 6)
    assert (found.agrees, found.reason, found.evidence) == (False, "DISTRICT_EXISTS", [])
    assert sorted(found.places) == sorted(ready["spaces"])
    assert found.explanation == "the district of B10 has 6 spaces"


# The palace and its four corners, a district of nine.
SQUARE = ["G5-H5", "I5", "G9-H9", "I9", "F6-F7", "F8", "J6-J7", "J8"]
CORNERS = ["G6", "I6", "G8", "I8"]
TWO_NINES = (3, 3, 4, 4, 5, 5, 6, 6, 7, 8, 9, 9, 11, 12, 13)


def test_without_tiles_only_districts_count():
    position = build(canals=SQUARE, display=[5, 9, 9], pool=TWO_NINES, no_tiles=True)
    assert opinion(position, 5).reason == "NO_TILES"
    # One of the two can still be founded.
    assert opinion(position, 9).reason == "ENOUGH_LEFT"
    assert opinion(position, 9, 9).reason == "DISTRICT_EXISTS"
    assert not consider(position, 9, 9).agrees
    assert consider(position, 9, 5).agrees


def test_a_district_without_room():
    temples = dict.fromkeys(CORNERS[:3], (0, 1))
    position = build(canals=SQUARE, display=[9], temples=temples, no_tiles=True)
    assert opinion(position, 9).reason == "DISTRICT_EXISTS"
    temples[CORNERS[3]] = (1, 1)
    position = build(canals=SQUARE, display=[9], temples=temples, no_tiles=True)
    assert opinion(position, 9).reason == "NO_ROOM"


@pytest.mark.parametrize("seed", range(6))
def test_the_canals_for_one_of_two_tokens_dig_two_districts(seed):
    display = ai.new_game(players=3, seed=seed).to_json()["calpulli"]["display"]
    twice = [size for size in set(display) if display.count(size) == 2]
    assert twice
    for size in twice:
        ready = strip(size)
        for canals in ((), ready["canals"]):
            token = opinion(build(canals=canals, display=display), size)
            assert token.reason == "CAN_BE_DUG"
            dug = [space for canal in token.evidence for space in canal.split()[1].split("-")]
            island = Board({*PRINTED_CANALS, *(space for run in canals for space in spaces(run)), *dug}, {}, {}, {}, [])
            assert island.district_of(token.places[0]) == set(token.places)
            assert sum(len(district) == size for district in island.districts()) >= 2
            assert f"2 districts of {size} spaces, one of them around {token.places[0]}, can be founded with " in (
                token.explanation
            )


def test_a_pilli_that_is_in_the_way_can_move():
    position = ai.load(Path(__file__).parents[2] / "examples" / "mexica_midgame.json")
    reasons = {token.reason for token in ask(position, [3, 3, 6, 6, 12]).opinions}
    assert reasons == {"CAN_BE_DUG"}


@pytest.mark.parametrize(
    ("actions", "error", "reason", "path"),
    [
        ([], ai.NotationError, "WRONG_TYPE", "actions"),
        (3, ai.NotationError, "WRONG_TYPE", "actions"),
        ("remove 3", ai.NotationError, "WRONG_TYPE", "actions"),
        (["remove 3", 6], ai.NotationError, "WRONG_TYPE", "actions[1]"),
        (["remove 3", "remove"], ai.NotationError, "BAD_OPERANDS", "actions[1]"),
        (["remove 4"], ai.PositionError, "NOT_OFFERED", "actions[0]"),
        (["end"], ai.PositionError, "NOT_OFFERED", "actions[0]"),
        (["remove 3", "remove 3", "remove 3"], ai.PositionError, "NOT_OFFERED", "actions[2]"),
    ],
)
def test_proposals_that_make_no_sense(actions, error, reason, path):
    position = ai.load(Path(__file__).parents[2] / "examples" / "mexica_midgame.json")
    with pytest.raises(error) as caught:
        ai.consider_proposal(position, actions)
    assert (caught.value.reason, caught.value.path) == (reason, path)


def test_a_game_without_proposals():
    position = ai.new_game("nim", seed=1)
    assert proposals.offered(position) == []
    with pytest.raises(ai.PositionError) as caught:
        ai.consider_proposal(position, ["take 1 1"])
    assert caught.value.reason == "GAME_MISMATCH"


def test_the_position_stays_as_it_is():
    position = ai.new_game(seed=3)
    before = position.copy()
    ask(position, position.to_json()["calpulli"]["display"])
    assert position == before


# Against what happens


class Claims:
    """What the engine has agreed to in a period, and the foundings since then."""

    def __init__(self):
        self._allowed = {}  # size -> how many can still be founded at most, as agreed
        self.seen = Counter()

    def ask(self, position):
        display = position.to_json()["calpulli"]["display"]
        if not display:
            return []
        opinions = ask(position, display).opinions
        shown = Counter(display)
        agreed = Counter(int(one.action.removeprefix("remove ")) for one in opinions if one.agrees)
        for size in shown:
            most = shown[size] - agreed[size]
            self._allowed[size] = min(most, self._allowed.get(size, most))
        for token in opinions:
            self.seen[token.reason] += 1
        return opinions

    def found(self, size):
        self.seen["found"] += 1
        if size in self._allowed:
            assert self._allowed[size] > 0, f"a token {size} was founded that could not be"
            self._allowed[size] -= 1

    def begin_period(self):
        self._allowed.clear()


def follow(claims, position, action):
    """Play an action, and check it against the claims."""
    if action.startswith("found "):
        claims.found(int(action.split()[1]))
    before = position.to_json()["period"]
    position.push_action(action)
    if not position.is_over and position.to_json()["period"] != before:
        claims.begin_period()


def choose(rng, legal):
    kinds = {}
    for action in legal:
        kinds.setdefault(action.split()[0], []).append(action)
    names = sorted(kinds)
    return rng.choice(kinds[rng.choices(names, [LIKED.get(name, 1) for name in names])[0]])


def wander(rng, position, claims, steps, ask_every):
    for step in range(steps):
        if position.is_over or position.state.current_player < 0:
            return
        if step % ask_every == 0:
            claims.ask(position)
        legal = position.legal_actions()
        try:
            follow(claims, position, choose(rng, legal))
        except ai.PositionError as error:
            if error.reason != "UPCOMING_UNKNOWN":
                raise
            return


@pytest.mark.slow
def test_played_games_found_nothing_that_was_agreed_to_be_impossible():
    claims = Claims()
    with gzip.open(DATA / "mexica_games.jsonl.gz", "rt") as file:
        games = [json.loads(line) for line in file]
    for game in games:
        claims.begin_period()
        position = ai.Position.from_json(game["start"])
        for index, turn in enumerate(game["turns"]):
            if index % 4 == 0:
                claims.ask(position)
            for action in turn:
                follow(claims, position, action)
    assert claims.seen["found"] > 20


@pytest.mark.parametrize("seed", range(3))
def test_random_games_found_nothing_that_was_agreed_to_be_impossible(seed):
    rng = random.Random(seed)
    seen = Counter()
    for _ in range(10):
        claims = Claims()
        wander(rng, ai.Position.from_json(scramble(rng, rng.choice([2, 3, 4]))), claims, 60, 10)
        seen += claims.seen
    assert seen["found"] > 0
    assert sum(seen[reason] for reason in AGREEING) > 5


# A witness can be played


def play_out(position, token):
    """Dig the canals of an answer and found the district, with any seat to move; return whether it worked."""
    canals = list(token.evidence)
    while not position.is_over:
        legal = position.legal_actions()
        data = position.to_json()
        pilli = data["seats"][data["to_move"]]["pilli"]
        covered = {space for canal in canals for space in canal.split()[1].split("-")}
        possible = [canal for canal in canals if canal in legal]
        founding = [action for action in legal if action.startswith(f"found {token.action.removeprefix('remove ')} ")]
        moves = [action for action in legal if action.split()[0] in ("walk", "teleport")]
        if possible:
            canals.remove(possible[0])
            position.push_action(possible[0])
            continue
        if not canals and founding and pilli in token.places:
            position.push_action(founding[0])
            return True
        wanted = []
        if pilli in covered:
            wanted = [action for action in moves if action.split()[1] not in covered]
        elif not canals and pilli not in PALACE.intersection(token.places):
            # On a palace space a pilli takes no site from the token; on the last site it must not stay.
            inside = [action for action in moves if action.split()[1] in token.places]
            wanted = [action for action in inside if action.split()[1] in PALACE]
            if pilli not in token.places:
                wanted = wanted or inside
            else:
                wanted = wanted or [action for action in moves if action not in inside]
        position.push_action(wanted[0] if wanted else "end")
    return False


@pytest.mark.parametrize("seed", range(3))
def test_what_can_be_dug_can_be_dug(seed):
    rng = random.Random(seed)
    played = 0
    for _ in range(40):
        data = scramble(rng, rng.choice([2, 3, 4]))
        if data["phase"] != "play" or not data["calpulli"]["display"] or data["round"] == 1:
            continue
        data |= {"idle_rounds": 0, "built_this_round": True}
        position = ai.Position.from_json(data)
        display = data["calpulli"]["display"]
        size = rng.choice(display)
        if display.count(size) > 1:
            continue
        (token,) = ask(position, [size]).opinions
        if token.agrees or token.reason == "NOT_PROVEN":
            continue
        assert play_out(position, token), (data, token)
        played += 1
    assert played > 5
