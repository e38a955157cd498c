//! The order in which tasks run: free, or by strict priorities.
//!
//! Free: if the running task cannot continue, each other task is tried. If it can, taking another one is a preemption.
//!
//! Strict (Bindal, Bansal and Lal, algorithm 1): the task with the highest priority runs, and one that becomes enabled
//! and has a higher priority takes over at no cost. A preemption gives the running task the priority of a new fragment.
//! If that is still the highest, nothing changes, so it is not tried. Many orders of priorities agree up to some point,
//! and are explored together up to there. Each choice divides them by the task that has the highest priority. So an
//! execution that several orders have in common is run only once.
//!
//! Differs: time-outs have no priority. As in the other searches, they are tried where the running task cannot
//! continue, and are preemptions elsewhere.

use super::permutations::{Fragment, priority};
use intermezzo_engine::schedule::ChoiceKind;
use intermezzo_engine::strategy::ChoicePoint;
use smallvec::SmallVec;
use std::sync::Arc;

/// The number of times that a task may yield before those that have not yielded as often come before it. It is the
/// paper's number.
const YIELDS_MAX: u32 = 100;

/// A set of orders of priorities that are explored together.
#[derive(Clone)]
enum Family {
    /// All orders in which the first fragment of each pair is above the second. The pairs are sorted, and the relation
    /// is transitively closed.
    All(Arc<[(Fragment, Fragment)]>),
    /// The orders with these numbers.
    Drawn { seed: u64, orders: Arc<[u64]> },
}

/// Strict priorities.
pub(super) struct Strict {
    family: Family,
    /// The tasks that were preempted, each with the number of its last preemption.
    preempted: Arc<[(u32, u32)]>,
}

/// The orders in which tasks run.
#[derive(Clone)]
pub(super) enum Orders {
    Free,
    Strict(Arc<Strict>),
}

/// One way to continue: the alternative that is taken, and the orders from there on.
pub(super) struct Way {
    pub(super) taken: u32,
    pub(super) orders: Orders,
}

/// The ways that preempt the running task.
pub(super) enum Preempting {
    /// All but the first of this many alternatives, in the free order.
    Others(u32),
    /// These ways.
    These(SmallVec<[Way; 2]>),
}

impl Default for Preempting {
    fn default() -> Preempting {
        Preempting::These(SmallVec::new())
    }
}

impl Preempting {
    /// Calls `each` with each way.
    pub(super) fn for_each(self, mut each: impl FnMut(Way)) {
        match self {
            Preempting::Others(alternatives) => (1..alternatives).for_each(|taken| {
                each(Way {
                    taken,
                    orders: Orders::Free,
                });
            }),
            Preempting::These(ways) => ways.into_iter().for_each(each),
        }
    }
}

/// The ways to continue from a choice.
#[derive(Default)]
pub(super) struct Ways {
    /// The ways that cost no preemption. There is always one.
    pub(super) free: SmallVec<[Way; 2]>,
    /// The ways that preempt the running task.
    pub(super) preempting: Preempting,
    /// `true` if there are ways that preempt, in these orders or in others.
    pub(super) could_preempt: bool,
}

impl Orders {
    /// Returns every order of priorities.
    pub(super) fn all() -> Orders {
        Orders::Strict(Arc::new(Strict {
            family: Family::All(Arc::default()),
            preempted: Arc::default(),
        }))
    }

    /// Returns the orders with these numbers, drawn with this seed.
    pub(super) fn drawn(seed: u64, orders: impl IntoIterator<Item = u64>) -> Orders {
        let orders = orders.into_iter().collect();
        Orders::Strict(Arc::new(Strict {
            family: Family::Drawn { seed, orders },
            preempted: Arc::default(),
        }))
    }

    /// Returns the ways to continue from a choice of an execution that has this many preemptions.
    pub(super) fn ways(&self, point: &ChoicePoint<'_>, preemptions: u32) -> Ways {
        let all = |alternatives: std::ops::Range<u32>| {
            let way = |taken| Way {
                taken,
                orders: self.clone(),
            };
            alternatives.map(way).collect()
        };
        match self {
            Orders::Strict(strict) if point.kind == ChoiceKind::Task => strict.ways(point, preemptions),
            _ if point.preempts => Ways {
                free: all(0..1),
                preempting: Preempting::Others(point.alternatives),
                could_preempt: true,
            },
            _ => Ways {
                free: all(0..point.alternatives),
                ..Ways::default()
            },
        }
    }
}

/// A task that could run, and its alternative.
type Contender = (u32, u32);

