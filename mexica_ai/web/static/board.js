// The board: a picture that the server draws, what can be clicked on it, and a grid or list above it for the keyboard.
// It knows no game. A legal action is entered by its tool and its targets; each click narrows the list of entries.
import {button, html, nothing, showPicture} from './api.js';

export const MENU = 'menu:';
const isMenu = target => target.startsWith(MENU);
const price = entry => Number.parseFloat(entry.cost) || 0;

/** Narrows the entries of the legal actions by a tool and targets, in the order in which they are chosen. */
export class Entering {
  tool = null;
  taken = [];

  constructor() {
    this.set([], []);
  }

  /** Take new entries; what was chosen meanwhile stays, if it begins one of them. */
  set(entries, tools) {
    const {tool, taken} = this;
    this.entries = entries;
    this.tools = new Map(tools.map(one => [one.name, one]));
    const names = new Set(entries.map(entry => entry.tool));
    this.alone = names.size === 1 ? [...names][0] : null;  // one kind of action only: it need not be chosen
    this.reset();
    if ((tool || taken.length) && this.matches(tool, taken).length) Object.assign(this, {tool, taken});
  }

  reset() {
    this.tool = this.alone;
    this.taken = [];
  }

  /** The entries that begin with a tool, if it is chosen, and with targets. */
  matches(tool = this.tool, taken = this.taken) {
    return this.entries.filter(entry => (!tool || entry.tool === tool)
      && (this.tools.get(entry.tool)?.any_order
        ? taken.every(target => entry.targets.includes(target))
        : taken.every((target, index) => entry.targets[index] === target)));
  }

  rest(entry) {
    return this.tools.get(entry.tool)?.any_order
      ? entry.targets.filter(target => !this.taken.includes(target))
      : entry.targets.slice(this.taken.length);
  }

  /** What can be chosen next: Map of target or menu words to entries. */
  next() {
    const found = new Map();
    for (const entry of this.matches()) {
      const rest = this.rest(entry);
      for (const target of this.tools.get(entry.tool)?.any_order ? rest : rest.slice(0, 1)) {
        if (!found.has(target)) found.set(target, []);
        found.get(target).push(entry);
      }
    }
    return found;
  }

  /** Choose a tool; return the entry to play, if one is left that needs no click. */
  choose(tool) {
    this.tool = tool;
    const found = this.matches();
    return found.length === 1 && (this.taken.length || this.rest(found[0]).every(isMenu)) ? found[0] : null;
  }

  /** Take a target; return the entry to play, if one is left or, unless `ask`, if only prices differ. */
  take(target, ask = false) {
    if (!this.matches(this.tool, [...this.taken, target]).length) return undefined;
    this.taken.push(target);
    const found = this.matches();
    const tools = new Set(found.map(entry => entry.tool));
    if (tools.size === 1) [this.tool] = tools;
    if (found.length === 1) return found[0];
    if (!ask && this.tools.get(this.tool)?.is_priced && found.every(entry => this.rest(entry).every(isMenu))) {
      return found.reduce((best, entry) => price(entry) < price(best) ? entry : best);
    }
    return null;
  }

  /** Step back; return whether there was a step. */
  back() {
    const had = this.taken.length || this.tool !== this.alone;
    if (this.taken.length) this.taken.pop();
    else this.tool = null;
    if (!this.taken.length) this.tool = this.alone;
    return had;
  }

  labelOf(tool) {
    return this.tools.get(tool)?.label ?? tool;
  }

  /** The targets that begin an action. */
  first() {
    return this.tool || this.taken.length ? new Set() : new Set(this.next().keys());
  }

  /** What is legal at a target, in words. */
  legal(target) {
    if (this.tool || this.taken.length) return this.next().has(target) ? [this.tool ? this.labelOf(this.tool).toLowerCase() : 'choose'] : [];
    return [...new Set(this.matches(null, [target]).map(entry => this.labelOf(entry.tool).toLowerCase()))];
  }

  /** What a menu offers now: tools after a first target, or words; [] if the board says it all. */
  choices() {
    if (!this.tool) {
      if (!this.taken.length) return [];
      const found = new Map();
      for (const entry of this.matches()) found.set(entry.tool, [...found.get(entry.tool) ?? [], entry]);
      return [...found].map(([tool, entries]) => ({
        tool, label: this.tools.get(tool)?.label ?? tool, note: note(entries, this),
      }));
    }
    return [...this.next()].filter(([target]) => isMenu(target)).map(([target, entries]) => ({
      target, label: target.slice(MENU.length), note: entries.length === 1 ? entries[0].cost : '',
    }));
  }

  /** What is lit on the board: Map of target to {cost, isFaint, isTaken}. */
  lit(isDragged) {
    const found = new Map(this.taken.map(target => [target, {isTaken: true}]));
    if (!this.tool && !isDragged) return found;
    const most = Math.max(...this.matches().map(price));
    for (const [target, entries] of this.next()) {
      if (isMenu(target)) continue;
      const least = entries.reduce((best, entry) => price(entry) < price(best) ? entry : best);
      const isPriced = this.tools.get(least.tool)?.is_priced;
      found.set(target, {cost: isPriced && least.cost, isFaint: isPriced && most > 1 && price(least) === most});
    }
    return found;
  }
}

