// Written by .ci/script-types from mexica_ai/web/snapshot_types.py.

/** The player of a seat. */
export interface SeatJson {
  kind: 'person' | 'engine';
  level?: number | null;
  name?: string | null;
  seconds?: number | null;
  title: string;
}

/** The clocks of the persons, in seconds. */
export interface ClockJson {
  bank: number;
  increment: number;
  left: Array<number | null>;
  running: number | null;
  fallen: Array<number>;
}

/** An action of the turn that is being entered. */
export interface StepJson {
  action: string;
  text: string;
  words: string;
}

/** The turn that is being entered. */
export interface DraftJson {
  actions: Array<string>;
  steps: Array<StepJson>;
  can_end: boolean;
  end: string | null;
  is_ended: boolean;
  left: string;
  wasted: string;
  commit: string;
  why_not: string;
  warning: string;
}

/** A legal action. */
export interface EntryJson {
  action: string;
  tool: string;
  targets: Array<string>;
  cost: string;
  brings: string;
  is_empty?: boolean;
}

/** Several actions that are one choice. */
export interface WalkJson {
  actions: Array<string>;
  tool: string;
  targets: Array<string>;
  cost: string;
}

/** A turn, or a random event, as the viewer has seen it. */
export interface TurnJson {
  index: number;
  seat: number | null;
  actions: Array<string>;
  text: string;
  words: string;
  steps: Array<string>;
  round: string;
  scores: Array<number>;
  scored: Array<number>;
}

/** How far the guided first game is. */
export interface GuideJson {
  step: number;
  of: number;
  done: Array<string>;
}

/** An engine at its turn. */
export interface ThinkingJson {
  seat: number;
  seconds: number;
  state: string;
  message: string;
}

/** A turn of an expected line. */
export interface ToldJson {
  seat: number | null;
  words: string;
}

/** A turn of an analysis. */
export interface CandidateJson {
  turn: Array<string>;
  visits: number;
  value: Array<number>;
  expected_scores: Array<number>;
  line: Array<Array<string>>;
  target: string;
  words: string;
  line_words: Array<ToldJson>;
}

/** An analysis, running or ended. */
export interface AnalysisJson {
  key: string;
  at: number;
  line: Array<Array<string>>;
  draft: Array<string>;
  viewer: number | null;
  guessed: boolean;
  seat: number | null;
  candidates: Array<CandidateJson>;
  iterations: number;
  seconds: number;
  speed: number;
  stop_reason: string;
  stop_text: string;
  why: Array<string>;
}

/** A turn that is evaluated. */
export interface EvaluationJson {
  turn_index: number;
  seat: number;
  loss: number;
  mark: string;
  choice: Array<string>;
  choice_text: string;
  choice_words: string;
  is_choice: boolean;
  grade: string;
  is_unsure: boolean;
  explanation: Array<string>;
  answer: Array<string>;
  answer_text: string;
  answer_words: string;
  shares: Array<number>;
}

/** The annotation of a game. */
export interface AnnotationJson {
  state: string;
  message: string;
  seconds: number | null;
  done: number;
  of: number;
  turns?: Array<EvaluationJson>;
}

/** A turn of a line beside the game. */
export interface LineTurnJson {
  actions: Array<string>;
  text: string;
  words: string;
  seat: number | null;
  comment: string;
}

/** A line beside the game, which leaves it or another line after `at` turns from the start of the game. */
export interface LineJson {
  path: string;
  at: number;
  comment: string;
  turns: Array<LineTurnJson>;
}

/** What a turn at an exercise is worth. */
export interface VerdictJson {
  loss: number;
  is_solved: boolean;
  text: string;
}

/** How much of a drill is solved. */
export interface DrillSummaryJson {
  of: number;
  solved: number;
  points: number;
}

/** The exercise that is shown. */
export interface DrillJson {
  of: number;
  solved: number;
  points: number;
  number: number;
  seat: number;
  source: string;
  source_turn: number;
  turn: Array<string>;
  text: string;
  words: string;
  loss: number;
  state: 'enter' | 'judging' | 'done';
  message: string;
  hint: string;
  hint_words: string;
  verdict: VerdictJson | null;
  better: Array<string> | null;
  better_text: string | null;
  better_words: string | null;
  better_share: number | null;
}

/** The part of a snapshot that a handover leaves out. */
export interface ShownJson {
  turns: Array<TurnJson>;
  draft: DraftJson;
  entries: Array<EntryJson>;
  walks: Array<WalkJson>;
  blocked: Record<string, string>;
  targets: Record<string, string>;
  text: string;
  compact: string;
  lines: Array<LineJson>;
  comments: Record<string, string>;
}

/** The part of a snapshot that changes only with its version. */
export interface StateJson {
  turns: Array<TurnJson>;
  draft: DraftJson;
  entries: Array<EntryJson>;
  walks: Array<WalkJson>;
  blocked: Record<string, string>;
  targets: Record<string, string>;
  text: string;
  compact: string;
  lines: Array<LineJson>;
  comments: Record<string, string>;
  id: string;
  run: string;
  build: string;
  game: string;
  version: number;
  players: number;
  created: string;
  seats: Array<SeatJson>;
  names: Array<string>;
  viewer: number | null;
  handover: number | null;
  guest: number | null;
  away: Array<number>;
  is_mine: boolean;
  open: boolean;
  scores: Array<number>;
  to_move: number | null;
  is_over: boolean;
  resigned: number | null;
  winners: Array<number>;
  waiting: 'person' | 'engine' | 'event' | 'guide' | 'over';
  can_take_back: boolean;
  num_turns: number;
  guide: GuideJson | null;
}

