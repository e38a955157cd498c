//! The knowledge that tasks gain of each other by synchronisation: the happens-before order of C11 and Rust.
//!
//! The rules are the same whatever the knowledge consists of. The monitor of data races keeps vector clocks. Its
//! explanations keep the orderings that would have to be stronger for an access to be known at all. A memory model
//! keeps vector clocks, too: a load may not read a store that the task knows to be overwritten.
//!
//! An atomic gives the knowledge that came with its value. Under a memory model that is the value of the store that is
//! read, which need not be the last one ([`SyncVarAccess::store`]).

mod knowledge;
mod numbered;

use crate::{EventId, SyncVar, SyncVarAccess, SyncVarOp, TaskId};
pub use knowledge::{Knowledge, Moments, Side};
use knowledge::{acquires, releases};
use numbered::Numbered;

/// The knowledge of each task, and the knowledge that it would gain from each variable.
///
/// It is for monitors that judge what tasks know of each other. Operations are processed in their order, each by
/// [`take_in`](Self::take_in), or by [`observe`](Self::observe) if the knowledge has no events of its own.
///
/// ```
/// # mod intermezzo { pub mod sdk { pub use intermezzo_sdk::*; } }
/// use intermezzo::sdk::testing::Script;
/// use intermezzo::sdk::*;
///
/// /// Objects to a load of a value whose store its task does not know of.
/// #[derive(Default)]
/// struct Unordered {
///     known: Synchronisation<VectorClock>,
///     stored: Option<EventId>,
/// }
///
/// impl Monitor for Unordered {
///     fn name(&self) -> &str {
///         "unordered"
///     }
///     fn interests(&self) -> Interests {
///         Interests::SYNC_ACCESSES
///     }
///     fn reduction_compatible(&self) -> bool {
///         true
///     }
///     fn on_sync_var_access(&mut self, access: &SyncVarAccess, cx: &mut Context<'_>) {
///         self.known.take_in(access);
///         if access.op == SyncVarOp::AtomicStore {
///             self.stored = Some(access.event);
///         }
///         let known = self.known.known(access.event.task);
///         if access.op == SyncVarOp::AtomicLoad && self.stored.is_some_and(|stored| !known.knows(stored)) {
///             let kind = FindingKind::Plugin("unordered".into());
///             cx.report(MonitorFinding::new(kind, "nothing orders the store before this load"));
///         }
///     }
/// }
///
/// for (order, findings) in [(MemoryOrder::Acquire, 0), (MemoryOrder::Relaxed, 1)] {
///     let mut script = Script::new();
///     let other = script.fork(Script::MAIN);
///     let flag = script.var("flag");
///     script.store(Script::MAIN, flag, MemoryOrder::Release, 1);
///     script.load(other, flag, order, 1);
///     assert_eq!(script.play(&mut Unordered::default()).len(), findings);
/// }
/// ```
#[derive(Debug, Default)]
pub struct Synchronisation<K> {
    tasks: Vec<Task<K>>,
    vars: Vec<Var<K>>,
    /// The variables from this index on are unused in this execution.
    vars_used: usize,
    changes: Changes<K>,
}

/// The changes of the last operations, one entry for each.
#[derive(Debug, Default)]
struct Changes<K> {
    /// Entries from `used` on are kept for their memory.
    list: Vec<Change<K>>,
    used: usize,
    /// Number of operations before the first of these.
    first: usize,
}

/// The largest number of operations that can be undone: their changes need memory.
const CHANGES_MAX: usize = 1 << 12;

impl<K> Changes<K> {
    /// Marks the next operation as one that cannot be undone. Then none before it can be undone either.
    fn skip(&mut self) {
        self.first += self.used + 1;
        self.used = 0;
    }
}

/// The change of an operation: its task's knowledge of itself, and the knowledge of a task or of a variable.
#[derive(Clone, Debug, Default)]
struct Change<K> {
    actor: u32,
    own: u32,
    task: u32,
    var: u32,
    changed: Changed,
    /// The task's knowledge, or the knowledge that it was going to acquire.
    of_task: K,
    /// The knowledge that the variable gave, to all or to those who do not share.
    of_var: K,
    giver: Option<EventId>,
}

/// The parts to be restored: of a task at most one of two, and of a variable.
#[derive(Clone, Copy, Debug, Default)]
struct Changed {
    known: bool,
    to_acquire: bool,
    given: bool,
    shared: bool,
}

