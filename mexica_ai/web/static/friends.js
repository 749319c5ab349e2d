// @ts-check
// Persons at other devices: the links of their seats, who is there, clocks, and the call to move. Loaded for such games.
import {button, html, nothing, request, settings} from './api.js';
import {nameOf, who} from './people.js';
import {t} from './words.js';

/** @typedef {import('./page.js').Page} Page */

const links = new Map();  // seat -> the link that was made on this page
let timedAt = 0;  // when the clock of the snapshot came
let ticks = 0;

const isPlayed = ({snap}) => !snap.is_over && !snap.drill;

/**
 * Note a new snapshot: its clock, and whether it calls the person to move.
 * @param {Page} page
 * @param {import('./snapshot').Snapshot | undefined} old
 */
export function follow(page, old) {
  const {snap} = page;
  timedAt = performance.now();
  if (snap.clock && !ticks) ticks = setInterval(() => page.snap.clock?.running != null && page.render(), 500);
  page.isCalled = Boolean(settings.call) && snap.is_mine && isPlayed(page);
  if (page.isCalled && settings.call === 'sound' && old && !old.is_mine) ring();
}

/** Say who has come or gone. */
export function note(page, seats) {
  const {present, snap} = page;
  page.present = seats;
  const come = seats.filter(seat => present && !present.includes(seat) && snap.seats[seat]);
  if (come.length) page.tell(come.map(seat => t('{name} is connected.', {name: nameOf(page, seat)})).join(' '));
  else page.render();
}

function ring() {
  const sound = new AudioContext(), tone = sound.createOscillator(), loudness = sound.createGain();
  tone.frequency.value = 660;
  loudness.gain.setValueAtTime(0.15, sound.currentTime);
  loudness.gain.exponentialRampToValueAtTime(0.001, sound.currentTime + 0.4);
  tone.connect(loudness).connect(sound.destination);
  tone.onended = () => sound.close();
  tone.start();
  tone.stop(sound.currentTime + 0.4);
}

// --- who is there

/** Seconds as people read them. */
function timeLeft(seconds) {
  if (seconds < 10) return `0:0${Math.floor(seconds)}.${Math.floor(10 * seconds) % 10}`;
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, Math.floor(seconds) % 60];
  const two = number => String(number).padStart(2, '0');
  return hours ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

/**
 * The persons with their clocks, and whether their pages are open.
 * @param {Page} page
 */
export function strip(page) {
  const {snap: {clock, away, seats}, present} = page;
  if (!clock && !away.length) return nothing;
  const gone = clock?.running == null ? 0 : (performance.now() - timedAt) / 1000;
  return html`<ul class="plain friends" aria-label=${t('Persons')}>${seats.map(({kind}, seat) => {
    if (kind !== 'person') return nothing;
    const left = clock && Math.max(0, clock.left[seat] - (clock.running === seat ? gone : 0));
    const isHere = !away.length || present?.includes(seat);
    return html`<li class="who" aria-current=${page.snap.to_move === seat}>${who(page, seat)} ${page.snap.guest === seat ? html`<b>${t('you')}</b>` : nothing} ${away.length ? html`<span class=${isHere ? 'here' : 'soft'}>${
      isHere ? t('connected') : t('not connected')}</span>` : nothing} ${left == null ? nothing : html`<time>${clock.fallen.includes(seat) ? t('time is up') : timeLeft(left)}</time>`}</li>`;
  })}</ul>`;
}

// --- invitations

/** @param {Page} page */
async function invite(page, seat, withdraw) {
  try {
    const {path, snapshot} = await request('POST', `/api/games/${page.snap.id}/invites`, {version: page.snap.version, seat, withdraw});
    if (path) links.set(seat, location.origin + path);
    else links.delete(seat);
    page.stream.disconnect();
    page.viewer = snapshot.viewer;
    page.apply(snapshot, true);
    page.stream.connect();
  } catch (error) {
    if (error.snapshot) page.apply(error.snapshot);
    page.tell(error.snapshot ? t('The game has changed in the meantime; try again.') : error.message);
  }
}

/**
 * The dialog with the links of seats.
 * @param {Page} page
 */
export function invites(page) {
  const {snap: {seats, away}} = page;
  const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(location.hostname);
  return html`<h2 id="asked">${t('Invite friends')}</h2>
    <p>${t('Whoever opens the link of a seat plays it on a device of their own: this game, this seat, nothing else. A new link makes the old one worthless.')}</p>
    ${isHere ? html`<p class="soft">${t('This page is at an address of this computer: its links work only here. For other devices, start {command} with an address that they reach.', {
      command: html`<code>mexica-ai web</code>`})}</p>` : nothing}
    ${seats.map(({kind}, seat) => {
    if (kind !== 'person') return nothing;
    const isAway = away.includes(seat), link = links.get(seat);
    const act = (words, withdraws) => button(words, () => invite(page, seat, withdraws), {label: `${words}: ${nameOf(page, seat)}`});
    return html`<div class="row">${who(page, seat)}<span class="grow"></span>
      ${act(isAway ? t('New link') : t('Make a link'), false)}${isAway ? act(t('Take the seat back'), true) : nothing}</div>
      ${link ? html`<div class="row"><input class="invite grow" readonly aria-label=${t('Link of {name}', {name: nameOf(page, seat)})} .value=${link}
        @focus=${event => event.target.select()}>${button(t('Copy'), () => copy(page, link))}</div>` : nothing}`;
  })}`;
}

async function copy(page, link) {
  try {
    await navigator.clipboard.writeText(link);
    page.tell(t('The link is copied.'));
  } catch {
    page.tell(t('The browser does not allow to copy: mark the link and copy it.'));
  }
}
