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
        |s| depth_bounded(s) && s.strategy == StrategyKind::Random,
        "a random walk has no depth to complete: leave the bound out, or give `dfs`",
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
        |s| s.quiet_atomics && s.strategy == StrategyKind::Random,
        "a random walk is uniform over choices, of which it would take some away as it goes; give `false`",
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

/// Whether the search counts delays.
fn delay_bounded(settings: &Settings) -> bool {
    let bounded = settings.delays.is_some();
    settings.strategy == StrategyKind::Delays || settings.strategy == StrategyKind::DepthFirst && bounded
}

fn depth_bounded(settings: &Settings) -> bool {
    settings.depth.is_some() || settings.depth_step.is_some()
}

fn scoped(settings: &Settings) -> bool {
    !settings.preempt_in.is_empty() || !settings.preempt_not_in.is_empty()
}

/// The setting that cannot be beside the others, and why.
pub(super) fn refused(settings: &Settings) -> Option<(&'static str, &'static str)> {
    let fits = REFUSED.iter().find(|(_, fits, _)| fits(settings));
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
            ("depth_step=7 strategy=random", Some(("depth", "a random walk"))),
            ("depth=7 strategy=random", Some(("depth", "a random walk"))),
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
