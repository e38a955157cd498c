//! Several tasks that unwind at once: each has its own number of panics, like threads of std. Random programs track by
//! themselves which of their tasks unwinds. The flag, poisoning and results of std have to agree, under every
//! reduction.

use super::{OnDrop, kinds, outcomes};
use intermezzo_explorer::sync::atomic::{AtomicU32, Ordering::SeqCst};
use intermezzo_explorer::sync::{Mutex, RwLock};
use intermezzo_explorer::{Environment, Explorer, Reduction, thread};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex as StdMutex};

#[derive(Debug)]
enum Step {
    Add(usize),
    Load(usize),
    Lock(usize, Vec<Step>),
    Write(Vec<Step>),
    /// The steps that a guard performs when it is dropped, and the steps before.
    Guard(Vec<Step>, Vec<Step>),
    Catch(Vec<Step>),
    /// With a hook, or without.
    Panic(bool),
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) % end
    }

    /// Returns steps that perform at most `left` visible operations. A destructor has to catch its panics. A lock is
    /// not taken twice, and locks are taken in order.
    fn steps(&mut self, left: &mut u32, may_panic: bool, locks: usize) -> Vec<Step> {
        let mut steps = Vec::new();
        for _ in 0..1 + self.below(3) {
            let step = match self.below(8) {
                _ if *left == 0 => continue,
                0 | 1 => {
                    *left -= 1;
                    Step::Add(self.below(2) as usize)
                }
                2 => {
                    *left -= 1;
                    Step::Load(self.below(2) as usize)
                }
                3 if *left > 1 && locks < 2 => {
                    *left -= 2;
                    Step::Lock(locks, self.steps(left, may_panic, locks + 1))
                }
                4 if *left > 1 && locks < 3 => {
                    *left -= 2;
                    Step::Write(self.steps(left, may_panic, 3))
                }
                5 => Step::Guard(self.steps(left, false, locks), self.steps(left, may_panic, locks)),
                6 => Step::Catch(self.steps(left, true, locks)),
                7 if may_panic => {
                    steps.push(Step::Panic(self.below(2) == 0));
                    break;
                }
                _ => continue,
            };
            steps.push(step);
        }
        steps
    }
}

#[derive(Default)]
struct Shared {
    numbers: [AtomicU32; 2],
    /// `true` if the lock is to be poisoned.
    locks: [Mutex<bool>; 2],
    other: RwLock<bool>,
}

/// A task that runs a program, and knows the number of panics from which it unwinds.
struct Runner<'s> {
    shared: &'s Shared,
    panics: Cell<u32>,
    seen: Cell<Vec<u32>>,
}

impl Runner<'_> {
    fn note(&self, what: u32) {
        let mut seen = self.seen.take();
        seen.push(what);
        self.seen.set(seen);
    }

    fn look(&self) {
        let unwinds = self.panics.get() > 0;
        assert_eq!(
            (thread::panicking(), std::thread::panicking()),
            (unwinds, unwinds)
        );
    }

    fn run(&self, steps: &[Step]) {
        for step in steps {
            self.look();
            match step {
                Step::Add(at) => self.note(self.shared.numbers[*at].fetch_add(1, SeqCst)),
                Step::Load(at) => self.note(self.shared.numbers[*at].load(SeqCst)),
                Step::Lock(at, body) => self.hold(self.shared.locks[*at].lock(), body),
                Step::Write(body) => self.hold(self.shared.other.write(), body),
                Step::Guard(at_end, body) => {
                    let _guard = OnDrop(|| self.run(at_end));
                    self.run(body);
                }
                Step::Catch(body) => {
                    let before = self.panics.get();
                    let caught = catch_unwind(AssertUnwindSafe(|| self.run(body)));
                    assert_eq!(caught.is_err(), self.panics.get() > before);
                    self.panics.set(before);
                }
                Step::Panic(with_hook) => {
                    self.panics.set(self.panics.get() + 1);
                    if *with_hook {
                        panic!("as planned");
                    }
                    resume_unwind(Box::new("as planned"));
                }
            }
            self.look();
        }
    }

    fn hold<G: std::ops::DerefMut<Target = bool>>(
        &self,
        lock: Result<G, std::sync::PoisonError<G>>,
        body: &[Step],
    ) {
        let poisoned = lock.is_err();
        let guard = lock.unwrap_or_else(std::sync::PoisonError::into_inner);
        assert_eq!(poisoned, *guard);
        self.note(u32::from(poisoned));
        let unwound = self.panics.get();
        // Dropped before the guard.
        let mut guard = scopeguard(guard, |guard| {
            **guard |= unwound == 0 && self.panics.get() > 0;
        });
        self.run(body);
        guard.touch();
    }
}

/// A value, and an action on it right before it is dropped.
struct ScopeGuard<V, F: FnMut(&mut V)>(V, F);

