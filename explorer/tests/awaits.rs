//! Waiting loops are explored without a bound, and distinguished from loops that end by themselves.

use intermezzo_explorer::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::{Condvar, Mutex};
use intermezzo_explorer::{Coverage, Explorer, Limit, Reduction, Report, Schedule, Strategy, hint, thread};
use std::collections::BTreeSet;
use std::hint::black_box;
use std::mem::MaybeUninit;
use std::sync::Mutex as StdMutex;
use std::sync::atomic::AtomicUsize as StdAtomicUsize;

/// The two ways to yield in a loop.
const WAYS: [fn(); 2] = [hint::spin_loop, thread::yield_now];

/// Asserts that every schedule was run and nothing was found.
fn covered(report: &Report) {
    assert!(report.verdict().is_pass(), "{report}");
    assert_eq!(*report.coverage(), Coverage::Exhaustive, "{report}");
}

/// Asserts that nothing was found, and that every schedule was run except those that this limit left out.
fn covered_but_for(report: &Report, limit: &Limit) {
    assert!(report.verdict().is_pass(), "{report}");
    let narrowing: Vec<&Limit> = report.limits().iter().filter(|limit| limit.narrows()).collect();
    assert_eq!(narrowing, [limit], "{report}");
    assert!(
        report.coverage().to_string().contains(&limit.to_string()),
        "{report}"
    );
}

fn kind(report: &Report) -> String {
    report.findings()[0].kind.to_string()
}

/// Explores a lock under which `tasks` tasks increment a number, not atomically. Returns the number of executions. It
/// depends a little on the bytes that the compiler leaves in dead registers, so only a bound can be tested.
fn lock<L: Send + Sync>(tasks: usize, new: fn() -> L, lock: fn(&L), unlock: fn(&L)) -> u64 {
    let report = Explorer::new().explore(|| {
        let (guard, n) = (new(), AtomicUsize::new(0));
        thread::scope(|s| {
            for _ in 0..tasks {
                s.spawn(|| {
                    lock(&guard);
                    n.store(n.load(SeqCst) + 1, SeqCst);
                    unlock(&guard);
                });
            }
        });
        assert_eq!(n.load(SeqCst), tasks);
    });
    covered(&report);
    report.executions()
}

#[test]
fn a_test_and_set_lock() {
    fn acquire<const WAY: usize>(lock: &AtomicBool) {
        while lock.swap(true, SeqCst) {
            WAYS[WAY]();
        }
    }
    let unlock = |lock: &AtomicBool| lock.store(false, SeqCst);
    assert!(lock(2, || AtomicBool::new(false), acquire::<0>, unlock) <= 40);
    assert!(lock(2, || AtomicBool::new(false), acquire::<1>, unlock) <= 40);
}

#[test]
fn a_compare_and_exchange_lock() {
    fn acquire<const WAY: usize>(lock: &AtomicBool) {
        while lock.compare_exchange(false, true, SeqCst, SeqCst).is_err() {
            WAYS[WAY]();
        }
    }
    let unlock = |lock: &AtomicBool| lock.store(false, SeqCst);
    assert!(lock(2, || AtomicBool::new(false), acquire::<0>, unlock) <= 40);
    assert!(lock(2, || AtomicBool::new(false), acquire::<1>, unlock) <= 40);
    assert!(lock(3, || AtomicBool::new(false), acquire::<0>, unlock) <= 10_000);
}

#[test]
fn a_weak_compare_and_exchange_lock() {
    fn acquire(lock: &AtomicBool) {
        while lock.compare_exchange_weak(false, true, SeqCst, SeqCst).is_err() {
            hint::spin_loop();
        }
    }
    let unlock = |lock: &AtomicBool| lock.store(false, SeqCst);
    let executions = lock(2, || AtomicBool::new(false), acquire, unlock);
    assert!(executions <= 104, "{executions}");
}

#[test]
fn a_test_and_test_and_set_lock() {
    fn acquire<const WAY: usize>(lock: &AtomicBool) {
        loop {
            while lock.load(SeqCst) {
                WAYS[WAY]();
            }
            if !lock.swap(true, SeqCst) {
                break;
            }
        }
    }
    let unlock = |lock: &AtomicBool| lock.store(false, SeqCst);
    assert!(lock(2, || AtomicBool::new(false), acquire::<0>, unlock) <= 200);
    assert!(lock(2, || AtomicBool::new(false), acquire::<1>, unlock) <= 200);
}

