//! The code that runs when a task begins, or continues after another one, where more has to be done than to let it run.
//!
//! Front ends whose tasks have something that belongs to the system's thread are told of switches: all tasks run on one
//! thread, so it has to be exchanged.

use super::Engine;

impl Engine {
    /// Calls a function with the number of the task whenever one begins, or continues after another one, until the execution
    /// ends. The current task is not told of. The call is outside of the execution: there is no current engine.
    pub fn on_switch(self, call: fn(u32)) {
        self.with(|rt| {
            rt.end.on_switch = Some(call);
            rt.end.takes_care = true;
        });
    }

    /// Does what has to be done when the current task continues after another one: it may have to unwind.
    #[cold]
    #[inline(never)]
    pub(super) fn continue_with_care(self) {
        if self.in_teardown() {
            return self.abandon_current();
        }
        self.tell_switch();
        self.unwind_if_withdrawn(self.with(|rt| rt.tasks.current_task().pending.access.op));
    }

    /// Calls the function that is called at switches, if there is one.
    #[cold]
    #[inline(never)]
    pub(super) fn tell_switch(self) {
        let (call, task) = self.with(|rt| (rt.end.on_switch, rt.tasks.current()));
        if let Some(call) = call.filter(|_| !self.in_teardown()) {
            self.outside(|| call(task));
        }
    }
}
