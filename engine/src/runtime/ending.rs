//! The end of an execution: its reason, the failures that led to it, and the state of the cleanup.

use super::crash::Crash;
use super::{Emergency, PanicNote, Stop};
use std::any::Any;
use std::sync::Arc;

/// The end of an execution.
#[derive(Default)]
pub(super) struct ExecutionEnd {
    /// The reason, once there is one.
    pub(super) stop: Option<Stop>,
    pub(super) panics: Vec<PanicNote>,
    /// `true` once the execution has ended and is being torn down: operations then happen at once, unrecorded.
    pub(super) teardown: bool,
    /// `true` while tasks finish unwinding after the execution was cut short: their panics count.
    pub(super) finishes_unwinding: bool,
    /// `true` if the program ended while other tasks could continue.
    pub(super) cut_others_off: bool,
    /// `true` once a task of the execution was withdrawn, or `on_switch` is set.
    pub(super) takes_care: bool,
    /// The function to call whenever a task begins, or continues after another one.
    pub(super) on_switch: Option<fn(u32)>,
    /// `true` while leftovers of an execution are dropped on a fiber of their own.
    pub(super) sweeping: bool,
    /// `true` while the values of statics are dropped before the monitors see the end.
    pub(super) drops_statics: bool,
    /// The blocks that were released with the values of statics, before the monitors saw the end.
    pub(super) held_by_statics: Vec<u32>,
    /// `true` if the last execution left tasks unfinished, and they were leaked, or unwound.
    pub(super) forgot: bool,
    pub(super) unwound: bool,
    /// `true` if a task may hold the lock of a standard stream, which is the process's: tasks that are left are then
    /// unwound, and so release it.
    pub(super) uses_streams: bool,
    /// A crash during the teardown of the execution.
    pub(super) crash_cleared: Option<Crash>,
    /// Set by a crash: the results after it cannot be trusted.
    pub(super) damaged: bool,
    /// A panic of the engine, a strategy or a monitor on a fiber, to be passed to the caller of the exploration.
    pub(super) carried: Option<Box<dyn Any + Send>>,
    /// `true` if the execution was abandoned at its end, to be run again with the same choices.
    pub(super) runs_again: bool,
    /// `true` if it was abandoned because of remains of earlier tasks on the stacks.
    pub(super) is_unclear: bool,
    /// The panic hook that the test has set.
    #[cfg(feature = "unmodified")]
    pub(super) hook: Option<super::panics::HookOfTest>,
    /// The tasks that are calling such a hook: a panic in there aborts.
    #[cfg(feature = "unmodified")]
    pub(super) in_hook: crate::record::TaskSet,
    /// The receiver of the first report of a crash.
    pub(super) emergency: Option<Arc<Emergency>>,
}

impl ExecutionEnd {
    /// Resets the state for a new execution.
    pub(super) fn begin(&mut self) {
        self.panics.clear();
        self.crash_cleared = None;
        self.runs_again = false;
        self.held_by_statics.clear();
        (self.forgot, self.unwound, self.uses_streams) = (false, false, false);
        (self.takes_care, self.cut_others_off) = (false, false);
        self.on_switch = None;
        self.stop = None;
        #[cfg(feature = "unmodified")]
        self.in_hook.clear();
    }
}
