//! Minimised findings: their size, the proofs of that, and their schedules, which still reproduce them.

use intermezzo_explorer::schedule::Choice;
use intermezzo_explorer::search::{ChoicePoint, Plan, SoFar, Status, Strategy as Search};
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::{Arc, Mutex};
use intermezzo_explorer::trace::Trace;
use intermezzo_explorer::{Coverage, Explorer, Finding, Report, Strategy, choose, thread};
use intermezzo_sdk::{
    Context, EventId, Execution, FindingKind, Interests, Monitor, SyncVarAccess, SyncVarOp, TaskId,
};
use std::collections::BTreeSet;
use std::sync::Mutex as StdMutex;

/// Three tasks that each do `before` harmless operations, increment a counter incorrectly, and do as many more
/// operations.
fn lost_update(tasks: usize, before: usize) {
    let (n, noise) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..tasks {
            scope.spawn(|| {
                (0..before).for_each(|_| _ = noise.fetch_add(1, SeqCst));
                n.store(n.load(SeqCst) + 1, SeqCst);
                (0..before).for_each(|_| _ = noise.fetch_add(1, SeqCst));
            });
        }
    });
    assert!(n.load(SeqCst) == tasks, "assertion: an update is lost");
}

fn crossed_locks() {
    let locks = [Mutex::new(()), Mutex::new(()), Mutex::new(())];
    thread::scope(|scope| {
        for at in 0..3 {
            let (one, other) = (&locks[at], &locks[(at + 1) % 3]);
            scope.spawn(move || {
                let _one = one.lock().unwrap();
                let _other = other.lock().unwrap();
            });
        }
    });
}

/// Fails only if three tasks overlap, which needs at least two preemptions.
fn needs_two_preemptions() {
    let (inside, noise) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                (0..4).for_each(|_| _ = noise.fetch_add(1, SeqCst));
                let others = inside.fetch_add(1, SeqCst);
                assert!(others < 2, "three at once");
                inside.fetch_sub(1, SeqCst);
            });
        }
    });
}

/// Fails only if an exchange fails spuriously and a value is not the first.
fn needs_adversity() {
    let n = AtomicUsize::new(0);
    let value = choose(4);
    choose(3);
    let exchanged = n.compare_exchange_weak(0, 1, SeqCst, SeqCst).is_ok();
    assert!(exchanged || value != 2, "failed for no reason");
}

const CASES: &[(&str, fn())] = &[
    ("lost_update", || lost_update(3, 4)),
    ("crossed_locks", crossed_locks),
    ("needs_two_preemptions", needs_two_preemptions),
];

fn only(report: &Report) -> &Finding {
    let [finding] = report.findings() else {
        panic!("{report}")
    };
    finding
}

/// Returns the size of a finding's execution: preemptions and context switches.
fn size(finding: &Finding) -> (u32, usize) {
    let tasks: Vec<&str> = finding.events.iter().map(|event| event.task.as_str()).collect();
    (
        finding.schedule.preemptions(),
        tasks.windows(2).filter(|pair| pair[0] != pair[1]).count(),
    )
}

/// Returns the note on the result of minimising.
fn note(report: &Report) -> &str {
    let says = |note: &&String| note.contains("shows it") || note.contains("may be left");
    report
        .notes()
        .iter()
        .find(says)
        .unwrap_or_else(|| panic!("no note: {report}"))
}

