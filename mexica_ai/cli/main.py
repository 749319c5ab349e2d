"""The command `mexica-ai`: parses arguments, runs a subcommand, reports errors in one line and exits."""

from __future__ import annotations

import argparse
import contextlib
import errno
import functools
import importlib.metadata
import io
import itertools
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

from mexica_ai.cli.commands import COMMANDS, module
from mexica_ai.io import terminal
from mexica_ai.io.errors import MexicaAIError, NotationError, SearchError
from mexica_ai.io.strict import quote
from mexica_ai.io.suggest import did_you_mean
from mexica_ai.io.terminal import MAX_MESSAGE

_WRITE_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)  # not of sockets
EXIT_OK, EXIT_FAILURE, EXIT_BAD_INPUT, EXIT_INTERRUPTED = 0, 1, 2, 130
# Reasons of a SearchError that bad input has, beside those that begin with INVALID_.
_BAD_INPUT = {"NOT_RESTRICTABLE", "NO_FIRST_ACTION", "BAD_AFFINITY"}
_BAD_INPUT |= {"NO_OBSERVATIONS", "NO_ACTION_IDS", "NO_ACTION_FEATURES"}

EPILOG = """\
A POSITION is a file (JSON or the compact form), the compact form itself, or -
for standard input. Results go to standard output, errors to standard error in
one line. Exit code: 0, or 2 for bad input, 1 for a failure, 130 if interrupted.
`mexica-ai help COMMAND` describes a command.

Example: mexica-ai new --players 3 --seed 7 | mexica-ai best - --time 2
"""


class _Parser(argparse.ArgumentParser):
    """A parser that raises its errors as NotationError, like other bad input, and suggests what may have been meant."""

    def error(self, message: str) -> NoReturn:
        raise NotationError(f"{message} (see `{self.prog} --help`)", reason="BAD_USAGE")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, and refuse what is not known here, where the parser knows of which command it is."""
        given = list(sys.argv[1:] if args is None else args)
        options = {option for option in self._option_string_actions if option.startswith("--")}

        def refuse(text: str) -> NoReturn:
            name = text.partition("=")[0]
            self.error(f"there is no option {name}{did_you_mean(name, options)}")

        # Before something else is found to be missing, or its value is taken for a command.
        commands = [
            name for action in self._actions if action.nargs == argparse.PARSER for name in action.choices or ()
        ]
        for text in itertools.takewhile(lambda text: text != "--" and text not in commands, given):
            if text.startswith("--") and text.partition("=")[0] not in options:
                refuse(text)
        namespace, unknown = super().parse_known_args(given, namespace)
        for text in unknown:
            if text.startswith("--") and text != "--" and text.partition("=")[0] not in options:
                refuse(text)
        if unknown := [text for text in unknown if text != "--"]:
            self.error(f"{quote(unknown[0])} is more than was expected")
        return namespace, unknown

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            known = [str(choice) for choice in action.choices]
            problem = f"given {quote(value)}; expected one of {', '.join(known)}{did_you_mean(value, known)}"
            raise argparse.ArgumentError(action, problem)


class _CommandParser(_Parser):
    """The parser of a command; it imports the command's module and declares its arguments when it is first used."""

    declare: Callable[[argparse.ArgumentParser], None] | None = None

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Declare the arguments, then parse."""
        self.complete()
        return super().parse_known_args(args, namespace)

    def complete(self) -> None:
        """Declare the arguments, once."""
        if self.declare:
            declare, self.declare = self.declare, None
            declare(self)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = _Parser(
        prog="mexica-ai",
        description="An AI opponent for board games with long turns.",
        epilog=EPILOG,
        formatter_class=layout,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"mexica-ai {importlib.metadata.version('mexica-ai')}")
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", dest="subcommand", required=True, parser_class=_CommandParser
    )
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary, formatter_class=layout, allow_abbrev=False)
        command.declare = functools.partial(_declare, name)
    return parser


def _declare(name: str, parser: argparse.ArgumentParser) -> None:
    """Give the parser of a command what its module says."""
    command = module(name)
    parser.description = command.DESCRIPTION
    # The parser is for commands that print it; they cannot import what has them all.
    parser.set_defaults(run=command.run, whole_parser=whole_parser, parser=build_parser)
    command.add_arguments(parser)


def whole_parser() -> argparse.ArgumentParser:
    """Return the parser with the arguments of all commands; a command whose packages are not installed has none."""
    parser = build_parser()
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                with contextlib.suppress(SearchError):
                    command.complete()
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments without the program's name; by default those of the process.
    """
    _open_missing_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            terminal.show_what_it_can(stream)  # not every terminal can show all characters of boards
    try:
        with _short_warnings():
            parser = build_parser()
            given = sys.argv[1:] if argv is None else argv
            if not given:
                parser.print_help(sys.stderr)
                return EXIT_BAD_INPUT
            code = _run(parser, given)
        sys.stdout.flush()
        return code
    except MexicaAIError as error:
        terminal.tell(f"error: {error}")
        is_bad_input = error.reason.startswith("INVALID_") or error.reason in _BAD_INPUT
        return EXIT_FAILURE if isinstance(error, SearchError) and not is_bad_input else EXIT_BAD_INPUT
    except MemoryError:
        terminal.tell("error: out of memory")
        return EXIT_FAILURE
    except KeyboardInterrupt:
        terminal.tell("interrupted")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has closed it, as `head` does.
        _drop_output()
        return EXIT_OK
    except OSError as error:
        terminal.tell(f"error: {_describe(error)}")
        _drop_output()
        return EXIT_FAILURE


def _run(parser: argparse.ArgumentParser, given: Sequence[str]) -> int:
    """Run the subcommand that the arguments name, and return the exit code."""
    try:
        args = parser.parse_args(given)
        if args.subcommand not in ("serve", "web"):  # our own message tells what gRPC's lines would
            os.environ.setdefault("GRPC_VERBOSITY", "NONE")
        return int(args.run(args))
    except SystemExit as stop:  # --help and --version
        return int(stop.code or 0)


def _open_missing_streams() -> None:
    """Open what the parent process has closed: an input that is at its end, outputs that go nowhere."""
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode)  # noqa: SIM115, stays open
            setattr(sys, name, stream)
            # Most likely it has got the number that was free, and engines that are started expect it, too.
            os.set_inheritable(stream.fileno(), stream.fileno() == number)


def _describe(error: OSError) -> str:
    """Return what an error says; of one that names no file, and that nobody has described, the file is our output."""
    if error.filename is not None:
        return f"cannot use {error.filename!r}: {error.strerror}"
    if error.strerror is not None and error.errno in _WRITE_ERRORS:
        return f"cannot write standard output: {error.strerror}"
    return str(error)


@contextlib.contextmanager
def _short_warnings() -> Iterator[None]:
    """Let Python print warnings in one line, without the line of code that they are from."""
    before = warnings.formatwarning
    warnings.formatwarning = lambda message, *_: f"mexica-ai: warning: {terminal.shorten(str(message), MAX_MESSAGE)}\n"
    try:
        yield
    finally:
        warnings.formatwarning = before


def _drop_output() -> None:
    """Redirect standard output to /dev/null, so that Python's last flush does not fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
