//! Failures that the environment may inject into an operation: choices within its step, bounded in each task.
//!
//! Whether an operation may fail depends on how often operations of its own task have failed so, and on nothing that
//! other tasks do. So operations commute as if the environment did nothing, and every reduction stays sound.

use super::Engine;
use super::outcome::Capped;
use crate::environment::Environment;
use crate::record::Failures;
use crate::schedule::ChoiceKind;

impl Engine {
    /// Decides whether a weak compare-exchange that could succeed fails. Returns `true` if it does.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline)]
    pub fn weak_exchange_fails(self) -> bool {
        self.adversity(
            ChoiceKind::WeakExchange,
            |bounds| bounds.weak_failures,
            |failures| &mut failures.weak_exchanges,
            |capped| &mut capped.weak_failures,
        )
    }

    /// Decides whether a `try_lock` of a free lock fails. Returns `true` if it does.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline)]
    pub fn try_lock_fails(self) -> bool {
        self.adversity(
            ChoiceKind::TryLock,
            |bounds| bounds.try_lock_failures,
            |failures| &mut failures.try_locks,
            |capped| &mut capped.try_lock_failures,
        )
    }

    /// Decides whether the environment does this, within the bound of the task. Notes if the bound is reached.
    fn adversity(
        self,
        kind: ChoiceKind,
        bound: fn(&Environment) -> u32,
        failures: fn(&mut Failures) -> &mut u32,
        capped: fn(&mut Capped) -> &mut bool,
    ) -> bool {
        let may_fail = self.with(|rt| {
            let most = bound(&rt.world.environment);
            let may_fail = *failures(&mut rt.tasks.current_task().failures) < most;
            if !may_fail {
                *capped(&mut rt.world.capped) = true;
            }
            may_fail
        });
        if !may_fail || self.choose(kind, 2) == 0 {
            return false;
        }
        self.with(|rt| *failures(&mut rt.tasks.current_task().failures) += 1);
        true
    }

    /// Notes that `notify_one` could have woken another waiter if the environment allowed it.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline)]
    pub fn note_first_notified(self) {
        self.with(|rt| rt.world.capped.notify_any = true);
    }
}
