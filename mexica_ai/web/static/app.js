// The page: its state, its commands, and the stream that keeps it current. Independent of the game.
import {
  button, choice, forgetPictures, html, isStill, keep, nothing, picture, query, render, request, same, say, seatMark,
  settings, showPicture,
} from './api.js';
import {Board, Entering, menu, placeMenu} from './board.js';
import {candidatesPanel} from './candidates.js';
import {drillCard, shownTurn} from './drill.js';
import {annotationPanel, downloads, reviewBar, showGraph} from './review.js';
import {create, home, readSeats, seatRows, takeSeats} from './setup.js';

const STEP_MS = 350, LEAST_MS = 600;  // pause for each action of a turn, and for each turn
const pause = ms => new Promise(done => { setTimeout(done, ms); });
const find = selector => document.querySelector(selector);

class Page {
  entering = new Entering();
  board = new Board({
    take: (target, how) => this.take(target, how), drag: (target, tool) => this.drag(target, tool), miss: () => this.back(),
  });
  at = 0;  // number of turns before the reviewed position
  line = [];  // turns of a side line from there
  redo = [];  // actions that were undone
  mode = 'play';
  chip = null;  // index of the action after which the board is shown
  tries = 0;
  queue = Promise.resolve();

  async start() {
    keep();
    find('#app').replaceChildren();
    this.render();
    try {
      this.info = await request('GET', '/api/info');
      const [, place, id] = location.pathname.split('/');
      if (place === 'edit') this.editor = new (await import('./editor.js')).Editor(this);
      else if (place === 'g') await this.begin(await request('GET', `/api/games/${id}`));
      else this.games = (await request('GET', '/api/games')).games;
    } catch (error) {
      this.failure = error.message;
    }
    this.render();
  }

  begin(snapshot) {
    this.viewer = snapshot.viewer;
    this.analysis = snapshot.analysis && {line: [], draft: [], ...snapshot.analysis};
    if (location.hash === '#review' && !snapshot.drill) this.mode = 'review';
    this.apply(snapshot);
    addEventListener('keydown', event => this.key(event));
    document.addEventListener('visibilitychange', () => document.hidden ? this.disconnect() : this.connect());
    setInterval(() => this.snap.thinking && this.render(), 500);
    this.connect();
  }

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

  apply(snapshot, isOwn = false) {
    const old = this.snap;
    if (old && snapshot.version < old.version) return;
    if (old && old.drill?.number !== snapshot.drill?.number) {
      location.reload();  // another position, perhaps of another game or seat
      return;
    }
    const {turns, draft, entries} = snapshot;
    const known = old?.turns.length ?? turns.length;
    if (turns.length < known) forgetPictures();
    if (turns.length !== known) this.redo = [];
    if (!same(old?.draft.actions, draft.actions) || turns.length !== known) this.chip = null;
    this.at = Math.min(this.at, turns.length);
    this.snap = snapshot;
    if (!same(old?.entries, entries)) {
      this.entering.set(entries, this.game.tools);
      this.isQuiet = false;
    }
    for (const {seat, text, scores} of turns.slice(known)) {
      say(`${seat == null ? 'Event' : `Seat ${seat}`}: ${text}. Points: ${scores.join(', ')}`);
    }
    if (turns.length > known && !isOwn && this.mode === 'play' && !isStill()) this.show(known);
    this.render();
  }

  // Show turns action by action.
  async show(first) {
    if (this.shown) return;
    const shown = this.shown = {index: first, count: 0};
    for (; this.shown === shown && shown.index < this.snap.turns.length; shown.index += 1) {
      const {actions} = this.snap.turns[shown.index];
      for (shown.count = 1; shown.count <= actions.length && this.shown === shown; shown.count += 1) {
        this.render();
        await pause(Math.max(STEP_MS, LEAST_MS / actions.length));
      }
    }
    if (this.shown === shown) this.set({shown: null});
  }

