//! Compares every reduction with an independent model of random small programs: it leaves out executions that show nothing
//! new, and no others.
//!
//! These environment variables change what is compared:
//!
//! - `EXPLORED_PROGRAMS`: the number of programs of all suites together
//! - `EXPLORED_SEED`: the seed from which they are drawn
//! - `EXPLORED_INTERLEAVINGS`: the maximum number of interleavings of a program
//! - `EXPLORED_FAIR`, `EXPLORED_SLEEPERS`, `EXPLORED_TIMED`: the numbers of programs of these suites
//! - `BLOCKED_PROGRAMS`, `BLOCKED_SEED`: the number of random critical sections, and their seed
//! - `EXPLORED_REDUCTION`: the name of the only reduction to compare

mod adversities;
mod agreement;
mod blocked;
mod claims;
#[path = "../common/mod.rs"]
mod common;
mod counted;
#[macro_use]
mod families;
mod fairness;
mod fates;
mod futures;
mod handles;
mod hard;
mod interleavings;
mod known_states;
mod lines;
mod model;
mod planned;
mod program;
mod ranked;
mod readers;
mod resumed;
mod run;
mod several;
mod sleepers;
mod state;
mod timed;
mod trace;
mod turns;
mod without_bound;

use intermezzo_explorer::{Coverage, Environment, Explorer, Reduction, Report, Settings};
use model::{Leaf, executions};
use program::{Family, Op, PLAIN, Program, Sample};
use quickcheck::{Gen, QuickCheck, TestResult};
use run::{Outcomes, Records, explore_by};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// A search to compare: its reduction, and its bound on preemptions.
type Case = (Reduction, Option<u32>);

/// The searches that are compared with the model.
const CASES: [Case; 13] = [
    (Reduction::None, None),
    (Reduction::None, Some(0)),
    (Reduction::None, Some(1)),
    (Reduction::None, Some(2)),
    (Reduction::Caching, None),
    (Reduction::Caching, Some(0)),
    (Reduction::Caching, Some(1)),
    (Reduction::Caching, Some(2)),
    (Reduction::SourceDpor, None),
    (Reduction::Dpor, None),
    (Reduction::Dpor, Some(0)),
    (Reduction::Dpor, Some(1)),
    (Reduction::Dpor, Some(2)),
];

/// The default number of programs that all suites compare together.
const PROGRAMS: u64 = 500;

/// The default seed.
const SEED: u64 = 2026;

/// The default maximum number of interleavings of a program. Small programs find most errors, and more of them can be
/// run.
const INTERLEAVINGS_MAX: u64 = 200;

/// Returns a number from an environment variable.
fn variable(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{name}={text}: a number is wanted")),
    )
}

fn interleavings_max() -> u64 {
    variable("EXPLORED_INTERLEAVINGS").unwrap_or(INTERLEAVINGS_MAX)
}

/// The model's results for a program.
#[derive(Default)]
struct Expected {
    /// The number of interleavings for each number of preemptions.
    interleavings: Vec<u64>,
    /// The values that executions read, with `true` if the execution ended, and the fewest preemptions needed.
    outcomes: BTreeMap<(bool, Records), u32>,
    /// The traces, likewise.
    traces: BTreeMap<(bool, Vec<u8>), (u32, Records)>,
}

