// Where games begin: a new one, a record or position from a file, an example; and those that are on disk.
import {html, nothing, request, seatMark} from './api.js';

const form = {game: null, players: 2, seats: [], options: {}, tab: 'new', text: '', faults: []};

/** What sits on a seat, as words of a form: person, level:5, engine:NAME. */
const asSeat = (kind, seconds) => {
  if (kind === 'person') return {kind: 'person'};
  const [word, ...rest] = kind.split(':');
  return {kind: 'engine', ...(word === 'level' ? {level: Number(rest[0])} : {name: rest.join(':')}), seconds};
};

const preset = (info, seat) => form.seats[seat] ?? {kind: seat ? `level:${info.levels_default}` : 'person', seconds: 1};

/** Rows of a form, one for each seat; `read` of the same rows gives the seats of a request. */
export function seatRows(page, players) {
  const {info} = page;
  const change = (seat, changes) => {
    form.seats[seat] = {...preset(info, seat), ...changes};
    page.render();
  };
  return html`<fieldset class="seats"><legend>Seats</legend>${Array.from({length: players}, (_, seat) => {
    const {kind, seconds} = preset(info, seat);
    return html`<div class="row seat">${seatMark(seat)} <span>Seat ${seat}</span>
      <select aria-label="Seat ${seat}" @change=${event => change(seat, {kind: event.target.value})}>
        <option value="person" ?selected=${kind === 'person'}>Person</option>
        <optgroup label="Engine">${info.levels.map(({level, title}) => html`
          <option value="level:${level}" ?selected=${kind === `level:${level}`}>Level ${title ?? level}</option>`)}</optgroup>
        ${info.engines.length ? html`<optgroup label="Named">${info.engines.map(name => html`
          <option value="engine:${name}" ?selected=${kind === `engine:${name}`}>${name}</option>`)}</optgroup>` : nothing}
      </select>
      ${kind === 'person' ? nothing : html`<label><input type="number" min="0.1" max=${info.caps.seconds} step="0.1"
        .value=${String(seconds)} @change=${event => change(seat, {seconds: event.target.valueAsNumber || 1})}> s</label>`}
    </div>`;
  })}</fieldset>`;
}

export const readSeats = (info, players) => Array.from({length: players}, (_, seat) => {
  const {kind, seconds} = preset(info, seat);
  return asSeat(kind, seconds);
});

/** Take the seats of a game over into the form, moved by a number of seats. */
export function takeSeats(seats, by = 0) {
  form.seats = seats.map((_, index) => {
    const seat = seats[(index + by) % seats.length];
    return {
      kind: seat.kind === 'person' ? 'person' : seat.level ? `level:${seat.level}` : `engine:${seat.name}`,
      seconds: seat.seconds ?? 1,
    };
  });
}

/** The page without a game. */
export function home(page) {
  const {info} = page;
  form.game ??= info.games[0].name;
  const tabs = [['new', 'New game'], ['load', 'Load'], ['examples', 'Examples']];
  const tab = {new: newGame, load, examples}[form.tab];
  return html`<main class="home">
    <section class="card start">
      <h1>${info.games.filter(game => game.name !== 'nim').map(game => game.title).join(', ')}</h1>
      <p class="note">Play against engines of ten levels, analyse positions, review games.</p>
      <div class="tabs" role="group" aria-label="How to begin">${tabs.map(([name, words]) => html`
        <button aria-pressed=${form.tab === name} @click=${() => { form.tab = name; form.faults = []; page.render(); }}>
          ${words}</button>`)}</div>
      ${tab(page)}
      ${form.faults.length ? html`<ul class="faults" role="alert">${form.faults.map(fault => html`
        <li>${fault.path ? html`<code>${fault.path}</code> ` : nothing}${fault.message}</li>`)}</ul>` : nothing}
    </section>
    ${games(page)}
  </main>`;
}

function newGame(page) {
  const {info} = page;
  const game = info.games.find(one => one.name === form.game);
  const least = game.players[0];
  const players = game.players.includes(form.players) ? form.players : least;
  const submit = event => {
    event.preventDefault();
    create(page, {
      game: game.name, players, seats: readSeats(info, players),
      seed: form.seed ? Number(form.seed) : null, options: readOptions(game),
    });
  };
  return html`<form @submit=${submit}>
    <fieldset><legend>Game</legend><div class="choices">${info.games.map(one => html`
      <label class="choice"><input type="radio" name="game" .checked=${one.name === game.name}
        @change=${() => { form.game = one.name; page.render(); }}><span>${one.title}</span></label>`)}</div></fieldset>
    <fieldset><legend>Players</legend><div class="choices">${game.players.map(number => html`
      <label class="choice"><input type="radio" name="players" .checked=${number === players}
        @change=${() => { form.players = number; page.render(); }}><span>${number}</span></label>`)}</div></fieldset>
    ${seatRows(page, players)}
    <details><summary>Options</summary>
      ${game.options.map(option => optionRow(page, game, option))}
      <label class="row">Seed <input inputmode="numeric" pattern="[0-9]*" .value=${form.seed ?? ''} placeholder="drawn"
        @input=${event => { form.seed = event.target.value; }}></label>
    </details>
    <button class="primary big">Start</button>
  </form>`;
}

