// The page as a whole: the finding, the selection, and the filters.

class App {
  constructor(contents) {
    this.contents = contents;
    this.choices = contents.reports.flatMap((report) => (report.findings.length
      ? report.findings.map((finding) => ({ report, finding, label: `${finding.kind.replaceAll("_", " ")}: ${finding.message.split("\n", 1)[0]}` }))
      : [{ report, finding: null, label: report.verdict }]));
    const several = contents.reports.length > 1;
    this.choices.forEach((choice, at) => { choice.label = `${at + 1}. ${several ? `${choice.report.program}: ` : ""}${choice.label}`.slice(0, 160); });
    // The page opens with a failure, if there is one.
    this.chosen = Math.max(0, this.choices.findIndex(({ finding }) => finding && finding.severity !== "warning"));
    this.details = new Details($("details"), this);
    this.tools = new Tools(this);
    this.panes = [];
    this.#followTheme();
    $("help-open").onclick = openHelp;
    // For a directory of reports, the list of tests comes first.
    const isDirectory = contents.reports.some(({ view }) => view);
    $("tests-open").hidden = !isDirectory && contents.reports.length < 2;
    $("tests-open").onclick = () => openTests(this);
    listenToKeys(this);
    this.choose(this.chosen);
    if (isDirectory) openTests(this);
  }

