//! Atomics that need no schedule points (Bruening & Chapin; Musuvathi et al., OSDI 2008, section 4.4.1).
//!
//! If the accesses to an atomic are always ordered by other synchronisation, it is an *ordered atomic*: no task need be
//! preempted before them. Such an access commutes with the operations of other tasks between it and its own task's
//! previous step. So it may follow that step at once, and a schedule in which it does so has no more preemptions. The
//! code also calls such atomics quiet.
//!
//! Every atomic is assumed to be ordered at first. At the end of each execution this is verified, by vector clocks over
//! all other operations: of two accesses to one variable, one of which writes, the first must have happened before the
//! second. Their memory orderings do not matter, because it is the order of dependent operations that counts, and not
//! happens-before as the language defines it. If two such accesses are not ordered, the atomic loses the status, and
//! the search restarts. If there are several such atomics, only the one with the first unordered access loses it,
//! because its accesses may order those of the others. The operation that a task was about to perform counts as well.
//!
//! Atomics are identified by their names: the first user, and the index among that task's variables. Two may have the
//! same name in different executions; then both get schedule points as soon as one needs them.
//!
//! The destructors of thread-locals are an exception: their accesses have schedule points. The moment from which a task
//! may be found ended depends on them (see [`Engine::look_for_end`](super::Engine::look_for_end)), and no access shows
//! that order.
//!
//! Differs from the paper, which does not mention the executions that were skipped before an access was found
//! unordered. Misses: effects that the order of steps has in other ways, such as by fair scheduling and virtual time.

use super::Runtime;
use super::naming::var_name;
use crate::record::{Event, VarKind};
use intermezzo_sdk::SyncVarOp;
use std::collections::BTreeSet;

/// The maximum number of names in a report's note.
const NAMES_SHOWN: usize = 10;

/// The atomics that are assumed to be ordered.
#[derive(Default)]
pub(super) struct OrderedAtomics {
    /// The names of the atomics that are not ordered.
    unordered: BTreeSet<String>,
    /// For each variable of the execution, by its number, `Some(true)` if it is ordered, as far as that was looked up.
    vars: Vec<Option<bool>>,
    /// `true` if the last execution showed an unordered atomic that was assumed to be ordered.
    pub(super) broken: bool,
    /// The number of executions of abandoned searches.
    pub(super) given_up: u64,
    /// The number of times the search has restarted.
    restarts: u32,
}

impl OrderedAtomics {
    /// Begins an execution.
    pub(super) fn begin(&mut self) {
        self.vars.clear();
    }

    /// Notes that the search restarts after this many executions in all.
    pub(super) fn restart(&mut self, executions: u64) {
        self.broken = false;
        self.given_up = executions;
        self.restarts += 1;
    }

    /// Returns a note for the reader of the report.
    pub(super) fn note(&self) -> String {
        let unordered: Vec<&str> = self
            .unordered
            .iter()
            .take(NAMES_SHOWN)
            .map(String::as_str)
            .collect();
        let mut note = match (unordered.is_empty(), self.unordered.len() - unordered.len()) {
            (true, _) => "ordered-atomics: no atomic needs schedule points".to_owned(),
            (_, 0) => format!(
                "ordered-atomics: schedule points only at {}",
                unordered.join(", ")
            ),
            (_, more) => format!(
                "ordered-atomics: schedule points only at {} and {more} more",
                unordered.join(", ")
            ),
        };
        let times = match self.restarts {
            0 => return note,
            1 => "once".to_owned(),
            times => format!("{times} times"),
        };
        let executions = self.given_up;
        note.push_str(&format!(
            "; the search restarted {times}, for the last time after execution {executions}"
        ));
        note
    }
}

/// An operation that was performed, or was about to be: its task, its kind, its variable, and the values read and
/// written.
type Done = (u32, SyncVarOp, u32, u64, u64);

/// A vector clock: for each task, the number of its events that happened before.
type Clock = Vec<u32>;

/// The data of a variable while an execution is verified.
#[derive(Clone, Default)]
struct Accesses {
    /// The events that happened before its last write, and before any of its reads since.
    written: Clock,
    read: Clock,
    /// The events that happened before the closing of a channel's closed senders, or before the end of a task.
    closed: Clock,
}

/// Two unordered accesses to this atomic, which was assumed to be ordered.
struct Unordered(u32);

impl Runtime {
    /// Returns `true` if the next operation of the task that took the last step is on an ordered atomic.
    pub(super) fn next_is_quiet(&mut self) -> bool {
        let task = &self.tasks[self.ready.last()];
        // Until a task drops its thread-locals, a query may find it ended or not.
        if task.over_at.is_some() || task.heir_of.is_some() {
            return false;
        }
        let var = task.pending.access.var;
        let Some(mut ordered_atomics) = self.constraints.ordered_atomics.take() else {
            return false;
        };
        let is_quiet = self.is_quiet(&mut ordered_atomics, var);
        self.constraints.ordered_atomics = Some(ordered_atomics);
        is_quiet
    }

