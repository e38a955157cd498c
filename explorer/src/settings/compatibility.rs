//! Settings that cannot be combined, with the reasons.

use intermezzo_engine::runtime::races::is_order_seen;
use intermezzo_engine::serial::NO_FILES;
use intermezzo_search::NOT_ALL;

use super::{
    Arrays, DepthFirstBounds, IRootOptions, RankedOptions, Reduction, SettingError, Settings, SpinLoops,
    StrategyKind,
};

/// A refused combination: the setting to name, the condition, and the reason.
type Refused = (&'static str, fn(&Settings) -> bool, &'static str);

/// Combinations of bounds, scopes and strategies that are refused. The first that holds is reported.
const REFUSED: &[Refused] = &[
    ("strategy", |s| !s.strategy.is_here(), NOT_ALL),
    (
        "iroots",
        |s| s.iroots.is_some() && !cfg!(feature = "all-searches"),
        NOT_ALL,
    ),
    (
        "preemptions",
        |s| delay_bounded(s) && s.preemptions.is_some(),
        "delays and preemptions are two orders of search, each complete bound by bound: give one bound, and `none` for \
         the other",
    ),
    (
        "reduction",
        |s| delay_bounded(s) && reduced(s),
        "a reduction leaves out an execution because another one of the same trace is run, and that one \
         may need more delays: within a bound on delays it would miss traces; give `none`",
    ),
    (
        "reduction",
        |s| depth_bounded(s) && reduced(s),
        "beyond the depth nothing is varied, so the execution that a reduction relies on may never be \
         run: within a depth bound it would miss traces; give `none`",
    ),
    (
        "reduction",
        |s| {
            let best_first = matches!(s.strategy, StrategyKind::BestFirst(_));
            best_first && reduced(s) && s.reduction != Reduction::OrderedAtomics
        },
        "a reduction relies on the order in which depth-first search runs executions: give `none` with \
         `best-first`",
    ),
    (
        "reduction",
        |s| {
            ranked(s).is_some_and(|ranked| ranked.arrays == Arrays::Whole)
                && s.reduction == Reduction::Caching
        },
        "the variables that form one array depend on the order of accesses that commute, so states of one \
         trace may have other arrays: give `none`, or count elements",
    ),
    (
        "reduction",
        |s| ranked(s).is_some_and(|ranked| ranked.per_place.is_some()) && s.reduction == Reduction::Caching,
        "which variables are the first of a place depends on the order of first uses, which may commute, so \
         states of one trace may have others: give `none`, or no `per_place`",
    ),
    (
        "strategy",
        |s| ranked(s).is_some_and(|ranked| ranked.per_place == Some(0)),
        "with `per_place=0` no preemption after an access would be left: give 1 or more",
    ),
    (
        "strategy",
        |s| ranked(s).is_some_and(|ranked| ranked.per_place.is_some() && ranked.arrays == Arrays::Whole),
        "`arrays=whole` counts all variables of a place as one, so `per_place` would bound nothing: give one of \
         the two",
    ),
    (
        "strategy",
        |s| ranked(s).is_some_and(|ranked| ranked.per_place.is_some() && ranked.threads.is_some()),
        "`per_place` is not supported together with `threads`: give one of the two",
    ),
    (
        "reduction",
        |s| ranked(s).is_some() && reduced(s) && s.reduction != Reduction::Caching,
        "a reduction leaves out an execution because another one of the same trace is run, and that one \
         may be preempted after accesses to other variables: it would miss traces within the rank; give \
         `caching` or `none`",
    ),
    (
        "reduction",
        |s| ranked(s).is_some_and(|ranked| ranked.threads.is_some()) && s.reduction == Reduction::Caching,
        "the continuations of a state also depend on the priorities with which it was reached: give \
         `none`, or no `threads`",
    ),
    (
        "spin_loops",
        |s| assumes_loops(s) && ranked(s).is_some(),
        "a round of a loop that counts as not having happened takes its accesses with it, and preemptions \
         count against accesses: give `park`",
    ),
    (
        "reduction",
        |s| scoped(s) && reduced(s),
        "a reduction leaves out an execution because another one of the same trace is run, and that one \
         may preempt out of the scope: with `preempt` it would miss traces within the scope; give `none`",
    ),
    (
        "reduction",
        |s| s.strategy.is_sampler() && reduced(s),
        "executions drawn at random have no reduction: a random walk would no longer be uniform over \
         choices, and the other strategies would no longer find bugs with the probabilities that they \
         promise; give `none`",
    ),
    (
        "preemptions",
        |s| s.preemptions.is_some() && s.strategy.is_sampler() && s.strategy != StrategyKind::Random,
        "only `random` draws executions within a preemption bound: the probabilities of the others are \
         those among all executions; give `none`",
    ),
    (
        "reduction",
        |s| s.preemptions.is_some() && s.reduction == Reduction::SourceDpor,
        "sleep sets cut at a preemption bound miss traces within the bound (238 of 750 random programs did): \
         give `dpor` or `caching` with a bound, or take the bound away",
    ),
    (
        "seed",
        |s| s.first_execution.is_some() && !s.strategy.is_sampler(),
        "only executions that are drawn at random have numbers of their own: leave the number out, or \
         give `random`, `pct`, `pos` or `surw`",
    ),
    (
        "preempt",
        |s| scoped(s) && s.strategy.is_sampler() && s.strategy != StrategyKind::Random,
        "the probabilities of executions drawn at random rest on choices everywhere, and a scope takes \
         some of them away: leave it out, or give `random`; `surw(PLACE)` and `pctvb` look at some \
         operations more than at others",
    ),
    (
        "reduction",
        |s| !s.breakpoints.0.is_empty() && reduced(s),
        "the task that waits at an armed breakpoint depends on the order of operations that commute, so an execution does \
         not stand for all of its trace: give `none`, or no `breakpoints`",
    ),
    (
        "spin_loops",
        |s| assumes_loops(s) && !s.breakpoints.0.is_empty(),
        "a round that counts as not having happened may have reached an armed breakpoint: give `park`, or \
         no `breakpoints`",
    ),
    (
        "reduction",
        |s| searches_iroots(s) && reduced(s),
        "a search for iRoots runs executions that may expose one, in an order that no reduction can rely \
         on: give `none` with `maple`",
    ),
    (
        "preemptions",
        |s| searches_iroots(s) && s.preemptions.is_some(),
        "a search for iRoots preempts wherever it has to: leave the bound out, or give `dfs`",
    ),
    (
        "iroots",
        |s| {
            searches_iroots(s)
                && s.iroots
                    .as_ref()
                    .is_some_and(|iroots| *iroots != IRootOptions::DEFAULT)
        },
        "the search `maple` measures iRoots with parameters of its own: give them to `maple`, as in `maple(memo=FILE)`",
    ),
    (
        "jobs",
        |s| s.jobs > 1 && measures_iroots(s),
        "executions expose iRoots one after the other, and the next one depends on those before: give 1, \
         or neither the search `maple` nor `iroots`",
    ),
    (
        "checkpoint",
        |s| s.checkpoint.is_some() && measures_iroots(s),
        "the exposed iRoots are not in a checkpoint: give `none`, or neither the search `maple` nor \
         `iroots`",
    ),
    (
        "jobs",
        |s| s.jobs > 1 && learns(s),
        "the search starts again when an atomic proves to need schedule points, or a loop to only wait, \
         and several workers cannot do that together: give 1, or neither `reduction` `ordered-atomics` \
         nor `spin_loops` `assume`",
    ),
    (
        "checkpoint",
        |s| s.checkpoint.is_some() && learns(s),
        "which atomics need schedule points, and which loops only wait, is not in a checkpoint: give \
         `none`, or neither `reduction` `ordered-atomics` nor `spin_loops` `assume`",
    ),
    (
        "partition",
        |s| s.partition.is_some() && s.jobs > 1,
        "a share is explored by one worker: give more shares instead of `jobs`, and run several on each machine",
    ),
    (
        "partition",
        |s| s.partition.is_some() && s.checkpoint.is_some(),
        "a share is not kept in a checkpoint: give more and smaller shares, or no `checkpoint`",
    ),
    (
        "partition",
        |s| s.partition.is_some() && learns(s),
        "the search starts again when an atomic proves to need schedule points, or a loop to only wait, and the other \
         shares would not know of it: give neither `reduction` `ordered-atomics` nor `spin_loops` `assume`",
    ),
    (
        "partition",
        |s| s.partition.is_some() && measures_iroots(s),
        "executions expose iRoots one after the other, and the next one depends on those before: give neither the \
         search `maple` nor `iroots`",
    ),
    (
        "spin_loops",
        |s| assumes_loops(s) && s.reduction == Reduction::OrderedAtomics,
        "`ordered-atomics` starts the search again when it learns something, too, and neither knows what \
         the other assumed before: give `park`, or another reduction",
    ),
    (
        "jobs",
        |s| reuses(s) && s.jobs > 1,
        "the executions of one worker alone have memory of their own, so those of the others would never \
         reuse an address: give 1, or no `address_reuse`",
    ),
    (
        "reduction",
        |s| reuses(s) && s.reduction == Reduction::OrderedAtomics,
        "allocations are ordered by nothing but the schedule, and so are atomics between them: with `address_reuse` give \
         another reduction",
    ),
    (
        "reduction",
        |s| has_memory_model(s) && s.reduction == Reduction::OrderedAtomics,
        "an atomic may be read before it is written although its accesses are ordered: with `stale_reads` give another \
         reduction",
    ),
    (
        "spin_loops",
        |s| has_memory_model(s) && assumes_loops(s),
        "a round that reads a stale value does not predict the next one: with `stale_reads` give `park` or `run`",
    ),
    (
        "environment",
        |s| has_memory_model(s) && measures_iroots(s),
        "iRoots are about the order of events, which with `stale_reads` is not the order of what is read and written: give \
         neither the search `maple` nor `iroots`",
    ),
    MEMORY_MODEL_OVER_STD,
];

