//! The search for a breakpoint that reproduces a finding without the tool, by trying pairs of places.
//!
//! This is Park and Sen's first method (EECS-2011-159, section 5): a finding names the two places that conflict, and a
//! breakpoint there brings the conflict about. It differs in that each suggestion was tried. The first candidates are
//! the places that the finding itself names: the locks of a deadlock, the accesses of a race. Then come operations of
//! different tasks on one variable that follow each other in the reported execution, first those for which a task was
//! interrupted. A candidate counts if the default execution, without a preemption, shows the same failure with it.
//!
//! Misses: failures that need more than two breakpoints; those that depend on the environment (a spurious wake-up) or
//! on a value of `choose`; candidates beyond the first [`TRIALS`]. The finding then says that it has no breakpoint, and
//! why.

use super::same::Failure;
use super::script::{Follow, Script};
use super::trial::{Budget, Subject, Trial};
use super::{Crashed, Minimiser};
use crate::report::{Finding, FindingEvent, FoundBy, SuggestedBreakpoint, SuggestedPlace};
use intermezzo_breakpoint::{Arming, Armings, Refinements, Spot, Where};
use intermezzo_engine::schedule::ChoiceKind;
use intermezzo_engine::sites::Sites;
use intermezzo_sdk::FindingKind;
use std::collections::{HashMap, HashSet};

/// The largest number of executions in search of a finding's breakpoint. Some tests have thousands of candidates.
const TRIALS: u64 = 400;

/// The number of candidates, from the first, of which pairs are tried.
const PAIRED: usize = 12;

/// The largest number of pairs of operations that become candidates: many more than are tried.
const PAIRS_MAX: usize = 20_000;

/// The largest number of events of an execution whose operations are all paired. Each may conflict with many others, so
/// the pairs of a longer one would not fit into memory.
const LONG: usize = 20_000;

/// The number of events at the end of a longer execution whose operations are paired.
const NEAR: usize = 5_000;

/// A breakpoint that may bring a failure about.
#[derive(Clone, PartialEq, Eq)]
struct Candidate {
    arming: Arming,
    /// The variable that is accessed, in words.
    what: String,
}

/// The result of trying a candidate.
struct Tried {
    /// The number of tasks that timed out at it, or continued out of order.
    in_vain: u64,
}

impl Minimiser<'_> {
    /// Returns the breakpoint of a finding, which is the `number`th of the report, or the reason why there is none.
    pub(super) fn breakpoint_of(
        &mut self,
        finding: &Finding,
        number: usize,
        subject: Subject<'_>,
    ) -> Result<Result<SuggestedBreakpoint, String>, Crashed> {
        let failure = Failure::of(finding);
        let heard = finding.monitor != FoundBy::Engine;
        let singles = candidates(finding);
        // Some failures need two breakpoints.
        let pairs = (0..singles.len().min(PAIRED)).flat_map(|one| (0..one).map(move |other| [other, one]));
        let pairs = pairs.map(|pair| pair.map(|at| singles[at].clone()).to_vec());
        let by_default = self.try_out(
            Armings::default(),
            &failure,
            heard,
            subject,
            &mut Budget::new(1, self.deadline),
        )?;
        let mut best: Option<(u64, Vec<Candidate>)> = None;
        let mut budget = Budget::new(TRIALS, self.deadline);
        for candidate in singles.iter().map(|one| vec![one.clone()]).chain(pairs) {
            if budget.is_spent() || candidate.len() > 1 && best.is_some() {
                break;
            }
            let armings = Armings(candidate.iter().map(|one| one.arming.clone()).collect());
            let Some(Tried { in_vain }) = self.try_out(armings, &failure, heard, subject, &mut budget)?
            else {
                continue;
            };
            // If the default order shows the failure, a breakpoint at which tasks time out first contributes nothing.
            if by_default.is_some() && in_vain > 0 {
                continue;
            }
            if best.as_ref().is_none_or(|(least, _)| in_vain < *least) {
                best = Some((in_vain, candidate));
            }
            if in_vain == 0 {
                break;
            }
        }
        if best.is_none() && budget.is_cut() {
            return Ok(Err("there was no time to try each pair of places".into()));
        }
        Ok(match best {
            Some((in_vain, candidate)) => Ok(suggestion(finding, number, &candidate, in_vain)),
            None => Err(none(finding, singles.len(), by_default.is_some())),
        })
    }

    /// Runs the default execution with these breakpoints armed. Returns the result if it shows the failure and all of
    /// them were hit.
    fn try_out(
        &mut self,
        armings: Armings,
        failure: &Failure,
        heard: bool,
        subject: Subject<'_>,
        budget: &mut Budget,
    ) -> Result<Option<Tried>, Crashed> {
        self.worker
            .data_points(Sites::default().and(armings.spots()), false);
        self.worker.arm(armings);
        self.worker.cut_off(Some(self.deadline.cut_off_at()));
        let strategy = Box::new(Follow::new(Script::default()));
        let trial = self
            .worker
            .apart(strategy, heard, |worker| subject.run(worker, failure, budget));
        self.worker.cut_off(None);
        self.worker.arm(Armings::default());
        self.worker.data_points_only(&[]);
        match trial {
            Trial::Shown(shown) if shown.breakpoints.iter().all(|figures| figures.hits > 0) => {
                let in_vain = shown
                    .breakpoints
                    .iter()
                    .map(|figures| figures.timeouts + figures.unordered);
                Ok(Some(Tried {
                    in_vain: in_vain.sum(),
                }))
            }
            Trial::Crashed(findings) => Err(Crashed(findings)),
            _ => Ok(None),
        }
    }
}

