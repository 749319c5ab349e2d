"""Reads a move text: a game as people write it down, tolerantly, checked by playing it. `move_writer` writes it."""

from __future__ import annotations

import difflib
import re
from typing import Any, NoReturn

from mexica_ai.game import registry
from mexica_ai.game.move_text import (
    COMMENT,
    LABEL,
    MARK,
    NUMBER,
    OWN_TAGS,
    RESULT,
    TAG,
    TEXT_TAGS,
    WORDS,
    format_result,
    parse_result,
)
from mexica_ai.game.position import Position
from mexica_ai.io.errors import IllegalActionError, MexicaAIError, NotationError, PositionError
from mexica_ai.io.files import decode
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.strict import quote

MAX_LINES = 16  # over which an action may be broken: more than any has words
NEAR = 5  # legal actions that an error lists
_TOKEN = re.compile(
    rf"(?P<blank>[^\S\n]+)|(?P<line>\n)|(?P<escape>^%[^\n]*)|(?P<tag>{TAG})|(?P<note>{COMMENT})|(?P<glyph>\$\d+)"
    rf"|(?P<mark>{MARK})|(?P<label>{LABEL})|(?P<number>{NUMBER})|(?P<result>{RESULT})|(?P<separator>[;,][;,\s]*+)"
    rf"|(?P<words>{WORDS})",
    re.MULTILINE,
)
_TERMINATIONS = {
    "finished": "finished",
    "normal": "finished",
    "unfinished": "unfinished",
    "unterminated": "unfinished",
    "abandoned": "unfinished",
    "forfeit": "forfeit",
    "adjudicated": "adjudicated",
    "adjudication": "adjudicated",
}


def parse_moves(text: str | bytes, path: str = "$") -> JsonObject:
    """Return the record of the game of a move text, without its `version`.

    Parameters
    ----------
    text : str or bytes
        One game.
    path : str
        The name of the text in messages.

    Raises
    ------
    NotationError, UnknownGameError, PositionError, IllegalActionError
        It cannot be read, or a turn or the outcome breaks the rules. The message names line and column, both from 1,
        and what was expected; of an action also legal ones. Errors of turns have `turn_index` and `action_index`.
    """
    if isinstance(text, bytes):
        try:
            text = decode(text)
        except NotationError as error:
            raise NotationError(f"{path}: {error}", reason=error.reason, path=path) from None
    else:
        text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return _Reader(text, path).read()


