//! The searches that are compared.

use crate::records::Outcomes;
use crate::run::{Program, explore, in_order};
use crate::{Kind, ours};
use intermezzo_explorer::{Coverage, Environment, Explorer, Reduction, Report, Strategy};
use std::collections::BTreeSet;

/// The maximum number of executions of the reference.
const EXECUTIONS_MAX: u64 = 1_000;

/// The numbers of programs and executions that were compared.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// The number of outcomes with std.
    in_order: u64,
    reference: u64,
    /// The number of programs for which the reference has too many executions.
    too_large: u64,
    searches: u64,
    executions: u64,
    /// The number of searches that count fewer traces.
    counted_less: u64,
}

impl Tally {
    pub(crate) fn add(&mut self, more: &Tally) {
        self.in_order += more.in_order;
        self.reference += more.reference;
        self.too_large += more.too_large;
        self.searches += more.searches;
        self.executions += more.executions;
        self.counted_less += more.counted_less;
    }
}

fn explorer() -> Explorer {
    let environment = Environment {
        notify_any: true,
        ..Environment::calm()
    };
    Explorer::new()
        .keep_going(true)
        .minimise(0)
        .environment(environment)
        // A few waits with a limit of zero are not a loop that starves others.
        .set("spin_loops", "fair_yields=1_000")
}

/// Checks that a search found what another one did.
fn includes(name: &str, found: &Outcomes, wanted: &Outcomes) -> Result<(), String> {
    if let Some(missed) = wanted.complete.difference(&found.complete).next() {
        return Err(format!("{name} misses {missed:?}"));
    }
    match wanted.stuck.difference(&found.stuck).next() {
        Some(missed) => Err(format!("{name} misses the deadlock {missed:?}")),
        None => Ok(()),
    }
}

fn reduces_partially(search: &str) -> bool {
    matches!(search, "source-dpor" | "dpor")
}

/// `true` if weak handles may end after their value is gone, which some searches count as traces of their own.
fn has_weak_handles(kind: Kind) -> bool {
    matches!(kind, Kind::Arc | Kind::NoisyArc | Kind::AssumedArc)
}

/// Compares every search with the references.
pub(crate) fn compare(program: &Program, tally: &mut Tally) -> Result<(), String> {
    let with = explorer().every_operation(true).executions(EXECUTIONS_MAX);
    let (report, reference) = explore(program, with);
    tally.reference += report.executions();
    if report.executions() == EXECUTIONS_MAX {
        tally.too_large += 1;
        return Ok(());
    }
    let serial = match ours::is_of_std(program.kind) {
        true => in_order(program),
        false => BTreeSet::new(),
    };
    tally.in_order += serial.len() as u64;
    if let Some(missed) = serial.difference(&reference.complete).next() {
        return Err(format!(
            "the reference misses {missed:?}, which std shows in order"
        ));
    }
    let mut run = |with: Explorer| -> (Report, Outcomes) {
        let (report, outcomes) = explore(program, with);
        tally.searches += 1;
        tally.executions += report.executions();
        (report, outcomes)
    };
    let whole = [
        ("dfs", explorer()),
        ("caching", explorer().reduction(Reduction::Caching)),
        ("source-dpor", explorer().reduction(Reduction::SourceDpor)),
        ("dpor", explorer().reduction(Reduction::Dpor)),
        ("auto", explorer().strategy(Strategy::auto())),
    ];
    let mut traces = None;
    for (name, with) in whole {
        let (report, found) = run(with);
        if *report.coverage() != Coverage::Exhaustive {
            return Err(format!("{name} does not cover all: {:?}", report.coverage()));
        }
        includes(name, &found, &reference)?;
        if let Some(odd) = found.complete.difference(&reference.complete).next() {
            return Err(format!("{name} shows {odd:?}, which is not there"));
        }
        if name == "auto" {
            continue;
        }
        let wanted = *traces.get_or_insert(report.traces());
        if report.traces() == wanted {
            continue;
        }
        let counts_less = reduces_partially(name) && report.traces() < wanted;
        if !(counts_less && has_weak_handles(program.kind)) {
            return Err(format!(
                "{name} counts {:?} traces, not {wanted:?}",
                report.traces()
            ));
        }
        tally.counted_less += 1;
    }
    let (_, bounded) = run(explorer().preemptions(1));
    for (name, reduction) in [
        ("caching at 1", Reduction::Caching),
        ("dpor at 1", Reduction::Dpor),
    ] {
        let (_, found) = run(explorer().preemptions(1).reduction(reduction));
        includes(name, &found, &bounded)?;
    }
    Ok(())
}
