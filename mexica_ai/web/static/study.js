// @ts-check
// Learning from a game: lines and comments beside it, the address of a turn, the bar of the win's shares, the places of
// candidates on the board, the way to the turns that could have been better. Loaded when it is needed.
import {button, find, html, nothing, percent, query, same, settings, svg} from './api.js';
import {practise} from './drill.js';
import {box} from './board.js';
import {nameOf, told, toldLine} from './people.js';
import {create} from './setup.js';
import {t} from './words.js';

export {drillCard} from './drill.js';
export {annotationPanel, goMark, reviewBar, showGraph} from './review.js';

/** @typedef {import('./page.js').Page} Page */
/** @typedef {import('./snapshot').LineTurnJson} Turn */

const MOST_RANKS = 5;  // candidates on the board
const LABEL = 11;  // px of their ranks
const FOLLOW_MS = 250;  // from a step to its analysis
const WRITE_MS = 120;  // from a step to its address

// --- lines beside the game

const lineOf = (page, path) => page.snap.lines.find(line => line.path === path);

/**
 * The turns of a line from where it leaves the game, and after how many turns that is.
 * @param {Page} page
 * @returns {{at: number, turns: Turn[]}}
 */
function along(page, path) {
  const {at, turns} = lineOf(page, path);
  const above = path.includes('.') ? along(page, path.replace(/\.\d+$/, '')) : {at, turns: []};
  return {at: above.at, turns: [...above.turns.slice(0, at - above.at), ...turns]};
}

/**
 * The kept line that the side line follows, the first of several.
 * @param {Page} page
 */
export function kept(page) {
  const {snap: {lines}, line, lineAt} = page;
  return line.length ? lines.find(({path}) => {
    const {at, turns} = along(page, path);
    return at === lineAt && line.length <= turns.length
      && line.every((turn, index) => same(turn, turns[index].actions));
  }) : undefined;
}

/** Go to a place of a line: after so many turns of the game, along the line. */
function goLine(page, path, number) {
  const found = lineOf(page, path) && along(page, path);
  if (!found || number <= found.at) page.go(number);
  else {
    page.go(found.at);
    page.set({lineAt: found.at, line: found.turns.slice(0, number - found.at).map(turn => turn.actions)});
  }
}

/**
 * A turn on or back, along the line that is shown.
 * @param {Page} page
 */
export function step(page, way) {
  const {line, lineAt, at} = page;
  if (!line.length) page.go(at + way);
  else if (way < 0) page.set({line: line.slice(0, -1), at: lineAt, isChoice: false});
  else {
    const path = kept(page)?.path;
    if (path) goLine(page, path, Math.min(lineAt + line.length + 1, lineAt + along(page, path).turns.length));
  }
}

/** The place that is shown: its line, "" for the game, and after how many turns. */
function spotOf(page) {
  const path = kept(page)?.path ?? '';
  return {line: path, at: path ? page.lineAt + page.line.length : page.line.length ? page.lineAt : page.at};
}

/** @param {Page} page */
async function note(page, body) {
  let path;
  await page.inOrder(async () => {
    const {version} = page.snap;
    const answer = await page.call('POST', '/lines', {version, viewer: page.viewer, ...body});
    if (!answer) return;
    path = answer.line;
    page.message = '';
    page.apply(answer, true);
  });
  return path;
}

// The snapshot has a comment at once: else a place without one, gone to before the answer comes, would show it.
/** @param {Page} page */
function comment(page, text) {
  const spot = spotOf(page), found = lineOf(page, spot.line), turn = found?.turns[spot.at - found.at - 1];
  if (turn) turn.comment = text;
  else if (!found) page.snap.comments[String(spot.at)] = text;
  page.render();
  note(page, {do: 'comment', ...spot, text});
}

/** Keep the side line that is shown. */
async function keepLine(page) {
  const {line, lineAt} = page;
  const path = await note(page, {do: 'add', line: '', at: lineAt, turns: line});
  if (path === undefined) return;
  if (path) goLine(page, path, along(page, path).at + along(page, path).turns.length);
  else page.go(lineAt + line.length);
}

/** @param {Page} page */
async function removeLine(page) {
  const {line, at} = spotOf(page);
  if (await note(page, {do: 'remove', line, at: at - 1}) !== undefined) step(page, -1);
}

// A turn that is typed in a review is the next one of a side line.
/** @param {Page} page */
async function typeTurn(page, event) {
  event.preventDefault();
  const field = event.target.firstElementChild;
  const turn = field.value.split(';').map(action => action.trim()).filter(Boolean);
  if (!turn.length) return;
  const {line, at} = page.spot, whole = [...line, turn];
  if (!await page.call('GET', `/at/${at}${query({line: JSON.stringify(whole), viewer: page.viewer})}`)) return;
  field.value = '';
  page.set({at, lineAt: at, line: whole, isBefore: false, isChoice: false, message: ''});
}

/**
 * In a review: the comment on the place, the lines beside the game, and what can be done with the one that is shown.
 * @param {Page} page
 */
