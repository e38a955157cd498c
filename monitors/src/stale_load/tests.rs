//! Executions written by hand, and the stale loads in them.

use super::StaleLoads;
use intermezzo_sdk::testing::{Event, Script};
use intermezzo_sdk::{
    DataVarAccess, FindingKind, Location, MemoryOrder, MonitorFinding, Severity, SiteId, SyncVar, SyncVarOp,
    TaskId,
};

const TASKS: [&str; 3] = ["p", "q", "r"];
const VARS: [&str; 3] = ["x", "y", "z"];

/// An execution of up to three tasks, an operation a line, as `p: W x`:
///
/// | | |
/// |---|---|
/// | `W`, `R` | relaxed store, `SeqCst` load |
/// | `S` | `SeqCst` store |
/// | `U`, `C` | relaxed read-modify-write, compare-exchange that fails |
/// | `F`, `f` | fence: `SeqCst`, of acquire and release |
/// | `lock`, `unlock`, `up`, `down` | of a lock and of a count of that name; `down` is not the last |
/// | `yield` | a yield |
/// | `w`, `r` | plain write, plain read of eight bytes |
/// | `w4`, `r4` | the same of the last four of them |
/// | `get` | plain read of the atomic's own memory |
struct Written {
    script: Script,
    /// The script's entry of each line.
    lines: Vec<(u32, String)>,
}

fn written(text: &str) -> Written {
    let mut script = Script::new();
    let vars = VARS.map(|name| script.var(name));
    let cells = VARS.map(|name| script.location(name));
    let tasks = TASKS.map(|_| script.fork(Script::MAIN));
    let mut lines = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (task, operation) = line.split_once(": ").expect("task: operation");
        let (name, at) = operation.split_once(' ').unwrap_or((operation, "x"));
        let task = tasks[TASKS.iter().position(|known| *known == task).expect("a task")];
        let at = VARS.iter().position(|known| *known == at).expect("a variable");
        lines.push((script.events().len() as u32, line.to_owned()));
        perform(&mut script, task, name, vars[at], cells[at]);
    }
    Written { script, lines }
}

fn perform(script: &mut Script, task: TaskId, name: &str, var: SyncVar, cell: Location) {
    use MemoryOrder::{AcqRel, None, Relaxed, SeqCst};
    use SyncVarOp::{AtomicRmwFailed, CountDown, CountUp, LockAcquire, LockRelease, Yield};
    match name {
        "W" => _ = script.store(task, var, Relaxed, 1),
        "R" => _ = script.load(task, var, SeqCst, 1),
        "S" => _ = script.store(task, var, SeqCst, 1),
        "U" => _ = script.rmw(task, var, Relaxed, 1, 1),
        "C" => _ = script.sync(task, AtomicRmwFailed, var, Relaxed, 1, 0),
        "F" => _ = script.fence(task, SeqCst),
        "f" => _ = script.fence(task, AcqRel),
        "lock" => _ = script.operation(task, LockAcquire, var),
        "unlock" => _ = script.operation(task, LockRelease, var),
        "up" => _ = script.sync(task, CountUp, var, None, 1, 2),
        "down" => _ = script.sync(task, CountDown, var, None, 2, 1),
        "yield" => _ = script.operation(task, Yield, SyncVar::NONE),
        "w" => _ = script.write(task, cell),
        "r" => _ = script.read(task, cell),
        "w4" => _ = script.write_part(task, cell, 4, 4),
        "r4" => _ = script.read_part(task, cell, 4, 4),
        "get" => {
            let access = DataVarAccess {
                after: script.last(task),
                location: cell,
                offset: 0,
                size: 8,
                is_write: false,
                by_pointer: false,
                frees: false,
                order: None,
                var,
                site: SiteId(script.events().len() as u32),
            };
            script.push(Event::Data(access));
        }
        other => panic!("no operation is called {other}"),
    }
}

impl Written {
    fn reports(&self) -> Vec<MonitorFinding> {
        self.script.play(&mut StaleLoads::new())
    }

