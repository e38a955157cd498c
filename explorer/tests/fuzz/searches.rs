//! The searches that are compared, and the results that must be the same.

use crate::common::Directory;
use crate::program::Program;
use crate::records::Outcomes;
use crate::run::explore;
use intermezzo_explorer::{Coverage, Environment, Explorer, Finding, Reduction, Report, Strategy};
use std::collections::BTreeSet;
use std::fmt;

/// A search whose results differ from those of the reference.
#[derive(Debug)]
pub(crate) struct Difference {
    pub(crate) search: String,
    what: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "  {}: {}", self.search, self.what)
    }
}

/// The counts of programs and searches that were compared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) compared: u64,
    /// Programs that have too many executions.
    too_large: u64,
    searches: u64,
    reference: u64,
    executions: u64,
    /// Programs on which `dpor` stays with wakeup trees.
    optimal: u64,
    replayed: u64,
    /// Searches by `bpor` that count more or fewer traces than a search without reduction.
    bpor_counts_otherwise: u64,
    /// Searches that began without their bound, and gave way to one within it.
    gave_way: u64,
    /// Some of the programs on which a search does more than it should.
    pub(crate) odd: Vec<String>,
}

impl Tally {
    pub(crate) fn add(&mut self, more: &Tally) {
        self.compared += more.compared;
        self.too_large += more.too_large;
        self.searches += more.searches;
        self.reference += more.reference;
        self.executions += more.executions;
        self.optimal += more.optimal;
        self.replayed += more.replayed;
        self.bpor_counts_otherwise += more.bpor_counts_otherwise;
        self.gave_way += more.gave_way;
        self.odd.extend(more.odd.iter().cloned());
    }

    /// Records a program on which a search does more than it should.
    fn note(&mut self, program: &Program, what: String) {
        if self.odd.len() < 40 {
            self.odd.push(format!("{:?}: {what}", program.0));
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} programs compared, {} too large; {} executions of the reference, {} of {} searches; {} schedules \
             replayed; dpor ran each trace once in {} programs; bpor counts other traces in {}; {} searches \
             without a bound gave way",
            self.compared,
            self.too_large,
            self.reference,
            self.executions,
            self.searches,
            self.replayed,
            self.optimal,
            self.bpor_counts_otherwise,
            self.gave_way,
        )
    }
}

/// So few steps that a search without its bound often gives way.
const STEPS_FEW: u64 = 5;

/// The results of a search that are compared.
struct Shown {
    report: Report,
    outcomes: Outcomes,
    /// The kinds of findings, with their messages about the program.
    findings: BTreeSet<String>,
}

fn shown(program: &Program, explorer: Explorer) -> Shown {
    let (report, outcomes) = explore(program, explorer);
    let findings = report.findings().iter().filter(|finding| finding.is_error());
    let findings = findings.map(|finding| finding.kind.to_string()).collect();
    Shown {
        report,
        outcomes,
        findings,
    }
}

