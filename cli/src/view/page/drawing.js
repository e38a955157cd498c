// The drawing behind the rows: lanes, the switches from task to task, and the happens-before order around the selected step.

const ROW = 26, GUTTER = 66, HEAD = 30, LANE = 15;

/** The positions of a pane's columns. */
function layout(width, tasks) {
  const column = Math.max(34, Math.min(270, Math.floor((width - GUTTER - 8) / Math.max(1, tasks))));
  return { column, width: Math.max(width, GUTTER + column * tasks + 8), x: (task) => GUTTER + column * task + LANE };
}

/** A canvas as large as the visible part, cleared, with the rows' coordinates. */
function cleared(canvas, { width, height, left, top }) {
  const ratio = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const draw = canvas.getContext("2d");
  draw.restore();
  draw.save();
  draw.setTransform(ratio, 0, 0, ratio, 0, 0);
  draw.clearRect(0, 0, width, height);
  // Not over the numbers of the steps, which do not scroll sideways.
  draw.beginPath();
  draw.rect(GUTTER - 6, 0, width, height);
  draw.clip();
  draw.translate(-left, -top);
  return draw;
}

const middle = (row) => row * ROW + ROW / 2;

/** Draws the visible part of a pane: rows `from` to `to`, scrolled and sized as `sight` says. */
function drawSteps(pane, from, to, sight) {
  const { rows, execution, place } = pane;
  const behind = cleared(pane.behind, sight);
  if (rows.isShown(pane.selected)) {
    behind.fillStyle = theme.colour("selected");
    behind.fillRect(0, rows.rowOf(pane.selected) * ROW, place.width, ROW);
  }
  for (let row = from; row < to; row++) lanes(behind, pane, row);
  for (let row = from; row < to; row++) control(behind, pane, row);
  if (to === rows.shown.length && execution.length > 0) loose(behind, pane, to);
  const before = cleared(pane.before, sight);
  arrows(before, pane, from, to);
  for (let row = from; row < to; row++) {
    const item = rows.items[rows.shown[row]];
    marker(before, place.x(item.task), middle(row), item);
  }
}

/** The lanes of one row: thick where the task runs, dashed where it cannot. */
function lanes(draw, { rows, execution, place }, row) {
  const item = rows.items[rows.shown[row]];
  const at = Math.min(item.at, execution.length - 1);
  const sets = execution.setsAt(at);
  const [top, bottom] = [row * ROW, row * ROW + ROW];
  for (let task = 0; task < execution.tasks.length; task++) {
    const [born, ended] = execution.life[task];
    if (item.at < born || item.at > ended) continue;
    if (execution.inside[task].some(([call, ret]) => item.at >= call && item.at <= ret)) {
      draw.globalAlpha = .16;
      draw.fillStyle = theme.task(task);
      draw.fillRect(place.x(task) - 7, top, 14, ROW);
      draw.globalAlpha = 1;
    }
    const runs = task === item.task;
    const blocked = !runs && sets && sets.disabled.has(task);
    draw.beginPath();
    draw.setLineDash(blocked ? [2, 4] : []);
    draw.lineWidth = runs ? 3 : blocked ? 2 : 1;
    draw.strokeStyle = runs ? theme.task(task) : theme.colour(blocked ? "blocked" : "lane");
    const begins = item.kind === EVENT && item.ref === born ? ROW / 2 : 0;
    const ends = item.kind === EVENT && item.ref === ended ? ROW / 2 : 0;
    draw.moveTo(place.x(task), top + begins);
    draw.lineTo(place.x(task), bottom - ends);
    draw.stroke();
  }
  draw.setLineDash([]);
}

/** The line from the previous task to this one, if there is a switch. */
function control(draw, { rows, place }, row) {
  if (row === 0) return;
  const [item, before] = [rows.items[rows.shown[row]], rows.items[rows.shown[row - 1]]];
  if (item.task === before.task) return;
  const preempts = item.kind === EVENT && rows.execution.events[item.ref].preempts;
  // Along the gap between the two rows, which no label covers.
  const [x0, x1, y] = [place.x(before.task), place.x(item.task), row * ROW];
  const bend = 6;
  draw.beginPath();
  draw.strokeStyle = theme.colour(preempts ? "warn" : "text-3");
  draw.lineWidth = preempts ? 2.5 : 1.25;
  draw.moveTo(x0, middle(row - 1) + 4);
  draw.arcTo(x0, y, x1, y, bend);
  draw.arcTo(x1, y, x1, middle(row), bend);
  draw.lineTo(x1, middle(row) - 6);
  draw.stroke();
  if (preempts) head(draw, x1, middle(row) - 4, Math.PI / 2);
}

