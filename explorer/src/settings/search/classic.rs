//! The searches that are not the usual ones, by their settings.

use super::super::Settings;
use intermezzo_engine::strategy::{Arrays, Strategy};
use intermezzo_search::classic::maple::Options;
use intermezzo_search::kinds::{
    BestFirstOptions, DepthFirstBounds, RankedOptions, StrategyKind, VariableSets,
};
use intermezzo_search::{BestFirst, DepthBounded, IterativeDelayBounding, Ranked, ThreadBound};

/// Returns the options of measuring iRoots, or of searching for them; `None` if neither is asked for.
pub(crate) fn iroots(settings: &Settings) -> Option<Options> {
    let (searches, options) = match (&settings.strategy, &settings.iroots) {
        (StrategyKind::Maple(options), _) => (true, options),
        (_, options) => (false, options.as_ref()?),
    };
    Some(Options {
        searches,
        window: options.window,
        target: options.target,
        memo: options.memo.clone(),
        write_every: settings.checkpoint_every,
    })
}

/// Returns the depth-first search within these bounds.
pub(super) fn depth_first(preemptions: Option<u32>, bounds: &DepthFirstBounds) -> Box<dyn Strategy> {
    let delays = bounds.delays;
    let any_depth = move || -> Box<dyn Strategy> {
        match delays {
            Some(most) => Box::new(IterativeDelayBounding::new(most)),
            None => super::depth_first(preemptions),
        }
    };
    match (bounds.depth, bounds.step) {
        (None, None) => any_depth(),
        (Some(depth), None) => Box::new(DepthBounded::new(depth, any_depth)),
        (depth, Some(step)) => Box::new(DepthBounded::deepening(step.get(), depth, any_depth)),
    }
}

/// Returns the best-first search.
pub(super) fn best_first(settings: &Settings, options: &BestFirstOptions) -> Box<dyn Strategy> {
    let priorities = options.priority.clone().unwrap_or_default();
    Box::new(BestFirst::new(
        priorities.build(settings.seed),
        settings.preemptions,
        options.prefixes,
    ))
}

/// Returns the ranked search; with a table of that many bytes it is pruned.
pub(super) fn ranked(
    settings: &Settings,
    options: &RankedOptions,
    table_bytes: Option<usize>,
) -> Box<dyn Strategy> {
    let threads = options.threads.map(|threads| ThreadBound {
        threads,
        epsilon: options.epsilon,
        seed: settings.seed,
    });
    let dynamic = options.sets == VariableSets::Dynamic;
    let ranked = Ranked::new(settings.preemptions, options.variables, threads, dynamic)
        .within_place(options.per_place);
    let ranked = match options.arrays {
        Arrays::Elements => ranked,
        Arrays::Whole => ranked.with_whole_arrays(),
    };
    Box::new(match table_bytes {
        None => ranked,
        Some(bytes) => ranked.pruned(bytes),
    })
}
