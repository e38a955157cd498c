//! The operations on tasks, time and objects of our own, which one thread of std cannot perform one after the other.

use crate::controlled::state::{Kind, NOTHING, Op, Own, Shared, caught, panics};
use crate::controlled::tables::{self, op};
use crate::records::record;
use intermezzo_explorer::primitive::{Primitive, State};
use intermezzo_explorer::sync::Mutex;
use intermezzo_explorer::sync::atomic::{AtomicU8, Ordering::SeqCst};
use intermezzo_explorer::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use intermezzo_explorer::thread::{JoinHandle, Thread, ThreadId};
use intermezzo_explorer::time::Instant;
use intermezzo_explorer::{future, quiesce, schedule_point, thread};
use std::task::{Poll, Waker};
use std::time::Duration;

/// Returns the operations of a kind.
pub(crate) fn of(kind: Kind) -> &'static [Op] {
    match kind {
        Kind::Task => TASK,
        Kind::Time => TIME,
        Kind::Primitive => PRIMITIVE,
        Kind::Future => FUTURE,
        kind => tables::of(kind),
    }
}

/// `true` if one thread can perform the operations on std's objects one after the other.
pub(crate) fn is_of_std(kind: Kind) -> bool {
    !tables::of(kind).is_empty()
}

/// The objects that tasks share.
pub(crate) struct Extra {
    begun: Instant,
    primitive: Primitive<Tokens>,
    /// Searches do not see it. They reach different orders of accesses only by the schedule points before each access.
    unseen: std::sync::atomic::AtomicU8,
    waker: Mutex<Option<Waker>>,
}

impl Default for Extra {
    fn default() -> Extra {
        Extra {
            begun: Instant::now(),
            primitive: Primitive::new(Tokens(0)),
            unseen: std::sync::atomic::AtomicU8::new(0),
            waker: Mutex::new(None),
        }
    }
}

struct Tokens(u8);

impl State for Tokens {
    fn gates(&self) -> u8 {
        u8::from(self.0 > 0)
    }
}

/// The objects of a single task.
#[derive(Default)]
pub(crate) struct OwnExtra {
    /// The handle on the other task, in the first one.
    pub(crate) task: Option<JoinHandle<Left>>,
    /// The other task.
    pub(crate) other: Option<Thread>,
    pub(crate) future: Option<future::JoinHandle<Left>>,
    /// A channel of its own, without messages.
    pub(crate) empty: Option<(Sender<u8>, Receiver<u8>)>,
}

/// The list with the records of the destructors of tasks' results.
const RESULTS: usize = 4;

/// An object that destructors access.
static LAST: AtomicU8 = AtomicU8::new(0);

/// The result of a task. Its destructor records the task that runs it, and earlier steps of other tasks.
pub(crate) struct Left(ThreadId);

impl Left {
    pub(crate) fn of_this_task() -> Left {
        Left(thread::current().id())
    }
}

impl Drop for Left {
    fn drop(&mut self) {
        record(RESULTS, u8::from(thread::current().id() == self.0));
        record(RESULTS, LAST.swap(1, SeqCst));
    }
}

const MOMENT: Duration = Duration::from_millis(1);

const TASK: &[Op] = &[
    op("is_finished", |_, own| {
        own.extra
            .task
            .as_ref()
            .map_or(NOTHING, |task| u8::from(task.is_finished()))
    }),
    op("join", |_, own| {
        let Some(task) = own.extra.task.take() else {
            return NOTHING;
        };
        let result = task.join();
        let value = u8::from(result.is_ok());
        // It is dropped here, by this task, in any case.
        std::mem::forget(result);
        value
    }),
    op("drop the handle", |_, own| {
        own.extra.task.take().map_or(NOTHING, |_| 0)
    }),
    op("unpark", |_, own| {
        let Some(other) = &own.extra.other else {
            return NOTHING;
        };
        other.unpark();
        0
    }),
    op("park", |_, _| {
        thread::park();
        0
    }),
    op("park_timeout", |_, _| {
        thread::park_timeout(MOMENT);
        0
    }),
    op("access what destructors do", |_, _| LAST.swap(3, SeqCst)),
];

fn micros(shared: &Shared) -> u8 {
    (shared.extra.begun.elapsed().as_micros() % 251) as u8
}

