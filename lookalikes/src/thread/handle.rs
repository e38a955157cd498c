//! Threads by handle: `Thread`, `ThreadId`, `current`.

use intermezzo_engine::runtime::{Access, Engine, Site, gate, open_for_task};
use intermezzo_sdk::SyncVarOp;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// The name of the thread of a test's own body.
static NAME_OF_MAIN: Mutex<&str> = Mutex::new("main");

/// Gives the thread of the body of each test from now on this name.
#[doc(hidden)]
pub fn name_main(name: &'static str) {
    *NAME_OF_MAIN.lock().unwrap_or_else(PoisonError::into_inner) = name;
}

/// A handle on a thread: `std::thread::Thread`.
#[derive(Clone)]
pub struct Thread(pub(super) Kind);

#[derive(Clone)]
pub(super) enum Kind {
    Outside(std::thread::Thread),
    Inside {
        epoch: u64,
        task: u32,
        name: Option<Arc<str>>,
    },
}

/// A thread's identity: `std::thread::ThreadId`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ThreadId(Id);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Id {
    Outside(std::thread::ThreadId),
    Inside { epoch: u64, task: u32 },
}

impl fmt::Debug for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Id::Outside(id) => id.fmt(f),
            // The epoch differs between executions, but the output of a test must not. Nor may it show which of two
            // tasks was created first, because creation has no schedule point. So it names the creator and counts the
            // creator's tasks.
            Id::Inside { epoch, task } => match Engine::current().filter(|engine| engine.epoch() == epoch) {
                Some(engine) => write!(f, "ThreadId({})", engine.lineage(task)),
                None => write!(f, "ThreadId({})", task + 1),
            },
        }
    }
}

/// Returns the number of a thread among the tasks of this execution, in order of their creation; that of the test's own
/// body is 0. `None` if it is no task of this execution. For drop-ins of other tools.
#[doc(hidden)]
pub fn number_of(thread: &Thread) -> Option<u32> {
    let here = Engine::current()?.epoch();
    match thread.0 {
        Kind::Inside { epoch, task, .. } if epoch == here => Some(task),
        _ => None,
    }
}

/// Returns the calling thread.
pub fn current() -> Thread {
    match Engine::current() {
        Some(engine) => Thread::of_task(engine, engine.thread()),
        None => Thread(Kind::Outside(std::thread::current())),
    }
}

impl Thread {
    pub(super) fn of_task(engine: Engine, task: u32) -> Thread {
        Thread(Kind::Inside {
            epoch: engine.epoch(),
            task,
            name: engine.with_task(task, |entry| entry.name.clone()),
        })
    }

    /// Gives the thread its park token, and wakes it if it is parked.
    #[track_caller]
    pub fn unpark(&self) {
        match &self.0 {
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
                engine.commit(access, 0, 0);
            }
        }
    }

    /// Returns the thread's identity.
    pub fn id(&self) -> ThreadId {
        ThreadId(match &self.0 {
            Kind::Outside(thread) => Id::Outside(thread.id()),
            Kind::Inside { epoch, task, .. } => Id::Inside {
                epoch: *epoch,
                task: *task,
            },
        })
    }

    /// Returns the thread's name, if it was given one. The test's own body is `main`, unless its harness
    /// gives it another name.
    pub fn name(&self) -> Option<&str> {
        match &self.0 {
            Kind::Outside(thread) => thread.name(),
            Kind::Inside { task: 0, .. } => {
                Some(*NAME_OF_MAIN.lock().unwrap_or_else(PoisonError::into_inner))
            }
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
