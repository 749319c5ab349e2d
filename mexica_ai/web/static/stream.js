// @ts-check
// The stream of events that keeps a page current, and its reconnecting.
import {query, request, say, settings} from './api.js';
import {language, t} from './words.js';

const STEADY_MS = 10_000;  // the life of a stream that was no try

/** The stream of a page's game. */
export class Stream {
  tries = 0;

  constructor(page) {
    this.page = page;
  }

  connect() {
    if (this.source || document.hidden && !settings.call) return;
    this.since = performance.now();
    const {page} = this;
    const source = this.source = new EventSource(`/api/events${query({game: page.snap.id, viewer: page.viewer, lang: language})}`);
    const on = (name, act) => source.addEventListener(name, ({data}) => act(JSON.parse(data)));
    source.onerror = () => this.retry(source.readyState === EventSource.CLOSED);
    let isFirst = true;
    on('state', ({snapshot}) => {
      clearTimeout(this.warning);
      this.warning = null;
      Object.assign(page, {isLost: false, isGone: false, isClosed: false, isCrowded: false});
      if (isFirst && this.tries) page.message = '';  // that of a lost connection
      page.apply(snapshot);
      if (isFirst) page.catchUp(snapshot.analysis);
      isFirst = false;
    });
    on('thinking', thinking => {
      page.snap.thinking = thinking;
      if (thinking.state === 'failed' && thinking.message) say(thinking.message);
      page.render();
    });
    on('analysis', update => page.takeUpdate(update));
    on('annotation', ({turn, ...rest}) => {
      const turns = rest.done ? page.snap.annotation.turns.filter(one => one.turn_index !== turn?.turn_index) : [];
      Object.assign(page.snap.annotation, rest, {turns: turn ? [...turns, turn] : turns});
      page.render();
    });
    on('presence', async ({seats}) => {
      page.friends ??= await import('./friends.js');
      page.friends.note(page, seats);
    });
    on('notice', () => page.set({isGone: true}));
    on('bye', () => {
      page.tell(t('The server has stopped; the game is saved.'));
      this.retry();
    });
  }

  disconnect() {
    this.source?.close();
    this.source = null;
    this.tries = 0;
    clearTimeout(this.warning);
    this.warning = null;
    clearTimeout(this.again);
  }

  // Reconnect with growing pauses; the banner appears after two seconds.
  retry(isRefused = false) {
    this.source?.close();
    this.source = null;
    this.warning ??= setTimeout(() => this.page.set({isLost: true}), 2000);
    if (performance.now() - this.since > STEADY_MS) this.tries = 0;
    this.since = Infinity;
    this.tries += 1;
    clearTimeout(this.again);
    this.again = setTimeout(() => this.reconnect(isRefused), Math.min(400 * 2 ** this.tries, 15000));
  }

  // A stream does not say why it failed; a request does. If only the stream was refused, there are too many pages.
  async reconnect(isRefused) {
    const {page} = this;
    try {
      await request('GET', `/api/games/${page.snap.id}${query({viewer: page.viewer})}`);
      page.set({isCrowded: isRefused});
      this.connect();
    } catch (error) {
      page.set({isCrowded: false});
      if (error.status === 403) location.reload();  // its seat is played on another page by now
      else if (![401, 404].includes(error.status)) this.retry();
      else {
        clearTimeout(this.warning);
        this.warning = null;
        page.set({isLost: false, isGone: error.status === 404});
      }
    }
  }
}
