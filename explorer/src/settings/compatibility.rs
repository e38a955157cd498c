//! Settings that cannot be combined, with the reasons.

use intermezzo_engine::runtime::races::is_order_seen;
use intermezzo_engine::serial::NO_FILES;
use intermezzo_search::NOT_ALL;

use super::{Arrays, IRootOptions, Reduction, SettingError, Settings, SpinLoops, StrategyKind};

/// The reason why a setting does not go together with others; `None` if it does.
type Reason = Option<&'static str>;

/// Checks that settings can be combined.
///
/// # Errors
/// If they cannot; the error names one of them, and the reason.
pub(super) fn check(settings: &Settings) -> Result<(), SettingError> {
    first([
        ("strategy", strategy(settings)),
        ("preemptions", preemptions(settings)),
        ("reduction", reduction(settings)),
        ("seed", seed(settings)),
        ("preempt", preempt(settings)),
        ("spin_loops", spin_loops(settings)),
        ("iroots", iroots(settings)),
        ("environment", environment(settings)),
        ("jobs", jobs(settings)),
        ("partition", partition(settings)),
    ])?;
    alone(settings)
}

/// Checks, as [`check`] does, that settings can be combined with a search of the user's own.
pub(super) fn check_custom(settings: &Settings) -> Result<(), SettingError> {
    let learns = settings.reduction == Reduction::OrderedAtomics;
    let atomics = "the search starts again when an atomic proves to need schedule points, and a strategy of your own \
                   cannot: give `none`";
    let loops = "the search starts again when a loop proves to only wait, and a strategy of your own cannot: give `park`";
    first([
        ("reduction", learns.then_some(atomics)),
        ("spin_loops", assumes_loops(settings).then_some(loops)),
        ("environment", memory_model_over_std(settings)),
    ])
}

/// Checks that this build writes and reads the files that settings name.
///
/// # Errors
/// If it does not.
pub(super) fn check_files(settings: &Settings) -> Result<(), SettingError> {
    let reason = |is_named: bool| (is_named && !cfg!(feature = "files")).then_some(NO_FILES);
    first([
        ("checkpoint", reason(settings.checkpoint.is_some())),
        ("strategy", reason(settings.memo().is_some())),
    ])
}

fn first<const N: usize>(reasons: [(&str, Reason); N]) -> Result<(), SettingError> {
    match reasons.into_iter().find_map(|(name, why)| Some((name, why?))) {
        None => Ok(()),
        Some((name, why)) => Err(SettingError::new(name, why)),
    }
}

fn strategy(s: &Settings) -> Reason {
    match s.strategy.is_here() {
        true => s.strategy.check().err(),
        false => Some(NOT_ALL),
    }
}

fn preemptions(s: &Settings) -> Reason {
    s.preemptions?;
    Some(match &s.strategy {
        StrategyKind::DepthFirst(bounds) if bounds.delays.is_some() => {
            "delays and preemptions are two orders of search, each complete bound by bound: give one bound, and `none` \
             for the other"
        }
        StrategyKind::Maple(_) => {
            "a search for iRoots preempts wherever it has to: leave the bound out, or give `dfs`"
        }
        sampler if sampler.is_sampler() && *sampler != StrategyKind::Random => {
            "only `random` draws executions within a preemption bound: the probabilities of the others are those among all \
             executions; give `none`"
        }
        _ => return None,
    })
}

fn reduction(s: &Settings) -> Reason {
    let caching = s.reduction == Reduction::Caching;
    let ordered_atomics = s.reduction == Reduction::OrderedAtomics;
    Some(match &s.strategy {
        _ if s.reduction == Reduction::None => return None,
        StrategyKind::DepthFirst(bounds) if bounds.delays.is_some() => {
            "a reduction leaves out an execution because another one of the same trace is run, and that one may need more \
             delays: within a bound on delays it would miss traces; give `none`"
        }
        StrategyKind::DepthFirst(bounds) if bounds.depth.is_some() || bounds.step.is_some() => {
            "beyond the depth nothing is varied, so the execution that a reduction relies on may never be run: within a \
             depth bound it would miss traces; give `none`"
        }
        StrategyKind::BestFirst(_) if !ordered_atomics => {
            "a reduction relies on the order in which depth-first search runs executions: give `none` with `best-first`"
        }
        StrategyKind::Ranked(_) if !caching => {
            "a reduction leaves out an execution because another one of the same trace is run, and that one may be \
             preempted after accesses to other variables: it would miss traces within the rank; give `caching` or `none`"
        }
        StrategyKind::Ranked(options) if options.arrays == Arrays::Whole => {
            "the variables that form one array depend on the order of accesses that commute, so states of one trace may \
             have other arrays: give `none`, or count elements"
        }
        StrategyKind::Ranked(options) if options.per_place.is_some() => {
            "which variables are the first of a place depends on the order of first uses, which may commute, so states of \
             one trace may have others: give `none`, or no `per_place`"
        }
        StrategyKind::Ranked(options) if options.threads.is_some() => {
            "the continuations of a state also depend on the priorities with which it was reached: give `none`, or no \
             `threads`"
        }
        StrategyKind::Maple(_) => {
            "a search for iRoots runs executions that may expose one, in an order that no reduction can rely on: give \
             `none` with `maple`"
        }
        sampler if sampler.is_sampler() => {
            "executions drawn at random have no reduction: a random walk would no longer be uniform over choices, and the \
             other strategies would no longer find bugs with the probabilities that they promise; give `none`"
        }
        _ if scoped(s) => {
            "a reduction leaves out an execution because another one of the same trace is run, and that one may preempt \
             out of the scope: with `preempt` it would miss traces within the scope; give `none`"
        }
        _ if !s.breakpoints.0.is_empty() => {
            "the task that waits at an armed breakpoint depends on the order of operations that commute, so an execution \
             does not stand for all of its trace: give `none`, or no `breakpoints`"
        }
        _ if s.preemptions.is_some() && s.reduction == Reduction::SourceDpor => {
            "sleep sets cut at a preemption bound miss traces within the bound (238 of 750 random programs did): give \
             `dpor` or `caching` with a bound, or take the bound away"
        }
        _ if ordered_atomics && reuses(s) => {
            "allocations are ordered by nothing but the schedule, and so are atomics between them: with `address_reuse` \
             give another reduction"
        }
        _ if ordered_atomics && has_memory_model(s) => {
            "an atomic may be read before it is written although its accesses are ordered: with `stale_reads` give another \
             reduction"
        }
        _ => return None,
    })
}

