//! Tasks that are left when the test's own function has returned, in code that was not written for the engine: threads
//! that are never joined. In a real process they end with it, at any moment. So an execution may end once each of them
//! has run some rounds of its loop. Otherwise a thread that polls or cleans up for ever would reach the limit on steps.

use super::dispatch::Next;
use super::{AT_REST, Engine, Runtime, Stop};
use intermezzo_sdk::SyncVarOp;

/// The number of yields, sleeps, time-outs and late reads of the clock of each such task after which the execution
/// ends. A thread that a test leaves behind ends either long before, or never.
pub const ROUNDS_LEFT_OVER: u32 = 100;

impl Engine {
    /// Handles a yield, a sleep, a time-out or a late read of the clock of the current task: ends the execution if all
    /// remaining tasks have run enough rounds, or wait.
    #[inline]
    pub(super) fn end_if_left_over(self) {
        let ends = self
            .with(|rt| rt.limits.unmodified && rt.has_main_ended() && !rt.end.teardown && rt.only_go_round());
        if ends {
            self.with(|rt| {
                rt.world.capped.left_over = true;
                rt.end.stop = Some(Stop::Livelock);
            });
            self.follow(Next::Stop);
        }
    }
}

impl Runtime {
    /// Returns `true` if the test's own function has returned, and the remaining tasks wait for something from outside
    /// the process. In a real process, the test would be over by then.
    pub(super) fn only_outside_goes_on(&self) -> bool {
        let mut waiters = self.ready.timed_waiters().iter();
        self.limits.unmodified && self.has_main_ended() && waiters.all(|task| self.awaits_outside(task))
    }

    /// Returns `true` if this task, which waits with a limit, waits for something from outside the process.
    fn awaits_outside(&self, task: u32) -> bool {
        let task = &self.tasks[task];
        task.deadline == AT_REST && task.pending.access.op != SyncVarOp::Quiesce
    }

    /// Counts a round of the current task, which is left over. Returns `true` if each task that can continue has run
    /// enough rounds, and each that waits with a time limit has run one.
    #[cold]
    #[inline(never)]
    fn only_go_round(&mut self) -> bool {
        let task = self.tasks.current_task();
        task.rounds_left_over += 1;
        if task.rounds_left_over < ROUNDS_LEFT_OVER {
            return false;
        }
        self.tasks.unfinished().all(|task| {
            let rounds = self.tasks[task].rounds_left_over;
            match self.ready.is_enabled(task) {
                true => rounds >= ROUNDS_LEFT_OVER,
                false => {
                    rounds > 0 || !self.ready.timed_waiters().contains(task) || self.awaits_outside(task)
                }
            }
        })
    }
}
