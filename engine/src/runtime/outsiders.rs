//! Threads outside the execution that use its objects. Reports name them, and their operations can release waiting
//! tasks.
//!
//! Such a thread, an *outsider*, changes the state of an object as std would: under the lock that is part of the
//! object, or by an atomic instruction. It never touches the runtime. Afterwards it posts the gates that may be open
//! now to the worker of the execution. The worker processes the posts when no task can continue, and only opens gates.
//! A gate that is opened wrongly does no harm: the task that passes it reads the state under the object's lock, and
//! waits again. No gate is closed wrongly, because the task itself closes it under that lock, and later changes by the
//! outsider are posted.
//!
//! So the moment at which a task is released does not depend on real time, as long as tasks wait at gates: a fast
//! outsider and a slow one lead to the same execution. When no task can continue, the worker waits for outsiders for a
//! grace period, which is longer while one of them is running.
//!
//! Blind spots: time-outs come before the outsiders, because virtual time passes as soon as no task can continue. An
//! outsider uses another copy of a static than the execution does: the report only names it. Works where workers
//! are watched (`watchdog`).

use super::Runtime;
use super::dispatch::Next;
use super::handle::is_in_allocator;
use super::naming::site_name;
use super::object::{Embedded, Identity, Object};
use super::watchdog;
use crate::record::{Gates, VAR_BITS};
use crate::site::Site;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, fence};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// The time that a worker waits for outsiders when no task can continue: long enough for a thread to be scheduled, and
/// to do its work.
const GRACE: Duration = Duration::from_millis(200);

/// The time that it waits as long as one of them runs, or would if it had a processor: on a busy machine, a thread may
/// wait long for one.
const BUSY_GRACE: Duration = Duration::from_secs(2);

/// The time after which waiting loops run a further round, to read their values again.
const LOOK: Duration = Duration::from_millis(2);

/// The maximum number of statics that are remembered of an execution.
const STATICS_MAX: usize = 16;

/// The maximum number of outsiders that are remembered.
const USERS_MAX: usize = 64;

/// The place of gates that an outsider opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opened {
    /// A variable.
    Var(u32),
    /// A task's own variable.
    Task(u32),
}

/// A change that the worker has not processed yet.
struct Post {
    execution: u64,
    opened: Opened,
    gates: Gates,
}

/// The use of a static by an outsider.
struct StaticUse {
    execution: u64,
    address: usize,
    by: String,
}

/// The notes of outsiders for a worker.
#[derive(Default)]
struct Notes {
    posts: Vec<Post>,
    /// The number of posts so far.
    posted: u64,
    /// The first outsider that used an object of the execution, and where.
    first: Option<String>,
    /// The kernel's thread numbers of the outsiders that used objects of this worker's executions.
    users: Vec<i32>,
    statics: Vec<StaticUse>,
    /// For waiting loops: the execution, the number of posts so far, and the time of the first extra round since the
    /// last post.
    looks: Option<(u64, u64, Instant)>,
}

/// The outsiders of one worker's executions.
pub(super) struct Outsiders {
    /// The threads of the process when the worker began.
    known: OnceLock<Vec<i32>>,
    /// `true` if nothing was posted in the last wait. Then there is no other wait before the next post.
    gave_up: AtomicBool,
    is_touched: AtomicBool,
    uses_statics: AtomicBool,
    notes: Mutex<Notes>,
    /// Wakes the worker for a post.
    posted: Condvar,
}

/// Returns the calling thread and a place as a report names them.
fn caller_at(site: Site) -> String {
    let thread = std::thread::current();
    match thread.name() {
        Some(name) => format!("the thread `{name}` at {}", site_name(site)),
        None => format!("a thread without a name at {}", site_name(site)),
    }
}

#[cfg(feature = "unmodified")]
impl super::Engine {
    /// Notes that the current task makes a thread which is not controlled.
    pub fn makes_outsider(self) {
        let before = self.last_site();
        self.with(|rt| rt.watched.pulse().outsiders.made(before));
    }
}

impl Outsiders {
    /// Returns the initial state.
    pub(super) fn new() -> Outsiders {
        Outsiders {
            known: OnceLock::new(),
            gave_up: AtomicBool::new(false),
            is_touched: AtomicBool::new(false),
            uses_statics: AtomicBool::new(false),
            notes: Mutex::default(),
            posted: Condvar::new(),
        }
    }

