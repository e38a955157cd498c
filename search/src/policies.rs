//! The policies that draw executions, by their kinds.

#[cfg(feature = "all-searches")]
use crate::classic::{PctAll, PctVars};
use crate::kinds::StrategyKind;
use crate::sampling::{
    Interesting, PROFILED, Pct, Places, Policy, Portfolio, Pos, RandomDelays, RandomWalk, Surw,
};

/// The members of the portfolio of `auto`, each with its number of executions in a round. The last one is uniform over
/// all orders. It alone finds bugs that depend on many constraints.
const MEMBERS: [(u32, StrategyKind); 6] = [
    (2, StrategyKind::Surw(Interesting::OneVariable)),
    (1, StrategyKind::Pos),
    (2, StrategyKind::Places),
    (1, StrategyKind::Pct(3)),
    (1, StrategyKind::Random),
    (1, StrategyKind::Surw(Interesting::All)),
];

/// The number of drawn executions after which bugs that depend on few constraints have probably been found. After them,
/// two of three executions are drawn by the last member.
const SHALLOW: u64 = 5_000;

/// The number of executions of the last member in a round after that.
const UNIFORM_LATER: u64 = 14;

/// Returns the policy that draws executions; `preemptions` is the bound of random walks.
pub fn policy(sampler: &StrategyKind, preemptions: Option<u32>) -> Box<dyn Policy> {
    match sampler {
        StrategyKind::Auto(_)
        | StrategyKind::DepthFirst(_)
        | StrategyKind::BestFirst(_)
        | StrategyKind::Ranked(_)
        | StrategyKind::Maple(_) => unreachable!("these are searches of their own"),
        StrategyKind::Random => Box::new(RandomWalk::new(preemptions)),
        StrategyKind::Pct(depth) => Box::new(Pct::new(*depth)),
        #[cfg(feature = "all-searches")]
        StrategyKind::PctAll(depth) => Box::new(PctAll::new(*depth)),
        #[cfg(feature = "all-searches")]
        StrategyKind::PctVars { depth, variables } => Box::new(PctVars::new(*depth, *variables)),
        #[cfg(not(feature = "all-searches"))]
        StrategyKind::PctAll(_) | StrategyKind::PctVars { .. } => unreachable!("{}", crate::NOT_ALL),
        StrategyKind::RandomDelays(delays) => Box::new(RandomDelays::new(*delays)),
        StrategyKind::Pos => Box::new(Pos::default()),
        StrategyKind::Places => Box::new(Places::default()),
        StrategyKind::Surw(interesting) => Box::new(Surw::new(interesting.clone())),
        StrategyKind::Portfolio(members) => Box::new(portfolio_of(members, preemptions)),
    }
}

impl StrategyKind {
    /// Returns the number of first executions that the strategy learns from, or 0. They are the same executions for all
    /// kinds that learn.
    pub fn learned_from(&self) -> u64 {
        if self.is_sampler() && self.is_here() && policy(self, None).learns() {
            PROFILED
        } else {
            0
        }
    }
}

/// Returns a portfolio whose members draw in turns, each with its weight.
fn portfolio_of(members: &[(u32, StrategyKind)], preemptions: Option<u32>) -> Portfolio {
    let member = |(weight, member): &(u32, StrategyKind)| (policy(member, preemptions), u64::from(*weight));
    Portfolio::new(members.iter().map(member).collect())
}

/// Returns the portfolio of [`Auto`](crate::Auto), to which no bound applies.
pub fn usual_portfolio() -> Box<dyn Policy> {
    Box::new(portfolio_of(&MEMBERS, None).later(SHALLOW, UNIFORM_LATER))
}
