// @ts-check
// The language of the page. English sentences stand in the scripts, and are the keys of the message files; a further
// language is a further file. It is loaded before anything is shown, unless it is English.

export const KEY = 'mexica-ai';
/**
 * The settings that the browser has kept, of whatever kind they are.
 * @type {Record<string, any>}
 */
export const kept = stored();

/** What the browser has now. */
export function stored() {
  try {
    return Object(JSON.parse(localStorage.getItem(KEY) ?? '{}'));
  } catch {
    return {};  // storage is blocked, or holds what is nothing of the page
  }
}

const root = document.documentElement;
export const LANGUAGES = ['en', ...(root.dataset.languages ?? '').split(' ').filter(Boolean)];

const asked = [kept.language, ...navigator.languages].map(tag => String(tag).split('-')[0].toLowerCase());
export const language = asked.find(one => LANGUAGES.includes(one)) ?? 'en';
root.lang = language;

/** @type {Record<string, string>} */
const messages = language === 'en' ? {}
  : await fetch(`/static/messages/${language}.json`).then(answer => answer.ok ? answer.json() : {}).catch(() => ({}));

const GAP = /\{(\w+)(?::([^{}|]*)\|([^{}|]*))?\}/g;

/**
 * A sentence in the language of the page. Gaps are `{name}`, or `{number:card|cards}` for a number with its noun; templates
 * may stand in gaps, then it is for a template.
 * @param {string} sentence in English
 * @param {Record<string, any>} [gaps]
 * @returns {any}
 */
export function t(sentence, gaps) {
  const text = messages[sentence] ?? sentence;
  if (!gaps) return text;
  const parts = [];
  let end = 0;
  for (const {0: gap, 1: name, 2: one, 3: many, index} of text.matchAll(GAP)) {
    parts.push(text.slice(end, index), gaps[name] ?? gap, one === undefined ? '' : ` ${Number(gaps[name]) === 1 ? one : many}`);
    end = index + gap.length;
  }
  parts.push(text.slice(end));
  return parts.every(part => ['string', 'number'].includes(typeof part)) ? parts.join('') : parts;
}
