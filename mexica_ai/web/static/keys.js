// @ts-check
// Keys of a game's page.
import {find, settings} from './api.js';

/** @typedef {import('./page.js').Page} Page */

/**
 * Run what a key means on a page.
 * @param {Page} page
 */
export function onKey(page, event) {
  const {key, shiftKey, target} = event;
  if (event.defaultPrevented || event.altKey || page.dialog || page.snap.handover != null) return;
  const isText = target.matches('input:not([type=range]), textarea, select');
  const isReview = page.mode === 'review';
  const toMark = way => () => page.study?.goMark(page, way);
  // Caps Lock is no Shift.
  const name = event.ctrlKey || event.metaKey ? `Ctrl+${shiftKey ? 'Shift+' : ''}${key.toLowerCase()}` : key;
  const run = {
    'Ctrl+z': page.isMine && (() => page.undo()), 'Ctrl+y': page.isMine && (() => page.redoOne()),
    'Ctrl+Shift+z': page.isMine && (() => page.redoOne()),
    Escape: () => target.matches('textarea') ? target.blur() : stepBack(page),  // the comment stays with its turn
    ...settings.keys && {'?': () => page.ask('help'), T: () => page.ask('text')},
    ...settings.keys && page.game.languages.length && {R: () => page.readRules()},
    ...settings.keys && !isReview && {'/': () => find('.typed input').focus(), ...letters(page)},
    ...isReview && !target.matches('input') && {
      ArrowLeft: () => page.step(-1), ArrowRight: () => page.step(1), Home: () => page.go(0),
      End: () => page.go(page.snap.turns.length), ...settings.keys && {n: toMark(1), N: toMark(1), p: toMark(-1), P: toMark(-1)},
    },
  }[name];
  if (!run || isText && key !== 'Escape') return;
  event.preventDefault();
  run();
}

/** @param {Page} page */
function letters(page) {
  return Object.fromEntries(page.game.tools.map(({key, name}) => [key, () => name === 'end' ? page.endTurn()
    : page.tool(name, find(`.tools [data-tool="${name}"]`), true)]));
}

/**
 * Step back: close, let go, return to the game.
 * @param {Page} page
 */
export function stepBack(page) {
  if (page.peek || page.open) page.set({peek: null, open: null});
  else if (page.mode === 'play') page.back();
  else page.set({line: []});
}