#[test]
fn a_ticket_lock() {
    fn acquire<const WAY: usize>((next, serving): &(AtomicUsize, AtomicUsize)) {
        let ticket = next.fetch_add(1, SeqCst);
        while serving.load(SeqCst) != ticket {
            WAYS[WAY]();
        }
    }
    let unlock = |(_, serving): &(AtomicUsize, AtomicUsize)| {
        serving.fetch_add(1, SeqCst);
    };
    let new = || (AtomicUsize::new(0), AtomicUsize::new(0));
    assert!(lock(2, new, acquire::<0>, unlock) <= 140);
    assert!(lock(2, new, acquire::<1>, unlock) <= 140);
    assert!(lock(3, new, acquire::<0>, unlock) <= 200_000);
}

/// Two variables are waited for at once.
#[test]
fn petersons_lock() {
    let enter = |me: usize, flags: &[AtomicBool; 2], turn: &AtomicUsize| {
        flags[me].store(true, SeqCst);
        turn.store(1 - me, SeqCst);
        while flags[1 - me].load(SeqCst) && turn.load(SeqCst) == 1 - me {
            hint::spin_loop();
        }
    };
    let report = Explorer::new().explore(|| {
        let flags = [AtomicBool::new(false), AtomicBool::new(false)];
        let (turn, inside) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|s| {
            for me in 0..2 {
                let (flags, turn, inside) = (&flags, &turn, &inside);
                s.spawn(move || {
                    enter(me, flags, turn);
                    assert_eq!(inside.fetch_add(1, SeqCst), 0);
                    inside.fetch_sub(1, SeqCst);
                    flags[me].store(false, SeqCst);
                });
            }
        });
    });
    covered(&report);
    // Without failed rounds there would be some ten times as many.
    assert!(report.executions() <= 6_000, "{report}");
}

#[test]
fn a_sequence_lock() {
    for way in WAYS {
        let seen = StdMutex::new(BTreeSet::new());
        let report = Explorer::new().explore(|| {
            let (sequence, a, b) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
            let read = thread::scope(|s| {
                let reader = s.spawn(|| {
                    loop {
                        let before = sequence.load(SeqCst);
                        let read = (a.load(SeqCst), b.load(SeqCst));
                        if before % 2 == 0 && sequence.load(SeqCst) == before {
                            break read;
                        }
                        way();
                    }
                });
                s.spawn(|| {
                    sequence.fetch_add(1, SeqCst);
                    a.store(1, SeqCst);
                    b.store(1, SeqCst);
                    sequence.fetch_add(1, SeqCst);
                });
                reader.join().unwrap()
            });
            seen.lock().unwrap().insert(read);
        });
        // The first failed rounds yield while the writer waits.
        covered_but_for(&report, &Limit::Fairness { every: 1 });
        assert_eq!(seen.into_inner().unwrap(), BTreeSet::from([(0, 0), (1, 1)]));
    }
}

/// A bounded spin may end at each of its rounds.
#[test]
fn bounded_spins_keep_their_outcomes() {
    for way in WAYS {
        let seen = StdMutex::new(BTreeSet::new());
        let report = Explorer::new().set("spin_loops", "fair_yields=100").explore(|| {
            let x = AtomicUsize::new(0);
            let rounds = thread::scope(|s| {
                s.spawn(|| x.store(1, SeqCst));
                s.spawn(|| {
                    for round in 0..4 {
                        if x.load(SeqCst) == 1 {
                            return Some(round);
                        }
                        way();
                    }
                    None
                })
                .join()
                .unwrap()
            });
            seen.lock().unwrap().insert(rounds);
        });
        covered(&report);
        let all = [None, Some(0), Some(1), Some(2), Some(3)];
        assert_eq!(seen.into_inner().unwrap(), BTreeSet::from(all));
        assert!(report.notes().is_empty(), "never parked: {report}");
    }
}

/// Waits for 1: checks twice, yields after each check, and begins again. Returns the number of the check that found it.
fn wait_in_bursts(x: &AtomicUsize) -> usize {
    loop {
        for look in 0..2 {
            if x.load(SeqCst) == 1 {
                return look;
            }
            hint::spin_loop();
        }
        thread::yield_now();
    }
}

/// A loop that has returned to its state of some yields ago only waits, and any of its checks may be the last.
#[test]
fn bursts_of_checks_are_parked() {
    let seen = StdMutex::new(BTreeSet::new());
    let report = Explorer::new()
        .set("spin_loops", format!("fair_yields={}", u32::MAX))
        .explore(|| {
            let x = AtomicUsize::new(0);
            let look = thread::scope(|s| {
                s.spawn(|| x.store(1, SeqCst));
                s.spawn(|| wait_in_bursts(&x)).join().unwrap()
            });
            seen.lock().unwrap().insert(look);
        });
    covered(&report);
    assert_eq!(seen.into_inner().unwrap(), BTreeSet::from([0, 1]));
    assert!(
        report.limits().contains(&Limit::Awaits { seen: false }),
        "{report}"
    );

    let report = Explorer::new().explore(|| {
        let x = AtomicUsize::new(0);
        thread::scope(|s| _ = s.spawn(|| wait_in_bursts(&x)));
    });
    assert_eq!(kind(&report), "livelock");
    let message = &report.findings()[0].message;
    assert!(
        message.contains("task 1 goes round in a loop and waits for atomic"),
        "{message}"
    );
}

