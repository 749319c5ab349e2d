"""Reports on journals: figures computed from the records alone, as tables, JSON or CSV.

Main function: `evaluate`. Incomplete blocks are left out of all statistics, since the effects of seat and
deal do not cancel out in them. Forfeits, times and failures are counted over all games.
"""

from __future__ import annotations

import collections
import csv
import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from mexica_ai.arena import counts, forfeits, statistics
from mexica_ai.arena.adjust import Luck, adjusted_json, format_adjusted
from mexica_ai.arena.forfeits import LATE_REASONS, MARK
from mexica_ai.arena.nelo import test_json
from mexica_ai.arena.outcomes import Outcome
from mexica_ai.arena.policy import COUNT, Policy, without_forfeits
from mexica_ai.arena.report_tables import pattern_table, result_table, seat_table
from mexica_ai.arena.sprt import SequentialTest
from mexica_ai.arena.standings import crosstable, standings
from mexica_ai.arena.standings_text import crosstable_lines, standings_table
from mexica_ai.arena.tables import chance, count, folded, interval, percent, strength
from mexica_ai.arena.tournament import MAX_ENGINES, Tournament, pattern, without_idle_time
from mexica_ai.io.errors import NotationError
from mexica_ai.io.strict import quote
from mexica_ai.io.terminal import MAX_FOREIGN, MAX_MESSAGE, escape, shorten, wrap

BOOTSTRAP = 1000
STANDINGS_KEYS = ("place", "byes", "buchholz", "buchholz_cut1", "sonneborn_berger", "rounds_won")
USAGE_HEAD = ("forfeits", "s/turn", "iterations/turn", "late, mean and max")

# What makes an engine: its spec, weights and clock, and which one it is of several that are equal.
_EngineKey = tuple[str, str | None, tuple[float, float] | None, int]


@dataclass
class Collected:
    """The games of tournaments of the same game and number of seats, with common engine numbers.

    Parameters
    ----------
    game : str
    players : int
    names, specs : list of str
        The engines' names and specs.
    weights : list of (str or None)
        The engines' weights, see `Engine.weights_id`.
    outcomes : list of Outcome
        The games of complete blocks, in the order in which they ended.
    every : list of Outcome
        All games, also those of incomplete blocks.
    by_tournament : list of (Tournament, list of Outcome)
        All games of each tournament, with its own numbers of blocks and engines.
    usage : list of dict
        Time, iterations and failures of each engine over all games.
    seat_scores : list of list of float
        Final scores on each seat, of games that were played to the end.
    num_games, num_repeated, num_adjudicated, num_late : int
        Number of games, of repeated records of the same game, which do not count, of adjudicated games, and of those
        lost on time.
    builds : dict
        Number of games played by each build.
    first_failures : list of (dict or None)
        Each engine's first failure: `block`, `number`, `seat`, `turn`, `reason` and `detail`.
    """

    game: str = ""
    players: int = 0
    names: list[str] = field(default_factory=list)
    specs: list[str] = field(default_factory=list)
    weights: list[str | None] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    every: list[Outcome] = field(default_factory=list)
    by_tournament: list[tuple[Tournament, list[Outcome]]] = field(default_factory=list)
    usage: list[dict[str, float]] = field(default_factory=list)
    seat_scores: list[list[float]] = field(default_factory=list)
    num_games: int = 0
    num_repeated: int = 0
    num_adjudicated: int = 0
    num_late: int = 0
    builds: dict[str, int] = field(default_factory=dict)
    first_failures: list[dict[str, Any] | None] = field(default_factory=list)


