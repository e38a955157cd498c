//! Orderings that are raised, for suggestions of stronger orderings.

use crate::memory_model::RaisedOrders;
use crate::runtime::naming::site_name;
use crate::site::Site;
use intermezzo_sdk::{EventId, MemoryOrder, SyncVarOp};
use std::collections::BTreeMap;

/// The orderings that are raised.
#[derive(Default)]
pub(super) struct Raised {
    orders: RaisedOrders,
    /// The names of the places of operations, by word. They are expensive to make.
    names: BTreeMap<usize, String>,
    /// The orderings that the program itself gives to the raised operations of this execution, by event and kind.
    own: BTreeMap<(EventId, u32), MemoryOrder>,
}

impl Raised {
    pub(super) fn new(orders: RaisedOrders) -> Raised {
        Raised {
            orders,
            ..Raised::default()
        }
    }

    /// Returns `true` if no ordering is raised.
    pub(super) fn is_empty(&self) -> bool {
        self.orders.is_empty()
    }

    /// Begins an execution.
    pub(super) fn begin(&mut self) {
        self.own.clear();
    }

    /// Returns the ordering of an operation: a stronger one if the ordering at its place is raised, otherwise its own.
    pub(super) fn order(
        &mut self,
        event: EventId,
        op: SyncVarOp,
        site: Site,
        own: MemoryOrder,
    ) -> MemoryOrder {
        if self.is_empty() {
            return own;
        }
        let name = self.names.entry(site.word()).or_insert_with(|| site_name(site));
        let raised = self.orders.order(op, name, own);
        if raised != own {
            self.own.insert((event, op as u32), own);
        }
        raised
    }

    /// Returns the ordering that the program itself gives to an operation, if it was raised.
    pub(super) fn own(&self, event: EventId, op: SyncVarOp) -> Option<MemoryOrder> {
        self.own.get(&(event, op as u32)).copied()
    }
}
