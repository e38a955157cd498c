// The head, the finding, and the toolbar.

/** Shows the report and its selected finding. */
function showHead(report, choices, chosen, choose) {
  $("program").textContent = $("program").title = report?.program ?? "no report";
  const verdict = report?.verdict ?? "";
  $("verdict").textContent = verdict;
  $("verdict").className = `badge ${{ pass: "good", fail: "bad" }[verdict] ?? "warn"}`;
  const reduction = report?.reduction && report.reduction !== "none" ? ` with ${report.reduction}` : "";
  const search = report && report.strategy !== "replay" ? `${count(report.executions, "execution")} by ${report.strategy}${reduction}: ` : "";
  $("covered").textContent = $("covered").title = report ? search + report.coverage : "";
  $("chooser-label").hidden = choices.length < 2;
  $("chooser").replaceChildren(...choices.map(({ label }, at) => el("option", { value: at, selected: at === chosen }, label)));
  $("chooser").onchange = () => choose(Number($("chooser").value));
}

/** Shows a finding's message and remarks. */
function showFinding(report, finding) {
  const section = $("finding");
  section.className = `finding ${finding ? (finding.severity === "warning" ? "warning" : "") : "none"}`;
  if (!finding) {
    section.replaceChildren(el("div", { class: "finding-line" }, el("span", { class: "badge good" }, "nothing found"),
      el("p", {}, report ? `${report.program}: ${report.coverage}.` : "There is no report in this file.")), more(null, report));
    return;
  }
  const badge = el("span", { class: `badge ${finding.severity === "warning" ? "warn" : "bad"}` }, finding.kind.replaceAll("_", " "));
  section.replaceChildren(el("div", { class: "finding-line" }, badge, message(finding)), more(finding, report));
}

/** A message; its parts as a list. */
function message({ message: text, waiting = [], lines: [head, ...rest] = [] }) {
  if (waiting.length === 0 || rest.length < 2) return el("p", { class: "finding-message" }, text);
  return el("div", { class: "finding-message" }, `${head}:`, el("ul", {}, rest.map((part) => el("li", {}, el("span", {}, part)))));
}

function more(finding, report) {
  const line = el("div", { class: "finding-more" });
  for (const told of finding?.stale_operations ?? []) line.append(el("span", { class: "stale" }, told));
  if (finding?.suggestion) line.append(el("span", { class: "suggestion" }, finding.suggestion));
  if (finding?.monitor && finding.monitor !== "engine") line.append(el("span", {}, `found by the monitor ${finding.monitor}`));
  if (finding?.count > 1) line.append(el("span", {}, `in ${count(finding.count, "execution")}`));
  const command = finding?.replay;
  if (command) {
    const said = el("button", { type: "button", class: "button", onclick: () => copy(command, said) }, "Copy");
    line.append(el("span", { class: "replay" }, "replay it: ", el("code", { title: command }, command), said));
  }
  const notes = [...(finding?.notes ?? []), ...(report?.notes ?? [])];
  if (notes.length) line.append(el("details", { class: "notes" }, el("summary", {}, count(notes.length, "note")), el("ul", {}, notes.map((note) => el("li", {}, note)))));
  return line;
}

function copy(text, button) {
  const done = (word) => { button.textContent = word; setTimeout(() => { button.textContent = "Copy"; }, 1500); };
  // For a page from a file, browsers may refuse the clipboard: the text is then selected, to be copied by hand.
  Promise.resolve(navigator.clipboard?.writeText(text) ?? Promise.reject(new Error("no clipboard")))
    .then(() => done("Copied"))
    .catch(() => { getSelection().selectAllChildren(button.previousElementSibling); done("Selected"); });
}

/** The toolbar. It changes the filters of the active view. */
class Tools {
  constructor(app) {
    this.app = app;
    this.search = el("input", { type: "search", id: "search", placeholder: "Search steps ( / )", "aria-label": "Search steps", oninput: () => app.find(this.search.value) });
    this.search.addEventListener("keydown", (event) => {
      if (event.key === "Enter") { event.preventDefault(); app.nextMatch(event.shiftKey ? -1 : 1); }
      if (event.key === "Escape") { this.search.value = ""; app.find(""); app.active.scroller.focus(); event.stopPropagation(); }
    });
    this.found = el("output", { "aria-live": "polite" });
  }

