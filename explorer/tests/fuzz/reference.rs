//! The reference itself: its treatment of operations that otherwise have no schedule point.

use intermezzo_explorer::sync::Arc;
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst, fence};
use intermezzo_explorer::sync::mpsc::channel;
use intermezzo_explorer::{Explorer, Report, choose, thread};

fn explore(every: bool, test: impl Fn() + Send + Sync + 'static) -> Report {
    let explorer = Explorer::new().keep_going(true).minimise(0);
    explorer.every_operation(every).explore(test)
}

#[test]
fn schedule_points_at_commuting_operations_change_no_outcome() {
    // Two tasks that fence: four fences, beginnings, ends and joins in all orders with the reference, in one order without.
    let fences = || {
        let tasks = [0, 1].map(|_| thread::spawn(|| fence(SeqCst)));
        for task in tasks {
            task.join().unwrap();
        }
    };
    let few = explore(false, fences);
    assert_eq!((few.executions(), few.traces()), (1, Some(1)));
    let all = explore(true, fences);
    assert!(all.executions() > 20, "{all}");
    assert_eq!(all.traces(), Some(1));
    assert!(all.verdict().is_pass(), "{all}");
}

#[test]
fn each_kind_of_operation_has_a_point() {
    let closes = || {
        let (sender, receiver) = channel::<u8>();
        let other = sender.clone();
        let task = thread::spawn(move || drop(other));
        drop(sender);
        assert!(receiver.recv().is_err());
        task.join().unwrap();
    };
    let counts = || {
        let count = Arc::new(());
        drop(count);
    };
    let choices = || {
        let task = thread::spawn(|| choose(2));
        choose(2);
        let _ = task.join();
    };
    assert_eq!(explore(false, counts).steps(), 0);
    for test in [closes, counts, choices] {
        let (few, all) = (explore(false, test), explore(true, test));
        assert!(all.steps() > few.steps(), "{few}\n{all}");
        assert!(few.verdict().is_pass() && all.verdict().is_pass(), "{few}\n{all}");
    }
}

#[test]
fn a_task_may_end_later_than_its_last_visible_step() {
    let test = || {
        let flag = AtomicUsize::new(0);
        thread::scope(|scope| {
            let task = scope.spawn(|| flag.store(1, SeqCst));
            if flag.load(SeqCst) == 1 {
                assert!(task.is_finished());
            }
        });
    };
    assert!(explore(true, test).verdict().is_fail());
}
