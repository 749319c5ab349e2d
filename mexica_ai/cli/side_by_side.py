"""Several engines on one position: `mexica-ai analyze` with more than one `--engine`."""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Callable, Iterator, Sequence

from mexica_ai.analysis.comparison import Comparison, Opinion, compare
from mexica_ai.analysis.limits import DEFAULT_TIME_S, MAX_CANDIDATES, Limits
from mexica_ai.analysis.results import Result
from mexica_ai.cli import common
from mexica_ai.draw.course import Course
from mexica_ai.engines import make_engine
from mexica_ai.engines.base import Engine
from mexica_ai.engines.specs import EngineSpec
from mexica_ai.game.position import Position
from mexica_ai.io import terminal
from mexica_ai.io.errors import NotationError
from mexica_ai.io.figures import resolve_seed
from mexica_ai.io.strict import quote

LEAST_CANDIDATES = 50  # that each engine is asked for, to find the others' turns among them
_MOST_NAME = 24  # columns of an engine's name

Show = Callable[[list[str]], None]


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
    args: argparse.Namespace, specs: Sequence[EngineSpec], position: Position, budget: Limits, show: Show
) -> list[Course]:
    """Search a position with one engine after the other, with the same limits and seed; return what they found.

    Ctrl-C ends the search of an engine, and those after it are left out.

    Parameters
    ----------
    show : callable
        Called with the lines of a table while the searches run.
    """
    seed = resolve_seed(args.seed)
    limits = budget if not budget.unlimited else dataclasses.replace(budget, unlimited=False, time_s=DEFAULT_TIME_S)
    courses: list[Course] = []
    with common.stop_on_interrupt() as stop:
        for spec in specs:
            if stop.is_set() and courses:
                break
            defaults = {key: common.search_defaults(args, spec)[key] for key in ("level", "weights")}
            with make_engine(spec, **defaults) as engine:
                found: list[Result] = []
                courses.append(Course(engine.name, found))
                for result in common.in_thread(_results(engine, position, limits, seed, args, stop)):
                    found.append(result)
                    thin(found)
                    if args.json:
                        print(json.dumps({"engine": engine.name} | result.to_json()), flush=True)
                    show(format_table(courses, position))
    return courses


def _results(
    engine: Engine, position: Position, limits: Limits, seed: int, args: argparse.Namespace, stop: common.Stop
) -> Iterator[Result]:
    number = min(max(args.candidates, LEAST_CANDIDATES), MAX_CANDIDATES)
    return engine.analyze(position, limits, seed=seed, candidates=number, stop=stop, interval_s=args.interval)


def thin(found: list[Result], most: int = 600) -> None:
    """Leave out every second result between the first and the last if there are too many."""
    if len(found) > most:
        del found[1:-1:2]


def format_table(courses: Sequence[Course], position: Position) -> list[str]:
    """Return the lines of the table: a row an engine, and below it its best turn."""
    seat = _seat(position)
    wide = max(len("engine"), *(len(_short(course.name)) for course in courses))
    lines = [f"    {'engine':{wide}}  {'share':>6}  {'points':>7}  {'iterations':>11}  {'seconds':>8}"]
    for index, course in enumerate(courses):
        result = course.results[-1]
        best = result.candidates[0]
        points = f"{best.expected_scores[seat]:.1f}" if best.expected_scores else "-"
        lines.append(
            f"{_letter(index):>2}  {_short(course.name):{wide}}  {_share(best.value, seat):>6}  {points:>7}  "
            f"{result.iterations:>11,}  {result.seconds:>8.2f}" + ("" if result.stop_reason else "  searching")
        )
        lines += terminal.wrap_turn(best.turn, terminal.width(), "    ", "      ")
    return lines


def format_comparison(courses: Sequence[Course], position: Position) -> list[str]:
    """Return the lines below the table: who agrees, and what each engine thinks of the turns of the others."""
    seat = _seat(position)
    comparison = compare(position, [(course.name, course.results[-1]) for course in courses])
    letters = [_letter(index) for index in range(len(courses))]
    lines = _agreement(comparison, letters)
    if comparison.agree:
        return lines
    known: list[str] = []
    for index in range(len(comparison.turns)):
        owners = [letter for letter, choice in zip(letters, comparison.choices, strict=True) if choice == index]
        for letter, choice, opinions in zip(letters, comparison.choices, comparison.opinions, strict=True):
            if choice != index and (opinion := opinions[index]) is not None:
                known += terminal.wrap(
                    f"  {letter} of that of {_and(owners)}: {_opinion(opinion, opinions[choice], seat)}"
                )
    if not known:
        return [*lines, "None has the turn of another among its candidates."]
    what = "What each thinks of the turns of others that are among its candidates, by the share of the win of seat"
    return [*lines, "", *terminal.wrap(f"{what} {seat}:"), *known]


def _agreement(comparison: Comparison, letters: list[str]) -> list[str]:
    if comparison.agree:
        return [f"{_and(letters)} agree." if len(letters) > 1 else "Only one engine has searched."]
    groups = [
        [letter for letter, choice in zip(letters, comparison.choices, strict=True) if choice == index]
        for index in range(len(comparison.turns))
    ]
    together = [f"{_and(group)} agree" for group in groups if len(group) > 1]
    if not together:
        return ["Each has another best turn." if len(letters) > 2 else "They have different best turns."]
    alone = [letter for group in groups if len(group) == 1 for letter in group]
    words = f"{_and(alone)} {'has another best turn' if len(alone) == 1 else 'have others'}" if alone else ""
    return terminal.wrap("; ".join([*together, *([words] if words else [])]) + ".")


def _opinion(other: Opinion, own: Opinion | None, seat: int) -> str:
    candidate = other.candidate
    words = [f"its number {other.rank}"]
    if candidate.value:
        words.append(f"share {candidate.value[seat]:.3f}")
        if own is not None and own.candidate.value:
            words[-1] += f" ({candidate.value[seat] - own.candidate.value[seat]:+.3f})"
    if candidate.visits:
        words.append(f"{candidate.visits:,} visits")
    return ", ".join(words)


def _share(value: Sequence[float], seat: int) -> str:
    return f"{value[seat]:.3f}" if value else "-"


def _short(name: str) -> str:
    return terminal.shorten(name, _MOST_NAME)


def _letter(index: int) -> str:
    return chr(ord("A") + index) if index < 26 else str(index + 1)


def _and(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _seat(position: Position) -> int:
    """Return the seat to move of a position that is searched."""
    assert position.to_move is not None
    return position.to_move


def to_json(courses: Sequence[Course], position: Position) -> str:
    """Return the line with the comparison, after those of the results."""
    results = [(course.name, course.results[-1]) for course in courses]
    return json.dumps({"comparison": compare(position, results).to_json()})
