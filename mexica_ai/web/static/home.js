// @ts-check
// The start page: a new game, a record or a position from a file, an example; and the list of saved games.
import {button, html, languages, nothing, pathOf, request, say, seatMark} from './api.js';
import {create, form, readSeats, seatRows} from './setup.js';
import {language, t} from './words.js';

/** @typedef {import('./page.js').Page} Page */
/** @typedef {import('./snapshot').SummaryJson} SummaryJson */

/**
 * The start page.
 * @param {Page} page
 */
export function home(page) {
  form.game ??= page.info.games.find(game => game.parts.includes('panel')).name;
  const tabs = {'New game': [t('New game'), newGame], Load: [t('Load'), load], Examples: [t('Examples'), examples]};
  const {faults} = form;
  return html`<main class="home"><section class="card start"><h1>${t('Play, analyse, review')}</h1>
    <div class="row">${Object.entries(tabs).map(([name, [words]]) => button(words, () => {
      Object.assign(form, {tab: name, faults: [], several: null});
      page.render();
    }, {pressed: form.tab === name, kind: 'big'}))}</div>
    ${tabs[form.tab][1](page)}
    ${form.several ? several(page) : nothing}
    ${faults.length ? html`<ul class="fault" role="alert">${faults.map(({path, words}) => html`
      <li>${words}${pathOf(path)}</li>`)}</ul>` : nothing}</section>
    ${kept(page)}${page.own?.results(page) ?? nothing}<p class="row soft">${languages()}</p></main>`;
}

/** @param {Page} page */
function radios(page, name, title, options, value) {
  return html`<fieldset><legend>${title}</legend><div class="row">${options.map(([one, words]) => html`<label class="choice">
    <input type="radio" name=${name} .checked=${one === value} @change=${() => {
      form[name] = one;
      page.render();
    }}><span>${words}</span></label>`)}</div></fieldset>`;
}

/** @param {Page} page */
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
      clock: form.minutes ? {bank_s: 60 * form.minutes, increment_s: form.increment ?? 0} : null,
      options: Object.fromEntries(game.options.filter(({name}) => name in given && given[name] !== '').map(
        ({name, kind}) => [name, read(kind, given[name])])),
    });
  };
  const games = [...info.games].sort((one, other) => Number(one.tools.length < 2) - Number(other.tools.length < 2));  // toys last
  return html`<form @submit=${submit}>${radios(page, 'game', t('Game'), games.map(one => [one.name, one.title]), game.name)}
    <div class="row">${game.has_guide ? button(t('Learn the game'), () => create(page, {guide: game.name})) : nothing}
      ${game.languages.length ? button(t('Rules'), () => page.readRules(game.name)) : nothing}</div>
    ${radios(page, 'players', t('Players'), game.players.map(one => [one, one]), players)}${seatRows(page, players)}
    <details><summary>${t('Options')}</summary>${game.options.map(({name, kind, help, default: usual}) => html`<label class="row">${
      kind === 'bool' ? html`<input type="checkbox" .checked=${given[name]}
          @change=${event => { given[name] = event.target.checked; }}> ${help}`
        : html`${help} <input .value=${given[name] ?? ''} placeholder=${usual ?? nothing}
          @input=${event => { given[name] = event.target.value; }}>`}</label>`)}
      <label class="row"><input type="checkbox" .checked=${form.isTable ?? false}
        @change=${event => { form.isTable = event.target.checked; }}> ${t('random events are drawn at a real table and typed in')}</label>
      <div class="row">${t('a clock of persons:')} <label><input type="number" min="1" max="1440" step="any" .value=${String(form.minutes ?? '')}
        @input=${event => { form.minutes = event.target.valueAsNumber || null; }}> ${t('minutes')}</label> <label><input type="number" min="0" max="3600"
        .value=${String(form.increment ?? '')} @input=${event => { form.increment = event.target.valueAsNumber || 0; }}> ${t('s more for each turn')}</label></div>
      <label class="row">${t('seed')} <input inputmode="numeric" pattern="[0-9]*" maxlength="15" .value=${form.seed ?? ''} placeholder=${t('drawn')}
        @input=${event => { form.seed = event.target.value; }}></label></details>
    <button class="primary big">${t('Start')}</button></form>`;
}

