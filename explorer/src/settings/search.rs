//! The search that the settings ask for.

use super::Settings;
use intermezzo_engine::strategy::{Arrays, Strategy};
use intermezzo_engine::trace::{Fingerprints, SoundReduction};
use intermezzo_search::classic::maple::Options;
use intermezzo_search::kinds::{Reduction, StrategyKind, VariableSets};
use intermezzo_search::policies;
use intermezzo_search::sampling::Sampling;
use intermezzo_search::{
    Auto, BestFirst, Caching, DepthBounded, DepthFirst, Dpor, Insertion, IterativeDelayBounding,
    IterativePreemptionBounding, Ranked, ThreadBound,
};
use std::sync::Arc;

/// Bytes for each of the two tables of fingerprints: of states reached, and of traces.
pub(crate) fn table_bytes(settings: &Settings) -> usize {
    settings.cache_bytes / 2
}

/// Returns the search that these settings, which go together, ask for.
pub(crate) fn strategy(settings: &Settings) -> Box<dyn Strategy> {
    if settings.strategy == StrategyKind::Auto {
        return auto(settings, SoundReduction::WakeupTrees, 0);
    }
    match settings.reduction_at_work() {
        Reduction::None | Reduction::Auto => unreduced(settings),
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
        Reduction::SourceDpor => Box::new(Dpor::new(Insertion::SourceSets)),
        Reduction::Dpor => Box::new(Dpor::new(Insertion::WakeupTrees)),
        Reduction::Bpor => {
            let most = settings.preemptions.unwrap_or(u32::MAX);
            Box::new(Dpor::new(Insertion::Bounded(most)))
        }
    }
}

/// Returns what is to be done about iRoots; `None` if nothing is.
pub(crate) fn iroots(settings: &Settings) -> Option<Options> {
    let searches = settings.strategy == StrategyKind::Coverage;
    let asked = searches || settings.iroots || settings.memo.is_some();
    asked.then(|| Options {
        searches,
        window: settings.iroot_window,
        memo: settings.memo.clone(),
        write_every: settings.checkpoint_every,
    })
}

/// Returns the search that takes over where a program does what the reduction at work does not suit. The first `drawn`
/// samples were drawn.
pub(crate) fn weaker(settings: &Settings, sound: SoundReduction, drawn: u64) -> Box<dyn Strategy> {
    if settings.chooses_reduction() {
        return auto(settings, sound, drawn);
    }
    let reduction = match sound {
        SoundReduction::WakeupTrees => Reduction::Dpor,
        SoundReduction::SourceSets => Reduction::SourceDpor,
        SoundReduction::Caching => Reduction::Caching,
        SoundReduction::Nothing => Reduction::None,
    };
    strategy(&Settings {
        reduction,
        ..settings.clone()
    })
}

/// Returns the search of the strategy `auto`, of a program that suits these reductions.
fn auto(settings: &Settings, sound: SoundReduction, drawn: u64) -> Box<dyn Strategy> {
    let first = |reduction| Settings {
        strategy: StrategyKind::DepthFirst,
        reduction,
        ..settings.clone()
    };
    let whole = match (settings.chooses_reduction(), settings.reduction_at_work()) {
        // An exhaustive search was asked for: it alone is run.
        (false, reduction) if reduction != Reduction::None => return strategy(&first(reduction)),
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
        // Fewest preemptions first finds most soonest, and covers something if it does not end.
        preemptions: match settings.delays {
            None => settings.preemptions.or(Some(u32::MAX)),
            Some(_) => settings.preemptions,
        },
        ..first(if reduced {
            Reduction::Caching
        } else {
            Reduction::None
        })
    };
    let bounded_otherwise = settings.delays.or(settings.depth).is_some() || settings.depth_step.is_some();
    if bounded_otherwise || settings.quiet_atomics {
        // Samples know nothing of these bounds, nor of a search that starts again where an atomic proves not to be quiet.
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
            let policy = policies::policy(sampler, most);
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