impl<V, F: FnMut(&mut V)> ScopeGuard<V, F> {
    fn touch(&mut self) {}
}

impl<V, F: FnMut(&mut V)> Drop for ScopeGuard<V, F> {
    fn drop(&mut self) {
        (self.1)(&mut self.0);
    }
}

fn scopeguard<V, F: FnMut(&mut V)>(value: V, at_end: F) -> ScopeGuard<V, F> {
    ScopeGuard(value, at_end)
}

fn run(tasks: &[Vec<Step>]) -> Vec<Vec<u32>> {
    let shared = Shared::default();
    thread::scope(|scope| {
        let handles: Vec<_> = tasks
            .iter()
            .map(|steps| {
                scope.spawn(|| {
                    let runner = Runner {
                        shared: &shared,
                        panics: Cell::new(0),
                        seen: Cell::default(),
                    };
                    let unwound = catch_unwind(AssertUnwindSafe(|| runner.run(steps)));
                    assert_eq!(unwound.is_err(), runner.panics.get() > 0);
                    assert!(!thread::panicking());
                    runner.seen.take()
                })
            })
            .collect();
        handles
            .into_iter()
            .map(|handle| {
                let seen = handle.join();
                assert!(!thread::panicking());
                seen.unwrap_or_else(|panic| resume_unwind(panic))
            })
            .collect()
    })
}

#[test]
fn each_task_has_its_own_panics() {
    let mut random = Random(22);
    let (mut together, mut poisoned) = (0, 0);
    for number in 0..200 {
        let tasks: Vec<Vec<Step>> = (0..2 + random.below(2))
            .map(|_| random.steps(&mut 4, true, 0))
            .collect();
        let explore = |reduction| {
            let explorer = Explorer::new().environment(Environment::calm());
            outcomes(explorer.reduction(reduction).executions(20_000), || run(&tasks))
        };
        let (all, report) = explore(Reduction::None);
        assert!(report.verdict().is_pass(), "{number}: {tasks:?}\n{report}");
        if report.executions() == 20_000 {
            continue;
        }
        for reduction in [Reduction::Caching, Reduction::SourceDpor, Reduction::Dpor] {
            let (seen, report) = explore(reduction);
            assert!(report.verdict().is_pass(), "{number}: {tasks:?}\n{report}");
            assert_eq!(seen, all, "{number}, {reduction:?}: {tasks:?}");
        }
        let unwinds = |steps: &Vec<Step>| format!("{steps:?}").matches("Panic").count() > 0;
        together += u32::from(tasks.iter().filter(|steps| unwinds(steps)).count() > 1);
        poisoned += u32::from(format!("{tasks:?}").contains("Lock") && all.len() > 1);
    }
    assert_eq!((together, poisoned), (43, 66));
}

#[test]
fn a_caught_panic_is_over_while_another_task_unwinds() {
    let (seen, report) = outcomes(Explorer::new().environment(Environment::calm()), || {
        let number = Arc::new(AtomicU32::new(0));
        let lock = Arc::new(Mutex::new(()));
        let unwinds = {
            let number = number.clone();
            thread::spawn(move || {
                let _slow = OnDrop(|| {
                    number.store(1, SeqCst);
                    number.store(2, SeqCst);
                });
                panic!("in a task");
            })
        };
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let _slow = OnDrop(|| {
                number.load(SeqCst);
            });
            panic!("caught");
        }));
        assert!(caught.is_err());
        let panicking = thread::panicking();
        drop(lock.lock());
        assert!(unwinds.join().is_err());
        (panicking, lock.is_poisoned())
    });
    assert!(report.verdict().is_pass(), "{report}");
    assert_eq!(seen, BTreeSet::from([(false, false)]));
}

#[test]
fn a_panic_that_a_scope_would_pass_on_is_told() {
    // The scope first waits for its task, which waits for the lock.
    let waits = |body: fn()| {
        Explorer::new().explore(move || {
            let held = Mutex::new(0);
            let _held = held.lock();
            thread::scope(|scope| {
                scope.spawn(|| drop(held.lock()));
                body();
            });
        })
    };
    let report = waits(|| panic!("the root cause"));
    assert_eq!(kinds(&report), ["panic"], "{report}");
    let message = &report.findings()[0].message;
    assert!(message.starts_with("main panicked at "), "{message}");
    assert!(message.contains(": the root cause"), "{message}");
    assert!(!message.contains("destructors"), "{message}");
    // One that the body itself catches is none.
    let report = waits(|| drop(catch_unwind(|| panic!("caught"))));
    assert_eq!(kinds(&report), ["deadlock"], "{report}");
}