fn receive_nothing(own: &mut Own<'_>, limit: Duration) -> u8 {
    let (_sender, receiver) = own.extra.empty.get_or_insert_with(channel);
    u8::from(receiver.recv_timeout(limit) == Err(RecvTimeoutError::Timeout))
}

const TIME: &[Op] = &[
    op("elapsed", |shared, _| micros(shared)),
    op("sleep", |_, _| {
        thread::sleep(MOMENT);
        0
    }),
    op("sleep longer", |_, _| {
        thread::sleep(2 * MOMENT);
        0
    }),
    op("sleep for no time", |_, _| {
        thread::sleep(Duration::ZERO);
        0
    }),
    op("yield", |_, _| {
        thread::yield_now();
        0
    }),
    op("recv_timeout", |_, own| receive_nothing(own, MOMENT)),
    op("recv_timeout(0)", |_, own| receive_nothing(own, Duration::ZERO)),
    op("park_timeout", |_, _| {
        thread::park_timeout(2 * MOMENT);
        0
    }),
    op("unpark", |_, own| {
        let Some(other) = &own.extra.other else {
            return NOTHING;
        };
        other.unpark();
        0
    }),
    op("wait_timeout", |shared, _| {
        let guard = shared.mutex.lock().unwrap();
        let (_guard, result) = shared.condvar.wait_timeout(guard, MOMENT).unwrap();
        u8::from(result.timed_out())
    }),
    op("notify", |shared, _| {
        shared.condvar.notify_one();
        0
    }),
];

const PRIMITIVE: &[Op] = &[
    op("read", |shared, _| {
        shared.extra.primitive.read(SeqCst, |tokens| tokens.0)
    }),
    op("add", |shared, _| {
        shared.extra.primitive.change(SeqCst, |tokens| {
            tokens.0 += 1;
            tokens.0
        })
    }),
    op("try to take", |shared, _| {
        shared.extra.primitive.change(SeqCst, |tokens| {
            let taken = tokens.0.min(1);
            tokens.0 -= taken;
            taken
        })
    }),
    op("wait", |shared, _| {
        shared.extra.primitive.wait(1, SeqCst, |tokens| {
            tokens.0 -= 1;
            tokens.0
        })
    }),
    op("wait_timeout", |shared, _| {
        let taken = shared.extra.primitive.wait_timeout(1, MOMENT, SeqCst, |tokens| {
            tokens.0 -= 1;
            tokens.0
        });
        taken.unwrap_or(50)
    }),
    op("change and panic", |shared, _| {
        caught(|| {
            shared.extra.primitive.change(SeqCst, |tokens| {
                tokens.0 += 1;
                panics()
            })
        })
    }),
    op("access what is not seen", |shared, _| {
        schedule_point();
        shared.extra.unseen.fetch_add(1, SeqCst)
    }),
    op("quiesce", |_, _| {
        quiesce();
        0
    }),
];

const FUTURE: &[Op] = &[
    op("block_on", |shared, _| {
        let value = future::block_on(future::poll_fn(|context| {
            *shared.extra.waker.lock().unwrap() = Some(context.waker().clone());
            match shared.flag.load(SeqCst) {
                0 => Poll::Pending,
                value => Poll::Ready(value),
            }
        }));
        value as u8
    }),
    op("wake", |shared, _| {
        let waker = shared.extra.waker.lock().unwrap().take();
        let found = u8::from(waker.is_some());
        if let Some(waker) = waker {
            waker.wake();
        }
        found
    }),
    op("set and wake", |shared, _| {
        shared.flag.store(1, SeqCst);
        let waker = shared.extra.waker.lock().unwrap().take();
        waker.map_or(0, |waker| {
            waker.wake();
            1
        })
    }),
    op("spawn", |_, own| {
        own.extra.future = Some(future::spawn(async {
            LAST.fetch_add(10, SeqCst);
            Left::of_this_task()
        }));
        0
    }),
    op("is_finished", |_, own| {
        own.extra
            .future
            .as_ref()
            .map_or(NOTHING, |spawned| u8::from(spawned.is_finished()))
    }),
    op("await", |_, own| {
        let Some(spawned) = own.extra.future.take() else {
            return NOTHING;
        };
        let result = future::block_on(spawned);
        let value = u8::from(result.is_ok());
        std::mem::forget(result);
        value
    }),
    op("access what destructors do", |_, _| LAST.swap(3, SeqCst)),
];
