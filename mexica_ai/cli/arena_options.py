"""The options of `mexica-ai arena`: one table, from which its arguments, the keys of its files and its help come."""

from __future__ import annotations

import argparse
import dataclasses
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mexica_ai.arena.affinity import parse_cpus
from mexica_ai.arena.policy import COUNT, Policy
from mexica_ai.arena.tournament import DEFAULT_MARGIN_S, DEFAULT_PATIENCE_S
from mexica_ai.cli import common
from mexica_ai.engines.specs import KEYS, seconds, whole_number
from mexica_ai.game import registry
from mexica_ai.io.errors import MexicaAIError
from mexica_ai.io.numbers import MAX_TIME_S

RESIGN_TURNS = 3
WHO, TIME, HOW, OUTPUT = "engines and games", "time", "how it is played", "output"  # groups of the help


def _clock(text: str) -> tuple[float, float]:
    """Read BANK[+INC]."""
    bank, plus, increment = text.partition("+")
    try:
        return seconds(bank), _seconds_or_0(increment) if plus else 0.0
    except (ValueError, MexicaAIError):
        raise ValueError("seconds, or seconds+seconds such as 60+0.5") from None


def _margin(text: str) -> float:
    try:
        return _seconds_or_0(text)
    except ValueError:
        raise ValueError(f"a number of seconds from 0 to {MAX_TIME_S}") from None


def _seconds_or_0(text: str) -> float:
    return 0.0 if re.fullmatch(r"0+(\.0*)?|\.0+", text) else float(seconds(text))


def _resign(text: str) -> tuple[float, int]:
    """Read SHARE[,TURNS]."""
    share, comma, turns = text.partition(",")
    try:
        found = float(share), whole_number(1, 10**6)(turns) if comma else RESIGN_TURNS
        if 0 < found[0] < 0.5:
            return found
    except ValueError:
        pass
    raise ValueError("a share above 0 and below 0.5, and perhaps a number of turns, such as 0.02 or 0.02,5")


def read_anchor(text: str) -> tuple[str, float]:
    """Read NAME=RATING; a name may contain "=", as a spec does."""
    name, equals, rating = text.rpartition("=")
    try:
        if name and equals and math.isfinite(number := float(rating)):
            return name, number
    except ValueError:
        pass
    raise ValueError("an engine's name and its rating, such as uct=1500")


def _option(group: str, text: str, default: Any = None, *, read: Any = None, **how: Any) -> Any:
    """Return a field that is an option: in a group of the help, with its help text and what argparse takes beside it.

    `read` turns its text into its value; ValueError says what was expected.
    """
    if read is not None:
        how["type"] = common.argument(read)
    return dataclasses.field(default=default, metadata={"group": group, "how": {"help": text, **how}})


