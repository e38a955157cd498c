// The panel about the selected step: its operation, its source, the tasks that could continue, the steps before and after it.

/** The number of steps shown of a long list. */
const LISTED = 8;

class Details {
  /** `app` has the sources by file and the finding, and selects events. */
  constructor(element, app) {
    Object.assign(this, { element, app });
  }

  /** Shows the text for an empty selection. */
  nothing() {
    this.element.replaceChildren(el("p", { class: "empty" }, el("strong", {}, "No step is selected"),
      "Click one, or press ", el("kbd", {}, "f"), " for the finding and ", el("kbd", {}, "j"), " for the next step."));
  }

  show(pane) {
    const { rows, execution, selected, cones } = pane;
    if (selected < 0) { this.nothing(); return; }
    const item = rows.items[selected];
    const { op, order, about, value } = rows.words(item);
    const thing = item.kind === EVENT ? execution.events[item.ref] : item.thing;
    // The place of a panic is more useful than that of the task's last operation.
    const panicked = item.concerned && !execution.passes && pane.finding.place;
    const site = panicked || execution.siteName(thing);
    this.element.replaceChildren(...[
      el("p", { class: "where" }, this.#dot(item.task), el("span", {}, execution.taskName(item.task)),
        el("span", { class: "quiet" }, item.kind === EVENT ? `· step ${item.ref + 1} of ${execution.length}` : "· between steps")),
      el("h2", {}, [op, order && `(${order})`, about].filter(Boolean).join(" "), value ? el("span", { class: "quiet mono" }, ` ${value}`) : ""),
      this.#facts(execution, item, thing),
      this.#source(site, panicked),
      this.#sets(execution, item),
      item.kind === EVENT ? this.#stores(execution, thing) : null,
      execution.partial ? this.#partial() : cones ? this.#cones(pane) : this.#order(execution, item),
      item.kind === EVENT ? this.#sameVariable(execution, item.ref) : null,
      this.#callers(execution, thing),
    ].filter(Boolean));
  }

  #dot(task) { return el("span", { class: "dot", style: `background:${theme.task(task)}` }); }

