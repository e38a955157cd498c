//! Arrays that count as one variable each: which variables of an execution one place in the source goes through.
//!
//! Nobody says of a variable that it is an element of an array, and its address does not tell either: the fields of a queue
//! lie beside each other like its slots do. What tells is that one place in the source accesses many. So a variable that is first
//! accessed at a place where the execution accessed one of its kind before belongs to the array of that one; else it begins an
//! array. A place belongs to the array that was accessed there first, whichever place that one began at: a ring whose slots are written at
//! one place and read at another is one array. (The paper has addresses, and takes what was allocated together.)
//!
//! Which array a variable belongs to is settled by its first access, before any preemption counts against it, and never
//! changes in an execution. Arrays make variables coarser and nothing else: executions that count against so many
//! variables count against as many arrays at most.
//!
//! Differs: arrays that the same code goes through, as two queues of one type have them, are one. Elements that each have a place
//! of their own (`slots[0]` in one line, `slots[1]` in the next) are apart.

use intermezzo_engine::record::{Site, VarKind};
use intermezzo_engine::strategy::ChoicePoint;
use intermezzo_engine::trace::is_access;
use intermezzo_sdk::SyncVar;
use std::collections::HashMap;

/// The arrays of the running execution.
#[derive(Default)]
pub(super) struct Arrays {
    /// The number of of its events were looked at.
    seen: usize,
    /// The array of each variable that was accessed, by the number of the variable that began it.
    of: Vec<Option<u32>>,
    /// The array that each place goes through.
    by_place: HashMap<(VarKind, Site), u32>,
    /// Where each array began.
    begun_at: HashMap<u32, Site>,
}

impl Arrays {
    /// Another execution begins.
    pub(super) fn begin(&mut self) {
        self.seen = 0;
        self.of.clear();
        self.by_place.clear();
        self.begun_at.clear();
    }

    /// Takes up what was accessed since this was last called.
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

    /// Returns the variable that began the array of one that was accessed.
    pub(super) fn first_of(&self, var: u32) -> u32 {
        self.of
            .get(var as usize)
            .copied()
            .flatten()
            .expect("only variables are asked for that were accessed")
    }

    /// Where the array began that begins with this variable.
    pub(super) fn begun_at(&self, first: u32) -> Site {
        self.begun_at[&first]
    }

    /// Returns the variables that were accessed, each with the one that began its array.
    pub(super) fn members(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..)
            .zip(&self.of)
            .filter_map(|(var, first)| Some((var, (*first)?)))
    }
}