// What is no number goes to the server as it is, whose error names it.
const number = text => /^-?\d{1,15}$/.test(text) ? Number(text) : text;

const read = (kind, value) => kind === 'bool' ? value : kind === 'int' ? number(value.trim()) : value.split(/[\s,;]+/).filter(Boolean).map(number);

const size = bytes => bytes < 2 ** 20 ? `${Math.ceil(bytes / 1024)} KB` : `${(bytes / 2 ** 20).toFixed(1)} MB`;

/** @param {Page} page */
function load(page) {
  const most = page.info.caps.body;
  const refuse = words => {
    Object.assign(form, {file: null, faults: [{words}], several: null});
    say(words);
    page.set({message: ''});
  };
  const tooLarge = (what, bytes) => refuse(t('{what} has {size}; at most {most} can be opened.', {what, size: size(bytes), most: size(most)}));
  const take = async file => {
    if (!file) return;
    if (file.size > most) {
      tooLarge(file.name, file.size);
      return;
    }
    const text = await file.arrayBuffer().then(bytes => new TextDecoder('utf-8', {fatal: true}).decode(bytes)).catch(() => null);
    if (text === null || text.includes('\0')) refuse(t('{what} cannot be read as text.', {what: file.name}));
    else {
      Object.assign(form, {file: {name: file.name, text}, text: '', faults: [], several: null});
      page.render();
    }
  };
  const submit = event => {
    event.preventDefault();
    const {name, text} = form.file ?? {name: t('The text'), text: form.text};
    const bytes = new TextEncoder().encode(JSON.stringify({text})).length;  // quotes and line ends take two in a request
    if (bytes > most) tooLarge(t('{what}, as it is sent,', {what: name}), bytes);
    else create(page, {text});
  };
  return html`<form @submit=${submit}><label class="row">${t('A record, a position or a drill')}
      <input type="file" accept=".json,.jsonl,.txt" @click=${event => { event.target.value = ''; }} @change=${event => take(event.target.files[0])}></label>
    <label>${t('or its text')} <textarea rows="9" spellcheck="false" ?required=${!form.file} .value=${form.text}
      placeholder=${form.file ? t('{what} is to be opened.', {what: form.file.name}) : ''}
      @input=${event => Object.assign(form, {text: event.target.value, file: null})}></textarea></label>
    <button class="primary big">${t('Open')}</button></form>`;
}

// The records of a file, to choose one.
/** @param {Page} page */
function several(page) {
  const {body, count, records} = form.several;
  const words = ({game, players, turns, scores, winners, names, error}) => error ? t('cannot be read: {why}', {why: error}) : [
    page.titleOf(game), players && t('{n:player|players}', {n: players}), turns != null && t('{n:turn|turns}', {n: turns}), names.filter(name => !/[=:]/.test(name)).join(', '),
    scores.length ? scores.join(' : ') : winners.length ? '' : t('not finished')].filter(Boolean).join(', ');
  return html`<section aria-labelledby="several"><h2 id="several">${t('{number} games: choose one', {number: count})}</h2><ol class="plain several">${
    records.map(one => html`<li>${button(html`<b>${one.number}</b> ${words(one)}`,
      () => create(page, {...body, record: one.number}), {kind: 'wide', off: Boolean(one.error)})}</li>`)}</ol>
    ${count > records.length ? html`<p class="soft">${t('{number} more are not listed.', {number: count - records.length})}</p>` : nothing}</section>`;
}

const examples = (/** @type {Page} */ page) => html`<ul class="plain">${page.info.games.flatMap(game => game.examples.map(({name, kind}) => html`
  <li>${button(html`${kind === 'record' ? t('{title}, a game to review', {title: html`<b>${game.title}</b>`}) : t('{title}, a position to play', {title: html`<b>${game.title}</b>`})}
    <span class="soft">${name}</span>`, () => create(page, {example: name}), {kind: 'big wide'})}</li>`))}</ul>`;