const MEMORY_MODEL_OVER_STD: Refused = (
    "environment",
    |s| has_memory_model(s) && !is_order_seen(),
    "the counts of `Arc` order accesses, and in unmodified code they are seen only with `--races`, on Linux, and without a \
     global allocator of the program's own: leave out `stale_reads`, or give `--races`",
);

/// Combinations that are refused with a search of the user's own.
const REFUSED_TO_CUSTOM: &[Refused] = &[
    (
        "reduction",
        |s| s.reduction == Reduction::OrderedAtomics,
        "the search starts again when an atomic proves to need schedule points, and a strategy of your \
         own cannot: give `none`",
    ),
    (
        "spin_loops",
        assumes_loops,
        "the search starts again when a loop proves to only wait, and a strategy of your own cannot: give \
         `park`",
    ),
    MEMORY_MODEL_OVER_STD,
];

/// `true` if some executions are left out.
fn reduced(settings: &Settings) -> bool {
    settings.reduction != Reduction::None
}

fn ranked(settings: &Settings) -> Option<&RankedOptions> {
    match &settings.strategy {
        StrategyKind::Ranked(options) => Some(options),
        _ => None,
    }
}

fn depth_first(settings: &Settings, has: fn(&DepthFirstBounds) -> bool) -> bool {
    settings.strategy.depth_first().is_some_and(has)
}

