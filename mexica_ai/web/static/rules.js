// @ts-check
// The rules of a game in a drawer beside it: links to the sections, the sections, the signs of the pictures. It is
// loaded when it is first opened.
import {button, choice, find, html, nothing, request} from './api.js';
import {language as spoken, t} from './words.js';

/** @typedef {import('./page.js').Page} Page */
/** @typedef {import('./snapshot').BlockJson} Block */

/** @type {import('./snapshot').RulesJson | null} */
let rules = null;  // those that are open
let game = '';
let language = spoken;
/** @type {Element | null} */
let opener = null;  // what had the focus before

/** Load and show the rules in a language. */
async function load(page, name, chosen) {
  try {
    const found = await request('GET', `/api/rules/${name}?lang=${chosen}`);
    [rules, game, language] = [found, name, chosen];
  } catch (error) {
    page.tell(error.message);
  }
  page.render();
}

/**
 * Open the rules of a game, at a section if they have it; close them if they are open.
 * @param {Page} page
 */
export async function toggle(page, name, section = '') {
  if (rules) return close(page);
  opener = document.activeElement;
  await load(page, name, language);
  if (find(`#rule-${section}`)) show(section);
  else find('.drawer')?.focus();
}

function close(page) {
  rules = null;
  page.render();
  if (opener instanceof HTMLElement) opener.focus();
}

function show(section) {
  const heading = find(`#rule-${section}`);
  heading.scrollIntoView({block: 'start'});
  heading.focus();
}

// Each second run of a text is strong.
const said = runs => runs.map((run, index) => index % 2 ? html`<b>${run}</b>` : run);

/** @param {Block} block */
function block({kind, rows}) {
  if (kind === 'text') return html`<p>${said(rows[0][0])}</p>`;
  if (kind === 'list') return html`<ul>${rows.map(([cell]) => html`<li>${said(cell)}</li>`)}</ul>`;
  if (kind === 'numbers') return html`<ol>${rows.map(([cell]) => html`<li>${said(cell)}</li>`)}</ol>`;
  const [head, ...body] = rows;
  return html`<div class="wider"><table><thead><tr>${head.map(cell => html`<th scope="col">${said(cell)}</th>`)}</tr>
    </thead><tbody>${body.map(([first, ...cells]) => html`<tr><th scope="row">${said(first)}</th>${
      cells.map(cell => html`<td>${said(cell)}</td>`)}</tr>`)}</tbody></table></div>`;
}

/**
 * The drawer, if it is open.
 * @param {Page} page
 */
export function drawer(page) {
  if (!rules) return nothing;
  const {title, sections, legend, languages} = rules;
  const names = new Intl.DisplayNames([language], {type: 'language'});
  const signs = {name: 'signs', title: t('Signs')};
  const key = event => {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    close(page);
  };
  const links = [...sections.filter(one => one.level === 2), signs].map(
    one => button(one.title, () => show(one.name), {kind: 'link'}));
  const codes = languages.map(one => [one, names.of(one)]);
  return html`<aside class="drawer" aria-labelledby="rules" tabindex="-1" lang=${language} @keydown=${key}>
    <div class="row head"><h2 id="rules">${title}</h2><span class="grow"></span>${languages.length < 2 ? nothing
      : choice(t('Language of the rules'), codes, language, one => load(page, game, one))}
      ${button(t('Close'), () => close(page))}</div>
    <nav class="row" aria-label=${t('Sections')}>${links}</nav>
    ${sections.map(one => html`${one.level === 2 ? html`<h3 id="rule-${one.name}" tabindex="-1">${one.title}</h3>`
      : html`<h4 id="rule-${one.name}" tabindex="-1">${one.title}</h4>`}${one.blocks.map(block)}`)}
    <h3 id="rule-signs" tabindex="-1">${t('Signs')}</h3>
    <dl>${legend.map(({sign, words}) => html`<dt>${sign}</dt><dd>${words}</dd>`)}</dl></aside>`;
}
