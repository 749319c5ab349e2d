"""The contract between a game and the Python package: the counterpart of ``cext/core/contract/game.pxd``.

The compiled core knows rules, actions as integers and states as memory. Everything else that the package, the command
line and the service need from a game is in one `Game`, made of named parts: text forms, new games and their options,
views, random events, pictures. Each game has one instance, ``GAME``; `mexica_ai.game.registry` finds it by name. No
other module depends on a game's name.

Rules for every function
* A state passed in is valid and is not changed, except by `Events.settle_chance` and `Views.deal_for`. A returned state
  is valid.
* Text, JSON and options are untrusted. They are checked completely, and no exceptions but those named here are raised.
  States and objects made by `Text.format_position` need no checks.
* An error message is one line. It says what is wrong, where (its path begins with `path`) and what was expected.
* Functions may be called from many threads at once.

A game makes and reads states by two functions of its compiled module, ``state_from_fields(fields)`` and
``state_to_fields(state)``. Only the game calls them, so it chooses the form of `fields`.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from cext.core.contract.game import Game as Rules
from cext.core.contract.game import State
from cext.core.learning.weights import Weights, WeightsSpec
from mexica_ai.game import weights as files_of_weights
from mexica_ai.game.compact import bad_compact
from mexica_ai.game.entry import Entry, Gain, Kind, Tool, choice
from mexica_ai.game.phrases import Phrase
from mexica_ai.game.score_rows import Move, ScoreRow
from mexica_ai.io.errors import NotationError, PositionError
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.strict import parse_json, quote

if TYPE_CHECKING:
    from mexica_ai.game.edit import Editor
    from mexica_ai.game.schema import Schema

Fields: TypeAlias = JsonObject  # a position


def json_compact(data: Fields) -> str:
    """Return the fields of a compact position as JSON, without blanks: for games with no form of their own."""
    fields = {key: value for key, value in data.items() if key not in ("game", "version")}
    return json.dumps(fields, separators=(",", ":"))


def parse_json_compact(text: str, path: str = "position") -> Fields:
    """Return the fields that `json_compact` has written."""
    fields = parse_json(text, path)
    if not isinstance(fields, dict):
        raise bad_compact(path, f"given {quote(fields)} after the header; expected an object")
    return fields


@dataclass(frozen=True)
class Text:
    """Actions and positions as text and JSON.

    Attributes
    ----------
    parse_action : (text, path="action") -> int
        The integer of an action or a random event; whether it is legal is not checked. Called for every action that
        comes from a person, a record or an engine. `text` is a verb and its operands, separated by single spaces; it
        may not even be a string. NotationError if it is not one action in its canonical spelling.
    format_action : (action) -> str
        The text of an action's integer; the inverse of `parse_action`. Called for every action that is shown. One
        position may have thousands, so consider a cache. NotationError, reason BAD_ACTION, if the integer is none.
    parse_position : (data, path="position") -> State
        The state of a JSON position: a full one or, if the game has `Views`, a seat's view. `data` is what `json.loads`
        returns, with the keys `game` (already checked), `version` and the game's own, among them `players` and
        `to_move`; it is not changed. Every path in errors begins with `path`. NotationError if it does not have the
        shape of a position, or its version is unknown; PositionError if it breaks an invariant. Both list all faults
        (`mexica_ai.io.strict.Findings`).
    format_position : (state) -> dict
        The JSON object of a state in canonical form; the inverse of `parse_position`. A new object for each call,
        since callers change it. Equal states give equal objects with the same order of keys.
    format_compact : (data) -> str
        The fields of a compact position, one line of printable ASCII without the header, from an object of
        `format_position`. Default: the JSON object without blanks, `game` and `version`.
    parse_compact : (text, path="position") -> dict
        The JSON position of compact fields; the inverse of `format_compact`. `game` and `version` may be missing.
        `parse_position` checks what the fields say. NotationError, reason BAD_COMPACT, if they cannot be read.
    from_message : (data) -> dict
        The JSON position, without `game`, that a protobuf message represents. The message has the field names of the
        JSON form and is converted field by field. Correct here what protobuf cannot express: an absent list arrives
        as an empty one, and an unset field with presence is missing. `data` has the message's types; it may be
        changed. Default: `data`.
    """

    parse_action: Callable[..., int]
    format_action: Callable[[int], str]
    parse_position: Callable[..., State]
    format_position: Callable[[State], Fields]
    format_compact: Callable[[Fields], str] = json_compact
    parse_compact: Callable[..., Fields] = parse_json_compact
    from_message: Callable[[Fields], Fields] = lambda data: data


@dataclass(frozen=True)
class Option:
    """One option of a new game, for the command line, the service and `mexica_ai.new_game`.

    Parameters
    ----------
    name : str
        The keyword of `Starts.new_state`, and the field of the game's message in ``NewGameRequest``.
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
        The value that `new_state` takes if it is missing, for forms that show it. By default False for a
        bool, else unknown.
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


