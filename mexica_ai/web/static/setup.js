// @ts-check
// The form of a new game: who sits where; and the request that creates it.
import {choice, find, html, nothing, request, say, seatMark} from './api.js';
import {t} from './words.js';

/** @typedef {import('./page.js').Page} Page */

/** What has been entered in forms. */
export const form = {tab: 'New game', players: 2, seats: [], options: {}, text: '', faults: []};
const preset = (info, seat) => form.seats[seat] ?? {who: seat ? `level:${info.levels_default}` : 'person', seconds: 1};

/**
 * Form rows, one for each seat.
 * @param {Page} page
 */
export function seatRows(page, players) {
  const {info} = page;
  const known = page.results?.levels;  // the names of levels come later
  const who = [['person', t('Person')], ...info.levels.map(level => [`level:${level}`, t('Level {level}', {level}) + (known ? `: ${known[level - 1].name}` : '')]),
    ...info.engines.map(name => [`name:${name}`, name])];
  return html`<fieldset><legend>${t('Seats')}</legend>${Array.from({length: players}, (_, seat) => {
    const now = preset(info, seat);
    const set = changes => {
      form.seats[seat] = {...now, ...changes};
      page.render();
    };
    return html`<div class="row">${seatMark(seat)} ${t('Seat {number}', {number: seat + 1})} ${choice(t('Seat {number}', {number: seat + 1}), who, now.who, value => set({who: value}))}
      ${now.who === 'person' ? html`<input class="name" aria-label=${t('Name of seat {number}', {number: seat + 1})} maxlength="24" autocomplete="off"
        placeholder=${t('Player {number}', {number: seat + 1})} .value=${now.name ?? ''} @input=${event => { form.seats[seat] = {...now, name: event.target.value}; }}>` : html`<label><input type="number" min="0.1" max=${info.caps.seconds} step="any"
        .value=${String(now.seconds)} @change=${event => set({seconds: event.target.valueAsNumber || 1})}> ${t('s a turn')}</label>`}${page.own?.about(page, now.who) ?? nothing}</div>`;
  })}${page.own?.advice(page, level => {
    for (let seat = 0; seat < players; seat += 1) {
      const now = preset(info, seat);
      if (now.who.startsWith('level:')) form.seats[seat] = {...now, who: `level:${level}`};
    }
    page.render();
  }) ?? nothing}</fieldset>`;
}

/** The seats of the form for a request. */
export const readSeats = (info, players) => Array.from({length: players}, (_, index) => {
  const {who, seconds, name: person} = preset(info, index);
  const [kind, name] = who.split(/:(.*)/);
  return kind === 'person' ? {kind, name: person || null} : {kind: 'engine', seconds, [kind]: kind === 'level' ? Number(name) : name};
});

/** Copy the seats of a game into the form. */
export function takeSeats(seats) {
  form.seats = seats.map(({kind, level, name, seconds = 1}) => ({
    name: kind === 'person' ? name : '', who: kind === 'person' ? kind : level ? `level:${level}` : `name:${name}`, seconds,
  }));
}

let isBegun = false;  // a second click, or a held Enter, begins no other game
addEventListener('pageshow', () => { isBegun = false; });  // also when the browser goes back

/**
 * Create a game and open it. Of a file of several records, ask for one.
 * @param {Page} page
 */
export async function create(page, body) {
  if (isBegun) return;
  isBegun = true;
  Object.assign(form, {faults: [], several: null});
  page.message = '';
  try {
    const {id, turns, is_over: isOver} = await request('POST', '/api/games', body);
    location.href = `/g/${id}${body.mistakes ? `#from/${body.from}` : turns.length && (body.text || body.example || isOver) ? '#review' : ''}`;
  } catch (error) {
    isBegun = false;
    if (error.reason === 'SEVERAL_RECORDS') form.several = {body, count: error.count, records: error.records};
    else form.faults = error.violations.length ? error.violations : [{words: error.message}];
    const words = form.several ? t('The file holds {number} games: choose one.', {number: form.several.count}) : error.message;
    say(words);
    page.set({message: page.home ? '' : words});  // the start page lists the faults
    find('.several button')?.focus();
  }
}
