//! A bag under a lock with two kinds of waits: for ever, or for some time.
//!
//! A `try_take` that gives up when it has not got the lock in time reports that there is nothing, though there is
//! (one of the errors that Line-Up found in .NET: Burckhardt et al., PLDI 2010).

use super::{Against, Effort, Object, models, refuted};
use intermezzo::refinement::{RefinementReport, fresh, refine};
use intermezzo::sync::{Condvar, Mutex};
use intermezzo::time::Duration;

/// A lock that can be waited for in two ways.
#[derive(Default)]
struct TimedLock {
    held: Mutex<bool>,
    released: Condvar,
}

impl TimedLock {
    fn lock(&self) {
        let held = self.held.lock().unwrap();
        *self.released.wait_while(held, |held| *held).unwrap() = true;
    }

    /// Waits for the lock. `true` if it was acquired in time.
    fn lock_within(&self, time: Duration) -> bool {
        let held = self.held.lock().unwrap();
        let (mut held, _) = self
            .released
            .wait_timeout_while(held, time, |held| *held)
            .unwrap();
        !std::mem::replace(&mut *held, true)
    }

    fn unlock(&self) {
        *self.held.lock().unwrap() = false;
        self.released.notify_one();
    }
}

#[derive(Default)]
struct Bag {
    lock: TimedLock,
    /// Used by the holder of the lock: the last value is taken first.
    values: Mutex<Vec<u8>>,
    gives_up: bool,
}

impl Bag {
    fn put(&self, value: u8) {
        self.lock.lock();
        self.values.lock().unwrap().push(value);
        self.lock.unlock();
    }

    fn try_take(&self) -> Option<u8> {
        if !self.gives_up {
            self.lock.lock();
        } else if !self.lock.lock_within(Duration::from_millis(10)) {
            return None;
        }
        let value = self.values.lock().unwrap().pop();
        self.lock.unlock();
        value
    }
}

fn run(gives_up: bool, against: Against, effort: Effort) -> RefinementReport {
    let test = refine(move || Bag {
        gives_up,
        ..Bag::default()
    })
    .op("push", fresh::<u8>(), |bag: &Bag, value| bag.put(value))
    .op("pop", (), |bag, ()| bag.try_take())
    .threads(2..=2)
    .ops(1..=2)
    .init(0..=1)
    .post(0..=0);
    let test = effort.of(20, test);
    match against {
        Against::Itself => test.run(),
        Against::Model => models::stack(test, &[]).run(),
    }
}

/// Nothing, though there is.
pub(super) const GIVES_UP: Object = Object {
    name: "timed_bag_gives_up",
    about: "a bag whose try_take gives up when the lock is not available in time",
    outcomes: &refuted(3),
    run: |against, effort| run(true, against, effort),
};

/// It waits for the lock as long as it takes.
pub(super) const CORRECT: Object = Object {
    name: "timed_bag_correct",
    about: "a bag whose try_take waits for the lock",
    outcomes: super::CORRECT,
    run: |against, effort| run(false, against, effort),
};