/// Returns the candidates, the most likely first.
fn candidates(finding: &Finding) -> Vec<Candidate> {
    let mut all = named_by(finding);
    let mut later = Vec::new();
    for (pair, interrupted) in conflicts(&finding.events) {
        let list = if interrupted { &mut all } else { &mut later };
        list.extend(pair);
    }
    all.append(&mut later);
    let mut known = HashSet::new();
    all.retain(|candidate| known.insert(candidate.arming.clone()));
    all
}

/// Returns the candidates at places that the finding itself names.
fn named_by(finding: &Finding) -> Vec<Candidate> {
    let places: Vec<(Spot, &str)> = finding
        .places
        .iter()
        .filter_map(|place| Some((spot(&place.site)?, place.what.as_str())))
        .collect();
    match (&finding.kind, &places[..]) {
        (FindingKind::Deadlock, [_, ..]) => vec![Candidate {
            arming: Arming {
                place: Where::Deadlock(places.iter().map(|(spot, _)| spot.clone()).collect()),
                refined: Refinements::default(),
            },
            what: places
                .iter()
                .map(|(_, what)| *what)
                .collect::<Vec<_>>()
                .join(", "),
        }],
        (_, [one, other]) => vec![before(one, other, (0, 0)), before(other, one, (0, 0))],
        _ => Vec::new(),
    }
}

fn before(first: &(Spot, &str), second: &(Spot, &str), (skip, skip_second): (u64, u64)) -> Candidate {
    let skips = skip > 0 || skip_second > 0;
    Candidate {
        arming: Arming {
            place: Where::Before {
                first: first.0.clone(),
                second: second.0.clone(),
            },
            refined: Refinements {
                skip: skips.then_some(skip),
                skip_second: (skips && skip != skip_second).then_some(skip_second),
                ..Refinements::default()
            },
        },
        what: first.1.to_owned(),
    }
}

/// Returns pairs of operations of different tasks on one variable that do not commute, the closest ones first. Each
/// pair comes as it is, and with skipped visits: as many as there were before, on both sides and on either. The flag is
/// `true` if the second operation's task was interrupted for the first.
fn conflicts(events: &[FindingEvent]) -> Vec<(Vec<Candidate>, bool)> {
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    let mut earlier: HashMap<&str, Vec<usize>> = HashMap::new();
    // The end is nearest to the failure.
    let from = match events.len() > LONG {
        true => events.len() - NEAR,
        false => 0,
    };
    let near = events.iter().enumerate().skip(from);
    for (at, second) in near.filter(|(_, event)| may_conflict(event)) {
        let same_var = earlier.entry(&second.var).or_default();
        let firsts = same_var.iter().rev().map(|&first| (first, &events[first]));
        // Beyond an operation of the second's own task, the order of the operations in between says as much.
        let firsts = firsts.take_while(|(_, first)| first.task != second.task);
        let conflicting = firsts.filter(|(_, first)| !(only_reads(first) && only_reads(second)));
        pairs.extend(conflicting.map(|(first, _)| (first, at)));
        same_var.push(at);
    }
    pairs.sort_by_key(|&(first, second)| (second - first, first));
    pairs.truncate(PAIRS_MAX);
    let mut visits: HashMap<&str, u64> = HashMap::new();
    let visited: Vec<u64> = events
        .iter()
        .map(|event| {
            let visits = visits.entry(&event.site).or_default();
            *visits += 1;
            *visits - 1
        })
        .collect();
    let mut begun: HashMap<&str, usize> = HashMap::new();
    for (at, event) in events.iter().enumerate() {
        begun.entry(&event.task).or_insert(at);
    }
    let candidates = pairs.iter().filter_map(|&(at, then)| {
        let (first, second) = (&events[at], &events[then]);
        let what = first.var.as_str();
        let sides = ((spot(&first.site)?, what), (spot(&second.site)?, what));
        let skips = (visited[at], visited[then]);
        let plain = before(&sides.0, &sides.1, (0, 0));
        let skipping = [skips, (skips.0, 0), (0, skips.1)].map(|skips| before(&sides.0, &sides.1, skips));
        let interrupted = begun[second.task.as_str()] < at;
        Some(([vec![plain], skipping.to_vec()].concat(), interrupted))
    });
    let mut candidates: Vec<(Vec<Candidate>, bool)> = candidates.collect();
    // A breakpoint that skips nothing is better, so those are tried first.
    let skipping: Vec<_> = candidates
        .iter_mut()
        .map(|(pair, interrupted)| (pair.split_off(1), *interrupted))
        .collect();
    candidates.extend(skipping);
    candidates
}