/** The state of a game, as a page shows it. */
export interface Snapshot {
  turns: Array<TurnJson>;
  draft: DraftJson;
  entries: Array<EntryJson>;
  walks: Array<WalkJson>;
  blocked: Record<string, string>;
  targets: Record<string, string>;
  text: string;
  compact: string;
  lines: Array<LineJson>;
  comments: Record<string, string>;
  id: string;
  run: string;
  build: string;
  game: string;
  version: number;
  players: number;
  created: string;
  seats: Array<SeatJson>;
  names: Array<string>;
  viewer: number | null;
  handover: number | null;
  guest: number | null;
  away: Array<number>;
  is_mine: boolean;
  open: boolean;
  scores: Array<number>;
  to_move: number | null;
  is_over: boolean;
  resigned: number | null;
  winners: Array<number>;
  waiting: 'person' | 'engine' | 'event' | 'guide' | 'over';
  can_take_back: boolean;
  num_turns: number;
  guide: GuideJson | null;
  thinking: ThinkingJson | null;
  analysis: AnalysisJson | null;
  annotation: AnnotationJson;
  drill: DrillJson | null;
  clock: ClockJson | null;
}

/** A game in the list of games; of one that cannot be read, its id and the error. */
export interface SummaryJson {
  id: string;
  game?: string;
  created?: string;
  seats?: Array<SeatJson>;
  turns?: number;
  is_over?: boolean;
  scores?: Array<number>;
  winners?: Array<number>;
  drill?: DrillSummaryJson | null;
  guide?: GuideJson | null;
  error?: string;
}

/** A level: its name, a sentence about it, and by game how strong it is; None: not measured. */
export interface LevelJson {
  level: number;
  name: string;
  words: string;
  strength: Record<string, string | null>;
}

/** A finished game of the owner. */
export interface ResultJson {
  id: string;
  game: string;
  seat: number;
  level: number;
  share: number;
  scores: Array<number>;
  begun: string;
}

/** The results in a game against a level. */
export interface RowJson {
  game: string;
  level: number;
  games: number;
  wins: number;
  shared: number;
  losses: number;
  share: number;
  share_of_points: number | null;
  trend: string;
}

/** The level that comes next in a game. */
export interface NextJson {
  level: number;
  words: string;
}

/** The owner's results, the newest first, and what follows from them. */
export interface ResultsJson {
  levels: Array<LevelJson>;
  results: Array<ResultJson>;
  statistics: Array<RowJson>;
  next: Record<string, NextJson>;
}

/** An option of a new game. */
export interface OptionInfo {
  name: string;
  help: string;
  kind: 'bool' | 'int' | 'ints';
  default: boolean | number | Array<number> | null;
}

/** A tool, which groups actions. */
export interface ToolInfo {
  name: string;
  key: string;
  label: string;
  any_order: boolean;
  is_priced: boolean;
}

/** The grid of a board. */
export interface GridInfo {
  rows: Array<string>;
  columns: Array<string>;
}

/** What players may agree on. */
export interface ProposalsInfo {
  label: string;
  question: string;
}

/** An example. */
export interface ExampleInfo {
  name: string;
  kind: 'record' | 'position';
}

/** A game that can be played. */
export interface GameInfo {
  name: string;
  title: string;
  players: Array<number>;
  parts: Array<string>;
  options: Array<OptionInfo>;
  tools: Array<ToolInfo>;
  grid: GridInfo | null;
  proposals: ProposalsInfo | null;
  examples: Array<ExampleInfo>;
  languages: Array<string>;
  has_guide: boolean;
}

/** The most that can be asked for, and the bytes of a request that sends a file. */
export interface CapsInfo {
  seconds: number;
  candidates: number;
  body: number;
}

/** What there is. */
export interface Info {
  games: Array<GameInfo>;
  levels: Array<number>;
  levels_default: number;
  engines: Array<string>;
  caps: CapsInfo;
}

/** A paragraph, a list or a table: rows of cells, each a text as runs of which each second one is strong. */
export interface BlockJson {
  kind: 'text' | 'list' | 'numbers' | 'table';
  rows: Array<Array<Array<string>>>;
}

/** A section of the rules. */
export interface SectionJson {
  name: string;
  title: string;
  level: number;
  blocks: Array<BlockJson>;
}

/** A sign of a game's pictures. */
export interface SignJson {
  sign: string;
  words: string;
}

/** The rules of a game in words. */
export interface RulesJson {
  title: string;
  languages: Array<string>;
  sections: Array<SectionJson>;
  legend: Array<SignJson>;
}

/** A step of a guided first game. */
export interface GuideStepInfo {
  do: string;
  why: string;
  look: Array<string>;
}

/** The words of a guided first game. */
export interface GuideInfo {
  intro: string;
  end: string;
  steps: Array<GuideStepInfo>;
}

/** Words for what a picture shows. */
export interface HintsJson {
  hints: Record<string, string>;
}

/** The points of the seats if a position were scored. */
export interface ProjectedJson {
  points: Array<number> | null;
}

/** Where points came from. */
export interface ScoreRowJson {
  section: string;
  label: string;
  points: Array<number>;
}

/** The score sheet of a game. */
export interface SheetJson {
  rows: Array<ScoreRowJson>;
}