class _Reader:
    """Goes through the parts of a text and plays its actions."""

    def __init__(self, text: str, path: str) -> None:
        self._text, self._path = text, path
        self._tags: dict[str, tuple[str, str, int]] = {}  # by name in lower case: name, value, place
        self._position: Position | None = None
        self._lines: list[tuple[str, int]] = []  # of the action that is being read, with their places
        self._turns: list[list[str]] = []
        self._comments: dict[int, list[str]] = {}  # by index of their turn; -1: before all turns
        self._result: tuple[str, int] | None = None

    def read(self) -> JsonObject:
        place = 0
        while place < len(self._text):
            match = _TOKEN.match(self._text, place)
            if match is None:
                self._fail(place, self._problem(place), "BAD_MOVE_TEXT")
            kind = match.lastgroup or ""
            if kind == "words":
                self._require_no_result(place)
                self._lines.append((match[0], place))
            elif kind not in ("blank", "line"):
                self._finish_action()
                self._take(kind, match, place)
            place = match.end()
        self._finish_action()
        position = self._begin(place)
        if position.is_within_turn:
            self._fail_within_turn(position, place)
        return self._record(position)

    # --- parts

    def _take(self, kind: str, match: re.Match[str], place: int) -> None:
        if kind == "tag":
            self._take_tag(match, place)
        elif kind == "note":
            self._note(match["comment"])
        elif kind == "mark":
            self._note(match[0])
        elif kind == "result":
            self._require_no_result(place)
            self._begin(place)
            self._result = match[0], place
        elif kind in ("number", "label"):
            self._require_no_result(place)
            position = self._begin(place)
            # A number and a label may both stand before a turn.
            if position.is_within_turn:
                self._fail_within_turn(position, place)
            if kind == "label":
                self._check_mover(position, match, place)

    def _take_tag(self, match: re.Match[str], place: int) -> None:
        name, value = match["name"], re.sub(r'\\(["\\])', r"\1", match["value"])
        if self._position is not None:
            self._fail(
                place, f"the header {quote(name)} after turns begins another game; expected one", "SEVERAL_GAMES"
            )
        if name.lower() in self._tags:
            self._fail(place, f"the header {quote(name)} stands here again; expected every one once", "DUPLICATE_KEY")
        self._tags[name.lower()] = name, value, place

    def _note(self, text: str) -> None:
        if words := text.split():
            self._comments.setdefault(len(self._turns) - 1, []).append(" ".join(words))

    def _check_mover(self, position: Position, match: re.Match[str], place: int) -> None:
        mover = "event:" if position.is_chance else f"seat {position.to_move}:"
        if position.is_over:
            self._fail(place, f"given {quote(match[0])}, but the game is over; expected no more turns", "GAME_OVER")
        if (match["seat"] is None) != position.is_chance or (match["seat"] and int(match["seat"]) != position.to_move):
            self._fail(place, f"given {quote(match[0])}; expected {quote(mover)} here", "WRONG_SEAT")

    def _require_no_result(self, place: int) -> None:
        if self._result is not None:
            given = quote(self._text[place : place + 60].split("\n")[0])
            self._fail(place, f"given {given} after the result; expected the end of the game", "AFTER_RESULT")

    def _begin(self, place: int) -> Position:
        """Return the position of the game, at its start if this is the first part after the headers."""
        if self._position is None:
            if "start" not in self._tags:
                self._fail(
                    place,
                    'the header "Start" is missing; expected [Start "..."] before the turns, a position in its compact '
                    "form, as `mexica-ai show POSITION --format compact` prints it",
                    "MISSING_START",
                )
            _, value, at = self._tags["start"]
            try:
                self._position = Position.from_compact(" ".join(value.split()), path="Start")
            except MexicaAIError as error:
                raise self._located(error, at) from None
            if not self._position.has_one_world:
                problem = "the start leaves open what will be drawn; expected one with nothing unknown"
                self._fail(at, problem, "UPCOMING_UNKNOWN", PositionError)
            if (game := self._tags.get("game")) and game[1].strip().lower() != self._position.game:
                expected = f"{quote(self._position.game)}, the game of the start"
                self._fail(game[2], f"given the game {quote(game[1])}; expected {expected}", "GAME_MISMATCH")
        return self._position

    # --- actions

    def _finish_action(self) -> None:
        """Play what stands on the lines since the last separator: mostly one action, else several.

        A line feed may stand within an action, and between actions. Whether a line begins one is seen from whether
        it, with some of the lines that follow, can be read as one.
        """
        lines, self._lines = self._lines, []
        first = 0
        while first < len(lines):
            self._begin(lines[first][1])
            last = first + 1
            while last < min(len(lines), first + MAX_LINES) and not self._length(lines, last):
                last += 1
            # Of lines that are no action together, the first of them that are one; the others are an error.
            last = first + (self._length(lines[first:last], 0) or last - first)
            self._play(" ".join(line for line, _ in lines[first:last]), lines[first][1])
            first = last

    def _length(self, lines: list[tuple[str, int]], first: int) -> int:
        """Return how many lines from one on, as many as possible, are an action together; 0 if none are."""
        words = [line for line, _ in lines[first : first + MAX_LINES]]
        return next((count for count in range(len(words), 0, -1) if self._spelling(" ".join(words[:count]))), 0)

    def _spelling(self, text: str) -> str | None:
        """Return an action in the case of letters in which its game reads it, None if that reads none."""
        assert self._position is not None
        if len(text.split(maxsplit=MAX_LINES)) > MAX_LINES:
            return None  # longer than any
        verb, *rest = text.split()
        # Names are in small letters; letters of columns, colours and cards are capitals.
        mixed = [word.lower() if len(word) > 3 and word.isalpha() else word.upper() for word in rest]
        small = [word.lower() for word in rest]
        for words in ([verb, *rest], [verb.lower(), *rest], [verb.lower(), *mixed], [verb.lower(), *small]):
            action = " ".join(words)
            try:
                registry.get(self._position.game).text.parse_action(action)
            except NotationError:
                continue
            return action
        return None

    def _play(self, text: str, place: int) -> None:
        position = self._begin(place)
        is_new = not position.is_within_turn
        turn_index, action_index = (len(self._turns), 0) if is_new else (len(self._turns) - 1, len(self._turns[-1]))
        action = self._spelling(text) or " ".join(text.split())
        try:
            try:
                position.push_action(action)
            except (NotationError, IllegalActionError):
                legal = {entry.casefold(): entry for entry in position.legal_actions()}
                if legal.get(action.casefold(), action) == action:
                    raise
                action = legal[action.casefold()]
                position.push_action(action)
        except MexicaAIError as error:
            advice = _near(position, action) if isinstance(error, NotationError) else ""
            located = self._located(error, place, advice)
            located.turn_index, located.action_index = turn_index, action_index
            raise located from None
        if is_new:
            self._turns.append([])
        self._turns[-1].append(action)

    # --- the outcome

    def _record(self, position: Position) -> JsonObject:
        players = position.players
        record: dict[str, Any] = {"game": position.game, "start": position.start.to_json(), "turns": self._turns}
        record |= self._outcome(position)
        names = [self._value(f"player{seat}", "?") for seat in range(players)]
        if any(f"player{seat}" in self._tags for seat in range(players)):
            record["engines"] = names
        record |= {key: self._tags[tag][1] for tag, key in TEXT_TAGS.items() if tag in self._tags}
        comments = {index: " ".join(texts) for index, texts in self._comments.items()}
        if -1 in comments:
            record["comment"] = comments.pop(-1)
        if comments:
            record["comments"] = [comments.get(index, "") for index in range(len(self._turns))]
        known = OWN_TAGS | {f"player{seat}" for seat in range(players)}
        if kept := {name: value for key, (name, value, _) in self._tags.items() if key not in known}:
            record["tags"] = kept
        return record

    def _outcome(self, position: Position) -> JsonObject:
        """Return the keys of a record that say how the game ended, checked against the rules."""
        termination = self._termination(position)
        winners = self._winners(position, termination)
        scores = self._numbers("scores")
        if termination == "finished":
            if scores not in (None, position.scores):
                expected = " ".join(map(str, position.scores))
                self._fail_tag("scores", f"expected {quote(expected)} from the replayed game", "SCORES_MISMATCH")
            return {"scores": position.scores, "winners": position.winners, "termination": termination}
        outcome: dict[str, Any] = {"scores": scores, "winners": winners, "termination": termination}
        if termination == "unfinished":
            outcome["scores"] = None  # those so far are not the outcome
        elif termination == "forfeit":
            outcome["forfeit"] = self._forfeit(winners, position.players)
            others = [seat for seat in range(position.players) if seat != outcome["forfeit"]["seat"]]
            outcome["winners"] = winners if winners is not None or self._result else others
        else:
            forecast = self._numbers("adjudicationforecast") or []
            words = {key: self._value(f"adjudication{key}", "") for key in ("rule", "by")}
            outcome["adjudication"] = {**words, "forecast": forecast}
        return outcome

    def _termination(self, position: Position) -> str:
        given = self._tags.get("termination")
        if given is None:
            return "finished" if position.is_over else "unfinished"
        found = _TERMINATIONS.get(given[1].strip().lower())
        if found is None:
            self._fail_tag("termination", "expected finished, unfinished, forfeit or adjudicated", "BAD_VALUE")
        if (found == "finished") != position.is_over:
            fits = "the turns finish the game" if position.is_over else "the game is not over after the last turn"
            expected = "finished" if position.is_over else "unfinished, forfeit or adjudicated"
            reason = "FINISHED" if position.is_over else "UNFINISHED"
            self._fail_tag("termination", f"but {fits}; expected {expected}", reason, PositionError)
        return found

    def _winners(self, position: Position, termination: str) -> list[int] | None:
        """Return whom the result at the end or in the header calls the winners; None if it names none."""
        found: list[int] | None = None
        header = self._tags.get("result")
        for text, place in [entry for entry in ((header[1:] if header else None), self._result) if entry]:
            try:
                winners = parse_result(text, position.players)
            except ValueError as expected:
                self._fail(place, f"given the result {quote(text)}; expected {expected}", "BAD_RESULT")
            if winners is None:
                continue
            if termination == "finished" and winners != position.winners:
                right = format_result(position.winners, position.players)
                problem = f"given the result {quote(text)}; expected {right} from the replayed game"
                self._fail(place, problem, "WINNERS_MISMATCH", PositionError)
            if termination == "unfinished":
                self._fail(
                    place,
                    f"given the result {quote(text)}, but the game is not over after the last turn; expected *, or the "
                    'header [Termination "forfeit"] or [Termination "adjudicated"]',
                    "UNFINISHED",
                    PositionError,
                )
            if found not in (None, winners):
                self._fail(place, f"given the result {quote(text)}; expected that of the header", "WINNERS_MISMATCH")
            found = winners
        return found

    def _forfeit(self, winners: list[int] | None, players: int) -> JsonObject:
        losers = [seat for seat in range(players) if seat not in (winners or range(players))]
        seat = self._value("forfeitseat", str(losers[0]) if len(losers) == 1 else "").strip()
        if not re.fullmatch("[0-9]", seat) or int(seat) >= players:
            problem = f'given {quote(seat)} as the seat that forfeits; expected [ForfeitSeat "..."], 0 to {players - 1}'
            self._fail(self._tags.get("forfeitseat", self._tags["termination"])[2], problem, "OUT_OF_RANGE")
        texts = {"reason": self._value("forfeitreason", "resigned"), "detail": self._value("forfeitdetail", "")}
        return {"seat": int(seat), **texts}

    def _value(self, tag: str, default: str) -> str:
        return self._tags[tag][1] if tag in self._tags else default

    def _numbers(self, tag: str) -> list[float] | None:
        """Return the numbers of a header, None if it is missing or empty."""
        words = self._value(tag, "").replace(",", " ").split()
        if not all(re.fullmatch(r"-?[0-9]{1,15}(\.[0-9]{1,20})?(e-?[0-9]{1,2})?", word) for word in words):
            self._fail_tag(tag, "expected numbers, one for each seat", "BAD_VALUE")
        return [float(word) if re.search("[.e]", word) else int(word) for word in words] or None

    # --- errors

    def _fail_tag(self, tag: str, problem: str, reason: str, kind: type[MexicaAIError] = NotationError) -> NoReturn:
        name, value, place = self._tags[tag]
        self._fail(place, f"given [{name} {quote(value)}]; {problem}", reason, kind)

    def _fail_within_turn(self, position: Position, place: int) -> NoReturn:
        turn = "; ".join(self._turns[-1])
        error = IllegalActionError(
            f"the turn {quote(turn)} of seat {position.to_move} has not ended; expected more of it"
            f"{_near(position, 'end')}",
            reason="TURN_NOT_ENDED",
        )
        located = self._located(error, place)
        located.turn_index, located.action_index = len(self._turns) - 1, len(self._turns[-1]) - 1
        raise located

    def _fail(self, place: int, problem: str, reason: str, kind: type[MexicaAIError] = NotationError) -> NoReturn:
        raise self._located(kind(problem, reason=reason), place)

    def _located(self, error: MexicaAIError, place: int, advice: str = "") -> MexicaAIError:
        """Return an error with its line and column."""
        line = self._text.count("\n", 0, place) + 1
        column = place - self._text.rfind("\n", 0, place)
        message = str(error)
        if error.path.startswith("turn"):
            message = message.removeprefix(f"{error.path}: ")
        where = f"{self._path}: line {line} of the game, column {column}"
        return type(error)(
            f"{where}: {message}{advice}", reason=error.reason, path=self._path, violations=error.violations
        )

    def _problem(self, place: int) -> str:
        char = self._text[place]
        if char == "{":
            return "a comment begins and does not end; expected } after it"
        if char == "[":
            return f'given {quote(self._text[place : place + 60])}; expected a header such as [Date "2026-11-26"]'
        return f"given {quote(char)}; expected an action, a comment in braces, a header or the result"


def _near(position: Position, action: str) -> str:
    """Return the end of an error: legal actions that look like the given one."""
    if position.is_over:
        return ""
    if position.is_chance:
        return f"; here comes a random event, such as {quote(position.copy().draw(0)[0])}"
    legal = position.legal_actions()
    near = difflib.get_close_matches(action[:100], legal, n=NEAR, cutoff=0.0)
    more = f" or {len(legal) - len(near)} more" if len(legal) > len(near) else ""
    return f"; legal here: {', '.join(near)}{more}"
