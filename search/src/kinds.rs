//! The kinds of searches and reductions, as values. The module `text` converts them to and from the text of settings.

mod text;

use crate::classic::PrioritySpec;
use crate::classic::maple::IRootId;
use crate::sampling::Interesting;
use intermezzo_engine::strategy::{Arrays, Epsilon};
use std::num::NonZero;
use std::path::PathBuf;

/// The default depth of bugs for PCT and its variants: the tests in its paper were run with it.
const DEPTH: u32 = 3;

/// The default number of delays in an execution: the number of constraints of a bug of that depth.
const DELAYS: u32 = DEPTH;

/// The search to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StrategyKind {
    /// Depth-first: every schedule; with a preemption bound, in order of preemptions.
    DepthFirst(DepthFirstBounds),
    /// Exhaustive search and samples, in turns. Then, if the test passed, the same under a memory model.
    Auto(AutoOptions),
    /// Best-first: always from the unexplored prefix that ranks first by priority functions.
    BestFirst(BestFirstOptions),
    /// In the order of the number of preemptions, and of the variables and tasks concerned.
    Ranked(RankedOptions),
    /// Tries to expose iRoots, one after the other.
    Maple(IRootOptions),
    /// Random walk.
    Random,
    /// Random priorities of tasks, for bugs of this depth, at least 1.
    Pct(u32),
    /// All executions that priorities of tasks can give, for bugs of this depth, at least 1.
    PctAll(u32),
    /// Random priorities of tasks that change only at accesses to few variables.
    PctVars {
        /// The depth of the bugs, at least 1.
        depth: u32,
        /// The number of variables, at least 1.
        variables: u32,
    },
    /// The default order of tasks, with delays at no more than this many random choices of each execution, at least 1.
    RandomDelays(u32),
    /// Random priorities of operations.
    Pos,
    /// Random priorities of places in the source.
    Places,
    /// Random walks that are uniform over the orders of interesting steps.
    Surw(Interesting),
    /// Several sampling strategies that take turns. Each has a weight of at least 1: its number of executions in a
    /// round.
    Portfolio(Vec<(u32, StrategyKind)>),
}

/// The parameters of `auto`, the search of a test that names no strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AutoOptions {
    /// The bound `stale_reads` of the environment in the second part of the search, which runs under the memory model
    /// of C++20. With 0 there is no second part.
    pub stale_reads: u32,
    /// The maximum number of executions of the second part; `None` for as many as the first part had, but at least
    /// 1,000.
    pub weak_executions: Option<NonZero<u64>>,
    /// After a search that is complete but for fairness, others follow, in which only every 4th, 16th, .. yield of a
    /// task counts, up to this number. With 1 none follows.
    pub fair_yields: NonZero<u32>,
    /// The bound `weak_failures` of the environment in a search that follows for code that was not written for
    /// intermezzo. With 0 none follows.
    pub weak_failures: u32,
    /// The same for the bound `address_reuse`.
    pub address_reuse: u32,
    /// The same for the bound `timeouts`. An error that is found with it is a warning.
    pub timeouts: u32,
}

impl AutoOptions {
    /// One stale read of a store at each place of a task: only code that a task runs several times could read more.
    /// Loops that give up after some attempts make a few dozen, and some of them yield a hundred times before that.
    pub const DEFAULT: AutoOptions = AutoOptions {
        stale_reads: 1,
        weak_executions: None,
        fair_yields: NonZero::new(256).expect("256 is not 0"),
        weak_failures: 1,
        address_reuse: 1,
        timeouts: 1,
    };
}

/// Bounds of a depth-first search, in addition to the one on preemptions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DepthFirstBounds {
    /// Executions are run in the order of their numbers of delays, up to this many; `Some(None)` for no limit. `None`
    /// if delays are not counted.
    pub delays: Option<Option<u32>>,
    /// The number of choices of an execution, from the first, whose alternatives are explored; `None` for all.
    pub depth: Option<u32>,
    /// The number of choices by which the depth grows from round to round; `None` if there is only one round.
    pub step: Option<NonZero<u32>>,
}

