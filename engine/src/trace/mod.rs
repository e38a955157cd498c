//! Who happened before whom: the trace of the execution that runs.
//!
//! An execution is a sequence of *steps*; each is what happens from one decision about tasks to the next: an operation
//! of the task chosen, and whatever needs no decision after it. A step has *entries*, one for each event that
//! others may notice. An entry touches *keys* (variables, mostly); two touches of a key are ordered unless they
//! commute. With the order within each task that gives the happens-before relation of the execution, and two
//! executions with the same relation are one *trace* (Mazurkiewicz).
//!
//! The relation is kept as vector clocks, one row per entry. What does not change from one execution to the next,
//! because the search prescribes the same choices, is not worked out again: steps are taken back from the end, each
//! exactly undone.
//!
//! **Fingerprint.** Each entry adds a number that depends on its task, its place in the task, and the entries that
//! the touched key held before. The sum does not depend on the order of steps that commute, so equal traces have equal
//! fingerprints; 128 bits keep different ones apart. No name and no address enters it.

mod blocked;
mod dependence;
mod elided;
mod fingerprint_batch;
mod fingerprints;
mod footprint;
mod hash;
mod last_access;
mod lock;
mod op_info;
mod order;
mod race;
mod soundness;
mod stable_id;
mod step;

pub use blocked::{Blocked, Ending};
pub use dependence::class_of;
pub use dependence::{Class, Key, Touch, conflict};
use elided::Elided;
pub use fingerprint_batch::FingerprintBatch;
pub use fingerprints::{Fingerprints, Saved};
pub use last_access::is_access;
pub use lock::{Lock, lock};
pub use race::Race;
pub use soundness::SoundReduction;
pub use stable_id::StableOpId;
pub use step::Aside;
pub use step::StepEnd;
pub use step::{NOTHING, Step};

use crate::record::{Event, Gates, Task, Vars};
pub use hash::hash64;
use hash::hash128;
use intermezzo_sdk::{SyncVar, SyncVarOp};
use op_info::{APART, COUNTS, ENDS, OpInfo, SHOWS, TAKES_SHARE};
use smallvec::SmallVec;

/// No entry.
pub const NONE: u32 = u32::MAX;

/// How much of an execution is worked out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Analysis {
    /// Nothing.
    #[default]
    Nothing,
    /// Fingerprints.
    Fingerprints,
    /// Fingerprints, clocks, and the pairs of steps that may be reversed.
    Races,
    /// The same, and whose end was waited for by whom. Else an end is no entry, since it tells nothing new: a join comes
    /// after what its task did last, and the joins that nothing comes after are left out.
    Waits,
}

/// An event that others may notice.
#[derive(Clone, Copy, Debug)]
struct Entry {
    task: u32,
    /// The how-manieth of its task, from 1.
    index: u32,
    /// The step it belongs to.
    step: u32,
    /// The entry of the same task before it.
    before: u32,
    op: SyncVarOp,
    /// The key of the event's own variable.
    key: Key,
}

/// The entry that is being added, as what it touches has to know it.
struct Toucher {
    entry: u32,
    task: u32,
    index: u32,
    op: SyncVarOp,
    facts: OpInfo,
    /// What tells the entry from all others of the execution.
    identity: u64,
}

/// A task, as far as it got.
#[derive(Clone, Copy, Debug)]
struct Tracked {
    /// Its last entry, and how many it has.
    head: u32,
    entries: u32,
    /// What tells it from all others: who created it, as the how-manieth.
    lineage: u64,
}

