// @ts-check
// Shared by all scripts: requests, pictures as elements, settings, and small templates.
import {html, nothing, render, svg} from './vendor/lit-html.js';
import {KEY, kept, language, LANGUAGES, stored, t} from './words.js';

export {html, nothing, render, svg};

// Pictures come from this server; they are parsed, never run.
const policy = globalThis.trustedTypes?.createPolicy('board', {createHTML: text => text}) ?? {createHTML: text => text};

/** A failed request: `status` (0: no response), `reason`, `violations`, `snapshot`; `detail`: its message with paths. */
class ApiError extends Error {
  constructor(status, body) {
    const {message: detail, ...more} = body ?? {};
    super(more.words || detail || t('The server answers {status}.', {status}));
    Object.assign(this, {violations: [], ...more, detail, status});
  }
}

// While answers are awaited the page says so; the style lets short waits pass.
let awaited = 0;

function wait(change) {
  awaited += change;
  document.body.classList.toggle('waiting', awaited > 0);
}

/** Send a request; return the JSON or text of the response. */
export async function request(method, path, body = {}) {
  const headers = {'Accept-Language': language};
  const text = JSON.stringify(body);
  // A short one is sent also if the page is left; browsers refuse that to long ones.
  const init = method === 'GET' ? {headers}
    : {method, headers: {...headers, 'Content-Type': 'application/json'}, body: text, keepalive: text.length < 16000};
  wait(1);
  try {
    const answer = await fetch(path, init);
    const isJson = answer.headers.get('Content-Type')?.includes('json');
    const data = await (isJson ? answer.json() : answer.text());
    if (answer.status === 401) dispatchEvent(new Event('closed'));  // without a session nothing else will work
    if (!answer.ok) throw new ApiError(answer.status, isJson ? data : null);
    return data;
  } catch (error) {
    throw error instanceof ApiError ? error : new ApiError(0, {message: t('The server does not answer.')});
  } finally {
    wait(-1);
  }
}

/** Load a style sheet of the page. */
export const loadStyle = name => new Promise((done, fail) => {
  const link = Object.assign(document.createElement('link'), {rel: 'stylesheet', href: `/static/${name}`, onload: done, onerror: fail});
  document.head.append(link);
});

/** The query of a path, without values that are null or undefined. */
export const query = values => '?' + new URLSearchParams(Object.entries(values).filter(([, value]) => value != null));

/** A side line for a query; null if there is none. */
export const lineText = line => line?.length ? JSON.stringify(line) : null;

// --- pictures, with a cache of the latest

const MOST = 60;
const pictures = new Map();

/** Return a new copy of a picture's element. */
export async function picture(path) {
  const kept = pictures.get(path) ?? request('GET', path).then(parsePicture);
  pictures.delete(path);
  pictures.set(path, kept);
  if (pictures.size > MOST) pictures.delete(pictures.keys().next().value);
  try {
    return (await kept).cloneNode(true);
  } catch (error) {
    pictures.delete(path);
    throw error;
  }
}

export function parsePicture(text) {
  return document.importNode(
    new DOMParser().parseFromString(policy.createHTML(text), 'image/svg+xml').documentElement, true);
}

/** Put the picture of a path into an element, unless a newer request has replaced it; return whether it did. */
export async function showPicture(host, path) {
  if (host.dataset.path === path) return false;
  host.dataset.path = path;
  const root = await picture(path);
  if (host.dataset.path !== path) return false;
  const old = host.firstElementChild;
  host.replaceChildren(root);
  turnWheels(old, root);
  return true;
}

/** Clear the cache: the game has gone back, or its seats have other names. */
export function forgetPictures() {
  pictures.clear();
  document.querySelectorAll('[data-path]').forEach((/** @type {any} */ host) => { host.dataset.path = ''; });
}

export const isStill = () => !settings.motion || matchMedia('(prefers-reduced-motion: reduce)').matches;

// Elements with `data-wheel`, `data-angle` and `data-center` turn to their new angle.
/**
 * @param {any} old
 * @param {any} root
 */