/// Whatever the search was, the result is as small as the first finding of a search in order of preemptions. It
/// replays, and the same search gives the same bytes.
#[test]
fn findings_of_random_walks_become_small() {
    for (name, test) in CASES {
        let bounded = Explorer::new().preemptions(4).minimise(0).explore(test);
        let least = only(&bounded).schedule.preemptions();
        let mut reduced = 0;
        let mut sizes = BTreeSet::new();
        for seed in 0..10 {
            let explorer = || {
                Explorer::new()
                    .program(*name)
                    .strategy(Strategy::random())
                    .seed(seed)
                    .executions(20_000)
            };
            let plain = explorer().minimise(0).explore(test);
            let report = explorer().minimise(20_000).explore(test);
            assert_eq!(
                (report.executions(), report.first_failure(), report.steps()),
                (plain.executions(), plain.first_failure(), plain.steps()),
                "what the search ran is what counts: {report}"
            );
            let (found, small) = (only(&plain), only(&report));
            assert_eq!((&found.kind, found.count), (&small.kind, small.count));
            assert!(size(small) <= size(found), "{name}: {report}");
            assert_eq!(small.schedule.preemptions(), least, "{name}: {report}");
            let (now, proven) = note(&report).split_once("; ").unwrap();
            assert!(proven.starts_with("no smaller one shows it"), "{report}");
            let size = now.rsplit_once(" to ").map(|(_, size)| size);
            sizes.insert(size.unwrap_or(&now["the execution has ".len()..]).to_owned());
            reduced += u32::from(found.schedule.preemptions() > least);
            for _ in 0..10 {
                let again = Explorer::new()
                    .program(*name)
                    .replay(small.schedule.clone())
                    .explore(test);
                assert_eq!(again.findings(), report.findings(), "{name}");
            }
            let json = |report: &Report| {
                let text = report.to_json();
                let lines = text.lines().filter(|line| !line.contains("elapsed_seconds"));
                lines.collect::<String>()
            };
            assert_eq!(json(&explorer().minimise(20_000).explore(test)), json(&report));
        }
        assert_eq!(sizes.len(), 1, "{name}: there is one smallest size: {sizes:?}");
        assert!(reduced > 0, "{name}: some walks preempt more than needed");
    }
}

/// Many tasks, long executions and a small budget: greedy reduction alone has to suffice.
#[test]
fn long_executions_become_short_without_a_proof() {
    let explorer = || Explorer::new().strategy(Strategy::random()).executions(100);
    let plain = explorer().minimise(0).explore(|| lost_update(6, 30));
    let report = explorer().explore(|| lost_update(6, 30));
    assert!(only(&plain).schedule.preemptions() > 100, "{plain}");
    assert_eq!(only(&report).schedule.preemptions(), 1, "{report}");
    assert!(
        note(&report).starts_with("the execution was reduced from "),
        "{report}"
    );
    assert!(note(&report).contains(" to 1 preemption, "), "{report}");
}

/// With a bound, the search itself has run all executions with fewer preemptions.
#[test]
fn what_a_bounded_search_has_proven_counts() {
    let report = Explorer::new()
        .preemptions(3)
        .minimise(2)
        .explore(|| lost_update(4, 20));
    assert_eq!(only(&report).schedule.preemptions(), 1);
    assert!(
        note(&report).contains("none with fewer preemptions shows it"),
        "{report}"
    );
    let unknown = Explorer::new()
        .strategy(Strategy::random())
        .minimise(2)
        .explore(|| lost_update(4, 20));
    assert!(note(&unknown).contains("a smaller one may be left"), "{unknown}");
}

#[test]
fn choices_that_do_not_matter_come_out_as_usual() {
    let explorer = || Explorer::new().strategy(Strategy::random()).executions(1000);
    let values = |report: &Report| -> Vec<u64> {
        let events = only(report).events.iter();
        events
            .filter(|event| event.op == "choose")
            .filter_map(|event| event.read)
            .collect()
    };
    let mut seen = BTreeSet::new();
    for seed in 0..20 {
        let test = needs_adversity;
        let plain = explorer().seed(seed).minimise(0).explore(test);
        seen.insert(values(&plain)[1]);
        let report = explorer().seed(seed).explore(test);
        assert_eq!(values(&report), [2, 0], "{report}");
    }
    assert_eq!(
        seen,
        BTreeSet::from([0, 1, 2]),
        "the walks found it with each value"
    );
}

/// Different failures stay separate, each with its own smallest execution.
#[test]
fn findings_are_minimised_apart() {
    let test = || {
        let n = Arc::new(AtomicUsize::new(0));
        let tasks = [1, 2].map(|_| {
            let n = n.clone();
            thread::spawn(move || {
                let seen = n.fetch_add(1, SeqCst);
                n.fetch_add(1, SeqCst);
                assert!(seen != 1, "one");
            })
        });
        let results = tasks.map(|task| task.join());
        assert!(results.iter().all(Result::is_ok), "a task failed");
        let last = n.load(SeqCst);
        assert!(last == 4, "last");
    };
    let plain = Explorer::new().keep_going(true).minimise(0).explore(test);
    let report = Explorer::new().keep_going(true).explore(test);
    let messages = |report: &Report| -> Vec<String> {
        report
            .findings()
            .iter()
            .map(|finding| finding.message.clone())
            .collect()
    };
    assert_eq!(messages(&report), messages(&plain), "each keeps its words");
    assert!(report.findings().len() >= 2, "{report}");
    for (finding, found) in report.findings().iter().zip(plain.findings()) {
        assert_eq!(
            (finding.schedule.preemptions(), finding.count),
            (1, found.count),
            "{report}"
        );
    }
    assert!(
        report.notes().iter().any(|note| note.starts_with("finding 2: ")),
        "{report}"
    );
}

