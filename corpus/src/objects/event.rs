//! An event that stays set until it is reset, with its waiters counted in the word of its state.
//!
//! A waiter counts itself by a compare-exchange. If it reads the state once more to make the new one, it undoes
//! another task's change: the event seems set, so the next `set` wakes no waiter, and the waiter waits for ever
//! (found by Line-Up in .NET: Burckhardt et al., PLDI 2010).

use super::{Against, Object, refuted};
use intermezzo::refinement::{Refinement, RefinementReport, refine};
use intermezzo::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo::sync::{Condvar, Mutex};

/// The bit of the state that says that it is set; above it are the waiters.
const SET: usize = 1;
const WAITER: usize = 2;

#[derive(Default)]
struct Event {
    state: AtomicUsize,
    /// The number of times that waiters have been woken.
    woken: Mutex<u64>,
    wake: Condvar,
    reads_twice: bool,
}

impl Event {
    fn set(&self) {
        let mut woken = self.woken.lock().unwrap();
        let before = self.state.fetch_or(SET, SeqCst);
        if before & SET == 0 && before >= WAITER {
            self.state.fetch_and(SET, SeqCst);
            *woken += 1;
            self.wake.notify_all();
        }
    }

    fn reset(&self) {
        self.state.fetch_and(!SET, SeqCst);
    }

    fn wait(&self) {
        loop {
            let seen = self.state.load(SeqCst);
            if seen & SET != 0 {
                return;
            }
            let from = match self.reads_twice {
                true => self.state.load(SeqCst),
                false => seen,
            };
            let woken = self.woken.lock().unwrap();
            let counted = self.state.compare_exchange(seen, from + WAITER, SeqCst, SeqCst);
            if counted.is_ok() {
                let before = *woken;
                let _woken = self.wake.wait_while(woken, |woken| *woken == before).unwrap();
                return;
            }
        }
    }
}

fn test(reads_twice: bool) -> Refinement<Event> {
    refine(move || Event {
        reads_twice,
        ..Event::default()
    })
    .op("set", (), |event: &Event, ()| event.set())
    .op("reset", (), |event, ()| event.reset())
    .op("wait", (), |event, ()| event.wait())
    .threads(2..=2)
    .ops(1..=3)
    .init(0..=0)
    .post(0..=0)
}

fn run(test: Refinement<Event>, against: Against) -> RefinementReport {
    match against {
        Against::Itself => test.run(),
        Against::Model => test
            .spec(|| false)
            .means("set", |set, (): &()| *set = true)
            .means("reset", |set, (): &()| *set = false)
            .means("wait", |_, (): &()| ())
            .waits("wait", |set, (): &()| !*set)
            .run(),
    }
}

/// A waiter that no task wakes. There is only one: for two, `wait` may also return though the event is not set.
pub(super) const STICKS: Object = Object {
    name: "event_sticks",
    about: "an event whose waiter reads the state twice, and may wait although it is set",
    outcomes: &refuted(4),
    run: |against, effort| run(effort.of(300, test(true).exclusive("waiter", ["wait"])), against),
};

/// It reads the state once.
pub(super) const CORRECT: Object = Object {
    name: "event_correct",
    about: "an event whose waiter counts itself in the state that it saw",
    outcomes: super::CORRECT,
    run: |against, effort| {
        let test = effort.of(40, test(false)).pin(|scenario| {
            scenario
                .task(|task| task.op("set", ()).op("reset", ()).op("set", ()))
                .task(|task| task.op("wait", ()))
        });
        run(test, against)
    },
};
