"""A game that is being played on the page: seats, the turn being entered, versions, and who may see what."""

from __future__ import annotations

import datetime
import hashlib
import secrets
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from mexica_ai import __version__
from mexica_ai.analysis import levels
from mexica_ai.analysis.annotate import TurnEvaluation, mark_of, with_evaluations
from mexica_ai.game import registry
from mexica_ai.game.contract import Game as Kind
from mexica_ai.game.position import Position
from mexica_ai.game.position_text import TURN_SEPARATOR
from mexica_ai.game.steps import play_steps, spent
from mexica_ai.io.errors import IllegalActionError, MexicaAIError, NotationError, PositionError
from mexica_ai.io.strict import quote
from mexica_ai.session import Session
from mexica_ai.web import boards
from mexica_ai.web.errors import Refusal
from mexica_ai.web.journal import Journal

MAX_TURNS = 2000
MAX_GAMES = 100
MAX_SECONDS = 600.0
DEFAULT_LEVEL, DEFAULT_SECONDS = 5, 1.0
NUM_KEPT = 50  # results of analyses that a game keeps
NUM_SAMPLES = 6  # actions of a tool by which the page explains why it has none

_ENDS = ("end", "pass")  # tools of actions that end a turn and do nothing else
_UNCOVERS = ("UPCOMING_UNKNOWN", "NOT_UNCOVERED")  # reasons of turns that show what the seat has not seen

@dataclass(frozen=True)
class Seat:
    """Who plays a seat: a person, a level of the server, or a named engine.

    Parameters
    ----------
    kind : str
        person or engine.
    level : int, optional
    engine : str, optional
        The name of an engine.
    seconds : float, optional
        Time of a turn.
    """

    kind: str = "person"
    level: int | None = None
    engine: str | None = None
    seconds: float | None = None

    @classmethod
    def read(cls, data: dict[str, Any], names: list[str], path: str) -> Seat:
        """Read a seat that a page has sent; `names` are those of the engines."""
        if data["kind"] == "person":
            return cls()
        level, name = data.get("level"), data.get("name")
        seconds = DEFAULT_SECONDS if data.get("seconds") is None else data["seconds"]
        if not 0 < seconds <= MAX_SECONDS:
            raise bad_value(f"{path}.seconds", seconds, f"a number of seconds above 0, at most {MAX_SECONDS:g}")
        if name is not None:
            if name not in names:
                raise bad_value(f"{path}.name", name, f"an engine: {', '.join(names) or 'there are none'}")
            return cls("engine", None, name, float(seconds))
        level = DEFAULT_LEVEL if level is None else level
        if level not in levels.LEVELS:
            raise bad_value(f"{path}.level", level, f"an integer from 1 to {levels.HIGHEST}")
        return cls("engine", level, None, float(seconds))

    @property
    def name(self) -> str:
        """What it is called."""
        if self.kind == "person":
            return "person"
        return self.engine or f"level {self.level}"

    def to_json(self) -> dict[str, Any]:
        """Return it as pages and journals have it."""
        if self.kind == "person":
            return {"kind": "person", "title": "person"}
        which = {"name": self.engine} if self.engine else {"level": self.level}
        return {"kind": "engine", **which, "seconds": self.seconds, "title": self.name}


def bad_value(path: str, given: object, expected: str) -> NotationError:
    """Return the error of a value that cannot be."""
    return NotationError(f"{path}: given {quote(given)}; expected {expected}", reason="OUT_OF_RANGE", path=path)


@dataclass(frozen=True)
class Draft:
    """The turn that is being entered, as its seat sees it.

    Parameters
    ----------
    position : Position
        After its actions.
    is_ended : bool
        Whether they end the turn.
    reveals : bool
        Whether its last action would show something that the seat has not seen.
    """

    position: Position
    is_ended: bool
    reveals: bool