impl Expected {
    /// Returns the model's results; `None` if the program has too many interleavings.
    fn of(program: &Program, interleavings_max: u64) -> Option<Expected> {
        let mut expected = Expected::default();
        let mut left = interleavings_max;
        let mut take = |leaf: &Leaf<'_>| {
            let Leaf {
                complete,
                preemptions,
                records,
                ..
            } = *leaf;
            let counts = &mut expected.interleavings;
            counts.resize(counts.len().max(preemptions as usize + 1), 0);
            counts[preemptions as usize] += 1;
            let fewest = expected
                .outcomes
                .entry((complete, records))
                .or_insert(preemptions);
            *fewest = preemptions.min(*fewest);
            let trace = (complete, leaf.trace());
            let (fewest, known) = expected.traces.entry(trace).or_insert((preemptions, records));
            *fewest = preemptions.min(*fewest);
            assert_eq!(*known, records, "executions of one trace read the same");
            left -= 1;
            left > 0
        };
        executions(program, &mut take).then_some(expected)
    }

    /// Returns the outcomes of executions with no more preemptions than this.
    fn outcomes(&self, bound: Option<u32>) -> Outcomes {
        let mut outcomes = Outcomes::default();
        for ((complete, records), preemptions) in &self.outcomes {
            if bound.is_none_or(|bound| *preemptions <= bound) {
                let of = if *complete {
                    &mut outcomes.complete
                } else {
                    &mut outcomes.stuck
                };
                of.insert(*records);
            }
        }
        outcomes
    }

    /// Returns the number of traces that have an execution with no more preemptions than this, and the number of
    /// complete ones.
    fn traces(&self, bound: Option<u32>) -> (u64, u64) {
        let within = self
            .traces
            .iter()
            .filter(|(_, (preemptions, _))| bound.is_none_or(|bound| *preemptions <= bound));
        within.fold((0, 0), |(all, complete), ((completes, _), _)| {
            (all + 1, complete + u64::from(*completes))
        })
    }

    fn interleavings(&self, bound: Option<u32>) -> u64 {
        let most = bound.map_or(usize::MAX, |bound| bound as usize + 1);
        self.interleavings.iter().take(most).sum()
    }
}

/// The counts of one search.
#[derive(Clone, Copy, Default)]
struct Tally {
    executions: u64,
    interleavings: u64,
    traces: u64,
    /// The number of programs with a redundant execution, and the number of redundant executions.
    with_redundant: u64,
    redundant: u64,
    /// The number of programs that more than one worker ran; and `true` if a weaker reduction took over.
    by_several: u64,
    is_weaker: bool,
}

impl Tally {
    const NOTHING: Tally = Tally {
        executions: 0,
        interleavings: 0,
        traces: 0,
        with_redundant: 0,
        redundant: 0,
        by_several: 0,
        is_weaker: false,
    };

    fn add(&mut self, one: &Tally) {
        self.executions += one.executions;
        self.interleavings += one.interleavings;
        self.traces += one.traces;
        self.with_redundant += one.with_redundant;
        self.redundant += one.redundant;
        self.by_several += one.by_several;
    }
}

/// The counts by search; and the number of programs, and of those with deadlocks.
struct Tallies {
    programs: u64,
    stuck: u64,
    cases: [Tally; CASES.len()],
}

impl Tallies {
    const fn new() -> Tallies {
        Tallies {
            programs: 0,
            stuck: 0,
            cases: [Tally::NOTHING; CASES.len()],
        }
    }

    fn lines(&self) -> String {
        let mut lines = format!("{} programs, {} with deadlocks\n", self.programs, self.stuck);
        for (case, tally) in CASES.iter().zip(&self.cases) {
            lines.push_str(&format!(
                "{:24} {:>8} executions of {:>8} interleavings, {:>8} traces; {} redundant, in {} programs\n",
                name(*case),
                tally.executions,
                tally.interleavings,
                tally.traces,
                tally.redundant,
                tally.with_redundant
            ));
        }
        lines
    }
}

fn name((reduction, bound): Case) -> String {
    let bound = bound.map_or("unbounded".into(), |bound| format!("preemptions {bound}"));
    format!("{} {bound}", reduction_name(reduction))
}

fn reduction_name(reduction: Reduction) -> &'static str {
    let known = Reduction::ALL.iter().find(|(_, known)| *known == reduction);
    known.expect("every reduction has a name").0
}

/// `true` if the settings are valid together, and the caller wants them compared.
fn is_offered((reduction, bound): Case) -> bool {
    let wanted = std::env::var("EXPLORED_REDUCTION");
    if wanted.is_ok_and(|wanted| wanted != reduction_name(reduction)) {
        return false;
    }
    let settings = Settings {
        reduction,
        preemptions: bound,
        ..Settings::default()
    };
    settings.check().is_ok()
}

fn explorer((reduction, bound): Case, environment: Environment) -> Explorer {
    let explorer = Explorer::new()
        .program("random program")
        .environment(environment)
        .reduction(reduction)
        .keep_going(true)
        .minimise(0);
    match bound {
        Some(bound) => explorer.preemptions(bound),
        None => explorer,
    }
}

