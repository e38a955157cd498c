//! Sequences of steps that reverse a race, and the tasks that can begin them.

mod blocked;
mod fates;
mod footprints;
mod readers;
mod reversed;
mod shares;
mod time_out;

use super::analysis_limit::AnalysisLimit;
use super::names::{AssumedDistinct, Named, Names};
use super::sleep::{Footprint, counts, only_key};
use super::values::{Fate, Values, fate_of, keeps_choice, values};
pub(super) use fates::{Assumed, Assumption};
use intermezzo_engine::schedule::{Choice, ChoiceKind};
use intermezzo_engine::strategy::TimeIsOver;
use intermezzo_engine::trace::{Blocked, Class, Key, NOTHING, StableOpId, Step, StepAccess, Trace, conflict};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::sync::Arc;

/// One step of a sequence.
#[derive(Clone, Copy, Debug)]
pub(super) struct Planned {
    pub(super) task: u32,
    /// The number of the step in the last execution; `NOTHING` for an operation that was blocked there.
    step: u32,
    /// The index of its first entry: see [`Step::index`](intermezzo_engine::trace::Step::index).
    index: u32,
}

impl Planned {
    /// Returns the step of a task whose operation was blocked.
    fn blocked(task: u32) -> Planned {
        Planned {
            task,
            step: NOTHING,
            index: NOTHING,
        }
    }

    #[inline(always)]
    fn of(number: usize, step: &Step) -> Planned {
        Planned {
            task: step.task,
            step: number as u32,
            index: step.index,
        }
    }

    /// Returns the number of the step in the last execution; `None` for an operation that was blocked there.
    #[inline(always)]
    pub(super) fn step(&self) -> Option<usize> {
        (self.step != NOTHING).then_some(self.step as usize)
    }
}

/// A step that is done before the remaining steps of a sequence.
#[derive(Clone, Copy)]
pub(super) struct Done {
    pub(super) task: u32,
    /// `true` if it is a step of the sequence, and does the same as in the last execution.
    ///
    /// `false`: it only commutes with the sequence, so it may differ from that execution's step; or it now runs before
    /// the race and may behave differently.
    pub(super) matches_trace: bool,
    /// The number of the step in the last execution; otherwise `NOTHING`, and the key that it would access there, if
    /// that is known and one key.
    step: u32,
    key: Option<Key>,
    /// The number of the step in the last execution, if it is one of the sequence.
    in_sequence: u32,
    /// `true` if its counts are known: those of that step, or that of its only key, if any.
    counts_known: bool,
}

impl Done {
    /// Returns a step with this key in the last execution, if that is known and one key.
    #[inline(always)]
    fn accessing(task: u32, matches_trace: bool, key: Option<Key>) -> Done {
        Done {
            task,
            matches_trace,
            step: NOTHING,
            key,
            in_sequence: NOTHING,
            counts_known: false,
        }
    }

    /// Returns the key that it accesses in the last execution, if that is known and one key. It is rarely needed.
    #[inline(never)]
    pub(super) fn key(&self, trace: &Trace, sequence: &Sequence) -> Option<Key> {
        if self.step == NOTHING {
            return self.key;
        }
        if sequence.reversed == Some(self.step as usize) && sequence.fate.is_none() {
            return trace.with_possible_footprint(self.step as usize, only_key);
        }
        only_key(&trace.footprint_with_elided(self.step as usize))
    }
}