    /// Returns the stale loads, and the stores that they miss: `q: R x misses p: W x`.
    fn stale(&self) -> Vec<String> {
        let line = |site: &str| {
            let number = site.trim_end_matches(|c: char| !c.is_ascii_digit());
            let (_, line) = self
                .lines
                .iter()
                .find(|(entry, _)| entry.to_string() == number)
                .expect(number);
            line.as_str()
        };
        let pair = |report: MonitorFinding| {
            let sites: Vec<&str> = report
                .message
                .split_whitespace()
                .filter_map(|word| word.strip_prefix("script:"))
                .collect();
            format!("{} misses {}", line(sites[0]), line(sites[1]))
        };
        self.reports().into_iter().map(pair).collect()
    }
}

fn stale(text: &str) -> Vec<String> {
    written(text).stale()
}

/// Checks that nothing is stale in it.
fn is_safe(text: &str) {
    assert_eq!(stale(text), [""; 0], "{text}");
}

#[test]
fn store_buffering_is_found() {
    assert_eq!(
        stale("p: W x\n p: R y\n q: W y\n q: R x"),
        ["q: R x misses p: W x"]
    );
}

/// Neither task has seen anything of the other: a schedule has the load first.
#[test]
fn what_was_not_seen_can_be_read_later_by_a_schedule() {
    is_safe("p: W x\n q: W y\n p: R y\n q: R y");
    is_safe("p: W x\n q: R x");
}

#[test]
fn message_passing_is_safe() {
    is_safe("p: W x\n p: W y\n q: R y\n q: R x");
    is_safe("p: W x\n p: W y\n q: W z\n q: R y\n q: R x");
}

#[test]
fn load_buffering_is_safe() {
    is_safe("p: R y\n p: W x\n q: R x\n q: W y");
}

/// Either fence by itself is not enough.
#[test]
fn fences_drain() {
    is_safe("p: W x\n p: F\n p: R y\n q: W y\n q: F\n q: R x");
    let unfenced = stale("p: W x\n p: F\n p: R y\n q: W y\n q: R x");
    assert_eq!(unfenced, ["q: R x misses p: W x"]);
    let unfenced = stale("p: W x\n p: R y\n q: W y\n q: F\n q: R x");
    assert_eq!(unfenced, ["q: R x misses p: W x"]);
    let weak = stale("p: W x\n p: f\n p: R y\n q: W y\n q: f\n q: R x");
    assert_eq!(weak, ["q: R x misses p: W x"]);
}

/// A fence before the store, or after the load, is none.
#[test]
fn fences_elsewhere_do_nothing() {
    let misplaced = stale("p: F\n p: W x\n p: R y\n p: F\n q: F\n q: W y\n q: R x\n q: F");
    assert_eq!(misplaced, ["q: R x misses p: W x"]);
}

#[test]
fn seq_cst_stores_and_read_modify_writes_drain() {
    for (first, second) in [("S", "R"), ("U", "R"), ("W", "U"), ("W", "C")] {
        is_safe(&format!(
            "p: {first} x\n p: {second} y\n q: {first} y\n q: {second} x"
        ));
    }
    is_safe("p: W x\n p: U z\n p: R y\n q: W y\n q: C z\n q: R x");
}

#[test]
fn locks_and_counts_drain_and_yields_do_not() {
    is_safe("p: W x\n p: lock z\n p: unlock z\n p: R y\n q: W y\n q: lock z\n q: unlock z\n q: R x");
    is_safe("p: W x\n p: up z\n p: R y\n q: W y\n q: up z\n q: R x");
    let yielding = stale("p: W x\n p: yield\n p: R y\n q: W y\n q: yield\n q: R x");
    assert_eq!(yielding, ["q: R x misses p: W x"]);
}

/// Changes of a count commute: the second one has not seen what the other task did before the first.
#[test]
fn counts_order_nothing() {
    is_safe("r: W x\n r: R y\n p: W y\n p: up z\n q: down z\n q: R x");
    let locked = "r: W x\n r: R y\n p: W y\n p: lock z\n p: unlock z\n q: lock z\n q: R x";
    assert_eq!(stale(locked), ["q: R x misses r: W x"]);
}

/// x86's n6: the older own store serves the load from the buffer, and does not hide the other's.
#[test]
fn n6_is_found() {
    let n6 = stale("q: W y\n q: W x\n p: W x\n p: R x\n p: R y");
    assert_eq!(n6, ["p: R y misses q: W y"]);
    is_safe("q: W y\n q: W x\n p: W x\n p: F\n p: R x\n p: R y");
}

