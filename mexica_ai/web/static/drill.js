// @ts-check
// A drill: the exercise whose position is shown, what the entered turn is worth, and the way to the next one.
import {button, html, nothing, percent, seatMark} from './api.js';
import {nameOf, named, told, who} from './people.js';

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
  return html`<section class="card drill" aria-labelledby="exercise"><div class="row"><h2 id="exercise">Exercise ${number} of ${of}</h2>
      <span class="soft">${source}; ${solved} solved, ${points} points</span><span class="grow"></span>
      ${isOpen ? [button('Hint', act('hint')), button('Show the better turn', act('show'))] : nothing}
      ${button(of === 1 ? 'Again' : state === 'done' ? 'Next exercise' : 'Skip', act('next'), {
        kind: state === 'done' ? 'primary' : '', off: page.isSending})}</div>
    <div class="played"><p>${chip(html`${seatMark(seat)} ${told(text, drill.words)}`, 'turn')} gave away ${percent(loss, 1)}.
      ${state === 'done' ? nothing : 'Find a better turn.'}</p>
      <div role="status">${state === 'judging' ? html`<p class="pulse">The turn is being judged …</p>` : nothing}
        ${message ? html`<p class="fault">${message}</p>` : nothing}
        ${verdict ? html`<p><b>${named(page, verdict.text)}</b></p>` : nothing}
        ${hint && isOpen ? html`<p>The better turn begins: <b>${told(hint, drill.hint_words)}</b></p>` : nothing}</div>
      ${state === 'done' ? html`<p>${chip(`Engine: ${told(drill.better_text, drill.better_words)}`, 'better')} then expects
        ${percent(drill.better_share)} of the win.</p>` : nothing}</div></section>`;
}

/** The turn that is shown on the board in place of the one being entered; null: none. */
export const shownTurn = (/** @type {Page} */ page) => ({turn: page.snap.drill?.turn, better: page.snap.drill?.better})[page.showing] ?? null;

/**
 * Below a review: drills of its mistakes, from the loss of an inaccuracy on.
 * @param {Page} page
 */
export function practise(page, create) {
  const {id, annotation: {turns, state}} = page.snap;
  const seats = [...new Set(turns.filter(note => note.loss >= 0.05).map(note => note.seat))].sort();
  if (!seats.length || state === 'running') return nothing;
  const begin = seat => () => create(page, {from: id, mistakes: {seat}});
  return html`<div class="row">Practise the mistakes of ${seats.map(seat => button(who(page, seat), begin(seat), {
    label: `Practise the mistakes of ${nameOf(page, seat)}`}))}${seats.length > 1 ? button('all', begin(null), {
    label: 'Practise the mistakes of all seats'}) : nothing}</div>`;
}
