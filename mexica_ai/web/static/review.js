// @ts-check
// The review of a game: its turns one by one, the graph of the win's shares, the engine's choices.
import {button, choice, html, nothing, percent, query, showPicture} from './api.js';
import {told, toldLine, who, why} from './people.js';
import {practise} from './drill.js';
import {create} from './setup.js';
import {t} from './words.js';

/** @typedef {import('./page.js').Page} Page */

/**
 * Below the board: navigation through the game.
 * @param {Page} page
 */
export function reviewBar(page) {
  const {at, snap: {turns, open, guest}} = page;
  const to = (words, label, target) => button(words, () => page.go(target), {
    label, off: target < 0 || target > turns.length || target === at,
  });
  const mark = (words, way) => button(words, () => goMark(page, way), {off: !marked(page, way)});
  return html`<section class="card review" aria-label=${t('Review')}>
    <div class="row">${to('«', t('To the start'), 0)}${button('‹', () => page.step(-1), {
        label: t('A turn back'), off: !at && !page.line.length})}
      <input type="range" min="0" max=${turns.length} .value=${String(at)} aria-label=${t('Turn')}
        aria-valuetext=${at ? t('turn {number}: {turn}', {number: at, turn: told(turns[at - 1].text, turns[at - 1].words)}) : t('start')} @input=${event => page.go(event.target.valueAsNumber)}>
      ${button('›', () => page.step(1), {label: t('A turn on'), off: at >= turns.length && !page.line.length})}${to('»', t('To the end'), turns.length)}<span class="soft">${at} / ${turns.length}</span></div>
    <div class="row">${button(t('Before the turn'), () => page.set({isBefore: !page.isBefore, isChoice: false}), {
      pressed: page.isBefore, off: !at})}${mark(t('Previous ?'), -1)}${mark(t('Next ?'), 1)}<span class="grow"></span>
      ${guest != null || !open || page.line.length || isEnd(page) ? nothing : button(t('Play on from here'), () => page.ask('on'))}</div>
    <div class="played">${page.line.length ? sideLine(page) : playedTurn(page, turns[at - 1])}${page.study?.lineTools(page)}</div></section>`;
}

/**
 * Whether nothing can be played any more: a game in which somebody gave up can go on.
 * @param {Page} page
 */
const isEnd = ({spot, snap}) => spot.at === snap.turns.length && snap.is_over && snap.resigned == null;

/** @param {Page} page */
function marked(page, way) {
  return page.snap.annotation.turns.filter(note => note.mark).map(note => note.turn_index + 1)
    .sort((one, other) => way * (one - other)).find(at => way * (at - page.at) > 0);
}

/**
 * Go to the next or previous turn with a mark.
 * @param {Page} page
 */
export function goMark(page, way) {
  const at = marked(page, way);
  if (at) page.go(at);
}

function verdict({grade, is_unsure: isUnsure, loss}) {
  const given = t('gives away {loss}', {loss: percent(loss, 1)});
  return grade ? `${isUnsure ? t('perhaps {grade}', {grade}) : grade}: ${given}` : given;
}

/** @param {Page} page */
function playedTurn(page, turn) {
  if (!turn) return html`<p>${t('The start of the game.')}</p>`;
  const note = page.noteOf(page.at - 1);
  /** @param {false | 'choice' | 'answer'} isChoice */
  const chip = (words, isChoice) => button(words, () => page.set({isChoice}), {kind: 'chip', pressed: page.isChoice === isChoice});
  return html`<p>${chip(html`${who(page, turn.seat)}: ${told(turn.text, turn.words)}`, false)}
    ${note ? html`<b>${note.mark}</b> ${note.is_choice ? t('The engine plays the same.') : verdict(note)}` : nothing}</p>
    ${note?.explanation.length ? html`<p class="soft">${why(page, note)}</p>` : nothing}
    ${note?.answer.length ? html`<p>${chip(t('Expected answer: {turn}', {turn: told(note.answer_text, note.answer_words)}), 'answer')}</p>` : nothing}
    ${note && !note.is_choice ? html`<p>${chip(t('Engine: {turn}', {turn: told(note.choice_text, note.choice_words)}), 'choice')}
      ${page.study?.seek(page, note)}</p>` : nothing}`;
}

const sideLine = (/** @type {Page} */ page) => html`<p>${t('Side line after turn {number}:', {number: page.lineAt})} ${page.line.map((turn, index) =>
  button(page.study?.toldAt(page, index) ?? toldLine(turn), () => page.set({line: page.line.slice(0, index + 1)}), {
    kind: 'chip', pressed: index === page.line.length - 1}))}
  ${button(t('Back to the game'), () => page.set({line: []}))}</p>`;

/** @param {Page} page */
async function annotate(page, seconds) {
  const found = await page.call(seconds ? 'PUT' : 'DELETE', '/annotation', seconds ? {seconds} : {});
  if (found) page.snap.annotation = found;
  page.render();
}

/**
 * Beside the board: the annotation of the whole game.
 * @param {Page} page
 */
export function annotationPanel(page) {
  const {state, done, of, seconds, message, turns} = page.snap.annotation;
  const worst = turns.filter(note => note.mark).sort((one, other) => other.loss - one.loss).slice(0, 6);
  return html`<section class="card" aria-labelledby="course"><h2 id="course">${t('Course of the game')}</h2>
    ${state === 'running' ? html`<div class="row"><progress max=${of} .value=${done} aria-label=${t('Annotation')}></progress>
        ${done} / ${of} ${button(t('Stop'), () => annotate(page, 0))}</div>`
      : done < of ? html`<div class="row">
        ${button(done ? t('Go on') : t('Annotate'), () => annotate(page, page.pace ?? seconds ?? 0.1), {kind: 'primary'})}
        ${choice(t('Time of a turn'), [...new Set([0.1, 0.5, 2, seconds ?? 0.1])].sort((one, other) => one - other).map(one => [one, t('{seconds} s a turn', {seconds: one})]), page.pace ?? seconds ?? 0.1,
          value => page.set({pace: Number(value)}))}</div>` : nothing}
    ${state === 'failed' ? html`<p class="fault">${message}</p>` : nothing}
    ${worst.length ? html`<table><caption>${t('Worst turns')}</caption><tbody>${worst.map(note => html`<tr>
      <td>${button(t('Turn {number}', {number: note.turn_index + 1}), () => page.go(note.turn_index + 1), {kind: 'link'})}</td>
      <td>${who(page, note.seat)}</td><td><b>${note.mark}</b></td><td>${percent(note.loss, 1)}</td></tr>`)}
    </tbody></table>` : nothing}${practise(page, create)}</section>`;
}

/** Show the graph of the game; a click on it opens the turn. */
export async function showGraph(host, page) {
  const {done, seconds} = page.snap.annotation;  // those of another time are others
  if (done) await showPicture(host, `/api/games/${page.snap.id}/shares.svg${query({done, seconds})}`);
  for (const turn of host.querySelectorAll('.turn')) {
    turn.onclick = () => page.go(Number(turn.dataset.target.slice(5)));
    turn.classList.toggle('now', turn.dataset.target === `turn:${page.at}`);
  }
}
