// A colour for each task, distinct from its neighbours in both themes; and the theme itself.

const HUES = {
  light: ["#2f6fd0", "#c2571a", "#2c8a57", "#8a4fc0", "#b0306a", "#0f8a93", "#8a7410", "#5a64c8", "#a34a3c", "#4f7f1d", "#7a5a8f", "#566573"],
  dark: ["#7fb0ff", "#f5a361", "#6fd39a", "#c79bf5", "#f58ab8", "#5fd0d8", "#dcc45a", "#a3abff", "#f0998c", "#a8d66b", "#c6a9d8", "#a9b7c4"],
};

const theme = {
  current: "light",
  apply(name) {
    this.current = name;
    document.documentElement.dataset.theme = name;
    this.colours = new Map();
  },
  /** The value of a colour of the style sheet, for canvases. */
  colour(name) {
    if (!this.colours.has(name)) this.colours.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
    return this.colours.get(name);
  },
  task(task) { const hues = HUES[this.current]; return hues[task % hues.length]; },
};
