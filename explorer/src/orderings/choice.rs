//! The choice of orderings that forbid the counterexamples: as few places as possible, and each as weak as possible.
//!
//! Every set of up to [`FEW`] places is tried, smaller ones first, so the choice is the smallest. If more are needed, places
//! are left out as long as the rest is enough. Then none of the rest can be left out, but there may be a smaller set.
//! A stronger ordering forbids all that a weaker one forbids, so each set is tried with `SeqCst` first.

use crate::report::Finding;
use intermezzo_engine::memory_model::{ExecutionGraph, RaisedOrder, RaisedOrders};
use intermezzo_sdk::{EventId, FindingKind, MemoryOrder, SyncVarOp, TaskId};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

/// The largest size of which every set is tried. Of 30 places there are some 30,000 sets of up to four.
const FEW: usize = 4;

/// The largest number of ways to weaken the orderings of one set that are tried: all for five read-modify-writes, which
/// have four levels each.
const LEVELS_MAX: usize = 1024;

/// A stronger ordering of the operations of one kind at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Raise {
    pub(super) op: SyncVarOp,
    pub(super) site: String,
    /// The weakest ordering that the operations have.
    pub(super) now: MemoryOrder,
    pub(super) needs: MemoryOrder,
}

/// Orderings that forbid all counterexamples.
pub(super) enum Remedy {
    Raise(Vec<Raise>),
    /// No orderings do.
    Impossible,
    /// There was no time to find them.
    OutOfTime,
}

/// An execution that shows the finding.
pub(super) struct Counterexample {
    graph: Arc<ExecutionGraph>,
    /// For a data race, pairs of events: there is no race if the first event of one of them happens before the second.
    apart: Vec<(EventId, EventId)>,
}

impl Counterexample {
    /// Returns the execution that shows a finding, if it is known.
    pub(super) fn of(finding: &Finding) -> Option<Counterexample> {
        let graph = Arc::clone(finding.graph.as_ref()?);
        let mut apart = Vec::new();
        if let (FindingKind::DataRace, [one, other]) = (&finding.kind, &finding.deeds[..]) {
            let places = [one, other].map(|deed| {
                let event = event_id(&deed.after)?;
                let is_event = finding
                    .events
                    .iter()
                    .any(|event| event.id == deed.after && event.site == deed.site);
                Some((event, is_event))
            });
            let [Some(one), Some(other)] = places else {
                return None;
            };
            // Others learn of an access to plain memory by the next event of its task.
            let known_by = |(event, is_event): (EventId, bool)| EventId {
                index: event.index + u32::from(!is_event),
                ..event
            };
            apart = vec![(known_by(one), other.0), (known_by(other), one.0)];
        }
        Some(Counterexample { graph, apart })
    }

    /// Returns `true` if an ordering could be stronger.
    pub(super) fn could_be_stronger(&self) -> bool {
        let mut orders = self.graph.orders();
        orders.any(|(op, _, order)| !levels(op, order).is_empty())
    }

    /// Returns `true` if it takes place with these orderings, and still shows the finding.
    fn stays(&self, raised: &RaisedOrders) -> bool {
        self.graph.is_allowed(raised)
            && !self
                .apart
                .iter()
                .any(|&(earlier, later)| self.graph.is_ordered(raised, earlier, later))
    }
}

fn event_id(text: &str) -> Option<EventId> {
    let (task, index) = text.split_once('.')?;
    Some(EventId {
        task: TaskId(task.parse().ok()?),
        index: index.parse().ok()?,
    })
}

/// Returns the stronger orderings that an operation can have instead of this one, weakest first.
fn levels(op: SyncVarOp, now: MemoryOrder) -> Vec<MemoryOrder> {
    use MemoryOrder::{AcqRel, Acquire, Release, SeqCst};
    let all: &[MemoryOrder] = match op {
        SyncVarOp::AtomicLoad | SyncVarOp::AtomicRmwFailed => &[Acquire, SeqCst],
        SyncVarOp::AtomicStore => &[Release, SeqCst],
        SyncVarOp::AtomicRmw | SyncVarOp::Fence => &[Acquire, Release, AcqRel, SeqCst],
        _ => &[],
    };
    let mut levels: Vec<MemoryOrder> = all.iter().map(|&level| now.join(level)).collect();
    levels.retain(|&level| level != now);
    levels.dedup();
    levels
}

/// Returns a number that is larger for stronger orderings.
fn strength(order: MemoryOrder) -> usize {
    match order {
        MemoryOrder::None | MemoryOrder::Relaxed => 0,
        MemoryOrder::Acquire | MemoryOrder::Release => 1,
        MemoryOrder::AcqRel => 2,
        MemoryOrder::SeqCst => 3,
    }
}

/// Returns these orderings, for the engine.
pub(super) fn orders(raise: &[Raise]) -> RaisedOrders {
    let order = |raise: &Raise| RaisedOrder {
        op: raise.op,
        site: raise.site.clone(),
        order: raise.needs,
    };
    RaisedOrders::from(raise.iter().map(order).collect::<Vec<_>>())
}

