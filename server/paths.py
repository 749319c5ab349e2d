"""The paths of errors as the fields of a request: the package's own functions name their arguments instead."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

from mexica_ai.io.errors import MexicaAIError, NotationError, Violation

Rule = tuple[str, str]  # a pattern of the whole path, and the field of the request

TURN: list[Rule] = [(r"turn(\[\d+\])?", r"turn.actions\1")]
UNKNOWN_GAME: Rule = (r"", "other_game.name")
RECORD: list[Rule] = [
    (r"\$\.turns(\[\d+\])", r"turns\1.actions"),
    (r"\$\.turns(\[\d+\])(\[\d+\])", r"turns\1.actions\2"),
    (r"\$\.(.+)", r"\1"),
]


def position(field: str) -> list[Rule]:
    """Return the rule for what is found wrong with a position after it was read from a field of its message."""
    return [(rf"position\.(?!{field}\.)(.+)", rf"position.{field}.\1")]


def options(game: str) -> list[Rule]:
    """Return the rules for the options of a new game."""
    return [(r"options\.(players|seed)", r"\1"), (r"options\.(.+)", rf"{game}.\1"), (r"options", game), UNKNOWN_GAME]


def within(field: str) -> list[Rule]:
    """Return the rule for a request that is a field of another one."""
    return [(r"(.+)", rf"{field}.\1")]


def is_empty(field: str, expected: str) -> NotationError:
    """Return the error for a field that must not be empty."""
    return NotationError(f"{field}: is empty; expected {expected}", reason="MISSING_FIELD", path=field)


def last_of(field: str) -> list[Rule]:
    """Return the rules for a turn of one action, which is an entry of a list of the request."""
    return [(r"turn(\[0\])?", field)]


@contextlib.contextmanager
def naming(rules: list[Rule]) -> Iterator[None]:
    """Let the errors from within name fields of the request, by the first rule that fits a path."""
    try:
        yield
    except MexicaAIError as error:
        message = str(error)
        old_paths = {error.path, *(violation.path for violation in error.violations)}
        changed = {path: _renamed(path, rules) for path in old_paths}
        # Messages begin with their paths, and that of several faults contains the others.
        starts = "|".join(re.escape(f"{path}: ") for path in sorted(changed, key=len, reverse=True) if path)
        if starts:
            message = re.sub(
                rf"(^|\(and \d+ more: | \| )({starts})",
                lambda found: f"{found[1]}{changed[found[2][:-2]]}: ",
                message,
            )
        error.args = (message, *error.args[1:])
        error.violations = tuple(_moved(violation, changed[violation.path]) for violation in error.violations)
        error.path = changed[error.path]
        raise


def _moved(violation: Violation, path: str) -> Violation:
    start = f"{violation.path}: "
    message = violation.message
    if message.startswith(start):
        message = f"{path}: {message.removeprefix(start)}"
    return violation._replace(path=path, message=message)


def _renamed(path: str, rules: list[Rule]) -> str:
    for pattern, field in rules:
        found = re.fullmatch(pattern, path)
        if found:
            return found.expand(field) if "\\" in field else field
    return path
