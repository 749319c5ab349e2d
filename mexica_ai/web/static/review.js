// A game that was played: from turn to turn, the win's shares over its course, what the engine would have done.
import {html, nothing, percent, picture, query, seatMark} from './api.js';

/** Below the board: the way through the game. */
export function reviewBar(page) {
  const {at, snap: {turns}} = page;
  const played = at ? turns[at - 1] : null;
  const note = page.noteOf(at - 1);
  return html`<section class="card review" aria-label="Review">
    <div class="row">
      <button @click=${() => page.go(0)} aria-label="To the start" ?disabled=${!at}>⏮</button>
      <button @click=${() => page.go(at - 1)} aria-label="A turn back" ?disabled=${!at}>◀</button>
      <input type="range" min="0" max=${turns.length} .value=${String(at)} aria-label="Turn"
        aria-valuetext=${played ? `turn ${at}: ${played.text}` : 'start'}
        @input=${event => page.go(event.target.valueAsNumber)}>
      <button @click=${() => page.go(at + 1)} aria-label="A turn on" ?disabled=${at === turns.length}>▶</button>
      <button @click=${() => page.go(turns.length)} aria-label="To the end" ?disabled=${at === turns.length}>⏭</button>
      <span class="count">${at} / ${turns.length}</span>
    </div>
    <div class="row">
      <button aria-pressed=${page.when === 'before'} ?disabled=${!at}
        @click=${() => page.toggleBefore()}>Before the turn</button>
      <button @click=${() => page.goMark(-1)} ?disabled=${!page.hasMark(-1)}>Previous ?</button>
      <button @click=${() => page.goMark(1)} ?disabled=${!page.hasMark(1)}>Next ?</button>
      <span class="grow"></span>
      ${page.snap.is_over && at === turns.length ? nothing : html`
        <button @click=${() => page.ask('on')}>Play on from here</button>`}
    </div>
    <div class="played">${page.line.length ? sideLine(page) : playedTurn(page, played, note)}</div>
  </section>`;
}

function playedTurn(page, played, note) {
  if (!played) return html`<p>The start of the game.</p>`;
  const isEngine = page.shown === 'engine';
  const loss = note && note.loss >= 0.0005 ? html` gives away ${percent(note.loss, 1)}` : nothing;
  const engine = note?.choice_text && note.choice_text !== played.text;
  return html`<p><button class="chip" aria-pressed=${!isEngine} @click=${() => page.showChoice('played')}>
      ${played.seat === null ? 'event' : seatMark(played.seat)} ${played.text}</button>
      ${note?.mark ? html`<b class="mark">${note.mark}</b>` : nothing}${loss}</p>
    ${engine ? html`<p><button class="chip" aria-pressed=${isEngine} @click=${() => page.showChoice('engine')}>
      engine: ${note.choice_text}</button>
      ${note.choice_value === undefined || note.choice_value === null ? nothing
        : percent(Array.isArray(note.choice_value) ? note.choice_value[note.seat] : note.choice_value)}</p>`
      : note ? html`<p class="note">The engine plays the same.</p>` : nothing}`;
}

function sideLine(page) {
  return html`<p>Side line from turn ${page.lineAt + 1}:
    ${page.line.map((turn, index) => html`<button class="chip" aria-pressed=${index === page.line.length - 1}
      @click=${() => page.enterLine(page.line.slice(0, index + 1))}>${turn.join('; ')}</button> `)}
    <button @click=${() => page.leaveLine()}>Back to the game</button></p>`;
}

/** Beside the board: the graph and the annotation. */
export function annotationPanel(page) {
  const found = page.snap.annotation ?? {state: 'none'};
  const running = found.state === 'running';
  const worst = [...found.turns ?? []].filter(note => note.mark).sort((one, other) => other.loss - one.loss).slice(0, 5);
  const start = event => {
    event.preventDefault();
    page.annotate(Number(new FormData(event.target).get('seconds')));
  };
  return html`<section class="card" aria-labelledby="course">
    <h2 id="course">Course of the game</h2>
    ${running ? html`<div class="row"><progress max=${found.of} .value=${found.done} aria-label="Annotation"></progress>
        <span class="count">${found.done} / ${found.of}</span>
        <button @click=${() => page.annotate(null)}>Stop</button></div>`
      : found.state === 'done' ? nothing : html`<form class="row" @submit=${start}>
        <button class="primary">${found.done ? 'Go on annotating' : 'Annotate'}</button>
        <label><select name="seconds">${[0.1, 0.5, 2].map(value => html`
          <option value=${value} ?selected=${value === (found.seconds ?? 0.1)}>${value} s</option>`)}</select> a turn</label>
      </form>`}
    ${found.state === 'failed' ? html`<p class="fault">${found.message ?? 'The engine failed.'}</p>` : nothing}
    ${worst.length ? html`<table><caption>Worst turns</caption><tbody>${worst.map(note => html`<tr>
      <td><button class="link" @click=${() => page.go(note.turn_index + 1)}>${note.turn_index + 1}</button></td>
      <td>${seatMark(note.seat)} ${note.seat}</td><td><b>${note.mark}</b></td>
      <td class="number">${percent(note.loss, 1)}</td></tr>`)}</tbody></table>` : nothing}
  </section>`;
}

/** The graph of a game, clickable; `host` keeps its element. */
export async function showGraph(host, page) {
  const done = page.snap.annotation?.turns?.length ?? 0;
  const path = `/api/games/${page.snap.id}/shares.svg${query({done})}`;
  if (done && host.dataset.path !== path) {
    host.dataset.path = path;
    const root = await picture(path);
    if (host.dataset.path !== path) return;
    host.replaceChildren(root);
    root.addEventListener('click', event => {
      const turn = event.target.closest('[data-target^="turn:"]');
      if (turn) page.go(Number(turn.dataset.target.slice(5)));
    });
  }
  for (const turn of host.querySelectorAll('.turn')) {
    turn.classList.toggle('now', turn.dataset.target === `turn:${page.at}`);
  }
}

/** Files to take along. */
export function downloads(page) {
  const base = `/api/games/${page.snap.id}`;
  const at = page.mode === 'review' ? page.at : page.snap.turns.length;
  const name = `${page.snap.game}-${at}`;
  const viewer = page.viewer ?? undefined;
  return html`<p class="note downloads">Save
    <a href="${base}/record" download="${page.snap.game}.jsonl">record</a>,
    <a href="${base}/position${query({at, viewer})}" download="${name}.json">position</a>,
    <a href="${base}/at/${at}/all.svg${query({theme: 'light', viewer})}" download="${name}.svg">picture</a></p>`;
}