def collect(games: Iterable[tuple[Tournament, dict[str, Any]]], luck: Luck | None = None) -> Collected:
    """Collect records; each game of each tournament counts once.

    Engines with the same spec, weights and clock are the same engine in all tournaments. With `luck` each outcome
    has its luck, which takes some 20 to 60 milliseconds a game.

    Raises
    ------
    NotationError
        The tournaments are of different games or numbers of seats, or have too many engines.
    """
    collected = Collected()
    tournaments: dict[str, tuple[int, list[int]]] = {}  # by identity: number, and numbers of its engines
    numbers: dict[_EngineKey, int] = {}  # of engines
    blocks: dict[tuple[int, int], int] = {}
    seen: dict[tuple[int, int, int], str] = {}  # the build that played a game
    pending: list[tuple[int, int, Outcome]] = []  # block, games of a complete block, outcome
    for tournament, record in games:
        if (collected.game or tournament.game, collected.players or tournament.players) != (
            tournament.game,
            tournament.players,
        ):
            raise NotationError(
                f"journals: {collected.game} with {collected.players} seats and {tournament.game} with "
                f"{tournament.players} seats cannot be counted together",
                reason="OTHER_TOURNAMENT",
            )
        collected.game, collected.players = tournament.game, tournament.players
        identity = json.dumps(tournament.to_json(), sort_keys=True)
        if identity not in tournaments:
            tournaments[identity] = len(tournaments), _number_engines(tournament, numbers, collected)
            collected.by_tournament.append((tournament, []))
        which, engines = tournaments[identity]
        arena = record["arena"]
        key = which, arena["block"], arena["number"]
        build = record.get("build", "")
        if key in seen and seen[key] != build:
            raise NotationError(
                f"journals: game {arena['number']} of block {arena['block']} is there twice, played by {quote(build)} "
                f"and by {quote(seen[key])}; expected journals of one build (`mexica-ai arena ladder` tells builds "
                "apart)",
                reason="OTHER_TOURNAMENT",
            )
        if key in seen:
            collected.num_repeated += 1
            continue
        seen[key] = build
        collected.num_games += 1
        collected.builds[build] = collected.builds.get(build, 0) + 1
        seating = tuple(engines[engine] for engine in arena["seating"])
        block = blocks.setdefault(key[:2], len(blocks))
        outcome = outcome_of(record, block, seating)
        if luck is not None:
            outcome = luck.added(outcome, record)
        own = outcome_of(record, arena["block"], tuple(arena["seating"]))
        collected.by_tournament[which][1].append(own)
        _count_usage(collected, seating, record, outcome, tournament)
        pending.append((block, tournament.games_per_block, outcome))
    played = collections.Counter(block for block, _, _ in pending)
    collected.outcomes = [outcome for block, total, outcome in pending if played[block] == total]
    collected.every = [outcome for _, _, outcome in pending]
    return collected


def outcome_of(record: dict[str, Any], block: int, seating: tuple[int, ...]) -> Outcome:
    """Return the outcome of a record.

    After a forfeit, the seat that forfeited is last; the others share the win and the other places equally. After an
    adjudication, all but the winners share the other places.
    """
    seats = len(seating)
    if record["termination"] == "adjudicated":
        winners = record["winners"]
        shares = [(seat in winners) / len(winners) for seat in range(seats)]
        first, others = (len(winners) + 1) / 2, (len(winners) + 1 + seats) / 2
        ranks = [first if seat in winners else others for seat in range(seats)]
        return Outcome(block, pattern(seating), seating, tuple(shares), tuple(ranks), None)
    if record["termination"] == "forfeit":
        loser = record["forfeit"]["seat"]
        shares = [0.0 if seat == loser else 1 / (seats - 1) for seat in range(seats)]
        ranks = [float(seats) if seat == loser else seats / 2 for seat in range(seats)]
        return Outcome(block, pattern(seating), seating, tuple(shares), tuple(ranks), None, loser)
    scores, winners = record["scores"], record["winners"]
    shares = [(seat in winners) / len(winners) for seat in range(seats)]
    worth = [(seat in winners, scores[seat]) for seat in range(seats)]
    ranks = [1 + sum(other > own for other in worth) + (worth.count(own) - 1) / 2 for own in worth]
    margins = [scores[seat] - max(scores[:seat] + scores[seat + 1 :]) for seat in range(seats)]
    return Outcome(block, pattern(seating), seating, tuple(shares), tuple(ranks), tuple(map(float, margins)))


def _number_engines(tournament: Tournament, numbers: dict[_EngineKey, int], collected: Collected) -> list[int]:
    found = []
    times: collections.Counter[str] = collections.Counter()
    known = tournament.weights or [None] * len(tournament.engines)
    for spec, name, weights in zip(tournament.engines, tournament.names, known, strict=True):
        # The same spec twice in one tournament are two engines.
        key = without_idle_time(spec), weights, tournament.clock, times[without_idle_time(spec)]
        times[key[0]] += 1
        if key not in numbers:
            if len(numbers) == MAX_ENGINES:
                raise NotationError(
                    f"journals: more than {MAX_ENGINES} engines cannot be counted together",
                    reason="OUT_OF_RANGE",
                )
            numbers[key] = len(numbers)
            clock = f", clock {tournament.clock[0]:g}+{tournament.clock[1]:g}" if tournament.clock else ""
            if name in collected.names:
                name = spec + clock if spec + clock not in collected.names else f"{name} ({len(numbers)})"
            collected.names.append(name)
            collected.specs.append(spec + clock)
            collected.weights.append(weights)
            collected.usage.append(
                {"games": 0, "points": 0.0, "forfeits": 0, "failures": 0, "turns": 0, "iterations": 0}
                | {"seconds": 0.0, "late_s": 0.0, "late_max_s": 0.0}
            )
            collected.first_failures.append(None)
        found.append(numbers[key])
    return found


