//! Replay and minimisation of findings: each finding is replayed once, and then a smaller execution that shows the same
//! is looked for.
//!
//! An execution is smaller if it has fewer stale operations, under a memory model; with as many of them, fewer
//! preemptions; with as many of those, fewer context switches; and with as many of those, fewer steps. First the
//! execution is reduced greedily (`reduce`): by delta debugging (Zeller, Hildebrandt, TSE 2002) over its preemptions, and
//! by merging blocks as in Tinertia (Jalbert, Sen, FSE 2010). Then every execution is run in order of preemptions, as far
//! as the budget goes (`prove`). The note on the finding says how far that got.
//!
//! Guarantee: the result shows the same failure (see `same`), in a strict replay of its schedule. Misses: without a
//! complete proof, smaller executions; the note then says that there may be one. Crashes and
//! executions that took too long are left as they are, and an
//! execution that departs from its schedule cannot be minimised. Monitors receive the executions that concern their own
//! findings.

mod deadline;
mod prove;
mod reduce;
mod reproduce;
mod same;
mod script;
mod trial;
mod turning;

use crate::report::{Finding, FoundBy, Replays, Report, Reproduction, count};
use crate::settings::Settings;
pub(crate) use deadline::Deadline;
use intermezzo_engine::runtime::Executor;
use intermezzo_engine::schedule::{Choice, Premises, Schedule};
use intermezzo_sdk::FindingKind;
use intermezzo_search::Replay;
use prove::Proven;
use same::Failure;
pub(crate) use same::same_place;
use trial::{Budget, Shown, Size, Subject, Trial};

/// The note of a report if an execution crashed that was run for the sake of a finding.
const CRASHED: &str = "an execution crashed that was run to minimise findings: the process may be damaged";

/// The findings of an execution that crashed while findings were minimised.
pub(crate) struct Crashed(Vec<Finding>);

/// Replays and minimises the findings of an exploration.
pub(crate) struct Minimiser<'a> {
    worker: &'a mut Executor,
    /// The remaining executions for all findings together; each finding may use an even share of them.
    executions: u64,
    retries: u32,
    deadline: Deadline,
    /// `true` if the search ran executions in order of preemptions, so that its first finding has the fewest.
    in_order: bool,
}

