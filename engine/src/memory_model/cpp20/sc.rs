//! The order of `SeqCst` operations, as defined by the standard in [atomics.order].
//!
//! There must be an order of all operations and fences that are `SeqCst` in which
//!
//! - an event comes after those that *strongly happen before* it: the earlier ones of its own task, and an event of
//!   another task if a later event of that task happens before an earlier event of its own;
//! - of two operations on a variable, the one that is *coherence-ordered* before the other comes first: it makes the
//!   store that the other reads, or it makes or reads an older store than the other makes or reads. A fence that
//!   happens before the first operation, or after the second, takes its place.
//!
//! The standard also says that an operation strongly happens before one with which it synchronises, if both are
//! `SeqCst`. That follows, because the two are coherence-ordered.
//!
//! A new event is the last of its task, and no other task knows it. So it comes before others only by the modification
//! order, and only if it does not read or become the newest store.

use super::{Event, Graph};
use crate::record::TaskSet;
use intermezzo_sdk::{SyncVar, TaskId};

/// The relation between the events that are `SeqCst`.
///
/// It is computed only when an operation may close a cycle in it, which is rare. It can be computed late, because later
/// events do not change the order of two events.
#[derive(Debug, Default)]
pub(super) struct ScOrder {
    /// `true` if any event is `SeqCst`.
    any: bool,
    /// The number of the graph's events that are in the relation so far.
    related: usize,
    /// The numbers of those that are `SeqCst`.
    nodes: Vec<u32>,
    /// The edges, as indexes of `nodes`.
    edges: Vec<(u32, u32)>,
    /// `true` if there are fences among the nodes.
    has_fences: bool,
}

impl ScOrder {
    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        self.edges.clear();
        (self.any, self.related, self.has_fences) = (false, 0, false);
    }

    /// Returns `true` if no event is `SeqCst`.
    pub(super) fn is_empty(&self) -> bool {
        !self.any
    }

    /// Notes that an event was added to the graph.
    pub(super) fn note(&mut self, is_sc: bool) {
        self.any |= is_sc;
    }

    /// Returns `true` if an event that is not yet in the graph would close a cycle. If it stores, it does so after the
    /// store at the place `after`.
    pub(super) fn breaks(&mut self, graph: &Graph, event: &Event, after: Option<u32>) -> bool {
        self.relate(graph);
        let mut edges = std::mem::take(&mut self.edges);
        let length = edges.len();
        let places = Places::of_new(graph, event, after);
        self.link(graph, &graph.events, event, places, &mut edges);
        let breaks = has_cycle(self.nodes.len() + usize::from(event.is_sc), &edges);
        edges.truncate(length);
        self.edges = edges;
        breaks
    }

    /// Brings the relation up to date.
    fn relate(&mut self, graph: &Graph) {
        for number in self.related..graph.events.len() {
            let event = &graph.events[number];
            if !self.nodes.is_empty() || event.is_sc {
                self.add(graph, number);
            }
        }
        self.related = graph.events.len();
    }

    /// Adds the event of this number, as if it were the last one.
    fn add(&mut self, graph: &Graph, number: usize) {
        let event = &graph.events[number];
        let mut edges = std::mem::take(&mut self.edges);
        let may_repeat = self.link(
            graph,
            &graph.events[..number],
            event,
            Places::of(graph, event),
            &mut edges,
        );
        if may_repeat {
            edges.sort_unstable();
            edges.dedup();
        }
        self.edges = edges;
        if event.is_sc {
            self.nodes.push(number as u32);
            self.has_fences |= event.is_fence;
        }
    }

    /// Adds the edges of an event that follows `events`. If it is `SeqCst`, its node is the next one. Returns `true` if
    /// edges may have been added that were there already.
    fn link(
        &self,
        graph: &Graph,
        events: &[Event],
        event: &Event,
        places: Places,
        edges: &mut Vec<(u32, u32)>,
    ) -> bool {
        let own = self.nodes.len() as u32;
        let nodes = || {
            let numbers = self.nodes.iter().map(|&number| &graph.events[number as usize]);
            (0..self.nodes.len() as u32).zip(numbers)
        };
        let others = || events.iter().filter(|other| same_var(other, event));
        // The operations on its variable that are coherence-ordered before it. They are needed only for fences.
        let earlier: Vec<&Event> = others()
            .filter(|other| self.has_fences && coherence(Places::of(graph, other), places))
            .collect();
        // The nodes of a task have edges in their order. So only the last node of each task before this event needs an
        // edge to it, and only the first node after this event an edge from it.
        let mut linked = TaskSet::default();
        for (node, other) in nodes().rev().filter(|_| event.is_sc) {
            let is_earlier = || match other.is_fence {
                true => earlier.iter().any(|first| other.before(first)),
                false => same_var(other, event) && coherence(Places::of(graph, other), places),
            };
            let comes_before = || {
                strongly_before(graph, other, event)
                    || is_earlier()
                    || event.is_fence && is_before_fence(graph, events, other, event)
            };
            if !linked.contains(other.id.task.0) && comes_before() {
                linked.insert(other.id.task.0);
                edges.push((node, own));
            }
        }
        // The operations on its variable that are coherence-ordered after it.
        let later: Vec<&Event> = others()
            .filter(|other| coherence(places, Places::of(graph, other)))
            .collect();
        let mut linked = TaskSet::default();
        for (node, other) in nodes().filter(|_| !later.is_empty()) {
            if !linked.contains(other.id.task.0) && later.iter().any(|last| ends(last, other)) {
                linked.insert(other.id.task.0);
                edges.extend(event.is_sc.then_some((own, node)));
                let fences = nodes().filter(|(_, fence)| fence.is_fence && fence.before(event));
                edges.extend(fences.map(|(fence, _)| (fence, node)));
            }
        }
        self.has_fences && !later.is_empty()
    }
}

