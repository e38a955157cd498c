// Reports for the page that no program of the corpus gives: 10,000 steps by twelve tasks with long names, operations of an
// object, and a report without recordings. Numbers come from a fixed seed.

import { writeFileSync } from "node:fs";
import { join } from "node:path";

const directory = process.argv[2];
let state = 42;
const random = (most) => { state = (Math.imul(state, 1103515245) + 12345) >>> 0; return Math.floor(state / 65536) % most; };

const report = (program, findings, recordings) => ({
  format: "intermezzo-report/1", program, verdict: "fail", coverage: { kind: "sampled", executions: 1 }, executions: 1,
  elapsed_seconds: 0.1, strategy: "random", reduction: "none", notes: ["made for a test"], findings, recordings,
});
const finding = (kind, message, more = {}) => ({
  kind, severity: "error", monitor: "engine", message, tasks: [], events: [], schedule: "imz1.none", count: 1, ...more,
});

function execution(tasks, length, seed, common = 0, other = null) {
  const names = Array.from({ length: tasks }, (_, task) => (task === 0 ? "main" : task === 3 ? "connection-pool-housekeeper-with-a-very-long-name" : `worker ${task}`));
  const vars = Array.from({ length: 40 }, (_, at) => ({ kind: at % 3 ? "atomic" : "mutex", name: `${at % 3 ? "atomic" : "mutex"} ${at % tasks}.${at}` }));
  const sites = Array.from({ length: 30 }, (_, at) => `corpus/src/programs/work_stealing_queue.rs:${40 + 3 * at}:9`);
  const index = new Array(tasks).fill(0);
  const lastOfVar = new Map();
  const events = [];
  state = seed;
  let task = 0;
  for (let at = 0; at < length; at++) {
    if (other && at < common) { events.push({ ...other.events[at], concerned: false }); task = events[at].task; index[task]++; if (events[at].var !== undefined) lastOfVar.set(events[at].var, at); continue; }
    const before = task;
    if (at < tasks) task = at; else if (random(4) === 0) task = random(tasks);
    const variable = random(vars.length);
    const event = { task, index: ++index[task], op: at < tasks ? "begin" : vars[variable].kind === "mutex" ? ["lock", "unlock"][at % 2] : ["load", "store", "read-modify-write"][random(3)], site: random(sites.length) };
    if (at >= tasks) event.var = variable;
    if (event.op === "load") { event.order = "Acquire"; event.read = random(1000); }
    if (event.op === "store") { event.order = "Release"; event.written = at === length - 3 ? 0xffffffffffff : random(1000); }
    if (at === 0 || random(20) === 0) {
      event.enabled = [...Array(tasks).keys()].filter((one) => one === task || random(3));
      event.disabled = [...Array(tasks).keys()].filter((one) => !event.enabled.includes(one));
    }
    if (task !== before && at >= tasks && random(3) === 0) event.preempts = true;
    const last = lastOfVar.get(event.var);
    if (last !== undefined && events[last].task !== task) event.after = [last];
    if (event.var !== undefined) lastOfVar.set(event.var, at);
    events.push(event);
  }
  const data = Array.from({ length: length / 10 }, (_, at) => ({ task: events[at * 10].task, at: at * 10 + 1, location: `cell 0.${at % 7}`, is_write: at % 2 === 0, offset: 0, size: 8, site: at % 30 }));
  return { format: "intermezzo-recording/1", program: "large", schedule: "imz1.none", complete: true, tasks: names.map((name) => ({ name })), vars, sites, events, data };
}

const failing = execution(12, 10000, 7);
failing.complete = false;
failing.events[9990].concerned = true;
failing.events[9999].concerned = true;
const passing = execution(12, 9500, 8, 4000, failing);
writeFileSync(join(directory, "large.json"), JSON.stringify(report("store::tests::twelve_tasks_share_forty_variables_and_then_some_more", [
  finding("deadlock", "no task can continue: main waits to lock mutex 0.0 at a.rs:1:1; worker 1 waits to lock mutex 1.1 at a.rs:2:1", {
    tasks: ["main", "worker 1"],
    waiting: [{ task: "main", op: "lock", var: "mutex 0.0", site: "a.rs:1:1", held_by: "worker 1", held_since: "a.rs:3:1" }, { task: "worker 1", op: "lock", var: "mutex 1.1", site: "a.rs:2:1" }, { task: "worker 11", op: "park", site: "a.rs:2:1" }],
  }),
], [{ finding: 0, execution: failing, nearest_pass: passing, notes: ["made for a test"] }])));

