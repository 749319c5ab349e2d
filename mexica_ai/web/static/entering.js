// @ts-check
// Entering an action: a legal action has a tool and targets; each click narrows the list of entries. Independent of the
// game.
import {t} from './words.js';

/**
 * @typedef {object} Entry
 * @property {string} [action]
 * @property {string[]} [actions] of a walk, which is several actions
 * @property {string} tool
 * @property {string[]} targets
 * @property {string} cost
 * @property {string} [brings]
 * @property {boolean} [is_empty]
 * @typedef {{name: string, label: string, any_order: boolean, is_priced: boolean}} Tool
 * @typedef {{tool?: string, target?: string, label: string, note: string, isEmpty: boolean}} Choice
 */

const MENU = 'menu:';
const isMenu = target => target.startsWith(MENU);
const kind = target => target.includes(':') ? target.slice(0, target.indexOf(':')) : '';
const price = entry => Number.parseFloat(entry.cost) || 0;
const cheapest = entries => entries.reduce((best, entry) => price(entry) < price(best) ? entry : best);

function add(map, key, value) {
  if (!map.has(key)) map.set(key, []);
  if (!map.get(key).includes(value)) map.get(key).push(value);
}

/** The actions of an entry: one, or those of a walk. */
export const actionsOf = entry => entry.actions ?? [entry.action];

/** Narrows the entries of the legal actions by a tool and targets, in the order in which they are chosen. */
export class Entering {
  /** @type {string | null} */
  tool = null;
  /** @type {string[]} */
  taken = [];
  /** @type {string | null} The tool that a person has chosen: it stays while it is legal. */
  held = null;
  /** Whether an action was entered since it was chosen. */
  isUsed = false;

  constructor() {
    this.set([], [], []);
  }

  /**
   * Take new entries; the chosen tool and targets stay if they begin one of them.
   * @param {Entry[]} entries
   * @param {Entry[]} walks each the cheapest way to its goal
   * @param {Tool[]} tools
   */
  set(entries, walks, tools) {
    const {tool, taken} = this;
    this.entries = [...entries, ...walks];
    this.tools = new Map(tools.map(one => [one.name, one]));
    const [first] = entries;
    // The only tool need not be chosen.
    this.alone = first?.targets.length && entries.every(entry => entry.tool === first.tool) ? first.tool : null;
    if (!this.entries.some(entry => entry.tool === this.held)) this.held = null;
    this.reset();
    if ((tool || taken.length) && this.matches(tool, taken).length) Object.assign(this, {tool, taken});
  }

  reset() {
    this.tool = this.held ?? this.alone;
    this.taken = [];
  }

  /** Let the tool go that was chosen. */
  drop() {
    this.held = null;
    this.reset();
  }

  get isFresh() {
    return !this.tool && !this.taken.length;
  }

  labelOf(tool) {
    return this.tools.get(tool)?.label ?? tool;
  }

  /** The entries that begin with a tool, if it is chosen, and with targets. */
  matches(tool = this.tool, taken = this.taken) {
    return this.entries.filter(({tool: own, targets}) => (!tool || own === tool) && taken.every(this.tools.get(own)?.any_order
      ? target => targets.includes(target) : (target, index) => targets[index] === target));
  }

  /** The targets of an entry that can be taken now; the words of a menu after all others. */
  open({tool, targets}, all = this.tools.get(tool)?.any_order) {
    if (!all) return targets.slice(this.taken.length).slice(0, 1);
    const left = targets.filter(target => !this.taken.includes(target));
    const shown = left.filter(target => !isMenu(target));
    return shown.length ? shown : left;
  }

  /** The next choices: Map of target or menu words to entries. */
  next() {
    const found = new Map();
    for (const entry of this.matches()) for (const target of this.open(entry)) add(found, target, entry);
    return found;
  }

  // Whether only words of menus are left of an entry.
  isWords(entry) {
    return this.open(entry, true).every(isMenu);
  }

  /** Whether a set is chosen, such as cards to keep: its targets in any order, then the words that confirm it. */
  get isSet() {
    return this.matches().some(({tool, targets}) => this.tools.get(tool)?.any_order && isMenu(targets.at(-1) ?? ''));
  }

  /** Whether a menu has to show what can be chosen; a set is chosen without one. */
  get hasMenu() {
    return !this.isSet && this.choices().length > 0;
  }

  /** Choose a tool; return the entry to play, if one is left that needs no click. */
  choose(tool) {
    this.tool = tool;
    const [entry, ...more] = this.matches();
    return !more.length && (this.taken.length || this.isWords(entry)) ? entry : null;
  }

  /** Choose a tool by its button or its letter: it stays while it is legal. */
  hold(tool) {
    Object.assign(this, {held: tool, isUsed: false});
    return this.choose(tool);
  }