  #followTheme() {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    theme.apply(dark.matches ? "dark" : "light");
    dark.addEventListener("change", () => { theme.apply(dark.matches ? "dark" : "light"); this.repaint(); });
    $("theme").onclick = () => this.switchTheme();
  }

  switchTheme() { theme.apply(theme.current === "dark" ? "light" : "dark"); this.repaint(); }

  /** Redraws everything whose colours are not set by the style sheet. */
  repaint() {
    for (const pane of this.panes) { pane.arrange(); pane.draw(); }
    this.#strip();
    if (this.active) this.details.show(this.active);
    this.tools.build();
  }

  /** Shows a finding. */
  choose(at) {
    this.chosen = at;
    const { report, finding } = this.choices[at] ?? { report: null, finding: null };
    Object.assign(this, { report, finding });
    this.executions = this.#executionsOf(at);
    this.tools.search.value = "";
    // Panes are kept from view to view: their tables were computed once.
    for (const pane of [...this.all ?? [], ...this.added ?? []]) pane.remove();
    const [failing, passing] = this.executions;
    this.common = passing ? failing.commonWith(passing) : -1;
    // The two views of a finding share their filters, and each added view has its own.
    const filters = this.#filters(at);
    this.all = this.executions.map((execution) => this.#pane(at, execution, filters));
    this.added = [];
    showHead(report, this.choices, at, (chosen) => this.choose(chosen));
    showFinding(report, finding);
    this.setView("failing", { begin: true });
  }

  /** The executions of a finding, with their tables. */
  #executionsOf(at) {
    this.tables ??= new Map();
    if (!this.tables.has(at)) {
      const finding = this.choices[at]?.finding;
      this.tables.set(at, (finding?.executions ?? []).map((one) => new Execution(one, finding.names)));
    }
    return this.tables.get(at);
  }

  /** The filters with which views of a finding's executions begin. */
  #filters(at) {
    const rows = this.#executionsOf(at).reduce((sum, one) => sum + (one.recording.data?.length ?? 0), 0);
    const memory = this.choices[at]?.finding?.kind === "data_race" || rows <= 2000;
    return { tasks: new Set(), vars: null, kinds: null, switches: false, around: false, cones: false, memory };
  }

  /** The executions of all findings, of which views can be added. */
  possibleViews() {
    return this.choices.flatMap(({ finding, label }, at) => (finding?.executions ?? []).map(({ passes }, number) => (
      { at, number, label: `${at === this.chosen ? "This finding" : label}, ${passes ? "passing" : "failing"}` })));
  }

  /** Opens one more view next to the others: of an execution of a finding, or of the active view's. */
  addView(at = this.active.at, number = this.#executionsOf(at).indexOf(this.active.execution)) {
    const pane = this.#pane(at, this.#executionsOf(at)[number], this.#filters(at), true);
    const { active } = this;
    this.added.push(pane);
    this.#arrange();
    const event = active.execution === pane.execution ? active.rows.items[active.selected]?.event ?? -1 : -1;
    this.#activate(pane);
    if (event >= 0) this.selectEvent(event);
    else this.select(pane.rows.concerned.at(-1) ?? pane.rows.items.length - 1, { centre: true });
    pane.scroller.focus({ preventScroll: true });
  }

  /** Closes a view that was added. */
  closeView(pane) {
    if (!this.added.includes(pane)) return;
    const next = this.active === pane ? this.panes[this.panes.indexOf(pane) - 1] : this.active;
    this.added = this.added.filter((other) => other !== pane);
    pane.remove();
    this.#arrange();
    this.active = null;
    this.#activate(next);
    next.scroller.focus({ preventScroll: true });
  }

  /** Shows the views next to each other: those of the finding, and those that were added. */
  #arrange() {
    const { all, view } = this;
    const own = all.length < 2 ? all : { failing: all.slice(0, 1), passing: all.slice(1), both: all }[view];
    this.panes = [...own, ...this.added];
    const holder = el("div", { class: "panes" }, this.panes.map((pane) => pane.element));
    if (this.panes.length === 0) holder.append(this.#empty());
    $("executions").replaceChildren(holder);
    for (const pane of this.panes) { pane.arrange(); pane.refilter(); }
  }

  /** Shows the failing execution, the passing one, or both. */
  setView(view, { begin = false } = {}) {
    if (!begin && (this.executions.length < 2 || view === this.view)) return;
    const selected = begin || !this.active ? -1 : this.active.rows.items[this.active.selected]?.event ?? -1;
    this.view = view;
    const { common } = this;
    this.#arrange();
    this.active = this.panes[0] ?? null;
    $("details").hidden = !this.active;
    this.#strip();
    this.tools.build();
    if (!this.active) return;
    this.#activate(this.active);
    const { rows, execution } = this.active;
    // Side by side, it shows the step at which they diverge; otherwise the finding, or the previous selection.
    const event = view === "both" ? common : selected;
    if (event >= 0) this.selectEvent(Math.min(event, execution.length - 1), { centre: true });
    else this.select(rows.concerned.at(-1) ?? rows.items.length - 1, { centre: true });
    this.active.scroller.focus({ preventScroll: true });
  }

  #pane(at, execution, filters, isAdded = false) {
    const { common } = this;
    const { finding, label } = this.choices[at];
    const isOther = at !== this.chosen;
    const parts = !isOther && this.executions.length > 1;
    const about = [
      isOther ? label : parts ? (common > 0 ? `the same up to step ${common}` : "different from the first step on") : "",
      execution.partial ? "as the report lists it" : count(execution.preemptions, "preemption"),
      `${execution.switches.length.toLocaleString("en")} switch${execution.switches.length === 1 ? "" : "es"}`, count(execution.length, "step"),
    ].filter(Boolean).join(" · ");
    const pane = new Pane({
      at, finding, execution, filters, about, title: execution.passes ? "Passing" : "Failing",
      tails: execution.passes ? [] : this.#tails(finding),
      onClose: isAdded ? (from) => this.closeView(from) : null,
      onSelect: (from, item) => { this.#activate(from); this.select(item); from.scroller.focus({ preventScroll: true }); },
      onScroll: (from) => this.#scrollWith(from),
    });
    pane.partsAt = parts && common < execution.length ? common : -1;
    pane.scroller.addEventListener("focus", () => this.#activate(pane));
    return pane;
  }

  /** The text below the last step: the state of each task that did not end. */
  #tails({ waiting = [], place, tasks = [] }) {
    const held = ({ held_by: by, task }) => (by ? `, held by ${by === task ? "itself" : by}` : "");
    const tails = waiting.map((one) => ({ task: one.task, head: "waits for ever:", text: `${one.op} ${one.var ?? ""}${held(one)}` }));
    if (place && tasks.length) tails.push({ task: tasks[0], head: "panicked", text: `at ${shortSite(place)}` });
    return tails;
  }

  #empty() {
    const { report, finding } = this;
    const text = !report ? ["No report", "The file has none."]
      : !finding ? ["Nothing was found", `${count(report.executions, "execution")}; ${report.coverage}. There is no failing execution to show.`]
        : ["No events", "The report has no events of this finding: it is about the whole exploration, or about what no execution shows."];
    return el("p", { class: "empty" }, el("strong", {}, text[0]), text[1]);
  }

  /** The operations of the active pane, if it has any. */
  #strip() {
    this.strip?.remove();
    this.strip = this.active && operationStrip(this.active.execution, (event) => this.selectEvent(event, { centre: true }));
    if (this.strip) $("executions").prepend(this.strip);
    this.#markOperations();
  }

  #markOperations() {
    const { active } = this;
    const item = active?.rows.items[active.selected];
    if (item) markOperations(this.strip, item.task, item.at);
  }

  #activate(pane) {
    const changed = this.active !== pane;
    this.active = pane;
    for (const other of this.panes) other.element.classList.toggle("active", other === pane);
    if (changed) { this.#strip(); this.details.show(pane); this.tools.build(); }
  }

  toOther() {
    const other = this.panes[(this.panes.indexOf(this.active) + 1) % this.panes.length];
    if (other === this.active) return;
    this.#activate(other);
    other.scroller.focus({ preventScroll: true });
  }

  /** Views of one finding show their common steps at the same height. */
  #scrollWith(from) {
    for (const pane of this.panes) {
      if (pane === from || pane.at !== from.at) continue;
      const row = Math.floor(from.scroller.scrollTop / ROW);
      const item = from.rows.items[from.rows.shown[Math.min(row, from.rows.shown.length - 1)]];
      if (!item || pane.execution.length === 0) continue;
      const at = Math.min(item.at, pane.execution.length - 1);
      pane.scrollSilently(pane.rows.rowOf(pane.rows.itemOfEvent[at]) * ROW + (from.scroller.scrollTop % ROW), from.scroller.scrollLeft);
      pane.redraw();
    }
  }

  select(item, options = {}) {
    const { active } = this;
    if (!active || item === undefined) return;
    active.cones = active.filters.cones && this.conesPossible() ? active.execution.concerned.slice(-2) : null;
    active.select(item, options);
    const chosen = active.rows.items[item];
    for (const pane of this.panes) {
      if (pane === active || pane.at !== active.at || !chosen) continue;
      pane.cones = null;
      if (pane.execution === active.execution) {
        pane.selectSilently(item, options);
        continue;
      }
      const same = chosen.kind === EVENT && chosen.ref < pane.execution.length && active.execution.sameStep(pane.execution, chosen.ref);
      pane.selected = same ? pane.rows.itemOfEvent[chosen.ref] : -1;
      pane.draw();
    }
    this.details.show(active);
    this.#markOperations();
    this.tools.count();
    if (chosen) {
      const { op, about, value } = active.rows.words(chosen);
      const sets = chosen.kind === EVENT && active.execution.events[chosen.ref].preempts ? ", a preemption" : "";
      $("spoken").textContent = `${active.execution.taskName(chosen.task)}: ${op} ${about} ${value}${sets}${chosen.concerned ? ", the finding" : ""}`;
    }
  }

  selectEvent(event, options = { centre: true }) {
    if (event >= 0 && this.active) this.select(this.active.rows.itemOfEvent[event], options);
  }

  /** To the next step in this direction: any, or one at a `switch`, at a `preemption`, or of the same `task`. */
  step(direction, kind) {
    const { active } = this;
    const { execution } = active;
    const task = active.rows.items[active.selected]?.task;
    const test = {
      switch: (item) => item.kind === EVENT && execution.isSwitch(item.ref),
      preemption: (item) => item.kind === EVENT && execution.events[item.ref].preempts,
      task: (item) => item.task === task,
    }[kind];
    const next = active.next(direction, test);
    if (next >= 0) this.select(next);
  }

  toFinding() {
    const { active } = this;
    const about = active.rows.concerned.filter((at) => active.rows.isShown(at));
    if (about.length === 0) { if (!active.execution.passes) this.toEnd(1); return; }
    const later = about.find((at) => at > active.selected);
    this.select(later ?? about[0], { centre: true });
  }

  alongOrder(direction) {
    const { active } = this;
    const event = active.rows.items[active.selected]?.event ?? -1;
    if (event < 0) return;
    const { execution } = active;
    const near = direction < 0 ? execution.predecessors(event) : execution.successorsOf(event);
    const own = execution.events[event].task;
    const other = near.filter((at) => execution.events[at].task !== own);
    this.selectEvent(direction < 0 ? other.at(-1) ?? -1 : other[0] ?? -1);
  }

  toEnd(direction) {
    const { shown } = this.active.rows;
    if (shown.length) this.select(shown[direction > 0 ? shown.length - 1 : 0]);
  }

  page(direction) {
    const { rows, scroller, selected } = this.active;
    const step = Math.max(1, Math.floor((scroller.clientHeight - HEAD) / ROW) - 2);
    const row = Math.min(rows.shown.length - 1, Math.max(0, rows.rowOf(Math.max(0, selected)) + direction * step));
    if (rows.shown.length) this.select(rows.shown[row]);
  }

  toggle(name) {
    const { filters } = this.active;
    filters[name] = !filters[name];
    this.tools.sync();
    if (name === "cones") this.select(this.active.selected);
    else this.refilter();
  }

  refilter() {
    for (const pane of this.panes) if (pane.filters === this.active.filters) pane.refilter();
    this.tools.count();
  }

  /** Clears every filter of the active view, the search and the selection. */
  reset() {
    const { filters } = this.active;
    filters.tasks.clear();
    Object.assign(filters, { vars: null, kinds: null, switches: false, around: false, cones: false });
    this.tools.search.value = "";
    for (const pane of this.panes) { pane.matches = new Set(); pane.cones = null; pane.selected = -1; }
    this.refilter();
    this.tools.build();
    this.details.nothing();
    this.#markOperations();
  }

  find(text) {
    const wanted = text.trim().toLowerCase();
    for (const pane of this.panes) {
      const { rows } = pane;
      pane.matches = new Set(wanted ? rows.shown.filter((at) => rows.haystack(rows.items[at]).includes(wanted)) : []);
      pane.minimap.repaint();
      pane.draw();
    }
    this.tools.count();
  }

  nextMatch(direction) {
    const { active } = this;
    const list = [...active.matches];
    if (list.length === 0) return;
    const next = direction > 0 ? list.find((at) => at > active.selected) ?? list[0] : list.findLast((at) => at < active.selected) ?? list.at(-1);
    this.select(next, { centre: true });
  }

  hasMemory() { return this.#executionsOf(this.active.at).some(({ recording }) => recording.data?.length || recording.said?.length); }

  conesPossible() { return Boolean(this.active) && !this.active.execution.partial && this.active.execution.concerned.length === 2; }

  /** The choices of a filter of the active view: of its tasks, its variables (`vars`) or its kinds of operation. */
  filterChoices(name) {
    const { active } = this;
    const { filters, execution } = active;
    if (name === "tasks") {
      return execution.tasks.map((task, number) => ({
        label: task.label, colour: theme.task(number), on: !filters.tasks.has(number), count: execution.eventOf[number].length,
        set: (on) => (on ? filters.tasks.delete(number) : filters.tasks.add(number)),
      }));
    }
    const counts = new Map();
    for (const { rows, filters: others } of this.panes) {
      if (others !== filters) continue;
      const counted = rows.counted((item) => (name === "vars" ? rows.subject(item) : rows.kind(item)));
      for (const [label, times] of counted) counts.set(label, Math.max(times, counts.get(label) ?? 0));
    }
    const all = [...counts.keys()];
    return all.map((label) => ({
      label, on: !filters[name] || filters[name].has(label), count: counts.get(label),
      set: (on) => {
        filters[name] ??= new Set(all);
        if (on) filters[name].add(label); else filters[name].delete(label);
        // With every variable, steps without one are shown too.
        if (filters[name].size === all.length) filters[name] = null;
      },
    }));
  }
}

new App(JSON.parse($("contents").textContent));