/// Chooses orderings that forbid all of these executions, until `ends`.
pub(super) fn choose(counterexamples: &[Counterexample], ends: Instant) -> Remedy {
    let all = weak_places(counterexamples);
    let forbids = |raise: &[Raise]| {
        let raised = orders(raise);
        !counterexamples.iter().any(|each| each.stays(&raised))
    };
    if !forbids(&all) {
        return Remedy::Impossible;
    }
    for size in 1..=FEW.min(all.len()) {
        match best_of_size(size, &all, forbids, ends) {
            Err(OutOfTime) => return Remedy::OutOfTime,
            Ok(Some(best)) => return Remedy::Raise(best),
            Ok(None) => {}
        }
    }
    match irreducible(all, forbids, ends) {
        Err(OutOfTime) => Remedy::OutOfTime,
        Ok(raise) => Remedy::Raise(weakest(raise, forbids)),
    }
}

/// There was no time left.
struct OutOfTime;

/// Returns all places whose orderings could be stronger, with `SeqCst`.
fn weak_places(counterexamples: &[Counterexample]) -> Vec<Raise> {
    let mut weak: BTreeMap<(String, u32), Raise> = BTreeMap::new();
    for (op, site, order) in counterexamples.iter().flat_map(|each| each.graph.orders()) {
        if levels(op, order).is_empty() {
            continue;
        }
        let known = weak.entry((site.to_owned(), op as u32)).or_insert_with(|| Raise {
            op,
            site: site.to_owned(),
            now: order,
            needs: MemoryOrder::SeqCst,
        });
        if strength(order) < strength(known.now) {
            known.now = order;
        }
    }
    weak.into_values().collect()
}

/// Returns the weakest orderings that forbid the executions at `size` of these places; `None` if no set of that size is
/// enough.
fn best_of_size(
    size: usize,
    all: &[Raise],
    forbids: impl Fn(&[Raise]) -> bool + Copy,
    ends: Instant,
) -> Result<Option<Vec<Raise>>, OutOfTime> {
    let mut best: Option<Vec<Raise>> = None;
    let mut chosen: Vec<usize> = (0..size).collect();
    loop {
        if Instant::now() >= ends {
            return Err(OutOfTime);
        }
        let raise: Vec<Raise> = chosen.iter().map(|&at| all[at].clone()).collect();
        if forbids(&raise) {
            let weakest = weakest(raise, forbids);
            if best.as_ref().is_none_or(|best| total(&weakest) < total(best)) {
                best = Some(weakest);
            }
        }
        if !advance(&mut chosen, all.len()) {
            return Ok(best);
        }
    }
}

/// Leaves out places as long as the rest is enough.
fn irreducible(
    mut raise: Vec<Raise>,
    forbids: impl Fn(&[Raise]) -> bool,
    ends: Instant,
) -> Result<Vec<Raise>, OutOfTime> {
    let mut at = 0;
    while at < raise.len() {
        if Instant::now() >= ends {
            return Err(OutOfTime);
        }
        let left_out = raise.remove(at);
        if !forbids(&raise) {
            raise.insert(at, left_out);
            at += 1;
        }
    }
    Ok(raise)
}

/// Moves to the next set of this size of the numbers below `all`. Returns `false` after the last one.
fn advance(chosen: &mut [usize], all: usize) -> bool {
    let size = chosen.len();
    let Some(at) = (0..size).rev().find(|&at| chosen[at] < all - size + at) else {
        return false;
    };
    chosen[at] += 1;
    for next in at + 1..size {
        chosen[next] = chosen[next - 1] + 1;
    }
    true
}

fn total(raise: &[Raise]) -> usize {
    raise.iter().map(|raise| strength(raise.needs)).sum()
}

/// Returns the weakest orderings at these places that still forbid the executions.
fn weakest(mut raise: Vec<Raise>, forbids: impl Fn(&[Raise]) -> bool) -> Vec<Raise> {
    let levels: Vec<Vec<MemoryOrder>> = raise.iter().map(|raise| levels(raise.op, raise.now)).collect();
    let ways: usize = levels.iter().map(Vec::len).fold(1, usize::saturating_mul);
    if ways > LEVELS_MAX {
        for (at, levels) in levels.iter().enumerate() {
            for &level in levels {
                raise[at].needs = level;
                if forbids(&raise) {
                    break;
                }
            }
        }
        return raise;
    }
    let mut all: Vec<Vec<Raise>> = (0..ways)
        .map(|mut way| {
            let mut weaker = raise.clone();
            for (raise, levels) in weaker.iter_mut().zip(&levels) {
                raise.needs = levels[way % levels.len()];
                way /= levels.len();
            }
            weaker
        })
        .collect();
    all.sort_by_key(|raise| total(raise));
    all.into_iter().find(|weaker| forbids(weaker)).unwrap_or(raise)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_of_a_size_is_chosen_once() {
        let mut chosen = vec![0, 1];
        let mut sets = vec![chosen.clone()];
        while advance(&mut chosen, 4) {
            sets.push(chosen.clone());
        }
        assert_eq!(sets, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]);
    }

    #[test]
    fn levels_are_stronger_than_the_ordering_that_an_operation_has() {
        use MemoryOrder::{AcqRel, Acquire, Relaxed, Release, SeqCst};
        assert_eq!(levels(SyncVarOp::AtomicLoad, Relaxed), [Acquire, SeqCst]);
        assert_eq!(levels(SyncVarOp::AtomicRmw, Acquire), [AcqRel, SeqCst]);
        assert_eq!(levels(SyncVarOp::AtomicRmw, Release), [AcqRel, SeqCst]);
        assert_eq!(levels(SyncVarOp::Fence, AcqRel), [SeqCst]);
        assert!(levels(SyncVarOp::AtomicStore, SeqCst).is_empty());
        assert!(levels(SyncVarOp::Choice, Relaxed).is_empty());
    }
}
