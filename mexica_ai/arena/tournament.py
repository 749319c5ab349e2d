"""The schedule of a tournament: its games, in blocks, and the seeds of everything random in them.

A *block* is one deal played on all seatings of one line-up, so that the effects of seat and deal cancel out.
A *line-up* is the engines of a game without their seats; it is named by its pattern: "ABB" is one A and two
B. With two engines and three or four seats, a block has both line-ups. The schedule depends on the tournament
alone: any game of any block can be computed without those before it.

All seeds are keyed hashes. The key is drawn from the operating system and told to no engine, so that a program
that knows the tournament's seed and its own seeds cannot find the deal by trying.
"""

from __future__ import annotations

import dataclasses
import hashlib
import random
import re
import secrets
import string
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import combinations, combinations_with_replacement, islice, permutations
from typing import Any

from numpy.random import SeedSequence

from mexica_ai.analysis.limits import DEFAULT_TIME_S
from mexica_ai.arena import knockout
from mexica_ai.engines.process import DEFAULT_MARGIN_S as DEFAULT_MARGIN_S
from mexica_ai.engines.specs import KINDS, EngineSpec, parse_spec
from mexica_ai.io.errors import NotationError
from mexica_ai.io.strict import Nullable, check_shape, choice, quote

FORMATS = ("round-robin", "gauntlet", "swiss", "knockout")
ON_FAILURE = ("forfeit", "retry")
OPENING_ORDERS = ("random",)  # beside that of the file
RESTARTS = ("off", "after-failure")  # beside "on", a start for each game
LETTERS = string.ascii_uppercase  # engine numbers in patterns
MAX_ENGINES = len(LETTERS)
DEFAULT_PATIENCE_S = 600.0

# Streams of the tournament's seed, so that draws for one purpose do not affect draws for another.
_DEAL, _SEATINGS, _ENGINE, _JUDGE, _OPENINGS = range(5)
KEY_BYTES = 16  # more than can be tried

# Keys that journals of early versions lack; left out where they are None.
_NEW_KEYS = (
    "weights",
    "openings",
    "resign",
    "max_turns",
    "round_blocks",
    "gauntlet",
    "opening_order",
    "restart",
    "key",
)

_SHAPE = {
    "game": str,
    "players": int,
    "format": choice(*FORMATS),
    "engines": [str],
    "names": [str],
    "seed": int,
    "sample": Nullable(int),
    "clock": Nullable([float]),
    "margin_s": float,
    "patience_s": float,
    "on_failure": choice(*ON_FAILURE),
    "weights?": [Nullable(str)],
    "openings?": str,
    "resign?": [float],
    "max_turns?": int,
    "round_blocks?": int,
    "gauntlet?": int,
    "opening_order?": choice(*OPENING_ORDERS),
    "restart?": choice(*RESTARTS),
    "key?": str,
}


def draw_key() -> str:
    """Return a new key for the seeds of a tournament, in hexadecimal digits."""
    return secrets.token_hex(KEY_BYTES)


def reproducible_key(seed: int) -> str:
    """Return the key that follows from a tournament's seed: not a secret, but the same games again."""
    return hashlib.blake2b(b"%d" % seed, digest_size=KEY_BYTES, person=b"mexica-ai key").hexdigest()


@dataclass(frozen=True)
class Game:
    """A game of the schedule; `seating` is the engine number of each seat."""

    block: int
    number: int
    seating: tuple[int, ...]


