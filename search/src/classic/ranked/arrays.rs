//! Arrays that count as one variable each: the variables of an execution that the same place in the source accesses.
//!
//! Nothing declares a variable to be an element of an array, and its address does not show it either: the fields of a
//! queue are adjacent, like its slots. But the same place in the source accesses many elements. So if the place at
//! which a variable is first accessed has accessed a variable of the same kind before, in the same execution, the new
//! one belongs to the array of that one; otherwise it begins an array. A place belongs to the array that was accessed
//! there first, wherever that array began. So a ring whose slots are written at one place and read at another is one
//! array. (The paper uses addresses, and combines memory that was allocated together.)
//!
//! The first access to a variable determines its array, before any preemption is attributed to it, and the array does
//! not change during an execution. Arrays are only a coarser division: an execution whose preemptions are attributed to
//! N variables has at most N arrays.
//!
//! Differs: arrays that the same code accesses, such as those of two queues of the same type, count as one. Elements
//! that are accessed at different places (`slots[0]` in one line, `slots[1]` in the next) are separate.

use intermezzo_engine::record::VarKind;
use intermezzo_engine::site::Site;
use intermezzo_engine::strategy::ChoicePoint;
use intermezzo_engine::trace::is_access;
use intermezzo_sdk::SyncVar;
use std::collections::HashMap;

/// The arrays of the current execution.
#[derive(Default)]
pub(super) struct Arrays {
    /// The number of events of the execution that have been processed.
    seen: usize,
    /// The array of each accessed variable: the number of the variable that began it.
    of: Vec<Option<u32>>,
    /// The array that each place accesses.
    by_place: HashMap<(VarKind, Site), u32>,
    /// The place at which each array began.
    begun_at: HashMap<u32, Site>,
}

impl Arrays {
    /// Begins another execution.
    pub(super) fn begin(&mut self) {
        self.seen = 0;
        self.of.clear();
        self.by_place.clear();
        self.begun_at.clear();
    }

    /// Processes the accesses since the last call.
    pub(super) fn catch_up(&mut self, point: &ChoicePoint<'_>) {
        for event in &point.events[self.seen..] {
            if is_access(event.op) && event.var != SyncVar::NONE.0 {
                self.accessed(event.var, point.vars[event.var].kind, event.site);
            }
        }
        self.seen = point.events.len();
    }

    fn accessed(&mut self, var: u32, kind: VarKind, site: Site) {
        let at = var as usize;
        if self.of.len() <= at {
            self.of.resize(at + 1, None);
        }
        let place = (kind, site);
        let array = self.of[at].or_else(|| self.by_place.get(&place).copied());
        let array = array.unwrap_or_else(|| {
            self.begun_at.insert(var, site);
            var
        });
        self.of[at] = Some(array);
        self.by_place.entry(place).or_insert(array);
    }

    /// Returns the variable that began the array of an accessed variable.
    pub(super) fn first_of(&self, var: u32) -> u32 {
        self.of
            .get(var as usize)
            .copied()
            .flatten()
            .expect("only variables are asked for that were accessed")
    }

    /// Returns the place at which the array began whose first variable is this one.
    pub(super) fn begun_at(&self, first: u32) -> Site {
        self.begun_at[&first]
    }

    /// Returns the accessed variables, each with the one that began its array.
    pub(super) fn members(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..)
            .zip(&self.of)
            .filter_map(|(var, first)| Some((var, (*first)?)))
    }
}
