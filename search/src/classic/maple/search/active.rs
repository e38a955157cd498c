//! The active scheduler: an execution that tries to expose one iRoot. After Maple, section 4.
//!
//! Priorities are strict: of the enabled tasks, the one with the highest priority runs until it cannot continue. A task
//! that reaches one of the first two places of the iRoot is lowered below all others. It stays there until another task
//! reaches the other place, or until no other task can continue. If several tasks reach such a place, it is drawn which
//! of them waits.
//!
//! From the first access on (*watch mode*), a task that reaches the next wanted access makes it at once. Otherwise the
//! task of the wanted access has the highest priority, and the other task of the iRoot the lowest. Of the tasks in
//! between, those whose access would separate two accesses of the iRoot come last. If an access separates them
//! nevertheless, or too many events do, the attempt begins again with the next instance. Once the first dependency has
//! come true, each new instance may also make the attempt begin again, with a low probability.
//!
//! The second attempt reverses the initial priorities. Later attempts draw them at random.
//!
//! Differs: every task counts as having reached its next operation, not only the running one. A task that yields is
//! lowered below the others of its tier, because otherwise none of them would ever run. Values are chosen at random.
//! There are no delays, because there is nothing outside the execution to wait for.

use super::script::{Script, WantedAccess};
use crate::classic::maple::{Access, Accesses, IRoot, Place};
use crate::classic::slots::slot;
use intermezzo_engine::record::Event;
use intermezzo_engine::schedule::ChoiceKind;
use intermezzo_engine::strategy::ChoicePoint;
use intermezzo_sdk::{EventId, SyncVar, SyncVarOp, TaskId};
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

/// After the first dependency has come true, one in this many new instances makes the attempt begin again.
const LOADED: u32 = 8;

/// One in this many choices of the environment draws its alternative. The others take the default one.
const ADVERSITY: u32 = 8;

/// The order of tasks where nothing else determines it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Initial {
    /// The task that was created first comes first.
    Older,
    /// The task that was created last comes first.
    Younger,
    /// A number drawn for each task decides.
    Drawn(u64),
}

/// An execution that tries to expose an iRoot.
pub(super) struct Active {
    script: Script,
    initial: Initial,
    window: u32,
    random: Xoshiro256PlusPlus,
    /// The wanted accesses that have been made.
    done: Vec<Access>,
    /// The number of events that have been processed.
    seen: usize,
    /// The instance that waits for its partner: a task, and the index of its event.
    held: Option<(u32, u32)>,
    /// For each task, by number, its last instance that does not wait. Earlier ones have happened.
    passed: Vec<u32>,
    /// The level of each task, by number: 0 unless the task was lowered because it yielded.
    lowered: Vec<u32>,
    /// The level of the task that was lowered last.
    lowest: u32,
    /// The tasks that can continue at the current choice.
    nexts: Vec<Next>,
}

/// A task that can continue, and its next operation.
struct Next {
    alternative: u32,
    task: u32,
    /// The index of the event that this operation will be.
    index: u32,
    /// The first access of the operation; `None` if it accesses nothing.
    access: Option<Access>,
}

impl Active {
    /// Returns an attempt at this iRoot. Two accesses of one task are at most `window` events apart.
    pub(super) fn new(iroot: &IRoot, (attempt, window): (u32, u32), random: Xoshiro256PlusPlus) -> Active {
        let mut random = random;
        Active {
            script: Script::of(iroot, attempt % 2 == 1),
            initial: match attempt {
                0 => Initial::Older,
                1 => Initial::Younger,
                _ => Initial::Drawn(random.random()),
            },
            window,
            random,
            done: Vec::new(),
            seen: 0,
            held: None,
            passed: Vec::new(),
            lowered: Vec::new(),
            lowest: 0,
            nexts: Vec::new(),
        }
    }

    /// Returns the alternative to take.
    pub(super) fn choose(&mut self, point: &ChoicePoint<'_>, places: &mut Place) -> u32 {
        self.take_in(point.events, places);
        match point.kind {
            ChoiceKind::Task => {}
            ChoiceKind::Value | ChoiceKind::Waiter => return self.random.random_range(0..point.alternatives),
            _ if self.random.random_ratio(1, ADVERSITY) => {
                return self.random.random_range(0..point.alternatives);
            }
            _ => return 0,
        }
        let mut nexts = std::mem::take(&mut self.nexts);
        Active::find_nexts(&mut nexts, point, places);
        let runs = point.running.0;
        if !point.preempts && nexts.iter().any(|next| next.task == runs) {
            self.lowest += 1;
            *slot(&mut self.lowered, runs, || 0) = self.lowest;
        }
        let taken = match self.done.len() {
            0 => self.seek(&nexts),
            done if done < self.script.wanted.len() => self.watch(&nexts),
            _ => self.first(&nexts, |_| 0),
        };
        let taken = taken.map_or(0, |at| nexts[at].alternative);
        self.nexts = nexts;
        taken
    }

