//! The search of the settings.

#[cfg(feature = "all-searches")]
mod classic;
#[cfg(not(feature = "all-searches"))]
#[path = "search/without_classic.rs"]
mod classic;

pub(crate) use classic::iroots;

use super::Settings;
use intermezzo_engine::strategy::Strategy;
use intermezzo_engine::trace::{Fingerprints, SoundReduction};
use intermezzo_search::kinds::{DepthFirstBounds, Reduction, StrategyKind};
use intermezzo_search::policies;
use intermezzo_search::sampling::Sampling;
use intermezzo_search::{Allowance, Auto, Caching, DepthFirst, Dpor, Insertion, IterativePreemptionBounding};
use std::sync::Arc;

/// Returns the bytes for each of the two tables of fingerprints: of states reached, and of traces.
pub(crate) fn table_bytes(settings: &Settings) -> usize {
    settings.cache_bytes / 2
}

/// Returns the search of these settings, which were checked, or the share of it that they select.
pub(crate) fn strategy(settings: &Settings) -> Box<dyn Strategy> {
    let mut search = whole(settings);
    if let Some(partition) = settings.partition
        && let Ok(search) = search.partitioned()
    {
        search.keep_to(partition);
    }
    search
}

/// Returns the search of these settings, undivided.
fn whole(settings: &Settings) -> Box<dyn Strategy> {
    if settings.strategy.is_auto() {
        return auto(settings, SoundReduction::WakeupTrees, 0);
    }
    match (settings.reduction_at_work(), &settings.strategy) {
        (Reduction::None | Reduction::Auto | Reduction::OrderedAtomics, _) => unreduced(settings),
        (Reduction::Caching, StrategyKind::Ranked(options)) => {
            classic::ranked(settings, options, Some(table_bytes(settings)))
        }
        (Reduction::Caching, _) => {
            let visits = Arc::new(Fingerprints::new(table_bytes(settings)));
            Box::new(Caching::new(
                unreduced(settings),
                visits,
                settings.preemptions.is_some(),
            ))
        }
        (Reduction::SourceDpor, _) => Box::new(Dpor::new(Insertion::SourceSets)),
        (Reduction::Dpor, _) => {
            let search = Dpor::new(match settings.preemptions {
                None => Insertion::WakeupTrees,
                Some(most) => Insertion::Bounded(most),
            });
            // What follows a state is known to the worker that has explored it, and is in no checkpoint.
            let is_alone =
                settings.jobs == 1 && settings.checkpoint.is_none() && settings.partition.is_none();
            Box::new(if is_alone {
                search.remembering(table_bytes(settings))
            } else {
                search
            })
        }
    }
}

/// Returns the search that takes over if a program does something for which the reduction is not sound. It keeps to the
/// bound that was requested, unless it has an allowance without it. The first `drawn` samples were drawn before.
pub(crate) fn weaker(
    settings: &Settings,
    sound: SoundReduction,
    without_bound: Option<Allowance>,
    drawn: u64,
) -> Box<dyn Strategy> {
    if settings.chooses_reduction() {
        return auto(settings, sound, drawn);
    }
    if let Some(allowance) = without_bound {
        let insertion = match sound {
            SoundReduction::WakeupTrees => Some(Insertion::WakeupTrees),
            SoundReduction::SourceSets => Some(Insertion::SourceSets),
            SoundReduction::Caching | SoundReduction::Nothing => None,
        };
        if let Some(insertion) = insertion {
            return Box::new(Dpor::new(insertion).up_to(allowance));
        }
    }
    let reduction = match sound {
        // Within a bound there are no wakeup trees to begin with.
        SoundReduction::SourceSets if settings.preemptions.is_none() => Reduction::SourceDpor,
        SoundReduction::WakeupTrees | SoundReduction::SourceSets => Reduction::Dpor,
        SoundReduction::Caching => Reduction::Caching,
        SoundReduction::Nothing => Reduction::None,
    };
    strategy(&Settings {
        strategy: match reduction {
            Reduction::Dpor => StrategyKind::DFS,
            _ => settings.strategy.clone(),
        },
        reduction,
        ..settings.clone()
    })
}

/// Returns the allowance of the first search without the bound that was requested. It is short, so that a small search
/// within the bound begins soon, and shorter still if the search seems far from its end.
pub(crate) fn first_allowance(settings: &Settings) -> Allowance {
    Allowance::of(settings.steps_without_bound / 4).that_may_end_early()
}

