//! Primitives of the test's own order accesses to plain memory as their operations declare; announced points order nothing.

use super::cells::Shared;
use intermezzo::extras::Event;
use intermezzo::primitive::{Primitive, State};
use intermezzo::sync::Arc;
use intermezzo::sync::atomic::Ordering::{self, Acquire, Relaxed, Release};
use intermezzo::{Environment, Explorer, quiesce, schedule_point, thread};

struct Held(bool);

impl State for Held {
    fn gates(&self) -> u8 {
        u8::from(!self.0)
    }
}

/// Returns `true` if the monitor finds a race.
fn races(test: impl Fn() + Send + Sync + 'static) -> bool {
    let report = Explorer::new().environment(Environment::calm()).explore(test);
    let found = report.findings();
    assert!(
        found.iter().all(|finding| finding.kind.as_str() == "data_race"),
        "{report}"
    );
    !found.is_empty()
}

#[test]
fn orderings_decide_the_order_of_a_primitive_lock() {
    let locked = |release: Ordering| {
        races(move || {
            let (lock, cell) = (Arc::new(Primitive::new(Held(false))), Arc::new(Shared::default()));
            let (their_lock, their_cell) = (lock.clone(), cell.clone());
            let add = move |lock: &Primitive<Held>, cell: &Shared| {
                lock.wait(1, Acquire, |held| held.0 = true);
                cell.write(0);
                lock.change(release, |held| held.0 = false);
            };
            let task = thread::spawn(move || add(&their_lock, &their_cell));
            add(&lock, &cell);
            task.join().unwrap();
        })
    };
    assert!(!locked(Release));
    assert!(locked(Relaxed));
}

#[test]
fn announced_points_order_nothing_and_quiet_orders_all() {
    let after = |pause: fn()| {
        races(move || {
            let cell = Arc::new(Shared::default());
            let theirs = cell.clone();
            thread::spawn(move || {
                theirs.write(0);
                schedule_point();
            });
            pause();
            cell.read(0);
        })
    };
    assert!(after(schedule_point));
    assert!(!after(quiesce));
}

#[test]
fn an_event_orders_what_comes_before_it_and_after_its_wait() {
    let read = |waits: bool| {
        races(move || {
            let (cell, event) = (Arc::new(Shared::default()), Arc::new(Event::auto_reset(false)));
            let (theirs, set) = (cell.clone(), event.clone());
            let task = thread::spawn(move || {
                theirs.write(0);
                set.set();
            });
            if waits {
                event.wait();
            }
            cell.read(0);
            task.join().unwrap();
        })
    };
    assert!(!read(true));
    assert!(read(false));
}
