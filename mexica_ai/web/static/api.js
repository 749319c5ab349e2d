// What all scripts share: requests, pictures as elements, settings, and the marks of the seats.
import {html, nothing, render, svg} from './vendor/lit-html.js';

export {html, nothing, render, svg};

// Pictures come from this server and are parsed, never run.
const policy = globalThis.trustedTypes?.createPolicy('board', {createHTML: text => text})
  ?? {createHTML: text => text};

/** An answer that is not what was asked for: `status` (0: none came), `reason`, `violations`, `snapshot`. */
export class Refusal extends Error {
  constructor(status, body) {
    super(body?.message || `The server answers ${status}.`);
    this.status = status;
    this.reason = body?.reason ?? '';
    this.violations = body?.violations ?? [];
    this.snapshot = body?.snapshot;
  }
}

/** Ask the server; return its JSON or text. */
export async function request(method, path, body) {
  const init = {method, headers: {}};
  if (method !== 'GET') {
    init.headers['Content-Type'] = 'application/json';
    init.body = JSON.stringify(body ?? {});
  }
  let answer;
  try {
    answer = await fetch(path, init);
  } catch {
    throw new Refusal(0, {message: 'The server does not answer.'});
  }
  const isJson = (answer.headers.get('Content-Type') ?? '').includes('json');
  const data = await (isJson ? answer.json() : answer.text());
  if (!answer.ok) throw new Refusal(answer.status, isJson ? data : null);
  return data;
}

export const query = values => '?' + new URLSearchParams(
  Object.entries(values).filter(([, value]) => value !== null && value !== undefined));

const MOST_PICTURES = 60;
const pictures = new Map();

/** Return a picture's element, a copy of its own; the newest ones are kept. */
export async function picture(path) {
  const kept = pictures.get(path) ?? request('GET', path).then(parsePicture);
  pictures.delete(path);
  pictures.set(path, kept);
  if (pictures.size > MOST_PICTURES) pictures.delete(pictures.keys().next().value);
  try {
    return (await kept).cloneNode(true);
  } catch (error) {
    pictures.delete(path);
    throw error;
  }
}

export function parsePicture(text) {
  const root = new DOMParser().parseFromString(policy.createHTML(text), 'image/svg+xml').documentElement;
  if (root.localName !== 'svg') throw new Refusal(0, {message: 'The picture cannot be read.'});
  return document.importNode(root, true);
}

/** Put the picture of a path into an element, unless another was asked for meanwhile; return whether it did. */
export async function showPicture(host, path) {
  if (host.dataset.path === path) return false;
  host.dataset.path = path;
  try {
    const root = await picture(path);
    if (host.dataset.path !== path) return false;
    const old = host.querySelector('svg');
    host.replaceChildren(root);
    turnWheels(old, root);
    return true;
  } catch (error) {
    if (host.dataset.path === path) delete host.dataset.path;
    throw error;
  }
}

const STILL = matchMedia('(prefers-reduced-motion: reduce)');
export const isStill = () => STILL.matches || !settings.motion;

// Gears (`data-wheel`, `data-angle`, `data-center` in a picture) turn to where they are now.
function turnWheels(old, root) {
  if (!old || isStill()) return;
  const angles = new Map([...old.querySelectorAll('[data-wheel]')].map(
    wheel => [wheel.dataset.wheel, Number(wheel.dataset.angle)]));
  for (const wheel of root.querySelectorAll('[data-wheel]')) {
    const way = Number(wheel.dataset.angle) - (angles.get(wheel.dataset.wheel) ?? Number.NaN);
    if (!(Math.abs(way) > 0.1 && Math.abs(way) < 120)) continue;
    wheel.style.transformOrigin = wheel.dataset.center.split(' ').map(value => `${value}px`).join(' ');
    wheel.animate([{transform: `rotate(${-way}deg)`}, {transform: 'none'}], {duration: 400, easing: 'ease-in-out'});
  }
}

const KEY = 'mexica-ai';
/** What the browser keeps: nothing else. */
export const settings = {
  theme: '', keys: true, motion: true, fits: true, hints: {play: 'none', review: 'all'}, seconds: 5, candidates: 8,
  ...read(),
};

function read() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? {};
  } catch {
    return {};
  }
}

export function keep(changes) {
  Object.assign(settings, changes);
  localStorage.setItem(KEY, JSON.stringify(settings));
  applyTheme();
}

export function applyTheme() {
  document.documentElement.dataset.theme = settings.theme;
}

const SHAPES = ['M10 2L18.5 16.8H1.5Z', 'M10 2.5a7.5 7.5 0 1 0 .01 0Z', 'M3.5 3.5h13v13h-13Z', 'M10 1.5L18.5 10L10 18.5L1.5 10Z'];

/** A seat's shape in its colour; the words beside it say the same. */
export const seatMark = seat => html`<svg class="mark" viewBox="0 0 20 20" aria-hidden="true">${
  svg`<path d=${SHAPES[seat] ?? SHAPES[1]} stroke-width="1.5" class="fill-seat${seat} stroke-rim${seat}"/>`}</svg>`;

export const percent = (share, digits = 0) => `${(100 * share).toFixed(digits)} %`;

/** A number of visits in at most five signs: 812, 42.6 k, 1.2 M. */
export function short(number) {
  if (number < 1000) return String(number);
  return number < 1e6 ? `${(number / 1e3).toFixed(1)} k` : `${(number / 1e6).toFixed(1)} M`;
}

/** Say something to those who do not see the page. */
export function say(text) {
  const place = document.getElementById('said');
  place.textContent = place.textContent === text ? `${text}\u00a0` : text;
}

/** A shares bar: each seat's part of the win in its colour, with its per cent where there is room. */
export const sharesBar = shares => html`<svg class="shares" viewBox="0 0 100 8" preserveAspectRatio="none"
  role="img" aria-label=${shares.map((share, seat) => `seat ${seat}: ${percent(share)}`).join(', ')}>${
  shares.map((share, seat) => svg`<rect x=${100 * shares.slice(0, seat).reduce((sum, one) => sum + one, 0)}
    width=${100 * share} height="8" class="fill-seat${seat}"/>`)}</svg>`;
