//! The operations of each kind of object, one on each line. This file is compiled twice: for the look-alikes and for std.
//!
//! An operation that is added here is tried with each other one of its kind.

use super::counts;
use super::state::{Kind, NOTHING, Noisy, Op, Own, Shared, caught, panics};
use super::sync::atomic::Ordering::SeqCst;
use super::sync::mpsc::{RecvTimeoutError, SendError, TryRecvError, TrySendError};
use super::sync::{LazyLock, RwLockWriteGuard, TryLockError};
use std::time::Duration;

const MOMENT: Duration = Duration::from_millis(1);

/// Returns the operations of a kind.
pub(crate) fn of(kind: Kind) -> &'static [Op] {
    match kind {
        Kind::Atomic => ATOMIC,
        Kind::Mutex => MUTEX,
        Kind::RwLock => RWLOCK,
        Kind::Condvar => CONDVAR,
        Kind::Channel => CHANNEL,
        Kind::BoundedChannel | Kind::Rendezvous => BOUNDED,
        Kind::Arc => counts::ARC,
        Kind::NoisyArc | Kind::AssumedArc => counts::NOISY_ARC,
        Kind::Once => ONCE,
        Kind::OnceLock => ONCE_LOCK,
        Kind::LazyLock => LAZY_LOCK,
        Kind::Barrier => BARRIER,
        Kind::Task | Kind::Time | Kind::Primitive | Kind::Future => &[],
    }
}

/// An operation that never waits.
pub(crate) const fn op(name: &'static str, run: for<'a> fn(&'a Shared, &mut Own<'a>) -> u8) -> Op {
    waits(name, run, |_, _| true)
}

const fn waits(
    name: &'static str,
    run: for<'a> fn(&'a Shared, &mut Own<'a>) -> u8,
    ready: for<'a> fn(&'a Shared, &Own<'a>) -> bool,
) -> Op {
    Op { name, run, ready }
}

/// Operations on another object, tried with those of every kind.
pub(crate) const FLAG: &[Op] = &[
    op("flag.store", |shared, _| {
        shared.flag.store(1, SeqCst);
        0
    }),
    op("flag.load", |shared, _| shared.flag.load(SeqCst) as u8),
];

const ATOMIC: &[Op] = &[
    op("load", |shared, _| shared.atomic.load(SeqCst) as u8),
    op("store", |shared, _| {
        shared.atomic.store(3, SeqCst);
        0
    }),
    op("store the same", |shared, _| {
        shared.atomic.store(0, SeqCst);
        0
    }),
    op("swap", |shared, _| shared.atomic.swap(4, SeqCst) as u8),
    op("fetch_add", |shared, _| shared.atomic.fetch_add(1, SeqCst) as u8),
    op("fetch_max", |shared, _| shared.atomic.fetch_max(2, SeqCst) as u8),
    op("exchange", |shared, _| {
        let done = shared.atomic.compare_exchange(0, 5, SeqCst, SeqCst);
        done.map_or_else(|was| was as u8 + 10, |was| was as u8)
    }),
    op("weak exchange", |shared, _| {
        let done = shared.atomic.compare_exchange_weak(3, 0, SeqCst, SeqCst);
        done.map_or_else(|was| was as u8 + 10, |was| was as u8)
    }),
    op("fetch_update", |shared, _| {
        let done = shared
            .atomic
            .fetch_update(SeqCst, SeqCst, |was| (was < 2).then_some(was + 1));
        done.map_or_else(|was| was as u8 + 10, |was| was as u8)
    }),
    op("debug", |shared, _| {
        format!("{:?}", shared.atomic).parse().unwrap_or(88)
    }),
];

fn lock_is_free(shared: &Shared) -> bool {
    !matches!(shared.mutex.try_lock(), Err(TryLockError::WouldBlock))
}

