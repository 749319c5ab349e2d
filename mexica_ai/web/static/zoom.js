// @ts-check
// A card that explains what a picture shows, and enlarges it if it is small: where the pointer rests, under a long
// press, and at the focused cell. It takes no clicks, and touches scroll as without it.
import {request, settings} from './api.js';
import {placeOf} from './board.js';

const REST_MS = 550, PRESS_MS = 450;
const SLACK = 9;  // px that a pressing finger may move
const SMALL = 11;  // px; text from this size on is not enlarged under a resting pointer
const NEAR = 24;  // px around the pointer
const WIDE = 340, TALL = 240;  // of the card's picture at most
const SCALE = 2;  // px of a unit of the picture

/** Watch the pictures of the page; from an event of its pointer on, if there is one. */
export function watch(board, first) {
  const zoom = board.zoomed = new Zoom(board);
  const on = (name, run, options = {}) => document.addEventListener(name, run, {passive: true, ...options});
  on('pointermove', event => zoom.move(event));
  on('pointerdown', event => zoom.down(event));
  on('pointerup', () => clearTimeout(zoom.timer));
  on('pointercancel', () => clearTimeout(zoom.timer));
  on('scroll', () => zoom.hide(), {capture: true});
  on('focusin', () => zoom.hide());
  on('keydown', ({key}) => key === 'Escape' && zoom.hide(), {capture: true});
  // What follows a long press is neither a click nor a menu.
  on('click', event => zoom.isHeld && stop(event, zoom), {capture: true, passive: false});
  on('contextmenu', event => zoom.isTouch && pictureOf(event.target) && event.preventDefault(), {passive: false});
  if (first?.type === 'pointermove') zoom.move(first);
  else if (first?.type === 'pointerdown') zoom.down(first);
}

function stop(event, zoom) {
  zoom.isHeld = false;
  event.preventDefault();
  event.stopPropagation();
}

const pictureOf = element => element instanceof Element ? element.closest(':is(.picture, .panel) > svg, :is(.picture, .panel) > svg *')
  ?.closest(':is(.picture, .panel) > svg') : null;

class Zoom {
  /** @type {HTMLElement | null} */
  card = null;
  isHeld = false;  // whether a finger has opened the card and not been lifted
  isTouch = false;
  timer = 0;
  /** @type {object | null} */
  asked = null;  // for which card words are awaited
  from = {x: 0, y: 0};  // where the pointer was when it rested or pressed

  constructor(board) {
    this.board = board;
  }

  move({clientX: x, clientY: y, pointerType, target, buttons}) {
    if (this.isHeld) return;
    const isFar = Math.hypot(x - this.from.x, y - this.from.y) > SLACK;
    if (pointerType === 'touch') {
      if (isFar) clearTimeout(this.timer);
      return;
    }
    this.isTouch = false;
    if (this.card && !isFar) return;
    this.hide();
    const svg = settings.zoom && !buttons && pictureOf(target);
    if (!svg) return;
    this.from = {x, y};
    this.timer = setTimeout(() => this.rest(svg, x, y), REST_MS);
  }

  down({clientX: x, clientY: y, pointerType, target}) {
    this.hide();
    this.isHeld = false;
    this.isTouch = pointerType === 'touch';
    const svg = this.isTouch && pictureOf(target);
    if (!svg) return;
    this.from = {x, y};
    this.timer = setTimeout(() => {
      this.isHeld = true;
      this.show(svg, x, y);
    }, PRESS_MS);
  }

  // The pointer rests: explain what has words, enlarge what is small.
  async rest(svg, x, y) {
    const timer = this.timer;
    const hints = await hintsOf(svg);
    if (timer !== this.timer || !svg.isConnected) return;
    const isSmall = hasSmallText(svg, x, y);
    if (isSmall || hints[nameOf(markAt(svg, x, y, hints))]) this.show(svg, x, y, undefined, isSmall);
  }

  /** Enlarge a cell of the board, or hide the card again. */
  focus(name) {
    if (this.card) return this.hide();
    const rect = this.board.rects().find(one => one.dataset.target === name);
    const {left, top, width, height} = rect.getBoundingClientRect();
    return this.show(rect.ownerSVGElement, left + width / 2, top + height / 2, rect);
  }