/// Returns a finding that is not a deadlock.
fn trouble(report: &Report) -> Option<String> {
    let other = report
        .findings()
        .iter()
        .find(|finding| finding.kind.as_str() != "deadlock")?;
    Some(format!("{}: {}", other.kind.as_str(), other.message))
}

/// `true` if several tasks create tasks, or many variables come into use, in an order that depends on the schedule.
/// Then it may not be known which of them are the same in two executions.
fn numbers_differ(program: &Program) -> bool {
    let creates = |ops: &&Vec<Op>| ops.iter().any(|op| matches!(op, Op::Spawn(_)));
    let probes = program.any(|op| match op {
        Op::Claim(_) => true,
        Op::Load(at) | Op::Store(at, _) | Op::Exchange(at, ..) => at >= PLAIN,
        _ => false,
    });
    probes || program.0.iter().filter(creates).count() > 1
}

/// `true` if a search that never runs anything twice must find nothing redundant in the program. Its operations wait
/// for nothing but locks, and the order of commuting steps does not decide if they can continue.
fn is_plain(program: &Program) -> bool {
    !program.any(|op| {
        matches!(
            op,
            Op::Read
                | Op::Write
                | Op::TryRead
                | Op::TryWrite
                | Op::Wait
                | Op::NotifyOne
                | Op::NotifyAll
                | Op::Send(..)
                | Op::Receive(_)
                | Op::TryReceive(_)
                | Op::Close(_)
                | Op::Park
                | Op::Unpark(_)
                | Op::IsFinished(_)
                | Op::Choose
        )
    })
}

/// Checks that a search had these outcomes, and no findings but deadlocks.
fn same_outcomes(report: &Report, found: &Outcomes, wanted: &Outcomes) -> Result<(), String> {
    if let Some(trouble) = trouble(report) {
        return Err(trouble);
    }
    if found.complete != wanted.complete {
        let (found, wanted) = (&found.complete, &wanted.complete);
        return Err(format!("outcomes {found:x?}, where there are {wanted:x?}"));
    }
    // To the test, an execution that a reduction cuts short looks like a deadlock.
    let cut = report.redundant() > 0;
    if !found.stuck.is_superset(&wanted.stuck) || !cut && found.stuck != wanted.stuck {
        let (found, wanted) = (&found.stuck, &wanted.stuck);
        return Err(format!("deadlocks with {found:x?}, where there are {wanted:x?}"));
    }
    if report.findings().is_empty() != wanted.stuck.is_empty() {
        return Err(format!(
            "deadlocks {:x?}, and this found:\n{report}",
            wanted.stuck
        ));
    }
    Ok(())
}

/// Compares one search of a program, by this many workers, with the model.
fn compare(program: &Program, expected: &Expected, case: Case, jobs: usize) -> Result<Tally, String> {
    let explorer = explorer(case, Environment::calm());
    let (report, outcomes, workers) = explore_by(jobs, program, explorer, false);
    let tally = judge(program, expected, case, &report, &outcomes)?;
    Ok(Tally {
        by_several: u64::from(workers > 1),
        ..tally
    })
}

