// What the engine thinks of a position: candidates that are shown on the board while one points at them.
import {html, keep, nothing, percent, seatMark, settings, sharesBar, short} from './api.js';

let order = null;  // of the rows, while the pointer or the focus is inside

/** The panel. `page` has analysis, open, mover, and what its buttons do. */
export function candidatesPanel(page) {
  const hints = settings.hints[page.mode];
  const setHints = event => {
    keep({hints: {...settings.hints, [page.mode]: event.target.value}});
    if (event.target.value === 'none') page.stopAnalysis();
    page.render();
  };
  return html`<section class="card analysis" aria-labelledby="analysis">
    <div class="row"><h2 id="analysis">Engine</h2><span class="grow"></span>
      <label>Hints <select @change=${setHints}>${['all', 'value', 'none'].map(value => html`
        <option value=${value} ?selected=${value === hints}>${value}</option>`)}</select></label></div>
    ${hints === 'none' ? html`<p class="note">Hints are off.</p>` : [controls(page), result(page, hints)]}
  </section>`;
}

function controls(page) {
  const running = page.analysis?.isRunning;
  const lengths = [[1, '1 s'], [5, '5 s'], [30, '30 s'], [0, 'until stopped']];
  return html`<div class="row">
    <button class=${running ? '' : 'primary'} @click=${() => running ? page.stopAnalysis() : page.startAnalysis()}
      ?disabled=${!page.canAnalyse}>${running ? 'Stop' : 'Analyse'}</button>
    <label><span class="unseen">Time</span><select @change=${event => keep({seconds: Number(event.target.value)})}>
      ${lengths.map(([value, words]) => html`
        <option value=${value} ?selected=${value === settings.seconds}>${words}</option>`)}</select></label>
    <label>Candidates <input type="number" min="1" max=${page.info.caps.candidates} .value=${String(settings.candidates)}
      @change=${event => keep({candidates: clamp(event.target.valueAsNumber, page.info.caps.candidates)})}></label>
  </div>`;
}

const clamp = (value, most) => Math.min(Math.max(Math.round(value) || 1, 1), most);

function result(page, hints) {
  const found = page.analysis;
  if (!found) return html`<p class="note">Shows the best turns of this position.</p>`;
  const candidates = sorted(found.candidates ?? []);
  const isOld = page.isLost || !page.isAnalysisHere;
  const heading = found.iterations
    ? `${short(found.iterations)} iterations, ${short(Math.round(found.speed ?? 0))}/s` : found.why || 'searching …';
  return html`<div class=${isOld ? 'old' : ''}>
    <p class="note">${isOld && !page.isLost ? html`Of another position. ` : nothing}${heading}${
      found.stop_text ? html`; ${found.stop_text}` : nothing}</p>
    ${candidates.length && candidates[0].value ? sharesBar(candidates[0].value) : nothing}
    ${hints === 'value' ? nothing : html`<ol class="candidates" @pointerenter=${() => freeze(candidates)}
      @pointerleave=${event => leave(event, page)} @focusin=${() => freeze(candidates)}
      @focusout=${event => leave(event, page)} @keydown=${event => keys(event, page)}>
      ${candidates.map(candidate => row(page, candidate))}</ol>`}
  </div>`;
}

function sorted(candidates) {
  if (!order) return candidates;
  const place = candidate => (order.indexOf(candidate.text) + 1) || order.length + 1;
  return [...candidates].sort((one, other) => place(one) - place(other));
}

function freeze(candidates) {
  order ??= candidates.map(candidate => candidate.text);
}

function leave(event, page) {
  const list = event.currentTarget;
  if (event.type === 'focusout' ? list.contains(event.relatedTarget) || list.matches(':hover')
    : list.contains(document.activeElement)) return;
  order = null;
  page.peekAt(null);
}

function row(page, candidate) {
  const share = candidate.value?.[page.mover];
  const scores = candidate.expected_scores?.map(score => Math.round(score)).join(' : ');
  const isOpen = page.open === candidate.text;
  const show = () => page.peekAt({actions: candidate.turn});
  return html`<li><button class="candidate" aria-expanded=${isOpen} data-text=${candidate.text}
      @pointerenter=${show} @focus=${show}
      @click=${() => { page.open = isOpen ? null : candidate.text; page.render(); }}>
    <span class="visits" title="visits">${short(candidate.visits)}</span>
    <span class="share" title="expected share of the win">${share === undefined ? '' : percent(share)}</span>
    <meter min="0" max="1" .value=${share ?? 0} class="of${page.mover}" aria-hidden="true"></meter>
    <span class="points" title="expected scores by seat">${scores ?? ''}</span>
    <span class="turn">${candidate.text}</span></button>
    ${isOpen ? html`<div class="line">
      ${page.canDraft ? html`<button @click=${() => page.takeTurn(candidate.turn)}>Take over</button>` : nothing}
      <span class="note">Expected:</span>
      <ol>${(candidate.line ?? []).map((turn, index) => html`<li><button class="link"
        @pointerenter=${() => page.peekAt({line: candidate.line.slice(0, index), actions: turn})}
        @focus=${() => page.peekAt({line: candidate.line.slice(0, index), actions: turn})}
        @click=${() => page.enterLine(candidate.line.slice(0, index + 1))}>${turn.join('; ')}</button></li>`)}</ol>
    </div>` : nothing}</li>`;
}

// Arrows move, Enter plays the turn in a side line.
function keys(event, page) {
  const buttons = [...event.currentTarget.querySelectorAll('button')];
  const at = buttons.indexOf(event.target);
  const to = {ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1}[event.key];
  if (to !== undefined) buttons[to]?.focus();
  else if (event.key === 'Enter' && event.target.dataset.text) {
    const candidate = page.analysis.candidates.find(one => one.text === event.target.dataset.text);
    if (candidate) page.enterLine([candidate.turn]);
  } else return;
  event.preventDefault();
  event.stopPropagation();
}

/** What a seat's part of the win was and is, for a turn of an annotation. */
export const lossWords = note => html`${seatMark(note.seat)} <b>${note.mark}</b> gave away ${percent(note.loss, 1)}`;