@dataclass(frozen=True)
class Starts:
    """New games.

    Attributes
    ----------
    new_state : (players, seed, **options) -> State
        Deals a new game. `players`, the number of seats, is not checked yet. `seed`, 0 <= seed < 2**63, is the only
        source of randomness: the same arguments deal the same game. The options are any of `options`, of any type;
        None means the default, like a missing option. `mexica_ai.new_game` rejects other names. NotationError if an
        argument is of the wrong type; PositionError if one is out of range, `players` included. Paths begin with
        ``options.``.
    options : tuple of Option
        In the order of the help. Default: none.
    examples : tuple of str
        Examples of the options for the help of ``mexica-ai new``, such as ``--piles 3,4,5``, one line each. The help
        adds ``--game`` if the game is not the default. Default: none.
    """

    new_state: Callable[..., State]
    options: tuple[Option, ...] = ()
    examples: tuple[str, ...] = ()


@dataclass(frozen=True)
class Views:
    """The position as one seat sees it: for games in which seats see different things.

    Attributes
    ----------
    view : (data, seat) -> dict
        The JSON position that a seat may see, without what is hidden from it, of an object of `Text.format_position`.
        None: what a spectator sees, which is what all seats see; it can be made of a seat's view, too.
        A seat's view of its own view is the same view. The seat's `view_hash` is the same in its view and in the full
        position; if it is to move, so are the legal actions. NotationError if `seat` is not an integer; PositionError
        if there is no such seat (reason OUT_OF_RANGE), or `data` is the view of another seat (VIEWER_MISMATCH).
    viewer : (state) -> int or None
        The seat whose view the state is; `mexica_ai.game.text_forms.SPECTATOR` for a spectator's; None for a full
        position.
    world_of : (state, seed) -> State
        A full state that agrees with what a seat's view shows, drawn from all that do; 0 <= seed < 2**63.
        PositionError, reason NO_WORLD, if no such state was found.
    deal_for : (state, viewer, action) -> bool
        Replaces what a viewer does not see, in place, so that an action is legal; False if no such world exists.
        `state` is the view of the seat `viewer` with some world in place of what is hidden, `action` one of another
        seat, or an outcome of the random event that is due. The new world agrees with everything that `viewer` has
        seen.
    is_secret : (action, after) -> bool
        Whether only its seat knows the operands of an action (its text), or of the random event of its turn; `after`
        is the position after it. Must not depend on what is hidden, since others see the answer.
    check_uncovered : (state) -> None
        Refuses a turn in a seat's view that uncovers what the seat has not seen and does not name it; called with the
        state after the turn. PositionError, reason NOT_UNCOVERED, undoes the turn. Default: nothing is refused.
    """

    view: Callable[[Fields, int | None], Fields]
    viewer: Callable[[State], int | None]
    world_of: Callable[[State, int], State]
    deal_for: Callable[[State, int, int], bool]
    is_secret: Callable[[str, Fields], bool]
    check_uncovered: Callable[[State], None] = lambda state: None


