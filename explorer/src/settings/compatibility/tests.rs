//! Every combination of one value per setting, against what is sound.

use super::*;

#[test]
fn combinations() {
    for (given, refused) in [
        ("strategy=dfs(delays=none)", None),
        ("strategy=dfs(delays=3)", None),
        ("strategy=dfs(delays=3,depth=9)", None),
        ("strategy=dfs(delays=none) preempt=a", None),
        (
            "strategy=dfs(delays=none) preemptions=2",
            Some(("preemptions", "two orders of search")),
        ),
        (
            "strategy=dfs(delays=1) preemptions=2",
            Some(("preemptions", "two orders of search")),
        ),
        (
            "strategy=dfs(delays=1) reduction=dpor",
            Some(("reduction", "bound on delays")),
        ),
        (
            "strategy=dfs(delays=none) reduction=source-dpor",
            Some(("reduction", "bound on delays")),
        ),
        (
            "strategy=dfs(delays=none) reduction=caching",
            Some(("reduction", "bound on delays")),
        ),
        ("strategy=best-first(rare,prefixes=10)", None),
        (
            "strategy=best-first reduction=dpor",
            Some(("reduction", "the order in which")),
        ),
        (
            "strategy=best-first reduction=caching",
            Some(("reduction", "the order in which")),
        ),
        ("strategy=dfs(depth=7) preemptions=2", None),
        ("strategy=dfs(depth=70,step=7)", None),
        (
            "strategy=dfs(depth=7) reduction=dpor",
            Some(("reduction", "beyond the depth")),
        ),
        (
            "strategy=dfs(depth=7) reduction=source-dpor",
            Some(("reduction", "beyond the depth")),
        ),
        (
            "strategy=dfs(step=7) reduction=caching",
            Some(("reduction", "beyond the depth")),
        ),
        (
            "strategy=dfs(depth=7) reduction=dpor preemptions=2",
            Some(("reduction", "beyond the depth")),
        ),
        ("strategy=pct(3) jobs=2 checkpoint=a", None),
        ("strategy=portfolio(random,surw) spin_loops=assume", None),
        (
            "strategy=pct(3) preemptions=2",
            Some(("preemptions", "within a preemption bound")),
        ),
        (
            "strategy=surw preempt=a",
            Some(("preempt", "rests on choices everywhere")),
        ),
        ("strategy=auto preemptions=2 jobs=2 checkpoint=a", None),
        ("strategy=auto reduction=dpor spin_loops=assume", None),
        ("strategy=auto preempt=a", None),
        ("strategy=random seed=7/3", None),
        ("strategy=auto seed=7/3", Some(("seed", "numbers of their own"))),
        ("strategy=pct-all reduction=dpor", Some(("reduction", "uniform"))),
        (
            "strategy=pctvb reduction=ordered-atomics",
            Some(("reduction", "uniform over choices")),
        ),
        ("preemptions=2 preempt=a", None),
        ("strategy=random preempt=a", None),
        ("reduction=dpor preempt=a", Some(("reduction", "`preempt`"))),
        (
            "reduction=source-dpor preempt=!a",
            Some(("reduction", "`preempt`")),
        ),
        ("reduction=caching preempt=!a", Some(("reduction", "`preempt`"))),
        (
            "reduction=dpor preemptions=2 preempt=a",
            Some(("reduction", "`preempt`")),
        ),
        ("breakpoints=a jobs=2 checkpoint=a preemptions=2 preempt=a", None),
        ("strategy=best-first breakpoints=a", None),
        ("strategy=dfs(delays=none) breakpoints=a", None),
        ("strategy=random breakpoints=a", None),
        (
            "breakpoints=a reduction=dpor",
            Some(("reduction", "does not stand")),
        ),
        (
            "breakpoints=a reduction=caching",
            Some(("reduction", "does not stand")),
        ),
        (
            "breakpoints=a reduction=dpor preemptions=2",
            Some(("reduction", "does not stand")),
        ),
        (
            "breakpoints=a reduction=ordered-atomics",
            Some(("reduction", "does not stand")),
        ),
        (
            "breakpoints=a spin_loops=assume",
            Some(("spin_loops", "not having happened")),
        ),
        ("reduction=ordered-atomics", None),
        ("preemptions=2 reduction=ordered-atomics", None),
        (
            "strategy=best-first preemptions=2 reduction=ordered-atomics",
            None,
        ),
        (
            "strategy=dfs(delays=2) reduction=ordered-atomics",
            Some(("reduction", "bound on delays")),
        ),
        (
            "strategy=dfs(step=2) reduction=ordered-atomics",
            Some(("reduction", "beyond the depth")),
        ),
        (
            "reduction=ordered-atomics preempt=a",
            Some(("reduction", "out of the scope")),
        ),
        (
            "strategy=random reduction=ordered-atomics",
            Some(("reduction", "uniform over choices")),
        ),
        ("jobs=2 preemptions=2 preempt=a", None),
        ("strategy=random jobs=2 checkpoint=a", None),
        ("jobs=2 checkpoint=a reduction=caching preemptions=2", None),
        ("jobs=2 reduction=dpor", None),
        ("jobs=2 reduction=dpor checkpoint=a", None),
        ("jobs=2 reduction=source-dpor", None),
        ("jobs=2 reduction=source-dpor checkpoint=a", None),
        ("jobs=2 reduction=dpor preemptions=2", None),
        ("jobs=2 reduction=dpor preemptions=2 checkpoint=a", None),
        ("checkpoint=a reduction=dpor", None),
        ("checkpoint=a reduction=dpor preemptions=1", None),
        (
            "strategy=dfs(delays=1) jobs=2",
            Some(("jobs", "`dfs(delays=1)` is not split")),
        ),
        (
            "strategy=dfs(delays=none) checkpoint=a",
            Some(("checkpoint", "`dfs(delays=none)` is not kept")),
        ),
        (
            "strategy=best-first jobs=2",
            Some(("jobs", "`best-first(preemptions,rare)` is not split")),
        ),
        (
            "strategy=best-first checkpoint=a",
            Some(("checkpoint", "`best-first(preemptions,rare)` is not kept")),
        ),
        (
            "strategy=dfs(depth=7) jobs=2",
            Some(("jobs", "`dfs(depth=7)` is not split")),
        ),
        (
            "strategy=dfs(step=7) checkpoint=a",
            Some(("checkpoint", "`dfs(step=7)` is not kept")),
        ),
        (
            "jobs=2 reduction=ordered-atomics",
            Some(("jobs", "the search starts again")),
        ),
        (
            "checkpoint=a reduction=ordered-atomics",
            Some(("checkpoint", "which atomics")),
        ),
        (
            "jobs=2 spin_loops=assume",
            Some(("jobs", "the search starts again")),
        ),
        (
            "checkpoint=a spin_loops=assume",
            Some(("checkpoint", "which loops")),
        ),
        ("keep_going=true reduction=dpor data_points=races", None),
        ("data_points=races", None),
        ("keep_going=true reduction=ordered-atomics", None),
        ("keep_going=true jobs=2", None),
        ("keep_going=true checkpoint=a", None),
        ("strategy=maple keep_going=true data_points=races", None),
        ("strategy=maple(memo=a) preempt=a", None),
        ("reduction=dpor iroots=memo=a", None),
        (
            "strategy=maple reduction=caching",
            Some(("reduction", "for iRoots runs")),
        ),
        (
            "strategy=maple preemptions=1",
            Some(("preemptions", "for iRoots preempts")),
        ),
        (
            "strategy=maple reduction=ordered-atomics",
            Some(("reduction", "for iRoots runs")),
        ),
        ("strategy=maple iroots=true", None),
        (
            "strategy=maple iroots=window=7",
            Some(("iroots", "parameters of its own")),
        ),
        ("strategy=maple jobs=2", Some(("jobs", "one after the other"))),
        ("iroots=true jobs=2", Some(("jobs", "one after the other"))),
        (
            "checkpoint=b iroots=memo=a",
            Some(("checkpoint", "not in a checkpoint")),
        ),
        ("jobs=2 checkpoint=a data_points=a.rs:3", None),
        ("reduction=dpor spin_loops=assume", None),
        ("strategy=ranked", None),
        (
            "strategy=ranked(variables=1,sets=dynamic) preemptions=2 reduction=caching",
            None,
        ),
        (
            "strategy=ranked(variables=1,threads=2,epsilon=0.1) preemptions=2",
            None,
        ),
        ("strategy=ranked preempt=a", None),
        (
            "strategy=ranked reduction=caching preempt=a",
            Some(("reduction", "`preempt`")),
        ),
        ("strategy=ranked(variables=1,threads=2,arrays=whole)", None),
        (
            "strategy=ranked(arrays=whole) reduction=caching",
            Some(("reduction", "other arrays")),
        ),
        (
            "strategy=ranked reduction=dpor",
            Some(("reduction", "within the rank")),
        ),
        (
            "strategy=ranked preemptions=2 reduction=dpor",
            Some(("reduction", "within the rank")),
        ),
        (
            "strategy=ranked(threads=2) reduction=caching",
            Some(("reduction", "the priorities")),
        ),
        (
            "strategy=ranked reduction=ordered-atomics",
            Some(("reduction", "within the rank")),
        ),
        (
            "strategy=ranked spin_loops=assume",
            Some(("spin_loops", "takes its accesses")),
        ),
        ("strategy=ranked jobs=2", Some(("jobs", "`ranked` is not split"))),
        (
            "strategy=ranked checkpoint=a",
            Some(("checkpoint", "`ranked` is not kept")),
        ),
        (
            "spin_loops=assume reduction=ordered-atomics",
            Some(("spin_loops", "starts the search again")),
        ),
        ("reduction=dpor preemptions=2", None),
        (
            "reduction=source-dpor preemptions=2",
            Some(("reduction", "sleep sets")),
        ),
        (
            "strategy=random reduction=caching",
            Some(("reduction", "uniform")),
        ),
        ("environment=address_reuse=0 jobs=2", None),
        ("environment=address_reuse=1", None),
        ("environment=address_reuse=1 jobs=2", Some(("jobs", "one worker"))),
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
