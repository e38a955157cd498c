//! The search that the settings ask for.

use super::{
    BestFirst, DepthBounded, DepthFirst, IterativeDelayBounding, IterativePreemptionBounding, RandomWalk,
    Strategy,
};
use crate::settings::{Settings, StrategyKind};

/// The search that these settings, which go together, ask for.
pub(crate) fn strategy(settings: &Settings) -> Box<dyn Strategy> {
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
    match settings.strategy {
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
        StrategyKind::Random => Box::new(RandomWalk::new(settings.seed, most)),
    }
}