impl Changed {
    /// Returns the parts that an operation may change, apart from its task's knowledge of itself.
    fn by(access: &SyncVarAccess) -> Changed {
        use SyncVarOp::*;
        let acquires = acquires(access.order);
        let nothing = Changed::default();
        let known = Changed {
            known: true,
            ..nothing
        };
        let given = Changed {
            given: true,
            ..nothing
        };
        match access.op {
            TaskBegin | TaskEnd | SchedulePoint => nothing,
            AtomicLoad | AtomicRmwFailed | PrimitiveRead => Changed {
                known: acquires,
                to_acquire: !acquires,
                ..nothing
            },
            AtomicRmw | PrimitiveChange => Changed {
                known: acquires,
                to_acquire: !acquires,
                ..given
            },
            AtomicStore | LockRelease | CondvarWait | OnceEnd | Unpark => given,
            SharedRelease => Changed {
                shared: true,
                ..nothing
            },
            LockAcquire | LockTryAcquire | SharedAcquire | SharedTryAcquire | TaskFork | TaskJoin
            | Quiesce => known,
            _ => Changed { known: true, ..given },
        }
    }
}

#[derive(Clone, Debug, Default)]
struct Task<K> {
    known: K,
    /// The knowledge from relaxed loads: known from the next acquire fence on.
    to_acquire: K,
    /// The knowledge at the last release fence: passed on by relaxed stores.
    fenced: K,
}

/// The knowledge to be gained from a variable. Its meaning depends on the variable's kind.
#[derive(Clone, Debug, Default)]
struct Var<K> {
    /// An atomic: the knowledge that came with its value. A lock: that of its exclusive holders at their release. A
    /// channel: that of the senders when they left. Counts, one-time initialisations, tokens of `park`: what was
    /// given.
    given: K,
    /// An atomic: the store whose task knew, at that moment, exactly what is given; if there is one.
    giver: Option<EventId>,
    /// A lock: the knowledge of its shared holders at their release. A channel: that of the receiver when it left, or
    /// waited at a rendezvous.
    shared: K,
    /// Messages of a channel, rounds of a barrier, and under a memory model the stores to an atomic.
    numbered: Numbered<K>,
}

impl<K: Knowledge> Synchronisation<K> {
    /// Notes that an operation on an atomic reads a value that came with this knowledge, in place of
    /// [`observe`](Self::observe).
    pub fn take(&mut self, access: &SyncVarAccess, given: &K) {
        self.known(access.event.task);
        take(&mut self.tasks[access.event.task.index()], given, access);
    }

    /// Adds to `given` what comes with the value that an operation on an atomic writes, in place of
    /// [`observe`](Self::observe). If it also reads, what came with that value is there already.
    pub fn give(&mut self, access: &SyncVarAccess, given: &mut K) {
        self.known(access.event.task);
        give(&self.tasks[access.event.task.index()], given, access);
    }

    /// Forgets the execution; the memory is kept.
    pub fn forget(&mut self) {
        for task in &mut self.tasks {
            task.known.forget();
            task.to_acquire.forget();
            task.fenced.forget();
        }
        for var in &mut self.vars[..self.vars_used] {
            var.given.forget();
            var.giver = None;
            var.shared.forget();
            var.numbered.forget();
        }
        self.vars_used = 0;
        (self.changes.used, self.changes.first) = (0, 0);
    }

    /// Returns the knowledge of the task, to be read or added to.
    #[inline(always)]
    pub fn known(&mut self, task: TaskId) -> &mut K {
        if self.tasks.len() <= task.index() {
            make_room(&mut self.tasks, task.index() + 1);
        }
        &mut self.tasks[task.index()].known
    }