function turnWheels(old, root) {
  if (!old || isStill()) return;
  for (const wheel of root.querySelectorAll('[data-wheel]')) {
    const way = wheel.dataset.angle - old.querySelector(`[data-wheel=${wheel.dataset.wheel}]`)?.dataset.angle;
    if (!(Math.abs(way) > 1 && Math.abs(way) < 120)) continue;
    wheel.style.transformOrigin = wheel.dataset.center.replace(/\S+/g, '$&px');
    wheel.animate({transform: [`rotate(${-way}deg)`, 'none']}, {duration: 400, easing: 'ease-in-out'});
  }
}

// --- settings, which the browser stores

const USUAL = {
  theme: '', language: '', keys: true, motion: true, codes: false, zoom: true, call: '', fits: innerWidth > 600,
  annotates: true, checks: false, follows: true, hints: {play: 'none', review: 'all'}, seconds: 5, candidates: 8,
};
const usable = Object.entries(USUAL).filter(([name, usual]) => isLike(kept[name], usual)).map(([name]) => [name, kept[name]]);
export const settings = {...USUAL, ...Object.fromEntries(usable)};

function isLike(one, usual) {
  return typeof one === typeof usual && one !== null
    && (typeof usual !== 'object' || Object.keys(usual).every(key => isLike(one[key], usual[key])));
}

export function keep(changes = {}) {
  Object.assign(settings, changes);
  try {
    localStorage.setItem(KEY, JSON.stringify({...stored(), ...changes}));  // other pages have changed others meanwhile
  } catch {}  // storage is full or blocked: the settings hold until the page is left
  document.documentElement.dataset.theme = settings.theme;
}

// --- templates

/**
 * A button; `more` may have kind (classes), pressed, off, title, label.
 * @param {any} words
 * @param {(event: Event) => void} run
 * @param {{kind?: string, pressed?: any, off?: boolean, title?: string, label?: string}} more
 */
export const button = (words, run, {kind, pressed, off, title, label} = {}) => html`<button type="button"
  class=${kind ?? nothing} aria-pressed=${pressed ?? nothing} ?disabled=${off} title=${title || nothing}
  aria-label=${label ?? nothing} @click=${run}>${words}</button>`;

/**
 * The first element of the page that a selector matches.
 * @param {string} selector
 * @returns {any}
 */
export const find = selector => document.querySelector(selector);

export const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** The place of a fault in JSON, on demand. */
export const pathOf = path => path ? html`<details class="path"><summary>JSON</summary><code>${path}</code></details>` : nothing;

/** A select of [value, words] that shows `value`. */
export const choice = (label, options, value, run) => html`<select aria-label=${label}
  @change=${event => run(event.target.value)}>${options.map(([one, words]) => html`
    <option value=${one} .selected=${String(one) === String(value)}>${words}</option>`)}</select>`;

const inItself = code => new Intl.DisplayNames([code], {type: 'language'}).of(code);

/** A select of the languages that have message files; a change loads the page anew. */
export const languages = () => LANGUAGES.length < 2 ? nothing : html`<label>${t('Language')} ${choice(t('Language'),
  [['', t('system')], ...LANGUAGES.map(code => [code, inItself(code)])], settings.language, chosen => {
    keep({language: chosen});
    location.reload();
  })}</label>`;

const SHAPES = [
  'M10 2L18.5 16.8H1.5Z', 'M10 2.5a7.5 7.5 0 1 0 .01 0Z', 'M3.5 3.5h13v13h-13Z', 'M10 1.5L18.5 10L10 18.5L1.5 10Z',
];

/** A seat's shape in its colour. */
export const seatMark = seat => html`<svg class="mark" viewBox="0 0 20 20" aria-hidden="true">${
  svg`<path d=${SHAPES[seat]} stroke-width="1.5" class="fill-seat${seat} stroke-rim${seat}"/>`}</svg>`;

export const percent = (share, digits = 0) => `${(100 * share).toLocaleString(language, {
  minimumFractionDigits: digits, maximumFractionDigits: digits})} %`;

/** Announce a text to screen readers. */
export function say(text) {
  document.getElementById('said').textContent = text;
}
