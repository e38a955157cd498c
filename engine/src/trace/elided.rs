//! Rounds of loops that count as not having happened, though their steps were added to the trace before that was known.
//!
//! When a round proves to have been in vain, its steps, and all after its first one, are taken back and added again
//! without the round's events; a step of which nothing is left stays as an empty one. When the search goes back to
//! before the round's end, the round has not failed yet: its events are put back in the same way. For that a record
//! of each step is kept.
//!
//! What raced with a void operation still does: had that come earlier, it might have shown something else.

use super::{Class, Key, Race, Touch, Trace, class_of};
use crate::record::{Event, Gates, Task, Vars};
use crate::trace::{Aside, StepEnd};
use intermezzo_sdk::{SyncVar, SyncVarOp};
use smallvec::SmallVec;

/// A step as it was added, to be added again.
struct Record {
    task: u32,
    events: SmallVec<[Event; 2]>,
    events_end: usize,
    choices: usize,
    extra_footprint: Vec<Aside>,
    waited: Option<(u32, Gates)>,
    forced_by_idle: bool,
    counts: bool,
    /// How many variables there were at its end.
    var_count: u32,
    /// The gates, at its end, of the variables that it touched.
    gates: SmallVec<[(u32, Gates); 2]>,
    /// Its races, if it is part of a void round.
    races: Vec<Race>,
}

/// A round that counts as not having happened.
#[derive(Clone, Copy, Debug)]
pub struct ElidedRound {
    task: u32,
    first_event: usize,
    /// Its first step, and the one at whose end it had failed.
    pub from: usize,
    pub at: usize,
}

/// What is kept to take rounds out and to put them back.
#[derive(Default)]
pub(super) struct Elided {
    records: Vec<Record>,
    rounds: Vec<ElidedRound>,
}

impl Elided {
    /// The last step is taken back.
    pub(super) fn undo(&mut self) {
        self.records.pop();
    }
}

impl Trace {
    /// Keeps a record of the step just added.
    #[inline(never)]
    pub(super) fn record(&mut self, end: &StepEnd<'_>) {
        let touches = self.touches(self.steps.len() - 1);
        let vars = touches.iter().filter_map(|touch| touch.key.var());
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

    /// A round of the task, from this event on up to the end of the last step, counts as not having happened.
    pub fn elided(&mut self, task: u32, first_event: usize, vars: &Vars, tasks: &[Task]) {
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

    /// Puts back the rounds that had not failed yet at the end of what is left of the trace.
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

    /// Marks the events of a round as void, or not.
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

    /// Takes back the steps from this one on, and adds them again as they are marked now.
    fn add_again(&mut self, from: usize, vars: &Vars, tasks: &[Task]) {
        let Some(elided) = &mut self.elided else {
            return;
        };
        let again: Vec<Record> = elided.records.drain(from.min(elided.records.len())..).collect();
        self.take_back_steps(from);
        for record in again {
            self.add_step::<false>(&StepEnd {
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

    /// Whether rounds can come to count as not having happened at all.
    #[inline(always)]
    pub fn has_voids(&self) -> bool {
        self.elided.is_some()
    }

    /// The rounds that count as not having happened, in the order in which they failed.
    pub fn elided_rounds(&self) -> &[ElidedRound] {
        self.elided.as_ref().map_or(&[], |elided| &elided.rounds)
    }

    /// The operations of a step.
    fn events(&self, step: usize) -> impl Iterator<Item = &Event> {
        let record = self.elided.as_ref().and_then(|elided| elided.records.get(step));
        let events = record.map_or(&[][..], |record| &record.events);
        events.iter().filter(|event| event.var != SyncVar::NONE.0)
    }

    /// Its void operations.
    fn void_events(&self, step: usize) -> impl Iterator<Item = &Event> {
        self.events(step).filter(|event| event.elided)
    }

    /// What a step's task read in it, and which values: void or not, if steps can be made void at all.
    pub fn reads(&self, step: usize) -> impl Iterator<Item = (u32, u64)> {
        let task = self.steps[step].task;
        let own = self.events(step).filter(move |event| event.task == task);
        own.map(|event| (event.var, event.read))
    }

    /// Whether a step is part of a void round.
    #[inline(always)]
    pub fn is_void(&self, step: usize) -> bool {
        self.has_voids() && self.void_events(step).next().is_some()
    }

    /// What the void operations of a step touched; and would have, had they not failed, if `might`.
    pub(super) fn void_touches(&self, step: usize, might: bool) -> impl Iterator<Item = Touch> {
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
            Some(Touch { key, class })
        })
    }
}
