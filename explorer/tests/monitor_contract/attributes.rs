//! The attributes of events: from the engine, and from the test.

use super::recorder::{lines_with, recorded};
use intermezzo_explorer::sync::Mutex;
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::{Environment, Explorer, attribute, thread};
use intermezzo_sdk::Interests;

fn explorer() -> Explorer {
    Explorer::new().environment(Environment::calm())
}

#[test]
fn the_test_says_something_about_its_last_event() {
    attribute("outside", "nobody hears it");
    let seen = recorded(explorer(), Interests::ATTRIBUTES, || {
        let n = AtomicUsize::new(0);
        n.store(1, SeqCst);
        attribute("step", "stored");
        let task = thread::spawn(|| attribute("step", "begun"));
        task.join().unwrap();
    });
    assert_eq!(
        seen,
        [["0.2 step=stored", "0.4 status=blocked", "1.1 step=begun"].map(str::to_owned)]
    );
}

#[test]
fn who_cannot_go_on_is_blocked() {
    let seen = recorded(explorer(), Interests::ATTRIBUTES, || {
        let taken = Mutex::new(());
        let held = taken.lock().unwrap();
        thread::scope(|scope| {
            scope.spawn(|| drop(taken.lock()));
            thread::yield_now();
            drop(held);
        });
    });
    assert!(!lines_with(&seen, "1.2 status=blocked").is_empty(), "{seen:?}");
}

#[test]
fn who_could_go_on_is_preempted() {
    let two_stores = || {
        let n = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| n.store(1, SeqCst));
            n.store(2, SeqCst);
            n.store(3, SeqCst);
        });
    };
    let seen = recorded(explorer(), Interests::ATTRIBUTES, two_stores);
    let preempted = |execution: &Vec<String>| {
        let lines = execution.iter().filter(|line| line.ends_with("status=preempted"));
        lines.cloned().collect::<Vec<_>>()
    };
    let mut executions: Vec<Vec<String>> = seen.iter().map(preempted).collect();
    executions.sort();
    // The other task runs last, first, or between the two stores.
    assert_eq!(
        executions,
        [
            vec![],
            vec!["0.3 status=preempted".to_owned()],
            vec!["0.4 status=preempted".to_owned()]
        ]
    );
    // The presence of a monitor changes nothing.
    let unheard = explorer().explore(two_stores);
    assert_eq!(unheard.executions(), 3);
}
