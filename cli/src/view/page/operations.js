// Operations of an object under test as intervals: time runs to the right, overlapping operations ran concurrently.

/** The strip of an execution's operations; `go(event)` selects one's call. Null if there are none. */
function operationStrip(execution, go) {
  const { operations = [] } = execution.recording;
  if (operations.length === 0) return null;
  // Only the order of calls and returns counts: each takes one column.
  const moments = [...new Set(operations.flatMap(({ call, ret }) => (ret === undefined || ret === null ? [call] : [call, ret])))].sort((a, b) => a - b);
  const column = new Map(moments.map((moment, at) => [moment, at]));
  const wide = 100 / (moments.length + 1);
  const tasks = [...new Set(operations.map(({ task }) => task))].sort((a, b) => a - b);
  const track = (task) => el("div", { class: "track" }, operations.filter((one) => one.task === task).map((one) => {
    const from = column.get(one.call);
    const open = one.ret === undefined || one.ret === null;
    const to = open ? moments.length + .9 : column.get(one.ret) + .9;
    const label = `${one.name}${one.result ? ` → ${one.result}` : open ? " …" : ""}`;
    return el("button", {
      type: "button", class: `operation${open ? " open" : ""}`, title: `${label}\nsteps ${one.call + 1} to ${open ? "the end" : one.ret + 1}`,
      style: `left:${from * wide}%;width:${(to - from) * wide}%;border-color:${theme.task(task)}`,
      onclick: () => go(one.call), "data-call": one.call, "data-ret": open ? execution.length : one.ret, "data-task": task,
    }, label);
  }));
  const head = (task) => el("div", { class: "who" }, el("span", { class: "dot", style: `background:${theme.task(task)}` }), execution.taskName(task));
  return el("section", { class: "operations", "aria-label": "Operations" },
    el("h2", {}, "Operations ", el("span", { class: "quiet" }, "from call to return: overlapping ones ran concurrently")),
    el("div", { class: "strip" }, tasks.flatMap((task) => [head(task), track(task)])));
}

/** Marks the operations that a step is in. */
function markOperations(strip, task, at) {
  for (const operation of strip?.querySelectorAll(".operation") ?? []) {
    const { call, ret, task: own } = operation.dataset;
    const inside = Number(own) === task && at >= Number(call) && at <= Number(ret);
    operation.setAttribute("aria-current", inside);
  }
}
