// The page: its state, what its buttons do, and the streams that keep it current. It knows no game.
import {
  Refusal, applyTheme, html, isStill, keep, nothing, picture, query, render, request, say, seatMark, settings, showPicture,
} from './api.js';
import {Board, Entering} from './board.js';
import {candidatesPanel} from './candidates.js';
import {annotationPanel, downloads, reviewBar, showGraph} from './review.js';
import {create, home, readSeats, seatRows, takeSeats} from './setup.js';

const STEP_MS = 350;  // each action of a turn that is played to the viewer
const LEAST_MS = 600;  // each turn
const pause = ms => new Promise(done => setTimeout(done, ms));
const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

class Page {
  entering = new Entering();
  board = new Board({
    take: (target, how) => this.take(target, how),
    drag: (target, tool) => this.drag(target, tool),
    miss: () => this.cancel(),
  });

  // --- where one is

  async start() {
    applyTheme();
    addEventListener('popstate', () => this.route());
    addEventListener('keydown', event => this.key(event));
    document.addEventListener('click', event => this.follow(event));
    document.addEventListener('visibilitychange', () => (document.hidden ? this.disconnect() : this.connect()));
    setInterval(() => this.snap?.thinking && this.render(), 250);
    try {
      this.info = await request('GET', '/api/info');
    } catch (error) {
      return render(html`<main class="loading"><p role="alert">${error.message} Reload the page to try again.</p></main>`,
        root());
    }
    return this.route();
  }

