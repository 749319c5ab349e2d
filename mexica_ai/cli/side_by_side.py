"""Several engines on one position: `mexica-ai analyze` with more than one `--engine`."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Sequence

from mexica_ai.analysis.comparison import Comparison, Opinion, compare
from mexica_ai.analysis.limits import DEFAULT_TIME_S, MAX_CANDIDATES, Limits
from mexica_ai.analysis.results import Result
from mexica_ai.cli import common
from mexica_ai.engines import make_engine
from mexica_ai.engines.specs import EngineSpec
from mexica_ai.game.position import Position
from mexica_ai.game.text_forms import listed
from mexica_ai.io import terminal
from mexica_ai.io.errors import NotationError
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.numbers import resolve_seed
from mexica_ai.io.strict import quote

LEAST_CANDIDATES = 50  # that each engine is asked for, to find the others' turns among them
_MOST_NAME = 24  # columns of an engine's name
_MOST_KEPT = 600  # results of an engine


@dataclasses.dataclass(frozen=True)
class Searched:
    """What an engine has found.

    Parameters
    ----------
    name : str
        Of the engine.
    results : list of Result
        In their order.
    """

    name: str
    results: list[Result]


def check_names(specs: Sequence[EngineSpec]) -> None:
    """Raise NotationError, reason BAD_USAGE, if two engines have one name."""
    names = [name_of(spec) for spec in specs]
    for name in names:
        if names.count(name) > 1:
            raise NotationError(
                f"--engine: two engines are named {quote(name)}; expected different ones, or a key name=",
                reason="BAD_USAGE",
            )


def name_of(spec: EngineSpec) -> str:
    """Return the name of an engine, as `Engine.name`."""
    return str(spec.options.get("name", spec))


def search(
    args: argparse.Namespace,
    specs: Sequence[EngineSpec],
    position: Position,
    budget: Limits,
    *,
    interval_s: float,
    show: Callable[[Sequence[Searched]], None],
) -> list[Searched]:
    """Search a position with one engine after the other, with the same limits and seed; return what they found.

    All engines are started before the first one searches. Ctrl-C ends the search of an engine, and those after it are
    left out.

    Parameters
    ----------
    interval_s : float
        Seconds between two results that are kept.
    show : callable
        Called with what was found so far, about every `--interval` seconds and at the end of each search.
    """
    seed = resolve_seed(args.seed)
    limits = budget if not budget.unlimited else dataclasses.replace(budget, unlimited=False, time_s=DEFAULT_TIME_S)
    number = min(max(args.candidates, LEAST_CANDIDATES), MAX_CANDIDATES)
    searched: list[Searched] = []
    with contextlib.ExitStack() as stack, common.stop_on_interrupt() as stop:
        engines = []
        for spec in specs:
            defaults = {key: common.search_defaults(args, spec)[key] for key in ("level", "elo", "weights")}
            engines.append(stack.enter_context(make_engine(spec, **defaults)))
            engines[-1].restrict(args.allow, args.avoid or ())
        for spec, engine in zip(specs, engines, strict=True):
            if stop.is_set() and searched:
                break
            results = engine.analyze(
                position,
                common.with_threads(limits, args, spec),
                seed=seed,
                candidates=number,
                stop=stop,
                interval_s=min(interval_s, args.interval),
            )
            one = Searched(engine.name, [])
            for _ in keeping(common.in_thread(results), one.results, args.interval):
                if searched[-1:] != [one]:
                    searched.append(one)
                show(searched)
    return searched


def keeping(results: Iterator[Result], found: list[Result], interval_s: float) -> Iterator[Result]:
    """Keep results for a picture, and yield one an interval, and the last one."""
    due = 0.0
    for result in results:
        found.append(result)
        if len(found) > _MOST_KEPT:
            del found[1:-1:2]
        if result.stop_reason or result.seconds >= due:
            due = result.seconds + 0.9 * interval_s  # results come a little early or late
            yield result


def format_head(specs: Sequence[EngineSpec]) -> str:
    """Return the first line of the table."""
    return f"    {'engine':{_wide(specs)}}  {'share':>6}  {'points':>7}  {'iterations':>11}  {'seconds':>8}"


def format_rows(searched: Sequence[Searched], specs: Sequence[EngineSpec], position: Position) -> list[str]:
    """Return the other lines of the table: a row an engine, and below it its best turn."""
    seat, wide = _seat(position), _wide(specs)
    lines = []
    for index, one in enumerate(searched):
        result = one.results[-1]
        best = result.candidates[0]
        points = f"{best.expected_scores[seat]:.1f}" if best.expected_scores else "-"
        lines.append(
            f"{_letter(index):>2}  {_short(one.name):{wide}}  {_share(best.value, seat):>6}  {points:>7}  "
            f"{result.iterations:>11,}  {result.seconds:>8.2f}" + ("" if result.stop_reason else "  searching")
        )
        lines += terminal.wrap_turn(best.turn, terminal.width(), "    ", "      ")
    return lines


def _wide(specs: Sequence[EngineSpec]) -> int:
    """Return the columns for the names of engines."""
    return max(len("engine"), *(len(_short(name_of(spec))) for spec in specs))


def format_comparison(searched: Sequence[Searched], position: Position) -> list[str]:
    """Return the lines below the table: who agrees, and what each engine thinks of the turns of the others."""
    seat = _seat(position)
    comparison = compare(position, [(one.name, one.results[-1]) for one in searched])
    letters = [_letter(index) for index in range(len(searched))]
    lines = _agreement(comparison, letters)
    if comparison.agree:
        return lines
    known: list[str] = []
    for index in range(len(comparison.turns)):
        owners = [letter for letter, choice in zip(letters, comparison.choices, strict=True) if choice == index]
        for letter, choice, opinions in zip(letters, comparison.choices, comparison.opinions, strict=True):
            if choice != index and (opinion := opinions[index]) is not None:
                known += terminal.wrap(
                    f"  {letter} of that of {listed(owners)}: {_opinion(opinion, opinions[choice], seat)}"
                )
    if not known:
        return [*lines, "None has the turn of another among its candidates."]
    what = "What each thinks of the turns of others that are among its candidates, by the share of the win of seat"
    return [*lines, "", *terminal.wrap(f"{what} {seat}:"), *known]


def _agreement(comparison: Comparison, letters: list[str]) -> list[str]:
    if comparison.agree:
        return [f"{listed(letters)} agree." if len(letters) > 1 else "Only one engine has searched."]
    groups = [
        [letter for letter, choice in zip(letters, comparison.choices, strict=True) if choice == index]
        for index in range(len(comparison.turns))
    ]
    together = [f"{listed(group)} agree" for group in groups if len(group) > 1]
    if not together:
        return ["Each has another best turn." if len(letters) > 2 else "They have different best turns."]
    alone = [letter for group in groups if len(group) == 1 for letter in group]
    words = f"{listed(alone)} {'has another best turn' if len(alone) == 1 else 'have others'}" if alone else ""
    return terminal.wrap("; ".join([*together, *([words] if words else [])]) + ".")


def _opinion(other: Opinion, own: Opinion | None, seat: int) -> str:
    candidate = other.candidate
    words = [f"its number {other.rank}"]
    if candidate.value:
        words.append(f"share {candidate.value[seat]:.3f}")
        if own is not None and own.candidate.value:
            words[-1] += f" ({candidate.value[seat] - own.candidate.value[seat]:+.3f})"
    if candidate.visits:
        words.append(f"{candidate.visits:,} visit" + "s" * (candidate.visits > 1))
    return ", ".join(words)


def _share(value: Sequence[float], seat: int) -> str:
    return f"{value[seat]:.3f}" if value else "-"


def _short(name: str) -> str:
    return terminal.shorten(name, _MOST_NAME)


def _letter(index: int) -> str:
    return chr(ord("A") + index) if index < 26 else str(index + 1)


def _seat(position: Position) -> int:
    """Return the seat to move of a position that is searched."""
    assert position.to_move is not None
    return position.to_move


def result_json(searched: Searched) -> JsonObject:
    """Return the newest result of an engine as a JSON object."""
    return {"engine": searched.name} | searched.results[-1].to_json()


def comparison_json(searched: Sequence[Searched], position: Position) -> JsonObject:
    """Return the JSON object of the comparison, which comes after the results."""
    results = [(one.name, one.results[-1]) for one in searched]
    return {"comparison": compare(position, results).to_json()}
