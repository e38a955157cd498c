//! Wakeup trees: the sequences to be explored, which share their beginnings.

mod halves;
mod saved;

pub(super) use halves::Explored;
pub(super) use saved::SavedBranch;

use super::names::Names;
use super::sequence::{Assumed, Sequence};
use super::sleep::{Footprint, as_footprint, counts, first_unknown};
use super::values::{Fate, Values, Wanted, values};
use intermezzo_engine::schedule::Choice;
use intermezzo_engine::trace::{Class, Key, StableOpId, StepAccess, Trace};

/// A step to be taken, and the sequences to be explored after it, in order. If there are none, any step may follow.
///
/// It is small, and usually has no allocations of its own, because every execution creates and copies branches.
#[derive(Clone, Debug)]
struct Branch {
    task: u32,
    /// The number of branches, including this one and all below it, which follow it in the tree's list.
    size: u32,
    /// `true` if the step may release a share of a value whose destructor runs code.
    gives_up: bool,
    /// The access of the step in the execution in which it was found, if it accessed at most one key and chose no
    /// values. A variable that was first used after the node of the tree is unknown, because it has other numbers
    /// elsewhere. In its place, the key has the distance to an earlier step that accessed the same variable.
    access: Option<StepAccess>,
    /// The other data, if there are any.
    more: Option<Box<More>>,
}

/// The number of stable identities, besides its own, that are kept for a step that accesses a variable that was first
/// used late.
const OTHERS: usize = 3;

/// The relation of a branch to a sequence.
pub(super) enum Leads {
    /// It does not lead to the same trace as the sequence.
    Elsewhere,
    /// It is unknown, because the branch accesses variables that may have other numbers in the execution that the
    /// sequence is from.
    Unsure,
    /// It begins something that leads to the same trace; its step was moved from the sequence to the steps that are
    /// done.
    Along,
    /// It begins something that leads to the same trace if an operation has the fate that it plans. With the other
    /// fate, which is given, it leads elsewhere.
    Half(Fate),
}

/// The values that a step chose, and its footprint.
#[derive(Clone, Debug)]
struct More {
    /// The values that it chose. The sequences below it can be followed only with these.
    values: Values,
    footprint: Footprint,
    /// The stable identities of operations on its variable, first its own, if the variable is not known.
    names: Names,
}

impl More {
    // A separate function, because most branches have no such data.
    #[inline(never)]
    fn new(values: &[u32], footprint: &[StepAccess]) -> Box<More> {
        Box::new(More {
            values: Values::from_slice(values),
            footprint: Footprint::from_slice(footprint),
            names: Names::new(),
        })
    }
}

impl Branch {
    #[inline(always)]
    fn new(task: u32, size: u32, values: &[u32], footprint: &[StepAccess]) -> Branch {
        let access = footprint.first().copied();
        let brief = values.is_empty() && footprint.len() <= 1;
        let more = (!brief).then(|| More::new(values, footprint));
        Branch {
            task,
            size,
            gives_up: false,
            access,
            more,
        }
    }

    /// Makes the variables that it accesses with this number or a higher one unknown. For each, it keeps the distance
    /// to the step that accessed it before, which `back` returns, and the stable identities of its operations, which
    /// `names` returns.
    #[inline(always)]
    fn forget_from(
        &mut self,
        first: u32,
        back: impl Fn(Key) -> Option<usize>,
        names: impl FnOnce(Key, usize) -> Names,
    ) {
        let is_late = |access: &StepAccess| access.key.var().is_some_and(|var| var >= first);
        let any_late = match &self.more {
            Some(more) => more.footprint.iter().any(is_late),
            None => self.access.as_ref().is_some_and(is_late),
        };
        if any_late {
            self.forget(first, is_late, back, names);
        }
    }

    #[inline(never)]
    fn forget(
        &mut self,
        first: u32,
        is_late: impl Fn(&StepAccess) -> bool,
        back: impl Fn(Key) -> Option<usize>,
        names: impl FnOnce(Key, usize) -> Names,
    ) {
        let footprint = match &mut self.more {
            Some(more) => &mut more.footprint[..],
            None => self.access.as_mut_slice(),
        };
        let mut forgotten = None;
        for access in footprint.iter_mut().filter(|access| is_late(access)) {
            let back = back(access.key);
            let others = if back.is_some() { 0 } else { OTHERS };
            forgotten = Some((access.key, others));
            access.key = Key::unknown(first, back);
        }
        if let ([_], Some((key, others))) = (footprint, forgotten) {
            self.know_by(names(key, others));
        }
    }