def _count_usage(
    collected: Collected, seating: tuple[int, ...], record: dict[str, Any], outcome: Outcome, tournament: Tournament
) -> None:
    arena = record["arena"]
    for engine, share in zip(seating, outcome.shares, strict=True):
        collected.usage[engine]["points"] += share
    for engine in set(seating):
        collected.usage[engine]["games"] += 1
    for engine, used in zip(seating, arena["seats"], strict=True):
        usage = collected.usage[engine]
        for key in ("turns", "iterations", "seconds", "late_s"):
            usage[key] += used[key]
        usage["late_max_s"] = max(usage["late_max_s"], used["late_max_s"])
    for failure in arena["failures"]:
        engine = seating[failure["seat"]]
        collected.usage[engine]["failures"] += 1
        if collected.first_failures[engine] is None:
            collected.first_failures[engine] = {
                "block": arena["block"],
                "number": arena["number"],
                **{key: failure[key] for key in ("seat", "turn", "reason", "detail")},
                "others_late_s": forfeits.others_late_s(tournament, record, failure["seat"]),
            }
    if record["termination"] == "forfeit":
        collected.usage[seating[record["forfeit"]["seat"]]]["forfeits"] += 1
        collected.num_late += record["forfeit"]["reason"] in LATE_REASONS
    elif record["termination"] == "adjudicated":
        collected.num_adjudicated += 1
    else:
        if not collected.seat_scores:
            collected.seat_scores = [[] for _ in range(collected.players)]
        for scores, score in zip(collected.seat_scores, record["scores"], strict=True):
            scores.append(score)


def evaluate(
    collected: Collected,
    sprt: SequentialTest | None = None,
    anchor: tuple[str, float] | None = None,
    policy: Policy = COUNT,
) -> dict[str, Any]:
    """Return all figures as one JSON object; docs/arena.md describes it. Estimates are [mean, low, high].

    Parameters
    ----------
    collected : Collected
    sprt : SequentialTest, optional
        A sequential test of the two engines.
    anchor : tuple of (str, float), optional
        The name of an engine and its rating, from which the others are counted.
    policy : Policy
        What is done about forfeited games.

    Raises
    ------
    NotationError
        There is no engine of the anchor's name.
    """
    complete, num_engines = collected.outcomes, len(collected.names)
    outcomes = policy.kept(complete)
    collected = replace(collected, outcomes=outcomes)
    engines = _all_engine_figures(collected, complete)
    place = None
    if anchor is not None and num_engines:
        check_anchor(anchor, collected.names)
        place = collected.names.index(anchor[0]), anchor[1]
    if (num_engines > 2 or place is not None) and outcomes:
        fitted = statistics.fit_plackett_luce(outcomes, num_engines, bootstrap=BOOTSTRAP, anchor=place)
        for engine, rating in zip(engines, fitted, strict=True):
            engine["rating"] = rating.to_json()
    found: dict[str, Any] = {
        "game": collected.game,
        "players": collected.players,
        "games": collected.num_games,
        "games_counted": len(outcomes),
        "blocks": len({outcome.block for outcome in outcomes}),
        "forfeits": sum(usage["forfeits"] for usage in collected.usage),
        "forfeits_policy": str(policy),
        "games_dropped": len(complete) - len(outcomes),
        "blocks_dropped": len({outcome.block for outcome in complete}) - len({outcome.block for outcome in outcomes}),
        "rests_on_forfeits": any(engine["caution"] for engine in engines),
        "lost_on_time": collected.num_late,
        "machine_late_s": _machine_late_s(collected),
        "adjudicated": collected.num_adjudicated,
        "expected_share": 1 / collected.players if collected.players else None,
        "engines": engines,
        "patterns": _patterns(collected) if len({outcome.pattern for outcome in outcomes}) > 1 else {},
        "seats": [share.to_json() for share in statistics.seat_advantage(outcomes)] if outcomes else [],
        "draw_ratio": counts.draw_ratio(outcomes),
        "crosstable": crosstable(outcomes, num_engines),
        "standings": [standings(*each) for each in collected.by_tournament if each[0].is_paired],
        "builds": collected.builds,
    }
    if len(found["standings"]) == 1 and len(collected.by_tournament) == 1:
        _add_standings(engines, found["standings"][0])
    is_adjusted = bool(outcomes) and outcomes[0].luck is not None
    if is_adjusted:
        found["adjusted"] = adjusted_json(outcomes, collected.names, collected.players)
    if sprt is not None:
        found["sprt"] = sprt_json(sprt, sprt.state(outcomes))
        found["sprt"]["caution"] = forfeits.CAUTION if found["rests_on_forfeits"] else None
        if is_adjusted:
            found["adjusted"]["sprt"] = sprt_json(sprt, sprt.state(outcomes, adjust=True))
            found["adjusted"]["sprt"]["caution"] = found["sprt"]["caution"]
    if anchor is not None:
        found["anchor"] = {"name": anchor[0], "rating": anchor[1]}
    return found


