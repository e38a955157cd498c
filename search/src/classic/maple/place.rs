//! A fast lookup of the effect of an operation at a place.

use super::access::Effect;
use super::session::Session;
use hashbrown::HashMap;
use intermezzo_engine::site::Site;
use intermezzo_sdk::SyncVarOp;

/// The number of lookups that `recent` keeps.
const RECENT: usize = 64;

/// A lookup that remembers its results by the address of the place. One place may have several addresses.
pub(crate) struct Place {
    session: Session,
    /// The effect of each operation that has been looked up; `None` if it is not an access.
    known: HashMap<(usize, SyncVarOp), Option<Effect>>,
    /// The latest lookups.
    recent: [Option<Recent>; RECENT],
}

type Recent = (usize, SyncVarOp, Option<Effect>);

impl Place {
    /// Returns a lookup of the places of this session.
    pub(super) fn new(session: Session) -> Place {
        Place {
            session,
            known: HashMap::new(),
            recent: [None; RECENT],
        }
    }

    /// Returns the effect of an operation; `None` if it is not an access.
    #[inline(always)]
    pub(super) fn of(&mut self, op: SyncVarOp, site: Site) -> Option<Effect> {
        let word = site.word();
        // The low three bits of all addresses are equal.
        let at = (word >> 3 ^ op as usize) % RECENT;
        match self.recent[at] {
            Some((known, of, effect)) if (known, of) == (word, op) => effect,
            _ => {
                let effect = self.look_up(op, site);
                self.recent[at] = Some((word, op, effect));
                effect
            }
        }
    }

    #[inline(never)]
    fn look_up(&mut self, op: SyncVarOp, site: Site) -> Option<Effect> {
        let Place { session, known, .. } = self;
        *known
            .entry((site.word(), op))
            .or_insert_with(|| session.get().effect(op, site))
    }
}
