"""Makes a `mexica_ai.game.contract.Game` of a game in Python."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Any

from cext.core.contract.game import TERMINAL, State
from cext.core.contract.pyops import PythonRules
from mexica_ai.game.contract import Events, Game, Learning, Secrets, Starts, Text, Views
from mexica_ai.game.text_forms import SPECTATOR, check_viewer
from mexica_ai.io.errors import MexicaAIError, NotationError, PositionError
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.strict import Findings, check_shape, quote
from mexica_ai.io.suggest import did_you_mean
from mexica_ai.pure.fields import Cards, Flag, Numbers, lay_out, schema_of
from mexica_ai.pure.rules import Action, PureGame
from mexica_ai.pure.text import Reader, bad_action, hide, is_hidden, rows_of

_MAX_WORLDS = 100  # tries
_FULL, _SPECTATOR = -1, -2  # viewers of the compiled layer
_SHAPES: dict[type, Any] = {bool: bool, int: int, list: [int]}


def game(methods: PureGame) -> Game:
    """Return the game that an object's methods and declarations describe.

    Parameters
    ----------
    methods : PureGame

    Returns
    -------
    mexica_ai.game.contract.Game
        For an entry point, or `mexica_ai.game.registry.register`.

    Raises
    ------
    ValueError, TypeError
        A declaration is wrong; the message names it.
    """
    if not isinstance(methods, PureGame):
        raise TypeError(f"given {quote(methods)}; expected an instance of a class derived from PureGame")
    _check_declarations(methods)
    return _Parts(methods).game()


def _check_declarations(methods: PureGame) -> None:
    if not re.fullmatch("[a-z][a-z0-9_]{0,31}", methods.name):
        raise ValueError(f"name: given {methods.name!r}; expected a word in lower case")
    if not methods.record or not methods.actions:
        raise ValueError(f"{methods.name}: has no {'actions' if methods.record else 'record'}; expected some")
    for name, given in (("actions", methods.actions), ("events", methods.events)):
        # A set has another order in each process, so that an action's integer would mean other things there.
        if isinstance(given, str) or not isinstance(given, Sequence):
            raise TypeError(f"{methods.name}: {name}: given {quote(given)}; expected a list")
    for name, least in (("max_game_length", 1), ("max_legal", 0), ("rules_version", 1), ("version", 1)):
        number = getattr(methods, name)
        if type(number) is not int or not least <= number < 1 << 31:
            raise ValueError(
                f"{methods.name}: {name}: given {quote(number)}; expected an integer from {least} to {(1 << 31) - 1}"
            )
    for name, field in methods.record.items():
        if not isinstance(field, (Numbers, Cards)):
            raise TypeError(f"{methods.name}: record[{name!r}] is {field!r}; expected Numbers, Flag or Cards")
    seen: dict[str, Action] = {}
    for action in (*methods.actions, *methods.events):
        text = text_of(action)
        if not re.fullmatch(r"[a-z_]+( [!-~]+)*", text):
            raise ValueError(f"{methods.name}: the action {action!r}; expected a word, or a tuple of one and operands")
        if text in seen:
            raise ValueError(f"{methods.name}: the actions {seen[text]!r} and {action!r} have the same text")
        seen[text] = action
    words = {text.partition(" ")[0] for text in seen}
    if isinstance(methods.secret, str) or not words.issuperset(methods.secret):
        raise ValueError(
            f"{methods.name}: secret: given {methods.secret!r}; expected a tuple of first words of actions and events"
        )
    for option in methods.options:
        if option.default is None:
            raise ValueError(f"{methods.name}: the option {option.name} has no default; expected one")


def text_of(action: Action) -> str:
    """Return the text of an action: its words, separated by blanks."""
    return " ".join(map(str, action)) if isinstance(action, tuple) else str(action)


class _Parts:
    """The functions of the parts of one game."""

    def __init__(self, methods: PureGame) -> None:
        self.methods = methods
        layout = lay_out(methods.record, methods.cards, methods.max_players)
        self.kinds = [name for name, _, _ in layout.kinds]
        self.schema = schema_of(methods.name, methods.version, methods.record, self.kinds)
        self.record_type = type("State", (), {"__slots__": ("players", "to_move", "turn", *methods.record)})
        self.rules = PythonRules(
            methods, layout.fields, self.record_type, layout.dtype.itemsize, layout.kinds, self.schema.size
        )
        self.reader = Reader(methods.name, methods.version, methods.record, methods.cards, methods.max_players)
        self.texts = [text_of(action) for action in self.rules.actions]
        self.number_of = {text: number for number, text in enumerate(self.texts)}

    def game(self) -> Game:
        """Return the game as one object."""
        methods, has_views = self.methods, self.reader.has_views
        return Game(
            methods.name,
            rules=self.rules.game,
            text=Text(self.parse_action, self.format_action, self.parse_position, self.format_position),
            starts=Starts(self.new_state, methods.options),
            board=self.board,
            title=methods.title,
            scores=lambda state: [int(points) if points == int(points) else points for points in state.scores()],
            views=Views(self.view, self.viewer, self.world_of, self.deal_for, self.is_secret) if has_views else None,
            secrets=Secrets(lambda state: self.viewer(state) is None) if has_views else Secrets(),
            events=Events(self.rules.draw) if methods.events else None,
            learning=Learning(self.schema),
        )

    # --- text

    def parse_action(self, text: str, path: str = "action") -> int:
        """Return the integer of an action."""
        number = self.number_of.get(text) if isinstance(text, str) else None
        if number is None:
            example = self.texts[0]
            hint = did_you_mean(text, self.texts) if len(self.texts) < 1000 else ""
            raise bad_action(f'{quote(text)} is not an action; expected one such as "{example}"{hint}', path)
        return number

    def format_action(self, action: int) -> str:
        """Return the text of an action."""
        if not 0 <= action < len(self.texts):
            raise NotationError(f"{action:#x} is not the integer of an action", reason="BAD_ACTION")
        return self.texts[action]

    def parse_position(self, data: JsonObject, path: str = "position") -> State:
        """Return the state of a JSON position."""
        values = self.reader.read(data, path)
        record = self.empty(data["players"])
        record.to_move = data["to_move"]
        for key, value in values.items():
            setattr(record, key, value)
        viewer = data.get("viewer")
        try:
            fault = self.methods.check(record)
            if fault:
                raise PositionError(f"{path}: {fault}", reason="RULES", path=path)
            state = self.rules.state(
                record, data["players"], _FULL if viewer is None else _SPECTATOR if viewer == SPECTATOR else viewer
            )
            if state.current_player >= 0 and viewer in (None, state.current_player):
                state.legal_actions()
        except PositionError:
            raise
        except Exception as error:  # of the methods, for a state that no game reaches
            said = error if isinstance(error, MexicaAIError) else f"{type(error).__name__}: {error}"
            raise PositionError(
                f"{path}: the rules cannot go on from here: {said}", reason="RULES", path=path
            ) from error
        return state

    def format_position(self, state: State) -> JsonObject:
        """Return the JSON object of a state."""
        record = self.rules.record(state)
        data = {"game": self.methods.name, "version": self.methods.version, "players": record.players}
        data["to_move"] = record.to_move
        if self.reader.has_views:
            data["viewer"] = self.viewer(state)
        data |= {key: getattr(record, key) for key in self.methods.record}
        return data if data.get("viewer") is None else hide(self.methods.record, data, data["viewer"])

    def board(self, state: State) -> str:
        """Return a state as text for people."""
        methods, record, viewer = self.methods, self.rules.record(state), self.viewer(state)
        if viewer is not None:
            for key, value in hide(
                methods.record, {key: getattr(record, key) for key in methods.record}, viewer
            ).items():
                setattr(record, key, value)
        seat = state.current_player
        moves = (
            "the game is over" if seat == TERMINAL else "a random event is due" if seat < 0 else f"seat {seat} to move"
        )
        title = methods.title or methods.name.capitalize()
        return f"{title}, {record.players} players: {moves}\n\n{methods.board(record)}"

    # --- new games

    def empty(self, players: int) -> Any:
        """Return a record with nothing in it."""
        record = self.record_type()
        record.players, record.to_move, record.turn = players, 0, 0
        for key, field in self.methods.record.items():
            least: Any = None
            if isinstance(field, Flag):
                least = False
            elif isinstance(field, Numbers):
                least = field.low if not field.low <= 0 <= field.high else 0
            setattr(record, key, _nested(field.shape, players, least))
        return record

    def new_state(self, players: int, seed: int, **options: Any) -> State:
        """Deal a new game."""
        declared = {option.name: option for option in self.methods.options}
        given = {name: value for name, value in options.items() if value is not None}
        shapes = {name: _SHAPES[option.kind] for name, option in declared.items() if name in given}
        check_shape({"players": players, **given}, {"players": int, **shapes}, "options")
        findings = Findings()
        findings.check_range("options.players", players, 2, self.methods.max_players)
        for name, value in given.items():
            if declared[name].kind is int:
                findings.check_range(f"options.{name}", value, declared[name].choices[0], declared[name].choices[-1])
        findings.raise_as(PositionError)
        for name, option in declared.items():
            default = list(option.default) if isinstance(option.default, tuple) else option.default
            given.setdefault(name, default)
        record = self.empty(players)
        try:
            self.methods.start(record, random.Random(seed), **given)
        except ValueError as error:
            raise PositionError(f"options: {error}", reason="BAD_OPTIONS", path="options") from error
        state = self.rules.state(record, players)
        if state.current_player < 0 and not state.is_terminal:
            state.resolve_chance(seed)
        return state

    # --- views

    def view(self, data: JsonObject, seat: int | None) -> JsonObject:
        """Return what a seat, or a spectator, sees of a JSON position."""
        check_viewer(data, seat)
        viewer = SPECTATOR if seat is None else seat
        return hide(self.methods.record, {**data, "viewer": viewer}, viewer)

    def viewer(self, state: State) -> int | None:
        """Return whose view a state is."""
        viewer = self.rules.viewer(state)
        return None if viewer == _FULL else SPECTATOR if viewer == _SPECTATOR else viewer

    def world_of(self, state: State, seed: int) -> State:
        """Return a full state that agrees with a view."""
        draws = random.Random(seed)
        for _ in range(_MAX_WORLDS):
            world = state.copy()
            world.determinize(self.rules.viewer(state), draws.getrandbits(63))
            found = self.rules.state(self.rules.record(world), state.num_players)
            if found.current_player < 0 or self._can_go_on(found):
                return found
        raise PositionError("position: no cards were found with which the seat to move can go on", reason="NO_WORLD")

    def _can_go_on(self, state: State) -> bool:
        try:
            return bool(state.legal_actions())
        except MexicaAIError:
            return False

    def deal_for(self, state: State, viewer: int, action: int) -> bool:
        """Deal what a viewer does not see so that an action is legal, in place."""
        named = [str(word) for word in _words(self.rules.actions[action]) if str(word) in self.kinds]
        for seed in range(_MAX_WORLDS):
            world = state.copy()
            if seed > 0:
                world.determinize(viewer, seed)
            for each in (world, *self._with_cards(world, viewer, named)):
                if self._allows(each, action):
                    self.rules.assign(state, each)
                    return True
        return False

    def _allows(self, state: State, action: int) -> bool:
        try:
            return state.is_legal(action)
        except MexicaAIError:
            return False

    def _with_cards(self, state: State, viewer: int, named: list[str]) -> list[State]:
        """Return the worlds in which hidden cards are exchanged so that a row has the named ones."""
        record, found = self.rules.record(state), []
        hidden = [
            row
            for key, field in self.methods.record.items()
            for seat, row in (rows_of(field, getattr(record, key)) if isinstance(field, Cards) else ())
            if is_hidden(field, seat, viewer) and row
        ]
        before = [list(row) for row in hidden]
        for target in hidden:
            for kept, card in enumerate(named):  # cards of the row that stay
                others = [(row, row.index(card)) for row in hidden if row is not target and card in row]
                if card in target[kept:]:
                    at = target.index(card, kept)
                    target[kept], target[at] = target[at], target[kept]
                elif others and kept < len(target):
                    row, at = others[0]
                    row[at], target[kept] = target[kept], row[at]
            found.append(self.rules.state(record, state.num_players, self.rules.viewer(state)))
            for row, cards in zip(hidden, before, strict=True):
                row[:] = cards
        return found if named else []

    def is_secret(self, action: str, after: JsonObject) -> bool:
        """Return whether only its seat knows the operands of an action."""
        return action.partition(" ")[0] in self.methods.secret


def _words(action: Action) -> tuple[Any, ...]:
    return action[1:] if isinstance(action, tuple) else ()


def _nested(shape: tuple[int, ...], players: int, least: Any) -> Any:
    """Return the lists of an empty field: of numbers `least`, or, if that is None, of empty rows."""
    if not shape:
        return least
    if least is None and len(shape) == 1:
        return []
    length = players if shape[0] < 0 else shape[0]
    return [_nested(shape[1:], players, least) for _ in range(length)]
