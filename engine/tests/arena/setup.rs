//! The set-up of tests with the arena.

use intermezzo_engine::runtime::arena::Arena;
use intermezzo_explorer::settings::JournalAt;
use intermezzo_explorer::{Explorer, Settings};
use std::sync::{Mutex, MutexGuard, PoisonError};

#[global_allocator]
pub(crate) static ARENA: Arena = Arena;

/// Lets one test run at a time, because the arena is one worker's.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns an explorer without a journal.
pub(crate) fn explorer() -> Explorer {
    Explorer::with_settings(Settings {
        journal: JournalAt::Off,
        ..Settings::default()
    })
}
