//! Compares searches that are explored in shares with the same searches as a whole: the union of the traces, the findings
//! and the counts are the same, and no trace is run twice if a whole search runs none twice.
//!
//! The observations of a program's tasks are not compared, because a share also runs executions of other shares, to find
//! its own.

use crate::program::Program;
use crate::records::Outcomes;
use crate::run::explore;
use crate::searches::{Difference, differ, explorer};
use intermezzo_explorer::report::united_traces;
use intermezzo_explorer::{Coverage, Explorer, Reduction, Report, Strategy};
use std::collections::BTreeMap;
use std::fmt;

/// Shares that together are a whole search: of one division, or some of them divided further.
const COVERS: [(&str, &[&str]); 5] = [
    ("2", &["1/2", "2/2"]),
    ("3", &["1/3", "2/3", "3/3"]),
    ("8", &["1/8", "2/8", "3/8", "4/8", "5/8", "6/8", "7/8", "8/8"]),
    (
        "2x3",
        &["1/2.1/3", "1/2.2/3", "1/2.3/3", "2/2.1/3", "2/2.2/3", "2/2.3/3"],
    ),
    (
        "3 and within",
        &[
            "1/3",
            "2/3.1/2",
            "2/3.2/2.1/2",
            "2/3.2/2.2/2",
            "3/3.1/3",
            "3/3.2/3",
            "3/3.3/3",
        ],
    ),
];

/// The counts of one kind of search, for one number of shares.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    searches: u64,
    /// Executions of whole searches; and of all shares, their own and those of others.
    whole: u64,
    shares: u64,
    elsewhere: u64,
    redundant: u64,
    /// The largest shares, added up.
    largest: u64,
    /// Searches in which a weaker reduction took over.
    weaker: u64,
}

/// The counts by search and number of shares.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally(BTreeMap<(&'static str, &'static str), Counts>);

impl Tally {
    pub(crate) fn add(&mut self, more: &Tally) {
        for (key, more) in &more.0 {
            let counts = self.0.entry(*key).or_default();
            counts.searches += more.searches;
            counts.whole += more.whole;
            counts.shares += more.shares;
            counts.elsewhere += more.elsewhere;
            counts.redundant += more.redundant;
            counts.largest += more.largest;
            counts.weaker += more.weaker;
        }
    }

    /// Returns the number of searches that were compared.
    pub(crate) fn searches(&self) -> u64 {
        self.0.values().map(|counts| counts.searches).sum()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ((search, total), counts) in &self.0 {
            writeln!(f, "{search} in {total}: {counts:?}")?;
        }
        Ok(())
    }
}

/// The figures that a whole search and its shares have in common.
enum Same {
    /// The traces and the findings.
    Traces,
    /// The executions, too.
    Executions,
    /// The executions that are not redundant.
    Shown,
}

/// The errors of some reports, by kind and message, each with the number of executions that showed it.
fn errors<'a>(reports: impl IntoIterator<Item = &'a Report>) -> BTreeMap<String, u64> {
    let mut errors = BTreeMap::new();
    for finding in reports.into_iter().flat_map(Report::findings) {
        if finding.is_error() {
            *errors.entry(finding.kind.to_string()).or_default() += finding.count;
        }
    }
    errors
}

fn in_share(program: &Program, explorer: Explorer, share: &str) -> Report {
    let share = explorer.set("partition", share);
    let (report, _): (Report, Outcomes) = explore(program, share);
    report
}

/// `true` if shares of a partial-order reduction may run a trace of the program once more than a whole search.
///
/// A time-out, or a wake-up by the environment, may commute with more steps than those that do not wake a sleeper. And
/// where a task has yielded, a task that sleeps goes if no other can, because fairness may hold back the one that should.
fn may_repeat(program: &Program) -> bool {
    let text = format!("{:?}", program.0);
    ["Timeout", "Sleep", "Yield", "Park", "Wait"]
        .iter()
        .any(|word| text.contains(word))
}

