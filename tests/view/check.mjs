// What a reader does with the page, and whether it does what it should; at 10,000 steps also how long it takes.

import assert from "node:assert/strict";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";

const directory = process.argv[2];
const { SHOTS: shots, PICTURES: pictures } = process.env;
if (shots) mkdirSync(shots, { recursive: true });
const flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
// With a profile of its own, which goes when it is closed.
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, headless: true, args: flags });
const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, colorScheme: "light" });
const processes = await browser.newBrowserCDPSession();
/** Milliseconds of processor time that pages have taken so far: other than a clock, it knows nothing of other programs. */
const worked = async () => {
  const { processInfo } = await processes.send("SystemInfo.getProcessInfo");
  return 1000 * Math.max(...processInfo.filter(({ type }) => type === "renderer").map(({ cpuTime }) => cpuTime));
};
const complaints = [];
const tab = await context.newPage();
tab.on("pageerror", (error) => complaints.push(String(error)));
tab.on("console", (message) => { if (["error", "warning"].includes(message.type())) complaints.push(message.text()); });
tab.on("request", (request) => { if (!request.url().startsWith("file:")) complaints.push(`asks for ${request.url()}`); });

const open = async (name) => { await tab.goto(`file://${join(directory, `${name}.html`)}`); await tab.waitForSelector("#program"); };
const settle = () => tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
const press = async (...keys) => { for (const key of keys) await tab.keyboard.press(key); await settle(); };
const selected = () => tab.evaluate(() => {
  const row = document.querySelector(".pane.active .row[aria-selected=true]:not([hidden]), .pane:only-child .row[aria-selected=true]:not([hidden])");
  return row && { step: Number(row.querySelector(".number").textContent), text: row.querySelector(".label").textContent, top: row.getBoundingClientRect().top };
});
const shot = async (name) => { if (shots) await tab.screenshot({ path: join(shots, `${name}.png`) }); };
/** Draws a picture of the documents, which is smaller. */
const picture = async (name) => {
  if (!pictures) return;
  const before = tab.viewportSize();
  await tab.setViewportSize({ width: 1280, height: 620 });
  // The selected row is in the middle again.
  await press(..."jjjjjjkkkkkk");
  await tab.screenshot({ path: join(pictures, `${name}.png`) });
  await tab.setViewportSize(before);
  await settle();
};
const text = (selector) => tab.locator(selector).innerText();
const done = [];
const test = async (name, body) => { await body(); assert.deepEqual(complaints, [], name); done.push(name); };

await test("a deadlock: the finding, who waits, keys", async () => {
  await open("abba");
  assert.match(await text("#finding"), /deadlock/);
  assert.equal(await tab.locator(".wait").count(), 3);
  assert.equal((await selected()).step, 7);
  await press("g");
  assert.equal((await selected()).step, 1);
  await press("j", "ArrowDown", "j", "k");
  assert.equal((await selected()).step, 3);
  await press("n");
  assert.equal((await selected()).step, 4);
  await press("N");
  assert.match(await text("#details"), /preempts task 1/);
  await press("p", "p");
  assert.equal((await selected()).step, 5);
  await press("f");
  assert.match((await selected()).text, /finding/);
  await press("G");
  assert.match(await text("#details"), /Tasks that could not\s*main/);
  await shot("deadlock-light");
  await press("t");
  assert.equal(await tab.evaluate(() => document.documentElement.dataset.theme), "dark");
  await shot("deadlock-dark");
});

await test("the call stack of a step", async () => {
  await open("work_stealing_queue");
  await press("/");
  await tab.keyboard.type("lock");
  await settle();
  await press("Enter");
  assert.match(await text(".facts"), /function\s+enter/);
  const callers = tab.locator(".caller");
  assert.match(await callers.first().innerText(), /Deque<L>::(steal|take)\s*corpus\/src\/programs\/work_stealing_queue\.rs:\d+/);
  assert.equal(await callers.locator(".source").count(), 0);
  await callers.first().locator("summary").click();
  assert.match(await callers.first().locator(".line.here").innerText(), /enter/);
  await shot("callers-light");
});

