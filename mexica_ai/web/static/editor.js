// @ts-check
// The editor of positions. The server describes its brushes and controls, so it is independent of the game.
import {button, find, html, nothing, parsePicture, pathOf, query, request, same, say} from './api.js';
import {Board} from './board.js';
import {t} from './words.js';

const REST_MS = 300;  // from the last change to the check of the position
const LEAST_WIDTH = 840;  // of a picture; narrower pages scroll
const MOVE = {name: 'move', key: 'm', label: t('Move')};
const count = ({length}) => (length ? t('{n:error|errors}', {n: length}) : t('No errors'));

export class Editor {
  given = null;  // the position as JSON, faulty or not
  text = '';  // of the text field
  picture = null;
  palette = null;
  words = {};
  faults = [];
  isValid = false;
  brush = MOVE.name;
  from = null;  // the target of the piece to move
  way = [];  // targets that a brush is being drawn over
  pointed = null;  // the highlighted error
  isLeaving = false;  // for a game of the position
  past = [];
  future = [];
  changes = 0;
  queue = Promise.resolve();

  constructor(page) {
    this.page = page;
    this.board = new Board({
      drag: target => { this.from = target; }, take: target => this.use(target), miss: () => { this.from = null; },
      stroke: (targets, isEnd) => this.stroke(targets, isEnd),
    });
    addEventListener('keydown', event => this.key(event));
    addEventListener('pageshow', () => { this.isLeaving = false; });
    const {game, at, line, empty, players} = Object.fromEntries(new URLSearchParams(location.search));
    const kind = page.info.games.find(one => one.name === empty);
    if (kind) this.begin(kind, Number(players) || undefined);
    else if (game) {
      request('GET', `/api/games/${game}/position${query({at, line})}`)
        .then(position => this.load(() => position), error => page.tell(error.message));
    } else this.begin(page.info.games.find(one => one.grid) ?? page.info.games[0]);
  }

  // --- the position

  // Requests run one after another: each edit applies to the result of the one before.
  /** @param {string} path @param {() => any} body @param {(answer: any) => any} take @param {() => void} [refuse] */
  ask(path, body, take, refuse) {
    this.queue = this.queue.then(async () => {
      try {
        const answer = await request('POST', path, body());
        this.page.message = '';
        take(answer);
      } catch (error) {
        this.page.tell(error.message);
        refuse?.();
      }
      this.page.render();
    });
  }

