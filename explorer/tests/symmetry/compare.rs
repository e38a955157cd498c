//! The searches that are compared, and the results that must be the same.

use crate::common::Directory;
use crate::program::{Op, Program};
use crate::run::{Outcomes, explore};
use intermezzo_explorer::{Coverage, Environment, Explorer, Reduction, Report, Strategy};
use std::collections::BTreeSet;

/// A search, and the difference in its results.
pub(crate) type Difference = (String, String);

/// Counts of what was compared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) compared: u64,
    pub(crate) too_large: u64,
    pub(crate) searches: u64,
    /// Programs that distinguish the tasks of a group, and whose coverage says so.
    pub(crate) distinguished: u64,
    pub(crate) replayed: u64,
    /// Programs in which the executions are exactly the orbits.
    pub(crate) orbits_counted: u64,
    /// Executions without a reduction: of tasks that are created one by one, of symmetric tasks, and their orbits.
    pub(crate) one_by_one: u64,
    pub(crate) symmetric: u64,
    pub(crate) orbits: u64,
    /// Programs in which `dpor` ran each trace once, its executions for both kinds of tasks, and the least there can be.
    pub(crate) optimal: u64,
    pub(crate) dpor_one_by_one: u64,
    pub(crate) dpor_symmetric: u64,
    pub(crate) dpor_least: u64,
    /// Programs whose executions were compared with every operation a schedule point.
    pub(crate) every_operation: u64,
    /// Programs with a finding.
    pub(crate) fail: u64,
}

impl Tally {
    pub(crate) fn add(&mut self, more: &Tally) {
        self.compared += more.compared;
        self.too_large += more.too_large;
        self.searches += more.searches;
        self.distinguished += more.distinguished;
        self.replayed += more.replayed;
        self.orbits_counted += more.orbits_counted;
        self.one_by_one += more.one_by_one;
        self.symmetric += more.symmetric;
        self.orbits += more.orbits;
        self.optimal += more.optimal;
        self.dpor_one_by_one += more.dpor_one_by_one;
        self.dpor_symmetric += more.dpor_symmetric;
        self.dpor_least += more.dpor_least;
        self.every_operation += more.every_operation;
        self.fail += more.fail;
    }
}

/// The maximum number of executions of a program whose tasks are created one by one.
const EXECUTIONS_MAX: u64 = 5_000;

/// The maximum number of executions of a program whose operations all have schedule points.
const EVERY_MAX: u64 = 20_000;

struct Shown {
    report: Report,
    outcomes: Outcomes,
    /// The kinds of findings.
    findings: BTreeSet<String>,
}

fn shown(program: &Program, symmetric: bool, explorer: Explorer) -> Shown {
    let (report, outcomes) = explore(program, symmetric, explorer);
    let findings = report.findings().iter().filter(|finding| finding.is_error());
    let findings = findings.map(|finding| finding.kind.to_string()).collect();
    Shown {
        report,
        outcomes,
        findings,
    }
}

fn explorer(number: u64) -> Explorer {
    let environment = match number % 3 {
        0 => Environment::default(),
        1 => Environment {
            notify_any: true,
            ..Environment::calm()
        },
        _ => Environment::calm(),
    };
    Explorer::new()
        .keep_going(true)
        .minimise(0)
        .environment(environment)
        // A few yields in a straight line are not a loop that starves others.
        .set("spin_loops", "fair_yields=1_000")
}

/// Checks that a search has no outcome that the reference does not have; and, if `all`, that it has all of them.
fn same(search: &str, found: &Shown, wanted: &Shown, all: bool) -> Result<(), Difference> {
    let differ = |what: String| Err((search.to_owned(), what));
    if let Some(odd) = found
        .outcomes
        .complete
        .difference(&wanted.outcomes.complete)
        .next()
    {
        return differ(format!("observes what is not there: {odd:?}"));
    }
    if let Some(kind) = found.findings.difference(&wanted.findings).next() {
        return differ(format!("finds a {kind}, and there is none: {}", found.report));
    }
    let notes = found.report.notes().iter();
    if let Some(note) = notes.clone().find(|note| note.contains("always do the same")) {
        return differ(format!("notes that {note}"));
    }
    if !all {
        return Ok(());
    }
    if let Some(missed) = wanted
        .outcomes
        .complete
        .difference(&found.outcomes.complete)
        .next()
    {
        return differ(format!("misses {missed:?}"));
    }
    if let Some(missed) = wanted.outcomes.stuck.difference(&found.outcomes.stuck).next() {
        return differ(format!("misses an end that gets stuck: {missed:?}"));
    }
    // To the test, an execution that a reduction cuts short looks like a deadlock.
    if found.report.redundant() == 0 && found.outcomes.stuck != wanted.outcomes.stuck {
        return differ("gets stuck where it cannot".to_owned());
    }
    if let Some(kind) = wanted.findings.difference(&found.findings).next() {
        return differ(format!("misses a {kind}"));
    }
    Ok(())
}