/// Steps of the last execution in their order, without some that must come later.
#[derive(Default)]
pub(super) struct Sequence {
    /// A buffer for its steps, and the range of the remaining ones in it.
    planned: Vec<Planned>,
    from: usize,
    end: usize,
    /// The steps done before the remaining ones, in order.
    pub(super) done: Vec<Done>,
    blocked: Option<Blocked>,
    /// The second step of the race. It may have other predecessors once the race is reversed.
    reversed: Option<usize>,
    /// The fate of its operation, if it had a choice of fates and has the same choice once the race is reversed. Only
    /// this fate reverses the race: the other one is explored where the race's first step comes first.
    fate: Option<Fate>,
    /// The footprint of the last step if it is known to be different there: of the second step of the race when it
    /// comes before the first, or of a time-out.
    otherwise: Option<Footprint>,
    /// The steps that are assumed to come after the sequence, in order.
    assumed: SmallVec<[Assumed; 1]>,
    /// The steps that are done and are neither part of the sequence nor assumed, in order.
    outside: SmallVec<[Assumed; 1]>,
    /// `true` if `outside` must be kept, because operations may have fates.
    pub(super) keeps_outside: bool,
    /// `true` if part of the footprint of a step in `outside` is unknown. Then no fate can be assumed.
    is_outside_unknown: bool,
    /// `true` if a step that is done makes more or fewer counts than in the last execution, so that its task's steps
    /// differ from those there.
    pub(super) counts_otherwise: bool,
    /// The steps that are left out, with everything that comes after them, because they took shares that are not
    /// released.
    left_out: SmallVec<[usize; 2]>,
    /// The step before which the sequence is planned.
    depth: usize,
    /// The stable identities of the last execution's steps.
    named: Named,
    /// The assumptions of all workers.
    apart: Option<Arc<AssumedDistinct>>,
}

/// A factory of sequences, which reuses one buffer.
#[derive(Default)]
pub(super) struct Sequences {
    sequence: Sequence,
}

impl Sequences {
    /// Returns sequences for a search with these assumptions, to which more may be added.
    pub(super) fn new(apart: Arc<AssumedDistinct>) -> Sequences {
        let sequence = Sequence {
            apart: Some(apart),
            ..Sequence::default()
        };
        Sequences { sequence }
    }

    /// Ends the analysis of an execution once this function returns `true`.
    pub(super) fn heed_time(&mut self, is_over: &TimeIsOver) {
        self.sequence.named.analysis_limit.heed(is_over);
    }

    /// Returns the limit on the analysis of the execution.
    pub(super) fn analysis_limit(&self) -> &AnalysisLimit {
        &self.sequence.named.analysis_limit
    }

    /// Prepares for another execution. Returns `true` if it contradicts no assumption.
    #[inline(always)]
    pub(super) fn look_at(&mut self, trace: &Trace) -> bool {
        let Sequence { named, apart, .. } = &mut self.sequence;
        named.forget();
        apart.as_ref().is_none_or(|apart| apart.holds(trace, named))
    }

    /// Returns the steps between `earlier` and `later` that need not come after `earlier`, followed by `later`.
    /// Executed before `earlier`, they reverse the race. Returns `None` if the race cannot be reversed.
    #[inline(always)]
    pub(super) fn reversing_up_to(
        &mut self,
        trace: &Trace,
        choices: &[Choice],
        earlier: usize,
        later: usize,
    ) -> Option<&mut Sequence> {
        self.begin(trace, earlier);
        self.add_independent(trace, earlier + 1, later);
        let last = Planned::of(later, &trace.steps()[later]);
        self.sequence.push(last);
        self.sequence.reversed = Some(later);
        if !choices.is_empty() {
            self.sequence.fate =
                fate_of(trace, choices, later).filter(|_| keeps_choice(trace, earlier, later));
        }
        match trace.shared_before(earlier, later) {
            Some(key) if !self.sequence.give_back_shares(trace, key) => None,
            _ => Some(&mut self.sequence),
        }
    }

    /// Adds the steps after `later`, of the first `steps` steps; `later` stays the last.
    #[inline(always)]
    pub(super) fn and_later(&mut self, trace: &Trace, steps: usize) -> &mut Sequence {
        if let (Some(last), Some(later)) = (self.sequence.pop(), self.sequence.reversed) {
            self.add_independent(trace, later + 1, steps);
            if !self.sequence.left_out.is_empty() {
                self.sequence.leave_out(trace);
            }
            self.sequence.push(last);
        }
        &mut self.sequence
    }