/** The stores that stale operations read; and the direct predecessors and successors of the selected step, or of the two accesses of a race. */
function arrows(draw, pane, from, to) {
  const { rows, execution, place, selected } = pane;
  const edge = (a, b, colour) => {
    const [itemA, itemB] = [rows.itemOfEvent[a], rows.itemOfEvent[b]];
    const [rowA, rowB] = [rows.rowOf(itemA), rows.rowOf(itemB)];
    if (Math.max(rowA, rowB) < from || Math.min(rowA, rowB) > to) return;
    const [taskA, taskB] = [execution.events[a].task, execution.events[b].task];
    const [x0, y0, x1, y1] = [place.x(taskA), middle(rowA), place.x(taskB), middle(rowB)];
    draw.strokeStyle = draw.fillStyle = theme.colour(colour);
    draw.lineWidth = 1.75;
    draw.beginPath();
    if (taskA === taskB) {
      const bend = x0 - 9;
      draw.moveTo(x0 - 4, y0);
      draw.bezierCurveTo(bend, y0 + 6, bend, y1 - 6, x1 - 5, y1 - 3);
      draw.stroke();
      head(draw, x1 - 4, y1 - 2, Math.PI / 4);
    } else {
      const side = Math.sign(x1 - x0);
      const reach = Math.min(60, Math.abs(y1 - y0) / 2 + 14);
      draw.moveTo(x0 + side * 4, y0);
      draw.bezierCurveTo(x0 + side * reach, y0, x1 - side * reach, y1, x1 - side * 6, y1);
      draw.stroke();
      head(draw, x1 - side * 5, y1, side > 0 ? 0 : Math.PI);
    }
  };
  draw.setLineDash([5, 3]);
  for (const [store, read] of execution.staleReads) edge(store, read, "warn");
  draw.setLineDash([]);
  const event = selected < 0 || execution.partial ? -1 : rows.items[selected].event;
  if (event < 0) return;
  for (const before of execution.predecessors(event)) edge(before, event, "before-ink");
  for (const after of execution.successorsOf(event)) edge(event, after, "after-ink");
}

function head(draw, x, y, angle) {
  draw.save();
  draw.translate(x, y);
  draw.rotate(angle);
  draw.beginPath();
  draw.moveTo(1, 0);
  draw.lineTo(-6, -4);
  draw.lineTo(-6, 4);
  draw.closePath();
  draw.fillStyle = draw.strokeStyle;
  draw.fill();
  draw.restore();
}

/** The mark of a step: a dot for an operation, a small square for plain memory, with a ring if the finding is about it. */
function marker(draw, x, y, item) {
  draw.beginPath();
  if (item.kind === EVENT) draw.arc(x, y, item.concerned ? 5 : 4, 0, 2 * Math.PI);
  else draw.rect(x - 3, y - 3, 6, 6);
  draw.fillStyle = item.kind === EVENT ? theme.task(item.task) : theme.colour("panel");
  draw.fill();
  draw.lineWidth = item.concerned ? 2.5 : 1.5;
  draw.strokeStyle = item.concerned ? theme.colour("bad") : item.kind === EVENT ? theme.colour("panel") : theme.task(item.task);
  draw.stroke();
}

/** Below the last row: the lanes of tasks that never ended continue. */
function loose(draw, { rows, execution, place }, to) {
  execution.tasks.forEach((_, task) => {
    const [born, ended] = execution.life[task];
    if (born >= execution.length || ended < execution.length) return;
    draw.beginPath();
    draw.setLineDash([2, 4]);
    draw.lineWidth = 2;
    draw.strokeStyle = theme.colour(execution.recording.complete ? "lane" : "blocked");
    draw.moveTo(place.x(task), to * ROW);
    draw.lineTo(place.x(task), to * ROW + 12);
    draw.stroke();
  });
  draw.setLineDash([]);
}