impl DepthFirstBounds {
    /// No bound.
    pub const NONE: DepthFirstBounds = DepthFirstBounds {
        delays: None,
        depth: None,
        step: None,
    };
}

/// Options of a best-first search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BestFirstOptions {
    /// The order of the prefixes; `None` for the default order.
    pub priority: Option<PrioritySpec>,
    /// The maximum number of unexplored prefixes that are kept.
    pub prefixes: usize,
}

impl BestFirstOptions {
    /// The default order, and a million prefixes, which take some hundred megabytes.
    pub const DEFAULT: BestFirstOptions = BestFirstOptions {
        priority: None,
        prefixes: 1_000_000,
    };
}

/// Options of a ranked search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankedOptions {
    /// The maximum number of variables to which the preemptions of an execution are attributed; `None` for no bound.
    pub variables: Option<u32>,
    /// The number of tasks for which every order is tried; `None` if any enabled task may continue where another one
    /// cannot.
    pub threads: Option<u32>,
    /// The maximum probability that some order of that many tasks is missed.
    pub epsilon: Epsilon,
    /// The order of sets of variables.
    pub sets: VariableSets,
    /// The way in which the elements of an array are counted.
    pub arrays: Arrays,
    /// Of the variables of one kind that are first used at the same place, preemptions may be attributed only to the
    /// first ones, this many; `None` for all.
    pub per_place: Option<u32>,
}

impl RankedOptions {
    /// No bounds.
    pub const DEFAULT: RankedOptions = RankedOptions {
        variables: None,
        threads: None,
        epsilon: Epsilon::DEFAULT,
        sets: VariableSets::Each,
        arrays: Arrays::Elements,
        per_place: None,
    };
}

/// Options of measuring and exposing iRoots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IRootOptions {
    /// The maximum distance between two accesses of an iRoot in one task, in events of that task.
    pub window: u32,
    /// The maximum number of attempts to expose an iRoot, over all explorations that share a memo.
    pub attempts: u32,
    /// The only iRoot that is tried, `attempts` times, even if it has been exposed; `None` for all that are predicted.
    pub target: Option<IRootId>,
    /// The file that keeps the exposed iRoots from one exploration to the next; `None` for no file.
    pub memo: Option<PathBuf>,
}

impl IRootOptions {
    /// No memo; a window of 20 events, because the paper's 1,000 instructions contain some tens of shared accesses; and
    /// two attempts, one for each order of initial priorities, as in the paper.
    pub const DEFAULT: IRootOptions = IRootOptions {
        window: 20,
        attempts: 2,
        target: None,
        memo: None,
    };
}

impl Default for StrategyKind {
    fn default() -> StrategyKind {
        StrategyKind::DFS
    }
}

impl StrategyKind {
    /// Depth-first, with no bound except the setting `preemptions`.
    pub const DFS: StrategyKind = StrategyKind::DepthFirst(DepthFirstBounds::NONE);

    /// The search of a test that names no strategy.
    pub const AUTO: StrategyKind = StrategyKind::Auto(AutoOptions::DEFAULT);

