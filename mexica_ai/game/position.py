"""Positions as users handle them: read from JSON or newly dealt, shown as text, changed by playing turns."""

from __future__ import annotations

import copyreg
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from cext.core.contract.game import CHANCE, State
from mexica_ai.game import compact, registry
from mexica_ai.game.details import ActionDetail, details_of
from mexica_ai.game.messages import speaking
from mexica_ai.game.phrases import ENGLISH
from mexica_ai.game.position_text import TURN_SEPARATOR, compact_data, game_of, position_data, split_turn
from mexica_ai.game.steps import known_steps
from mexica_ai.game.text_forms import SPECTATOR, viewer_name
from mexica_ai.io.errors import (
    GameOverError,
    IllegalActionError,
    MexicaAIError,
    NotationError,
    PositionError,
    SearchError,
)
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.numbers import MAX_INT64, resolve_seed
from mexica_ai.io.strict import check_options, parse_json, quote


class Position:
    """One position of one game.

    Make one with `mexica_ai.load`, `mexica_ai.new_game` or `Position.from_json`. Two positions are equal if
    they are the same position of the same game, no matter how they were reached. Only `push`, `push_action`
    and `draw` change a position; do not change one that is a key of a dictionary.
    """

    def __init__(self, game: str, state: State) -> None:
        self._game = registry.get(game)
        self._state = state
        # The actions of each call, with the state before them. States are shared with copies, never changed.
        self._played: list[tuple[State, list[str]]] = []

    @classmethod
    def from_json(cls, data: JsonObject | str | bytes, *, path: str = "$") -> Position:
        """Read a position from its JSON object, or from JSON text.

        Parameters
        ----------
        data : dict, str or bytes
            The object with the keys `game`, `version` and those of the game.
        path : str
            Where the object stands; JSON paths in errors begin with it.

        Raises
        ------
        NotationError
            If it cannot be read; `violations` lists every fault with its path.
        UnknownGameError
            If there is no such game.
        PositionError
            If it breaks invariants; `violations` lists all of them.
        """
        if isinstance(data, (str, bytes)):
            data = parse_json(data, path)
        game = game_of(data, path)
        return cls(game, registry.get(game).text.parse_position(data, path))

    @classmethod
    def from_compact(cls, text: str, *, path: str = "position") -> Position:
        """Read a position from its compact form: one line, as `to_compact` writes it.

        Parameters
        ----------
        text : str
            Such as ``nim/1 3,5,7 2,0,1,1``; blanks around it do not matter.
        path : str
            The name of the text in errors. The paths of invariants continue it as they would in the JSON form.

        Raises
        ------
        NotationError
            If it cannot be read: reason BAD_COMPACT, or UNSUPPORTED_VERSION.
        UnknownGameError, PositionError
            As `from_json`.
        """
        return cls.from_json(compact_data(text, path), path=path)

    @classmethod
    def from_text(cls, text: str | bytes, *, path: str = "$") -> Position:
        """Read a position from text: its JSON object, or its compact form.

        Raises the errors of `from_json` and `from_compact`; NotationError, reason RECORD_GIVEN, if the text is
        the record of a game or several of them, and SEVERAL_LINES, if it has one position a line.
        """
        return cls.from_json(position_data(text, path), path=path)

    def to_compact(self) -> str:
        """Return the position as one line of printable ASCII; `from_compact` reads it back."""
        return f"{self.game}/{compact.VERSION} {self._game.text.format_compact(self.to_json())}"

    def to_json(self) -> JsonObject:
        """Return the position as a JSON object, in canonical form; `from_json` reads it back."""
        return self._game.text.format_position(self._state)

    def copy(self) -> Position:
        """Return an independent copy, which has the same history."""
        position = Position(self.game, self._state.copy())
        position._played = self._played.copy()
        return position

    def __copy__(self) -> Position:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Position:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        # As text, which another version reads, or refuses with an error; and by turns, as in a record.
        return _replayed, (self.start.to_compact(), [actions for _, actions in self._played], self.to_compact())

    @property
    def state(self) -> State:
        """The compiled state, for engines and learning: actions are integers. Copy it before you change it.

        `cext.core.contract.game.State` has the functions: `copy`, `current_player` (a seat, `CHANCE` or `TERMINAL`),
        `legal_actions`, `apply`, `resolve_chance`, `determinize`, `returns`, `scores`. The game's
        text (`mexica_ai.game.registry.get(game).text`) turns actions into text and back.
        """
        return self._state

    @property
    def game(self) -> str:
        """The game's name."""
        return self._game.name

    @property
    def players(self) -> int:
        """Number of seats."""
        return self._state.num_players

    @property
    def to_move(self) -> int | None:
        """The seat to move; None if the game is over or a random event comes first."""
        return None if self.is_over or self.is_chance else self._state.current_player

    @property
    def is_over(self) -> bool:
        """Whether the game is over."""
        return self._state.is_terminal

    @property
    def is_chance(self) -> bool:
        """Whether a random event comes before the next turn: `draw` an outcome, or `push` the actual one."""
        return self._state.current_player == CHANCE

    @property
    def viewer(self) -> int | None:
        """The seat whose view of the game this is, -1 for a spectator's; None for a full position."""
        return None if self._game.views is None else self._game.views.viewer(self._state)

    @property
    def scores(self) -> list[float]:
        """Points of each seat, as they stand; integers where they are whole."""
        return self._game.scores(self._state)

    @property
    def winners(self) -> list[int]:
        """The seats that have won, ascending; empty until the game is over."""
        if not self.is_over:
            return []
        return [seat for seat, share in enumerate(self._state.returns()) if share > 0]

    @property
    def has_one_world(self) -> bool:
        """Whether the position determines everything that will still be drawn, apart from its order."""
        return self._game.secrets.has_one_world(self._state)

    @property
    def is_forced(self) -> bool:
        """Whether the seat to move has only one legal turn."""
        if self.to_move is None:
            return False
        state = self._state.copy()
        seat, started = state.current_player, state.turn
        while not state.is_terminal and state.current_player == seat and state.turn == started:
            actions = state.legal_actions()  # of the state, since spelling a thousand actions takes milliseconds
            if len(actions) != 1:
                return False
            state.apply(actions[0])
        return True

    def legal_actions(self) -> list[str]:
        """Return the legal actions, sorted as strings; empty if the game is over or a random event is due.

        Raises
        ------
        PositionError
            If this is the view of a seat that is not to move, which cannot know them; reason NOT_ITS_VIEW.
        """
        if self.to_move is not None:
            require_seat_to_move(self)
        return sorted(map(self._game.text.format_action, self._state.legal_actions()))

    def legal_details(self) -> list[ActionDetail]:
        """Return the legal actions as data: what each names and costs, and in words; see `legal_actions`."""
        return details_of(self)

    def legal_action(self, text: str, path: str = "action", listed: Collection[int] = ()) -> int:
        """Return a legal action as compiled code has it; those `listed` are legal. Errors of `push` name `path`."""
        action = self._game.text.parse_action(text, path)
        if action not in listed and not self._state.is_legal(action):
            raise self._illegal(self._state, text, path)
        return action

    def push(self, turn: str | list[str], *, partial: bool = False) -> None:
        """Play a whole turn. After an error the position is unchanged.

        Parameters
        ----------
        turn : list of str, or str
            The turn's actions; the last one ends the turn. As one string, they are joined by ``"; "``. If a
            random event is due (`is_chance`), the outcome of the event alone.
        partial : bool
            Whether the turn may stop before its end.

        Raises
        ------
        NotationError
            If an action cannot be read.
        IllegalActionError
            If an action is not legal, or the turn ends too early or not at all; `action_index` says where.
            In a seat's view, an action is legal if it is legal for some deal of the cards that the seat does not see.
        GameOverError
            If the game is over.
        PositionError
            If the turn uncovers what the position does not know. Of a view: reason NOT_UNCOVERED. Mexica:
            reason UPCOMING_UNKNOWN, if the turn ends period 1 and the second period's tokens are unknown.
        """
        actions = split_turn(turn)
        self._advance(self._play(actions, whole_turn=not partial), actions)

    def draw(self, seed: int | None = None) -> list[str]:
        """Draw the outcome of the random event that is due, and return it in the form that `push` takes.

        Parameters
        ----------
        seed : int, optional
            Seed of the draw, 0 <= seed < 2**63; drawn from the operating system if None.

        Raises
        ------
        SearchError
            If no random event is due (see `is_chance`); reason NO_CHANCE.
        """
        state, seed = self._state.copy(), resolve_seed(seed)
        if not self.is_chance:
            raise SearchError("no random event is due here; expected one", reason="NO_CHANCE")
        self._check_no_spectator()
        if self.viewer is not None:
            state.determinize(self.viewer, MAX_INT64 - seed)  # its numbers must not be those that draw the outcome
        action = self._game.draw_outcome(state, seed)
        played = [self._game.text.format_action(action)]
        state.apply(action)
        self._advance(state, played)
        return played

    def view(self, seat: int | None) -> Position:
        """Return a seat's view of the position; a copy of it if nothing is hidden.

        None: the view of a spectator, who sees what every seat sees. It is for showing: only a seat's view or the full
        position can be searched or played on.

        Raises
        ------
        PositionError
            If there is no such seat, or this is the view of another seat.
        """
        if self._game.views is None and self._game.secrets.redact is None:
            return self.copy()
        data = self._game.seen_by(self.to_json(), seat)
        seen = Position(self.game, self._game.text.parse_position(data, "position"))
        return self.copy() if self._game.views is None and seen == self else seen

    def guess(self, seed: int | None = None) -> Position:
        """Return a full position that agrees with this view: what the seat does not see is drawn; a copy of a full one.

        Parameters
        ----------
        seed : int, optional
            Seed of the draw, 0 <= seed < 2**63; drawn from the operating system if None.

        Raises
        ------
        PositionError
            No such position was found, which is rare; reason NO_WORLD. Or this is the view of a spectator.
        """
        if self._game.views is None or self.viewer is None:
            return self.copy()
        self._check_no_spectator()
        return Position(self.game, self._game.views.world_of(self._state, resolve_seed(seed)))

    def push_action(self, text: str) -> None:
        """Play one action. After an error the position is unchanged. Raises the errors of `push`."""
        self._advance(self._play([text], whole_turn=False), [text])

    def pop(self) -> list[str]:
        """Undo the last call of `push`, `push_action` or `draw`, and return the actions that it played.

        Raises
        ------
        PositionError
            If nothing was played since the position was read, dealt or made; reason NO_HISTORY.
        """
        if not self._played:
            raise PositionError(
                "nothing was played since this position was made; expected something to undo", reason="NO_HISTORY"
            )
        self._state, actions = self._played.pop()
        return list(actions)  # copies of this position have the same list

    @property
    def history(self) -> list[list[str]]:
        """The turns and random events since the position was made, as in a record; the last may be unfinished."""
        turns: list[list[str]] = []
        before = None  # the state in which the last of the turns began
        for state, actions in self._played:
            if before is None or CHANCE in (state.current_player, before.current_player) or state.turn != before.turn:
                turns.append([])
                before = state
            turns[-1] += actions
        return turns

    @property
    def is_within_turn(self) -> bool:
        """Whether the last turn of `history` has begun, but not ended."""
        if not self._played or self.is_over or self.is_chance:
            return False
        before = self._played[-1][0]
        return before.current_player != CHANCE and before.turn == self._state.turn

    @property
    def start(self) -> Position:
        """The position where `history` begins."""
        return Position(self.game, (self._played[0][0] if self._played else self._state).copy())

    def _advance(self, state: State, actions: list[str]) -> None:
        """Go on to the state after actions, and remember how to go back."""
        self._played.append((self._state, actions))
        self._state = state

    def _play(self, turn: list[str], *, whole_turn: bool) -> State:
        """Return the state after the actions; errors carry the index of the action."""
        if self.is_over:
            raise GameOverError("the game is over; expected no more turns")
        self._check_no_spectator()
        state = self._state.copy()
        started, is_event = state.turn, self.is_chance
        index = 0
        try:
            actions = []
            for index, text in enumerate(turn):
                actions.append(self._game.text.parse_action(text, f"turn[{index}]"))
            for index, action in enumerate(actions):
                if state.turn != started or (is_event and index > 0):
                    raise IllegalActionError(
                        f"turn[{index}]: {quote(turn[index])} comes after the end of the turn; "
                        f"expected no more after {quote(turn[index - 1])}",
                        reason="TURN_ALREADY_ENDED",
                        path=f"turn[{index}]",
                    )
                if not self._may_be_legal(state, action):
                    raise self._illegal(state, turn[index], f"turn[{index}]")
                state.apply(action)
            if whole_turn and state.turn == started and not is_event:
                raise IllegalActionError(
                    f"turn: {quote(TURN_SEPARATOR.join(turn))} does not end the turn; expected a last action that does",
                    reason="TURN_NOT_ENDED",
                    path="turn",
                )
            if state.current_player == CHANCE and self._game.events is not None:
                self._game.events.settle_chance(state)
            if self._game.views is not None and self.viewer is not None:
                self._game.views.check_uncovered(state)
        except MexicaAIError as error:
            error.action_index = index
            raise
        return state

    def _check_no_spectator(self) -> None:
        """Refuse to play on in the view of a spectator, from which no cards can be dealt."""
        if self.viewer == SPECTATOR:
            raise PositionError(
                "the position is the view of a spectator; expected the view of a seat, or the full position",
                reason="NOT_ITS_VIEW",
                path="position.viewer",
            )

    def _may_be_legal(self, state: State, action: int) -> bool:
        """Return whether an action is legal for some deal of the hidden cards; if so, leave `state` with it."""
        viewer = self.viewer
        if self._game.views is None or viewer is None or viewer == state.current_player:
            return state.is_legal(action)
        return self._game.views.deal_for(state, viewer, action)

    def _illegal(self, state: State, text: str, path: str) -> IllegalActionError:
        """Return the error for an action that is not legal; it lists legal ones with the same verb."""
        if state.current_player == CHANCE:
            example = self._game.text.format_action(self._game.draw_outcome(state, 0))
            return IllegalActionError(
                f"{path}: {quote(text)} cannot happen here; expected the random event that comes first, such "
                f"as {quote(example)}",
                path=path,
            )
        if self.viewer not in (None, state.current_player):
            return IllegalActionError(
                f"{path}: {quote(text)} is not legal for seat {state.current_player} here, whatever it holds "
                f"that {viewer_name(self.viewer)} does not see",
                path=path,
            )
        legal = [self._game.text.format_action(action) for action in state.legal_actions()]
        verb = text.split()[0]
        same_verb = [action for action in legal if action.split()[0] == verb]
        if same_verb:
            expected = ", ".join(same_verb[:5]) + (f" or {len(same_verb) - 5} more" if len(same_verb) > 5 else "")
        else:
            expected = f"one of {', '.join(dict.fromkeys(word.split()[0] for word in legal))}"
        why = self._game.why_illegal(state, text)
        because = f": {why}" if why else ""
        return IllegalActionError(
            f"{path}: {quote(text)} is not legal for seat {state.current_player} here{because}; expected {expected}",
            path=path,
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Position):
            return NotImplemented
        return self._state == other._state

    def __hash__(self) -> int:
        return hash((self.game, self._state.hash))

    def svg(
        self,
        *,
        turn: str | list[str] | None = None,
        viewer: int | None = None,
        theme: str = "light",
        parts: Sequence[str] | None = None,
        targets: bool = False,
        shares: Sequence[float] | None = None,
    ) -> str:
        """Return a picture of the position as SVG.

        Parameters
        ----------
        turn : list of str, or str, optional
            A turn, or the beginning of one: the picture shows the position after it, with its steps marked. A last
            action that uncovers what the position does not know is left out.
        viewer : int, optional
            Draw only what this seat sees.
        theme : str
            light, dark, or page: then elements have classes instead of colours.
        parts : sequence of str, optional
            The parts to draw, such as ``["board"]``; by default all.
        targets : bool
            Whether elements that can be clicked have ``data-target``.
        shares : sequence of float, optional
            Expected share of the win of each seat.

        Raises
        ------
        MexicaAIError
            Those of `push` and `view`.
        """
        draw = self._game.picture.draw
        if draw is None:
            raise NotationError(f"{self.game}: has no pictures; expected a game that has", reason="NO_PICTURE")
        shown = self if viewer is None else self.view(viewer)
        steps = [(step.action, step.position.to_json()) for step in known_steps(shown, turn)] if turn else []
        options: dict[str, Sequence[str]] = {} if parts is None else {"parts": parts}
        return draw(
            shown.to_json(), viewer=shown.viewer, turn=steps, theme=theme, targets=targets, shares=shares, **options
        )

    def _repr_svg_(self) -> str | None:
        return None if self._game.picture.draw is None else self.svg()

    def __str__(self) -> str:
        with speaking(ENGLISH):  # its columns are as wide as the English words need
            return self._game.board(self._state)

    def _repr_html_(self) -> str | None:
        """For notebooks that show no SVG by itself. Without pictures they show `repr`."""
        return self._repr_svg_()

    def __repr__(self) -> str:
        nobody = "over" if self.is_over else "a random event comes next"
        moves = nobody if self.to_move is None else f"seat {self.to_move} to move"
        return f"<Position of {self.game}: {self.players} players, {moves}>"