@dataclass(frozen=True)
class Tournament:
    """Everything that determines the games. The number of blocks, the workers and their speed do not.

    Parameters
    ----------
    game : str
    players : int
        Number of seats.
    engines : tuple of str
        Specs with all their limits, so that a spec alone determines the strength; at least two.
    names : tuple of str
        Their names in reports.
    seed : int
        0 <= seed < 2**63.
    format : str
        "round-robin"; "gauntlet": only line-ups with engine 0, or as `gauntlet` says; or "swiss" or "knockout": the
        results decide who plays whom, see `rounds`. Then `lineups` is empty, and `block` needs the line-up.
    sample : int, optional
        With more than two engines: the number of seatings of each line-up to play; all if None.
    clock : tuple of (float, float), optional
        Seconds of each seat for the whole game, and seconds added after each of its turns.
    margin_s : float
        Seconds by which an engine may exceed its time before it forfeits.
    patience_s : float
        Limit in seconds for a turn that has no other limit of time.
    on_failure : str
        "forfeit", or "retry": the game is restarted up to `play.RETRIES` times.
    weights : tuple of (str or None), optional
        The weights of each engine, see `Engine.weights_id`; None if they are not known, as in journals of
        early versions.
    openings : str, optional
        Identifies the positions from which the games begin, see `openings.openings_id`; None for new deals.
    resign : tuple of (float, int), optional
        When a game is adjudicated as won, see `adjudication`: the largest share of the others, and for how many
        turns of each seat.
    max_turns : int, optional
        After how many turns of all seats a game is adjudicated.
    round_blocks : int, optional
        Blocks of each line-up of a round; in the formats "swiss" and "knockout" and no other.
    gauntlet : int, optional
        In the format "gauntlet": of the first so many engines, exactly one is in each line-up. Without it, the first
        engine is, and with fewer engines than seats it may hold several.
    opening_order : str, optional
        "random": the openings are used in an order that follows from the key, another one each time that all have
        been used. By default in the order of their file.
    restart : str, optional
        Whether a program is kept for the next game of a worker: "after-failure", until it fails; "off", and the
        tournament ends when one fails. By default each game starts its programs.
    key : str, optional
        The key of all seeds, in hexadecimal digits; drawn by default. None in journals of early versions: their
        seeds follow from `seed` alone.
    """

    game: str
    players: int
    engines: tuple[str, ...]
    names: tuple[str, ...]
    seed: int
    format: str = "round-robin"
    sample: int | None = None
    clock: tuple[float, float] | None = None
    margin_s: float = DEFAULT_MARGIN_S
    patience_s: float = DEFAULT_PATIENCE_S
    on_failure: str = "forfeit"
    weights: tuple[str | None, ...] | None = None
    openings: str | None = None
    resign: tuple[float, int] | None = None
    max_turns: int | None = None
    round_blocks: int | None = None
    gauntlet: int | None = None
    opening_order: str | None = None
    restart: str | None = None
    key: str | None = field(default_factory=draw_key, repr=False)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object that each record of a journal contains; its last key is `key`, if it has one."""
        data = dataclasses.asdict(self)
        for key in _NEW_KEYS:
            if data[key] is None:
                del data[key]
        return {key: list(value) if isinstance(value, tuple) else value for key, value in data.items()}

    @property
    def is_reproducible(self) -> bool:
        """Whether all seeds follow from `seed` alone."""
        return self.key in (None, reproducible_key(self.seed))

    @classmethod
    def from_json(cls, data: dict[str, Any], path: str = "$") -> Tournament:
        """Read an object of `to_json`; raise NotationError if it is not one."""
        check_shape(data, _SHAPE, path)
        values: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in data.items()
        }
        values.setdefault("key", None)
        if values["key"] is not None and not re.fullmatch(f"[0-9a-f]{{{2 * KEY_BYTES}}}", values["key"]):
            raise NotationError(
                f"{path}.key: given {quote(values['key'])}; expected {2 * KEY_BYTES} hexadecimal digits",
                reason="BAD_VALUE",
                path=f"{path}.key",
            )
        if not 2 <= len(data["engines"]) == len(data["names"]) <= MAX_ENGINES:
            raise NotationError(
                f"{path}.engines: expected 2 to {MAX_ENGINES} engines, each with a name",
                reason="OUT_OF_RANGE",
                path=f"{path}.engines",
            )
        if len(data.get("weights", data["engines"])) != len(data["engines"]):
            raise NotationError(
                f"{path}.weights: expected an entry for each of the {len(data['engines'])} engines",
                reason="OUT_OF_RANGE",
                path=f"{path}.weights",
            )
        _check_more(data, path)
        if "resign" in data:
            values["resign"] = data["resign"][0], int(data["resign"][1])
        return cls(**values)

    @cached_property
    def lineups(self) -> tuple[tuple[int, ...], ...]:
        """The line-ups: engine numbers in ascending order. With more than two engines, a block plays one."""
        num_engines, seats = len(self.engines), self.players
        if self.is_paired:
            return ()
        if num_engines == 2 and seats == 2:
            return ((0, 1),)
        if num_engines == 2:
            return ((0, *[1] * (seats - 1)), (*[0] * (seats - 1), 1))
        every: Iterable[tuple[int, ...]]
        if num_engines >= seats:
            every = combinations(range(num_engines), seats)
        else:  # every engine plays, some on several seats
            every = (
                lineup
                for lineup in combinations_with_replacement(range(num_engines), seats)
                if len(set(lineup)) == num_engines
            )
        if self.gauntlet is not None:
            return tuple(lineup for lineup in every if sum(engine < self.gauntlet for engine in set(lineup)) == 1)
        return tuple(lineup for lineup in every if self.format == "round-robin" or lineup[0] == 0)

    @property
    def is_paired(self) -> bool:
        """Whether the results decide who plays whom, in rounds."""
        return self.format in ("swiss", "knockout")

    @property
    def num_lineups(self) -> int:
        """Number of blocks after which every line-up has played; 1 with two engines. Not of one in rounds."""
        return 1 if len(self.engines) == 2 else len(self.lineups)

    @property
    def num_tables(self) -> int:
        """Number of line-ups of a round of a Swiss tournament."""
        return len(self.engines) // self.players

    @property
    def blocks_per_round(self) -> int:
        """Number of blocks of a round of a Swiss tournament."""
        return self.num_tables * (self.round_blocks or 1)

    @cached_property
    def games_per_block(self) -> int:
        """Number of games of any block."""
        return len(self.block(0, tuple(range(self.players)) if self.is_paired else None))

    @property
    def games_per_table(self) -> int:
        """Number of games of a line-up of a round, of a tournament in rounds."""
        return (self.round_blocks or 1) * self.games_per_block

    def first_block(self, number: int) -> int:
        """Return the first block of a round, from 0, of a tournament in rounds; a block that is none after the last."""
        if self.format == "swiss":
            return number * self.blocks_per_round
        return sum(self._knockout_sizes[:number]) * (self.round_blocks or 1)

    def table_of(self, block: int) -> tuple[int, int]:
        """Return the round of a block and its table in it, both from 0, of a tournament in rounds."""
        if self.format == "swiss":
            number, rest = divmod(block, self.blocks_per_round)
            return number, rest // (self.round_blocks or 1)
        number, table = 0, block // (self.round_blocks or 1)
        while number < len(self._knockout_sizes) - 1 and table >= self._knockout_sizes[number]:
            table -= self._knockout_sizes[number]
            number += 1
        return number, table

    @cached_property
    def _knockout_sizes(self) -> tuple[int, ...]:
        return knockout.round_sizes(len(self.engines), self.players)

    @property
    def blocks(self) -> range:
        """The numbers of its blocks: in a knockout up to the last round, else without an end."""
        return range(self.first_block(len(self._knockout_sizes)) if self.format == "knockout" else sys.maxsize)

    def opening(self, block: int, num_openings: int) -> int:
        """Return which of the openings, from 0, a block begins with: all line-ups (of a round) have the same ones."""
        if self.is_paired:
            round_blocks = self.round_blocks or 1
            number = self.table_of(block)[0] * round_blocks + block % round_blocks
        else:
            number = block // self.num_lineups
        times, index = divmod(number, num_openings)
        if self.opening_order is None:
            return index
        return _shuffled(self._derive(_OPENINGS, times), num_openings)[index]

    def block(self, block: int, lineup: tuple[int, ...] | None = None) -> list[Game]:
        """Return the games of a block; of a tournament in rounds, whose line-ups depend on results, with it."""
        if not self.is_paired and len(self.engines) == 2:
            seatings = [seating for lineup in self.lineups for seating in _rotations(lineup)]
        else:
            if not self.is_paired:
                lineup = self.lineups[block % len(self.lineups)]
            assert lineup is not None
            rng = random.Random(self._derive(_SEATINGS, block))
            every = _all_seatings(lineup) if self.sample is None else _drawn_seatings(lineup, rng)
            seatings = list(islice(every, self.sample))
        return [Game(block, number, seating) for number, seating in enumerate(seatings)]

    def games(self, num_blocks: int) -> Iterator[Game]:
        """Yield the games of the first blocks, block by block."""
        for block in range(num_blocks):
            yield from self.block(block)

    def deal_seed(self, block: int) -> int:
        """Return the seed of a block's deal."""
        return self._derive(_DEAL, block)

    def engine_seed(self, game: Game, seat: int) -> int:
        """Return the seed of the engine on a seat of a game; `turn_seed` derives those of its turns."""
        return self._derive(_ENGINE, game.block, game.number, seat)

    def judge_seed(self, game: Game, turn: int) -> int:
        """Return the seed of the default engine where it adjudicates a game after this number of turns."""
        return self._derive(_JUDGE, game.block, game.number, turn)

    def _derive(self, *what: int) -> int:
        if self.key is None:
            return _first_number(self.seed, what)
        text = ",".join(map(str, (self.seed, *what))).encode()
        digest = hashlib.blake2b(text, digest_size=8, key=bytes.fromhex(self.key), person=b"mexica-ai seed")
        return int.from_bytes(digest.digest(), "little") >> 1