impl Strict {
    fn ways(&self, point: &ChoicePoint<'_>, preemptions: u32) -> Ways {
        let mut contenders: SmallVec<[Contender; 8]> = SmallVec::new();
        let mut time_outs: SmallVec<[u32; 4]> = SmallVec::new();
        let mut alternative = 0;
        point.for_each_task(|task| {
            if point.is_enabled(task.0) {
                contenders.push((task.0, alternative));
            } else {
                time_outs.push(alternative);
            }
            alternative += 1;
        });
        let fresh = |&(task, _): &Contender| point.yields(task) <= YIELDS_MAX;
        if contenders.iter().any(fresh) {
            contenders.retain(|contender| fresh(contender));
        }
        let mut ways = Ways::default();
        let mut preempting = SmallVec::new();
        for &(task, taken) in &contenders {
            let Some(family) = self.with_highest(task, &contenders) else {
                continue;
            };
            if point.preempts && taken == 0 {
                ways.could_preempt |= contenders.len() > 1;
                let next = self.preempting(task, preemptions + 1, family.clone());
                let others = contenders.iter().filter(|(other, _)| *other != task);
                preempting.extend(others.filter_map(|&(other, taken)| {
                    let family = next.with_highest(other, &contenders)?;
                    Some(next.way(taken, family))
                }));
            }
            ways.free.push(self.way(taken, family));
        }
        let time_outs = time_outs
            .into_iter()
            .map(|taken| self.way(taken, self.family.clone()));
        if point.preempts {
            ways.could_preempt |= time_outs.len() > 0;
            preempting.extend(time_outs);
        } else {
            ways.free.extend(time_outs);
        }
        ways.preempting = Preempting::These(preempting);
        ways
    }

    fn way(&self, taken: u32, family: Family) -> Way {
        Way {
            taken,
            orders: Orders::Strict(Arc::new(Strict {
                family,
                preempted: self.preempted.clone(),
            })),
        }
    }

    /// Returns the orders of this family after the preemption with this number, which preempts this task.
    fn preempting(&self, task: u32, preemption: u32, family: Family) -> Strict {
        let others = self.preempted.iter().filter(|(other, _)| *other != task);
        Strict {
            family,
            preempted: others.copied().chain([(task, preemption)]).collect(),
        }
    }

    fn fragment(&self, task: u32) -> Fragment {
        let preempted = self.preempted.iter().find(|(other, _)| *other == task);
        preempted.map_or(Fragment::of_task(task), |&(_, preemption)| {
            Fragment::after_preemption(preemption)
        })
    }

    /// Returns the orders in which this task has the highest priority of the contenders; `None` if there are none.
    fn with_highest(&self, task: u32, contenders: &[Contender]) -> Option<Family> {
        let highest = self.fragment(task);
        let others = || {
            let others = contenders.iter().filter(|(other, _)| *other != task);
            others.map(|(other, _)| self.fragment(*other))
        };
        match &self.family {
            Family::All(above) => {
                if others().any(|other| above.binary_search(&(other, highest)).is_ok()) {
                    return None;
                }
                let mut more = above.to_vec();
                others().for_each(|other| put_above(&mut more, highest, other));
                Some(Family::All(more.into()))
            }
            Family::Drawn { seed, orders } => {
                let is_highest = |order: &u64| {
                    let own = priority(*seed, *order, highest);
                    others().all(|other| priority(*seed, *order, other) < own)
                };
                let orders: Arc<[u64]> = orders.iter().copied().filter(is_highest).collect();
                let seed = *seed;
                (!orders.is_empty()).then_some(Family::Drawn { seed, orders })
            }
        }
    }
}

/// Puts `high` above `low`, and keeps the relation transitive: everything above `high` is then above everything below
/// `low`.
fn put_above(above: &mut Vec<(Fragment, Fragment)>, high: Fragment, low: Fragment) {
    if above.binary_search(&(high, low)).is_ok() {
        return;
    }
    let higher: Vec<Fragment> = above
        .iter()
        .filter(|pair| pair.1 == high)
        .map(|pair| pair.0)
        .collect();
    let lower: Vec<Fragment> = above
        .iter()
        .filter(|pair| pair.0 == low)
        .map(|pair| pair.1)
        .collect();
    for &high in higher.iter().chain([&high]) {
        for &low in lower.iter().chain([&low]) {
            if let Err(at) = above.binary_search(&(high, low)) {
                above.insert(at, (high, low));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn above_is_closed() {
        let [a, b, c, d] = [0, 1, 2, 3].map(Fragment::of_task);
        let mut above = Vec::new();
        put_above(&mut above, a, b);
        put_above(&mut above, c, d);
        put_above(&mut above, b, c);
        assert_eq!(above, [(a, b), (a, c), (a, d), (b, c), (b, d), (c, d)]);
        put_above(&mut above, a, d);
        assert_eq!(above.len(), 6);
    }
}
