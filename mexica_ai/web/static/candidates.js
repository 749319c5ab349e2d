// @ts-check
// The analysis of a position: its candidates, shown on the board while the pointer is over them.
import {button, choice, html, keep, nothing, percent, same, seatMark, settings, svg} from './api.js';
import {keepWords, named, nameOf, told} from './people.js';
import {stored, t} from './words.js';

/** @typedef {import('./page.js').Page} Page */

const TIMES = [[1, '1 s'], [5, '5 s'], [30, '30 s'], [0, t('until stopped')]];
let frozen = null;  // the rows and the key of their analysis, while the pointer or the focus is inside

/** @param {Page} page */
export function candidatesPanel(page) {
  const hints = settings.hints[page.mode];
  const setHints = value => {
    keep({hints: {...settings.hints, ...stored().hints, [page.mode]: value}});  // another page may have changed the other one
    if (value === 'none') page.stopAnalysis();
    page.render();
  };
  const isUp = page.isSheet && hints !== 'none';
  return html`<section class="card engine ${isUp ? 'up' : ''}" aria-labelledby="engine"><div class="row"><h2 id="engine">${t('Engine')}</h2>
    <span class="grow"></span>${isUp ? button(t('Close'), () => page.set({isSheet: false, peek: null}), {kind: 'close'}) : nothing}${t('Hints')} ${choice(t('Hints'), [['all', t('all')], ['value', t('value')], ['none', t('none')]], hints, setHints)}</div>
    ${hints === 'none' ? nothing : [controls(page), result(page, hints)]}</section>`;
}

/** @param {Page} page */
function controls(page) {
  const most = page.info.caps.candidates;
  return html`<div class="row">${page.analysis?.is_running ? button(t('Stop'), () => page.stopAnalysis())
    : button(page.isGuessed ? t('Analyse with a guess') : t('Analyse'), () => page.startAnalysis(), {kind: 'primary', off: !page.canAnalyse})}
    ${choice(t('Time'), TIMES, settings.seconds, value => keep({seconds: Number(value)}))}
    ${page.mode === 'review' ? button(t('Follow'), () => {
      keep({follows: !settings.follows});
      page.render();
    }, {pressed: settings.follows, title: t('Analyse each turn that the review goes to')}) : nothing}<label title=${t('turns')}><input type="number" aria-label=${t('Number of turns')} min="1" max=${most} .value=${String(settings.candidates)} @change=${({target}) => {
      keep({candidates: Math.min(Math.max(Math.round(target.valueAsNumber) || 1, 1), most)});
      target.value = String(settings.candidates);
    }}></label></div>`;
}

/** @param {Page} page */
function result(page, hints) {
  const found = page.analysis;
  if (!found) return html`<p class="note">${t('Shows the best turns of this position.')}</p>`;
  const newest = found.candidates ?? [];
  if (frozen?.key !== found.key) frozen = null;
  const rows = frozen?.rows.map(old => newest.find(one => same(one.turn, old.turn)) ?? old) ?? newest;
  const hold = () => freeze(rows, found.key), list = event => leave(event, page);
  const words = [found.iterations
    ? t('{number} iterations, {speed}/s', {number: short(found.iterations), speed: short(found.speed ?? 0)})
    : found.is_running ? t('searching …') : '', found.stop_text].filter(Boolean).join('; ');
  return html`<div class=${page.isLost || !page.isAnalysed ? 'old' : ''}>
    <p class="note">${page.isAnalysed ? nothing : `${t('For another position.')} `}${words}</p>
    ${found.why?.length ? html`<details class="note"><summary>${t('Why')}</summary><ul>${found.why.map(one => html`<li>${named(page, one)}</li>`)}</ul></details>` : nothing}
    ${rows[0]?.value?.length ? sharesBar(page, rows[0].value) : nothing}
    ${hints === 'value' ? nothing : html`<ol class="candidates" @pointerenter=${hold} @pointerleave=${list}
      @focusin=${hold} @focusout=${list} @keydown=${event => key(event, page)}>${
      rows.map(one => row(page, one))}</ol>`}</div>`;
}

