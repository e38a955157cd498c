//! What tasks know of each other by synchronisation: the happens-before order of C11, under sequentially consistent
//! interleavings.
//!
//! The rules are the same whatever it is that is known. The monitor keeps vector clocks; its explanations keep what
//! would have to be stronger for an access to be known at all.

use intermezzo_sdk::{EventId, MemoryOrder, SyncVar, SyncVarAccess, SyncVarOp, TaskId, VectorClock};

/// What can be known. It only grows, by being joined with more.
pub(super) trait Knowledge: Clone + Default {
    /// What the other knows is known too.
    fn join(&mut self, other: &Self);

    /// Nothing is known any more; the memory is kept.
    fn forget(&mut self);

    /// `true` if this includes all that the task knew when it did this.
    fn covers(&self, event: EventId) -> bool;

    /// What the operation would pass on if it did release, or acquire, which it does not. `None` is nothing.
    fn if_it_did(&self, side: Side, access: &SyncVarAccess) -> Option<Self>;
}

/// One of the two things that an ordering can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Acquire,
    Release,
}

impl Side {
    pub(super) fn is_in(self, order: MemoryOrder) -> bool {
        match self {
            Side::Acquire => acquires(order),
            Side::Release => releases(order),
        }
    }
}

impl Knowledge for VectorClock {
    fn join(&mut self, other: &Self) {
        VectorClock::join(self, other);
    }

    #[inline]
    fn forget(&mut self) {
        self.clear();
    }

    /// A task's moments are known with all that it knew then: what it gives at an event is given whole.
    fn covers(&self, event: EventId) -> bool {
        self.knows(event)
    }

    fn if_it_did(&self, _: Side, _: &SyncVarAccess) -> Option<Self> {
        None
    }
}

fn acquires(order: MemoryOrder) -> bool {
    matches!(
        order,
        MemoryOrder::Acquire | MemoryOrder::AcqRel | MemoryOrder::SeqCst
    )
}

fn releases(order: MemoryOrder) -> bool {
    matches!(
        order,
        MemoryOrder::Release | MemoryOrder::AcqRel | MemoryOrder::SeqCst
    )
}

/// What each task knows, and what it would learn from each variable.
#[derive(Debug, Default)]
pub(super) struct Synchronisation<K> {
    tasks: Vec<Task<K>>,
    vars: Vec<Var<K>>,
    /// Nothing from here on was used in this execution.
    vars_used: usize,
    changes: Changes<K>,
}

/// What the last operations changed, one entry for each.
#[derive(Debug, Default)]
struct Changes<K> {
    /// Entries from `used` on are kept for their memory.
    list: Vec<Change<K>>,
    used: usize,
    /// Number of operations before the first of these.
    first: usize,
}

/// Most operations that can be taken back: what they changed takes room.
const CHANGES_MAX: usize = 1 << 12;

impl<K> Changes<K> {
    /// The next operation cannot be taken back, and so none before it.
    fn skip(&mut self) {
        self.first += self.used + 1;
        self.used = 0;
    }
}

/// What an operation changed: what its task knew of itself, and what a task knew or a variable gave.
#[derive(Clone, Debug, Default)]
struct Change<K> {
    actor: u32,
    own: u32,
    task: u32,
    var: u32,
    changed: Changed,
    /// What the task knew, or was to acquire.
    of_task: K,
    /// What the variable gave, to all or to those who do not share.
    of_var: K,
    giver: Option<EventId>,
}

/// What there is to be put back: of a task one of the two at most, and of a variable.
#[derive(Clone, Copy, Debug, Default)]
struct Changed {
    known: bool,
    to_acquire: bool,
    given: bool,
    shared: bool,
}

impl Changed {
    /// What an operation may change, but for what its task knows of itself.
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
            TaskBegin | TaskEnd => nothing,
            AtomicLoad | AtomicRmwFailed => Changed {
                known: acquires,
                to_acquire: !acquires,
                ..nothing
            },
            AtomicRmw => Changed {
                known: acquires,
                to_acquire: !acquires,
                ..given
            },
            AtomicStore | LockRelease | CondvarWait | OnceEnd | Unpark => given,
            SharedRelease => Changed {
                shared: true,
                ..nothing
            },
            LockAcquire | LockTryAcquire | SharedAcquire | SharedTryAcquire | TaskFork | TaskJoin => known,
            _ => Changed { known: true, ..given },
        }
    }
}

