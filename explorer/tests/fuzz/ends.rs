//! The end of a task is not a step of its own, but it may come later than the task's last step.

use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::mpsc::channel;
use intermezzo_explorer::sync::{Arc, Mutex};
use intermezzo_explorer::{Coverage, Environment, Explorer, Reduction, Report, thread};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::{Arc as Plain, Mutex as PlainMutex};

/// The values that were observed in executions.
type Seen = PlainMutex<BTreeSet<Option<bool>>>;

fn calm() -> Explorer {
    Explorer::new()
        .environment(Environment::calm())
        .keep_going(true)
        .minimise(0)
}

/// Explores with every reduction, and asserts that executions see the same values.
fn seen(test: fn(&Seen)) -> (BTreeSet<Option<bool>>, u64) {
    let explore = |explorer: Explorer| {
        let seen = Plain::new(Seen::default());
        let report = explorer.explore(|| test(&seen));
        assert_eq!(*report.coverage(), Coverage::Exhaustive, "{report}");
        assert!(report.verdict().is_pass(), "{report}");
        (seen.lock().unwrap().clone(), report)
    };
    let (wanted, none) = explore(calm());
    assert_eq!(explore(calm().every_operation(true)).0, wanted);
    for reduction in [Reduction::Caching, Reduction::SourceDpor, Reduction::Dpor] {
        let (found, report) = explore(calm().reduction(reduction));
        assert_eq!(found, wanted, "{reduction:?}");
        assert_eq!(report.traces(), none.traces(), "{reduction:?}");
    }
    (wanted, none.executions())
}

#[test]
fn after_the_last_store() {
    let (seen, executions) = seen(|seen| {
        let flag = AtomicUsize::new(0);
        thread::scope(|scope| {
            let task = scope.spawn(|| flag.store(1, SeqCst));
            let looked = (flag.load(SeqCst) == 1).then(|| task.is_finished());
            seen.lock().unwrap().insert(looked);
        });
    });
    assert_eq!(seen, [None, Some(false), Some(true)].into());
    assert_eq!(executions, 3);
}

#[test]
fn after_the_last_send() {
    let (seen, _) = seen(|seen| {
        let (sender, receiver) = channel();
        let kept = sender.clone();
        let task = thread::spawn(move || sender.send(1).unwrap());
        receiver.recv().unwrap();
        seen.lock().unwrap().insert(Some(task.is_finished()));
        drop(kept);
    });
    assert_eq!(seen, [Some(false), Some(true)].into());
}

#[test]
fn after_the_last_unlock() {
    let (seen, _) = seen(|seen| {
        let lock = Arc::new(Mutex::new(false));
        let theirs = lock.clone();
        // The handle is leaked, so that unlocking is the last operation of the task.
        let task = thread::spawn(move || *std::mem::ManuallyDrop::new(theirs).lock().unwrap() = true);
        let set = *lock.lock().unwrap();
        let looked = set.then(|| task.is_finished());
        seen.lock().unwrap().insert(looked);
    });
    assert_eq!(seen, [None, Some(false), Some(true)].into());
}

#[test]
fn a_task_without_steps_ends_at_any_time() {
    let (seen, executions) = seen(|seen| {
        let task = thread::spawn(|| ());
        seen.lock().unwrap().insert(Some(task.is_finished()));
    });
    assert_eq!((seen.len(), executions), (2, 2));
}

#[test]
fn a_task_that_was_found_ended_is_always_found_ended() {
    let report = calm().explore(|| {
        let flag = AtomicUsize::new(0);
        thread::scope(|scope| {
            let task = scope.spawn(|| flag.store(1, SeqCst));
            if flag.load(SeqCst) == 1 {
                let looks = [task.is_finished(), task.is_finished()];
                assert_ne!(looks, [true, false]);
            }
        });
    });
    assert!(report.verdict().is_pass(), "{report}");
    // The load finds nothing; or the task ends before the first check, before the second, or after both.
    assert_eq!(report.executions(), 4);
}

thread::thread_local! {
    static LAST: Last = const { Last(Cell::new(None)) };
}

