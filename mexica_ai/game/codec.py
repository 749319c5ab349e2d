"""The contract between a game and the Python package: the counterpart of ``cext/core/contract/game.pxd``.

The compiled core knows rules, actions as integers and states as memory. Everything else that the package, the
command line and the service need from a game is in one `GameCodec`: text forms, new games and their options,
views, random events, protobuf messages, the board as text. Each game has one instance, ``CODEC`` in
``mexica_ai/games/GAME/codec.py``, which `mexica_ai.game.registry` holds. No other module depends on a game's name.

Rules for every function
* A state passed in is valid and is not changed, except by `settle_chance`. A returned state is valid.
* Text, JSON and options are untrusted. They are checked completely, and no exceptions but those named here
  are raised. States and objects made by `format_position` need no checks.
* An error message is one line. It says what is wrong, where (its path begins with `path`) and what was
  expected.
* Functions may be called from many threads at once.

A game makes and reads states by two functions of its compiled module, ``state_from_fields(fields)`` and
``state_to_fields(state)``. Only its codec calls them, so the game chooses the form of `fields`.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from cext.core.contract.game import State
from mexica_ai.game.compact import bad_compact
from mexica_ai.game.entry import MENU, Entry, Tool
from mexica_ai.io.errors import NotationError, PositionError
from mexica_ai.io.strict import parse_json, quote

if TYPE_CHECKING:
    from mexica_ai.game.edit import Editor
    from mexica_ai.game.schema import Schema


@dataclass(frozen=True)
class Option:
    """One option of a new game, for the command line, the service and `mexica_ai.new_game`.

    Parameters
    ----------
    name : str
        The keyword of `GameCodec.new_state`, and the field of the game's message in ``NewGameRequest``.
    kind : type
        bool, int, or list for a list of integers.
    help : str
        Its meaning and default, for the help of the command line; no capital letter, no full stop.
    flag : str
        Its flag on the command line, unique among all games; by default ``--`` and the name with hyphens.
    metavar : str
        The placeholder of its value in the help. Not used for a bool, which has two flags, ``--NAME`` and
        ``--no-NAME``.
    choices : range, optional
        The values that the command line accepts for an int; by default 0 to 2**31 - 1. `new_state` still
        checks all values.
    default : bool, int or tuple of int, optional
        What `new_state` takes if it is not given, for forms that show it. By default False for a bool, else not told.
    """

    name: str
    kind: type
    help: str
    flag: str = ""
    metavar: str = "N"
    choices: range = range(1 << 31)
    default: bool | int | tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if self.kind not in (bool, int, list):
            raise TypeError(f"option {self.name}: kind {self.kind!r}; expected bool, int or list")
        if not self.flag:
            object.__setattr__(self, "flag", "--" + self.name.replace("_", "-"))
        if self.kind is bool:
            object.__setattr__(self, "default", bool(self.default))


class GameCodec(Protocol):
    """The interface of a game. Derive from it; functions without a default are abstract.

    Attributes
    ----------
    name : str
        The game's name: in `mexica_ai.game.registry`, in the key `game` of positions, in the `oneof` of the proto.
    options : tuple of Option
        The options of a new game, in the order of the help. Default: none.
    examples : tuple of str
        Examples of the game's options for the help of ``mexica-ai new``, such as ``--piles 3,4,5``, one line
        each. The help adds ``--game`` if the game is not the default. Default: none.
    has_views : bool
        Whether seats see different things, so that the game overrides `view` and `viewer`. Default: False.
    spends : tuple of str
        Keys of what actions cost, in the JSON position or in that of a seat, each a number. Default: none.
    level_errors : dict
        How levels err where they do not err as `mexica_ai.analysis.levels.LEVELS` says: by level, the deviation and the
        prior noise of `mexica_ai.analysis.levels.Level`. Default: none.
    """

    name: str
    options: tuple[Option, ...] = ()
    examples: tuple[str, ...] = ()
    has_views: bool = False
    spends: tuple[str, ...] = ()
    level_errors: ClassVar[dict[int, tuple[float, float]]] = {}

    @property
    def title(self) -> str:
        """The game's name in headings."""
        return self.name.capitalize()

    def __reduce__(self) -> tuple[Callable[[str], GameCodec], tuple[str]]:
        """Pickle and copy the name: a game has one codec."""
        return _of_game, (self.name,)

    # --- notation: text and JSON

    @abstractmethod
    def parse_action(self, text: object, path: str = "action") -> int:
        """Return the integer of an action or a random event; do not check whether it is legal.

        Called for every action that comes from a person, a record or an engine.

        Parameters
        ----------
        text : object
            A verb and its operands, separated by single spaces. Untrusted: it may not even be a string.
        path : str
            Where the text stands, for messages.

        Raises
        ------
        NotationError
            If it is not one action in its canonical spelling.
        """

    @abstractmethod
    def format_action(self, action: int) -> str:
        """Return the text of an action's integer; the inverse of `parse_action`.

        Called for every action that is shown. One position may have thousands, so consider a cache.

        Raises
        ------
        NotationError
            If the integer is not an action; reason BAD_ACTION.
        """

    @abstractmethod
    def parse_position(self, data: object, path: str = "position") -> State:
        """Return the state of a JSON position: a full one or, if `has_views`, a seat's view.

        Parameters
        ----------
        data : object
            The position as `json.loads` returns it, with the keys `game` (already checked), `version` and the
            game's own, among them `players` and `to_move`. Untrusted; not changed.
        path : str
            Where it stands; every path in errors begins with it.

        Raises
        ------
        NotationError
            If it does not have the shape of a position, or if its version is unknown.
        PositionError
            If it breaks an invariant. Both errors list all faults (`mexica_ai.io.strict.Findings`).
        """

    @abstractmethod
    def format_position(self, state: State) -> dict[str, Any]:
        """Return the JSON object of a state in canonical form; the inverse of `parse_position`.

        Each call returns a new object, since callers change it. Equal states give equal objects with the same
        order of keys.
        """

    def format_compact(self, data: dict[str, Any]) -> str:
        """Return the fields of a compact position, one line of text without the header.

        Parameters
        ----------
        data : dict
            An object of `format_position`.

        Returns
        -------
        str
            Printable ASCII. Default: the JSON object, without blanks, `game` and `version`. A game that does
            better has a module ``compact.py`` (see `mexica_ai.game.compact`).
        """
        fields = {key: value for key, value in data.items() if key not in ("game", "version")}
        return json.dumps(fields, separators=(",", ":"))

    def parse_compact(self, text: str, path: str = "position") -> dict[str, Any]:
        """Return the JSON position of compact fields; the inverse of `format_compact`.

        Parameters
        ----------
        text : str
            The fields, without the header. Untrusted; `parse_position` checks what they say.
        path : str
            Where the text stands, for messages.

        Raises
        ------
        NotationError
            If the fields cannot be read; reason BAD_COMPACT.
        """
        fields = parse_json(text, path)
        if not isinstance(fields, dict):
            raise bad_compact(path, f"given {quote(fields)} after the header; expected an object")
        return {"game": self.name, "version": 1, **fields}

    # --- new games

    @abstractmethod
    def new_state(self, players: int, seed: int, **options: Any) -> State:
        """Deal a new game.

        Called by `mexica_ai.new_game`, which rejects names that are not in `options`.

        Parameters
        ----------
        players : int
            Number of seats; not checked yet.
        seed : int
            0 <= seed < 2**63. The only source of randomness: the same arguments deal the same game.
        **options
            Any of `options`, of any type. None means the default, like a missing option.

        Raises
        ------
        NotationError
            If an argument is of the wrong type.
        PositionError
            If an argument is out of range, `players` included. Paths begin with ``options.``.
        """

    # --- what a position says

    def scores(self, state: State) -> list[float]:
        """Return the points of each seat as they stand. Default: those of the compiled core, as integers."""
        return [int(points) for points in state.scores()]

    def has_one_world(self, state: State) -> bool:
        """Return whether the position determines everything that will still be uncovered.

        The order in which a bag or a deck will be drawn does not count. If True, a search of the position
        does not have to deal hidden cards or tokens. Default: True.
        """
        return True

    @abstractmethod
    def render(self, state: State) -> str:
        """Return the position as lines of text that a person can read quickly; used by `str(position)`.

        Must work for views, for positions in which a random event is due, and after the end of the game.
        """

    def draw(self, fields: dict[str, Any], **options: Any) -> str:
        """Return a picture of a position as SVG. Default: by `draw` of the module ``draw`` beside the codec.

        Parameters
        ----------
        fields : dict
            A position as `format_position` returns it. An editor may pass a faulty one: what cannot be read is left
            out.
        viewer : int, optional
            The seat that looks on.
        turn : sequence of (action, fields)
            A turn from this position, with the position after each action: the picture shows the last one, with what
            is new marked. Default: none.
        theme : str
            light, dark or page: then elements have classes instead of colours. Default: light.
        parts : sequence of str
            What to draw, of the game's `PARTS`. Default: all.
        targets : bool
            Whether elements that can be clicked have ``data-target``. Default: False.
        shares : sequence of float, optional
            Expected share of the win of each seat.

        Raises
        ------
        NotationError
            The game has no pictures; reason NO_PICTURE.
        """
        module = self._beside("draw")
        if module is None:
            raise NotationError(f"{self.name}: has no pictures; expected a game that has", reason="NO_PICTURE")
        return module.draw(fields, **options)

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of the picture that `draw` can draw alone, in their order; none without pictures."""
        return getattr(self._beside("draw"), "PARTS", ())

    # --- entering actions on the picture; by the module ``entry`` beside the codec, if there is one

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The kinds of actions that a person chooses from, in the order of their buttons."""
        module = self._beside("entry")
        return () if module is None else module.TOOLS

    @property
    def grid(self) -> dict[str, list[str]] | None:
        """The ``rows`` and ``columns`` of the picture's targets if those are a grid, as A and 1 of A1; else None."""
        return getattr(self._beside("entry"), "GRID", None)

    def entry(self, action: str, fields: dict[str, Any]) -> Entry:
        """Return how a person enters a legal action on the picture of a position.

        Parameters
        ----------
        action : str
            Of `format_action`.
        fields : dict
            The position as `format_position` returns it. Default: chosen by its text alone.
        """
        module = self._beside("entry")
        return Entry("", (MENU + action,)) if module is None else module.entry(action, fields)

    def describe_targets(self, fields: dict[str, Any]) -> dict[str, str]:
        """Return what the targets of the picture of a position are, for those who do not see it. Default: none."""
        describe = getattr(self._beside("entry"), "describe", None)
        return {} if describe is None else describe(fields)

    @property
    def editor(self) -> Editor | None:
        """What an editor of positions offers; ``EDITOR`` of the module ``edit`` beside the codec, None without one.

        Without one a position is edited as JSON.
        """
        module = self._beside("edit")
        return None if module is None else module.EDITOR

    @property
    def schema(self) -> Schema | None:
        """The layout of `GameOps.observe`; ``SCHEMA`` of the module ``tensor`` beside the codec, None without one."""
        module = self._beside("tensor")
        return None if module is None else module.SCHEMA

    def _beside(self, name: str) -> ModuleType | None:
        """Return a module of the game's package; None if it has none of this name."""
        package = type(self).__module__.rpartition(".")[0]
        if not package or find_spec(f"{package}.{name}") is None:
            return None
        return import_module(f"{package}.{name}")

    # --- views: the position as one seat sees it

    def viewer(self, state: State) -> int | None:
        """Return the seat whose view the state is, or None for a full position. Default: None."""
        return None

    def view(self, data: dict[str, Any], seat: int) -> dict[str, Any]:
        """Return the JSON position that a seat may see, without what is hidden from it.

        Called if `has_views`, with objects of `format_position`: by `Position.view`, which the arena uses
        before each turn of an engine, and by `redact`. A seat's view of its own view is the same view. The
        seat's `view_hash` is the same in its view and in the full position; if it is to move, so are the
        legal actions. Default: `data`.

        Raises
        ------
        NotationError
            If `seat` is not an integer.
        PositionError
            If there is no such seat (reason OUT_OF_RANGE), or `data` is the view of another seat
            (VIEWER_MISMATCH).
        """
        return data

    def redact(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the JSON position that may be shown to the seat to move.

        Called by the service for new games and for views after a turn, with an object of `format_position` in
        which a seat is to move; may change it. Default: the view of that seat, which is the full position if
        the game has no views. A game that hides something from all seats removes it here.
        """
        return self.view(data, data["to_move"])

    def world_of(self, state: State, seed: int) -> State:
        """Return a full state that agrees with what a seat's view shows, drawn from all that do.

        Called if `has_views`. Default: the state itself, which hides nothing.

        Parameters
        ----------
        state : State
            A view.
        seed : int
            0 <= seed < 2**63.

        Raises
        ------
        PositionError
            No such state was found; reason NO_WORLD.
        """
        return state.copy()

    def is_secret(self, action: str, after: dict[str, Any]) -> bool:
        """Return whether only its seat knows the operands of an action, or of the random event of its turn.

        Called if `has_views`. Must not depend on what is hidden, since others see the answer. Default: False.

        Parameters
        ----------
        action : str
            Of `format_action`.
        after : dict
            The position after it, as `format_position` returns it.
        """
        return False

    def deal_for(self, state: State, viewer: int, action: int) -> bool:
        """Replace what a viewer does not see so that an action is legal; False if no such world exists.

        `Position.push` calls it in the view of a seat for an action of another seat, and for a random event.
        The new world agrees with everything that `viewer` has seen. Default: the state is left as it is, and
        the answer is whether the action is legal in it; right for games without views.

        Parameters
        ----------
        state : State
            A seat's view with some world in place of what is hidden. Changed in place.
        viewer : int
            The seat that sees it, from 0.
        action : int
            An action of the seat to move, or an outcome of the random event that is due.
        """
        return state.is_legal(action)

    def check_uncovered(self, state: State) -> None:
        """Refuse a turn in a seat's view that uncovers what the seat has not seen.

        Called by `Position.push` with what a turn of a view leads to. Default: does nothing: turns name what
        they uncover.

        Raises
        ------
        PositionError
            Reason NOT_UNCOVERED: the turn shows things that it does not name. The push is undone.
        """
        return None

    # --- explanations

    def why_illegal(self, state: State, action: str) -> str:
        """Return why an action is not legal: a clause such as ``no bridge is left``. Default: "", nothing is said.

        Called for errors, with a state that the seat to move may see and an action that is not legal. Never says of a
        legal action that it is not.
        """
        return ""

    def describe_effects(self, before: dict[str, Any], after: dict[str, Any], seat: int) -> list[str]:
        """Return what an action has changed at once, as clauses such as ``leads the district of 12, 5 levels to 3``.

        Default: by `describe` of the module ``effects`` beside the codec; nothing without it. Points, costs and whole
        numbers of the seats, such as a stock of corn, are told without it.

        Parameters
        ----------
        before, after : dict
            The positions before and after the action, as `format_position` returns them.
        seat : int
            The seat that played it.
        """
        module = self._beside("effects")
        return [] if module is None else module.describe(before, after, seat)

    def _explain(self, why: Callable[..., str], state: State, action: str) -> str:
        """Return `why(data, action, is_legal)`; `is_legal` tells whether the action is legal in a JSON position."""

        def is_legal(data: dict[str, Any]) -> bool:
            try:
                return self.parse_position(data).is_legal(self.parse_action(action))
            except (NotationError, PositionError):
                return False

        return why(self.format_position(state), action, is_legal)

    # --- random events

    def draw_outcome(self, state: State, seed: int) -> int:
        """Return an outcome of the random event that is due, as an action that `format_action` can write.

        Called by `Position.draw`, and for an example in errors, only if `settle_chance` leaves an event due.
        The same seed gives the same outcome, and ``state.resolve_chance(seed)`` has the effect of the action.
        Default: RuntimeError, since a codec with such events must override this function.
        """
        raise RuntimeError(f"{self.name}: a random event is due, but the codec draws none")

    def settle_chance(self, state: State) -> None:
        """Resolve the random event that is due, if records do not contain it; may change the state.

        Called by `Position.push` after a turn that leads to an event. Default: do nothing. The event then
        stays due until it is drawn or pushed as a separate turn, and the game overrides `draw_outcome`. If
        the position itself determines the outcome, resolve the event here.

        Raises
        ------
        PositionError
            If the position should determine the outcome but does not. The push is undone.
        """
        return None

    # --- the wire

    def from_message(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the JSON position, without `game`, that a protobuf message represents.

        The message has the field names of the JSON form and is converted field by field. Correct here what
        protobuf cannot express: an absent list arrives as an empty one, and an unset field with presence is
        missing.

        Parameters
        ----------
        data : dict
            The fields of the message; untrusted, but of the message's types. May be changed.

        Returns
        -------
        dict
            An object for `parse_position`. Default: `data`.
        """
        return data


def try_parse(codec: GameCodec, fields: dict[str, Any]) -> State | None:
    """Return the state of a JSON position; None if it is no valid one."""
    try:
        return codec.parse_position(fields)
    except (NotationError, PositionError):
        return None


def _of_game(name: str) -> GameCodec:
    from mexica_ai.game import registry  # which imports this module

    return registry.get(name).codec
