//! Virtual time: it passes when somebody looks at it, or when nobody can go on and a time-out fires.

use super::event::Event;
use super::{Access, Engine};
use intermezzo_sdk::SyncVarOp;

/// Virtual nanoseconds by which a look at the clock moves it, and the most it is moved by at once.
pub(super) const TICK: u64 = 1_000;
const TICK_MAX: u64 = 1 << 40;

impl Engine {
    /// Virtual time in nanoseconds since the execution began. Each look moves the clock on, by twice as
    /// much as the look before if nothing but giving way happened in between: a loop that waits for time to
    /// pass ends.
    pub(crate) fn look_at_clock(self) -> u64 {
        let rt = self.rt();
        let giving_way = |event: &&Event| matches!(event.op, SyncVarOp::Yield | SyncVarOp::Sleep);
        let events = rt.events.as_slice();
        let happened = events.len() - events.iter().rev().take_while(giving_way).count();
        if happened != rt.looked_after {
            (rt.looked_after, rt.tick) = (happened, TICK);
        }
        rt.clock = rt.clock.saturating_add(rt.tick);
        rt.tick = rt.tick.saturating_mul(2).min(TICK_MAX);
        rt.clock
    }

    /// Virtual time in nanoseconds, unmoved.
    pub(crate) fn clock(self) -> u64 {
        self.rt().clock
    }

    /// Moves virtual time on to `time`, if it is not past it.
    pub(crate) fn advance_clock(self, time: u64) {
        let rt = self.rt();
        rt.clock = rt.clock.max(time);
    }

    /// The virtual time at which a wait that begins now, and may take this long, gives up.
    pub(crate) fn deadline(self, limit: std::time::Duration) -> u64 {
        self.clock()
            .saturating_add(u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX))
    }

    /// Records that the current task's operation gave up waiting, which counts as a yield.
    pub(crate) fn timed_out(self, access: Access) {
        self.commit(
            Access {
                op: SyncVarOp::TimeOut,
                ..access
            },
            0,
            0,
        );
        let rt = self.rt();
        if rt.last == rt.current {
            (rt.yielded, rt.elaborate) = (true, true);
        }
    }
}