/// Returns the steps of the search within the bound that comes after the first one without it: twice as many, because the
/// next search has more still.
pub(crate) fn steps_of_trial(settings: &Settings) -> u64 {
    settings.steps_without_bound / 2
}

/// Returns the allowance of the second search without the bound. It may go on if it seems to end.
pub(crate) fn second_allowance(settings: &Settings) -> Allowance {
    Allowance::of(settings.steps_without_bound).that_may_go_on()
}

/// Returns `true` if the second search without the bound has enough steps to end. The first one has completed this part,
/// and the second is taken to be as fast.
pub(crate) fn second_may_end(settings: &Settings, completed: f64) -> bool {
    first_allowance(settings).most() as f64 <= completed * second_allowance(settings).most() as f64
}

/// Returns the search of the strategy `auto`, for a program for which this reduction is sound.
fn auto(settings: &Settings, sound: SoundReduction, drawn: u64) -> Box<dyn Strategy> {
    let first = |reduction| Settings {
        strategy: StrategyKind::DFS,
        reduction,
        ..settings.clone()
    };
    let whole = match (settings.chooses_reduction(), settings.reduction_at_work()) {
        (false, Reduction::Dpor) if settings.tries_all_first() => {
            return Box::new(Dpor::new(Insertion::WakeupTrees).up_to(first_allowance(settings)));
        }
        // An exhaustive search was asked for: it alone is run.
        (false, Reduction::Caching | Reduction::SourceDpor | Reduction::Dpor) => {
            return strategy(&first(settings.reduction));
        }
        (true, Reduction::Dpor) => match sound {
            SoundReduction::WakeupTrees => Some(Reduction::Dpor),
            SoundReduction::SourceSets => Some(Reduction::SourceDpor),
            SoundReduction::Caching | SoundReduction::Nothing => None,
        },
        _ => None,
    };
    let reduced = settings.chooses_reduction()
        && settings.reduction_at_work() != Reduction::None
        && sound != SoundReduction::Nothing;
    let bounds = Settings {
        // Fewest preemptions first finds most bugs soonest, and covers something if it does not end.
        preemptions: settings.preemptions.or(Some(u32::MAX)),
        ..first(if reduced {
            Reduction::Caching
        } else {
            Reduction::None
        })
    };
    if settings.reduction == Reduction::OrderedAtomics {
        // Samples cannot start again where an atomic proves to need schedule points.
        return strategy(&bounds);
    }
    let scoped = !settings.preempt_in.is_empty() || !settings.preempt_not_in.is_empty();
    let policy = match settings.preemptions {
        None if !scoped => policies::usual_portfolio(),
        // No other policy keeps to a bound or a scope.
        most => policies::policy(&StrategyKind::Random, most),
    };
    Box::new(Auto::new(
        whole.map(|reduction| strategy(&first(reduction))),
        strategy(&bounds),
        policy,
        settings.seed,
        drawn,
    ))
}

/// Returns the search that runs every schedule.
fn unreduced(settings: &Settings) -> Box<dyn Strategy> {
    let most = settings.preemptions;
    match &settings.strategy {
        StrategyKind::DepthFirst(bounds) if *bounds == DepthFirstBounds::NONE => depth_first(most),
        StrategyKind::DepthFirst(bounds) => classic::depth_first(most, bounds),
        StrategyKind::BestFirst(options) => classic::best_first(settings, options),
        StrategyKind::Ranked(options) => classic::ranked(settings, options, None),
        StrategyKind::Maple(_) => unreachable!("a search for iRoots is made by the session that knows them"),
        StrategyKind::Auto(_) => unreachable!("it is made around the search of the other settings"),
        sampler => {
            let policy = policies::policy(sampler, most);
            let first = settings.first_execution.map(|first| first.saturating_sub(1));
            Box::new(Sampling::new(settings.seed, policy).up_to(settings.executions, first))
        }
    }
}

/// Returns the depth-first search without other bounds than one on preemptions.
fn depth_first(preemptions: Option<u32>) -> Box<dyn Strategy> {
    match preemptions {
        None => Box::new(DepthFirst::new()),
        Some(most) => Box::new(IterativePreemptionBounding::new(most)),
    }
}
