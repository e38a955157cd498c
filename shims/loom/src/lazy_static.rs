//! `loom::lazy_static`: the types behind the macro of that name.

pub use intermezzo::thread::{AccessError, panicking, yield_now};

use intermezzo::is_exploring;
use intermezzo::sync::LazyLock;
use intermezzo::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::cell::Cell;

/// The state of the statics in an execution.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Statics {
    Unused,
    Used,
    /// The model's closure has returned.
    Ended,
}

thread_local! {
    /// Of the execution that runs on this thread: all its tasks do, in turns.
    static STATICS: Cell<Statics> = const { Cell::new(Statics::Unused) };
}

/// `true` once the model's closure has returned, if it has used statics: then both orders of its end and another use are
/// explored. A model without statics is spared the step.
static ENDED: AtomicBool = AtomicBool::new(false);

/// Runs a model's closure. At its end its statics end, as in loom.
pub(crate) fn with_statics(model: impl Fn()) {
    STATICS.set(Statics::Unused);
    model();
    if STATICS.get() == Statics::Used {
        ENDED.store(true, SeqCst);
    }
    STATICS.set(Statics::Ended);
}

/// A value made at its first use in each execution.
#[derive(Debug)]
pub struct Lazy<T>(LazyLock<T>);

impl<T: 'static> Lazy<T> {
    /// Creates a value that this function will make.
    pub const fn new(init: fn() -> T) -> Lazy<T> {
        Lazy(LazyLock::new(init))
    }

    /// Returns the value; made now if this is its first use.
    ///
    /// # Panics
    /// If the model's closure has returned.
    #[track_caller]
    pub fn get(&'static self) -> &'static T {
        if is_exploring() {
            if STATICS.get() == Statics::Unused {
                STATICS.set(Statics::Used);
            }
            assert!(
                STATICS.get() == Statics::Used && !ENDED.load(SeqCst),
                "attempted to access lazy_static during shutdown: the model's closure has returned; join this thread in it"
            );
        }
        LazyLock::force(&self.0)
    }
}
