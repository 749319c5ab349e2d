"""`mexica-ai play`: a game against engines in the terminal."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import itertools
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from mexica_ai.analysis.limits import AUTO, Limits
from mexica_ai.analysis.ratings import level_of
from mexica_ai.analysis.results import Result
from mexica_ai.cli import common, kept_games, new, report
from mexica_ai.cli.records import read_record, read_records
from mexica_ai.engines import Engine, make_engine, parse_spec
from mexica_ai.engines.specs import KEYS, KINDS, EngineSpec
from mexica_ai.game import registry
from mexica_ai.game.move_text import is_move_text
from mexica_ai.game.position import Position, new_game
from mexica_ai.game.position_text import TURN_SEPARATOR
from mexica_ai.game.records import parse_record, position_at
from mexica_ai.game.variations import Line, lines_of
from mexica_ai.io import files, terminal
from mexica_ai.io.errors import MexicaAIError, NotationError
from mexica_ai.session import Session
from mexica_ai.table.events import seen_turn

DESCRIPTION = f"""\
Play a game in the terminal: a new one, or on from a position or a record of a
game. Without other options you have the seat to move, and the engine mcts plays
the others with one second a turn.

Type an action, or several joined by "; ". Commands: help, legal, board, hint,
analyse, undo, redo, show N, save FILE, resign, quit. Input may also be piped,
one line each. Ctrl-C ends the search of an engine, which then plays the best
turn so far.

After every turn the record of the game is written to a file, so that it can go
on after quit, a crash, or a power cut: mexica-ai play FILE.

{common.ENGINES_HELP}

Examples:
  mexica-ai play
  mexica-ai play --players 3 --level 4
  mexica-ai play --person 1 --engine mcts,time=5
  mexica-ai play game.json --person 0,2 --seat 1=beam
