//! A queue at which tasks wait.

use intermezzo_explorer::sync::{Condvar, Mutex};
use std::collections::VecDeque;

/// A queue whose `pop` waits.
#[derive(Default)]
pub(crate) struct Waiting {
    values: Mutex<VecDeque<u8>>,
    ready: Condvar,
}

impl Waiting {
    pub(crate) fn push(&self, value: u8) {
        self.values.lock().unwrap().push_back(value);
        self.ready.notify_one();
    }
    /// Pushes without a notification if there was something already.
    pub(crate) fn push_tells_only_of_the_first(&self, value: u8) {
        let mut values = self.values.lock().unwrap();
        values.push_back(value);
        if values.len() == 1 {
            self.ready.notify_one();
        }
    }
    pub(crate) fn pop(&self) -> u8 {
        let mut values = self.values.lock().unwrap();
        loop {
            match values.pop_front() {
                Some(value) => return value,
                None => values = self.ready.wait(values).unwrap(),
            }
        }
    }
}
