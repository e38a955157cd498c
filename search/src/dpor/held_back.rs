//! Tasks that fairness holds back, and executions that have no task left to try.
//!
//! Fairness depends on the order of steps that commute: a task that has yielded twice is held back until another one
//! takes a step, and continues if that step came in between. A search that runs one execution for each trace may have
//! run those steps in the order in which the task is held back. The executions that follow in the other order are fair
//! as well, and must not be missed.
//!
//! So a task that is held back is an alternative where a race requires it, if its steps so far may be those of a fair
//! schedule. That is so if the task in whose favour it is held back has taken enough steps that the held task does not
//! know of to put one into every other window between two yields. A window without a step holds the task back, and the
//! step that releases it is in the next one. Without a race, no execution continues with a task that is held back, so
//! loops end.
//!
//! This is checked for each pair of tasks separately, and each of those steps is assumed to be possible between the
//! yields. So more schedules than the fair ones are tried, and never fewer. A loop makes at most about twice as many
//! rounds as the other task takes steps.
//!
//! This does not work if virtual time passes, because a window in which the other task slept for a while does not hold
//! back a task. Then happens-before caching takes over.

use super::Dpor;
use super::sleep::{Footprint, is_asleep};
use super::{FallbackReason, Insertion};
use intermezzo_engine::strategy::{ChoicePoint, Hold};
use intermezzo_engine::trace::{NOTHING, Trace};

/// The way in which fairness holds back a candidate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Held {
    /// It does not hold the candidate back.
    #[default]
    Not,
    /// It does in this order of the steps so far, but perhaps not in another order of the same trace.
    Here,
    /// It does in every order.
    Always,
}

impl Held {
    /// Returns the way in which a task is held back at a point, at which fairness holds back these tasks.
    pub(super) fn of(task: u32, holds: &[Hold], trace: &Trace) -> Held {
        let own = || holds.iter().filter(|hold| hold.task == task);
        match own().next() {
            None => Held::Not,
            Some(_) if own().all(|hold| is_fair_elsewhere(hold, trace)) => Held::Here,
            Some(_) => Held::Always,
        }
    }
}

/// Returns `true` if, in another order of the same steps, the task may have yielded that often and still have given
/// way.
fn is_fair_elsewhere(hold: &Hold, trace: &Trace) -> bool {
    let Some(awaited) = hold.awaited else { return false };
    let known_at = |step: usize| trace.known_by(step).get(awaited as usize).copied().unwrap_or(0);
    let steps = trace.steps();
    let last = steps.iter().rposition(|step| step.task == hold.task);
    let of_awaited = last.map_or(0, known_at);
    // The steps that a task knows only increase.
    let before = hold
        .yields
        .partition_point(|&step| known_at(step as usize) < of_awaited);
    let since = hold.yields.len() - before;
    // The awaited task must take a step in every other window between two yields. The first window may contain the
    // known one.
    let mut enough = 1;
    let theirs = steps.iter().rev().filter(|step| step.task == awaited);
    let mut unknown = theirs.take_while(|step| step.index == NOTHING || step.index > of_awaited);
    while enough < since {
        if unknown.next().is_none() {
            return false;
        }
        enough += 2;
    }
    true
}

impl Dpor {
    /// Returns the alternative to take without a plan: the first task that is not asleep. Tasks that could only time
    /// out come later, and tasks that fairness holds back here but not always come last.
    pub(super) fn first_awake(
        &self,
        point: &ChoicePoint<'_>,
        from: usize,
        asleep_from: usize,
    ) -> Option<usize> {
        let all_enabled = point.candidates.are_enabled();
        let asleep = &self.sleepers[asleep_from..];
        let awake = |may_time_out: bool, held: Held| {
            self.candidates[from..].iter().position(|candidate| {
                let asked = all_enabled || candidate.waits_for.is_none() || point.is_enabled(candidate.task);
                candidate.held == held && asked != may_time_out && !is_asleep(asleep, candidate.task)
            })
        };
        let first = awake(false, Held::Not).or_else(|| awake(true, Held::Not));
        if point.holds.is_empty() {
            return first;
        }
        first.or_else(|| awake(false, Held::Here))
    }

    /// Completes the node of a step that only sleeping tasks can take.
    #[cold]
    #[inline(never)]
    pub(super) fn enter_asleep(&mut self, point: &ChoicePoint<'_>, had_overslept: bool) -> u32 {
        let depth = self.nodes.len() - 1;
        let node = &self.nodes[depth];
        let asleep = &mut self.sleepers[node.sleepers..];
        let listed = &self.candidates[node.candidates.clone()];
        let blocked = asleep.iter().any(|sleeper| sleeper.across_elided);
        let holds_back = listed.iter().any(|candidate| !is_asleep(asleep, candidate.task));
        if blocked || !holds_back {
            self.leave();
            self.cut(point, blocked);
            let from_above = self.partition.is_some() && had_overslept;
            if !blocked && !from_above && self.insertion == Insertion::WakeupTrees {
                // With wakeup trees, no such execution is planned, unless steps depend on each other in a way that no
                // access shows, or a task sleeps from above the frontier of a share.
                self.bound.invalidate(match point.fair {
                    true => FallbackReason::HeldBack,
                    false => FallbackReason::NothingNew,
                });
            }
            return 0;
        }
        // A task that is held back may be the one that should go. Then the executions that the sleepers lead to
        // elsewhere need not show what follows here.
        asleep.iter_mut().for_each(|sleeper| sleeper.overslept = true);
        self.bound.invalidate(FallbackReason::HeldBack);
        let first = listed.iter().position(|candidate| candidate.held == Held::Not);
        let first = first.unwrap_or(0);
        let task = listed[first].task;
        self.nodes[depth].task = task;
        self.begin_in_share();
        self.expand_above_frontier();
        first as u32
    }

    /// Plans every alternative at this step, except for tasks that fairness always holds back.
    #[cold]
    pub(super) fn try_all(&mut self, depth: usize) {
        for place in self.nodes[depth].candidates.clone() {
            let candidate = self.candidates[place];
            if candidate.held != Held::Always {
                self.try_task(depth, candidate.task, Footprint::new());
            }
        }
    }
}
