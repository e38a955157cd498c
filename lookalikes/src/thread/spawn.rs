//! Creating threads, and waiting for their end: `spawn`, `Builder`, `JoinHandle`.

use super::handle::{Kind, Thread};
use crate::traits::opaque;
use intermezzo_engine::runtime::{Access, Engine, LATE, Site, WaitLimits, gate};
use intermezzo_sdk::SyncVarOp;
use std::ffi::CString;
use std::io;
use std::marker::PhantomData;
use std::mem::needs_drop;
use std::sync::{Arc, OnceLock};

/// Runs a closure on a new thread.
///
/// # Panics
/// Outside an exploration, if the system has no more threads.
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    match Engine::current() {
        Some(engine) => {
            let site = Site::caller();
            // SAFETY: nothing is borrowed.
            JoinHandle::inside(engine, unsafe { engine.fork(None, site, f) }, site)
        }
        None => Builder::new().spawn(f).expect("failed to spawn thread"),
    }
}

/// Runs copies of a closure on this number of new threads. Inside an exploration they are symmetric tasks.
#[doc(hidden)]
#[track_caller]
pub fn spawn_symmetric<F, T>(threads: usize, f: F) -> Vec<JoinHandle<T>>
where
    F: FnOnce() -> T + Clone + Send + 'static,
    T: Send + 'static,
{
    // All copies are there before the first task is: copying may be visible.
    let copies = vec![f; threads];
    let Some(engine) = Engine::current() else {
        return copies.into_iter().map(spawn).collect();
    };
    let site = Site::caller();
    // SAFETY: nothing is borrowed.
    let tasks = unsafe { engine.fork_symmetric(site, copies) };
    let handle = |task| JoinHandle::inside(engine, task, site);
    tasks.into_iter().map(handle).collect()
}

/// The largest size of a stack that may be there on some machine. Larger ones are refused everywhere, so an execution does
/// the same each time.
const STACK_MAX: usize = usize::MAX / if usize::BITS == 64 { 1 << 16 } else { 2 };

/// Settings of a new thread: `std::thread::Builder`.
#[derive(Debug, Default)]
pub struct Builder {
    name: Option<String>,
    stack_size: Option<usize>,
}

impl Builder {
    /// Returns the default settings.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// Sets the thread's name.
    pub fn name(mut self, name: String) -> Builder {
        self.name = Some(name);
        self
    }

    /// Sets the size of the thread's stack in bytes. Inside an exploration a task has at least what the settings say.
    pub fn stack_size(mut self, size: usize) -> Builder {
        self.stack_size = Some(size);
        self
    }

    pub(super) fn outside(self) -> std::thread::Builder {
        let mut builder = std::thread::Builder::new();
        if let Some(name) = self.name {
            builder = builder.name(name);
        }
        if let Some(size) = self.stack_size {
            builder = builder.stack_size(size);
        }
        builder
    }

    /// Asks for the stack that the task to be created needs, and returns the task's name.
    ///
    /// # Errors
    /// If no stack can have that size; the error is std's.
    ///
    /// # Panics
    /// If it contains a null byte; the message is std's.
    #[inline]
    #[track_caller]
    pub(super) fn described_to(&self, engine: Engine) -> io::Result<Option<Arc<str>>> {
        self.check_name();
        if let Some(bytes) = self.stack_size {
            if bytes > STACK_MAX {
                std::thread::Builder::new().stack_size(bytes).spawn(|| ())?;
            }
            engine.want_stack(bytes);
        }
        Ok(self.name.as_deref().map(Arc::from))
    }

    /// Checks that the name can be one of a thread.
    ///
    /// # Panics
    /// If it contains a null byte; the message is std's.
    #[inline]
    #[track_caller]
    pub(super) fn check_name(&self) {
        if let Some(name) = self.name.as_deref().filter(|name| name.contains('\0')) {
            CString::new(name).expect("thread name may not contain interior null bytes");
        }
    }

