//! Waits until no other task can do anything.
//!
//! Such a wait has a time limit, and its gate is never open. Its deadline comes after all others, and no time passes
//! when it ends. So it ends when every other task has ended, waits for something that does not happen, or is parked in
//! a loop that waits. If several tasks wait in this way, they are released together, and continue in any order.
//!
//! The step in which such a task continues is ordered after everything before it, like a time-out that happens because
//! no other task can continue. Partial-order reductions plan steps from the accesses of others, which do not show them
//! how the wait could end earlier. So happens-before caching, which tries every alternative, takes over from them
//! (`SoundReduction::of`).

use super::Engine;
use crate::record::{Access, WaitLimits, gate};
use crate::site::Site;
use intermezzo_sdk::SyncVarOp;

/// The deadline of a wait until all is at rest: virtual time is always before it.
pub const AT_REST: u64 = u64::MAX;

impl Engine {
    /// Lets the current task wait until no other task can do anything.
    pub fn quiesce(self, site: Site) {
        if self.in_teardown() {
            return self.abandon_current();
        }
        // Tasks that wait for this come to rest together.
        self.with(|rt| rt.begin_after(rt.tasks.current(), None));
        let own = self.task_var(self.task());
        let wait_limits = WaitLimits {
            deadline: Some(AT_REST),
            ..WaitLimits::default()
        };
        // It waits at its own variable, but accesses no variable.
        self.enter_gated(
            Access::new(SyncVarOp::Quiesce, own, site),
            gate::QUIET,
            wait_limits,
        );
        self.commit(Access::nowhere(SyncVarOp::Quiesce, site), 0, 0);
    }
}
