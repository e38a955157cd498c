//! Mutexes and condition variables.

use super::subject::sync::{Condvar, Mutex};
use super::subject::thread;
use crate::message_of;
use std::sync::{Arc, PoisonError, TryLockError};
use std::time::Duration;

/// Longer than any case takes.
const LONG: Duration = Duration::from_secs(600);

/// Returns a mutex that a thread has poisoned after storing 2.
fn poisoned() -> Arc<Mutex<u32>> {
    let mutex = Arc::new(Mutex::new(1));
    let theirs = mutex.clone();
    let thread = thread::spawn(move || {
        let mut guard = theirs.lock().unwrap();
        *guard = 2;
        panic!("while it holds the lock");
    });
    thread.join().unwrap_err();
    mutex
}

fn one_at_a_time() {
    let mutex = Mutex::new(0);
    thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                let mut guard = mutex.lock().unwrap();
                let seen = *guard;
                thread::yield_now();
                *guard = seen + 1;
            });
        }
    });
    assert_eq!(mutex.into_inner().unwrap(), 2);
}

fn try_lock() {
    let mutex = Mutex::new(1);
    let guard = mutex.try_lock().unwrap();
    assert!(matches!(mutex.try_lock(), Err(TryLockError::WouldBlock)));
    thread::scope(|s| {
        s.spawn(|| assert!(matches!(mutex.try_lock(), Err(TryLockError::WouldBlock))));
    });
    drop(guard);
    *mutex.try_lock().unwrap() += 1;
    assert_eq!(*mutex.lock().unwrap(), 2);
}

fn poison() {
    let mutex = poisoned();
    assert!(mutex.is_poisoned());
    assert_eq!(*mutex.lock().unwrap_err().into_inner(), 2);
    assert!(matches!(mutex.try_lock(), Err(TryLockError::Poisoned(guard)) if **guard.get_ref() == 2));
    let message = message_of(|| mutex.lock().unwrap());
    assert!(
        message.starts_with("called `Result::unwrap()` on an `Err` value: PoisonError"),
        "{message}"
    );
    mutex.clear_poison();
    assert!(!mutex.is_poisoned());
    assert_eq!(*mutex.lock().unwrap(), 2);
}

fn poison_in_owned_access() {
    let mut mutex = Arc::into_inner(poisoned()).unwrap();
    assert_eq!(*mutex.get_mut().unwrap_err().into_inner(), 2);
    assert_eq!(mutex.into_inner().unwrap_err().into_inner(), 2);
    let mut mutex = Mutex::from(3);
    *mutex.get_mut().unwrap() += 1;
    assert_eq!(mutex.into_inner().unwrap(), 4);
}

fn a_guard_taken_while_unwinding_does_not_poison() {
    struct LocksWhenDropped<'a>(&'a Mutex<u32>);
    impl Drop for LocksWhenDropped<'_> {
        fn drop(&mut self) {
            *self.0.lock().unwrap() += 1;
        }
    }
    let mutex = Mutex::new(0);
    let message = message_of(|| {
        let _locks = LocksWhenDropped(&mutex);
        panic!("unwinding");
    });
    assert_eq!(message, "unwinding");
    assert_eq!(*mutex.lock().unwrap(), 1);
}

fn a_caught_panic_poisons_too() {
    let mutex = Mutex::new(0);
    message_of(|| {
        let _guard = mutex.lock().unwrap();
        panic!("caught");
    });
    assert!(mutex.is_poisoned());
}

fn texts() {
    let mutex = Mutex::new("data");
    assert_eq!(
        format!("{mutex:?}"),
        r#"Mutex { data: "data", poisoned: false, .. }"#
    );
    let guard = mutex.lock().unwrap();
    assert_eq!(
        format!("{mutex:?}"),
        r#"Mutex { data: "<locked>", poisoned: false, .. }"#
    );
    assert_eq!(format!("{guard:?} {guard}"), r#""data" data"#);
    drop(guard);
    assert_eq!(
        format!("{:?}", poisoned()),
        "Mutex { data: 2, poisoned: true, .. }"
    );
    assert_eq!(
        format!("{:?}", Mutex::<u8>::default()),
        "Mutex { data: 0, poisoned: false, .. }"
    );
    assert_eq!(
        format!("{:?} {:?}", Condvar::new(), Condvar::default()),
        "Condvar { .. } Condvar { .. }"
    );
}

fn unsized_data() {
    let mutex: Box<Mutex<[u8]>> = Box::new(Mutex::new([1, 2]));
    mutex.lock().unwrap()[0] = 3;
    assert_eq!(*mutex.lock().unwrap(), [3, 2]);
    let mutex: Arc<Mutex<dyn std::fmt::Debug + Send>> = Arc::new(Mutex::new(5));
    assert_eq!(format!("{:?}", mutex.lock().unwrap()), "5");
}

fn statics() {
    static COUNT: Mutex<Vec<u32>> = Mutex::new(Vec::new());
    let seen = COUNT.lock().unwrap().len();
    thread::spawn(|| COUNT.lock().unwrap().push(1)).join().unwrap();
    let grown = COUNT.lock().unwrap().len();
    assert_eq!((seen, grown), (0, 1));
}

fn wait_until_notified() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let theirs = pair.clone();
    let thread = thread::spawn(move || {
        *theirs.0.lock().unwrap() = true;
        theirs.1.notify_one();
    });
    let mut ready = pair.0.lock().unwrap();
    while !*ready {
        ready = pair.1.wait(ready).unwrap();
    }
    drop(ready);
    thread.join().unwrap();
}

