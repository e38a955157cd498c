//! The clocks of tasks and of the objects that they share: what is hb-before, and what is rhb-before.
//!
//! Clocks count stores, those of a task in its program order. By either order, an event after a store of a task is
//! also after that task's earlier ones: buffers are first in, first out. Loads need no number, because they are never
//! looked up; an event after a load knows what the load knew.

use intermezzo_sdk::Class;
use intermezzo_sdk::{EventId, SiteId, TaskId, VectorClock};

/// An access, and its source place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) event: EventId,
    pub(super) site: SiteId,
}

/// A store that a load could miss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Missed {
    pub(super) store: Place,
    /// The place of the last store by the load's own task that may still be in its buffer.
    pub(super) own: Option<SiteId>,
    /// `true` if other buffers have no part in it: a fence between that store and the load is enough.
    pub(super) alone: bool,
}

/// A clock by each order.
#[derive(Clone, Debug, Default)]
struct Clocks {
    hb: VectorClock,
    rhb: VectorClock,
}

impl Clocks {
    fn clear(&mut self) {
        self.hb.clear();
        self.rhb.clear();
    }
}

/// A store: its index among the stores of its task, from 1.
#[derive(Clone, Copy, Debug)]
struct Stored {
    number: u32,
    place: Place,
}

impl Stored {
    fn is_known(self, clock: &VectorClock) -> bool {
        clock.get(self.place.event.task) >= self.number
    }
}

/// An object that tasks share: a variable, or a piece of plain memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Shared {
    /// The joint knowledge of operations of each class so far, themselves included.
    classes: [Clocks; Class::ALL.len()],
    /// Every store, in order.
    stores: Vec<Stored>,
}

impl Shared {
    /// Marks it as untouched. The memory is kept.
    pub(super) fn clear(&mut self) {
        self.classes.iter_mut().for_each(Clocks::clear);
        self.stores.clear();
    }

    /// Returns the classes that do not commute with an operation of this class, with their knowledge.
    fn before(&self, class: Class) -> impl Iterator<Item = (Class, &Clocks)> {
        let classes = Class::ALL.into_iter().zip(&self.classes);
        classes.filter(move |(other, _)| !class.commutes(*other))
    }

    fn class(&mut self, class: Class) -> &mut Clocks {
        &mut self.classes[class as usize]
    }
}

#[derive(Debug, Default)]
struct Task {
    /// Stores so far.
    stores: u32,
    /// Everything hb-before its next operation.
    hb: VectorClock,
    /// Everything rhb-before its next load.
    loads: VectorClock,
    /// Everything rhb-before its next store: no less than `loads`.
    after: VectorClock,
    /// The last store since the buffer was drained.
    buffered: Option<SiteId>,
}

/// The tasks of an execution.
#[derive(Debug, Default)]
pub(super) struct Tasks(Vec<Task>);

impl Tasks {
    /// Resets all tasks. The memory is kept.
    pub(super) fn clear(&mut self) {
        for task in &mut self.0 {
            task.stores = 0;
            task.hb.clear();
            task.loads.clear();
            task.after.clear();
            task.buffered = None;
        }
    }

    /// Returns the task that acts.
    pub(super) fn acting(&mut self, id: TaskId) -> Acting<'_> {
        if self.0.len() <= id.index() {
            self.0.resize_with(id.index() + 1, Task::default);
        }
        Acting {
            id,
            task: &mut self.0[id.index()],
        }
    }

    /// Drains all buffers. The task learns of everything that happened so far.
    pub(super) fn rest(&mut self, id: TaskId) {
        let mut shared = Shared::default();
        for other in 0..self.0.len() as u32 {
            self.acting(TaskId(other)).whole(&mut shared, Class::Add, None);
        }
        self.acting(id).whole(&mut shared, Class::Write, None);
    }
}

/// The task that acts.
pub(super) struct Acting<'a> {
    id: TaskId,
    task: &'a mut Task,
}

impl Acting<'_> {
    /// Performs a load. Returns the last store that it could miss.
    pub(super) fn load(&mut self, shared: &mut Shared) -> Option<Missed> {
        let missed = self.missed(shared);
        self.look(shared);
        missed
    }

    /// Returns the last store that a load could miss. If it could miss any, it could miss the last that hb knows.
    fn missed(&self, shared: &Shared) -> Option<Missed> {
        let known = shared
            .stores
            .partition_point(|store| store.is_known(&self.task.hb));
        let last = shared.stores[..known].last()?;
        if last.place.event.task == self.id || last.is_known(&self.task.loads) {
            return None;
        }
        Some(Missed {
            store: last.place,
            own: self.task.buffered,
            alone: last.is_known(&self.task.after),
        })
    }

    /// Performs a load of which nothing is reported.
    pub(super) fn look(&mut self, shared: &mut Shared) {
        let task = &mut *self.task;
        // A task's own store may be read from the buffer, before others see it.
        let own = shared
            .stores
            .last()
            .is_some_and(|store| store.place.event.task == self.id);
        for (class, known) in shared.before(Class::Read) {
            task.hb.join(&known.hb);
            if class != Class::Write || !own {
                task.loads.join(&known.rhb);
            }
        }
        task.after.join(&task.loads);
        let reads = shared.class(Class::Read);
        reads.hb.join(&task.hb);
        reads.rhb.join(&task.loads);
    }

    /// Performs a store that may stay in the buffer.
    pub(super) fn store(&mut self, shared: &mut Shared, place: Place) {
        self.touch(shared, Class::Write);
        self.put(shared, place);
        self.leave(shared, Class::Write);
        self.task.buffered = Some(place.site);
    }

    /// Performs an operation that drains the buffer before and after; it may be a store itself.
    pub(super) fn whole(&mut self, shared: &mut Shared, class: Class, stored: Option<Place>) {
        self.touch(shared, class);
        if let Some(place) = stored {
            self.put(shared, place);
        }
        self.leave(shared, class);
        self.drain();
    }

    /// Drains the buffer.
    pub(super) fn drain(&mut self) {
        self.task.loads.clone_from(&self.task.after);
        self.task.buffered = None;
    }

    /// Learns of everything before an operation of this class.
    fn touch(&mut self, shared: &Shared, class: Class) {
        for (_, known) in shared.before(class) {
            self.task.hb.join(&known.hb);
            self.task.after.join(&known.rhb);
        }
    }

    /// Adds a store.
    fn put(&mut self, shared: &mut Shared, place: Place) {
        self.task.stores += 1;
        let number = self.task.stores;
        self.task.hb.set(self.id, number);
        self.task.after.set(self.id, number);
        shared.stores.push(Stored { number, place });
    }

    /// Leaves the current knowledge to operations after one of this class.
    fn leave(&self, shared: &mut Shared, class: Class) {
        let known = shared.class(class);
        known.hb.join(&self.task.hb);
        known.rhb.join(&self.task.after);
    }
}
