// The list of tests: each with its verdict and findings, and with the commands that run, replay and view it.

/** The order of verdicts: those that need attention come first. */
const VERDICTS = ["fail", "inconclusive", "pass"];

/** Opens the list of all tests of the reports. Choosing one, or one of its findings, shows it. */
function openTests(app) {
  const { reports } = app.contents;
  const dialog = $("tests");
  const go = (at) => { dialog.close(); app.choose(at); };
  const rank = ({ verdict }) => (VERDICTS.includes(verdict) ? VERDICTS.indexOf(verdict) : 1);
  const rows = [...reports].sort((a, b) => rank(a) - rank(b)).map((report) => ({ report, element: testRow(report, app, go) }));
  const told = VERDICTS.map((verdict) => [reports.filter((report) => VERDICTS[rank(report)] === verdict).length, verdict]).filter(([number]) => number > 0);
  const filter = el("input", { type: "search", placeholder: "Names of tests", "aria-label": "Names of tests", oninput: () => {
    const wanted = filter.value.trim().toLowerCase();
    for (const { report, element } of rows) element.hidden = !report.program.toLowerCase().includes(wanted);
  } });
  dialog.replaceChildren(
    el("div", { class: "tests-head" }, el("h2", { id: "tests-title" }, count(reports.length, "test")),
      el("span", { class: "quiet" }, told.map(([number, verdict]) => `${number.toLocaleString("en")} ${verdict}`).join(", ")),
      filter, el("button", { type: "button", class: "button", onclick: () => dialog.close() }, "Close")),
    el("div", {}, rows.map(({ element }) => element)));
  if (!dialog.open) dialog.showModal();
}

function testRow(report, app, go) {
  const own = app.choices.map((choice, at) => ({ ...choice, at })).filter((choice) => choice.report === report);
  const first = own.find(({ finding }) => finding && finding.severity !== "warning") ?? own[0];
  const badge = { pass: "good", fail: "bad" }[report.verdict] ?? "warn";
  const findings = own.filter(({ finding }) => finding).map(({ finding, at }) => el("li", {},
    el("span", { class: "does" }, finding.kind.replaceAll("_", " ")),
    el("button", { type: "button", class: "button", onclick: () => go(at) }, "Show"),
    el("span", {}, finding.message.split("\n", 1)[0])));
  const commands = [["run", report.run], ["replay", first?.finding?.replay], ["view", report.view]].filter(([, command]) => command);
  const line = ([does, command]) => {
    const said = el("button", { type: "button", class: "button", onclick: () => copy(command, said) }, "Copy");
    return el("li", {}, el("span", { class: "does" }, does), el("code", { title: command }, command), said);
  };
  return el("section", { class: "test", "aria-label": report.program },
    el("div", { class: "test-line" }, el("span", { class: `badge ${badge}` }, report.verdict),
      el("button", { type: "button", class: "name", onclick: () => go(first.at) }, report.program),
      el("span", { class: "count" }, count(report.executions, "execution")),
      el("span", { class: "count" }, count(findings.length, "finding"))),
    findings.length ? el("ul", {}, findings) : null,
    commands.length ? el("details", {}, el("summary", {}, "Commands"), el("ul", {}, commands.map(line))) : null);
}