await test("a deadlock: filters, search, help", async () => {
  await open("abba");
  await press("s");
  assert.equal(await tab.locator("[data-filter=switches]").getAttribute("aria-pressed"), "true");
  assert.ok(await tab.locator(".row:not([hidden])").count() < 7);
  await press("Escape");
  assert.equal(await tab.locator(".row:not([hidden])").count(), 7);
  await tab.click("#menu-tasks summary");
  await tab.click("#menu-tasks label:nth-of-type(1)");
  assert.equal(await tab.locator(".row:not([hidden])").count(), 4);
  await tab.click("#menu-tasks .menu-head button:nth-child(2)");
  assert.ok(await tab.getByText("No step is left").isVisible());
  await tab.keyboard.press("Escape");
  await settle();
  assert.equal(await tab.locator(".row:not([hidden])").count(), 7);
  await press("/");
  await tab.keyboard.type("mutex");
  await settle();
  assert.equal(await tab.locator(".row.found:not([hidden])").count(), 2);
  await press("Enter");
  assert.match((await selected()).text, /lock.*first#1/);
  await press("Escape", "?");
  assert.ok(await tab.getByText("Keys and signs").isVisible());
  await press("Escape");
  assert.equal(await tab.locator("#help[open]").count(), 0);
});

await test("a race: both accesses, both pasts, several findings", async () => {
  await open("racy");
  assert.ok(await tab.locator(".row.data.concerned").count() >= 2);
  await press("c");
  assert.ok(await tab.locator(".row.both").count() > 0);
  assert.match(await text("#details"), /Neither comes before the other/);
  await shot("race-light");
  await tab.selectOption("#chooser", "1");
  await settle();
  assert.match(await text("#finding"), /data race/);
});

await test("a stale read: its store, the newer one, and the arrow", async () => {
  await open("peterson");
  assert.match(await text(".finding-more .stale"), /task 1 reads 0 from `flags#1` at .*, the value before any store\. It passes over 1, stored by task 2 at/);
  await press("/");
  await tab.keyboard.type("stale");
  await settle();
  await press("Enter");
  assert.match((await selected()).text, /stale.*load.*→ 0, stale/);
  assert.match(await text("#details .stores"), /no store: it was there before any[^]*Passes over the newer values of\s*\d+\s*store.* = 1/);
  await tab.locator("#details .stores button").first().click();
  await settle();
  assert.match((await selected()).text, /store.*= 1/);
  // A read of a store that a task has made: the arrow is drawn in the colour of warnings, whatever is selected.
  await open("message");
  const drawn = () => tab.evaluate(() => {
    const [, canvas] = document.querySelectorAll(".pane canvas");
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [canvas.width, canvas.height + 1];
    const draw = copy.getContext("2d", { willReadFrequently: true });
    draw.drawImage(canvas, 0, 0);
    draw.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--warn");
    draw.fillRect(0, canvas.height, 1, 1);
    const [r, g, b] = draw.getImageData(0, canvas.height, 1, 1).data;
    const { data } = draw.getImageData(0, 0, canvas.width, canvas.height);
    let pixels = 0;
    for (let at = 0; at < data.length; at += 4) if (data[at] === r && data[at + 1] === g && data[at + 2] === b && data[at + 3] === 255) pixels++;
    return pixels;
  });
  assert.ok(await drawn() > 20, `${await drawn()} pixels`);
  await press("g");
  assert.ok(await drawn() > 20, `${await drawn()} pixels`);
  await shot("stale-light");
});

await test("two executions side by side part at the same step and scroll together", async () => {
  await open("work_stealing_queue");
  await press("2");
  assert.equal(await tab.locator(".pane").count(), 2);
  assert.equal(await tab.locator(".tag.parts").count(), 2);
  const tops = await tab.evaluate(() => [...document.querySelectorAll(".tag.parts")].map((tag) => tag.closest(".row").getBoundingClientRect().top));
  assert.ok(Math.abs(tops[0] - tops[1]) < 2, String(tops));
  await shot("side-by-side-light");
  await picture("side-by-side");
  await press("t");
  await shot("side-by-side-dark");
  await press("x", "j");
  assert.ok(await tab.locator(".pane:nth-child(2).active").count());
  await press("3");
  assert.match(await text(".pane-head"), /Passing/);
});

await test("views of one execution have filters of their own, and show the same step", async () => {
  await open("work_stealing_queue");
  const rows = async (pane) => Number(await tab.locator(`.pane:nth-child(${pane}) .scroller`).getAttribute("aria-rowcount")) - 1;
  const step = (pane) => tab.locator(`.pane:nth-child(${pane}) .row[aria-selected=true]:not([hidden]) .number`).innerText();
  const all = await rows(1);
  await press("v");
  assert.equal(await tab.locator(".pane").count(), 2);
  assert.ok(await tab.locator(".pane:nth-child(2).active").count());
  assert.equal(await rows(2), all);
  await tab.click("#menu-kinds summary");
  await tab.click("#menu-kinds .menu-head button:nth-child(2)");
  await tab.locator("#menu-kinds label").first().click();
  await settle();
  assert.ok(await rows(2) > 0 && await rows(2) < all);
  assert.equal(await rows(1), all);
  assert.match(await text("#menu-kinds summary"), /Operations: 1 of/);
  // The other view has its own choices.
  await press("x");
  assert.equal(await text("#menu-kinds summary"), "Operations");
  await press("s");
  assert.ok(await rows(1) < all);
  await press("s", "f");
  const chosen = await step(1);
  await press("x", "Escape");
  assert.equal(await rows(2), all);
  await press("x", "k", "j");
  assert.equal(await step(1), chosen);
  assert.equal(await step(2), chosen);
  // The execution that passes stands next to them, and each is closed by itself.
  await tab.click("#menu-views summary");
  await tab.locator("#menu-views .button", { hasText: "passing" }).first().click();
  await settle();
  assert.equal(await tab.locator(".pane").count(), 3);
  assert.match(await tab.locator(".pane:nth-child(3) .badge").innerText(), /Passing/);
  await shot("views-light");
  await picture("views");
  await press("Delete");
  assert.equal(await tab.locator(".pane").count(), 2);
  await tab.click(".pane:nth-child(2) .close");
  await settle();
  assert.equal(await tab.locator(".pane").count(), 1);
  await press("Delete");
  assert.equal(await tab.locator(".pane").count(), 1);
});

await test("executions of several findings stand side by side", async () => {
  await open("racy");
  await tab.click("#menu-views summary");
  const others = tab.locator("#menu-views .button", { hasText: /^2\..*failing/ });
  assert.ok(await others.count() > 0);
  await others.first().click();
  await settle();
  assert.equal(await tab.locator(".pane").count(), 2);
  assert.match(await tab.locator(".pane:nth-child(2) .pane-head").innerText(), /2\. /);
  assert.ok(await tab.locator(".pane:nth-child(2) .row.concerned").count() > 0);
  const first = await tab.locator(".pane:nth-child(1) .row[aria-selected=true]:not([hidden]) .number").innerText();
  await press("g");
  assert.equal(await tab.locator(".pane:nth-child(2) .row[aria-selected=true]:not([hidden]) .number").innerText(), "1");
  // Another execution's steps are others.
  assert.equal(await tab.locator(".pane:nth-child(1) .row[aria-selected=true]:not([hidden]) .number").innerText(), first);
});

await test("operations are intervals", async () => {
  await open("operations");
  assert.equal(await tab.locator(".operation").count(), 3);
  await tab.click(".operation.open");
  await settle();
  assert.equal((await selected()).step, 10);
  assert.equal(await tab.locator(".operation[aria-current=true]").count(), 1);
  await press("g", "j", "j");
  assert.match(await text("#details"), /was not found: make this page in the project/);
  await press("f");
  await shot("refinement-light");
  await press("t");
  await shot("refinement-dark");
});

if (pictures) {
  await open("queue");
  await press("f", "t");
  await picture("operations-dark");
  await press("t");
}

await test("a report without recordings shows what it has, and nothing in it is taken for markup", async () => {
  await open("partial");
  assert.match(await text("#finding"), /<script>alert\(1\)<\/script> & "more"/);
  assert.match(await text("#details"), /0xffffffffffffffff/);
  assert.match(await text("#details"), /no recording/);
  await tab.selectOption("#chooser", "1");
  assert.match(await text(".empty"), /No events/);
  await shot("empty-light");
  await tab.selectOption("#chooser", "2");
  await settle();
  assert.deepEqual(await tab.locator(".row.concerned:not([hidden]) .op").allInnerTexts(), ["write cell 0.1", "read cell 0.1"]);
  await press("G", "k");
  assert.match(await text("#details"), /main[\s\S]*between steps[\s\S]*read cell 0\.1[\s\S]*is about this step[\s\S]*src\/lib\.rs:5:6/);
  await shot("deeds-light");
});

await test("a directory of reports is a list of tests", async () => {
  await open("tests");
  assert.match(await text(".tests-head"), /3 tests[\s\S]*2 fail, 1 pass/);
  assert.deepEqual(await tab.locator(".test .name").allInnerTexts(), ["corpus::abba", "corpus::racy", "corpus::counter"]);
  await tab.locator(".test summary").first().click();
  assert.match(await text(".test:first-child details"), /replay[\s\S]*cargo intermezzo replay imz1\.[\s\S]*view[\s\S]*reports\/abba\.json/);
  await shot("tests-light");
  await tab.fill(".tests-head input", "rac");
  assert.deepEqual(await tab.locator(".test:not([hidden]) .name").allInnerTexts(), ["corpus::racy"]);
  await tab.locator(".test:not([hidden]) li .button").first().click();
  await settle();
  assert.equal(await tab.locator("#tests[open]").count(), 0);
  assert.match(await text("#program"), /racy/);
  await press("T");
  await tab.locator(".test .name", { hasText: "counter" }).click();
  await settle();
  assert.match(await text("main"), /Nothing was found/);
  await tab.click("#tests-open");
  await press("Escape");
  assert.equal(await tab.locator("#tests[open]").count(), 0);
});

await test("a report in which nothing was found says so", async () => {
  await open("counter");
  assert.match(await text("main"), /Nothing was found/);
  await press("t", "?");
});

await test("10,000 steps", async () => {
  await open("large");
  await shot("large-light");
  assert.ok(await tab.locator(".row").count() < 80, "only rows in sight exist");
  const before = await tab.locator("#details h2").boundingBox();
  await press("k");
  assert.deepEqual((await tab.locator("#details h2").boundingBox()).y, before.y, "the panel does not jump");
  // From the event to the frame after it, in the page, as a reader waits for it.
  const time = async (name, times, act) => {
    const before = await worked();
    const taken = await tab.evaluate(async ([source, times]) => {
      const act = new Function("n", source);
      const taken = [];
      for (let n = 0; n < times; n++) {
        const from = performance.now();
        act(n);
        await new Promise((painted) => requestAnimationFrame(() => { const port = new MessageChannel(); port.port1.onmessage = painted; port.port2.postMessage(0); }));
        taken.push(performance.now() - from);
      }
      return taken.sort((a, b) => a - b);
    }, [act, times]);
    const each = (await worked() - before) / times;
    const figure = (ms) => `${ms.toFixed(0).padStart(4)} ms`;
    console.log(`  ${name.padEnd(34)} median ${figure(taken[Math.floor(times / 2)])}   most ${figure(taken.at(-1))}   processor ${figure(each)}`);
  };
  const key = (name) => `document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: ${JSON.stringify(name)}, bubbles: true }));`;
  console.log("at 10,000 steps of 12 tasks, from the event to the painted frame:");
  const loaded = await tab.evaluate(() => performance.getEntriesByType("navigation")[0].loadEventEnd);
  console.log(`  ${"opening the page".padEnd(34)} ${loaded.toFixed(0).padStart(11)} ms`);
  await press("g");
  await time("next step (j)", 40, key("j"));
  await time("step before (k)", 40, key("k"));
  await press("G");
  await time("switch before (p)", 40, key("p"));
  await time("first and last step (g, G)", 20, `if (n % 2) { ${key("G")} } else { ${key("g")} }`);
  await time("scrolling a page", 40, `document.querySelector(".scroller").scrollTop = (n * 6151) % 250000;`);
  await time("a filter on and off (s)", 10, key("s"));
  await time("around the finding (w)", 10, key("w"));
  await time("searching, a letter at a time", 12, `const box = document.getElementById("search"); box.value = "atomic 3.27 acq".slice(0, n + 3); box.dispatchEvent(new Event("input"));`);
  await tab.evaluate(() => { const box = document.getElementById("search"); box.value = ""; box.dispatchEvent(new Event("input")); document.querySelector(".scroller").focus(); });
  await time("side by side and back (2, 1)", 6, `if (n % 2) { ${key("1")} } else { ${key("2")} }`);
  await press("2", "g");
  await time("next step, side by side (j)", 20, key("j"));
  await shot("large-side-by-side-light");
  await press("1", "f");
  await time("dark and light (t)", 6, key("t"));
  await press("t");
  await shot("large-dark");
  await tab.setViewportSize({ width: 800, height: 900 });
  await settle();
  await shot("large-narrow-dark");
});

await browser.close();
if (shots) assert.ok(existsSync(join(shots, "large-dark.png")));
console.log(`view: ${done.length} tests in a browser passed`);
