// @ts-check
// The turn that is entered: whose it is, its actions so far, and the tools of the next one.
import {button, html, nothing, settings} from './api.js';
import {stepBack} from './keys.js';
import {confirmation} from './menu.js';
import {lastTurns, named, who} from './people.js';

/** @typedef {import('./page.js').Page} Page */

/** @param {Page} page */
function status(page) {
  const {snap: {waiting, thinking, to_move: seat, turns, draft}, shown} = page;
  if (shown) {
    const turn = turns[shown.index];
    return html`${who(page, turn?.seat)}${turn?.seat == null ? nothing : ' plays'}
      ${button('Skip', () => page.set({shown: null}), {kind: 'link'})}`;
  }
  if (waiting === 'over') return html`<b>The game is over</b>`;
  if (waiting === 'event') return html`A random event is due ${button('Draw', () => page.turn({event: true}), {kind: 'primary'})}`;
  const mover = html`<b>${who(page, seat)}</b>`;
  if (waiting === 'person') return html`${mover} to move${draft.left ? `, ${draft.left} left` : ''}`;
  if (thinking?.state === 'failed') {
    return html`${mover} <span class="fault">${thinking.message}</span> ${button('Try again', () => page.turn({retry: true}))}
      ${button('Play myself', () => page.turn({seat, person: true}))}`;
  }
  const seconds = thinking ? Math.max(Date.now() / 1000 - thinking.since, 0).toFixed(0) : 0;
  return html`<span class="pulse">${mover}</span> ${thinking?.state === 'queued'
    ? `waits for a free search slot ${thinking.message}` : `thinks, ${seconds} s`} ${button('Stop and play', () => page.turn({stop: true}))}`;
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
  return html`<section class="turnbar" aria-label="Turn"><div class="status">${status(page)}</div>
    <ol class="chips" aria-label="Actions of this turn">${steps.map(({action, text, words}, index) => html`<li>${button(html`
        <span class="badge">${index + 1}</span> ${settings.codes ? action : words || action} <small>${!settings.codes && words?.includes(text) ? nothing : named(page, text)}</small>`,
      () => page.set({chip: chip === index ? null : index}), {kind: 'chip', pressed: chip === index, off: Boolean(shown), title: action})}</li>`)}</ol>${steps.length ? nothing : lastTurns(page)}
    <form class="typed" @submit=${event => page.type(event)}><input list="legal" aria-label="Type an action or a turn"
      placeholder="/ type a turn" autocomplete="off" spellcheck="false"><datalist id="legal">${
        isMine ? entries.map(({action}) => html`<option value=${action}></option>`) : nothing}</datalist></form>
    <div class="row end"><span class="now">${isMine ? draft.left : nothing}</span>${button('Back', () => stepBack(page), {
        kind: 'touch', off: !canStepBack(page), title: 'Esc'})}
      ${button('Undo', () => page.undo(), {off: !canUndo, title: 'Ctrl+Z'})}
      ${button('Redo', () => page.redoOne(), {off: !isMine || !page.redo.length, title: 'Ctrl+Y'})}
      ${button('Reset turn', () => page.undo(99), {off: !canUndo})}
      ${page.snap.drill ? nothing : button('Take back', () => page.turn({takeback: true}), {
        off: !canTakeBack, title: 'Take back the last turn of a person'})}
      ${button(html`${draft.commit} ${isMine && draft.can_end && draft.wasted ? html`<small>${draft.wasted} unused</small>` : nothing}`,
        () => page.endTurn(), {kind: `finish ${isMine && draft.can_end && !draft.wasted ? 'primary' : ''}`, off: !isMine || !draft.can_end,
          title: isMine && !draft.can_end ? draft.why_not || 'The turn cannot end yet' : ''})}</div></section>`;
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
  const taking = entering.isSet ? `${taken.length || 'none'} chosen`
    : taken.length && `${taken.map(target => game.grid ? target : named(page, snap.targets[target]) ?? target).join(', ')}, and …`;
  return `${entering.labelOf(tool)}${taking ? `: ${taking}` : ''}${taken.length || tool !== alone ? ' (Esc: back)' : ''}`;
}

/**
 * The tools of the game, and what to do next.
 * @param {Page} page
 */
export function tools(page) {
  const {snap, entering, isMine, game} = page;
  const {entries, draft} = snap;
  const legal = new Set(entries.map(entry => entry.tool));
  const prompt = page.message || draft.warning || (page.chip != null ? 'The board after this action. Click it again to return.'
    : !isMine ? '' : entering.tool ? chosen(page)
      : draft.can_end && entries.every(({tool}) => tool === 'end') ? 'The turn is complete.' : 'Choose a tool, or click on the board.');
  // What cannot be used now is not shown; its letter says why.
  const shown = game.tools.filter(({name}) => name !== 'end' && isMine && legal.has(name));
  return html`<div class="tools" role="group" aria-label="Tools">${shown.map(({name, label, key}) => html`
      <button type="button" data-tool=${name} aria-pressed=${entering.tool === name}
        @click=${event => page.tool(name, event.currentTarget)}>${label} <kbd>${key}</kbd></button>`)}
      ${game.proposals && isMine && !entering.alone ? button(game.proposals.label, () => page.ask('proposal')) : nothing}</div>
    <p class="prompt">${prompt} ${confirmation(page)}</p>`;
}
