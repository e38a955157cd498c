//! Loops that wait for each other: with priorities that never change, each may look at the wrong moment forever.

use crate::same::SAMPLERS;
use intermezzo_explorer::sync::atomic::{AtomicBool, Ordering::SeqCst};
use intermezzo_explorer::{Environment, Explorer, Strategy, thread};
use std::hint::black_box;

/// A task takes a lock again and again until it sees that the other one is done. The other one needs the lock once, and
/// tries to take it. With some priorities of places, it tries only while the first task has the lock.
///
/// Both count their rounds, so that their states never repeat: otherwise they would be parked.
fn tries_while_it_is_taken() {
    let (taken, is_done) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut rounds = 0_u64;
            loop {
                if !taken.swap(true, SeqCst) {
                    let seen = is_done.load(SeqCst);
                    taken.store(false, SeqCst);
                    if seen {
                        break;
                    }
                }
                *black_box(&mut rounds) += 1;
                thread::yield_now();
            }
        });
        scope.spawn(|| {
            let mut rounds = 0_u64;
            while !is_done.load(SeqCst) && taken.swap(true, SeqCst) {
                *black_box(&mut rounds) += 1;
                thread::yield_now();
            }
            is_done.store(true, SeqCst);
            taken.store(false, SeqCst);
        });
    });
}

#[test]
fn tasks_that_are_preempted_leave_lockstep() {
    for strategy in SAMPLERS {
        let report = Explorer::new()
            .environment(Environment::calm())
            .strategy(Strategy::named(strategy).unwrap())
            .executions(200)
            .steps_per_execution(200_000)
            .explore(tries_while_it_is_taken);
        assert!(report.verdict().is_pass(), "{strategy}: {report}");
    }
}
