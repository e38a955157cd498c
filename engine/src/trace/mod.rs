//! The happens-before order of the current execution: its trace.
//!
//! An execution is a sequence of *steps*. A step is everything from one decision about tasks to the next: an operation
//! of the chosen task, and whatever follows it without a decision. A step has *entries*, one for each event that other
//! tasks may notice. An entry accesses *keys*, most of which are variables. Two accesses to a key are ordered unless
//! they commute. Together with the order within each task that gives the happens-before relation of the execution. Two
//! executions with the same relation are one *trace* (Mazurkiewicz).
//!
//! The relation is kept as vector clocks, one row per entry. The part that stays the same in the next execution,
//! because the search prescribes the same choices, is not computed again. Only the other steps are undone, from the
//! end.
//!
//! **Fingerprint.** Each entry adds a number that depends on its task, its index in the task, and the entries that the
//! key held before. The sum does not depend on the order of steps that commute, so equal traces have equal
//! fingerprints. With 128 bits, different traces hardly ever have the same one. The sum does not depend on names and
//! addresses.

mod blocked;
mod dependence;
mod elided;
mod fingerprint_batch;
mod fingerprints;
mod footprint;
mod hash;
mod last_access;
#[cfg(feature = "unmodified")]
mod late_counts;
mod lock;
mod op_info;
mod order;
mod plain;
mod race;
mod soundness;
mod stable_id;
mod step;
mod take_back;
mod timed;

pub use blocked::{Blocked, Ending};
pub use dependence::class_of;
pub use dependence::{Class, Key, StepAccess, conflict};
use elided::Elided;
pub use fingerprint_batch::FingerprintBatch;
pub use fingerprints::{ByFingerprint, Fingerprints, Saved};
pub use last_access::is_access;
pub use lock::{Lock, ShareChange, lock};
pub use race::Race;
pub use soundness::SoundReduction;
pub use stable_id::StableOpId;
pub use step::StepEnd;
pub use step::{Aside, Extra};
pub use step::{NOTHING, Step};
pub use timed::{EndedWait, Limit};

use crate::record::{Event, Gates, Task, Vars};
pub use hash::hash64;
use hash::hash128;
use intermezzo_sdk::{SyncVar, SyncVarOp};
use op_info::{APART, COUNTS, ENDS, OpInfo, SHOWS, TAKES_SHARE};
use smallvec::SmallVec;

/// No entry.
pub const NONE: u32 = u32::MAX;

/// The amount of analysis of an execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Analysis {
    /// Nothing.
    #[default]
    Nothing,
    /// Fingerprints.
    Fingerprints,
    /// Fingerprints, clocks, and the races: pairs of steps that may be reversed.
    Races,
    /// The same, and the end of a task that each waiting step waited for. Otherwise an end has no entry, because it
    /// shows nothing new: a join comes after its task's last operation, and joins that nothing follows are left out.
    Waits,
}

/// An event that other tasks may notice.
#[derive(Clone, Copy, Debug)]
struct Entry {
    task: u32,
    /// Its index among the entries of its task, from 1.
    index: u32,
    /// The step that it belongs to.
    step: u32,
    /// The entry of the same task before it.
    before: u32,
    op: SyncVarOp,
    /// The key of the event's own variable.
    key: Key,
}

/// The data of the entry that is being added.
#[derive(Clone, Copy)]
struct NewEntry {
    entry: u32,
    task: u32,
    index: u32,
    op: SyncVarOp,
    facts: OpInfo,
    /// A number that identifies the entry in the execution.
    identity: u64,
}

/// The entries of a task so far.
#[derive(Clone, Copy, Debug)]
struct Tracked {
    /// Its last entry, and the number of its entries.
    head: u32,
    entries: u32,
    /// A number that identifies the task: its creator, and its index among the creator's tasks.
    lineage: u64,
}

/// An access to a key, in the key's own list.
#[derive(Clone, Copy, Debug)]
struct KeyAccess {
    entry: u32,
    /// The entry's task, and the entry's index in it.
    task: u32,
    index: u32,
    class: Class,
    /// The gates of the variable that count as open before the access, for operations that wait there: see
    /// [`TAKES_SHARE`].
    open: Gates,
    /// The gates that were actually open, to be restored.
    gates: Gates,
    /// The index in the list at which the accesses that commute with this one begin.
    group: u32,
    /// The sum of their identities up to here.
    sum: u64,
}

