//! The memory model of C++20, which is Rust's, without values out of thin air.
//!
//! The model keeps the execution graph: the store that each operation reads, the modification order of each variable,
//! and the happens-before order of the events. It offers an operation only the stores that leave the graph consistent:
//!
//! - *coherence*: a task does not read a store that it knows to be overwritten, nor one that is older than one it has
//!   read, and its stores come after those that it knows;
//! - *atomicity*: nothing comes between the store that a read-modify-write reads and its own;
//! - *sequential consistency* of operations and fences that are `SeqCst` (`sc.rs`).
//!
//! Events are added in the order in which tasks run, so no operation reads a store that comes later: there are no
//! cycles of program order and reads-from, as in load buffering. RC11 forbids them, too (Lahav, Vafeiadis, Kang, Hur
//! and Dreyer, "Repairing Sequential Consistency in C/C++11", PLDI 2017). Apart from that every consistent graph is
//! reached, because a store may come before others that were performed earlier.
//!
//! One thing is left out: a weak exchange that fails although it reads what it expects, from a store that another
//! read-modify-write follows.

mod reused;
mod sc;

use super::{MemoryAccess, MemoryModel, MemoryOp};
use intermezzo_sdk::{
    EventId, MemoryOrder, Moments as _, Side, SyncVar, SyncVarAccess, SyncVarOp, Synchronisation, TaskId,
    VectorClock,
};
use reused::Reused;
use sc::ScOrder;

/// The execution graph of an execution, under the memory model of C++20.
#[derive(Debug, Default)]
pub struct Cpp20 {
    /// The knowledge of each task.
    known: Synchronisation<VectorClock>,
    graph: Graph,
    sc: ScOrder,
    /// The operation that is being performed, as far as it is decided.
    reads: Option<u32>,
    stores: Option<(u32, u32)>,
    /// The knowledge of its task without what the operation acquires, and the knowledge that its store passes on. Both
    /// are kept to reuse their memory.
    clock: VectorClock,
    given: VectorClock,
}

/// The events so far, and the stores to each variable.
#[derive(Debug, Default)]
struct Graph {
    /// The events in the order of the execution.
    events: Reused<Event>,
    /// The numbers of each task's events.
    tasks: Vec<Vec<u32>>,
    vars: Vec<Stores>,
}

/// An event, with the properties that matter to other events.
#[derive(Debug)]
struct Event {
    id: EventId,
    /// `SyncVar::NONE` for fences.
    var: SyncVar,
    /// The events that it knows, itself included.
    clock: VectorClock,
    /// The store that it reads.
    reads: Option<u32>,
    /// The store that it makes.
    writes: Option<u32>,
    is_fence: bool,
    is_sc: bool,
}

impl Default for Event {
    fn default() -> Event {
        Event {
            id: EventId {
                task: TaskId(0),
                index: 0,
            },
            var: SyncVar::NONE,
            clock: VectorClock::new(),
            reads: None,
            writes: None,
            is_fence: false,
            is_sc: false,
        }
    }
}

impl Event {
    /// Returns `true` if this event happens before the other one.
    fn before(&self, other: &Event) -> bool {
        self.id != other.id && other.clock.knows(self.id)
    }
}

/// The stores to an atomic.
#[derive(Debug, Default)]
struct Stores {
    /// The modification order.
    order: Vec<u32>,
    list: Reused<Store>,
    /// For each task the stores that its events read or made, with their indexes.
    seen: Vec<Vec<(u32, u32)>>,
    /// The place of the last value that was written without an operation. Older stores cannot be read.
    base: u32,
}

/// A store.
#[derive(Debug, Default)]
struct Store {
    /// Its index in the modification order.
    place: u32,
    /// The knowledge that it passes on to those that acquire it.
    given: VectorClock,
    /// `true` if a read-modify-write directly follows it.
    is_followed: bool,
}

impl Store {
    fn begin(&mut self, place: u32, given: &VectorClock) {
        self.place = place;
        self.given.clone_from(given);
        self.is_followed = false;
    }
}

