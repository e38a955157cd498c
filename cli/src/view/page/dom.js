// Creating and finding elements. Texts of reports only ever become text nodes.

const $ = (id) => document.getElementById(id);

/** An element with these properties (`on...` are listeners, the rest attributes) and children; empty ones are left out. */
function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || (value === false && !name.startsWith("aria-"))) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name === "style") element.style.cssText = value;
    else element.setAttribute(name, value === true && !name.startsWith("aria-") ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

/** Calls `work` once before the next paint, however often it is asked for. */
function oncePerFrame(work) {
  let due = false;
  return () => {
    if (due) return;
    due = true;
    requestAnimationFrame(() => { due = false; work(); });
  };
}

/** `1 step`, `2 steps`. */
const count = (number, word) => `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;

/** The file's own name and the line of `path/file.rs:12:3`. */
function shortSite(site) {
  const parts = /^(.*):(\d+):\d+$/.exec(site);
  return parts ? `${parts[1].split(/[\\/]/).pop()}:${parts[2]}` : site;
}
