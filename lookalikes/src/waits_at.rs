//! Waits at a word, in code that calls the system to wait: for futexes, and for what the system keeps itself.

use crate::sync::atomic::by_address::AtomicU32;
use intermezzo_engine::runtime::{AT_REST, Access, Engine, Site, WaitLimits, Wake, gate};
use intermezzo_engine::schedule::ChoiceKind;
use intermezzo_sdk::{MemoryOrder, SyncVarOp};

/// The effect of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// None: it only looked.
    None,
    /// It changed something, which ends no wait.
    Change,
    /// It may end the waits of other tasks, and counts the word up.
    Wake,
}

/// A word, and the place of an operation at it.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    pub(crate) engine: Engine,
    pub(crate) word: &'a AtomicU32,
    pub(crate) order: MemoryOrder,
    pub(crate) site: Site,
}

impl At<'_> {
    /// Begins the step of a call that waits: it counts as an operation that reads and writes the word.
    pub(crate) fn begin(self) -> (Access, *mut u32) {
        self.begin_as(SyncVarOp::AtomicRmw)
    }

    /// Begins the step of a call that is this operation.
    pub(crate) fn begin_as(self, op: SyncVarOp) -> (Access, *mut u32) {
        let (var, value) = self.word.inside(self.engine, self.site);
        let access = Access {
            op,
            order: self.order,
            var,
            site: self.site,
        };
        self.engine.enter(access);
        (access, value)
    }

    /// Makes an attempt with the word's value, and waits if it fails, until a wake-up that has one of these bits. Attempt
    /// and wait are one step, so no wake-up is lost. `limits` are asked for after an attempt that failed; `None` ends the
    /// wait at once.
    ///
    /// Returns the result of the attempt, or the reason why the wait ended.
    pub(crate) fn wait_unless<R>(
        self,
        bits: u32,
        attempt: impl FnOnce(u32) -> Option<(R, Effect)>,
        limits: impl FnOnce() -> Option<WaitLimits>,
    ) -> Result<R, Wake> {
        let engine = self.engine;
        let (access, value) = self.begin();
        // SAFETY: this task alone runs.
        let now = unsafe { *value };
        if let Some((result, effect)) = attempt(now) {
            match effect {
                Effect::None => {
                    let failed = Access {
                        op: SyncVarOp::AtomicRmwFailed,
                        ..access
                    };
                    engine.commit(failed, u64::from(now), 0);
                }
                Effect::Change => engine.commit(access, u64::from(now), u64::from(now)),
                Effect::Wake => {
                    self.wake_in_step(value.addr(), usize::MAX, bits);
                    // A loop that only looks sees that it may be otherwise now.
                    let next = now.wrapping_add(1);
                    // SAFETY: as above.
                    unsafe { *value = next };
                    engine.commit(access, u64::from(now), u64::from(next));
                }
            }
            return Ok(result);
        }
        let me = engine.task();
        let own = engine.task_var(me);
        let park = Access::new(SyncVarOp::Park, own, self.site);
        let Some(limits) = limits() else {
            engine.commit(access, u64::from(now), u64::from(now));
            // The value 1 marks a spurious wake-up.
            engine.commit(park, 1, 0);
            return Err(Wake::Ready);
        };
        engine.waits_at(value.addr(), access.var, bits);
        engine.change_gates(own, 0, gate::NOTIFIED);
        // A change, though not of the value: it has an order with every wake-up.
        engine.commit(access, u64::from(now), u64::from(now));

        let wake = engine.enter_gated(park, gate::NOTIFIED, limits);
        if wake != Wake::Ready {
            engine.waits_nowhere(me);
            engine.also_writes(access.var);
        }
        match wake {
            Wake::TimedOut if limits.deadline == Some(AT_REST) => {
                engine.commit(Access::nowhere(SyncVarOp::Quiesce, self.site), 0, 0);
            }
            Wake::TimedOut => engine.timed_out(park),
            Wake::Ready => engine.commit(park, 0, 0),
        }
        Err(wake)
    }

    /// Wakes at most `most` of the tasks that wait at this address for one of these bits, in the current step. Returns the
    /// number that it woke.
    pub(crate) fn wake_in_step(self, address: usize, most: usize, bits: u32) -> usize {
        let engine = self.engine;
        let mut woken = 0;
        while woken < most {
            let waiting = engine.waiting_at(address, bits);
            if waiting == 0 {
                break;
            }
            let alternatives = if waiting <= most - woken {
                // All are woken.
                1
            } else if engine.environment().notify_any {
                waiting
            } else {
                engine.note_first_notified();
                1
            };
            let which = engine.choose(ChoiceKind::Waiter, alternatives as u32);
            let task = engine.waiter_at(address, bits, which as usize);
            engine.waits_nowhere(task);
            let own = engine.task_var(task);
            engine.change_gates(own, gate::NOTIFIED, 0);
            engine.commit(Access::new(SyncVarOp::Unpark, own, self.site), 0, 0);
            woken += 1;
        }
        woken
    }
}
