//! A fast lookup of the place of an operation.

use super::access;
use super::session::Session;
use intermezzo_engine::site::Site;
use intermezzo_sdk::SyncVarOp;
use std::collections::HashMap;

/// A lookup that remembers places by address: one place may have several addresses.
pub(crate) struct Place {
    session: Session,
    known: HashMap<(usize, &'static str), u32>,
}

impl Place {
    /// Returns a lookup of places of that session.
    pub(super) fn new(session: Session) -> Place {
        Place {
            session,
            known: HashMap::new(),
        }
    }

    /// Returns the number of the place of an operation; `None` if it is no access.
    pub(super) fn of(&mut self, op: SyncVarOp, site: Site) -> Option<u32> {
        let word = access::word(op)?;
        let key = (site.word(), word);
        let session = &self.session;
        let number = *self
            .known
            .entry(key)
            .or_insert_with(|| session.get().place(format!("{site} {word}")));
        Some(number)
    }
}
