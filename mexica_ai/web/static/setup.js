// The start page: a new game, a record or a position from a file, an example; and the list of saved games.
import {button, choice, html, nothing, request, seatMark} from './api.js';

const form = {tab: 'New game', players: 2, seats: [], options: {}, text: '', faults: []};
const preset = (info, seat) => form.seats[seat] ?? {who: seat ? `level:${info.levels_default}` : 'person', seconds: 1};

/** Form rows, one for each seat. */
export function seatRows(page, players) {
  const {info} = page;
  const who = [['person', 'Person'], ...info.levels.map(level => [`level:${level}`, `Level ${level}`]),
    ...info.engines.map(name => [`name:${name}`, name])];
  return html`<fieldset><legend>Seats</legend>${Array.from({length: players}, (_, seat) => {
    const now = preset(info, seat);
    const set = changes => {
      form.seats[seat] = {...now, ...changes};
      page.render();
    };
    return html`<div class="row">${seatMark(seat)} Seat ${seat} ${choice(`Seat ${seat}`, who, now.who, value => set({who: value}))}
      ${now.who === 'person' ? nothing : html`<label><input type="number" min="0.1" max=${info.caps.seconds} step="any"
        .value=${String(now.seconds)} @change=${event => set({seconds: event.target.valueAsNumber || 1})}> s a turn</label>`}</div>`;
  })}</fieldset>`;
}

/** The seats of the form for a request. */
export const readSeats = (info, players) => Array.from({length: players}, (_, index) => {
  const {who, seconds} = preset(info, index);
  const [kind, name] = who.split(/:(.*)/);
  return kind === 'person' ? {kind} : {kind: 'engine', seconds, [kind]: kind === 'level' ? Number(name) : name};
});

/** Copy the seats of a game into the form, rotated by a number of seats. */
export function takeSeats(seats, by = 0) {
  form.seats = seats.map((_, index) => {
    const {kind, level, name, seconds = 1} = seats[(index + by) % seats.length];
    return {who: kind === 'person' ? kind : level ? `level:${level}` : `name:${name}`, seconds};
  });
}

/** Create a game and open it. */
export async function create(page, body) {
  try {
    const {id, turns, is_over: isOver} = await request('POST', '/api/games', body);
    location.href = `/g/${id}${turns.length && (body.text || body.example || isOver) ? '#review' : ''}`;
  } catch (error) {
    form.faults = error.violations?.length ? error.violations : [error];
    page.tell(error.message);
  }
}

/** The start page. */
export function home(page) {
  form.game ??= page.info.games.find(game => game.parts.includes('panel')).name;
  const tabs = {'New game': newGame, Load: load, Examples: examples};
  const {faults} = form;
  return html`<main class="home"><section class="card start"><h1>Play, analyse, review</h1>
    <div class="row">${Object.keys(tabs).map(name => button(name, () => {
      Object.assign(form, {tab: name, faults: []});
      page.render();
    }, {pressed: form.tab === name, kind: 'big'}))}</div>
    ${tabs[form.tab](page)}
    ${faults.length ? html`<ul class="fault" role="alert">${faults.map(({path, message}) => html`
      <li>${path ? html`<code>${path}</code> ` : nothing}${message}</li>`)}</ul>` : nothing}</section>
    ${kept(page)}</main>`;
}

function radios(page, name, options, value) {
  return html`<fieldset><legend>${name}</legend><div class="row">${options.map(([one, words]) => html`<label class="choice">
    <input type="radio" name=${name} .checked=${one === value} @change=${() => {
      form[name.toLowerCase()] = one;
      page.render();
    }}><span>${words}</span></label>`)}</div></fieldset>`;
}

function newGame(page) {
  const {info} = page;
  const game = info.games.find(one => one.name === form.game);
  const players = game.players.includes(form.players) ? form.players : game.players[0];
  const given = form.options[game.name] ??= Object.fromEntries(
    game.options.filter(({kind}) => kind === 'bool').map(({name, default: usual}) => [name, usual]));
  const submit = event => {
    event.preventDefault();
    create(page, {
      game: game.name, players, seats: readSeats(info, players), seed: form.seed ? Number(form.seed) : null, draws: !form.isTable,
      options: Object.fromEntries(game.options.filter(({name}) => name in given && given[name] !== '').map(
        ({name, kind}) => [name, read(kind, given[name])])),
    });
  };
  return html`<form @submit=${submit}>${radios(page, 'Game', info.games.map(one => [one.name, one.title]), game.name)}
    ${radios(page, 'Players', game.players.map(one => [one, one]), players)}${seatRows(page, players)}
    <details><summary>Options</summary>${game.options.map(({name, kind, help, default: usual}) => html`<label class="row">${
      kind === 'bool' ? html`<input type="checkbox" .checked=${given[name]}
          @change=${event => { given[name] = event.target.checked; }}> ${help}`
        : html`${help} <input .value=${given[name] ?? ''} placeholder=${usual ?? nothing}
          @input=${event => { given[name] = event.target.value; }}>`}</label>`)}
      <label class="row"><input type="checkbox" .checked=${form.isTable ?? false}
        @change=${event => { form.isTable = event.target.checked; }}> random events are drawn at a real table and typed in</label>
      <label class="row">seed <input inputmode="numeric" pattern="[0-9]*" .value=${form.seed ?? ''} placeholder="drawn"
        @input=${event => { form.seed = event.target.value; }}></label></details>
    <button class="primary big">Start</button></form>`;
}

const read = (kind, value) => kind === 'bool' ? value : kind === 'int' ? Number(value) : value.match(/\d+/g)?.map(Number) ?? [];

function load(page) {
  const take = async file => {
    form.text = await file.text();
    page.render();
  };
  const submit = event => {
    event.preventDefault();
    create(page, {text: form.text});
  };
  return html`<form @submit=${submit}><label class="row">A record, a position or a drill
      <input type="file" accept=".json,.jsonl,.txt" @change=${event => take(event.target.files[0])}></label>
    <label>or its text <textarea rows="9" spellcheck="false" required .value=${form.text}
      @input=${event => { form.text = event.target.value; }}></textarea></label>
    <button class="primary big">Open</button></form>`;
}

const examples = page => html`<ul class="plain">${page.info.games.flatMap(game => game.examples.map(({name, kind}) => html`
  <li>${button(html`<b>${game.title}</b>, a ${kind === 'record' ? 'game to review' : 'position to play'}
    <span class="soft">${name}</span>`, () => create(page, {example: name}), {kind: 'big wide'})}</li>`))}</ul>`;

const kept = page => !page.games?.length
  ? html`<section class="card empty"><div class="outline"></div><p class="soft">Your games will be listed here.</p></section>`
  : html`<section class="card" aria-labelledby="kept"><h2 id="kept">Games</h2><ul class="plain kept">${page.games.map(game => html`<li>
    <a href="/g/${game.id}${game.is_over ? '#review' : ''}"><b>${page.titleOf(game.game)}</b> ${game.error ?? html`
      ${game.drill ? nothing : game.seats.map((seat, index) => html`<span class="who">${seatMark(index)} ${seat.title}</span>`)}
      <span class="soft">${game.drill ? `drill, ${game.drill.solved} of ${game.drill.of} solved` : game.is_over ? 'over' : `turn ${game.turns + 1}`}, ${game.created.slice(0, 16).replace('T', ' ')}</span>`}</a>
    ${button('×', () => page.remove(game.id), {kind: 'link', label: `Delete this game of ${page.titleOf(game.game)}`})}</li>`)}</ul></section>`;