    /// Keeps these stable identities.
    fn know_by(&mut self, names: Names) {
        if !names.is_empty() {
            let access = self.access;
            let more = || More::new(&[], access.as_slice());
            self.more.get_or_insert_with(more).names = names;
        }
    }

    /// Returns the stable identities of operations on the variable that it accesses, if they are kept.
    fn names(&self) -> &[StableOpId] {
        self.more.as_ref().map_or(&[], |more| &more.names)
    }

    #[inline(always)]
    fn values(&self) -> &[u32] {
        self.more.as_ref().map_or(&[], |more| &more.values)
    }

    /// Returns `true` if it chose these values. Comparing them as slices would need a call, and usually both are empty.
    #[inline(always)]
    fn chose(&self, values: &[u32]) -> bool {
        self.values().len() == values.len() && self.values().iter().eq(values)
    }

    #[inline(always)]
    fn footprint(&self) -> &[StepAccess] {
        match &self.more {
            Some(more) => &more.footprint,
            None => self.access.as_slice(),
        }
    }

    /// Returns `true` if no particular sequence follows it: any step may.
    fn is_last(&self) -> bool {
        self.size == 1
    }

    /// Returns the fate of its operation, if only one is planned.
    #[inline(always)]
    fn fate(&self) -> Option<Fate> {
        Fate::among(self.values())
    }

    /// Returns `true` if any step may follow it, with any values.
    fn is_any(&self) -> bool {
        self.is_last() && self.values().is_empty()
    }
}

/// The sequences to be explored from one node, in order: branches, each before those below it. They are in one list,
/// which is reused, since trees are created and dropped with every execution.
#[derive(Debug, Default)]
pub(super) struct Tree {
    branches: Vec<Branch>,
    /// The number of branches, from the first, that are gone because their steps were taken. The rest is below them.
    gone: usize,
}

impl Clone for Tree {
    fn clone(&self) -> Tree {
        Tree {
            branches: self.branches[self.gone..].to_vec(),
            gone: 0,
        }
    }

    /// Copies into the existing memory.
    fn clone_from(&mut self, other: &Tree) {
        self.clear();
        self.branches.extend_from_slice(&other.branches[other.gone..]);
    }
}

impl Tree {
    /// Returns the tasks whose steps may come first, in order; a task may occur several times.
    pub(super) fn first_tasks(&self) -> impl Iterator<Item = u32> {
        self.first().map(|at| self.branches[at].task)
    }

    /// Returns `true` if the tree begins with a step of this task, whatever values it chooses.
    pub(super) fn begins_with(&self, task: u32) -> bool {
        self.first()
            .map(|at| &self.branches[at])
            .any(|first| first.task == task && first.values().is_empty())
    }

    /// Returns the values with which the first step is planned. All branches that may come first must have the same
    /// task.
    #[inline(always)]
    pub(super) fn first_values(&self) -> Wanted {
        match self.branches.get(self.gone) {
            // Mostly steps choose no values.
            Some(first) if first.values().is_empty() => Wanted::default(),
            _ => Wanted::beginning_with(self.first().map(|at| self.branches[at].values())),
        }
    }

    /// Returns the indices of the branches that may come first.
    fn first(&self) -> impl Iterator<Item = usize> {
        let from = |at: usize| (at < self.branches.len()).then_some(at);
        std::iter::successors(from(self.gone), move |&at| {
            from(at + self.branches[at].size as usize)
        })
    }

    /// Returns `true` if no sequence is planned.
    pub(super) fn is_empty(&self) -> bool {
        self.gone == self.branches.len()
    }

    /// Returns `true` if something remains after its first step: it is more than one step that any step may follow.
    #[inline(always)]
    pub(super) fn goes_on(&self) -> bool {
        self.branches.len() > self.gone + 1
    }

    /// Returns the steps that may come first, with nothing below them.
    pub(super) fn first_steps(&self) -> Tree {
        let step = |at: usize| {
            let first = &self.branches[at];
            Branch {
                gives_up: first.gives_up,
                ..Branch::new(first.task, 1, &[], first.footprint())
            }
        };
        Tree {
            branches: self.first().map(step).collect(),
            gone: 0,
        }
    }

