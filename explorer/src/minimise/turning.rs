//! The turning point of a failing execution: the step after which every schedule fails, and the nearest schedule that
//! passes.
//!
//! Executions are run that begin like the failing one. They differ from it first in its last choice, then in the one
//! before, and so on, with everything that may follow each time; states that were reached before are left out (`caching`
//! in the crate `search`). The first execution that passes therefore has the longest beginning in common with the failing
//! one, and every order of the tasks that shares more with it fails. The environment and `choose` act as in the failing
//! execution: each task gets the answers that it got there, in order. A spurious wake-up that would end a deadlock fixes
//! nothing, and neither does the absence of one that led to the failure. Beyond the budget, there is no turning point.
//!
//! The difference to that execution is two operations in the other order. It is shown if this order is enough: then all
//! executions are run once more that have the beginning in common, and none of them fails with it.

use super::trial::{Budget, Subject};
use super::{Crashed, Minimiser};
use crate::classify;
use crate::report::{Finding, FindingDetail, FindingEvent, FoundBy, Reversal, TurningPoint};
use intermezzo_engine::runtime::Executor;
use intermezzo_engine::schedule::{Choice, ChoiceKind};
use intermezzo_engine::strategy::{ChoicePoint, Coverage, Needs, Plan, SoFar, Status, Strategy};
use intermezzo_engine::trace::{Fingerprints, SoundReduction, Trace};
use intermezzo_search::Caching;
use std::collections::HashMap;
use std::sync::Arc;

/// The memory for the states that were reached, in bytes: far more than the executions have.
const STATES_BYTES: usize = 1 << 22;

/// The largest number of executions in search of a turning point, and again of those that show what is enough to pass.
const EXECUTIONS: u64 = 400;

/// The largest number of orders that are tried as the one that is enough to pass.
const REVERSALS_MAX: usize = 16;

impl Minimiser<'_> {
    /// Returns the turning point of the execution of a finding, which has this index in the report, if the budget is
    /// enough to find it.
    pub(super) fn turning_point(
        &mut self,
        finding: &Finding,
        number: usize,
        subject: Subject<'_>,
    ) -> Result<Option<TurningPoint>, Crashed> {
        // What ends at a limit has no step at which it was decided, and what hangs takes long.
        let ends_at_limit = matches!(
            finding.detail,
            FindingDetail::Endless { .. } | FindingDetail::TaskLimit { .. } | FindingDetail::Hang { .. }
        );
        if ends_at_limit || finding.events.is_empty() {
            return Ok(None);
        }
        self.worker.cut_off(Some(self.deadline.cut_off_at()));
        let turning = self.find_turning_point(finding, number, subject);
        self.worker.cut_off(None);
        turning
    }

    fn find_turning_point(
        &mut self,
        finding: &Finding,
        number: usize,
        subject: Subject<'_>,
    ) -> Result<Option<TurningPoint>, Crashed> {
        let original = &finding.schedule.choices;
        let heard = finding.monitor != FoundBy::Engine;
        let mut budget = Budget::new(EXECUTIONS, self.deadline);
        let search = search(Continuations::of(original.clone()));
        let found = self.worker.apart(search, heard, |worker| {
            turning_point(worker, (finding, number), subject, &mut budget)
        })?;
        let Some((mut point, reversals)) = found else {
            return Ok(None);
        };
        if !reversals.is_empty() {
            let mut budget = Budget::new(EXECUTIONS, self.deadline);
            let mut continuations = Continuations::of(original.clone());
            continuations.least = point.choices - 1;
            let search = self::search(continuations);
            point.passes_if = self.worker.apart(search, heard, |worker| {
                sufficient(worker, reversals, subject, &mut budget)
            })?;
        }
        Ok(Some(point))
    }
}

/// Returns the search for continuations, which leaves out states that were reached before.
fn search(continuations: Continuations) -> Box<Caching> {
    Box::new(Caching::new(
        Box::new(continuations),
        Arc::new(Fingerprints::new(STATES_BYTES)),
        false,
    ))
}

