//! Extra work when a task begins, or continues after another one.
//!
//! All tasks run on one thread of the system. A front end whose tasks have state that belongs to the thread is notified
//! of switches, so that it can exchange that state.

use super::Engine;

impl Engine {
    /// Calls a function with the number of the task whenever one begins, or continues after another one, until the
    /// execution ends. There is no call for the current task now. The calls are outside of the execution: there is no
    /// current engine.
    pub fn on_switch(self, call: fn(u32)) {
        self.with(|rt| {
            rt.end.on_switch = Some(call);
            rt.end.takes_care = true;
        });
    }

    /// Performs the extra work when the current task continues after another one: it may have to unwind.
    #[cold]
    #[inline(never)]
    pub(super) fn continue_with_care(self) {
        if self.in_teardown() {
            return self.abandon_current();
        }
        self.tell_switch();
        self.unwind_if_withdrawn(self.with(|rt| rt.tasks.current_task().pending.access.op));
    }

    /// Calls the function for switches, if there is one.
    #[cold]
    #[inline(never)]
    pub(super) fn tell_switch(self) {
        let (call, task) = self.with(|rt| (rt.end.on_switch, rt.tasks.current()));
        if let Some(call) = call.filter(|_| !self.in_teardown()) {
            self.outside(|| call(task));
        }
    }
}
