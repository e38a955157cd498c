//! Recordings: their contents, the nearest passing execution, and their determinism.

use intermezzo_explorer::recording::{RECORDING_FORMAT, Recorded, Recording};
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::{Arc, Mutex};
use intermezzo_explorer::{Explorer, FindingDetail, Report, Schedule, thread};

fn lost_update() {
    let n = Arc::new(AtomicUsize::new(0));
    let t = {
        let n = n.clone();
        thread::spawn(move || n.store(n.load(SeqCst) + 1, SeqCst))
    };
    n.store(n.load(SeqCst) + 1, SeqCst);
    t.join().unwrap();
    assert_eq!(n.load(SeqCst), 2);
}

fn deadlock() {
    let locks = Arc::new((Mutex::new(()), Mutex::new(())));
    let t = {
        let locks = locks.clone();
        thread::spawn(move || {
            let _b = locks.1.lock();
            let _a = locks.0.lock();
        })
    };
    {
        let _a = locks.0.lock();
        let _b = locks.1.lock();
    }
    t.join().unwrap();
}

fn recorded(test: fn()) -> (Report, Recorded) {
    let report = Explorer::new().program("test").record(true).explore(test);
    assert!(report.verdict().is_fail(), "{report}");
    let [recorded] = report.recordings() else {
        panic!("{} recordings", report.recordings().len())
    };
    let recorded = recorded.clone();
    (report, recorded)
}

/// Returns the operations on atomics, each with its task: `0 load`.
fn operations(recording: &Recording) -> Vec<String> {
    let about = |var: Option<usize>| var.map(|var| recording.vars[var].kind.as_str());
    let telling = recording
        .events
        .iter()
        .filter(|event| about(event.var) == Some("atomic"));
    telling
        .map(|event| format!("{} {}", event.task, event.op))
        .collect()
}

#[test]
fn an_execution_is_recorded_event_by_event() {
    let (report, recorded) = recorded(lost_update);
    let execution = recorded.execution.unwrap();
    assert_eq!(execution.format, RECORDING_FORMAT);
    let finding = &report.findings()[0];
    assert_eq!(execution.schedule, finding.schedule.token());
    let ids: Vec<String> = execution
        .events
        .iter()
        .map(|event| format!("{}.{}", event.task, event.index))
        .collect();
    let listed: Vec<&str> = finding.events.iter().map(|event| event.id.as_str()).collect();
    assert_eq!(ids, listed);
    let names: Vec<&str> = execution.tasks.iter().map(|task| task.name.as_str()).collect();
    assert_eq!(names, ["main", "task 1"]);
    assert_eq!(
        operations(&execution),
        ["0 load", "1 load", "1 store", "0 store", "0 load"]
    );
    let preempting: Vec<&str> = execution
        .events
        .iter()
        .filter(|event| event.preempts)
        .map(|event| event.op.as_str())
        .collect();
    assert_eq!(preempting, ["load"]);
    assert!(execution.events[0].enabled.is_some());
    let concerned = execution.events.iter().filter(|event| event.concerned);
    assert_eq!(concerned.count(), 1);
    let FindingDetail::Panic { panics, .. } = &finding.detail else {
        panic!("{report}")
    };
    assert!(panics[0].place.as_ref().unwrap().contains("recordings.rs"));
}

/// The transitive closure of the direct predecessors is what the vector clocks contain. Here, for the lost update: the
/// last load comes after both stores, and the first two loads after neither.
#[test]
fn direct_predecessors_are_enough() {
    let execution = recorded(lost_update).1.execution.unwrap();
    let events = &execution.events;
    let before = |from: usize| {
        let mut known = vec![false; events.len()];
        let mut left = vec![from];
        while let Some(at) = left.pop() {
            let own = events[..at]
                .iter()
                .rposition(|event| event.task == events[at].task);
            for earlier in events[at].after.iter().copied().chain(own) {
                assert!(earlier < at);
                if !std::mem::replace(&mut known[earlier], true) {
                    left.push(earlier);
                }
            }
        }
        known
    };
    let at = |op: &str, task: usize| {
        let found = (0..events.len()).filter(|&at| events[at].op == op && events[at].task == task);
        found.collect::<Vec<_>>()
    };
    let (loads, stores) = (at("load", 0), [at("store", 0)[0], at("store", 1)[0]]);
    let last = before(loads[1]);
    assert!(stores.iter().all(|&store| last[store]));
    let first = before(loads[0]);
    assert!(stores.iter().all(|&store| !first[store]));
    // The task's store comes after main's load, whose value it overwrites.
    assert!(before(stores[1])[loads[0]]);
}