const MUTEX: &[Op] = &[
    waits(
        "lock",
        |shared, own| {
            let result = shared.mutex.lock();
            let poisoned = u8::from(result.is_err());
            let mut guard = result.unwrap_or_else(|poisoned| poisoned.into_inner());
            *guard += 1;
            let value = *guard + 20 * poisoned;
            own.mutex = Some(guard);
            value
        },
        |shared, _| lock_is_free(shared),
    ),
    waits(
        "lock and unlock",
        |shared, _| {
            let mut guard = shared
                .mutex
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner());
            *guard += 1;
            *guard
        },
        |shared, _| lock_is_free(shared),
    ),
    op("try_lock", |shared, own| match shared.mutex.try_lock() {
        Ok(mut guard) => {
            *guard += 1;
            let value = *guard;
            own.mutex = Some(guard);
            value
        }
        Err(TryLockError::Poisoned(poisoned)) => 20 + *poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => 40,
    }),
    op("unlock", |_, own| own.mutex.take().map_or(NOTHING, |_| 0)),
    waits(
        "panic while it is held",
        |shared, _| {
            caught(|| {
                let _guard = shared.mutex.lock();
                panics()
            })
        },
        |shared, _| lock_is_free(shared),
    ),
    op("is_poisoned", |shared, _| u8::from(shared.mutex.is_poisoned())),
    op("clear_poison", |shared, _| {
        shared.mutex.clear_poison();
        0
    }),
    op("debug", |shared, _| {
        let text = format!("{:?}", shared.mutex);
        u8::from(text.contains("<locked>"))
            + 2 * u8::from(text.contains("poisoned: true"))
            + 4 * u8::from(text.contains("data: 1"))
    }),
];

fn is_readable(shared: &Shared) -> bool {
    !matches!(shared.rwlock.try_read(), Err(TryLockError::WouldBlock))
}

fn is_writable(shared: &Shared) -> bool {
    !matches!(shared.rwlock.try_write(), Err(TryLockError::WouldBlock))
}

const RWLOCK: &[Op] = &[
    waits(
        "read",
        |shared, own| {
            let result = shared.rwlock.read();
            let poisoned = u8::from(result.is_err());
            let guard = result.unwrap_or_else(|poisoned| poisoned.into_inner());
            let value = *guard + 20 * poisoned;
            own.read = Some(guard);
            value
        },
        |shared, _| is_readable(shared),
    ),
    waits(
        "write",
        |shared, own| {
            let result = shared.rwlock.write();
            let poisoned = u8::from(result.is_err());
            let mut guard = result.unwrap_or_else(|poisoned| poisoned.into_inner());
            *guard += 1;
            let value = *guard + 20 * poisoned;
            own.write = Some(guard);
            value
        },
        |shared, _| is_writable(shared),
    ),
    op("try_read", |shared, own| match shared.rwlock.try_read() {
        Ok(guard) => {
            let value = *guard;
            own.read = Some(guard);
            value
        }
        Err(TryLockError::Poisoned(poisoned)) => 20 + *poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => 40,
    }),
    op("try_write", |shared, own| match shared.rwlock.try_write() {
        Ok(mut guard) => {
            *guard += 1;
            let value = *guard;
            own.write = Some(guard);
            value
        }
        Err(TryLockError::Poisoned(poisoned)) => 20 + *poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => 40,
    }),
    op("release", |_, own| {
        let held = own.read.is_some() || own.write.is_some();
        (own.read, own.write) = (None, None);
        u8::from(held)
    }),
    op("downgrade", |_, own| {
        let Some(guard) = own.write.take() else {
            return NOTHING;
        };
        own.read = Some(RwLockWriteGuard::downgrade(guard));
        0
    }),
    waits(
        "panic while writing",
        |shared, _| {
            caught(|| {
                let _guard = shared.rwlock.write();
                panics()
            })
        },
        |shared, _| is_writable(shared),
    ),
    waits(
        "panic while reading",
        |shared, _| {
            caught(|| {
                let _guard = shared.rwlock.read();
                panics()
            })
        },
        |shared, _| is_readable(shared),
    ),
    op("is_poisoned", |shared, _| u8::from(shared.rwlock.is_poisoned())),
    op("clear_poison", |shared, _| {
        shared.rwlock.clear_poison();
        0
    }),
    op("debug", |shared, _| {
        let text = format!("{:?}", shared.rwlock);
        u8::from(text.contains("<locked>"))
            + 2 * u8::from(text.contains("poisoned: true"))
            + 4 * u8::from(text.contains("data: 1"))
    }),
];