/** @type {(game: SummaryJson) => string} */
const state = ({drill, guide, is_over: isOver, turns, seats, scores = [], winners = []}) => drill ? t('drill, {solved} of {of} solved', {...drill})
  : guide ? t('guided game, {step} of {of} steps done', {...guide}) : !isOver ? `${t('turn {number}', {number: turns + 1})}${scores.some(Boolean) ? `, ${scores.join(' : ')}` : ''}`
    : `${t('over, {scores}', {scores: scores.join(' : ')})}${winners.length === 1 ? `, ${t('{who} wins', {who: seats[winners[0]].title})}` : ''}`;

/**
 * When a game was begun, by the clock here.
 * @param {SummaryJson} game
 */
const when = ({created}) => new Date(created).toLocaleString(language, {dateStyle: 'medium', timeStyle: 'short'});

/**
 * What is played; of a file that cannot be read, its name.
 * @param {Page} page
 * @param {SummaryJson} game
 */
const titleOf = (page, {game, id}) => game ? page.titleOf(game) : `${id}.jsonl`;

/** All that is listed of a game, as text to search. */
const wordsOf = (page, game) => [titleOf(page, game), game.error ?? `${state(game)} ${when(game)}`,
  ...(game.seats ?? []).map(seat => seat.title)].join(' ').toLowerCase();

// Change the list of games, and read it anew even after an error.
/** @param {Page} page */
async function listAgain(page, method, path, words) {
  const error = await request(method, path).then(() => null, error => error);
  const games = await request('GET', '/api/games').then(answer => answer.games, () => page.games);
  say(error?.message ?? words);
  const deleted = page.deleted.filter(({id}) => games.every(game => game.id !== id));
  page.set({games, deleted, message: error?.message ?? ''});
  return error;
}

/** @param {Page} page */
async function remove(page, game) {
  const words = t('Deleted a game of {title}.', {title: titleOf(page, game)});
  const error = await listAgain(page, 'DELETE', `/api/games/${game.id}`, words);
  if (!error) page.set({deleted: [game, ...page.deleted]});
}

/** @param {Page} page */
async function putBack(page, game) {
  const words = t('The game of {title} is back.', {title: titleOf(page, game)});
  const error = await listAgain(page, 'POST', `/api/games/${game.id}/restore`, words);
  if (error?.status === 404) page.set({deleted: page.deleted.filter(one => one !== game)});
}

/** @param {Page} page */
function kept(page) {
  const {games, deleted, filter = ''} = page;
  const undo = deleted.length ? html`<div class="deleted" role="status">${deleted.map(game => html`<p class="row">${t('Deleted:')} ${
    titleOf(page, game)}${game.error ? '' : `, ${state(game)}`} ${button(t('Undo'), () => putBack(page, game))}</p>`)}</div>` : nothing;
  if (!games?.length) return html`<section class="card empty">${undo}<p class="soft">${t('Your games will be listed here.')}</p></section>`;
  const found = games.filter(game => filter.toLowerCase().split(/\s+/).every(word => wordsOf(page, game).includes(word)));
  return html`<section class="card" aria-labelledby="kept"><div class="row"><h2 id="kept">${t('Games')}</h2><span class="grow"></span>
      ${games.length > 5 ? html`<input type="search" class="filter" aria-label=${t('Filter the games')} placeholder=${t('Filter, such as mexica over')}
        .value=${filter} @input=${event => page.set({filter: event.target.value})}>` : nothing}</div>
    ${undo}${found.length ? nothing : html`<p class="soft">${t('No game has these words.')}</p>`}
    <ul class="plain kept">${found.map(game => html`<li>
      <a href="/g/${game.id}${game.is_over ? '#review' : ''}"><b>${titleOf(page, game)}</b> ${game.error ?? html`
        ${game.drill ? nothing : game.seats.map((seat, index) => html`<span class="who">${seatMark(index)} ${seat.title}</span>`)}
        <span class="soft">${state(game)}, ${when(game)}</span>`}</a>
      ${button('×', () => remove(page, game), {kind: 'link', label: t('Delete this game of {title}', {title: titleOf(page, game)})})}</li>`)}</ul></section>`;
}
