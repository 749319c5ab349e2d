// @ts-check
// What the page shows: its head, the board, and what stands beside it.
import {button, html, keep, lineText, nothing, query, settings} from './api.js';
import {candidatesPanel} from './candidates.js';
import {menu} from './menu.js';
import {nameOf, who} from './people.js';
import {tools, turnBar} from './turn.js';
import {downloads, over, turnList} from './turns.js';
import {t} from './words.js';

/** @typedef {import('./page.js').Page} Page */

/**
 * The whole page.
 * @param {Page} page
 */
export function view(page) {
  const {snap, failure, info} = page;
  const state = failure ? html`<p role="alert">${failure}</p><a href="/">${t('All games')}</a>` : html`<p>${t('Loading …')}</p>`;
  const isGuest = snap?.guest != null;
  return html`<header class="top"><a class="brand" href=${isGuest ? `/g/${snap.id}` : '/'}><svg viewBox="0 0 32 32" aria-hidden="true"><path
      d="M3 27h26v-5h-5v-5h-4v-5h-8v5H8v5H3z" class="fill-seat0 stroke-rim0"/></svg>mexica-ai</a>
    ${snap ? html`<b>${page.titleOf(snap.game)}</b> ${snap.drill || snap.handover != null ? nothing : ['play', 'review'].map(mode => button(mode === 'play' ? t('Play') : t('Review'),
      () => page.set({mode, at: snap.turns.length, line: [], peek: null, shown: null}), {pressed: page.mode === mode}))}` : nothing}
    <span class="grow"></span>${snap && page.game.languages.length ? button(t('Rules'), () => page.readRules()) : nothing}
    ${snap ? button(t('Help'), () => page.ask('help')) : nothing}
    ${snap && !isGuest && !snap.is_over && !snap.drill && snap.seats.filter(({kind}) => kind === 'person').length > 1
      ? button(t('Invite'), () => page.ask('invite')) : nothing}
    ${snap && snap.handover == null ? button(t('Text'), () => page.ask('text')) : nothing}${isGuest ? nothing : html`<a class="link" href="/edit${snap ? query(snap.viewer == null ? {game: snap.id, at: page.spot.at, line: lineText(page.spot.line)} : {empty: snap.game, players: snap.players}) : ''}">${t('Editor')}</a>`}</header>
  ${banner(page)}${told(page)}${failure || !info ? html`<main class="loading"><div class="outline"></div>${state}</main>`
    : page.editor ? page.editor.view() : !snap ? page.home.home(page) : snap.handover == null ? table(page) : handover(page)}
  ${page.rules?.drawer(page) ?? nothing}${page.dialog ? page.dialogs.dialog(page) : nothing}`;
}

const banner = ({isClosed, isGone, isLost, isCrowded, snap}) =>
  isClosed || isGone || isLost ? html`<p class="banner" role="alert">${
  isClosed && snap?.guest != null ? t('This link lets you in no more. Ask for a new one.')
    : isClosed ? t('This browser is not let in any more. Open the URL that {command} printed. The games are saved.', {command: html`<code>mexica-ai web</code>`})
    : isGone ? t('The game was deleted.') : isCrowded ? t('Too many pages are open: close one. The game is saved.')
    : t('The connection is lost; reconnecting. The game is saved.')}</p>` : nothing;

// What is told where neither a dialog nor the tools, the guide or the editor tell it.
const told = ({message, dialog, editor, snap, mode}) => {
  const isPlayed = snap && snap.handover == null && mode === 'play' && (!snap.is_over || snap.guide);
  return !message || dialog || editor || isPlayed ? nothing : html`<p class="banner told" role="status">${message}</p>`;
};

/** @param {Page} page */
function handover(page) {
  const seat = page.snap.handover;
  const open = async () => {
    page.stream.disconnect();
    page.viewer = seat;
    const snapshot = await page.call('GET', query({viewer: seat, open: 1}));
    if (snapshot) page.apply(snapshot, true);
    page.stream.connect();
  };
  return html`<main class="loading"><h1>${who(page, seat)}</h1>
    <button class="primary big handover" @click=${open}>${t('{who}, press Enter', {who: html`<bdi>${nameOf(page, seat)}</bdi>`})}</button></main>`;
}

/** @param {Page} page */
const projection = page => !page.projected ? nothing : html`<p class="row projected">${t('Scored as it stands:')} ${
  page.projected.map((points, seat) => html`<span class="who">${who(page, seat)} <b>${points}</b></span>`)}</p>`;

/** @param {Page} page */
function table(page) {
  const {snap, game, shown} = page;
  const isEarly = snap.guest != null && !snap.is_over;  // an invitation gives nothing of engines before the end
  const isReview = page.mode === 'review';
  const isAtEnd = snap.guide && snap.guide.step === snap.guide.of;
  const hasPanel = game.parts.includes('panel');
  return html`<main class="game"><h1 class="unseen">${game.title}</h1>
    <div class="left">${isReview ? nothing : [
        snap.drill ? page.study?.drillCard(page) : snap.guide ? page.guide.guideCard(page) : nothing, page.friends?.strip(page) ?? nothing,
        isAtEnd ? nothing : [turnBar(page), snap.is_over ? nothing : tools(page)]]}
      <div class="place"><div class="stage ${game.grid ? 'has-grid' : ''} ${settings.fits ? 'fits' : ''}"
        @click=${() => shown && page.set({shown: null})}></div>${page.study?.bar(page)}${menu(page)}</div>
      ${button(t('Fit the board'), () => {
        keep({fits: !settings.fits});
        page.render();
        page.board.center();
      }, {kind: 'fit', pressed: settings.fits})}
      ${isReview ? page.study?.reviewBar(page) : nothing}</div>
    <aside class="side">${isReview ? html`<div class="graph"></div>` : nothing}${hasPanel ? html`<div class="panel" aria-hidden="true"></div>` : nothing}
      <p class=${hasPanel ? 'unseen' : 'row'}>${snap.seats.map((_, seat) => html`<span class="who">${who(page, seat)}<span
        class="unseen">, </span> <b>${snap.scores[seat]}</b><span class="unseen"> ${snap.scores[seat] === 1 ? t('point') : t('points')}; </span></span>`)}</p>
      ${projection(page)}
      ${isReview ? snap.open && !isEarly ? page.study?.annotationPanel(page) : nothing : over(page)}${isEarly ? nothing : candidatesPanel(page)}${snap.drill ? nothing : turnList(page)}${isEarly ? nothing : downloads(page)}</aside></main>`;
}
