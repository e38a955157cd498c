//! Reference counts.

use super::{assert_set, executions, outcomes};
use intermezzo_explorer::sync::{Arc, Weak};
use intermezzo_explorer::{Environment, Explorer, thread};
use std::mem::ManuallyDrop;

#[test]
fn an_arc_alone_or_not() {
    let seen = outcomes(|| {
        let mut arc = Arc::new(1);
        let other = arc.clone();
        let task = thread::spawn(move || Arc::try_unwrap(other).is_ok());
        let alone = Arc::get_mut(&mut arc).is_some();
        let count = Arc::strong_count(&arc);
        drop(arc);
        (alone, count, task.join().unwrap())
    });
    assert_set(
        seen,
        [
            (false, 1, false),
            (false, 2, false),
            (false, 2, true),
            (true, 1, false),
        ],
    );
}

#[test]
fn exactly_one_handle_gets_the_value() {
    let seen = outcomes(|| {
        let arc = Arc::new(1);
        let other = arc.clone();
        let task = thread::spawn(move || Arc::into_inner(other));
        (Arc::into_inner(arc), task.join().unwrap())
    });
    assert_set(seen, [(None, Some(1)), (Some(1), None)]);
    let seen = outcomes(|| {
        let arc = Arc::new(1);
        let other = arc.clone();
        let task = thread::spawn(move || Arc::try_unwrap(other).ok());
        (Arc::try_unwrap(arc).ok(), task.join().unwrap())
    });
    assert_set(seen, [(None, None), (None, Some(1)), (Some(1), None)]);
}

/// A list keeps handles by the addresses of their values, and forgets the handles.
#[test]
fn a_handle_made_of_an_address_counts_as_the_one_that_was_forgotten() {
    let seen = outcomes(|| {
        let arc = Arc::new(1);
        let listed = ManuallyDrop::new(arc.clone());
        let address = Arc::as_ptr(&listed).expose_provenance();
        // SAFETY: the handle that was forgotten is made again, once.
        let unlist = move || unsafe { Arc::<i32>::from_raw(std::ptr::with_exposed_provenance(address)) };
        let task = thread::spawn(move || Arc::into_inner(unlist()));
        (Arc::into_inner(arc), task.join().unwrap())
    });
    assert_set(seen, [(None, Some(1)), (Some(1), None)]);
    let seen = outcomes(|| {
        let arc = Arc::new(1);
        let listed = ManuallyDrop::new(Arc::downgrade(&arc));
        let address = listed.as_ptr().expose_provenance();
        // SAFETY: as above.
        let unlist = move || unsafe { Weak::<i32>::from_raw(std::ptr::with_exposed_provenance(address)) };
        let task = thread::spawn(move || unlist().upgrade().is_some());
        drop(arc);
        task.join().unwrap()
    });
    assert_set(seen, [false, true]);
    let seen = outcomes(|| {
        let arc = Arc::new(1);
        let value: *const i32 = &**ManuallyDrop::new(arc.clone());
        let address = value.expose_provenance();
        // SAFETY: as above, twice, because another handle is counted.
        let handle = move || unsafe { Arc::<i32>::from_raw(std::ptr::with_exposed_provenance(address)) };
        // SAFETY: the value is alive.
        unsafe { Arc::increment_strong_count(value) };
        let task = thread::spawn(move || Arc::into_inner(handle()));
        (
            Arc::into_inner(arc),
            Arc::into_inner(handle()),
            task.join().unwrap(),
        )
    });
    assert_set(seen, [(None, None, Some(1)), (None, Some(1), None)]);
}

#[test]
fn an_upgrade_meets_the_last_drop() {
    let seen = outcomes(|| {
        let arc = Arc::new(1);
        let weak: Weak<i32> = Arc::downgrade(&arc);
        let task = thread::spawn(move || weak.upgrade().is_some());
        let mut own = arc;
        let moved = Arc::get_mut(&mut own).is_some();
        drop(own);
        (moved, task.join().unwrap())
    });
    assert_set(seen, [(false, false), (false, true), (true, true)]);
}

#[test]
fn counts_are_schedule_points_only_where_they_can_be_seen() {
    let own = || {
        let work = || {
            let arc = Arc::new(1);
            drop(arc.clone());
            let mut again = arc;
            assert!(Arc::get_mut(&mut again).is_some());
        };
        thread::scope(|s| {
            s.spawn(work);
            s.spawn(work);
        });
    };
    // Each pair has two orders: of the clone, which a task that borrows the handle could observe, and of the clone's
    // end, which the first handle could. Two pairs make six orders.
    assert_eq!(executions(own), 6);
    let shared = || {
        let arc = Arc::new(1);
        let other = arc.clone();
        let task = thread::spawn(move || drop(other));
        drop(arc);
        task.join().unwrap();
    };
    assert_eq!(executions(shared), 2);
    let report = Explorer::new()
        .environment(Environment {
            arc_counts: false,
            ..Environment::calm()
        })
        .explore(shared);
    assert_eq!((report.executions(), report.verdict().is_pass()), (1, true));
}

#[test]
fn handles_from_outside_count() {
    let arc = Arc::new(7);
    let executed = executions(|| {
        let mine = arc.clone();
        let task = thread::spawn({
            let other = mine.clone();
            move || Arc::strong_count(&other)
        });
        let weak = Arc::downgrade(&mine);
        assert!(weak.upgrade().is_some());
        drop(mine);
        assert!((2..=3).contains(&task.join().unwrap()));
        assert_eq!((Arc::strong_count(&arc), Arc::weak_count(&arc)), (1, 1));
    });
    assert_eq!(executed, 1);
    assert_eq!((Arc::strong_count(&arc), Arc::weak_count(&arc)), (1, 0));
}

#[test]
fn a_trait_object_counts() {
    let seen = outcomes(|| {
        let arc: Arc<dyn Fn() -> i32 + Send + Sync> = Arc::from_std(std::sync::Arc::new(|| 3));
        let other = Arc::coerce(Arc::new([1, 2]), |arc| arc as std::sync::Arc<[i32]>);
        let (f, list) = (arc.clone(), other.clone());
        let task = thread::spawn(move || f() + list.len() as i32);
        let count = Arc::strong_count(&arc) + Arc::strong_count(&other);
        (count, task.join().unwrap())
    });
    assert_set(seen, [(2, 5), (3, 5), (4, 5)]);
}