    /// Runs a closure on a new thread.
    ///
    /// # Errors
    /// If no stack can have the size that was set; outside an exploration, also if the system has no more threads.
    ///
    /// # Panics
    /// If the name contains a null byte.
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        // SAFETY: nothing is borrowed.
        unsafe { self.spawn_unchecked(f) }
    }

    /// Runs a closure on a new thread, without a bound on the lifetime of borrowed data.
    ///
    /// # Safety
    /// The thread ends before the data that it borrows.
    ///
    /// # Errors
    /// If no stack can have the size that was set; outside an exploration, also if the system has no more threads.
    ///
    /// # Panics
    /// If the name contains a null byte.
    #[track_caller]
    pub unsafe fn spawn_unchecked<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send,
        T: Send,
    {
        let site = Site::caller();
        let Some(engine) = Engine::current() else {
            // SAFETY: as the caller says.
            let handle = unsafe { self.outside().spawn_unchecked(f)? };
            return Ok(JoinHandle::outside(handle));
        };
        // SAFETY: as the caller says.
        let task = unsafe { engine.fork(self.described_to(engine)?, site, f) };
        Ok(JoinHandle::inside(engine, task, site))
    }
}

/// The content of a join handle.
enum Inner<T> {
    Outside(std::thread::JoinHandle<T>),
    Inside(Joinable<T>),
}

/// A task of an execution that can be joined once. Dropping it detaches the task.
pub(super) struct Joinable<T> {
    epoch: u64,
    task: u32,
    /// The place where the task was created: the place of the handle's end, which has none of its own.
    site: Site,
    result: PhantomData<T>,
}

// The result is in the task's room, not here.
impl<T> Unpin for Joinable<T> {}

impl<T> Joinable<T> {
    pub(super) fn new(engine: Engine, task: u32, site: Site) -> Joinable<T> {
        Joinable {
            epoch: engine.epoch(),
            task,
            site,
            result: PhantomData,
        }
    }

    /// Returns the engine, if its execution is still this one's.
    fn engine(&self) -> Option<Engine> {
        Engine::current().filter(|engine| engine.epoch() == self.epoch)
    }

    /// Waits for the task to end, and returns its result.
    #[inline(always)]
    pub(super) fn join(self, site: Site) -> std::thread::Result<T> {
        let Some(engine) = self.engine() else {
            join_of_another_execution()
        };
        wait_for_end(engine, self.task, site);
        // SAFETY: the handle was made for a task with this result.
        match unsafe { engine.take_result::<T>(self.task) } {
            Some(Ok(value)) => {
                // Nothing is left to detach.
                std::mem::forget(self);
                Ok(value)
            }
            Some(Err(panic)) => {
                engine.panic_seen(self.task);
                std::mem::forget(self);
                Err(panic)
            }
            // Only during teardown: the task never ran.
            None => Err(Box::new("the execution was abandoned")),
        }
    }

    /// Like `join`, for a task of a scope: waits until its thread-local values are dropped, too.
    pub(super) fn join_with_locals(self, site: Site) -> std::thread::Result<T> {
        let (engine, task) = (self.engine(), self.task);
        let result = self.join(site);
        if let Some(engine) = engine
            && let Some(heir) = engine.heir(task)
        {
            wait_for_end(engine, heir, site);
        }
        result
    }

    /// Returns the task's thread handle.
    pub(super) fn thread(&self) -> Thread {
        match self.engine() {
            Some(engine) => Thread::of_task(engine, self.task),
            None => Thread::new(Kind::Inside {
                epoch: self.epoch,
                task: self.task,
                // Its execution is over. The numbers of tasks are smaller, or have the next bit.
                lineage: (((self.epoch << 32) | u64::from(self.task)) % (1 << 61)) | (1 << 61),
                name: None,
            }),
        }
    }

    pub(super) fn is_finished(&self, site: Site) -> bool {
        let Some(engine) = self.engine() else { return true };
        let access = Access::new(SyncVarOp::TaskCheck, engine.task_var(self.task), site);
        engine.enter(access);
        let (ended, late) = engine.look_for_end(self.task);
        engine.commit(access, u64::from(ended), if late { LATE } else { 0 });
        if ended {
            engine.note_look(access.order);
        } else {
            engine.changed_nothing(access, 0);
        }
        ended
    }
}