    /// Notes the threads of the process when the worker begins.
    pub(super) fn know(&self, threads: Vec<i32>) {
        _ = self.known.set(threads);
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that the calling thread uses an object of the execution.
    pub(super) fn touch(&self, site: Site) {
        let mut notes = self.notes();
        if notes.first.is_none() {
            notes.first = Some(caller_at(site));
        }
        let user = watchdog::thread_id();
        if !notes.users.contains(&user) && notes.users.len() < USERS_MAX {
            notes.users.push(user);
        }
        self.is_touched.store(true, Relaxed);
    }

    /// Notes that a thread which is not known has used an object before the execution did.
    #[cold]
    pub(super) fn touched_before(&self, site: Site) {
        let mut notes = self.notes();
        let by = || format!("a thread that used what the task uses at {}", site_name(site));
        notes.first.get_or_insert_with(by);
        self.is_touched.store(true, Relaxed);
    }

    /// Notes that a task makes a thread which is not controlled.
    #[cfg(feature = "unmodified")]
    #[cold]
    fn made(&self, before: Site) {
        let mut notes = self.notes();
        let name = || match site_name(before).as_str() {
            "" => "a thread made by C's `pthread_create`".to_owned(),
            place => format!("a thread made by C's `pthread_create`, after {place},"),
        };
        notes.first.get_or_insert_with(name);
        self.is_touched.store(true, Relaxed);
    }

    /// Notes that the calling thread has opened gates in the execution.
    pub(super) fn post(&self, execution: u64, opened: Opened, gates: Gates) {
        let mut notes = self.notes();
        notes.posted += 1;
        self.gave_up.store(false, Relaxed);
        if gates != 0 {
            notes.posts.push(Post {
                execution,
                opened,
                gates,
            });
        }
        self.posted.notify_one();
    }

    /// Notes that the calling thread uses the static at this address.
    pub(super) fn touch_static(&self, execution: u64, address: usize, site: Site) {
        let mut notes = self.notes();
        notes.statics.retain(|used| used.execution == execution);
        let is_known = notes.statics.iter().any(|used| used.address == address);
        if !is_known && notes.statics.len() < STATICS_MAX {
            notes.statics.push(StaticUse {
                execution,
                address,
                by: caller_at(site),
            });
        }
        self.uses_statics.store(true, Relaxed);
    }

    /// Takes and returns the first outsider that used objects of the execution, if there was one.
    #[inline]
    pub(super) fn take_first(&self) -> Option<String> {
        if !self.is_touched.load(Relaxed) {
            return None;
        }
        self.is_touched.store(false, Relaxed);
        self.notes().first.take()
    }

    /// Returns `true` if the thread did not exist when the worker began.
    fn is_new(&self, thread: i32) -> bool {
        !self.known.get().is_some_and(|known| known.contains(&thread))
    }

    /// Returns `true` if there may be threads that will release a task.
    fn expected(&self) -> bool {
        let any_new = || watchdog::threads().iter().any(|thread| self.is_new(*thread));
        !self.gave_up.load(Relaxed) && (self.is_touched.load(Relaxed) || any_new())
    }

    /// Returns `true` if the worker has waited long enough, from this moment on.
    fn is_over(&self, since: Instant) -> bool {
        let waited = since.elapsed();
        waited >= GRACE && (waited >= BUSY_GRACE || !self.any_runs())
    }

    /// Returns `true` if a thread that may release a task is running.
    fn any_runs(&self) -> bool {
        let users = self.notes().users.clone();
        watchdog::threads()
            .into_iter()
            .any(|thread| (self.is_new(thread) || users.contains(&thread)) && watchdog::runs(thread))
    }

    /// Takes the posts for the execution; those for earlier ones are dropped.
    fn take_posts(&self, execution: u64) -> Vec<Post> {
        let mut posts = std::mem::take(&mut self.notes().posts);
        posts.retain(|post| post.execution == execution);
        posts
    }

    /// Waits for a post, for the rest of the grace period that began at this moment. Returns `false` if there was none.
    fn wait(&self, since: Instant) -> bool {
        if !self.expected() {
            return false;
        }
        let mut notes = self.notes();
        while notes.posts.is_empty() {
            let left = GRACE.saturating_sub(since.elapsed()).max(LOOK);
            let waited = self.posted.wait_timeout(notes, left);
            let (now, _) = waited.unwrap_or_else(PoisonError::into_inner);
            if now.posts.is_empty() {
                drop(now);
                if self.is_over(since) {
                    self.gave_up.store(true, Relaxed);
                    return false;
                }
                notes = self.notes();
            } else {
                notes = now;
            }
        }
        true
    }

    /// Waits until waiting loops should run the next round. Returns `false` if further rounds are not worthwhile.
    fn wait_for_look(&self, execution: u64) -> bool {
        if !self.expected() {
            return false;
        }
        let mut notes = self.notes();
        let since = match notes.looks {
            Some((of, posted, since)) if of == execution && posted == notes.posted => since,
            _ => Instant::now(),
        };
        notes.looks = Some((execution, notes.posted, since));
        drop(notes);
        if self.is_over(since) {
            self.gave_up.store(true, Relaxed);
            return false;
        }
        drop(self.posted.wait_timeout(self.notes(), LOOK));
        true
    }
}

impl Runtime {
    /// Opens the gates that outsiders have posted.
    fn take_posts(&mut self) {
        let execution = self.objects.epoch();
        for post in self.watched.pulse().outsiders.take_posts(execution) {
            let var = match post.opened {
                Opened::Var(var) => var,
                Opened::Task(task) => self.tasks[task].var,
            };
            let entry = &mut self.objects.vars[var];
            if entry.gates | post.gates != entry.gates {
                entry.gates |= post.gates;
                if !entry.watchers.is_empty() {
                    self.gates_changed(var);
                }
            }
        }
    }

