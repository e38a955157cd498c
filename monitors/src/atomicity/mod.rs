//! Atomicity violations: executions that no serial order of their blocks explains.
//!
//! **Source.** Flanagan, Freund & Yi, *Velodrome: a sound and complete dynamic atomicity checker* (PLDI 2008). With
//! `triples=true` also Lu, Tucek, Qin & Zhou, *AVIO: detecting atomicity violations via access interleaving invariants*
//! (ASPLOS 2006), as warnings.
//!
//! **Blocks** are the blocks that the test marks with `intermezzo::atomically`, and the operations of an object under
//! test (marked by `Operations`, as refinement does). With `blocks=critical-sections`, they are the steps of a task
//! from taking a lock, holding none, until it holds none again; `blocks=both` takes either. Of blocks within blocks
//! the outermost counts. An operation in no block is a block of its own.
//!
//! **What is computed.** Each execution is judged by itself. Block A comes before block B if an operation of A comes
//! before one of B in the same task, or on the same variable, and the two do not commute. An execution is equivalent
//! to one in which each block runs without interruption if and only if this order has no cycle. A finding is a
//! shortest cycle through a block. Operations are all visible ones: of atomics, locks, channels, tasks. So a block
//! with two critical sections of one lock objects to another's section in between, and one that creates a task and
//! joins it is never atomic.
//!
//! **Cells.** Accesses to plain memory that other operations put in order add nothing: that order is in the graph
//! already. Those that nothing puts in order are data races. With `cells=true` these count too, in the order in which
//! they happened; the monitor is then not reduction compatible, because executions of one trace differ in it.
//!
//! **Triples.** Two accesses of a task to one atomic (or cell, with `cells=true`) that belong together, and an access
//! of another task in between. Two accesses belong together if the task does not access the variable in between, and
//! they are in one block, or outside of blocks and at most `lines` lines apart in one file. A triple is reported in
//! the four cases that no serial order explains.
//!
//! **Differs.** Velodrome grows the graph during the execution and drops what can no longer be part of a cycle. Here
//! the graph belongs to one small execution, and is examined when that ends.
//!
//! **Misses.** Blocks without a mark; violations in executions that were not run.
//!
//! **Reduction compatible** without `cells=true`: the graph consists of the operations that do not commute, and so
//! does a trace.

mod graph;
mod triples;

use crate::arguments::{self, Argument, SWITCH, switch};
use crate::held::HeldLocks;
use crate::order::{Key, touches};
use graph::{Graph, NodeId, Operation, Target};
use intermezzo_sdk::{
    Class, Context, DataVarAccess, Execution, FindingKind, Interests, Location, Monitor, MonitorFinding,
    SyncVarAccess, SyncVarOp, TaskId, UserEvent,
};
use std::collections::{BTreeSet, HashMap};
use triples::Triples;

const NAME: &str = "atomicity";

const ARGUMENTS: [Argument<Atomicity>; 4] = [
    Argument {
        name: "blocks",
        values: "marked, critical-sections or both",
        set: |to, value| {
            (to.marked, to.sections) = match value {
                "marked" => (true, false),
                "critical-sections" => (false, true),
                "both" => (true, true),
                _ => return None,
            };
            Some(())
        },
    },
    Argument {
        name: "cells",
        values: SWITCH,
        set: |to, value| switch(&mut to.cells, value),
    },
    Argument {
        name: "triples",
        values: SWITCH,
        set: |to, value| switch(&mut to.triples_wanted, value),
    },
    Argument {
        name: "lines",
        values: "a number of lines",
        set: |to, value| value.parse().ok().map(|lines| to.triples.lines = lines),
    },
];

/// Finds atomicity violations. See the [module](self).
#[derive(Debug)]
pub struct Atomicity {
    marked: bool,
    sections: bool,
    cells: bool,
    triples_wanted: bool,
    tasks: Vec<Task>,
    held: HeldLocks,
    graph: Graph,
    /// The last accesses to each variable.
    touched: HashMap<Key, Touched>,
    /// The accesses to each location that no later write has covered.
    cell_accesses: HashMap<Location, Vec<(DataVarAccess, NodeId, Operation)>>,
    triples: Triples,
}

/// The state of a task.
#[derive(Debug, Default)]
struct Task {
    /// The block that it is in.
    block: Option<NodeId>,
    /// The number of marked blocks that it is in.
    marks: u32,
    /// The name of the outermost of them.
    name: String,
}

/// The accesses to a variable that a next one may have to follow. Consecutive accesses that commute form a run, and
/// all of a run come before all of the next.
#[derive(Debug, Default)]
struct Touched {
    class: Option<Class>,
    run: Vec<(NodeId, Operation)>,
    run_before: Vec<(NodeId, Operation)>,
}

impl Default for Atomicity {
    fn default() -> Self {
        Atomicity::new()
    }
}

impl Atomicity {
    /// Creates a monitor that judges marked blocks.
    pub fn new() -> Atomicity {
        Atomicity {
            marked: true,
            sections: false,
            cells: false,
            triples_wanted: false,
            tasks: Vec::new(),
            held: HeldLocks::default(),
            graph: Graph::default(),
            touched: HashMap::new(),
            cell_accesses: HashMap::new(),
            triples: Triples::default(),
        }
    }

    /// Creates the monitor with arguments: `blocks=marked`, `critical-sections` or `both`; `cells=true`;
    /// `triples=true`, `lines=3`.
    ///
    /// # Errors
    /// If there is no such argument, or it cannot have that value.
    pub fn with_arguments(arguments: &str) -> Result<Atomicity, String> {
        arguments::with(Atomicity::new(), NAME, &ARGUMENTS, arguments)
    }