/// The happens-before relation of an execution.
#[derive(Default)]
pub struct Trace {
    detail: Analysis,
    steps: Vec<Step>,
    entries: Vec<Entry>,
    accesses: Vec<StepAccess>,
    /// The accesses of operations that need no order of their own (`APART`).
    followed: Vec<StepAccess>,
    races: Vec<Race>,
    /// The accesses to each key, in order.
    keys: Vec<Vec<KeyAccess>>,
    /// The open gates of each variable.
    gates: Vec<Gates>,
    tasks: Vec<Tracked>,
    /// The last step in which a task performed its first operation; it may have been undone.
    newest: u32,
    clocks: order::Clocks,
    /// A buffer for the steps that an operation races with.
    found: Vec<usize>,
    /// `true` if an entry of the current step, other than its first, added predecessors.
    joined_late: bool,
    /// The strongest reduction that is sound for all executions so far.
    sound: SoundReduction,
    /// The way the last execution ended, and the operations that were blocked then.
    ending: Ending,
    blocked: Vec<Blocked>,
    /// The data needed to elide rounds, if any may be elided.
    elided: Option<Box<Elided>>,
    /// The shares that were released of values whose destructors run code, in order.
    given_up: Vec<footprint::GivenUp>,
    /// The steps that only read counts because they failed to change them, in order.
    failed_counts: Vec<u32>,
    /// The changes of counts.
    #[cfg(feature = "unmodified")]
    changes: late_counts::Changes,
    /// The steps that ended waits with a limit, in order.
    timed_waits: Vec<timed::TimedWait>,
    /// The waits with a limit that something else ended, in the order in which their tasks continued.
    ended_waits: Vec<EndedWait>,
    /// The steps that moved virtual time, in order, each with the time after it.
    times: Vec<(u32, u64)>,
}

impl Trace {
    /// Returns an empty trace with this amount of analysis.
    pub fn new(detail: Analysis) -> Trace {
        Trace {
            detail,
            ..Trace::default()
        }
    }

    /// Like `new`, but rounds can be elided.
    pub(crate) fn with_elided(detail: Analysis) -> Trace {
        Trace {
            elided: Some(Box::default()),
            ..Trace::new(detail)
        }
    }

    /// Returns an empty trace with this amount of analysis, in which rounds can be elided if they can be in this one.
    pub fn cleared(&self, detail: Analysis) -> Trace {
        Trace {
            elided: self.elided.is_some().then(Box::default),
            ..Trace::new(detail)
        }
    }

    /// Returns the amount of analysis.
    pub fn detail(&self) -> Analysis {
        self.detail
    }

    /// Returns the steps so far. The first is the part of the test's body before its first visible operation.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Returns the number of variables that tasks had used before a step. In another execution with the same beginning
    /// these variables are the same, and later ones may have other numbers.
    pub fn vars_before(&self, step: usize) -> u32 {
        self.steps[step - 1].vars
    }

    /// Returns the strongest reduction that is sound for all executions so far.
    pub fn sound(&self) -> SoundReduction {
        self.sound
    }

    /// Returns for each choice the number of events before the step that it decided.
    pub fn events_before_choices(&self) -> Vec<usize> {
        let mut before = Vec::new();
        let mut events = 0;
        for step in self.steps() {
            before.resize(step.choices_end.max(before.len()), events);
            events = step.events_end;
        }
        before
    }

    /// Notes that no reduction stronger than this one is sound.
    pub fn only(&mut self, sound: SoundReduction) {
        self.sound = self.sound.max(sound);
    }

    /// Returns the fingerprint of the execution up to the last decision about tasks; 0 if fingerprints are not
    /// computed. All executions of one trace have the same fingerprint.
    pub fn fingerprint(&self) -> u128 {
        self.steps.last().map_or(0, |step| step.fingerprint)
    }

    /// Undoes all steps that contain, or come after, a decision beyond the first `choices` choices. Rounds of loops
    /// that had not failed by then are restored, which needs the variables and tasks of the last execution.
    pub(crate) fn rewind(&mut self, choices: usize, vars: &Vars, tasks: &[Task]) {
        let beyond = self
            .steps
            .iter()
            .rev()
            .take_while(|step| step.choices_end > choices);
        self.take_back_to(self.steps.len() - beyond.count());
        if self.elided.is_some() {
            self.put_back_rounds(vars, tasks);
        }
    }

    /// Undoes all steps.
    pub fn clear(&mut self) {
        self.take_back_to(0);
        if let Some(elided) = &mut self.elided {
            **elided = Elided::default();
        }
    }

