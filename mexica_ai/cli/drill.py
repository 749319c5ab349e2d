"""`mexica-ai drill`: make exercises of the mistakes of played games, and solve them in the terminal."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

from mexica_ai.analysis import drill
from mexica_ai.analysis.annotate import TurnEvaluation, check_played, evaluate_record, recorded_evaluations
from mexica_ai.analysis.drill import Exercise, Verdict
from mexica_ai.analysis.limits import DEFAULT_MEMORY_MB, DEFAULT_THREADS
from mexica_ai.cli import common
from mexica_ai.cli.play import Quit, Talk
from mexica_ai.cli.records import read_records
from mexica_ai.engines.specs import whole_number
from mexica_ai.game.position import Position
from mexica_ai.game.records import parse_record
from mexica_ai.io import files, terminal
from mexica_ai.io.errors import NotationError
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.numbers import resolve_seed
from mexica_ai.io.strict import quote
from mexica_ai.session import Session

EXIT_INTERRUPTED = 130

DESCRIPTION = f"""\
With --out, make a drill of played games: the positions in which a turn gave
away a share of the win, each once, as its seat saw it. The games need
evaluations, of `mexica-ai annotate --record`; with --time or --iterations the
turns that have none are searched first.

Without --out, solve a drill in the terminal. Each position is shown; enter a
turn that is better than the one played then, as in `mexica-ai play`. It is
solved by a turn without a grade, by the measure of `annotate`: --time is for
each search (default: 1). What is solved is kept in DRILL.progress.json after
each turn, and what is not comes first the next time. Commands: help, legal,
board, hint, answer, next, undo, redo, quit. Input may also be piped.

An exercise gives {drill.MAX_POINTS} points for a turn that gives nothing away, none for one
that gives away as much as the turn played then; each hint and each turn tried
before costs {drill.TRY_POINTS}. It gives none after `answer`.

