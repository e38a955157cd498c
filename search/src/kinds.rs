//! The kinds of searches and reductions, as values.

use crate::sampling::Interesting;
use std::fmt;

/// The default depth of bugs for priority changes: the paper's own tests were run with it.
const DEPTH: u32 = 3;

/// The search to run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum StrategyKind {
    /// Depth-first: every schedule; with a preemption bound, in order of preemptions.
    #[default]
    DepthFirst,
    /// Like [`StrategyKind::DepthFirst`], in order of preemptions, until it has had its part of the executions; then a
    /// portfolio of the kinds from [`StrategyKind::Random`] on.
    Auto,
    /// Depth-first, in order of delays.
    Delays,
    /// The unexplored prefix that ranks first, by priority functions.
    BestFirst,
    /// In order of preemptions, variables and tasks concerned.
    Ranked,
    /// Exposes iRoots, one after the other.
    Coverage,
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
    /// Random priorities of operations.
    Pos,
    /// Random priorities of places in the source.
    Places,
    /// Random walks that are uniform over the orders of interesting steps.
    Surw(Interesting),
    /// Several kinds from random walk on, each with its weight, at least 1: they share the executions, in turns.
    Portfolio(Vec<(u32, StrategyKind)>),
}

impl StrategyKind {
    /// For each kind that needs no parameters: its name in settings, and the strategy that it stands for.
    pub const ALL: [(&'static str, StrategyKind); 14] = [
        ("dfs", StrategyKind::DepthFirst),
        ("auto", StrategyKind::Auto),
        ("delays", StrategyKind::Delays),
        ("best-first", StrategyKind::BestFirst),
        ("ranked", StrategyKind::Ranked),
        ("coverage", StrategyKind::Coverage),
        ("maple", StrategyKind::Coverage),
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
        ("pos", StrategyKind::Pos),
        ("places", StrategyKind::Places),
        ("surw", StrategyKind::Surw(Interesting::OneVariable)),
    ];

    /// Returns `true` if executions are drawn, so that the search has no end of its own.
    pub fn is_sampler(&self) -> bool {
        !matches!(
            self,
            StrategyKind::DepthFirst
                | StrategyKind::Auto
                | StrategyKind::Delays
                | StrategyKind::BestFirst
                | StrategyKind::Ranked
                | StrategyKind::Coverage
        )
    }

    /// Returns `true` if it is depth-first, at first or to the end.
    pub fn is_depth_first(&self) -> bool {
        matches!(self, StrategyKind::DepthFirst | StrategyKind::Auto)
    }
}

impl fmt::Display for StrategyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StrategyKind::DepthFirst => f.write_str("dfs"),
            StrategyKind::Auto => f.write_str("auto"),
            StrategyKind::Delays => f.write_str("delays"),
            StrategyKind::BestFirst => f.write_str("best-first"),
            StrategyKind::Ranked => f.write_str("ranked"),
            StrategyKind::Coverage => f.write_str("coverage"),
            StrategyKind::Random => f.write_str("random"),
            StrategyKind::Pct(depth) => write!(f, "pct({depth})"),
            StrategyKind::PctAll(depth) => write!(f, "pct-all({depth})"),
            StrategyKind::PctVars { depth, variables } => write!(f, "pctvb({depth},{variables})"),
            StrategyKind::Pos => f.write_str("pos"),
            StrategyKind::Places => f.write_str("places"),
            StrategyKind::Surw(interesting) => write!(f, "surw({interesting})"),
            StrategyKind::Portfolio(members) => {
                let name = |(weight, member): &(u32, StrategyKind)| match weight {
                    1 => member.to_string(),
                    weight => format!("{weight}*{member}"),
                };
                let names: Vec<String> = members.iter().map(name).collect();
                write!(f, "portfolio({})", names.join(","))
            }
        }
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
    /// Optimal partial-order reduction, with wakeup trees: every trace exactly once. Not with a bound.
    Dpor,
    /// Bounded partial-order reduction: every trace within a preemption bound.
    Bpor,
}

impl Reduction {
    /// Every reduction, with its name in settings and reports.
    pub const ALL: [(&'static str, Reduction); 6] = [
        ("auto", Reduction::Auto),
        ("none", Reduction::None),
        ("caching", Reduction::Caching),
        ("source-dpor", Reduction::SourceDpor),
        ("dpor", Reduction::Dpor),
        ("bpor", Reduction::Bpor),
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
    /// All values, with their names in settings.
    pub const ALL: [(&'static str, VariableSets); 2] =
        [("each", VariableSets::Each), ("dynamic", VariableSets::Dynamic)];
}