/// A touch of a key, in the key's own list.
#[derive(Clone, Copy, Debug)]
struct Touched {
    entry: u32,
    /// The entry's task, and the how-manieth of that it is.
    task: u32,
    index: u32,
    class: Class,
    /// Which gates of the variable were open before; what a waiting operation needs to have been possible then.
    open: Gates,
    /// Those that were really open, to be put back.
    gates: Gates,
    /// Where the touches that commute with this one begin.
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
    touches: Vec<Touch>,
    /// What was touched by what merely follows from another step.
    followed: Vec<Touch>,
    races: Vec<Race>,
    /// What was done to each key, in order.
    keys: Vec<Vec<Touched>>,
    /// Which gates of each variable are open.
    gates: Vec<Gates>,
    tasks: Vec<Tracked>,
    /// The last step in which a task did its first; it may have been taken back.
    newest: u32,
    clocks: order::Clocks,
    /// Room for the steps that an operation races with.
    found: Vec<usize>,
    /// Whether the step that is being added came after more than its first entry did.
    joined_late: bool,
    /// The strongest reduction that suits what was seen in any execution so far.
    sound: SoundReduction,
    /// How the last execution ended, and who could not go on then.
    ending: Ending,
    blocked: Vec<Blocked>,
    /// What is needed to take out rounds that count as not having happened, if any may.
    elided: Option<Box<Elided>>,
    /// Steps that left one share of a value whose end runs code, and the key of its counts.
    last_shares: Vec<(u32, Key)>,
}

impl Trace {
    /// A trace that works out so much.
    pub fn new(detail: Analysis) -> Trace {
        Trace {
            detail,
            ..Trace::default()
        }
    }

    /// As `new`, and steps can be made void.
    pub(crate) fn with_elided(detail: Analysis) -> Trace {
        Trace {
            elided: Some(Box::default()),
            ..Trace::new(detail)
        }
    }

    /// A trace that holds nothing and works out so much; steps can be made void if they can here.
    pub fn anew(&self, detail: Analysis) -> Trace {
        Trace {
            elided: self.elided.is_some().then(Box::default),
            ..Trace::new(detail)
        }
    }

    /// How much is worked out.
    pub fn detail(&self) -> Analysis {
        self.detail
    }

    /// The steps so far. The first is what the test's body does before its first visible operation.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// How many variables tasks had come to before a step. In another execution with the same beginning they are the same,
    /// and those that come later may have other numbers.
    pub fn vars_before(&self, step: usize) -> u32 {
        self.steps[step - 1].vars
    }

    /// The strongest reduction that suits what was seen in any execution so far.
    pub fn sound(&self) -> SoundReduction {
        self.sound
    }

    /// Something was seen that only this reduction, and weaker ones, suit.
    pub fn only(&mut self, sound: SoundReduction) {
        self.sound = self.sound.max(sound);
    }

    /// The fingerprint of what the execution was up to the last decision about tasks. Executions of one trace have
    /// the same; 0 if it is not worked out.
    pub fn fingerprint(&self) -> u128 {
        self.steps.last().map_or(0, |step| step.fingerprint)
    }

    /// Takes back all steps in which, or after which, anything but the first `choices` choices was decided.
    /// Rounds of loops that had not failed by then are put back; for that there are the last execution's variables and
    /// tasks.
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

    /// Takes back all steps.
    pub fn clear(&mut self) {
        self.take_back_to(0);
        if let Some(elided) = &mut self.elided {
            **elided = Elided::default();
        }
    }

    /// Takes back all steps but so many, for good.
    fn take_back_to(&mut self, steps: usize) {
        if let Some(elided) = &mut self.elided {
            (steps..self.steps.len()).for_each(|_| elided.undo());
        }
        self.take_back_steps(steps);
        while self
            .last_shares
            .pop_if(|(step, _)| *step as usize >= steps)
            .is_some()
        {}
    }