/// The own store is older than the one missed: it can still be in the buffer.
#[test]
fn an_older_own_store_hides_nothing() {
    let older = stale("p: W x\n q: W x\n q: W z\n p: W z\n p: R x");
    assert_eq!(older, ["p: R x misses q: W x"]);
}

#[test]
fn a_later_own_store_hides_all_before() {
    is_safe("q: W x\n q: W z\n p: W z\n p: W x\n p: R x");
}

/// x86's n5: each task reads its own variable, which the other has overwritten or will.
#[test]
fn n5_is_safe() {
    is_safe("p: W x\n p: R x\n q: W x\n q: R x");
    is_safe("p: W x\n q: W x\n p: R x\n q: R x");
}

/// Reading one's own store early is no excuse, and no fence.
#[test]
fn forwarding_orders_nothing() {
    let forwarded = stale("p: W x\n p: R x\n p: R y\n q: W y\n q: R y\n q: R x");
    assert_eq!(forwarded, ["q: R x misses p: W x"]);
}

/// Reading another task's store waits until it is there, and all before it.
#[test]
fn reading_another_tasks_store_orders() {
    is_safe("p: W x\n p: R y\n q: R x\n q: W y\n q: R x");
    let later = stale("p: W x\n p: R y\n q: W y\n r: W x\n q: R x");
    assert_eq!(
        later,
        ["q: R x misses p: W x"],
        "that it reads a third task's store now is no matter"
    );
}

/// The second of two loads has seen what the first has.
#[test]
fn a_stale_load_is_told_once_by_each_place() {
    let twice = stale("p: W x\n p: R y\n q: W y\n q: R x\n q: R x");
    assert_eq!(twice, ["q: R x misses p: W x"]);
}

/// The shape R.
#[test]
fn a_store_is_overtaken_by_way_of_the_order_of_stores() {
    let found = stale("p: W x\n p: W y\n q: W y\n q: R x");
    assert_eq!(found, ["q: R x misses p: W x"]);
    is_safe("p: W x\n p: W y\n q: S y\n q: R x");
}

/// The buffer of a third task, which the load's task cannot fix.
#[test]
fn the_buffer_of_a_task_that_is_not_the_loads() {
    let three = written("p: W x\n p: R y\n q: W y\n r: R y\n r: R x");
    assert_eq!(three.stale(), ["r: R x misses p: W x"]);
    let suggestion = three.reports().remove(0).suggestion.expect("one");
    assert!(
        suggestion.contains("the store by task 1 at") && !suggestion.contains("one between"),
        "{suggestion}"
    );
    is_safe("p: W x\n p: F\n p: R y\n q: W y\n r: R y\n r: R x");
    is_safe("p: W x\n r: R x\n p: R y\n q: W y\n r: R y\n r: R x");
}

#[test]
fn a_ring_of_three_is_found() {
    let ring = stale("p: W x\n p: R y\n q: W y\n q: R z\n r: W z\n r: R x");
    assert_eq!(ring, ["r: R x misses p: W x"]);
    is_safe("p: W x\n p: R y\n q: W y\n r: W z\n q: R z\n r: R x");
}

/// More stores than any fixed number of them: the task has seen only the first.
#[test]
fn stores_are_not_forgotten() {
    let unseen = "r: W y\n".repeat(20);
    let text = format!("p: W y\n p: R x\n q: W x\n {unseen} q: R y");
    assert_eq!(stale(&text), ["q: R y misses p: W y"]);
}

#[test]
fn plain_memory_counts_by_the_byte() {
    assert_eq!(
        stale("p: w x\n p: r y\n q: w y\n q: r x"),
        ["q: r x misses p: w x"]
    );
    assert_eq!(
        stale("p: W x\n p: r y\n q: w y\n q: R x"),
        ["q: R x misses p: W x"]
    );
    assert_eq!(
        stale("p: w4 x\n p: r y\n q: w4 y\n q: r x"),
        ["q: r x misses p: w4 x"]
    );
    assert_eq!(
        stale("p: w x\n p: r4 y\n q: w y\n q: r4 x"),
        ["q: r4 x misses p: w x"]
    );
}