impl<T> Drop for Joinable<T> {
    fn drop(&mut self) {
        let Some(engine) = self.engine() else { return };
        if needs_drop::<T>() {
            engine.detach_from_result(self.task, self.site);
        } else {
            engine.detach(self.task);
        }
    }
}

/// Waits for a task to end. It is no schedule point, because nothing depends on when the wait ends.
#[inline(always)]
fn wait_for_end(engine: Engine, task: u32, site: Site) {
    wait_quietly(engine, task, site);
    record_join(engine, task, site);
}

/// Waits for a task to end, and leaves the recording to the caller.
#[inline(always)]
pub(super) fn wait_quietly(engine: Engine, task: u32, site: Site) {
    let var = engine.task_var(task);
    engine.wait(
        Access::new(SyncVarOp::TaskJoin, var, site),
        var,
        gate::ENDED,
        WaitLimits::default(),
    );
}

/// Waits for what does not happen.
#[cold]
pub(super) fn wait_for_ever(engine: Engine, task: u32, site: Site) {
    let var = engine.task_var(task);
    let access = Access::new(SyncVarOp::TaskJoin, var, site);
    engine.wait(access, var, gate::NEVER, WaitLimits::default());
}

/// Records that a wait for the end of a task is over.
#[inline(always)]
pub(super) fn record_join(engine: Engine, task: u32, site: Site) {
    engine.commit(
        Access::new(SyncVarOp::TaskJoin, engine.task_var(task), site),
        u64::from(task),
        0,
    );
}

#[cold]
#[inline(never)]
fn join_of_another_execution() -> ! {
    let message = "a thread of an execution was joined outside it: either it is over, or the caller is a thread that is not \
                   controlled, which cannot wait for a task";
    match Engine::current() {
        Some(engine) => engine.misuse(message.into()),
        None => panic!("{message}"),
    }
}

/// A handle on a thread that can be joined: `std::thread::JoinHandle`.
pub struct JoinHandle<T> {
    inner: Inner<T>,
    /// The handle on the thread, made on demand, because few tests need it.
    thread: OnceLock<Thread>,
}

// SAFETY: as in std: `join` hands the result over once, and only inside its execution, whose tasks share an OS thread.
unsafe impl<T> Send for JoinHandle<T> {}
// SAFETY: as above; only the handle on the thread is shared through a reference.
unsafe impl<T> Sync for JoinHandle<T> {}

impl<T> JoinHandle<T> {
    pub(super) fn outside(handle: std::thread::JoinHandle<T>) -> JoinHandle<T> {
        JoinHandle {
            inner: Inner::Outside(handle),
            thread: OnceLock::new(),
        }
    }

    pub(super) fn inside(engine: Engine, task: u32, site: Site) -> JoinHandle<T> {
        JoinHandle {
            inner: Inner::Inside(Joinable::new(engine, task, site)),
            thread: OnceLock::new(),
        }
    }

    /// Returns the thread.
    pub fn thread(&self) -> &Thread {
        self.thread.get_or_init(|| match &self.inner {
            Inner::Outside(handle) => Thread::new(Kind::Outside(handle.thread().clone())),
            Inner::Inside(joinable) => joinable.thread(),
        })
    }

    /// Waits for the thread to end, and returns its result.
    ///
    /// # Errors
    /// If the thread panicked; the error is the panic payload.
    #[track_caller]
    pub fn join(self) -> std::thread::Result<T> {
        match self.inner {
            Inner::Outside(handle) => handle.join(),
            Inner::Inside(joinable) => joinable.join(Site::caller()),
        }
    }

    /// Returns `true` if the thread has ended.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        match &self.inner {
            Inner::Outside(handle) => handle.is_finished(),
            Inner::Inside(joinable) => joinable.is_finished(Site::caller()),
        }
    }
}

opaque! { [T] JoinHandle<T>; }
