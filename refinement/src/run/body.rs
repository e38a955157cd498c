//! The code that an execution of a scenario runs.

use super::record::{Mark, Record, Texts};
use crate::operation::Operation;
use crate::scenario::{Place, Scenario, Step};
use intermezzo_explorer::recording::{OPERATION, RETURNED};
use intermezzo_explorer::sync::mpsc;
use intermezzo_explorer::{Operations, attribute, choose, event, preemptions_off, thread};
use std::ops::Deref;
use std::rc::Rc;

/// The file of the operations that give the tasks their turns, as places have it.
pub(crate) const FILE: &str = file!();

/// An object under test, and its operations.
pub(crate) struct Body<'a, T> {
    pub(crate) make: &'a (dyn Fn() -> T + Send + Sync),
    pub(crate) operations: &'a [Operation<T>],
    pub(crate) scenario: &'a Scenario,
    pub(crate) texts: &'a Texts,
    /// The call at each place, in words, if recorders need them.
    pub(crate) told: Option<&'a [String]>,
}

impl<T: Sync + 'static> Body<'_, T> {
    /// Runs all tasks at once; if `coarse`, no operation is preempted. With `any_length`, each task performs any
    /// number of its operations. Then every moment at which all begun operations wait is the end of some execution.
    pub(crate) fn concurrent(&self, any_length: bool, coarse: bool) {
        Record::begin();
        let lengths: Vec<usize> = self.scenario.tasks.iter().map(Vec::len).collect();
        let chosen: Vec<usize> = match any_length {
            true => lengths
                .iter()
                .map(|&length| length - choose(length + 1))
                .collect(),
            false => lengths.clone(),
        };
        let whole = chosen == lengths;
        Record::with(|record| record.cut_short = !whole);
        let object = self.object();
        let object = &*object;
        let marks = Operations::new();
        self.perform_all(object, &self.scenario.init, 0);
        let first = self.scenario.first_places();
        thread::scope(|scope| {
            let tasks = self.scenario.tasks.iter().zip(&chosen).zip(&first);
            for ((steps, &length), &first) in tasks.filter(|((_, length), _)| **length > 0) {
                let marks = &marks;
                scope.spawn(move || {
                    for (step, place) in steps[..length].iter().zip(first..) {
                        marks.call(u64::from(place));
                        self.tell(OPERATION, place, None);
                        match coarse {
                            true => preemptions_off(|| self.perform(object, step, Place(place))),
                            false => self.perform(object, step, Place(place)),
                        }
                        marks.returned(u64::from(place));
                    }
                });
            }
        });
        if whole {
            self.perform_all(object, &self.scenario.post, first[self.scenario.tasks.len()]);
        }
    }

    /// Runs one operation at a time, in any order: each task waits for its turn.
    pub(crate) fn serial(&self) {
        Record::begin();
        let object = self.object();
        let object = &*object;
        self.perform_all(object, &self.scenario.init, 0);
        let first = self.scenario.first_places();
        let (done, any_done) = mpsc::channel();
        thread::scope(|scope| {
            let mut turns = Vec::new();
            let mut tasks = Vec::new();
            for (steps, &first) in self.scenario.tasks.iter().zip(&first) {
                let (turn, my_turn) = mpsc::channel::<()>();
                let done = &done;
                tasks.push(scope.spawn(move || {
                    for (step, place) in steps.iter().zip(first..) {
                        // The sender of turns and the receiver of `done` exist as long as operations are left.
                        let _ = my_turn.recv();
                        self.perform(object, step, Place(place));
                        let _ = done.send(());
                    }
                    // The end of a task (its values are dropped) waits until the operations are done: next to those of
                    // others it would be one more.
                    let _ = my_turn.recv();
                    my_turn
                }));
                turns.push((steps.len(), turn));
            }
            let mut waiting: Vec<usize> = (0..turns.len()).filter(|&task| turns[task].0 > 0).collect();
            while !waiting.is_empty() {
                let (left, turn) = &mut turns[waiting[Record::next_turn(|| choose(waiting.len()))]];
                *left -= 1;
                let _ = turn.send(());
                let _ = any_done.recv();
                waiting.retain(|&task| turns[task].0 > 0);
            }
            for (task, (_, turn)) in tasks.into_iter().zip(turns) {
                let _ = turn.send(());
                // A panic is on record.
                let _ = task.join();
            }
        });
        self.perform_all(object, &self.scenario.post, first[self.scenario.tasks.len()]);
    }

    /// Creates a new object, which a shower can find as long as it exists.
    fn object(&self) -> Shown<T> {
        let object = Rc::new((self.make)());
        Record::with(|record| record.object = Some(Rc::downgrade(&object) as _));
        Shown(object)
    }

    fn perform_all(&self, object: &T, steps: &[Step], first: u32) {
        for (step, place) in steps.iter().zip(first..) {
            self.perform(object, step, Place(place));
        }
    }

    fn perform(&self, object: &T, step: &Step, place: Place) {
        Record::with(|record| record.mark(Mark::Call(place)));
        let under_way = UnderWay;
        let mut text = Record::take_buffer();
        self.operations[step.operation].run(object, &step.argument, &mut text);
        std::mem::forget(under_way);
        self.tell(RETURNED, place.0, Some(&text));
        Record::returned(place, self.texts, text);
    }

    /// Tells recorders an operation's call, or its result. Before and after the tasks, where operations have no
    /// marks, it tells both at once.
    fn tell(&self, name: &str, place: u32, returned: Option<&str>) {
        let Some(calls) = self.told else { return };
        let call = &calls[place as usize];
        let first = self.scenario.first_places();
        let marked = (first[0]..first[self.scenario.tasks.len()]).contains(&place);
        match returned {
            Some(returned) if marked => attribute(name, returned),
            Some(returned) => event(&format!("{call} returns {returned}")),
            None => attribute(name, call),
        }
    }
}

/// An object that a shower can find.
struct Shown<T>(Rc<T>);

impl<T> Deref for Shown<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> Drop for Shown<T> {
    fn drop(&mut self) {
        // Dropped here, and not in the closure: the memory belongs to the execution.
        drop(Record::with(|record| record.object.take()));
    }
}

/// An operation that has not returned: dropped only by a panic.
struct UnderWay;

impl Drop for UnderWay {
    fn drop(&mut self) {
        Record::with(|record| record.panicked = true);
    }
}
