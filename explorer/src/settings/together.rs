//! Settings that do not go together, and why.

use super::{Reduction, Settings, StrategyKind};

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
        |s| s.jobs > 1 && partial_order(s),
        "a partial-order reduction learns from each execution what to run next, one after the other: give 1 worker, or \
         the reduction `caching` or `none`",
    ),
    (
        "checkpoint",
        |s| s.checkpoint.is_some() && partial_order(s),
        "what a partial-order reduction has learned is not in a checkpoint: give `none`, or the reduction `caching` or \
         `none`",
    ),
    (
        "jobs",
        |s| s.jobs > 1 && delay_bounded(s),
        "a search in order of delays is not split among workers: give 1, or bound preemptions",
    ),
    (
        "checkpoint",
        |s| s.checkpoint.is_some() && delay_bounded(s),
        "a search in order of delays is not kept in a checkpoint: give `none`, or bound preemptions",
    ),
    (
        "jobs",
        |s| s.jobs > 1 && s.strategy == StrategyKind::BestFirst,
        "a best-first search runs what ranks first of all, and is not split among workers: give 1, or `dfs` or `random`",
    ),
    (
        "checkpoint",
        |s| s.checkpoint.is_some() && s.strategy == StrategyKind::BestFirst,
        "what ranks a prefix in a best-first search is not in a checkpoint: give `none`, or `dfs` or `random`",
    ),
    (
        "jobs",
        |s| s.jobs > 1 && depth_bounded(s),
        "a search with a bound on depth is not split among workers: give 1, or bound preemptions",
    ),
    (
        "checkpoint",
        |s| s.checkpoint.is_some() && depth_bounded(s),
        "a search with a bound on depth is not kept in a checkpoint: give `none`, or bound preemptions",
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
        |s| s.jobs > 1 && s.preempt_at_races,
        "when a race is found the search starts anew, which several workers do not do together: give 1, or \
         `preempt_at_races` `false`",
    ),
    (
        "checkpoint",
        |s| s.checkpoint.is_some() && s.preempt_at_races,
        "which races were found is not in a checkpoint: give `none`, or `preempt_at_races` `false`",
    ),
    (
        "preempt_at_races",
        |s| s.preempt_at_races && s.quiet_atomics,
        "both start the search anew when they learn something, and neither knows what the other took for granted before: \
         give one of the two",
    ),
    (
        "preempt_at_races",
        |s| s.preempt_at_races && !s.keep_going,
        "a race is a finding, at which the search stops: give `keep_going` as well",
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
    (
        "preempt_at_races",
        |s| s.preempt_at_races,
        "when a race is found the search starts anew, which one of your own cannot: give `false`",
    ),
    (
        "jobs",
        |s| s.jobs > 1,
        "a search of your own is run by one worker: give 1, or a search that comes with intermezzo",
    ),
    (
        "checkpoint",
        |s| s.checkpoint.is_some(),
        "a search of your own is not kept in a checkpoint: give `none`, or a search that comes with intermezzo",
    ),
];