/// Checks that everything is covered.
fn whole(search: &str, found: &Shown) -> Result<(), Difference> {
    match found.report.coverage() {
        Coverage::Exhaustive => Ok(()),
        other => Err((search.to_owned(), format!("does not cover all: {other:?}"))),
    }
}

/// Compares searches of a program whose tasks are symmetric with a search without a reduction of the one in which they are
/// created one by one.
pub(crate) fn compare(program: &Program, number: u64, tally: &mut Tally) -> Result<(), Difference> {
    let plain = shown(program, false, explorer(number).executions(EXECUTIONS_MAX));
    if plain.report.executions() >= EXECUTIONS_MAX {
        tally.too_large += 1;
        return Ok(());
    }
    tally.compared += 1;
    tally.fail += u64::from(!plain.findings.is_empty());
    let none = shown(program, true, explorer(number));
    if program.tells_apart() {
        // The handles on results with a destructor are given up one after the other.
        tally.distinguished += 1;
        return match none.report.coverage() {
            Coverage::Bounded {
                reason: Some(reason), ..
            } if reason.contains("symmetric may differ") => same("none", &none, &plain, false),
            Coverage::Exhaustive if !plain.outcomes.stuck.is_empty() => Ok(()),
            // The group may never be created.
            Coverage::Exhaustive
                if program
                    .body
                    .iter()
                    .any(|op| matches!(op, Op::Panic | Op::OnlyIf(_))) =>
            {
                Ok(())
            }
            other => Err(("distinguished".into(), format!("covers {other:?}"))),
        };
    }
    if *plain.report.coverage() != Coverage::Exhaustive {
        return Ok(());
    }
    same("none", &none, &plain, true)?;
    whole("none", &none)?;
    count_orbits(program, &plain, &none, tally)?;
    for (name, reduction) in [
        ("caching", Reduction::Caching),
        ("source-dpor", Reduction::SourceDpor),
        ("dpor", Reduction::Dpor),
    ] {
        let found = shown(program, true, explorer(number).reduction(reduction));
        tally.searches += 1;
        same(name, &found, &plain, true)?;
        whole(name, &found)?;
        // Rounds of loops may be traces of their own without a partial-order reduction.
        let loops = program.any(|op| matches!(op, Op::Await(..)));
        if !loops && found.report.traces() != none.report.traces() {
            let (traces, wanted) = (found.report.traces(), none.report.traces());
            return Err((name.into(), format!("counts {traces:?} traces, not {wanted:?}")));
        }
        let weaker = |report: &Report| report.notes().iter().any(|note| note.contains(" took over"));
        if name == "dpor" && !weaker(&found.report) {
            let one_by_one = shown(program, false, explorer(number).reduction(reduction)).report;
            if !weaker(&one_by_one) {
                count_traces(program, &one_by_one, &found, &none, tally)?;
            }
        }
    }
    by_turns(program, number, &plain, &none, tally)
}

/// `true` if operations have a schedule point only in some orders: an operation on a count has none if there is only
/// one handle left, nor has the end of a channel if there is no other.
fn has_counts(program: &Program) -> bool {
    program.any(|op| {
        matches!(
            op,
            Op::CountOfArc | Op::DropArc | Op::Send(_) | Op::Receive | Op::TryReceive
        )
    })
}

/// Checks that without a reduction one execution of each orbit is run.
fn count_orbits(program: &Program, plain: &Shown, none: &Shown, tally: &mut Tally) -> Result<(), Difference> {
    let (executions, all) = (none.report.executions(), plain.report.executions());
    let orbits = plain.outcomes.orbits.len() as u64;
    let is_bounded = executions <= all && executions * program.permutations() >= all;
    let counts = has_counts(program);
    if !is_bounded && !counts {
        return Err(("bounds".into(), format!("{executions} executions of {all}")));
    }
    tally.one_by_one += all;
    tally.symmetric += executions;
    tally.orbits += orbits;
    // What a task chooses before its first step, such as the end of a wait, or creates, lets the next task of its group
    // begin, as a `quiesce` does. Events of loops, and yields, are no steps.
    let is_other = |op: &Op| {
        matches!(
            op,
            Op::Choose
                | Op::Child(_)
                | Op::Nested(..)
                | Op::Quiesce
                | Op::Await(..)
                | Op::Yield
                | Op::Sleep
                | Op::ParkTimeout
        )
    };
    let is_straight = !counts && !program.any(is_other);
    if is_straight && plain.outcomes.executions.len() as u64 == all {
        tally.orbits_counted += 1;
        if executions != orbits {
            let what = format!("{executions} executions for {orbits} orbits");
            return Err(("orbits".into(), what));
        }
    }
    Ok(())
}

