//! The operations of an execution with the stores that they read: enough to find the stores that were newer, and the
//! orderings that would forbid the execution.

use super::{Cpp20, MemoryAccess, MemoryModel, MemoryOp, RaisedOrders};
use intermezzo_sdk::{EventId, MemoryOrder, SyncVar, SyncVarAccess, SyncVarOp};

/// An execution under a memory model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecutionGraph {
    /// The events, and the values that were written without one, in order.
    pub(crate) nodes: Vec<Node>,
    /// The places in the source, as `file:line:column`.
    pub(crate) places: Vec<String>,
    /// The values of the stores to each variable, by number.
    pub(crate) values: Vec<Vec<u64>>,
}

/// A node of an execution graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    /// An event, with its stores if it is an operation on an atomic. `site` is an index in the table of places.
    Event(SyncVarAccess, Option<Performed>),
    /// A value that was written to a variable without an operation.
    Overwrite(SyncVar),
}

/// An operation on an atomic, with the stores that were chosen for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Performed {
    pub(crate) kind: MemoryOp,
    /// The store that it reads.
    pub(crate) reads: Option<u32>,
    /// The store that its own store directly follows, if it stores.
    pub(crate) after: Option<u32>,
}

/// An operation that read or directly followed a store that was not the newest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StaleOperation {
    /// The operation that made the store that was read; `None` for a value that no operation has stored, and for an
    /// operation that reads nothing.
    pub from: Option<EventId>,
    /// The operations whose stores are newer, oldest first. All of them were performed earlier.
    pub newer: Vec<EventId>,
}

/// The stores to a variable, by number: the operation that made each, and their modification order.
#[derive(Clone, Default)]
struct Order {
    makers: Vec<Option<EventId>>,
    order: Vec<u32>,
}

impl Order {
    fn add(&mut self, maker: Option<EventId>, after: Option<u32>) {
        let place = after.and_then(|after| self.order.iter().position(|&store| store == after));
        let at = place.map_or(self.order.len(), |place| place + 1);
        self.order.insert(at, self.makers.len() as u32);
        self.makers.push(maker);
    }

    /// Returns the makers of the stores that are newer than this one.
    fn newer(&self, store: u32) -> Vec<EventId> {
        let after = self.order.iter().skip_while(|&&other| other != store).skip(1);
        after.filter_map(|&store| self.makers[store as usize]).collect()
    }
}

impl ExecutionGraph {
    /// Returns each operation on an atomic and each fence: the kind, the place, and the ordering.
    pub fn orders(&self) -> impl Iterator<Item = (SyncVarOp, &str, MemoryOrder)> {
        self.nodes.iter().filter_map(|node| match node {
            Node::Event(access, performed) if performed.is_some() || access.op == SyncVarOp::Fence => {
                Some((access.op, self.place(access), access.order))
            }
            _ => None,
        })
    }

    fn place(&self, access: &SyncVarAccess) -> &str {
        self.places.get(access.site.0 as usize).map_or("", String::as_str)
    }

    /// Returns the stale operations, in order.
    pub fn stale_operations(&self) -> Vec<(EventId, StaleOperation)> {
        let mut vars = vec![Order::default(); self.values.len()];
        let mut stale = Vec::new();
        for node in &self.nodes {
            let (access, performed) = match node {
                Node::Event(access, Some(performed)) => (access, performed),
                Node::Event(_, None) => continue,
                Node::Overwrite(var) => {
                    vars[var.index()].add(None, None);
                    continue;
                }
            };
            let var = &mut vars[access.var.index()];
            if var.makers.is_empty() {
                var.add(None, None);
            }
            if let Some(store) = performed.reads.or(performed.after) {
                let newer = var.newer(store);
                let from = performed.reads.and_then(|read| var.makers[read as usize]);
                if !newer.is_empty() {
                    stale.push((access.event, StaleOperation { from, newer }));
                }
            }
            if performed.after.is_some() {
                var.add(Some(access.event), performed.after);
            }
        }
        stale
    }

    /// Returns `true` if the memory model of C++20 allows this execution with stronger orderings, too. Every operation
    /// then reads the same value, so the test behaves in the same way.
    pub fn is_allowed(&self, raised: &RaisedOrders) -> bool {
        self.perform(raised).is_some()
    }

    /// Returns `true` if, with stronger orderings, `earlier` happens before `later` in this execution, or the execution
    /// is not allowed.
    pub fn is_ordered(&self, raised: &RaisedOrders, earlier: EventId, later: EventId) -> bool {
        self.perform(raised)
            .is_none_or(|model| model.happens_before(earlier, later))
    }

    /// Performs this execution with stronger orderings. Returns the model at its end; `None` if the model does not
    /// allow the execution.
    fn perform(&self, raised: &RaisedOrders) -> Option<Cpp20> {
        let mut model = Cpp20::default();
        model.begin();
        let mut stores = vec![0; self.values.len()];
        for node in &self.nodes {
            let (mut access, performed) = match node {
                Node::Event(access, performed) => (*access, performed),
                Node::Overwrite(var) => {
                    stores[var.index()] += 1;
                    model.overwrites(*var);
                    continue;
                }
            };
            access.order = raised.order(access.op, self.place(&access), access.order);
            if let Some(performed) = performed {
                let store = &mut stores[access.var.index()];
                // Number 0 is the initial value.
                *store = (*store).max(1);
                if !self.takes(&mut model, &access, performed, *store) {
                    return None;
                }
                *store += u32::from(performed.after.is_some());
            }
            model.observes(&access);
        }
        Some(model)
    }

    /// Performs an operation with the stores that were chosen for it; `next` is the number of its own store. Returns
    /// `false` if the model does not allow that.
    fn takes(&self, model: &mut Cpp20, access: &SyncVarAccess, performed: &Performed, next: u32) -> bool {
        let failure = access.order;
        let access = MemoryAccess {
            event: access.event,
            var: access.var,
            order: access.order,
            kind: match performed.kind {
                MemoryOp::Exchange { expected, weak, .. } => MemoryOp::Exchange {
                    expected,
                    failure,
                    weak,
                },
                MemoryOp::FailedExchange { .. } => MemoryOp::FailedExchange { failure },
                kind => kind,
            },
        };
        let values = &self.values[access.var.index()];
        let mut listed = Vec::new();
        let taken = match (performed.reads, performed.after) {
            (Some(read), _) => {
                model.readable(&access, values, &mut listed);
                read
            }
            (None, Some(after)) => {
                model.places(&access, &mut listed);
                after
            }
            (None, None) => return true,
        };
        if !listed.contains(&taken) || !model.is_consistent(&access, values, taken) {
            return false;
        }
        if let Some(read) = performed.reads {
            model.reads(&access, read);
        }
        if let Some(after) = performed.after {
            model.stores(&access, next, after);
        }
        true
    }
}