  hide() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.asked = null;
    this.card?.remove();
    this.card = null;
  }

  /** Show the part of a picture around a point of the window, with the words of a target or mark that is there. */
  async show(svg, x, y, target = null, isEnlarged = true) {
    this.hide();
    const asked = this.asked = {};
    const hints = await hintsOf(svg);
    if (asked !== this.asked || !svg.isConnected) return;
    target ??= markAt(svg, x, y, hints);
    const now = svg.getScreenCTM();
    const {x: u, y: v} = new DOMPoint(x, y).matrixTransform(now.inverse());
    const [left, top, width, height] = target ? placeOf(svg, target) : [u, v, 0, 0];
    const least = Math.max(SCALE, 1.8 * now.a), full = svg.viewBox.baseVal;
    const scale = Math.max(Math.min(least, WIDE / (width + 16), TALL / (height + 16)), least / 1.6);
    const most = Math.min(WIDE, innerWidth - 40);
    const wide = Math.min(most / scale, full.width), tall = Math.min(TALL / scale, full.height);
    const begin = (size, whole, from, extent, at) => Math.max(0, Math.min(whole - size, (extent + 8 < size ? from + extent / 2 : at) - size / 2));
    const part = [begin(wide, full.width, left, width, u), begin(tall, full.height, top, height, v), wide, tall];
    const card = document.createElement('div');
    card.className = 'zoom';
    card.setAttribute('role', 'tooltip');
    if (isEnlarged) card.append(enlarged(svg, part, scale, target && placeOf(svg, target)));
    const name = target?.dataset.target;
    for (const words of [hints[nameOf(target)], name && this.board.labels(name)]) {
      if (!words) continue;
      const line = document.createElement('p');
      line.textContent = words;
      card.append(line);
    }
    document.querySelector('main')?.append(card);
    const at = (target ?? svg).getBoundingClientRect();
    place(card, x, y, target && at.height < innerHeight / 3 ? at : new DOMRect(x - 10, y - 10, 20, 20), this.isTouch ? 44 : 14);
    this.card = card;
  }
}

function enlarged(svg, part, scale, place) {
  const copy = svg.cloneNode(true);
  copy.querySelectorAll('.targets, title').forEach(element => element.remove());
  copy.setAttribute('viewBox', part.join(' '));
  copy.setAttribute('width', part[2] * scale);
  copy.setAttribute('height', part[3] * scale);
  copy.setAttribute('aria-hidden', 'true');
  if (place) {
    const frame = document.createElementNS(svg.namespaceURI, 'rect');
    const [x, y, width, height] = place;
    const attributes = {class: 'frame', x, y, width, height};
    for (const [key, value] of Object.entries(attributes)) frame.setAttribute(key, String(value));
    copy.append(frame);
  }
  return copy;
}

// Place the card below or above what it enlarges, in the window.
function place(card, x, y, {top, bottom}, gap) {
  const {offsetWidth: wide, offsetHeight: tall} = card;
  const isAbove = bottom + gap + tall > innerHeight && (top - gap - tall >= 0 || top > innerHeight - bottom);
  const most = Math.max(innerHeight - tall - 4, 4);
  card.style.top = `${Math.max(4, Math.min(isAbove ? top - gap - tall : bottom + gap, most))}px`;
  card.style.left = `${Math.max(4, Math.min(x - wide / 2, innerWidth - wide - 4))}px`;
}

const nameOf = element => element?.dataset.hint ?? element?.dataset.target;

// The smallest target or mark of a picture at a point of the window; one that has words goes before others.
function markAt(svg, x, y, hints) {
  const size = one => one.getBoundingClientRect().width * one.getBoundingClientRect().height;
  const found = [...svg.querySelectorAll('.target, [data-hint]')].filter(one => {
    const {left, top, right, bottom} = one.getBoundingClientRect();
    return left <= x && x <= right && top <= y && y <= bottom;
  }).sort((one, other) => size(one) - size(other));
  return found.find(one => hints[nameOf(one)]) ?? found.find(one => one.dataset.target) ?? null;
}

const words = new WeakMap();  // picture -> a promise of its words, by target or mark

function hintsOf(svg) {
  const path = svg.parentElement?.dataset.path;
  if (!path?.startsWith('/api/games/')) return Promise.resolve({});  // the editor's
  if (!words.has(svg)) {
    words.set(svg, request('GET', path.replace(/\/[^/?]+\.svg/, '/hints')).then(({hints}) => hints, () => ({})));
  }
  return words.get(svg);
}

function hasSmallText(svg, x, y) {
  return [...svg.querySelectorAll('text')].some(text => {
    const {left, top, right, bottom} = text.getBoundingClientRect();
    const isNear = left - NEAR < x && x < right + NEAR && top - NEAR < y && y < bottom + NEAR;
    return isNear && Number(text.getAttribute('font-size')) * text.getScreenCTM().a < SMALL - .1;
  });
}
