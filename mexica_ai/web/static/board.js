// The board: the server's picture, its targets, and a grid or list of cells above it for the keyboard. Independent of
// the game. A legal action is entered by its tool and its targets; each click narrows the list of entries.
import {button, html, nothing, showPicture} from './api.js';

const MENU = 'menu:';
const isMenu = target => target.startsWith(MENU);
const price = entry => Number.parseFloat(entry.cost) || 0;
const cheapest = entries => entries.reduce((best, entry) => price(entry) < price(best) ? entry : best);

function add(map, key, value) {
  if (!map.has(key)) map.set(key, []);
  if (!map.get(key).includes(value)) map.get(key).push(value);
}

/** Narrows the entries of the legal actions by a tool and targets, in the order in which they are chosen. */
export class Entering {
  tool = null;
  taken = [];

  constructor() {
    this.set([], []);
  }

  /** Take new entries; the chosen tool and targets stay if they begin one of them. */
  set(entries, tools) {
    const {tool, taken} = this;
    this.entries = entries;
    this.tools = new Map(tools.map(one => [one.name, one]));
    const [first] = entries;
    // The only tool need not be chosen.
    this.alone = first?.targets.length && entries.every(entry => entry.tool === first.tool) ? first.tool : null;
    this.reset();
    if ((tool || taken.length) && this.matches(tool, taken).length) Object.assign(this, {tool, taken});
  }

  reset() {
    this.tool = this.alone;
    this.taken = [];
  }

  get isFresh() {
    return !this.tool && !this.taken.length;
  }

  labelOf(tool) {
    return this.tools.get(tool)?.label ?? tool;
  }

  /** The entries that begin with a tool, if it is chosen, and with targets. */
  matches(tool = this.tool, taken = this.taken) {
    return this.entries.filter(({tool: own, targets}) => (!tool || own === tool) && taken.every(this.tools.get(own)?.any_order
      ? target => targets.includes(target) : (target, index) => targets[index] === target));
  }

  /** The targets of an entry that can be taken now. */
  open({tool, targets}, all = this.tools.get(tool)?.any_order) {
    return all ? targets.filter(target => !this.taken.includes(target)) : targets.slice(this.taken.length).slice(0, 1);
  }

  /** The next choices: Map of target or menu words to entries. */
  next() {
    const found = new Map();
    for (const entry of this.matches()) for (const target of this.open(entry)) add(found, target, entry);
    return found;
  }

  // Whether only words of menus are left of an entry.
  isWords(entry) {
    return this.open(entry, true).every(isMenu);
  }

  /** Choose a tool; return the entry to play, if one is left that needs no click. */
  choose(tool) {
    this.tool = tool;
    const [entry, ...more] = this.matches();
    return !more.length && (this.taken.length || this.isWords(entry)) ? entry : null;
  }

  /** Take a target; return the entry to play, if one is left or (without `ask`) if only prices differ; undefined: not legal. */
  take(target, ask = false) {
    if (this.taken.includes(target)) {
      this.back();  // clicked again, it is let go
      return null;
    }
    if (!this.matches(this.tool, [...this.taken, target]).length) return undefined;
    this.taken.push(target);
    const found = this.matches();
    if (found.every(entry => entry.tool === found[0].tool)) this.tool = found[0].tool;
    if (found.length === 1) return found[0];
    const isPriced = this.tools.get(this.tool)?.is_priced;
    return !ask && isPriced && found.every(entry => this.isWords(entry)) ? cheapest(found) : null;
  }

  /** Step back; return whether there was a step. */
  back() {
    const had = this.taken.length || this.tool !== this.alone;
    if (!this.taken.pop() || !this.taken.length) this.tool = this.alone;
    return had;
  }

  /** Map of target to the labels of the tools that can be used there now. */
  legal() {
    const found = new Map();
    for (const [target, entries] of this.next()) for (const {tool} of entries) add(found, target, this.labelOf(tool).toLowerCase());
    return found;
  }

  /** The choices of the menu: tools after a first target, or words; [] if the board shows them all. */
  choices() {
    const found = new Map();
    const isTools = !this.tool && this.taken.length > 0;
    if (isTools) for (const entry of this.matches()) add(found, entry.tool, entry);
    else if (this.tool) for (const [word, entries] of this.next()) if (isMenu(word)) found.set(word, entries);
    return [...found].map(([name, [entry, ...more]]) => {
      const words = isTools ? this.open(entry, true).filter(isMenu).map(word => word.slice(MENU.length)) : [];
      return {[isTools ? 'tool' : 'target']: name, label: isTools ? this.labelOf(name) : name.slice(MENU.length),
        note: more.length ? '' : [...words, entry.cost].filter(Boolean).join(', ')};
    });
  }