export function lineTools(page) {
  const {snap: {lines, comments, open, drill, guest}, line} = page;
  if (!open || drill || guest != null) return nothing;
  const spot = spotOf(page), found = lineOf(page, spot.line);
  const written = found ? found.turns[spot.at - found.at - 1]?.comment ?? '' : comments[String(spot.at)] ?? '';
  const isKept = !line.length || found;
  return html`<div class="notes"><form class="row" @submit=${event => typeTurn(page, event)}><input class="grow"
      aria-label=${t('Type a turn of a side line')} placeholder=${t('Try a turn here, as text')} autocomplete="off" spellcheck="false">
      ${isKept ? nothing : button(t('Keep this line'), () => keepLine(page), {kind: 'primary'})}
      ${found ? button(t('Remove the line from here'), () => removeLine(page)) : nothing}</form>
    ${isKept ? html`<textarea class="comment" rows="1" aria-label=${t('Comment on this turn')} placeholder=${t('Comment')}
      maxlength="10000" .value=${written}
      @change=${event => comment(page, event.target.value.trim())}></textarea>` : nothing}</div>
    ${lines.length ? html`<ul class="plain" aria-label=${t('Lines')}>${lines.map(one => html`<li>${button(html`<small>${
        t('{line} after turn {number}:', {line: one.path, number: one.at})}</small> ${one.turns.map(({text, words}) => told(text, words)).join(' · ')}`,
      () => goLine(page, one.path, one.at + 1), {kind: 'link', pressed: spot.line === one.path})}</li>`)}</ul>` : nothing}`;
}

/** A turn of the side line in words. */
export function toldAt(page, index) {
  const path = kept(page)?.path;
  const turn = path && along(page, path).turns[index];
  return turn ? told(turn.text, turn.words) : toldLine(page.line[index]);
}

// --- the address of a turn

let isLeaving = false;  // until the browser has gone back
let writing;  // browsers do not take many changes a second