  /**
   * Take a target; return the entry to play, if one is left or (without `ask`) if only prices differ; undefined: not legal.
   * @param {string} target
   * @param {boolean} [ask]
   * @param {(targets: string[]) => string | undefined} [nearest] the one of several that was meant
   * @param {boolean} [isDragged] whether it ends a drag
   */
  take(target, ask = false, nearest = ([first, more]) => more ? undefined : first, isDragged = false) {
    if (this.taken.includes(target)) {
      // Clicked again, it is let go.
      this.taken = this.tools.get(this.tool)?.any_order ? this.taken.filter(one => one !== target)
        : this.taken.slice(0, this.taken.indexOf(target));
      if (!this.taken.length) this.tool = this.held ?? this.alone;
      return null;
    }
    const meant = this.goesOn(target) || isDragged ? this.meant(target, nearest) : null;
    if (!meant) return undefined;
    this.taken.push(meant);
    const found = this.matches();
    if (found.every(entry => entry.tool === found[0].tool)) this.tool = found[0].tool;
    if (found.length === 1) return found[0];
    const isPriced = this.tools.get(this.tool)?.is_priced;
    return !ask && isPriced && found.every(entry => this.isWords(entry)) ? cheapest(found) : null;
  }

  // The target itself, or a part of it, such as an end of a figure, or what it is a part of.
  meant(target, nearest) {
    const fits = one => this.matches(this.tool, [...this.taken, one]).length > 0;
    if (fits(target)) return target;
    const parts = [...this.next().keys()].filter(one => one.startsWith(`${target}:`) && fits(one));
    const whole = target.slice(0, target.lastIndexOf(':'));
    return parts.length ? nearest(parts) : [whole].find(one => one.includes(':') && !this.taken.includes(one) && fits(one));
  }

  // Whether a target goes on with those that are taken, where the tool is open: one of the same kind begins anew.
  goesOn(target) {
    return this.tool || this.taken.every(one => kind(one) !== kind(target));
  }

  /** Take a target from the beginning, if the one that was taken before it does not lead there; undefined: not legal. */
  restart(target, ask, nearest) {
    const {tool, taken, held, isUsed} = this;
    if (taken.length) {
      this.reset();
      const found = this.take(target, ask, nearest);
      if (found !== undefined) return found;
    }
    if (held && isUsed) {
      this.drop();
      const found = this.take(target, ask, nearest);
      if (found !== undefined) return found;
    }
    Object.assign(this, {tool, taken, held});
    return undefined;
  }

  /** An action was entered. */
  played() {
    this.isUsed = true;
    this.reset();
  }

  /** Step back; return whether there was a step. */
  back() {
    const had = this.taken.length || this.tool !== this.alone;
    if (!this.taken.length) this.held = null;
    if (!this.taken.pop() || !this.taken.length) this.tool = this.held ?? this.alone;
    return had;
  }

  /** Map of target to the labels of the tools that can be used there now. */
  legal() {
    const found = new Map();
    for (const [target, entries] of this.next()) for (const {tool} of entries) add(found, target, this.labelOf(tool).toLowerCase());
    return found;
  }

  /**
   * The choices of the menu: tools after a first target, or words and what stands beside them; [] if the board shows
   * them all.
   * @param {(target: string) => string} describe
   * @returns {Choice[]}
   */
  choices(describe = target => target) {
    const found = new Map();
    const isTools = !this.tool && this.taken.length > 0;
    if (isTools) for (const entry of this.matches()) add(found, entry.tool, entry);
    else if (this.tool) {
      const next = this.next();
      const hasWords = [...next.keys()].some(isMenu);
      for (const [target, entries] of next) if (isMenu(target) || hasWords && !this.isSet) found.set(target, entries);
    }
    return [...found].map(([name, [entry, ...more]]) => {
      const brings = more.length ? '' : entry.brings ?? '';
      const words = isTools ? this.open(entry, true).filter(isMenu).map(word => word.slice(MENU.length)) : [];
      const label = isTools ? this.labelOf(name) : isMenu(name) ? name.slice(MENU.length) : brings || describe(name);
      const cost = entry.cost && label === brings ? t('for {cost}', {cost: entry.cost}) : entry.cost;
      const notes = [...words, brings, cost].filter(note => note && note !== label);
      return {[isTools ? 'tool' : 'target']: name, label, note: more.length ? '' : notes.join(', '),
        isEmpty: !more.length && Boolean(entry.is_empty)};
    });
  }

  /** The highlighted targets: Map of target to {cost, isFaint, isTaken}. */
  lit(isDragged) {
    /** @type {Map<string, {isTaken?: boolean, isFaint?: boolean, cost?: string}>} */
    const found = new Map(this.taken.map(target => [target, {isTaken: true}]));
    const isOpen = this.tool || isDragged;
    if (!isOpen && !this.taken.length) return found;
    const most = Math.max(...this.matches().map(price));
    for (const [target, entries] of this.next()) {
      if (!isOpen && !this.goesOn(target)) continue;
      const least = cheapest(entries);
      const isPriced = this.tools.get(least.tool)?.is_priced;
      found.set(target, {cost: isPriced && least.cost, isFaint: isPriced && most > 1 && price(least) === most});
    }
    return found;
  }
}
