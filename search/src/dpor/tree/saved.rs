//! The saved form of wakeup trees.

use super::super::names::Names;
use super::super::sleep::{SavedFootprint, restored_footprint, saved_footprint};
use super::{Branch, Tree};
use intermezzo_engine::serial::{Deserialize, Serialize};
use intermezzo_engine::trace::StableOpId;

/// A branch, to be saved.
#[derive(Clone, Serialize, Deserialize)]
pub(in super::super) struct SavedBranch {
    task: u32,
    size: u32,
    values: Vec<u32>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    gives_up: bool,
    #[serde(rename = "touches")]
    footprint: SavedFootprint,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    names: Vec<StableOpId>,
}

impl SavedBranch {
    /// Returns `true` if its step chose values.
    pub(in super::super) fn has_values(&self) -> bool {
        !self.values.is_empty()
    }
}

impl Tree {
    /// Returns the tree, to be saved.
    pub(in super::super) fn saved(&self) -> Vec<SavedBranch> {
        let saved = self.branches[self.gone..].iter().map(|branch| SavedBranch {
            task: branch.task,
            size: branch.size,
            values: branch.values().to_vec(),
            gives_up: branch.gives_up,
            footprint: saved_footprint(branch.footprint()),
            names: branch.names().to_vec(),
        });
        saved.collect()
    }

    /// Restores a saved tree; `None` if it is malformed.
    pub(in super::super) fn restored(saved: &[SavedBranch]) -> Option<Tree> {
        // The ends of the branches around the next one.
        let mut ends = vec![saved.len()];
        for (at, branch) in saved.iter().enumerate() {
            ends.retain(|&end| end > at);
            let end = at + branch.size as usize;
            if end == at || ends.last().is_none_or(|&around| end > around) {
                return None;
            }
            ends.push(end);
        }
        let branch = |saved: &SavedBranch| {
            let footprint = restored_footprint(&saved.footprint)?;
            let mut branch = Branch::new(saved.task, saved.size, &saved.values, &footprint);
            branch.gives_up = saved.gives_up;
            branch.know_by(Names::from_slice(&saved.names));
            Some(branch)
        };
        Some(Tree {
            branches: saved.iter().map(branch).collect::<Option<_>>()?,
            gone: 0,
        })
    }
}
