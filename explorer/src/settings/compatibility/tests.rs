//! Every combination of one value per setting, against what is sound.

use super::super::Settings;

/// Settings that go together, and those that do not: the error names one, and has these words in it.
const COMBINATIONS: &str = "
    strategy=dfs(delays=none)
    strategy=dfs(delays=3)
    strategy=dfs(delays=3,depth=9)
    strategy=dfs(delays=none) preempt=a
    strategy=dfs(delays=none) preemptions=2 -> preemptions: two orders of search
    strategy=dfs(delays=1) preemptions=2 -> preemptions: two orders of search
    strategy=dfs(delays=1) reduction=dpor -> reduction: bound on delays
    strategy=dfs(delays=none) reduction=source-dpor -> reduction: bound on delays
    strategy=dfs(delays=none) reduction=caching -> reduction: bound on delays
    strategy=best-first(rare,prefixes=10)
    strategy=best-first reduction=dpor -> reduction: the order in which
    strategy=best-first reduction=caching -> reduction: the order in which
    strategy=dfs(depth=7) preemptions=2
    strategy=dfs(depth=70,step=7)
    strategy=dfs(depth=7) reduction=dpor -> reduction: beyond the depth
    strategy=dfs(depth=7) reduction=source-dpor -> reduction: beyond the depth
    strategy=dfs(step=7) reduction=caching -> reduction: beyond the depth
    strategy=dfs(depth=7) reduction=dpor preemptions=2 -> reduction: beyond the depth
    strategy=pct(3) jobs=2 checkpoint=a
    strategy=portfolio(random,surw) spin_loops=assume
    strategy=pct(3) preemptions=2 -> preemptions: within a preemption bound
    strategy=surw preempt=a -> preempt: rest on choices everywhere
    strategy=auto preemptions=2 jobs=2 checkpoint=a
    strategy=auto reduction=dpor spin_loops=assume
    strategy=auto preempt=a
    strategy=random seed=7/3
    strategy=auto seed=7/3 -> seed: numbers of their own
    strategy=pct-all reduction=dpor -> reduction: uniform
    strategy=pctvb reduction=ordered-atomics -> reduction: uniform over choices
    preemptions=2 preempt=a
    strategy=random preempt=a
    reduction=dpor preempt=a -> reduction: `preempt`
    reduction=source-dpor preempt=!a -> reduction: `preempt`
    reduction=caching preempt=!a -> reduction: `preempt`
    reduction=dpor preemptions=2 preempt=a -> reduction: `preempt`
    breakpoints=a jobs=2 checkpoint=a preemptions=2 preempt=a
    strategy=best-first breakpoints=a
    strategy=dfs(delays=none) breakpoints=a
    strategy=random breakpoints=a
    breakpoints=a reduction=dpor -> reduction: does not stand
    breakpoints=a reduction=caching -> reduction: does not stand
    breakpoints=a reduction=dpor preemptions=2 -> reduction: does not stand
    breakpoints=a reduction=ordered-atomics -> reduction: does not stand
    breakpoints=a spin_loops=assume -> spin_loops: not having happened
    reduction=ordered-atomics
    preemptions=2 reduction=ordered-atomics
    strategy=best-first preemptions=2 reduction=ordered-atomics
    strategy=dfs(delays=2) reduction=ordered-atomics -> reduction: bound on delays
    strategy=dfs(step=2) reduction=ordered-atomics -> reduction: beyond the depth
    reduction=ordered-atomics preempt=a -> reduction: out of the scope
    strategy=random reduction=ordered-atomics -> reduction: uniform over choices
    partition=3/8
    partition=3/8 reduction=dpor
    partition=3/8 reduction=dpor preemptions=2
    partition=3/8 reduction=source-dpor
    partition=3/8 reduction=caching preemptions=2
    partition=3/8 preemptions=2 preempt=a
    partition=3/8 strategy=portfolio(random,surw)
    partition=3/8 strategy=pct-all
    partition=3/8 strategy=auto reduction=dpor
    partition=3/8 strategy=auto -> partition: three searches take turns
    partition=3/8 strategy=best-first -> partition: depends on those before
    partition=3/8 strategy=ranked -> partition: depends on those before
    partition=3/8 strategy=dfs(delays=2) -> partition: depends on those before
    partition=3/8 strategy=dfs(depth=7) -> partition: depends on those before
    partition=3/8 strategy=maple -> partition: one after the other
    partition=3/8 iroots=true -> partition: one after the other
    partition=3/8 jobs=2 -> partition: by one worker
    partition=3/8 checkpoint=a -> partition: not kept in a checkpoint
    partition=3/8 reduction=ordered-atomics -> partition: starts again
    partition=3/8 spin_loops=assume -> partition: starts again
    jobs=2 preemptions=2 preempt=a
    strategy=random jobs=2 checkpoint=a
    jobs=2 checkpoint=a reduction=caching preemptions=2
    jobs=2 reduction=dpor
    jobs=2 reduction=dpor checkpoint=a
    jobs=2 reduction=source-dpor
    jobs=2 reduction=source-dpor checkpoint=a
    jobs=2 reduction=dpor preemptions=2
    jobs=2 reduction=dpor preemptions=2 checkpoint=a
    checkpoint=a reduction=dpor
    checkpoint=a reduction=dpor preemptions=1
    strategy=dfs(delays=1) jobs=2 -> jobs: `dfs(delays=1)` is not split
    strategy=dfs(delays=none) checkpoint=a -> checkpoint: `dfs(delays=none)` is not kept
    strategy=best-first jobs=2 -> jobs: `best-first(preemptions,rare)` is not split
    strategy=best-first checkpoint=a -> checkpoint: `best-first(preemptions,rare)` is not kept
    strategy=dfs(depth=7) jobs=2 -> jobs: `dfs(depth=7)` is not split
    strategy=dfs(step=7) checkpoint=a -> checkpoint: `dfs(step=7)` is not kept
    jobs=2 reduction=ordered-atomics -> jobs: the search starts again
    checkpoint=a reduction=ordered-atomics -> checkpoint: starts again
    jobs=2 spin_loops=assume -> jobs: the search starts again
    checkpoint=a spin_loops=assume -> checkpoint: does not keep that
    keep_going=true reduction=dpor data_points=races
    data_points=races
    keep_going=true reduction=ordered-atomics
    keep_going=true jobs=2
    keep_going=true checkpoint=a
    strategy=maple keep_going=true data_points=races
    strategy=maple(memo=a) preempt=a
    reduction=dpor iroots=memo=a
    strategy=maple reduction=caching -> reduction: for iRoots runs
    strategy=maple preemptions=1 -> preemptions: for iRoots preempts
    strategy=maple reduction=ordered-atomics -> reduction: for iRoots runs
    strategy=maple iroots=true
    strategy=maple iroots=window=7 -> iroots: parameters of its own
    strategy=maple jobs=2 -> jobs: one after the other
    iroots=true jobs=2 -> jobs: one after the other
    checkpoint=b iroots=memo=a -> checkpoint: one after the other
    jobs=2 checkpoint=a data_points=a.rs:3
    reduction=dpor spin_loops=assume
    strategy=ranked
    strategy=ranked(variables=1,sets=dynamic) preemptions=2 reduction=caching
    strategy=ranked(variables=1,threads=2,epsilon=0.1) preemptions=2
    strategy=ranked preempt=a
    strategy=ranked reduction=caching preempt=a -> reduction: `preempt`
    strategy=ranked(variables=1,threads=2,arrays=whole)
    strategy=ranked(arrays=whole) reduction=caching -> reduction: other arrays
    strategy=ranked(per_place=2) reduction=caching -> reduction: the first of a place
    strategy=ranked(per_place=2,variables=1,sets=dynamic) preemptions=2
    strategy=ranked reduction=dpor -> reduction: within the rank
    strategy=ranked preemptions=2 reduction=dpor -> reduction: within the rank
    strategy=ranked(threads=2) reduction=caching -> reduction: the priorities
    strategy=ranked reduction=ordered-atomics -> reduction: within the rank
    strategy=ranked spin_loops=assume -> spin_loops: takes its accesses
    strategy=ranked jobs=2 -> jobs: `ranked` is not split
    strategy=ranked checkpoint=a -> checkpoint: `ranked` is not kept
    spin_loops=assume reduction=ordered-atomics -> spin_loops: starts the search again
    reduction=dpor preemptions=2
    reduction=source-dpor preemptions=2 -> reduction: sleep sets
    strategy=random reduction=caching -> reduction: uniform
    environment=address_reuse=0 jobs=2
    environment=address_reuse=1
    environment=stale_reads=1 jobs=2
    environment=stale_reads=1 reduction=ordered-atomics -> reduction: an atomic may be read
    environment=stale_reads=1 spin_loops=assume -> spin_loops: a round that reads
    environment=stale_reads=1 strategy=maple -> environment: iRoots are about
    environment=stale_reads=1 iroots=true -> environment: iRoots are about
    environment=address_reuse=1 jobs=2 -> jobs: one worker
";

#[test]
fn combinations() {
    for line in COMBINATIONS
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
    {
        let (given, refused) = line.split_once(" -> ").unwrap_or((line, ""));
        let mut settings = Settings::default();
        for setting in given.split(' ') {
            let (name, value) = setting.split_once('=').unwrap();
            settings.set(name, value).unwrap();
        }
        match (settings.check(), refused.split_once(": ")) {
            (Ok(()), None) => {}
            (Err(error), Some((name, why))) if error.name == name && error.problem.contains(why) => {}
            (checked, _) => panic!("{line}: {checked:?}"),
        }
    }
}