def _check_more(data: dict[str, Any], path: str) -> None:
    """Raise NotationError if a key that only some tournaments have does not fit."""

    def refuse(key: str, expected: str) -> NotationError:
        where = f"{path}.{key}"
        return NotationError(
            f"{where}: given {quote(data.get(key))}; expected {expected}", reason="OUT_OF_RANGE", path=where
        )

    resign = data.get("resign", [0.1, 1])
    if not (len(resign) == 2 and 0 < resign[0] < 0.5 and resign[1] >= 1 and resign[1] == int(resign[1])):
        raise refuse("resign", "a share above 0 and below 0.5, and a number of turns")
    if data.get("max_turns", 1) < 1:
        raise refuse("max_turns", "at least 1")
    is_paired = data["format"] in ("swiss", "knockout")
    if is_paired != ("round_blocks" in data) or data.get("round_blocks", 1) < 1:
        raise refuse("round_blocks", "a number from 1 on, in the formats swiss and knockout and no other")
    num_engines, seats = len(data["engines"]), data["players"]
    if data["format"] == "swiss" and num_engines <= seats:
        raise refuse("format", "another with no more engines than seats")
    if data["format"] == "knockout" and (seats < 2 or not knockout.can_be_played(num_engines, seats)):
        raise refuse("format", f"another with {num_engines} engines and {seats} seats")
    first = data.get("gauntlet")
    if first is not None and (data["format"] != "gauntlet" or problem_of_gauntlet(first, num_engines, seats)):
        raise refuse("gauntlet", "a number of engines that leaves line-ups, in the format gauntlet and no other")
    if "opening_order" in data and "openings" not in data:
        raise refuse("opening_order", "none without openings")


