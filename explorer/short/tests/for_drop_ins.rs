//! The parts that drop-ins of other tools need besides the look-alikes: operations without a schedule point, a function
//! that is called at switches, and a count of steps that begins again.

use intermezzo_explorer::future::{block_on, block_on_woken_in_step};
use intermezzo_explorer::primitive::{Primitive, State};
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::{Mutex, mpsc::channel};
use intermezzo_explorer::{
    Coverage, Explorer, Reduction, Report, Strategy, is_exploring, on_switch, reset_step_count, thread,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::future::poll_fn;
use std::sync::atomic::Ordering::AcqRel;
use std::sync::{Arc, Mutex as StdMutex};
use std::task::Poll;

/// Explores a test that returns a value. Returns the set of these values.
fn outcomes<T: Ord + Send + 'static>(
    explorer: Explorer,
    test: impl Fn() -> T + Send + Sync,
) -> (BTreeSet<T>, Report) {
    let seen = StdMutex::new(BTreeSet::new());
    let report = explorer.explore(|| {
        let outcome = test();
        seen.lock().unwrap().insert(outcome);
    });
    assert!(report.verdict().is_pass(), "{report}");
    assert_eq!(*report.coverage(), Coverage::Exhaustive, "{report}");
    (seen.into_inner().unwrap(), report)
}

/// A list that tasks add to.
#[derive(Default)]
struct List(Vec<(usize, usize)>);

impl State for List {}

/// A step of a task: it changes an atomic, and then adds to lists.
#[derive(Clone)]
struct Step {
    atomic: usize,
    lists: Vec<usize>,
}

/// Runs the tasks. Returns the lists.
fn run(tasks: &[Vec<Step>]) -> Vec<Vec<(usize, usize)>> {
    let atomics = [(); 2].map(|()| AtomicUsize::new(0));
    let lists = [(); 2].map(|()| Primitive::new(List::default()));
    thread::scope(|scope| {
        for (task, steps) in tasks.iter().enumerate() {
            let (atomics, lists) = (&atomics, &lists);
            scope.spawn(move || {
                for (number, step) in steps.iter().enumerate() {
                    atomics[step.atomic].fetch_add(1, SeqCst);
                    for &list in &step.lists {
                        lists[list].change_in_step(AcqRel, |list| list.0.push((task, number)));
                    }
                }
            });
        }
    });
    lists
        .map(|list| list.change(AcqRel, |list| std::mem::take(&mut list.0)))
        .to_vec()
}

/// Operations in a step belong to it: they come in the order of the steps, and no search tries another, nor misses one.
#[test]
fn operations_in_a_step_are_as_atomic_as_the_step() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut fewer = 0;
    for program in 0..60 {
        let mut step = |_| Step {
            atomic: random.random_range(0..2),
            lists: (0..2).filter(|_| random.random_bool(0.4)).collect(),
        };
        let tasks: Vec<Vec<Step>> = [3, 2, 2]
            .iter()
            .map(|&steps| (0..steps).map(&mut step).collect())
            .collect();
        let of = |reduction| outcomes(Explorer::new().reduction(reduction), || run(&tasks));
        let (all, every) = of(Reduction::None);
        // 7! / (3! * 2! * 2!) orders of the steps: an operation in a step adds none.
        assert_eq!(every.executions(), 210, "program {program}");
        for reduction in [Reduction::Dpor, Reduction::SourceDpor, Reduction::Caching] {
            let (seen, report) = of(reduction);
            assert_eq!(seen, all, "program {program}, {reduction:?}");
            fewer += usize::from(report.executions() < every.executions());
        }
    }
    assert!(fewer > 60, "{fewer}");
}

/// A call of a waker in a step hides no outcome, and adds no schedule.
#[test]
fn wakers_called_in_a_step_add_no_schedule() {
    type BlockOn = fn(&mut dyn FnMut() -> bool);
    fn polled(mut is_ready: impl FnMut() -> bool) -> impl Future<Output = ()> {
        poll_fn(move |context| match is_ready() {
            true => Poll::Ready(()),
            false => {
                context.waker().wake_by_ref();
                Poll::Pending
            }
        })
    }
    let of = |block_on: BlockOn| {
        outcomes(Explorer::new().reduction(Reduction::None), || {
            let n = AtomicUsize::new(0);
            let mut seen = Vec::new();
            thread::scope(|scope| {
                scope.spawn(|| (0..2).for_each(|_| _ = n.fetch_add(1, SeqCst)));
                let mut left = 3;
                block_on(&mut || {
                    seen.push(n.load(SeqCst));
                    left -= 1;
                    left == 0
                });
            });
            seen
        })
    };
    let (all, with_points) = of(|is_ready| block_on(polled(is_ready)));
    let (seen, report) = of(|is_ready| block_on_woken_in_step(polled(is_ready)));
    assert_eq!(seen, all);
    assert!(report.executions() < with_points.executions(), "{report}");
}

#[test]
fn steps_are_counted_from_where_the_test_says() {
    let of = |resets: bool| {
        Explorer::new().set("steps", 20).explore(|| {
            let n = AtomicUsize::new(0);
            for step in 0..40 {
                n.fetch_add(1, SeqCst);
                if resets && step % 10 == 0 {
                    reset_step_count();
                }
            }
        })
    };
    assert!(of(true).verdict().is_pass());
    assert!(of(false).verdict().is_fail());
}

thread_local! {
    /// The task that the function at switches was called with last.
    static TOLD: Cell<u32> = const { Cell::new(0) };
    static CALLS: Cell<u32> = const { Cell::new(0) };
}

fn tell(task: u32) {
    // To it, this is outside of the execution.
    assert!(!is_exploring());
    TOLD.set(task);
    CALLS.set(CALLS.get() + 1);
}

/// Whatever lets a task continue, the function has been called with its number before.
#[test]
fn a_function_is_called_at_each_switch() {
    let report = Explorer::new()
        .strategy(Strategy::random())
        .executions(300)
        .explore(|| {
            TOLD.set(0);
            CALLS.set(0);
            on_switch(tell);
            let lock = Arc::new(Mutex::new(0));
            let (sender, receiver) = channel();
            let tasks: Vec<_> = (1..3)
                .map(|number| {
                    let (lock, sender) = (lock.clone(), sender.clone());
                    thread::spawn(move || {
                        assert_eq!(TOLD.get(), number);
                        let mut held = lock.lock().unwrap();
                        assert_eq!(TOLD.get(), number);
                        *held += 1;
                        drop(held);
                        assert_eq!(TOLD.get(), number);
                        sender.send(()).unwrap();
                        assert_eq!(TOLD.get(), number);
                    })
                })
                .collect();
            drop(sender);
            assert_eq!(TOLD.get(), 0);
            assert_eq!(receiver.iter().count(), 2);
            assert_eq!(TOLD.get(), 0);
            for task in tasks {
                task.join().unwrap();
                assert_eq!(TOLD.get(), 0);
            }
            assert!(CALLS.get() >= 4);
        });
    assert!(report.verdict().is_pass(), "{report}");
    // It is forgotten with its execution.
    let report = Explorer::new().explore(|| {
        CALLS.set(0);
        thread::spawn(|| ()).join().unwrap();
        assert_eq!(CALLS.get(), 0);
    });
    assert!(report.verdict().is_pass(), "{report}");
}