@dataclass(frozen=True)
class Secrets:
    """Information that a position hides from all seats, or does not have.

    Attributes
    ----------
    has_one_world : (state) -> bool
        Whether the position determines everything that will still be uncovered; the order in which a bag or a deck
        will be drawn does not count. If True, a search does not have to deal hidden cards or tokens. Default: True.
    redact : (data) -> dict, optional
        The JSON position without what is hidden from all seats; `data` is an object of `Text.format_position` and may
        be changed. Not needed where the views hide it.
    """

    has_one_world: Callable[[State], bool] = lambda state: True
    redact: Callable[[Fields], Fields] | None = None


@dataclass(frozen=True)
class Events:
    """Random events.

    Attributes
    ----------
    draw_outcome : (state, seed) -> int, optional
        An outcome of the random event that is due, as an action that `Text.format_action` can write. The same seed
        gives the same outcome, and ``state.resolve_chance(seed)`` has the effect of the action. Needed if
        `settle_chance` leaves an event due.
    settle_chance : (state) -> None
        Resolves, in place, the random event that is due, if records do not contain it because the position itself
        determines the outcome; called after a turn that leads to an event. PositionError, which undoes the turn, if
        the position should determine the outcome but does not. Default: the event stays due until it is drawn or
        pushed as a turn.
    """

    draw_outcome: Callable[[State, int], int] | None = None
    settle_chance: Callable[[State], None] = lambda state: None


def menu_entry(action: str, fields: Fields) -> Entry:
    """Return the entry of an action that is chosen by its text alone."""
    return Entry("", (choice(action, action.partition(" ")[2], Kind.UNSPECIFIED),))


@dataclass(frozen=True)
class Picture:
    """Pictures of positions, and entering actions on them (`mexica_ai.game.entry`).

    Attributes
    ----------
    draw : (fields, *, viewer, turn, theme, parts, targets, shares) -> str, optional
        A picture as SVG of a position as `Text.format_position` returns it. An editor may pass a faulty one: what
        cannot be read is left out. `viewer` is the seat that looks on, or None. `turn` is a sequence of (action,
        fields), a turn from this position with the position after each action: the picture shows the last one, with
        what is new marked. `theme` is light, dark or page: then elements have classes instead of colours. `parts`
        says what to draw; all by default. `targets`: whether elements that can be clicked have ``data-target``,
        and others that `Teaching.hints` has words for ``data-hint``.
        `shares` is the expected share of the win of each seat, or None. Without it, a page shows the board as text.
    parts : tuple of str
        The parts that `draw` can draw alone, in order.
    tools : tuple of Tool
        The kinds of actions that a person chooses from, in the order of their buttons.
    entry : (action, fields) -> Entry
        How a person enters a legal action, as text, in a position, and what it names: for the page, and for clients
        that get actions as data (`mexica_ai.game.details`). Default: chosen by its text alone.
    describe_targets : (fields) -> dict of str to str
        Descriptions of the picture's targets, for people who do not see it. Default: none.
    grid : dict, optional
        The ``rows`` and ``columns`` of the picture's targets if those are a grid, as A and 1 of A1.
    """

    draw: Callable[..., str] | None = None
    parts: tuple[str, ...] = ()
    tools: tuple[Tool, ...] = ()
    entry: Callable[[str, Fields], Entry] = menu_entry
    describe_targets: Callable[[Fields], dict[str, str]] = lambda fields: {}
    grid: Mapping[str, list[str]] | None = None