#[derive(Clone, Debug, Default)]
struct Task<K> {
    known: K,
    /// What relaxed loads have read: known from the next acquire fence on.
    to_acquire: K,
    /// What was known at the last release fence: passed on by relaxed stores.
    fenced: K,
}

/// What there is to learn from a variable. What it means depends on its kind.
#[derive(Clone, Debug, Default)]
struct Var<K> {
    /// An atomic: what came with its value. A lock: what its exclusive holders knew when they let go. A channel: what
    /// senders knew when they left. Counts, one-time initialisations, tokens of `park`: what was given.
    given: K,
    /// An atomic: the store whose task knew, at that moment, just what is given; if there is one.
    giver: Option<EventId>,
    /// A lock: what its shared holders knew when they let go. A channel: what the receiver knew when it left.
    shared: K,
    /// Messages of a channel, rounds of a barrier.
    numbered: Numbered<K>,
}

/// What came with numbers that only grow.
#[derive(Clone, Debug, Default)]
struct Numbered<K> {
    entries: Vec<Entry<K>>,
    /// Entries from here on are of earlier executions, kept for their memory.
    used: usize,
}

#[derive(Clone, Debug, Default)]
struct Entry<K> {
    number: u64,
    /// What was known at the sending of the message, or by those who have come to the barrier.
    given: K,
    /// What was known to whoever received the message.
    answer: K,
}

impl<K: Knowledge> Numbered<K> {
    fn forget(&mut self) {
        self.used = 0;
    }

    fn find(&self, number: u64) -> Option<usize> {
        self.entries[..self.used]
            .iter()
            .rposition(|entry| entry.number == number)
    }

    fn get(&self, number: u64) -> Option<&Entry<K>> {
        self.find(number).map(|at| &self.entries[at])
    }

    fn entry(&mut self, number: u64) -> &mut Entry<K> {
        let at = self.find(number).unwrap_or_else(|| {
            if self.used == self.entries.len() {
                self.entries.push(Entry::default());
            }
            let fresh = &mut self.entries[self.used];
            fresh.number = number;
            fresh.given.forget();
            fresh.answer.forget();
            self.used += 1;
            self.used - 1
        });
        &mut self.entries[at]
    }
}