fn notify_all_wakes_all() {
    let pair = (Mutex::new(false), Condvar::new());
    thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                drop(
                    pair.1
                        .wait_while(pair.0.lock().unwrap(), |ready| !*ready)
                        .unwrap(),
                )
            });
        }
        *pair.0.lock().unwrap() = true;
        pair.1.notify_all();
    });
}

fn a_notification_is_not_kept() {
    let (mutex, condvar) = (Mutex::new(()), Condvar::new());
    condvar.notify_one();
    condvar.notify_all();
    let (_guard, result) = condvar
        .wait_timeout(mutex.lock().unwrap(), Duration::from_millis(1))
        .unwrap();
    assert!(result.timed_out());
    assert_eq!(format!("{result:?}"), "WaitTimeoutResult(true)");
}

fn time_outs() {
    let (mutex, condvar) = (Mutex::new(3), Condvar::new());
    let guard = mutex.lock().unwrap();
    let (guard, result) = condvar
        .wait_timeout_while(guard, Duration::from_millis(2), |_| true)
        .unwrap();
    assert!(result.timed_out());
    let (guard, result) = condvar
        .wait_timeout_while(guard, Duration::ZERO, |n| *n == 4)
        .unwrap();
    assert!(!result.timed_out());
    let (guard, result) = condvar.wait_timeout(guard, Duration::ZERO).unwrap();
    assert!(result.timed_out());
    #[allow(deprecated, reason = "std has it too")]
    let (guard, in_time) = condvar.wait_timeout_ms(guard, 1).unwrap();
    assert!(!in_time);
    // The lock is held again.
    assert!(mutex.try_lock().is_err());
    assert_eq!(*guard, 3);
}

fn notified_in_time() {
    let pair = (Mutex::new(0), Condvar::new());
    thread::scope(|s| {
        s.spawn(|| {
            *pair.0.lock().unwrap() = 1;
            pair.1.notify_all();
        });
        let (guard, result) = pair
            .1
            .wait_timeout_while(pair.0.lock().unwrap(), LONG, |n| *n == 0)
            .unwrap();
        assert!(!result.timed_out());
        assert_eq!(*guard, 1);
    });
}

fn limits_beyond_the_clock() {
    let pair = (Mutex::new(false), Condvar::new());
    thread::scope(|s| {
        s.spawn(|| {
            *pair.0.lock().unwrap() = true;
            pair.1.notify_all();
        });
        let mut guard = pair.0.lock().unwrap();
        while !*guard {
            guard = pair.1.wait_timeout(guard, Duration::MAX).unwrap().0;
        }
    });
}

fn waiting_on_a_poisoned_mutex() {
    let mutex = poisoned();
    let condvar = Condvar::new();
    let guard = mutex.lock().unwrap_or_else(PoisonError::into_inner);
    let poisoned = condvar.wait_timeout(guard, Duration::from_millis(1)).unwrap_err();
    let (guard, result) = poisoned.into_inner();
    assert!(result.timed_out());
    assert_eq!(*guard, 2);
    assert_eq!(*condvar.wait_while(guard, |n| *n == 3).unwrap(), 2);
}

fn poisoned_while_waiting() {
    let pair = (Mutex::new(false), Condvar::new());
    thread::scope(|s| {
        let waiter = s.spawn(|| {
            let mut guard = pair.0.lock().unwrap_or_else(PoisonError::into_inner);
            while !*guard {
                guard = pair.1.wait(guard).unwrap_or_else(PoisonError::into_inner);
            }
        });
        let poisoner = s.spawn(|| {
            let mut guard = pair.0.lock().unwrap();
            *guard = true;
            pair.1.notify_one();
            panic!("poisons");
        });
        assert!(poisoner.join().is_err());
        waiter.join().unwrap();
    });
    assert!(pair.0.is_poisoned());
}

cases! {
    one_at_a_time try_lock poison poison_in_owned_access a_guard_taken_while_unwinding_does_not_poison
    a_caught_panic_poisons_too texts unsized_data statics wait_until_notified notify_all_wakes_all
    a_notification_is_not_kept time_outs notified_in_time limits_beyond_the_clock waiting_on_a_poisoned_mutex
    poisoned_while_waiting
}