/// A back-off runs while it grows, and its task is parked once it does not.
#[test]
fn a_back_off_grows_and_saturates() {
    let seen = StdMutex::new(BTreeSet::new());
    let report = Explorer::new().set("spin_loops", "fair_yields=100").explore(|| {
        let x = AtomicUsize::new(0);
        let waits = thread::scope(|s| {
            s.spawn(|| x.store(1, SeqCst));
            s.spawn(|| {
                let mut waits = 1;
                while x.load(SeqCst) != 1 {
                    for _ in 0..waits {
                        hint::spin_loop();
                    }
                    waits = (waits * 2).min(4);
                }
                waits
            })
            .join()
            .unwrap()
        });
        seen.lock().unwrap().insert(waits);
    });
    covered(&report);
    assert_eq!(seen.into_inner().unwrap(), BTreeSet::from([1, 2, 4]));
}

/// Something other than a variable may end a loop: here it is a deadline.
#[test]
fn a_loop_that_reads_the_clock_is_not_parked() {
    use intermezzo_explorer::time::Instant;
    let seen = StdMutex::new(BTreeSet::new());
    let report = Explorer::new().set("spin_loops", "fair_yields=100").explore(|| {
        let x = AtomicUsize::new(0);
        let until = Instant::now() + std::time::Duration::from_micros(3);
        let late = thread::scope(|s| {
            s.spawn(|| x.store(1, SeqCst));
            s.spawn(|| {
                while x.load(SeqCst) != 1 {
                    if Instant::now() > until {
                        return true;
                    }
                    hint::spin_loop();
                }
                false
            })
            .join()
            .unwrap()
        });
        seen.lock().unwrap().insert(late);
    });
    assert!(report.verdict().is_pass(), "{report}");
    assert_eq!(seen.into_inner().unwrap(), BTreeSet::from([false, true]));
}

/// Explores loops for which no task sets the flag.
fn waits_for_ever() -> Report {
    Explorer::new().program("for ever").explore(for_ever)
}

fn for_ever() {
    let (x, y) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|s| {
        s.spawn(|| {
            while x.load(SeqCst) != 2 {
                hint::spin_loop();
            }
        });
        s.spawn(|| {
            x.store(1, SeqCst);
            while y.load(SeqCst) != 1 {
                thread::yield_now();
            }
        });
    });
}

#[test]
fn a_wait_for_a_flag_that_is_never_set_is_a_livelock() {
    let report = waits_for_ever();
    assert_eq!(kind(&report), "livelock");
    let found = &report.findings()[0];
    assert_eq!(found.tasks, ["main", "task 1", "task 2"]);
    let here = file!();
    let expected =
        format!("task 1 goes round in a loop and waits for atomic 1.1 to be other than 1 at {here}:");
    assert!(found.message.contains(&expected), "{}", found.message);
    assert!(
        found
            .message
            .contains("task 2 goes round in a loop and waits for atomic 2."),
        "{}",
        found.message
    );
    assert!(found.message.contains("main waits for"), "{}", found.message);
}

/// A replay gives the same execution, byte by byte, with its parked tasks.
#[test]
fn parks_are_replayed() {
    let found = waits_for_ever();
    let schedule = &found.findings()[0].schedule;
    for schedule in [
        schedule.clone(),
        Schedule::from_token(&schedule.token()).unwrap(),
        Schedule::from_json(&schedule.to_json(None)).unwrap(),
    ] {
        let replayed = Explorer::new()
            .program("for ever")
            .replay(schedule)
            .explore(for_ever);
        assert_eq!(replayed.findings().len(), 1, "{replayed}");
        assert_eq!(replayed.findings()[0].message, found.findings()[0].message);
        assert_eq!(replayed.findings()[0].events, found.findings()[0].events);
    }
}

/// The end of the loop depends on memory that is not compared. It is found once no other task can continue.
#[test]
fn a_loop_bounded_by_the_heap_still_ends() {
    /// Counts in the heap, where the count leaves no trace on the stack.
    #[inline(never)]
    fn one_more(rounds: &mut u32) -> bool {
        *rounds += 1;
        *rounds < 6
    }
    let test = || {
        let (x, mut rounds) = (AtomicUsize::new(0), Box::new(0));
        while x.load(SeqCst) != 1 && one_more(&mut rounds) {
            hint::spin_loop();
        }
        x.store(1, SeqCst);
    };
    let report = Explorer::new().explore(test);
    covered_but_for(&report, &Limit::Awaits { seen: true });
    let said = |report: &Report, what: &str| report.notes().iter().any(|note| note.contains(what));
    assert!(said(&report, "seemed to wait"), "{report}");
    let report = Explorer::new().set("spin_loops", "run").explore(test);
    covered(&report);
    assert!(!said(&report, "spin_loops"), "{report}");
}

