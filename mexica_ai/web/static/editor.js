// The editor of positions. Brushes and controls are data of the server, so that it knows no game.
import {html, nothing, parsePicture, render, request, say} from './api.js';

const REST = 300; // ms without a change before the position is checked
const MOVE = {name: 'move', key: 'm', label: 'Move'};
const ARROWS = {ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1]};

/**
 * Show the editor in an element; return what loads a position, begins a new game, and ends the editor.
 * `games` are those of /api/info; `open(position, mode)` begins a game from a position: mode "play" or "analyse".
 */
export function startEditor(root, games, open) {
  let given = null, text = ''; // the position as JSON, faulty or not, and what the text field says
  let picture = null, palette = null, words = {}, faults = [], isValid = false;
  let brush = MOVE.name, start = null, spot = null, shown = null, pressed = null;
  let past = [], future = [], notice = '', timer = 0, change = 0, queue = Promise.resolve();
  const icons = new Map();

  const brushes = () => (palette?.brushes.length ? [MOVE, ...palette.brushes] : []);
  const targets = () => [...(picture?.querySelectorAll('[data-target]') ?? [])];
  const place = name => targets().find(one => one.dataset.target === name);
  const find = (key, name) => root.querySelector(`[data-${key}="${CSS.escape(name)}"]`);

  const tell = message => say(notice = message);

  // Requests run one after another: each edit begins where the one before it ended.
  function ask(url, data, then) {
    queue = queue.then(async () => {
      try {
        notice = '';
        then(await request('POST', url, data()));
      } catch (error) {
        tell(error.message.replace(/^command\.\w+: /, ''));
      }
      draw();
    });
    return queue;
  }

  function rest(url, data, then) {
    isValid = false;
    clearTimeout(timer);
    const number = ++change;
    timer = setTimeout(() => ask(url, data, answer => number === change && then(answer)), REST);
    draw();
  }

  function take(answer, {keep = true, write = true} = {}) {
    if (keep && given && JSON.stringify(given) !== JSON.stringify(answer.given)) {
      past.push(given);
      future = [];
    }
    ({given, palette, targets: words} = answer);
    picture = answer.parts.all ? parsePicture(answer.parts.all) : null;
    if (!brushes().some(one => one.name === brush)) brush = MOVE.name;
    if (write) ({text} = answer);
    if (answer.faults) judge(answer);
    else rest('/api/validate', () => ({position: given}), judge);
  }

  function judge(answer) {
    if (answer.faults.length !== faults.length) say(count(answer.faults));
    ({faults} = answer);
    isValid = Boolean(answer.position);
  }

  const count = ({length}) => (length ? `${length} fault${length > 1 ? 's' : ''}` : 'No faults');
  const edit = command => ask('/api/edit', () => ({position: given, command}), take);
  const begin = (game, players) => ask('/api/edit', () => ({game, players}), take);
  const load = position => ask('/api/draw', () => ({position}), answer =>
    (answer.given ? take(answer) : tell(answer.faults[0].message)));
  const typed = event => {
    text = event.target.value;
    rest('/api/draw', () => ({position: text}), answer =>
      (answer.parts.all ? take(answer, {write: false}) : judge(answer)));
  };

  const step = (from, to) => from.length && ask('/api/draw', () => {
    to.push(given);
    return {position: from.pop()};
  }, answer => take(answer, {keep: false}));

  // --- the picture

  function use(target) {
    spot = target;
    if (brush !== MOVE.name) edit({brush, target});
    else if (start === null) start = target;
    else {
      if (start !== target) edit({from: start, to: target});
      start = null;
    }
    draw();
  }

  const under = event => document.elementFromPoint(event.clientX, event.clientY)
    ?.closest('.editor-picture [data-target]')?.dataset.target;
  const press = event => {pressed = event.button ? null : under(event);};
  function release(event) {
    const target = under(event);
    if (pressed && target === pressed) use(target);
    else if (pressed && target) edit({from: pressed, to: target});
    pressed = null;
  }

  // Arrow keys go to the next target in their direction, whatever the picture looks like.
  const middle = ({x, y, width, height}) =>
    [x.baseVal.value + width.baseVal.value / 2, y.baseVal.value + height.baseVal.value / 2];
  function walk(event) {
    const way = ARROWS[event.key];
    if (!spot || !(way || event.key === 'Enter' || event.key === ' ')) return;
    event.preventDefault();
    if (!way) return void use(spot);
    const from = middle(place(spot));
    let least = Infinity;
    for (const one of targets()) {
      const [x, y] = middle(one).map((value, axis) => value - from[axis]);
      const along = x * way[0] + y * way[1], far = along + 3 * Math.abs(x * way[1] + y * way[0]);
      if (along > 1 && far < least) [least, spot] = [far, one.dataset.target];
    }
    place(spot).scrollIntoView({block: 'nearest', inline: 'nearest'});
    draw();
  }

  function spaces() {
    if (!place(spot)) spot = targets()[0]?.dataset.target ?? null;
    const said = [spot?.replaceAll(':', ' '), words[spot], start === spot && 'to be moved',
      ...faults.map(fault => fault.targets.includes(spot) && fault.message)];
    return html`<div class="editor-spaces" role="listbox" tabindex="0" aria-label="Spaces" @keydown=${walk}
      aria-activedescendant="at:${spot}" @focus=${light} @blur=${light}>
      <div role="option" id="at:${spot}" aria-selected="true">${said.filter(Boolean).join(', ')}</div></div>`;
  }

  function light() {
    const lit = new Set(faults.flatMap(fault => fault.targets));
    const isWalked = document.activeElement?.className === 'editor-spaces';
    for (const one of targets()) {
      const name = one.dataset.target;
      one.classList.toggle('faulty', lit.has(name));
      one.classList.toggle('pointed', name === start || Boolean(shown?.targets.includes(name)));
      one.classList.toggle('here', isWalked && name === spot);
    }
  }

  // --- controls

  const isFaulty = path => faults.some(fault => fault.controls.includes(path));
  const invalid = c => (isFaulty(c.path) ? 'true' : nothing);
  const set = (c, value) => edit({path: c.path, value});
  const labelOf = (c, value) => c.choices.find(([one]) => one === value)?.[1] ?? value;

  const CONTROLS = {
    number: c => html`<label class="field">${c.label}<input type="number" min=${c.low} max=${c.high} step=${c.step}
      .value=${String(c.value ?? '')} data-path=${c.path} aria-invalid=${invalid(c)}
      @change=${({target}) => target.value && set(c, target.valueAsNumber)}></label>`,
    flag: c => html`<label class="field"><input type="checkbox" .checked=${Boolean(c.value)} data-path=${c.path}
      aria-invalid=${invalid(c)} @change=${({target}) => set(c, target.checked)}>${c.label}</label>`,
    choice: c => html`<label class="field">${c.label}<select data-path=${c.path} aria-invalid=${invalid(c)}
      @change=${({target}) => c.choices[target.value] && set(c, c.choices[target.value][0])}>
      ${c.choices.some(([value]) => value === c.value) ? '' : html`<option value="" .selected=${true}>${c.value}</option>`}
      ${c.choices.map(([value, label], index) =>
        html`<option value=${index} .selected=${value === c.value}>${label}</option>`)}</select></label>`,
    bag: c => fieldset(c, c.choices.map(([item, label]) => html`<label>${label} <input type="number" min="0" max="99"
      .value=${String([...c.value].filter(one => one === item).length)} aria-invalid=${invalid(c)}
      @change=${({target}) => edit({path: c.path, item, count: target.valueAsNumber || 0})}></label>`)),
    row: c => fieldset(c, [c.is_ordered ? adder(c, 'put first…', 0) : '',
      [...c.value].map((item, index) => html`<button type="button" class="chip" title="Remove"
        @click=${() => edit({path: c.path, remove: index})}>${labelOf(c, item)} ×</button>`),
      adder(c, c.is_ordered ? 'put last…' : 'add…', c.value.length)]),
    button: c => html`<button type="button" data-path=${c.path} @click=${() => edit({path: c.path})}>${c.label}</button>`,
  };

  const fieldset = (c, body) => html`<fieldset class=${c.kind} data-path=${c.path} ?data-invalid=${isFaulty(c.path)}>
    <legend>${c.label}</legend>${body}</fieldset>`;

  const adder = (c, label, at) => html`<select aria-label="${c.label}: ${label}" @change=${({target}) => {
    edit({path: c.path, item: c.choices[target.value][0], at});
    target.value = '';
  }}><option value="">${label}</option>
    ${c.choices.map(([, words], index) => html`<option value=${index}>${words}</option>`)}</select>`;

  const group = ({title, controls}, index) => html`<details class="editor-group" ?open=${!index}>
    <summary ?data-invalid=${controls.some(c => isFaulty(c.path))}>${title}</summary>
    <div class="fields">${controls.map(c => CONTROLS[c.kind](c))}</div></details>`;

  // --- faults

  function go(fault) {
    const control = fault.controls.map(path => find('path', path)).find(Boolean)
      ?? fault.targets.map(name => find('brush', name)).find(Boolean);
    const target = fault.targets.map(place).find(Boolean);
    const found = control ?? (target ? null : root.querySelector('textarea'));
    found?.closest('details')?.setAttribute('open', '');
    (found?.matches('fieldset') ? found.querySelector('input, select') : found)?.focus();
    target?.scrollIntoView({block: 'nearest', inline: 'nearest'});
    point(fault);
  }

  function point(fault) {
    shown = fault;
    light();
  }

  const list = () => html`<section class="editor-faults" aria-label="Faults"><h2>${count(faults)}</h2>
    ${notice && html`<p class="notice">${notice}</p>`}<ul>${faults.map(fault => html`<li><button type="button" @click=${() => go(fault)}
      @pointerenter=${() => point(fault)} @focus=${() => point(fault)} @pointerleave=${() => point(null)}
      @blur=${() => point(null)}>${fault.message.replace(/^\$[.:]?\s*/, '')}</button></li>`)}</ul></section>`;

  // --- all of it

  function icon(svg) {
    if (!icons.has(svg)) icons.set(svg, parsePicture(svg));
    return icons.get(svg);
  }

  function startNew(event) {
    event.preventDefault();
    const [game, players] = event.target.elements.start.value.split(' ');
    begin(game, Number(players));
  }

  function draw() {
    render(html`<form class="editor-start" @submit=${startNew}><label>New <select name="start">
        ${games.flatMap(({name, title, players}) => players.map(number => html`<option
          value="${name} ${number}" ?selected=${name === given?.game && number === given.players}
          >${title}, ${number} players</option>`))}</select></label><button>Start</button>
      <button type="button" ?disabled=${!past.length} @click=${() => step(past, future)}>Undo</button>
      <button type="button" ?disabled=${!future.length} @click=${() => step(future, past)}>Redo</button>
      ${['Play', 'Analyse'].map(mode => html`<button type="button" class="main" ?disabled=${!isValid}
        @click=${() => open(given, mode.toLowerCase())}>${mode}</button>`)}</form>
      <div class="editor-brushes" role="group" aria-label="Brushes">${brushes().map(({name, key, label, icon: svg}) =>
        html`<button type="button" aria-pressed=${name === brush} data-brush="brush:${name}" aria-label=${label}
          title="${label}: ${key}" ?data-invalid=${faults.some(fault => fault.targets.includes(`brush:${name}`))}
          @click=${() => choose(name)}>${svg ? icon(svg) : ''}<span>${label}</span></button>`)}</div>
      <div class="editor-main"><div class="editor-picture" aria-hidden="true" @pointerdown=${press}
          @pointerup=${release}>${picture}</div>
        ${brushes().length ? spaces() : ''}
        <div class="editor-side">${list()}${palette?.groups.map(group)}
          <details class="editor-json" ?open=${!palette}><summary>JSON</summary><textarea spellcheck="false" rows="16"
            aria-label="Position as JSON or in the compact form" .value=${text} @input=${typed}></textarea></details>
        </div></div>`, root);
    light();
  }

  function choose(name) {
    brush = name;
    start = null;
    draw();
  }

  function key(event) {
    const name = event.key.toLowerCase();
    if (event.altKey || event.target.closest('textarea')) return;
    if (event.ctrlKey || event.metaKey) {
      if (name === 'z' && !event.shiftKey) step(past, future);
      else if (name === 'y' || name === 'z') step(future, past);
      else return;
    } else {
      const one = !event.target.closest('input, select') && brushes().find(each => each.key === name);
      if (!one) return;
      choose(one.name);
      say(one.label);
    }
    event.preventDefault();
  }

  document.addEventListener('keydown', key);
  draw();
  return {
    load,
    begin,
    end() {
      document.removeEventListener('keydown', key);
      clearTimeout(timer);
    },
  };
}
