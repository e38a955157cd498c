//! Memory that an execution leaves behind. It is published as an allocation that is never released, when the execution
//! has ended.
//!
//! This is for tests that were not written for intermezzo. Their memory is the arena's, and look-alikes do not report
//! it. The blocks that are in use when the last task has ended are memory that the test never freed. Some are reached
//! from statics, or from other memory that outlives an execution (`arena/reach.rs`): these are meant to live for ever.
//! The others are leaks.
//!
//! The place of an allocation is not noted at once, because that takes longer than the allocation. Instead an execution
//! that has left memory behind is run once more with the same choices, and notes the places of just these allocations
//! (`arena/allocations.rs`). The first of the two does not count.
//!
//! Memory that the program leaks on purpose is left out (`purpose.rs`).
//!
//! Nothing is published of an execution that shows a failure, in which a task panicked, or that leaves a task
//! unfinished: its memory is abandoned with it. The same holds for one that keeps values where they are not searched
//! for: in the result of a task whose handle is in a static, in a panic hook, or in the system's memory because the
//! arena is full. It also holds if look-alikes report memory themselves, or if addresses may be used again, because a
//! block is identified by its address.

mod purpose;

use super::arena::allocations::{self, Noted};
use super::arena::reach::{self, Left};
use super::{Engine, Runtime, Stop, arena, image, statics};
use crate::call_stack::program;
use crate::site::{Place, Site};
use intermezzo_sdk::{BlockKind, SyncVar};
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

/// The maximum number of blocks of an execution that are published.
const LEFT_MAX: usize = 64;

impl Engine {
    /// Publishes the memory that the execution leaves behind, if it ended successfully and a monitor listens to memory.
    /// If the places of the allocations are not known, the execution is abandoned instead, and run again.
    #[inline]
    pub(super) fn publish_leaks(self) {
        if arena::in_use().0 > 0 && arena::has_execution() {
            self.with(Runtime::publish_leaks);
        }
    }
}

impl Runtime {
    #[cold]
    #[inline(never)]
    fn publish_leaks(&mut self) {
        if !self.shows_leaks() {
            return;
        }
        let kept = statics::kept_statics().chain(self.objects.statics.used(self.objects.epoch()));
        // SAFETY: the statics of the program, and of the libraries that it has loaded, and the memory in which this
        // execution has values of statics; no task runs any more.
        let mut left = unsafe { reach::left_behind(kept, image::roots) };
        left.truncate(LEFT_MAX);
        let (mut noted, mut is_wanted_next) = (Vec::new(), false);
        for Left { distance, .. } in &left {
            let (note, was_wanted) = allocations::noted(*distance);
            is_wanted_next |= !was_wanted;
            noted.push(note);
        }
        if is_wanted_next {
            allocations::want(left.iter().map(|left| left.distance).collect());
            self.depart();
            self.end.stop = Some(Stop::CutOff);
            self.end.runs_again = true;
            return;
        }
        let mut sites = HashSet::new();
        for (Left { addresses, .. }, noted) in left.into_iter().zip(noted) {
            let after = noted.as_ref().map_or(self.last_of_current(), |noted| noted.after);
            let allocation = noted.map(|Noted { stack, .. }| allocation(stack));
            let site = match allocation {
                Some(Allocation::OnPurpose) => continue,
                Some(Allocation::At(site)) => site,
                None => UNKNOWN,
            };
            // Only one block is published for each place.
            if sites.insert(site) {
                let blocks = &mut self.objects.blocks;
                let block = blocks.add(BlockKind::Heap, addresses.start, addresses.len(), site, after);
                self.block_allocated(block, SyncVar::NONE, site, after);
            }
        }
    }

    /// Returns `true` if memory that the execution leaves behind is a leak, and a monitor listens to memory.
    fn shows_leaks(&mut self) -> bool {
        matches!(self.end.stop, Some(Stop::Complete))
            && self.limits.unmodified
            && self.world.environment.address_reuse == 0
            && self.hears_of_blocks()
            && !self.decisions.has_departed()
            && self.end.panics.is_empty()
            && self.end.hook.is_none()
            && !self.end.damaged
            && !self.tasks.any_live()
            && !self.objects.blocks.any()
            && arena::shortage().is_none()
            && self.tasks.rooms().all(|room| room.is_empty())
    }
}

/// The site of an allocation whose place is not known.
const UNKNOWN: Site = Site::instruction(0);

/// The places of allocations, each by the address of one instruction that represents it.
static PLACES: Mutex<Option<HashMap<usize, Place>>> = Mutex::new(None);

/// An allocation that was looked up.
#[derive(Clone, Copy)]
enum Allocation {
    /// The program leaks it on purpose.
    OnPurpose,
    /// It is at this place.
    At(Site),
}

/// The allocations by their stacks: a look-up is slow, and many executions leave the same blocks behind.
static KNOWN: Mutex<Option<HashMap<Vec<usize>, Allocation>>> = Mutex::new(None);

/// Returns the allocation with this stack.
fn allocation(stack: Vec<usize>) -> Allocation {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_default();
    *known.entry(stack).or_insert_with_key(|stack| find(stack))
}

/// Looks up the allocation with this stack.
fn find(stack: &[usize]) -> Allocation {
    let places = program::programs(stack);
    let users: Vec<_> = places.iter().filter(|place| place.is_users).collect();
    let statements: Vec<_> = users
        .iter()
        .map(|place| (place.file.clone(), place.line))
        .collect();
    if purpose::is_on_purpose(&statements) {
        return Allocation::OnPurpose;
    }
    // The innermost in the user's packages, or else in those that they depend on.
    let Some(innermost) = users.first().copied().or(places.first()) else {
        return Allocation::At(UNKNOWN);
    };
    let place = innermost.place();
    let mut places = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
    let places = places.get_or_insert_default();
    let known = places.iter().find(|(_, known)| **known == place);
    let address = known.map_or(innermost.address, |(&address, _)| address);
    places.insert(address, place);
    // In a program whose accesses to memory are watched, a look-up is already set, and it calls `place_of` for
    // addresses that it does not know.
    crate::site::look_up_addresses_by(place_of);
    Allocation::At(Site::instruction(address))
}

/// Returns the place that the address of this instruction represents.
pub(super) fn place_of(address: usize) -> Option<Place> {
    let places = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
    places.as_ref()?.get(&address).copied()
}
