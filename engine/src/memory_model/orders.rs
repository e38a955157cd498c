//! Stronger orderings at places in the source, to see which failures they would fix.

use intermezzo_sdk::{MemoryOrder, SyncVarOp};

/// Stronger orderings for operations at places in the source. All other operations keep theirs.
///
/// ```
/// use intermezzo_engine::memory_model::{RaisedOrder, RaisedOrders};
/// use intermezzo_sdk::{MemoryOrder, SyncVarOp};
///
/// let raised = RaisedOrders::from(vec![RaisedOrder {
///     op: SyncVarOp::AtomicStore,
///     site: "src/queue.rs:3:5".into(),
///     order: MemoryOrder::Release,
/// }]);
/// let order = |site| raised.order(SyncVarOp::AtomicStore, site, MemoryOrder::Relaxed);
/// assert_eq!(order("src/queue.rs:3:5"), MemoryOrder::Release);
/// assert_eq!(order("src/queue.rs:4:5"), MemoryOrder::Relaxed);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RaisedOrders {
    list: Vec<RaisedOrder>,
}

/// A stronger ordering for the operations of one kind at a place in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaisedOrder {
    /// The kind. A compare-exchange has two orderings: that of its failures belongs to `AtomicRmwFailed`.
    pub op: SyncVarOp,
    /// The place, as `file:line:column`.
    pub site: String,
    /// The ordering that the operation has in addition to its own.
    pub order: MemoryOrder,
}

impl RaisedOrders {
    /// Returns `true` if no ordering is raised.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the ordering of an operation at this place, whose own ordering is `own`.
    pub fn order(&self, op: SyncVarOp, site: &str, own: MemoryOrder) -> MemoryOrder {
        let is_of = |raised: &&RaisedOrder| raised.op == op && raised.site == site;
        let raised = self.list.iter().filter(is_of);
        raised.fold(own, |order, raised| order.join(raised.order))
    }
}

impl From<Vec<RaisedOrder>> for RaisedOrders {
    fn from(list: Vec<RaisedOrder>) -> RaisedOrders {
        RaisedOrders { list }
    }
}