/// Checks that `dpor`, which stayed with wakeup trees, runs each trace once.
fn count_traces(
    program: &Program,
    one_by_one: &Report,
    found: &Shown,
    none: &Shown,
    tally: &mut Tally,
) -> Result<(), Difference> {
    let executions = found.report.executions();
    let ends_well = none.findings.is_empty() && none.outcomes.stuck.is_empty();
    if found.report.redundant() > 0 || ends_well && found.report.traces() != Some(executions) {
        let what = format!("{} of {executions} are redundant", found.report.redundant());
        return Err(("dpor once".into(), what));
    }
    let all = one_by_one.executions();
    let least = all.div_ceil(program.permutations());
    if executions > all || executions < least && !has_counts(program) {
        return Err(("dpor".into(), format!("{executions} executions of {all}")));
    }
    tally.optimal += 1;
    tally.dpor_one_by_one += all;
    tally.dpor_symmetric += executions;
    tally.dpor_least += least;
    Ok(())
}

/// Compares other searches. They take turns.
fn by_turns(
    program: &Program,
    number: u64,
    plain: &Shown,
    none: &Shown,
    tally: &mut Tally,
) -> Result<(), Difference> {
    let with = || explorer(number);
    let named = |name| Strategy::named(name).expect("there is such a search");
    let reductions = [
        ("none", Reduction::None),
        ("caching", Reduction::Caching),
        ("dpor", Reduction::Dpor),
    ];
    match number % 14 {
        bound @ 0..5 => {
            let bound = bound as u32 % 3;
            let all = shown(program, false, with().preemptions(bound));
            for (name, reduction) in reductions {
                let search = format!("{name} at {bound}");
                let found = shown(program, true, with().preemptions(bound).reduction(reduction));
                tally.searches += 1;
                same(&search, &found, &all, true)?;
            }
        }
        jobs @ 5..7 => {
            for (name, reduction) in reductions {
                let search = format!("{name} with several workers");
                let found = shown(program, true, with().jobs(jobs as usize - 3).reduction(reduction));
                tally.searches += 1;
                same(&search, &found, plain, true)?;
                whole(&search, &found)?;
            }
        }
        7 => {
            for (name, reduction) in reductions {
                let search = format!("{name} in parts");
                let most = none.report.executions() / 3 + 1;
                let parts = in_parts(program, &|| with().reduction(reduction), most);
                tally.searches += 1;
                whole(&search, &parts)?;
                same(&search, &parts, plain, false)?;
                if parts.outcomes.complete != plain.outcomes.complete {
                    return Err((search, "misses something".into()));
                }
            }
        }
        8 => {
            for finding in none.report.findings().iter().filter(|finding| finding.is_error()) {
                let again = shown(program, true, with().replay(finding.schedule.clone()));
                tally.replayed += 1;
                if !again.findings.contains(&finding.kind.to_string()) {
                    let what = format!("does not find the {}: {}", finding.kind, again.report);
                    return Err(("replay".into(), what));
                }
            }
            let minimised = shown(program, true, with().keep_going(false).minimise(100));
            if minimised.findings.is_empty() != plain.findings.is_empty() {
                return Err((
                    "minimise".into(),
                    format!("finds other things: {}", minimised.report),
                ));
            }
        }
        9 => {
            let search = "none, with every operation a schedule point";
            let found = shown(program, true, with().every_operation(true).executions(EVERY_MAX));
            let all = found.report.executions() < EVERY_MAX;
            tally.searches += 1;
            tally.every_operation += u64::from(all);
            same(search, &found, plain, all)?;
        }
        10 => {
            let found = shown(program, true, with().reduction(Reduction::OrderedAtomics));
            let all = *found.report.coverage() == Coverage::Exhaustive;
            tally.searches += 1;
            same("ordered atomics", &found, plain, all)?;
        }
        which => {
            let (name, strategy, claims) = match which {
                11 => ("delays", named("dfs(delays=none)"), true),
                12 => ("auto", Strategy::auto(), true),
                _ => (
                    "portfolio",
                    named("portfolio(surw,pos,places,pct(3),random)"),
                    false,
                ),
            };
            let with = if claims { with() } else { with().executions(50) };
            let found = shown(program, true, with.strategy(strategy));
            tally.searches += 1;
            let all = *found.report.coverage() == Coverage::Exhaustive;
            same(name, &found, plain, all)?;
        }
    }
    Ok(())
}

/// Explores a program in parts of this many executions, from checkpoint to checkpoint.
fn in_parts(program: &Program, explorer: &dyn Fn() -> Explorer, executions: u64) -> Shown {
    let directory = Directory::new("symmetry");
    let mut complete = BTreeSet::new();
    let mut most = 0;
    loop {
        most += executions;
        let with = explorer().checkpoint(directory.file()).executions(most);
        let mut part = shown(program, true, with);
        complete.append(&mut part.outcomes.complete);
        if *part.report.coverage() == Coverage::Exhaustive || most > 100 * executions {
            part.outcomes.complete = complete;
            return part;
        }
    }
}
