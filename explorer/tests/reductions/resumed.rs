//! Partial-order reductions that are stopped repeatedly, and continued by another number of workers each time. Their
//! result is that of one worker that is never stopped, with no additional executions.

use crate::common::Directory;
use crate::program::{Family, Program, Sample};
use crate::several::SEARCHES;
use crate::{Case, Expected, Tally, check_share, compare, explorer, is_offered, judge, name, variable};
use intermezzo_explorer::Environment;
use quickcheck::TestResult;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

/// The default number of random programs of all families that are compared. Each part ends with a file on the disk.
const PROGRAMS: u64 = 120;

/// The minimum number of interleavings of a program, and the default maximum. With fewer, the search ends before other
/// workers have run much.
const INTERLEAVINGS_MIN: u64 = 30;
const INTERLEAVINGS_MAX: u64 = 3_000;

/// The number of executions from which on a search writes checkpoints while it runs, and is also continued from one of
/// those. A search reads the clock after 64 executions.
const LONG: u64 = 100;

/// The maximum number of workers of a part.
const JOBS_MAX: u64 = 3;

/// The counts of one search: its executions, and the times it was stopped and continued.
#[derive(Clone, Copy, Default)]
struct Parts {
    executions: u64,
    redundant: u64,
    stops: u64,
    /// The stops after which another number of workers continued.
    others: u64,
    /// The stops at which several workers had unfinished work.
    by_several: u64,
    /// The number of times it was continued from a checkpoint that was written while it ran.
    killed: u64,
    /// The programs for which it is known that each execution was run once.
    exact: u64,
}

impl Parts {
    const NOTHING: Parts = Parts {
        executions: 0,
        redundant: 0,
        stops: 0,
        others: 0,
        by_several: 0,
        killed: 0,
        exact: 0,
    };

    fn add(&mut self, one: &Parts) {
        self.executions += one.executions;
        self.redundant += one.redundant;
        self.stops += one.stops;
        self.others += one.others;
        self.by_several += one.by_several;
        self.killed += one.killed;
        self.exact += one.exact;
    }
}

type Tallies = [Parts; SEARCHES.len()];

/// The counts of each family.
static TALLIES: [Mutex<Tallies>; Family::ALL.len()] =
    [const { Mutex::new([Parts::NOTHING; SEARCHES.len()]) }; Family::ALL.len()];

/// A small generator (Knuth's), with the same numbers for the same program.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn of(program: &Program, search: usize) -> Dice {
        let mut hasher = DefaultHasher::new();
        (format!("{program:?}"), search).hash(&mut hasher);
        Dice(hasher.finish())
    }

    /// Returns a number from 1 to `most`.
    pub(crate) fn roll(&mut self, most: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        1 + (self.0 >> 33) % most
    }
}

/// Runs a search in parts, each with its own number of workers, and compares the result with the model.
fn in_parts(
    program: &Program,
    expected: &Expected,
    search: Case,
    whole: &Tally,
    dice: &mut Dice,
) -> Result<(Tally, Parts), String> {
    let directory = Directory::new("resumed");
    let mut outcomes = crate::Outcomes::default();
    let mut parts = Parts::default();
    let (mut limit, mut last_jobs) = (0, 0);
    // Some searches run in many parts, most in a few.
    let longest = whole.executions.div_ceil(dice.roll(6));
    loop {
        limit += dice.roll(longest);
        let jobs = dice.roll(JOBS_MAX);
        let explorer = explorer(search, Environment::calm())
            .checkpoint(directory.file())
            .executions(limit);
        let (report, part, _) = crate::explore_by(jobs as usize, program, explorer, false);
        outcomes.append(part);
        if report.executions() < limit {
            let tally = judge(program, expected, search, &report, &outcomes)?;
            parts.executions = tally.executions;
            parts.redundant = tally.redundant;
            return Ok((tally, parts));
        }
        if report.executions() > limit {
            return Err(format!("{} executions of {limit}", report.executions()));
        }
        parts.stops += 1;
        parts.others += u64::from(last_jobs != 0 && last_jobs != jobs);
        last_jobs = jobs;
        let kept = std::fs::read_to_string(directory.file()).map_err(|error| error.to_string())?;
        let hands = kept.matches("\"told\":").count();
        parts.by_several += u64::from(hands > 1);
    }
}

