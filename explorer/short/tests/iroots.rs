//! Interleaving coverage in reports, and the search by it.

use intermezzo_explorer::cell::Cell;
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::{Condvar, Mutex};
use intermezzo_explorer::{Coverage, Explorer, Reduction, Report, Settings, Strategy, thread};
use intermezzo_sdk::{
    Context, DataVarAccess, Execution, FindingKind, Interests, Monitor, MonitorFinding as Told, SiteId,
};

/// An increment that is not one step: `load` and `store` at their own places.
fn increments(assert: bool) {
    let n = AtomicUsize::new(0);
    let increment = || {
        let before = n.load(SeqCst);
        n.store(before + 1, SeqCst);
    };
    thread::scope(|scope| {
        scope.spawn(increment);
        increment();
    });
    assert!(!assert || n.load(SeqCst) == 2);
}

/// Returns the names of the exposed iRoots, without source places: `1: store => load`.
fn words(report: &Report) -> Vec<String> {
    let word = |part: &str| part.rsplit(' ').next().unwrap_or_default().to_owned();
    let mut found: Vec<String> = report
        .iroots()
        .expect("they are measured")
        .names()
        .iter()
        .map(|name| {
            let (idiom, rest) = name.split_once(": ").unwrap();
            let halves = rest
                .split(", ")
                .map(|half| half.split(" => ").map(word).collect::<Vec<_>>().join(" => "));
            format!("{idiom}: {}", halves.collect::<Vec<_>>().join(", "))
        })
        .collect();
    found.sort();
    found
}

/// Every search exposes every iRoot of a lost update, and no other.
#[test]
fn a_lost_update_in_iroots() {
    let all = [
        "1: load => store",
        "1: store => load",
        "1: store => store",
        "2: load => store => store",
    ];
    let by_all = Explorer::new().set("iroots", true).explore(|| increments(false));
    assert_eq!(words(&by_all), all);
    let iroots = by_all.iroots().unwrap();
    for (name, named) in iroots.names().iter().zip(iroots.named()) {
        let places = name.matches("iroots.rs:").count();
        assert_eq!(named.matches(" n").count(), places, "{named}");
        assert_eq!(&named.replace(" n", ""), name);
    }
    let json = serde_json::to_value(&by_all).unwrap();
    assert_eq!(json["iroots"]["named"].as_array().unwrap().len(), 4);
    let reduced = Explorer::new()
        .set("iroots", true)
        .reduction(Reduction::Dpor)
        .explore(|| increments(false));
    assert_eq!(
        reduced.iroots().unwrap().names(),
        by_all.iroots().unwrap().names()
    );
    let driven = Explorer::new()
        .strategy(Strategy::named("maple").unwrap())
        .explore(|| increments(false));
    assert_eq!(driven.iroots().unwrap().names(), by_all.iroots().unwrap().names());
    assert_eq!(
        driven.coverage(),
        &Coverage::Sampled {
            executions: driven.executions()
        }
    );
}

/// The report contains the number of iRoots after each execution that exposed one.
#[test]
fn reports_have_a_curve() {
    let mut settings = Settings::default();
    settings.set("strategy", "maple").unwrap();
    let report = Explorer::with_settings(settings)
        .program("increments")
        .explore(|| increments(true));
    assert!(report.verdict().is_fail(), "{report}");
    let iroots = report.iroots().unwrap();
    let curve: Vec<(u64, u64)> = iroots
        .curve()
        .map(|(at, exposed)| (at, exposed.total()))
        .collect();
    assert!(
        curve
            .windows(2)
            .all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1),
        "{curve:?}"
    );
    assert_eq!(curve.last().unwrap().1, iroots.exposed().total());
    assert_eq!(iroots.exposed().total(), iroots.names().len() as u64);
    let by_idiom: u64 = (1..=5).map(|idiom| iroots.exposed().of_idiom(idiom)).sum();
    assert_eq!(
        (by_idiom, iroots.exposed().of_idiom(7)),
        (iroots.exposed().total(), 0)
    );
    let json = report.to_json();
    for part in [
        "\"iroots\": {",
        "\"curve\": [",
        "\"saturated_at\": ",
        "\"predicted\": ",
    ] {
        assert!(json.contains(part), "{json}");
    }
    assert!(report.to_string().contains("\n  iRoots: "), "{report}");
    // Without the request there is nothing.
    let plain = Explorer::new().explore(|| increments(false));
    assert!(plain.iroots().is_none() && !plain.to_json().contains("\"iroots\""));
}