    fn is_quiet(&self, ordered_atomics: &mut OrderedAtomics, var: u32) -> bool {
        let at = var as usize;
        if at >= self.objects.vars.count()
            || !matches!(self.objects.vars[var].kind, VarKind::Atomic | VarKind::Pointer)
        {
            return false;
        }
        if ordered_atomics.vars.len() <= at {
            ordered_atomics.vars.resize(at + 1, None);
        }
        if let Some(known) = ordered_atomics.vars[at] {
            return known;
        }
        let is_quiet = !ordered_atomics.unordered.contains(&var_name(self, var));
        ordered_atomics.vars[at] = Some(is_quiet);
        is_quiet
    }

    /// Checks at the end of the execution that accesses to ordered atomics are ordered.
    pub(super) fn verify_quiet(&mut self) {
        let Some(mut ordered_atomics) = self.constraints.ordered_atomics.take() else {
            return;
        };
        // The unfinished last operations of tasks count too.
        let unfinished = self.tasks.unfinished();
        let pending: Vec<Done> = unfinished
            .map(|task| {
                let access = self.tasks[task].pending.access;
                (task, access.op, access.var, 0, 0)
            })
            .collect();
        while let Err(Unordered(var)) = self.verify_order(&mut ordered_atomics, &pending) {
            ordered_atomics.vars[var as usize] = Some(false);
            ordered_atomics.unordered.insert(var_name(self, var));
            ordered_atomics.broken = true;
        }
        self.constraints.ordered_atomics = Some(ordered_atomics);
    }

    /// Finds the first access to an atomic that is assumed to be ordered which is not ordered after an earlier one.
    fn verify_order(&self, ordered_atomics: &mut OrderedAtomics, pending: &[Done]) -> Result<(), Unordered> {
        let tasks = self.tasks.created() as usize;
        let counts = self.world.environment.arc_counts;
        let mut clocks: Vec<Clock> = vec![vec![0; tasks]; tasks];
        let mut vars: Vec<Accesses> = vec![Accesses::default(); self.objects.vars.count()];
        // A task has only one pending operation: everything before it is known.
        let done = self
            .record
            .events
            .as_slice()
            .iter()
            .map(|event: &Event| (event.task, event.op, event.var, event.read, event.written));
        for (task, op, var, read, written) in done.chain(pending.iter().copied()) {
            let clock = &mut clocks[task as usize];
            clock[task as usize] += 1;
            let (reads, writes) = (op.is_read(), op.is_write());
            if var as usize >= vars.len() || !(reads || writes) {
                continue;
            }
            let accesses = &mut vars[var as usize];
            if self.is_quiet(ordered_atomics, var) {
                let ordered = |before: &Clock| before.iter().zip(&*clock).all(|(before, now)| before <= now);
                if !ordered(&accesses.written) || writes && !ordered(&accesses.read) {
                    return Err(Unordered(var));
                }
                // Later accesses must be ordered after each task's own last access.
                let noted = if writes {
                    &mut accesses.written
                } else {
                    &mut accesses.read
                };
                noted.resize(tasks, 0);
                noted[task as usize] = clock[task as usize];
                continue;
            }
            match op {
                // A task may end later than the event of its end. A query that does not find it ended orders nothing.
                SyncVarOp::TaskCheck if read == 0 => continue,
                SyncVarOp::CountUp | SyncVarOp::CountDown | SyncVarOp::CountRead if !counts => continue,
                // A task's end has no schedule point, nor has a sender that closes without a receiver; and senders do
                // not observe which others closed before. Only a task that finds the task ended, or the senders gone,
                // is ordered after that.
                _ if op == SyncVarOp::TaskEnd || op == SyncVarOp::ChannelClose && written == 0 => {
                    accesses.closed.resize(tasks, 0);
                    join(&mut accesses.closed, clock);
                    continue;
                }
                SyncVarOp::TaskJoin | SyncVarOp::TaskCheck => join(clock, &accesses.closed),
                SyncVarOp::ChannelReceive if read == 0 && written == 0 => join(clock, &accesses.closed),
                _ => {}
            }
            join(clock, &accesses.written);
            if writes {
                join(clock, &accesses.read);
                accesses.written.clone_from(clock);
            } else {
                accesses.read.resize(tasks, 0);
                join(&mut accesses.read, clock);
            }
        }
        Ok(())
    }
}

/// Joins two clocks: the first one then has the events of both.
fn join(clock: &mut Clock, other: &Clock) {
    for (mine, theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}
