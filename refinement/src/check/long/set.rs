//! Long histories of sets in which no key is inserted twice: key by key.
//!
//! A key is absent, present after its one insertion, and absent again after its one removal. By the first return of
//! an operation that finds it present it is inserted, and it is not removed before the last call of one. An operation
//! that finds it absent must not lie between the two. That is exact: insert as late, and remove as early, as these
//! allow.
//!
//! A pending insertion or removal that may be the key's only one happened or not, whichever fits.

use super::time::{NEVER, Placed, place};
use super::{CheckLong, Long, Violation};
use crate::history::History;
use crate::specs::set::{Call, Set};
use hashbrown::HashMap;
use std::hash::Hash;

/// Returns whether a set's history is linearizable, in n log n.
pub fn check<K: Clone + Ord + Hash>(_set: &Set<K>, history: &History<Call<K>, bool>) -> Long {
    let (placed, _) = place(history);
    let mut numbers: HashMap<&K, usize> = HashMap::new();
    let mut keys: Vec<Key> = Vec::new();
    for (operation, &at) in history.operations().iter().zip(&placed) {
        let number = *numbers.entry(operation.call.key()).or_insert_with(|| {
            keys.push(Key::default());
            keys.len() - 1
        });
        let key = &mut keys[number];
        match (&operation.call, operation.returned) {
            (Call::Insert(_), Some(true)) => key.inserts.push(at),
            (Call::Remove(_), Some(true)) => key.removes.push(at),
            (Call::Insert(_), None) => key.pending_inserts.push(at),
            (Call::Remove(_), None) => key.pending_removes.push(at),
            (Call::Contains(_), None) => {}
            (Call::Insert(_), Some(false)) | (Call::Contains(_), Some(true)) => key.present.push(at),
            (Call::Remove(_) | Call::Contains(_), Some(false)) => key.absent.push(at),
        }
    }
    let mut undecided = None;
    for key in &keys {
        match key.check() {
            Long::Linearizable => {}
            Long::NotApplicable(why) => undecided = Some(why),
            violation => return violation,
        }
    }
    undecided.map_or(Long::Linearizable, Long::NotApplicable)
}

impl<K: Clone + Ord + Hash> CheckLong for Set<K> {
    fn check_long(&self, history: &History<Call<K>, bool>) -> Long {
        check(self, history)
    }
}

/// The operations on a key, by their effect or result.
#[derive(Default)]
struct Key {
    inserts: Vec<Placed>,
    removes: Vec<Placed>,
    pending_inserts: Vec<Placed>,
    pending_removes: Vec<Placed>,
    present: Vec<Placed>,
    absent: Vec<Placed>,
}

impl Key {
    fn check(&self) -> Long {
        if self.inserts.len() + self.pending_inserts.len() > 1 {
            return Long::NotApplicable("a key may be inserted twice");
        }
        if let [first, second, ..] = self.removes[..] {
            return Long::Violation(Violation::new(
                format!(
                    "#{} and #{} remove the same key, and it is inserted once",
                    first.id, second.id
                ),
                self.removes
                    .iter()
                    .chain(&self.inserts)
                    .chain(&self.pending_inserts)
                    .map(|at| at.id),
            ));
        }
        let needed = !self.present.is_empty() || !self.removes.is_empty();
        let insert = match self.pending_inserts.first() {
            // No operation finds the key that it would have inserted: it has not happened.
            Some(_) if !needed => None,
            pending => self.inserts.first().or(pending),
        };
        let removed = self.violated(insert, self.removes.first());
        let Some(violation) = removed else {
            return Long::Linearizable;
        };
        // Of pending ones the one that was called first can do what any of them can.
        match (self.removes.first(), self.pending_removes.first()) {
            (None, Some(pending)) => match self.violated(insert, Some(pending)) {
                None => Long::Linearizable,
                Some(_) => Long::Violation(Violation {
                    why: format!(
                        "{}; nor does it help to remove it by #{}",
                        violation.why, pending.id
                    ),
                    operations: self.all(),
                }),
            },
            _ => Long::Violation(violation),
        }
    }

    /// Returns the places of all operations on the key.
    fn all(&self) -> Vec<usize> {
        let all = self.inserts.iter().chain(&self.removes);
        let pending = self.pending_inserts.iter().chain(&self.pending_removes);
        let mut all: Vec<usize> = all
            .chain(pending)
            .chain(self.present.iter().chain(&self.absent))
            .map(|at| at.id as usize)
            .collect();
        all.sort_unstable();
        all
    }

    /// Returns the violation, with this insertion and this removal.
    fn violated(&self, insert: Option<&Placed>, remove: Option<&Placed>) -> Option<Violation> {
        let finds = || self.present.iter().chain(remove);
        let Some(&insert) = insert else {
            let found = finds().next()?;
            // A pending removal has not happened then.
            return (found.ret != NEVER).then(|| {
                Violation::new(
                    format!("#{} finds a key that no operation inserts", found.id),
                    [found.id],
                )
            });
        };
        let first = *finds().chain([&insert]).min_by_key(|at| at.ret)?;
        let last = *finds().chain([&insert]).max_by_key(|at| at.call)?;
        if first.ret < insert.call {
            return Some(Violation::new(
                format!(
                    "#{} finds a key and returns before #{} is called, which inserts it",
                    first.id, insert.id
                ),
                [first.id, insert.id],
            ));
        }
        if let Some(remove) = remove
            && remove.ret < last.call
        {
            return Some(Violation::new(
                format!(
                    "#{} finds a key and is called after #{} has returned, which removes it",
                    last.id, remove.id
                ),
                [last.id, remove.id, insert.id],
            ));
        }
        let until = if remove.is_some() { last.call } else { NEVER };
        let missed = self
            .absent
            .iter()
            .find(|absent| first.ret < absent.call && absent.ret < until)?;
        let until = match remove {
            Some(_) => format!("until the call of #{}", last.id),
            None => "for ever, as no operation removes it".to_owned(),
        };
        Some(Violation::new(
            format!(
                "#{} does not find a key that is there from the return of #{} {until}",
                missed.id, first.id
            ),
            [missed.id, first.id, last.id, insert.id]
                .into_iter()
                .chain(remove.map(|remove| remove.id)),
        ))
    }
}
