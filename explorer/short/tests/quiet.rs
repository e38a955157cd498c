//! Waits until all is quiet, and primitives of the test's own, in programs that make them hard: tasks that create tasks,
//! panics, regions, destructors of thread-locals, many tasks, several workers, parts of a search, and replays.

#[path = "../../tests/common/mod.rs"]
mod common;

use common::Directory;
use intermezzo_explorer::primitive::{Primitive, State};
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::{Arc, Mutex};
use intermezzo_explorer::{
    Coverage, Environment, Explorer, Reduction, Strategy, choose, preemptions_off, quiesce, thread,
};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::{Arc as PlainArc, Mutex as Plain};
use std::time::Duration;

/// Tokens that tasks take, one at a time.
struct Tokens(usize);

const ANY: u8 = 1;
const NONE: u8 = 2;

impl State for Tokens {
    fn gates(&self) -> u8 {
        if self.0 > 0 { ANY } else { NONE }
    }
}

/// Returns the results and the kinds of findings of all executions: the same by every search that covers everything.
fn shown<T: Ord + Clone + std::fmt::Debug + Send + 'static>(
    environment: Environment,
    test: impl Fn() -> T + Send + Sync + Clone + 'static,
) -> (BTreeSet<T>, BTreeSet<String>) {
    let explore = |explorer: Explorer| {
        let seen = PlainArc::new(Plain::new(BTreeSet::new()));
        let explorer = explorer.environment(environment).keep_going(true).minimise(0);
        let report = explorer.explore({
            let (test, seen) = (test.clone(), seen.clone());
            move || {
                let saw = test();
                seen.lock().unwrap().insert(saw);
            }
        });
        assert_eq!(*report.coverage(), Coverage::Exhaustive, "{report}");
        let kinds = report
            .findings()
            .iter()
            .map(|finding| finding.kind.to_string())
            .collect();
        let seen = seen.lock().unwrap().clone();
        (seen, kinds)
    };
    let wanted = explore(Explorer::new().every_operation(true));
    for jobs in [1, 2] {
        for reduction in [
            Reduction::None,
            Reduction::Caching,
            Reduction::SourceDpor,
            Reduction::Dpor,
        ] {
            let found = explore(Explorer::new().reduction(reduction).jobs(jobs));
            assert_eq!(found, wanted, "{reduction:?}, {jobs} jobs");
        }
    }
    assert_eq!(
        explore(Explorer::new().strategy(Strategy::named("best-first").unwrap())),
        wanted
    );
    assert_eq!(explore(Explorer::new().strategy(Strategy::auto())), wanted);
    // From checkpoint to checkpoint.
    let directory = Directory::new("quiet");
    let (mut all, mut executions) = (BTreeSet::new(), 0);
    loop {
        executions += 3;
        let seen = PlainArc::new(Plain::new(BTreeSet::new()));
        let explorer = Explorer::new()
            .environment(environment)
            .keep_going(true)
            .minimise(0);
        let explorer = explorer
            .checkpoint(directory.file())
            .executions(executions)
            .program("quiet");
        let report = explorer.explore({
            let (test, seen) = (test.clone(), seen.clone());
            move || {
                let saw = test();
                seen.lock().unwrap().insert(saw);
            }
        });
        all.append(&mut seen.lock().unwrap());
        if *report.coverage() == Coverage::Exhaustive {
            break;
        }
    }
    assert_eq!(all, wanted.0, "in parts");
    wanted
}

#[test]
fn tasks_that_are_created_meanwhile_are_waited_for() {
    let (seen, kinds) = shown(Environment::calm(), || {
        let count = Arc::new(AtomicUsize::new(0));
        let (theirs, more) = (count.clone(), choose(2) == 1);
        thread::spawn(move || {
            let inner = theirs.clone();
            thread::spawn(move || inner.fetch_add(1, SeqCst));
            if more {
                quiesce();
            }
            theirs.fetch_add(1, SeqCst);
        });
        quiesce();
        // Both waited for quiet, and the other may still be about to add.
        (more, count.load(SeqCst))
    });
    assert_eq!(seen, [(false, 2), (true, 1), (true, 2)].into());
    assert!(kinds.is_empty());
}

#[test]
fn tasks_that_wait_for_a_lock_that_is_held_are_quiet() {
    let (seen, _) = shown(Environment::default(), || {
        let lock = Arc::new(Mutex::new(0));
        let held = lock.lock().unwrap();
        let tasks = [0, 1].map(|_| {
            let theirs = lock.clone();
            thread::spawn(move || *theirs.lock().unwrap() += 1)
        });
        quiesce();
        let before = *held;
        drop(held);
        quiesce();
        let after = *lock.lock().unwrap();
        (before, after, tasks.map(|task| task.is_finished()))
    });
    assert_eq!(seen, [(0, 2, [true, true])].into());
}

