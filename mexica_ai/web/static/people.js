// @ts-check
// What is written for people: names of the seats, and turns in words.
import {html, nothing, seatMark, settings} from './api.js';
import {t} from './words.js';

/** @typedef {import('./page.js').Page} Page */

/** The name of a seat; of nobody's turn, that it is a random event. */
export const nameOf = (page, seat) => seat == null ? t('Event') : page.snap.names[seat];

/** A seat's mark and name. */
export const who = (page, seat) => seat == null ? html`<span class="mark">·</span> ${t('Event')}`
  : html`${seatMark(seat)} <bdi>${nameOf(page, seat)}</bdi>`;

/** A text of the server, which counts seats from 0, with their names. */
export const named = (page, text) => text?.replace(/\b[Ss]eat (\d)\b/g, (found, seat) => page.snap.names[seat] ?? found);

/** A turn in words, or as text if the settings say so; `words` may be missing. */
export const told = (text, words) => settings.codes || !words ? text : words;

/**
 * Why a turn is marked, with the turns that it names in words.
 * @param {import('./snapshot').EvaluationJson} note
 */
export function why(page, note) {
  const {explanation, choice_text: choice, choice_words: better, answer_text: answer, answer_words: next} = note;
  const tell = (text, code, words) => settings.codes || !code || !words ? text : text.replace(code, () => `“${words}”`);
  const last = explanation.length - 1;  // is about the better turn, the one between about the answer
  return named(page, explanation.map((text, index) => index === last ? tell(text, choice, better)
    : index ? tell(text, answer, next) : text).join(' '));
}

/** The points of all seats as a sentence. */
export const standing = (page, scores) => scores.map((score, seat) => t('{who}, {n:point|points}', {
  who: nameOf(page, seat), n: score})).join('; ');

/** Who has won. */
export const result = page => `${page.snap.winners.map(seat => nameOf(page, seat)).join(` ${t('and')} `)} ${
  page.snap.winners.length > 1 ? t('share the win') : t('wins')}`;

const lines = new WeakMap();  // turns of candidates -> in words, for side lines

/** Keep the words of a candidate and its line. */
export function keepWords({turn, words, line = [], line_words: known = []}) {
  lines.set(turn, words);
  line.forEach((one, index) => lines.set(one, known[index]?.words));
}

/** A turn of a side line in words, if it is that of a candidate. */
export const toldLine = turn => told(turn.join('; '), lines.get(turn));

// --- what the others have played

/** The indices of the turns since the last turn of the person to move, if it is a person's turn. */
export function answers(snap) {
  const {turns, waiting, to_move: mover} = snap;
  if (waiting !== 'person') return [];
  let first = turns.length;
  while (first > 0 && turns[first - 1].seat !== mover) first -= 1;
  // What has come by chance at the end of the own turn is no answer.
  return turns.slice(first).some(({seat}) => seat != null) ? turns.slice(first).map((_, index) => first + index) : [];
}

/** Where the board shows the last turn of another seat, with its marks, until the person to move acts. */
export function lastPlace({snap}) {
  const index = answers(snap).findLast(one => snap.turns[one].seat != null);
  return index === undefined || snap.draft.actions.length ? null : {at: index, since: snap.turns.length - index};
}

/** Below the turn: what the others have played since. */
export function lastTurns(page) {
  const {snap: {turns}, looked, shown, mode} = page;
  if (mode !== 'play') return nothing;
  const list = answers(page.snap).filter(index => turns[index].seat != null);
  const look = index => () => {
    page.looked = shown ? null : index;
    page.paint();
  };
  return html`<ul class="last" aria-label=${t('Played since your last turn')}>${list.map(index => {
    const {seat, text, words} = turns[index];
    return html`<li><button type="button" class="link" aria-pressed=${looked === index} @pointerenter=${look(index)}
      @pointerleave=${look(null)} @focus=${look(index)} @blur=${look(null)} @click=${look(index)}>${seatMark(seat)}
      <bdi>${nameOf(page, seat)}</bdi>: ${told(text, words)}</button></li>`;
  })}</ul>`;
}

/** The turn that is shown on the board in place of the one being entered; null: none. */
export const shownTurn = (/** @type {Page} */ page) => (
  {turn: page.snap.drill?.turn, better: page.snap.drill?.better})[page.showing] ?? null;