impl<K: Knowledge> Synchronisation<K> {
    /// Forgets the execution; the memory is kept.
    pub(super) fn forget(&mut self) {
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

    /// What the task knows.
    pub(super) fn known(&mut self, task: TaskId) -> &mut K {
        if self.tasks.len() <= task.index() {
            self.tasks.resize_with(task.index() + 1, Task::default);
        }
        &mut self.tasks[task.index()].known
    }

    /// Takes in the next operation, with what there is of it to be known already among what its task knows.
    pub(super) fn observe(&mut self, access: &SyncVarAccess) {
        use SyncVarOp::*;
        let EventId { task, .. } = access.event;
        self.known(task);
        match (access.op, access.other_task()) {
            (TaskFork, Some(child)) => return self.pass_on(task, child),
            (TaskJoin, Some(child)) => return self.pass_on(child, task),
            (Fence, _) => return self.fence(access),
            _ if access.var == SyncVar::NONE => return,
            _ => {}
        }
        if access.op == CondvarWait && access.other_var() != SyncVar::NONE {
            let (task, mutex) = self.parts(task, access.other_var());
            mutex.given.join(&task.known);
            return;
        }
        let (task, var) = self.parts(task, access.var);
        let Task { known, .. } = task;
        match access.op {
            AtomicLoad | AtomicRmwFailed => load(task, var, access),
            AtomicStore => {
                var.given.forget();
                store(task, var, access);
            }
            AtomicRmw => {
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
                // Nobody is left; else the receiver only says that it waits.
                (0, _) if access.written == 0 => known.join(&var.given),
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
            CountDown => {
                var.given.join(known);
                if access.written == 0 || acquires(access.order) {
                    known.join(&var.given);
                }
            }
            // Whoever looks for being the only one says so by the ordering: `get_mut`.
            CountUp | CountRead if acquires(access.order) => known.join(&var.given),
            _ => {}
        }
    }

    fn parts(&mut self, task: TaskId, var: SyncVar) -> (&mut Task<K>, &mut Var<K>) {
        if self.vars.len() <= var.index() {
            self.vars.resize_with(var.index() + 1, Var::default);
        }
        self.vars_used = self.vars_used.max(var.index() + 1);
        (&mut self.tasks[task.index()], &mut self.vars[var.index()])
    }

    fn pass_on(&mut self, from: TaskId, to: TaskId) {
        if from != to {
            let known = std::mem::take(self.known(from));
            self.known(to).join(&known);
            *self.known(from) = known;
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

/// A clock that knows nothing, and need not ask for memory to know something of the first tasks.
fn with_room() -> VectorClock {
    let mut clock = VectorClock::from_iter([1; 8]);
    clock.clear();
    clock
}

impl Synchronisation<VectorClock> {
    /// Takes in the next operation, of which its task knows from then on; it may be taken back.
    pub(super) fn take_in(&mut self, access: &SyncVarAccess) {
        let EventId { task, index } = access.event;
        let known = self.known(task);
        let own = known.get(task);
        self.note(access, own);
        self.tasks[task.index()].known.set(task, index);
        self.observe(access);
    }

    /// Keeps what the operation may change. What messages, rounds of a barrier and fences change is not kept.
    #[inline]
    fn note(&mut self, access: &SyncVarAccess, own: u32) {
        use SyncVarOp::*;
        let actor = access.event.task;
        let (mut task, mut var) = (actor, access.var);
        match access.op {
            Fence | ChannelSend | ChannelReceive | ChannelClose | BarrierArrive | BarrierPass => {
                return self.changes.skip();
            }
            _ if self.changes.used == CHANGES_MAX => return self.changes.skip(),
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
            // With room for some tasks, and all at once: later executions need no more.
            list.resize_with((2 * *used).max(64), || Change {
                of_task: with_room(),
                of_var: with_room(),
                ..Change::default()
            });
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

    /// Goes back to where only the first operations were taken in, so many. `false` if it cannot: then nothing has changed.
    pub(super) fn go_back_to(&mut self, operations: usize) -> bool {
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
            // Copied, so that all keep their room.
            let task = &mut self.tasks[change.task as usize];
            if known {
                task.known.clone_from(&change.of_task);
            } else if to_acquire {
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
            self.tasks[actor.index()].known.set(actor, change.own);
        }
        *used = last;
        true
    }
}

fn load<K: Knowledge>(task: &mut Task<K>, var: &Var<K>, access: &SyncVarAccess) {
    if var.giver.is_some_and(|giver| task.known.covers(giver)) {
        return;
    }
    if acquires(access.order) {
        task.known.join(&var.given);
    } else {
        task.to_acquire.join(&var.given);
        if let Some(more) = var.given.if_it_did(Side::Acquire, access) {
            task.known.join(&more);
        }
    }
}

/// The writing half: what was there before goes on to be given only if nobody has made an end of it.
fn store<K: Knowledge>(task: &mut Task<K>, var: &mut Var<K>, access: &SyncVarAccess) {
    // A read-modify-write that acquires knows what was given before.
    let whole = access.op == SyncVarOp::AtomicStore || acquires(access.order);
    var.giver = (whole && releases(access.order)).then_some(access.event);
    if releases(access.order) {
        var.given.join(&task.known);
    } else {
        var.given.join(&task.fenced);
        if let Some(more) = task.known.if_it_did(Side::Release, access) {
            var.given.join(&more);
        }
    }
}

fn send<K: Knowledge>(known: &mut K, var: &mut Var<K>, access: &SyncVarAccess) {
    match (access.read, access.written) {
        // Nobody is left to receive it.
        (0, 0) => known.join(&var.shared),
        (0, number) => var.numbered.entry(number).given.join(known),
        (taken, _) => {
            if let Some(message) = var.numbered.get(taken) {
                known.join(&message.answer);
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