class Game:
    """One game.

    Parameters
    ----------
    session : Session
    seats : list of Seat
    is_shared : bool
        Whether nothing is hidden from anybody.
    draws : bool
        Whether random events are drawn at once; else a person draws them, or enters what a table drew.
    ident, created : str, optional
        Drawn, and now, by default.

    Attributes
    ----------
    version : int
        Raised by every change.
    evaluations : dict of int to TurnEvaluation
        By index of the turn.
    thinking, analysis, annotation : dict or None
        What the jobs tell the pages.
    """

    def __init__(
        self,
        session: Session,
        seats: list[Seat],
        *,
        is_shared: bool,
        draws: bool,
        ident: str | None = None,
        created: str | None = None,
    ) -> None:
        self.id = ident or secrets.token_hex(16)
        self.created = created or datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        self.session, self.seats, self.draws = session, seats, draws
        self.is_shared = is_shared
        self.version = 1
        self.draft: list[str] = []
        self.journal: Journal | None = None
        self.evaluations: dict[int, TurnEvaluation] = {}
        self.annotation: dict[str, Any] = {"state": "none", "seconds": None, "message": ""}
        self.thinking: dict[str, Any] | None = None
        self.analysis: dict[str, Any] | None = None
        self.analyses: OrderedDict[str, dict[str, Any]] = OrderedDict()
        self._looking: int | None = None  # the person who was shown the game last
        self._drafted: Draft | None = None
        self._snapshots: dict[tuple[int | None, bool], dict[str, Any]] = {}
        self._seen: dict[int, list[list[str]]] = {}
        position = session.position.start
        self.positions = [Position(position.game, position.state)]  # before each turn, and after the last one
        for turn in session.position.history:
            self._follow(turn)

    def _follow(self, turn: list[str]) -> None:
        position = self.positions[-1].copy()
        position.push(turn)
        self.positions.append(Position(position.game, position.state))

    # --- what is known of it

    @property
    def name(self) -> str:
        """The name of the game that is played."""
        return self.session.position.game

    @property
    def kind(self) -> Kind:
        """The game that is played, with its parts."""
        return registry.get(self.name)

    @property
    def now(self) -> Position:
        """The position after all whole turns."""
        return self.positions[-1]

    @property
    def turns(self) -> list[list[str]]:
        """The turns and random events so far."""
        return self.session.position.history

    @property
    def persons(self) -> list[int]:
        """The seats of persons."""
        return self.session.persons

    @property
    def mover(self) -> int | None:
        """The seat to move; None if the game is over, or a random event comes."""
        return None if self.session.is_over else self.now.to_move

    @property
    def is_open(self) -> bool:
        """Whether all may see everything."""
        return self.is_shared or not self.session.hides or self.session.is_over or not self.persons

    @property
    def waiting(self) -> str:
        """What the game waits for: person, engine, event or over."""
        if self.session.is_over:
            return "over"
        if self.now.is_chance:
            return "event"
        return "person" if self.now.to_move in self.persons else "engine"

    def title(self, seat: int) -> str:
        """Return who plays a seat."""
        return self.seats[seat].name

    def summary(self) -> dict[str, Any]:
        """Return what a list of games says."""
        return {
            "id": self.id,
            "game": self.name,
            "created": self.created,
            "players": self.now.players,
            "seats": [seat.to_json() for seat in self.seats],
            "turns": len(self.positions) - 1,
            "is_over": self.session.is_over,
            "scores": self.now.scores,
        }

    # --- who sees what

    def eyes(self, viewer: int | None) -> int | None:
        """Return whose view a page gets that asks for one; None: all of the game.

        Raises
        ------
        Refusal
            It is not the view of a person.
        """
        if viewer is not None and not 0 <= viewer < self.now.players:
            raise Refusal(404, "NO_SEAT", f"viewer: no seat {viewer}; expected 0 to {self.now.players - 1}")
        if self.is_open:
            return viewer if self.session.hides else None
        if viewer is None:
            return self.mover if self.mover in self.persons else self._last_person()
        if viewer not in self.persons:
            raise Refusal(403, "NOT_A_PERSON", f"viewer: seat {viewer} is an engine's; its hand is hidden")
        return viewer

    def _last_person(self) -> int:
        return self._looking if self._looking in self.persons else self.persons[0]

    def curtain(self, viewer: int | None, opens: bool = False) -> int | None:
        """Return the seat whose person must look before anything is shown; None if the game may be shown.

        Parameters
        ----------
        viewer : int or None
            Of `eyes`.
        opens : bool
            Whether this person says to be alone with the screen.
        """
        if self.is_open or len(self.persons) < 2:
            return None
        if opens:
            self._looking = viewer
        mover = self.mover
        if mover in self.persons and mover != self._looking:
            return mover
        return None if viewer == self._looking else viewer

    def require_shown(self, viewer: int | None) -> int | None:
        """Return `eyes(viewer)`; Refusal if a curtain hides what they see."""
        seen = self.eyes(viewer)
        if self.curtain(seen) is not None:
            raise Refusal(403, "CURTAIN", "another person looks at the screen; expected the one whose view it is")
        return seen

    def shown(self, position: Position, viewer: int | None) -> Position:
        """Return what a viewer of `eyes` sees of a position, without what is hidden from all; a new one."""
        if viewer is not None:
            return position.view(viewer)
        if self.kind.views is not None or position.to_move is None:
            return position.copy()
        return Position.from_json(self.kind.redact(position.to_json()))

    def seen_turns(self, viewer: int | None) -> list[list[str]]:
        """Return the turns as a viewer of `eyes` has seen them."""
        turns = self.turns
        if viewer is None or self.is_open:
            return turns
        seen = self._seen.setdefault(viewer, [])
        for index in range(len(seen), len(turns)):
            is_own = self.positions[index].to_move == viewer
            seen.append(turns[index] if is_own else self.session.seen(self.positions[index], turns[index], viewer))
        return seen

    # --- changes

    def check_version(self, version: int, viewer: int | None) -> None:
        """Refuse a command of a page that has not seen the newest version."""
        if version != self.version:
            raise Refusal(
                409,
                "STALE",
                f"version: given {version}; the game is at {self.version}",
                snapshot=self.snapshot(viewer),
            )

    def changed(self) -> None:
        """Note a change."""
        self.version += 1
        self._drafted = None
        self._snapshots.clear()

    def _person_to_move(self, viewer: int | None) -> int:
        """Return the person to move; Refusal if it is not this one's turn."""
        seat = self.mover
        if seat is None or seat not in self.persons:
            raise Refusal(422, "NOT_YOUR_TURN", f"the game waits for: {self.waiting}; expected a person to move")
        if not self.is_open and self.require_shown(viewer) != seat:
            raise Refusal(403, "NOT_YOUR_TURN", f"seat {seat} is to move")
        return seat

    def set_draft(self, actions: list[str], viewer: int | None) -> None:
        """Replace the actions of the turn being entered."""
        seat = self._person_to_move(viewer)
        drafted = self._play_draft(actions, seat)
        self.draft = actions
        self.changed()
        self._drafted = drafted

    def _play_draft(self, actions: list[str], seat: int) -> Draft:
        # On what the seat sees: so that what an action uncovers is not known before it is played.
        position = self.shown(self.now, seat if self.session.hides and not self.is_open else None)
        started = position.state.turn
        for index, action in enumerate(actions):
            if index and position.state.turn != started:
                raise IllegalActionError(
                    f"actions[{index}]: {quote(action)} comes after the end of the turn; expected no more",
                    reason="TURN_ALREADY_ENDED",
                    path=f"actions[{index}]",
                )
            try:
                position.push_action(action)
            except MexicaAIError as error:
                if error.reason in _UNCOVERS and index == len(actions) - 1:
                    return Draft(position, True, True)
                error.action_index = index
                raise
        is_ended = bool(actions) and (position.is_over or position.state.turn != started)
        goes_on = position.is_chance and position.to_json().get("to_move") == seat
        return Draft(position, is_ended, is_ended and goes_on)

    def drafted(self) -> Draft:
        """Return the turn being entered, with the position after its actions."""
        if self._drafted is None:
            seat = self.mover
            if seat is None or seat not in self.persons:
                return Draft(self.now, False, False)
            self._drafted = self._play_draft(self.draft, seat)
        return self._drafted

    def ending(self) -> str | None:
        """Return the action that ends the turn being entered and does nothing else, None if there is none."""
        draft = self.drafted()
        if draft.is_ended or self.mover not in self.persons:
            return None
        fields, started = draft.position.to_json(), draft.position.state.turn
        for action in draft.position.legal_actions():
            entry = self.kind.picture.entry(action, fields)
            if entry.tool not in _ENDS or entry.targets:
                continue
            trial = draft.position.copy()
            try:
                trial.push_action(action)
            except PositionError as error:
                if error.reason in _UNCOVERS:
                    return action
                raise
            if trial.state.turn != started or trial.is_over:
                return action
        return None

    def commit(self, viewer: int | None, actions: list[str] | None = None) -> None:
        """Play the turn being entered, or the actions that are given, for the person to move."""
        seat = self._person_to_move(viewer)
        if actions is not None:
            self._drafted = self._play_draft(actions, seat)
            self.draft = actions
        if not self.drafted().is_ended:
            end = self.ending()
            if end is None:
                raise IllegalActionError("the turn has not ended; expected more actions", reason="TURN_NOT_ENDED")
            self.draft = [*self.draft, end]
        self.push(self.draft)

    def push(self, turn: list[str]) -> None:
        """Play a whole turn of the seat to move, or the random event that is due."""
        if len(self.positions) > MAX_TURNS:
            raise Refusal(422, "TOO_MANY_TURNS", f"the game has {MAX_TURNS} turns; expected fewer")
        self.session.push(turn)
        self._keep_last()

    def draw(self) -> None:
        """Draw the random event that is due."""
        self.session.draw()
        self._keep_last()

    def _keep_last(self) -> None:
        position, turn = self.session.position, self.turns[-1]
        try:
            self._write({"turn": turn, "over": True} if position.is_over else {"turn": turn})
        except OSError:
            position.pop()
            raise
        self.positions.append(Position(position.game, position.state))
        self.draft = []
        self.thinking = None
        self.changed()

    def _write(self, *entries: dict[str, Any]) -> None:
        if self.journal is not None:
            self.journal.append(*entries)

    def takeback_limit(self) -> int | None:
        """Return the number of turns that are left after the last turn of a person is taken back; None if it stays.

        What a person has uncovered within a turn cannot be hidden again.
        """
        if self.session.resigned is not None:
            return len(self.positions) - 1
        for index in range(len(self.positions) - 2, -1, -1):
            position = self.positions[index]
            if self._uncovers(index):
                return None
            if position.to_move in self.persons:
                return index
        return None

    def _uncovers(self, index: int) -> bool:
        """Whether a turn is a random event within the turn of a person of a game with hidden hands."""
        if self.is_open_from_start or not self.positions[index].is_chance or index == 0:
            return False
        before, after = self.positions[index - 1].to_move, self.positions[index + 1].to_move
        return before is not None and before == after and before in self.persons

    @property
    def is_open_from_start(self) -> bool:
        """Whether nothing has ever been hidden in this game."""
        return self.is_shared or not self.session.hides

    def take_back(self) -> None:
        """Go back to before the last turn of a person."""
        limit = self.takeback_limit()
        if limit is None:
            raise Refusal(422, "NOTHING_TO_TAKE_BACK", "there is no turn of a person that can be taken back")
        self._write({"back": limit})
        self.go_back(limit)
        self.changed()

    def go_back(self, limit: int) -> None:
        """Drop the turns from an index on, or the end by resigning."""
        if self.session.resigned is not None:
            self.session.undo()
        else:
            while len(self.positions) - 1 > limit:
                self.session.position.pop()
                self.positions.pop()
        self.draft = []
        self.thinking = None
        self.evaluations = {index: one for index, one in self.evaluations.items() if index < limit}
        for seen in self._seen.values():
            del seen[limit:]

    def resign(self, viewer: int | None) -> None:
        """Let the person to move give up."""
        seat = self._person_to_move(viewer)
        self._write({"resigned": seat})
        self.session.resign()
        self.draft = []
        self.changed()

    def make_person(self, seat: int) -> None:
        """Give the seat of an engine to a person."""
        if not 0 <= seat < len(self.seats) or seat in self.persons:
            raise Refusal(422, "NO_ENGINE", f"seat: no engine plays seat {seat}")
        self._write({"person": seat})
        self.seat_person(seat)
        self.thinking = None
        self.changed()

    def seat_person(self, seat: int) -> None:
        """Put a person in the place of an engine."""
        self.seats[seat] = Seat()
        self.session.engines = {other: engine for other, engine in self.session.engines.items() if other != seat}

    # --- annotation

    def evaluate(self, evaluation: TurnEvaluation) -> None:
        """Keep the evaluation of a turn."""
        self._write({"evaluation": evaluation.to_json()})
        self.evaluations[evaluation.turn_index] = evaluation

    def start_annotation(self, seconds: float) -> None:
        """Drop evaluations with another time."""
        if self.annotation["seconds"] not in (None, seconds):
            self.evaluations.clear()
        self._write({"annotation": seconds})
        self.annotation["seconds"] = seconds

    def seat_turns(self) -> list[int]:
        """Return the indices of the turns that are no random events."""
        return [index for index, position in enumerate(self.positions[:-1]) if not position.is_chance]

    def annotation_json(self, *, turns: bool = True) -> dict[str, Any]:
        """Return the state of the annotation, with the turns that are done."""
        data = {**self.annotation, "done": len(self.evaluations), "of": len(self.seat_turns())}
        if turns:
            data["turns"] = [evaluation_json(one) for _, one in sorted(self.evaluations.items())]
        return data

    # --- records

    def record(self) -> dict[str, Any]:
        """Return the record, with evaluations if there are any."""
        record = self.session.record()
        if not self.evaluations:
            return record
        found = [one for _, one in sorted(self.evaluations.items())]
        return with_evaluations(record, found, time_s=self.annotation["seconds"], build=__version__)

    def require_open(self) -> None:
        """Refuse what would show hidden hands."""
        if not self.is_open:
            raise Refusal(403, "HIDDEN", "hands are hidden until the game is over")

    # --- snapshots

    def snapshot(self, viewer: int | None, opens: bool = False) -> dict[str, Any]:
        """Return all that a page shows of the game.

        Parameters
        ----------
        viewer : int or None
            Whose page it is; None: chosen by who is to move.
        opens : bool
            As for `curtain`.
        """
        seen = self.eyes(viewer)
        curtain = self.curtain(seen, opens)
        key = (seen, curtain is not None)
        if key not in self._snapshots:
            self._snapshots[key] = self._snapshot(seen, curtain)
        is_hidden = curtain is not None
        analysis = self.analysis
        if analysis is not None and (is_hidden or analysis["viewer"] != seen):
            analysis = None
        annotation = self.annotation_json(turns=self.is_open and not is_hidden)
        annotation.setdefault("turns", [])
        return {
            **self._snapshots[key],
            "version": self.version,
            "thinking": self.thinking,
            "analysis": analysis,
            "annotation": annotation,
        }

    def _snapshot(self, viewer: int | None, curtain: int | None) -> dict[str, Any]:
        now = self.now
        common = {
            "id": self.id,
            "game": self.name,
            "version": self.version,
            "players": now.players,
            "created": self.created,
            "seats": [seat.to_json() for seat in self.seats],
            "viewer": viewer,
            "curtain": curtain,
            "open": self.is_open,
            "draws": self.draws,
            "scores": now.scores,
            "to_move": self.mover,
            "is_over": self.session.is_over,
            "resigned": self.session.resigned,
            "is_chance": now.is_chance and not self.session.is_over,
            "winners": self._winners(),
            "waiting": self.waiting,
            "can_take_back": self.takeback_limit() is not None,
            "num_turns": len(self.positions) - 1,
        }
        if curtain is not None:
            return {**common, "turns": [], **_NOTHING}
        is_mine = self.mover is not None and self.mover in self.persons and viewer in (None, self.mover)
        draft = self.drafted() if is_mine else Draft(self.shown(now, viewer), False, False)
        position = draft.position
        fields = position.to_json()
        entries = self._entries(position, fields) if is_mine and not draft.is_ended else []
        return {
            **common,
            "turns": self._turns(viewer),
            "draft": self._draft_json(draft, position, is_mine),
            "entries": entries,
            "blocked": self._blocked(position, entries) if is_mine and not draft.is_ended else {},
            "targets": self.kind.picture.describe_targets(fields),
            "text": str(position),
            "compact": position.to_compact(),
            "points": self._points() if self.session.is_over else None,
        }

    def _winners(self) -> list[int]:
        if self.session.resigned is not None:
            return [seat for seat in range(self.now.players) if seat != self.session.resigned]
        return self.now.winners

    def _turns(self, viewer: int | None) -> list[dict[str, Any]]:
        turns = []
        for index, actions in enumerate(self.seen_turns(viewer)):
            before, after = self.positions[index], self.positions[index + 1]
            turns.append(
                {
                    "index": index,
                    "seat": before.to_move,
                    "actions": actions,
                    "text": TURN_SEPARATOR.join(actions),
                    "scores": after.scores,
                    "scored": [new - old for new, old in zip(after.scores, before.scores, strict=True)],
                }
            )
        return turns

    def _draft_json(self, draft: Draft, position: Position, is_mine: bool) -> dict[str, Any]:
        if not is_mine:
            return {**_NOTHING["draft"], "steps": [], "actions": []}
        start = self.shown(self.now, self.mover if self.session.hides and not self.is_open else None)
        known = self.draft[:-1] if draft.is_ended and len(self.draft) and draft.position.state == start.state else None
        steps = []
        actions = self.draft if known is None else known
        try:
            played = play_steps(start, actions) if actions else []
        except PositionError:
            played = play_steps(start, actions[:-1]) if actions[:-1] else []
        for step in played:
            cost = _cost_text(step.cost)
            points = [f"seat {seat} scores {points:g}" for seat, points in enumerate(step.scored) if points]
            steps.append(
                {
                    "action": step.action,
                    "cost": step.cost,
                    "text": ", ".join([cost] * bool(cost) + points),
                    "points": step.scored,
                }
            )
        steps += [{"action": action, "cost": {}, "text": "", "points": []} for action in self.draft[len(steps) :]]
        end = None if draft.is_ended else self.ending()
        fields = position.to_json()
        left = {
            key: fields[key]
            for key in self.kind.reasons.spends
            if isinstance(fields.get(key), int) and not draft.is_ended
        }
        return {
            "actions": list(self.draft),
            "steps": steps,
            "can_end": draft.is_ended or end is not None,
            "end": end,
            "is_ended": draft.is_ended,
            "left": _cost_text({key: value for key, value in left.items() if value}),
            "undo_limit": 0,
            "warning": "What this uncovers cannot be hidden again: there is no undo after it." if draft.reveals else "",
        }

    def _entries(self, position: Position, fields: dict[str, Any]) -> list[dict[str, Any]]:
        tools = {tool.name: tool for tool in self.kind.picture.tools}
        costs: dict[str, str] = {}
        samples = _samples(self.name)
        found = []
        for action in position.legal_actions():
            entry = self.kind.picture.entry(action, fields)
            tool = tools.get(entry.tool)
            if tool is not None and tool.is_priced:
                cost = self._cost(position, fields, action)
            else:
                if entry.tool not in costs:
                    costs[entry.tool] = self._cost(position, fields, action)
                cost = costs[entry.tool]
            _keep_sample(samples, entry.tool, action)
            found.append(
                {"action": action, "tool": entry.tool, "targets": list(entry.targets), "cost": cost, "label": ""}
            )
        return found

    def _cost(self, position: Position, fields: dict[str, Any], action: str) -> str:
        if not self.kind.reasons.spends:
            return ""
        state = position.state.copy()
        started, seat = state.turn, position.to_move
        assert seat is not None
        state.apply(self.kind.text.parse_action(action))
        if state.turn != started:
            return ""
        return _cost_text(spent(fields, self.kind.text.format_position(state), seat, self.kind.reasons.spends, False))

    def _blocked(self, position: Position, entries: list[dict[str, Any]]) -> dict[str, str]:
        """Return why tools have no action: what is true of all samples of it, else nothing."""
        usable = {entry["tool"] for entry in entries}
        blocked = {}
        for tool in self.kind.picture.tools:
            if tool.name not in usable:
                samples = _samples(self.name).get(tool.name, [])
                if len(samples) == 1 and " " in samples[0]:
                    samples = []  # what is wrong with it may be its place
                reasons = {self.kind.why_illegal(position.state, action) for action in samples}
                blocked[tool.name] = reasons.pop() if len(reasons) == 1 else ""
        return blocked

    def _points(self) -> list[dict[str, Any]]:
        """Return for each seat what it has scored by which kind of action."""
        labels = {tool.name: tool.label for tool in self.kind.picture.tools}
        parts: list[dict[str, float]] = [{} for _ in range(self.now.players)]
        for seat, points in enumerate(self.positions[0].scores):
            if points:
                parts[seat]["Before this game"] = points
        for index, turn in enumerate(self.turns):
            position = self.positions[index].copy()
            for action in turn:
                before, started, can_end = position.scores, position.state.turn, False
                label = "Random events"
                if not position.is_chance:
                    entry = self.kind.picture.entry(action, position.to_json())
                    label, can_end = labels.get(entry.tool, entry.tool or action), not entry.targets
                position.push_action(action)
                if can_end and position.state.turn != started:
                    label = "Scored after a turn"
                for seat, (new, old) in enumerate(zip(position.scores, before, strict=True)):
                    if new != old:
                        parts[seat][label] = parts[seat].get(label, 0) + new - old
        return [{"seat": seat, "parts": [list(part) for part in own.items()]} for seat, own in enumerate(parts)]

    # --- positions and pictures of the game

    def at(self, number: int) -> Position:
        """Return the position before a turn; Refusal if there is none."""
        if not 0 <= number < len(self.positions):
            raise Refusal(404, "NO_TURN", f"no turn {number}; expected 0 to {len(self.positions) - 1}")
        return self.positions[number]

    def position_of(self, number: int, viewer: int | None, line: list[list[str]], draft: list[str]) -> Position:
        """Return what a viewer sees before a turn, after more turns and the beginning of another one.

        Random events that the line leaves out are drawn, always in the same way.
        """
        position = self.shown(self.at(number), viewer)
        for turn in line:
            self._play_on(position, turn, number)
        if draft:
            self._settle(position, self._seed(number))
            position.push(draft, partial=True)
        return position

    def playable(self, position: Position, number: int, turns: list[list[str]]) -> list[list[str]]:
        """Return the first of some turns, up to one that is not legal after `position_of`.

        A search does not see the hands of others: what it expects of them may be known to be impossible.
        """
        position = position.copy()
        for index, turn in enumerate(turns):
            try:
                self._play_on(position, turn, number)
            except MexicaAIError:
                return turns[:index]
        return turns

    def _play_on(self, position: Position, turn: list[str], number: int) -> None:
        if position.is_chance:
            try:
                position.push(turn)
                return
            except MexicaAIError:
                self._settle(position, self._seed(number))
        position.push(turn)

    def _seed(self, number: int) -> int:
        return int.from_bytes(hashlib.sha256(f"{self.id} {number}".encode()).digest()[:7])

    @staticmethod
    def _settle(position: Position, seed: int) -> None:
        while position.is_chance:
            position.draw(seed)

    def picture(
        self,
        number: int,
        part: str,
        viewer: int | None,
        *,
        with_turn: bool = False,
        line: list[list[str]] = (),
        actions: list[str] = (),
        theme: str = "page",
    ) -> str:
        """Return a picture of the position before a turn.

        Parameters
        ----------
        number : int
            Of the turn.
        part : str
            One of the game's parts, several joined by ``+``, or all.
        viewer : int or None
            Of `eyes`.
        with_turn : bool
            Show the position after the turn that was played, with its marks.
        line, actions : list
            Turns from there, and actions that are marked.
        theme : str
            page, light or dark.
        """
        parts = list(boards.parts_of(self.kind))
        chosen = parts if part == "all" else part.split("+")
        if not set(chosen) <= set(parts):
            raise Refusal(404, "NO_PART", f"no part {quote(part)}; expected all or some of {'+'.join(parts)}")
        if with_turn:
            base = self.shown(self.at(number), viewer)
            self.at(number + 1)
            marked = self._marked(number, viewer)
        else:
            base = self.position_of(number, viewer, list(line), [])
            if actions:
                self._settle(base, 0)
            marked = self._marks_of(base, list(actions))
        return boards.draw(
            self.kind,
            base.to_json(),
            viewer=base.viewer,
            turn=marked,
            theme=theme,
            targets=theme == "page",
            parts=chosen,
        )

    def _marked(self, number: int, viewer: int | None) -> list[tuple[str, dict[str, Any]]]:
        position = self.positions[number].copy()
        marked = []
        for action, seen in zip(self.turns[number], self.seen_turns(viewer)[number], strict=True):
            position.push_action(action)
            after = position if viewer is None else position.view(viewer)
            marked.append((seen, after.to_json()))
        return marked

    @staticmethod
    def _marks_of(base: Position, actions: list[str]) -> list[tuple[str, dict[str, Any]]]:
        if not actions:
            return []
        try:
            steps = play_steps(base, actions)
        except PositionError as error:  # its last action would uncover something
            if error.reason not in _UNCOVERS:
                raise
            steps = play_steps(base, actions[:-1]) if actions[1:] else []
        return [(step.action, step.position.to_json()) for step in steps]


