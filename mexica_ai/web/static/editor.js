// The editor of positions. Brushes and controls are data of the server, so that it knows no game.
import { html, nothing, render } from './vendor/lit-html.js';

const REST = 300; // ms without a change before the position is checked
const MOVE = { name: 'move', key: 'm', label: 'Move' };

/** Return JSON as text that a person can read: what fits stands on one line. */
export function pretty(value, indent = '') {
  const line = JSON.stringify(value);
  if (line.length + indent.length <= 100 || typeof value !== 'object') return line;
  const isList = Array.isArray(value);
  const inner = indent + '  ';
  const entries = Object.entries(value).map(([key, entry]) =>
    inner + (isList ? '' : JSON.stringify(key) + ': ') + pretty(entry, inner));
  return `${'{['[+isList]}\n${entries.join(',\n')}\n${indent}${'}]'[+isList]}`;
}

/**
 * Show the editor in an element; return what ends it.
 * `page`: games (of /api/info), post(url, data), parse(svg) -> element, say(text), open(position, mode), and perhaps
 * a position or the name of a game to begin with.
 */
export function startEditor(root, page) {
  let given = null; // the position as JSON, faulty or not
  let picture = null, palette = null, words = {}, faults = [], isValid = false;
  let text = '', brush = MOVE.name, start = null, spot = null, shown = null, isChecked = true;
  let past = [], future = [], timer = 0, asked = 0;
  let queue = Promise.resolve();
  const icons = new Map();

  const game = () => page.games.find((one) => one.name === given?.game);
  const brushes = () => (palette?.brushes.length ? [MOVE, ...palette.brushes] : []);
  const targets = () => [...(picture?.querySelectorAll('[data-target]') ?? [])];
  const place = (name) => targets().find((one) => one.dataset.target === name);

  // Requests run one after another: each edit begins where the one before it ended.
  function ask(url, data, then) {
    queue = queue.then(async () => {
      try {
        then(await page.post(url, typeof data === 'function' ? data() : data));
      } catch (error) {
        page.say(error.message.replace(/^command\.\w+: /, ''), 'error');
        draw();
      }
    });
    return queue;
  }

  function take(answer, { keep = true, write = true } = {}) {
    if (keep && given && JSON.stringify(given) !== JSON.stringify(answer.given)) {
      past.push(given);
      future = [];
    }
    ({ given, palette, targets: words } = answer);
    const svg = Object.values(answer.parts)[0];
    picture = svg ? page.parse(svg) : null;
    if (!brushes().some((one) => one.name === brush)) brush = MOVE.name;
    if (write) text = pretty(given);
    if (answer.faults) judge(answer);
    else check();
    draw();
  }

  function judge(answer) {
    const before = faults.length;
    ({ faults } = answer);
    isValid = Boolean(answer.position);
    isChecked = true;
    if (before !== faults.length) page.say(faults.length ? `${faults.length} faults` : 'No faults');
  }

  function check() {
    isChecked = isValid = false;
    clearTimeout(timer);
    const number = ++asked;
    timer = setTimeout(() => ask('/api/validate', () => ({ position: given }), (answer) => {
      if (number === asked) judge(answer);
      draw();
    }), REST);
  }

  const edit = (command) => ask('/api/edit', () => ({ position: given, command }), (answer) => take(answer));
  const load = (position) => ask('/api/draw', { position }, (answer) => {
    if (answer.given) take(answer);
    else page.say(answer.faults[0].message, 'error');
  });
  const begin = (name, players) => ask('/api/edit', { game: name, players }, (answer) => take(answer));

  function step(from, to) {
    if (!from.length) return;
    to.push(given);
    ask('/api/draw', { position: from.pop() }, (answer) => take(answer, { keep: false }));
  }

  function typed(event) {
    text = event.target.value;
    isChecked = isValid = false;
    clearTimeout(timer);
    const number = ++asked;
    timer = setTimeout(() => ask('/api/draw', { position: text }, (answer) => {
      if (number !== asked) return;
      if (answer.given && typeof answer.given === 'object') take(answer, { write: false });
      else judge(answer);
      draw();
    }), REST);
    draw();
  }

  // --- the picture

  function use(target) {
    if (brush !== MOVE.name) edit({ brush, target });
    else if (start === null) [start] = [target];
    else {
      if (start !== target) edit({ from: start, to: target });
      start = null;
    }
    spot = target;
    draw();
  }

  // Arrow keys go to the next target in their direction, whatever the picture looks like.
  const ARROWS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
  const middle = (one) => ['x', 'y'].map((key, axis) =>
    one[key].baseVal.value + one[['width', 'height'][axis]].baseVal.value / 2);

  function walk(event) {
    const way = ARROWS[event.key];
    if (event.key === 'Enter' || event.key === ' ') {
      if (spot) use(spot);
    } else if (way) {
      const from = place(spot) && middle(place(spot));
      let best = Infinity;
      for (const one of from ? targets() : []) {
        const [x, y] = middle(one).map((value, axis) => value - from[axis]);
        const along = x * way[0] + y * way[1], aside = Math.abs(x * way[1]) + Math.abs(y * way[0]);
        if (along > 1 && along + 3 * aside < best) [best, spot] = [along + 3 * aside, one.dataset.target];
      }
      place(spot)?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
      draw();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  function spaces() {
    if (!place(spot)) spot = targets()[0]?.dataset.target ?? null;
    const said = [spot, words[spot], start === spot && 'to be moved',
      ...faults.filter((fault) => fault.targets.includes(spot)).map((fault) => fault.message)];
    return html`<div class="editor-spaces" role="listbox" tabindex="0" aria-label="Spaces" @keydown=${walk}
      aria-activedescendant="at:${spot}" @focus=${light} @blur=${light}>
      <div role="option" id="at:${spot}" aria-selected="true">${said.filter(Boolean).join(', ')}</div></div>`;
  }

  const under = (event) => document.elementFromPoint(event.clientX, event.clientY)
    ?.closest?.('.editor-picture [data-target]')?.dataset.target;
  let pressed = null;
  function press(event) {
    pressed = event.isPrimary && event.button === 0 ? under(event) : null;
  }
  function release(event) {
    const target = under(event);
    if (pressed && target && pressed !== target) edit({ from: pressed, to: target });
    else if (pressed && target) use(target);
    pressed = null;
  }

  function light() {
    const lit = new Set(faults.flatMap((fault) => fault.targets));
    for (const one of targets()) {
      const name = one.dataset.target;
      one.classList.toggle('faulty', lit.has(name));
      one.classList.toggle('pointed', Boolean(shown?.targets.includes(name)) || name === start);
      one.classList.toggle('here', name === spot && root.querySelector('.editor-spaces')?.contains(document.activeElement));
    }
  }

  // --- controls

  const faultsOf = (path) => faults.filter((fault) => fault.controls.includes(path));
  const isInvalid = (path) => (faultsOf(path).length ? 'true' : nothing);
  const itemsOf = (control) => [...control.value];
  const labelOf = (control, value) => control.choices.find(([one]) => one === value)?.[1] ?? String(value);

  function set(control, input, value) {
    if (Number.isNaN(value)) input.value = control.value;
    else edit({ path: control.path, value });
  }

  const CONTROLS = {
    number: (c) => html`<label class="field">${c.label}
      <input type="number" min=${c.low} max=${c.high} step=${c.step} .value=${String(c.value)} data-path=${c.path}
        aria-invalid=${isInvalid(c.path)} @change=${(e) => set(c, e.target, e.target.valueAsNumber)}></label>`,
    flag: (c) => html`<label class="field"><input type="checkbox" .checked=${c.value} data-path=${c.path}
        aria-invalid=${isInvalid(c.path)} @change=${(e) => set(c, e.target, e.target.checked)}>${c.label}</label>`,
    choice: (c) => html`<label class="field">${c.label}
      <select data-path=${c.path} aria-invalid=${isInvalid(c.path)}
        @change=${(e) => set(c, e.target, c.choices[e.target.value]?.[0])}>
        ${c.choices.some(([value]) => value === c.value) ? '' : html`<option value="" selected>${String(c.value)}</option>`}
        ${c.choices.map(([value, label], index) => html`<option value=${index} ?selected=${value === c.value}
          .selected=${value === c.value}>${label}</option>`)}</select></label>`,
    bag: (c) => html`<fieldset class="bag" data-path=${c.path} ?data-invalid=${faultsOf(c.path).length}>
      <legend>${c.label}</legend>${c.choices.map(([item, label]) => html`<label>${label}
        <input type="number" min="0" max="99" .value=${String(itemsOf(c).filter((one) => one === item).length)}
          aria-invalid=${isInvalid(c.path)}
          @change=${(e) => edit({ path: c.path, item, count: e.target.valueAsNumber || 0 })}></label>`)}</fieldset>`,
    row: (c) => html`<fieldset class="row" data-path=${c.path} ?data-invalid=${faultsOf(c.path).length}>
      <legend>${c.label}</legend>
      ${c.is_ordered ? adder(c, 'put first…', 0) : ''}
      ${itemsOf(c).map((item, index) => html`<button type="button" class="chip" aria-label="Remove ${labelOf(c, item)}"
        @click=${() => edit({ path: c.path, remove: index })}>${labelOf(c, item)} <span aria-hidden="true">×</span></button>`)}
      ${adder(c, c.is_ordered ? 'put last…' : 'add…', c.value.length)}</fieldset>`,
    button: (c) => html`<button type="button" data-path=${c.path} @click=${() => edit({ path: c.path })}>${c.label}</button>`,
  };

  const adder = (c, label, at) => html`<select aria-label="${c.label}, ${label}" @change=${(e) => {
      const [item] = c.choices[e.target.value];
      e.target.value = '';
      edit({ path: c.path, item, at });
    }}><option value="" selected>${label}</option>
    ${c.choices.map(([, words], index) => html`<option value=${index}>${words}</option>`)}</select>`;

  const controls = (group) => html`<details class="editor-group" ?open=${group.title === palette.groups[0].title}>
    <summary ?data-invalid=${group.controls.some((c) => faultsOf(c.path).length)}>${group.title}</summary>
    <div class="fields">${group.controls.map((c) => CONTROLS[c.kind](c))}</div></details>`;

  // --- faults

  function go(fault) {
    shown = fault;
    const control = fault.controls.map((path) => root.querySelector(`[data-path="${CSS.escape(path)}"]`)).find(Boolean);
    const target = fault.targets.map(place).find(Boolean);
    control?.closest('details')?.setAttribute('open', '');
    if (target) target.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    const brushed = fault.targets.map((name) => root.querySelector(`[data-brush="${CSS.escape(name)}"]`)).find(Boolean);
    const focus = control ?? brushed ?? (target ? null : root.querySelector('.editor-json textarea'));
    (focus?.matches('fieldset') ? focus.querySelector('input,select,button') : focus)?.focus();
    draw();
  }
  const point = (fault) => () => {
    shown = fault;
    light();
  };

  const list = () => html`<section class="editor-faults" aria-label="Faults">
    <h2>${!isChecked ? 'Checking…' : faults.length ? `${faults.length} ${faults.length > 1 ? 'faults' : 'fault'}` : 'No faults'}</h2>
    <ul>${faults.map((fault) => html`<li><button type="button" @click=${() => go(fault)} @mouseenter=${point(fault)}
      @focus=${point(fault)} @mouseleave=${point(null)} @blur=${point(null)}>${fault.message.replace(/^\$\.?/, '')}</button></li>`)}</ul>
    </section>`;

  // --- all of it

  const icon = (one) => {
    if (!one.icon) return '';
    if (!icons.has(one.icon)) {
      const drawn = page.parse(one.icon);
      drawn.setAttribute('aria-hidden', 'true');
      icons.set(one.icon, drawn);
    }
    return icons.get(one.icon);
  };

  function draw() {
    const names = page.games;
    render(html`<form class="editor-start" @submit=${(e) => {
        e.preventDefault();
        const [name, players] = e.submitter.form.elements.start.value.split(' ');
        begin(name, Number(players));
      }}>
      <label>New <select name="start">${names.flatMap((one) => one.players.map((players) =>
        html`<option value="${one.name} ${players}" ?selected=${one.name === given?.game && players === given.players}>${one.title}, ${players} players</option>`))}
        </select></label><button>Start</button>
      <button type="button" ?disabled=${!past.length} title="Ctrl+Z" @click=${() => step(past, future)}>Undo</button>
      <button type="button" ?disabled=${!future.length} title="Ctrl+Y" @click=${() => step(future, past)}>Redo</button>
      <button type="button" class="main" ?disabled=${!isValid} @click=${() => page.open(given, 'play')}>Play</button>
      <button type="button" ?disabled=${!isValid} @click=${() => page.open(given, 'analyse')}>Analyse</button>
      </form>
      ${brushes().length ? html`<div class="editor-brushes" role="radiogroup" aria-label="Brushes">
        ${brushes().map((one) => html`<button type="button" role="radio" aria-checked=${one.name === brush}
          data-brush="brush:${one.name}" ?data-invalid=${faults.some((fault) => fault.targets.includes(`brush:${one.name}`))}
          title="${one.label} (${one.key})" @click=${() => choose(one.name)}>${icon(one)}<span>${one.label}</span></button>`)}</div>` : ''}
      <div class="editor-main">
        <div class="editor-picture" aria-hidden="true" @pointerdown=${press} @pointerup=${release}
          @pointercancel=${() => { pressed = null; }}>${picture ?? ''}</div>
        ${brushes().length ? spaces() : ''}
        <div class="editor-side">${list()}${palette ? palette.groups.map(controls) : ''}
          <details class="editor-json" ?open=${!palette}><summary>JSON</summary>
            <textarea aria-label="Position as JSON or in the compact form" spellcheck="false" rows="16" .value=${text}
              @input=${typed}></textarea></details></div>
      </div>`, root);
    light();
  }

  function choose(name) {
    brush = name;
    start = null;
    draw();
  }

  function key(event) {
    const name = event.key.toLowerCase();
    if (event.target.closest('textarea') || event.altKey) return;
    if (event.ctrlKey || event.metaKey) {
      if (name === 'z' && !event.shiftKey) step(past, future);
      else if (name === 'y' || name === 'z') step(future, past);
      else return;
    } else {
      const one = event.target.closest('input, select') ? null : brushes().find((each) => each.key === name);
      if (!one) return;
      choose(one.name);
      page.say(one.label);
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
