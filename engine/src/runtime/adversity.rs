//! Failures and spurious wake-ups that the environment may cause: choices within a step, bounded in each task.
//!
//! Only a task's own past decides if the environment may act in it. So operations commute as if the environment did
//! nothing, and reductions stay sound. The exception is loops that are assumed to wait: see `note_adversity`.
//!
//! A wait that ends spuriously ends at once, and no behaviour is missed by that. If another task notified it first, it
//! would end for that reason. And the task's next operation has a schedule point of its own.

use super::outcome::Capped;
use super::{Engine, Runtime};
use crate::environment::Environment;
use crate::record::{Access, Adversities, TimesOut};
use crate::schedule::ChoiceKind;
use crate::site::Site;
use crate::trace::SoundReduction;
use intermezzo_sdk::{MemoryOrder, SyncVarOp};

impl Engine {
    /// Decides whether a weak compare-exchange that could succeed fails. Returns `true` if it does.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline)]
    pub fn weak_exchange_fails(self) -> bool {
        self.adversity(
            ChoiceKind::WeakExchange,
            |bounds| bounds.weak_failures,
            |so_far| &mut so_far.weak_exchanges,
            |capped| capped.weak_failures = true,
        )
    }

    /// Decides whether a `try_lock` of a free lock fails. Returns `true` if it does.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline)]
    pub fn try_lock_fails(self) -> bool {
        self.adversity(
            ChoiceKind::TryLock,
            |bounds| bounds.try_lock_failures,
            |so_far| &mut so_far.try_locks,
            |capped| capped.try_lock_failures = true,
        )
    }

    /// Decides whether a wait that begins ends spuriously. Returns `true` if it does: the front end records it as begun
    /// and ended. As after any wait, a switch to another task is not a preemption.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline)]
    pub fn wakes_spuriously(self) -> bool {
        let spurious = self.adversity(
            ChoiceKind::Wake,
            |bounds| bounds.spurious_wakeups,
            |so_far| &mut so_far.spurious_wakeups,
            // That is noted when the wait begins: see `Runtime::block`.
            |_| (),
        );
        if spurious {
            self.with(|rt| rt.ready.wait_over(rt.tasks.current()));
        }
        spurious
    }

    /// Decides whether a wait with a limit, which begins now, may time out early. If it may, an event records that.
    pub(super) fn decide_time_out(self, site: Site) {
        let most = self.environment().timeouts;
        let so_far = self.with(|rt| rt.tasks.current_task().adversities.timeouts);
        let times_out = if so_far >= most {
            TimesOut::Capped
        } else if self.choose(ChoiceKind::Wake, 2) == 0 {
            TimesOut::InTime
        } else {
            // No other event shows the choice before the time is over.
            self.commit(Access::nowhere(SyncVarOp::Choice, site), 1, 0);
            TimesOut::Early
        };
        self.with(|rt| {
            if most > 0 {
                rt.note_adversity();
            }
            let task = rt.tasks.current_task();
            task.times_out = times_out;
            task.adversities.timeouts += u32::from(times_out == TimesOut::Early);
        });
    }

    /// Decides whether the environment does this, within the bound of the task. Notes if the bound is reached.
    fn adversity(
        self,
        kind: ChoiceKind,
        bound: fn(&Environment) -> u32,
        so_far: fn(&mut Adversities) -> &mut u32,
        note_capped: fn(&mut Capped),
    ) -> bool {
        let may_happen = self.with(|rt| {
            let most = bound(&rt.world.environment);
            let may_happen = *so_far(&mut rt.tasks.current_task().adversities) < most;
            if !may_happen {
                note_capped(&mut rt.world.capped);
            }
            if most > 0 {
                rt.note_adversity();
            }
            may_happen
        });
        if !may_happen || self.choose(kind, 2) == 0 {
            return false;
        }
        self.with(|rt| *so_far(&mut rt.tasks.current_task().adversities) += 1);
        true
    }

    /// Notes an operation on an atomic with this ordering. One that is weaker than `SeqCst` could read another value
    /// under a memory model.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline(always))]
    pub fn note_order(self, order: MemoryOrder) {
        self.quick(|rt| rt.world.capped.weaker_orders |= order != MemoryOrder::SeqCst);
    }

    /// Notes a read, with this ordering, of something that other tasks change: a reference count, the end of a task,
    /// poison, or a lock that another task holds. If the read orders nothing, later operations could read values from
    /// before the change under a memory model.
    pub fn note_look(self, order: MemoryOrder) {
        let orders_nothing = matches!(order, MemoryOrder::Relaxed | MemoryOrder::None);
        self.quick(|rt| rt.world.capped.weaker_orders |= orders_nothing);
    }

    /// Notes that the test uses a barrier of the system that orders all its tasks at once.
    pub fn note_barrier(self) {
        self.quick(|rt| rt.world.capped.barriers = true);
    }

    /// Notes that `notify_one` could have woken another waiter if the environment allowed it.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline)]
    pub fn note_first_notified(self) {
        self.quick(|rt| rt.world.capped.notify_any = true);
    }
}

impl Runtime {
    /// Notes that the environment may act here. A round of a loop may fail for that reason alone. Where loops are
    /// assumed to wait, other reductions would mistake such a round for a wait, so caching takes over.
    fn note_adversity(&mut self) {
        if self.record.trace.has_voids() {
            let access = self.tasks.current_task().pending.access;
            self.record
                .sound_only(SoundReduction::Caching, access.op, access.site);
        }
    }
}