  connect() {
    if (this.stream || document.hidden) return;
    const stream = this.stream = new EventSource(`/api/events${query({game: this.snap.id, viewer: this.viewer})}`);
    const on = (name, act) => stream.addEventListener(name, ({data}) => act(JSON.parse(data)));
    stream.onerror = () => this.retry();
    on('state', ({snapshot}) => {
      clearTimeout(this.warning);
      this.tries = 0;
      this.isLost = false;
      this.apply(snapshot);
    });
    on('thinking', thinking => {
      this.snap.thinking = thinking;
      this.render();
    });
    on('analysis', data => {
      if (data.key === this.analysis?.key) this.set({analysis: {...this.analysis, ...data, is_running: !data.stop_reason}});
    });
    on('annotation', ({turn, ...rest}) => {
      const turns = this.snap.annotation.turns.filter(one => one.turn_index !== turn?.turn_index);
      Object.assign(this.snap.annotation, rest, {turns: turn ? [...turns, turn] : turns});
      this.render();
    });
    on('notice', ({message}) => this.tell(message));
    on('bye', () => {
      this.tell('The server has stopped; the game is saved.');
      this.retry();
    });
  }

  disconnect() {
    this.stream?.close();
    this.stream = null;
    clearTimeout(this.warning);
    clearTimeout(this.again);
  }

  // Reconnect with growing pauses; the banner appears after two seconds.
  retry() {
    this.stream?.close();
    this.stream = null;
    if (!this.tries) this.warning = setTimeout(() => this.set({isLost: true}), 2000);
    this.tries += 1;
    clearTimeout(this.again);
    this.again = setTimeout(() => this.connect(), Math.min(400 * 2 ** this.tries, 15000));
  }

