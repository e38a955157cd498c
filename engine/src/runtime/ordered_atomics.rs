//! Atomics that need no schedule points (Bruening & Chapin; Musuvathi et al., OSDI 2008, section 4.4.1).
//!
//! If the accesses to an atomic are always ordered by other synchronisation, it is *quiet*: no task need be preempted
//! before them. Such an access commutes with whatever others do between it and the step before it of its own task, so
//! it may as well follow that step at once; the schedule that does so has no more preemptions.
//!
//! Every atomic is taken for quiet at first. At the end of each execution this is verified, by vector clocks over all
//! other operations: of two on one variable, one of which writes, the first happened before the second, whatever
//! their memory orders are. (It is the order of dependence that counts here, not that of the language.) If two accesses
//! to a quiet atomic are not ordered, at least one of which writes, it is quiet no more, and the search starts anew.
//! Of several such atomics the one whose accesses met first goes first: its accesses may be what orders the others'.
//! An operation that a task did not come to counts as well.
//!
//! Atomics are known by their names: who used them first, and the how-manieth that was. Two may have the same name in
//! different executions; then both have schedule points as soon as one needs them.
//!
//! Differs from the paper: that says nothing of what was skipped before an access was found unordered. Misses: what
//! depends on the order of steps in other ways, as fair scheduling and virtual time do.

use super::Runtime;
use super::naming::var_name;
use crate::record::{Event, Status, VarKind};
use intermezzo_sdk::SyncVarOp;
use std::collections::BTreeSet;

/// Most names in a report's note.
const NAMES_SHOWN: usize = 10;

/// Which atomics are quiet.
#[derive(Default)]
pub(super) struct OrderedAtomics {
    /// Names of those that are not.
    unordered: BTreeSet<String>,
    /// `true` if each variable of the execution is, by its number, as far as it was asked.
    vars: Vec<Option<bool>>,
    /// `true` if the last execution showed one that is not, against what was assumed.
    pub(super) broken: bool,
    /// Executions of searches that were given up.
    pub(super) given_up: u64,
    /// The number of times the search started anew.
    restarts: u32,
}

impl OrderedAtomics {
    /// An execution begins.
    pub(super) fn begin(&mut self) {
        self.vars.clear();
    }

    /// The search starts anew, after so many executions in all.
    pub(super) fn restart(&mut self, executions: u64) {
        self.broken = false;
        self.given_up = executions;
        self.restarts += 1;
    }

    /// What a reader of the report should know.
    pub(super) fn note(&self) -> String {
        let unordered: Vec<&str> = self
            .unordered
            .iter()
            .take(NAMES_SHOWN)
            .map(String::as_str)
            .collect();
        let mut note = match (unordered.is_empty(), self.unordered.len() - unordered.len()) {
            (true, _) => "quiet atomics: no atomic needs schedule points".to_owned(),
            (_, 0) => format!("quiet atomics: schedule points only at {}", unordered.join(", ")),
            (_, more) => format!(
                "quiet atomics: schedule points only at {} and {more} more",
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
            "; the search started anew {times}, for the last time after execution {executions}"
        ));
        note
    }
}

/// An operation that was done, or was about to be: whose, which, on which variable, and the values read and written.
type Done = (u32, SyncVarOp, u32, u64, u64);

/// When tasks last did what: for each task, how many of its events happened before.
type Clock = Vec<u32>;

/// What is known of a variable while an execution is verified.
#[derive(Clone, Default)]
struct Accesses {
    /// What happened before its last write, and before any of its reads since.
    written: Clock,
    read: Clock,
    /// What happened before the senders of a channel closed that have, or before a task ended.
    closed: Clock,
}

/// Two accesses to this quiet atomic are not ordered.
struct Unordered(u32);

impl Runtime {
    /// Returns `true` if the next operation of the task that took the last step is on a quiet atomic.
    pub(super) fn next_is_quiet(&mut self) -> bool {
        let var = self.tasks[self.last as usize].pending.access.var;
        let Some(mut ordered_atomics) = self.ordered_atomics.take() else {
            return false;
        };
        let is_quiet = self.is_quiet(&mut ordered_atomics, var);
        self.ordered_atomics = Some(ordered_atomics);
        is_quiet
    }

    fn is_quiet(&self, ordered_atomics: &mut OrderedAtomics, var: u32) -> bool {
        let at = var as usize;
        if at >= self.vars.count() || !matches!(self.vars[var].kind, VarKind::Atomic | VarKind::Pointer) {
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

    /// The execution is over: checks that accesses to quiet atomics are ordered.
    pub(super) fn verify_quiet(&mut self) {
        let Some(mut ordered_atomics) = self.ordered_atomics.take() else {
            return;
        };
        // What the last operations of tasks would have done counts too.
        let unfinished = (0..self.created).filter(|&task| self.tasks[task as usize].status != Status::Ended);
        let pending: Vec<Done> = unfinished
            .map(|task| {
                let access = self.tasks[task as usize].pending.access;
                (task, access.op, access.var, 0, 0)
            })
            .collect();
        while let Err(Unordered(var)) = self.verify_order(&mut ordered_atomics, &pending) {
            ordered_atomics.vars[var as usize] = Some(false);
            ordered_atomics.unordered.insert(var_name(self, var));
            ordered_atomics.broken = true;
        }
        self.ordered_atomics = Some(ordered_atomics);
    }

    /// Finds the first access to a quiet atomic that is not ordered with one before it.
    fn verify_order(&self, ordered_atomics: &mut OrderedAtomics, pending: &[Done]) -> Result<(), Unordered> {
        let tasks = self.created as usize;
        let counts = self.environment.arc_counts;
        let mut clocks: Vec<Clock> = vec![vec![0; tasks]; tasks];
        let mut vars: Vec<Accesses> = vec![Accesses::default(); self.vars.count()];
        // A task's later pending operation is its only one: whatever came before it is known.
        let done = self
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
                // Each task's own last access is what others have to be ordered after.
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
                // The end may come later than its event: a look that does not find it orders nothing.
                SyncVarOp::TaskCheck if read == 0 => continue,
                SyncVarOp::CountUp | SyncVarOp::CountDown | SyncVarOp::CountRead if !counts => continue,
                // Tasks end with no schedule point, and senders close with none but for the last: only who finds the task
                // ended, or the senders gone, is after that.
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

/// What happened before the one, and before the other.
fn join(clock: &mut Clock, other: &Clock) {
    for (mine, theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}