@dataclass(frozen=True)
class Reasons:
    """Explanations of actions in words.

    Attributes
    ----------
    why_illegal : (fields, action, is_legal) -> str
        Why an action is not legal: a clause such as ``no bridge is left``; "" says nothing. Called for errors, with a
        position that the seat to move may see and the text of an action that is not legal; `is_legal(fields)` tells
        whether the action is legal in another JSON position. Never says of a legal action that it is not.
    describe_effects : (before, after, seat) -> list of str
        The immediate effects of a seat's action, as clauses such as ``leads the district of 12, 5 levels to 3``,
        from the JSON positions before and after it. Points, costs and whole numbers of the seats, such as a stock of
        corn, are shown anyway. Default: nothing.
    spends : tuple of str
        Keys of what actions cost, in the JSON position or in that of a seat, each a number. Default: none.
    serves : (action, turn, before, then) -> str
        What an action is for, as a clause such as ``for add 1 head K, expected in its next turn``, if the seat's next
        turn that a search expects, a sequence of actions, uses what the action took or placed; "" if it does not.
        `before` and `then`: the positions before the action and that turn. Needed only for what the rules alone do not
        show: whether later actions are legal without it is found anyway. Default: nothing.
    stocks : (state) -> dict, optional
        The part of the JSON position that has the keys of `spends`, where that is faster to make: it is asked for after
        each legal action. Default: the whole, `Text.format_position`.
    """

    why_illegal: Callable[[Fields, str, Callable[[Fields], bool]], str] = lambda fields, action, is_legal: ""
    describe_effects: Callable[[Fields, Fields, int], list[str]] = lambda before, after, seat: []
    spends: tuple[str, ...] = ()
    serves: Callable[[str, Sequence[str], Fields, Fields], str] = lambda action, turn, before, then: ""
    stocks: Callable[[State], Fields] | None = None


@dataclass(frozen=True)
class Clicks:
    """What a page says of the actions that a person chooses from, and of what cannot be (`mexica_ai.game.clicks`).

    Attributes
    ----------
    gain : (fields, action, play) -> Gain
        What a legal action, as text, brings, from a position that the seat to move may see. `play()` returns the JSON
        position after it. Asked for all legal actions, so consider to call `play` only where that is needed. Default:
        nothing.
    meant : (fields, tool, targets) -> list of str
        The actions, as text, that a person may mean who chooses a tool and clicks targets of the picture, in any order
        and not all of them; the likeliest first. They are asked for why they are not legal. The targets may be any of
        `Picture.describe_targets`. Empty if the tool has nothing to do with them. Default: always.
    plain : (words) -> str
        A reason of `Reasons.why_illegal` without the codes that only text forms use. Default: as it is.
    wasted : (fields) -> str
        What the seat to move gives up if it ends its turn, such as ``2 AP``; "" for nothing. Default: nothing.
    walks : tuple of str
        Verbs of actions that move one piece to the first target of their entry: several in a row are offered as one, to
        where the last one leads. Default: none.
    """

    gain: Callable[[Fields, str, Callable[[], Fields]], Gain] = lambda fields, action, play: Gain()
    meant: Callable[[Fields, str, Sequence[str]], list[str]] = lambda fields, tool, targets: []
    plain: Callable[[str], str] = lambda words: words
    wasted: Callable[[Fields], str] = lambda fields: ""
    walks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Words:
    """Actions in the words of the rules, for people: lists of turns, and what the others play (`mexica_ai.game.words`).

    Attributes
    ----------
    tell : (actions, before, after) -> str
        A clause in the past tense without its subject, such as ``founded 12 at B4``, of one action or of several that
        are told together; of a random event, what has come. "" leaves out what only ends a turn. Without points, which
        are shown anyway, and without seats. `before` and `after` are JSON positions. They are views, if a seat is
        told; then an action of which it must not know the operands is its first word alone. Default: the text form.
    joins : (actions, following) -> bool
        Whether an action is told together with those before it, such as the steps of a walk. Default: no action is.
    round_of : (fields) -> str
        The caption of the round in which a turn from this position is played, such as ``Round 3``. Default: none.
    """

    tell: Callable[[Sequence[str], Fields, Fields], str] = lambda actions, before, after: "; ".join(actions)
    joins: Callable[[Sequence[str], str], bool] = lambda actions, following: False
    round_of: Callable[[Fields], str] = lambda fields: ""


