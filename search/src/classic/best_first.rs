//! Best-first search: the next execution continues the unexplored prefix that ranks first by the chosen priority
//! functions.
//!
//! Like CHESS's best-first search, it has a queue of prefixes, and functions that order it, one after the other or as
//! sums. An execution begins with the first prefix of the queue, and takes the default alternatives after it. Each
//! other alternative that it had at these choices is a new prefix. So every execution is run once, in some order, and
//! the search is complete when the queue is empty. Among equal ranks, the prefix found last is taken first, which keeps
//! the queue short.
//!
//! Memory: the choices of each execution that has prefixes in the queue. The length of the queue is limited. When it is
//! full, the last prefixes are dropped, and the report states their number.

use super::{Prefix, Priorities};
use intermezzo_engine::schedule::{Choice, ChoiceKind};
use intermezzo_engine::strategy::{ChoicePoint, Coverage, Operation, Plan, SoFar, Status, Strategy};
use intermezzo_engine::trace::Trace;
use intermezzo_sdk::{SyncVar, TaskId};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A search that runs executions in the order of the ranks of their prefixes.
pub struct BestFirst {
    priorities: Priorities,
    preemptions_max: Option<u32>,
    prefixes_max: usize,
    /// The unexplored prefixes. The first one is explored next.
    open: BTreeMap<Key, Item>,
    /// The number of prefixes found so far.
    found: u64,
    /// The number of executions that have been begun.
    round: u64,
    /// The number of prescribed choices of the current execution, the number of preemptions in them, and the data of
    /// each choice after them.
    fixed: usize,
    fixed_preemptions: u32,
    points: Vec<Point>,
    /// The operations that the alternatives of these choices continue with, one after the other.
    operations: Vec<Option<Operation>>,
    /// `true` if some alternative beyond the preemption bound was left out.
    left_out: bool,
    /// The number of prefixes that were dropped because the queue was full.
    dropped: u64,
}

/// The ranks of a prefix, the deciding one first, and its number: among equal ranks, the prefix found last comes first.
type Key = (Box<[i64]>, Reverse<u64>);

/// A choice of the current execution.
struct Point {
    /// The index of the operations of its alternatives in `BestFirst::operations`; `None` if it is not about tasks.
    operations_at: Option<usize>,
    /// A hash of the next operations of the enabled tasks; 0 if it is not about tasks.
    state: u64,
    /// `true` if the test prefers preemptions there.
    preferred: bool,
    /// The number of context switches before it.
    context_switches: u64,
    /// The task that took the last step.
    running: TaskId,
}

/// An unexplored prefix.
struct Item {
    /// The execution that it branches off from, and the index of the choice at which it does.
    execution: Arc<[Choice]>,
    at: usize,
    taken: u32,
    preemptions: u32,
    context_switches: u64,
    chosen_task: ChosenTask,
    /// The round in which it was last ranked.
    ranked_in: u64,
}

impl Item {
    fn prefix(&self) -> Prefix<'_> {
        Prefix {
            before: &self.execution[..self.at],
            last: Choice {
                taken: self.taken,
                ..self.execution[self.at]
            },
            preemptions: self.preemptions,
            context_switches: self.context_switches,
            operation: self.chosen_task.operation,
            left: self.chosen_task.left,
            conflicts: self.chosen_task.conflicts,
            state: self.chosen_task.state,
            preferred: self.chosen_task.preferred,
        }
    }
}

/// The task that a choice takes, and what is known of the other tasks. Everything is empty if the choice is not about
/// tasks.
#[derive(Clone, Copy, Default)]
struct ChosenTask {
    operation: Option<Operation>,
    left: Option<Operation>,
    conflicts: u32,
    state: u64,
    preferred: bool,
}

