//! Contention: pairs of places whose operations on one variable could have happened in the other order.
//!
//! **Source.** Park & Sen, *Concurrent Breakpoints* (EECS-2011-159), section 5, methodology II: the way in which
//! conflicts are resolved causes bugs. So the conflicts of a run are listed, and each is then tried in both orders
//! (`cargo intermezzo breakpoints`).
//!
//! **What is computed.** Two operations of different tasks on one variable that do not commute are a pair if the task
//! of the second did not know of the first before: only the two themselves put them in order. The last operation of
//! each task on a variable counts; for locks the acquisition counts, not the release.
//!
//! **Not reduction compatible.** The order is that of the trace, but each pair is reported only once in all
//! executions, as a warning, and in the words of the first access: executions of one trace may say different things.
//!
//! **Misses** accesses to plain memory, which `data-race` covers.

use crate::arguments;
use crate::order::{TraceOrder, touches};
use intermezzo_sdk::{
    Class, Context, EventId, Execution, FindingKind, Interests, Monitor, MonitorFinding, SiteId, SyncVar,
    SyncVarAccess, SyncVarOp,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

const NAME: &str = "contention";

/// Lists pairs of places that contend. See the [module](self).
#[derive(Debug, Default)]
pub struct Contention {
    order: TraceOrder,
    /// Each task's last operation on each variable.
    last: HashMap<SyncVar, Vec<Touched>>,
    /// The pairs of the current execution.
    pairs: BTreeMap<[SiteId; 2], ([SyncVarOp; 2], SyncVar)>,
    /// Pairs that were reported, by the names of their places: numbers of places are an execution's own.
    reported: BTreeSet<[String; 2]>,
}

#[derive(Clone, Copy, Debug)]
struct Touched {
    event: EventId,
    class: Class,
    op: SyncVarOp,
    site: SiteId,
}

impl Contention {
    /// Creates a monitor that has seen nothing.
    pub fn new() -> Contention {
        Contention::default()
    }

    /// Creates the monitor. It takes no arguments.
    ///
    /// # Errors
    /// If there are any.
    pub fn with_arguments(arguments: &str) -> Result<Contention, String> {
        arguments::with(Contention::new(), NAME, &[], arguments)
    }
}

/// `true` if the operation is one that contends: it may wait for others, or others may see it.
fn contends(op: SyncVarOp) -> bool {
    use SyncVarOp::{CountDown, CountUp, LockRelease, SharedRelease, TaskBegin, TaskEnd, TaskFork, TaskJoin};
    !matches!(
        op,
        LockRelease | SharedRelease | CountUp | CountDown | TaskFork | TaskBegin | TaskEnd | TaskJoin
    )
}

impl Monitor for Contention {
    fn name(&self) -> &str {
        NAME
    }

    fn interests(&self) -> Interests {
        Interests::SYNC_ACCESSES
    }

    fn reduction_compatible(&self) -> bool {
        false
    }

    fn on_execution_begin(&mut self, _: &Execution<'_>) {
        self.order.clear();
        self.last.clear();
        self.pairs.clear();
    }

    fn on_sync_var_access(&mut self, access: &SyncVarAccess, _: &mut Context<'_>) {
        let touch = touches(access).next().filter(|_| contends(access.op));
        if let Some((_, class)) = touch {
            let known = self.order.known_to(access.event.task);
            let now = Touched {
                event: access.event,
                class,
                op: access.op,
                site: access.site,
            };
            let last = self.last.entry(access.var).or_default();
            for then in last.iter().filter(|then| then.event.task != now.event.task) {
                let unordered = known.get(then.event.task) < then.event.index;
                if unordered && !then.class.commutes(class) {
                    let pair = ([then.site, now.site], ([then.op, now.op], access.var));
                    self.pairs.entry(pair.0).or_insert(pair.1);
                }
            }
            last.retain(|then| then.event.task != now.event.task);
            last.push(now);
        }
        self.order.add(access);
    }

    fn on_execution_end(&mut self, _: &Execution<'_>, cx: &mut Context<'_>) {
        for (sites, (ops, var)) in std::mem::take(&mut self.pairs) {
            let mut named = [0, 1].map(|side| (cx.site_name(sites[side]), ops[side], sites[side]));
            named.sort_by(|one, other| one.0.cmp(&other.0));
            let [(one, one_op, one_site), (other, other_op, other_site)] = named;
            let var = cx.var_name(var);
            let message = format!("{one_op} at {one} and {other_op} at {other} contend for {var}");
            if self.reported.insert([one, other]) {
                let report = MonitorFinding::new(FindingKind::Plugin(NAME.into()), message).warning();
                cx.report(report.sites([one_site, other_site]));
            }
        }
    }
}