fn seed(s: &Settings) -> Reason {
    (s.first_execution.is_some() && !s.strategy.is_sampler()).then_some(
        "only executions that are drawn at random have numbers of their own: leave the number out, or give `random`, \
         `pct`, `pos` or `surw`",
    )
}

fn preempt(s: &Settings) -> Reason {
    (scoped(s) && s.strategy.is_sampler() && s.strategy != StrategyKind::Random).then_some(
        "the probabilities of executions drawn at random rest on choices everywhere, and a scope takes some of them away: \
         leave it out, or give `random`; `surw(PLACE)` and `pctvb` look at some operations more than at others",
    )
}

fn spin_loops(s: &Settings) -> Reason {
    Some(match () {
        () if !assumes_loops(s) => return None,
        () if matches!(s.strategy, StrategyKind::Ranked(_)) => {
            "a round of a loop that counts as not having happened takes its accesses with it, and preemptions count against \
             accesses: give `park`"
        }
        () if !s.breakpoints.0.is_empty() => {
            "a round that counts as not having happened may have reached an armed breakpoint: give `park`, or no \
             `breakpoints`"
        }
        () if s.reduction == Reduction::OrderedAtomics => {
            "`ordered-atomics` starts the search again when it learns something, too, and neither knows what the other \
             assumed before: give `park`, or another reduction"
        }
        () if has_memory_model(s) => {
            "a round that reads a stale value does not predict the next one: with `stale_reads` give `park` or `run`"
        }
        () => return None,
    })
}

fn iroots(s: &Settings) -> Reason {
    let options = s.iroots.as_ref()?;
    Some(match &s.strategy {
        _ if !cfg!(feature = "all-searches") => NOT_ALL,
        StrategyKind::Maple(_) if *options != IRootOptions::DEFAULT => {
            "the search `maple` measures iRoots with parameters of its own: give them to `maple`, as in `maple(memo=FILE)`"
        }
        _ => return None,
    })
}

fn environment(s: &Settings) -> Reason {
    let measured = "iRoots are about the order of events, which with `stale_reads` is not the order of what is read and \
                    written: give neither the search `maple` nor `iroots`";
    let measured = (has_memory_model(s) && measures_iroots(s)).then_some(measured);
    measured.or_else(|| memory_model_over_std(s))
}

fn memory_model_over_std(s: &Settings) -> Reason {
    (has_memory_model(s) && !is_order_seen()).then_some(
        "the counts of `Arc` order accesses, and in unmodified code they are seen only on Linux, on x86-64 and aarch64, and \
         without a global allocator of the program's own: leave out `stale_reads`",
    )
}

fn jobs(s: &Settings) -> Reason {
    (reuses(s) && s.jobs > 1).then_some(
        "the executions of one worker alone have memory of their own, so those of the others would never reuse an address: \
         give 1, or no `address_reuse`",
    )
}

fn partition(s: &Settings) -> Reason {
    s.partition?;
    Some(match () {
        () if s.jobs > 1 => {
            "a share is explored by one worker: give more shares instead of `jobs`, and run several on each machine"
        }
        () if s.checkpoint.is_some() => {
            "a share is not kept in a checkpoint: give more and smaller shares, or no `checkpoint`"
        }
        () => return None,
    })
}

/// Checks that a search which one worker has to run as a whole is not divided, and not kept.
fn alone(s: &Settings) -> Result<(), SettingError> {
    let learns = assumes_loops(s) || s.reduction == Reduction::OrderedAtomics;
    let (why, instead) = match () {
        () if learns => (
            "the search starts again when an atomic proves to need schedule points, or a loop to only wait",
            "neither `reduction` `ordered-atomics` nor `spin_loops` `assume`",
        ),
        () if measures_iroots(s) => (
            "executions expose iRoots one after the other, and the next one depends on those before",
            "neither the search `maple` nor `iroots`",
        ),
        () => return Ok(()),
    };
    let (name, problem) = match () {
        () if s.jobs > 1 => ("jobs", "several workers cannot do that together: give 1, or"),
        () if s.checkpoint.is_some() => ("checkpoint", "a checkpoint does not keep that: give `none`, or"),
        () if s.partition.is_some() => ("partition", "the other shares would not know of it: give"),
        () => return Ok(()),
    };
    Err(SettingError::new(name, format!("{why}, and {problem} {instead}")))
}

fn assumes_loops(s: &Settings) -> bool {
    s.spin_loops == SpinLoops::Assume
}

fn measures_iroots(s: &Settings) -> bool {
    matches!(s.strategy, StrategyKind::Maple(_)) || s.iroots.is_some()
}

fn reuses(s: &Settings) -> bool {
    s.environment.address_reuse > 0
}

fn has_memory_model(s: &Settings) -> bool {
    s.environment.has_memory_model()
}

fn scoped(s: &Settings) -> bool {
    !s.preempt_in.is_empty() || !s.preempt_not_in.is_empty()
}

#[cfg(test)]
mod tests;