/// Two locks the other way round: the iRoot is exposed by the deadlock, and the search finds it.
#[test]
fn a_deadlock_exposes_its_iroot() {
    let test = || {
        let (a, b) = (Mutex::new(0), Mutex::new(0));
        thread::scope(|scope| {
            scope.spawn(|| {
                let held = a.lock().unwrap();
                *b.lock().unwrap() += *held;
            });
            let held = b.lock().unwrap();
            *a.lock().unwrap() += *held;
        });
    };
    for strategy in [Strategy::named("maple").unwrap(), Strategy::dfs()] {
        let report = Explorer::new()
            .set("iroots", true)
            .keep_going(true)
            .strategy(strategy)
            .explore(test);
        assert_eq!(report.findings()[0].kind, FindingKind::Deadlock);
        let deadlock = "5: lock => lock, lock => lock".to_owned();
        assert_eq!(words(&report).iter().filter(|name| **name == deadlock).count(), 1);
    }
    // A third lock around both prevents the deadlock: no attempt is made for it.
    let gated = || {
        let (gate, a, b) = (Mutex::new(()), Mutex::new(0), Mutex::new(0));
        thread::scope(|scope| {
            scope.spawn(|| {
                let _gate = gate.lock().unwrap();
                let held = a.lock().unwrap();
                *b.lock().unwrap() += *held;
            });
            let _gate = gate.lock().unwrap();
            let held = b.lock().unwrap();
            *a.lock().unwrap() += *held;
        });
    };
    let report = Explorer::new()
        .strategy(Strategy::named("maple").unwrap())
        .explore(gated);
    assert!(report.verdict().is_pass(), "{report}");
    assert_eq!(report.iroots().unwrap().exposed().of_idiom(5), 0);
}

/// A wake-up that comes before any task waits is an iRoot of the condition variable.
#[test]
fn a_lost_wake_up_is_found() {
    let report = Explorer::new()
        .strategy(Strategy::named("maple").unwrap())
        .explore(|| {
            let (lock, condition) = (Mutex::new(()), Condvar::new());
            thread::scope(|scope| {
                scope.spawn(|| {
                    let guard = lock.lock().unwrap();
                    drop(condition.wait(guard).unwrap());
                });
                condition.notify_one();
            });
        });
    assert_eq!(report.findings()[0].kind, FindingKind::Deadlock, "{report}");
}

/// A number that tasks share without synchronisation.
struct Careless(Cell<u32>);

// SAFETY: tasks take turns.
unsafe impl Sync for Careless {}

/// Two increments of plain memory, one of which may be lost.
fn careless() {
    let n = Careless(Cell::new(0));
    let n = &n;
    thread::scope(|scope| {
        scope.spawn(move || {
            let before = n.0.get(); // here
            n.0.set(before + 1); // here
        });
        let before = n.0.get(); // here
        n.0.set(before + 1); // here
    });
    assert_eq!(n.0.get(), 2, "an increment was lost");
}

/// Accesses to plain memory count if they are schedule points.
#[test]
fn plain_memory_counts_where_it_is_a_schedule_point() {
    let unseen = Explorer::new()
        .strategy(Strategy::named("maple").unwrap())
        .explore(careless);
    assert_eq!((words(&unseen), unseen.verdict().is_pass()), (Vec::new(), true));
    let text = include_str!("iroots.rs").lines().zip(1..);
    let places: Vec<String> = text
        .filter(|(line, _)| line.ends_with("; // here"))
        .map(|(_, number)| format!("iroots.rs:{number}"))
        .collect();
    let report = Explorer::new()
        .strategy(Strategy::named("maple").unwrap())
        .set("data_points", places.join(","))
        .explore(careless);
    assert!(report.verdict().is_fail(), "{report}");
    assert!(
        words(&report).contains(&"2: read => write => write".to_owned()),
        "{report}"
    );
}

/// Reports every pair of accesses to plain memory as a race if one of them writes, which is good enough for `careless`.
#[derive(Default)]
struct Racy(Vec<(u32, bool, SiteId)>);

impl Monitor for Racy {
    fn name(&self) -> &str {
        "racy"
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
        let task = access.after.task.0;
        let joined = cx
            .accesses()
            .iter()
            .any(|done| done.other_task().is_some() && done.op.name() == "join");
        for &(other, wrote, site) in self.0.iter().filter(|_| !joined) {
            if other != task && (wrote || access.is_write) {
                let mut told = Told::new(FindingKind::DataRace, "a race");
                told.sites = vec![site, access.site];
                cx.report(told);
            }
        }
        self.0.push((task, access.is_write, access.site));
    }
}

/// The search restarts with the places of races as schedule points.
#[test]
fn places_of_races_are_searched_too() {
    let report = Explorer::new()
        .strategy(Strategy::named("maple").unwrap())
        .set("data_points", "races")
        .keep_going(true)
        .monitor(Racy::default())
        .explore(careless);
    assert!(
        words(&report).contains(&"2: read => write => write".to_owned()),
        "{report}"
    );
    let lost = |message: &str| message.contains("an increment was lost");
    assert!(
        report.findings().iter().any(|finding| lost(&finding.message)),
        "{report}"
    );
}