fn delay_bounded(settings: &Settings) -> bool {
    depth_first(settings, |bounds| bounds.delays.is_some())
}

fn depth_bounded(settings: &Settings) -> bool {
    depth_first(settings, |bounds| bounds.depth.is_some() || bounds.step.is_some())
}

fn assumes_loops(settings: &Settings) -> bool {
    settings.spin_loops == SpinLoops::Assume
}

/// `true` if the search starts again when it learns something.
fn learns(settings: &Settings) -> bool {
    assumes_loops(settings) || settings.reduction == Reduction::OrderedAtomics
}

fn searches_iroots(settings: &Settings) -> bool {
    matches!(settings.strategy, StrategyKind::Maple(_))
}

fn measures_iroots(settings: &Settings) -> bool {
    searches_iroots(settings) || settings.iroots.is_some()
}

fn reuses(settings: &Settings) -> bool {
    settings.environment.address_reuse > 0
}

fn has_memory_model(settings: &Settings) -> bool {
    settings.environment.has_memory_model()
}

fn scoped(settings: &Settings) -> bool {
    !settings.preempt_in.is_empty() || !settings.preempt_not_in.is_empty()
}

/// Checks that settings can be combined.
///
/// # Errors
/// They cannot; the error names one of them, and the reason.
pub(super) fn check(settings: &Settings) -> Result<(), SettingError> {
    check_by(REFUSED, settings)
}

/// Checks, as [`check`] does, that settings can be combined with a search of the user's own.
pub(super) fn check_custom(settings: &Settings) -> Result<(), SettingError> {
    check_by(REFUSED_TO_CUSTOM, settings)
}

/// Checks that this build writes and reads the files that settings name.
///
/// # Errors
/// It does not.
pub(super) fn check_files(settings: &Settings) -> Result<(), SettingError> {
    if cfg!(feature = "files") {
        return Ok(());
    }
    let named = [
        ("checkpoint", settings.checkpoint.is_some()),
        ("strategy", settings.memo().is_some()),
    ];
    match named.iter().find(|(_, is_named)| *is_named) {
        None => Ok(()),
        Some((name, _)) => Err(SettingError::new(*name, NO_FILES)),
    }
}

fn check_by(refused: &[Refused], settings: &Settings) -> Result<(), SettingError> {
    match refused.iter().find(|(_, holds, _)| holds(settings)) {
        None => Ok(()),
        Some((name, _, why)) => Err(SettingError::new(*name, *why)),
    }
}

#[cfg(test)]
mod tests;
