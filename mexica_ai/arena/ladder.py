"""A rating list of all journals in a folder: which engines are the same, who met whom, and their joint ratings.

Main functions: `gather` reads the journals, `rate` fits the ratings. There is a list for each game and number of seats,
and in it a group for each set of engines that games connect: ratings of different groups cannot be compared.

What makes an engine: see `ladder_entries`. Nothing is kept between
two calls, so the list cannot disagree with the journals.
"""

from __future__ import annotations

import collections
import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import stdtr

from mexica_ai.arena.blocks import Games
from mexica_ai.arena.journal import Journal, read_journal
from mexica_ai.arena.ladder_entries import Entry, Identity, entry_json, identify, set_labels
from mexica_ai.arena.outcomes import Outcome
from mexica_ai.arena.ratings import Fit, fit
from mexica_ai.arena.report import outcome_of
from mexica_ai.arena.tournament import Tournament
from mexica_ai.io.errors import NotationError
from mexica_ai.io.strict import quote

BOOTSTRAP = 1000


# --- games


@dataclass
class League:
    """All games of a game title and a number of seats.

    Parameters
    ----------
    game : str
    players : int
    entries : list of Entry
        The engines of outcomes are their numbers.
    outcomes : list of Outcome
        The games that count: of complete blocks, with `drop` without a forfeit.
    num_games, num_incomplete, num_repeated, num_forfeits, num_dropped : int
        Games in all; games of incomplete blocks; records of games that occur again, not among the games; games that
        ended by a forfeit; games of blocks that were left out because of forfeits.
    """

    game: str
    players: int
    entries: list[Entry] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    num_games: int = 0
    num_incomplete: int = 0
    num_repeated: int = 0
    num_forfeits: int = 0
    num_dropped: int = 0


@dataclass
class Gathered:
    """What was found in folders.

    Parameters
    ----------
    leagues : list of League
        By game and number of seats.
    journals : list of dict
        Of each journal that was read: `path`, `games`, `is_torn`.
    skipped : list of dict
        Of each file that was not: `path` and `problem`.
    """

    leagues: list[League]
    journals: list[dict[str, Any]]
    skipped: list[dict[str, str]]


@dataclass
class _Table:
    """A league while games are added: its blocks, and its engines by identity."""

    league: League
    numbers: dict[Identity, int] = field(default_factory=dict)
    blocks: dict[tuple[str, int], tuple[int, int]] = field(default_factory=dict)  # number, games of a whole block
    seen: set[tuple[str, int, int]] = field(default_factory=set)
    pending: list[Outcome] = field(default_factory=list)


def find_journals(paths: Sequence[str]) -> list[tuple[Path, bool]]:
    """Return the files that may be journals, each once: those named, and all ``*.jsonl`` in the folders named.

    The second entry says whether a file was named itself.

    Raises
    ------
    NotationError
        There is no such file or folder, or there is no ``*.jsonl`` at all.
    """
    found: dict[Path, bool] = {}
    for path in map(Path, paths):
        if path.is_dir():
            for file in sorted(path.rglob("*.jsonl")):
                found.setdefault(file, False)
        elif path.exists():
            found[path] = True
        else:
            raise NotationError(f"cannot read {path}: no such file or folder", reason="UNREADABLE_FILE")
    if not found:
        raise NotationError(f"{', '.join(paths)}: no *.jsonl; expected journals of the arena", reason="UNREADABLE_FILE")
    return list(found.items())


def gather(
    paths: Sequence[str], *, by_release: bool = False, same: Sequence[str] = (), drops_forfeits: bool = True
) -> Gathered:
    """Read all journals of folders. One is in memory at a time.

    A file of a folder that is no journal is skipped, whole, and told; one that is named itself is an error.

    Parameters
    ----------
    paths : sequence of str
        Folders, searched with all folders in them for ``*.jsonl``, and files.
    by_release : bool
        Count all builds of a release as one.
    same : sequence of str
        Names or specs of engines that are the same in all builds.
    drops_forfeits : bool
        Leave out blocks in which a seat has forfeited: it says how a program ran, not how it played.

    Raises
    ------
    NotationError
        As `find_journals`; a named file, or every file, is no journal; `same` names no engine.
    """
    tables: dict[tuple[str, int], _Table] = {}
    journals: list[dict[str, Any]] = []
    skipped: list[dict[str, str]] = []
    names: set[str] = set()
    for path, is_named in find_journals(paths):
        try:
            journal = read_journal(str(path))
        except NotationError as error:
            if is_named:
                raise
            skipped.append({"path": str(path), "problem": str(error)})
            continue
        journals.append({"path": str(path), "games": len(journal.games), "is_torn": journal.is_torn})
        names.update(_add_journal(tables, journal, by_release, same))
    if not journals:
        raise NotationError(f"no journal of the arena: {skipped[0]['problem']}", reason="UNREADABLE_FILE")
    if unknown := [name for name in same if name not in names]:
        raise NotationError(f"--same: {quote(unknown[0])} is the name or spec of no engine", reason="BAD_USAGE")
    leagues = [_completed(tables[key], drops_forfeits) for key in sorted(tables)]
    return Gathered(leagues, journals, skipped)