    /// Takes back all steps but so many.
    fn take_back_steps(&mut self, steps: usize) {
        let Some(&step) = self.steps.get(steps) else {
            return;
        };
        let mut undo = |touch| take_back_touch(&mut self.keys, &mut self.gates, touch);
        // From the end, since a variable has several keys, and the first touch of any has its gates.
        for number in (steps..self.steps.len()).rev() {
            if self.followed.len() == step.followed as usize {
                break;
            }
            let (followed, touches) = (self.steps[number].followed, self.steps[number].touches);
            self.followed.drain(followed as usize..).rev().for_each(&mut undo);
            self.touches.drain(touches as usize..).rev().for_each(&mut undo);
        }
        self.touches.drain(step.touches as usize..).rev().for_each(undo);
        self.steps.truncate(steps);
        for entry in self.entries[step.entries as usize..].iter().rev() {
            let task = &mut self.tasks[entry.task as usize];
            (task.head, task.entries) = (entry.before, entry.index - 1);
        }
        self.entries.truncate(step.entries as usize);
        self.races.truncate(step.races as usize);
    }

    /// A step is over: adds it.
    #[inline(never)]
    pub fn add(&mut self, end: &StepEnd<'_>) {
        self.add_step::<false>(end);
        for at in self.steps.last().map_or(0, |step| step.touches as usize)..self.touches.len() {
            self.take_over(at, end);
        }
        if self.elided.is_some() {
            self.record(end);
        }
    }

    /// Whether this event at the end of a step tells nothing: the end of a task, which nobody asks for the order of; or, if the
    /// step is the last, a join, since nothing comes after it.
    #[inline(always)]
    fn tells_nothing(&self, event: &Event, is_last: bool) -> bool {
        OpInfo::of(event.op).any(ENDS)
            && self.detail < Analysis::Waits
            && (is_last || event.op == SyncVarOp::TaskEnd)
    }

    /// Whether a step is just this one event of its task, which touches its variable and has nothing particular about it, and
    /// then `others` that tell nothing.
    #[inline(always)]
    pub fn is_plain(&self, task: u32, event: &Event, others: &[Event], is_last: bool) -> bool {
        others.iter().all(|event| self.tells_nothing(event, is_last))
            && OpInfo::of(event.op).are_plain()
            && event.var != SyncVar::NONE.0
            && event.task == task
            && !event.elided
            && self.elided.is_none()
    }

    /// The same as `add` of a plain step that touched nothing else: most are. Inlined, so that the step's parts are not put
    /// into memory to be read again.
    #[inline(always)]
    pub(crate) fn add_plain(&mut self, end: &StepEnd<'_>) {
        self.add_step::<true>(end);
        self.take_over(self.touches.len() - 1, end);
    }

    /// Takes over which gates of a variable that was touched are open after the last step.
    #[inline(always)]
    fn take_over(&mut self, touch: usize, end: &StepEnd<'_>) {
        if let Some(var) = self.touches[touch].key.var() {
            self.gates[var as usize] = end.vars[var].gates;
        }
    }

    /// Adds a step, which may be `PLAIN`; what it did to gates is not known then.
    #[inline(always)]
    fn add_step<const PLAIN: bool>(&mut self, end: &StepEnd<'_>) {
        let mut step = Step {
            task: end.task,
            entries: self.entries.len() as u32,
            touches: self.touches.len() as u32,
            followed: self.followed.len() as u32,
            vars: end.vars.count() as u32,
            index: NOTHING,
            events_end: end.events_end,
            choices_end: end.choices,
            races: self.races.len() as u32,
            stands: self.head(end.task),
            fingerprint: self.fingerprint(),
        };
        if PLAIN {
            self.add_event::<true>(&mut step, &end.events[0], &[], end);
        } else if end.extra_footprint.is_empty() {
            let tells = |event: &Event| !self.tells_nothing(event, end.is_last);
            let telling = end.events.iter().rposition(tells).map_or(0, |last| last + 1);
            for event in &end.events[..telling] {
                self.add_event::<false>(&mut step, event, &[], end);
            }
        } else {
            step = self.add_with_more(step, end);
        }
        self.steps.push(step);
        if !PLAIN && std::mem::take(&mut self.joined_late) {
            self.make_whole(self.steps.len() - 1);
        }
    }

