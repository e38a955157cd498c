//! Depth bounds and iterative deepening.

use super::{PROGRAMS, explored_program, once_each, preemptions};
use crate::common::counted;
use crate::interleavings::{Interleaving, Program, check_programs, enumerate};
use intermezzo_explorer::Coverage;
use quickcheck::TestResult;

/// `true` if every choice after the first `depth` ones takes its default.
fn within_depth(interleaving: &Interleaving, depth: usize) -> bool {
    let choices = interleaving.iter().filter(|step| step.enabled.len() > 1);
    choices.skip(depth).all(|step| step.delays() == 0)
}

fn agrees(program: Program) -> TestResult {
    let Some(all) = enumerate(&program) else {
        return TestResult::discard();
    };
    for (settings, bound) in [("", u32::MAX), ("preemptions=1 ", 1)] {
        for depth in [0, 1, 3, 5, 100] {
            let (seen, report) =
                explored_program(&format!("{settings}strategy=dfs(depth={depth})"), &program);
            let fulfils = |one: &Interleaving| within_depth(one, depth) && preemptions(one) <= bound;
            assert_eq!(
                counted(&seen),
                once_each(&all, fulfils),
                "{settings}{depth} of {program:?}"
            );
            let is_cut = all.iter().any(|one| !within_depth(one, depth));
            let told = matches!(report.coverage(), Coverage::Bounded { depth: Some(at), reason: None, .. }
                if *at as usize == depth);
            // The search knows whether it cut a default continuation, but not whether that mattered.
            assert!(
                told || !is_cut || *report.coverage() != Coverage::Exhaustive,
                "{report}"
            );
            assert!(bound < u32::MAX || told || !is_cut, "{report}");
        }
        for (step, most) in [(2, None), (1, Some(3)), (3, Some(4))] {
            let depth = most
                .map(|most: usize| format!(",depth={most}"))
                .unwrap_or_default();
            let (seen, report) =
                explored_program(&format!("{settings}strategy=dfs(step={step}{depth})"), &program);
            let fulfils = |one: &Interleaving| {
                most.is_none_or(|most| within_depth(one, most)) && preemptions(one) <= bound
            };
            let (seen, expected) = (counted(&seen), once_each(&all, fulfils));
            assert!(
                seen.keys().eq(expected.keys()),
                "{settings}{step} {most:?} of {program:?}"
            );
            let again: u32 = seen.values().map(|times| times - 1).sum();
            assert_eq!(
                report.redundant(),
                u64::from(again),
                "{settings}{step} {most:?} of {program:?}"
            );
        }
    }
    TestResult::passed()
}

#[test]
fn only_the_first_choices_are_varied() {
    check_programs(PROGRAMS, agrees);
}

#[test]
fn the_coverage_states_the_depth() {
    let program = Program(vec![vec![crate::interleavings::Op::Add(0); 3]; 2]);
    for (settings, says) in [
        (
            "strategy=dfs(depth=2)",
            "every schedule with nothing but the default after its first 2 choices was run: a failure that is left is \
             beyond one of these bounds",
        ),
        (
            "strategy=dfs(depth=2) preemptions=0",
            "every schedule with at most 0 preemptions and nothing but the default after its first 2 choices was run: a \
             failure that is left is beyond one of these bounds",
        ),
        (
            "strategy=dfs(step=2) executions=9",
            "every schedule with nothing but the default after its first 2 choices was run (the limit of 9 executions \
             was reached)",
        ),
        ("strategy=dfs(step=2)", "every schedule was run"),
    ] {
        let (_, report) = explored_program(settings, &program);
        assert_eq!(report.coverage().to_string(), says, "{settings}");
    }
    let (_, report) = explored_program("strategy=dfs(step=2,depth=4)", &program);
    assert_eq!(report.strategy(), "dfs(depth=4,step=2)");
}