    /// Processes the next operation. Its task's knowledge must already include the operation itself.
    pub fn observe(&mut self, access: &SyncVarAccess) {
        use SyncVarOp::*;
        let EventId { task, .. } = access.event;
        self.known(task);
        match (access.op, access.other_task()) {
            (TaskFork, Some(child)) => return self.pass_on(task, child),
            (TaskJoin, Some(child)) => return self.pass_on(child, task),
            (Fence, _) => return self.fence(access),
            (Quiesce, _) => {
                return (0..self.tasks.len()).for_each(|other| self.pass_on(TaskId(other as u32), task));
            }
            _ if access.var == SyncVar::NONE => return,
            _ => {}
        }
        if access.op == CondvarWait && access.other_var() != SyncVar::NONE {
            let (task, mutex) = self.parts(task, access.other_var());
            mutex.given.join(&task.known);
            return;
        }
        let (task, var) = self.parts(task, access.var);
        if access.store > 0 {
            return access_store(task, var, access);
        }
        let Task {
            known, to_acquire, ..
        } = task;
        match access.op {
            AtomicLoad | AtomicRmwFailed | PrimitiveRead => load(task, var, access),
            AtomicStore => {
                var.given.forget();
                store(task, var, access);
            }
            AtomicRmw | PrimitiveChange => {
                load(task, var, access);
                store(task, var, access);
            }
            LockAcquire | LockTryAcquire => {
                known.join(&var.given);
                known.join(&var.shared);
            }
            SharedAcquire | SharedTryAcquire => known.join(&var.given),
            LockRelease => var.given.join(known),
            SharedRelease => var.shared.join(known),
            ChannelSend => send(known, var, access),
            ChannelReceive => match (access.read, var.numbered.find(access.read)) {
                // No sender is left.
                (0, _) if access.written == 0 => known.join(&var.given),
                // The receiver of a rendezvous begins to wait: from now on `send` need not wait for it.
                (0, _) => var.shared.join(known),
                (_, Some(at)) => {
                    let message = &mut var.numbered.entries[at];
                    known.join(&message.given);
                    message.answer.join(known);
                }
                _ => {}
            },
            ChannelClose => close(known, var, access),
            BarrierArrive => var.numbered.entry(access.read).given.join(known),
            BarrierPass => {
                if let Some(round) = var.numbered.get(access.read) {
                    known.join(&round.given);
                }
            }
            OnceBegin => known.join(&var.given),
            OnceCheck | Park => {
                let seen = (access.op == OnceCheck) == (access.read == 1);
                if seen {
                    known.join(&var.given);
                }
            }
            OnceEnd | Unpark => var.given.join(known),
            // The last handle says by its ordering that a destructor runs, which knows what the others did. Without one,
            // nothing shows which handle was the last, and the order of the others is not known either.
            CountDown => {
                var.given.join(known);
                if acquires(access.order) {
                    known.join(&var.given);
                }
            }
            // The value is there: `new_cyclic`.
            CountUp if releases(access.order) => var.given.join(known),
            // An operation that needs to be the only handle, or that the value is there, says so by its ordering:
            // `get_mut`, `upgrade`.
            CountUp | CountRead if acquires(access.order) => known.join(&var.given),
            // A fence may follow.
            CountUp | CountRead => to_acquire.join(&var.given),
            _ => {}
        }
    }

    #[inline(always)]
    fn parts(&mut self, task: TaskId, var: SyncVar) -> (&mut Task<K>, &mut Var<K>) {
        if self.vars.len() <= var.index() {
            make_room(&mut self.vars, var.index() + 1);
        }
        self.vars_used = self.vars_used.max(var.index() + 1);
        (&mut self.tasks[task.index()], &mut self.vars[var.index()])
    }

    fn pass_on(&mut self, from: TaskId, to: TaskId) {
        self.known(from);
        self.known(to);
        if let Ok([from, to]) = self.tasks.get_disjoint_mut([from.index(), to.index()]) {
            to.known.join(&from.known);
        }
    }

    fn fence(&mut self, access: &SyncVarAccess) {
        let Task {
            known,
            to_acquire,
            fenced,
        } = &mut self.tasks[access.event.task.index()];
        if acquires(access.order) {
            known.join(to_acquire);
        }
        if releases(access.order) {
            fenced.forget();
            fenced.join(known);
        }
    }
}

impl<K: Moments> Synchronisation<K> {
    /// Processes the next operation, which its task knows from then on. It can be undone.
    #[inline]
    pub fn take_in(&mut self, access: &SyncVarAccess) {
        use SyncVarOp::*;
        if matches!(access.op, AtomicLoad | AtomicStore | AtomicRmw) && access.store == 0 {
            self.take_in_atomic(access);
        } else {
            self.take_in_other(access);
        }
    }