fn may_conflict(event: &FindingEvent) -> bool {
    let apart = [
        "unlock",
        "read unlock",
        "spawn",
        "begin",
        "end",
        "join",
        "woken",
        "count up",
        "count down",
    ];
    let apart = apart.contains(&event.op.as_str()) && event.effect.is_none();
    !event.var.is_empty() && !event.site.is_empty() && !apart
}

fn only_reads(event: &FindingEvent) -> bool {
    let reads = [
        "load",
        "failed compare-exchange",
        "read",
        "read lock",
        "read count",
    ];
    event.effect.is_none() && reads.contains(&event.op.as_str())
}

/// Returns the place of an event. If its path could not be parsed as a whole later, only the end of the path is used.
fn spot(site: &str) -> Option<Spot> {
    let mut parts = site.rsplitn(3, ':');
    let column = parts.next()?.parse().ok()?;
    let line = parts.next()?.parse().ok()?;
    let file = parts.next()?.rsplit([' ', ',', '=', '\t']).next()?;
    Some(Spot {
        file: file.trim_start_matches('/').to_owned(),
        line,
        column: Some(column),
    })
}

/// Returns the reason why there is no breakpoint.
fn none(finding: &Finding, candidates: usize, by_default: bool) -> String {
    let choices = &finding.schedule.choices;
    if choices
        .iter()
        .any(|choice| choice.kind != ChoiceKind::Task && choice.taken != 0)
    {
        "it depends on the environment or on a chosen value, which no breakpoint controls".into()
    } else if by_default {
        "the default order of tasks shows it, and no pair of places does more for it".into()
    } else if candidates == 0 {
        "no two operations of different tasks on one variable came one after the other".into()
    } else {
        format!(
            "none of {candidates} pairs of places brings it about by itself, nor two of the first {PAIRED} together"
        )
    }
}

/// Returns the breakpoint as it is printed.
fn suggestion(
    finding: &Finding,
    number: usize,
    candidate: &[Candidate],
    in_vain: u64,
) -> SuggestedBreakpoint {
    let kind = finding.kind.to_string().replace(['_', '/'], "-");
    let mut places = Vec::new();
    for (at, Candidate { arming, what }) in candidate.iter().enumerate() {
        let name = match candidate.len() {
            1 => format!("{kind}-{number}"),
            _ => format!("{kind}-{number}-{}", at + 1),
        };
        let mut place = |spot: &Spot, call: String| {
            places.push(SuggestedPlace {
                site: spot.to_string(),
                code: format!("breakpoint::{call};"),
            });
        };
        let Refinements {
            skip, skip_second, ..
        } = arming.refined;
        let skipping = |skip: Option<u64>| match skip {
            None | Some(0) => String::new(),
            Some(visits) => format!(".skip({visits})"),
        };
        let (first_skip, second_skip) = (skipping(skip), skipping(skip_second.or(skip)));
        let object = what.replace([' ', '.'], "_");
        match &arming.place {
            Where::Before { first, second } if first == second => {
                place(
                    first,
                    format!("conflict(\"{name}\", &{object}){first_skip}.meet()"),
                );
            }
            Where::Before { first, second } => {
                place(
                    first,
                    format!("conflict(\"{name}\", &{object}){first_skip}.first_here()"),
                );
                place(
                    second,
                    format!("conflict(\"{name}\", &{object}){second_skip}.second()"),
                );
            }
            Where::Deadlock(spots) => {
                let mut distinct: Vec<&Spot> = Vec::new();
                for spot in spots
                    .iter()
                    .filter(|spot| !distinct.contains(spot))
                    .collect::<Vec<_>>()
                {
                    if !distinct.contains(&spot) {
                        distinct.push(spot);
                        place(spot, format!("deadlock(\"{name}\", &held, &wanted).meet()"));
                    }
                }
            }
            Where::Named(_) => {}
        }
    }
    let armed = Armings(candidate.iter().map(|one| one.arming.clone()).collect());
    SuggestedBreakpoint {
        armed: armed.to_string(),
        places,
        in_vain,
    }
}