const CONDVAR: &[Op] = &[
    waits(
        "wait",
        |shared, _| {
            let guard = shared.mutex.lock().unwrap();
            let guard = shared.condvar.wait(guard).unwrap();
            *guard
        },
        |_, _| false,
    ),
    waits(
        "wait_timeout",
        |shared, _| {
            let guard = shared.mutex.lock().unwrap();
            let (guard, result) = shared.condvar.wait_timeout(guard, MOMENT).unwrap();
            *guard + 10 * u8::from(result.timed_out())
        },
        |_, _| false,
    ),
    waits(
        "wait_while",
        |shared, _| {
            let guard = shared.mutex.lock().unwrap();
            let guard = shared.condvar.wait_while(guard, |value| *value == 0).unwrap();
            *guard
        },
        |shared, _| shared.mutex.try_lock().is_ok_and(|value| *value > 0),
    ),
    op("notify_one", |shared, _| {
        shared.condvar.notify_one();
        0
    }),
    op("notify_all", |shared, _| {
        shared.condvar.notify_all();
        0
    }),
    waits(
        "set and notify_one",
        |shared, _| {
            *shared.mutex.lock().unwrap() = 1;
            shared.condvar.notify_one();
            0
        },
        |shared, _| lock_is_free(shared),
    ),
    waits(
        "notify_all under the lock",
        |shared, _| {
            let mut guard = shared.mutex.lock().unwrap();
            *guard += 1;
            shared.condvar.notify_all();
            *guard
        },
        |shared, _| lock_is_free(shared),
    ),
    op("try_lock", |shared, _| u8::from(shared.mutex.try_lock().is_ok())),
];

/// Returns the result of a receive, with or without a message.
fn received(shared: &Shared, result: Result<Noisy, TryRecvError>) -> u8 {
    match result {
        Ok(message) => {
            drop(message);
            10 + shared.dropped()
        }
        Err(TryRecvError::Empty) => 61,
        Err(TryRecvError::Disconnected) => 60,
    }
}

fn receive(shared: &Shared, own: &Own<'_>) -> u8 {
    let Some(receiver) = &own.handles.receiver else {
        return NOTHING;
    };
    received(shared, receiver.recv().map_err(|_| TryRecvError::Disconnected))
}

fn try_receive(shared: &Shared, own: &Own<'_>) -> u8 {
    let Some(receiver) = &own.handles.receiver else {
        return NOTHING;
    };
    received(shared, receiver.try_recv())
}

fn receive_within(shared: &Shared, own: &Own<'_>, limit: Duration) -> u8 {
    let Some(receiver) = &own.handles.receiver else {
        return NOTHING;
    };
    received(
        shared,
        receiver.recv_timeout(limit).map_err(|error| match error {
            RecvTimeoutError::Timeout => TryRecvError::Empty,
            RecvTimeoutError::Disconnected => TryRecvError::Disconnected,
        }),
    )
}

fn receive_all(shared: &Shared, own: &Own<'_>) -> u8 {
    let Some(receiver) = &own.handles.receiver else {
        return NOTHING;
    };
    let count = receiver.try_iter().count() as u8;
    count + 4 * shared.dropped()
}

fn close_receiver(shared: &Shared, own: &mut Own<'_>) -> u8 {
    let Some(receiver) = own.handles.receiver.take() else {
        return NOTHING;
    };
    drop(receiver);
    shared.dropped()
}

const CHANNEL: &[Op] = &[
    op("send", |shared, own| {
        let Some(sender) = &own.handles.sender else {
            return NOTHING;
        };
        match sender.send(Noisy(shared.dropped.clone())) {
            Ok(()) => 1,
            Err(SendError(message)) => {
                drop(message);
                20 + shared.dropped()
            }
        }
    }),
    op("drop the sender", |_, own| {
        drop(own.handles.sender.take());
        0
    }),
    op("drop a clone of the sender", |_, own| {
        own.handles.sender.clone().map_or(NOTHING, |_| 0)
    }),
    waits(
        "recv",
        |shared, own| receive(shared, own),
        |_, own| own.handles.receiver.is_none(),
    ),
    op("try_recv", |shared, own| try_receive(shared, own)),
    op("recv_timeout(0)", |shared, own| {
        receive_within(shared, own, Duration::ZERO)
    }),
    waits(
        "recv_timeout",
        |shared, own| receive_within(shared, own, MOMENT),
        |_, own| own.handles.receiver.is_none(),
    ),
    op("try_iter", |shared, own| receive_all(shared, own)),
    waits(
        "iter",
        |shared, own| {
            let Some(receiver) = &own.handles.receiver else {
                return NOTHING;
            };
            let count = receiver.iter().take(2).count() as u8;
            count + 4 * shared.dropped()
        },
        |_, own| own.handles.receiver.is_none(),
    ),
    op("drop the receiver", close_receiver),
];

