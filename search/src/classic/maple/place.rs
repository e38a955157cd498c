//! A fast lookup of the place of an operation.

use super::access;
use super::session::Session;
use intermezzo_sdk::SyncVarOp;
use std::collections::HashMap;
use std::panic::Location;

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
    pub(super) fn of(&mut self, op: SyncVarOp, site: &'static Location<'static>) -> Option<u32> {
        let word = access::word(op)?;
        let key = (std::ptr::from_ref(site).addr(), word);
        let session = &self.session;
        let number = *self.known.entry(key).or_insert_with(|| {
            let (file, line, column) = (site.file(), site.line(), site.column());
            session.get().place(format!("{file}:{line}:{column} {word}"))
        });
        Some(number)
    }
}
