"""The JSON that the scripts of the page get; `.ci/script-types` writes `static/snapshot.d.ts` from here."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

Waiting = Literal["person", "engine", "event", "guide", "over"]


class SeatJson(TypedDict):
    """The player of a seat."""

    kind: Literal["person", "engine"]
    level: NotRequired[int | None]
    name: NotRequired[str | None]  # of a person, or of a named engine
    seconds: NotRequired[float | None]
    title: str


class ClockJson(TypedDict):
    """The clocks of the persons, in seconds."""

    bank: float
    increment: float
    left: list[float | None]  # None: no person's
    running: int | None  # the seat whose time runs now
    fallen: list[int]


class StepJson(TypedDict):
    """An action of the turn that is being entered."""

    action: str
    text: str  # its costs and points
    words: str


class DraftJson(TypedDict):
    """The turn that is being entered."""

    actions: list[str]
    steps: list[StepJson]
    can_end: bool
    end: str | None  # the action that only ends it
    is_ended: bool
    left: str  # what can still be spent
    wasted: str  # what its end gives up
    commit: str  # the caption of the button that ends it
    why_not: str  # why it cannot end
    warning: str


class EntryJson(TypedDict):
    """A legal action."""

    action: str
    tool: str
    targets: list[str]
    cost: str
    brings: str
    is_empty: NotRequired[bool]


class WalkJson(TypedDict):
    """Several actions that are one choice."""

    actions: list[str]
    tool: str
    targets: list[str]
    cost: str


class TurnJson(TypedDict):
    """A turn, or a random event, as the viewer has seen it."""

    index: int
    seat: int | None
    actions: list[str]
    text: str
    words: str
    steps: list[str]  # only of the newest turns
    round: str
    scores: list[float]
    scored: list[float]


class GuideJson(TypedDict):
    """How far the guided first game is."""

    step: int  # its index; `of` at the end
    of: int
    done: list[str]  # targets of what is done of the step, which need not be pointed at any more


class ThinkingJson(TypedDict):
    """An engine at its turn."""

    seat: int
    seconds: float
    state: str
    message: str


class ToldJson(TypedDict):
    """A turn of an expected line."""

    seat: int | None
    words: str


class CandidateJson(TypedDict):
    """A turn of an analysis."""

    turn: list[str]
    visits: int
    value: list[float]
    expected_scores: list[float]
    line: list[list[str]]
    target: str  # of the picture: where the turn begins; "" nowhere
    words: str
    line_words: list[ToldJson]


class AnalysisJson(TypedDict):
    """An analysis, running or ended."""

    key: str
    at: int
    line: list[list[str]]
    draft: list[str]
    viewer: int | None
    guessed: bool
    seat: int | None
    candidates: list[CandidateJson]
    iterations: int
    seconds: float
    speed: float
    stop_reason: str
    stop_text: str
    why: list[str]


class EvaluationJson(TypedDict):
    """A turn that is evaluated."""

    turn_index: int
    seat: int
    loss: float
    mark: str
    choice: list[str]
    choice_text: str
    choice_words: str
    is_choice: bool
    grade: str
    is_unsure: bool
    explanation: list[str]
    answer: list[str]  # that the search expects
    answer_text: str
    answer_words: str
    shares: list[float]  # of the win, after the turn


class AnnotationJson(TypedDict):
    """The annotation of a game."""

    state: str
    message: str
    seconds: float | None
    done: int
    of: int
    turns: NotRequired[list[EvaluationJson]]


class LineTurnJson(TypedDict):
    """A turn of a line beside the game."""

    actions: list[str]
    text: str
    words: str
    seat: int | None
    comment: str


class LineJson(TypedDict):
    """A line beside the game, which leaves it or another line after `at` turns from the start of the game."""

    path: str
    at: int
    comment: str
    turns: list[LineTurnJson]


class VerdictJson(TypedDict):
    """What a turn at an exercise is worth."""

    loss: float
    is_solved: bool
    text: str


class DrillSummaryJson(TypedDict):
    """How much of a drill is solved."""

    of: int
    solved: int
    points: int


class DrillJson(DrillSummaryJson):
    """The exercise that is shown."""

    number: int
    seat: int
    source: str
    source_turn: int
    turn: list[str]
    text: str
    words: str
    loss: float
    state: Literal["enter", "judging", "done"]
    message: str
    hint: str
    hint_words: str
    verdict: VerdictJson | None
    better: list[str] | None
    better_text: str | None
    better_words: str | None
    better_share: float | None


class ShownJson(TypedDict):
    """The part of a snapshot that a handover leaves out."""

    turns: list[TurnJson]
    draft: DraftJson
    entries: list[EntryJson]
    walks: list[WalkJson]
    blocked: dict[str, str]  # tool: why it has no legal action
    targets: dict[str, str]  # target of the picture: what is there
    text: str
    compact: str
    lines: list[LineJson]
    comments: dict[str, str]  # on the turns that were played, by the number of turns so far


class StateJson(ShownJson):
    """The part of a snapshot that changes only with its version."""

    id: str
    run: str  # of the process
    build: str  # the version of the package
    game: str
    version: int
    players: int
    created: str
    seats: list[SeatJson]
    names: list[str]
    viewer: int | None
    handover: int | None
    guest: int | None  # the seat of a page that was opened by an invitation
    away: list[int]  # the seats that are played by invitations
    is_mine: bool  # whether this page is to move
    open: bool
    scores: list[float]
    to_move: int | None
    is_over: bool
    resigned: int | None
    winners: list[int]
    waiting: Waiting
    can_take_back: bool
    num_turns: int
    guide: GuideJson | None


class Snapshot(StateJson):
    """The state of a game, as a page shows it."""

    thinking: ThinkingJson | None
    analysis: AnalysisJson | None
    annotation: AnnotationJson
    drill: DrillJson | None
    clock: ClockJson | None


class SummaryJson(TypedDict):
    """A game in the list of games; of one that cannot be read, its id and the error."""

    id: str
    game: NotRequired[str]
    created: NotRequired[str]
    seats: NotRequired[list[SeatJson]]
    turns: NotRequired[int]
    is_over: NotRequired[bool]
    scores: NotRequired[list[float]]
    winners: NotRequired[list[int]]
    drill: NotRequired[DrillSummaryJson | None]
    guide: NotRequired[GuideJson | None]
    error: NotRequired[str]


class LevelJson(TypedDict):
    """A level: its name, a sentence about it, and by game how strong it is; None: not measured."""

    level: int
    name: str
    words: str
    strength: dict[str, str | None]


class ResultJson(TypedDict):
    """A finished game of the owner."""

    id: str
    game: str
    seat: int
    level: int  # of all others; 0: others
    share: float  # of the win
    scores: list[float]
    begun: str


class RowJson(TypedDict):
    """The results in a game against a level."""

    game: str
    level: int
    games: int
    wins: int
    shared: int
    losses: int
    share: float
    share_of_points: float | None
    trend: str


class NextJson(TypedDict):
    """The level that comes next in a game."""

    level: int
    words: str


class ResultsJson(TypedDict):
    """The owner's results, the newest first, and what follows from them."""

    levels: list[LevelJson]
    results: list[ResultJson]
    statistics: list[RowJson]
    next: dict[str, NextJson]


