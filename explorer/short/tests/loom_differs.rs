//! Small programs that loom 0.7.2 gets wrong, each with exactly the outcomes that it has.
//!
//! All are from loom's issue tracker. Every search that claims to be exhaustive has to show the same set.

use intermezzo_explorer::sync::atomic::Ordering::{self, Relaxed, SeqCst};
use intermezzo_explorer::sync::atomic::{AtomicBool, AtomicUsize};
use intermezzo_explorer::sync::{Arc, Mutex};
use intermezzo_explorer::{Coverage, Environment, Explorer, Reduction, Report, thread};
use std::collections::BTreeSet;
use std::sync::Mutex as StdMutex;

/// The searches that claim to show every outcome.
const EXHAUSTIVE: [Reduction; 4] = [
    Reduction::None,
    Reduction::Caching,
    Reduction::SourceDpor,
    Reduction::Dpor,
];

/// Explores with each search to the end, or to the first finding.
fn explored(test: impl Fn() + Send + Sync) -> Vec<Report> {
    EXHAUSTIVE
        .map(|reduction| {
            Explorer::new()
                .environment(Environment::calm())
                .reduction(reduction)
                .explore(&test)
        })
        .into()
}

/// Checks that every search passes, covers all, and shows exactly these outcomes.
#[track_caller]
fn assert_outcomes<O: Ord + Clone + Send + std::fmt::Debug>(
    expected: impl IntoIterator<Item = O>,
    test: impl Fn() -> O + Send + Sync,
) {
    let expected: BTreeSet<O> = expected.into_iter().collect();
    for reduction in EXHAUSTIVE {
        let seen = StdMutex::new(BTreeSet::new());
        let report = Explorer::new()
            .environment(Environment::calm())
            .reduction(reduction)
            .explore(|| {
                let outcome = test();
                seen.lock().unwrap().insert(outcome);
            });
        assert!(report.verdict().is_pass(), "{reduction:?}: {report}");
        assert_eq!(report.coverage(), &Coverage::Exhaustive, "{reduction:?}");
        assert_eq!(seen.into_inner().unwrap(), expected, "{reduction:?}");
    }
}

/// A load right after a thread begins keeps loom from exploring that thread at all.
mod a_load_that_hides_a_store {
    use super::*;

    fn sees_the_store(irrelevant_load: bool) -> bool {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let other = thread::spawn(move || {
            if irrelevant_load {
                theirs.load(Relaxed);
            }
            theirs.store(true, Relaxed);
        });
        let seen = flag.load(Relaxed);
        other.join().unwrap();
        seen
    }

    #[test]
    fn the_store_is_seen_or_not() {
        assert_outcomes([false, true], || sees_the_store(false));
        assert_outcomes([false, true], || sees_the_store(true));
    }

    /// The same in a case that matters: a store that depends on the loaded value, and an assertion that the store
    /// breaks.
    #[test]
    fn a_conditional_store_fails_the_test() {
        let reports = explored(|| {
            let flag = Arc::new(AtomicBool::new(false));
            let theirs = flag.clone();
            let other = thread::spawn(move || {
                if !theirs.load(Relaxed) {
                    theirs.store(true, Relaxed);
                }
            });
            assert!(!flag.load(Relaxed), "the store came first");
            other.join().unwrap();
        });
        for report in reports {
            assert!(report.verdict().is_fail(), "{report}");
            let message = &report.findings()[0].message;
            assert!(message.contains("the store came first"), "{message}");
        }
    }
}

/// With one more load, whose value is not used, loom misses outcomes.
mod a_load_that_hides_outcomes {
    use super::*;

    /// Returns the values that one thread reads of a value and its key, while another stores both, then clears the
    /// value, then the key.
    fn value_and_key(redundant_load: bool) -> (usize, usize) {
        let entry = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
        let (written, read) = (entry.clone(), entry);
        let writer = thread::spawn(move || {
            let (key, value) = &*written;
            key.store(1, SeqCst);
            value.store(1, SeqCst);
            value.store(0, SeqCst);
            if redundant_load {
                key.load(SeqCst);
            }
            key.store(0, SeqCst);
        });
        let reader = thread::spawn(move || {
            let (key, value) = &*read;
            (value.load(SeqCst), key.load(SeqCst))
        });
        writer.join().unwrap();
        reader.join().unwrap()
    }

    #[test]
    fn all_four_are_seen() {
        let all = [(0, 0), (0, 1), (1, 0), (1, 1)];
        assert_outcomes(all, || value_and_key(false));
        assert_outcomes(all, || value_and_key(true));
    }
}

/// Loom lets a store come between the reading and the writing of a read-modify-write.
mod a_swap_that_is_not_atomic {
    use super::*;

    /// Returns the value that the swap found, and the final value.
    fn swapped(swap: impl Fn(&AtomicBool) -> bool + Send + 'static) -> (bool, bool) {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let swapper = thread::spawn(move || swap(&theirs));
        flag.store(true, Relaxed);
        let found = swapper.join().unwrap();
        (found, flag.load(Relaxed))
    }

    /// Found `false`: the store came after it, and remains. Found `true`: the store came before it, and was
    /// overwritten.
    #[test]
    fn the_store_comes_before_or_after() {
        let exchange =
            |flag: &AtomicBool, order: Ordering| flag.compare_exchange(true, false, order, Relaxed).is_ok();
        for order in [Relaxed, SeqCst] {
            assert_outcomes([(false, true), (true, false)], move || {
                swapped(move |flag| flag.swap(false, order))
            });
            assert_outcomes([(false, true), (true, false)], move || {
                swapped(move |flag| exchange(flag, order))
            });
        }
    }
}

/// Loom treats `SeqCst` as `AcqRel`, and finds an impossible failure.
mod a_store_buffer_that_is_not_there {
    use super::*;

    #[test]
    fn one_of_the_two_sees_the_other() {
        assert_outcomes([(0, 1), (1, 0), (1, 1)], || {
            let pair = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
            let (first, second) = (pair.clone(), pair);
            let first = thread::spawn(move || {
                first.0.store(1, SeqCst);
                first.1.load(SeqCst)
            });
            let second = thread::spawn(move || {
                second.1.store(1, SeqCst);
                second.0.load(SeqCst)
            });
            let seen = (first.join().unwrap(), second.join().unwrap());
            assert_ne!(seen, (0, 0), "both went first");
            seen
        });
    }
}

/// Loom reports a deadlock of two threads that only try to lock.
mod a_deadlock_of_nobody_who_waits {
    use super::*;

    /// Returns the results of two attempts to lock: the first task releases the lock at once, the second keeps it until
    /// the first has ended.
    #[test]
    fn who_only_tries_goes_on() {
        assert_outcomes([(false, true), (true, false), (true, true)], || {
            let lock = Arc::new(Mutex::new(0));
            let theirs = lock.clone();
            let other = thread::spawn(move || theirs.try_lock().is_ok());
            let guard = lock.try_lock();
            let got = guard.is_ok();
            let others = other.join().unwrap();
            drop(guard);
            (others, got)
        });
    }
}
