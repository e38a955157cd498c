//! Settings that do not go together, and why.

use super::{Arrays, Reduction, Settings, StrategyKind, VariableSets};

/// A combination that is refused: the setting to name, when, and why.
type Refused = (&'static str, fn(&Settings) -> bool, &'static str);

/// Combinations of bounds, scopes and strategies that are refused. The first that fits is told.
const REFUSED: &[Refused] = &[
    (
        "delays",
        |s| s.delays.is_some() && !delay_bounded(s),
        "only the strategies `delays` and `dfs` count delays: leave the bound or the other strategy out",
    ),
    (
        "preemptions",
        |s| delay_bounded(s) && s.preemptions.is_some(),
        "delays and preemptions are two orders of search, each complete bound by bound: give one bound, and `none` for \
         the other",
    ),
    (
        "reduction",
        |s| delay_bounded(s) && s.reduction != Reduction::None,
        "a reduction leaves an execution out for another of the same trace, which may need more delays: with a bound on \
         delays it would miss traces within the bound; give `none`",
    ),
    (
        "reduction",
        |s| s.strategy == StrategyKind::BestFirst && s.reduction != Reduction::None,
        "a reduction rests on the order in which depth first search runs executions: give `none` with `best-first`",
    ),
    (
        "variables",
        |s| s.variables.is_some() && !ranked(s),
        "only the strategy `ranked` counts variables: give it, or leave the bound out",
    ),
    (
        "variable_sets",
        |s| s.variable_sets != VariableSets::default() && !ranked(s),
        "only the strategy `ranked` has sets of variables",
    ),
    (
        "arrays",
        |s| s.arrays == Arrays::Whole && !ranked(s),
        "only the strategy `ranked` counts elements one by one unless it is told not to; for `pctvb` and `surw` what one place \
         in the source accesses is one variable in any case",
    ),
    (
        "reduction",
        |s| s.arrays == Arrays::Whole && s.reduction == Reduction::Caching,
        "which variables one place goes through, and so are one array, depends on the order of accesses that commute: \
         states of one trace may have other arrays; give `none`, or `arrays` `elements`",
    ),
    (
        "threads",
        |s| s.threads.is_some() && !ranked(s),
        "only the strategy `ranked` tries orders of tasks: give it, or leave the bound out",
    ),
    (
        "reduction",
        |s| ranked(s) && partial_order(s),
        "a partial-order reduction leaves an execution out for another of the same trace, which may be preempted after \
         accesses to other variables: it would miss traces within the rank; give `caching` or `none`",
    ),
    (
        "reduction",
        |s| s.threads.is_some() && s.reduction == Reduction::Caching,
        "what a state leads to depends on the priorities with which it was reached, too: give `none`, or no `threads`",
    ),
    (
        "depth",
        |s| depth_bounded(s) && ranked(s),
        "a ranked search has a bound of its own for each rank; leave the depth out, or give `dfs`",
    ),
    (
        "quiet_atomics",
        |s| s.quiet_atomics && ranked(s),
        "an execution without schedule points at atomics stands for others that are preempted after accesses to them: it \
         would claim too much; give `false`",
    ),
    (
        "assume_awaits",
        |s| s.assume_awaits && ranked(s),
        "a round of a loop that counts as not having happened takes its accesses with it, against which preemptions count; \
         give `false`",
    ),
    (
        "depth",
        |s| depth_bounded(s) && s.strategy.is_sampler(),
        "executions drawn at random, as in a random walk, have no depth to complete: leave the bound out, or give `dfs`",
    ),
    (
        "reduction",
        |s| depth_bounded(s) && s.reduction != Reduction::None,
        "beyond the depth nothing is varied, so the execution that a reduction would rely on may never be run: with a \
         depth bound it would miss traces within the bound; give `none`",
    ),
    (
        "reduction",
        |s| scoped(s) && s.reduction != Reduction::None,
        "a reduction leaves an execution out for another of the same trace, which may preempt out of the scope, and so \
         never be run: with `preempt_in` or `preempt_not_in` it would miss traces within the scope; give `none`",
    ),
    (
        "preemptions",
        |s| s.preemptions.is_some() && s.strategy.is_sampler() && s.strategy != StrategyKind::Random,
        "only `random` draws executions within a preemption bound: the others say what they find with which probability, or \
         are uniform, among all executions; give `none`",
    ),
    (
        "first_execution",
        |s| s.first_execution.is_some() && !s.strategy.is_sampler(),
        "only executions that are drawn at random have numbers of their own: leave it out, or give `random`, `pct`, `pos`, \
         `surw` or the like",
    ),
    (
        "preempt_in",
        |s| scoped(s) && s.strategy.is_sampler() && s.strategy != StrategyKind::Random,
        "what is said of executions drawn at random rests on choices everywhere, and a scope takes some of them away: leave \
         it out, or give `random`; `surw(PLACE)` and `pctvb` look at some operations more than at others",
    ),
    (
        "reduction",
        |s| !s.breakpoints.0.is_empty() && s.reduction != Reduction::None,
        "who waits at an armed breakpoint depends on the order of operations that commute, so an execution does not stand \
         for all of its trace: give `none`, or no `breakpoints`",
    ),
    (
        "quiet_atomics",
        |s| s.quiet_atomics && !s.breakpoints.0.is_empty(),
        "it takes executions for the same in which operations that commute come in another order, and who waits at an armed \
         breakpoint depends on that order: give `false`, or no `breakpoints`",
    ),
    (
        "assume_awaits",
        |s| s.assume_awaits && !s.breakpoints.0.is_empty(),
        "a round that counts as not having happened may have come to an armed breakpoint: give `false`, or no `breakpoints`",
    ),
    (
        "quiet_atomics",
        |s| s.quiet_atomics && s.reduction != Reduction::None,
        "it is a reduction itself, and each of the two would rely on executions that the other leaves out; give `false`, \
         for the other leaves out more",
    ),
    (
        "quiet_atomics",
        |s| s.quiet_atomics && (delay_bounded(s) || depth_bounded(s)),
        "an execution without schedule points at atomics stands for others that need fewer delays or choices: with a bound \
         on these it would claim too much; give `false`, or bound preemptions",
    ),
    (
        "quiet_atomics",
        |s| s.quiet_atomics && scoped(s),
        "a preemption before an atomic is made up for by one before the operation after it, which may be out of the scope; \
         give `false`, or no scope",
    ),
    (
        "quiet_atomics",
        |s| s.quiet_atomics && s.strategy.is_sampler(),
        "what is said of executions drawn at random (a random walk is uniform over choices) rests on all choices, of which \
         it would take some away as it goes; give `false`",
    ),
    (
        "reduction",
        |s| s.strategy == StrategyKind::Coverage && s.reduction != Reduction::None,
        "a search by iRoots runs what may expose one, in no order that a reduction could rely on: give `none` with `coverage`",
    ),
    (
        "preemptions",
        |s| s.strategy == StrategyKind::Coverage && s.preemptions.is_some(),
        "a search by iRoots preempts wherever one needs it: leave the bound out, or give `dfs`",
    ),
    (
        "depth",
        |s| s.strategy == StrategyKind::Coverage && depth_bounded(s),
        "a search by iRoots has no depth to complete: leave the bound out, or give `dfs`",
    ),
    (
        "quiet_atomics",
        |s| s.strategy == StrategyKind::Coverage && s.quiet_atomics,
        "an iRoot needs a schedule point at each of its accesses, those to atomics too; give `false`",
    ),
    (
        "jobs",
        |s| s.jobs > 1 && measures_iroots(s),
        "which execution exposed an iRoot first, and what the next one is to expose, is known of executions one after the \
         other: give 1, or neither the search `coverage` nor `iroots` nor a `memo`",
    ),
    (
        "checkpoint",
        |s| s.checkpoint.is_some() && measures_iroots(s),
        "which iRoots were exposed is not in a checkpoint: give `none`, or neither the search `coverage` nor `iroots` nor a \
         `memo`",
    ),
    (
        "jobs",
        |s| s.jobs > 1 && s.quiet_atomics,
        "when an atomic proves to need schedule points the search starts anew, which several workers do not do together: \
         give 1, or `quiet_atomics` `false`",
    ),
    (
        "checkpoint",
        |s| s.checkpoint.is_some() && s.quiet_atomics,
        "which atomics have proved to need schedule points is not in a checkpoint: give `none`, or `quiet_atomics` `false`",
    ),
    (
        "jobs",
        |s| s.jobs > 1 && s.assume_awaits,
        "when a loop proves to only wait the search starts anew, which several workers do not do together: give 1, or \
         `assume_awaits` `false`",
    ),
    (
        "checkpoint",
        |s| s.checkpoint.is_some() && s.assume_awaits,
        "which loops have proved to only wait is not in a checkpoint: give `none`, or `assume_awaits` `false`",
    ),
    (
        "assume_awaits",
        |s| s.assume_awaits && !s.awaits,
        "without `awaits` no loop is seen to only wait: leave one of the two out",
    ),
    (
        "assume_awaits",
        |s| s.assume_awaits && s.quiet_atomics,
        "both start the search anew when they learn something, and neither knows what the other took for granted before: \
         give one of the two",
    ),
    (
        "priority",
        |s| s.priority.is_some() && s.strategy != StrategyKind::BestFirst,
        "only the strategy `best-first` has priorities",
    ),
];