  rest(path, body, take) {
    const change = this.changes += 1;
    this.isValid = false;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(path, body, answer => change === this.changes && take(answer)), REST_MS);
  }

  take(answer, isStep = false) {
    if (!isStep && this.given && !same(this.given, answer.given)) {
      this.past.push(this.given);
      this.future = [];
    }
    Object.assign(this, {given: answer.given, palette: answer.palette, words: answer.targets});
    if (answer.picture) this.picture = parsePicture(answer.picture);
    for (const one of this.palette?.brushes ?? []) {
      one.icon = Object.assign(parsePicture(one.icon), {ariaHidden: 'true'});
    }
    if (!this.brushes.some(one => one.name === this.brush)) this.brush = MOVE.name;
    clearTimeout(this.timer);
    if (answer.faults) return this.judge(answer);
    this.text = answer.text;
    return this.rest('/api/validate', () => ({position: this.given}), found => this.judge(found));
  }

  judge({faults, position}) {
    if (!same(faults, this.faults)) say(count(faults));
    this.faults = faults;
    this.isValid = Boolean(position);
  }

  /** @param {any} command @param {any} [field] from which it comes */
  edit(command, field) {
    const typed = field?.value;
    this.ask('/api/edit', () => ({position: this.given, command}), answer => this.take(answer), () => {
      // What was refused does not stay in its field; what has been typed since does.
      if (field && field.value === typed) field.value = field.defaultValue;
    });
  }

  /** @param {{name: string, players?: number[]}} game */
  begin({name, players}, number = players[0]) {
    this.ask('/api/edit', () => ({game: name, players: number}), answer => this.take(answer));
  }

  /** @param {() => any} find @param {() => void} [step] what an answer to an undo or a redo changes */
  load(find, step) {
    this.ask('/api/draw', () => ({position: find()}), answer => {
      if (!answer.given) throw new Error(answer.faults[0].words);
      step?.();
      this.text = answer.text;
      this.take(answer, Boolean(step));
    });
  }

  // Without an answer nothing changes: else what is played would not be what is shown.
  step(from, to) {
    this.load(() => from.at(-1) ?? this.given, () => {
      if (from.length) to.push(this.given);
      from.pop();
    });
  }

  type(text) {
    this.text = text;
    this.rest('/api/draw', () => ({position: text}), answer =>
      (answer.picture ? this.take(answer) : this.judge(answer)));
    this.page.render();
  }

  async open(mode) {
    if (this.isLeaving) return;
    this.isLeaving = true;
    const body = {position: this.given, seats: mode ? Array(this.given.players).fill({kind: 'person'}) : null, open: mode ? true : null};
    try {
      location.href = `/g/${(await request('POST', '/api/games', body)).id}${mode}`;
    } catch (error) {
      this.isLeaving = false;
      this.page.tell(error.message);
    }
  }

  // --- the picture

  get brushes() {
    return this.palette?.brushes.length ? [MOVE, ...this.palette.brushes] : [];
  }

  use(target) {
    const {from} = this;
    this.from = null;
    if (from !== null) {
      if (from !== target) this.edit({from, to: target});
    } else if (this.brush === MOVE.name) this.from = target;
    else this.edit({brush: this.brush, target});
    this.paint();
  }

  // Draw the brush over targets: at the end in one step.
  stroke(targets, isEnd) {
    const {brush, brushes} = this;
    if (!brushes.find(one => one.name === brush)?.strokes) return false;
    this.way = isEnd ? [] : targets;
    if (isEnd) this.edit({brush, targets});
    this.paint();
    return true;
  }

  choose(name) {
    Object.assign(this, {brush: name, from: null});
    this.page.render();
  }

  paint() {
    const host = find('.editor .desk');
    const {board, picture, faults} = this;
    if (!host || !picture) return;
    board.attach(host, this.page.info.games.find(one => one.name === this.given.game)?.grid);
    if (board.picture.firstChild !== picture) {
      board.picture.replaceChildren(picture);
      const width = picture.width.baseVal.value;
      Object.assign(host.style, {maxWidth: `${width}px`, minWidth: `${Math.min(width, LEAST_WIDTH)}px`});
      board.arrange();
    }
    const names = board.rects().map(rect => rect.dataset.target);
    board.light(new Map(), new Set(this.brushes.length ? names : []), name => [name.replace(/[:_]/g, ' '),
      this.words[name], name === this.from && t('to be moved'),
      ...faults.map(fault => fault.targets.includes(name) && fault.words)].filter(Boolean).join(', '));
    for (const rect of board.rects()) {
      const name = rect.dataset.target;
      rect.classList.toggle('faulty', this.isFaulty(name, 'targets'));
      rect.classList.toggle('pointed', name === this.from || this.way.includes(name) || Boolean(this.pointed?.targets.includes(name)));
    }
  }

  key(event) {
    const name = event.key.toLowerCase();
    if (event.defaultPrevented || event.altKey || event.target.matches('textarea')) return;
    if (event.ctrlKey || event.metaKey) {
      if (name === 'z' && !event.shiftKey) this.step(this.past, this.future);
      else if (name === 'y' || name === 'z') this.step(this.future, this.past);
      else return;
    } else {
      const one = !event.target.matches('input, select') && this.brushes.find(each => each.key === name);
      if (!one) return;
      this.choose(one.name);
      say(one.label);
    }
    event.preventDefault();
  }

  // --- controls

  isFaulty(name, kind = 'controls') {
    return this.faults.some(fault => fault[kind].includes(name));
  }

  control(control) {
    const {kind, label, value, path, choices} = control;
    const isFaulty = this.isFaulty(path);
    const invalid = isFaulty ? 'true' : nothing;
    const set = found => this.edit({path, value: found});
    const adder = (words, at) => html`<select aria-label="${label}: ${words}" @change=${({target}) => {
      this.edit({path, item: choices[target.value][0], at});
      target.value = '';
    }}><option value="">${words}</option>${options()}</select>`;
    const options = () => choices.map(([one, words], index) =>
      html`<option value=${index} .selected=${kind === 'choice' && one === value}>${words}</option>`);
    const number = item => [...value].filter(one => one === item).length;
    const fieldset = body => html`<fieldset class=${kind} data-path=${path} ?data-invalid=${isFaulty}>
      <legend>${label}</legend>${body}</fieldset>`;
    switch (kind) {
      case 'number': return html`<label class="field">${label}<input type="number" min=${control.low}
        max=${control.high} step=${control.step} value=${value ?? ''} .value=${String(value ?? '')} data-path=${path} aria-invalid=${invalid}
        @change=${({target}) => target.value ? this.edit({path, value: target.valueAsNumber}, target) : (target.value = target.defaultValue)}></label>`;
      case 'flag': return html`<label class="field"><input type="checkbox" .checked=${Boolean(value)} data-path=${path}
        aria-invalid=${invalid} @change=${({target}) => set(target.checked)}>${label}</label>`;
      case 'choice': return html`<label class="field">${label}<select data-path=${path} aria-invalid=${invalid}
        @change=${({target}) => choices[target.value] && set(choices[target.value][0])}>${
        choices.some(([one]) => one === value) ? nothing : html`<option value="" .selected=${true}>${value}</option>`
        }${options()}</select></label>`;
      case 'bag': return fieldset(choices.map(([item, words]) => html`<label>${words} <input type="number" min="0"
        max="99" value=${number(item)} .value=${String(number(item))} aria-invalid=${invalid}
        @change=${({target}) => this.edit({path, item, count: target.valueAsNumber || 0}, target)}></label>`));
      case 'row': return fieldset([control.is_ordered ? adder(t('put first…'), 0) : nothing,
        [...value].map((item, index) => button([choices.find(([one]) => one === item)?.[1] ?? item, ' ×'],
          () => this.edit({path, remove: index}), {kind: 'chip', title: t('Remove')})),
        adder(control.is_ordered ? t('put last…') : t('add…'), value.length)]);
      default: return html`<button type="button" data-path=${path} @click=${() => this.edit({path})}>${label}</button>`;
    }
  }

  // --- errors

  point(fault) {
    this.pointed = fault;
    this.paint();
  }

  go(fault) {
    const find = (key, names) => names
      .map(name => document.querySelector(`.editor [data-${key}="${CSS.escape(name)}"]`)).find(Boolean);
    const target = find('target', fault.targets);
    const found = find('path', fault.controls) ?? find('brush', fault.targets)
      ?? (target ? null : document.querySelector('.editor textarea'));
    found?.closest('details')?.setAttribute('open', '');
    (found?.querySelector('input, select') ?? found)?.focus();
    target?.scrollIntoView({block: 'nearest', inline: 'nearest'});
    this.point(fault);
  }

  // --- template

  view() {
    queueMicrotask(() => this.paint());
    const {page, given, faults, palette} = this;
    const start = event => {
      event.preventDefault();
      const [name, players] = event.target.elements.start.value.split(' ');
      this.begin({name}, Number(players));
    };
    return html`<main class="editor"><h1 class="unseen">${t('Editor')}</h1>
      <form @submit=${start}><label>${t('New')} <select name="start">${page.info.games.map(({name, title, players}) =>
        players.map(number => html`<option value="${name} ${number}" ?selected=${
          name === given?.game && number === given.players}>${title}, ${t('{n:player|players}', {n: number})}</option>`))}</select></label>
      <button>${t('Start')}</button><span class="grow"></span>
      ${button(t('Undo'), () => this.step(this.past, this.future), {off: !this.past.length})}
      ${button(t('Redo'), () => this.step(this.future, this.past), {off: !this.future.length})}
      ${button(t('Play'), () => this.open(''), {off: !this.isValid, kind: 'primary'})}
      ${button(t('Analyse'), () => this.open('#review'), {off: !this.isValid})}</form>
      <div class="brushes" role="group" aria-label=${t('Brushes')}>${this.brushes.map(({name, key, label, icon = ''}) => html`
        <button aria-pressed=${name === this.brush} aria-label=${label} title="${label}: ${key}"
          data-brush="brush:${name}" ?data-invalid=${this.isFaulty(`brush:${name}`, 'targets')}
          @click=${() => this.choose(name)}>${icon}<span>${label}</span></button>`)}</div>
      <div class="edited"><div class="scroll"><div class="desk"></div></div><div class="side">
        <section aria-labelledby="faults"><h2 id="faults">${count(faults)}</h2>
          ${page.message ? html`<p class="message">${page.message}</p>` : nothing}
          <ul class="faults">${faults.map(fault => html`<li><button @click=${() => this.go(fault)}
            @pointerenter=${() => this.point(fault)} @focus=${() => this.point(fault)}
            @pointerleave=${() => this.point(null)} @blur=${() => this.point(null)}
            >${fault.words}</button>${pathOf(fault.path)}</li>`)}</ul></section>
        ${palette?.groups.map(({title, controls}, index) => html`<details ?open=${!index}>
          <summary ?data-invalid=${controls.some(({path}) => this.isFaulty(path))}>${title}</summary>
          <div class="fields">${controls.map(control => this.control(control))}</div></details>`)}
        <details ?open=${!palette}><summary>JSON</summary><textarea spellcheck="false" rows="16"
          aria-label=${t('Position as JSON or in the compact form')} .value=${this.text}
          @input=${({target}) => this.type(target.value)}></textarea></details></div></div></main>`;
  }
}
