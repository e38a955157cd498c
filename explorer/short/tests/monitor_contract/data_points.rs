//! Accesses to plain memory that are schedule points: at places that the settings name, and at places of races.

use super::recorder::{lines_with, recorded};
use intermezzo_explorer::cell::{ByPointer, Cell, UnsafeCell};
use intermezzo_explorer::sync::Mutex;
use intermezzo_explorer::sync::atomic::{AtomicU8, Ordering::SeqCst};
use intermezzo_explorer::{Coverage, Environment, Explorer, Reduction, Schedule, Sites, ptr, thread};
use intermezzo_sdk::{Context, DataVarAccess, Execution, FindingKind, Interests, Monitor, MonitorFinding};
use std::collections::BTreeSet;

/// A number that tasks share without synchronisation.
struct Careless(Cell<u32>);

// SAFETY: only for tests whose tasks take turns.
unsafe impl Sync for Careless {}

/// Two increments, one of which may be lost.
fn increments() {
    let n = Careless(Cell::new(0));
    let n = &n;
    thread::scope(|scope| {
        scope.spawn(move || {
            let before = n.0.get();
            n.0.set(before + 1);
        });
        let before = n.0.get();
        n.0.set(before + 1);
    });
    assert_eq!(n.0.get(), 2, "an increment was lost");
}

/// Returns the places at which the two tasks of `increments` access the number.
fn places() -> Sites {
    let text = include_str!("data_points.rs");
    let lines = text.lines().zip(1..).filter(|(line, _)| {
        let line = line.trim();
        line == "let before = n.0.get();" || line == "n.0.set(before + 1);"
    });
    let entries: Vec<String> = lines
        .map(|(_, number)| format!("data_points.rs:{number}"))
        .collect();
    assert_eq!(entries.len(), 4);
    Sites::parse(&entries.join(",")).unwrap()
}

fn explorer() -> Explorer {
    Explorer::new()
        .program("increments")
        .environment(Environment::calm())
}

#[test]
fn places_given_are_schedule_points() {
    let report = explorer().explore(increments);
    assert!(
        report.verdict().is_pass(),
        "there is no point at which it could be lost: {report}"
    );
    assert_eq!(report.executions(), 1);
    for reduction in [Reduction::None, Reduction::Dpor, Reduction::Caching] {
        let report = explorer()
            .reduction(reduction)
            .set("data_points", places())
            .explore(increments);
        let [finding] = report.findings() else {
            panic!("{report}")
        };
        assert!(finding.message.contains("an increment was lost"), "{report}");
        let accesses: Vec<&str> = finding
            .events
            .iter()
            .filter(|event| event.var == "cell 0.1" || event.var == "cell 1.1")
            .map(|event| &*event.op)
            .collect();
        assert_eq!(accesses.len(), 4, "{report}");
        // The schedule contains the places, whatever the settings say.
        for schedule in [
            finding.schedule.clone(),
            Schedule::from_token(&finding.schedule.token()).unwrap(),
            Schedule::from_json(&finding.schedule.to_json(None)).unwrap(),
        ] {
            let again = explorer().replay(schedule).explore(increments);
            assert_eq!(again.findings(), report.findings());
        }
    }
}

#[test]
fn every_order_of_such_accesses_is_run() {
    let count = |reduction| {
        let report = explorer()
            .reduction(reduction)
            .keep_going(true)
            .minimise(0)
            .set("data_points", places())
            .explore(increments);
        (report.executions(), report.traces())
    };
    // Two accesses each: 4 over 2.
    assert_eq!(count(Reduction::None).0, 6);
    // After a failure, wakeup trees would be restarted as these.
    let (executions, traces) = count(Reduction::SourceDpor);
    assert_eq!(count(Reduction::None).1, traces);
    assert_eq!(count(Reduction::Dpor).1, traces);
    assert!(executions < 6, "{executions}");
}

/// A preemption may count against plain memory, as against any variable: the search finds the failure at one variable, and
/// not at none. An execution without these points has no preemption that could count.
#[test]
fn plain_memory_is_a_variable_of_ranked_search() {
    let find = |variables: u32, points: &str| {
        explorer()
            .set("strategy", format!("ranked(variables={variables})"))
            .set("data_points", points)
            .preemptions(1)
            .minimise(0)
            .explore(increments)
    };
    let report = find(1, "all");
    assert!(report.verdict().is_fail(), "{report}");
    let found = report.notes().iter().find(|note| note.starts_with("found in "));
    let found = found.unwrap_or_else(|| panic!("{report}"));
    assert!(
        found.starts_with("found in rank 1 preemption, 1 variable, after accesses to cell "),
        "{report}"
    );
    let missed = find(0, "all");
    assert!(missed.verdict().is_pass(), "{missed}");
    assert!(
        missed
            .coverage()
            .to_string()
            .contains("after accesses to 0 variables"),
        "{missed}"
    );
    let unwatched = find(1, "none");
    assert!(unwatched.verdict().is_pass(), "{unwatched}");
    assert_eq!(unwatched.coverage(), &Coverage::Exhaustive);
}