_PICKLED = "pickled position"  # what errors call it


def _replayed(start: str, played: list[list[str]], end: str) -> Position:
    """Return the position that was pickled as its start, what was played, and where that led."""
    position = Position.from_compact(start, path=_PICKLED)
    for actions in played:
        position._advance(position._play(actions, whole_turn=False), actions)
    if position.to_compact() != end:
        raise PositionError(
            f"{_PICKLED}: its turns lead to {quote(position.to_compact())}; expected {quote(end)}, as in the version "
            "that pickled it",
            reason="OTHER_VERSION",
            path=_PICKLED,
        )
    return position


def _state_of(text: str) -> State:
    return Position.from_compact(text, path="pickled state").state


def _reduced(state: State) -> tuple[Any, ...]:
    events = registry.get(state.game.name).events
    if state.current_player == CHANCE and (events is None or events.draw_outcome is None):
        raise SearchError("no text holds the event that is due; expected resolve_chance first", reason="CHANCE_PENDING")
    return _state_of, (Position(state.game.name, state).to_compact(),)


copyreg.pickle(State, _reduced)


def require_seat_to_move(position: Position) -> None:
    """Check that a seat is to move and that the position shows what this seat sees.

    Raises
    ------
    GameOverError
        If the game is over.
    PositionError
        If a random event comes first (reason CHANCE_PENDING), or if this is the view of another seat
        (NOT_ITS_VIEW).
    """
    if position.is_over:
        raise GameOverError("the game is over; expected a position in which a seat is to move", path="position")
    if position.is_chance:
        raise PositionError(
            "a random event comes before the next turn; expected a position in which a seat is to move",
            reason="CHANCE_PENDING",
            path="position",
        )
    if position.viewer not in (None, position.to_move):
        raise PositionError(
            f"the position is the view of {viewer_name(position.viewer)}; expected the view of seat "
            f"{position.to_move}, which is to move, or the full position",
            reason="NOT_ITS_VIEW",
            path="position.viewer",
        )


