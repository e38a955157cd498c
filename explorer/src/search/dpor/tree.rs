//! Wakeup trees: what is to be tried, as sequences that share their beginnings.

use super::sequence::{Sequence, Values};
use super::sleep::Touches;
use crate::schedule::Choice;
use crate::trace::Trace;

/// A step to be taken, and what is to be tried after it, in order. With nothing to be tried, anything is.
#[derive(Clone, Debug)]
pub(super) struct Branch {
    pub(super) task: u32,
    /// Which values the step chose, and only with which what is to be tried after it can be.
    pub(super) values: Values,
    /// What the step touched in the execution that it was seen in.
    touches: Touches,
    pub(super) children: Vec<Branch>,
}

impl Branch {
    /// Whether anything is to be tried after it, with any values.
    fn is_any(&self) -> bool {
        self.values.is_empty() && self.children.is_empty()
    }

    /// A step after which anything is to be tried.
    pub(super) fn leaf(task: u32, touches: Touches) -> Branch {
        Branch {
            task,
            values: Values::new(),
            touches,
            children: Vec::new(),
        }
    }
}

/// Adds a sequence, unless the tree holds one that leads to the same.
pub(super) fn insert(branches: &mut Vec<Branch>, trace: &Trace, choices: &[Choice], sequence: &mut Sequence) {
    let mut branches = branches;
    // How many steps of each task have been found in the tree.
    let mut done: Vec<u32> = Vec::new();
    loop {
        let found = branches
            .iter()
            .position(|branch| leads_on(branch, trace, choices, sequence, &mut done));
        let Some(place) = found else {
            break;
        };
        if sequence.is_empty() || branches[place].children.is_empty() {
            return;
        }
        branches = &mut branches[place].children;
    }
    let steps: Vec<(u32, Values, Touches)> = sequence.steps(trace, choices).collect();
    let chain = steps
        .into_iter()
        .rev()
        .fold(Vec::new(), |children, (task, values, touches)| {
            vec![Branch {
                task,
                values,
                touches,
                children,
            }]
        });
    branches.extend(chain);
}

/// Whether a branch begins something that leads to the same as the sequence. If so the branch's step is taken out of it.
fn leads_on(
    branch: &Branch,
    trace: &Trace,
    choices: &[Choice],
    sequence: &mut Sequence,
    done: &mut Vec<u32>,
) -> bool {
    let taken = done.iter().filter(|&&task| task == branch.task).count();
    // What the step touches, and how, is settled by what comes before it in the tree. But variables first used after the
    // branching may be numbered otherwise in the execution that the branch comes from.
    let touches = match sequence.next_touches(trace, branch.task, taken) {
        Some(mut here) => {
            if let (Some(here), Some(there)) = (here.first_mut(), branch.touches.first()) {
                here.class = there.class;
            }
            here.extend(branch.touches.iter().skip(1).copied());
            here
        }
        // Nothing is known of them here: the step is taken to conflict.
        None if branch
            .touches
            .iter()
            .any(|touch| sequence.is_new(trace, touch.key)) =>
        {
            return false;
        }
        None => branch.touches.clone(),
    };
    match sequence.may_begin(trace, branch.task, &touches) {
        // With other values it is another step.
        Some(Some(place))
            if !branch.is_any()
                && sequence
                    .values(trace, choices, place)
                    .is_some_and(|values| values != branch.values) =>
        {
            false
        }
        Some(place) => {
            if let Some(place) = place {
                sequence.remove(place);
            }
            done.push(branch.task);
            true
        }
        None => false,
    }
}
