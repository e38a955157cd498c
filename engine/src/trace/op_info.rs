//! What the trace has to know of each kind of operation, in one table: it is asked for every event.

use super::{Class, SoundReduction};
use intermezzo_sdk::SyncVarOp;

/// What there is to know of an operation.
#[derive(Clone, Copy)]
pub(super) struct OpInfo {
    /// How it touches its variable, if somebody caused it that can be told; `None` if it leaves no trace of itself.
    pub(super) class: Option<Class>,
    /// The strongest reduction that it allows.
    pub(super) sound: SoundReduction,
    /// Those that hold, as bits.
    traits: u8,
}

/// It only happens because, and as soon as, another made it possible: it has no step of its own, and could not have
/// come before. A waking does not follow if nobody asked for it.
pub(super) const FOLLOWS: u8 = 1;
/// It needs no order of its own: it follows, or nobody else knows what it touches.
pub(super) const APART: u8 = 2;
/// It shows its task what no other event tells: a choice, that a task has ended, or that nobody caused a waking.
pub(super) const SHOWS: u8 = 4;
/// It counts references.
pub(super) const COUNTS: u8 = 8;
/// It comes with whichever step was the last that it waited for, and tells nothing new.
pub(super) const ENDS: u8 = 16;
/// It takes a share, which can be taken before any other that is given back in time: whether it could is not to be told
/// from the gates.
pub(super) const TAKES_SHARE: u8 = 32;

impl OpInfo {
    /// What there is to know of this operation.
    #[inline(always)]
    pub(super) fn of(op: SyncVarOp) -> OpInfo {
        TABLE[op as usize]
    }

    /// Whether one of these holds.
    #[inline(always)]
    pub(super) fn any(self, traits: u8) -> bool {
        self.traits & traits != 0
    }

    /// Whether nothing of this holds, and it touches its variable.
    #[inline(always)]
    pub(super) fn are_plain(self) -> bool {
        self.traits == 0 && self.class.is_some()
    }

    /// The same where nothing of this is known to hold: so that the compiler knows it, too.
    #[inline(always)]
    pub(super) fn plain(self) -> OpInfo {
        OpInfo { traits: 0, ..self }
    }

    /// The same operation, where it happened although nobody had asked for it.
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