_NOTHING: dict[str, Any] = {
    "draft": {
        "actions": [],
        "steps": [],
        "can_end": False,
        "end": None,
        "is_ended": False,
        "left": "",
        "undo_limit": 0,
        "warning": "",
    },
    "entries": [],
    "blocked": {},
    "targets": {},
    "text": "",
    "compact": "",
    "points": None,
}
_SAMPLES: dict[str, dict[str, list[str]]] = {}
"""Actions of each tool that have been legal somewhere, by game."""


def _samples(game: str) -> dict[str, list[str]]:
    return _SAMPLES.setdefault(game, {})


def _keep_sample(samples: dict[str, list[str]], tool: str, action: str) -> None:
    known = samples.setdefault(tool, [])
    if len(known) < NUM_SAMPLES and action not in known:
        known.append(action)


def learn_samples(record: dict[str, Any]) -> None:
    """Learn actions of each tool from a game that was played, so that the page can say why a tool has none."""
    position = Position.from_json(record["start"])
    picture, samples = registry.get(position.game).picture, _samples(position.game)
    for turn in record["turns"]:
        for action in turn:
            if not position.is_chance:
                _keep_sample(samples, picture.entry(action, position.to_json()).tool, action)
            position.push_action(action)


def evaluation_json(one: TurnEvaluation) -> dict[str, Any]:
    """Return an evaluation as pages show it."""
    return {
        "turn_index": one.turn_index,
        "seat": one.seat,
        "loss": one.loss,
        "mark": mark_of(one.loss),
        "before": one.before,
        "after": one.after,
        "choice": one.choice,
        "choice_text": TURN_SEPARATOR.join(one.choice),
        "choice_value": one.choice_value,
        "is_choice": one.choice == one.turn,
    }


def _cost_text(cost: dict[str, int]) -> str:
    return ", ".join(f"{amount} {_unit(key, amount)}" for key, amount in cost.items())


def _unit(key: str, amount: int) -> str:
    """Return the short word for what a key counts: AP for action_points, tokens, corn."""
    words = key.removesuffix("_left").split("_")
    if words[-1] == "points":
        return "".join(word[0].upper() for word in words)
    return words[-1].removesuffix("s") if amount == 1 else words[-1]