    /// Finds the next operations of the tasks among the alternatives, without tasks that only the environment can wake.
    #[inline(always)]
    fn find_nexts(nexts: &mut Vec<Next>, point: &ChoicePoint<'_>, places: &mut Place) {
        nexts.clear();
        let mut alternative = 0;
        point.for_each_task(|task| {
            let own = alternative;
            alternative += 1;
            if !point.is_enabled(task.0) {
                return;
            }
            let Some(operation) = point.pending(task) else {
                return;
            };
            let index = point.tasks[task.0 as usize].events + 1;
            let effect = places.of(operation.op, operation.site);
            nexts.push(Next {
                alternative: own,
                task: task.0,
                index,
                access: effect.map(|effect| Access::own(EventId { task, index }, operation.var, effect)),
            });
        });
    }

    /// Processes the events since the last call.
    #[inline(always)]
    fn take_in(&mut self, events: &[Event], places: &mut Place) {
        let first = std::mem::replace(&mut self.seen, events.len());
        for event in &events[first.min(events.len())..] {
            // The lookup comes first, because places are numbered in the order in which they are seen here, even those
            // not wanted.
            let Some(effect) = places.of(event.op, event.site) else {
                continue;
            };
            let is_over = self.wanted().is_none();
            if is_over || self.done.is_empty() && self.script.wanted[0].place != effect.place {
                continue;
            }
            let of = EventId {
                task: TaskId(event.task),
                index: event.index,
            };
            let mutex = match event.op {
                SyncVarOp::CondvarWait => SyncVar(event.written as u32),
                _ => SyncVar::NONE,
            };
            let own = Access::own(of, SyncVar(event.var), effect);
            for access in Accesses::with_released(own, mutex).iter() {
                self.happened(access);
            }
        }
    }

    /// Returns the access that is wanted next, unless all have been made.
    fn wanted(&self) -> Option<&WantedAccess> {
        self.script.wanted.get(self.done.len())
    }

    /// Returns `true` if an access is the one that is wanted next.
    fn fits(&self, access: &Access) -> bool {
        let Some(wanted) = self.wanted() else {
            return false;
        };
        let earlier = self.script.wanted.iter().zip(&self.done);
        let consistent = |(other, done): (&WantedAccess, &Access)| {
            (other.who == wanted.who) == (done.task == access.task)
                && (other.what == wanted.what) == (done.var == access.var)
        };
        wanted.place == access.place && earlier.into_iter().all(consistent)
    }

    /// Returns `true` if an access would separate two accesses of a dependency, or two between which its task must
    /// access neither variable.
    fn separates(&self, access: &Access) -> bool {
        let done = self.done.len();
        let pending = |&&(first, second): &&(usize, usize)| first < done && second >= done;
        let dependencies = self.script.dependencies.iter().filter(pending);
        let clean = self.script.clean.iter().filter(pending);
        let vars = self.done.iter().map(|done| done.var);
        dependencies
            .map(|&(first, _)| &self.done[first])
            .any(|first| first.depends(access))
            || clean
                .map(|&(first, _)| &self.done[first])
                .any(|first| first.task == access.task && vars.clone().any(|var| var == access.var))
    }

    fn happened(&mut self, access: &Access) {
        if self.wanted().is_none() {
            return;
        }
        if self.fits(access) {
            self.done.push(*access);
            return;
        }
        let too_late = |first: &Access| {
            first.task == access.task && access.index.saturating_sub(first.index) > self.window
        };
        if self.separates(access) || self.done.iter().any(too_late) {
            self.begin_again();
        }
    }

    /// Returns `true` if this instance, the next event of its task, does not wait.
    fn passes(&self, (task, index): (u32, u32)) -> bool {
        self.passed.get(task as usize) == Some(&index)
    }

    /// Notes that this instance does not wait.
    fn pass(&mut self, (task, index): (u32, u32)) {
        *slot(&mut self.passed, task, || 0) = index;
    }

