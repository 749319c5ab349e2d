// The start page: a new game, a record or a position from a file, an example; and the list of saved games.
import {button, html, nothing, seatMark} from './api.js';
import {create, form, readSeats, seatRows} from './setup.js';

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
