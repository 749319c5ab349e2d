// @ts-check
// Dialogs. They are loaded when the first one is opened.
import {button, choice, html, keep, languages, nothing, settings} from './api.js';
import {create, readSeats, seatRows} from './setup.js';
import {t} from './words.js';

/** @typedef {import('./page.js').Page} Page */

const dialogs = {
  help,
  text: ({reply}) => html`<h2 id="asked">${t('The board as text')}</h2><pre tabindex="0">${reply?.text}</pre>`,
  resign: (/** @type {Page} */ page) => html`<h2 id="asked">${t('Resign?')}</h2><p>${t('The game ends, and the others win.')}</p>
    ${button(t('Resign'), () => page.close(() => page.turn({resign: true})), {kind: 'primary'})}`,
  proposal,
  invite: (/** @type {Page} */ page) => page.friends.invites(page),
  on: (/** @type {Page} */ page) => html`<h2 id="asked">${t('Play on from turn {number}', {number: page.spot.at})}</h2>${seatRows(page, page.snap.players)}
    ${button(t('Start'), () => create(page, {from: page.snap.id, at: page.spot.at, seats: readSeats(page.info, page.snap.players)}), {
      kind: 'primary big'})}`,
};

// What the engine says against an action shows how it can be played: that is a hint, and told only where hints are shown.
/** @param {Page} page */
function proposal(page) {
  const {opinions, message} = page.reply ?? {};
  const told = opinions?.filter(({agrees}) => agrees || settings.hints[page.mode] !== 'none');
  return html`<h2 id="asked">${t('Do all agree?')}</h2><p>${page.game.proposals.question} ${t('The engine says:')}</p>
    <p class="fault">${message}</p>${!opinions ? html`<p>${message ? '' : t('thinking …')}</p>` : !told.length
      ? html`<p>${t('There is nothing on which all must agree now.')}</p>` : html`<ul>${told.map(({action, agrees, explanation}) => html`<li><b>${action}</b>:
      ${explanation} ${agrees ? button(t('Agree'), () => page.close(() => page.draft([...page.snap.draft.actions, action]))) : nothing}</li>`)}</ul>`}`;
}

/** The open dialog of the page. */
export const dialog = (/** @type {Page} */ page) => html`<dialog aria-labelledby="asked" @close=${() => page.set({dialog: null})}>${dialogs[page.dialog](page)}
  <p class="fault" role="status">${page.message ?? ''}</p>
  <div class="row end">${button(t('Close'), () => page.close())}</div></dialog>`;

const KEYS = [
  ['← → ↑ ↓', t('move on the board, or in the list of candidates')], ['Enter', t('choose; with Shift: always ask for details')], ['Esc', t('step back')],
  ['Ctrl+Z', t('undo')], ['Ctrl+Y', t('redo')], ['/', t('type an action or a turn')], ['T', t('the board as text (with Shift)')],
  ['R', t('the rules (with Shift)')],
  ['Z', t('on the board: enlarge it where the focus is')], ['?', t('this list')],
  ['← → Home End', t('in a review: turns')], ['N P', t('in a review: next and previous ?')],
];

/** @param {Page} page */
function help(page) {
  const check = (name, words) => html`<label class="row"><input type="checkbox" .checked=${settings[name]}
    @change=${event => keep({[name]: event.target.checked})}> ${words}</label>`;
  return html`<section class="keys"><h2 id="asked">${t('Keys')}</h2><div class="row top-row">${[KEYS, page.game.tools.map(({key, label}) => [key, label])].map(rows => html`<table><tbody>
    ${rows.map(([keys, words]) => html`<tr><th scope="row">${keys.split(' ').map(key => html`<kbd>${key}</kbd> `)}</th><td>${words}</td></tr>`)}
    </tbody></table>`)}</div></section><h2>${t('Settings')}</h2>
    <div class="row">${t('Colours')} ${choice(t('Colours'), [['', t('system')], ['light', t('light')], ['dark', t('dark')]], settings.theme, theme => keep({theme}))}
      ${languages()}</div>
    <div class="row">${t('When it is my move')} ${choice(t('When it is my move'), [['', t('nothing')], ['title', t('the title says so')],
      ['sound', t('the title says so, with a sound')]], settings.call, call => keep({call}))}</div>
    ${check('codes', t('turns as text forms, such as canal C5-D5'))}${check('keys', t('keys for tools'))}${check('zoom', t('enlarge and explain what is under the pointer'))}${check('annotates', t('judge the turns when a game is over'))}${check('checks', t('ask before a turn that gives much of the win away'))}${check('motion', t('show turns of engines action by action'))}`;
}
