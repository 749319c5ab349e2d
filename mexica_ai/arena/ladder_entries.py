"""The engines of a rating list: what makes two engines the same, and how the list calls them.

What makes an engine: its spec without its name (of engines that answer at once also without limits, of a `weights=FILE`
its content), its weights, the clock, and the build that played. A random player is the same in all builds, and so is
what `same` names. A program or a server runs elsewhere: it is what its spec and its name say.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from mexica_ai.arena.tournament import Tournament
from mexica_ai.engines.specs import parse_spec
from mexica_ai.io.errors import NotationError

MANY_FORFEITS = 0.05  # of an engine's games: its rating is marked
ELSEWHERE = ("cmd", "grpc", "py")  # kinds whose strength no build of this package decides
AT_ONCE = ("random", "greedy", "planner")  # kinds that no limit changes
UNKNOWN = "unknown"


@dataclass(frozen=True)
class Identity:
    """What makes an engine; see the module.

    Parameters
    ----------
    spec : str
    weights : str or None
    clock : tuple of (float, float) or None
    build : str
        As the record says or, by release, its version; "" if any build is meant.
    name : str
        Of a program or a server; "" of others.
    """

    spec: str
    weights: str | None
    clock: tuple[float, float] | None
    build: str
    name: str


@dataclass
class Entry:
    """An engine of the list.

    Parameters
    ----------
    identity : Identity
    names : dict of str to int
        What it is called in the journals, with the number of its games.
    given : set of (str or None)
        The names that its specs give it; None if one gives none.
    builds : dict of str to int
        The builds that played it, with the number of its games.
    games, blocks, forfeits : int
        Its games in all; the blocks that its rating rests on; the games that it forfeited.
    counted : int
        Its games in these blocks.
    points : float
        Its shares of the win in these games.
    seats : int
        On how many seats it won them.
    first, last : str
        When its first and its last game began; "" if no record says so.
    label : str
        Its name in the list, which no other has.
    """

    identity: Identity
    names: dict[str, int] = field(default_factory=dict)
    given: set[str | None] = field(default_factory=set)
    builds: dict[str, int] = field(default_factory=dict)
    games: int = 0
    blocks: int = 0
    counted: int = 0
    forfeits: int = 0
    points: float = 0.0
    seats: int = 0
    first: str = ""
    last: str = ""
    label: str = ""

    @property
    def name(self) -> str:
        """What it is called: the name that all its specs give it, else its spec."""
        name = next(iter(self.given)) if len(self.given) == 1 else None
        return self.identity.spec if name is None else name

    @property
    def release(self) -> str | None:
        """The version that played it; None if any may have."""
        return release_of(self.identity.build)[0] if self.identity.build else None

    def add(self, tournament: Tournament, engine: int, build: str, started_at: str) -> None:
        """Count a game as an engine of a tournament."""
        name = tournament.names[engine]
        self.given.add(given_name(tournament.engines[engine]))
        self.names[name] = self.names.get(name, 0) + 1
        self.builds[build] = self.builds.get(build, 0) + 1
        if started_at:
            self.first = min(self.first or started_at, started_at)
            self.last = max(self.last, started_at)


def release_of(build: str) -> tuple[str, str]:
    """Return the version and the code digest of a record's build; the digest may be "", the version unknown."""
    match = re.fullmatch(r"mexica-ai ([^ ,]+)(?:, code ([0-9a-f]+))?", build)
    return (match[1], match[2] or "") if match else (build or UNKNOWN, "")


@functools.lru_cache(maxsize=4096)
def given_name(text: str) -> str | None:
    """Return the name that a spec gives its engine."""
    try:
        return parse_spec(text).options.get("name")
    except NotationError:  # perhaps written by a newer version
        return None


def identify(tournament: Tournament, engine: int, build: str, by_release: bool, same: Iterable[str]) -> Identity:
    """Return what makes an engine of a tournament.

    Parameters
    ----------
    tournament : Tournament
    engine : int
        Its number.
    build : str
        That of the record.
    by_release : bool
        Only the version of the build matters.
    same : iterable of str
        Names and specs of engines that are the same in all builds.
    """
    text, name = tournament.engines[engine], tournament.names[engine]
    weights = tournament.weights[engine] if tournament.weights else None
    if by_release:
        build = f"mexica-ai {release_of(build)[0]}"
    try:
        spec = parse_spec(text)
    except NotationError:  # perhaps written by a newer version
        return Identity(text, weights, tournament.clock, build, "")
    options = {key: value for key, value in sorted(spec.options.items()) if key != "name"}
    if weights is not None:
        options.pop("weights", None)
    clock = tournament.clock
    if spec.kind in AT_ONCE:
        clock = None
        for key in ("time", "iterations", "threads", "memory"):
            options.pop(key, None)
    bare = str(dataclasses.replace(spec, options=options))
    if spec.kind in ELSEWHERE:
        return Identity(bare, weights, clock, "", name if "name" in spec.options else "")
    if spec.kind == "random" or not {name, bare, text}.isdisjoint(same):
        build = ""
    return Identity(bare, weights, clock, build, "")


def set_labels(entries: Sequence[Entry]) -> None:
    """Give each entry a label of its own, no longer than it takes to tell it from the others.

    Its name with the release in brackets; where several would have the same label, with the digest of the code, the
    weights, the spec; numbered at last.
    """

    def forms(entry: Entry) -> list[str]:
        who = entry.identity
        release, code = release_of(who.build) if who.build else ("", "")
        clock = f"clock {who.clock[0]:g}+{who.clock[1]:g}" if who.clock else ""
        weights = f"weights {who.weights}" if who.weights else ""
        tags = ([release], [release, code], [release, code, weights])
        return [
            f"{head} [{' '.join(filter(None, tag))}]" if any(tag) else head
            for head in (entry.name, f"{who.spec} {clock}".rstrip())
            for tag in tags
        ]

    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(forms(entry)[0], []).append(entry)
    for group in groups.values():
        labels = zip(*map(forms, group), strict=True)
        chosen = next((form for form in labels if len(set(form)) == len(group)), None)
        for number, entry in enumerate(group, 1):
            entry.label = chosen[number - 1] if chosen else f"{forms(entry)[-1]} ({number})"
    seen: collections.Counter[str] = collections.Counter()
    for entry in entries:  # labels of two groups can still be equal
        seen[entry.label] += 1
        if seen[entry.label] > 1:
            entry.label += f" ({seen[entry.label]})"


def entry_json(entry: Entry) -> dict[str, Any]:
    """Return an entry as a JSON object, without its rating; docs/arena.md describes it."""
    return {
        "engine": entry.label,
        "name": entry.name,
        "spec": entry.identity.spec,
        "weights": entry.identity.weights,
        "clock": list(entry.identity.clock) if entry.identity.clock else None,
        "release": entry.release,
        "builds": entry.builds,
        "games": entry.games,
        "games_counted": entry.counted,
        "blocks": entry.blocks,
        "share": round(entry.points / entry.seats, 6) if entry.seats else None,
        "forfeits": entry.forfeits,
        "many_forfeits": entry.forfeits > MANY_FORFEITS * entry.games,
        "first": entry.first or None,
        "last": entry.last or None,
    }