  /** Builds the toolbar for the current view. */
  build() {
    const { app } = this;
    const toggle = (name, text, key, title) => {
      const button = el("button", { type: "button", class: "button", "aria-pressed": app.active.filters[name], title: `${title} (${key})`, onclick: () => app.toggle(name) }, text);
      button.dataset.filter = name;
      return button;
    };
    if (!app.active) { $("tools").replaceChildren(); $("tools").hidden = true; return; }
    $("tools").hidden = false;
    const parts = [el("div", { class: "search" }, this.search, this.found)];
    parts.push(this.#menu("Tasks", "tasks"), this.#menu("Variables", "vars"), this.#menu("Operations", "kinds"));
    parts.push(el("div", { class: "group" },
      toggle("switches", app.active.execution.partial ? "Switches" : "Switches only", "s", "Only steps at which another task continues, and the finding"),
      toggle("around", "Around the finding", "w", `Only ${AROUND} rows before and after the finding`),
      app.hasMemory() ? toggle("memory", "Plain memory", "d", "Accesses to plain memory, and messages of the test") : null));
    if (app.conesPossible()) parts.push(toggle("cones", "Both pasts", "c", "The steps before each of the two events of the finding"));
    parts.push(el("span", { class: "grow" }), this.#executions(), this.#views());
    $("tools").replaceChildren(...parts);
    this.count();
  }

  #menu(title, name) {
    const { app } = this;
    const choices = app.filterChoices(name);
    const off = choices.filter((choice) => !choice.on).length;
    const summary = el("summary", { class: "button", "aria-pressed": off > 0 }, off ? `${title}: ${choices.length - off} of ${choices.length}` : title);
    const all = (on) => { choices.forEach((choice) => choice.set(on)); app.refilter(); sync(); };
    const boxes = choices.map((choice) => el("input", { type: "checkbox", checked: choice.on, onchange: (event) => { choice.set(event.target.checked); app.refilter(); sync(); } }));
    const sync = () => {
      const now = app.filterChoices(name);
      now.forEach((choice, at) => { boxes[at].checked = choice.on; });
      const left = now.filter((choice) => choice.on).length;
      summary.textContent = left < now.length ? `${title}: ${left} of ${now.length}` : title;
      summary.setAttribute("aria-pressed", left < now.length);
    };
    return el("details", { class: "menu", id: `menu-${name}` }, summary, el("div", { class: "menu-list" },
      el("div", { class: "menu-head" }, el("button", { type: "button", class: "button", onclick: () => all(true) }, "All"), el("button", { type: "button", class: "button", onclick: () => all(false) }, "None")),
      choices.length ? choices.map((choice, at) => el("label", {}, boxes[at], choice.colour ? el("span", { class: "dot", style: `background:${choice.colour};flex:none` }) : "",
        el("span", { title: choice.label, style: "flex:1" }, choice.label), el("span", { class: "count" }, choice.count.toLocaleString("en")))) : el("p", { class: "quiet" }, "There are none.")));
  }

  #executions() {
    const { app } = this;
    if (app.executions.length < 2) return el("span", { class: "quiet" }, app.executions[0]?.passes === false && !app.executions[0].partial ? "no passing execution near" : "");
    const choice = (view, text, key) => el("button", { type: "button", class: "button", "aria-pressed": app.view === view, title: `${text} (${key})`, onclick: () => app.setView(view) }, text);
    return el("div", { class: "group", role: "group", "aria-label": "Executions shown" },
      choice("failing", "Failing", "1"), choice("both", "Side by side", "2"), choice("passing", "Passing", "3"));
  }

  /** The views that can be opened next to those that are. */
  #views() {
    const { app } = this;
    const views = app.possibleViews();
    const add = ({ at, number, label }) => el("button", { type: "button", class: "button", title: label, onclick: () => app.addView(at, number) }, label);
    return el("details", { class: "menu", id: "menu-views" }, el("summary", { class: "button" }, "Add a view"), el("div", { class: "menu-list views" }, views.map(add)));
  }

  /** Shows which toggles are on. */
  sync() {
    for (const button of $("tools").querySelectorAll("[data-filter]")) button.setAttribute("aria-pressed", this.app.active.filters[button.dataset.filter]);
  }

  /** Shows how many steps the search found, or how many are visible. */
  count() {
    const { active } = this.app;
    const { matches, rows, selected } = active;
    if (this.search.value) {
      const list = [...matches];
      const at = list.indexOf(selected);
      this.found.textContent = list.length ? `${at >= 0 ? (at + 1).toLocaleString("en") : "–"} of ${list.length.toLocaleString("en")}` : "not found";
    } else {
      this.found.textContent = rows.shown.length < rows.items.length ? `${rows.shown.length.toLocaleString("en")} shown` : count(active.execution.length, "step");
    }
  }
}