const step = (task, index, op, more = {}) => ({ task, index, op, ...more });
writeFileSync(join(directory, "operations.json"), JSON.stringify(report("refinement", [
  finding("refinement", "no order of the operations explains what they returned:\ntask 1: push(1); pop() -> Some(2)\ntask 2: push(2); pop() -> Some(2)", { monitor: "refinement" }),
], [{
  finding: 0,
  execution: {
    format: "intermezzo-recording/1", program: "refinement", schedule: "imz1.none", complete: true,
    tasks: [{ name: "main" }, { name: "task 1" }, { name: "task 2" }], vars: [{ name: "operations 1.1", kind: "operations" }, { name: "mutex 0.1", kind: "mutex" }],
    sites: ["refinement/src/run/body.rs:45:31", "gone/src/lib.rs:3:4"],
    events: [
      step(0, 1, "begin", { enabled: [0], disabled: [] }), step(1, 1, "begin", { after: [0], site: 1 }), step(2, 1, "begin", { after: [0], site: 1 }),
      step(1, 2, "call", { var: 0, site: 0, enabled: [1, 2], disabled: [0] }), step(2, 2, "call", { var: 0, site: 0, preempts: true }),
      step(2, 3, "lock", { var: 1, site: 1 }), step(2, 4, "unlock", { var: 1, site: 1 }), step(2, 5, "return", { var: 0, site: 0 }),
      step(1, 3, "lock", { var: 1, site: 1, after: [6] }), step(2, 6, "call", { var: 0, site: 0 }), step(1, 4, "unlock", { var: 1, site: 1 }),
      step(1, 5, "return", { var: 0, site: 0 }), step(2, 7, "end"), step(0, 2, "end", { after: [11, 12] }),
    ],
    operations: [
      { task: 1, name: "push(1)", result: "true", call: 3, ret: 11 }, { task: 2, name: "pop()", result: "Some(2)", call: 4, ret: 7 },
      { task: 2, name: "pop()", call: 9 },
    ],
    said: [{ task: 0, at: 1, text: "push(2) returns true" }],
  },
}])));

writeFileSync(join(directory, "partial.json"), JSON.stringify(report("queue::tests::old", [
  finding("assertion", "main panicked at src/lib.rs:3:4: <script>alert(1)</script> & \"more\"", {
    place: "src/lib.rs:3:4", tasks: ["main"],
    events: [{ id: "0.1", task: "main", op: "begin", site: "" }, { id: "1.1", task: "</script><b>", op: "begin", site: "src/lib.rs:2:1" }, { id: "0.2", task: "main", op: "store", order: "SeqCst", var: "atomic 0.1", written: 18446744073709551615, site: "src/lib.rs:3:4", concerned: true }],
  }), finding("leak", "a message was never received", { severity: "warning", monitor: "leak" }),
  finding("data_race", "data race on cell 0.1: main reads it at src/lib.rs:5:6, task 1 writes it at src/lib.rs:7:8, and nothing orders the two", {
    monitor: "data-race", tasks: ["main", "task 1"],
    events: [
      { id: "0.1", task: "main", op: "begin", site: "" }, { id: "1.1", task: "task 1", op: "begin", site: "src/lib.rs:2:1", concerned: true },
      { id: "0.2", task: "main", op: "load", order: "Relaxed", var: "atomic 0.1", read: 0, site: "src/lib.rs:4:5", concerned: true }, { id: "1.2", task: "task 1", op: "end", site: "" },
    ],
    deeds: [
      { after: "1.1", task: "task 1", what: "write cell 0.1", site: "src/lib.rs:7:8" }, { after: "0.2", task: "main", what: "read cell 0.1", site: "src/lib.rs:5:6" },
    ],
  }),
], [])).replace("18446744073709552000", "18446744073709551615"));
writeFileSync(join(directory, "message.json"), JSON.stringify(report("queue::tests::message", [
  finding("assertion", "main panicked at src/lib.rs:3:4: old", {
    tasks: ["main"], stale_operations: ["main reads 5 from atomic 0.1 at src/lib.rs:3:4"],
    events: [
      { id: "0.1", task: "main", op: "begin", site: "" }, { id: "1.1", task: "task 1", op: "begin", site: "src/lib.rs:2:1" },
      { id: "1.2", task: "task 1", op: "store", order: "Relaxed", var: "atomic 0.1", written: 5, site: "src/lib.rs:4:5" },
      { id: "1.3", task: "task 1", op: "store", order: "Relaxed", var: "atomic 0.1", written: 7, site: "src/lib.rs:5:5" },
      { id: "0.2", task: "main", op: "load", effect: "stale", from: "1.2", newer: ["1.3"], order: "Relaxed", var: "atomic 0.1", read: 5, site: "src/lib.rs:3:4", concerned: true },
    ],
  }),
], [])));
