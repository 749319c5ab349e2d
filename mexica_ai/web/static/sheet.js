// @ts-check
// The score sheet of a game that is over. It is loaded then.
import {html, nothing, request} from './api.js';
import {who} from './people.js';
import {t} from './words.js';

/** @typedef {import('./page.js').Page} Page */
/** @typedef {import('./snapshot').ScoreRowJson} Row */

/** @type {Row[]} */
let rows = [];

/**
 * Load the rows of a page's game.
 * @param {Page} page
 */
export async function loadSheet(page) {
  ({rows} = await request('GET', `/api/games/${page.snap.id}/sheet`));
}

/**
 * Where the points came from, by sections, and their sums.
 * @param {Page} page
 */
export function sheet(page) {
  const {scores} = page.snap;
  /** @type {Map<string, Row[]>} */
  const sections = new Map();
  for (const row of rows) sections.set(row.section, [...sections.get(row.section) ?? [], row]);
  const cells = points => points.map(each => html`<td>${each || nothing}</td>`);
  const sums = some => scores.map((_, seat) => some.reduce((sum, row) => sum + row.points[seat], 0));
  const part = (name, sum) => html`<tr class="part"><th scope="rowgroup">${name}</th>${sum}</tr>`;
  return html`<table><thead><tr><td></td>${scores.map((_, seat) => html`<th scope="col">${who(page, seat)}</th>`)}</tr>
    </thead>
    ${[...sections].map(([name, some]) => html`<tbody>${name ? part(name, cells(sums(some))) : nothing}
      ${some.map(({label, points}) => html`<tr><th scope="row">${label}</th>${cells(points)}</tr>`)}</tbody>`)}
    <tbody><tr class="sum"><th scope="row">${t('Points')}</th>${scores.map(score => html`<td>${score}</td>`)}</tr></tbody>
    </table>`;
}
