//! The monitors of a worker, and the accesses to plain memory that they are notified of.

use super::{HeldBack, Listeners, Pointers};
use intermezzo_sdk::Interests;

/// The monitors of a worker, and the accesses to plain memory that they are notified of.
pub(in super::super) struct Monitors {
    /// The interests of the monitors; `NONE` costs one test per operation.
    pub(in super::super) listening: Interests,
    pub(in super::super) listeners: Listeners,
    /// `true` if accesses to plain memory have to be handled at all.
    pub(in super::super) watches_memory: bool,
    /// `true` if they only have to be logged.
    pub(in super::super) logs_only: bool,
    /// `true` if the current task was given pointers into cells since its last event.
    pub(in super::super) pointers_out: bool,
    pub(in super::super) pointers: Pointers,
    /// The accesses by address that monitors need not be notified of yet.
    pub(in super::super) held_back: HeldBack,
    /// The number of accesses to plain memory in this execution.
    pub(in super::super) plain_accesses: u64,
}

impl Monitors {
    pub(in super::super) fn new(listeners: Listeners) -> Monitors {
        Monitors {
            listening: listeners.interests(),
            listeners,
            watches_memory: false,
            logs_only: false,
            pointers_out: false,
            pointers: Pointers::default(),
            held_back: HeldBack::default(),
            plain_accesses: 0,
        }
    }

    /// Resets the state for a new execution.
    pub(in super::super) fn begin(&mut self) {
        self.plain_accesses = 0;
        self.pointers_out = false;
        self.pointers.clear();
        self.held_back.begin();
    }
}