impl<'a> Minimiser<'a> {
    /// Makes a minimiser that runs executions on this worker, whose search is over.
    pub(crate) fn new(
        worker: &'a mut Executor,
        settings: &Settings,
        deadline: Deadline,
        in_order: bool,
    ) -> Minimiser<'a> {
        Minimiser {
            worker,
            executions: settings.minimise,
            retries: settings.retries,
            deadline,
            in_order,
        }
    }

    /// Replays and minimises all findings of a report, and adds notes on the result. Calls `ran` after each execution.
    pub(crate) fn settle(
        mut self,
        report: &mut Report,
        test: &dyn Fn(),
        schedule: &dyn Fn(Vec<Choice>, Premises) -> Schedule,
        ran: &dyn Fn(),
    ) {
        let subject = Subject { test, schedule, ran };
        let mut replayed = false;
        for at in 0..report.findings.len() {
            let finding = &report.findings[at];
            // A misuse without a task is the panic of a monitor, which is not called any more.
            if !finding.is_error()
                || matches!(
                    finding.kind,
                    FindingKind::Crash | FindingKind::Divergence | FindingKind::Hang
                )
                || finding.kind == FindingKind::Misuse && finding.tasks.is_empty()
            {
                continue;
            }
            // At least one finding is replayed, even if the time is over.
            if replayed && self.deadline.is_over() {
                report.note(&not_replayed(at + 1, self.deadline));
                return;
            }
            replayed = true;
            let known: Vec<Finding> = report.findings.clone();
            let left = known[at..].iter().filter(|finding| finding.is_error()).count();
            let share = self.executions / left as u64;
            match self.settle_one(&known, at, share, subject) {
                Ok(settled) => {
                    self.executions = self.executions.saturating_sub(settled.spent);
                    report.findings[at] = settled.finding;
                    let reproduced = report.findings[at].replays.is_none();
                    // After a choice among stores, it is not the order of the tasks alone that decides.
                    let has_memory_model = report.findings[at].schedule.environment.has_memory_model();
                    if share > 0 && reproduced && !has_memory_model {
                        match self.turning_point(&report.findings[at], at, subject) {
                            Ok(turning_point) => report.turning_points.extend(turning_point),
                            Err(Crashed(findings)) => {
                                report.take_findings(findings);
                                report.note(CRASHED);
                                return;
                            }
                        }
                    }
                    if share > 0 && reproduced && report.breakpoints.is_empty() {
                        match self.breakpoint_of(&report.findings[at], at + 1, subject) {
                            Ok(breakpoint) => report.reproductions.push(Reproduction {
                                finding: at,
                                breakpoint,
                            }),
                            Err(Crashed(findings)) => {
                                report.take_findings(findings);
                                report.note(CRASHED);
                                return;
                            }
                        }
                    }
                    if let Some(note) = settled.note {
                        let which = if known.iter().filter(|finding| finding.is_error()).count() == 1 {
                            String::new()
                        } else {
                            format!("finding {}: ", at + 1)
                        };
                        report.note(&format!("{which}{note}"));
                    }
                }
                Err(Crashed(findings)) => {
                    report.take_findings(findings);
                    report.note(CRASHED);
                    return;
                }
            }
        }
    }

    /// Replays and minimises one finding.
    fn settle_one(
        &mut self,
        known: &[Finding],
        at: usize,
        share: u64,
        subject: Subject<'_>,
    ) -> Result<Settled, Crashed> {
        let mut finding = known[at].clone();
        let failure = Failure::of(&finding);
        let heard = finding.monitor != FoundBy::Engine;
        self.worker.assume(finding.schedule.premises());
        let first = self.replay(&finding, &failure, heard, subject)?;
        let Some(first) = first else {
            let (mut shown, mut all) = (0, 1);
            while all <= self.retries && !self.deadline.is_over() {
                shown += u32::from(self.replay(&finding, &failure, heard, subject)?.is_some());
                all += 1;
            }
            finding.replays = Some(Replays { shown, all });
            return Ok(Settled {
                finding,
                note: None,
                spent: 0,
            });
        };
        if share == 0 {
            return Ok(Settled {
                finding,
                note: None,
                spent: 0,
            });
        }
        let before = first.size;
        let others = known.iter().enumerate().filter(|&(other, _)| other != at);
        let others = others.map(|(_, other)| other).collect();
        let mut search = Search {
            worker: self.worker,
            subject,
            failure,
            heard,
            others,
            budget: Budget::new(share, self.deadline),
            best: first,
        };
        // The finding's own replays run to their ends.
        search.worker.cut_off(Some(self.deadline.cut_off_at()));
        let smaller = search.reduce().and_then(|()| search.prove());
        let needed = search.need_each_stale();
        search.worker.cut_off(None);
        let mut proven = smaller?;
        needed?;
        let Search { budget, best, .. } = search;
        if proven == Proven::Nothing && self.in_order && best.size.preemptions == before.preemptions {
            proven = Proven::Preemptions;
        }
        let again = self.replay(&best.finding, &Failure::of(&best.finding), heard, subject)?;
        let same = again.is_some_and(|again| again.finding == best.finding);
        if !same {
            let note =
                "a smaller execution that shows it does not show it each time: it is left as it was found";
            return Ok(Settled {
                finding,
                note: (best.size != before).then(|| note.to_owned()),
                spent: budget.spent(),
            });
        }
        let cut = (proven != Proven::All && budget.is_cut()).then_some(self.deadline);
        let has_memory_model = finding.schedule.environment.has_memory_model();
        let note = note(
            (before, best.size),
            has_memory_model,
            budget.executions,
            proven,
            cut,
        );
        let (count, found_by) = (finding.count, finding.found_by);
        finding = Finding {
            count,
            found_by,
            ..best.finding
        };
        Ok(Settled {
            finding,
            note: Some(note),
            spent: budget.spent(),
        })
    }

    /// Replays a finding's schedule. Returns the execution if it shows the failure.
    fn replay(
        &mut self,
        finding: &Finding,
        failure: &Failure,
        heard: bool,
        subject: Subject<'_>,
    ) -> Result<Option<Box<Shown>>, Crashed> {
        let strategy = Replay::new(finding.schedule.choices.clone());
        // A replay has a budget of its own: it takes place however much minimising costs.
        let mut budget = Budget::new(1, self.deadline);
        let trial = self.worker.apart(Box::new(strategy), heard, |worker| {
            subject.run(worker, failure, &mut budget)
        });
        match trial {
            Trial::Shown(shown) => Ok(Some(shown)),
            Trial::Crashed(findings) => Err(Crashed(findings)),
            Trial::None | Trial::Other | Trial::Departed => Ok(None),
        }
    }
}

/// A finding as it is reported, with a note on it.
struct Settled {
    finding: Finding,
    note: Option<String>,
    /// The number of executions that it used.
    spent: u64,
}

/// The search for a smaller execution that shows a failure.
struct Search<'a> {
    worker: &'a mut Executor,
    subject: Subject<'a>,
    failure: Failure,
    /// `true` if monitors receive the executions.
    heard: bool,
    /// The other findings of the report. An execution that shows one of them is no smaller form of this finding.
    others: Vec<&'a Finding>,
    budget: Budget,
    /// The smallest execution so far.
    best: Box<Shown>,
}

/// Returns the note for a finding, and those after it, for which no time was left.
fn not_replayed(number: usize, deadline: Deadline) -> String {
    let why = deadline.why();
    format!("finding {number} and those after it were neither replayed nor minimised: {why}")
}

/// Describes the result of minimising. `cut` is the deadline, if that ended it.
fn note(
    (before, after): (Size, Size),
    has_memory_model: bool,
    executions: u64,
    proven: Proven,
    cut: Option<Deadline>,
) -> String {
    let tried = count(executions, "more execution");
    let size = |size: Size| {
        let stale = match size.stale.max(before.stale) {
            0 => String::new(),
            _ => format!("{}, ", count(size.stale.into(), "stale operation")),
        };
        format!(
            "{stale}{}, {} and {}",
            count(size.preemptions.into(), "preemption"),
            count(size.switches, "context switch"),
            count(size.steps, "step")
        )
    };
    let left = match proven {
        Proven::Nothing => "a smaller one may be left",
        Proven::Preemptions if has_memory_model => {
            "none with fewer preemptions, and no more stale operations, shows it"
        }
        Proven::Preemptions => "none with fewer preemptions shows it",
        Proven::All => "no smaller one shows it",
    };
    let ended = cut.map_or_else(String::new, |deadline| format!("; {}", deadline.why()));
    let changed = if before == after {
        format!("the execution has {}", size(after))
    } else {
        format!(
            "the execution was reduced from {} to {}",
            size(before),
            size(after)
        )
    };
    format!("{changed}; {left}{ended} ({tried})")
}