/// No place is given: each access to the number is a point, as each operation is.
#[test]
fn all_accesses_are_schedule_points_if_asked() {
    for reduction in [Reduction::None, Reduction::Dpor, Reduction::Caching] {
        let at = |points| {
            explorer()
                .reduction(reduction)
                .keep_going(true)
                .set("data_points", points)
                .explore(increments)
        };
        let (all, given) = (at("all".into()), at(places().to_string()));
        let [finding] = all.findings() else {
            panic!("{all}")
        };
        assert!(finding.message.contains("an increment was lost"), "{all}");
        assert_eq!(
            (all.executions(), all.traces()),
            (given.executions(), given.traces())
        );
        let again = explorer().replay(finding.schedule.clone()).explore(increments);
        assert!(!again.verdict().is_pass(), "{again}");
    }
}

#[test]
fn monitors_hear_of_the_operation_and_of_the_access() {
    let line = |word: &str| {
        let text = include_str!("data_points.rs");
        let (_, number) = text
            .lines()
            .zip(1..)
            .find(|(line, _)| line.ends_with(word))
            .unwrap();
        format!("data_points.rs:{number}")
    };
    let points = Sites::parse(&format!("{},{}", line("HERE, ONE"), line("HERE, TWO"))).unwrap();
    let explorer = explorer().set("data_points", points);
    let seen = recorded(
        explorer,
        Interests::SYNC_ACCESSES | Interests::DATA_ACCESSES,
        || {
            let cell = UnsafeCell::new([0_u64; 2]);
            let words = cell.get().cast::<u64>(); // HERE, ONE
            // SAFETY: within the cell; no other task can see it.
            unsafe { ptr::write(words, 1) }; // HERE, TWO
            let mut other = [0_u64; 2];
            // SAFETY: within the array.
            unsafe { ptr::write_bytes(other.as_mut_ptr(), 1, 2) };
            cell.with(|_| ());
        },
    );
    let expected = [
        "0.1 begin main 0 0",
        "0.2 write cell 0.1 0 0",
        "0.2 reads cell 0.1 0..16",
        "0.3 write cell 0.1 0 0",
        "0.3 writes cell 0.1 0..8",
        "0.3 writes memory 0.1 0..8",
        "0.3 writes memory 0.2 0..8",
        "0.3 reads cell 0.1 0..16",
        "0.4 end main 0 0",
    ];
    assert_eq!(seen, [expected.map(str::to_owned)]);
    assert_eq!(lines_with(&seen, "write cell").len(), 2);
}

/// A monitor that reports two accesses of different tasks to one location, of which one writes, as a race. It ignores
/// locks.
#[derive(Default)]
struct Suspicious(Vec<DataVarAccess>);

impl Monitor for Suspicious {
    fn name(&self) -> &str {
        "suspicious"
    }
    fn interests(&self) -> Interests {
        Interests::DATA_ACCESSES
    }
    fn reduction_compatible(&self) -> bool {
        true
    }
    fn on_execution_begin(&mut self, _: &Execution<'_>) {
        self.0.clear();
    }
    fn on_data_var_access(&mut self, access: &DataVarAccess, cx: &mut Context<'_>) {
        let task = access.after.task;
        let races =
            |other: &&DataVarAccess| other.after.task != task && other.conflicts(access) && task.0 > 0;
        if let Some(other) = self.0.iter().find(races) {
            let report = MonitorFinding::new(FindingKind::DataRace, "two tasks access a cell");
            cx.report(report.sites([other.site, access.site]));
        }
        self.0.push(*access);
    }
}