    fn task(&mut self, task: TaskId) -> &mut Task {
        if self.tasks.len() <= task.index() {
            self.tasks.resize_with(task.index() + 1, Task::default);
        }
        &mut self.tasks[task.index()]
    }

    /// `true` if the task is in a block.
    fn inside(&mut self, task: TaskId) -> bool {
        self.task(task).marks > 0 || self.sections && !self.held.of(task).is_empty()
    }

    /// Returns the block of an operation of this task: the one that it is in, or one of its own.
    fn node(&mut self, task: TaskId, in_block: bool, cx: &Context<'_>) -> NodeId {
        if !in_block {
            return self.graph.add(task, None);
        }
        if let Some(node) = self.task(task).block {
            return node;
        }
        let name = match self.task(task).marks {
            0 => {
                let lock = self.held.of(task).first().map(|held| cx.var_name(held.lock));
                format!("its section of {}", lock.unwrap_or_default())
            }
            _ => format!("`{}`", self.task(task).name),
        };
        let node = self.graph.add(task, Some(name));
        self.task(task).block = Some(node);
        node
    }

    /// Begins a marked block. Within another block it is part of that one.
    fn begin_block(&mut self, id: TaskId, name: &str) {
        let task = self.task(id);
        task.marks += 1;
        if task.marks == 1 {
            task.name = name.to_owned();
        }
    }

    /// Ends a marked block.
    fn end_block(&mut self, id: TaskId) {
        let task = self.task(id);
        task.marks = task.marks.saturating_sub(1);
        if !self.inside(id) {
            self.task(id).block = None;
        }
    }

    /// Records that the operation has accessed the variable, in this block.
    fn touch(&mut self, key: Key, class: Class, node: NodeId, operation: Operation) {
        let touched = self.touched.entry(key).or_default();
        if !touched.class.is_some_and(|run| run.commutes(class)) {
            touched.run_before = std::mem::take(&mut touched.run);
            touched.class = Some(class);
        }
        for (before, earlier) in &touched.run_before {
            self.graph.order(*before, node, *earlier, operation);
        }
        touched.run.push((node, operation));
    }

    fn access_cell(&mut self, access: &DataVarAccess, node: NodeId, operation: Operation) {
        let accesses = self.cell_accesses.entry(access.location).or_default();
        for (before, block, earlier) in accesses.iter() {
            if before.conflicts(access) {
                self.graph.order(*block, node, *earlier, operation);
            }
        }
        if access.is_write {
            let end = |access: &DataVarAccess| u64::from(access.offset) + u64::from(access.size);
            accesses.retain(|(before, ..)| before.offset < access.offset || end(before) > end(access));
        }
        accesses.push((*access, node, operation));
    }
}

impl Monitor for Atomicity {
    fn name(&self) -> &str {
        NAME
    }

    fn interests(&self) -> Interests {
        let cells = if self.cells {
            Interests::DATA_ACCESSES
        } else {
            Interests::NONE
        };
        Interests::SYNC_ACCESSES | Interests::USER_EVENTS | cells
    }

    fn reduction_compatible(&self) -> bool {
        !self.cells
    }

    fn on_execution_begin(&mut self, _: &Execution<'_>) {
        self.tasks.clear();
        self.held.clear();
        self.graph.clear();
        self.touched.clear();
        self.cell_accesses.clear();
        self.triples.clear();
    }

    fn on_sync_var_access(&mut self, access: &SyncVarAccess, cx: &mut Context<'_>) {
        let task = access.event.task;
        match access.op {
            SyncVarOp::OperationCall | SyncVarOp::OperationReturn if !self.marked => return,
            SyncVarOp::OperationCall => {
                return self.begin_block(task, &format!("operation {}", access.written));
            }
            SyncVarOp::OperationReturn => return self.end_block(task),
            _ => {}
        }
        let was_inside = self.inside(task);
        self.held.add(access);
        let is_inside = self.inside(task);
        let node = self.node(task, was_inside || is_inside, cx);
        let operation = Operation {
            event: access.event,
            target: Target::Var(access.op, access.var),
            site: access.site,
        };
        for (key, class) in touches(access) {
            self.touch(key, class, node, operation);
        }
        if self.triples_wanted {
            let block = self.task(task).block;
            self.triples.access(access, block, cx);
        }
        if !is_inside {
            self.task(task).block = None;
        }
    }

    fn on_data_var_access(&mut self, access: &DataVarAccess, cx: &mut Context<'_>) {
        let task = access.after.task;
        let inside = self.inside(task);
        let node = self.node(task, inside, cx);
        let operation = Operation {
            event: access.after,
            target: Target::Cell(access.name(), access.location),
            site: access.site,
        };
        self.access_cell(access, node, operation);
        if self.triples_wanted {
            let block = self.task(task).block;
            self.triples.access_cell(access, block, cx);
        }
    }

    fn on_user_event(&mut self, event: &UserEvent<'_>, _: &mut Context<'_>) {
        if !self.marked {
            return;
        }
        if let Some(name) = event.begins_block() {
            self.begin_block(event.after.task, name);
        } else if event.ends_block() {
            self.end_block(event.after.task);
        }
    }

    fn on_execution_end(&mut self, _: &Execution<'_>, cx: &mut Context<'_>) {
        let mut told = BTreeSet::new();
        for cycle in self.graph.cycles(cx) {
            let text = cycle.describe(cx);
            if told.insert(text.clone()) {
                cx.report(
                    MonitorFinding::new(FindingKind::Atomicity, format!("not atomic: {text}"))
                        .events(cycle.events())
                        .suggest("make the block one operation, or hold one lock all through it"),
                );
            }
        }
        for report in self.triples.reports() {
            cx.report(report);
        }
    }
}