def new_game(game: str = registry.DEFAULT, *, players: int = 2, seed: int | None = None, **options: Any) -> Position:
    """Deal a new game.

    Parameters
    ----------
    game : str
        The game's name.
    players : int
        Number of seats.
    seed : int, optional
        0 <= seed < 2**63; the same seed deals the same game. Drawn from the operating system if None.
    **options
        The game's own; its starts list them (`registry.get(game).starts.options`). Mexica: `pool`, a list of 15 or
        more token sizes, and `neutral_levels`, the levels of the neutral temples with two seats. Coatl:
        `sacrifice_tokens` (default true), `strict_ends` (default false). Tzolk'in: `whole_points` (default false).
        Nim: `piles` and `plies_per_turn`. None means the default.

    Raises
    ------
    UnknownGameError
        If there is no such game.
    NotationError
        If an option does not exist or has the wrong type.
    PositionError
        If an option is out of range.
    """
    return deal(game, players, seed, options)


def deal(game: str, players: int, seed: int | None, options: Mapping[str, Any]) -> Position:
    """Deal a new game as `new_game` does; the names of the options are untrusted, too."""
    starts = registry.get(game).starts
    check_options(game, options, [option.name for option in starts.options])
    return Position(game, starts.new_state(players, resolve_seed(seed), **options))
