//! Elided rounds of loops: they count as not having happened, although their steps were added to the trace before that
//! was known. The papers call such a round a pure iteration.
//!
//! When a round fails, all steps from its first one on are undone and added again without the round's events. A step
//! that loses all of its events remains as an empty one. If the search backtracks to a point before the round's end,
//! the round has not failed yet, and its events are added again in the same way. So a record of each step is kept.
//!
//! The races of an elided operation remain: if it had come earlier, it might have had another result.

use super::{Class, Key, Race, StepAccess, Trace, class_of};
use crate::record::{Event, Gates, Task, Vars};
use crate::trace::{Aside, StepEnd};
use intermezzo_sdk::{SyncVar, SyncVarOp};
use smallvec::SmallVec;

/// A step as it was added, so that it can be added again.
struct Record {
    task: u32,
    events: SmallVec<[Event; 2]>,
    events_end: usize,
    choices: usize,
    extra_footprint: Vec<Aside>,
    waited: Option<(u32, Gates)>,
    forced_by_idle: bool,
    counts: bool,
    /// The number of variables at the end of the step.
    var_count: u32,
    /// The gates of the variables in its footprint, at the end of the step.
    gates: SmallVec<[(u32, Gates); 2]>,
    /// Its races, if it is part of an elided round.
    races: Vec<Race>,
}

/// A round that counts as not having happened.
#[derive(Clone, Copy, Debug)]
pub struct ElidedRound {
    task: u32,
    first_event: usize,
    /// Its first step, and the step at whose end it had failed.
    pub from: usize,
    pub at: usize,
}

/// The data needed to elide rounds and to restore them.
#[derive(Default)]
pub(super) struct Elided {
    records: Vec<Record>,
    rounds: Vec<ElidedRound>,
}

impl Elided {
    /// Undoes the last step.
    pub(super) fn undo(&mut self) {
        self.records.pop();
    }
}

impl Trace {
    /// Keeps a record of the step just added.
    #[inline(never)]
    pub(super) fn record(&mut self, end: &StepEnd<'_>) {
        let accesses = self.footprint(self.steps.len() - 1);
        let vars = accesses.iter().filter_map(|access| access.key.var());
        let record = Record {
            task: end.task,
            events: SmallVec::from_slice(end.events),
            events_end: end.events_end,
            choices: end.choices,
            extra_footprint: end.extra_footprint.to_vec(),
            waited: end.waited,
            forced_by_idle: end.forced_by_idle,
            counts: end.counts,
            var_count: end.vars.count() as u32,
            gates: vars.map(|var| (var, end.vars[var].gates)).collect(),
            races: Vec::new(),
        };
        self.elided.get_or_insert_default().records.push(record);
    }

    /// Elides a round of the task: it begins with this event and ends with the last step.
    pub fn elide(&mut self, task: u32, first_event: usize, vars: &Vars, tasks: &[Task]) {
        let from = self.steps.partition_point(|step| step.events_end <= first_event);
        let round = ElidedRound {
            task,
            first_event,
            from,
            at: self.steps.len() - 1,
        };
        self.mark(round, true);
        if let Some(elided) = &mut self.elided {
            elided.rounds.push(round);
        }
        self.add_again(from, vars, tasks);
    }

    /// Restores the rounds that had not failed yet at the end of the remaining trace.
    pub(super) fn put_back_rounds(&mut self, vars: &Vars, tasks: &[Task]) {
        let mut from = self.steps.len();
        while let Some(elided) = &mut self.elided
            && let Some(round) = elided.rounds.pop_if(|round| round.at >= self.steps.len())
        {
            from = from.min(round.from);
            self.mark(round, false);
        }
        self.add_again(from, vars, tasks);
    }