/// Returns `true` if an event of the order is this operation, or a fence that happens before it.
fn begins(event: &Event, first: &Event) -> bool {
    event.id == first.id || event.is_fence && event.before(first)
}

/// Returns `true` if an event of the order is this operation, or a fence that happens after it.
fn ends(last: &Event, event: &Event) -> bool {
    event.id == last.id || event.is_fence && last.before(event)
}

/// Returns `true` if an event is, or takes the place of, an operation that is coherence-ordered before one that happens
/// before a new fence.
fn is_before_fence(graph: &Graph, events: &[Event], event: &Event, fence: &Event) -> bool {
    let firsts = events.iter().filter(|first| begins(event, first));
    let mut pairs = firsts.flat_map(|first| {
        let lasts = events
            .iter()
            .filter(|last| last.before(fence) && same_var(first, last));
        lasts.map(move |last| (first, last))
    });
    pairs.any(|(first, last)| {
        first.id != last.id && coherence(Places::of(graph, first), Places::of(graph, last))
    })
}

/// Returns `true` if an event strongly happens before a new one.
fn strongly_before(graph: &Graph, a: &Event, b: &Event) -> bool {
    if a.id.task == b.id.task {
        return true;
    }
    let of_task = |task: TaskId| graph.tasks.get(task.index()).map_or(&[][..], Vec::as_slice);
    let event = |&number: &u32| &graph.events[number as usize];
    let of_a = of_task(a.id.task);
    let after = of_a.partition_point(|number| event(number).id.index <= a.id.index);
    let after = of_a.get(after).map(event);
    // The last one that is in the graph.
    let mut before = of_task(b.id.task).iter().rev().map(event);
    let before = before.find(|event| event.id.index < b.id.index);
    matches!((after, before), (Some(first), Some(last)) if first.before(last))
}

/// The places in the modification order of the stores that an event reads and makes.
#[derive(Clone, Copy)]
struct Places {
    reads: Option<u32>,
    /// Twice the place, so that there is room for a new store between two others.
    writes: Option<u32>,
}

impl Places {
    fn of(graph: &Graph, event: &Event) -> Places {
        let place = |store: Option<u32>| store.map(|store| 2 * graph.vars[event.var.index()].place(store));
        Places {
            reads: place(event.reads),
            writes: place(event.writes),
        }
    }

    fn of_new(graph: &Graph, event: &Event, after: Option<u32>) -> Places {
        Places {
            writes: after.map(|place| 2 * place + 1),
            ..Places::of(graph, event)
        }
    }

    /// Returns the place of the store that it makes, or else reads.
    fn seen(self) -> Option<u32> {
        self.writes.or(self.reads)
    }
}

/// Returns `true` if the two are operations on one variable.
fn same_var(a: &Event, b: &Event) -> bool {
    a.var == b.var && a.var != SyncVar::NONE
}

/// Returns `true` if, of two operations on a variable, the first is coherence-ordered before the second.
fn coherence(a: Places, b: Places) -> bool {
    let is_before = |a: Option<u32>, b: Option<u32>| a.is_some() && a < b;
    let reads_it = a.writes.is_some() && a.writes == b.reads;
    reads_it || is_before(a.writes, b.seen()) || is_before(a.reads, b.seen())
}

/// Returns `true` if the edges form a cycle. `nodes` is the number of nodes.
fn has_cycle(nodes: usize, edges: &[(u32, u32)]) -> bool {
    let mut incoming = vec![0; nodes];
    edges.iter().for_each(|&(_, to)| incoming[to as usize] += 1);
    let mut free: Vec<u32> = (0..nodes as u32)
        .filter(|&node| incoming[node as usize] == 0)
        .collect();
    let mut removed = 0;
    while let Some(node) = free.pop() {
        removed += 1;
        for &(_, to) in edges.iter().filter(|&&(from, _)| from == node) {
            incoming[to as usize] -= 1;
            if incoming[to as usize] == 0 {
                free.push(to);
            }
        }
    }
    removed < nodes
}

#[cfg(test)]
mod tests {
    use super::super::{Cpp20, MemoryAccess, MemoryModel, MemoryOp};
    use intermezzo_sdk::{EventId, MemoryOrder, SiteId, SyncVar, SyncVarAccess, SyncVarOp, TaskId};

    /// Each operation reads all edges, so the time of an execution depends on their number.
    #[test]
    fn many_operations_have_few_edges() {
        let mut model = Cpp20::default();
        model.begin();
        let events = (1..=100).flat_map(|index| [0, 1].map(|task| (TaskId(task), index)));
        for (number, (task, index)) in (1..).zip(events) {
            let access = MemoryAccess {
                event: EventId { task, index },
                var: SyncVar(1),
                order: MemoryOrder::SeqCst,
                kind: MemoryOp::Modify,
            };
            // Each reads the store of the one before.
            let mut readable = Vec::new();
            model.readable(&access, &vec![0; number as usize], &mut readable);
            model.reads(&access, readable[0]);
            model.stores(&access, number, readable[0]);
            model.observes(&SyncVarAccess {
                event: access.event,
                var: access.var,
                op: SyncVarOp::AtomicRmw,
                order: access.order,
                read: 0,
                written: 0,
                site: SiteId(0),
                store: 0,
            });
        }
        model.sc.relate(&model.graph);
        assert_eq!(model.sc.nodes.len(), 200);
        assert!(model.sc.edges.len() < 2 * 200, "{}", model.sc.edges.len());
    }
}
