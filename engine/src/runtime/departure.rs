//! The end of an execution that departs from its schedule.

use super::Runtime;
use super::naming::{site_name, task_name, var_name};
use super::stop::Stop;
use crate::record::Event;

impl Runtime {
    /// Stops the execution: under the same choices, it did something else than the previous one.
    #[cold]
    pub(super) fn differed(&mut self) {
        let in_words = |event: &Event| {
            format!(
                "{} of {} by {} at {}",
                event.op,
                var_name(self, event.var),
                task_name(self, event.task),
                site_name(event.site)
            )
        };
        let events = self.record.events.as_slice();
        let (at, before, now, another_var) = match self.record.events.differs() {
            Some((at, before)) => {
                let now = &events[at];
                let same = (before.op, before.task, before.site) == (now.op, now.task, now.site);
                (
                    at,
                    in_words(&before),
                    in_words(now),
                    same && before.var != now.var,
                )
            }
            None => (events.len(), String::new(), String::new(), false),
        };
        self.depart();
        self.end.stop = Some(Stop::Differed {
            at: at + 1,
            before,
            now,
            another_var,
        });
    }

    /// Notes that the execution did not follow its prescribed choices. They are kept for another attempt; the trace of
    /// them, which no longer applies, is cleared.
    #[cold]
    pub(super) fn depart(&mut self) {
        self.decisions.depart();
        self.record.trace.clear();
    }
}
