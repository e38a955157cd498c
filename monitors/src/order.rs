//! The order within a trace: the knowledge of each task, by program order and operations that do not commute.
//!
//! It is [`intermezzo_sdk::HappensBefore`] with one difference: operations that write and still commute (shares of a
//! lock, reference counts, tokens of `park`, ends of tasks) are not ordered, as in the search. So conclusions from it
//! are the same on all executions of one trace.

use intermezzo_sdk::{Class, EventId, SyncVar, SyncVarAccess, SyncVarOp, TaskId, VectorClock};

/// An ordered object: a variable, or the `park` token of a task, which is separate from the task's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Key {
    var: SyncVar,
    token: bool,
}

impl Key {
    /// Returns the key's own number, small where the variable's is.
    fn index(self) -> usize {
        2 * self.var.index() + usize::from(self.token)
    }
}

/// Returns the keys that the operation touches, with its class.
pub(crate) fn touches(access: &SyncVarAccess) -> impl Iterator<Item = (Key, Class)> {
    let token = matches!(access.op, SyncVarOp::Park | SyncVarOp::Unpark);
    let vars = [access.var, access.other_var()];
    let class = match access.op {
        // Marks, which order nothing but each other.
        SyncVarOp::OperationCall | SyncVarOp::OperationReturn => None,
        op => Class::of(op, access.read == 1),
    };
    vars.into_iter()
        .filter(|var| *var != SyncVar::NONE)
        .filter_map(move |var| Some((Key { var, token }, class?)))
}

/// The knowledge of each task during an execution.
#[derive(Debug, Default)]
pub(crate) struct TraceOrder {
    tasks: Vec<VectorClock>,
    /// By [`Key::index`]: the joint knowledge of all operations of a class so far, themselves included.
    touched: Vec<[VectorClock; Class::ALL.len()]>,
    /// Keys that were touched. All others know nothing.
    keys: Vec<usize>,
}

impl TraceOrder {
    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.tasks.iter_mut().for_each(VectorClock::clear);
        for key in self.keys.drain(..) {
            self.touched[key].iter_mut().for_each(VectorClock::clear);
        }
    }

    /// Adds the next event.
    pub(crate) fn add(&mut self, access: &SyncVarAccess) {
        let mut clock = self.next_clock(access.event);
        if access.op == SyncVarOp::Quiesce {
            self.tasks.iter().for_each(|known| clock.join(known));
        }
        for (key, class) in touches(access) {
            let key = key.index();
            if self.touched.len() <= key {
                self.touched.resize_with(key + 1, Default::default);
            }
            let touched = &mut self.touched[key];
            if touched.iter().all(|clock| clock.as_slice().is_empty()) {
                self.keys.push(key);
            }
            // The task that counts a reference count down to zero knows that all others are done.
            let last = access.op == SyncVarOp::CountDown && access.written == 0;
            for other in Class::ALL {
                if last || !class.commutes(other) {
                    clock.join(&touched[other as usize]);
                }
            }
            touched[class as usize].join(&clock);
        }
        self.tasks[access.event.task.index()] = clock;
    }

    /// Adds the next event as one whose order with other tasks' events says nothing.
    #[cfg(feature = "all")]
    pub(crate) fn add_unordered(&mut self, access: &SyncVarAccess) {
        let clock = self.next_clock(access.event);
        self.tasks[access.event.task.index()] = clock;
    }

    fn next_clock(&mut self, event: EventId) -> VectorClock {
        let task = event.task.index();
        if self.tasks.len() <= task {
            self.tasks.resize_with(task + 1, VectorClock::new);
        }
        let mut clock = std::mem::take(&mut self.tasks[task]);
        clock.set(event.task, event.index);
        clock
    }

    /// Returns the task's knowledge so far, its own events included.
    pub(crate) fn known_to(&self, task: TaskId) -> VectorClock {
        self.tasks.get(task.index()).cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use intermezzo_sdk::testing::{Event, Script};

    /// Shares of a lock are not ordered; an exclusive acquisition comes after both.
    #[test]
    fn what_commutes_is_not_ordered() {
        let mut script = Script::new();
        let lock = script.var("lock");
        let (a, b) = (script.fork(Script::MAIN), script.fork(Script::MAIN));
        let first = script.operation(a, SyncVarOp::SharedAcquire, lock);
        let released = script.operation(a, SyncVarOp::SharedRelease, lock);
        script.operation(b, SyncVarOp::SharedAcquire, lock);
        let mut order = TraceOrder::default();
        let feed = |script: &Script, order: &mut TraceOrder| {
            order.clear();
            for event in script.events() {
                let Event::Sync(access) = event else {
                    unreachable!("only visible operations were written down")
                };
                order.add(access);
            }
        };
        feed(&script, &mut order);
        assert!(!order.known_to(b).knows(first));
        script.operation(b, SyncVarOp::SharedRelease, lock);
        script.lock(b, lock);
        feed(&script, &mut order);
        assert!(order.known_to(b).knows(released));
        script.join(Script::MAIN, b);
        feed(&script, &mut order);
        assert!(order.known_to(Script::MAIN).knows(released) && !order.known_to(a).knows(script.last(b)));
    }
}