@dataclass(frozen=True)
class TournamentOptions:
    """The options of a tournament and of its report; each field is an option, and a key of a file of options."""

    engine: Sequence[str] | None = _option(
        WHO, "an engine, see above; at least two: A, B, ...", action="append", metavar="SPEC"
    )
    game: str = _option(
        WHO,
        f"default: {registry.DEFAULT}",
        registry.DEFAULT,
        type=common.game,
        choices=registry.names,  # called when the arguments are declared
    )
    players: int = _option(WHO, "number of seats (default: 2)", 2, read=whole_number(2, 4), metavar="N")
    blocks: int | None = _option(
        WHO,
        "number of blocks; with more than two engines: of each combination, or with swiss and knockout of each "
        "table of a round (default: 10, or one an opening)",
        read=whole_number(1, 10**9),
        metavar="N",
    )
    tournament: str = _option(
        WHO,
        "gauntlet: only combinations with the first engine; swiss: in each round, engines with about equally "
        "many points play each other; knockout: the winner of each table plays on, in a bracket that takes the "
        "engines in the order given as seeds (default: round-robin)",
        "round-robin",
        choices=("round-robin", "gauntlet", "swiss", "knockout"),
    )
    gauntlet: int | None = _option(
        WHO,
        "of a gauntlet: each of the first N engines against the others, but not against each other (default: 1)",
        read=whole_number(1, 25),
        metavar="N",
    )
    rounds: int | None = _option(
        WHO,
        "rounds of a swiss tournament (default: enough rounds to rank the best engine first)",
        read=whole_number(1, 10**6),
        metavar="N",
    )
    openings: str | None = _option(
        WHO,
        "begin the games at these positions, a line each, or at those of records; each on all seatings",
        metavar="FILE",
    )
    opening_turns: int | None = _option(
        WHO,
        "how many turns of a record of --openings are played (random events count as turns)",
        read=whole_number(0, 10**6),
        metavar="N",
    )
    opening_order: str = _option(
        WHO,
        "random: in an order that follows from the key of the seeds; each is used once before any is used again "
        "(default: file, in the order of the file)",
        "file",
        choices=("file", "random"),
    )
    resign: tuple[float, int] | None = _option(
        WHO,
        "give a game to a seat when the forecasts of all seats, in their last TURNS turns (default: 3), leave "
        "the others at most this share of the win",
        read=_resign,
        metavar="SHARE[,TURNS]",
    )
    max_turns: int | None = _option(
        WHO,
        "end a game after N turns of all seats; the last forecasts decide it if they agree, else the default "
        "engine does",
        read=whole_number(1, 10**9),
        metavar="N",
    )
    sample: int | None = _option(
        WHO,
        "with more than two engines: play only N seatings of each combination; a multiple of the number "
        "of seats puts every engine on every seat equally often",
        read=whole_number(1, 24),
        metavar="N",
    )
    seed: int = _option(
        WHO,
        "seed of the deals and of all engines, 0 to 2**63 - 1 (default: 1)",
        1,
        read=KEYS["seed"],
        metavar="N",
    )
    reproducible: bool = _option(
        WHO,
        "let the deals and the engines' seeds follow from --seed alone, so that the command plays the same "
        "games again; then a program can compute the deal (default: from --seed and a secret key)",
        False,
        action="store_true",
    )
    time: float | None = _option(
        TIME,
        "time per turn, unless the spec sets it (default: 1, without --iterations and --clock)",
        read=KEYS["time"],
        metavar="SECONDS",
    )
    iterations: int | None = _option(
        TIME,
        "iterations per turn, unless the spec sets them; with --time, whichever is reached first",
        read=KEYS["iterations"],
        metavar="N",
    )
    clock: tuple[float, float] | None = _option(
        TIME,
        "seconds of each seat for the whole game, and seconds added after each of its turns; a seat that "
        "runs out of time forfeits",
        read=_clock,
        metavar="BANK[+INC]",
    )
    margin: float = _option(
        TIME,
        "by how much a turn may exceed its time, and a seat its clock, before the engine is ended and forfeits "
        f"(default: {DEFAULT_MARGIN_S:g})",
        DEFAULT_MARGIN_S,
        read=_margin,
        metavar="SECONDS",
    )
    patience: float = _option(
        TIME,
        f"how long a turn without any limit of time may take (default: {DEFAULT_PATIENCE_S:g})",
        DEFAULT_PATIENCE_S,
        read=seconds,
        metavar="SECONDS",
    )
    on_failure: str = _option(
        HOW,
        "retry: restart a game, twice at most, before the engine that fails forfeits it (default: forfeit)",
        "forfeit",
        choices=("forfeit", "retry"),
    )
    restart: str = _option(
        HOW,
        "whether each game starts its programs (on), or a worker keeps them for its next games: until they fail "
        "(after-failure), or for good, and the tournament ends when one fails (off) (default: on)",
        "on",
        choices=("on", "off", "after-failure"),
    )
    affinity: tuple[int, ...] | None = _option(
        HOW,
        "let each game that is played at the same time have processors of its own: all, or some such as 0,2,4-7 "
        "(Linux)",
        read=parse_cpus,
        metavar="CPUS",
    )
    concurrency: int | None = _option(
        HOW,
        "games at a time, each in a process of its own (default: 1; with --cluster: its threads)",
        read=whole_number(1, 4096),
        metavar="N",
    )
    cluster: str | None = _option(
        HOW, common.CLUSTER_HELP, read=common.scheduler_address, metavar=common.CLUSTER_METAVAR
    )
    journal: str | None = _option(HOW, "add each finished game to this file, a line each", metavar="FILE")
    log: str | None = _option(HOW, "add all lines to and from programs (cmd:) to this file, with times", metavar="FILE")
    resume: bool = _option(HOW, "if the journal exists, play only the games that it lacks", False, action="store_true")
    no_search_log: bool = _option(
        HOW,
        "do not keep what each engine expected and used at each turn in the records",
        False,
        action="store_true",
    )
    sprt: str | None = _option(
        OUTPUT,
        "sequential test of the first of two engines. With two seats, A and B are its Elo under H0 and "
        "H1, as in -5,0,0.05,0.05, or after nelo: its normalised Elo; with more seats (or after share:) its shares "
        "of the win per seat. The tournament ends at the decision",
        metavar="A,B,ALPHA,BETA",
    )
    adjust: bool = _option(
        OUTPUT,
        "also report shares adjusted for the luck of random events; with --sprt, the test of adjusted shares is the "
        "one that decides",
        False,
        action="store_true",
    )
    anchor: tuple[str, float] | None = _option(
        OUTPUT,
        "give this engine this rating, and the others theirs by their difference from it",
        read=read_anchor,
        metavar="NAME=RATING",
    )
    forfeits: Policy = _option(  # noqa: RUF009 (a field, as the others)
        OUTPUT,
        "what is done about games that ended by a forfeit. count: the other seats share the win; drop: blocks with "
        "such a game are left out of all statistics; stop=N%%: count, but end the tournament when more than N %% of "
        "its games (20 or more) are forfeited (default: count)",
        COUNT,
        read=Policy.parse,
        metavar="HOW",
    )
    standings: str | None = _option(
        OUTPUT,
        "write the standings (points, tie-breaks, pairings, crosstable) as .csv or .html",
        metavar="FILE",
    )
    format: str = _option(OUTPUT, "of the result (default: table)", "table", choices=("table", "json", "csv"))
    text: str | None = _option(
        OUTPUT,
        "write each game as a text file for people to this folder: the engines, the board and all turns",
        metavar="FOLDER",
    )
    html: str | None = _option(
        OUTPUT,
        "write a report as a page to this file, and a page for each game to the folder FILE-games beside it, without "
        "the ending; written again while the tournament runs",
        metavar="FILE",
    )
    plot: str | None = _option(
        OUTPUT,
        "plot the ratings (with two engines: shares of the win) and the scores, as .png, .svg or .pdf",
        metavar="FILE",
    )

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> TournamentOptions:
        """Return the options that a mapping has, among other keys; the others have their defaults."""
        return cls(**{field.name: given[field.name] for field in dataclasses.fields(cls) if field.name in given})


def declare(parser: argparse.ArgumentParser, *groups: str) -> dict[str, argparse.Action]:
    """Add the options of some groups to a parser, without defaults; return them by their names without dashes before.

    So the parsed arguments are those that were typed: they override options of a file, and those of a subcommand
    do not override options before it.
    """
    # "-5,0,0.05,0.05" is a value, not an option. From Python 3.14 on argparse thinks so, too.
    parser._negative_number_matcher = re.compile(r"-\.?\d")
    sections = {group: parser.add_argument_group(group) for group in groups}
    actions = {}
    for field in dataclasses.fields(TournamentOptions):
        if field.metadata["group"] in sections:
            how = dict(field.metadata["how"])
            if callable(how.get("choices")):
                how["choices"] = how["choices"]()
            name = field.name.replace("_", "-")
            section = sections[field.metadata["group"]]
            actions[name] = section.add_argument(f"--{name}", default=argparse.SUPPRESS, **how)
    return actions
