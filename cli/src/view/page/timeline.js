// One execution on the screen: a scroller that has elements only for the visible rows, and reuses them.

/** The number of rows made beyond the visible ones, on each side. */
const OVERSCAN = 6;

/** A name with its middle left out if the column has no room for it, because the end often distinguishes tasks; or just the number. */
/** The function that a task runs is shown if all of it fits. */
function fitting(task, column, number) {
  const { name } = task, room = Math.floor((column - 34) / 9.5);
  if (task.label.length <= room) return task.label;
  if (name.length <= room) return name;
  if (room < 4) return String(number);
  return `${name.slice(0, Math.floor((room - 1) / 2))}…${name.slice(-Math.ceil((room - 1) / 2))}`;
}

class Pane {
  /**
   * Calls `onSelect(pane, item)` on selections, `onScroll(pane)` on scrolling by the user, and `onClose(pane)`, if it is given,
   * on closing. `at` is the number of the finding whose execution it shows, and `filters` say which of its rows.
   */
  constructor({ at, finding, execution, filters, title, about, tails, onSelect, onScroll, onClose }) {
    Object.assign(this, { at, finding, execution, filters, onSelect, onScroll, tails });
    this.rows = new Rows(execution, finding.message);
    this.selected = -1;
    this.matches = new Set();
    this.cones = null;
    this.partsAt = -1;
    this.pool = [];
    this.id = `pane-${Pane.made = (Pane.made ?? 0) + 1}`;
    this.behind = el("canvas", { "aria-hidden": "true" });
    this.before = el("canvas", { "aria-hidden": "true" });
    this.columns = el("div", { class: "columns", role: "row" });
    this.group = el("div", { role: "rowgroup" });
    this.body = el("div", { class: "rows" }, this.group);
    this.ends = el("div", { class: "ends" });
    this.none = el("p", { class: "empty", hidden: true }, el("strong", {}, "No step is left by these filters"), "Remove some of them, or press Escape to show all steps.");
    this.scroller = el("div", {
      class: "scroller", tabindex: "0", role: "grid", "aria-label": `${title}: ${count(execution.length, "step")}`,
      "aria-readonly": "true", onscroll: () => this.#scrolled(),
    }, this.columns, el("div", { class: "canvas-holder", style: `top:${HEAD}px` }, this.behind), el("div", { class: "canvas-holder over", style: `top:${HEAD}px` }, this.before), this.body);
    this.minimap = new Minimap(this);
    this.element = el("section", { class: "pane", "aria-label": title },
      el("div", { class: "pane-head" }, el("span", { class: `badge ${execution.passes ? "good" : "bad"}` }, title), el("span", { class: "quiet", title: about }, about),
        onClose ? el("button", { type: "button", class: "icon close", "aria-label": "Close this view", title: "Close this view (Delete)", onclick: () => onClose(this) }, "×") : null),
      el("div", { class: "pane-body" }, this.scroller, this.minimap.element));
    this.body.append(this.ends, this.none);
    this.body.addEventListener("mousedown", (event) => {
      const row = event.target.closest(".row");
      if (row) this.onSelect(this, Number(row.dataset.item));
    });
    this.redraw = oncePerFrame(() => this.draw());
    this.sized = new ResizeObserver(() => {
      const { clientWidth, clientHeight } = this.scroller;
      if (this.size?.width === clientWidth && this.size.height === clientHeight - HEAD) return;
      this.arrange();
      this.draw();
    });
    this.sized.observe(this.scroller);
  }

  /** Lays out the columns in the available width. */
  arrange() {
    const { execution, scroller } = this;
    this.size = { width: scroller.clientWidth, height: scroller.clientHeight - HEAD };
    this.place = layout(this.size.width, execution.tasks.length);
    this.version = (this.version ?? 0) + 1;
    const { column, width, x } = this.place;
    this.columns.style.width = this.body.style.width = `${width}px`;
    this.columns.replaceChildren(
      el("div", { class: "column gutter", role: "columnheader", style: `left:0;width:${GUTTER - 4}px` }, "step"),
      ...execution.tasks.map((task, number) => el("div", {
        class: `column${column < 62 ? " narrow" : ""}`, role: "columnheader", title: task.label, "aria-label": task.label, style: `left:${x(number) - LANE}px;width:${column}px`,
      }, el("span", { class: "dot", style: `background:${theme.task(number)}` }), el("span", {}, fitting(task, column, number)))));
    this.#arrangeEnds();
    this.minimap.repaint();
  }