impl Stores {
    /// Adds a value that was written without an operation, as the newest store.
    fn add_plain(&mut self) {
        self.base = self.order.len() as u32;
        self.order.push(self.list.len() as u32);
        self.list.add().begin(self.base, &VectorClock::new());
    }

    /// Adds a store of an event directly after another one.
    fn add(&mut self, after: u32, given: &VectorClock) {
        let at = self.place(after) as usize + 1;
        self.order.insert(at, self.list.len() as u32);
        self.list.add().begin(at as u32, given);
        for (place, &store) in self.order.iter().enumerate().skip(at) {
            self.list[store as usize].place = place as u32;
        }
    }

    /// Forgets everything; the memory is kept.
    fn clear(&mut self) {
        self.order.clear();
        self.list.clear();
        self.seen.iter_mut().for_each(Vec::clear);
        self.base = 0;
    }

    fn place(&self, store: u32) -> u32 {
        self.list[store as usize].place
    }

    /// Returns the place of the newest store that was read or made by an event in this clock.
    fn floor(&self, clock: &VectorClock) -> u32 {
        let of_task = |(task, seen): (usize, &Vec<(u32, u32)>)| {
            let known = clock.get(TaskId(task as u32));
            // The stores that a task reads and makes never get older, so its last known one is the newest. Usually all
            // are known.
            let last = match seen.last() {
                Some(last) if last.0 > known => {
                    let count = seen.partition_point(|&(index, _)| index <= known);
                    seen[..count].last()
                }
                last => last,
            };
            last.map(|&(_, store)| self.place(store))
        };
        let seen = self.seen.iter().enumerate().filter_map(of_task).max();
        seen.unwrap_or(0).max(self.base)
    }

    /// Returns the stores from this place on, newest first.
    fn from(&self, floor: u32) -> impl Iterator<Item = u32> + '_ {
        self.order[floor as usize..].iter().rev().copied()
    }
}

impl Graph {
    fn stores(&mut self, var: SyncVar) -> &mut Stores {
        if self.vars.len() <= var.index() {
            self.vars.resize_with(var.index() + 1, Stores::default);
        }
        let stores = &mut self.vars[var.index()];
        if stores.order.is_empty() {
            stores.add_plain();
        }
        stores
    }

    /// Adds an event to those of its task, and returns it to be filled in.
    fn add(&mut self, id: EventId) -> &mut Event {
        let (task, number) = (id.task.index(), self.events.len() as u32);
        if self.tasks.len() <= task {
            self.tasks.resize_with(task + 1, Vec::new);
        }
        self.tasks[task].push(number);
        let event = self.events.add();
        event.id = id;
        event
    }
}

impl Cpp20 {
    /// Returns `true` if `earlier` happens before `later`; `false` if `later` was not observed.
    pub(super) fn happens_before(&self, earlier: EventId, later: EventId) -> bool {
        let of_task = self.graph.tasks.get(later.task.index());
        let mut of_task = of_task.into_iter().flatten();
        let later = of_task.find(|&&number| self.graph.events[number as usize].id == later);
        later.is_some_and(|&number| self.graph.events[number as usize].clock.knows(earlier))
    }

    /// Sets `clock` to what an operation would know, apart from what it acquires.
    fn set_clock(&mut self, access: &MemoryAccess) {
        let EventId { task, index } = access.event;
        self.clock.clone_from(self.known.known(task));
        self.clock.know(task, index);
    }

    /// Adds an operation on an atomic to the stores of its variable, and passes on the knowledge that comes with them.
    fn add_to_var(&mut self, event: &SyncVarAccess, reads: Option<u32>, stores: Option<(u32, u32)>) {
        let EventId { task, index } = event.event;
        let list = self.graph.stores(event.var);
        if let Some(store) = reads {
            self.known.take(event, &list.list[store as usize].given);
        }
        if let Some((store, after)) = stores {
            match reads {
                Some(read) => self.given.clone_from(&list.list[read as usize].given),
                None => self.given.clear(),
            }
            self.known.give(event, &mut self.given);
            list.list[after as usize].is_followed |= reads.is_some();
            list.add(after, &self.given);
            debug_assert_eq!(
                list.list.len(),
                store as usize + 1,
                "stores have numbers in their order"
            );
        }
        if list.seen.len() <= task.index() {
            list.seen.resize_with(task.index() + 1, Vec::new);
        }
        let seen = stores.map(|(store, _)| store).or(reads);
        list.seen[task.index()].extend(seen.map(|seen| (index, seen)));
    }
}

