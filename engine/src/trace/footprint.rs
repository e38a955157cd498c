//! The footprint of a step: the keys that it accessed, and those that it may access in another order of steps.

#[cfg(feature = "unmodified")]
use super::Extra;
use super::{Class, Key, NONE, NOTHING, SoundReduction, Step, StepAccess, Trace};
use intermezzo_sdk::SyncVarOp;
use smallvec::SmallVec;
use std::borrow::Cow;

/// A share of a value that a step released. Two operations that release shares commute, unless one of them releases the
/// last share and runs the value's destructor. So a release is a different operation after a step that leaves one share
/// than before that step.
#[derive(Clone, Copy)]
pub(super) struct GivenUp {
    step: u32,
    /// The key of the value's counts.
    key: Key,
    /// The number of shares left.
    left: u64,
    /// `true` if the operation depends on the counts in any case, and not only if it releases the last share.
    decides: bool,
}

impl GivenUp {
    /// Returns `true` if it belongs to this step or a later one.
    pub(super) fn is_from(&self, step: usize) -> bool {
        self.step as usize >= step
    }

    fn access(&self) -> StepAccess {
        StepAccess {
            key: self.key,
            class: Class::Add,
        }
    }
}

impl Trace {
    /// Returns the footprint of a step, without accesses that need no order of their own.
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

    /// Adds the ends of tasks that were joined on the way to the end of the step's task: they belong to whichever of
    /// these steps is the last.
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

    /// Passes to `tell` the footprint of a step as if failed operations had succeeded, because in another order they
    /// may succeed.
    #[inline(always)]
    pub fn with_possible_footprint<R>(&self, step: usize, tell: impl FnOnce(&[StepAccess]) -> R) -> R {
        if self.has_fixed_footprints() && !self.fails(step) {
            return tell(self.footprint(step));
        }
        tell(&self.possible_footprint(step))
    }

    /// Returns `true` if the footprints that [`with_possible_footprint`](Self::with_possible_footprint) passes on
    /// depend on no later step.
    pub fn has_fixed_footprints(&self) -> bool {
        self.sound < SoundReduction::Caching && self.elided.is_none()
    }

    /// Returns `true` if the step began with an operation that failed.
    #[inline(always)]
    fn fails(&self, step: usize) -> bool {
        let Step { stands, index, .. } = self.steps[step];
        if index == NOTHING {
            return false;
        }
        match self.entries[stands as usize].op {
            SyncVarOp::AtomicRmwFailed | SyncVarOp::LockTryFailed | SyncVarOp::ChannelTryFailed => true,
            SyncVarOp::CountRead => self.failed_counts.binary_search(&(step as u32)).is_ok(),
            _ => false,
        }
    }

    /// Notes that the current step only reads counts, because it failed to change them.
    pub fn fail_to_count(&mut self) {
        self.failed_counts.push(self.steps.len() as u32);
    }

    /// Notes that the current step releases a share of the value with these counts, and that `left` shares remain.
    /// `decides` is `true` if the operation depends on the counts in any case.
    pub fn give_up_share(&mut self, var: u32, left: u64, decides: bool) {
        self.given_up.push(GivenUp {
            step: self.steps.len() as u32,
            key: Key::of(SyncVarOp::CountDown, var),
            left,
            decides,
        });
    }

    /// Returns `true` if a step releases a share of a value whose destructor runs code.
    #[inline(always)]
    pub fn gives_up_share(&self, step: usize) -> bool {
        !self.given_up.is_empty() && self.given_up_in(step).next().is_some()
    }

    /// Returns `true` if a step left one share of a value, and an operation with this footprint releases that share.
    /// The operation then runs the value's destructor, which it would not have run before the step.
    #[inline(always)]
    pub fn makes_last(&self, step: usize, footprint: &[StepAccess]) -> bool {
        !self.given_up.is_empty()
            && self
                .given_up_in(step)
                .any(|share| share.left == 1 && footprint.contains(&share.access()))
    }

    /// Returns `true` if such a step certainly leaves more shares when only some of the steps from `from` on are taken
    /// before it: those for which `is_taken` returns `true`, and as many others that access the count as `others`
    /// returns. That is so if more releases are left out than others are taken, and no step that creates a share is
    /// left out.
    pub fn leaves_more(
        &self,
        step: usize,
        footprint: &[StepAccess],
        from: usize,
        is_taken: impl Fn(usize) -> bool,
        others: impl Fn(Key) -> usize,
    ) -> bool {
        let leaves_more = |share: GivenUp| {
            let steps = self.steps_on(share.key);
            let before = steps
                .skip_while(|&other| other < from)
                .take_while(|&other| other < step);
            let mut given_up = 0;
            for left_out in before.filter(|&other| !is_taken(other)) {
                let of_key = self.given_up_in(left_out).filter(|other| other.key == share.key);
                match of_key.count() {
                    0 if self.changes(left_out, share.key) => return false,
                    count => given_up += count,
                }
            }
            given_up > others(share.key)
        };
        self.given_up_in(step)
            .filter(|share| share.left == 1 && footprint.contains(&share.access()))
            .all(leaves_more)
    }

    /// Returns `true` if a step does more than read this key.
    fn changes(&self, step: usize, key: Key) -> bool {
        let mut footprint = self.footprint(step).iter();
        footprint.any(|access| access.key == key && access.class != Class::Read)
    }

    /// Returns the class of an operation of the step that is being added, which changes a count, with these additional
    /// accesses. An exchange that takes place only with a certain count, and releases no share, does not add: in another
    /// order of the steps, it may be left out.
    #[cfg(feature = "unmodified")]
    #[inline(never)]
    pub(super) fn class_of_count(&self, key: Key, op: SyncVarOp, extra_footprint: &[Extra]) -> Class {
        let write = StepAccess {
            key,
            class: Class::Write,
        };
        let is_write = |extra: &Extra| matches!(extra, Extra::Access(access) if *access == write);
        let is_count = matches!(op, SyncVarOp::CountUp | SyncVarOp::CountDown);
        let step = self.steps.len();
        let mut released = self.given_up.iter().rev().take_while(|share| share.is_from(step));
        match is_count && extra_footprint.iter().any(is_write) && !released.any(|share| share.key == key) {
            true => Class::Write,
            false => Class::Add,
        }
    }

    /// Returns the first access of a step that released the last share of a value, if the step `earlier` released a
    /// share of that value, too. Before `earlier`, the share would not have been the last, and no destructor would have
    /// run. If `earlier` only changed the weak count, the share would still have been the last. Returns `None` for an
    /// operation that depends on the counts in any case.
    pub fn without_destructor(&self, step: usize, earlier: usize) -> Option<StepAccess> {
        let gives_up = |key: Key| self.given_up_in(earlier).any(|share| share.key == key);
        let is_last = |share: &GivenUp| share.left == 0 && !share.decides && gives_up(share.key);
        let share = self.given_up_in(step).find(is_last)?;
        let first = self.footprint(step).first().copied();
        first.filter(|first| *first == share.access())
    }

    fn given_up_in(&self, step: usize) -> impl Iterator<Item = GivenUp> {
        let from = self.given_up.partition_point(|share| !share.is_from(step));
        let own = self.given_up[from..].iter().copied();
        own.take_while(move |share| !share.is_from(step + 1))
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