/// An atomic that is accessed plainly is the same memory.
#[test]
fn the_memory_of_an_atomic_is_the_atomic() {
    let found = stale("p: W x\n p: R y\n q: W y\n q: get x");
    assert_eq!(found, ["q: get x misses p: W x"]);
    is_safe("p: W x\n p: R y\n q: get x\n q: W y\n q: get x");
}

#[test]
fn disjoint_bytes_do_not_conflict() {
    let first = |script: &mut Script, task, cell| _ = script.read_part(task, cell, 0, 4);
    let mut script = Script::new();
    let cells = ["x", "y"].map(|name| script.location(name));
    let [p, q] = [(); 2].map(|()| script.fork(Script::MAIN));
    script.write_part(p, cells[0], 4, 4);
    first(&mut script, p, cells[1]);
    script.write_part(q, cells[1], 4, 4);
    first(&mut script, q, cells[0]);
    assert_eq!(script.play(&mut StaleLoads::new()), []);
}

#[test]
fn a_report_says_what_where_and_what_fixes_it() {
    let dekker = written("p: W x\n p: R y\n q: W y\n q: R x");
    let [report] = &dekker.reports()[..] else {
        panic!("one")
    };
    let place = |line: usize| format!("script:{}", dekker.lines[line].0);
    assert_eq!(
        (&report.kind, report.severity),
        (&FindingKind::StaleLoad, Severity::Warning)
    );
    assert_eq!(
        report.message,
        format!(
            "the load of x by task 2 at {} may miss the store by task 1 at {}: store buffers let it return an older value, \
             which no schedule explains",
            place(3),
            place(0)
        )
    );
    let expected = format!(
        "make these stores SeqCst or read-modify-writes. Or put a SeqCst fence between the store by task 1 at {} and its \
         next load, one between the store by task 2 at {} and the load at {}; and one in each other task through which \
         task 2 learned of that store",
        place(0),
        place(2),
        place(3)
    );
    assert_eq!(report.suggestion.as_deref(), Some(expected.as_str()));
    let tasks: Vec<u32> = report.events.iter().map(|event| event.task.0).collect();
    assert_eq!(tasks, [2, 1], "the load, and the store");
}

/// A finding that the load's task can fix alone.
#[test]
fn one_fence_is_enough_where_one_buffer_is_to_blame() {
    let shape_r = written("p: W x\n p: W y\n q: W y\n q: R x");
    let [report] = &shape_r.reports()[..] else {
        panic!("one")
    };
    let place = |line: usize| format!("script:{}", shape_r.lines[line].0);
    let expected = format!(
        "put a SeqCst fence between the store by task 2 at {} and the load at {}, or make that store SeqCst or a \
         read-modify-write",
        place(2),
        place(3)
    );
    assert_eq!(report.suggestion.as_deref(), Some(expected.as_str()));
}

/// One execution says nothing about the next.
#[test]
fn executions_are_apart() {
    let dekker = written("p: W x\n p: R y\n q: W y\n q: R x");
    let half = written("q: W y\n q: R x");
    let reports = Script::play_all(
        [&half.script, &dekker.script, &half.script, &dekker.script],
        &mut StaleLoads::new(),
    );
    assert_eq!(reports.len(), 2);
    assert_eq!(reports[0], reports[1]);
}

#[test]
fn arguments_are_taken_or_refused() {
    let script = written("p: W x\n p: R y\n q: W y\n q: R x").script;
    let severity = |arguments: &str| {
        let mut monitor = StaleLoads::with_arguments(arguments).expect(arguments);
        script.play(&mut monitor)[0].severity
    };
    assert_eq!(severity(""), Severity::Warning);
    assert_eq!(severity("errors=false"), Severity::Warning);
    assert_eq!(severity(" errors = true "), Severity::Error);
    let refused = |arguments: &str| StaleLoads::with_arguments(arguments).expect_err(arguments);
    assert_eq!(
        refused("error=true"),
        "stale-load: there is no argument `error`; there are: errors (true or false)"
    );
    assert_eq!(
        refused("errors=yes"),
        "stale-load: errors=yes: give true or false"
    );
    assert_eq!(
        refused("errors"),
        "stale-load: `errors` is not an argument: give `name=value`, with commas between; there are: errors (true or false)"
    );
}
