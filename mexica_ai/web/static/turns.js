// @ts-check
// The turns of the game as a list by rounds, and its result.
import {button, find, html, lineText, nothing, query, seatMark} from './api.js';
import {nameOf, told, who, why} from './people.js';
import {t} from './words.js';

/** @typedef {import('./page.js').Page} Page */

/**
 * The result of a game that is over.
 * @param {Page} page
 */
export function over(page) {
  const {is_over: isOver, winners, id, guest} = page.snap;
  if (!isOver) return nothing;
  return html`<section class="card over" aria-labelledby="over"><h2 id="over">${winners.map((seat, index) => html`${
        index ? ` ${t('and')} ` : nothing}${who(page, seat)}`)} ${winners.length > 1 ? t('share the win') : t('wins')}</h2>
    <div class="row">${button(t('Review'), () => page.go(0), {kind: 'primary'})}${guest != null ? nothing : html`${
      button(t('Play again, seats rotated'), () => page.create({anew: id}))}${button(t('The same deal, seats rotated'), () => page.create({again: id}))}`}</div>
    ${page.study?.after(page)}
    ${page.sheet?.(page) ?? nothing}</section>`;
}

/**
 * The turns so far, oldest first.
 * @param {Page} page
 */
export function turnList(page) {
  const {turns} = page.snap;
  const rounds = [];
  for (const turn of turns) {
    if (rounds.at(-1)?.name !== turn.round) rounds.push({name: turn.round, turns: []});
    rounds.at(-1).turns.push(turn);
  }
  return html`<section class="card journal" aria-labelledby="turns"><div class="row"><h2 id="turns">${t('Turns')}</h2><span class="grow"></span>
      ${page.isMine ? button(t('Resign'), () => page.ask('resign'), {kind: 'link'}) : nothing}</div>
    <div class="rounds" @pointerleave=${() => look(page, null)}>${rounds.map(({name, turns: some}) => html`<section>
      ${name ? html`<h3>${name}</h3>` : nothing}<ol start=${some[0].index + 1}>${some.map(turn => row(page, turn))}</ol></section>`)}</div></section>`;
}

function row(page, {index, seat, text, words}) {
  const note = page.noteOf(index);
  const isReview = page.mode === 'review';
  const show = () => look(page, index);
  // The first tap of a finger shows the turn on the board, as pointing does; the second one opens it.
  const enter = ({pointerType}) => pointerType !== 'touch' && show();
  const open = ({pointerType}) => {
    const isFirst = pointerType === 'touch' && !isReview && page.tapped !== index;
    page.tapped = isFirst ? index : null;
    if (isFirst) show();
    else page.go(index + 1);
  };
  return html`<li><button type="button" class="link" aria-current=${isReview && page.at === index + 1}
      @pointerenter=${enter} @focus=${show} @blur=${() => look(page, null)} @click=${open}>
      <span class="soft">${index + 1}</span>${seat == null ? html`<span class="mark">·</span>` : seatMark(seat)}
      <span class="unseen">${nameOf(page, seat)}: </span><span class="turn">${told(text, words)}</span><b>${note?.mark}</b></button>
    ${note?.mark && note.explanation.length ? html`<p class="soft">${why(page, note)}</p>` : nothing}</li>`;
}

function look(page, index) {
  page.looked = page.mode === 'review' || page.shown ? null : index;
  if (index === null) page.tapped = null;
  page.paint();
}

let followed = '';  // what the list was last scrolled to

/** Keep the current turn of the list in sight. */
export function followTurn(page) {
  const list = find('.rounds');
  const key = list && `${page.mode} ${page.at} ${page.snap.turns.length}`;
  if (!list || key === followed) return;
  followed = key;
  find('.last')?.scrollTo(0, 9999);
  const current = page.mode === 'review' ? list.querySelector('[aria-current=true]') : list.querySelector('section:last-child li:last-child');
  const top = current ? current.getBoundingClientRect().top - list.getBoundingClientRect().top + list.scrollTop : 0;
  list.scrollTo({top: Math.max(0, top - list.clientHeight / 2)});
}

/**
 * Links to downloads.
 * @param {Page} page
 */
export function downloads(page) {
  const {viewer, spot: {at, line: side}, snap: {id, game, drill, open}} = page;
  const line = lineText(side);
  const link = (words, path, values, ending) => html`<a download="${game}-${at}${values.line ? '-line' : ''}.${ending}"
    href="/api/games/${id}/${path}${query(values)}">${words}</a> `;
  return html`<p class="soft downloads">${t('Save the')} ${drill || !open ? nothing : link(t('record'), 'record', {}, 'jsonl')}${link(t('position'), 'position', {at, line, viewer}, 'json')}
    ${link(t('picture'), `at/${at}/all.svg`, {theme: 'light', line, viewer}, 'svg')}</p>`;
}
