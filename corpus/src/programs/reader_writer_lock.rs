//! Locks for many readers or one writer: of an atomic alone, and with a condition variable.

use crate::{Expected, Program};
use intermezzo::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo::sync::{Condvar, Mutex};
use intermezzo::thread;

/// A lock for many readers or one writer.
trait ReaderWriterLock: Sync {
    fn read(&self);
    fn end_read(&self);
    fn write(&self);
    fn end_write(&self);
}

/// Runs two readers and a writer: no other task is in with a writer.
fn run(lock: &impl ReaderWriterLock) {
    let inside = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                lock.read();
                // Not with a writer.
                assert!(inside.load(SeqCst) == 0);
                lock.end_read();
            });
        }
        scope.spawn(|| {
            lock.write();
            inside.store(1, SeqCst);
            inside.store(0, SeqCst);
            lock.end_write();
        });
    });
}

/// The bit of a writer; the rest counts readers.
const WRITER: usize = 1 << 16;

/// A lock in one atomic, waited for with yields.
#[derive(Default)]
struct Spinning {
    state: AtomicUsize,
    /// `true` if a reader checks for a writer and counts itself in one step: two steps are the bug.
    one_step: bool,
}

impl ReaderWriterLock for Spinning {
    fn read(&self) {
        loop {
            let state = self.state.load(SeqCst);
            if state & WRITER == 0 {
                if !self.one_step {
                    self.state.fetch_add(1, SeqCst);
                    return;
                }
                if self
                    .state
                    .compare_exchange(state, state + 1, SeqCst, SeqCst)
                    .is_ok()
                {
                    return;
                }
            }
            thread::yield_now();
        }
    }

    fn end_read(&self) {
        self.state.fetch_sub(1, SeqCst);
    }

    fn write(&self) {
        while self.state.compare_exchange(0, WRITER, SeqCst, SeqCst).is_err() {
            thread::yield_now();
        }
    }

    fn end_write(&self) {
        self.state.fetch_sub(WRITER, SeqCst);
    }
}

/// A reader is admitted with a writer.
pub(super) const SPINNING_BROKEN: Program = Program {
    name: "reader_writer_lock",
    about: "a lock in an atomic whose reader checks for a writer, then counts itself; two readers, one writer",
    parameters: &[],
    settings: &[("preemptions", "2")],
    expected: Expected::Fail("assertion"),
    body: |_| {
        run(&Spinning {
            one_step: false,
            ..Spinning::default()
        })
    },
};

/// Its twin that does both in one step.
pub(super) const SPINNING_FIXED: Program = Program {
    name: "reader_writer_lock_fixed",
    about: "the same lock, whose reader does both in one step",
    parameters: &[],
    settings: &[("preemptions", "2")],
    expected: Expected::Pass,
    body: |_| {
        run(&Spinning {
            one_step: true,
            ..Spinning::default()
        })
    },
};

/// The same state with a condition variable; it changes under a mutex, or else a wake-up can be lost.
#[derive(Default)]
struct Waiting {
    mutex: Mutex<()>,
    changed: Condvar,
    state: AtomicUsize,
    /// `true` if a writer ends under the mutex. Without it, it may end between a reader's check and its wait: that is
    /// the bug.
    guarded: bool,
}

impl Waiting {
    /// Waits until none of these bits is set, and adds to the state.
    fn enter(&self, excluded: usize, added: usize) {
        let held = self.mutex.lock().unwrap();
        let _held = self
            .changed
            .wait_while(held, |()| self.state.load(SeqCst) & excluded != 0)
            .unwrap();
        self.state.fetch_add(added, SeqCst);
    }
}

impl ReaderWriterLock for Waiting {
    fn read(&self) {
        self.enter(WRITER, 1);
    }

    fn end_read(&self) {
        let _held = self.mutex.lock().unwrap();
        self.state.fetch_sub(1, SeqCst);
        self.changed.notify_all();
    }

    fn write(&self) {
        self.enter(usize::MAX, WRITER);
    }

    fn end_write(&self) {
        let _held = self.guarded.then(|| self.mutex.lock().unwrap());
        self.state.fetch_sub(WRITER, SeqCst);
        self.changed.notify_all();
    }
}

/// A wake-up is lost.
pub(super) const WAITING_BROKEN: Program = Program {
    name: "waiting_reader_writer_lock",
    about: "a lock with a condition variable whose writer ends without its mutex: a reader may miss the \
            wake-up",
    parameters: &[],
    settings: &[("preemptions", "2")],
    expected: Expected::Fail("deadlock"),
    body: |_| {
        run(&Waiting {
            guarded: false,
            ..Waiting::default()
        })
    },
};

/// Its twin that ends under the mutex.
pub(super) const WAITING_FIXED: Program = Program {
    name: "waiting_reader_writer_lock_fixed",
    about: "the same lock, whose writer ends under the mutex",
    parameters: &[],
    settings: &[("preemptions", "2")],
    expected: Expected::Pass,
    body: |_| {
        run(&Waiting {
            guarded: true,
            ..Waiting::default()
        })
    },
};
