//! Failures that the environment may inject into an operation: choices that are bounded in each execution.

use super::Engine;
use super::outcome::Capped;
use crate::environment::Environment;
use crate::schedule::ChoiceKind;
use crate::trace::{Class, Key, SoundReduction};

impl Engine {
    /// Decides whether a weak compare-exchange that could succeed fails. Returns `true` if it does.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline)]
    pub fn weak_exchange_fails(self) -> bool {
        self.adversity(
            ChoiceKind::WeakExchange,
            |left| &mut left.weak_failures,
            Key::WEAK_FAILURES,
            |capped| &mut capped.weak_failures,
        )
    }

    /// Decides whether a `try_lock` of a free lock fails. Returns `true` if it does.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline)]
    pub fn try_lock_fails(self) -> bool {
        self.adversity(
            ChoiceKind::TryLock,
            |left| &mut left.try_lock_failures,
            Key::TRY_LOCK_FAILURES,
            |capped| &mut capped.try_lock_failures,
        )
    }

    /// Decides whether the environment does this, within its bound. Notes if the bound is reached.
    fn adversity(
        self,
        kind: ChoiceKind,
        bound: fn(&mut Environment) -> &mut u32,
        budget: Key,
        capped: fn(&mut Capped) -> &mut bool,
    ) -> bool {
        let (allowed, left) = self.with(|rt| {
            let left = *bound(&mut rt.world.left);
            if left == 0 {
                *capped(&mut rt.world.capped) = true;
            }
            let allowed = *bound(&mut rt.world.environment);
            if allowed > 0 {
                // Whether it may happen depends on how often it has happened.
                let access = rt.tasks.current_task().pending.access;
                rt.record
                    .sound_only(SoundReduction::Caching, access.op, access.site);
            }
            (allowed, left)
        });
        if allowed == 0 {
            return false;
        }
        if left == 0 || self.choose(kind, 2) == 0 {
            self.add_to_footprint(budget, Class::Read);
            return false;
        }
        self.add_to_footprint(budget, Class::Write);
        self.with(|rt| *bound(&mut rt.world.left) -= 1);
        true
    }

    /// Notes that `notify_one` could have woken another waiter if the environment allowed it.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline)]
    pub fn note_first_notified(self) {
        self.with(|rt| rt.world.capped.notify_any = true);
    }
}