const BOUNDED: &[Op] = &[
    waits(
        "send",
        |shared, own| {
            let Some(sender) = &own.handles.bounded else {
                return NOTHING;
            };
            match sender.send(Noisy(shared.dropped.clone())) {
                Ok(()) => 1,
                Err(SendError(message)) => {
                    drop(message);
                    20 + shared.dropped()
                }
            }
        },
        |_, own| own.handles.bounded.is_none(),
    ),
    op("try_send", |shared, own| {
        let Some(sender) = &own.handles.bounded else {
            return NOTHING;
        };
        match sender.try_send(Noisy(shared.dropped.clone())) {
            Ok(()) => 1,
            Err(TrySendError::Full(_)) => 30,
            Err(TrySendError::Disconnected(_)) => 20,
        }
    }),
    op("drop the sender", |_, own| {
        drop(own.handles.bounded.take());
        0
    }),
    waits(
        "recv",
        |shared, own| receive(shared, own),
        |_, own| own.handles.receiver.is_none(),
    ),
    op("try_recv", |shared, own| try_receive(shared, own)),
    op("recv_timeout(0)", |shared, own| {
        receive_within(shared, own, Duration::ZERO)
    }),
    waits(
        "recv_timeout",
        |shared, own| receive_within(shared, own, MOMENT),
        |_, own| own.handles.receiver.is_none(),
    ),
    op("try_iter", |shared, own| receive_all(shared, own)),
    op("drop the receiver", close_receiver),
];

const ONCE: &[Op] = &[
    waits(
        "call_once",
        |shared, _| {
            caught(|| {
                let mut ran = 0;
                shared.once.call_once(|| ran = 1 + shared.flag.load(SeqCst) as u8);
                ran
            })
        },
        |_, _| true,
    ),
    op("call_once that panics", |shared, _| {
        caught(|| {
            shared.once.call_once(|| panics());
            0
        })
    }),
    op("call_once_force", |shared, _| {
        let mut ran = 0;
        shared
            .once
            .call_once_force(|state| ran = 1 + u8::from(state.is_poisoned()));
        ran
    }),
    op("call_once_force that panics", |shared, _| {
        caught(|| {
            shared.once.call_once_force(|_| panics());
            0
        })
    }),
    op("is_completed", |shared, _| u8::from(shared.once.is_completed())),
    waits(
        "wait",
        |shared, _| {
            caught(|| {
                shared.once.wait();
                0
            })
        },
        |shared, _| shared.once.is_completed(),
    ),
    waits(
        "wait_force",
        |shared, _| {
            shared.once.wait_force();
            0
        },
        |shared, _| shared.once.is_completed(),
    ),
];

const ONCE_LOCK: &[Op] = &[
    op("get", |shared, _| shared.cell.get().map_or(50, |value| *value)),
    op("set", |shared, _| u8::from(shared.cell.set(3).is_ok())),
    op("get_or_init", |shared, _| {
        *shared.cell.get_or_init(|| 4 + shared.flag.load(SeqCst) as u8)
    }),
    op("get_or_init that panics", |shared, _| {
        caught(|| *shared.cell.get_or_init(|| panics()))
    }),
    waits(
        "wait",
        |shared, _| *shared.cell.wait(),
        |shared, _| shared.cell.get().is_some(),
    ),
    op("debug", |shared, _| {
        u8::from(format!("{:?}", shared.cell).contains("<uninit>"))
    }),
    op("clone", |shared, _| {
        shared.cell.clone().into_inner().unwrap_or(50)
    }),
    op("equal to empty", |shared, _| {
        u8::from(shared.cell == super::sync::OnceLock::new())
    }),
];

const LAZY_LOCK: &[Op] = &[
    op("force", |shared, _| *shared.lazy),
    op("debug", |shared, _| {
        u8::from(format!("{:?}", shared.lazy).contains("<uninit>"))
    }),
    op("force what panics", |shared, _| caught(|| *shared.lazy_panics)),
    op("debug of what panics", |shared, _| {
        caught(|| u8::from(format!("{:?}", shared.lazy_panics).contains("<uninit>")))
    }),
    op("force by name", |shared, _| *LazyLock::force(&shared.lazy)),
];

const BARRIER: &[Op] = &[
    waits(
        "wait",
        |shared, _| u8::from(shared.barrier.wait().is_leader()),
        |_, _| false,
    ),
    op("flag.swap", |shared, _| shared.flag.swap(2, SeqCst) as u8),
];

/// Returns the state of the objects when all tasks have ended.
pub(crate) fn left(shared: &Shared) -> Vec<u8> {
    vec![
        shared.atomic.load(SeqCst) as u8,
        shared.flag.load(SeqCst) as u8,
        u8::from(shared.mutex.is_poisoned()),
        u8::from(shared.rwlock.is_poisoned()),
        u8::from(shared.once.is_completed()),
        shared.cell.get().map_or(50, |value| *value),
        shared.dropped(),
    ]
}
