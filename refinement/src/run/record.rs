//! The record of one execution's operations, in the order in which they happened.

use crate::said;
use crate::scenario::Place;
use intermezzo_explorer::{Inspection, Operations, outside};
use intermezzo_sdk::EventId;
use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Weak;
use std::sync::{Arc, Mutex, PoisonError};

/// An operation's result, by the number of its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TextId(pub(crate) u32);

/// Texts, each kept once. Shared by all executions of a scenario.
#[derive(Default)]
pub(crate) struct Texts(Mutex<TextTable>);

#[derive(Default)]
struct TextTable {
    numbers: HashMap<Arc<str>, TextId>,
    texts: Vec<Arc<str>>,
}

impl Texts {
    /// Returns the number of a text.
    pub(crate) fn number(&self, text: &str) -> TextId {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&number) = known.numbers.get(text) {
            return number;
        }
        let (text, number): (Arc<str>, _) = (text.into(), TextId(known.texts.len() as u32));
        known.texts.push(Arc::clone(&text));
        known.numbers.insert(text, number);
        number
    }

    /// Returns the text of a number.
    pub(crate) fn text(&self, number: TextId) -> Arc<str> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&known.texts[number.0 as usize])
    }
}

/// The beginning of an operation, or its end with its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Mark {
    Call(Place),
    Return(Place, TextId),
}

impl Mark {
    /// Rewrites the history in its normal form. Only the order between a return and a call counts, so calls without a
    /// return between them are sorted, and so are returns without a call.
    pub(crate) fn normalise(marks: &mut [Mark]) {
        let runs = marks.chunk_by_mut(|a, b| matches!(a, Mark::Call(_)) == matches!(b, Mark::Call(_)));
        runs.for_each(<[Mark]>::sort_unstable);
    }
}

/// An execution that is run once more to be described: its data beyond its events.
#[derive(Clone, Debug, Default)]
pub(crate) struct Story {
    /// The history, each mark with the last event before it.
    pub(crate) marks: Vec<(Mark, Option<EventId>)>,
    /// The object's state after each event.
    pub(crate) inspections: Vec<(EventId, Inspection)>,
}

/// The record of the current execution on this thread.
#[derive(Default)]
pub(crate) struct Record {
    pub(crate) marks: Vec<Mark>,
    /// `true` if tasks had to perform only some of their operations.
    pub(crate) cut_short: bool,
    /// `true` if an operation panicked.
    pub(crate) panicked: bool,
    /// `true` if there is a memory model: the order of the marks is not that of time.
    pub(crate) has_memory_model: bool,
    /// The object, as long as it exists.
    pub(crate) object: Option<Weak<dyn Any>>,
    /// `true` if the current choice decides which task's turn it is, one operation at a time.
    pub(crate) turn: bool,
    /// The execution's story, if it is needed.
    pub(crate) story: Option<Box<Story>>,
    buffer: String,
    /// The last result of the operation at each place, and its number: mostly the same as now. (An exploration has
    /// threads of its own, so the numbers belong to its scenario.)
    last: Vec<Option<(String, TextId)>>,
}

/// The size of the buffer for the text of a result: most fit.
const BUFFER_BYTES: usize = 256;

thread_local! {
    /// All tasks of an exploration's worker run on its one thread.
    static RECORD: RefCell<Record> = RefCell::default();
}

impl Record {
    /// Begins the record of a new execution.
    pub(crate) fn begin() {
        said::begin_execution();
        Record::with(|record| {
            record.marks.clear();
            // An abandoned execution has left it. Its memory may have been reclaimed.
            std::mem::forget(record.object.take());
            (record.cut_short, record.panicked) = (false, false);
            record.has_memory_model = Operations::have_memory_model();
            if let Some(story) = &mut record.story {
                story.marks.clear();
            }
        });
    }

    /// Changes the record of the current execution. It outlives the execution, so what it keeps is not in the
    /// execution's memory.
    pub(crate) fn with<R>(change: impl FnOnce(&mut Record) -> R) -> R {
        outside(|| RECORD.with_borrow_mut(change))
    }

    /// Notes a mark.
    pub(crate) fn mark(&mut self, mark: Mark) {
        self.marks.push(mark);
        if let Some(story) = &mut self.story {
            let last = story.inspections.last().map(|(event, _)| *event);
            story.marks.push((mark, last));
        }
    }

    /// Notes the object's state after an event: from then on, the story of executions is kept.
    pub(crate) fn inspected(event: EventId, inspect: Inspection) {
        Record::with(|record| {
            let story = record.story.get_or_insert_default();
            // Every execution begins with this event.
            if (event.task.0, event.index) == (0, 1) {
                story.inspections.clear();
            }
            story.inspections.push((event, inspect));
        });
    }

    /// Makes the choice which task's turn it is.
    pub(crate) fn next_turn(choose: impl FnOnce() -> usize) -> usize {
        Record::with(|record| record.turn = true);
        let chosen = choose();
        Record::with(|record| record.turn = false);
        chosen
    }

    /// Returns a buffer for a text; `returned` takes it back.
    pub(crate) fn take_buffer() -> String {
        Record::with(|record| {
            if record.buffer.capacity() == 0 {
                record.buffer = String::with_capacity(BUFFER_BYTES);
            }
            record.buffer.clear();
            std::mem::take(&mut record.buffer)
        })
    }

    /// Records that an operation has returned the result in the buffer.
    pub(crate) fn returned(place: Place, texts: &Texts, buffer: String) {
        Record::with(|record| {
            let known = record.last.get(place.index()).and_then(Option::as_ref);
            let number = match known {
                Some((text, number)) if *text == buffer => *number,
                _ => record.remember(place, texts.number(&buffer), &buffer),
            };
            record.mark(Mark::Return(place, number));
            // One that has grown did so in the execution's memory.
            if buffer.capacity() == BUFFER_BYTES {
                record.buffer = buffer;
            }
        });
    }

    fn remember(&mut self, place: Place, number: TextId, text: &str) -> TextId {
        if self.last.len() <= place.index() {
            self.last.resize(place.index() + 1, None);
        }
        self.last[place.index()] = Some((text.to_owned(), number));
        number
    }
}