/// Runs the execution that was prepared. Returns `true` if it fails; `None` if nothing can be concluded from it.
fn fails(worker: &mut Executor, subject: Subject<'_>, budget: &mut Budget) -> Result<Option<bool>, Crashed> {
    let executed = worker.execute(subject.test);
    (subject.ran)();
    budget.executions += 1;
    budget.steps += executed.steps;
    if executed.departed || executed.cut_off.is_some() || executed.sound > SoundReduction::Caching {
        return Ok(None);
    }
    let Some(trouble) = executed.trouble else {
        return Ok(Some(false));
    };
    let damaged = trouble.damaged;
    let findings = classify::findings(*trouble, subject.schedule);
    match damaged {
        true => Err(Crashed(findings)),
        false => Ok(Some(findings.iter().any(Finding::is_error))),
    }
}

/// Returns the first of these orders with which no execution of the search fails; `None` also if the budget is not enough
/// to know.
fn sufficient(
    worker: &mut Executor,
    mut reversals: Vec<Reversal>,
    subject: Subject<'_>,
    budget: &mut Budget,
) -> Result<Option<Reversal>, Crashed> {
    while !reversals.is_empty() && worker.prepare() {
        if budget.is_spent() {
            return Ok(None);
        }
        match fails(worker, subject, budget)? {
            None => return Ok(None),
            Some(false) => {}
            Some(true) => {
                let place = places(&worker.event_order());
                let comes_first = |reversal: &Reversal| {
                    let before = place.get(&reversal.before);
                    let first = place.get(&reversal.first);
                    first.is_some_and(|first| before.is_none_or(|before| first < before))
                };
                reversals.retain(|reversal| !comes_first(reversal));
            }
        }
    }
    Ok(reversals.into_iter().next())
}

/// Returns the place of each event in this order.
fn places(order: &[(u32, u32)]) -> HashMap<String, usize> {
    let numbered = order.iter().enumerate();
    numbered
        .map(|(at, (task, index))| (format!("{task}.{index}"), at))
        .collect()
}

/// Returns the turning point, and the orders of two operations in which the nearest execution that passes differs.
fn turning_point(
    worker: &mut Executor,
    (finding, number): (&Finding, usize),
    subject: Subject<'_>,
    budget: &mut Budget,
) -> Result<Option<(TurningPoint, Vec<Reversal>)>, Crashed> {
    let original = &finding.schedule.choices;
    // The number of events before each choice.
    let mut before: Option<Vec<usize>> = None;
    loop {
        if budget.is_spent() {
            return Ok(None);
        }
        if !worker.prepare() {
            let from = finding.events[0].id.clone();
            let always = TurningPoint {
                finding: number,
                from,
                choices: 0,
                passes_if: None,
            };
            return Ok(before.map(|_| (always, Vec::new())));
        }
        let Some(fails) = fails(worker, subject, budget)? else {
            return Ok(None);
        };
        let Some(before) = &before else {
            if !fails {
                return Ok(None);
            }
            before = Some(worker.trace().events_before_choices());
            continue;
        };
        if fails {
            continue;
        }
        if answers_differ(worker.plan().choices(), original) {
            // It may pass because of them, and not because of the order. Others with the right ones are not known.
            return Ok(None);
        }
        let choices = worker.plan().choices().iter().zip(original);
        let common = choices.take_while(|(one, other)| one == other).count();
        let Some(from) = before.get(common).and_then(|&at| finding.events.get(at)) else {
            return Ok(None);
        };
        let point = TurningPoint {
            finding: number,
            from: from.id.clone(),
            choices: common + 1,
            passes_if: None,
        };
        let reversals = reversals(finding, before[common], &worker.event_order());
        return Ok(Some((point, reversals)));
    }
}