def problem_of_gauntlet(first: int, num_engines: int, seats: int) -> str:
    """Return why there is no gauntlet of the first so many engines against the others; "" if there is one."""
    others = max(1, seats - 1)
    if first >= 1 and num_engines - first >= (1 if num_engines == 2 or first == 1 else others):
        return ""
    return f"{first} of {num_engines} engines against the others, of which a game of {seats} seats needs {others}"


@lru_cache(maxsize=8)
def _shuffled(seed: int, count: int) -> tuple[int, ...]:
    """Return the numbers from 0 on in the random order of a seed."""
    numbers = list(range(count))
    random.Random(seed).shuffle(numbers)
    return tuple(numbers)


def turn_seed(engine_seed: int, turn: int) -> int:
    """Return the seed of an engine's search for its `turn`-th turn, from 0."""
    return _first_number(engine_seed, (turn,))


def pattern(seating: tuple[int, ...]) -> str:
    """Return the name of a seating's line-up, such as "ABB"."""
    return "".join(LETTERS[engine] for engine in sorted(seating))


def complete_spec(text: str, time_s: float | None, iterations: int | None, has_clock: bool) -> EngineSpec:
    """Return a spec with its keys sorted, and with the limits of the command line that it does not set.

    Without any limit a turn takes `DEFAULT_TIME_S`. Engines that answer at once get no time but that of their spec:
    they need no search, so a wall clock could only blame them for a busy machine.

    Raises
    ------
    NotationError
        The spec cannot be read, or has a seed, which only the tournament may set.
    """
    spec = parse_spec(text)
    if "seed" in spec.options:
        raise NotationError(
            f"engine spec {text!r}: has a seed; expected none, since the tournament derives the engines' "
            "seeds from its own",
            reason="BAD_ENGINE_SPEC",
            path="engine",
        )
    is_instant = KINDS[spec.kind].is_instant
    given = {"time": None if is_instant else time_s, "iterations": iterations}
    limits = {key: value for key, value in given.items() if value is not None and key not in spec.options}
    is_unlimited = not has_clock and not limits and not given.keys() & spec.options.keys()
    if is_unlimited and not is_instant:
        limits = {"time": DEFAULT_TIME_S}
    return dataclasses.replace(spec, options=dict(sorted({**spec.options, **limits}.items())))