/// Stores when its task drops its thread-locals.
struct Last(Cell<Option<&'static AtomicUsize>>);

static LEFT: AtomicUsize = AtomicUsize::new(0);

impl Drop for Last {
    fn drop(&mut self) {
        if let Some(left) = self.0.get() {
            left.store(1, SeqCst);
        }
    }
}

#[test]
fn a_task_is_finished_before_its_thread_locals_are_dropped() {
    let (seen, _) = seen(|seen| {
        let task = thread::spawn(|| LAST.with(|last| last.0.set(Some(&LEFT))));
        let looked = task.is_finished().then(|| LEFT.load(SeqCst) == 1);
        seen.lock().unwrap().insert(looked);
    });
    assert_eq!(seen, [None, Some(false), Some(true)].into());
}

#[test]
fn a_scope_ends_before_thread_locals_of_tasks_that_were_not_joined_are_dropped() {
    let (seen, _) = seen(|seen| {
        thread::scope(|scope| {
            scope.spawn(|| LAST.with(|last| last.0.set(Some(&LEFT))));
        });
        seen.lock().unwrap().insert(Some(LEFT.load(SeqCst) == 1));
    });
    assert_eq!(seen, [Some(false), Some(true)].into());
}

#[test]
fn a_join_in_a_scope_waits_for_thread_locals() {
    let (seen, _) = seen(|seen| {
        let left = thread::scope(|scope| {
            let task = scope.spawn(|| LAST.with(|last| last.0.set(Some(&LEFT))));
            let finished = task.is_finished().then(|| LEFT.load(SeqCst) == 1);
            task.join().unwrap();
            seen.lock().unwrap().insert(finished);
            LEFT.load(SeqCst)
        });
        assert_eq!(left, 1);
    });
    assert_eq!(seen, [None, Some(false), Some(true)].into());
}

/// The destructor of a thread-local runs on the thread whose value it drops, even if a scope has ended before.
#[test]
fn thread_locals_are_dropped_on_their_thread() {
    thread::thread_local! {
        static ID: Whose = const { Whose(Cell::new(None)) };
        static OTHER: Cell<u32> = const { Cell::new(0) };
    }
    struct Whose(Cell<Option<thread::ThreadId>>);
    impl Drop for Whose {
        fn drop(&mut self) {
            assert_eq!(Some(thread::current().id()), self.0.get());
            assert_eq!(OTHER.get(), 7);
            // The token was left for this thread.
            thread::park();
        }
    }
    let report = calm().explore(|| {
        thread::scope(|scope| {
            let task = scope.spawn(|| {
                OTHER.set(7);
                ID.with(|id| id.0.set(Some(thread::current().id())));
            });
            task.thread().unpark();
        });
    });
    assert!(report.verdict().is_pass(), "{report}");
    assert_eq!(report.coverage(), &Coverage::Exhaustive, "{report}");
}

#[test]
fn a_late_end_replays_and_a_loop_that_waits_for_it_ends() {
    let test = || {
        let flag = Arc::new(AtomicUsize::new(0));
        let theirs = flag.clone();
        let task = thread::spawn(move || theirs.store(1, SeqCst));
        while !task.is_finished() {
            thread::yield_now();
        }
        assert_eq!(flag.load(SeqCst), 1);
    };
    let report: Report = calm().explore(test);
    assert!(report.verdict().is_pass(), "{report}");
    let late = || {
        let flag = AtomicUsize::new(0);
        thread::scope(|scope| {
            let task = scope.spawn(|| flag.store(1, SeqCst));
            if flag.load(SeqCst) == 1 {
                assert!(task.is_finished());
            }
        });
    };
    let report = Explorer::new().program("late").explore(late);
    let [finding] = report.findings() else {
        panic!("{report}")
    };
    let again = Explorer::new()
        .program("late")
        .replay(finding.schedule.clone())
        .explore(late);
    assert_eq!(again.findings(), report.findings());
}

#[test]
fn identities_do_not_show_which_task_was_created_first() {
    // Each of two tasks creates one. There is no operation in between, so a search cannot change the order.
    let report = calm().explore(|| {
        let creators = [0, 1].map(|_| thread::spawn(|| format!("{:?}", thread::spawn(|| ()).thread().id())));
        let ids = creators.map(|creator| creator.join().unwrap());
        assert_eq!(ids, ["ThreadId(2.1)", "ThreadId(3.1)"]);
    });
    assert_eq!(
        (report.verdict().is_pass(), report.executions()),
        (true, 1),
        "{report}"
    );
}
