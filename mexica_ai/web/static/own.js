// @ts-check
// The start page's second part: names and strength of levels, the level that comes next, the own results.
import {button, html, nothing, percent} from './api.js';
import {form} from './setup.js';
import {language, t} from './words.js';

/** @typedef {import('./page.js').Page} Page */

/**
 * What a level is like, below the seat that it plays.
 * @param {Page} page
 * @param {string} who
 */
export function about(page, who) {
  const [kind, number] = who.split(':');
  if (kind !== 'level') return nothing;
  const {words, strength} = page.results.levels[Number(number) - 1];
  const known = strength[form.game];
  return html`<small class="soft level">${words} ${known ? `${known[0].toUpperCase()}${known.slice(1)}.` : t('Its strength in this game was not measured.')}</small>`;
}

/**
 * The level that comes next in the chosen game.
 * @param {Page} page
 * @param {(level: number) => void} choose
 */
export function advice(page, choose) {
  const next = page.results.next[form.game];
  return next ? html`<p class="soft advice">${next.words} ${button(t('Choose level {level}', {level: next.level}), () => choose(next.level), {kind: 'link'})}</p>` : nothing;
}

const TRENDS = {rising: t('getting better'), falling: t('getting worse'), steady: t('steady'), '': ''};
const against = level => level ? t('Level {level}', {level}) : t('others');
const outcome = share => share === 1 ? t('won') : share ? t('shared') : t('lost');

/** @param {Page} page */
export function results(page) {
  const {results: list, statistics} = page.results;
  if (!list.length) return nothing;
  return html`<section class="card results" aria-labelledby="results"><h2 id="results">${t('Your results')}</h2><table><thead><tr>${
    [t('Game'), t('Against'), t('Games'), t('Won'), t('Shared'), t('Lost'), t('Wins'), t('Points')].map(head => html`<th scope="col">${head}</th>`)}</tr></thead>
    <tbody>${statistics.map(row => html`<tr><th scope="row">${page.titleOf(row.game)}</th><td>${against(row.level)}</td><td>${row.games}</td><td>${row.wins}</td>
      <td>${row.shared}</td><td>${row.losses}</td><td>${percent(row.share)}${row.trend && html`, ${TRENDS[row.trend]}`}</td>
      <td>${row.share_of_points == null ? '' : percent(row.share_of_points)}</td></tr>`)}</tbody></table>
    <p class="soft">${t('Games of one person against levels or engines. Points: your part of all points, on average.')}</p>
    <details><summary>${t('All {number:game|games}', {number: list.length})}</summary><ul class="plain">${list.map(({id, game, level, share, scores, seat, begun}) => html`<li>
      <a href="/g/${id}#review">${new Date(begun).toLocaleDateString(language, {dateStyle: 'medium'})} ${t('{game} against {opponent}: {outcome}', {game: page.titleOf(game), opponent: against(level), outcome: outcome(share)})}${
        scores.length ? html` (<b>${scores[seat]}</b>; ${scores.join(' : ')})` : nothing}</a></li>`)}</ul></details></section>`;
}
