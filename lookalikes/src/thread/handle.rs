//! Threads by handle: `Thread`, `ThreadId`, `current`.

use intermezzo_engine::runtime::{Access, Engine, Site, gate, open_for_task};
use intermezzo_sdk::SyncVarOp;
use std::fmt;
use std::num::NonZeroU64;
use std::sync::{Arc, Mutex, PoisonError};

/// The name of the thread of a test's own body, if it has one.
static NAME_OF_MAIN: Mutex<Option<&str>> = Mutex::new(Some("main"));

/// Gives the thread of the body of each test from now on this name, or none.
#[doc(hidden)]
pub fn name_main(name: Option<&'static str>) {
    *NAME_OF_MAIN.lock().unwrap_or_else(PoisonError::into_inner) = name;
}

/// A handle on a thread: `std::thread::Thread`. It is a pointer, as std's is, because crates rely on that size.
#[derive(Clone)]
pub struct Thread(Arc<Kind>);

pub(super) enum Kind {
    Outside(std::thread::Thread),
    Inside {
        epoch: u64,
        task: u32,
        /// The number of the task's lineage.
        lineage: u64,
        name: Option<Arc<str>>,
    },
}

/// A thread's identity: `std::thread::ThreadId`. It is a number that is not zero, as std's is.
///
/// That of a task is the same in each execution, because maps have it as a key. It does not depend on which of two tasks was
/// created first, because creation has no schedule point: it stands for the creator and the number among the creator's tasks.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ThreadId(NonZeroU64);

impl ThreadId {
    /// The bit of identities of tasks.
    const INSIDE: u64 = 1 << 63;

    /// Returns the identity of a thread that runs no execution.
    fn outside(id: std::thread::ThreadId) -> ThreadId {
        // There is no other way to std's number on a stable compiler.
        let shown = format!("{id:?}");
        let number = shown.trim_matches(|c: char| !c.is_ascii_digit()).parse();
        ThreadId(number.expect("std shows the number of a thread"))
    }

    /// Returns the identity of the task whose lineage has this number.
    fn inside(number: u64) -> ThreadId {
        ThreadId(NonZeroU64::new(number | ThreadId::INSIDE).expect("it has a bit"))
    }
}

impl fmt::Debug for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.0.get() & !ThreadId::INSIDE;
        let is_inside = self.0.get() != number;
        let engine = Engine::current().filter(|_| is_inside);
        match engine.and_then(|engine| Some(engine.lineage(engine.task_of_lineage(number)?))) {
            Some(lineage) => write!(f, "ThreadId({lineage})"),
            None => write!(f, "ThreadId({number})"),
        }
    }
}

/// Returns the number of a thread among the tasks of this execution, in order of their creation; that of the test's own
/// body is 0. `None` if it is no task of this execution. For drop-ins of other tools.
#[doc(hidden)]
pub fn number_of(thread: &Thread) -> Option<u32> {
    let here = Engine::current()?.epoch();
    match *thread.0 {
        Kind::Inside { epoch, task, .. } if epoch == here => Some(task),
        _ => None,
    }
}

/// Returns the number of the calling thread, as [`number_of`] does. For the same drop-ins.
#[doc(hidden)]
pub fn own_number() -> Option<u32> {
    Engine::current().map(Engine::thread)
}

/// Returns the calling thread.
pub fn current() -> Thread {
    match Engine::current() {
        Some(engine) => Thread::of_task(engine, engine.thread()),
        None => Thread::new(Kind::Outside(std::thread::current())),
    }
}

impl Thread {
    pub(super) fn new(kind: Kind) -> Thread {
        Thread(Arc::new(kind))
    }

    pub(super) fn of_task(engine: Engine, task: u32) -> Thread {
        let kind = Kind::Inside {
            epoch: engine.epoch(),
            task,
            lineage: engine.lineage_number(task),
            name: engine.with_task(task, |entry| entry.name.clone()),
        };
        engine.uninterrupted(|| Thread::new(kind))
    }

    /// Gives the thread its park token, and wakes it if it is parked.
    #[track_caller]
    pub fn unpark(&self) {
        match &*self.0 {
            Kind::Outside(thread) => thread.unpark(),
            Kind::Inside { epoch, task, .. } => {
                let Some(engine) = Engine::current() else {
                    return open_for_task(*epoch, *task, gate::TOKEN, Site::caller());
                };
                if engine.epoch() != *epoch {
                    // The task belongs to another execution, and no longer exists.
                    return;
                }
                let var = engine.task_var(*task);
                let access = Access::new(SyncVarOp::Unpark, var, Site::caller());
                engine.enter(access);
                engine.change_gates(var, gate::TOKEN, 0);
                engine.note_unpark(*task);
                engine.commit(access, 0, 0);
                engine.unpark_ended(*task, access.site);
            }
        }
    }

    /// Returns the thread's identity.
    pub fn id(&self) -> ThreadId {
        match &*self.0 {
            Kind::Outside(thread) => ThreadId::outside(thread.id()),
            Kind::Inside {
                epoch, task, lineage, ..
            } => {
                if let Some(engine) = Engine::current().filter(|engine| engine.epoch() == *epoch) {
                    engine.note_identity(*task);
                }
                ThreadId::inside(*lineage)
            }
        }
    }

    /// Returns the thread's name, if it was given one. The test's own body is `main`, unless its harness
    /// gives it another name.
    pub fn name(&self) -> Option<&str> {
        match &*self.0 {
            Kind::Outside(thread) => thread.name(),
            Kind::Inside { task: 0, .. } => *NAME_OF_MAIN.lock().unwrap_or_else(PoisonError::into_inner),
            Kind::Inside { name, .. } => name.as_deref(),
        }
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread")
            .field("id", &self.id())
            .field("name", &self.name())
            .finish_non_exhaustive()
    }
}

/// These sizes are std's.
const _: () = assert!(
    size_of::<Thread>() == size_of::<std::thread::Thread>()
        && size_of::<Option<Thread>>() == size_of::<Option<std::thread::Thread>>()
        && size_of::<ThreadId>() == size_of::<std::thread::ThreadId>()
        && size_of::<Option<ThreadId>>() == size_of::<Option<std::thread::ThreadId>>()
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_of_threads_differ() {
        let here = current().id();
        assert_eq!(here, current().id());
        let there = std::thread::spawn(|| current().id()).join().unwrap();
        assert_ne!(here, there);
        assert_ne!(here, ThreadId::inside(1));
    }
}
