//! `breakpoints`: finds pairs of places that contend, tries each in both orders, and shows how often the test then fails.
//!
//! This is Park and Sen's second method (*Concurrent Breakpoints*, EECS-2011-159, section 5). The pairs come from a run of
//! random executions with the monitors `contention` and `data-race`. For each order of each pair, the same number of
//! random executions runs with that breakpoint armed, and gives a line of the table.

mod corpus;
mod project;
mod table;

use crate::args::{BreakpointsArgs, BreakpointsOf};
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;
use intermezzo::{BreakpointFigures, NamedPlace};
use serde::Serialize;
use std::collections::BTreeSet;

/// Settings by name and value.
type Given = Vec<(&'static str, String)>;

/// The results of several executions, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
struct Counts {
    executions: u64,
    /// The number of executions that failed.
    failures: u64,
    /// The kinds of failures.
    kinds: BTreeSet<String>,
    /// The number of executions in which the breakpoint was hit.
    hit: u64,
    /// The number of waits that timed out.
    in_vain: u64,
    /// The pairs of places that contended in the executions.
    #[serde(skip)]
    pairs: Vec<[NamedPlace; 2]>,
}

impl Counts {
    /// Returns the counts of executions with these breakpoints armed, without their findings.
    fn of(executions: u64, armed: &[BreakpointFigures]) -> Counts {
        let in_vain = armed.iter().map(|figures| figures.timeouts + figures.unordered);
        Counts {
            executions,
            hit: armed.iter().map(|figures| figures.executions_hit).sum(),
            in_vain: in_vain.sum(),
            ..Counts::default()
        }
    }

    /// Adds a finding that occurred `count` times.
    fn add(&mut self, kind: &str, is_error: bool, count: u64, places: &[NamedPlace]) {
        if let ("plugin/contention" | "data_race", [one, other]) = (kind, places) {
            self.pairs.push([one.clone(), other.clone()]);
        } else if is_error {
            self.failures += count;
            self.kinds.insert(kind.to_owned());
        }
    }
}

/// An order of a pair, with the results of its executions.
#[derive(Debug, Serialize)]
struct Order {
    /// The breakpoint, in the form of the setting `breakpoints`.
    armed: String,
    #[serde(flatten)]
    counts: Counts,
}

/// The results of a program.
#[derive(Debug, Serialize)]
struct Program {
    program: String,
    /// The results without an armed breakpoint.
    unarmed: Counts,
    orders: Vec<Order>,
    /// The pairs that were not tried, because there were more than requested.
    left_out: usize,
}

/// All results, in JSON.
#[derive(Serialize)]
struct Tried {
    runs: u64,
    seed: u64,
    programs: Vec<Program>,
}

/// Runs the command.
pub(crate) fn run(args: &BreakpointsArgs) -> Result<Exit, Problem> {
    let programs = match &args.of {
        BreakpointsOf::Corpus { name, sets } => vec![corpus::tried(name, sets, args)?],
        BreakpointsOf::Tests { cargo } => project::tried(cargo, args)?,
    };
    let failed = |program: &Program| {
        program.unarmed.failures > 0 || program.orders.iter().any(|order| order.counts.failures > 0)
    };
    let exit = match programs.iter().any(failed) {
        _ if programs.is_empty() => Exit::Inconclusive,
        true => Exit::Findings,
        false => Exit::Pass,
    };
    if args.json {
        output::json(&Tried {
            runs: args.runs,
            seed: args.seed,
            programs,
        })?;
    } else {
        for program in &programs {
            output::text(&table::of(program))?;
        }
    }
    Ok(exit)
}

/// Tries both orders of the contending pairs in `found`, each by executions that `explore` runs with the given settings.
fn tried(
    program: String,
    found: Counts,
    args: &BreakpointsArgs,
    mut explore: impl FnMut(Given) -> Result<Counts, Problem>,
) -> Result<Program, Problem> {
    let unarmed = explore(settings(args, "none", "none"))?;
    let mut pairs = found.pairs;
    pairs.sort_by(|one, other| {
        let key = |pair: &[NamedPlace; 2]| pair.each_ref().map(|place| place.site.clone());
        key(one).cmp(&key(other))
    });
    pairs.dedup_by(|one, other| {
        one.iter()
            .zip(other.iter())
            .all(|(one, other)| one.site == other.site)
    });
    let left_out = pairs.len().saturating_sub(args.pairs);
    let mut orders = Vec::new();
    for [one, other] in pairs.into_iter().take(args.pairs) {
        let mut both = vec![format!("{} before {}", one.site, other.site)];
        if one.site != other.site {
            both.push(format!("{} before {}", other.site, one.site));
        }
        for armed in both {
            let counts = explore(settings(args, &armed, "none"))?;
            orders.push(Order { armed, counts });
        }
    }
    Ok(Program {
        program,
        unarmed,
        orders,
        left_out,
    })
}

/// Returns settings for random executions with this breakpoint armed. They override the program's own settings.
fn settings(args: &BreakpointsArgs, armed: &str, monitors: &str) -> Given {
    let given = [
        ("strategy", "random"),
        ("reduction", "none"),
        ("preemptions", "none"),
        ("preempt", "everywhere"),
        ("data_points", "-races"),
        ("spin_loops", "-assume"),
        ("keep_going", "true"),
        ("minimise", "0"),
        ("jobs", "1"),
        ("checkpoint", "none"),
        ("breakpoints", armed),
        ("monitors", monitors),
    ];
    let mut given: Given = given.map(|(name, value)| (name, value.to_owned())).to_vec();
    given.push(("executions", args.runs.to_string()));
    given.push(("seed", args.seed.to_string()));
    given
}

/// Returns settings for the run that finds the pairs.
fn settings_to_find_pairs(args: &BreakpointsArgs) -> Given {
    settings(args, "none", "none;contention;data-race")
}
