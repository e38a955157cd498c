//! The kinds of searches and reductions, as values. The module `text` has them as settings name them.

mod text;

use crate::classic::PrioritySpec;
use crate::classic::maple::IRootId;
use crate::sampling::Interesting;
use intermezzo_engine::strategy::{Arrays, Epsilon};
use std::num::NonZero;
use std::path::PathBuf;

/// The default depth of bugs for priority changes: the paper's own tests were run with it.
const DEPTH: u32 = 3;

/// The default number of delays of an execution: as many as a bug of that depth has constraints.
const DELAYS: u32 = DEPTH;

/// The search to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StrategyKind {
    /// Depth-first: every schedule; with a preemption bound, in order of preemptions.
    DepthFirst(DepthFirstBounds),
    /// Exhaustive search and samples, in turns; then, if the test passed, the same under a memory model.
    Auto(AutoOptions),
    /// The unexplored prefix that ranks first, by priority functions.
    BestFirst(BestFirstOptions),
    /// In order of preemptions, variables and tasks concerned.
    Ranked(RankedOptions),
    /// Exposes iRoots, one after the other.
    Maple(IRootOptions),
    /// Random walk.
    Random,
    /// Random priorities of tasks, for bugs of this depth, at least 1.
    Pct(u32),
    /// Everything that priorities of tasks can do, for bugs of this depth, at least 1.
    PctAll(u32),
    /// Random priorities of tasks that change at few variables only.
    PctVars {
        /// The depth of the bugs, at least 1.
        depth: u32,
        /// The number of variables, at least 1.
        variables: u32,
    },
    /// Tasks run by default, and are delayed at no more than this many random moments of each execution, at least 1.
    RandomDelays(u32),
    /// Random priorities of operations.
    Pos,
    /// Random priorities of places in the source.
    Places,
    /// Random walks that are uniform over the orders of interesting steps.
    Surw(Interesting),
    /// Several sampling strategies that take turns. Each has a weight of at least 1, its share of the executions.
    Portfolio(Vec<(u32, StrategyKind)>),
}

/// The parameters of the search of a test that names none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AutoOptions {
    /// The bound `stale_reads` of the environment in the second part of the search, under the memory model of C++20; 0 for
    /// no such part.
    pub stale_reads: u32,
    /// The most executions of the second part; `None` for as many as the first part has, or 1,000 if that is more.
    pub weak_executions: Option<NonZero<u64>>,
    /// After a search that is complete but for fairness, others follow that count fewer yields: at the end only every one of
    /// this number. 1 for no such search.
    pub fair_yields: u32,
}

impl AutoOptions {
    /// One stale read of a store at each place of a task: only code that a task runs several times could read more. Loops
    /// that give up after a number of attempts make a few dozen, of which some consist of a hundred hints to the processor.
    pub const DEFAULT: AutoOptions = AutoOptions {
        stale_reads: 1,
        weak_executions: None,
        fair_yields: 256,
    };
}

/// Bounds of a depth-first search, in addition to the one on preemptions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DepthFirstBounds {
    /// Executions go in order of delays, up to this many; `Some(None)` for no limit. `None` if delays are not counted.
    pub delays: Option<Option<u32>>,
    /// The number of choices of an execution that are varied, from the first; `None` for all.
    pub depth: Option<u32>,
    /// The growth of the depth from round to round, in choices; `None` if there is one round.
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
    /// The order of the prefixes; `None` for the default.
    pub priority: Option<PrioritySpec>,
    /// The most unexplored prefixes that are kept.
    pub prefixes: usize,
}

impl BestFirstOptions {
    /// The default order, and a million prefixes: some hundred megabytes.
    pub const DEFAULT: BestFirstOptions = BestFirstOptions {
        priority: None,
        prefixes: 1_000_000,
    };
}

/// Options of a ranked search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankedOptions {
    /// The most variables against which the preemptions of an execution count; `None` for no bound.
    pub variables: Option<u32>,
    /// The number of tasks for which every order is tried; `None` if any task goes wherever another cannot.
    pub threads: Option<u32>,
    /// The greatest probability that some order of that many tasks is missed.
    pub epsilon: Epsilon,
    /// The order of sets of variables.
    pub sets: VariableSets,
    /// The way in which elements of an array are counted.
    pub arrays: Arrays,
    /// Of the variables of one kind that are first used at one place, only this many may have preemptions counted against
    /// them, the first ones; `None` for all.
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

/// The way in which iRoots are measured, and exposed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IRootOptions {
    /// The largest distance of two accesses of an iRoot, in events of their task.
    pub window: u32,
    /// The most attempts to expose an iRoot, in all explorations that share a memo.
    pub attempts: u32,
    /// The only iRoot that is tried, `attempts` times, even if it was exposed; `None` for all that are predicted.
    pub target: Option<IRootId>,
    /// The file that keeps the exposed iRoots from one exploration to the next; `None` for none.
    pub memo: Option<PathBuf>,
}

impl IRootOptions {
    /// No memo; a window of 20 events, because the paper's 1,000 instructions are some tens of shared accesses; two
    /// attempts, with either order of initial priorities, as in the paper.
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
    /// Depth-first, with no other bound than that on preemptions.
    pub const DFS: StrategyKind = StrategyKind::DepthFirst(DepthFirstBounds::NONE);

    /// The search of a test that names none.
    pub const AUTO: StrategyKind = StrategyKind::Auto(AutoOptions::DEFAULT);

    /// For each kind: its name in settings, and the strategy that it stands for without parameters. A portfolio is not
    /// among them, because it is nothing without members.
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

    /// Returns `true` if executions are drawn, so that the search has no end of its own.
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

    /// Returns `true` if the search is in this build: without the feature `all-searches` only the usual ones are.
    pub fn is_here(&self) -> bool {
        cfg!(feature = "all-searches") || self.is_usual()
    }

    /// Returns `true` if the search is none of the module `classic`.
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

    /// Returns `true` for the search of a test that names none.
    pub fn is_auto(&self) -> bool {
        matches!(self, StrategyKind::Auto(_))
    }
}

/// The way in which executions that show nothing new are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reduction {
    /// The strongest sound one, if the strategy is `auto`; none with any other strategy.
    #[default]
    Auto,
    /// Every schedule is run.
    None,
    /// Prefixes that lead to a known state are not continued (happens-before caching). Sound with and without a
    /// preemption bound.
    Caching,
    /// Partial-order reduction with source sets and sleep sets: every trace at least once. Not with a bound.
    SourceDpor,
    /// Partial-order reduction. Without a bound it is optimal, with wakeup trees: every trace exactly once. With a bound on
    /// preemptions it is bounded partial-order reduction: every trace within the bound at least once.
    Dpor,
    /// No schedule points at atomics whose accesses other synchronisation orders (Bruening and Chapin), which is verified
    /// as the search goes.
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

/// The order in which a ranked search takes sets of variables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VariableSets {
    /// One after the other: fewer variables first, and those known to be shared.
    #[default]
    Each,
    /// As they occur: an execution's first preemptions choose its set.
    Dynamic,
}

impl VariableSets {
    /// All values, with their names in parameters.
    pub const ALL: [(&'static str, VariableSets); 2] =
        [("each", VariableSets::Each), ("dynamic", VariableSets::Dynamic)];
}