def _all_engine_figures(collected: Collected, complete: Sequence[Outcome]) -> list[dict[str, Any]]:
    """Return the figures of all engines, without ratings; `complete` are the games of complete blocks."""
    num_engines = len(collected.names)
    engines = [_engine_figures(collected, each) for each in statistics.summarize(collected.outcomes, num_engines)]
    played_out = statistics.summarize(without_forfeits(complete), num_engines)
    for number, engine in enumerate(engines):
        engine |= forfeits.engine_forfeits(number, collected.every, collected.outcomes)
        engine["share_played_out"] = played_out[number].share.to_json()
    return engines


def _engine_figures(collected: Collected, summary: statistics.EngineSummary) -> dict[str, Any]:
    """Return the figures of an engine, without its rating."""
    usage = collected.usage[summary.engine]
    turns = max(1, usage["turns"])
    engine = {
        "name": collected.names[summary.engine],
        "spec": collected.specs[summary.engine],
        "weights": collected.weights[summary.engine],
        "games": usage["games"],
        "points": round(usage["points"], 6),
        "blocks": summary.blocks,
        "share": summary.share.to_json(),
        "rank": summary.rank.to_json(),
        "margin": summary.margin.to_json(),
        **counts.engine_counts(collected.outcomes, summary.engine),
        "seat_shares": [share.to_json() for share in summary.seat_shares],
        "forfeits": usage["forfeits"],
        "failures": usage["failures"],
        "turns": usage["turns"],
        "seconds_per_turn": round(usage["seconds"] / turns, 6),
        "iterations_per_turn": round(usage["iterations"] / turns, 1),
        "late_mean_s": round(usage["late_s"] / turns, 6),
        "late_max_s": usage["late_max_s"],
        "first_failure": collected.first_failures[summary.engine],
    }
    if collected.players == 2 and len(collected.names) == 2:
        engine["elo"] = statistics.elo(summary.share).to_json()
        engine["nelo"] = counts.engine_nelo(collected.outcomes, summary.engine, summary.share).to_json()
        engine["superiority"] = statistics.likelihood_of_superiority(collected.outcomes, summary.engine)
    return engine


def _add_standings(engines: list[dict[str, Any]], found: dict[str, Any]) -> None:
    """Add to the figures of the engines what the standings of their only tournament say of them."""
    for placed in found["engines"]:
        more = {key: value for key, value in placed.items() if key in STANDINGS_KEYS}
        engines[placed["engine"]] |= more | {"standings_points": placed["points"]}


def _machine_late_s(collected: Collected) -> float:
    """Return how late answers were at most that only the machine can have delayed.

    Those of engines of this package inside the arena; if there are none, what all others were late.
    """
    late = [usage["late_max_s"] for usage in collected.usage]
    own = ("cmd:", "grpc:", "py:")  # have code of their own
    inside = [late_s for late_s, spec in zip(late, collected.specs, strict=True) if not spec.startswith(own)]
    return max(inside) if inside else min(late, default=0.0)


def check_anchor(anchor: tuple[str, float], names: Sequence[str]) -> None:
    """Raise NotationError if the anchor is none of the engines."""
    if anchor[0] not in names:
        raise NotationError(
            f"--anchor: given the engine {quote(anchor[0])}; expected one of {', '.join(map(quote, names))}",
            reason="BAD_USAGE",
        )


def sprt_json(sprt: SequentialTest, state: statistics.SprtState) -> dict[str, Any]:
    """Return a sequential test and its state as a JSON object."""
    return {**test_json(sprt), **asdict(state), "hypotheses": sprt.describe()}


