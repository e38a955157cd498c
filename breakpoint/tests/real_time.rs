//! Breakpoints between threads. Those of one process share a table, so each test has names of its own.

use intermezzo_breakpoint as breakpoint;
use intermezzo_breakpoint::Statistics;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

/// Arms breakpoints that no other test does.
fn arm(text: &str) {
    breakpoint::arm(text).unwrap();
}

fn figures(name: &str) -> Statistics {
    let all = breakpoint::statistics();
    all.into_iter()
        .find(|figures| figures.name == name)
        .expect("it is armed")
}

#[test]
fn the_second_sees_all_of_a_turn_and_nothing_later() {
    arm("turn limit=20s");
    for second_comes_late in [false, true] {
        let n = AtomicUsize::new(0);
        let late = |is_late: bool| {
            if is_late {
                thread::sleep(Duration::from_millis(20));
            }
        };
        thread::scope(|s| {
            s.spawn(|| {
                late(!second_comes_late);
                let turn = breakpoint::conflict("turn", &n).first();
                assert!(turn.hit());
                n.fetch_add(1, SeqCst);
                thread::sleep(Duration::from_millis(20));
                n.fetch_add(1, SeqCst);
            });
            s.spawn(|| {
                late(second_comes_late);
                assert!(breakpoint::conflict("turn", &n).second());
                assert_eq!(n.load(SeqCst), 2);
            });
        });
    }
    let figures = figures("turn");
    assert_eq!(
        (figures.visits, figures.hits, figures.timeouts, figures.unordered),
        (4, 2, 0, 0)
    );
}

#[test]
fn nobody_waits_for_ever() {
    arm("alone limit=10ms, slow limit=10ms");
    assert!(!breakpoint::at("alone").meet());
    assert!(!breakpoint::at("alone").first().hit());
    assert_eq!(figures("alone").timeouts, 2);
    // A turn that does not end while the second may wait.
    let lock = Mutex::new(());
    thread::scope(|s| {
        let held = lock.lock().unwrap();
        s.spawn(|| {
            let turn = breakpoint::at("slow").limit(Duration::from_secs(9)).first();
            let needed = lock.lock().unwrap();
            drop((needed, turn));
        });
        while figures("slow").visits == 0 {
            thread::yield_now();
        }
        let hit = breakpoint::at("slow").second();
        drop(held);
        let figures = figures("slow");
        // The variable's limit counts for both, so that they may have missed each other.
        assert_eq!((figures.hits, figures.unordered), (hit.into(), hit.into()));
    });
}

#[test]
fn predicates_locks_skips_and_hits() {
    arm("refined limit=20s");
    let table = Mutex::new(());
    let meets = AtomicUsize::new(0);
    thread::scope(|s| {
        for part in 0..4_u32 {
            let (table, meets) = (&table, &meets);
            s.spawn(move || {
                let _held = (part != 3).then(|| breakpoint::held(table));
                let place = breakpoint::at("refined").while_held(table).when(|| part != 2);
                let hit = place.joint(|| part, |one, other| one != other).meet();
                meets.fetch_add(hit.into(), SeqCst);
                assert_eq!(hit, part < 2);
            });
        }
    });
    assert_eq!(meets.into_inner(), 2);
    arm("counted limit=1ms");
    let place = || breakpoint::at("counted").skip(2).at_most(0).meet();
    assert!(!place() && !place() && !place());
    assert_eq!((figures("counted").skipped, figures("counted").timeouts), (3, 0));
}

#[test]
fn what_is_disarmed_is_passed_and_forgotten() {
    assert!(!breakpoint::is_armed("gone"));
    arm("gone limit=1ms");
    assert!(breakpoint::is_armed("gone"));
    assert!(!breakpoint::at("gone").meet());
    breakpoint::disarm("gone");
    assert!(!breakpoint::at("gone").meet());
    assert!(
        breakpoint::statistics()
            .iter()
            .all(|figures| figures.name != "gone")
    );
    assert_eq!(breakpoint::variable_problem(), None);
    let error = breakpoint::arm("gone, gone limit=5").unwrap_err();
    assert_eq!(error.entry, "gone limit=5");
    assert!(!breakpoint::is_armed("gone"));
}

/// A joint predicate that panics harms only its own task.
#[test]
fn a_predicate_may_panic() {
    arm("panics limit=20s");
    thread::scope(|s| {
        let waits = s.spawn(|| breakpoint::at("panics").joint(|| 1, |_, _| true).meet());
        while figures("panics").visits == 0 {
            thread::yield_now();
        }
        let panics = s.spawn(|| {
            breakpoint::at("panics")
                .joint(|| 2, |_, _| panic!("on purpose"))
                .meet()
        });
        assert!(panics.join().is_err());
        assert!(breakpoint::at("panics").joint(|| 3, |_, _| true).meet());
        assert!(waits.join().unwrap());
    });
}

/// Only explorations have breakpoints by places: a process that waits for nothing there says so.
#[test]
fn breakpoints_by_places_are_refused_in_real_time() {
    const ITSELF: &str = "breakpoints_by_places_are_refused_in_real_time";
    const GIVEN: &str = "beside limit=1ms, src/a.rs:1:2 before src/b.rs:3:4";
    if std::env::var(breakpoint::VARIABLE).is_ok() {
        let problem = breakpoint::variable_problem().expect("it is told").to_string();
        let says =
            "breakpoint `src/a.rs:1:2 before src/b.rs:3:4`: only explorations have breakpoints by places";
        assert!(problem.starts_with(says), "{problem}");
        assert!(breakpoint::is_armed("beside"), "the others are armed");
        return;
    }
    let log = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("log-{}", std::process::id()));
    let mut again = std::process::Command::new(std::env::current_exe().unwrap());
    again.args([ITSELF, "--exact"]);
    again.envs([
        (breakpoint::VARIABLE, GIVEN.as_ref()),
        (breakpoint::LOG_VARIABLE, log.as_os_str()),
    ]);
    let ran = again.output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    let logged = std::fs::read_to_string(&log).unwrap();
    std::fs::remove_file(log).unwrap();
    assert!(
        logged.starts_with("refused: breakpoint `src/a.rs:1:2 before"),
        "{logged}"
    );
    for by_places in ["a.rs:1 before b.rs:2", "named, deadlock a.rs:1 b.rs:2"] {
        let error = breakpoint::arm(by_places).unwrap_err();
        assert!(
            error.problem.contains("no task waits there in real time"),
            "{error}"
        );
        assert!(!breakpoint::is_armed("named"));
    }
}
