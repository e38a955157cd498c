//! Blocks and their order. A cycle in it means that no serial execution explains the results.

use intermezzo_sdk::{Context, EventId, Location, SiteId, SyncVar, SyncVarOp, TaskId};
use std::collections::{BTreeMap, VecDeque};

/// A block: its place in the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct NodeId(usize);

/// An operation in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Operation {
    /// The event, or for a cell the last one before.
    pub(super) event: EventId,
    pub(super) target: Target,
    pub(super) site: SiteId,
}

/// The action of an operation, and its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Var(SyncVarOp, SyncVar),
    /// Read or write, in words, and the location.
    Cell(&'static str, Location),
}

#[derive(Debug)]
struct Node {
    task: TaskId,
    /// The block's name; `None` for an operation by itself.
    name: Option<String>,
    /// The block's index in its task.
    ordinal: usize,
    /// The blocks that this one comes before, each with the two operations that order them; `None` if only program
    /// order does.
    before: BTreeMap<NodeId, Option<(Operation, Operation)>>,
}

/// The blocks of an execution.
#[derive(Debug, Default)]
pub(super) struct Graph {
    nodes: Vec<Node>,
    /// The last block of each task, and the task's number of blocks.
    last: BTreeMap<TaskId, (NodeId, usize)>,
    /// `true` if there is a block of more than one operation.
    blocks: bool,
}

/// A cycle of blocks. Each edge has the two operations that order its blocks.
pub(super) struct Cycle<'a> {
    graph: &'a Graph,
    edges: Vec<(NodeId, Operation, NodeId, Operation)>,
}

impl Graph {
    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        self.last.clear();
        self.blocks = false;
    }

    /// Adds the next block of a task, by its name; without a name it is an operation by itself.
    pub(super) fn add(&mut self, task: TaskId, name: Option<String>) -> NodeId {
        let node = NodeId(self.nodes.len());
        self.blocks |= name.is_some();
        let ordinal = match self.last.get(&task) {
            Some(&(before, count)) => {
                self.nodes[before.0].before.insert(node, None);
                count
            }
            None => 0,
        };
        self.last.insert(task, (node, ordinal + 1));
        self.nodes.push(Node {
            task,
            name,
            ordinal,
            before: BTreeMap::new(),
        });
        node
    }

    /// Orders one block before another, because of these operations.
    pub(super) fn order(&mut self, a: NodeId, b: NodeId, earlier: Operation, later: Operation) {
        if a == b || self.nodes[a.0].task == self.nodes[b.0].task {
            return;
        }
        let place = |(a, b): (Operation, Operation)| (a.event.index, b.event.index);
        let why = self.nodes[a.0].before.entry(b).or_default();
        if why.is_none_or(|known| place((earlier, later)) < place(known)) {
            *why = Some((earlier, later));
        }
    }

    /// Returns a shortest cycle through each block that is on any.
    pub(super) fn cycles(&self, cx: &Context<'_>) -> Vec<Cycle<'_>> {
        let suspects = if self.blocks { self.unsorted() } else { Vec::new() };
        if suspects.is_empty() {
            return Vec::new();
        }
        // In an order that depends on the trace only: by names, not by time.
        let mut order: Vec<NodeId> = (0..self.nodes.len()).map(NodeId).collect();
        order.sort_by_cached_key(|node| {
            let Node { task, ordinal, .. } = self.nodes[node.0];
            (cx.task_name(task), ordinal)
        });
        let mut ranks = vec![0; order.len()];
        for (rank, node) in order.iter().enumerate() {
            ranks[node.0] = rank;
        }
        let blocks = suspects
            .into_iter()
            .filter(|node| self.nodes[node.0].name.is_some());
        blocks.filter_map(|block| self.cycle(block, &ranks)).collect()
    }

    /// Returns the blocks that remain after repeatedly removing each block that no other comes before; none if there
    /// is no cycle (Kahn, CACM 1962).
    fn unsorted(&self) -> Vec<NodeId> {
        let mut incoming = vec![0_u32; self.nodes.len()];
        for after in self.nodes.iter().flat_map(|node| node.before.keys()) {
            incoming[after.0] += 1;
        }
        let mut free: Vec<usize> = (0..incoming.len()).filter(|node| incoming[*node] == 0).collect();
        while let Some(node) = free.pop() {
            for after in self.nodes[node].before.keys() {
                incoming[after.0] -= 1;
                if incoming[after.0] == 0 {
                    free.push(after.0);
                }
            }
        }
        let left = (0..incoming.len()).filter(|node| incoming[*node] > 0);
        left.map(NodeId).collect()
    }

    /// Returns the shortest cycle through this block; of several, the first by these ranks.
    fn cycle(&self, block: NodeId, ranks: &[usize]) -> Option<Cycle<'_>> {
        let mut from: Vec<Option<NodeId>> = vec![None; self.nodes.len()];
        let mut queue = VecDeque::from([block]);
        while let Some(node) = queue.pop_front() {
            let mut next: Vec<NodeId> = self.nodes[node.0].before.keys().copied().collect();
            next.sort_by_key(|after| ranks[after.0]);
            for after in next {
                if after == block {
                    return Some(self.walk_back(block, node, &from));
                }
                if from[after.0].is_none() {
                    from[after.0] = Some(node);
                    queue.push_back(after);
                }
            }
        }
        None
    }

    fn walk_back(&self, block: NodeId, last: NodeId, from: &[Option<NodeId>]) -> Cycle<'_> {
        let mut path = vec![block, last];
        while path[path.len() - 1] != block {
            let before = from[path[path.len() - 1].0];
            path.push(before.expect("the search began at the block"));
        }
        path.reverse();
        let edges = path.windows(2).filter_map(|pair| {
            let (earlier, later) = self.nodes[pair[0].0].before[&pair[1]]?;
            Some((pair[0], earlier, pair[1], later))
        });
        Cycle {
            graph: self,
            edges: edges.collect(),
        }
    }
}