  #facts(execution, item, thing) {
    const facts = [];
    const [innermost] = execution.stack(thing);
    const inFunction = () => { if (innermost) facts.push(["function", shortPath(innermost.name)]); };
    if (item.kind === EVENT) {
      facts.push(["event", `${thing.task}.${thing.index}`]);
      inFunction();
      const identity = execution.identity(thing);
      if (identity) facts.push(["variable", identity]);
      if (thing.read !== undefined) facts.push(["read", number(thing.read)]);
      if (thing.written !== undefined) facts.push(["written", number(thing.written)]);
      if (execution.isSwitch(item.ref)) {
        const before = execution.taskName(execution.events[item.ref - 1].task);
        facts.push(["switch", thing.preempts ? `preempts ${before}` : `from ${before}`]);
      }
    } else if (item.kind === DATA) {
      facts.push(["access", accessName(thing)], ["bytes", `${thing.size} from ${thing.offset}`]);
      inFunction();
    }
    if (item.concerned) facts.push(["finding", "is about this step"]);
    return el("dl", { class: "facts" }, facts.flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, text)]));
  }

  #source(site, panicked) {
    return el("section", {}, panicked ? el("h3", {}, "The panic") : null, this.#lines(site));
  }

  /** The source around a place. */
  #lines(site) {
    const parts = /^(.*):(\d+):(\d+)$/.exec(site);
    const box = (name, inside) => el("div", { class: "source" },
      el("div", { class: "source-name", title: name }, el("bdi", {}, name)), inside);
    if (!parts) return box("no place in the source", el("p", { class: "none" }, "The beginning and the end of the test's own body have none."));
    const [, file, lineText] = parts;
    const line = Number(lineText);
    const source = this.app.contents.sources[file];
    if (!source?.lines) return box(site, el("p", { class: "none" }, source?.missing ?? `${file} is not in this page`));
    const numbers = Object.keys(source.lines).map(Number).filter((at) => Math.abs(at - line) <= 3);
    const indent = Math.min(...numbers.map((at) => source.lines[at]).filter((text) => text.trim()).map((text) => text.length - text.trimStart().length));
    return box(site, el("pre", { tabindex: "0", "aria-label": `Source around ${site}` }, numbers.map((at) =>
      el("span", { class: `line${at === line ? " here" : ""}` }, el("span", {}, at), ...paint(source.lines[at].slice(Number.isFinite(indent) ? indent : 0))))));
  }

  #sets(execution, item) {
    const sets = execution.length > 0 ? execution.setsAt(Math.min(item.at, execution.length - 1)) : null;
    const title = el("h3", {}, "Tasks that could take this step ");
    if (!sets) return el("section", {}, title, el("p", { class: "quiet" }, "Not in this report."));
    const chip = (task, name) => el("span", { class: `chip ${name} ${task === item.task ? "took" : ""}`, title: `${execution.taskName(task)}: ${name}` },
      this.#dot(task), el("span", {}, execution.taskName(task)));
    const disabled = [...sets.disabled];
    return el("section", {}, title, el("div", { class: "chips" }, [...sets.enabled].map((task) => chip(task, "enabled"))),
      el("h3", { style: "margin-top:8px" }, "Tasks that could not "),
      el("div", { class: "chips" }, disabled.length ? disabled.map((task) => chip(task, "disabled")) : el("span", { class: "quiet" }, "no task")));
  }

  #partial() {
    return el("section", {}, el("h3", {}, "Before and after"),
      el("p", { class: "quiet" }, "This report has no recording of the execution: it lacks the happens-before order, the tasks that could continue, and the preemptions. ",
        el("code", {}, "cargo intermezzo replay … --view page.html"), " makes a page that has."));
  }

  #order(execution, { event }) {
    if (event < 0) return null;
    const { before, after } = execution.cone(event);
    const beside = execution.length - 1 - before - after;
    const list = (events, colour, title, about) => el("section", {},
      el("h3", {}, el("span", { class: `swatch ${colour}` }), title, el("span", { class: "quiet" }, about)), this.#links(execution, events));
    return el("div", {},
      list(execution.predecessors(event), "before", "Comes right before", `${before} in all, ${beside} unordered`),
      list(execution.successorsOf(event), "after", "Comes right after", `${after} in all`));
  }

  #cones({ execution, cones }) {
    const line = (colour, text, event) => el("p", { class: "where" }, el("span", { class: `swatch ${colour}` }), el("span", {}, text), event === undefined ? "" : el("span", { class: "quiet" }, `· step ${event + 1}`));
    const ordered = execution.before(...cones) || execution.before(cones[1], cones[0]);
    return el("section", {}, el("h3", {}, "The pasts of the two events of the finding"),
      line("before", `before ${execution.taskName(execution.events[cones[0]].task)}'s only`, cones[0]),
      line("after", `before ${execution.taskName(execution.events[cones[1]].task)}'s only`, cones[1]),
      el("p", { class: "quiet" }, "Steps in both colours come before both. ", ordered
        ? "In the order of this execution's schedule, one of the two comes before the other; the memory model promises less."
        : "Neither comes before the other."));
  }

  /** The store that a stale operation read, and the newer ones that it passed over. */
  #stores(execution, { effect, from, newer = [] }) {
    if (newer.length === 0) return null;
    const read = effect === "overwritten" ? null : el("section", {},
      el("h3", {}, el("span", { class: "swatch stale" }), "Reads the old value of "),
      from === undefined ? el("p", { class: "quiet" }, "no store: it was there before any") : this.#links(execution, [from]));
    return el("div", { class: "stores" }, read,
      el("section", {}, el("h3", {}, read ? "Passes over the newer values of " : "Takes its place before the newer values of "), this.#links(execution, newer)));
  }

  #links(execution, events, why = () => "") {
    if (events.length === 0) return el("p", { class: "quiet" }, "none");
    const shown = events.slice(0, LISTED);
    const more = events.length - shown.length;
    return el("ul", { class: "links" }, shown.map((event) => el("li", {}, el("button", { type: "button", onclick: () => this.app.selectEvent(event) },
      el("span", { class: "step" }, event + 1), this.#dot(execution.events[event].task),
      el("span", { class: "what", title: execution.describe(event) }, execution.describe(event)), el("span", { class: "why" }, why(event))))),
      more > 0 ? el("li", { class: "quiet" }, `and ${more} more`) : null);
  }

  #sameVariable(execution, event) {
    const near = [execution.varBefore[event], execution.varAfter[event]].filter((at) => at >= 0);
    if (near.length === 0) return null;
    return el("section", {}, el("h3", {}, `The same variable, ${execution.varName(execution.events[event])}`),
      this.#links(execution, near, (other) => (other < event ? "the time before" : "the time after")));
  }

  /** The call stack, from the caller of the function with the step. */
  #callers(execution, thing) {
    const callers = execution.stack(thing).slice(1);
    if (callers.length === 0) return null;
    return el("section", {}, el("h3", {}, "Called by"), callers.map(({ name, site }) => {
      const place = execution.recording.sites[site];
      const caller = el("details", { class: "caller" }, el("summary", {}, el("span", { class: "mono", title: name }, shortPath(name)), el("span", { class: "quiet" }, place.replace(/:\d+$/, ""))));
      caller.addEventListener("toggle", () => { if (caller.open && caller.children.length === 1) caller.append(this.#lines(place)); });
      return caller;
    }));
  }
}

/** A function's path without the modules of types, and with one module if it is in no type: `Ring::push`, `tests::drain`. */
const shortPath = (name) => name.replace(/(?:\w+::)+(?=[A-Z]\w*)/g, "").replace(/^(?:[a-z_]\w*::)+(?=[a-z_]\w*::[a-z_]\w*$)/, "");

/** A line of Rust, with its words, texts and comments in different colours. */
function paint(line) {
  const pattern = /(\/\/.*$)|("(?:[^"\\]|\\.)*")|\b(as|async|await|const|else|enum|fn|for|if|impl|in|let|loop|match|move|mut|pub|ref|return|self|static|struct|trait|true|false|unsafe|use|while)\b/g;
  const parts = [];
  let from = 0;
  for (const found of line.matchAll(pattern)) {
    parts.push(line.slice(from, found.index), el("span", { class: found[1] ? "c" : found[2] ? "s" : "k" }, found[0]));
    from = found.index + found[0].length;
  }
  parts.push(line.slice(from));
  return parts;
}
