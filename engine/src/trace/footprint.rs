//! The footprint of a step: the keys that it accessed, and those that it may access at another time.

use super::{Class, Key, NONE, NOTHING, SoundReduction, Step, StepAccess, Trace};
use intermezzo_sdk::SyncVarOp;
use smallvec::SmallVec;
use std::borrow::Cow;

impl Trace {
    /// Returns the footprint of a step, without accesses that merely follow from another step and need no order of
    /// their own.
    #[inline(always)]
    pub fn footprint(&self, step: usize) -> &[StepAccess] {
        let end = self
            .steps
            .get(step + 1)
            .map_or(self.accesses.len(), |next| next.accesses as usize);
        &self.accesses[self.steps[step].accesses as usize..end]
    }

    /// Returns the footprint of a step, including its elided operations.
    #[inline(always)]
    pub fn footprint_with_elided(&self, step: usize) -> Cow<'_, [StepAccess]> {
        let footprint = Cow::Borrowed(self.footprint(step));
        if self.elided.is_some() {
            return self.with_void_footprint(step, footprint);
        }
        footprint
    }

    #[inline(never)]
    fn with_void_footprint<'a>(
        &'a self,
        step: usize,
        mut footprint: Cow<'a, [StepAccess]>,
    ) -> Cow<'a, [StepAccess]> {
        let mut elided = self.void_footprint(step, false).peekable();
        if elided.peek().is_some() {
            footprint.to_mut().extend(elided);
        }
        footprint
    }

    /// Adds the ends of tasks that wait for the end of the step's task: they belong to whichever of these steps is the
    /// last.
    #[cold]
    fn add_ends(&self, step: usize, footprint: &mut SmallVec<[StepAccess; 2]>) {
        let Step { task, stands, .. } = self.steps[step];
        let goes_on = self.steps[step + 1..].iter().any(|later| later.task == task);
        if goes_on || stands == NONE {
            return;
        }
        let ends = (stands..self.entries.len() as u32)
            .filter(|&entry| self.entries[entry as usize].op == SyncVarOp::TaskEnd);
        for end in ends.filter(|&end| self.known(stands, end)) {
            let access = StepAccess {
                key: self.entries[end as usize].key,
                class: Class::Add,
            };
            if !footprint.contains(&access) {
                footprint.push(access);
            }
        }
    }

    /// Passes `tell` the footprint of a step as if failed operations had succeeded: at another time they may succeed.
    #[inline(always)]
    pub fn with_possible_footprint<R>(&self, step: usize, tell: impl FnOnce(&[StepAccess]) -> R) -> R {
        if self.sound < SoundReduction::Caching && self.elided.is_none() && !self.fails(step) {
            return tell(self.footprint(step));
        }
        tell(&self.possible_footprint(step))
    }

    /// Returns `true` if the step began with an operation that failed.
    #[inline(always)]
    fn fails(&self, step: usize) -> bool {
        let Step { stands, index, .. } = self.steps[step];
        index != NOTHING
            && matches!(
                self.entries[stands as usize].op,
                SyncVarOp::AtomicRmwFailed | SyncVarOp::LockTryFailed | SyncVarOp::ChannelTryFailed
            )
    }

    /// Notes that the current step leaves one share of the value with these counts. Two operations that give up shares
    /// commute, unless one of them gives up the last: so the operation is another one after this step than before it.
    pub fn leaves_last_share(&mut self, var: u32) {
        let key = Key::of(SyncVarOp::CountDown, var);
        self.last_shares.push((self.steps.len() as u32, key));
    }

    /// Returns `true` if a step left one share of a value, and an operation with this footprint gives such a share up.
    /// It then runs the value's destructor, which it would not have run before the step.
    #[inline(always)]
    pub fn makes_last(&self, step: usize, footprint: &[StepAccess]) -> bool {
        let gives_up = |key| {
            footprint.contains(&StepAccess {
                key,
                class: Class::Add,
            })
        };
        let mut left = self.last_shares.iter();
        left.any(|&(at, key)| at as usize == step && gives_up(key))
    }

    /// Returns the footprint that [`with_possible_footprint`](Self::with_possible_footprint) passes on.
    #[inline(never)]
    pub fn possible_footprint(&self, step: usize) -> SmallVec<[StepAccess; 2]> {
        let mut footprint = SmallVec::from_slice(self.footprint(step));
        if self.sound >= SoundReduction::Caching {
            self.add_ends(step, &mut footprint);
        }
        if self.fails(step) {
            footprint
                .iter_mut()
                .take(1)
                .for_each(|access: &mut StepAccess| access.class = Class::Write);
        }
        if self.elided.is_some() {
            footprint.extend(self.void_footprint(step, true));
        }
        footprint
    }
}