    /// Processes an operation of the most frequent kinds.
    #[inline]
    fn take_in_atomic(&mut self, access: &SyncVarAccess) {
        let EventId { task: actor, index } = access.event;
        let at = access.var.index();
        let Synchronisation {
            tasks,
            vars,
            vars_used,
            changes,
        } = self;
        let (Some(task), Some(var), Some(change)) = (
            tasks.get_mut(actor.index()),
            vars.get_mut(at),
            changes.list.get_mut(changes.used),
        ) else {
            return self.take_in_new_atomic(access);
        };
        *vars_used = (*vars_used).max(at + 1);
        changes.used += 1;
        (change.actor, change.own) = (actor.0, task.known.last_of(actor));
        (change.task, change.var) = (actor.0, access.var.0);
        change.changed = Changed::default();
        task.known.know(actor, index);
        if access.op != SyncVarOp::AtomicStore && !gives_nothing_new(task, var) {
            if acquires(access.order) {
                change.changed.known = true;
                change.of_task.clone_from(&task.known);
            } else {
                change.changed.to_acquire = true;
                change.of_task.clone_from(&task.to_acquire);
            }
            load(task, var, access);
        }
        if access.op != SyncVarOp::AtomicLoad {
            change.changed.given = true;
            change.of_var.clone_from(&var.given);
            change.giver = var.giver;
            if access.op == SyncVarOp::AtomicStore {
                // What `store` does after the sequence was ended, in fewer instructions: nothing is to be joined.
                let gives = releases(access.order);
                var.giver = gives.then_some(access.event);
                var.given
                    .clone_from(if gives { &task.known } else { &task.fenced });
            } else {
                store(task, var, access);
            }
        }
    }

    /// Makes room for the task, the variable and the change of an operation, and processes it.
    #[cold]
    #[inline(never)]
    fn take_in_new_atomic(&mut self, access: &SyncVarAccess) {
        if access.var == SyncVar::NONE || self.changes.used == CHANGES_MAX {
            return self.take_in_other(access);
        }
        if self.changes.used == self.changes.list.len() {
            make_room(&mut self.changes.list, (2 * self.changes.used).max(64));
        }
        self.known(access.event.task);
        self.parts(access.event.task, access.var);
        self.take_in_atomic(access);
    }

    #[inline(never)]
    fn take_in_other(&mut self, access: &SyncVarAccess) {
        let EventId { task, index } = access.event;
        let known = self.known(task);
        let own = known.last_of(task);
        self.note(access, own);
        self.tasks[task.index()].known.know(task, index);
        self.observe(access);
    }

    /// Keeps the parts that the operation may change. Changes to messages, rounds of a barrier, stores under a memory model
    /// and fences are not kept.
    fn note(&mut self, access: &SyncVarAccess, own: u32) {
        use SyncVarOp::*;
        let actor = access.event.task;
        let (mut task, mut var) = (actor, access.var);
        match access.op {
            Fence | ChannelSend | ChannelReceive | ChannelClose | BarrierArrive | BarrierPass => {
                return self.changes.skip();
            }
            _ if self.changes.used == CHANGES_MAX || access.store > 0 => return self.changes.skip(),
            TaskFork => task = access.other_task().unwrap_or(actor),
            CondvarWait if access.other_var() != SyncVar::NONE => var = access.other_var(),
            _ => {}
        }
        let mut changed = Changed::by(access);
        if var == SyncVar::NONE {
            (changed.given, changed.shared) = (false, false);
        }
        let Changes { list, used, .. } = &mut self.changes;
        if *used == list.len() {
            make_room(list, (2 * *used).max(64));
        }
        let change = &mut list[*used];
        *used += 1;
        (change.actor, change.own) = (actor.0, own);
        (change.task, change.var, change.changed) = (task.0, var.0, changed);
        // A task that is created may not be there yet, nor a variable.
        match self.tasks.get(task.index()) {
            Some(from) if changed.known => change.of_task.clone_from(&from.known),
            Some(from) if changed.to_acquire => change.of_task.clone_from(&from.to_acquire),
            Some(_) => {}
            None => change.of_task.forget(),
        }
        match self.vars.get(var.index()) {
            Some(from) if changed.given => {
                change.of_var.clone_from(&from.given);
                change.giver = from.giver;
            }
            Some(from) if changed.shared => change.of_var.clone_from(&from.shared),
            Some(_) => {}
            None => {
                change.of_var.forget();
                change.giver = None;
            }
        }
    }