    /// Adds a step that has ended.
    #[inline(never)]
    pub fn add(&mut self, end: &StepEnd<'_>) {
        self.add_step(end);
        for at in self.steps.last().map_or(0, |step| step.accesses as usize)..self.accesses.len() {
            self.take_over(at, end);
        }
        if self.elided.is_some() {
            self.record(end);
        }
    }

    /// Returns `true` if this event at the end of a step shows nothing: the end of a task whose order is not needed,
    /// or, in the last step, a join, since nothing follows it.
    #[inline(always)]
    fn tells_nothing(&self, event: &Event, is_last: bool) -> bool {
        OpInfo::of(event.op).any(ENDS)
            && self.detail < Analysis::Waits
            && (is_last || event.op == SyncVarOp::TaskEnd)
    }

    /// Notes the gates of an accessed variable that are open after the last step.
    #[inline(always)]
    fn take_over(&mut self, access: usize, end: &StepEnd<'_>) {
        if let Some(var) = self.accesses[access].key.var() {
            self.gates[var as usize] = end.vars[var].gates;
        }
    }

    /// Adds a step; its effect on gates is not known yet.
    #[inline(always)]
    fn add_step(&mut self, end: &StepEnd<'_>) {
        let mut step = Step {
            task: end.task,
            entries: self.entries.len() as u32,
            accesses: self.accesses.len() as u32,
            followed: self.followed.len() as u32,
            vars: end.vars.count() as u32,
            index: NOTHING,
            events_end: end.events_end,
            choices_end: end.choices,
            races: self.races.len() as u32,
            stands: self.head(end.task),
            fingerprint: self.fingerprint(),
        };
        if end.extra_footprint.is_empty() {
            let tells = |event: &Event| !self.tells_nothing(event, end.is_last);
            let telling = end.events.iter().rposition(tells).map_or(0, |last| last + 1);
            for event in &end.events[..telling] {
                if event.op == SyncVarOp::TaskJoin && event.var != SyncVar::NONE.0 && !event.elided {
                    self.add_event::<true>(&mut step, event, &[], end);
                } else {
                    self.add_event::<false>(&mut step, event, &[], end);
                }
            }
        } else {
            step = self.add_with_more(step, end);
        }
        self.steps.push(step);
        if std::mem::take(&mut self.joined_late) {
            self.make_whole(self.steps.len() - 1);
        }
        #[cfg(feature = "unmodified")]
        self.add_count_changes(end);
    }

    /// Orders a step as a whole: all its entries come after everything that any of them comes after. The exception is
    /// the operations of its task after a join, which belong to whichever of the joined steps came last.
    #[inline(never)]
    fn make_whole(&mut self, step: usize) {
        let Step { task, entries, .. } = self.steps[step];
        let own = |entry: &&Entry| entry.task == task;
        let before_join = self.entries[entries as usize..]
            .iter()
            .take_while(|entry| entry.op != SyncVarOp::TaskJoin);
        let Some(whole) = before_join.zip(entries..).filter(|(entry, _)| own(entry)).last() else {
            return;
        };
        let whole = whole.1;
        for entry in (entries..self.entries.len() as u32).filter(|&entry| entry != whole) {
            self.clocks.merge(entry, whole);
        }
    }

    /// Adds the events of a step that accessed more than the variables of its events.
    // The step is passed by value: if its address were known here, it would have to be in memory for every caller.
    #[inline(never)]
    fn add_with_more(&mut self, mut step: Step, end: &StepEnd<'_>) -> Step {
        let begin = end.events_end - end.events.len();
        // The event that an additional access belongs to. It must be the same in whichever step it occurs: the event of
        // the operation that is about to be recorded, or the task's last event in the step. The end of a task does not
        // count, because it shows nothing.
        let owner = |aside: &Aside| {
            let own = |event: &Event| event.task == aside.task && event.op != SyncVarOp::TaskEnd;
            let before = aside.events_before.saturating_sub(begin).min(end.events.len());
            let next = || end.events[before..].iter().position(own).map(|at| before + at);
            let last = || end.events[..before].iter().rposition(own);
            let any = || {
                end.events
                    .iter()
                    .rposition(|event| event.op != SyncVarOp::TaskEnd)
            };
            let owner = match aside.of_last_event {
                true => last().or_else(next),
                false => next().or_else(last),
            };
            // If the execution ended before the operation was recorded, there may be no event at all.
            owner.or_else(any).unwrap_or(end.events.len().saturating_sub(1))
        };
        let owners: SmallVec<[usize; 4]> = end.extra_footprint.iter().map(owner).collect();
        let shared = |aside: &Aside| aside.task != end.task && aside.extra.is_shared();
        if end.extra_footprint.iter().any(shared) {
            // The operations of a task after a join belong to whichever step was the last.
            self.only(SoundReduction::Caching);
        }
        for (at, event) in end.events.iter().enumerate() {
            let own = owners.iter().zip(end.extra_footprint);
            let own = own.filter(|(owner, _)| **owner == at).map(|(_, aside)| aside);
            let several: SmallVec<[Extra; 4]>;
            let mine = match end.extra_footprint {
                // Usually there is one, and no list is needed.
                [only] if owners[0] == at => std::slice::from_ref(&only.extra),
                [_] => &[],
                _ => {
                    several = own.map(|aside| aside.extra).collect();
                    &several[..]
                }
            };
            self.add_event::<false>(&mut step, event, mine, end);
        }
        step
    }