  /** The highlighted targets: Map of target to {cost, isFaint, isTaken}. */
  lit(isDragged) {
    const found = new Map(this.taken.map(target => [target, {isTaken: true}]));
    if (!this.tool && !isDragged) return found;
    const most = Math.max(...this.matches().map(price));
    for (const [target, entries] of this.next()) {
      const least = cheapest(entries);
      const isPriced = this.tools.get(least.tool)?.is_priced;
      found.set(target, {cost: isPriced && least.cost, isFaint: isPriced && most > 1 && price(least) === most});
    }
    return found;
  }
}

function make(name, className, attributes = {}) {
  const made = document.createElement(name);
  made.className = className;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

/** The picture with its targets. `on` has take(target, {ask, at, tool, byKey}), drag(target, tool), miss(),
 * and it may have stroke(targets, isEnd), which returns whether a drag draws over its targets. */
export class Board {
  lit = new Map();
  can = new Map();
  labels = target => target;

  constructor(on) {
    this.on = on;
  }

  /** Attach the board to an element of the page. */
  attach(host, grid) {
    if (this.host === host && this.grid === grid) return;
    Object.assign(this, {host, grid, shape: ''});
    const sheet = make('div', 'sheet');
    this.picture = make('div', 'picture', {'aria-hidden': 'true'});
    this.cells = make('div', 'cells', grid ? {role: 'grid', 'aria-label': 'Board'} : {role: 'group', 'aria-label': 'Table'});
    sheet.append(this.picture, this.cells);
    host.replaceChildren(sheet);
    for (const name of ['pointerdown', 'pointermove', 'pointerup', 'click']) {
      this.picture.addEventListener(name, event => this[name](event));
    }
    this.cells.addEventListener('keydown', event => this.key(event));
    this.cells.addEventListener('focusin', ({target}) => this.rove(target.dataset.cell));
    this.cells.addEventListener('focusout', () => this.cursor(null));
    this.isNew = true;
  }

  /** Show a picture; the old one stays until it has loaded. */
  async show(path) {
    const {host} = this;
    if (await showPicture(this.picture, path) && host === this.host) {
      this.arrange();
      this.mark();
    }
  }

  /** Scroll a board that is larger than its place to what a person has to see first. */
  center() {
    const boxes = [...this.picture.querySelectorAll('[data-first]')].map(element => element.getBoundingClientRect());
    if (!boxes.length) return;
    const {host} = this, {left, top, width, height} = host.getBoundingClientRect();
    const x = Math.min(...boxes.map(one => one.left)) - left, y = Math.min(...boxes.map(one => one.top)) - top;
    const wide = Math.max(...boxes.map(one => one.right)) - left - x, tall = Math.max(...boxes.map(one => one.bottom)) - top - y;
    host.scrollBy(x - Math.max((width - wide) / 2, 12), y - Math.max((height - tall) / 2, 12));
  }

  /** Highlight targets: Map of target to {cost, isFaint, isTaken}; a Map of those that begin an action; labels of cells. */
  light(lit, can, labels) {
    Object.assign(this, {lit, can, labels});
    this.mark();
  }

  rects() {
    return [...this.picture.querySelectorAll('.target')];
  }

  mark() {
    this.picture.querySelectorAll('.price, .rings').forEach(element => element.remove());
    const rings = {faint: [], usual: [], taken: []};
    for (const rect of this.rects()) {
      const {target, tool} = rect.dataset;
      const found = this.lit.get(target);
      const states = {
        lit: found, faint: found?.isFaint, taken: found?.isTaken, can: !this.lit.size && (this.can.has(target) || this.can.size && tool),
      };
      for (const [name, is] of Object.entries(states)) rect.classList.toggle(name, Boolean(is));
      if (found) rings[found.isTaken ? 'taken' : found.isFaint ? 'faint' : 'usual'].push(box(rect));
      if (found?.cost) {
        const [x, y, width, height] = box(rect);
        const text = document.createElementNS(rect.namespaceURI, 'text');
        for (const [key, value] of Object.entries({class: 'price', x: x + width / 2, y: y + height / 2 + 5})) text.setAttribute(key, value);
        text.textContent = Number.parseFloat(found.cost) || found.cost;
        rect.after(text);
      }
    }
    this.outline(rings);
    this.cursor(this.cells.querySelector(':focus')?.dataset.cell);
    for (const cell of this.cells.querySelectorAll('[data-cell]')) {
      const label = this.labels(cell.dataset.cell);
      if (cell.ariaLabel !== label) cell.ariaLabel = label;
    }
  }

  // Outline targets, given as boxes by kind, each by a dark line with a yellow one on it.
  outline(rings) {
    const below = this.picture.querySelector('.target')?.parentNode;
    if (!Object.values(rings).some(boxes => boxes.length)) return;
    const group = document.createElementNS(below.namespaceURI, 'g');
    group.setAttribute('class', 'rings');
    for (const [kind, boxes] of Object.entries(rings)) for (const line of boxes.length ? ['edge', 'ring'] : []) {
      const path = document.createElementNS(below.namespaceURI, 'path');
      path.setAttribute('class', `${line} ${kind}`);
      path.setAttribute('d', around(boxes));
      group.append(path);
    }
    below.before(group);
  }

  // --- pointer

  hit(element) {
    return element?.closest('.target.lit, .target.can');
  }

  pointerdown({target, pointerType, button, clientX: x, clientY: y}) {
    const rect = this.hit(target);
    this.pressed = rect && pointerType !== 'touch' && button === 0 ? {rect, x, y} : null;
  }

  pointermove({clientX, clientY}) {
    const from = this.pressed;
    if (!from || !from.isDrag && Math.hypot(clientX - from.x, clientY - from.y) < 9) return;
    const {target, tool} = from.rect.dataset;
    if (!from.isDrag) {
      from.isDrag = true;
      if (this.on.stroke?.([target])) from.way = new Set([target]);
      else this.on.drag(target, tool);
    }
    const at = from.way && this.hit(document.elementFromPoint(clientX, clientY))?.dataset.target;
    if (at && !from.way.has(at)) this.on.stroke([...from.way.add(at)]);
  }

  pointerup({clientX, clientY}) {
    const from = this.pressed;
    this.pressed = null;
    this.wasDrag = from?.isDrag;
    if (!from?.isDrag) return;
    if (from.way) {
      this.on.stroke([...from.way], true);
      return;
    }
    const at = this.hit(document.elementFromPoint(clientX, clientY));
    if (at && at.dataset.target !== from.rect.dataset.target) this.on.take(at.dataset.target, {at});
    else this.on.miss();
  }

  click({target, shiftKey: ask}) {
    const at = this.hit(target);
    if (at && !this.wasDrag) this.on.take(at.dataset.target, {ask, at, tool: at.dataset.tool});
    else if (!this.wasDrag) this.on.miss();
    this.wasDrag = false;
  }

  // --- keyboard: cells at the places of targets

  arrange() {
    const [, , width, height] = this.picture.firstElementChild.getAttribute('viewBox').split(' ').map(Number);
    this.host.style.setProperty('--wide', width);
    this.host.style.setProperty('--ratio', width / height);
    const places = new Map(this.rects().map(rect => [rect.dataset.target, box(rect)]));
    this.zoomed?.hide();
    if (this.isNew) {
      this.isNew = false;
      this.center();
      import('./zoom.js').then(({watch}) => watch(this));
    }
    const shape = [...places].join('|');
    if (shape === this.shape) return;
    this.shape = shape;
    const had = this.cells.querySelector(':focus')?.dataset.cell;
    const {rows, columns} = this.grid ?? {};
    this.order = rows?.map(row => columns.map(column => column + row).filter(name => places.has(name))) ?? [reading(places)];
    this.cells.replaceChildren(...this.order.map(names => {
      const row = make('div', '', this.grid ? {role: 'row'} : {});
      row.append(...names.map(name => {
        const cell = make('div', '', {role: this.grid ? 'gridcell' : 'button', 'data-cell': name, tabindex: -1});
        const [x, y, wide, tall] = places.get(name);
        Object.assign(cell.style, {
          left: `${100 * x / width}%`, top: `${100 * y / height}%`, width: `${100 * wide / width}%`, height: `${100 * tall / height}%`,
        });
        return cell;
      }));
      return row;
    }));
    this.rove(places.has(this.last) ? this.last : this.order.flat()[0]);
    if (had) this.focus();
  }

  cellOf(name) {
    return this.cells.querySelector(`[data-cell="${CSS.escape(name ?? '')}"]`);
  }

  /** Focus the cell that was focused last. */
  focus() {
    this.cellOf(this.last)?.focus();
  }

  // One cell can be reached by Tab.
  rove(name) {
    this.cellOf(this.last)?.setAttribute('tabindex', -1);
    this.last = name;
    this.cellOf(name)?.setAttribute('tabindex', 0);
    this.cursor(name);
  }

  cursor(name) {
    for (const rect of this.rects()) rect.classList.toggle('cursor', rect.dataset.target === name);
  }

  key(event) {
    const {key, shiftKey: ask, ctrlKey, altKey, metaKey, target: {dataset: {cell: name}}} = event;
    if (ctrlKey || altKey || metaKey) return;
    const y = this.order.findIndex(names => names.includes(name));
    const row = this.order[y], x = row.indexOf(name);
    const up = this.grid ? this.order[y - 1]?.[x] : row[x - 1], down = this.grid ? this.order[y + 1]?.[x] : row[x + 1];
    const to = {ArrowLeft: row[x - 1], ArrowRight: row[x + 1], ArrowUp: up, ArrowDown: down, Home: row[0], End: row.at(-1)};
    if (key in to) this.cellOf(to[key])?.focus();
    else if (key === 'Enter' || key === ' ') {
      const at = this.rects().find(one => one.dataset.target === name);
      this.on.take(name, {ask, at, tool: at?.dataset.tool, byKey: true});
    } else if (key === 'z' && this.zoomed) this.zoomed.focus(name);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

export const box = rect => ['x', 'y', 'width', 'height'].map(name => Number(rect.getAttribute(name)));

// The outline of boxes: of one alone a little inside it, with round corners; of those side by side around all of them,
// with a dot in each.
function around(boxes) {
  const places = new Set(boxes.map(([x, y]) => `${x} ${y}`));
  return boxes.map(([x, y, width, height]) => {
    const sides = [
      [x, y - height, `M${x} ${y}h${width}`], [x + width, y, `M${x + width} ${y}v${height}`],
      [x, y + height, `M${x} ${y + height}h${width}`], [x - width, y, `M${x} ${y}v${height}`],
    ].filter(([left, top]) => !places.has(`${left} ${top}`));
    if (sides.length < 4) return `M${x + width / 2 - 1} ${y + height / 2}h2${sides.map(side => side[2]).join('')}`;
    const inset = Math.min(2.2, width / 8, height / 8), r = Math.min(5, width / 4, height / 4);
    const wide = width - 2 * (inset + r), tall = height - 2 * (inset + r), turn = (a, b) => `a${r} ${r} 0 0 1 ${a} ${b}`;
    return `M${x + inset + r} ${y + inset}h${wide}${turn(r, r)}v${tall}${turn(-r, r)}h${-wide}${turn(-r, -r)}v${-tall}${turn(r, -r)}Z`;
  }).join('');
}

// Reading order: lines from top to bottom, each from left to right.
function reading(places) {
  const line = ([, y, , height]) => Math.round((y + height / 2) / 24);
  return [...places].sort(([, a], [, b]) => line(a) - line(b) || a[0] - b[0]).map(([name]) => name);
}

/** The menu of choices at the clicked place, if the board does not show them all. */
export function menu(page) {
  const choices = page.isMine && !page.isDragged && !page.isQuiet && page.chip == null ? page.entering.choices() : [];
  if (!choices.length) return nothing;
  const key = event => {
    const buttons = [...event.currentTarget.children];
    const way = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (way) buttons.at((buttons.indexOf(event.target) + way) % buttons.length).focus();
    else if (event.key === 'Escape') {
      page.back();
      page.board.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return html`<div class="menu ${choices.length > 8 ? 'wide' : ''}" role="group" aria-label="Choices" @keydown=${key}>${choices.map(one =>
    button(html`${one.label} <small>${one.note}</small>`, () => page.choose(one)))}</div>`;
}

/** Place the menu below the clicked and the highlighted targets around it, or above. */
export function placeMenu(anchor) {
  const found = document.querySelector('.menu');
  if (!found) return;
  const host = found.offsetParent.getBoundingClientRect();
  const at = (anchor?.isConnected ? anchor : document.querySelector('.tools [aria-pressed=true]') ?? found.offsetParent)
    .getBoundingClientRect();
  const near = [at, ...[...document.querySelectorAll('.target.lit')].map(rect => rect.getBoundingClientRect()).filter(
    rect => Math.hypot(rect.x - at.x, rect.y - at.y) < 160)];
  const below = Math.max(...near.map(rect => rect.bottom)) - host.top + 6;
  const above = Math.min(...near.map(rect => rect.top)) - host.top - found.offsetHeight - 6;
  const left = at.left - host.left + at.width / 2 - found.offsetWidth / 2;
  found.style.left = `${Math.max(Math.min(left, host.width - found.offsetWidth), 0)}px`;
  found.style.top = `${Math.max(below + found.offsetHeight > host.height && above > 0 ? above : below, 0)}px`;
}