    /// Begins an empty sequence, before the step `earlier`.
    #[inline(always)]
    fn begin(&mut self, trace: &Trace, earlier: usize) {
        self.sequence.depth = earlier;
        self.sequence.counts_otherwise = false;
        (self.sequence.blocked, self.sequence.reversed, self.sequence.fate) = (None, None, None);
        self.sequence.otherwise = None;
        // Usually these lists are empty, and nothing has to be dropped.
        if !self.sequence.assumed.is_empty() {
            self.sequence.assumed.clear();
        }
        if !self.sequence.outside.is_empty() {
            self.sequence.outside.clear();
        }
        if !self.sequence.left_out.is_empty() {
            self.sequence.left_out.clear();
        }
        (self.sequence.keeps_outside, self.sequence.is_outside_unknown) = (false, false);
        (self.sequence.from, self.sequence.end) = (0, 0);
        self.sequence.done.clear();
        if self.sequence.planned.len() <= trace.steps().len() {
            self.sequence.make_room(trace.steps().len() + 1);
        }
    }

    /// Adds the steps from `from` on, of the first `steps` steps, that need not come after the step `depth`.
    #[inline(always)]
    fn add_independent(&mut self, trace: &Trace, from: usize, steps: usize) {
        if from < steps {
            self.sequence.add_each_independent(trace, from, steps);
        }
    }
}

impl Sequence {
    /// Makes room for this many steps.
    #[cold]
    fn make_room(&mut self, steps: usize) {
        self.planned.resize(2 * steps, Planned::blocked(0));
    }

    /// Adds steps: see [`Sequences::add_independent`].
    #[inline(never)]
    fn add_each_independent(&mut self, trace: &Trace, from: usize, steps: usize) {
        let (planned, mut end, has_voids) = (&mut self.planned[..], self.end, trace.has_voids());
        // The selection of the steps is unpredictable, so it is made without a branch, which would be mispredicted.
        trace.for_each_after(self.depth, from, steps, |number, step, is_independent| {
            planned[end] = Planned::of(number, step);
            // A failed round leads to nothing new.
            let is_void = has_voids && trace.is_void(number);
            end += usize::from(is_independent & !is_void);
        });
        self.end = end;
    }

    /// Adds a step at the end.
    #[inline(always)]
    fn push(&mut self, planned: Planned) {
        self.planned[self.end] = planned;
        self.end += 1;
    }

    /// Removes the last step.
    #[inline(always)]
    fn pop(&mut self) -> Option<Planned> {
        let last = self.left().last().copied()?;
        self.end -= 1;
        Some(last)
    }

    /// Keeps only the steps for which `holds` returns `true`.
    fn retain(&mut self, mut holds: impl FnMut(&Planned) -> bool) {
        let mut end = self.from;
        for at in self.from..self.end {
            if holds(&self.planned[at]) {
                self.planned.swap(end, at);
                end += 1;
            }
        }
        self.end = end;
    }

    /// Leaves out the steps that the last one does not need, so that fewer steps can begin the sequence.
    pub(super) fn keep_needed(&mut self, trace: &Trace) -> &mut Sequence {
        if let Some(last) = self.pop() {
            let blocked = self.blocked;
            let shares = self.shares_before_blocked(trace);
            self.retain(|planned| match (planned.step(), last.step(), blocked) {
                (Some(step), Some(later), _) => trace.precedes(step, later),
                (Some(step), None, Some(blocked)) => {
                    let precedes = |&share: &usize| step <= share && trace.precedes(step, share);
                    trace.precedes_blocked(step, &blocked) || shares.iter().any(precedes)
                }
                _ => true,
            });
            self.push(last);
        }
        self
    }

    /// Returns the remaining steps.
    #[inline(always)]
    fn left(&self) -> &[Planned] {
        &self.planned[self.from..self.end]
    }