/// Whether executions are left out by what those before showed of the order of operations.
fn partial_order(settings: &Settings) -> bool {
    use Reduction::{Bpor, Dpor, SourceDpor};
    matches!(settings.reduction, SourceDpor | Dpor | Bpor)
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
mod tests {
    use super::*;

    /// Every combination of one value per setting, against what is sound.
    #[test]
    fn combinations() {
        for (given, refused) in [
            ("strategy=delays", None),
            ("strategy=delays delays=3", None),
            ("delays=3", None),
            ("strategy=delays delays=3 depth=9", None),
            ("strategy=delays preempt_in=a", None),
            (
                "strategy=delays preemptions=2",
                Some(("preemptions", "two orders of search")),
            ),
            (
                "delays=1 preemptions=2",
                Some(("preemptions", "two orders of search")),
            ),
            (
                "strategy=random delays=1",
                Some(("delays", "only the strategies")),
            ),
            (
                "strategy=best-first delays=1",
                Some(("delays", "only the strategies")),
            ),
            ("delays=1 reduction=dpor", Some(("reduction", "bound on delays"))),
            (
                "strategy=delays reduction=source-dpor",
                Some(("reduction", "bound on delays")),
            ),
            (
                "strategy=delays reduction=caching",
                Some(("reduction", "bound on delays")),
            ),
            ("delays=1 reduction=bpor", Some(("reduction", "bound on delays"))),
            ("strategy=best-first preemptions=2 depth=7", None),
            ("strategy=best-first priority=rare prefixes=10", None),
            (
                "strategy=best-first reduction=dpor",
                Some(("reduction", "the order in which")),
            ),
            (
                "strategy=best-first reduction=caching",
                Some(("reduction", "the order in which")),
            ),
            (
                "priority=rare",
                Some(("priority", "only the strategy `best-first`")),
            ),
            ("depth=7 preemptions=2", None),
            ("depth=70 depth_step=7", None),
            (
                "depth_step=7 strategy=random",
                Some(("depth", "in a random walk")),
            ),
            ("depth=7 strategy=random", Some(("depth", "in a random walk"))),
            ("depth=7 reduction=dpor", Some(("reduction", "beyond the depth"))),
            (
                "depth=7 reduction=source-dpor",
                Some(("reduction", "beyond the depth")),
            ),
            (
                "depth_step=7 reduction=caching",
                Some(("reduction", "beyond the depth")),
            ),
            (
                "depth=7 reduction=bpor preemptions=2",
                Some(("reduction", "beyond the depth")),
            ),
            ("strategy=pct(3) jobs=2 checkpoint=a", None),
            ("strategy=portfolio(random,surw) assume_awaits=true", None),
            (
                "strategy=pct(3) preemptions=2",
                Some(("preemptions", "within a preemption bound")),
            ),
            (
                "strategy=surw preempt_in=a",
                Some(("preempt_in", "rests on choices everywhere")),
            ),
            ("strategy=auto preemptions=2 jobs=2 checkpoint=a", None),
            ("strategy=auto reduction=dpor assume_awaits=true", None),
            ("strategy=auto preempt_in=a quiet_atomics=false", None),
            ("strategy=random first_execution=3", None),
            (
                "strategy=auto first_execution=3",
                Some(("first_execution", "numbers of their own")),
            ),
            ("strategy=pos delays=2", Some(("delays", "only the strategies"))),
            ("strategy=pos depth=2", Some(("depth", "no depth to complete"))),
            ("strategy=pct-all reduction=dpor", Some(("reduction", "uniform"))),
            (
                "strategy=pctvb quiet_atomics=true",
                Some(("quiet_atomics", "uniform over choices")),
            ),
            ("preempt_in=a preemptions=2", None),
            ("preempt_in=a strategy=random", None),
            ("preempt_in=a strategy=best-first depth=3", None),
            ("preempt_in=a reduction=dpor", Some(("reduction", "`preempt_in`"))),
            (
                "preempt_not_in=a reduction=source-dpor",
                Some(("reduction", "`preempt_in`")),
            ),
            (
                "preempt_not_in=a reduction=caching",
                Some(("reduction", "`preempt_in`")),
            ),
            (
                "preempt_in=a reduction=bpor preemptions=2",
                Some(("reduction", "`preempt_in`")),
            ),
            ("quiet_atomics=true", None),
            ("quiet_atomics=true preemptions=2", None),
            ("quiet_atomics=true strategy=best-first preemptions=2", None),
            (
                "quiet_atomics=true reduction=dpor",
                Some(("quiet_atomics", "a reduction itself")),
            ),
            (
                "quiet_atomics=true reduction=caching",
                Some(("quiet_atomics", "a reduction itself")),
            ),
            (
                "quiet_atomics=true delays=2",
                Some(("quiet_atomics", "claim too much")),
            ),
            (
                "quiet_atomics=true depth_step=2",
                Some(("quiet_atomics", "claim too much")),
            ),
            (
                "quiet_atomics=true preempt_in=a",
                Some(("quiet_atomics", "out of the scope")),
            ),
            (
                "quiet_atomics=true strategy=random",
                Some(("quiet_atomics", "uniform over choices")),
            ),
            ("jobs=2 preemptions=2 preempt_in=a", None),
            ("jobs=2 checkpoint=a strategy=random", None),
            ("jobs=2 checkpoint=a reduction=caching preemptions=2", None),
            ("jobs=2 reduction=dpor", Some(("jobs", "one after the other"))),
            (
                "jobs=2 reduction=source-dpor",
                Some(("jobs", "one after the other")),
            ),
            (
                "jobs=2 reduction=bpor preemptions=2",
                Some(("jobs", "one after the other")),
            ),
            ("checkpoint=a reduction=dpor", Some(("checkpoint", "has learned"))),
            (
                "checkpoint=a reduction=bpor preemptions=1",
                Some(("checkpoint", "has learned")),
            ),
            ("jobs=2 delays=1", Some(("jobs", "in order of delays"))),
            (
                "checkpoint=a strategy=delays",
                Some(("checkpoint", "in order of delays")),
            ),
            ("jobs=2 strategy=best-first", Some(("jobs", "best-first search"))),
            (
                "checkpoint=a strategy=best-first",
                Some(("checkpoint", "best-first search")),
            ),
            ("jobs=2 depth=7", Some(("jobs", "bound on depth"))),
            (
                "checkpoint=a depth_step=7",
                Some(("checkpoint", "bound on depth")),
            ),
            ("jobs=2 quiet_atomics=true", Some(("jobs", "starts anew"))),
            (
                "checkpoint=a quiet_atomics=true",
                Some(("checkpoint", "which atomics")),
            ),
            ("jobs=2 assume_awaits=true", Some(("jobs", "starts anew"))),
            (
                "checkpoint=a assume_awaits=true",
                Some(("checkpoint", "which loops")),
            ),
            ("preempt_at_races=true keep_going=true reduction=dpor", None),
            (
                "preempt_at_races=true",
                Some(("preempt_at_races", "give `keep_going`")),
            ),
            (
                "preempt_at_races=true keep_going=true quiet_atomics=true",
                Some(("preempt_at_races", "start the search anew")),
            ),
            (
                "preempt_at_races=true keep_going=true jobs=2",
                Some(("jobs", "when a race")),
            ),
            (
                "preempt_at_races=true keep_going=true checkpoint=a",
                Some(("checkpoint", "which races")),
            ),
            ("strategy=maple preempt_at_races=true keep_going=true", None),
            ("strategy=coverage memo=a preempt_in=a", None),
            ("iroots=true memo=a reduction=dpor", None),
            (
                "strategy=coverage reduction=caching",
                Some(("reduction", "by iRoots runs")),
            ),
            (
                "strategy=coverage delays=1",
                Some(("delays", "only the strategies")),
            ),
            (
                "strategy=coverage preemptions=1",
                Some(("preemptions", "by iRoots preempts")),
            ),
            ("strategy=coverage depth=1", Some(("depth", "by iRoots has"))),
            (
                "strategy=coverage quiet_atomics=true",
                Some(("quiet_atomics", "those to atomics")),
            ),
            ("strategy=coverage jobs=2", Some(("jobs", "one after the other"))),
            ("iroots=true jobs=2", Some(("jobs", "one after the other"))),
            ("memo=a checkpoint=b", Some(("checkpoint", "not in a checkpoint"))),
            ("schedule_points_at=a.rs:3 jobs=2 checkpoint=a", None),
            ("assume_awaits=true reduction=dpor", None),
            (
                "assume_awaits=true awaits=false",
                Some(("assume_awaits", "without `awaits`")),
            ),
            (
                "assume_awaits=true quiet_atomics=true",
                Some(("assume_awaits", "start the search anew")),
            ),
            ("reduction=dpor preemptions=2", Some(("reduction", "sleep sets"))),
            (
                "reduction=source-dpor preemptions=2",
                Some(("reduction", "sleep sets")),
            ),
            ("reduction=bpor", Some(("reduction", "preemption bound"))),
            (
                "reduction=caching strategy=random",
                Some(("reduction", "uniform")),
            ),
        ] {
            let mut settings = Settings::default();
            for setting in given.split(' ') {
                let (name, value) = setting.split_once('=').unwrap();
                settings.set(name, value).unwrap();
            }
            match (settings.check(), refused) {
                (Ok(()), None) => {}
                (Err(error), Some((name, why))) => {
                    assert_eq!(error.name, name, "{given}: {error}");
                    assert!(error.problem.contains(why), "{given}: {error}");
                }
                (came, _) => panic!("{given}: {came:?}, but {refused:?}"),
            }
        }
    }
}