/** Open the place of the address. */
function openPlace(page) {
  const [, number, path = ''] = location.hash.match(/^#review(?:\/(\d{1,6})(?:\/([\d.]{1,99}))?)?$/) ?? [];
  if (page.snap.drill || !location.hash.startsWith('#review')) page.set({mode: 'play', line: [], peek: null});
  else if (number) goLine(page, path, Number(number));
  else page.set({mode: 'review'});
}

/**
 * Have the address follow the page. From play to a review is a step of the browser's history, steps within it are none.
 * @param {Page} page
 */
export function follow(page) {
  clearTimeout(writing);
  if (page.snap.drill || isLeaving) return;
  const {line, at} = spotOf(page);
  const wanted = page.mode === 'review' ? `#review/${at}${line && `/${line}`}` : '';
  if (location.hash === wanted) return;
  const isReview = location.hash.startsWith('#review');
  if (wanted && !isReview) history.pushState({from: 'play'}, '', wanted);
  else if (wanted) writing = setTimeout(() => history.replaceState(history.state, '', wanted), WRITE_MS);
  else if (history.state?.from === 'play') {
    isLeaving = true;
    history.back();
  } else if (isReview) history.replaceState(null, '', location.pathname + location.search);
}

/**
 * Have the page follow the address, which may have led elsewhere already.
 * @param {Page} page
 */
export function watch(page, isMoved) {
  // A comment is sent when its field is left, also by going elsewhere.
  const leave = () => find('.comment:focus')?.blur();
  addEventListener('pagehide', leave);
  addEventListener('popstate', () => {
    leave();
    if (!isLeaving) openPlace(page);
    isLeaving = false;
    follow(page);
  });
  if (isMoved || /^#review\/\d+\/./.test(location.hash)) openPlace(page);  // else it is open already
}

// --- shares and candidates at the board

/** The expected shares of the win in the position that is shown, and by what they are known. */
function sharesOf(page) {
  const {analysis, mode, line, at, isBefore} = page;
  if (settings.hints[mode] === 'none') return null;
  const best = analysis && page.isAnalysed ? analysis.candidates?.[0]?.value : null;
  if (best?.length) return best;
  if (mode !== 'review' || line.length || isBefore) return null;
  return page.noteOf(at - 1)?.shares ?? null;
}

/**
 * Beside the board: each seat's share of the win, the first seat at the bottom.
 * @param {Page} page
 */
export function bar(page) {
  const shares = sharesOf(page);
  // In a review its place is kept, so that the board never jumps.
  if (!shares) return page.mode === 'review' && settings.hints.review !== 'none' ? html`<div class="bar"></div>` : nothing;
  const words = shares.map((share, seat) => `${nameOf(page, seat)}: ${percent(share)}`).join(', ');
  return html`<svg class="bar" viewBox="0 0 8 100" preserveAspectRatio="none" role="img"
    aria-label=${t('Shares of the win: {shares}', {shares: words})}><title>${words}</title>${shares.map((share, seat) => svg`<rect width="8" height=${100 * share} class="fill-seat${seat}"
      y=${100 - 100 * shares.slice(0, seat + 1).reduce((sum, one) => sum + one, 0)}/>`)}</svg>`;
}

/**
 * Outline where the best candidates begin, with their ranks and shares.
 * @param {Page} page
 */
export function showRanks(page) {
  const {board, analysis, peek, looked, chip, shown, isChoice, mode} = page;
  board.picture.querySelectorAll('.rank').forEach(element => element.remove());
  const isElsewhere = peek || looked != null || chip != null || shown || isChoice;
  if (settings.hints[mode] !== 'all' || !analysis?.candidates || !page.isAnalysed || isElsewhere) return;
  const places = new Map();  // of each place the ranks that begin there
  analysis.candidates.slice(0, MOST_RANKS).forEach(({target, value}, index) => {
    if (target) places.set(target, [...places.get(target) ?? [], {rank: index + 1, share: value?.[page.mover]}]);
  });
  for (const [target, ranks] of places) {
    const rect = board.rectOf(target);
    if (rect) mark(rect, ranks);
  }
}

function mark(rect, ranks) {
  const [x, y, wide, tall] = box(rect);
  const add = (name, attributes, words = '') => {
    const made = document.createElementNS(rect.namespaceURI, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
    made.textContent = words;
    rect.parentNode.append(made);
  };
  const [{rank, share}] = ranks, isFirst = rank === 1 ? 'first' : '';
  const size = {width: Math.max(wide - 4, 1), height: Math.max(tall - 4, 1), rx: 6};
  for (const line of ['edge', 'ring']) add('rect', {class: `rank ${line} ${isFirst}`, x: x + 2, y: y + 2, ...size});
  const words = `${ranks.map(one => one.rank).join(',')}${share == null ? '' : `·${percent(share)}`}`.replace(/\s/g, '');
  // Read at every size of the picture, on a ground of its own, which stands on the upper edge of the place.
  const high = Math.max(LABEL / rect.ownerSVGElement.getScreenCTM().a, LABEL), long = .62 * high * words.length;
  const left = Math.max(x + wide / 2 - long / 2, 0), top = Math.max(y - .6 * high, 0);
  add('rect', {class: `rank tag ${isFirst}`, x: left, y: top, width: long, height: 1.25 * high, rx: .35 * high});
  add('text', {class: 'rank', x: left + long / 2, y: top + high, 'font-size': high}, words);
}

let timer, /** @type {any} */ awaited = null;  // the place that is analysed when the timer ends

/** Analyse the place to which a review has gone, if an analysis was begun and nobody has stopped it. */
export function analyseOn(page) {
  const {analysis, mode, spot} = page;
  const isWanted = settings.follows && mode === 'review' && settings.hints.review !== 'none' && !document.hidden;
  const next = !isWanted || !analysis || page.isStopped || page.isAnalysed || !page.canAnalyse || page.isGuessed ? null : spot;
  if (same(next, awaited)) return;  // what is painted anew, as by an annotation, is no step
  clearTimeout(timer);
  awaited = next;
  if (!next) return;
  timer = setTimeout(() => {
    awaited = null;
    if (!page.isStopped && !page.isAnalysed) page.startAnalysis(true);
  }, FOLLOW_MS);
}

// --- after a game

/**
 * When a game is over: how far its turns are judged, and the way to those that could have been better.
 * @param {Page} page
 */
export function after(page) {
  const {state, done, of} = page.snap.annotation;
  return html`${state === 'running' ? html`<div class="row"><progress max=${of} .value=${done} aria-label=${t('Annotation')}></progress>
    <span class="soft">${t('The turns are being judged: {done} of {of}', {done, of})}</span></div>` : nothing}${practise(page, create)}`;
}

/**
 * At a turn that gave something away: the way to a better one.
 * @param {Page} page
 */
export function seek(page, found) {
  if (!found || found.loss < 0.05 || page.snap.annotation.state === 'running' || page.snap.guest != null) return nothing;
  const mistakes = {seat: found.seat, turn: found.turn_index + 1};
  return button(t('Find a better turn'), () => create(page, {from: page.snap.id, mistakes}));
}

// --- before a turn stays

/**
 * Whether somebody should think again about the turn that is about to be played.
 * @param {Page} page
 */
export async function isDoubtful(page, body) {
  let version = 0, /** @type {any} */ found = null;
  await page.inOrder(async () => {
    ({version} = page.snap);
    page.set({isSending: true, checked: {version, text: ''}});
    found = await page.call('POST', '/check', {version, viewer: page.viewer, ...body});
  });
  const text = found?.warning?.text ?? '';
  page.set({isSending: false, checked: text && page.snap.version === version ? {version, text, body} : null});
  if (text) find('.doubt button')?.focus();
  return Boolean(text) || !found || page.snap.version !== version;
}

/**
 * What is asked about the turn.
 * @param {Page} page
 */
export function doubt(page) {
  const {checked} = page;
  if (!checked.text) return html`<span class="pulse">${t('The turn is looked at …')}</span>`;
  return html`<span class="doubt" role="alert"><b>${checked.text}</b>
    ${button(t('Take back'), () => page.set({checked: null}), {kind: 'primary'})}
    ${button(t('Play'), () => page.playChecked())}</span>`;
}