def canonical_spec(text: str) -> str:
    """Return a spec with its keys sorted, so that equal engines have equal specs."""
    try:
        spec = parse_spec(text)
    except NotationError:  # perhaps written by a newer version
        return text
    return str(dataclasses.replace(spec, options=dict(sorted(spec.options.items()))))


def without_idle_time(text: str) -> str:
    """Return a spec as `canonical_spec`, of an engine that answers at once without its limit of time.

    Earlier versions gave all engines that of the command line, so such specs stand in journals.
    """
    text = canonical_spec(text)
    try:
        spec = parse_spec(text)
    except NotationError:
        return text
    if not KINDS[spec.kind].is_instant:
        return text
    return str(dataclasses.replace(spec, options={key: spec.options[key] for key in spec.options if key != "time"}))


def unique_names(typed: Sequence[str], completed: list[EngineSpec]) -> list[str]:
    """Return the engines' names: labels or specs as typed; equal specs are completed, then numbered.

    Raises
    ------
    NotationError
        A label is the name of two engines.
    """
    names = [spec.options.get("name", text) for text, spec in zip(typed, completed, strict=True)]
    for spec in completed:
        if "name" in spec.options and names.count(spec.options["name"]) > 1:
            raise NotationError(
                f"--engine: two engines are called {quote(spec.options['name'])}; expected a name of its own for each",
                reason="BAD_USAGE",
            )
    pairs = zip(names, completed, strict=True)
    names = [str(spec) if names.count(name) > 1 else name for name, spec in pairs]
    return [
        f"{name} ({names[: index + 1].count(name)})" if names.count(name) > 1 else name
        for index, name in enumerate(names)
    ]


def _first_number(entropy: int, key: tuple[int, ...]) -> int:
    return int(SeedSequence(entropy=entropy, spawn_key=key).generate_state(1, "uint64")[0] >> 1)


def _rotations(lineup: tuple[int, ...]) -> list[tuple[int, ...]]:
    turned = [lineup[-shift:] + lineup[:-shift] for shift in range(len(lineup))]
    return list(dict.fromkeys(turned))


def _all_seatings(lineup: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    return iter(dict.fromkeys(permutations(lineup)))


def _drawn_seatings(lineup: tuple[int, ...], rng: random.Random) -> Iterator[tuple[int, ...]]:
    """Yield every seating once in random order, each followed by its rotations.

    So the first S seatings, for S seats, put every engine on every seat equally often.
    """
    every = list(_all_seatings(lineup))
    rng.shuffle(every)
    seen: set[tuple[int, ...]] = set()
    for seating in every:
        for rotated in _rotations(seating):
            if rotated not in seen:
                seen.add(rotated)
                yield rotated
