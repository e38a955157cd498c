//! Advice on orderings: the operations on atomics and the fences that must be stronger, so that a finding under a memory
//! model does not occur any more.
//!
//! A counterexample is an execution that shows the finding. A small set of places is chosen whose stronger orderings forbid
//! all counterexamples (`choice`). Then the test is explored with these orderings, which the engine raises. If the finding
//! still occurs, that execution is one more counterexample. Otherwise the advice is given.
//!
//! Abdulla, Atig, Chen, Leonardsson and Rezine insert fences in this way: "Counter-Example Guided Fence Insertion under
//! TSO" (TACAS 2012). Differs: orderings are raised, the memory model is that of C++20, and sets of orderings that allow a
//! counterexample are ruled out without a run of the test.
//!
//! If a counterexample is allowed even with `SeqCst` everywhere, no ordering fixes the finding.
//!
//! Misses: fences that could be added. Findings get no advice if there are too many executions with the stronger orderings
//! to run all of them; a note says so.

mod choice;

use crate::driver::Exploration;
use crate::listening::Listening;
use crate::minimise::same_place;
use crate::recording::Apart;
use crate::report::{
    Coverage, Finding, FindingEvent, FoundBy, OrderingAdvice, Report, StrongerOrdering, source,
};
use crate::settings::{JournalAt, Reduction, Settings, SpinLoops, StrategyKind};
use choice::{Counterexample, Raise, Remedy};
use intermezzo_engine::memory_model::RaisedOrders;
use intermezzo_engine::runtime::interrupt::interrupted;
use intermezzo_sdk::FindingKind;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// The largest number of executions for a finding, for each that its minimisation may take. With a smaller `minimise` than
/// the default, it is that of the default.
const FACTOR: u64 = 20;

/// The largest number of explorations for a finding. Each needs another counterexample.
const EXPLORATIONS: usize = 24;

/// The time for a finding if the setting `minimise` does not limit it.
const TIME: Duration = Duration::from_secs(60);

/// The reason why nothing is known if the time for a finding is over.
const OUT_OF_TIME: &str =
    "there was not enough time to find them (a larger `time` in the setting `minimise` gives more)";

/// The result of an exploration with stronger orderings.
enum Checked {
    /// The finding does not occur.
    Fixed,
    /// It occurs.
    Occurs(Counterexample),
    /// Neither is known, for this reason.
    Unknown(String),
}

/// Adds advice to the findings of a report, which takes explorations of the test with stronger orderings.
pub(crate) fn advise(report: &mut Report, apart: &Apart, test: &(dyn Fn() + Sync)) {
    // After a crash or a hang the process may be damaged.
    let damages = |finding: &Finding| matches!(finding.kind, FindingKind::Crash | FindingKind::Hang);
    if report.findings.iter().any(damages) {
        return;
    }
    for at in 0..report.findings.len() {
        if interrupted() {
            return;
        }
        let finding = report.findings[at].clone();
        let is_heard = finding.monitor == FoundBy::Engine || apart.monitor(&finding).is_some();
        if !finding.is_error() || finding.replays.is_some() || !is_heard {
            continue;
        }
        let ends_by_itself = !matches!(
            finding.kind,
            FindingKind::Divergence | FindingKind::StepLimit | FindingKind::UnfairSpin
        );
        let Some(first) =
            Counterexample::of(&finding).filter(|first| ends_by_itself && first.could_be_stronger())
        else {
            continue;
        };
        let now = Instant::now();
        let time = apart.settings.minimise_time.unwrap_or(TIME);
        let mut search = Search {
            apart,
            test,
            finding: &finding,
            executions: 0,
            executions_left: FACTOR.saturating_mul(apart.settings.minimise.max(Settings::default().minimise)),
            time,
            ends: now.checked_add(time).unwrap_or(now + TIME),
        };
        match search.run(first) {
            Ok(mut raise) => {
                raise.sort_by_cached_key(|raise| (place_in_order(&raise.site), raise.op as u32));
                let advice = OrderingAdvice {
                    finding: at,
                    raise: raise.iter().map(|raise| stronger(raise, &finding)).collect(),
                    executions: search.executions,
                };
                // The monitor's own advice may be of another kind: to take a lock.
                if !advice.raise.is_empty() || finding.suggestion.is_none() {
                    report.findings[at].suggestion = Some(advice.words());
                }
                report.orderings.push(advice);
            }
            Err(why) => report.note(&format!(
                "finding {}: the orderings that fix it are not known: {why}",
                at + 1
            )),
        }
    }
}

/// Returns a raised ordering as it is reported.
fn stronger(raise: &Raise, finding: &Finding) -> StrongerOrdering {
    // The end of a task has the place of its last operation.
    let is_there = |event: &&FindingEvent| event.site == raise.site && event.op == raise.op.name();
    let of_place = finding.events.iter().filter(is_there);
    let vars: BTreeSet<&String> = of_place.map(|event| &event.var).collect();
    // One place may access several variables.
    let var = vars.first().filter(|_| vars.len() == 1).map(|var| (*var).clone());
    StrongerOrdering {
        op: raise.op.name().to_owned(),
        var: var.unwrap_or_default(),
        site: raise.site.clone(),
        now: format!("{:?}", raise.now),
        needs: format!("{:?}", raise.needs),
    }
}

