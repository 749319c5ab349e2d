// @ts-check
// The turn that is entered: whose it is, its actions so far, and the tools of the next one.
import {button, html, nothing, settings} from './api.js';
import {stepBack} from './keys.js';
import {confirmation} from './menu.js';
import {lastTurns, named, who} from './people.js';
import {t} from './words.js';

/** @typedef {import('./page.js').Page} Page */

const heard = new WeakMap();  // what the server has said of an engine -> when

function secondsOf(thinking) {
  if (!heard.has(thinking)) heard.set(thinking, performance.now());
  return thinking.seconds + (performance.now() - heard.get(thinking)) / 1000;
}

/** @param {Page} page */
function status(page) {
  const {snap: {waiting, thinking, to_move: seat, turns, draft, guest, drill}, shown} = page;
  const seconds = thinking ? secondsOf(thinking).toFixed(0) : 0;
  if (shown) {
    const turn = turns[shown.index];
    return html`${turn?.seat == null ? who(page, null) : t('{who} plays', {who: who(page, turn.seat)})}
      ${button(t('Skip'), () => page.set({shown: null}), {kind: 'link'})}`;
  }
  if (drill && drill.state !== 'enter') return nothing;
  if (waiting === 'over') return html`<b>${t('The game is over')}</b>`;
  if (waiting === 'event') return html`${t('A random event is due')} ${guest != null ? nothing : button(t('Draw'), () => page.turn({event: true}), {kind: 'primary'})}`;
  const mover = html`<b>${who(page, seat)}</b>`;
  if (waiting === 'person') return draft.left ? t('{who} to move, {left} left', {who: mover, left: draft.left}) : t('{who} to move', {who: mover});
  if (thinking?.state === 'failed' && guest == null) {
    return html`${mover} <span class="fault">${thinking.message}</span> ${button(t('Try again'), () => page.turn({retry: true}))}
      ${button(t('Play myself'), () => page.turn({seat, person: true}))}`;
  }
  return html`<span class="pulse">${mover}</span> ${thinking?.state === 'queued'
    ? `${t('waits for a free search slot')} ${thinking.message}` : t('thinks, {seconds} s', {seconds})} ${guest != null ? nothing : button(t('Stop and play'), () => page.turn({stop: true}))}`;
}

/**
 * Above the board: the turn that is entered or shown.
 * @param {Page} page
 */
export function turnBar(page) {
  const {snap: {draft, turns, entries, can_take_back: canTakeBack}, shown, chip, isMine} = page;
  const played = shown && turns[shown.index];
  const steps = shown ? (played?.actions ?? []).slice(0, shown.count).map((action, index) => ({action, text: '', words: played.steps[index]}))
    : draft.steps;
  const canUndo = isMine && draft.actions.length > 0;
  return html`<section class="turnbar" aria-label=${t('Turn')}><div class="status">${status(page)}</div>
    <ol class="chips" aria-label=${t('Actions of this turn')}>${steps.map(({action, text, words}, index) => html`<li>${button(html`
        <span class="badge">${index + 1}</span> ${settings.codes ? action : words || action} <small>${!settings.codes && words?.includes(text) ? nothing : text}</small>`,
      () => page.set({chip: chip === index ? null : index}), {kind: 'chip', pressed: chip === index, off: Boolean(shown), title: action})}</li>`)}</ol>${steps.length ? nothing : lastTurns(page)}
    <form class="typed" @submit=${event => page.type(event)}><input list="legal" aria-label=${t('Type an action or a turn')}
      placeholder=${t('/ type a turn')} autocomplete="off" spellcheck="false"><datalist id="legal">${
        isMine ? entries.map(({action}) => html`<option value=${action}></option>`) : nothing}</datalist></form>
    <div class="row end"><span class="now">${isMine ? draft.left : nothing}</span>${button(t('Back'), () => stepBack(page), {
        kind: 'touch', off: !canStepBack(page), title: 'Esc'})}
      ${button(t('Undo'), () => page.undo(), {off: !canUndo, title: 'Ctrl+Z'})}
      ${button(t('Redo'), () => page.redoOne(), {off: !isMine || !page.redo.length, title: 'Ctrl+Y'})}
      ${button(t('Reset turn'), () => page.undo(99), {off: !canUndo})}
      ${page.snap.drill ? nothing : button(t('Take back'), () => page.turn({takeback: true}), {
        off: !canTakeBack, title: t('Take back the last turn of a person')})}
      ${button(html`${draft.commit} ${isMine && draft.can_end && draft.wasted ? html`<small>${t('{what} unused', {what: draft.wasted})}</small>` : nothing}`,
        () => page.endTurn(), {kind: `finish ${isMine && draft.can_end && !draft.wasted ? 'primary' : ''}`, off: !isMine || !draft.can_end,
          title: isMine && !draft.can_end ? draft.why_not || t('The turn cannot end yet.') : ''})}</div></section>`;
}

function canStepBack({entering, chip, shown, open, isQuiet}) {
  return entering.taken.length > 0 || entering.tool !== entering.alone || chip != null || Boolean(shown || open)
    || !isQuiet && entering.hasMenu;
}

// The chosen tool with the targets taken so far.
/** @param {Page} page */
function chosen(page) {
  const {entering, game, snap} = page;
  const {taken, tool, alone} = entering;
  const taking = entering.isSet ? taken.length ? t('{number} chosen', {number: taken.length}) : t('none chosen')
    : taken.length && t('{what}, and …', {what: taken.map(target => game.grid ? target : named(page, snap.targets[target]) ?? target).join(', ')});
  return `${entering.labelOf(tool)}${taking ? `: ${taking}` : ''}${taken.length || tool !== alone ? ` (${t('Esc: back')})` : ''}`;
}

/**
 * The tools of the game, and what to do next.
 * @param {Page} page
 */
export function tools(page) {
  const {snap, entering, isMine, game} = page;
  const {entries, draft} = snap;
  const legal = new Set(entries.map(entry => entry.tool));
  const prompt = (snap.guide ? '' : page.message) || draft.warning || (page.chip != null ? t('The board after this action. Click it again to return.')
    : !isMine ? '' : entering.tool ? chosen(page)
      : draft.can_end && entries.every(({tool}) => tool === 'end') ? t('The turn is complete.') : t('Choose a tool, or click on the board.'));
  // What cannot be used now is not shown; its letter says why.
  const shown = game.tools.filter(({name}) => name !== 'end' && isMine && legal.has(name));
  return html`<div class="tools" role="group" aria-label=${t('Tools')}>${shown.map(({name, label, key}) => html`
      <button type="button" data-tool=${name} aria-pressed=${entering.tool === name}
        @click=${event => page.tool(name, event.currentTarget)}>${label} <kbd>${key}</kbd></button>`)}
      ${game.proposals && isMine && snap.guest == null && !entering.alone ? button(game.proposals.label, () => page.ask('proposal')) : nothing}</div>
    <p class="prompt">${page.checked?.version === snap.version ? page.study.doubt(page) : prompt} ${confirmation(page)}</p>`;
}