    /// For each kind: its name in settings, and the strategy that the name alone stands for. A portfolio is not among
    /// them, because it needs members.
    pub const ALL: [(&'static str, StrategyKind); 13] = [
        ("auto", StrategyKind::AUTO),
        ("dfs", StrategyKind::DFS),
        ("best-first", StrategyKind::BestFirst(BestFirstOptions::DEFAULT)),
        ("ranked", StrategyKind::Ranked(RankedOptions::DEFAULT)),
        ("maple", StrategyKind::Maple(IRootOptions::DEFAULT)),
        ("random", StrategyKind::Random),
        ("pct", StrategyKind::Pct(DEPTH)),
        ("pct-all", StrategyKind::PctAll(DEPTH)),
        (
            "pctvb",
            StrategyKind::PctVars {
                depth: DEPTH,
                variables: 1,
            },
        ),
        ("random-delays", StrategyKind::RandomDelays(DELAYS)),
        ("pos", StrategyKind::Pos),
        ("places", StrategyKind::Places),
        ("surw", StrategyKind::Surw(Interesting::OneVariable)),
    ];

    /// Returns `true` if executions are drawn, so that the search does not end by itself.
    pub fn is_sampler(&self) -> bool {
        !matches!(
            self,
            StrategyKind::DepthFirst(_)
                | StrategyKind::Auto(_)
                | StrategyKind::BestFirst(_)
                | StrategyKind::Ranked(_)
                | StrategyKind::Maple(_)
        )
    }

    /// Returns `true` if the search is in this build. Without the feature `all-searches`, only the usual ones are.
    pub fn is_here(&self) -> bool {
        cfg!(feature = "all-searches") || self.is_usual()
    }

    /// Returns `true` if the search is not one of the module `classic`.
    fn is_usual(&self) -> bool {
        match self {
            StrategyKind::DepthFirst(bounds) => *bounds == DepthFirstBounds::NONE,
            StrategyKind::BestFirst(_)
            | StrategyKind::Ranked(_)
            | StrategyKind::Maple(_)
            | StrategyKind::PctAll(_)
            | StrategyKind::PctVars { .. } => false,
            StrategyKind::Portfolio(members) => members.iter().all(|(_, member)| member.is_usual()),
            StrategyKind::Auto(_)
            | StrategyKind::Random
            | StrategyKind::Pct(_)
            | StrategyKind::RandomDelays(_)
            | StrategyKind::Pos
            | StrategyKind::Places
            | StrategyKind::Surw(_) => true,
        }
    }

    /// Returns `true` for `auto`, the search of a test that names no strategy.
    pub fn is_auto(&self) -> bool {
        matches!(self, StrategyKind::Auto(_))
    }
}

/// The reduction, which leaves out executions that show nothing new.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reduction {
    /// The strongest sound reduction if the strategy is `auto`; none with any other strategy.
    #[default]
    Auto,
    /// No reduction: every schedule is run.
    None,
    /// Prefixes that lead to a known state are not continued (happens-before caching). Sound with and without a
    /// preemption bound.
    Caching,
    /// Partial-order reduction with source sets and sleep sets: every trace at least once. It cannot be combined with a
    /// bound.
    SourceDpor,
    /// Partial-order reduction. Without a bound it is the optimal algorithm with wakeup trees: every trace exactly
    /// once. With a bound on preemptions it is bounded partial-order reduction: every trace within the bound at least
    /// once.
    Dpor,
    /// No schedule points at atomics whose accesses are ordered by other synchronisation (Bruening and Chapin). This is
    /// verified during the search.
    OrderedAtomics,
}

impl Reduction {
    /// Every reduction, with its name in settings and reports.
    pub const ALL: [(&'static str, Reduction); 6] = [
        ("auto", Reduction::Auto),
        ("none", Reduction::None),
        ("caching", Reduction::Caching),
        ("source-dpor", Reduction::SourceDpor),
        ("dpor", Reduction::Dpor),
        ("ordered-atomics", Reduction::OrderedAtomics),
    ];
}

/// The order in which a ranked search goes through sets of variables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VariableSets {
    /// One after the other: sets with fewer variables first, and variables known to be shared before others.
    #[default]
    Each,
    /// As they occur: the first preemptions of an execution determine its set.
    Dynamic,
}

impl VariableSets {
    /// All values, with their names in parameters.
    pub const ALL: [(&'static str, VariableSets); 2] =
        [("each", VariableSets::Each), ("dynamic", VariableSets::Dynamic)];
}