  // A request about this game; null after an error, which is shown. A stale command brings the newest snapshot.
  async call(method, path, body) {
    try {
      return await request(method, `/api/games/${this.snap.id}${path}`, body);
    } catch (error) {
      if (error.snapshot) {
        this.apply(error.snapshot);
        if (path === '/draft' && this.isMine && !this.snap.draft.actions.length) await this.put(body.actions);
        this.tell('The game has changed in the meantime.');
      } else this.tell(error.violations?.[0]?.message ?? error.message);
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
      const {draft, blocked} = this.snap;
      const done = isEnd && !draft.can_end ? this.tell(`The turn cannot end yet${blocked.end ? `: ${blocked.end}` : ''}.`)
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
    const {waiting, handover, drill} = this.snap;
    return this.mode === 'play' && waiting === 'person' && handover == null && !this.shown && !this.isSending
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

  play(action) {
    this.entering.reset();
    return this.inOrder(() => {
      const {draft, turns, entries} = this.snap;
      if (!entries.some(entry => entry.action === action)) return false;
      const actions = [...draft.actions, action];
      // Load the picture while the server answers.
      picture(this.path(this.parts, {at: turns.length, actions})).catch(() => null);
      return this.put(actions, this.redo[0] === action ? this.redo.slice(1) : []);
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
    if (this.redo.length) this.play(this.redo[0]);
  }

  endTurn() {
    if (this.isMine) this.turn({}, true);
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
      this.tell(`${entering.labelOf(name)}: ${snap.blocked[name] || 'not possible now'}.`);
    } else if (entering.tool === name && !entering.taken.length) this.isQuiet ? this.set({isQuiet: false}) : this.back();
    else {
      if (!entering.choices().some(one => one.tool === name)) entering.reset();
      this.finish(entering.choose(name), at, byKey);
    }
  }

  take(target, {ask, at, tool, byKey}) {
    const {entering} = this;
    if (this.shown) this.set({shown: null});
    if (!this.isMine) return;
    this.chip = null;
    if (tool && !entering.tool && !entering.matches(null, [target]).length) this.tool(tool, at, byKey);
    else {
      if (entering.choices().some(one => one.tool)) entering.reset();
      const found = entering.take(target, ask);
      if (found === undefined) this.tell('Nothing is possible there.');
      else this.finish(found, at, byKey);
    }
  }

  // The first target of a drag; the second follows where it ends.
  drag(target, tool) {
    const {entering} = this;
    if (!this.isMine) return;
    if (tool && !entering.tool && !entering.matches(null, [target]).length) entering.choose(tool);
    else entering.take(target, true);
    this.set({isDragged: true});
  }

  choose({tool, target}) {
    this.finish(tool ? this.entering.choose(tool) : this.entering.take(target, true), this.anchor, true);
  }

  finish(entry, at, byKey) {
    Object.assign(this, {anchor: at, isDragged: false, isQuiet: false, message: ''});
    if (entry) this.play(entry.action);
    else {
      this.render();
      if (byKey) find('.menu button')?.focus();
    }
  }

  back() {
    // Without a step back, an open menu is closed.
    const isQuiet = !this.entering.back() && this.entering.choices().length > 0;
    this.set({shown: null, isDragged: false, message: '', chip: null, isQuiet});
  }

  // --- pictures

  get parts() {
    return this.game.parts.filter(part => part !== 'panel' && part !== 'steps').join('+');
  }

  path(parts, {at, line, actions, turn}) {
    return `/api/games/${this.snap.id}/at/${at}/${parts}.svg${query({
      viewer: this.viewer, turn, actions: actions?.join('; ') || null, line: line?.length ? JSON.stringify(line) : null,
    })}`;
  }

  /** The shown position, for `path`. */
  get place() {
    const {snap: {turns, draft}, peek, shown, at} = this;
    if (peek) return this.after(peek.line ?? [], peek.actions);
    if (this.looked != null) return {at: this.looked, turn: 1};
    if (shown && turns[shown.index]) {
      const {seat, actions} = turns[shown.index];
      return seat == null ? {at: shown.index, turn: 1} : {at: shown.index, actions: actions.slice(0, shown.count)};
    }
    if (shownTurn(this)) return {at: 0, actions: shownTurn(this)};
    if (this.mode === 'play') {
      return {at: turns.length, actions: draft.actions.slice(0, this.chip == null ? undefined : this.chip + 1)};
    }
    if (this.line.length) return {at: this.lineAt, line: this.line.slice(0, -1), actions: this.line.at(-1)};
    if (!at) return {at};
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

  get canAnalyse() {
    return this.spot.at < this.snap.turns.length || !this.snap.is_over;
  }

  /** Whether the seat to move of the position to analyse has a hidden hand, so that the analysis guesses it. */
  get isGuessed() {
    const {viewer, spot, snap} = this;
    return viewer != null && (spot.line.length > 0 || (snap.turns[spot.at]?.seat ?? snap.to_move) !== viewer);
  }

  get canDraft() {
    return this.isMine && this.isAnalysed;
  }

  async startAnalysis() {
    const {spot, viewer} = this;
    this.set({analysis: {...spot, is_running: true}, open: null});
    const {seconds, candidates} = settings;
    const found = await this.call('PUT', '/analysis', {
      ...spot, viewer, seconds: seconds || null, candidates, everybody: this.isGuessed});
    this.set({analysis: found && {...spot, is_running: true, key: found.key}});
  }

  stopAnalysis() {
    if (this.analysis?.is_running) this.call('DELETE', '/analysis');
  }

  peekAt(peek) {
    this.peek = peek;
    this.paint();
  }

  /** The analysed position after more turns and actions. */
  after(turns, actions) {
    const {at, line, draft} = this.analysis;
    const [first, ...rest] = [...turns, actions];
    const whole = [...line, [...draft, ...first], ...rest];
    return {at, line: whole.slice(0, -1), actions: whole.at(-1)};
  }

  /** Enter a side line: turns from the analysed position. */
  enterLine(turns) {
    const {at, line, actions} = this.after(turns.slice(0, -1), turns.at(-1));
    this.set({mode: 'review', at, lineAt: at, line: [...line, actions], peek: null, isBefore: false});
  }

  // --- review

  go(at) {
    this.set({
      at: Math.min(Math.max(at, 0), this.snap.turns.length), mode: 'review', line: [], isChoice: false, peek: null, looked: null,
    });
  }

  noteOf(index) {
    return this.snap.annotation.turns.find(note => note.turn_index === index);
  }

  /** The next or previous turn with a mark. */
  marked(way) {
    return this.snap.annotation.turns.filter(note => note.mark).map(note => note.turn_index + 1)
      .sort((one, other) => way * (one - other)).find(at => way * (at - this.at) > 0);
  }

  goMark(way) {
    const at = this.marked(way);
    if (at) this.go(at);
  }

  async annotate(seconds) {
    const found = await this.call(seconds ? 'PUT' : 'DELETE', '/annotation', seconds ? {seconds} : {});
    if (found) this.snap.annotation = found;
    this.render();
  }

  // --- dialogs and small commands

  async ask(dialog) {
    if (dialog === 'on') takeSeats(this.snap.seats);
    this.answer = null;
    this.set({dialog});
    find('dialog').showModal();
    const {at, line, draft} = this.spot;
    if (dialog === 'text') {
      const whole = draft.length ? [...line, draft] : line;
      const {viewer} = this;
      this.answer = this.mode === 'play' ? this.snap : await this.call('GET', `/at/${at}${query({
        viewer, line: whole.length ? JSON.stringify(whole) : null})}`);
    } else if (dialog === 'proposal') {
      this.answer = await request('POST', '/api/proposal', {id: this.snap.id, at}).catch(error => error);
    }
    this.render();
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
      : isWhole ? await this.turn({actions: [...draft.actions, ...actions]}) : await this.draft([...draft.actions, ...actions]);
    if (done) field.value = '';
  }

  async remove(id) {
    await request('DELETE', `/api/games/${id}`).catch(error => this.tell(error.message));
    this.set({games: (await request('GET', '/api/games')).games});
  }

  create(body) {
    return create(this, body);
  }

  // --- keys

  key(event) {
    const {key, target} = event;
    if (event.defaultPrevented || event.altKey || this.dialog || this.snap.handover != null) return;
    const isText = target.matches('input:not([type=range]), textarea, select');
    const isReview = this.mode === 'review';
    const name = (event.ctrlKey || event.metaKey ? 'Ctrl+' : '') + (key === 'Z' ? 'Shift+Z' : key);
    const run = {
      'Ctrl+z': this.isMine && (() => this.undo()), 'Ctrl+y': this.isMine && (() => this.redoOne()),
      'Ctrl+Shift+Z': this.isMine && (() => this.redoOne()), Escape: () => this.escape(),
      ...settings.keys && {'?': () => this.ask('help'), T: () => this.ask('text')},
      ...settings.keys && !isReview && {'/': () => find('.typed input').focus(), ...this.letters()},
      ...isReview && !target.matches('input') && {
        ArrowLeft: () => this.go(this.at - 1), ArrowRight: () => this.go(this.at + 1), Home: () => this.go(0),
        End: () => this.go(this.snap.turns.length), ...settings.keys && {n: () => this.goMark(1), N: () => this.goMark(1), p: () => this.goMark(-1), P: () => this.goMark(-1)},
      },
    }[name];
    if (!run || isText && key !== 'Escape') return;
    event.preventDefault();
    run();
  }

  letters() {
    return Object.fromEntries(this.game.tools.map(({key, name}) => [key, () => name === 'end' ? this.endTurn()
      : this.tool(name, find(`.tools [data-tool="${name}"]`), true)]));
  }

  escape() {
    if (this.peek || this.open) this.set({peek: null, open: null});
    else if (this.mode === 'play') this.back();
    else this.set({line: []});
  }

  // --- the page itself

  render() {
    render(view(this), find('#app'));
    document.title = this.snap ? `${this.titleOf(this.snap.game)} · mexica-ai` : 'mexica-ai';
    if (this.chip == null) find('.chips')?.scrollTo(9999, 0);
    this.paint();
  }

  // Pictures are not in the template: each stays until the next one has loaded.
  paint() {
    const host = find('.stage');
    if (!host) {
      find('.handover')?.focus();
      return;
    }
    const {place, entering} = this;
    const isInput = this.isMine && this.chip == null && !this.peek && this.looked == null && !shownTurn(this);
    const legal = this.isMine ? entering.legal() : new Map();
    this.board.attach(host, this.game.grid);
    this.board.light(isInput ? entering.lit(this.isDragged) : new Map(),
      isInput && entering.isFresh ? legal : new Map(), target => this.label(target, legal.get(target) ?? []));
    const panel = find('.panel'), graph = find('.graph');
    Promise.all([
      this.board.show(this.path(this.parts, place)), panel && showPicture(panel, this.path('panel', place)),
      graph && showGraph(graph, this),
    ]).catch(error => {
      if (this.message !== error.message) this.tell(error.message);
    });
    placeMenu(this.anchor);
  }

  label(target, legal) {
    const {game: {grid}, snap: {targets}} = this;
    return [grid && target, targets[target] ?? (grid ? '' : target.replace(/[:_]/g, ' ')), legal.length && `legal: ${legal.join(', ')}`]
      .filter(Boolean).join(', ');
  }
}

// --- templates

function view(page) {
  const {snap, failure, info} = page;
  const state = failure ? html`<p role="alert">${failure}</p><a href="/">All games</a>` : html`<p>Loading …</p>`;
  return html`<header class="top"><a class="brand" href="/"><svg viewBox="0 0 32 32" aria-hidden="true"><path
      d="M3 27h26v-5h-5v-5h-4v-5h-8v5H8v5H3z" class="fill-seat0 stroke-rim0"/></svg>mexica-ai</a>
    ${snap ? html`<b>${page.titleOf(snap.game)}</b> ${snap.drill ? nothing : ['play', 'review'].map(mode => button(mode === 'play' ? 'Play' : 'Review',
      () => page.set({mode, at: snap.turns.length, line: [], peek: null, shown: null}), {pressed: page.mode === mode}))}` : nothing}
    <span class="grow"></span><a class="link" href="/edit${snap && snap.viewer == null ? query({game: snap.id, at: page.spot.at}) : ''}">Editor</a>
    ${snap ? html`${button('Text', () => page.ask('text'))}${button('Help', () => page.ask('help'))}` : nothing}</header>
  ${failure || !info ? html`<main class="loading"><div class="outline"></div>${state}</main>`
    : page.editor ? page.editor.view() : !snap ? home(page) : snap.handover == null ? table(page) : handover(page)}
  ${page.dialog ? dialog(page) : nothing}`;
}

function handover(page) {
  const seat = page.snap.handover;
  const open = async () => {
    page.disconnect();
    page.viewer = seat;
    const snapshot = await page.call('GET', query({viewer: seat, open: 1}));
    if (snapshot) page.apply(snapshot, true);
    page.connect();
  };
  return html`<main class="loading"><h1>${seatMark(seat)} Seat ${seat}</h1>
    <button class="primary big handover" @click=${open}>Seat ${seat}, press Enter</button></main>`;
}

function table(page) {
  const {snap, game, shown} = page;
  const isReview = page.mode === 'review';
  const hasPanel = game.parts.includes('panel');
  return html`<main class="game"><h1 class="unseen">${game.title}</h1>
    ${page.isLost ? html`<p class="banner" role="alert">The connection is lost; reconnecting. The game is saved.</p>` : nothing}
    <div class="left">${isReview ? page.message ? html`<p>${page.message}</p>` : nothing : [snap.drill ? drillCard(page) : nothing, turnBar(page), snap.is_over ? nothing : tools(page)]}
      <div class="place"><div class="stage ${game.grid ? 'has-grid' : ''} ${settings.fits ? 'fits' : ''}"
        @click=${() => shown && page.set({shown: null})}></div>${menu(page)}</div>
      ${button('Fit the board', () => page.set(keep({fits: !settings.fits})), {kind: 'fit', pressed: settings.fits})}
      ${isReview ? [reviewBar(page), html`<div class="graph"></div>`] : nothing}</div>
    <aside class="side">${hasPanel ? html`<div class="panel" aria-hidden="true"></div>` : nothing}
      <p class=${hasPanel ? 'unseen' : 'row'}>${snap.seats.map(({title}, seat) => html`<span class="who">${seatMark(seat)}
        ${title} <b>${snap.scores[seat]}</b></span>`)}</p>
      ${isReview ? annotationPanel(page) : over(page)}${candidatesPanel(page)}${snap.drill ? nothing : journal(page)}${downloads(page)}</aside></main>`;
}

function status(page) {
  const {snap: {waiting, thinking, to_move: seat, seats, turns, draft}, shown} = page;
  if (shown) {
    const turn = turns[shown.index] ?? {};
    return html`${turn.seat == null ? 'Event' : html`${seatMark(turn.seat)} Seat ${turn.seat}`} plays
      ${button('Skip', () => page.set({shown: null}), {kind: 'link'})}`;
  }
  if (waiting === 'over') return html`<b>The game is over</b>`;
  if (waiting === 'event') return html`A random event is due ${button('Draw', () => page.turn({event: true}), {kind: 'primary'})}`;
  const who = html`${seatMark(seat)} <b>Seat ${seat}</b>`;
  if (waiting === 'person') return html`${who} to move${draft.left ? `, ${draft.left} left` : ''}`;
  if (thinking?.state === 'failed') {
    return html`${who} <span class="fault">${thinking.message}</span> ${button('Try again', () => page.turn({retry: true}))}
      ${button('Play myself', () => page.turn({seat, person: true}))}`;
  }
  const seconds = thinking ? Math.max(Date.now() / 1000 - thinking.since, 0).toFixed(0) : 0;
  return html`<span class="pulse">${who}, ${seats[seat].title}</span> ${thinking?.state === 'queued'
    ? `waits for a free search slot ${thinking.message}` : `thinks, ${seconds} s`} ${button('Stop and play', () => page.turn({stop: true}))}`;
}

function turnBar(page) {
  const {snap: {draft, turns, entries, can_take_back: canTakeBack}, shown, chip, isMine} = page;
  const steps = shown ? (turns[shown.index]?.actions ?? []).slice(0, shown.count).map(action => ({action})) : draft.steps;
  const canUndo = isMine && draft.actions.length > 0;
  return html`<section class="turnbar" aria-label="Turn"><div class="status">${status(page)}</div>
    <ol class="chips" aria-label="Actions of this turn">${steps.map(({action, text}, index) => html`<li>${button(html`
        <span class="badge">${index + 1}</span> ${action} <small>${text}</small>`,
      () => page.set({chip: chip === index ? null : index}), {kind: 'chip', pressed: chip === index, off: Boolean(shown)})}</li>`)}</ol>
    <form class="typed" @submit=${event => page.type(event)}><input list="legal" aria-label="Type an action or a turn"
      placeholder="/ type a turn" autocomplete="off" spellcheck="false"><datalist id="legal">${
        isMine ? entries.map(({action}) => html`<option value=${action}></option>`) : nothing}</datalist></form>
    <div class="row end">${button('Undo', () => page.undo(), {off: !canUndo, title: 'Ctrl+Z'})}
      ${button('Redo', () => page.redoOne(), {off: !isMine || !page.redo.length, title: 'Ctrl+Y'})}
      ${button('Reset turn', () => page.undo(99), {off: !canUndo})}
      ${page.snap.drill ? nothing : button('Take back', () => page.turn({takeback: true}), {
        off: !canTakeBack, title: 'Take back the last turn of a person'})}
      ${button(html`End turn ${isMine && draft.can_end && draft.left ? html`<small>${draft.left} unused</small>` : nothing}`, () => page.endTurn(), {
        kind: isMine && draft.can_end && !draft.left ? 'primary' : '', off: !isMine})}</div></section>`;
}

function tools(page) {
  const {snap, entering, isMine, game} = page;
  const {entries, blocked, draft} = snap;
  const legal = new Set(entries.map(entry => entry.tool));
  const prompt = page.message || draft.warning || (page.chip != null ? 'The board after this action. Click it again to return.'
    : !isMine ? '' : entering.tool ? `${entering.labelOf(entering.tool)}${entering.taken.length ? `: ${entering.taken.map(target => game.grid ? target : snap.targets[target] ?? target).join(', ')}, and …` : ''} (Esc: back)`
      : draft.can_end && entries.every(({tool}) => tool === 'end') ? 'The turn is complete.' : 'Choose a tool, or click on the board.');
  return html`<div class="tools" role="group" aria-label="Tools">${game.tools.filter(({name}) => name !== 'end').map(({name, label, key}) => html`
      <button type="button" data-tool=${name} aria-pressed=${isMine && entering.tool === name} aria-disabled=${!isMine || !legal.has(name)}
        title=${blocked[name] || nothing} @click=${event => page.tool(name, event.currentTarget)}>${label} <kbd>${key}</kbd></button>`)}
      ${game.proposals ? button(game.proposals.label, () => page.ask('proposal'), {off: !isMine}) : nothing}</div>
    <p class="prompt">${prompt}</p>`;
}

function over(page) {
  const {is_over: isOver, winners, points, scores, seats, game, players} = page.snap;
  if (!isOver) return nothing;
  const parts = (points ?? []).map(own => new Map(own.parts));
  const again = () => {
    takeSeats(seats, 1);
    create(page, {game, players, seats: readSeats(page.info, players)});
  };
  return html`<section class="card over" aria-labelledby="over"><h2 id="over">${winners.map(seat => html`${seatMark(seat)} Seat ${seat} `)}
      ${winners.length > 1 ? 'share the win' : 'wins'}</h2>
    <table><thead><tr><td></td>${scores.map((_, seat) => html`<th scope="col">${seatMark(seat)} ${seat}</th>`)}</tr></thead><tbody>
      ${[...new Set(parts.flatMap(own => [...own.keys()]))].map(name => html`<tr><th scope="row">${name}</th>${
        parts.map(own => html`<td>${own.get(name)}</td>`)}</tr>`)}
      <tr class="sum"><th scope="row">Points</th>${scores.map(score => html`<td>${score}</td>`)}</tr></tbody></table>
    <div class="row">${button('Review', () => page.go(0), {kind: 'primary'})}${button('Play again, seats rotated', again)}</div></section>`;
}

function journal(page) {
  const {turns} = page.snap;
  const isReview = page.mode === 'review';
  const look = index => () => {
    page.looked = isReview || page.shown ? null : index;
    page.paint();
  };
  return html`<section class="card journal" aria-labelledby="turns"><div class="row"><h2 id="turns">Turns</h2><span class="grow"></span>
      ${page.isMine ? button('Resign', () => page.ask('resign'), {kind: 'link'}) : nothing}</div>
    <ol reversed @pointerleave=${look(null)}>${turns.map(({seat, text, scored}, index) => html`<li><button class="link"
      aria-current=${isReview && page.at === index + 1} @pointerenter=${look(index)} @focus=${look(index)} @blur=${look(null)}
      @click=${() => page.go(index + 1)}><span class="soft">${index + 1}</span>${seat == null ? html`<span class="mark">·</span>` : seatMark(seat)}
      <span class="turn">${text}</span><b>${page.noteOf(index)?.mark}</b><small>${scored.some(Boolean)
        ? scored.map(score => score > 0 ? `+${score}` : score).join(' ') : ''}</small></button></li>`).reverse()}</ol></section>`;
}

const dialogs = {
  help,
  text: ({answer}) => html`<h2>The board as text</h2><pre tabindex="0">${answer?.text}</pre>`,
  resign: page => html`<h2>Resign?</h2><p>The game ends, and the others win.</p>
    ${button('Resign', () => page.close(() => page.turn({resign: true})), {kind: 'primary'})}`,
  proposal: page => html`<h2>Do all agree?</h2><p>${page.game.proposals.question} The engine says:</p>
    <p class="fault">${page.answer?.message}</p><ul>${page.answer?.opinions?.map(({action, agrees, explanation}) => html`<li><b>${action}</b>:
      ${explanation} ${agrees ? button('Agree', () => page.close(() => page.draft([...page.snap.draft.actions, action]))) : nothing}</li>`) ?? 'thinking …'}</ul>`,
  on: page => html`<h2>Play on from turn ${page.spot.at}</h2>${seatRows(page, page.snap.players)}
    ${button('Start', () => create(page, {from: page.snap.id, at: page.spot.at, seats: readSeats(page.info, page.snap.players)}), {
      kind: 'primary big'})}`,
};

const dialog = page => html`<dialog @close=${() => page.set({dialog: null})}>${dialogs[page.dialog](page)}
  <div class="row end">${button('Close', () => page.close())}</div></dialog>`;

const KEYS = [
  ['← → ↑ ↓', 'move on the board, or in the list of candidates'], ['Enter', 'choose; with Shift: always ask for details'], ['Esc', 'step back'],
  ['Ctrl+Z', 'undo'], ['Ctrl+Y', 'redo'], ['/', 'type an action or a turn'], ['T', 'the board as text (with Shift)'], ['?', 'this list'],
  ['← → Home End', 'in a review: turns'], ['N P', 'in a review: next and previous ?'],
];

function help(page) {
  const check = (name, words) => html`<label class="row"><input type="checkbox" .checked=${settings[name]}
    @change=${event => keep({[name]: event.target.checked})}> ${words}</label>`;
  return html`<h2>Keys</h2><div class="row top-row">${[KEYS, page.game.tools.map(({key, label}) => [key, label])].map(rows => html`<table><tbody>
    ${rows.map(([keys, words]) => html`<tr><th scope="row">${keys.split(' ').map(key => html`<kbd>${key}</kbd> `)}</th><td>${words}</td></tr>`)}
    </tbody></table>`)}</div><h2>Settings</h2>
    <div class="row">Colours ${choice('Colours', [['', 'system'], ['light', 'light'], ['dark', 'dark']], settings.theme, theme => keep({theme}))}</div>
    ${check('keys', 'keys for tools')}${check('motion', 'show turns of engines action by action')}`;
}

new Page().start();