  // Links within the page change it without loading it again.
  follow(event) {
    const link = event.target.closest?.('a[href^="/"]');
    if (!link || link.hasAttribute('download') || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    history.pushState(null, '', link.getAttribute('href'));
    this.route();
  }

  async route() {
    const [, place, id] = location.pathname.split('/');
    this.disconnect();
    Object.assign(this, {snap: null, message: '', editor: null});
    if (place === 'edit') {
      const {Editor} = await import('./editor.js');
      this.editor = new Editor(this);
      return this.render();
    }
    if (place === 'g' && id) {
      this.render();
      try {
        this.openGame(await request('GET', `/api/games/${id}${this.viewerQuery()}`), this.modeWanted ?? 'play', true);
      } catch (error) {
        this.failure = error.message;
        this.render();
      }
      return undefined;
    }
    this.games = null;
    this.render();
    this.games = (await request('GET', '/api/games').catch(() => ({games: []}))).games;
    return this.render();
  }

  goHome() {
    history.pushState(null, '', '/');
    this.route();
  }

  openGame(snapshot, mode, isHere = false) {
    if (!isHere) history.pushState(null, '', `/g/${snapshot.id}`);
    Object.assign(this, {
      snap: null, mode, at: snapshot.turns.length, when: 'after', shown: 'played', line: [], lineAt: 0, peek: null, open: null,
      chip: null, redo: [], playback: null, analysis: snapshot.analysis ?? null, isLost: false, failure: '', text: null,
      removal: null, modeWanted: null, viewer: snapshot.viewer ?? undefined,
    });
    if (mode === 'review') this.at = 0;
    this.apply(snapshot);
    this.connect();
  }

  titleOf(name) {
    return this.info.games.find(game => game.name === name)?.title ?? name;
  }

  get game() {
    return this.info.games.find(game => game.name === this.snap.game);
  }

  viewerQuery() {
    return query({viewer: this.viewer});
  }

  // --- snapshots and events

  apply(snapshot, isOwn = false) {
    const old = this.snap;
    if (old && snapshot.version < old.version) return;
    this.snap = snapshot;
    const isTakenBack = old && old.turns.length > snapshot.turns.length;
    if (!same(old?.draft?.actions, snapshot.draft.actions) || old?.turns.length !== snapshot.turns.length) this.chip = null;
    if (old && old.turns.length !== snapshot.turns.length) this.redo = [];
    if (isTakenBack) this.at = Math.min(this.at, snapshot.turns.length);
    this.entering.set(snapshot.entries, this.game.tools);
    this.isQuiet = false;
    this.settle();
    if (old && !isTakenBack) {
      const first = old.turns.length;
      for (const turn of snapshot.turns.slice(first)) {
        say(`${turn.seat === null ? 'Event' : `Seat ${turn.seat}`}: ${turn.text}. Scores ${turn.scores.join(', ')}.`);
      }
      if (!isOwn && snapshot.turns.length > first && this.mode === 'play') this.playTurns(first);
    }
    if (snapshot.is_over && old && !old.is_over) say(`The game is over. Seat ${snapshot.winners.join(' and seat ')} wins.`);
    this.render();
  }

  async playTurns(first) {
    const isPlaying = this.playback;
    this.playback ??= {index: first, count: 0, last: first};
    this.playback.last = this.snap.turns.length;
    if (isPlaying || isStill()) {
      if (!isPlaying) this.playback = null;
      return;
    }
    const mine = this.playback;
    while (mine.index < mine.last && this.playback === mine) {
      const {actions} = this.snap.turns[mine.index];
      for (mine.count = 1; mine.count <= actions.length && this.playback === mine; mine.count += 1) {
        this.render();
        await pause(Math.max(STEP_MS, LEAST_MS / actions.length));
      }
      mine.index += 1;
    }
    if (this.playback === mine) this.skip();
  }

  skip() {
    this.playback = null;
    this.render();
  }

  connect() {
    if (this.stream || !this.snap || document.hidden) return;
    const stream = new EventSource(`/api/events${query({game: this.snap.id, viewer: this.viewer})}`);
    this.stream = stream;
    const on = (name, act) => stream.addEventListener(name, event => {
      const data = JSON.parse(event.data);
      if (data.game === this.snap?.id) act(data);
    });
    stream.onopen = () => {
      clearTimeout(this.warning);
      this.tries = 0;
      if (this.isLost) {
        this.isLost = false;
        this.refresh();
      }
    };
    stream.onerror = () => this.retry();
    on('state', ({snapshot}) => this.apply(snapshot));
    on('thinking', ({seat, seconds, state, message}) => {
      this.snap.thinking = {...this.snap.thinking, seat, seconds, state, message};
      this.render();
    });
    on('analysis', data => {
      if (this.analysis?.key && data.key !== this.analysis.key) return;
      this.analysis = {...this.analysis, ...data};
      this.render();
    });
    on('annotation', ({turn, ...rest}) => {
      const turns = (this.snap.annotation?.turns ?? []).filter(one => one.turn_index !== turn?.turn_index);
      this.snap.annotation = {...this.snap.annotation, ...rest, turns: turn ? [...turns, turn] : turns};
      this.render();
    });
    on('notice', ({message}) => this.tell(message));
    stream.addEventListener('bye', () => {
      this.tell('The server has ended. Your game is on its disk.');
      this.retry();
    });
  }

  disconnect() {
    this.stream?.close();
    this.stream = null;
    clearTimeout(this.warning);
    clearTimeout(this.again);
  }

  // Tries again with growing pauses; the banner comes after two seconds.
  retry() {
    this.stream?.close();
    this.stream = null;
    clearTimeout(this.again);
    this.tries = (this.tries ?? 0) + 1;
    if (this.tries === 1) {
      this.warning = setTimeout(() => {
        this.isLost = true;
        this.render();
      }, 2000);
    }
    this.again = setTimeout(() => this.connect(), Math.min(500 * 2 ** this.tries, 15000));
  }

  async refresh() {
    const snapshot = await this.ask_('GET', this.viewerQuery());
    if (snapshot) this.apply(snapshot);
  }

  /** Ask about this game; a refusal is told, a stale command brings the newest snapshot. */
  async ask_(method, path, body) {
    const {id} = this.snap;
    try {
      return await request(method, `/api/games/${id}${path}`, body);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (error.snapshot && this.snap?.id === id) {
        const draft = this.snap.draft.actions;
        this.apply(error.snapshot);
        this.tell('The game has changed meanwhile.');
        if (draft.length && !this.snap.draft.actions.length) this.draft(draft, true);
      } else this.tell([error.message, ...error.violations.slice(0, 3).map(fault => fault.message)].filter(Boolean)[0]);
      return null;
    }
  }

  tell(message) {
    this.message = message;
    say(message);
    this.render();
  }

  async command(method, path, body) {
    const snapshot = await this.ask_(method, path, {version: this.snap.version, viewer: this.viewer, ...body});
    if (snapshot) {
      this.message = '';
      this.apply(snapshot, true);
    }
    return Boolean(snapshot);
  }

  // --- a turn

  get isMine() {
    return this.mode === 'play' && this.snap.waiting === 'person' && !this.playback && this.snap.curtain == null;
  }

  async draft(actions, isRetry = false) {
    const redo = actions.length < this.snap.draft.actions.length
      ? [...this.snap.draft.actions.slice(actions.length), ...this.redo] : [];
    // The picture is fetched while the server answers.
    picture(this.path(this.parts, {at: this.snap.turns.length, actions})).catch(() => null);
    const done = await this.command('PUT', '/draft', {actions});
    if (done) this.redo = redo;
    if (!isRetry) this.render();
    return done;
  }

  play(action) {
    const next = this.redo[0] === action ? this.redo.slice(1) : [];
    const {actions} = this.snap.draft;
    this.entering.reset();
    return this.draft([...actions, action]).then(done => {
      if (done) this.redo = next;
      this.render();
    });
  }

  undo() {
    const {actions, undo_limit: limit} = this.snap.draft;
    if (actions.length > limit) this.draft(actions.slice(0, -1));
    else if (actions.length) this.tell('What was revealed cannot be undone.');
  }

  redoOne() {
    if (this.redo.length) this.play(this.redo[0]);
  }

  resetTurn() {
    this.draft(this.snap.draft.actions.slice(0, this.snap.draft.undo_limit));
  }

  async endTurn() {
    if (!this.snap.draft.can_end) return this.tell(this.snap.blocked.end || 'The turn cannot end yet.');
    this.entering.reset();
    return this.command('POST', '/turn', {});
  }

  /** Play a whole turn that was typed or taken over from a candidate. */
  async takeTurn(actions) {
    this.open = null;
    this.peek = null;
    await this.draft(actions.filter(action => action !== 'end'));
  }

  // --- entering

  tool(name, at) {
    if (!this.isMine) return;
    const {blocked} = this.snap;
    if (!this.entering.entries.some(entry => entry.tool === name)) {
      this.tell(`${this.entering.tools.get(name).label}: ${blocked[name] || 'not possible now'}.`);
      return;
    }
    this.message = '';
    if (this.entering.tool === name && !this.entering.taken.length) return this.cancel();
    if (!this.entering.choices().some(choice => choice.tool === name)) this.entering.reset();
    this.finish(this.entering.choose(name), at);
  }

  take(target, {ask = false, at = null, tool = null, byKey = false} = {}) {
    if (this.playback) return this.skip();
    if (!this.isMine) return undefined;
    this.chip = null;
    if (tool && !this.entering.tool && !this.entering.matches(null, [target]).length) return this.tool(tool, at);
    const isFresh = this.entering.choices().some(choice => choice.tool);
    if (isFresh) this.entering.reset();
    const found = this.entering.take(target, ask);
    if (found === undefined) return this.tell(this.entering.tool ? 'Not possible there.' : 'Nothing is possible there.');
    this.message = '';
    return this.finish(found, at, byKey);
  }

  // The first target of a drag; the second follows where it ends.
  drag(target, tool) {
    if (!this.isMine) return;
    if (!this.entering.tool && tool && !this.entering.matches(null, [target]).length) this.entering.choose(tool);
    else if (this.entering.take(target) === undefined) return;
    this.isDragged = true;
    this.render();
  }

  choose(choice) {
    const found = choice.tool ? this.entering.choose(choice.tool) : this.entering.take(choice.target, true);
    this.finish(found, this.anchor, true);
  }

  finish(found, at, byKey = false) {
    this.anchor = at;
    this.isDragged = false;
    this.isQuiet = false;
    if (found) return this.play(found.action);
    this.render();
    if (byKey) document.querySelector('.menu button')?.focus();
    return undefined;
  }

  // One kind of action only: it need not be chosen.
  settle() {
    const names = new Set(this.entering.entries.map(entry => entry.tool));
    if (names.size === 1 && !this.entering.tool) this.entering.tool = [...names][0];
    this.anchor = null;
  }

  cancel() {
    if (this.playback) return this.skip();
    const hadMenu = this.entering.choices().length;
    this.isDragged = false;
    this.message = '';
    if (hadMenu && !this.entering.taken.length && this.entering.isAlone()) this.isQuiet = true;
    else this.entering.back();
    if (!this.entering.tool && !this.entering.taken.length) this.settle();
    return this.render();
  }

  // --- pictures

  get parts() {
    return this.game.parts.filter(part => !['panel', 'steps'].includes(part)).join('+');
  }

  path(parts, {at, line = [], actions = null, turn = null}) {
    return `/api/games/${this.snap.id}/at/${at}/${parts}.svg${query({
      viewer: this.viewer, turn, actions: actions?.length ? actions.join('; ') : null,
      line: line.length ? JSON.stringify(line) : null,
      v: this.snap.turns.length > at ? null : this.snap.version,
    })}`;
  }

  /** The position that is shown: what a picture's path says. */
  get place() {
    const {turns, draft} = this.snap;
    const spot = this.spot;
    if (this.peek) return {at: spot.at, line: [...spot.line, ...this.peek.line ?? []],
      actions: this.peek.line?.length ? this.peek.actions : [...spot.draft, ...this.peek.actions]};
    if (this.looked !== null && this.looked !== undefined) return {at: this.looked, turn: 1};
    if (this.playback) {
      const {index, count} = this.playback;
      const {actions, seat} = turns[index];
      return seat === null ? {at: index, turn: 1} : {at: index, actions: actions.slice(0, count)};
    }
    if (this.mode === 'play') {
      return {at: turns.length, actions: draft.actions.slice(0, this.chip === null ? undefined : this.chip + 1)};
    }
    if (this.line.length) return {at: this.lineAt, line: this.line.slice(0, -1), actions: this.line.at(-1)};
    if (!this.at) return {at: 0};
    if (this.shown === 'engine') return {at: this.at - 1, actions: this.noteOf(this.at - 1).choice};
    return this.when === 'before' ? {at: this.at - 1} : {at: this.at - 1, turn: 1};
  }

  /** The position that an analysis is of. */
  get spot() {
    if (this.mode === 'play') return {at: this.snap.turns.length, line: [], draft: this.snap.draft.actions};
    if (this.line.length) return {at: this.lineAt, line: this.line, draft: []};
    return {at: this.when === 'before' && this.at ? this.at - 1 : this.at, line: [], draft: []};
  }

  // --- analysis

  get mover() {
    return this.analysis?.to_move ?? this.snap.turns[this.spot.at]?.seat ?? this.snap.to_move ?? 0;
  }

  get isAnalysisHere() {
    const {at, line = [], draft = []} = this.analysis ?? {};
    return same({at, line: line ?? [], draft: draft ?? []}, this.spot);
  }

  get canAnalyse() {
    return this.mode === 'review' ? this.spot.at < this.snap.turns.length || !this.snap.is_over
      : ['person', 'engine'].includes(this.snap.waiting);
  }

  get canDraft() {
    return this.isMine && this.isAnalysisHere && !this.snap.draft.actions.length;
  }

  async startAnalysis() {
    const spot = this.spot;
    this.analysis = {...spot, isRunning: true};
    this.render();
    const found = await this.ask_('PUT', '/analysis', {
      ...spot, seconds: settings.seconds || null, candidates: settings.candidates, viewer: this.viewer,
    });
    if (found) Object.assign(this.analysis, {key: found.key});
    else this.analysis = null;
    this.render();
  }

  async stopAnalysis() {
    if (this.analysis?.isRunning) await this.ask_('DELETE', '/analysis');
  }

  peekAt(what) {
    this.peek = what;
    this.paint();
  }

  enterLine(turns) {
    const spot = this.spot;
    if (this.mode === 'play') {
      this.mode = 'review';
      this.at = spot.at;
    }
    this.lineAt = spot.at;
    const base = this.line.length && this.isAnalysisHere ? this.line : [];
    const isPrefix = same(this.line.slice(0, turns.length), turns);
    this.line = isPrefix ? turns : [...base, ...turns];
    if (spot.draft.length && !isPrefix) this.line[0] = [...spot.draft, ...this.line[0]];
    this.peek = null;
    this.render();
  }

  leaveLine() {
    this.line = [];
    this.render();
  }

  // --- review

  go(at) {
    this.at = Math.min(Math.max(at, 0), this.snap.turns.length);
    Object.assign(this, {shown: 'played', line: [], peek: null, mode: 'review'});
    this.render();
    if (this.at < this.snap.turns.length) picture(this.path(this.parts, {at: this.at, turn: 1})).catch(() => null);
  }

  noteOf(index) {
    return this.snap.annotation?.turns?.find(note => note.turn_index === index);
  }

  marked(way) {
    const marks = (this.snap.annotation?.turns ?? []).filter(note => note.mark).map(note => note.turn_index + 1);
    return way > 0 ? marks.sort((a, b) => a - b).find(at => at > this.at) : marks.sort((a, b) => b - a).find(at => at < this.at);
  }

  hasMark(way) {
    return this.marked(way) !== undefined;
  }

  goMark(way) {
    if (this.hasMark(way)) this.go(this.marked(way));
  }

  toggleBefore() {
    this.when = this.when === 'before' ? 'after' : 'before';
    this.shown = 'played';
    this.render();
  }

  showChoice(what) {
    this.shown = what;
    this.render();
  }

  annotate(seconds) {
    return this.ask_(seconds ? 'PUT' : 'DELETE', '/annotation', seconds ? {seconds} : {}).then(found => {
      if (found?.annotation) this.snap.annotation = found.annotation;
      this.render();
    });
  }

  setMode(mode) {
    Object.assign(this, {mode, line: [], peek: null, shown: 'played', playback: null});
    if (mode === 'review') this.at = this.snap.turns.length;
    this.render();
  }

  // --- dialogs: help, text board, typed action, play on

  async ask(name) {
    this.dialog = name;
    if (name === 'on') takeSeats(this.snap.seats);
    if (name === 'text') {
      const {at, line} = this.spot;
      this.text = this.mode === 'play' ? this.snap.text : '…';
      if (this.mode === 'review') {
        const found = await this.ask_('GET', `/at/${at}${query({viewer: this.viewer, line: line.length ? JSON.stringify(line) : null})}`);
        this.text = found?.text ?? '';
      }
    }
    this.render();
    const dialog = document.querySelector('dialog');
    if (dialog && !dialog.open) dialog.showModal();
  }

  closeDialog() {
    this.dialog = null;
    this.render();
  }

  async type(event) {
    event.preventDefault();
    const field = event.target.querySelector('input');
    const actions = field.value.split(';').map(action => action.trim().replace(/\s+/g, ' ')).filter(Boolean);
    if (!actions.length) return;
    if (this.snap.waiting === 'event') {
      if (await this.command('POST', '/turn', {event: actions})) field.value = '';
      return;
    }
    const ends = actions.at(-1) === 'end' || actions.at(-1) === 'e';
    const turn = [...this.snap.draft.actions, ...ends ? actions.slice(0, -1) : actions];
    if (!await this.draft(turn)) return;
    field.value = '';
    if (ends) this.endTurn();
  }

  async remove(id) {
    await request('DELETE', `/api/games/${id}`).catch(() => null);
    this.route();
  }

  again() {
    const {game, players, seats} = this.snap;
    takeSeats(seats, 1);
    create(this, {game, players, seats: readSeats(this.info, players), seed: null, options: this.snap.options ?? {}});
  }

  async playOn(event) {
    event.preventDefault();
    const {id, players} = this.snap;
    this.dialog = null;
    await create(this, {from: id, at: this.spot.at, seats: readSeats(this.info, players)});
  }

  // --- keys

  key(event) {
    if (event.defaultPrevented || event.altKey || !this.snap || this.dialog) return;
    if (event.ctrlKey || event.metaKey) {
      const isRedo = event.key === 'y' || (event.key.toLowerCase() === 'z' && event.shiftKey);
      if (!this.isMine || event.target.matches('input, textarea') || !(isRedo || event.key === 'z')) return;
      if (isRedo) this.redoOne();
      else this.undo();
      return event.preventDefault();
    }
    if (event.key === 'Escape') return this.escape();
    if (event.target.matches('input:not([type=range]), textarea, select') || !settings.keys) return;
    const isReview = this.mode === 'review';
    const steps = {ArrowLeft: this.at - 1, ArrowRight: this.at + 1, Home: 0, End: this.snap.turns.length};
    const names = {'?': 'help', T: 'text'};
    if (event.key in names) this.ask(names[event.key]);
    else if (event.key === '/' && !isReview) document.querySelector('.typed input')?.focus();
    else if (isReview && event.key in steps && !event.target.matches('input')) this.go(steps[event.key]);
    else if (isReview && /^[np]$/i.test(event.key)) this.goMark(event.key.toLowerCase() === 'n' ? 1 : -1);
    else if (!isReview && this.letter(event.key)) return event.preventDefault();
    else return;
    event.preventDefault();
  }

  letter(key) {
    if (this.playback) return false;
    const tool = this.game.tools.find(one => one.key === key);
    if (!tool) return false;
    if (tool.name === 'end') this.endTurn();
    else this.tool(tool.name, document.querySelector(`.tools [data-tool="${CSS.escape(tool.name)}"]`));
    return true;
  }

  escape() {
    if (this.peek || this.open) Object.assign(this, {peek: null, open: null});
    else if (this.line.length) this.line = [];
    else if (this.mode === 'play') return this.cancel();
    return this.render();
  }

  // --- what is seen

  render() {
    render(view(this), root());
    document.title = this.snap ? `${this.titleOf(this.snap.game)} · mexica-ai` : 'mexica-ai';
    if (this.snap) this.paint();
  }

  // Pictures are not part of the template: they stay until the next one is there.
  paint() {
    if (!this.snap || this.snap.curtain != null) return;
    const host = document.querySelector('.board');
    if (!host) return;
    this.board.attach(host, this.game.grid);
    const place = this.place;
    const isInput = this.isMine && this.chip === null && !this.peek;
    this.board.light(isInput ? this.entering.lit() : new Map(),
      isInput && !this.entering.tool && !this.entering.taken.length ? new Set(this.entering.next().keys()) : new Set(),
      target => this.label(target));
    const shown = [this.board.show(this.path(this.parts, place))];
    const panel = document.querySelector('.panel');
    if (panel) shown.push(showPicture(panel, this.path('panel', place)));
    const graph = document.querySelector('.graph');
    if (graph) shown.push(showGraph(graph, this));
    Promise.all(shown).catch(error => error.status && this.message !== error.message && this.tell(error.message));
    placeMenu(this.anchor);
  }

  label(target) {
    const words = this.snap.targets[target];
    const name = this.game.grid ? target : target.replace(/[:_]/g, ' ');
    const isInput = this.isMine;
    const legal = !isInput ? [] : this.entering.tool || this.entering.taken.length
      ? this.entering.next().has(target) ? [this.entering.tools.get(this.entering.tool)?.label ?? 'choose'] : []
      : [...new Set(this.entering.matches(null, [target]).map(entry => this.entering.tools.get(entry.tool).label))];
    return [this.game.grid || !words ? name : '', words, legal.length ? `legal: ${legal.join(', ').toLowerCase()}` : '']
      .filter(Boolean).join(', ');
  }
}

const root = () => document.getElementById('app');

// A menu opens where one has clicked.
function placeMenu(anchor) {
  const menu = document.querySelector('.menu');
  const host = menu?.offsetParent;
  if (!host) return;
  const {left, top, width, height} = host.getBoundingClientRect();
  const at = (anchor?.isConnected ? anchor : document.querySelector('.tools [aria-pressed=true]') ?? host).getBoundingClientRect();
  const x = Math.min(Math.max(at.left - left + at.width / 2 - menu.offsetWidth / 2, 0), Math.max(width - menu.offsetWidth, 0));
  const below = at.bottom - top + 6;
  const isAbove = anchor && below + menu.offsetHeight > height && at.top - top > menu.offsetHeight;
  menu.style.left = `${x}px`;
  menu.style.top = `${isAbove ? at.top - top - menu.offsetHeight - 6 : below}px`;
}

// --- templates

function view(page) {
  return html`${header(page)}${
    page.editor ? page.editor.view() : page.snap ? table(page)
      : location.pathname.startsWith('/g/') ? html`<main class="loading"><div class="outline"></div>
        <p role="status">${page.failure || 'Loading …'}</p>${page.failure ? html`<a href="/">All games</a>` : nothing}</main>`
        : home(page)}${page.dialog ? dialog(page) : nothing}`;
}

function header(page) {
  const {snap} = page;
  return html`<header class="top"><a class="brand" href="/"><svg viewBox="0 0 32 32" aria-hidden="true"><path
      d="M3 27h26v-5h-5v-5h-4v-5h-8v5H8v5H3z" class="fill-seat0 stroke-rim0" stroke-width="1.5"/></svg> mexica-ai</a>
    ${snap ? html`<span class="where">${page.titleOf(snap.game)}</span>
      <span class="tabs" role="group" aria-label="Mode">${[['play', 'Play'], ['review', 'Review']].map(([mode, words]) => html`
        <button aria-pressed=${page.mode === mode} @click=${() => page.setMode(mode)}>${words}</button>`)}</span>` : nothing}
    <span class="grow"></span>
    <a href="/edit">Editor</a>
    ${snap ? html`<button @click=${() => page.ask('text')}>Text</button>` : nothing}
    <button @click=${() => page.ask('help')}>Help</button></header>`;
}

function table(page) {
  const {snap} = page;
  if (snap.curtain != null) return curtain(page);
  const hasPanel = page.game.parts.includes('panel');
  const isReview = page.mode === 'review';
  return html`<main class="game ${hasPanel ? 'has-panel' : ''} ${isReview ? 'is-review' : ''}">
    <h1 class="unseen">${page.titleOf(snap.game)}</h1>
    ${page.isLost ? html`<p class="banner" role="alert">The connection is lost; trying again. Nothing is lost of the game.</p>`
      : nothing}
    <div class="left">
      ${isReview ? nothing : turnBar(page)}
      <div class="tools-place">${isReview ? nothing : [tools(page), menu(page)]}
        <div class="board ${page.game.grid ? 'has-grid' : ''} ${settings.fits ? 'fits' : ''} ${
          page.playback ? 'is-played' : ''}" @click=${() => page.playback && page.skip()}></div></div>
      <button class="fit" aria-pressed=${settings.fits}
        @click=${() => { keep({fits: !settings.fits}); page.render(); }}>Fit the board</button>
      ${isReview ? [reviewBar(page), html`<div class="graph" role="img" aria-label="Shares of the win by turn"></div>`] : nothing}
    </div>
    <aside class="side">
      ${hasPanel ? html`<div class="panel" aria-hidden="true"></div>` : nothing}
      <p class="unseen">Scores: ${snap.scores.map((score, seat) => `seat ${seat} (${snap.seats[seat].title}) ${score}`).join(', ')}</p>
      ${isReview ? annotationPanel(page) : [over(page), removal(page)]}
      ${candidatesPanel(page)}
      ${journal(page)}
      ${downloads(page)}
    </aside></main>`;
}

function curtain(page) {
  const {curtain: seat} = page.snap;
  const open = async () => {
    page.viewer = seat;
    page.disconnect();
    const snapshot = await page.ask_('GET', query({viewer: seat, open: 1}));
    if (snapshot) page.apply(snapshot, true);
    page.connect();
  };
  return html`<main class="curtain"><h1>${seatMark(seat)} Seat ${seat}</h1>
    <button class="primary big" autofocus @click=${open}>Seat ${seat}, press Enter</button></main>`;
}

function status(page) {
  const {snap} = page;
  const {thinking} = snap;
  if (page.playback) {
    const turn = snap.turns[page.playback.index];
    return html`${turn.seat === null ? nothing : seatMark(turn.seat)} ${turn.seat === null ? 'Event' : `Seat ${turn.seat}`} plays
      <button class="link" @click=${() => page.skip()}>Skip</button>`;
  }
  if (snap.waiting === 'over') return html`<b>The game is over.</b>`;
  if (snap.waiting === 'event') return html`A random event is due
    <button class="primary" @click=${() => page.command('POST', '/turn', {event: true})}>Draw</button>`;
  const who = html`${seatMark(snap.to_move)} <b>Seat ${snap.to_move}</b>`;
  if (thinking?.state === 'failed') {
    return html`${who} <span class="fault">${thinking.message || 'The engine failed.'}</span>
      <button @click=${() => page.command('POST', '/turn', {retry: true})}>Try again</button>
      <button @click=${() => page.command('POST', '/turn', {seat: snap.to_move, person: true})}>Play myself</button>`;
  }
  if (snap.waiting === 'engine') {
    const seconds = thinking?.since ? Math.max(Date.now() / 1000 - thinking.since, 0).toFixed(0) : '0';
    return html`<span class="pulse">${who}</span> ${snap.seats[snap.to_move].title} ${
      thinking?.state === 'queued' ? html`waits for a place${thinking.message ? `, ${thinking.message}` : ''}` : `thinks, ${seconds} s`}
      <button @click=${() => page.command('POST', '/turn', {stop: true})}>Stop and play</button>`;
  }
  return html`${who} to move${snap.draft.left ? html`<span class="left-over">, ${snap.draft.left} left</span>` : nothing}`;
}

function turnBar(page) {
  const {snap} = page;
  const {draft} = snap;
  const turn = page.playback && snap.turns[page.playback.index];
  const chips = turn ? turn.actions.slice(0, page.playback.count).map(action => ({action})) : draft.steps;
  const isMine = page.isMine;
  const limit = draft.undo_limit;
  return html`<section class="turnbar" aria-label="Turn">
    <div class="status">${status(page)}</div>
    <ol class="chips" aria-label="This turn">${chips.map((step, index) => html`<li><button class="chip"
      aria-pressed=${page.chip === index} ?disabled=${Boolean(turn)} title=${step.text || nothing}
      @click=${() => { page.chip = page.chip === index ? null : index; page.render(); }}>
      <span class="badge">${index + 1}</span> ${step.action}${step.text ? html` <small>${step.text}</small>` : nothing}${
        !turn && index < limit ? html`<span title="cannot be undone" aria-label=", cannot be undone"> 🔒</span>` : nothing}
      </button></li>`)}${!chips.length ? html`<li class="note">${isMine ? 'Choose a tool, or click on the board.' : ' '}</li>` : nothing}</ol>
    <div class="row end">
      <button ?disabled=${!isMine || draft.actions.length <= limit} @click=${() => page.undo()} title="Ctrl+Z">Undo</button>
      <button ?disabled=${!isMine || !page.redo.length} @click=${() => page.redoOne()} title="Ctrl+Y">Redo</button>
      <button ?disabled=${!isMine || draft.actions.length <= limit} @click=${() => page.resetTurn()}>Reset turn</button>
      <button ?disabled=${!snap.turns.length || page.playback || !snap.seats.some(seat => seat.kind === 'person')}
        @click=${() => page.command('POST', '/turn', {takeback: true})}>Take back</button>
      <span class="grow"></span>
      <button class="end-turn ${isMine && draft.can_end && !draft.left ? 'primary' : ''}" aria-disabled=${!isMine || !draft.can_end}
        @click=${() => isMine && page.endTurn()}>End turn${isMine && draft.left ? html` <small>${draft.left} unused</small>` : nothing}</button>
    </div></section>`;
}

function tools(page) {
  const {snap, entering} = page;
  const isMine = page.isMine;
  const legal = new Set(snap.entries.map(entry => entry.tool));
  const prompt = page.message || (page.chip !== null ? 'Looking back in the turn. Click the chip again to go on.'
    : snap.draft.warning || promptOf(page));
  return html`<div class="tools" role="toolbar" aria-label="Tools">${page.game.tools.filter(tool => tool.name !== 'end').map(tool => html`
      <button data-tool=${tool.name} aria-pressed=${isMine && entering.tool === tool.name}
        aria-disabled=${!isMine || !legal.has(tool.name)} title=${legal.has(tool.name) ? nothing : snap.blocked[tool.name] || nothing}
        @click=${event => page.tool(tool.name, event.currentTarget)}>${tool.label} <kbd>${tool.key}</kbd></button>`)}</div>
    <div class="prompt"><span role="status">${prompt}</span>
      <form class="typed" @submit=${event => page.type(event)}><input list="legal" aria-label="Type an action or a turn"
        placeholder="/ type an action or a turn" autocomplete="off" spellcheck="false">
        <datalist id="legal">${isMine ? snap.entries.map(entry => html`<option value=${entry.action}></option>`) : nothing}</datalist></form></div>`;
}

function promptOf(page) {
  const {entering} = page;
  if (!page.isMine || !entering.tool) return '';
  const label = entering.tools.get(entering.tool)?.label ?? '';
  return `${label}: choose ${entering.taken.length ? `what goes with ${entering.taken.join(', ')}` : 'where'}. Esc steps back.`;
}

function menu(page) {
  const choices = page.isMine && !page.isDragged && !page.isQuiet && page.chip === null ? page.entering.choices() : [];
  if (!choices.length) return nothing;
  const keys = event => {
    const buttons = [...event.currentTarget.querySelectorAll('button')];
    const way = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (event.key === 'Escape') {
      page.cancel();
      document.querySelector('.cells [tabindex="0"]')?.focus();
    } else if (way) buttons.at((buttons.indexOf(event.target) + way) % buttons.length).focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return html`<div class="menu ${choices.length > 9 ? 'wide' : ''}" role="menu" aria-label="Choices" @keydown=${keys}>${choices.map(choice => html`
    <button role="menuitem" @click=${() => page.choose(choice)}>${choice.label}${
      choice.note ? html` <small>${choice.note}</small>` : nothing}</button>`)}</div>`;
}

function over(page) {
  const {snap} = page;
  if (!snap.is_over) return nothing;
  const parts = snap.points ?? [];
  const names = [...new Set(parts.flatMap(own => own.parts.map(([name]) => name)))];
  const of = (own, name) => own.parts.find(([one]) => one === name)?.[1] ?? '';
  return html`<section class="card over" aria-labelledby="over"><h2 id="over">${
      snap.winners.length ? `Seat ${snap.winners.join(' and seat ')} ${snap.winners.length > 1 ? 'share the win' : 'wins'}` : 'The game is over'}</h2>
    <table><thead><tr><td></td>${snap.scores.map((_, seat) => html`<th scope="col">${seatMark(seat)} ${seat}</th>`)}</tr></thead>
      <tbody>${names.map(name => html`<tr><th scope="row">${name}</th>${parts.map(own => html`<td class="number">${of(own, name)}</td>`)}</tr>`)}
      <tr class="sum"><th scope="row">Points</th>${snap.scores.map(score => html`<td class="number">${score}</td>`)}</tr></tbody></table>
    <div class="row"><button class="primary" @click=${() => page.setMode('review')}>Review</button>
      <button @click=${() => page.again()}>Again with the seats moved</button></div></section>`;
}

// Where players may agree that something is out of play, the engine is asked first.
function removal(page) {
  return nothing;
}

function journal(page) {
  const {turns} = page.snap;
  const current = page.mode === 'review' ? page.at - 1 : -1;
  const look = index => () => {
    page.looked = page.mode === 'play' && !page.playback ? index : null;
    page.paint();
  };
  const canResign = page.isMine;
  return html`<section class="card journal" aria-labelledby="journal"><div class="row"><h2 id="journal">Turns</h2><span class="grow"></span>
      ${canResign ? html`<button @click=${() => page.ask('resign')}>Resign</button>` : nothing}</div>
    <ol reversed @pointerleave=${look(null)}>${turns.map((turn, index) => html`<li><button class="link" aria-current=${current === index}
      @pointerenter=${look(index)} @focus=${look(index)} @blur=${look(null)} @click=${() => { page.looked = null; page.go(index + 1); }}>
      <span class="count">${index + 1}</span> ${turn.seat === null ? html`<span class="mark">·</span>` : seatMark(turn.seat)}
      <span class="turn">${turn.text}</span>${page.noteOf(index)?.mark ? html`<b>${page.noteOf(index).mark}</b>` : nothing}
      ${turn.scored?.some(Boolean) ? html`<small>${turn.scored.map(score => (score > 0 ? `+${score}` : score)).join(' ')}</small>` : nothing}
    </button></li>`).reverse()}</ol></section>`;
}

function dialog(page) {
  const close = () => page.closeDialog();
  const body = {
    help, text: () => html`<h2>The board as text</h2><pre tabindex="0">${page.text}</pre>`,
    resign: () => html`<h2>Resign?</h2><p>The game ends, and the other seats share the win.</p>
      <button class="primary" @click=${() => { close(); page.command('POST', '/turn', {resign: true}); }}>Resign</button>`,
    on: () => html`<h2>Play on</h2><form @submit=${event => page.playOn(event)}>${seatRows(page, page.snap.players)}
      <button class="primary">Start</button></form>`,
  }[page.dialog](page);
  return html`<dialog @close=${close} @click=${event => event.target.localName === 'dialog' && close()}>
    <div>${body}<form method="dialog"><button>Close</button></form></div></dialog>`;
}

function help(page) {
  const tools = page.snap ? page.game.tools : [];
  const row = (keys, words) => html`<tr><th scope="row">${keys.map(key => html`<kbd>${key}</kbd> `)}</th><td>${words}</td></tr>`;
  const set = changes => {
    keep(changes);
    page.render();
  };
  return html`<h2>Keys</h2><div class="columns"><table><tbody>
    ${row(['←', '→', '↑', '↓'], 'move on the board; in the list of candidates')}${row(['Enter'], 'take; play a candidate in a side line')}
    ${row(['Shift', 'Enter'], 'ask where two ways lead to a space (also Shift and click)')}${row(['Esc'], 'step back')}
    ${row(['Ctrl', 'Z'], 'undo')}${row(['Ctrl', 'Y'], 'redo')}${row(['/'], 'type an action or a whole turn')}
    ${row(['T'], 'the board as text (Shift+T)')}${row(['?'], 'this list')}
    ${row(['←', '→', 'Home', 'End'], 'review: turns')}${row(['N', 'P'], 'review: next and previous ?')}</tbody></table>
    ${tools.length ? html`<table><tbody>${tools.map(tool => row([tool.key], tool.label))}</tbody></table>` : nothing}</div>
  <h2>Settings</h2>
  <label class="row">Colours <select @change=${event => set({theme: event.target.value})}>${['', 'light', 'dark'].map(theme => html`
    <option value=${theme} ?selected=${theme === settings.theme}>${theme || 'as the system'}</option>`)}</select></label>
  <label class="row"><input type="checkbox" .checked=${settings.keys} @change=${event => set({keys: event.target.checked})}> Letters as keys</label>
  <label class="row"><input type="checkbox" .checked=${settings.motion} @change=${event => set({motion: event.target.checked})}>
    Play turns of engines action by action</label>`;
}

new Page().start();