/// A monitor that reports a store while another task is between two stores of its own.
#[derive(Default)]
struct NoOverlap {
    open: Vec<(TaskId, EventId)>,
    said: bool,
}

impl Monitor for NoOverlap {
    fn name(&self) -> &str {
        "no-overlap"
    }
    fn interests(&self) -> Interests {
        Interests::SYNC_ACCESSES
    }
    fn reduction_compatible(&self) -> bool {
        false
    }
    fn on_execution_begin(&mut self, _: &Execution<'_>) {
        self.open.clear();
        self.said = false;
    }
    fn on_sync_var_access(&mut self, access: &SyncVarAccess, cx: &mut Context<'_>) {
        if access.op != SyncVarOp::AtomicStore {
            return;
        }
        let task = access.event.task;
        match self.open.iter().position(|(open, _)| *open == task) {
            Some(at) => drop(self.open.remove(at)),
            None => self.open.push((task, access.event)),
        }
        if let ([(_, first), (_, second), ..], false) = (&self.open[..], self.said) {
            self.said = true;
            let kind = FindingKind::Plugin("overlap".into());
            cx.report(
                intermezzo_sdk::MonitorFinding::new(kind, "two tasks are at it").events([*first, *second]),
            );
        }
    }
}

fn stores() {
    let n = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| (0..4).for_each(|value| n.store(value, SeqCst)));
        }
    });
}

#[test]
fn what_a_monitor_finds_becomes_small_too() {
    let report = Explorer::new()
        .program("stores")
        .strategy(Strategy::random())
        .executions(100)
        .monitor(NoOverlap::default())
        .explore(stores);
    let finding = only(&report);
    assert_eq!(
        (finding.monitor.as_str(), finding.schedule.preemptions()),
        ("no-overlap", 1),
        "{report}"
    );
    let again = Explorer::new()
        .program("stores")
        .monitor(NoOverlap::default())
        .replay(finding.schedule.clone());
    assert_eq!(again.explore(stores).findings(), report.findings());
}

/// A monitor that counts executions and reports nothing.
struct Count(std::sync::Arc<StdMutex<Vec<u64>>>);

impl Monitor for Count {
    fn name(&self) -> &str {
        "count"
    }
    fn interests(&self) -> Interests {
        Interests::NONE
    }
    fn reduction_compatible(&self) -> bool {
        true
    }
    fn on_execution_begin(&mut self, execution: &Execution<'_>) {
        self.0.lock().unwrap().push(execution.number);
    }
}

/// Monitors receive only the executions of the search, except those for findings of their own.
#[test]
fn monitors_do_not_hear_the_minimising_of_others() {
    let numbers = std::sync::Arc::new(StdMutex::new(Vec::new()));
    let report = Explorer::new()
        .set("warm_up", 3)
        .monitor(Count(numbers.clone()))
        .explore(|| lost_update(2, 1));
    assert_eq!(only(&report).monitor, "engine");
    assert_eq!(
        *numbers.lock().unwrap(),
        (1..=report.executions()).collect::<Vec<_>>()
    );
}

/// A search of one execution, which takes the last alternative at each choice.
struct LastAlternative(bool);

impl Search for LastAlternative {
    fn next(&mut self, plan: &mut Plan, _: &Trace) -> bool {
        plan.truncate(0);
        std::mem::replace(&mut self.0, false)
    }
    fn choose(&mut self, point: &ChoicePoint<'_>) -> Option<u32> {
        Some(point.alternatives - 1)
    }
    fn coverage(&self, _: bool) -> Coverage {
        Coverage::Sampled { executions: 1 }
    }
    fn status(&self, _: &SoFar<'_>) -> Status {
        Status::named("last")
    }
}