@dataclass(frozen=True)
class Learning:
    """The part of a game for learning: the layouts of observations, actions and weights.

    Attributes
    ----------
    schema : Schema, optional
        The layout of `GameOps.observe`.
    weights : WeightsSpec, optional
        The layout of the game's weights; needed exactly if the compiled game has weights.
    varied : (start, random) -> dict, optional
        A JSON position with other things in the seats' hands than `start` has; some games of self-play begin there.
    calibration : path, optional
        The file of the fitted maps between the shares of the win that searches find and those that are published
        (`mexica_ai.analysis.calibration`). Without it, or with other weights than the maps', they are as found.
    planner : (state, weights, temper) -> list of int, optional
        The actions of a turn by the engine `planner`, of another style than the search's. The temper, from 0, chooses
        among its likings. What the state hides has been dealt.
    actions : Schema, optional
        The layout of `GameOps.observe_actions`.
    """

    schema: Schema | None = None
    weights: WeightsSpec | None = None
    varied: Callable[[Fields, random.Random], Fields] | None = None
    calibration: Path | None = None
    planner: Callable[[State, Weights | None, int], list[int]] | None = None
    actions: Schema | None = None


@dataclass(frozen=True)
class Opinion:
    """An engine's answer about one action that seats may agree on.

    Parameters
    ----------
    action : str
        As text.
    agrees : bool
        Whether the engine agrees to it.
    reason : str
        Why, in UPPER_SNAKE; the game documents its reasons.
    explanation : str
        The reason as a sentence.
    places : list of str
        The places of the position that it is about, as the game spells them; may be empty.
    evidence : list of str
        Actions that show why the engine does not agree, in any order; may be empty.
    """

    action: str
    agrees: bool
    reason: str
    explanation: str
    places: list[str]
    evidence: list[str]


@dataclass(frozen=True)
class Proposals:
    """Actions that need an agreement: the seat to move may play them once all seats have agreed.

    `mexica_ai.consider_proposal` asks an engine. The rules do not know who has agreed: to them the actions are legal.

    Attributes
    ----------
    offered : (state) -> list of str
        The actions that may be proposed in a position, in a fixed order; one that may be agreed on several times is
        repeated. An action may be offered before it is legal.
    judge : (state, actions) -> list of Opinion
        An engine's opinion about each of some offered actions, in their order. Of equal actions, each is judged as if
        only the earlier ones had been agreed on. An engine agrees only if it has a proof.
    label : str
        Caption of the button that asks for them.
    question : str
        The sentence that asks people to agree.
    """

    offered: Callable[[State], list[str]]
    judge: Callable[[State, Sequence[str]], list[Opinion]]
    label: str
    question: str


@dataclass(frozen=True)
class Teaching:
    """Learning the game: `mexica_ai.game.teaching` says all of it in a language.

    Attributes
    ----------
    folder : path
        Of the texts: ``rules.LANGUAGE.md``, the rules in words; ``LANGUAGE.json``, texts by key
        (`mexica_ai.game.phrases`); and perhaps ``guide.json``, a guided first game (`mexica_ai.game.guide`). English is
        always there.
    legend : tuple of str
        The signs of the pictures, in order: for NAME the texts have ``legend.NAME`` and ``legend.NAME.words``.
    hints : (fields) -> dict of str to Phrase
        Words for the signs, cards and numbers of the picture of a position: by target (``data-target``), or by the
        mark of what is no target (``data-hint``). `fields` is what the person who reads them may see.
    score_sheet : (start, moves) -> list of ScoreRow
        Where the points came from in a game from the JSON position `start` on, by its actions and random events. The
        rows add up to what the scores have grown.
    projected : (fields) -> list of float
        The points that each seat would get if the game were scored as it stands. What that means is for the game to
        say; after the end it is the score.
    """

    folder: Path
    legend: tuple[str, ...]
    hints: Callable[[Fields], dict[str, Phrase]]
    score_sheet: Callable[[Fields, Sequence[Move]], list[ScoreRow]]
    projected: Callable[[Fields], list[float]]


def whole_scores(state: State) -> list[float]:
    """Return the points of each seat as the compiled core counts them, as integers."""
    return [int(points) for points in state.scores()]