    /// Adds an event. With `JOIN`, it is a join of a task, not elided and without additional accesses, so that the
    /// compiler can leave out what does not apply.
    #[inline(always)]
    fn add_event<const JOIN: bool>(
        &mut self,
        step: &mut Step,
        event: &Event,
        extra_footprint: &[Extra],
        end: &StepEnd<'_>,
    ) {
        let Event { task, elided, .. } = *event;
        let op = if JOIN { SyncVarOp::TaskJoin } else { event.op };
        let mut facts = if JOIN { OpInfo::JOIN } else { OpInfo::of(op) };
        if !JOIN
            && (elided
                || op == SyncVarOp::TaskEnd && self.detail < Analysis::Waits && extra_footprint.is_empty())
        {
            return;
        }
        let shown = if facts.any(SHOWS) { event.read } else { 0 };
        if shown != 0 {
            facts = facts.environment_wake(op);
        }
        let uncounted = facts.any(COUNTS) && !end.counts;
        let has_access = JOIN || event.var != SyncVar::NONE.0 && !uncounted;
        // A query that does not find a task ended may come before or after the end.
        let is_false_look = op == SyncVarOp::TaskCheck && event.read == 0;
        let class = facts.class.filter(|_| has_access && !is_false_look);
        if !JOIN && class.is_none() && extra_footprint.is_empty() && op != SyncVarOp::Choice && !is_false_look
        {
            return;
        }
        let entry = self.entries.len() as u32;
        let tracked = self.track(task, end);
        let (before, index) = (tracked.head, tracked.entries + 1);
        (tracked.head, tracked.entries) = (entry, index);
        let by = NewEntry {
            entry,
            task,
            index,
            op,
            facts,
            identity: hash64(tracked.lineage, u64::from(index)),
        };
        // Such a query nevertheless has an entry with its key, although its footprint is empty.
        let key = Key::of(
            op,
            if class.is_some() || is_false_look {
                event.var
            } else {
                0
            },
        );
        self.entries.push(Entry {
            task,
            index,
            step: self.steps.len() as u32,
            before,
            op,
            key,
        });
        self.sound = self.sound.max(facts.sound);
        let first = step.entries == entry;
        let so_far = step.fingerprint;
        if first && task == step.task {
            (step.stands, step.index) = (entry, index);
        }
        let waited_for_all = end.forced_by_idle && first;
        if self.detail >= Analysis::Races {
            self.clocks.add_after(entry, before, task, index);
            if waited_for_all {
                let heads = self.tasks.iter().map(|task| task.head);
                for head in heads.filter(|&head| head != NONE && head != entry) {
                    self.clocks.join(entry, head);
                }
            }
        }
        #[cfg(feature = "unmodified")]
        let class = match class {
            Some(Class::Add) if !extra_footprint.is_empty() => {
                Some(self.class_of_count(key, op, extra_footprint))
            }
            class => class,
        };
        let seen = match class {
            Some(class) => self.add_access(step, &by, StepAccess { key, class }, end),
            None => 0,
        };
        if op == SyncVarOp::TaskJoin && self.detail == Analysis::Races {
            self.clocks.join(entry, self.head(event.read as u32));
        }
        // A task ends, or is joined, in the last of the steps that were waited for, whichever that is. So neither shows
        // anything new.
        if !facts.any(ENDS) {
            step.count(hash128(by.identity, seen, shown << 8 | op as u64));
        }
        if !JOIN && !extra_footprint.is_empty() {
            self.add_extra_accesses(step, &by, extra_footprint, end);
        }
        if waited_for_all {
            step.count(hash128(by.identity, so_far as u64, (so_far >> 64) as u64));
        }
    }