    /// Returns the relation of the first steps to the sequence. If one of them begins something that leads to the same
    /// trace, the step is removed from the sequence.
    pub(super) fn leads(&self, trace: &Trace, choices: &[Choice], sequence: &mut Sequence) -> Leads {
        let mut leads = Leads::Elsewhere;
        for at in self.first() {
            match self.branches[at].leads(trace, choices, sequence) {
                Leads::Elsewhere | Leads::Half(_) => {}
                Leads::Unsure => leads = Leads::Unsure,
                Leads::Along => return Leads::Along,
            }
        }
        leads
    }

    /// Returns a tree of one sequence, with the steps of these tasks.
    pub(super) fn line(tasks: &[u32]) -> Tree {
        let step = |(at, &task): (usize, &u32)| Branch::new(task, (tasks.len() - at) as u32, &[], &[]);
        Tree {
            branches: tasks.iter().enumerate().map(step).collect(),
            gone: 0,
        }
    }

    /// Empties the tree. Usually it is already empty.
    #[inline(always)]
    pub(super) fn clear(&mut self) {
        if !self.branches.is_empty() {
            self.drop_all();
        }
        self.gone = 0;
    }

    #[inline(never)]
    fn drop_all(&mut self) {
        self.branches.clear();
    }

    /// Adds a step that any step may follow.
    pub(super) fn add_leaf(&mut self, task: u32, footprint: &[StepAccess]) {
        self.branches.push(Branch::new(task, 1, &[], footprint));
    }

    /// Moves everything that begins with the first task to `other`, which is emptied before. Returns the task.
    pub(super) fn take_first(&mut self, other: &mut Tree) -> Option<u32> {
        other.clear();
        let &Branch { task, size, .. } = self.branches.get(self.gone)?;
        if self.gone + size as usize == self.branches.len() {
            std::mem::swap(self, other);
            return Some(task);
        }
        let mut at = self.gone;
        while let Some(branch) = self.branches.get(at) {
            let end = at + branch.size as usize;
            if branch.task == task {
                other.branches.extend(self.branches.drain(at..end));
            } else {
                at = end;
            }
        }
        Some(task)
    }

    /// Moves everything below the first step that chose these values to `other`, which is emptied before.
    // Inlined here and below, because a search by one worker spends much of its time here.
    #[inline(always)]
    pub(super) fn take_after(&mut self, values: &Values, other: &mut Tree) {
        other.clear();
        let found = self.first().find(|&at| self.branches[at].chose(values));
        let Some(at) = found else {
            return;
        };
        let end = at + self.branches[at].size as usize;
        if (at, end) == (self.gone, self.branches.len()) {
            std::mem::swap(self, other);
            other.gone += 1;
        } else {
            other.branches.extend(self.branches.drain(at + 1..end));
            self.branches[at].size = 1;
            self.take_other_after(at + 1, values, other);
        }
    }

    /// Adds everything below further such steps, from an index on.
    fn take_other_after(&mut self, mut at: usize, values: &Values, other: &mut Tree) {
        while at < self.branches.len() {
            let end = at + self.branches[at].size as usize;
            if self.branches[at].chose(values) {
                other.branches.extend(self.branches.drain(at..end).skip(1));
            } else {
                at = end;
            }
        }
    }

    /// Writes the counts of the first step that chose these values into `counts`. Returns `false` if nothing is below
    /// it.
    pub(super) fn counts_after(&self, values: &Values, counts: &mut Footprint) -> bool {
        let Some(at) = self.first().find(|&at| self.branches[at].chose(values)) else {
            return false;
        };
        let branch = &self.branches[at];
        let made = branch.footprint().iter().copied();
        counts.clear();
        counts.extend(made.filter(|access| access.class == Class::Add));
        !branch.is_last()
    }

    /// Returns `true` if a step that comes first may count references; `false` only if none does.
    #[inline(always)]
    pub(super) fn may_begin_with_counts(&self) -> bool {
        self.branches.get(self.gone).is_none_or(|first| {
            first.size as usize + self.gone < self.branches.len()
                || first.more.is_some()
                || first.access.is_some_and(|access| access.class == Class::Add)
        })
    }

    /// Puts a step of a task with these counts before everything else.
    pub(super) fn put_first(&mut self, task: u32, counts: &[StepAccess]) {
        self.forget_distances();
        let size = (self.branches.len() - self.gone) as u32 + 1;
        let branch = Branch {
            gives_up: true,
            ..Branch::new(task, size, &[], counts)
        };
        self.branches.insert(self.gone, branch);
    }

    /// Forgets the distances to other steps that accessed the same unknown variables, because the distances have
    /// changed.
    fn forget_distances(&mut self) {
        for branch in &mut self.branches[self.gone..] {
            let footprint = match &mut branch.more {
                Some(more) => &mut more.footprint[..],
                None => branch.access.as_mut_slice(),
            };
            for access in footprint {
                if let Some(first) = access.key.unknown_from() {
                    access.key = Key::unknown(first, None);
                }
            }
        }
    }