    /// Marks the events of a round as elided, or as not elided.
    fn mark(&mut self, round: ElidedRound, is_elided: bool) {
        let Some(elided) = &mut self.elided else {
            return;
        };
        for (step, record) in elided.records.iter_mut().enumerate().skip(round.from) {
            let begin = record.events_end - record.events.len();
            let mut any = false;
            for (number, event) in (begin..).zip(&mut record.events) {
                if number >= round.first_event && event.task == round.task {
                    (event.elided, any) = (is_elided, true);
                }
            }
            if any && is_elided {
                let next = self.steps.get(step + 1);
                let end = next.map_or(self.races.len(), |next| next.races as usize);
                record.races = self.races[self.steps[step].races as usize..end].to_vec();
            } else if any {
                record.races.clear();
            }
        }
    }

    /// Undoes the steps from this one on, and adds them again with their current marks.
    fn add_again(&mut self, from: usize, vars: &Vars, tasks: &[Task]) {
        let Some(elided) = &mut self.elided else {
            return;
        };
        let again: Vec<Record> = elided.records.drain(from.min(elided.records.len())..).collect();
        self.take_back_steps(from);
        for record in again {
            self.add_step(&StepEnd {
                task: record.task,
                events: &record.events,
                events_end: record.events_end,
                choices: record.choices,
                extra_footprint: &record.extra_footprint,
                waited: record.waited,
                forced_by_idle: record.forced_by_idle,
                is_last: false,
                counts: record.counts,
                vars,
                tasks,
            });
            if let Some(step) = self.steps.last_mut() {
                step.vars = record.var_count;
            }
            for &(var, gates) in &record.gates {
                self.gates[var as usize] = gates;
            }
            let begin = self.steps.last().map_or(0, |step| step.races as usize);
            for race in &record.races {
                if !self.races[begin..].contains(race) {
                    self.races.push(*race);
                }
            }
            if let Some(elided) = &mut self.elided {
                elided.records.push(record);
            }
        }
    }

    /// Returns `true` if rounds can be elided at all.
    #[inline(always)]
    pub fn has_voids(&self) -> bool {
        self.elided.is_some()
    }

    /// Returns the elided rounds, in the order in which they failed.
    pub fn elided_rounds(&self) -> &[ElidedRound] {
        self.elided.as_ref().map_or(&[], |elided| &elided.rounds)
    }

    /// Returns the operations of a step.
    fn events(&self, step: usize) -> impl Iterator<Item = &Event> {
        let record = self.elided.as_ref().and_then(|elided| elided.records.get(step));
        let events = record.map_or(&[][..], |record| &record.events);
        events.iter().filter(|event| event.var != SyncVar::NONE.0)
    }

    /// Returns the elided operations of a step.
    fn void_events(&self, step: usize) -> impl Iterator<Item = &Event> {
        self.events(step).filter(|event| event.elided)
    }

    /// Returns the variables that a step's task read in it, with the values. Elided reads are included if rounds can be
    /// elided.
    pub fn reads(&self, step: usize) -> impl Iterator<Item = (u32, u64)> {
        let task = self.steps[step].task;
        let own = self.events(step).filter(move |event| event.task == task);
        own.map(|event| (event.var, event.read))
    }

    /// Returns `true` if a step is part of an elided round.
    #[inline(always)]
    pub fn is_void(&self, step: usize) -> bool {
        self.has_voids() && self.void_events(step).next().is_some()
    }

    /// Returns the footprint of the elided operations of a step; with `might`, as if those that failed had succeeded.
    pub(super) fn void_footprint(&self, step: usize, might: bool) -> impl Iterator<Item = StepAccess> {
        self.void_events(step).filter_map(move |event| {
            let class = match event.op {
                SyncVarOp::AtomicRmwFailed | SyncVarOp::LockTryFailed | SyncVarOp::ChannelTryFailed
                    if might =>
                {
                    Class::Write
                }
                op => class_of(op, event.var, false)?,
            };
            let key = Key::of(event.op, event.var);
            Some(StepAccess { key, class })
        })
    }
}
