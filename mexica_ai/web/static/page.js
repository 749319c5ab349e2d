// @ts-check
// The page: its state and its commands. Independent of the game.
import {
  find, forgetPictures, isStill, keep, lineText, loadStyle, picture, query, render, request, same, say, settings, showPicture,
} from './api.js';
import {Board} from './board.js';
import {actionsOf, Entering} from './entering.js';
import {onKey} from './keys.js';
import {placeMenu, refusalLines} from './menu.js';
import {answers, lastPlace, named, nameOf, result, shownTurn, standing} from './people.js';
import {Stream} from './stream.js';
import {followTurn} from './turns.js';
import {view} from './view.js';
import {t} from './words.js';

const STEP_MS = 350, LEAST_MS = 600, MOST_MS = 2500;  // pause for each action of a turn; for each turn; for all, about
const pause = ms => new Promise(done => { setTimeout(done, ms); });

/** @typedef {import('./snapshot').Snapshot} Snapshot */
/** @typedef {{at: number, line?: string[][], actions?: string[], turn?: number | null, count?: number | null, since?: number}} Place */

export class Page {
  /** @type {Snapshot} */ snap;
  /** @type {import('./snapshot').Info} */ info;
  /** @type {number | null} */ viewer;
  /** @type {any} */ analysis;  // that of the snapshot, with `is_running`
  /** @type {any} */ home;  // the module of the start page
  /** @type {any} */ dialogs;  // the module of the dialogs
  /** @type {any} */ rules;  // the module of the rules
  /** @type {any} */ guide;  // the module of the guided first game
  /** @type {number[] | null} */ projected;  // the points if the shown position were scored
  scoring = '';  // the position that they are of
  /** @type {import('./editor.js').Editor} */ editor;
  /** @type {import('./snapshot').SummaryJson[]} */ games;
  /** @type {import('./snapshot').SummaryJson[]} */ deleted = [];  // the last one first
  /** @type {{index: number, count: number} | null} */ shown;  // the turn that is shown action by action
  /** @type {any} */ peek;  // the candidate that is pointed at
  /** @type {number | null} */ looked;  // index of the turn that is pointed at
  /** @type {any} */ reply;  // what a dialog shows
  /** @type {any} */ own;  // the module of the own results
  /** @type {import('./snapshot').ResultsJson} */ results;
  /** @type {any} */ friends;  // the module of clocks and of persons elsewhere
  /** @type {number[] | undefined} */ present;  // the seats whose pages are open
  /** @type {string | null} */ dialog;  // the one that is open
  /** @type {((page: Page) => any) | null} */ sheet;  // the template of the score sheet, once it is loaded
  /** @type {string | null} */ open;  // the candidate that is open
  isSheet = false;  // whether the candidates are open on a narrow page
  isClosed = false;
  isGone = false;
  isLost = false;
  isCrowded = false;  // whether the server has too many pages
  /** @type {HTMLElement | null} */ anchor;  // what was clicked
  /** @type {string | undefined} */ filter;  // of the list of games
  isStopped = false;  // whether somebody has stopped the analysis
  /** @type {any} */ update;  // the last one of an analysis that the stream has brought
  /** @type {number | undefined} */ pace;  // seconds of a turn that is annotated
  lineAt = 0;  // where the side line begins
  /** @type {false | 'choice' | 'answer'} */ isChoice = false;  // whether a turn of the engine is shown: its own, or its answer
  /** @type {any} */ study;  // the module of reviews and of what is learnt from games
  /** @type {{version: number, text: string, body?: any} | null} */ checked = null;  // the turn that is looked at before it stays
  isBefore = false;
  isMoved = false;  // whether the address has led elsewhere
  isSending = false;
  /** @type {number | undefined} */ numChips;
  isCalled = false;  // whether the title says that the person is to move
  isDragged = false;
  isQuiet = false;
  entering = new Entering();
  board = new Board({
    take: (target, how) => this.take(target, how), drag: (target, tool) => this.drag(target, tool), miss: () => this.back(),
    refuse: (target, how) => this.take(target, how),
  });
  at = 0;  // number of turns before the reviewed position
  line = [];  // turns of a side line from there
  redo = [];  // actions that were undone
  mode = 'play';
  chip = null;  // index of the action after which the board is shown
  stream = new Stream(this);
  queue = Promise.resolve();

