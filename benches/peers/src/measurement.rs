//! One tool's figures for one case, and the agreement of the tools about it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use crate::{Case, Outcomes, Took, Tool};

/// Runs shorter than this are repeated: their time is within reach of the machine's noise.
const SHORT: Duration = Duration::from_secs(1);

/// The number of runs of a short case. It is odd, so that there is a middle one.
const SHORT_RUNS: usize = 3;

/// Runs shorter than this consist mostly of the tool's set-up, and a single preemption by the operating system, of some
/// milliseconds, multiplies their time.
const TINY: Duration = Duration::from_millis(20);

/// The number of runs of a tiny case.
const TINY_RUNS: usize = 31;

/// The needs of a tool for a case. Of several runs, the one with the median time.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// The program and its sizes.
    pub case: Case,
    /// The tool it ran under.
    pub tool: Tool,
    /// Runs of the test, complete or cut short by the tool.
    pub executions: u64,
    /// The time, including the set-up of the tool.
    pub took: Took,
    /// `true` if the tool ended by itself, before the cap.
    pub exhausted: bool,
    /// The answers of the kernel, over all executions.
    pub outcomes: BTreeSet<usize>,
}

impl Measurement {
    /// Returns the executions per second on the wall clock.
    pub fn rate(&self) -> f64 {
        self.executions as f64 / self.took.wall.as_secs_f64()
    }

    /// Returns the executions per second on processors: the rate on a machine of its own.
    pub fn cpu_rate(&self) -> f64 {
        self.executions as f64 / self.took.cpu.as_secs_f64()
    }

    /// Returns the ratio of the processor time of this measurement to that of the other. If the cap ended this one, the
    /// true ratio is greater; if it ended the other, smaller; if it ended both, nothing is known, and the result is
    /// `None`.
    pub fn time_ratio(&self, other: &Measurement) -> Option<f64> {
        let known = self.exhausted || other.exhausted;
        known.then(|| self.took.cpu.as_secs_f64() / other.took.cpu.as_secs_f64())
    }
}

/// Runs the case under every tool, for `cap` at most each, in the order of [`Tool::ALL`]; `None` for a tool that cannot
/// hold its threads. Short runs are repeated, the tools in turns, so that disturbances of the machine affect all of
/// them.
///
/// # Panics
///
/// If a tool that exhausts the case twice needs another number of executions the second time.
pub fn measure(case: Case, cap: Duration) -> [Option<Measurement>; Tool::ALL.len()] {
    let mut runs = Tool::ALL.map(|_| Vec::new());
    for round in 0..TINY_RUNS {
        for (tool, runs) in Tool::ALL.into_iter().zip(&mut runs) {
            let fits = tool.threads_max().is_none_or(|most| case.a <= most);
            if fits && round < runs_wanted(runs) {
                runs.push(run(tool, case, cap));
            }
        }
    }
    runs.map(middle)
}

/// Returns the number of runs that are needed, after these.
fn runs_wanted(runs: &[Measurement]) -> usize {
    match runs.first() {
        Some(first) if first.took.wall < TINY => TINY_RUNS,
        Some(first) if first.took.wall < SHORT => SHORT_RUNS,
        _ => 1,
    }
}

/// Returns the run with the median time.
fn middle(mut runs: Vec<Measurement>) -> Option<Measurement> {
    for pair in runs
        .windows(2)
        .filter(|pair| pair.iter().all(|run| run.exhausted))
    {
        assert_eq!(
            pair[0].executions, pair[1].executions,
            "{} under {} is not deterministic",
            pair[0].case, pair[0].tool
        );
    }
    runs.sort_by_key(|run| run.took.cpu);
    let middle = runs.len() / 2;
    (!runs.is_empty()).then(|| runs.swap_remove(middle))
}

fn run(tool: Tool, case: Case, cap: Duration) -> Measurement {
    let outcomes = Arc::new(Outcomes::new());
    let (executions, took) = tool.explore(case, cap, &outcomes);
    Measurement {
        case,
        tool,
        executions,
        took,
        exhausted: took.wall < cap,
        outcomes: outcomes.to_set(),
    }
}