    /// A step happens as a whole: all its entries come after what any of them comes after. But what its task does once
    /// it has joined another belongs to whichever step came last.
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

    /// Adds the events of a step which touched more than the variables of its events.
    // The step by value: were its address known here, it would have to be in memory for every caller.
    #[inline(never)]
    fn add_with_more(&mut self, mut step: Step, end: &StepEnd<'_>) -> Step {
        let begin = end.events_end - end.events.len();
        // The event that something touched beside belongs to, which must be the same whichever step it comes in. Another
        // variable is touched by the operation that is about to be recorded; the clock and budgets by the task's last event
        // in the step, or else its next one. The end of a task is none, for it tells nothing.
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
            let owner = match aside.touch.key.var() {
                Some(_) => next().or_else(last),
                None => last().or_else(next),
            };
            // There is no event at all where the execution ended before the operation was recorded.
            owner.or_else(any).unwrap_or(end.events.len().saturating_sub(1))
        };
        let owners: SmallVec<[usize; 4]> = end.extra_footprint.iter().map(owner).collect();
        let shared = |aside: &Aside| aside.task != end.task && aside.touch.key.var().is_none();
        if end.extra_footprint.iter().any(shared) {
            // What a task does once it has joined another comes with whichever step was the last.
            self.only(SoundReduction::Caching);
        }
        for (at, event) in end.events.iter().enumerate() {
            let own = owners
                .iter()
                .zip(end.extra_footprint)
                .filter(|(owner, _)| **owner == at);
            let mine: SmallVec<[Touch; 4]> = own.map(|(_, aside)| aside.touch).collect();
            self.add_event::<false>(&mut step, event, &mine, end);
        }
        step
    }

    #[inline(always)]
    fn add_event<const PLAIN: bool>(
        &mut self,
        step: &mut Step,
        event: &Event,
        extra_footprint: &[Touch],
        end: &StepEnd<'_>,
    ) {
        let Event { task, op, elided, .. } = *event;
        let mut facts = OpInfo::of(op);
        if PLAIN {
            facts = facts.plain();
        } else if elided
            || op == SyncVarOp::TaskEnd && self.detail < Analysis::Waits && extra_footprint.is_empty()
        {
            return;
        }
        let shown = if facts.any(SHOWS) { event.read } else { 0 };
        if shown != 0 {
            facts = facts.environment_wake(op);
        }
        let uncounted = facts.any(COUNTS) && !end.counts;
        let touches = PLAIN || event.var != SyncVar::NONE.0 && !uncounted;
        // A look that does not find a task ended may come before or after the end.
        let is_false_look = !PLAIN && op == SyncVarOp::TaskCheck && event.read == 0;
        let class = facts.class.filter(|_| touches && !is_false_look);
        if !PLAIN
            && class.is_none()
            && extra_footprint.is_empty()
            && op != SyncVarOp::Choice
            && !is_false_look
        {
            return;
        }
        let entry = self.entries.len() as u32;
        let tracked = self.track(task, end);
        let (before, index) = (tracked.head, tracked.entries + 1);
        (tracked.head, tracked.entries) = (entry, index);
        let by = Toucher {
            entry,
            task,
            index,
            op,
            facts,
            identity: hash64(tracked.lineage, u64::from(index)),
        };
        // Such a look is an access all the same, though it touches nothing.
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
        let first = PLAIN || step.entries == entry;
        let so_far = step.fingerprint;
        if PLAIN || first && task == step.task {
            (step.stands, step.index) = (entry, index);
        }
        let waited_for_all = !PLAIN && end.forced_by_idle && first;
        if self.detail >= Analysis::Races {
            self.clocks.add_after(entry, before, task, index);
            if waited_for_all {
                let heads = self.tasks.iter().map(|task| task.head);
                for head in heads.filter(|&head| head != NONE && head != entry) {
                    self.clocks.join(entry, head);
                }
            }
        }
        let seen = match class {
            Some(class) => self.touch(step, &by, Touch { key, class }, end),
            None => 0,
        };
        if !PLAIN && op == SyncVarOp::TaskJoin && self.detail == Analysis::Races {
            self.clocks.join(entry, self.head(event.read as u32));
        }
        // A task ends, and is joined, with whichever step was the last that this waited for: neither tells anything new.
        if !facts.any(ENDS) {
            step.count(hash128(by.identity, seen, shown << 8 | op as u64));
        }
        if !PLAIN && !extra_footprint.is_empty() {
            self.touch_also(step, &by, extra_footprint, end);
        }
        if waited_for_all {
            step.count(hash128(by.identity, so_far as u64, (so_far >> 64) as u64));
        }
    }

    /// An entry touches something beside its own variable.
    #[inline(never)]
    fn touch_also(&mut self, step: &mut Step, by: &Toucher, extra_footprint: &[Touch], end: &StepEnd<'_>) {
        for (place, &touch) in extra_footprint.iter().enumerate() {
            let seen = self.touch(step, by, touch, end);
            step.count(hash128(by.identity, seen, !(place as u64)));
        }
    }

    /// An entry touches a key: lists it, orders it, finds races. What the key showed: the identities of the touches
    /// before it with which it does not commute.
    #[inline(always)]
    fn touch(&mut self, step: &Step, by: &Toucher, touch: Touch, end: &StepEnd<'_>) -> u64 {
        let key = touch.key.index();
        if key >= self.keys.len() {
            self.add_keys(key);
        }
        let gates = self.gates_before(touch.key, end);
        let list = &self.keys[key];
        let (group, sum) = match list.last() {
            Some(last) if last.class.commutes(touch.class) => {
                (last.group, last.sum.wrapping_add(by.identity))
            }
            _ => (list.len() as u32, by.identity),
        };
        let mut seen = 0;
        if let Some(last) = list[..group as usize].last() {
            seen = last.sum;
            if self.detail >= Analysis::Races {
                // From the last on: what is not known is mostly there; and mostly it is all there is.
                let is_known = |touched: &Touched| self.clocks.of(by.entry, touched.task) >= touched.index;
                let others = &list[last.group as usize..group as usize - 1];
                if !is_known(last) || !others.is_empty() && !others.iter().rev().all(is_known) {
                    self.order_anew(step.begun(), by, touch, group, end.waited);
                }
            }
        }
        self.keys[key].push(Touched {
            entry: by.entry,
            task: by.task,
            index: by.index,
            class: touch.class,
            open: if by.facts.any(TAKES_SHARE) {
                Gates::MAX
            } else {
                gates
            },
            gates,
            group,
            sum,
        });
        if by.facts.any(APART) {
            self.followed.push(touch);
        } else {
            self.touches.push(touch);
        }
        seen
    }

    /// Which gates of the key's variable were open before the step that is being added.
    #[inline(always)]
    fn gates_before(&mut self, key: Key, end: &StepEnd<'_>) -> Gates {
        let Some(var) = key.var() else {
            return Gates::MAX;
        };
        let var = var as usize;
        if var >= self.gates.len() {
            self.gates.resize(var + 1, 0);
        }
        if self.keys[key.index()].is_empty() {
            self.gates[var] = end.vars[var as u32].initial;
        }
        self.gates[var]
    }

    /// The last entry of a task, if it has any.
    fn head(&self, task: u32) -> u32 {
        self.tasks.get(task as usize).map_or(NONE, |task| task.head)
    }

    /// A task, whose creator is known.
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

/// Takes back a touch, the last of its key.
#[inline(always)]
fn take_back_touch(keys: &mut [Vec<Touched>], gates: &mut [Gates], Touch { key, .. }: Touch) {
    if let Some(touched) = keys[key.index()].pop()
        && let Some(var) = key.var()
    {
        gates[var as usize] = touched.gates;
    }
}
