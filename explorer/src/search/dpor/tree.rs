//! Wakeup trees: what is to be tried, as sequences that share their beginnings.

use super::sequence::Sequence;
use super::sleep::Touches;
use crate::trace::Trace;

/// A step to be taken, and what is to be tried after it, in order. With nothing to be tried, anything is.
#[derive(Clone, Debug)]
pub(super) struct Branch {
    pub(super) task: u32,
    /// What the step touched in the execution that it was seen in.
    touches: Touches,
    pub(super) children: Vec<Branch>,
}

impl Branch {
    /// A step after which anything is to be tried.
    pub(super) fn leaf(task: u32, touches: Touches) -> Branch {
        Branch {
            task,
            touches,
            children: Vec::new(),
        }
    }
}

/// Adds a sequence, unless the tree holds one that leads to the same.
pub(super) fn insert(branches: &mut Vec<Branch>, trace: &Trace, sequence: &mut Sequence) {
    let mut branches = branches;
    // How many steps of each task have been found in the tree.
    let mut done: Vec<u32> = Vec::new();
    loop {
        let found = branches
            .iter()
            .position(|branch| leads_on(branch, trace, sequence, &mut done));
        let Some(place) = found else {
            break;
        };
        if sequence.is_empty() || branches[place].children.is_empty() {
            return;
        }
        branches = &mut branches[place].children;
    }
    let steps: Vec<(u32, Touches)> = sequence.steps(trace).collect();
    let chain = steps
        .into_iter()
        .rev()
        .fold(Vec::new(), |children, (task, touches)| {
            vec![Branch {
                task,
                touches,
                children,
            }]
        });
    branches.extend(chain);
}

/// Whether a branch begins something that leads to the same as the sequence. If so the branch's step is taken out of it.
fn leads_on(branch: &Branch, trace: &Trace, sequence: &mut Sequence, done: &mut Vec<u32>) -> bool {
    let taken = done.iter().filter(|&&task| task == branch.task).count();
    // Variables first used after the branching may be numbered otherwise in the execution that the branch comes from.
    let touches =
        match sequence.next_touches(trace, branch.task, taken) {
            Some(here) => {
                let same_class =
                    here.first().map(|touch| touch.class) == branch.touches.first().map(|touch| touch.class);
                let mut touches = Touches::from_slice(here);
                if !same_class {
                    touches.extend(branch.touches.iter().zip(here).map(|(theirs, here)| {
                        crate::trace::Touch {
                            key: here.key,
                            class: theirs.class,
                        }
                    }));
                }
                touches
            }
            None => branch.touches.clone(),
        };
    match sequence.may_begin(trace, branch.task, &touches) {
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
