"""The contract between a game and the Python package: the counterpart of ``cext/core/game.pxd``.

The compiled core knows rules, actions as integers and states as memory. Everything else that the package, the
command line and the service need of a game is in one `GameCodec`: text forms, new games and their options,
views, random events, the wire, the picture. Each game has one instance, ``CODEC`` in
``mexica_ai/games/GAME/codec.py``; `mexica_ai.registry` holds it. No other module asks for the name of a game.

Rules that hold for every function
* A state that comes in is valid and is not changed, except by `settle_chance`. One that goes out is valid.
* Text, JSON and options come from outside and may be anything; they are checked completely, and only the
  exceptions named here come out. States and the objects that `format_position` made need no checking.
* An error says in one line what is wrong, where (its path begins with the `path` given) and what was
  expected.
* Functions may be called from many threads at once.

A game makes and reads states by two functions of its compiled module, ``state_from_fields(fields)`` and
``state_to_fields(state)``. Nobody but its codec calls them, so the form of `fields` is the game's own.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Protocol

from cext.core.game import State


@dataclass(frozen=True)
class Option:
    """One option of a new game. The command line, the service and `mexica_ai.new_game` all read it from here.

    Parameters
    ----------
    name : str
        The keyword of `GameCodec.new_state`, and the field of the game's message in ``NewGameRequest``.
    kind : type
        bool, int, or list for a list of integers.
    help : str
        What it means and what its default is, for the help of the command line; no capital, no full stop.
    flag : str
        How the command line calls it, unique among all games; by default ``--`` and the name with hyphens.
    metavar : str
        How the help names its value. Not used for a bool, which has two flags, ``--NAME`` and ``--no-NAME``.
    choices : range, optional
        The values that the command line takes for an int; by default 0 to 2**31 - 1. `new_state` checks all
        values anyway.
    """

    name: str
    kind: type
    help: str
    flag: str = ""
    metavar: str = "N"
    choices: range = range(1 << 31)

    def __post_init__(self) -> None:
        if self.kind not in (bool, int, list):
            raise TypeError(f"option {self.name}: kind {self.kind!r}; expected bool, int or list")
        if not self.flag:
            object.__setattr__(self, "flag", "--" + self.name.replace("_", "-"))


class GameCodec(Protocol):
    """What a game gives to the package. Derive from it; a function without a default is abstract.

    Attributes
    ----------
    name : str
        The game's name: in `mexica_ai.registry`, in the key `game` of positions, in the `oneof` of the proto.
    options : tuple of Option
        What a new game can be dealt with, in the order of the help. Default: none.
    examples : tuple of str
        Options of ``mexica-ai new``, such as ``--piles 3,4,5``, that show the game's own; each becomes a line
        of that command's help, with ``--game`` before it where the game is not the default. Default: none.
    has_views : bool
        Whether seats see different things, so that `view` and `viewer` are the game's own. Default: False.
    """

    name: str
    options: tuple[Option, ...] = ()
    examples: tuple[str, ...] = ()
    has_views: bool = False

    # --- notation: text and JSON

    @abstractmethod
    def parse_action(self, text: object, path: str = "action") -> int:
        """Return the integer of an action, or of a random event, without asking whether it is legal anywhere.

        Called for every action that comes from a person, a record or an engine.

        Parameters
        ----------
        text : object
            A verb and its operands, separated by single spaces; not trusted, perhaps no string.
        path : str
            Where the text stands, for messages.

        Raises
        ------
        NotationError
            If it is not exactly one action in its one spelling.
        """

    @abstractmethod
    def format_action(self, action: int) -> str:
        """Return the text of an action's integer; the inverse of `parse_action`.

        Called for every action that is shown: some thousands for one position, so a cache may pay.

        Raises
        ------
        NotationError
            Reason BAD_ACTION, if the integer is no action at all.
        """

    @abstractmethod
    def parse_position(self, data: object, path: str = "position") -> State:
        """Return the state of a JSON position: a full one, or where `has_views` a seat's view.

        Parameters
        ----------
        data : object
            The position as `json.loads` gives it, with the keys `game` (which is right), `version` and the
            game's own, among them `players` and `to_move`; not trusted, not changed.
        path : str
            Where it stands, the beginning of every path in errors.

        Raises
        ------
        NotationError
            If it has not exactly the shape of a position, or a version that is not known.
        PositionError
            If it breaks an invariant. Both errors list all faults (`mexica_ai.strict.Findings`).
        """

    @abstractmethod
    def format_position(self, state: State) -> dict[str, Any]:
        """Return the JSON object of a state in canonical form; the inverse of `parse_position`.

        The object is new: callers change it. Equal states give equal objects, with their keys in one order.
        """

    # --- new games

    @abstractmethod
    def new_state(self, players: int, seed: int, **options: Any) -> State:
        """Deal a new game.

        Called by `mexica_ai.new_game`, which has refused names that are not in `options`.

        Parameters
        ----------
        players : int
            Number of seats; not checked.
        seed : int
            0 <= seed < 2**63. Decides everything random: the same arguments deal the same game.
        **options
            Any of `options`, of any type; None means the default, as leaving it out does.

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
        """Return whether the position leaves nothing open that is still to be uncovered.

        The order in which a bag or a deck will be drawn does not count. Searches of such a position need not
        deal hidden things. Default: True.
        """
        return True

    @abstractmethod
    def render(self, state: State) -> str:
        """Return the position as lines of text that a person can read quickly; for `str(position)`.

        Works for views and for positions in which a random event is due or the game is over.
        """

    # --- views: what a seat may see

    def viewer(self, state: State) -> int | None:
        """Return the seat of whose view the state is, None for a full position. Default: None."""
        return None

    def view(self, data: dict[str, Any], seat: int) -> dict[str, Any]:
        """Return the JSON position that a seat may see: what is hidden from it is put out.

        Called where `has_views`, with objects of `format_position`: by `Position.view`, thus before each turn
        of an engine in the arena, and by `redact`. A seat's view of its own view is that view. `view_hash` of
        the seat is the same in its view as in the full position, and so are the legal actions if it is to
        move. Default: `data`.

        Raises
        ------
        NotationError
            If `seat` is no integer.
        PositionError
            If there is no such seat (reason OUT_OF_RANGE), or `data` is the view of another one
            (VIEWER_MISMATCH).
        """
        return data

    def redact(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the JSON position that may be given to the seat to move and to everybody who plays for it.

        Called by the service for new games and for views after a turn, with an object of `format_position` in
        which a seat is to move; may change it. Default: the view of that seat, so a full position where there
        are no views. A game that hides something from all seats alike takes it out here.
        """
        return self.view(data, data["to_move"])

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

    # --- random events

    def draw_outcome(self, state: State, seed: int) -> int:
        """Return an outcome of the random event that is due, as an action that `format_action` can write.

        Called by `Position.draw` and to give an example in errors, only where `settle_chance` leaves an event
        due. The same seed draws the same, and ``state.resolve_chance(seed)`` does what the action says.
        Default: there is none, which is a RuntimeError, since it is a fault of the codec.
        """
        raise RuntimeError(f"{self.name}: a random event is due, but the codec draws none")

    def settle_chance(self, state: State) -> None:
        """Resolve the random event that is due, if it is no part of a record; may change the state.

        Called by `Position.push` after a turn that leads to an event. Default: does nothing: the event stays
        due until it is drawn or pushed as a turn of its own, and the game writes `draw_outcome`. Where the
        position itself says what happens, resolve it here.

        Raises
        ------
        PositionError
            If the position would have to say what happens and does not. The push is undone.
        """
        return None

    # --- the wire

    def from_message(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the JSON position, without `game`, that a protobuf message stands for.

        The message has the field names of the JSON form and is converted by them. What it cannot say alike is
        mended here: a list is always there, if only empty; a field with presence that was not set is missing.

        Parameters
        ----------
        data : dict
            What the message says; not trusted, though its types are those of the message. May be changed.

        Returns
        -------
        dict
            What `parse_position` takes. Default: `data`.
        """
        return data