function note(entries, entering) {
  if (entries.length > 1) return '';
  const words = entering.rest(entries[0]).filter(isMenu).map(target => target.slice(MENU.length));
  return [...words, entries[0].cost].filter(Boolean).join(', ');
}

/** The picture with its targets. `on` has take(target, {ask, at}), drag(target), miss(). */
export class Board {
  constructor(on) {
    this.on = on;
    this.lit = new Map();
    this.can = new Set();
    this.labels = target => target;
    this.focused = null;
  }

  /** Live in an element of the page. */
  attach(host, grid) {
    if (this.host === host && this.grid === grid) return;
    this.host = host;
    this.grid = grid;
    this.picture = Object.assign(document.createElement('div'), {className: 'picture'});
    this.picture.setAttribute('aria-hidden', 'true');
    this.cells = Object.assign(document.createElement('div'), {className: 'cells'});
    this.cells.setAttribute('role', grid ? 'grid' : 'group');
    this.cells.setAttribute('aria-label', grid ? 'Board' : 'What lies on the table');
    const sheet = Object.assign(document.createElement('div'), {className: 'sheet'});
    sheet.append(this.picture, this.cells);
    host.replaceChildren(sheet);
    this.picture.addEventListener('pointerdown', event => this.press(event));
    this.picture.addEventListener('pointermove', event => this.move(event));
    this.picture.addEventListener('pointerup', event => this.release(event));
    this.picture.addEventListener('click', event => this.click(event));
    this.cells.addEventListener('keydown', event => this.key(event));
    this.cells.addEventListener('focusin', event => this.focus(event.target));
    this.cells.addEventListener('focusout', () => this.cursor(null));
    this.shape = '';
  }

  /** Show a picture; the old one stays until it is there. */
  async show(path) {
    const host = this.host;
    if (await showPicture(this.picture, path) && host === this.host) {
      this.arrange();
      this.mark();
    }
  }

  /** Light targets: Map of target to {cost, isFaint}, and the set of those that begin an action. */
  light(lit, can, labels) {
    Object.assign(this, {lit, can, labels});
    if (this.picture) this.mark();
  }

  rects() {
    return [...this.picture.querySelectorAll('.target')];
  }

  mark() {
    this.picture.querySelectorAll('.price').forEach(element => element.remove());
    for (const rect of this.rects()) {
      const target = rect.dataset.target;
      const found = this.lit.get(target);
      rect.classList.toggle('lit', Boolean(found));
      rect.classList.toggle('faint', Boolean(found?.isFaint));
      rect.classList.toggle('taken', Boolean(found?.isTaken));
      rect.classList.toggle('can', !this.lit.size && (this.can.has(target) || rect.dataset.tool !== undefined));
      rect.classList.toggle('cursor', target === this.focused);
      if (found?.cost) this.setPrice(rect, found.cost);
    }
    for (const cell of this.cells.querySelectorAll('[data-cell]')) {
      const label = this.labels(cell.dataset.cell);
      if (cell.getAttribute('aria-label') !== label) cell.setAttribute('aria-label', label);
    }
  }

  setPrice(rect, cost) {
    const place = Object.assign(document.createElementNS('http://www.w3.org/2000/svg', 'text'), {});
    const [x, y, width, height] = box(rect);
    place.setAttribute('x', x + width / 2);
    place.setAttribute('y', y + height / 2 + 5);
    place.setAttribute('class', 'price');
    place.textContent = Number.parseFloat(cost) || cost;
    rect.after(place);
  }

  // --- pointer

  targetOf(element) {
    return element?.closest?.('.target.lit, .target.can');
  }

  press(event) {
    const rect = this.targetOf(event.target);
    this.pressed = rect && event.pointerType !== 'touch' && event.button === 0
      ? {rect, x: event.clientX, y: event.clientY, isDrag: false} : null;
  }

  move(event) {
    const from = this.pressed;
    if (!from || from.isDrag || Math.hypot(event.clientX - from.x, event.clientY - from.y) < 9) return;
    from.isDrag = true;
    this.on.drag(from.rect.dataset.target, from.rect.dataset.tool);
  }

  release(event) {
    const from = this.pressed;
    this.pressed = null;
    this.wasDrag = Boolean(from?.isDrag);
    if (!from?.isDrag) return;
    const rect = this.targetOf(document.elementFromPoint(event.clientX, event.clientY));
    if (rect && rect.dataset.target !== from.rect.dataset.target) this.on.take(rect.dataset.target, {at: rect});
    else this.on.miss();
  }

  click(event) {
    if (this.wasDrag) {
      this.wasDrag = false;
      return;
    }
    const rect = this.targetOf(event.target);
    if (rect) this.on.take(rect.dataset.target, {ask: event.shiftKey, at: rect, tool: rect.dataset.tool});
    else this.on.miss();
  }