#[test]
fn the_nearest_pass_passes_and_replays() {
    let (report, recorded) = recorded(lost_update);
    let (fails, passes) = (recorded.execution.unwrap(), recorded.nearest_pass.unwrap());
    let schedule = Schedule::from_token(&passes.schedule).unwrap();
    let again = Explorer::new()
        .program("test")
        .replay(schedule.clone())
        .explore(lost_update);
    assert!(again.verdict().is_pass(), "{again}");
    assert!(passes.complete);
    let failing = &report.findings()[0].schedule.choices;
    let common = failing.iter().zip(&schedule.choices).take_while(|(a, b)| a == b);
    assert!(common.count() < failing.len());
    assert_ne!(operations(&fails), operations(&passes));
    assert!(
        recorded.notes[0].contains("near ones were tried"),
        "{:?}",
        recorded.notes
    );
}

#[test]
fn a_deadlock_names_tasks_and_their_objects() {
    let (report, recorded) = recorded(deadlock);
    let FindingDetail::Blocked { waiting, .. } = &report.findings()[0].detail else {
        panic!("{report}")
    };
    let ops: Vec<(&str, &str)> = waiting
        .iter()
        .map(|waiting| (waiting.task.as_str(), waiting.op.as_str()))
        .collect();
    assert_eq!(ops, [("main", "lock"), ("task 1", "lock")]);
    assert_eq!(waiting[0].held_by.as_deref(), Some("task 1"));
    let execution = recorded.execution.unwrap();
    assert!(!execution.complete);
    assert!(recorded.nearest_pass.unwrap().complete);
}

#[test]
fn recordings_are_the_same_each_time_and_in_json() {
    let (first, second) = (recorded(deadlock), recorded(deadlock));
    assert_eq!(first.1, second.1);
    let json: serde_json::Value = serde_json::from_str(&first.0.to_json()).unwrap();
    let read: Vec<Recorded> = serde_json::from_value(json["recordings"].clone()).unwrap();
    assert_eq!(read, [first.1]);
    let plain = Explorer::new().explore(deadlock);
    assert!(plain.recordings().is_empty() && !plain.to_json().contains("\"recordings\""));
}

/// An execution without choices has no other execution near it.
#[test]
fn there_is_no_nearest_pass_if_everything_fails() {
    let (_, recorded) = recorded(|| panic!("always"));
    assert!(recorded.execution.is_some() && recorded.nearest_pass.is_none());
    assert!(
        recorded.notes[0].contains("no other execution"),
        "{:?}",
        recorded.notes
    );
}

/// Aborts if the other task ran first.
fn crashes() {
    let n = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| n.store(1, SeqCst));
        if n.load(SeqCst) == 1 {
            std::process::abort();
        }
    });
}