    /// Handles a dispatch for which no task of the first 64 is enabled. If no task can continue, waits for outsiders.
    /// Returns the decision, if they have released a task.
    #[cold]
    #[inline(never)]
    pub(super) fn released_by_outsiders(&mut self) -> Option<Next> {
        let goes_on =
            |rt: &Runtime| !rt.ready.enabled().is_empty() || rt.ready.any_must_run() || !rt.tasks.any_live();
        if goes_on(self) || !self.ready.timed_waiters().is_empty() {
            return None;
        }
        // Loops that wait run further rounds instead (`loops_may_end`). An expected deadlock is not worth the time.
        let waits = !self.limits.deadlocks_allowed && !self.constraints.spins.any_parked();
        let since = Instant::now();
        self.take_posts();
        while !goes_on(self) {
            if !waits || !self.watched.pulse().outsiders.wait(since) {
                return None;
            }
            self.take_posts();
        }
        // The next step could not have come earlier: for the order of steps this is as if time had passed.
        self.record.released = true;
        self.ready.take_slow_path();
        if let Some(task) = self.ready.pop_must_run() {
            return Some(self.hand_over(task));
        }
        if self.record.is_observed() && !self.observe() {
            return Some(Next::Stop);
        }
        Some(self.dispatch_slow())
    }

    /// Waits for outsiders that may end the loops of tasks that only wait. Returns `true` if the loops should run
    /// another round.
    #[cold]
    pub(super) fn loops_may_end(&mut self) -> bool {
        let waits = !self.limits.deadlocks_allowed;
        let outsiders = &self.watched.pulse().outsiders;
        if !waits || !outsiders.wait_for_look(self.objects.epoch()) {
            return false;
        }
        self.take_posts();
        true
    }

    /// Notes the outsider that used a static which the execution uses, too, if there is one.
    #[inline]
    pub(super) fn note_static_uses(&self) {
        let outsiders = &self.watched.pulse().outsiders;
        if outsiders.uses_statics.load(Relaxed) {
            self.name_user_of_static(outsiders);
        }
    }

    #[cold]
    fn name_user_of_static(&self, outsiders: &Outsiders) {
        outsiders.uses_statics.store(false, Relaxed);
        let execution = self.objects.epoch();
        let mut notes = outsiders.notes();
        let used = std::mem::take(&mut notes.statics);
        let of_both = |used: &&StaticUse| {
            used.execution == execution && self.objects.statics.find(used.address, execution).is_some()
        };
        if let Some(used) = used.iter().find(of_both)
            && notes.first.is_none()
        {
            notes.first = Some(format!(
                "{} (in a static, of which the execution has a copy of its own)",
                used.by
            ));
            outsiders.is_touched.store(true, Relaxed);
        }
    }
}

/// Notes that the calling thread, which runs no execution, has opened gates of a task of the execution with this
/// number.
pub fn open_for_task(execution: u64, task: u32, gates: Gates, site: Site) {
    if watchdog::any_worker() {
        watchdog::touched(execution, site);
        watchdog::post(execution, Opened::Task(task), gates);
    }
}

/// Notes that the calling thread, which runs no execution, has changed the state of the object with this identity, so
/// that these gates may be open. The state's lock is held, or was released.
#[inline]
pub fn opened_outside(identity: &Embedded, gates: Gates) {
    if watchdog::any_worker() && !is_in_allocator() {
        post(identity, None, gates);
    }
}

#[cold]
fn post(identity: &Embedded, task: Option<u32>, gates: Gates) {
    // Either this thread sees that a task has made the object a variable, or that task sees the change when it reads
    // the state for the last time before it waits (`Engine::look_again`).
    fence(SeqCst);
    let id = identity.load(Relaxed);
    let var = (id & ((1 << VAR_BITS) - 1)) as u32;
    let opened = task.map_or(Opened::Var(var), Opened::Task);
    watchdog::post(id >> VAR_BITS, opened, gates);
}

impl<B: ?Sized, I: Identity> Object<B, I> {
    /// Notes that the calling thread, which runs no execution, has changed the state of the object: see
    /// [`opened_outside`].
    #[inline]
    pub fn opened_outside(&self, gates: Gates) {
        if let Some(identity) = self.word() {
            opened_outside(identity, gates);
        }
    }

    /// Notes that the calling thread, which runs no execution, has opened gates of a task that waits by means of this
    /// object.
    pub fn opened_for_task(&self, task: u32, gates: Gates) {
        if let Some(identity) = self.word()
            && watchdog::any_worker()
            && !is_in_allocator()
        {
            post(identity, Some(task), gates);
        }
    }
}

impl super::Engine {
    /// Separates a task's first use of an object from its last read of the object's state before it waits. See
    /// [`Object::opened_outside`].
    #[cold]
    pub fn look_again(self) {
        fence(SeqCst);
    }
}
