// @ts-check
// The board: the server's picture, its targets, and a grid or list of cells above it for the keyboard. Independent of
// the game.
import {showPicture} from './api.js';
import {t} from './words.js';

function make(name, className, attributes = {}) {
  const made = document.createElement(name);
  made.className = className;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

/**
 * The picture with its targets. `on` has take(target, {ask, at, tool, byKey, nearest}), drag(target, tool) and miss(). It
 * may have refuse(target, how) for targets that are not highlighted, which are missed otherwise, and stroke(targets,
 * isEnd), which returns whether a drag draws over its targets.
 */
export class Board {
  /** @type {HTMLElement} */ host;
  /** @type {import('./snapshot').GameInfo['grid']} */ grid;
  zoomed;  // what enlarges its picture
  isWatched = false;  // whether that is loaded, or will be with the next movement
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
    this.cells = make('div', 'cells', grid ? {role: 'grid', 'aria-label': t('Board')} : {role: 'group', 'aria-label': t('Table')});
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
        lit: found, faint: found?.isFaint, taken: found?.isTaken,
        can: !found && (!this.lit.size && this.can.has(target) || tool && (this.can.size || this.lit.size)),
      };
      for (const [name, is] of Object.entries(states)) rect.classList.toggle(name, Boolean(is));
      if (found) rings[found.isTaken ? 'taken' : found.isFaint ? 'faint' : 'usual'].push(box(rect));
      if (found?.cost) {
        const [x, y, width, height] = box(rect);
        const text = document.createElementNS(rect.namespaceURI, 'text');
        for (const [key, value] of Object.entries({class: 'price', x: x + width / 2, y: y + height / 2 + 5})) text.setAttribute(key, String(value));
        text.textContent = String(Number.parseFloat(found.cost) || found.cost);
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
      path.setAttribute('d', around(boxes, this.grid ? 2.2 : -1.6));
      group.append(path);
    }
    below.before(group);
  }

  // --- pointer

  hit(element) {
    return element?.closest('.target.lit, .target.can');
  }

  // A target at a point that cannot be clicked.
  under({clientX: x, clientY: y}) {
    return this.on.refuse && this.rects().findLast(rect => {
      const {left, right, top, bottom} = rect.getBoundingClientRect();
      return left <= x && x < right && top <= y && y < bottom;
    });
  }

  // Of several targets, the one whose middle is nearest to a point.
  nearest({clientX: x, clientY: y}) {
    const away = name => {
      const {left, width, top, height} = this.rectOf(name).getBoundingClientRect();
      return Math.hypot(left + width / 2 - x, top + height / 2 - y);
    };
    return names => [...names].sort((one, other) => away(one) - away(other))[0];
  }

  rectOf(name) {
    return this.rects().find(rect => rect.dataset.target === name);
  }

  /** Scroll to a highlighted target, if none is in sight. */
  seek() {
    const lit = this.rects().filter(rect => rect.classList.contains('lit'));
    const isSeen = rect => {
      const {top, bottom} = rect.getBoundingClientRect();
      return top >= 0 && bottom <= innerHeight;
    };
    if (!lit.some(isSeen)) lit[0]?.scrollIntoView({block: 'center', inline: 'center'});
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

  pointerup(event) {
    const from = this.pressed;
    this.pressed = null;
    this.wasDrag = from?.isDrag;
    if (!from?.isDrag) return;
    if (from.way) {
      this.on.stroke([...from.way], true);
      return;
    }
    const at = this.hit(document.elementFromPoint(event.clientX, event.clientY));
    this.reach(at, event, at?.dataset.target === from.rect.dataset.target);
  }

  click(event) {
    const {target, shiftKey: ask} = event;
    if (!this.wasDrag) this.reach(this.hit(target), event, false, {ask});
    this.wasDrag = false;
  }

  // Tell what a pointer has reached: a highlighted target, another one, or nothing.
  reach(hit, event, isNone, how = {}) {
    const at = hit ?? this.under(event), tool = at?.dataset.tool, nearest = this.nearest(event);
    if (!at || isNone) this.on.miss();
    else if (hit) this.on.take(at.dataset.target, {...how, at, nearest, ...'ask' in how && {tool}});
    else this.on.refuse(at.dataset.target, {...how, at, nearest});
  }

  // --- keyboard: cells at the places of targets

  arrange() {
    const [, , width, height] = this.picture.firstElementChild.getAttribute('viewBox').split(' ').map(Number);
    this.host.style.setProperty('--wide', String(width));
    this.host.style.setProperty('--ratio', String(width / height));
    const places = new Map(this.rects().map(rect => [rect.dataset.target, box(rect)]));
    this.zoomed?.hide();
    if (this.isNew) {
      this.isNew = false;
      this.center();
      this.enlarge();
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

  // Load what enlarges the picture when the pointer, a finger or the focus is first used; without an answer nothing is.
  enlarge() {
    if (this.isWatched) return;
    this.isWatched = true;
    const events = ['pointermove', 'pointerdown', 'focusin'];
    const load = event => {
      for (const name of events) removeEventListener(name, load);
      let isOver = false;  // a finger may be lifted before the answer
      addEventListener('pointerup', () => { isOver = true; }, {once: true});
      import('./zoom.js').then(({watch}) => watch(this, isOver ? null : event), () => {});
    };
    for (const name of events) addEventListener(name, load, {passive: true});
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

/** Where an element of a picture is, in the units of the picture: left, top, width, height. */
export function placeOf(svg, element) {
  const {left, top, right, bottom} = element.getBoundingClientRect();
  const back = svg.getScreenCTM().inverse();
  const from = new DOMPoint(left, top).matrixTransform(back), to = new DOMPoint(right, bottom).matrixTransform(back);
  return [from.x, from.y, to.x - from.x, to.y - from.y];
}

export const box = rect => ['x', 'y', 'width', 'height'].map(name => Number(rect.getAttribute(name)));

// The outline of boxes: of one alone a little inside or outside it, with round corners; of those side by side around all
// of them, with a dot in each.
function around(boxes, inset) {
  const places = new Set(boxes.map(([x, y]) => `${x} ${y}`));
  return boxes.map(([x, y, width, height]) => {
    const sides = [
      [x, y - height, `M${x} ${y}h${width}`], [x + width, y, `M${x + width} ${y}v${height}`],
      [x, y + height, `M${x} ${y + height}h${width}`], [x - width, y, `M${x} ${y}v${height}`],
    ].filter(([left, top]) => !places.has(`${left} ${top}`));
    if (sides.length < 4) return `M${x + width / 2 - 1} ${y + height / 2}h2${sides.map(side => side[2]).join('')}`;
    const r = Math.min(5, width / 4, height / 4);
    const wide = width - 2 * (inset + r), tall = height - 2 * (inset + r), turn = (a, b) => `a${r} ${r} 0 0 1 ${a} ${b}`;
    return `M${x + inset + r} ${y + inset}h${wide}${turn(r, r)}v${tall}${turn(-r, r)}h${-wide}${turn(-r, -r)}v${-tall}${turn(r, -r)}Z`;
  }).join('');
}

// Reading order: lines from top to bottom, each from left to right.
function reading(places) {
  const line = ([, y, , height]) => Math.round((y + height / 2) / 24);
  return [...places].sort(([, a], [, b]) => line(a) - line(b) || a[0] - b[0]).map(([name]) => name);
}