impl Cycle<'_> {
    /// Returns the operations on it.
    pub(super) fn events(&self) -> impl Iterator<Item = EventId> {
        self.edges
            .iter()
            .flat_map(|(_, earlier, _, later)| [earlier.event, later.event])
    }

    /// Describes the edges. The text begins with the edge that is first by tasks and places, so it is the same
    /// wherever the cycle was found. Names of variables do not decide the order, because they may differ between
    /// executions of a trace.
    pub(super) fn describe(&self, cx: &Context<'_>) -> String {
        let mut parts: Vec<String> = self
            .edges
            .iter()
            .map(|(a, earlier, b, later)| {
                let (earlier, later) = (self.name(*a, earlier, cx), self.name(*b, later, cx));
                format!("{earlier} comes before {later}")
            })
            .collect();
        let place =
            |operation: &Operation| (cx.task_name(operation.event.task), cx.site_name(operation.site));
        let first = (0..parts.len()).min_by_key(|at| {
            let (_, earlier, _, later) = &self.edges[*at];
            (place(earlier), place(later))
        });
        parts.rotate_left(first.unwrap_or(0));
        parts.join("; ")
    }

    fn name(&self, node: NodeId, operation: &Operation, cx: &Context<'_>) -> String {
        let node = &self.graph.nodes[node.0];
        let (what, to) = match operation.target {
            Target::Var(op, var) => (op.name(), cx.var_name(var)),
            Target::Cell(what, location) => (what, cx.location_name(location)),
        };
        let block = node.name.as_ref().map(|name| format!(", in {name}"));
        format!(
            "{what} of {to} by {} at {}{}",
            cx.task_name(node.task),
            cx.site_name(operation.site),
            block.unwrap_or_default()
        )
    }
}