impl MemoryModel for Cpp20 {
    fn begin(&mut self) {
        self.known.forget();
        self.graph.events.clear();
        self.graph.tasks.iter_mut().for_each(Vec::clear);
        self.graph.vars.iter_mut().for_each(Stores::clear);
        self.sc.clear();
        (self.reads, self.stores) = (None, None);
    }

    fn readable(&mut self, read: &MemoryAccess, values: &[u64], readable: &mut Vec<u32>) {
        self.set_clock(read);
        let stores = self.graph.stores(read.var);
        let may_be_read =
            |&store: &u32| !read.writes(values[store as usize]) || !stores.list[store as usize].is_followed;
        for store in stores.from(stores.floor(&self.clock)).filter(may_be_read) {
            readable.push(store);
        }
    }

    fn reads(&mut self, _: &MemoryAccess, store: u32) {
        self.reads = Some(store);
    }

    fn places(&mut self, write: &MemoryAccess, places: &mut Vec<u32>) {
        self.set_clock(write);
        let stores = self.graph.stores(write.var);
        let is_free = |&store: &u32| !stores.list[store as usize].is_followed;
        places.extend(stores.from(stores.floor(&self.clock)).filter(is_free));
    }

    fn is_consistent(&mut self, access: &MemoryAccess, values: &[u64], listed: u32) -> bool {
        // An operation that reads or becomes the newest store does not come before any other event.
        if self.sc.is_empty() || self.graph.stores(access.var).order.last() == Some(&listed) {
            return true;
        }
        self.set_clock(access);
        let stores = self.graph.stores(access.var);
        let writes = access.writes(values[listed as usize]);
        let order = match access.kind {
            MemoryOp::Exchange { failure, .. } | MemoryOp::FailedExchange { failure } if !writes => failure,
            _ => access.order,
        };
        let reads = (access.kind != MemoryOp::Store).then_some(listed);
        if reads.is_some() && Side::Acquire.is_in(order) {
            self.clock.join(&stores.list[listed as usize].given);
        }
        let after = writes.then(|| stores.place(listed));
        let event = Event {
            id: access.event,
            var: access.var,
            clock: std::mem::take(&mut self.clock),
            reads,
            is_sc: order == MemoryOrder::SeqCst,
            ..Event::default()
        };
        let breaks = self.sc.breaks(&self.graph, &event, after);
        self.clock = event.clock;
        !breaks
    }

    fn stores(&mut self, write: &MemoryAccess, store: u32, after: u32) -> bool {
        self.stores = Some((store, after));
        self.graph.stores(write.var).order.last() == Some(&after)
    }

    fn overwrites(&mut self, var: SyncVar) {
        self.graph.stores(var).add_plain();
    }

    fn observes(&mut self, event: &SyncVarAccess) {
        let EventId { task, index } = event.event;
        let (reads, stores) = (self.reads.take(), self.stores.take());
        self.known.known(task).know(task, index);
        let is_atomic = reads.is_some() || stores.is_some();
        if is_atomic {
            self.add_to_var(event, reads, stores);
        } else {
            self.known.observe(event);
        }
        let is_fence = event.op == SyncVarOp::Fence;
        let added = self.graph.add(event.event);
        added.var = event.var;
        added.clock.clone_from(self.known.known(task));
        (added.reads, added.writes) = (reads, stores.map(|(store, _)| store));
        added.is_fence = is_fence;
        added.is_sc = (is_atomic || is_fence) && event.order == MemoryOrder::SeqCst;
        self.sc.note(added.is_sc);
    }
}
