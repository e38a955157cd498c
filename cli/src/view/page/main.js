// Everything together: the finding, the selection, and the filters.

class App {
  constructor(contents) {
    this.contents = contents;
    this.choices = contents.reports.flatMap((report) => (report.findings.length
      ? report.findings.map((finding) => ({ report, finding, label: `${finding.kind.replaceAll("_", " ")}: ${finding.message.split("\n", 1)[0]}` }))
      : [{ report, finding: null, label: report.verdict }]));
    const several = contents.reports.length > 1;
    this.choices.forEach((choice, at) => { choice.label = `${at + 1}. ${several ? `${choice.report.program}: ` : ""}${choice.label}`.slice(0, 160); });
    // Failures come first when the page is opened.
    this.chosen = Math.max(0, this.choices.findIndex(({ finding }) => finding && finding.severity !== "warning"));
    this.details = new Details($("details"), this);
    this.tools = new Tools(this);
    this.panes = [];
    this.#followTheme();
    $("help-open").onclick = openHelp;
    listenToKeys(this);
    this.choose(this.chosen);
  }

  #followTheme() {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    theme.apply(dark.matches ? "dark" : "light");
    dark.addEventListener("change", () => { theme.apply(dark.matches ? "dark" : "light"); this.repaint(); });
    $("theme").onclick = () => this.switchTheme();
  }

  switchTheme() { theme.apply(theme.current === "dark" ? "light" : "dark"); this.repaint(); }

  /** Redraws everything whose colours are not the style sheet's. */
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
    this.executions = (finding?.executions ?? []).map((one) => new Execution(one, finding.names));
    const rows = this.executions.reduce((sum, one) => sum + (one.recording.data?.length ?? 0), 0);
    this.filters = { tasks: new Set(), vars: null, switches: false, around: false, cones: false, memory: finding?.kind === "data_race" || rows <= 2000 };
    this.tools.search.value = "";
    // Panes are kept from view to view: their tables were computed once.
    for (const pane of this.all ?? []) pane.remove();
    const [failing, passing] = this.executions;
    this.common = passing ? failing.commonWith(passing) : -1;
    this.all = this.executions.map((execution) => this.#pane(execution, this.common));
    showHead(report, this.choices, at, (chosen) => this.choose(chosen));
    showFinding(report, finding);
    this.setView("failing", { begin: true });
  }

  /** Shows the failing execution, the passing one, or both. */
  setView(view, { begin = false } = {}) {
    if (!begin && (this.executions.length < 2 || view === this.view)) return;
    const selected = begin || !this.active ? -1 : this.active.rows.items[this.active.selected]?.event ?? -1;
    this.view = view;
    const { all, common } = this;
    this.panes = all.length < 2 ? all : { failing: all.slice(0, 1), passing: all.slice(1), both: all }[view];
    this.active = this.panes[0] ?? null;
    const holder = el("div", { class: "panes" }, this.panes.map((pane) => pane.element));
    if (!this.active) holder.append(this.#empty());
    $("executions").replaceChildren(holder);
    $("details").hidden = !this.active;
    for (const pane of this.panes) { pane.arrange(); pane.refilter(this.filters); }
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

  #pane(execution, common) {
    const about = [
      this.executions.length > 1 ? (common > 0 ? `the same up to step ${common}` : "different from the first step on") : "",
      execution.partial ? "as the report lists it" : count(execution.preemptions, "preemption"),
      `${execution.switches.length.toLocaleString("en")} switch${execution.switches.length === 1 ? "" : "es"}`, count(execution.length, "step"),
    ].filter(Boolean).join(" · ");
    const pane = new Pane({
      execution, about, message: this.finding?.message ?? "", title: execution.passes ? "Passing" : "Failing",
      tails: execution.passes ? [] : this.#tails(),
      onSelect: (from, item) => { this.#activate(from); this.select(item); from.scroller.focus({ preventScroll: true }); },
      onScroll: (from) => this.#scrollWith(from),
    });
    pane.partsAt = this.executions.length > 1 && common < execution.length ? common : -1;
    pane.scroller.addEventListener("focus", () => this.#activate(pane));
    return pane;
  }

  /** The text below the last step: the state of each task that did not end. */
  #tails() {
    const { waiting = [], place, tasks = [] } = this.finding;
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
    if (changed) { this.#strip(); this.details.show(pane); this.tools.count(); }
  }

  toOther() {
    const other = this.panes.find((pane) => pane !== this.active);
    if (!other) return;
    this.#activate(other);
    other.scroller.focus({ preventScroll: true });
  }

  /** Both panes show the same steps at the same height, as far as they have the same. */
  #scrollWith(from) {
    for (const pane of this.panes) {
      if (pane === from) continue;
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
    active.cones = this.filters.cones && this.conesPossible() ? active.execution.concerned.slice(-2) : null;
    active.select(item, options);
    const chosen = active.rows.items[item];
    for (const pane of this.panes) {
      if (pane === active || !chosen) continue;
      const same = chosen.kind === EVENT && chosen.ref < pane.execution.length && active.execution.sameStep(pane.execution, chosen.ref);
      pane.cones = null;
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
    this.filters[name] = !this.filters[name];
    this.tools.sync();
    if (name === "cones") this.select(this.active.selected);
    else this.refilter();
  }

  refilter() {
    for (const pane of this.panes) pane.refilter(this.filters);
    this.tools.count();
  }

  /** Takes back every filter, the search and the selection. */
  reset() {
    const { tasks } = this.filters;
    tasks.clear();
    Object.assign(this.filters, { vars: null, switches: false, around: false, cones: false });
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

  hasMemory() { return this.executions.some(({ recording }) => recording.data?.length || recording.said?.length); }

  conesPossible() { return Boolean(this.active) && !this.active.execution.partial && this.active.execution.concerned.length === 2; }

  taskChoices() {
    const { active, filters } = this;
    return active.execution.tasks.map((task, number) => ({
      label: task.label, colour: theme.task(number), on: !filters.tasks.has(number), count: active.execution.eventOf[number].length,
      set: (on) => (on ? filters.tasks.delete(number) : filters.tasks.add(number)),
    }));
  }

  varChoices() {
    const { filters } = this;
    const subjects = new Map();
    for (const pane of this.panes) for (const [name, times] of pane.rows.subjects()) subjects.set(name, Math.max(times, subjects.get(name) ?? 0));
    const all = [...subjects.keys()];
    return all.map((name) => ({
      label: name, on: !filters.vars || filters.vars.has(name), count: subjects.get(name),
      set: (on) => {
        filters.vars ??= new Set(all);
        if (on) filters.vars.add(name); else filters.vars.delete(name);
        // With every variable, steps without one are shown too.
        if (filters.vars.size === all.length) filters.vars = null;
      },
    }));
  }
}

new App(JSON.parse($("contents").textContent));