/// Returns the conflicting operations behind the turning point that come in the other order in a passing execution, given
/// as the order of its events: for each operation, the first one that comes before it there.
fn reversals(finding: &Finding, turning: usize, passing: &[(u32, u32)]) -> Vec<Reversal> {
    let place = places(passing);
    let mut reversals = Vec::new();
    let events = &finding.events;
    let waiting = finding.waiting_events();
    let behind: Vec<&FindingEvent> = events[turning..].iter().chain(&waiting).collect();
    for (at, earlier) in behind.iter().enumerate() {
        let Some(&mine) = place.get(&earlier.id) else {
            continue;
        };
        let conflicts = |later: &&&FindingEvent| {
            later.task != earlier.task
                && !later.var.is_empty()
                && later.var == earlier.var
                && (later.may_change() || earlier.may_change())
        };
        let later = behind[at + 1..].iter().filter(conflicts);
        let mut reversed = later.filter(|later| place.get(&later.id).is_some_and(|&other| other < mine));
        if let Some(later) = reversed.next() {
            reversals.push(Reversal {
                first: later.id.clone(),
                before: earlier.id.clone(),
            });
            if reversals.len() == REVERSALS_MAX {
                break;
            }
        }
    }
    reversals
}

/// A strategy that runs an execution, and then others that begin like it: the longer the common beginning, the earlier.
struct Continuations {
    original: Vec<Choice>,
    begun: bool,
    /// The choice in which the executions at work differ from it first, and the alternative taken there.
    at: usize,
    other: u32,
    /// The first choice in which executions may differ.
    least: usize,
    /// The other choices of each task in the original, in order; and the number that each task has made so far in the
    /// execution that runs.
    answers: Vec<Vec<Choice>>,
    made: Vec<usize>,
    /// The kinds of these choices, of all tasks.
    kinds: Vec<ChoiceKind>,
}

impl Continuations {
    fn of(original: Vec<Choice>) -> Continuations {
        Continuations {
            at: original.len(),
            original,
            begun: false,
            other: 0,
            least: 0,
            answers: Vec::new(),
            made: Vec::new(),
            kinds: Vec::new(),
        }
    }

    /// Returns the number of choices of this kind so far in the execution that runs.
    fn made_of(&self, kind: ChoiceKind) -> usize {
        self.kinds.iter().filter(|made| **made == kind).count()
    }

    /// Moves to the next beginning, and leaves it in the plan.
    fn advance(&mut self, plan: &mut Plan) -> bool {
        let mut end = plan.choices().len();
        while self.at < self.original.len() && end > self.at + 1 {
            let choice = plan.choices()[end - 1];
            if choice.kind == ChoiceKind::Task && choice.taken + 1 < choice.alternatives {
                plan.truncate(end);
                plan.take(end - 1, choice.taken + 1);
                return true;
            }
            end -= 1;
        }
        if !self.next_beginning() {
            return false;
        }
        let mut beginning = self.original[..=self.at].to_vec();
        beginning[self.at].taken = self.other;
        plan.replace(&beginning);
        true
    }

    /// Moves on to the next alternative to a choice of the original. Returns `false` if there is none.
    fn next_beginning(&mut self) -> bool {
        loop {
            let choice = self.original.get(self.at);
            if let Some(choice) = choice.filter(|choice| choice.kind == ChoiceKind::Task) {
                self.other += 1;
                if self.other == choice.taken {
                    self.other += 1;
                }
                if self.other < choice.alternatives {
                    return true;
                }
            }
            let Some(before) = self.at.checked_sub(1).filter(|before| *before >= self.least) else {
                return false;
            };
            self.at = before;
            self.other = 0;
            let choice = self.original[before];
            if choice.kind == ChoiceKind::Task && choice.taken != 0 {
                return true;
            }
        }
    }
}

/// Returns the choices of each task that are not about tasks, in order. The steps are those of the trace.
fn answers(choices: &[Choice], trace: &Trace) -> Vec<Vec<Choice>> {
    let mut answers: Vec<Vec<Choice>> = Vec::new();
    let mut begin = 0;
    for step in trace.steps() {
        let own = choices.get(begin..step.choices_end.min(choices.len()));
        begin = step.choices_end;
        let own = own.unwrap_or_default().iter();
        let own = own.filter(|choice| choice.kind != ChoiceKind::Task);
        of_task(&mut answers, step.task).extend(own);
    }
    answers
}