/// Compares the shares of a search with the whole.
fn compare_search(
    program: &Program,
    search: &'static str,
    same: &Same,
    explorer: &dyn Fn() -> Explorer,
    tally: &mut Tally,
) -> Result<(), Difference> {
    let (whole, _) = explore(program, explorer());
    for (total, cover) in COVERS {
        let shares: Vec<Report> = cover
            .iter()
            .map(|share| in_share(program, explorer(), share))
            .collect();
        let name = format!("{search} in {total} shares");
        let told = |what: String| {
            let figures: Vec<(u64, u64, Option<u64>)> = shares
                .iter()
                .map(|share| (share.executions(), share.redundant(), share.traces()))
                .collect();
            let (executions, redundant) = (whole.executions(), whole.redundant());
            differ(
                &name,
                format!(
                    "{what}; shares {figures:?}, whole {executions}, {redundant}, {:?}",
                    whole.traces()
                ),
            )
        };
        let sum = |count: fn(&Report) -> u64| shares.iter().map(count).sum::<u64>();
        let parts: Vec<_> = shares.iter().filter_map(Report::share).collect();
        if parts.len() != shares.len() || parts.iter().any(|part| !part.ended) {
            return Err(told("a share does not say that it ended".into()));
        }
        if shares
            .iter()
            .any(|share| *share.coverage() == Coverage::Exhaustive)
        {
            return Err(told("a share claims everything".into()));
        }
        if !whole.verdict().is_fail() && shares.iter().any(|share| share.verdict() != whole.verdict()) {
            // A share without a failing execution passes.
            let all: Vec<_> = shares.iter().map(Report::verdict).collect();
            return Err(told(format!("verdicts {all:?}, and not {:?}", whole.verdict())));
        }
        let united = united_traces(parts.iter().map(|part| &*part.traces));
        if united != Ok(whole.traces()) {
            return Err(told(format!("{united:?} traces")));
        }
        let weaker = shares
            .iter()
            .chain([&whole])
            .any(|report| report.notes().iter().any(|note| note.contains(" took over")));
        let (found, wanted) = (errors(&shares), errors([&whole]));
        let kinds = |errors: &BTreeMap<String, u64>| errors.keys().cloned().collect::<Vec<_>>();
        if kinds(&found) != kinds(&wanted) {
            return Err(told(format!("finds {found:?}, and not {wanted:?}")));
        }
        let shown = |report: &Report| report.executions() - report.redundant() - report.blocked();
        let (all, of_whole) = match same {
            Same::Executions => (sum(Report::executions), whole.executions()),
            Same::Shown => (shares.iter().map(shown).sum(), shown(&whole)),
            Same::Traces => (0, 0),
        };
        let is_surplus = matches!(same, Same::Shown) && of_whole < all && may_repeat(program);
        if all != of_whole && !weaker && !is_surplus {
            return Err(told(format!("{all} executions, and not {of_whole}")));
        }
        if matches!(same, Same::Executions) && found != wanted {
            return Err(told(format!("finds {found:?}, and not {wanted:?}")));
        }
        let counts = tally.0.entry((search, total)).or_default();
        counts.searches += 1;
        counts.whole += whole.executions();
        counts.shares += sum(Report::executions);
        counts.redundant += sum(Report::redundant);
        counts.elsewhere += parts.iter().map(|part| part.elsewhere).sum::<u64>();
        counts.largest += shares.iter().map(Report::executions).max().unwrap_or_default();
        counts.weaker += u64::from(weaker);
    }
    Ok(())
}

/// Compares the shares of every search that can be divided with the whole, on programs of at most this many executions.
pub(crate) fn compare(
    program: &Program,
    number: u64,
    executions_max: u64,
    tally: &mut Tally,
) -> Result<(), Difference> {
    let with = || explorer(number);
    let (reference, _) = explore(program, with().executions(executions_max));
    if reference.executions() >= executions_max {
        return Ok(());
    }
    let mut of = |search, same, explorer: &dyn Fn() -> Explorer| {
        compare_search(program, search, &same, explorer, tally)
    };
    of("none", Same::Executions, &with)?;
    of("caching", Same::Traces, &|| with().reduction(Reduction::Caching))?;
    of("source-dpor", Same::Shown, &|| {
        with().reduction(Reduction::SourceDpor)
    })?;
    of("dpor", Same::Shown, &|| with().reduction(Reduction::Dpor))?;
    let bound = number as u32 % 3;
    of("bounded", Same::Executions, &|| with().preemptions(bound))?;
    of("bounded caching", Same::Traces, &|| {
        with().preemptions(bound).reduction(Reduction::Caching)
    })?;
    of("bounded dpor", Same::Traces, &|| {
        with().preemptions(bound).reduction(Reduction::Dpor)
    })?;
    let sampler = ["random", "pct(3)", "pos", "surw(all)", "portfolio(pct(3),random)"][number as usize % 5];
    of("samples", Same::Executions, &|| {
        let sampler = Strategy::named(sampler).expect("there is such a search");
        with().strategy(sampler).executions(50)
    })
}