    /// Adds accesses of an entry in addition to that of its own variable.
    #[inline(never)]
    fn add_extra_accesses(
        &mut self,
        step: &mut Step,
        by: &NewEntry,
        extra_footprint: &[Extra],
        end: &StepEnd<'_>,
    ) {
        for (place, &extra) in extra_footprint.iter().enumerate() {
            let access = match extra {
                Extra::Access(access) => access,
                Extra::Store(store) => {
                    step.count(hash128(by.identity, u64::from(store), !(place as u64)));
                    continue;
                }
            };
            // After a join, such an access belongs to whichever step came last. So its races cannot be reversed like
            // those of a step.
            let after_join = by.op == SyncVarOp::TaskJoin && access.key.var().is_some();
            if after_join && self.detail >= Analysis::Races && !self.knows_all(by.entry, access) {
                self.only(SoundReduction::Caching);
            }
            let seen = self.add_access(step, by, access, end);
            step.count(hash128(by.identity, seen, !(place as u64)));
        }
    }

    /// Adds an access to a key: lists it, orders it, and finds its races. Returns the sum of the identities of the last
    /// accesses before it with which it does not commute.
    #[inline(always)]
    fn add_access(&mut self, step: &Step, by: &NewEntry, access: StepAccess, end: &StepEnd<'_>) -> u64 {
        let key = access.key.index();
        if key >= self.keys.len() {
            self.add_keys(key);
        }
        let gates = self.gates_before(access.key, end);
        let list = &self.keys[key];
        let (group, sum) = match list.last() {
            Some(last) if last.class.commutes(access.class) => {
                (last.group, last.sum.wrapping_add(by.identity))
            }
            _ => (list.len() as u32, by.identity),
        };
        let mut seen = 0;
        if let Some(last) = list[..group as usize].last() {
            seen = last.sum;
            if self.detail >= Analysis::Races && !self.knows_group(by.entry, last, &list[..group as usize]) {
                // A copy is passed, so that `by` itself can stay in registers.
                self.order_and_find_races(step.begun(), &{ *by }, access, group, end.waited);
            }
        }
        // A writer that becomes a reader takes its share in the step in which it releases the lock.
        let takes_share = by.facts.any(TAKES_SHARE) && !self.is_accessed_from(key, step.entries);
        self.keys[key].push(KeyAccess {
            entry: by.entry,
            task: by.task,
            index: by.index,
            class: access.class,
            open: if takes_share { Gates::MAX } else { gates },
            gates,
            group,
            sum,
        });
        if by.facts.any(APART) {
            self.followed.push(access);
        } else {
            self.accesses.push(access);
        }
        seen
    }

    /// Returns the gates of the key's variable that were open before the step that is being added.
    #[inline(always)]
    fn gates_before(&mut self, key: Key, end: &StepEnd<'_>) -> Gates {
        let Some(var) = key.var() else {
            return Gates::MAX;
        };
        let var = var as usize;
        if var >= self.gates.len() {
            self.add_gates(var);
        }
        if self.keys[key.index()].is_empty() {
            self.gates[var] = end.vars[var as u32].initial;
        }
        self.gates[var]
    }

    /// Returns the last entry of a task, if it has any.
    fn head(&self, task: u32) -> u32 {
        self.tasks.get(task as usize).map_or(NONE, |task| task.head)
    }

    /// Returns the data of a task, and notes its creator.
    #[inline(always)]
    fn track(&mut self, task: u32, end: &StepEnd<'_>) -> &mut Tracked {
        if task as usize >= self.tasks.len() {
            self.add_tasks(task);
        }
        if self.tasks[task as usize].head == NONE {
            self.newest = self.steps.len() as u32;
            let (parent, ordinal) = end.creator(task);
            self.tasks[task as usize].lineage = match task {
                0 => 0,
                _ => hash64(self.tasks[parent as usize].lineage, u64::from(ordinal)),
            };
        }
        &mut self.tasks[task as usize]
    }

    #[cold]
    #[inline(never)]
    fn add_keys(&mut self, key: usize) {
        self.keys.resize_with(2 * key + 16, Vec::new);
    }

    #[cold]
    #[inline(never)]
    fn add_gates(&mut self, var: usize) {
        self.gates.resize(var + 1, 0);
    }

    #[cold]
    #[inline(never)]
    fn add_tasks(&mut self, task: u32) {
        let tasks = task as usize + 1;
        let blank = Tracked {
            head: NONE,
            entries: 0,
            lineage: 0,
        };
        self.tasks.resize(tasks, blank);
        self.clocks.widen(tasks, self.entries.len());
    }
}