/// Returns the explorer with the settings that all searches share.
pub(crate) fn explorer(number: u64) -> Explorer {
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

pub(crate) fn differ(search: &str, what: String) -> Difference {
    Difference {
        search: search.to_owned(),
        what,
    }
}

/// Checks that a search has no outcome that the reference does not have; and, if `all`, that it has all of them.
fn same(search: &str, found: &Shown, wanted: &Shown, all: bool) -> Result<(), Difference> {
    let odd: Vec<_> = found
        .outcomes
        .complete
        .difference(&wanted.outcomes.complete)
        .collect();
    if !odd.is_empty() {
        return Err(differ(search, format!("observes what is not there: {odd:?}")));
    }
    if let Some(kind) = found.findings.difference(&wanted.findings).next() {
        return Err(differ(
            search,
            format!("finds a {kind}, and there is none: {}", found.report),
        ));
    }
    if !all {
        return Ok(());
    }
    let missed: Vec<_> = wanted
        .outcomes
        .complete
        .difference(&found.outcomes.complete)
        .collect();
    if !missed.is_empty() {
        return Err(differ(search, format!("misses {missed:?}")));
    }
    let missed: Vec<_> = wanted.outcomes.stuck.difference(&found.outcomes.stuck).collect();
    if !missed.is_empty() {
        return Err(differ(search, format!("misses ends that get stuck: {missed:?}")));
    }
    // To the test, an execution that a reduction cuts short looks like a deadlock.
    if found.report.redundant() == 0 && found.outcomes.stuck != wanted.outcomes.stuck {
        let odd: Vec<_> = found.outcomes.stuck.difference(&wanted.outcomes.stuck).collect();
        return Err(differ(search, format!("gets stuck where it cannot: {odd:?}")));
    }
    if let Some(kind) = wanted.findings.difference(&found.findings).next() {
        return Err(differ(search, format!("misses a {kind}")));
    }
    if let Some(note) = found
        .report
        .notes()
        .iter()
        .find(|note| note.contains("always do the same"))
    {
        return Err(differ(search, format!("notes that {note}")));
    }
    Ok(())
}

/// Checks that the schedules of findings reproduce them.
fn replay(
    search: &str,
    program: &Program,
    number: u64,
    findings: &[Finding],
    tally: &mut Tally,
) -> Result<(), Difference> {
    for finding in findings.iter().filter(|finding| finding.is_error()) {
        let again = shown(program, explorer(number).replay(finding.schedule.clone()));
        tally.replayed += 1;
        if !again.findings.contains(&finding.kind.to_string()) {
            let what = format!(
                "a {} is not found again by its schedule: {}",
                finding.kind, again.report
            );
            return Err(differ(search, what));
        }
    }
    Ok(())
}

/// Checks that `dpor`, which stayed with wakeup trees, ran each trace once and nothing else.
fn once(report: &Report, reference: &Shown, tally: &mut Tally) -> Result<(), Difference> {
    tally.optimal += 1;
    let (redundant, all) = (report.redundant(), report.executions());
    let ends_well = reference.findings.is_empty() && reference.outcomes.stuck.is_empty();
    let repeated = ends_well && report.traces() != Some(all - redundant);
    if redundant == 0 && !repeated {
        return Ok(());
    }
    let traces = report.traces();
    let what = format!("{redundant} of {all} executions are redundant, for {traces:?} traces");
    Err(differ("dpor once", what))
}

/// Compares every search with the reference.
pub(crate) fn compare(
    program: &Program,
    number: u64,
    executions_max: u64,
    tally: &mut Tally,
) -> Result<(), Difference> {
    let reference = shown(
        program,
        explorer(number).every_operation(true).executions(executions_max),
    );
    tally.reference += reference.report.executions();
    if reference.report.executions() >= executions_max {
        tally.too_large += 1;
        return Ok(());
    }
    tally.compared += 1;
    let run = |search: &str, with: Explorer, tally: &mut Tally| -> Result<Shown, Difference> {
        let shown = shown(program, with);
        tally.searches += 1;
        tally.executions += shown.report.executions();
        let all = *shown.report.coverage() == Coverage::Exhaustive;
        same(search, &shown, &reference, all)?;
        Ok(shown)
    };
    let whole = |search: &str, shown: &Shown| match shown.report.coverage() {
        Coverage::Exhaustive => Ok(()),
        other => Err(differ(search, format!("does not cover all: {other:?}"))),
    };

    let none = run("none", explorer(number), tally)?;
    whole("none", &none)?;
    let reductions = [
        ("caching", Reduction::Caching),
        ("source-dpor", Reduction::SourceDpor),
        ("dpor", Reduction::Dpor),
        // A bound that no program reaches.
        ("bounded dpor", Reduction::Dpor),
    ];
    for (name, reduction) in reductions {
        let bounded = name == "bounded dpor";
        let with = explorer(number).reduction(reduction);
        let with = if bounded { with.preemptions(1_000) } else { with };
        let found = run(name, with, tally)?;
        same(name, &found, &reference, true)?;
        if !bounded {
            whole(name, &found)?;
        }
        if found.report.traces() != none.report.traces() {
            let (traces, wanted) = (found.report.traces(), none.report.traces());
            let what = format!("counts {traces:?} traces, not {wanted:?}");
            if !bounded {
                return Err(differ(name, what));
            }
            tally.bpor_counts_otherwise += 1;
            tally.note(program, format!("{name} {what}"));
        }
        let weaker = found
            .report
            .notes()
            .iter()
            .any(|note| note.contains(" took over"));
        if name == "dpor" && !weaker {
            once(&found.report, &reference, tally)?;
        }
    }
    if std::env::var_os("FUZZED_REDUCTIONS").is_some() {
        return Ok(());
    }
    replay("none", program, number, none.report.findings(), tally)?;

    // The remaining searches take turns, because each costs as much as all before.
    let with = || explorer(number);
    let named = |name| Strategy::named(name).expect("there is such a search");
    match number % 16 {
        bound @ 0..4 => {
            let bound = bound as u32 % 3;
            let all = shown(program, with().preemptions(bound));
            for (name, reduction) in [("caching", Reduction::Caching), ("dpor", Reduction::Dpor)] {
                let search = format!("{name} at {bound}");
                let found = shown(program, with().preemptions(bound).reduction(reduction));
                tally.searches += 1;
                same(&search, &found, &all, true)?;
                same(&search, &found, &reference, false)?;
                if found.report.traces() != all.report.traces() {
                    let (traces, wanted) = (found.report.traces(), all.report.traces());
                    let what = format!("counts {traces:?} traces, not {wanted:?}");
                    if reduction != Reduction::Dpor {
                        return Err(differ(&search, what));
                    }
                    tally.bpor_counts_otherwise += 1;
                    tally.note(program, format!("{search} {what}"));
                }
            }
            for steps in [u64::MAX, STEPS_FEW] {
                let search = format!("dpor without the bound before {bound}, {steps} steps");
                let with = with().strategy(Strategy::auto()).reduction(Reduction::Dpor);
                let found = shown(program, with.preemptions(bound).steps_without_bound(steps));
                tally.searches += 1;
                let gave_way = found
                    .report
                    .notes()
                    .iter()
                    .any(|note| note.starts_with("preemptions: "));
                tally.gave_way += u64::from(gave_way);
                let is_all = *found.report.coverage() == Coverage::Exhaustive;
                same(&search, &found, &reference, is_all)?;
                // Outcomes within the bound must be found in any case.
                if !all.outcomes.complete.is_subset(&found.outcomes.complete)
                    || !all.outcomes.stuck.is_subset(&found.outcomes.stuck)
                    || !all.findings.is_subset(&found.findings)
                {
                    return Err(differ(&search, "misses what the bound includes".into()));
                }
                let wanted = if is_all { &none.report } else { &all.report };
                if found.report.traces() != wanted.traces() {
                    let what = format!(
                        "counts {:?} traces, not {:?}",
                        found.report.traces(),
                        wanted.traces()
                    );
                    if !gave_way {
                        return Err(differ(&search, what));
                    }
                    tally.note(program, format!("{search} {what}"));
                }
            }
        }
        jobs @ 4..6 => {
            let jobs = jobs as usize - 2;
            for (name, reduction) in [
                ("none", Reduction::None),
                ("caching", Reduction::Caching),
                ("dpor", Reduction::Dpor),
            ] {
                let search = format!("{name} with {jobs} workers");
                whole(
                    &search,
                    &run(&search, with().jobs(jobs).reduction(reduction), tally)?,
                )?;
            }
        }
        6 => {
            for (name, reduction) in [
                ("none", Reduction::None),
                ("caching", Reduction::Caching),
                ("dpor", Reduction::Dpor),
            ] {
                let search = format!("{name} in parts");
                let mut parts = in_parts(
                    program,
                    &|| with().reduction(reduction),
                    none.report.executions() / 3 + 1,
                );
                whole(&search, &parts)?;
                // The part that meets a deadlock finds it, and only the last part reports it.
                parts.outcomes.stuck.clone_from(&reference.outcomes.stuck);
                same(&search, &parts, &reference, true)?;
                tally.searches += 1;
            }
        }
        which @ 7..16 => {
            let (name, strategy, claims) = match which {
                7 => ("delays", named("dfs(delays=none)"), true),
                8 => ("best-first", Strategy::named("best-first").unwrap(), true),
                9 => ("ranked", Strategy::named("ranked").unwrap(), true),
                10 => ("auto", Strategy::auto(), true),
                11 => ("random", Strategy::random(), false),
                12 => ("pct", Strategy::pct(3), false),
                13 => ("pos", Strategy::pos(), false),
                14 => ("ordered atomics", Strategy::dfs(), true),
                _ => ("depth", named("dfs(step=3)"), true),
            };
            let with = match which {
                14 => with().reduction(Reduction::OrderedAtomics),
                11..14 => with().executions(50),
                _ => with(),
            };
            let found = run(name, with.strategy(strategy), tally)?;
            if claims && which != 10 {
                whole(name, &found)?;
            }
        }
        _ => unreachable!("the rest of a division by 16"),
    }
    Ok(())
}

/// Explores a program in parts of this many executions, from checkpoint to checkpoint.
fn in_parts(program: &Program, explorer: &dyn Fn() -> Explorer, executions: u64) -> Shown {
    let directory = Directory::new("fuzz");
    let mut outcomes = Outcomes::default();
    let mut most = 0;
    loop {
        most += executions;
        let mut part = shown(program, explorer().checkpoint(directory.file()).executions(most));
        outcomes.complete.append(&mut part.outcomes.complete);
        outcomes.stuck.append(&mut part.outcomes.stuck);
        if *part.report.coverage() == Coverage::Exhaustive || most > 100 * executions {
            part.outcomes = outcomes;
            return part;
        }
    }
}