#[test]
fn a_panic_that_still_unwinds_at_the_end_is_told() {
    // The task poisons the lock, and waits in a destructor for the lock that main holds. Main fails because of the
    // poison.
    let report = Explorer::new().explore(|| {
        let (data, held) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0)));
        let main_holds = held.lock().unwrap();
        let task = {
            let (data, held) = (data.clone(), held.clone());
            thread::spawn(move || {
                let _waits = OnDrop(|| drop(held.lock()));
                let _data = data.lock().unwrap();
                assert!(catch_unwind(|| panic!("caught")).is_err());
                panic!("the root cause");
            })
        };
        while !data.is_poisoned() {
            thread::yield_now();
        }
        drop(data.lock().expect("the data is sound"));
        drop(main_holds);
        let _ = task.join();
    });
    assert_eq!(kinds(&report), ["panic"], "{report}");
    let message = &report.findings()[0].message;
    let causes: Vec<_> = message.split("; then ").collect();
    let [first, second] = causes[..] else {
        panic!("{message}")
    };
    assert!(first.starts_with("task 1 panicked at "), "{message}");
    assert!(
        first.ends_with(": the root cause (its destructors had not ended when the execution did)"),
        "{message}"
    );
    assert!(second.starts_with("main panicked at "), "{message}");
    assert!(second.contains("the data is sound: PoisonError"), "{message}");
    assert_eq!(report.findings()[0].tasks, ["task 1", "main"]);
}

#[test]
fn of_nested_panics_those_not_caught_are_told() {
    // Both wait for ever. The task waits in a destructor that began after the panic in it was caught.
    let report = Explorer::new().explore(|| {
        let never = Arc::new(Mutex::new(0));
        let held = never.lock().unwrap();
        let wanted = never.clone();
        let task = thread::spawn(move || {
            let _waits = OnDrop(|| {
                assert!(catch_unwind(|| panic!("caught")).is_err());
                drop(wanted.lock());
            });
            panic!("the root cause");
        });
        task.join().unwrap_err();
        drop(held);
    });
    assert_eq!(kinds(&report), ["panic"], "{report}");
    let message = &report.findings()[0].message;
    let (cause, then) = message.split_once("; then no task could continue: ").unwrap();
    assert!(cause.starts_with("task 1 panicked at "), "{message}");
    assert!(cause.contains(": the root cause (its destructors"), "{message}");
    assert!(then.contains("main waits for task 1 to end at "), "{message}");
    assert!(!message.contains("caught"), "{message}");
}

#[test]
fn a_crash_while_unwinding_tells_of_the_panic() {
    let report = Explorer::new().explore(|| {
        let _bomb = OnDrop(|| panic!("in a destructor"));
        panic!("the root cause");
    });
    assert_eq!(kinds(&report), ["crash"], "{report}");
    let message = &report.findings()[0].message;
    assert!(message.contains("; before that main panicked at "), "{message}");
    assert!(message.contains("the root cause"), "{message}");
    assert!(
        !std::thread::panicking(),
        "the panics that were cut off are not the thread's"
    );
}

#[test]
fn an_exploration_in_a_destructor_begins_without_panics() {
    let caught = catch_unwind(|| {
        let _explores = OnDrop(|| {
            assert!(std::thread::panicking());
            let report = Explorer::new().explore(|| {
                assert!(!thread::panicking());
                let lock = Mutex::new(());
                drop(lock.lock());
                assert!(!lock.is_poisoned());
            });
            assert!(std::thread::panicking());
            assert!(report.verdict().is_pass(), "{report}");
        });
        resume_unwind(Box::new(()));
    });
    assert!(caught.is_err() && !std::thread::panicking());
}

/// Code can see that it runs only because a deadlock has ended its execution: by then its task unwinds. Without unwinding
/// none runs.
#[test]
fn a_destructor_sees_that_a_deadlock_unwinds_its_task() {
    // The bytes are those of all explorations of this process.
    for forgotten_bytes in [0, 1_u64 << 40] {
        let seen = Arc::new(StdMutex::new(Vec::new()));
        let report = Explorer::new()
            .set("stack", format!("forgotten={forgotten_bytes}"))
            .explore({
                let seen = seen.clone();
                move || {
                    let look = || OnDrop(|| seen.lock().unwrap().push(thread::panicking()));
                    let ready = Mutex::new(());
                    thread::scope(|scope| drop(scope.spawn(|| drop(look()))));
                    let _held = ready.lock().unwrap();
                    let _look = look();
                    let _again = ready.lock().unwrap();
                }
            });
        assert_eq!(kinds(&report), ["deadlock"], "{report}");
        let seen = seen.lock().unwrap();
        // In each execution, the task that ended did not unwind.
        let ended = seen.iter().filter(|unwinds| !**unwinds).count();
        let unwound = if forgotten_bytes == 0 { ended } else { 0 };
        assert!(ended > 0, "{seen:?}");
        assert_eq!(seen.len() - ended, unwound, "{seen:?}");
    }
}
