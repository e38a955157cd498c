//! The priority functions that have names in settings.

use super::{Prefix, Priority};
use intermezzo_engine::site::Site;
use intermezzo_sdk::{SyncVar, SyncVarOp, TaskId};
use std::collections::HashMap;

/// The kinds of built-in priority functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriorityKind {
    /// First the prefixes whose last choice preempts a task where the test prefers that (`preemptions_preferred`).
    Preferred,
    /// Fewest preemptions first.
    Preemptions,
    /// Most preemptions first.
    MostPreemptions,
    /// Fewest context switches first.
    Switches,
    /// Fewest choices first: breadth first.
    Shallowest,
    /// Most choices first: depth first.
    Deepest,
    /// Most enabled tasks at the last choice first: there, executions differ most.
    MostEnabled,
    /// Fewest enabled tasks at the last choice first: the other tasks wait, so a deadlock may be near.
    FewestEnabled,
    /// First the operation, with its place in the source, that was chosen least often. Counts are compared by orders of
    /// magnitude (powers of 2).
    Rare,
    /// The rarest switch first, by orders of magnitude: the pair of the operation before which a task was preempted and
    /// the operation of the task that ran instead, with their places. Prefixes without such a switch come before all
    /// others.
    RareSwitch,
    /// The rarest state first, by orders of magnitude: the next operations of all enabled tasks, and the task that was
    /// chosen.
    RareState,
    /// First the variable whose operations were chosen least often, by orders of magnitude.
    RareVariable,
    /// First the kind of operation (load, lock) that was chosen least often, by orders of magnitude.
    RareOperation,
    /// Most conflicting next operations of other tasks first: without conflicts, the order makes no difference.
    MostConflicts,
    /// Random order, determined by the search's seed.
    Random,
    /// All equal, so the prefix found last comes first.
    Constant,
}

impl PriorityKind {
    /// All kinds, with their names in settings.
    pub const ALL: [(&'static str, PriorityKind); 16] = [
        ("preferred", PriorityKind::Preferred),
        ("preemptions", PriorityKind::Preemptions),
        ("most-preemptions", PriorityKind::MostPreemptions),
        ("switches", PriorityKind::Switches),
        ("shallowest", PriorityKind::Shallowest),
        ("deepest", PriorityKind::Deepest),
        ("most-enabled", PriorityKind::MostEnabled),
        ("fewest-enabled", PriorityKind::FewestEnabled),
        ("rare", PriorityKind::Rare),
        ("rare-switch", PriorityKind::RareSwitch),
        ("rare-state", PriorityKind::RareState),
        ("rare-variable", PriorityKind::RareVariable),
        ("rare-operation", PriorityKind::RareOperation),
        ("most-conflicts", PriorityKind::MostConflicts),
        ("random", PriorityKind::Random),
        ("constant", PriorityKind::Constant),
    ];

    /// Returns its name in settings.
    pub fn name(self) -> &'static str {
        let named = Self::ALL.into_iter().find(|(_, kind)| *kind == self);
        named.expect("every kind has a name").0
    }
}

/// The groups by which operations are counted. They are only looked up, never iterated over, so their order does not
/// matter.
#[derive(PartialEq, Eq, Hash)]
enum Group {
    Place(SyncVarOp, Site),
    Switch([(SyncVarOp, Site); 2]),
    State(u64, TaskId),
    Variable(SyncVar),
    Kind(SyncVarOp),
}

/// A built-in priority function.
pub struct BuiltIn {
    kind: PriorityKind,
    seed: u64,
    counts: HashMap<Group, u64>,
}

impl BuiltIn {
    /// Returns the function of this kind. `seed` is used by a random order.
    pub fn new(kind: PriorityKind, seed: u64) -> BuiltIn {
        BuiltIn {
            kind,
            seed,
            counts: HashMap::new(),
        }
    }

    /// Returns the group of a prefix, if this function counts groups.
    fn group(&self, prefix: &Prefix<'_>) -> Option<Group> {
        let operation = prefix.operation?;
        match self.kind {
            PriorityKind::Rare => Some(Group::Place(operation.op, operation.site)),
            PriorityKind::RareSwitch => {
                let left = prefix.left?;
                Some(Group::Switch([
                    (left.op, left.site),
                    (operation.op, operation.site),
                ]))
            }
            PriorityKind::RareState => Some(Group::State(prefix.state, operation.task)),
            PriorityKind::RareVariable => Some(Group::Variable(operation.var)),
            PriorityKind::RareOperation => Some(Group::Kind(operation.op)),
            _ => None,
        }
    }
}

impl Priority for BuiltIn {
    fn rank(&self, prefix: &Prefix<'_>) -> i64 {
        match self.kind {
            PriorityKind::Preferred => i64::from(!prefix.preferred),
            PriorityKind::Preemptions => prefix.preemptions.into(),
            PriorityKind::MostPreemptions => -i64::from(prefix.preemptions),
            PriorityKind::Switches => prefix.context_switches as i64,
            PriorityKind::Shallowest => prefix.depth() as i64,
            PriorityKind::Deepest => -(prefix.depth() as i64),
            PriorityKind::MostEnabled => -i64::from(prefix.tasks()),
            PriorityKind::FewestEnabled => prefix.tasks().into(),
            PriorityKind::MostConflicts => -i64::from(prefix.conflicts),
            PriorityKind::Rare
            | PriorityKind::RareSwitch
            | PriorityKind::RareState
            | PriorityKind::RareVariable
            | PriorityKind::RareOperation => {
                let count = self
                    .group(prefix)
                    .and_then(|group| self.counts.get(&group))
                    .copied();
                magnitude(count.unwrap_or(0))
            }
            PriorityKind::Random => hash(self.seed, prefix),
            PriorityKind::Constant => 0,
        }
    }

    fn learn(&mut self, prefix: &Prefix<'_>) {
        if let Some(group) = self.group(prefix) {
            *self.counts.entry(group).or_insert(0) += 1;
        }
    }

    fn name(&self) -> String {
        self.kind.name().into()
    }
}

/// Returns the number of binary digits of a count. If ranks grew with every count, most of the queue would have to be
/// ranked again before each execution. With orders of magnitude, each prefix is ranked again only a few times.
fn magnitude(count: u64) -> i64 {
    (u64::BITS - count.leading_zeros()).into()
}

/// Returns a number that depends only on the seed and the choices, so repeated calls agree. It is FNV-1a with the last
/// steps of SplitMix64, which spread its last bytes over the whole word.
fn hash(seed: u64, prefix: &Prefix<'_>) -> i64 {
    let taken = prefix
        .before
        .iter()
        .chain([&prefix.last])
        .map(|choice| choice.taken);
    let mixed = taken.fold(0xCBF2_9CE4_8422_2325 ^ seed, |hash, taken| {
        (hash ^ u64::from(taken)).wrapping_mul(0x0000_0100_0000_01B3)
    });
    let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    (mixed ^ mixed >> 31) as i64
}