@dataclass(frozen=True, eq=False, repr=False)
class Game:
    """A game and everything that belongs to it; its rules, text, starts and board are required.

    Attributes
    ----------
    name : str
        In `mexica_ai.game.registry`, in the key `game` of positions, in the `oneof` of the proto.
    rules : cext.core.contract.game.Game
        The compiled rules, ``GAME`` of the game's ``ops``.
    text : Text
    starts : Starts
    board : (state) -> str
        The position as lines of text that a person can read quickly; used by `str(position)`. Must work for views, for
        positions in which a random event is due, and after the end of the game.
    title : str
        The name in headings. Default: the name with a capital.
    scores : (state) -> list of float
        The points of each seat as they stand. Default: those of the compiled core, as integers.
    views : Views, optional
        Needed if seats see different things.
    secrets : Secrets
        Needed if a position may hide something from all seats, or not know it.
    events : Events, optional
        Needed if there are random events.
    picture : Picture
        Without one, the board is shown as text.
    editor : Editor, optional
        The brushes and controls of an editor of positions; without one a position is edited as JSON.
    reasons : Reasons
    clicks : Clicks
    words : Words
    learning : Learning
    proposals : Proposals, optional
        Needed if there are actions on which seats must agree.
    teaching : Teaching, optional
        Rules in words, hints, a guided first game and a sheet of the scores; without it a page has none.
    level_errors : dict
        How levels err where they do not err as `mexica_ai.analysis.levels.LEVELS` says: by level, the deviation and
        the prior noise of `mexica_ai.analysis.levels.Level`. Default: none.
    """

    name: str
    _: KW_ONLY
    rules: Rules
    text: Text
    starts: Starts
    board: Callable[[State], str]
    title: str = ""
    scores: Callable[[State], list[float]] = whole_scores
    views: Views | None = None
    secrets: Secrets = Secrets()
    events: Events | None = None
    picture: Picture = Picture()
    editor: Editor | None = None
    reasons: Reasons = Reasons()
    clicks: Clicks = Clicks()
    words: Words = Words()
    learning: Learning = Learning()
    proposals: Proposals | None = None
    teaching: Teaching | None = None
    level_errors: Mapping[int, tuple[float, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.title:
            object.__setattr__(self, "title", self.name.capitalize())

    def __repr__(self) -> str:
        return f"<Game {self.name}>"

    def weights(self) -> Weights | None:
        """Return the weights that ship with the game (`mexica_ai.game.weights.shipped`); None if it has none."""
        return None if self.learning.weights is None else files_of_weights.shipped(self.learning.weights)

    def draw_outcome(self, state: State, seed: int) -> int:
        """Return an outcome of the random event that is due; see `Events`."""
        if self.events is None or self.events.draw_outcome is None:
            raise RuntimeError(f"{self.name}: a random event is due, but the game has no Events.draw_outcome")
        return self.events.draw_outcome(state, seed)

    def redact(self, data: Fields) -> Fields:
        """Return the JSON position, in which a seat is to move, that may be shown to this seat; may change `data`."""
        return self.seen_by(data, data["to_move"])

    def seen_by(self, data: Fields, seat: int | None) -> Fields:
        """Return the JSON position that may be shown to a seat, or to a spectator (None); may change `data`."""
        if self.secrets.redact is not None:
            data = self.secrets.redact(data)
        return data if self.views is None else self.views.view(data, seat)

    def why_illegal(self, state: State, action: str) -> str:
        """Return why an action, as text, is not legal; "" if there is nothing to say. See `Reasons`."""

        def is_legal(data: Fields) -> bool:
            other = try_parse(self.text.parse_position, data)
            return other is not None and other.is_legal(number)

        number = self.text.parse_action(action)
        return self.reasons.why_illegal(self.text.format_position(state), action, is_legal)


def try_parse(parse_position: Callable[[Fields], State], data: Fields) -> State | None:
    """Return the state of a JSON position; None if it is no valid one."""
    try:
        return parse_position(data)
    except (NotationError, PositionError):
        return None
