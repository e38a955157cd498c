//! A mutex of three states, whose waiters sleep on a counter of releases: the shape of mutexes over a futex.

use super::scaffold::{in_numbered_tasks, tasks, wait_until, zeros};
use super::support::CALM_2;
use crate::{Expected, Program};
use intermezzo::sync::atomic::AtomicUsize;
use intermezzo::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

const FREE: usize = 0;
const HELD: usize = 1;
const AWAITED: usize = 2;

struct FutexMutex {
    state: AtomicUsize,
    /// Counts releases that a task waited for.
    generation: AtomicUsize,
}

impl FutexMutex {
    fn try_exchange(&self, from: usize, to: usize) -> Result<usize, usize> {
        self.state.compare_exchange(from, to, Acquire, Relaxed)
    }

    fn lock(&self) {
        if self.try_exchange(FREE, HELD).is_ok() {
            return;
        }
        loop {
            let seen = self.generation.load(Acquire);
            // A task that comes late cannot know whether others wait: it takes the lock as awaited.
            match self.try_exchange(HELD, AWAITED) {
                Err(FREE) if self.try_exchange(FREE, AWAITED).is_ok() => return,
                Err(FREE) => {}
                _ => wait_until(|| self.generation.load(Acquire) != seen),
            }
        }
    }

    fn unlock(&self) {
        if self.state.swap(FREE, Release) == AWAITED {
            self.generation.fetch_add(1, AcqRel);
        }
    }
}

/// One section each.
pub(super) const MUTEX: Program = Program {
    name: "futex_mutex",
    about: "each task increments plain data under a mutex of three states (free, held, awaited) and a \
            generation counter to wait on",
    parameters: &[tasks(2, 4)],
    settings: CALM_2,
    expected: Expected::Pass,
    body: |values| {
        let [state, generation, data] = zeros();
        let mutex = FutexMutex { state, generation };
        in_numbered_tasks(0..values[0], |_| {
            mutex.lock();
            data.store(data.load(Relaxed) + 1, Relaxed);
            mutex.unlock();
        });
        assert_eq!(data.into_inner() as u64, values[0]);
    },
};
