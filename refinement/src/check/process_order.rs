//! The search for an order that keeps given operations before others. For sequential consistency these are the earlier ones
//! of the same process, and under a memory model those that happen before.
//!
//! Like the general search, without a list in the order of time. An operation that never returned may have happened or
//! not. It is the last of its process, or is followed by a next life that need not come after it. Nor need anything
//! come after an operation that may take effect late. A process that creates the others and waits for their ends is
//! ordered with them, too: program order includes creation and join.

use super::bits::Bits;
use super::general::Ends;
use super::limits::Limits;
use super::states::{Reached, StateId, States};
use super::{Verdict, Violation};
use crate::history::Operation;
use crate::specification::{Next, Specification};
use std::collections::BTreeMap;

/// A branch: the operation placed, the state after it, and the number of operations placed before.
struct Branch {
    operation: usize,
    state: StateId,
    depth: usize,
}

/// Searches depth first. `before` has, for each operation, those that come before it.
pub(super) fn search<S: Specification>(
    specification: &S,
    operations: &[&Operation<S::Call, S::Return>],
    before: &[Vec<usize>],
    may_end: Option<Ends<'_, S>>,
    mut limits: Limits,
) -> Verdict<S::State> {
    let needed = operations
        .iter()
        .filter(|operation| !operation.is_pending())
        .count();
    let mut states = States::new();
    let mut reached = Reached::default();
    let initial = states.number(specification.initial());
    let mut placed: Vec<usize> = Vec::new();
    let mut is_placed = vec![false; operations.len()];
    let mut branches: Vec<Branch> = Vec::new();
    let mut state = initial;
    let mut longest: Option<(Vec<usize>, StateId, Vec<usize>)> = None;
    loop {
        let completed = placed.iter().filter(|&&at| !operations[at].is_pending()).count();
        if completed == needed && may_end.is_none_or(|may| may(states.get(state))) {
            return Verdict::Allowed { order: placed };
        }
        let candidates = candidates(before, &is_placed);
        let depth = placed.len();
        let branches_before = branches.len();
        for &operation in candidates.iter().rev() {
            let Operation { call, returned, .. } = operations[operation];
            let found = match specification.next(states.get(state), call, returned.as_ref()) {
                Next::None => Vec::new(),
                Next::One(next) => vec![next],
                Next::Any(several) => several,
            };
            branches.extend(found.into_iter().rev().map(|next| Branch {
                operation,
                state: states.number(next),
                depth,
            }));
        }
        let is_longer = longest
            .as_ref()
            .is_none_or(|(order, ..)| placed.len() > order.len());
        if branches.len() == branches_before && is_longer {
            longest = Some((placed.clone(), state, candidates));
        }
        state = loop {
            let Some(branch) = branches.pop() else {
                let (longest, state, stuck) = longest.unwrap_or_default();
                return Verdict::Violation(Violation {
                    longest,
                    state: states.take(state),
                    stuck,
                    part: Vec::new(),
                });
            };
            for operation in placed.drain(branch.depth..) {
                is_placed[operation] = false;
            }
            placed.push(branch.operation);
            is_placed[branch.operation] = true;
            let mut done = Bits::new(operations.len());
            placed.iter().for_each(|&operation| done.insert(operation));
            if reached.insert(&done, branch.state) {
                break branch.state;
            }
        };
        if limits.is_over(reached.len()) {
            return Verdict::Unknown {
                states: reached.len(),
            };
        }
    }
}

/// Returns, for each operation, those that come before it: the last of the same process, and those of other processes
/// if one of the two is of the process `parent`. Operations that have not returned come before none, nor do `late` ones.
pub(super) fn predecessors<C, R>(
    operations: &[&Operation<C, R>],
    parent: Option<u32>,
    late: impl Fn(&C) -> bool,
) -> Vec<Vec<usize>> {
    let counts = |operation: &Operation<C, R>| !operation.is_pending() && !late(&operation.call);
    let mut last: BTreeMap<u32, usize> = BTreeMap::new();
    let mut before = Vec::with_capacity(operations.len());
    for (at, operation) in operations.iter().enumerate() {
        let mut all: Vec<usize> = last.get(&operation.process).copied().into_iter().collect();
        if let Some(parent) = parent {
            let others = (0..at).filter(|&other| {
                let other = operations[other];
                other.process != operation.process
                    && (other.process == parent || operation.process == parent)
                    && counts(other)
                    && other.precedes(operation)
            });
            all.extend(others);
        }
        before.push(all);
        if counts(operation) {
            last.insert(operation.process, at);
        }
    }
    before
}

/// Returns the operations that may come next.
fn candidates(before: &[Vec<usize>], is_placed: &[bool]) -> Vec<usize> {
    let may = |at: &usize| !is_placed[*at] && before[*at].iter().all(|&earlier| is_placed[earlier]);
    (0..before.len()).filter(may).collect()
}
