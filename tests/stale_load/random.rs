//! Random programs: the monitor warns about a program in some schedule if and only if store buffers give it another
//! trace.

use crate::buffers::{Behaviours, Buffers};
use crate::by_workers::by_workers;
use crate::program::{Op, Program, random, run};
use crate::{is_stale, watched};
use intermezzo::{Explorer, Reduction};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

/// The default number of programs, and the variable that changes it.
const PROGRAMS: u64 = 2_500;
const PROGRAMS_VARIABLE: &str = "STALE_LOAD_PROGRAMS";
/// The default maximum number of interleavings of a program, and the variable that changes it. Small programs show most
/// errors, and more of them can be run.
const INTERLEAVINGS_MAX: u64 = 210;
const INTERLEAVINGS_VARIABLE: &str = "STALE_LOAD_INTERLEAVINGS";
/// The seed of the first program. Each next program has the next seed.
const SEED: u64 = 20_080_709;

/// The results for one program.
struct Compared {
    program: Program,
    on_buffers: Behaviours,
    in_order: Behaviours,
}

impl Compared {
    fn new(program: Program) -> Compared {
        Compared {
            on_buffers: Behaviours::of(&program, Buffers::FirstInFirstOut),
            in_order: Behaviours::of(&program, Buffers::None),
            program,
        }
    }

    fn is_vulnerable(&self) -> bool {
        !self.on_buffers.are_those_of(&self.in_order)
    }

    /// Returns the differences between the monitor and the machine, and between the search and the machine in their
    /// traces.
    fn objections(&self) -> Vec<String> {
        let mut objections = Vec::new();
        for reduction in [Reduction::None, Reduction::Dpor] {
            let report = watched(Explorer::new().reduction(reduction)).explore(|| run(&self.program));
            let stale = is_stale(&report);
            if stale != self.is_vulnerable() {
                objections.push(format!("{reduction:?}: stale is {stale}\n{report}"));
            }
            let traces = self.in_order.traces() as u64;
            if !stale && report.traces() != Some(traces) {
                objections.push(format!(
                    "{reduction:?}: {:?} traces, not {traces}",
                    report.traces()
                ));
            }
        }
        objections
    }
}

fn compared(tasks: &[&[Op]]) -> Compared {
    let compared = Compared::new(tasks.iter().map(|task| task.to_vec()).collect());
    assert_eq!(compared.objections(), [""; 0]);
    compared
}

/// Checks the machine itself: its numbers of traces for programs from the literature, with and without buffers.
#[test]
fn the_machine_has_as_many_traces_as_are_known() {
    let [x, y] = [0, 1];
    let counted = |tasks: &[&[Op]]| {
        let compared = compared(tasks);
        [compared.in_order.traces(), compared.on_buffers.traces()]
    };
    let store = |var| Op::Store(var, Relaxed);
    let load = |var| Op::Load(var, Relaxed);
    let sb: [&[Op]; 2] = [&[store(x), load(y)], &[store(y), load(x)]];
    assert_eq!(counted(&sb), [3, 4]);
    let fenced: [&[Op]; 2] = [
        &[store(x), Op::Fence(SeqCst), load(y)],
        &[store(y), Op::Failed(2), load(x)],
    ];
    assert_eq!(counted(&fenced), [3, 3]);
    let mp: [&[Op]; 2] = [&[store(x), store(y)], &[load(y), load(x)]];
    assert_eq!(counted(&mp), [3, 3]);
    let n6: [&[Op]; 2] = [&[store(x), load(x), load(y)], &[store(y), store(x)]];
    assert_eq!(counted(&n6), [4, 5]);
    let shape_r: [&[Op]; 2] = [&[store(x), store(y)], &[store(y), load(x)]];
    assert_eq!(counted(&shape_r), [3, 4]);
    let iriw: [&[Op]; 4] = [&[store(x)], &[store(y)], &[load(x), load(y)], &[load(y), load(x)]];
    assert_eq!(counted(&iriw), [15, 15]);
}

#[test]
#[expect(
    clippy::print_stdout,
    reason = "the harness shows it on failure, or when asked to"
)]
fn a_program_is_stale_if_and_only_if_buffers_give_it_another_trace() {
    let number = |name: &str, default| std::env::var(name).map_or(default, |text| text.parse().expect(name));
    let programs = number(PROGRAMS_VARIABLE, PROGRAMS);
    let interleavings_max = number(INTERLEAVINGS_VARIABLE, INTERLEAVINGS_MAX);
    let results = by_workers(SEED..SEED + programs, |seed| {
        let program = random(interleavings_max, &mut Xoshiro256PlusPlus::seed_from_u64(seed));
        let compared = Compared::new(program);
        let is_by_trace_alone =
            compared.is_vulnerable() && compared.on_buffers.look_like_those_of(&compared.in_order);
        let objections = compared.objections().join("\n");
        let wrong =
            (!objections.is_empty()).then(|| format!("seed {seed}: {:?}\n{objections}", compared.program));
        (compared.is_vulnerable(), is_by_trace_alone, wrong)
    });
    let vulnerable = results.iter().filter(|result| result.0).count() as u64;
    let by_trace_alone = results.iter().filter(|result| result.1).count();
    let wrong: Vec<String> = results.into_iter().filter_map(|result| result.2).collect();
    println!(
        "{programs} programs, {vulnerable} vulnerable, {by_trace_alone} of them by the order of stores alone"
    );
    assert!(
        wrong.is_empty(),
        "{} of {programs}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(
        vulnerable > programs / 20 && vulnerable < programs / 2,
        "both kinds are drawn"
    );
}