/// What is refused beside a search of the user's own.
const REFUSED_TO_CUSTOM: &[Refused] = &[
    (
        "quiet_atomics",
        |s| s.quiet_atomics,
        "when an atomic proves to need schedule points the search starts anew, which one of your own cannot: give `false`",
    ),
    (
        "assume_awaits",
        |s| s.assume_awaits,
        "when a loop proves to only wait the search starts anew, which one of your own cannot: give `false`",
    ),
];

/// Whether executions are left out by what those before showed of the order of operations.
fn partial_order(settings: &Settings) -> bool {
    use Reduction::{Bpor, Dpor, SourceDpor};
    matches!(settings.reduction, SourceDpor | Dpor | Bpor)
}

fn ranked(settings: &Settings) -> bool {
    settings.strategy == StrategyKind::Ranked
}

/// Whether the search counts delays.
fn delay_bounded(settings: &Settings) -> bool {
    let bounded = settings.delays.is_some();
    settings.strategy == StrategyKind::Delays || settings.strategy.is_depth_first() && bounded
}

fn depth_bounded(settings: &Settings) -> bool {
    settings.depth.is_some() || settings.depth_step.is_some()
}

/// Whether iRoots are measured.
fn measures_iroots(settings: &Settings) -> bool {
    settings.strategy == StrategyKind::Coverage || settings.iroots || settings.memo.is_some()
}

fn scoped(settings: &Settings) -> bool {
    !settings.preempt_in.is_empty() || !settings.preempt_not_in.is_empty()
}

/// The setting that cannot be beside the others, and why.
pub(super) fn refused(settings: &Settings) -> Option<(&'static str, &'static str)> {
    first(REFUSED, settings)
}

/// The setting that cannot be beside a search of the user's own, and why.
pub(super) fn refused_to_custom(settings: &Settings) -> Option<(&'static str, &'static str)> {
    first(REFUSED_TO_CUSTOM, settings)
}

fn first(table: &[Refused], settings: &Settings) -> Option<(&'static str, &'static str)> {
    let fits = table.iter().find(|(_, fits, _)| fits(settings));
    fits.map(|&(name, _, why)| (name, why))
}

#[cfg(test)]
mod tests;
