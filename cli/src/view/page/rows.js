// The rows of an execution: its events, with accesses to plain memory and messages of the test between them; and the filter of
// visible ones. Without a recording, the accesses that the finding is about are there, in words: deeds.

const EVENT = 0, DATA = 1, SAID = 2, DEED = 3;

/** Short names of orderings and operations, as in the literature, because rows are narrow. The panel has the full names. */
const SHORT = {
  Relaxed: "rlx", Acquire: "acq", Release: "rel", AcqRel: "acq-rel", SeqCst: "sc",
  "read-modify-write": "rmw", "failed compare-exchange": "failed cas",
};
const short = (word) => SHORT[word] ?? word;

/** The number of rows before and after the finding that "Around the finding" keeps. */
const AROUND = 40;

/** The kind of an access to plain memory, in words: the use of a pointer is unknown. */
const accessName = ({ is_write: isWrite, by_pointer: byPointer }) => (byPointer ? (isWrite ? "write by pointer" : "get pointer") : isWrite ? "write" : "read");

class Rows {
  constructor(execution, message) {
    this.execution = execution;
    this.items = Rows.#merge(execution);
    this.itemOfEvent = new Int32Array(execution.length);
    this.items.forEach((item, at) => { if (item.kind === EVENT) this.itemOfEvent[item.ref] = at; });
    this.#concern(message);
    this.shown = Int32Array.from(this.items.keys());
  }

  static #merge(execution) {
    const { data = [], said = [] } = execution.recording;
    const extra = [
      ...data.map((thing) => ({ kind: DATA, thing, task: thing.task, at: thing.at })),
      ...said.map((thing) => ({ kind: SAID, thing, task: thing.task, at: thing.at })),
      ...execution.deeds.map((thing) => ({ kind: DEED, thing, task: thing.task, at: thing.at })),
    ].sort((a, b) => a.at - b.at);
    const items = [];
    const last = new Int32Array(execution.tasks.length).fill(-1);
    let next = 0;
    for (let at = 0; at <= execution.length; at++) {
      for (; next < extra.length && extra[next].at <= at; next++) items.push({ ...extra[next], event: last[extra[next].task] });
      if (at === execution.length) break;
      const task = execution.events[at].task;
      items.push({ kind: EVENT, ref: at, event: at, task, at });
      last[task] = at;
    }
    return items;
  }

  /**
   * Marks what the finding is about. A monitor names events; where it is about plain memory, the access that follows one of
   * them, at a place that the message names, is meant.
   */
  #concern(message) {
    const { execution, items } = this;
    const meant = new Set();
    for (const item of items) {
      const follows = item.kind === DATA && item.event >= 0 && Boolean(execution.events[item.event].concerned);
      const named = follows && message.includes(execution.siteName(item.thing)) && message.includes(item.thing.location);
      item.concerned = named || item.kind === DEED;
      if (item.concerned) meant.add(item.event);
    }
    for (const item of items) {
      if (item.kind === EVENT) item.concerned = Boolean(execution.events[item.ref].concerned) && !meant.has(item.ref);
    }
    this.concerned = [...items.keys()].filter((at) => items[at].concerned);
  }

  /** Shows only the rows that pass the filters. */
  filter({ tasks, vars, kinds, switches, around, memory }) {
    const { execution } = this;
    const [from, to] = around ? this.#around() : [0, this.items.length];
    const shown = [];
    for (let at = from; at < to; at++) {
      const item = this.items[at];
      if (tasks.has(item.task)) continue;
      if ((item.kind === DATA || item.kind === SAID) && !memory) continue;
      if (vars && !vars.has(this.subject(item))) continue;
      if (kinds && !kinds.has(this.kind(item))) continue;
      if (switches && !(item.kind === EVENT && execution.isSwitch(item.ref)) && !item.concerned) continue;
      shown.push(at);
    }
    this.shown = Int32Array.from(shown);
  }

  #around() {
    const middle = this.concerned.at(-1) ?? this.items.length - 1;
    return [Math.max(0, middle - AROUND), Math.min(this.items.length, middle + AROUND + 1)];
  }

  /** The name of a row's subject: a variable, or a location. */
  subject(item) {
    if (item.kind === EVENT) return this.execution.varName(this.execution.events[item.ref]);
    return item.kind === DATA ? item.thing.location : "";
  }

  /** The kind of a row: an operation, an access to plain memory, or a message of the test. */
  kind(item) {
    if (item.kind === EVENT) return this.execution.events[item.ref].op;
    return item.kind === SAID ? "message" : item.kind === DATA ? `plain ${accessName(item.thing)}` : "plain access";
  }

  /** Each name that `of` gives rows with its number of rows, in order of first use. */
  counted(of) {
    const counts = new Map();
    for (const item of this.items) {
      const name = of(item);
      if (name) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return counts;
  }

  /** The words of a row, by part. */
  words(item) {
    const { execution } = this;
    if (item.kind === EVENT) {
      const event = execution.events[item.ref];
      const operation = execution.operationAt.get(item.ref);
      if (operation) {
        const returns = item.ref === operation.ret && operation.result ? `→ ${operation.result}` : "";
        return { op: event.op, order: "", about: operation.name, value: returns, site: execution.siteName(event) };
      }
      return {
        op: event.op, order: event.order ?? "", about: execution.varName(event),
        value: execution.valueText(event), site: execution.siteName(event),
      };
    }
    if (item.kind === SAID) return { op: `“${item.thing.text}”`, order: "", about: "", value: "", site: "" };
    if (item.kind === DEED) return { op: item.thing.what, order: "", about: "", value: "", site: execution.siteName(item.thing) };
    const { location, offset, size } = item.thing;
    const bytes = offset ? `+${offset}, ${size} B` : `${size} B`;
    return { op: accessName(item.thing), order: "", about: location, value: bytes, site: execution.siteName(item.thing) };
  }

  /** All words of a row in lower case, with its variable's identity, for the search. */
  haystack(item) {
    if (item.haystack === undefined) {
      const { execution } = this;
      const { op, order, about, value, site } = this.words(item);
      const identity = item.kind === EVENT ? execution.identity(execution.events[item.ref]) ?? "" : "";
      item.haystack = [execution.taskName(item.task), op, order, about, value, site, identity].join(" ").toLowerCase();
    }
    return item.haystack;
  }

  /** The row of an item, or, if it is not shown, the next row after it. */
  rowOf(item) {
    let [low, high] = [0, this.shown.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.shown[middle] < item) low = middle + 1; else high = middle;
    }
    return low;
  }

  isShown(item) { return this.shown[this.rowOf(item)] === item; }
}