/// Runs a search to its end, and then continues from one of the checkpoints that it wrote while it ran, as if it had been
/// killed at that time. Returns `None` if it wrote none.
fn killed(
    program: &Program,
    expected: &Expected,
    search: Case,
    dice: &mut Dice,
) -> Result<Option<Tally>, String> {
    let directory = Directory::new("killed");
    let file = directory.file();
    let written: Arc<Mutex<Vec<Vec<u8>>>> = Arc::default();
    let (seen, path) = (written.clone(), file.clone());
    let whole = explorer(search, Environment::calm())
        .checkpoint(&file)
        .set("checkpoint", "every=0")
        .on_progress(move |_| {
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen.extend(std::fs::read(&path).ok());
        });
    let (_, mut outcomes, _) = crate::explore_by(dice.roll(JOBS_MAX) as usize, program, whole, false);
    let written = std::mem::take(&mut *written.lock().unwrap_or_else(PoisonError::into_inner));
    if written.is_empty() {
        return Ok(None);
    }
    let one = dice.roll(written.len() as u64) as usize - 1;
    std::fs::write(&file, &written[one]).map_err(|error| error.to_string())?;
    let rest = explorer(search, Environment::calm()).checkpoint(&file);
    let (report, of_rest, _) = crate::explore_by(dice.roll(JOBS_MAX) as usize, program, rest, false);
    outcomes.append(of_rest);
    judge(program, expected, search, &report, &outcomes).map(Some)
}

fn compare_all(program: &Program, expected: &Expected) -> Result<Tallies, String> {
    let mut tallies = [Parts::NOTHING; SEARCHES.len()];
    for (at, search) in SEARCHES.into_iter().enumerate() {
        if !is_offered(search) {
            continue;
        }
        let told = |what, problem| format!("{}, {what}: {problem}", name(search));
        // Within a bound a single worker remembers states; several do not, as no part does.
        let jobs = if search.1.is_some() { 2 } else { 1 };
        let whole = compare(program, expected, search, jobs).map_err(|problem| told("whole", problem))?;
        let mut dice = Dice::of(program, at);
        let (tally, mut parts) = in_parts(program, expected, search, &whole, &mut dice)
            .map_err(|problem| told("in parts", problem))?;
        let killed = match whole.executions {
            LONG.. => {
                killed(program, expected, search, &mut dice).map_err(|problem| told("killed", problem))?
            }
            _ => None,
        };
        parts.killed = u64::from(killed.is_some());
        for (what, tally) in [("in parts", Some(tally)), ("killed", killed)] {
            // Several workers do not use wakeup trees if values are chosen.
            let Some(tally) = tally.filter(|tally| !tally.is_weaker && !whole.is_weaker) else {
                continue;
            };
            let shown = |tally: &Tally| tally.executions - tally.redundant;
            if shown(&tally) != shown(&whole) {
                let problem = format!("{} executions, where there are {}", shown(&tally), shown(&whole));
                return Err(told(what, problem));
            }
            parts.exact = 1;
        }
        tallies[at] = parts;
    }
    Ok(tallies)
}

fn agrees<const FAMILY: usize>(Sample(program): Sample<FAMILY>) -> TestResult {
    let most = variable("EXPLORED_INTERLEAVINGS").unwrap_or(INTERLEAVINGS_MAX);
    let Some(expected) =
        Expected::of(&program, most).filter(|known| known.interleavings(None) >= INTERLEAVINGS_MIN)
    else {
        return TestResult::discard();
    };
    let tallies = match compare_all(&program, &expected) {
        Ok(tallies) => tallies,
        Err(problem) => return TestResult::error(problem),
    };
    let mut all = TALLIES[FAMILY].lock().unwrap_or_else(PoisonError::into_inner);
    for (all, one) in all.iter_mut().zip(&tallies) {
        all.add(one);
    }
    TestResult::passed()
}

/// Compares random programs of a family.
#[allow(clippy::print_stdout, reason = "figures for whoever runs the test by hand")]
fn suite<const FAMILY: usize>(family: Family) {
    let programs = check_share(family, PROGRAMS, agrees::<FAMILY>);
    let all = TALLIES[FAMILY].lock().unwrap_or_else(PoisonError::into_inner);
    for (search, parts) in SEARCHES.into_iter().zip(&*all) {
        println!(
            "{family:?}, {}: {} executions, {} redundant; stopped {} times, {} of them with several hands at work, and {} \
             times gone on with by another number of workers; killed {} times; {} programs compared exactly",
            name(search),
            parts.executions,
            parts.redundant,
            parts.stops,
            parts.by_several,
            parts.others,
            parts.killed,
            parts.exact
        );
        assert!(
            !is_offered(search) || parts.others > 0,
            "{family:?}: never stopped"
        );
    }
    // Some programs continue with caching. On a busy machine, few searches are stopped while several threads work on them.
    let sum = |count: fn(&Parts) -> u64| all.iter().map(count).sum::<u64>();
    let exact = sum(|parts| parts.exact);
    assert!(
        exact < programs / 10 || sum(|parts| parts.by_several) > 0 || programs <= PROGRAMS,
        "{family:?}: no hands at work"
    );
}

for_each_family!(suite);