Examples:
  mexica-ai annotate game.jsonl --time 2 --record game.jsonl
  mexica-ai drill game.jsonl --seat 0 --out mine.jsonl
  mexica-ai drill games/*.jsonl --player person --grade blunder --out mine.jsonl
  mexica-ai drill mine.jsonl
"""
HELP = """\
ACTION; ACTION; ...  enter actions, such as: {example}
legal [WORD]         the legal actions, or those that begin with WORD
board                the position again
hint                 the first action of the better turn; again: one more
answer               the better turn; the exercise is not solved
next                 the next exercise
undo, redo           take back your last action; play it again
quit                 end; the drill can go on later"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "files", metavar="FILE", nargs="+", help="with --out, files of records, or - for standard input; else a drill"
    )
    parser.add_argument("--out", metavar="FILE", help="make a drill of the records, and write it to this file")
    making = parser.add_argument_group("making")
    making.add_argument(
        "--seat", type=common.argument(whole_number(0, 3)), metavar="N", help="only the mistakes of this seat"
    )
    making.add_argument(
        "--player", metavar="NAME", help="only those of the seats that the record gives this name, such as person"
    )
    making.add_argument(
        "--grade",
        choices=tuple(drill.GRADES),
        default=None,
        help=f"only mistakes of this grade or worse (default: {drill.LEAST})",
    )
    common.add_search_options(parser, "1 to solve, none to make", has_level=False, seed_default="drawn")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    if args.out is not None:
        return _make(args)
    for flag in ("seat", "player", "grade"):
        if getattr(args, flag) is not None:
            raise NotationError(f"--{flag}: expected with --out, to make a drill", reason="BAD_USAGE")
    if len(args.files) > 1:
        raise NotationError("expected one drill to solve, or --out FILE, to make one of records", reason="BAD_USAGE")
    return _solve(args)


def _limits(args: argparse.Namespace, time_s: float | None = None) -> dict[str, Any]:
    """Return the options of a search as arguments of `evaluate_record`."""
    return {
        "time_s": args.time if args.time is not None or args.iterations is not None else time_s,
        "iterations": args.iterations,
        "threads": args.threads or DEFAULT_THREADS,
        "memory_mb": args.memory or DEFAULT_MEMORY_MB,
        "seed": resolve_seed(args.seed),
    }


# --- making


class _Game(NamedTuple):
    """A record, where it is from, and the seats whose mistakes are taken."""

    record: JsonObject
    path: str
    number: int  # in its file, from 1
    where: str
    seats: list[int]


def _make(args: argparse.Namespace) -> int:
    """Write the drill of records."""
    if problem := files.problem_of(args.out):
        raise NotationError(f"--out: cannot write {args.out!r}: {problem}", reason="BAD_USAGE")
    for path in args.files:
        if path != "-" and os.path.exists(args.out) and os.path.exists(path) and os.path.samefile(path, args.out):
            raise NotationError(f"--out: {args.out!r} has the records; expected another file", reason="BAD_USAGE")
    games = list(_games(args))
    if not any(game.seats for game in games):
        raise NotationError(f"--player: no record names a player {quote(args.player)}", reason="BAD_USAGE")
    for game in games:  # all of them before the first search
        _check_evaluated(game, args)
    found: list[Exercise] = []
    with common.Progress("searching") as progress:
        for count, game in enumerate(games):
            evaluations = _evaluations(game, args, progress, f"game {count + 1} of {len(games)}")
            found += drill.exercises_of(
                game.record,
                evaluations,
                name=terminal.escape(files.name_of(game.path)),  # it may be no text in UTF-8
                game=game.number,
                seats=game.seats,
                least=args.grade or drill.LEAST,
            )
    exercises = drill.distinct(found)
    files.replace(args.out, drill.drill_text(exercises), "--out")
    again = f", {len(found) - len(exercises)} more of the same positions" if len(found) > len(exercises) else ""
    terminal.say(
        *terminal.wrap(f"{_count(len(exercises), 'exercise')} of {_count(len(games), 'game')} in {args.out}{again}")
    )
    return 0


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + "s" * (number != 1)


def _games(args: argparse.Namespace) -> Iterator[_Game]:
    """Yield the games of the records, checked."""
    for path in args.files:
        number = 0
        for number, (line, text) in enumerate(read_records(path), 1):
            where = f"{files.name_of(path)}:{line}"
            with common.located(where):
                record = parse_record(text)
                if isinstance(record, dict) and "better" in record:
                    problem = "given a drill; expected records, to make one; without --out it is solved"
                    raise NotationError(problem, reason="BAD_USAGE")
                check_played(record)
                players = record["start"]["players"]
                if args.seat is not None and args.seat >= players:
                    raise NotationError(f"--seat: the game has seats 0 to {players - 1}", reason="BAD_USAGE")
            names = record.get("engines") or [""] * players
            seats = [
                seat for seat in range(players) if args.seat in (None, seat) and args.player in (None, names[seat])
            ]
            yield _Game(record, path, number, where, seats)
        if not number:
            raise NotationError(f"{files.name_of(path)}: holds no records; expected one at least", reason="NO_RECORD")


def _is_search(args: argparse.Namespace) -> bool:
    return args.time is not None or args.iterations is not None


def _check_evaluated(game: _Game, args: argparse.Namespace) -> None:
    """Raise an error if a game has no evaluations, and may not be searched."""
    if "evaluations" not in game.record and game.seats and not _is_search(args):
        raise NotationError(
            f"{game.where}: the record has no evaluations; expected those of `mexica-ai annotate "
            f"{files.name_of(game.path)} --game {game.number} --record FILE`, or --time or --iterations, "
            "to search its turns now",
            reason="NO_EVALUATIONS",
        )


def _evaluations(game: _Game, args: argparse.Namespace, progress: common.Progress, words: str) -> list[TurnEvaluation]:
    """Return the evaluations of a record, and of its turns that have none if they may be searched."""
    found = recorded_evaluations(game.record)
    if not _is_search(args):
        return found
    known = {one.turn_index for one in found}
    missing = [index for index, seat in enumerate(_movers(game.record)) if seat in game.seats and index not in known]
    if not missing:
        return found
    searched: list[TurnEvaluation] = []
    with common.located(game.where), common.stop_on_interrupt() as stop:
        evaluations = evaluate_record(game.record, turns=missing, stop=stop, **_limits(args))
        for one in common.in_thread(
            evaluations,
            lambda: progress.count(
                f"searching {words}, turn {len(searched)} of {len(missing)}", len(searched), len(missing)
            ),
        ):
            searched.append(one)
    if len(searched) < len(missing):
        raise KeyboardInterrupt  # a drill of half the games would pass for the whole one
    return found + searched


def _movers(record: JsonObject) -> list[int | None]:
    """Return the seat that played each turn of a record; None for random events."""
    position = Position.from_json(record["start"])
    movers: list[int | None] = []
    for turn in record["turns"]:
        movers.append(position.to_move)
        position.push(turn)
    return movers


# --- solving


def _solve(args: argparse.Namespace) -> int:
    """Show the exercises of a drill one after the other."""
    (path,) = args.files
    if path == "-":
        raise NotationError("expected a drill in a file; standard input is for the turns", reason="BAD_USAGE")
    try:
        exercises = drill.read_drill(files.lines_of(path), path)
    except NotationError as error:
        if error.reason not in ("RECORD_GIVEN", "BAD_JSON"):
            raise
        raise NotationError(
            f"{error}; of records, `mexica-ai drill {path} --out FILE` makes a drill", reason=error.reason
        ) from None
    kept = drill.progress_path(path)
    if problem := files.problem_of(kept):
        raise NotationError(
            f"cannot write {kept!r}: {problem}; expected a drill in a folder of yours", reason="BAD_USAGE"
        )
    progress = drill.Progress(kept)
    return _Trainer(progress.ordered(exercises), progress, _limits(args, 1.0)).solve()


class _Next(Exception):  # noqa: N818, it is no error
    """The person goes on to the next exercise."""


class _Trainer(Talk):
    """Talks with the person who solves a drill."""

    help_text = HELP

    def __init__(self, exercises: list[Exercise], progress: drill.Progress, limits: dict[str, Any]) -> None:
        self._exercises, self._progress, self._limits = exercises, progress, limits
        self._begin(exercises[0])
        super().__init__(self._session, None, progress.path)
        self._commands = {
            "help": self._help,
            "legal": self._legal,
            "board": lambda _: self._board(),
            "hint": self._hint,
            "answer": self._answer,
            "next": self._go_on,
            "undo": self._undo,
            "redo": self._redo,
            "quit": self._quit,
            "exit": self._quit,
        }
        self._is_interrupted = False

    def _begin(self, exercise: Exercise) -> None:
        """Start an exercise."""
        self._exercise, self._attempt = exercise, drill.Attempt(exercise)
        self._set_up()

    def _set_up(self) -> None:
        """Put up the position of the exercise."""
        others: Any = {seat: None for seat in range(self._exercise.position.players) if seat != self._exercise.seat}
        self._session = Session(self._exercise.world.copy(), others)

    def solve(self) -> int:
        """Go through the exercises; return the exit code."""
        number = len(self._exercises)
        self._say(f"{_count(number, 'exercise')}; what is solved is kept in {self._progress.path}.")
        self._say("help lists the commands.")
        solved = points = seen = 0
        try:
            for count, exercise in enumerate(self._exercises, 1):
                self._begin(exercise)
                self._introduce(count)
                seen += 1
                with contextlib.suppress(_Next):
                    self._try_turns()
                solved += self._attempt.solved
                points += self._attempt.points
        except (Quit, KeyboardInterrupt) as end:
            self._is_interrupted |= isinstance(end, KeyboardInterrupt)
            seen -= not self._attempt.tries
            points += self._attempt.points
        self._say(f"\nSolved {solved} of {seen}: {points} of {drill.MAX_POINTS * seen} points.")
        left = sum(not self._progress.outcomes.get(one.key, drill.Outcome()).solved for one in self._exercises)
        self._say(f"{left} of {number} left to solve." if left else "All are solved.")
        return EXIT_INTERRUPTED if self._is_interrupted else 0

    def _introduce(self, count: int) -> None:
        exercise, source = self._exercise, self._exercise.source
        self._shown = exercise.seat
        self._say(
            f"\nExercise {count} of {len(self._exercises)}: turn {source.turn} of game {source.game} of "
            f"{terminal.shorten(source.record)}"
        )
        self._board()
        played = terminal.wrap_turn(exercise.turn, terminal.width(), "played then: ", "    ")
        self._say("\n".join([*played, f"    gave away {100 * exercise.loss:.1f} % of the win. Find a better turn."]))

    def _try_turns(self) -> None:
        """Read and judge turns until one is solved; `_Next` and `Quit` end it, too."""
        while True:
            started = self._session.position.state.turn
            while not self._session.is_over and self._session.position.state.turn == started:
                self._line(f"seat {self._exercise.seat}> ")
            turn = self._session.position.history[0]
            self._set_up()
            verdict = self._judge(turn)
            if verdict is None:
                self._say("stopped; the turn is not judged")
                continue
            self._note(verdict)
            if self._attempt.solved:
                if verdict.by != "better":
                    self._say_turn("the better turn was: ", self._exercise.better)
                return
            self._say("Try again; or hint, answer, next.")

    def _judge(self, turn: list[str]) -> Verdict | None:
        """Return the verdict on a turn; None if Ctrl-C ends its search."""
        if verdict := drill.known_verdict(self._exercise, turn):
            return verdict
        with common.stop_on_interrupt() as stop, common.Progress("searching") as progress:
            progress.show("searching (Ctrl-C: another turn)")
            record = drill.trial_record(self._exercise, turn)
            found = list(common.in_thread(evaluate_record(record, stop=stop, **self._limits)))
        return drill.searched_verdict(self._exercise, found[0]) if found else None

    def _note(self, verdict: Verdict) -> None:
        """Say and keep what a turn has reached."""
        attempt = self._attempt
        attempt.note(verdict)
        self._progress.note(self._exercise, solved=attempt.solved, points=attempt.points, tries=1)
        words = drill.describe_verdict(self._exercise, verdict).replace(" %", f"{terminal.NO_BREAK}%")
        self._say("\n".join(terminal.wrap(words)).replace(terminal.NO_BREAK, " "))

    def _say_turn(self, head: str, turn: list[str]) -> None:
        self._say("\n".join(terminal.wrap_turn(turn, terminal.width(), head, "    ")))

    def _hint(self, _rest: str) -> None:
        self._say(f"hint: {self._attempt.hint()}")

    def _answer(self, _rest: str) -> NoReturn:
        exercise = self._exercise
        self._attempt.give_up()
        self._progress.note(exercise, solved=False, points=0, tries=0)
        self._say_turn("the better turn: ", exercise.better)
        self._say(f"    seat {exercise.seat} then expects {100 * exercise.value[exercise.seat]:.0f} % of the win")
        raise _Next

    def _go_on(self, _rest: str) -> NoReturn:
        raise _Next

    def _interrupted(self) -> None:
        self._is_interrupted = True
        raise Quit
