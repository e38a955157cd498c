//! The search that the settings ask for.

use super::sampling::{Pct, PctAll, PctVars, Places, Policy, Portfolio, Pos, RandomWalk, Sampling, Surw};
use super::{
    BestFirst, Caching, DepthBounded, DepthFirst, Dpor, Insertion, IterativeDelayBounding,
    IterativePreemptionBounding, Strategy,
};
use crate::settings::{Reduction, Settings, StrategyKind};
use crate::trace::{Fingerprints, Suits};
use std::sync::Arc;

/// Bytes for each of the two tables of fingerprints: of states reached, and of traces.
pub(crate) fn table_bytes(settings: &Settings) -> usize {
    settings.cache_bytes / 2
}

/// The search that these settings, which go together, ask for.
pub(crate) fn strategy(settings: &Settings) -> Box<dyn Strategy> {
    match settings.reduction {
        Reduction::None => unreduced(settings),
        Reduction::Caching => {
            let visits = Arc::new(Fingerprints::new(table_bytes(settings)));
            Box::new(Caching::new(
                unreduced(settings),
                visits,
                settings.preemptions.is_some(),
            ))
        }
        Reduction::SourceDpor => Box::new(Dpor::new(Insertion::First)),
        Reduction::Dpor => Box::new(Dpor::new(Insertion::Whole)),
        Reduction::Bpor => {
            let most = settings.preemptions.unwrap_or(u32::MAX);
            Box::new(Dpor::new(Insertion::Bounded(most)))
        }
    }
}

/// The search to go on with where a program does what the reduction asked for does not suit.
pub(crate) fn weaker(settings: &Settings, suits: Suits) -> Box<dyn Strategy> {
    let reduction = match suits {
        Suits::WakeupTrees => Reduction::Dpor,
        Suits::SourceSets => Reduction::SourceDpor,
        Suits::Caching => Reduction::Caching,
    };
    strategy(&Settings {
        reduction,
        ..settings.clone()
    })
}

/// The search that runs every schedule.
fn unreduced(settings: &Settings) -> Box<dyn Strategy> {
    let within = |settings: &Settings| {
        let settings = settings.clone();
        move || unlimited(&settings)
    };
    match (settings.depth, settings.depth_step) {
        (None, None) => unlimited(settings),
        (Some(depth), None) => Box::new(DepthBounded::new(depth, within(settings))),
        (depth, Some(step)) => Box::new(DepthBounded::deepening(step.get(), depth, within(settings))),
    }
}

/// The search at any depth.
fn unlimited(settings: &Settings) -> Box<dyn Strategy> {
    let most = settings.preemptions;
    match &settings.strategy {
        StrategyKind::DepthFirst if settings.delays.is_none() => match most {
            None => Box::new(DepthFirst::new()),
            Some(most) => Box::new(IterativePreemptionBounding::new(most)),
        },
        StrategyKind::DepthFirst | StrategyKind::Delays => {
            Box::new(IterativeDelayBounding::new(settings.delays))
        }
        StrategyKind::BestFirst => {
            let priorities = settings.priority.clone().unwrap_or_default();
            Box::new(BestFirst::new(
                priorities.build(settings.seed),
                most,
                settings.prefixes,
            ))
        }
        StrategyKind::Coverage => unreachable!("a search by iRoots is made by the session that knows them"),
        sampler => Box::new(Sampling::new(settings.seed, policy(sampler, most)).up_to(settings.executions)),
    }
}

/// How executions are drawn; `preemptions` is a random walk's bound.
fn policy(sampler: &StrategyKind, preemptions: Option<u32>) -> Box<dyn Policy> {
    match sampler {
        StrategyKind::DepthFirst
        | StrategyKind::Delays
        | StrategyKind::BestFirst
        | StrategyKind::Coverage => unreachable!("these draw nothing"),
        StrategyKind::Random => Box::new(RandomWalk::new(preemptions)),
        StrategyKind::Pct(depth) => Box::new(Pct::new(*depth)),
        StrategyKind::PctAll(depth) => Box::new(PctAll::new(*depth)),
        StrategyKind::PctVars { depth, variables } => Box::new(PctVars::new(*depth, *variables)),
        StrategyKind::Pos => Box::new(Pos::default()),
        StrategyKind::Places => Box::new(Places::default()),
        StrategyKind::Surw(interesting) => Box::new(Surw::new(interesting.clone())),
        StrategyKind::Portfolio(members) => {
            let member =
                |(weight, member): &(u32, StrategyKind)| (policy(member, preemptions), u64::from(*weight));
            Box::new(Portfolio::new(members.iter().map(member).collect()))
        }
    }
}