def _patterns(collected: Collected) -> dict[str, list[dict[str, Any]]]:
    """Return the figures of the engines by pattern; with two seats also Elo and the superiority."""
    patterns: dict[str, list[dict[str, Any]]] = {}
    for which, summaries in statistics.by_pattern(collected.outcomes, len(collected.names)).items():
        outcomes = [outcome for outcome in collected.outcomes if outcome.pattern == which]
        patterns[which] = []
        for summary in summaries:
            if not summary.games:
                continue
            engine = {
                "name": collected.names[summary.engine],
                "blocks": summary.blocks,
                "share": summary.share.to_json(),
                "rank": summary.rank.to_json(),
                "margin": summary.margin.to_json(),
            }
            if collected.players == 2:
                engine |= counts.engine_counts(outcomes, summary.engine)
                engine["elo"] = statistics.elo(summary.share).to_json()
                engine["nelo"] = counts.engine_nelo(outcomes, summary.engine, summary.share).to_json()
                engine["superiority"] = statistics.likelihood_of_superiority(outcomes, summary.engine)
            patterns[which].append(engine)
    return patterns


# Text


def format_report(found: dict[str, Any], form: str, width: int | None = None) -> str:
    """Return the figures of `evaluate` as text; `form` is "table", "json" or "csv", `width` that of tables."""
    if form == "json":
        return json.dumps(found) + "\n"
    return format_csv(found) if form == "csv" else format_table(_shown(found), width)


def _shown(value: Any, columns: int = MAX_FOREIGN) -> Any:
    """Return figures whose texts, which come from journals, are short and of visible characters."""
    if isinstance(value, dict):
        return {_shown(key): _shown(each, MAX_MESSAGE if key == "detail" else columns) for key, each in value.items()}
    if isinstance(value, list):
        return [_shown(each) for each in value]
    return shorten(value, columns) if isinstance(value, str) else value


def format_csv(found: dict[str, Any]) -> str:
    """Return a CSV line per engine; an estimate takes three columns. Texts are whole, as `escape` writes them."""
    rows = []
    for engine in found["engines"]:
        row = {}
        for key, value in engine.items():
            if key == "first_failure":
                row[key] = value["reason"] if value else ""
            elif key == "block_scores":
                row[key] = " ".join(f"{score:g}={times}" for score, times in value)
            elif key == "seat_shares":
                row |= {f"share_seat{seat}": share[0] for seat, share in enumerate(value)}
            elif isinstance(value, list):
                row |= {key: value[0], f"{key}_low": value[1], f"{key}_high": value[2]}
            else:
                row[key] = value
        rows.append({key: escape(value) if isinstance(value, str) else value for key, value in row.items()})
    text = io.StringIO()
    if rows:
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return text.getvalue()


def format_table(found: dict[str, Any], width: int | None = None) -> str:
    """Return the figures as tables for people, folded if they are wider than `width` columns."""
    if found["games"] == 0:
        return "no games\n"
    incomplete = found["games"] - found["games_counted"] - found["games_dropped"]
    lines = [
        f"{found['game']}, {found['players']} seats: {count(found['games_counted'], 'game')} in "
        f"{count(found['blocks'], 'block')}"
        + f"; {count(incomplete, 'game')} of incomplete blocks not counted" * bool(incomplete)
        + f"; {count(found['games_dropped'], 'game')} of blocks with a forfeit left out" * bool(found["games_dropped"])
        + f"; {count(found['adjudicated'], 'game')} adjudicated" * bool(found["adjudicated"])
    ]
    if found["blocks"] == 0 and found["blocks_dropped"]:
        lines.append("no block is without a forfeit: these are counts of games")
    elif found["blocks"] == 0:
        lines.append("no block is complete: these are counts of games, in which seats and deals may favour an engine")
    elif found["blocks"] == 1:
        lines.append("only one block: it says nothing yet about how far results vary, so there are no intervals")
    lines.append("")
    lines += engine_table(found, width) if found["blocks"] else _count_table(found, width)
    lines += forfeits.forfeit_notes(found, width)
    if "anchor" in found and found["blocks"]:
        lines.append(f"ratings: {found['anchor']['name']} is set to {found['anchor']['rating']:g}")
    for engine in found["engines"]:
        if engine["first_failure"]:
            text = describe_failure(engine["name"], engine["first_failure"])
            lines += wrap(text, width) if width else [text]
    if busy := forfeits.busy_warning(found):
        text = f"warning: {busy}"
        lines += wrap(text, width) if width else [text]
    weighed = [engine for engine in found["engines"] if engine["weights"]]
    lines += [f"weights of {engine['name']}: {engine['weights']}" for engine in weighed]
    if found["forfeits"]:
        lines += ["", *forfeits.forfeit_table(found, width)]
    for each in found["standings"]:
        lines += ["", *standings_table(each, width)]
    if not found["standings"] and len(found["engines"]) > 2:
        names = [engine["name"] for engine in found["engines"]]
        lines += ["", *crosstable_lines(names, found["crosstable"], width)]
    if found["blocks"]:
        lines += ["", *result_table(found, width), "", *seat_table(found, width)]
    if found["patterns"]:
        lines += ["", *pattern_table(found["patterns"], width)]
    for name, test in (("SPRT", found.get("sprt")), ("SPRT, adjusted", found.get("adjusted", {}).get("sprt"))):
        if test is not None:
            text = format_sprt(test, name)
            lines += ["", *(wrap(text, width) if width else [text])]
    if "adjusted" in found:
        lines += ["", *format_adjusted(found["adjusted"], width)]
    if len(found["builds"]) > 1:
        lines += ["", "played by different builds: " + "; ".join(found["builds"])]
    return "\n".join(lines) + "\n"


