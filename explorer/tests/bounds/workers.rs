//! Compares several workers with the enumerator, on random small programs. Together they run each interleaving within the
//! bound once, and with caching they reach every trace.

use crate::common::counted;
use crate::interleavings::{Program, check_programs, enumerate};
use crate::{PROGRAMS, explored_program, once_each, preemptions};
use quickcheck::TestResult;

fn agrees(program: Program) -> TestResult {
    let Some(all) = enumerate(&program) else {
        return TestResult::discard();
    };
    for bound in [None, Some(1), Some(2)] {
        let bounded = bound.map_or(String::new(), |most| format!("preemptions={most}"));
        let expected = once_each(&all, |interleaving| {
            bound.is_none_or(|most| preemptions(interleaving) <= most)
        });
        for jobs in [2, 3] {
            let (seen, _) = explored_program(&format!("{bounded} jobs={jobs}"), &program);
            assert_eq!(
                counted(&seen),
                expected,
                "{bounded}, {jobs} workers, of {program:?}"
            );
        }
        let (_, single) = explored_program(&bounded, &program);
        for jobs in [1, 2, 3] {
            let settings = format!("{bounded} reduction=caching jobs={jobs}");
            let (_, report) = explored_program(&settings, &program);
            assert_eq!(report.traces(), single.traces(), "{settings}, of {program:?}");
            assert!(
                report.executions() <= single.executions(),
                "{settings}, of {program:?}"
            );
        }
    }
    TestResult::passed()
}

#[test]
fn several_workers_visit_exactly_the_interleavings_within_the_bound() {
    check_programs(PROGRAMS, agrees);
}