/// No further execution can run in the process that found the crash. A replay is recorded while it crashes.
#[test]
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn a_crash_is_recorded_by_its_replay() {
    let (found, not_recorded) = recorded(crashes);
    assert!(not_recorded.execution.is_none());
    assert!(
        not_recorded.notes[0].contains("a replay of its schedule records it"),
        "{:?}",
        not_recorded.notes
    );
    let finding = &found.findings()[0];
    let replayed = Explorer::new()
        .program("test")
        .record(true)
        .replay(finding.schedule.clone())
        .explore(crashes);
    assert_eq!(&replayed.findings()[0], finding);
    let [
        Recorded {
            execution,
            nearest_pass,
            ..
        },
    ] = replayed.recordings()
    else {
        panic!("{} recordings", replayed.recordings().len())
    };
    let execution = execution.as_ref().unwrap();
    assert_eq!(operations(execution), ["1 store", "0 load"]);
    assert!(!execution.complete && nearest_pass.is_none());
    assert_eq!(execution.schedule, finding.schedule.token());
    assert_eq!(execution.program, "test");
    let concerned = execution.events.iter().filter(|event| event.concerned);
    assert_eq!(concerned.count(), 1);
    #[cfg(feature = "hang-places")]
    {
        let store = execution.events.iter().find(|event| event.op == "store").unwrap();
        let stack = &execution.stacks[store.stack.unwrap()];
        let names: Vec<&str> = stack
            .iter()
            .map(|&function| execution.functions[function].name.as_str())
            .collect();
        assert!(
            names[0] == "a closure" || names[0].ends_with("crashes"),
            "{names:?}"
        );
    }
}

/// Calls itself, and writes at each level.
fn descend(n: &AtomicUsize, levels: usize) {
    n.store(levels, SeqCst);
    if levels > 0 {
        descend(n, levels - 1);
        std::hint::black_box(levels);
    }
}

fn deep() {
    let n = AtomicUsize::new(0);
    descend(&n, 300);
    panic!("at the bottom");
}

#[test]
fn long_stacks_are_cut_off() {
    let (_, recorded) = recorded(deep);
    let execution = recorded.execution.unwrap();
    assert!(execution.stacks.iter().all(|stack| stack.len() <= 2 * 128));
    let first = execution.events.iter().find(|event| event.op == "store");
    assert_eq!(
        first.unwrap().stack.is_some(),
        cfg!(all(
            feature = "hang-places",
            target_os = "linux",
            any(target_arch = "x86_64", target_arch = "aarch64")
        ))
    );
}

#[inline(never)]
fn add_one(n: &AtomicUsize) {
    let seen = n.load(SeqCst);
    n.store(seen + 1, SeqCst);
    // Keeps the store from becoming a tail call, which would remove this function from the stack.
    std::hint::black_box(seen);
}

#[inline(never)]
fn add_for(task: &str, n: &AtomicUsize) {
    add_one(n);
    std::hint::black_box(task);
}

fn lost_update_in_functions() {
    let n = Arc::new(AtomicUsize::new(0));
    let other = {
        let n = n.clone();
        thread::spawn(move || add_for("other", &n))
    };
    add_one(&n);
    other.join().unwrap();
    assert_eq!(n.load(SeqCst), 2);
}

#[cfg(all(
    feature = "hang-places",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
#[test]
fn events_have_their_call_stacks() {
    let (_, recorded) = recorded(lost_update_in_functions);
    for recording in [recorded.execution.unwrap(), recorded.nearest_pass.unwrap()] {
        let name = |&function: &usize| {
            let name = &recording.functions[function].name;
            name.rsplit("::").next().unwrap()
        };
        let stores: Vec<_> = recording
            .events
            .iter()
            .filter(|event| event.op == "store")
            .collect();
        assert_eq!(stores.len(), 2);
        for store in stores {
            let stack = &recording.stacks[store.stack.unwrap()];
            let names: Vec<&str> = stack.iter().map(name).collect();
            // The path of a closure that was inlined is not known.
            match (store.task, &names[..]) {
                (0, ["add_one", "lost_update_in_functions"])
                | (1, ["add_one", "add_for", "lost_update_in_functions" | "a closure"]) => {}
                other => panic!("{other:?}"),
            }
            let line = |site: usize| recording.sites[site].rsplit_once(':').unwrap().0;
            assert_eq!(
                line(recording.functions[stack[0]].site),
                line(store.site.unwrap())
            );
        }
        // No function of the engine or of the test harness.
        for function in &recording.functions {
            let place = &recording.sites[function.site];
            assert!(
                place.starts_with("explorer/tests/recordings.rs:"),
                "{function:?} at {place}"
            );
        }
    }
}