  // --- keyboard: cells lie where the targets are

  arrange() {
    const root = this.picture.querySelector('svg');
    const [, , width, height] = root.getAttribute('viewBox').split(' ').map(Number);
    this.host.style.setProperty('--ratio', width / height);
    const places = new Map(this.rects().map(rect => [rect.dataset.target, box(rect)]));
    const shape = [...places].join('|');
    if (shape === this.shape) return;
    this.shape = shape;
    const had = this.cells.contains(document.activeElement) ? document.activeElement.dataset.cell : null;
    const rows = this.grid
      ? this.grid.rows.map(row => this.grid.columns.map(column => column + row).filter(name => places.has(name)))
      : [reading(places)];
    this.order = rows;
    this.cells.replaceChildren(...rows.map(names => {
      const row = document.createElement('div');
      if (this.grid) row.setAttribute('role', 'row');
      row.append(...names.map(name => this.cell(name, places.get(name), width, height)));
      return row;
    }));
    this.places = places;
    this.rove(places.has(this.last) ? this.last : rows.flat()[0]);
    if (had) this.cellOf(places.has(had) ? had : this.last)?.focus();
  }

  cell(name, [x, y, wide, tall], width, height) {
    const cell = document.createElement('div');
    cell.setAttribute('role', this.grid ? 'gridcell' : 'button');
    cell.dataset.cell = name;
    cell.tabIndex = -1;
    Object.assign(cell.style, {
      left: `${100 * x / width}%`, top: `${100 * y / height}%`,
      width: `${100 * wide / width}%`, height: `${100 * tall / height}%`,
    });
    return cell;
  }

  cellOf(name) {
    return this.cells.querySelector(`[data-cell="${CSS.escape(name ?? '')}"]`);
  }

  rove(name) {
    const old = this.cellOf(this.last);
    if (old) old.tabIndex = -1;
    this.last = name;
    const cell = this.cellOf(name);
    if (cell) cell.tabIndex = 0;
  }

  focus(cell) {
    if (!cell.dataset.cell) return;
    this.rove(cell.dataset.cell);
    this.cursor(cell.dataset.cell);
  }

  cursor(name) {
    this.focused = name;
    for (const rect of this.rects()) rect.classList.toggle('cursor', rect.dataset.target === name);
  }

  key(event) {
    const name = event.target.dataset.cell;
    const way = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[event.key];
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (way) this.cellOf(this.grid ? this.beside(name, way) : this.nearest(name, way))?.focus();
    else if (event.key === 'Home' || event.key === 'End') {
      const row = this.order.find(names => names.includes(name));
      this.cellOf(row.at(event.key === 'Home' ? 0 : -1)).focus();
    } else if (event.key === 'Enter' || event.key === ' ') {
      const rect = this.rects().find(one => one.dataset.target === name);
      this.on.take(name, {ask: event.shiftKey, at: rect, tool: rect?.dataset.tool, byKey: true});
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  beside(name, [dx, dy]) {
    const y = this.order.findIndex(names => names.includes(name));
    const x = this.order[y].indexOf(name);
    return this.order[y + dy]?.[x + dx];
  }

  nearest(name, [dx, dy]) {
    const [x, y] = middle(this.places.get(name));
    let best = null;
    for (const [other, place] of this.places) {
      const [u, v] = middle(place);
      const along = (u - x) * dx + (v - y) * dy;
      const aside = Math.abs((u - x) * dy) + Math.abs((v - y) * dx);
      if (other === name || along < 1) continue;
      const far = along + 3 * aside;
      if (!best || far < best.far) best = {other, far};
    }
    return best?.other;
  }
}

const box = rect => ['x', 'y', 'width', 'height'].map(name => Number(rect.getAttribute(name)));
const middle = ([x, y, width, height]) => [x + width / 2, y + height / 2];

/** Names in reading order: from top to bottom, what lies on one line from left to right. */
function reading(places) {
  const line = ([, y, , height]) => Math.round((y + height / 2) / 24);
  return [...places].sort(([, a], [, b]) => line(a) - line(b) || a[0] - b[0]).map(([name]) => name);
}

/** What can be chosen where one has clicked, if the board does not say it all. */
export function menu(page) {
  const choices = page.isMine && !page.isDragged && !page.isQuiet && page.chip == null ? page.entering.choices() : [];
  if (!choices.length) return nothing;
  const key = event => {
    const buttons = [...event.currentTarget.children];
    const way = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (way) buttons.at((buttons.indexOf(event.target) + way) % buttons.length).focus();
    else if (event.key === 'Escape') {
      page.back();
      page.board.cellOf(page.board.last)?.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return html`<div class="menu ${choices.length > 8 ? 'wide' : ''}" role="group" aria-label="Choices" @keydown=${key}>${choices.map(one =>
    button(html`${one.label} <small>${one.note}</small>`, () => page.choose(one)))}</div>`;
}

/** Put the menu below what was clicked and what is lit round it, or above. */
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
