// The actions of the keys, and their help.

/** Keys, their names in the help, and their actions on `app`. */
const KEYS = [
  { keys: ["j", "ArrowDown"], shown: "j ↓", does: "the next step", run: (app) => app.step(1) },
  { keys: ["k", "ArrowUp"], shown: "k ↑", does: "the step before", run: (app) => app.step(-1) },
  { keys: ["n"], shown: "n", does: "the next switch of tasks", run: (app) => app.step(1, "switch") },
  { keys: ["p"], shown: "p", does: "the switch before", run: (app) => app.step(-1, "switch") },
  { keys: ["N"], shown: "N", does: "the next preemption", run: (app) => app.step(1, "preemption") },
  { keys: ["P"], shown: "P", does: "the preemption before", run: (app) => app.step(-1, "preemption") },
  { keys: ["f"], shown: "f", does: "the finding; again for its next step", run: (app) => app.toFinding() },
  { keys: ["J"], shown: "J", does: "the next step of the same task", run: (app) => app.step(1, "task") },
  { keys: ["K"], shown: "K", does: "its step before", run: (app) => app.step(-1, "task") },
  { keys: ["["], shown: "[", does: "the step right before, in another task", run: (app) => app.alongOrder(-1) },
  { keys: ["]"], shown: "]", does: "the step right after, in another task", run: (app) => app.alongOrder(1) },
  { keys: ["g", "Home"], shown: "g Home", does: "the first step", run: (app) => app.toEnd(-1) },
  { keys: ["G", "End"], shown: "G End", does: "the last step", run: (app) => app.toEnd(1) },
  { keys: ["PageDown"], shown: "PgDn", does: "a page down", run: (app) => app.page(1) },
  { keys: ["PageUp"], shown: "PgUp", does: "a page up", run: (app) => app.page(-1) },
  { keys: ["/"], shown: "/", does: "search; Enter and Shift+Enter go through the results", run: (app) => app.tools.search.focus() },
  { keys: ["s"], shown: "s", does: "switches only", run: (app) => app.toggle("switches") },
  { keys: ["w"], shown: "w", does: "only around the finding", run: (app) => app.toggle("around") },
  { keys: ["d"], shown: "d", does: "plain memory", run: (app) => app.hasMemory() && app.toggle("memory") },
  { keys: ["c"], shown: "c", does: "both pasts of a finding with two events", run: (app) => app.conesPossible() && app.toggle("cones") },
  { keys: ["1"], shown: "1 2 3", does: "the failing execution, both, the passing one", run: (app) => app.setView("failing") },
  { keys: ["2"], run: (app) => app.setView("both") },
  { keys: ["3"], run: (app) => app.setView("passing") },
  { keys: ["x"], shown: "x", does: "the next view", run: (app) => app.toOther() },
  { keys: ["v"], shown: "v", does: "one more view of this execution, with filters of its own", run: (app) => app.addView() },
  { keys: ["Delete"], shown: "Delete", does: "close this view, if it was added", run: (app) => app.closeView(app.active) },
  { keys: ["T"], shown: "T", does: "all tests of the reports", run: (app) => openTests(app) },
  { keys: ["t"], shown: "t", does: "dark or light", run: (app) => app.switchTheme() },
  { keys: ["Escape"], shown: "Esc", does: "all steps, nothing selected", run: (app) => app.reset() },
  { keys: ["?"], shown: "?", does: "this help", run: () => openHelp() },
];

function listenToKeys(app) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || $("help").open || $("tests").open) return;
    const { target } = event;
    const types = target.matches?.("input[type=search], select, textarea");
    const scrolls = target.matches?.("pre, .details, summary, button, input") && ["ArrowDown", "ArrowUp", "Home", "End", "PageDown", "PageUp"].includes(event.key);
    if (types || scrolls) return;
    const known = KEYS.find(({ keys }) => keys.includes(event.key));
    if (!known || (!app.active && !["t", "T", "?"].includes(event.key))) return;
    event.preventDefault();
    if (event.key === "Escape") document.querySelectorAll(".menu[open]").forEach((menu) => menu.removeAttribute("open"));
    known.run(app);
  });
  document.addEventListener("mousedown", (event) => {
    for (const menu of document.querySelectorAll(".menu[open]")) if (!menu.contains(event.target)) menu.removeAttribute("open");
  });
}

function openHelp() {
  const dialog = $("help");
  const rows = KEYS.filter(({ shown }) => shown).flatMap(({ shown, does }) => [
    el("dt", {}, shown.split(" ").flatMap((key) => [el("kbd", {}, key), " "])), el("dd", {}, does)]);
  const half = Math.ceil(rows.length / 4) * 2;
  const sign = (style, text) => [el("dt", {}, el("span", { class: "sign", style })), el("dd", {}, text)];
  const signs = [
    ...sign("background:linear-gradient(var(--text-2),var(--text-2)) center/3px 100% no-repeat", "a thick line: the task runs"),
    ...sign("background:repeating-linear-gradient(var(--blocked) 0 2px,transparent 2px 6px) center/2px 100% no-repeat", "a dotted line: it cannot continue"),
    ...sign("background:var(--warn-soft);box-shadow:inset 0 0 0 1px var(--warn)", "a preemption: the task before could have continued"),
    ...sign("border-top:2px dashed var(--warn);height:0", "from a store to a load that read it although a newer one was there"),
    ...sign("background:var(--bad-soft);box-shadow:inset 0 0 0 1.5px var(--bad)", "the finding is about this step"),
    ...sign("background:var(--before)", "comes before the selected step"),
    ...sign("background:var(--after)", "comes after it; the others could have happened in another order"),
  ];
  dialog.replaceChildren(
    el("div", { class: "help-head" }, el("h2", { id: "help-title" }, "Keys and signs"),
      el("button", { type: "button", class: "button", onclick: () => dialog.close(), autofocus: true }, "Close")),
    el("div", { class: "help-grid" },
      el("div", {}, el("h3", {}, "Moving around"), el("dl", {}, rows.slice(0, half))),
      el("div", {}, el("h3", {}, "Display"), el("dl", {}, rows.slice(half)), el("h3", {}, "Signs"), el("dl", {}, signs))));
  dialog.showModal();
}
