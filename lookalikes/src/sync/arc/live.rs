//! The counts of the values that the running execution made, by address.
//!
//! `RAW` has the counts of handles that became pointers by `into_raw`. Some lists call `as_ptr` and forget the handle
//! instead; later they make a handle of that address. Its counts are found here.

use super::share::Counts;
use intermezzo_engine::runtime::Engine;
use intermezzo_engine::runtime::arena::outside;
use std::cell::RefCell;
use std::sync::{Arc, Weak};

struct Live {
    /// The execution that made the values.
    epoch: u64,
    /// The address of each value, and its counts while it has any handle. Those made last come last.
    values: Vec<(usize, Weak<Counts>)>,
}

thread_local! {
    static LIVE: RefCell<Live> = const {
        RefCell::new(Live {
            epoch: 0,
            values: Vec::new(),
        })
    };
}

/// Notes a value that an execution on this thread made.
pub(super) fn add(engine: Engine, address: usize, counts: &Arc<Counts>) {
    let add = |live: &RefCell<Live>| {
        let Live { epoch, values } = &mut *live.borrow_mut();
        if *epoch != engine.epoch() {
            *epoch = engine.epoch();
            values.clear();
        }
        if values.len() == values.capacity() {
            // At least half is free afterwards, so this costs little for each value.
            values.retain(|(_, counts)| counts.strong_count() > 0);
            values.reserve(values.len().max(64));
        }
        values.push((address, Arc::downgrade(counts)));
    };
    // It outlives the execution. At the end of the thread there is nothing to note.
    outside(|| LIVE.try_with(add)).unwrap_or_default();
}

/// Returns the counts of the value at this address, if the running execution made it and it has a handle.
pub(super) fn at(address: usize) -> Option<Arc<Counts>> {
    let engine = Engine::current()?;
    let find = |live: &RefCell<Live>| {
        let live = live.borrow();
        let mut values = live.values.iter().rev();
        let value = values.find(|value| value.0 == address && value.1.strong_count() > 0)?;
        value.1.upgrade().filter(|_| live.epoch == engine.epoch())
    };
    LIVE.try_with(find).ok()?
}
