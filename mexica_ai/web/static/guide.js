// @ts-check
// The guided first game: what to do and why, above the board, and the places of it, on the board. It is loaded with
// such a game.
import {button, html, nothing, request} from './api.js';
import {placeOf} from './board.js';
import {t} from './words.js';

/** @typedef {import('./page.js').Page} Page */

/** @type {import('./snapshot').GuideInfo} */
let words;
let shown = -1;  // the step whose places were brought in sight

/** Load the words of the guide of a game. */
export async function loadGuide(game) {
  words = await request('GET', `/api/guides/${game}`);
}

/**
 * The card above the board.
 * @param {Page} page
 */
export function guideCard(page) {
  const {guide, is_over: isOver} = page.snap;
  const {step, of} = guide;
  const {do: what, why} = words.steps[step] ?? {};
  const goOn = (caption, kind) => button(caption, () => page.turn({play_on: true}), {kind, off: page.isSending});
  return html`<section class="card guide" aria-labelledby="step"><div class="row"><h2 id="step">${
      step < of ? t('Step {step} of {of}', {step: step + 1, of}) : t('The end of the guide')}</h2><span class="grow"></span>
      ${step < of ? goOn(t('Leave the guide'), 'link') : html`<a class="link" href="/">${t('All games')}</a>${
        isOver ? nothing : goOn(t('Play on'), 'primary')}`}</div>
    <div role="status">${page.message ? html`<p class="fault">${page.message}</p>` : nothing}
      ${step ? nothing : html`<p>${words.intro}</p>`}
      ${step < of ? html`<p><b>${what}</b></p><p class="soft">${why}</p>` : html`<p>${words.end}</p>`}</div></section>`;
}

/**
 * Frame the places that the step is about, in the pictures as they are now.
 * @param {Page} page
 */
export function pointAt(page) {
  document.querySelectorAll('.pointed').forEach(element => element.remove());
  const {guide} = page.snap;
  const look = page.mode === 'play' && guide ? (words.steps[guide.step]?.look ?? []).filter(name => !guide.done.includes(name)) : [];
  for (const svg of document.querySelectorAll(':is(.picture, .panel) > svg')) {
    for (const name of look) {
      const found = svg.querySelector(`.target[data-target="${CSS.escape(name)}"], [data-hint="${CSS.escape(name)}"]`);
      if (found) frame(svg, placeOf(svg, found));
    }
  }
  const marks = [...document.querySelectorAll('.pointed')];
  if (!marks.length || guide.step === shown) return;
  shown = guide.step;
  if (!marks.some(isSeen)) marks[0].scrollIntoView({block: 'center', inline: 'center'});
}

function isSeen(mark) {
  const {top, bottom, left, right} = mark.getBoundingClientRect();
  const around = (mark.closest('.stage') ?? document.documentElement).getBoundingClientRect();
  return top >= Math.max(around.top, 0) && bottom <= Math.min(around.bottom, innerHeight)
    && left >= around.left && right <= around.right;
}

function frame(svg, place) {
  const [x, y, width, height] = place;
  const size = {x: x - 3, y: y - 3, width: width + 6, height: height + 6, rx: 7};
  const group = document.createElementNS(svg.namespaceURI, 'g');
  group.setAttribute('class', 'pointed');
  for (const line of ['edge', 'ring']) {
    const rect = document.createElementNS(svg.namespaceURI, 'rect');
    for (const [key, value] of Object.entries({class: line, ...size})) rect.setAttribute(key, String(value));
    group.append(rect);
  }
  svg.append(group);
}
