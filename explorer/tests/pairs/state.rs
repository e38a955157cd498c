//! The objects that the operations use. This file is compiled twice: for the look-alikes and for std.

use super::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use super::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use super::sync::{
    Arc, Barrier, Condvar, LazyLock, Mutex, MutexGuard, Once, OnceLock, RwLock, RwLockReadGuard,
    RwLockWriteGuard, Weak,
};
use crate::Expected;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc as Plain;
use std::sync::atomic::AtomicUsize as Unseen;

/// A value whose destructor counts, without a schedule point.
pub(crate) struct Noisy(pub(crate) Plain<Unseen>);

impl Drop for Noisy {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

/// A clone has a count of its own, because a search could not know that two values share one.
impl Clone for Noisy {
    fn clone(&self) -> Noisy {
        Noisy(Plain::default())
    }
}

/// The kinds of objects. Each has a table of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Atomic,
    Mutex,
    RwLock,
    Condvar,
    Channel,
    BoundedChannel,
    Rendezvous,
    Arc,
    NoisyArc,
    /// The same, with memory that existed before its value.
    AssumedArc,
    Once,
    OnceLock,
    LazyLock,
    Barrier,
    Task,
    Time,
    Primitive,
    Future,
}

/// All kinds.
pub(crate) const ALL: &[Kind] = &[
    Kind::Atomic,
    Kind::Mutex,
    Kind::RwLock,
    Kind::Condvar,
    Kind::Channel,
    Kind::BoundedChannel,
    Kind::Rendezvous,
    Kind::Arc,
    Kind::NoisyArc,
    Kind::AssumedArc,
    Kind::Once,
    Kind::OnceLock,
    Kind::LazyLock,
    Kind::Barrier,
    Kind::Task,
    Kind::Time,
    Kind::Primitive,
    Kind::Future,
];

/// The objects that tasks share.
pub(crate) struct Shared {
    pub(crate) atomic: AtomicUsize,
    /// Another object: the order of its accesses and those of the first object may have an effect.
    pub(crate) flag: AtomicUsize,
    pub(crate) mutex: Mutex<u8>,
    pub(crate) rwlock: RwLock<u8>,
    pub(crate) condvar: Condvar,
    pub(crate) once: Once,
    pub(crate) cell: OnceLock<u8>,
    pub(crate) lazy: LazyLock<u8>,
    pub(crate) lazy_panics: LazyLock<u8>,
    pub(crate) barrier: Barrier,
    /// The number of values that were dropped.
    pub(crate) dropped: Plain<Unseen>,
    /// The objects that std does not have.
    pub(crate) extra: super::Extra,
}

impl Shared {
    pub(crate) fn new() -> Shared {
        Shared {
            atomic: AtomicUsize::new(0),
            flag: AtomicUsize::new(0),
            mutex: Mutex::new(0),
            rwlock: RwLock::new(0),
            condvar: Condvar::new(),
            once: Once::new(),
            cell: OnceLock::new(),
            lazy: LazyLock::new(|| 7),
            lazy_panics: LazyLock::new(|| resume_unwind(Box::new(Expected))),
            barrier: Barrier::new(2),
            dropped: Plain::default(),
            extra: super::Extra::default(),
        }
    }

    pub(crate) fn dropped(&self) -> u8 {
        self.dropped.load(SeqCst) as u8
    }
}

/// The handles of a task when it begins.
#[derive(Default)]
pub(crate) struct Handles {
    pub(crate) sender: Option<Sender<Noisy>>,
    pub(crate) bounded: Option<SyncSender<Noisy>>,
    pub(crate) receiver: Option<Receiver<Noisy>>,
    pub(crate) arc: Option<Arc<u8>>,
    pub(crate) weak: Option<Weak<u8>>,
    pub(crate) noisy: Option<Arc<Noisy>>,
    pub(crate) weak_noisy: Option<Weak<Noisy>>,
}

impl Handles {
    /// Returns the handles of each of a number of tasks. The last one has the receiver.
    pub(crate) fn of(kind: Kind, shared: &Shared, tasks: usize) -> Vec<Handles> {
        let mut handles: Vec<Handles> = (0..tasks).map(|_| Handles::default()).collect();
        match kind {
            Kind::Channel => {
                let (sender, receiver) = channel();
                handles
                    .iter_mut()
                    .for_each(|own| own.sender = Some(sender.clone()));
                handles[tasks - 1].receiver = Some(receiver);
            }
            Kind::BoundedChannel | Kind::Rendezvous => {
                let (sender, receiver) = sync_channel(usize::from(kind == Kind::BoundedChannel));
                handles
                    .iter_mut()
                    .for_each(|own| own.bounded = Some(sender.clone()));
                handles[tasks - 1].receiver = Some(receiver);
            }
            Kind::Arc => {
                let arc = Arc::new(1);
                for own in &mut handles {
                    (own.arc, own.weak) = (Some(arc.clone()), Some(Arc::downgrade(&arc)));
                }
            }
            Kind::NoisyArc | Kind::AssumedArc => {
                let arc = match kind {
                    Kind::NoisyArc => Arc::new(Noisy(shared.dropped.clone())),
                    _ => assumed(Noisy(shared.dropped.clone())),
                };
                for own in &mut handles {
                    (own.noisy, own.weak_noisy) = (Some(arc.clone()), Some(Arc::downgrade(&arc)));
                }
            }
            _ => {}
        }
        handles
    }
}

fn assumed(value: Noisy) -> Arc<Noisy> {
    let mut arc = Arc::new_uninit();
    Arc::get_mut(&mut arc)
        .expect("it is the only handle")
        .write(value);
    // SAFETY: the value exists.
    unsafe { arc.assume_init() }
}

/// The objects of a single task.
pub(crate) struct Own<'a> {
    pub(crate) handles: Handles,
    pub(crate) mutex: Option<MutexGuard<'a, u8>>,
    pub(crate) read: Option<RwLockReadGuard<'a, u8>>,
    pub(crate) write: Option<RwLockWriteGuard<'a, u8>>,
    pub(crate) arcs: Vec<Arc<u8>>,
    pub(crate) noisies: Vec<Arc<Noisy>>,
    pub(crate) extra: super::OwnExtra,
}

impl Own<'_> {
    pub(crate) fn new<'a>(handles: Handles) -> Own<'a> {
        Own {
            handles,
            mutex: None,
            read: None,
            write: None,
            arcs: Vec::new(),
            noisies: Vec::new(),
            extra: super::OwnExtra::default(),
        }
    }
}

/// An operation. It does nothing if the task does not have the objects.
pub(crate) struct Op {
    pub(crate) name: &'static str,
    /// Performs it, and returns its result.
    pub(crate) run: for<'a> fn(&'a Shared, &mut Own<'a>) -> u8,
    /// `true` if it would not wait now.
    pub(crate) ready: for<'a> fn(&'a Shared, &Own<'a>) -> bool,
}

/// The result of an operation that the task cannot perform.
pub(crate) const NOTHING: u8 = 99;

/// The result of an operation that panics, with the program's own panic and with another.
const PANICS: u8 = 90;

/// Performs an operation that may panic.
pub(crate) fn caught(act: impl FnOnce() -> u8) -> u8 {
    match catch_unwind(AssertUnwindSafe(act)) {
        Ok(value) => value,
        Err(payload) if super::is_of_program(&*payload) => PANICS + u8::from(payload.is::<Expected>()),
        Err(payload) => resume_unwind(payload),
    }
}

/// Panics, without a message.
pub(crate) fn panics() -> ! {
    resume_unwind(Box::new(Expected))
}
