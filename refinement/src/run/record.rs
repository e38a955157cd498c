//! What operations did in one execution, in the order in which it happened.

use crate::scenario::Place;
use intermezzo_explorer::Glance;
use intermezzo_sdk::EventId;
use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Weak;
use std::sync::{Arc, Mutex, PoisonError};

/// What an operation returned, by the number of its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TextId(pub(crate) u32);

/// Texts, each kept once. Shared by all executions of a scenario.
#[derive(Default)]
pub(crate) struct Texts(Mutex<Known>);

#[derive(Default)]
struct Known {
    numbers: HashMap<Arc<str>, TextId>,
    texts: Vec<Arc<str>>,
}

impl Texts {
    /// The number of a text.
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

    /// The text of a number.
    pub(crate) fn text(&self, number: TextId) -> Arc<str> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&known.texts[number.0 as usize])
    }
}

/// The beginning of an operation, or its end with what it returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Mark {
    Call(Place),
    Return(Place, TextId),
}

impl Mark {
    /// The same history, written down in one of its possible ways: only what comes between a return and a call counts,
    /// so calls without a return between them are sorted, and returns without a call.
    pub(crate) fn normalise(marks: &mut [Mark]) {
        let runs = marks.chunk_by_mut(|a, b| matches!(a, Mark::Call(_)) == matches!(b, Mark::Call(_)));
        runs.for_each(<[Mark]>::sort_unstable);
    }
}

/// An execution that is run once more to be told: what there is beside its events.
#[derive(Clone, Debug, Default)]
pub(crate) struct Story {
    /// The history, each mark with the last event before it.
    pub(crate) marks: Vec<(Mark, Option<EventId>)>,
    /// What the object held after each event.
    pub(crate) glances: Vec<(EventId, Glance)>,
}

/// The record of the execution that runs on this thread.
#[derive(Default)]
pub(crate) struct Record {
    pub(crate) marks: Vec<Mark>,
    /// Whether tasks were told to do only some of their operations.
    pub(crate) cut_short: bool,
    /// Whether an operation panicked.
    pub(crate) panicked: bool,
    /// The object, as long as it is there.
    pub(crate) object: Option<Weak<dyn Any>>,
    /// Whether the choice that is made is whose turn it is, one operation at a time.
    pub(crate) turn: bool,
    /// The execution's story, if it is to be told.
    pub(crate) story: Option<Box<Story>>,
    buffer: String,
    /// What the operation at each place returned last, and its number: mostly what it returns now. (An exploration has
    /// threads of its own, so the numbers are of its scenario.)
    last: Vec<Option<(String, TextId)>>,
}

thread_local! {
    /// All tasks of an exploration's worker run on its one thread.
    static RECORD: RefCell<Record> = RefCell::default();
}

impl Record {
    /// A new execution begins.
    pub(crate) fn begin() {
        RECORD.with_borrow_mut(|record| {
            record.marks.clear();
            (record.cut_short, record.panicked) = (false, false);
            if let Some(story) = &mut record.story {
                story.marks.clear();
            }
        });
    }

    /// Changes the record of the execution that runs.
    pub(crate) fn with<R>(change: impl FnOnce(&mut Record) -> R) -> R {
        RECORD.with_borrow_mut(change)
    }

    /// Notes a mark.
    pub(crate) fn mark(&mut self, mark: Mark) {
        self.marks.push(mark);
        if let Some(story) = &mut self.story {
            let last = story.glances.last().map(|(event, _)| *event);
            story.marks.push((mark, last));
        }
    }

    /// Notes what the object held after an event: from then on, the story of executions is told.
    pub(crate) fn glanced(event: EventId, glance: Glance) {
        RECORD.with_borrow_mut(|record| {
            let story = record.story.get_or_insert_default();
            // Every execution begins so.
            if (event.task.0, event.index) == (0, 1) {
                story.glances.clear();
            }
            story.glances.push((event, glance));
        });
    }

    /// Makes the choice whose turn it is.
    pub(crate) fn next_turn(choose: impl FnOnce() -> usize) -> usize {
        Record::with(|record| record.turn = true);
        let chosen = choose();
        Record::with(|record| record.turn = false);
        chosen
    }

    /// A buffer for a text, to be given back.
    pub(crate) fn take_buffer() -> String {
        RECORD.with_borrow_mut(|record| {
            record.buffer.clear();
            std::mem::take(&mut record.buffer)
        })
    }

    /// An operation has returned what is in the buffer.
    pub(crate) fn returned(place: Place, texts: &Texts, buffer: String) {
        RECORD.with_borrow_mut(|record| {
            let known = record.last.get(place.index()).and_then(Option::as_ref);
            let number = match known {
                Some((text, number)) if *text == buffer => *number,
                _ => record.remember(place, texts.number(&buffer), &buffer),
            };
            record.mark(Mark::Return(place, number));
            record.buffer = buffer;
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
