// @ts-check
// A drill: the exercise whose position is shown, what the entered turn is worth, and the way to the next one.
import {button, html, nothing, percent, seatMark} from './api.js';
import {nameOf, named, told, who} from './people.js';
import {t} from './words.js';

/** @typedef {import('./page.js').Page} Page */

/**
 * Above the board: the exercise.
 * @param {Page} page
 */
export function drillCard(page) {
  const {drill} = page.snap;
  const {number, of, solved, points, source, seat, text, loss, state, hint, verdict, message} = drill;
  const isOpen = state === 'enter';
  const chip = (words, name) => button(words, () => page.set({showing: page.showing === name ? null : name}), {
    kind: 'chip', pressed: page.showing === name});
  const act = what => () => page.answer({do: what});
  return html`<section class="card drill" aria-labelledby="exercise"><div class="row"><h2 id="exercise">${t('Exercise {number} of {of}', {number, of})}</h2>
      <span class="soft">${from(drill.source_turn) ?? source}; ${t('{solved} solved, {n:point|points}', {solved, n: points})}</span><span class="grow"></span>
      ${isOpen ? [button(t('Hint'), act('hint')), button(t('Show the better turn'), act('show'))] : nothing}
      ${button(of === 1 ? t('Again') : state === 'done' ? t('Next exercise') : t('Skip'), act('next'), {
        kind: state === 'done' ? 'primary' : '', off: page.isSending})}</div>
    <div class="played"><p>${t('{turn} gave away {loss}.', {turn: chip(html`${seatMark(seat)} ${told(text, drill.words)}`, 'turn'), loss: percent(loss, 1)})}
      ${state === 'done' ? nothing : t('Find a better turn.')}</p>
      <div role="status">${state === 'judging' ? html`<p class="pulse">${t('The turn is being judged …')}</p>` : nothing}
        ${message ? html`<p class="fault">${message}</p>` : nothing}
        ${verdict ? html`<p><b>${named(page, verdict.text)}</b> ${isOpen && !verdict.is_solved ? t('Undo it and try another turn, or ask for a hint.') : nothing}</p>` : nothing}
        ${hint && isOpen ? html`<p>${t('The better turn begins: {turn}', {turn: html`<b>${told(hint, drill.hint_words)}</b>`})}</p>` : nothing}</div>
      ${state === 'done' ? html`<p>${t('{turn} then expects {share} of the win.', {
        turn: chip(t('Engine: {turn}', {turn: told(drill.better_text, drill.better_words)}), 'better'), share: percent(drill.better_share)})}</p>` : nothing}</div></section>`;
}

// The way back to the review that the drill was made of.
function from(turn) {
  const [, game] = location.hash.match(/^#from\/([0-9a-f]{32})$/) ?? [];
  return game && html`${t('turn {number}', {number: turn})}, <a href="/g/${game}#review/${turn}">${t('to the review')}</a>`;
}

/**
 * Below a review: drills of its mistakes, from the loss of an inaccuracy on.
 * @param {Page} page
 */
export function practise(page, create) {
  const {id, guest, annotation: {turns, state}} = page.snap;
  const seats = [...new Set(turns.filter(note => note.loss >= 0.05).map(note => note.seat))].sort();
  if (!seats.length || state === 'running' || guest != null) return nothing;
  const begin = seat => () => create(page, {from: id, mistakes: {seat}});
  return html`<div class="row">${t('Practise the mistakes of')} ${seats.map(seat => button(who(page, seat), begin(seat), {
    label: t('Practise the mistakes of {who}', {who: nameOf(page, seat)})}))}${seats.length > 1 ? button(t('all seats'), begin(null), {
    label: t('Practise the mistakes of all seats')}) : nothing}</div>`;
}