  async start() {
    keep();
    addEventListener('closed', () => this.set({isClosed: true}));
    find('#app').replaceChildren();
    this.render();
    try {
      this.info = await request('GET', '/api/info');
      const [, place, id] = location.pathname.split('/');
      if (place === 'edit') {
        const [{Editor}] = await Promise.all([import('./editor.js'), loadStyle('editor.css')]);
        this.editor = new Editor(this);
      }
      else if (place === 'g') await this.begin(await request('GET', `/api/games/${id}`));
      else [this.home, {games: this.games}] = await Promise.all([import('./home.js'), request('GET', '/api/games')]);
    } catch (error) {
      this.failure = error.message;
    }
    this.render();
    if (this.games) this.count();
  }

  // The own results, and the names of levels, once the page is there.
  async count() {
    const [own, results] = await Promise.all([import('./own.js'), request('GET', '/api/results').catch(() => null)]);
    if (results) this.set({own, results});
  }

  async begin(snapshot) {
    if (snapshot.guide) {
      this.guide = await import('./guide.js');
      await this.guide.loadGuide(snapshot.game);
    }
    this.viewer = snapshot.viewer;
    this.analysis = snapshot.analysis;
    const [isReview, number] = location.hash.match(/^#review(?:\/(\d{1,6}))?/) ?? [];
    if (isReview && !snapshot.drill) Object.assign(this, {mode: 'review', at: Number(number ?? 0)});
    this.apply(snapshot);
    addEventListener('keydown', event => onKey(this, event));
    document.addEventListener('visibilitychange', () => document.hidden && !settings.call ? this.stream.disconnect() : this.stream.connect());
    addEventListener('focus', () => this.stream.connect());
    addEventListener('popstate', () => this.learn(true));  // an address of the game that is typed or opened here
    addEventListener('pointerdown', () => this.note && this.set({note: null}));
    setInterval(() => this.snap.thinking && this.render(), 500);
    this.stream.connect();
  }

  /** @param {Partial<Page>} changes */
  set(changes) {
    Object.assign(this, changes);
    this.render();
  }

  tell(message) {
    say(message);
    this.set({message});
  }

  titleOf(name) {
    return this.info.games.find(game => game.name === name)?.title ?? name;
  }

  get game() {
    return this.info.games.find(game => game.name === this.snap.game);
  }

  // --- snapshots and events

  /** @param {Snapshot} snapshot */
  apply(snapshot, isOwn = false) {
    const old = this.snap;
    const isRestarted = old && snapshot.run !== old.run;  // the server, which counts versions anew
    if (old && !isRestarted && snapshot.version < old.version) return;
    if (isRestarted) this.message = '';
    if (old && old.drill?.number !== snapshot.drill?.number) {
      location.reload();  // another position, perhaps of another game or seat
      return;
    }
    const {turns, draft, entries} = snapshot;
    // Behind the curtain of a handover there are no turns.
    const known = old && old.handover == null ? old.turns.length : turns.length;
    // The first turn that is not as it was: the game has gone back, and perhaps as far again on another way.
    const split = old ? old.turns.findIndex(({actions}, index) => !same(actions, turns[index]?.actions)) : -1;
    if (split >= 0 || old && !same(old.names, snapshot.names)) forgetPictures();
    if (split >= 0 || turns.length !== known) this.redo = [];
    if (split >= 0 || !same(old?.draft.actions, draft.actions) || turns.length !== known) this.chip = null;
    // What was found for a position that is no more, or looked at by another person.
    const isOther = snapshot.handover != null && old?.handover == null || old && old.viewer !== snapshot.viewer;
    if (isOther || split >= 0 && split < this.analysis?.at) Object.assign(this, {analysis: null, open: null, peek: null});
    if (isOther && !snapshot.is_over) {
      Object.assign(this, {mode: 'play', line: [], redo: [], message: ''});
      say('');
      if (this.dialog === 'text') find('dialog').close();
    }
    // What was asked of one person must not be answered for the next one.
    if (this.dialog === 'resign' && old?.to_move !== snapshot.to_move) find('dialog').close();
    if (snapshot.version !== old?.version) this.note = null;
    this.at = Math.min(this.at, turns.length);
    this.snap = snapshot;
    if (!same(old?.entries, entries)) {
      this.entering.set(entries, snapshot.walks, this.game.tools);
      Object.assign(this, {isQuiet: false, isSought: false});
    }
    // Also in another way than before, while the page was hidden.
    const isEnded = old && snapshot.is_over && (!old.is_over || split >= 0 || turns.length !== known);
    if (isEnded) {
      this.review();
      this.seeAll();
    }
    const fresh = turns.slice(known);
    const heard = old?.handover != null && snapshot.handover == null ? answers(snapshot).map(index => turns[index]) : fresh;
    const told = heard.map(({seat, words}) => `${nameOf(this, seat)}: ${words}`);
    if (heard.length) told.push(standing(this, heard.at(-1).scores));
    if (isEnded) told.push(result(this));
    if (told.length) say(told.join('. '));
    const first = fresh.findIndex(({seat}) => this.isEngine(seat));
    if (first >= 0 && !isOwn && this.mode === 'play' && !isStill()) this.show(known + first);
    if (isRestarted && turns.length === known) this.putBack(old.draft.actions);
    if (old && snapshot.build !== old.build) this.inOrder(() => location.reload());  // the scripts are of another version
    if (!snapshot.is_over) this.sheet = null;
    else if (!old || isEnded) this.loadSheet();
    if (snapshot.clock || snapshot.away.length || settings.call || this.isCalled) this.meet(old);
    this.render();
  }

  // Clocks, persons elsewhere, and the call to move.
  async meet(old) {
    this.friends = await import('./friends.js');
    this.friends.follow(this, old);
    this.render();
  }

  // Everything is shown when the game is over: the view of a seat is given up.
  seeAll() {
    if (this.viewer == null) return;
    this.viewer = null;
    this.stream.disconnect();
    this.stream.connect();
  }

  async loadSheet() {
    const found = await import('./sheet.js').catch(() => this.miss());
    await found?.loadSheet(this).then(() => this.set({sheet: found.sheet}), error => this.tell(error.message));
  }

  // The turn that was being entered when the server ended.
  putBack(actions) {
    this.inOrder(() => actions.length && this.isMine && !this.snap.draft.actions.length && this.put(actions));
  }

  isEngine(seat) {
    return this.snap.seats[seat]?.kind === 'engine';
  }

  // Show turns of engines action by action. A person's turn was seen when it was entered.
  async show(first) {
    if (this.shown) return;
    const shown = this.shown = {index: first, count: 0};
    for (; this.shown === shown && shown.index < this.snap.turns.length; shown.index += 1) {
      const {actions, seat} = this.snap.turns[shown.index];
      if (seat != null && !this.isEngine(seat)) continue;
      const all = this.snap.turns.slice(first).reduce((sum, turn) => sum + turn.actions.length, 0);
      for (shown.count = 1; shown.count <= actions.length && this.shown === shown; shown.count += 1) {
        this.render();
        await pause(Math.max(Math.min(STEP_MS, MOST_MS / all), Math.min(LEAST_MS, MOST_MS / all) / actions.length));
      }
    }
    if (this.shown === shown) this.set({shown: null});
  }

  // A request about this game; null after an error, which is shown. A stale command brings the newest snapshot.
  async call(method, path, body) {
    try {
      return await request(method, `/api/games/${this.snap.id}${path}`, body);
    } catch (error) {
      if (error.snapshot) {
        const before = played(this.snap);
        this.apply(error.snapshot);
        const isSameTurn = same(before, played(this.snap));
        if (path === '/draft' && isSameTurn && this.isMine && !this.snap.draft.actions.length) await this.put(body.actions);
        this.tell(t('The game has changed in the meantime.'));
      } else this.tell(error.message);
      return null;
    }
  }

  async command(method, path, body) {
    const snapshot = await this.call(method, path, {version: this.snap.version, viewer: this.viewer, ...body});
    if (!snapshot) return false;
    this.message = '';
    this.apply(snapshot, true);
    return true;
  }

  // Commands run one after another.
  inOrder(run) {
    this.queue = this.queue.then(run, run);
    return this.queue;
  }

  // A second click does nothing.
  turn(body, isEnd = false) {
    if (this.isSending) return false;
    Object.assign(this, {isSending: true, shown: null});
    return this.inOrder(async () => {
      const {draft} = this.snap;
      const done = isEnd && !draft.can_end ? this.tell(draft.why_not ? t('The turn cannot end yet: {why}.', {why: draft.why_not}) : t('The turn cannot end yet.'))
        : await (this.snap.drill ? this.command('POST', '/drill', {do: 'answer', ...body}) : this.command('POST', '/turn', body));
      this.set({isSending: false});
      return done;
    });
  }

  /** A command of a drill. */
  answer(body) {
    this.showing = null;
    return this.inOrder(() => this.command('POST', '/drill', body));
  }

  // --- a turn

  get isMine() {
    const {waiting, handover, drill, is_mine: isMine} = this.snap;
    return this.mode === 'play' && waiting === 'person' && isMine && handover == null && !this.shown && !this.isSending
      && (!drill || drill.state === 'enter');
  }

  async put(actions, redo = []) {
    this.showing = null;
    const done = await this.command('PUT', '/draft', {actions});
    if (done) this.set({redo});
    return done;
  }

  draft(actions) {
    this.entering.reset();
    return this.inOrder(() => this.put(actions));
  }

  /** Enter an action, or a walk of several. */
  play(entry) {
    const more = actionsOf(entry);
    this.entering.played();
    return this.inOrder(() => {
      const {draft, turns, entries, walks} = this.snap;
      if (![...entries, ...walks].some(one => same(actionsOf(one), more))) return false;
      const actions = [...draft.actions, ...more];
      // Load the picture while the server answers.
      picture(this.path(this.parts, {at: turns.length, actions})).catch(() => null);
      return this.put(actions, same(this.redo.slice(0, more.length), more) ? this.redo.slice(more.length) : []);
    });
  }

  undo(number = 1) {
    return this.inOrder(() => {
      const {actions} = this.snap.draft;
      const left = Math.max(actions.length - number, 0);
      return left < actions.length && this.put(actions.slice(0, left), [...actions.slice(left), ...this.redo]);
    });
  }

  redoOne() {
    if (this.redo.length) this.play({action: this.redo[0]});
  }

  endTurn() {
    if (this.isMine) this.finishTurn({});
  }

  // End the turn, unless a check that is wanted finds that it gives much away.
  async finishTurn(body) {
    if (settings.checks && !this.snap.drill && this.snap.guest == null && (body.actions || this.snap.draft.can_end)) {
      await this.learn().catch(() => null);  // then without
      if (await this.study?.isDoubtful(this, body)) return false;
    }
    return this.turn(body, !body.actions);
  }

  /** Play the turn that is in doubt. */
  playChecked() {
    const {body} = this.checked;
    this.checked = null;
    this.turn(body, !body.actions);
  }

  /** Put a turn of a candidate into the draft. */
  takeTurn(actions) {
    this.set({open: null, peek: null, mode: 'play'});
    this.draft([...this.snap.draft.actions, ...actions.filter(action => action !== this.snap.draft.end)]);
  }

  // --- entering

  tool(name, at, byKey) {
    const {entering, snap} = this;
    if (!this.isMine) return;
    if (!entering.entries.some(entry => entry.tool === name)) {
      this.tell(`${entering.labelOf(name)}: ${snap.blocked[name] || t('not possible now')}.`);
    } else if (entering.tool === name && !entering.taken.length) this.isQuiet ? this.set({isQuiet: false}) : this.back();
    else {
      if (!entering.choices().some(one => one.tool === name)) entering.reset();
      this.finish(entering.hold(name), at, byKey);
    }
  }

  take(target, {ask, at, tool, byKey, nearest}) {
    const {entering, isDragged} = this;
    if (this.shown) {
      this.set({shown: null});
      return;
    }
    if (!this.isMine || this.chip != null) {
      this.back();
      return;
    }
    this.note = null;
    if (tool && this.isForTool(tool, target)) this.tool(tool, at, byKey);
    else {
      const clicked = [...entering.taken, target];
      let found = entering.take(target, ask, nearest, isDragged);
      if (found === undefined && !isDragged) found = entering.restart(target, ask, nearest);
      if (found === undefined && tool && !isDragged) this.tool(tool, at, byKey);
      else if (found === undefined) this.refuse(clicked, at);
      else this.finish(found, at, byKey);
    }
  }

  // Whether a click on a target means the tool that belongs to it.
  isForTool(tool, target) {
    const {entering} = this;
    return entering.tool === tool ? !entering.taken.length && !entering.matches(tool, [target]).length
      : !entering.tool && !entering.matches(null, [target]).length;
  }

  // Say at the place why a click is not possible.
  async refuse(targets, at) {
    const {entering, snap} = this;
    const tool = entering.tool === entering.alone ? null : entering.tool;
    if (this.isDragged) entering.reset();
    const note = {lines: []};
    Object.assign(this, {isDragged: false, message: ''});
    const search = new URLSearchParams([['tool', tool ?? ''], ...targets.map(target => ['targets', target])]);
    if (this.viewer != null) search.set('viewer', String(this.viewer));
    this.refused = note;
    try {
      note.lines = refusalLines(await request('GET', `/api/games/${snap.id}/why?${search}`), tool && entering.labelOf(tool), named(this, snap.targets[targets.at(-1)]));
    } catch (error) {
      note.lines = [error.message];
    }
    if (this.refused !== note || this.snap.version !== snap.version) return;
    say(note.lines.join(' '));
    this.set({note, anchor: at});
  }

  // The first target of a drag; the second follows where it ends.
  drag(target, tool) {
    const {entering} = this;
    if (!this.isMine) return;
    if (tool && this.isForTool(tool, target)) entering.choose(tool);
    else if (entering.take(target, true) === undefined) entering.restart(target, true);
    this.set({isDragged: true, note: null});
  }

  choose({tool, target}, byKey = false) {
    const found = tool ? this.entering.choose(tool) : this.entering.take(target, true);
    this.finish(found, this.anchor, true);
    if (found && byKey) this.board.focus();  // the menu goes
  }

  finish(entry, at, byKey) {
    Object.assign(this, {anchor: at, isDragged: false, isQuiet: false, message: '', note: null, refused: null});
    if (entry) this.play(entry);
    else {
      this.render();
      if (byKey) (find('.menu button') ?? this.board).focus();
    }
  }

  back() {
    // Without a step back, an open menu is closed.
    const isQuiet = !this.entering.back() && this.entering.hasMenu;
    this.set({shown: null, isDragged: false, message: '', chip: null, isQuiet, note: null, refused: null});
  }

  // --- pictures

  get parts() {
    return this.game.parts.filter(part => part !== 'panel' && part !== 'steps').join('+');
  }

  /** @param {string} parts @param {Place} place */
  path(parts, place) {
    return this.pathOf(`${parts}.svg`, place);
  }

  /** @param {string} what @param {Place} place */
  pathOf(what, {at, line, actions, turn, count, since}) {
    return `/api/games/${this.snap.id}/at/${at}/${what}${query({
      viewer: this.viewer, turn, count, since, actions: actions?.join('; ') || null, line: lineText(line),
    })}`;
  }

  /** The shown position, for `path`. @returns {Place} */
  get place() {
    const {snap: {turns, draft}, peek, shown, at} = this;
    if (peek) return this.after(peek.line ?? [], peek.actions);
    if (this.looked != null) return {at: this.looked, turn: 1};
    if (shown && turns[shown.index]) {
      // By their number: without what is hidden, its actions may not be playable.
      return {at: shown.index, turn: 1, count: shown.count};
    }
    if (shownTurn(this)) return {at: 0, actions: shownTurn(this)};
    if (this.mode === 'play') {
      const last = lastPlace(this);
      if (last) return last;
      return {at: turns.length, actions: draft.actions.slice(0, this.chip == null ? undefined : this.chip + 1)};
    }
    if (this.line.length) return {at: this.lineAt, line: this.line.slice(0, -1), actions: this.line.at(-1)};
    if (!at) return {at};
    if (this.isChoice === 'answer') return {at, actions: this.noteOf(at - 1)?.answer};
    if (this.isChoice) return {at: at - 1, actions: this.noteOf(at - 1)?.choice};
    return {at: at - 1, turn: this.isBefore ? null : 1};
  }

  /** The position to analyse. */
  get spot() {
    const {snap: {turns, draft}, line, at} = this;
    if (this.mode === 'play') return {at: turns.length, line: [], draft: draft.actions};
    return {at: line.length ? this.lineAt : at - Number(at && this.isBefore || 0), line, draft: []};
  }

  // --- analysis

  get mover() {
    return this.analysis?.seat ?? this.snap.to_move ?? 0;
  }

  get isAnalysed() {
    const {at, line, draft} = this.analysis;
    return same({at, line, draft}, this.spot);
  }

  // No random event; one after a side line is drawn.
  get canAnalyse() {
    const {spot: {at, line}, snap: {turns, waiting, resigned}} = this;
    const next = at < turns.length ? turns[at].seat ?? 'event' : resigned ?? waiting;
    return next !== 'over' && (next !== 'event' || line.length > 0);
  }

  /** Whether the seat to move of the position to analyse has a hidden hand, so that the analysis guesses it. */
  get isGuessed() {
    const {viewer, spot, snap} = this;
    return viewer != null && (spot.line.length > 0 || (snap.turns[spot.at]?.seat ?? snap.to_move) !== viewer);
  }

  get canDraft() {
    return this.isMine && this.isAnalysed;
  }

  async startAnalysis(isQuiet = false) {
    const {spot, viewer} = this;
    this.isStopped = false;
    this.replaced = this.analysis?.key;
    this.set({analysis: {...spot, is_running: true}, open: null, peek: null, isSheet: this.isSheet || !isQuiet});
    if (!isQuiet) this.showEngine();
    const {seconds, candidates} = settings;
    const found = await this.call('PUT', '/analysis', {
      ...spot, viewer, seconds: seconds || null, candidates, everybody: this.isGuessed});
    if (viewer !== this.viewer) return;  // another person has come
    this.set({analysis: found && {...spot, is_running: true, key: found.key}});
    // The only update of a search that ends at once may have come before its key.
    if (found && this.update?.key === found.key) this.takeUpdate(this.update);
  }

  /** Take an update of an analysis from the stream. */
  takeUpdate(update) {
    this.update = update;
    if (update.key === this.replaced) return; // late
    if (update.key !== this.analysis?.key) {
      // Another page has begun one in its place.
      if (this.analysis?.key && this.analysis.is_running) this.set({analysis: {...this.analysis, is_running: false}});
      return;
    }
    const isFirst = !this.analysis.candidates?.length;
    this.set({analysis: {...this.analysis, ...update, is_running: !update.stop_reason}});
    if (isFirst) this.showEngine();
  }

  /** Take what the server knows of its last analysis: that of the page may have ended unheard. */
  catchUp(known) {
    if (!this.analysis?.is_running) return;
    if (known) this.takeUpdate(known);
    const {analysis} = this;
    // Without a key its answer is still awaited.
    if (analysis.key && analysis.key !== known?.key) this.set({analysis: {...analysis, is_running: false}});
  }

  /** Scroll what stands beside the board to the candidates. */
  showEngine() {
    find('.engine')?.scrollIntoView({block: 'nearest'});
  }

  async stopAnalysis() {
    if (!this.analysis?.is_running) return;
    this.isStopped = true;
    const {key} = this.analysis;
    const answer = await this.call('DELETE', `/analysis${query({viewer: this.viewer})}`);
    if (answer && key && key === this.analysis?.key) this.catchUp(answer.analysis);
  }

  peekAt(peek) {
    this.peek = peek;
    this.paint();
  }

  /** The analysed position after more turns and actions. */
  after(turns, actions) {
    const {at, line, draft} = this.analysis;
    const [first, ...rest] = [...turns, actions];
    const whole = [...line, draft.length ? [...draft, ...first] : first, ...rest];
    return {at, line: whole.slice(0, -1), actions: whole.at(-1)};
  }

  /** Enter a side line: turns from the analysed position. */
  enterLine(turns) {
    const {at, line, actions} = this.after(turns.slice(0, -1), turns.at(-1));
    this.set({mode: 'review', at, lineAt: at, line: [...line, actions], peek: null, isBefore: false, isSheet: false});
    find('.played')?.scrollIntoView({block: 'nearest'});
  }

  // --- review

  go(at) {
    this.set({
      at: Math.min(Math.max(at, 0), this.snap.turns.length), mode: 'review', line: [], isChoice: false, peek: null, looked: null, shown: null, message: '',
    });
  }

  /** Have the turns of a game of persons judged when it is over, if that is wanted. */
  review() {
    const {seats, drill, annotation: {state, done, of, seconds}, id} = this.snap;
    if (!settings.annotates || drill || state === 'running' || done === of || seats.every(({kind}) => kind !== 'person')) return;
    request('PUT', `/api/games/${id}/annotation`, {seconds: seconds ?? 0.1}).catch(() => null);  // it can be asked for later, too
  }

  /** Load what is needed in reviews and to learn from games. */
  async learn(isMoved = false) {
    this.isMoved ||= isMoved;
    if (this.study) return;
    const study = await import('./study.js');
    if (this.study) return;
    this.study = study;
    study.watch(this, this.isMoved);
    this.render();
  }

  /** A turn on or back, in a line along it. */
  step(way) {
    this.study ? this.study.step(this, way) : this.go(this.at + way);
  }

  noteOf(index) {
    return this.snap.annotation.turns.find(note => note.turn_index === index);
  }

  // --- dialogs and small commands

  async ask(dialog) {
    Object.assign(this, {reply: null, message: ''});
    try {
      if (dialog === 'invite') this.friends = await import('./friends.js');
      this.dialogs ??= await import('./dialogs.js');
      if (dialog === 'on') (await import('./setup.js')).takeSeats(this.snap.seats);
    } catch {
      await this.miss();
      return;
    }
    this.set({dialog});
    find('dialog').showModal();
    const {at, line, draft} = this.spot;
    if (dialog === 'text') {
      const whole = draft.length ? [...line, draft] : line;
      const {viewer} = this;
      this.reply = this.mode === 'play' ? this.snap : await this.call('GET', `/at/${at}${query({
        viewer, line: lineText(whole)})}`);
    } else if (dialog === 'proposal') {
      this.reply = await request('POST', '/api/proposal', {id: this.snap.id, at}).catch(error => error);
    }
    this.render();
  }

  // A script that does not come does not say why; a request does.
  async miss() {
    this.tell(await request('GET', '/api/info').then(() => t('A part of the page is missing: reload it.'), error => error.message));
    return null;
  }

  /** Open or close the rules of a game; at the chosen tool, if they tell of it. */
  async readRules(name = this.snap.game) {
    this.rules ??= await import('./rules.js').catch(() => this.miss());
    await this.rules?.toggle(this, name, this.entering.tool ?? '');
  }

  close(run) {
    find('dialog')?.close();
    this.set({dialog: null});
    run?.();
  }

  async type(event) {
    event.preventDefault();
    const field = event.target.firstElementChild;
    const actions = field.value.split(';').map(action => action.trim()).filter(Boolean);
    const {waiting, draft} = this.snap;
    const isWhole = actions.at(-1) === draft.end || actions.at(-1) === 'end';
    const done = waiting === 'event' ? await this.turn({event: actions})
      : isWhole ? await this.finishTurn({actions: [...draft.actions, ...actions]}) : await this.draft([...draft.actions, ...actions]);
    if (done) field.value = '';
  }

  async create(body) {
    const {create} = await import('./setup.js');
    return create(this, body);
  }

  // --- the page itself

  render() {
    render(view(this), find('#app'));
    document.title = this.snap ? `${this.isCalled ? `${t('Your move')} · ` : ''}${this.titleOf(this.snap.game)} · mexica-ai` : 'mexica-ai';
    const chips = find('.chips'), count = chips?.childElementCount;
    if (this.chip == null && count !== this.numChips) chips?.scrollTo(9999, 0);
    this.numChips = count;
    this.paint();
    if (this.study) {
      this.study.follow(this);
      this.study.analyseOn(this);
    } else if (this.snap && (this.mode === 'review' || this.snap.is_over || this.snap.drill || this.analysis)) this.learn();
  }

  // Pictures are not in the template: each stays until the next one has loaded.
  paint() {
    const host = find('.stage');
    if (!host) {
      const button = find('.handover:not([data-met])');  // the clock paints anew: once is enough
      if (button) button.dataset.met = '';
      button?.focus();
      return;
    }
    const {place, entering} = this;
    const isInput = this.isMine && this.chip == null && !this.peek && this.looked == null && !shownTurn(this);
    const legal = this.isMine ? entering.legal() : new Map();
    this.board.attach(host, this.game.grid);
    this.board.light(isInput ? entering.lit(this.isDragged) : new Map(),
      isInput && entering.isFresh ? legal : new Map(), target => this.label(target, legal.get(target) ?? []));
    const panel = find('.panel'), graph = find('.graph');
    // The last turn is marked on the board; what stands beside it is as it is now.
    const beside = this.mode === 'play' && same(place, lastPlace(this)) ? {at: this.snap.turns.length} : place;
    if (panel) hold(panel, Boolean(this.peek) || this.looked != null);
    Promise.all([
      this.board.show(this.path(this.parts, place)).then(() => this.settle(isInput)), panel && showPicture(panel, this.path('panel', beside)),
      graph && this.study?.showGraph(graph, this),
    ]).then(() => this.guide?.pointAt(this)).catch(error => {
      if (this.message !== error.message) this.tell(error.message);
    });
    placeMenu(this.anchor);
    followTurn(this);
    this.project(place);
  }

  // With hints, the points if the shown position were scored.
  async project(place) {
    const path = settings.hints[this.mode] === 'none' || this.snap.is_over ? '' : this.pathOf('projected', place);
    const scoring = path && `${this.snap.version} ${path}`;
    if (scoring === this.scoring) return;
    this.scoring = scoring;
    const found = path ? await request('GET', path).catch(() => null) : null;
    if (scoring === this.scoring) this.set({projected: found?.points ?? null});
  }

  // The picture is there.
  settle(isInput) {
    this.study?.showRanks(this);
    this.seek(isInput);
  }

  // Show what can be chosen, if it is all that can be done and out of sight.
  seek(isInput) {
    if (!isInput || this.isSought || !this.entering.alone) return;
    this.isSought = true;
    this.board.seek();
  }

  label(target, legal) {
    const {game: {grid}, snap: {targets}} = this;
    return [grid && target, named(this, targets[target]) ?? (grid ? '' : target.replace(/[:_]/g, ' ')), legal.length && t('legal: {tools}', {tools: legal.join(', ')})]
      .filter(Boolean).join(', ');
  }
}

const played = ({turns, to_move: mover}) => [turns.map(({actions}) => actions), mover];

// While another position is looked at, the panel keeps its height, so that what stands below it stays under the pointer.
function hold(panel, isHeld) {
  if (isHeld === panel.classList.contains('held')) return;
  panel.style.height = isHeld ? `${panel.offsetHeight}px` : '';
  panel.classList.toggle('held', isHeld);
}