class OptionInfo(TypedDict):
    """An option of a new game."""

    name: str
    help: str
    kind: Literal["bool", "int", "ints"]
    default: bool | int | list[int] | None


class ToolInfo(TypedDict):
    """A tool, which groups actions."""

    name: str
    key: str
    label: str
    any_order: bool
    is_priced: bool


class GridInfo(TypedDict):
    """The grid of a board."""

    rows: list[str]
    columns: list[str]


class ProposalsInfo(TypedDict):
    """What players may agree on."""

    label: str
    question: str


class ExampleInfo(TypedDict):
    """An example."""

    name: str
    kind: Literal["record", "position"]


class GameInfo(TypedDict):
    """A game that can be played."""

    name: str
    title: str
    players: list[int]
    parts: list[str]  # of its picture
    options: list[OptionInfo]
    tools: list[ToolInfo]
    grid: GridInfo | None
    proposals: ProposalsInfo | None
    examples: list[ExampleInfo]
    languages: list[str]  # of its rules in words; none without them
    has_guide: bool


class CapsInfo(TypedDict):
    """The most that can be asked for, and the bytes of a request that sends a file."""

    seconds: float
    candidates: int
    body: int


class Info(TypedDict):
    """What there is."""

    games: list[GameInfo]
    levels: list[int]
    levels_default: int
    engines: list[str]
    caps: CapsInfo


class BlockJson(TypedDict):
    """A paragraph, a list or a table: rows of cells, each a text as runs of which each second one is strong."""

    kind: Literal["text", "list", "numbers", "table"]
    rows: list[list[list[str]]]


class SectionJson(TypedDict):
    """A section of the rules."""

    name: str  # the same in all languages
    title: str
    level: int
    blocks: list[BlockJson]


class SignJson(TypedDict):
    """A sign of a game's pictures."""

    sign: str
    words: str


class RulesJson(TypedDict):
    """The rules of a game in words."""

    title: str
    languages: list[str]
    sections: list[SectionJson]
    legend: list[SignJson]


class GuideStepInfo(TypedDict):
    """A step of a guided first game."""

    do: str
    why: str
    look: list[str]  # targets and marks of the picture to point at


class GuideInfo(TypedDict):
    """The words of a guided first game."""

    intro: str
    end: str
    steps: list[GuideStepInfo]


class HintsJson(TypedDict):
    """Words for what a picture shows."""

    hints: dict[str, str]  # by target, or mark of what is no target


class ProjectedJson(TypedDict):
    """The points of the seats if a position were scored."""

    points: list[float] | None


class ScoreRowJson(TypedDict):
    """Where points came from."""

    section: str
    label: str
    points: list[float]


class SheetJson(TypedDict):
    """The score sheet of a game."""

    rows: list[ScoreRowJson]