    /// Leaves out the next steps of a task that consist only of counts, as far as these are among the `made` counts
    /// that it has already made.
    pub(super) fn leave_out(&mut self, task: u32, made: usize) {
        self.forget_distances();
        // The branches around the next one: the end of each, and the number of the task's counts that are still to be
        // left out.
        let mut within: Vec<(usize, usize)> = Vec::new();
        let mut left = Vec::new();
        for (at, mut branch) in self.branches.drain(..).enumerate().skip(self.gone) {
            within.retain(|&(end, ..)| end > at);
            let made = within.last().map_or(made, |&(_, made)| made);
            let end = at + branch.size as usize;
            if made == 0 || branch.task != task {
                within.push((end, made));
                left.push((at, branch));
                continue;
            }
            let footprint = branch.footprint();
            let only_counts = !footprint.is_empty() && counts(footprint) == footprint.len();
            if only_counts && footprint.len() <= made {
                within.push((end, made - footprint.len()));
                continue;
            }
            if only_counts {
                branch = Branch {
                    gives_up: branch.gives_up,
                    ..Branch::new(task, branch.size, branch.values(), &footprint[made..])
                };
            }
            within.push((end, 0));
            left.push((at, branch));
        }
        // The sizes of the surrounding branches must not include the branches that are left out.
        let places: Vec<usize> = left.iter().map(|(at, _)| *at).collect();
        for (at, mut branch) in left {
            let end = at + branch.size as usize;
            let before = |end: usize| places.partition_point(|&place| place < end);
            branch.size = (before(end) - before(at)) as u32;
            self.branches.push(branch);
        }
        self.gone = 0;
    }

    /// Adds to the sizes of `depth` branches for the branches added at `end`.
    fn grow(&mut self, depth: u32, end: usize, added: u32) {
        let mut at = self.gone;
        for _ in 0..depth {
            while at + (self.branches[at].size as usize) < end {
                at += self.branches[at].size as usize;
            }
            self.branches[at].size += added;
            at += 1;
        }
    }

    /// Adds a sequence at the end of the list.
    #[inline(always)]
    fn add(&mut self, trace: &Trace, choices: &[Choice], sequence: &Sequence) {
        let (mut size, known) = (sequence.len() as u32, sequence.vars_before(trace));
        self.branches.reserve(sequence.len());
        sequence.for_each_step(trace, choices, |place, step, values, footprint| {
            let mut branch = Branch::new(step.task, size, values, footprint);
            branch.gives_up = step.step().is_some_and(|step| trace.gives_up_share(step));
            let back = |key| sequence.back_from(trace, place, key);
            branch.forget_from(known, back, |key, others| {
                sequence.names(trace, step, key, others)
            });
            self.branches.push(branch);
            size -= 1;
        });
    }
}

impl Branch {
    /// Returns the relation of the branch to the sequence. If the branch begins something that leads to the same trace,
    /// its step is removed from the sequence.
    #[inline(always)]
    fn leads(&self, trace: &Trace, choices: &[Choice], sequence: &mut Sequence) -> Leads {
        match sequence.place_of_step(self.task) {
            // Its footprint does not matter, because it is a step of the sequence.
            Some(place) => {
                if !sequence.can_be_first(trace, place) {
                    return Leads::Elsewhere;
                }
                if self.is_other(trace, choices, sequence, place) {
                    return match self.values() {
                        &[value] if sequence.may_have_either(trace, choices, place) => {
                            half(Fate::of_value(value))
                        }
                        _ => Leads::Elsewhere,
                    };
                }
                if sequence.keeps_outside && self.values().is_empty() {
                    sequence.learn_along(trace, place, self.footprint());
                }
                sequence.take_counting(trace, place, counts(self.footprint()));
            }
            None => {
                let late;
                let footprint = match first_unknown(self.footprint()) {
                    None => self.footprint(),
                    Some(_) => match self.footprint_in(trace, sequence) {
                        None => return Leads::Unsure,
                        Some(footprint) => {
                            late = footprint;
                            &late[..]
                        }
                    },
                };
                let Some(place) = sequence.may_begin(trace, self.task, footprint, self.gives_up) else {
                    return Leads::Elsewhere;
                };
                if place.is_none() {
                    match sequence.assumed(self.task) {
                        Some(assumed) if self.has_values_of(assumed) => {}
                        Some(_) => return Leads::Elsewhere,
                        // After the sequence its operation may have the other fate.
                        None if self.fate().is_some() => return half(self.fate()),
                        None => {}
                    }
                }
                if place.is_some_and(|place| self.is_other(trace, choices, sequence, place)) {
                    return Leads::Elsewhere;
                }
                let is_known = self.is_all(footprint);
                sequence.take_accessing(self.task, place, self.values(), footprint, is_known);
            }
        }
        Leads::Along
    }

