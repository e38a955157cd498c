//! Every combination of one value per setting, against what is sound.

use super::*;

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
        ("depth=7 strategy=best-first", None),
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
        (
            "breakpoints=a jobs=2 checkpoint=a preemptions=2 preempt_in=a",
            None,
        ),
        ("breakpoints=a strategy=best-first", None),
        ("breakpoints=a strategy=delays", None),
        ("breakpoints=a strategy=random", None),
        (
            "breakpoints=a reduction=dpor",
            Some(("reduction", "does not stand")),
        ),
        (
            "breakpoints=a reduction=caching",
            Some(("reduction", "does not stand")),
        ),
        (
            "breakpoints=a reduction=bpor preemptions=2",
            Some(("reduction", "does not stand")),
        ),
        (
            "breakpoints=a quiet_atomics=true",
            Some(("quiet_atomics", "depends on that order")),
        ),
        (
            "breakpoints=a assume_awaits=true",
            Some(("assume_awaits", "not having happened")),
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
        ("jobs=2 reduction=dpor", None),
        ("jobs=2 reduction=dpor checkpoint=a", None),
        ("jobs=2 reduction=source-dpor", None),
        ("jobs=2 reduction=source-dpor checkpoint=a", None),
        ("jobs=2 reduction=bpor preemptions=2", None),
        ("jobs=2 reduction=bpor preemptions=2 checkpoint=a", None),
        ("checkpoint=a reduction=dpor", None),
        ("checkpoint=a reduction=bpor preemptions=1", None),
        ("jobs=2 delays=1", Some(("jobs", "`delays` is not split"))),
        (
            "checkpoint=a strategy=delays",
            Some(("checkpoint", "`delays` is not kept")),
        ),
        (
            "jobs=2 strategy=best-first",
            Some(("jobs", "`best-first(preemptions,rare)` is not split")),
        ),
        (
            "checkpoint=a strategy=best-first",
            Some(("checkpoint", "`best-first(preemptions,rare)` is not kept")),
        ),
        ("jobs=2 depth=7", Some(("jobs", "`dfs, depth 7` is not split"))),
        (
            "checkpoint=a depth_step=7",
            Some(("checkpoint", "`dfs, depth 7 by 7` is not kept")),
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
        ("preempt_at_races=true", None),
        ("keep_going=true quiet_atomics=true", None),
        ("keep_going=true jobs=2", None),
        ("keep_going=true checkpoint=a", None),
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
        ("strategy=ranked", None),
        (
            "strategy=ranked preemptions=2 variables=1 reduction=caching variable_sets=dynamic",
            None,
        ),
        (
            "strategy=ranked preemptions=2 variables=1 threads=2 epsilon=0.1",
            None,
        ),
        ("strategy=ranked preempt_in=a", None),
        (
            "strategy=ranked preempt_in=a reduction=caching",
            Some(("reduction", "`preempt_in`")),
        ),
        ("variables=1", Some(("variables", "only the strategy `ranked`"))),
        (
            "variable_sets=dynamic",
            Some(("variable_sets", "only the strategy")),
        ),
        ("strategy=ranked variables=1 arrays=whole threads=2", None),
        ("arrays=whole", Some(("arrays", "only the strategy `ranked`"))),
        (
            "strategy=pctvb(3,1) arrays=whole",
            Some(("arrays", "for `pctvb`")),
        ),
        (
            "strategy=ranked arrays=whole reduction=caching",
            Some(("reduction", "other arrays")),
        ),
        ("threads=2", Some(("threads", "only the strategy `ranked`"))),
        (
            "strategy=ranked reduction=dpor",
            Some(("reduction", "within the rank")),
        ),
        (
            "strategy=ranked preemptions=2 reduction=bpor",
            Some(("reduction", "within the rank")),
        ),
        (
            "strategy=ranked threads=2 reduction=caching",
            Some(("reduction", "the priorities")),
        ),
        ("strategy=ranked depth=3", Some(("depth", "each rank"))),
        (
            "strategy=ranked quiet_atomics=true",
            Some(("quiet_atomics", "claim too much")),
        ),
        (
            "strategy=ranked assume_awaits=true",
            Some(("assume_awaits", "takes its accesses")),
        ),
        ("strategy=ranked jobs=2", Some(("jobs", "`ranked` is not split"))),
        (
            "strategy=ranked checkpoint=a",
            Some(("checkpoint", "`ranked` is not kept")),
        ),
        (
            "strategy=ranked delays=1",
            Some(("delays", "only the strategies")),
        ),
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