/// Runs a function in a part of the stack that the engine does not use.
#[inline(never)]
fn deeper(run: impl FnOnce()) {
    let between = [0_u8; 8192];
    black_box(&between);
    run();
    black_box(&between);
}

/// Writes a value all over the part of the stack that the next function will use.
#[inline(never)]
fn litter(value: usize) {
    black_box(&[value; 2048]);
}

/// Waits. A slot of the stack keeps its earlier contents until it is written in the second round.
#[inline(never)]
fn wait_with_a_slot(flag: &AtomicUsize) {
    let mut slot = MaybeUninit::<[usize; 16]>::uninit();
    while flag.load(SeqCst) == 0 {
        hint::spin_loop();
        black_box(slot.write([7; 16]));
    }
}

/// The contents that a task leaves on its stack do not affect when the next task on that stack is parked.
#[test]
fn contents_of_stacks_do_not_affect_later_executions() {
    let explore = |jobs, left: fn(usize) -> usize| {
        let executions = StdAtomicUsize::new(0);
        let report = Explorer::new().jobs(jobs).explore(|| {
            let left = left(executions.fetch_add(1, SeqCst));
            let (flag, other) = (AtomicUsize::new(0), AtomicUsize::new(0));
            thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        deeper(|| wait_with_a_slot(&flag));
                        deeper(|| litter(left));
                    });
                }
                (0..2).for_each(|_| _ = other.fetch_add(1, SeqCst));
                flag.store(1, SeqCst);
            });
        });
        assert!(report.verdict().is_pass(), "{report}");
        (report.executions(), report.traces(), report.coverage().clone())
    };
    let clean = explore(1, |_| 0);
    for jobs in [1, 2, 3] {
        assert_eq!(explore(jobs, |_| 7), clean);
        assert_eq!(explore(jobs, |execution| execution % 2 * 7), clean);
    }
}

/// Explores with every search. Their results must agree.
fn by_each(test: impl Fn() + Send + Sync) -> Vec<Report> {
    let mut explorers = vec![Explorer::new().strategy(Strategy::auto())];
    for (_, reduction) in Reduction::ALL {
        if reduction != Reduction::OrderedAtomics {
            explorers.push(Explorer::new().reduction(reduction));
        }
    }
    explorers.push(Explorer::new().reduction(Reduction::Dpor).jobs(2));
    explorers
        .into_iter()
        .map(|explorer| explorer.explore(&test))
        .collect()
}

/// A task that waits on a condition variable releases the mutex, for which another one waits in a loop.
#[test]
fn a_wait_on_a_condition_variable_changes_its_mutex() {
    for report in by_each(|| {
        let (lock, condvar) = (Mutex::new(false), Condvar::new());
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut guard = loop {
                    match lock.try_lock() {
                        Ok(guard) => break guard,
                        Err(_) => thread::yield_now(),
                    }
                };
                *guard = true;
                condvar.notify_one();
            });
            let mut guard = lock.lock().unwrap();
            while !*guard {
                guard = condvar.wait(guard).unwrap();
            }
        });
    }) {
        covered(&report);
    }
}

/// After a loop that ends because of memory that is not compared, all orders of what follows are run. A failure that
/// depends on them is found by every search.
#[test]
fn steps_after_a_loop_that_counts_are_explored() {
    let test = |fails: bool| {
        by_each(move || {
            let (flag, count) = (AtomicUsize::new(0), Box::new(StdAtomicUsize::new(0)));
            let (first, second) = (AtomicUsize::new(0), AtomicUsize::new(0));
            thread::scope(|scope| {
                scope.spawn(|| {
                    while flag.load(SeqCst) == 0 && count.fetch_add(1, SeqCst) < 4 {
                        thread::yield_now();
                    }
                    first.store(1, SeqCst);
                    second.store(1, SeqCst);
                });
                scope.spawn(|| {
                    while first.load(SeqCst) == 0 {
                        thread::yield_now();
                    }
                    assert!(!fails || second.load(SeqCst) == 1, "it is too early");
                });
            });
        })
    };
    for report in test(false) {
        covered_but_for(&report, &Limit::Awaits { seen: true });
    }
    for report in test(true) {
        assert_eq!(kind(&report), "panic", "{report}");
    }
}
