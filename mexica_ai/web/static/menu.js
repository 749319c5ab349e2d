// @ts-check
// What appears at a place of the board: the menu of choices there, and the note that says why it has none.
import {button, find, html, nothing} from './api.js';
import {t} from './words.js';

/** @typedef {import('./page.js').Page} Page */

/**
 * Arrows move among buttons; Escape steps back.
 * @param {Page} page
 */
function moveIn(page, event) {
  const buttons = [...event.currentTarget.children];
  const way = {ArrowDown: 1, ArrowUp: -1}[event.key];
  if (way) buttons.at((buttons.indexOf(event.target) + way) % buttons.length).focus();
  else if (event.key === 'Escape') {
    page.back();
    page.board.focus();
  } else return;
  event.preventDefault();
  event.stopPropagation();
}

const choicesOf = page => page.isMine && !page.isDragged && page.chip == null
  ? page.entering.choices(target => page.snap.targets[target] ?? target) : [];

const choose = (page, one) => button(html`${one.label} <small>${one.note}</small>`, (/** @type {UIEvent} */ event) => page.choose(one, !event.detail), {
  kind: one.isEmpty ? 'faint' : ''});

/**
 * The menu of choices at the clicked place, if the board does not show them all; else the note there.
 * @param {Page} page
 */
export function menu(page) {
  if (page.note) return html`<div class="note hint" role="status">${page.note.lines.map(line => html`<p>${line}</p>`)}</div>`;
  const choices = choicesOf(page);
  if (!choices.length || page.isQuiet || page.entering.isSet) return nothing;
  return html`<div class="menu ${choices.length > 8 ? 'wide' : ''}" role="group" aria-label=${t('Choices')}
    @keydown=${event => moveIn(page, event)}>${choices.map(one => choose(page, one))}</div>`;
}

/**
 * The buttons that confirm a set of targets; they stand above the board, to cover none of them.
 * @param {Page} page
 */
export function confirmation(page) {
  const choices = choicesOf(page);
  if (!choices.length || !page.entering.isSet) return nothing;
  return html`<span class="confirm menu-row" role="group" aria-label=${t('Choices')}
    @keydown=${event => moveIn(page, event)}>${choices.map(one => choose(page, one))}</span>`;
}

/** Place the menu or the note below the clicked and the highlighted targets around it, or above. */
export function placeMenu(anchor) {
  const found = find('.menu') ?? find('.hint');
  const parent = found?.offsetParent;
  if (!parent) return;
  const host = parent.getBoundingClientRect();
  const at = (anchor?.isConnected ? anchor : find('.tools [aria-pressed=true]') ?? parent).getBoundingClientRect();
  const lit = found.matches('.menu') ? [...document.querySelectorAll('.target.lit')] : [];
  const near = [at, ...lit.map(rect => rect.getBoundingClientRect()).filter(
    rect => Math.hypot(rect.x - at.x, rect.y - at.y) < 160)];
  const below = Math.max(...near.map(rect => rect.bottom)) - host.top + 6;
  const above = Math.min(...near.map(rect => rect.top)) - host.top - found.offsetHeight - 6;
  const left = at.left - host.left + at.width / 2 - found.offsetWidth / 2;
  found.style.left = `${Math.max(Math.min(left, host.width - found.offsetWidth), 0)}px`;
  found.style.top = `${Math.max(below + found.offsetHeight > host.height && above > 0 ? above : below, 0)}px`;
}

/**
 * What the server says of a click that is not possible, as the lines of a note.
 * @param {any} answer
 * @param {string | null} tool the label of the one that is chosen
 * @param {string} [what] what was clicked, in words
 */
export function refusalLines({reasons}, tool, what) {
  const sentence = words => `${words[0].toUpperCase()}${words.slice(1)}.`;
  if (!reasons.length) return [what ? sentence(tool ? t('{what}: {tool} does nothing here', {what, tool}) : t('{what}: nothing is possible here now', {what})) : t('Nothing is possible there.')];
  if (reasons.length === 1 || tool) return [sentence(reasons[0].why)];
  return reasons.slice(0, 3).map(({tools, why}) => `${tools.slice(0, 2).join(', ')}${tools.length > 2 ? ' …' : ''}: ${why}.`);
}