#[test]
fn a_panic_before_quiet_is_found() {
    let (_, kinds) = shown(Environment::calm(), || {
        let flag = Arc::new(AtomicUsize::new(0));
        let theirs = flag.clone();
        thread::spawn(move || assert_eq!(theirs.load(SeqCst), 0));
        if choose(2) == 1 {
            flag.store(1, SeqCst);
        }
        quiesce();
    });
    assert_eq!(kinds, ["assertion".to_owned()].into());
}

#[test]
fn quiet_in_a_region_and_in_a_destructor_of_a_thread_local() {
    struct Waits(Cell<Option<Arc<AtomicUsize>>>);
    impl Drop for Waits {
        fn drop(&mut self) {
            if let Some(count) = self.0.take() {
                quiesce();
                count.fetch_add(1, SeqCst);
            }
        }
    }
    thread::thread_local! {
        static WAITS: Waits = const { Waits(Cell::new(None)) };
    }
    let (seen, kinds) = shown(Environment::calm(), || {
        let count = Arc::new(AtomicUsize::new(0));
        let (theirs, others) = (count.clone(), count.clone());
        thread::spawn(move || WAITS.with(|waits| waits.0.set(Some(theirs))));
        thread::spawn(move || others.fetch_add(10, SeqCst));
        preemptions_off(quiesce);
        let seen = count.load(SeqCst);
        quiesce();
        (seen, count.load(SeqCst))
    });
    assert_eq!(seen, [(10, 11), (11, 11)].into());
    assert!(kinds.is_empty());
}

#[test]
fn a_wait_for_a_gate_that_closes_again_times_out_and_is_quiet_after_that() {
    for environment in [Environment::calm(), Environment::default()] {
        let (seen, kinds) = shown(environment, || {
            let tokens = Arc::new(Primitive::new(Tokens(1)));
            let theirs = tokens.clone();
            let task = thread::spawn(move || {
                let limit = Duration::from_millis(3);
                theirs
                    .wait_timeout(ANY, limit, SeqCst, |tokens| tokens.0 -= 1)
                    .is_some()
            });
            let taken = tokens.change(SeqCst, |tokens| std::mem::take(&mut tokens.0));
            quiesce();
            assert!(task.is_finished());
            (taken, task.join().unwrap())
        });
        assert_eq!(seen, [(0, true), (1, false)].into());
        assert!(kinds.is_empty());
    }
}

#[test]
fn a_task_that_panics_in_an_operation_leaves_its_gates_as_the_state_says() {
    let (seen, kinds) = shown(Environment::calm(), || {
        let tokens = Arc::new(Primitive::new(Tokens(0)));
        let (one, other) = (tokens.clone(), tokens.clone());
        let puts = thread::spawn(move || {
            one.wait(NONE, SeqCst, |tokens| {
                tokens.0 += 1;
                std::panic::resume_unwind(Box::new(()))
            })
        });
        let takes = thread::spawn(move || other.wait(ANY, SeqCst, |tokens| tokens.0 -= 1));
        let puts = puts.join().is_err();
        takes.join().unwrap();
        (puts, tokens.read(SeqCst, |tokens| tokens.0))
    });
    assert_eq!(seen, [(true, 0)].into());
    assert!(kinds.is_empty());
}

#[test]
fn more_than_sixty_four_tasks_wait_at_gates_and_for_quiet() {
    let report = Explorer::new()
        .environment(Environment::calm())
        .strategy(Strategy::random())
        .executions(20)
        .explore(|| {
            let tokens = Arc::new(Primitive::new(Tokens(40)));
            let tasks: Vec<_> = (0..80)
                .map(|task| {
                    let tokens = tokens.clone();
                    thread::spawn(move || match task % 4 {
                        3 => quiesce(),
                        _ => {
                            let limit = Duration::from_millis(task);
                            _ = tokens.wait_timeout(ANY, limit, SeqCst, |tokens| tokens.0 -= 1);
                        }
                    })
                })
                .collect();
            quiesce();
            assert_eq!(tokens.read(SeqCst, |tokens| tokens.0), 0);
            tasks.into_iter().for_each(|task| task.join().unwrap());
        });
    assert!(report.verdict().is_pass(), "{report}");
}

#[test]
fn a_failure_after_quiet_replays() {
    let test = || {
        let order = Arc::new(Mutex::new(Vec::new()));
        for task in 0..2 {
            let order = order.clone();
            thread::spawn(move || {
                quiesce();
                order.lock().unwrap().push(task);
            });
        }
        quiesce();
        quiesce();
        assert_eq!(*order.lock().unwrap(), [0, 1]);
    };
    let explorer = || Explorer::new().program("quiet");
    let report = explorer().explore(test);
    let [finding] = report.findings() else {
        panic!("{report}")
    };
    assert_eq!(finding.kind.to_string(), "assertion");
    let again = explorer().replay(finding.schedule.clone()).explore(test);
    assert_eq!(again.findings(), report.findings());
}