/// Returns `true` if a choice that is not about tasks was made otherwise in an execution than in the original. Where the
/// other order leads to fewer choices of a kind, or the environment could do more and does not, they are the same.
fn answers_differ(choices: &[Choice], original: &[Choice]) -> bool {
    let count = |choices: &[Choice], kind: ChoiceKind, defaults: bool| {
        let of_kind = choices.iter().filter(|choice| choice.kind == kind);
        of_kind.filter(|choice| (choice.taken == 0) == defaults).count()
    };
    let more = |kind, defaults| count(choices, kind, defaults) > count(original, kind, defaults);
    let fewer = |kind| count(choices, kind, false) < count(original, kind, false);
    let kinds = ChoiceKind::ALL
        .into_iter()
        .filter(|kind| *kind != ChoiceKind::Task);
    kinds.into_iter().any(|kind| {
        let invents = more(kind, true) && (kind == ChoiceKind::Value || fewer(kind));
        invents || more(kind, false)
    })
}

/// Returns the entry of a task in a list by task.
fn of_task<T: Default>(list: &mut Vec<T>, task: u32) -> &mut T {
    let task = task as usize;
    if list.len() <= task {
        list.resize_with(task + 1, T::default);
    }
    &mut list[task]
}

impl Strategy for Continuations {
    fn next(&mut self, plan: &mut Plan, trace: &Trace) -> bool {
        if !std::mem::replace(&mut self.begun, true) {
            plan.replace(&self.original);
            return true;
        }
        if self.at == self.original.len() {
            self.answers = answers(plan.choices(), trace);
        }
        let more = self.advance(plan);
        // All prescribed choices but the last are those of the last execution.
        let prescribed = answers(plan.choices(), trace);
        self.made = prescribed.iter().map(Vec::len).collect();
        self.kinds = plan.choices().iter().map(|choice| choice.kind).collect();
        more
    }

    fn choose(&mut self, point: &ChoicePoint<'_>) -> Option<u32> {
        if point.kind == ChoiceKind::Task {
            return Some(0);
        }
        let made = of_task(&mut self.made, point.running.0);
        let own = self.answers.get(point.running.0 as usize);
        let own = own.and_then(|own| own.get(*made)).copied();
        *made += 1;
        let number = self.made_of(point.kind);
        let is_such = |answer: &Choice| answer.kind == point.kind && answer.taken < point.alternatives;
        // What a task does after a join belongs to the step of whichever task ended last.
        let of_kind = || {
            let mut all = self.original.iter().filter(|choice| choice.kind == point.kind);
            all.nth(number).copied().filter(is_such)
        };
        let answer = own.filter(is_such).or_else(of_kind);
        self.kinds.push(point.kind);
        Some(answer.map_or(0, |answer| answer.taken))
    }

    fn needs(&self) -> Needs {
        Needs {
            scope: false,
            ..Needs::default()
        }
    }

    fn coverage(&self, _: bool) -> Coverage {
        Coverage::Sampled { executions: 1 }
    }

    fn status(&self, _: &SoFar<'_>) -> Status {
        Status::named("continuations")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_choice_is_changed_first_and_each_alternative_is_taken() {
        let choice = |kind, alternatives, taken| Choice {
            kind,
            preempts: false,
            alternatives,
            taken,
        };
        let mut search = Continuations::of(vec![
            choice(ChoiceKind::Task, 2, 0),
            choice(ChoiceKind::Wake, 2, 1),
            choice(ChoiceKind::Task, 3, 1),
        ]);
        let mut beginnings = Vec::new();
        while search.next_beginning() {
            beginnings.push((search.at, search.other));
        }
        assert_eq!(beginnings, [(2, 0), (2, 2), (0, 1)]);
    }
}