    /// Returns `true` if this part of its footprint, which is known in the last execution, is all of it.
    fn is_all(&self, known: &[StepAccess]) -> bool {
        known.len() == self.footprint().len()
    }

    /// Returns `true` if it chose the values of an assumed step, or if it may be followed by any step and those values
    /// begin with its own.
    #[cold]
    fn has_values_of(&self, assumed: &Assumed) -> bool {
        self.chose(&assumed.values) || self.is_last() && assumed.values.starts_with(self.values())
    }

    /// Returns `true` if it differs from the step at a place of the sequence: it chose other values.
    #[inline(always)]
    fn is_other(&self, trace: &Trace, choices: &[Choice], sequence: &Sequence, place: usize) -> bool {
        let no_values = choices.is_empty() && self.values().is_empty();
        let is_other = |made: &[Choice]| match made {
            [] => !self.values().is_empty(),
            made => self.chose_other(made),
        };
        // The second step of the race has a planned fate, or may choose any values.
        let chose_fewer = || {
            let fate = self.fate().filter(|_| self.values().len() == 1);
            !self.values().is_empty() && (fate.is_none() || fate != sequence.fate())
        };
        !no_values
            && !self.is_any()
            && sequence
                .made_in(trace, choices, place)
                .map_or_else(chose_fewer, is_other)
    }

    /// Returns `true` if it chose other values than those among these choices.
    #[cold]
    fn chose_other(&self, made: &[Choice]) -> bool {
        let made = values(made);
        // A branch that only has a fate, and no particular sequence after it, may be followed by any other values.
        let is_begun = || self.is_last() && self.values().len() == 1 && self.fate() == Fate::among(&made);
        !self.chose(&made) && (self.fate().is_none() || !is_begun())
    }

    /// Returns the footprint of the branch's step in the last execution, without accesses that do not matter to the
    /// sequence; `None` if it is unknown.
    fn footprint_in(&self, trace: &Trace, sequence: &Sequence) -> Option<Footprint> {
        let done = &sequence.done[..];
        let mut footprint = as_footprint(self.footprint());
        let Some(first) = first_unknown(&footprint) else {
            return Some(footprint);
        };
        if sequence.counts_otherwise {
            return None;
        }
        if let [access] = &mut footprint[..]
            && let Some(back) = access.key.back()
        {
            let key = match done.len().checked_sub(back) {
                Some(before) => done[before].key(trace, sequence),
                None => sequence.key_before(trace, back - done.len()),
            };
            if let Some(key) = key {
                access.key = key;
                return Some(footprint);
            }
        }
        // After the same steps as in the last execution, the task's next step is the same as there. That also holds
        // after steps that may differ, if they showed the task nothing.
        let mut own = done.iter().filter(|step| step.task == self.task).enumerate();
        let as_there =
            own.all(|(number, step)| step.matches_trace || sequence.told_nothing(trace, self.task, number));
        let count = done.iter().filter(|step| step.task == self.task).count();
        if let ([access], true) = (&mut footprint[..], as_there)
            && let Some(here) = sequence.next_footprint(trace, self.task, count)
            && let Some(here) = here.first()
        {
            access.key = here.key;
            return Some(footprint);
        }
        let names = self.names();
        if let ([access], Some(key)) = (&mut footprint[..], sequence.key_named(trace, names)) {
            access.key = key;
            return Some(footprint);
        }
        // Otherwise it is only known of these variables that they were first used later.
        let apart = match (&footprint[..], names) {
            ([access], [name, ..]) => sequence.take_apart(trace, first, *name, access.class),
            _ => !sequence.accesses_from(trace, first),
        };
        footprint.retain(|access| access.key.unknown_from().is_none());
        apart.then_some(footprint)
    }
}

/// Returns the relation of a branch that plans this fate to a sequence that may continue with either.
#[cold]
fn half(fate: Option<Fate>) -> Leads {
    fate.map_or(Leads::Elsewhere, |fate| Leads::Half(fate.other()))
}