function freeze(rows, key) {
  frozen ??= {rows, key};
}

function leave(event, page) {
  const list = event.currentTarget;
  if (event.type === 'focusout' ? list.contains(event.relatedTarget) || list.matches(':hover')
    : list.contains(document.activeElement)) return;
  frozen = null;
  page.peekAt(null);
}

// Show a candidate. It is pointed at when the pointer moves over it, not when it comes to lie under a resting pointer.
function point(page, candidate) {
  if (!same(page.peek, candidate)) page.peekAt(candidate);
}

/** A number in at most five signs: 812, 42.6 k, 1.2 M. */
function short(number) {
  if (number < 1000) return number.toFixed(0);
  return number < 1e6 ? `${(number / 1e3).toFixed(1)} k` : `${(number / 1e6).toFixed(1)} M`;
}

/** Each seat's part of the win in its colour. */
const sharesBar = (page, shares) => html`<svg class="shares" viewBox="0 0 100 8" preserveAspectRatio="none" role="img"
  aria-label=${shares.map((share, seat) => `${nameOf(page, seat)}: ${percent(share)}`).join(', ')}>${shares.map((share, seat) =>
    svg`<rect x=${100 * shares.slice(0, seat).reduce((sum, one) => sum + one, 0)} width=${100 * share} height="8"
      class="fill-seat${seat}"/>`)}</svg>`;

const textOf = turn => turn.join('; ');

/** @param {Page} page */
function row(page, candidate) {
  const {words, turn, line = [], line_words: known = [], visits, value, expected_scores: scores} = candidate;
  keepWords(candidate);
  const text = textOf(turn);
  const share = value?.[page.mover];
  const isOpen = page.open === text;
  const show = () => point(page, {actions: turn});
  const toggle = () => {
    page.open = isOpen ? null : text;
    page.render();
  };
  return html`<li><button class="candidate" aria-expanded=${isOpen} data-text=${text} @pointermove=${show} @focus=${show}
      @click=${toggle}><span class="soft" title=${t('visits')}>${short(visits)}</span>
    <b title=${t('share of the win')}>${share == null ? '' : percent(share)}</b>
    <meter min="0" max="1" .value=${share ?? 0} class="of${page.mover}" aria-hidden="true"></meter>
    <span class="turn" title=${told(text, words)}>${told(text, words)}</span></button>
    ${isOpen ? html`<div class="line">${scores ? html`<p class="note">${t('Expected points {points}', {
      points: scores.map(score => Math.round(score)).join(' : ')})}</p>` : nothing}${page.canDraft ? button(t('Take over'), () => page.takeTurn(turn)) : nothing}
      ${line.length ? nothing : html`<p class="note">${t('No expected reply yet.')}</p>`}
      <ol aria-label=${t('Expected line')}>${line.map((one, index) => {
        const before = [turn, ...line.slice(0, index)];  // the candidate itself comes first
        const show = () => point(page, {line: before, actions: one});
        return html`<li><button class="link" title=${textOf(one)} @pointermove=${show} @focus=${show}
          @click=${() => page.enterLine([...before, one])}>${known[index]?.seat == null ? nothing : seatMark(known[index].seat)}
          ${told(textOf(one), known[index]?.words)}</button></li>`;
      })}</ol></div>` : nothing}</li>`;
}

// Arrows move; Enter plays the turn in a side line.
function key(event, page) {
  const buttons = [...event.currentTarget.querySelectorAll('button')];
  const {text} = event.target.dataset;
  const way = {ArrowDown: 1, ArrowUp: -1}[event.key];
  if (way) buttons[buttons.indexOf(event.target) + way]?.focus();
  else if (event.key === 'Enter' && text) {
    const rows = frozen?.rows ?? page.analysis.candidates;
    page.enterLine([rows.find(one => textOf(one.turn) === text).turn]);
  } else return;
  event.preventDefault();
  event.stopPropagation();
}