def _add_journal(
    tables: dict[tuple[str, int], _Table], journal: Journal, by_release: bool, same: Sequence[str]
) -> set[str]:
    """Add the games of a journal; return the names and specs of its engines."""
    names: set[str] = set()
    identities: dict[int, str] = {}  # of the tournaments of this journal, by id
    # With --reproducible, games of two builds differ in nothing else.
    builds: dict[tuple[int, int], set[str]] = {}  # of each block
    for tournament, record in journal.games:
        builds.setdefault((id(tournament), record["arena"]["block"]), set()).add(record.get("build", ""))
    for tournament, record in journal.games:
        table = tables.setdefault(
            (tournament.game, tournament.players), _Table(League(tournament.game, tournament.players))
        )
        if id(tournament) not in identities:
            identities[id(tournament)] = json.dumps(tournament.to_json(), sort_keys=True)
            names.update(tournament.names, tournament.engines)
            names.update(identify(tournament, engine, "", False, ()).spec for engine in range(len(tournament.engines)))
        played_by = sorted(builds[id(tournament), record["arena"]["block"]])
        _add_game(table, tournament, record, f"{identities[id(tournament)]} {played_by}", by_release, same)
    return names


def _add_game(
    table: _Table, tournament: Tournament, record: dict[str, Any], which: str, by_release: bool, same: Sequence[str]
) -> None:
    league, arena = table.league, record["arena"]
    key = which, arena["block"], arena["number"]
    if key in table.seen:
        league.num_repeated += 1
        return
    table.seen.add(key)
    league.num_games += 1
    build, seating = record.get("build", ""), arena["seating"]
    numbers = {}
    for engine in dict.fromkeys(seating):
        identity = identify(tournament, engine, build, by_release, same)
        if identity not in table.numbers:
            table.numbers[identity] = len(league.entries)
            league.entries.append(Entry(identity))
        numbers[engine] = table.numbers[identity]
        entry = league.entries[numbers[engine]]
        entry.add(tournament, engine, build, record.get("started_at", ""))
    for number in set(numbers.values()):
        league.entries[number].games += 1
    if record["termination"] == "forfeit":
        league.num_forfeits += 1
        league.entries[numbers[seating[record["forfeit"]["seat"]]]].forfeits += 1
    block, _ = table.blocks.setdefault(key[:2], (len(table.blocks), tournament.games_per_block))
    outcome = outcome_of(record, block, tuple(seating))
    table.pending.append(dataclasses.replace(outcome, pattern="", engines=tuple(numbers[each] for each in seating)))


def _completed(table: _Table, drops_forfeits: bool) -> League:
    """Choose the games that count, and count those of each entry."""
    league = table.league
    played = collections.Counter(outcome.block for outcome in table.pending)
    whole = {block for block, total in table.blocks.values() if played[block] == total}
    spoilt = {outcome.block for outcome in table.pending if outcome.forfeit is not None} if drops_forfeits else set()
    league.num_incomplete = sum(outcome.block not in whole for outcome in table.pending)
    league.num_dropped = sum(outcome.block in whole & spoilt for outcome in table.pending)
    league.outcomes = [outcome for outcome in table.pending if outcome.block in whole - spoilt]
    blocks: dict[int, set[int]] = collections.defaultdict(set)
    for outcome in league.outcomes:
        if len(set(outcome.engines)) == 1:
            continue  # it played itself, which says nothing
        for engine, share in zip(outcome.engines, outcome.shares, strict=True):
            league.entries[engine].points += share
            league.entries[engine].seats += 1
        for engine in set(outcome.engines):
            league.entries[engine].counted += 1
            blocks[engine].add(outcome.block)
    for engine, entry in enumerate(league.entries):
        entry.blocks = len(blocks[engine])
    set_labels(league.entries)
    return league


# --- ratings


def groups_of(league: League) -> list[list[int]]:
    """Return the engines that games connect, the group with most games first; engines without a game are in none."""
    root = list(range(len(league.entries)))

    def find(engine: int) -> int:
        while root[engine] != engine:
            root[engine] = root[root[engine]]
            engine = root[engine]
        return engine

    for outcome in league.outcomes:
        for engine in outcome.engines[1:]:
            root[find(engine)] = find(outcome.engines[0])
    groups: dict[int, list[int]] = {}
    for engine, entry in enumerate(league.entries):
        if entry.counted:
            groups.setdefault(find(engine), []).append(engine)
    return sorted(groups.values(), key=lambda group: -sum(league.entries[engine].counted for engine in group))