    /// Returns to the state in which only the first `operations` were processed, all of them by
    /// [`take_in`](Self::take_in). `false` if it cannot: then nothing has changed.
    pub fn go_back_to(&mut self, operations: usize) -> bool {
        let Changes { list, used, first } = &mut self.changes;
        if operations < *first {
            return false;
        }
        let last = (operations - *first).min(*used);
        for change in list[last..*used].iter().rev() {
            let Changed {
                known,
                to_acquire,
                given,
                shared,
            } = change.changed;
            if known {
                self.tasks[change.task as usize].known.clone_from(&change.of_task);
            } else if to_acquire {
                let task = &mut self.tasks[change.task as usize];
                task.to_acquire.clone_from(&change.of_task);
            }
            if given {
                let var = &mut self.vars[change.var as usize];
                var.given.clone_from(&change.of_var);
                var.giver = change.giver;
            } else if shared {
                self.vars[change.var as usize].shared.clone_from(&change.of_var);
            }
            let actor = TaskId(change.actor);
            self.tasks[actor.index()].known.know(actor, change.own);
        }
        *used = last;
        true
    }
}

#[cold]
#[inline(never)]
fn make_room<T: Default>(list: &mut Vec<T>, entries: usize) {
    list.resize_with(entries, T::default);
}

/// `true` if the task knows what an atomic gives.
#[inline(always)]
fn gives_nothing_new<K: Knowledge>(task: &Task<K>, var: &Var<K>) -> bool {
    var.giver.is_some_and(|giver| task.known.covers(giver))
}

#[inline(always)]
fn load<K: Knowledge>(task: &mut Task<K>, var: &Var<K>, access: &SyncVarAccess) {
    if !gives_nothing_new(task, var) {
        take(task, &var.given, access);
    }
}

/// Reads what came with a value.
#[inline(always)]
fn take<K: Knowledge>(task: &mut Task<K>, given: &K, access: &SyncVarAccess) {
    if acquires(access.order) {
        task.known.join(given);
    } else {
        task.to_acquire.join(given);
        if let Some(more) = given.if_it_did(Side::Acquire, access) {
            task.known.join(&more);
        }
    }
}

/// The writing half. Knowledge that was there before is still given only if no store has ended the sequence.
#[inline(always)]
fn store<K: Knowledge>(task: &mut Task<K>, var: &mut Var<K>, access: &SyncVarAccess) {
    // A read-modify-write that acquires knows what was given before.
    let whole = access.op == SyncVarOp::AtomicStore || acquires(access.order);
    var.giver = (whole && releases(access.order)).then_some(access.event);
    give(task, &mut var.given, access);
}

/// Adds what comes with a value that is written.
#[inline(always)]
fn give<K: Knowledge>(task: &Task<K>, given: &mut K, access: &SyncVarAccess) {
    if releases(access.order) {
        given.join(&task.known);
    } else {
        given.join(&task.fenced);
        if let Some(more) = task.known.if_it_did(Side::Release, access) {
            given.join(&more);
        }
    }
}

/// Reads the store that a memory model has chosen, or adds one.
fn access_store<K: Knowledge>(task: &mut Task<K>, var: &mut Var<K>, access: &SyncVarAccess) {
    let mut given = K::default();
    if access.op != SyncVarOp::AtomicStore {
        if let Some(store) = var.numbered.get(access.store.into()) {
            given.join(&store.given);
        }
        take(task, &given, access);
    }
    if access.op.is_write() {
        give(task, &mut given, access);
        // Number 1 is the value that was there before.
        let number = var.numbered.used as u64 + 2;
        var.numbered.entry(number).given = given;
    }
}

fn send<K: Knowledge>(known: &mut K, var: &mut Var<K>, access: &SyncVarAccess) {
    match (access.read, access.written) {
        // No receiver is left.
        (0, 0) => known.join(&var.shared),
        (received, number) => {
            match var.numbered.get(received) {
                // A receipt has made room for the message, or answers at a rendezvous.
                Some(message) => known.join(&message.answer),
                // At a rendezvous, the receiver may wait for the message.
                None => known.join(&var.shared),
            }
            if number > 0 {
                var.numbered.entry(number).given.join(known);
            }
        }
    }
}

fn close<K: Knowledge>(known: &mut K, var: &mut Var<K>, access: &SyncVarAccess) {
    if access.written == 0 {
        var.given.join(known);
        return;
    }
    // The receiver drops the messages that it did not take.
    let Numbered { entries, used } = &var.numbered;
    let first = used.saturating_sub(access.read as usize);
    for message in &entries[first..*used] {
        known.join(&message.given);
    }
    var.shared.join(known);
}
