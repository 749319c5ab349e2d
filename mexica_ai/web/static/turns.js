// @ts-check
// The turns of the game as a list, and its result.
import {button, html, nothing, seatMark} from './api.js';
import {create, readSeats, takeSeats} from './setup.js';

/** @typedef {import('./page.js').Page} Page */

/**
 * The result of a game that is over.
 * @param {Page} page
 */
export function over(page) {
  const {is_over: isOver, winners, points, scores, seats, game, players} = page.snap;
  if (!isOver) return nothing;
  const parts = (points ?? []).map(own => new Map(/** @type {[string, number][]} */ (own.parts)));
  const again = () => {
    takeSeats(seats, 1);
    create(page, {game, players, seats: readSeats(page.info, players)});
  };
  return html`<section class="card over" aria-labelledby="over"><h2 id="over">${winners.map(seat => html`${seatMark(seat)} Seat ${seat} `)}
      ${winners.length > 1 ? 'share the win' : 'wins'}</h2>
    <table><thead><tr><td></td>${scores.map((_, seat) => html`<th scope="col">${seatMark(seat)} ${seat}</th>`)}</tr></thead><tbody>
      ${[...new Set(parts.flatMap(own => [...own.keys()]))].map(name => html`<tr><th scope="row">${name}</th>${
        parts.map(own => html`<td>${own.get(name)}</td>`)}</tr>`)}
      <tr class="sum"><th scope="row">Points</th>${scores.map(score => html`<td>${score}</td>`)}</tr></tbody></table>
    <div class="row">${button('Review', () => page.go(0), {kind: 'primary'})}${button('Play again, seats rotated', again)}</div></section>`;
}

/**
 * The turns so far.
 * @param {Page} page
 */
export function turnList(page) {
  const {turns} = page.snap;
  const isReview = page.mode === 'review';
  const look = index => () => {
    page.looked = isReview || page.shown ? null : index;
    page.paint();
  };
  return html`<section class="card journal" aria-labelledby="turns"><div class="row"><h2 id="turns">Turns</h2><span class="grow"></span>
      ${page.isMine ? button('Resign', () => page.ask('resign'), {kind: 'link'}) : nothing}</div>
    <ol reversed @pointerleave=${look(null)}>${turns.map(({seat, text, scored}, index) => html`<li><button class="link"
      aria-current=${isReview && page.at === index + 1} @pointerenter=${look(index)} @focus=${look(index)} @blur=${look(null)}
      @click=${() => page.go(index + 1)}><span class="soft">${index + 1}</span>${seat == null ? html`<span class="mark">·</span>` : seatMark(seat)}
      <span class="turn">${text}</span><b>${page.noteOf(index)?.mark}</b><small>${scored.some(Boolean)
        ? scored.map(score => score > 0 ? `+${score}` : score).join(' ') : ''}</small></button></li>`).reverse()}</ol></section>`;
}