def rate(gathered: Gathered, anchors: Mapping[str, float] | None = None, *, seed: int = 0) -> dict[str, Any]:
    """Return the rating list as one JSON object; docs/arena.md describes it.

    Parameters
    ----------
    gathered : Gathered
    anchors : dict of str to float, optional
        Ratings by an engine's label, name or spec, taken as exact; one for a group. A group without one has mean 0.
    seed : int
        Of the resamples of the blocks.

    Raises
    ------
    NotationError
        An anchor is no engine of any list, or of several engines of one group; or a group has two anchors.
    """
    anchors = anchors or {}
    found = {name for league in gathered.leagues for entry in league.entries for name in _names(entry)}
    for name in anchors:
        if name not in found:
            raise NotationError(f"--anchor: {quote(name)} is no engine of the list", reason="BAD_USAGE")
    lists = []
    for league in gathered.leagues:
        groups = [_rate_group(league, group, anchors, seed) for group in groups_of(league)]
        alone = [entry_json(entry) for entry in league.entries if not entry.counted]
        lists.append(
            {
                "game": league.game,
                "players": league.players,
                "games": league.num_games,
                "games_counted": len(league.outcomes),
                "blocks": len({outcome.block for outcome in league.outcomes}),
                "incomplete": league.num_incomplete,
                "repeated": league.num_repeated,
                "forfeits": league.num_forfeits,
                "dropped": league.num_dropped,
                "groups": groups,
                "unrated": alone,
            }
        )
    return {"format": 1, "journals": gathered.journals, "skipped": gathered.skipped, "lists": lists}


def _names(entry: Entry) -> set[str]:
    return {entry.label, entry.identity.spec, *entry.names}


def _anchor_of(entries: Sequence[Entry], anchors: Mapping[str, float]) -> tuple[int, float] | None:
    """Return the engine of a group that has a rating, and the rating."""
    found: dict[int, float] = {}
    for name, rating in anchors.items():
        exact = [number for number, entry in enumerate(entries) if entry.label == name]
        fitting = exact or [number for number, entry in enumerate(entries) if name in _names(entry)]
        if len(fitting) > 1:
            labels = ", ".join(quote(entries[number].label) for number in fitting)
            raise NotationError(f"--anchor: {quote(name)} may be {labels}; expected one of these", reason="BAD_USAGE")
        found |= dict.fromkeys(fitting, rating)
    if len(found) > 1:
        labels = " and ".join(quote(entries[number].label) for number in found)
        raise NotationError(
            f"--anchor: {labels} have met, directly or by others; expected one anchor for them", reason="BAD_USAGE"
        )
    return next(iter(found.items()), None)


def _rate_group(league: League, group: Sequence[int], anchors: Mapping[str, float], seed: int) -> dict[str, Any]:
    numbers = {engine: number for number, engine in enumerate(group)}
    outcomes = [
        dataclasses.replace(outcome, engines=tuple(numbers[engine] for engine in outcome.engines))
        for outcome in league.outcomes
        if outcome.engines[0] in numbers and len(set(outcome.engines)) > 1
    ]
    entries = [league.entries[engine] for engine in group]
    anchor = _anchor_of(entries, anchors)
    fitted = fit(Games(outcomes), len(group), bootstrap=BOOTSTRAP, seed=seed).placed(anchor)
    order = sorted(range(len(group)), key=lambda number: -fitted.strengths[number])
    engines = []
    for number, following in zip(order, [*order[1:], None], strict=True):
        better = None if following is None else _superiority(fitted, entries, number, following)
        is_anchor = anchor is not None and number == anchor[0]
        rating = _rating(fitted, entries, number) if not is_anchor else [float(fitted.strengths[number])] * 3
        engines.append(entry_json(entries[number]) | {"rating": rating, "superiority": better})
    return {
        "games": len(outcomes),
        "blocks": fitted.num_blocks,
        "anchor": anchor and {"engine": entries[anchor[0]].label, "rating": anchor[1]},
        "engines": engines,
    }


def _rating(fitted: Fit, entries: Sequence[Entry], number: int) -> list[float | None]:
    mean, num_blocks = round(float(fitted.strengths[number]), 2), entries[number].blocks
    if fitted.resamples is None or num_blocks < 2:
        return [mean, None, None]
    lows, highs = fitted.interval([number], num_blocks)
    return [mean, min(mean, round(float(lows[0]), 2)), max(mean, round(float(highs[0]), 2))]


def _superiority(fitted: Fit, entries: Sequence[Entry], engine: int, other: int) -> float | None:
    """Return the likelihood that an engine is stronger than another one, by the variance of the resamples.

    With Student's t and the factor of `Fit.interval`, of the engine with fewer blocks; None with fewer than two.
    """
    num_blocks = min(entries[engine].blocks, entries[other].blocks)
    if fitted.resamples is None or num_blocks < 2:
        return None
    spread = float(np.std(fitted.resamples[:, engine] - fitted.resamples[:, other], ddof=1))
    spread *= math.sqrt((num_blocks + 1) / (num_blocks - 1))
    difference = float(fitted.strengths[engine] - fitted.strengths[other])
    return round(float(stdtr(num_blocks - 1, difference / spread)), 4) if spread else 0.5
