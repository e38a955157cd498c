// The whole execution in a strip: the running task of each step, the preemptions, the finding, the visible part.

class Minimap {
  constructor(pane) {
    this.pane = pane;
    this.canvas = el("canvas");
    this.repaint = oncePerFrame(() => this.paint());
    this.window = el("div", { style: "position:absolute;left:0;right:0;top:0;border:1.5px solid var(--accent);border-radius:3px;background:color-mix(in srgb, var(--accent) 12%, transparent);pointer-events:none" });
    this.element = el("div", { class: "minimap", "aria-hidden": "true", title: "The whole execution: click to go there" }, this.canvas, this.window);
    const go = (event) => {
      if (event.buttons !== 1) return;
      const { scroller } = pane;
      const share = (event.clientY - this.element.getBoundingClientRect().top) / this.height;
      scroller.scrollTop = share * pane.rows.shown.length * ROW - scroller.clientHeight / 2;
      event.preventDefault();
    };
    this.element.addEventListener("mousedown", go);
    this.element.addEventListener("mousemove", go);
  }

  /** The used part of the strip: a short execution is not stretched. */
  get height() { return Math.min(this.whole ?? 0, Math.max(1, this.pane.rows.shown.length) * ROW); }

  paint() {
    const { rows, execution, matches } = this.pane;
    this.whole = this.element.clientHeight;
    const [width, whole, height] = [this.element.clientWidth, this.whole, this.height];
    if (!whole) return;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = width * ratio;
    this.canvas.height = whole * ratio;
    const draw = this.canvas.getContext("2d");
    draw.scale(ratio, ratio);
    const step = height / Math.max(1, rows.shown.length);
    const lane = (width - 10) / execution.tasks.length;
    const mark = (row, x, wide, colour, least) => {
      draw.fillStyle = colour;
      const tall = Math.max(least, Math.min(step, 6));
      draw.fillRect(x, row * step + (step - tall) / 2, wide, tall);
    };
    // Of a long execution many rows fall on one line of the screen: each task is drawn there once.
    const drawn = new Int32Array(execution.tasks.length).fill(-1);
    for (let row = 0; row < rows.shown.length; row++) {
      const { task } = rows.items[rows.shown[row]];
      const line = Math.floor(row * step);
      if (step < 1 && drawn[task] === line) continue;
      drawn[task] = line;
      mark(row, 5 + task * lane, Math.max(2, lane - 1), theme.task(task), 1);
    }
    for (let row = 0; row < rows.shown.length; row++) {
      const at = rows.shown[row];
      const item = rows.items[at];
      if (item.kind === EVENT && execution.events[item.ref].preempts && execution.preemptions < 200) mark(row, 0, 4, theme.colour("warn"), 2);
      if (matches.has(at)) mark(row, width - 4, 4, theme.colour("accent"), 2);
      if (item.concerned) mark(row, 0, width, theme.colour("bad"), 3);
    }
    this.move();
  }

  /** Shows the visible part: as it is now, or scrolled to `top`. */
  move(top = this.pane.scroller.scrollTop) {
    const { rows, size } = this.pane;
    const all = Math.max(1, rows.shown.length) * ROW;
    const scale = this.height / all;
    const seen = Math.min(size.height, all);
    this.window.style.height = `${Math.max(8, seen * scale)}px`;
    this.window.style.transform = `translateY(${Math.min(top * scale, Math.max(0, this.height - 8))}px)`;
  }
}
