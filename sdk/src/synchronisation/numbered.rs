//! Knowledge that came with numbers: of messages, of rounds, of stores.

use super::Knowledge;

/// Knowledge that came with numbers that only grow.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbered<K> {
    pub(super) entries: Vec<Entry<K>>,
    /// Entries from this index on belong to earlier executions, kept for their memory.
    pub(super) used: usize,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Entry<K> {
    number: u64,
    /// The knowledge at the sending of the message, that which came with the value of the store, or that of the tasks that
    /// have arrived at the barrier.
    pub(super) given: K,
    /// The knowledge of the message's receiver.
    pub(super) answer: K,
}

impl<K: Knowledge> Numbered<K> {
    pub(super) fn forget(&mut self) {
        self.used = 0;
    }

    pub(super) fn find(&self, number: u64) -> Option<usize> {
        self.entries[..self.used]
            .iter()
            .rposition(|entry| entry.number == number)
    }

    pub(super) fn get(&self, number: u64) -> Option<&Entry<K>> {
        self.find(number).map(|at| &self.entries[at])
    }

    pub(super) fn entry(&mut self, number: u64) -> &mut Entry<K> {
        let at = self.find(number).unwrap_or_else(|| {
            if self.used == self.entries.len() {
                self.entries.push(Entry::default());
            }
            let fresh = &mut self.entries[self.used];
            fresh.number = number;
            fresh.given.forget();
            fresh.answer.forget();
            self.used += 1;
            self.used - 1
        });
        &mut self.entries[at]
    }
}