impl ChosenTask {
    /// Returns the task that this alternative of a choice takes. `operations` has the operations of all its
    /// alternatives.
    fn new(point: &Point, operations: &[Option<Operation>], alternative: u32) -> ChosenTask {
        let Some(operation) = operations[alternative as usize] else {
            return ChosenTask::default();
        };
        let others = || {
            operations
                .iter()
                .flatten()
                .filter(|next| next.task != operation.task)
        };
        ChosenTask {
            operation: Some(operation),
            left: others().find(|next| next.task == point.running).copied(),
            conflicts: others().filter(|next| conflict(next, &operation)).count() as u32,
            state: point.state,
            preferred: point.preferred && alternative > 0,
        }
    }
}

/// Returns a hash of the next operations of tasks that does not depend on the order of the tasks. It differs between
/// processes.
fn state(operations: &[Option<Operation>]) -> u64 {
    let of_task = |next: &Operation| {
        let parts = [
            next.task.0 as usize,
            next.op as usize,
            next.var.0 as usize,
            next.site.word(),
        ];
        // FNV-1a by words, with the last step of SplitMix64.
        let hash = parts.iter().fold(0xCBF2_9CE4_8422_2325_u64, |hash, &part| {
            (hash ^ part as u64).wrapping_mul(0x0000_0100_0000_01B3)
        });
        (hash ^ hash >> 31).wrapping_mul(0x94D0_49BB_1331_11EB)
    };
    let numbers = operations.iter().flatten().map(of_task);
    numbers.fold(0, u64::wrapping_add)
}

/// Returns `true` if the order of the two operations may make a difference.
fn conflict(a: &Operation, b: &Operation) -> bool {
    a.var == b.var && a.var != SyncVar::NONE && (a.op.is_write() || b.op.is_write())
}

impl BestFirst {
    /// Returns a search in this order, with at most `preemptions_max` preemptions in an execution, if that is given,
    /// and at most `prefixes_max` prefixes in its queue.
    pub fn new(priorities: Priorities, preemptions_max: Option<u32>, prefixes_max: usize) -> BestFirst {
        BestFirst {
            priorities,
            preemptions_max,
            prefixes_max,
            open: BTreeMap::new(),
            found: 0,
            round: 0,
            fixed: 0,
            fixed_preemptions: 0,
            points: Vec::new(),
            operations: Vec::new(),
            left_out: false,
            dropped: 0,
        }
    }

    /// Returns the task that runs next if this alternative of a choice is taken.
    fn chosen_task(&self, point: &Point, choice: &Choice, alternative: u32) -> ChosenTask {
        match point.operations_at {
            None => ChosenTask::default(),
            Some(at) => {
                let operations = &self.operations[at..at + choice.alternatives as usize];
                ChosenTask::new(point, operations, alternative)
            }
        }
    }

    /// Returns the prefix that takes another alternative at a choice of an execution.
    fn item(
        &self,
        execution: &Arc<[Choice]>,
        at: usize,
        point: &Point,
        taken: u32,
        preemptions: u32,
    ) -> Item {
        let chosen_task = self.chosen_task(point, &execution[at], taken);
        let switches = chosen_task
            .operation
            .is_some_and(|operation| operation.task != point.running);
        Item {
            execution: execution.clone(),
            at,
            taken,
            preemptions: preemptions + execution[at].cost(taken),
            context_switches: point.context_switches + u64::from(switches),
            chosen_task,
            ranked_in: self.round,
        }
    }

    /// Makes a prefix of every alternative that the last execution did not take after its own prefix.
    fn expand(&mut self, choices: &[Choice]) {
        let execution: Arc<[Choice]> = choices.into();
        let mut preemptions = self.fixed_preemptions;
        let points = std::mem::take(&mut self.points);
        // The execution may have more choices than there are points, because a depth bound shows this search only the
        // first choices.
        let fixed = self.fixed;
        let beyond = || choices.iter().enumerate().skip(fixed).zip(&points);
        for ((at, choice), point) in beyond() {
            let item = self.item(&execution, at, point, choice.taken, preemptions);
            self.learn(&item);
            preemptions += choice.cost(choice.taken);
        }
        preemptions = self.fixed_preemptions;
        for ((at, choice), point) in beyond() {
            // The first alternative is added last, so that among equal ranks it is taken first.
            for taken in (0..choice.alternatives)
                .rev()
                .filter(|&taken| taken != choice.taken)
            {
                let item = self.item(&execution, at, point, taken, preemptions);
                match self.preemptions_max {
                    Some(most) if item.preemptions > most => self.left_out = true,
                    _ => self.open(item),
                }
            }
            preemptions += choice.cost(choice.taken);
        }
        self.points = points;
    }