#[test]
fn findings_of_a_custom_search_become_small() {
    let report = Explorer::new()
        .strategy(Strategy::custom(LastAlternative(true)))
        .explore(|| lost_update(2, 3));
    assert_eq!(only(&report).schedule.preemptions(), 1, "{report}");
    assert_eq!(
        note(&report)
            .split("; ")
            .nth(1)
            .map(|left| left.starts_with("no smaller one shows it")),
        Some(true),
        "{report}"
    );
    assert!(
        only(&report)
            .schedule
            .choices
            .iter()
            .all(|choice: &Choice| choice.taken < choice.alternatives)
    );
}

/// If an execution crashes that was run to minimise another finding, the crash is reported.
#[test]
fn a_crash_while_minimising_is_a_finding() {
    let report = Explorer::new()
        .strategy(Strategy::random())
        .seed(1)
        .executions(1000)
        .explore(|| {
            let n = AtomicUsize::new(0);
            thread::scope(|scope| {
                scope.spawn(|| n.store(1, SeqCst));
                scope.spawn(|| n.store(2, SeqCst));
            });
            if n.load(SeqCst) == 2 && choose(2) == 0 {
                // The default schedule: no random walk of this seed begins with it.
                std::process::abort();
            }
            panic!("always");
        });
    let kinds: Vec<String> = report
        .findings()
        .iter()
        .map(|finding| finding.kind.as_str().into_owned())
        .collect();
    assert_eq!(kinds, ["panic", "crash"], "{report}");
    assert!(
        report
            .notes()
            .iter()
            .any(|note| note.contains("the process may be damaged")),
        "{report}"
    );
}

/// Two tasks that hand a turn to each other for ever, and yield while they wait: a livelock.
fn after_you() {
    let turn = AtomicUsize::new(0);
    thread::scope(|scope| {
        for me in 0..2 {
            let turn = &turn;
            scope.spawn(move || {
                loop {
                    if turn.load(SeqCst) == me {
                        turn.store(1 - me, SeqCst);
                    }
                    thread::yield_now();
                }
            });
        }
    });
}

/// An execution that runs to its limit of steps is minimised as long as the budget of steps allows. A hundred
/// executions of 20,000 steps would take minutes.
#[test]
fn an_endless_execution_is_made_smaller_within_a_budget_of_steps() {
    let ran = std::sync::Arc::new(StdMutex::new(0));
    let seen = ran.clone();
    let report = Explorer::new()
        .set("minimise", "time=none")
        .on_progress(move |progress| *seen.lock().unwrap() = progress.minimising.unwrap_or(0))
        .explore(after_you);
    let finding = only(&report);
    assert_eq!(finding.kind, FindingKind::Livelock);
    assert!(
        note(&report).ends_with("shows it (10 more executions)"),
        "{report}"
    );
    // 200,000 steps to minimise it, 80,000 for its breakpoint, where executions are shorter once the tasks are seen to wait; and
    // three replays.
    let ran = *ran.lock().unwrap();
    assert_eq!(ran, 17);
    assert_eq!(report.executions(), 1);
}

/// With no time left, a finding is replayed once, and the report says why nothing more was done. Other findings are
/// left as they are.
#[test]
fn minimising_ends_when_its_time_is_over() {
    let in_no_time = || Explorer::new().set("minimise", "time=0");
    let random = || in_no_time().strategy(Strategy::random()).executions(100);
    let report = random().explore(|| lost_update(6, 30));
    let finding = only(&report);
    assert!(finding.replays.is_none(), "it was replayed: {report}");
    assert!(
        note(&report).ends_with(
            "a smaller one may be left; the limit of 0 seconds was reached (`time` in the setting `minimise`) (0 more executions)"
        ),
        "{report}"
    );
    let report = in_no_time().keep_going(true).explore(|| {
        let value = choose(3);
        assert!(value == 0, "assertion: {value}");
    });
    assert_eq!(report.findings().len(), 2, "{report}");
    let left = "finding 2 and those after it were neither replayed nor minimised: the limit of 0 seconds was reached (`time` in the setting `minimise`)";
    assert!(report.notes().iter().any(|note| note == left), "{report}");
}

/// Executions before the search take no more time than the search may take.
#[test]
fn warming_up_ends_when_the_time_is_over() {
    let report = Explorer::new()
        .strategy(Strategy::random())
        .time(std::time::Duration::ZERO)
        .set("warm_up", 1_000_000_000)
        .explore(|| lost_update(6, 30));
    assert_eq!((report.executions(), report.findings().len()), (0, 0), "{report}");
}