"""
HELP = """\
ACTION; ACTION; ...  play actions, such as: {example}
legal [WORD]         the legal actions, or those that begin with WORD
board                the position again
hint                 the engine's turn and what it expects, after a second
analyse [SECONDS]    the engine's candidates, after 2 seconds
undo, redo           take back your last action, else your last turn
show N               the position after N turns, 0 the first
save FILE            write the record of the game so far
resign               give up
quit                 end; the game can go on later"""
HINT_S, ANALYSE_S = 1.0, 2.0
_ROWS = 12  # lines of legal actions that are listed
_MAX_LINE = 100_000  # characters of a line that is piped in
_CLEAR = "\x1b[2J\x1b[3J\x1b[H"
# Keys of a record that a game which goes on keeps, or sets itself.
_KEPT = {
    *("game", "version", "start", "turns", "scores", "winners", "termination", "engines", "build"),
    *("comment", "comments", "variations"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "source", metavar="FILE", nargs="?", help="a position or a record to go on from (default: a new game)"
    )
    parser.add_argument(
        "--person", type=common.argument(_seats), metavar="SEATS", help="seats of persons, such as 0 or 0,2"
    )
    parser.add_argument(
        "--seat",
        action="append",
        default=[],
        type=common.argument(_seat_engine),
        metavar="N=SPEC",
        help="the engine of a seat, such as 1=mcts,level=3; may be repeated",
    )
    parser.add_argument(
        "--engine", default="mcts", metavar="SPEC", help="the engine of the other seats (default: mcts)"
    )
    parser.add_argument(
        "--time", type=common.argument(KEYS["time"]), metavar="SECONDS", help="time of an engine's turn (default: 1)"
    )
    common.add_level_options(parser, "strength of the engines, 1 to 10")
    parser.add_argument(
        "--record",
        metavar="FILE",
        help="file of the record (default: GAME-DATE-TIME.json in $XDG_STATE_HOME/mexica-ai, by default "
        "~/.local/state/mexica-ai)",
    )
    common.add_threads_option(parser, common.PLAY_CORES)
    parser.add_argument("--last", action="store_true", help="go on with the game that was kept there last")
    new.add_deal_options(parser)
    parser.set_defaults(game=None, players=None)  # so that it shows whether they are given


def _seats(text: str) -> list[int]:
    seats = text.split(",")
    if not all(seat in ("0", "1", "2", "3") for seat in seats):
        raise ValueError("seats from 0 to 3, such as 0,2")
    return sorted({int(seat) for seat in seats})


def _seat_engine(text: str) -> tuple[int, str]:
    seat, _, spec = text.partition("=")
    if seat not in ("0", "1", "2", "3") or not spec:
        raise ValueError("a seat and an engine, such as 1=mcts,level=3")
    return int(seat), spec


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    is_dealt = new.is_given(args)
    if args.last:
        if args.source is not None or args.record is not None or is_dealt:
            problem = "--last: expected no FILE, no --record and no options of a new game beside it"
            raise NotationError(problem, reason="BAD_USAGE")
        args.source = kept_games.last()
        args.record = None if _has_more(args.source) else args.source
    elif args.source is not None and is_dealt:
        raise NotationError("FILE: expected no options of a new game beside it", reason="BAD_USAGE")
    position, lines = _start(args)
    mover = position.to_move if position.to_move is not None else 0
    chosen = dict(args.seat)
    if len(chosen) < len(args.seat):
        raise NotationError("--seat: two are for one seat; expected one at most", reason="BAD_USAGE")
    persons = args.person if args.person is not None else [mover]
    for seat in (*persons, *chosen):
        if seat >= position.players:
            raise NotationError(f"seat {seat}: the game has seats 0 to {position.players - 1}", reason="BAD_USAGE")
    if both := set(persons) & set(chosen):
        raise NotationError(f"seat {min(both)}: given to a person and to an engine", reason="BAD_USAGE")
    specs = _engine_specs(args, position, persons, chosen)
    record = args.record or kept_games.new_name(position.game)
    if problem := files.problem_of(record):
        advice = "" if args.record else "; expected a folder of yours, or --record FILE"
        raise NotationError(f"--record: cannot write {record!r}: {problem}{advice}", reason="BAD_USAGE")
    if args.record and _has_something_else(record, args.source):
        raise NotationError(
            f"--record: {record!r} exists already; expected a new file, or `mexica-ai play {record}` to go on with it",
            reason="BAD_USAGE",
        )
    if args.record and Path(record).is_file() and _has_more(record):
        raise NotationError(
            f"--record: {record!r} holds more than the record of the game that goes on would; expected a new file",
            reason="BAD_USAGE",
        )
    with contextlib.ExitStack() as stack:
        engines = {}
        for seat, spec in specs.items():
            defaults: dict[str, Any] = {"time": args.time or 1.0}
            if "threads" in KINDS[spec.kind].keys:
                defaults["threads"] = common.threads_of(args, spec)
            engines[seat] = stack.enter_context(make_engine(spec, **defaults))
        threads = args.threads or AUTO
        adviser = stack.enter_context(make_engine(parse_spec(f"mcts,threads={threads}")))
        if not args.record:
            record = kept_games.made(record)
        try:
            session = Session(position, engines, record, lines)
        except BaseException:
            if not args.record:
                Path(record).unlink(missing_ok=True)
            raise
        Talk(session, adviser, record).play()
    return 0


def _engine_specs(
    args: argparse.Namespace, position: Position, persons: list[int], chosen: dict[int, str]
) -> dict[int, EngineSpec]:
    """Return the specs of the seats that engines play; raise NotationError if a level is given and none takes it."""
    parse_spec(args.engine)  # it may be of no seat
    specs = {
        seat: _at_level(parse_spec(chosen.get(seat, args.engine)), position.game, args)
        for seat in range(position.players)
        if seat not in persons
    }
    if (args.level or args.elo) and not any("level" in KINDS[spec.kind].keys for spec in specs.values()):
        option = "--level" if args.level else "--elo"
        raise NotationError(f"{option}: no engine of the game has levels", reason="BAD_USAGE")
    return specs


def _at_level(spec: EngineSpec, game: str, args: argparse.Namespace) -> EngineSpec:
    """Return the spec with the level that the options name, which the record then names, too."""
    level = args.level if args.elo is None else level_of(game, args.elo)
    if level is None or "level" not in KINDS[spec.kind].keys or {"level", "elo"} & spec.options.keys():
        return spec
    return dataclasses.replace(spec, options={**spec.options, "level": level})


def _start(args: argparse.Namespace) -> tuple[Position, Line | None]:
    """Return the position of a file, with its history and its lines if that is a record, or a new game."""
    if args.source is None:
        args.game = args.game or registry.DEFAULT
        return new_game(args.game, players=args.players or 2, seed=args.seed, **new.game_options(args)), None
    if args.source == "-":
        raise NotationError("FILE: given -; expected a file, since standard input is for the turns", reason="BAD_USAGE")
    try:
        return common.read_position(args.source), None
    except MexicaAIError as error:
        if error.reason != "RECORD_GIVEN":
            raise
    text, where = read_record(args.source, 1)
    with common.located(where):
        record = parse_record(text)
        return position_at(record, len(record["turns"])), lines_of(record)


def _has_something_else(record: str, source: str | None) -> bool:
    """Return whether a file has something that is not the game that is played."""
    path = Path(record)
    if not path.is_file() or path.stat().st_size == 0:
        return False
    return source is None or not Path(source).is_file() or not path.samefile(source)


def _has_more(path: str) -> bool:
    """Return whether a file of a game has what a game that goes on would not keep: other records, keys, or its form."""
    with contextlib.suppress(MexicaAIError):
        found = [text for _, text in itertools.islice(read_records(path), 2)]
        return len(found) > 1 or any(is_move_text(text) or _has_other_keys(parse_record(text)) for text in found)
    return False  # a position


def _has_other_keys(record: object) -> bool:
    return isinstance(record, dict) and "turns" in record and not record.keys() <= _KEPT


class Quit(Exception):  # noqa: N818, it is no error
    """The person ends the program."""


class Talk:
    """Talks with the persons."""

    help_text = HELP  # with {example} for an action

    def __init__(self, session: Session, adviser: Engine | None, record: str) -> None:
        self._session, self._adviser, self._record = session, adviser, record
        self._saved: set[str] = set()  # files that `save` has made
        self._is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
        self._lines = _prompt(self._words) if self._is_terminal else _piped()
        self._ahead = ""  # a line that was typed at the handover
        self._hands_over = False  # whether somebody else may still look at the screen
        self._shown: int | None = None  # the seat that looks at the screen
        self._last_mover: int | None = None
        self._commands: dict[str, Callable[[str], None]] = {
            "help": self._help,
            "legal": self._legal,
            "board": lambda _: self._board(),
            "hint": self._hint,
            "analyse": self._analyse,
            "analyze": self._analyse,
            "undo": self._undo,
            "redo": self._redo,
            "show": self._show,
            "save": self._save,
            "resign": self._resign,
            "quit": self._quit,
            "exit": self._quit,
        }

    def play(self) -> None:
        """Play until the game is over or the person leaves."""
        session = self._session
        self._say(f"Your game is kept in {self._record}; help lists the commands.")
        try:
            while True:
                while not session.is_over:
                    position = session.position
                    if position.is_chance:
                        self._event()
                    elif position.to_move in session.engines:
                        self._engine_turn()
                    else:
                        self._person_turn()
                self._end()
                while session.is_over:
                    self._line("over> ")  # undo, show and save still work
        except Quit:
            pass

    # --- turns

    def _event(self) -> None:
        event = self._session.draw()
        # The persons must not see what an engine has drawn blindly.
        if not self._session.hides or self._session.persons == [self._last_mover]:
            self._say(f"Event: {report.format_turn(event)}")

    def _engine_turn(self) -> None:
        session = self._session
        before, seat = session.table.now, self._mover()
        name = terminal.shorten(session.engines[seat].name)
        with common.stop_on_interrupt() as stop, common.Progress(f"seat {seat} ({name}) thinks") as progress:
            progress.show(f"seat {seat} ({name}) thinks (Ctrl-C: it plays the best so far)")
            result = session.think(stop)
        self._last_mover = seat
        turn = result.turn
        if session.hides:
            viewers = session.persons
            turn = seen_turn(before, turn, viewers[0]) if viewers else turn
        head = f"seat {seat} ({name}): "
        self._say("\n".join(terminal.wrap_turn(turn, terminal.width(), head, " " * 4)))

    def _mover(self) -> int:
        """Return the seat to move, while the game goes on and no random event is due."""
        seat = self._session.position.to_move
        assert seat is not None
        return seat

    def _person_turn(self) -> None:
        session = self._session
        seat = self._mover()
        if seat != self._shown:
            if session.hides and len(session.persons) > 1:
                self._hand_over(seat)
            self._shown = seat
            self._board()
        elif not session.position.is_within_turn:
            self._board()
        while not session.is_over and session.position.to_move == seat:
            started = session.position.state.turn
            self._line(f"seat {seat}> ")
            if session.position.state.turn != started:
                break
        self._last_mover = seat

    def _hand_over(self, seat: int) -> None:
        if self._is_terminal:
            sys.stdout.write(_CLEAR)
            self._lines = _prompt(self._words)  # without the lines that the last person has typed
        self._say(f"Seat {seat}: press Enter when nobody else looks at the screen")
        self._hands_over = True
        # A line that is more than Enter is the first one of the person.
        self._ahead = self._next(f"seat {seat}, Enter> ").strip()
        self._hands_over = False

    def _end(self) -> None:
        session, position = self._session, self._session.position
        if session.resigned is not None:
            self._say(f"Seat {session.resigned} has resigned.")
            return
        self._say(str(position).rstrip("\n"))
        winners = " and ".join(f"seat {seat}" for seat in position.winners)
        verb = "wins" if len(position.winners) == 1 else "share the win"
        points = ", ".join(f"seat {seat}: {score:g}" for seat, score in enumerate(position.scores))
        self._say(f"\nThe game is over: {winners} {verb}. {points}")

    # --- lines

    def _next(self, prompt: str) -> str:
        try:
            return self._lines(prompt)
        except EOFError:
            raise Quit from None
        except UnicodeDecodeError as error:
            raise NotationError(f"standard input: not UTF-8: {error.reason}", reason="BAD_UTF8") from None

    def _line(self, prompt: str) -> None:
        """Read a line and do what it says."""
        try:
            line, self._ahead = self._ahead or self._next(prompt).strip(), ""
        except KeyboardInterrupt:
            self._interrupted()
            return
        word, _, rest = line.partition(" ")
        try:
            if not line:
                return
            if word in self._commands:
                self._commands[word](rest.strip())
            elif self._session.is_over:
                self._say("the game is over; undo, show N, save FILE and quit are left")
            else:
                self._session.play([action.strip() for action in line.rstrip("; ").split(TURN_SEPARATOR.strip())])
                if self._session.position.is_within_turn:
                    self._say(self._turn_so_far())
        except (MexicaAIError, OSError) as error:
            problem = terminal.shorten(re.sub(r"^turn(\[\d+\])?: ", "", str(error)), terminal.MAX_MESSAGE)
            self._say(textwrap.fill(f"no: {problem}", terminal.width(), break_on_hyphens=False))

    def _interrupted(self) -> None:
        """Answer Ctrl-C at the prompt."""
        self._say("quit ends the game, which is kept")

    def _turn_so_far(self) -> str:
        turn = report.format_turn(self._session.position.history[-1])
        return f"turn so far: {turn}"

    def _words(self, before: str = "") -> list[str]:
        """Return what can be typed now, or after actions that end in a semicolon."""
        if self._hands_over:  # actions name the cards of the next person
            return []
        position = self._session.position
        actions = [action.strip() for action in before.split(";") if action.strip()]
        if actions:
            position = position.copy()
            with contextlib.suppress(MexicaAIError):
                for action in actions:
                    position.push_action(action)
                return position.legal_actions() if position.is_within_turn else []
            return []
        found = position.legal_actions() if position.to_move in self._session.persons else []
        return [*found, *self._commands]

    def _say(self, text: str) -> None:
        terminal.say(*text.split("\n"), flush=True)

    # --- commands

    def _board(self) -> None:
        viewer = self._shown if self._session.persons else None
        if viewer is None and self._session.persons and not self._session.is_over:
            viewer = self._mover()
        self._say("\n" + str(self._session.view(viewer)).rstrip("\n") + "\n")
        if self._session.position.is_within_turn:
            self._say(self._turn_so_far())

    def _help(self, _rest: str) -> None:
        words = self._words()
        self._say(self.help_text.format(example=words[0]))

    def _legal(self, rest: str) -> None:
        actions = [action for action in self._session.position.legal_actions() if action.startswith(rest)]
        if not actions:
            self._say(f"no legal action begins with {rest!r}" if rest else "no action is legal")
            return
        text = "   ".join(action.replace(" ", terminal.NO_BREAK) for action in actions)
        lines = textwrap.wrap(text, terminal.width(), break_on_hyphens=False)
        more = ""
        if len(lines) > _ROWS:
            number = len(actions)
            lines, more = lines[:_ROWS], f"... {number} in all; legal WORD lists those that begin with it"
        self._say("\n".join(lines).replace(terminal.NO_BREAK, " ") + (f"\n{more}" if more else ""))

    def _search(self, seconds: float) -> Result:
        session = self._session
        assert self._adviser is not None
        with common.stop_on_interrupt() as stop:
            return self._adviser.best_turn(session.view(self._mover()), Limits(time_s=seconds), stop=stop)

    def _hint(self, _rest: str) -> None:
        if self._session.is_over:
            self._say("the game is over")
            return
        result, seat = self._search(HINT_S), self._mover()
        self._say("\n".join(terminal.wrap_turn(result.turn, terminal.width(), "hint: ", "      ")))
        if result.value and result.expected_scores:  # not every engine tells them
            share, points = 100 * result.value[seat], result.expected_scores[seat]
            self._say(f"      seat {seat} then expects {share:.0f} % of the win, with {points:.1f} points")

    def _analyse(self, rest: str) -> None:
        if self._session.is_over:
            self._say("the game is over")
            return
        try:
            seconds = KEYS["time"](rest) if rest else ANALYSE_S
        except ValueError as error:
            self._say(f"no: analyse {rest}: expected {error}")
            return
        self._say("\n".join(report.format_candidates(self._search(seconds).candidates)))

    def _undo(self, _rest: str) -> None:
        num_turns = len(self._session.table.turns)
        if not self._session.undo():
            self._say("there is nothing to take back")
            return
        if len(self._session.table.turns) != num_turns:
            self._shown = None  # another person may be to move
        self._say("taken back")
        if self._session.position.is_within_turn:
            self._say(self._turn_so_far())

    def _redo(self, _rest: str) -> None:
        self._say("played again" if self._session.redo() else "there is nothing to play again")
        if self._session.position.is_within_turn:
            self._say(self._turn_so_far())

    def _show(self, rest: str) -> None:
        history = self._session.position.history
        if not re.fullmatch("[0-9]{1,9}", rest) or int(rest) > len(history):
            self._say(f"no: show {terminal.shorten(rest, 40)}: expected a number of turns from 0 to {len(history)}")
            return
        position = self._session.table.positions[0].copy()
        for turn in history[: int(rest)]:
            position.push(turn, partial=True)
        if self._session.hides and self._session.persons:
            position = position.view(self._shown if self._shown is not None else self._session.persons[0])
        self._say(str(position).rstrip("\n"))

    def _save(self, rest: str) -> None:
        if not rest:
            self._say("no: save: expected the name of a file")
            return
        if problem := files.problem_of(rest):
            self._say(f"no: cannot write {rest!r}: {problem}")
            return
        if rest not in self._saved and _has_something_else(rest, self._record):
            self._say(f"no: {rest!r} exists already; expected a new file")
            return
        self._session.save(rest)
        self._saved.add(rest)
        self._say(f"saved in {rest}")

    def _resign(self, _rest: str) -> None:
        if not self._session.is_over:
            self._session.resign()

    def _quit(self, _rest: str) -> None:
        raise Quit


def _piped() -> Callable[[str], str]:
    """Return what reads the next line of standard input; the line is shown, as on a terminal."""

    def read(prompt: str) -> str:
        line = sys.stdin.readline(_MAX_LINE + 1)
        if len(line.rstrip("\n")) > _MAX_LINE:
            raise NotationError(f"standard input: a line of over {_MAX_LINE:,} characters", reason="UNREADABLE_FILE")
        if not line:
            raise EOFError
        line = line.rstrip("\n").removeprefix("\ufeff")
        terminal.say(f"{prompt}{line}", flush=True)
        return line

    return read


def _prompt(words: Callable[[str], list[str]]) -> Callable[[str], str]:
    """Return what asks on a terminal, with completion if prompt_toolkit is installed (extra play)."""
    try:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.completion import Completer, Completion
        from prompt_toolkit.document import Document
    except ModuleNotFoundError:
        return input

    class Words(Completer):
        def get_completions(self, document: Document, complete_event: object) -> Iterator[Completion]:
            before, _, typed = document.text_before_cursor.rpartition(";")
            typed = typed.lstrip()
            for word in words(before):
                if word.startswith(typed):
                    yield Completion(word, start_position=-len(typed))

    session: PromptSession[str] = PromptSession(completer=Words(), complete_while_typing=False)
    return session.prompt