  /** Called when filters changed the rows. The selected row keeps its position on the screen, if it is still shown. */
  refilter() {
    const { scroller, rows, filters } = this;
    const anchor = this.selected >= 0 ? this.selected : rows.shown[Math.floor(scroller.scrollTop / ROW)] ?? 0;
    const offset = rows.rowOf(anchor) * ROW - scroller.scrollTop;
    rows.filter(filters);
    this.version += 1;
    this.none.hidden = rows.shown.length > 0;
    this.#arrangeEnds();
    scroller.setAttribute("aria-rowcount", rows.shown.length + 1);
    scroller.scrollTop = rows.rowOf(anchor) * ROW - offset;
    [...this.columns.querySelectorAll(".column:not(.gutter)")].forEach((head, task) => head.classList.toggle("off", filters.tasks.has(task)));
    this.minimap.repaint();
    this.draw();
  }

  #arrangeEnds() {
    const { execution, rows, place, tails, ends } = this;
    if (!place) return;
    ends.style.top = `${rows.shown.length * ROW}px`;
    const room = Math.max(150, Math.min(300, place.column - 14));
    const cards = tails.map(({ task: name, head, text }) => {
      const task = execution.tasks.findIndex((other) => other.name === name);
      if (task < 0) return null;
      const left = Math.max(4, Math.min(place.x(task) - 6, place.width - room - 12));
      return el("div", { class: "wait", style: `left:${left}px;max-width:${room}px` }, el("strong", {}, head), ` ${text}`);
    });
    ends.replaceChildren(...cards.filter(Boolean));
    // In narrow columns, cards would cover each other, so each gets a line of its own.
    let bottom = 8;
    let right = -1;
    for (const card of ends.children) {
      if (card.offsetLeft < right) bottom += 4 + card.previousElementSibling.offsetHeight;
      card.style.top = `${bottom}px`;
      right = card.offsetLeft + card.offsetWidth;
    }
    this.tail = tails.length ? bottom + 90 : 24;
    this.body.style.height = `${rows.shown.length * ROW + this.tail}px`;
  }

  #scrolled() {
    const { scrollTop, scrollLeft } = this.scroller;
    if (this.drawn?.top !== scrollTop || this.drawn.left !== scrollLeft) this.redraw();
    if (this.silent === this.scroller.scrollTop) { this.silent = undefined; return; }
    this.onScroll(this);
  }

  /** Scrolls without calling `onScroll`. */
  scrollSilently(top, left) {
    const { scrollTop, scrollLeft } = this.scroller;
    this.scroller.scrollTo(left, top);
    if (this.scroller.scrollTop !== scrollTop || this.scroller.scrollLeft !== scrollLeft) this.silent = this.scroller.scrollTop;
  }

  /** Draws the visible rows. */
  draw() {
    if (!this.place) return;
    const { rows, scroller, pool, group } = this;
    // All positions are read first, because reading one after a write makes the browser lay out the page again.
    const sight = this.drawn = { ...this.size, top: scroller.scrollTop, left: scroller.scrollLeft };
    const first = Math.max(0, Math.floor(sight.top / ROW) - OVERSCAN);
    const last = Math.min(rows.shown.length, Math.ceil((sight.top + sight.height) / ROW) + OVERSCAN);
    while (pool.length < last - first) {
      const row = this.#blankRow();
      pool.push(row);
      group.append(row.element);
    }
    // A row keeps its element while it is visible: the one with its number modulo the length of the pool.
    const wanted = new Set();
    for (let number = first; number < last; number++) {
      const slot = number % pool.length;
      wanted.add(slot);
      this.#fill(pool[slot], number);
    }
    pool.forEach((row, slot) => { if (!wanted.has(slot)) row.element.hidden = true; });
    drawSteps(this, first, last, sight);
    this.minimap.move(sight.top);
    const current = rows.isShown(this.selected) ? `${this.id}-${this.selected}` : null;
    if (current && rows.rowOf(this.selected) >= first && rows.rowOf(this.selected) < last) scroller.setAttribute("aria-activedescendant", current);
    else scroller.removeAttribute("aria-activedescendant");
  }

  #blankRow() {
    const part = (name) => el("span", { class: name });
    const row = { number: el("span", { class: "number", role: "rowheader" }), op: part("op"), order: part("order"), about: part("var"), value: part("value"), site: part("site"), tags: part("tags") };
    row.label = el("span", { class: "label", role: "gridcell" }, row.tags, row.op, row.order, row.about, row.value, row.site);
    row.element = el("div", { class: "row", role: "row" }, row.number, row.label);
    return row;
  }

  #fill(row, number) {
    const { rows } = this;
    const at = rows.shown[number];
    const item = rows.items[at];
    const { element } = row;
    const name = `row ${["", "data", "said", "data"][item.kind]} ${this.relation(item)} ${item.concerned ? "concerned" : ""} ${this.matches.has(at) ? "found" : ""}`;
    if (element.className !== name) element.className = name;
    element.setAttribute("aria-selected", at === this.selected);
    element.hidden = false;
    if (row.at === at && row.version === this.version) return;
    Object.assign(row, { at, version: this.version });
    element.id = `${this.id}-${at}`;
    element.dataset.item = at;
    element.style.transform = `translateY(${number * ROW}px)`;
    element.setAttribute("aria-rowindex", number + 2);
    this.#write(row, item, at);
  }

  /** The words of a row, and the position of its label. */
  #write({ label, number, op, order, about, value, site, tags }, item, at) {
    const { rows, execution, place } = this;
    const words = rows.words(item);
    number.textContent = item.kind === EVENT ? item.ref + 1 : "·";
    op.textContent = short(words.op);
    order.textContent = short(words.order);
    about.textContent = words.about;
    value.textContent = words.value;
    site.textContent = words.site ? shortSite(words.site) : "";
    const all = [words.op, words.order, words.about, words.value].filter(Boolean).join(" ");
    label.title = `${execution.taskName(item.task)}: ${all}\n${words.site}`.trim();
    const list = [];
    if (item.concerned) list.push(["concerned", "finding"]);
    if (at === rows.itemOfEvent[this.partsAt]) list.push(["parts", "parts here"]);
    if (item.kind === EVENT && execution.events[item.ref].newer?.length) list.push(["stale", "stale"]);
    // Without room for the word, the line from the previous task shows it.
    const preempts = item.kind === EVENT && execution.events[item.ref].preempts;
    if (preempts && place.column >= 110 && list.length === 0) list.push(["preempts", "preempts"]);
    tags.replaceChildren(...list.map(([kind, text]) => el("span", { class: `tag ${kind}` }, text)));
    const x = place.x(item.task);
    const room = { right: place.width - x - 18, left: x - GUTTER - 8 };
    const left = room.right < 190 && room.left > room.right;
    label.style.left = left ? "" : `${x + 11}px`;
    label.style.right = left ? `${place.width - x + 11}px` : "";
    label.style.maxWidth = `${Math.min(460, left ? room.left : room.right)}px`;
  }

  /** The relation of a row to the selected step, or to the two events whose cones are shown. */
  relation(item) {
    const { execution, selected, rows, cones } = this;
    if (execution.partial || item.event < 0) return "";
    if (cones) {
      const [a, b] = cones.map((event) => item.event === event || execution.before(item.event, event));
      return a && b ? "both" : a ? "before" : b ? "after" : "";
    }
    if (selected < 0) return "";
    const of = rows.items[selected].event;
    if (of < 0 || of === item.event) return "";
    return execution.before(item.event, of) ? "before" : execution.before(of, item.event) ? "after" : "";
  }

  /** Selects an item, and scrolls to it; `centre` puts it in the middle. */
  select(item, { centre = false } = {}) {
    this.selected = item;
    const { scroller, rows } = this;
    if (item >= 0 && rows.isShown(item)) {
      const top = rows.rowOf(item) * ROW;
      const room = this.size.height;
      if (centre && (top < scroller.scrollTop + ROW || top > scroller.scrollTop + room - 2 * ROW)) scroller.scrollTop = top - room / 2;
      else if (top < scroller.scrollTop + ROW) scroller.scrollTop = top - 2 * ROW;
      else if (top > scroller.scrollTop + room - 2 * ROW) scroller.scrollTop = top - room + 3 * ROW;
      const x = this.place?.x(rows.items[item].task) ?? 0;
      const { width } = this.size;
      if (x < scroller.scrollLeft + GUTTER || x > scroller.scrollLeft + width - 60) scroller.scrollLeft = x - width / 2;
    }
    this.draw();
  }

  /** Selects an item without calling `onScroll`. */
  selectSilently(item, options) {
    const { scrollTop } = this.scroller;
    this.select(item, options);
    if (this.scroller.scrollTop !== scrollTop) this.silent = this.scroller.scrollTop;
  }

  /** The next shown item from the selected one in this direction for which `test` holds; -1 if there is none. */
  next(direction, test = () => true) {
    const { rows } = this;
    let row = rows.rowOf(this.selected);
    if (this.selected < 0) row = direction > 0 ? -1 : rows.shown.length;
    else if (!rows.isShown(this.selected) && direction > 0) row -= 1;
    for (row += direction; row >= 0 && row < rows.shown.length; row += direction) {
      if (test(rows.items[rows.shown[row]])) return rows.shown[row];
    }
    return -1;
  }

  remove() { this.sized.disconnect(); this.element.remove(); }
}