def engine_table(found: dict[str, Any], width: int | None = None) -> list[str]:
    """Return the lines of the table of engines; the best first if there are more than two."""
    engines = found["engines"]
    if len(engines) > 2 and any("rating" in engine for engine in engines):
        engines = sorted(engines, key=lambda engine: -(engine["rating"][0] or 0.0))
    head = ["engine", "games", "share of the win", "mean rank", "margin"]
    extra = [key for key in ("elo", "rating") if any(key in engine for engine in engines)]
    head += [{"elo": "Elo", "rating": "rating"}[key] for key in extra]
    if any("superiority" in engine for engine in engines):
        head.append("P(better)")
    rows = [[*head, *USAGE_HEAD]]
    for engine in engines:
        mark = MARK * bool(engine["caution"])
        row = [engine["name"], str(engine["games"]), percent(engine["share"]) + mark]
        row += [interval(engine["rank"], ".2f"), interval(engine["margin"], "+.1f")]
        forms = {"elo": "+.0f", "rating": ".0f" if "anchor" in found else "+.0f"}
        row += [strength(engine[key], forms[key]) + mark for key in extra]
        if "superiority" in engine:
            row.append(chance(engine["superiority"]) + mark)
        rows.append(row + _usage_cells(engine))
    return folded(rows, 1, width)


def _count_table(found: dict[str, Any], width: int | None) -> list[str]:
    """Return the table of engines before the first block is complete: what was counted, nothing estimated."""
    rows = [["engine", "games", "won", *USAGE_HEAD]]
    for engine in found["engines"]:
        won = f"{engine['points']:.3g} of {engine['games']}" + MARK * bool(engine["caution"])
        rows.append([engine["name"], str(engine["games"]), won, *_usage_cells(engine)])
    return folded(rows, 1, width)


def _usage_cells(engine: dict[str, Any]) -> list[str]:
    return [
        str(engine["forfeits"]),
        f"{engine['seconds_per_turn']:.3f}",
        f"{engine['iterations_per_turn']:,.0f}",
        f"{1000 * engine['late_mean_s']:.1f} {1000 * engine['late_max_s']:.1f} ms",
    ]


def describe_failure(name: str, failure: dict[str, Any]) -> str:
    """Return one line about the first failure of an engine."""
    where = f"block {failure['block']}, game {failure['number']}, seat {failure['seat']}, turn {failure['turn']}"
    text = f"first failure of {name} ({where}): {failure['reason']}: {failure['detail']}"
    return text + forfeits.busy_note(failure)


def format_sprt(sprt: dict[str, Any], name: str = "SPRT") -> str:
    """Return the state of a sequential test as one line."""
    verdict = {"H0": "H0 accepted", "H1": "H1 accepted", None: "no decision yet"}[sprt["decision"]]
    return (
        f"{name}: {verdict}; LLR {sprt['llr']:+.2f} ({sprt['lower']:.2f}, {sprt['upper']:.2f}) after "
        f"{count(sprt['blocks'], 'block')}; {sprt['hypotheses']}" + "; it rests on forfeits" * bool(sprt.get("caution"))
    )
