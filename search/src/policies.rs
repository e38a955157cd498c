//! The policies that draw executions, by their kinds.

#[cfg(feature = "all-searches")]
use crate::classic::{PctAll, PctVars};
use crate::kinds::StrategyKind;
use crate::sampling::{
    Interesting, PROFILED, Pct, Places, Policy, Portfolio, Pos, RandomDelays, RandomWalk, Surw,
};

/// The policies that draw, each with its number of executions in a round. The last is uniform over all orders: it alone
/// finds what no few constraints provoke.
const MEMBERS: [(u32, StrategyKind); 6] = [
    (2, StrategyKind::Surw(Interesting::OneVariable)),
    (1, StrategyKind::Pos),
    (2, StrategyKind::Places),
    (1, StrategyKind::Pct(3)),
    (1, StrategyKind::Random),
    (1, StrategyKind::Surw(Interesting::All)),
];

/// The number of drawn executions after which a bug is not a matter of few constraints: after them two of three
/// executions are the last member's.
const SHALLOW: u64 = 5_000;

/// The last member's number of executions in a round then.
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
    /// Returns the number of first executions that it learns from, if it draws executions. They are the same for all
    /// kinds that learn.
    pub fn learned_from(&self) -> u64 {
        if self.is_sampler() && self.is_here() && policy(self, None).learns() {
            PROFILED
        } else {
            0
        }
    }
}

/// Returns a portfolio of kinds that draw in turns, each with its weight.
fn portfolio_of(members: &[(u32, StrategyKind)], preemptions: Option<u32>) -> Portfolio {
    let member = |(weight, member): &(u32, StrategyKind)| (policy(member, preemptions), u64::from(*weight));
    Portfolio::new(members.iter().map(member).collect())
}

/// Returns the policies of [`Auto`](crate::Auto), for which no bound holds.
pub fn usual_portfolio() -> Box<dyn Policy> {
    Box::new(portfolio_of(&MEMBERS, None).later(SHALLOW, UNIFORM_LATER))
}
