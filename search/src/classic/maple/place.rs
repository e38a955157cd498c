//! A fast lookup of the place of an operation.

use super::session::Session;
use hashbrown::HashMap;
use intermezzo_engine::site::Site;
use intermezzo_sdk::SyncVarOp;

/// The number of lookups that `recent` keeps.
const RECENT: usize = 64;

/// A lookup that remembers places by address: one place may have several addresses.
pub(crate) struct Place {
    session: Session,
    /// The number of the place of each operation; `None` if it is no access.
    known: HashMap<(usize, SyncVarOp), Option<u32>>,
    /// The latest lookups.
    recent: [Option<Recent>; RECENT],
}

type Recent = (usize, SyncVarOp, Option<u32>);

impl Place {
    /// Returns a lookup of places of that session.
    pub(super) fn new(session: Session) -> Place {
        Place {
            session,
            known: HashMap::new(),
            recent: [None; RECENT],
        }
    }

    /// Returns the number of the place of an operation; `None` if it is no access.
    #[inline]
    pub(super) fn of(&mut self, op: SyncVarOp, site: Site) -> Option<u32> {
        let word = site.word();
        // The low three bits of addresses are equal.
        let at = (word >> 3 ^ op as usize) % RECENT;
        match self.recent[at] {
            Some((known, of, place)) if (known, of) == (word, op) => place,
            _ => {
                let place = self.look_up(op, site);
                self.recent[at] = Some((word, op, place));
                place
            }
        }
    }

    #[inline(never)]
    fn look_up(&mut self, op: SyncVarOp, site: Site) -> Option<u32> {
        let Place { session, known, .. } = self;
        *known
            .entry((site.word(), op))
            .or_insert_with(|| session.get().place(op, site))
    }
}