function optionRow(page, game, option) {
  const kept = form.options[game.name] ??= {};
  if (option.kind === 'bool') {
    return html`<label class="row"><input type="checkbox" .checked=${Boolean(kept[option.name] ?? option.default)}
      @change=${event => { kept[option.name] = event.target.checked; }}> ${words(option)}</label>`;
  }
  return html`<label class="row wrap">${words(option)}
    <input .value=${String(kept[option.name] ?? '')} placeholder=${String(option.default ?? 'default')}
      @input=${event => { kept[option.name] = event.target.value; }}></label>`;
}

const words = option => option.help || option.name.replaceAll('_', ' ');

function readOptions(game) {
  const found = {};
  for (const option of game.options) {
    const given = form.options[game.name]?.[option.name];
    if (given === undefined || given === '') continue;
    if (option.kind === 'bool') found[option.name] = given;
    else if (option.kind === 'int') found[option.name] = Number(given);
    else found[option.name] = given.split(/[\s,]+/).filter(Boolean).map(Number);
  }
  return found;
}

function load(page) {
  const submit = event => {
    event.preventDefault();
    open(page, form.text);
  };
  const take = async file => {
    if (!file) return;
    form.text = await file.text();
    page.render();
  };
  return html`<form @submit=${submit} @dragover=${event => event.preventDefault()}
      @drop=${event => { event.preventDefault(); take(event.dataTransfer.files[0]); }}>
    <label class="row">A record or a position <input type="file" accept=".json,.jsonl,.txt"
      @change=${event => take(event.target.files[0])}></label>
    <label for="text" class="unseen">Its text</label>
    <textarea id="text" rows="8" spellcheck="false" placeholder="or paste it here: JSON, a line of a record, a compact position"
      .value=${form.text} @input=${event => { form.text = event.target.value; }}></textarea>
    <button class="primary big">Open</button>
  </form>`;
}

/** Begin with a text: a record has turns; anything else is a position in one of its forms. */
export function open(page, text) {
  const line = text.trim().split('\n').find(one => one.trim()) ?? '';
  let data;
  try {
    data = JSON.parse(text);
  } catch {
    try {
      data = JSON.parse(line);
    } catch {
      data = text.trim();
    }
  }
  create(page, data?.turns ? {record: data} : {position: data});
}

function examples(page) {
  return html`<ul class="examples">${page.info.games.flatMap(game => game.examples.map(example => html`<li>
    <button @click=${() => create(page, {example: example.name})}><b>${game.title}</b>
      ${example.kind === 'record' ? 'a game to review' : 'a position to play'}
      <span class="note">${example.name}</span></button></li>`))}</ul>`;
}

/** Make a game and go there. */
export async function create(page, body) {
  try {
    const snapshot = await request('POST', '/api/games', body);
    form.faults = [];
    const isReview = body.record !== undefined || /jsonl$/.test(body.example ?? '');
    page.openGame(snapshot, isReview ? 'review' : 'play');
  } catch (error) {
    form.faults = error.violations?.length ? error.violations : [{message: error.message}];
    page.render();
  }
}

function games(page) {
  const found = page.games ?? [];
  if (!found.length) return html`<section class="card empty"><div class="outline"></div>
    <p class="note">Games that you play are kept here.</p></section>`;
  return html`<section class="card kept" aria-labelledby="kept"><h2 id="kept">Games</h2><ul>${found.map(game => html`<li>
    <a href="/g/${game.id}"><b>${page.titleOf(game.game)}</b> <span>${(game.seats ?? []).map((seat, index) => html`
      <span class="who">${seatMark(index)} ${seat.title}</span>`)}</span>
      <span class="note">${game.is_over ? 'over' : `turn ${(game.num_turns ?? game.turns?.length ?? 0) + 1}`}${
        game.created ? `, ${game.created.slice(0, 16).replace('T', ' ')}` : ''}</span></a>
    <button class="icon" aria-label="Delete this game" @click=${() => page.remove(game.id)}>×</button></li>`)}</ul>
  </section>`;
}
