// One execution, with look-up tables that are computed once: orders, sets of tasks, switches.

class Execution {
  constructor({ recording, passes, partial, deeds = [] }, names) {
    this.recording = recording;
    this.identities = new Map(Object.entries(names ?? {}).map(([identity, name]) => [name, identity]));
    this.deeds = deeds;
    this.passes = passes;
    this.partial = partial;
    this.events = recording.events;
    this.tasks = recording.tasks.map((task) => ({ ...task, label: task.function ? `${task.name} (${task.function})` : task.name }));
    this.length = recording.events.length;
    this.#order();
    this.#sets();
    this.#lives();
    this.#operations();
    /** The events of stale reads, each after the event of the store that it read. */
    this.staleReads = this.events.flatMap(({ from }, at) => (from === undefined ? [] : [[from, at]]));
  }

  /** Clocks, direct successors, and the events before and after on the same variable. */
  #order() {
    const { events, length } = this;
    const width = this.tasks.length;
    this.clocks = new Int32Array(length * width);
    this.ownBefore = new Int32Array(length).fill(-1);
    this.ownAfter = new Int32Array(length).fill(-1);
    this.varBefore = new Int32Array(length).fill(-1);
    this.varAfter = new Int32Array(length).fill(-1);
    this.successors = new Map();
    this.eventOf = Array.from({ length: width }, () => []);
    const last = new Int32Array(width).fill(-1);
    const lastOfVar = new Map();
    for (let at = 0; at < length; at++) {
      const { task, after = [], var: variable } = events[at];
      const clock = this.clocks.subarray(at * width, (at + 1) * width);
      const own = last[task];
      if (own >= 0) {
        clock.set(this.clocks.subarray(own * width, (own + 1) * width));
        this.ownBefore[at] = own;
        this.ownAfter[own] = at;
      }
      for (const before of after) {
        for (let t = 0; t < width; t++) clock[t] = Math.max(clock[t], this.clocks[before * width + t]);
        if (!this.successors.has(before)) this.successors.set(before, []);
        this.successors.get(before).push(at);
      }
      clock[task] = events[at].index;
      this.eventOf[task].push(at);
      last[task] = at;
      if (variable !== undefined) {
        const before = lastOfVar.get(variable) ?? -1;
        this.varBefore[at] = before;
        if (before >= 0) this.varAfter[before] = at;
        lastOfVar.set(variable, at);
      }
    }
  }

  /** The tasks that could take each step; sets are recorded where they change. */
  #sets() {
    this.sets = [];
    this.setAt = new Int32Array(this.length);
    let enabled = null;
    let disabled = null;
    for (let at = 0; at < this.length; at++) {
      const event = this.events[at];
      if (event.enabled || event.disabled || at === 0) {
        enabled = event.enabled ?? enabled;
        disabled = event.disabled ?? disabled;
        this.sets.push(enabled && { enabled: new Set(enabled), disabled: new Set(disabled ?? []) });
      }
      this.setAt[at] = this.sets.length - 1;
    }
  }

  /** The first and last event of each task; none for a task that never began. */
  #lives() {
    this.life = this.tasks.map((_, task) => {
      const own = this.eventOf[task];
      if (own.length === 0) return [this.length, -1];
      const ended = this.events[own[own.length - 1]].op === "end";
      return [own[0], ended ? own[own.length - 1] : this.length];
    });
    this.concerned = [];
    this.switches = [];
    for (let at = 0; at < this.length; at++) {
      if (this.events[at].concerned) this.concerned.push(at);
      if (this.isSwitch(at)) this.switches.push(at);
    }
    this.preemptions = this.events.reduce((sum, event) => sum + (event.preempts ? 1 : 0), 0);
  }

  /** The operation of each call and return, and the events between which each task is in one. */
  #operations() {
    this.operationAt = new Map();
    this.inside = this.tasks.map(() => []);
    for (const operation of this.recording.operations ?? []) {
      this.operationAt.set(operation.call, operation);
      if (operation.ret !== undefined) this.operationAt.set(operation.ret, operation);
      this.inside[operation.task].push([operation.call, operation.ret ?? this.length]);
    }
  }

  isSwitch(at) { return at > 0 && this.events[at].task !== this.events[at - 1].task; }

  /** Enabled and disabled tasks at a step, or null if that was not recorded. */
  setsAt(at) { return this.sets[this.setAt[at]] ?? null; }

  /** `true` if event `a` comes before event `b` in happens-before. */
  before(a, b) {
    return a !== b && this.clocks[b * this.tasks.length + this.events[a].task] >= this.events[a].index;
  }

  /** The events that come right before this one. */
  predecessors(at) {
    const own = this.ownBefore[at];
    return [...(own >= 0 ? [own] : []), ...(this.events[at].after ?? [])].sort((a, b) => a - b);
  }

  /** The events that come right after this one. */
  successorsOf(at) {
    const own = this.ownAfter[at];
    return [...(own >= 0 ? [own] : []), ...(this.successors.get(at) ?? [])].sort((a, b) => a - b);
  }

  /** The number of events before this one, and after it. */
  cone(at) {
    const width = this.tasks.length;
    let before = -1;
    for (let t = 0; t < width; t++) before += this.clocks[at * width + t];
    let after = 0;
    for (let other = at + 1; other < this.length; other++) if (this.before(at, other)) after++;
    return { before, after };
  }

  taskName(task) { return this.tasks[task].name; }
  varName(event) { return event.var === undefined ? "" : this.recording.vars[event.var].name; }
  /** The variable's identity in JSON, if the source has a name for the variable. */
  identity(event) { return this.identities.get(this.varName(event)); }
  siteName(thing) { return thing.site === undefined || thing.site === null ? "" : this.recording.sites[thing.site]; }
  /** The call stack of an event or access, innermost function first; empty if it is not known. */
  stack(event) { return event?.stack === undefined ? [] : this.recording.stacks[event.stack].map((at) => this.recording.functions[at]); }

  /** The values that an event read and wrote, in a few characters. */
  valueText({ read, written, effect }) {
    const said = effect ? `, ${EFFECTS[effect] ?? effect}` : "";
    if (read === undefined && written === undefined) return said.slice(2);
    if (written === undefined) return `→ ${number(read)}${said}`;
    if (read === undefined) return `= ${number(written)}${said}`;
    return `${number(read)} → ${number(written)}${said}`;
  }

  /** An event in words: `store(Release) atomic 0.1 = 3`. */
  describe(at) {
    const event = this.events[at];
    const operation = this.operationAt.get(at);
    if (operation) return `${event.op} ${operation.name}`;
    const order = event.order ? `(${event.order})` : "";
    return [event.op + order, this.varName(event), this.valueText(event)].filter(Boolean).join(" ");
  }

  /** `true` if this and another execution's event of that number are the same step. */
  sameStep(other, at) {
    const [a, b] = [this.events[at], other.events[at]];
    return a.task === b.task && a.op === b.op && this.varName(a) === other.varName(b) && this.siteName(a) === other.siteName(b);
  }

  /** The number of steps at the beginning that both executions have in common. */
  commonWith(other) {
    const most = Math.min(this.length, other.length);
    let at = 0;
    while (at < most && this.sameStep(other, at)) at++;
    return at;
  }
}

/** The effects of events that are not the usual ones, in words. */
const EFFECTS = { elided: "no effect", stale: "stale", overwritten: "behind a newer store", spurious: "spuriously", reused: "gets freed memory" };

/** A value as it is shown: a decimal number if it is small enough, otherwise hexadecimal. */
const number = (value) => (typeof value === "string" ? value : value < 2 ** 32 ? String(value) : `0x${value.toString(16)}`);