#[test]
fn what_comes_of_a_race_is_seen() {
    for reduction in [Reduction::None, Reduction::Dpor] {
        let explore = |preempt: bool| {
            explorer()
                .monitor(Suspicious::default())
                .reduction(reduction)
                .keep_going(true)
                .set("data_points", if preempt { "races" } else { "none" })
                .explore(|| {
                    let lock = Mutex::new(());
                    thread::scope(|scope| {
                        scope.spawn(|| drop(lock.lock()));
                    });
                    increments();
                })
        };
        let kinds = |preempt| -> Vec<String> {
            let report = explore(preempt);
            report
                .findings()
                .iter()
                .map(|finding| finding.kind.to_string())
                .collect()
        };
        assert_eq!(kinds(false), ["data_race"]);
        assert_eq!(kinds(true), ["data_race", "assertion"], "{reduction:?}");
        let report = explore(true);
        let note = report.notes().iter().find(|note| note.starts_with("races: "));
        let note = note.unwrap_or_else(|| panic!("{report}"));
        assert!(note.contains("the search restarted, after"), "{note}");
        assert!(
            report.findings().iter().all(|finding| finding.replays.is_none()),
            "{report}"
        );
        assert!(report.findings()[0].schedule.data_points.is_empty());
        assert!(!report.findings()[1].schedule.data_points.is_empty());
    }
}

/// An access of a random program: a load, or a store of a value.
type Access = (usize, Option<u8>);

/// A variable that tasks share: plain memory, or an atomic.
trait Shared: Default + Sync {
    fn get(&self) -> u8;
    fn set(&self, value: u8);
}

#[derive(Default)]
struct Plain(Cell<u8>);

// SAFETY: only for tests whose tasks take turns.
unsafe impl Sync for Plain {}

impl Shared for Plain {
    fn get(&self) -> u8 {
        self.0.get()
    }
    fn set(&self, value: u8) {
        self.0.set(value);
    }
}

impl Shared for AtomicU8 {
    fn get(&self) -> u8 {
        self.load(SeqCst)
    }
    fn set(&self, value: u8) {
        self.store(value, SeqCst);
    }
}

/// Returns the results of a program's executions, the values that each task loaded, and the numbers of its executions and
/// of its traces.
fn results<V: Shared + 'static>(
    program: &[Vec<Access>],
    reduction: Reduction,
) -> (BTreeSet<Vec<Vec<u8>>>, u64, Option<u64>) {
    let results = std::sync::Mutex::new(BTreeSet::new());
    let report = explorer()
        .reduction(reduction)
        .set("data_points", "all")
        .explore(|| {
            let variables = [V::default(), V::default()];
            let run = |accesses: &Vec<Access>| {
                let load = |&(variable, stored): &Access| match stored {
                    None => Some(variables[variable].get()),
                    Some(value) => {
                        variables[variable].set(value);
                        None
                    }
                };
                accesses.iter().filter_map(load).collect::<Vec<u8>>()
            };
            let run = &run;
            let loaded: Vec<Vec<u8>> = thread::scope(|scope| {
                let tasks: Vec<_> = program.iter().map(|one| scope.spawn(move || run(one))).collect();
                tasks.into_iter().map(|task| task.join().unwrap()).collect()
            });
            let last = variables.iter().map(V::get).collect();
            results.lock().unwrap().insert([loaded, vec![last]].concat());
        });
    assert_eq!(*report.coverage(), Coverage::Exhaustive, "{program:?}: {report}");
    (
        results.into_inner().unwrap(),
        report.executions(),
        report.traces(),
    )
}

/// Brute force over random programs, as many as `FUZZED_PROGRAMS` says: all accesses to plain memory are points exactly as those to atomics are,
/// and no reduction leaves out a result.
#[test]
fn accesses_that_are_all_points_have_the_results_of_atomics() {
    let mut number = 2027_u64;
    let mut draw = |below: u64| {
        number ^= number << 13;
        number ^= number >> 7;
        number ^= number << 17;
        number % below
    };
    let programs = std::env::var("FUZZED_PROGRAMS").map_or(100, |number| number.parse().unwrap());
    for _ in 0..programs {
        let (tasks, most) = if draw(2) == 0 { (2, 3) } else { (3, 2) };
        let mut access = || (draw(2) as usize, (draw(2) == 0).then(|| draw(3) as u8 + 1));
        let mut program = vec![Vec::new(); tasks];
        for task in &mut program {
            *task = (0..most).map(|_| access()).collect();
        }
        let (expected, executions, traces) = results::<AtomicU8>(&program, Reduction::None);
        let plain = results::<Plain>(&program, Reduction::None);
        assert_eq!(plain, (expected.clone(), executions, traces), "{program:?}");
        for reduction in [Reduction::Caching, Reduction::SourceDpor, Reduction::Dpor] {
            let (reduced, _, of_reduced) = results::<Plain>(&program, reduction);
            assert_eq!(
                (&reduced, of_reduced),
                (&expected, traces),
                "{reduction:?}: {program:?}"
            );
        }
    }
}
