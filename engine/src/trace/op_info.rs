//! Properties of each kind of operation, in one table, because they are needed for every event.

use super::{Class, SoundReduction};
use intermezzo_sdk::SyncVarOp;

/// The properties of an operation that the trace needs.
#[derive(Clone, Copy)]
pub(super) struct OpInfo {
    /// The class of its access to its variable; `None` if it leaves no trace.
    pub(super) class: Option<Class>,
    /// The strongest reduction that it allows.
    pub(super) sound: SoundReduction,
    /// Its traits, as bits.
    traits: u8,
}

/// It happens only because another operation made it possible, and directly after that one. It has no step of its own,
/// and could not have come earlier. A wake-up by the environment does not have this trait.
pub(super) const FOLLOWS: u8 = 1;
/// It needs no order of its own: it has the trait `FOLLOWS`, or no other task knows the object that it accesses.
pub(super) const APART: u8 = 2;
/// It shows its task something that no other event does: a choice, that a task has ended, or that a wake-up was
/// spurious.
pub(super) const SHOWS: u8 = 4;
/// It counts references.
pub(super) const COUNTS: u8 = 8;
/// It belongs to whichever step was the last that it waited for, and shows nothing new.
pub(super) const ENDS: u8 = 16;
/// It takes a share. The open gates do not show whether it could have come earlier, because shares that are released in
/// time do not prevent it.
pub(super) const TAKES_SHARE: u8 = 32;

impl OpInfo {
    /// The properties of joins.
    pub(super) const JOIN: OpInfo = OpInfo::new(SyncVarOp::TaskJoin);

    /// Returns the properties of this operation.
    #[inline(always)]
    pub(super) fn of(op: SyncVarOp) -> OpInfo {
        TABLE[op as usize]
    }

    /// Returns `true` if it has one of these traits.
    #[inline(always)]
    pub(super) fn any(self, traits: u8) -> bool {
        self.traits & traits != 0
    }

    /// Returns `true` if it has none of the traits, and accesses its variable.
    #[inline(always)]
    pub(super) fn are_plain(self) -> bool {
        self.traits == 0 && self.class.is_some()
    }

    /// Returns the same properties for an operation without traits, so that the compiler knows that it has none.
    #[inline(always)]
    pub(super) fn plain(self) -> OpInfo {
        OpInfo { traits: 0, ..self }
    }

    /// Returns the properties of the same operation if the environment woke it.
    #[cold]
    pub(super) fn environment_wake(self, op: SyncVarOp) -> OpInfo {
        OpInfo {
            class: Class::of(op, true),
            traits: self.traits & !(FOLLOWS | APART),
            ..self
        }
    }

    const fn new(op: SyncVarOp) -> OpInfo {
        use SyncVarOp::*;
        let follows = matches!(op, TaskBegin | TaskJoin | BarrierPass | CondvarWake);
        OpInfo {
            class: Class::of(op, false),
            sound: SoundReduction::of(op),
            traits: bit(FOLLOWS, follows)
                | bit(APART, follows || matches!(op, TaskFork))
                | bit(SHOWS, matches!(op, Choice | CondvarWake | Park | TaskCheck))
                | bit(COUNTS, matches!(op, CountUp | CountDown | CountRead))
                | bit(ENDS, matches!(op, TaskEnd | TaskJoin))
                | bit(TAKES_SHARE, matches!(op, SharedAcquire | SharedTryAcquire)),
        }
    }
}

const fn bit(bit: u8, is_set: bool) -> u8 {
    if is_set { bit } else { 0 }
}

static TABLE: [OpInfo; SyncVarOp::ALL.len()] = {
    let mut table = [OpInfo::new(SyncVarOp::AtomicLoad); SyncVarOp::ALL.len()];
    let mut at = 0;
    while at < table.len() {
        table[at] = OpInfo::new(SyncVarOp::ALL[at]);
        at += 1;
    }
    table
};