    /// Lets the priority functions learn from a prefix with which an execution begins.
    fn learn(&mut self, item: &Item) {
        if item.chosen_task.operation.is_some() {
            self.priorities.learn(&item.prefix());
        }
    }

    /// Puts a prefix into the queue, and drops the last one if the queue is full.
    fn open(&mut self, item: Item) {
        let rank = self.priorities.rank(&item.prefix());
        self.found += 1;
        self.open.insert((rank, Reverse(self.found)), item);
        if self.open.len() > self.prefixes_max {
            self.open.pop_last();
            self.dropped += 1;
        }
    }

    /// Removes and returns the prefix that ranks first. Its rank may have grown since it was computed, so it is
    /// computed again, once for each execution.
    fn pop(&mut self) -> Option<Item> {
        loop {
            let ((rank, found), mut item) = self.open.pop_first()?;
            if item.ranked_in == self.round {
                return Some(item);
            }
            item.ranked_in = self.round;
            let now = self.priorities.rank(&item.prefix());
            if now <= rank {
                return Some(item);
            }
            self.open.insert((now, found), item);
        }
    }
}

impl Strategy for BestFirst {
    fn next(&mut self, plan: &mut Plan, _: &Trace) -> bool {
        self.round += 1;
        if self.round == 1 {
            plan.truncate(0);
            return true;
        }
        self.expand(plan.choices());
        self.points.clear();
        self.operations.clear();
        let Some(item) = self.pop() else {
            return false;
        };
        self.learn(&item);
        let mut prefix = item.execution[..=item.at].to_vec();
        prefix[item.at].taken = item.taken;
        self.fixed = prefix.len();
        self.fixed_preemptions = item.preemptions;
        plan.replace(&prefix);
        true
    }

    fn choose(&mut self, point: &ChoicePoint<'_>) -> Option<u32> {
        let is_task = point.kind == ChoiceKind::Task;
        let at = self.operations.len();
        if is_task {
            let operations = (0..point.alternatives).map(|alternative| point.operation(alternative));
            self.operations.extend(operations);
        }
        self.points.push(Point {
            operations_at: is_task.then_some(at),
            state: state(&self.operations[at..]),
            preferred: point.is_preferred(),
            context_switches: point.context_switches,
            running: point.running,
        });
        Some(0)
    }

    fn retry(&mut self) {
        self.points.clear();
        self.operations.clear();
    }

    fn coverage(&self, finished: bool) -> Coverage {
        match (finished, self.dropped, self.left_out, self.preemptions_max) {
            (true, 0, false, _) => Coverage::Exhaustive,
            (true, 0, true, Some(bound)) => Coverage::within_preemptions(bound, None),
            (true, 1.., ..) => Coverage::unbounded("prefixes were dropped because the queue was full"),
            _ => Coverage::stopped(),
        }
    }

    fn status(&self, _: &SoFar<'_>) -> Status {
        let dropped = (self.dropped > 0).then(|| {
            format!(
                "{} of {} unexplored prefixes were dropped, because at most {} are kept: `best-first(prefixes=N)` keeps more",
                self.dropped, self.found, self.prefixes_max
            )
        });
        Status {
            notes: dropped.into_iter().collect(),
            ..Status::named(format!("best-first({})", self.priorities.name()))
        }
    }
}
