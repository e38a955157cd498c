//! A step of an execution, as the trace keeps it.

/// A step: what happened between two decisions about tasks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// Whose step it is.
    pub(crate) task: u32,
    /// Where its entries and its touches begin.
    pub(super) entries: u32,
    pub(super) touches: u32,
    pub(super) followed: u32,
    /// How many variables there were at its end.
    pub(super) vars: u32,
    /// The how-manieth entry of its task it begins with, if that is its own; else [`NOTHING`].
    pub(crate) local: u32,
    /// How many events and choices there had been at its end.
    pub(crate) events_end: usize,
    pub(crate) choices_end: usize,
    /// How many races had been found before it.
    pub(super) races: u32,
    /// The entry that stands for the step in the order of steps: its own first one, or its task's last before it.
    pub(super) stands: u32,
    /// The sum of all entries up to its end.
    pub(super) fingerprint: u128,
}

/// The place of an entry that a step does not begin with: it orders nothing.
pub(crate) const NOTHING: u32 = u32::MAX;

/// A step that is being added, as far as its races go.
#[derive(Clone, Copy)]
pub(super) struct Begun {
    pub(super) task: u32,
    pub(super) entries: u32,
    pub(super) races: u32,
    pub(super) stands: u32,
}

impl Step {
    #[inline(always)]
    pub(super) fn begun(&self) -> Begun {
        Begun {
            task: self.task,
            entries: self.entries,
            races: self.races,
            stands: self.stands,
        }
    }

    /// An entry's number enters the fingerprint.
    #[inline(always)]
    pub(super) fn count(&mut self, number: u128) {
        self.fingerprint = self.fingerprint.wrapping_add(number);
    }
}