/// Returns a key that sorts places in the order of the source.
fn place_in_order(site: &str) -> (String, usize, usize) {
    let parts = source::parts(site).map(|(file, line, column)| (file.to_owned(), line, column));
    parts.unwrap_or_else(|| (site.to_owned(), 0, 0))
}

/// Returns what an exploration without the finding shows, which ended `in_time` or when the time was over. Schedules that
/// fairness leaves out are left out of the test's own exploration as well.
fn checked(report: &Report, in_time: bool) -> Checked {
    if report.is_complete_but_for_fairness() {
        return Checked::Fixed;
    }
    let narrows = |reason: &String| {
        let mut narrowing = report.limits.iter().filter(|limit| limit.narrows());
        narrowing.any(|limit| limit.to_string() == *reason)
    };
    Checked::Unknown(match report.coverage() {
        Coverage::Bounded {
            reason: Some(reason), ..
        } if narrows(reason) => {
            format!("not every execution could be checked with stronger orderings: {reason}")
        }
        _ if !in_time => OUT_OF_TIME.into(),
        _ => format!(
            "there are too many executions to check what stronger orderings fix (`minimise` above {} checks more)",
            Settings::default().minimise
        ),
    })
}

/// The search for the orderings that fix a finding.
struct Search<'a> {
    apart: &'a Apart,
    test: &'a (dyn Fn() + Sync),
    finding: &'a Finding,
    /// The number of executions of the last exploration.
    executions: u64,
    executions_left: u64,
    /// The time for the finding, and when it is over.
    time: Duration,
    ends: Instant,
}

impl Search<'_> {
    /// Returns the orderings that fix the finding; an empty list if no ordering does.
    ///
    /// # Errors
    /// Returns the reason if they are not known.
    fn run(&mut self, first: Counterexample) -> Result<Vec<Raise>, String> {
        let mut counterexamples = vec![first];
        for _ in 0..EXPLORATIONS {
            let left = self.ends.saturating_duration_since(Instant::now());
            let raise = match choice::choose(&counterexamples, self.ends) {
                Remedy::Raise(raise) => raise,
                Remedy::Impossible => {
                    self.executions = 1;
                    return Ok(Vec::new());
                }
                // Explorations may have left the choice hardly any time.
                Remedy::OutOfTime if left.is_zero() || left < self.time / 2 => {
                    return Err(OUT_OF_TIME.into());
                }
                Remedy::OutOfTime => {
                    return Err("there are too many places at which they could be stronger".into());
                }
            };
            match self.check(choice::orders(&raise)) {
                Checked::Fixed => return Ok(raise),
                Checked::Occurs(another) => counterexamples.push(another),
                Checked::Unknown(why) => return Err(why),
            }
        }
        Err("it occurs in too many ways".into())
    }

    /// Explores the test with these orderings.
    fn check(&mut self, raised: RaisedOrders) -> Checked {
        let mut report = self.explore(raised.clone(), false);
        let shows = |report: &Report| {
            let mut findings = report.findings.iter();
            findings.find(|other| same_place(other, self.finding)).cloned()
        };
        if shows(&report).is_none() && report.errors().next().is_some() {
            // Another failure ended the exploration.
            report = self.explore(raised, true);
        }
        let shown = shows(&report);
        match shown {
            Some(finding) => match Counterexample::of(&finding) {
                Some(counterexample) => Checked::Occurs(counterexample),
                None => {
                    Checked::Unknown("an execution with stronger orderings is not known in detail".into())
                }
            },
            None => checked(&report, Instant::now() < self.ends),
        }
    }

    fn explore(&mut self, raised: RaisedOrders, keep_going: bool) -> Report {
        let monitors = match self.finding.monitor {
            FoundBy::Engine => Vec::new(),
            FoundBy::Monitor(_) => {
                let monitor = self.apart.monitor(self.finding);
                monitor.into_iter().map(Listening::One).collect()
            }
        };
        let settings = Settings {
            strategy: StrategyKind::DFS,
            reduction: Reduction::Dpor,
            preemptions: None,
            executions: Some(self.executions_left),
            time: Some(self.ends.saturating_duration_since(Instant::now())),
            jobs: 1,
            keep_going,
            checkpoint: None,
            partition: None,
            minimise: 0,
            as_found: true,
            iroots: None,
            first_execution: None,
            spin_loops: SpinLoops::Park,
            journal: JournalAt::Off,
            ..self.apart.settings.clone()
        };
        let exploration = Exploration {
            raised,
            is_followed: false,
            ..self
                .apart
                .exploration(settings, self.finding.schedule.binary.clone(), monitors)
        };
        let report = exploration
            .run_apart(self.test)
            .expect("an exploration without a checkpoint is refused by nothing");
        self.executions = report.executions;
        self.executions_left = self.executions_left.saturating_sub(report.executions);
        report
    }
}