/// Returns the contradictions in the measurements of one case, a sentence each.
///
/// An outcome that a sequentially consistent tool saw is real, so every tool that exhausted the case must have seen it
/// too. An outcome that only a tool that [weakens `SeqCst`](Tool::weakens_seq_cst) saw proves nothing about the others.
pub fn disagreements(measurements: &[Measurement]) -> Vec<String> {
    let mut found = Vec::new();
    for saw in measurements.iter().filter(|m| !m.tool.weakens_seq_cst()) {
        for exhausted in measurements.iter().filter(|m| m.exhausted) {
            let missed: Vec<_> = saw.outcomes.difference(&exhausted.outcomes).collect();
            if !missed.is_empty() {
                let (case, by, of) = (saw.case, exhausted.tool, saw.tool);
                found.push(format!(
                    "{case}: {by} exhausted it without the outcomes {missed:?} that {of} saw"
                ));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kernel;

    /// Far more than the small cases below need.
    const CAP: Duration = Duration::from_secs(120);

    /// Returns the answers of the tools for a case, in the order of `Tool::ALL`.
    fn outcomes(kernel: Kernel, a: usize, b: usize) -> Vec<BTreeSet<usize>> {
        let measurements = Tool::ALL.map(|tool| run(tool, Case::new(kernel, a, b), CAP));
        assert!(measurements.iter().all(|measurement| measurement.exhausted));
        assert_eq!(disagreements(&measurements), Vec::<String>::new());
        measurements.map(|measurement| measurement.outcomes).into()
    }

    fn sets<const N: usize>(of_each: [&[usize]; N]) -> Vec<BTreeSet<usize>> {
        of_each.map(|outcomes| outcomes.iter().copied().collect()).into()
    }

    #[test]
    fn a_counter_loses_increments_only_if_racy() {
        assert_eq!(outcomes(Kernel::Counter, 2, 2), sets([&[4]; 4]));
        assert_eq!(outcomes(Kernel::MutexCounter, 2, 2), sets([&[4]; 4]));
        assert_eq!(outcomes(Kernel::RacyCounter, 2, 2), sets([&[2, 3, 4]; 4]));
    }

    #[test]
    fn only_loom_shows_what_sequential_consistency_forbids() {
        assert_eq!(
            outcomes(Kernel::StoreBuffer, 2, 1),
            sets([&[1, 2, 3], &[1, 2, 3], &[0, 1, 2, 3], &[1, 2, 3]])
        );
    }

    /// Pops of (1, 2) and of (2, 1), as digits to base 3: no node is lost, none taken twice.
    #[test]
    fn a_stack_gives_every_node_once() {
        assert_eq!(outcomes(Kernel::Treiber, 2, 1), sets([&[5, 7]; 4]));
    }

    #[test]
    fn what_one_tool_missed_is_told() {
        let measurement = |tool, exhausted, outcomes: &[usize]| Measurement {
            case: Case::new(Kernel::StoreBuffer, 2, 1),
            tool,
            executions: 1,
            took: Took::default(),
            exhausted,
            outcomes: outcomes.iter().copied().collect(),
        };
        let intermezzo = measurement(Tool::IntermezzoDpor, true, &[1, 2]);
        let loom = measurement(Tool::Loom, true, &[0, 1, 2, 3]);
        let shuttle = measurement(Tool::Shuttle, false, &[1, 3]);
        assert_eq!(
            disagreements(&[intermezzo, loom, shuttle]),
            ["store_buffer(2,1): intermezzo dpor exhausted it without the outcomes [3] that shuttle saw"],
        );
    }

    #[test]
    fn a_program_too_large_for_a_tool_is_not_run() {
        let runs = |threads| measure(Case::new(Kernel::Empty, threads, 1), CAP).map(|run| run.is_some());
        assert_eq!(runs(4), [true; 4]);
        assert_eq!(runs(5), [true, true, false, true]);
    }
}
