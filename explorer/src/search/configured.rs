//! The search that the settings ask for.

use super::sampling::{self, Sampling};
use super::{
    Auto, BestFirst, Caching, DepthBounded, DepthFirst, Dpor, Insertion, IterativeDelayBounding,
    IterativePreemptionBounding, Ranked, Strategy, ThreadBound,
};
use crate::settings::{Arrays, Reduction, Settings, StrategyKind, VariableSets};
use crate::trace::{Fingerprints, Suits};
use std::sync::Arc;

/// Bytes for each of the two tables of fingerprints: of states reached, and of traces.
pub(crate) fn table_bytes(settings: &Settings) -> usize {
    settings.cache_bytes / 2
}

/// The search that these settings, which go together, ask for.
pub(crate) fn strategy(settings: &Settings) -> Box<dyn Strategy> {
    if settings.strategy == StrategyKind::Auto {
        return auto(settings);
    }
    match settings.reduction {
        Reduction::None => unreduced(settings),
        Reduction::Caching if settings.strategy == StrategyKind::Ranked => {
            Box::new(ranked(settings).pruned(table_bytes(settings)))
        }
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

/// The search where none is asked for.
fn auto(settings: &Settings) -> Box<dyn Strategy> {
    let first = Settings {
        strategy: StrategyKind::DepthFirst,
        // Fewest preemptions first finds most soonest, and covers something if it is left.
        preemptions: match (settings.reduction, settings.delays) {
            (Reduction::None, None) => settings.preemptions.or(Some(u32::MAX)),
            _ => settings.preemptions,
        },
        ..settings.clone()
    };
    let bounded = strategy(&first);
    if settings.quiet_atomics || settings.preempt_at_races {
        // These start their search anew, and what is drawn knows nothing of it.
        return bounded;
    }
    Box::new(Auto::new(
        bounded,
        settings.seed,
        settings.executions,
        settings.time.is_some(),
    ))
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
        StrategyKind::Ranked => Box::new(ranked(settings)),
        StrategyKind::Coverage => unreachable!("a search by iRoots is made by the session that knows them"),
        StrategyKind::Auto => unreachable!("it is made around the search of the other settings"),
        sampler => {
            let policy = sampling::policy(sampler, most);
            let first = settings.first_execution.map(|first| first.saturating_sub(1));
            Box::new(Sampling::new(settings.seed, policy).up_to(settings.executions, first))
        }
    }
}

/// The ranked search, with nothing pruned.
fn ranked(settings: &Settings) -> Ranked {
    let threads = settings.threads.map(|threads| ThreadBound {
        threads,
        epsilon: settings.epsilon,
        seed: settings.seed,
    });
    let dynamic = settings.variable_sets == VariableSets::Dynamic;
    let ranked = Ranked::new(settings.preemptions, settings.variables, threads, dynamic);
    match settings.arrays {
        Arrays::Elements => ranked,
        Arrays::Whole => ranked.with_whole_arrays(),
    }
}