    /// Returns the task of the last step.
    pub(super) fn last_task(&self) -> u32 {
        self.left().last().map_or(0, |planned| planned.task)
    }

    /// Returns `true` if no step remains.
    pub(super) fn is_empty(&self) -> bool {
        self.from == self.end
    }

    /// Calls `each` with each step, its place, the values that it chose, and its footprint. `choices` are those of the
    /// last execution.
    #[inline(always)]
    pub(super) fn for_each_step(
        &self,
        trace: &Trace,
        choices: &[Choice],
        mut each: impl FnMut(usize, &Planned, &[u32], &[StepAccess]),
    ) {
        for (place, planned) in self.left().iter().enumerate() {
            let values = match self.made_in(trace, choices, place) {
                None if self.fate.is_some() => self.fate.into_iter().map(Fate::value).collect(),
                None | Some([]) => Values::new(),
                Some(made) => values(made),
            };
            self.with_footprint(trace, planned, |footprint| {
                each(place, planned, &values, footprint)
            });
        }
    }

    /// Returns the choices that the step at a place made, without the choice of its task. Returns `None` for the last
    /// step, which may make others once the race is reversed.
    #[inline(always)]
    pub(super) fn made_in<'a>(
        &self,
        trace: &Trace,
        choices: &'a [Choice],
        place: usize,
    ) -> Option<&'a [Choice]> {
        let step = self.left()[place].step();
        let step = step.filter(|&step| self.reversed != Some(step))?;
        if choices.is_empty() {
            return Some(&[]);
        }
        let range = trace.steps()[step - 1].choices_end..trace.steps()[step].choices_end;
        match choices.get(range).unwrap_or_default() {
            // Usually the only choice is the task that takes the step.
            [of_task, others @ ..] if of_task.kind == ChoiceKind::Task => Some(others),
            all => Some(all),
        }
    }

    /// Returns `true` if the step at a place can come first.
    #[inline(always)]
    pub(super) fn can_be_first(&self, trace: &Trace, place: usize) -> bool {
        place == 0 || self.comes_after_none(trace, place)
    }

    #[inline(never)]
    fn comes_after_none(&self, trace: &Trace, place: usize) -> bool {
        let (before, step) = (&self.left()[..place], &self.left()[place]);
        let Some(number) = step.step() else {
            let precedes = |earlier: usize| match (&self.blocked, &self.otherwise) {
                (Some(blocked), _) => {
                    trace.precedes_blocked(earlier, blocked)
                        || conflict(&trace.footprint_with_elided(earlier), &[blocked.access])
                }
                (None, Some(footprint)) => conflict(&trace.footprint_with_elided(earlier), footprint),
                (None, None) => true,
            };
            return !before.iter().filter_map(Planned::step).any(precedes);
        };
        // The second step of the race need not come after steps that it followed only because of the race. Steps that
        // happened before its task's previous step still come before it, and so do conflicting ones.
        let reversed = self.reversed == Some(number);
        let known = if reversed {
            trace.known_before(number)
        } else {
            trace.known_by(number)
        };
        let precedes = |earlier: &Planned| {
            earlier.task == step.task
                || known
                    .get(earlier.task as usize)
                    .is_some_and(|&entries| entries >= earlier.index)
                || reversed && self.could_conflict(trace, earlier.step as usize, number)
        };
        !before.iter().any(precedes)
    }

    /// Returns `true` if a step and the second step of the race, which is `reversed`, are dependent by their
    /// footprints.
    fn could_conflict(&self, trace: &Trace, one: usize, reversed: usize) -> bool {
        match &self.otherwise {
            Some(footprint) => conflict(&trace.footprint_with_elided(one), footprint),
            None => trace.could_conflict(one, reversed),
        }
    }

    /// Returns the tasks whose steps can come first.
    pub(super) fn begins<'a>(&'a self, trace: &'a Trace) -> impl Iterator<Item = u32> + 'a {
        self.first_places(trace).map(|place| self.left()[place].task)
    }

    /// Returns the places of the steps that can come first.
    pub(super) fn first_places<'a>(&'a self, trace: &'a Trace) -> impl Iterator<Item = usize> + 'a {
        (0..self.len()).filter(|&place| self.can_be_first(trace, place))
    }

    /// Returns the task of the step at a place.
    pub(super) fn task_at(&self, place: usize) -> u32 {
        self.left()[place].task
    }

    /// Returns `Some` if a task whose next step has this footprint, and may release a share if `gives_up`, may begin
    /// something that leads to the same trace as the sequence. Either its step in the sequence can come first, and its
    /// place is returned; or it has no step in the sequence, and commutes with all of it.
    pub(super) fn may_begin(
        &self,
        trace: &Trace,
        task: u32,
        footprint: &[StepAccess],
        gives_up: bool,
    ) -> Option<Option<usize>> {
        match self.left().iter().position(|planned| planned.task == task) {
            Some(place) => self.can_be_first(trace, place).then_some(Some(place)),
            None => {
                if self.wakes_assumed(task, footprint) {
                    return None;
                }
                let wakes = |planned: &Planned| {
                    self.with_footprint(trace, planned, |theirs| conflict(footprint, theirs))
                        || gives_up
                            && planned
                                .step()
                                .is_some_and(|step| self.makes_last(trace, step, footprint))
                };
                (!self.left().iter().any(wakes)).then_some(None)
            }
        }
    }

    /// Notes that the step at a place was done, and removes it.
    #[inline(always)]
    pub(super) fn take(&mut self, place: usize) {
        let Planned { task, step, .. } = self.remove(place);
        self.done.push(Done {
            task,
            matches_trace: self.is_along(step),
            step,
            key: None,
            in_sequence: step,
            counts_known: true,
        });
    }

    /// Notes that a step of a task with these values was done, and removes it if it is at a place. `footprint` is the
    /// part of its footprint that is known; `is_known` is `true` if that is all of it.
    pub(super) fn take_accessing(
        &mut self,
        task: u32,
        place: Option<usize>,
        values: &[u32],
        footprint: &[StepAccess],
        is_known: bool,
    ) {
        if self.keeps_outside && place.is_none() {
            self.take_outside(task, values, footprint, is_known);
        }
        // If it is not part of the sequence, it may correspond to more or less than one step of the last execution.
        self.counts_otherwise |= place.is_none() && counts(footprint) > 0;
        let key = only_key(footprint);
        let counts_known = is_known && (place.is_some() || key.is_some() || counts(footprint) == 0);
        let in_sequence = place.map_or(NOTHING, |place| self.remove(place).step);
        let matches_trace = self.is_along(in_sequence);
        self.done.push(Done {
            in_sequence,
            counts_known,
            ..Done::accessing(task, matches_trace, key)
        });
    }

    /// Returns `true` if a step does the same as in the last execution: it is in the sequence, and is not the second
    /// step of the race.
    fn is_along(&self, step: u32) -> bool {
        step != NOTHING && self.reversed != Some(step as usize)
    }

    /// Removes the step at a place. It is usually among the first, so those before it are moved one by one.
    #[inline(always)]
    fn remove(&mut self, place: usize) -> Planned {
        let first = self.from;
        for at in (first..first + place).rev() {
            self.planned.swap(at, at + 1);
        }
        self.from += 1;
        self.planned[first]
    }

    /// Returns the number of variables that tasks had used where the sequence begins.
    pub(super) fn vars_before(&self, trace: &Trace) -> u32 {
        trace.vars_before(self.depth)
    }

    /// Returns the key that the step `back` steps before the beginning of the sequence accessed, if that is one key.
    pub(super) fn key_before(&self, trace: &Trace, back: usize) -> Option<Key> {
        only_key(trace.footprint(self.depth.checked_sub(back)?))
    }

    /// Returns `true` if any of the steps accesses a variable with this number or a higher one.
    pub(super) fn accesses_from(&self, trace: &Trace, first: u32) -> bool {
        let is_such = |access: &StepAccess| access.key.var().is_some_and(|var| var >= first);
        let mut steps = self.left().iter();
        steps.any(|planned| self.with_footprint(trace, planned, |footprint| footprint.iter().any(is_such)))
    }

    /// Returns stable identities of operations on the variable of a step: first the step's own, then up to `others`
    /// more. Returns none if the step has no such identity.
    pub(super) fn names(&self, trace: &Trace, step: &Planned, key: Key, others: usize) -> Names {
        let own = step.step().and_then(|step| self.named.of(trace, step));
        let mut names: Names = own.into_iter().collect();
        if own.is_some() {
            let named = trace.steps_on(key).filter_map(|step| self.named.of(trace, step));
            names.extend(named.filter(|name| own != Some(*name)).take(others));
        }
        names
    }

    /// Returns the key that an operation with one of these identities accesses in the last execution, if it has one.
    pub(super) fn key_named(&self, trace: &Trace, names: &[StableOpId]) -> Option<Key> {
        names.iter().find_map(|name| self.named.key(trace, *name))
    }

    /// Assumes that an operation, whose variable has this number or a higher one, accesses no variable of any of the
    /// steps. Returns `false` if a wrong assumption would not be noticed.
    pub(super) fn take_apart(&self, trace: &Trace, first: u32, name: StableOpId, class: Class) -> bool {
        let could_be_it = |access: &StepAccess| {
            access.key.var().is_some_and(|var| var >= first) && !access.class.commutes(class)
        };
        let accessing = |planned: &&Planned| {
            self.with_footprint(trace, planned, |footprint| footprint.iter().any(could_be_it))
        };
        let others = self.left().iter().filter(accessing);
        let named = others.map(|planned| planned.step().and_then(|step| self.named.of(trace, step)));
        let Some(others) = named.collect::<Option<SmallVec<[StableOpId; 16]>>>() else {
            return false;
        };
        let Some(apart) = &self.apart else {
            return others.is_empty();
        };
        apart.assume(name, others);
        true
    }

    /// Returns the step of the last execution that is the `number`-th of a task, from 0, since the sequence begins.
    fn step_of(&self, trace: &Trace, task: u32, number: usize) -> Option<usize> {
        (self.depth..trace.steps().len())
            .filter(|&step| trace.steps()[step].task == task)
            .nth(number)
    }

    /// Returns the footprint, with the last execution's numbers of variables, of the next step of a task that has no
    /// step in the sequence. `done` is the number of steps that the task has taken since the beginning of the sequence.
    pub(super) fn next_footprint<'a>(
        &self,
        trace: &'a Trace,
        task: u32,
        done: usize,
    ) -> Option<Cow<'a, [StepAccess]>> {
        self.step_of(trace, task, done)
            .map(|step| trace.footprint_with_elided(step))
    }

    /// Returns `true` if a task's `number`-th step since the beginning of the sequence showed the task nothing,
    /// whatever came before the step.
    pub(super) fn told_nothing(&self, trace: &Trace, task: u32, number: usize) -> bool {
        self.step_of(trace, task, number)
            .is_some_and(|step| trace.is_store(step))
    }

    /// Returns the last step of the last execution in the sequence, except the second step of the race.
    pub(super) fn last_step(&self) -> usize {
        let mut others = self.left().iter().rev().filter_map(Planned::step);
        others.find(|&step| self.reversed != Some(step)).unwrap_or(0)
    }

    /// Returns the number of remaining steps.
    pub(super) fn len(&self) -> usize {
        self.end - self.from
    }

    /// Returns the place of the next step of a task, if that step was taken in the last execution.
    pub(super) fn place_of_step(&self, task: u32) -> Option<usize> {
        let place = self.left().iter().position(|planned| planned.task == task)?;
        self.left()[place].step().map(|_| place)
    }
}