    fn begin_again(&mut self) {
        self.done.clear();
        self.held = None;
    }

    /// Returns the first task of the lowest tier.
    #[inline(always)]
    fn first(&self, nexts: &[Next], tier: impl Fn(&Next) -> u32) -> Option<usize> {
        let mut first = None;
        for (at, next) in nexts.iter().enumerate() {
            let initial = match self.initial {
                Initial::Older => u64::from(next.task),
                Initial::Younger => u64::from(u32::MAX - next.task),
                Initial::Drawn(drawn) => {
                    (drawn ^ u64::from(next.task)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 16
                }
            };
            let lowered = self.lowered.get(next.task as usize).copied().unwrap_or(0);
            let rank = (tier(next), lowered, initial);
            if first.is_none_or(|(least, _)| rank < least) {
                first = Some((rank, at));
            }
        }
        first.map(|(_, at)| at)
    }

    /// Chooses a task while no wanted access has been made: brings two tasks to the first two places.
    fn seek(&mut self, nexts: &[Next]) -> Option<usize> {
        let [first, second] = self.script.candidates();
        let is_candidate = |next: &Next| {
            next.access
                .is_some_and(|access| access.place == first || access.place == second)
        };
        // At most choices, no task is there.
        if !nexts.iter().any(is_candidate) {
            return self.first(nexts, |_| 0);
        }
        let same_var = self.script.wanted[0].what == self.script.wanted[1].what;
        let at = |next: &Next, place| next.access.is_some_and(|access| access.place == place);
        let meets = |one: &Next, other: &Next| {
            let (Some(one), Some(other)) = (one.access, other.access) else {
                return false;
            };
            let there = one.place == first && other.place == second;
            there && one.task != other.task && (one.var == other.var) == same_var
        };
        let meets_any =
            |&one: &usize| at(&nexts[one], first) && nexts.iter().any(|other| meets(&nexts[one], other));
        let met = (0..nexts.len()).find(meets_any);
        if met.is_some() {
            return met;
        }
        for next in nexts.iter().filter(|next| at(next, first) || at(next, second)) {
            let instance = (next.task, next.index);
            if self.passes(instance) || self.held == Some(instance) {
                continue;
            }
            let holder = |(task, index)| nexts.iter().any(|next| (next.task, next.index) == (task, index));
            match self.held.filter(|&held| holder(held)) {
                Some(held) if self.random.random() => {
                    self.pass(held);
                    self.held = Some(instance);
                }
                Some(_) => self.pass(instance),
                None => self.held = Some(instance),
            }
        }
        let held = self.held;
        self.first(nexts, |next| u32::from(Some((next.task, next.index)) == held))
    }

    /// Chooses a task after a wanted access has been made: continues to the next one, and holds back accesses that
    /// would come in between.
    fn watch(&mut self, nexts: &[Next]) -> Option<usize> {
        let fits = |next: &Next| next.access.is_some_and(|access| self.fits(&access));
        let fitting = nexts.iter().position(fits);
        if fitting.is_some() {
            return fitting;
        }
        if self.done.len() >= 2 && self.tempted(nexts) {
            self.begin_again();
            return self.seek(nexts);
        }
        let who = self.wanted().map(|wanted| wanted.who);
        let task_of = |who: Option<usize>| {
            let done = self.script.wanted.iter().zip(&self.done);
            let mut of = done.filter(|(wanted, _)| Some(wanted.who) == who);
            of.next().map(|(_, access)| access.task)
        };
        let (wanted, other) = (task_of(who), task_of(who.map(|who| 1 - who)));
        self.first(nexts, |next| {
            if Some(next.task) == wanted {
                0
            } else if Some(next.task) == other {
                3
            } else if next.access.is_some_and(|access| self.separates(&access)) {
                2
            } else {
                1
            }
        })
    }

    /// Returns `true` if the accesses made so far should be given up for a new instance of the first access.
    fn tempted(&mut self, nexts: &[Next]) -> bool {
        let first = self.script.wanted[0].place;
        let mut tempted = false;
        for next in nexts {
            let instance = (next.task, next.index);
            let elsewhere = next.access.is_some_and(|access| access.place == first);
            if elsewhere && !self.passes(instance) {
                if self.random.random_ratio(1, LOADED) {
                    tempted = true;
                } else {
                    self.pass(instance);
                }
            }
        }
        tempted
    }
}