/// Compares the result of one search of a program with the model.
fn judge(
    program: &Program,
    expected: &Expected,
    case: Case,
    report: &Report,
    outcomes: &Outcomes,
) -> Result<Tally, String> {
    let (reduction, bound) = case;
    same_outcomes(report, outcomes, &expected.outcomes(bound))?;
    let same = |what: &str, found: u64, expected: u64| {
        if found == expected {
            Ok(())
        } else {
            Err(format!("{found} {what}, where there are {expected}"))
        }
    };
    let (traces, complete) = expected.traces(bound);
    let found = report.traces();
    same(
        "complete traces",
        found.ok_or("the traces were not counted")?,
        complete,
    )?;
    let interleavings = expected.interleavings(bound);
    // Some programs do something for which a reduction is not sound. Then a weaker one takes over.
    let weaker: &[Reduction] = match reduction {
        Reduction::Dpor if bound.is_none() => &[Reduction::SourceDpor, Reduction::Caching],
        Reduction::SourceDpor | Reduction::Dpor => &[Reduction::Caching],
        _ => &[],
    };
    let instead = weaker
        .iter()
        .any(|&weaker| report.reduction() == reduction_name(weaker))
        && (!is_plain(program) || numbers_differ(program));
    if report.reduction() != reduction_name(reduction) && !instead {
        return Err(format!("the reduction at work was {}", report.reduction()));
    }
    if reduction == Reduction::None {
        same("executions", report.executions(), interleavings)?;
    } else if report.executions() > interleavings && !instead || report.executions() < traces {
        let executions = report.executions();
        return Err(format!(
            "{executions} executions of {interleavings} interleavings with {traces} traces"
        ));
    }
    // It is not known exactly which of the tasks that wait for a lock could have had it first.
    let locks = program.any(|op| matches!(op, Op::Lock(_) | Op::TryLock(_)));
    if case == (Reduction::Dpor, None) && is_plain(program) && !locks && !instead {
        same("redundant executions", report.redundant(), 0)?;
        same("executions", report.executions(), traces)?;
    }
    let left_out = matches!(report.coverage(), Coverage::Bounded { reason: Some(_), .. });
    if left_out || bound.is_none() && *report.coverage() != Coverage::Exhaustive {
        return Err(format!("it covered {:?} only", report.coverage()));
    }
    Ok(Tally {
        executions: report.executions(),
        interleavings,
        traces,
        with_redundant: u64::from(report.redundant() > 0),
        redundant: report.redundant(),
        by_several: 0,
        is_weaker: instead,
    })
}

/// Compares all searches of a program with the model.
fn compare_all(program: &Program, expected: &Expected) -> Result<[Tally; CASES.len()], String> {
    let mut tallies = [Tally::default(); CASES.len()];
    for (case, tally) in CASES.into_iter().zip(&mut tallies) {
        if is_offered(case) {
            *tally = compare(program, expected, case, 1)
                .map_err(|problem| format!("{}: {problem}", name(case)))?;
        }
    }
    Ok(tallies)
}

fn agrees<const FAMILY: usize>(Sample(program): Sample<FAMILY>) -> TestResult {
    let Some(expected) = Expected::of(&program, interleavings_max()) else {
        return TestResult::discard();
    };
    let tallies = match compare_all(&program, &expected) {
        Ok(tallies) => tallies,
        Err(problem) => return TestResult::error(problem),
    };
    let mut all = TALLIES[FAMILY].lock().unwrap_or_else(PoisonError::into_inner);
    all.programs += 1;
    all.stuck += u64::from(expected.outcomes.keys().any(|(complete, _)| !complete));
    for (all, one) in all.cases.iter_mut().zip(&tallies) {
        all.add(one);
    }
    TestResult::passed()
}

/// The counts of each family's suite.
static TALLIES: [Mutex<Tallies>; Family::ALL.len()] =
    [const { Mutex::new(Tallies::new()) }; Family::ALL.len()];

/// Compares random programs of a family.
fn check<const FAMILY: usize>(family: Family, programs: u64, agrees: fn(Sample<FAMILY>) -> TestResult) {
    assert_eq!(Family::ALL[FAMILY], family);
    // The seed is fixed, so that the programs are the same each time.
    let seed = variable("EXPLORED_SEED").unwrap_or(SEED) + FAMILY as u64;
    QuickCheck::new()
        .rng(Gen::from_size_and_seed(8, seed))
        .tests(programs)
        .max_tests(20 * programs)
        .min_tests_passed(programs)
        .quickcheck(agrees);
}

/// Compares a family's share of random programs: of `programs`, or of the number in the environment variable. Returns
/// the number for all families.
fn check_share<const FAMILY: usize>(
    family: Family,
    programs: u64,
    agrees: fn(Sample<FAMILY>) -> TestResult,
) -> u64 {
    let programs = variable("EXPLORED_PROGRAMS").unwrap_or(programs);
    check(family, programs.div_ceil(Family::ALL.len() as u64), agrees);
    programs
}

/// Compares all searches of random programs of a family with the model.
#[allow(clippy::print_stdout, reason = "figures for whoever runs the test by hand")]
fn suite<const FAMILY: usize>(family: Family) {
    check_share(family, PROGRAMS, agrees::<FAMILY>);
    let tallies = TALLIES[FAMILY].lock().unwrap_or_else(PoisonError::into_inner);
    println!("{family:?}: {}", tallies.lines());
}

for_each_family!(suite);
